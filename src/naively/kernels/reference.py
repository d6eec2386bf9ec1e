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

from naively.kernels.double_double import Sums, scatter

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
    """Return three tables of shape (columns, classes), of the cells that are present."""
    # They hold the sums of the weight, of weight times value, and of weight times squared value.
    check_codes(y, k, "class")
    totals = [Sums.zeros((X.shape[1], k)) for _ in range(3)]
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
    codes: Integers, first: Integers, y: Integers, w: Floats | None, k: int, complete: bool = False
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
    """Return start + Σ x·slope, finished; ``slope`` has the shape (columns, classes)."""
    # Zero times an infinite slope is zero: what was not seen is no evidence.
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
    """Return start - Σ half_precision·(x - mean)², finished."""
    # ``mean`` and ``half_precision``, half the reciprocal of the variance, have the shape (columns,
    # classes).
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
    """Return start + Σ x·slope, finished; ``slope`` has the shape (columns, classes)."""
    # Entries that are zero add nothing, even where the slope is infinite.
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
    """Return start + Σ of the levels' rows of ``table``, finished."""
    # ``table`` has the shape (levels of all columns, classes). A code past the last row of its
    # column, for a level never seen, reads that last row.
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
    """Return which rows have a sum that is NaN, or beyond ``MOST`` and not infinite at first."""
    # ``joint`` holds the sums, of shape (rows, classes), of the rows of the slice ``rows``.
    begun = np.isfinite(start if start.ndim == 1 else start[rows])
    far = begun & ~(np.abs(joint) <= MOST) | np.isnan(joint)
    return np.flatnonzero(far.any(axis=1)).tolist()


def _start_of(start: Floats, row: int) -> Floats:
    return start if start.ndim == 1 else start[row]


def _sum_clipped(x: NDArray[np.number], slope: Floats) -> Floats:
    """Return the sum of x·slope over the cells of a row, both clipped but infinite slopes."""
    # ``x`` has the shape (cells,), ``slope`` the shape (cells, classes), and the sum (classes,).
    with np.errstate(over="ignore"):
        cells = clipped(x)[:, None] * slope
    return np.asarray(np.where(np.isinf(slope), cells, np.clip(cells, -MOST, MOST)).sum(axis=0))


def clipped(x: NDArray[np.number]) -> Floats:
    """Return the numbers clipped to ``FAR`` on both sides, in their shape; NaN stays NaN."""
    found: Floats = np.clip(np.asarray(x, np.float64), -FAR, FAR)
    return found


def finish_rows(joint: Floats, finish: Finish, log_prior: Floats) -> Finished:
    """Return the joint log likelihoods, (rows, classes), as ``finish`` asks for."""
    # The memory of ``joint`` may be overwritten.
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


def give_back() -> None:
    """Return memory that was freed to the system, where it can be asked for; natively it is.

    The memory of large arrays that are gone would else be there beside that of the next ones. It
    takes milliseconds.
    """


# --- What the kernels in plain NumPy refuse: indices out of range, cells that must not be there ---


def check_codes(codes: NDArray[np.integer], size: int, what: str) -> None:
    """Raise a ValueError unless every index is at least 0 and less than ``size``."""
    if codes.size and (codes.min() < 0 or codes.max() >= size):
        raise ValueError(f"a {what} index is out of range")


def check_starts(indptr: NDArray[np.integer]) -> None:
    """Raise a ValueError unless the rows of a CSR matrix follow one another."""
    if (np.diff(indptr) < 0).any():
        raise ValueError("indptr is malformed")


def check_numbers(cells: NDArray[np.number], complete: bool) -> None:
    """Raise a ValueError if numbers are to be complete, and one is missing or infinite."""
    if complete and not np.isfinite(cells).all():
        raise ValueError("a cell is missing or infinite")


def check_present(codes: NDArray[np.integer], complete: bool) -> None:
    """Raise a ValueError if levels are to be complete, and one is missing."""
    if complete and (codes < 0).any():
        raise ValueError("a cell is missing")


# --- Hashes of numbers, by which equal rows are told ---------------------------------------------
#
# `hash_rows` is contract, oracle and fallback of the native kernel, as the functions in
# ``naively.kernels.reference`` are.


