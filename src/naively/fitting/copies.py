"""How many independent rows a weight of 1 is, and what is to be said of copies.

Rows are exchangeable: equal ones are as many rows, and one is left out at a time, as new rows will
be met by what was learned of all. Only groups of rows are left out together.

What rows weigh is another thing: that a row weighs 10 does not say that ten were seen. It counts as
such in the tally. But where weights are fitted, a row counts by the square root of what it weighs:
by all of it the few rows that weigh most would decide alone (Shimodaira, Improving predictive
inference under covariate shift by weighting the log-likelihood function, 2000). Of independent rows
that count by u the effective number is (Σ u)² / Σ u² (Kish, Survey sampling, 1965). It is taken
class by class, as a class may have weights of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from naively.counting.block import Batch, Codes, Dense, Documents, Sparse
from naively.counting.labels import Label, Labels
from naively.kernels.reference import Floats
from naively.messages import warn
from naively.model.model import Model
from naively.schema.schema import DERIVED

FLAT = 0.5  # the power of a row's weight by which it counts where weights are fitted
EQUAL = 1e-9  # rows per weight that differ from 1 by no more do so by rounding
MANY = 30  # different rows of a class, of which
ALONE = 0.02  # fewer than this share came once, if they are copies:
COMBINED = 2  # times as many as there are can be made of their cells, all columns but one


def flattened(batches: Sequence[Batch]) -> list[Batch]:
    """Return rows each of which counts by the square root of its weight, unless all weigh alike."""
    weight = np.concatenate([np.empty(0), *(of.labels.weights / of.times for of in batches)])
    if not len(weight) or np.ptp(weight) <= EQUAL * weight.max():
        return list(batches)
    return [
        replace(batch, each=np.power(batch.labels.weights / batch.times, FLAT)) for batch in batches
    ]


def classes_of_copies(batches: Sequence[Batch]) -> tuple[Label, ...]:
    """Return the classes whose sampled rows look as if they were copied."""
    copied: dict[Label, None] = {}
    for batch in batches:
        if batch.labels.group is not None:
            continue
        codes = batch.labels.codes
        rows = np.bincount(codes, minlength=batch.labels.k)
        alone = np.bincount(codes, batch.times == 1, batch.labels.k)
        for c in np.flatnonzero((rows >= MANY) & (alone < ALONE * rows)).tolist():
            different = sorted(_different_cells(batch.take(np.flatnonzero(codes == c))))
            if np.log(different[:-1]).sum() >= np.log(COMBINED * rows[c]):
                copied[batch.labels.classes[c].item()] = None
    return tuple(copied)


def warn_of_copies(classes: Sequence[Label]) -> None:
    """Warn of classes whose rows look as if they were copied."""
    warn(
        f"Nearly every row of class {', '.join(map(repr, classes))} came more than once. If rows "
        "were copied, as a rare class is oversampled, the weights are fitted to rows that are "
        "known from their copies, and are too large for new ones: give groups='copies', which "
        "leaves equal rows out together."
    )


def notes_of(classes: Sequence[Label], batches: Sequence[Batch]) -> tuple[str, ...]:
    """Return what is to be said of scores of rows: that some are copies, or look like counts."""
    found = []
    if classes:
        found.append(
            f"Copies: nearly every row of class {', '.join(map(repr, classes))} came more than "
            "once, so that the scores are those of rows that were seen before; groups='copies' "
            "leaves equal rows out together."
        )
    weight = np.concatenate([np.empty(0), *(of.labels.weights / of.times for of in batches)])
    if len(weight) and np.ptp(weight) > 0 and (weight == np.rint(weight)).all():
        found.append(
            "Weights: they are whole numbers. If they say how many equal rows each row is, give "
            "them as frequencies= instead of sample_weight=."
        )
    return tuple(found)


def _different_cells(batch: Batch) -> Iterator[int]:
    """Yield how many different cells each column has; a text is made of many."""
    for key, block in batch.blocks.items():
        if key.kind in DERIVED:
            continue
        match block:
            case Dense():
                yield from (len(np.unique(column)) for column in block.values.T)
            case Codes():
                yield from (len(np.unique(column)) for column in block.codes.T)
            case Sparse():
                yield from [2] * len(np.unique(block.indices))
            case Documents():
                yield from [len(block)] * 3


def in_rows(batches: Sequence[Batch], per: Floats | None) -> list[Batch]:
    """Return rows whose weights are numbers of rows: a weight of 1 is ``per``, (classes,).

    By what they count where weights are fitted they weigh as much together, class by class.
    """
    if per is None and all(batch.each is None for batch in batches):
        return list(batches)
    k = max((batch.labels.k for batch in batches), default=0)
    every, alone = np.zeros(k), np.zeros(k)
    for batch in batches:
        every += np.bincount(batch.labels.codes, batch.labels.weights, k)
        alone += np.bincount(batch.labels.codes, batch.independent.weights, k)
    more = np.divide(every, alone, out=np.ones(k), where=alone > 0)
    more = more if per is None else more * per
    return [
        replace(
            batch,
            labels=batch.labels.times(per),
            each=None if batch.each is None else batch.each * more[batch.labels.codes],
        )
        for batch in batches
    ]


def rows_per_weight(model: Model, batches: Sequence[Batch]) -> Floats | None:
    """Return how many independent rows a weight of 1 is, (classes,); None where it is one.

    ``batches`` are a sample of the rows that the model has learned.
    """
    k = len(model.classes)
    every, alone, square = np.zeros(k), np.zeros(k), np.zeros(k)
    largest = max((float(b.labels.weights.max(initial=0.0)) for b in batches), default=0.0) or 1.0
    for batch in batches:
        codes, w = batch.labels.codes, batch.independent.weights / largest  # no square overflows
        every += np.bincount(codes, batch.labels.weights / largest, k)
        alone += np.bincount(codes, w, k)
        square += np.bincount(codes, w * w / batch.times, k)
    there = square > 0
    rows = np.divide(alone * alone, square, out=np.ones(k), where=there)
    found = np.divide(rows, every * largest, out=np.ones(k), where=there)
    return None if (np.abs(found - 1.0) <= EQUAL).all() else found


def rows_per_group(model: Model, batches: Sequence[Batch]) -> Floats:
    """Return how many independent rows a row is if those of a group are one, (classes,).

    They are by Kish's rule, of groups and of rows.
    """
    k = len(model.classes)
    labels = Labels.join([batch.independent for batch in batches])
    assert labels.group is not None
    weight = labels.weights / (labels.weights.max(initial=0.0) or 1.0)
    number = np.unique(labels.group, return_inverse=True)[1]
    size = (int(number.max(initial=-1)) + 1) * k
    of_group = np.bincount(number * k + labels.codes, weight, size).astype(np.float64)
    times = np.concatenate([batch.times for batch in batches])
    rows = np.bincount(labels.codes, weight * weight / times, k)
    groups = np.square(of_group.reshape(-1, k)).sum(axis=0)
    found: Floats = np.divide(rows, groups, out=np.ones(k), where=groups > 0)
    return found
