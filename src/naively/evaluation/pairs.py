"""Pairs of columns whose bins come together more often in a class than by chance.

Each column is cut into bins. The evidence of a pair is how much more often its two bins come
together in a class than if the columns were independent, each row left out of the counts. Its
gradient and curvature at given posteriors tell how much log loss a weight for it would save. Where
some rows are held out, pairs are chosen and counted on the others alone: two rows that agree by
chance would else speak for a pair both where it is chosen and where it is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.counting.parts import Part
from naively.evaluation.calibrate import CELLS, OF_INTERACTIONS
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.events.lift import Lift, log_lift, log_lift_without
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
SPARSE = 20  # times as many codes as rows, from which it is quicker to sort
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
    once : ndarray of shape (rows,)
        What is left out of each row: of a row of weight 2, which is two rows, one.
    """

    bins: list[Bins]
    codes: list[NDArray[np.int64]]
    labels: Labels
    once: Floats
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
        times = np.concatenate([batch.times for batch in batches])
        once = np.minimum(found.labels.weights / times, 1.0)
        return cls(bins, codes, found.labels, once)

    def interaction(self, pair: Pair) -> Interaction:
        """Return two columns taken together, as a column."""
        return Interaction(self.bins[pair[0]], self.bins[pair[1]])

    def take(self, rows: NDArray[np.int64]) -> Crossed:
        """Return some of the rows, by their numbers, of which alone is counted then."""
        codes = [code[rows] for code in self.codes]
        return Crossed(self.bins, codes, self.labels.take(rows), self.once[rows])

    def evidence(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Return the evidence of pairs, centred over the classes: (rows, classes, pairs)."""
        rows = np.empty((len(self.labels), self.labels.k, len(pairs)), np.float32)
        for at, pair in enumerate(pairs):
            of_code, code = self._lift(pair)
            rows[:, :, at] = of_code[code]
        return rows

    def evidence_of(self, others: Crossed, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Return the evidence of rows that are not among these, by the counts of these."""
        rows = np.empty((len(others.labels), self.labels.k, len(pairs)), np.float32)
        for at, (i, j) in enumerate(pairs):
            lift = log_lift(self._count((i, j)), Lift().m)
            rows[:, :, at] = (lift - lift.mean(axis=2, keepdims=True))[
                others.codes[i], others.codes[j]
            ]
        return rows

    def best(self, p: Floats) -> list[Pair]:
        """Return the pairs that would save most log loss at posteriors, by descending gain.

        ``p`` is of shape (rows, classes).
        """
        weight, right = self.labels.weights, self.labels.codes
        residual = -p * weight[:, None]
        residual[np.arange(len(right)), right] += weight
        gains = {
            pair: _gain(*self._lift(pair), p, residual, weight)
            for pair in combinations(range(len(self.bins)), 2)
        }
        most = min(SHARE * len(self.bins), CELLS // max(1, len(right) * self.labels.k))
        best = sorted(gains, key=lambda pair: -gains[pair])[:most]
        return [pair for pair in best if gains[pair] > GAIN]

    def _cells(self, pair: Pair) -> NDArray[np.int64]:
        """Return the number of each row's bins and class in the counts."""
        i, j = pair
        pairs_of_bins = self.codes[i] * self.bins[j].size + self.codes[j]
        return pairs_of_bins * self.labels.k + self.labels.codes

    def _count(self, pair: Pair) -> Floats:
        """Return how often bins come together, of shape (bins, other bins, classes)."""
        shape = self.bins[pair[0]].size, self.bins[pair[1]].size, self.labels.k
        count = np.bincount(self._cells(pair), self.labels.weight, shape[0] * shape[1] * shape[2])
        return count.astype(np.float64).reshape(shape)

    def _lift(self, pair: Pair) -> tuple[Floats, NDArray[np.int32]]:
        """Return evidence by pair of bins and class, (codes, classes), and the code of each row.

        Each pair is asked for several times, so that what was found is kept, up to a limit.
        """
        if pair in self._kept:
            return self._kept[pair]
        count = self._count(pair)
        once, kind = self._parts_left_out
        there, code = _different(self._cells(pair) * len(once) + kind, count.size * len(once))
        both, c = np.divmod(there // len(once), self.labels.k)
        left = once[there % len(once)]
        found = log_lift_without(count, both, c, left, Lift().m)
        lift = found - found.mean(axis=1, keepdims=True), code
        if len(self._kept) * len(code) < KEPT:
            self._kept[pair] = lift
        return lift

    @cached_property
    def _parts_left_out(self) -> tuple[Floats, NDArray[np.int64]]:
        """The different parts of rows that are left out, and which is that of each row."""
        once, kind = np.unique(self.once, return_inverse=True)
        return once, kind.astype(np.int64)


def _different(key: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the different keys, ascending, and the number of each row's; they are below a size."""
    if size > SPARSE * len(key):
        there, number = np.unique(key, return_inverse=True)
        return there, number.astype(np.int32)
    there = np.flatnonzero(np.bincount(key, minlength=size))
    place = np.empty(size, np.int32)
    place[there] = np.arange(len(there))
    return there, place[key]


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
    rows = float(found.labels.weights.sum())  # of which a row that came twice is two
    fit = int((2 * WORK / found.prior.size) ** 0.5), int(rows / ROWS)
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
        # Levels that came equally often are taken by what they are, in whatever order they came.
        common = sorted(seen, key=lambda level: (-seen[level], repr(level)))
        return LevelBins(name, tuple(common[:LEVELS]))
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
