"""Any column becomes an array of shape (rows,) of one kind, whatever cells it arrives in.

Numbers are floats, NaN where a cell is missing, or integers if no cell is missing. Times are
``datetime64[us]`` in UTC, NaT where missing. Strings are objects, None where missing; so are
booleans and integers beyond 2**53 if any cell is missing. A cell that is a list of words, or of
integers that stand for words, is a text.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import is_missing, plain
from naively.counting.names import Name
from naively.data.arrays import EXACT, unmasked

Kind: TypeAlias = Literal["number", "boolean", "string", "text", "time", "part", "interaction"]
Column: TypeAlias = "tuple[NDArray[Any], Kind | None]"  # the kind is None if all cells are missing

TIME = np.dtype("datetime64[us]")
NAT, SECOND = np.datetime64("NaT", "us"), np.timedelta64(1, "s")

FAMILIES: dict[str, tuple[type, ...]] = {  # of two families that fit a cell, the first counts
    "duration": (dt.timedelta, np.timedelta64),
    "boolean": (bool, np.bool_),
    "number": (int, float, np.integer, np.floating, Decimal, Fraction),
    "string": (str,),
    "time": (dt.date, np.datetime64),
    "clock": (dt.time,),
    "words": (list, tuple, np.ndarray),
}


def read_column(name: Name, values: Any) -> Column:
    """Read a NumPy array or a sequence of cells as a column of one kind.

    Raises
    ------
    TypeError
        If the values are no sequence of cells.
    ValueError
        If a cell cannot be learned from; the message names the column.

    Examples
    --------
    >>> read_column("x", [1, None, 2.5])
    (array([1. , nan, 2.5]), 'number')
    >>> read_column("day", ["2020-02-03", None])
    (array(['2020-02-03', None], dtype=object), 'string')
    """
    if isinstance(values, np.ndarray):
        return _of_array(name, unmasked(values))
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(
            f"Column {name!r} is one {type(values).__name__}; it must be a sequence of cells."
        )
    return _of_cells(name, list(values))


def read_series(name: Name, series: Any) -> Column:
    """Read a Narwhals series as a column of one kind."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_float() or dtype.is_decimal():
        floats = series if dtype.is_float() else series.cast(nw.Float64)
        return _of_array(name, floats.to_numpy().astype(np.float64, copy=False))
    if dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128) and not series.null_count():
        return read_column(name, series.to_numpy())
    if dtype in (nw.Date, nw.Datetime):
        moments = series.cast(nw.Datetime("us")) if dtype == nw.Date else series
        missing = np.iinfo(np.int64).min  # NaT
        stamps = moments.dt.timestamp("us").fill_null(missing).to_numpy().astype(np.int64)
        return _of_array(name, stamps.view(TIME))
    if dtype == nw.Duration:
        return _of_array(name, series.dt.total_microseconds().cast(nw.Float64).to_numpy() / 1e6)
    if dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    elif dtype in (nw.Struct, nw.Binary):
        raise _unusable(name, f"{dtype} values")
    return _of_cells(name, series.to_list())


def as_floats(column: NDArray[Any]) -> NDArray[np.floating]:
    """Return numbers, booleans or times (as seconds since 1970) as floats of shape (rows,).

    A missing cell is NaN.
    """
    if column.dtype.kind == "M":
        return (column - np.datetime64(0, "us")) / SECOND
    if column.dtype.kind in "fiub":
        return column.astype(np.float64, copy=False)
    return np.array([np.nan if value is None else value for value in column.tolist()], np.float64)


def as_times(cells: Sequence[Any]) -> NDArray[np.datetime64]:
    """Return dates and times as an array of shape (rows,); those with a zone are turned to UTC."""
    utc = (
        cell.astimezone(dt.UTC).replace(tzinfo=None)
        if isinstance(cell, dt.datetime) and cell.tzinfo
        else cell
        for cell in cells
    )
    return np.array([NAT if cell is None else np.datetime64(cell, "us") for cell in utc], TIME)


def _of_array(name: Name, array: NDArray[Any]) -> Column:
    """Return an array of shape (rows,) as a column, by its type."""
    if array.ndim != 1:
        raise ValueError(
            f"Column {name!r} has {array.ndim} dimensions; it must have one cell a row."
        )
    kind = array.dtype.kind
    if kind == "m":
        return _of_array(name, array / SECOND)
    if kind in "fM":
        if kind == "M" or array.dtype not in (np.float32, np.float64):
            array = array.astype(TIME if kind == "M" else np.float64)
        return array, None if _all_missing(array) else _KIND[kind]
    if kind in _KIND:
        return array, _KIND[kind]
    if kind == "S":
        try:
            array = np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise _unusable(name, "bytes that are not UTF-8") from None
    elif kind not in "OUT":
        raise _unusable(name, f"{array.dtype} values")
    return _of_cells(name, array.tolist())


def _all_missing(array: NDArray[Any]) -> bool:
    """Whether every cell is NaN or NaT; only the first is looked at if it is neither."""
    return len(array) > 0 and bool(np.isnan(array[0]) and np.isnan(array).all())


