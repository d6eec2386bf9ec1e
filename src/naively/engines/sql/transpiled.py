"""Databases that sqlglot spells for, from what is written for DuckDB.

A query says in its first line that it was not run there.
"""

from __future__ import annotations

from typing import final

from naively.engines.sql.dialect import LikeDuckDB


@final
class Transpiled(LikeDuckDB):
    """Another database, as sqlglot spells for it what is written for DuckDB."""

    def __init__(self, name: str) -> None:
        self.name = name

    def bits(self, x: str) -> str | None:  # noqa: ARG002
        return None  # a cast to bits is DuckDB's own

    def as_text(self, x: str) -> str:
        return f"CAST({x} AS VARCHAR)"  # by what strings are compared is said otherwise elsewhere

    def is_missing(self, x: str) -> str:
        return f"({x} IS NULL OR ISNAN({x}))"

    def seconds(self, x: str) -> str:
        raise ValueError(
            f"Times are not written for {self.name}: make {x} a column of seconds since 1970."
        )

    def finished(self, query: str) -> str:
        from sqlglot import transpile
        from sqlglot.errors import ErrorLevel, SqlglotError

        try:
            (written,) = transpile(
                query,
                read="duckdb",
                write=self.name,
                unsupported_level=ErrorLevel.RAISE,
                comments=False,
            )
        except SqlglotError as error:
            what = str(error).strip().splitlines()[0].rstrip(".")
            raise ValueError(f"The query cannot be written for {self.name}: {what}.") from error
        said = f"-- Written for {self.name} by sqlglot from a query for DuckDB; not run there."
        return f"{said}\n{written}"


def names() -> list[str]:
    """Return the dialects that sqlglot knows; none if it is not installed."""
    try:
        from sqlglot.dialects.dialect import Dialects
    except ImportError:
        return []
    return sorted({one.value for one in Dialects} - {""})
