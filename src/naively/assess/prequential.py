"""How good a model is while it learns: each batch is scored before it is learned.

Dawid, Statistical theory: the prequential approach (1984). No row is held out, and none is scored
by itself: it is what a model that learns all the time has been worth all the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from naively.counting.labels import LEAST_WEIGHT, Labels
from naively.data.columns import Rows
from naively.fitting.weights import hits_and_losses
from naively.model.model import Model
from naively.tabular import Tabular, as_text

EVERY = 1_000  # rows of a batch
ALL = "all"


@dataclass(frozen=True, eq=False, repr=False)
class Prequential(Tabular):
    """Scores of batches by what was learned before each, and of all rows.

    Parameters
    ----------
    batch : list of int or "all"
        Which batch, from 1 on; the last line is of all rows.
    rows : list of float
        How many rows it has (their weight).
    log_loss : list of float
        In nats per row.
    accuracy : list of float
        The share of right answers.
    """

    batch: list[int | str]
    rows: list[float]
    log_loss: list[float]
    accuracy: list[float]

    TABLE = ("batch", "rows", "log_loss", "accuracy")

    def __str__(self) -> str:
        """Return all lines."""
        return as_text(self.to_dict())


def prequential(
    rows: Rows,
    labels: Labels,
    model: Callable[[], Model],  # returns the model that has learned all rows before
    learn: Callable[[slice], object],  # learns the rows of a slice
    every: int = EVERY,  # how many rows a batch has; the last may have fewer
) -> Prequential:
    """Score and learn rows in batches, in their order."""
    if every < 1:
        raise ValueError(f"A batch must have at least 1 row, got {every}.")
    found = [*_scored(rows, labels, model, learn, every)]
    weight = np.array([of[0] for of in found])
    total = [float(np.average([of[i] for of in found], weights=weight)) for i in (1, 2)]
    number = [*range(1, len(found) + 1), ALL]
    columns = [list(of) for of in zip(*found, (float(weight.sum()), *total), strict=True)]
    return Prequential(number, *columns)


def _scored(
    rows: Rows,
    labels: Labels,
    model: Callable[[], Model],
    learn: Callable[[slice], object],
    every: int,
) -> Iterator[tuple[float, float, float]]:
    """Yield the weight, log loss and accuracy of each batch, which is learned then."""
    for start in range(0, len(labels), every):
        place = np.arange(start, min(start + every, len(labels)))
        before, right = model(), labels.take(place)
        hit, loss = hits_and_losses(before.posterior(rows.take(place)), before.classes, right)
        weight = right.weights
        total = max(float(weight.sum()), LEAST_WEIGHT)  # of a batch no row may count
        learn(slice(start, start + len(place)))
        yield float(weight.sum()), float(loss @ weight) / total, float(hit @ weight) / total
