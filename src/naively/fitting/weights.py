"""What is fitted beside counting: a weight a part, a bias a class, slopes, with a ridge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch, Block, Codes, Dense
from naively.counting.labels import LabelArray, Labels
from naively.counting.leave_one_out import Part
from naively.events import Bernoulli
from naively.fitting.leave_one_out import LeaveOneOut, by_class
from naively.fitting.search import Curvature, Passes, Penalty, least, root
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.model.weights import Line, LinearPart, Product, Step, Term, Weights
from naively.options import Weighting
from naively.schema.schema import Group

# --- Fitting the weights: one convex problem on the leave-one-out table --------------------------
#
# The posterior is p(c) · exp(bias_c + Σ_j w_jc · evidence_jc). First one weight is fitted for all
# parts (a temperature; texts have one of their own), then a weight for each part and class, and a
# bias for each class. The mean of a part's weights over the classes is shrunk towards half the
# temperature (of an interaction, and of what missing cells say, towards 0; of the words of a text
# towards the whole temperature), the weights are shrunk towards their mean, and the biases towards
# 0, each by a ridge. Both fits minimise the log loss of rows whose own counts were left out, so
# that no rows have to be held back.


RIDGE = 5.0  # twice the log loss, in nats, of a mean weight that is 1 off the centre
OF_INTERACTIONS = 10.0  # as RIDGE, of an interaction, whose centre is 0
OF_MISSING = 10.0  # as RIDGE, of what a missing cell says, whose centre is 0, of many rows;
FEW = 500  # rows: with so few it is twice that
APART = 10.0  # as RIDGE, of a class's weight that is 1 off the mean
BIAS = 5.0  # as RIDGE, of a class's bias
OF_TEXTS = 0.5  # as RIDGE, of words of a text, whose weights are in units of its temperature
TEXTS_APART = 3.0  # as APART, of words of a text, in the same units
CENTRE = 0.5  # times the temperature: columns that repeat each other share their weight
FEW_PARTS = 10  # of the evidence, from which on more have stronger ridges
SURE = 15.0  # as RIDGE, of the logarithm of the temperature, around that of n / (n + DOUBT);
BELOW = 1.0  # of one below it, of columns: where they repeat each other it may be far below
DOUBT = 15.0  # rows
NO_ROWS = 1e-9  # as few as are none
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
    model = model.weighed(None)  # nothing is scaled to count parts
    parts, k = count_parts(model), len(model.classes)
    possible = CELLS // max(1, parts * k)
    kept = min(ROWS, max(100, possible))
    if parts == 1 and OF_ONE * k <= kept:
        why = f"{OF_ONE} for each class are enough for one weight"
        return SampleSize(OF_ONE * k, kept, 0.0, why)
    has_texts = any(group.analyser for group in model.taken.schema.groups)
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
        for g in model.taken.schema.groups
    )


def fit(found: LeaveOneOut, kind: Weighting, rows: float, near: Weights | None = None) -> Weights:
    """Fit a weight for each part and class ("loo"), or one for all parts ("temperature").

    Parameters
    ----------
    found : LeaveOneOut
        The leave-one-out table of some rows.
    kind : {"loo", "temperature"}
        How many weights there are.
    rows : float
        How many rows the model has learned.
    near : Weights, optional
        Weights of the same parts, at which the search begins.
    """
    classes = tuple(found.labels.classes.tolist())
    none = (0.0,) * len(classes)
    if found.labels.k < 2 or not found.parts:
        return Weights(classes, {}, none, 1.0, rows, kind)
    kinds = np.array(found.kinds)
    temperatures = np.zeros(len(kinds))  # the temperature of each part
    texts = np.isin(kinds, ["text", "band"])
    for of, below in ((kinds == "column", BELOW), (texts, SURE)):
        if of.any():
            joint = np.einsum("p,pnc->nc", of.astype(np.float64), found.table)
            temperatures[of] = temperature(joint, found.prior, found.labels, rows, below)
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
    shrinkage = _shrinkage(kinds, temperatures, found.labels.weights.sum())
    weight, bias = ridge(found, shrinkage, near)
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
    # A sum of many parts is off by more than one of few where each is off as much.
    many = max(1.0, np.sqrt(len(kinds) / FEW_PARTS))
    square = np.square(np.where(texts, np.maximum(temperatures, 1e-3), 1.0))
    interactions, missing = kinds == "interaction", kinds == "missing"
    beside = interactions | missing
    return Shrinkage(
        centre=np.select([beside, texts], [0.0, temperatures], CENTRE * temperatures),
        strength=np.select(
            [interactions, missing, texts],
            [OF_INTERACTIONS * many, OF_MISSING * many * (1 + FEW / rows), OF_TEXTS / square],
            RIDGE * many,
        ),
        apart=np.where(texts, TEXTS_APART / square, APART * many),
    )


def temperature(
    joint: Floats, prior: Floats, labels: Labels, rows: float, below: float = BELOW
) -> float:
    """Return the one weight of ``joint`` that has the least log loss, shrunk towards its centre.

    Parameters
    ----------
    joint, prior : ndarray of shape (rows, classes)
        The summed evidence, and the log class prior.
    labels : Labels
        The classes and weights of the rows.
    rows : float
        How many rows the evidence was counted on. What few rows say is doubted.
    below : float
        The ridge of a logarithm below its centre.
    """
    low, high = RANGE
    centre = max(low, float(-np.log1p(DOUBT / max(rows, NO_ROWS))))
    none = np.empty((0, len(prior)))
    passes = Passes.of(prior.T, labels, none, joint.T[:, None], free=np.zeros(1, np.bool_))

    def slope(log_weight: float) -> float:
        """Return the derivative of the loss by the logarithm of the weight."""
        weight = np.exp(log_weight)
        loss = passes.loss(np.array([weight]))[1][0]
        return float(
            weight * loss + (SURE if log_weight > centre else below) * (log_weight - centre)
        )

    return float(np.exp(root(slope, low, high, near=centre, within=WITHIN)))


def loss_of_one_weight(found: LeaveOneOut) -> float:
    """Return the log loss, in nats per row, if all evidence has one weight, a temperature."""
    joint = found.table.sum(axis=0)
    weight = temperature(joint, found.prior, found.labels, found.labels.total)
    joint = found.prior + weight * joint
    return log_loss(p_right(joint, found.labels), found.labels.weight)


def ridge(
    found: LeaveOneOut, shrinkage: Shrinkage, near: Weights | None = None
) -> tuple[Floats, Floats]:
    """Return weights (parts, classes) at least 0 and biases (classes,) of least penalised loss.

    The search begins at the centres, or at weights that are given.
    """
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
    start = middle
    if near is not None:
        bias, start = near.bias_of(near.classes), middle.copy()
        start[:biases] = bias[1] - bias[0] if k == 2 else bias
        weight = near.table(found.parts, near.classes)[order].T
        start[biases:][passes.number] = weight[:1] if k == 2 else weight
    x = least(
        passes,
        Penalty(alone, together, middle),
        start,
        passes.curvature,
        steps=STEPS,
        tolerance=TOLERANCE,
    )
    bias, weight = x[:biases], passes.split(x)[1].T[np.argsort(order)]
    if k == 2:
        return np.repeat(weight, 2, axis=1), np.outer([-0.5, 0.5], bias)[:, 0]
    return weight, bias


# --- Fitting the linear part: lines and steps of the columns, added where held-out rows gain -----
#
# Slopes are fitted on top of the weighted leave-one-out evidence, by ridge. The ridge is the one
# of least log loss on held-out thirds of the sample, of its first rows if it is large; where none
# improves it, nothing is added. Each third is held out of the counts and of the weights too: what
# the other rows leave to be added is else the opposite of what the third leaves.


RIDGES = (1000.0, 200.0, 40.0, 8.0, 1.6, 0.3, 0.06)
MANY = 1_000.0  # rows: of fewer the ridges are stronger, and of more than ``FEW_PARTS`` columns
PATIENCE = 2  # ridges that are no better than the best, after which no weaker one is tried
THIRDS = 3
FEW_HELD_OUT = 1_000  # rows, below which each third is held out in turn
LAST_STEPS = 80  # of the search, on all rows


@dataclass(frozen=True, eq=False)
class Run:
    """Rows to fit and a third that is held out, with the solution where a search begins."""

    rest: Problem
    third: Problem
    start: Solution


class Third(NamedTuple):
    """Rows to fit and a third of them that is held out, as a model says that never saw the third.

    Parameters
    ----------
    joint : ndarray of shape (rows, classes)
        Weighted joint log likelihoods, each row left out.
    rest, held : ndarray of int64
        The numbers of the rows to fit, and of those that are held out.
    """

    joint: Floats
    rest: NDArray[np.int64]
    held: NDArray[np.int64]


class Descent(NamedTuple):
    """The ridge of least log loss on held-out rows; None if none lowers the loss."""

    ridge: float | None
    loss: float  # in nats, summed over the held-out rows
    found: list[Solution]  # of each run


def with_linear_part(
    model: Model,
    weights: Weights,
    found: LeaveOneOut,
    batches: Sequence[Batch],
    thirds: Callable[[], Iterable[Third]],
) -> Weights:
    """Return weights with a linear part, where it lowers the log loss of held-out rows.

    Parameters
    ----------
    model : Model
        What the weights are of.
    weights : Weights
        Of the evidence.
    found : LeaveOneOut
        The leave-one-out table that they were fitted to.
    batches : sequence of Batch
        The rows of the table, as the model encodes them.
    thirds : callable
        Returns the first ``ROWS`` rows with a third held out, each third if they are few.
    """
    basis = basis_of(model, lambda: evidence_said(weights, found), found.labels, batches)
    if not basis.terms or _has_few_groups(found.labels):
        return weights
    z = np.vstack([basis.shared.T, np.ones(len(basis.z))]).T  # the last is the intercept
    problem = Problem(joint_of(weights, found), found.labels, z)
    # To choose a ridge, single precision is enough.
    rough, some = replace(problem, z=z.astype(np.float32)).first(ROWS), found.first(ROWS)
    runs = [run_of(replace(rough, joint=joint), rest, held) for joint, rest, held in thirds()]
    # Which columns say most was found on all rows, those held out too: the more there were to
    # choose from, and the fewer rows, the more has to be gained.
    bar = sum(run.third.loss(run.start) for run in runs) - basis.passed_over / len(some.prior)
    best = descend(runs, ridges_of(some.labels, len(some.parts)), solve_slopes, bar)
    if best.ridge is None:
        return weights
    start = Solution(np.mean([of.slope for of in best.found], axis=0), np.empty(0))
    added = solve(problem, best.ridge, 0.0, start, LAST_STEPS)
    slope = np.vstack([basis.of_terms(added.slope[:-1]), added.slope[-1:]])
    return replace(weights, linear=linear_part_of(slope, basis.terms, [], best.ridge))


def _has_few_groups(labels: Labels) -> bool:
    """Whether rows are of groups that are too few to hold out a third of them."""
    return labels.group is not None and len(np.unique(labels.group)) < THIRDS


def ridges_of(labels: Labels, parts: int) -> list[float]:
    """Return the ridges that are tried on rows of so many parts, from strong to weak.

    A sum of many slopes varies by more than one of few, and few rows say less of it.
    """
    more = max(1.0, parts / FEW_PARTS) * (1 + MANY / max(labels.total, NO_ROWS))
    return [ridge * more for ridge in RIDGES]


def weighed_without(weights: Weights, found: LeaveOneOut, rest: NDArray[np.int64]) -> Floats:
    """Return joint log likelihoods, (rows, classes), by weights fitted to some of the rows."""
    without = fit(found.take(rest), weights.how, weights.rows, weights)
    return joint_of(without, found)


def linear_part_of(
    slope: Floats, terms: Sequence[Term], products: Sequence[Product], ridge: float
) -> LinearPart:
    """Return slopes, (functions, classes), as a linear part.

    The functions are terms, then products; the last is the intercept.
    """
    *slopes, intercept = map(tuple, slope.tolist())
    return LinearPart(
        dict(zip(terms, slopes[: len(terms)], strict=True)),
        dict(zip(products, slopes[len(terms) :], strict=True)),
        intercept,
        ridge,
    )


def joint_of(weights: Weights, found: LeaveOneOut) -> Floats:
    """Return weighted leave-one-out joint log likelihoods, of shape (rows, classes)."""
    classes = weights.classes
    joint = found.joint(weights.table(found.parts, classes))
    return np.asarray(joint + weights.bias_of(classes))


def run_of(problem: Problem, rest: NDArray[np.int64], third: NDArray[np.int64]) -> Run:
    """Return some rows of a problem to fit, and others to hold out, with nothing added yet."""
    return Run(problem.take(rest), problem.take(third), Solution.nothing(problem))


def descend(
    runs: Sequence[Run],
    ridges: Sequence[float],
    solve_one: Callable[[Problem, float, Solution], Solution],
    bar: float | None = None,
) -> Descent:
    """Try ridges from strong to weak, and return the one of least loss on the held-out rows.

    The search of each begins where that of the one before ended.

    Parameters
    ----------
    runs : sequence of Run
        The rows, and where the search of the first ridge begins.
    ridges : sequence of float
        From strong to weak.
    solve_one : callable
        Returns the solution of a problem by a ridge, from a start.
    bar : float, optional
        The loss that is to be lowered; by default that of the starts.
    """
    found = kept = [run.start for run in runs]
    bar = sum(run.third.loss(run.start) for run in runs) if bar is None else bar
    best, least, bad = ridges[0], float("inf"), 0
    for ridge in ridges:
        found = [solve_one(run.rest, ridge, start) for run, start in zip(runs, found, strict=True)]
        loss = sum(run.third.loss(of) for run, of in zip(runs, found, strict=True))
        if loss < least:
            least, best, bad, kept = loss, ridge, 0, found
        else:
            bad += 1
            if bad == PATIENCE:
                break
    # The strongest ridges may be worse than nothing where weaker ones are better: the weights of
    # the evidence were fitted to the rows held out too.
    if least >= bar:
        return Descent(None, bar, [run.start for run in runs])
    return Descent(best, least, kept)


def solve_slopes(problem: Problem, ridge: float, start: Solution) -> Solution:
    """Return the slopes of least loss."""
    return solve(problem, ridge, 0.0, start)


def held_out(labels: Labels) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows to fit, and a third to hold out: each third of few rows, else the first.

    All copies of a row are in one third, so that a row of weight 2 is the row twice; and so are all
    rows of a group.
    """
    third = np.empty(len(labels), np.int64)
    third[by_class(labels.codes)] = np.arange(len(labels)) % THIRDS
    if labels.group is not None:
        third = np.unique(labels.group, return_inverse=True)[1] % THIRDS
    times = THIRDS if labels.weights.sum() < FEW_HELD_OUT else 1
    return [(np.flatnonzero(third != t), np.flatnonzero(third == t)) for t in range(times)]


