"""Data frames of pandas are read column by column; they speak Arrow only where PyArrow is."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import numpy as np

from naively.counting.axis import Name
from naively.data.arrow import ArrowStream
from naively.data.columns import (
    EXACT,
    Column,
    MatrixRows,
    all_missing,
    levels_at,
    read_column,
    refuse_twice,
)

FEW = 8  # strings, or rows
PLAIN = "int64", "float64", "bool"  # types whose cells are Python's own, as those of strings are


def read_frame(frame: Any, dtypes: list[Any]) -> dict[str, Column]:
    """Read the columns of a data frame, which have these types."""
    names = list(map(str, frame.columns.tolist()))
    refuse_twice(names)
    if 0 < len(frame) <= FEW and all(map(_is_plain, dtypes)):
        try:
            cells = frame.to_numpy(object).T.tolist()  # a series for each column takes longer
        except Exception:  # noqa: BLE001  Arrow's, of bytes that are no UTF-8: said below, by column
            cells = None
        if cells is not None:
            return {name: read_column(name, of) for name, of in zip(names, cells, strict=True)}
    every = (series for _, series in frame.items())
    return {name: read_series(name, series) for name, series in zip(names, every, strict=True)}


def _is_plain(dtype: Any) -> bool:
    return dtype.name in PLAIN if isinstance(dtype, np.dtype) else is_string(dtype)


def read_matrix(frame: Any, dtypes: list[Any]) -> MatrixRows | None:
    """Return the rows of a data frame of floats of one type as they lie; None of any other."""
    if not dtypes or dtypes[0] not in (np.float32, np.float64):
        return None
    if any(other is not dtypes[0] for other in dtypes):
        return None
    names = tuple(map(str, frame.columns.tolist()))
    refuse_twice(names)
    return MatrixRows(frame.to_numpy(), names)


def read_series(name: Name, series: Any) -> Column:
    """Read a series as a column of one kind, whatever its type and storage.

    Examples
    --------
    >>> import pandas as pd
    >>> read_series("n", pd.Series([1, None], dtype="Int64"))
    (array([ 1., nan]), 'number')
    """
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return read_column(name, series.to_numpy())
    pd = sys.modules["pandas"]
    match dtype:
        case pd.ArrowDtype():
            return ArrowStream(series.array.__arrow_array__()).read_column(name)
        case pd.StringDtype():
            if dtype.storage != "python":
                return _strings(name, series.array.__arrow_array__())
            return read_column(name, series.to_numpy(object, na_value=None))
        case pd.CategoricalDtype():
            return _categories(name, series.array)
        case pd.DatetimeTZDtype():
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        case pd.SparseDtype():
            pass
        case _ if dtype.kind in "iufb":  # of a type that can be missing
            return _numbers(name, series)
        case _:
            return _unusual(name, series)
    return read_column(name, series.to_numpy())


def _unusual(name: Name, series: Any) -> Column:
    """Read a series of intervals, whose names are levels, or of periods, which begin at a time."""
    pd = sys.modules["pandas"]
    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    elif isinstance(series.dtype, pd.IntervalDtype):
        missing = series.isna().tolist()
        return read_column(
            name, [None if none else str(x) for x, none in zip(series, missing, strict=True)]
        )
    return read_column(name, series.to_numpy())


def _strings(name: Name, array: Any) -> Column:
    """Read strings in a chunked array of PyArrow; a few are sooner read one by one."""
    if len(array) <= FEW:
        with suppress(UnicodeDecodeError):
            return read_column(name, array.to_pylist())
    return ArrowStream(array).read_column(name)


def is_string(dtype: Any) -> bool:
    """Whether a type is one of strings alone."""
    return isinstance(dtype, sys.modules["pandas"].StringDtype)


def _numbers(name: Name, series: Any) -> Column:
    """Read numbers or booleans of a type that can be missing."""
    kind = series.dtype.kind
    if not series.hasnans:
        return read_column(name, series.to_numpy(series.dtype.numpy_dtype))
    floats = series.to_numpy(np.float64, na_value=np.nan)
    if kind in "iu" and np.nanmax(np.abs(floats), initial=0) >= EXACT:
        return read_column(name, series.to_numpy(object, na_value=None))
    if all_missing(floats):
        return floats, None
    return floats, "boolean" if kind == "b" else "number"


def _categories(name: Name, array: Any) -> Column:
    """Read categories: whatever they are, a level is a string."""
    codes = np.asarray(array.codes, np.int64)
    if not (codes >= 0).any():
        return np.full(len(codes), None, object), None
    levels, _ = read_series(name, array.categories.to_series())
    return levels_at(levels, codes), "string"
