"""What is left when rows are forgotten: whether any rows can have made it.

Each rule holds for every tally of rows, so that where one is broken rows were forgotten that were
never learned. The converse is not true: of rows that share each of their cells with others, sums
do not tell which cells stood together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.core.axis import Columns, Levels, Words, sum_by_column, title
from naively.core.cells import Cells
from naively.core.statistic import CELL, DOCUMENT, LEVEL, PRESENT, SQUARE, VALUE, Statistic
from naively.core.sums import Sums

if TYPE_CHECKING:
    from naively.core.tally import BlockTally, Tally

ROUNDING = 1e-9  # of what was subtracted: numbers 1e11 times as large may have come and gone

Floats = NDArray[np.float64]
Broken = tuple[NDArray[np.bool_], str]  # rows of the axis × classes, and what is wrong there


def find_impossible(left: Tally, size: Tally) -> str | None:
    """Say where no rows can have made a remainder, or None where some can.

    Parameters
    ----------
    left : Tally
        The difference of two tallies, nothing pruned.
    size : Tally
        The sums of their sizes, against which differences are rounding, of blocks of columns.
    """
    rows = left.weight.high
    return _first(left, lambda name, block: _broken(block, size.blocks.get(name), rows))


def find_negative(tally: Tally) -> str | None:
    """Say where a tally has less than nothing of what is counted, or None where it has not."""
    return _first(tally, lambda _, block: _too_few(block, {}))


def _first(tally: Tally, rules: Callable[[Any, BlockTally], Iterator[Broken]]) -> str | None:
    classes = tally.classes.tolist()
    below = np.flatnonzero(tally.weight.high < 0)
    if len(below):
        return f"too few in class {classes[below[0]]!r}"
    for name, block in tally.blocks.items():
        for broken, what in rules(name, block):
            row, column = np.nonzero(broken)
            if len(row):
                where = _where(block, int(row[0]), broken.shape[0])
                return f"{what} in {where}, class {classes[column[0]]!r}"
    return None


def _too_few(block: BlockTally, rounding: dict[Statistic, Floats]) -> Iterator[Broken]:
    # Values may be negative where their squares are counted too; else they are counts.
    of_counts = (PRESENT, LEVEL, CELL, DOCUMENT, SQUARE if SQUARE in block.sums else VALUE)
    for statistic in of_counts:
        if statistic in block.sums:
            yield block[statistic].high < -rounding.get(statistic, 0.0), "too few"


def _broken(block: BlockTally, size: BlockTally | None, rows: Floats) -> Iterator[Broken]:
    rounding = _rounding(size)
    yield from _too_few(block, rounding)
    most = rows * (1 + ROUNDING)
    for statistic in (LEVEL, CELL):
        if statistic in block.sums:
            assert isinstance(block.axis, Levels | Cells)
            counted = sum_by_column(block.axis.first, block[statistic].high)
            yield counted > most, "more cells than rows"
    if PRESENT not in block.sums:
        return
    present = block[PRESENT].high
    yield present > most, "more cells than rows"
    if SQUARE in block.sums:
        yield _spread(block) < -rounding[SQUARE], "squares less than their sum allows"
    for statistic in (VALUE, SQUARE):
        if statistic in block.sums:
            more = np.abs(block[statistic].high) > rounding.get(statistic, 0.0)
            yield (present <= 0) & more, "values of no cell"


def _rounding(size: BlockTally | None) -> dict[Statistic, Floats]:
    """Return what is rounding of sums; of values that may cancel, by their squares."""
    if size is None:
        return {}
    if SQUARE not in size.sums:
        return {VALUE: ROUNDING * size[VALUE].high}
    square, n = size[SQUARE].high, size[PRESENT].high
    return {VALUE: ROUNDING * np.sqrt(square) * np.sqrt(n), SQUARE: ROUNDING * square}


def _spread(block: BlockTally) -> Floats:
    """Return the sum of squared distances from the mean, which no rows make negative."""
    n, value, square = (block[s] for s in (PRESENT, VALUE, SQUARE))
    there = n.high > 0
    mean = value / Sums(np.where(there, n.high, 1.0), np.where(there, n.low, 0.0))
    return np.where(there, (square - mean * value).high, 0.0)


def _where(block: BlockTally, row: int, rows: int) -> str:
    """Name a row of the axis; or a column, where there is a row for each."""
    axis = block.axis
    if rows < len(axis) and not isinstance(axis, Columns):
        return f"column {title(axis.columns[0 if isinstance(axis, Words) else row])!r}"
    name, level = axis.label(row)
    return f"column {title(name)!r}" + ("" if level is None else f", {level!r}")
