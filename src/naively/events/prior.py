"""Conjugate priors: distributions of parameters, and pretend data.

As a distribution a prior has a density, a mean, a mode, a variance, an interval, a sample and a
picture. As pretend data it is added to the tally before anything is estimated: with no pretend
data the estimate is maximum likelihood, with the prior's own it is the posterior mean, and with
one count less of each outcome it is the mode of the same posterior, the maximum a posteriori.
Where that would leave a negative count, the mode gives the outcome probability 0. What is updated
with data is a prior of the same family, the prior of the next sample.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

import numpy as np

from naively.counting.axis import PRESENT, VALUE
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, check_some
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.options import How
from naively.tabular import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# --- What all priors share: a distribution that can be looked at, and pretend data ---------------


PretendCounts: TypeAlias = float | Sequence[float]  # one for all outcomes, or one for each
Value: TypeAlias = Any  # a float, or an array with one for each column or level
Seed: TypeAlias = "int | np.random.Generator | None"
LARGEST = 1e300  # rate: sums of more over some classes may be larger than any float


class Prior(ABC):
    """A distribution of the parameters of an event model, conjugate to its likelihood."""

    # For one parameter, or one for each column: what the axis of a picture says, the least and
    # the greatest value, where a picture begins and ends, and how much of the probability is
    # between its ends where there is none.
    parameter: ClassVar[str]
    least: ClassVar[float | None] = None
    greatest: ClassVar[float | None] = None
    reach: ClassVar[float] = 0.98
    FINITE: ClassVar[tuple[str, ...]] = ()  # the options that are finite numbers
    POSITIVE: ClassVar[tuple[str, ...]] = ()  # and those that are greater than 0 as well

    def __post_init__(self) -> None:
        for name in self.FINITE:
            value = getattr(self, name)
            if not np.isfinite(value):
                raise ValueError(f"{type(self).__name__} {name} must be finite, got {value}.")
        for name in self.POSITIVE:
            value = getattr(self, name)
            if isinstance(value, list | np.ndarray):  # as a tuple it is equal to itself, and hashes
                object.__setattr__(self, name, tuple(np.asarray(value).tolist()))
            numbers = np.asarray(value, np.float64)
            check_some(self, name, numbers)
            if not (np.isfinite(numbers).all() and (numbers > 0).all()):
                what = f"{type(self).__name__} {name}"
                raise ValueError(f"{what} must be greater than 0, got {value}.")

    @property
    @abstractmethod
    def frozen(self) -> Distribution:
        """The distribution as SciPy's; a mapping by parameter where there are two."""

    @property
    @abstractmethod
    def mode(self) -> Value:
        """Where the density is highest; NaN where it is so at no one place."""

    def log_pdf(self, x: Value) -> Value:
        """Return the logarithm of the density at x, in nats."""
        return plain(self.frozen.logpdf(x))

    def pdf(self, x: Value) -> Value:
        """Return the density at x.

        Parameters
        ----------
        x : float or array-like
            Values of the parameter. The last dimension of values of several, as of a
            ``Dirichlet`` and a ``NormalInverseGamma``, has them all; of one for each column it
            is the columns.

        Returns
        -------
        density : float or ndarray
            0 where the parameter cannot be.
        """
        return plain(np.exp(self.log_pdf(x)))

    def interval(self, probability: float = 0.95) -> Any:
        """Return the ends of the central interval that holds the parameter.

        Parameters
        ----------
        probability : float, default 0.95
            Of the parameter being within; what is left is the same on both sides.

        Returns
        -------
        low, high : float or ndarray
            The ends; for several parameters they are of each alone. For a
            ``NormalInverseGamma`` it is a mapping by parameter.
        """
        low, high = self.frozen.interval(check_probability(probability))
        return plain(low), plain(high)

    def sample(self, n: int, random_state: Seed = None) -> Floats:
        """Draw values of the parameters.

        Parameters
        ----------
        n : int
            How many.
        random_state : int or numpy.random.Generator, optional
            A seed, for the same values each time.

        Returns
        -------
        values : ndarray of shape (n,), (n, columns or levels) or (n, 2)
            The last are means and variances.
        """
        of_each = np.shape(self.frozen.mean())
        rng = np.random.default_rng(random_state)
        return np.asarray(self.frozen.rvs(size=(n, *of_each), random_state=rng), np.float64)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the density, with the mean and the mode, on Axes or new ones."""
        return picture(self, ax)


def check_probability(probability: float) -> float:
    """Return the probability of an interval; a ValueError unless it is between 0 and 1."""
    if not 0 < probability < 1:
        raise ValueError(f"probability must be between 0 and 1, got {probability}.")
    return probability


def plain(value: Value) -> Floats | float:
    """Return a number as Python's own, and an array as it is."""
    found = np.asarray(value, np.float64)
    return found if found.ndim else found.item()


