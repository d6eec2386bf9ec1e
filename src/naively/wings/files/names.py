"""The names of the columns of CSV, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from naively.data.reading import SURE
from naively.kernels.forms import Form, read_cell
from naively.wings.files.dialects import DELIMITERS
from naively.wings.files.formats import NAMED, check_width, numbered
from naively.wings.files.source import Source

TEXT = 4  # words, of which a name hardly has so many
FEW_LINES = 3  # of a table of one column, up to which chance may put one sign into each


class ColumnNames(NamedTuple):
    """The names of the columns, each another one."""

    names: list[str]
    spaced: bool = False  # whether a blank follows each delimiter, which is left out
    repeated: tuple[str, ...] = ()  # names that more than one column has
    looks_like_data: bool = False  # whether the line that is taken for the names looks like a row
    unnamed: tuple[int, ...] = ()  # the columns to which the header gives no name, counted from 1
    undivided: str = ""  # what each row has as often, in a table of one column

    def notes(self, source: Source) -> Iterator[str]:
        """Yield a sentence about each thing that is odd."""
        if self.looks_like_data and source.copy_of not in NAMED:
            yield (
                f"Line 1 of {source.name} is taken for the names of the columns, but looks like "
                "a row: if it is one, say header=False."
            )
        yield from source.notes
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


UNNAMED = ColumnNames([])  # of what is not CSV


def column_names(source: Source, rows: Sequence[Sequence[str]]) -> ColumnNames:
    """Return the names of the columns of CSV, by its first rows."""
    asked = source.options
    header = rows[0] if rows and source.named else source.names
    if asked.header:
        names = [name or f"column{i}" for i, name in enumerate(header, 1)]
    else:
        names = numbered(len(header or rows[0]))
    if asked.header and not source.named:
        rows = [[*header], *rows]
    check_width(len(names), source.name)
    after = [cell for row in rows for cell in row[1:]]  # the delimiters
    spaced = not source.copy_of and bool(after) and all(cell.startswith(" ") for cell in after)
    names = [name.lstrip(" ") for name in names] if spaced else names
    repeated = tuple(name for name, times in Counter(names).items() if times > 1)
    looks_like_data = asked.header and _looks_like_data(rows)
    unnamed = tuple(i for i, name in enumerate(header or (), 1) if asked.header and not name)
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
