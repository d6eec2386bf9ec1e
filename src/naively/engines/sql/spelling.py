"""How databases spell what scoring asks for beside the dialect: cells, chosen numbers, rows.

A column is read once, as a float64 or a text, NULL where it is missing. What a bin or a level adds
is chosen by its number, from 1 on.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import final

from naively.data.rows import Cycle
from naively.engines.sql.dialect import Dialect, DuckDB, PostgreSQL, SQLite
from naively.engines.sql.transpiled import Transpiled
from naively.kernels.reference import Floats
from naively.model.scorecard.terms import Cell

ROW = "naively row"  # what stands for the columns that are kept
TABLE = '"naively t"'  # what the first step calls the table; a column could have a shorter name
FEW = 8  # levels that are compared one after the other
DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
FEWEST = 2  # where a list could be looked through


class Spelling(ABC):
    """How a database spells the parts of a scoring query; ``dialect`` spells names and numbers."""

    barrier = ""  # what keeps a step from being computed once for each use of its results
    ways = 2  # that a comparison of a number with the edges of bins branches
    text_type = "TEXT"  # of the levels in the table of weights
    most_joins: int | None = None  # tables that a query can join; None is any number

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def first(self, columns: Sequence[str]) -> str:  # noqa: ARG002
        """Return what the first step selects of the table, so that all its columns are kept.

        ``columns`` are those of the table that are known.
        """
        return f"{TABLE} AS {self.dialect.identifier(ROW)}"

    @property
    def carries(self) -> str:
        """What hands on the kept columns from one step to the next; "x.*" is all columns."""
        return f"x.{self.dialect.identifier(ROW)}"

    @abstractmethod
    def last(self, own: Sequence[str], table: str, columns: Sequence[str]) -> tuple[str, str]:
        """Return what the last step selects of x for the kept columns, and what it joins to x.

        ``own`` are the columns of x that naively made, ``table`` is the quoted table, and
        ``columns`` are those of it that are known.
        """

    @abstractmethod
    def index(self, x: str, levels: Sequence[str]) -> str:
        """Return the place of a text among levels, from 1 on; one more than there are if none."""

    def number(self, x: str, cell: Cell) -> str:
        """Return a column of numbers, truths or times as float64, NULL where it is missing."""
        if cell.kind == "time":
            return self.dialect.seconds(x)
        y = self.dialect.as_double(x, "boolean" if cell.kind == "boolean" else "number")
        return self.dialect.ln(self._there(y)) if cell.log else self._there(y)

    def text(self, x: str) -> str:
        """Return a column as text."""
        return self.dialect.as_text(x)

    def part(self, seconds: str, part: Cycle) -> str:
        """Return the place of a part of a time among its names, from 0 on."""
        if part == "month":
            return f"({self.month(seconds)} - 1)"
        each, shift, cycle = {"hour": (3600, 0, 24), "weekday": (86400, 3, 7)}[part]
        whole = self.floor(f"({seconds} / {self.dialect.number(each)})")
        return f"((({whole} + {shift}) % {cycle} + {cycle}) % {cycle})"  # also before 1970

    @abstractmethod
    def month(self, seconds: str) -> str:
        """Return the month of a time, 1 to 12."""

    def floor(self, x: str) -> str:
        """Return a number below 2^63, rounded down, as a whole number."""
        return f"CAST(FLOOR({x}) AS BIGINT)"

    def choose(self, place: str, values: Floats) -> str:
        """Return one of some given numbers by its place, from 1 on, which is never NULL."""
        return self._halved(place, [self.dialect.number(x) for x in values.tolist()])

    def exp(self, x: str) -> str:
        """Return e to the power of a number of at most 0."""
        least, none = self.dialect.number(-700.0), self.dialect.number(0.0)
        return f"CASE WHEN {x} < {least} THEN {none} ELSE {self.dialect.exp(x)} END"

    def length(self, x: str) -> str:
        """Return how many characters a text has."""
        return f"LENGTH({x})"

    def _there(self, y: str) -> str:
        missing, double = self.dialect.is_missing(y), self.dialect.double
        return f"CASE WHEN {missing} THEN CAST(NULL AS {double}) ELSE {y} END"

    def _halved(self, place: str, values: Sequence[str], first: int = 1) -> str:
        """Choose a value by its place, asking for half of the places that are left at a time."""
        if len(values) == 1:
            return values[0]
        half = len(values) // 2
        below = self._halved(place, values[:half], first)
        above = self._halved(place, values[half:], first + half)
        return f"CASE WHEN {place} < {first + half} THEN {below} ELSE {above} END"

    def _one_by_one(self, x: str, levels: Sequence[str]) -> str:
        cases = " ".join(
            f"WHEN {x} = {self.dialect.string(level)} THEN {place}"
            for place, level in enumerate(levels, 1)
        )
        none = len(levels) + 1
        return f"CASE {cases} ELSE {none} END" if levels else f"{none}"

    def _by_halves(self, x: str, levels: Sequence[str]) -> str:
        """Find a text among levels by their order, which is that of their bytes."""
        if len(levels) <= FEW:
            return self._one_by_one(x, levels)
        order = sorted(range(len(levels)), key=lambda i: levels[i].encode())
        none = len(levels) + 1

        def among(some: list[int]) -> str:
            if len(some) == 1:
                level = self.dialect.string(levels[some[0]])
                return f"CASE WHEN {x} = {level} THEN {some[0] + 1} ELSE {none} END"
            half = len(some) // 2
            edge = self.dialect.string(levels[some[half]])
            below, above = among(some[:half]), among(some[half:])
            return f"CASE WHEN {x} < {edge} THEN {below} ELSE {above} END"

        return among(order)


@final
class OfDuckDB(Spelling):
    """DuckDB: lists hold what is chosen from, and a row is a value that holds all columns."""

    ways = 6  # a branch costs more than a comparison, as rows are sorted into its ways

    def last(self, own: Sequence[str], table: str, columns: Sequence[str]) -> tuple[str, str]:  # noqa: ARG002
        return f"UNNEST(x.{self.dialect.identifier(ROW)})", ""

    def index(self, x: str, levels: Sequence[str]) -> str:
        if len(levels) <= FEWEST:
            return self._one_by_one(x, levels)
        listed = ", ".join(map(self.dialect.string, levels))
        return f"COALESCE(list_position([{listed}], {x}), {len(levels) + 1})"

    def choose(self, place: str, values: Floats) -> str:
        listed = ", ".join(self.dialect.number(x) for x in values.tolist())
        return f"([{listed}])[{place}]"

    def month(self, seconds: str) -> str:
        return f"month(make_timestamp(CAST(ROUND({seconds} * 1e6) AS BIGINT)))"

    def _there(self, y: str) -> str:
        return f"NULLIF({y}, {self.dialect.number(math.nan)})"


@final
class OfOthers(Spelling):
    """Other databases: what is written for DuckDB, and sqlglot can translate."""

    @property
    def carries(self) -> str:
        return "x.*"

    def first(self, columns: Sequence[str]) -> str:  # noqa: ARG002
        return f"{TABLE}.*"

    def last(self, own: Sequence[str], table: str, columns: Sequence[str]) -> tuple[str, str]:  # noqa: ARG002
        quoted = ", ".join(map(self.dialect.identifier, own))
        return f"x.* EXCLUDE ({quoted})", ""

    def index(self, x: str, levels: Sequence[str]) -> str:
        return self._one_by_one(x, levels)

    def month(self, seconds: str) -> str:
        return f"EXTRACT(MONTH FROM make_timestamp(CAST(ROUND({seconds} * 1e6) AS BIGINT)))"


@final
class OfPostgreSQL(Spelling):
    """PostgreSQL: a row is a value, so that one column holds all that are kept."""

    barrier = " OFFSET 0"

    def last(self, own: Sequence[str], table: str, columns: Sequence[str]) -> tuple[str, str]:  # noqa: ARG002
        return f"(x.{self.dialect.identifier(ROW)}).*", ""

    def index(self, x: str, levels: Sequence[str]) -> str:
        return self._by_halves(f'{x} COLLATE "C"', levels)

    def choose(self, place: str, values: Floats) -> str:
        listed = ",".join(map(repr, values.tolist()))
        return f"(CAST('{{{listed}}}' AS DOUBLE PRECISION[]))[{place}]"

    def month(self, seconds: str) -> str:
        moment = f"(TIMESTAMP '1970-01-01' + {seconds} * INTERVAL '1 second')"
        return f"CAST(EXTRACT(MONTH FROM {moment}) AS INTEGER)"


@final
class OfSQLite(Spelling):
    """SQLite: each cell has a type of its own, times are text, and a row is known by its number."""

    barrier = " LIMIT -1 OFFSET 0"
    most_joins = 50

    def first(self, columns: Sequence[str]) -> str:
        return f"{TABLE}.{_number_of_row(columns)} AS {self.dialect.identifier(ROW)}"

    def last(self, own: Sequence[str], table: str, columns: Sequence[str]) -> tuple[str, str]:  # noqa: ARG002
        row = self.dialect.identifier(ROW)
        return "t.*", f" JOIN {table} AS t ON t.{_number_of_row(columns)} = x.{row}"

    def index(self, x: str, levels: Sequence[str]) -> str:
        # By lists of the levels, not by their order, which in UTF-16 is another than in UTF-8.
        if len(levels) <= FEW:
            return self._one_by_one(x, levels)
        text = list(map(self.dialect.string, levels))

        def among(start: int, end: int) -> str:
            if end - start == 1:
                return f"{start + 1}"
            half = (start + end) // 2
            known = f"{x} = {text[start]}" if half - start == 1 else among_these(start, half)
            return f"CASE WHEN {known} THEN {among(start, half)} ELSE {among(half, end)} END"

        def among_these(start: int, end: int) -> str:
            return f"{x} IN ({', '.join(text[start:end])})"

        every = len(levels)
        return f"CASE WHEN {among_these(0, every)} THEN {among(0, every)} ELSE {every + 1} END"

    def number(self, x: str, cell: Cell) -> str:
        if cell.kind == "time":
            return self._seconds(x, cell)
        plain = f"CAST({x} AS NUMERIC) = {x}"  # a text that is a number equals it
        wrong = self._refused(x, cell, "held numbers in training and holds")
        found = self.dialect.as_double(x)
        if cell.log:
            log, none = self.dialect.ln(found), self._refused(x, cell, "needs numbers above 0, not")
            found = f"CASE WHEN {found} > 0 THEN {log} ELSE {none} END"
        return f"CASE WHEN {x} IS NULL THEN NULL WHEN {plain} THEN {found} ELSE {wrong} END"

    def month(self, seconds: str) -> str:
        return f"CAST(strftime('%m', {self.floor(seconds)}, 'unixepoch') AS INTEGER)"

    def floor(self, x: str) -> str:
        return f"(CAST({x} AS INTEGER) - ({x} < CAST({x} AS INTEGER)))"

    def _seconds(self, x: str, cell: Cell) -> str:
        """Return a time of ISO 8601 as seconds, to the microsecond."""
        zone = "[+-][0-9][0-9]:[0-9][0-9]"
        ends = f"CASE WHEN {x} GLOB '*:*{zone}' THEN substr({x}, -6) ELSE '' END"
        whole = f"CAST(strftime('%s', substr({x}, 1, 19) || {ends}) AS INTEGER)"
        rest = f"CASE WHEN {x} GLOB '*.*' THEN CAST('0' || substr({x}, 20) AS REAL) ELSE 0 END"
        micros = f"({whole} * 1000000 + CAST({rest} * 1000000 + 0.5 AS INTEGER))"
        wrong = self._refused(x, cell, "held times in training and holds")
        # SQLite also reads numbers, 'now', a clock alone, and the 31st of February.
        day, clock = f"substr({x}, 1, 10)", f"substr({x}, 11, 3)"
        dated = f"{x} GLOB '{DAY}*' AND date({day}, '+0 days') = {day}"
        clocked = f"({clock} = '' OR {clock} GLOB '[ T][0-9][0-9]' AND substr({clock}, 2) < '24')"
        none = f"{whole} IS NULL OR typeof({x}) <> 'text' OR NOT ({dated} AND {clocked})"
        told = f"CASE WHEN {none} THEN {wrong} ELSE {micros} / 1000000.0 END"
        return f"CASE WHEN {x} IS NULL THEN NULL ELSE {told} END"

    def _refused(self, x: str, cell: Cell, what: str) -> str:
        """Return what fails with a sentence: a path into JSON that is no path, which is named."""
        said = self.dialect.string(f'Column "{cell.column}" {what} ')
        return f"json_extract('{{}}', {said} || {x})"


def _number_of_row(columns: Sequence[str]) -> str:
    """Return a name of SQLite for the number of a row that no column has, as it would hide it."""
    taken = {column.lower() for column in columns}
    for name in ("_rowid_", "rowid", "oid"):
        if name not in taken:
            return name
    raise ValueError(
        "Columns are named 'rowid', 'oid' and '_rowid_', so that SQLite has no name for the number "
        "of a row: give keep=, the columns to keep."
    )


def spelling_of(dialect: Dialect) -> Spelling:
    """Return how a dialect spells the parts of a scoring query.

    Examples
    --------
    >>> import numpy as np
    >>> from naively.engines.sql.dialect import dialect_of
    >>> spelling_of(dialect_of("duckdb")).choose("x", np.array([0.5, -2.0]))
    '([5e-1, (-2e0)])[x]'
    >>> spelling_of(dialect_of("sqlite")).choose("x", np.array([0.5, -2.0]))
    'CASE WHEN x < 2 THEN (1 * 1.0 / 2) ELSE (-2 * 1.0) END'
    """
    match dialect:
        case SQLite():
            return OfSQLite(dialect)
        case PostgreSQL():
            return OfPostgreSQL(dialect)
        case Transpiled():
            return OfOthers(dialect)
        case DuckDB():
            return OfDuckDB(dialect)
        case _:
            raise TypeError(f"{dialect.name} has no spelling of scores")
