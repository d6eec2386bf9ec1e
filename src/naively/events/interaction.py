"""Pairs of columns: evidence beside that of the columns, of how their bins meet, by class.

Naive Bayes takes columns as independent, given the class. How much more often than that two bins
meet in a class is what a pair has to say; it is counted like a column whose levels are the
meetings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level, Levels, Name, title
from naively.counting.block import Codes
from naively.counting.leave_one_out import LeftOut, leave_out
from naively.counting.statistic import LEVEL
from naively.counting.tally import BlockTally
from naively.events.base import EventModel, How, check_estimate
from naively.kernels.reference import Floats
from naively.likelihoods.table import LevelTable


@final
@dataclass(frozen=True)
class Interaction(EventModel[Levels, Codes]):
    """How bins of two columns meet: for each class, how much more often than by chance.

    Parameters
    ----------
    pairs : sequence of (column, column)
        Which columns.
    edges : sequence of (column, edges)
        Where columns of numbers are cut, ascending; a bin counts the edges that a number reaches.
    levels : sequence of (column, levels)
        The levels of columns of categories that have a bin of their own; others share one.
    m : float, default 0.5
        Pretend rows of each meeting, as many as in all classes together: where little is known
        of a class, it is taken to be like the others.
    estimate : {"mean", "map", "mle", "predictive"}
        Maximum likelihood is without the pretend rows, up to a trace; the others are the same.

    Notes
    -----
    With O rows of a class in a meeting and E expected of independent columns, the evidence is
    log (O + m R) / (E + m), where R is (O + m) / (E + m) over all classes together: shrinkage
    towards the common ratio, as in DuMouchel, Bayesian data mining in large frequency tables
    (1999). All counts are the pair's own, so that it can be merged, and a row be left out. A
    missing cell is in a bin of its own.

    Examples
    --------
    >>> from naively.events.interaction import Interaction
    >>> event = Interaction(pairs=[("a", "b")], edges=[("a", [0.5])], levels=[("b", ["x", "y"])])
    >>> event.names, event.shapes
    (('a × b',), ((3, 4),))
    """

    pairs: Sequence[tuple[Name, Name]] = field(default=(), repr=False)
    edges: Sequence[tuple[Name, Sequence[float]]] = field(default=(), repr=False)
    levels: Sequence[tuple[Name, Sequence[Level]]] = field(default=(), repr=False)
    m: float = 0.5
    estimate: How = "mean"
    name = "pairs"
    statistics = (LEVEL,)
    layout = "pairs"
    beside = True

    def __post_init__(self) -> None:
        check_estimate(self.estimate)
        if not (np.isfinite(self.m) and self.m > 0):
            raise ValueError(f"Interaction m must be greater than 0, got {self.m}.")
        # As tuples they are equal to themselves, and hash.
        object.__setattr__(self, "pairs", tuple((a, b) for a, b in self.pairs))
        for bins in ("edges", "levels"):
            of = tuple((name, tuple(cuts)) for name, cuts in getattr(self, bins))
            object.__setattr__(self, bins, of)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the pairs are called."""
        return tuple(f"{title(a)} × {title(b)}" for a, b in self.pairs)

    @cached_property
    def size(self) -> dict[Name, int]:
        """The number of bins of each column; the last is for missing cells."""
        of_numbers = {name: len(edges) + 2 for name, edges in self.edges}
        return of_numbers | {name: len(levels) + 2 for name, levels in self.levels}

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The number of bins of the columns of each pair."""
        return tuple((self.size[a], self.size[b]) for a, b in self.pairs)

    @cached_property
    def axis(self) -> Levels:
        """All meetings of each pair by number."""
        return Levels(self.names, tuple(tuple(range(a * b)) for a, b in self.shapes))

    def parameters(self, tally: BlockTally[Levels], how: How) -> dict[str, Floats]:
        """Return how many times as often as by chance each meeting is, in each class."""
        m = self._pretend(how)
        ratio = [
            np.exp(residual(count, m)).reshape(-1, tally[LEVEL].shape[1])
            for count in self._counts(tally)
        ]
        return {"ratio": np.concatenate([np.empty((0, tally[LEVEL].shape[1])), *ratio])}

    def likelihood(self, tally: BlockTally[Levels]) -> LevelTable:
        return LevelTable(np.log(self.parameters(tally, self.estimate)["ratio"]), self.axis.first)

    def log_prob_without(self, tally: BlockTally[Levels], cells: LeftOut[Codes]) -> Floats:
        found, right = np.empty_like(cells.own), cells.labels.codes
        m = self._pretend(self.estimate)
        for j, count in enumerate(self._counts(tally)):
            of = cells.column == j
            found[of] = residual_without(count, cells.x[of], right[of], cells.weight[of], m)
        return found

    def n_parameters(self, tally: BlockTally[Levels]) -> int:
        free = 0
        for count in self._counts(tally):
            of_a, of_b = ((count.sum(axis=(side, 2)) > 0).sum() for side in (1, 0))
            free += int(max(of_a - 1, 0) * max(of_b - 1, 0))
        return free * tally[LEVEL].shape[1]

    def _pretend(self, how: How) -> float:
        return TRACE if how == "mle" else self.m

    def _counts(self, tally: BlockTally[Levels]) -> Iterator[Floats]:
        """Yield the count of each pair, of shape (bins of a, bins of b, classes)."""
        axis, counted = tally.axis, tally[LEVEL].high
        for shape, levels, (start, end) in zip(
            self.shapes, axis.levels, pairwise(axis.first), strict=True
        ):
            count = np.zeros((shape[0] * shape[1], counted.shape[1]))
            count[np.array(levels, np.int64)] = counted[start:end]
            yield count.reshape(*shape, -1)


TRACE = 1e-9  # of a pretend row: 0 of 0 rows says nothing


def residual(count: Floats, m: float) -> Floats:
    """Return the log of how much more often than by chance bins meet (bins, bins, classes)."""
    n = np.maximum(count.sum(axis=(0, 1)), TRACE)
    expected = count.sum(axis=1)[:, None] * count.sum(axis=0)[None] / n
    return _log_ratio(count, expected, m)


def residual_without(
    count: Floats, code: NDArray[np.integer], right: NDArray[np.integer], weight: Floats, m: float
) -> Floats:
    """Return the same at meetings, each less a row of this weight in its right class."""
    a, b = np.divmod(code, count.shape[1])
    of_a, of_b, n = count.sum(axis=1)[a], count.sum(axis=0)[b], count.sum(axis=(0, 1))
    observed, of_a, of_b, n = (
        leave_out(sums, right, weight)
        for sums in (count[a, b], of_a, of_b, np.broadcast_to(n, of_a.shape))
    )
    return _log_ratio(observed, of_a * of_b / np.maximum(n, TRACE), m)


def _log_ratio(observed: Floats, expected: Floats, m: float) -> Floats:
    """Shrink ratios towards that of all classes, and this one towards 1."""
    common = (observed.sum(axis=-1, keepdims=True) + m) / (expected.sum(axis=-1, keepdims=True) + m)
    ratio: Floats = np.log((observed + m * common) / (expected + m))
    return ratio
