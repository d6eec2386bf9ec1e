"""A table that is read in batches: its columns, their kinds, and lazy frames as such a table."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from naively.counting.labels import is_missing
from naively.data.arrow import ArrowStream, join_parts
from naively.data.columns import (
    TIME,
    Cells,
    Column,
    ColumnRows,
    Kind,
    all_missing,
    join_columns,
    taken,
)
from naively.data.frames import Table, as_rows
from naively.kernels import dispatch
from naively.kernels.strings import Strings

# --- Strings are read as what they spell, if all of them do: numbers, booleans or times ----------


Guess: TypeAlias = Literal["number", "any number", "boolean", "time", "string"]
FIRST = 100  # strings that are looked at before all are
TRUTHS = {"true": 1.0, "false": 0.0}
KIND_OF: dict[Guess, Kind] = {
    "number": "number",
    "any number": "number",
    "boolean": "boolean",
    "time": "time",
    "string": "string",
}


class Spelled(NamedTuple):
    """What strings spell: the column, and the first row that is something else, or -1."""

    column: Column
    wrong: int = -1


def spell(strings: Strings, guess: Guess) -> Spelled:
    """Read strings as what they may be.

    A number that may be a name, as it begins with a 0 or has more digits than a float holds, is
    one only where any number is expected.

    Examples
    --------
    >>> from naively.kernels.strings import pack_strings
    >>> spell(pack_strings(["1", None, "2.5"]), "number").column
    (array([1. , nan, 2.5]), 'number')
    >>> spell(pack_strings(["1", "007"]), "number").wrong
    1
    """
    match guess:
        case "number" | "any number":
            cells, wrong = _numbers(strings, guess)
        case "boolean":
            cells, wrong = _truths(strings)
        case "time":
            moments, wrong = dispatch.read_times(strings)
            cells = moments.view(TIME)
        case _:
            return Spelled((strings, "string"))
    missing = not isinstance(cells, Strings) and cells.dtype.kind in "fM" and all_missing(cells)
    return Spelled((cells, None if missing else KIND_OF[guess]), wrong)


def first_that_fits(strings: Strings, guesses: Sequence[Guess]) -> Guess:
    """Return the first of the guesses that all strings are; "string" if there is none.

    Examples
    --------
    >>> from naively.kernels.strings import pack_strings
    >>> first_that_fits(pack_strings(["true", "False"]), ["number", "boolean", "time"])
    'boolean'
    """
    for guess in guesses:
        if spell(strings[:FIRST], guess).wrong < 0 and spell(strings, guess).wrong < 0:
            return guess
    return "string"


def _numbers(strings: Strings, guess: Guess) -> tuple[Cells, int]:
    """Return numbers, as integers if all are whole and none is missing, and the first wrong row."""
    numbers, (fraction, name, none) = dispatch.read_numbers(strings)
    wrong = [none] if guess == "any number" else [none, name]
    first = min((int(row) for row in wrong if row >= 0), default=-1)
    if fraction < 0 and strings.missing is None:
        return numbers.astype(np.int64), first
    return numbers, first


def _truths(strings: Strings) -> tuple[Cells, int]:
    codes, first = dispatch.encode_strings(strings)
    spelled = [TRUTHS.get(str(level).lower()) for level in dispatch.take_strings(strings, first)]
    wrong = next((int(row) for row, truth in zip(first, spelled, strict=True) if truth is None), -1)
    values = np.array([np.nan if truth is None else truth for truth in [*spelled, None]])
    truths = values[codes]
    return (truths == 1 if strings.missing is None and wrong < 0 else truths), wrong


# --- A table of any length: batches of rows of bounded size, in order ----------------------------
#
# What a column is does not depend on the batches. What its strings spell (times, and in text
# formats numbers and booleans) is read from the first batch; where a later row spells something
# else, the stream says that it must be read again, and takes the column for what all rows seen so
# far are.


ROWS = 1 << 17  # of a batch at most
BYTES = 1 << 25  # of the strings of a batch, about; their words take some times as much
SHOWN = 40  # characters of a cell
WRITTEN: dict[Guess, str] = {
    "number": "a number",
    "any number": "a number",
    "boolean": "true or false",
    "time": "a date or time",
    "string": "a string",
}


class ReadAgainError(Exception):
    """A stream must be read again from its first row: a column is not what it was taken for."""


class Stream(ABC):
    """A table of any length.

    Parameters
    ----------
    names : sequence of str
        The columns.
    guesses : mapping of str to sequence of str
        What the strings of a column may spell, the likeliest first.
    expected : mapping of str to str, optional
        What the strings of a column must spell.

    Notes
    -----
    Iterating over it yields its batches from the first row on. `ReadAgainError` is raised where a
    column turns out to be something else; the next iteration takes that into account.
    """

    total: int | None = None  # rows, if that is known before they are read
    watch: Callable[[Iterator[ColumnRows]], Iterator[ColumnRows]] = iter  # as by a progress bar
    again: bool = True  # whether it can be read more than once
    tells_times: bool = True  # whether strings that are all times are read as times here

    def __init__(
        self,
        names: Sequence[str],
        guesses: Mapping[str, Sequence[Guess]],
        expected: Mapping[str, Guess] | None = None,
    ) -> None:
        self.names = list(names)
        self.guesses = guesses
        self.expected = dict(expected or {})
        self._spell: dict[str, Guess] = {}
        self._odd: dict[str, Strings] = {}  # what was once not as it was taken for

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each thing that was repaired."""
        return ()

    @abstractmethod
    def columns(self) -> Iterator[dict[str, Column]]:
        """Yield the columns of each batch that has rows, strings as they are written."""

    def where(self, name: str, row: int) -> tuple[str, str]:
        """Name a column and one of its rows in a message."""
        return f'Column "{name}"', f"row {row}"

    def __iter__(self) -> Iterator[ColumnRows]:
        return self.watch(self._every_batch())

    def _every_batch(self) -> Iterator[ColumnRows]:
        done, self._spell = 0, {}
        for columns in self.columns():
            rows = self._read(columns, done)
            done += len(rows)
            yield rows

    def read(self) -> ColumnRows:
        """Return all rows."""
        batches, self._spell = list(self.columns()), {}
        for name in self.names:
            cells = [of[name][0] for of in batches]
            strings = [of for of in cells if isinstance(of, Strings) and of.any_there]
            if strings:
                self._spell[name] = self._guess(name, Strings.join(strings))
        done, parts = 0, []
        for columns in batches:
            parts.append(self._read(columns, done))
            done += len(parts[-1])
        return join_columns(
            {
                name: join_parts(name, [(of.cells(name), of.kind(name)) for of in parts])
                for name in self.names
            },
            times_told=self.tells_times,
        )

    def _guess(self, name: str, strings: Strings) -> Guess:
        """Return what the strings of a column spell, of which some are not missing."""
        if name in self.expected:
            return self.expected[name]
        odd = self._odd.get(name)
        every = strings if odd is None else Strings.join([odd, strings])
        return first_that_fits(every, self.guesses.get(name, ()))

    def _read(self, columns: dict[str, Column], done: int) -> ColumnRows:
        """Return a batch, of which so many rows come before, as rows."""
        read: dict[str, Column] = {}
        for name, (cells, kind) in columns.items():
            expected = self.expected.get(name)
            wrong, column = -1, (cells, kind)
            if isinstance(cells, Strings) and cells.any_there:
                if name not in self._spell:
                    self._spell[name] = self._guess(name, cells)
                column, wrong = spell(cells, self._spell[name])
            elif isinstance(cells, Strings):
                none = np.nan if self._may_spell(name) else None
                column = np.full(len(cells), none), None
            elif expected is not None and kind not in (KIND_OF[expected], None):
                wrong = next(row for row, cell in enumerate(cells) if not is_missing(cell))
            if wrong >= 0:
                self._refuse(name, cells[wrong : wrong + 1], done + wrong)
            read[name] = column
        return join_columns(read, times_told=self.tells_times)

    def _may_spell(self, name: str) -> bool:
        """Whether the strings of a column may spell something, as far as it is known."""
        told = self.expected.get(name) or self._spell.get(name)
        return bool(self.guesses.get(name)) if told is None else told != "string"

    def _refuse(self, name: str, cell: Cells, row: int) -> None:
        """Raise that a cell does not spell what its column was taken for."""
        shown, (title, place) = _shown(cell[0]), self.where(name, row)
        if name in self.expected:
            raise ValueError(
                f"{title} has {shown} in {place}, where {WRITTEN[self.expected[name]]} is "
                "expected: correct it, or ignore the column."
            )
        if not self.again:
            raise ValueError(
                f"{title} was read as {KIND_OF[self._spell[name]]}s, but has {shown} in {place}, "
                "and the rows before it cannot be read again: give a table that can be read twice, "
                "or name the event model of the column."
            )
        parts = [self._odd[name]] if name in self._odd else []
        alone = taken(cell, np.zeros(1, np.int64))  # a copy, without the batch that it is from
        self._odd[name] = Strings.join([*parts, cast("Strings", alone)])
        raise ReadAgainError


