"""Pairs of columns whose bins come together more often in a class than by chance.

Each column is cut into bins. The evidence of a pair is how much more often its two bins come
together in a class than if the columns were independent, each row left out of the counts. Its
gradient and curvature at given posteriors tell how much log loss a weight for it would save. Where
some rows are held out, pairs are chosen and counted on the others alone: two rows that agree by
chance would else speak for a pair both where it is chosen and where it is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.counting.leave_one_out import different
from naively.evaluation.basis import Said
from naively.evaluation.calibrate import CELLS, OF_INTERACTIONS
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.evaluation.lifts import Once, evidence_by
from naively.events.lift import Lift, log_lift_of_cells
from naively.kernels.reference import Floats
from naively.schema.derived import Bins, Interaction, LevelBins, NumberBins, Source, TimePart
from naively.schema.held import Held

BINS = 0.6  # of a column of numbers, for each cube root of the rows
FEW, MANY = 4, 12  # bins, at least and at most
LEVELS = 11  # of a column of categories that have a bin; all others share one
COLUMNS = 100  # the most that pairs are made of
WORK = 200_000_000  # pairs × rows × classes, the most that are looked at
ROWS = 5  # of the sample for each column that pairs are made of, as many pairs gain by chance
TOGETHER = 1_000_000  # rows of pairs, or their bins and classes, that are looked at together
SHARE = 3  # pairs for each column, at most
GAIN = 2.0  # nats of log loss that a pair must save on the sample

Pair = tuple[int, int]  # the numbers of two columns


@dataclass(frozen=True, eq=False)
class Crossing:
    """The evidence of some pairs, by the codes of their rows: bins, class and part left out.

    Parameters
    ----------
    pairs : list of (int, int)
        The pairs.
    lift : ndarray of shape (codes, classes)
        Evidence, centred over the classes; the codes of one pair after those of the other.
    code : ndarray of shape (pairs, rows)
        The code of each row.
    first : ndarray of shape (pairs + 1,)
        Where the codes of each pair begin.
    """

    pairs: list[Pair]
    lift: Floats
    code: NDArray[np.int64]
    first: NDArray[np.int64]

    def gains(self, p: Floats, residual: Floats, weight: Floats) -> list[float]:
        """Return how many nats of log loss a weight for each pair would save.

        Parameters
        ----------
        p, residual : ndarray of shape (rows, classes)
            Posteriors, and what is right less these, times the weights of the rows.
        weight : ndarray of shape (rows,)
            The weights.
        """
        if p.shape[1] == 2:  # the evidence of one class is minus that of the other
            a, n = self.lift[:, 1], len(self.lift)
            sums = [
                np.bincount(self.code.ravel(), np.broadcast_to(of, self.code.shape).ravel(), n)
                for of in (residual[:, 1], weight * p[:, 0] * p[:, 1])
            ]
            gradient = np.add.reduceat(2 * a * sums[0], self.first[:-1])
            curve = np.add.reduceat(4 * a**2 * sums[1], self.first[:-1])
        else:
            each = [self._of_many(code, p, residual, weight) for code in self.code]
            gradient, curve = np.array(each).T
        gains: list[float] = _gain(gradient, curve).tolist()
        return gains

    def _of_many(
        self, code: NDArray[np.int64], p: Floats, residual: Floats, weight: Floats
    ) -> tuple[float, float]:
        """Return the gradient of the log loss by a pair's weight, and the curvature."""
        evidence = self.lift[code]
        mean = np.einsum("nk,nk->n", p, evidence)
        spread = np.einsum("nk,nk,nk->n", p, evidence, evidence) - mean**2
        return float(np.einsum("nk,nk->", residual, evidence)), float(weight @ spread)


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
    once : Once
        What is left out of each row.
    """

    bins: list[Bins]
    codes: list[NDArray[np.int64]]
    labels: Labels
    once: Once

    @classmethod
    def of(
        cls, batches: Sequence[Batch], labels: Labels, found: LeaveOneOut, said: Said
    ) -> Crossed:
        """Cut columns into bins: if there are many, those that say most.

        Parameters
        ----------
        batches : sequence of Batch
            The rows, as the model encodes them.
        labels : Labels
            Their labels.
        found : LeaveOneOut
            The leave-one-out table of some of them.
        said : callable
            Returns how much evidence each part gives; asked only if there are many columns.
        """
        held = [Held(batch) for batch in batches]
        bins = [_bins(held, name) for name in _columns(labels, found, said)]
        codes = [np.concatenate([of.codes(batch) for batch in held]) for of in bins]
        times = np.concatenate([batch.times for batch in batches])
        return cls(bins, codes, labels, Once.of(labels, times))

    def interaction(self, pair: Pair) -> Interaction:
        """Return two columns taken together, as a column."""
        return Interaction(self.bins[pair[0]], self.bins[pair[1]])

    def take(self, rows: NDArray[np.int64]) -> Crossed:
        """Return some of the rows, by their numbers, of which alone is counted then."""
        codes = [code[rows] for code in self.codes]
        return Crossed(self.bins, codes, self.labels.take(rows), self.once.take(rows))

    def evidence(self, pairs: Sequence[Pair], first: int | None = None) -> NDArray[np.float32]:
        """Return the evidence of pairs, centred over the classes: (rows, classes, pairs).

        It is that of the first rows, so many at most, by the counts of all; by default of all.
        """
        n = len(self.labels) if first is None else min(first, len(self.labels))
        return self._evidence(self.take(np.arange(n)), pairs, own=True)

    def evidence_of(self, others: Crossed, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Return the evidence of rows that are not among these, by the counts of these."""
        return self._evidence(others, pairs, own=False)

    def _evidence(self, of: Crossed, pairs: Sequence[Pair], *, own: bool) -> NDArray[np.float32]:
        """Return the evidence of rows by the counts of these, which hold them or do not."""
        rows = np.empty((self.labels.k, len(pairs), len(of.labels)), np.float32)
        for at, (i, j) in enumerate(pairs):
            code = of.codes[i] * self.bins[j].size + of.codes[j]
            left = of.once if own else None
            rows[:, at] = evidence_by(self._count((i, j)), code, left, Lift().m)
        return rows.transpose(2, 0, 1)

    def best(self, p: Floats) -> list[Pair]:
        """Return the pairs that would save most log loss at posteriors, by descending gain.

        ``p``, of shape (rows, classes), is of the first rows, or of all: the evidence is counted on
        all rows, and what it saves on these.
        """
        n, most = len(p), min(SHARE * len(self.bins), CELLS // max(1, len(self.labels) * len(p.T)))
        weight, right = self.labels.weights[:n], self.labels.codes[:n]
        residual = -p * weight[:, None]
        residual[np.arange(len(right)), right] += weight
        gains: dict[Pair, float] = {}
        for some in self._crossings(n):
            gains |= dict(zip(some.pairs, some.gains(p, residual, weight), strict=True))
        best = sorted(gains, key=lambda pair: -gains[pair])[:most]
        return [pair for pair in best if gains[pair] > GAIN]

    def _count(self, pair: Pair) -> Floats:
        """Return how often bins come together, of shape (bins, other bins, classes)."""
        (i, j), k = pair, self.labels.k
        shape = self.bins[i].size, self.bins[j].size, k
        cell = (self.codes[i] * shape[1] + self.codes[j]) * k + self.labels.codes
        count = np.bincount(cell, self.labels.weight, shape[0] * shape[1] * k)
        return count.astype(np.float64).reshape(shape)

    def _crossings(self, n: int) -> Iterator[Crossing]:
        """Yield all pairs: of each column those with later ones, as many as fit into memory."""
        d = len(self.bins)
        by_class = np.stack(self.codes) * self.labels.k + self.labels.codes
        for i in range(d - 1):
            most = max(
                1, TOGETHER // max(len(self.labels), self.bins[i].size * MANY * self.labels.k)
            )
            for first in range(i + 1, d, most):
                others = range(first, min(first + most, d))
                yield self._crossing(i, others, by_class[first : others.stop], n)

    def _crossing(
        self, i: int, others: Sequence[int], by_class: NDArray[np.int64], n: int
    ) -> Crossing:
        """Take a column together with others, all at once; the codes are of the first n rows.

        ``by_class``, (others, rows), are the bins of the others, of each class by itself.
        """
        k, n_a, n_b = self.labels.k, self.bins[i].size, max(self.bins[j].size for j in others)
        once, kind = self.once.different, self.once.number
        cell = by_class + self.codes[i] * (n_b * k)
        cell += np.arange(len(others))[:, None] * (n_a * n_b * k)  # each pair by itself
        weight = self.labels.weight
        every = None if weight is None else np.broadcast_to(weight, cell.shape).ravel()
        size = len(others) * n_a * n_b * k
        count = np.bincount(cell.ravel(), every, size).astype(np.float64)
        count = count.reshape(len(others), n_a, n_b, k)
        cell = cell[:, :n]
        there, code = different((cell * len(once) + kind[:n]).ravel(), size * len(once))
        at, left = np.divmod(there, len(once))
        at, right = np.divmod(at, k)
        at_a, b = np.divmod(at, n_b)
        lift = log_lift_of_cells(
            count.reshape(-1, k)[at],
            count.sum(axis=2).reshape(-1, k)[at_a],
            count.sum(axis=1)[at_a // n_a, b],
            count[0].sum(axis=(0, 1)),
            right,
            once[left],
            Lift().m,
        )
        lift -= lift.mean(axis=1, keepdims=True)
        ends = np.arange(len(others) + 1) * n_a * n_b * k * len(once)
        pairs = [(i, j) for j in others]
        return Crossing(pairs, lift, code.reshape(cell.shape), np.searchsorted(there, ends))


def _gain(gradient: Floats, curve: Floats) -> Floats:
    """Return how many nats of log loss weights would save, the ridge included."""
    return np.where(gradient > 0, gradient**2 / (2 * (curve + OF_INTERACTIONS)), 0.0)


def _columns(labels: Labels, found: LeaveOneOut, said: Said) -> list[Source]:
    """Return the columns that pairs may be of: if there are many, those of most evidence."""
    of = [
        (part, part.column)
        for part, kind in zip(found.parts, found.kinds, strict=True)
        if kind == "column" and isinstance(part.column, str | int | TimePart)
    ]
    rows = float(labels.weights.sum())  # of which a row that came twice is two
    fit = int((2 * WORK / (len(labels) * labels.k)) ** 0.5), int(rows / ROWS)
    most = min(COLUMNS, *(max(2, number) for number in fit))
    if len(of) > most:
        each = said()
        best = {part for part, _ in sorted(of, key=lambda one: -each[one[0]])[:most]}
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
    starts = there[np.append(True, np.diff(there) > 0)]
    bins = int(np.clip(round(BINS * len(there) ** (1 / 3)), FEW, MANY))
    if len(starts) > bins:
        starts = np.unique(there[np.arange(bins) * len(there) // bins])
    return tuple(starts[starts > there[0]].tolist())
