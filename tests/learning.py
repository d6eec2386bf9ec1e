"""Models of labelled rows, by event models that are given or chosen, and rows as they see them."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively import Model
from naively.counting.axis import Columns
from naively.counting.block import Batch, Dense
from naively.counting.labels import Labels, encode_labels
from naively.data.columns import Rows
from naively.data.frames import as_rows
from naively.schema.choose import EventModels, infer, read_as_given
from naively.schema.settings import PURE, Settings


def learn(rows: Rows, labels: Labels, given: EventModels = "auto", how: Settings = PURE) -> Model:
    """Choose the event models, and count."""
    rows = read_as_given(rows, given, how)
    return Model.learn(rows, labels, infer(rows, given, how), how)


def learn_table(
    X: Any, y: Any, given: EventModels = "auto", how: Settings = PURE, weight: Any = None
) -> Model:
    """Read a table as users give it, choose the event models, and count."""
    return learn(as_rows(X), encode_labels(y, weight), given, how)


def encoded(model: Model, X: Any, y: Any = None, weight: Any = None) -> Batch:
    """Return the rows of a table as a model scores them, with labels where they are given."""
    return model.encode(as_rows(X), None if y is None else encode_labels(y, weight))


def dense(X: np.ndarray) -> Dense:
    """Return a matrix of numbers whose columns are named by their places."""
    return Dense(X, Columns(range(X.shape[1])))


def coded(y: Any, k: int, weight: np.ndarray | None = None) -> Labels:
    """Return labels by their codes, of which the classes have the names."""
    return Labels(np.asarray(y, np.int32), np.arange(k), weight)
