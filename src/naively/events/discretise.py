"""How columns of numbers are cut into bins: each cell gets a bin, numbered across all columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Cells
from naively.kernels.reference import Floats

# From cells, their counts (cells, classes) and the number of bins: the bin of each cell (cells,).
Cut: TypeAlias = Callable[[Cells, Floats, int], NDArray[np.int64]]

SLACK = 1e-9  # of a bin, against rounding


def by_frequency(cells: Cells, count: Floats, bins: int) -> NDArray[np.int64]:
    """Cut so that bins hold about equally many rows.

    Each cell is a bin if its column has no more cells than bins, or if it alone holds as many rows
    as a bin.
    """
    of_cell = count.sum(axis=1)
    before = np.cumsum(of_cell) - of_cell
    begin = np.append(before, 0.0)[np.minimum(cells.first[:-1], len(of_cell))]
    total = np.bincount(cells.column, of_cell, len(cells.keys))[cells.column].astype(np.float64)
    share = np.divide(
        before - begin[cells.column], total, out=np.zeros_like(total), where=total > 0
    )
    alone = of_cell * bins >= total
    alone |= (np.diff(cells.first) <= bins)[cells.column]
    begins = np.diff(np.floor(share * bins + SLACK), prepend=-1) != 0
    begins |= alone
    begins[1:] |= alone[:-1]
    return _number(cells, np.cumsum(begins).astype(np.float64))


def by_width(cells: Cells, count: Floats, bins: int) -> NDArray[np.int64]:  # noqa: ARG001
    """Cut into bins of equal width, from the least finite number to the greatest."""
    place = np.zeros(len(cells))
    for start, end in pairwise(cells.first):
        x = cells.middle[start:end]
        finite = x[np.isfinite(x)]
        low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
        width = (high / bins - low / bins) if high > low else 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            at = np.floor(x / width - low / width + SLACK) if len(finite) else np.zeros(len(x))
        place[start:end] = np.clip(np.nan_to_num(at), 0, bins - 1)
    return _number(cells, place)


def by_entropy(cells: Cells, count: Floats, bins: int) -> NDArray[np.int64]:
    """Cut where the information gained about the class exceeds the cost to describe the cut.

    Fayyad & Irani, Multi-interval discretization of continuous-valued attributes (1993).
    """
    place = np.zeros(len(cells))
    for start, end in pairwise(cells.first.tolist()):
        cuts = sorted(_cuts(count[start:end], bins))
        place[start:end] = np.searchsorted(cuts, np.arange(end - start), side="right")
    return _number(cells, place)


def _cuts(count: Floats, bins: int) -> list[int]:
    """Return the cells at which new bins begin, found breadth first, at most ``bins`` - 1."""
    found: list[int] = []
    waiting = [(0, len(count))]
    while waiting and len(found) < bins - 1:
        start, end = waiting.pop(0)
        cut = _best_cut(count[start:end])
        if cut:
            found.append(start + cut)
            waiting += [(start, start + cut), (start + cut, end)]
    return found


def _best_cut(count: Floats) -> int:
    """Return the cell before which to cut, or 0 if no cut pays; ``count`` is (cells, classes)."""
    if len(count) < 2:
        return 0
    left = np.cumsum(count, axis=0)[:-1]
    total = count.sum(axis=0)
    right = total - left
    n, of_left, of_right = total.sum(), left.sum(axis=1), right.sum(axis=1)
    after = (of_left * _entropy(left) + of_right * _entropy(right)) / n
    cut = int(after.argmin())
    gain = float(_entropy(total[None])[0] - after[cut])
    k, k_left, k_right = ((rows > 0).sum() for rows in (total, left[cut], right[cut]))
    entropies = (
        k * _entropy(total[None])[0]
        - k_left * _entropy(left[cut][None])[0]
        - k_right * _entropy(right[cut][None])[0]
    )
    cost = (np.log2(max(n - 1, 1)) + np.log2(3.0**k - 2) - entropies) / n
    return cut + 1 if gain > cost else 0


def _entropy(count: Floats) -> Floats:
    """Return the entropy of each row of class counts, in bits."""
    total = count.sum(axis=1, keepdims=True)
    p = np.divide(count, total, out=np.zeros_like(count), where=total > 0)
    with np.errstate(divide="ignore"):
        bits: Floats = -(p * np.where(p > 0, np.log2(p), 0.0)).sum(axis=1)
    return bits


def _number(cells: Cells, place: Floats) -> NDArray[np.int64]:
    """Return the number of each cell's bin across all columns, (cells,), without gaps."""
    new = (np.diff(place, prepend=-1) != 0) | (np.diff(cells.column, prepend=-1) != 0)
    number: NDArray[np.int64] = np.cumsum(new) - 1
    return number


def edges_of(cells: Cells, bin_: NDArray[np.int64]) -> tuple[Floats, ...]:
    """Return the edges between the bins of each column, midway between their cells."""
    last = np.flatnonzero(np.diff(bin_))  # cells with which a bin ends
    last = last[cells.column[last] == cells.column[last + 1]]
    below, above = cells.high[last], cells.low[last + 1]
    with np.errstate(invalid="ignore"):
        middle = below / 2 + above / 2
    edges = np.where(middle > below, middle, above)
    ends = np.searchsorted(cells.column[last], np.arange(len(cells.keys) + 1))
    return tuple(edges[a:b] for a, b in pairwise(ends))


def extent_of(cells: Cells, bin_: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Return a number in each bin, and where the bin begins and ends, each of shape (bins,).

    A bin reaches midway to the cells beside it, and if there is none, as far as on its other side;
    a bin that is its column's only number, or that holds infinite numbers, is 1 wide.
    """
    if not len(cells):
        return np.empty(0), np.empty(0), np.empty(0)
    with np.errstate(invalid="ignore", over="ignore"):
        half = (cells.low[1:] - cells.high[:-1]) / 2  # of the gap after each cell but the last
    apart = (cells.column[1:] != cells.column[:-1]) | ~np.isfinite(half)
    half = np.where(apart, np.nan, half)
    before, after = np.append(np.nan, half), np.append(half, np.nan)
    before, after = (
        np.nan_to_num(np.where(np.isnan(near), other, near))
        for near, other in ((before, after), (after, before))
    )
    begin = np.flatnonzero(np.diff(bin_, prepend=-1))
    end = np.append(begin[1:], len(bin_)) - 1
    middle = cells.middle[(begin + end) // 2]
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = cells.low[begin] - before[begin], cells.high[end] + after[end]
        flat = ~np.isfinite(high - low) | (high <= low)
    at = np.where(np.isfinite(middle), middle, 0.0)
    return middle, np.where(flat, at - 0.5, low), np.where(flat, at + 0.5, high)


def bins_of(cells: Cells, bin_: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the column of each bin, and where it begins and ends, each of shape (bins,)."""
    _, low, high = extent_of(cells, bin_)
    return cells.column[np.flatnonzero(np.diff(bin_, prepend=-1))], low, high


CUTS: dict[str, Cut] = {"frequency": by_frequency, "width": by_width, "mdl": by_entropy}


def smoothing_kernels(bins: Floats, width: Floats, most: int) -> Floats:
    """Return Gaussian kernels over so many bins, (kernels, most, most), whose columns sum to 1."""
    number = np.arange(most)
    there = number < bins[:, None]
    distance = number[:, None] - number
    with np.errstate(divide="ignore", invalid="ignore"):
        kernel = np.exp(-0.5 * (distance / width[:, None, None]) ** 2)
    kernel = np.where(distance == 0, 1.0, kernel) * there[:, :, None]
    kernel /= np.maximum(kernel.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(kernel)
