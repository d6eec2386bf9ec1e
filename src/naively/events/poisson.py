"""Poisson event model: the number of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Block
from naively.events.base import Distribution
from naively.events.estimate import Estimate
from naively.events.estimates.space import RATE
from naively.events.prior import Gamma
from naively.events.rate import Rate, TwoSums
from naively.kernels.reference import Floats
from naively.likelihoods.base import sum_of_cells
from naively.likelihoods.words import LogLinear

LEAST_EVENTS = 1e-300


@final
@dataclass(frozen=True)
class Poisson(Rate):
    """Counts of events: x | class ~ Poisson(rate), one rate per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Gamma(alpha · mean, alpha), or with ``estimate="map"`` Gamma(alpha · mean + 1, alpha).
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend events in ``rate`` pretend rows.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (negative binomial). Maximum likelihood from
        nothing is NaN; when rows are scored, such a class has the rate of all classes.

    Notes
    -----
    Gelman et al., Bayesian Data Analysis (2013), section 2.6.

    Examples
    --------
    >>> from naively import NaiveBayes, Poisson
    >>> goals = {"home": [0, 1, 0, 3, 4, 2]}
    >>> nb = NaiveBayes(event_models=Poisson()).fit(goals, ["weak"] * 3 + ["strong"] * 3)
    >>> nb.predict({"home": [5, 0]})
    array(['strong', 'weak'], dtype='<U6')
    """

    prior: Gamma | None = None
    name = "poisson"
    support = "counts"
    unknown = (0.0, 1.0)
    space: ClassVar = {"rate": RATE}

    @classmethod
    def of(cls, rate: float | Sequence[float]) -> Estimate:
        """Return the Poisson distribution with a given rate, as an estimate.

        Parameters
        ----------
        rate : float, or sequence of float
            Events a row, at least 0; a sequence has one for each column.

        Examples
        --------
        >>> Poisson.of(rate=2.5).mle
        2.5
        """
        return cls._at(cls(alpha=0, estimate="mle"), rate)

    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        return total, rows

    def mean(self, rate: Floats) -> Floats:
        return rate

    def log_linear(self, rate: Floats) -> LogLinear:
        return LogLinear(slope=np.log(rate), offset=-rate, base=log_factorials)

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.poisson(rate)

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.poisson(rate)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.nbinom(a, b / (b + 1))

    def log_next(self, x: Floats, a: Floats, b: Floats) -> Floats:
        found = log_next_count(np.maximum(x, 0.0), np.maximum(a, LEAST_EVENTS), b)
        found = np.where(a > 0, found, np.where(x == 0, 0.0, -np.inf))  # no event was ever seen
        return np.where((x >= 0) & (x == np.floor(x)) | np.isnan(x), found, -np.inf)


def log_next_count(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return the log probabilities of the next counts x, given a events in b rows.

    They are those of the negative binomial. Differences of log Γ lose their digits where there are
    10¹⁵ events, so that Stirling's formula and the deviance are taken apart, as Loader (2000, Fast
    and Accurate Computation of Binomial Probabilities) does, and R's ``dnbinom``.
    """
    seen, to_come = b / (b + 1), 1 / (b + 1)  # shares of the rows
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        more = a * to_come - x * seen  # events than x that are to be expected, in part
        of_a = _log_ratio(-more / a, np.minimum((a + x) / a, 1e300) * seen)
        of_x = _log_ratio(more / x, (a + x) / x * to_come)
        found = a * of_a + x * of_x + 0.5 * (np.log(a) - np.log(a + x) - np.log(2 * np.pi * x))
        found += _stirling_error(a + x) - _stirling_error(a) - _stirling_error(x)
    return np.where(x > 0, found, -a * np.log1p(1 / b))


def _log_ratio(change: Floats, ratio: Floats) -> Floats:
    """Return the log of `ratio` = 1 + `change`; log1p keeps the digits of a small change."""
    return np.where(np.abs(change) < 0.5, np.log1p(change), np.log(ratio))


def _stirling_error(z: Floats) -> Floats:
    """Return log z! less Stirling's formula."""
    from scipy.special import gammaln

    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / z / z) / z / z) / z / z) / z
    formula = (z + 0.5) * np.log(z) - z + 0.5 * np.log(2 * np.pi)
    return np.where(z > 15, series, gammaln(z + 1) - formula)


def log_factorials(block: Block) -> Floats:
    """Return the sum of -log x! over each row, (rows,), the log base measure of counts."""
    return sum_of_cells(_log_factorial, block)


def _log_factorial(x: Floats) -> Floats:
    from scipy.special import gammaln

    log: Floats = -gammaln(x + 1.0)
    return log
