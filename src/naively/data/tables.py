"""Tables by DuckDB: CSV, JSON lines and Parquet into one NumPy array a column.

Nothing is guessed from a sample: a column of text is read as numbers only if every cell of the
file is one.
"""

# ruff: noqa: S608  all that is put into SQL here is quoted by scan.py
from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb
import numpy as np

from naively.data.faults import explain, line_of
from naively.data.scan import Connection, Field, scan
from naively.data.source import Source, repair

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SAMPLE_ROWS = 2048
SHOWN_CHARACTERS = 40
SETTINGS = (
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "enable_progress_bar = false",
    "TimeZone = 'UTC'",
)

# What every cell of a text column must be for the column to be of this kind. Without the second
# conditions DuckDB also takes 1_000 for a number, and 10-5-3 for a time.
CHECKS = {
    "integer": "TRY_CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0}",
    "number": "TRY_CAST({0} AS DOUBLE) IS NOT NULL AND NOT contains({0}, '_')",
    "boolean": "lower({0}) IN ('true', 'false')",
    "time": "TRY_CAST({0} AS TIMESTAMPTZ) IS NOT NULL"
    r" AND regexp_matches({0}, '^\d{{4}}[-/]\d\d?[-/]\d\d?')",
}
VALUES = {
    "integer": "CAST({0} AS BIGINT)",
    "number": "CAST({0} AS DOUBLE)",
    "boolean": "CAST({0} AS BOOLEAN)",
    "time": "epoch({0})",
    "time in text": "epoch(CAST({0} AS TIMESTAMPTZ))",
    "text": "CAST({0} AS VARCHAR)",
}
ACCEPTED = {"number": ("integer", "number", "time", "time in text"), "boolean": ("boolean",)}
EXPECTED = {"number": "a number", "boolean": "true or false"}

Choice: TypeAlias = Callable[[Sequence[str]], list[str]]


