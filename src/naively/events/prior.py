"""Conjugate priors: pretend data, added to the tally before anything is estimated.

With no pretend data the estimate is maximum likelihood, with the prior's own it is the posterior
mean, and with one count less of each outcome it is the mode of the same posterior, the maximum a
posteriori. Where that would leave a negative count, the mode gives the outcome probability 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from naively.counting.statistic import PRESENT, VALUE
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, How
from naively.kernels.reference import Floats

PretendCounts: TypeAlias = "float | Sequence[float]"  # one for all outcomes, or one for each


@dataclass(frozen=True)
class Beta:
    """Beta(a, b), the prior of a probability: a pretend successes and b pretend failures.

    Parameters
    ----------
    a, b : float or sequence of float
        Greater than 0; one for all columns or one for each. Beta(1, 1) is uniform (Laplace),
        Beta(1/2, 1/2) is Jeffreys's.

    Examples
    --------
    >>> from naively import Bernoulli, Beta
    >>> Bernoulli(prior=Beta(101, 101)).fit([1] * 8 + [0] * 2).map == 108 / 210
    True
    """

    a: PretendCounts
    b: PretendCounts
    mode_lacks: ClassVar = (1.0, 1.0)  # with so much less of a and b, a / (a + b) is the mode

    def __post_init__(self) -> None:
        _check_positive(self, "a", "b")

    def pretend(self, how: How) -> tuple[Floats, Floats]:
        """Return the pretend successes and failures, each of shape () or (columns,)."""
        return _counts(self.a, how), _counts(self.b, how)

    @staticmethod
    def mean(a: Floats, b: Floats) -> Floats:
        """Return the mean of Beta(a, b), in their shape; NaN for Beta(0, 0)."""
        return share(a, a + b)

    @staticmethod
    def distribution(a: Floats | float, b: Floats | float) -> Distribution:
        """Return Beta(a, b) as SciPy's frozen distribution."""
        from scipy import stats

        return stats.beta(a, b)

    @staticmethod
    def draw(a: Floats, b: Floats, rng: np.random.Generator) -> Floats:
        """Draw a probability from each Beta(a, b)."""
        return rng.beta(a, b)


@dataclass(frozen=True)
class Dirichlet:
    """Dirichlet(alpha), the prior of the probabilities of several levels, words or classes.

    Parameters
    ----------
    alpha : float or sequence of float
        Greater than 0: the pretend count of each, or one for all (symmetric).

    Examples
    --------
    >>> from naively import Categorical, Dirichlet
    >>> Categorical(prior=Dirichlet(1)).fit(["r", "r", "b"]).mean
    {'r': 0.6, 'b': 0.4}
    """

    alpha: PretendCounts

    def __post_init__(self) -> None:
        _check_positive(self, "alpha")

    def pretend(self, how: How) -> Floats:
        """Return the pretend counts, of shape () or (levels,)."""
        return _counts(self.alpha, how)


@dataclass(frozen=True)
class Gamma:
    """Gamma(shape, rate), the prior of a rate.

    For a Poisson rate, ``shape`` pretend events in ``rate`` pretend rows; for the rate of an
    exponential, ``shape`` pretend rows that sum to ``rate``.

    Parameters
    ----------
    shape, rate : float
        Greater than 0.

    Examples
    --------
    >>> from naively import Gamma, Poisson
    >>> Poisson(prior=Gamma(2, 1)).fit([3, 5, 4]).mean
    3.5
    """

    shape: float
    rate: float
    mode_lacks: ClassVar = (1.0, 0.0)  # with so much less, shape / rate is the mode

    def __post_init__(self) -> None:
        _check_positive(self, "shape", "rate")

    def pretend(self, how: How) -> tuple[Floats, Floats]:
        """Return the pretend data of the shape and of the rate, each of shape ()."""
        rate = 0.0 if how == "mle" else self.rate
        return _counts(self.shape, how), np.asarray(rate, np.float64)

    @staticmethod
    def mean(shape: Floats, rate: Floats) -> Floats:
        """Return the mean of Gamma(shape, rate), in their shape; NaN for Gamma(0, 0)."""
        return share(shape, rate)

    @staticmethod
    def distribution(shape: Floats | float, rate: Floats | float) -> Distribution:
        """Return Gamma(shape, rate) as SciPy's frozen distribution."""
        from scipy import stats

        return stats.gamma(shape, scale=1 / rate)

    @staticmethod
    def draw(shape: Floats, rate: Floats, rng: np.random.Generator) -> Floats:
        """Draw a rate from each Gamma(shape, rate)."""
        return rng.gamma(shape, 1 / rate)


