"""Histogram event model: numbers by bins, derived from the cells that they were counted in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.binned import Binned
from naively.core.block import Block, Dense
from naively.core.cells import Cells
from naively.core.estimate import flat
from naively.core.event import EventModel, How, check_estimate, numbers
from naively.core.kernels import Floats
from naively.core.labels import Labels
from naively.core.statistic import CELL
from naively.core.tally import BlockTally
from naively.events.cuts import CUTS, edges_of, extent_of

SPARE = 0.1  # of a row, for each bin in the share over all classes
HALF = 0.5  # of a row, for each class
WIDTHS = (0.0, 0.5, 1.2, 3.0)  # of the kernel, in bins


@dataclass(frozen=True)
class Histogram(EventModel):
    """Numbers by bins: x | class ~ one probability for each bin, smoothed over neighbours.

    Parameters
    ----------
    bins : int, default 32
        How many bins a column has, if it has as many different numbers. A number as frequent as a
        bin has one for itself, so that there may be some more.
    edges : {"frequency", "width", "mdl"}, default "frequency"
        Bins that hold equally many rows, bins that are equally wide, or bins that tell the
        classes apart (Fayyad & Irani 1993).
    smoothing : "auto" or float, default "auto"
        Width of the Gaussian kernel over neighbouring bins, in bins; 0 is none. "auto" takes for
        each column the one of 0, 0.5, 1.2 and 3 of least leave-one-out log loss, which follows
        from the counts.
    m : float, default 2.0
        Pretend rows in each class, spread as the numbers are over all classes.
    estimate : {"mean", "map", "mle", "predictive"}
        Maximum likelihood is without the pretend rows; the others are the mean.

    Notes
    -----
    Numbers are counted in the cells of a grid (``naively.core.grid``), so that bins merge, forget
    and stream like all else; their edges follow from the counts. Smoothing over neighbours:
    Simonoff, Smoothing Methods in Statistics (1996), section 6.

    Examples
    --------
    >>> from naively import Histogram, NaiveBayes
    >>> X, y = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]], ["a", "b", "a", "b", "a", "b"]
    >>> nb = NaiveBayes(event_models=Histogram(bins=2, smoothing=0), weights=None).fit(X, y)
    >>> nb.predict_proba([[2.5], [100.0]]).round(2)
    array([[0.6, 0.4],
           [0.4, 0.6]])
    """

    bins: int = 32
    edges: str = "frequency"
    smoothing: float | str = "auto"
    m: float = 2.0
    estimate: How = "mean"
    name = "histogram"
    statistics = (CELL,)

    def __post_init__(self) -> None:
        check_estimate(self.estimate)
        if self.bins < 1:
            raise ValueError(f"Histogram bins must be at least 1, got {self.bins}.")
        if self.edges not in CUTS:
            raise ValueError(f"Histogram edges must be one of {[*CUTS]}, got {self.edges!r}.")
        if self.smoothing != "auto" and not (
            not isinstance(self.smoothing, str) and 0 <= self.smoothing < np.inf
        ):
            raise ValueError(
                f"Histogram smoothing must be 'auto' or at least 0, got {self.smoothing!r}."
            )
        if not (np.isfinite(self.m) and self.m >= 0):
            raise ValueError(f"Histogram m must be at least 0, got {self.m}.")

    @property
    def sparse(self) -> bool:
        return False

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        counts = self._smoothed(tally)
        return {"p": counts.probabilities(0.0 if how == "mle" else self.m)[counts.there]}

    def likelihood(self, tally: BlockTally) -> Binned:
        axis, bin_ = tally.axis, self._bins(tally)
        assert isinstance(axis, Cells)
        with np.errstate(divide="ignore"):
            table = np.log(self.parameters(tally, self.estimate)["p"])
        edges, (middle, width) = edges_of(axis, bin_), extent_of(axis, bin_)
        empty = np.flatnonzero(np.diff(axis.first) == 0)
        if len(empty):  # a column without any number has one bin, which says nothing
            at = np.append(bin_, bin_.max(initial=-1) + 1)[axis.first[empty]]
            table = np.insert(table, at, 0.0, axis=0)
            middle, width = np.insert(middle, at, 0.0), np.insert(width, at, 1.0)
        return Binned(edges, table, middle, width)

    def leave_one_out(self, tally: BlockTally, block: Block, labels: Labels) -> Floats:
        """Return the log likelihood of each cell less its own count; bins and widths stay."""
        assert isinstance(block, Dense)
        code = self.likelihood(tally).bins(block.values)
        row, column = np.nonzero(code >= 0)
        weight = np.ones(len(block)) if labels.weight is None else labels.weight
        p = self._smoothed(tally).without(
            column, code[row, column], weight[row], labels.codes[row], self._pretend
        )
        evidence = np.zeros((*block.values.shape, labels.k))
        with np.errstate(divide="ignore"):
            evidence[row, column] = np.log(p)
        return evidence

    def posterior(self, tally: BlockTally) -> Any:
        """Return the posterior of the probabilities of the bins of one column."""
        from scipy import stats

        counts = self._smoothed(tally)
        pretend = self.m * counts.pooled[counts.there]
        return stats.dirichlet(flat(counts.smooth[counts.there] + pretend[:, None]))

    def predictive(self, tally: BlockTally) -> Any:
        """Return the distribution of the next number of one column."""
        from scipy import stats

        assert isinstance(tally.axis, Cells)
        bin_ = self._bins(tally)
        (inner,) = edges_of(tally.axis, bin_)
        edges = np.concatenate([tally.axis.low[:1], inner, tally.axis.high[-1:]])
        return stats.rv_histogram((flat(self.parameters(tally, "mean")["p"]), edges), density=False)

    def n_parameters(self, tally: BlockTally) -> int:
        counts = self._smoothed(tally)
        free = int(np.maximum(counts.bins - 1, 0).sum())
        return free * len(tally[CELL].high.T)

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        axis = tally.axis
        assert isinstance(axis, Cells)
        drawn = np.full((len(classes), len(axis.columns)), np.nan)
        p, bin_ = self.parameters(tally, self.estimate)["p"], self._bins(tally)
        cell_count = tally[CELL].high.sum(axis=1)
        for j, (start, end) in enumerate(pairwise(axis.first)):
            if start == end:
                continue
            of_bin = np.bincount(bin_[start:end] - bin_[start], cell_count[start:end])
            share = cell_count[start:end] / of_bin[bin_[start:end] - bin_[start]]
            for c in np.unique(classes):
                rows = np.flatnonzero(classes == c)
                of_cell = p[bin_[start:end], c] * share
                cell = start + rng.choice(end - start, len(rows), p=of_cell / of_cell.sum())
                drawn[rows, j] = rng.uniform(axis.low[cell], np.maximum(axis.high, axis.low)[cell])
        return numbers(drawn, tally)

    @property
    def _pretend(self) -> float:
        return 0.0 if self.estimate == "mle" else self.m

    def _bins(self, tally: BlockTally) -> NDArray[np.int64]:
        """Return the bin of each cell, numbered through all columns."""
        assert isinstance(tally.axis, Cells)
        return CUTS[self.edges](tally.axis, np.maximum(tally[CELL].high, 0.0), self.bins)

    def _smoothed(self, tally: BlockTally) -> _Smoothed:
        """Return the counts of the bins with the kernel that is set, or the best."""
        axis = tally.axis
        assert isinstance(axis, Cells)
        bin_ = self._bins(tally)
        first = np.append(bin_, bin_.max(initial=-1) + 1)[axis.first]
        n_bins = np.diff(first)
        count = np.zeros((len(n_bins), n_bins.max(initial=1), tally[CELL].shape[1]))
        np.add.at(count, (axis.column, bin_ - first[axis.column]), tally[CELL].high)
        if self.smoothing != "auto":
            return _Smoothed(count, n_bins, np.full(len(n_bins), float(self.smoothing)))
        found = [_Smoothed(count, n_bins, np.full(len(n_bins), width)) for width in WIDTHS]
        loss = np.stack([smoothed.loss(self.m) for smoothed in found])
        return _Smoothed(count, n_bins, np.asarray(WIDTHS)[loss.argmin(axis=0)])


class _Smoothed:
    """Counts of bins, smoothed by a Gaussian kernel over their numbers.

    Parameters
    ----------
    count : ndarray of shape (columns, most bins, classes)
        Zero past a column's bins.
    bins : ndarray of shape (columns,)
        How many bins each column has.
    width : ndarray of shape (columns,)
        Of each column's kernel, in bins.
    """

    def __init__(self, count: Floats, bins: NDArray[np.int64], width: Floats) -> None:
        self.count, self.bins = count, bins
        number = np.arange(count.shape[1])
        self.there = number < bins[:, None]
        distance = number[:, None] - number
        with np.errstate(divide="ignore", invalid="ignore"):
            kernel = np.exp(-0.5 * (distance / width[:, None, None]) ** 2)
        kernel = np.where(distance == 0, 1.0, kernel) * self.there[:, :, None]
        kernel /= np.maximum(kernel.sum(axis=1, keepdims=True), 1e-300)  # 1 in all for each row
        self.own = np.diagonal(kernel, axis1=1, axis2=2)
        self.smooth = kernel @ count
        self.rows = count.sum(axis=1)
        spare = SPARE * self.there
        self.pooled = self.smooth.sum(axis=2) + spare
        self.pooled /= np.maximum(self.pooled.sum(axis=1, keepdims=True), 1e-300)

    def probabilities(self, m: float) -> Floats:
        """Return the probability of each bin (columns, most bins, classes)."""
        pretend = m * self.pooled[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            p = (self.smooth + pretend) / (self.rows[:, None] + m)
        return np.where(np.isnan(p), 1.0, p)  # a class without any number says nothing

    def without(
        self,
        column: NDArray[np.int64],
        bin_: NDArray[np.integer],
        weight: Floats,
        right: NDArray[np.integer],
        m: float,
    ) -> Floats:
        """Return the probabilities of numbers, each less its own row (numbers, classes)."""
        own = weight * self.own[column, bin_]
        # Of decayed counts less than a row may be left.
        others = np.maximum(self.rows[column].sum(axis=1) - weight, 0.0)
        here_too = np.maximum(self.smooth[column, bin_].sum(axis=1) - own, 0.0)
        share = (here_too + SPARE) / (others + SPARE * self.bins[column])
        here = np.arange(len(column))
        smooth, rows = self.smooth[column, bin_], self.rows[column]
        smooth[here, right] = np.maximum(smooth[here, right] - own, 0.0)
        rows[here, right] = np.maximum(rows[here, right] - weight, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = (smooth + m * share[:, None]) / (rows + m)
        return np.where(np.isnan(p), 1.0, p)

    def loss(self, m: float) -> Floats:
        """Return the leave-one-out log loss of each column alone, summed over its rows."""
        d, _, k = self.count.shape
        column, bin_ = np.nonzero(self.there)
        prior = self.rows[column] + HALF
        loss = np.zeros(d)
        for c in range(k):
            right = np.full(len(column), c)
            p = prior * self.without(column, bin_, np.ones(len(column)), right, m)
            own = p[:, c] * (np.maximum(self.rows[column, c] - 1.0, 0.0) + HALF) / prior[:, c]
            rest = p.sum(axis=1) - p[:, c]
            with np.errstate(divide="ignore", invalid="ignore"):
                rows = self.count[column, bin_, c]
                of_rows = np.where(rows > 0, rows * np.log1p(rest / own), 0.0)
            loss += np.bincount(column, of_rows, d)
        return loss