class TableInMemory(Stream):
    """Rows that are in memory, as one batch."""

    tells_times = False

    def __init__(self, rows: ColumnRows, notes: tuple[str, ...] = ()) -> None:
        super().__init__([str(name) for name in rows.names], {})
        self._rows, self.total, self._notes = rows, len(rows), notes

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def columns(self) -> Iterator[dict[str, Column]]:
        yield {name: (self._rows.cells(name), self._rows.kind(name)) for name in self.names}


def _shown(cell: Any) -> str:
    """Return the beginning of a cell as it is written in code."""
    text = cell if isinstance(cell, str) else str(cell)
    return repr(text[:SHOWN])


class ArrowBatches(Stream):
    """A table of any length that an engine or a library gives as a stream of Arrow.

    Parameters
    ----------
    begin : callable
        Returns an object with ``__arrow_c_stream__``, which begins with the first row.
    names : sequence of str
        The columns.
    again : bool
        Whether it can be called again.
    """

    def __init__(self, begin: Callable[[], Any], names: Sequence[str], *, again: bool) -> None:
        super().__init__(names, dict.fromkeys(names, ("time",)))
        self._begin = begin
        self.again = again

    def columns(self) -> Iterator[dict[str, Column]]:
        for columns in ArrowStream(self._begin()):
            yield from in_pieces(columns)