# --- Losses of posteriors: the log loss, and the share of right answers --------------------------


LEAST = 1e-15  # the log loss clips probabilities here, so that no row has an infinite loss


def accuracy_and_log_loss(p: Floats, learned: LabelArray, labels: Labels) -> tuple[float, float]:
    """Return two of the scores of posteriors, (rows, learned classes), and no other.

    The classes of the labels need not be those that were learned.
    """
    place = {label: i for i, label in enumerate(learned.tolist())}
    places = np.array([place.get(label, -1) for label in labels.classes.tolist()], np.int64)
    right = places[labels.codes]
    of_right = np.where(right < 0, 0.0, p[np.arange(len(p)), right])
    hit: Floats = (p.argmax(axis=1) == right).astype(np.float64)
    return mean(hit, labels.weight), log_loss(of_right, labels.weight)


def log_loss(p_right: Floats, weight: Floats | NDArray[np.int64] | None = None) -> float:
    """Return the mean of -log p(right class), with p clipped at 1e-15, in nats per row.

    Parameters
    ----------
    p_right : ndarray of shape (rows,)
        The posterior of the right class of each row.
    weight : ndarray of shape (rows,), optional
        The weight of each row; by default all rows weigh the same.
    """
    return mean(-np.log(np.clip(p_right, LEAST, 1.0)), weight)


