"""Pictures of counts: classes or levels of several tallies, and rows that fade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import HEIGHT, name_of, new_axes, styled
from naively.pictures.columns import bar
from naively.pictures.legend import legend_height, put_legend, put_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
LINE = 0.11  # inches that a bar takes


@styled()
def draw_counts(
    values: Sequence[str],
    count: Floats,
    names: Sequence[str],
    *,
    labels: tuple[str, str],
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a group of bars for each class or level, one for each tally, the first on top.

    Parameters
    ----------
    values : sequence of str
        The classes or levels.
    count : ndarray of shape (values, tallies)
        How long the bars are.
    names : sequence of str
        Of the tallies.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    k = len(names)
    ax = new_axes(
        ax, height=max(0.6 * HEIGHT, LINE * (k + 1) * len(values) + 0.9) + legend_height(names)
    )
    at, handles = np.arange(len(values)), []
    for i in range(k):
        y = at + 0.8 * ((i + 0.5) / k - 0.5)
        handles.append(ax.barh(y, count[:, i], 0.8 / k, **bar(i)))
    ax.set_yticks(at, values)
    ax.set_ylim(len(values) - 0.5, -0.5)
    ax.set_ylabel(labels[1])
    put_notes(ax, labels[0], notes)
    if k > 1:
        put_legend(ax, handles, names)
    return ax


def draw_tally(classes: Sequence[object], count: Floats, most: int, ax: Axes | None = None) -> Axes:
    """Draw a bar for the rows of each class, (classes,), of the ``most`` most frequent ones."""
    first = np.sort(np.argsort(-count, kind="stable")[:most])
    more = len(classes) - len(first)
    return draw_counts(
        [name_of(classes[i]) for i in first.tolist()],
        count[first, None],
        ["rows"],
        labels=("rows (sum of weights)", "class"),
        notes=[f"and {more:,} more classes"] * (more > 0),
        ax=ax,
    )


@styled()
def draw_fading(
    left: Floats,
    names: Sequence[str],
    *,
    labels: tuple[str, str],
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw what is left of batches as bars on top of each other, the oldest at the bottom.

    Parameters
    ----------
    left : ndarray of shape (batches, times)
        How many rows of each batch are left at each time.
    names : sequence of str
        Of the batches.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax, height=HEIGHT + legend_height(names))
    at = np.arange(1, left.shape[1] + 1)
    bottom, handles = np.zeros(left.shape[1]), []
    for i, of in enumerate(left):
        handles.append(ax.bar(at, of, 0.8, bottom=bottom, **bar(i)))
        bottom = bottom + of
    ax.set_ylabel(labels[1])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    put_notes(ax, labels[0], notes)
    put_legend(ax, handles, names)
    return ax
