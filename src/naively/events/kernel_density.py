"""Kernel density event model: a normal density around every number, for each class."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import CELL, Cells
from naively.counting.block import Dense
from naively.counting.leave_one_out import LeftOut
from naively.counting.tally import BlockTally
from naively.events.base import (
    UNSAID,
    ClassNumbers,
    Distribution,
    check_settings,
    draw_levels,
    numbers,
)
from naively.events.estimate import Estimable
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.options import How
from naively.terms.kinds import FunctionTerms

MULTIPLES = (0.25, 0.5, 1.0, 2.0)  # "auto" chooses among these times the bandwidth by rule
MANY = 256  # in a column of more cells, cells are gathered in nodes ...
NEAR = 0.25  # ... of those that are this close together, in bandwidths
# The grid has points at the nodes; at these many bandwidths from both ends of the GAPS widest gaps
# between them and of the whole; and at these shares of each gap that is not narrow.
REACH = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0])
GAPS = 16
QUARTERS = np.array([0.25, 0.5, 0.75])
PEAK = 1 / np.sqrt(2 * np.pi)  # the standard normal density at 0
NARROWEST = 1e-6  # the least bandwidth by rule, in standard deviations over all classes
TINY = 1e-100  # the least standard deviation, in units of the column; its square is above 0
LEAST = 1e-300  # a lower density is raised to this
HALF = 0.5  # each class has half a row more in the log loss that a bandwidth is chosen by


@final
class KernelDensity(Estimable[Cells, Dense], Frozen, eq=True):
    """Numbers of any distribution: the density is the mean of normal densities around the numbers.

    Parameters
    ----------
    bandwidth : "auto", "silverman" or float, default "auto"
        Standard deviation of the normal densities: a number, in the column's own units; for each
        column and class, 0.9 · min(standard deviation, interquartile range / 1.34) · n^(-1/5)
        (Silverman 1986, equation 3.31); or that times 1/4, 1/2, 1 or 2, by the least leave-one-out
        log loss of each column.
    alpha : float, default 1.0
        Pretend rows in each class, distributed like the numbers of all classes and one far wider
        density, so that no class is impossible anywhere.
    estimate : {"mean", "map", "mle", "predictive"}
        All estimates are the same.

    Notes
    -----
    Silverman, Density Estimation for Statistics and Data Analysis (1986); John & Langley,
    Estimating continuous distributions in Bayesian classifiers (1995). Numbers are counted in
    cells (see ``kernels.cells``), so densities merge and forget; the density is worked out on
    a grid of some hundred points a column and its logarithm interpolated. A number beyond the grid,
    such as an infinite one, has the density at the grid's end.

    Examples
    --------
    >>> from naively import KernelDensity, NaiveBayes
    >>> X, y = [[1.0], [9.0], [2.0], [8.0], [5.0], [4.0]], ["ends", "ends"] * 2 + ["middle"] * 2
    >>> nb = NaiveBayes(event_models=KernelDensity(bandwidth=1.0)).fit(X, y)
    >>> nb.predict([[0.5], [4.5], [9.5]])
    array(['ends', 'middle', 'ends'], dtype='<U6')
    """

    bandwidth: float | str = "auto"
    alpha: float = 1.0
    estimate: How = UNSAID
    name = "density"
    statistics = (CELL,)
    sparse = False

    def __post_init__(self) -> None:
        """Refuse a wrong pseudo-count or bandwidth."""
        if np.ndim(self.alpha):
            raise ValueError(f"KernelDensity alpha must be one number, got {self.alpha!r}.")
        check_settings(self)
        named = self.bandwidth in ("auto", "silverman")
        value = np.asarray(self.bandwidth)
        if not named and not (value.ndim == 0 and value.dtype.kind in "fiu" and 0 < value < np.inf):
            raise ValueError(
                "KernelDensity bandwidth must be 'auto', 'silverman' or a number above 0, "
                f"got {self.bandwidth!r}."
            )

    def parameters(self, tally: BlockTally[Cells], how: How) -> dict[str, Floats]:  # noqa: ARG002
        return {"bandwidth": np.stack([b.bandwidth * b.unit for b in self._kernels(tally)])}

    def terms(self, tally: BlockTally[Cells]) -> FunctionTerms:
        kernels = self._kernels(tally)

        def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
            value = np.empty((len(x), tally[CELL].shape[1]))
            for j in np.unique(column):
                value[column == j] = kernels[j].log_density(x[column == j])
            return value

        return FunctionTerms(log_density, np.stack([of.centre for of in kernels]))

    def log_prob_without(self, tally: BlockTally[Cells], cells: LeftOut[Dense]) -> Floats:
        """Return the log likelihood of each cell without its own row, (cells, classes).

        The bandwidths and the widest density stay as they were (see ``EventModel``).
        """
        added = cells.labels.one_hot()
        found = np.empty_like(added)
        for j, kernels in enumerate(self._kernels(tally)):
            of = cells.column == j
            own = added[of] * np.isfinite(cells.x[of])[:, None]
            found[of] = kernels.log_density_without(cells.x[of], own)
        return found

    def predictive(self, tally: BlockTally[Cells]) -> Distribution:
        """Return the density of the first column, without what ``alpha`` adds, as SciPy's."""
        from scipy import stats

        kernels = self._kernels(tally)[0]
        some = kernels.count[:, 0] > 0
        at, weight = kernels.at[some] * kernels.unit, kernels.count[some, 0]
        density = stats.gaussian_kde(at, weights=weight)
        spread = np.sqrt(density.covariance[0, 0]) / density.factor
        density.set_bandwidth(kernels.bandwidth[0] * kernels.unit / spread)
        return density

    def sample(
        self, tally: BlockTally[Cells], classes: ClassNumbers, rng: np.random.Generator
    ) -> Dense:
        columns = [kernels.sample(classes, rng) for kernels in self._kernels(tally)]
        return numbers(np.stack(columns, axis=1), tally)

    def _kernels(self, tally: BlockTally[Cells]) -> list[_Kernels]:
        """Return the normal densities of each column."""
        axis, counts = tally.axis, tally[CELL].high
        found = []
        for start, end in zip(axis.first[:-1], axis.first[1:], strict=True):
            finite = start + np.flatnonzero(
                np.isfinite(axis.low[start:end])
                & np.isfinite(axis.high[start:end])
                & counts[start:end].any(axis=1)  # decay may have faded a cell's class
            )
            width = axis.high[finite] - axis.low[finite]
            x = axis.middle[finite]
            # In this unit no square of what matters over- or underflows.
            least = 0.0 if isinstance(self.bandwidth, str) else self.bandwidth
            _, exponent = np.frexp(np.abs(x).max(initial=least) or 0.5)
            unit = 2.0 ** (int(exponent) - 1)
            kernels = _Kernels.of(x / unit, width / unit, counts[finite], self.alpha, unit)
            found.append(self._choose(kernels))
        return found

    def _choose(self, kernels: _Kernels) -> _Kernels:
        """Return the normal densities with the bandwidth that is set, or the best."""
        if not isinstance(self.bandwidth, str):
            return kernels.of_bandwidth(self.bandwidth / kernels.unit)
        if self.bandwidth == "silverman":
            return kernels
        tried = [kernels.of_bandwidth(kernels.bandwidth * multiple) for multiple in MULTIPLES]
        return min(tried, key=_Kernels.loss)


