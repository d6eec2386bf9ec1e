"""Pictures of weights of evidence: explanations, nomograms, images, weights, parameter counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from naively.counting.labels import Label
from naively.inspect.explain import of_all_and_two
from naively.inspect.graph import drawn_columns
from naively.inspect.odds import Strongest
from naively.inspect.odds import written as written_value
from naively.inspect.rules import Conditions, Rules
from naively.model.class_prior import and_more, frequent
from naively.wings.pictures.axes import (
    COLOURS,
    GREY,
    HEIGHT,
    LONGEST,
    MOST,
    SMALL,
    SMALLEST,
    WIDTH,
    Floats,
    Look,
    Names,
    On,
    Said,
    class_axis,
    class_name,
    class_names,
    inches,
    line,
    name_of,
    name_rows,
    new_axes,
    put_endless,
    put_said,
    size_of_names,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.events.outcomes import Probabilities
    from naively.inspect.difference import Difference
    from naively.inspect.explain import ClassImages, EvidenceImage, Explanation, Waterfall, Weighed
    from naively.inspect.graph import NaiveGraph
    from naively.inspect.odds import Nomogram
    from naively.inspect.parameters import Linear, ParameterCounts, Parameters
    from naively.model.model import Weights

LINE = 0.17  # inches that a step takes
FOR, AGAINST = COLOURS[0], COLOURS[1]
DIVERGING = "PuOr_r"  # told apart by the colour-blind
BEYOND = 1.2  # how far a bar without end goes, of the range of the others


def waterfall(result: Waterfall, ax: On) -> Axes:
    """Draw a bar for each weight, from where the last ended, the first on top."""
    # An infinite weight is an arrow beyond all others; the interval of the sum is below the last.
    items, weight, ends = result.item, np.array(result.weight), result.ends
    label = f"log odds (nats)\n{class_name(result.label)} against {class_name(result.against)}"
    title = f"all impossible: the prior decides ({result.probability:.2f})"
    if not np.isnan(result.log_odds):
        probability = of_all_and_two(result.log_odds, result.probability)
        title = f"log odds {result.log_odds:.2f} (probability {probability})".replace("inf", "∞")
    title = f"{title}\n{result.sure}" if result.sure else title
    ax = new_axes(ax, height=max(HEIGHT * 0.6, LINE * len(items) + 0.8))
    real = np.isfinite(weight)
    drawn = np.where(real, weight, 0.0)
    end = np.cumsum(drawn)
    start = end - drawn
    # What is infinite goes beyond all others, and the others go on as if it were not there.
    least, most = float(end.min(initial=0.0)), float(end.max(initial=0.0))
    far = (BEYOND - 1.0) * max(1.0, most - least)
    drawn = np.where(real, drawn, np.where(weight > 0, most + far, least - far) - start)
    y = np.arange(len(items))
    for up, colour, hatch in ((True, FOR, ""), (False, AGAINST, "////")):
        of = (drawn > 0) == up
        how: Look = {"color": colour, "hatch": hatch, "edgecolor": "white"}
        ax.barh(y[of], drawn[of], 0.72, left=start[of], linewidth=0.3, **how)
    for i, at in enumerate(end[:-1]):
        ax.plot([at, at], [i, i + 1], color=GREY, linewidth=0.6)
    ax.axvline(0, color=GREY, linewidth=0.6)
    right = np.maximum(start, start + drawn)
    for i, w in enumerate(weight.tolist()):
        if not np.isfinite(w):
            put_endless(ax, float(start[i] + drawn[i]), i, w, FOR if w > 0 else AGAINST)
            continue
        ax.annotate(
            f"{w:+.2f}", (right[i], i), (2, 0), textcoords="offset points", va="center", fontsize=7
        )
    ax.use_sticky_edges = False
    ax.margins(x=0.13, y=0.0)
    low, high = ax.get_xlim()  # where a bar ends no margin is left, and its number stands there
    ax.set_xlim(low, max(high, float(right.max()) + 0.13 * (high - low)))
    name_rows(ax, [name_of(item) for item in items])
    ax.set_ylim(len(items) - 0.4, -0.6)
    if ends is not None and len(items):
        low, high, below = *ends, len(items) - 0.3
        sum_ = float(end[-1])
        error = [[max(sum_ - low, 0.0)], [max(high - sum_, 0.0)]]
        ax.errorbar([sum_], [below], xerr=error, fmt="o", color=GREY, capsize=2, elinewidth=1.2)
        ax.set_ylim(len(items) + 0.1, -0.6)
    ax.set_title(title, loc="right")
    notes = ["other bars go on as if there were no ∞"] * (not real.all())
    put_said(ax, Said(label, notes=notes), "right")
    return ax


# --- Pictures of images: the means of classes side by side, and the evidence of each pixel -------


GAP, NAME = 0.12, 0.42  # of an image's width and height: beside it, and above it for its name
PER_LINE = 5
MOST_IMAGES = 20  # classes that are drawn


def class_images(result: ClassImages, ax: On) -> Axes:
    """Draw the mean image of each class, on one scale of grey, each under its name."""
    shown = frequent(result.class_count, MOST_IMAGES)
    notes = and_more(len(result.classes) - len(shown), "class")
    names = [name_of(result.classes[c]) for c in shown]
    label = class_axis("mean") if result.target else "mean of the class"
    images = result.mean[shown]
    n, height, width = images.shape
    across = min(n, PER_LINE)
    down = -(-n // across)
    aspect = (1 + NAME) * height * down / ((1 + GAP) * width * across)
    ax = new_axes(ax, height=min(3 * HEIGHT, max(0.4 * HEIGHT, (WIDTH - 0.6) * aspect + 0.3)))
    finite = images[np.isfinite(images)]
    least, most = float(finite.min(initial=0.0)), float(finite.max(initial=0.0)) or 1.0
    how: Look = {"cmap": "Greys", "interpolation": "nearest", "vmin": least, "vmax": most}
    for i, name in enumerate(names):
        left = (i % across) * (1 + GAP) * width
        top = (i // across) * (1 + NAME) * height
        drawn = ax.imshow(images[i], extent=(left, left + width, top + height, top), **how)
        ax.text(left + width / 2, top - 0.04 * height, name, ha="center", va="bottom", fontsize=7)
    ax.set_xlim(-GAP * width, across * (1 + GAP) * width)
    ax.set_ylim(down * (1 + NAME) * height - 0.3 * height, -NAME * height)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    if n:
        ax.figure.colorbar(drawn, ax=ax, label=label, shrink=0.8)
    put_said(ax, Said(notes=notes))
    return ax


def evidence_image(result: EvidenceImage, ax: On) -> Axes:
    """Draw the weight of each pixel in colours that diverge from 0 to either side alike."""
    ax, weight = new_axes(ax), result.weight
    finite = weight[np.isfinite(weight)]  # what is infinite has the colour of the largest
    most = float(np.abs(finite).max(initial=0.0)) or 1.0
    shown = np.clip(weight, -most, most)
    drawn = ax.imshow(shown, cmap=DIVERGING, vmin=-most, vmax=most, interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(drawn, ax=ax, label="weight of evidence (nats)")
    ax.set_title(f"{class_name(result.label)} against {class_name(result.against)}")
    return ax


# --- The picture of a nomogram: lines with values on them, and a scale of the sum below ----------


COLUMN, LEAST_COLUMN = 0.36, 0.21  # inches that a column takes, and at least
SIZE = 5.5  # points, of the values
CHARACTER = 0.6 * SIZE / 72  # inches, that a character of a value takes
FAR = 12.0  # nats, beyond which a line ends in an arrow


def nomogram(result: Nomogram, ax: On) -> Axes:
    """Draw a line for each column with its values at their weights, and below what sums mean."""
    # A value is written above its line where the weight grows with the value, else below it; values
    # whose names would overlap have a mark only. Those of several lines take more room.
    scales, notes = result.scales, [*result.notes]
    name = class_name(result.label)
    against = "all others" if result.against is None else class_name(result.against)
    if ax is not None and len(scales) > (few := max(2, int(inches(ax)[1] / LEAST_COLUMN) - 2)):
        notes.append(f"of {len(scales)} columns there is room for {few}")
        scales = scales[:few]
    written = [[*map(_on_lines, of.value)] for of in scales]
    size = [1 + 0.72 * max((v.count("\n") for v in values), default=0) for values in written]
    places = np.cumsum([0.5 * size[0], *((a + b) / 2 for a, b in pairwise(size))]) - 0.5
    below = float(places[-1]) + size[-1] / 2 + 0.8
    ax = new_axes(ax, height=max(0.8 * HEIGHT, COLUMN * (below + 1.3) + 0.7))
    every = np.concatenate(
        [*(np.append(of.weight, (of.low, of.high)) for of in scales), [-0.5, 0.5]]
    )
    some = every[np.abs(every) <= FAR]
    low, high = float(some.min()), float(some.max())
    low, high = min(low, -0.3 * high), max(high, -0.3 * low)  # the sums go either way
    least, most = (
        end + sign * 0.08 * (high - low) if (sign * every > FAR).any() else end
        for end, sign in ((low, -1.0), (high, 1.0))
    )
    room = 0.06 * (most - least)
    ax.set_xlim(least - room, most + room)
    ax.set_ylim(below + 0.8, -0.8)
    ax.axvline(0, color=GREY, linewidth=0.5, linestyle=":")
    names = [*(name_of(of.column) for of in scales), "sum of weights", f"p({name})"]
    small = size_of_names(ax, below + 1.6)
    ax.set_yticks([*places, below - 0.28, below + 0.32], names, fontsize=small)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    if (np.isfinite(every) & (np.abs(every) > FAR)).any():
        notes.append(f"arrows with a number: beyond {FAR:g} nats")
    said = Said(f"weight of evidence (nats)\n{name} against {against}", notes=notes)
    put_said(ax, said, "right")
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # so that it is known how wide the Axes are, beside the names
    wide, tall = inches(ax)
    inch = (most - least + 2 * room) / wide
    sides = 1 + (tall > 0.8 * COLUMN * (below + 1.6))
    for y, values, of in zip(places.tolist(), written, scales, strict=True):
        weight, ends = of.weight, np.clip((of.low, of.high), least, most)
        ax.plot(ends, [y, y], color=COLOURS[0], linewidth=0.9)
        at = np.where(weight < -FAR, least, np.where(weight > FAR, most, weight))
        for mark, part in (("<", weight < -FAR), ("|", at == weight), (">", weight > FAR)):
            ax.plot(at[part], np.full(part.sum(), y), mark, color=COLOURS[0], markersize=5)
        far = [f" ({w:+.0f})".replace("inf", "∞") if abs(w) > FAR else "" for w in weight]
        _write(ax, [*map("".join, zip(values, far, strict=True))], at, y, inch, sides)
    _draw_sums(ax, result.probabilities, below, (least, most), inch)
    return ax


def _draw_sums(
    ax: Axes,
    probabilities: Mapping[float, float],
    below: float,
    ends: tuple[float, float],
    inch: float,
) -> None:
    """Draw the sums on a scale of their own, which shares the 0 of the weights."""
    least, most = ends
    sums = np.array([*probabilities.values()])
    scale = max(sums.max() / most, sums.min() / least, 1e-9)
    ax.plot([sums.min() / scale, sums.max() / scale], [below, below], color="black", linewidth=0.9)
    taken: list[tuple[float, float]] = []
    for i in np.argsort(np.abs(sums), kind="stable").tolist():
        total, p = float(sums[i]), [*probabilities][i]
        x, half = total / scale, 2.3 * CHARACTER * inch
        ax.plot([x], [below], "|", color="black", markersize=5)
        if any(abs(x - other) < half + wide for other, wide in taken):
            continue
        taken.append((x, half))
        ax.text(x, below - 0.17, f"{total:+.1f}", ha="center", va="bottom", fontsize=SIZE)
        ax.text(x, below + 0.19, f"{p:g}", ha="center", va="top", fontsize=SIZE)


def _on_lines(value: object) -> str:
    """Write a value: what rules say has a line for each column."""
    if isinstance(value, Conditions):
        return "\n".join(map(name_of, value.lines.split("\n")))
    return name_of(written_value(value))


def _write(ax: Axes, values: Names, at: Floats, y: float, inch: float, sides: int) -> None:
    """Write values at their weights where there is room, the outermost first."""
    # inch is how many nats wide one is; on one side, all are above the line.
    grows = np.gradient(at) >= 0 if len(at) > 1 else np.array([True])
    middle = (at.min() + at.max()) / 2 if len(at) else 0.0
    taken: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    least, most = ax.get_xlim()
    for i in np.argsort(-np.abs(at - middle), kind="stable").tolist():
        longest = max(map(len, values[i].split("\n")))
        half = (0.5 * longest + 0.4) * CHARACTER * inch
        x = float(np.clip(at[i], least + half, most - half)) if 2 * half < most - least else at[i]
        for above in (bool(grows[i]), not grows[i]) if sides == 2 else (True,):
            if all(abs(x - other) > half + wide for other, wide in taken[above]):
                taken[above].append((x, half))
                off, side = (-0.17, "bottom") if above else (0.19, "top")
                ax.text(x, y + off, values[i], ha="center", va=side, fontsize=SIZE)
                break


# --- How the number of parameters grows with the number of columns -------------------------------


def parameter_counts(result: ParameterCounts, ax: On) -> Axes:
    """Draw the logarithms of the numbers of parameters, by the number of columns."""
    # No float holds 2 to the number of columns where these are many. So the axis is of the
    # logarithm, and its labels say which power it is.
    from matplotlib.ticker import FuncFormatter

    ax = new_axes(ax)
    columns = np.arange(1, len(result.log2_without) + 1)
    with_it = [math.log2(n) if n else -math.inf for n in result.with_assumption]
    drawn = (result.log2_without, "joint table"), (with_it, "naive Bayes")
    for i, (log2, name) in enumerate(drawn):
        y = np.array([n if math.isfinite(n) else np.nan for n in log2], np.float64)
        label = f"{name}: without end" if not np.isfinite(log2).any() else name
        ax.plot(columns, y, **line(i), label=label)
    ax.set(xlabel="columns", ylabel="parameters (log scale)")
    whole_numbers(ax.xaxis)
    whole_numbers(ax.yaxis, 6)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"$2^{{{y:.0f}}}$"))
    ax.legend(loc="upper left")
    return ax


# --- Weights of features and of evidence as horizontal bars --------------------------------------


BAR, LEAST_BAR = 0.15, 0.085  # inches that a bar takes, and at least
ACROSS = 42  # characters of a legend that the axes are wide
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++", "ooo")  # in black and white


def linear(result: Linear, ax: On, n: int) -> Axes:
    """Draw the weights of the n features that weigh most, the first on top."""
    best = np.argsort(-np.abs(result.coef).max(axis=0, initial=0.0), kind="stable")[:n]
    names, weight = result.feature_names[best].tolist(), result.coef[:, best]
    labels, what = result.classes.tolist(), "log likelihood"
    if len(labels) == 2:
        what = f"log odds of {class_name(labels[1])} against {class_name(labels[0])}"
    k = min(len(weight), MOST)
    ax = new_axes(ax, height=1.0 + (BAR + 0.07 * (k - 1)) * max(len(names), 4))
    place, thick = np.arange(len(names)), 0.8 / k
    shown = class_names(result.labels[:k])
    for c in range(k):
        look: Look = {"color": COLOURS[c], "hatch": HATCHES[c], "label": shown[c]}
        y = place + (c - (k - 1) / 2) * thick
        ax.barh(y, weight[c], thick * 0.9, edgecolor="white", linewidth=0, **look)
    ax.axvline(0.0, color=GREY, lw=0.7)
    name_rows(ax, [name_of(name) for name in names])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.set_xlabel(f"weight, {what if len(weight) > 1 else 'log odds'} (nats)")
    if len(weight) == 1:
        ax.set_title(f"{what}\nintercept {result.intercept[0]:+.3f}", loc="left")
    else:
        more = f"the first {k} of {len(weight):,} classes" if len(weight) > k else None
        fit = max(min(k, ACROSS // (max(map(len, shown)) + 5)), 1)
        where: Look = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0}
        ax.legend(ncols=fit, title=more, columnspacing=1, handlelength=1.2, **where)
    return ax


def strongest(result: Strongest, ax: On) -> Axes:
    """Draw the items of each class and their weights of evidence, class under class."""
    items = result.by_class
    several = len({column for of in items.values() for column, _, _ in of}) > 1
    shown = list(items.items())[:MOST]
    if ax is not None and shown:  # as many as there is room for
        room = max(1, int(inches(ax)[1] / LEAST_BAR / len(shown)) - 1)
        shown = [(label, of[:room]) for label, of in shown]
    named = [[_item(column, value, several) for column, value, _ in of] for _, of in shown]
    size = [[1 + 0.8 * name.count("\n") for name in of] for of in named]
    lines = sum(sum(of) + 1 for of in size)
    ax = new_axes(ax, height=0.7 + BAR * max(lines, 4))
    finite = [w for _, of in shown for *_, w in of if np.isfinite(w)]
    # What is impossible elsewhere has a bar that is longer than all others, and ends in an arrow.
    most = 1.1 * max(finite, default=1.0)
    places, y = [], 0.0
    names = class_names([label for label, _ in shown])
    small = size_of_names(ax, lines)
    for c, (name, (_, of), high) in enumerate(zip(names, shown, size, strict=True)):
        how: Look = {"weight": "bold", "color": COLOURS[c], "fontsize": small + 1}
        ax.text(0.0, y, f" {name}", va="center", **how)
        rows = y + 0.5 + np.cumsum(high) - 0.5 * np.array(high)
        ax.barh(rows, [min(w, most) for *_, w in of], 0.7, color=COLOURS[c], label=name)
        for row, (*_, w) in zip(rows.tolist(), of, strict=True):
            if w == np.inf:
                put_endless(ax, most, row, w, COLOURS[c])
        places += rows.tolist()
        y += sum(high) + 1
    ax.set_yticks(places, [name for of in named for name in of], fontsize=small)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(y, 1) - 0.4, -0.6)
    endless = any(w == np.inf for _, of in shown for *_, w in of)
    ax.set_xlim(min([0.0, *finite]), most * (1.15 if endless else 1.0))
    ax.set_xlabel("weight of evidence for the class (nats)", loc="right")
    if len(items) > MOST:
        ax.set_title(f"the first {MOST} of {len(items):,} classes", loc="left")
    return ax


def rules(result: Rules, ax: On, n: int) -> Axes:
    """Draw the n cells of the largest weights, below the class that each speaks for."""
    of: dict[Label, list[Weighed]] = {}
    for conditions, label, weight in result.strongest(n):
        of.setdefault(label, []).append(("", conditions, weight))
    return strongest(Strongest(of), ax)


def _item(column: str, value: object, several: bool) -> str:
    """Return what an item is called: of a long name the column is cut, and the value stays."""
    match value:
        case None:
            return name_of(column)
        case Conditions():  # which name their columns
            return _on_lines(value)
        case float():
            value = f"{value:.4g}"
    written = str(value)
    if not several or not written:
        return name_of(written or column)
    room = max(LONGEST - len(written) - 3, 8)
    short = column if len(column) <= room else f"{column[: room - 1]}…"
    return name_of(f"{short} = {written}")


def parameters(result: Parameters, ax: On, kind: str, notes: Names, *, count: bool) -> Axes:
    """Draw a table of the parameters of one kind, items by classes."""
    table, k = result.to_dict(), len(result.classes)
    columns, items = table["column"][::k], table["item"][::k]
    several = len(set(columns)) > 1
    names = [
        name_of(c if item is None else f"{c} = {item}" if several else item)
        for c, item in zip(columns, items, strict=True)
    ]
    values = np.array(table["count" if count else "value"], np.float64).reshape(-1, k)
    labels = [name_of(label) for label in result.classes.tolist()]
    what, said = "count" if count else kind, Said(class_axis(), notes=notes)
    return draw_table(values, names, labels, what, said, ax)


def draw_table(
    values: Floats,
    rows: Names,
    columns: Names,
    label: str,
    said: Said,
    ax: On = None,
    *,
    diverging: bool = False,
) -> Axes:
    """Draw a table of numbers as a heat map, from 0 or the least, with each number in its cell."""
    # values (rows, columns): NaN is left white; rows: their names; label: what the numbers are
    ax = new_axes(ax, height=0.8 + 0.16 * max(len(rows), 4))
    finite = values[np.isfinite(values)]
    least, most = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
    least = -max(most, -least) if diverging else least
    most = -least if diverging else most
    most = most if most > least else least + 1.0
    cmap = DIVERGING if diverging else "Blues"
    mesh = ax.imshow(values, cmap=cmap, vmin=least, vmax=most, aspect="auto")
    name_rows(ax, rows)
    beside = max((len(a) + len(b) for a, b in pairwise(columns)), default=0) / 2 + 1
    wide = beside * len(columns) > ACROSS + 4 - max(map(len, rows), default=0)
    turned = 90 if wide and max(map(len, columns)) > 1 else 0
    size = SMALL if len(columns) <= MOST else SMALLEST
    ax.set_xticks(range(len(columns)), list(columns), rotation=turned, fontsize=size)
    ax.tick_params(length=0)
    if len(columns) <= MOST:
        written, small = ("{:+.1f}", 6) if diverging else ("{:.3g}", 7)
        for (i, j), value in np.ndenumerate(values):
            if np.isfinite(value):
                far = abs(value) if diverging else value - least
                dark = far > 0.6 * (most if diverging else most - least)
                how: Look = {"color": "white" if dark else "black", "fontsize": small}
                ax.text(j, i, written.format(value), ha="center", va="center", **how)
    ax.figure.colorbar(mesh, ax=ax, label=label)
    put_said(ax, said)
    return ax


def probabilities(result: Probabilities, ax: On) -> Axes:
    """Draw probabilities as a table: the values of the last column across, all others down."""
    *others, last = result.values
    *names, name = map(name_of, (*result.given, *result.of))
    across, p = [*map(name_of, last)], result.p.reshape(-1, len(last))
    if not others:
        ends = [(0.0, at) for at in p[0].tolist()]
        return draw_ends(across, ends, p[0].tolist(), Said("probability", name), ax)
    rows = [name_of(", ".join(map(str, each))) for each in product(*others)]
    down = ", ".join(names)
    said = Said(name, f"given {down}" if len(names) == len(result.given) else down)
    return draw_table(p, rows, across, "probability", said, ax)


MOST_ROWS = 40  # of an explanation of many rows


def explanation(result: Explanation, ax: On, label: Label | None, n: int) -> Axes:
    """Draw the weights of evidence of rows as a table, of the n columns that say most."""
    matrix = result.matrix(label)
    weight = np.column_stack([matrix.base, matrix.weight])[:MOST_ROWS]
    names = ["prior", *matrix.columns]
    most = [0, *(1 + np.argsort(-np.abs(matrix.weight).mean(axis=0), kind="stable")[:n])]
    answers = [row.classes[row.best] if label is None else label for row in result.rows]
    rows = [f"{i}: {name_of(answer)}" for i, answer in enumerate(answers[:MOST_ROWS])]
    more = [f"the first {MOST_ROWS} of {len(answers):,} rows"] * (len(answers) > MOST_ROWS)
    said = Said("column", "row: for which class", more)
    columns = [name_of(names[j]) for j in most]
    what = "weight of evidence (nats)"
    return draw_table(weight[:, most], rows, columns, what, said, ax, diverging=True)


def draw_ends(
    names: Names, ends: Sequence[tuple[float, float]], at: Sequence[float], said: Said, ax: On
) -> Axes:
    """Draw a line from one number to another for each name, the first on top, with a mark on it."""
    ax = new_axes(ax, height=0.8 + LINE * max(len(names), 4))
    for i, ((begin, end), mark) in enumerate(zip(ends, at, strict=True)):
        ax.plot([begin, end], [i, i], color=GREY, linewidth=1.4)
        ax.plot([mark], [i], "o", color=COLOURS[0])
    name_rows(ax, names)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    put_said(ax, said, "right")
    return ax


def difference(result: Difference, ax: On) -> Axes:
    """Draw how weights of evidence have moved, from before to after, which is marked."""
    moved = [of for of in result.changes if of.what == "evidence" and np.isfinite(of.change or 0)]
    names = [
        f"{_item(str(of.column), of.item, several=True)}, {class_name(of.label)}" for of in moved
    ]
    ends = [(of.before, of.after) for of in moved]
    notes = [] if moved else ["no weight of evidence is listed as changed"]
    said = Said("weight of evidence, from before to after (nats)", notes=notes)
    drawn = draw_ends(names, ends, [of.after for of in moved], said, ax)
    drawn.axvline(0, color=GREY, linewidth=0.6, linestyle=":")
    return drawn


def weights(result: Weights, ax: On, n: int) -> Axes:
    """Draw the n greatest weights: the mean over the classes, from the least to the greatest."""
    of = {name: [*by_class.values()] for name, by_class in result.by_name.items()}
    names = sorted(of, key=lambda name: -float(np.mean(of[name])))[:n]
    ends = [(min(of[name]), max(of[name])) for name in names]
    more = [f"{n} of {len(of):,} parts"] * (len(of) > n)
    said = Said("weight: mean, least and greatest of the classes", notes=more)
    at = [float(np.mean(of[name])) for name in names]
    drawn = draw_ends([*map(name_of, names)], ends, at, said, ax)
    drawn.set_xlim(left=0.0)
    return drawn


def graph(result: NaiveGraph, ax: On) -> Axes:
    """Draw the class above the columns, with an arrow to each; "..." stands for those left out."""
    label, columns = result.label, drawn_columns(result.columns)
    n = max(len(columns), 1)
    ax = new_axes(ax, width=max(WIDTH, 0.75 * n), height=0.6 * HEIGHT)
    ring = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": COLOURS[0]}
    top = (n - 1) / 2, 1.0
    arrow = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 12, "shrinkB": 12}
    for i, name in enumerate(columns):
        box = None if name == "..." else ring
        if box:
            ax.annotate("", (i, 0.0), top, arrowprops=arrow)
        ax.text(i, 0.0, name_of(name), ha="center", va="center", fontsize=7, bbox=box)
    ax.text(*top, name_of(label), ha="center", va="center", bbox={**ring, "edgecolor": COLOURS[1]})
    ax.set(xlim=(-0.6, n - 0.4), ylim=(-0.35, 1.35))
    ax.axis("off")
    return ax
