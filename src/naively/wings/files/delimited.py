"""Text tables, which are read once to find the dialect and what is wrong, and again for rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from naively.data.columns import Column
from naively.data.stream import ROWS, Stream
from naively.kernels.dispatch import Splitter
from naively.kernels.splitting import BROKEN, LONG, Dialect, Joined
from naively.kernels.strings import Strings
from naively.options import FileOptions
from naively.wings.files import formats
from naively.wings.files.dialects import (
    ROW_NAME,
    column_names,
    csv_dialect,
    first_rows,
    others,
    speaks_for,
    titles,
)
from naively.wings.files.source import LIMIT, SHORT, Asked, Source, plain_extension

SAID_DELIMITER = re.compile(r"sep=([,;|:^~#\t])(\r\n|[\r\n]|$)", re.IGNORECASE)  # as Excel writes
FEW = 0.1  # of the rows, which are bad ones; if there are more, it may be another dialect
LONGEST_NAME = 1 << 17  # characters of the name of a column
SMALL_BATCH = ROWS // 4  # rows, where memory is scarce
SCARCE = 1 << 28  # bytes
END = (b"", 0)  # of the pieces of a text
BROKEN_QUOTE = (
    'has a quote (") that is never closed or has text after it: close it, and write a quote inside '
    'a field as "", or say quote= or escape='
)
WRONG_WIDTH = (
    "has a number of fields ({found}) that is not the header's ({expected}): add or remove fields, "
    'put those that hold the delimiter between quotes ("), or leave such rows out by '
    "bad_rows=skip=FILE"
)
UNREADABLE = (
    'The column names of {} are too long, or have a quote (") that is never closed: check that it '
    "is a CSV file with a header."
)
TOTAL = re.compile(
    r"((grand|sub|overall)[ -]?)?totals?|sum|summe|gesamt(summe)?|insgesamt|somme|suma|totale",
    re.IGNORECASE,
)


class Bad(NamedTuple):
    """A record that cannot be read, or the first line of one."""

    line: int  # on which it begins
    fields: int  # or BROKEN, or LONG
    text: bytes


@dataclass
class Look:
    """What reading a whole table by a dialect has shown."""

    dialect: Dialect
    header: list[str]  # the first record; empty if it cannot be read
    rows: int = 0
    comments: int = 0
    strays: int = 0  # bytes of the text that have no character
    tail: bytes = b""  # of the text
    row_line: int = 0  # of the last row
    bad: int = 0
    first: Bad | None = None  # the first record that is bad


class DelimitedTable(Stream):
    """A text table in a file."""

    def __init__(self, source: Source, asked: Asked) -> None:
        choose, _, wanted, labels, rows, memory = asked
        try:
            self._look = seen = _without_total(source, _chosen(source))
        except UnicodeDecodeError:
            source = source.decoded()
            self._look = seen = _without_total(source, _chosen(source))
        names = _named(source, seen)
        head = [] if source.copy_of else first_rows(source.head(), seen.dialect)
        self._header = header = column_names(source, names, head)
        self._dialect = replace(seen.dialect, spaced=header.spaced)
        self._source, self._width = source, len(header.names)
        chosen = set(choose(header.names))
        self._places = [i for i, name in enumerate(header.names) if name in chosen]
        self._most = rows if memory is None or memory >= SCARCE else min(rows, SMALL_BATCH)
        chosen_names = [header.names[i] for i in self._places]
        super().__init__(
            chosen_names,
            [name for name in chosen_names if name != labels],
            {name: wanted[name] for name in chosen_names if name in wanted and name != labels},
        )
        self.contents = source.contents
        self.total = seen.rows
        self._said = (*source.says_encoding(seen.strays), *_said_of(source, seen))
        if source.options.left_out_to and seen.first is not None:
            look(source, seen.dialect, every=True, leaves_out=True)
            self._said += (said_left_out(source, seen.bad, seen.first.line),)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each thing that was repaired, or is not of the kind expected."""
        return (*self._header.notes(self._source, self._said), *super().notes)

    def columns(self) -> Iterator[dict[str, Column]]:
        if not self.names:
            return
        splitter = self._splitter(self._places, self._most)
        for text, _ in chain(self._source.pieces(), [END]):
            more = text
            while splitter.split(more, not text):
                yield self._taken(splitter)
                more = b""
            splitter.take_bad()
        rest = self._taken(splitter)
        if len(rest[self.names[0]][0]):
            yield rest

    def _taken(self, splitter: Splitter) -> dict[str, Column]:
        return dict(zip(self.names, map(_column, splitter.take()), strict=True))

    def _splitter(self, kept: list[int], most: int) -> Splitter:
        """Return what reads the rows, and keeps some of their fields."""
        header = self._source.options.header and not self._source.copy_of
        return Splitter(self._dialect, header=header, width=self._width, kept=kept, most=most)

    def where(self, name: str, row: int) -> tuple[str, str]:
        title = f'Column "{name}" of {self._source.name}'
        if self._source.copy_of:
            return title, f"row {row + 1}"
        splitter = self._splitter([], row + 1)
        for text, _ in chain(self._source.pieces(), [END]):
            if splitter.split(text, not text):
                break
        return title, f"line {splitter.row_line}"


