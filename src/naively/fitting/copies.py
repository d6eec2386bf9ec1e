"""Rows that came more than once: whether they say more than their columns, and which they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.fitting.leave_one_out import linear_evidence
from naively.fitting.weights import Third, losses_of
from naively.kernels.reference import Floats
from naively.model.model import Model, number_of_cells
from naively.terms.seen import TWICE, SeenRows, added_by

# --- Whole rows seen before, as one term over what the columns say (see ``naively.terms.seen``) --
#
# They are judged on held-out thirds of the rows. A row that is held out of the model's counts is
# judged by its copies in the other thirds; one that is only left out of them by all others.


SHARE = 0.02  # of the rows that have an equal one, at least
AMOUNTS = (0.125, 0.5, 2.0, 8.0, 32.0, 128.0)  # of rows that what the columns say is worth
WORTH = 3.0  # nats that must be saved on the held-out rows,
ERRORS = 2.0  # and standard errors


def seen_before(
    model: Model,  # with weights and the linear part
    batches: Sequence[Batch],
    labels: Labels,  # of all rows of these
    thirds: Iterable[Third],  # of the first of them, without the linear part
) -> SeenRows | None:
    """Return the rows that came more than once, if held-out rows gain by what they were."""
    times = np.concatenate([batch.times for batch in batches])
    numbers = np.concatenate([number_of_cells(batch) for batch in batches])
    hashes, row = np.unique(numbers, return_inverse=True)
    alike = np.where(numbers, times, 0)  # rows without a cell are like no other
    n: NDArray[np.integer] = np.bincount(row, alike)
    if model.weights is None or n[n >= TWICE].sum() <= SHARE * n.sum():
        return None
    own = labels.one_hot()

    def counted(some: NDArray[np.int64] | slice) -> tuple[NDArray[np.integer], Floats]:
        """Return how often each different row is among some, and of which classes it was."""
        count = np.zeros((len(hashes), own.shape[1]))
        np.add.at(count, row[some], own[some])
        return np.bincount(row[some], alike[some], len(hashes)), count

    linear = sum(linear_evidence(model, batches).values(), np.zeros_like(own))
    linear += model.weights.linear.intercept_of(range(own.shape[1]))
    gains, weights = [], []
    for third in thirds:
        held = third.held
        n, count = counted(third.rest if third.uncounted else slice(len(third.joint)))
        n, count = n[row[held]], count[row[held]]
        if not third.uncounted:
            n, count = n - 1, np.maximum(count - own[held] / times[held, None], 0.0)
        known = n >= TWICE
        of, count = held[known], count[known]
        joint = third.joint[of] + linear[of]
        loss = losses_of(joint, labels.codes[of])
        each = [joint + added_by(count, amount, joint) for amount in AMOUNTS]
        gains.append([loss - losses_of(more, labels.codes[of]) for more in each])
        weights.append(labels.weights[of])
    gain, weight = np.concatenate(gains, axis=1), np.concatenate(weights)
    total = gain @ weight
    best = int(np.argmax(total))
    if total[best] <= max(WORTH, ERRORS * float(np.sqrt(gain[best] ** 2 @ weight))):
        return None
    n, count = counted(slice(None))
    return SeenRows(hashes[n >= TWICE], count[n >= TWICE], AMOUNTS[best])
