"""Which dialect of CSV a text is written in, and the names of its columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, takewhile
from typing import NamedTuple

from naively.data.reading import SURE
from naively.kernels.dispatch import Splitter
from naively.kernels.forms import Form, read_cell
from naively.kernels.splitting import Dialect
from naively.options import FileOptions
from naively.wings.files.formats import NAMED, numbered
from naively.wings.files.source import Source

DELIMITERS = ",\t;|"
SIGNS = "#%|"  # at the begin of lines above the header that are no rows
ROW_NAME = "row name"
MOST_TITLES = 20  # lines

# --- Which dialect it is, by the first lines -----------------------------------------------------


def csv_dialect(
    head: Sequence[str], options: FileOptions, said: str = "", *, by_blanks: bool = True
) -> tuple[Dialect, list[list[str]]]:
    """Return the dialect that options and the first lines of a file say, and their rows."""
    quote = '"' if options.quote is None else options.quote
    escape = "" if options.escape in {None, quote} else options.escape or ""
    of = Dialect("", quote, escape, options.comment or "")
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


def first_rows(lines: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """Return the rows of the first lines of a file; a broken quote ends them."""
    splitter = Splitter(dialect, ragged=True)
    splitter.split("".join(lines).encode("utf-8", "surrogatepass"), last=True)
    return splitter.records()


def _delimiter(lines: Sequence[str], dialect: Dialect) -> str:
    """Return the delimiter under which most rows have as many fields as the header."""

    def merit(delimiter: str) -> tuple[bool, float, int]:
        widths = [len(row) for row in first_rows(lines, replace(dialect, delimiter=delimiter))]
        width = widths[0] if widths else 0
        return width > 1, widths.count(width) / max(len(widths), 1), width

    return max(DELIMITERS, key=merit)


def titles(head: Sequence[str], options: FileOptions, said: str, *, by_blanks: bool) -> int:
    """Return how many of the first lines are titles, which stand above the header of a table."""
    # A title fills at most half as many fields as the table has. The header has a name for each
    # column, and no number; one column holds numbers, or there are three columns or more.
    _, rows = csv_dialect(head, options, said, by_blanks=by_blanks)
    widths = {len(row) for row in rows}
    if not options.header or not rows or (len(widths) == 1 and min(widths) > 1 and all(rows[0])):
        return 0
    for above in range(1, min(MOST_TITLES, len(head) - 2) + 1):
        if not head[above].strip():
            continue
        dialect, rows = csv_dialect(
            head[above : above + MOST_TITLES], options, said, by_blanks=by_blanks
        )
        if dialect.comment != (options.comment or "") or dialect.row_names or len(rows) < 2:
            continue
        width = len(rows[0])
        fits = [row for row in rows if len(row) == width]
        are_names = all(name.strip() and not _is_number(name) for name in rows[0])
        if width < 2 or not are_names or len(rows[1]) != width or 3 * len(fits) < 2 * len(rows):
            continue
        columns = zip(*fits[1:], strict=True)
        has_numbers = any(all(map(_is_number, filter(None, of))) and any(of) for of in columns)
        over = first_rows(head[:above], dialect)
        filled = [sum(map(bool, map(str.strip, row))) for row in over]
        if over and max(filled) <= width / 2 and (has_numbers or (width > 2 and max(filled) == 1)):
            return above
    return 0


def _above(
    head: Sequence[str], dialect: Dialect, given: str, options: FileOptions, by_blanks: bool
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
        if len(next(iter(first_rows([line], of)), [])) not in {width, width - ends}
        or (words and line.startswith(words))
    ]
    return unlike[-1] + 1 if unlike else 0


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


# --- Which dialect it is, where it is not plain CSV ----------------------------------------------


def others(of: Dialect, text: str) -> list[Dialect]:
    """Return the dialects that may be meant where plain CSV cannot read a record."""
    slashed = "\\" in text
    found = [replace(of, escape="\\")] if slashed and '"' in text else []
    found += [replace(of, blanks=True)] if '"' in text else []
    found += [replace(of, quote="", escape="\\")] if slashed else []
    found += [replace(of, quote="'")] if "'" in text else []
    found += [replace(of, quote="")] if '"' in text else []
    return found


def speaks_for(lines: Iterable[str], of: Dialect) -> bool:
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


# --- The names of the columns, and what is odd about them ----------------------------------------


TEXT = 4  # words: a name hardly has so many
FEW_LINES = 3  # of a table of one column, up to which chance may put one sign into each


class ColumnNames(NamedTuple):
    """The names of the columns, each another one."""

    names: list[str]
    spaced: bool = False  # whether a blank follows each delimiter, which is left out
    repeated: tuple[str, ...] = ()  # names that more than one column has
    looks_like_data: bool = False  # whether the line that is taken for the names looks like a row
    unnamed: tuple[int, ...] = ()  # the columns to which the header gives no name, counted from 1
    undivided: str = ""  # what each row has as often, in a table of one column

    def notes(self, source: Source, said: Sequence[str] = ()) -> Iterator[str]:
        """Yield a sentence about each thing that is odd, and what is said of the text."""
        if self.looks_like_data and source.copy_of not in NAMED:
            yield (
                f"Line 1 of {source.name} is taken for the names of the columns, but looks like "
                "a row: if it is one, say header=False."
            )
        yield from (*source.notes, *said)
        if self.spaced:
            yield f"The blank after each delimiter of {source.name} was left out."
        if self.repeated:
            names = ", ".join(f'"{name}"' for name in self.repeated)
            yield (
                f"{source.name} has more than one column named {names}: the second is called "
                f'"{self.repeated[0]} (2)", and so on.'
            )
        if self.unnamed:
            yield (
                f"The header of {source.name} has no name for {len(self.unnamed):,} of its "
                f'columns: one is called "column{self.unnamed[0]}".'
            )
        if self.undivided:
            yield (
                f"{source.name} has one column, in whose rows {self.undivided!r} is as often: if "
                f"it stands between fields, say delimiter='{self.undivided}', and "
                "take out what is above the header."
            )


def column_names(
    source: Source, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> ColumnNames:
    """Return the names of the columns of CSV, by its first record and by its first rows."""
    asked = source.options
    if asked.header:
        names = [name or f"column{i}" for i, name in enumerate(header, 1)]
    else:
        names = numbered(len(header))
    after = [cell for row in rows for cell in row[1:]]  # the delimiters
    spaced = bool(after) and all(cell.startswith(" ") for cell in after)
    names = [name.lstrip(" ") for name in names] if spaced else names
    repeated = tuple(name for name, times in Counter(names).items() if times > 1)
    rows = [header, *rows[1:]]
    looks_like_data = asked.header and _looks_like_data(rows)
    unnamed = tuple(i for i, name in enumerate(header, 1) if asked.header and not name)
    undivided = _undivided(rows) if len(names) == 1 and not source.copy_of else ""
    return ColumnNames(_told_apart(names), spaced, repeated, looks_like_data, unnamed, undivided)


def _told_apart(names: Sequence[str]) -> list[str]:
    """Return names of which those that came before have a number behind them."""
    taken, seen, found = set(names), set[str](), []
    for name in names:
        own = name
        if name in seen:
            own = next(each for i in count(2) if (each := f"{name} ({i})") not in taken)
        taken.add(own)
        seen.add(name)
        found.append(own)
    return found


def _undivided(rows: Sequence[Sequence[str]]) -> str:
    """Return what may stand between the fields of a table that has one column, if anything does."""
    lines = [row[0] for row in rows if row and row[0].strip()]
    for sign in ";|\t^~:" if len(lines) > FEW_LINES else "":
        counts = {line.count(sign) for line in lines[1:]}
        header = lines[0].count(sign)
        if len(counts) == 1 and 0 not in counts and (header in counts or sign in DELIMITERS):
            return sign
    return ""


def _looks_like_data(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has no name above numbers, but what the rows below have."""
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    alike = False
    for name, *every in zip(rows[0], *below, strict=True):
        cells = [cell for cell in every if cell.strip()]
        forms = [read_cell(cell).form for cell in cells]
        if not forms or sum(form > Form.TRUTH for form in forms) < SURE * len(forms):
            words = [len(text.split()) for text in (name, *cells)]
            is_text = min(words[0], sum(words) / len(words)) >= TEXT and not name.endswith("?")
            alike |= is_text or (name in cells and rows[0] not in below)
            continue
        if read_cell(name).form <= Form.TRUTH:
            return False
        alike = True
    return alike
