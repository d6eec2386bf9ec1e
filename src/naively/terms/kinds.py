"""The kinds of terms: what every kind does, and those of levels and numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Generic, Self, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.counting.axis import Name, title
from naively.counting.block import B, Block, Codes, Dense, numbers_of
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import FAR, MOST, Finish, Finished, Floats, clipped
from naively.terms.views import (
    AnyTerm,
    BinsTerm,
    Cell,
    LevelsTerm,
    LineTerm,
    ParabolaTerm,
    PresenceTerm,
    Readable,
)

# --- Terms: what the columns of a block add to the score of each class, ``Σ s(x) · w_c`` ----------
#
# A term is a line in x (for words also over a power of their number), a parabola, a number for each
# level or bin, or a function that is called for each cell.


ABSENT = -1  # the item that stands for all words a row does not hold; below it,
# ABSENT - 1 - i stands for word i alone


class Items(Frozen):
    """Log likelihoods item by item: ``value[i]`` is what ``item[i]`` adds to ``row[i]``."""

    # (items,): the row of the block, and the column of its axis; of a text it is 0.
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    # (items,): a column of a dense block, a level of a categorical column (the position after its
    # levels where it was never seen), a word, or ``ABSENT``.
    item: NDArray[np.int64]
    value: Floats  # (items, classes): the log likelihoods

    def each(self) -> Iterator[tuple[int, int, int, Floats]]:
        """Yield the row, the column, the item and the log likelihoods of each item."""
        places = self.row.tolist(), self.column.tolist(), self.item.tolist()
        yield from zip(*places, self.value, strict=True)


# The log likelihoods of each column, level or word, (rows of the axis, classes); and the typical
# number of each column, (columns,), where rows of the axis are columns of numbers.
Typical: TypeAlias = "tuple[Floats, Floats | None]"

Rows: TypeAlias = "slice | NDArray[np.int64]"
EVERY = slice(None)


class TermBlock(ABC, Generic[B]):
    """The terms of one kind over the columns of a block: log likelihoods, derived from a tally."""

    @abstractmethod
    def add(self, block: B, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        """Add the log likelihood of each row to ``start`` and finish it, as the kernels do."""

    def reads_texts(self, block: B) -> bool:  # noqa: ARG002
        """Whether a block of texts is scored as they are read, so that none need be split."""
        return False

    base: Callable[[B], Floats] | None  # returns the log base measure of rows, (rows,)

    def log_base(self, block: B) -> Floats:
        """Return what ``add`` leaves out as it is the same for every class, (rows,)."""
        return np.zeros(len(block)) if self.base is None else self.base(block)

    @abstractmethod
    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        """Return the log likelihoods of cells, (cells, classes): number or code x in a column."""

    @abstractmethod
    def weighted(self, weight: Floats) -> Self:
        """Return this with the log likelihoods of each column or word multiplied by its weights.

        ``weight`` is of shape (columns or words, classes). The log likelihoods are centred over the
        classes first; if they cannot be (``centres`` is false), the weights of a column must be
        equal for all classes.
        """

    def weighted_by_part(self, weight: Floats, part: NDArray[np.integer]) -> TermBlock:
        """Return this with the weights of each column's or word's part, as ``weighted`` does."""
        # ``weight`` is of shape (parts, classes), and ``part``, the number of each part, of shape
        # (columns or words,).
        return self.weighted(weight[part])

    def over_length(self, power: float) -> TermBlock:  # noqa: ARG002
        """Return this with a text's evidence over a power of the number of its known words."""
        raise TypeError(f"{type(self).__name__} does not add up the evidence of words.")

    centres: ClassVar[bool] = True

    def linear(self) -> tuple[Floats, Floats]:
        """Return slopes, of shape (columns, levels or words; classes), and constants (classes,)."""
        # Both are given up to a term that is the same for all classes.
        raise ValueError(
            "the log odds of histograms, densities and what is integrated out are a curve; choose "
            "another event model or estimate."
        )

    def items(self, block: B) -> Items:
        """Return the log likelihood item by item; with ``start`` they sum to ``add``."""
        row, column, x = block.entries()
        return Items(row, column, column, self.at(x, column))

    def itemised(self, block: B) -> Items:
        """Return the items for an explanation."""
        # An absent word that cannot be absent in some class is an item of its own.
        return self.items(block)

    @abstractmethod
    def typical(self, c: int, rows: Rows = EVERY) -> Typical:
        """Return the log likelihoods of words or levels, or of numbers typical of class c.

        ``rows`` are some of all words, levels or columns.
        """

    def each(self, columns: Readable) -> Iterator[AnyTerm]:  # noqa: ARG002
        """Yield the terms of single columns, or raise a ValueError that says why there are none."""
        raise ValueError("its evidence is no sum of given numbers")


