"""Evidence: what each part of each row says, for the fitting of weights and for honest scores.

Of rows that were learned it is taken as if each had not been: leave-one-out, in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.core.block import Codes, Dense
from naively.core.kernels import Floats
from naively.core.labels import Labels
from naively.core.weights import Part
from naively.data.rows import Rows
from naively.model import Model

IMPOSSIBLE = -700.0
HALF = 0.5  # of a row, for each class, so that a class of one row can be left without it


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log likelihood of each part of each row, under each class.

    Parameters
    ----------
    parts : list of (group, column)
        The column is None where all columns of a group are one.
    centred : list of bool
        Whether the weights of a part may differ by class.
    of_pairs : list of bool
        Whether a part is a pair of columns.
    table : ndarray of shape (parts, rows, classes)
        Log likelihoods, centred over the classes.
    prior : ndarray of shape (rows, classes)
        Log probability of each class before the row is seen.
    labels : Labels
        The right classes, by number among the model's.
    """

    parts: list[Part]
    centred: list[bool]
    of_pairs: list[bool]
    table: Floats
    prior: Floats
    labels: Labels

    @classmethod
    def join(cls, batches: Sequence[Evidence]) -> Evidence:
        """Return the evidence of the rows of all batches."""
        first, *more = batches
        if not more:
            return first
        return cls(
            first.parts,
            first.centred,
            first.of_pairs,
            np.concatenate([batch.table for batch in batches], axis=1),
            np.concatenate([batch.prior for batch in batches]),
            Labels.join([batch.labels for batch in batches]),
        )

    def joint(self, weight: Floats) -> Floats:
        """Return the joint log likelihoods of the rows, with weights of (parts, classes)."""
        joint: Floats = self.prior + np.einsum("pc,pnc->nc", weight, self.table)
        return joint

    def take(self, rows: NDArray[np.int64]) -> Evidence:
        """Return a selection of the rows."""
        return replace(
            self,
            table=self.table[:, rows],
            prior=self.prior[rows],
            labels=self.labels.take(rows),
        )


def evidence(model: Model, rows: Rows, labels: Labels, learned: bool = True) -> Evidence:
    """Return the evidence of labelled rows.

    Parameters
    ----------
    learned : bool, default True
        Whether the model has learned these rows, so that each must be left out.
    """
    labels, blocks = labels.among(model.classes), model.blocks(rows)
    # A row of weight 2 is the row twice, one of which is left out.
    once = replace(labels, weight=None if labels.weight is None else np.minimum(labels.weight, 1))
    parts: list[Part] = []
    centred: list[bool] = []
    tables = [np.zeros((0, len(labels), labels.k))]
    of_pairs: list[bool] = []
    for group in model.schema.groups:
        block, tally = blocks[group.name], model.counts[group.name]
        whole = group.event.joined or not isinstance(block, Dense | Codes)
        columns = [None] if whole else list(tally.axis.columns)
        if learned:
            table = group.event.leave_one_out(tally, block, once)
        else:
            items = model.unweighted_likelihoods[group.name].contributions(block)
            table = np.zeros((len(labels), len(columns), labels.k))
            np.add.at(table, (items.row, items.column * (not whole)), items.value)
        parts += [(group.name, column) for column in columns]
        centred += [model.unweighted_likelihoods[group.name].centres] * len(columns)
        tables.append(table.transpose(1, 0, 2))
        of_pairs += [group.event.beside] * len(columns)
    return Evidence(
        parts,
        centred,
        of_pairs,
        _centred(np.concatenate(tables)),
        _log_prior(model, once, learned),
        labels,
    )


def _centred(table: Floats) -> Floats:
    """Take the mean over the classes off; what is impossible is merely very unlikely."""
    best = table.max(axis=2, keepdims=True)
    table = np.where(np.isneginf(table), np.where(np.isneginf(best), 0.0, best) + IMPOSSIBLE, table)
    table -= table.mean(axis=2, keepdims=True)
    return table


def _log_prior(model: Model, labels: Labels, learned: bool) -> Floats:
    if not learned or model.settings.class_prior != "data":
        return np.tile(np.maximum(model.class_log_prior, IMPOSSIBLE), (len(labels), 1))
    count = model.tally.class_count - labels.one_hot() + HALF
    log_prior: Floats = np.log(count / count.sum(axis=1, keepdims=True))
    return log_prior
