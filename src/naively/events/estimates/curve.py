"""Likelihood, prior and posterior of parameters on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from naively.counting.axis import Level, Levels
from naively.events.base import Distribution
from naively.events.estimates.conjugate import marginals
from naively.events.estimates.space import PROBABILITY
from naively.kernels.reference import Floats
from naively.tabular import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.events.estimates.densities import Densities

POINTS = 401  # of a curve
SIDE = 81  # points of each side of a surface
TAIL = 1e-3  # of the posterior, beyond which the grid reaches by half of its width


@dataclass(frozen=True, repr=False)
class ParameterCurve(Tabular):
    """What a sample says of one parameter, value by value.

    Parameters
    ----------
    parameter : str
        Its name, or the level whose probability it is.
    value : ndarray of shape (points,)
        The values of the grid.
    log_likelihood : ndarray of shape (points,)
        In nats; at the best of the other parameters, if there are any.
    prior, posterior : ndarray of shape (points,)
        Densities; NaN where there is no proper conjugate prior.
    likelihood : ndarray of shape (points,)
        Scaled, so that the area over the grid is 1.
    distribution : frozen distribution or None
        The posterior.
    """

    parameter: Level
    value: Floats
    log_likelihood: Floats
    prior: Floats
    likelihood: Floats
    posterior: Floats
    distribution: Distribution | None

    def to_dict(self) -> dict[str, list[Any]]:
        return {
            str(self.parameter): self.value.tolist(),
            "log_likelihood": self.log_likelihood.tolist(),
            "prior": self.prior.tolist(),
            "likelihood": self.likelihood.tolist(),
            "posterior": self.posterior.tolist(),
        }

    def plot(self, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
        """Draw prior, scaled likelihood and posterior, with an interval of the posterior.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.
        level : float, default 0.95
            How much of the posterior the interval holds, between equal tails.

        Returns
        -------
        ax : Axes
        """
        from naively.pictures.estimates import draw_curve

        of = self.distribution
        interval = None if of is None else tuple(map(float, of.interval(level)))
        densities = {
            "prior": self.prior, "likelihood (scaled)": self.likelihood,
            "posterior": self.posterior,
        }  # fmt: skip
        return draw_curve(self.value, densities, self.parameter, interval, level, ax)


@dataclass(frozen=True, repr=False)
class Surface(Tabular):
    """What a sample says of a mean and a variance together.

    Parameters
    ----------
    mean, variance : ndarray of shape (points,)
        The grid.
    log_likelihood, log_posterior : ndarray of shape (means, variances)
        In nats; the log density of the posterior is NaN without a proper prior.
    mle, map : dict of str to float
        The maximum likelihood estimate, and the mode of the posterior.
    """

    mean: Floats
    variance: Floats
    log_likelihood: Floats
    log_posterior: Floats
    mle: dict[str, float]
    map: dict[str, float]

    def to_dict(self) -> dict[str, list[Any]]:
        mean, variance = np.meshgrid(self.mean, self.variance, indexing="ij")
        return {
            "mean": mean.ravel().tolist(),
            "variance": variance.ravel().tolist(),
            "log_likelihood": self.log_likelihood.ravel().tolist(),
            "log_posterior": self.log_posterior.ravel().tolist(),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw contours of likelihood and posterior, with the estimate that is best for each.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
        """
        from naively.pictures.estimates import draw_surface

        surfaces = {"likelihood": self.log_likelihood, "posterior": self.log_posterior}
        best = {
            "maximum likelihood": (self.mle["mean"], self.mle["variance"]),
            "posterior mode": (self.map["mean"], self.map["variance"]),
        }
        return draw_surface(self.mean, self.variance, surfaces, best, ax)


def curve(estimate: Densities, parameter: Level | None, grid: ArrayLike | None) -> ParameterCurve:
    """Return the curve of a parameter (see ``Estimate.curve``)."""
    mle = of_one_column(estimate, spread=True)
    names = estimate.unknown("mle")
    if parameter is None and len(names) == 1:
        (parameter,) = names
    if parameter is None or parameter not in names:
        raise ValueError(
            f"parameter must be one of {', '.join(map(repr, names)) or 'none'}, got {parameter!r}."
        )
    before = after = None
    if estimate.prior is not None:
        before = marginals(estimate.proper_prior, names)[parameter]
        after = marginals(estimate.updated, names)[parameter]
    least, greatest, _ = estimate.event.space.get(str(parameter), PROBABILITY)
    if grid is not None:
        value = np.asarray(grid, np.float64)
    elif greatest == 1:
        value = np.linspace(0, 1, POINTS)[1:-1]
    else:
        low, high = _extent(mle[parameter], after)
        value = np.linspace(max(low, least), min(high, greatest), POINTS)
    log_likelihood = np.broadcast_to(_profile(estimate, mle, parameter, value), value.shape)
    likelihood = np.exp(log_likelihood - log_likelihood.max())
    undefined = np.full(value.shape, np.nan)
    return ParameterCurve(
        parameter,
        value,
        log_likelihood,
        undefined if before is None else before.pdf(value),
        likelihood / np.trapezoid(likelihood, value),
        undefined if after is None else after.pdf(value),
        after,
    )


