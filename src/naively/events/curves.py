"""How an estimate is drawn: likelihood and posterior on a grid, a fit over data, learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from naively import pictures
from naively.counting.axis import Level, Levels, title
from naively.counting.labels import Labels
from naively.events.base import Distribution
from naively.events.estimate import Estimable, Estimate, Sample
from naively.events.outcomes import Consistency, ParameterCurve, Surface, Updates
from naively.events.shown import PROBABILITY, marginals
from naively.kernels.reference import Floats
from naively.options import How

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# --- Likelihood, prior and posterior of parameters on a grid -------------------------------------


POINTS = 401  # of a curve
SIDE = 81  # points of each side of a surface
FAR = 1e-5  # of a posterior, beyond which a surface ends
TAIL = 1e-3  # of the posterior, beyond which the grid reaches by half of its width


def curve(estimate: Estimate, parameter: Level | None, grid: ArrayLike | None) -> ParameterCurve:
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
        float(mle[parameter]),
    )


def surface(estimate: Estimate, mean: ArrayLike | None, variance: ArrayLike | None) -> Surface:
    """Return the surface of a normal model (see ``Estimate.surface``)."""
    mle = of_one_column(estimate, spread=True)
    if set(estimate.event.space) != {"mean", "variance"}:
        raise ValueError(
            f"{type(estimate.event).__name__} has no mean and variance; ask for curve()."
        )
    proper = estimate.prior is not None and "variance" in marginals(estimate.proper_prior)
    after = marginals(estimate.updated) if proper else {}
    means, variances = (
        _both(_around_mle(estimate, mle, name), after.get(name), log=name == "variance")
        if given is None
        else np.asarray(given, np.float64)
        for name, given in (("mean", mean), ("variance", variance))
    )
    at: dict[str, Any] = {"mean": means[:, None], "variance": variances[None]}
    found = np.asarray(estimate.log_likelihood_at(**at))
    posterior = (
        np.asarray(estimate.log_posterior_at(**at)) if proper else np.full_like(found, np.nan)
    )
    mode = {name: float(x) for name, x in estimate.points("map").items()}
    return Surface(means, variances, found, posterior, {str(k): x for k, x in mle.items()}, mode)


DEEP = 9.0  # nats below its top, to which a grid holds a likelihood: contours go to 8


def _around_mle(estimate: Estimate, mle: dict[Level, float], name: str) -> tuple[float, float]:
    """Return from where to where the likelihood of a normal model is less than DEEP below its top.

    With a variance of ratio r to the best it is n / 2 (log r + 1 / r - 1) below; with a mean off by
    d, and the variance that is best then, n / 2 log(1 + d² / v).
    """
    from scipy.special import lambertw

    n, v = max(float(estimate.n), 1.0), mle["variance"]
    if name == "mean":
        d = np.sqrt(v * np.expm1(2 * DEEP / n))
        return mle["mean"] - d, mle["mean"] + d
    # log r + 1 / r = 1 + k is solved by 1 / r = -W(-exp(-1 - k)), on both branches of W.
    at = -np.exp(-1 - 2 * DEEP / n)
    low, high = (-1 / lambertw(at, k).real for k in (-1, 0))
    return float(v * low), float(v * high)


def _both(likelihood: tuple[float, float], after: Distribution | None, *, log: bool) -> Floats:
    """Return a grid over where the likelihood and the posterior are; fine for each of the two."""
    space = np.geomspace if log else np.linspace
    grid = np.asarray(space(*likelihood, SIDE))
    if after is not None:
        low, high = (float(after.ppf(tail)) for tail in (FAR, 1 - FAR))
        grid = np.union1d(grid, space(low, high, SIDE))
    return grid


def of_one_column(estimate: Estimate, *, spread: bool = False) -> dict[Level, float]:
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
    estimate: Estimate, mle: dict[Level, float], parameter: Level, value: Floats
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


# --- How estimates change as the observations of a sample arrive ---------------------------------


SIZES = 200  # of a sample, at which the running estimate is computed


def updates(event: Estimable, sample: Sample, at: Sequence[int], level: float) -> Updates:
    """Return the posteriors after so many observations (see ``Estimable.updates``)."""
    block = event.encode(sample)
    whole = event.estimated(block)
    of_one_column(whole)
    prior, names = whole.proper_prior, whole.unknown("mean")
    if len(whole.free) != 1 or not whole.is_scalar:
        raise ValueError(
            f"Updates are of one parameter, and {type(event).__name__} has several here; ask "
            "for consistency()."
        )
    if not at or min(at) < 0:
        raise ValueError(f"at must be numbers of observations that are at least 0, got {at}.")
    # The prior stays what it is of the whole sample, where it is pretend rows at its mean.
    fixed: Any = replace(event, prior=prior)  # type: ignore[type-var]  # a subclass is a dataclass
    sizes = sorted({min(int(size), len(block)) for size in at})
    beliefs = [prior if n == 0 else fixed.estimated(_first(block, n)).updated for n in sizes]
    (name,) = whole.free
    of = [marginals(belief, names)[name] for belief in beliefs]
    least, greatest, _ = event.space[name]
    if greatest == 1:
        value = np.linspace(0, 1, POINTS)[1:-1]
    else:
        seen = of[1:] if len(of) > 1 else of  # a wide prior would leave no room for the others
        low, high = (seen[0].ppf(tail) for tail in (TAIL, 1 - TAIL))
        value = np.linspace(max(float(low), least), min(float(high), greatest), POINTS)
    ends = [tuple(map(float, belief.interval(level))) for belief in of]
    return Updates(
        name,
        sizes,
        [float(belief.mean()) for belief in of],
        [low for low, _ in ends],
        [high for _, high in ends],
        value,
        np.stack([belief.pdf(value) for belief in of]),
    )


def consistency(
    event: Estimable, sample: Sample, truth: Mapping[str, float] | float | None, level: float
) -> Consistency:
    """Return the running estimate (see ``Estimable.consistency``)."""
    block = event.encode(sample)
    whole = event.estimated(block)
    of_one_column(whole)
    if not len(block):
        raise ValueError("Give a sample with one observation at least.")
    names = whole.unknown("mle")
    sizes = np.unique(np.geomspace(1, len(block), SIZES).round().astype(np.int64))
    known = whole.prior
    fixed: Any = event if known is None else replace(event, prior=known)  # type: ignore[type-var]  # a subclass is a dataclass
    found: dict[str, dict[Level, list[float]]] = {
        of: {name: [] for name in names} for of in ("estimate", "low", "high")
    }
    for n in sizes.tolist():
        part = fixed.estimated(_first(block, n))
        mle = part.points("mle")
        beliefs = {} if known is None else marginals(part.updated, names)
        for name in names:
            low, high = beliefs[name].interval(level) if name in beliefs else (np.nan, np.nan)
            for of, x in (("estimate", mle[name]), ("low", low), ("high", high)):
                found[of][name].append(float(x))
    estimate, lows, highs = ({name: np.array(x) for name, x in of.items()} for of in found.values())
    if truth is not None and not isinstance(truth, Mapping):
        truth = {names[0]: truth}
    unknown = [name for name in truth or {} if name not in names]
    if unknown:
        raise ValueError(f"truth names {unknown[0]!r}; there are {', '.join(map(repr, names))}.")
    return Consistency(sizes, estimate, lows, highs, dict(truth or {}))


def _first(block: Any, n: int) -> Any:
    return block.select(np.arange(n))


# --- The fitted distributions of a plain sample, beside the sample -------------------------------


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
    low, high = _range(found, observed, logs=logs)
    if discrete:
        step = max(1, int(np.ceil((high - low) / MOST_COUNTS)))
        x = np.arange(np.floor(low), np.ceil(high) + 1, step)
    else:
        x = np.linspace(low, high, POINTS)
    densities = {
        name: _density(of, x, of_log=logs and name == "predictive") for name, of in found.items()
    }
    return pictures.estimates.draw_densities(x, densities, observed, discrete=discrete, ax=ax)


def _plot_shares(estimate: Estimate, sample: Sample | None, ax: Axes | None) -> Axes:
    """Draw the probability of each level or word, beside its share of the sample."""
    event, axis = estimate.event, estimate.tally.axis
    labels = [axis.label(row) for row in range(len(axis))]
    names = [title(column) if item is None else item for column, item in labels]
    shares: dict[str, Floats] = {}
    if sample is not None:
        block = event.encode(sample, axis)
        one_class = Labels(np.zeros(len(block), np.int32), np.zeros(1, np.int64))
        tally = event.tally(block, one_class)
        count = event.counted(tally)[:, 0]
        shares["sample"] = count / max(count.sum(), 1e-300)
    ways: list[How] = ["mle"] if estimate.given else ["mle", _typical(event.estimate)]
    for how in ways:
        p = event.parameters(estimate.tally, how)["p"][:, 0]
        if not np.isnan(p).any():
            shares["given" if estimate.given else LABELS[how]] = p
    return pictures.estimates.draw_shares(names, shares, ax)


def _distributions(estimate: Estimate) -> Found:
    """Return the distributions that are defined, by what they are called."""
    if estimate.given:
        return {_said(estimate): estimate.fitted}
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


def _said(estimate: Estimate) -> str:
    """Write given parameters, as "mean 0, variance 1"."""
    found = {str(name): float(x) for name, x in estimate.points("mle").items()}
    return ", ".join(f"{name} {x:.4g}" for name, x in found.items()) or "given parameters"


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


def _range(found: Found, observed: Floats | None, *, logs: bool) -> tuple[float, float]:
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
