"""The reservoir: a sample of the rows learned, at most some thousand different ones, in memory.

Weights are fitted and scores estimated on it. A row has a key, a hash of its cells, its label and a
seed, and the rows of the least keys stay (a bottom-k sample, and all rows below a key that falls
with the number of rows), each once with its multiplicity. So the sample is the same in whatever
order and batches the rows came, and two samples merge into that of the rows of both. A later batch
may bring classes, for which a larger sample is needed; so more are kept than one needs now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from naively.counting.block import Batch
from naively.counting.tally import Tally
from naively.evaluation.calibrate import ROWS, SampleSize, sample_size
from naively.evaluation.kept import NO_KEY, Kept, encoded_by, merged_rows, of_least_keys
from naively.evaluation.sample import Sample
from naively.file.sample import SampledRows
from naively.model.model import Model
from naively.schema.fingerprint import fingerprints

SEVERAL = 8  # more batches than this are joined


class Reservoir:
    """A sample of labelled rows that a model has learned.

    Parameters
    ----------
    random_state : int, Generator or None
        Chooses the rows; None is a fixed choice.
    grows : bool, default False
        Whether a larger sample is kept as well, which interactions take.

    Examples
    --------
    >>> from naively.counting.labels import encode_labels
    >>> from naively.data.frames import as_rows
    >>> from naively.schema.choose import infer
    >>> rows, labels = as_rows([[1.0], [3.0], [8.0]]), encode_labels(["low", "low", "high"])
    >>> model = Model.learn(rows, labels, infer(rows))
    >>> reservoir = Reservoir()
    >>> reservoir.add(model.counted.encode(rows, labels), model)
    >>> len(reservoir)
    3
    """

    def __init__(self, random_state: Any = None, *, grows: bool = False) -> None:
        draw = np.random.default_rng(0 if random_state is None else random_state)
        self._seed = draw.integers(2**64, dtype=np.uint64)
        self._new: list[Batch] = []  # a batch that can wait until the sample is asked for
        self._kept: list[Kept] = []
        self._size = SampleSize(0, 0, 0.0, "")
        self._last: tuple[Tally, bool, Sample] | None = None  # so that no text is split again
        self._grows = grows
        self.seen = 0  # rows of some weight that were added

    def empty(self) -> Reservoir:
        """Return an empty sample that chooses rows alike."""
        other = Reservoir(grows=self._grows)
        other._seed = self._seed
        return other

    def __len__(self) -> int:
        return int(sum(kept.batch.times.sum() for kept in self._sample()))

    @property
    def why(self) -> str:
        """Why it is a sample and not all rows; empty if it is all."""
        return self._size.why if len(self) < self.seen else ""

    def add(self, batch: Batch, model: Model) -> None:
        """Sample these rows too; the model has learned them."""
        weight = batch.labels.weight
        self.seen += len(batch) if weight is None else int(np.count_nonzero(weight))
        self._size = sample_size(model, self.seen)
        self._new.append(batch)
        self._last = None
        if self._kept or len(self._new) > 1:
            self._draw()
        if len(self._kept) > SEVERAL:
            self._kept = encoded_by(self._kept, model)

    def add_sampled(self, batch: Batch, model: Model, seen: int, share: float) -> None:
        """Sample a share of so many rows, which was chosen by another hash of their cells.

        Their keys are made as small as if they were the least of all, so that they count for all in
        a sample that is merged with this one.
        """
        self.seen += seen
        self._size = sample_size(model, self.seen)
        self._last = None
        kept = Kept.of(batch, self._seed, len(batch))
        if share < 1:
            kept = replace(kept, keys=(kept.keys * share).astype(np.uint64))
        self._draw()
        self._kept = of_least_keys(merged_rows(self._kept, [kept]), self._size.kept, self._limit)

    def share_of(self, batch: Batch) -> float:
        """Return which share of some rows are equal to rows that were learned; NaN if unknown.

        A row can be looked up if it would be in the sample had it been learned.
        """
        self._draw()
        kept = np.concatenate([np.empty(0, np.uint64), *(kept.keys for kept in self._kept)])
        keys = fingerprints(batch.seen(), self._seed)
        if len(kept) >= self._size.kept:  # others were dropped, of higher keys
            keys = keys[keys <= kept.max(initial=0)]
        return float(np.isin(keys, kept).mean()) if len(keys) else np.nan

    @property
    def seed(self) -> int:
        """The number of 64 bits that chooses the rows."""
        return int(self._seed)

    def wanted(self, rows: int) -> int:
        """Return how many different rows of a table are wanted of so many."""
        return int(ROWS * (1 + np.log(rows / ROWS))) if self._grows and rows > ROWS else ROWS

    def merged(self, other: Reservoir, model: Model) -> Reservoir | None:
        """Return the sample of the rows of both, which a model has learned.

        None: rows were chosen by other seeds.
        """
        if self._seed != other._seed:
            return None
        self._draw()
        other._draw()
        both = Reservoir(grows=self._grows and other._grows)  # of one there are too few rows else
        both._seed, both.seen = self._seed, self.seen + other.seen
        both._size = sample_size(model, both.seen)
        both._kept = of_least_keys(
            merged_rows(self._kept, other._kept), both._size.kept, both._limit
        )
        return both

    def saved(self, model: Model) -> SampledRows:
        """Return all rows that are kept as a model file holds them; the model has learned them."""
        self._draw()
        every = encoded_by(self._kept, model)
        kept = [(kept.batch, kept.keys, kept.contents) for kept in every]
        return SampledRows(kept, self._seed, self.seen)

    @classmethod
    def restored(cls, rows: SampledRows, model: Model) -> Reservoir:
        """Return the sample that was saved with the model that has learned it."""
        sample = cls(grows=model.seeks_interactions)
        sample._seed, sample.seen = rows.seed, rows.seen
        # Interactions came after the rows.
        sample._size = sample_size(model.without_interactions(), sample.seen)
        sample._kept = [Kept(*of) for of in rows.batches]
        return sample

    def of(self, model: Model, *, larger: bool = False) -> Sample:
        """Return the sample as the model that learned it has counted it.

        Interactions take a larger one, which grows with the logarithm of the rows.
        """
        if self._last is not None and self._last[0] is model.tally and self._last[1] == larger:
            return self._last[2]
        kept = encoded_by(self._sample(larger=larger), model)
        sample = Sample.of_kept(kept)
        self._last = model.tally, larger, sample
        return sample

    def _sample(self, *, larger: bool = False) -> list[Kept]:
        self._draw()
        size = self._size
        grows = larger and size.rows == size.kept
        return of_least_keys(self._kept, size.rows, self._limit if grows else NO_KEY)

    @property
    def _limit(self) -> np.uint64:
        """The key below which all rows are kept."""
        share = self._size.share if self._grows else 0.0
        return np.uint64(min(int(share * 2.0**64), 2**64 - 1))

    def _draw(self) -> None:
        """Keep as many of the new rows as any later sample may need."""
        if self._new:
            # Where as many are kept as may be, a row of a higher key would be dropped again.
            keys = [kept.keys for kept in self._kept if len(kept.keys)]
            full = sum(map(len, keys)) >= self._size.kept
            highest = max((of[-1] for of in keys), default=None) if full else None
            of = self._seed, self._size.kept, self._limit, highest
            new = [Kept.of(batch, *of) for batch in self._new]
            self._kept = of_least_keys(merged_rows(self._kept, new), self._size.kept, self._limit)
            self._new = []


def merged(samples: Sequence[Reservoir | None], model: Model) -> Reservoir | None:
    """Return the sample of the rows of all, which a model has learned; None if one has none."""
    total = samples[0]
    for sample in samples[1:]:
        if total is None or sample is None:
            return None
        total = total.merged(sample, model)
    return total
