"""Leaving a row out is subtraction: the sums that a cell is scored by, less what its row added.

An event model applies to what is left the formula that it applies to all sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns
from naively.counting.block import B, Block, Sparse
from naively.counting.labels import Labels
from naively.counting.statistic import PRESENT, VALUE, Statistic
from naively.counting.tally import BlockTally
from naively.kernels import dispatch
from naively.kernels.double_double import NEGLIGIBLE, Sums
from naively.kernels.reference import Floats, clipped
from naively.kernels.repeated_sums import RepeatedSums
from naively.kernels.sparse_sums import as_dense

ROWS = 1000  # of counts that are left out at a time, to bound memory


def one_of_each(labels: Labels, times: NDArray[np.int64]) -> Labels:
    """Return the labels of what is left out of rows: of one of weight 2, which is two rows, one.

    Parameters
    ----------
    labels : Labels
        The labels of the rows.
    times : ndarray of shape (rows,)
        How many equal rows each row stands for.

    Examples
    --------
    >>> labels = Labels(np.array([0, 1, 0]), np.array(["a", "b"]), np.array([2.0, 0.5, 1.5]))
    >>> one_of_each(labels, np.array([1, 1, 3])).weight
    array([1. , 0.5, 0.5])
    """
    if labels.weight is None:
        return labels
    return replace(labels, weight=np.minimum(labels.weight / times, 1.0))


@dataclass(frozen=True, eq=False)
class LeftOut(Generic[B]):
    """Cells of rows that were counted, each to be scored as if its row had not been counted.

    Parameters
    ----------
    block : Block
        The rows.
    row, column : ndarray of shape (cells,)
        The numbers of each cell's row and of its column or word.
    x : ndarray of shape (cells,)
        Its number, or the code of its level.
    labels : Labels
        The class of each cell's row, and what the row weighs.
    """

    block: B
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    x: NDArray[Any]
    labels: Labels

    @classmethod
    def of(cls, block: B, labels: Labels) -> LeftOut[B]:
        """Return the cells of a block that are stored and not missing."""
        row, column, x = block.entries()
        return cls(block, row, column, x, labels.take(row))

    def __len__(self) -> int:
        return len(self.row)

    def take(self, cells: NDArray[np.int64]) -> LeftOut[B]:
        """Return some of the cells, by their numbers."""
        row, column, x = self.row[cells], self.column[cells], self.x[cells]
        return LeftOut(self.block, row, column, x, self.labels.take(cells))

    @cached_property
    def weight(self) -> Floats:
        """The weight of each cell's row, of shape (cells,)."""
        return self.labels.weights

    @cached_property
    def own(self) -> Floats:
        """What each cell's row added to the class counts, of shape (cells, classes)."""
        return self.labels.one_hot()

    def rest(self, tally: BlockTally, statistics: Sequence[Statistic]) -> BlockTally[Columns]:
        """Return a tally with a column for each cell: the cell's column without the cell's row."""
        number, own = Sums(self.x[:, None]), Sums(self.own)
        sums = {}
        for s in statistics:
            added = own if s is PRESENT else number * own if s is VALUE else number * (number * own)
            counted = tally.sums[s].rows(self.column) if tally.axis.per_row(s) else tally[s]
            sums[s] = counted - added
        return BlockTally(Columns(range(len(self))), sums)

    def rest_of_zeros(self, tally: BlockTally, weight: float) -> BlockTally:
        """Return the tally less, in each class, one row of this weight that is all zeros."""
        row, rows = Sums(np.full((1, self.labels.k), weight)), tally.sums[PRESENT]
        if isinstance(rows, RepeatedSums):
            rows -= RepeatedSums.of_row(row[0], len(tally.axis))
        else:
            rows = as_dense(rows) - row
        return BlockTally(tally.axis, {**tally.sums, PRESENT: rows})

    def others(self, frequency: Floats) -> Floats:
        """Return how often other rows have the word of each cell, of shape (cells,).

        For dense numbers it is the number of other rows in which the column is not missing.
        ``frequency``, of shape (words or columns,), counts all rows (``frequency_of``).
        """
        added = self.x if self.block.frequency is VALUE else 1.0
        return frequency[self.column] - self.weight * added

    def alone(self, tally: BlockTally, others: Floats) -> NDArray[np.bool_]:
        """Mark the cells whose word, or dense column, no other row has, of shape (cells,).

        Without the row, such a word or column is as if it had never been seen.
        """
        goes = tally.axis.grows or self.block.frequency is PRESENT
        return (others <= NEGLIGIBLE) & goes

    def spread(self, value: Floats) -> Floats:
        """Return values of cells, (cells, classes), as (rows, columns, classes), 0 elsewhere."""
        shape = len(self.block), len(self.block.axis.columns), value.shape[1]
        if len(value) == shape[0] * shape[1]:  # cells are in the order of the rows
            return value.reshape(shape)
        table = np.zeros(shape)
        table[self.row, self.column] = value
        return table


