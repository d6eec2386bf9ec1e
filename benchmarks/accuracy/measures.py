"""What is measured of predicted probabilities: accuracy, log loss, calibration error, AUC."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

CLIP = 1e-15
BINS = 15
DRAWS = 20


def measure(P: NDArray, y: NDArray) -> dict[str, float]:
    """Return all measures of probabilities (rows x classes) for the codes of true labels."""
    return {
        "accuracy": float((P.argmax(axis=1) == y).mean()),
        "log_loss": log_loss(P, y),
        "ece": ece(P, y),
        "floor": ece_floor(P),
        "auc": auc(P, y),
    }


def log_loss(P: NDArray, y: NDArray) -> float:
    """Mean of -log p(true class), with p at least 1e-15."""
    return float(-np.log(np.clip(P[np.arange(len(y)), y], CLIP, 1)).mean())


def ece(P: NDArray, y: NDArray) -> float:
    """Return the expected calibration error of the most probable class, in 15 bins of equal width.

    Guo et al. (2017), "On calibration of modern neural networks".
    """
    return _ece(P.max(axis=1), P.argmax(axis=1) == y)


def ece_floor(P: NDArray, draws: int = DRAWS) -> float:
    """Return the calibration error to expect from chance alone.

    Whether the most probable class is right is drawn with the model's own probability, so the
    model is calibrated by construction; what is left, on average, is noise of few rows.
    """
    rng = np.random.default_rng(0)
    top = P.max(axis=1)
    return float(np.mean([_ece(top, rng.random(len(top)) < top) for _ in range(draws)]))


def _ece(top: NDArray, right: NDArray) -> float:
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    gap = np.bincount(bins, weights=right - top, minlength=BINS)
    return float(np.abs(gap).sum() / len(top))


def auc(P: NDArray, y: NDArray) -> float:
    """Area under the ROC curve: each class against the rest, weighted by its rows."""
    rows = np.bincount(y, minlength=P.shape[1])
    with_both = [c for c in np.flatnonzero(rows) if rows[c] < len(y)]
    if not with_both:
        return float("nan")
    areas = [roc_auc_score(y == c, P[:, c]) for c in with_both]
    return float(np.average(areas, weights=rows[with_both]))
