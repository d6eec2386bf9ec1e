"""Pictures of evidence: a waterfall of weights, a nomogram, images of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import COLOURS, GREY, HEIGHT, name_of, new_axes, styled
from naively.pictures.legend import put_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
LINE = 0.17  # inches that a step takes
FOR, AGAINST = COLOURS[0], COLOURS[1]
DIVERGING = "PuOr_r"  # told apart by the colour-blind
BEYOND = 1.2  # how far a bar without end goes, of the largest sum


@styled()
def draw_waterfall(
    items: Sequence[str],
    weight: Floats,
    *,
    label: str,
    title: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar for each weight, from where the last ended, the first on top.

    Parameters
    ----------
    items : sequence of str
        What each weight is of.
    weight : ndarray of shape (items,)
        In nats; an infinite one goes beyond all others, and is said to have no end.
    label, title : str
        Of the horizontal axis, and of the picture.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax, height=max(HEIGHT * 0.6, LINE * len(items) + 0.8))
    finite = np.where(np.isfinite(weight), weight, 0.0)
    sums = np.abs(np.cumsum(finite))
    far = BEYOND * max(1.0, float(sums.max(initial=0.0)), float(np.abs(finite).max(initial=0.0)))
    drawn = np.where(np.isfinite(weight), weight, np.sign(weight) * far)
    end = np.cumsum(drawn)
    start = end - drawn
    y = np.arange(len(items))
    for up, colour, hatch in ((True, FOR, ""), (False, AGAINST, "////")):
        of = (drawn > 0) == up
        how: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white"}
        ax.barh(y[of], drawn[of], 0.72, left=start[of], linewidth=0.3, **how)
    for i in range(len(items) - 1):
        ax.plot([end[i], end[i]], [i, i + 1], color=GREY, linewidth=0.6)
    ax.axvline(0, color=GREY, linewidth=0.6)
    right = np.maximum(start, end)
    for i, w in enumerate(weight.tolist()):
        text = f"{w:+.2f}" if np.isfinite(w) else f"{'+' if w > 0 else '-'}∞"
        ax.annotate(
            text, (right[i], i), (2, 0), textcoords="offset points", va="center", fontsize=6
        )
    ax.margins(x=0.13)
    ax.set_yticks(y, [name_of(item) for item in items])
    ax.set_ylim(len(items) - 0.4, -0.6)
    ax.set_title(title, loc="right")
    put_notes(ax, label, [], "right")
    return ax
