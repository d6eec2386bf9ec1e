"""A column's cells and their kind, from arrays and buffers of any library."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name
from naively.counting.labels import is_missing, plain
from naively.kernels import dispatch
from naively.kernels.strings import Strings
from naively.messages import warn

# --- Arrays are checked before they are read: masks, and the parts of sparse matrices ------------


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


# --- Any column becomes cells of shape (rows,) of one kind, whatever they arrive in --------------
#
# Numbers are floats, NaN where a cell is missing, or integers if no cell is missing; integers
# beyond 2**53 are objects if any cell is missing. Booleans are floats if any cell is missing.
# Times are ``datetime64[us]`` in UTC, NaT where missing. Strings are `Strings`. A cell that is a
# list of words, or of integers that stand for words, is a text: such a column, and one that is
# missing throughout, has objects, None where missing.


Kind: TypeAlias = Literal[
    "number", "boolean", "string", "text", "time", "part", "missing", "interaction"
]
Cells: TypeAlias = "NDArray[Any] | Strings"  # of shape (rows,)
Column: TypeAlias = tuple[Cells, Kind | None]  # the kind is None if all cells are missing

TIME = np.dtype("datetime64[us]")
NOT_A_TIME, SECOND = np.datetime64("NaT", "us"), np.timedelta64(1, "s")

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
    (Strings(['2020-02-03', None]), 'string')
    """
    if isinstance(values, np.ndarray):
        return _of_array(name, unmasked(values))
    if isinstance(values, Strings):
        return values, "string"
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(
            f"Column {name!r} is one {type(values).__name__}; it must be a sequence of cells."
        )
    return _of_cells(name, list(values))


def refuse_twice(names: Iterable[object]) -> None:
    """Raise a ValueError if a column's name is there more than once."""
    written = list(map(str, names))
    if len(set(written)) < len(written):
        twice = next(name for name, count in Counter(written).items() if count > 1)
        raise ValueError(f"The table has more than one column named {twice!r}; rename one.")


def as_floats(cells: Cells) -> NDArray[np.floating]:
    """Return numbers, booleans or times (as seconds since 1970) as floats of shape (rows,).

    A missing cell is NaN.
    """
    if isinstance(cells, Strings):
        raise TypeError("strings are no numbers")
    if cells.dtype.kind == "M":
        seconds: NDArray[np.float64] = (cells - np.datetime64(0, "us")) / SECOND
        return seconds
    if cells.dtype.kind in "fiub":
        return cells if cells.dtype == np.float32 else cells.astype(np.float64, copy=False)
    return np.array([np.nan if value is None else value for value in cells.tolist()], np.float64)


def as_objects(cells: Cells, kind: Kind | None) -> NDArray[Any]:
    """Return cells of shape (rows,) as an array that people read: None where one is missing.

    Numbers and times stay as they are, with NaN and NaT.
    """
    if isinstance(cells, Strings):
        return _objects(list(cells))
    if kind == "boolean" and cells.dtype.kind == "f":
        truths: NDArray[Any] = (cells == 1).astype(object)
        truths[np.isnan(cells)] = None
        return truths
    return cells


def as_strings(cells: NDArray[Any]) -> Strings:
    """Return cells of any kind, of shape (rows,), as strings."""
    written = [None if is_missing(cell) else str(cell) for cell in cells.tolist()]
    return cast("Strings", dispatch.pack_strings(written))


def taken(cells: Cells, rows: Any) -> Cells:
    """Return the cells of an index: a slice, a mask of shape (rows,), or an array of places."""
    if isinstance(rows, slice) or not isinstance(cells, Strings):
        some: Cells = cells[rows]
        return some
    return dispatch.take_strings(cells, np.arange(len(cells))[rows])


def as_times(cells: Sequence[Any]) -> NDArray[np.datetime64]:
    """Return dates and times as an array of shape (rows,); those with a zone are turned to UTC."""
    utc = (
        cell.astimezone(dt.UTC).replace(tzinfo=None)
        if isinstance(cell, dt.datetime) and cell.tzinfo
        else cell
        for cell in cells
    )
    return np.array(
        [NOT_A_TIME if cell is None else np.datetime64(cell, "us") for cell in utc], TIME
    )


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
        return array, None if all_missing(array) else _KIND[kind]
    if kind in _KIND:
        return array, _KIND[kind]
    if kind == "S":
        try:
            array = np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise unusable(name, "bytes that are not UTF-8") from None
    elif kind not in "OUT":
        raise unusable(name, f"{array.dtype} values")
    return _of_cells(name, array if kind == "O" else array.tolist())


def all_missing(array: NDArray[Any]) -> bool:
    """Whether every cell is NaN or NaT; only the first is looked at if it is neither."""
    return len(array) > 0 and bool(np.isnan(array[0]) and np.isnan(array).all())


def _of_cells(name: Name, cells: list[Any] | NDArray[np.object_]) -> Column:
    """Return cells as a column, by the types of the cells."""
    strings = dispatch.pack_strings(cells)
    if strings is not None and strings.any_there:
        return strings, "string"
    lists = FAMILIES["words"]
    cells = [
        None if not isinstance(c, lists) and is_missing(c) else plain(c) for c in _listed(cells)
    ]
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
    if family == "boolean":
        truths = np.array([np.nan if c is None else c for c in cells], np.float64)
        return (truths if None in cells else truths.astype(np.bool_)), "boolean"
    if family == "string":  # with missing cells of other libraries
        return cast("Strings", dispatch.pack_strings(cells)), "string"
    return _of_array(name, _TO_ARRAY[family](cells))


def _listed(cells: list[Any] | NDArray[np.object_]) -> list[Any]:
    return cells if isinstance(cells, list) else cells.tolist()


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
        warn(f"{mixed} {where}: read as numbers.")
        return _numbers(name, [None if c is None else c + 0 for c in cells]), "number"
    if "string" in families:
        warn(f"{mixed} {where}: read as strings.")
        written = [None if c is None else _as_string(c) for c in cells]
        return cast("Strings", dispatch.pack_strings(written)), "string"
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
        raise unusable(name, "numbers that are too large") from None


def _large(name: Name, cells: list[Any]) -> NDArray[Any]:
    """Return integers of which some are no floats: as int64, or as objects if they do not fit."""
    try:
        np.array([0 if cell is None else cell for cell in cells], np.float64)
    except OverflowError:
        raise unusable(name, "whole numbers that are too large") from None
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


def unusable(name: Name, what: str) -> ValueError:
    """Return the error of a column that nothing can be learned from."""
    return ValueError(f"Column {name!r} holds {what}, which cannot be learned from.")
