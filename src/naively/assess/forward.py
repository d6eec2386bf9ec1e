"""Whether rows have an order: whether the past predicts worse than other rows do.

Cross-validation shuffles rows, so that each is judged by what came after it too. Where a column of
times has been learned, a part of the sample is put in its order, and the last quarter judged by
what the others teach; and so is a random quarter. Both learn equally many rows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from naively.assess.curves import of_tally
from naively.counting.axis import Name
from naively.counting.block import weighing
from naively.counting.tally import Tally
from naively.fitting.sample import Sample
from naively.fitting.weights import hits_and_losses
from naively.kernels.reference import Floats
from naively.model.counted import count_batch
from naively.model.model import Model
from naively.options import Weighting
from naively.schema.encode import Held

ROWS = 3_000  # that are looked at, so that it takes less than a fit
FEWEST = 200  # of which anything is said
SURE, MUCH = 2.0, 0.1  # standard errors, and the share of the log loss, beyond which it is said


def note_of_time(model: Model, sample: Sample, kind: Weighting | None) -> tuple[str, ...]:
    """Return what is to be said of the order of rows; nothing where it makes no difference."""
    schema = model.view.schema
    times = [name for name in schema.order if name in schema.times]
    for name in times:
        found = _forward_and_shuffled(model, sample, kind, name)
        if found is None:
            continue
        (forward, shuffled), noise = found
        if forward - shuffled > max(SURE * noise, MUCH * shuffled):
            said = (
                f"the rows change over time: of the last quarter by {name!r} the log loss is "
                f"{forward:.4f} by what was learned before it, of a random quarter {shuffled:.4f}; "
                f"the scores here are of shuffled rows. With time={name!r} assess judges rows by "
                "those before them, and curve.decay says how fast to forget"
            )
            return (said,)
    return ()


def _forward_and_shuffled(
    model: Model, sample: Sample, kind: Weighting | None, by: Name
) -> tuple[tuple[float, float], float] | None:
    """Return the log loss of the last quarter and of a random one, and the error of both."""
    held = [Held(model.recode(batch)) for batch in sample.batches]
    moments = np.concatenate([of.number(by) for of in held]).astype(np.float64)
    mixed = np.random.default_rng(0).permutation(np.flatnonzero(~np.isnan(moments)))[:ROWS]
    if len(mixed) < FEWEST:
        return None
    weight = sample.labels.standing_for(model.counted.tally.class_count).weights
    sample = replace(sample, batches=weighing(sample.batches, weight))
    ordered = mixed[np.argsort(moments[mixed], kind="stable")]
    if moments[ordered[0]] == moments[ordered[-1]]:
        return None
    means, errors = [], []
    for rows in (ordered, mixed):
        cut = len(rows) * 3 // 4
        loss = _losses(model, sample, kind, rows[:cut], rows[cut:])
        w = weight[np.sort(rows[cut:])]
        means.append(float(np.average(loss, weights=w)))
        errors.append(float((w * w * (loss - means[-1]) ** 2).sum() / w.sum() ** 2))
    return (means[0], means[1]), float(np.sqrt(sum(errors)))


def _losses(
    model: Model,
    sample: Sample,
    kind: Weighting | None,
    learned: NDArray[np.int64],
    judged: NDArray[np.int64],
) -> Floats:
    """Return the log loss of rows, in the order of the sample, by a model of others alone."""
    before, after = (_only(sample, rows) for rows in (learned, judged))
    counted = (count_batch(b, model.counted.schema) for b in before.batches if len(b))
    known = of_tally(model, reduce(Tally.__add__, counted))
    if kind is not None:
        known = known.weighed(before.weighed(known, kind).weights)
    return hits_and_losses(after.posterior(known), known.classes, after.labels)[1]


def _only(sample: Sample, rows: NDArray[np.int64]) -> Sample:
    """Return some rows of a sample."""
    copies = np.zeros_like(sample.copies)
    copies[rows] = sample.copies[rows]
    return sample.keep(copies)
