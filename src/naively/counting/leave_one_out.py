"""A row's own statistics are subtracted from the tally: leave-one-out in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import PRESENT, VALUE, Columns, Name, Statistic, title
from naively.counting.block import B, Block, BlockKey, Sparse
from naively.counting.labels import Labels
from naively.counting.tally import BlockTally
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.double_double import NEGLIGIBLE, Sums
from naively.kernels.reference import Floats, clipped
from naively.kernels.sparse_sums import AnySums, RepeatedSums, SparseSums, as_dense

# --- Leaving a row out is subtraction: the sums of a cell, less what its row added ---------------
#
# An event model applies to what is left the formula that it applies to all sums.


ROWS = 1000  # of counts that are left out at a time, to bound memory


def one_of_each(labels: Labels, times: NDArray[np.int64]) -> Labels:
    """Return the labels of what is left out: of each row that stands for so many, (rows,), one."""
    if labels.weight is None:
        return labels
    return replace(labels, weight=labels.weight / times)


class LeftOut(Frozen, Generic[B]):
    """Cells of rows that were counted, each to be scored as if its row had not been counted."""

    block: B
    # (cells,): the numbers of each cell's row and of its column or word.
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    x: NDArray[Any]  # (cells,): its number, or the code of its level
    labels: Labels  # the class of each cell's row, and what the row weighs

    @classmethod
    def of(cls, block: B, labels: Labels) -> LeftOut[B]:
        """Return the cells of a block that are stored and not missing."""
        row, column, x = block.entries()
        return cls(block, row, column, x, labels.take(row))

    def take(self, cells: NDArray[np.int64]) -> LeftOut[B]:
        """Return some of the cells, by their numbers."""
        row, column, x = self.row[cells], self.column[cells], self.x[cells]
        return LeftOut(self.block, row, column, x, self.labels.take(cells))

    def rest(self, tally: BlockTally, statistics: Sequence[Statistic]) -> BlockTally[Columns]:
        """Return a tally with a column for each cell: the cell's column without the cell's row."""
        number, own = Sums(self.x[:, None]), Sums(self.labels.one_hot())
        sums = {}
        for s in statistics:
            added = own if s is PRESENT else number * own if s is VALUE else number * (number * own)
            counted = tally[s] if s in tally.axis.shared else tally.sums[s].rows(self.column)
            sums[s] = counted - added
        return BlockTally(Columns(range(len(self.row))), sums)

    def rest_of_zeros(self, tally: BlockTally, weight: float) -> BlockTally:
        """Return the tally less, in each class, one row of this weight that is all zeros."""
        row, rows = Sums(np.full((1, len(self.labels.classes)), weight)), tally.sums[PRESENT]
        if isinstance(rows, RepeatedSums):
            rows -= RepeatedSums.of_row(row[0], len(tally.axis))
        else:
            rows = as_dense(rows) - row
        return BlockTally(tally.axis, {**tally.sums, PRESENT: rows})

    def others(self, frequency: Floats) -> Floats:
        """Return how often other rows have the word of each cell, of shape (cells,)."""
        # For dense numbers it is the number of other rows in which the column is not missing.
        # ``frequency``, of shape (words or columns,), counts all rows (``frequency_of``).
        added = self.x if self.block.frequency is VALUE else 1.0
        return frequency[self.column] - self.labels.weights * added

    def alone(self, tally: BlockTally, others: Floats) -> NDArray[np.bool_]:
        """Mark the cells whose word, or dense column, no other row has, of shape (cells,)."""
        # Without the row, such a word or column is as if it had never been seen.
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
    """Return how often each word, or dense column, is in the rows, (words or columns,)."""
    return np.asarray(tally.sums[block.frequency].by_row())


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


class BagsLeftOut(Frozen):
    """Rows of counts, each to be scored as if it had not been counted."""

    # (cells,): the row of each cell, the row of its word in ``count``, and how often the word
    # comes. Words that no other row has are left out.
    row: NDArray[np.int64]
    word: NDArray[np.int64]
    x: Floats
    others: Floats  # (cells,): how often other rows have the word of each cell
    # (words, classes): the counts that each class is estimated from, including pretend counts, of
    # the words that some of these rows have.
    count: Floats
    affected: NDArray[np.int64]  # (cells, m): the m classes whose counts the cell's row added to
    left: Floats  # (cells, m): what is left of the cell's count in each of these classes
    total: Floats  # (rows, classes): what is left of the counts of all words


def bags_left_out(
    tally: BlockTally,  # what was counted, these rows among it
    block: Block,
    labels: Labels,
    count: Floats,  # (words, classes): what each class is estimated from, with pretend counts
    pretend: Floats,  # (words,): the pretend count of each word, at least 0
    affected: NDArray[np.int64],  # (classes, m): the m classes that a row of each class adds to
) -> Iterator[tuple[NDArray[np.int64], BagsLeftOut]]:
    """Yield numbers of rows, and the counts that are left without each, for some rows at a time."""
    frequency, total = frequency_of(tally, block), count.sum(axis=0)
    k = len(labels.classes)
    for start in range(0, len(block), ROWS):
        rows = np.arange(start, min(start + ROWS, len(block)))
        cells = LeftOut.of(block.select(rows), labels.take(rows))
        row, word, x, n = cells.row, cells.column, cells.x, len(rows)
        others, of = cells.others(frequency), affected[cells.labels.codes]
        before, least = count[word[:, None], of], pretend[word]
        left = np.maximum(before - (cells.labels.weights * x)[:, None], least[:, None])
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
    """Return sums of shape (cells, classes) less what each cell's row added to its class."""
    # ``right`` is the class of each cell's row and ``own`` what the row added, both of shape
    # (cells,). Rounding, or decay to less than a row, leaves 0 rather than less.
    here, left = np.arange(len(sums)), sums.copy()
    left[here, right] = np.maximum(left[here, right] - own, 0.0)
    return left


