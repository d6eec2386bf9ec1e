"""Arrays are checked before they are read: masks, and the parts of sparse matrices."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What the indices of a sparse matrix are, and its numbers may be.
WHOLE = np.dtype(np.int32), np.dtype(np.int64)
MOST_COLUMNS = (1 << 31) - 1  # of a sparse matrix, whose columns have numbers of 32 bits in kernels
EXACT = 1 << 53  # beyond it some integers are no floats


def unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain array of the same shape, with NaN, NaT or None in the cells that are masked.

    Examples
    --------
    >>> unmasked(np.ma.masked_array([1, 2], [False, True]))
    array([ 1., nan])
    """
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)  # np.matrix would keep two dimensions whatever is selected
    if not np.ma.getmaskarray(array).any():
        return np.asarray(array.data)
    kind = array.dtype.kind
    if kind in "mM":
        return np.asarray(
            np.where(np.ma.getmaskarray(array), np.array("NaT", array.dtype), array.data)
        )
    small = kind in "iu" and np.abs(array.data.astype(np.float64)).max() < EXACT
    if kind == "f" or small:
        floats = array.data if kind == "f" else array.data.astype(np.float64)
        return np.where(np.ma.getmaskarray(array), np.asarray(np.nan, floats.dtype), floats)
    objects = np.asarray(array.data).astype(object)
    objects[np.ma.getmaskarray(array)] = None
    return objects


def is_plain(X: Any, kinds: Collection[np.dtype[Any]], *, sparse: bool = False) -> bool:
    """Whether X is an array, or a CSR matrix, that the kernels read as it is.

    A matrix is if its arrays belong together and each cell is there once, in order; of any other
    SciPy makes such a one, or it is refused.

    Parameters
    ----------
    X : object
        Anything.
    kinds : collection of dtype
        What its numbers may be; those of a CSR matrix may also be integers.
    sparse : bool, default False
        Whether it may be a CSR matrix.

    Examples
    --------
    >>> floats = [np.dtype(np.float64)]
    >>> is_plain(np.ones((2, 3)), floats), is_plain([[1.0]], floats)
    (True, False)
    """
    if type(X) is np.ndarray:
        return X.ndim == 2 and bool(X.size) and X.dtype in kinds
    if not sparse or getattr(X, "format", None) != "csr" or X.ndim != 2 or 0 in X.shape:
        return False
    parts = X.indptr, X.indices, X.data
    if any(type(part) is not np.ndarray or part.ndim != 1 for part in parts):
        return False
    if X.indptr.dtype not in WHOLE or X.indices.dtype not in WHOLE:
        return False
    own = X.data.dtype in kinds or X.data.dtype in WHOLE
    return own and len(X.indptr) == X.shape[0] + 1 and _is_canonical(X)


def _is_canonical(X: Any) -> bool:
    """Whether the columns of each row of a CSR matrix are those of the matrix and ascend."""
    starts, columns = X.indptr, X.indices
    if starts[0] or len(columns) != len(X.data) or starts[-1] > len(columns):
        return False
    if X.shape[1] > MOST_COLUMNS or bool((starts[1:] < starts[:-1]).any()):
        return False
    columns = columns[: starts[-1]]
    if not len(columns):
        return True
    ascends = columns[1:] > columns[:-1]
    firsts = starts[(starts > 0) & (starts < len(columns))]
    ascends[firsts - 1] = True
    return bool(columns.min() >= 0 and columns.max() < X.shape[1] and ascends.all())


def check_sparse(X: Any) -> None:
    """Raise a ValueError unless the arrays of a sparse matrix belong together.

    SciPy does not check them: wrong ones would make it read and write memory of others.
    """
    try:
        _check_parts(X)
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        what = " ".join(str(error).split())
        raise ValueError(f"X is no {X.format} matrix that can be read: {what}.") from None


def _check_parts(X: Any) -> None:
    """Check the arrays of a matrix in any of SciPy's formats."""
    if X.format in ("csr", "csc", "bsr"):
        dimensions = [part.ndim for part in (X.indptr, X.indices, X.data)]
        _expect(dimensions == [1, 1, 3 if X.format == "bsr" else 1], "dimensions are wrong")
        ends = X.indptr.size and X.indptr[0] == 0 and X.indptr[-1] <= len(X.indices)
        _expect(ends, "indptr does not begin with 0 and end within indices")
        _expect(len(X.indices) == len(X.data), "indices and data differ in length")
        X.check_format(full_check=True)
    elif X.format == "coo":
        parts = (*X.coords, X.data)
        alike = len({part.shape for part in parts}) == 1 and X.data.ndim == 1
        _expect(alike, "row, column and data differ in length")
        for part, size, what in zip(X.coords, X.shape, ("row", "column"), strict=True):
            within = not part.size or (part.min() >= 0 and part.max() < size)
            _expect(within, f"a {what} index is out of range")
    elif X.format == "dia":
        alike = X.data.ndim == 2 and X.offsets.shape == (len(X.data),)
        _expect(alike, "offsets and data differ in length")
        _expect(len(np.unique(X.offsets)) == len(X.offsets), "a diagonal is there twice")
    elif X.format == "lil":
        _check_lists(X)


def _check_lists(X: Any) -> None:
    rows, columns = X.shape
    _expect(len(X.rows) == len(X.data) == rows, "it has lists for other rows")
    for places, cells in zip(X.rows, X.data, strict=True):
        _expect(len(places) == len(cells), "columns and data of a row differ in length")
        within = all(isinstance(j, int | np.integer) and 0 <= j < columns for j in places)
        _expect(within, "a column index is out of range")


def _expect(right: Any, wrong: str) -> None:
    if not right:
        raise ValueError(wrong)