def read_table(
    source: Source, choose: Choice, wanted: Mapping[str, str], scratch: Path
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Read the chosen columns of a table.

    Parameters
    ----------
    source : Source
        The file.
    choose : callable
        Given the names of all columns, returns those to read.
    wanted : mapping of str to str
        "number", "boolean" or "string" for the columns that must be read so.
    scratch : Path
        A folder for the copy that a damaged text needs.

    Returns
    -------
    values : dict of str to ndarray
        The columns.
    notes : tuple of str
        What was repaired.
    """
    with duckdb.connect(":memory:") as connection:
        for setting in SETTINGS:
            connection.execute(f"SET {setting}")
        while True:
            try:
                return _read(connection, source, choose, wanted), source.notes
            except duckdb.Error as error:
                message = str(error)
            if _is_damaged_text(source, message):
                source = repair(source, scratch)
            elif _is_long_line(source, message):
                source = replace(source, long_lines=True)
            else:
                raise explain(source, message)


def _is_damaged_text(source: Source, message: str) -> bool:
    # "Invalid state" is what DuckDB says of line ends that are now \n, now \r\n.
    damage = "Invalid unicode|invalid UTF-8|byte order mark|reached an invalid state"
    is_text = source.format != "parquet" and source.compressed != ".zst"
    return is_text and not source.repaired and bool(re.search(damage, message))


def _is_long_line(source: Source, message: str) -> bool:
    # DuckDB sees a quoted field that is longer than its buffer as one that is never closed.
    length = "unterminated quote|(?i:maximum line size)|Parallel CSV|maximum_object_size"
    return not source.long_lines and bool(re.search(length, message))


def _read(
    connection: Connection, source: Source, choose: Choice, wanted: Mapping[str, str]
) -> dict[str, NDArray[Any]]:
    table, fields = scan(connection, source, wanted)
    skips_empty_lines = len(fields) > 1
    chosen = set(choose([field.name for field in fields]))
    fields = [field for field in fields if field.name in chosen]
    for field in fields:
        if field.kind == "nested":
            raise ValueError(
                f'Column "{field.name}" of {source.name} holds lists, records or bytes: '
                "ignore it, or flatten it into columns of numbers or text."
            )
    open_fields = [f for f in fields if f.guesses and wanted.get(f.name) != "string"]
    guessed = _guess(connection, table, open_fields)
    kinds = {f.name: guessed.get(f.name, f.kind) for f in fields}
    kinds |= dict.fromkeys((n for n in kinds if wanted.get(n) == "string"), "text")
    for field in fields:
        want = wanted.get(field.name, "string")
        if want != "string" and kinds[field.name] not in ACCEPTED[want]:
            found = _first_unexpected(connection, table, field, want)
            if found:
                where = _place(source, found[0], skips_empty_lines=skips_empty_lines)
                raise ValueError(
                    f'Column "{field.name}" of {source.name} has {found[1]!r} in {where}, '
                    f"where {EXPECTED[want]} is expected: correct it, or ignore the column."
                )
            kinds[field.name] = want
    return _fetch(connection, table, fields, kinds)


def _guess(connection: Connection, table: str, fields: Sequence[Field]) -> dict[str, str]:
    """Return the first kind that every cell of each column is, or text."""
    candidates: dict[Field, Collection[str]] = {field: field.guesses for field in fields}
    # The first rows rule out most kinds of most columns, so that the rest is checked for few.
    for rows in (f"(SELECT * FROM {table} LIMIT {SAMPLE_ROWS})", table):
        asked = [(field, kind) for field, kinds in candidates.items() for kind in kinds]
        if not asked:
            break
        counts = ", ".join(
            f"count(*) FILTER (WHERE {f.sql} IS NOT NULL AND NOT coalesce({check}, false))"
            for f, kind in asked
            for check in [CHECKS[kind].format(f.sql)]
        )
        failures = connection.execute(f"SELECT {counts} FROM {rows}").fetchone() or ()
        passed = [pair for pair, count in zip(asked, failures, strict=True) if count == 0]
        candidates = {field: [k for f, k in passed if f == field] for field in candidates}
    kinds = {field.name: next(iter(left), "text") for field, left in candidates.items()}
    return {name: "time in text" if kind == "time" else kind for name, kind in kinds.items()}


def _first_unexpected(
    connection: Connection, table: str, field: Field, want: str
) -> tuple[int, str] | None:
    """Return the row and the text of the first cell that is not what is wanted, if any."""
    good = f"coalesce({CHECKS[want].format('cell')}, false)" if field.guesses else "false"
    cells = f"SELECT row_number() OVER () AS row, {field.sql} AS cell FROM {table}"
    found: tuple[int, str] | None = connection.execute(
        f"SELECT row, left(CAST(cell AS VARCHAR), {SHOWN_CHARACTERS}) FROM ({cells}) "
        f"WHERE cell IS NOT NULL AND NOT {good} LIMIT 1"
    ).fetchone()
    return found


def _place(source: Source, row: int, *, skips_empty_lines: bool) -> str:
    if source.format == "csv":
        return f"line {line_of(source, row + 1, skips_empty_lines=skips_empty_lines)}"
    return f"row {row}"


def _fetch(
    connection: Connection, table: str, fields: Sequence[Field], kinds: Mapping[str, str]
) -> dict[str, NDArray[Any]]:
    if not fields:
        return {}
    selected = ", ".join(
        f"{VALUES[kinds[field.name]].format(field.sql)} AS v{i}" for i, field in enumerate(fields)
    )
    arrays = connection.execute(f"SELECT {selected} FROM {table}").fetchnumpy()
    return {
        field.name: _filled(arrays[f"v{i}"], kinds[field.name]) for i, field in enumerate(fields)
    }


def _filled(array: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return a plain array: NaN or None where a cell is missing."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    mask = np.ma.getmaskarray(array)
    if not mask.any():
        return array.data
    missing, dtype = (None, object) if kind in ("boolean", "text") else (np.nan, np.float64)
    filled: NDArray[Any] = array.data.astype(dtype)
    filled[mask] = missing
    return filled
