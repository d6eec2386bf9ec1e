"""The likelihood of numbers by bin: each column is cut at its edges, each bin has its log table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core import compute
from naively.core.block import Dense
from naively.core.kernels import Finish, Floats
from naively.core.likelihood import Contributions, Likelihood, Typical
from naively.core.pointwise import Table

FLOAT = np.finfo(np.float64)


@dataclass(frozen=True, eq=False)
class Binned(Likelihood):
    """``Σ_j table[first_j + bin_j(x_j)]``, where a bin counts the edges that x reaches.

    Parameters
    ----------
    edges : tuple of ndarray
        Ascending, one array a column; it has one bin more than edges.
    table : ndarray of shape (bins of all columns, classes)
        Log probability of each bin.
    middle : ndarray
        A number in each bin.
    width : ndarray
        Of each bin.
    """

    edges: tuple[Floats, ...]
    table: Floats
    middle: Floats
    width: Floats
    base = None

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Where each column's bins begin."""
        return np.cumsum([0, *(len(edges) + 1 for edges in self.edges)], dtype=np.int64)

    def log_prob(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        return compute.score_codes(
            self.bins(block.values), self.first, self.table, start, finish, log_prior
        )

    def bins(self, values: NDArray[np.floating]) -> NDArray[np.int32]:
        """Return the bin of each number, within its column; -1 where it is missing."""
        edges = np.concatenate([np.empty(0), *self.edges])
        return compute.find_bins(values, edges, self.first - np.arange(len(self.first)))

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        code = np.empty(len(x), np.int64)
        for j in np.unique(column):
            code[column == j] = np.searchsorted(self.edges[j], x[column == j], side="right")
        value: Floats = self.table[self.first[column] + code]
        return value

    def weighted(self, weight: Floats) -> Binned:
        table = Table(self.table, self.first).weighted(weight).table
        return replace(self, table=table)

    def contributions(self, block: Dense) -> Contributions:
        codes = self.bins(block.values)
        row, column = np.nonzero(codes >= 0)
        value = self.table[self.first[column] + codes[row, column]]
        return Contributions(row, column, column, value)

    def log_base(self, block: Dense) -> Floats:
        """Return the log density within the bins, the same for every class."""
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
