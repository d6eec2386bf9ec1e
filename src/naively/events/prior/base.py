"""What all priors share: a distribution that can be looked at, and pretend data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from naively.counting.axis import PRESENT, VALUE
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, check_some
from naively.kernels.reference import Floats
from naively.options import How

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PretendCounts: TypeAlias = float | Sequence[float]  # one for all outcomes, or one for each
Value: TypeAlias = Any  # a float, or an array with one for each column or level
Seed: TypeAlias = "int | np.random.Generator | None"
POINTS = 513  # where a density is drawn
LARGEST = 1e300  # rate: sums of more over some classes may be larger than any float


class Prior(ABC):
    """A distribution of the parameters of an event model, conjugate to its likelihood."""

    @property
    @abstractmethod
    def frozen(self) -> Distribution:
        """The distribution as SciPy's; a mapping by parameter where there are two."""

    @property
    @abstractmethod
    def mode(self) -> Value:
        """Where the density is highest; NaN where it is so at no one place."""

    @abstractmethod
    def log_pdf(self, x: Value) -> Value:
        """Return the logarithm of the density at x, in nats."""

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

    @abstractmethod
    def interval(self, probability: float = 0.95) -> Any:
        """Return the ends of the central interval that holds the parameter.

        Parameters
        ----------
        probability : float, default 0.95
            Of the parameter being within; what is left is the same on both sides.

        Returns
        -------
        low, high : float or ndarray
            The ends; of several parameters they are of each alone. Of a
            ``NormalInverseGamma`` it is a mapping by parameter.
        """

    @abstractmethod
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

    @abstractmethod
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the density, with the mean and the mode.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """


class OneParameter(Prior):
    """A prior of one parameter, or of one for each column."""

    parameter: ClassVar[str]  # what the axis of a picture says
    # The least and the greatest value, where a picture begins and ends.
    least: ClassVar[float | None] = None
    greatest: ClassVar[float | None] = None
    reach: ClassVar[float] = (
        0.98  # of the probability is between the ends of a picture, where there is none
    )

    def log_pdf(self, x: Value) -> Value:
        return plain(self.frozen.logpdf(x))

    def interval(self, probability: float = 0.95) -> tuple[Value, Value]:
        low, high = self.frozen.interval(check_probability(probability))
        return plain(low), plain(high)

    def sample(self, n: int, random_state: Seed = None) -> Floats:
        of_each = np.shape(self.frozen.mean())
        rng = np.random.default_rng(random_state)
        return np.asarray(self.frozen.rvs(size=(n, *of_each), random_state=rng), np.float64)

    def plot(self, ax: Axes | None = None) -> Axes:
        from naively.pictures.estimates import draw_distributions as draw_densities

        low, high = map(np.asarray, self.frozen.interval(self.reach))
        first = low.min() if self.least is None else self.least
        last = high.max() if self.greatest is None else self.greatest
        x = between(float(first), float(last))
        columns = low.ndim
        density = self.frozen.pdf(x[:, None] if columns else x)
        mean = self.frozen.mean()
        return draw_densities(
            x,
            np.asarray(density).reshape(len(x), -1).T,
            np.where(np.isfinite(mean), mean, np.nan).reshape(-1),
            np.reshape(self.mode, -1),
            np.reshape(self.pdf(self.mode), -1),
            np.reshape(self.pdf(mean), -1),
            parameter=self.parameter,
            title=str(self),
            each="column",
            ax=ax,
        )


def between(low: float, high: float) -> Floats:
    """Return numbers between two, but for the ends, where a density may be infinite."""
    return np.linspace(low, high, POINTS + 2)[1:-1]


def check_probability(probability: float) -> float:
    """Return the probability of an interval; a ValueError unless it is between 0 and 1."""
    if not 0 < probability < 1:
        raise ValueError(f"probability must be between 0 and 1, got {probability}.")
    return probability


def check_finite(prior: object, *names: str) -> None:
    """Raise a ValueError unless these options of a prior are finite numbers."""
    for name in names:
        value = getattr(prior, name)
        if not np.isfinite(value):
            raise ValueError(f"{type(prior).__name__} {name} must be finite, got {value}.")


def check_positive(prior: object, *names: str) -> None:
    """Raise a ValueError unless these options are finite and above 0; lists become tuples."""
    for name in names:
        value = getattr(prior, name)
        if isinstance(value, list | np.ndarray):  # as a tuple it is equal to itself, and hashes
            object.__setattr__(prior, name, tuple(np.asarray(value).tolist()))
        numbers = np.asarray(value, np.float64)
        check_some(prior, name, numbers)
        if not (np.isfinite(numbers).all() and (numbers > 0).all()):
            raise ValueError(f"{type(prior).__name__} {name} must be greater than 0, got {value}.")


def plain(value: Value) -> Value:
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
    """Return part / whole, in the shape of the part; NaN, for undefined, if the whole is 0.

    It is at most ``LARGEST``.
    """
    with np.errstate(over="ignore"):
        found = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0)
    return np.asarray(np.minimum(found, LARGEST), np.float64)


def pretend_rows(tally: BlockTally, rows: float) -> tuple[Floats, Floats]:
    """Return pretend rows at each column's mean over all classes, and their sums, (columns, 1)."""
    n, value = (tally.sums[s].total_by_row().high[:, None] for s in (PRESENT, VALUE))
    mean = np.divide(value, n, out=np.zeros_like(value), where=n > 0)
    return np.full_like(mean, rows), rows * mean
