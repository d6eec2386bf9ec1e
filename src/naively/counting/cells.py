"""Cells: the axis of numbers that were counted by the cell of a grid (see ``kernels.cells``)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import ByValue, RowMap, rows_of
from naively.counting.names import Level, Name, title
from naively.counting.statistic import CELL
from naively.kernels.cells import LAST_SHIFT, Keys, as_float, coarsest, sortable

INFINITE = sortable(np.array([-np.inf, np.inf]))


@dataclass(frozen=True, eq=False)
class Cells(ByValue):
    """One row for each cell that holds a number, in ascending order, column after column.

    Parameters
    ----------
    columns : range or tuple
        The columns.
    shifts : tuple of int
        How many of their low bits each column's keys have lost.
    keys : tuple of ndarray of int64
        The cells of each column, ascending.
    """

    statistic = CELL
    columns: range | tuple[Name, ...]
    shifts: tuple[int, ...]
    keys: tuple[Keys, ...]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.fromiter(map(len, self.keys), np.int64)

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """The number of the column of each row, (rows,)."""
        return np.repeat(np.arange(len(self.keys)), self.sizes)

    @cached_property
    def low(self) -> NDArray[np.float64]:
        """The least number of each cell, (rows,)."""
        shift = np.array(self.shifts, np.int64)[self.column]
        return as_float(np.maximum(self._key << shift, INFINITE[0]))

    @cached_property
    def high(self) -> NDArray[np.float64]:
        """The greatest number of each cell, (rows,)."""
        shift = np.array(self.shifts, np.int64)[self.column]
        key = (self._key << shift) + ((np.int64(1) << shift) - 1)
        return as_float(np.minimum(key, INFINITE[1]))

    @cached_property
    def middle(self) -> NDArray[np.float64]:
        """The number in the middle of each cell, (rows,)."""
        with np.errstate(invalid="ignore"):
            half = self.low / 2 + self.high / 2
        return np.where(np.isfinite(half), half, self.low)

    @cached_property
    def _key(self) -> Keys:
        return np.concatenate([np.empty(0, np.int64), *self.keys])

    def label(self, row: int) -> tuple[Name, Level]:
        return self.columns[int(self.column[row])], float(self.middle[row])

    def union(self, other: Cells) -> tuple[Cells, RowMap, RowMap]:
        """Join cells at the coarser of both shifts, or a coarser one if they are too many."""
        if self.columns == other.columns and all(map(_same, self._columns, other._columns)):
            return self, None, None
        mine, theirs = self._by_name(), other._by_name()
        names = tuple(dict.fromkeys([*self.columns, *other.columns]))
        shifts, keys = [], []
        for name in names:
            both = [part[name] for part in (mine, theirs) if name in part]
            shift, joined = both[0]
            if len(both) == 2:
                shift = max(shift for shift, _ in both)
                joined = np.unique(np.concatenate([k >> (shift - s) for s, k in both]))
                more = coarsest(joined)
                shift, joined = shift + more, np.unique(joined >> more) if more else joined
            shifts.append(shift)
            keys.append(joined)
        columns = max(self.columns, other.columns, key=len)
        axis = Cells(columns if tuple(columns) == names else names, tuple(shifts), tuple(keys))
        return axis, axis._rows_of(self), axis._rows_of(other)

    def select(self, keep: NDArray[np.bool_]) -> Cells:
        parts = np.split(keep, self.first[1:-1]) if self.keys else []
        kept = tuple(keys[part] for keys, part in zip(self.keys, parts, strict=True))
        return Cells(self.columns, self.shifts, kept)

    def of(self, columns: Collection[Name]) -> tuple[Cells, NDArray[np.int64]]:
        some = [j for j, name in enumerate(self.columns) if name in columns]
        names = tuple(self.columns[j] for j in some)
        shifts, keys = zip(*(self._columns[j] for j in some), strict=True) if some else ((), ())
        return Cells(names, tuple(shifts), tuple(keys)), rows_of(self.first, some)

    def find(self, values: NDArray[np.floating], column: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each number's cell, (numbers,); the number must have been counted."""
        rows = np.empty(len(values), np.int64)
        for j in np.unique(column):
            of = column == j
            key = sortable(values[of]) >> np.int64(self.shifts[j])
            rows[of] = self.first[j] + np.searchsorted(self.keys[j], key)
        return rows

    def coarsened(self, shift: int) -> tuple[Cells, NDArray[np.int64]]:
        """Return the axis whose keys have lost so many bits, and the row there of each row here.

        A column that has lost more is an error.
        """
        for name, lost in zip(self.columns, self.shifts, strict=True):
            if lost > shift:
                raise ValueError(f"column {title(name)!r} was counted in coarser cells")
        keys = tuple(np.unique(keys >> np.int64(shift - lost)) for lost, keys in self._columns)
        axis = Cells(self.columns, (shift,) * len(keys), keys)
        return axis, axis._rows_of(self)

    def check(self) -> None:
        """Raise a ValueError unless cells ascend, shifts can be and no cell is beyond infinity."""
        right = len(self.columns) == len(self.shifts) == len(self.keys)
        if not right or any((keys[1:] <= keys[:-1]).any() for keys in self.keys):
            raise ValueError("the cells are not in order")
        if not all(0 <= shift <= LAST_SHIFT for shift in self.shifts):
            raise ValueError("a grid has no such shift")
        ends = ((keys[[0, -1]], INFINITE >> shift) for shift, keys in self._columns if len(keys))
        if any(found[0] < least or found[1] > most for found, (least, most) in ends):
            raise ValueError("a cell is beyond infinity")

    @property
    def _columns(self) -> list[tuple[int, Keys]]:
        return list(zip(self.shifts, self.keys, strict=True))

    def _by_name(self) -> dict[Name, tuple[int, Keys]]:
        return dict(zip(self.columns, self._columns, strict=True))

    def _rows_of(self, part: Cells) -> NDArray[np.int64]:
        """Return the row here of each row of ``part``, (rows,), whose cells are no coarser."""
        place = {name: j for j, name in enumerate(self.columns)}
        rows = [np.empty(0, np.int64)]
        for name, (shift, keys) in part._by_name().items():
            j = place[name]
            coarser = keys >> np.int64(self.shifts[j] - shift)
            rows.append(self.first[j] + np.searchsorted(self.keys[j], coarser))
        return np.concatenate(rows)


def _same(a: tuple[int, Keys], b: tuple[int, Keys]) -> bool:
    return a[0] == b[0] and np.array_equal(a[1], b[1])


def as_cells(
    columns: range | tuple[Name, ...],
    shifts: NDArray[np.int64],
    first: NDArray[np.int64],
    keys: Keys,
) -> Cells:
    """Make an axis of what the kernel ``tally_cells`` returns.

    ``shifts`` is of shape (columns,), ``first`` of (columns + 1,) and ``keys`` of (cells,).
    """
    parts = np.split(keys, first[1:-1]) if len(first) > 1 else []
    return Cells(columns, tuple(shifts.tolist()), tuple(parts))