def _column(joined: Joined) -> Column:
    """Return cells as a column of strings; an empty one is missing."""
    ends, utf8 = joined
    is_empty = ends[1:] == ends[:-1]
    missing = is_empty if is_empty.any() else None
    return Strings(ends, utf8, missing), None if bool(np.all(is_empty)) else "string"


# --- Which dialect it is: the one by which every record can be read ------------------------------


def look(source: Source, dialect: Dialect, *, every: bool, leaves_out: bool = False) -> Look:
    """Read a table, up to the first record that cannot be read or, if asked for, every one."""
    header = source.options.header and not source.copy_of
    splitter = Splitter(dialect, header=header, stops=not every)
    seen = Look(dialect, [])
    for text, strays in chain(source.pieces(), [END]):
        splitter.split(text, not text)
        seen.strays += strays
        seen.tail = (seen.tail + text)[-SHORT:]
        for bad in map(Bad._make, splitter.take_bad()):
            seen.first = seen.first or bad
            seen.bad += 1
            if bad.fields == LONG:
                raise ValueError(
                    f"Line {bad.line} of {source.name} is longer than {LIMIT}: split it."
                )
            if leaves_out and source.left_out is not None:
                source.left_out.write(bad.text.rstrip(b"\r\n") + b"\n")
        seen.header = seen.header or next(iter(splitter.records()), [])
        if seen.first is not None and not (every and seen.header):
            break
    seen.rows, seen.comments = splitter.rows, splitter.comments
    seen.row_line = splitter.row_line
    return seen


def _chosen(source: Source) -> Look:
    """Return the dialect by which a table can be read, or in which the fewest rows cannot be."""
    if source.copy_of:
        return look(source, Dialect(), every=False)
    options, head = source.options, source.head()
    by_blanks = plain_extension(Path(source.name)) not in {".csv", ".tsv"}
    of = _dialect(head, options, by_blanks=by_blanks)
    seen = look(source, of, every=False)
    if seen.first is not None and of.delimiter == " " and options.delimiter is None:
        of = _dialect(head, options)  # blanks do not split every line
        seen = look(source, of, every=False)
    if seen.first is not None and options.left_out_to:
        seen = look(source, of, every=True)
        if seen.header and seen.bad <= FEW * (seen.rows + seen.bad):
            return seen
    if seen.first is None:
        return seen
    tried = [seen]
    if options.quote is None and options.escape is None:
        tried += _tried(source, head, seen)
    if tried[-1].first is None:
        return tried[-1]
    if not options.left_out_to:
        raise _fault(source, seen)
    every = [look(source, each.dialect, every=True) for each in tried]
    best = min(every, key=lambda each: each.bad if each.header else float("inf"))
    if not best.header:
        raise _fault(source, seen)
    return best


def _dialect(head: Sequence[str], options: FileOptions, *, by_blanks: bool = False) -> Dialect:
    """Return the dialect that the first lines of a source say, the first of which may be sep=;."""
    said = SAID_DELIMITER.match(head[0]) if head else None
    skip, delimiter = (1, said[1]) if said else (0, "")
    above = 0
    if options.skip is not None:
        skip = options.skip
    else:
        above = titles(head[skip:], options, delimiter, by_blanks=by_blanks)
        skip += above
    found, _ = csv_dialect(head[skip:], options, delimiter, by_blanks=by_blanks)
    comments = found.above + skip if found.above else 0
    return replace(found, skip=skip, titles=above, above=comments)


