"""Sums that are scattered into a table, in plain NumPy: exact where all terms are whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.kernels.double_double import Sums

EXACT = 2.0**53  # float64 holds every whole number up to here


def scatter(
    cell: NDArray[np.int64],
    value: NDArray[np.number],
    weight: NDArray[np.float64] | None,
    shape: tuple[int, int],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return a table of this shape whose cells are sums of terms.

    Term i is ``value[i] * weight[i]`` (without a weight, ``value[i]``), and is added to the cell
    ``cell[i]`` of the flattened table.
    """
    size = shape[0] * shape[1]
    x = np.asarray(value, np.float64)
    bound = float(len(x))
    whole = True
    for factor in (x,) if weight is None else (x, weight):
        whole = whole and bool((factor == np.rint(factor)).all())
        bound *= float(np.abs(factor).max(initial=0.0))
    if whole and bound <= EXACT:
        sums = np.bincount(cell, x if weight is None else x * weight, size)
        return sums.reshape(shape).astype(np.float64), None
    products = Sums(x) if weight is None else Sums(x) * Sums(weight)
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    total = products[order].total_by_group(starts)
    table = Sums.zeros((size,))
    table.high[cells], table.low[cells] = total.high, total.low
    return table.high.reshape(shape), table.low.reshape(shape)
