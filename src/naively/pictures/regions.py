"""Pictures over two columns: regions of classes, surfaces as filled contours, densities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import COLOURS, DASHES, GREY, HEIGHT, MOST, new_axes, points, styled
from naively.pictures.legend import legend_height, put_legend, put_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Points: TypeAlias = "tuple[Floats, Floats, NDArray[np.int64]]"  # x, y and the class of each
PALE = 0.3  # how opaque a region is
LEVELS = (0.05, 0.2, 0.5, 0.8)  # of the highest density, where contours are
REST = "#D0D0D0"  # regions of classes that are not shown
FAR = 10.0  # nats: beyond, log odds have one colour


@styled()
def draw_regions(
    x: Floats,
    y: Floats,
    region: NDArray[np.int64],
    rows: Points,
    names: Sequence[str],
    *,
    labels: tuple[str, str],
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Colour each point by its class, draw the borders, and rows on top.

    Parameters
    ----------
    x, y : ndarray of shape (points,)
        The grid.
    region : ndarray of shape (points of y, points of x)
        The number of the class at each point; -1 of a class that is not shown.
    rows : tuple of ndarray
        The x, y and class number of rows, (rows,) each.
    names : sequence of str
        Of the classes, at most ``MOST``.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    from matplotlib.colors import ListedColormap

    ax = new_axes(ax, height=HEIGHT + legend_height(names))
    colours = ListedColormap([REST, *COLOURS[: len(names)]])
    ax.pcolormesh(
        x, y, region, cmap=colours, vmin=-1.5, vmax=len(names) - 0.5, alpha=PALE, rasterized=True
    )
    for c in np.unique(region).tolist():
        if (region != c).any():
            ax.contour(x, y, (region == c).astype(float), [0.5], colors="black", linewidths=0.6)
    _finish(ax, rows, names, labels, notes)
    return ax


@styled()
def draw_surface(
    x: Floats,
    y: Floats,
    values: Floats,
    *,
    labels: tuple[str, str],
    label: str,
    diverging: bool,
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a surface in colours, with lines where it is equally high.

    Parameters
    ----------
    x, y : ndarray of shape (points,)
        The grid.
    values : ndarray of shape (points of y, points of x)
        Probabilities, or log odds.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    label : str
        Of the colours.
    diverging : bool
        Whether the values are log odds, of which 0 is a border; else they are probabilities.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax)
    if diverging:
        finite = np.abs(values[np.isfinite(values)])
        most = min(FAR, float(finite.max(initial=0.0)) or 1.0)
        cut = bool((finite > most).any() or np.isinf(values).any())
        shown, least = np.clip(values, -most, most), -most
        lines: Sequence[float] = [0.0]
    else:
        cut, shown, least, most = False, values, 0.0, 1.0
        lines = (0.1, 0.5, 0.9)
    cmap = "PuOr_r" if diverging else "Blues"
    mesh = ax.pcolormesh(x, y, shown, cmap=cmap, vmin=least, vmax=most, rasterized=True)
    there = [at for at in lines if np.nanmin(shown) < at < np.nanmax(shown)]
    if there:
        drawn = ax.contour(x, y, shown, there, colors="black", linewidths=0.8)
        ax.clabel(drawn, fmt="%g", fontsize=6)
    ax.figure.colorbar(mesh, ax=ax, label=label, extend="both" if cut else "neither")
    ax.set_ylabel(labels[1])
    put_notes(ax, labels[0], notes)
    return ax


@styled()
def draw_contours(
    x: Floats,
    y: Floats,
    density: Floats,
    rows: Points,
    names: Sequence[str],
    *,
    labels: tuple[str, str],
    notes: Sequence[str] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw contours of the density of each class, at shares of its highest, over rows.

    Parameters
    ----------
    x, y : ndarray of shape (points,)
        The grid.
    density : ndarray of shape (points of y, points of x, classes)
        The densities.
    rows : tuple of ndarray
        The x, y and class number of rows, (rows,) each.
    names : sequence of str
        Of the classes, at most ``MOST``.
    labels : tuple of str
        Of the horizontal and of the vertical axis.
    notes : sequence of str
        What is said below.
    ax : Axes, optional
        What to draw on.
    """
    ax = new_axes(ax, height=HEIGHT + legend_height(names))
    for c in range(len(names)):
        of_class = density[:, :, c]
        top = float(of_class[np.isfinite(of_class)].max(initial=0.0))
        at = [share * top for share in LEVELS]
        if top > 0 and of_class.min() < at[-1]:
            ax.contour(
                x,
                y,
                of_class,
                at,
                colors=COLOURS[c % MOST],
                linestyles=[DASHES[c % MOST]],
                linewidths=0.9,
            )
    said = [*notes, "contours at 5, 20, 50 and 80 % of the highest density"]
    _finish(ax, rows, names, labels, said, faint=True)
    return ax


def _finish(
    ax: Axes,
    rows: Points,
    names: Sequence[str],
    labels: tuple[str, str],
    notes: Sequence[str],
    *,
    faint: bool = False,
) -> None:
    """Draw rows by class, a legend, and the names of the axes."""
    x, y, code = rows
    limits = ax.get_xlim(), ax.get_ylim()
    handles: list[Any] = []
    for c in range(len(names)):
        of = code == c
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
        how = {**points(c), **edge, "markersize": 3.0, "alpha": 0.45 if faint else 0.9}
        handles.append(ax.plot(x[of], y[of], **how)[0])
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    other = code < 0
    if other.any():
        ax.plot(x[other], y[other], ".", color=GREY, markersize=1.5)
    ax.set_ylabel(labels[1])
    put_notes(ax, labels[0], notes)
    put_legend(ax, handles, names)
