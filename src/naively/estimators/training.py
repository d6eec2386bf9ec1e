"""Rows to learn from: in memory, in batches, on Spark or in a database, with labels.

Of rows in memory some labels may be missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from naively.counting.block import Batch
from naively.counting.labels import (
    Beside,
    LabelArray,
    Labels,
    RowWeight,
    Target,
    check_weight,
    encode_labels,
    encode_some_labels,
)
from naively.data.columns import Rows, missing_column
from naively.data.frames import Table, as_rows, read_labels
from naively.data.stream import Stream
from naively.engines.stream import LabelledStream, learn
from naively.fitting.sample import Reservoir
from naively.kernels.reference import Floats
from naively.kernels.strings import Strings
from naively.messages import warn
from naively.model.counted import Counted, check_rows
from naively.model.model import Model
from naively.options import COPIES, Weighting, means_copies
from naively.schema.choose import EventModels, extend, infer, read_as_given
from naively.schema.schema import Schema
from naively.schema.settings import Settings

if TYPE_CHECKING:
    from naively.engines.spark import LabelledFrame
    from naively.engines.sql_tallies import DatabaseTable


STALE = 1 / 1.1  # weights fitted to this share of the rows, or less, are fitted again


class Training(ABC):
    """Labelled rows to learn from."""

    @property
    def is_labelled(self) -> bool:
        """Whether all rows have a label."""
        return True

    @abstractmethod
    def learn(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        *,
        again: bool = True,
    ) -> tuple[Model, Reservoir]:
        """Learn these rows as the first; ``sample`` is empty, and chooses the rows of the sample.

        ``again`` says whether rows are looked at again at once, as weights are fitted to them.
        """

    @abstractmethod
    def learn_more(
        self, model: Model, event_models: EventModels, sample: Reservoir | None
    ) -> tuple[Model, Reservoir | None]:
        """Return what a model has learned then, with a sample of all rows if there is one yet."""

    @abstractmethod
    def alone(self, model: Model, event_models: EventModels) -> Model:
        """Count these rows alone, as a model counts its own."""


class NotInMemory(Training):
    """A table that is not in memory, of which what is counted comes here with a sample."""

    nothing: str  # what is said of a table without rows

    @property
    @abstractmethod
    def columns(self) -> Sequence[str]:
        """The columns that are learned from."""

    @abstractmethod
    def count(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        known: Schema | None = None,
    ) -> tuple[Model | None, Reservoir]:
        """Count the rows, as `naively.engines.stream.learn` does."""

    def learn(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        *,
        again: bool = True,  # noqa: ARG002  (batches are gone then)
    ) -> tuple[Model, Reservoir]:
        model, sample = self.count(event_models, settings, sample)
        if model is None:
            raise ValueError(self.nothing)
        check_classification(self.columns, int(sample.seen), model.classes)
        check_some_weight(model.counted.tally.class_count)
        return model, sample

    def learn_more(
        self, model: Model, event_models: EventModels, sample: Reservoir | None
    ) -> tuple[Model, Reservoir | None]:
        empty = Reservoir() if sample is None else sample.empty()
        more, new = self.count(event_models, model.settings, empty, model.counted.schema)
        if more is None:
            return model, sample
        model += more
        return model, None if sample is None else sample.merged(new, model)

    def alone(self, model: Model, event_models: EventModels) -> Model:
        found, _ = self.count(event_models, model.settings, Reservoir(), model.counted.schema)
        if found is None:
            raise ValueError(self.nothing)
        return found


@dataclass(frozen=True, eq=False)
class Batches(NotInMemory):
    """A table of any length, which is learned batch by batch."""

    table: LabelledStream
    nothing = "There are no rows to learn from: the table is empty."

    @property
    def columns(self) -> Sequence[str]:
        return self.table.columns

    def count(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        known: Schema | None = None,
    ) -> tuple[Model | None, Reservoir]:
        return learn(self.table, event_models, settings, sample, known)


@dataclass(frozen=True, eq=False)
class OnCluster(NotInMemory):
    """A frame of Spark, which is learned where its partitions are."""

    table: LabelledFrame
    nothing = "There are no rows to learn from: the frame is empty."

    @property
    def columns(self) -> Sequence[str]:
        frame, target, beside = self.table
        own = {target, *beside.values()}
        return [name for name in frame.columns if name not in own]

    def count(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        known: Schema | None = None,
    ) -> tuple[Model | None, Reservoir]:
        from naively.engines.spark import learn as learn_frame

        return learn_frame(self.table, event_models, settings, sample, known)


@dataclass(frozen=True, eq=False)
class InDatabase(NotInMemory):
    """A table of a database, which is counted there."""

    source: DatabaseTable
    nothing = "There are no rows to learn from: the table is empty."

    @property
    def columns(self) -> Sequence[str]:
        return self.source.names

    def count(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        known: Schema | None = None,
    ) -> tuple[Model | None, Reservoir]:
        from naively.engines.sql import learn

        return learn(self.source, event_models, settings, sample, known)


@dataclass(frozen=True, eq=False)
class InMemory(Training):
    """Rows in memory, of which some may have no label.

    Parameters
    ----------
    every : Rows
        All rows, those without a label too.
    labels : Labels
        The labels and weights of the rows that have a label.
    there : ndarray of shape (rows with a label,), optional
        Which rows have a label; by default all.
    weight : ndarray of shape (rows,), optional
        The weight of every row; by default 1.
    """

    every: Rows
    labels: Labels
    there: NDArray[np.int64] | None = None
    weight: Floats | None = None

    @classmethod
    def encode(cls, rows: Rows, y: Target, beside: Beside, *, semi_supervised: bool) -> InMemory:
        """Encode labels, of which some may be missing if learning is semi-supervised."""
        if not semi_supervised:
            return cls(rows, beside.encode(y))
        labels, there = encode_some_labels(y, beside.sample_weight)
        if len(there) == len(y):
            return cls(rows, beside.encode(y))
        for what in ("frequencies", "groups"):
            if what in beside.given:
                raise ValueError(f"{what} needs all labels: with semi_supervised=True some lack.")
        return cls(rows, labels, there, check_weight(beside.sample_weight, len(rows)))

    @property
    def is_labelled(self) -> bool:
        return self.there is None

    @cached_property
    def rows(self) -> Rows:
        """The rows that have a label."""
        return self.every if self.there is None else self.every.take(self.there)

    def learn(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        *,
        again: bool = True,
    ) -> tuple[Model, Reservoir]:
        batch, model = self.first(event_models, settings, again=again)
        sample.add(batch, model)
        return model, sample

    def first(
        self, event_models: EventModels, settings: Settings, *, again: bool = True
    ) -> tuple[Batch, Model]:
        """Return these rows as they are encoded where they are the first, and what they teach.

        Texts that are looked at again know their words then.
        """
        names = self.every.names if len(self.every) else ["no row is looked at"]
        check_classification(names, len(self.labels), self.labels.classes)
        if len(self.labels):
            check_some_weight(self.labels.weights)
        if self.there is not None and not len(self.there):
            raise ValueError("No row has a label; label some rows of each class.")
        check_rows(self.rows, self.labels)
        times = self.labels.frequency
        every = read_as_given(self.every, event_models, settings, times=times)
        read = replace(self, every=every)
        schema = infer(read.every, event_models, settings)
        batch = schema.encode(read.rows, self.labels)
        batch = batch.tokenised() if again else batch
        return batch, Model.of(Counted.of(batch, schema, settings))

    def learn_more(
        self, model: Model, event_models: EventModels, sample: Reservoir | None
    ) -> tuple[Model, Reservoir | None]:
        if len(self.rows) or len(self.labels):
            batch, more = self._count(model, event_models)
            model += more
            if sample is not None:
                sample.add(batch, model)
        return model, sample

    def alone(self, model: Model, event_models: EventModels) -> Model:
        return self._count(model, event_models)[1]

    def _count(self, model: Model, event_models: EventModels) -> tuple[Batch, Model]:
        """Encode these rows as a model counts them, and count them alone."""
        check_rows(self.rows, self.labels)
        known, times = model.counted.grouped, self.labels.frequency
        rows = read_as_given(self.rows, event_models, model.settings, *known, times)
        model.counted.schema.say_odd(rows, model.counted.schema.readings)
        schema = extend(model.counted.schema, rows, event_models, model.settings)
        batch = schema.encode(rows, self.labels)
        return batch, Model.of(Counted.of(batch, schema, model.settings))

    def learn_unlabelled(
        self, model: Model, sample: Reservoir, event_models: EventModels, kind: Weighting | None
    ) -> tuple[Model, float]:
        """Learn from the rows without a label too, and fit the weights."""
        labelled = model.classes[model.counted.tally.class_count > 0].tolist()
        if len(labelled) == 1:
            raise ValueError(
                f"Only the class {labelled[0]!r} has labels, so that rows without a label cannot "
                "be told from it; label some rows of another class too (the whole number -1 is "
                "taken for no label where semi_supervised=True)."
            )
        n = len(self.every)
        rest = np.setdiff1d(np.arange(n), [] if self.there is None else self.there)
        weight = np.ones(len(rest)) if self.weight is None else self.weight[rest]
        # Rows of weight 0 make room for the columns, levels and words that all rows have.
        schema = extend(model.counted.schema, self.every, event_models, model.settings)
        nothing = Labels(np.zeros(n, np.int32), model.classes, np.zeros(n))
        model += Model.learn(self.every, nothing, schema, model.settings)
        labels = replace(Labels.none(len(rest), model.classes), weight=weight)
        batch = model.counted.schema.encode(self.every.take(rest), labels)
        from naively.fitting.semi_supervised import learn_unlabelled

        return learn_unlabelled(model, sample, batch, kind)


def read_stream(stream: Stream, y: Target, beside: Beside, *, semi_supervised: bool) -> Batches:
    """Return a table of any length with its labels, and what else is said of its rows."""
    check_columns(stream.names, y, beside, semi_supervised=semi_supervised)
    return Batches(LabelledStream(stream, y, beside))


def read_frame(frame: Any, y: Target, beside: Beside, *, semi_supervised: bool) -> OnCluster:
    """Return a frame of Spark with the columns of its labels, and what else is said of its rows."""
    check_columns(frame.columns, y, beside, semi_supervised=semi_supervised)
    for what, column in {"y": y, **beside.given}.items():
        if not isinstance(column, str):
            raise ValueError(  # noqa: TRY004
                f"{what} must be the name of a column of the frame, got a {type(column).__name__}."
            )
    from naively.engines.spark import LabelledFrame

    named = {what: of for what, of in beside.given.items() if isinstance(of, str)}
    return OnCluster(LabelledFrame(frame, y, named))


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
    if not found:
        return rows, beside
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


def weights_are_stale(before: Model, model: Model) -> bool:
    """Whether weights are of too few of a model's rows, or of fewer columns than it now has."""
    if model.weights is None:
        return True
    fresh = model.weights.fresh(float(model.independent_rows.sum()))
    return fresh <= STALE or not before.columns().is_part_of(model.columns())


