"""One row of the results: naively and one peer, measured in turn.

``beside`` runs naively and any number of peers in the same rounds, and makes a row for each peer.
The ratio is how many times faster (or smaller) naively is, or, of a ``multiple``, how many times
the other side's figure naively's is: the median over the rounds, with the range.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.timing import ratios, take_turns

OURS = "naively"
WIDTH = 66
Run = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """Figures of naively and of what is beside it.

    Parameters
    ----------
    name : str
        Of the work.
    peer : str
        Of what is beside naively; empty where nothing is.
    ours, theirs : sequence of float
        By round; empty where they were not measured.
    unit : str
        "s", "MB" or "GB/s".
    clock : str
        "CPU" or "wall" for seconds, else empty.
    threads : int
        That naively could use.
    multiple : bool
        Whether the ratio is ours by theirs.
    note : str
        What else is said: why it was not measured, or how accurate the peer was.
    """

    name: str
    peer: str = ""
    ours: Sequence[float] = ()
    theirs: Sequence[float] = ()
    unit: str = "s"
    clock: str = "CPU"
    threads: int = 1
    multiple: bool = False
    note: str = ""

    def ratios(self) -> list[float]:
        """Return the ratio of each round."""
        if not self.ours or not self.theirs:
            return []
        sides = (self.ours, self.theirs) if self.multiple else (self.theirs, self.ours)
        return ratios(*sides)

    def to_dict(self) -> dict[str, Any]:
        """Return what is written to JSON."""
        found = asdict(self)
        found["ours"] = [_short(x) for x in self.ours]
        found["theirs"] = [_short(x) for x in self.theirs]
        by_round = self.ratios()
        if by_round:
            found["ratio"] = _short(median(by_round))
            found["range"] = [_short(min(by_round)), _short(max(by_round))]
        return found

    def __str__(self) -> str:
        name = self.name + (f", {self.threads} threads" if self.threads > 1 else "")
        line = f"{name:<{WIDTH}} {self._figure(self.ours):>10}"
        if self.peer:
            line += f"  {self.peer:<38} {self._figure(self.theirs):>10}"
        by_round = self.ratios()
        if by_round:
            low, high = shown(min(by_round)), shown(max(by_round))
            line += f"  {shown(median(by_round)):>7}  ({low} to {high})"
        return f"{line}  {self.note}".rstrip()

    def _figure(self, figures: Sequence[float]) -> str:
        return f"{shown(median(figures))} {self.unit}" if figures else ""


def shown(number: float) -> str:
    """Return a number with three digits, and no more before the point than it has."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def _short(number: float) -> float:
    return float(f"{number:.5g}")


def beside(
    name: str,
    ours: Run,
    peers: Mapping[str, Run | str] | None = None,
    *,
    rounds: int,
    repeat: int = 1,
    threads: int = 1,
    multiple: bool = False,
) -> list[Row]:
    """Run naively and its peers in turn, print the medians, and return a row for each peer.

    Parameters
    ----------
    name : str
        Of the work.
    ours : callable
        Naively's side.
    peers : mapping from str to callable or str
        The other sides; a string says why one is not measured.
    rounds, repeat : int
        As in ``take_turns``.
    threads : int
        That naively may use; on one thread the time is that of the processor.
    multiple : bool
        Whether the ratio is ours by theirs.
    """
    sides = {peer: run for peer, run in (peers or {}).items() if not isinstance(run, str)}
    clock = time.process_time if threads == 1 else time.perf_counter
    seconds = take_turns({**sides, OURS: ours}, rounds, repeat, clock)
    how = {"clock": "CPU" if threads == 1 else "wall", "threads": threads, "multiple": multiple}
    rows = []
    for peer, run in (peers or {"": ""}).items():
        note = f"not measured: {run}" if isinstance(run, str) and run else ""
        theirs = seconds.get(peer, []) if peer else []
        rows.append(say(Row(name, peer, seconds[OURS], theirs, note=note, **how)))
    return rows


def say(row: Row) -> Row:
    """Print a row as soon as it is measured."""
    print(row, flush=True)
    return row
