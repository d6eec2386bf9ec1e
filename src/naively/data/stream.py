"""A table that is read in batches: its columns, their kinds, and lazy frames as such a table."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from io import SEEK_END
from typing import IO, Any
from weakref import finalize

import numpy as np

from naively.counting.axis import Name
from naively.data.columns import READ_AS, Cells, Column, ColumnRows, Content, Reading, join_columns
from naively.data.frames import ArrowStream, Table, as_rows, elsewhere, join_parts
from naively.data.reading import (
    NOTHING_SAID,
    Forms,
    Looked,
    look_at,
    odd_words,
    say_contrary,
    say_kept,
    settled,
    with_readings,
)
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings

# --- A table of any length: batches of rows of bounded size, in order ----------------------------
#
# What a column of strings is follows from how many of its cells have each form, which is counted
# as the batches come. Where a later batch makes it another thing, the stream says that it must be
# read again, and before that the forms of all rows are counted.


ROWS = 1 << 17  # of a batch at most
BYTES = 1 << 25  # of the strings of a batch, about; their words take some times as much
SMALL = 1 << 22  # bytes of a copy of what can be read once that stay in memory

SHOWN = 40  # characters of a cell
WRITTEN: dict[Content, str] = {
    "number": "a number",
    "truth": "true or false",
    "time": "a date or time",
    "clock": "a time of day",
}


class ReadAgainError(Exception):
    """A stream must be read again from its first row: a column is not what it was taken for."""


class Stream(ABC):
    """A table of any length, which yields its batches from the first row on.

    `ReadAgainError` is raised where a column turns out to be something else; the next iteration
    takes that into account.
    """

    total: int | None = None  # rows, if that is known before they are read
    watch: Callable[[Iterator[ColumnRows]], Iterator[ColumnRows]] = iter  # as by a progress bar
    again: bool = True  # whether it can be read more than once
    contents: Mapping[str, Content] = {}  # what it says itself of columns; it is overruled

    def __init__(
        self,
        names: Sequence[str],
        readable: Collection[str],  # whose strings are read; others stay as they are written
        known: Mapping[str, Reading] | None = None,  # whatever is in them
    ) -> None:
        self.names = list(names)
        self.readable = frozenset(readable)
        self.known = dict(known or {})
        self.said = NOTHING_SAID  # what was said of the columns
        self.kept: tuple[str, ...] = ()  # columns that each batch has once more, as they came
        self._forms: dict[str, Forms] = {}
        self._readings: dict[str, Reading] = {}
        self._odd: dict[str, tuple[int, str]] = {}  # cells that are not of a known kind
        self._contrary: set[str] = set()  # known columns of which it was said
        self._more: Iterator[dict[str, Column]] | None = None  # of what can be read once
        self._copy: IO[bytes] | None = None  # of what came of it
        self._looked_at = 0  # rows
        self._counts_first = False  # whether the forms of all rows are counted before any is read

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each thing that was repaired, or is not of the kind expected."""
        return tuple(
            f'{first}; {count:,} such cells of column "{name}" count as missing.'
            if count > 1
            else f"{first}: it counts as missing."
            for name, (count, first) in self._odd.items()
        )

    @abstractmethod
    def columns(self) -> Iterator[dict[str, Column]]:
        """Yield the columns of each batch that has rows, strings as they are written."""

    def where(self, name: str, row: int) -> tuple[str, str]:
        """Name a column and one of its rows in a message."""
        return f'Column "{name}"', f"row {row}"

    @property
    def readings(self) -> dict[str, Reading]:
        """How columns of strings were read."""
        return {**self.known, **self._readings}

    def __iter__(self) -> Iterator[ColumnRows]:
        return self.watch(self._every_batch())

    def _every_batch(self) -> Iterator[ColumnRows]:
        self._forms, self._readings, self._odd = {}, {}, {}
        done = self._looked_at = 0
        if self._counts_first:
            for columns in self._batches():
                self._look_at(columns)
            self._readings, self._looked_at = self._settled(), 0
        for columns in self._batches():
            found = {} if self._counts_first else self._look_at(columns)
            if found:
                self._check_settled()
                self._say_contrary(found)
            rows = self._read(columns, found)
            self._note_odd(rows, done)
            yield rows
            done += len(rows)
        say_kept(self.known, self._readings)

    def _batches(self) -> Iterator[dict[str, Column]]:
        """Yield the columns of each batch from the first on; what can be read once is copied."""
        if self.again:
            yield from self.columns()
            return
        if self._copy is None or self._more is None:
            self._more = self.columns()
            from tempfile import SpooledTemporaryFile

            self._copy = SpooledTemporaryFile(SMALL)  # noqa: SIM115  (it is closed with the stream)
            finalize(self, self._copy.close)
        end = self._copy.seek(0, SEEK_END)
        self._copy.seek(0)
        while self._copy.tell() < end:
            yield pickle.load(self._copy)  # noqa: S301  (it was written here)
        for columns in self._more:
            if self.readable:
                pickle.dump(columns, self._copy, pickle.HIGHEST_PROTOCOL)
            yield columns

    def _say_contrary(self, found: Mapping[str, Looked]) -> None:
        """Warn once of each known column of which a cell speaks against how it is read."""
        for name in found.keys() & self.known.keys() - self._contrary:
            if say_contrary(name, found[name], self.readings[name], self.known[name].forms):
                self._contrary.add(name)

    def _note_odd(self, rows: ColumnRows, done: int) -> None:
        """Keep in mind which cells are not of the kind that is known, after so many rows."""
        for name in rows.words.keys() & self.known.keys():
            count, row = odd_words(rows.words[name], self.known[str(name)])
            if not count:
                continue
            column = str(name)
            before, first = self._odd.get(column, (0, ""))
            if not before:
                title, place = self.where(column, done + row)
                cell = str(rows.words[name][row])[:SHOWN]
                what = WRITTEN[self.known[column].content]
                first = f"{title} has {cell!r} in {place}, where {what} is expected"
            self._odd[column] = before + count, first

    def read(self) -> ColumnRows:
        """Return all rows."""
        batches = list(self.columns())
        self._forms, self._looked_at = {}, 0
        found = [self._look_at(columns) for columns in batches]
        self._readings = self._settled()
        say_kept(self.known, self._readings)
        for of in found:
            self._say_contrary(of)
        parts, done, self._odd = [], 0, {}
        for columns, of in zip(batches, found, strict=True):
            parts.append(self._read(columns, of))
            self._note_odd(parts[-1], done)
            done += len(parts[-1])
        joined = {
            name: join_parts(name, [(of.cells(name), of.kind(name)) for of in parts])
            for name in self.names
        }
        words = {str(name) for part in parts for name in part.words}
        readings: dict[Name, Reading] = {}
        readings.update(self.readings)
        return join_columns(
            joined,
            readings=readings,
            words={name: Strings.join([_words(of, name) for of in parts]) for name in words},
        )

    def _look_at(self, columns: dict[str, Column]) -> dict[str, Looked]:
        """Add the forms of a batch's strings to those before, and return what was found."""
        found, times = {}, self._times(columns)
        for name, (cells, _) in columns.items():
            known = self.known.get(name)
            reads = name in self.readable if known is None else not known.is_levels
            if reads and isinstance(cells, Strings):
                marks = self.said.marks_of(name) if known is None else known.missing
                found[name] = look_at(cells, marks, times)
                of = found[name].forms
                self._forms[name] = self._forms[name] + of if name in self._forms else of
        return found

    def forms(self) -> dict[str, Forms]:
        """Return the forms of the cells of each column of strings."""
        for columns in self.columns():
            self._look_at(columns)
        return self._forms

    def _times(self, columns: dict[str, Column]) -> Floats | None:
        """Return how many equal rows each row of the next batch is; None where each is one."""
        first, of = self._looked_at, self.said.times
        self._looked_at += len(next(iter(columns.values()))[0])
        if of is None:
            return None
        cells = columns[of][0] if isinstance(of, str) else of[first : self._looked_at]
        if isinstance(cells, Strings):
            cells = look_at(cells).read(READ_AS["number"]).value.view(np.float64)
        return np.nan_to_num(np.asarray(cells, np.float64))

    def _settled(self) -> dict[str, Reading]:
        """Return how the columns are read, by all that is known so far."""
        contents = {**self.contents, **self.said.contents}
        return settled(self._forms, replace(self.said, contents=contents), self.known)

    def _check_settled(self) -> None:
        """Say that the stream must be read again if a column is not what it was taken for."""
        now = self._settled()
        before = self._readings
        if any(
            now[name] != of
            for name, of in before.items()
            if not of.is_levels or not now[name].is_levels
        ):
            self._counts_first = True
            raise ReadAgainError
        self._readings = now

    def _read(self, columns: dict[str, Column], found: Mapping[str, Looked]) -> ColumnRows:
        """Return a batch as rows."""
        read_as = {name: replace(of, forms=None) for name, of in self.readings.items()}
        cells: dict[str, Column] = {}
        for name, (of, kind) in columns.items():
            reads = name in self.readable or name in self.known
            if isinstance(of, Strings) and not of.any_there:
                cells[name] = np.full(len(of), np.nan if reads else None), None
            else:
                cells[name] = of, kind
        cells |= {kept_name(name): columns[name] for name in self.kept}
        rows = join_columns(cells)
        names = {name for name in read_as if name in cells}
        return with_readings(rows, {name: read_as[name] for name in names}, found)


