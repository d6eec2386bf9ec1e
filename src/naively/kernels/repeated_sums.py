"""Double-double sums of a table of rows × classes in which few rows are different.

In how many rows of a sparse matrix a column is present is the same for all of its columns: one row
of numbers, where the table would have columns × classes. They add, subtract and multiply as `Sums`
do, and are `Sums` where somebody asks for all cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats


@dataclass(frozen=True, eq=False)
class RepeatedSums:
    """A table of double-double numbers, rows × classes, with few different rows.

    Parameters
    ----------
    different : Sums of shape (different rows, classes)
        The rows that there are.
    number : ndarray of int32, of shape (rows,)
        Which of them each row of the table is.

    Examples
    --------
    >>> table = RepeatedSums.of_row(Sums(np.array([1.0, 2.0])), 3)
    >>> (table + table).high
    array([[2., 4.],
           [2., 4.],
           [2., 4.]])
    >>> table.place(np.array([0, 2, 3]), 4).by_row()
    array([3., 0., 3., 3.])
    """

    different: Sums
    number: NDArray[np.int32]

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

    def __mul__(self, factor: float) -> RepeatedSums:
        return RepeatedSums(self.different * factor, self.number)

    __rmul__ = __mul__

    def without(
        self, classes: NDArray[np.bool_], of: NDArray[np.integer] | None = None
    ) -> RepeatedSums:
        """Return the table with 0 in these classes, of shape (classes,) or (1, classes).

        With ``of``, of shape (rows,), the classes of row i are ``classes[of[i]]``.
        """
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
