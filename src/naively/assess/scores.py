"""Scores of predictions on labelled rows: accuracy, log loss, precision and recall by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.kernels import Floats
from naively.core.labels import encode_labels
from naively.data.rows import Rows
from naively.model import Model

LEAST = 1e-15  # probabilities are clipped here in the log loss, so that one row is not infinite


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores on labelled rows, beside the class that is most frequent there.

    Parameters
    ----------
    rows : int
        How many rows were scored.
    accuracy : float
        Share of rows whose most probable class is the right one.
    log_loss : float
        Mean of -log p(right class), in nats, with p clipped at 1e-15.
    majority : object
        The most frequent class among the rows.
    majority_accuracy : float
        The accuracy of always answering it.
    by_class : dict
        For each class its precision, recall and number of rows.
    """

    rows: int
    accuracy: float
    log_loss: float
    majority: Any
    majority_accuracy: float
    by_class: dict[Any, tuple[float, float, int]]


def score(model: Model, rows: Rows, y: NDArray[Any]) -> Scores:
    """Predict rows and score the predictions; a label that was never learned is always missed."""
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    if not len(rows):
        raise ValueError("There are no rows to score.")
    right = encode_labels(y)  # a missing label is said
    y = right.classes[right.codes]
    p = model.posterior(rows)
    predicted = model.classes[p.argmax(axis=1)]
    labels, count = np.unique(y, return_counts=True)
    majority = count.argmax()
    every = (
        np.unique(np.concatenate([labels, model.classes]))
        if labels.dtype.kind == model.classes.dtype.kind
        else labels
    )
    precision, recall, _, support = precision_recall_fscore_support(
        y, predicted, labels=every, zero_division=0.0
    )
    return Scores(
        rows=len(rows),
        accuracy=float(accuracy_score(y, predicted)),
        log_loss=_log_loss(p, model.classes, y),
        majority=labels.tolist()[majority],
        majority_accuracy=float(count[majority] / len(rows)),
        by_class={
            label: (float(precision[i]), float(recall[i]), int(support[i]))
            for i, label in enumerate(every.tolist())
        },
    )


def _log_loss(p: Floats, classes: NDArray[Any], y: NDArray[Any]) -> float:
    """scikit-learn's log_loss refuses labels that were never learned; here they have p = 0."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    code = np.array([place.get(label, -1) for label in y.tolist()])
    right = np.where(code >= 0, p[np.arange(len(p)), code], 0.0)
    return float(-np.log(np.clip(right, LEAST, 1.0)).mean())
