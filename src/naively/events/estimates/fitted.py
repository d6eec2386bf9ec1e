"""The fitted distributions of a plain sample, beside the sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from naively.counting.axis import Levels, title
from naively.events.base import Distribution
from naively.kernels.reference import Floats
from naively.options import How

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.events.estimate import Sample
    from naively.events.estimates.estimate import Estimate

POINTS = 401  # of a density
TAIL = 1e-3  # of the fitted distributions, beyond which they are not drawn
MOST_COUNTS = 200  # different whole numbers that are drawn one by one
LABELS: dict[How, str] = {
    "mle": "maximum likelihood",
    "map": "posterior mode",
    "mean": "posterior mean",
    "predictive": "predictive",
}
Found: TypeAlias = dict[str, Distribution]


def plot_fitted(estimate: Estimate, sample: Sample | None, ax: Axes | None) -> Axes:
    """Draw the distributions of one column or one event (see ``Estimate.plot``)."""
    from naively.pictures.estimates import draw_densities

    axis, event = estimate.tally.axis, estimate.event
    if isinstance(axis, Levels) or event.joined:
        return _plot_shares(estimate, sample, ax)
    if len(axis.columns) != 1:
        raise ValueError("A picture is of one column; estimate one column at a time.")
    observed = None if sample is None else np.asarray(event.encode(sample).values)[:, 0]
    observed = None if observed is None else observed[np.isfinite(observed)]
    found = _distributions(estimate)
    if not found:
        raise ValueError(
            "No distribution is fitted that has a density: nothing was counted, or all values are "
            "equal."
        )
    logs = estimate.event.of_logarithms
    discrete = all(_is_discrete(of) for of in found.values())
    low, high = _extent(found, observed, logs=logs)
    if discrete:
        step = max(1, int(np.ceil((high - low) / MOST_COUNTS)))
        x = np.arange(np.floor(low), np.ceil(high) + 1, step)
    else:
        x = np.linspace(low, high, POINTS)
    densities = {
        name: _density(of, x, of_log=logs and name == "predictive") for name, of in found.items()
    }
    return draw_densities(x, densities, observed, discrete=discrete, ax=ax)


def _plot_shares(estimate: Estimate, sample: Sample | None, ax: Axes | None) -> Axes:
    """Draw the probability of each level or word, beside its share of the sample."""
    from naively.pictures.estimates import draw_shares

    event, axis = estimate.event, estimate.tally.axis
    labels = [axis.label(row) for row in range(len(axis))]
    names = [title(column) if item is None else item for column, item in labels]
    shares: dict[str, Floats] = {}
    if sample is not None:
        block = event.encode(sample, axis)
        tally = event.tally(block, _one_class(len(block)))
        count = event.counted(tally)[:, 0]
        shares["sample"] = count / max(count.sum(), 1e-300)
    ways: list[How] = ["mle"] if estimate.given else ["mle", _typical(event.estimate)]
    for how in ways:
        p = event.parameters(estimate.tally, how)["p"][:, 0]
        if not np.isnan(p).any():
            shares["given" if estimate.given else LABELS[how]] = p
    return draw_shares(names, shares, ax)


def _distributions(estimate: Estimate) -> Found:
    """Return the distributions that are defined, by what they are called."""
    if estimate.given:
        return {"given parameters": estimate.fitted}
    ways: list[How] = ["mle", _typical(estimate.event.estimate), "predictive"]
    if not estimate.event.space:  # of histograms and kernel densities there is but one
        ways = ways[-1:]
    found: Found = {}
    for how in dict.fromkeys(ways):
        if how == "predictive" and estimate.event.space and not found:
            continue  # of equal numbers, or none, its width means nothing
        try:
            of = estimate.fitted_by(how)
        except ValueError:
            continue  # the event model has none, or SciPy refuses it as improper
        if _is_spread(of):
            found[LABELS[how]] = of
    return found


def _is_spread(of: Distribution) -> bool:
    """Whether a distribution is defined, and not all at one number."""
    from scipy.stats import gaussian_kde

    if isinstance(of, gaussian_kde):
        return True
    with np.errstate(all="ignore"):
        low, high = of.ppf(TAIL), of.ppf(1 - TAIL)
    return bool(np.isfinite([low, high]).all() and (_is_discrete(of) or low < high))


def _typical(how: How) -> How:
    return how if how in ("map", "mean") else "mean"


def _is_discrete(of: Distribution) -> bool:
    from scipy.stats import distributions

    frozen = isinstance(of, distributions.rv_frozen)
    return frozen and isinstance(of.dist, distributions.rv_discrete)


def _density(of: Distribution, x: Floats, *, of_log: bool) -> Floats:
    if of_log:
        return np.asarray(of.pdf(np.log(x)) / x)
    return np.asarray(of.pmf(x) if _is_discrete(of) else of.pdf(x))


def _extent(found: Found, observed: Floats | None, *, logs: bool) -> tuple[float, float]:
    """Return where a picture begins and ends: where most of the sample and of a density is."""
    from scipy.stats import gaussian_kde

    first = next(iter(found.values()))
    ends = []
    if observed is not None and len(observed):
        ends += [float(observed.min()), float(observed.max())]
    if not isinstance(first, gaussian_kde):
        ends += [float(first.ppf(TAIL)), float(first.ppf(1 - TAIL))]
    else:
        points = first.dataset[0]
        wide = 3 * np.sqrt(first.covariance[0, 0])
        ends += [float(points.min() - wide), float(points.max() + wide)]
    low, high = min(ends), max(ends)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return (max(low, 1e-12 * high) if logs else low), high


def _one_class(rows: int) -> Any:
    from naively.counting.labels import Labels

    return Labels(np.zeros(rows, np.int32), np.zeros(1, np.int64))
