"""The reservoir: a uniform sample of the rows learned, at most some thousand, kept in memory.

Weights are fitted and scores estimated on it. Each row draws a random key and those of the least
keys stay (bottom-k sampling), so that it does not show in how many batches the rows came. A later
batch may bring classes, for which a larger sample is needed; so more are kept than one needs now.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels, union_classes
from naively.data.rows import Rows
from naively.evaluation.calibrate import SampleSize, fit, sample_size
from naively.evaluation.leave_one_out import LeaveOneOut, leave_one_out_table
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.model.weights import Weighting, Weights
from naively.schema.schema import Schema

Batch: TypeAlias = "tuple[Rows, Labels]"


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
    >>> from naively.schema.choose import infer
    >>> rows, labels = as_rows([[1.0], [3.0], [8.0]]), encode_labels(["low", "low", "high"])
    >>> sample = Reservoir()
    >>> sample.add(rows, labels, Model.learn(rows, labels, infer(rows)))
    >>> len(sample)
    3
    """

    def __init__(self, random_state: Any = None) -> None:
        self._random = np.random.default_rng(0 if random_state is None else random_state)
        self._kept: list[Batch] = []
        self._keys: list[Floats] = []
        self._size = SampleSize(0, 0, "")
        self._sample: list[Batch] | None = None
        self.seen = 0  # rows of some weight that were added

    def __len__(self) -> int:
        return sum(len(labels) for _, labels in self.batches)

    @property
    def batches(self) -> list[Batch]:
        """What was sampled, batch by batch."""
        if self._sample is None:
            if len(self._keys) < len(self._kept):
                self._draw()
            keys = self._least(self._size.rows)
            self._sample = [_select(*each) for each in zip(self._kept, keys, strict=True)]
        return self._sample

    @property
    def why(self) -> str:
        """Why it is a sample and not all rows; empty if it is all."""
        return self._size.why if len(self) < self.seen else ""

    def add(self, rows: Rows, labels: Labels, model: Model) -> None:
        """Sample these rows too; the model has learned them."""
        self._size, self._sample = sample_size(model), None
        self.seen += len(labels) if labels.weight is None else int(np.count_nonzero(labels.weight))
        self._kept.append((rows, labels))
        if len(self._kept) > 1:  # one batch can wait until its sample is asked for
            self._draw()

    def _draw(self) -> None:
        """Draw the keys of new rows, and keep as many rows as any later sample may need."""
        for i, (rows, labels) in enumerate(self._kept[len(self._keys) :], len(self._keys)):
            if labels.weight is not None and not labels.weight.all():  # of weight 0: never seen
                seen = np.flatnonzero(labels.weight)
                self._kept[i] = (rows.take(seen), labels.take(seen))
            self._keys.append(self._random.random(len(self._kept[i][1])))
        least = self._least(self._size.kept)
        self._kept = [_select(*each) for each in zip(self._kept, least, strict=True)]
        self._keys = [
            keys[index] if index is not None else keys
            for keys, index in zip(self._keys, least, strict=True)
        ]
        self._join()

    def _least(self, most: int) -> list[NDArray[np.int64] | None]:
        """Return which rows of each batch have the least keys; None if it is all."""
        keys = np.concatenate(self._keys)
        if len(keys) <= most:
            return [None] * len(self._keys)
        highest = np.partition(keys, most - 1)[most - 1]
        return [np.flatnonzero(each <= highest) for each in self._keys]

    def _join(self) -> None:
        """Make one batch of the last two, if they are held alike."""
        while len(self._kept) > 1:
            (first, of_first), (second, of_second) = self._kept[-2:]
            rows = first.followed_by(second)
            if rows is None:
                return
            classes = union_classes(of_first.classes, of_second.classes)
            both = Labels.join([of_first.among(classes), of_second.among(classes)])
            self._kept[-2:] = [(rows, both)]
            self._keys[-2:] = [np.concatenate(self._keys[-2:])]

    def labels(self, classes: NDArray[Any]) -> Labels:
        """Return the labels of the sample, by number among these classes."""
        return Labels.join([labels.among(classes) for _, labels in self.batches])

    def take(self, rows: NDArray[np.bool_]) -> Reservoir:
        """Return a part of the sample."""
        part, start = Reservoir(), 0
        part._sample = []
        for batch, labels in self.batches:
            index = np.flatnonzero(rows[start : start + len(labels)])
            part._sample.append((batch.take(index), labels.take(index)))
            start += len(labels)
        return part

    def learn(self, schema: Schema) -> Model:
        """Count the sample alone."""
        with _lacking_columns():
            models = [
                Model.learn(rows, labels, schema) for rows, labels in self.batches if len(labels)
            ]
        return reduce(Model.__add__, models)

    def posterior(self, model: Model) -> Floats:
        """Return the posteriors of the rows of the sample."""
        with _lacking_columns():
            return np.concatenate([model.posterior(rows) for rows, _ in self.batches])

    def leave_one_out(self, model: Model, *, pure: bool = False) -> LeaveOneOut:
        """Return the leave-one-out evidence of the sample under the model that learned it."""
        with _lacking_columns():
            found = [
                leave_one_out_table(model, rows, labels, pure=pure)
                for rows, labels in self.batches
                if len(labels)
            ]
        return LeaveOneOut.join(found)

    def weights(self, model: Model, kind: Weighting) -> Weights:
        """Fit weights to the sample."""
        return fit(self.leave_one_out(model), kind, float(model.tally.class_count.sum()))


@contextmanager
def _lacking_columns() -> Iterator[None]:
    """Do not warn that an early batch lacks a column that came later: the user gave it then."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No column", UserWarning)
        yield


def _select(batch: Batch, index: NDArray[np.int64] | None) -> Batch:
    rows, labels = batch
    return batch if index is None else (rows.take(index), labels.take(index))


def deal(codes: NDArray[np.int32], folds: int) -> NDArray[np.int64]:
    """Deal the rows of each class out to folds, in random order."""
    order = np.random.default_rng(0).permutation(len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), np.int64)
    fold[by_class] = np.arange(len(codes)) % folds
    return fold
