"""Pictures side by side in one figure, and lines of measurements: what the examples share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from naively.pictures.axes import DASHES, HEIGHT, MARKERS, WIDTH, pyplot, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def side_by_side(
    *titles: str, rows: int = 1, width: float = WIDTH, height: float = HEIGHT
) -> list[Axes]:
    """Return Axes of a new figure, one for each title, in the style of all pictures.

    Parameters
    ----------
    *titles : str
        What stands above each.
    rows : int
        How many rows they are laid out in.
    width, height : float
        Of each, in inches.

    Returns
    -------
    list of Axes
        One for each title, row by row.

    Raises
    ------
    ImportError
        If Matplotlib is not installed; it says how to install it.

    Examples
    --------
    >>> left, right = side_by_side("before", "after")
    >>> left.figure.get_suptitle()
    'before'
    """
    plt, columns = pyplot(), -(-len(titles) // rows)
    axes = []
    with styled():
        figure = plt.figure(figsize=(width * columns, height * rows), layout="constrained")
        parts = figure.subfigures(rows, columns, squeeze=False).flat
        for title, part in zip(titles, parts, strict=False):
            part.suptitle(title, fontsize=8)
            axes.append(part.subplots())
    return axes


def draw_lines(
    x: ArrayLike, lines: Mapping[str, ArrayLike], labels: tuple[str, str], ax: Axes
) -> None:
    """Draw lines over a logarithmic axis, each with a dash and a marker of its own.

    Parameters
    ----------
    x : array-like
        Where they are known.
    lines : mapping of str to array-like
        Their heights, by name.
    labels : tuple of str
        What x is, and what their heights are.
    ax : Axes
        What to draw on.

    Examples
    --------
    >>> (ax,) = side_by_side("")
    >>> draw_lines([10, 100], {"one": [0.6, 0.8], "other": [0.5, 0.9]}, ("rows", "right"), ax)
    >>> len(ax.lines)
    2
    """
    with styled():
        for (name, y), dash, marker in zip(lines.items(), DASHES, MARKERS, strict=False):
            ax.plot(x, y, linestyle=dash, marker=marker, markersize=3, linewidth=1.2, label=name)
        ax.set_xscale("log")
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
        ax.legend()
