"""Rows of named columns, and times as numbers with their cycles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name, title
from naively.data.columns import (
    TIME,
    Cells,
    Column,
    Kind,
    as_floats,
    as_objects,
    read_column,
    taken,
)
from naively.kernels import dispatch
from naively.kernels.strings import Strings

# --- Rows are what the schema sees of any table, array, sparse matrix or list of texts -----------
#
# Each column has a kind, and cells (see ``data.columns``).


class Rows(ABC):
    """Rows of named columns; the columns of an array are named by number."""

    names: range | tuple[Name, ...]
    one_kind: Kind | None = None  # of every column that is not missing throughout
    times_told: bool = False  # whether strings that are all times have been read as times
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
        return ColumnRows(cells, kinds, len(self), self.times_told)

    def select(self, names: Sequence[Name]) -> Rows:
        """Return the same rows with these columns only."""
        kinds = {name: self.kind(name) for name in names}
        cells = {name: self.cells(name) for name in names}
        return ColumnRows(cells, kinds, len(self), self.times_told)

    def split(self, target: str) -> tuple[Rows, Cells]:
        """Return rows without the target column, and the target column of shape (rows,)."""
        if target not in self.place:
            raise ValueError(missing_column(target, self.names, "target column"))
        rest = [name for name in self.names if name != target]
        cells = self.cells(target)
        return self.select(rest), cells if isinstance(cells, Strings) else self.values(target)


def missing_column(name: Name, names: Sequence[Name], what: str = "column") -> str:
    """Return a sentence that a column is not there and which are, those of similar names first."""
    known = [each for each in names if isinstance(each, str)]
    if not known:
        return f"There is no {what} {name!r}: the columns have no names."
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


@dataclass(frozen=True, eq=False)
class SparseRows(Rows):
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
    def some_negative(self) -> bool:
        """Whether any number is below 0, so that this is no matrix of counts."""
        return bool((self.matrix.data < 0).any())

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        matrix = self.matrix
        if names != self.names:
            matrix = matrix[:, [self.place[name] for name in names]]
        return MatrixRows(matrix.toarray(), tuple(names)).numbers(tuple(names))

    def cells(self, name: Name) -> Cells:
        return self.numbers([name])[:, 0]

    def renamed(self, names: tuple[Name, ...]) -> SparseRows:
        return SparseRows(self.matrix, names)

    def take(self, index: Any) -> SparseRows:
        return SparseRows(self.matrix[index], self.names)


@dataclass(frozen=True, eq=False)
class ColumnRows(Rows):
    """Columns of various kinds, each of shape (length,)."""

    columns: Mapping[Name, Cells]
    kinds: Mapping[Name, Kind | None]
    length: int
    times_told: bool = False

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
            matrix[:, j] = as_floats(self.columns[name])
        return matrix

    def cells(self, name: Name) -> Cells:
        return self.columns[name]

    def renamed(self, names: tuple[Name, ...]) -> ColumnRows:
        cells = dict(zip(names, self.columns.values(), strict=True))
        kinds = {new: self.kinds[old] for new, old in zip(names, self.columns, strict=True)}
        return ColumnRows(cells, kinds, self.length, self.times_told)

    def take(self, index: Any) -> ColumnRows:
        columns = {name: taken(cells, index) for name, cells in self.columns.items()}
        length = (
            len(next(iter(columns.values()))) if columns else len(np.arange(self.length)[index])
        )
        return ColumnRows(columns, self.kinds, length, self.times_told)


def column_rows(columns: Mapping[Any, Any], kinds: Mapping[Any, Kind] | None = None) -> ColumnRows:
    """Return rows of these columns, each an array or a sequence of cells.

    Raises
    ------
    ValueError
        If a cell cannot be learned from; the message names the column and the row.
    """
    return join_columns(
        {name: read_column(name, column) for name, column in columns.items()}, kinds
    )


def join_columns(
    columns: Mapping[Any, Column],
    kinds: Mapping[Any, Kind] | None = None,
    *,
    times_told: bool = False,
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
        times_told,
    )


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
TIME_KIND: Kind = "time"
FIRST = 100  # strings that are looked at before a whole column is


def part_of(moments: NDArray[np.datetime64], part: Cycle) -> NDArray[Any]:
    """Return the name of the hour, weekday or month of each time; None where the time is missing.

    Times and names are of shape (rows,).

    Examples
    --------
    >>> part_of(np.array(["2026-11-21T10:30", "NaT"], TIME), "weekday")
    array(['Saturday', None], dtype=object)
    """
    names = np.array([*NAMES[part], None], object)  # the last, at -1, is of missing times
    named: NDArray[Any] = names[part_codes(as_floats(moments), part)]
    return named


def times_of(seconds: NDArray[np.floating]) -> NDArray[np.datetime64]:
    """Return seconds since 1970 as times, to the nearest microsecond; both of shape (rows,)."""
    times: NDArray[np.datetime64] = np.rint(seconds * 1e6).astype("timedelta64[us]") + EPOCH
    return times


def part_codes(seconds: NDArray[np.floating], part: Cycle) -> NDArray[np.int64]:
    """Return the place in ``NAMES`` of the part of each time; -1 where the time is missing.

    Times are seconds since 1970, NaN where missing; both arrays are of shape (rows,).
    """
    there = ~np.isnan(seconds)
    codes = np.full(len(seconds), -1)
    codes[there] = _codes(times_of(seconds[there]), part)
    return codes


def are_times(cells: Cells) -> bool:
    """Whether each string of a column is a time of ISO 8601, or missing.

    Examples
    --------
    >>> from naively.kernels.dispatch import pack_strings
    >>> are_times(pack_strings(["2026-11-21", None, "2026/11/21 10:30"]))
    True
    """
    if not isinstance(cells, Strings):
        return False
    return all(dispatch.read_times(some)[1] < 0 for some in (cells[:FIRST], cells))


def read_times(rows: Rows, names: Collection[Name]) -> Rows:
    """Return rows in which the strings of some columns are read as times.

    Raises
    ------
    ValueError
        If a string is no time; it names the column and the row.
    """
    # Strings that are all missing are of no kind.
    there = [name for name in names if name in rows.place]
    spelled = [name for name in there if isinstance(rows.cells(name), Strings)]
    if not spelled:
        return rows
    cells = {name: rows.cells(name) for name in rows.names}
    cells |= {name: _as_times(name, cells[name]) for name in spelled}
    kinds = {name: rows.kind(name) for name in rows.names} | dict.fromkeys(spelled, TIME_KIND)
    return ColumnRows(cells, kinds, len(rows), rows.times_told)


def _as_times(name: Name, cells: Cells) -> NDArray[np.datetime64]:
    """Return strings of shape (rows,) as times, or raise a ValueError if one is none."""
    if not isinstance(cells, Strings):
        raise TypeError(f"column {name!r} does not hold strings")
    moments, wrong = dispatch.read_times(cells)
    if wrong >= 0:
        raise ValueError(
            f"Column {title(name)!r} held times in training and holds {cells[wrong]!r} in row "
            f"{wrong} now; write it as 2026-11-21 or 2026-11-21T10:30:00, or leave it empty."
        )
    return moments.view(TIME)


def _codes(moments: NDArray[np.datetime64], part: Cycle) -> NDArray[np.int64]:
    """Return the place in ``NAMES`` of the part of each time; both arrays are of shape (rows,)."""
    if part == "month":
        return moments.astype("datetime64[M]").astype(np.int64) % 12
    if part == "weekday":
        return (
            moments.astype("datetime64[D]").astype(np.int64) + 3
        ) % 7  # 1970 began on a Thursday
    return moments.astype("datetime64[h]").astype(np.int64) % 24
