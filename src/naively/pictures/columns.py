"""Pictures of one column by class: densities over the data, levels as bars, telling words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import (
    COLOURS,
    GREY,
    HEIGHT,
    MOST,
    line,
    name_of,
    new_axes,
    points,
    styled,
)
from naively.pictures.legend import legend_height, put_legend, put_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
BAR, WORD = 0.095, 0.115  # inches that a bar takes, and one with a name of its own
LEAST = 1e-12  # of the greatest density, where a logarithmic axis ends
FAINT = 0.16  # how opaque the data are
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo")


@styled()
def draw_densities(
    x: NDArray[Any],
    density: Floats,
    names: Sequence[str],
    *,
    labels: tuple[str, str],
    stems: bool = False,
    log: bool = False,
    edges: NDArray[Any] | None = None,
    observed: Floats | None = None,
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a line, or stems, for each class over a faint histogram of its data.

    Parameters
    ----------
    x : ndarray of shape (points,)
        Numbers or times.
    density : ndarray of shape (points, classes)
        The density, or probability, at each.
    names : sequence of str
        Of the classes, at most ``MOST``.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    stems : bool
        Whether the numbers are whole, so that there is nothing between them.
    log : bool
        Whether both axes are logarithmic; the vertical one ends at the least density, or at
        ``LEAST`` of its top.
    edges, observed : ndarray of shape (bins + 1,) and (bins, classes), optional
        A histogram of the data.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax, height=HEIGHT + legend_height(names))
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    handles: list[Any] = []
    for i in range(len(names)):
        if observed is not None and edges is not None:
            heights = np.repeat(observed[:, i], 2)
            sides = np.stack([edges[:-1], edges[1:]], axis=1).ravel()
            ax.fill_between(sides, heights, color=COLOURS[i % MOST], alpha=FAINT, linewidth=0)
        handles.append(_of_counts(ax, x, density[:, i], i, len(names)) if stems else None)
        if not stems:
            handles[-1] = ax.plot(x, density[:, i], **line(i))[0]
    top = float(density[np.isfinite(density)].max(initial=0.0))
    if observed is not None:
        highest = float(observed.max(initial=0.0))
        if highest > 3 * top and not log:
            notes = [*notes, "bars of the data are cut"]
        top = max(top, highest if log else min(highest, 3 * top))
    least = max(LEAST * top, float(density[density > 0].min(initial=top))) / 2
    ax.set_ylim(least if log and top > 0 else 0, (2.0 if log else 1.05) * top or 1.0)
    if x.dtype.kind == "M":
        _date(ax)
    ax.set_ylabel(labels[1])
    put_notes(ax, labels[0], notes)
    put_legend(ax, handles, names)
    return ax


def _date(ax: Axes) -> None:
    """Write few dates, and in short."""
    from matplotlib import dates

    new: Any = dates
    locator = new.AutoDateLocator(minticks=3, maxticks=6)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(new.ConciseDateFormatter(locator))


def _of_counts(ax: Axes, x: NDArray[Any], p: Floats, i: int, n: int) -> Any:
    """Draw the probabilities of whole numbers as stems, beside those of other classes."""
    step = float(np.diff(x).min()) if len(x) > 1 else 1.0
    at = x + step * 0.6 * (i - (n - 1) / 2) / n
    ax.vlines(at, 0, p, color=COLOURS[i % MOST], linewidth=0.9)
    return ax.plot(at, p, **points(i))[0]


@styled()
def draw_levels(
    levels: Sequence[str],
    p: Floats,
    observed: Floats | None,
    names: Sequence[str],
    *,
    labels: tuple[str, str],
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a group of horizontal bars for each level, one for each class, the first on top.

    Parameters
    ----------
    levels : sequence of str
        The levels.
    p : ndarray of shape (levels, classes)
        How long the bars are.
    observed : ndarray of shape (levels, classes), optional
        What was counted, as a mark in each bar.
    names : sequence of str
        Of the classes, at most ``MOST``.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    k = len(names)
    ax = new_axes(
        ax, height=max(HEIGHT * 0.6, BAR * (k + 0.8) * len(levels) + 0.9) + legend_height(names)
    )
    at, handles = np.arange(len(levels)), []
    for i in range(k):
        y = at + 0.8 * ((i + 0.5) / k - 0.5)
        handles.append(ax.barh(y, p[:, i], 0.8 / k, **bar(i)))
        if observed is not None:
            ax.plot(observed[:, i], y, "|", color="black", markersize=5, markeredgewidth=0.9)
    ax.set_yticks(at, [name_of(level) for level in levels])
    ax.set_ylim(max(len(levels), 1) - 0.5, -0.5)
    ax.set_xlim(0, None)
    ax.set_ylabel(labels[1])
    put_notes(ax, labels[0], notes, "right")
    put_legend(ax, handles, names, "right")
    return ax


def bar(i: int) -> dict[str, Any]:
    """Return how the bars of the i-th class are drawn."""
    place = i % MOST
    return {
        "color": COLOURS[place],
        "hatch": HATCHES[place],
        "edgecolor": "white",
        "linewidth": 0.3,
    }


@styled()
def draw_words(
    words: Sequence[str],
    weight: Floats,
    of_class: Sequence[int],
    names: Sequence[str],
    *,
    labels: tuple[str, str],
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each word, in the colour of the class that it speaks for.

    Parameters
    ----------
    words : sequence of str
        The words, those of one class together.
    weight : ndarray of shape (words,)
        How long the bars are, in nats; an infinite one is cut.
    of_class : sequence of int
        The number of the class of each word.
    names : sequence of str
        Of the classes, at most ``MOST``.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax, height=max(HEIGHT * 0.6, WORD * len(words) + 0.9) + legend_height(names))
    finite = weight[np.isfinite(weight)]
    width = np.minimum(weight, 1.3 * finite.max(initial=1.0))
    y, last, handles = 0.0, None, []
    places = []
    for c, w, real in zip(of_class, width.tolist(), weight.tolist(), strict=True):
        y += 0.5 if last not in (None, c) else 0.0
        drawn = ax.barh(y, w, 0.8, **bar(c))
        if c != last:
            handles.append(drawn)
        if not np.isfinite(real):
            ax.annotate("∞", (w, y), (2, 0), textcoords="offset points", va="center", color=GREY)
        places.append(y)
        y, last = y + 1.0, c
    ax.set_yticks(places, [name_of(word) for word in words])
    ax.set_ylim(y - 0.4, -0.6)
    ax.set_ylabel(labels[1])
    put_notes(ax, labels[0], notes, "right")
    put_legend(ax, handles, [names[c] for c in dict.fromkeys(of_class)], "right")
    return ax
