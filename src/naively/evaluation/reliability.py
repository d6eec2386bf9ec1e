"""Reliability: whether probabilities come true, and how far off they would be by chance alone.

Rows are put into bins of confidence, the probability of the answer. In each, the mean confidence is
compared with the accuracy. Even if every probability were right, the accuracy of few rows would
differ from it; how much is to be expected follows from the number of rows, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

BINS = 15  # of confidence, from 0 to 1


@dataclass(frozen=True, eq=False)
class Bin:
    """Rows whose most probable class has about the same probability.

    Parameters
    ----------
    rows : float
        How many rows, or their weight.
    confidence : float
        The mean of the probability of the most probable class.
    accuracy : float
        The share of the rows whose right class it is.
    size : int
        How many rows of equal weight would be as uncertain (Kish, Survey sampling, 1965).
    """

    rows: float
    confidence: float
    accuracy: float
    size: int

    @property
    def noise(self) -> float:
        """The expected distance of accuracy from confidence if the confidence were right."""
        return mean_deviation(self.size, self.confidence)


def mean_deviation(n: int, p: float) -> float:
    """Return the mean of abs(k / n - p), where k is binomial with n trials of probability p.

    Notes
    -----
    De Moivre's closed form; Diaconis & Zabell, Closed form summation for classical distributions
    (1991).

    Examples
    --------
    >>> mean_deviation(1, 0.5), round(mean_deviation(100, 0.9), 4)
    (0.5, 0.0237)
    """
    if not 0 < p < 1:
        return 0.0
    least = min(math.floor(n * p), n - 1)  # n * p may be rounded up to n
    log_choose = math.lgamma(n) - math.lgamma(least + 1) - math.lgamma(n - least)
    return 2 * math.exp(log_choose + (least + 1) * math.log(p) + (n - least) * math.log1p(-p))


def reliability(
    p: Floats,
    truth: Floats,
    weight: Floats | None = None,
    copies: NDArray[np.int64] | None = None,
) -> list[Bin]:
    """Return the bins that hold rows.

    Parameters
    ----------
    p : ndarray of shape (rows, classes)
        Posteriors.
    truth : ndarray of shape (rows, classes)
        1 at the right class, else 0.
    weight : ndarray of shape (rows,), optional
        The weight of each row, with all its copies; by default 1.
    copies : ndarray of shape (rows,), optional
        How many equal rows each row stands for; by default one.
    """
    confidence, best = p.max(axis=1), p.argmax(axis=1)
    right = truth[np.arange(len(p)), best]
    of = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    one = np.ones(len(p)) if weight is None else weight
    square = one * one / (1 if copies is None else copies)
    columns = (one, one * confidence, one * right, square)
    return [
        Bin(float(n), float(s / n), float(h / n), max(1, round(n * n / q)))
        for n, s, h, q in zip(*(np.bincount(of, x, BINS) for x in columns), strict=True)
        if n > 0
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean distance of confidence from accuracy, over the rows of all bins."""
    rows = sum(b.rows for b in bins)
    return sum(b.rows * abs(b.confidence - b.accuracy) for b in bins) / rows


def calibration_noise(bins: Sequence[Bin]) -> float:
    """Return the calibration error to be expected if every confidence were right."""
    rows = sum(b.rows for b in bins)
    return sum(b.rows * b.noise for b in bins) / rows
