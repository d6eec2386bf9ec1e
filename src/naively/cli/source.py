"""DATA on the command line becomes rows and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively.messages import say
from naively.progress import with_progress

if TYPE_CHECKING:
    import numpy as np

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, Parquet or JSON lines (also .gz or .zst), mail, a folder with one folder of "
        "text files for each class, or - for standard input.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", "-t", help="The column that holds the labels.", show_default=False),
]
InputFormatOption = Annotated[
    str | None,
    typer.Option("--input-format", help="csv, parquet or jsonl, where the name does not tell."),
]

FOLDER_TARGET = "label"
LARGE = 1 << 26  # bytes, decompressed, of a table that is read some rows at a time
BATCH = 4_000  # rows


def read(
    data: str,
    input_format: str | None = None,
    columns: str | None = None,
    ignore: str | None = None,
    types: dict[str, Any] | None = None,
    labels: str | None = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Read columns by name, and say on stderr what had to be repaired."""
    from naively.data import files

    table = files.read(
        data,
        columns=names(columns),
        ignore=names(ignore) or (),
        types=types,
        format=input_format,
        labels=labels,
    )
    for note in table.notes:
        say(note)
    return table.values


def read_batches(
    data: str,
    input_format: str | None,
    columns: str | None,
    ignore: str | None,
    *,
    labels: str | None,
    whole: bool,
) -> Iterator[dict[str, np.ndarray[Any, Any]]]:
    """Read columns by name; those of a large file some rows at a time, unless wanted whole."""
    from pathlib import Path

    from naively.data import files
    from naively.mail.mailbox import is_mail

    path = Path(data)
    if whole or path.is_dir() or (input_format is None and is_mail(path)):
        yield read(data, input_format, columns, ignore, labels=labels)
        return
    said: set[str] = set()
    batches = files.read_batches(
        data,
        BATCH,
        columns=names(columns),
        ignore=names(ignore) or (),
        format=input_format,
        labels=labels,
        large=LARGE,
    )
    for batch in with_progress(batches, "rows", len, lambda batch: batch.total):
        for note in batch.notes:
            if note not in said:
                say(note)
                said.add(note)
        yield batch.values


def names(listed: str | None) -> list[str] | None:
    """Split a list of names at commas."""
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def find_target(columns: Sequence[str], target: str | None, data: str) -> str:
    """Return the target column, or say which columns there are."""
    from naively.data.rows import missing_column

    if target is None:
        raise ValueError(
            f"Which column of {data} holds the labels? Say --target COLUMN; "
            f"the columns are {', '.join(map(repr, columns))}."
        )
    if target not in columns:
        raise ValueError(f"{data}: {missing_column(target, list(columns), 'target column')}")
    return target


def folder_target(data: str) -> str | None:
    """Return the name of the labels if DATA is a folder of texts."""
    from pathlib import Path

    return FOLDER_TARGET if Path(data).is_dir() else None


def held_out(rows: int, part: float, seed: int) -> np.ndarray[Any, Any]:
    """Mark the rows that a random split sets aside; the same for the same arguments.

    ``part`` is a share of the rows where it is below 1, and else how many they are.
    """
    import numpy as np

    chosen = np.zeros(rows, np.bool_)
    size = round(rows * part) if part < 1 else int(part)
    chosen[np.random.default_rng(seed).permutation(rows)[:size]] = True
    return chosen
