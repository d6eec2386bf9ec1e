"""How the number of parameters grows with the number of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naively.pictures.axes import line, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_growth(
    with_assumption: Sequence[float], without: Sequence[float], ax: Axes | None = None
) -> Axes:
    """Draw logarithms to base 2 of numbers of parameters, by the number of columns.

    Parameters
    ----------
    with_assumption, without : sequence of float
        Of the naive Bayes model and of the joint table, one for each number of columns from 1 on;
        no line is drawn to an infinite one.
    ax : Axes, optional
        What to draw on.

    Notes
    -----
    No float holds 2 to the number of columns where these are many. So the axis is of the logarithm,
    and its labels say which power it is.
    """
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax = new_axes(ax)
    columns = np.arange(1, len(without) + 1)
    with styled():
        for i, (log2, name) in enumerate(
            ((without, "joint table"), (with_assumption, "naive Bayes"))
        ):
            y = np.array([n if math.isfinite(n) else np.nan for n in log2], np.float64)
            label = f"{name}: without end" if not np.isfinite(log2).any() else name
            ax.plot(columns, y, **line(i), label=label)
        ax.set_xlabel("columns")
        ax.set_ylabel("parameters (log scale)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"$2^{{{y:.0f}}}$"))
        ax.legend(loc="upper left")
    return ax
