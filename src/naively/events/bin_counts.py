"""Counts of bins, smoothed by a Gaussian kernel over their numbers, and the best width of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.leave_one_out import leave_out
from naively.events.discretise import smoothing_kernels
from naively.events.prior import share
from naively.kernels.reference import Floats

SPARE = 0.1  # rows that each bin has more when pretend rows are spread
HALF = 0.5  # each class has half a row more in the log loss that a width is chosen by
WIDTHS = (0.0, 0.5, 1.2, 3.0)  # of the kernel, in bins, that "auto" chooses among
AT_ONCE = 1_000_000  # counts, at most, of bins whose widths are chosen together


def best_widths(
    count: Floats, bins: NDArray[np.int64], m: float, alpha: float | None = None
) -> Floats:
    """Return the width of least leave-one-out log loss of each column, (columns,).

    The parameters are those of ``BinCounts``. Columns are smoothed by all widths at once, as if
    there were so many more of them.
    """
    tried = len(WIDTHS)
    size = max(1, AT_ONCE // max(1, tried * count[:1].size))
    best = [np.empty(0)]
    for start in range(0, len(bins), size):
        some, of = count[start : start + size], bins[start : start + size]
        width = np.repeat(WIDTHS, len(of))
        every = BinCounts(np.tile(some, (tried, 1, 1)), np.tile(of, tried), width, m, alpha)
        best.append(np.take(WIDTHS, every.loss().reshape(tried, -1).argmin(axis=0)))
    return np.concatenate(best)


class BinCounts:
    """Counts of bins, smoothed by a Gaussian kernel over their numbers.

    Parameters
    ----------
    count : ndarray of shape (columns, most bins, classes)
        Zero past a column's bins.
    bins : ndarray of shape (columns,)
        How many bins each column has.
    width : ndarray of shape (columns,)
        The width of each column's kernel, in bins.
    m : float
        Pretend rows, spread as the numbers are over all classes.
    alpha : float, optional
        Instead: pretend count of each bin.
    """

    def __init__(
        self,
        count: Floats,
        bins: NDArray[np.int64],
        width: Floats,
        m: float,
        alpha: float | None = None,
    ) -> None:
        """Smooth the counts, and spread the pretend rows over the bins."""
        self.count, self.bins, self.alpha = count, bins, alpha
        self.there = np.arange(count.shape[1]) < bins[:, None]
        # Columns with equally many bins share a kernel, and most columns have equally many.
        alike, of = np.unique(bins + 1j * width, return_inverse=True)
        kernel = smoothing_kernels(alike.real, alike.imag, count.shape[1])
        self.own = np.diagonal(kernel, axis1=1, axis2=2)[of]
        self.smooth = kernel[of] @ count
        self.rows = count.sum(axis=1)
        spare = SPARE * self.there
        pooled = self.smooth.sum(axis=2) + spare
        pooled /= np.maximum(pooled.sum(axis=1, keepdims=True), 1e-300)
        self.m = np.full(len(bins), m) if alpha is None else alpha * bins
        self.pretend = (m * pooled if alpha is None else alpha * self.there)[:, :, None]

    def probabilities(self, *, real: bool = False) -> Floats:
        """Return the probability of each bin, of shape (columns, most bins, classes).

        With ``real`` it is without pretend rows.
        """
        pretend, m = (0.0, 0.0) if real else (self.pretend, self.m[:, None, None])
        return _ratio(self.smooth + pretend, self.rows[:, None] + m)

    def shares(self, more: float) -> Floats:
        """Return probabilities with ``more`` in each bin, (bins of all columns, classes)."""
        counts = np.maximum(self.smooth + self.pretend + more, 0.0) * self.there[:, :, None]
        return share(counts, counts.sum(axis=1, keepdims=True))[self.there]

    def without(
        self,
        column: NDArray[np.int64],
        bin_: NDArray[np.integer],
        weight: Floats,
        right: NDArray[np.integer],
        *,
        real: bool = False,
    ) -> Floats:
        """Return the probability of each number's bin without the number's own row.

        Parameters
        ----------
        column, bin_ : ndarray of shape (numbers,)
            The column and the bin of each number.
        weight, right : ndarray of shape (numbers,)
            What its row weighs, and the class of its row.
        real : bool, default False
            Whether to leave the pretend rows out.

        Returns
        -------
        p : ndarray of shape (numbers, classes)
        """
        own = weight * self.own[column, bin_]
        m, pretend = self.m[column], self._pretend_without(column, bin_, weight)
        if real:
            m, pretend = 0.0 * m, 0.0 * pretend
        smooth = leave_out(self.smooth[column, bin_], right, own)
        rows = leave_out(self.rows[column], right, weight)
        return _ratio(smooth + pretend[:, None], rows + m[:, None])

    def loss(self) -> Floats:
        """Return the leave-one-out log loss of each column alone, summed over its rows, (columns,).

        Leaving a row out changes the other classes in the same way whichever class it has, so that
        each class is computed once.
        """
        column, bin_ = np.nonzero(self.there)
        smooth, rows = self.smooth[column, bin_], self.rows[column]
        own, m = self.own[column, bin_][:, None], self.m[column][:, None]
        pretend = self._pretend_without(column, bin_, np.ones(len(column)))[:, None]
        prior, prior_left = rows + HALF, np.maximum(rows - 1.0, 0.0) + HALF
        joint = prior * _ratio(smooth + pretend, rows + m)
        left = np.maximum(smooth - own, 0.0) + pretend
        right = prior_left * _ratio(left, np.maximum(rows - 1.0, 0.0) + m)
        rest = np.maximum(joint.sum(axis=1, keepdims=True) - joint, 0.0)
        count = self.count[column, bin_]
        with np.errstate(divide="ignore", invalid="ignore"):
            of_rows = np.where(count > 0, count * np.log1p(rest / right), 0.0)
        return np.bincount(column, of_rows.sum(axis=1), len(self.count)).astype(np.float64)

    def _pretend_without(
        self, column: NDArray[np.int64], bin_: NDArray[np.integer], weight: Floats
    ) -> Floats:
        """Return the pretend count of the bin of each number, less its own row, (numbers,)."""
        if self.alpha is not None:
            return np.full(len(column), self.alpha)
        # After decay, less than a row may be left.
        others = np.maximum(self.rows.sum(axis=1)[column] - weight, 0.0)
        own = weight * self.own[column, bin_]
        here_too = np.maximum(self.smooth.sum(axis=2)[column, bin_] - own, 0.0)
        pretend: Floats = self.m[column] * (here_too + SPARE) / (others + SPARE * self.bins[column])
        return pretend


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole; 1, whose logarithm is 0, for a class without any number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = part / whole
    return np.where(np.isnan(p), 1.0, p)
