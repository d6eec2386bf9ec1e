"""Learning from rows without a label, by expectation maximisation.

Nigam, McCallum, Thrun & Mitchell, Text classification from labeled and unlabeled documents using
EM (2000). The E step computes the posteriors of the unlabelled rows. The M step tallies the
labelled rows plus a share of the unlabelled rows, each counted for every class with its posterior
as its weight. Starting from the labelled rows alone, both steps repeat until the posteriors settle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.fitting.learn import InMemory, Labelled
from naively.fitting.leave_one_out import LeaveOneOut, leave_one_out_table
from naively.fitting.reservoir import Reservoir
from naively.fitting.sample import Sample, deal
from naively.fitting.weights import fit, loss_of_one_weight
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.model.counted import Counted, count_batch
from naively.model.model import Model
from naively.options import Weighting
from naively.schema.choose import EventModels, extend

SHARES = (0.1, 0.3, 1.0)  # how much an unlabelled row may count, beside a labelled one
ENOUGH = 1e-3  # change of a row's posteriors, on average, below which they have settled
MOST_STEPS = 15
FOLDS = 5  # of the labelled rows, to see whether the others help
NOTHING = 1e-9  # a posterior below this is not counted


def learn_unlabelled(
    found: Labelled,
    model: Model,
    reservoir: Reservoir,
    event_models: EventModels,
    kind: Weighting | None,
) -> Model:
    """Return the model that has learned from the rows without a label too."""
    # The share of least leave-one-out log loss on the rows with a label, which the model and the
    # reservoir hold, is chosen; if cross-validation does not confirm that it helps, it is 0.
    # Weights are fitted to rows with a label only.
    assert isinstance(found, InMemory)
    labelled = model.classes[model.counted.tally.class_count > 0].tolist()
    if len(labelled) == 1:
        raise ValueError(
            f"Only the class {labelled[0]!r} has labels, so that rows without a label cannot "
            "be told from it; label some rows of another class too (the whole number -1 is "
            "taken for no label where semi_supervised=True)."
        )
    n = len(found.every)
    rest = np.setdiff1d(np.arange(n), [] if found.there is None else found.there)
    weight = np.ones(len(rest)) if found.weight is None else found.weight[rest]
    # Rows of weight 0 make room for the columns, levels and words that all rows have.
    schema = extend(model.counted.schema, found.every, event_models, model.settings)
    nothing = Labels(np.zeros(n, np.int32), model.classes, np.zeros(n))
    model += Model.learn(found.every, nothing, schema, model.settings)
    labels = replace(Labels.none(len(rest), model.classes), weight=weight)
    batch = model.counted.schema.encode(found.every.take(rest), labels)
    if not len(reservoir):
        raise ValueError(
            "How much rows without a label count is chosen on rows that have one, and none is in "
            "memory; give some labelled rows too."
        )
    plain = model.pure().under_prior("data")
    sample = reservoir.of(plain)
    unlabelled = Unlabelled.of(plain, batch)
    models = {0.0: unlabelled.start} | {share: unlabelled.fit(share) for share in SHARES}
    best = min(models, key=lambda share: loss_of_one_weight(sample.leave_one_out(models[share])))
    held_out = cross_validate(plain, sample, unlabelled.batch, best) if best > 0 else None
    if held_out is None or loss_of_one_weight(held_out[1]) >= loss_of_one_weight(held_out[0]):
        model = Model.of(replace(model.counted, unlabelled_weight=0.0))
        return model if kind is None else model.weighed(sample.weighed(model, kind).weights)
    learned = models[best]
    tally = learned.counted.tally.pruned()
    weights = None if kind is None else fit(held_out[1], kind, float(tally.class_count.sum()))
    settings = replace(learned.settings, class_prior=model.settings.class_prior)
    counted = replace(learned.counted, tally=tally, settings=settings, unlabelled_weight=best)
    return Model.of(counted, weights)


def cross_validate(
    model: Model, sample: Sample, batch: Batch, share: float
) -> tuple[LeaveOneOut, LeaveOneOut] | None:
    """Return the evidence of held-out labelled rows without the unlabelled rows, and with them."""
    # Leave-one-out is not enough here: what EM concluded from a row's label stays in the counts of
    # other rows. So EM is run again without each fold. A class's only row is in no fold; without
    # any other row the result is None.
    labels = sample.labels
    dealt = deal(labels, sample.copies, FOLDS)
    dealt[np.bincount(labels.codes, sample.copies, len(labels.classes))[labels.codes] == 1] = 0
    without: list[LeaveOneOut] = []
    with_: list[LeaveOneOut] = []
    for fold in sample.held_out(model, dealt):
        out, rest = fold.out, Unlabelled.of(fold.model, batch)
        for fitted, found in ((rest.start, without), (rest.fit(share), with_)):
            found += [
                leave_one_out_table(fitted, fitted.recode(batch), learned=False)
                for batch in out.batches
                if len(batch)
            ]
    if not without:
        return None
    count = model.counted.tally.class_count
    both = LeaveOneOut.join(without), LeaveOneOut.join(with_)
    return both[0].standing_for(count), both[1].standing_for(count)


class Unlabelled(Frozen):
    """Rows without a label, beside a model of labelled ones."""

    start: Model  # of the labelled rows, with room for the levels and words of these rows
    batch: Batch  # these rows, encoded once by these levels and words, with their weights

    @classmethod
    def of(cls, model: Model, batch: Batch) -> Unlabelled:
        """Make room for the levels and words of rows without a label."""
        of_one = replace(batch, labels=Labels.none(len(batch), model.classes))
        room = Counted.of(of_one, model.counted.schema, model.settings)
        start = Model.of(model.counted + room * 0.0)
        return cls(start, start.counted.schema.recode(batch, start.counted.tally.axes).split())

    def posterior(self, model: Model) -> Floats:
        """E step: return how probable each class is for each row, of shape (rows, classes)."""
        return model.score(model.recode(self.batch), "posterior")

    def learn(self, p: Floats, share: float) -> Model:
        """M step: count a share of each row by its posteriors, beside the labelled rows."""
        row, code = np.nonzero(p > NOTHING)
        weight = np.asarray(p[row, code] * self.batch.labels.weights[row], np.float64)
        labels = Labels(code.astype(np.int32), self.start.classes, weight)
        soft = count_batch(replace(self.batch.take(row), labels=labels), self.start.counted.schema)
        return self.start.counting(tally=self.start.counted.tally + soft.pruned() * share)

    def steps(self, share: float) -> Iterator[Model]:
        """Repeat both steps until the posteriors settle; yield the model after each M step."""
        p = self.posterior(self.start)
        for _ in range(MOST_STEPS):
            yield (model := self.learn(p, share))
            before, p = p, self.posterior(model)
            if np.abs(p - before).sum(axis=1).mean() < ENOUGH:
                break

    def fit(self, share: float) -> Model:
        """Return the model whose posteriors have settled, or that of the last step."""
        *_, last = self.steps(share)
        return last
