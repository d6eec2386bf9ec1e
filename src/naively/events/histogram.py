"""The histogram: bins of equal frequency, derived from cells and smoothed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import CELL, Cells, Columns
from naively.counting.block import Dense
from naively.counting.labels import Labels
from naively.counting.leave_one_out import LeftOut, different_cells, leave_out
from naively.counting.tally import BlockTally
from naively.events.base import UNSAID, ClassNumbers, Distribution, check_settings, numbers
from naively.events.estimate import OfShares, flat
from naively.events.prior import share
from naively.events.shown import Parameters
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.double_double import NEGLIGIBLE, Sums
from naively.kernels.reference import Floats
from naively.options import NOT_NEGATIVE, How
from naively.terms.kinds import BinTerms
from naively.terms.uncertain import Uncertain, mean_of_log, variance_of_share

# --- Histogram event model: numbers by bins, derived from the cells that they were counted in ----


# --- How many bins, and how smooth ---------------------------------------------------------------
#
# Few rows are enough for few bins, and the fewer they are the further a row must speak for its
# neighbours. The width of the kernel is therefore that of Silverman's rule for a density of ranks,
# which are uniform and so have a standard deviation of 1/√12. It is another only where
# leave-one-out gains more than chance would.


class BinRules(NamedTuple):
    """By which numbers bins are cut and smoothed; the native kernel gets them in this order."""

    in_bin: float = 3.0  # rows of a bin, at least on average,
    fewest: float = 2.0  # between so many bins
    most: float = 32.0  # and so many
    slack: float = 1e-9  # of a bin, against rounding
    few_others: float = 0.3  # of a column's rows, that are of no frequent number: they are cut anew
    in_shared: float = 20.0  # rows of a bin of theirs, at least
    silverman: float = 1.06 / 12**0.5  # Silverman (1986), 3.28: see Notes of Histogram
    gain: float = 4.0  # nats of leave-one-out log loss that another width must save
    spare: float = 0.1  # rows that each bin has more when pretend rows are spread
    half: float = 0.5  # rows that each class has more in the log loss that a width is chosen by
    negligible: float = NEGLIGIBLE  # rows, of which none is left
    widths: tuple[float, float, float] = (
        0.5,
        0.0,
        4.0,
    )  # of the kernel, in bins, beside the rule's


RULES = BinRules()


class Binned(NamedTuple):
    """The bins into which the cells of a tally are cut, and what they hold."""

    rows: Floats  # (columns,): how many numbers each column has
    most: NDArray[np.int64]  # (columns,): its bins, if its numbers differ enough
    begin: NDArray[np.int64]  # (bins,): the cell with which each bin begins, column after column
    nothing: NDArray[np.int64]  # where the one bin belongs of each column without any number
    smoothed: BinCounts
    moments: dict[float, tuple[BinTerms, BinTerms]]  # what is uncertain, by the least rows of a bin


# For each tally, for as long as it lives: rows are left out of what scores them.
_BINNED: WeakKeyDictionary[BlockTally[Cells], dict[Histogram, Binned]] = WeakKeyDictionary()


@final
class Histogram(OfShares[Cells, Dense], Frozen, eq=True):
    """Numbers by bins: x | class ~ one probability for each bin, smoothed over neighbours.

    Parameters
    ----------
    bins : "auto" or int, default "auto"
        How many bins a column has, or fewer if it has fewer different numbers. A number as frequent
        as a bin has a bin of its own, so there may be some more bins; if such numbers are more than
        seven rows in ten, the others share the bins that are left. "auto" is a third of the
        column's rows, at least 2 and at most 32.
    edges : {"frequency", "width", "mdl"}, default "frequency"
        Bins that hold equally many rows, bins of equal width, or bins that separate the classes
        (Fayyad & Irani 1993).
    smoothing : "auto" or float, default "auto"
        Width of the Gaussian kernel over neighbouring bins, in bins; 0 is none. "auto" follows from
        the counts: it is Silverman's rule for the n rows of the column, 0.31 of all bins over the
        fifth root of n; or 0.5, 0 or 4, if that saves more than 4 nats of the leave-one-out log
        loss of the column alone.
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
    The likelihood is a density: the probability of a bin over its width. A bin reaches halfway to
    the next numbers, and the outermost bins reach as far outwards as inwards; numbers beyond them
    have their density. So an isolated number has the width of the data's resolution there, and
    rounding the data changes the density little. The bin of a column of one number, or of infinite
    ones, has a width of 1. Numbers are counted in the cells of a grid (``kernels.cells``), so bins
    merge, forget and stream like all counts; their edges follow from the counts. Smoothing over
    neighbours: Simonoff, Smoothing Methods in Statistics (1996), section 6; its width: Silverman,
    Density Estimation for Statistics and Data Analysis (1986), section 3.4. If a row is left out,
    the edges and the width are those of the other rows. Only in columns with many rows they stay,
    because one row hardly moves them (``EXACT``).

    Examples
    --------
    >>> from naively import Histogram, NaiveBayes
    >>> X, y = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]], ["a", "b", "a", "b", "a", "b"]
    >>> nb = NaiveBayes(event_models=Histogram(bins=2, smoothing=0), weights=None).fit(X, y)
    >>> nb.predict_proba([[2.5], [100.0]]).round(2)
    array([[0.6, 0.4],
           [0.4, 0.6]])
    """

    bins: int | Literal["auto"] = "auto"
    edges: str = "frequency"
    smoothing: float | Literal["auto"] = "auto"
    m: float = 2.0
    alpha: float | None = None
    estimate: How = UNSAID
    name = "histogram"
    statistics = (CELL,)
    sparse = False

    def __post_init__(self) -> None:
        """Refuse a wrong number of bins, way to cut, smoothing or pseudo-count."""
        check_settings(self)
        if self.bins != "auto" and not (NOT_NEGATIVE.holds(self.bins) and self.bins >= 1):
            raise ValueError(f"Histogram bins must be 'auto' or at least 1, got {self.bins!r}.")
        if self.edges not in CUTS:
            raise ValueError(f"Histogram edges must be one of {[*CUTS]}, got {self.edges!r}.")
        if self.smoothing != "auto" and not NOT_NEGATIVE.holds(self.smoothing):
            raise ValueError(
                f"Histogram smoothing must be 'auto' or at least 0, got {self.smoothing!r}."
            )
        if not NOT_NEGATIVE.holds(self.m):
            raise ValueError(f"Histogram m must be at least 0, got {self.m}.")

    def parameters(self, tally: BlockTally[Cells], how: How) -> dict[str, Floats]:
        smoothed = self._binned(tally).smoothed
        if how in ("mle", self.estimate):
            return {"p": smoothed.probabilities(real=how == "mle")[smoothed.there]}
        return {"p": smoothed.shares(float((self.estimate == "map") - (how == "map")))}

    def _binned(self, tally: BlockTally[Cells]) -> Binned:
        """Cut the cells of each column into bins, and smooth the bins' counts."""
        if self in (of := _BINNED.setdefault(tally, {})):
            return of[self]
        axis, count = tally.axis, tally[CELL].high
        rows = axis.sum_by_column(count).sum(axis=1)
        if self.bins == "auto":
            of_rows = np.floor(rows / RULES.in_bin + RULES.slack)
            most = np.clip(of_rows, RULES.fewest, RULES.most).astype(np.int64)
        else:
            most = np.full(len(rows), self.bins, np.int64)
        if dispatch.cut_bins is not None and self.edges == "frequency":
            begins, width = dispatch.cut_bins(axis.first, count, self._options)
        else:  # counts of many classes are not copied for nothing
            held = np.maximum(count, 0.0) if count.min(initial=0.0) < 0 else count
            place, width = CUTS[self.edges](axis, held, most), None
            begins = np.diff(place, prepend=-1) != 0
            begins[axis.first[:-1][np.diff(axis.first) > 0]] = True
        begin = np.flatnonzero(begins)
        first = np.searchsorted(begin, axis.first)
        n_bins = np.diff(first)
        of_bins = np.zeros((len(n_bins), n_bins.max(initial=1), count.shape[1]))
        if len(begin):
            column = np.repeat(np.arange(len(n_bins)), n_bins)
            at = column, np.arange(len(begin)) - first[column]
            of_bins[at] = np.add.reduceat(count, begin, axis=0)
        if self.smoothing != "auto":
            width = np.full(len(n_bins), float(self.smoothing))
        elif width is None:
            width = best_widths(of_bins, n_bins, self.m, self.alpha)
        smoothed = BinCounts(of_bins, n_bins, width, self.m, self.alpha)
        of[self] = Binned(rows, most, begin, first[:-1][n_bins == 0], smoothed, {})
        return of[self]

    @property
    def _options(self) -> Floats:
        """The options and the rules as the native kernels read them."""
        bins, width = (-1.0 if of == "auto" else of for of in (self.bins, self.smoothing))
        alpha, real = np.nan if self.alpha is None else self.alpha, self.estimate == "mle"
        return np.array([bins, width, self.m, alpha, real, *RULES[:-1], *RULES.widths], np.float64)

    def centres(self, tally: BlockTally[Cells]) -> bool:  # noqa: ARG002
        return True

    def terms(self, tally: BlockTally[Cells]) -> BinTerms:
        axis, binned = tally.axis, self._binned(tally)
        smoothed, at = binned.smoothed, binned.nothing
        with np.errstate(divide="ignore"):
            p = smoothed.probabilities(real=self.estimate == "mle")
            table = np.log(p[smoothed.there])
        middle, low, high = extent_of(axis, binned.begin)
        width = high - low
        if len(at):  # the log likelihood of nothing is 0
            table = np.insert(table, at, 0.0, axis=0)
            middle, width = np.insert(middle, at, 0.0), np.insert(width, at, 1.0)
        edge, start = _edges_of(axis, binned.begin)
        return BinTerms(tuple(edge[a:b] for a, b in pairwise(start)), table, middle, width)

    def uncertain(self, tally: BlockTally[Cells], block: Dense, least: float = 0.0) -> Uncertain:
        """Return the posterior mean and variance of bins, smoothed as they are.

        A sum of gamma variables, each times what a kernel gives it, is about one with the same
        mean S and variance Q, whose shape is S² / Q: so many rows speak for the bin.
        """
        mean, variance = self._moments(tally, least)
        items = mean.items(block)
        return Uncertain(items.row, items.column, items.value, variance.items(block).value)

    def _moments(self, tally: BlockTally[Cells], least: float) -> tuple[BinTerms, BinTerms]:
        """Return the posterior mean of the log likelihood of each bin, and its variance."""
        binned = self._binned(tally)
        if least in binned.moments:
            return binned.moments[least]
        terms = self.terms(tally)
        smoothed, more = binned.smoothed, float(self.estimate == "map")
        there = smoothed.there
        total = (smoothed.rows + smoothed.m[:, None] + more * smoothed.bins[:, None])[:, None]
        total = np.broadcast_to(total, smoothed.smooth.shape)[there]
        mean = (smoothed.smooth + smoothed.pretend + more)[there]
        spread = smoothed.spread()[there] + more
        with np.errstate(divide="ignore", invalid="ignore"):
            count = np.where(spread > 0, mean**2 / spread, 0.0)
            mean = np.log(mean) + mean_of_log(count, least) - np.log(count)
            mean -= mean_of_log(total, least)
            variance = np.maximum(variance_of_share(count, total, least), 0.0)
        each = (np.insert(table, binned.nothing, 0.0, axis=0) for table in (mean, variance))
        mean_terms, variance_terms = (replace(terms, table=table) for table in each)
        return binned.moments.setdefault(least, (mean_terms, variance_terms))

    def leave_one_out(self, tally: BlockTally[Cells], block: Dense, labels: Labels) -> Floats:
        """Leave out a few columns at a time, so that what is made of them stays small."""
        names, few = block.axis.columns, max(1, LEFT_CELLS // max(1, len(block)))
        if len(names) <= few:
            return super().leave_one_out(tally, block, labels)
        table = np.empty((len(names), len(block), len(labels.classes))).transpose(1, 0, 2)
        for at in (slice(start, start + few) for start in range(0, len(names), few)):
            part, some = tally.of(frozenset(names[at])), Columns(names[at])
            table[:, at] = super().leave_one_out(part, Dense(block.values[:, at], some), labels)
        return table

    def log_prob_without(self, tally: BlockTally[Cells], cells: LeftOut[Dense]) -> Floats:
        """Return the log likelihood of each cell without its own row."""
        binned, k = self._binned(tally), len(cells.labels.classes)
        size = np.diff(tally.axis.first)  # (columns,): different numbers
        different = np.minimum(binned.rows, size * k)
        exact = (different * (size + binned.most * k) <= EXACT)[cells.column]
        if exact.all():
            return self._by_others(tally, cells)
        if not exact.any():
            return self._by_these(tally, cells)
        found = np.empty((len(cells.row), k))
        few, many = (cells.take(np.flatnonzero(of)) for of in (exact, ~exact))
        found[exact] = self._by_others(tally, few)
        found[~exact] = self._by_these(tally, many)
        return found

    def _by_others(self, tally: BlockTally[Cells], cells: LeftOut[Dense]) -> Floats:
        """Return the same as the other rows alone say it: also of bins and of widths."""
        unit = tally.axis.find(cells.x, cells.column)
        first, of = different_cells(cells, unit, len(tally.axis))
        some, unit = cells.take(first), unit[first]
        if dispatch.leave_out_bins is not None and self.edges == "frequency":
            return dispatch.leave_out_bins(
                *(tally.axis.first, tally.axis.low, tally.axis.high, tally[CELL].high),
                *(some.column, unit, some.labels.codes.astype(np.int64), some.labels.weights),
                *(some.x.astype(np.float64), self._options),
            ).take(of, axis=0)
        found = [np.empty((0, len(cells.labels.classes)))]
        size = np.cumsum(np.diff(tally.axis.first)[some.column])
        for at in np.split(np.arange(len(some.row)), np.flatnonzero(np.diff(size // AT_ONCE)) + 1):
            left = _each_without(tally, some.take(at), unit[at])
            binned = self._binned(left)
            p = binned.smoothed.probabilities(real=self.estimate == "mle")
            edge, first = _edges_of(left.axis, binned.begin)
            column = np.repeat(np.arange(len(at)), np.diff(first))
            code = np.bincount(column[edge <= some.x[at][column]], minlength=len(at))
            with np.errstate(divide="ignore"):
                found.append(np.log(p[np.arange(len(at)), code]))
        return np.concatenate(found).take(of, axis=0)

    def _by_these(self, tally: BlockTally[Cells], cells: LeftOut[Dense]) -> Floats:
        """Return the same where bins and widths stay as they are with the row."""
        binned, n = self._binned(tally), len(tally.axis.columns)
        edge, begin = _edges_of(tally.axis, binned.begin)
        bin_ = dispatch.find_bins(cells.block.values, edge, begin)[cells.row, cells.column]
        number = (begin + np.arange(n + 1))[cells.column] + bin_  # through all columns
        first, of = different_cells(cells, number, len(edge) + n)
        some, right = cells.take(first), cells.labels.codes[first]
        found = np.empty((len(some.row), len(cells.labels.classes)))
        size = max(1, LEFT // len(cells.labels.classes))
        for start in range(0, len(some.row), size):
            at = slice(start, start + size)
            here = some.column[at], bin_[first[at]], some.labels.weights[at], right[at]
            with np.errstate(divide="ignore"):
                found[at] = np.log(binned.smoothed.without(*here, real=self.estimate == "mle"))
        return found.take(of, axis=0)

    def bins_of(self, tally: BlockTally[Cells]) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return the column of each bin, and where it begins and ends, each of shape (bins,)."""
        axis, begin = tally.axis, self._binned(tally).begin
        _, low, high = extent_of(axis, begin)
        return axis.column[begin], low, high

    def _prior_counts(self, tally: BlockTally[Cells]) -> Parameters:
        smoothed = self._binned(tally).smoothed
        return smoothed.pretend[smoothed.there, 0] + float(self.estimate == "map")

    def _posterior_counts(self, tally: BlockTally[Cells]) -> Parameters:
        smoothed = self._binned(tally).smoothed
        counts = smoothed.smooth + smoothed.pretend + float(self.estimate == "map")
        return flat(counts[smoothed.there])

    def predictive(self, tally: BlockTally[Cells]) -> Distribution:
        """Return the distribution of the next number of one column."""
        from scipy import stats

        _, low, high = extent_of(tally.axis, self._binned(tally).begin)
        edges = np.append(low, np.nextafter(high[-1:], np.inf))  # the last bin holds its right edge
        p = self.parameters(tally, "mean")["p"][:, 0]
        return stats.rv_histogram((p, edges), density=False)

    def counted(self, tally: BlockTally[Cells]) -> Floats:
        smoothed = self._binned(tally).smoothed
        return smoothed.count[smoothed.there]

    def pretended(self, tally: BlockTally[Cells], how: How) -> Floats:
        if how == "mle":
            return np.zeros((1, 1))
        smoothed = self._binned(tally).smoothed
        more = float((self.estimate == "map") - (how == "map"))
        return np.asarray(smoothed.pretend[smoothed.there] + more)

    def n_parameters(self, tally: BlockTally[Cells]) -> int:
        counts = self._binned(tally).smoothed
        free = int(np.maximum(counts.bins - 1, 0).sum())
        return free * len(tally[CELL].high.T)

    def sample(
        self, tally: BlockTally[Cells], classes: ClassNumbers, rng: np.random.Generator
    ) -> Dense:
        """Draw a bin, a cell of the bin, and a number anywhere in the cell."""
        axis = tally.axis
        drawn = np.full((len(classes), len(axis.columns)), np.nan)
        p, begin = self.parameters(tally, self.estimate)["p"], self._binned(tally).begin
        bin_ = np.repeat(np.arange(len(begin)), np.diff(begin, append=len(axis)))
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


# --- Without a row: the columns that are left, one for each cell ---------------------------------


LEFT = 1 << 16  # numbers that are left out together, so that they stay in the cache
LEFT_CELLS = 4 * LEFT  # of columns that are left out together
EXACT = 16_000  # counts of a column, without each row, up to which its bins are derived anew


def _each_without(
    tally: BlockTally[Cells], cells: LeftOut[Dense], unit: NDArray[np.int64]
) -> BlockTally[Cells]:
    """Return a tally with a column for each cell: the cell's column without the cell's row."""
    # ``unit``, of shape (cells,), is the row of each cell in the tally.
    axis = tally.axis
    size, begin = np.diff(axis.first)[cells.column], axis.first[cells.column]
    before = np.cumsum(size) - size
    row = np.repeat(begin - before, size) + np.arange(size.sum())
    count = np.maximum(tally[CELL].high[row], 0.0)
    own = before + unit - begin
    count[own, cells.labels.codes] -= cells.labels.weights
    gone = count[own].sum(axis=1) <= RULES.negligible
    count = np.maximum(count, 0.0)
    there = np.ones(len(count), np.bool_)
    there[own[gone]] = False
    keys = axis.keys[row[there]]
    first = np.append(0, np.cumsum(size - gone))
    left = Cells(range(len(cells.row)), axis.shifts[cells.column], first, keys)
    return BlockTally(left, {CELL: Sums(count[there])})


# --- Discretise ----------------------------------------------------------------------------------
#
# How columns of numbers are cut into bins: each cell gets a number that differs from that of the
# cell before it, of its column, where a bin begins.


# From cells, their counts (cells, classes) and the number of bins (columns,): numbers of cells.
Cut: TypeAlias = Callable[[Cells, Floats, NDArray[np.int64]], Floats]


def by_frequency(cells: Cells, count: Floats, bins: NDArray[np.int64]) -> Floats:
    """Cut so that bins hold about equally many rows."""
    # Each cell is a bin if its column has no more cells than bins, or if it alone holds as many
    # rows as a bin. Where nearly all rows are of such cells, those of the others share the bins
    # that are left: zeros of nine rows in ten would else leave them three bins of thirty.
    slack, in_shared = RULES.slack, RULES.in_shared
    rows, column, k = count.sum(axis=1), cells.column, len(bins)
    few = np.diff(cells.first) <= bins
    total = np.bincount(column, rows, k)
    alone = few[column] | (rows * bins[column] >= total[column] * (1 - slack))
    others = np.bincount(column, np.where(alone, 0.0, rows), k)
    anew, most = (others < RULES.few_others * total) & ~few, bins.astype(np.float64)
    while anew.any():
        left = np.maximum(bins - np.bincount(column, alone, k), 1)
        size = np.maximum(others / left, in_shared)[column] * (1 - slack)
        more = (anew & (left > 1))[column] & ~alone & (rows >= size)
        if not more.any():
            most = np.where(anew, np.clip(np.floor(others / in_shared + slack), 1, left), most)
            break
        alone |= more
        others = np.bincount(column, np.where(alone, 0.0, rows), k)
    shared = np.where(anew[column] & alone, 0.0, rows)
    whole = np.where(anew, others, total)[column]
    before = np.cumsum(shared) - shared
    begin = np.append(before, 0.0)[np.minimum(cells.first[:-1], len(rows))]
    share = np.divide(before - begin[column], whole, out=np.zeros_like(before), where=whole > 0)
    begins = np.diff(np.floor(share * most[column] + slack), prepend=-1) != 0
    begins |= alone
    begins[1:] |= alone[:-1]
    return np.cumsum(begins).astype(np.float64)


def by_width(cells: Cells, count: Floats, bins: NDArray[np.int64]) -> Floats:  # noqa: ARG001
    """Cut into bins of equal width, from the least finite number to the greatest."""
    place = np.zeros(len(cells))
    for (start, end), most in zip(pairwise(cells.first), bins.tolist(), strict=True):
        x = cells.middle[start:end]
        finite = x[np.isfinite(x)]
        low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
        width = (high / most - low / most) if high > low else 1.0
        at = np.zeros(len(x))
        if len(finite):
            with np.errstate(invalid="ignore", over="ignore"):
                at = np.floor(x / width - low / width + RULES.slack)
        place[start:end] = np.clip(np.nan_to_num(at), 0, most - 1)
    return place


def by_entropy(cells: Cells, count: Floats, bins: NDArray[np.int64]) -> Floats:
    """Cut where the information gained about the class exceeds the cost to describe the cut."""
    # Fayyad & Irani, Multi-interval discretization of continuous-valued attributes (1993).
    place = np.zeros(len(cells))
    for (start, end), most in zip(pairwise(cells.first.tolist()), bins.tolist(), strict=True):
        cuts = sorted(_cuts(count[start:end], most))
        place[start:end] = np.searchsorted(cuts, np.arange(end - start), side="right")
    return place


def _cuts(count: Floats, bins: int) -> list[int]:
    """Return the cells at which new bins begin, found breadth first, at most ``bins`` - 1."""
    found: list[int] = []
    waiting = [(0, len(count))]
    while waiting and len(found) < bins - 1:
        start, end = waiting.pop(0)
        cut = _best_cut(count[start:end])
        if cut:
            found.append(start + cut)
            waiting += [(start, start + cut), (start + cut, end)]
    return found


def _best_cut(count: Floats) -> int:
    """Return the cell before which to cut, or 0 if no cut pays; ``count`` is (cells, classes)."""
    if len(count) < 2:
        return 0
    left = np.cumsum(count, axis=0)[:-1]
    total = count.sum(axis=0)
    right = total - left
    n, of_left, of_right = total.sum(), left.sum(axis=1), right.sum(axis=1)
    after = (of_left * _entropy(left) + of_right * _entropy(right)) / n
    cut = int(after.argmin())
    gain = float(_entropy(total[None])[0] - after[cut])
    k, k_left, k_right = ((rows > 0).sum() for rows in (total, left[cut], right[cut]))
    entropies = (
        k * _entropy(total[None])[0]
        - k_left * _entropy(left[cut][None])[0]
        - k_right * _entropy(right[cut][None])[0]
    )
    cost = (np.log2(max(n - 1, 1)) + np.log2(3.0**k - 2) - entropies) / n
    return cut + 1 if gain > cost else 0


def _entropy(count: Floats) -> Floats:
    """Return the entropy of each row of class counts, in bits."""
    total = count.sum(axis=1, keepdims=True)
    p = np.divide(count, total, out=np.zeros_like(count), where=total > 0)
    with np.errstate(divide="ignore"):
        bits: Floats = -(p * np.where(p > 0, np.log2(p), 0.0)).sum(axis=1)
    return bits


def _edges_of(cells: Cells, begin: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Return the edges of one column after another, and where those of each begin."""
    begin = np.setdiff1d(begin, cells.first, assume_unique=True)
    n, shifts, each = len(begin), cells.shifts[cells.column[begin]], np.arange(len(begin) + 1)
    below, above = (Cells(range(n), shifts, each, cells.keys[of]) for of in (begin - 1, begin))
    return between(below.high, above.low), np.searchsorted(begin, cells.first)


def between(below: Floats, above: Floats) -> Floats:
    """Return edges midway between numbers, which are above the lower ones, (edges,)."""
    with np.errstate(invalid="ignore"):
        middle = below / 2 + above / 2
    return np.where(middle > below, middle, above)


def extent_of(cells: Cells, begin: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Return a number in each bin, and where the bin begins and ends, each of shape (bins,)."""
    # A bin reaches midway to the cells beside it, and if there is none, as far as on its other
    # side; a bin that is its column's only number, or that holds infinite numbers, is 1 wide.
    if not len(cells):
        return np.empty(0), np.empty(0), np.empty(0)
    with np.errstate(invalid="ignore", over="ignore"):
        half = (cells.low[1:] - cells.high[:-1]) / 2  # of the gap after each cell but the last
    apart = (cells.column[1:] != cells.column[:-1]) | ~np.isfinite(half)
    half = np.where(apart, np.nan, half)
    before, after = np.append(np.nan, half), np.append(half, np.nan)
    before, after = (
        np.nan_to_num(np.where(np.isnan(near), other, near))
        for near, other in ((before, after), (after, before))
    )
    end = np.append(begin[1:], len(cells)) - 1
    middle = cells.middle[(begin + end) // 2]
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = cells.low[begin] - before[begin], cells.high[end] + after[end]
        flat = ~np.isfinite(high - low) | (high <= low)
    at = np.where(np.isfinite(middle), middle, 0.0)
    return middle, np.where(flat, at - 0.5, low), np.where(flat, at + 0.5, high)


CUTS: dict[str, Cut] = {"frequency": by_frequency, "width": by_width, "mdl": by_entropy}


# --- Counts of bins, smoothed by a Gaussian kernel over their numbers, and the best width of it ---


AT_ONCE = 1_000_000  # counts, at most, of bins whose widths are chosen together


def best_widths(
    count: Floats, bins: NDArray[np.int64], m: float, alpha: float | None = None
) -> Floats:
    """Return the width of each column's kernel, (columns,): by the rule, or what saves much."""
    # The parameters are those of ``BinCounts``. Columns are smoothed by all widths at once, as if
    # there were so many more of them.
    rows = np.maximum(count.sum(axis=(1, 2)), 1.0)
    by_rule: Floats = RULES.silverman * bins * rows**-0.2
    best, tried = by_rule.copy(), 1 + len(RULES.widths)
    size = max(1, AT_ONCE // max(1, tried * count[:1].size))
    for start in range(0, len(bins), size):
        some, of = count[start : start + size], bins[start : start + size]
        width = np.append(by_rule[start : start + size], np.repeat(RULES.widths, len(of)))
        every = BinCounts(np.tile(some, (tried, 1, 1)), np.tile(of, tried), width, m, alpha)
        rule, *others = every.loss().reshape(tried, -1)
        least = np.argmin(others, axis=0)
        saves = rule - np.min(others, axis=0) > RULES.gain
        best[start : start + size][saves] = np.take(RULES.widths, least[saves])
    return best


class BinCounts:
    """Counts of bins, smoothed by a Gaussian kernel over their numbers."""

    def __init__(
        self,
        count: Floats,  # (columns, most bins, classes), 0 past a column's bins
        bins: NDArray[np.int64],  # (columns,): how many each has
        width: Floats,  # (columns,): of its kernel, in bins
        m: float,  # pretend rows, spread as the numbers are over all classes
        alpha: float | None = None,  # instead: pretend count of each bin
    ) -> None:
        """Smooth the counts, and spread the pretend rows over the bins."""
        self.count, self.bins, self.alpha = count, bins, alpha
        self.there = np.arange(count.shape[1]) < bins[:, None]
        # Columns with equally many bins share a kernel, and most columns have equally many.
        alike, self._of = np.unique(bins + 1j * width, return_inverse=True)
        number = np.arange(count.shape[1])
        distance = number[:, None] - number
        with np.errstate(divide="ignore", invalid="ignore"):
            kernels = np.exp(-0.5 * (distance / alike.imag[:, None, None]) ** 2)
        kernels = np.where(distance == 0, 1.0, kernels)
        kernels *= (number < alike.real[:, None])[:, :, None]
        kernels /= np.maximum(kernels.sum(axis=1, keepdims=True), 1e-300)  # columns sum to 1
        self._kernels: Floats = kernels
        self.own = np.diagonal(self._kernels, axis1=1, axis2=2)[self._of]
        self.smooth = np.empty_like(count)
        size = max(1, LEFT // distance.size)  # of columns, whose kernels stay in the cache
        for at in (slice(start, start + size) for start in range(0, len(count), size)):
            np.matmul(self._kernels[self._of[at]], count[at], out=self.smooth[at])
        self.rows = count.sum(axis=1)
        self._all_rows, self._all_smooth = self.rows.sum(axis=1), self.smooth.sum(axis=2)
        pooled = self._all_smooth + RULES.spare * self.there
        pooled /= np.maximum(pooled.sum(axis=1, keepdims=True), 1e-300)
        self.m = np.full(len(bins), m) if alpha is None else alpha * bins
        self.pretend = (m * pooled if alpha is None else alpha * self.there)[:, :, None]

    def probabilities(self, *, real: bool = False) -> Floats:
        """Return the probability of each bin, of shape (columns, most bins, classes)."""
        # With ``real`` it is without pretend rows.
        pretend, m = (0.0, 0.0) if real else (self.pretend, self.m[:, None, None])
        return _ratio(self.smooth + pretend, self.rows[:, None] + m)

    def spread(self) -> Floats:
        """Return how much smoothed counts vary, (columns, most bins, classes): Q = S if plain."""
        # It is the variance of the sum of gamma variables that the kernel adds up.
        counted = np.square(self._kernels)[self._of] @ np.maximum(self.count, 0.0)
        return counted + self.own[:, :, None] * self.pretend

    def shares(self, more: float) -> Floats:
        """Return probabilities with ``more`` in each bin, (bins of all columns, classes)."""
        counts = np.maximum(self.smooth + self.pretend + more, 0.0) * self.there[:, :, None]
        return share(counts, counts.sum(axis=1, keepdims=True))[self.there]

    def without(
        self,
        column: NDArray[np.int64],  # (numbers,)
        bin_: NDArray[np.integer],  # (numbers,)
        weight: Floats,  # (numbers,): of its row
        right: NDArray[np.integer],  # (numbers,): the class of its row
        *,
        real: bool = False,  # without the pretend rows
    ) -> Floats:
        """Return the probability of each number's bin without its own row, (numbers, classes)."""
        own = weight * self.own[column, bin_]
        m, pretend = self.m[column], self._pretend_without(column, bin_, weight)
        if real:
            m, pretend = 0.0 * m, 0.0 * pretend
        smooth = leave_out(self.smooth[column, bin_], right, own)
        rows = leave_out(self.rows[column], right, weight)
        return _ratio(smooth + pretend[:, None], rows + m[:, None])

    def loss(self) -> Floats:
        """Return the leave-one-out log loss of each column alone, of all its rows, (columns,)."""
        # Leaving a row out changes the other classes in the same way whichever class it has, so
        # that each class is computed once.
        column, bin_ = np.nonzero(self.there)
        smooth, rows = self.smooth[column, bin_], self.rows[column]
        own, m = self.own[column, bin_][:, None], self.m[column][:, None]
        pretend = self._pretend_without(column, bin_, np.ones(len(column)))[:, None]
        prior, prior_left = rows + RULES.half, np.maximum(rows - 1.0, 0.0) + RULES.half
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
        others = np.maximum(self._all_rows[column] - weight, 0.0)
        own = weight * self.own[column, bin_]
        here_too = np.maximum(self._all_smooth[column, bin_] - own, 0.0)
        others += RULES.spare * self.bins[column]
        return np.asarray(self.m[column] * (here_too + RULES.spare) / others)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole; 1, whose logarithm is 0, for a class without any number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = part / whole
    return np.where(np.isnan(p), 1.0, p)