# --- What is checked before anything is learned or asked: labels, weights, whether it is fitted ---


ENOUGH_ROWS, OWN_CLASS = 20, 0.5  # rows, of which more classes than this share are a mistake
NO_LABELS = frozenset(("", "na", "n/a", "nan", "null", "(null)", "<na>", "#n/a", "?", "\\n"))


Seed: TypeAlias = "int | np.random.Generator | None"  # of random choices


def check_is_fitted(estimator: object) -> None:
    """Raise scikit-learn's NotFittedError, or its TypeError, unless an estimator has learned.

    Scikit-learn, which takes long to import, is imported only to say no.
    """
    if "model_" not in getattr(estimator, "__dict__", ()):
        from sklearn.utils.validation import check_is_fitted as check

        check(estimator)


def plain_labels(y: Target, sample_weight: RowWeight) -> Labels | None:
    """Encode labels that scikit-learn takes as they are; None of those that it is to look at.

    These are an array of whole numbers, booleans or strings, a column of any library that is read
    as one, and a list of strings. That they are is found as they are encoded, once.

    >>> plain_labels(np.array([2, 1, 2]), None).classes
    array([1, 2])
    >>> plain_labels(np.array([2.5, 1.0]), None)  # None: scikit-learn says what is wrong
    """
    if not isinstance(y, np.ndarray | list) and hasattr(y, "to_numpy"):
        y = read_labels(y)
        y = y if isinstance(y, Strings) else y.to_numpy()
    if isinstance(y, list):
        if not y or not isinstance(y[0], str):
            return None
    elif not isinstance(y, Strings) and not (type(y) is np.ndarray and y.dtype.kind in "biufUO"):
        return None
    try:
        labels = encode_labels(y, sample_weight)
    except (ValueError, TypeError):
        return None
    kind = labels.classes.dtype.kind
    of_objects = isinstance(y, np.ndarray) and y.dtype.kind == "O" and kind != "U"
    if of_objects or kind not in "biufU" or (isinstance(y, np.ndarray) and y.ndim != 1):
        return None
    fractions = kind == "f" and bool((labels.classes != np.rint(labels.classes)).any())
    return None if fractions else labels


def is_single(dtype: DTypeLike) -> bool:
    """Whether results are to be of float32; a ValueError if of anything but that or float64."""
    if dtype is np.float64:
        return False
    asked = np.dtype(dtype)
    if asked not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {asked}.")
    return bool(asked == np.float32)


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
