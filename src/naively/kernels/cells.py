"""The grid that numbers are counted in, which needs neither an origin nor a scale.

A cell is a prefix of the float itself: its sign, its exponent and its first bits. A column keeps
the most bits that leave it at most ``CAP`` cells; when a bit is dropped, two neighbours become one
cell and their counts are added, so that nothing is counted again. The bits that are left do not
depend on the order of rows, on chunks or on the order of merging, and tallies that were made apart
are merged on the coarser of their grids.

`tally_cells`, `find_bins` and `score_bins` are contract, oracle and fallback of the native kernels,
like the functions in ``naively.kernels.reference``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.kernels.checks import check_codes
from naively.kernels.reference import Finish, Finished, Floats, HighLow, Integers, score_codes
from naively.kernels.scatter import scatter

CAP = 1024  # the most cells of a column
LAST_SHIFT = 62  # at which only the sign is left

SAMPLE = 4096  # rows, at most, that show how coarse the grid must be at least

Keys: TypeAlias = NDArray[np.int64]


def sortable(x: NDArray[np.floating]) -> Keys:
    """Return floats as integers in the same order; -0.0 is 0.0."""
    bits = (np.asarray(x, np.float64) + 0.0).view(np.int64)
    return np.where(bits < 0, ~(bits & np.int64(2**63 - 1)), bits)


def as_float(key: Keys) -> NDArray[np.float64]:
    """Return the floats of sortable integers."""
    magnitude = np.where(key < 0, ~key, key).view(np.float64)
    return np.where(key < 0, -magnitude, magnitude)


def coarsest(keys: Keys, cap: int = CAP) -> int:
    """Return by how many bits sorted keys must be shortened to leave at most ``cap`` cells.

    ``keys`` has the shape (numbers,), ascending; repeated keys are allowed.
    """
    low, high = 0, LAST_SHIFT
    while low < high:
        middle = (low + high) // 2
        if np.count_nonzero(np.diff(keys >> middle)) < cap:
            high = middle
        else:
            low = middle + 1
    return low


def tally_cells(
    values: NDArray[np.floating],
    y: Integers,
    w: Floats | None,
    k: int,
    cap: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], HighLow]:
    """Count numbers by cell and class.

    Parameters
    ----------
    values : ndarray of float64 or float32, shape (rows, columns)
        NaN is missing; infinities have cells of their own.
    y, w, k
        Those of `naively.kernels.reference`; a row of weight 0 makes no cell.
    cap : int
        The most cells of a column, at least 4.

    Returns
    -------
    shifts : ndarray of int64, shape (columns,)
        How many bits the keys of each column have lost.
    first : ndarray of int64, shape (columns + 1,)
        Where each column's cells begin, and the last column's end.
    keys : ndarray of int64, shape (cells,)
        The keys of the cells of each column, ascending.
    sums : pair of ndarray, shape (cells, classes)
        The weighted counts, in double-double (``HighLow``).
    """
    check_codes(y, k, "class")
    if cap < 4:
        raise ValueError("a column must have room for four cells")
    shifts, cells, tables = [], [np.empty(0, np.int64)], []
    seen = np.ones(len(y), np.bool_) if w is None else w > 0
    for column in values.T:
        there = np.flatnonzero(seen & ~np.isnan(column))
        keys = sortable(column[there])
        some = np.sort(keys[:: len(keys) // SAMPLE + 1])
        start = coarsest(some, cap)  # all rows need a grid at least as coarse as some rows do
        found, code = np.unique(keys >> np.int64(start), return_inverse=True)
        more = coarsest(found, cap)
        coarser, place = np.unique(found >> np.int64(more), return_inverse=True)
        cell = place[code].astype(np.int64) * k + y[there]
        of = None if w is None else w[there]
        tables.append(scatter(cell, np.ones(len(cell)), of, (len(coarser), k)))
        shifts.append(start + more)
        cells.append(coarser)
    first = np.cumsum([0, *map(len, cells[1:])], dtype=np.int64)
    none = np.zeros((0, k))
    high = np.concatenate([none, *(high for high, _ in tables)])
    low = None
    if any(low is not None for _, low in tables):
        low = np.concatenate([np.zeros_like(h) if lo is None else lo for h, lo in tables])
    return np.array(shifts, np.int64), first, np.concatenate(cells), (high, low)


def find_bins(
    values: NDArray[np.floating], edges: Floats, first: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return how many of its column's edges each number reaches; -1 where it is missing.

    Parameters
    ----------
    values : ndarray of float64 or float32, shape (rows, columns)
        NaN is missing.
    edges : ndarray of float64, shape (edges of all columns,)
        The edges of one column after another, ascending in each.
    first : ndarray of int64, shape (columns + 1,)
        Where each column's edges begin, and the last column's end.

    Returns
    -------
    bins : ndarray of int32, shape (rows, columns)
    """
    codes = np.empty(values.shape, np.int32)
    for j, column in enumerate(values.T):
        codes[:, j] = np.searchsorted(edges[first[j] : first[j + 1]], column, side="right")
        codes[np.isnan(column), j] = -1
    return codes


def score_bins(
    values: NDArray[np.floating],
    edges: Floats,
    first: NDArray[np.int64],
    table: Floats,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
) -> Finished:
    """Return start + Σ of the rows of ``table`` that the numbers' bins have, finished.

    ``values``, ``edges`` and ``first`` are those of ``find_bins``; ``table`` has the shape (bins of
    all columns, classes), where a column has one bin more than edges. A missing cell adds 0.
    """
    begin = first - first[0] + np.arange(len(first))
    codes = find_bins(values, edges, first)
    return score_codes(codes, begin, table, start, finish, log_prior)