def p_right(joint: Floats, labels: Labels) -> Floats:
    """Return the posterior of the right class, (rows,), from joint log likelihoods, (rows, k)."""
    right: Floats = np.exp(_log_posterior(joint)[np.arange(len(joint)), labels.codes])
    return right


def posterior(joint: Floats) -> Floats:
    """Return the posteriors, (rows, classes), from joint log likelihoods of the same shape.

    Examples
    --------
    >>> posterior(np.log([[0.1, 0.3]]))
    array([[0.25, 0.75]])
    """
    p: Floats = np.exp(_log_posterior(joint))
    return p


def _log_posterior(joint: Floats) -> Floats:
    log_p: Floats = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return log_p


def mean(values: Floats, weight: Floats | NDArray[np.int64] | None) -> float:
    """Return the mean of values, (rows,), by the weight of the rows."""
    return float(values.mean() if weight is None else np.average(values, weights=weight))


# --- Basis ---------------------------------------------------------------------------------------
#
# Functions of the columns: numbers, clipped and standardised, and indicators of common levels.
#
# A sum of them, each times a slope, is the linear part of a model.


TAILS = 0.005  # of the numbers, on each side, are clipped
LEVELS = 8  # of a column, at most, the commonest
IN_LEVEL = 5.0  # rows of a level, at least
LEAST_SCALE = 0.2  # of an indicator, so that a rare level has no large values
FUNCTIONS = 256  # at most: of the columns that say most
LARGEST = 1e120  # a number, whose square times any weight is finite
ALIKE = 0.95  # correlation of two levels that share a slope,
ALIKE_ROWS = 2_000  # by so many rows
ROUNDING = 1e-9
TOGETHER = 200_000  # numbers, about, of columns that are described together


