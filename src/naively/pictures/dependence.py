"""The dependence of pairs of columns, beside chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import COLOURS, GREY, name_of, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.25  # inches that a bar takes, with its name


def draw_dependence(
    pairs: Sequence[tuple[str, str]],
    information: NDArray[np.float64],
    expected: NDArray[np.float64],
    ax: Axes | None = None,
) -> Axes:
    """Draw the mutual information of pairs as bars, the first on top, with chance as a mark.

    Parameters
    ----------
    pairs : sequence of (str, str)
        The columns of each pair.
    information, expected : ndarray of shape (pairs,)
        Their mutual information given the class, and its mean by chance, in nats.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax, height=0.9 + BAR * max(len(pairs), 3))
    place = np.arange(len(pairs))
    with styled():
        ax.barh(place + 0.2, information, 0.36, color=COLOURS[0], label="sample")
        ax.plot(expected, place + 0.2, "|", color=COLOURS[1], ms=7, mew=1.6, label="chance")
        for y, (a, b) in zip(place, pairs, strict=True):  # long names have the whole width
            ax.text(0.0, y - 0.03, f" {name_of(a)}, {name_of(b)}", va="bottom", fontsize=7)
        ax.set_yticks([])
        ax.set_ylim(max(len(pairs), 1) - 0.5, -0.6)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("mutual information given the class (nats)")
        if len(pairs):
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0)
        else:
            ax.text(0.5, 0.5, "no pairs", color=GREY, ha="center", transform=ax.transAxes)
    return ax
