"""Dialects of CSV: which one a file is written in, and its records, read by Python's csv module."""

from __future__ import annotations

import contextlib
import csv
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, NamedTuple

from naively.kernels.forms import Form, read_cell
from naively.options import FileOptions

# --- How a text table is written -----------------------------------------------------------------
#
# DuckDB reads plain CSV: a delimiter, quotes ("), a quote within quotes twice. Any other dialect is
# read here, record by record, and written again as plain CSV.


DELIMITERS = ",\t;|"
SIGNS = "#%|"  # at the begin of lines above the header that are no rows
LONGEST = 1 << 26  # bytes of a line, of a row and of a cell
MOST_LINES = 1 << 20  # of a record, before its quote counts as one that is never closed
ROW_NAME = "row name"
LETTERS = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "v": "\v", "f": "\f", "Z": "\x1a"}


@dataclass(frozen=True)
class CsvDialect:
    """How a text table is written."""

    # the character between two fields; a blank stands for any number of blanks and tabs
    delimiter: str = ","
    quote: str = '"'  # the character around fields; an empty string if there is none
    # the character before one that is part of its field; an empty string if there is none. A quote
    # within quotes may be written twice in any case
    escape: str = ""
    comment: str = ""  # how lines begin that are left out; an empty string if there are none
    # how many lines stand above the header, which may then begin like a comment itself
    above: int = 0
    blanks: bool = False  # whether blanks after a delimiter are left out
    row_names: bool = False  # whether the header has no name for the first column

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB reads it."""
        by_one_sign = self.delimiter.isascii() and self.delimiter != " "
        return by_one_sign and self == CsvDialect(self.delimiter)

    def prepare(self) -> Callable[[str], str]:
        """Return what makes a line one that the csv module reads as it is meant."""
        if self.delimiter == " ":
            return self._with_blanks
        if not self.escape:
            return str
        escaped = re.compile(re.escape(self.escape) + "(.)", re.DOTALL)
        meant = {self.quote, self.escape, self.delimiter, "\r", "\n"}
        letters = LETTERS if self.escape == "\\" and not self.quote else {}

        def unescaped(found: re.Match[str]) -> str:
            letter = found[1]
            if letter in letters:
                return self.escape + letters[letter]
            if letter in meant or not self.quote:
                return found[0]
            return self.escape + found[0]  # it stays, as in C:\dir

        around = re.escape(self.delimiter)
        nothing = re.compile(rf"(?<![^{around}])\\N(?=[{around}\r\n]|$)")

        def prepared(line: str) -> str:
            if letters:
                line = nothing.sub("", line)
            if line.endswith(f"{self.escape}\r\n"):
                line = f"{line[:-2]}\n"  # the csv module escapes one character
            return escaped.sub(unescaped, line)

        return prepared

    def _with_blanks(self, line: str) -> str:
        """Return a line whose tabs outside quotes are blanks."""
        if "\t" in line:
            parts = line.split(self.quote or "\n")
            parts[::2] = [part.replace("\t", " ") for part in parts[::2]]
            line = self.quote.join(parts)
        return line.strip(" \r\n")


class Record(NamedTuple):
    """A record of a table, or, where its quotes are wrong, the line on which it begins."""

    line: int
    fields: list[str]
    lines: list[str]  # as they are written
    is_broken: bool = False  # a quote is never closed, or has text after it


class Records:
    """The records of a text table; empty lines, which have no field, among them."""

    # Of a record whose quotes are wrong the first line is one that is broken, and reading goes on
    # with the next.

    def __init__(self, lines: Iterable[str], dialect: CsvDialect) -> None:
        self._lines, self._dialect = iter(lines), dialect
        self._again: deque[str] = deque()  # lines that a broken record had taken
        self._taken: list[str] = []  # of the record that is read
        self._line = 1
        self.comments = 0

    def __iter__(self) -> Iterator[Record]:
        of = self._dialect
        how: dict[str, Any] = {
            "delimiter": of.delimiter,
            "quotechar": of.quote or None,
            "quoting": csv.QUOTE_MINIMAL if of.quote else csv.QUOTE_NONE,
            "escapechar": of.escape or None,
            "skipinitialspace": of.blanks or of.delimiter == " ",
            "strict": True,
        }
        while True:
            try:
                for fields in csv.reader(self._feed(), **how):
                    yield Record(self._line, fields, self._taken)
                    self._line += len(self._taken)
                    self._taken = []
            except csv.Error:
                first, *rest = self._taken
                yield Record(self._line, [], [first], is_broken=True)
                self._again.extendleft(reversed(rest))
                self._line += 1
                self._taken = []
            else:
                return

    def _feed(self) -> Iterator[str]:
        comment, prepared, size = self._dialect.comment, self._dialect.prepare(), 0
        above = self._dialect.above
        one_line = self._dialect.delimiter == " "
        while True:
            line = self._again.popleft() if self._again else next(self._lines, None)
            if line is None:
                return
            if not self._taken:
                size = 0
                is_header = above and self._line == above + 1
                if comment and line.startswith(comment) and not is_header:
                    self._line += 1
                    self.comments += 1
                    continue
            elif one_line:
                self._again.appendleft(line)
                raise csv.Error("a quote is not closed")
            self._taken.append(line)
            size += len(line)
            if size > LONGEST or len(self._taken) > MOST_LINES:
                raise csv.Error("a quote is not closed")
            yield prepared(line)


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module read fields as long as a line may be."""
    limit = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