Said: TypeAlias = Callable[[], Mapping[Part, float]]  # how much evidence each part gives


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions of the columns, on the rows of a sample.

    Parameters
    ----------
    terms : list of Term
        The functions.
    z : ndarray of shape (rows, functions)
        Their values, those of a function side by side; 0 where a cell is missing.
    passed_over : int
        How many functions there were beside them, of columns that say less.
    """

    terms: list[Term]
    z: Floats
    passed_over: int = 0

    @cached_property
    def shares(self) -> Floats | None:
        """How terms share slopes, of shape (terms, slopes), orthonormal; None if each has its own.

        Levels of two columns that nearly always come together have one slope. Else a weak ridge
        would give them slopes that cancel each other, by the few rows in which they differ.
        """
        steps = [at for at, term in enumerate(self.terms) if isinstance(term.function, Step)]
        some = self.z[:ALIKE_ROWS, steps]
        size = np.sqrt(np.square(some).sum(axis=0))
        alike = some.T @ some > ALIKE * np.maximum(np.outer(size, size), ROUNDING)
        group = np.arange(len(self.terms))
        for i, j in zip(*np.nonzero(np.triu(alike, 1)), strict=True):
            a, b = group[steps[i]], group[steps[j]]
            group[group == max(a, b)] = min(a, b)
        slopes, number, size = np.unique(group, return_inverse=True, return_counts=True)
        if len(slopes) == len(group):
            return None
        shares = np.zeros((len(group), len(slopes)))
        shares[np.arange(len(group)), number] = 1 / np.sqrt(size[number])
        return shares

    @property
    def shared(self) -> Floats:
        """The functions that have slopes of their own, of shape (rows, slopes)."""
        return self.z if self.shares is None else self.z @ self.shares

    def of_terms(self, slope: Floats) -> Floats:
        """Return the slopes of the terms, (terms, classes), from those of what they share."""
        return slope if self.shares is None else np.asarray(self.shares @ slope)


def basis_of(
    model: Model,
    said: Said,
    labels: Labels,
    batches: Sequence[Batch],
) -> Basis:
    """Return functions of the columns, and their values on the rows.

    Parameters
    ----------
    model : Model
        Whose columns they are of.
    said : callable
        Returns how much evidence each part gives (``evidence_said``), and is asked only where there
        would be more than ``FUNCTIONS``: then they are of the columns that say most.
    labels : Labels
        The labels of the rows.
    batches : sequence of Batch
        The rows, as the model encodes them.
    """
    by_batch = [model.blocks(batch) for batch in batches]
    rows = labels.weight
    of_column: list[tuple[Part, list[tuple[Term, Floats]]]] = []
    for group in model.taken.schema.of_columns:
        if group.event.joined or group.analyser or group.event.layout == "rows":
            continue
        block = _joined([blocks[group.key] for blocks in by_batch])
        if block is None:
            continue
        found = _functions(group, block, rows)
        for j, (name, functions) in enumerate(zip(block.axis.columns, found, strict=True)):
            terms = [(Term(group.key, name, one), one.of(block, j)) for one in functions]
            of_column.append((Part(group.key, name), terms))
    # In one order, whatever that of the columns is: rounding then stops a search at one place.
    of_column.sort(key=lambda column: str(column[0]))
    more = sum(len(functions) for _, functions in of_column) - FUNCTIONS
    if more > 0:
        most = said()
        of_column.sort(key=lambda column: -most.get(column[0], 0.0))
    every = [of for _, functions in of_column for of in functions][:FUNCTIONS]
    z = np.stack([value for _, value in every]).T if every else np.empty((len(labels), 0))
    return Basis([term for term, _ in every], z, max(0, more))


def _joined(blocks: Sequence[Block]) -> Block | None:
    """Return the rows of all batches as one block; None if some are sparse."""
    if not any(all(isinstance(block, kind) for block in blocks) for kind in (Dense, Codes)):
        return None
    return blocks[0].followed_by(blocks[1:]) if len(blocks) > 1 else blocks[0]


def evidence_said(weights: Weights, found: LeaveOneOut) -> dict[Part, float]:
    """Return how much evidence each part gives, on average."""
    weight = weights.table(found.parts, weights.classes)
    said = [np.abs(of).mean(axis=0) @ np.abs(w) for of, w in zip(found.table, weight, strict=True)]
    return {part: float(of) / found.labels.k for part, of in zip(found.parts, said, strict=True)}


def _functions(
    group: Group, block: Block, weight: Floats | None
) -> Sequence[Sequence[Line | Step]]:
    """Return the functions of each column: a line, or steps of its commonest levels."""
    if isinstance(block, Codes):
        return [_steps(block, j, weight) for j in range(len(block.axis.columns))]
    assert isinstance(block, Dense)
    indicator, found = isinstance(group.event, Bernoulli), []
    size = max(1, TOGETHER // max(1, len(block)))
    for start in range(0, len(block.axis.columns), size):
        x = np.ascontiguousarray(block.values.T[start : start + size], np.float64)
        found += lines(x, weight, indicator=indicator)
    return [[] if line is None else [line] for line in found]


def lines(x: Floats, weight: Floats | None, *, indicator: bool) -> list[Line | None]:
    """Return a line for each column of numbers, (columns, rows), clipped at its tails.

    None for a column whose scale is 0 or infinite.
    """
    there = ~np.isnan(x)
    whole = there.all(axis=1)
    found = dict(
        zip(
            np.flatnonzero(whole).tolist(),
            _lines(x[whole], weight, indicator=indicator),
            strict=True,
        )
    )
    for j in np.flatnonzero(~whole).tolist():
        some = None if weight is None else weight[there[j]]
        (found[j],) = _lines(x[j, there[j]][None], some, indicator=indicator)
    return [found[j] for j in range(len(x))]


def _lines(x: Floats, weight: Floats | None, *, indicator: bool) -> list[Line | None]:
    """Return the same of columns without missing cells."""
    if not x.size:
        return [None] * len(x)
    x = np.clip(x, -LARGEST, LARGEST)
    low, high = _quantiles(x, weight)
    flat = ~(low < high)
    low, high = np.where(flat, x.min(axis=1), low), np.where(flat, x.max(axis=1), high)
    x = np.clip(x, low[:, None], high[:, None])
    with np.errstate(over="ignore", invalid="ignore"):  # where rows weigh 1e90
        centre = np.average(x, axis=1, weights=weight)
        scale = np.sqrt(np.average(np.square(x - centre[:, None]), axis=1, weights=weight))
    varies = (scale > ROUNDING * np.maximum(np.abs(low), np.abs(high))) & (scale < np.inf)
    if indicator:
        scale = np.maximum(scale, LEAST_SCALE * (high - low))
    numbers = np.stack([low, high, centre, scale], axis=1).tolist()
    return [Line(*of) if there else None for of, there in zip(numbers, varies, strict=True)]


def _quantiles(x: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """Return the numbers that a share ``TAILS`` of the weight is at most, and at least."""
    n = x.shape[1]
    if weight is None:
        places = [int(TAILS * n), n - 1 - int(TAILS * n)]
        low, high = np.partition(x, places, axis=1)[:, places].T
        return low, high
    order = np.argsort(x, axis=1)  # of equal numbers in any order, which changes no quantile
    total = np.cumsum(weight[order], axis=1)
    below = total <= TAILS * (1 + ROUNDING) * total[:, -1:]
    above = total >= (1 - TAILS) * (1 - ROUNDING) * total[:, -1:]
    first = np.minimum(below.sum(axis=1), n - 1)
    last = np.minimum((~above).sum(axis=1), n - 1)
    low, high = (
        np.take_along_axis(x, order, axis=1)[np.arange(len(x)), at] for at in (first, last)
    )
    return low, high


def _steps(block: Codes, column: int, weight: Floats | None) -> list[Line | Step]:
    """Return indicators of the commonest levels of a column; of two levels, one indicator."""
    levels = block.axis.levels[column]
    code = block.codes[:, column].astype(np.int64)
    there = (code >= 0) & (code < len(levels))
    rows = np.bincount(code[there], None if weight is None else weight[there], len(levels)).astype(
        np.float64
    )
    total = rows.sum()
    # Levels that came equally often are taken by what they are, in whatever order they came.
    best = sorted(range(len(levels)), key=lambda at: (-rows[at], repr(levels[at])))[:LEVELS]
    best = [at for at in best if rows[at] >= IN_LEVEL * (1 - ROUNDING)]
    if (rows > 0).sum() <= 2:
        best = best[: int((rows > 0).sum()) - 1]
    found: list[Line | Step] = []
    for at in best:
        share = rows[at] / total
        scale = max(float(np.sqrt(share * (1 - share))), LEAST_SCALE)
        found.append(Step(levels[at], float(share), scale))
    return found


# --- Ridge ---------------------------------------------------------------------------------------
#
# The convex problem of what is added to naive Bayes: slopes, and weights of evidence, by ridge.
#
# The joint log likelihood of a row is what it was, plus functions of the row times slopes, plus
# evidence times non-negative weights. The penalised log loss has one minimum.


RIDGE_STEPS = 20  # of the search
RIDGE_TOLERANCE = 1e-6  # of the loss, relative to it, that another step must gain


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their joint log likelihoods, and what may be added to these.

    Parameters
    ----------
    joint : ndarray of shape (rows, classes)
        Joint log likelihoods.
    labels : Labels
        The classes and weights of the rows.
    z : ndarray of shape (rows, functions)
        Functions of each row, each of which has a slope for each class. Many are float32, which
        takes half the time; and the numbers of a function lie side by side, as they are read so.
    evidence : ndarray of shape (rows, classes, pairs), optional
        Evidence, each of which has one weight that is at least 0.
    """

    joint: Floats
    labels: Labels
    z: NDArray[np.floating]
    evidence: NDArray[np.floating] | None = None

    @cached_property
    def pairs(self) -> int:
        """How many weights of evidence there are."""
        return 0 if self.evidence is None else self.evidence.shape[2]

    def take(self, rows: NDArray[np.int64]) -> Problem:
        """Return some of the rows, by their numbers."""
        evidence = None if self.evidence is None else self.evidence[rows]
        z = self.z.T.take(rows, axis=1).T
        return Problem(self.joint[rows], self.labels.take(rows), z, evidence)

    def first(self, rows: int) -> Problem:
        """Return so many rows at most."""
        return self if rows >= len(self.joint) else self.take(np.arange(rows))

    def joint_with(self, found: Solution) -> Floats:
        """Return the joint log likelihoods with what is added, of shape (rows, classes)."""
        joint = self.joint + self.z @ found.slope.astype(self.z.dtype)
        if self.evidence is not None:
            joint += self.evidence @ found.weight.astype(self.evidence.dtype)
        return joint

    @cached_property
    def passes(self) -> Passes:
        """The rows, laid out for many passes."""
        evidence = np.empty((self.labels.k, 0, len(self.z)), np.float32)
        if self.evidence is not None:
            evidence = self.evidence.transpose(1, 2, 0)
        free = np.zeros(self.pairs, np.bool_)
        return Passes.of(self.joint.T, self.labels, self.z.T, evidence, free=free)

    @cached_property
    def curvature(self) -> Curvature:
        """The second derivatives of the log loss, about, with nothing added."""
        return self.passes.curvature(self.arguments(Solution.nothing(self)))

    def arguments(self, found: Solution) -> Floats:
        """Return slopes and weights as what the passes take."""
        if self.labels.k == 2:
            return np.concatenate([found.slope[:, 1] - found.slope[:, 0], found.weight])
        return np.concatenate([found.slope.T.ravel(), found.weight])

    def posterior(self, found: Solution) -> Floats:
        """Return the posteriors with what is added, of shape (rows, classes)."""
        return posterior(self.joint_with(found))

    def loss(self, found: Solution) -> float:
        """Return the sum of the rows' log losses, in nats, with what is added."""
        return self.passes.loss(self.arguments(found))[0]


