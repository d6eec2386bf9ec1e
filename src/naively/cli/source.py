"""DATA on the command line becomes rows and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively.messages import say
from naively.progress import with_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from naively.counting.labels import LabelArray
    from naively.data.rows import ColumnRows, Rows
    from naively.data.stream import Stream
    from naively.model.model import Model

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

MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        help="About how much memory to take, such as 400MB or 2GB: fewer rows are held at a time.",
        show_default=False,
    ),
]

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
LEAST = 300 * 10**6  # bytes that can be asked for
OWN = 200 * 10**6  # of them, about what Python, the libraries and a model take
FOLDER_TARGET = "label"


@dataclass(frozen=True)
class Data:
    """DATA, and what of it is read.

    Parameters
    ----------
    path : str
        A file, a folder, or "-", standard input.
    format : str, optional
        "csv", "parquet" or "jsonl", where the name does not tell.
    columns : sequence of str, optional
        The columns to read; by default all.
    ignore : sequence of str
        Columns that are not read.
    labels : str, optional
        The column that holds labels, which are read as they are written.
    memory : str, optional
        About how much memory to take.
    """

    path: str
    format: str | None = None
    columns: Sequence[str] | None = None
    ignore: Sequence[str] = ()
    labels: str | None = None
    memory: str | None = None

    def read(self, types: Mapping[str, str] | None = None) -> ColumnRows:
        """Return all rows, of these types where they are given, and say what was repaired."""
        from naively.data import files

        table = files.read(self.path, types=types, **self._options)
        for note in table.notes:
            say(note)
        return table.rows

    @contextmanager
    def opened(self, types: Mapping[str, str] | None = None) -> Iterator[Stream]:
        """Open the table, whose rows are read in batches; what was repaired is said at the end."""
        from naively.data import files

        with files.opened(self.path, types=types, **self._options) as table:
            table.watch = lambda batches: with_progress(batches, "rows", len, table.total)
            yield table
            for note in table.notes:
                say(note)

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "columns": self.columns,
            "ignore": self.ignore,
            "format": self.format,
            "labels": self.labels,
            "memory": None if self.memory is None else size_of(self.memory) - OWN,
        }


def size_of(limit: str) -> int:
    """Return --memory-limit in bytes.

    Examples
    --------
    >>> size_of("1.5 GB")
    1500000000
    """
    units = {unit.lower(): size for unit, size in UNITS.items()}
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", limit.lower())
    if written is None or written[2] not in units:
        raise ValueError(f"--memory-limit must be a size such as 400MB or 2GB, got {limit!r}.")
    size = int(float(written[1]) * units[written[2]])
    if size < LEAST:
        raise ValueError(
            f"--memory-limit must be at least {LEAST // 10**6}MB, most of which Python and its "
            f"libraries take; got {limit!r}."
        )
    return size


def types_for(model: Model, target: str | None) -> dict[str, str]:
    """Return the types that the columns of DATA have for a model, its target among them."""
    types: dict[str, str] = {
        str(name): "string" if kind == "text" else kind for name, kind in model.schema.kinds.items()
    }
    if target is not None and all(isinstance(label, str) for label in model.classes.tolist()):
        types[target] = "string"
    return types


def known_to(model: Model, rows: Rows, target: str | None) -> Rows:
    """Return the rows without the columns that a model has not learned, unless it knows none."""
    learned = set(map(str, model.schema.order))
    rest = [name for name in rows.names if name != target]
    return rows.select([name for name in rest if name in learned] or rest)


def rows_for(
    model: Model,
    data: str,
    input_format: str | None,
    target: str | None,
    memory: str | None = None,
) -> tuple[Rows, ColumnRows]:
    """Return the rows of DATA as a model expects them, and all columns that were read.

    The target is read as labels are; it is not among the rows.
    """
    table = Data(data, input_format, labels=target, memory=memory).read(types_for(model, target))
    return known_to(model, table, target), table


def labelled_rows_for(
    model: Model,
    data: str,
    input_format: str | None,
    target: str | None,
    memory: str | None = None,
) -> tuple[Rows, LabelArray]:
    """Return the rows of DATA as a model expects them, and their labels of shape (rows,)."""
    rows, table = rows_for(model, data, input_format, target, memory)
    return rows, labels_of(model, table, target, data)


def labels_of(model: Model, table: Rows, target: str | None, data: str) -> LabelArray:
    """Return the labels of a table as a model has them, of shape (rows,)."""
    from naively.counting.labels import as_classes

    labels = table.values(find_target(list(map(str, table.names)), target, data))
    return as_classes(labels, model.classes)


def names(listed: str | None) -> list[str] | None:
    """Split a list of names at commas."""
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def find_target(columns: Sequence[str], target: str | None, data: str) -> str:
    """Return the target column, or raise a ValueError that says which columns there are."""
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
    """Return the name of the column of labels if DATA is a folder of texts."""
    from pathlib import Path

    return FOLDER_TARGET if Path(data).is_dir() else None


def set_aside(provenance: Mapping[str, Any], rows: int) -> NDArray[np.bool_] | None:
    """Mark the rows that were held out of the file that a model was trained on.

    None: none were, or this file has another number of rows.
    """
    part = provenance.get("hold_out", 0.0)
    if not part or rows != provenance.get("rows"):
        return None
    return held_out(rows, part, provenance.get("seed", 0))


def held_out(rows: int, part: float, seed: int) -> NDArray[np.bool_]:
    """Mark the rows that a random split holds out; the same for the same arguments.

    Parameters
    ----------
    rows : int
        How many rows there are.
    part : float
        A share of the rows if it is below 1, else how many are held out.
    seed : int
        The seed of the random choice.

    Returns
    -------
    chosen : ndarray of bool of shape (rows,)
        Whether each row is held out.
    """
    import numpy as np

    chosen = np.zeros(rows, np.bool_)
    size = round(rows * part) if part < 1 else int(part)
    chosen[np.random.default_rng(seed).permutation(rows)[:size]] = True
    return chosen
