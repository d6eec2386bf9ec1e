"""A connection to a database: what its tables hold, and answers to queries."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

from naively.data.columns import Kind, refuse_twice, unusable
from naively.engines.sql.dialect import Dialect, DuckDB, PostgreSQL, SQLite, Table

PRIME = 2**31 - 1  # which 5 does not divide less 1
LONGEST = 300  # characters of a database's message
ADBC = "adbc_driver_manager"
KNOWN = "DuckDB, SQLite and PostgreSQL, by their own modules, psycopg or ADBC"


@dataclass(frozen=True)
class ColumnType:
    """A column of a table in a database.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "string", "time"}
        What its values are.
    type : str
        Its type, as the database names it.
    whole : bool
        Whether its values are whole numbers of 64 bits at most.
    """

    name: str
    kind: Kind
    type: str
    whole: bool = False


class Chosen(NamedTuple):
    """Some rows of a table: what a query selects from, and the condition that they fulfil."""

    table: str
    condition: str


class Database(ABC):
    """A connection, and how its database is asked.

    Parameters
    ----------
    connection : DB-API connection
        Nothing is written, and no transaction is begun, committed or rolled back by hand.
    title : str
        What the database is called in messages.
    """

    title: ClassVar[str]
    dialect: ClassVar[Dialect]
    whole_types: ClassVar[frozenset[str]]
    by_content: ClassVar[bool] = True  # whether equal rows are chosen together

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def ask(self, query: str, kinds: Sequence[Kind] = ()) -> list[tuple[Any, ...]]:  # noqa: ARG002
        """Return all rows of a query's answer.

        Parameters
        ----------
        query : str
            The query.
        kinds : sequence of {"number", "string", "boolean", "time"}, optional
            What its columns are, where a database has no types of its own.

        Raises
        ------
        ValueError
            If the database fails; the message is one sentence.
        """
        try:
            return self._ask(query)
        except _errors(self.connection) as error:
            raise ValueError(self._sentence(str(error))) from error

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.cursor()
        try:
            cursor.execute(query)
            found: list[tuple[Any, ...]] = cursor.fetchall()
        finally:
            cursor.close()
        return found

    def _sentence(self, message: str) -> str:
        lacking = self.dialect.lacks(message)
        if lacking is not None:
            return (
                f"{self.title} has no function {lacking} here, which the query needs; connect to a "
                "version that has it."
            )
        line = " ".join(message.strip().split("\n", 1)[0].split()).rstrip(".")
        return f"{self.title} failed: {line[:LONGEST]}."

    def columns(self, table: Table) -> dict[str, ColumnType]:
        """Return the columns of a table or view, in its order.

        Raises
        ------
        ValueError
            If there is no such table, or nothing can be learned from a column of such a type.
        """
        typed = self.types(table)
        if not typed:
            shown = table if isinstance(table, str) else ".".join(table)
            raise ValueError(f"{self.title} has no table {shown!r} with columns.")
        refuse_twice(name for name, _ in typed)
        return {name: self._column(name, declared) for name, declared in typed}

    def _column(self, name: str, declared: str) -> ColumnType:
        kind = self.kind_of(declared)
        if kind is None:
            raise unusable(name, f"values of type {declared}")
        return ColumnType(name, kind, declared, declared.upper() in self.whole_types)

    @abstractmethod
    def chosen(self, table: Table, columns: Sequence[str], share: float, seed: int) -> Chosen:
        """Return which rows are a share of a table, chosen by a hash.

        Parameters
        ----------
        table : str or tuple of two str
            The table.
        columns : sequence of str
            The columns that are hashed.
        share : float
            How much of the table is wanted, less than 1.
        seed : int
            Of 64 bits; with another seed, other rows are chosen.
        """

    @abstractmethod
    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        """Return the name and type of each column of a table."""

    @abstractmethod
    def kind_of(self, declared: str) -> Kind | None:
        """Return what values of a type are; None if nothing can be learned from them."""


@final
class OfDuckDB(Database):
    """A connection to DuckDB."""

    title = "DuckDB"
    dialect = DuckDB()
    whole_types = frozenset(
        ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"]
    )

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        if ADBC in _modules(self.connection):
            return super()._ask(query)
        # A cursor is another connection there, which sees no temporary table.
        found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return found

    def chosen(self, table: Table, columns: Sequence[str], share: float, seed: int) -> Chosen:
        hashed = ", ".join([str(seed), *map(self.dialect.identifier, columns)])
        limit = f"CAST({int(share * 2**64)} AS UBIGINT)"
        return Chosen(self.dialect.table(table), f"hash({hashed}) < {limit}")

    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        found = self.ask(f"DESCRIBE SELECT * FROM {self.dialect.table(table)}")
        return [(name, declared) for name, declared, *_ in found]

    def kind_of(self, declared: str) -> Kind | None:
        name = declared.upper().partition("(")[0]
        kinds: dict[str, Kind] = {
            **dict.fromkeys(self.whole_types, "number"),
            **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL"), "number"),
            **dict.fromkeys(("FLOAT", "DOUBLE"), "number"),
            **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), "string"),
            **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"), "time"),
            **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "time"),
            "BOOLEAN": "boolean",
        }
        return None if name.endswith("]") or declared.endswith("]") else kinds.get(name)


@final
class OfSQLite(Database):
    """A connection to SQLite, where each cell has a type of its own."""

    title = "SQLite"
    dialect = SQLite()
    whole_types = frozenset({"INTEGER"})
    by_content = False

    def ask(self, query: str, kinds: Sequence[Kind] = ()) -> list[tuple[Any, ...]]:
        if not kinds or ADBC not in _modules(self.connection):
            return super().ask(query)
        # There the type of a column is that of its first cells, which may all be NULL.
        first = ", ".join("''" if kind == "string" else "0.0" for kind in kinds)
        return super().ask(f"SELECT {first} UNION ALL {query}")[1:]

    def chosen(self, table: Table, columns: Sequence[str], share: float, seed: int) -> Chosen:
        # SQLite has no hash. The fifth power is a permutation of the numbers below this prime: it
        # mixes the numbers of rows, which stay as long as the table is not changed.
        of, number = self._numbered(table, columns)
        start, step = seed % PRIME, 1 + (seed >> 32) % (PRIME - 1)
        x = f"(({number} % {PRIME} * {step} + {start}) % {PRIME})"
        fourth = f"(({x} * {x} % {PRIME}) * ({x} * {x} % {PRIME}) % {PRIME})"
        return Chosen(of, f"{fourth} * {x} % {PRIME} < {int(share * PRIME)}")

    def _numbered(self, table: Table, columns: Sequence[str]) -> tuple[str, str]:
        """Return the table and the number of its rows, counted here if it is a view."""
        taken, name = {column.lower() for column in columns}, self.dialect.table(table)
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
        name, schema = (table, None) if isinstance(table, str) else (table[1], table[0])
        of = ", ".join(self.dialect.string(one) for one in (name, schema) if one is not None)
        names = [str(row[0]) for row in self.ask(f"SELECT name FROM pragma_table_xinfo({of})")]
        if not names:
            return []
        kinds = ("text", "real", "integer", "blob")
        held = [
            f"MAX(typeof({self.dialect.identifier(name)}) = '{kind}')"
            for name in names
            for kind in kinds
        ]
        flags: list[Any] = []
        for start in range(0, len(held), 1000):
            some = ", ".join(held[start : start + 1000])
            flags += self.ask(f"SELECT {some} FROM {self.dialect.table(table)}")[0]
        found = []
        for j, column in enumerate(names):
            there = [kind for kind, flag in zip(kinds, flags[4 * j :], strict=False) if flag]
            if "text" in there and len(there) > 1:
                raise ValueError(
                    f"Column {column!r} mixes values of the types {' and '.join(sorted(there))}; "
                    "make it all of one type, as by a view with CAST."
                )
            found.append((column, (there or ["real"])[0].upper()))
        return found

    def kind_of(self, declared: str) -> Kind | None:
        kinds: dict[str, Kind] = {"TEXT": "string", "REAL": "number", "INTEGER": "number"}
        return kinds.get(declared)


@final
class OfPostgreSQL(Database):
    """A connection to PostgreSQL."""

    title = "PostgreSQL"
    dialect = PostgreSQL()
    whole_types = frozenset({"SMALLINT", "INTEGER", "BIGINT"})

    def chosen(self, table: Table, columns: Sequence[str], share: float, seed: int) -> Chosen:
        row = ", ".join(map(self.dialect.identifier, columns))
        hashed = f"hashtextextended(CAST(ROW({row}) AS TEXT), {_signed(seed)})"
        return Chosen(
            self.dialect.table(table), f"{hashed} < {_signed(int(share * 2**64) ^ 2**63)}"
        )

    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        spelled = self.dialect.string(self.dialect.table(table))
        return self.ask(
            "SELECT CAST(a.attname AS TEXT), CASE WHEN t.typcategory = 'E' THEN 'enum' "
            "ELSE format_type(a.atttypid, NULL) END "
            "FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid "
            f"WHERE a.attrelid = to_regclass({spelled}) AND a.attnum > 0 AND NOT a.attisdropped "
            "ORDER BY a.attnum"
        )

    def kind_of(self, declared: str) -> Kind | None:
        kinds: dict[str, Kind] = {
            **dict.fromkeys(("smallint", "integer", "bigint", "numeric"), "number"),
            **dict.fromkeys(("real", "double precision"), "number"),
            **dict.fromkeys(("text", "character varying", "character", "citext"), "string"),
            **dict.fromkeys(("enum", "uuid", "name"), "string"),
            **dict.fromkeys(("date", "timestamp without time zone"), "time"),
            "timestamp with time zone": "time",
            "boolean": "boolean",
        }
        return kinds.get(declared)


def database_of(connection: Any) -> Database:
    """Return the database that a connection is to.

    Parameters
    ----------
    connection : DB-API or ADBC connection
        Of duckdb, sqlite3 or psycopg, or of ADBC to one of these databases.

    Raises
    ------
    TypeError
        If it is anything else.

    Examples
    --------
    >>> import sqlite3
    >>> database_of(sqlite3.connect(":memory:")).title
    'SQLite'
    >>> database_of("shop.db")
    Traceback (most recent call last):
    ...
    TypeError: 'str' is no connection to a database that is known; known are DuckDB, SQLite and ...
    """
    modules = _modules(connection)
    of: dict[str, type[Database]] = {
        "duckdb": OfDuckDB,
        "sqlite3": OfSQLite,
        "psycopg": OfPostgreSQL,
        "psycopg2": OfPostgreSQL,
        "sqlite": OfSQLite,
        "postgresql": OfPostgreSQL,
    }
    if ADBC in modules:
        modules = [str(connection.adbc_get_info().get("vendor_name", "")).lower()]
    known = next((of[module] for module in modules if module in of), None)
    if known is None:
        named = repr(type(connection).__name__)
        raise TypeError(f"{named} is no connection to a database that is known; known are {KNOWN}.")
    return known(connection)


def _signed(n: int) -> str:
    """Spell a number of 64 bits as a whole number with a sign."""
    signed = n - 2**64 if n >= 2**63 else n
    return f"CAST('{signed}' AS BIGINT)"


def _modules(connection: Any) -> list[str]:
    """Return the modules of a connection's class and of those that it is made of."""
    every = (kind.__module__.partition(".")[0] for kind in type(connection).__mro__)
    return [name.lstrip("_") for name in every]


def _errors(connection: Any) -> tuple[type[Exception], ...]:
    """Return the errors that a connection may raise, which each module has as ``Error``."""
    there = (sys.modules.get(name) for name in _modules(connection))
    return tuple(module.Error for module in there if module is not None and "Error" in vars(module))
