"""Priors of the mean and the variance of numbers: Normal, InverseGamma, NormalInverseGamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from naively.events.base import Distribution
from naively.events.prior.base import (
    OneParameter,
    Prior,
    Seed,
    Value,
    between,
    check_finite,
    check_positive,
    check_probability,
    plain,
)
from naively.kernels.reference import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 0.99  # of the probability of each parameter is between the ends of a picture of both


@final
@dataclass(frozen=True)
class Normal(OneParameter):
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

    def __post_init__(self) -> None:
        check_finite(self, "mean")
        check_positive(self, "variance")

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
@dataclass(frozen=True)
class InverseGamma(OneParameter):
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

    def __post_init__(self) -> None:
        check_positive(self, "shape", "scale")

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
@dataclass(frozen=True)
class NormalInverseGamma(Prior):
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

    def __post_init__(self) -> None:
        check_finite(self, "mean")
        check_positive(self, "rows", "shape", "scale")

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

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the density of mean and variance as contours, with the means and the mode.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            What to draw on; by default a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        from naively.pictures.estimates import draw_contours

        mean, variance = (between(*ends) for ends in self.interval(REACH).values())
        density = self.pdf(np.stack(np.meshgrid(mean, variance), axis=-1))
        means = tuple(self.means.values())
        return draw_contours(
            mean, variance, density, means, tuple(self.mode.values()), title=str(self), ax=ax
        )

    def pretend(self, variance: float | None) -> tuple[float, float, float, float]:  # noqa: ARG002
        """Return the mean, how many rows it is worth, and the shape and scale of the variance."""
        return self.mean, self.rows, self.shape, self.scale

    @property
    def _of_variance(self) -> InverseGamma:
        return InverseGamma(self.shape, self.scale)
