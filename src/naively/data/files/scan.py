"""How DuckDB reads a file: the table function that does it, and the columns that it gives.

DuckDB's own sniffer accepts files that it should not (after a broken quote it finds one column), so
the delimiter, the header and the types of CSV are found here and given to DuckDB.
"""

# ruff: noqa: S608  names and paths are quoted by the functions at the end
from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import duckdb

from naively.data.files.survey import LONGEST
from naively.data.guess import Guess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb.sqltypes import DuckDBPyType

    from naively.data.files.source import Source

DELIMITERS = ",\t;|"
HEAD_LINES = 100
MOST_COLUMNS = 20_000  # the time of reading grows with the square of their number
GUESSES: tuple[Guess, ...] = ("number", "boolean", "time")
HUGE = ("ubigint", "hugeint", "uhugeint")
JSON_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN"}
KINDS = {
    "integer": ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger"),
    "number": ("ubigint", "hugeint", "uhugeint", "float", "double", "decimal"),
    "boolean": ("boolean",),
    "time": (
        *("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"),
        "timestamp with time zone",
    ),
    "nested": ("list", "struct", "map", "array", "union", "blob", "bit", "variant", "geometry"),
}
KIND_OF_TYPE = {name: kind for kind, names in KINDS.items() for name in names}

Connection: TypeAlias = duckdb.DuckDBPyConnection


@dataclass(frozen=True)
class Field:
    """A column: its name, its name in SQL, its kind, and what its text may spell."""

    name: str
    sql: str
    kind: str
    guesses: tuple[Guess, ...] = ()


@dataclass(frozen=True)
class Scan:
    """A table function that reads a source, and the columns it gives.

    Columns that hold lists, records or bytes have the kind "nested", and may be absent from it.
    """

    table: str
    fields: list[Field]
    delimiter: str = ""  # of CSV

    @property
    def skips_empty_lines(self) -> bool:
        """Whether an empty line is no row; in a table of one column it is a missing cell."""
        return len(self.fields) > 1


def scan(
    connection: Connection, source: Source, wanted: Mapping[str, str], labels: str | None = None
) -> Scan:
    """Return how DuckDB reads a source; labels are read as they are written."""
    if source.format == "csv":
        return _scan_csv(connection, source, labels)
    if source.format == "jsonl":
        return _scan_jsonl(connection, source, wanted, labels)
    return _scan_parquet(connection, source, labels)


def _scan_csv(connection: Connection, source: Source, labels: str | None) -> Scan:
    """Return how DuckDB reads CSV: all columns as text, with a delimiter that is found here."""
    longest = f", max_line_size = {LONGEST}" if source.long_lines else ""
    options = f"auto_detect = false{longest}"
    head = _head(connection, source, options)
    if head and not head[0].strip():
        raise ValueError(f"Line 1 of {source.name} is empty: it must hold the column names.")
    delimiter = _delimiter(head)
    rows = _rows(head, delimiter)
    if not rows:
        raise ValueError(
            f'The column names of {source.name} are too long, or have a quote (") that is never '
            "closed: check that it is a CSV file with a header."
        )
    names = _names(rows[0], source)
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"{source.name} has {len(names):,} columns, of which DuckDB reads {MOST_COLUMNS:,} in "
            "reasonable time: leave some out, or give an array to the Python library."
        )
    # Names by position: DuckDB takes "a" and "A" for one name.
    fields = [
        Field(name, f"c{i}", "text", () if name == labels else GUESSES)
        for i, name in enumerate(names)
    ]
    columns = _struct(dict.fromkeys((field.sql for field in fields), "VARCHAR"))
    table = (
        f"read_csv({_path(source)}, columns = {columns}, delim = '{delimiter}', "
        f"""quote = '"', escape = '"', header = true, {options})"""
    )
    return Scan(table, fields, delimiter)


