"""Fitting the linear part: lines and steps of the columns, added where held-out rows gain.

Slopes are fitted on top of the weighted leave-one-out evidence, by ridge. The ridge is the one of
least log loss on held-out thirds of the sample, of its first rows if it is large; where none
improves it, nothing is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.evaluation.basis import basis_of, evidence_said
from naively.evaluation.calibrate import ROWS
from naively.evaluation.canonical import by_class
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.evaluation.ridge import Problem, Solution, solve
from naively.kernels.reference import Floats
from naively.model.linear_part import LinearPart, Product, Term
from naively.model.model import Model
from naively.model.weights import Weights

RIDGES = (1000.0, 200.0, 40.0, 8.0, 1.6, 0.3, 0.06)
PATIENCE = 2  # ridges that are no better than the best, after which no weaker one is tried
FEWEST = 30  # rows, with fewer of which there is no linear part
THIRDS = 3
FEW = 1_000  # rows, below which each third is held out in turn
LAST_STEPS = 80  # of the search, on all rows


@dataclass(frozen=True, eq=False)
class Run:
    """Rows to fit and a third that is held out, with the solution where a search begins."""

    rest: Problem
    third: Problem
    start: Solution


class Descent(NamedTuple):
    """The ridge of least log loss on held-out rows; None if none lowers the loss."""

    ridge: float | None
    loss: float  # in nats, summed over the held-out rows
    found: list[Solution]  # of each run


def with_linear_part(
    model: Model, weights: Weights, found: LeaveOneOut, batches: Sequence[Batch]
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
    """
    if found.labels.weights.sum() < FEWEST:
        return weights
    basis = basis_of(model, lambda: evidence_said(weights, found), found.labels, batches)
    if not basis.terms:
        return weights
    z = np.vstack([basis.shared.T, np.ones(len(basis.z))]).T  # the last is the intercept
    problem = Problem(joint_of(weights, found), found.labels, z)
    # To choose a ridge, single precision is enough.
    rough = replace(problem, z=z.astype(np.float32))
    best = descend(runs_of(rough.first(ROWS)), RIDGES, solve_slopes)
    if best.ridge is None:
        return weights
    start = Solution(np.mean([of.slope for of in best.found], axis=0), np.empty(0))
    added = solve(problem, best.ridge, 0.0, start, LAST_STEPS)
    slope = np.vstack([basis.of_terms(added.slope[:-1]), added.slope[-1:]])
    return replace(weights, linear=linear_part_of(slope, basis.terms, [], best.ridge))


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


def runs_of(problem: Problem) -> list[Run]:
    """Return the held-out thirds of a problem, with nothing added yet."""
    return [run_of(problem, rest, third) for rest, third in held_out(problem.labels)]


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

    All copies of a row are in one third, so that a row of weight 2 is the row twice.
    """
    third = np.empty(len(labels), np.int64)
    third[by_class(labels.codes)] = np.arange(len(labels)) % THIRDS
    times = THIRDS if labels.weights.sum() < FEW else 1
    return [(np.flatnonzero(third != t), np.flatnonzero(third == t)) for t in range(times)]