# --- Which dialect it is, by the first lines -----------------------------------------------------


def csv_dialect(
    head: Sequence[str], options: FileOptions, said: str = "", *, by_blanks: bool = True
) -> tuple[CsvDialect, list[list[str]]]:
    """Return the dialect that options and the first lines of a file say, and their rows."""
    quote = '"' if options.quote is None else options.quote
    escape = "" if options.escape in {None, quote} else options.escape or ""
    of = CsvDialect("", quote, escape, options.comment or "")
    given = options.delimiter or said
    by_blanks = by_blanks and not given
    if options.comment is None and (above := _above(head, of, given, options, by_blanks)):
        of = replace(of, comment=head[0][0], above=above)
    delimiter = given or _delimiter(head, of)
    rows = first_rows(head, replace(of, delimiter=delimiter))
    if by_blanks and max(map(len, rows), default=0) <= 1:
        is_left_out = str.startswith if of.comment else lambda *_: False
        filled = sum(bool(line.strip()) and not is_left_out(line, of.comment) for line in head)
        slashed = "\\" if options.escape is None and quote else escape  # as R's write.table does
        for each in (escape, slashed):
            split = first_rows(head, replace(of, delimiter=" ", escape=each))
            if _are_columns(split, filled, options):
                delimiter, rows, of = " ", split, replace(of, escape=each)
                break
    row_names = options.header and _have_names(rows)
    return replace(of, delimiter=delimiter, row_names=row_names), rows


def _have_names(rows: list[list[str]]) -> bool:
    """Whether rows begin with names of their own, for which the header has no field."""
    # With a delimiter at the end of each row they would also have one field more.
    below = rows[1:]
    return (
        len(below) > 1  # one alone may have a field too many
        and {len(row) for row in below} == {len(rows[0]) + 1}
        and len({row[0] for row in below}) == len(below)
        and any(row[-1] for row in below)
    )


def first_rows(lines: Sequence[str], dialect: CsvDialect) -> list[list[str]]:
    """Return the rows of the first lines of a file; those that are empty are left out."""
    rows: list[list[str]] = []
    # A broken quote, or a field longer than the csv module takes, ends the sample.
    for record in Records(lines, dialect):
        if record.is_broken:
            break
        rows.append(record.fields)
    return [row for row in rows if row]


def _delimiter(lines: Sequence[str], dialect: CsvDialect) -> str:
    """Return the delimiter under which most rows have as many fields as the header."""

    def merit(delimiter: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in first_rows(lines, replace(dialect, delimiter=delimiter))]
        width = widths[0] if widths else 0
        return width > 1, widths.count(width) / max(len(widths), 1), width

    return max(DELIMITERS, key=merit)


def _above(
    head: Sequence[str], dialect: CsvDialect, given: str, options: FileOptions, by_blanks: bool
) -> int:
    """Return how many lines above the header begin with a sign and are no rows."""
    # A line is none if it does not have as many fields as those below, which a header such as
    # #id,name has; nor are those above such a line.
    sign = head[0][:1] if head else ""
    if not sign or sign not in SIGNS:
        return 0
    leading = [*takewhile(lambda line: line.startswith(sign), head)]
    below = [line for line in head[len(leading) :] if not line.startswith(sign)]
    delimiter = given or _delimiter(below, dialect)
    if not below or sign == delimiter:
        return 0
    as_header = first_rows(head, replace(dialect, delimiter=given or _delimiter(head, dialect)))
    if as_header and {len(row) for row in as_header} == {max(2, len(as_header[0]))}:
        return 0  # all lines are rows of one table
    of = replace(dialect, delimiter=delimiter)
    rows = first_rows(below, of)
    if by_blanks and max(map(len, rows), default=0) <= 1:
        split = first_rows(below, replace(dialect, delimiter=" "))
        if _are_columns(split, sum(bool(line.strip()) for line in below), options):
            of, rows = replace(dialect, delimiter=" "), split
    if len(rows) < 1 + options.header:
        return 0
    ends = all(not row[-1] for row in rows)  # as with a delimiter at the end of each row
    widths = [len(row) for row in rows]
    width = max(widths, key=widths.count)
    words = f"{sign} " if of.delimiter == " " else ""  # a name does not begin so
    unlike = [
        i
        for i, line in enumerate(leading)
        if _width(line, of) not in {width, width - ends} or (words and line.startswith(words))
    ]
    return unlike[-1] + 1 if unlike else 0


