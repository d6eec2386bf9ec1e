"""Choosing interactions: the pairs of columns that would lower the log loss most.

For each pair the sample gives the leave-one-out evidence of its bins. The evidence's gradient and
curvature at the current posteriors tell how much log loss a weight for it would save, ridge
included. Of many pairs some save by chance; how much is enough is tried on rows that are held out.
Only the chosen pairs are counted over all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.evaluation.calibrate import CELLS, OF_INTERACTIONS
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.evaluation.losses import log_loss
from naively.evaluation.reservoir import Sample
from naively.events.lift import Lift, log_lift_without
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.derived import Bins, Interaction, LevelBins, NumberBins, Source, TimePart
from naively.schema.held import Held

FEWEST = 300  # with fewer rows no pair is worth its counts
BINS = 0.6  # of a column of numbers, for each cube root of the rows
FEW, MANY = 4, 12  # bins, at least and at most
LEVELS = 11  # of a column of categories that have a bin; all others share one
COLUMNS = 100  # the most that pairs are made of
SHARE = 3  # pairs for each column, at most
# Nats of log loss that a pair must save on the sample: chance alone saves some, and more with many
# columns, so that the one of these is taken that predicts held-out rows best.
GAINS = (8.0, 2.0)
THIRDS = 3


@dataclass(frozen=True)
class Candidates:
    """Interactions that may be worth counting, in descending order of gain.

    Parameters
    ----------
    columns : list of Interaction
        The interactions.
    gains : list of float
        How many nats of log loss each would save on the sample, by leave-one-out.
    """

    columns: list[Interaction]
    gains: list[float]

    def worth(self, least: float) -> list[Interaction]:
        """Return the interactions that save more than ``least`` nats."""
        return self.columns[: sum(gain > least for gain in self.gains)]


def add_interactions(
    model: Model, sample: Sample, all_rows: Iterable[Batch] | None = None, most: int | None = None
) -> Model:
    """Return the model with the interactions that are worth counting, and all weights fitted anew.

    Parameters
    ----------
    model : Model
        The model of the columns alone, with their weights.
    sample : Sample
        A sample of the rows that the model has learned.
    all_rows : iterable of Batch, optional
        All rows that the model has learned, to count interactions on; by default the sample.
    most : int, optional
        How many interactions at most; by default as many as predict a held-out third of the sample
        best.
    """
    return with_interactions(model, choose(model, sample, most).columns, sample, all_rows)


class Chosen(NamedTuple):
    """The interactions that are worth counting; of none, why."""

    columns: list[Interaction]
    why: str = ""


def choose(model: Model, sample: Sample, most: int | None = None) -> Chosen:
    """Choose the interactions that are worth counting (see ``add_interactions``)."""
    if len(model.classes) < 2:
        return Chosen([], "there is only one class")
    if len(sample) < FEWEST:
        return Chosen([], f"{len(sample):,} rows are too few, it takes {FEWEST}")
    able = sum(
        len(g.columns) for g in model.schema.of_columns if not g.analyser and not g.event.joined
    )
    if able < 2:
        return Chosen(
            [], "pairs are made of columns, and not of words of texts or of bags of counts"
        )
    found = screen(model, sample)
    columns, least = found.columns[:most], min(GAINS)
    if not columns:
        return Chosen([], f"no pair saves more than {least:g} nats of log loss on the sample")
    if most is None:
        columns = found.worth(_least_gain(model, sample))
    why = f"no pair that saves more than {least:g} nats of log loss predicts held-out rows better"
    return Chosen(columns, "" if columns else why)


def with_interactions(
    model: Model,
    columns: list[Interaction],
    sample: Sample,
    all_rows: Iterable[Batch] | None = None,
) -> Model:
    """Return the model with interactions, counted on all rows or else on the sample."""
    if not columns:
        return model
    more = model.with_interactions(columns, sample.batches if all_rows is None else all_rows)
    return replace(more, weights=sample.weights(more, "loo"))


def _least_gain(model: Model, sample: Sample) -> float:
    """Return the least gain of a pair with which a held-out third of rows is predicted best."""
    labels = sample.labels
    copies, third = sample.copies, sample.deal(THIRDS)[:, 0]
    third[np.bincount(labels.codes, copies - third, labels.k)[labels.codes] == 0] = 0
    held_out, others = sample.keep(third), sample.keep(copies - third)
    rest = held_out.less(replace(model, weights=None))
    rest = replace(rest, weights=others.weights(rest, "loo"))
    found = screen(rest, others)
    codes = held_out.labels.among(rest.classes).codes

    def loss(least: float) -> float:
        p = held_out.posterior(with_interactions(rest, found.worth(least), others))
        return log_loss(p[np.arange(len(codes)), codes], held_out.copies)

    return min((np.inf, *GAINS), key=loss)


def screen(model: Model, sample: Sample) -> Candidates:
    """Return the pairs of columns that save most, by leave-one-out on the sample."""
    assert model.weights is not None
    found = sample.leave_one_out(model)
    classes = model.classes.tolist()
    weight = model.weights.table(found.parts, classes)
    columns = _columns(found, weight)
    held = [Held(model.recode(batch)) for batch in sample.batches]
    bins = [_bins(held, name) for name in columns]
    codes = [np.concatenate([of.codes(batch) for batch in held]) for of in bins]
    gains = _gains(bins, codes, found, weight, model.weights.bias_of(classes))
    most = min(SHARE * len(columns), max(0, CELLS // found.prior.size - len(found.parts)))
    best = sorted(((gain, pair) for pair, gain in gains.items() if gain > min(GAINS)), reverse=True)
    chosen = [Interaction(bins[i], bins[j]) for _, (i, j) in best[:most]]
    return Candidates(chosen, [gain for gain, _ in best[:most]])


def _columns(found: LeaveOneOut, weight: Floats) -> list[Source]:
    """Return the columns that pairs may be of: if there are many, those of most evidence."""
    parts = enumerate(zip(found.parts, found.kinds, strict=True))
    of = [
        (i, part.column)
        for i, (part, kind) in parts
        if kind == "column" and isinstance(part.column, str | int | TimePart)
    ]
    if len(of) > COLUMNS:
        evidence = np.einsum("pc,pnc->p", weight, np.abs(found.table))
        of = sorted(sorted(of, key=lambda part: -evidence[part[0]])[:COLUMNS])
    return [column for _, column in of]


def _bins(held: list[Held], name: Source) -> Bins:
    """Cut a column into bins: its commonest levels, or about equally many numbers in each."""
    if any(name in batch.coded for batch in held):
        seen: Counter[Any] = Counter()
        for batch in held:
            seen.update(batch.count_levels(name))
        return LevelBins(name, tuple(level for level, _ in seen.most_common(LEVELS)))
    return NumberBins(name, _edges(np.concatenate([batch.number(name) for batch in held])))


def _edges(numbers: NDArray[np.floating]) -> tuple[float, ...]:
    """Return the least number of each bin but the first, ascending."""
    there = np.sort(numbers[~np.isnan(numbers)]).astype(np.float64)
    if not len(there):
        return ()
    starts = np.unique(there)
    bins = int(np.clip(round(BINS * len(there) ** (1 / 3)), FEW, MANY))
    if len(starts) > bins:
        starts = np.unique(there[np.arange(bins) * len(there) // bins])
    return tuple(starts[starts > there[0]].tolist())


def _gains(
    bins: list[Bins],
    codes: list[NDArray[np.int64]],
    found: LeaveOneOut,
    weight: Floats,
    bias: Floats,
) -> dict[tuple[int, int], float]:
    """Return how many nats of log loss the evidence of each pair would save on the sample.

    Parameters
    ----------
    bins : list of NumberBins or LevelBins
        The bins of each column.
    codes : list of ndarray of shape (rows,)
        The bin of each row, by column.
    found : LeaveOneOut
        The evidence of the columns.
    weight : ndarray of shape (parts, classes)
        The weights of the evidence.
    bias : ndarray of shape (classes,)
        The biases of the classes.
    """
    joint = found.joint(weight) + bias
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    right, k = found.labels.codes, found.labels.k
    rows = found.labels.weights
    residual = found.labels.one_hot() - p * rows[:, None]
    p_rows = p * rows[:, None]
    m = Lift().m
    gains = {}
    for i, j in combinations(range(len(bins)), 2):
        n_a, n_b = bins[i].size, bins[j].size
        cell = (codes[i] * n_b + codes[j]) * k + right
        count = np.bincount(cell, found.labels.weight, n_a * n_b * k).astype(np.float64)
        there = np.flatnonzero(count)
        place = np.empty(len(count), np.int64)
        place[there] = np.arange(len(there))
        both, c = np.divmod(there, k)
        of = log_lift_without(count.reshape(n_a, n_b, k), both, c, np.ones(len(both)), m)
        evidence = of[place[cell]]
        gradient = np.einsum("nk,nk->", residual, evidence)
        if gradient <= 0:
            continue
        mean = np.einsum("nk,nk->n", p, evidence)
        curve = np.einsum("nk,nk,nk->", p_rows, evidence, evidence) - (rows * mean) @ mean
        gains[i, j] = float(gradient**2 / (2 * (curve + OF_INTERACTIONS)))
    return gains
