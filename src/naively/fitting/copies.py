"""Rows that came more than once: whether they say more than their columns, and which they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.fitting.weights import Third
from naively.kernels.reference import Floats, Hashes
from naively.kernels.rules import Grown
from naively.model.model import number_of_cells
from naively.terms.seen import Seen, added_by

# --- Whole rows seen before, as one term over what the columns say (see ``naively.terms.seen``) --
#
# They are judged on held-out thirds of the rows: those of the others say how often a row came. The
# copies of a row are dealt over the thirds. Rows in groups have none: equal rows of two groups say
# nothing of a third.


SHARE = 0.02  # of the rows that have an equal one, at least
AMOUNTS = (0.125, 0.5, 2.0, 8.0, 32.0, 128.0)  # of rows that what the columns say is worth
TWICE = 2  # a row came, at least
WORTH = 3.0  # nats that must be saved on the held-out rows,
ERRORS = 2.0  # and standard errors


class Copies(NamedTuple):
    """Which rows of a sample are equal."""

    hashes: Hashes  # (different rows,): a number for each by its cells, ascending
    row: NDArray[np.int64]  # (rows,): which of them each row is
    times: NDArray[np.int64]  # (rows,): how many rows each stands for

    @classmethod
    def of(cls, batches: Sequence[Batch], labels: Labels) -> Self | None:
        """Return which rows are equal; None if few are."""
        if labels.group is not None:
            return None
        hashes = np.concatenate([number_of_cells(batch) for batch in batches])
        times = np.concatenate([batch.times for batch in batches])
        different, row = np.unique(hashes, return_inverse=True)
        n = np.bincount(row, times)
        many = n[n >= TWICE].sum() > SHARE * n.sum() and different[0] > 0
        return cls(different, row, times) if many else None

    def seen(self, thirds: Sequence[Third], labels: Labels) -> Seen | None:
        """Return the rows that came more than once, if held-out rows gain by what they were."""
        found, weights, one = [], [], labels.one_hot() / self.times[:, None]
        every = np.arange(len(thirds[0].joint))
        for third in thirds:
            held, row = third.held, self.row[third.held]
            times, count = self._counted(labels, third.rest if third.uncounted else every)
            times, count = times[row], count[row]
            if not third.uncounted:  # each without itself, as in what the columns say
                times, count = times - 1, np.maximum(count - one[held], 0.0)
            known = times >= TWICE
            joint, right = third.joint[held][known], labels.codes[held][known]
            each = [added_by(count[known], of, joint) for of in AMOUNTS]
            found.append([_gain(joint, of, right) for of in each])
            weights.append(labels.weights[held][known])
        gain, weight = np.concatenate(found, axis=1), np.concatenate(weights)
        total = gain @ weight
        best = int(np.argmax(total))
        if total[best] <= max(WORTH, ERRORS * float(np.sqrt(gain[best] ** 2 @ weight))):
            return None
        times, count = self._counted(labels, np.arange(len(labels)))
        often = times >= TWICE
        return Seen(self.hashes[often], count[often], AMOUNTS[best])

    def _counted(self, labels: Labels, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
        """Return how often each different row is among some, in all and of each class."""
        n, k, row = len(self.hashes), len(labels.classes), self.row[rows]
        cell = row * k + labels.codes[rows]
        times = np.bincount(row, self.times[rows], n).astype(np.int64)
        count = np.bincount(cell, labels.weights[rows], n * k).astype(np.float64)
        return times, count.reshape(n, k)


def _gain(joint: Floats, added: Floats, right: NDArray[np.integer]) -> Floats:
    """Return how much less the log loss of each row is by what is added, (rows,), in nats."""
    at = np.arange(len(joint))
    before = joint[at, right] - np.logaddexp.reduce(joint, axis=1)
    joint = joint + added
    return np.asarray(joint[at, right] - np.logaddexp.reduce(joint, axis=1) - before)


def added_by_tables(grown: Grown, codes: NDArray[np.uint8], classes: int) -> Floats:
    """Return what decision tables add to rows, (rows, classes), by the bins of their cells."""
    found = np.zeros((codes.shape[1], grown.values.shape[2]))
    bins = codes.astype(np.uint64)
    for columns, masks, points in zip(
        grown.columns[: grown.rounds], grown.masks, grown.values, strict=False
    ):
        cell = np.zeros(codes.shape[1], np.int64)
        for depth in np.flatnonzero(columns >= 0).tolist():
            holds = masks[depth] >> bins[columns[depth]] & np.uint64(1)
            cell |= holds.astype(np.int64) << depth
        found += points[cell]
    return found * [-0.5, 0.5] if classes == 2 else found
