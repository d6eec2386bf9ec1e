"""What each column of a table is taken for, before anything is learned."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from naively.counting.axis import Name, title
from naively.data.columns import LEVELS, Cells, Column, Kind, Reading, as_objects, missing_in
from naively.data.frames import Table, as_rows
from naively.data.reading import Forms, ReadAs, said_of_words, settled
from naively.data.stream import Stream, as_stream
from naively.doors import wing
from naively.frozen import Frozen
from naively.kernels.forms import Form
from naively.kernels.strings import Strings
from naively.options import FileOptions
from naively.schema.choose import SEQUENTIAL, EventModels, contents_given, truths_of
from naively.schema.settle import MANY, TEXT_OWN, TEXT_ROWS, reads_as_text
from naively.tabular import Tabular

EXAMPLES = 3
WHOLE = re.compile(r"-?[0-9]{1,15}")
LONGEST = 40  # characters of an example
OF_KIND: dict[Kind | None, str] = {
    "number": "number",
    "boolean": "truth",
    "time": "time",
    "string": "levels",
    "text": "text",
    None: "missing",
}


class ColumnOverview(Frozen, eq=True):
    """What one column is taken for.

    Parameters
    ----------
    name : str
        The column.
    content : {"number", "time", "clock", "truth", "levels", "text", "missing"}
        What it is taken for.
    cells : int
        Its cells that are not empty.
    missing : int
        Its empty cells.
    different : int or None
        How many different cells there are; None of more than 1,000.
    words : mapping of str to int
        How often each string came beside the numbers or times, while they are few.
    note : str
        How it is written, what is beside its numbers or times, and what looks odd.
    examples : tuple of str
        The first different cells, as they are written.
    """

    name: str
    content: str
    cells: int
    missing: int
    different: int | None
    words: Mapping[str, int]
    note: str
    examples: tuple[str, ...]


class Overview(Tabular, eq=True):
    """What the columns of a table are taken for, in the table's order."""

    columns: tuple[ColumnOverview, ...]
    notes: tuple[str, ...] = ()  # about the file

    def __getitem__(self, name: str) -> ColumnOverview:
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name: one row for each column of the table."""
        return {
            "column": [of.name for of in self.columns],
            "content": [of.content for of in self.columns],
            "cells": [of.cells for of in self.columns],
            "missing": [of.missing for of in self.columns],
            "different": [
                f"over {MANY:,}" if of.different is None else of.different for of in self.columns
            ],
            "examples": [" | ".join(of.examples) for of in self.columns],
            "note": [of.note for of in self.columns],
        }


def columns(
    table: Table | str | Path,
    event_models: EventModels = "auto",
    *,
    target: str | None = None,
    file: FileOptions | None = None,
) -> Overview:
    """Return what each column of a table is taken for, before anything is learned.

    Parameters
    ----------
    table : frame, mapping of columns, list of records, or the path of a file
        The table; see ``NaiveBayes.fit``.
    event_models : "auto", str or mapping
        As for ``NaiveBayes``: a mapping may say of a column that it is a "number", a "time", a
        "clock", a "truth", "levels" or a "text".
    target : str, optional
        The column of labels, which are taken as they are written.
    file : FileOptions, optional
        How a file is written, if it is not recognised.

    Returns
    -------
    Overview
        One line for each column.

    Raises
    ------
    ValueError
        If the table cannot be read; the message says where.

    Examples
    --------
    >>> import naively
    >>> print(naively.columns({"price": ["1,50", "NA", "2,25"], "day": ["3.1.2024", "", None]}))
    column  content  cells  missing  different  examples          note
    price   number       3        0          3  1,50 | NA | 2,25  decimal comma; 1 'NA'
    day     time         1        2          1  3.1.2024
    """
    if isinstance(table, str | Path):
        with wing("file")(table, labels=target, file=file or FileOptions()) as stream:
            found = _overview(stream.columns(), stream.names, event_models, target)
            return Overview(found, stream.notes)
    stream_of = as_stream(table)
    if isinstance(stream_of, Stream):
        return Overview(_overview(stream_of.columns(), stream_of.names, event_models, target))
    rows = as_rows(table)
    whole = {title(name): (rows.cells(name), rows.kind(name)) for name in rows.names}
    return Overview(_overview([whole], list(whole), event_models, target))


def _overview(
    batches: Iterable[dict[str, Column]],
    names: Sequence[str],
    event_models: EventModels,
    target: str | None,
) -> tuple[ColumnOverview, ...]:
    """Return what columns are taken for, of which the cells come in batches."""
    seen = {name: _Seen() for name in names}
    for batch in batches:
        for name, (cells, kind) in batch.items():
            seen[name].add(cells, kind)
    contents = dict(contents_given(event_models, names))
    if target is not None:
        contents[target] = "levels"
    forms = {name: of.forms for name, of in seen.items() if of.forms}
    readings = settled(forms, ReadAs(contents))
    return tuple(
        of.described(name, readings.get(name, LEVELS), is_target=name == target)
        for name, of in seen.items()
    )


@dataclass
class _Seen:
    """What was seen of a column."""

    forms: Forms | None = None
    kinds: set[Kind] = field(default_factory=set)
    cells: int = 0
    missing: int = 0
    levels: dict[str, None] = field(default_factory=dict)
    many: bool = False
    are_truths: bool = True

    def add(self, cells: Cells, kind: Kind | None) -> None:
        """Look at the cells of a batch."""
        if isinstance(cells, Strings):
            forms = Forms.of(cells)
            self.forms = forms if self.forms is None else self.forms + forms
            empty = int(forms.count[Form.EMPTY])
            if kind is not None:
                self.kinds.add("text" if kind == "text" else "string")
            there = _different(cells)
        else:
            lacks = missing_in(cells)
            empty = int(lacks.sum())
            if kind is not None:
                self.kinds.add(kind)
            there = map(str, as_objects(cells, kind)[~lacks])
            if kind == "number":
                self.are_truths &= "x" in truths_of(as_rows({"x": cells}), ["x"])
        self.cells += len(cells) - empty
        self.missing += empty
        if not self.many:
            self.levels |= dict.fromkeys(islice(there, 10 * MANY))
            self.many = len(self.levels) > MANY

    def described(self, name: Name, reading: Reading, *, is_target: bool) -> ColumnOverview:
        """Return what the column is taken for."""
        content = self._content(reading, is_target=is_target)
        read = content in ("number", "time", "clock", "truth") and self.forms is not None
        said = [reading.note]
        if read and self.forms is not None and (self.forms.words.many or self.forms.words.counts):
            said.append(said_of_words(self.forms))
        if not self.many and len(self.levels) == 1 and self.cells > 1:
            said.append(f"always {_shortened(next(iter(self.levels)))!r}")
        if content == "number" and not self.many and _are_in_sequence(self.levels, self.cells):
            said.append(SEQUENTIAL)
        own = not self.many and self.cells >= TEXT_ROWS
        if own and content in ("levels", "text") and len(self.levels) >= TEXT_OWN * self.cells:
            said.append("nearly every row has its own: an identifier?")
        words = self.forms.words.counts if read and self.forms is not None else {}
        return ColumnOverview(
            title(name),
            content,
            self.cells,
            self.missing,
            None if self.many else len(self.levels),
            words,
            "; ".join(filter(None, said)),
            tuple(map(_shortened, islice(self.levels, EXAMPLES))),
        )

    def _content(self, reading: Reading, *, is_target: bool) -> str:
        if not self.kinds:
            return "missing"
        if self.kinds != {"string"}:
            kind = min(self.kinds)
            return "truth" if kind == "number" and self.are_truths else OF_KIND[kind]
        if reading.content != "levels" or is_target:
            return reading.content
        return "text" if reads_as_text(self.levels, float(self.cells)) else "levels"


def _are_in_sequence(levels: Collection[str], cells: int) -> bool:
    """Whether a column holds whole numbers, none twice, of a range that they nearly fill."""
    if len(levels) < max(cells, TEXT_ROWS) or not all(map(WHOLE.fullmatch, levels)):
        return False
    numbers = list(map(int, levels))
    return max(numbers) - min(numbers) < 2 * cells


def _different(cells: Strings) -> Iterator[str]:
    """Yield the different strings of a column that are not empty, in order of first sight."""
    return (str(cell) for cell in cells.different[: 10 * MANY] if cell)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
