"""A frame of Spark is learned and predicted where its partitions are."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from naively.counting.axis import Name
from naively.counting.labels import Beside, Target
from naively.data.columns import (
    READ_AS,
    Column,
    Kind,
    Reading,
    Rows,
    join_columns,
    refuse_twice,
    unusable,
)
from naively.data.frames import ArrowStream, as_rows, filled
from naively.data.reading import NOTHING_SAID, Forms, ReadAs, say_kept, settled
from naively.data.stream import ROWS, Stream, in_pieces
from naively.file import store
from naively.fitting.learn import LabelledStream, NotInMemory, Recipe, TablePart, count
from naively.fitting.reservoir import Reservoir, merged
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.messages import warn
from naively.model.class_prior import Cost, decide, given_prior, shift
from naively.model.counted import Counted
from naively.model.model import Model
from naively.schema.choose import contents_given
from naively.schema.schema import Schema, other_kind
from naively.schema.settings import Probabilities

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch
    from pyspark.sql import DataFrame as Frame
    from pyspark.sql.types import DataType as SparkType

# --- A frame of Spark is counted where its partitions are; what travels is counts, not rows ------
#
# Each partition is learned batch by batch, as any stream of Arrow is, and becomes one row of
# bytes: a model file, which has no code in it, with a sample of at most some thousand rows as they
# are encoded. The files are joined in a tree: on the cluster while there are many, then on the
# driver.
#
# A partition can be read only once, and all must count alike. So the driver decides by the first
# rows of the frame which columns of strings are times. A partition that finds another string there
# says so in the place of its model, and all are counted again. What is wrong with a row travels in
# that place too: of a task that fails, Spark makes several attempts and a trace of the JVM.


RecordBatches: TypeAlias = "Iterator[RecordBatch]"
What: TypeAlias = Literal["model", "forms", "error", "warning"]
Report: TypeAlias = tuple[What, bytes]

REPORT = "what string, content binary"  # as Spark declares it
BYTES = 1 << 26  # of rows that are counted at once, where they are fewer than ROWS
FEW = 16  # model files that are joined in one place


class LabelledFrame(NotInMemory, Frozen):
    """A frame of Spark, and which of its columns are labels, weights and the like."""

    frame: Frame
    target: str
    beside: Mapping[str, str]  # the columns of what is said beside labels (``Beside``)
    nothing = "There are no rows to learn from: the frame is empty."

    @classmethod
    def of(cls, frame: Frame, y: Target, beside: Beside) -> LabelledFrame:
        """Return a frame whose labels, and what else is said of its rows, are columns of it."""
        given = {"y": y, **beside.given}
        named = {what: of for what, of in given.items() if isinstance(of, str)}
        for what, column in given.items():
            if what not in named:
                kind = type(column).__name__
                raise ValueError(f"{what} must be the name of a column of the frame, got a {kind}.")
        return cls(frame, named.pop("y"), named)

    @property
    def names(self) -> Sequence[str]:
        """The columns that are learned from."""
        own = {self.target, *self.beside.values()}
        return [name for name in self.frame.columns if name not in own]

    def parts(self, how: Recipe, known: Counted | None) -> Iterator[TablePart]:
        """Yield what was counted of the frame, with a sample of its rows."""
        kinds = kinds_of(self.frame, self.frame.columns)
        weight = self.beside.get("sample_weight")
        if weight is not None and kinds[weight] not in ("number", "boolean"):
            raise ValueError(f"Column {weight!r} holds {kinds[weight]}s, which are no weights.")
        strings = [n for n, kind in kinds.items() if kind == "string" and n != self.target]
        # The class prior has no part in counting, and may be for classes that a partition lacks.
        counted = replace(how, settings=replace(how.settings, class_prior="data"))
        with in_one_sentence():
            contents = contents_given(how.event_models, strings)
            said = ReadAs(contents, how.settings, self.beside.get("frequencies"))
            before = {} if known is None else known.schema.readings
            readings = _readings(self.frame, strings, said, before)
            fixed = {name: replace(of.fixed, forms=None) for name, of in readings.items()}
            counting = Counting(
                *(self.frame.columns, self.target, self.beside, fixed),
                *(counted, known and known.uncounted),
            )
            reports = _joined(numbered(self.frame).mapInArrow(counting, REPORT))
        for what, content in _others(reports):
            if what == "error":
                raise ValueError(content.decode())
            if what == "warning":
                warn(content.decode())
        part = Partition.total(
            Partition.read(content) for what, content in reports if what == "model"
        )
        if part is not None:
            found = replace(part.counted.read_as(readings), settings=how.settings)
            yield TablePart(counted=found, sample=part.sample)


class Partition(NamedTuple):
    """What was counted of some rows, and a sample of them."""

    counted: Counted
    sample: Reservoir

    @classmethod
    def read(cls, content: bytes) -> Partition:
        """Open a model file that has a sample."""
        model, _, rows = store.from_bytes(content, "What was counted of a partition")
        if rows is None:
            raise ValueError("What was counted of a partition has no sample.")
        return cls(model.counted, Reservoir.restored(rows, model))

    def written(self) -> bytes:
        """Return the model file."""
        model = Model.of(self.counted)
        return store.to_bytes(model, sample=self.sample.saved(model))

    @classmethod
    def total(cls, parts: Iterable[Partition]) -> Partition | None:
        """Return what was counted of the rows of all, added as they come; None of none."""
        samples: list[Reservoir] = []

        def counted() -> Iterator[Counted]:
            for part in parts:
                samples.append(part.sample)
                yield part.counted

        rest = counted()
        if (first := next(rest, None)) is None:
            return None
        every = Counted.total(chain([first], rest), consume=True)
        sample = merged(samples, Model.of(every))
        if sample is None:
            raise ValueError("The samples of two partitions were chosen by different seeds.")
        return cls(every, sample)


class Counting(Frozen, eq=True):
    """Counts a partition in a worker, to which Spark ships it as it ships any function."""

    names: list[str]
    target: str  # the column of labels
    beside: Mapping[str, str]  # the columns of what is said beside labels
    readings: dict[str, Reading]  # how columns of strings are read
    how: Recipe
    known: Counted | None

    def __call__(self, batches: RecordBatches) -> RecordBatches:
        """Yield the model file of a partition, or what is wrong with it; nothing if it is empty."""
        one_core()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            reports = self._count(batches)
        said = dict.fromkeys(str(one.message) for one in seen if one.category is UserWarning)
        yield _batch([*reports, *(("warning", sentence.encode()) for sentence in said)])

    def _count(self, batches: RecordBatches) -> list[Report]:
        partition = _Partition(batches, self.names, self.readings)
        table = LabelledStream(partition, self.target, Beside(**self.beside))
        try:
            counted, sample = count(table, self.how, self.known)
        except (ValueError, TypeError) as error:
            return [("error", f"{_place()}, target {self.target!r}: {error}".encode())]
        return [] if counted is None else [("model", Partition(counted, sample).written())]


def _place() -> str:
    spark = sys.modules.get("pyspark")
    context = None if spark is None else spark.TaskContext.get()
    return "In a partition" if context is None else f"In partition {context.partitionId()}"


class _Partition(Stream):
    """The rows of a partition, which can be read once."""

    # Spark hands them over in small batches, which are put together, as each costs some time.

    again = False

    def __init__(
        self, batches: RecordBatches, names: list[str], readings: Mapping[str, Reading]
    ) -> None:
        super().__init__(names, (), readings)
        self._record_batches = batches

    def columns(self) -> Iterator[dict[str, Column]]:
        some: list[RecordBatch] = []
        for batch in self._record_batches:
            some.append(batch)
            if sum(map(len, some)) >= ROWS or sum(one.nbytes for one in some) >= BYTES:
                yield from in_pieces(self._read_arrow(some))
                some = []
        if some:
            yield from in_pieces(self._read_arrow(some))

    def _read_arrow(self, some: list[RecordBatch]) -> dict[str, Column]:
        import pyarrow as pa

        return ArrowStream(pa.Table.from_batches(some).rename_columns(self.names)).read()


def _readings(
    frame: Frame, strings: Sequence[str], said: ReadAs, before: Mapping[Name, Reading]
) -> dict[str, Reading]:
    """Return how the columns of strings of a frame are read, by the forms of all their cells."""
    if not strings:
        return {}
    name_of = dict(zip(frame.columns, numbered(frame).columns, strict=True))
    beside = [] if said.times is None or said.times in strings else [said.times]
    some = numbered(frame).select([name_of[name] for name in [*strings, *beside]])
    counting = FormsOfPartition([*strings, *beside], said)
    reports = some.mapInArrow(counting, REPORT).collect()
    forms = dict.fromkeys(strings, Forms())
    for _, content in reports:
        for name, of in json.loads(content).items():
            forms[name] += Forms.from_dict(of)
    readings = settled(forms, said, {name: of for name, of in before.items() if not of.is_levels})
    say_kept(before, readings)
    return readings


class FormsOfPartition(Frozen, eq=True):
    """Counts the forms of the cells of a partition in a worker."""

    names: list[str]
    said: ReadAs = NOTHING_SAID

    def __call__(self, batches: RecordBatches) -> RecordBatches:
        """Yield the forms of each column; nothing if the partition is empty."""
        one_core()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd about these rows is said where they count
            partition = _Partition(batches, self.names, {})
            partition.said, partition.readable = self.said, frozenset(self.names)
            forms = partition.forms()
        if forms:
            content = json.dumps({name: asdict(of) for name, of in forms.items()})
            yield _batch([("forms", content.encode())])


def _joined(counted: Frame) -> list[Report]:
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

    def parts() -> Iterator[Partition]:
        for batch in batches:
            for report in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if report[0] == "model":
                    yield Partition.read(report[1])
                else:
                    rest.append(report)

    part = Partition.total(parts())
    joined: list[Report] = [] if part is None else [("model", part.written())]
    yield _batch(joined + _others(rest))


def _others(reports: Iterable[Report]) -> list[Report]:
    """Return what is reported beside model files, each once."""
    return list(dict.fromkeys(report for report in reports if report[0] != "model"))


def _batch(reports: list[Report]) -> RecordBatch:
    import pyarrow as pa

    what, content = ([report[i] for report in reports] for i in range(2))
    columns = [pa.array(what, pa.string()), pa.array(content, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["what", "content"])


# --- What a frame of Spark holds, and what Spark says when it fails ------------------------------


LONGEST = 300  # characters of a message of Spark's
KINDS: Mapping[str, Kind | None] = {  # by the names that Spark has for types
    **dict.fromkeys(("byte", "short", "integer", "long", "float", "double", "decimal"), "number"),
    **dict.fromkeys(("interval day to second", "daytimeinterval", "time"), "number"),
    **dict.fromkeys(("string", "char", "varchar"), "string"),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), "time"),
    "boolean": "boolean",
    "array": "text",
    "void": None,
}
RAISED = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): +(.+)$", re.MULTILINE)
JAVA = re.compile(r"^: (?:\w+\.)*\w+: (.+)$", re.MULTILINE)
OTHER_PYTHON = re.compile(  # than that of the driver, or one without its packages
    r"PYTHON_VERSION_MISMATCH|[Pp]ython in worker has different version|No module named '?"
    r"(?:naively|numpy|pyarrow|pandas|safetensors|threadpoolctl)|Cannot run program|"
    r"code\(\) argument|code expected at (?:least|most)|bad marshal data|unknown opcode"
)
LAST_OF_JAVA = re.compile(r"^.*most recent failure: .*?\): (?:\w+\.)*\w+: ")


def kinds_of(frame: Frame, names: Sequence[str]) -> dict[str, Kind | None]:
    """Return what columns of a frame hold, by their types; no row is read."""
    refuse_twice(frame.columns)
    wanted = set(names)
    types = {of.name: of.dataType.typeName() for of in frame.schema.fields if of.name in wanted}
    for name, held in types.items():
        if held not in KINDS:
            raise unusable(name, f"{held} values")
    return {name: KINDS[held] for name, held in types.items()}


def numbered(frame: Frame) -> Frame:
    """Return a frame whose columns are numbered, as Spark hands none over that has a dot in it."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


