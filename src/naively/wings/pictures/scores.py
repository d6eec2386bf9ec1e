"""Pictures of how good a model is: scores, curves, dependence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively.messages import amount
from naively.wings.pictures.axes import (
    BAND,
    BELOW,
    COLOURS,
    DASHES,
    DRAWN,
    GREY,
    MARKERS,
    MOST,
    STYLE,
    WRITTEN,
    Floats,
    Look,
    On,
    class_axis,
    class_name,
    inches,
    line,
    most_confused,
    name_of,
    name_rows,
    new_axes,
    on_lines,
    points,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.assess.curves import LearningCurve, SmoothingCurve
    from naively.assess.decisions import PredictionSets
    from naively.assess.dependence import Dependence
    from naively.assess.prequential import DecayCurve
    from naively.assess.scores import Scores
    from naively.estimators.compare import Comparison
    from naively.inspect.drift import Drift
    from naively.inspect.likelihood import Fits
    from naively.inspect.uncertainty import ProbabilityIntervals


WIDE_BAND, LIGHT = "#D0D0D0", "#9ECAE1"
BARS = 0.16  # of the height of a diagram, for the rows of its bins
FULL = 0.5  # the opacity of a cell that has all rows of its class
TENTH = ("confidence", "accuracy", "size")  # of the rows: its means, and how many rows it has


def reliability(now: Scores, ax: On, before: Scores | None) -> Axes:
    """Draw accuracy against confidence in ten parts of the rows, beside that of before."""
    from scipy import stats

    drawn = {"now: ": now, "before: ": before} if before is not None else {"": now}
    tenths = [
        [np.array([getattr(tenth, what) for tenth in of.tenths]) for what in TENTH]
        for of in drawn.values()
    ]
    confidence, _, size = tenths[0]
    ax = new_axes(ax, height=3.2)
    low, high = (stats.binom.ppf(p, size, confidence) / size for p in (0.025, 0.975))
    least = min(float(min(at.min(), accuracy.min())) for at, accuracy, _ in tenths)
    start = max(0.0, np.floor(10 * min(least, float(low.min()))) / 10 - 0.1)
    at, rows = np.array([(b.confidence, b.rows) for b in now.reliability]).T
    bars = BARS * (1 - start) * rows / rows.max()
    wide = 0.5 / 15
    ax.bar(at, bars, wide, bottom=start, color=LIGHT, zorder=0)
    most = int(rows.argmax())
    side, beside = ("right", -wide) if at[most] > 0.5 else ("left", wide)
    said, where = f"{amount(rows[most])} rows", (at[most] + beside, start + bars[most])
    ax.annotate(said, where, va="top", ha=side, fontsize=7, color="#2171B5")
    chance = f"95 % of calibrated models (ECE {now.calibration_noise:.3f})"
    band: Look = {"color": GREY, "alpha": 0.3, "zorder": 1}
    ax.fill_between(confidence, low, high, linewidth=0, label=chance, **band)
    if len(confidence) == 1:
        ax.vlines(confidence, low, high, linewidth=6, **band)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", zorder=1)
    each = zip(drawn.items(), tenths, strict=True)
    for i, ((name, of), (at, accuracy, _)) in reversed([*enumerate(each)]):
        how = {**line(i), **points(i), "linestyle": DASHES[i]}
        label = f"{name}calibration error (ECE) {of.calibration_error:.3f}"
        ax.plot(at, accuracy, label=label, **how)
    ends = start, 1 + 0.03 * (1 - start)
    ax.set(xlim=ends, ylim=ends, ylabel="accuracy (right answers)")
    ax.set_xlabel("confidence (probability of the answer)")
    ax.set_aspect("equal", adjustable="box")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), borderaxespad=0.0, reverse=True)
    return ax


MOST_ROWS, LEAST_ROW = 40, 0.085  # whose probabilities are drawn, and inches that each takes


def probabilities(result: ProbabilityIntervals, ax: On, c: int) -> Axes:
    """Draw the probability of class c with its interval for each row, the largest on top."""
    p, low, high = (of[:, c] for of in (result.probability, result.low, result.high))
    of, held = class_name(result.classes.tolist()[c]), f"{result.coverage:.0%} {result.SAID}"
    label = on_lines(f"p({of}),", f"and {held}", longest=BELOW)
    order = np.argsort(-p, kind="stable")
    ax = new_axes(ax, height=max(1.5, 0.13 * min(len(order), MOST_ROWS) + 0.7))
    most = min(MOST_ROWS, int(inches(ax)[1] / LEAST_ROW))
    if len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]
    y = np.arange(len(order))
    error = np.stack([p - low, high - p])[:, order]
    how = {**points(0), "color": COLOURS[0], "ecolor": GREY}
    ax.errorbar(p[order], y, xerr=np.maximum(error, 0.0), elinewidth=1.0, **how)
    name_rows(ax, [str(row) for row in order.tolist()])
    ax.set(xlim=(-0.02, 1.02), ylim=(len(order) - 0.4, -0.6), xlabel=label, ylabel="row")
    return ax


def confusion(scores: Scores, ax: On) -> Axes:
    """Draw the confusion table: rows by right class, down, and answer, across."""
    from matplotlib.patches import Rectangle

    table, labels = np.asarray(scores.confusion, np.float64), scores.classes
    if len(labels) > DRAWN:
        return _most_confused(table, labels, ax)
    k = len(labels)
    size = max(2.3, 0.27 * k)
    ax = new_axes(ax, width=size + 1.1, height=size + 0.7)
    of_row = table.sum(axis=1)
    share = np.divide(table, of_row[:, None], out=np.zeros_like(table), where=of_row[:, None] > 0)
    ax.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
    cell = 72 * inches(ax)[1] / k  # points
    written = min(7 if k <= 6 else 6 if k <= WRITTEN else 5, 0.55 * cell)
    for (i, j), of in np.ndenumerate(share):
        # As full as its share: text on it can be read, on dark paper too.
        shade = {"facecolor": COLOURS[0], "alpha": FULL * of, "edgecolor": "none"}
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, **shade))
        if table[i, j] > 0 or k <= 3:
            said = _cell(float(table[i, j]), float(of), k)
            ax.text(j, i, said, ha="center", va="center", fontsize=written)
    names = [name_of(label) for label in labels]
    turned = 0 if k * max(map(len, names)) <= 32 else 90
    small = min(STYLE["ytick.labelsize"], 0.85 * cell)
    ax.set_xticks(range(k), names, rotation=turned, fontsize=small)
    rows = [f"{n} ({amount(rows)})" for n, rows in zip(names, of_row, strict=True)]
    ax.set_yticks(range(k), rows, fontsize=small)
    answer, right = class_axis("answer"), class_axis("right class")
    what = "rows, % of the row" if k <= 6 else "rows" if k <= WRITTEN else "% of the row"
    ax.set(xlabel=f"{answer} ({what})", ylabel=f"{right} (rows)")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _cell(count: float, share: float, k: int) -> str:
    """Write a cell: count and share of its row, count, or share in per cent, as there is room."""
    if k <= 6:
        return f"{amount(count)}\n{share:.0%}"
    if k <= WRITTEN:
        return amount(count)
    return f"{100 * share:.0f}" if share >= 0.005 else "·"


def _most_confused(table: Floats, labels: Sequence[object], ax: On) -> Axes:
    """Draw the pairs of classes that are most confused, as bars."""
    pairs = most_confused(table)
    ax = new_axes(ax, width=3.9, height=0.8 + 0.2 * max(3, len(pairs)))
    names = [name_of(label) for label in labels]
    count = np.array([table[pair] for pair in pairs])
    ax.barh(range(len(pairs)), count, color=COLOURS[0])
    ax.set_yticks(range(len(pairs)), [f"{names[i]} as {names[j]}" for i, j in pairs])
    ax.invert_yaxis()
    for at, (n, (i, _)) in enumerate(zip(count, pairs, strict=True)):
        ax.annotate(f" {n / table[i].sum():.0%}", (n, at), va="center", fontsize=7)
    ax.margins(x=0.15)
    ax.set_xlabel(f"{class_axis('rows')} (% of the class)")
    ax.set_title(
        f"{amount(table.sum() - table.trace())} of {amount(table.sum())} rows of {len(labels):,} "
        f"classes are missed;\nthe pairs of most rows are {amount(count.sum())} of them",
        loc="right",
    )
    return ax


def columns(scores: Scores, ax: On, n: int) -> Axes:
    """Draw how much the log loss grows without each column, of the n of most worth."""
    names, growth = [*scores.cost], np.array([*scores.cost.values()])
    most = np.argsort(-growth, kind="stable")[:n]
    ax = new_axes(ax, height=0.7 + 0.19 * max(3, len(most)))
    colours = [COLOURS[0] if growth[j] >= 0 else COLOURS[1] for j in most]
    ax.barh(range(len(most)), growth[most], color=colours)
    name_rows(ax, [name_of(names[j]) for j in most])
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.7)
    ax.set_xlabel("growth of log loss (nats per row)")
    if len(most) < len(names):
        ax.set_title(f"without one column: {len(most)} of {len(names):,}", loc="right")
    return ax


def roc(scores: Scores, ax: On) -> Axes:
    """Draw the ROC curve of the rarer of two classes, else that of each against the rest."""
    ax = new_axes(ax, height=2.9)
    curves = sorted(scores.roc.items(), key=lambda curve: -curve[1].share)
    curves = curves[1:] if len(curves) == 2 == len(scores.classes) else curves
    shown = curves[:MOST]
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    for i, (label, of) in enumerate(shown):
        name = f"{class_name(label)} (area {of.area:.3f})"
        ax.plot(of.false_positive_rate, of.true_positive_rate, label=name, **line(i))
    ax.set(
        xlim=(-0.01, 1.01),
        ylim=(-0.01, 1.01),
        xlabel="false positive rate (of other rows)",
        ylabel="true positive rate\n(of rows of the class)",
    )
    ax.set_aspect("equal", adjustable="box")
    ax.legend(loc="lower right")
    if len(shown) < len(curves):
        ax.set_title(f"the {len(shown)} classes of most rows, of {len(curves):,}")
    return ax


# --- Pictures of scores against what a model was given: rows, or pseudo-counts -------------------


LABELS = {"accuracy": "accuracy (share of right answers)", "log_loss": "log loss (nats per row)"}
DASH = {"held-out": "-", "training": "--", "leave-one-out": "-."}
PLACE = {name: i for i, name in enumerate(DASH)}
FEW = 6  # ticks
MARKED = {0.0: "0", 0.5: "½", 1.0: "1"}  # maximum likelihood, Jeffreys, Laplace


def learning(result: LearningCurve, ax: On, metric: str) -> Axes:
    """Draw scores against the number of rows learned, on a logarithmic axis."""
    value = np.array(getattr(result, metric))
    which, size, repeat = map(np.array, (result.which, result.size, result.repeat))
    sizes, repeats = np.unique(size), len(np.unique(repeat))
    ax = new_axes(ax)
    for name in ("held-out", "training"):
        at = [value[(which == name) & (size == s)] for s in sizes]
        ax.plot(sizes, [of.mean() for of in at], label=name, **_look(name))
        if repeats > 1:
            ends = [of.min() for of in at], [of.max() for of in at]
            ax.fill_between(sizes, *ends, color=COLOURS[PLACE[name]], alpha=0.2, linewidth=0)
    ax.set_xscale("log")
    _few_sizes(ax, sizes.astype(float))
    ax.set(xlabel="rows learned", ylabel=LABELS[metric])
    title = f"mean, and least to greatest, of {repeats} orders" if repeats > 1 else None
    ax.legend(title=title, title_fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return ax


def _few_sizes(ax: Axes, sizes: Floats) -> None:
    """Write plain numbers of rows: all of a few, else so many that they do not overlap."""
    from matplotlib.ticker import LogLocator, NullFormatter

    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    if 1 < len(sizes) <= FEW and np.log10(sizes[1:] / sizes[:-1]).min() > 0.25:
        ax.set_xticks(sizes)
        return
    wide = np.log10(sizes[-1] / sizes[0]) > 2
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))


def smoothing(result: SmoothingCurve, ax: On, metric: str) -> Axes:
    """Draw scores against the pseudo-count, on an axis that is logarithmic but for 0."""
    ax, value = new_axes(ax), np.array(getattr(result, metric))
    which, pseudo_count = np.array(result.which), np.array(result.smoothing)
    for name in ("held-out", "leave-one-out", "training"):
        of = which == name
        if of.any():
            ax.plot(pseudo_count[of], value[of], label=name, **_look(name))
    values, chosen = np.unique(pseudo_count), result.chosen
    positive = values[values > 0]
    if len(positive):
        ax.set_xscale("symlog", linthresh=positive[0], linscale=0.5)
    for at, name in MARKED.items():
        if values[0] <= at <= values[-1]:
            ax.axvline(at, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
            where: Look = {"xycoords": ax.get_xaxis_transform(), "ha": "center"}
            where |= {"xytext": (0, 2), "textcoords": "offset points"}
            ax.annotate(name, (at, 1.0), fontsize=7, color=GREY, **where)
    for i, (name, at) in enumerate(chosen.items()):
        if values[0] <= at <= values[-1]:
            label = f"auto: {at:.2g}" + (f" ({name_of(name)})" if len(chosen) > 1 else "")
            look: Look = {"linewidth": 0.9, "linestyle": (0, (1, 1 + i)), "zorder": 0}
            ax.axvline(at, color="black", label=label, **look)
    ticks = _ticks(values)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set(xlabel="pseudo-count λ", ylabel=LABELS[metric])
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.05), ncols=2)
    return ax


def decay(result: DecayCurve, ax: On, metric: str) -> Axes:
    """Draw a score against time, a line for each half-life, with its mean."""
    ax, end = new_axes(ax, width=4.6), np.array(result.end)
    value, of_row = np.array(getattr(result, metric)), np.array(result.half_life)
    means = result.by_half_life()
    for i, (half_life, mean) in enumerate(zip(means["half_life"], means[metric], strict=True)):
        name = "for ever" if np.isinf(half_life) else f"{half_life:g}"
        mark = " (best)" if half_life == result.best else ""
        style = {**line(i), "linewidth": 2.2 if half_life == result.best else 1.0}
        at = of_row == half_life
        ax.plot(end[at], value[at], label=f"{name}: {mean:.3f}{mark}", **style)
    ax.set(xlabel="end of the block that is scored", ylabel=LABELS[metric])
    if end.dtype == object:  # dates
        ax.figure.autofmt_xdate()
    title = "half-life in blocks: mean"
    ax.legend(title=title, title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return ax


def _ticks(values: Floats) -> list[float]:
    """Return the pseudo-counts to write below the axis: all of a few, else powers of ten."""
    positive = values[values > 0]
    if len(values) <= FEW:
        return [float(value) for value in values]
    powers = 10.0 ** np.arange(np.floor(np.log10(positive[0])), np.log10(values[-1]) + 1e-9)
    inside = powers[powers >= positive[0] * (1 - 1e-9)]
    zero = [0.0] if len(positive) < len(values) else []
    return [*zero, *map(float, inside[:: 1 + len(inside) // FEW])]


def _look(name: str) -> Look:
    """Return how the line of such rows is drawn."""
    i = PLACE[name]
    return {"color": COLOURS[i], "linestyle": DASH[name], "marker": MARKERS[i]}


# --- The dependence of pairs of columns, beside chance -------------------------------------------


MOST_PAIRS = 12
BAR, LEAST_BAR = 0.25, 0.18  # inches that a bar takes, with its name, and at least


def dependence(result: Dependence, ax: On) -> Axes:
    """Draw the mutual information of pairs as bars, the first on top, with chance as a mark."""
    ax = new_axes(ax, height=0.9 + BAR * max(min(len(result.a), MOST_PAIRS), 3))
    fit = min(MOST_PAIRS, max(3, int(inches(ax)[1] / LEAST_BAR)))  # on Axes of others
    pairs = [*zip(result.a[:fit], result.b[:fit], strict=True)]
    information, expected = result.mutual_information[:fit], result.expected[:fit]
    place = np.arange(len(pairs))
    ax.barh(place + 0.2, information, 0.36, color=COLOURS[0], label="sample")
    ax.plot(expected, place + 0.2, "|", color=COLOURS[1], ms=7, mew=1.6, label="chance")
    for y, (a, b) in zip(place, pairs, strict=True):  # long names have the whole width
        ax.text(0.0, y - 0.03, f" {name_of(a)}, {name_of(b)}", va="bottom", fontsize=7)
    ax.set(yticks=[], ylim=(max(len(pairs), 1) - 0.5, -0.6))
    ax.set_xlim(left=0.0)
    given = " given the class" if result.given_class else ""
    ax.set_xlabel(f"mutual information{given} (nats)")
    if pairs:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0)
    else:
        ax.text(0.5, 0.5, "no pairs", color=GREY, ha="center", transform=ax.transAxes)
    return ax


def models(result: Comparison | Fits, ax: On, metric: str) -> Axes:
    """Draw a score of models as bars, in the order of the table, each with its number."""
    names, value = result.model, np.array(getattr(result, metric))
    ax = new_axes(ax, height=0.7 + 0.19 * max(3, len(names)))
    ax.barh(range(len(names)), value, color=COLOURS[0])
    for i, at in enumerate(value.tolist()):
        ax.annotate(f" {at:.4g} ", (max(at, 0.0), i), va="center", fontsize=7)
    name_rows(ax, [name_of(name) for name in names])
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.set_xlabel(LABELS.get(metric, "log likelihood, each left out (nats)"))
    return ax


# --- Sets of classes, and what has moved ---------------------------------------------------------


MOVED = 15  # columns that are drawn


def set_sizes(sets: PredictionSets, ax: On) -> Axes:
    """Draw how many sets hold one class, two and so on, as shares of all."""
    ax = new_axes(ax)
    rows = np.bincount(sets.size, minlength=2)[1:]
    ax.bar(np.arange(1, len(rows) + 1), rows / max(1, rows.sum()), 0.7, color=COLOURS[0])
    ax.set(xlabel="classes in the set", ylabel="share of the rows")
    whole_numbers(ax.xaxis)
    ax.set_xlim(0.4, max(len(rows), 3) + 0.6)
    return ax


def drift(result: Drift, ax: On) -> Axes:
    """Draw divergences as bars, the first on top, over a band of what chance makes of each."""
    shown = [i for i, what in enumerate(result.what) if what != "log loss"][:MOVED]
    names = [result.column[i] or result.what[i] for i in shown]
    upper = result.chance[shown] + BAND * result.noise[shown]
    ax = new_axes(ax, height=0.9 + 0.19 * max(3, len(names)))
    place = np.arange(len(names))
    colours = [COLOURS[0] if is_beyond else LIGHT for is_beyond in result.moved[shown]]
    ax.barh(place, result.divergence[shown], 0.7, color=colours)
    ax.barh(place, upper, 0.9, color=WIDE_BAND, zorder=0, label="by chance")
    name_rows(ax, [name_of(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlim(left=0.0)
    ax.set_xlabel("divergence (nats)")
    ax.set_title(result.between, loc="right", fontsize=7)
    ax.legend(loc="lower right")
    return ax
