"""Cells that are alike without their rows: of one level, or bin, of one class, and of one weight.

A table has far fewer different cells than cells, and what is left without one of them is left
without each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import B
from naively.counting.leave_one_out import LeftOut

SPARSE = 20  # times as many numbers as keys, from which it is quicker to sort
WEIGHTS = 8  # different weights, with more of which few cells are alike


def different(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different keys, ascending, and which of them each key is; keys are below a size.

    Examples
    --------
    >>> different(np.array([7, 2, 7]), 8)
    (array([2, 7]), array([1, 0, 1]))
    """
    if size > SPARSE * len(key):
        there, number = np.unique(key, return_inverse=True)
        return there, number.astype(np.int64)
    here = np.zeros(size, np.bool_)
    here[key] = True
    there = np.flatnonzero(here)
    place = np.empty(size, np.int64)
    place[there] = np.arange(len(there))
    return there, place[key]


def different_cells(
    cells: LeftOut[B], unit: NDArray[np.int64], units: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of cells of which no two are alike, and which of them each cell is like.

    Parameters
    ----------
    cells : LeftOut
        Cells of rows that were counted.
    unit : ndarray of shape (cells,)
        The level, or the bin, of each cell, numbered through all columns.
    units : int
        How many levels, or bins, there are.
    """
    k, weight = cells.labels.k, cells.labels.weight
    key, size = unit * k + cells.labels.codes, units * k
    if weight is not None and len(weight) and (weight != weight[0]).any():
        once, kind = np.unique(weight, return_inverse=True)
        if len(once) > WEIGHTS:
            every = np.arange(len(key))
            return every, every
        key, size = key * len(once) + kind, size * len(once)
    there, number = different(key, size)
    first = np.empty(len(there), np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first, number