@dataclass(frozen=True, eq=False)
class Solution:
    """Slopes and weights.

    Parameters
    ----------
    slope : ndarray of shape (functions, classes)
        They sum to 0 over the classes.
    weight : ndarray of shape (pairs,)
        At least 0.
    """

    slope: Floats
    weight: Floats

    @classmethod
    def nothing(cls, problem: Problem) -> Solution:
        """Return slopes and weights of 0."""
        functions = problem.z.shape[1]
        return cls(np.zeros((functions, problem.labels.k)), np.zeros(problem.pairs))


def solve(
    problem: Problem, ridge: float, of_evidence: float, start: Solution, steps: int = RIDGE_STEPS
) -> Solution:
    """Return the slopes and weights of the least penalised log loss.

    Parameters
    ----------
    problem : Problem
        The rows.
    ridge : float
        Twice the log loss, in nats, of a slope of 1.
    of_evidence : float
        The same of a weight.
    start : Solution
        Where the search begins.
    steps : int
        How many steps it has at most.
    """
    passes = problem.passes
    two = problem.labels.k == 2
    penalty = np.full(passes.slopes + problem.pairs, of_evidence)
    penalty[: passes.slopes] = ridge / 2 if two else ridge  # of two classes each has half a slope

    none = np.zeros(problem.pairs), np.zeros(len(penalty))
    x = least(
        passes,
        Penalty(penalty, *none),
        problem.arguments(start),
        lambda _: problem.curvature,
        steps=steps,
        tolerance=RIDGE_TOLERANCE,
        again=False,
    )
    slope, weight = passes.split(x)[0].T, x[passes.slopes :]
    if two:
        return Solution(slope * [-0.5, 0.5], weight)
    return Solution(slope - slope.mean(axis=1, keepdims=True), weight)
