"""Text is split into the columns of a table: CSV in all its dialects.

The class here is contract, oracle and fallback of the native one of the same name, as the functions
in ``naively.kernels.reference`` are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Joined: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.uint8]]"  # where cells end; their bytes

LONGEST = 1 << 26  # bytes of a record, and so of a line and of a cell
MOST_LINES = 1 << 20  # of a record, before its quote counts as one that is never closed
MOST_BYTES = 1 << 25  # of the cells of a batch, about
BROKEN, LONG = -1, -2  # in place of the number of fields of a bad record
ALL = 1 << 62
LETTERS = {
    b"t": b"\t",
    b"n": b"\n",
    b"r": b"\r",
    b"b": b"\b",
    b"v": b"\v",
    b"f": b"\f",
    b"Z": b"\x1a",
}
LINE = re.compile(rb"([^\r\n]*)(?:\r\n|[\r\n])")
AHEAD = 16  # bytes that tell what a character is


@dataclass(frozen=True)
class Dialect:
    """How a text table is written."""

    # the character between two fields; a blank stands for any number of blanks and tabs
    delimiter: str = ","
    quote: str = '"'  # the character around fields; an empty string if there is none
    # the character before one that is part of its field; an empty string if there is none. A quote
    # within quotes may be written twice in any case
    escape: str = ""
    comment: str = ""  # how lines begin that are left out; an empty string if there are none
    # the line above the header, which may then begin like a comment itself; 0 if no such line
    above: int = 0
    blanks: bool = False  # whether blanks after a delimiter are left out
    spaced: bool = False  # whether blanks before a cell are left out, between quotes too
    row_names: bool = False  # whether the header has no name for the first column
    skip: int = 0  # lines above all that is read
    titles: int = 0  # how many of them are titles, which nobody said
    below: int = 0  # the line of what stands below the table, and is bad; 0 if there is nothing

    @property
    def letters(self) -> bool:
        r"""Whether an escape makes letters of others, as dumps of databases have them: \\n, \\N."""
        return self.escape == "\\" and not self.quote


class Splitter:
    """The records of a text in UTF-8, which comes in pieces.

    A record that cannot be read, or that has another number of fields than the first one, is in no
    column, but noted; of one with a broken quote only the first line is bad.
    """

    def __init__(
        self,
        dialect: Dialect,
        *,
        header: bool = True,  # whether the first record is no row
        width: int = 0,  # how many fields a row has; as many as the first record if it is 0
        kept: Sequence[int] = (),  # the fields of which the cells are kept
        most: int = ALL,  # rows of a batch
        stops: bool = False,  # whether nothing is read behind the first bad record
        ragged: bool = False,  # whether all records are kept, of any width, up to a broken one
    ) -> None:
        self._dialect, self._header, self._width = dialect, header, width
        self._kept, self._most, self._stops, self._ragged = kept, most, stops, ragged
        self._keeps_first = ragged or header or width == 0
        self._has_begun = False  # whether the first record has been read
        self._text, self._line, self._stopped = b"", 1, False
        self._cells: list[list[bytes]] = [[] for _ in kept]
        self._ready = self._size = 0
        self._records: list[list[str]] = []
        self._bad: list[tuple[int, int, bytes]] = []
        self.rows = self.row_line = self.comments = 0
        self._tokens = _tokens(dialect)

    def split(self, text: bytes, last: bool) -> bool:
        """Read more of the text, up to a full batch, and return whether there is one."""
        self._text += text
        at = 0
        while at < len(self._text) and not self._stopped and not self._is_full:
            end = self._record(at, last=last)
            if end is None and len(self._text) - at > LONGEST:
                end = self._break(at, last=True)
            if end is None:
                break
            at = end
        self._text = self._text[at:]
        return self._is_full

    def take(self) -> list[Joined]:
        """Return the cells of the columns that are kept, of the rows since it was last asked."""
        taken: list[Joined] = []
        for cells in self._cells:
            ends = np.cumsum([0, *map(len, cells)], dtype=np.int64)
            taken.append((ends, np.frombuffer(b"".join(cells), np.uint8)))
            cells.clear()
        self._ready = self._size = 0
        return taken

    def take_bad(self) -> list[tuple[int, int, bytes]]:
        """Return the line of each bad record, its fields (or what it is), and its text."""
        taken, self._bad = self._bad, []
        return taken

    def records(self) -> list[list[str]]:
        """Return the first record, or all if that is asked for."""
        return self._records

    @property
    def _is_first(self) -> bool:
        """Whether the record that comes is the first, which is in no column."""
        return self._keeps_first and not self._has_begun

    @property
    def _is_full(self) -> bool:
        return self._ready >= self._most or self._size >= MOST_BYTES

    def _record(self, at: int, *, last: bool) -> int | None:
        """Read the record that begins here, and return where it ends; None if it does not yet."""
        of, comment = self._dialect, self._dialect.comment.encode()
        if not last and len(self._text) - at <= max(AHEAD, len(comment)):
            return None
        if 0 < of.below <= self._line:
            return self._break(at, last=last)
        is_skipped = self._line <= of.skip
        is_header = of.above > 0 and self._line == of.above + 1
        is_comment = comment and self._text.startswith(comment, at) and not is_header
        if is_skipped or is_comment:
            end = self._end_of_line(at, last=last)
            if end is not None and end - at > LONGEST:
                return self._break(at, last=True)
            if end is not None:
                self.comments += not is_skipped
                self._line += 1
            return end
        record = self._read(at, last=last)
        if record is None:
            return None
        if record.is_broken or record.end - at > LONGEST or record.lines > MOST_LINES:
            return self._break(at, last=last)
        self._add(record.fields, self._text[at : record.end])
        self._line += record.lines
        return record.end

    def _end_of_line(self, at: int, *, last: bool) -> int | None:
        found = LINE.match(self._text, at)
        if not last and (found is None or found.end() == len(self._text)):
            return None
        return found.end() if found else len(self._text)

    def _break(self, at: int, *, last: bool) -> int | None:
        """Note the line that begins here, which is too long, or whose quotes are broken."""
        end = self._end_of_line(at, last=last)
        if end is not None:
            is_long = end - at > LONGEST
            self._note(LONG if is_long else BROKEN, self._text[at:end])
            self._stopped |= is_long
            self._line += 1
        return end

    def _note(self, fields: int, text: bytes) -> None:
        self._bad.append((self._line, fields, text))
        self._stopped |= self._stops or self._is_first

    def _add(self, fields: list[bytes], text: bytes) -> None:
        """Take a record, as a row or as what it is."""
        if not fields and not (self._has_begun and self._width == 1):
            return
        if self._is_first:
            self._records.append([field.decode("utf-8", "replace") for field in fields])
            if self._ragged:
                return
            self._has_begun = True
            self._width = self._width or len(fields) + self._dialect.row_names
            if not self._header:
                self._add_row(fields)
            return
        self._has_begun = True
        fields = fields or [b""]  # an empty line, in a table of one column
        ends_empty = len(fields) == self._width + 1 and not fields[-1]
        if len(fields) == self._width or ends_empty:
            self._add_row(fields)
        else:
            self._note(len(fields), text)

    def _add_row(self, fields: list[bytes]) -> None:
        for place, cells in zip(self._kept, self._cells, strict=True):
            cell = fields[place].lstrip(b" ") if self._dialect.spaced else fields[place]
            cells.append(cell)
            self._size += len(cell)
        self.rows += 1
        self._ready += 1
        self.row_line = self._line

    def _read(self, at: int, *, last: bool) -> _Record | None:
        """Return the record that begins here; None if it does not end in the text that is there."""
        record = _Record(self._dialect)
        line = LINE.match(self._text, at)
        if line and line.end() < len(self._text) - AHEAD and record.are_fields(line[1]):
            record.fields = line[1].split(record.delimiter) if line[1] else []
            record.end = line.end()
            return record
        for token in self._tokens.finditer(self._text, at):
            record.end = token.end()
            if record.end > len(self._text) - AHEAD and not last:
                return None
            record.state(token.lastgroup or "", token[0])
            if record.is_whole:
                return record
        if not last:
            return None
        record.finish()
        return record


class _Record:
    """A record, which is read token by token; the states are those of Python's csv module."""

    def __init__(self, dialect: Dialect) -> None:
        self.fields: list[bytes] = []
        self.lines, self.end, self.is_whole, self.is_broken = 1, 0, False, False
        self.state: Callable[[str, bytes], None] = self._begin
        self._cell: list[bytes] = []
        self._letters, self._skips, self._is_nothing = dialect.letters, dialect.blanks, False
        self._by_blanks = dialect.delimiter == " "
        self._quote, self._escape = dialect.quote.encode(), dialect.escape.encode()
        self.delimiter = dialect.delimiter.encode()

    def are_fields(self, line: bytes) -> bool:
        """Whether a line is its fields, and the delimiters between them."""
        marks = self._quote, self._escape
        return not (self._skips or self._by_blanks) and not any(
            mark and mark in line for mark in marks
        )

    def finish(self) -> None:
        """End the record, which the text or a line does here."""
        if self.state == self._quoted:
            self._break()
        elif self.state != self._begin or (self.fields and not self._by_blanks):
            self._save()
        self.is_whole = True

    def _break(self) -> None:
        self.is_whole = self.is_broken = True

    def _begin(self, kind: str, word: bytes) -> None:
        if kind == "quote":
            self.state = self._quoted
        elif kind == "delimiter" and not self._by_blanks:
            self._save()
        elif kind == "end":
            self.finish()
        elif kind not in ("blank", "delimiter"):
            self.state = self._plain
            self._is_nothing = self._letters and word == b"\\N"  # as dumps of databases have it
            self._add(kind, word)

    def _plain(self, kind: str, word: bytes) -> None:
        if kind == "end":
            self.finish()
        elif kind == "delimiter":
            self._save()
        else:
            self._is_nothing = False
            self._add(kind, word)

    def _quoted(self, kind: str, word: bytes) -> None:
        if kind == "quote":
            self.state = self._closed
        elif kind == "end" and self._by_blanks:
            self._break()
        else:
            self._add(kind, word)

    def _closed(self, kind: str, word: bytes) -> None:
        if kind == "quote":
            self.state = self._quoted
            self._add(kind, word)
        elif kind == "end":
            self.finish()
        elif kind == "delimiter":
            self._save()
        else:
            self._break()

    def _add(self, kind: str, word: bytes) -> None:
        self._cell.append(self._meant(word) if kind == "escaped" else word)
        self.lines += kind in ("end", "escaped") and word.endswith((b"\r", b"\n"))

    def _save(self) -> None:
        self.fields.append(b"" if self._is_nothing else b"".join(self._cell))
        self._cell, self._is_nothing, self.state = [], False, self._begin

    def _meant(self, escaped: bytes) -> bytes:
        """Return what an escape and the character behind it mean."""
        character = escaped[len(self._escape) :]
        if not character:
            self._break()
        if character in (b"\r\n", b"\r", b"\n"):
            return character[-1:]
        if self._letters and character in LETTERS:
            return LETTERS[character]
        is_mark = character in (self._quote, self._escape, self.delimiter)
        return character if is_mark or not self._quote else escaped


def _tokens(of: Dialect) -> re.Pattern[bytes]:
    """Return the pattern of what a text is made of: marks, ends of lines, and what is between."""
    marks = [re.escape(mark) for mark in (of.quote, of.escape, of.delimiter) if mark]
    kinds = {"end": "\r\n|[\r\n]"}
    if of.escape:
        kinds["escaped"] = f"{re.escape(of.escape)}(?:\r\n|{'|'.join(marks)}|.|$)"
    if of.delimiter == " ":
        kinds["delimiter"] = "[ \t]"
    else:
        kinds |= {"blank": " "} if of.blanks else {}
        kinds["delimiter"] = re.escape(of.delimiter)
    if of.quote:
        kinds["quote"] = re.escape(of.quote)
    found = "|".join(f"(?P<{name}>{pattern})" for name, pattern in kinds.items())
    signs = re.escape(f"{of.quote}{of.escape}{of.delimiter}\t")
    return re.compile(rf"{found}|[^\r\n {signs}]+|.".encode(), re.DOTALL)
