"""Bins for the eye: few, of round widths, on the grid that the numbers themselves are on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

WHOLE = 0.95  # the share of numbers that are on a grid which is called theirs
GRIDS = (1.0, 0.5, 0.1)  # that numbers are looked for on
ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
SPIKES = 0.1  # the share of bins that may be cut
STEEP = 4.0  # times the highest of the others: what is higher is cut


def grid_of(x: NDArray[np.floating], weight: Floats | None = None) -> float:
    """Return the distance of the grid that nearly all numbers are on; 0 where there is none."""
    if not len(x):
        return 0.0
    weight = np.ones(len(x)) if weight is None else weight
    for grid in GRIDS:
        on = np.isclose(x / grid, np.rint(x / grid), rtol=1e-9, atol=1e-6)
        if weight[on].sum() >= WHOLE * weight.sum():
            return grid
    return 0.0


def bins_of(low: float, high: float, grid: float, most: int) -> Floats:
    """Return the edges of at most so many bins of one round width that reach from low to high."""
    # On a grid they are whole multiples of it wide, and begin half of it below its first point, so
    # that each holds as many of its points as another.
    least = max((high - low + grid) / most, 1e-300)
    unit = 10.0 ** np.floor(np.log10(least))
    width = next(step for r in ROUND if (step := r * unit) >= least * (1 - 1e-9))
    if grid:
        width = grid * max(1.0, np.ceil(width / grid - 1e-9))
        first, last = (grid * np.rint(end / grid) for end in (low, high))
        bins = np.ceil((last - first + grid) / width - 1e-9)
        return np.asarray(first - grid / 2 + width * np.arange(bins + 1))
    start, end = np.floor(low / width + 1e-9), np.ceil(high / width - 1e-9)
    return np.asarray(np.arange(start, max(end, start + 1) + 1) * width)


def cut_of(height: Floats) -> float | None:
    """Return where spikes are cut so that the other bars can be seen; None where there are none."""
    falling = np.sort(height[np.isfinite(height)])[::-1]
    few = max(1, int(SPIKES * len(falling)))
    if len(falling) <= few or not falling[few] > 0 or falling[0] < STEEP * falling[few]:
        return None
    return 1.5 * float(falling[few])
