"""Rows: what the schema sees of any table, array, sparse matrix or list of texts.

A column has a kind: "number" (NaN is missing), "boolean", "string" or "text" (None is missing).
This module knows nothing of probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Name: TypeAlias = str | int
Kind: TypeAlias = Literal["number", "boolean", "string", "text"]


class Rows(ABC):
    """Rows of named columns; those of an array are named by number."""

    names: range | tuple[Name, ...]

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def kind(self, name: Name) -> Kind | None:
        """Return the kind of a column; None where every cell is missing."""

    @abstractmethod
    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        """Return columns as a matrix of floats (rows × names); NaN is missing."""

    @abstractmethod
    def values(self, name: Name) -> NDArray[Any]:
        """Return one column: floats, or objects with None for missing."""

    @abstractmethod
    def take(self, index: Any) -> Rows:
        """Return a selection of the rows."""

    def select(self, names: Sequence[Name]) -> Rows:
        """Return a selection of the columns."""
        kinds = {name: self.kind(name) for name in names}
        return ColumnRows({name: self.values(name) for name in names}, kinds, len(self))

    def split(self, target: str) -> tuple[Rows, NDArray[Any]]:
        """Return the other columns, and the target column."""
        if target not in self.names:
            raise ValueError(missing_column(target, self.names, "target column"))
        rest = [name for name in self.names if name != target]
        return self.select(rest), self.values(target)


def missing_column(name: str, names: Sequence[Name], what: str = "column") -> str:
    """Say that a column is not there and which are, the likeliest first."""
    known = [name for name in names if isinstance(name, str)]
    if not known:
        return f"There is no {what} {name!r}: the columns have no names."
    likely = get_close_matches(name, known, n=3, cutoff=0.5)
    shown = ", ".join(repr(n) for n in [*likely, *(n for n in known if n not in likely)][:20])
    return f"There is no {what} {name!r}; the columns are {shown}."


@dataclass(frozen=True, eq=False)
class MatrixRows(Rows):
    """A two-dimensional array of numbers."""

    matrix: NDArray[Any]
    names: range | tuple[Name, ...]

    def __len__(self) -> int:
        return len(self.matrix)

    def kind(self, name: Name) -> Kind | None:  # noqa: ARG002
        return "boolean" if self.matrix.dtype.kind == "b" else "number"

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        matrix = self.matrix
        if names != self.names:
            place = {name: j for j, name in enumerate(self.names)}
            matrix = matrix[:, [place[name] for name in names]]
        return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)

    def values(self, name: Name) -> NDArray[Any]:
        column = name if isinstance(self.names, range) else self.names.index(name)
        return self.matrix[:, column]  # type: ignore[index]

    def take(self, index: Any) -> MatrixRows:
        return MatrixRows(self.matrix[index], self.names)


@dataclass(frozen=True, eq=False)
class SparseRows(Rows):
    """A SciPy CSR matrix of numbers."""

    matrix: Any
    names: range | tuple[Name, ...]

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def kind(self, name: Name) -> Kind | None:  # noqa: ARG002
        return "number"

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        return MatrixRows(self.matrix.toarray(), self.names).numbers(names)

    def values(self, name: Name) -> NDArray[Any]:
        return self.numbers([name])[:, 0]

    def take(self, index: Any) -> SparseRows:
        return SparseRows(self.matrix[index], self.names)


@dataclass(frozen=True, eq=False)
class ColumnRows(Rows):
    """Columns of different kinds, each an array."""

    columns: Mapping[Name, NDArray[Any]]
    kinds: Mapping[Name, Kind | None]
    length: int

    @property
    def names(self) -> tuple[Name, ...]:  # type: ignore[override]
        """The columns' names."""
        return tuple(self.columns)

    def __len__(self) -> int:
        return self.length

    def kind(self, name: Name) -> Kind | None:
        return self.kinds[name]

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        matrix = np.empty((self.length, len(names)))
        for j, name in enumerate(names):
            matrix[:, j] = as_floats(self.columns[name])
        return matrix

    def values(self, name: Name) -> NDArray[Any]:
        return self.columns[name]

    def take(self, index: Any) -> ColumnRows:
        columns = {name: column[index] for name, column in self.columns.items()}
        length = (
            len(next(iter(columns.values()))) if columns else len(np.arange(self.length)[index])
        )
        return ColumnRows(columns, self.kinds, length)


