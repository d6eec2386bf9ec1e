"""How sure the weights are: their covariance, from the curvature of the loss that they minimise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import MANY_CLASSES
from naively.counting.leave_one_out import Part
from naively.fitting.leave_one_out import LeaveOneOut, linear_evidence
from naively.fitting.sample import Sample
from naively.fitting.weights import (
    BELOW,
    SURE,
    is_one_text,
    numbered,
    on_one_thread,
    penalty_of,
    posterior,
    temperatures_of,
)
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.model.model import Model, Weights
from naively.terms.functions import NOTHING

# --- The covariance of weights and biases --------------------------------------------------------
#
# The weights are those of the least log loss of some rows, and a ridge. Other rows would give other
# weights: their covariance is about the inverse of the second derivatives of loss and ridge at the
# minimum (Laplace's approximation; Bishop, Pattern Recognition and Machine Learning, 2006, section
# 4.5). Weights at 0, where they are held, count as known; of what the linear part adds for a column
# one factor does not, whose own ridge pulls it to 1.


MOST = 4_000  # weights and biases, whose matrix has the square of it
AT_ONCE = 1 << 22  # numbers that are multiplied together


class WeightsCovariance(Frozen):
    """The covariance of the weights and biases of a model."""

    parts: list[Part]  # that have weights
    number: NDArray[np.int64]  # (classes, parts): after those of biases; -1 counts as known
    bias: Floats  # (classes, biases): how much each adds
    root: Floats  # (arguments, arguments): times its own transpose it is their covariance
    of_linear: Mapping[str, float]  # the variance of a factor of what is added for columns

    def variance(self, gradient: Floats, evidence: Floats) -> Floats:
        """Return the variance that weights and biases give a function of the joint, (rows,)."""
        # Its derivatives are of shape (rows, classes), and the evidence without weights, centred
        # over the classes, of shape (parts, rows, classes).
        found, size = np.zeros(len(gradient)), len(self.root)
        some = max(1, AT_ONCE // max(1, size))
        for start in range(0, len(gradient), some):
            of = slice(start, start + some)
            h, z = gradient[of], np.zeros((len(gradient[of]), size))
            z[:, : self.bias.shape[1]] = h @ self.bias
            if (self.number == self.number[0]).all():  # all classes have the same weights
                there = np.flatnonzero(self.number[0] >= 0)
                each = np.einsum("nc,pnc->pn", h, evidence[there, of])
                np.add.at(z.T, self.number[0, there], each)
            else:
                for c, number in enumerate(self.number):
                    there = np.flatnonzero(number >= 0)
                    # Parts that have one weight, such as all columns, add up.
                    np.add.at(z.T, number[there], h[:, c] * evidence[there, of, c])
            moved = z.any(axis=0)
            found[of] = np.square(z[:, moved] @ self.root[moved]).sum(axis=1)
        return found


@on_one_thread()
def weights_covariance(model: Model, sample: Sample) -> WeightsCovariance:
    """Return the covariance of a model's weights, as the sample of the learned rows says."""
    # It takes about as long as to fit the weights. Too many raise a ValueError.
    weights = model.weights
    assert weights is not None
    found = sample.weighed_table(model)
    number, bias, ridge = _arguments(found, weights, float(model.view.rows.sum()))
    if len(ridge) > MOST:
        raise ValueError(
            f"How sure probabilities are is not computed of more than {MOST:,} weights, and the "
            f'model has {len(ridge):,}; learn with weights="temperature" or weights=None.'
        )
    p = posterior(found.joint(replace(weights, linear=NOTHING)))
    curvature = _curvature(found, p, number, bias) + ridge
    root = np.linalg.inv(np.linalg.cholesky(curvature)).T
    return WeightsCovariance(found.parts, number, bias, root, _of_linear(model, sample))