def _tried(source: Source, head: Sequence[str], seen: Look) -> Iterator[Look]:
    """Yield what the dialects read that a text may be of, up to one that reads every row."""
    assert seen.first is not None
    of, options = seen.dialect, source.options
    for other in others(of, "".join(head) + seen.first.text.decode("utf-8", "replace")):
        asked = replace(options, quote=other.quote, escape=other.escape)
        so = _dialect(head, asked)
        so = replace(so, comment=of.comment, above=of.above, blanks=other.blanks)
        if not speaks_for(source.lines(), so):
            continue
        found = look(source, so, every=False)
        if len(found.header) == 1 and options.delimiter is None:
            continue  # by a delimiter that it does not have any file is a table of one column
        yield found
        if found.first is None:
            return


def _without_total(source: Source, seen: Look) -> Look:
    """Return what is seen of a table without the total below it, which is left out or an error."""
    if seen.first is not None or len(seen.header) < 2 or source.copy_of:
        return seen
    lines = [line for line in seen.tail.decode("utf-8", "ignore").splitlines() if line.strip()]
    own = replace(seen.dialect, skip=0, above=0)
    *above, last = [next(iter(first_rows([line], own)), [""]) for line in lines]
    total = last[0].strip(" :")
    if (
        len(last) != len(seen.header)
        or not TOTAL.fullmatch(total)
        or last[0] in {x[0] for x in above}
    ):
        return seen
    if not source.options.left_out_to:
        raise ValueError(
            f'Line {seen.row_line} of {source.name} is a total ("{total}") below the table, and no '
            "row: delete it, or leave it out by bad_rows=skip=FILE."
        )
    return look(source, replace(seen.dialect, below=seen.row_line), every=True)


def _named(source: Source, seen: Look) -> list[str]:
    """Return the first record of a table, which is as wide as its rows."""
    if source.copy_of:
        return list(source.names)
    if not seen.header:
        raise formats.EmptyFileError(f"{source.name} has no rows: there is nothing to read in it.")
    if source.options.header and max(map(len, seen.header)) > LONGEST_NAME:
        raise ValueError(UNREADABLE.format(source.name))
    return [ROW_NAME] * seen.dialect.row_names + seen.header


# --- What is said of it --------------------------------------------------------------------------


def _fault(source: Source, seen: Look) -> ValueError:
    """Return the error for a record that cannot be read."""
    assert seen.first is not None
    if not seen.header and source.options.header:
        return ValueError(UNREADABLE.format(source.name))
    width = len(seen.header) + seen.dialect.row_names
    is_broken = seen.first.fields == BROKEN
    wrong_width = WRONG_WIDTH.format(found=seen.first.fields, expected=width)
    fault = BROKEN_QUOTE if is_broken else wrong_width
    return ValueError(f"Line {seen.first.line} of {source.name} {fault}.")


def _said_of(source: Source, seen: Look) -> Iterator[str]:
    """Yield a sentence about each thing of a dialect that was not said."""
    name, dialect, options = source.name, seen.dialect, source.options
    if dialect.titles:
        lines, were = ("1 line", "was") if dialect.titles == 1 else (
            f"{dialect.titles} lines", "were"
        )  # fmt: skip
        yield (
            f"{lines} above the names of the columns of {name} {were} left out: if that is wrong, "
            "say skip=0."
        )
    if dialect.comment and options.comment is None:
        lines, were = ("1 line", "begins {} and was") if seen.comments == 1 else (
            f"{seen.comments:,} lines", "begin {} and were"
        )  # fmt: skip
        sign = f"with {dialect.comment}"
        yield (
            f"{lines} of {name} {were.format(sign)} left out: if that is wrong, say comment='none'."
        )
    if dialect.delimiter == " " and options.delimiter is None:
        yield f"{name} was read with blanks between its fields (delimiter='blank')."
    said = [f"quote={dialect.quote or 'none'!r}"] * (dialect.quote != '"')
    said += [f"escape={dialect.escape!r}"] * (dialect.escape != "")
    if said and options.quote is options.escape is None:
        yield f"{name} is not plain CSV: it was read with {' '.join(said)}."
    if dialect.blanks:
        yield f"The blanks after the delimiters of {name} were left out."
    if dialect.row_names:
        yield (
            f"The header of {name} has one name fewer than its rows have fields: the first column "
            f'is called "{ROW_NAME}".'
        )


def said_left_out(source: Source, count: int, line: int) -> str:
    """Return the sentence about rows that were left out, the first on a line."""
    rows_were = "1 row of {} was" if count == 1 else f"{count:,} rows of {{}} were"
    which = "it is" if count == 1 else "the first is"
    return (
        f"{rows_were.format(source.name)} left out and written to {source.options.left_out_to}; "
        f"{which} line {line:,}."
    )
