"""What the rows of a table of parameters stand for: columns, levels, words, bins, pairs of bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Levels, Words
from naively.events import Histogram
from naively.model.model import Model
from naively.schema.derived import Bins, Interaction, NumberBins
from naively.schema.group import Group

Items: TypeAlias = Callable[[NDArray[np.int64]], list[Any]]  # the columns or items of some rows


class Interval(str):
    """A bin of numbers, or of times: a string, with the ends of the bin.

    Examples
    --------
    >>> bin = Interval.of(1.5, 2.0, last=False)
    >>> bin, bin.low, bin.high
    ('[1.5, 2.0)', 1.5, 2.0)
    """

    __slots__ = ("high", "low")

    low: Any
    high: Any

    @classmethod
    def of(cls, low: Any, high: Any, *, last: bool) -> Interval:
        """Make a bin; the last one of a column holds its right end."""
        begin, end = "(" if low == -np.inf else "[", "]" if last else ")"
        made = cls(f"{begin}{_written(low)}, {_written(high)}{end}")
        made.low, made.high = low, high
        return made


def _written(end: Any) -> str:
    return repr(float(f"{end:.6g}")) if isinstance(end, float) else str(end)


def items_of(model: Model, group: Group) -> tuple[NDArray[np.int64], Items]:
    """Return the column of each row of a group's tables, (rows,), and what its rows are."""
    event, tally = group.event, model.counts[group.key]
    axis = tally.axis
    if isinstance(event, Histogram):
        of, low, high = event.bins_of(tally)
        last = np.append(of[1:] != of[:-1], True)[: len(of)]
        timed = np.array([name in model.schema.times for name in axis.columns], np.bool_)

        def bins(rows: NDArray[np.int64]) -> list[Any]:
            ends = ((_end(low[i], timed[of[i]]), _end(high[i], timed[of[i]])) for i in rows)
            return [
                Interval.of(*both, last=end)
                for both, end in zip(ends, last[rows].tolist(), strict=True)
            ]

        return of, bins
    if isinstance(axis, Words):
        words = axis
        return np.zeros(len(axis), np.int64), lambda rows: [
            words.label(i)[1] for i in rows.tolist()
        ]
    if isinstance(axis, Levels):
        levels = axis
        of = np.repeat(np.arange(len(axis.columns)), axis.sizes)
        if group.kind == "missing":
            return of, lambda rows: ["(missing)"] * len(rows)
        if group.is_interaction:
            return of, lambda rows: [_pair(levels, of[i], i) for i in rows.tolist()]
        return of, lambda rows: [
            levels.levels[of[i]][i - levels.first[of[i]]] for i in rows.tolist()
        ]
    return np.arange(len(axis.columns)), lambda rows: [None] * len(rows)


def _end(x: np.floating, timed: np.bool_) -> Any:
    """Return an end of a bin, as a time where the column holds times."""
    return np.datetime64(round(float(x)), "s").item() if timed and np.isfinite(x) else float(x)


def _pair(axis: Levels, j: int, row: int) -> str:
    """Return which two bins a row of an interaction stands for."""
    column = axis.columns[j]
    assert isinstance(column, Interaction)
    a, b = divmod(row - int(axis.first[j]), column.b.size)
    return f"{_bin(column.a, a)} × {_bin(column.b, b)}"


def _bin(of: Bins, code: int) -> str:
    """Return what a bin of a column holds."""
    if code == of.size - 1:
        return "(missing)"
    if isinstance(of, NumberBins):
        ends = [-np.inf, *of.edges, np.inf]
        return Interval.of(float(ends[code]), float(ends[code + 1]), last=False)
    return str(of.levels[code]) if code < len(of.levels) else "(any other)"
