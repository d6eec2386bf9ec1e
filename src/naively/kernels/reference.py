"""What the kernels compute, in plain NumPy: the contract, the oracle, and the fallback.

The native module has the same functions, faster; ``naively.kernels.dispatch`` chooses.

A ``tally_*`` function returns sums by class, in tables of shape (features, classes). A ``score_*``
function adds the log likelihood of each row to ``start``, and finishes. A missing cell adds nothing
to either. Rows come in one of three forms:

X : ndarray of float64 or float32, shape (rows, columns)
    Numbers; NaN is missing.
codes : ndarray of integers, shape (rows, columns)
    Levels, numbered from 0 in each column; a negative code is missing. ``first``, of shape
    (columns + 1,), says that column j has the rows ``first[j]`` to ``first[j + 1]`` of the table.
indptr, indices, data : ndarray, of shape (rows + 1,), (entries,), (entries,)
    A CSR matrix: where the entries of each row begin, and the last of them end; the column of each
    entry, and its value. An entry that is NaN is missing.

The other arguments:

y : ndarray of integers, shape (rows,)
    The index of each row's class.
w : ndarray of float64, shape (rows,), or None
    The weight of each row; None if every row weighs one.
k : int
    The number of classes.
offset : ndarray of float64, shape (columns, classes)
    What ``start`` holds for each column; it is subtracted where the column's cell is missing.
start : ndarray of float64, shape (classes,) or (rows, classes)
    What the sums of each row begin with.
finish : {"joint", "log_posterior", "posterior", "label"}, or "joint32", ...
    What is returned: the joint log likelihoods, float64 of shape (rows, classes); the same,
    normalised over the classes, as logarithms or as probabilities; or the index of the class with
    the largest, int32 of shape (rows,), the first if several are equal. With 32 after it, all but
    the last is rounded to float32.
log_prior : ndarray of float64, shape (classes,)
    Takes the place of the joint log likelihoods of a row that are -inf for every class.
complete : bool, default False
    Whether a missing cell, or an infinite one, is a ValueError. It is found as rows are read.

No sum of finite numbers becomes NaN or infinite. A row with a sum beyond ``MOST`` is scored again:
its numbers (for a quadratic form, their distances from the means) are clipped to ``FAR``, and what
each of them adds is clipped to ``MOST``. The class that would be ahead still is.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from naively.kernels.checks import check_codes, check_numbers, check_present, check_starts
from naively.kernels.double_double import Sums
from naively.kernels.scatter import scatter

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.integer]
# Double-double sums: the rounded sums, and what the rounding left; None where every sum is exact,
# being a whole number below 2**53.
HighLow: TypeAlias = "tuple[Floats, Floats | None]"
Finished: TypeAlias = NDArray[Any]  # of floats or of class numbers, as ``Finish`` says
Finish: TypeAlias = Literal[
    "joint", "log_posterior", "posterior", "label", "joint32", "log_posterior32", "posterior32"
]

TILE = 4096  # rows taken at a time, so that intermediate results stay in the cache
FAR = 1e140  # its square, times a factor below 1e10, is below MOST
MOST = 1e290  # the sum of a million of these is finite


@np.errstate(invalid="ignore", over="ignore")  # infinite cells make sums that are not finite
def tally_dense(X: NDArray[np.floating], y: Integers, w: Floats | None, k: int) -> list[HighLow]:
    """Return three tables of shape (columns, classes), of the cells that are present.

    They hold the sums of the weight, of weight times value, and of weight times squared value.
    """
    check_codes(y, k, "class")
    d = X.shape[1]
    totals = [Sums.zeros((d, k)) for _ in range(3)]
    for begin in range(0, len(X), TILE):
        rows = slice(begin, begin + TILE)
        x = np.asarray(X[rows], np.float64)
        present = ~np.isnan(x)
        value = Sums(np.where(present, x, 0.0))
        weight = Sums(present.astype(np.float64) if w is None else present * w[rows, None])
        weighted = value if w is None else value * Sums(w[rows, None])
        tile = (weight, weighted, weighted * value)
        for c in np.unique(y[rows]):
            of_class = y[rows] == c
            for total, cells in zip(totals, tile, strict=True):
                column = total[:, c] + cells[of_class].total()
                total.high[:, c], total.low[:, c] = column.high, column.low
    return [(total.high, total.low) for total in totals]


def tally_csr(
    indptr: Integers,
    indices: Integers,
    data: NDArray[np.number],
    y: Integers,
    w: Floats | None,
    k: int,
    width: int,
    complete: bool = False,
) -> HighLow:
    """Return the sums of weight times value of the entries, of shape (width, classes)."""
    check_starts(indptr)
    check_codes(y, k, "class")
    check_codes(indices, width, "column")
    row = np.repeat(np.arange(len(y)), np.diff(indptr))
    entries = slice(int(indptr[0]), int(indptr[-1]))
    indices, data = indices[entries], data[entries]
    check_numbers(data, complete)
    present = ~np.isnan(data)
    row, indices, data = row[present], indices[present], data[present]
    cell = indices.astype(np.int64) * k + y[row]
    return scatter(cell, data, None if w is None else w[row], (width, k))


def tally_codes(
    codes: Integers,
    first: Integers,
    y: Integers,
    w: Floats | None,
    k: int,
    complete: bool = False,
) -> HighLow:
    """Return the weighted counts of the levels of all columns, of shape (first[-1], classes)."""
    check_codes(y, k, "class")
    check_present(codes, complete)
    if (codes >= np.diff(first)).any():
        raise ValueError("a level code is out of range")
    level = codes.astype(np.int64) + first[:-1]
    row, column = np.nonzero(codes >= 0)
    weight = np.ones(len(row)) if w is None else w[row]
    return scatter(level[row, column] * k + y[row], weight, None, (int(first[-1]), k))


def find_ranges(matrix: Integers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least and the largest of each column's whole numbers, int32 or int64."""
    low: NDArray[np.int64] = matrix.min(axis=0).astype(np.int64)
    high: NDArray[np.int64] = matrix.max(axis=0).astype(np.int64)
    return low, high


