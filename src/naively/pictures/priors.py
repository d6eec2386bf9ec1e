"""Densities of parameters: lines, one for each column or level, and contours of two parameters."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from naively.pictures.axes import GREY, MOST, line, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
STEEP = 4.0  # what rises without bound at an end is cut off at so many times the rest
HELD = (0.95, 0.8, 0.5)  # the probability within each contour
WIDE, LONGEST = 48, 90  # characters of a line of a title, and of the title


@styled()
def draw_densities(
    x: Floats,
    density: Floats,
    mean: Floats,
    mode: Floats,
    at_mode: Floats,
    at_mean: Floats,
    *,
    parameter: str,
    title: str,
    each: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw the densities of one parameter, or of one for each column or level.

    Parameters
    ----------
    x : ndarray of shape (points,)
        Values of the parameter.
    density : ndarray of shape (lines, points)
        The density at each of them.
    mean, mode : ndarray of shape (lines,)
        Which are marked, a circle and a triangle; NaN is not.
    at_mode, at_mean : ndarray of shape (lines,)
        The densities there.
    parameter : str
        The name of the parameter.
    title : str
        What is drawn.
    each : str
        What there is a line for: a column or a level.
    ax : matplotlib.axes.Axes, optional
        What to draw on; by default a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    ax = new_axes(ax)
    shown = density[:MOST]
    several = len(density) > 1
    height = _height(shown, at_mode)
    for i, of in enumerate(shown):
        ax.plot(x, of, **line(i), label=f"{each} {i + 1}" if several else None)
    marks = (("mean", mean, at_mean, "o", 3), ("mode", mode, at_mode, "^", 4))
    for name, at, up, marker, over in marks:
        there = np.isfinite(at[:MOST])
        if not there.any():
            continue
        y = np.minimum(np.nan_to_num(up[:MOST][there], nan=0.0), height)
        ax.plot(
            at[:MOST][there], y, marker, color="black", label=name, zorder=over, clip_on=False,
            markerfacecolor="white" if name == "mode" else "black",
        )  # fmt: skip
    ax.set_ylim(0.0, height * 1.08)
    ax.set_xlim(x[0], x[-1])
    ax.set_xlabel(parameter)
    ax.set_ylabel("density")
    more = len(density) - len(shown)
    ax.set_title(_short(title) + (f"\n{MOST} of {MOST + more} {each}s" if more else ""))
    if ax.get_legend_handles_labels()[1]:
        ax.legend(ncols=2 if several and len(shown) > MOST // 2 else 1)
    return ax


@styled()
def draw_contours(
    mean: Floats,
    variance: Floats,
    density: Floats,
    means: Sequence[float],
    mode: Sequence[float],
    *,
    title: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw a density of a mean and a variance as contours that hold 50, 80 and 95 % of it.

    Parameters
    ----------
    mean, variance : ndarray of shape (columns,) and (rows,)
        The grid.
    density : ndarray of shape (rows, columns)
        The density at each point of the grid.
    means, mode : sequence of two floats
        The means of both parameters, and where the density is highest.
    title : str
        What is drawn.
    ax : matplotlib.axes.Axes, optional
        What to draw on; by default a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes
    """
    ax = new_axes(ax)
    levels = contour_levels(density)
    drawn = ax.contour(
        mean, variance, density, levels, colors=GREY, linestyles=[":", "--", "-"], linewidths=1.2
    )
    names = dict(zip(drawn.levels, (f"{held:.0%}" for held in HELD), strict=True))
    ax.clabel(drawn, fmt=names, fontsize=7)
    for name, (x, y), marker, face in (
        ("mean", means, "o", "black"),
        ("mode", mode, "^", "white"),
    ):
        if np.isfinite(x) and np.isfinite(y):
            ax.plot([x], [y], marker, color="black", markerfacecolor=face, label=name)
    # The outer contour, with a margin; the tail of the variance goes on for long.
    inside = density >= levels[0]
    columns, rows = (np.flatnonzero(inside.any(axis=side)) for side in (0, 1))
    for set_limits, of, at in ((ax.set_xlim, mean, columns), (ax.set_ylim, variance, rows)):
        margin = 0.15 * (of[at[-1]] - of[at[0]])
        set_limits(max(of[0], of[at[0]] - margin), min(of[-1], of[at[-1]] + margin))
    ax.set_ylim(0.0)
    ax.set_xlabel("mean")
    ax.set_ylabel("variance")
    ax.set_title(_short(title))
    ax.legend()
    return ax


def contour_levels(density: Floats) -> list[float]:
    """Return the densities above which there are 95, 80 and 50 % of it, in ascending order.

    Examples
    --------
    >>> contour_levels(np.array([[1.0, 1.0], [3.0, 5.0]]))
    [1.0, 3.0, 5.0]
    """
    falling = np.sort(density, axis=None)[::-1]
    held = np.cumsum(falling) / falling.sum()
    at = np.minimum(np.searchsorted(held, HELD), len(falling) - 1)
    found: list[float] = falling[at].tolist()
    return found


def _height(density: Floats, at_mode: Floats) -> float:
    """Return the height of a picture; what rises without bound at an end is cut off."""
    highest = max(float(density.max()), float(np.nan_to_num(at_mode, nan=0.0, posinf=0.0).max()))
    edge = density.shape[1] // 20
    inner = STEEP * float(density[:, edge:-edge].max())
    steep = np.isinf(at_mode).any() or np.isnan(at_mode).any()
    return min(highest, inner) if steep else highest


def _short(title: str) -> str:
    """Return a title on at most two lines."""
    shown = title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}…"
    return fill(shown, WIDE)
