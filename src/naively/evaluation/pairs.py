"""Pairs of columns whose bins come together more often in a class than by chance.

Each column is cut into bins. The evidence of a pair is how much more often its two bins come
together in a class than if the columns were independent, each row left out of the counts. Its
gradient and curvature at given posteriors tell how much log loss a weight for it would save.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.counting.parts import Part
from naively.evaluation.calibrate import CELLS, OF_INTERACTIONS
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.events.lift import Lift, log_lift_without
from naively.kernels.reference import Floats
from naively.schema.derived import Bins, Interaction, LevelBins, NumberBins, Source, TimePart
from naively.schema.held import Held

BINS = 0.6  # of a column of numbers, for each cube root of the rows
FEW, MANY = 4, 12  # bins, at least and at most
LEVELS = 11  # of a column of categories that have a bin; all others share one
COLUMNS = 100  # the most that pairs are made of
WORK = 200_000_000  # pairs × rows × classes, the most that are looked at
ROWS = 5  # of the sample for each column that pairs are made of, as many pairs gain by chance
KEPT = 50_000_000  # codes of rows in pairs
SHARE = 3  # pairs for each column, at most
GAIN = 2.0  # nats of log loss that a pair must save on the sample

Pair = tuple[int, int]  # the numbers of two columns


@dataclass(frozen=True, eq=False)
class Crossed:
    """Columns of sampled rows, cut into bins, any two of which can be taken together.

    Parameters
    ----------
    bins : list of NumberBins or LevelBins
        The bins of each column.
    codes : list of ndarray of shape (rows,)
        The bin of each row, by column.
    labels : Labels
        The labels of the rows.
    """

    bins: list[Bins]
    codes: list[NDArray[np.int64]]
    labels: Labels
    _kept: dict[Pair, tuple[Floats, NDArray[np.int32]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, batches: Sequence[Batch], found: LeaveOneOut, said: dict[Part, float]) -> Crossed:
        """Cut columns into bins: if there are many, those that say most.

        Parameters
        ----------
        batches : sequence of Batch
            The rows, as the model encodes them.
        found : LeaveOneOut
            Their leave-one-out table.
        said : dict of Part to float
            How much evidence each part gives.
        """
        held = [Held(batch) for batch in batches]
        bins = [_bins(held, name) for name in _columns(found, said)]
        codes = [np.concatenate([of.codes(batch) for batch in held]) for of in bins]
        return cls(bins, codes, found.labels)

    def interaction(self, pair: Pair) -> Interaction:
        """Return two columns taken together, as a column."""
        return Interaction(self.bins[pair[0]], self.bins[pair[1]])

    def evidence(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Return the evidence of pairs, centred over the classes: (rows, classes, pairs)."""
        rows = np.empty((len(self.labels), self.labels.k, len(pairs)), np.float32)
        for at, pair in enumerate(pairs):
            of_code, code = self._lift(pair)
            rows[:, :, at] = of_code[code]
        return rows

    def best(self, p: Floats, rows: NDArray[np.int64] | None = None) -> list[Pair]:
        """Return the pairs that would save most log loss, by descending gain.

        Parameters
        ----------
        p : ndarray of shape (rows, classes)
            The posteriors of the rows that are looked at.
        rows : ndarray of shape (rows,), optional
            Their numbers; by default all rows. The counts are of all rows in any case, without
            the row itself.
        """
        weight = self.labels.weights if rows is None else self.labels.weights[rows]
        right = self.labels.codes if rows is None else self.labels.codes[rows]
        residual = -p * weight[:, None]
        residual[np.arange(len(right)), right] += weight
        gains = {}
        for pair in combinations(range(len(self.bins)), 2):
            of_code, code = self._lift(pair)
            some = code if rows is None else code[rows]
            gains[pair] = _gain(of_code, some, p, residual, weight)
        most = min(SHARE * len(self.bins), CELLS // max(1, len(self.labels) * self.labels.k))
        best = sorted(gains, key=lambda pair: -gains[pair])[:most]
        return [pair for pair in best if gains[pair] > GAIN]

    def _lift(self, pair: Pair) -> tuple[Floats, NDArray[np.int32]]:
        """Return evidence by pair of bins and class, (codes, classes), and the code of each row.

        Each pair is asked for several times, so that what was found is kept, up to a limit.
        """
        if pair in self._kept:
            return self._kept[pair]
        (i, j), k = pair, self.labels.k
        shape = self.bins[i].size, self.bins[j].size, k
        cell = (self.codes[i] * shape[1] + self.codes[j]) * k + self.labels.codes
        count = np.bincount(cell, self.labels.weight, shape[0] * shape[1] * k).astype(np.float64)
        there = np.flatnonzero(count)
        place = np.empty(len(count), np.int32)
        place[there] = np.arange(len(there))
        both, c = np.divmod(there, k)
        found = log_lift_without(count.reshape(shape), both, c, np.ones(len(both)), Lift().m)
        lift = found - found.mean(axis=1, keepdims=True), place[cell]
        if len(self._kept) * len(cell) < KEPT:
            self._kept[pair] = lift
        return lift


def _gain(
    of_code: Floats, code: NDArray[np.int32], p: Floats, residual: Floats, weight: Floats
) -> float:
    """Return how many nats of log loss a weight for evidence would save, the ridge included."""
    if p.shape[1] == 2:  # the evidence of one class is minus that of the other
        a = of_code[:, 1]
        gradient = 2 * a @ np.bincount(code, residual[:, 1], len(a))
        curve = 4 * a**2 @ np.bincount(code, weight * p[:, 0] * p[:, 1], len(a))
    else:
        evidence = of_code[code]
        gradient = np.einsum("nk,nk->", residual, evidence)
        mean = np.einsum("nk,nk->n", p, evidence)
        spread = np.einsum("nk,nk,nk->n", p, evidence, evidence) - mean**2
        curve = weight @ spread
    return float(gradient**2 / (2 * (curve + OF_INTERACTIONS))) if gradient > 0 else 0.0


def _columns(found: LeaveOneOut, said: dict[Part, float]) -> list[Source]:
    """Return the columns that pairs may be of: if there are many, those of most evidence."""
    of = [
        (part, part.column)
        for part, kind in zip(found.parts, found.kinds, strict=True)
        if kind == "column" and isinstance(part.column, str | int | TimePart)
    ]
    fit = int((2 * WORK / found.prior.size) ** 0.5), len(found.prior) // ROWS
    most = min(COLUMNS, *(max(2, number) for number in fit))
    if len(of) > most:
        best = {part for part, _ in sorted(of, key=lambda each: -said[each[0]])[:most]}
        of = [each for each in of if each[0] in best]
    return [column for _, column in of]


def _bins(held: list[Held], name: Source) -> Bins:
    """Cut a column into bins: its commonest levels, or about equally many numbers in each."""
    if any(name in batch.coded for batch in held):
        seen: Counter[Any] = Counter()
        for batch in held:
            seen.update(batch.count_levels(name))
        return LevelBins(name, tuple(level for level, _ in seen.most_common(LEVELS)))
    return NumberBins(name, _edges(np.concatenate([batch.number(name) for batch in held])))


def _edges(numbers: NDArray[np.floating]) -> tuple[float, ...]:
    """Return the least number of each bin but the first, ascending."""
    there = np.sort(numbers[~np.isnan(numbers)]).astype(np.float64)
    if not len(there):
        return ()
    starts = np.unique(there)
    bins = int(np.clip(round(BINS * len(there) ** (1 / 3)), FEW, MANY))
    if len(starts) > bins:
        starts = np.unique(there[np.arange(bins) * len(there) // bins])
    return tuple(starts[starts > there[0]].tolist())
