"""Any table becomes rows: arrays, sparse matrices, lists, and every frame that Narwhals reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.labels import is_missing
from naively.data.rows import (
    ColumnRows,
    MatrixRows,
    Rows,
    SparseRows,
    as_floats,
    column_rows,
    is_number,
)

TEXT = "text"  # the name of the column that a plain list of texts makes


def as_rows(X: Any) -> Rows:
    """Read a table.

    Parameters
    ----------
    X : array, sparse matrix, frame, mapping of columns, or list of texts
        NumPy (two dimensions; objects and strings column by column), SciPy sparse, pandas,
        Polars, PyArrow and other eager frames, ``{name: column}``, nested lists of numbers, or
        strings, which make one text column.

    Raises
    ------
    ValueError
        If a column cannot be read; it names the column.
    TypeError
        If this is no table at all.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4]]).numbers(range(2))
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.ndarray):
        return _array_rows(X)
    if hasattr(X, "tocsr"):  # before mappings: SciPy's dictionary of keys is one too
        return _sparse_rows(X)
    if isinstance(X, dict):
        _refuse_twice(list(X))
        return column_rows({str(name): _column(column) for name, column in X.items()})
    if isinstance(X, str | bytes):
        raise TypeError("Expected a table or a list of texts, got one string; wrap it in a list.")
    if isinstance(X, list | tuple):
        return _list_rows(list(X))
    return _foreign_rows(X)


def _foreign_rows(X: Any) -> Rows:
    import narwhals.stable.v2 as nw

    if hasattr(X, "columns"):
        _refuse_twice(list(getattr(X, "column_names", X.columns)))
    native = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return _frame_rows(native)
    if isinstance(native, nw.Series):
        return _list_rows(_column_values(native).tolist())
    if hasattr(X, "__array__"):
        return _array_rows(np.asarray(X))
    raise TypeError(
        f"Cannot read a {type(X).__name__} as a table; pass an array, a sparse matrix, a frame, "
        "a mapping of columns or a list of texts."
    )


def _array_rows(X: NDArray[Any]) -> Rows:
    if X.ndim == 1 and X.dtype.kind in "OU" and _may_be_texts(X.tolist()):
        return _list_rows(X.tolist())
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead (shape {X.shape}). Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: numbers must be real.")
    if X.dtype.kind in "fiub":
        return MatrixRows(X, range(X.shape[1]))
    if X.dtype.kind not in "OU":
        raise ValueError(f"An array of {X.dtype} cannot be read as a table.")
    return column_rows({j: _column(X[:, j].tolist()) for j in range(X.shape[1])})


def _list_rows(values: list[Any]) -> Rows:
    if _may_be_texts(values) and not all(v is None for v in values):
        texts = _column(values)
        wrong = next((i for i, v in enumerate(texts) if not isinstance(v, str | None)), None)
        if wrong is not None:
            raise ValueError(
                f"Text {wrong} is a {type(texts[wrong]).__name__}; "
                "each must be a string or missing."
            )
        return ColumnRows({TEXT: texts}, {TEXT: "text"}, len(texts))
    if values and all(v is None for v in values):
        return ColumnRows({TEXT: _column(values)}, {TEXT: "text"}, len(values))
    array = np.asarray(values)
    if array.dtype.kind in "OU" and array.ndim == 2:
        array = np.array(values, dtype=object)  # keep numbers numbers beside strings
    return _array_rows(array)


def _may_be_texts(values: list[Any]) -> bool:
    return any(isinstance(v, str) for v in values) or all(v is None for v in values)


def _sparse_rows(X: Any) -> SparseRows:
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of shape {X.shape} instead.")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: numbers must be real.")
    matrix = X.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return SparseRows(matrix, range(matrix.shape[1]))


def _frame_rows(frame: Any) -> Rows:
    names = [str(name) for name in frame.columns]
    if names and all(dtype.is_float() for dtype in frame.schema.values()):
        return MatrixRows(_missing_as_nan(frame.to_numpy()), tuple(names))
    columns = {
        name: _column_values(series, name)  # by place: a name may be a number, as pandas' are
        for name, series in zip(names, frame.iter_columns(), strict=True)
    }
    rows = column_rows(columns)
    return rows if rows.names else ColumnRows({}, {}, len(frame))


def _refuse_twice(names: list[Any]) -> None:
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise ValueError(f"The table has more than one column named {name!r}.")
        seen.add(name)


def _missing_as_nan(matrix: NDArray[Any]) -> NDArray[Any]:
    return matrix if matrix.dtype.kind == "f" else matrix.astype(np.float64)


def _column_values(series: Any, name: str = TEXT) -> NDArray[Any]:
    """Return a series as floats, integers, booleans, or objects with None for missing."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_float():
        return _missing_as_nan(series.to_numpy())
    if dtype.is_numeric():
        if series.null_count():
            return series.cast(nw.Float64).to_numpy().astype(np.float64)  # type: ignore[no-any-return]
        values: NDArray[Any] = series.to_numpy()
        return values if values.dtype.kind in "iu" else values.astype(np.float64)
    if dtype in (nw.Date, nw.Datetime):
        moments = series.cast(nw.Datetime("us")) if dtype == nw.Date else series
        seconds = moments.dt.timestamp("us").cast(nw.Float64)
        return seconds.to_numpy().astype(np.float64) / 1e6  # type: ignore[no-any-return]
    if dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    elif dtype not in (nw.String, nw.Boolean, nw.Object, nw.Unknown):
        raise ValueError(f"Column {name!r} holds {dtype} values, which cannot be learned from.")
    return _column(
        v if there else None for v, there in zip(series.to_list(), ~series.is_null(), strict=True)
    )


def _column(values: Any) -> NDArray[Any]:
    """Return objects with None for missing; numbers stay numbers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        return values
    column = list(values)
    array = np.empty(len(column), object)
    array[:] = [None if is_missing(v) else v for v in column]
    kinds = {type(v) for v in array.tolist()} - {type(None)}
    return as_floats(array) if kinds and all(map(is_number, kinds)) else array
