"""Histogram event model: numbers by bins, derived from the cells that they were counted in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import CELL, Cells
from naively.counting.block import Dense
from naively.counting.leave_one_out import LeftOut, different_cells
from naively.counting.tally import BlockTally
from naively.events.base import UNSAID, Distribution, check_alpha, check_estimate, numbers
from naively.events.bin_counts import BinCounts, best_widths
from naively.events.discretise import CUTS, bins_of, edges_of, extent_of
from naively.events.estimate import Estimable, flat
from naively.events.prior import Dirichlet, dirichlet
from naively.kernels.reference import Floats
from naively.likelihoods.numbers import Binned
from naively.options import How


class Derived(NamedTuple):
    """What follows from a tally: the bin of each cell, the bins' counts, and the likelihood."""

    bin_: NDArray[np.int64]
    smoothed: BinCounts
    likelihood: Binned


# Of each tally, for as long as it lives: rows are left out of what scores them.
_DERIVED: WeakKeyDictionary[BlockTally[Cells], dict[Histogram, Derived]] = WeakKeyDictionary()


@final
@dataclass(frozen=True)
class Histogram(Estimable[Cells, Dense]):
    """Numbers by bins: x | class ~ one probability for each bin, smoothed over neighbours.

    Parameters
    ----------
    bins : int, default 32
        How many bins a column has, or fewer if it has fewer different numbers. A number as frequent
        as a bin has a bin of its own, so that there may be some more.
    edges : {"frequency", "width", "mdl"}, default "frequency"
        Bins that hold equally many rows, bins that are equally wide, or bins that tell the
        classes apart (Fayyad & Irani 1993).
    smoothing : "auto" or float, default "auto"
        Width of the Gaussian kernel over neighbouring bins, in bins; 0 is none. "auto" takes for
        each column the one of 0, 0.5, 1.2 and 3 of least leave-one-out log loss, which follows
        from the counts.
    m : float, default 2.0
        Pretend rows in each class, spread as the numbers are over all classes.
    alpha : float, optional
        Instead of ``m``: pretend count of each bin in each class.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; the predictive is the mean. The prior is a
        Dirichlet with the pretend count of each bin, or with ``"map"`` one more, so that its mode
        adds as much.

    Notes
    -----
    The likelihood is a density: the probability of a bin over its width. A bin reaches midway to
    the numbers beside it, and where there are none as far out as on its other side; numbers beyond
    the outermost bins have the density of these. So a number that stands alone has the width of the
    data's resolution there, and rounding the data changes the density little. The bin of a column
    of one number, or of infinite ones, has a width of 1.
    Numbers are counted in the cells of a grid (``kernels.cells``), so that bins merge, forget
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
    alpha: float | None = None
    estimate: How = UNSAID
    name = "histogram"
    statistics = (CELL,)

    def __post_init__(self) -> None:
        """Refuse a wrong number of bins, way to cut, smoothing or pseudo-count."""
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
        if self.alpha is not None:
            check_alpha(self, self.alpha)

    @property
    def sparse(self) -> bool:
        return False

    def parameters(self, tally: BlockTally[Cells], how: How) -> dict[str, Floats]:
        smoothed = self._smoothed(tally)
        if how in ("mle", self.estimate):
            return {"p": smoothed.probabilities(real=how == "mle")[smoothed.there]}
        return {"p": smoothed.shares(float((self.estimate == "map") - (how == "map")))}

    def likelihood(self, tally: BlockTally[Cells]) -> Binned:
        return self._derived(tally).likelihood

    def _derived(self, tally: BlockTally[Cells]) -> Derived:
        of = _DERIVED.setdefault(tally, {})
        if self not in of:
            bin_ = self._bins(tally)
            smoothed = self._of_bins(tally, bin_)
            of[self] = Derived(bin_, smoothed, self._binned(tally, bin_, smoothed))
        return of[self]

    def _binned(
        self, tally: BlockTally[Cells], bin_: NDArray[np.int64], smoothed: BinCounts
    ) -> Binned:
        """Return the likelihood from a table of log probabilities of bins."""
        axis = tally.axis
        with np.errstate(divide="ignore"):
            real = self.estimate == "mle"
            table = np.log(smoothed.probabilities(real=real)[smoothed.there])
        edges, (middle, low, high) = edges_of(axis, bin_), extent_of(axis, bin_)
        width = high - low
        empty = np.flatnonzero(np.diff(axis.first) == 0)
        if len(empty):  # a column without any number has one bin of log likelihood 0
            at = np.append(bin_, bin_.max(initial=-1) + 1)[axis.first[empty]]
            table = np.insert(table, at, 0.0, axis=0)
            middle, width = np.insert(middle, at, 0.0), np.insert(width, at, 1.0)
        return Binned(edges, table, middle, width)

    def log_prob_without(self, tally: BlockTally[Cells], cells: LeftOut[Dense]) -> Floats:
        """Return the log likelihood of each cell without its own row; bins and widths stay."""
        _, smoothed, binned = self._derived(tally)
        bin_ = binned.bins(cells.block.values)[cells.row, cells.column]
        first, of = different_cells(cells, binned.first[cells.column] + bin_, len(binned.table))
        some, right = cells.take(first), cells.labels.codes[first]
        real = self.estimate == "mle"
        p = smoothed.without(some.column, bin_[first], some.weight, right, real=real)
        with np.errstate(divide="ignore"):
            return np.log(p).take(of, axis=0)

    def bins_of(self, tally: BlockTally[Cells]) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return the column of each bin, and where it begins and ends, each of shape (bins,)."""
        return bins_of(tally.axis, self._bins(tally))

    def prior_of(self, tally: BlockTally[Cells]) -> Dirichlet | None:
        smoothed = self._smoothed(tally)
        counts = smoothed.pretend[smoothed.there, 0] + float(self.estimate == "map")
        return Dirichlet(counts.tolist()) if (counts > 0).all() and len(counts) else None

    def updated(self, tally: BlockTally[Cells]) -> Dirichlet | None:
        return dirichlet(self.posterior(tally).alpha)

    def posterior(self, tally: BlockTally[Cells]) -> Distribution:
        """Return the posterior of the probabilities of the bins of one column."""
        from scipy import stats

        smoothed = self._smoothed(tally)
        counts = smoothed.smooth + smoothed.pretend + float(self.estimate == "map")
        return stats.dirichlet(flat(counts[smoothed.there]))

    def predictive(self, tally: BlockTally[Cells]) -> Distribution:
        """Return the distribution of the next number of one column."""
        from scipy import stats

        _, low, high = extent_of(tally.axis, self._bins(tally))
        edges = np.append(low, np.nextafter(high[-1:], np.inf))  # the last bin holds its right edge
        p = self.parameters(tally, "mean")["p"][:, 0]
        return stats.rv_histogram((p, edges), density=False)

    def counted(self, tally: BlockTally[Cells]) -> Floats:
        smoothed = self._smoothed(tally)
        return smoothed.count[smoothed.there]

    def pretended(self, tally: BlockTally[Cells], how: How) -> Floats:
        if how == "mle":
            return np.zeros((1, 1))
        smoothed = self._smoothed(tally)
        more = float((self.estimate == "map") - (how == "map"))
        return np.asarray(smoothed.pretend[smoothed.there] + more)

    def n_parameters(self, tally: BlockTally[Cells]) -> int:
        counts = self._smoothed(tally)
        free = int(np.maximum(counts.bins - 1, 0).sum())
        return free * len(tally[CELL].high.T)

    def sample(
        self, tally: BlockTally[Cells], classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        """Draw a bin, a cell of the bin, and a number anywhere in the cell."""
        axis = tally.axis
        drawn = np.full((len(classes), len(axis.columns)), np.nan)
        p, bin_ = self.parameters(tally, self.estimate)["p"], self._bins(tally)
        cell_count = tally[CELL].high.sum(axis=1)
        for j, (start, end) in enumerate(pairwise(axis.first)):
            if start == end:
                continue
            of_bin = np.bincount(bin_[start:end] - bin_[start], cell_count[start:end])
            within = cell_count[start:end] / of_bin[bin_[start:end] - bin_[start]]
            for c in np.unique(classes):
                rows = np.flatnonzero(classes == c)
                of_cell = p[bin_[start:end], c] * within
                cell = start + rng.choice(end - start, len(rows), p=of_cell / of_cell.sum())
                drawn[rows, j] = rng.uniform(axis.low[cell], np.maximum(axis.high, axis.low)[cell])
        return numbers(drawn, tally)

    def _bins(self, tally: BlockTally[Cells]) -> NDArray[np.int64]:
        """Return the bin of each cell, (cells,), numbered through all columns."""
        return CUTS[self.edges](tally.axis, np.maximum(tally[CELL].high, 0.0), self.bins)

    def _smoothed(self, tally: BlockTally[Cells]) -> BinCounts:
        """Return the bins' counts, smoothed by the kernel that is set, or the best."""
        return self._of_bins(tally, self._bins(tally))

    def _of_bins(self, tally: BlockTally[Cells], bin_: NDArray[np.int64]) -> BinCounts:
        """Return the same, of cells in these bins."""
        axis = tally.axis
        first = np.append(bin_, bin_.max(initial=-1) + 1)[axis.first]
        n_bins = np.diff(first)
        count = np.zeros((len(n_bins), n_bins.max(initial=1), tally[CELL].shape[1]))
        np.add.at(count, (axis.column, bin_ - first[axis.column]), tally[CELL].high)

        if self.smoothing == "auto":
            width = best_widths(count, n_bins, self.m, self.alpha)
        else:
            width = np.full(len(n_bins), float(self.smoothing))
        return BinCounts(count, n_bins, width, self.m, self.alpha)