def kept_name(name: str) -> str:
    """Return what a column is called that is kept as it came, as no column of a table is."""
    return f"\0{name}"


def _words(rows: ColumnRows, name: str) -> Strings:
    """Return the words of a column; all missing where it has none."""
    found = rows.words.get(name)
    return Strings.all_missing(len(rows)) if found is None else found


class TableInMemory(Stream):
    """Rows that are in memory, as one batch."""

    def __init__(self, rows: ColumnRows, notes: tuple[str, ...] = ()) -> None:
        super().__init__([str(name) for name in rows.names], ())
        self._rows, self.total, self._notes = rows, len(rows), notes

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def columns(self) -> Iterator[dict[str, Column]]:
        yield {name: (self._rows.cells(name), self._rows.kind(name)) for name in self.names}


class ArrowBatches(Stream):
    """A table of any length that an engine or a library gives as a stream of Arrow."""

    def __init__(self, begin: Callable[[], Any], names: Sequence[str], *, again: bool) -> None:
        super().__init__(names, names)
        self._begin = begin
        self.again = again

    def columns(self) -> Iterator[dict[str, Column]]:
        for columns in ArrowStream(self._begin()):
            yield from in_pieces(columns)


def in_pieces(
    columns: dict[str, Column], rows: int = ROWS, size: int = BYTES
) -> Iterator[dict[str, Column]]:
    """Yield columns some rows at a time: so many at most, with about so many bytes of strings."""
    length = len(next(iter(columns.values()))[0]) if columns else 0
    ends = _ends([cells for cells, _ in columns.values()], length, rows, size)
    if len(ends) == 1:
        yield columns
        return
    for some in map(slice, [0, *ends], ends):
        yield {name: (cells[some], kind) for name, (cells, kind) in columns.items()}


