"""A column's cells and their kind, from arrays and buffers of any library."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name
from naively.counting.labels import is_missing, missing_among, plain
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.strings import Strings
from naively.messages import warn

# --- Any column becomes cells of shape (rows,) of one kind, whatever they arrive in --------------
#
# Numbers are floats, NaN where a cell is missing, or integers if no cell is missing; integers
# beyond 2**53 are objects if any cell is missing. Booleans are floats if any cell is missing.
# Times are ``datetime64[us]`` in UTC, NaT where missing. Strings are `Strings`. A cell that is a
# list of words, or of integers that stand for words, is a text: such a column, and one that is
# missing throughout, has objects, None where missing.


Kind: TypeAlias = Literal[
    "number", "boolean", "string", "text", "time", "word", "part", "missing", "missing as"
]
Content: TypeAlias = Literal["number", "time", "clock", "truth", "levels", "missing"]
Cells: TypeAlias = "NDArray[Any] | Strings"  # of shape (rows,)
Column: TypeAlias = tuple[Cells, Kind | None]  # the kind is None if all cells are missing

TIME = np.dtype("datetime64[us]")
STRINGS = {str, type(None)}  # the types of cells that are strings
FEW = 32  # strings that are kept as they are until more than their cells is asked for
NOT_A_TIME, SECOND = np.datetime64("NaT", "us"), np.timedelta64(1, "s")

KINDS: dict[Content, Kind] = {
    "number": "number",
    "clock": "number",
    "time": "time",
    "truth": "boolean",
    "levels": "string",
    "missing": "string",  # whatever a mark means, it is a level until numbers come
}
FAMILIES: dict[str, tuple[type, ...]] = {  # of two families that fit a cell, the first counts
    "duration": (dt.timedelta, np.timedelta64),
    "boolean": (bool, np.bool_),
    "number": (int, float, np.integer, np.floating, Decimal, Fraction),
    "string": (str, bytes, UUID),
    "time": (dt.date, np.datetime64),
    "clock": (dt.time,),
    "words": (list, tuple, np.ndarray),
}


class Reading(Frozen, eq=True):
    """How the strings of a column are read."""

    content: Content  # what the column is. Clock times are numbers, of seconds
    comma: bool = False  # whether numbers have a decimal comma where both marks are possible
    day_first: bool = False  # whether the day comes first in dates where both orders are possible
    dates: bool = False  # whether 20240131 is a date
    scaled: str = ""  # whether numbers are multiplied by their units: times are days then
    unit: str = ""  # what most numbers that have a unit count; numbers without one count it too
    # The currencies of a column of money, which are numbers beside one another.
    units: tuple[str, ...] = field(default=(), compare=False)
    note: str = field(default="", compare=False)  # what else is to be said of the column
    missing: tuple[str, ...] = ()  # strings that stand for missing cells
    # The words beside its numbers or times, if they are few; None if they are many.
    words: tuple[str, ...] | None = field(default=(), compare=False)
    # Which of these fields were given, so that no cell votes on them.
    given: tuple[str, ...] = field(default=(), compare=False)
    # The forms of the cells that were read so, which vote; None where they are not known.
    forms: Any = field(default=None, compare=False, repr=False)

    @property
    def kind(self) -> Kind:
        """The kind of the column's cells."""
        return KINDS[self.content]

    @property
    def is_levels(self) -> bool:
        """Whether strings stay as they are written."""
        return self.content in ("levels", "missing")

    @property
    def fixed(self) -> Reading:
        """The same reading, whatever other cells say."""
        return replace(self, given=FIXED)


FIXED = ("content", "comma", "day_first", "dates", "scaled", "unit", "units")  # fields
LEVELS = Reading("levels")
# How strings are read where a column came as numbers, truths or times in training.
READ_AS: dict[Kind, Reading] = {
    "number": Reading("number"),
    "boolean": Reading("truth"),
    "time": Reading("time"),
}


def read_column(name: Name, values: Any) -> Column:
    """Read a NumPy array or a sequence of cells as a column of one kind."""
    match values:
        case list():
            return _of_cells(name, values.copy())
        case np.ndarray():
            return _of_array(name, unmasked(values))
        case Strings():
            return values, "string"
        case Iterable() if not isinstance(values, str | bytes):
            return _of_cells(name, list(values))
    raise TypeError(
        f"Column {name!r} is one {type(values).__name__}; it must be a sequence of cells."
    )


