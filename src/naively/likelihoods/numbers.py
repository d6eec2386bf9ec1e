"""Likelihoods of numbers: quadratic, with a slope, and tables of levels and bins."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Codes, Dense, Sparse, numbers_of
from naively.kernels import dispatch
from naively.kernels.reference import FAR, MOST, Finish, Finished, Floats
from naively.likelihoods.base import ABSENT, Contributions, Likelihood, Typical, multiply

# --- Likelihoods that are looked up in a table of levels, or of bins that numbers are cut into ---


FLOAT = np.finfo(np.float64)


@dataclass(frozen=True, eq=False)
class LevelTable(Likelihood[Codes]):
    """``Σ_j table[first_j + code_j]``; each column's last row is for levels never seen.

    The table has the shape (levels of all columns, classes), and ``first`` (columns + 1,).
    """

    table: Floats
    first: NDArray[np.int64]
    base = None

    def log_prob(self, block: Codes, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        table = self.first, self.table, start, finish, log_prior
        return dispatch.score_codes(block.codes, *table, block.complete)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        last = np.diff(self.first)[column] - 1
        value: Floats = self.table[self.first[column] + np.minimum(x.astype(np.int64), last)]
        return value

    def weighted(self, weight: Floats) -> LevelTable:
        weight = np.repeat(weight, np.diff(self.first), axis=0)
        return replace(self, table=multiply(self.table, weight))

    def plus(self, added: Floats) -> LevelTable:
        """Return this with a number added to each entry of the table, of its shape."""
        return replace(self, table=self.table + added)

    def contributions(self, block: Codes) -> Contributions:
        row, column, code = block.entries()
        code = np.minimum(code.astype(np.int64), np.diff(self.first)[column] - 1)
        return Contributions(row, column, code, self.table[self.first[column] + code])

    def linear(self) -> tuple[Floats, Floats]:
        known = self._known
        if not np.isfinite(known).all():
            raise ValueError(
                "a level that is impossible in a class has no finite weight; smooth, with alpha "
                "above 0."
            )
        return known, np.zeros(known.shape[1])

    def typical(self, c: int) -> Typical:  # noqa: ARG002
        return Typical(self._known)

    @property
    def _known(self) -> Floats:
        """The log likelihoods of the levels that were seen, (levels seen, classes)."""
        known = np.ones(len(self.table), np.bool_)
        known[self.first[1:] - 1] = False
        return self.table[known]


@dataclass(frozen=True, eq=False)
class BinTable(Likelihood[Dense]):
    """``Σ_j table[first_j + bin_j(x_j)]``, where a bin counts the edges that x reaches.

    Parameters
    ----------
    edges : tuple of ndarray
        An ascending array for each column, which has one bin more than edges.
    table : ndarray of shape (bins of all columns, classes)
        Log probability of each bin.
    middle, width : ndarray of shape (bins of all columns,)
        A number in each bin, and how wide the bin is.
    """

    edges: tuple[Floats, ...]
    table: Floats
    middle: Floats
    width: Floats
    base = None

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Where each column's bins begin, (columns + 1,); the last entry is the number of bins."""
        return np.cumsum([0, *(len(edges) + 1 for edges in self.edges)], dtype=np.int64)

    def log_prob(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        edges = self._edges, self._first_edge
        return dispatch.score_bins(block.values, *edges, self.table, start, finish, log_prior)

    def bins(self, values: NDArray[np.floating]) -> NDArray[np.int32]:
        """Return the bin of each number within its column, rows × columns; -1 where missing."""
        return dispatch.find_bins(values, self._edges, self._first_edge)

    @cached_property
    def _edges(self) -> Floats:
        """The edges of one column after another, (edges of all columns,)."""
        return np.concatenate([np.empty(0), *self.edges])

    @cached_property
    def _first_edge(self) -> NDArray[np.int64]:
        """Where each column's edges begin, (columns + 1,)."""
        return self.first - np.arange(len(self.first))

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        code = np.empty(len(x), np.int64)
        for j in np.unique(column):
            code[column == j] = np.searchsorted(self.edges[j], x[column == j], side="right")
        value: Floats = self.table[self.first[column] + code]
        return value

    def weighted(self, weight: Floats) -> BinTable:
        table = LevelTable(self.table, self.first).weighted(weight).table
        return replace(self, table=table)

    def contributions(self, block: Dense) -> Contributions:
        codes = self.bins(block.values)
        row, column = np.nonzero(codes >= 0)
        value = self.table[self.first[column] + codes[row, column]]
        return Contributions(row, column, column, value)

    def with_steps(self, added: Mapping[int, Steps]) -> BinTable:
        """Return this with what is added where a column's number reaches edges (see ``Steps``)."""
        edges, table, middle, width = [], [], [], []
        for j, (start, end) in enumerate(pairwise(self.first)):
            old, of = self.edges[j], slice(start, end)
            if j not in added:
                edges.append(old)
                table.append(self.table[of])
                middle.append(self.middle[of])
                width.append(self.width[of])
                continue
            new, points = added[j]
            every = np.union1d(old, new)
            begin = np.append(-np.inf, every)
            inside = start + np.searchsorted(old, begin, side="right")
            edges.append(every)
            table.append(self.table[inside] + points[np.searchsorted(new, begin, side="right")])
            end_of = np.append(every, np.inf)
            middle.append(np.clip(self.middle[inside], begin, np.nextafter(end_of, -np.inf)))
            width.append(self.width[inside])
        return BinTable(
            tuple(edges), np.concatenate(table), np.concatenate(middle), np.concatenate(width)
        )

    def log_base(self, block: Dense) -> Floats:
        """Return the log density within the bins, (rows,), which is the same for every class."""
        codes = self.bins(block.values)
        width = np.clip(np.append(self.width, 1.0), FLOAT.tiny, FLOAT.max)
        bin_ = np.where(codes < 0, len(self.width), self.first[:-1] + codes)
        total: Floats = -np.log(width[bin_]).sum(axis=1)
        return total

    def typical(self, c: int) -> Typical:
        best = [
            int(start + np.argmax(self.table[start:end, c])) for start, end in pairwise(self.first)
        ]
        return Typical(self.table[best], self.middle[best])


# --- A likelihood of numbers plus steps: what is added where a number reaches edges --------------


# The edges of a column, ascending, and what is added below the first, from each to the next, and
# from the last on: (edges + 1, classes).
Steps: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Plus(Likelihood[Dense | Sparse]):
    """Another likelihood plus what some of its columns add; a missing cell adds 0.

    Parameters
    ----------
    inner : Likelihood
        The other likelihood, of columns of numbers.
    """

    inner: Likelihood
    base = None

    @abstractmethod
    def added(self, block: Dense | Sparse) -> Floats | float:
        """Return what is added to each row, of shape (rows, classes)."""

    def log_prob(
        self, block: Dense | Sparse, start: Floats, finish: Finish, log_prior: Floats
    ) -> Finished:
        return self.inner.log_prob(block, start + self.added(block), finish, log_prior)

    def log_base(self, block: Dense | Sparse) -> Floats:
        return self.inner.log_base(block)

    def weighted(self, weight: Floats) -> Self:
        """Return this with other weights of the evidence; what is added stays."""
        return replace(self, inner=self.inner.weighted(weight))


@final
@dataclass(frozen=True, eq=False)
class Stepped(Plus):
    """Another likelihood plus steps of some of its columns.

    Parameters
    ----------
    steps : mapping of int to (edges, points)
        The steps of columns, by their numbers.
    """

    steps: Mapping[int, Steps]

    def added(self, block: Dense | Sparse) -> Floats | float:
        return sum(_step(numbers_of(block, j), steps) for j, steps in self.steps.items())

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        value: Floats = self.inner.at(x, column).copy()
        for j, steps in self.steps.items():
            of = column == j
            value[of] += _step(np.asarray(x[of], np.float64), steps)
        return value

    def typical(self, c: int) -> Typical:
        found = self.inner.typical(c)
        if found.x is None:
            return found
        columns = np.arange(len(found.value))
        return replace(found, value=self.at(found.x, columns))


def _step(x: Floats, steps: Steps) -> Floats:
    """Return what the steps of a column add to its numbers, (numbers, classes); 0 to NaN."""
    edges, points = steps
    found: Floats = points[np.searchsorted(edges, x, side="right")]
    found[np.isnan(x)] = 0.0
    return found


# --- Quadratic likelihoods: ``Σ_j offset_j - half_precision_j · (x_j - mean_j)²``, of Gaussians ---


@dataclass(frozen=True, eq=False)
class Quadratic(Likelihood[Dense]):
    """``Σ_j offset_j - half_precision_j · (x_j - mean_j)²`` over present cells, never expanded.

    The three tables have the shape (columns, classes); ``base`` returns the log base measure of a
    block's rows, of shape (rows,).
    """

    mean: Floats
    half_precision: Floats
    offset: Floats
    base: Callable[[Dense], Floats] | None = None
    centres = False

    @cached_property
    def _base(self) -> Floats:
        base: Floats = self.offset.sum(axis=0)
        return base

    def log_prob(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        tables = self.mean, self.half_precision, self.offset, start + self._base
        return dispatch.score_quadratic(block.values, *tables, finish, log_prior, block.complete)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            distance = x.astype(np.float64)[:, None] - self.mean[column]
            value: Floats = self.offset[column] - self.half_precision[column] * distance**2
            if np.isfinite(value).all():
                return value
            square = np.square(np.clip(distance, -FAR, FAR))
            bounded = self.offset[column] - np.minimum(self.half_precision[column] * square, MOST)
        return np.where(np.isfinite(value), value, bounded)

    def weighted(self, weight: Floats) -> Quadratic:
        scale = weight  # equal for all classes
        return replace(self, half_precision=self.half_precision * scale, offset=self.offset * scale)

    def linear(self) -> tuple[Floats, Floats]:
        """Return slopes and constants, if each column has one variance for all classes."""
        if self.base is not None:
            raise ValueError("they are linear in the logarithms of the columns; take these first.")
        half = self.half_precision[:, :1]
        if not (self.half_precision == half).all():
            raise ValueError(
                "each class has a variance of its own, so that the log odds hold x squared; "
                'choose Gaussian(variance="shared").'
            )
        middle = self.mean.mean(axis=1, keepdims=True)  # near the means nothing cancels
        apart = self.mean - middle
        constant = (self.offset - half * apart * (self.mean + middle)).sum(axis=0)
        return 2 * half * apart, constant

    def typical(self, c: int) -> Typical:
        x = self.mean[:, c]
        distance = x[:, None] - self.mean
        return Typical(self.offset - self.half_precision * distance**2, x)


# --- A likelihood of numbers plus lines: each number, clipped, times a slope for each class ------


ROWS = 2_048  # of a matrix that are computed together, so that they stay in the cache


@final
@dataclass(frozen=True, eq=False)
class Sloped(Plus):
    """Another likelihood plus ``Σ_r (min(max(x, low_r), high_r) - centre_r) slope_r``.

    Parameters
    ----------
    column : ndarray of shape (lines,)
        The column of each line, ascending; a column may have several.
    low, high, centre : ndarray of shape (lines,)
        Where numbers are clipped, and what is taken off them.
    slope : ndarray of shape (lines, classes)
        In nats for each unit of the column.
    """

    column: NDArray[np.int64]
    low: Floats
    high: Floats
    centre: Floats
    slope: Floats

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
        return self.inner.at(x, column) + self._of_cells(number, column)

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
