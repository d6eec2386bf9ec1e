"""Fitting the weights: one convex problem on the leave-one-out table.

The posterior is p(c) · exp(bias_c + Σ_j w_jc · evidence_jc). First one weight is fitted for all
parts (a temperature; texts have one of their own), then a weight for each part and class, and a
bias for each class. The mean of a part's weights over the classes is shrunk towards half the
temperature (of an interaction, and of what missing cells say, towards 0; of the words of a text
towards the whole temperature), the weights are shrunk towards their mean, and the biases towards 0,
each by a ridge. Both fits minimise the log loss of rows whose own counts were left out, so that no
rows have to be held back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.evaluation.passes import Passes
from naively.evaluation.penalised import Penalty, least
from naively.evaluation.search import root
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.model.weights import Weights
from naively.options import Weighting

RIDGE = 5.0  # twice the log loss, in nats, of a mean weight that is 1 off the centre
OF_INTERACTIONS = 10.0  # as RIDGE, of an interaction, whose centre is 0
OF_MISSING = 10.0  # as RIDGE, of what a missing cell says, whose centre is 0, of many rows;
FEW = 500  # rows: with so few it is twice that
APART = 10.0  # as RIDGE, of a class's weight that is 1 off the mean
BIAS = 5.0  # as RIDGE, of a class's bias
OF_TEXTS = 0.5  # as RIDGE, of words of a text, whose weights are in units of its temperature
TEXTS_APART = 3.0  # as APART, of words of a text, in the same units
CENTRE = 0.5  # times the temperature: columns that repeat each other share their weight
SURE = 1.0  # as RIDGE, of the logarithm of the temperature
RANGE = (-5.0, 3.0)  # of that logarithm,
WITHIN = 1e-4  # which is as exact
STEPS = 200  # of the search for weights
TOLERANCE = 2e-9  # of the loss, relative to it, that another step must gain
ROWS = 10_000  # weights of so many rows are as good as those of all rows
OF_ONE = 500  # rows of each class that are as good for a single weight
CELLS = 20_000_000  # the most numbers in a leave-one-out table
BANDS = 16  # that a text has, about


class SampleSize(NamedTuple):
    """How large a sample of rows is, and why no larger.

    Parameters
    ----------
    rows : int
        How many different rows of the least keys are in use.
    kept : int
        How many are kept, so that a later sample can be drawn from them.
    share : float
        Rows whose key is in this share of all keys, from the least, are kept as well; interactions
        use them.
    why : str
        Why no more.
    """

    rows: int
    kept: int
    share: float
    why: str


def sample_size(model: Model, seen: float) -> SampleSize:
    """Return how many of the rows seen are enough, or as many as memory allows.

    From ``ROWS`` on a larger sample of a table, on which interactions are fitted, grows with the
    logarithm of the rows; it has ``ROWS`` where many columns and classes leave fewer for weights.
    The share of keys falls with every row, and with more classes and columns fewer rows are kept,
    so that sampling batch by batch gives the sample of all rows.
    """
    parts, k = count_parts(model), len(model.classes)
    possible = CELLS // max(1, parts * k)
    kept = min(ROWS, max(100, possible))
    if parts == 1 and OF_ONE * k <= kept:
        why = f"{OF_ONE} for each class are enough for one weight"
        return SampleSize(OF_ONE * k, kept, 0.0, why)
    has_texts = any(group.analyser for group in model.schema.groups)
    share = 0.0
    if kept < ROWS:
        if not has_texts:
            share = min(1.0, ROWS / max(seen, 1.0), CELLS / max(1.0, parts * seen))
        why = f"as many as memory is for, with {parts:,} weights of {k:,}"
        return SampleSize(kept, kept, share, why)
    if seen > ROWS and not has_texts:
        share = min(ROWS * (1 + np.log(seen / ROWS)), possible) / seen
    return SampleSize(kept, kept, share, "enough for the weights")


def count_parts(model: Model) -> int:
    """Return about how many weights each class has, one for each part of the evidence."""
    return sum(
        BANDS if g.analyser and g.analyser.binary else 1 if g.event.joined else len(g.columns)
        for g in model.schema.groups
    )


def fit(found: LeaveOneOut, kind: Weighting, rows: float) -> Weights:
    """Fit a weight for each part and class ("loo"), or one for all parts ("temperature").

    ``rows`` is how many rows the model has learned.
    """
    classes = tuple(found.labels.classes.tolist())
    none = (0.0,) * len(classes)
    if found.labels.k < 2 or not found.parts:
        return Weights(classes, {}, none, 1.0, rows, kind)
    kinds = np.array(found.kinds)
    temperatures = np.zeros(len(kinds))  # the temperature of each part
    texts = np.isin(kinds, ["text", "band"])
    for of in (kinds == "column", texts):
        if of.any():
            joint = np.einsum("p,pnc->nc", of.astype(np.float64), found.table)
            temperatures[of] = temperature(joint, found.prior, found.labels)
    usual = float(temperatures[kinds == "column"].max(initial=0.0)) or 1.0
    # With two classes a text alone has no bias: it would decide texts without a known word.
    if kind == "temperature" or (found.kinds == ["text"] and len(classes) == 2):
        # A text has a temperature of its own; interactions, which have none, get the weight 0.
        own = {
            part: (float(t),) * len(classes)
            for part, t, of in zip(found.parts, temperatures, kinds, strict=True)
            if of != "column"
        }
        return Weights(classes, own, none, usual, rows, kind)
    weight, bias = ridge(found, _shrinkage(kinds, temperatures, found.labels.weights.sum()))
    by_part = dict(zip(found.parts, map(tuple, weight.tolist()), strict=True))
    return Weights(classes, by_part, tuple(bias.tolist()), CENTRE * usual, rows, kind)


@dataclass(frozen=True)
class Shrinkage:
    """How the weights of each part are shrunk, by ridges; each array is of shape (parts,).

    Parameters
    ----------
    centre : ndarray
        What the mean of a part's weights over the classes is shrunk towards.
    strength : ndarray
        The ridge of the mean: twice the log loss, in nats, of a mean that is 1 off the centre.
    apart : ndarray
        The ridge of the weights of the classes around their mean.
    """

    centre: Floats
    strength: Floats
    apart: Floats


def _shrinkage(kinds: NDArray[np.str_], temperatures: Floats, rows: float) -> Shrinkage:
    """Return the ridges of parts of these kinds and temperatures, both of shape (parts,)."""
    texts = np.isin(kinds, ["text", "band"])
    square = np.square(np.where(texts, np.maximum(temperatures, 1e-3), 1.0))
    interactions, missing = kinds == "interaction", kinds == "missing"
    beside = interactions | missing
    return Shrinkage(
        centre=np.select([beside, texts], [0.0, temperatures], CENTRE * temperatures),
        strength=np.select(
            [interactions, missing, texts],
            [OF_INTERACTIONS, OF_MISSING * (1 + FEW / rows), OF_TEXTS / square],
            RIDGE,
        ),
        apart=np.where(texts, TEXTS_APART / square, APART),
    )


def temperature(joint: Floats, prior: Floats, labels: Labels) -> float:
    """Return the one weight of ``joint`` that has the least log loss, shrunk towards 1.

    ``joint``, the summed evidence, and ``prior`` are of shape (rows, classes).
    """
    none = np.empty((0, len(prior)))
    passes = Passes.of(prior.T, labels, none, joint.T[:, None], free=np.zeros(1, np.bool_))

    def slope(log_weight: float) -> float:
        """Return the derivative of the loss by the logarithm of the weight."""
        weight = np.exp(log_weight)
        return float(weight * passes.loss(np.array([weight]))[1][0] + SURE * log_weight)

    return float(np.exp(root(slope, *RANGE, near=0.0, within=WITHIN)))


def ridge(found: LeaveOneOut, shrinkage: Shrinkage) -> tuple[Floats, Floats]:
    """Return weights (parts, classes) at least 0 and biases (classes,) of least penalised loss."""
    k = found.labels.k
    one = np.ones((1, len(found.prior)))
    # In one order, whatever that of the columns is: rounding then stops the search at one place.
    order = np.lexsort(np.sort(found.table.sum(axis=1), axis=1).T)
    free = np.array(found.by_class)[order]
    evidence = found.table.transpose(2, 0, 1)
    passes = Passes.of(found.prior.T, found.labels, one, evidence, free=free, order=order)
    biases = passes.slopes
    # Of two classes, whose biases add up to 0, the bias is the difference of the two.
    of_bias = BIAS / 2 if k == 2 else BIAS
    centre, strength, apart = (
        of[order] for of in (shrinkage.centre, shrinkage.strength, shrinkage.apart)
    )
    # Of the squares of a mean off the centre, and of weights beside the mean, is made one of each
    # weight off the centre, and one of what they add up to.
    columns = len(passes.number)
    each = free & (columns > 1)
    alone, middle = (np.zeros(biases + passes.weights) for _ in range(2))
    alone[:biases] = of_bias
    alone[biases:][passes.number] = np.where(each, apart, strength)
    middle[biases:][passes.number] = centre
    together = np.where(each, strength / columns**2 - apart / columns, 0.0)
    x = least(
        passes,
        Penalty(alone, together, middle),
        middle,
        passes.curvature,
        steps=STEPS,
        tolerance=TOLERANCE,
    )
    bias, weight = x[:biases], passes.split(x)[1].T[np.argsort(order)]
    if k == 2:
        return np.repeat(weight, 2, axis=1), np.outer([-0.5, 0.5], bias)[:, 0]
    return weight, bias
