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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, TextIO, TypeAlias, cast

from naively import saving
from naively.wings.cli import shared
from naively.wings.cli.options import Format

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from naively.counting.labels import LabelArray
    from naively.data.columns import Rows
    from naively.data.stream import Stream
    from naively.inspect.uncertainty import ProbabilityIntervals
    from naively.kernels.reference import Floats
    from naively.model.class_prior import Decision
    from naively.model.model import Model

Batches: TypeAlias = "Callable[[], Iterator[Scored]]"  # from the first on
Intervals: TypeAlias = "Callable[[Rows], ProbabilityIntervals]"
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


class Scored(NamedTuple):
    """Rows that were scored: their posterior, (rows, classes), and columns that are kept."""

    p: Floats
    kept: list[list[object]]
    kinds: Sequence[str | None]
    ends: tuple[Floats, ...] = ()

    def since(self, row: int) -> Scored:
        """Return the rows from one on."""
        kept = [cells[row:] for cells in self.kept]
        return Scored(self.p[row:], kept, self.kinds, tuple(of[row:] for of in self.ends))


class Predictions:
    """The columns of predictions: the class, its probability, and what else is wanted."""

    def __init__(
        self,
        classes: LabelArray,  # (classes,)
        *,
        every: bool,  # whether the probability of every class is written
        keep: Sequence[str] = (),  # columns of the table that stand before them
        interval: bool = False,  # whether the interval of the probability is written
        decision: Decision | None = None,  # how the class follows; by default the most probable one
    ) -> None:
        from naively.model.class_prior import MOST_PROBABLE, UNSURE

        if classes.dtype.kind == "M":  # of which finer ones would be numbers as Python's objects
            exact = classes.astype("M8[us]")
            classes = exact if (exact == classes).all() else classes.astype(str)
        self.labels: list[object] = classes.tolist()
        of_each = [f"p({label})" for label in self.labels] if every else []
        self.decision, self.unsure = decision or MOST_PROBABLE, len(self.labels)
        if self.decision.reject is not None:
            self.labels = [*map(str, self.labels), UNSURE]  # a column has one type
        ends = ["low", "high"] if interval else []
        own = ["prediction", "probability", *ends, *of_each]
        self.every, self.keep, self.names = every, keep, [*keep, *own]
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise ValueError(f'--keep: the predictions would have two columns "{twice[0]}".')

    def columns(self, batch: Scored) -> tuple[NDArray[np.int64], list[Floats]]:
        """Return the class of each row as its number, and all probabilities, of shape (rows,)."""
        p = batch.p
        best, unsure = self.decision.answers(p)
        found = [of[range(len(p)), best] for of in (p, *batch.ends)]
        best[unsure] = self.unsure
        return best, [*found, *p.T] if self.every else found

    def rows(self, batch: Scored) -> Iterator[list[object]]:
        """Yield the cells of each row."""
        best, numbers = self.columns(batch)
        own = (column.tolist() for column in numbers)
        width = len(self.keep)
        for row in zip(*batch.kept, best.tolist(), *own, strict=True):
            yield [*row[:width], self.labels[row[width]], *row[width + 1 :]]


def decision_of(
    model: Model, class_prior: str | None, cost: str | None, reject: float | None
) -> Decision:
    """Return what follows from the posteriors of a model by --class-prior, --cost and --reject."""
    import numpy as np

    from naively.model.class_prior import Decision, cost_table, given_prior

    if reject is not None and not 0 <= reject <= 1:
        raise ValueError(f"--reject must be a probability, from 0 to 1, got {reject:g}.")
    labels = {str(label): label for label in model.classes.tolist()}
    prior = table = None
    if class_prior is not None:
        named = shared.numbers_by_name(class_prior, "--class-prior")
        given = {labels.get(name, name): p for name, p in named.items()}
        prior = np.exp(model.class_log_prior), given_prior(given, model.classes)
    if cost is not None:
        costs: dict[object, dict[object, float]] = {}
        for pair, value in shared.numbers_by_name(cost, "--cost").items():
            right, separator, answer = pair.partition(":")
            if not separator:
                raise ValueError(
                    f"--cost names a right class and an answer, as in ham:spam=9; got {pair!r}."
                )
            costs.setdefault(labels.get(right, right), {})[labels.get(answer, answer)] = value
        table = cost_table(costs, model.classes)
    return Decision(prior, table, reject)


class File(NamedTuple):
    """A file of predictions to write."""

    path: str
    format: FileFormat
    gzip: bool


