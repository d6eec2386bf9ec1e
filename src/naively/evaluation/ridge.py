"""The convex problem of what is added to naive Bayes: slopes, and weights of evidence, by ridge.

The joint log likelihood of a row is what it was, plus functions of the row times slopes, plus
evidence times non-negative weights. The penalised log loss has one minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.evaluation.losses import posterior
from naively.evaluation.passes import Passes
from naively.evaluation.penalised import Penalty, least
from naively.evaluation.search import Curvature
from naively.kernels.reference import Floats

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
    evidence : ndarray of shape (rows, classes, pairs), optional
        Evidence, each of which has one weight that is at least 0.
    """

    joint: Floats
    labels: Labels
    z: NDArray[np.floating]
    evidence: NDArray[np.floating] | None = None

    @property
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
    problem: Problem, ridge: float, of_evidence: float, start: Solution, steps: int = STEPS
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
        tolerance=TOLERANCE,
        again=False,
    )
    slope, weight = passes.split(x)[0].T, x[passes.slopes :]
    if two:
        return Solution(slope * [-0.5, 0.5], weight)
    return Solution(slope - slope.mean(axis=1, keepdims=True), weight)