@dataclass(frozen=True, eq=False)
class RenamedRows(Rows):
    """Rows whose columns go by other names, in the same order."""

    rows: Rows
    names: tuple[Name, ...]

    def _own(self, name: Name) -> Name:
        return self.rows.names[self.names.index(name)]

    def __len__(self) -> int:
        return len(self.rows)

    def kind(self, name: Name) -> Kind | None:
        return self.rows.kind(self._own(name))

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        all_of_them = tuple(names) == self.names
        return self.rows.numbers(self.rows.names if all_of_them else [*map(self._own, names)])

    def values(self, name: Name) -> NDArray[Any]:
        return self.rows.values(self._own(name))

    def take(self, index: Any) -> RenamedRows:
        return RenamedRows(self.rows.take(index), self.names)


@dataclass(frozen=True, eq=False)
class PaddedRows(Rows):
    """Rows that lack some of the columns: every cell of those is missing."""

    rows: Rows
    names: tuple[Name, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def kind(self, name: Name) -> Kind | None:
        return self.rows.kind(name) if name in self.rows.names else None

    def numbers(self, names: Sequence[Name]) -> NDArray[np.floating]:
        matrix = np.full((len(self), len(names)), np.nan)
        there = [j for j, name in enumerate(names) if name in self.rows.names]
        matrix[:, there] = self.rows.numbers([names[j] for j in there])
        return matrix

    def values(self, name: Name) -> NDArray[Any]:
        return self.rows.values(name) if name in self.rows.names else np.full(len(self), None)

    def take(self, index: Any) -> PaddedRows:
        return PaddedRows(self.rows.take(index), self.names)


def column_rows(columns: Mapping[Any, Any], kinds: Mapping[Any, Kind] | None = None) -> ColumnRows:
    """Make rows of columns; objects are strings, booleans or numbers, with None for missing.

    Raises
    ------
    ValueError
        If a column mixes kinds or holds something else; it names the column and the row.
    """
    arrays = {name: _array(column) for name, column in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"The columns have different lengths: {lengths}.")
    found = dict(kinds or {})
    return ColumnRows(
        arrays,
        {name: found.get(name) or _kind(name, array) for name, array in arrays.items()},
        next(iter(lengths.values()), 0),
    )


def is_number(kind: type) -> bool:
    """Whether values of this type are real numbers; booleans are not."""
    return issubclass(kind, int | float | np.integer | np.floating) and kind is not bool


def as_floats(column: NDArray[Any]) -> NDArray[np.floating]:
    """Return a column of numbers or booleans as floats, None as NaN."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64, copy=False)
    return np.array([np.nan if value is None else value for value in column.tolist()], np.float64)


def _array(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ndarray) and column.dtype.kind != "U":
        return column
    array = np.empty(len(column), object)
    array[:] = column.tolist() if isinstance(column, np.ndarray) else column
    return array


def _kind(name: Name, column: NDArray[Any]) -> Kind | None:
    if column.dtype.kind in "fiu":
        return "number"
    if column.dtype.kind == "b":
        return "boolean"
    if column.dtype.kind != "O":
        raise ValueError(
            f"Column {name!r} holds {column.dtype} values, which cannot be learned from."
        )
    values = column.tolist()
    kinds = {type(value) for value in values} - {type(None)}
    if all(issubclass(kind, str) for kind in kinds):
        return "string" if kinds else None
    if kinds <= {bool, np.bool_}:
        return "boolean"
    if all(map(is_number, kinds)):
        return "number"
    known = (str, bool, int, float, np.bool_, np.integer, np.floating, type(None))
    row = next((i for i, v in enumerate(values) if not isinstance(v, known)), None)
    if row is not None:
        raise ValueError(
            f"Column {name!r} holds a {type(values[row]).__name__} in row {row}; "
            "a cell must be a number, a string, a boolean or missing."
        )
    mixed = " and ".join(sorted(kind.__name__ for kind in kinds))
    first = type(next(v for v in values if v is not None))
    row = next(i for i, v in enumerate(values) if v is not None and type(v) is not first)
    raise ValueError(
        f"Column {name!r} mixes {mixed} (first in row {row}); make it all numbers or all strings."
    )
