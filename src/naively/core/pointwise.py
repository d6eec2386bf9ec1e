"""Likelihoods cell by cell: looked up in a table of levels, or computed by a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core import compute
from naively.core.block import Codes, Dense
from naively.core.kernels import Finish, Floats
from naively.core.likelihood import Contributions, Likelihood, Typical, times


@dataclass(frozen=True, eq=False)
class Table(Likelihood):
    """``Σ_j table[first_j + code_j]``; each column's last row is for levels never seen."""

    table: Floats
    first: NDArray[np.int64]
    base = None

    def log_prob(self, block: Codes, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        return compute.score_codes(block.codes, self.first, self.table, start, finish, log_prior)

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        last = np.diff(self.first)[column] - 1
        value: Floats = self.table[self.first[column] + np.minimum(x.astype(np.int64), last)]
        return value

    def weighted(self, weight: Floats) -> Table:
        weight = np.repeat(weight, np.diff(self.first), axis=0)
        return replace(self, table=times(self.table, weight))

    def contributions(self, block: Codes) -> Contributions:
        row, column = np.nonzero(block.codes >= 0)
        last = np.diff(self.first)[column] - 1
        code = np.minimum(block.codes[row, column].astype(np.int64), last)
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
        """The levels that were seen."""
        known = np.ones(len(self.table), np.bool_)
        known[self.first[1:] - 1] = False
        return self.table[known]


@dataclass(frozen=True, eq=False)
class Pointwise(Likelihood):
    """A likelihood without natural parameters.

    ``log_density(x, column)`` returns the log likelihoods of cells, of shape (cells, classes);
    ``centre`` holds a typical number of each column and class.
    """

    log_density: Callable[[Floats, NDArray[np.int64]], Floats]
    centre: Floats
    base: Callable[[Any], Floats] | None = None
    centres = False

    def log_prob(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        joint = np.empty((len(block), len(log_prior)))
        joint[...] = start
        cells = self.contributions(block)
        np.add.at(joint, cells.row, cells.value)
        return compute.finish_rows(joint, finish, log_prior)

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        return self.log_density(x.astype(np.float64), column)

    def weighted(self, weight: Floats) -> Pointwise:
        return replace(
            self,
            log_density=lambda x, column: times(
                self.log_density(x, column), weight[column], np.False_
            ),
        )

    def contributions(self, block: Dense) -> Contributions:
        row, item = np.nonzero(~np.isnan(block.values))
        return Contributions(row, item, item, self.at(block.values[row, item], item))

    def typical(self, c: int) -> Typical:
        x = self.centre[:, c]
        return Typical(self.log_density(x, np.arange(len(x))), x)
