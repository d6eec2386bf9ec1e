"""Rules that every tally of rows obeys: no count is below zero or above the number of rows.

Where a rule is broken after rows were forgotten, some of them were never learned. The converse is
not true: sums do not tell which cells stood together, so a row that was never learned may be
forgotten unnoticed if each of its cells is also in some row that was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from operator import add, sub

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import ByValue, Columns, Words
from naively.counting.block import BlockKey
from naively.counting.cells import Cells
from naively.counting.names import title
from naively.counting.statistic import (
    CELL,
    DOCUMENT,
    LEVEL,
    PRESENT,
    SQUARE,
    VALUE,
    Statistic,
)
from naively.counting.tally import BlockTally, Tally
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.kernels.repeated_sums import RepeatedSums
from naively.kernels.sparse_sums import AnySums, SparseSums, as_dense

ROUNDING = 1e-9  # of what was subtracted: numbers 1e11 times as large may have come and gone
DOUBLE_DOUBLE = 2.0**-104  # of a sum, that is rounding
SHARE, LEAST_SUM = 1e-6, 1e-12  # of what is left, or for each cell, that rounding may be
# What rounding may leave of counts that were merged, forgotten and decayed.
RELATIVE, ABSOLUTE = 1e-9, 1e-6
ROOT = 1.35e154  # a larger number has an infinite square

Place = tuple[int, int]  # the row of a table of sums, and the class
Broken = tuple[Place | None, int, str]  # the first place where it is, rows of the table, the rule


def forget(tally: Tally, other: Tally, times: Collection[BlockKey] = ()) -> Tally:
    """Return the tally of the rows that are left when those of ``other`` are forgotten.

    ``times`` are the blocks of times, in seconds since 1970, which a message shows as times.

    Raises
    ------
    ValueError
        If no rows can have made what would be left, so that some of ``other`` was never learned;
        or if the numbers of ``other`` are so large that nothing is known of those that are left.
    """
    left = tally.combine(other, sub)
    size = _of_columns(tally).combine(_of_columns(other), add)
    where = _find_impossible(left, size, times)
    if where is not None:
        raise ValueError(f"Cannot forget rows that were not learned: {where}.")
    lost = _first(left, lambda name, block: _lost(block, size.blocks.get(name)))
    if lost is not None:
        raise ValueError(
            f"Cannot forget these rows exactly: {lost}, beside which the others are rounding; fit "
            "the others again."
        )
    # Where a class has no rows any more, what is left of its sums is rounding.
    none = left.weight.high == 0
    blocks = {name: block.scaled(1.0, none) for name, block in left.blocks.items()}
    return replace(left, blocks=blocks).pruned()


def _of_columns(tally: Tally) -> Tally:
    """Return the tally of the blocks of numbers: those whose axis rows are columns."""
    blocks = {name: b for name, b in tally.blocks.items() if isinstance(b.axis, Columns)}
    return replace(tally, blocks=blocks)


def impossible(tally: Tally, shares: Collection[BlockKey] = ()) -> str | None:
    """Return why no rows can have made a tally, or None if some may have.

    Parameters
    ----------
    tally : Tally
        What was counted, or what is left of it.
    shares : collection of block keys
        Blocks of values from 0 to 1.
    """
    below = _find_negative(tally)
    if below is not None:
        return below
    classes, rows = tally.classes.tolist(), tally.class_count
    for key, block in tally.blocks.items():
        present = _present(block)
        if present is not None and (
            above := _first_place(present, _above(_numbers(present), rows))
        ):
            name = title(block.axis.columns[above[0]])
            return f"column {name!r} has more cells than rows in {classes[above[1]]!r}"
        if SQUARE in block.sums:
            most = ROOT * np.maximum(block[PRESENT].high, 1.0)
            if (large := np.abs(block[VALUE].high) > most).any():
                name = title(block.axis.columns[np.argwhere(large)[0][0]])
                return f"numbers of column {name!r} have no squares"
        if key in shares:
            value, there = (block.sums[s] for s in (VALUE, PRESENT))
            if above := _first_place(value, _above(_numbers(value), _beside(value, there))):
                column = 0 if isinstance(block.axis, Words) else above[0]
                name = title(block.axis.columns[column])
                wrong = classes[above[1]]
                return f"more cells of column {name!r} are true than there are in {wrong!r}"
    return None


def _present(block: BlockTally) -> AnySums | None:
    """Return how many cells of each column were counted, (columns, classes); None: not known."""
    if PRESENT in block.sums:
        return block.sums[PRESENT]
    if isinstance(block.axis, ByValue):
        return Sums(block.axis.sum_by_column(block[block.axis.statistic].high))
    return None


def _numbers(sums: AnySums) -> Floats:
    """Return the numbers that a table holds, of those that are equal or 0 only some."""
    match sums:
        case SparseSums():
            return sums.stored.high
        case RepeatedSums():
            return sums.different.high
        case _:
            return sums.high


def _beside(sums: AnySums, other: AnySums) -> Floats:
    """Return the numbers of another table in the places of ``_numbers`` of this one.

    If the other table has one row, it stands for all rows.
    """
    match sums:
        case SparseSums():
            return other.at(sums.row, sums.classes)
        case RepeatedSums():
            row = np.unique(sums.number, return_index=True)[1]
            return other.rows(row).high
        case _:
            return as_dense(other).high


def _first_place(sums: AnySums, flags: NDArray[np.bool_]) -> Place | None:
    """Return the first row and class of which ``flags``, in the form of ``_numbers``, are true."""
    if not flags.any():
        return None
    if isinstance(sums, SparseSums):
        cell = int(np.argmax(flags))
        return int(np.searchsorted(sums.first, cell, side="right")) - 1, int(sums.classes[cell])
    of_row: NDArray[np.bool_] = np.any(flags, axis=1)
    if isinstance(sums, RepeatedSums):
        place = int(np.argmax(of_row[sums.number]))
        return place, int(np.argmax(flags[sums.number[place]]))
    row = int(np.argmax(of_row))
    return row, int(np.argmax(flags[row]))


def _above(part: Floats, whole: Floats) -> NDArray[np.bool_]:
    above: NDArray[np.bool_] = part > whole * (1 + RELATIVE) + ABSOLUTE
    return above


def _find_impossible(left: Tally, size: Tally, times: Collection[BlockKey]) -> str | None:
    """Return which rule a remainder breaks and where, or None if it breaks none.

    Parameters
    ----------
    left : Tally
        The difference of two tallies, nothing pruned.
    size : Tally
        For blocks of numbers, the sums of both tallies added up: a difference of counts or squares,
        none of which is below 0, is rounding if it is small beside them.
    times : collection of block keys
        Blocks of times.
    """
    rows = left.weight.high
    return _first(left, lambda name, block: _broken(block, size.blocks.get(name), rows), times)


def _find_negative(tally: Tally) -> str | None:
    """Return where a count is below zero, or None if none is."""
    return _first(tally, lambda _, block: _too_few(block, {}))


def _first(
    tally: Tally,
    rules: Callable[[BlockKey, BlockTally], Iterator[Broken]],
    times: Collection[BlockKey] = (),
) -> str | None:
    """Return the first broken rule, with its column and class, or None if none is broken."""
    classes = tally.classes.tolist()
    below = np.flatnonzero(tally.weight.high < 0)
    if len(below):
        left = tally.weight.high[below[0]]
        return f"too few in class {classes[below[0]]!r}, of which {left:,.10g} would be left"
    for name, block in tally.blocks.items():
        for place, height, what in rules(name, block):
            if place is not None:
                where = _where(block, place[0], height, of_times=name in times)
                return f"{what} in {where}, class {classes[place[1]]!r}"
    return None


def _rule(sums: AnySums, broken: NDArray[np.bool_], rule: str) -> Broken:
    return _first_place(sums, broken), sums.shape[0], rule


def _too_few(block: BlockTally, rounding: dict[Statistic, Floats]) -> Iterator[Broken]:
    """Yield where counts are below zero by more than their rounding."""
    # Values may be negative where their squares are counted too; else they are counts.
    of_counts = (PRESENT, LEVEL, CELL, DOCUMENT, SQUARE if SQUARE in block.sums else VALUE)
    for statistic in of_counts:
        if statistic in block.sums:
            sums = block.sums[statistic]
            yield _rule(sums, _numbers(sums) < -rounding.get(statistic, 0.0), "too few")


def _broken(block: BlockTally, size: BlockTally | None, rows: Floats) -> Iterator[Broken]:
    """Yield where a block breaks each rule, given the rows of each class, (classes,)."""
    rounding = _rounding(block, size)
    yield from _too_few(block, rounding)
    most = rows * (1 + ROUNDING)
    present = _present(block)
    if present is not None:
        yield _rule(present, _numbers(present) > most, "more cells than rows")
    if PRESENT not in block.sums:
        return
    if SQUARE in block.sums:
        too_little = _spread(block) < -rounding[SQUARE]
        yield _rule(block[SQUARE], too_little, "squares less than their sum allows")
    for statistic in (VALUE, SQUARE):
        if statistic in block.sums:
            sums = block.sums[statistic]
            more = np.abs(_numbers(sums)) > rounding.get(statistic, 0.0)
            nowhere = _beside(sums, block.sums[PRESENT]) <= 0
            yield _rule(sums, nowhere & more, "values of no cell")


def _lost(block: BlockTally, size: BlockTally | None) -> Iterator[Broken]:
    """Yield where what is left of sums of numbers is no more than the rounding of larger ones."""
    if size is None or PRESENT not in block.sums:
        return
    statistic = SQUARE if SQUARE in block.sums else VALUE
    sums = block.sums[statistic]
    there = _beside(sums, block.sums[PRESENT])
    known = LEAST_SUM * np.maximum(there, 0.0)
    if statistic is SQUARE:
        known = np.maximum(known, np.maximum(_spread(block) * SHARE, LEAST_SUM * sums.high))
    else:
        known = np.maximum(known, np.abs(_numbers(sums)) * SHARE)
    rounded = DOUBLE_DOUBLE * _beside(sums, size.sums[statistic]) > known
    yield _rule(sums, rounded & (there > 0), "numbers that are far too large")


def _rounding(block: BlockTally, size: BlockTally | None) -> dict[Statistic, Floats]:
    """Return how much of each sum may be rounding; values that may cancel need their squares.

    They are in the form of ``_numbers`` of what is left.
    """
    if size is None:
        return {}
    if SQUARE not in size.sums:
        return {VALUE: ROUNDING * _beside(block.sums[VALUE], size.sums[VALUE])}
    square, n = size[SQUARE].high, size[PRESENT].high
    return {VALUE: ROUNDING * np.sqrt(square) * np.sqrt(n), SQUARE: ROUNDING * square}


def _spread(block: BlockTally) -> Floats:
    """Return squared distances from the mean, summed, (columns, classes); rows make it ≥ 0."""
    n, value, square = (block[s] for s in (PRESENT, VALUE, SQUARE))
    there = n.high > 0
    mean = value / Sums(np.where(there, n.high, 1.0), np.where(there, n.low, 0.0))
    return np.where(there, (square - mean * value).high, 0.0)


def _where(block: BlockTally, row: int, rows: int, *, of_times: bool) -> str:
    """Name a row of a table: a row of the axis, or a column if the table has fewer rows."""
    axis = block.axis
    if rows < len(axis) and not isinstance(axis, Columns):
        return f"column {title(axis.columns[0 if isinstance(axis, Words) else row])!r}"
    name, level = axis.label(row)
    if isinstance(axis, Cells):
        low, high = axis.low[row].item(), axis.high[row].item()
        ends = [str(np.datetime64(round(x), "s")) if of_times else repr(x) for x in (low, high)]
        level = ends[0] if low == high else f"numbers from {ends[0]} to {ends[1]}"
        return f"column {title(name)!r}, {level}"
    return f"column {title(name)!r}" + ("" if level is None else f", {level!r}")
