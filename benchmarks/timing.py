"""Interleaved timing, and results with the machine and the versions that they were measured on."""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import naively
from naively.kernels import dispatch

# --- Interleaved timing: on a noisy machine only ratios taken in turn can be trusted -------------


SLOW = 1.0  # seconds from which on a warm-up tells as much as any other round
ONCE = 6.0  # seconds from which on a side runs once


def take_turns(
    sides: Mapping[str, Callable[[], object]],
    rounds: int = 5,
    repeat: int = 1,
    clock: Callable[[], float] = time.perf_counter,
    slow: float = SLOW,
    once: float = ONCE,
) -> dict[str, list[float]]:
    """Run all sides in turn and return the seconds of each, by round.

    Each side has one round more, first, which does not count, unless it is slow.

    Parameters
    ----------
    sides : mapping from str to callable
        What each side calls.
    rounds : int
        How many rounds count.
    repeat : int
        Calls in a round; the seconds are those of one.
    clock : callable
        Returns seconds: ``time.process_time`` for what runs on one thread.
    slow : float
        The first round of a side counts if it takes longer.
    once : float
        A side that takes longer has no other round.
    """
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for round_ in range(rounds + 1):
        for side, run in sides.items():
            held = seconds[side]
            if held and (len(held) == rounds or held[0] > once):
                continue
            begin = clock()
            for _ in range(repeat):
                found = run()
            taken = (clock() - begin) / repeat
            del found  # not in the time of the next side
            if round_ or taken * repeat > slow:
                held.append(taken)
    return seconds


def ratios(these: Sequence[float], those: Sequence[float]) -> list[float]:
    """Divide round by round; a side that ran less often is compared by its last round."""
    rounds = max(len(these), len(those))
    return [
        these[min(i, len(these) - 1)] / those[min(i, len(those) - 1)] if those[-1] else float("inf")
        for i in range(rounds)
    ]


@dataclass(frozen=True)
class Result:
    """Seconds of two sides, measured in turn."""

    name: str
    peer: Sequence[float]
    ours: Sequence[float]

    @property
    def ratio(self) -> float:
        """How many times faster ours is: the median over the rounds."""
        return median(ratios(self.peer, self.ours))

    def __str__(self) -> str:
        by_round = ratios(self.peer, self.ours)
        return (
            f"{self.name:<44}"
            f" {1e3 * median(self.peer):>10.3f} ms {1e3 * median(self.ours):>10.3f} ms"
            f" {self.ratio:>7.1f}x  ({min(by_round):.1f} to {max(by_round):.1f})"
        )


def compare(
    name: str,
    peer: Callable[[], object],
    ours: Callable[[], object],
    rounds: int = 5,
    repeat: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """Run both sides in turn, ``repeat`` calls a round, and print the medians."""
    found = take_turns(
        {"peer": peer, "ours": ours}, rounds, repeat, clock, slow=math.inf, once=math.inf
    )
    result = Result(name, found["peer"], found["ours"])
    print(result, flush=True)
    return result


# --- Results as JSON, with the machine and the versions that they were measured on ---------------
#
# Files in ``benchmarks/results`` are what the pages of measurements show (``docs/benchmarks.md``,
# ``docs/speed.md``). Neither the names of users and computers nor their paths are in them.


PACKAGES = ("naively", "numpy", "scipy", "scikit-learn", "lightgbm", "catboost")


def save(path: Path, command: str, results: list[dict[str, Any]]) -> None:
    """Write results, the command that measured them, the machine and the versions."""
    write(
        path,
        {"command": command, "machine": machine(), "versions": versions(), "results": results},
    )


def write(path: Path, found: dict[str, Any]) -> None:
    """Write JSON that people can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def machine() -> str:
    """Say what computes here: the processor, how many cores this process may use, the kernels."""
    return f"{processor()}, {cores()} cores; kernels {kernels()}"


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> str:
    """Return how much memory the machine has, if the system says it."""
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, OSError, ValueError):
        return "unknown"


def system() -> str:
    """Return the name of the operating system, and nothing of this computer's own."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def kernels() -> str:
    """Say which kernels are in use."""
    native = dispatch.NATIVE
    return "in NumPy" if native is None else f"native, {native.instruction_set()}"


def versions(more: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the versions of Python, of what is measured and of what else is installed."""
    found = {"Python": platform.python_version()}
    for name in (*PACKAGES, *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**found, "naively": naively.__version__}