def _of_cells(name: Name, cells: list[Any]) -> Column:
    """Return cells as a column, by the types of the cells."""
    kinds = set(map(type, cells))
    if not kinds <= {str, type(None)}:
        lists = FAMILIES["words"]
        cells = [None if not isinstance(c, lists) and is_missing(c) else plain(c) for c in cells]
        kinds = set(map(type, cells))
    families = {_family(kind) for kind in kinds - {type(None)}}
    if None in families:
        row = next(i for i, c in enumerate(cells) if c is not None and _family(type(c)) is None)
        raise ValueError(
            f"Column {name!r} holds a {type(cells[row]).__name__} in row {row}; "
            "a cell must be a number, a string, a boolean, a time or missing."
        )
    if len(families) > 1:
        return _of_mixed(name, cells, cast("set[str]", families))
    family = families.pop() if families else None
    if family is None:
        return _objects(cells), None
    if family == "number":
        return _numbers(name, cells), "number"
    if family == "words":
        return _objects([_words(name, row, cell) for row, cell in enumerate(cells)]), "text"
    if family in _TO_ARRAY:
        return _of_array(name, _TO_ARRAY[family](cells))
    return _objects(cells), cast("Kind", family)


def _of_mixed(name: Name, cells: list[Any], families: set[str]) -> Column:
    """Return cells of several kinds as numbers or as strings, with a warning.

    Booleans beside numbers are numbers, and anything beside strings is a string.
    """
    first = next(cell for cell in cells if cell is not None)
    row = next(
        i for i, c in enumerate(cells) if c is not None and _family(type(c)) != _family(type(first))
    )
    mixed = f"Column {name!r} mixes {' and '.join(sorted(f'{f}s' for f in families))}"
    where = f"(first in row {row})"
    if families == {"boolean", "number"}:
        warnings.warn(f"{mixed} {where}: read as numbers.", stacklevel=2)
        return _numbers(name, [None if c is None else c + 0 for c in cells]), "number"
    if "string" in families:
        warnings.warn(f"{mixed} {where}: read as strings.", stacklevel=2)
        return _objects([None if c is None else _as_string(c) for c in cells]), "string"
    raise ValueError(f"{mixed} {where}; make it all of one kind.")


def _words(name: Name, row: int, cell: Any) -> list[str] | None:
    """Return the words in a cell; integers stand for words and become strings."""
    words = cell.tolist() if isinstance(cell, np.ndarray) else cell
    if words is None or all(isinstance(word, str) for word in words):
        return words if words is None else list(map(str, words))
    if all(isinstance(word, int | np.integer) and not isinstance(word, bool) for word in words):
        return list(map(str, words))
    raise ValueError(
        f"Column {name!r} holds a list in row {row} that is not of words, nor of whole numbers "
        "that stand for words; make numbers into columns of their own."
    )


def _family(kind: type) -> str | None:
    return next((name for name, types in FAMILIES.items() if issubclass(kind, types)), None)


def _as_string(cell: Any) -> str:
    """Return a cell as a string; 1 and 1.0 are both "1"."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell)


def _numbers(name: Name, cells: list[Any]) -> NDArray[Any]:
    """Return numbers as floats, or as integers if none is missing or a float would not be exact."""
    there = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, int | np.integer) for cell in there):
        if max(map(abs, map(int, there)), default=0) > EXACT:
            return _large(name, cells)
        if len(there) == len(cells):
            return np.array(cells, np.int64)
    try:
        return np.array([np.nan if cell is None else cell for cell in cells], np.float64)
    except OverflowError:
        raise _unusable(name, "numbers that are too large") from None


def _large(name: Name, cells: list[Any]) -> NDArray[Any]:
    """Return integers of which some are no floats: as int64, or as objects if they do not fit."""
    try:
        np.array([0 if cell is None else cell for cell in cells], np.float64)
    except OverflowError:
        raise _unusable(name, "whole numbers that are too large") from None
    try:
        return np.array(cells, np.int64)
    except (TypeError, OverflowError):
        return _objects([None if cell is None else int(cell) for cell in cells])


def _durations(cells: list[Any]) -> NDArray[Any]:
    return np.array([np.nan if c is None else np.timedelta64(c) / SECOND for c in cells])


def _clocks(cells: list[Any]) -> NDArray[Any]:
    """Return times of day as seconds since midnight."""
    return np.array(
        [
            np.nan if c is None else 3600 * c.hour + 60 * c.minute + c.second + c.microsecond / 1e6
            for c in cells
        ]
    )


_KIND: dict[str, Kind] = {"f": "number", "i": "number", "u": "number", "b": "boolean", "M": "time"}
_TO_ARRAY: dict[str, Callable[[list[Any]], NDArray[Any]]] = {
    "time": as_times,
    "duration": _durations,
    "clock": _clocks,
}


def _objects(cells: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(cells), object)
    array[:] = cells
    return array


def _unusable(name: Name, what: str) -> ValueError:
    return ValueError(f"Column {name!r} holds {what}, which cannot be learned from.")
