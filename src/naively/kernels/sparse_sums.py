"""Sums of which most are 0, or most rows the same: of each word only the classes it came in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.kernels import dispatch
from naively.kernels.double_double import Sums, sum_by_group
from naively.kernels.reference import Floats

# --- Double-double sums of a table of rows × classes in which few rows are different -------------
#
# In how many rows of a sparse matrix a column is present is the same for all of its columns: one
# row of numbers, where the table would have columns × classes. They add, subtract and multiply as
# `Sums` do, and are `Sums` where somebody asks for all cells.


@dataclass(frozen=True, eq=False)
class RepeatedSums:
    """A table of double-double numbers, rows × classes, with few different rows."""

    different: Sums  # (different rows, classes): the rows that there are
    number: NDArray[np.int32]  # (rows,): which of them each row of the table is

    @classmethod
    def of_row(cls, row: Sums, rows: int) -> RepeatedSums:
        """Return a table all of whose rows are this one, of shape (classes,)."""
        return cls(row[None], np.broadcast_to(np.int32(0), rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        return len(self.number), self.different.shape[1]

    @property
    def high(self) -> Floats:
        """All numbers, rounded, of shape (rows, classes); a view if all rows are the same."""
        return self._spread(self.different.high)

    @property
    def low(self) -> Floats:
        """The rounding errors of all numbers, of shape (rows, classes)."""
        return self._spread(self.different.low)

    @property
    def is_exact(self) -> bool:
        """Whether no number has a rounding error."""
        return self.different.is_exact

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        size = self.number.nbytes if self.number.strides != (0,) else self.number.itemsize
        return size + self.different.nbytes

    def by_row(self) -> Floats:
        """Return the sum of each row, of shape (rows,)."""
        return self.different.by_row()[self.number]

    def by_class(self) -> Floats:
        """Return the sum of each class, of shape (classes,)."""
        times = np.bincount(self.number, minlength=len(self.different.high))
        return np.asarray(times @ self.different.high)

    def rows_there(self) -> NDArray[np.bool_]:
        """Return which rows hold anything but 0, of shape (rows,)."""
        return np.asarray(self.different.rows_there()[self.number])

    def classes_there(self) -> NDArray[np.bool_]:
        """Return which classes hold anything but 0, of shape (classes,)."""
        return self.used().different.classes_there()

    def at(self, row: NDArray[np.integer], classes: NDArray[np.integer]) -> Floats:
        """Return the numbers in these rows and classes."""
        return np.asarray(self.different.high[self.number[row], classes])

    def total_by_row(self) -> Sums:
        """Return the sum of each row, (rows,), with its rounding error."""
        return self.different.total(axis=1)[self.number]

    def rows(self, index: NDArray[Any]) -> Sums:
        """Return all numbers of some rows, of shape (rows of the index, classes)."""
        return self.different[self.number[index]]

    def used(self) -> RepeatedSums:
        """Return the table without different rows that no row is."""
        there = np.zeros(len(self.different.high), np.bool_)
        there[self.number[:1] if self.number.strides == (0,) else self.number] = True
        if there.all():
            return self
        number = (np.cumsum(there) - 1).astype(np.int32)[self.number]
        return RepeatedSums(self.different[there], number)

    def __getitem__(self, index: Any) -> RepeatedSums:
        """Return some rows, or with ``[:, classes]`` some classes, in the order of the index."""
        if isinstance(index, tuple):
            rows, classes = index
            return RepeatedSums(self.different[:, classes], self.number[rows])
        return RepeatedSums(self.different, self.number[index]).used()

    def __add__(self, other: RepeatedSums) -> RepeatedSums:
        return self.cell_by_cell(other, lambda a, b: a + b)

    def __sub__(self, other: RepeatedSums) -> RepeatedSums:
        return self.cell_by_cell(other, lambda a, b: a - b)

    def __neg__(self) -> RepeatedSums:
        return RepeatedSums(-self.different, self.number)

    def __mul__(self, factor: float | Floats) -> RepeatedSums:
        return RepeatedSums(self.different * factor, self.number)

    __rmul__ = __mul__

    def without(
        self, classes: NDArray[np.bool_], of: NDArray[np.integer] | None = None
    ) -> RepeatedSums:
        """Return the table with 0 in these classes, of shape (classes,) or (1, classes)."""
        # With ``of``, of shape (rows,), the classes of row i are ``classes[of[i]]``.
        if not classes.any():
            return self
        if of is None:
            return RepeatedSums(self.different.without(classes), self.number)
        flags = RepeatedSums(Sums(classes.astype(np.float64)), of.astype(np.int32, copy=False))
        return self.cell_by_cell(flags, lambda sums, gone: sums.without(gone.high > 0))

    def place(self, rows: NDArray[np.int64] | None, size: int) -> RepeatedSums:
        """Return a table of ``size`` rows that holds row i of this one at ``rows[i]``."""
        if rows is None:
            return self
        none = Sums.zeros((1, self.shape[1]))
        number = np.full(size, len(self.different.high), np.int32)
        number[rows] = self.number
        different = Sums(
            np.concatenate([self.different.high, none.high]),
            np.concatenate([self.different.low, none.low]),
        )
        return RepeatedSums(different, number).used()

    def place_classes(self, places: NDArray[np.int64] | None, k: int) -> RepeatedSums:
        """Return the table of k classes, class i moved to ``places[i]``."""
        return RepeatedSums(self.different.place_classes(places, k), self.number)

    def cell_by_cell(self, other: RepeatedSums, operation: Any) -> RepeatedSums:
        """Apply an operation on `Sums` to each cell of two tables of one shape."""
        if len(self.different.high) == len(other.different.high) == 1:
            return RepeatedSums(operation(self.different, other.different), self.number)
        width = len(other.different.high)
        pair, number = np.unique(self.number * np.int64(width) + other.number, return_inverse=True)
        mine, theirs = np.divmod(pair, width)
        found = operation(self.different[mine], other.different[theirs])
        return RepeatedSums(found, number.astype(np.int32))

    def _spread(self, values: Floats) -> Floats:
        if len(values) == 1:
            return np.broadcast_to(values, self.shape)
        return values[self.number]


# --- Double-double sums of a table of words × classes that stores only what is not 0 -------------
#
# They add, subtract and multiply as `Sums` do, and are `Sums` where somebody asks for all cells.


Part: TypeAlias = "tuple[NDArray[np.int64] | None, SparseSums]"


@dataclass(frozen=True, eq=False)
class SparseSums:
    """A table of double-double numbers, rows × classes, of which most are 0."""

    # (rows + 1,): where the cells of each row begin, and where the last ends.
    first: NDArray[np.int64]
    classes: NDArray[np.int32]  # (cells,): the class of each cell, ascending within a row
    stored: Sums  # (cells,): the numbers, none of which is 0
    k: int  # how many classes there are

    @classmethod
    def later(cls, parts: Sequence[Part], rows: int) -> SparseSums:
        """Return a sum of tables that is added up when somebody asks for its numbers."""
        # So a row that is learned after many costs no more than itself, until something is
        # predicted.
        total = cls.__new__(cls)
        vars(total).update(k=parts[0][1].k, _waiting=tuple(parts), _rows=rows)
        return total

    def __getattr__(self, name: str) -> Any:
        # It is only asked for what was not there; another thread may have added it up by now.
        parts = vars(self).get("_waiting")
        if name not in ("first", "classes", "stored") or (parts is None and name not in vars(self)):
            raise AttributeError(name)
        if parts is not None:
            places = [place for place, _ in parts]
            whole = SparseSums.sum_of([part for _, part in parts], vars(self)["_rows"], places)
            vars(self).update(first=whole.first, classes=whole.classes, stored=whole.stored)
            vars(self).pop("_waiting", None)
        return vars(self)[name]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The tables that it is the sum of; itself, once they are added up."""
        found: tuple[Part, ...] = vars(self).get("_waiting", ((None, self),))
        return found

    @classmethod
    def of(cls, sums: Sums) -> SparseSums:
        """Return the cells of a table that are not 0."""
        row, column = np.nonzero((sums.high != 0) | (sums.low != 0))
        return cls._by_row(row, column, sums[row, column], *sums.shape)

    @classmethod
    def _by_row(
        cls, row: NDArray[Any], classes: NDArray[Any], stored: Sums, rows: int, k: int
    ) -> SparseSums:
        """Return cells that are in order of their rows and classes, both of shape (cells,)."""
        first = np.zeros(rows + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=rows), out=first[1:])
        return cls(first, classes.astype(np.int32, copy=False), stored, k)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        rows = vars(self).get("_rows")  # of a sum that may not be added up yet
        return len(self.first) - 1 if rows is None else rows, self.k

    @property
    def row(self) -> NDArray[np.int64]:
        """The row of each cell, of shape (cells,)."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @property
    def high(self) -> Floats:
        """All numbers, rounded, of shape (rows, classes); those that are not stored are 0."""
        return self._spread(self.stored.high)

    @property
    def low(self) -> Floats:
        """The rounding errors of all numbers, of shape (rows, classes)."""
        return self._spread(self.stored.low)

    @property
    def is_exact(self) -> bool:
        """Whether no number has a rounding error."""
        return self.stored.is_exact

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        if "_waiting" in vars(self):
            return sum(part.nbytes for _, part in self.parts if part is not self)
        return self.first.nbytes + self.classes.nbytes + self.stored.nbytes

    def by_row(self) -> Floats:
        """Return the sum of each row, of shape (rows,), which is kept and cannot be changed."""
        if "_totals" not in vars(self):  # a row without cells begins where the next one does
            there, total = self.rows_there(), np.zeros(len(self.first) - 1)
            total[there] = np.add.reduceat(self.stored.high, self.first[:-1][there])
            vars(self)["_totals"], total.flags.writeable = total, False
        return np.asarray(vars(self)["_totals"])

    def by_class(self) -> Floats:
        """Return the sum of each class, of shape (classes,), whatever the order of the rows."""
        return sum_by_group(self.stored.high, self.classes, self.k)

    def rows_there(self) -> NDArray[np.bool_]:
        """Return which rows have a cell, of shape (rows,)."""
        return np.asarray(self.first[1:] > self.first[:-1])

    def classes_there(self) -> NDArray[np.bool_]:
        """Return which classes have a cell, of shape (classes,)."""
        there = np.zeros(self.k, np.bool_)
        there[self.classes] = True
        return there

    def at(self, row: NDArray[np.integer], classes: NDArray[np.integer]) -> Floats:
        """Return the numbers in these rows and classes, which are 0 where nothing is stored."""
        key, wanted = self.row * self.k + self.classes, row * np.int64(self.k) + classes
        place = np.searchsorted(key, wanted)
        found = np.append(key, -1)[place] == wanted
        return np.where(found, np.append(self.stored.high, 0.0)[place], 0.0)

    def total_by_row(self) -> Sums:
        """Return the sum of each row, (rows,), with its rounding error."""
        there = self.rows_there()
        total = Sums.zeros(there.shape)
        found = self.stored.total_by_group(self.first[:-1][there])
        total.high[there], total.low[there] = found.high, found.low
        return total

    def rows(self, index: NDArray[Any]) -> Sums:
        """Return all numbers of some rows, of shape (rows of the index, classes)."""
        some = self[index]
        return Sums(some.high, some.low)

    def __getitem__(self, index: Any) -> SparseSums:
        """Return some rows, or with ``[:, classes]`` some classes, in the order of the index."""
        if isinstance(index, tuple):
            rows, classes = index
            place = np.full(self.k, -1, np.int64)
            chosen = np.arange(self.k)[classes]
            place[chosen] = np.arange(len(chosen))
            table = self if rows == slice(None) else self[rows]
            return table.place_classes(place, len(chosen))
        sizes = np.diff(self.first)
        first = np.append(0, np.cumsum(sizes[index]))
        if isinstance(index, np.ndarray) and index.dtype == np.bool_:
            if first[-1] == self.first[-1]:  # the rows that go have no cells
                return SparseSums(first, self.classes, self.stored, self.k)
            return self._cells(np.repeat(index, sizes), first)
        of = np.repeat(self.first[:-1][index] - first[:-1], sizes[index]) + np.arange(first[-1])
        return self._cells(of, first)

    def __add__(self, other: SparseSums | Sums) -> SparseSums:
        parts = [self, as_sparse(other)]
        return SparseSums.sum_of(parts, len(self.first) - 1)

    def __sub__(self, other: SparseSums | Sums) -> SparseSums:
        parts = [self, as_sparse(other)]
        return SparseSums.sum_of(parts, len(self.first) - 1, difference=True)

    def __neg__(self) -> SparseSums:
        return SparseSums(self.first, self.classes, -self.stored, self.k)

    def __mul__(self, factor: float | Floats) -> SparseSums:
        of_cell = factor if np.ndim(factor) == 0 else np.asarray(factor)[self.classes]
        return SparseSums(self.first, self.classes, self.stored * of_cell, self.k).compact()

    __rmul__ = __mul__

    def rounded_times(self, factor: float | Floats) -> SparseSums:
        """Return the product, rounded to one float each if the numbers here are; (classes,)."""
        if self.stored.errors is not None:
            return self * factor
        of_cell = factor if np.ndim(factor) == 0 else np.asarray(factor)[self.classes]
        product = Sums(self.stored.high * of_cell)
        return SparseSums(self.first, self.classes, product, self.k).compact()

    @classmethod
    def sum_of(
        cls,
        parts: Sequence[SparseSums],  # one at least
        rows: int,  # of the sum
        # of each table the place of each row in the sum; None where row i stands at i
        places: Sequence[NDArray[np.int64] | None] | None = None,
        *,
        difference: bool = False,
    ) -> SparseSums:
        """Return the sum of tables of the same classes, or the difference of two."""
        k = parts[0].k
        tables = [
            (place, part.first, part.classes, part.stored.high, part.stored.errors)
            for part, place in zip(parts, places or [None] * len(parts), strict=True)
        ]
        first, classes, high, low = dispatch.sum_sparse(tables, rows, k, difference)
        return cls(first, classes, Sums(high, low), k)

    def compact(self) -> SparseSums:
        """Return the table without cells that are 0."""
        keep = (self.stored.high != 0) | (self.stored.low != 0)
        return self if keep.all() else self._kept(keep)

    def without(
        self, classes: NDArray[np.bool_], of: NDArray[np.integer] | None = None
    ) -> SparseSums:
        """Return the table with nothing in these classes, (classes,) or (rows or 1, classes)."""
        # With ``of``, of shape (rows,), the classes of row i are ``classes[of[i]]``.
        if not classes.any():
            return self
        if of is None:
            gone = np.broadcast_to(classes, self.shape)[self.row, self.classes]
        else:
            gone = classes[of[self.row], self.classes]
        return self._kept(~gone)

    def place(self, rows: NDArray[np.int64] | None, size: int) -> SparseSums:
        """Return a table of ``size`` rows that holds row i of this one at ``rows[i]``."""
        if rows is None or (len(rows) == size and (rows == np.arange(size)).all()):
            return self
        some = self
        if (rows[1:] <= rows[:-1]).any():
            order = np.argsort(rows)
            rows, some = rows[order], self[order]
        first = np.zeros(size + 1, np.int64)
        first[rows + 1] = np.diff(some.first)
        return SparseSums(np.cumsum(first), some.classes, some.stored, self.k)

    def place_classes(self, places: NDArray[np.int64] | None, k: int) -> SparseSums:
        """Return the table of k classes, class i moved to ``places[i]``, or dropped at -1."""
        if places is None:
            return self
        moved = places[self.classes]
        table = SparseSums(self.first, moved.astype(np.int32), self.stored, k)
        if (moved < 0).any():
            table = table._kept(moved >= 0)
        order = np.argsort(table.row * k + table.classes, kind="stable")
        return SparseSums(table.first, table.classes[order], table.stored[order], k)

    def _kept(self, keep: NDArray[np.bool_]) -> SparseSums:
        """Return the table of some of its cells, (cells,)."""
        before = np.append(0, np.cumsum(keep))
        return self._cells(keep, before[self.first])

    def _cells(self, index: NDArray[Any], first: NDArray[np.int64]) -> SparseSums:
        """Return the table of the cells of an index, whose rows begin at ``first``."""
        return SparseSums(first, self.classes[index], self.stored[index], self.k)

    def _spread(self, values: Floats) -> Floats:
        table = np.zeros(self.shape)
        table[self.row, self.classes] = values
        return table


AnySums: TypeAlias = Sums | SparseSums | RepeatedSums


def as_dense(sums: AnySums) -> Sums:
    """Return a table with all its cells."""
    return sums if isinstance(sums, Sums) else Sums(sums.high, sums.low)


def as_sparse(sums: AnySums) -> SparseSums:
    """Return a table that stores only what is not 0."""
    return sums if isinstance(sums, SparseSums) else SparseSums.of(as_dense(sums))
