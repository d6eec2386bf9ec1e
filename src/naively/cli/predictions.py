"""Predictions are written batch by batch: as text, as tables on a terminal, or as Parquet.

A file is written whole or not at all. Where the rows must be read again, a file is begun again; to
standard output, which takes nothing back, go the rows that it does not have yet.
"""

# ruff: noqa: S608  all that is put into SQL here is quoted
from __future__ import annotations

import gzip
import io
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, TextIO, TypeAlias

from naively import saving
from naively.cli import shared as output
from naively.cli.shared import Format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from naively.counting.labels import LabelArray
    from naively.data.stream import Stream
    from naively.kernels.reference import Floats
    from naively.model.model import Model

Batches: TypeAlias = Callable[[], Iterator["Floats"]]  # of shape (rows, classes), from the first on
FileFormat: TypeAlias = Literal["csv", "json", "parquet"]
FORMATS: dict[str, FileFormat] = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
ENDINGS = ".csv, .jsonl, .ndjson or .json (then also .gz), or .parquet"
MEMORY = "64MB"  # of the database that holds predictions before they are Parquet
CHUNK = 1 << 20
CELLS = 1 << 19  # probabilities of a batch at most


class Predictions:
    """The columns of predictions: the class, its probability, and, if wanted, that of every class.

    Parameters
    ----------
    classes : ndarray of shape (classes,)
        The labels.
    every : bool
        Whether the probability of every class is written.
    """

    def __init__(self, classes: LabelArray, *, every: bool) -> None:
        if classes.dtype.kind == "M":  # of which finer ones would be numbers as Python's objects
            exact = classes.astype("M8[us]")
            classes = exact if (exact == classes).all() else classes.astype(str)
        self.labels: list[object] = classes.tolist()
        of_each = [f"p({label})" for label in self.labels] if every else []
        self.names = ["prediction", "probability", *of_each]

    def columns(self, p: Floats) -> tuple[NDArray[Any], list[Floats]]:
        """Return the class of each row as its number, and all probabilities, of shape (rows,)."""
        best = p.argmax(axis=1)
        found = [p[range(len(p)), best]]
        return best, found if len(self.names) == 2 else [*found, *p.T]

    def rows(self, p: Floats) -> Iterator[list[object]]:
        """Yield the cells of each row."""
        best, numbers = self.columns(p)
        for c, *row in zip(best.tolist(), *(column.tolist() for column in numbers), strict=True):
            yield [self.labels[c], *row]


class File(NamedTuple):
    """A file of predictions to write."""

    path: str
    format: FileFormat
    gzip: bool


def file_of(path: str, form: Format | None) -> File:
    """Return what a file of predictions is, by its name or, where that does not tell, by --format.

    Examples
    --------
    >>> file_of("out.csv.gz", None)
    File(path='out.csv.gz', format='csv', gzip=True)
    """
    name = path.lower()
    plain = name.removesuffix(".gz")
    told = FORMATS.get(Path(plain).suffix)
    if form is Format.table:
        raise ValueError("--format table is for a terminal; give csv or json for a file.")
    if told is not None and form is not None and told != form.value:
        raise ValueError(f"The name {path} says {told}, and --format says {form}; give one.")
    found = told
    if form is not None:
        found = "json" if form is Format.json else "csv"
    if found is None or (found == "parquet" and plain != name):
        raise ValueError(
            f"The name {path} does not say how predictions are written: end it in {ENDINGS}; or "
            "give --format csv or json."
        )
    return File(path, found, plain != name)