def one_core() -> None:
    """Count on one thread in a worker, unless its environment says another number."""
    # A task of Spark has one core, as it has by default; the others are other tasks'.
    if "NAIVELY_THREADS" not in os.environ:
        dispatch.set_threads(1)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Raise a ValueError of one sentence where Spark fails, without the traces of its workers."""
    from pyspark.errors import PySparkException

    failures: tuple[type[Exception], ...] = (PySparkException,)
    if "py4j.protocol" in sys.modules:  # which a client of a remote Spark does without
        failures += (sys.modules["py4j.protocol"].Py4JJavaError,)
    try:
        yield
    except failures as error:
        raise ValueError(f"Spark failed: {sentence(str(error))}") from None


def sentence(message: str) -> str:
    """Return what a message of Spark says: the error that was raised, without traces."""
    raised = RAISED.findall(message) if "Traceback" in message else JAVA.findall(message)
    line = raised[-1] if raised else message.strip().split("\n", 1)[0]
    line = LAST_OF_JAVA.sub("", line).partition(" SQLSTATE:")[0].strip()
    line = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
    if not OTHER_PYTHON.search(message):
        return line
    return (
        f"{line.rstrip('.')}: set PYSPARK_PYTHON to a Python that is on every worker, of the "
        f"version of {sys.executable} and with naively, before Spark is started."
    )


# --- A frame of Spark is predicted where it is: as further columns, computed when asked ----------
#
# The model travels to the workers as a model file, which Spark ships with the function and
# broadcasts if it is large; a worker opens it once, for all partitions that it predicts.


PREDICTION = "prediction"
UNSURE = "unsure"  # as ``decide`` says it; null where labels are no strings

Answer: TypeAlias = "Callable[[Model, Rows], list[Array]]"  # one a column


def predict(frame: Frame, model: Model, cost: Cost = None, reject: float | None = None) -> Frame:
    """Return a frame of Spark with a column more: the most probable class, or least costly one."""
    import pyarrow as pa

    if cost is not None or reject is not None:  # so that what is wrong with them is said here
        decide(np.ones((1, len(model.classes))) / len(model.classes), model.classes, cost, reject)
    kind = pa.array(model.classes.tolist()).type
    return _answered(frame, model, {PREDICTION: kind}, partial(_labels, cost=cost, reject=reject))


def predict_proba(frame: Frame, model: Model, class_prior: Probabilities | None = None) -> Frame:
    """Return a frame of Spark with further columns: the probability of each class."""
    import pyarrow as pa

    prior = None if class_prior is None else given_prior(class_prior, model.classes)
    names = [f"p({label})" for label in model.classes.tolist()]
    answer = partial(_posteriors, prior=prior)
    return _answered(frame, model, dict.fromkeys(names, pa.float64()), answer)


def _labels(model: Model, rows: Rows, cost: Cost, reject: float | None) -> list[Array]:
    import pyarrow as pa

    classes = pa.array(model.classes.tolist())
    if cost is None and reject is None:
        return [classes.take(pa.array(model.score(model.encode(rows), "label")))]
    found = decide(model.posterior(rows), model.classes, cost, reject).tolist()
    if not pa.types.is_string(classes.type):
        found = [None if label == UNSURE else label for label in found]
    return [pa.array(found, classes.type)]


def _posteriors(model: Model, rows: Rows, prior: Floats | None) -> list[Array]:
    import pyarrow as pa

    p = model.posterior(rows)
    if prior is not None:
        p = shift(p, np.exp(model.class_log_prior), prior)
    return [pa.array(p[:, j]) for j in range(p.shape[1])]


class Predicting(Frozen, eq=True):
    """Predicts a partition in a worker, to which Spark ships it as it ships any function."""

    content: bytes
    read: Sequence[str]  # the columns that the model reads
    names: Sequence[str]  # all columns of the result
    answer: Answer  # returns the further columns of some rows

    def __call__(self, batches: RecordBatches) -> RecordBatches:
        import pyarrow as pa

        one_core()
        model = _opened(self.content)
        for batch in batches:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what columns lack was said when it was asked
                more = self.answer(model, self._rows(batch))
            yield pa.RecordBatch.from_arrays([*batch.columns, *more], names=list(self.names))

    def _rows(self, batch: RecordBatch) -> Rows:
        here = {name: place for place, name in enumerate(self.names)}
        return as_rows(batch.select([here[n] for n in self.read]).rename_columns(list(self.read)))


@lru_cache(1)
def _opened(content: bytes) -> Model:
    return store.from_bytes(content).model


def _answered(frame: Frame, model: Model, more: dict[str, DataType], answer: Answer) -> Frame:
    """Return a frame with further columns, of these types of PyArrow."""
    from pyspark.sql.types import StructField, StructType

    taken = next((name for name in more if name in frame.columns), None)
    if taken is not None:
        raise ValueError(f"The frame has a column {taken!r} already; rename or drop it.")
    read = _read(frame, model.view.schema)
    fields = [*frame.schema.fields, *(StructField(n, _type(of)) for n, of in more.items())]
    predicting = Predicting(store.to_bytes(model), read, [of.name for of in fields], answer)
    return numbered(frame).mapInArrow(predicting, StructType(fields))


def _read(frame: Frame, schema: Schema) -> list[str]:
    """Return the columns of a frame that a model reads, or raise what is wrong with them."""
    # Those that were not learned are no mistake here, as they are to stay beside the prediction.
    learned = [name for name in frame.columns if name in set(schema.order)]
    names = learned if learned and schema.names else list(frame.columns)
    nothing = np.empty(0, object)
    kinds = kinds_of(frame, names)
    for name, kind in kinds.items():
        held = schema.kinds.get(name)
        # Whether any of the strings is such a number, a worker that sees a few rows cannot tell.
        if kind == "string" and held in READ_AS and name not in schema.readings:
            raise other_kind(name, held, kind)
    columns = {n: (filled(nothing, kind) if kind else nothing, kind) for n, kind in kinds.items()}
    schema.match(join_columns(columns))
    return names


def _type(of: DataType) -> SparkType:
    """Return Spark's type of a column by PyArrow's."""
    import pyarrow as pa
    from pyspark.sql import types

    every: list[tuple[Callable[[DataType], bool], SparkType]] = [
        (pa.types.is_boolean, types.BooleanType()),
        (pa.types.is_integer, types.LongType()),
        (pa.types.is_floating, types.DoubleType()),
        (pa.types.is_date, types.DateType()),
        (pa.types.is_timestamp, types.TimestampNTZType()),
    ]
    return next((spark for holds, spark in every if holds(of)), types.StringType())
