"""Weights of features and of evidence as horizontal bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import COLOURS, GREY, LONGEST, MOST, name_of, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.15  # inches that a bar takes
ACROSS = 42  # characters of a legend that the axes are wide
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "+++", "ooo")  # in black and white


def draw_weights(
    names: Sequence[str],
    weight: NDArray[np.float64],
    labels: Sequence[object],
    what: str,
    intercept: NDArray[np.float64],
    ax: Axes | None = None,
) -> Axes:
    """Draw the weights of features, the first on top.

    Parameters
    ----------
    names : sequence of str
        The features.
    weight : ndarray of shape (classes, features)
        Their weights; one row for two classes.
    labels : sequence
        The class of each row.
    what : str
        What the weights add up to.
    intercept : ndarray of shape (classes,)
        What they are added to.
    ax : Axes, optional
        What to draw on.
    """
    k = min(len(weight), MOST)
    ax = new_axes(ax, height=1.0 + (BAR + 0.07 * (k - 1)) * max(len(names), 4))
    place, thick = np.arange(len(names)), 0.8 / k
    with styled():
        for c in range(k):
            ax.barh(
                place + (c - (k - 1) / 2) * thick,
                weight[c],
                thick * 0.9,
                color=COLOURS[c],
                hatch=HATCHES[c],
                edgecolor="white",
                linewidth=0,
                label=name_of(labels[c]),
            )
        ax.axvline(0.0, color=GREY, lw=0.7)
        ax.set_yticks(place, [name_of(name) for name in names], fontsize=7)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
        ax.set_xlabel(f"weight, {name_of(what) if len(weight) > 1 else 'log odds'} (nats)")
        if len(weight) == 1:
            ax.set_title(f"{what.replace('$', '')}\nintercept {intercept[0]:+.3f}", loc="left")
        else:
            more = f"the first {k} of {len(weight):,} classes" if len(weight) > k else None
            widest = max(len(name_of(label)) for label in labels[:k]) + 5
            ax.legend(
                loc="lower left",
                bbox_to_anchor=(0, 1),
                ncols=max(min(k, ACROSS // widest), 1),
                title=more,
                borderaxespad=0,
                columnspacing=1,
                handlelength=1.2,
            )
    return ax


def draw_strongest(
    items: Mapping[object, Sequence[tuple[str, str, float]]], ax: Axes | None = None
) -> Axes:
    """Draw the items of each class and their weights of evidence, class under class.

    Parameters
    ----------
    items : mapping of labels to sequences of (str, str, float)
        The column and the value of each item, either of which may be empty, and its weight;
        strongest first.
    ax : Axes, optional
        What to draw on.
    """
    shown = list(items.items())[:MOST]
    lines = sum(len(of) + 1 for _, of in shown)
    ax = new_axes(ax, height=0.7 + BAR * max(lines, 4))
    finite = [w for _, of in shown for *_, w in of if np.isfinite(w)]
    most = 1.1 * max(finite, default=1.0)  # what is impossible elsewhere has a bar to the end
    places, names, y = [], [], 0
    with styled():
        for c, (label, of) in enumerate(shown):
            ax.text(0.0, y, f" {name_of(label)}", va="center", weight="bold", color=COLOURS[c])
            rows = np.arange(y + 1, y + 1 + len(of))
            width = [min(w, most) for *_, w in of]
            ax.barh(rows, width, 0.7, color=COLOURS[c], label=name_of(label))
            for row, (*_, w) in zip(rows.tolist(), of, strict=True):
                if w == np.inf:
                    ax.text(most, row, "∞ ", ha="right", va="center", color="white")
            places += rows.tolist()
            names += [_item(column, value) for column, value, _ in of]
            y += len(of) + 1
        ax.set_yticks(places, names, fontsize=7)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(max(y, 1) - 0.4, -0.6)
        ax.set_xlim(min([0.0, *finite]), most)
        ax.set_xlabel("weight of evidence (nats)")
        if len(items) > MOST:
            ax.set_title(f"the first {MOST} of {len(items):,} classes", loc="left")
    return ax


def _item(column: str, value: str) -> str:
    """Return what an item is called: of a long name the column is cut, and the value stays."""
    if not (column and value):
        return name_of(column or value)
    room = max(LONGEST - len(value) - 3, 8)
    short = column if len(column) <= room else f"{column[: room - 1]}…"
    return name_of(f"{short} = {value}")
