"""The one style of all pictures, and the Axes that they are drawn on.

Colours are told apart by the colour-blind (Okabe & Ito, Color universal design, 2008), and lines by
their dashes and markers too, so that a picture can be printed in black and white. A figure is 85 mm
wide, one column of a journal, with text of 8 points.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from naively.messages import shortened, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 3.35, 2.5  # inches
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#9A8F00",
)  # fmt: skip
DASHES: tuple[Any, ...] = (
    "-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)),
)  # fmt: skip
MARKERS = "os^DvP*X"
MOST = len(COLOURS)  # classes that are drawn one by one
GREY = "#767676"  # what is beside the point: ideals, noise, marks
LONGEST = 24  # characters of a name in a picture
STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "svg.fonttype": "none",
    "svg.hashsalt": "naively",
}


def new_axes(ax: Axes | None = None, *, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Return the Axes that are given, or new ones in the style of all pictures.

    Parameters
    ----------
    ax : Axes, optional
        What to draw on.
    width, height : float
        Of a new figure, in inches.

    Raises
    ------
    ImportError
        If Matplotlib is not installed; it says how to install it.
    """
    if ax is not None:
        return ax
    plt = pyplot()
    with styled():
        new: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return new


@contextmanager
def styled() -> Iterator[None]:
    """Make figures in the style of all pictures."""
    with pyplot().rc_context(STYLE):
        yield


def pyplot() -> Any:
    """Return Matplotlib's pyplot, which draws to files where there is no display."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures are drawn by Matplotlib; install it with: pip install 'naively[plots]'."
        ) from error
    return plt


def line(i: int) -> dict[str, Any]:
    """Return how the line of the i-th class is drawn."""
    return {"color": COLOURS[i % MOST], "linestyle": DASHES[i % MOST]}


def points(i: int) -> dict[str, Any]:
    """Return how the points of the i-th class are drawn."""
    return {"color": COLOURS[i % MOST], "marker": MARKERS[i % MOST], "linestyle": "none"}


def name_of(value: object) -> str:
    """Return a label, level or word as a picture shows it: short, on one line, never a formula."""
    text = shortened(visible(str(value)), LONGEST)
    return text.replace("$", r"\$")
