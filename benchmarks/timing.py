"""Interleaved timing: on a noisy machine only ratios taken in turn can be trusted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Result:
    """Seconds of two sides, measured in turn."""

    name: str
    peer: Sequence[float]
    ours: Sequence[float]

    @property
    def ratio(self) -> float:
        """How many times faster ours is: the median over the rounds."""
        return median(p / o for p, o in zip(self.peer, self.ours, strict=True))

    def __str__(self) -> str:
        ratios = [p / o for p, o in zip(self.peer, self.ours, strict=True)]
        return (
            f"{self.name:<44}"
            f" {1e3 * median(self.peer):>10.3f} ms {1e3 * median(self.ours):>10.3f} ms"
            f" {self.ratio:>7.1f}x  ({min(ratios):.1f} to {max(ratios):.1f})"
        )


def compare(
    name: str,
    peer: Callable[[], object],
    ours: Callable[[], object],
    rounds: int = 5,
    repeat: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Result:
    """Run both sides in turn, after one warm-up of each, ``repeat`` calls a round."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for round_ in range(rounds + 1):
        for side, run in enumerate((peer, ours)):
            begin = clock()
            for _ in range(repeat):
                run()
            if round_:
                seconds[side].append((clock() - begin) / repeat)
    result = Result(name, *seconds)
    print(result, flush=True)
    return result
