"""Rows that came more than once: whether they say more than their columns, and which they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.fitting.leave_one_out import linear_evidence
from naively.fitting.weights import losses_of
from naively.kernels.reference import Floats
from naively.model.model import Model, number_of_cells
from naively.terms.seen import TWICE, SeenRows, added_by

# --- Whole rows seen before, as one term over what the columns say (see ``naively.terms.seen``) --
#
# Each row is judged without itself, by its copies among all others, as a new row will be. Held-out
# thirds admit the same, of tables and of texts, by two thirds of the copies.


SHARE = 0.02  # of the rows that have an equal one, at least
AMOUNTS = (0.125, 0.5, 2.0, 8.0, 32.0, 128.0)  # of rows that what the columns say is worth
WORTH = 3.0  # nats that must be saved,
ERRORS = 4.0  # and standard errors


def seen_before(
    model: Model,  # with weights and the linear part
    batches: Sequence[Batch],
    labels: Labels,  # of all rows of these
    joint: Floats,  # (rows, classes): of each by all others, without the linear part
) -> SeenRows | None:
    """Return the rows that came more than once, if rows gain by what their copies were."""
    times = np.concatenate([batch.times for batch in batches])
    numbers = np.concatenate([number_of_cells(batch) for batch in batches])
    hashes, row = np.unique(numbers, return_inverse=True)
    alike = np.where(numbers, times, 0)  # rows without a cell are like no other
    n: NDArray[np.integer] = np.bincount(row, alike)
    if model.weights is None or n[n >= TWICE].sum() <= SHARE * n.sum():
        return None
    own = labels.one_hot()
    count = np.zeros((len(hashes), own.shape[1]))
    np.add.at(count, row, own)
    known = np.flatnonzero(n[row] > TWICE)  # without the row itself it came twice
    others = np.maximum(count[row[known]] - own[known] / times[known, None], 0.0)
    linear = sum(linear_evidence(model, batches).values(), np.zeros_like(own))
    joint = (joint + linear + model.weights.linear.intercept_of(range(own.shape[1])))[known]
    code, weight = labels.codes[known], labels.weights[known]
    each = [joint + added_by(others, amount, joint) for amount in AMOUNTS]
    gain = losses_of(joint, code) - np.stack([losses_of(more, code) for more in each])
    total = gain @ weight
    best = int(np.argmax(total))
    if total[best] <= max(WORTH, ERRORS * float(np.sqrt(gain[best] ** 2 @ weight))):
        return None
    return SeenRows(hashes[n >= TWICE], count[n >= TWICE], AMOUNTS[best])
