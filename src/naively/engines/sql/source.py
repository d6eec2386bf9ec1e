"""A labelled table in a database, as queries see it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import (
    LEAST_WEIGHT,
    MOST_WEIGHT,
    LabelArray,
    encode_labels,
)
from naively.data.arrow import filled
from naively.data.columns import TIME, Column, Kind, read_column
from naively.data.rows import ColumnRows, join_columns, missing_column, times_of
from naively.engines.sql.bits import Range
from naively.engines.sql.database import ColumnType, Database
from naively.engines.sql.dialect import Dialect, Table
from naively.kernels.strings import Strings

WEIGHT_BITS = 61  # of a weight as a whole number, beside the bit of the largest
HALF = 31  # the low bits of such a number, which are added for themselves


@dataclass(frozen=True)
class Weighing:
    """How weights become whole numbers, which add up without rounding.

    Parameters
    ----------
    scale : float
        A power of two that weights are multiplied by.
    whole : bool
        Whether all weights are whole numbers.
    most : float
        The largest weight.
    """

    scale: float
    whole: bool
    most: float


@dataclass(frozen=True)
class Source:
    """A table, and which of its columns are labels and weights.

    Parameters
    ----------
    database : Database
        The connection.
    table : str or tuple of two str
        The name of the table, or its schema and its name.
    columns : mapping of str to ColumnType
        All columns.
    target, weight : str
        The columns of labels and, if there is one, of weights.
    """

    database: Database
    table: Table
    columns: dict[str, ColumnType]
    target: str
    weight: str | None = None

    @classmethod
    def of(cls, database: Database, table: Table, target: str, weight: str | None = None) -> Source:
        """Look at the columns of a table.

        Raises
        ------
        ValueError
            If the table, its labels or its weights are not there, or are of no use.
        """
        columns = database.columns(table)
        for what, name in (("target column", target), ("column of weights", weight)):
            if name is not None and name not in columns:
                raise ValueError(missing_column(name, list(columns), what))
        if weight is not None and columns[weight].kind not in ("number", "boolean"):
            raise ValueError(
                f"Column {weight!r} holds {columns[weight].kind}s, which are no weights."
            )
        return cls(database, table, columns, target, weight)

    @property
    def dialect(self) -> Dialect:
        """How the database spells queries."""
        return self.database.dialect

    @property
    def name(self) -> str:
        """The table, as a query names it."""
        return self.dialect.table(self.table)

    @property
    def names(self) -> list[str]:
        """The columns that are learned from."""
        return [name for name in self.columns if name not in (self.target, self.weight)]

    def plain(self, name: str) -> str:
        """Return a column's values as rows are read: text, numbers, and times as seconds."""
        column, x = self.columns[name], self.dialect.identifier(name)
        if column.kind == "string":
            return self.dialect.as_text(x)
        if column.kind == "time":
            return self.dialect.seconds(x)
        return x if column.whole or column.kind == "boolean" else self.dialect.as_double(x)

    def kinds(self, names: Sequence[str]) -> list[Kind]:
        """Return what these columns hold."""
        return [self.columns[name].kind for name in names]

    def number(self, name: str) -> str:
        """Return a column's numbers, truths or times (as seconds) as float64."""
        column, x = self.columns[name], self.dialect.identifier(name)
        if column.kind == "time":
            return self.dialect.seconds(x)
        return self.dialect.as_double(x, "boolean" if column.kind == "boolean" else "number")

    def cells(self, name: str, found: Sequence[Any]) -> Column:
        """Return what was read of a column as the same column of rows in memory."""
        kind = self.columns[name].kind
        if kind == "time":
            return _moments(name, found), kind
        if kind == "boolean":  # which are 0 and 1 in SQLite
            found = [None if cell is None else bool(cell) for cell in found]
        cells, seen = read_column(name, list(found))
        if kind == "string" and seen is None:
            return filled(np.empty(len(found), object), kind), None
        return cells, seen

    def rows(self, found: Mapping[str, Sequence[Any]]) -> ColumnRows:
        """Return what was read of some columns as rows."""
        return join_columns({name: self.cells(name, cells) for name, cells in found.items()})

    def labels(self, found: Sequence[Any]) -> tuple[NDArray[np.int32], LabelArray]:
        """Return the codes of labels that were read, and the sorted classes."""
        cells, kind = self.cells(self.target, found)
        rows = ColumnRows({self.target: cells}, {self.target: kind}, len(cells))
        labels = encode_labels(cells if isinstance(cells, Strings) else rows.values(self.target))
        return labels.codes, labels.classes

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        ((n,),) = self.database.ask(f"SELECT COUNT(*) FROM {self.name}")
        return int(n)

    @cached_property
    def n_weighed(self) -> int:
        """How many rows there are whose weight is not 0."""
        if self.weight is None:
            return self.n_rows
        w, zero = self.number(self.weight), self.dialect.number(0.0)
        ((n,),) = self.database.ask(f"SELECT COUNT(*) FROM {self.name} WHERE {w} <> {zero}")
        return int(n)

    def check_labels(self) -> None:
        """Raise a ValueError if a label is missing."""
        y = self.dialect.identifier(self.target)
        missing = f"{y} IS NULL"
        if self.columns[self.target].kind == "number" and not self.columns[self.target].whole:
            missing = self.dialect.is_missing(self.dialect.as_double(y))
        ((n,),) = self.database.ask(f"SELECT COUNT(*) FROM {self.name} WHERE {missing}")
        if n:
            raise ValueError(
                f"{int(n):,} rows have no label in column {self.target!r}; leave them out, as by a "
                "view of the table."
            )

    @cached_property
    def weighing(self) -> Weighing | None:
        """How weights become whole numbers; a ValueError if one is no weight."""
        if self.weight is None:
            return None
        w, spell = self.number(self.weight), self.dialect.number
        right = f"w = 0 OR (w >= {spell(LEAST_WEIGHT)} AND w <= {spell(MOST_WEIGHT)})"
        small = f"CASE WHEN w < {spell(2.0**53)} THEN w ELSE {spell(0.5)} END"
        ((n, most, odd),) = self.database.ask(
            f"SELECT SUM(CASE WHEN {right} THEN 0 ELSE 1 END), MAX(w), "
            f"SUM(CASE WHEN {right} THEN CASE WHEN {small} = {self.dialect.floor(small)} THEN 0 "
            f"ELSE 1 END ELSE 0 END) FROM (SELECT {w} AS w FROM {self.name}) AS weights"
        )
        if n:
            raise ValueError(
                f"sample_weight must be finite and at least 0, and between {LEAST_WEIGHT:g} and "
                f"{MOST_WEIGHT:g} if it is not 0, but {int(n):,} rows of column {self.weight!r} "
                "have others."
            )
        top = math.frexp(most or 1.0)[1]
        return Weighing(math.ldexp(1.0, WEIGHT_BITS - top), not odd, float(most or 0.0))

    def sizes(self, names: Sequence[str]) -> dict[str, Range | None]:
        """Return the least and greatest size of the numbers other than 0 in these columns.

        None: there are none, or the database shows the bits of any number.
        """
        if self.dialect.bits("x") is not None or not names:
            return dict.fromkeys(names)
        asked: list[str] = []
        for name in names:
            x = f"ABS({self.number(name)})"
            asked += [f"MIN(CASE WHEN {x} > 0 THEN {x} END)", f"MAX({x})"]
        (found,) = self.database.ask(f"SELECT {', '.join(asked)} FROM {self.name}")
        pairs = zip(found[::2], found[1::2], strict=True)
        return {
            name: (float(low), float(high)) if low is not None else (1.0, 1.0)
            for name, (low, high) in zip(names, pairs, strict=True)
        }


def _moments(name: str, found: Sequence[Any]) -> NDArray[np.datetime64]:
    """Return seconds since 1970 as times; None and NaN are missing."""
    seconds = np.array([np.nan if s is None else s for s in found], np.float64)
    if np.isinf(seconds).any():
        raise ValueError(f"Column {name!r} holds infinite times, which cannot be learned from.")
    moments = np.full(len(seconds), np.datetime64("NaT"), TIME)
    there = ~np.isnan(seconds)
    moments[there] = times_of(seconds[there])
    return moments