def score_linear(
    X: NDArray[np.floating],
    slope: Floats,
    offset: Floats | None,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
    complete: bool = False,
) -> Finished:
    """Return start + Σ x·slope, finished; ``slope`` has the shape (columns, classes).

    Zero times an infinite slope is zero: what was not seen is no evidence.
    """
    check_numbers(X, complete)
    k = slope.shape[1]
    out = np.empty((len(X), k))
    out[...] = start
    unbounded = np.flatnonzero(~np.isfinite(slope).all(axis=1))
    finite_slope = slope
    if len(unbounded):
        finite_slope = slope.copy()
        finite_slope[unbounded] = 0.0
    for begin in range(0, len(X), TILE):
        rows = slice(begin, begin + TILE)
        x = np.asarray(X[rows], np.float64)
        missing = np.isnan(x)
        if missing.any():
            x = np.where(missing, 0.0, x)
            if offset is not None:
                out[rows] -= missing @ offset
        with np.errstate(over="ignore", invalid="ignore"):
            out[rows] += x @ finite_slope
            for j in unbounded:
                column = x[:, j, None]
                cells = np.zeros((len(x), k))
                out[rows] += np.multiply(column, slope[j], where=column != 0, out=cells)
        for i in _overflown(out[rows], start, rows):
            there = np.flatnonzero(~missing[i] & (x[i] != 0))
            sums = _sum_clipped(x[i, there], slope[there])
            lacking = 0.0 if offset is None else offset[missing[i]].sum(axis=0)
            out[begin + i] = _start_of(start, begin + i) + (sums - lacking)
    return finish_rows(out, finish, log_prior)


def score_quadratic(
    X: NDArray[np.floating],
    mean: Floats,
    half_precision: Floats,
    offset: Floats,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
    complete: bool = False,
) -> Finished:
    """Return start - Σ half_precision·(x - mean)², finished.

    ``mean`` and ``half_precision``, half the reciprocal of the variance, have the shape
    (columns, classes).
    """
    check_numbers(X, complete)
    out = np.empty((len(X), mean.shape[1]))
    out[...] = start
    for begin in range(0, len(X), TILE):
        rows = slice(begin, begin + TILE)
        x = np.asarray(X[rows], np.float64)
        missing = np.isnan(x)
        any_missing = bool(missing.any())
        if any_missing:
            out[rows] -= missing @ offset
        with np.errstate(over="ignore", invalid="ignore"):
            for c in range(mean.shape[1]):
                distance = x - mean[:, c]
                distance *= distance
                if any_missing:
                    distance[missing] = 0.0
                out[rows, c] -= distance @ half_precision[:, c]
        for i in _overflown(out[rows], start, rows):
            there = ~missing[i]
            distance = np.clip(x[i, there, None] - mean[there], -FAR, FAR)
            with np.errstate(over="ignore"):
                cells = -(distance * distance) * half_precision[there]
            sums = np.clip(cells, -MOST, MOST).sum(axis=0) - offset[missing[i]].sum(axis=0)
            out[begin + i] = _start_of(start, begin + i) + sums
    return finish_rows(out, finish, log_prior)