def surface(estimate: Densities, mean: ArrayLike | None, variance: ArrayLike | None) -> Surface:
    """Return the surface of a normal model (see ``Estimate.surface``)."""
    mle = of_one_column(estimate, spread=True)
    if set(estimate.event.space) != {"mean", "variance"}:
        raise ValueError(
            f"{type(estimate.event).__name__} has no mean and variance; ask for curve()."
        )
    n, v = max(float(estimate.n), 1.0), mle["variance"]
    reach = 5 * np.sqrt(v / n)
    means = np.asarray(
        np.linspace(mle["mean"] - reach, mle["mean"] + reach, SIDE) if mean is None else mean
    )
    ratio = np.exp(4 * np.sqrt(2 / n))  # the standard error of a log variance is about √(2 / n)
    variances = np.asarray(
        np.geomspace(v / ratio, v * ratio, SIDE) if variance is None else variance
    )
    at: dict[str, Any] = {"mean": means[:, None], "variance": variances[None]}
    found = np.asarray(estimate.log_likelihood_at(**at))
    proper = estimate.prior is not None and "variance" in marginals(estimate.proper_prior)
    posterior = (
        np.asarray(estimate.log_posterior_at(**at)) if proper else np.full_like(found, np.nan)
    )
    mode = {name: float(x) for name, x in estimate.points("map").items()}
    return Surface(means, variances, found, posterior, {str(k): x for k, x in mle.items()}, mode)


def of_one_column(estimate: Densities, *, spread: bool = False) -> dict[Level, float]:
    """Return the maximum likelihood estimate, by parameter or level, of one column.

    With ``spread`` a variance must be above 0.
    """
    if not estimate.event.space:
        estimate.event.log_likelihood_of(estimate.tally, {})  # says that there is none
    if len(estimate.tally.axis.columns) != 1:
        raise ValueError("A curve is of one column; estimate one column at a time.")
    found = estimate.points("mle")
    if spread and "variance" in found and not found["variance"] > 0:
        raise ValueError(
            "The values are all equal, or there are none, so that the likelihood of a variance has "
            "no greatest value."
        )
    return found


def _extent(mle: float, after: Distribution | None) -> tuple[float, float]:
    """Return where the grid begins and ends: around the posterior, or the estimate."""
    if after is None:
        if np.isnan(mle):
            raise ValueError("Nothing was counted, and there is no prior: give a grid.")
        wide = 3 * (abs(mle) or 1.0)
        return mle - wide, mle + wide
    low, high = after.ppf(TAIL), after.ppf(1 - TAIL)
    wide = (high - low) / 2
    return float(low - wide), float(high + wide)


def _profile(
    estimate: Densities, mle: dict[Level, float], parameter: Level, value: Floats
) -> Floats:
    """Return the log likelihood at values of a parameter, at the best of the others."""
    if isinstance(estimate.tally.axis, Levels):
        others = {level: p for level, p in mle.items() if level != parameter}
        rest = sum(others.values())
        share = [p / rest if rest > 0 else 1 / len(others) for p in others.values()]
        shares = dict(zip(others, share, strict=True))
        table = [value if level == parameter else (1 - value) * shares[level] for level in mle]
        return np.asarray(estimate.log_likelihood_at(p=np.stack(table, axis=-1)))
    at: dict[str, Any] = {str(parameter): value}
    if parameter == "mean" and "variance" in estimate.event.space:
        known = estimate.event.parameters(estimate.tally, "mle")["variance"].item()
        free = "variance" in estimate.free
        at["variance"] = known if not free else known + (value - mle["mean"]) ** 2
    elif parameter == "variance":
        at["mean"] = mle["mean"]
    return np.asarray(estimate.log_likelihood_at(**at))
