"""Pictures of estimates and priors of a plain sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.counting.labels import Labels
from naively.events.base import Distribution
from naively.events.estimate import POINTS as CURVE
from naively.events.estimate import TAIL, Sample
from naively.events.prior import Beta, Dirichlet
from naively.inspect.one_column import bins_of, grid_of
from naively.messages import shortened
from naively.options import How
from naively.wings.pictures.axes import (
    COLOURS,
    GREY,
    MOST,
    STYLE,
    Floats,
    Handle,
    Look,
    On,
    line,
    name_of,
    new_axes,
    points,
    pyplot,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from naively.events.estimate import Estimate
    from naively.events.joint_table import Independence
    from naively.events.logistic_normal import GridPosterior
    from naively.events.outcomes import Consistency, ParameterCurve, Surface, Updates
    from naively.events.prior import NormalInverseGamma, Prior

# --- The fitted distributions of a plain sample, beside the sample -------------------------------


Curves: TypeAlias = Mapping[str, Floats]  # by their names
BARS = 40  # the most bars of a histogram
MOST_MARKS = 300  # numbers of a series that have a mark each
MOST_LEVELS = 20  # levels that have a bar each
MOST_SIZES = 12  # of a sample, whose posteriors are drawn
MOST_BANDS = 3  # that are drawn over each other
BELOW = (1.0, 2.0, 4.0, 8.0)  # nats below the best value, where contours are drawn
PALE = "#D9D9D9"  # of a sample, behind the lines
MOST_COUNTS = 200  # different whole numbers that are drawn one by one
LABELS: dict[How, str] = {
    "mle": "maximum likelihood",
    "map": "posterior mode",
    "mean": "posterior mean",
    "predictive": "predictive",
}
Found: TypeAlias = dict[str, Distribution]


def estimate(estimate: Estimate, ax: On, sample: Sample | None) -> Axes:
    """Draw the distributions of one column or one event: by each way to estimate."""
    axis, event = estimate.tally.axis, estimate.event
    if event.layout != "numbers" or event.joined:
        return _shares(estimate, sample, ax)
    if len(axis.columns) != 1:
        raise ValueError("A picture is of one column; estimate one column at a time.")
    observed = None if sample is None else np.asarray(event.encode(sample).values)[:, 0]
    observed = None if observed is None else observed[np.isfinite(observed)]
    found = _distributions(estimate)
    if not found:
        raise ValueError(
            "No fitted distribution has a density: nothing was counted, or all values are equal."
        )
    logs = estimate.event.of_logarithms
    discrete = all(_is_discrete(of) for of in found.values())
    low, high = _range(found, observed, logs=logs)
    if discrete:
        step = max(1, int(np.ceil((high - low) / MOST_COUNTS)))
        x = np.arange(np.floor(low), np.ceil(high) + 1, step)
    else:
        x = np.linspace(low, high, CURVE)
    densities = {
        name: _density(of, x, of_log=logs and name == "predictive") for name, of in found.items()
    }
    return draw_densities(x, densities, observed, discrete=discrete, ax=ax)


def _shares(estimate: Estimate, sample: Sample | None, ax: On) -> Axes:
    """Draw the probability of each level or word, beside its share of the sample."""
    event, axis = estimate.event, estimate.tally.axis
    labels = [axis.label(row) for row in range(len(axis))]
    names = [title(column) if item is None else item for column, item in labels]
    shares: dict[str, Floats] = {}
    if sample is not None:
        block = event.encode(sample, axis)
        one_class = Labels(np.zeros(len(block), np.int32), np.zeros(1, np.int64))
        count = event.counted(event.tally(block, one_class))[:, 0]
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
        each = (f"{name} {float(x):.4g}" for name, x in estimate.points("mle").items())
        return {", ".join(each) or "given parameters": estimate.fitted}
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
        low, high = of.ppf([TAIL, 1 - TAIL])
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
    if isinstance(first, gaussian_kde):
        points, wide = first.dataset[0], 3 * np.sqrt(first.covariance[0, 0])
        ends = [points.min() - wide, points.max() + wide]
    else:
        ends = [*first.ppf([TAIL, 1 - TAIL])]
        bounds = first.support()
        ends += bounds if np.isfinite(bounds).all() else ()
    if observed is not None and len(observed):
        ends += [observed.min(), observed.max()]
    low, high = float(min(ends)), float(max(ends))
    if not high > low:
        low, high = low - 0.5, high + 0.5
    return (max(low, 1e-12 * high) if logs else low), high


def grid_posterior(result: GridPosterior, ax: On) -> Axes:
    """Draw both priors and both posteriors of a probability."""
    table = {name: np.array(of) for name, of in result.to_dict().items()}
    p = table.pop("p")
    names = ("logistic normal", "its posterior", "nearest Beta", "the Beta's posterior")
    drawn = dict(zip(names, table.values(), strict=True))
    ax = draw_densities(p, drawn, None, ax, discrete=False)
    ax.set_xlabel("p")
    return ax


def draw_densities(
    x: Floats, densities: Curves, sample: Floats | None, ax: On = None, *, discrete: bool
) -> Axes:
    """Draw densities, or probabilities of whole numbers, over a sample's histogram."""
    ax = new_axes(ax)
    if sample is not None and len(sample):
        if discrete:
            value, count = np.unique(sample, return_counts=True)
            ax.bar(value, count / len(sample), width=0.8, color=PALE, label="sample")
        else:
            ax.hist(sample, bins=list(_bins(sample)), density=True, color=PALE, label="sample")
    before = _lines_on(ax)
    for i, (name, density) in enumerate(densities.items(), before):
        if discrete:  # beside each other, as they are often alike
            step = 0.2 * (i - before - (len(densities) - 1) / 2)
            ax.plot(x + step, density, label=name, **points(i))
        else:
            ax.plot(x, density, label=name, **line(i))
    ax.set(xlabel="value", ylabel="probability" if discrete else "density")
    if discrete:
        whole_numbers(ax.xaxis)
        ax.set_ylim(bottom=0)
    _legend_above(ax)
    return ax