Hashes: TypeAlias = NDArray[np.uint64]

SALT = np.uint64(0x9E3779B97F4A7C15)  # the hash of 0, so that 0 is not as if missing
HASHED = 16384  # numbers at a time, so that temporaries stay in the cache


def hash_numbers(numbers: NDArray[np.float64]) -> Hashes:
    """Return the hash of each number: its bits, of which the high ones are in the low ones too."""
    bits = (numbers + 0.0).view(np.uint64)  # -0 is 0
    return np.asarray(bits ^ (bits >> np.uint64(32)) ^ SALT)


@np.errstate(invalid="ignore", over="ignore")
def hash_rows(values: NDArray[np.floating], factors: Hashes) -> Hashes:
    """Return for each row the sum of its hashes times the factors of the columns, modulo 2^64."""
    # ``values`` are of shape (rows, columns), where NaN is missing and adds nothing.
    total = np.zeros(len(values), np.uint64)
    rows = max(1, HASHED // max(1, len(factors)))
    for start in range(0, len(values), rows):
        numbers = np.asarray(values[start : start + rows], np.float64)
        hashes = hash_numbers(numbers)
        if np.isnan(numbers.sum()):  # then some may be missing; it is quicker than to look at all
            hashes[np.isnan(numbers)] = 0
        total[start : start + rows] = hashes @ factors
    return total


# --- The grid that numbers are counted in, which needs neither an origin nor a scale -------------
#
# A cell is a prefix of the float itself: its sign, its exponent and its first bits. A column keeps
# the most bits that leave it at most ``CAP`` cells; when a bit is dropped, two neighbours become
# one cell and their counts are added, so that nothing is counted again. The bits that are left do
# not depend on the order of rows, on chunks or on the order of merging, and tallies that were made
# apart are merged on the coarser of their grids.
#
# `tally_cells`, `find_bins` and `score_bins` are contract, oracle and fallback of the native
# kernels, like the functions in ``naively.kernels.reference``.


CAP = 1024  # the most cells of a column
LAST_SHIFT = 62  # at which only the sign is left

SAMPLE = 4096  # rows, at most, that show how coarse the grid must be at least

Keys: TypeAlias = NDArray[np.int64]


def sortable(x: NDArray[np.floating]) -> Keys:
    """Return floats as integers in the same order; -0.0 is 0.0."""
    bits = (np.asarray(x, np.float64) + 0.0).view(np.int64)
    return np.where(bits < 0, ~(bits & np.int64(2**63 - 1)), bits)


def coarsest(keys: Keys, cap: int = CAP) -> int:
    """Return by how many bits sorted keys must be shortened to leave at most ``cap`` cells."""
    # ``keys`` has the shape (numbers,), ascending; repeated keys are allowed.
    low, high = 0, LAST_SHIFT
    while low < high:
        middle = (low + high) // 2
        if np.count_nonzero(np.diff(keys >> middle)) < cap:
            high = middle
        else:
            low = middle + 1
    return low


def tally_cells(
    values: NDArray[np.floating],  # (rows, columns), NaN is missing
    y: Integers,  # (rows,)
    w: Floats | None,  # (rows,); a row of weight 0 makes no cell
    k: int,  # classes
    cap: int,  # the most cells of a column, at least 4
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], HighLow]:
    """Count numbers by cell and class."""
    # Returned are how many bits the keys of each column have lost, (columns,); where each column's
    # cells begin, (columns + 1,); the keys of the cells, ascending in each column, (cells,); and
    # the weighted counts, (cells, classes).
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
    """Return how many of its column's edges each number reaches, (rows, columns); -1 if missing."""
    # ``edges`` are those of one column after another, ascending in each; those of column j begin at
    # ``first[j]``, of shape (columns + 1,).
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
    """Return start + Σ of the rows of ``table`` that the numbers' bins have, finished."""
    # ``values``, ``edges`` and ``first`` are those of ``find_bins``; ``table`` has the shape (bins
    # of all columns, classes), where a column has one bin more than edges. A missing cell adds 0.
    begin = first - first[0] + np.arange(len(first))
    codes = find_bins(values, edges, first)
    return score_codes(codes, begin, table, start, finish, log_prior)
