"""DuckDB, SQLite and PostgreSQL: how each is connected to, asked and spelled."""

from __future__ import annotations

import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, final
from uuid import uuid4

import numpy as np

from naively.counting.labels import LEAST_WEIGHT, MOST_WEIGHT
from naively.data.columns import (
    NOT_A_TIME,
    Column,
    Kind,
    missing_column,
    read_column,
    refuse_twice,
    times_of,
    unusable,
)
from naively.data.frames import ArrowStream, BrokenStreamError
from naively.frozen import Frozen
from naively.kernels.strings import Strings

Connection: TypeAlias = Any  # of DB-API or ADBC, each of a class of its own
Value: TypeAlias = Any  # of a cell, as the database has it
Line: TypeAlias = tuple[Value, ...]  # of an answer
Table: TypeAlias = "str | tuple[str, str]"  # a name, or a schema and a name

MOST_DIGITS = 62  # of a power of two that is a whole number in any database


class Dialect(ABC):
    """How a database spells names and values."""

    # Methods take and return pieces of SQL, unless a parameter is said to be a name or a value.
    # Each piece can stand wherever an operand can.

    name: str
    double: str  # the type of float64
    nul: str  # the character of code 0
    truths = "FALSE", "TRUE"
    lacking: str | None = None  # the error that a function is not there, a pattern
    # How a value is spelled as something else; None where it cannot be.
    text_of: str
    missing_of = "({0} IS NULL OR {0} = {1})"
    seconds_of: str | None = None

    def identifier(self, name: str) -> str:
        """Quote the name of a column or of anything else, whatever it holds."""
        _check(name, "The name")
        if "\0" in name:
            raise ValueError(f"The name {name!r} holds a NUL character, which SQL cannot spell.")
        return '"' + name.replace('"', '""') + '"'

    def table(self, table: Table) -> str:
        """Quote the name of a table: one name, or a tuple of a schema and a name."""
        return ".".join(map(self.identifier, _names(table)))

    def string(self, text: str) -> str:
        """Spell a string, whatever it holds."""
        _check(text, "The string")
        if "\0" not in text:
            return self._quoted(text)
        return "(" + f" || {self.nul} || ".join(map(self._quoted, text.split("\0"))) + ")"

    def number(self, x: float) -> str:
        """Spell a number so that the database has the same float64, to the last bit."""
        x = float(x)
        return self.finite(x) if math.isfinite(x) else self.special(x)

    def literal(self, value: object) -> str:
        """Spell a truth, a number (of 64 bits at most), or anything else as a string."""
        match value:
            case bool():
                return self.truths[value]
            case int():
                return f"({value})" if value < 0 else f"{value}"
            case float():
                return self.number(value)
        return self.string(str(value))

    def as_double(self, x: str, kind: Kind = "number") -> str:  # noqa: ARG002
        """Make a number, or a boolean, a float64; NULL stays NULL."""
        return f"CAST({x} AS {self.double})"

    def as_text(self, x: str) -> str:
        """Make a value a string that is equal to another only if all characters are."""
        return self.text_of.format(x)

    def is_missing(self, x: str) -> str:
        """Whether a float64 is NULL or NaN; ask ``IS NULL`` of anything else."""
        return self.missing_of.format(x, self.special(math.nan))

    def seconds(self, x: str) -> str:
        """Return a date or time as seconds since 1970, UTC, as a float64."""
        if self.seconds_of is None:
            raise ValueError(f"{self.name} has no type of times, so that {x} is none.")
        return self.seconds_of.format(x)

    def times(self, power: float, x: str) -> str:
        """Multiply a float64 by a power of two."""
        return f"({self.number(power)} * {x})"

    def both(self, a: str, operator: str, b: str) -> str:
        """Add, subtract or divide two float64."""
        return f"({a} {operator} {b})"

    @abstractmethod
    def finite(self, x: float) -> str:
        """Spell a finite number."""

    def special(self, x: float) -> str:
        """Spell an infinity or NaN."""
        return f"CAST('{x}' AS {self.double})"

    def _quoted(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"


def _names(table: Table) -> tuple[str, ...]:
    """Return the name of a table, after that of its schema if there is one."""
    return (table,) if isinstance(table, str) else tuple(table)


def _check(text: str, what: str) -> None:
    """Raise a ValueError if a text holds half a surrogate pair, which is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} {text!r} holds half a character, which SQL cannot spell."
        ) from None


# --- A connection to a database: what its tables hold, and answers to queries --------------------


ADBC = "adbc_driver_manager"
# What begins so and goes on is no name of a table.
QUERY = re.compile(r"\s*(select|with|values|from)\s+\S.*", re.IGNORECASE | re.DOTALL)
LONGEST = 300  # characters of a database's message
ROWS = 1 << 15  # that are read at a time


class ColumnType(Frozen, eq=True):
    """A column of a table in a database."""

    name: str
    kind: Kind
    type: str
    whole: bool = False  # whether its values are whole numbers of 64 bits at most

    def read(self, found: Sequence[Value]) -> Column:
        """Return cells that were read of it as the same column of rows in memory."""
        if self.kind == "time":  # seconds since 1970; None and NaN are missing
            seconds = np.array([np.nan if s is None else s for s in found], np.float64)
            if np.isinf(seconds).any():
                raise ValueError(
                    f"Column {self.name!r} holds infinite times, which cannot be learned from."
                )
            moments, there = np.full(len(seconds), NOT_A_TIME), ~np.isnan(seconds)
            moments[there] = times_of(seconds[there])
            return moments, "time"
        if self.kind == "boolean":  # which are 0 and 1 in SQLite
            found = [None if cell is None else bool(cell) for cell in found]
        cells, kind = read_column(self.name, list(found))
        if self.kind == "string" and kind is None:
            return Strings.all_missing(len(found)), None
        return cells, kind


class Database(Dialect):
    """A database, and a connection to it; nothing is written, committed or rolled back."""

    title: ClassVar[str]  # what the database is called in messages
    whole_types: ClassVar[tuple[str, ...]]
    kinds: ClassVar[dict[Kind, tuple[str, ...]]]  # the types whose values can be learned from
    serves: ClassVar[bool] = False  # whether it is a server, where large tables stay

    def __init__(self, connection: Connection = None) -> None:  # None: it is spelled only
        self.connection = connection

    def ask(self, query: str) -> list[Line]:
        """Return all rows of a query's answer."""
        with self._executed(query) as cursor:
            found: list[Line] = cursor.fetchall()
        return found

    def batches(self, table: Table, columns: Sequence[ColumnType]) -> Iterator[dict[str, Column]]:
        """Yield some columns of a table, some rows at a time."""
        asked = ", ".join(map(self.cells_of, columns))
        for lines in self._lines(f"SELECT {asked} FROM {self.table(table)}", columns):
            cells = zip(*lines, strict=True)
            yield {of.name: of.read(some) for of, some in zip(columns, cells, strict=True)}

    def _lines(self, query: str, columns: Sequence[ColumnType]) -> Iterator[list[Line]]:  # noqa: ARG002
        """Yield the answer to a query of such columns, some rows at a time."""
        with self._executed(query) as cursor:
            while lines := cursor.fetchmany(ROWS):
                yield lines

    def cells_of(self, column: ColumnType) -> str:
        """Return a column's values as rows are read: text, numbers, and times as seconds."""
        x = self.identifier(column.name)
        if column.kind == "string":
            return self.as_text(x)
        if column.whole or column.kind == "boolean":
            return x
        return self.number_of(column)

    def number_of(self, column: ColumnType) -> str:
        """Return a column's numbers, truths or times (as seconds) as float64."""
        x = self.identifier(column.name)
        if column.kind == "time":
            return self.seconds(x)
        return self.as_double(x, "boolean" if column.kind == "boolean" else "number")

    def missing(self, column: ColumnType) -> str:
        """Return whether a cell of a column is missing, as NaN is."""
        if column.kind == "number" and not column.whole:
            return self.is_missing(self.number_of(column))
        return f"{self.identifier(column.name)} IS NULL"

    def run(self, statement: str) -> None:
        """Run a statement that answers nothing."""
        with self._executed(statement):
            pass

    @contextmanager
    def named(self, table: Table) -> Iterator[Table]:
        """Give the name of a table, or of a view of this connection that is a query as long."""
        if not (isinstance(table, str) and QUERY.match(table)):
            yield table
            return
        name = f"naively_{uuid4().hex}"
        view = self.identifier(name)
        self.run(f"CREATE TEMPORARY VIEW {view} AS {table.strip().rstrip(';')}")
        try:
            yield name
        finally:
            with suppress(ValueError):  # after a failure PostgreSQL has dropped it already
                self.run(f"DROP VIEW {view}")

    @contextmanager
    def _executed(self, statement: str) -> Iterator[Any]:
        """Give the cursor that has executed a statement."""
        with self._failing(), self._cursor() as cursor:
            cursor.execute(statement)
            yield cursor

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Raise an error of the database as a sentence."""
        try:
            yield
        except _errors(self.connection) as error:
            raise ValueError(self._sentence(str(error))) from error
        except BrokenStreamError as error:
            raise ValueError(self._sentence(error.message)) from error

    def _cursor(self) -> AbstractContextManager[Any]:
        return closing(self.connection.cursor())

    def _sentence(self, message: str) -> str:
        lacking = self.lacking and re.search(self.lacking, message)
        if lacking:
            return (
                f"{self.title} has no function {lacking[1]} here, which the query needs; connect "
                "to a version that has it."
            )
        line = " ".join(message.strip().split("\n", 1)[0].split()).rstrip(".")
        return f"{self.title} failed: {line[:LONGEST]}."

    def columns(self, table: Table) -> dict[str, ColumnType]:
        """Return the columns of a table or view, in its order."""
        typed = self.types(table)
        if not typed:
            raise ValueError(f"{self.title} has no table {'.'.join(_names(table))!r} with columns.")
        refuse_twice(name for name, _ in typed)
        return {name: self._column(name, declared) for name, declared in typed}

    def _column(self, name: str, declared: str) -> ColumnType:
        spelled = declared.upper()
        kinds = {of: kind for kind, types in self.kinds.items() for of in types}
        kind = kinds.get(spelled.partition("(")[0])
        if kind is None or spelled.endswith("]"):
            raise unusable(name, f"values of type {declared}")
        return ColumnType(name, kind, declared, spelled in self.whole_types)

    @abstractmethod
    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        """Return the name and type of each column of a table."""


def modules_of(connection: Connection) -> list[str]:
    """Return the modules of a connection's class and of those that it is made of."""
    every = (kind.__module__.partition(".")[0] for kind in type(connection).__mro__)
    return [name.lstrip("_") for name in every]


def _errors(connection: Connection) -> tuple[type[Exception], ...]:
    """Return the errors that a connection may raise, which each module has as ``Error``."""
    there = (sys.modules.get(name) for name in modules_of(connection))
    return tuple(module.Error for module in there if module is not None and "Error" in vars(module))


# --- A labelled table in a database, and what is asked of it before it is learned ----------------


class DatabaseTable(Frozen, eq=True):
    """A table, and which of its columns are labels and weights."""

    database: Database
    table: Table  # the name of the table, or its schema and its name
    columns: dict[str, ColumnType]  # all columns
    target: str  # the columns of labels and, if there is one, of weights
    weight: str | None = None

    @classmethod
    def of(
        cls, database: Database, table: Table, target: str, weight: str | None = None
    ) -> DatabaseTable:
        """Look at the columns of a table."""
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
    def names(self) -> list[str]:
        """The columns that are learned from."""
        return [name for name in self.columns if name not in (self.target, self.weight)]

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self._count("COUNT(*)")

    def check(self) -> None:
        """Raise a ValueError if a label is missing, or a weight is none."""
        missing = self.database.missing(self.columns[self.target])
        if n := self._count(f"SUM(CASE WHEN {missing} THEN 1 ELSE 0 END)"):
            raise ValueError(
                f"{n:,} rows have no label in column {self.target!r}; leave them out, as by a view "
                "of the table."
            )
        if self.weight is None:
            return
        w = self.database.number_of(self.columns[self.weight])
        zero, least, most = map(self.database.number, (0.0, LEAST_WEIGHT, MOST_WEIGHT))
        right = f"{w} = {zero} OR ({w} >= {least} AND {w} <= {most})"
        if n := self._count(f"SUM(CASE WHEN {right} THEN 0 ELSE 1 END)"):
            raise ValueError(
                f"sample_weight must be finite and at least 0, and between {LEAST_WEIGHT:g} and "
                f"{MOST_WEIGHT:g} if it is not 0, but {n:,} rows of column {self.weight!r} have "
                "others."
            )

    def _count(self, what: str) -> int:
        """Return a whole number that is asked of all rows; 0 of none."""
        ((n,),) = self.database.ask(f"SELECT {what} FROM {self.database.table(self.table)}")
        return int(n or 0)


# --- Connections to DuckDB, SQLite and PostgreSQL ------------------------------------------------


KNOWN = "DuckDB, SQLite and PostgreSQL, by their own modules, psycopg (naively[sql]) or ADBC"
CELLS = ("text", "real", "integer", "blob")  # the types of SQLite's cells
AT_ONCE = 8  # columns whose types one query asks for: few columns have few combinations of types


@final
class DuckDB(Database):
    """DuckDB, whose answers come as Arrow."""

    title = "DuckDB"
    name = "duckdb"
    double = "DOUBLE"
    nul = "chr(0)"
    text_of = 'CAST({} AS VARCHAR) COLLATE "binary"'
    seconds_of = "(CAST(epoch_us({}) AS DOUBLE) / 1e6)"
    whole_types = "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"
    kinds: ClassVar = {
        "number": (*whole_types, "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL", "FLOAT", "DOUBLE"),
        "string": ("VARCHAR", "ENUM", "UUID"),
        "time": (
            *("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
            *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
        ),
        "boolean": ("BOOLEAN",),
    }

    def finite(self, x: float) -> str:
        # A number in plain decimals is a DECIMAL, one with an exponent is not.
        digits = repr(x).removesuffix(".0")
        if "e" not in digits:
            whole, _, rest = digits.partition(".")
            digits = f"{int(whole + rest)}e-{len(rest)}" if rest else f"{digits}e0"
            digits = f"-{digits}" if x < 0 and not digits.startswith("-") else digits
        return f"({digits})" if x < 0 else digits

    def _cursor(self) -> AbstractContextManager[Any]:
        if ADBC in modules_of(self.connection):
            return super()._cursor()
        # A cursor is another connection there, which sees no temporary table.
        return nullcontext(self.connection)

    def batches(self, table: Table, columns: Sequence[ColumnType]) -> Iterator[dict[str, Column]]:
        if ADBC in modules_of(self.connection):
            yield from super().batches(table, columns)
            return
        asked = []
        for of in columns:
            x = self.identifier(of.name)  # Arrow has no infinite times, so that they are missing
            asked.append(f"CASE WHEN isfinite({x}) THEN {x} END AS {x}" if of.kind == "time" else x)
        query = f"SELECT {', '.join(asked)} FROM {self.table(table)}"
        with self._failing():
            yield from ArrowStream(self.connection.sql(query))

    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        found = self.ask(f"DESCRIBE SELECT * FROM {self.table(table)}")
        return [(name, declared) for name, declared, *_ in found]


@final
class SQLite(Database):
    """SQLite, where each cell has a type of its own, and times are text."""

    title = "SQLite"
    name = "sqlite"
    double = "REAL"
    nul = "char(0)"
    truths = "0", "1"
    lacking = r"no such function: (\w+)"
    text_of = "CAST({} AS TEXT) COLLATE BINARY"
    missing_of = "({} IS NULL)"
    whole_types = ("INTEGER",)
    kinds: ClassVar = {
        "number": ("REAL", "INTEGER"), "string": ("TEXT",), "boolean": ("BOOLEAN",)
    }  # fmt: skip

    def finite(self, x: float) -> str:
        # Decimals are not always read to the last bit.
        above, below = x.as_integer_ratio()
        power = below.bit_length() - 1
        while above and above % 2 == 0 and above.bit_length() > MOST_DIGITS:
            above //= 2
            power -= 1
        operator, power = ("/", power) if power >= 0 else ("*", -power)
        by = [2**MOST_DIGITS] * (power // MOST_DIGITS) + [2 ** (power % MOST_DIGITS)]
        return f"({above} * 1.0" + "".join(f" {operator} {one}" for one in by if one > 1) + ")"

    def special(self, x: float) -> str:
        # NaN is NULL.
        return "NULL" if math.isnan(x) else "9e999" if x > 0 else "(-9e999)"

    def _lines(self, query: str, columns: Sequence[ColumnType]) -> Iterator[list[Line]]:
        if ADBC not in modules_of(self.connection):
            yield from super()._lines(query, columns)
            return
        # There the type of a column is that of its first cells, which may all be NULL.
        typed = ", ".join("''" if of.kind == "string" else "0.0" for of in columns)
        first = 1
        for lines in super()._lines(f"SELECT {typed} UNION ALL {query}", columns):
            yield lines[first:]
            first = 0

    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        of = ", ".join(map(self.string, reversed(_names(table))))
        declared = self.ask(f"SELECT name, type FROM pragma_table_xinfo({of}) WHERE hidden <> 1")
        held: dict[str, set[str]] = {}
        for start in range(0, len(declared), AT_ONCE):
            some = [name for name, _ in declared[start : start + AT_ONCE]]
            asked = ", ".join(f"typeof({self.identifier(name)})" for name in some)
            found = self.ask(f"SELECT DISTINCT {asked} FROM {self.table(table)}")
            held |= zip(some, map(set, zip(*found, strict=True)), strict=False)
        return [
            (name, self._type(table, name, spelled.upper(), held.get(name, set())))
            for name, spelled in declared
        ]

    def _type(self, table: Table, name: str, declared: str, held: set[str]) -> str:
        """Return the type of all cells of a column; truths are such where it is declared so."""
        there = [kind for kind in CELLS if kind in held]
        if "text" in there and len(there) > 1:
            raise ValueError(
                f"Column {name!r} mixes values of the types {' and '.join(sorted(there))}; make it "
                "all of one type, as by a view with CAST."
            )
        if declared in ("BOOLEAN", "BOOL") and there in ([], ["integer"]):
            other = f"SELECT MAX({self.identifier(name)} NOT IN (0, 1)) FROM {self.table(table)}"
            if not self.ask(other)[0][0]:
                return "BOOLEAN"
        return (there or ["real"])[0].upper()


@final
class PostgreSQL(Database):
    """PostgreSQL, a server, where a number is a NUMERIC unless it is cast."""

    title = "PostgreSQL"
    lacking = r"function (\w+)\(.*\) does not exist"
    serves = True
    name = "postgres"
    double = "DOUBLE PRECISION"
    most_bytes = 63  # of a name; a longer one would be cut
    text_of = 'CAST({} AS TEXT) COLLATE "C"'
    seconds_of = "CAST(EXTRACT(EPOCH FROM {}) AS DOUBLE PRECISION)"
    whole_types = "SMALLINT", "INTEGER", "BIGINT"
    kinds: ClassVar = {
        "number": (*whole_types, "NUMERIC", "REAL", "DOUBLE PRECISION"),
        "string": ("TEXT", "CHARACTER VARYING", "CHARACTER", "CITEXT", "ENUM", "UUID", "NAME"),
        "time": ("DATE", "TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP WITH TIME ZONE"),
        "boolean": ("BOOLEAN",),
    }

    def identifier(self, name: str) -> str:
        quoted = super().identifier(name)
        if not 0 < len(name.encode()) <= self.most_bytes:
            raise ValueError(
                f"The name {name!r} has {len(name.encode())} bytes; PostgreSQL's names have 1 to "
                f"{self.most_bytes}."
            )
        return quoted

    @property
    def nul(self) -> str:  # type: ignore[override]
        """Nothing: no string of PostgreSQL holds the character."""
        raise ValueError("A string holds a NUL character, which no string of PostgreSQL can hold.")

    def as_double(self, x: str, kind: Kind = "number") -> str:
        return super().as_double(f"CAST({x} AS INTEGER)" if kind == "boolean" else x, kind)

    def finite(self, x: float) -> str:
        return f"CAST('{x!r}' AS DOUBLE PRECISION)"

    # A result that is 0 or infinite elsewhere, as it is too small or too large, is an error here.

    def times(self, power: float, x: str) -> str:
        times, infinite = super().times(power, x), self.special(math.inf)
        if power < 1:
            tiny = self.number(2.0**-1074 / power / 2)
            return f"(CASE WHEN ABS({x}) <= {tiny} THEN 0 * {x} ELSE {times} END)"
        most = self.number(sys.float_info.max / power)
        return f"(CASE WHEN ABS({x}) > {most} THEN {infinite} * {x} ELSE {times} END)"

    def both(self, a: str, operator: str, b: str) -> str:
        both, infinite = super().both(a, operator, b), self.special(math.inf)
        tiny, large = self.number(2.0**-1074), self.number(2.0**1022)
        if operator != "/":
            half = super().both(self.times(0.5, a), operator, self.times(0.5, b))
            return f"(CASE WHEN ABS({half}) < {large} THEN {both} ELSE {infinite} * {half} END)"
        return (
            f"(CASE WHEN ABS({a}) <= FLOOR(GREATEST(ABS({b}), 1) / 2) * {tiny} THEN 0 * {a} / {b} "
            f"WHEN ABS({b}) < 1 AND ABS({a}) > LEAST(ABS({b}), 1) * {large} "
            f"THEN {infinite} * {a} * SIGN({b}) ELSE {both} END)"
        )

    def _quoted(self, text: str) -> str:
        quoted = super()._quoted(text)
        return f"E{quoted.replace(chr(92), chr(92) * 2)}" if "\\" in text else quoted

    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        ((digits,),) = self.ask("SELECT CAST(current_setting('extra_float_digits') AS INTEGER)")
        if digits < 1:
            raise ValueError(
                f"PostgreSQL would round each number to fewer digits than it has, as its "
                f"extra_float_digits is {digits} in this connection; SET extra_float_digits = 1 "
                "there first."
            )
        spelled = self.string(self.table(table))
        return self.ask(
            "SELECT CAST(a.attname AS TEXT), CASE WHEN t.typcategory = 'E' THEN 'enum' "
            "ELSE format_type(a.atttypid, NULL) END "
            "FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid "
            f"WHERE a.attrelid = to_regclass({spelled}) AND a.attnum > 0 AND NOT a.attisdropped "
            "ORDER BY a.attnum"
        )


def database_of(connection: Connection) -> Database:
    """Return the database that a connection is to."""
    # connection: of duckdb, sqlite3 or psycopg, or of ADBC to one of these databases
    modules = modules_of(connection)
    of: dict[str, type[Database]] = {
        "duckdb": DuckDB,
        "sqlite3": SQLite,
        "psycopg": PostgreSQL,
        "psycopg2": PostgreSQL,
        "sqlite": SQLite,
        "postgresql": PostgreSQL,
    }
    if ADBC in modules:
        modules = [str(connection.adbc_get_info().get("vendor_name", "")).lower()]
    known = next((of[module] for module in modules if module in of), None)
    if known is None:
        named = repr(type(connection).__name__)
        raise TypeError(f"{named} is no connection to a database that is known; known are {KNOWN}.")
    return known(connection)
