"""Likelihoods that are looked up in a table of levels, or of bins that numbers are cut into."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Codes, Dense
from naively.kernels import dispatch
from naively.kernels.reference import Finish, Finished, Floats
from naively.likelihoods.base import Contributions, Likelihood, Typical, multiply

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
class Binned(Likelihood[Dense]):
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

    def weighted(self, weight: Floats) -> Binned:
        table = LevelTable(self.table, self.first).weighted(weight).table
        return replace(self, table=table)

    def contributions(self, block: Dense) -> Contributions:
        codes = self.bins(block.values)
        row, column = np.nonzero(codes >= 0)
        value = self.table[self.first[column] + codes[row, column]]
        return Contributions(row, column, column, value)

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
