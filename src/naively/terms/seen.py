"""Rows that were seen before: how often a row with the very same cells was of each class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.frozen import Frozen
from naively.kernels.reference import Floats, Hashes
from naively.messages import amount

# --- Whole rows as evidence ----------------------------------------------------------------------
#
# If rows come again, what they were is evidence beside what their columns say. For a row that was
# seen n times, n_c of them of class c, and whose columns say p_c, the posterior is the share
# (n_c + a p_c) / (n + a): as if a rows more had been seen, of which as many were of each class as
# the columns say. In logarithms that is one term more of the sum. What the columns say is taken
# under the class prior of the rows, as all is that is fitted, so that another class prior is a
# shift of the log odds for these rows too.


LEAST = -700.0  # nats from what is sure, of which the logarithm of a posterior is no less
NOTHING_LEFT = 1e-9  # of the rows that are counted
TWICE = 2  # a row came, at least


class SeenRows(Frozen):
    """Rows that came more than once, and of which classes they were."""

    hashes: Hashes  # (rows,): a number for each by its cells (see ``contents``), ascending
    count: Floats  # (rows, classes): how many were of each class
    amount: float  # how many rows what the columns say is worth

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SeenRows) or self.amount != other.amount:
            return False
        return np.array_equal(self.hashes, other.hashes) and np.array_equal(self.count, other.count)

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def note(self) -> str:
        """What is to be said of a model with such rows."""
        return (
            f"Copies: {len(self):,} rows came more than once, and that a row was seen before is "
            "evidence of its own. It is taken that new rows come from the same source; "
            "groups='copies' leaves equal rows out together."
        )

    def places(self, hashes: Hashes) -> NDArray[np.int64]:
        """Return which of the rows each row is, (rows,); -1 of one that was not seen."""
        if not len(self):
            return np.full(len(hashes), -1)
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[place] == hashes, place, -1)

    def of(self, hashes: Hashes) -> Floats:
        """Return how many equal rows were of each class, (rows, classes); 0 of one not seen."""
        return np.vstack([self.count, 0 * self.count[:1]])[self.places(hashes)]

    def of_classes(self, places: Sequence[int]) -> SeenRows:
        """Return the counts of the classes of these numbers; the number after all is of another."""
        return replace(self, count=np.hstack([self.count, np.zeros((len(self), 1))])[:, places])

    def plus(self, other: SeenRows, share: float) -> SeenRows:
        """Return the rows of both, which have the same classes; this amount counts ``share``."""
        hashes, place = np.unique(np.append(self.hashes, other.hashes), return_inverse=True)
        count = np.zeros((len(hashes), self.count.shape[1]))
        np.add.at(count, place, np.vstack([self.count, other.count]))
        return SeenRows(hashes, count, share * self.amount + (1 - share) * other.amount)

    def minus(self, gone: SeenRows) -> SeenRows | None:
        """Return the rows that are left without others, in any order; None if there are none."""
        place, left = self.places(gone.hashes), self.count.copy()
        np.subtract.at(left, place[place >= 0], gone.count[place >= 0])
        left = np.maximum(left, 0.0)
        there = left.sum(axis=1) > NOTHING_LEFT
        return SeenRows(self.hashes[there], left[there], self.amount) if there.any() else None

    def __mul__(self, factor: float) -> SeenRows:
        return replace(self, count=self.count * factor)


def added_by(count: Floats, amount: float, joint: Floats) -> Floats:
    """Return what it adds that equal rows were of classes, (rows, classes), each of that shape."""
    # Nothing is said of a row of which every class is impossible.
    best = joint.max(axis=1, keepdims=True)
    possible = np.isfinite(best)
    joint = np.where(possible, joint - np.where(possible, best, 0.0), 0.0)
    log_p = np.maximum(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True), LEAST)
    n = count.sum(axis=1, keepdims=True)
    more = np.log(count / amount + np.exp(log_p)) - log_p - np.log1p(n / amount)
    return np.where(possible & (n > 0), more, 0.0)


class SeenBefore(Frozen):
    """What is added to rows that were seen before."""

    seen: SeenRows  # by the classes of the model
    log_prior: Floats  # (classes,): of the rows that were learned, under which it was fitted
    read: Callable[[Batch], Hashes]  # returns the number of each row by its cells

    def added(self, batch: Batch, joint: Floats) -> Floats:
        """Return what is added, (rows, classes), to joint log likelihoods under that prior."""
        place = self.seen.places(self.read(batch))
        there, found = np.flatnonzero(place >= 0), np.zeros_like(joint)
        count = self.seen.count[place[there]]
        found[there] = added_by(count, self.seen.amount, joint[there])
        return found


class Sight(str):
    """How often a row was seen before, in words; empty if never."""

    __slots__ = ()

    @classmethod
    def of(cls, count: Floats, classes: Sequence[object]) -> Sight:
        """Say how often a row was seen, and the class that it was of most often."""
        n, best = float(count.sum()), int(count.argmax())
        if n <= 0:
            return cls("")
        times = "once" if n == 1 else f"{amount(n)} times"
        most = "all" if n == count[best] else amount(float(count[best]))
        of = "" if n == 1 else f"{most} of them "
        return cls(f"seen {times}, {of}{classes[best]!r}")