def file_of(path: str, form: Format | None) -> File:
    """Return what a file of predictions is, by its name or, if that does not tell, by --format."""
    name = path.lower()
    plain = name.removesuffix(".gz")
    told = FORMATS.get(Path(plain).suffix)
    if form is Format.table:
        raise ValueError("--format table is for a terminal; give csv or json for a file.")
    if told is not None and form is not None and told != form.value:
        raise ValueError(f"The name {path} says {told}, and --format says {form}; give one.")
    found = told if form is None else cast("FileFormat", form.value)
    if found is None or (found == "parquet" and plain != name):
        raise ValueError(
            f"The name {path} does not say how predictions are written: end it in {ENDINGS}; or "
            "give --format csv or json."
        )
    return File(path, found, plain != name)


def scored(
    model: Model,
    stream: Stream,
    target: str | None,
    coverage: float | None = None,
    intervals: Intervals | None = None,
    decision: Decision | None = None,
) -> Iterator[Scored]:
    """Yield each batch of a table with its posterior; of a table without rows that of none."""
    # With a coverage the last column that is kept holds the sets of classes. A decision says under
    # which class prior posteriors are wanted.
    for batch in _scored(model, stream, target, intervals):
        if decision is not None and decision.prior is not None:
            yield batch._replace(p=decision.posterior(batch.p))
        elif coverage is None:
            yield batch
        else:
            from naively.assess.decisions import prediction_sets

            sets = prediction_sets(model, batch.p, coverage)
            said: list[object] = [" | ".join(map(str, labels)) for labels in sets]
            yield batch._replace(kept=[*batch.kept, said], kinds=[*batch.kinds, "string"])