def pretend_counts(counts: PretendCounts, how: How) -> Floats:
    """Return pretend counts: none for the MLE, one less for the mode than for the mean."""
    pretend = np.asarray(counts, np.float64)
    if how == "mle":
        return np.zeros_like(pretend)
    return pretend - 1.0 if how == "map" else pretend


def share(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, in the shape of the part, ``LARGEST`` at most; NaN if the whole is 0."""
    with np.errstate(over="ignore"):
        found = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return np.asarray(np.minimum(found, LARGEST), np.float64)


def pretend_rows(tally: BlockTally, rows: float) -> tuple[Floats, Floats]:
    """Return pretend rows at each column's mean over all classes, and their sums, (columns, 1)."""
    n, value = (tally.sums[s].total_by_row().high[:, None] for s in (PRESENT, VALUE))
    mean = np.divide(value, n, out=np.zeros_like(value), where=n > 0)
    return np.full_like(mean, rows), rows * mean


# --- Priors of the mean and the variance of numbers: Normal, InverseGamma, NormalInverseGamma ----


@final
class Normal(Prior, Frozen, eq=True):
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
    >>> Normal(0, 4).interval(0.95)
    (-3.919..., 3.919...)
    """

    mean: float
    variance: float
    parameter: ClassVar = "mean"
    reach: ClassVar = 0.998

    FINITE = ("mean",)
    POSITIVE = ("variance",)

    @property
    def mode(self) -> float:
        """The mean."""
        return float(self.mean)

    @property
    def frozen(self) -> Distribution:
        from scipy import stats

        return stats.norm(self.mean, np.sqrt(self.variance))

    def pretend(self, variance: float | None) -> tuple[float, float, float, float]:
        """Return the mean, its worth in rows of this known variance, and 0 as shape and scale."""
        return self.mean, (variance or 0.0) / self.variance, 0.0, 0.0


@final
class InverseGamma(Prior, Frozen, eq=True):
    """InverseGamma(shape, scale), the prior of the variance of numbers whose mean is known.

    Parameters
    ----------
    shape, scale : float
        Greater than 0; 2 · shape pretend rows of variance scale / shape around the mean.

    Examples
    --------
    >>> from naively import Gaussian, InverseGamma
    >>> Gaussian(mean=0.0, prior=InverseGamma(2, 3)).fit([1.0, -3.0]).mean["variance"]
    4.0
    >>> InverseGamma(3, 4).mean, InverseGamma(3, 4).mode, InverseGamma(3, 4).variance
    (2.0, 1.0, 4.0)
    """

    shape: float
    scale: float
    parameter: ClassVar = "variance"
    least: ClassVar = 0.0

    POSITIVE = ("shape", "scale")

    @property
    def mean(self) -> float:
        """The scale over (shape - 1); NaN unless the shape is above 1."""
        return self.scale / (self.shape - 1) if self.shape > 1 else np.nan

    @property
    def mode(self) -> float:
        """The scale over (shape + 1)."""
        return self.scale / (self.shape + 1)

    @property
    def variance(self) -> float:
        """mean² / (shape - 2); NaN unless the shape is above 2."""
        return self.mean**2 / (self.shape - 2) if self.shape > 2 else np.nan

    @property
    def frozen(self) -> Distribution:
        from scipy import stats

        return stats.invgamma(self.shape, scale=self.scale)

    def pretend(self, variance: float | None) -> tuple[float, float, float, float]:  # noqa: ARG002
        """Return 0 as the mean and the rows that it is worth, and the shape and the scale."""
        return 0.0, 0.0, self.shape, self.scale


@final
class NormalInverseGamma(Prior, Frozen, eq=True):
    """The prior of a mean and a variance: the one-dimensional normal-inverse-Wishart.

    The variance is inverse-gamma(shape, scale), the mean Normal(mean, variance / rows). Values of
    both, as of ``pdf`` and ``sample``, have two columns: the mean, and the variance.

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
    >>> prior = NormalInverseGamma(mean=1, rows=2, shape=3, scale=4)
    >>> prior.means, prior.mode
    ({'mean': 1.0, 'variance': 2.0}, {'mean': 1.0, 'variance': 0.888...})
    >>> prior.interval(0.5)["variance"]
    (1.020..., 2.315...)
    """

    mean: float
    rows: float
    shape: float
    scale: float

    FINITE = ("mean",)
    POSITIVE = ("rows", "shape", "scale")

    @property
    def means(self) -> dict[str, float]:
        """The mean of each parameter; NaN where it has none.

        The mean of the mean needs a shape above 1/2, that of the variance one above 1.
        """
        mean = float(self.mean) if self.shape > 0.5 else np.nan
        return {"mean": mean, "variance": self._of_variance.mean}

    @property
    def mode(self) -> dict[str, float]:
        """Where the density of both together is highest."""
        return {"mean": float(self.mean), "variance": self.scale / (self.shape + 1.5)}

    @property
    def variance(self) -> dict[str, float]:
        """The squared standard deviation of each parameter; NaN where it has none."""
        of_variance = self._of_variance
        return {"mean": of_variance.mean / self.rows, "variance": of_variance.variance}

    @property
    def frozen(self) -> dict[str, Distribution]:
        """The distributions of the mean alone (Student's t) and of the variance, as SciPy's."""
        from scipy import stats

        width = np.sqrt(self.scale / (self.shape * self.rows))
        return {
            "mean": stats.t(2 * self.shape, self.mean, width),
            "variance": self._of_variance.frozen,
        }

    def log_pdf(self, x: Value) -> Value:
        from scipy import stats

        mean, variance = np.moveaxis(np.asarray(x, np.float64), -1, 0)
        width = np.sqrt(np.where(variance > 0, variance, 1.0) / self.rows)
        of_mean = stats.norm.logpdf(mean, self.mean, width)
        return plain(of_mean + self._of_variance.log_pdf(variance))

    def interval(self, probability: float = 0.95) -> dict[str, tuple[float, float]]:
        inside = check_probability(probability)
        ends = {name: of.interval(inside) for name, of in self.frozen.items()}
        return {name: (float(low), float(high)) for name, (low, high) in ends.items()}

    def sample(self, n: int, random_state: Seed = None) -> Floats:
        rng = np.random.default_rng(random_state)
        variance = self._of_variance.sample(n, rng)
        return np.stack([rng.normal(self.mean, np.sqrt(variance / self.rows)), variance], axis=1)

    def pretend(self, variance: float | None) -> tuple[float, float, float, float]:  # noqa: ARG002
        """Return the mean, how many rows it is worth, and the shape and scale of the variance."""
        return self.mean, self.rows, self.shape, self.scale

    @property
    def _of_variance(self) -> InverseGamma:
        return InverseGamma(self.shape, self.scale)


# --- Priors of probabilities: Beta of one, Dirichlet of several that sum to 1 --------------------


@final
class Beta(Prior, Frozen, eq=True):
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
    >>> Beta(101, 101).mode, Beta(3, 1).mean, Beta(1, 1).pdf(0.3)
    (0.5, 0.75, 1.0)
    >>> Beta(9, 3).interval(0.9)
    (0.529..., 0.921...)
    """

    a: PretendCounts
    b: PretendCounts
    mode_lacks: ClassVar[tuple[float, float]] = (1.0, 1.0)  # less these, a / (a + b) is the mode
    parameter: ClassVar = "probability"
    least: ClassVar = 0.0
    greatest: ClassVar = 1.0

    POSITIVE = ("a", "b")

    @property
    def mean(self) -> Value:
        """A / (a + b)."""
        return plain(self.mean_of(*self.pretend("mean")))

    @property
    def mode(self) -> Value:
        """(a - 1) / (a + b - 2); NaN where no place has the highest density.

        Where a or b is below 1, the density has no bound at 0 or at 1, and that is the mode; where
        both are, or both are 1, there is none.
        """
        a, b = np.broadcast_arrays(*self.pretend("map"))
        inside = share(np.maximum(a, 0.0), np.maximum(a, 0.0) + np.maximum(b, 0.0))
        return plain(np.where((a < 0) & (b == 0), 0.0, np.where((a == 0) & (b < 0), 1.0, inside)))

    @property
    def variance(self) -> Value:
        """The squared standard deviation: a b / ((a + b)² (a + b + 1))."""
        return plain(self.frozen.var())

    @property
    def frozen(self) -> Distribution:
        return self.distribution_of(*self.pretend("mean"))

    def pretend(self, how: How) -> tuple[Floats, Floats]:
        """Return the pretend successes and failures, each of shape () or (columns,)."""
        return pretend_counts(self.a, how), pretend_counts(self.b, how)

    @staticmethod
    def mean_of(a: Floats, b: Floats) -> Floats:
        """Return the mean of each Beta(a, b), in their shape; NaN for Beta(0, 0)."""
        return share(a, a + b)

    @staticmethod
    def distribution_of(a: Floats | float, b: Floats | float) -> Distribution:
        """Return each Beta(a, b) as SciPy's frozen distribution."""
        from scipy import stats

        return stats.beta(a, b)

    @staticmethod
    def draw_from(a: Floats, b: Floats, rng: np.random.Generator) -> Floats:
        """Draw a probability from each Beta(a, b)."""
        return rng.beta(a, b)


@final
class Dirichlet(Prior, Frozen, eq=True):
    """Dirichlet(alpha), the prior of the probabilities of several levels, words or classes.

    Parameters
    ----------
    alpha : float or sequence of float
        Greater than 0: the pretend count of each, or one for all (symmetric). As a distribution
        it must have one for each (``over``).

    Examples
    --------
    >>> from naively import Categorical, Dirichlet
    >>> Categorical(prior=Dirichlet(1)).fit(["r", "r", "b"]).mean
    {'r': 0.6, 'b': 0.4}
    >>> Dirichlet([2, 1, 1]).mean
    array([0.5 , 0.25, 0.25])
    >>> Dirichlet(1).over(3).pdf([0.2, 0.3, 0.5])
    2.0
    """

    alpha: PretendCounts

    POSITIVE = ("alpha",)

    def over(self, levels: int) -> Dirichlet:
        """Return the distribution over so many levels, each with the one pretend count.

        Parameters
        ----------
        levels : int
            How many probabilities there are, at least 2.

        Examples
        --------
        >>> Dirichlet(0.5).over(3)
        Dirichlet(alpha=(0.5, 0.5, 0.5))
        """
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim and len(alpha) != levels:
            raise ValueError(f"{self} has {len(alpha)} counts and is not over {levels} levels.")
        return Dirichlet(tuple(np.broadcast_to(alpha, levels).tolist()))

    @property
    def mean(self) -> Floats:
        """The share of each pretend count, (levels,)."""
        return share(self._counts, np.broadcast_to(self._counts.sum(), self._counts.shape))

    @property
    def mode(self) -> Floats:
        """The shares of the pretend counts less 1, (levels,); NaN where none is above 1.

        A level with a count below 1, at which the density has no bound, has the share 0.
        """
        less = np.maximum(self._counts - 1.0, 0.0)
        return share(less, np.broadcast_to(less.sum(), less.shape))

    @property
    def variance(self) -> Floats:
        """The squared standard deviation of each probability, (levels,)."""
        return np.asarray(self.marginal.var(), np.float64)

    @property
    def frozen(self) -> Distribution:
        from scipy import stats

        return stats.dirichlet(self._counts)

    def log_pdf(self, x: Value) -> Value:
        return plain(self.frozen.logpdf(np.asarray(x, np.float64).T))

    def interval(self, probability: float = 0.95) -> tuple[Floats, Floats]:
        low, high = self.marginal.interval(check_probability(probability))
        return low, high

    def sample(self, n: int, random_state: Seed = None) -> Floats:
        return np.random.default_rng(random_state).dirichlet(self._counts, n)

    def pretend(self, how: How) -> Floats:
        """Return the pretend counts, of shape () or (levels,)."""
        return pretend_counts(self.alpha, how)

    @property
    def _counts(self) -> Floats:
        """The pretend counts, (levels,)."""
        alpha = np.asarray(self.alpha, np.float64)
        if not alpha.ndim:
            raise ValueError(
                f"{self} is of any number of levels: say how many, as in "
                f"Dirichlet({self.alpha}).over(3)."
            )
        if len(alpha) < 2:
            raise ValueError(f"{self} has one level, whose probability is 1.")
        return alpha

    @property
    def marginal(self) -> Distribution:
        """The distribution of each probability alone: Beta(alpha, total - alpha)."""
        return Beta.distribution_of(self._counts, self._counts.sum() - self._counts)


# --- The prior of a rate: Gamma ------------------------------------------------------------------


@final
class Gamma(Prior, Frozen, eq=True):
    """Gamma(shape, rate), the prior of a rate.

    For a Poisson rate, ``shape`` pretend events in ``rate`` pretend rows; for the rate of an
    exponential, ``shape`` pretend rows that sum to ``rate``.

    Parameters
    ----------
    shape, rate : float or sequence of float
        Greater than 0; one for all columns or one for each.

    Examples
    --------
    >>> from naively import Gamma, Poisson
    >>> Poisson(prior=Gamma(2, 1)).fit([3, 5, 4]).mean
    3.5
    >>> Gamma(3, 2).mean, Gamma(3, 2).mode, Gamma(3, 2).variance
    (1.5, 1.0, 0.75)
    """

    shape: PretendCounts
    rate: PretendCounts
    mode_lacks: ClassVar[tuple[float, float]] = (1.0, 0.0)  # less these, shape / rate is the mode
    parameter: ClassVar = "rate"
    least: ClassVar = 0.0

    POSITIVE = ("shape", "rate")

    @property
    def mean(self) -> Value:
        """The shape over the rate."""
        return plain(self.mean_of(*self.pretend("mean")))

    @property
    def mode(self) -> Value:
        """(shape - 1) / rate; 0 where the shape is below 1."""
        shape, rate = self.pretend("map")
        return plain(np.maximum(shape, 0.0) / rate)

    @property
    def variance(self) -> Value:
        """The shape over the squared rate."""
        return plain(self.frozen.var())

    @property
    def frozen(self) -> Distribution:
        return self.distribution_of(*self.pretend("mean"))

    def pretend(self, how: How) -> tuple[Floats, Floats]:
        """Return the pretend data of the shape and of the rate, each of shape () or (columns,)."""
        rate = np.asarray(self.rate, np.float64)
        return pretend_counts(self.shape, how), np.zeros_like(rate) if how == "mle" else rate

    @staticmethod
    def mean_of(shape: Floats, rate: Floats) -> Floats:
        """Return the mean of each Gamma(shape, rate), in their shape; NaN for Gamma(0, 0)."""
        return share(shape, rate)

    @staticmethod
    def distribution_of(shape: Floats | float, rate: Floats | float) -> Distribution:
        """Return each Gamma(shape, rate) as SciPy's frozen distribution."""
        from scipy import stats

        return stats.gamma(shape, scale=1 / rate)

    @staticmethod
    def draw_from(shape: Floats, rate: Floats, rng: np.random.Generator) -> Floats:
        """Draw a rate from each Gamma(shape, rate)."""
        return rng.gamma(shape, 1 / rate)
