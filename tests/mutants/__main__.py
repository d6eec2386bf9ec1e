"""Mutation score: how many of a sample of small faults do the tests notice?

All tests run once, to see which of them run which line of which file. Then each mutant meets the
tests that run its statement, the quickest first, until one fails.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.mutants.copies import NO_END, NO_START, ROOT, Copy
from tests.mutants.mutate import Mutant, population
from tests.mutants.touched import Touched

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
BUILD = ROOT / "build" / "mutants"  # the keys of survivors, and what was measured of the tests


def arguments(settings: dict[str, Any], given: list[str]) -> argparse.Namespace:
    """Return what is asked for; pyproject.toml has the usual."""
    parser = argparse.ArgumentParser(prog="make mutants ARGS=...", description=__doc__)
    parser.add_argument("--sample", type=int, default=settings["sample"], help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="another one is another sample")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--only", default="", metavar="TEXT", help="of files with TEXT in the name")
    parser.add_argument("--survivors", action="store_true", help="of the last run, once more")
    parser.add_argument(
        "--measured", action="store_true", help="by the tests of the last run, and their times"
    )
    return parser.parse_args(given)


def choose(asked: argparse.Namespace, settings: dict[str, Any]) -> tuple[list[Mutant], int]:
    """Return the mutants to meet, and how many beside them are known to change nothing."""
    every = population(settings["files"])
    reasons = {
        "\n".join([of["file"], of["function"], of["was"], of["now"]]): of["why"]
        for of in tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]
    }
    for key in reasons.keys() - {mutant.key for mutant in every}:
        print(f"There is no such mutant any more; take it out of {EQUIVALENT.name}:\n{key}\n")
    every = sorted((m for m in every if asked.only in m.file), key=lambda m: m.draw(asked.seed))
    if asked.survivors:
        keys = set((BUILD / "survivors").read_text("utf-8").split("\n\n"))
        every = [mutant for mutant in every if mutant.key in keys]
    sample = [mutant for mutant in every if mutant.key not in reasons][: asked.sample]
    drawn = every[: every.index(sample[-1])] if sample else []
    print(f"{len(sample)} of {len(every):,} mutants, seed {asked.seed}", flush=True)
    return sample, sum(mutant.key in reasons for mutant in drawn)


def meet(
    sample: list[Mutant], touched: Touched, copies: list[Copy], most: float
) -> tuple[list[Mutant], set[str]]:
    """Return the mutants that survive, and the tests that killed the others."""
    free: queue.Queue[Copy] = queue.Queue()
    for copy in copies:
        free.put(copy)

    def killer(mutant: Mutant) -> str | None:
        tests = touched.by(mutant, most)
        copy = free.get()
        try:
            with copy.changed(mutant.file, mutant.text()):
                by = copy.failure(tests, 60 + 10 * most) if tests else None
        finally:
            free.put(copy)
        if by is None:
            print(f"\nsurvived, {len(tests)} tests run it: {mutant}", flush=True)
        return by

    with ThreadPoolExecutor(len(copies)) as pool:
        killers = list(pool.map(killer, sample))
    survivors = [m for m, by in zip(sample, killers, strict=True) if by is None]
    return survivors, {by for by in killers if by is not None} - {NO_END, NO_START}


def main(given: list[str]) -> int:
    """Run a sample of mutants; return 0 if enough of them are killed."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutants"]
    asked, start = arguments(settings, given), time.monotonic()
    sample, known = choose(asked, settings)
    with tempfile.TemporaryDirectory() as folder:
        copies = [Copy(Path(folder).resolve() / str(job)) for job in range(asked.jobs)]
        if asked.measured:
            touched = Touched.read(BUILD / "touched.json")
        else:
            touched = Touched.measure(copies[0], asked.jobs, settings["left_out"])
            touched.keep(BUILD / "touched.json")
        print(f"{len(touched.seconds):,} tests, {time.monotonic() - start:.0f} s", flush=True)
        survivors, killers = meet(sample, touched, copies, settings["seconds"])
        wrong = copies[0].failure(sorted(killers), 3600) if killers else None
        for copy in copies:
            copy.close()
    if wrong is not None:
        sys.exit(f"{wrong} also fails where nothing was changed; the mutants it killed may live.")
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "survivors").write_text("\n\n".join(m.key for m in survivors), encoding="utf-8")
    print()
    for file, n in sorted(Counter(mutant.file for mutant in sample).items()):
        print(f"{n - sum(m.file == file for m in survivors):4} of {n:3} killed in {file}")
    score = 1 - len(survivors) / max(1, len(sample))
    print(
        f"{score:.1%} of {len(sample)} mutants were killed, beside {known} that change nothing; "
        f"{settings['least']:.0%} are asked for; {(time.monotonic() - start) / 60:.0f} minutes"
    )
    return int(score < settings["least"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
