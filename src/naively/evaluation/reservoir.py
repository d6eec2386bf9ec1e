"""The reservoir: a uniform sample of the rows learned, at most some thousand, kept in memory.

Weights are fitted and scores estimated on it. Each row draws a random key and those of the least
keys stay (bottom-k sampling), so that it does not show in how many batches the rows came. A later
batch may bring classes, for which a larger sample is needed; so more are kept than one needs now.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.counting.tally import Tally
from naively.evaluation.calibrate import SampleSize, fit, sample_size
from naively.evaluation.leave_one_out import LeaveOneOut, leave_one_out_table
from naively.kernels.reference import Floats
from naively.model.model import Model, count_batch
from naively.model.weights import Weighting, Weights


class Reservoir:
    """A sample of labelled rows that a model has learned.

    Parameters
    ----------
    random_state : int, Generator or None
        Draws the keys; None is a fixed choice.

    Examples
    --------
    >>> from naively.counting.labels import encode_labels
    >>> from naively.data.frames import as_rows
    >>> rows, labels = as_rows([[1.0], [3.0], [8.0]]), encode_labels(["low", "low", "high"])
    >>> model = Model.learn(rows, labels)
    >>> sample = Reservoir()
    >>> sample.add(model.counted.encode(rows, labels), model)
    >>> len(sample)
    3
    """

    def __init__(self, random_state: Any = None) -> None:
        self._random = np.random.default_rng(0 if random_state is None else random_state)
        self._kept: list[Batch] = []
        self._keys: list[Floats] = []
        self._size = SampleSize(0, 0, "")
        self.seen = 0  # rows of some weight that were added

    def __len__(self) -> int:
        return sum(len(batch) for batch in self._sample())

    @property
    def why(self) -> str:
        """Why it is a sample and not all rows; empty if it is all."""
        return self._size.why if len(self) < self.seen else ""

    def add(self, batch: Batch, model: Model) -> None:
        """Sample these rows too; the model has learned them."""
        self._size, weight = sample_size(model), batch.labels.weight
        self.seen += len(batch) if weight is None else int(np.count_nonzero(weight))
        self._kept.append(batch)
        if len(self._kept) > 1:  # one batch can wait until its sample is asked for
            self._draw()

    def of(self, model: Model) -> Sample:
        """Return the sample as the model that learned it has counted it."""
        axes = {key: block.axis for key, block in model.tally.blocks.items()}
        found: list[Batch] = []
        for batch in self._sample():
            coded = model.counted.recode(batch, axes)
            coded = replace(coded, labels=coded.labels.among(model.classes))
            if found and found[-1].form == coded.form:
                found[-1] = Batch.join([found[-1], coded])
            else:
                found.append(coded)
        return Sample(found)

    def _sample(self) -> list[Batch]:
        if len(self._keys) < len(self._kept):
            self._draw()
        least = self._least(self._size.rows)
        return [_take(*each) for each in zip(self._kept, least, strict=True)]

    def _draw(self) -> None:
        """Draw the keys of new rows, and keep as many rows as any later sample may need."""
        for i, batch in enumerate(self._kept[len(self._keys) :], len(self._keys)):
            weight = batch.labels.weight
            if weight is not None and not weight.all():  # of weight 0: never seen
                self._kept[i] = batch.take(np.flatnonzero(weight))
            self._keys.append(self._random.random(len(self._kept[i])))
        least = self._least(self._size.kept)
        self._kept = [_take(*each) for each in zip(self._kept, least, strict=True)]
        self._keys = [
            keys[index] if index is not None else keys
            for keys, index in zip(self._keys, least, strict=True)
        ]

    def _least(self, most: int) -> list[NDArray[np.int64] | None]:
        """Return which rows of each batch have the least keys; None if it is all."""
        keys = np.concatenate([np.empty(0), *self._keys])
        if len(keys) <= most:
            return [None] * len(self._keys)
        highest = np.partition(keys, most - 1)[most - 1]
        return [np.flatnonzero(each <= highest) for each in self._keys]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that a model has learned, encoded by its levels and words.

    Parameters
    ----------
    batches : list of Batch
        The rows; in several batches where some came as a sparse matrix and some did not.
    """

    batches: list[Batch]

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    @property
    def labels(self) -> Labels:
        """The labels of all rows, numbered among the classes of the model."""
        return Labels.join([batch.labels for batch in self.batches])

    def take(self, rows: NDArray[np.bool_]) -> Sample:
        """Return a part of the sample, where ``rows`` is true."""
        part, start = [], 0
        for batch in self.batches:
            index = np.flatnonzero(rows[start : start + len(batch)])
            part.append(batch.take(index))
            start += len(batch)
        return Sample(part)

    def less(self, model: Model) -> Model:
        """Return the model that never saw these rows."""
        tally = reduce(Tally.__add__, (count_batch(b, model.counted) for b in self.batches))
        return replace(model, tally=model.tally - tally)

    def posterior(self, model: Model) -> Floats:
        """Return the posteriors of the rows, of shape (rows, classes)."""
        return np.concatenate([model.score(model.recode(b), "posterior") for b in self.batches])

    def leave_one_out(self, model: Model, *, pure: bool = False) -> LeaveOneOut:
        """Return the leave-one-out table of the rows under a model that has learned them."""
        batches = [model.recode(batch) for batch in self.batches if len(batch)]
        return LeaveOneOut.join([leave_one_out_table(model, b, pure=pure) for b in batches])

    def weights(self, model: Model, kind: Weighting) -> Weights:
        """Fit weights to the sample."""
        return fit(self.leave_one_out(model), kind, float(model.tally.class_count.sum()))


def _take(batch: Batch, index: NDArray[np.int64] | None) -> Batch:
    return batch if index is None else batch.take(index)


def deal(codes: NDArray[np.int32], folds: int) -> NDArray[np.int64]:
    """Deal the rows of each class out to folds, in random order."""
    order = np.random.default_rng(0).permutation(len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), np.int64)
    fold[by_class] = np.arange(len(codes)) % folds
    return fold