def scored(model: Model, stream: Stream, target: str | None) -> Iterator[Floats]:
    """Yield the posterior of each batch of a table; of a table without rows that of none."""
    from naively.cli.shared import known_to
    from naively.data.columns import column_rows

    done, most = 0, max(1, CELLS // len(model.classes))
    for every in stream:
        rows = known_to(model, every, target)
        for start in range(0, len(rows), most):
            yield model.posterior(rows.take(slice(start, start + most)))
        done += len(rows)
    if not done:
        nothing = column_rows({name: [] for name in stream.names})
        yield model.posterior(known_to(model, nothing, target))


def write(of: Predictions, batches: Batches, form: Format | None, out: TextIO) -> None:
    """Write predictions to standard output."""
    form = form or (Format.table if out.isatty() else Format.csv)
    if form is Format.table:
        for p in _once(batches):
            output.write(of.names, of.rows(p), form, out)
    else:
        _write_lines(of, _once(batches), form, out)


def write_file(of: Predictions, batches: Batches, file: File) -> None:
    """Write predictions to a file, whole or not at all; what takes them as they come has no end."""
    from naively.data.stream import ReadAgainError

    while True:
        try:
            with saving.writing(file.path) as out:
                if file.format == "parquet":
                    _write_parquet(of, batches(), out)
                else:
                    _write_text(of, batches(), Format(file.format), out, compressed=file.gzip)
        except ReadAgainError:
            continue
        break


def _once(batches: Batches) -> Iterator[Floats]:
    """Yield batches, each row once though the table may be read again, and each a batch late.

    So of a table of one batch nothing is written where there is something wrong with it.
    """
    from naively.data.stream import ReadAgainError

    done, waiting = 0, None
    while True:
        seen = 0
        try:
            for p in batches():
                seen += len(p)
                if waiting is not None and seen > done:
                    yield waiting
                    waiting = None
                if seen > done or not done:
                    waiting = p[max(0, len(p) - (seen - done)) :]
                    done = seen
        except ReadAgainError:
            continue
        break
    if waiting is not None:
        yield waiting


def _write_text(
    of: Predictions, batches: Iterable[Floats], form: Format, out: BinaryIO, *, compressed: bool
) -> None:
    if compressed:
        with gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
            _write_text(of, batches, form, packed, compressed=False)  # type: ignore[arg-type]
        return
    text = io.TextIOWrapper(out, "utf-8", "surrogateescape", newline="\n")
    try:
        _write_lines(of, batches, form, text)
    finally:
        text.detach()


def _write_lines(of: Predictions, batches: Iterable[Floats], form: Format, out: TextIO) -> None:
    """Write predictions as text, of which all but the numbers is written beforehand."""
    head = _text(of, [], form, out)
    around = [_around(of, label, form, out, len(head)) for label in of.labels]
    first, *rest = ([*pieces] for pieces in zip(*around, strict=True))
    for p in batches:
        best, numbers = of.columns(p)
        codes = best.tolist()
        columns: list[Iterable[str]] = [map(first.__getitem__, codes)]
        for after, column in zip(rest, numbers, strict=True):
            columns += map(repr, column.tolist()), map(after.__getitem__, codes)
        out.write(head + "".join(map("".join, zip(*columns, strict=True))))
        head = ""
    out.flush()


class _Like(io.StringIO):
    """Text in memory, written as it is to another file."""

    def __init__(self, out: TextIO) -> None:
        super().__init__()
        self._is_terminal = out.isatty()

    def isatty(self) -> bool:
        return self._is_terminal


def _text(of: Predictions, rows: list[list[object]], form: Format, out: TextIO) -> str:
    text = _Like(out)
    output.write(of.names, rows, form, text)
    return text.getvalue()


def _around(of: Predictions, label: object, form: Format, out: TextIO, head: int) -> list[str]:
    """Return what stands before, between and after the numbers of a row of a class."""
    numbers, pieces = len(of.names) - 1, [""]
    for number in count(0.5):  # one that neither the label nor a name has in it
        row = [label, *[number] * numbers]
        pieces = _text(of, [row], form, out)[head:].split(str(number))
        if len(pieces) == numbers + 1:
            break
    return pieces


def _write_parquet(of: Predictions, batches: Iterable[Floats], out: BinaryIO) -> None:
    """Write predictions as Parquet, by DuckDB.

    DuckDB takes no stream of arrays: the rows are collected in a database on the disk, with numbers
    for labels, and written at the end.
    """
    import duckdb
    import numpy as np

    labels = np.array([_valid(label) for label in of.labels], object)
    with tempfile.TemporaryDirectory(prefix="naively-") as folder:
        scratch = Path(folder)
        try:
            with closing(duckdb.connect(scratch / "rows")) as connection:
                for setting in ("enable_progress_bar = false", f"memory_limit = '{MEMORY}'"):
                    connection.execute(f"SET {setting}")
                numbers = "".join(f", c{i} DOUBLE" for i in range(1, len(of.names)))
                connection.execute(f"CREATE TABLE predictions (c0 UINTEGER{numbers})")
                for p in batches:
                    best, found = of.columns(p)
                    columns = [best.astype(np.uint32), *map(np.ascontiguousarray, found)]
                    connection.register("more", {f"c{i}": c for i, c in enumerate(columns)})
                    connection.execute("INSERT INTO predictions FROM more")
                connection.register("classes", {"label": labels})
                names = "".join(f", c{i} AS {_quoted(n)}" for i, n in enumerate(of.names) if i)
                connection.execute(
                    f"COPY (SELECT (SELECT list(label) FROM classes)[c0 + 1] AS prediction{names} "
                    f"FROM predictions) TO '{_escaped(scratch / 'table')}' (FORMAT parquet)"
                )
        except duckdb.Error as error:
            raise OSError(f"Predictions cannot be collected: {error}.") from error
        (scratch / "rows").unlink()
        with (scratch / "table").open("rb") as file:
            shutil.copyfileobj(file, out, CHUNK)


def _valid(text: object) -> object:
    """Return a label as UTF-8 has it: a name of a file may hold bytes that are none."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def _quoted(name: str) -> str:
    return '"' + str(_valid(name)).replace('"', '""') + '"'


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")
