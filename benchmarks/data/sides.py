"""Several sides of one work, run in turn, beside the bare source of its rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import nanoarrow

from benchmarks.data.process import Cost

BARE, DICTIONARY, PEER, OURS = "bare source", "dictionary", "scikit-learn", "naively"
HEADER = (
    f"{'seconds':<42} {BARE:>11} {OURS:>9} {'ratio':>8}  {'(range)':<16}"
    f" {DICTIONARY:>10} {'ratio':>7} {PEER:>13} {'ratio':>7}  of the process"
)


@dataclass(frozen=True)
class Setting:
    """How much is measured.

    Parameters
    ----------
    rows : int
        Of a frame; files have as many, ten and a hundred times as many.
    rounds : int
        How often each side runs.
    folder : Path
        Where files are written.
    """

    rows: int
    rounds: int
    folder: Path


@dataclass(frozen=True)
class Measured:
    """Seconds of each side, measured in turn, and what our process took.

    A source that hands over what it has in memory takes no time, so that the ratio to PyArrow's
    dictionary_encode tells more there.
    """

    name: str
    seconds: Mapping[str, Sequence[float]]
    costs: Sequence[Cost] = ()

    def ratios(self, side: str = BARE) -> list[float]:
        """How many times as long as another side we take, by round."""
        return [o / s for o, s in zip(self.seconds[OURS], self.seconds[side], strict=True)]

    def __str__(self) -> str:
        ratios = self.ratios()
        spread = f"({_plain(min(ratios))} to {_plain(max(ratios))})"
        line = (
            f"{self.name:<42} {self._median(BARE):>11} {self._median(OURS):>9}"
            f" {_times(median(ratios)):>8}  {spread:<16}"
            f" {self._beside(DICTIONARY, 10)} {self._beside(PEER, 13)}"
        )
        if self.costs:
            cpu = median(cost.cpu for cost in self.costs)
            line += f"  {_plain(cpu)} s of CPU, {max(cost.peak for cost in self.costs):,.0f} MB"
        return line.rstrip()

    def _beside(self, side: str, width: int) -> str:
        if side not in self.seconds:
            return " " * (width + 8)
        return f"{self._median(side):>{width}} {_times(median(self.ratios(side))):>7}"

    def _median(self, side: str) -> str:
        return _plain(median(self.seconds[side]))


def _times(ratio: float) -> str:
    return f"{_plain(ratio)}x"


def _plain(number: float) -> str:
    """Return a number with three digits, or as a whole number if it is large."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def measure(
    name: str,
    sides: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    repeat: int = 1,
    warm_up: bool = True,
    memory: Callable[[], Cost] | None = None,
) -> Measured:
    """Run the sides in turn, ``repeat`` calls a round, and print the medians.

    Parameters
    ----------
    name : str
        Of the work.
    sides : mapping from str to callable
        What each side calls. One that returns a ``Cost`` has measured its own time.
    rounds : int
        How often each side runs.
    repeat : int
        Calls of a side in one round.
    warm_up : bool
        Whether there is one round more, which does not count.
    memory : callable, optional
        Does the same in a process of its own, once, for its memory.
    """
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    costs = []
    for round_ in range(rounds + warm_up):
        for side, run in sides.items():
            begin = time.perf_counter()
            for _ in range(repeat):
                found = run()
            taken = (time.perf_counter() - begin) / repeat
            if round_ >= warm_up:
                seconds[side].append(found.seconds if isinstance(found, Cost) else taken)
                if side == OURS and isinstance(found, Cost):
                    costs.append(found)
            del found  # not in the time of the next side
    if memory is not None:
        costs.append(memory())
    result = Measured(name, seconds, costs)
    print(result, flush=True)
    return result


def walk(source: Any) -> int:
    """Look up the buffers of every batch of an Arrow stream, and return how many rows there are."""
    rows = 0
    with nanoarrow.c_array_stream(source) as stream:
        for batch in stream:
            rows += len(batch.view())
    return rows