class _Kernels(Frozen):
    """The normal densities of one column, one around each of some hundred nodes."""

    at: Floats  # (nodes,): the mean of the numbers that are gathered at each
    within: Floats  # (nodes,): their variance
    count: Floats  # (nodes, classes): how many they are
    alpha: float  # pretend rows in each class
    unit: float  # what all numbers here are divided by
    bandwidth: Floats  # (classes,): the standard deviation around a node
    middle: float  # the location of the widest density, Student's with 2 degrees of freedom
    scale: float  # its scale

    @classmethod
    def of(cls, x: Floats, width: Floats, counts: Floats, alpha: float, unit: float) -> _Kernels:
        """Gather cells in nodes, with bandwidths by rule."""
        of_cell = counts.sum(axis=1)
        whole, spread = _rule(x, of_cell)
        by_rule = [_rule(x, counts[:, c])[0] for c in range(counts.shape[1])]
        bandwidth = np.array([max(one or whole, NARROWEST * spread) or 1.0 for one in by_rule])
        place = np.floor(x / (NEAR * bandwidth.min())) if len(x) > MANY else np.arange(len(x))
        _, node = np.unique(place, return_inverse=True)
        total = np.bincount(node, of_cell)
        at = np.bincount(node, of_cell * x) / total
        # Rows are spread evenly over their cells.
        within = np.bincount(node, of_cell * ((x - at[node]) ** 2 + width**2 / 12)) / total
        count = np.zeros((len(total), counts.shape[1]))
        np.add.at(count, node, counts)
        middle = float(_quantile(x, of_cell, 0.5)) if len(x) else 0.0
        return cls(at, within, count, alpha, unit, bandwidth, middle, 2 * spread or 1.0)

    def of_bandwidth(self, bandwidth: Floats | float) -> _Kernels:
        """Return the same densities with another bandwidth, () or (classes,)."""
        return replace(self, bandwidth=np.broadcast_to(bandwidth, self.bandwidth.shape))

    @cached_property
    def rows(self) -> Floats:
        """The rows of each class, (classes,)."""
        return np.asarray(self.count.sum(axis=0))

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of the density at each node, (nodes, classes)."""
        spread: Floats = np.hypot(np.sqrt(self.within)[:, None], self.bandwidth)
        return np.maximum(spread, TINY)

    def density(self, x: Floats) -> Floats:
        """Return the sum over rows of their normal densities at each x, (x, classes)."""
        total = np.empty((len(x), len(self.rows)))
        for c, spread in enumerate(self.spread.T):
            distance = np.subtract.outer(x, self.at) / spread
            total[:, c] = np.exp(-0.5 * distance**2) @ (self.count[:, c] * PEAK / spread)
        return total

    def _wide(self, x: Floats) -> Floats:
        """Return the widest density, which pretend rows have, at each x, (x,)."""
        from scipy import stats

        with np.errstate(over="ignore"):  # where a square is infinite, the density is 0
            wide: Floats = stats.t.pdf(x, 2, self.middle, self.scale)
        return wide

    @cached_property
    def _grid(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Points at the nodes, in the gaps between them and around them all, and densities there.

        They are the points, (points,), the sum of the densities of all rows, (points, classes), the
        widest density, (points,), and what one row adds to the sum where it is, (points, classes).
        """
        if not len(self.at):
            none = np.full((1, len(self.rows)), LEAST)
            return np.zeros(1), none, np.ones(1), none  # any density that is the same for all
        gap = np.diff(self.at)
        reach = np.concatenate([REACH * self.spread.min(), REACH * self.spread.max()])
        reach = np.concatenate([reach, -reach])
        ends = np.argsort(-gap, kind="stable")[:GAPS]
        ends = np.unique(np.concatenate([ends, ends + 1, [0, len(self.at) - 1]]))
        around = np.add.outer(self.at[ends], reach).ravel()
        between = (self.at[:-1, None] + gap[:, None] * QUARTERS)[gap > self.spread.min() / 2]
        x = np.unique(np.concatenate([self.at, around, between.ravel()]))
        wide = self._wide(x)
        own = PEAK / self.spread
        nearest = np.stack([np.interp(x, self.at, own[:, c]) for c in range(own.shape[1])], axis=1)
        return x, np.maximum(self.density(x), LEAST), wide, nearest

    @cached_property
    def _log_mixed(self) -> Floats:
        """Log densities at the points of the grid, with pretend rows, (points, classes)."""
        x, sums, wide, own = self._grid
        mixed = self.mix(sums, wide, np.zeros((len(x), 1)), own)
        return np.asarray(np.log(mixed) - np.log(self.unit))

    def log_density(self, x: Floats) -> Floats:
        """Return log densities at x, (x, classes)."""
        return self._between(x, self._log_mixed)

    def log_density_without(self, x: Floats, own: Floats) -> Floats:
        """Return log densities at x, (x, classes), each less its row, which weighs ``own``."""
        _, *tables = self._grid
        sums, wide, kernel = (
            np.exp(self._between(x, np.log(np.maximum(table.reshape(len(table), -1), LEAST))))
            for table in tables
        )
        return np.asarray(np.log(self.mix(sums, wide[:, 0], own, kernel)) - np.log(self.unit))

    def _between(self, x: Floats, table: Floats) -> Floats:
        """Interpolate logarithms of densities at the points of the grid, (points, ...), at x."""
        points = self._grid[0]
        with np.errstate(over="ignore"):  # with a small unit x is far out
            x = np.clip(x / self.unit, points[0], points[-1])
        right = np.clip(np.searchsorted(points, x), 1, max(len(points) - 1, 1))
        left = right - 1
        right = np.minimum(right, len(points) - 1)
        step = np.maximum(points[right] - points[left], LEAST)
        share = ((x - points[left]) / step)[:, None]
        return table[left] + share * (table[right] - table[left])

    @property
    def centre(self) -> Floats:
        """The mean of each class, (classes,)."""
        return np.asarray(self.unit * (self.at @ self.count / np.maximum(self.rows, LEAST)))

    def mix(self, density: Floats, wide: Floats, own: Floats, kernel: Floats) -> Floats:
        """Return densities, (x, classes), from sums less a row of weight ``own`` at each x."""
        less = np.maximum(density - own * kernel, LEAST)
        rows = np.maximum(self.rows - own, 0.0)
        pooled = (less.sum(axis=1) + wide) / (rows.sum(axis=-1) + 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mixed: Floats = (less + self.alpha * pooled[:, None]) / (rows + self.alpha)
        # A class without real or pretend rows is as all are.
        return np.where(rows + self.alpha > 0, np.maximum(mixed, LEAST), pooled[:, None])

    def loss(self) -> float:
        """Return the leave-one-out log loss of this column alone, at its nodes."""
        if not len(self.at):
            return 0.0
        density, kernel = self.density(self.at), PEAK / self.spread
        wide = self._wide(self.at)
        prior, loss = self.rows + HALF, 0.0
        for c in range(len(self.rows)):
            own = np.zeros(len(self.rows))
            own[c] = 1.0
            joint = prior * self.mix(density, wide, own[None] * np.ones((len(density), 1)), kernel)
            loss -= float(self.count[:, c] @ np.log(joint[:, c] / joint.sum(axis=1)))
        return loss

    def sample(self, classes: ClassNumbers, rng: np.random.Generator) -> Floats:
        """Draw a number for each class number, (rows,)."""
        n, total = self.rows[classes], self.rows.sum()
        pretend = rng.random(len(classes)) * (n + self.alpha) >= n
        wide = pretend & (rng.random(len(classes)) * (total + 1) >= total)
        of = np.where(
            pretend, rng.choice(len(self.rows), len(classes), p=self.rows / total), classes
        )
        node = draw_levels(self.count, of, rng)
        near = rng.normal(self.at[node], self.spread[node, of])
        far = self.middle + self.scale * rng.standard_t(2, len(classes))
        return self.unit * np.where(wide, far, near)


def _rule(x: Floats, weight: Floats) -> tuple[float, float]:
    """Return Silverman's bandwidth and the standard deviation; 0 where there is no spread."""
    n = weight.sum()
    if not n > 0:
        return 0.0, 0.0
    mean = weight @ x / n
    deviation = float(np.sqrt(weight @ (x - mean) ** 2 / n))
    quartiles = (_quantile(x, weight, 0.75) - _quantile(x, weight, 0.25)) / 1.34
    return 0.9 * float(min(deviation, quartiles) or deviation) * n**-0.2, deviation


def _quantile(x: Floats, weight: Floats, q: float) -> float:
    """Return the q-quantile: the least x that holds a share q of the weight up to it."""
    reached = np.cumsum(weight)
    return float(x[min(int(np.searchsorted(reached, q * reached[-1] * (1 - 1e-12))), len(x) - 1)])
