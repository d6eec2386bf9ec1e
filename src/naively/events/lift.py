"""Lift: how much more often two bins occur together in a class than if they were independent.

Naive Bayes takes columns as independent, given the class. The log lift of an interaction is added
to the evidence of its two columns; it is 0 where they are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import LEVEL, Derived, Levels
from naively.counting.block import Codes
from naively.counting.leave_one_out import LeftOut, different_cells
from naively.counting.tally import BlockTally
from naively.events.base import UNSAID, EventModel, check_estimate
from naively.kernels.reference import Floats
from naively.likelihoods.numbers import LevelTable
from naively.options import How

TRACE = 1e-9  # of a pretend row, so that 0 of 0 expected rows is a lift of 1


@final
@dataclass(frozen=True)
class Lift(EventModel[Levels, Codes]):
    """How often the bins of two columns occur together, in each class, against chance.

    Parameters
    ----------
    m : float, default 0.5
        Pretend rows of each pair of bins, at the ratio of all classes together: a class with few
        rows is taken to be like the others.
    estimate : {"mean", "map", "mle", "predictive"}
        Maximum likelihood is without the pretend rows, up to a trace; the others are alike.

    Notes
    -----
    With O rows of a class in a pair of bins and E expected of independent columns, the evidence is
    log (O + m R) / (E + m), where R is (O + m) / (E + m) over all classes together: shrinkage
    towards the common ratio, as in DuMouchel, Bayesian data mining in large frequency tables
    (1999). All counts are the interaction's own, so that it merges and a row can be left out.

    Examples
    --------
    >>> from naively.events.lift import Lift
    >>> print(Lift(m=2.0))
    lift(m=2.0)
    """

    m: float = 0.5
    estimate: How = UNSAID
    name = "lift"
    statistics = (LEVEL,)
    layout = "grid"

    def __post_init__(self) -> None:
        check_estimate(self.estimate)
        if not (np.isfinite(self.m) and self.m > 0):
            raise ValueError(f"Lift m must be greater than 0, got {self.m}.")

    def parameters(self, tally: BlockTally[Levels], how: How) -> dict[str, Floats]:
        """Return the lift of each pair of bins in each class, (pairs of all columns, classes)."""
        m = self.pretend(how)
        ratio = [
            np.exp(log_lift(count, m)).reshape(-1, count.shape[-1]) for count in counts_of(tally)
        ]
        return {"ratio": np.concatenate([np.empty((0, tally[LEVEL].shape[1])), *ratio])}

    def likelihood(self, tally: BlockTally[Levels]) -> LevelTable:
        return LevelTable(np.log(self.parameters(tally, self.estimate)["ratio"]), tally.axis.first)

    def log_prob_without(self, tally: BlockTally[Levels], cells: LeftOut[Codes]) -> Floats:
        level = tally.axis.first[cells.column] + cells.x
        first, number = different_cells(cells, level, len(tally.axis))
        cells = cells.take(first)
        found, right = np.empty_like(cells.own), cells.labels.codes
        m = self.pretend(self.estimate)
        for j, count in enumerate(counts_of(tally)):
            of = cells.column == j
            found[of] = log_lift_without(count, cells.x[of], right[of], cells.weight[of], m)
        return found.take(number, axis=0)

    def pretended(self, tally: BlockTally[Levels], how: How) -> Floats:  # noqa: ARG002
        return np.full((1, 1), 0.0 if how == "mle" else self.m)

    def n_parameters(self, tally: BlockTally[Levels]) -> int:
        free = 0
        for count in counts_of(tally):
            of_a, of_b = ((count.sum(axis=(side, 2)) > 0).sum() for side in (1, 0))
            free += int(max(of_a - 1, 0) * max(of_b - 1, 0))
        return free * tally[LEVEL].shape[1]

    def pretend(self, how: How) -> float:
        """Return how many pretend rows each pair of bins has."""
        return TRACE if how == "mle" else self.m


def counts_of(tally: BlockTally[Levels]) -> Iterator[Floats]:
    """Yield the count of each interaction, of shape (bins of a, bins of b, classes)."""
    axis, counted = tally.axis, tally[LEVEL].high
    for column, (start, end) in zip(axis.columns, pairwise(axis.first), strict=True):
        if isinstance(column, Derived):
            yield counted[start:end].reshape(*column.shape, -1)


def log_lift(count: Floats, m: float) -> Floats:
    """Return the log lift of each pair of bins, (bins of a, bins of b, classes)."""
    n = np.maximum(count.sum(axis=(0, 1)), TRACE)
    expected = count.sum(axis=1)[:, None] * count.sum(axis=0)[None] / n
    return _log_ratio(count.copy(), expected, m)


def log_lift_without(
    count: Floats, code: NDArray[np.integer], right: NDArray[np.integer], weight: Floats, m: float
) -> Floats:
    """Return the log lift of cells, each without its own row.

    Parameters
    ----------
    count : ndarray of shape (bins of a, bins of b, classes)
        How often the bins occur together.
    code, right, weight : ndarray of shape (cells,)
        The pair of bins of each cell, and the class and the weight of its row.
    m : float
        Pretend rows of each pair of bins.

    Returns
    -------
    log_lift : ndarray of shape (cells, classes)
    """
    a, b = np.divmod(code, count.shape[1])
    of_a, of_b, n = count.sum(axis=1)[a], count.sum(axis=0)[b], count.sum(axis=(0, 1))
    return log_lift_of_cells(count[a, b], of_a, of_b, n, right, weight, m)


def log_lift_of_cells(
    both: Floats,
    of_a: Floats,
    of_b: Floats,
    n: Floats,
    right: NDArray[np.integer],
    weight: Floats,
    m: float,
) -> Floats:
    """Return the log lift of cells, (cells, classes), each without its own row.

    Parameters
    ----------
    both, of_a, of_b : ndarray of shape (cells, classes)
        How often each cell's bins occur together, and each of them.
    n : ndarray of shape (classes,)
        Rows of each class.
    right, weight : ndarray of shape (cells,)
        The class and the weight of the row of each cell.
    m : float
        Pretend rows of each pair of bins.
    """
    here = np.arange(len(right)), right
    left = [np.maximum(sums[here] - weight, 0.0) for sums in (both, of_a, of_b)]
    expected = of_a * of_b
    expected /= np.maximum(n, TRACE)
    # A row is only left out of the counts of its own class.
    n_left = np.maximum(n[right] - weight, TRACE)
    expected[here] = left[1] * left[2] / n_left
    observed = both.copy()
    observed[here] = left[0]
    return _log_ratio(observed, expected, m)


def _log_ratio(observed: Floats, expected: Floats, m: float) -> Floats:
    """Return log ratios, shrunk towards that of all classes, which is shrunk towards 1.

    Both arrays may be overwritten.
    """
    common = (observed.sum(axis=-1, keepdims=True) + m) / (expected.sum(axis=-1, keepdims=True) + m)
    observed += m * common
    expected += m
    observed /= expected
    return np.log(observed, out=observed)
