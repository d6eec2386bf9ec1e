"""Interleaved timing: on a noisy machine only ratios taken in turn can be trusted."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

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
