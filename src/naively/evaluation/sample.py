"""A sample of rows that a model has learned: what weights are fitted to and scores estimated on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.counting.tally import Tally
from naively.evaluation.blas import on_one_thread
from naively.evaluation.calibrate import ROWS, fit
from naively.evaluation.canonical import by_class, row_order
from naively.evaluation.kept import Kept
from naively.evaluation.leave_one_out import LeaveOneOut, left_out
from naively.evaluation.linear_part import with_linear_part
from naively.kernels.reference import Floats
from naively.model.count import count_batch
from naively.model.model import Model
from naively.model.weights import Weights
from naively.options import Weighting


@dataclass(frozen=True, eq=False)
class Sample:
    """Different rows that a model has learned, encoded by its levels and words.

    Parameters
    ----------
    batches : list of Batch
        The rows; in several batches where some came as a sparse matrix and some did not.
    """

    batches: list[Batch]

    def __len__(self) -> int:
        return int(self.copies.sum())

    @property
    def copies(self) -> NDArray[np.int64]:
        """How often each row came, of shape (rows,)."""
        return np.concatenate([np.empty(0, np.int64), *(b.times for b in self.batches)])

    @property
    def labels(self) -> Labels:
        """The labels of the rows, numbered among the classes of the model."""
        return Labels.join([batch.labels for batch in self.batches])

    def deal(self, folds: int) -> NDArray[np.int64]:
        """Deal the copies of all rows out to folds: how many are in each, (rows, folds)."""
        return deal(self.labels.codes, self.copies, folds)

    def keep(self, copies: NDArray[np.int64]) -> Sample:
        """Return so many copies of each row, where ``copies`` is of shape (rows,)."""
        ends = np.cumsum([len(batch) for batch in self.batches])[:-1]
        each = zip(self.batches, np.split(copies, ends), strict=True)
        return Sample([batch.keep(of_batch) for batch, of_batch in each])

    def less(self, model: Model) -> Model:
        """Return the model that never saw these rows."""
        found = (count_batch(batch, model.counted) for batch in self.batches if len(batch))
        tally = reduce(Tally.__add__, found)
        return replace(model, tally=model.tally - tally)

    def posterior(self, model: Model) -> Floats:
        """Return the posteriors of the rows, of shape (rows, classes)."""
        return np.concatenate([model.score(model.recode(b), "posterior") for b in self.batches])

    def leave_one_out(self, model: Model, *, length_normalised: bool = True) -> LeaveOneOut:
        """Return the leave-one-out table of the rows under a model that has learned them."""
        return left_out(model, self.encoded(model), length_normalised=length_normalised)

    def encoded(self, model: Model) -> list[Batch]:
        """Return the rows as a model encodes them; each text is split."""
        return [model.recode(batch).split() for batch in self.batches if len(batch)]

    @classmethod
    def of_all(cls, batch: Batch) -> Sample:
        """Return all rows of a batch, in an order that follows from what they hold."""
        return cls.of_kept([Kept.of(batch, np.uint64(0), len(batch))])

    @classmethod
    def of_kept(cls, every: Sequence[Kept]) -> Sample:
        """Return rows in an order that follows from what they hold, those of the least keys first.

        What is fitted to the first of many rows is fitted to those of the least keys.
        """
        batches = [kept.batch for kept in every]
        orders = row_order(batches, [kept.contents for kept in every])
        first = (order[np.argsort(order >= ROWS, kind="stable")] for order in orders)
        return cls([batch.take(rows) for batch, rows in zip(batches, first, strict=True)])

    @on_one_thread
    def weights(self, model: Model, kind: Weighting, *, learned: bool = True) -> Weights:
        """Fit weights to the sample, with a linear part if each column has a weight.

        ``learned`` says whether the model has learned these rows, so that each must be left out.
        """
        batches = self.encoded(model)
        found = left_out(model, batches, learned=learned)
        weights = fit(found.first(ROWS), kind, float(model.tally.class_count.sum()))
        if kind != "loo" or found.labels.k < 2:
            return weights
        return with_linear_part(model, weights, found, batches)


def deal(codes: NDArray[np.int32], copies: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """Return how many copies of each row are in each fold, of shape (rows, folds).

    The rows of each class are dealt out in random order, one copy to a fold after the other.
    ``codes`` are their classes, and ``copies`` how often each row came, both of shape (rows,).
    """
    order = by_class(codes)
    ends = np.concatenate([[0], np.cumsum(copies[order])])
    # Of the copies before an end, every ``folds``-th is in the same fold.
    before = (ends[:, None] - np.arange(folds) + folds - 1) // folds
    dealt = np.empty((len(codes), folds), np.int64)
    dealt[order] = np.diff(before, axis=0)
    return dealt