def _head(connection: Connection, source: Source, options: str) -> list[str]:
    """Return the first lines: 100 at most, and no more bytes than a row may have."""
    if source.compressed == ".zst":
        # No text holds this delimiter (a control character), so a row is a line.
        lines = connection.execute(
            f"SELECT line FROM read_csv({_path(source)}, columns = {{'line': 'VARCHAR'}}, delim = "
            f"'\x01', quote = '', escape = '', header = false, {options}) LIMIT {HEAD_LINES}"
        ).fetchall()
        return [f"{line or ''}\n" for (line,) in lines]
    head: list[str] = []
    size = 0
    with io.TextIOWrapper(source.open(), "utf-8-sig", "replace", newline="") as text:
        while len(head) < HEAD_LINES and size < LONGEST and (line := text.readline()):
            head.append(line)
            size += len(line)
    return head


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    # A broken quote, or a field longer than the csv module takes, ends the sample.
    with contextlib.suppress(csv.Error):
        rows.extend(csv.reader(lines, delimiter=delimiter, strict=True))
    return [row for row in rows if row]


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter under which most rows have as many fields as the header."""

    def merit(delimiter: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in _rows(lines, delimiter)]
        width = widths[0] if widths else 0
        return width > 1, widths.count(width) / max(len(widths), 1), width

    return max(DELIMITERS, key=merit)


def _names(header: list[str], source: Source) -> list[str]:
    names = [name or f"column{i}" for i, name in enumerate(header, 1)]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"{source.name} has more than one column named {', '.join(repeated)}: rename them."
        )
    return names


def _scan_jsonl(
    connection: Connection, source: Source, wanted: Mapping[str, str], labels: str | None
) -> Scan:
    """Return how DuckDB reads JSON; the types of columns are those that it finds in all rows."""
    longest = f", maximum_object_size = {LONGEST}" if source.long_lines else ""
    table = f"read_json({_path(source)}, format = '{_layout(source)}', records = true{longest}"
    # Times are found later; with one format of them here, DuckDB does not try many on long texts.
    times = "dateformat = '%Y-%m-%d', timestampformat = '%Y-%m-%d'"
    sniffed = _columns(
        connection,
        f"{table}, sample_size = -1, map_inference_threshold = -1, {times})",
    )
    fields: list[Field] = []
    types: dict[str, str] = {}
    for name, type_ in sniffed:
        kind = KIND_OF_TYPE.get(type_.id, "text")
        if str(type_) == "JSON":  # not of one type: text, unless some of it is nested
            column = _struct({name: "JSON"})
            is_nested = connection.execute(
                f"SELECT bool_or(json_type({_name(name)}) IN ('ARRAY', 'OBJECT')) "
                f"FROM {table}, columns = {column})"
            ).fetchall()
            kind = "nested" if is_nested == [(True,)] else "text"
        if kind == "nested":
            fields.append(Field(name, _name(name), kind))
            continue
        if kind == "time" or type_.id in HUGE or wanted.get(name) == "string":
            kind = "text"  # as it is written; DuckDB takes -1 and 1 together for a huge integer
        guesses: tuple[Guess, ...]
        if name == labels and kind == "number":  # whole numbers of many digits among them
            kind, guesses = "text", ("number",)
        elif kind == "text" and (name in wanted or type_.id in ("null", *HUGE)):
            guesses = GUESSES
        else:
            guesses = ("time",) if kind == "text" and name != labels else ()
        fields.append(Field(name, _name(name), kind, guesses))
        types[name] = JSON_TYPES.get(kind, "VARCHAR")
    table = f"{table}, columns = {_struct(types)})"
    given = [name for name, type_ in sniffed if name in types and type_.id != "null"]
    _check_case(connection, source, table, given)
    return Scan(table, fields)


def _check_case(connection: Connection, source: Source, table: str, names: list[str]) -> None:
    """Raise a ValueError if keys differ in case only, as DuckDB loses the values of the second."""
    lower = {name.lower() for name in names}
    for name in names:
        key = re.sub(r"_\d+$", "", name)
        if key != name and key.lower() in lower:
            found = connection.execute(f"SELECT count({_name(name)}) FROM {table}").fetchall()
            if found == [(0,)]:
                raise ValueError(
                    f'{source.name} has keys that differ from "{key}" in case only: rename them.'
                )


def _layout(source: Source) -> str:
    return "array" if source.is_json_array else "newline_delimited"


def _scan_parquet(connection: Connection, source: Source, labels: str | None) -> Scan:
    table = f"read_parquet({_path(source)})"
    fields = []
    for name, type_ in _columns(connection, table):
        kind = KIND_OF_TYPE.get(type_.id, "text")
        guesses: tuple[Guess, ...] = ("time",) if kind == "text" and name != labels else ()
        fields.append(Field(name, _name(name), kind, guesses))
    return Scan(table, fields)


def _columns(connection: Connection, table: str) -> list[tuple[str, DuckDBPyType]]:
    result = connection.execute(f"SELECT * FROM {table} LIMIT 0")
    described = result.description or ()
    result.fetchall()
    return [(column[0], column[1]) for column in described]


def _path(source: Source) -> str:
    """Return the path in SQL, with the characters of a glob pattern made literal."""
    return _text(re.sub(r"([*?\[])", r"[\1]", source.path.as_posix()))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _struct(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{_text(name)}: '{type_}'" for name, type_ in types.items()) + "}"