def _bins(sample: Floats) -> Floats:
    """Return bins of a sample: as wide as its spread asks for, on the grid of its numbers."""
    edges = np.histogram_bin_edges(sample, bins="auto")
    low, high = float(edges[0]), float(edges[-1])
    return bins_of(low, high, grid_of(sample), min(len(edges) - 1, BARS))


def _lines_on(ax: Axes) -> int:
    """Return how many lines with a name are on Axes: the next one has the next colour."""
    named = [of for of in ax.get_lines() if not str(of.get_label()).startswith("_")]
    marks = ("mean", "mode")
    return sum(of.get_label() not in marks for of in named)


def draw_shares(names: Sequence[object], shares: Curves, ax: On = None) -> Axes:
    """Draw a bar for each level and way to estimate, or a point where there are several ways."""
    ax = new_axes(ax)
    first = next(iter(shares.values()))
    most = np.argsort(-first, kind="stable")[:MOST_LEVELS]
    if all(isinstance(name, int | float) for name in names):  # as the faces of a die
        most = np.array(sorted(most.tolist(), key=lambda i: names[i]), np.int64)
    place = np.arange(len(most), dtype=np.float64)
    labels = [name_of(names[i]) for i in most.tolist()]
    lying = len(most) > 6 or max(map(len, labels)) > 8
    for i, (name, share) in enumerate(shares.items()):
        p, at = share[most], place + (i - len(shares) / 2) * 0.2
        if i == 0:
            bars = ax.barh if lying else ax.bar
            bars(place, p, color=PALE, edgecolor=GREY, label=name)
        else:
            ax.plot(*((p, at) if lying else (at, p)), label=name, **points(i - 1))
    if lying:
        ax.set_yticks(place, labels)
        ax.invert_yaxis()
    else:
        ax.set_xticks(place, labels)
    (ax.set_xlabel if lying else ax.set_ylabel)("probability")
    (ax.set_xlim if lying else ax.set_ylim)(0)
    left = len(first) - len(most)
    if left:
        ax.set_ylabel(f"the {len(most)} most probable of {len(first):,}")
    _legend_above(ax)
    return ax


