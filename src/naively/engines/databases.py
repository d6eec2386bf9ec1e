"""DuckDB, SQLite and PostgreSQL: how each is connected to, asked and spelled."""

from __future__ import annotations

import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, final
from uuid import uuid4

from naively.data.columns import Kind, refuse_twice, unusable

# --- How databases spell the same things: names, strings, numbers --------------------------------


Connection: TypeAlias = Any  # of DB-API or ADBC, each of a class of its own
Value: TypeAlias = Any  # of a cell, as the database has it
Line: TypeAlias = tuple[Value, ...]  # of an answer
Table: TypeAlias = "str | tuple[str, str]"  # a name, or a schema and a name
NumericKind: TypeAlias = Literal["number", "boolean"]  # of what becomes a double

MOST_DIGITS = 62  # of a power of two that is a whole number in any database


class Dialect(ABC):
    """How a database spells names and values."""

    # Methods take and return pieces of SQL, unless a parameter is said to be a name or a value.
    # Each piece can stand wherever an operand can.

    name: str
    once = ""  # what ends a subselect whose columns are to be computed once
    sums_grow = True  # whether a sum of whole numbers may have more than 64 bits
    double: str  # the type of float64
    nul: str  # the character of code 0
    truths = "FALSE", "TRUE"
    lacking: str | None = None  # the error that a function is not there, a pattern
    # How a value is spelled as something else; None where it cannot be.
    text_of: str
    missing_of = "({0} IS NULL OR {0} = {1})"
    floor_of = "CAST(FLOOR({}) AS BIGINT)"
    bits_of: str | None = None
    seconds_of: str | None = None
    no_times = "{} has no type of times, so that {} is none."

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

    def integer(self, n: int) -> str:
        """Spell a whole number, which must have 64 bits at most."""
        return f"({n})" if n < 0 else f"{n}"

    def boolean(self, truth: bool) -> str:
        """Spell true or false."""
        return self.truths[truth]

    def literal(self, value: object) -> str:
        """Spell a truth or a number, or anything else as a string."""
        match value:
            case bool():
                return self.boolean(value)
            case int():
                return self.integer(value)
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

    def bits(self, x: str) -> str | None:
        """Return the bits of a float64 of 0 or more as a whole number; None: it cannot be asked."""
        return None if self.bits_of is None else self.bits_of.format(x)

    def floor(self, x: str) -> str:
        """Return a float64 of 0 or more, below 2^63, as a whole number, rounded down."""
        return self.floor_of.format(x)

    def seconds(self, x: str) -> str:
        """Return a date or time as seconds since 1970, UTC, as a float64."""
        if self.seconds_of is None:
            raise ValueError(self.no_times.format(self.name, x))
        return self.seconds_of.format(x)

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


@dataclass(frozen=True)
class ColumnType:
    """A column of a table in a database."""

    name: str
    kind: Kind
    type: str
    whole: bool = False  # whether its values are whole numbers of 64 bits at most


class Database(Dialect):
    """A database, and a connection to it; nothing is written, committed or rolled back."""

    title: ClassVar[str]  # what the database is called in messages
    whole_types: ClassVar[tuple[str, ...]]
    kinds: ClassVar[dict[Kind, tuple[str, ...]]]  # the types whose values can be learned from
    by_content: ClassVar[bool] = True  # whether equal rows are chosen together

    def __init__(self, connection: Connection = None) -> None:  # None: it is spelled only
        self.connection = connection

    def ask(self, query: str, kinds: Sequence[Kind] = ()) -> list[Line]:  # noqa: ARG002
        """Return all rows of a query's answer."""
        with self._executed(query) as cursor:
            found: list[Line] = cursor.fetchall()
        return found

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
        """Give the cursor that has executed a statement; an error of the database is a sentence."""
        try:
            with self._cursor() as cursor:
                cursor.execute(statement)
                yield cursor
        except _errors(self.connection) as error:
            raise ValueError(self._sentence(str(error))) from error

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
    def hashed(self, table: Table, columns: Sequence[str], seed: int) -> tuple[str, str]:
        """Return what a query selects rows from, and a whole number as good as random of each."""
        # Only these columns are hashed. With another seed, of 64 bits, the hashes are others.

    @abstractmethod
    def highest(self, share: float) -> str:
        """Return the highest of so large a share of all hashes, from the least; more than 0."""

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


# --- Connections to DuckDB, SQLite and PostgreSQL ------------------------------------------------


KNOWN = "DuckDB, SQLite and PostgreSQL, by their own modules, psycopg or ADBC"
PRIME = 2**31 - 1  # which 5 does not divide less 1
CELLS = ("text", "real", "integer", "blob")  # the types of SQLite's cells
MOST_COLUMNS = 1000  # of an answer of SQLite, which may have 2000


@final
class DuckDB(Database):
    """DuckDB: a row is a value that holds all columns, and lists hold what is chosen from."""

    title = "DuckDB"
    name = "duckdb"
    double = "DOUBLE"
    nul = "chr(0)"
    text_of = 'CAST({} AS VARCHAR) COLLATE "binary"'
    bits_of = "CAST(CAST({} AS BIT) AS BIGINT)"
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

    def hashed(self, table: Table, columns: Sequence[str], seed: int) -> tuple[str, str]:
        hashed = ", ".join([str(seed), *map(self.identifier, columns)])
        return self.table(table), f"hash({hashed})"

    def highest(self, share: float) -> str:
        return f"CAST({_highest(share, 2**64)} AS UBIGINT)"

    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        found = self.ask(f"DESCRIBE SELECT * FROM {self.table(table)}")
        return [(name, declared) for name, declared, *_ in found]