def _width(line: str, dialect: CsvDialect) -> int:
    return len(next(iter(first_rows([line], dialect)), []))


def _are_columns(rows: list[list[str]], lines: int, options: FileOptions) -> bool:
    """Whether rows that are split by blanks are a table: of one width, and with numbers."""
    # Numbers with blanks between their groups, and times of a day, are one field.
    widths = [len(row) for row in rows]
    if (
        len(rows) < 2 + options.header
        or len(rows) < lines
        or min(widths[1:]) < 2
        or len(set(widths[1:])) > 1
    ):
        return False
    whole = sum(_is_number(" ".join(row)) for row in rows[1:])
    if 2 * whole > len(rows) - 1:
        return False
    names_fit = widths[0] == widths[1] or (options.header and 1 < widths[0] == widths[1] - 1)
    columns = zip(*rows[1:], strict=True)
    return names_fit and any(all(map(_is_number, column)) for column in columns)


def _is_number(cell: str) -> bool:
    return read_cell(cell).form > Form.TRUTH


# --- Which dialect it is, where it is not plain CSV: the one by which every record can be read ----


@dataclass
class Look:
    """What reading a whole table by a dialect has shown."""

    dialect: CsvDialect
    header: list[str]  # the first record; empty if it cannot be read
    rows: int = 0  # the number of records, without the first
    # how many of them cannot be read, or have another number of fields than the header
    bad: int = 0
    first: Record | None = None  # the first of them


def is_bad(record: Record, width: int) -> bool:
    """Whether a record is broken, or has not so many fields; an empty line may be of no record."""
    return record.is_broken or (bool(record.fields) and len(record.fields) != width)


def others(of: CsvDialect, text: str) -> list[CsvDialect]:
    """Return the dialects that may be meant where plain CSV cannot read a record."""
    slashed = "\\" in text
    found = [replace(of, escape="\\")] if slashed and '"' in text else []
    found += [replace(of, blanks=True)] if '"' in text else []
    found += [replace(of, quote="", escape="\\")] if slashed else []
    found += [replace(of, quote="'")] if "'" in text else []
    found += [replace(of, quote="")] if '"' in text else []
    return found


def look(lines: Iterable[str], dialect: CsvDialect, *, every: bool) -> Look:
    """Read a table, up to the first record that cannot be read or, if asked for, every one."""
    records = Records(lines, dialect)
    seen = Look(dialect, [])
    width = 0
    for record in records:
        if not width and not record.is_broken and record.fields:
            seen.header = record.fields
            width = len(record.fields) + dialect.row_names
            continue
        seen.rows += bool(record.fields) or record.is_broken
        if is_bad(record, width):
            seen.bad += 1
            seen.first = seen.first or record
            if not every or not width:
                return seen
    return seen


def speaks_for(lines: Iterable[str], of: CsvDialect) -> bool:
    """Whether the characters of a file are what such a dialect writes, as far as they show it."""
    # Without quotes, a field has text after a quote that is closed, or one inside, and fewer fields
    # stand in quotes than lines have others. Backslashes without quotes stand before what must be
    # escaped, at least once before a delimiter, a line's end, another or the N of a missing cell,
    # which a path such as C:\new does not do.
    if of.quote == '"':
        return True
    between = re.escape(of.delimiter) + r"\r\n"
    start, end, within = f"(?<![^{between}])", f"(?![^{between}])", f'[^"{between}]'
    if of.quote:
        shows = f"{start}{of.quote}"
    elif of.escape:
        shows = rf"\\[\\{between}]|{start}\\N{end}"
    else:
        shows = f'{start}(?:"{within}*"{within}|{within}+"[^{between}])'
    quoted, known = f'{start}"{within}*"{end}', rf"""\\[\\{between}ntrbvfZN0'"]"""
    alone = whole = 0
    shown = False
    for number, line in enumerate(lines):
        shown = shown or bool(re.search(shows, line))
        if '"' in line:
            if not number and line.startswith('"'):
                return False  # the names of the columns stand in quotes
            found = len(re.findall(quoted, line))
            whole += found
            alone += bool(line.count('"') - 2 * found)
        if of.escape and "\\" in line and "\\" in re.sub(known, "", line):
            return False
    return shown and (not whole or whole < alone)
