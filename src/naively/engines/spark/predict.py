"""A frame of Spark is predicted where it is: a frame with further columns, computed when asked.

The model travels to the workers as a model file, which Spark ships with the function and broadcasts
if it is large; a worker opens it once, for all partitions that it predicts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from naively.data.arrow import filled
from naively.data.frames import as_rows
from naively.data.rows import Rows, join_columns
from naively.engines.spark.frame import kinds_of, numbered, one_core
from naively.file import store
from naively.model.class_prior import Cost, decide, given_prior, shift
from naively.model.model import Model
from naively.schema.schema import Schema
from naively.schema.settings import Probabilities

PREDICTION = "prediction"
UNSURE = "unsure"  # as ``decide`` says it; null where labels are no strings

Answer: TypeAlias = "Callable[[Model, Rows], list[Any]]"  # arrays of PyArrow, one a column


def predict(frame: Any, model: Model, cost: Cost = None, reject: float | None = None) -> Any:
    """Return a frame of Spark with a column more: the most probable class, or least costly one.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows; columns that were not learned stay in the result.
    model : Model
        What was learned.
    cost, reject
        As for ``NaiveBayes.predict``; a row that is too uncertain is "unsure", or null where the
        labels are no strings.

    Returns
    -------
    frame : pyspark.sql.DataFrame
        The same rows, with the column "prediction".
    """
    import pyarrow as pa

    if cost is not None or reject is not None:  # so that what is wrong with them is said here
        decide(np.ones((1, len(model.classes))) / len(model.classes), model.classes, cost, reject)
    kind = pa.array(model.classes.tolist()).type
    return _answered(frame, model, {PREDICTION: kind}, partial(_labels, cost=cost, reject=reject))


def predict_proba(frame: Any, model: Model, class_prior: Probabilities | None = None) -> Any:
    """Return a frame of Spark with further columns: the probability of each class.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows; columns that were not learned stay in the result.
    model : Model
        What was learned.
    class_prior
        As for ``NaiveBayes.predict_proba``.

    Returns
    -------
    frame : pyspark.sql.DataFrame
        The same rows, with a column "p(label)" for each class.
    """
    import pyarrow as pa

    prior = None if class_prior is None else given_prior(class_prior, model.classes)
    names = [f"p({label})" for label in model.classes.tolist()]
    answer = partial(_posteriors, prior=prior)
    return _answered(frame, model, dict.fromkeys(names, pa.float64()), answer)


def _labels(model: Model, rows: Rows, cost: Cost, reject: float | None) -> list[Any]:
    import pyarrow as pa

    classes = pa.array(model.classes.tolist())
    if cost is None and reject is None:
        return [classes.take(pa.array(model.score(model.encode(rows), "label")))]
    found = decide(model.posterior(rows), model.classes, cost, reject).tolist()
    if not pa.types.is_string(classes.type):
        found = [None if label == UNSURE else label for label in found]
    return [pa.array(found, classes.type)]


def _posteriors(model: Model, rows: Rows, prior: Any) -> list[Any]:
    import pyarrow as pa

    p = model.posterior(rows)
    if prior is not None:
        p = shift(p, np.exp(model.class_log_prior), prior)
    return [pa.array(p[:, j]) for j in range(p.shape[1])]


@dataclass(frozen=True)
class Predicting:
    """Predicts a partition in a worker, to which Spark ships it as it ships any function.

    Parameters
    ----------
    content : bytes
        The model file.
    read : sequence of str
        The columns that the model reads.
    names : sequence of str
        All columns of the result.
    answer : callable
        Returns the further columns of some rows.
    """

    content: bytes
    read: Sequence[str]
    names: Sequence[str]
    answer: Answer

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        one_core()
        model = _opened(self.content)
        for batch in batches:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what columns lack was said when it was asked
                more = self.answer(model, self._rows(batch))
            yield pa.RecordBatch.from_arrays([*batch.columns, *more], names=list(self.names))

    def _rows(self, batch: Any) -> Rows:
        here = {name: place for place, name in enumerate(self.names)}
        return as_rows(batch.select([here[n] for n in self.read]).rename_columns(list(self.read)))


@lru_cache(1)
def _opened(content: bytes) -> Model:
    return store.from_bytes(content).model


def _answered(frame: Any, model: Model, more: dict[str, Any], answer: Answer) -> Any:
    """Return a frame with further columns, of these types of PyArrow."""
    from pyspark.sql.types import StructField, StructType

    taken = next((name for name in more if name in frame.columns), None)
    if taken is not None:
        raise ValueError(f"The frame has a column {taken!r} already; rename or drop it.")
    read = _read(frame, model.schema)
    fields = [*frame.schema.fields, *(StructField(n, _type(of)) for n, of in more.items())]
    predicting = Predicting(store.to_bytes(model), read, [of.name for of in fields], answer)
    return numbered(frame).mapInArrow(predicting, StructType(fields))


def _read(frame: Any, schema: Schema) -> list[str]:
    """Return the columns of a frame that a model reads, or raise what is wrong with them.

    Those that were not learned are no mistake here, as they are to stay beside the prediction.
    """
    learned = [name for name in frame.columns if name in set(schema.order)]
    names = learned if learned and schema.names else list(frame.columns)
    nothing = np.empty(0, object)
    kinds = kinds_of(frame, names)
    columns = {n: (filled(nothing, kind) if kind else nothing, kind) for n, kind in kinds.items()}
    schema.match(join_columns(columns))
    return names


def _type(of: Any) -> Any:
    """Return Spark's type of a column by PyArrow's."""
    import pyarrow as pa
    from pyspark.sql import types

    every: list[tuple[Callable[[Any], bool], Any]] = [
        (pa.types.is_boolean, types.BooleanType()),
        (pa.types.is_integer, types.LongType()),
        (pa.types.is_floating, types.DoubleType()),
        (pa.types.is_date, types.DateType()),
        (pa.types.is_timestamp, types.TimestampNTZType()),
    ]
    return next((spark for holds, spark in every if holds(of)), types.StringType())
