"""Exponential event model: the time until an event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from naively.events.base import Distribution
from naively.events.estimate import Estimate
from naively.events.prior import Gamma
from naively.events.rate import Rate, TwoSums
from naively.kernels.reference import Floats
from naively.likelihoods.words import LogLinear


@final
@dataclass(frozen=True)
class Exponential(Rate):
    """Waiting times: x | class ~ Exponential(rate), one rate per column and class.

    See Gelman et al., Bayesian Data Analysis (2013), section 2.6, for the prior.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Gamma(alpha, alpha · mean), or with ``estimate="map"`` Gamma(alpha + 1, alpha · mean).
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend rows that sum to ``rate``.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (Lomax). A class without any rows is scored at
        the rate of all classes.

    Examples
    --------
    >>> from naively import Exponential, Gamma
    >>> lamp = Exponential(prior=Gamma(2, 1000)).fit([400.0, 700.0, 900.0])
    >>> lamp.mle, lamp.map, lamp.mean
    (0.0015, 0.001333..., 0.001666...)
    """

    prior: Gamma | None = None
    name = "exponential"

    @classmethod
    def of(cls, rate: float | Sequence[float]) -> Estimate:
        """Return the exponential distribution with a given rate, as an estimate.

        Parameters
        ----------
        rate : float, or sequence of float
            Events a unit of time, above 0; a sequence has one for each column.

        Examples
        --------
        >>> Exponential.of(rate=0.5).fitted.mean()
        np.float64(2.0)
        """
        return cls._at(cls(alpha=0, estimate="mle"), rate)

    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        return rows, total

    def mean(self, rate: Floats) -> Floats:
        return 1 / rate

    def log_linear(self, rate: Floats) -> LogLinear:
        return LogLinear(slope=-rate, offset=np.log(rate))

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.expon(scale=1 / np.asarray(rate))

    def draw(self, rate: Floats, rng: np.random.Generator) -> Floats:
        return rng.exponential(1 / rate)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.lomax(a, scale=b)
