"""DuckDB reads a table (CSV, JSON lines or Parquet) into one NumPy array a column.

Nothing is guessed from a sample: a column of text is read as numbers only if every cell of the
file is a number.
"""

# ruff: noqa: S608  all that is put into SQL here is quoted by scan.py
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb

from naively.data.files.faults import line_of, readable_error
from naively.data.files.kinds import (
    CHECKS,
    SAMPLE_ROWS,
    VALUES,
    WIDE,
    filled_in,
    kinds_of_many,
    masked,
    settle,
)
from naively.data.files.scan import Connection, Field, Scan, scan
from naively.data.files.source import Source, repair
from naively.data.files.survey import LIMIT, LONGEST, recount

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SHOWN_CHARACTERS = 40
SETTINGS = (
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "enable_progress_bar = false",
    "TimeZone = 'UTC'",
    "disabled_optimizers = 'common_subexpressions'",  # quadratic in columns: minutes for 3,000
)

ACCEPTED = {"number": ("integer", "number"), "boolean": ("boolean",), "time": ("time",)}
ASKED = {"number": "any number"}  # the kind to check where a model expects a type
DAMAGED_TEXT = "Invalid unicode|invalid UTF-8|byte order mark"
MIXED_ENDS = "reached an invalid state"  # DuckDB also says so of damaged text between quotes
EXPECTED = {"number": "a number", "boolean": "true or false", "time": "a date or time"}

ChooseColumns: TypeAlias = Callable[[Sequence[str]], list[str]]  # from all names to those to read


def read_table(
    source: Source,
    choose: ChooseColumns,
    wanted: Mapping[str, str],
    scratch: Path,
    labels: str | None = None,
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...]]:
    """Read the chosen columns of a table.

    Parameters
    ----------
    source : Source
        The file.
    choose : callable
        Takes the names of all columns and returns those to read.
    wanted : mapping of str to str
        "number", "boolean", "string" or "time" for the columns that must have this type.
    scratch : Path
        A folder for a copy, which damaged text needs.
    labels : str, optional
        The column whose cells are read as they are written.

    Returns
    -------
    values : dict of str to ndarray of shape (rows,)
        The columns.
    notes : tuple of str
        Sentences about what was repaired.
    """
    with _connect() as connection:
        while True:
            try:
                return _read(connection, source, choose, wanted, labels), source.notes
            except duckdb.Error as error:
                message = str(error)
            source = _mended(source, message, scratch)


def read_batches(
    source: Source, choose: ChooseColumns, scratch: Path, rows: int, labels: str | None = None
) -> Iterator[tuple[dict[str, NDArray[Any]], tuple[str, ...], int]]:
    """Yield a table in batches of rows, in memory that does not grow with the file.

    The file is read twice, as the kind of a column is known only when all of it has been seen. A
    batch is its columns, notes about what was repaired, and how many rows the whole table has.
    """
    with _connect() as connection:
        connection.execute("SET threads = 1")  # each would read ahead for itself
        while True:
            try:
                found = _kinds(connection, source, choose, labels)
                break
            except duckdb.Error as error:
                message = str(error)
            source = _mended(source, message, scratch)
        table, kinds, total, longest = found
        cells = ", ".join(VALUES[kind].format(field.sql) for field, kind in kinds.items())
        result = connection.execute(f"SELECT {cells} FROM {table}")
        read = 0
        for some in _pieces(result, rows, longest):
            columns = zip(kinds.items(), zip(*some, strict=True), strict=True)
            read += len(some)
            yield (
                {
                    field.name: filled_in(masked(column, kind), kind, exact=field.name == labels)
                    for (field, kind), column in columns
                },
                source.notes,
                total,
            )
        if read != total:
            raise _miscounted(source, read, total)


def size_of(source: Source) -> int:
    """Return how many bytes a table has as text; a cell of Parquet has 8, or those of its text."""
    if source.format != "parquet":
        return source.survey.size
    with _connect() as connection:
        try:
            found = scan(connection, source, {})
            texts = [f.sql for f in found.fields if f.kind == "text"]
            sizes = [f"{8 * len(found.fields)} * count(*)"]
            sizes += [f"coalesce(sum(strlen(CAST({text} AS VARCHAR))), 0)" for text in texts]
            query = f"SELECT {' + '.join(sizes)} FROM {found.table}"
            (size,) = connection.execute(query).fetchone() or (0,)
        except duckdb.Error as error:
            raise readable_error(source, str(error)) from None
    return int(size)


