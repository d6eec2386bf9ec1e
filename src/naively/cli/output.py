"""Results: a readable table on a terminal, clean CSV or JSON in a pipe."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer


class Format(StrEnum):
    """How results are written."""

    table = "table"
    csv = "csv"
    json = "json"


FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="Default: a table on a terminal, CSV in a pipe."),
]

DIGITS = 4  # of a float in a table; CSV and JSON have all of them


def write(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    form: Format | None,
    title: str | None = None,
) -> None:
    """Write rows under names to standard output."""
    form = form or (Format.table if sys.stdout.isatty() else Format.csv)
    if form is Format.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    elif form is Format.json:
        for row in rows:
            record = {n: _json(v) for n, v in zip(names, row, strict=True)}
            sys.stdout.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")
    else:
        _write_table(names, rows, title)


def _json(value: Any) -> Any:
    """Return what JSON can hold: it has no infinity, which is a string then, and no NaN."""
    if isinstance(value, list | tuple):
        return [_json(part) for part in value]
    value = value.item() if hasattr(value, "item") else value  # NumPy's
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _write_table(names: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None) -> None:
    from rich.console import Console
    from rich.table import Table

    rows = list(rows)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for i, name in enumerate(names):
        numeric = all(isinstance(row[i], int | float) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    Console().print(table)


def _cell(value: Any) -> str:
    from rich.markup import escape

    if isinstance(value, float):
        return f"{value:.{DIGITS}f}" if value == value else ""  # noqa: PLR0124
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else escape(str(value))
