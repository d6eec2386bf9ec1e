"""Gaussian event model: a real number, with a mean and a variance for each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.core.event import EventModel
from naively.core.kernels import Floats
from naively.core.likelihood import Quadratic
from naively.core.statistic import PRESENT, SQUARE, VALUE
from naively.core.sums import Sums
from naively.core.tally import BlockTally


@dataclass(frozen=True)
class Gaussian(EventModel):
    """Real numbers: x | class ~ Normal(mean, variance), one of each per column and class.

    Parameters
    ----------
    smoothing : float, default 0.01
        Share of the column's own variance (over all classes) that is added to each class's, so
        that no variance is 0. Each column has its own, which makes the model free of units. A
        class with no value in a column takes the column's mean and variance.

    Notes
    -----
    Maximum likelihood estimates (Duda, Hart & Stork, Pattern Classification, 2001, section
    3.2.3). The variance is derived from double-double sums, so that a column at 1e8 ± 1 has the
    right one.

    Examples
    --------
    >>> from naively import Gaussian, NaiveBayes
    >>> X, y = [[1.0], [3.0], [8.0], [9.0]], [0, 0, 1, 1]
    >>> nb = NaiveBayes(event_models=Gaussian(smoothing=0)).fit(X, y)
    >>> nb.predict([[2.5]])
    array([0])
    """

    smoothing: float = 0.01
    name = "gaussian"
    statistics = (PRESENT, VALUE, SQUARE)
    sparse = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.smoothing) and self.smoothing >= 0):
            raise ValueError(f"Gaussian smoothing must be at least 0, got {self.smoothing}.")

    def likelihood(self, tally: BlockTally) -> Quadratic:
        mean, variance = self.moments(tally)
        return Quadratic(mean, 0.5 / variance, -0.5 * np.log(2 * np.pi * variance))

    def moments(self, tally: BlockTally) -> tuple[Floats, Floats]:
        """Return the mean and the smoothed variance, each of shape (columns, classes)."""
        mean, variance = _moments(tally[PRESENT], tally[VALUE], tally[SQUARE])
        pooled_mean, pooled = _moments(*(tally[s].total(axis=1)[:, None] for s in self.statistics))
        unseen = tally[PRESENT].high <= 0
        constant = ~(pooled > 0)  # no class can differ from another: any variance will do
        variance = np.where(unseen, pooled, variance) + self.smoothing * pooled
        least = np.finfo(np.float64).eps ** 2 * (pooled + pooled_mean**2)
        return (
            np.where(unseen, np.nan_to_num(pooled_mean), mean),
            np.where(constant, 1.0, np.maximum(variance, np.maximum(least, 1e-300))),
        )


def _moments(n: Sums, value: Sums, square: Sums) -> tuple[Floats, Floats]:
    """Mean and variance, their cancellation taken in double-double."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = value / n
        variance = (square / n - mean * mean).high
    return mean.high, np.maximum(variance, 0.0)