def _of_linear(model: Model, sample: Sample) -> dict[str, float]:
    """Return the variance of a factor of what the linear part adds, by the titles of columns."""
    curvature: dict[str, float] = {}
    for batch in sample.encoded(model):
        p = np.asarray(model.score(batch, "posterior"), np.float64)
        for name, added in linear_evidence(model, [batch]).items():
            varies = (p * added**2).sum(axis=1) - (p * added).sum(axis=1) ** 2
            curvature[name] = curvature.get(name, 1.0) + float(batch.labels.weights @ varies)
    return {name: 1 / of for name, of in curvature.items()}


def _arguments(
    found: LeaveOneOut, weights: Weights, rows: float
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the numbers of weights, what biases add, and the second derivatives of the ridge."""
    # They are as ``WeightsCovariance`` has them; weights at 0 are left out.
    k, kinds = len(found.labels.classes), np.array(found.kinds)
    if k < 2 or not found.parts:
        return np.full((k, len(kinds)), -1), np.zeros((k, 0)), np.zeros((0, 0))
    weight = weights.table(found.parts, found.labels.classes.tolist())
    if weights.how == "temperature" or is_one_text(found):
        # One weight for the columns, and one for the texts; the ridge is of their logarithms.
        of_text, lacks = np.isin(kinds, ["text", "band"]), kinds == "missing"
        number = np.tile(np.where(lacks, -1, of_text.astype(np.int64)), (k, 1))
        size = np.array([weight[of].max(initial=0.0) for of in (~of_text & ~lacks, of_text)])
        held, size = size <= 0, np.where(size > 0, size, 1.0)
        ridge = np.diag(np.array([BELOW, SURE]) / size**2)
        biases, bias = 0, np.zeros((k, 0))
    else:
        free = np.array(found.by_class)
        columns = 1 if k == 2 else k
        number = numbered(free & (columns > 1), columns)
        none = np.zeros((k, 0))
        bias = np.array([[-0.5], [0.5]]) if k == 2 else np.eye(k) if k < MANY_CLASSES else none
        biases = bias.shape[1]
        weight_of_rows = found.labels.weights.sum()
        temperatures = temperatures_of(found, rows)
        penalty = penalty_of(kinds, temperatures, weight_of_rows, free, number, biases)
        ridge = np.diag(penalty.alone)
        for part, more in enumerate(penalty.together):
            own = biases + number[:, part]
            ridge[np.ix_(own, own)] += more
        number = np.broadcast_to(number, (k, len(kinds)))
        held = np.ones(len(ridge) - biases, np.bool_)
        held[number] = weight.T <= 0
    there = np.append(np.ones(biases, np.bool_), ~held)
    place = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)
    number = place[np.where(number < 0, -1, biases + number)]
    return number, bias, ridge[np.ix_(there, there)]


def _curvature(found: LeaveOneOut, p: Floats, number: NDArray[np.int64], bias: Floats) -> Floats:
    """Return the second derivatives of the log loss by biases and weights."""
    # Each row adds the covariance of what the arguments multiply, over the classes by its
    # posterior. ``p`` is of shape (rows, classes).
    size = max(int(number.max(initial=-1)) + 1, bias.shape[1])
    total, rows = np.zeros((size, size)), found.labels.weights
    some = max(1, AT_ONCE // max(1, size))
    for start in range(0, len(p), some):
        of = slice(start, start + some)
        mean = np.zeros((len(p[of]), size))
        for c, numbers in enumerate(number):
            there = np.flatnonzero(numbers >= 0)
            at = np.append(np.arange(bias.shape[1]), numbers[there])
            biases = np.broadcast_to(bias[c], (len(mean), bias.shape[1]))
            z = np.hstack([biases, found.table[there, of, c].T])
            at, one = np.unique(at, return_inverse=True)
            if len(at) < z.shape[1]:  # parts that have one weight add up
                every, z = z, np.zeros((len(z), len(at)))
                np.add.at(z.T, one, every.T)
            else:
                z = z[:, np.argsort(one)]
            share = p[of, c, None]
            total[np.ix_(at, at)] += z.T @ (z * (rows[of, None] * share))
            mean[:, at] += z * share
        total -= mean.T @ (mean * rows[of, None])
    return total
