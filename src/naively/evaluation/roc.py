"""The ROC curve: how well the probability of a class tells its rows from all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

POINTS = 400  # of a curve that are kept


@dataclass(frozen=True, eq=False)
class Roc:
    """The ROC curve of one class against the rest.

    Parameters
    ----------
    false_positive_rate, true_positive_rate : ndarray of shape (points,)
        The shares of the other rows, and of the rows of the class, above each threshold; of a
        curve of more than 400 points, as many, evenly along it.
    area : float
        The area under the whole curve: the chance that a row of the class scores above one that is
        not, where a tie is half.
    share : float
        The share of the rows that are of the class.
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    area: float
    share: float


def roc(score: Floats, truth: Floats, weight: Floats | None = None) -> Roc:
    """Return the ROC curve of scores; there must be rows of the class, and others.

    The scores, the truth (1 for a row of the class, else 0) and the weights are of shape (rows,).
    Scikit-learn's function does the same, but takes a second to import.

    Examples
    --------
    >>> import numpy as np
    >>> roc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0.0, 0.0, 1.0, 1.0])).area
    0.875
    """
    _, place = np.unique(score, return_inverse=True)
    weight = np.ones(len(score)) if weight is None else weight
    inside, outside = (np.bincount(place, weight * of) for of in (truth, 1.0 - truth))
    below = outside.cumsum() - outside / 2
    area = float(inside @ below / (inside.sum() * outside.sum()))
    rates = (np.append(0.0, of[::-1].cumsum() / of.sum()) for of in (outside, inside))
    false_positive, true_positive = rates
    some = _evenly(len(false_positive))
    share = float(inside.sum() / (inside.sum() + outside.sum()))
    return Roc(false_positive[some], true_positive[some], area, share)


def _evenly(n: int) -> NDArray[np.int64]:
    """Return the numbers of at most ``POINTS`` of n points, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, POINTS)).round().astype(np.int64))
