"""DuckDB reads a file as a table, and what cannot be read is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb

from naively.data.columns import Cells, Column, Kind, read_column
from naively.data.frames import ArrowStream, BrokenStreamError
from naively.data.stream import BYTES, ROWS, ReadAgainError, Stream, in_pieces
from naively.kernels.strings import Strings
from naively.wings.files.copies import (
    HEAD_LINES,
    check_plain,
    head_of,
    line_of_row,
    may_be_by_blanks,
    repair,
    without_bad_lines,
    write_again,
)
from naively.wings.files.dialects import LONGEST, CsvDialect, csv_dialect, first_rows
from naively.wings.files.names import UNNAMED, ColumnNames, column_names
from naively.wings.files.source import (
    LIMIT,
    LONG,
    Asked,
    ChooseColumns,
    Source,
    line_of,
    readable_error,
    recount,
)

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb.sqltypes import DuckDBPyType

# --- DuckDB reads a table (CSV, JSON lines or Parquet) as a stream of Arrow ----------------------


# ruff: noqa: S608  all that is put into SQL here is quoted by scan.py


ARROW_ROWS = 122_880  # of a batch of DuckDB's
BATCH = 1 << 27  # bytes of a batch of DuckDB's at most; of longer rows it is asked for fewer
ENOUGH = 1 << 28  # bytes for the buffers of several threads; in fewer, one thread reads
FEW = ROWS // 4  # rows of a batch then
HEAD = 1_000  # rows by which the bytes of a row are estimated where the file does not tell
SETTINGS = (
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "enable_progress_bar = false",
    "TimeZone = 'UTC'",
    "disabled_optimizers = 'common_subexpressions'",  # quadratic in columns: minutes for 3,000
)
DAMAGED_TEXT = "Invalid unicode|invalid UTF-8|byte order mark|codec can't decode"
LONG_LINE = "unterminated quote|(?i:maximum line size)|Parallel CSV|maximum_object_size"
MIXED_ENDS = "reached an invalid state"  # DuckDB also says so of damaged text between quotes
NOT_PLAIN = "CSV Error: it is not plain"
CSV_ERROR = "CSV Error"


class NotPlainError(Exception):
    """DuckDB cannot read a table as it is written."""


class FileTable(Stream):
    """A table in a file."""

    def __init__(
        self, source: Source, asked: Asked, scratch: Path, connection: Connection | None = None
    ) -> None:
        # scratch: a folder for a copy, which damaged text needs; connection: what reads the file
        choose, wanted, labels, rows, memory = asked
        self._source, self._scratch, self._labels, self._rows = source, scratch, labels, rows
        self._expected = wanted
        self._wanted: dict[str, Kind] = {name: of.kind for name, of in wanted.items()}
        self._choose = choose
        self._batch = BATCH
        if memory is not None:
            self._batch = min(BATCH, memory // 4)
            self._rows = rows if memory >= ENOUGH else min(rows, FEW)
        self._connection = connection or connect(memory)
        self._scan = self._scanned()
        fields = {field.name: field for field in self._scan.fields}
        super().__init__(
            list(fields),
            [name for name, field in fields.items() if field.is_read],
            {name: wanted[name] for name in fields if name in wanted and name != labels},
        )
        self.contents = source.contents
        self.total = self._count()

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each thing that was repaired, or is not of the kind expected."""
        return (*self._scan.header.notes(self._source), *self._scan.notes, *super().notes)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _count(self) -> int | None:
        """Return how many rows there are, where that is known before they are read."""
        if self._source.format == "parquet":
            ((rows,),) = self._ask(f"SELECT count(*) FROM {self._scan.table}")
            return int(rows)
        return _expected(self._source, self._scan)

    def _scanned(self) -> Scan:
        """Return how DuckDB reads the chosen columns."""
        while True:
            try:
                found = scan(self._connection, self._source, self._wanted, self._labels)
                break
            except (duckdb.Error, UnicodeDecodeError) as error:
                message = str(error)
            except NotPlainError:
                message = NOT_PLAIN
            self._source = _mended(self._source, message, self._scratch)
        return replace(found, fields=_chosen(self._source, found.fields, self._choose))

    def _scan_again(self) -> None:
        """Look how a copy is read, whose columns may be others than those of the file."""
        before = {field.name for field in self._scan.fields if field.is_read}
        self._scan = self._scanned()
        left = before - self.readable  # as they are written
        self.names = [field.name for field in self._scan.fields]
        self.readable = frozenset(f.name for f in self._scan.fields if f.is_read) - left
        self.total = self._count()
        new = set(self.names) - self.known.keys() - {self._labels}
        self.known |= {name: of for name, of in self._expected.items() if name in new}

    def columns(self) -> Iterator[dict[str, Column]]:
        read = 0
        try:
            for columns in self._arrow():
                for name, (cells, _) in columns.items():
                    self._check_length(name, cells)
                for some in in_pieces(columns, self._rows):
                    yield some
                    read += len(next(iter(some.values()))[0])
        except duckdb.Error as error:
            message = str(error)
        except BrokenStreamError as error:
            message = error.message
        else:
            if not self._scan.fields or _are_all(self._source, self._scan, read):
                return
            message = NOT_PLAIN
        self._source = _mended(self._source, message, self._scratch)
        self._scan_again()
        if self._source.written_as is not None and read:
            raise ReadAgainError(
                f"{self._source.name} is not plain CSV, which its first rows did not show."
            )
        raise ReadAgainError

    def _arrow(self) -> Iterator[dict[str, Column]]:
        """Yield batches as DuckDB makes them; of long rows it is asked for fewer at a time."""
        fields = self._scan.fields
        cells = ", ".join(f"{_cell(field, self._wanted)} AS c{i}" for i, field in enumerate(fields))
        query = f"SELECT {cells} FROM {self._scan.table}"
        names = [field.name for field in fields]
        if not fields:
            return
        each = self._bytes_of_a_row()
        if each * ARROW_ROWS <= self._batch:
            exact = [f"c{i}" for i, name in enumerate(names) if name == self._labels]
            for batch in ArrowStream(self._connection.sql(query), exact):
                yield dict(zip(names, batch.values(), strict=True))
            return
        result = self._connection.execute(query)
        while some := result.fetchmany(max(1, int(min(self._batch, BYTES) // each))):
            columns = zip(names, zip(*some, strict=True), strict=True)
            yield {name: read_column(name, list(column)) for name, column in columns}

    def _bytes_of_a_row(self) -> float:
        """Return about how many bytes a row has as text, or the longest one of long ones."""
        source = self._source
        if source.survey.longest > LONG:
            return source.survey.longest
        if source.survey.filled:
            return source.survey.size / source.survey.filled
        texts = [field.sql for field in self._scan.fields if field.kind == "text"]
        size = "+".join(f"coalesce(strlen(CAST({text} AS VARCHAR)), 0)" for text in texts) or "0"
        head = f"SELECT {size} AS size FROM {self._scan.table} LIMIT {HEAD}"
        ((longest, mean),) = self._ask(f"SELECT max(size), avg(size) FROM ({head})")
        return float(longest or 0) if (longest or 0) > LONG else float(mean or 0)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query).fetchall()  # all: a result must be finished

    def _check_length(self, name: str, cells: Cells) -> None:
        if isinstance(cells, Strings) and cells.lengths.max(initial=0) > LONGEST:
            raise ValueError(
                f'Column "{name}" of {self._source.name} has a cell that is longer than {LIMIT}: '
                "split it, or ignore the column."
            )

    def where(self, name: str, row: int) -> tuple[str, str]:
        title = f'Column "{name}" of {self._source.name}'
        if self._source.format != "csv" or self._source.copy_of:
            return title, f"row {row + 1}"
        if self._source.written_as:
            return title, f"line {line_of_row(self._source, row)}"
        record, skips = row + 1 + self._source.named, self._scan.skips_empty_lines
        return title, f"line {line_of(self._source, record, skips_empty_lines=skips)}"


def _cell(field: Field, wanted: Mapping[str, str]) -> str:
    """Return a field in SQL, as it is read."""
    as_text = field.kind == "text" or wanted.get(field.name) == "string"
    return f"CAST({field.sql} AS VARCHAR)" if as_text else field.sql


def connect(memory: int | None = None) -> Connection:
    """Return a connection to DuckDB, which reads files, in so many bytes if that is limited."""
    connection = duckdb.connect(":memory:")
    settings: tuple[str, ...] = SETTINGS
    if memory is not None:
        settings += (f"memory_limit = '{memory}B'", "temp_directory = ''")
        settings += ("threads = 1",) if memory < ENOUGH else ()
    for setting in settings:
        connection.execute(f"SET {setting}")
    return connection


def _mended(source: Source, message: str, scratch: Path) -> Source:
    """Return a source without the fault that DuckDB found, or raise a readable error."""
    is_text = source.format != "parquet" and source.compressed != ".zst"
    if is_text and not source.repaired and re.search(f"{DAMAGED_TEXT}|{MIXED_ENDS}", message):
        return repair(source, scratch)
    if is_text and not source.plain_ends and re.search(MIXED_ENDS, message):
        return repair(source, scratch, "plain")
    # DuckDB sees a quoted field that is longer than its buffer as one that is never closed.
    if not source.long_lines and re.search(LONG_LINE, message):
        return replace(source, long_lines=True)
    if is_text and source.written_as is None and re.search(CSV_ERROR, message):
        try:
            make = write_again if source.format == "csv" else without_bad_lines
            return make(source, scratch)
        except UnicodeDecodeError as error:
            return _mended(source, str(error), scratch)
    raise readable_error(source, message)


def _expected(source: Source, found: Scan) -> int | None:
    """Return how many rows a text has by its lines; None where these were not counted."""
    lines, filled = source.survey.lines, source.survey.filled
    if lines is None or filled is None:
        return None
    skips = found.skips_empty_lines or source.format == "jsonl"
    return (filled if skips else lines) - source.named


def _are_all(source: Source, found: Scan, rows: int) -> bool:
    """Whether DuckDB reads as many rows of a table as its text has."""
    expected, skips = _expected(source, found), found.skips_empty_lines
    if expected is None or rows == expected:
        return True
    with source.open() as file:
        if source.format == "csv":
            expected = recount(file, found.delimiter, skips_empty_lines=skips, header=source.named)
        else:
            expected = sum(bool(line.strip()) for line in file)
    if rows != expected and (source.format != "csv" or source.written_as):
        raise ValueError(
            f"{source.name} has {expected:,} rows, of which {rows:,} were read: write it again as "
            "Parquet, or with quotes around every field."
        )
    return rows == expected


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


# --- How DuckDB reads a file: the table function that does it, and the columns that it gives -----
#
# DuckDB's own sniffer accepts files that it should not (after a broken quote it finds one column),
# so the delimiter, the header and the types of CSV are found here and given to DuckDB.


# ruff: noqa: S608  names and paths are quoted by the functions at the end


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
WORDS = ("varchar", "date", "timestamp", "time", "uuid")  # what DuckDB takes strings of JSON for

Connection: TypeAlias = duckdb.DuckDBPyConnection


@dataclass(frozen=True)
class Field:
    """A column: its name, its name in SQL, its kind, and whether its text is read as what it is."""

    name: str
    sql: str
    kind: str
    is_read: bool = False


@dataclass(frozen=True)
class Scan:
    """A table function that reads a source, and the columns it gives."""

    # Columns that hold lists, records or bytes have the kind "nested", and may be absent from it.

    table: str
    fields: list[Field]
    delimiter: str = ""  # of CSV
    header: ColumnNames = UNNAMED  # of CSV
    notes: tuple[str, ...] = ()

    @property
    def skips_empty_lines(self) -> bool:
        """Whether an empty line is no row; in a table of one column it is a missing cell."""
        return len(self.fields) > 1


def kind_of(type_: DuckDBPyType) -> str:
    """Return the kind of a column of a type of DuckDB: "words" is a list of strings."""
    if type_.id == "list" and str(type_.children[0][1]).lower() in WORDS:
        return "words"
    return KIND_OF_TYPE.get(type_.id, "text")


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
    # DuckDB takes the first end of a line that it sees for that of all, between quotes too.
    ends = r", new_line = '\n'" if source.written_as else ""
    options = f"auto_detect = false{longest}{ends}"
    head = _head(connection, source, options)
    asked = source.options
    if head and not head[0].strip() and source.named:
        raise ValueError(f"Line 1 of {source.name} is empty: it must hold the column names.")
    if source.written_as is None:
        by_blanks = may_be_by_blanks(source)
        dialect, rows = csv_dialect(head, asked, source.delimiter, by_blanks=by_blanks)
    else:
        dialect = CsvDialect()
        rows = first_rows(head, dialect)
    # DuckDB may take a name of several lines for several rows.
    is_odd = not rows or (source.named and re.search("[\r\n]", "".join(rows[0])))
    if source.compressed == ".zst":
        check_plain(source, dialect, rows)
    elif source.written_as is None and (is_odd or not dialect.is_plain or asked.left_out_to):
        raise NotPlainError
    header = column_names(source, rows)
    # Columns by position: DuckDB takes "a" and "A" for one name.
    cells = [f"ltrim(c{i}, ' ')" if header.spaced else f"c{i}" for i in range(len(header.names))]
    fields = [
        Field(name, cell, "text", name != labels)
        for name, cell in zip(header.names, cells, strict=True)
    ]
    columns = _struct({f"c{i}": "VARCHAR" for i in range(len(cells))})
    table = (
        f"read_csv({_path(source)}, columns = {columns}, delim = {_text(dialect.delimiter)}, "
        f"""quote = '"', escape = '"', header = {str(source.named).lower()}, {options})"""
    )
    return Scan(table, fields, dialect.delimiter, header)


def _head(connection: Connection, source: Source, options: str) -> list[str]:
    """Return the first lines: 100 at most, and no more bytes than a row may have."""
    if source.compressed == ".zst":
        # No text holds this delimiter (a control character), so a row is a line.
        lines = connection.execute(
            f"SELECT line FROM read_csv({_path(source)}, columns = {{'line': 'VARCHAR'}}, delim = "
            f"'\x01', quote = '', escape = '', header = false, {options}) LIMIT {HEAD_LINES}"
        ).fetchall()
        return [f"{line or ''}\n" for (line,) in lines]
    return head_of(source)


def _scan_jsonl(
    connection: Connection, source: Source, wanted: Mapping[str, str], labels: str | None
) -> Scan:
    """Return how DuckDB reads JSON; the types of columns are those that it finds in all rows."""
    if source.options.left_out_to and source.written_as is None and not source.is_json_array:
        raise NotPlainError
    longest = f", maximum_object_size = {LONGEST}" if source.long_lines else ""
    layout = "array" if source.is_json_array else "newline_delimited"
    table = f"read_json({_path(source)}, format = '{layout}', records = true{longest}"
    # Times are found later; with one format of them here, DuckDB does not try many on long texts.
    times = "dateformat = '%Y-%m-%d', timestampformat = '%Y-%m-%d'"
    every = f"{table}, sample_size = -1, map_inference_threshold = -1, {times})"
    sniffed = _columns(connection, every)
    fields: list[Field] = []
    types: dict[str, str] = {}
    for name, type_ in sniffed:
        kind = kind_of(type_)
        if kind == "words":
            fields.append(Field(name, _name(name), kind))
            types[name] = "VARCHAR[]"
            continue
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
        is_read = kind == "text" and name != labels
        if name == labels and kind == "number":  # whole numbers of many digits among them
            kind, is_read = "text", True
        fields.append(Field(name, _name(name), kind, is_read))
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


def _scan_parquet(connection: Connection, source: Source, labels: str | None) -> Scan:
    table = f"read_parquet({_path(source)})"
    fields, index = [], []
    schema = connection.execute(f"SELECT name FROM parquet_schema({_path(source)})").fetchall()
    for name, type_ in _columns(connection, table):
        kind = kind_of(type_)
        if (name,) not in schema and f"/{name}=" not in source.path.as_posix():  # nor of a folder
            raise ValueError(
                f"{source.name} has a column without a name, or names that differ in case only, "
                f'as "{name}": rename them.'
            )
        if re.fullmatch(r"__index_level_\d+__", name):
            index.append(name)
        else:
            fields.append(Field(name, _name(name), kind, kind == "text" and name != labels))
    said = f"The index that pandas wrote to {source.name} was left out: {', '.join(index)}."
    return Scan(table, fields, notes=(said,) * bool(index))


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
