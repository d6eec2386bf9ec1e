"""How databases spell the same things: names, strings, numbers, and the functions of scoring.

DuckDB, SQLite and PostgreSQL are spelled here; others as ``transpiled`` has them.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from typing import Literal, TypeAlias, final

Table: TypeAlias = "str | tuple[str, str]"  # a name, or a schema and a name
Kind: TypeAlias = Literal["number", "boolean"]  # of what becomes a double

MOST_DIGITS = 62  # of a power of two that is a whole number in any database
MOST_ARGUMENTS = 100  # of a function, in SQLite and PostgreSQL


class Dialect(ABC):
    """How a database spells a query.

    Methods take and return pieces of SQL, unless a parameter is said to be a name or a value. Each
    piece can stand wherever an operand can.
    """

    name: str

    def identifier(self, name: str) -> str:
        """Quote the name of a column or of anything else, whatever it holds.

        Examples
        --------
        >>> print(dialect_of("sqlite").identifier('the "best", select'))
        "the ""best"", select"
        """
        _check(name, "The name")
        if "\0" in name:
            raise ValueError(f"The name {name!r} holds a NUL character, which SQL cannot spell.")
        return '"' + name.replace('"', '""') + '"'

    def table(self, table: Table) -> str:
        """Quote the name of a table: one name, or a tuple of a schema and a name.

        Examples
        --------
        >>> print(dialect_of("duckdb").table("a.b"))
        "a.b"
        >>> print(dialect_of("duckdb").table(("a", "b")))
        "a"."b"
        """
        parts = (table,) if isinstance(table, str) else tuple(table)
        return ".".join(map(self.identifier, parts))

    def string(self, text: str) -> str:
        """Spell a string, whatever it holds.

        Examples
        --------
        >>> print(dialect_of("duckdb").string("it's; --"))
        'it''s; --'
        """
        _check(text, "The string")
        if "\0" not in text:
            return self._quoted(text)
        return "(" + f" || {self.nul} || ".join(map(self._quoted, text.split("\0"))) + ")"

    def number(self, x: float) -> str:
        """Spell a number so that the database has the same float64, to the last bit.

        Examples
        --------
        >>> print(dialect_of("duckdb").number(0.1), dialect_of("sqlite").number(0.75))
        1e-1 (3 * 1.0 / 4)
        >>> print(dialect_of("postgres").number(-2.0))
        CAST('-2.0' AS DOUBLE PRECISION)
        """
        x = float(x)
        return self.finite(x) if math.isfinite(x) else self.special(x)

    def integer(self, n: int) -> str:
        """Spell a whole number, which must have 64 bits at most."""
        return f"({n})" if n < 0 else f"{n}"

    def boolean(self, truth: bool) -> str:
        """Spell true or false."""
        return "TRUE" if truth else "FALSE"

    def as_double(self, x: str, kind: Kind = "number") -> str:  # noqa: ARG002
        """Make a number, or a boolean, a float64; NULL stays NULL."""
        return f"CAST({x} AS {self.double})"

    @abstractmethod
    def as_text(self, x: str) -> str:
        """Make a value a string that is equal to another only if all characters are."""

    def is_missing(self, x: str) -> str:
        """Whether a float64 is NULL or NaN; ask ``IS NULL`` of anything else."""
        return f"({x} IS NULL OR {x} = {self.special(math.nan)})"

    def exp(self, x: str) -> str:
        """Return e to the power of a float64."""
        return f"EXP({x})"

    def ln(self, x: str) -> str:
        """Return the natural logarithm of a float64 above 0."""
        return f"LN({x})"

    def sqrt(self, x: str) -> str:
        """Return the square root of a float64 of 0 or more."""
        return f"SQRT({x})"

    def greatest(self, *some: str) -> str:
        """Return the greatest of some numbers, none of which may be NULL or NaN."""
        return f"GREATEST({', '.join(some)})" if len(some) > 1 else some[0]

    def least(self, *some: str) -> str:
        """Return the least of some numbers, none of which may be NULL or NaN."""
        return f"LEAST({', '.join(some)})" if len(some) > 1 else some[0]

    def product(self, what: str, of: str, least: float) -> str:  # noqa: ARG002
        """Return a product, which may be written as 0 where a factor is of a size below least."""
        return what

    def finished(self, query: str) -> str:
        """Return a whole query, written with these methods, as the database reads it."""
        return query

    def lacks(self, message: str) -> str | None:  # noqa: ARG002
        """Return the function that a database's error says is not there, or None."""
        return None

    @abstractmethod
    def bits(self, x: str) -> str | None:
        """Return the bits of a float64 of 0 or more as a whole number; None: it cannot be asked."""

    def floor(self, x: str) -> str:
        """Return a float64 of 0 or more, below 2^63, as a whole number, rounded down."""
        return f"CAST(FLOOR({x}) AS BIGINT)"

    def seconds(self, x: str) -> str:
        """Return a date or time as seconds since 1970, UTC, as a float64."""
        raise ValueError(f"{self.name} has no type of times, so that {x} is none.")

    once = ""  # what ends a subselect whose columns are to be computed once
    sums_grow = True  # whether a sum of whole numbers may have more than 64 bits
    double: str  # the type of float64
    nul: str  # the character of code 0

    @abstractmethod
    def finite(self, x: float) -> str:
        """Spell a finite number."""

    @abstractmethod
    def special(self, x: float) -> str:
        """Spell an infinity or NaN."""

    def _quoted(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"


class LikeDuckDB(Dialect):
    """How DuckDB spells: a number in plain decimals is a DECIMAL, one with an exponent is not."""

    double = "DOUBLE"
    nul = "chr(0)"

    def seconds(self, x: str) -> str:
        return f"(CAST(epoch_us({x}) AS DOUBLE) / 1e6)"

    def finite(self, x: float) -> str:
        digits = repr(x).removesuffix(".0")
        if "e" not in digits:
            whole, _, rest = digits.partition(".")
            digits = f"{int(whole + rest)}e-{len(rest)}" if rest else f"{digits}e0"
            digits = f"-{digits}" if x < 0 and not digits.startswith("-") else digits
        return f"({digits})" if x < 0 else digits

    def special(self, x: float) -> str:
        return f"CAST('{x}' AS DOUBLE)"


@final
class DuckDB(LikeDuckDB):
    """DuckDB."""

    name = "duckdb"

    def bits(self, x: str) -> str | None:
        return f"CAST(CAST({x} AS BIT) AS BIGINT)"

    def as_text(self, x: str) -> str:
        return f'CAST({x} AS VARCHAR) COLLATE "binary"'


@final
class SQLite(Dialect):
    """SQLite: NaN is NULL there, and decimals are not always read to the last bit."""

    name = "sqlite"
    double = "REAL"
    nul = "char(0)"
    once = " LIMIT -1"
    sums_grow = False

    def bits(self, x: str) -> str | None:  # noqa: ARG002
        return None

    def floor(self, x: str) -> str:
        return f"CAST({x} AS INTEGER)"

    def boolean(self, truth: bool) -> str:
        return "1" if truth else "0"

    def as_text(self, x: str) -> str:
        return f"CAST({x} AS TEXT) COLLATE BINARY"

    def is_missing(self, x: str) -> str:
        return f"({x} IS NULL)"

    def greatest(self, *some: str) -> str:
        return _nested("max", some)

    def least(self, *some: str) -> str:
        return _nested("min", some)

    def finite(self, x: float) -> str:
        above, below = x.as_integer_ratio()
        power = below.bit_length() - 1
        while above and above % 2 == 0 and above.bit_length() > MOST_DIGITS:
            above //= 2
            power -= 1
        operator, power = ("/", power) if power >= 0 else ("*", -power)
        by = [2**MOST_DIGITS] * (power // MOST_DIGITS) + [2 ** (power % MOST_DIGITS)]
        return f"({above} * 1.0" + "".join(f" {operator} {one}" for one in by if one > 1) + ")"

    def special(self, x: float) -> str:
        return "NULL" if math.isnan(x) else "9e999" if x > 0 else "(-9e999)"

    def lacks(self, message: str) -> str | None:
        found = re.search(r"no such function: (\w+)", message)
        return found[1] if found else None


@final
class PostgreSQL(Dialect):
    """PostgreSQL: a number is a NUMERIC there, unless it is cast."""

    name = "postgres"
    double = "DOUBLE PRECISION"
    once = " OFFSET 0"
    most_bytes = 63  # of a name; a longer one would be cut

    def bits(self, x: str) -> str | None:
        return f"CAST(CAST('x' || encode(float8send({x}), 'hex') AS BIT(64)) AS BIGINT)"

    def seconds(self, x: str) -> str:
        return f"CAST(EXTRACT(EPOCH FROM {x}) AS DOUBLE PRECISION)"

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

    def as_text(self, x: str) -> str:
        return f'CAST({x} AS TEXT) COLLATE "C"'

    def product(self, what: str, of: str, least: float) -> str:
        # A product that is too small for a float64 is an error here, and not 0.
        none = self.number(0.0)
        return f"CASE WHEN ABS({of}) < {self.number(least)} THEN {none} ELSE {what} END"

    def finite(self, x: float) -> str:
        return f"CAST('{x!r}' AS DOUBLE PRECISION)"

    def special(self, x: float) -> str:
        return f"CAST('{x}' AS DOUBLE PRECISION)"

    def _quoted(self, text: str) -> str:
        quoted = super()._quoted(text)
        return f"E{quoted.replace(chr(92), chr(92) * 2)}" if "\\" in text else quoted


RUN: dict[str, type[Dialect]] = {one.name: one for one in (DuckDB, SQLite, PostgreSQL)}
ALSO = {"postgresql": "postgres", "sqlite3": "sqlite"}


def dialect_of(name: str) -> Dialect:
    """Return how a database spells a query.

    Parameters
    ----------
    name : str
        "duckdb", "sqlite" or "postgres"; or, with sqlglot (``pip install 'naively[sql]'``), any
        other that it knows, such as "bigquery", "snowflake" or "spark".

    Raises
    ------
    ValueError
        If no such dialect is known.

    Examples
    --------
    >>> dialect = dialect_of("postgres")
    >>> print(dialect.is_missing(dialect.identifier("size")))
    ("size" IS NULL OR "size" = CAST('nan' AS DOUBLE PRECISION))
    >>> dialect_of("dbase")
    Traceback (most recent call last):
    ...
    ValueError: There is no SQL dialect 'dbase'; known are duckdb, postgres, sqlite, ... spark...
    """
    key = name.lower() if isinstance(name, str) else name
    key = ALSO.get(key, key)
    if key in RUN:
        return RUN[key]()
    from naively.engines.sql.transpiled import Transpiled, names

    known, others = sorted(RUN), names()
    if key in others:
        return Transpiled(key)
    rest = "" if others else "; any other needs sqlglot, which pip install 'naively[sql]' adds"
    shown = ", ".join([*known, *(one for one in others if one not in known)])
    raise ValueError(f"There is no SQL dialect {name!r}; known are {shown}{rest}.")


def _check(text: str, what: str) -> None:
    """Raise a ValueError if a text holds half a surrogate pair, which is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} {text!r} holds half a character, which SQL cannot spell."
        ) from None


def _nested(function: str, some: tuple[str, ...]) -> str:
    """Call a function of SQLite, which is another one if it has a single argument."""
    while len(some) > 1:
        rows = [some[i : i + MOST_ARGUMENTS] for i in range(0, len(some), MOST_ARGUMENTS)]
        some = tuple(f"{function}({', '.join(row)})" if len(row) > 1 else row[0] for row in rows)
    return some[0]