@dataclass(frozen=True)
class Normal:
    """Normal(mean, variance), the prior of the mean of numbers whose variance is known.

    Parameters
    ----------
    mean : float
        Where the mean is expected.
    variance : float
        The variance of the mean around there; greater than 0.

    Examples
    --------
    >>> from naively import Gaussian, Normal
    >>> Gaussian(variance=4.0, prior=Normal(0, 1)).fit([2.0, 4.0, 3.0, 3.0]).mean["mean"]
    1.5
    """

    mean: float
    variance: float

    def __post_init__(self) -> None:
        _check_positive(self, "variance")

    def pretend(self, variance: float | None) -> tuple[float, float, float, float]:
        """Return the mean, its worth in rows of this known variance, and 0 as shape and scale."""
        return self.mean, (variance or 0.0) / self.variance, 0.0, 0.0


@dataclass(frozen=True)
class NormalInverseGamma:
    """The prior of a mean and a variance: the one-dimensional normal-inverse-Wishart.

    The variance is inverse-gamma(shape, scale), the mean Normal(mean, variance / rows).

    Parameters
    ----------
    mean : float
        Where the mean is expected.
    rows : float
        How many pretend rows have that mean; greater than 0.
    shape, scale : float
        Greater than 0; 2 · shape pretend rows of variance scale / shape.

    Examples
    --------
    >>> from naively import Gaussian, NormalInverseGamma
    >>> Gaussian(prior=NormalInverseGamma(0, 1, 2, 2)).fit([1.0, 3.0]).mean["variance"]
    2.166666666666667
    """

    mean: float
    rows: float
    shape: float
    scale: float

    def __post_init__(self) -> None:
        _check_positive(self, "rows", "shape", "scale")

    def pretend(self, variance: float | None) -> tuple[float, float, float, float]:  # noqa: ARG002
        """Return the mean, how many rows it is worth, and the shape and scale of the variance."""
        return self.mean, self.rows, self.shape, self.scale


Prior: TypeAlias = Beta | Dirichlet | Gamma | Normal | NormalInverseGamma


def _counts(counts: PretendCounts, how: How) -> Floats:
    """Return pretend counts: none for the MLE, one less for the mode than for the mean."""
    pretend = np.asarray(counts, np.float64)
    if how == "mle":
        return np.zeros_like(pretend)
    return pretend - 1.0 if how == "map" else pretend


def _check_positive(prior: object, *names: str) -> None:
    for name in names:
        value = getattr(prior, name)
        if isinstance(value, list | np.ndarray):  # as a tuple it is equal to itself, and hashes
            object.__setattr__(prior, name, tuple(np.asarray(value).tolist()))
        numbers = np.asarray(value, np.float64)
        if not (np.isfinite(numbers).all() and (numbers > 0).all()):
            raise ValueError(f"{type(prior).__name__} {name} must be greater than 0, got {value}.")


def share(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, in the shape of the part; NaN, for undefined, if the whole is 0."""
    found: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return found


def pretend_rows(tally: BlockTally, rows: float) -> tuple[Floats, Floats]:
    """Return pretend rows at each column's mean over all classes, and their sums, (columns, 1)."""
    n = tally[PRESENT].total(axis=1).high[:, None]
    value = tally[VALUE].total(axis=1).high[:, None]
    mean = np.divide(value, n, out=np.zeros_like(value), where=n > 0)
    return np.full_like(mean, rows), rows * mean
