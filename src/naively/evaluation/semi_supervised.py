"""Learning from rows without a label, by expectation maximisation.

Nigam, McCallum, Thrun & Mitchell, Text classification from labeled and unlabeled documents using
EM (2000). E: the posteriors of the unlabelled rows. M: the tally of the labelled rows, plus a share
of the unlabelled ones, each counted for every class with its posterior as its weight. Starting from
the labelled rows alone, both steps are repeated until the posteriors stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from naively.counting.block import Block
from naively.counting.labels import Labels
from naively.counting.tally import Tally, count_classes
from naively.data.rows import Rows
from naively.evaluation.calibrate import fit, temperature
from naively.evaluation.leave_one_out import LeaveOneOut, leave_one_out_table
from naively.evaluation.reservoir import Reservoir, deal
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.model.weights import Weighting
from naively.schema.schema import GroupKey

SHARES = (0.1, 0.3, 1.0)  # of an unlabelled row, beside a labelled one
ENOUGH = 1e-3  # mean change of the posteriors after which they stay
MOST_STEPS = 15
FOLDS = 5  # of the labelled rows, to see whether the others help
NOTHING = 1e-9  # a posterior below this is not counted


def learn_unlabelled(
    model: Model, sample: Reservoir, rows: Rows, weight: Floats, kind: Weighting | None
) -> tuple[Model, float]:
    """Learn from rows without a label; return the model, and how much such a row counts in it.

    Parameters
    ----------
    model : Model
        What was learned from rows with a label, with the schema of these rows.
    sample : Reservoir
        Rows with a label that the model has learned. The share of least leave-one-out log loss on
        them is chosen; if cross-validation does not confirm that it helps, it is 0.
    rows, weight
        Rows without a label, and their sample weights.
    kind : {"loo", "temperature"} or None
        Of the weights of the columns, which are fitted to rows with a label only.
    """
    if not len(sample):
        raise ValueError(
            "How much rows without a label count is chosen on rows that have one, and none is in "
            "memory; give some labelled rows too."
        )
    model = replace(model, weights=None)
    unlabelled = Unlabelled.encode(model, rows, weight)
    models = {0.0: unlabelled.start} | {share: unlabelled.fit(share) for share in SHARES}
    best = min(models, key=lambda share: _loss(sample.leave_one_out(models[share])))
    held_out = cross_validate(model, sample, rows, weight, best) if best > 0 else None
    if held_out is None or _loss(held_out[1]) >= _loss(held_out[0]):
        weights = None if kind is None else sample.weights(model, kind)
        return replace(model, weights=weights), 0.0
    learned = models[best]
    tally = learned.tally.pruned()
    weights = None if kind is None else fit(held_out[1], kind, float(tally.class_count.sum()))
    return replace(learned, tally=tally, weights=weights), best


def cross_validate(
    model: Model, sample: Reservoir, rows: Rows, weight: Floats, share: float
) -> tuple[LeaveOneOut, LeaveOneOut] | None:
    """Return the evidence of labelled rows that were held out: without the other rows, and with.

    Leave-one-out is not enough here: what was concluded from a row's label stays in the counts of
    the others. So EM is run again without each of some folds. The only row of a class is in none;
    there may be no other.
    """
    labels = sample.labels(model.classes)
    fold = deal(labels.codes, FOLDS)
    fold[np.bincount(labels.codes, minlength=labels.k)[labels.codes] == 1] = -1
    without: list[LeaveOneOut] = []
    with_: list[LeaveOneOut] = []
    for f in np.unique(fold[fold >= 0]):
        out = sample.take(fold == f)
        rest = Unlabelled.encode(model - out.learn(model.counted), rows, weight)
        for fitted, found in ((rest.start, without), (rest.fit(share), with_)):
            found += [
                leave_one_out_table(fitted, x, y, learned=False) for x, y in out.batches if len(y)
            ]
    return (LeaveOneOut.join(without), LeaveOneOut.join(with_)) if without else None


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Rows without a label, beside a model of labelled ones.

    Parameters
    ----------
    start : Model
        What was learned from labelled rows, with room for the levels and words of these rows.
    rows : Rows
        The rows.
    blocks : mapping of GroupKey to Block
        The same, encoded once to be counted.
    weight : ndarray of shape (rows,)
        Their sample weights.
    """

    start: Model
    rows: Rows
    blocks: Mapping[GroupKey, Block]
    weight: Floats

    @classmethod
    def encode(cls, model: Model, rows: Rows, weight: Floats) -> Unlabelled:
        """Encode rows without a label."""
        of_one = Labels(np.zeros(len(rows), np.int32), model.classes)
        room = Model.learn(rows, of_one, model.counted, model.settings)
        start = replace(model + room * 0.0, weights=None)
        return cls(start, rows, start.counted.encode(rows), weight)

    def posterior(self, model: Model) -> Floats:
        """E step: return how probable each class is for each row."""
        return model.posterior(self.rows)

    def learn(self, p: Floats, share: float) -> Model:
        """M step: count a share of each row by its posteriors, beside the labelled rows."""
        row, code = np.nonzero(p > NOTHING)
        weight = np.asarray((p * self.weight[:, None])[row, code], np.float64)
        labels = Labels(code.astype(np.int32), self.start.classes, weight)
        blocks = {
            group.key: group.event.tally(self.blocks[group.key].select(row), labels)
            for group in self.start.counted.groups
        }
        soft = Tally(self.start.classes, count_classes(labels), blocks)
        return replace(self.start, tally=self.start.tally + soft * share)

    def steps(self, share: float) -> Iterator[Model]:
        """Repeat both steps until the posteriors stay; yield the model after each M step."""
        p = self.posterior(self.start)
        for _ in range(MOST_STEPS):
            yield (model := self.learn(p, share))
            before, p = p, self.posterior(model)
            if np.abs(p - before).sum(axis=1).mean() < ENOUGH:
                break

    def fit(self, share: float) -> Model:
        """Return the model when the posteriors stay."""
        *_, last = self.steps(share)
        return last


def _loss(found: LeaveOneOut) -> float:
    """Return the log loss after one temperature for all evidence."""
    joint = found.table.sum(axis=0)
    joint = found.prior + temperature(joint, found.prior, found.labels) * joint
    log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    right = log_p[np.arange(len(joint)), found.labels.codes]
    return float(np.average(-right, weights=found.labels.weight))
