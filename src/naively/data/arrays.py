"""Arrays are looked at before anything is read from them: masks, and the parts of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT = 1 << 53  # whole numbers beyond it are not all floats


def unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain array, in which masked cells are missing: NaN, NaT, or None of objects.

    Examples
    --------
    >>> unmasked(np.ma.masked_array([1, 2], [False, True]))
    array([ 1., nan])
    """
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)  # a matrix is no array of one dimension, whichever is taken
    if not np.ma.getmaskarray(array).any():
        return np.asarray(array.data)
    kind = array.dtype.kind
    if kind in "mM":
        return np.asarray(array.filled(np.array("NaT", array.dtype)))
    small = kind in "iu" and np.abs(array.data.astype(np.float64)).max() < EXACT
    if kind == "f" or small:
        floats = array if kind == "f" else array.astype(np.float64)
        return np.asarray(floats.filled(np.nan))
    objects = np.asarray(array.data).astype(object)
    objects[np.ma.getmaskarray(array)] = None
    return objects


def check_sparse(X: Any) -> None:
    """Raise a ValueError unless the parts of a sparse matrix belong together.

    SciPy trusts them: what is wrong reads and writes memory that is not the matrix's.
    """
    try:
        _check_parts(X)
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        what = " ".join(str(error).split())
        raise ValueError(f"X is no {X.format} matrix that can be read: {what}.") from None


def _check_parts(X: Any) -> None:
    rows, columns = X.shape
    if X.format in ("csr", "csc", "bsr"):
        if X.indptr.ndim != 1 or X.indices.ndim != 1 or X.data.ndim != (3 if X.format == "bsr" else 1):
            raise ValueError("its parts have the wrong number of dimensions")
        if not X.indptr.size or X.indptr[0] != 0 or X.indptr[-1] > len(X.indices):
            raise ValueError("indptr does not begin with 0 and end within indices")
        if len(X.indices) != len(X.data):
            raise ValueError("indices and data differ in length")
        X.check_format(full_check=True)
    elif X.format == "coo":
        lengths = {len(part) for part in (*X.coords, X.data)}
        if len(lengths) > 1 or any(part.ndim != 1 for part in (*X.coords, X.data)):
            raise ValueError("row, column and data differ in length")
        for part, size, what in zip(X.coords, (rows, columns), ("row", "column"), strict=True):
            if part.size and not (part.min() >= 0 and part.max() < size):
                raise ValueError(f"a {what} index is out of range")
    elif X.format == "dia":
        if X.data.ndim != 2 or X.offsets.shape != (len(X.data),):
            raise ValueError("offsets and data differ in length")
        if len(np.unique(X.offsets)) < len(X.offsets):
            raise ValueError("a diagonal is there twice")
    elif X.format == "lil":
        if len(X.rows) != rows or len(X.data) != rows:
            raise ValueError("it has lists for other rows")
        for places, cells in zip(X.rows, X.data, strict=True):
            if len(places) != len(cells):
                raise ValueError("columns and data of a row differ in length")
            if not all(isinstance(j, int | np.integer) and 0 <= j < columns for j in places):
                raise ValueError("a column index is out of range")
