"""Pictures with a colour for each class: a column, regions of two columns, counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Label
from naively.inspect.one_column import cut_of
from naively.model.class_prior import and_more, frequent
from naively.wings.pictures.axes import (
    COLOURS,
    DASHES,
    GREY,
    HEIGHT,
    MOST,
    WIDTH,
    Array,
    Floats,
    Handle,
    Look,
    Names,
    On,
    Said,
    class_axis,
    class_name,
    class_names,
    legend_height,
    line,
    name_of,
    name_rows,
    new_axes,
    on_lines,
    points,
    put_endless,
    put_legend,
    put_said,
    pyplot,
    whole_numbers,
)
from naively.wings.pictures.evidence import draw_table

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from naively.counting.tally import Tally
    from naively.inspect.column import LevelView, NumberView, WordView
    from naively.inspect.regions import Regions
    from naively.inspect.tallies import Counts, Fading

# --- One column: densities over the data, levels as bars, telling words --------------------------


BAR, WORD = 0.095, 0.115  # inches that a bar takes, and one with a name of its own
FAINT = 0.16  # how opaque the data are
MOST_CLASSES = 30  # that are drawn in colours
BARS = 60  # of a picture of levels
LEAST_LEVELS, MOST_LEVELS = 4, 24
OF_CLASS, ALL_WORDS = 10, 24  # words of a class, and of all, in a picture
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo")


def drawn(view: NumberView) -> tuple[NumberView, float, str]:
    """Return what is drawn of a column, some classes in few bins, how high it is and what it is."""
    # The density of a histogram is drawn as its means over some bins, which may be fewer than those
    # of the model; few whole numbers have a probability each. That of many classes is in bins.
    shown, more = _classes(view.classes, view.class_count)
    x, density, whole, many = view.x, view.density[:, shown], view.counts, len(view.classes) > MOST
    observed = None if view.observed is None or many else view.observed[:, shown]
    at, ends = seconds(x), seconds(view.edges)
    middle = np.sqrt(ends[1:] * ends[:-1]) if view.log else (ends[1:] + ends[:-1]) / 2
    if view.stepped:
        density, at = means_in_bins(at, density, ends), middle
        if view.whole:
            x, whole = middle, True
    elif many:
        density, at = np.column_stack([np.interp(middle, at, of) for of in density.T]), middle
    if view.log:  # areas are what the eye sees: the densities are of the logarithm to base 10
        density = density * (at * np.log(10))[:, None]
        observed = None if observed is None else observed * (middle * np.log(10))[:, None]
    stepped = many or (view.stepped and not whole)
    top, cut = _top(density, observed, view.edges, stepped=stepped)
    classes, notes = [view.classes[c] for c in shown], (*more, *view.notes, *(cut * (not many)))
    of = replace(view, classes=classes, x=x, density=density, observed=observed, notes=notes)
    of = replace(of, counts=whole, stepped=stepped)
    unit = " per day" * (view.edges.dtype.kind == "M") + " per power of 10" * view.log
    return of, top, of.what + unit


def means_in_bins(at: Floats, density: Floats, ends: Floats) -> Floats:
    """Return the means over bins of densities that are steps, (bins, classes)."""
    # There is a point at either side of each step; beyond the first and the last is none.
    parts = (density[1:] + density[:-1]) / 2 * np.diff(at)[:, None]
    below = np.vstack([np.zeros(density.shape[1]), np.cumsum(parts, axis=0)])
    of = np.column_stack([np.interp(ends, at, column) for column in below.T])
    return np.asarray(np.diff(of, axis=0) / np.diff(ends)[:, None])


def seconds(x: NDArray[Any]) -> Floats:
    """Return numbers, or times as seconds since 1970."""
    return x.astype("datetime64[us]").astype(np.float64) / 1e6 if x.dtype.kind == "M" else x


def numbers(view: NumberView, ax: On) -> Axes:
    """Draw the densities of a column of numbers over a faint histogram of them."""
    # If there are many classes, the most frequent are drawn, in colours instead of heights.
    many, (view, top, along) = len(view.classes) > MOST, drawn(view)
    names = [name_of(label) for label in view.classes] if many else class_names(view.classes)
    said = Said(name_of(view.column), along, view.notes)
    if many:
        return draw_many_densities(view, names, said, ax)
    return draw_densities(view, top, names, said, ax)


def _classes(
    labels: Sequence[object], count: Floats, most: int | None = None
) -> tuple[list[int], list[str]]:
    """Return the numbers of the classes that are drawn, and how many are not."""
    many = MOST_CLASSES if len(labels) > MOST else MOST
    shown = frequent(count, most or many)
    return shown, and_more(len(labels) - len(shown), "class")


def draw_densities(view: NumberView, top: float, names: Names, said: Said, ax: On) -> Axes:
    """Draw a line, or stems, for each class over a faint histogram of its data."""
    ax = new_axes(ax, height=HEIGHT + legend_height(names))
    sides = np.repeat(view.edges, 2)[1:-1]  # of each bin, both
    if view.log:
        ax.set_xscale("log")
    handles: list[Handle] = []
    for i, density in enumerate(view.density.T):
        if view.observed is not None:
            heights = np.repeat(view.observed[:, i], 2)
            ax.fill_between(sides, heights, color=COLOURS[i % MOST], alpha=FAINT, linewidth=0)
        if view.counts:
            handles.append(_of_counts(ax, view.x, density, i, len(names)))
        elif view.stepped:
            handles += ax.plot(sides, np.repeat(density, 2), **line(i))
        else:
            handles += ax.plot(view.x, density, **line(i))
    ax.set_ylim(0, 1.05 * top or 1.0)
    if view.x.dtype.kind == "M":
        _date(ax)
    if view.counts:
        whole_numbers(ax.xaxis)
    put_said(ax, said)
    put_legend(ax, handles, names)
    return ax


def _top(
    density: Floats, observed: Floats | None, edges: Array, *, stepped: bool
) -> tuple[float, list[str]]:
    """Return how high a picture is, and what is to be said of what is higher."""
    top = float(density[np.isfinite(density)].max(initial=0.0))
    highest = 0.0 if observed is None else float(observed.max(initial=0.0))
    if not stepped:
        cut = highest > 3 * top
        return max(top, min(highest, 3 * top)), ["bars of the data are cut"] * cut
    of = (density if observed is None else np.maximum(density, observed)).max(axis=1)
    least = cut_of(of)
    if least is None:
        return max(top, highest), []
    at = int(of.argmax())
    ends = edges[at : at + 2]
    is_time = ends.dtype.kind == "M"
    span = " to ".join(str(x.astype("datetime64[D]")) if is_time else f"{x:.6g}" for x in ends)
    return least, [f"a spike from {span} is cut: it is {max(top, highest):.3g} high"]


def _date(ax: Axes) -> None:
    """Write few dates, and in short."""
    from matplotlib import dates

    new: ModuleType = dates
    locator = new.AutoDateLocator(minticks=3, maxticks=6)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(new.ConciseDateFormatter(locator))


def _of_counts(ax: Axes, x: Array, p: Floats, i: int, n: int) -> Artist:
    """Draw the probabilities of whole numbers as stems, beside those of other classes."""
    step = float(np.diff(x).min()) if len(x) > 1 else 1.0
    at = x + step * 0.6 * (i - (n - 1) / 2) / n
    ax.vlines(at, 0, p, color=COLOURS[i % MOST], linewidth=0.9)
    return ax.plot(at, p, **points(i))[0]


def draw_many_densities(view: NumberView, names: Names, said: Said, ax: On) -> Axes:
    """Draw the density of each of many classes in bins as a row of colours, the first on top."""
    ax, edges = new_axes(ax, height=max(HEIGHT, 0.13 * len(names) + 0.7)), view.edges
    rows = np.arange(len(names) + 1) - 0.5
    mesh = ax.pcolormesh(edges, rows, view.density.T, cmap="Blues", vmin=0.0, rasterized=True)
    if view.log:
        ax.set_xscale("log")
    if edges.dtype.kind == "M":
        _date(ax)
    elif not view.log and edges[1] - edges[0] == 1:  # of whole numbers
        whole_numbers(ax.xaxis)
    name_rows(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.figure.colorbar(mesh, ax=ax, label=said.y)
    put_said(ax, said._replace(y=""))
    return ax


def levels(view: LevelView, ax: On) -> Axes:
    """Draw a group of bars for each level, one for each class, with marks at what was counted."""
    # If there are many classes, the most frequent are drawn, as a table of colours.
    shown, first, notes = levels_of(view)
    names = class_names([view.classes[c] for c in shown])
    p, observed = view.p[first][:, shown], view.share[first][:, shown]
    levels = [name_of(view.levels[i]) for i in first]
    if len(view.classes) > MOST:
        said = Said(class_axis(), name_of(view.column), notes)
        return draw_table(p, levels, names, view.what, said, ax)
    high = max(HEIGHT * 0.6, BAR * (len(names) + 0.8) * len(levels) + 0.9)
    ax = new_axes(ax, height=high + legend_height(names))
    handles = _bars_in_groups(ax, p, observed)
    name_rows(ax, levels)
    ax.set_xlim(0, None)
    put_said(ax, Said(f"{view.what} (mark: as counted)", name_of(view.column), notes), "right")
    put_legend(ax, handles, names, "right")
    return ax


def levels_of(view: LevelView) -> tuple[list[int], NDArray[np.int64], list[str]]:
    """Return the classes and the levels that are drawn, and what is said of the others."""
    shown, notes = _classes(view.classes, view.class_count)
    k = 1 if len(view.classes) > MOST else len(shown)
    most = max(LEAST_LEVELS, min(MOST_LEVELS, BARS // max(k, 1)))
    by_count = np.argsort(-view.count.sum(axis=1), kind="stable")
    by_count = by_count[view.count[by_count].any(axis=1)]  # without those never seen
    cut = len(by_count) if len(by_count) <= most else most - 1
    first, rest = by_count[:cut], by_count[cut:]
    if len(rest):
        of_rest = view.count[rest].sum() / view.count.sum()
        notes.append(f"{and_more(len(rest), 'level')[0]}, which {of_rest:.1%} of the rows have")
    return shown, np.sort(first) if view.in_order else first, [*notes, *view.notes]


def _bars_in_groups(ax: Axes, table: Floats, marks: Floats | None = None) -> list[Handle]:
    """Draw a group of bars for each row of a table, the first on top, with a mark in each bar."""
    n, k = table.shape
    handles: list[Handle] = []
    for i in range(k):
        y = np.arange(n) + 0.8 * ((i + 0.5) / k - 0.5)
        handles.append(ax.barh(y, table[:, i], 0.8 / k, **bar(i)))
        if marks is not None:
            ax.plot(marks[:, i], y, "|", color="black", markersize=5, markeredgewidth=0.9)
    ax.set_ylim(max(n, 1) - 0.5, -0.5)
    return handles


def bar(i: int) -> Look:
    """Return how the bars of the i-th class are drawn."""
    look = {"color": COLOURS[i % MOST], "hatch": HATCHES[i % MOST]}
    return {**look, "edgecolor": "white", "linewidth": 0.3}


def words(view: WordView, ax: On) -> Axes:
    """Draw a bar for each word, in the colour of the class that it speaks for."""
    # An infinite weight ends in an arrow.
    most = min(OF_CLASS, max(2, ALL_WORDS // max(1, len(view.of))))
    by_class = [[i for i, of in enumerate(view.word_class) if of == c] for c in view.of]
    shown = [i for places in by_class for i in places[:most]]
    words, weight = [view.word[i] for i in shown], np.array([view.weight[i] for i in shown])
    of_class = [view.of.index(view.word_class[i]) for i in shown]
    names = class_names([view.classes[c] for c in view.of])
    ax = new_axes(ax, height=max(HEIGHT * 0.6, WORD * len(words) + 0.9) + legend_height(names))
    finite = weight[np.isfinite(weight)]
    width = np.minimum(weight, 1.3 * finite.max(initial=1.0))
    handles: list[Handle] = []
    y, last, places = 0.0, None, []
    for c, w, real in zip(of_class, width.tolist(), weight.tolist(), strict=True):
        y += 0.5 if last not in (None, c) else 0.0
        drawn = ax.barh(y, w, 0.8, **bar(c))
        if c != last:
            handles.append(drawn)
        if not np.isfinite(real):
            put_endless(ax, w, y, 1.0, COLOURS[c % MOST])
        places.append(y)
        y, last = y + 1.0, c
    name_rows(ax, [name_of(word) for word in words], places)
    ax.set_ylim(y - 0.4, -0.6)
    notes = [*and_more(len(view.classes) - len(view.of), "class"), *view.notes]
    said = Said("weight of evidence for the class (nats)", name_of(view.column), notes)
    put_said(ax, said, "right")
    put_legend(ax, handles, [names[c] for c in dict.fromkeys(of_class)], "right")
    return ax


# --- Pictures over two columns: regions of classes, surfaces as filled contours, densities -------


PALE = 0.3  # how opaque a region is
LEVELS = (0.05, 0.2, 0.5, 0.8)  # of the highest density, where contours are
REST = "#F1F1F1"  # regions of classes that are not shown
FAR = 10.0  # nats: beyond, log odds have one colour


def regions(result: Regions, ax: On, what: str, label: Label | None) -> Axes:
    """Draw the regions over two columns, a surface in colours, or contours of densities."""
    x_name, y_name = map(name_of, result.columns)
    of_each = what == "posterior" and label is None and len(result.classes) > 2
    if what in ("posterior", "difference", "margin") and not of_each:
        return draw_surface(result, what, label, ax)
    draw, most = (draw_contours, MOST) if what == "density" else (draw_regions, MOST_CLASSES)
    labels = result.classes.tolist()
    shown, more = _classes(labels, result.class_count, most)
    names = class_names([labels[c] for c in shown])
    ax = draw(result, shown, names, Said(x_name, y_name, [*more, *result.notes]), ax)
    if of_each:  # a white veil, the thicker the less probable the answer is
        veil = np.ones((*result.label.shape, 4))
        veil[..., 3] = np.minimum(1.0, 2.0 - 2.0 * result.posterior.max(axis=2))
        ax.pcolormesh(result.x, result.y, veil, rasterized=True)
    return ax


def _surface(result: Regions, what: str, label: Label | None) -> tuple[Floats, str]:
    """Return how high a surface is at each point, and what that is called."""
    c = result.number(label)
    name = class_name(result.classes[c].item())
    if what == "posterior":
        return result.posterior[:, :, c], f"p({name} | row)"
    if what == "difference":
        return result.log_odds(label), on_lines("log odds of", f"{name} (nats)")
    if what != "margin":
        raise ValueError(f"what must be 'posterior', 'difference' or 'margin', got {what!r}.")
    two = len(result.classes) == 2
    rival = class_name(result.classes[1 - c].item()) if two else "rival"
    return result.margin(label), on_lines(f"p({name} | row) -", f"p({rival} | row)")


def draw_regions(result: Regions, shown: list[int], names: Names, said: Said, ax: On) -> Axes:
    """Colour the region of each class, draw its border, and rows on top."""
    # The border of a class is where it leads its strongest rival by 0 nats, and is drawn as finely
    # as a lead that is a straight line between points is straight. The names of more classes than
    # MOST are written on their regions.
    many, x, y = len(names) > MOST, result.x, result.y
    ax = new_axes(ax, height=HEIGHT + (0.5 if many else legend_height(names)))
    ax.set_facecolor(REST)
    leads = [result.log_odds(result.classes[c]) for c in shown]
    for c, lead in enumerate(leads):
        of = np.clip(lead, -BEYOND, BEYOND)
        if not (of > 0).any():
            continue
        ax.contourf(x, y, of, [0.0, np.inf], colors=[pale(COLOURS[c % MOST])])
        if (of < 0).any():
            ax.contour(x, y, of, [0.0], colors="black", linewidths=0.6, linestyles="-")
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    _finish(ax, result, shown, names, said)
    box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.6}
    for name, lead in zip(names, leads, strict=True) if many else ():
        if (lead > 0).any():
            i, j = _middle(lead > 0)
            ax.text(x[j], y[i], name, ha="center", va="center", fontsize=7, bbox={**box})
    return ax


BEYOND = 50.0  # nats: beyond, a lead is drawn as this


def pale(colour: str) -> tuple[float, float, float]:
    """Return a colour as it looks on white paper when it is PALE."""
    from matplotlib.colors import to_rgb

    r, g, b = (1 - PALE * (1 - part) for part in to_rgb(colour))
    return r, g, b


def _middle(inside: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the point of a region that is farthest from what is outside."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(inside, 1))
    i, j = np.unravel_index(int(depth.argmax()), depth.shape)
    return int(i) - 1, int(j) - 1


def draw_surface(result: Regions, what: str, label: Label | None, ax: On) -> Axes:
    """Draw a surface in colours, with lines where it is equally high."""
    values, name = _surface(result, what, label)
    ax, x, y = new_axes(ax), result.x, result.y
    if diverging := what != "posterior":  # log odds and margins are 0 on a border
        finite = np.abs(values[np.isfinite(values)])
        most = min(FAR, float(finite.max(initial=0.0)) or 1.0)
        cut = bool((finite > most).any() or np.isinf(values).any())
        shown, least = np.clip(values, -most, most), -most
        lines: Sequence[float] = [0.0]
    else:
        cut, shown, least, most = False, values, 0.0, 1.0
        lines = (0.1, 0.5, 0.9)
    cmap = "PuOr_r" if diverging else "Blues"
    mesh = ax.pcolormesh(x, y, shown, cmap=cmap, vmin=least, vmax=most, rasterized=True)
    there = [at for at in lines if np.nanmin(shown) < at < np.nanmax(shown)]
    if there:
        drawn = ax.contour(x, y, shown, there, colors="black", linewidths=0.8)
        ax.clabel(drawn, fmt="%g", fontsize=7)
    ax.figure.colorbar(mesh, ax=ax, label=name, extend="both" if cut else "neither")
    x_name, y_name = map(name_of, result.columns)
    put_said(ax, Said(x_name, y_name, result.notes))
    return ax


def surface(result: Regions, ax: On, what: str, label: Label | None) -> Axes:
    """Draw a surface over the plane of two columns, in three dimensions."""
    values, name = _surface(result, what, label)
    labels = *map(name_of, result.columns), name
    if ax is None:
        figure = pyplot().figure(figsize=(WIDTH, 1.2 * HEIGHT), layout="constrained")
        ax = figure.add_subplot(projection="3d")
    if not hasattr(ax, "plot_surface"):
        raise ValueError('A surface needs Axes of three dimensions: give projection="3d".')
    solid: Any = ax
    shown = np.clip(values, -FAR, FAR)
    solid.plot_surface(
        *np.meshgrid(result.x, result.y), shown, cmap="PuOr_r", linewidth=0, rasterized=True
    )
    solid.set(**dict(zip(("xlabel", "ylabel", "zlabel"), labels, strict=True)))
    solid.zaxis.labelpad = 8 + 8 * name.count("\n")  # beside the numbers, not on them
    solid.set_box_aspect(None, zoom=0.8)  # the label of the height is within the figure
    return ax


def draw_contours(result: Regions, shown: list[int], names: Names, said: Said, ax: On) -> Axes:
    """Draw contours of the density of each class, at shares of its highest, over rows."""
    if result.density is None:
        raise ValueError("The counts of a multinomial have no density; draw what='difference'.")
    ax = new_axes(ax, height=HEIGHT + legend_height(names))
    of_x, of_y = result.density
    for i, c in enumerate(shown):
        density = of_y[:, None, c] * of_x[None, :, c]
        top = float(density[np.isfinite(density)].max(initial=0.0))
        at = [share * top for share in LEVELS]
        if top > 0 and density.min() < at[-1]:
            look: Look = {"colors": COLOURS[i % MOST], "linestyles": [DASHES[i % MOST]]}
            ax.contour(result.x, result.y, density, at, linewidths=0.9, **look)
    notes = [*said.notes, "contours at 5, 20, 50 and 80 % of the highest density"]
    _finish(ax, result, shown, names, said._replace(notes=notes), faint=True)
    return ax


def _finish(
    ax: Axes, result: Regions, shown: list[int], names: Names, said: Said, *, faint: bool = False
) -> None:
    """Draw rows by class, a legend, and the names of the axes."""
    x, y, code = result.sample
    limits = {"xlim": ax.get_xlim(), "ylim": ax.get_ylim()}
    (left, right), (bottom, top) = limits.values()
    inside = (left <= x) & (x <= right) & (bottom <= y) & (y <= top)
    handles: list[Handle] = []
    for c, number in enumerate(shown):
        of = (code == number) & inside
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
        how = {**points(c), **edge, "markersize": 3.0, "alpha": 0.45 if faint else 0.9}
        handles += ax.plot(x[of], y[of], clip_on=False, **how)  # whole at an edge
    ax.set(**limits)
    other = ~np.isin(code, shown)
    if other.any():
        ax.plot(x[other], y[other], ".", color=GREY, markersize=1.5)
    put_said(ax, said)
    if len(names) <= MOST:
        put_legend(ax, handles, names)


# --- Pictures of counts: classes or levels of several tallies, and rows that fade ----------------


LINE = 0.11  # inches that a bar takes
MOST_BARS = 12  # classes or levels that are drawn
MOST_TALLIED = 10  # classes of one tally
LAST = 8  # batches whose rows are told apart


def counts(result: Counts, ax: On) -> Axes:
    """Draw a group of bars for each class or level, of the most frequent, one for each tally."""
    first = frequent(result.count.sum(axis=1), MOST_BARS)
    more = len(result.value) - len(first)
    values, names = [name_of(result.value[i]) for i in first], [*map(name_of, result.names)]
    said = Said("rows (sum of weights)", name_of(result.what), [f"and {more:,} more"] * (more > 0))
    return draw_counts(values, result.count[first], names, said, ax)


def draw_counts(values: Names, count: Floats, names: Names, said: Said, ax: On) -> Axes:
    """Draw a group of bars for each class or level, one for each tally, the first on top."""
    # values: the classes or levels; count (values, tallies): how long the bars are
    high = max(0.6 * HEIGHT, LINE * (len(names) + 1) * len(values) + 0.9)
    ax = new_axes(ax, height=high + legend_height(names))
    handles = _bars_in_groups(ax, count)
    ax.set_yticks(range(len(values)), values)
    put_said(ax, said)
    if len(names) > 1:
        put_legend(ax, handles, names)
    return ax


def tally(result: Tally, ax: On) -> Axes:
    """Draw a bar for the rows of each class, of the most frequent ones."""
    classes, count = result.classes.tolist(), result.class_count
    first = np.sort(np.argsort(-count, kind="stable")[:MOST_TALLIED])
    more = len(classes) - len(first)
    names = [name_of(classes[i]) for i in first.tolist()]
    said = Said("rows (sum of weights)", "class", [f"and {more:,} more classes"] * (more > 0))
    return draw_counts(names, count[first, None], ["rows"], said, ax)


def fading(result: Fading, ax: On) -> Axes:
    """Draw what is left of batches as bars on top of each other, the oldest at the bottom."""
    left = result.left
    names = [f"batch {i + 1}" for i in range(len(left))]
    if len(left) > LAST:  # all that came before the last few as one
        older = len(left) - (LAST - 1)
        left = np.vstack([left[:older].sum(axis=0), left[older:]])
        names = [f"batches 1 to {older}", *names[older:]]
    ax = new_axes(ax, height=HEIGHT + legend_height(names))
    at = np.arange(1, left.shape[1] + 1)
    bottom, handles = np.zeros(left.shape[1]), []
    for i, of in enumerate(left):
        handles.append(ax.bar(at, of, 0.8, bottom=bottom, **bar(i)))
        bottom = bottom + of
    whole_numbers(ax.xaxis)
    decay = f"factor {result.factor:g}, half-life {result.half_life:.3g} batches"
    put_said(ax, Said("batch", "effective rows", [decay]))
    put_legend(ax, handles, names)
    return ax