def _ends(columns: Sequence[Cells], length: int, rows: int, size: int) -> list[int]:
    """Return where pieces of columns end, of strings in about equal parts."""
    before = np.zeros(length + 1, np.int64)  # bytes of the strings of all rows before
    for cells in columns:
        if isinstance(cells, Strings):
            before[1:] += np.cumsum(cells.lengths)
    part, ends, end = before[-1] / max(1, -(-int(before[-1]) // size)), [], 0
    while end < length:
        full = int(np.searchsorted(before, before[end] + part)) if part else length
        end = min(end + rows, full, length)
        ends.append(end)
    return ends


# --- What is not in memory is a stream: engines' tables, lazy frames, readers, iterators ---------


def as_stream(X: Table) -> Stream | None:
    """Return a table that is not in memory as a stream; None if it is in memory, or on a cluster.

    >>> import duckdb
    >>> as_stream(duckdb.sql("select 1 as a")).names
    ['a']
    """
    stream = _STREAMS.get(elsewhere(X))
    return None if stream is None else stream(X)


class TablesInTurn(Stream):
    """The tables of an iterator, one after another, which can be read once."""

    again = False

    def __init__(self, tables: Iterator[Table]) -> None:
        self._first = next(tables, None)
        self._rest = tables
        names = [] if self._first is None else list(map(str, as_rows(self._first).names))
        super().__init__(names, names)

    def columns(self) -> Iterator[dict[str, Column]]:
        table, self._first = self._first, None
        while table is not None:
            rows = as_rows(table)
            columns = {str(name): (rows.cells(name), rows.kind(name)) for name in rows.names}
            yield from in_pieces(columns)
            table = next(self._rest, None)


class LazyFrames(Stream):
    """A lazy frame of Polars, which is collected in batches."""

    def __init__(self, frame: Any) -> None:
        names = frame.collect_schema().names()
        super().__init__(names, names)
        self._frame = frame

    def columns(self) -> Iterator[dict[str, Column]]:
        for frame in self._frame.collect_batches(chunk_size=ROWS, maintain_order=True):
            for columns in ArrowStream(frame):
                yield from in_pieces(columns)


def _relation(X: Table) -> Stream:
    return ArrowBatches(lambda: X, X.columns, again=True)


def _reader(X: Table) -> Stream:
    return ArrowBatches(lambda: X, X.schema.names, again=False)


def _dataset(X: Table) -> Stream:
    return ArrowBatches(X.scanner(batch_size=ROWS).to_reader, X.schema.names, again=True)


def _scanner(X: Table) -> Stream:
    return ArrowBatches(X.to_reader, X.projected_schema.names, again=True)


def _ibis(X: Table) -> Stream:
    return ArrowBatches(lambda: X.to_pyarrow_batches(chunk_size=ROWS), X.columns, again=True)


# The stream of each table that is not in memory, but for a frame of Spark, which makes none.
_STREAMS: dict[tuple[str, str] | None, Callable[[Table], Stream]] = {
    (__name__, "Stream"): lambda X: X,
    ("collections.abc", "Iterator"): TablesInTurn,
    ("duckdb", "DuckDBPyRelation"): _relation,
    ("polars", "LazyFrame"): LazyFrames,
    ("pyarrow", "RecordBatchReader"): _reader,
    ("pyarrow.dataset", "Dataset"): _dataset,
    ("pyarrow.dataset", "Scanner"): _scanner,
    ("ibis.expr.types", "Table"): _ibis,
}
