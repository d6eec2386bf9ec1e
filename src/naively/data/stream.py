"""A table of any length: batches of rows of bounded size, in order.

What a column is does not depend on the batches. What its strings spell (times, and in text formats
numbers and booleans) is read from the first batch; where a later row spells something else, the
stream says that it must be read again, and takes the column for what all rows seen so far are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from naively.counting.labels import is_missing
from naively.data.arrow import ArrowStream, join_parts
from naively.data.columns import Cells, Column, taken
from naively.data.guess import KIND_OF, Guess, first_that_fits, spell
from naively.data.rows import ColumnRows, join_columns
from naively.kernels.strings import Strings

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


class InMemory(Stream):
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
