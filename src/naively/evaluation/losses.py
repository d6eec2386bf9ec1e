"""Losses of posteriors: the log loss, and the share of right answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import LabelArray, Labels
from naively.kernels.reference import Floats

LEAST = 1e-15  # the log loss clips probabilities here, so that no row has an infinite loss


def accuracy_and_log_loss(p: Floats, learned: LabelArray, labels: Labels) -> tuple[float, float]:
    """Return two of the scores of posteriors, (rows, learned classes), and no other.

    The classes of the labels need not be those that were learned.
    """
    place = {label: i for i, label in enumerate(learned.tolist())}
    places = np.array([place.get(label, -1) for label in labels.classes.tolist()], np.int64)
    right = places[labels.codes]
    of_right = np.where(right < 0, 0.0, p[np.arange(len(p)), right])
    hit: Floats = (p.argmax(axis=1) == right).astype(np.float64)
    return mean(hit, labels.weight), log_loss(of_right, labels.weight)


def log_loss(p_right: Floats, weight: Floats | NDArray[np.int64] | None = None) -> float:
    """Return the mean of -log p(right class), with p clipped at 1e-15, in nats per row.

    Parameters
    ----------
    p_right : ndarray of shape (rows,)
        The posterior of the right class of each row.
    weight : ndarray of shape (rows,), optional
        The weight of each row; by default all rows weigh the same.
    """
    return mean(-np.log(np.clip(p_right, LEAST, 1.0)), weight)


def p_right(joint: Floats, labels: Labels) -> Floats:
    """Return the posterior of the right class, (rows,), from joint log likelihoods, (rows, k)."""
    right: Floats = np.exp(_log_posterior(joint)[np.arange(len(joint)), labels.codes])
    return right


def posterior(joint: Floats) -> Floats:
    """Return the posteriors, (rows, classes), from joint log likelihoods of the same shape.

    Examples
    --------
    >>> posterior(np.log([[0.1, 0.3]]))
    array([[0.25, 0.75]])
    """
    p: Floats = np.exp(_log_posterior(joint))
    return p


def _log_posterior(joint: Floats) -> Floats:
    log_p: Floats = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return log_p


def mean(values: Floats, weight: Floats | NDArray[np.int64] | None) -> float:
    """Return the mean of values, (rows,), by the weight of the rows."""
    return float(values.mean() if weight is None else np.average(values, weights=weight))
