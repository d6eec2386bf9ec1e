"""The weights: one for each part of the evidence and class, and a bias a class, with a ridge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import MANY_CLASSES, LabelArray, Labels
from naively.fitting.leave_one_out import LeaveOneOut
from naively.fitting.search import BELOW, SURE, Passes, Penalty, least, temperature
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.model.weights import Weights
from naively.options import Weighting

# --- Fitting the weights: one convex problem on the leave-one-out table --------------------------
#
# The posterior is p(c) · exp(bias_c + Σ_j w_jc · evidence_jc). First one weight is fitted for all
# parts (a temperature; texts have one of their own), then a weight for each part and class, and a
# bias for each class. The mean of a part's weights over the classes is shrunk towards half the
# temperature (of what missing cells say towards 0; of the words of a text towards the whole
# temperature), the weights are shrunk towards their mean, and the biases towards 0, each by a
# ridge. Both fits minimise the log loss of rows whose own counts were left out, so
# that no rows have to be held back.
#
# Of many classes there are too few rows to tell their weights apart, and a table of all classes has
# few rows: each part has one weight for all, and there are no biases.


RIDGE = 5.0  # twice the log loss, in nats, of a mean weight that is 1 off the centre
OF_MISSING = 10.0  # as RIDGE, of what a missing cell says, whose centre is 0, of many rows;
FEW = 500  # rows: with so few it is twice that
APART = 10.0  # as RIDGE, of a class's weight that is 1 off the mean
BIAS = 5.0  # as RIDGE, of a class's bias
OF_TEXTS = 0.5  # as RIDGE, of words of a text, whose weights are in units of its temperature
TEXTS_APART = 3.0  # as APART, of words of a text, in the same units
CENTRE = 0.5  # times the temperature: columns that repeat each other share their weight
FEW_PARTS = 10  # of the evidence, from which on more have stronger ridges
STEPS = 200  # of the search for weights
TOLERANCE = 2e-9  # of the loss, relative to it, that another step must gain
ROUGH = 1e-5  # as TOLERANCE, of weights by which no more than a number of functions is chosen
ROWS = 10_000  # weights of so many rows are as good as those of all rows
CELLS = 20_000_000  # the most numbers in a leave-one-out table
FEWER = 4_000_000  # as CELLS, of many classes
LEAST_ROWS = 100  # of a sample and a table, however large that is


def rows_at_once(model: Model) -> int:
    """Return how many rows a leave-one-out table may have."""
    k = len(model.classes)
    cells = CELLS if k < MANY_CLASSES else FEWER
    return max(LEAST_ROWS, cells // max(1, model.view.schema.n_parts * k))


def fit(
    found: LeaveOneOut,
    kind: Weighting,
    rows: float,  # that the model has learned
    near: Weights | None = None,  # of the same parts, at which the search begins
    tolerance: float = TOLERANCE,
) -> Weights:
    """Fit a weight for each part and class ("loo"), or one for all parts ("temperature")."""
    # They are at least 0 and, with the biases, of the least penalised loss.
    k, kinds = len(found.labels.classes), np.array(found.kinds)
    classes = tuple(found.labels.classes.tolist())
    none = (0.0,) * len(classes)
    if k < 2 or not found.parts:
        return Weights(classes, {}, none, 1.0, rows, kind)
    temperatures = temperatures_of(found, rows)
    usual = float(temperatures[kinds == "column"].max(initial=0.0)) or 1.0
    if kind == "temperature" or is_one_text(found):
        # A text has a temperature of its own; what missing cells say has none, and the weight 0.
        own = {
            part: (float(t),) * len(classes)
            for part, t, of in zip(found.parts, temperatures, kinds, strict=True)
            if of != "column"
        }
        return Weights(classes, own, none, usual, rows, kind)
    one = np.ones((int(k < MANY_CLASSES), len(found.prior)))
    # In one order, whatever that of the columns is: rounding then stops the search at one place.
    order = np.lexsort(np.sort(found.table.sum(axis=1), axis=1).T)
    free, evidence = np.array(found.by_class)[order], found.table.transpose(2, 0, 1)
    passes = Passes.of(found.prior.T, found.labels, one, evidence, free=free, order=order)
    number, biases = passes.number, passes.slopes
    weight = found.labels.weights.sum()
    penalty = penalty_of(kinds[order], temperatures[order], weight, free, number, biases)
    start = penalty.centre.copy()
    if near is not None:
        bias, by_part = near.bias_of(classes), near.table(found.parts, classes)[order].T
        start[:biases] = bias[1] - bias[0] if k == 2 else bias[:biases]
        start[biases:][number] = by_part[:1] if k == 2 else by_part
    x = least(passes, penalty, start, passes.curvature, steps=STEPS, tolerance=tolerance)
    bias, by_part = np.zeros(k), x[biases:][number].T[np.argsort(order)]
    if biases and k == 2:
        bias, by_part = x[:1] * [-0.5, 0.5], np.repeat(by_part, 2, axis=1)
    elif biases:
        bias = x[:biases]
    of = dict(zip(found.parts, map(tuple, by_part.tolist()), strict=True))
    return Weights(classes, of, tuple(bias.tolist()), CENTRE * usual, rows, kind)


def is_one_text(found: LeaveOneOut) -> bool:
    """Whether all evidence is of one text, and has a temperature alone."""
    # With two classes such a text has no bias: it would decide texts without a known word.
    return found.kinds == ["text"] and len(found.labels.classes) == 2


def temperatures_of(found: LeaveOneOut, rows: float) -> Floats:
    """Return the temperature of each part, (parts,): of columns, of texts, and 0 of what lacks."""
    kinds = np.array(found.kinds)
    temperatures = np.zeros(len(kinds))
    texts = np.isin(kinds, ["text", "band"])
    for of, below in ((kinds == "column", BELOW), (texts, SURE)):
        if of.any():
            joint = np.einsum("p,pnc->nc", of.astype(np.float64), found.table)
            temperatures[of] = temperature(joint, found.prior, found.labels, rows, below)
    return temperatures


def loss_of_one_weight(found: LeaveOneOut) -> float:
    """Return the log loss, in nats per row, if all evidence has one weight, a temperature."""
    joint = found.table.sum(axis=0)
    weight = temperature(joint, found.prior, found.labels, float(found.labels.weights.sum()))
    joint = found.prior + weight * joint
    return log_loss(p_right(joint, found.labels), found.labels.weight)


def penalty_of(
    kinds: NDArray[np.str_],  # (parts,)
    temperatures: Floats,  # (parts,)
    rows: float,
    free: NDArray[np.bool_],  # (parts,): which have a weight for each class
    number: NDArray[np.int64],  # (columns, parts): of each weight; two classes have one column
    biases: int,  # before the weights
) -> Penalty:
    """Return what shrinks biases and weights, as one sum of squares."""
    # Of the squares of a mean off the centre, and of weights beside the mean, is made one of each
    # weight off the centre, and one of what they add up to.
    texts, missing = np.isin(kinds, ["text", "band"]), kinds == "missing"
    # A sum of many parts is off by more than one of few where each is off as much.
    many = max(1.0, np.sqrt(len(kinds) / FEW_PARTS))
    square = np.square(np.where(texts, np.maximum(temperatures, 1e-3), 1.0))
    centre = np.select([missing, texts], [0.0, temperatures], CENTRE * temperatures)
    of_missing, of_texts = OF_MISSING * many * (1 + FEW / rows), OF_TEXTS / square
    of_mean = np.select([missing, texts], [of_missing, of_texts], RIDGE * many)
    apart = np.where(texts, TEXTS_APART / square, APART * many)
    columns = len(number)
    each = free & (columns > 1)
    alone, middle = (np.zeros(biases + int(number.max(initial=-1)) + 1) for _ in range(2))
    # Of two classes, whose biases add up to 0, the bias is the difference of the two.
    alone[:biases] = BIAS / 2 if columns == 1 else BIAS
    alone[biases:][number] = np.where(each, apart, of_mean)
    middle[biases:][number] = centre
    together = of_mean / columns**2 - apart / columns
    return Penalty(alone, np.where(each, together, 0.0), middle)


# --- Losses of posteriors: the log loss, and the share of right answers --------------------------


LEAST = 1e-15  # the log loss clips probabilities here, so that no row has an infinite loss


def accuracy_and_log_loss(p: Floats, learned: LabelArray, labels: Labels) -> tuple[float, float]:
    """Return two of the scores of posteriors, (rows, learned classes), and no other."""
    hit, loss = hits_and_losses(p, learned, labels)
    return mean(hit, labels.weight), mean(loss, labels.weight)


def hits_and_losses(p: Floats, learned: LabelArray, labels: Labels) -> tuple[Floats, Floats]:
    """Return whether each answer is right, and its log loss, of posteriors, (rows, classes)."""
    # The classes of the labels need not be those that were learned.
    place = {label: i for i, label in enumerate(learned.tolist())}
    places = np.array([place.get(label, -1) for label in labels.classes.tolist()], np.int64)
    right = places[labels.codes]
    of_right = np.where(right < 0, 0.0, p[np.arange(len(p)), right])
    hit: Floats = (p.argmax(axis=1) == right).astype(np.float64)
    return hit, loss_of(of_right)


def log_loss(p_right: Floats, weight: Floats | NDArray[np.int64] | None = None) -> float:
    """Return the mean of -log p(right class), (rows,), with p clipped at 1e-15, in nats per row."""
    return mean(loss_of(p_right), weight)


def loss_of(p_right: Floats) -> Floats:
    """Return -log p(right class) of each row, with p clipped at 1e-15, in nats."""
    loss: Floats = -np.log(np.clip(p_right, LEAST, 1.0))
    return loss


def p_right(joint: Floats, labels: Labels) -> Floats:
    """Return the posterior of the right class, (rows,), from joint log likelihoods, (rows, k)."""
    right = joint[np.arange(len(joint)), labels.codes]
    return np.asarray(np.exp(right - np.logaddexp.reduce(joint, axis=1)))


def posterior(joint: Floats) -> Floats:
    """Return the posteriors, (rows, classes), from joint log likelihoods of the same shape."""
    return np.asarray(np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)))


def mean(values: Floats, weight: Floats | NDArray[np.int64] | None) -> float:
    """Return the mean of values, (rows,), by the weight of the rows."""
    return float(values.mean() if weight is None else np.average(values, weights=weight))
