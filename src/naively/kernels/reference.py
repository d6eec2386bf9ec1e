"""What the kernels compute, in plain NumPy: the contract, the oracle, and the fallback.

Counting: ``tally_*`` returns sums per (row of the table, class), the tables of shape
(features, classes), as double-double pairs ``(high, low)``; ``low`` is None where every sum is
exact (whole numbers below 2**53).
Scoring: ``score_*`` adds each row's log likelihoods to ``start``, which is (classes,) or
(rows, classes), and then finishes: "joint" gives the sums themselves, "log_posterior" and
"posterior" normalise them over the classes, "label" gives the index of the largest (int32; the
first of equals). A row that every class calls impossible (-inf) gets the class prior.

``y`` holds class indices (int32), ``w`` sample weights (float64) or None. Missing cells (NaN, a
negative code, a None text) add nothing. The native module has the same functions, faster;
``naively.kernels.dispatch`` chooses.

Where a row's sums are past ``MOST``, its numbers (of a quadratic, their distances from the means)
are held
at ``FAR`` and what each adds at ``MOST``: the class that outgrows the others still does, and
neither NaN nor an infinity comes of a finite table.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.kernels.double_double import Sums

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.integer]
Pair: TypeAlias = "tuple[Floats, Floats | None]"
Finish: TypeAlias = Literal["joint", "log_posterior", "posterior", "label"]

EXACT = 2.0**53  # whole numbers up to here are float64
TILE = 4096  # rows at a time, so that temporaries stay in the cache
FAR = 1e140  # whose square leaves room for factors below MOST
MOST = 1e290  # of which a million are


def tally_dense(X: NDArray[np.floating], y: Integers, w: Floats | None, k: int) -> list[Pair]:
    """Weighted number, sum and sum of squares of the present cells: three (columns, k) pairs.

    Infinite cells make sums that are not finite.
    """
    check_codes(y, k, "class")
    with np.errstate(invalid="ignore", over="ignore"):
        return _tally_dense(X, y, w, k)


def _tally_dense(X: NDArray[np.floating], y: Integers, w: Floats | None, k: int) -> list[Pair]:
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
) -> Pair:
    """Weighted sums of the stored values of a CSR matrix: one (width, k) pair."""
    check_codes(y, k, "class")
    check_codes(indices, width, "column")
    row = np.repeat(np.arange(len(y)), np.diff(indptr))
    entries = slice(int(indptr[0]), int(indptr[-1]))
    indices, data = indices[entries], data[entries]
    present = ~np.isnan(data)
    row, indices, data = row[present], indices[present], data[present]
    cell = indices.astype(np.int64) * k + y[row]
    return scatter(cell, data, None if w is None else w[row], (width, k))


def tally_codes(codes: Integers, first: Integers, y: Integers, w: Floats | None, k: int) -> Pair:
    """Weighted counts of each level: one (all levels, k) pair.

    Column j of ``codes`` counts into rows ``first[j]`` to ``first[j + 1]``; negative is missing.
    """
    check_codes(y, k, "class")
    if (codes >= np.diff(first)).any():
        raise ValueError("a level code is out of range")
    level = codes.astype(np.int64) + first[:-1]
    row, column = np.nonzero(codes >= 0)
    weight = np.ones(len(row)) if w is None else w[row]
    return scatter(level[row, column] * k + y[row], weight, None, (int(first[-1]), k))


def scatter(
    cell: NDArray[np.int64],
    value: NDArray[np.number],
    weight: Floats | None,
    shape: tuple[int, int],
) -> Pair:
    """Add ``value * weight`` into the flat cells of a table, exactly or in double-double."""
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


def score_linear(
    X: NDArray[np.floating],
    slope: Floats,
    offset: Floats | None,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
) -> NDArray[np.generic]:
    """Start + x·slope over present cells; a missing cell takes its ``offset`` back out of start.

    Zero times an infinite slope is zero: what was not seen says nothing.
    """
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
            sums = _held(x[i, there], slope[there])
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
) -> NDArray[np.generic]:
    """Start - half_precision·(x - mean)², centred, over present cells; offset as above."""
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
) -> NDArray[np.generic]:
    """Start + x·slope for the rows of a CSR matrix; zero or NaN entries add nothing."""
    from scipy.sparse import csr_array

    check_codes(indices, len(slope), "column")
    entries = slice(int(indptr[0]), int(indptr[-1]))
    indptr, indices, data = indptr - indptr[0], indices[entries], data[entries]
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
        out[i] = _start_of(start, i) + _held(data[of_row], slope[indices[of_row]])
    return finish_rows(out, finish, log_prior)


def score_codes(
    codes: Integers,
    first: Integers,
    table: Floats,
    start: Floats,
    finish: Finish,
    log_prior: Floats,
) -> NDArray[np.generic]:
    """Start + the table's row of each level; column j reads rows ``first[j] + code``.

    A code past the last row of its column reads that row.
    """
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
    """Return which rows have a sum past ``MOST``, or NaN, that did not start as an infinity."""
    begun = np.isfinite(start if start.ndim == 1 else start[rows])
    overflown: list[int] = np.flatnonzero((begun & ~(np.abs(joint) <= MOST)).any(axis=1)).tolist()
    return overflown


def _start_of(start: Floats, row: int) -> Floats:
    return start if start.ndim == 1 else start[row]


def _held(x: NDArray[np.number], slope: Floats) -> Floats:
    """Return the sum of x·slope over the cells of a row, each held; an infinite slope is not."""
    with np.errstate(over="ignore"):
        cells = hold(x)[:, None] * slope
    total: Floats = np.where(np.isinf(slope), cells, np.clip(cells, -MOST, MOST)).sum(axis=0)
    return total


def hold(x: NDArray[np.number]) -> Floats:
    """Return numbers, none of them farther out than ``FAR``; NaN stays."""
    held: Floats = np.clip(np.asarray(x, np.float64), -FAR, FAR)
    return held


def finish_rows(joint: Floats, finish: Finish, log_prior: Floats) -> NDArray[np.generic]:
    """Turn joint log likelihoods into what was asked for; may reuse the memory of ``joint``."""
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


def check_codes(codes: Integers, size: int, what: str) -> None:
    """Raise unless every index is in [0, size)."""
    if codes.size and (codes.min() < 0 or codes.max() >= size):
        raise ValueError(f"a {what} index is out of range")