def frequency_of(tally: BlockTally, block: Block) -> Floats:
    """Return how often the rows have each word, or in how many a dense column is not missing.

    The shape is (words or columns,).
    """
    frequency: Floats = tally.sums[block.frequency].by_row()
    return frequency


def lengths_left(tally: BlockTally, block: Block, labels: Labels) -> Floats:
    """Return how many of each row's words other rows have too, of shape (rows,)."""
    if isinstance(block, Sparse) and block.frequency is VALUE and tally.axis.grows:
        indices, data = block.indices.astype(np.int32, copy=False), None
        if not block.presence:
            data = clipped(block.data)
        frequency = frequency_of(tally, block)
        return dispatch.leave_out_lengths(block.indptr, indices, data, labels.weight, frequency)
    cells = LeftOut.of(block, labels)
    known = ~cells.alone(tally, cells.others(frequency_of(tally, block)))
    return np.bincount(cells.row[known], cells.x[known], len(block)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class BagsLeftOut:
    """Rows of counts, each to be scored as if it had not been counted.

    Parameters
    ----------
    row, word, x : ndarray of shape (cells,)
        The row of each cell, the row of its word in ``count``, and how often the word comes. Words
        that no other row has are left out.
    others : ndarray of shape (cells,)
        How often other rows have the word of each cell.
    count : ndarray of shape (words, classes)
        The counts that each class is estimated from, including pretend counts, of the words that
        some of these rows have.
    affected : ndarray of shape (cells, m)
        The m classes whose counts the cell's row added to.
    left : ndarray of shape (cells, m)
        What is left of the cell's count in each of these classes.
    total : ndarray of shape (rows, classes)
        What is left of the counts of all words.
    """

    row: NDArray[np.int64]
    word: NDArray[np.int64]
    x: Floats
    others: Floats
    count: Floats
    affected: NDArray[np.int64]
    left: Floats
    total: Floats


def bags_left_out(
    tally: BlockTally,
    block: Block,
    labels: Labels,
    count: Floats,
    pretend: Floats,
    affected: NDArray[np.int64],
) -> Iterator[tuple[NDArray[np.int64], BagsLeftOut]]:
    """Yield numbers of rows, and the counts that are left without each, for some rows at a time.

    Parameters
    ----------
    tally : BlockTally
        What was counted, these rows among it.
    block, labels : Block, Labels
        The rows, with their classes.
    count : ndarray of shape (words, classes)
        The counts that each class is estimated from, including pretend counts.
    pretend : ndarray of shape (words,)
        The pretend count of each word, at least 0.
    affected : ndarray of shape (classes, m)
        The m classes whose counts a row of each class adds to.
    """
    frequency, total = frequency_of(tally, block), count.sum(axis=0)
    k = labels.k
    for start in range(0, len(block), ROWS):
        rows = np.arange(start, min(start + ROWS, len(block)))
        cells = LeftOut.of(block.select(rows), labels.take(rows))
        row, word, x, n = cells.row, cells.column, cells.x, len(rows)
        others, of = cells.others(frequency), affected[cells.labels.codes]
        before, least = count[word[:, None], of], pretend[word]
        left = np.maximum(before - (cells.weight * x)[:, None], least[:, None])
        gone = np.bincount((row[:, None] * k + of).ravel(), (before - left).ravel(), n * k)
        alone = cells.alone(tally, others)
        of_words = np.bincount(row[alone], least[alone], n)  # pretend counts that go with the row
        here = np.zeros(len(count), np.bool_)  # the words that some of these rows have
        here[word] = True
        known = np.flatnonzero(~alone & (x != 0))
        yield (
            rows,
            BagsLeftOut(
                row[known],
                (np.cumsum(here) - 1)[word[known]],
                x[known],
                others[known],
                count[here],
                of[known],
                left[known],
                total - gone.reshape(n, k) - of_words[:, None],
            ),
        )


def leave_out(sums: Floats, right: NDArray[np.integer], own: Floats) -> Floats:
    """Return sums of shape (cells, classes) less what each cell's row added to its class.

    ``right`` is the class of each cell's row and ``own`` what the row added, both of shape
    (cells,). Rounding, or decay to less than a row, leaves 0 rather than less.
    """
    here, left = np.arange(len(sums)), sums.copy()
    left[here, right] = np.maximum(left[here, right] - own, 0.0)
    return left