def score_csr(
    indptr: Integers,
    indices: Integers,
    data: NDArray[np.number],
    slope: Floats,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
    complete: bool = False,
) -> Finished:
    """Return start + Σ x·slope, finished; ``slope`` has the shape (columns, classes).

    Entries that are zero add nothing, even where the slope is infinite.
    """
    from scipy.sparse import csr_array

    check_codes(indices, len(slope), "column")
    entries = slice(int(indptr[0]), int(indptr[-1]))
    indptr, indices, data = indptr - indptr[0], indices[entries], data[entries]
    check_starts(indptr)
    check_numbers(data, complete)
    rows = len(indptr) - 1
    out = np.empty((rows, slope.shape[1]))
    out[...] = start
    adds = (data != 0) & ~np.isnan(data)
    if not adds.all():
        indptr = np.append(0, np.cumsum(adds))[indptr]
        indices, data = indices[adds], data[adds]
    with np.errstate(over="ignore", invalid="ignore"):
        out += csr_array((data, indices, indptr), shape=(rows, len(slope))) @ slope
    for i in _overflown(out, start, slice(0, rows)):
        of_row = slice(indptr[i], indptr[i + 1])
        out[i] = _start_of(start, i) + _sum_clipped(data[of_row], slope[indices[of_row]])
    return finish_rows(out, finish, log_prior)


def score_codes(
    codes: Integers,
    first: Integers,
    table: Floats,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
    complete: bool = False,
) -> Finished:
    """Return start + Σ of the levels' rows of ``table``, finished.

    ``table`` has the shape (levels of all columns, classes). A code past the last row of its
    column, for a level never seen, reads that last row.
    """
    check_present(codes, complete)
    out = np.empty((len(codes), table.shape[1]))
    out[...] = start
    for j in range(codes.shape[1]):
        present = np.flatnonzero(codes[:, j] >= 0)
        last = first[j + 1] - first[j] - 1
        if last < 0 and present.size:
            raise ValueError("a level code is out of range")
        out[present] += table[np.minimum(codes[present, j].astype(np.int64), last) + first[j]]
    return finish_rows(out, finish, log_prior)


def _overflown(joint: Floats, start: Floats, rows: slice) -> list[int]:
    """Return which rows have a sum that is NaN, or beyond ``MOST`` and did not begin as infinite.

    ``joint`` holds the sums, of shape (rows, classes), of the rows of the slice ``rows``.
    """
    begun = np.isfinite(start if start.ndim == 1 else start[rows])
    far = begun & ~(np.abs(joint) <= MOST) | np.isnan(joint)
    overflown: list[int] = np.flatnonzero(far.any(axis=1)).tolist()
    return overflown


def _start_of(start: Floats, row: int) -> Floats:
    return start if start.ndim == 1 else start[row]


def _sum_clipped(x: NDArray[np.number], slope: Floats) -> Floats:
    """Return the sum of x·slope over the cells of one row, both clipped; an infinite slope is not.

    ``x`` has the shape (cells,), ``slope`` the shape (cells, classes), and the sum (classes,).
    """
    with np.errstate(over="ignore"):
        cells = clipped(x)[:, None] * slope
    total: Floats = np.where(np.isinf(slope), cells, np.clip(cells, -MOST, MOST)).sum(axis=0)
    return total


def clipped(x: NDArray[np.number]) -> Floats:
    """Return the numbers clipped to ``FAR`` on both sides, in their shape; NaN stays NaN."""
    found: Floats = np.clip(np.asarray(x, np.float64), -FAR, FAR)
    return found


def finish_rows(joint: Floats, finish: Finish, log_prior: Floats) -> Finished:
    """Return the joint log likelihoods, (rows, classes), as ``finish`` asks for.

    The memory of ``joint`` may be overwritten.
    """
    if finish.endswith("32"):
        return finish_rows(joint, cast("Finish", finish[:-2]), log_prior).astype(np.float32)
    if finish == "joint":
        return joint
    largest = joint.max(axis=1)
    impossible = np.isneginf(largest)
    if impossible.any():
        joint = np.where(impossible[:, None], log_prior, joint)
        largest = joint.max(axis=1)
    if finish == "label":
        best: NDArray[np.int32] = joint.argmax(axis=1).astype(np.int32)
        return best
    joint -= largest[:, None]
    if finish == "posterior":
        p: Floats = np.exp(joint)
        p /= p.sum(axis=1, keepdims=True)
        return p
    joint -= np.log(np.exp(joint).sum(axis=1, keepdims=True))
    return joint