@final
class SQLite(Database):
    """SQLite: each cell has a type of its own, times are text, and a row is known by its number."""

    title = "SQLite"
    name = "sqlite"
    double = "REAL"
    nul = "char(0)"
    once = " LIMIT -1 OFFSET 0"
    sums_grow = False
    truths = "0", "1"
    lacking = r"no such function: (\w+)"
    text_of = "CAST({} AS TEXT) COLLATE BINARY"
    missing_of = "({} IS NULL)"
    floor_of = "CAST({} AS INTEGER)"
    whole_types = ("INTEGER",)
    kinds: ClassVar = {
        "number": ("REAL", "INTEGER"), "string": ("TEXT",), "boolean": ("BOOLEAN",)
    }  # fmt: skip
    by_content = False

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

    def ask(self, query: str, kinds: Sequence[Kind] = ()) -> list[Line]:
        if not kinds or ADBC not in modules_of(self.connection):
            return super().ask(query)
        # There the type of a column is that of its first cells, which may all be NULL.
        first = ", ".join("''" if kind == "string" else "0.0" for kind in kinds)
        return super().ask(f"SELECT {first} UNION ALL {query}")[1:]

    def hashed(self, table: Table, columns: Sequence[str], seed: int) -> tuple[str, str]:
        # SQLite has no hash. The fifth power is a permutation of the numbers below this prime: it
        # mixes the numbers of rows, which stay as long as the table is not changed.
        of, number = self._numbered(table, columns)
        start, step = seed % PRIME, 1 + (seed >> 32) % (PRIME - 1)
        x = f"(({number} % {PRIME} * {step} + {start}) % {PRIME})"
        fourth = f"(({x} * {x} % {PRIME}) * ({x} * {x} % {PRIME}) % {PRIME})"
        return of, f"{fourth} * {x} % {PRIME}"

    def highest(self, share: float) -> str:
        return str(_highest(share, PRIME))

    def _numbered(self, table: Table, columns: Sequence[str]) -> tuple[str, str]:
        """Return the table and the number of its rows, counted here if it is a view."""
        taken, name = {column.lower() for column in columns}, self.table(table)
        own = next((n for n in ("rowid", "_rowid_", "oid") if n not in taken), None)
        if own is not None:
            try:
                found = self.ask(f"SELECT {own} FROM {name} LIMIT 1")
            except ValueError:
                found = []
            if found and isinstance(found[0][0], int):
                return name, own
        number = next(n for i in range(len(taken) + 1) if (n := f"n{i}") not in taken)
        return f"(SELECT *, row_number() OVER () AS {number} FROM {name})", number

    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        of = ", ".join(map(self.string, reversed(_names(table))))
        declared = self.ask(f"SELECT name, type FROM pragma_table_xinfo({of}) WHERE hidden <> 1")
        if not declared:
            return []
        asked = []
        for name, _ in declared:
            x = self.identifier(name)
            asked += [f"MAX(typeof({x}) = '{kind}')" for kind in CELLS]
            asked.append(f"MAX(typeof({x}) = 'integer' AND {x} <> 0 AND {x} <> 1)")
        flags: list[Value] = []
        for start in range(0, len(asked), MOST_COLUMNS):
            some = ", ".join(asked[start : start + MOST_COLUMNS])
            flags += self.ask(f"SELECT {some} FROM {self.table(table)}")[0]
        n = len(CELLS) + 1
        return [
            (name, self._type(name, spelled.upper(), flags[n * j : n * j + n]))
            for j, (name, spelled) in enumerate(declared)
        ]

    def _type(self, name: str, declared: str, flags: Sequence[Value]) -> str:
        """Return the type of all cells of a column; truths are such where it is declared so."""
        *held, no_truth = flags
        there = [kind for kind, flag in zip(CELLS, held, strict=True) if flag]
        if "text" in there and len(there) > 1:
            raise ValueError(
                f"Column {name!r} mixes values of the types {' and '.join(sorted(there))}; make it "
                "all of one type, as by a view with CAST."
            )
        if declared in ("BOOLEAN", "BOOL") and there in ([], ["integer"]) and not no_truth:
            return "BOOLEAN"
        return (there or ["real"])[0].upper()


@final
class PostgreSQL(Database):
    """PostgreSQL: a row is a value that holds all columns, and a number a NUMERIC unless cast."""

    title = "PostgreSQL"
    name = "postgres"
    double = "DOUBLE PRECISION"
    once = " OFFSET 0"
    most_bytes = 63  # of a name; a longer one would be cut
    text_of = 'CAST({} AS TEXT) COLLATE "C"'
    bits_of = "CAST(CAST('x' || encode(float8send({}), 'hex') AS BIT(64)) AS BIGINT)"
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

    def _quoted(self, text: str) -> str:
        quoted = super()._quoted(text)
        return f"E{quoted.replace(chr(92), chr(92) * 2)}" if "\\" in text else quoted

    def hashed(self, table: Table, columns: Sequence[str], seed: int) -> tuple[str, str]:
        row = ", ".join(map(self.identifier, columns))
        hashed = f"hashtextextended(CAST(ROW({row}) AS TEXT), {_signed(seed)})"
        return self.table(table), hashed

    def highest(self, share: float) -> str:
        return _signed(_highest(share, 2**64) ^ 2**63)

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


def _highest(share: float, hashes: int) -> int:
    """Return the highest of a share of the whole numbers from 0 on, of which there are so many."""
    return max(int(share * hashes) - 1, 0)


def _signed(n: int) -> str:
    """Spell a number of 64 bits as a whole number with a sign."""
    signed = n - 2**64 if n >= 2**63 else n
    return f"CAST('{signed}' AS BIGINT)"