# --- Cells that are alike without their rows: of one level or bin, one class and one weight ------
#
# A table has far fewer different cells than cells, and what is left without one of them is left
# without each.


SPARSE = 20  # times as many numbers as keys, from which it is quicker to sort
WEIGHTS = 8  # different weights, with more of which few cells are alike


def different_cells(
    cells: LeftOut[B],
    unit: NDArray[np.int64],  # (cells,): the level or bin of each, numbered through all columns
    units: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers of cells of which no two are alike, and which of them each cell is like."""
    k, weight = len(cells.labels.classes), cells.labels.weight
    key, size = unit * k + cells.labels.codes, units * k
    if weight is not None and len(weight) and (weight != weight[0]).any():
        once, kind = np.unique(weight, return_inverse=True)
        if len(once) > WEIGHTS:
            every = np.arange(len(key))
            return every, every
        key, size = key * len(once) + kind, size * len(once)
    if size > SPARSE * len(key):
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        return first, number.astype(np.int64)
    here = np.zeros(size, np.bool_)
    here[key] = True
    number = (np.cumsum(here) - 1)[key]
    first = np.empty(np.count_nonzero(here), np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first, number


# --- Parts of the evidence: what has a weight of its own for each class --------------------------
#
# A part is a column; all columns of a block that are one event; or the words of a text in one band
# of document frequency (in 1 text, in 2 to 3, in 4 to 7, and so on), because a word in two texts
# of a thousand needs another weight than a word in every second text.


# A sum of weights such as 2.3 less 0.3 may be just below 2, and the word is still in two texts.
ROUNDING = 1e-9


def band_of(texts: Floats) -> NDArray[np.int32]:
    """Return the band of each word, (words,), from how many texts hold it, (words,)."""
    return np.frexp(np.maximum(texts, 1.0) * (1 + ROUNDING))[1] - 1


def count_bands(texts: Floats) -> int:
    """Return the number of bands of words, at least 1, from how many texts hold each, (words,)."""
    return int(band_of(texts.max(initial=1.0))) + 1


class Part(NamedTuple):
    """A part of the evidence, which has one weight for each class; equal parts are the same."""

    group: BlockKey  # the key of the block that it belongs to
    # The column; None stands for all columns of a block that are one event.
    column: Name | None = None
    # The band of the words that at least 2**band texts hold, but fewer than twice as many.
    band: int | None = None

    def __str__(self) -> str:
        if self.column is None:
            return str(self.group)
        if self.band is None:
            return title(self.column)
        least, most = 2**self.band, 2 ** (self.band + 1) - 1
        span = "1 text" if most == 1 else f"{least} to {most} texts"
        return f"{self.group}, words in {span}"


class Parts(Frozen):
    """The parts of the evidence of a block."""

    keys: Sequence[Part]  # the parts, in the order of their numbers
    # (units,): the number of each unit's part. A unit is a word where the block is of texts, and
    # else a column.
    of_unit: NDArray[np.integer]
    # Whether a text's evidence is the sum of its words' evidence over the square root of the number
    # of its words.
    by_word: bool = False

    @classmethod
    def whole(cls, group: BlockKey, units: int) -> Parts:
        """Return one part for all units."""
        return cls([Part(group)], np.zeros(units, np.int64))

    @classmethod
    def words(cls, group: BlockKey, column: Name, frequency: Floats, *, by_band: bool) -> Parts:
        """Return a part for the words of a text, or one for each band of document frequency."""
        # ``frequency`` is how many texts hold each word, of shape (words,).
        if not by_band:
            return cls([Part(group, column)], np.zeros(len(frequency), np.int64), by_word=True)
        keys = [Part(group, column, band) for band in range(count_bands(frequency))]
        return cls(keys, band_of(frequency), by_word=True)

    def sums(
        self,
        row: NDArray[np.int64],  # (cells,)
        unit: NDArray[np.int64],  # (cells,)
        value: Floats,  # (cells, classes)
        n: int,
    ) -> Floats:
        """Sum the log likelihoods of the cells of n rows by part, to (rows, parts, classes)."""
        table = np.zeros((n, len(self.keys), value.shape[1]))
        np.add.at(table, (row, self.of_unit[unit]), value)
        return table


# --- A setting that is chosen: the one under which the other rows predict each row best ----------
#
# Pseudo-counts, pretend rows, the widths of bins and bandwidths are chosen so, by the leave-one-
# out likelihood.


SURE = 0.25  # nats that a choice costs if its logarithm is 1 away from where it is shrunk to


def choose(
    choices: Sequence[float],
    losses: Floats,  # (choices,) or (choices, columns): leave-one-out losses, in nats
    towards: float | None = None,  # what the choice is shrunk to, as few rows determine it poorly
) -> Floats:
    """Return the choice of least loss, the first of equals; of each column its own, (columns,)."""
    tried = np.asarray(choices)
    if towards is not None:
        losses = (losses.T + SURE * np.log(tried / towards) ** 2).T
    return np.asarray(tried[losses.argmin(axis=0)])


def choose_between(least: float, most: float, loss: Callable[[float], float]) -> float:
    """Return the number of least loss, weakly shrunk to 1, to one part in a million."""
    from scipy.optimize import minimize_scalar

    def shrunk(log_choice: float) -> float:
        choice = np.exp(log_choice)
        return float(loss(choice) + SURE * np.log(choice) ** 2)

    ends = np.log(least), np.log(most)
    found = minimize_scalar(shrunk, bounds=ends, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))


LEAST, MOST = 1e-3, 1e3  # pseudo-counts, among which "auto" chooses


def pseudo_count_of_words(count: AnySums) -> float:  # (words, classes): how often each word came
    """Return the pseudo-count under which the other words predict each single word best."""
    # The leave-one-out likelihood of Minka, Estimating a Dirichlet distribution (2000), section
    # 2.3, which needs only how many words came how often; it is weakly shrunk towards 1. Where no
    # word came again it would be infinite, and each posterior the class prior, only because nothing
    # is known yet. So more than Laplace's 1 takes words that came again: 1 more for each time.
    total, words = count.by_class(), count.shape[0]
    stored = count.stored.high if isinstance(count, SparseSums) else count.high
    seen, often = np.unique(stored[stored > 0], return_counts=True)
    tokens = seen * often

    def loss(alpha: float) -> float:
        of_total = np.maximum(total - 1.0, 0.0) + alpha * words
        return float(total @ np.log(of_total) - tokens @ np.log(np.maximum(seen - 1, 0) + alpha))

    again = float(often @ np.maximum(seen - 1, 0))
    return choose_between(LEAST, min(1.0 + again, MOST), loss) if len(seen) else 1.0


def pseudo_count_of_coins(
    true: Floats,  # (columns, classes): how many cells are true
    trials: Floats,  # of the same shape: how many there are
    times: NDArray[np.int64] | None = None,  # the same: how many equal columns each stands for
) -> float:
    """Return the pseudo-count of true and false under which the other rows predict each best."""
    both = np.stack([np.stack([true, trials - true]).ravel(), np.stack([trials, trials]).ravel()])
    there = both[0] > 0
    pair = both[0, there] + 1j * both[1, there]  # as complex numbers they are sorted fast
    if times is None:
        found, often = np.unique(pair, return_counts=True)
    else:
        found, place = np.unique(pair, return_inverse=True)
        often = np.bincount(place, np.tile(times, 2)[there], len(found))
    number, of = found.real, found.imag

    def loss(alpha: float) -> float:
        rest = np.maximum(number - 1.0, 0.0) + alpha
        share = rest / (np.maximum(of - 1.0, 0.0) + 2 * alpha)
        return -float((often * number) @ np.log(share))

    return choose_between(LEAST, MOST, loss) if len(number) else 1.0
