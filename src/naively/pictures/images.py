"""Pictures of images: the means of classes side by side, and the evidence of each pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import HEIGHT, WIDTH, new_axes, styled
from naively.pictures.legend import put_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
DIVERGING = "PuOr_r"  # Brewer's, told apart by the colour-blind
GAP, NAME = 0.12, 0.42  # of an image's width and height: beside it, and above it for its name
PER_LINE = 5


@styled()
def draw_images(
    images: Floats,
    names: Sequence[str],
    *,
    label: str,
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw images beside each other, on one scale of grey, each under its name.

    Parameters
    ----------
    images : ndarray of shape (images, height, width)
        NaN is left white.
    names : sequence of str
        Of the images.
    label : str
        What the colours are.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    n, height, width = images.shape
    across = min(n, PER_LINE)
    down = -(-n // across)
    aspect = (1 + NAME) * height * down / ((1 + GAP) * width * across)
    ax = new_axes(ax, height=min(3 * HEIGHT, max(0.4 * HEIGHT, (WIDTH - 0.6) * aspect + 0.3)))
    finite = images[np.isfinite(images)]
    scale = {"vmin": float(finite.min(initial=0.0)), "vmax": float(finite.max(initial=0.0)) or 1.0}
    for i, name in enumerate(names):
        left = (i % across) * (1 + GAP) * width
        top = (i // across) * (1 + NAME) * height
        drawn = ax.imshow(
            images[i],
            cmap="Greys",
            extent=(left, left + width, top + height, top),
            interpolation="nearest",
            vmin=scale["vmin"],
            vmax=scale["vmax"],
        )
        ax.text(left + width / 2, top - 0.04 * height, name, ha="center", va="bottom", fontsize=7)
    ax.set_xlim(-GAP * width, across * (1 + GAP) * width)
    ax.set_ylim(down * (1 + NAME) * height - 0.3 * height, -NAME * height)
    _without_ticks(ax)
    if n:
        ax.figure.colorbar(drawn, ax=ax, label=label, shrink=0.8)
    put_notes(ax, "", notes)
    return ax


@styled()
def draw_evidence(weight: Floats, *, title: str, label: str, ax: Axes | None = None) -> Axes:
    """Draw one image in colours that diverge from 0 to either side alike.

    Parameters
    ----------
    weight : ndarray of shape (height, width)
        What is drawn; what is infinite has the colour of the largest.
    title, label : str
        Of the picture, and of the colours.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax)
    finite = weight[np.isfinite(weight)]
    most = float(np.abs(finite).max(initial=0.0)) or 1.0
    shown = np.clip(weight, -most, most)
    drawn = ax.imshow(shown, cmap=DIVERGING, vmin=-most, vmax=most, interpolation="nearest")
    _without_ticks(ax)
    ax.figure.colorbar(drawn, ax=ax, label=label)
    ax.set_title(title)
    return ax


def _without_ticks(ax: Axes) -> None:
    """Take away what says where a pixel is."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