def curve(result: ParameterCurve, ax: On, level: float) -> Axes:
    """Draw prior, scaled likelihood and posterior; the interval is shaded under the last."""
    of, value, posterior = result.distribution, result.value, result.posterior
    ends = None if of is None else of.interval(level)
    ax = new_axes(ax)
    # The likelihood is drawn last: under a uniform prior its dashes are on the posterior.
    each = (
        ("prior", result.prior, line(2), 1.4, 2.1),
        ("likelihood (scaled)", result.likelihood, line(1), 1.4, 2.3),
        ("posterior", posterior, line(0), 2.4, 2.2),
    )
    for name, density, look, wide, order in each:
        if not np.isnan(density).all():
            ax.plot(value, density, label=name, linewidth=wide, zorder=order, **look)
    if ends is not None:
        inside = (value >= ends[0]) & (value <= ends[1])
        how: Look = {"color": COLOURS[0], "alpha": 0.2, "label": f"{level:.0%} interval"}
        ax.fill_between(value[inside], posterior[inside], linewidth=0, **how)
    ax.set(xlabel=name_of(result.parameter), ylabel="density")
    ax.set_ylim(bottom=0)
    _from_0_to_1(ax, value)
    _legend_above(ax)
    return ax


def _from_0_to_1(ax: Axes, value: Floats) -> None:
    """Write 0 and 1 at the ends of an axis of probabilities."""
    if value[0] >= 0 and value[-1] <= 1 and value[-1] - value[0] > 0.9:
        ax.set_xlim(-0.02, 1.02)
        ax.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"])


DEEP = 12.0  # nats below the top, to which a log likelihood is drawn


def likelihood(result: ParameterCurve, ax: On, *, log: bool) -> Axes:
    """Draw a likelihood or its logarithm, and mark where it is greatest."""
    value, mle = result.value, result.mle
    height = result.log_likelihood if log else np.exp(result.log_likelihood)
    ax = new_axes(ax)
    ax.plot(value, height, **line(0))
    top = float(np.max(height))
    if value[0] <= mle <= value[-1]:
        top = max(top, float(np.interp(mle, value, height)))
        ax.axvline(mle, color=GREY, linestyle=":", linewidth=0.8)
        ax.plot([mle], [top], label=f"maximum at {mle:.4g}", **points(1))
        _legend_above(ax)
    low = max(float(np.min(height)), top - DEEP) if log else 0.0
    room = 0.06 * (top - low or 1.0)
    ax.set_ylim(low - (room if log else 0.0), top + room)
    name = name_of(result.parameter)
    _from_0_to_1(ax, value)
    ax.set_xlabel(name)
    ax.set_ylabel(f"log likelihood l({name}), nats" if log else f"likelihood L({name})")
    return ax


def surface(result: Surface, ax: On) -> Axes:
    """Draw contours of log densities over mean and variance, and where each is greatest."""
    from matplotlib.lines import Line2D

    ax, mean, variance = new_axes(ax), result.mean, result.variance
    handles, inside = list[Handle](), list[NDArray[np.bool_]]()
    each = (
        ("likelihood", result.log_likelihood, "maximum likelihood", result.mle),
        ("posterior", result.log_posterior, "posterior mode", result.map),
    )
    for i, (what, table, name, best) in enumerate(each):
        x, y = best["mean"], best["variance"]
        if np.isnan(table).all():
            continue
        look = line(1 - i)
        drop = [-below for below in reversed(BELOW)]
        depth = table - np.nanmax(table)
        lines: Look = {"colors": [look["color"]], "linestyles": [look["linestyle"]]}
        ax.contour(mean, variance, depth.T, levels=drop, linewidths=1, **lines)
        inside.append(depth >= drop[0])
        handles.append(Line2D([], [], linewidth=1, label=what, **look))
        if np.isfinite([x, y]).all():
            ring = {"markerfacecolor": "none", "markersize": 6.5} if i else {}
            handles += ax.plot([x], [y], label=name, **{**points(1 - i), **ring})
    _around(ax, mean, variance, np.any(inside, axis=0).T)
    below = ", ".join(f"{nats:g}" for nats in BELOW)
    _legend_above(ax, handles=handles, title=f"contours {below} nats below the best")
    return ax


