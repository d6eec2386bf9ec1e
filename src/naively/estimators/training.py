"""Rows to learn from: in memory, in batches, on Spark or in a database, with labels.

Of rows in memory some labels may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from naively.counting.labels import (
    Beside,
    Labels,
    RowWeight,
    Target,
    encode_labels,
)
from naively.data.columns import Rows, missing_column
from naively.data.frames import Table, as_rows, read_labels
from naively.data.stream import Stream
from naively.fitting.learn import InMemory, LabelledStream, NotInMemory, Recipe, TablePart
from naively.fitting.reservoir import Reservoir
from naively.kernels.strings import Strings
from naively.messages import warn
from naively.model.counted import Counted
from naively.model.model import Model
from naively.options import COPIES, Weighting, means_copies
from naively.schema.choose import EventModels, extend

if TYPE_CHECKING:
    from naively.engines.spark import LabelledFrame
    from naively.engines.sql_tallies import DatabaseTable


STALE = 1 / 1.1  # weights fitted to this share of the rows, or less, are fitted again


@dataclass(frozen=True, eq=False)
class OnCluster(NotInMemory):
    """A frame of Spark, which is counted where its partitions are."""

    table: LabelledFrame
    nothing = "There are no rows to learn from: the frame is empty."

    @property
    def names(self) -> Sequence[str]:
        frame, target, beside = self.table
        own = {target, *beside.values()}
        return [name for name in frame.columns if name not in own]

    def parts(self, how: Recipe, known: Counted | None, sample: Reservoir) -> Iterator[TablePart]:
        from naively.engines.spark import parts

        return parts(self.table, how, known, sample)


@dataclass(frozen=True, eq=False)
class InDatabase(NotInMemory):
    """A table of a database, which is counted there."""

    table: DatabaseTable
    nothing = "There are no rows to learn from: the table is empty."

    @property
    def names(self) -> Sequence[str]:
        return self.table.names

    def parts(self, how: Recipe, known: Counted | None, sample: Reservoir) -> Iterator[TablePart]:
        from naively.engines.sql import parts

        return parts(self.table, how, known, sample)


def learn_unlabelled(
    found: InMemory,
    model: Model,
    sample: Reservoir,
    event_models: EventModels,
    kind: Weighting | None,
) -> tuple[Model, float]:
    """Learn from the rows without a label too, and fit the weights."""
    labelled = model.classes[model.counted.tally.class_count > 0].tolist()
    if len(labelled) == 1:
        raise ValueError(
            f"Only the class {labelled[0]!r} has labels, so that rows without a label cannot "
            "be told from it; label some rows of another class too (the whole number -1 is "
            "taken for no label where semi_supervised=True)."
        )
    n = len(found.every)
    rest = np.setdiff1d(np.arange(n), [] if found.there is None else found.there)
    weight = np.ones(len(rest)) if found.weight is None else found.weight[rest]
    # Rows of weight 0 make room for the columns, levels and words that all rows have.
    schema = extend(model.counted.schema, found.every, event_models, model.settings)
    nothing = Labels(np.zeros(n, np.int32), model.classes, np.zeros(n))
    model += Model.learn(found.every, nothing, schema, model.settings)
    labels = replace(Labels.none(len(rest), model.classes), weight=weight)
    batch = model.counted.schema.encode(found.every.take(rest), labels)
    from naively.fitting import semi_supervised

    return semi_supervised.learn_unlabelled(model, sample, batch, kind)


def read_stream(
    stream: Stream, y: Target, beside: Beside, *, semi_supervised: bool
) -> LabelledStream:
    """Return a table of any length with its labels, and what else is said of its rows."""
    check_columns(stream.names, y, beside, semi_supervised=semi_supervised)
    return LabelledStream(stream, y, beside)


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
    fresh = model.weights.fresh(float(model.view.rows.sum()))
    return fresh <= STALE or not before.columns().is_part_of(model.columns())


# --- What is checked before anything is learned or asked: labels, weights, whether it is fitted ---


def check_is_fitted(estimator: object) -> None:
    """Raise scikit-learn's NotFittedError, or its TypeError, unless an estimator has learned.

    Scikit-learn, which takes long to import, is imported only to say no.
    """
    if "_learned" not in getattr(estimator, "__dict__", ()):
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


# --- There is no class_weight: who asks for it is told what to say instead ----------------------
#
# Scikit-learn reads the options of an estimator from its ``__init__``, which must not take others.
# So what takes them is around ``__init__`` and ``fit``, and has their signatures.


S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")

SENTENCE = (
    "Naive Bayes has no class_weight: weights that only change how much each class counts are a "
    "class prior; say {}, or give the probability of each class."
)


def without_class_weight(verb: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a method say what to do in place of the keyword ``class_weight``.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> NaiveBayes(class_weight="balanced")
    Traceback (most recent call last):
    TypeError: Naive Bayes has no class_weight: ...; say class_prior='uniform' ...
    """

    @wraps(verb)
    def checked(self: S, /, *args: P.args, **options: P.kwargs) -> R:
        if "class_weight" in options:
            raise TypeError(no_class_weight(type(self)))
        return verb(self, *args, **options)

    return checked


def no_class_weight(kind: type) -> str:
    """Return what to say instead, in the words of the options that a class has."""
    return SENTENCE.format(_instead(signature(kind.__init__).parameters.keys()))  # type: ignore[misc]


def _instead(options: Collection[str]) -> str:
    """Return the option that makes all classes count alike."""
    if "fit_prior" in options:
        return "fit_prior=False for classes that count alike (NaiveBayes: class_prior='uniform')"
    if "priors" in options:
        return (
            "priors=[1 / k] * k for k classes that count alike (NaiveBayes: class_prior='uniform')"
        )
    return "class_prior='uniform' for classes that count alike"
