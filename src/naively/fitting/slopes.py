"""Slopes of functions of rows: a convex problem, and the ridge that held-out rows choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.fitting.leave_one_out import Third
from naively.fitting.search import Curvature, Passes, Penalty, least
from naively.kernels.reference import Floats

# --- One convex problem: slopes of functions that are added to joint log likelihoods --------------
#
# The joint log likelihood of a row is what it was, plus functions of the row times slopes. The
# penalised log loss has one minimum.


STEPS = 20  # of the search
TOLERANCE = 1e-6  # of the loss, relative to it, that another step must gain


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
    """

    joint: Floats
    labels: Labels
    z: NDArray[np.floating]

    def take(self, rows: NDArray[np.int64]) -> Problem:
        """Return some of the rows, by their numbers."""
        z = self.z.T.take(rows, axis=1).T
        return Problem(self.joint[rows], self.labels.take(rows), z)

    def first(self, rows: int) -> Problem:
        """Return so many rows at most."""
        return self if rows >= len(self.joint) else self.take(np.arange(rows))

    def joint_with(self, slope: Floats) -> Floats:
        """Return the joint log likelihoods with what is added, of shape (rows, classes)."""
        return np.asarray(self.joint + self.z @ slope.astype(self.z.dtype))

    @cached_property
    def passes(self) -> Passes:
        """The rows, laid out for many passes."""
        none = np.empty((self.labels.k, 0, len(self.z)), np.float32)
        return Passes.of(self.joint.T, self.labels, self.z.T, none, free=np.zeros(0, np.bool_))

    @cached_property
    def curvature(self) -> Curvature:
        """The second derivatives of the log loss, about, with nothing added."""
        return self.passes.curvature(self.arguments(self.nothing))

    @property
    def nothing(self) -> Floats:
        """Slopes of 0, of shape (functions, classes)."""
        return np.zeros((self.z.shape[1], self.labels.k))

    def arguments(self, slope: Floats) -> Floats:
        """Return slopes as what the passes take."""
        return slope[:, 1] - slope[:, 0] if self.labels.k == 2 else slope.T.ravel()

    def loss(self, slope: Floats) -> float:
        """Return the sum of the rows' log losses, in nats, with what is added."""
        return self.passes.loss(self.arguments(slope))[0]


def solve(problem: Problem, ridge: float, start: Floats, steps: int = STEPS) -> Floats:
    """Return the slopes of the least penalised log loss, of shape (functions, classes)."""
    passes, two = problem.passes, problem.labels.k == 2
    # Of two classes each has half a slope.
    penalty = np.full(passes.slopes, ridge / 2 if two else ridge)
    x = least(
        passes,
        Penalty(penalty, np.zeros(0), np.zeros(len(penalty))),
        problem.arguments(start),
        lambda _: problem.curvature,
        steps=steps,
        tolerance=TOLERANCE,
        again=False,
    )
    slope = passes.split(x)[0].T
    return np.asarray(slope * [-0.5, 0.5] if two else slope - slope.mean(axis=1, keepdims=True))


# --- The ridge: that of least log loss on held-out thirds ----------------------------------------


RIDGES = (1000.0, 200.0, 40.0, 8.0, 1.6, 0.3, 0.06)
MANY = 1_000.0  # rows: of fewer the ridges are stronger,
FEW_PARTS = 10  # and of more parts of the evidence than these
WEAKEST = 0.0005  # that is tried where each ridge beyond these, a fifth of the one before,
FURTHER = 1.0  # lowers the log loss of the held-out rows by so many nats
PATIENCE = 2  # ridges that are no better than the best, after which no weaker one is tried
NO_ROWS = 1e-9  # as few as are none


class Run(NamedTuple):
    """Rows to fit and a third that is held out."""

    rest: Problem
    held: Problem

    @classmethod
    def of(cls, problem: Problem, third: Third) -> Run:
        """Return the rows of a problem, with what a model says that never saw the third."""
        problem = Problem(third.joint, problem.labels, problem.z)
        return cls(problem.take(third.rest), problem.take(third.held))


class Descent(NamedTuple):
    """The ridge of least log loss on held-out rows; None if none lowers the loss."""

    ridge: float | None
    loss: float  # in nats, summed over the held-out rows
    found: list[Floats]  # the slopes of each run


def loss_before(runs: Sequence[Run]) -> float:
    """Return the log loss of the held-out rows with nothing added, in nats."""
    return sum(run.held.loss(run.held.nothing) for run in runs)


def ridges_of(labels: Labels, parts: int) -> list[float]:
    """Return the ridges that are tried on rows of so many parts, from strong to weak.

    A sum of many slopes varies by more than one of few, and few rows say less of it. The weakest is
    for rows of any number of parts: where the truth is a sum of many slopes, all are needed.
    """
    few = 1 + MANY / max(labels.total, NO_ROWS)
    found = [ridge * max(1.0, parts / FEW_PARTS) * few for ridge in RIDGES]
    while found[-1] > WEAKEST * few:
        found.append(max(found[-1] / 5, WEAKEST * few))
    return found


def descend(
    runs: Sequence[Run],
    ridges: Sequence[float],
    enough: float = 0.0,
) -> Descent:
    """Try ridges from strong to weak, and return the one of least loss on the held-out rows.

    The loss is to be lowered by ``enough`` nats, and by each ridge beyond ``RIDGES`` by ``FURTHER``
    more.
    """
    found = nothing = kept = [run.rest.nothing for run in runs]
    bar = loss_before(runs) - enough
    best, least, bad = ridges[0], float("inf"), 0
    for i, ridge in enumerate(ridges):
        found = [solve(run.rest, ridge, start) for run, start in zip(runs, found, strict=True)]
        loss = sum(run.held.loss(of) for run, of in zip(runs, found, strict=True))
        if loss < least - (FURTHER + enough) * (i >= len(RIDGES)):
            least, best, bad, kept = loss, ridge, 0, found
        else:
            bad += 1
            if bad == PATIENCE:
                break
    if least >= bar:
        return Descent(None, bar, nothing)
    return Descent(best, least, kept)
