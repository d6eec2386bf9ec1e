"""Connections to DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from naively.data.columns import Kind
from naively.engines.sql.database import ADBC, Chosen, Database, modules_of
from naively.engines.sql.dialect import DuckDB, PostgreSQL, SQLite, Table

KNOWN = "DuckDB, SQLite and PostgreSQL, by their own modules, psycopg or ADBC"
PRIME = 2**31 - 1  # which 5 does not divide less 1
CELLS = ("text", "real", "integer", "blob")  # the types of SQLite's cells
MOST_COLUMNS = 1000  # of an answer of SQLite, which may have 2000


@final
class OfDuckDB(Database):
    """A connection to DuckDB."""

    title = "DuckDB"
    dialect = DuckDB()
    whole_types = frozenset(
        ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"]
    )

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        if ADBC in modules_of(self.connection):
            return super()._ask(query)
        # A cursor is another connection there, which sees no temporary table.
        found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return found

    def _run(self, statement: str) -> None:
        if ADBC in modules_of(self.connection):
            super()._run(statement)
        else:
            self.connection.execute(statement)

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
        if not kinds or ADBC not in modules_of(self.connection):
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
        declared = self.ask(f"SELECT name, type FROM pragma_table_xinfo({of}) WHERE hidden <> 1")
        if not declared:
            return []
        asked = []
        for name, _ in declared:
            x = self.dialect.identifier(name)
            asked += [f"MAX(typeof({x}) = '{kind}')" for kind in CELLS]
            asked.append(f"MAX(typeof({x}) = 'integer' AND {x} <> 0 AND {x} <> 1)")
        flags: list[Any] = []
        for start in range(0, len(asked), MOST_COLUMNS):
            some = ", ".join(asked[start : start + MOST_COLUMNS])
            flags += self.ask(f"SELECT {some} FROM {self.dialect.table(table)}")[0]
        n = len(CELLS) + 1
        return [
            (name, self._type(name, spelled.upper(), flags[n * j : n * j + n]))
            for j, (name, spelled) in enumerate(declared)
        ]

    def _type(self, name: str, declared: str, flags: Sequence[Any]) -> str:
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

    def kind_of(self, declared: str) -> Kind | None:
        kinds: dict[str, Kind] = {
            **dict.fromkeys(("REAL", "INTEGER"), "number"),
            "TEXT": "string",
            "BOOLEAN": "boolean",
        }
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
        ((digits,),) = self.ask("SELECT CAST(current_setting('extra_float_digits') AS INTEGER)")
        if digits < 1:
            raise ValueError(
                f"PostgreSQL would round each number to fewer digits than it has, as its "
                f"extra_float_digits is {digits} in this connection; SET extra_float_digits = 1 "
                "there first."
            )
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
    modules = modules_of(connection)
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