def _scored(
    model: Model, stream: Stream, target: str | None, intervals: Intervals | None
) -> Iterator[Scored]:
    """Yield each batch of a table with its posterior."""
    from naively.data.columns import column_rows
    from naively.data.stream import kept_name
    from naively.schema.encode import plain_cells

    def of(rows: Rows, kept: list[list[object]], kinds: Sequence[str | None]) -> Scored:
        if intervals is None:
            return Scored(model.posterior(rows), kept, kinds)
        found = intervals(rows)
        return Scored(found.probability, kept, kinds, (found.low, found.high))

    names = [kept_name(name) for name in stream.kept]
    done, most = 0, max(1, CELLS // len(model.classes))
    for every in stream:
        rows = shared.known_to(model, every, target)
        kept = [plain_cells(every.values(name)) for name in names]
        kinds = [every.kind(name) for name in names]
        for start in range(0, len(rows), most):
            end = start + most
            some = rows.take(slice(start, end))
            yield of(some, [cells[start:end] for cells in kept], kinds)
        done += len(rows)
    if not done:
        nothing = column_rows({name: [] for name in stream.names})
        rows = shared.known_to(model, nothing, target)
        yield of(rows, [[] for _ in names], [None] * len(names))


def write(of: Predictions, batches: Batches, form: Format | None, out: TextIO) -> None:
    """Write predictions to standard output."""
    form = form or (Format.table if out.isatty() else Format.csv)
    if form is Format.table:
        for batch in _once(batches):
            shared.write(of.names, of.rows(batch), form, out)
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


def _once(batches: Batches) -> Iterator[Scored]:
    """Yield batches, each row once though the table may be read again, and each a batch late."""
    # So of a table of one batch nothing is written where there is something wrong with it.
    from naively.data.stream import ReadAgainError

    done, waiting = 0, None
    while True:
        seen = 0
        try:
            for batch in batches():
                seen += len(batch.p)
                if waiting is not None and seen > done:
                    yield waiting
                    waiting = None
                if seen > done or not done:
                    waiting = batch.since(max(0, len(batch.p) - (seen - done)))
                    done = seen
        except ReadAgainError:
            continue
        break
    if waiting is not None:
        yield waiting


def _write_text(
    of: Predictions, batches: Iterable[Scored], form: Format, out: BinaryIO, *, compressed: bool
) -> None:
    packing = gzip.GzipFile("", "wb", fileobj=out, mtime=0) if compressed else nullcontext(out)
    with packing as raw:
        text = io.TextIOWrapper(cast("BinaryIO", raw), "utf-8", "surrogateescape", newline="\n")
        try:
            _write_lines(of, batches, form, text)
        finally:
            text.detach()


def _write_lines(of: Predictions, batches: Iterable[Scored], form: Format, out: TextIO) -> None:
    """Write predictions as text."""
    head = _text(of, [], form, out)
    if not of.keep:
        _write_own(of, batches, form, out, head)
        return
    out.write(head)
    out.writelines(_text(of, of.rows(batch), form, out)[len(head) :] for batch in batches)
    out.flush()


def _write_own(
    of: Predictions, batches: Iterable[Scored], form: Format, out: TextIO, head: str
) -> None:
    """Write predictions alone, of which all but the numbers is written beforehand."""
    around = [_around(of, label, form, out, len(head)) for label in of.labels]
    first, *rest = ([*pieces] for pieces in zip(*around, strict=True))
    for batch in batches:
        best, numbers = of.columns(batch)
        codes = best.tolist()
        columns: list[Iterable[str]] = [map(first.__getitem__, codes)]
        for after, column in zip(rest, numbers, strict=True):
            columns += map(repr, column.tolist()), map(after.__getitem__, codes)
        out.write(head + "".join(map("".join, zip(*columns, strict=True))))
        head = ""
    out.flush()


def _text(of: Predictions, rows: Iterable[list[object]], form: Format, out: TextIO) -> str:
    text = io.StringIO()
    text.isatty = out.isatty  # type: ignore[method-assign]  # it is written as to the other
    shared.write(of.names, rows, form, text)
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


def _write_parquet(of: Predictions, batches: Iterable[Scored], out: BinaryIO) -> None:
    """Write predictions as Parquet, by DuckDB."""
    # DuckDB takes no stream of arrays: the rows are collected in a database on the disk, with
    # numbers for labels and columns that are kept as text, and written at the end.
    import duckdb
    import numpy as np

    labels = np.array([_valid(label) for label in of.labels], object)
    with tempfile.TemporaryDirectory(prefix="naively-") as folder:
        scratch = Path(folder)
        try:
            with closing(duckdb.connect(scratch / "rows")) as connection:
                connection.execute("SET enable_progress_bar = false")
                connection.execute(f"SET memory_limit = '{MEMORY}'")
                own = of.names[len(of.keep) :]
                kept = "".join(f", k{i} VARCHAR" for i in range(len(of.keep)))
                numbers = "".join(f", c{i} DOUBLE" for i in range(1, len(own)))
                connection.execute(f"CREATE TABLE predictions (c0 UINTEGER{numbers}{kept})")
                kinds: list[set[str | None]] = [set() for _ in of.keep]
                for batch in batches:
                    best, of_rows = of.columns(batch)
                    columns = [best.astype(np.uint32), *map(np.ascontiguousarray, of_rows)]
                    more = {f"c{i}": column for i, column in enumerate(columns)}
                    for i, (cells, kind) in enumerate(zip(batch.kept, batch.kinds, strict=True)):
                        more[f"k{i}"] = np.array([*map(_as_text, cells), None], object)[:-1]
                        kinds[i].add(kind)
                    connection.register("more", more)
                    connection.execute("INSERT INTO predictions BY NAME FROM more")
                connection.register("classes", {"label": labels})
                names = [
                    f"CAST(k{i} AS {_type_of(connection, f'k{i}', kinds[i])}) AS {_quoted(name)}"
                    for i, name in enumerate(of.keep)
                ]
                names += ["(SELECT list(label) FROM classes)[c0 + 1] AS prediction"]
                names += [f"c{i} AS {_quoted(n)}" for i, n in enumerate(own) if i]
                found = connection.sql(f"SELECT {', '.join(names)} FROM predictions")
                found.write_parquet(str(scratch / "table"))
        except duckdb.Error as error:
            raise OSError(f"Predictions cannot be collected: {error}.") from error
        (scratch / "rows").unlink()
        with (scratch / "table").open("rb") as file:
            shutil.copyfileobj(file, out, CHUNK)


def _as_text(cell: object) -> str | None:
    """Return a cell as DuckDB reads it."""
    return None if cell is None or cell != cell else str(_valid(cell))  # noqa: PLR0124  NaN


def _type_of(connection: DuckDBPyConnection, column: str, kinds: set[str | None]) -> str:
    """Return the type in SQL of a column of text that holds these kinds of cells."""
    (kind,) = kinds - {None} if len(kinds - {None}) == 1 else ("string",)
    if kind == "number":
        whole = f"bool_and(TRY_CAST({column} AS BIGINT) IS NOT NULL AND {column} NOT LIKE '%.%')"
        query = f"SELECT {whole} FROM predictions WHERE {column} IS NOT NULL"
        return "BIGINT" if connection.execute(query).fetchall() == [(True,)] else "DOUBLE"
    return {"time": "TIMESTAMP", "boolean": "BOOLEAN"}.get(str(kind), "VARCHAR")


def _valid(text: object) -> object:
    """Return a label as UTF-8 has it: a name of a file may hold bytes that are none."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def _quoted(name: str) -> str:
    return '"' + str(_valid(name)).replace('"', '""') + '"'
