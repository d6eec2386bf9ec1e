"""Results are written as a readable table on a terminal, and as CSV or JSON to a pipe or a file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from naively.messages import OBEYED, visible
from naively.tabular import Tabular, json_value

if TYPE_CHECKING:
    from rich.console import Console


class Format(StrEnum):
    """The format of results."""

    table = "table"
    csv = "csv"
    json = "json"


FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="Default: a table on a terminal, CSV in a pipe."),
]

DIGITS = 4  # after the point of a float in a table; CSV and JSON have all digits


def write(
    names: Sequence[str],
    rows: Iterable[Sequence[object]],
    form: Format | None,
    out: TextIO | None = None,
) -> None:
    """Write rows under names, to standard output by default.

    In CSV and JSON, text is as in the data, but for characters that a terminal would obey.
    """
    out = out or sys.stdout
    on_terminal = out.isatty()
    form = form or (Format.table if on_terminal else Format.csv)
    if form is Format.csv:
        every = chain([names], rows)
        _write_csv(map(_visible, every) if on_terminal else every, out)
    elif form is Format.json:
        for row in rows:
            record = {n: json_value(v) for n, v in zip(names, row, strict=True)}
            line = json.dumps(record, ensure_ascii=False, default=str)
            out.write(OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n")
    else:
        _write_table(names, rows, out)


def write_table(table: Tabular, form: Format | None, out: TextIO | None = None) -> None:
    """Write a result that is a table, as ``write`` does."""
    columns = table.to_dict()
    write([*columns], zip(*columns.values(), strict=True), form, out)


def _visible(row: Iterable[object]) -> list[object]:
    return [visible(value) if isinstance(value, str) else value for value in row]


def _write_csv(rows: Iterable[Sequence[object]], out: TextIO) -> None:
    plain, quoted = (
        csv.writer(out, lineterminator="\n", quoting=quoting)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    for row in rows:  # the module quotes a lone carriage return only from Python 3.13 on
        returns = any("\r" in str(value) for value in row)
        (quoted if returns else plain).writerow(row)


def console(out: TextIO, **settings: Any) -> Console:
    """Return a console of Rich that writes text as it is, without markup or names of emoji."""
    from rich.console import Console

    return Console(file=out, markup=False, emoji=False, highlight=False, **settings)


def _write_table(names: Sequence[str], rows: Iterable[Sequence[object]], out: TextIO) -> None:
    from rich.table import Table

    rows = list(rows)
    table = Table(box=None, pad_edge=False)
    for i, name in enumerate(names):
        numeric = all(isinstance(row[i], int | float) for row in rows)
        table.add_column(visible(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console(out).print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.{DIGITS}f}" if value == value else ""  # noqa: PLR0124
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else visible(str(value))
