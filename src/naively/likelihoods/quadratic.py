"""Quadratic likelihoods: ``Σ_j offset_j - half_precision_j · (x_j - mean_j)²``, of Gaussians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Dense
from naively.kernels import dispatch
from naively.kernels.reference import FAR, MOST, Finish, Finished, Floats
from naively.likelihoods.base import Likelihood, Typical


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
        return dispatch.score_quadratic(
            block.values,
            self.mean,
            self.half_precision,
            self.offset,
            start + self._base,
            finish,
            log_prior,
            block.complete,
        )

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
