"""Scores of predictions on labelled rows: accuracy, and how good the probabilities are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import (
    Label,
    LabelArray,
    Labels,
    Target,
    encode_labels,
    union_classes,
)
from naively.data.rows import Rows
from naively.kernels.reference import Floats
from naively.messages import Shown
from naively.model.model import Model

LEAST = 1e-15  # the log loss clips probabilities here, so that no row has an infinite loss
BINS = 15  # of confidence, from 0 to 1


@dataclass(frozen=True, eq=False)
class Bin:
    """Rows whose most probable class has about the same probability."""

    rows: float
    confidence: float  # mean of that probability
    accuracy: float  # share of the rows whose right class it is


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Shown):
    """Scores on labelled rows, compared with always answering the most frequent class.

    Parameters
    ----------
    rows : int
        How many rows were scored.
    accuracy : float
        Share of rows whose most probable class is the right one.
    log_loss : float
        Mean of -log p(right class), in nats, with p clipped at 1e-15.
    brier : float
        Mean squared distance of the probabilities from 1 for the right class and 0 for the rest,
        summed over the classes (Brier 1950), halved so that it is between 0 and 1. A class that
        was never learned has probability 0.
    auc : float
        Area under the ROC curve; with more than two classes, the mean over each class against the
        rest, weighted by its rows. NaN where only one class occurs.
    calibration_error : float
        Expected calibration error: mean distance of confidence from accuracy, over 15 bins of
        confidence (Naeini, Cooper & Hauskrecht 2015).
    majority : object
        The most frequent class among the rows.
    majority_accuracy : float
        The accuracy of always answering it.
    by_class : dict
        For each class its precision, recall and number of rows (or their weight). Precision is NaN
        where it was never answered, recall where no row has it.
    classes : list
        The classes of the confusion table.
    confusion : ndarray of shape (classes, classes)
        Rows by right class (down) and most probable class (across).
    reliability : list of Bin
        Confidence and accuracy in each bin of confidence that holds rows.
    cost : mapping of str to float
        Of an assessment: how much the log loss grows without each column, in nats.
    of : int
        Of an assessment: how many rows the model has learned, from which ``rows`` were drawn.
    why : str
        Of an assessment: why ``rows`` are not all rows; empty if they are.
    folds : (int, int)
        Of an assessment: how many folds of rows were held out, and of how many.
    why_folds : str
        Of an assessment: why no more were held out; empty if more would be of no use.
    """

    rows: int
    accuracy: float
    log_loss: float
    brier: float
    auc: float
    calibration_error: float
    majority: Label
    majority_accuracy: float
    by_class: dict[Label, tuple[float, float, float]]
    classes: list[Label]
    confusion: Floats | NDArray[np.int64]
    reliability: list[Bin]
    cost: Mapping[str, float] = field(default_factory=dict)
    of: int = 0
    why: str = ""
    folds: tuple[int, int] = (0, 0)
    why_folds: str = ""

    def __str__(self) -> str:
        """Return a line for each score, and for each of the ten columns that are worth most."""
        always = f"(always {self.majority!r}: {self.majority_accuracy:.4f})"
        lines = [
            f"accuracy           {self.accuracy:.4f}   {always}",
            f"log loss           {self.log_loss:.4f} nats a row",
            f"Brier score        {self.brier:.4f}",
            f"area under ROC     {self.auc:.4f}",
            f"calibration error  {self.calibration_error:.4f}",
            *self._of_folds,
            f"rows               {self.rows:,}"
            + (f" of {self.of:,}, drawn at random ({self.why})" if self.why else ""),
        ]
        if self.cost:
            lines.append("log loss without a column grows by")
            most = sorted(self.cost.items(), key=lambda item: -item[1])
            lines += [f"  {cost:+.4f}  {name}" for name, cost in most[:10]]
        return "\n".join(lines)

    @property
    def _of_folds(self) -> list[str]:
        held_out, dealt = self.folds
        if not held_out:
            return []
        number = f"{held_out}" if held_out == dealt else f"{held_out} of {dealt}"
        return [f"folds              {number}" + (f" ({self.why_folds})" if self.why_folds else "")]


def score(model: Model, rows: Rows, y: Target) -> Scores:
    """Predict rows and score the predictions; a label that was never learned is always missed."""
    if not len(rows):
        raise ValueError("There are no rows to score.")
    right = encode_labels(y)  # refuses a missing label
    return scores(model.posterior(rows), model.classes, right.classes[right.codes])


def scores(p: Floats, learned: LabelArray, y: LabelArray, weight: Floats | None = None) -> Scores:
    """Score posteriors, (rows, learned classes), against the right labels, (rows,).

    ``weight`` is the weight of each row, (rows,); by default all rows weigh the same.
    """
    labels, code = np.unique(y, return_inverse=True)
    every = union_classes(learned, labels)
    right, of_learned = _places(labels, every)[code], _places(learned, every)
    k = len(every)
    answer = of_learned[p.argmax(axis=1)]
    confusion = np.bincount(right * k + answer, weight, k * k).reshape(k, k)
    hits, rows = confusion.diagonal(), confusion.sum(axis=1)
    with np.errstate(invalid="ignore"):  # 0 / 0 is undefined, and NaN
        precision, recall = hits / confusion.sum(axis=0), hits / rows
    truth: Floats = (right[:, None] == of_learned).astype(np.float64)
    never_learned = 1.0 - truth.sum(axis=1)
    majority = rows.argmax()
    own = {label: label for label in learned.tolist()}  # 1.0 is called 1 if 1 was learned
    names = [own.get(label, label) for label in every.tolist()]
    return Scores(
        rows=len(y),
        accuracy=float(hits.sum() / rows.sum()),
        log_loss=log_loss((p * truth).sum(axis=1), weight),
        brier=_mean((((p - truth) ** 2).sum(axis=1) + never_learned) / 2, weight),
        auc=_auc(p, truth, weight),
        calibration_error=_mean_distance(bins := _reliability(p, truth, weight)),
        majority=names[majority],
        majority_accuracy=float(rows[majority] / rows.sum()),
        by_class={
            label: (float(precision[i]), float(recall[i]), rows[i].item())
            for i, label in enumerate(names)
        },
        classes=names,
        confusion=confusion,
        reliability=bins,
    )


def log_loss(p_right: Floats, weight: Floats | NDArray[np.int64] | None = None) -> float:
    """Return the mean of -log p(right class), with p clipped at 1e-15, in nats per row.

    Parameters
    ----------
    p_right : ndarray of shape (rows,)
        The posterior of the right class of each row.
    weight : ndarray of shape (rows,), optional
        The weight of each row; by default all rows weigh the same.
    """
    return _mean(-np.log(np.clip(p_right, LEAST, 1.0)), weight)


def p_right(joint: Floats, labels: Labels) -> Floats:
    """Return the posterior of the right class, (rows,), from joint log likelihoods, (rows, k)."""
    log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    right: Floats = np.exp(log_p[np.arange(len(joint)), labels.codes])
    return right


def _places(labels: LabelArray, every: LabelArray) -> NDArray[np.int64]:
    """Return the place of each label in ``every``, (labels,); 1.0 is 1, a day is its midnight."""
    place = {label: i for i, label in enumerate(every.tolist())}
    return np.array([place[label] for label in labels.astype(every.dtype).tolist()], np.int64)


def _mean(values: Floats, weight: Floats | NDArray[np.int64] | None) -> float:
    return float(np.average(values, weights=weight))


def _auc(p: Floats, truth: Floats, weight: Floats | None) -> float:
    areas, shares = [], []
    for c in range(p.shape[1]):
        share = _mean(truth[:, c], weight)
        if 0 < share < 1:
            areas.append(area_under_roc(p[:, c], truth[:, c], weight))
            shares.append(share)
    return float(np.average(areas, weights=shares)) if areas else float("nan")


def area_under_roc(score: Floats, truth: Floats, weight: Floats | None = None) -> float:
    """Return the chance that a row of the class scores above one that is not; a tie is half.

    The scores, the truth (1 for a row of the class, else 0) and the weights are of shape (rows,).
    Scikit-learn's function does the same, but takes a second to import.

    Examples
    --------
    >>> import numpy as np
    >>> area_under_roc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]))
    0.875
    """
    _, place = np.unique(score, return_inverse=True)
    weight = np.ones(len(score)) if weight is None else weight
    inside, outside = (np.bincount(place, weight * of) for of in (truth, 1.0 - truth))
    below = outside.cumsum() - outside / 2
    return float(inside @ below / (inside.sum() * outside.sum()))


def _reliability(p: Floats, truth: Floats, weight: Floats | None) -> list[Bin]:
    confidence, best = p.max(axis=1), p.argmax(axis=1)
    right = truth[np.arange(len(p)), best]
    of = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    one = np.ones(len(p)) if weight is None else weight
    rows, sure, hit = (np.bincount(of, one * x, BINS) for x in (np.ones(len(p)), confidence, right))
    return [
        Bin(float(n), float(s / n), float(h / n))
        for n, s, h in zip(rows, sure, hit, strict=True)
        if n > 0
    ]


def _mean_distance(bins: list[Bin]) -> float:
    rows = sum(b.rows for b in bins)
    return sum(b.rows * abs(b.confidence - b.accuracy) for b in bins) / rows
