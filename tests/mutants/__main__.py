"""Mutation score: how many of a sample of small faults do the tests notice?

All tests run once, to see which of them run which line of which file. Then each mutant meets the
tests that run its statement, the quickest first, until one fails.
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.mutants.copies import ROOT, Copy
from tests.mutants.mutate import Mutant, population

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
SURVIVORS = ROOT / "build" / "mutants"  # their keys, so that they can be run again
DURATION = re.compile(r"([\d.]+)s (?:call|setup|teardown) +(.+)")


@dataclass(frozen=True)
class Touched:
    """Which tests run which lines, and how long each takes."""

    tests: dict[str, dict[int, list[str]]]
    seconds: Counter[str]

    @classmethod
    def measure(cls, copy: Copy, jobs: int, left_out: list[str]) -> Touched:
        """Run all tests once."""
        from coverage import CoverageData

        config = copy.folder / "coverage.ini"  # of its own: nothing but what is asked for here
        config.write_text("[run]\n", encoding="utf-8")
        options = [f"-n{jobs}", "--cov=src/naively", "--cov-context=test", "--cov-report="]
        ignored = [f"--ignore={path}" for path in left_out]
        run = copy.pytest(
            [
                "-vv",
                "--durations=0",
                "--durations-min=0",
                f"--cov-config={config}",
                *options,
                *ignored,
            ]
        )
        if run.returncode:
            sys.exit(run.stdout + run.stderr + "The tests fail before anything is changed.")
        seconds: Counter[str] = Counter()
        for duration, test in DURATION.findall(run.stdout):
            seconds[test.strip()] += float(duration)
        data = CoverageData(copy.folder / ".coverage")
        data.read()
        lines = {
            Path(path).resolve().relative_to(copy.folder).as_posix(): {
                line: sorted({context.rpartition("|")[0] for context in contexts} - {""})
                for line, contexts in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
        return cls(lines, seconds)

    def by(self, mutant: Mutant, most: float) -> list[str]:
        """Return the quickest tests that run the statement, or, of a constant, its file."""
        of_file = self.tests.get(mutant.file, {})
        found = {test for line in mutant.lines for test in of_file.get(line, [])}
        if "." not in mutant.function and not (found or mutant.function[:1].islower()):
            found = {test for tests in of_file.values() for test in tests}
        chosen, spent = [], 0.0
        for test in sorted(found, key=lambda test: (self.seconds[test], test)):
            spent += self.seconds[test]
            if spent > most and chosen:
                break
            chosen.append(test)
        return chosen


def survives(
    mutant: Mutant, touched: Touched, most: float, copies: queue.Queue[Copy]
) -> str | None:
    """Say how a mutant got away; None if a test failed."""
    tests = touched.by(mutant, most)
    if not tests:
        return "no test runs it"
    copy = copies.get()
    try:
        with copy.changed(mutant.file, mutant.text()):
            noticed = copy.notices(tests, seconds=60 + 10 * most)
    finally:
        copies.put(copy)
    return None if noticed else f"{len(tests)} tests run it"


def arguments(settings: dict[str, Any], given: list[str]) -> argparse.Namespace:
    """Return what is asked for; pyproject.toml has the usual."""
    parser = argparse.ArgumentParser(prog="make mutants ARGS=...", description=__doc__)
    parser.add_argument("--sample", type=int, default=settings["sample"], help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="another one is another sample")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--only", default="", metavar="TEXT", help="of files with TEXT in the name")
    parser.add_argument("--survivors", action="store_true", help="of the last run, once more")
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    """Run a sample of mutants; return 0 if enough of them are killed."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutants"]
    asked, start = arguments(settings, given), time.monotonic()
    every = population(settings["files"])
    reasons = {
        "\n".join([of["file"], of["function"], of["was"], of["now"]]): of["why"]
        for of in tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]
    }
    for key in reasons.keys() - {mutant.key for mutant in every}:
        print(f"No mutant any more, to be taken out of {EQUIVALENT.name}:\n{key}\n")
    every = sorted((m for m in every if asked.only in m.file), key=lambda m: m.draw(asked.seed))
    sample = [m for m in every if m.key not in reasons][: asked.sample]
    if asked.survivors:
        keys = SURVIVORS.read_text("utf-8").split("\n\n")
        sample = [mutant for mutant in every if mutant.key in keys and mutant.key not in reasons]
    print(f"{len(sample)} of {len(every):,} mutants, seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        copies: queue.Queue[Copy] = queue.Queue()
        for job in range(asked.jobs):
            copies.put(Copy(Path(folder).resolve() / str(job)))
        touched = Touched.measure(copies.queue[0], asked.jobs, settings["left_out"])
        print(f"{len(touched.seconds):,} tests, {time.monotonic() - start:.0f} s", flush=True)
        one = partial(survives, touched=touched, most=settings["seconds"], copies=copies)
        survivors = []
        with ThreadPoolExecutor(asked.jobs) as pool:
            for mutant, how in zip(sample, pool.map(one, sample), strict=True):
                if how is not None:
                    print(f"\nsurvived, {how}: {mutant}", flush=True)
                    survivors.append(mutant)
    SURVIVORS.parent.mkdir(exist_ok=True)
    SURVIVORS.write_text("\n\n".join(mutant.key for mutant in survivors), encoding="utf-8")
    for file, n in Counter(mutant.file for mutant in survivors).most_common():
        print(f"{n:4} survived of {sum(mutant.file == file for mutant in sample):3} in {file}")
    score = 1 - len(survivors) / max(1, len(sample))
    known = sum(m.key in reasons for m in every[: asked.sample + len(reasons)])
    print(
        f"{score:.1%} of {len(sample)} mutants were killed, beside {known} that change nothing; "
        f"{settings['least']:.0%} are asked for; {(time.monotonic() - start) / 60:.0f} minutes"
    )
    return int(score < settings["least"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
