"""What became slower or larger since a commit: ``make bench-compare BASE=commit``.

Both commits are installed into environments of their own, with the same versions of all else, and
run ``compare_cases.py``. Each case is run by both in turn, seven times; a ratio is the median over
the rounds. A case that takes long has fewer rounds, and a side that takes more than two
minutes is stopped: its time is then "at least", and its memory is not known. Wall time is taken of
processes, files and what runs on more than one thread, CPU time of the rest. A line with all that
was measured is appended to ``benchmarks/results/compare.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from signal import SIGKILL
from statistics import median
from threading import Timer
from time import monotonic
from typing import NamedTuple

from benchmarks.compare_cases import CASES
from benchmarks.timing import cores, processor

ROOT = Path(__file__).parents[1]
BUILD, RESULTS = ROOT / "build" / "compare", ROOT / "benchmarks" / "results" / "compare.jsonl"
SLOWER, LARGER = 1.15, 1.10  # times, from which on it is said
ENOUGH, LONGEST = 60.0, 120.0  # seconds: of all rounds of a case; of one round of one side
LITTLE = 2.0  # MB, below which a difference of memory is none
USED = ("pandas", "polars", "pyarrow")  # by the cases
# Numbers of the libraries below are computed by one thread, as CPU time is taken.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


class Side(NamedTuple):
    """A commit, and the Python of its environment."""

    name: str
    python: Path


class Compared(NamedTuple):
    """What a case took: seconds by round and MB, of the base and of what is here."""

    name: str
    seconds: tuple[list[float], list[float]]
    megabytes: tuple[float, float]

    @property
    def slower(self) -> float:
        """How many times as long it takes as it took: the median over the rounds."""
        return median(here / base for base, here in zip(*self.seconds, strict=True))

    @property
    def larger(self) -> float:
        """How many times as much memory it takes as it took; 0 MB are not known."""
        base, here = self.megabytes
        return 1.0 if not (base and here) or abs(here - base) < LITTLE else here / max(base, LITTLE)

    @property
    def worse(self) -> bool:
        """Whether it became so much slower or larger that it is said."""
        return self.slower > SLOWER or self.larger > LARGER

    def __str__(self) -> str:
        base, here = (median(of) for of in self.seconds)
        return (
            f"{self.name:<58} {base:>8.3f} s {here:>8.3f} s {self.slower:>6.2f} x  "
            f"{self.megabytes[0]:>7.0f} MB {self.megabytes[1]:>7.0f} MB {self.larger:>6.2f} x"
            + (" *" if self.worse else "")
        )


def main(given: Sequence[str] | None = None) -> int:
    """Compare what is here with a commit, and print what became slower or larger."""
    parser = argparse.ArgumentParser(prog="make bench-compare BASE=commit", description=__doc__)
    parser.add_argument("base", help="The commit to compare with.")
    parser.add_argument("words", nargs="*", help="Parts of the names of the cases; all without.")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(given)
    names = [name for name in CASES if all(word in name for word in options.words)]
    if not names:
        parser.error(f"No case has {' and '.join(map(repr, options.words))} in its name.")
    here, base = installed_here(), installed(_git("rev-parse", "--short", options.base))
    print(f"{'':<58} {base.name:>10} {here.name:>10}", flush=True)
    found = []
    for name in names:
        found.append(compare(name, base, here, options.rounds))
        print(found[-1], flush=True)
    worse = [of for of in found if of.worse]
    print(
        f"{len(worse)} of {len(found)} became more than {SLOWER - 1:.0%} slower or "
        f"{LARGER - 1:.0%} larger{': ' if worse else ''}"
        + "; ".join(f"{of.name} ({of.slower:.2f} x, {of.larger:.2f} x)" for of in worse)
    )
    if not options.words:
        save(found, base, here)
    return 0


def installed_here() -> Side:
    """Install what is here, as it is; changes that are not committed are said in its name."""
    name = _git("describe", "--always", "--dirty=+", "--exclude=*")
    python = _environment(BUILD / "here")
    # A folder is installed anew each time.
    _pip(python, "install", "--upgrade", *USED, str(ROOT), build=BUILD / "here" / "build")
    return Side(name, python)


def installed(commit: str) -> Side:
    """Install a commit with the versions of what is here, unless it is installed already."""
    folder = BUILD / commit
    python, source, done = folder / "bin" / "python", folder / "source", folder / "installed"
    versions = _pip(BUILD / "here" / "bin" / "python", "freeze", "--exclude", "naively")
    if not done.exists() or done.read_text(encoding="utf-8") != versions:
        python = _environment(folder)
        _git("archive", "--output", str(folder / "source.tar"), commit)
        with tarfile.open(folder / "source.tar") as archive:
            archive.extractall(source, filter="data")
        (folder / "versions").write_text(versions, encoding="utf-8")
        same = ["-c", str(folder / "versions")]
        _pip(python, "install", "--upgrade", *USED, str(source), *same, build=folder / "build")
        done.write_text(versions, encoding="utf-8")
    return Side(commit, python)


def compare(name: str, base: Side, here: Side, rounds: int) -> Compared:
    """Run a case by both sides in turn; which is first changes from round to round."""
    with ExitStack() as stack:
        runs = [stack.enter_context(_process(name, side)) for side in (base, here)]
        megabytes = [_answer(run, name) for run in runs]
        stopped = [run.poll() is not None for run in runs]
        megabytes = [0.0 if stop else of for stop, of in zip(stopped, megabytes, strict=True)]
        seconds: tuple[list[float], list[float]] = ([], [])
        begun = monotonic()
        for i in range(rounds):
            for side in (0, 1) if i % 2 else (1, 0):
                stdin = runs[side].stdin
                assert stdin is not None
                if not stopped[side]:
                    print(file=stdin, flush=True)
                seconds[side].append(LONGEST if stopped[side] else _answer(runs[side], name))
                stopped[side] = runs[side].poll() is not None
            if monotonic() - begun > ENOUGH:
                break
        for run in runs:
            assert run.stdin is not None
            run.stdin.close()
    return Compared(name, seconds, (megabytes[0], megabytes[1]))


def save(found: Sequence[Compared], base: Side, here: Side) -> None:
    """Append a line with what was measured."""
    line = {
        "date": datetime.now(UTC).date().isoformat(),
        "base": base.name,
        "here": here.name,
        "machine": f"{processor()}, {cores()} cores",
        "cases": {
            of.name: {
                "seconds": [float(f"{median(side):.4g}") for side in of.seconds],
                "MB": [float(f"{side:.4g}") for side in of.megabytes],
                "slower": float(f"{of.slower:.3g}"),
            }
            for of in found
        },
    }
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _process(name: str, side: Side) -> subprocess.Popen[str]:
    script = Path(__file__).with_name("compare_cases.py")
    return subprocess.Popen(
        [side.python, "-I", script, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ONE_THREAD},
        cwd=BUILD,
    )


def _answer(process: subprocess.Popen[str], name: str) -> float:
    """Return what a process says next; one that says nothing for long is stopped."""
    assert process.stdout is not None
    late = Timer(LONGEST, process.kill)
    late.start()
    line = process.stdout.readline()
    late.cancel()
    if line:
        return float(json.loads(line))
    if process.wait() != -SIGKILL:
        sys.exit(f"The case {name!r} failed.")
    return LONGEST


def _environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return python


def _pip(python: Path, *arguments: str, build: Path | None = None) -> str:
    settings = [] if build is None else [f"--config-settings=build-dir={build}"]
    command = [python, "-m", "pip", "-qq", "--disable-pip-version-check", *arguments, *settings]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