def sum_of_cells(of_cell: Callable[[Floats], Floats], block: Block) -> Floats:
    """Return the sum over each row of a function of its numbers, of shape (rows,)."""
    # Cells that are missing or not stored are left out: for a sparse block the function must be 0
    # at 0.
    row, _, x = block.entries()
    return np.bincount(row, of_cell(clipped(x)), len(block)).astype(np.float64)


def multiply(table: Floats, weight: Floats, finite: ArrayLike | None = None) -> Floats:
    """Centre each row of a table, (rows, classes), and multiply it by its weights, of its shape."""
    # A row that is not ``finite``, (rows,), is not centred and takes the mean of its weights. 0 ·
    # -inf is 0, because what has no weight is not impossible.
    centres = np.asarray(np.isfinite(table).all(axis=1) if finite is None else finite)[..., None]
    with np.errstate(invalid="ignore"):
        centred = np.where(centres, table - table.mean(axis=1, keepdims=True), table)
        scale = np.where(centres, weight, weight.mean(axis=1, keepdims=True))
        return np.where(scale == 0, 0.0, centred * scale)


# --- What no table holds: functions that are called for cells ------------------------------------


class FunctionTerms(TermBlock[B], Frozen):
    """``Σ_j f_j(x_j)``: what no other program reads, and no kernel adds up."""

    # Returns the log likelihoods of cells, (cells, classes), from numbers and their columns.
    of_cells: Callable[[Floats, NDArray[np.int64]], Floats]
    centre: Floats  # (columns, classes): a typical number of each column and class
    # Returns the log base measure of a block's rows, of shape (rows,).
    base: Callable[[B], Floats] | None = None
    # Returns the items of a block of counts, where what a cell adds depends on its row.
    of_rows: Callable[[B], Items] | None = None
    centres = False

    def add(self, block: B, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        joint = np.empty((len(block), len(log_prior)))
        joint[...] = start
        items = self.items(block)
        np.add.at(joint, items.row, items.value)
        return dispatch.finish_rows(joint, finish, log_prior)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        return self.of_cells(x.astype(np.float64), column)

    def items(self, block: B) -> Items:
        return super().items(block) if self.of_rows is None else self.of_rows(block)

    def weighted(self, weight: Floats) -> FunctionTerms:
        def of_cells(x: Floats, column: NDArray[np.int64]) -> Floats:
            return multiply(self.of_cells(x, column), weight[column], np.False_)

        def of_rows(block: B) -> Items:
            items = self.items(block)
            return replace(items, value=multiply(items.value, weight[items.item], np.False_))

        return replace(self, of_cells=of_cells, of_rows=self.of_rows and of_rows)

    def typical(self, c: int, rows: Rows = EVERY) -> Typical:
        x = self.centre[rows, c]
        value = self.at(x, np.arange(len(self.centre))[rows])
        return value, x if self.of_rows is None else None


# --- A table of levels, or of bins that numbers are cut into -------------------------------------


FLOAT = np.finfo(np.float64)


class LevelTerms(TermBlock[Codes], Frozen):
    """``Σ_j table[first_j + code_j]``; each column's last row is for levels never seen.

    The table has the shape (levels of all columns, classes), and ``first`` (columns + 1,).
    """

    table: Floats
    first: NDArray[np.int64]
    base = None

    def add(self, block: Codes, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        table = self.first, self.table, start, finish, log_prior
        return dispatch.score_codes(block.codes, *table, block.complete)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        last = np.diff(self.first)[column] - 1
        value: Floats = self.table[self.first[column] + np.minimum(x.astype(np.int64), last)]
        return value

    def weighted(self, weight: Floats) -> LevelTerms:
        weight = np.repeat(weight, np.diff(self.first), axis=0)
        return replace(self, table=multiply(self.table, weight))

    def items(self, block: Codes) -> Items:
        row, column, code = block.entries()
        code = np.minimum(code.astype(np.int64), np.diff(self.first)[column] - 1)
        return Items(row, column, code, self.table[self.first[column] + code])

    def linear(self) -> tuple[Floats, Floats]:
        known = self._known
        if not np.isfinite(known).all():
            raise ValueError(
                "a level that is impossible in a class has no finite weight; smooth, with alpha "
                "above 0."
            )
        return known, np.zeros(known.shape[1])

    def each(self, columns: Readable) -> Iterator[AnyTerm]:
        points = np.split(self.table, self.first[1:-1])
        if not columns.presence:
            yield from map(LevelsTerm, columns.cells, columns.levels, points)
        for cell, at, of in zip(columns.cells, columns.presence, points, strict=False):
            if at:
                there, missing = np.vstack([of, np.zeros_like(of[0])])[[*at]]
                yield PresenceTerm(cell, there, missing)

    def typical(self, c: int, rows: Rows = EVERY) -> Typical:  # noqa: ARG002
        return self._known[rows], None

    @property
    def _known(self) -> Floats:
        """The log likelihoods of the levels that were seen, (levels seen, classes)."""
        known = np.ones(len(self.table), np.bool_)
        known[self.first[1:] - 1] = False
        return self.table[known]


class BinTerms(TermBlock[Dense], Frozen):
    """``Σ_j table[first_j + bin_j(x_j)]``, where a bin counts the edges that x reaches."""

    # An ascending array for each column, which has one bin more than edges.
    edges: tuple[Floats, ...]
    table: Floats  # (bins of all columns, classes): log probability of each bin
    # (bins of all columns,): a number in each bin, and how wide the bin is.
    middle: Floats
    width: Floats
    base = None

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Where each column's bins begin, (columns + 1,); the last entry is the number of bins."""
        return np.cumsum([0, *(len(edges) + 1 for edges in self.edges)], dtype=np.int64)

    def add(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
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

    def weighted(self, weight: Floats) -> BinTerms:
        table = LevelTerms(self.table, self.first).weighted(weight).table
        return replace(self, table=table)

    def items(self, block: Dense) -> Items:
        codes = self.bins(block.values)
        row, column = np.nonzero(codes >= 0)
        value = self.table[self.first[column] + codes[row, column]]
        return Items(row, column, column, value)

    def each(self, columns: Readable) -> Iterator[AnyTerm]:
        points = np.split(self.table, self.first[1:-1])
        yield from map(BinsTerm, columns.cells, self.edges, points)

    def with_steps(self, added: Mapping[int, Steps]) -> BinTerms:
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
        return BinTerms(
            tuple(edges), np.concatenate(table), np.concatenate(middle), np.concatenate(width)
        )

    def log_base(self, block: Dense) -> Floats:
        """Return the log density within the bins, (rows,), which is the same for every class."""
        codes = self.bins(block.values)
        log_width = np.log(np.clip(np.append(self.width, 1.0), FLOAT.tiny, FLOAT.max))
        bin_ = np.where(codes < 0, len(self.width), self.first[:-1] + codes)
        total: Floats = -log_width[bin_].sum(axis=1)
        return total

    def typical(self, c: int, rows: Rows = EVERY) -> Typical:
        ends = np.column_stack([self.first[:-1], self.first[1:]])[rows].tolist()
        best = [start + int(np.argmax(self.table[start:end, c])) for start, end in ends]
        return self.table[best], self.middle[best]


# --- What is added beside the evidence of columns: steps, where a number reaches edges -----------


# The edges of a column, ascending, and what is added below the first, from each to the next, and
# from the last on: (edges + 1, classes).
Steps: TypeAlias = tuple[Floats, Floats]


class BesideTerms(ABC):
    """What is added to some columns of numbers beside their evidence; a missing cell adds 0."""

    @abstractmethod
    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        """Return what is added to cells, (cells, classes): number x in a column."""

    @abstractmethod
    def added(self, block: Block) -> Floats:
        """Return what is added to each row, of shape (rows, classes)."""

    @abstractmethod
    def each(self, cells: Sequence[Cell]) -> Iterator[AnyTerm]:
        """Yield the terms of single columns, whose cells are given."""

    @abstractmethod
    def features(self, columns: Sequence[Name]) -> Iterator[tuple[str, Floats, Floats]]:
        """Yield functions of a column: name, slopes, and what they add at 0, (classes,) each."""

    def joined(self, items: Items, block: Block) -> Items:
        """Return items of a block with what is added to them."""
        # All zeros of a row of a sparse block are one item.
        if isinstance(block, Dense):
            x = np.asarray(block.values, np.float64)[items.row, items.column]
            return replace(items, value=items.value + self.at(x, items.column))
        row, column, x = block.entries()
        row, column, x = row[x != 0], column[x != 0], x[x != 0]
        rows, every = np.arange(len(block)), np.arange(len(block.axis.columns))
        absent = np.tile(self.at(np.zeros(len(every)), every).sum(axis=0), (len(rows), 1))
        np.subtract.at(absent, row, self.at(np.zeros(len(x)), column))
        none = np.full(len(rows), ABSENT)
        return Items(
            np.concatenate([items.row, row, rows]),
            np.concatenate([items.column, column, none]),
            np.concatenate([items.item, column, none]),
            np.concatenate([items.value, self.at(x, column), absent]),
        )


@final
class StepTerms(BesideTerms, Frozen):
    """Steps of some columns."""

    steps: Mapping[int, Steps]  # the steps of columns, by their numbers
    classes: int  # how many classes there are

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        value = np.zeros((len(x), self.classes))
        for j, steps in self.steps.items():
            of = column == j
            value[of] = _step(np.asarray(x[of], np.float64), steps)
        return value

    def added(self, block: Block) -> Floats:
        found = np.zeros((len(block), self.classes))
        for j, steps in self.steps.items():
            found += _step(numbers_of(block, j), steps)
        return found

    def each(self, cells: Sequence[Cell]) -> Iterator[AnyTerm]:
        for j, (edges, points) in self.steps.items():
            yield BinsTerm(cells[j], edges, points)

    def features(self, columns: Sequence[Name]) -> Iterator[tuple[str, Floats, Floats]]:
        for j, (edges, points) in self.steps.items():
            start = points[0]
            for edge, slope in zip(edges.tolist(), np.diff(points, axis=0), strict=True):
                yield f"{title(columns[j])} >= {plain(edge)}", slope, start
                start = 0.0 * start  # it is added once


def _step(x: Floats, steps: Steps) -> Floats:
    """Return what the steps of a column add to its numbers, (numbers, classes); 0 to NaN."""
    edges, points = steps
    found: Floats = points[np.searchsorted(edges, x, side="right")]
    found[np.isnan(x)] = 0.0
    return found


# --- Parabolas: ``Σ_j offset_j - half_precision_j · (x_j - mean_j)²``, of Gaussians ---------------


class QuadraticTerms(TermBlock[Dense], Frozen):
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
        return np.asarray(self.offset.sum(axis=0))

    def add(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
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

    def weighted(self, weight: Floats) -> QuadraticTerms:
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

    def each(self, columns: Readable) -> Iterator[AnyTerm]:
        none = np.zeros(self.mean.shape[1])
        for j, cell in enumerate(columns.cells):
            yield PresenceTerm(cell, self.offset[j], none)
            yield ParabolaTerm(cell, self.mean[j], self.half_precision[j])

    def typical(self, c: int, rows: Rows = EVERY) -> Typical:
        x = self.mean[rows, c]
        distance = x[:, None] - self.mean[rows]
        return self.offset[rows] - self.half_precision[rows] * distance**2, x


# --- Lines beside the evidence: each number, clipped, times a slope for each class ---------------


ROWS = 2_048  # of a matrix that are computed together, so that they stay in the cache


@final
class ClippedTerms(BesideTerms, Frozen):
    """``Σ_r (min(max(x, low_r), high_r) - centre_r) slope_r`` over lines r."""

    # (lines,): the column of each line, ascending; a column may have several.
    column: NDArray[np.int64]
    # (lines,): where numbers are clipped, and what is taken off them.
    low: Floats
    high: Floats
    centre: Floats
    slope: Floats  # (lines, classes): in nats for each unit of the column

    def added(self, block: Block) -> Floats:
        if isinstance(block, Dense):
            found = np.empty((len(block), self.slope.shape[1]))
            for start in range(0, len(block), ROWS):
                x = np.asarray(block.values[start : start + ROWS][:, self.column], np.float64)
                found[start : start + ROWS] = self._lines(x) @ self.slope
            return found
        row, column, x = block.entries()  # what is stored, less what zeros would add there
        found = np.tile(self._lines(np.zeros(len(self.column))) @ self.slope, (len(block), 1))
        np.add.at(found, row, self.at(x, column) - self.at(np.zeros(len(x)), column))
        return found

    def _lines(self, x: Floats) -> Floats:
        """Return clipped and centred numbers, of the shape of x, (..., lines); 0 where missing."""
        line = np.clip(x, self.low, self.high) - self.centre
        line[np.isnan(line)] = 0.0
        return line

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        number, found = np.asarray(x, np.float64), np.zeros((len(x), self.slope.shape[1]))
        first = np.searchsorted(self.column, column)
        last = np.searchsorted(self.column, column, side="right")
        for i in range(int((last - first).max(initial=0))):
            of = np.flatnonzero(first + i < last)
            line = first[of] + i
            clipped = np.clip(number[of], self.low[line], self.high[line]) - self.centre[line]
            found[of] += np.nan_to_num(clipped)[:, None] * self.slope[line]
        return found

    def each(self, cells: Sequence[Cell]) -> Iterator[AnyTerm]:
        clips = self.low.tolist(), self.high.tolist(), self.centre.tolist()
        lines = zip(self.column.tolist(), *clips, self.slope, strict=True)
        for j, low, high, centre, slope in lines:
            yield LineTerm(cells[j], low, high, centre, slope)

    def features(self, columns: Sequence[Name]) -> Iterator[tuple[str, Floats, Floats]]:
        each = zip(self.column, self.low, self.high, self.centre, self.slope, strict=True)
        for column, low, high, centre, slope in each:
            name = f"{title(columns[column])} in [{plain(low)}, {plain(high)}]"
            yield name, slope, -centre * slope


def plain(x: float) -> str:
    """Return a number in as few digits as say exactly which it is."""
    return f"{x:g}" if float(f"{x:g}") == x else repr(float(x))
