"""Likelihoods that a function computes cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Dense
from naively.kernels.reference import Floats
from naively.likelihoods.base import CellByCell, Typical, multiply


@dataclass(frozen=True, eq=False)
class Pointwise(CellByCell[Dense]):
    """A likelihood that is a function of each cell alone.

    ``log_density(x, column)`` returns the log likelihoods of cells, of shape (cells, classes);
    ``centre`` holds a typical number of each column and class, (columns, classes).
    """

    log_density: Callable[[Floats, NDArray[np.int64]], Floats]
    centre: Floats
    base: Callable[[Dense], Floats] | None = None

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        return self.log_density(x.astype(np.float64), column)

    def weighted(self, weight: Floats) -> Pointwise:
        return replace(
            self,
            log_density=lambda x, column: multiply(
                self.log_density(x, column), weight[column], np.False_
            ),
        )

    def typical(self, c: int) -> Typical:
        x = self.centre[:, c]
        return Typical(self.log_density(x, np.arange(len(x))), x)
