"""The sum of sparse tables, or a difference, in plain NumPy; the native kernel is faster.

A table is four arrays, as in `SparseSums`: where the cells of each row begin, and of each cell its
class, its number, and the rounding error of the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.kernels.checks import check_codes, check_starts
from naively.kernels.double_double import CANCELLED, Sums
from naively.kernels.reference import Floats

Cells: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]"
Part: TypeAlias = (
    "tuple[NDArray[np.int64] | None, NDArray[np.int64], NDArray[np.int32], Floats, Floats]"
)


def sum_sparse(parts: Sequence[Part], rows: int, k: int, difference: bool = False) -> Cells:
    """Return the sum of tables of k classes, whose rows may stand at different places.

    Parameters
    ----------
    parts : sequence of (places, first, classes, high, low)
        Of each table the place of each row in the sum, int64 of shape (its rows,), no two alike, or
        None where row i stands at i; where the cells of each row begin, int64 of shape
        (its rows + 1,), from 0; and of its cells, in order of their classes within each row, the
        classes, int32, the numbers and their rounding errors, float64, each of shape (its cells,).
    rows : int
        How many rows the sum has.
    k : int
        How many classes there are.
    difference : bool, default False
        Whether the second of two tables is subtracted from the first. What is as small beside both
        numbers of a cell as rounding is 0 then.

    Returns
    -------
    first, classes, high, low : ndarray
        Of the sum, as above. A cell that adds up to 0 is not stored.

    Raises
    ------
    ValueError
        If a difference is not of two tables, a place or a class is out of range, or ``first`` does
        not fit the cells.

    Examples
    --------
    >>> one = np.array([0, 1, 2]), np.array([0, 1], np.int32), np.array([2.0, 3.0]), np.zeros(2)
    >>> first, classes, high, low = sum_sparse([(None, *one), (np.array([2, 0]), *one)], 3, 2)
    >>> first, classes, high
    (array([0, 2, 3, 4]), array([0, 1, 1, 0], dtype=int32), array([2., 3., 3., 2.]))
    """
    if difference and len(parts) != 2:
        raise ValueError("a difference is of two tables")
    cells = [_cells(*part, rows, k) for part in parts]
    if difference:
        row, classes, high, low = cells[1]
        cells[1] = row, classes, -high, -low
    row, classes, high, low = (np.concatenate(arrays) for arrays in zip(*cells, strict=True))
    key = row * k + classes
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else order
    total = Sums(high[order], low[order]).total_by_group(begins)
    keep = (total.high != 0) | (total.low != 0)
    if difference and len(begins):
        keep &= np.abs(total.high) > CANCELLED * np.add.reduceat(np.abs(high[order]), begins)
    row, classes = np.divmod(key[begins][keep], max(k, 1))
    first = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=rows), out=first[1:])
    return first, classes.astype(np.int32), total.high[keep], total.low[keep]


def _cells(
    places: NDArray[np.int64] | None,
    first: NDArray[np.int64],
    classes: NDArray[np.int32],
    high: Floats,
    low: Floats,
    rows: int,
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]:
    """Return the row in the sum, the class, the number and its error of each cell of a table."""
    check_starts(first)
    if first[0] != 0 or not first[-1] == len(classes) == len(high) == len(low):
        raise ValueError("first does not fit the cells")
    own = np.arange(len(first) - 1) if places is None else places
    if len(own) != len(first) - 1:
        raise ValueError("each row has a place")
    check_codes(own, rows, "row")
    check_codes(classes, k, "class")
    return np.repeat(own, np.diff(first)), classes, high, low
