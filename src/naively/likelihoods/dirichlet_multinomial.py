"""Bags of words from Pólya's urn: each row's word probabilities are drawn from a Dirichlet.

The likelihood of a row is the multinomial's with the probabilities integrated out (the
Dirichlet-multinomial), so that a word seen once is expected again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Words
from naively.counting.documents import Counts
from naively.kernels.reference import Floats, clipped
from naively.likelihoods.base import CellByCell, Contributions, Typical, multiply

LEAST = 1e-300  # pretend counts that are not 0: log Γ of less is infinite


def cells_of_urn(x: Floats, count: Floats, total: Floats, length: Floats) -> Floats:
    """Return log likelihoods of cells, (cells, classes), which sum to those of their rows.

    Parameters
    ----------
    x : ndarray of shape (cells,)
        How often the word is in the row.
    count, total : ndarray of shape (cells, classes)
        The counts of the word and of all words, with pretend counts.
    length : ndarray of shape (cells,)
        How many words the row has. The terms that depend on it are divided among the words.
    """
    from scipy.special import gammaln

    x, length = x[:, None], length[:, None]
    of_word, of_all = np.maximum(count, LEAST), np.maximum(total, LEAST)
    drawn = np.where(count > 0, gammaln(of_word + x) - gammaln(of_word), -np.inf)
    value = drawn + x / length * (gammaln(of_all) - gammaln(of_all + length))
    return np.where(total > 0, value, 0.0)  # 0 in a class without any counts


def log_orders(block: Counts, row: NDArray[np.int64], x: Floats) -> Floats:
    """Return the log of how many orders each row's words can have, (rows,), from their cells.

    A text is a sequence of words, whose order is given: it has one.
    """
    from scipy.special import gammaln

    x, rows = clipped(x), len(block)
    if isinstance(block.axis, Words):
        return np.zeros(rows)
    length = np.bincount(row, x, rows)
    orders: Floats = gammaln(length + 1) - np.bincount(row, gammaln(x + 1), rows)
    return orders


def log_coefficient(block: Counts) -> Floats:
    """Return each row's log multinomial coefficient, (rows,), the base measure of counts."""
    row, _, x = block.entries()
    return log_orders(block, row, x)


@dataclass(frozen=True, eq=False)
class DirichletMultinomial(CellByCell[Counts]):
    """``log Γ(A_c) - log Γ(A_c + n) + Σ_w log Γ(count_wc + x_w) - log Γ(count_wc)``.

    A_c is the sum of the counts of class c, and n the number of words in the row.
    """

    count: Floats  # (words, classes), with pretend counts; a word without any adds 0
    weight: Floats | None = None  # (words, classes)
    base = None

    def log_base(self, block: Counts) -> Floats:
        row, _, x = self._known(block)
        return log_orders(block, row, x)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        number = x.astype(np.float64)
        total = np.tile(self.count.sum(axis=0), (len(x), 1))
        value = cells_of_urn(number, self.count[column], total, np.maximum(number, LEAST))
        return np.where(number[:, None] == 0, 0.0, self._weighted(value, column))

    def weighted(self, weight: Floats) -> DirichletMultinomial:
        return replace(self, weight=weight)

    def contributions(self, block: Counts) -> Contributions:
        row, item, x = self._known(block)
        length = np.bincount(row, x, len(block)).astype(np.float64)[row]
        total = np.tile(self.count.sum(axis=0), (len(x), 1))
        value = self._weighted(cells_of_urn(x, self.count[item], total, length), item)
        column = np.zeros_like(item) if isinstance(block.axis, Words) else item
        return Contributions(row, column, item, value)

    def typical(self, c: int) -> Typical:  # noqa: ARG002
        words = np.arange(len(self.count))
        return Typical(self.at(np.ones(len(words)), words))

    def _weighted(self, value: Floats, item: NDArray[np.int64]) -> Floats:
        if self.weight is None:
            return value
        return multiply(value, self.weight[item], np.False_)

    def _known(self, block: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        row, item, x = block.entries()
        known = np.flatnonzero((self.count[item] > 0).any(axis=1) & (x > 0))
        return row[known], item[known], clipped(x[known])
