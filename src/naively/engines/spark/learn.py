"""A frame of Spark is counted where its partitions are; what travels is counts, not rows.

Each partition is learned batch by batch, as any stream of Arrow is, and becomes one row of bytes: a
model file, which has no code in it, with a sample of at most some thousand rows as they are
encoded. The files are joined in a tree: on the cluster while there are many, then on the driver.

A partition can be read only once, and all must count alike. So the driver decides by the first
rows of the frame which columns of strings are times. A partition that finds another string there
says so in the place of its model, and all are counted again. What is wrong with a row travels in
that place too: of a task that fails, Spark makes several attempts and a trace of the JVM.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from naively.data.arrow import ArrowStream
from naively.data.columns import Cells, Column
from naively.data.stream import ROWS, Guess, Stream, first_that_fits, in_pieces
from naively.engines import stream
from naively.engines.spark.frame import in_one_sentence, kinds_of, numbered, one_core
from naively.engines.stream import LabelledStream
from naively.evaluation.reservoir import Reservoir
from naively.file import store
from naively.kernels.strings import Strings
from naively.messages import warn
from naively.model.model import Model
from naively.schema.given import EventModels
from naively.schema.schema import Schema
from naively.schema.settings import Settings

RecordBatches: TypeAlias = Iterator[Any]  # of PyArrow's RecordBatch
What: TypeAlias = Literal["model", "no times", "error", "warning"]
Report: TypeAlias = tuple[What, bytes]

REPORT = "what string, content binary"  # as Spark declares it
FIRST = 1_000  # rows that are looked at before all are
BYTES = 1 << 26  # of rows that are counted at once, where they are fewer than ROWS
FEW = 16  # model files that are joined in one place


class LabelledFrame(NamedTuple):
    """A frame of Spark, and which of its columns are labels and weights."""

    frame: Any
    target: str
    weight: str | None = None


def learn(
    table: LabelledFrame,
    event_models: EventModels,
    settings: Settings,
    sample: Reservoir,
    known: Schema | None = None,
) -> tuple[Model | None, Reservoir]:
    """Count a frame of Spark.

    Parameters
    ----------
    table : LabelledFrame
        The rows.
    event_models, settings, sample, known
        As for `naively.engines.stream.learn`, which does the same on one machine.

    Returns
    -------
    model : Model or None
        What was counted; None if there was no row.
    sample : Reservoir
        A sample of the rows.
    """
    kinds = kinds_of(table.frame, table.frame.columns)
    if table.weight is not None and kinds[table.weight] not in ("number", "boolean"):
        raise ValueError(
            f"Column {table.weight!r} holds {kinds[table.weight]}s, which are no weights."
        )
    strings = {name for name, kind in kinds.items() if kind == "string"}
    # The class prior has no part in counting, and may be for classes that a partition lacks.
    counted = replace(settings, class_prior="data")
    with in_one_sentence():
        times = _times(table.frame, strings - {table.target})
        while True:
            spelled: dict[str, Guess] = {n: "time" if n in times else "string" for n in strings}
            counting = Counting(
                *(table.frame.columns, table.target, table.weight, spelled),
                *(event_models, counted, sample.empty(), known),
            )
            reports = _joined(numbered(table.frame).mapInArrow(counting, REPORT))
            odd = {content.decode() for what, content in reports if what == "no times"}
            if not odd:
                break
            times -= odd
    for what, content in _others(reports):
        if what == "error":
            raise ValueError(content.decode())
        if what == "warning":
            warn(content.decode())
    part = _tree(Part.read(content) for what, content in reports if what == "model")
    if part is None:
        return None, sample.empty()
    return replace(part.model, settings=settings), part.sample


class Part(NamedTuple):
    """What was counted of some rows, and a sample of them."""

    model: Model
    sample: Reservoir

    @classmethod
    def read(cls, content: bytes) -> Part:
        """Open a model file that has a sample."""
        model, _, rows = store.from_bytes(content, "What was counted of a partition")
        if rows is None:
            raise ValueError("What was counted of a partition has no sample.")
        return cls(model, Reservoir.restored(rows, model))

    def written(self) -> bytes:
        """Return the model file."""
        return store.to_bytes(self.model, sample=self.sample.saved(self.model))

    def joined(self, other: Part) -> Part:
        """Return what was counted of the rows of both."""
        model = self.model + other.model
        sample = self.sample.merged(other.sample, model)
        if sample is None:
            raise ValueError("The samples of two partitions were chosen by different seeds.")
        return Part(model, sample)


@dataclass(frozen=True)
class Counting:
    """Counts a partition in a worker, to which Spark ships it as it ships any function.

    Parameters
    ----------
    names : list of str
        The columns.
    target, weight : str
        The columns of labels and, if there is one, of weights.
    spelled : mapping of str to {"time", "string"}
        What the columns of strings spell.
    event_models, settings, sample, known
        As for `learn`.
    """

    names: list[str]
    target: str
    weight: str | None
    spelled: dict[str, Guess]
    event_models: EventModels
    settings: Settings
    sample: Reservoir
    known: Schema | None

    def __call__(self, batches: RecordBatches) -> RecordBatches:
        """Yield the model file of a partition, or what is wrong with it; nothing if it is empty."""
        one_core()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            reports = self._count(batches)
        said = dict.fromkeys(str(one.message) for one in seen if one.category is UserWarning)
        yield _batch([*reports, *(("warning", sentence.encode()) for sentence in said)])

    def _count(self, batches: RecordBatches) -> list[Report]:
        partition = _Partition(batches, self.names, self.spelled)
        table = LabelledStream(partition, self.target, self.weight)
        try:
            model, sample = stream.learn(
                table, self.event_models, self.settings, self.sample, self.known
            )
        except _NoTimesError as error:
            return [("no times", str(error).encode())]
        except (ValueError, TypeError) as error:
            return [("error", f"{_place()}, target {self.target!r}: {error}".encode())]
        return [] if model is None else [("model", Part(model, sample).written())]


def _place() -> str:
    spark = sys.modules.get("pyspark")
    context = None if spark is None else spark.TaskContext.get()
    return "In a partition" if context is None else f"In partition {context.partitionId()}"


class _NoTimesError(Exception):
    """A column of strings that were to be times holds another string."""


class _Partition(Stream):
    """The rows of a partition, which can be read once.

    Spark hands them over in small batches, which are put together, as each costs some time.
    """

    again = False

    def __init__(self, batches: RecordBatches, names: list[str], spelled: dict[str, Guess]) -> None:
        super().__init__(names, {}, spelled)
        self._record_batches = batches

    def columns(self) -> Iterator[dict[str, Column]]:
        some: list[Any] = []
        for batch in self._record_batches:
            some.append(batch)
            if sum(map(len, some)) >= ROWS or sum(one.nbytes for one in some) >= BYTES:
                yield from in_pieces(self._read_arrow(some))
                some = []
        if some:
            yield from in_pieces(self._read_arrow(some))

    def _read_arrow(self, some: list[Any]) -> dict[str, Column]:
        import pyarrow as pa

        return ArrowStream(pa.Table.from_batches(some).rename_columns(self.names)).read()

    def _refuse(self, name: str, cell: Cells, row: int) -> NoReturn:  # noqa: ARG002
        raise _NoTimesError(name)


def _times(frame: Any, strings: set[str]) -> set[str]:
    """Return the columns of strings that are all times in the first rows."""
    if not strings:
        return set()
    name_of = dict(zip(numbered(frame).columns, frame.columns, strict=True))
    some = [column for column, name in name_of.items() if name in strings]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about these rows is said where they count
        first = ArrowStream(numbered(frame).select(some).limit(FIRST).toArrow()).read()
    return {
        name_of[column]
        for column, (cells, _) in first.items()
        if not isinstance(cells, Strings) or first_that_fits(cells, ["time"]) == "time"
    }


def _joined(counted: Any) -> list[Report]:
    """Return the reports of all partitions, with few model files left among them."""
    held = [counted.persist()]  # so that no partition is counted twice
    try:
        n = held[-1].count()
        while n > FEW:
            n = -(-n // FEW)
            held.append(held[-1].repartition(n).mapInArrow(_join, REPORT).persist())
        return [(what, bytes(content)) for what, content in held[-1].collect()]
    finally:
        for one in held:
            one.unpersist()


def _join(batches: RecordBatches) -> RecordBatches:
    """Join model files in a worker, as they come; what else is reported stays as it is."""
    one_core()
    rest: list[Report] = []

    def parts() -> Iterator[Part]:
        for batch in batches:
            for report in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if report[0] == "model":
                    yield Part.read(report[1])
                else:
                    rest.append(report)

    part = _tree(parts())
    joined: list[Report] = [] if part is None else [("model", part.written())]
    yield _batch(joined + _others(rest))


def _others(reports: Iterable[Report]) -> list[Report]:
    """Return what is reported beside model files, each once."""
    return list(dict.fromkeys(report for report in reports if report[0] != "model"))


def _tree(parts: Iterable[Part]) -> Part | None:
    """Join parts two by two, as in a binary counter: few are held, and few joins are of each."""
    held: list[tuple[Part, int]] = []  # of falling height in the tree
    for one in parts:
        part, height = one, 0
        while held and held[-1][1] == height:
            part, height = held.pop()[0].joined(part), height + 1
        held.append((part, height))
    if not held:
        return None
    part, _ = held.pop()
    while held:
        part = held.pop()[0].joined(part)
    return part


def _batch(reports: list[Report]) -> Any:
    import pyarrow as pa

    what, content = ([report[i] for report in reports] for i in range(2))
    columns = [pa.array(what, pa.string()), pa.array(content, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["what", "content"])
