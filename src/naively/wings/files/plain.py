"""A small file of plain CSV is split here: DuckDB takes longer to import than such a file to read.

What is not as plain as can be, with a quote or a row that is too short, is left to DuckDB and what
mends files for it; so all that can be wrong with a file is said in one place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from naively.data.columns import Column
from naively.data.stream import Stream, in_pieces
from naively.kernels.strings import pack_strings
from naively.wings.files.copies import HEAD_LINES, may_be_by_blanks
from naively.wings.files.dialects import csv_dialect
from naively.wings.files.names import ColumnNames, column_names
from naively.wings.files.source import Asked, Source, line_of

MOST = 1 << 16  # bytes; of larger files DuckDB reads more in the time that its import takes


def plain_rows(source: Source) -> tuple[ColumnNames, list[list[str]]] | None:
    """Return the names of the columns of a small file and its rows; None if it is not plain CSV."""
    made_here = source.written_as is not None or source.copy_of or source.compressed
    if source.format != "csv" or made_here or not 0 < source.survey.size <= MOST:
        return None
    try:
        text = source.path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
    end = "\r\n" if "\r\n" in text else "\n" if "\n" in text else "\r"
    lines = text.removesuffix(end).split(end)
    is_odd = '"' in text or text[0] == "\ufeff" or any("\r" in of or "\n" in of for of in lines)
    if is_odd or not all(map(str.strip, lines)):
        return None
    head = [f"{line}\n" for line in lines[:HEAD_LINES]]
    asked = source.options
    by_blanks = may_be_by_blanks(source)
    dialect, first = csv_dialect(head, asked, source.delimiter, by_blanks=by_blanks)
    if not first or not dialect.is_plain or asked.left_out_to:
        return None
    rows = [line.split(dialect.delimiter) for line in lines]
    header = column_names(source, first)
    if header.spaced or {len(row) for row in rows} != {len(header.names)}:
        return None
    return header, rows[source.named :]


class PlainTable(Stream):
    """A small file of plain CSV, as a table."""

    def __init__(
        self, source: Source, header: ColumnNames, rows: list[list[str]], asked: Asked
    ) -> None:
        choose, wanted, labels, self._most, _ = asked
        chosen = choose(header.names)
        self._source, self._header = source, header
        self._cells = dict(zip(header.names, zip(*rows, strict=True), strict=True)) if rows else {}
        super().__init__(
            [name for name in header.names if name in chosen],
            [name for name in chosen if name != labels],
            {name: wanted[name] for name in chosen if name in wanted and name != labels},
        )
        self.total = len(rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence about each thing that is not of the kind expected."""
        return (*self._header.notes(self._source), *super().notes)

    def columns(self) -> Iterator[dict[str, Column]]:
        if self.total and self.names:
            yield from in_pieces(
                {name: _column(self._cells[name]) for name in self.names}, self._most
            )

    def where(self, name: str, row: int) -> tuple[str, str]:
        line = line_of(self._source, row + 1 + self._source.named)
        return f'Column "{name}" of {self._source.name}', f"line {line}"


def _column(cells: Sequence[str]) -> Column:
    """Return cells as a column of strings; an empty one is missing."""
    found = pack_strings([cell or None for cell in cells])
    assert found is not None
    is_missing = found.missing is not None and bool(np.all(found.missing))
    return found, None if is_missing else "string"