def refuse_twice(names: Iterable[object]) -> None:
    """Raise a ValueError if a column's name is there more than once."""
    written = list(map(str, names))
    if len(set(written)) < len(written):
        twice = next(name for name, count in Counter(written).items() if count > 1)
        raise ValueError(f"The table has more than one column named {twice!r}; rename one.")


def as_floats(cells: Cells) -> NDArray[np.floating]:
    """Return numbers, truths or times (seconds since 1970) as floats, (rows,); NaN is missing."""
    if isinstance(cells, Strings):
        raise TypeError("strings are no numbers")
    if cells.dtype.kind == "M":
        return (cells - np.datetime64(0, "us")) / SECOND
    if cells.dtype.kind in "fiub":
        return cells if cells.dtype == np.float32 else cells.astype(np.float64, copy=False)
    return np.array([np.nan if value is None else value for value in cells.tolist()], np.float64)


def as_objects(cells: Cells, kind: Kind | None) -> NDArray[Any]:
    """Return cells, (rows,), as people read them: None where one is missing, or NaN or NaT."""
    if isinstance(cells, Strings):
        return _objects(list(cells))
    if kind == "boolean" and cells.dtype.kind == "f":
        truths: NDArray[Any] = (cells == 1).astype(object)
        truths[np.isnan(cells)] = None
        return truths
    return cells


def missing_in(cells: Cells) -> NDArray[np.bool_]:
    """Return which cells are missing, of shape (rows,)."""
    if isinstance(cells, Strings):
        none = np.zeros(len(cells), np.bool_)
        return none if cells.missing is None else cells.missing.astype(np.bool_)
    return missing_among(cells)


def levels_at(levels: Cells, codes: NDArray[np.int64]) -> Strings:
    """Return categories by their codes, (rows,): whatever they are, a level is a string."""
    if not isinstance(levels, Strings):
        written = [None if is_missing(cell) else str(cell) for cell in levels.tolist()]
        levels = cast("Strings", dispatch.pack_strings(written))
    return Strings.of_levels(codes, levels, categorical=True)


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
    kinds = set(map(type, cells))
    if kinds == {int} and max(map(abs, cells)) <= EXACT:
        return np.array(cells, np.int64), "number"
    if kinds == {float}:  # as most numbers are: no cell is asked for more
        floats = np.array(cells, np.float64)
        if not all_missing(floats):
            return floats, "number"
    if len(cells) <= FEW and str in kinds and kinds <= STRINGS:
        return Strings.of_few([*cells]), "string"
    strings = dispatch.pack_strings(cells)
    if strings is not None and strings.any_there:
        return strings, "string"
    return _of_any_cells(name, cells)


def _of_any_cells(name: Name, cells: list[Any] | NDArray[np.object_]) -> Column:
    """Return cells that are not all floats, nor all strings, by their families."""
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
    if family == "boolean":
        truths = np.array([np.nan if c is None else c for c in cells], np.float64)
        return (truths if None in cells else truths.astype(np.bool_)), "boolean"
    if family == "string":  # with missing cells of other libraries, or written as bytes
        return cast("Strings", dispatch.pack_strings(_as_written(name, cells))), "string"
    return _of_array(name, _TO_ARRAY[family](cells))


def _as_written(name: Name, cells: list[Any]) -> list[str | None]:
    """Return strings, bytes and UUIDs as strings; bytes must be UTF-8."""
    try:
        return [
            c if c is None or isinstance(c, str) else c.decode() if isinstance(c, bytes) else str(c)
            for c in cells
        ]
    except UnicodeDecodeError:
        raise unusable(name, "bytes that are not UTF-8") from None


def _of_mixed(name: Name, cells: list[Any], families: set[str]) -> Column:
    """Return cells of several kinds as numbers or as strings, with a warning."""
    # Booleans beside numbers are numbers, and anything beside strings is a string.
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
        warn(f"{mixed} {where}: read as they are written.")
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