def _few_powers(axis: Axis, subs: tuple[float, ...] = (1.0, 2.0, 5.0)) -> None:
    """Write plain numbers, as 200 and 500, at few places of a logarithmic axis."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=subs, numticks=8))
    axis.set_major_formatter("{x:,.6g}")
    axis.set_minor_formatter(NullFormatter())


def _around(ax: Axes, x: Floats, y: Floats, inside: NDArray[np.bool_]) -> None:
    """Show the part of a grid of means and variances that is inside, (rows, columns), and more."""
    ax.set(yscale="log", xlabel="mean", ylabel="variance")
    _few_powers(ax.yaxis)
    columns, rows = (np.flatnonzero(inside.any(axis=side)) for side in (0, 1))
    room = 0.06 * (x[columns[-1]] - x[columns[0]]) or 1.0
    ax.set_xlim(max(x[0], x[columns[0]] - room), min(x[-1], x[columns[-1]] + room))
    ratio = (y[rows[-1]] / y[rows[0]]) ** 0.06
    ax.set_ylim(max(y[0], y[rows[0]] / ratio), min(y[-1], y[rows[-1]] * ratio))


def updates(result: Updates, ax: On) -> Axes:
    """Draw a density for each number of observations, the later the darker."""
    ax, value, n = new_axes(ax), result.value, result.n
    some = np.unique(np.linspace(0, len(n) - 1, min(len(n), MOST_SIZES)).round().astype(int))
    shades = pyplot().get_cmap("viridis_r")(np.linspace(0.1, 0.95, len(some)))
    for i, (at, shade) in enumerate(zip(some.tolist(), shades, strict=True)):
        look = {**line(i), "color": shade}
        ax.plot(value, result.density[at], label=f"{n[at]:,}", **look)
    of = f" ({len(some)} of {len(n):,} sizes are drawn)" if len(some) < len(n) else ""
    ax.set(xlabel=result.parameter, ylabel="density")
    ax.set_ylim(bottom=0)
    _from_0_to_1(ax, value)
    _legend_above(ax, title=f"observations{of}", ncols=4)
    return ax


def consistency(result: Consistency, ax: On) -> Axes:
    """Draw running estimates with their bands, and the truth where it is known."""
    ax, n, estimate = new_axes(ax), result.n, result.estimate
    names = list(estimate)[:MOST]
    if all(isinstance(name, int | float) for name in names):
        names = sorted(names)
    few = len(names) <= MOST_BANDS
    for i, name in enumerate(names):
        ax.plot(n, estimate[name], label=name_of(name), **line(i))
        ends = result.low[name], result.high[name]
        if np.isnan(ends[0]).all():
            continue
        named = "posterior interval" if i == len(names) - 1 else "_"  # once
        if few:
            ax.fill_between(n, *ends, color=COLOURS[i], alpha=0.2, linewidth=0, label=named)
        else:  # bands would cover each other: the last of each is drawn, beside the lines
            at = n[-1] * 1.15 ** (i + 1)
            ax.vlines(at, ends[0][-1], ends[1][-1], color=COLOURS[i], linewidth=2, label=named)
    for i, (name, of) in enumerate(result.truth.items()):
        if name in names:
            label = None if i else "truth"
            ax.axhline(of, color=GREY, linewidth=0.8, linestyle=":", label=label)
    ax.set_xscale("log")
    _few_powers(ax.xaxis, (1.0,))
    left = len(estimate) - len(names)
    more = f" ({left:,} more parameters are not drawn)" if left else ""
    ax.set(xlabel=f"observations{more}", ylabel="maximum likelihood estimate")
    _legend_above(ax, ncols=3 if few else 4)
    return ax


def series(result: Independence, ax: On) -> Axes:
    """Draw a sample in its order."""
    ax, values = new_axes(ax), result.values
    place, marker = np.arange(1, len(values) + 1), "o" if len(values) <= MOST_MARKS else ""
    ax.plot(place, values, color=COLOURS[0], linewidth=0.8, marker=marker, markersize=2.5)
    ax.set(xlabel="place in the sample", ylabel="value")
    return ax


def autocorrelation(result: Independence, ax: On) -> Axes:
    """Draw the autocorrelation at each lag, with the band that independent values stay in."""
    ax, lag, correlation = new_axes(ax), result.lag, result.autocorrelation
    ax.axhspan(-result.band, result.band, color=PALE, label="95% of independent values")
    ax.vlines(lag, 0, correlation, color=COLOURS[0])
    ax.plot(lag, correlation, **points(0))
    ax.axhline(0, color=GREY, linewidth=0.7)
    ax.set(xlabel="lag", ylabel="autocorrelation")
    whole_numbers(ax.xaxis)
    _legend_above(ax)
    return ax


def _legend_above(ax: Axes, **options: Any) -> None:
    """Put the legend above the Axes, where it covers nothing."""
    given = {"ncols": 2, "columnspacing": 1.0, "title_fontsize": 7, **options}
    small = STYLE["legend.fontsize"]
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=small, **given)


# --- Priors: a line for each column or level, and contours of two parameters ---------------------


POINTS = 513  # where a density is drawn
REACH = 0.99  # of the probability of each parameter is between the ends of a picture of both
ROOM = 1.08  # of the height of the Axes, to that of the highest curve
STEEP = 4.0  # what rises without bound at an end is cut off at so many times the rest
HELD = (0.95, 0.8, 0.5)  # the probability within each contour
WIDE, LONGEST = 48, 90  # characters of a line of a title, and of the title


def one_parameter(prior: Prior, ax: On) -> Axes:
    """Draw the density of a parameter, of each column where it has one of its own."""
    frozen, mode = prior.frozen, prior.mode
    low, high = map(np.asarray, frozen.interval(prior.reach))
    first = low.min() if prior.least is None else prior.least
    last = high.max() if prior.greatest is None else prior.greatest
    columns, mean = low.ndim, frozen.mean()
    # A curve goes through what is marked on it, and to the ends where it has a height there.
    marked = np.concatenate([np.ravel(mean), np.ravel(mode), [first, last]])
    marked = marked[(marked >= first) & (marked <= last)]
    finite = np.isfinite(frozen.pdf(marked[:, None] if columns else marked))
    marked = marked[finite.all(axis=1) if columns else finite]
    x = np.union1d(_between(float(first), float(last)), marked)
    density = frozen.pdf(x[:, None] if columns else x)
    return draw_distributions(
        x,
        np.asarray(density).reshape(len(x), -1).T,
        np.where(np.isfinite(mean), mean, np.nan).reshape(-1),
        np.reshape(mode, -1),
        np.reshape(prior.pdf(mode), -1),
        np.reshape(prior.pdf(mean), -1),
        parameter=prior.parameter,
        title=str(prior),
        each="column",
        ax=ax,
    )


def _between(low: float, high: float) -> Floats:
    """Return numbers between two, but for the ends, where a density may be infinite."""
    return np.linspace(low, high, POINTS + 2)[1:-1]


def dirichlet(prior: Dirichlet, ax: On) -> Axes:
    """Draw the density of each probability alone, with its mean and where it is highest."""
    # That is not the probability's part of its mode, where the density of all together is highest.
    of, counts = prior.marginal, np.asarray(prior.alpha, np.float64)
    mode = np.asarray(Beta(tuple(counts), tuple(counts.sum() - counts)).mode, np.float64)
    ends = np.isfinite(mode) & np.isfinite(of.pdf(mode))
    x = _between(0.0, float(of.ppf(0.999).max()))
    x = np.union1d(x, np.concatenate([mode[ends], prior.mean]))
    return draw_distributions(
        x,
        np.asarray(of.pdf(x[:, None])).T,
        prior.mean,
        mode,
        of.pdf(mode),
        of.pdf(prior.mean),
        parameter="probability",
        title=str(prior),
        each="level",
        ax=ax,
    )


def draw_distributions(
    x: Floats,  # (points,): values of the parameter
    density: Floats,  # (lines, points): the density at each of them
    mean: Floats,  # (lines,): which are marked, a circle and a triangle; NaN is not
    mode: Floats,
    at_mode: Floats,  # (lines,): the densities there
    at_mean: Floats,
    *,
    parameter: str,
    title: str,
    each: str,  # what there is a line for: a column or a level
    ax: On = None,
) -> Axes:
    """Draw the densities of one parameter, or of one for each column or level."""
    ax = new_axes(ax)
    several, alike = len(density) > 1, _alike(density)
    shown = list(alike)[:MOST]
    height = max(
        _height(density[shown], at_mode), ax.get_ylim()[1] / ROOM if _lines_on(ax) else 0.0
    )
    for i, j in enumerate(shown, _lines_on(ax)):
        label = f"{each}{_of_numbers(alike[j])}" if several else _short(title)
        ax.plot(x, density[j], **line(i), label=label)
    marks = (("mean", mean, at_mean, "o", 3), ("mode", mode, at_mode, "^", 4))
    said = ax.get_legend_handles_labels()[1]
    for name, at, up, marker, over in marks:
        there = [j for j in shown if np.isfinite(at[j])]
        if not there:
            continue
        y = np.minimum(np.nan_to_num(up[there], nan=0.0), height)
        ax.plot(
            at[there], y, marker, color="black", label=f"_{name}" if name in said else name,
            zorder=over, clip_on=False, markerfacecolor="white" if name == "mode" else "black",
        )  # fmt: skip
    ax.set_ylim(0.0, height * ROOM)
    every = np.concatenate([x, *(np.asarray(of.get_xdata(), np.float64) for of in ax.get_lines())])
    ax.set_xlim(every.min(), every.max())
    _from_0_to_1(ax, np.sort(every))
    ax.set(xlabel=parameter, ylabel="density")
    if several:
        more = f"\n{len(shown)} of {len(alike)} curves" if len(shown) < len(alike) else ""
        _legend_above(ax, ncols=3, title=_short(title) + more)
        ax.set_title("")  # it is above the legend
        return ax
    _legend_above(ax, ncols=3 if len(title) < WIDE // 2 and _lines_on(ax) == 1 else 2)
    return ax


def _alike(density: Floats) -> dict[int, list[int]]:
    """Return the lines that differ, each with all that are equal to it."""
    found: dict[int, list[int]] = {}
    for i, of in enumerate(density):
        same = next((j for j in found if np.allclose(density[j], of, equal_nan=True)), i)
        found.setdefault(same, []).append(i)
    return found


def _of_numbers(places: Sequence[int]) -> str:
    """Write which lines are one: " 2", or "s 1 to 4", or "s 1, 3"."""
    numbers = [place + 1 for place in places]
    if len(numbers) == 1:
        return f" {numbers[0]}"
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"s {numbers[0]} to {numbers[-1]}"
    return f"s {', '.join(map(str, numbers[:4]))}" + (", ..." if len(numbers) > 4 else "")


def two_parameters(prior: NormalInverseGamma, ax: On) -> Axes:
    """Draw a density of a mean and a variance as contours that hold 50, 80 and 95 % of it."""
    ends = prior.interval(REACH)
    mean, (low, high) = _between(*ends["mean"]), ends["variance"]
    variance = np.geomspace(low / 3, high, POINTS)  # so far that contours close
    density = prior.pdf(np.stack(np.meshgrid(mean, variance), axis=-1))  # (variances, means)
    means, mode = prior.means.values(), prior.mode.values()
    ax = new_axes(ax)
    # Each point of the grid stands for as much of the variance as is between its neighbours.
    levels = contour_levels(density, np.gradient(variance)[:, None] * np.gradient(mean))
    drawn = ax.contour(
        mean, variance, density, levels, colors=GREY, linestyles=[":", "--", "-"], linewidths=1.2
    )
    names = dict(zip(drawn.levels, (f"{held:.0%}" for held in HELD), strict=True))
    ax.clabel(drawn, fmt=names, fontsize=7)
    for name, at, marker, face in (("mean", means, "o", "black"), ("mode", mode, "^", "white")):
        if np.isfinite([*at]).all():
            ax.plot(*at, marker, color="black", markerfacecolor=face, label=name)
    _around(ax, mean, variance, density >= levels[0])
    _legend_above(ax, title=_short(str(prior)))
    return ax


def contour_levels(density: Floats, area: Floats | float = 1.0) -> list[float]:
    """Return the densities above which there are 95, 80 and 50 % of it, in ascending order."""
    order = np.argsort(-density, axis=None, kind="stable")
    falling = density.ravel()[order]
    held = np.cumsum((density * area).ravel()[order])
    held /= held[-1]
    at = np.minimum(np.searchsorted(held, HELD), len(falling) - 1)
    return [float(height) for height in falling[at]]


def _height(density: Floats, at_mode: Floats) -> float:
    """Return the height of a picture; what rises without bound at an end is cut off."""
    highest = max(float(density.max()), float(np.nan_to_num(at_mode, nan=0.0, posinf=0.0).max()))
    edge = density.shape[1] // 20
    inner = STEEP * float(density[:, edge:-edge].max())
    steep = np.isinf(at_mode).any() or np.isnan(at_mode).any()
    return min(highest, inner) if steep else highest


def _short(title: str) -> str:
    """Return a title on at most two lines."""
    return fill(shortened(title, LONGEST), WIDE)
