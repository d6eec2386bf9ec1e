"""A prior that is not conjugate, the logistic normal, by a grid; beside it the nearest Beta.

What conjugacy is worth: the posterior under a Beta is two additions, and its evidence a formula;
under a logistic normal both are integrals, which a grid adds up.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from naively.counting.labels import is_missing
from naively.events.estimate import Sample
from naively.events.prior import Beta
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.tabular import Drawn

POINTS = 8_001  # of the grid
REACH = 9.0  # standard deviations to either side of the mean of the log odds
DRAWN = 400  # points of a picture


@final
class LogisticNormal(Frozen, eq=True):
    """The prior of a probability whose log odds are normal: logit(p) ~ Normal(mean, variance).

    It is conjugate to nothing, so that ``fit`` adds up the posterior on a grid of log odds.

    Parameters
    ----------
    mean : float, default 0.0
        Of the log odds.
    variance : float, default 1.0
        Of the log odds, above 0.

    Notes
    -----
    Atchison & Shen, Logistic-normal distributions (Biometrika, 1980).

    Examples
    --------
    >>> from naively import LogisticNormal
    >>> prior = LogisticNormal(mean=0.0, variance=0.04)
    >>> beta = prior.nearest
    >>> round(beta.a, 1), round(beta.b, 1)
    (50.5, 50.5)
    >>> prior.fit([1] * 8 + [0] * 2)
    8 successes and 2 failures under LogisticNormal(mean=0.0, variance=0.04)
    posterior mean 0.527027, log evidence -6.81515, by sums over 8,001 points
    nearest Beta(50.497, 50.497): posterior Beta(58.497, 52.497) by two additions, mean 0.527029
    """

    mean: float = 0.0
    variance: float = 1.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.mean):
            raise ValueError(f"LogisticNormal mean must be a finite number, got {self.mean}.")
        if not (np.isfinite(self.variance) and self.variance > 0):
            raise ValueError(f"LogisticNormal variance must be above 0, got {self.variance}.")

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Log odds, and the log weight of each point: what the prior has there."""
        z = self.mean + np.sqrt(self.variance) * np.linspace(-REACH, REACH, POINTS)
        log_weight = -((z - self.mean) ** 2) / (2 * self.variance)
        return z, log_weight - np.logaddexp.reduce(log_weight)

    def pdf(self, p: Any) -> Floats:
        """Return the density at probabilities between 0 and 1, of their shape."""
        p = np.asarray(p, np.float64)
        z = np.log(p) - np.log1p(-p)
        height = np.exp(-((z - self.mean) ** 2) / (2 * self.variance))
        return np.asarray(height / np.sqrt(2 * np.pi * self.variance) / (p * (1 - p)))

    @cached_property
    def nearest(self) -> Beta:
        """The Beta that is nearest, by the divergence of Kullback and Leibler from this prior.

        It has the same mean of log p and of log(1 - p), which are the Beta's sufficient
        statistics.
        """
        from scipy.optimize import root
        from scipy.special import digamma

        z, log_weight = self._grid
        weight = np.exp(log_weight)
        means = np.array([-np.logaddexp(0, -z) @ weight, -np.logaddexp(0, z) @ weight])

        def away(log_of: Floats) -> Floats:
            a, b = np.exp(log_of)
            return np.asarray(digamma([a, b]) - digamma(a + b) - means)

        p = 1 / (1 + np.exp(-self.mean))
        rows = 1 / (self.variance * p * (1 - p))
        found = root(away, np.log([rows * p, rows * (1 - p)]), tol=1e-12)
        a, b = np.exp(found.x).tolist()
        return Beta(a, b)

    def fit(self, sample: Sample) -> GridPosterior:
        """Return the posterior after a sample of 0 and 1, or of truths, beside the nearest Beta's.

        Parameters
        ----------
        sample : sequence
            Missing ones are left out.
        """
        seen = [value for value in sample if not is_missing(value)]
        wrong = next((value for value in seen if value not in (0, 1)), None)
        if wrong is not None:
            raise ValueError(f"LogisticNormal is fitted to 0 and 1; the sample holds {wrong!r}.")
        successes = sum(map(bool, seen))
        return GridPosterior(self, float(successes), float(len(seen) - successes))


@final
class GridPosterior(Drawn):
    """The posterior under a logistic normal, by a grid, and under the nearest Beta, by addition.

    Parameters
    ----------
    prior : LogisticNormal
        Its prior.
    successes, failures : float
        What was seen.
    """

    prior: LogisticNormal
    successes: float
    failures: float

    @cached_property
    def _log_weight(self) -> Floats:
        """The log joint of the sample and each point of the grid."""
        z, log_weight = self.prior._grid  # noqa: SLF001  (the other half of one idea)
        likelihood = -self.successes * np.logaddexp(0, -z) - self.failures * np.logaddexp(0, z)
        return np.asarray(log_weight + likelihood)

    @property
    def log_evidence(self) -> float:
        """Log p(sample), an integral over the prior, in nats."""
        return float(np.logaddexp.reduce(self._log_weight))

    @property
    def mean(self) -> float:
        """The mean of the posterior, an integral too."""
        z = self.prior._grid[0]  # noqa: SLF001
        return float(np.exp(self._log_weight - self.log_evidence) @ (1 / (1 + np.exp(-z))))

    @property
    def beta(self) -> Beta:
        """The posterior under the nearest Beta: its pretend counts and what was seen, added."""
        nearest = self.prior.nearest
        a, b = float(np.asarray(nearest.a)), float(np.asarray(nearest.b))
        return Beta(a + self.successes, b + self.failures)

    def pdf(self, p: Any) -> Floats:
        """Return the density of the posterior at probabilities between 0 and 1."""
        p = np.asarray(p, np.float64)
        with np.errstate(under="ignore"):
            log_likelihood = self.successes * np.log(p) + self.failures * np.log1p(-p)
            return np.asarray(self.prior.pdf(p) * np.exp(log_likelihood - self.log_evidence))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns p, prior, posterior, beta_prior and beta_posterior, on a grid."""
        p = np.linspace(0, 1, DRAWN + 1)[1:-1]
        nearest = self.prior.nearest
        columns = {
            "p": p,
            "prior": self.prior.pdf(p),
            "posterior": self.pdf(p),
            "beta_prior": nearest.pdf(p),
            "beta_posterior": self.beta.pdf(p),
        }
        return {name: np.asarray(of).tolist() for name, of in columns.items()}

    def __str__(self) -> str:
        nearest, both = self.prior.nearest, self.beta
        seen = f"{self.successes:g} successes and {self.failures:g} failures"
        by_grid = f"posterior mean {self.mean:.6g}, log evidence {self.log_evidence:.6g}"
        by_adding = f"posterior {_beta(both)} by two additions"
        lines = [
            f"{seen} under {self.prior}",
            f"{by_grid}, by sums over {POINTS:,} points",
            f"nearest {_beta(nearest)}: {by_adding}, mean {float(np.asarray(both.mean)):.6g}",
        ]
        return "\n".join(lines)


def _beta(of: Beta) -> str:
    return f"Beta({float(np.asarray(of.a)):.5g}, {float(np.asarray(of.b)):.5g})"