# --- Strings that are times become times, and times have parts: hour, weekday, month -------------
#
# A part is worth a column of its own only if its cycle repeats in the data; until then the time
# itself tells as much.


Cycle: TypeAlias = Literal["hour", "weekday", "month"]
# A part tells more than the time itself if the times of a column span so many seconds: two cycles.
CYCLES: dict[Cycle, int] = {"hour": 2 * 86_400, "weekday": 14 * 86_400, "month": 731 * 86_400}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
EPOCH = np.datetime64(0, "us")
NAMES: dict[Cycle, tuple[str, ...]] = {
    "weekday": WEEKDAYS,
    "month": MONTHS,
    "hour": tuple(f"{hour:02}" for hour in range(24)),
}


def part_of(moments: NDArray[np.datetime64], part: Cycle) -> NDArray[Any]:
    """Return the name of each time's hour, weekday or month, (rows,); None where it is missing."""
    names = np.array([*NAMES[part], None], object)  # the last, at -1, is of missing times
    return names[part_codes(as_floats(moments), part)]


def times_of(seconds: NDArray[np.floating]) -> NDArray[np.datetime64]:
    """Return seconds since 1970 as times, to the nearest microsecond; both of shape (rows,)."""
    return np.asarray(np.rint(seconds * 1e6).astype("timedelta64[us]") + EPOCH)


def part_codes(seconds: NDArray[np.floating], part: Cycle) -> NDArray[np.int64]:
    """Return the place in ``NAMES`` of the part of each time; -1 where the time is missing."""
    # Times are seconds since 1970, NaN where missing; both arrays are of shape (rows,).
    there = ~np.isnan(seconds)
    codes = np.full(len(seconds), -1)
    codes[there] = _codes(times_of(seconds[there]), part)
    return codes


def _codes(moments: NDArray[np.datetime64], part: Cycle) -> NDArray[np.int64]:
    """Return the place in ``NAMES`` of the part of each time; both arrays are of shape (rows,)."""
    if part == "month":
        return moments.astype("datetime64[M]").astype(np.int64) % 12
    if part == "weekday":
        days = moments.astype("datetime64[D]").astype(np.int64)
        return (days + 3) % 7  # 1970 began on a Thursday
    return moments.astype("datetime64[h]").astype(np.int64) % 24


# --- Arrays are checked before they are read: masks, and the parts of sparse matrices ------------


# What the indices of a sparse matrix are, and its numbers may be.
WHOLE = np.dtype(np.int32), np.dtype(np.int64)
MOST_COLUMNS = (1 << 31) - 1  # of a sparse matrix, whose columns have numbers of 32 bits in kernels
EXACT = 1 << 53  # beyond it some integers are no floats