def _pieces(result: Connection, rows: int, longest: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in pieces: so many, or fewer if their texts are as long as a row may be."""
    step = max(1, min(rows, LONGEST // max(longest, 1)))
    piece: list[tuple[Any, ...]] = []
    size = 0
    while some := result.fetchmany(min(step, rows - len(piece))):
        piece += some
        if step < rows:
            size += sum(len(cell) for row in some for cell in row if isinstance(cell, str))
        if len(piece) == rows or size >= LONGEST:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _connect() -> Connection:
    connection = duckdb.connect(":memory:")
    for setting in SETTINGS:
        connection.execute(f"SET {setting}")
    return connection


def _mended(source: Source, message: str, scratch: Path) -> Source:
    """Return a source without the fault that DuckDB found, or raise a readable error."""
    is_text = source.format != "parquet" and source.compressed != ".zst"
    if is_text and not source.repaired and re.search(f"{DAMAGED_TEXT}|{MIXED_ENDS}", message):
        return repair(source, scratch)
    if is_text and not source.plain_ends and re.search(MIXED_ENDS, message):
        return repair(source, scratch, "plain")
    if _is_long_line(source, message):
        return replace(source, long_lines=True)
    raise readable_error(source, message)


def _is_long_line(source: Source, message: str) -> bool:
    # DuckDB sees a quoted field that is longer than its buffer as one that is never closed.
    length = "unterminated quote|(?i:maximum line size)|Parallel CSV|maximum_object_size"
    return not source.long_lines and bool(re.search(length, message))


def _read(
    connection: Connection,
    source: Source,
    choose: ChooseColumns,
    wanted: Mapping[str, str],
    labels: str | None,
) -> dict[str, NDArray[Any]]:
    """Return the chosen columns, each of shape (rows,); an error of DuckDB is not caught here."""
    found = scan(connection, source, wanted, labels)
    table, fields = found.table, _chosen(source, found.fields, choose)
    kinds = {f: (*f.guesses, f.kind) for f in fields}
    kinds |= {f: ("text",) for f in fields if wanted.get(f.name) == "string"}
    # The first rows rule out most kinds, so that the whole is mostly read once.
    unsure = {field: of for field, of in kinds.items() if len(of) > 1}
    if len(unsure) > WIDE:
        kinds |= kinds_of_many(connection, table, unsure)
    else:
        kinds |= settle(connection, f"(SELECT * FROM {table} LIMIT {SAMPLE_ROWS})", unsure)[0]
    kinds, values = settle(connection, table, kinds)
    for field, (kind, *_) in kinds.items():
        want = wanted.get(field.name, "string")
        if want != "string" and field.name != labels and kind not in ACCEPTED[want]:
            want = ASKED.get(want, want)
            unexpected = _first_unexpected(connection, table, field, want)
            if unexpected:
                row, cell = unexpected
                where = _place(source, row, skips_empty_lines=found.skips_empty_lines)
                raise ValueError(
                    f'Column "{field.name}" of {source.name} has {cell!r} in {where}, '
                    f"where {EXPECTED[wanted[field.name]]} is expected: correct it, or ignore "
                    "the column."
                )
            values |= settle(connection, table, {field: (want,)})[1]
    for field in fields[:1]:
        _check_rows(source, found, len(values[field]))
    return {
        field.name: filled_in(values[field], kinds[field][0], exact=field.name == labels)
        for field in fields
    }


def _check_rows(source: Source, found: Scan, rows: int) -> None:
    """Raise a ValueError if DuckDB reads more or fewer rows of a table than its text has."""
    if source.survey.lines is None or source.survey.filled is None:
        return
    skips = found.skips_empty_lines or source.format == "jsonl"
    counted = source.survey.filled if skips else source.survey.lines
    expected = counted - (source.format == "csv")
    if rows == expected:
        return
    with source.open() as file:
        if source.format == "csv":
            expected = recount(file, found.delimiter, skips_empty_lines=skips)
        else:
            expected = sum(bool(line.strip()) for line in file)
    if rows != expected:
        raise _miscounted(source, rows, expected)


def _miscounted(source: Source, rows: int, expected: int) -> ValueError:
    return ValueError(
        f"{source.name} has {expected:,} rows, of which {rows:,} were read: write it again as "
        "Parquet, or with quotes around every field."
    )


def _chosen(source: Source, fields: list[Field], choose: ChooseColumns) -> list[Field]:
    chosen = set(choose([field.name for field in fields]))
    fields = [field for field in fields if field.name in chosen]
    for field in fields:
        if field.kind == "nested":
            raise ValueError(
                f'Column "{field.name}" of {source.name} holds lists, records or bytes: '
                "ignore it, or flatten it into columns of numbers or text."
            )
    return fields


def _kinds(
    connection: Connection, source: Source, choose: ChooseColumns, labels: str | None
) -> tuple[str, dict[Field, str], int, int]:
    """Return the table in SQL, the kind of each column, and the size of the table.

    The kind of a column is the first of its possible kinds that all its cells have. The size is
    the number of rows, and the most bytes that the texts of a row may have.
    """
    found = scan(connection, source, {}, labels)
    table, fields = found.table, _chosen(source, found.fields, choose)
    possible = {field: (*field.guesses, field.kind) for field in fields}
    unsure = {field: of for field, of in possible.items() if len(of) > 1}
    if len(unsure) > WIDE:
        possible |= kinds_of_many(connection, table, unsure)
    checks = [
        (field, kind, f"NOT coalesce({CHECKS[kind].format(field.sql)}, false)")
        for field, of in possible.items()
        for kind in of[:-1]
    ]
    tests = [f"bool_or({field.sql} IS NOT NULL AND {check})" for field, _, check in checks]
    # Also where there is nothing to find out: every cell is read once before any is used.
    tests += [f"max(strlen(CAST({field.sql} AS VARCHAR)))" for field in fields]
    *answers, total = (
        connection.execute(f"SELECT {', '.join([*tests, 'count(*)'])} FROM {table}").fetchone()
        or ()
    )
    _check_rows(source, found, total)
    lengths = dict(zip(fields, (n or 0 for n in answers[len(checks) :]), strict=True))
    for field, length in lengths.items():
        if length > LONGEST:
            raise ValueError(
                f'Column "{field.name}" of {source.name} has a cell that is longer than {LIMIT}: '
                "split it, or ignore the column."
            )
    wrong = {
        (field, kind) for (field, kind, _), answer in zip(checks, answers, strict=False) if answer
    }
    kinds = {
        field: next(k for k in of if (field, k) not in wrong) for field, of in possible.items()
    }
    return table, kinds, total, sum(lengths.values())


def _first_unexpected(
    connection: Connection, table: str, field: Field, want: str
) -> tuple[int, str] | None:
    """Return the row and the text of the first cell that is not of the wanted kind, if any."""
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