def in_pieces(
    columns: dict[str, Column], rows: int = ROWS, size: int = BYTES
) -> Iterator[dict[str, Column]]:
    """Yield columns some rows at a time: so many at most, with about so many bytes of strings.

    >>> from naively.kernels.strings import pack_strings
    >>> cells = pack_strings(["some", "words", "and", "more"])
    >>> [list(piece["text"][0]) for piece in in_pieces({"text": (cells, "string")}, size=10)]
    [['some', 'words'], ['and', 'more']]
    """
    length = len(next(iter(columns.values()))[0]) if columns else 0
    ends = _ends([cells for cells, _ in columns.values()], length, rows, size)
    if len(ends) == 1:
        yield columns
        return
    for some in map(slice, [0, *ends], ends):
        yield {name: (taken(cells, some), kind) for name, (cells, kind) in columns.items()}


def _ends(columns: Sequence[Cells], length: int, rows: int, size: int) -> list[int]:
    """Return where pieces of columns end, of strings in about equal parts."""
    before = np.zeros(length + 1, np.int64)  # bytes of the strings of all rows before
    for cells in columns:
        if isinstance(cells, Strings):
            before += cells.offsets - cells.offsets[0]
    part, ends, end = before[-1] / max(1, -(-int(before[-1]) // size)), [], 0
    while end < length:
        full = int(np.searchsorted(before, before[end] + part)) if part else length
        end = min(end + rows, full, length)
        ends.append(end)
    return ends


# --- Lazy ----------------------------------------------------------------------------------------
#
# What is not in memory is a stream: engines' tables, lazy frames, readers, iterators of tables.


def as_stream(X: Table) -> Stream | None:
    """Return a table that is not in memory as a stream; None if it is in memory.

    Parameters
    ----------
    X : table
        A DuckDB relation, a Polars LazyFrame, an Ibis table, a PyArrow dataset, scanner or
        RecordBatchReader, an iterator of tables of any kind (as ``pandas.read_csv`` gives with
        ``chunksize``), or a `Stream`.

    Notes
    -----
    A reader and an iterator can be read only once.

    Examples
    --------
    >>> import duckdb
    >>> as_stream(duckdb.sql("select 1 as a")).names
    ['a']
    """
    if isinstance(X, Stream):
        return X
    for name, read in _KNOWN.items():  # what was never imported has made no table
        module = sys.modules.get(name)
        if module is not None and (stream := read(X, module)) is not None:
            return stream
    if isinstance(X, Iterator):
        return TablesInTurn(X)
    return None


class TablesInTurn(Stream):
    """The tables of an iterator, one after another, which can be read once."""

    again = False

    def __init__(self, tables: Iterator[Table]) -> None:
        self._first = next(tables, None)
        self._rest = tables
        names = [] if self._first is None else list(map(str, as_rows(self._first).names))
        super().__init__(names, dict.fromkeys(names, ("time",)))

    def columns(self) -> Iterator[dict[str, Column]]:
        table, self._first = self._first, None
        while table is not None:
            rows = as_rows(table)
            columns = {str(name): (rows.cells(name), rows.kind(name)) for name in rows.names}
            yield from in_pieces(columns)
            table = next(self._rest, None)


def _of_duckdb(X: Any, duckdb: Any) -> Stream | None:
    if not isinstance(X, duckdb.DuckDBPyRelation):
        return None
    return ArrowBatches(lambda: X, X.columns, again=True)


def _of_polars(X: Any, polars: Any) -> Stream | None:
    if not isinstance(X, polars.LazyFrame):
        return None
    return LazyFrames(X)


class LazyFrames(Stream):
    """A lazy frame of Polars, which is collected in batches."""

    def __init__(self, frame: Any) -> None:
        names = frame.collect_schema().names()
        super().__init__(names, dict.fromkeys(names, ("time",)))
        self._frame = frame

    def columns(self) -> Iterator[dict[str, Column]]:
        for frame in self._frame.collect_batches(chunk_size=ROWS, maintain_order=True):
            for columns in ArrowStream(frame):
                yield from in_pieces(columns)


def _of_arrow(X: Any, pyarrow: Any) -> Stream | None:
    if isinstance(X, pyarrow.RecordBatchReader):
        return ArrowBatches(lambda: X, X.schema.names, again=False)
    return None


def _of_dataset(X: Any, dataset: Any) -> Stream | None:
    if isinstance(X, dataset.Dataset):
        begin = lambda: X.scanner(batch_size=ROWS).to_reader()  # noqa: E731
        return ArrowBatches(begin, X.schema.names, again=True)
    if isinstance(X, dataset.Scanner):
        return ArrowBatches(X.to_reader, X.projected_schema.names, again=True)
    return None


def _of_ibis(X: Any, ibis: Any) -> Stream | None:
    if not isinstance(X, ibis.expr.types.Table):
        return None
    return ArrowBatches(lambda: X.to_pyarrow_batches(chunk_size=ROWS), X.columns, again=True)


_KNOWN: Mapping[str, Callable[[Any, Any], Stream | None]] = {
    "duckdb": _of_duckdb,
    "polars": _of_polars,
    "pyarrow": _of_arrow,
    "pyarrow.dataset": _of_dataset,
    "ibis": _of_ibis,
}
