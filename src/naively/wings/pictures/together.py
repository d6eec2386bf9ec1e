"""Pictures side by side in one figure, and lines of measurements: what the examples share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from naively.wings.pictures.axes import DASHES, HEIGHT, MARKERS, WIDTH, pyplot, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def side_by_side(
    *titles: str, rows: int = 1, width: float = WIDTH, height: float = HEIGHT
) -> list[Axes]:
    """Return Axes of a new figure, one for each title, in the style of all pictures."""
    # The Axes are in ``rows`` rows; each is ``width`` by ``height`` inches.
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
    """Draw lines over a logarithmic axis, each with a dash and a marker of its own."""
    # labels: what x is, and what the heights of the lines are
    with styled():
        for (name, y), dash, marker in zip(lines.items(), DASHES, MARKERS, strict=False):
            ax.plot(x, y, linestyle=dash, marker=marker, markersize=3, linewidth=1.2, label=name)
        ax.set_xscale("log")
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
        ax.legend()
