"""An honest assessment of a model from the rows that it was trained on.

The tally of each of some folds is subtracted, weights are fitted on what is left, and the fold is
predicted: cross-validation without refitting. (Leave-one-out alone is optimistic, as the weights
have been fitted on it.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.assess.evidence import Evidence
from naively.assess.pairs import add_pairs
from naively.assess.reservoir import Reservoir, deal
from naively.assess.scores import LEAST, Scores, scores
from naively.class_prior import among_fewer
from naively.core.axis import title
from naively.core.kernels import Floats
from naively.core.weights import Kind
from naively.model import Model

FEW = 2_000  # rows, up to which
MANY_FOLDS = 20
FOLDS = 10


def assess(model: Model, sample: Reservoir, kind: Kind | None) -> Scores:
    """Score the model on the sample of the rows that it has learned (see ``NaiveBayes.assess``)."""
    p = cross_validate(model, sample, kind)
    labels = sample.labels(model.classes)
    found = scores(p, model.classes, model.classes[labels.codes], labels.weight)
    return replace(found, cost=costs(model, sample), of=sample.seen, why=sample.why)


def cross_validate(model: Model, sample: Reservoir, kind: Kind | None) -> Floats:
    """Return the posterior of each row of the sample under the model less the row's fold.

    As many pairs of columns are chosen again without the fold, and counted on the rest of the
    sample.
    """
    labels = sample.labels(model.classes)
    if len(labels) < 2:
        raise ValueError("There are fewer than two rows: none can be held out to assess the model.")
    fold = deal(labels.codes, FOLDS if len(labels) > FEW else MANY_FOLDS)
    unweighted = replace(model.without_pairs(), weights=None)
    p = np.zeros((len(labels), labels.k))
    for f in range(fold.max() + 1):
        rest = unweighted - sample.take(fold == f).learn(unweighted.schema)
        others = sample.take(fold != f)
        prior = among_fewer(model.settings.class_prior, model.classes, rest.classes)
        rest = replace(rest, settings=replace(rest.settings, class_prior=prior))
        if kind is not None:
            rest = rest.weighed(others.weights(rest, kind))
        if model.schema.pairs:
            rest = add_pairs(rest, others, most=len(model.schema.pairs))
        place = {label: i for i, label in enumerate(model.classes.tolist())}
        columns = [place[label] for label in rest.classes.tolist()]
        there = np.flatnonzero(fold == f)
        p[there[:, None], columns] = sample.take(fold == f).posterior(rest)
    return p


def costs(model: Model, sample: Reservoir) -> dict[str, float]:
    """Return how much the leave-one-out log loss grows without each column, in nats a row."""
    found = sample.evidence(model, pure=model.weights is None)
    columns, classes = _columns(model, found), model.classes.tolist()
    of_column = {name: np.zeros_like(found.prior) for name in columns}
    for name, part, table in zip(columns, found.parts, found.table, strict=True):
        weight = 1.0 if model.weights is None else model.weights.table([part], classes)[0]
        of_column[name] += weight * table
    joint = found.prior + sum(of_column.values())
    if model.weights is not None:
        joint += model.weights.bias_of(classes)
    loss = _log_loss(joint, found)
    return {name: _log_loss(joint - own, found) - loss for name, own in of_column.items()}


def _columns(model: Model, found: Evidence) -> list[str]:
    """Return the column that each part is of; several that are one event go by their group."""
    texts = {g.key: title(g.columns[0]) for g in model.schema.groups if g.kind == "text"}
    return [texts.get(part.group, str(part)) for part in found.parts]


def _log_loss(joint: Floats, found: Evidence) -> float:
    log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    right = log_p[np.arange(len(joint)), found.labels.codes]
    return float(np.average(-np.maximum(right, np.log(LEAST)), weights=found.labels.weight))
