"""Labelled rows are learned, in the order of the lecture: whatever the source, one loop over parts.

A part is rows with their labels, or what was counted of rows elsewhere, with a sample of them. Both
add up, so that a table in memory is one part, a stream has one for each batch, and a cluster or a
database hands over what it has counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized
from types import MappingProxyType
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import (
    NOTHING_BESIDE,
    Beside,
    LabelArray,
    Labels,
    Target,
    check_weight,
    encode_some_labels,
)
from naively.data.columns import ColumnRows, Reading, Rows, missing_column
from naively.data.frames import Table, as_rows, read_labels
from naively.data.reading import ReadAs
from naively.data.stream import ReadAgainError, Stream
from naively.fitting.limits import known_columns, read_combined
from naively.fitting.reservoir import ANY, Reservoir, warn_of_copies
from naively.fitting.sample import add_interactions
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.messages import warn
from naively.model.counted import Counted, check_rows
from naively.model.model import Model
from naively.options import COPIES, Weighting, means_copies
from naively.schema.choose import EventModels, contents_given, extend, infer, read_as_given
from naively.schema.settings import Settings


class Recipe(Frozen, eq=True):
    """How rows are learned: event models, if any were given, and options that were checked."""

    event_models: EventModels
    settings: Settings
    sample: Reservoir = ANY  # without rows: how rows are chosen that are kept


UNLABELLED = Labels.none(0, np.empty(0, object))


class TablePart(NamedTuple):
    """Some rows of a table, or what was counted of them elsewhere."""

    rows: Rows | None = None  # with strings read as what they are
    labels: Labels = UNLABELLED
    every: Rows | None = None  # more rows, which have a say in how columns are counted
    counted: Counted | None = None  # what was counted of rows elsewhere,
    sample: Reservoir | None = None  # and a sample of them


class Labelled(Protocol):
    """A table with labels, wherever it is."""

    nothing: str  # what is said of a table without rows
    in_memory: bool  # whether its rows are all there, in one part

    @property
    def is_labelled(self) -> bool:
        """Whether all rows have a label."""

    @property
    def names(self) -> Sequence[object]:
        """The columns that are learned from."""

    def parts(self, how: Recipe, known: Counted | None) -> Iterator[TablePart]:
        """Yield its parts, of columns that are counted as it is known."""

    @property
    def readings(self) -> Mapping[str, Reading]:
        """How strings are read by all rows that have come; none where the parts know it."""


class NotInMemory:
    """A table that is not in memory, whose rows come in parts, or stay where they are."""

    in_memory = False
    is_labelled = True

    @property
    def readings(self) -> Mapping[str, Reading]:
        return {}


class LabelledStream(NotInMemory, Frozen):
    """A table of any length, with labels and weights."""

    stream: Stream
    target: Target  # (rows,): the column of labels, or the labels
    beside: Beside = NOTHING_BESIDE  # what else is said of each row, as columns or of each row
    nothing = "There are no rows to learn from: the table is empty."

    @property
    def names(self) -> list[str]:
        """The columns that are learned from."""
        own = {*self.beside.columns.values(), *[self.target] * isinstance(self.target, str)}
        return [name for name in self.stream.names if name not in own]

    def __iter__(self) -> Iterator[tuple[Rows, Labels]]:
        """Yield the rows and labels of each batch that has rows."""
        done = 0
        for table in self.stream:
            rows, n = table.select([n for n in self.names if n in table.place]), len(table)
            y, beside = _given("y", self.target, table, done), self.beside.given
            beside = {what: _given(what, of, table, done) for what, of in beside.items()}
            if len(rows):
                yield rows, Beside(**beside).encode(y, done)
            done += n
        for what, given in {"y": self.target, **self.beside.given}.items():
            if given is not None and not isinstance(given, str) and len(given) != done:
                raise ValueError(f"The table has {done:,} rows, and {what} has {len(given):,}.")

    def parts(self, how: Recipe, known: Counted | None) -> Iterator[TablePart]:
        stream = self.stream
        contents = contents_given(how.event_models, stream.names)
        by_name = {str(name): of for name, of in contents.items()}
        stream.said = ReadAs(by_name, how.settings, self.beside.frequencies)
        if known is not None:
            readings = known.schema.known_readings
            stream.known |= {str(n): of for n, of in readings.items() if n in stream.names}
        return (TablePart(*batch) for batch in self)

    @property
    def readings(self) -> Mapping[str, Reading]:
        return self.stream.readings


def _given(what: str, of: Target, table: ColumnRows, done: int) -> Target:
    """Return the labels of a batch, or what else is said of it; so many rows come before."""
    if of is None or means_copies(what, of):
        return of
    if not isinstance(of, str):
        end = done + len(table)
        if len(of) < end:
            raise ValueError(f"The table has more than {len(of):,} rows, as many as {what} has.")
        return of[done:end]
    return table.levels(of)


class InMemory(Frozen):
    """Rows in memory, of which some may have no label."""

    every: Rows  # all rows, those without a label too
    labels: Labels  # the labels and weights of the rows that have a label
    # (rows with a label,): which rows have a label; by default all
    there: NDArray[np.int64] | None = None
    weight: Floats | None = None  # (rows,): the weight of every row; by default 1
    is_labelled: bool = True  # whether all rows have a label
    nothing = "There are no rows to learn from: found 0 sample(s), at least 1 needed."
    in_memory = True
    readings: ClassVar[Mapping[str, Reading]] = MappingProxyType({})

    @classmethod
    def partly(cls, rows: Rows, y: Target, beside: Beside) -> InMemory:
        """Return rows of which some may have no label."""
        labels, there = encode_some_labels(y, beside.sample_weight)
        if len(there) == len(y):
            return cls(rows, beside.encode(y))
        for what in ("frequencies", "groups"):
            if what in beside.given:
                raise ValueError(f"{what} needs all labels: with semi_supervised=True some lack.")
        weight = check_weight(beside.sample_weight, len(rows))
        return cls(rows, labels, there, weight, is_labelled=False)

    @property
    def names(self) -> Sequence[object]:
        """The columns that are learned from."""
        return self.every.names

    def parts(self, how: Recipe, known: Counted | None) -> Iterator[TablePart]:
        times = self.labels.frequency
        if known is None:
            names = self.every.names if len(self.every) else ["no row is looked at"]
            check_classification(names, len(self.labels), self.labels.classes)
            if self.labels.weight is not None and len(self.labels):
                check_some_weight(self.labels.weight)
            if self.there is not None and not len(self.there):
                raise ValueError("No row has a label; label some rows of each class.")
            if self.there is None:
                check_rows(self.every, self.labels)
            every = read_as_given(self.every, how.event_models, how.settings, times=times)
            rows = every if self.there is None else every.take(self.there)
            yield TablePart(rows, self.labels, every)
            return
        rows = self.every if self.there is None else self.every.take(self.there)
        if len(rows) or len(self.labels):
            check_rows(rows, self.labels)
            known_as = known.schema, known.tally, times
            rows = read_as_given(rows, how.event_models, how.settings, *known_as)
            known.schema.say_odd(rows, known.schema.readings)
            yield TablePart(rows, self.labels)


def check_columns(
    names: Sequence[str], y: Target, beside: Beside, *, semi_supervised: bool
) -> None:
    """Raise a ValueError unless a table that is not in memory has the columns that are named."""
    if semi_supervised:
        raise ValueError(
            "semi_supervised=True needs all rows at once; give a table that is in memory."
        )
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    check_named(names, y, beside)


KINDS = {"y": "target column", "sample_weight": "column of weights"}  # in messages


def check_named(names: Sequence[str], y: Target, beside: Beside) -> None:
    """Raise a ValueError if labels, or what is said beside them, are a column that is not there."""
    if means_copies("groups", beside.groups) and COPIES in names:
        raise ValueError(
            f"groups={COPIES!r} are equal rows, but the table has a column {COPIES!r} too: rename "
            "it, or give its values."
        )
    for what, column in {"y": y, **beside.columns}.items():
        if isinstance(column, str) and column not in names:
            raise ValueError(missing_column(column, names, KINDS.get(what, f"column of {what}")))


def columns_taken(rows: Rows, beside: Beside) -> tuple[Rows, Beside]:
    """Take the columns that are named beside labels out of rows in memory."""
    found: dict[str, Target] = dict(beside.given)
    check_named([str(name) for name in rows.names], None, beside)
    for what, name in beside.columns.items():
        found[what] = rows.values(name)
    rest = set(beside.columns.values())
    rows = rows.select([name for name in rows.names if name not in rest])
    return rows, Beside(**found)


def read_labelled(X: Table, y: Target, texts: bool | None) -> tuple[Rows, Target]:
    """Read rows, and take the column that ``y`` may name out of them."""
    rows = as_rows(X, texts)
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    if isinstance(y, str):
        rows, y = rows.split(y)
    else:
        y = read_labels(y)
    if getattr(y, "shape", ())[1:] == (1,):
        from sklearn.exceptions import DataConversionWarning  # which scikit-learn's checks expect

        warn(
            "A column-vector y was passed when a 1d array was expected; take its column.",
            DataConversionWarning,
        )
    return rows, y


def count(
    source: Labelled, how: Recipe, known: Counted | None = None
) -> tuple[Counted | None, Reservoir]:
    """Count the rows of a source alone, as columns are known, and sample them."""
    while True:
        try:
            return _count(source, how, known)
        except ReadAgainError:  # of how strings are read, as the source knows now
            continue


def _count(
    source: Labelled, how: Recipe, known: Counted | None
) -> tuple[Counted | None, Reservoir]:
    """Read, choose, encode and count part after part."""
    counted, sample = None, how.sample
    schema = None if known is None else known.schema
    looked_at_again = source.in_memory and known is None and how.settings.weights is not None
    for part in source.parts(how, known):
        more, batch = part.counted, None
        if part.rows is not None:
            if schema is None:
                every = part.rows if part.every is None else part.every
                schema = infer(every, how.event_models, how.settings)
                batch = schema.encode_own(part.rows, part.labels)
            else:
                schema = extend(schema, part.rows, how.event_models, how.settings)
                batch = schema.encode(part.rows, part.labels)
            batch = batch.tokenised() if looked_at_again else batch
            more = Counted.of(batch, schema, how.settings)
        assert more is not None
        counted = more if counted is None else Counted.total((counted, more), consume=True)
        schema = counted.schema
        if batch is not None:
            sample = sample.added(batch)
            if not source.in_memory:  # what waits is drawn from before the next part comes
                sample = sample.for_model(Model.of(counted))
        elif part.sample is not None:
            sample = part.sample
    if counted is not None and source.readings:
        counted = counted.read_as(source.readings)
    return counted, sample


def encoded(source: Labelled, how: Recipe) -> tuple[Batch, Model]:
    """Return rows in memory as they are encoded if the first, and the model of what was counted."""
    (part,) = source.parts(how, None)
    assert part.rows is not None
    every = part.rows if part.every is None else part.every
    schema = infer(every, how.event_models, how.settings)
    batch = schema.encode_own(part.rows, part.labels).tokenised()
    return batch, Model.of(Counted.of(batch, schema, how.settings))


def weighed(model: Model, sample: Reservoir, kind: Weighting | None, *, seeks: bool) -> Model:
    """Return the model with weights fitted to the sample; with interactions, if they are sought."""
    if model.counted.unlabelled_weight > 0:
        return model  # the weights stay: no row of the sample can be left out
    if kind is None:
        return model.weighed(None)
    if not isinstance(asked := model.settings.derived, str):
        columns = known_columns(model)
        for said in asked or ():
            read_combined(said, columns)  # what is wrong is said, however few rows there are
    rows = sample.of(model, larger=seeks)
    if rows.copied:
        warn_of_copies(rows.copied)
    if seeks:
        return add_interactions(model, rows)
    return model.weighed(rows.weighed(model, kind).weights)


# --- What can only be a mistake in labels and weights --------------------------------------------


ENOUGH_ROWS, OWN_CLASS = 20, 0.5  # rows, of which more classes than this share are a mistake
NO_LABELS = frozenset(("", "na", "n/a", "nan", "null", "(null)", "<na>", "#n/a", "?", "\\n"))


def check_some_weight(weight: Floats) -> None:
    """Raise a ValueError if none of the rows or classes has any weight."""
    if not weight.any():
        raise ValueError("There is nothing to learn: all sample weights are zero.")


def check_classification(columns: Sized, rows: int, classes: LabelArray) -> None:
    """Refuse what can only be a mistake, in the words that scikit-learn's checks expect."""
    if not len(columns):
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required."
        )
    if classes.dtype.kind == "f" and (classes != np.rint(classes)).any():
        raise ValueError(
            "Unknown label type: continuous. Labels are fractions; a class must be a whole number "
            "or a string."
        )
    if rows >= ENOUGH_ROWS and len(classes) > OWN_CLASS * rows:
        warn(
            f"Nearly every row has a class of its own ({len(classes):,} classes in {rows:,} "
            "rows): is the target an identifier, or a number to be estimated?"
        )
    if classes.dtype.kind == "U":
        _warn_of_odd_labels(classes.tolist())


def _warn_of_odd_labels(classes: list[str]) -> None:
    """Warn of a class that may be a missing label, and of two that are written nearly alike."""
    for label in classes:
        if label.strip().lower() in NO_LABELS:
            warn(
                f"{label!r} is learned as a class like others: if it means that there is no label, "
                "leave its rows out, or make it None with semi_supervised=True."
            )
    alike: dict[str, str] = {}
    for label in classes:
        plain = " ".join(label.split())
        plain = plain.lower() if len(plain) > 1 else plain
        other = alike.setdefault(plain, label)
        if other != label:
            warn(
                f"{other!r} and {label!r} are learned as two classes, though they differ in blanks "
                "or capitals only."
            )
