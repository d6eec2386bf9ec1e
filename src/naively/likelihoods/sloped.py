"""A likelihood of numbers plus lines: each number, clipped, times a slope for each class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Dense, Sparse
from naively.kernels.reference import Finish, Finished, Floats
from naively.likelihoods.base import ABSENT, Contributions, Likelihood, Typical

ROWS = 2_048  # of a matrix that are computed together, so that they stay in the cache


@final
@dataclass(frozen=True, eq=False)
class Sloped(Likelihood[Dense | Sparse]):
    """Another likelihood plus ``Σ_r (min(max(x, low_r), high_r) - centre_r) slope_r``.

    A missing cell adds 0.

    Parameters
    ----------
    inner : Likelihood
        The other likelihood, of columns of numbers.
    column : ndarray of shape (lines,)
        The column of each line, ascending; a column may have several.
    low, high, centre : ndarray of shape (lines,)
        Where numbers are clipped, and what is taken off them.
    slope : ndarray of shape (lines, classes)
        In nats for each unit of the column.
    """

    inner: Likelihood
    column: NDArray[np.int64]
    low: Floats
    high: Floats
    centre: Floats
    slope: Floats
    base = None

    def log_prob(
        self, block: Dense | Sparse, start: Floats, finish: Finish, log_prior: Floats
    ) -> Finished:
        return self.inner.log_prob(block, start + self.added(block), finish, log_prior)

    def log_base(self, block: Dense | Sparse) -> Floats:
        return self.inner.log_base(block)

    def added(self, block: Dense | Sparse) -> Floats:
        """Return what the lines add to each row, of shape (rows, classes)."""
        if isinstance(block, Sparse):
            return self._added_sparse(block)
        found = np.empty((len(block), self.slope.shape[1]))
        for start in range(0, len(block), ROWS):
            x = np.asarray(block.values[start : start + ROWS][:, self.column], np.float64)
            found[start : start + ROWS] = self._lines(x) @ self.slope
        return found

    def _lines(self, x: Floats) -> Floats:
        """Return clipped and centred numbers, of the shape of x, (..., lines); 0 where missing."""
        line = np.clip(x, self.low, self.high) - self.centre
        line[np.isnan(line)] = 0.0
        return line

    def _added_sparse(self, block: Sparse) -> Floats:
        """Add up what is stored in each row, less what zeros would add there."""
        row, column, x = block.entries()
        found = self._of_zeros(len(block))
        np.add.at(found, row, self._of_cells(x, column) - self._of_cells(np.zeros(len(x)), column))
        return found

    def _of_zeros(self, rows: int) -> Floats:
        """Return what the lines add to rows of zeros, (rows, classes)."""
        return np.tile(self._lines(np.zeros(len(self.column))) @ self.slope, (rows, 1))

    def _of_cells(self, x: Floats, column: NDArray[np.int64]) -> Floats:
        """Return what the lines add to cells, (cells, classes)."""
        found = np.zeros((len(x), self.slope.shape[1]))
        first = np.searchsorted(self.column, column)
        last = np.searchsorted(self.column, column, side="right")
        for i in range(int((last - first).max(initial=0))):
            of = np.flatnonzero(first + i < last)
            line = first[of] + i
            clipped = np.clip(x[of], self.low[line], self.high[line]) - self.centre[line]
            found[of] += np.nan_to_num(clipped)[:, None] * self.slope[line]
        return found

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        number = np.asarray(x, np.float64)
        value: Floats = self.inner.at(x, column) + self._of_cells(number, column)
        return value

    def weighted(self, weight: Floats) -> Sloped:
        """Return this with other weights of the evidence; the lines stay."""
        return replace(self, inner=self.inner.weighted(weight))

    def contributions(self, block: Dense | Sparse) -> Contributions:
        return self._with_lines(self.inner.contributions(block), block)

    def itemised(self, block: Dense | Sparse) -> Contributions:
        return self._with_lines(self.inner.itemised(block), block)

    def _with_lines(self, items: Contributions, block: Dense | Sparse) -> Contributions:
        """Return the contributions of the inner likelihood, and what the lines add to them.

        Of a sparse block, all zeros of a row are one item.
        """
        if isinstance(block, Dense):
            x = np.asarray(block.values, np.float64)[items.row, items.column]
            return replace(items, value=items.value + self._of_cells(x, items.column))
        row, column, x = block.entries()
        row, column, x = row[x != 0], column[x != 0], x[x != 0]
        absent = self._of_zeros(len(block))
        np.subtract.at(absent, row, self._of_cells(np.zeros(len(x)), column))
        every, none = np.arange(len(block)), np.full(len(block), ABSENT)
        return Contributions(
            np.concatenate([items.row, row, every]),
            np.concatenate([items.column, column, none]),
            np.concatenate([items.item, column, none]),
            np.concatenate([items.value, self._of_cells(x, column), absent]),
        )

    def typical(self, c: int) -> Typical:
        found = self.inner.typical(c)
        columns = np.arange(len(found.value))
        x = np.ones(len(columns)) if found.x is None else found.x  # one event, or a truth
        return replace(found, value=found.value + self._of_cells(x, columns))

    def linear(self) -> tuple[Floats, Floats]:
        raise ValueError(
            "what is added where columns depend on each other is clipped, so that the log odds are "
            "no straight line."
        )
