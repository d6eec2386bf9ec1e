"""Different rows of a sample, each once with its copies, in the order of their keys."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.model.model import Model
from naively.schema.fingerprint import contents, fingerprints

NO_KEY = np.uint64(0)  # below which there is none


@dataclass(frozen=True, eq=False)
class Kept:
    """Different rows, encoded as they came, and their keys.

    Parameters
    ----------
    batch : Batch
        The rows, with how many copies came of each.
    keys : ndarray of uint64, of shape (rows,)
        Their keys, ascending, each of which is there once.
    contents : ndarray of uint64, of shape (rows,)
        The sum over the cells of each row, which no name has a say in.
    """

    batch: Batch
    keys: NDArray[np.uint64]
    contents: NDArray[np.uint64]

    @classmethod
    def of(
        cls,
        batch: Batch,
        seed: np.uint64,
        most: int,
        limit: np.uint64 = NO_KEY,
        highest: np.uint64 | None = None,
    ) -> Kept:
        """Return the rows of the least keys, at most ``most`` different ones, up to the highest.

        All different rows below the limit are among them, however many.
        """
        batch = batch.seen()
        keys = fingerprints(batch, seed)
        some = np.arange(len(keys))
        if highest is not None:
            some = some[keys <= max(highest, limit)]
        least = _least_different(keys[some], most)
        if len(least) < len(some):
            some = some[keys[some] <= max(limit, least[-1] if most else NO_KEY)]
        different, first, of = np.unique(keys[some], return_index=True, return_inverse=True)
        copies = np.bincount(of, batch.times[some], len(first)).astype(np.int64)
        kept = batch.take(some[first])
        if (copies > 1).any():
            weight = np.bincount(of, batch.labels.weights[some], len(first)).astype(np.float64)
            kept = Batch(kept.blocks, replace(kept.labels, weight=weight), copies)
        return cls(kept, different, contents(kept))

    def select(self, rows: NDArray[np.int64]) -> Kept:
        """Return these rows."""
        return Kept(self.batch.take(rows), self.keys[rows], self.contents[rows])

    def more(self, other: Kept) -> tuple[Kept, Kept]:
        """Return these rows with their copies in ``other`` too, and the rest of ``other``."""
        _, mine, theirs = np.intersect1d(self.keys, other.keys, return_indices=True)
        if not len(mine):
            return self, other
        copies, weight = self.batch.times.copy(), self.batch.labels.weights.copy()
        copies[mine] += other.batch.times[theirs]
        weight[mine] += other.batch.labels.weights[theirs]
        labels = replace(self.batch.labels, weight=weight)
        rest = np.delete(np.arange(len(other.keys)), theirs)
        more = Batch(self.batch.blocks, labels, copies)
        return Kept(more, self.keys, self.contents), other.select(rest)


def merged_rows(every: list[Kept], more: list[Kept]) -> list[Kept]:
    """Return the rows of both, each once with all its copies; rows of ``every`` differ already."""
    every = [*every]
    for one in more:
        rest = one
        for i, kept in enumerate(every):
            every[i], rest = kept.more(rest)
        every += [rest] if len(rest.keys) else []
    return every


def of_least_keys(every: list[Kept], most: int, limit: np.uint64 = NO_KEY) -> list[Kept]:
    """Return the rows of the least keys, at most ``most``, and all rows below the limit."""
    keys = np.concatenate([np.empty(0, np.uint64), *(kept.keys for kept in every)])
    if len(keys) <= most:
        return every
    highest = max(limit, np.partition(keys, most - 1)[most - 1])
    return [kept.select(np.flatnonzero(kept.keys <= highest)) for kept in every]


def encoded_by(every: list[Kept], model: Model) -> list[Kept]:
    """Encode rows as the model that has learned them has counted them; join what can be joined."""
    axes = model.tally.axes
    alike: list[list[Kept]] = []  # by the form in which they are held
    for kept in every:
        coded = model.counted.recode(kept.batch, axes)
        coded = replace(coded, labels=coded.labels.among(model.classes))
        others = next((of for of in alike if of[0].batch.form == coded.form), None)
        if others is None:
            alike.append(others := [])
        others.append(Kept(coded, kept.keys, kept.contents))
    return [_joined(of) for of in alike]


def _joined(every: list[Kept]) -> Kept:
    """Join rows that are held alike, in the order of their keys, whichever batch they came in."""
    if len(every) == 1:
        return every[0]
    keys, cells = (
        np.concatenate([getattr(kept, of) for kept in every]) for of in ("keys", "contents")
    )
    return Kept(Batch.join([kept.batch for kept in every]), keys, cells).select(np.argsort(keys))


def _least_different(keys: NDArray[np.uint64], most: int) -> NDArray[np.uint64]:
    """Return the least different keys, ascending, at most ``most`` of all keys, (rows,)."""
    n = most
    while 0 < n < len(keys):  # to partition is quicker than to sort; of few copies it is enough
        least = np.unique(np.partition(keys, n - 1)[:n])
        if len(least) >= most:
            return least[:most]
        n = max(2 * n, n + most)
    return np.unique(keys)[:most]
