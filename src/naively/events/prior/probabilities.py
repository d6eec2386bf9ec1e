"""Priors of probabilities: Beta of one, Dirichlet of several that sum to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from naively.events.base import Distribution
from naively.events.prior.base import (
    OneParameter,
    PretendCounts,
    Prior,
    Seed,
    Value,
    between,
    check_positive,
    check_probability,
    plain,
    pretend_counts,
    share,
)
from naively.kernels.reference import Floats
from naively.options import How

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@final
@dataclass(frozen=True)
class Beta(OneParameter):
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
    mode_lacks: ClassVar = (1.0, 1.0)  # with so much less of a and b, a / (a + b) is the mode
    parameter: ClassVar = "probability"
    least: ClassVar = 0.0
    greatest: ClassVar = 1.0

    def __post_init__(self) -> None:
        check_positive(self, "a", "b")

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
@dataclass(frozen=True)
class Dirichlet(Prior):
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

    def __post_init__(self) -> None:
        check_positive(self, "alpha")

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
        return np.asarray(self._marginal.var(), np.float64)

    @property
    def frozen(self) -> Distribution:
        from scipy import stats

        return stats.dirichlet(self._counts)

    def log_pdf(self, x: Value) -> Value:
        return plain(self.frozen.logpdf(np.asarray(x, np.float64).T))

    def interval(self, probability: float = 0.95) -> tuple[Floats, Floats]:
        low, high = self._marginal.interval(check_probability(probability))
        return low, high

    def sample(self, n: int, random_state: Seed = None) -> Floats:
        return np.random.default_rng(random_state).dirichlet(self._counts, n)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the density of each probability alone, with its mean and its part of the mode.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        from naively.pictures.estimates import draw_distributions as draw_densities

        of = self._marginal
        x = between(0.0, float(of.ppf(0.999).max()))
        return draw_densities(
            x,
            np.asarray(of.pdf(x[:, None])).T,
            self.mean,
            self.mode,
            of.pdf(self.mode),
            of.pdf(self.mean),
            parameter="probability",
            title=str(self),
            each="level",
            ax=ax,
        )

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
    def _marginal(self) -> Distribution:
        """The distribution of each probability alone: Beta(alpha, total - alpha)."""
        return Beta.distribution_of(self._counts, self._counts.sum() - self._counts)


def dirichlet(counts: Floats | float) -> Dirichlet | None:
    """Return the prior with these pretend counts; None unless there are some, all above 0."""
    alpha = np.atleast_1d(counts)
    return Dirichlet(tuple(alpha.tolist())) if alpha.size and (alpha > 0).all() else None