def unmasked(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain array of the same shape, with NaN, NaT or None in cells that are masked."""
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
    """Whether X is an array, or a CSR matrix, that the kernels read as it is."""
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
    """Raise a ValueError unless the arrays of a sparse matrix belong together."""
    # SciPy does not check them: wrong ones would make it read and write memory of others.
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


# --- Rows are what the schema sees of any table, array, sparse matrix or list of texts -----------
#
# Each column has a kind, and cells (see ``data.columns``).


class Rows(ABC):
    """Rows of named columns; the columns of an array are named by number."""

    names: range | tuple[Name, ...]
    one_kind: Kind | None = None  # of every column that is not missing throughout
    readings: Mapping[Name, Reading] = {}  # how columns were read that came as strings
    words: Mapping[Name, Strings] = {}  # what cells of such columns hold that is not of the kind
    complete: bool = False  # whether no cell may be missing, which is found out as it is counted

    @cached_property
    def place(self) -> Mapping[Name, int]:
        """The index of each column by name."""
        return {name: j for j, name in enumerate(self.names)}

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def kind(self, name: Name) -> Kind | None:
        """Return the kind of a column; None if every cell is missing."""

    @abstractmethod
    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        """Return columns as floats of shape (rows, names); a missing cell is NaN."""

    @abstractmethod
    def cells(self, name: Name) -> Cells:
        """Return one column of shape (rows,) as it is kept."""

    def values(self, name: Name) -> NDArray[Any]:
        """Return one column of shape (rows,): numbers, times, or objects (None where missing)."""
        return as_objects(self.cells(name), self.kind(name))

    def levels(self, name: Name) -> Cells:
        """Return one column as labels and levels are told: strings as they are kept."""
        cells = self.cells(name)
        return cells if isinstance(cells, Strings) else self.values(name)

    @abstractmethod
    def take(self, index: Any) -> Rows:
        """Return the rows of an index: a slice, a mask of shape (rows,), or an array of places."""

    @abstractmethod
    def renamed(self, names: tuple[Name, ...]) -> Rows:
        """Return the same columns by other names, in the same order."""

    def padded(self, names: Sequence[Name]) -> Rows:
        """Return these columns; every cell of those that are not there is missing."""
        there = {name: self.kind(name) for name in names if name in self.place}
        nothing = np.full(len(self), None, object)
        cells = {name: self.cells(name) if name in there else nothing for name in names}
        kinds = dict.fromkeys(names) | there
        return ColumnRows(cells, kinds, len(self), self.readings, self.words)

    def select(self, names: Sequence[Name]) -> Rows:
        """Return the same rows with these columns only."""
        kinds = {name: self.kind(name) for name in names}
        cells = {name: self.cells(name) for name in names}
        readings = {name: of for name, of in self.readings.items() if name in kinds}
        words = {name: of for name, of in self.words.items() if name in kinds}
        return ColumnRows(cells, kinds, len(self), readings, words)

    def split(self, target: str) -> tuple[Rows, Cells]:
        """Return rows without the target column, and the target column of shape (rows,)."""
        if target not in self.names:
            raise ValueError(missing_column(target, self.names, "target column"))
        rest = [name for name in self.names if name != target]
        return self.select(rest), self.levels(target)


def missing_column(name: Name, names: Sequence[Name], what: str = "column") -> str:
    """Return a sentence that a column is not there and which are, those of similar names first."""
    known = [each for each in names if isinstance(each, str)]
    if not known:
        return f"There is no {what} {name!r}: the columns have no names."
    from difflib import get_close_matches

    likely = get_close_matches(str(name), known, n=3, cutoff=0.5)
    shown = ", ".join(repr(n) for n in [*likely, *(n for n in known if n not in likely)][:20])
    return f"There is no {what} {name!r}; the columns are {shown}."


@dataclass(frozen=True, eq=False)
class MatrixRows(Rows):
    """A two-dimensional array of numbers.

    Where it is ``complete`` no cell is missing, infinite, or (of whole numbers that are categories)
    negative; it is an error that is found as the rows are counted or scored.
    """

    matrix: NDArray[Any]
    names: range | tuple[Name, ...]
    complete: bool = False

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def one_kind(self) -> Kind:  # type: ignore[override]  # read-only, as the matrix is
        """Number or boolean, as the matrix is."""
        return "boolean" if self.matrix.dtype.kind == "b" else "number"

    @cached_property
    def empty(self) -> frozenset[Name]:
        """The named columns that are missing throughout; columns of an array are always numbers."""
        if isinstance(self.names, range) or self.matrix.dtype.kind != "f" or not len(self.matrix):
            return frozenset()
        candidates = np.flatnonzero(np.isnan(self.matrix[0]))
        missing = (j for j in candidates.tolist() if np.isnan(self.matrix[:, j]).all())
        return frozenset(self.names[j] for j in missing)

    def kind(self, name: Name) -> Kind | None:
        return None if name in self.empty else self.one_kind

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        matrix = self.matrix
        if names != self.names:
            matrix = matrix[:, [self.place[name] for name in names]]
        return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)

    def cells(self, name: Name) -> Cells:
        return self.matrix[:, self.place[name]]

    def renamed(self, names: tuple[Name, ...]) -> MatrixRows:
        return MatrixRows(self.matrix, names)

    def take(self, index: Any) -> MatrixRows:
        return MatrixRows(self.matrix[index], self.names)


class SparseRows(Rows, Frozen):
    """A SciPy CSR matrix of numbers; ``complete`` as a ``MatrixRows``."""

    matrix: Any
    names: range | tuple[Name, ...]
    complete: bool = False
    one_kind = "number"

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def kind(self, name: Name) -> Kind | None:  # noqa: ARG002
        return "number"

    @cached_property
    def by_column(self) -> Any:
        """The same numbers, of which columns are soon found."""
        return self.matrix.tocsc()

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        matrix = self.matrix
        if names != self.names:
            matrix = self.by_column[:, [self.place[name] for name in names]]
        return MatrixRows(matrix.toarray(), tuple(names)).numbers(tuple(names))

    def cells(self, name: Name) -> Cells:
        return self.numbers([name])[:, 0]

    def select(self, names: Sequence[Name]) -> SparseRows:
        if names == self.names:
            return self
        matrix = self.by_column[:, [self.place[name] for name in names]].tocsr()
        return SparseRows(matrix, tuple(names))

    def renamed(self, names: tuple[Name, ...]) -> SparseRows:
        return SparseRows(self.matrix, names)

    def take(self, index: Any) -> SparseRows:
        return SparseRows(self.matrix[index], self.names)


@dataclass(frozen=True, eq=False)
class ColumnRows(Rows):
    """Columns of various kinds, each of shape (length,).

    A column that came as strings and was read as numbers or times has its ``reading``, and the
    ``words`` that its other cells hold, missing where there is none.
    """

    columns: Mapping[Name, Cells]
    kinds: Mapping[Name, Kind | None]
    length: int
    readings: Mapping[Name, Reading] = field(default_factory=dict)
    words: Mapping[Name, Strings] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[Name, ...]:  # type: ignore[override]  # read-only, as the columns are
        """The columns' names."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return self.length

    def kind(self, name: Name) -> Kind | None:
        return self.kinds[name]

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        # Column after column, as the cells lie: so they are copied, and counted, at full speed.
        matrix = np.empty((self.length, len(names)), order="F")
        for j, name in enumerate(names):
            cells = self.columns[name]
            plain = isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub"
            matrix[:, j] = cells if plain else as_floats(cells)
        return matrix

    def cells(self, name: Name) -> Cells:
        return self.columns[name]

    def renamed(self, names: tuple[Name, ...]) -> ColumnRows:
        cells = dict(zip(names, self.columns.values(), strict=True))
        by_old = dict(zip(self.columns, names, strict=True))
        kinds = {new: self.kinds[old] for old, new in by_old.items()}
        readings = {by_old[old]: of for old, of in self.readings.items()}
        words = {by_old[old]: of for old, of in self.words.items()}
        return ColumnRows(cells, kinds, self.length, readings, words)

    def take(self, index: Any) -> ColumnRows:
        columns: dict[Name, Cells] = {name: cells[index] for name, cells in self.columns.items()}
        length = (
            len(next(iter(columns.values()))) if columns else len(np.arange(self.length)[index])
        )
        words = {name: of[index] for name, of in self.words.items()}
        return ColumnRows(columns, self.kinds, length, self.readings, words)


def column_rows(columns: Mapping[Any, Any], kinds: Mapping[Any, Kind] | None = None) -> ColumnRows:
    """Return rows of these columns, each an array or a sequence of cells."""
    read = {name: read_column(name, column) for name, column in columns.items()}
    return join_columns(read, kinds)


def join_columns(
    columns: Mapping[Any, Column],
    kinds: Mapping[Any, Kind] | None = None,
    readings: Mapping[Name, Reading] | None = None,
    words: Mapping[Name, Strings] | None = None,
) -> ColumnRows:
    """Return rows of columns that have been read; ``kinds`` overrules the kinds that were found."""
    lengths = {name: len(array) for name, (array, _) in columns.items()}
    if len(set(lengths.values())) > 1:
        first, length = next(iter(lengths.items()))
        other = next(name for name in lengths if lengths[name] != length)
        raise ValueError(
            f"The columns have different lengths: {first!r} has {length} cells, "
            f"{other!r} has {lengths[other]}."
        )
    return ColumnRows(
        {name: array for name, (array, _) in columns.items()},
        {name: (kinds or {}).get(name) or kind for name, (_, kind) in columns.items()},
        next(iter(lengths.values()), 0),
        readings or {},
        words or {},
    )
