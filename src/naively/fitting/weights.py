"""Weights and slopes: convex problems on leave-one-out evidence, and how their minima are found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import MANY_CLASSES, LabelArray, Labels
from naively.fitting.leave_one_out import LeaveOneOut
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.kernels.search import BLOCK, Loss, Singles, shortened
from naively.model.model import Model, Weights
from naively.options import Weighting

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

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
# Many classes have too few rows to tell their weights apart, and a table of all classes has few
# rows: each part then has one weight for all, and there are no biases.


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
    # The squares of a mean off the centre, and of weights beside the mean, add up to a square of
    # each weight off the centre, and one of their sum.
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
    # The biases of two classes add up to 0, and their difference is the one that is fitted.
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
    return np.asarray(-np.log(np.clip(p_right, LEAST, 1.0)))


def losses_of(joint: Floats, right: NDArray[np.integer]) -> Floats:
    """Return the log loss of each row, (rows,), in nats, from joint log likelihoods, unclipped."""
    return np.asarray(np.logaddexp.reduce(joint, axis=1) - joint[np.arange(len(joint)), right])


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


# --- The slopes and weights of the least log loss and penalty: what all searches have in common ---


SMALL = 2_000_000  # rows and half of the arguments, times squared arguments: for Newton's method


class Penalty(NamedTuple):
    """What shrinks slopes and weights: half a sum of squares."""

    alone: Floats  # (arguments,): times the square of each argument less its centre
    together: Floats  # (parts,): times that of what these differences add up to over its weights
    centre: Floats  # (arguments,): what each is shrunk towards


def least(
    passes: Passes,
    penalty: Penalty,
    start: Floats,  # (arguments,)
    curvature: Callable[[Floats], Curvature],  # of the log loss; small problems need none
    *,
    steps: int,
    tolerance: float,
    again: bool = True,
) -> Floats:
    """Return slopes, and weights that are at least 0, of the least log loss and penalty."""
    labels, slopes, number = passes.labels, passes.slopes, passes.number
    alone, together, centre = penalty
    if (len(labels.codes) + len(start) / 2) * len(start) ** 2 <= SMALL:
        tables = passes.start, passes.shared, passes.own, number
        return dispatch.minimise_softmax(
            *tables, labels.codes, labels.weight, start, *penalty, steps, tolerance
        )

    def penalised(x: Floats) -> tuple[float, Floats]:
        loss, gradient = passes.loss(x)
        off = x - centre
        more = alone * off
        twice = float(more @ off)
        if together.any():
            of_part = passes.split(off)[1].sum(axis=0)
            each = np.broadcast_to(together * of_part, number.shape)
            more[slopes:] += np.bincount(number.ravel(), each.ravel(), passes.weights)
            twice += float(together @ of_part**2)
        return loss + twice / 2, gradient + more

    diagonal = alone.copy()
    diagonal[slopes:][number] += together
    return minimise(
        penalised,
        start,
        np.arange(len(start)) >= slopes,
        lambda x: curvature(x).plus(diagonal),
        steps=steps,
        tolerance=tolerance,
        again=again,
    )


# --- One thread for the linear algebra of small problems -----------------------------------------
#
# The searches of weights and slopes multiply matrices of some thousand rows many hundred times.
# More threads do not pay there, and where other programs keep the processors busy they wait for
# each other: on a busy machine of two cores a fit took eight times as long with two threads as
# with one. The first caller sets one thread, and the last one sets back what there was.


_LOCK, _BACK = Lock(), ExitStack()
_INSIDE: list[None] = []  # as many as are inside


@cache
def _controller() -> ThreadpoolController:
    """Return what sets the number of threads; to find the libraries takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Let the linear algebra of a function, or a block, run on one thread."""
    with _LOCK:
        if not _INSIDE:
            _BACK.enter_context(_controller().limit(limits=1, user_api="blas"))
        _INSIDE.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                _BACK.close()


# --- The least of a convex function, some of whose arguments may not be negative -----------------
#
# A quasi-Newton search (L-BFGS: Nocedal & Wright, Numerical Optimization, 2006, section 7.2) that
# begins with an estimate of the curvature rather than with none, so that few passes over the rows
# are enough. Arguments at 0 that would fall below it rest for a step, and a step ends where it
# meets 0 (Bertsekas, Projected Newton methods for optimization problems with simple constraints,
# 1982).


MEMORY = 12  # steps that are remembered
AGAIN = 3  # steps, after which the curvature is estimated again: it is another by then


class Curvature(ABC):
    """The second derivatives of a function, about."""

    @abstractmethod
    def plus(self, diagonal: Floats) -> Curvature:
        """Return it with more on the diagonal, of shape (arguments,)."""

    @abstractmethod
    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        """Return what multiplies by the inverse of the free arguments' matrix.

        The vectors that it multiplies are 0 elsewhere.
        """


def minimise(
    loss: Loss,
    start: Floats,
    bounded: NDArray[np.bool_],  # which arguments may not be negative
    curvature: Callable[[Floats], Curvature],  # the better it is estimated, the fewer steps
    *,
    steps: int,
    tolerance: float,  # of the loss, the least share that a step must gain
    again: bool = True,  # whether the curvature is estimated a second time, some steps later
) -> Floats:
    """Return the arguments of least loss."""
    least = np.where(bounded, 0.0, -np.inf)
    every = np.ones(len(start), np.bool_).tobytes()  # if all are free
    x = np.maximum(start, least)
    value, gradient = loss(x)
    remembered: list[Remembered] = []
    last: tuple[bytes, Callable[[Floats], Floats]] | None = None
    current = curvature(x)
    for n in range(steps):
        if again and n == AGAIN:
            current, remembered, last = curvature(x), [], None
        free = (x > least) | (gradient <= 0)
        key = free.tobytes()
        if last is None or last[0] != key:
            last = key, current.inverse(free)
        if key == every:
            way = -_newton(gradient, remembered, last[1])
        else:
            some = [Remembered.of(one.step * free, one.change * free) for one in remembered]
            way = -_newton(gradient * free, some, last[1])
        if -way.dot(gradient) / 2 < tolerance * abs(value):
            break
        found = shortened(loss, x, value, gradient, way, least)
        if found is None:
            if not remembered:
                break
            remembered = []
            continue
        new, new_value, new_gradient = found
        remembered = [*remembered, Remembered.of(new - x, new_gradient - gradient)][-MEMORY:]
        gain, x, value, gradient = value - new_value, new, new_value, new_gradient
        if gain < tolerance * abs(value) / 10:
            break
    return x


class Remembered(NamedTuple):
    """A step, how the gradient changed along it, and the product of the two."""

    step: Floats
    change: Floats
    curve: float

    @classmethod
    def of(cls, step: Floats, change: Floats) -> Remembered:
        return cls(step, change, float(step.dot(change)))


def _newton(
    gradient: Floats, remembered: Sequence[Remembered], inverse: Callable[[Floats], Floats]
) -> Floats:
    """Return the inverse of the second derivatives, as remembered steps say, times a gradient."""
    convex = [one for one in remembered if one.curve > 0]
    left, parts = gradient, []
    for s, y, curve in reversed(convex):
        part = float(s.dot(left)) / curve
        left = left - part * y
        parts.append(part)
    found = inverse(left)
    if convex:  # the estimate is as large as the last step says
        _, y, curve = convex[-1]
        found *= curve / float(y.dot(inverse(y)))
    for (s, y, curve), part in zip(convex, reversed(parts), strict=True):
        found += (part - float(y.dot(found)) / curve) * s
    return found


# --- The second derivatives of the log loss, about: as blocks, or as a product of two matrices ---
#
# An estimate need not be exact, as it only tells a search where to go; what it leaves out costs
# steps. The curvature of the joint log likelihoods of a row with posteriors p is diag(p) - p pᵀ.


TINY = 1e-300
AT_ONCE = 2_000_000  # numbers of matrices that are inverted together
SINGLE = 1e-7  # of numbers in single precision


class Blocks(Curvature, Frozen):
    """Matrices along the diagonal."""

    at: NDArray[np.int64]  # (alike, size): the arguments of each block, among all
    matrix: Floats  # (alike, size, size)

    def plus(self, diagonal: Floats) -> Blocks:
        matrix = self.matrix.copy()
        np.einsum("bii->bi", matrix)[:] += diagonal[self.at]
        return Blocks(self.at, matrix)

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        whole, of = self._whole, free[self.at]
        # The active set is held by Lagrange multipliers (Schur complement): they undo the steps
        # of the arguments in it. A block with fewer active ones than others is padded with free
        # arguments, whose multipliers are 0.
        most = int((~of).sum(axis=1).max(initial=0))
        block, held = np.arange(len(of))[:, None], np.argsort(of, axis=1, kind="stable")[:, :most]
        rests = ~of[block, held]
        some = whole[block[:, :, None], held[:, :, None], held[:, None]]
        some *= rests[:, :, None] & rests[:, None]
        np.einsum("bii->bi", some)[~rests] = 1.0
        forces = np.linalg.inv(some)

        def times(vector: Floats) -> Floats:
            found, force = np.zeros(len(vector)), vector[self.at]
            step = whole @ force[:, :, None]
            if most:
                force[block, held] -= (forces @ (step[block, held] * rests[:, :, None]))[:, :, 0]
                step = whole @ force[:, :, None]
            found[self.at] = step[:, :, 0] * of
            return found

        return times

    @cached_property
    def _whole(self) -> Floats:
        """The inverse of each matrix, (alike, size, size)."""
        found = np.empty_like(self.matrix)
        size = max(1, AT_ONCE // max(1, self.matrix.shape[1] ** 2))
        for start in range(0, len(found), size):
            matrix = self.matrix[start : start + size]
            # In units in which its diagonal is 1, a matrix in single precision is never singular.
            unit = np.sqrt(np.maximum(np.einsum("bii->bi", matrix), TINY))
            units = unit[:, :, None] * unit[:, None, :]
            matrix = matrix / units
            np.einsum("bii->bi", matrix)[:] += SINGLE
            found[start : start + size] = np.linalg.inv(matrix) / units
        return found


class KroneckerCurvature(Curvature, Frozen):
    """The curvature of slopes that each class has: a matrix of classes times one of functions.

    The mean of diag(p) - p pᵀ over the rows, and the mean of z zᵀ. Every class has the same
    functions, so that few numbers tell how all slopes depend on each other. Slopes are the first of
    the arguments.
    """

    of_classes: tuple[Floats, Floats]  # eigenvalues and eigenvectors
    of_functions: tuple[Floats, Floats]
    diagonal: float = 0.0  # what is added to it

    @classmethod
    def of(cls, z: NDArray[np.float32], p: Floats, rows: Floats) -> KroneckerCurvature:
        """Estimate it by functions, posteriors, both (..., rows), and the weights of rows."""
        classes = np.diag(p @ rows) - (p * rows) @ p.T
        unsure = rows * (1 - np.square(p).sum(axis=0))
        functions = (z * unsure.astype(np.float32)) @ z.T
        share = classes / max(float(unsure.sum()), TINY)
        return cls(np.linalg.eigh(share), np.linalg.eigh(functions.astype(np.float64)))

    def plus(self, diagonal: Floats) -> KroneckerCurvature:
        (a, _), (c, _) = self.of_classes, self.of_functions
        more = float(diagonal[: len(a) * len(c)].mean()) if len(a) * len(c) else 0.0
        return KroneckerCurvature(self.of_classes, self.of_functions, self.diagonal + more)

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:  # noqa: ARG002
        (a, u), (c, v) = self.of_classes, self.of_functions
        over = np.maximum(a, 0.0)[:, None] * np.maximum(c, 0.0) + max(self.diagonal, TINY)

        def times(vector: Floats) -> Floats:
            found = np.zeros(len(vector))
            slope = vector[: over.size].reshape(over.shape)
            found[: over.size] = (u @ ((u.T @ slope @ v) / over) @ v.T).ravel()
            return found

        return times


class SideBySide(Curvature, Frozen):
    """The second derivatives of some arguments and of others, with nothing between them."""

    parts: Sequence[Curvature]

    def plus(self, diagonal: Floats) -> SideBySide:
        return SideBySide([of.plus(diagonal) for of in self.parts])

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        each = [of.inverse(free) for of in self.parts]

        def times(vector: Floats) -> Floats:
            found = np.zeros(len(vector))
            for inverse in each:
                found += inverse(vector)
            return found

        return times


# --- Rows laid out for many passes: what is added to their joint, its loss and curvature ---------
#
# To the joint log likelihood of a class are added functions of the row times slopes of the class,
# and evidence times weights. Two classes need their log odds only, so that half is kept.


SOME = 1_024  # rows, at least, that the curvature is estimated on,
FOR_EACH = 6  # and so many for each slope and weight of a class
LARGEST = 200  # slopes and weights of a class, of more of which only the diagonal is estimated
AS_A_WHOLE = 200  # slopes and weights of all classes, whose curvature is estimated as a whole
FAR = 500.0  # log odds
LEAST_WEIGHT = 1e-300
HUGE_WEIGHT = 1e6  # of a row


class Passes(Frozen):
    """Rows in blocks of 64, with a column for each class, or one column for two classes.

    The arguments are all slopes, column by column, and then the different weights.
    """

    start: NDArray[np.float32]  # (blocks, columns, 64): joint log likelihoods, or log odds
    shared: NDArray[np.float32]  # (blocks, functions, 64): functions of the rows
    own: NDArray[np.float32]  # (blocks, columns, parts, 64): evidence
    number: NDArray[np.int64]  # (columns, parts): of each weight; those of one number are equal
    labels: Labels
    single: bool  # whether sums may be in single precision
    slopes: int  # how many there are
    weights: int  # how many different ones there are
    at: NDArray[np.int64]  # (columns, functions + parts): the argument of each

    @classmethod
    def of(
        cls,
        joint: Floats,  # (classes, rows)
        labels: Labels,
        z: NDArray[np.floating],  # (functions, rows); if float32, sums are in single precision
        evidence: NDArray[np.floating] | None = None,  # (classes, parts, rows)
        *,
        free: NDArray[np.bool_] | None = None,  # (parts,): which have a weight for each class
        order: NDArray[np.int64] | None = None,  # that in which ``free`` has the parts
    ) -> Passes:
        """Lay out rows; without ``free`` a part has one weight for all classes."""
        if evidence is None:
            evidence = np.empty((len(labels.classes), 0, len(labels.codes)), np.float32)
        if free is None or len(labels.classes) == 2:
            free = np.zeros(evidence.shape[1], np.bool_)
        if len(labels.classes) == 2:
            joint, evidence = joint[1:] - joint[:1], evidence[1:] - evidence[:1]
        columns = len(joint)
        number = np.ascontiguousarray(numbered(free, columns))
        slopes, weights = columns * len(z), int(number.max(initial=-1)) + 1
        of_slopes = np.arange(slopes).reshape(columns, -1)
        return cls(
            blocked(joint - joint.max(axis=0) if columns > 1 else joint),
            blocked(z),
            blocked(evidence, order=order),
            number,
            labels,
            z.dtype == np.float32,
            slopes,
            weights,
            np.concatenate([of_slopes, slopes + number], axis=1),
        )

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        """Return slopes, (columns, functions), and weights, (columns, parts), of arguments."""
        return x[: self.slopes].reshape(len(self.number), -1), x[self.slopes :][self.number]

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """Return the log loss of all rows, in nats, and its gradient, at such arguments."""
        slope, weight = self.split(x)
        codes, row_weight = self.labels.codes, self.labels.weight
        total, gradient = dispatch.softmax_loss(
            *(self.start, self.shared, slope, self.own, weight, codes, row_weight, self.single)
        )
        by_argument = np.bincount(self.at.ravel(), gradient[:, :-1].ravel(), len(x))
        return total, by_argument.astype(np.float64, copy=False)

    @cached_property
    def first_curvature(self) -> Curvature:
        """The second derivatives of the log loss, about, where all arguments are 0."""
        return self.curvature(np.zeros(self.slopes + self.weights))

    def curvature(self, x: Floats) -> Curvature:
        """Return the second derivatives of the log loss, about, as some rows say."""
        # Those of the slopes and weights of one class are together, or of all classes if they are
        # few; and those of weights that the classes share.
        columns, functions = self.start.shape[1], self.shared.shape[1]
        if columns == 1:
            own = np.ones(self.number.shape[1], np.bool_)
        else:
            own = self.number[0] != self.number[-1]
        size = functions + int(own.sum())
        n = -(-max(SOME, FOR_EACH * size) // BLOCK)
        shared, evidence = self.shared[:n], self.own[:n]
        p, rows = self._posterior(x, n)
        parts: list[Curvature] = []
        if size and (columns == 1 or own.any() or columns * size <= AS_A_WHOLE):
            at = self.at[:, np.append(np.ones(functions, np.bool_), own)]
            each = (np.concatenate([shared, evidence[:, c, own]], axis=1) for c in range(columns))
            of = [both.transpose(1, 0, 2).reshape(size, -1) for both in each]
            parts.append(_of_classes(of, p, rows, at))
        elif size:
            by_class = p.transpose(1, 0, 2).reshape(columns, -1)
            z = shared.transpose(1, 0, 2).reshape(size, -1)
            parts.append(KroneckerCurvature.of(z, by_class, rows.ravel()))
        if not own.all():
            at = self.slopes + self.number[0, ~own]
            parts.append(_of_all_classes(evidence[:, :, ~own], p, rows, at))
        return parts[0] if len(parts) == 1 else SideBySide(parts)

    def _posterior(self, x: Floats, n: int) -> tuple[Floats, Floats]:
        """Return posteriors of the first n blocks, (blocks, columns, 64), and weights of rows."""
        # The weights, of shape (blocks, 1, 64), add up to those of all rows if none is huge.
        slope, weight = self.split(x)
        joint = self.start[:n] + slope @ self.shared[:n]
        for block, own in enumerate(self.own[:n]):  # one by one: all in double precision are large
            joint[block] += (weight[:, None] @ own)[:, 0]
        if joint.shape[1] == 1:
            p = 1 / (1 + np.exp(-np.clip(joint, -FAR, FAR)))
        else:
            p = np.exp(joint - joint.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
        every = self.labels.weights
        some = every[: n * BLOCK]
        rows = np.zeros(joint.shape[0] * BLOCK)
        # The shares of huge weights are enough to search by, and squares stay finite as float32.
        times = every.sum() / max(some.sum(), LEAST_WEIGHT)
        times *= min(1.0, HUGE_WEIGHT / max(some.max(initial=0.0) * times, 1.0))
        rows[: len(some)] = some * times
        return p, rows.reshape(-1, 1, BLOCK)


def blocked(
    values: NDArray[np.floating],  # (..., rows)
    order: NDArray[np.int64] | None = None,  # that of the last axis but the rows'
) -> Singles:
    """Return numbers of rows in blocks, (blocks, ..., 64), 0 past the last row."""
    shape = -(-values.shape[-1] // BLOCK), *values.shape[:-1], BLOCK
    found = np.zeros(shape, np.float32)
    with np.errstate(over="ignore"):  # a number that is too large for the type is infinite
        for block, into in enumerate(found):  # one by one, so that what is read stays cached
            some = values[..., block * BLOCK : (block + 1) * BLOCK]
            into[..., : some.shape[-1]] = some if order is None else some[..., order, :]
    return found


def numbered(free: NDArray[np.bool_], columns: int) -> NDArray[np.int64]:
    """Return the number of each weight, (columns, parts), those that are one alike."""
    size = np.where(free, columns, 1)
    first = np.cumsum(size) - size
    return (first[:, None] + np.where(free[:, None], np.arange(columns), 0)).T


def _of_classes(
    of: Sequence[NDArray[np.float32]],  # (size, rows): what the arguments multiply, by column
    p: Floats,  # (blocks, columns, 64): posteriors
    rows: Floats,  # (blocks, 1, 64): weights
    at: NDArray[np.int64],  # (columns, size): the numbers of the arguments
) -> Blocks:
    """Return the second derivatives by the arguments of each class, or of all, as one block."""
    columns, size = at.shape
    curve = (rows * p * (1 - p)).astype(np.float32)
    if size > LARGEST:
        of_each = [np.square(u) @ curve[:, c].ravel() for c, u in enumerate(of)]
        diagonal = np.concatenate(of_each).astype(np.float64)
        return Blocks(at.reshape(-1, 1), diagonal[:, None, None])
    each = np.stack([(u * curve[:, c].ravel()) @ u.T for c, u in enumerate(of)]).astype(np.float64)
    if columns == 1 or columns * size > AS_A_WHOLE:
        return Blocks(at, each)
    root = (p * np.sqrt(rows)).astype(np.float32)
    v = np.concatenate([u * root[:, c].ravel() for c, u in enumerate(of)])
    every = -(v @ v.T).astype(np.float64)
    for c in range(columns):
        here = slice(c * size, (c + 1) * size)
        every[here, here] = each[c]
    return Blocks(at.reshape(1, -1), every[None])


def _of_all_classes(
    evidence: NDArray[np.float32],  # (blocks, columns, weights, 64)
    p: Floats,
    rows: Floats,
    at: NDArray[np.int64],
) -> Blocks:
    """Return the second derivatives by weights that all classes share, whose numbers are ``at``."""
    p32, root = p.astype(np.float32)[:, :, None], np.sqrt(rows * p).astype(np.float32)[:, :, None]
    off = evidence - (evidence * p32).sum(axis=1, keepdims=True)
    off *= root
    flat = off.transpose(2, 0, 1, 3).reshape(evidence.shape[2], -1)
    if len(flat) > LARGEST:
        each = np.square(flat).sum(axis=1).astype(np.float64)
        return Blocks(at[:, None], each[:, None, None])
    return Blocks(at[None], (flat @ flat.T).astype(np.float64)[None])


# --- A temperature: the one weight of all evidence, of the least log loss ------------------------


SURE = 15.0  # as RIDGE, of the logarithm of the temperature, around that of n / (n + DOUBT);
BELOW = 1.0  # of one below it, of columns: where they repeat each other it may be far below
DOUBT = 15.0  # rows
NO_ROWS = 1e-9  # as few as are none
RANGE = (-5.0, 3.0)  # of that logarithm,
WITHIN = 1e-4  # which is as exact


def temperature(
    joint: Floats,  # (rows, classes): the summed evidence
    prior: Floats,  # (rows, classes): the log class prior
    labels: Labels,
    rows: float,  # that the evidence was counted on; what few say is doubted
    below: float = BELOW,  # the ridge of a logarithm below its centre
) -> float:
    """Return the one weight of ``joint`` that has the least log loss, shrunk towards its centre."""
    centre = max(RANGE[0], float(-np.log1p(DOUBT / max(rows, NO_ROWS))))
    return one_weight(joint, prior, labels, centre, (below, SURE))


def one_weight(
    joint: Floats,  # (rows, classes): the summed evidence
    prior: Floats,  # (rows, classes): the log class prior
    labels: Labels,
    centre: float,  # of the logarithm of the weight
    ridges: tuple[float, float],  # below and above its centre
) -> float:
    """Return the weight of ``joint`` of least log loss and penalty."""
    passes = Passes.of(prior.T, labels, np.empty((0, len(prior))), joint.T[:, None])

    def slope(log_weight: float) -> float:
        """Return the derivative of the loss by the logarithm of the weight."""
        weight = np.exp(log_weight)
        loss = passes.loss(np.array([weight]))[1][0]
        return float(weight * loss + ridges[log_weight > centre] * (log_weight - centre))

    return float(np.exp(root(slope, *RANGE, near=centre, within=WITHIN)))


def root(
    of: Callable[[float], float], low: float, high: float, near: float, within: float
) -> float:
    """Return where a function that goes from below 0 to above is 0, or the end that is nearest."""
    # It is found by regula falsi, where an end that stays counts half (Dowell & Jarratt, A modified
    # regula falsi method for computing the root of an equation, 1971, the Illinois method).
    x, value = near, of(near)
    away = high if value < 0 else low
    stride = 0.5
    while value != 0:  # until the root is between two points
        end = min(x + stride, high) if away == high else max(x - stride, low)
        of_end = of(end)
        if (of_end < 0) != (value < 0):
            break
        if end == away:
            return end
        x, value, stride = end, of_end, 2 * stride
    else:
        return x
    while abs(end - x) > within:
        new = end - of_end * (end - x) / (of_end - value)
        of_new = of(new)
        if of_new == 0:
            return new
        if (of_new < 0) != (of_end < 0):
            x, value = end, of_end
        else:
            value /= 2
        if abs(new - end) < within / 10:
            return new
        end, of_end = new, of_new
    return end


# --- Slopes: of the ridge that has the least log loss on held-out thirds -------------------------
#
# The joint log likelihood of a row is what it was, plus functions of the row times slopes. The
# penalised log loss has one minimum.


THIRDS = 3
STEPS_OF_SLOPES = 20  # of the search, unless it is of all rows
TOLERANCE_OF_SLOPES = 1e-6  # of the loss, relative to it, that another step must gain
RIDGES = (1000.0, 200.0, 40.0, 8.0, 1.6, 0.3, 0.06)
MANY_ROWS = 1_000.0  # rows: of fewer the ridges are stronger,
WEAKEST = 0.0005  # that is tried where each ridge beyond these, a fifth of the one before,
FURTHER = 1.0  # lowers the log loss of the held-out rows by so many nats
PATIENCE = 2  # ridges that are no better than the best, after which no weaker one is tried


class Third(NamedTuple):
    """Rows to fit and a third that is held out, as a model says that never saw the third."""

    joint: Floats  # (rows, classes): weighted joint log likelihoods, each row left out
    rest: NDArray[np.int64]  # the numbers of the rows to fit,
    held: NDArray[np.int64]  # and of those that are held out

    def loss(self, labels: Labels) -> float:
        """Return the log loss of the rows that are held out, in nats."""
        losses = losses_of(self.joint[self.held], labels.codes[self.held])
        return float(labels.weights[self.held] @ losses)


class Chosen(NamedTuple):
    """Functions of rows, and their slopes by the ridge that held-out rows chose."""

    ridge: float | None  # None if none lowers the loss
    loss: float  # of the held-out rows, in nats
    slopes: list[Floats]  # of each third: (functions of each class,), as passes take them
    z: list[Singles]  # of each third: (functions, rows)


def ridges_of(labels: Labels, parts: int) -> list[float]:
    """Return the ridges that are tried on rows of so many parts, from strong to weak."""
    # A sum of many slopes varies by more than one of few, and few rows say less of it. The weakest
    # is for rows of any number of parts: where the truth is a sum of many slopes, all are needed.
    few = 1 + MANY_ROWS / max(float(labels.weights.sum()), NO_ROWS)
    found = [ridge * max(1.0, parts / FEW_PARTS) * few for ridge in RIDGES]
    while found[-1] > WEAKEST * few:
        found.append(max(found[-1] / 5, WEAKEST * few))
    return found


def choose_ridge(
    z: Sequence[NDArray[np.floating]],  # of each third: (functions, rows)
    thirds: Sequence[Third],
    labels: Labels,  # of the rows of a third
    ridges: Sequence[float],
    enough: float = 0.0,
) -> Chosen:
    """Try ridges from strong to weak, and choose the one of least loss on the held-out rows."""
    # The loss is to be lowered by ``enough`` nats, and by each ridge beyond ``RIDGES`` by
    # ``FURTHER`` more.
    z = [of[:, : len(labels.codes)].astype(np.float32) for of in z]  # which is enough to choose
    rest: list[Passes] = []
    held: list[Passes] = []
    for third, of in zip(thirds, z, strict=True):
        for rows, into in (third.rest, rest), (third.held, held):
            joint = third.joint[rows].T
            into.append(Passes.of(joint, labels.take(rows), of.take(rows, axis=1)))
    found = nothing = kept = [np.zeros(of.slopes) for of in rest]
    bar = sum(of.loss(x)[0] for of, x in zip(held, nothing, strict=True)) - enough
    best, lowest, bad = ridges[0], float("inf"), 0
    for i, ridge in enumerate(ridges):
        found = [solve(of, ridge, start) for of, start in zip(rest, found, strict=True)]
        loss = sum(of.loss(x)[0] for of, x in zip(held, found, strict=True))
        if loss < lowest - (FURTHER + enough) * (i >= len(RIDGES)):
            lowest, best, bad, kept = loss, ridge, 0, found
        else:
            bad += 1
            if bad == PATIENCE:
                break
    if lowest >= bar:
        return Chosen(None, bar, nothing, z)
    return Chosen(best, lowest, kept, z)


def solve(passes: Passes, ridge: float, start: Floats, steps: int = STEPS_OF_SLOPES) -> Floats:
    """Return the slopes of the least penalised log loss, as passes take them."""
    k = len(passes.labels.classes)
    penalty = np.full(passes.slopes, ridge / 2 if k == 2 else ridge)  # of two each has half a slope
    x = least(
        passes,
        Penalty(penalty, np.zeros(0), np.zeros(len(penalty))),
        start,
        lambda _: passes.first_curvature,
        steps=steps,
        tolerance=TOLERANCE_OF_SLOPES,
        again=False,
    )
    by_class = x.reshape(len(passes.number), -1)
    return x if k == 2 else np.asarray(by_class - by_class.mean(axis=0)).ravel()


def of_classes(x: Floats, k: int) -> Floats:
    """Return slopes as passes take them, (functions, classes)."""
    return np.asarray(x[:, None] * [-0.5, 0.5] if k == 2 else x.reshape(k, -1).T)


def joint_with(joint: Floats, z: NDArray[np.floating], x: Floats) -> Floats:
    """Return joint log likelihoods, (rows, classes), with slopes of (functions, rows)."""
    return np.asarray(joint + z.T @ of_classes(x, joint.shape[1]).astype(z.dtype))
