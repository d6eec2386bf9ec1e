"""A Parquet file, which DuckDB reads as a stream of Arrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import duckdb

from naively.data.columns import Column, read_column
from naively.data.frames import ArrowStream, BrokenStreamError
from naively.data.stream import BYTES, ROWS, Stream, in_pieces
from naively.kernels.splitting import LONGEST
from naively.kernels.strings import Strings
from naively.wings.files.source import LIMIT, LONG, Asked, Source

# ruff: noqa: S608  names and paths are quoted by the functions at the end

ARROW_ROWS = 122_880  # of a batch of DuckDB's
BATCH = 1 << 27  # bytes of a batch of DuckDB's at most; of longer rows it is asked for fewer
ENOUGH = 1 << 28  # bytes for the buffers of several threads; in fewer, one thread reads
FEW = ROWS // 4  # rows of a batch then
HEAD = 1_000  # rows by which the bytes of a row are estimated
SETTINGS = (
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "enable_progress_bar = false",
    "TimeZone = 'UTC'",
    "disabled_optimizers = 'common_subexpressions'",  # quadratic in columns: minutes for 3,000
)
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
WORDS = ("varchar", "date", "timestamp", "time", "uuid")  # of lists that are lists of words
INDEX = re.compile(r"__index_level_\d+__")  # of pandas

Connection: TypeAlias = duckdb.DuckDBPyConnection


class ParquetTable(Stream):
    """A Parquet file."""

    def __init__(self, source: Source, asked: Asked, connection: Connection) -> None:
        choose, _, wanted, labels, rows, memory = asked
        self._source, self._labels, self._rows, self._batch = source, labels, rows, BATCH
        if memory is not None:
            self._batch = min(BATCH, memory // 4)
            self._rows = rows if memory >= ENOUGH else min(rows, FEW)
        self._connection = connection
        self._table = f"read_parquet({_path(source)})"
        try:
            kinds = self._kinds()
            ((self.total,),) = self._ask(f"SELECT count(*) FROM {self._table}")
        except duckdb.Error as error:
            raise _readable(source, str(error)) from None
        self._index = [name for name in kinds if INDEX.fullmatch(name)]
        chosen = set(choose([name for name in kinds if name not in self._index]))
        names = [name for name in kinds if name in chosen]
        for name in names:
            if kinds[name] == "nested":
                raise ValueError(
                    f'Column "{name}" of {source.name} holds lists, records or bytes: '
                    "ignore it, or flatten it into columns of numbers or text."
                )
        self._texts = [name for name in names if kinds[name] == "text"]
        self._as_text = {*self._texts, *(n for n, of in wanted.items() if of.kind == "string")}
        super().__init__(
            names,
            [name for name in self._texts if name != labels],
            {name: wanted[name] for name in names if name in wanted and name != labels},
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each thing that is odd, or is not of the kind expected."""
        said = self._source.notes
        if self._index:
            index = ", ".join(self._index)
            said += (f"The index that pandas wrote to {self._source.name} was left out: {index}.",)
        return (*said, *super().notes)

    def _kinds(self) -> dict[str, str]:
        """Return the kind of each column; names that are empty, or differ in case, are refused."""
        result = self._connection.execute(f"SELECT * FROM {self._table} LIMIT 0")
        described = [(column[0], column[1]) for column in result.description or ()]
        result.fetchall()
        schema = self._ask(f"SELECT name FROM parquet_schema({_path(self._source)})")
        for name, _ in described:
            is_of_folder = f"/{name}=" in self._source.path.as_posix()
            if (name,) not in schema and not is_of_folder:
                raise ValueError(
                    f"{self._source.name} has a column without a name, or names that differ in "
                    f'case only, as "{name}": rename them.'
                )
        kinds = {name: KIND_OF_TYPE.get(type_.id, "text") for name, type_ in described}
        for name, type_ in described:
            if type_.id == "list" and str(type_.children[0][1]).lower() in WORDS:
                kinds[name] = "words"
        return kinds

    def columns(self) -> Iterator[dict[str, Column]]:
        try:
            for columns in self._arrow():
                for name, (cells, _) in columns.items():
                    if isinstance(cells, Strings) and cells.lengths.max(initial=0) > LONGEST:
                        raise ValueError(
                            f'Column "{name}" of {self._source.name} has a cell that is longer '
                            f"than {LIMIT}: split it, or ignore the column."
                        )
                yield from in_pieces(columns, self._rows)
        except duckdb.Error as error:
            raise _readable(self._source, str(error)) from None
        except BrokenStreamError as error:
            raise _readable(self._source, error.message) from None

    def _arrow(self) -> Iterator[dict[str, Column]]:
        """Yield batches as DuckDB makes them; of long rows it is asked for fewer at a time."""
        names = self.names
        if not names:
            return
        as_text = [_text(name) if name in self._as_text else _name(name) for name in names]
        cells = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(as_text))
        query = f"SELECT {cells} FROM {self._table}"
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
        size = "+".join(f"coalesce(strlen({_text(name)}), 0)" for name in self._texts) or "0"
        head = f"SELECT {size} AS size FROM {self._table} LIMIT {HEAD}"
        ((longest, mean),) = self._ask(f"SELECT max(size), avg(size) FROM ({head})")
        return float(longest or 0) if (longest or 0) > LONG else float(mean or 0)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query).fetchall()  # all: a result must be finished

    def where(self, name: str, row: int) -> tuple[str, str]:
        return f'Column "{name}" of {self._source.name}', f"row {row + 1}"


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


def _readable(source: Source, message: str) -> ValueError:
    """Return the error to raise where DuckDB has raised one about a file."""
    if re.search("Out of Memory|could not allocate|failed to alloc", message):
        return ValueError(
            f"{source.name} cannot be read in the memory that there is, or that its limit "
            "leaves to reading: give more."
        )
    gist = re.sub(r"^[\w -]*Error: ", "", message.strip().splitlines()[0])
    gist = re.sub(r"""(?i:file) ["'][^"']*["']""", "the file", gist).strip(" .")
    return ValueError(
        f"{source.name} is not a complete Parquet file ({gist}): copy, download or write it again."
    )


def _path(source: Source) -> str:
    """Return the path in SQL, with the characters of a glob pattern made literal."""
    path = re.sub(r"([*?\[])", r"[\1]", source.path.as_posix())
    return "'" + path.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(name: str) -> str:
    return f"CAST({_name(name)} AS VARCHAR)"
