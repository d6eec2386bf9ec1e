"""What was counted, as arrays of a file.

Of a table there are all numbers, or the cells that are not 0, or the rows that are different.
"""

from __future__ import annotations

import numpy as np

from naively.kernels.double_double import Floats, Sums
from naively.kernels.repeated_sums import RepeatedSums
from naively.kernels.sparse_sums import AnySums, SparseSums
from naively.model.file.container import Arrays, UnreadArrays

NOISE = 2.0**-50  # the low part of a double-double sum is at most this share of its high part
MOST = 255  # of a byte: of a larger count the rest is written apart, as few are


def write_sums(sums: AnySums, name: str, arrays: Arrays) -> None:
    """Add the arrays of sums under names that begin with ``name``.

    Low parts that are all 0 are left out.
    """
    match sums:
        case SparseSums():
            counts, low = sums.stored.high, sums.stored.low
            arrays[f"{name}/cells"], arrays[f"{name}/classes"] = np.diff(sums.first), sums.classes
            large = counts >= MOST
            more = counts[large] - MOST
            if large.any() and (more + MOST == counts[large]).all():  # it is, below 2**53
                arrays[f"{name}/more"] = more
                counts = np.where(large, MOST, counts)
            arrays[f"{name}/counts"] = counts
        case RepeatedSums():
            arrays[f"{name}/number"] = sums.number
            arrays[f"{name}/high"], low = sums.different.high, sums.different.low
        case _:
            arrays[f"{name}/high"], low = sums.high, sums.low
    if low.any():
        arrays[f"{name}/low"] = low


def read_sums(name: str, shape: tuple[int, int], unread: UnreadArrays) -> AnySums:
    """Return sums of this shape, or raise a ValueError that says why they are none."""
    rows, k = shape
    if f"{name}/number" in unread:
        return _read_repeated(name, rows, k, unread)
    if f"{name}/cells" not in unread:
        return read_all_sums(name, shape, unread)
    cells = unread.take(f"{name}/cells", "i", (rows,))
    classes = unread.take(f"{name}/classes", "c")
    if classes.ndim != 1 or (cells < 0).any() or (cells > k).any() or cells.sum() != len(classes):
        raise ValueError(f"{name} has rows that do not fill it")
    first = np.zeros(rows + 1, np.int64)
    np.cumsum(cells, out=first[1:])
    ascends = classes[1:] > classes[:-1]
    ascends[first[1:-1][(first[1:-1] > 0) & (first[1:-1] < len(classes))] - 1] = True
    if not ascends.all() or (classes < 0).any() or (classes >= k).any():
        raise ValueError(f"{name} has no such class, or one twice in a row")
    high = unread.take(f"{name}/counts", shape=classes.shape)
    if f"{name}/more" in unread:
        high, large = np.require(high, requirements="W"), np.flatnonzero(high == MOST)
        high[large] += unread.take(f"{name}/more", shape=large.shape)
    if not high.all():
        raise ValueError(f"{name} stores a number that is 0")
    return SparseSums(first, classes, _checked(name, high, unread), k)


def read_all_sums(name: str, shape: tuple[int, ...], unread: UnreadArrays) -> Sums:
    """Return sums of this shape whose numbers are all written."""
    return _checked(name, unread.take(f"{name}/high", shape=shape), unread)


def _read_repeated(name: str, rows: int, k: int, unread: UnreadArrays) -> RepeatedSums:
    """Return sums of which few rows are different."""
    number = unread.take(f"{name}/number", "c", (rows,))
    high = unread.take(f"{name}/high")
    if high.ndim != 2 or high.shape[1] != k or ((number < 0) | (number >= len(high))).any():
        raise ValueError(f"{name} has no such row, or rows of other classes")
    return RepeatedSums(_checked(name, high, unread), number)


def _checked(name: str, high: Floats, unread: UnreadArrays) -> Sums:
    """Return double-double sums, which are finite and rounded as such are."""
    low = unread.take(f"{name}/low", shape=high.shape) if f"{name}/low" in unread else None
    if not all(np.isfinite(part).all() for part in (high, low) if part is not None):
        raise ValueError(f"{name} holds numbers that are not finite")
    if low is not None and (np.abs(low) > NOISE * np.abs(high)).any():
        raise ValueError(f"{name} holds sums whose two parts do not fit")
    return Sums(high, low)
