"""The convex problem of what is added to naive Bayes: slopes, and weights of evidence, by ridge.

The joint log likelihood of a row is what it was, plus functions of the row times slopes, plus
evidence times non-negative weights. The penalised log loss has one minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.evaluation.losses import log_losses, posterior
from naively.kernels.reference import Floats

CURVE = 0.15  # of the log loss of a row, about: what steps are scaled by
STEPS = 20  # of the search
MEMORY = 10  # steps that are remembered
TOLERANCE = 1e-5  # of the loss, relative to it


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
        takes half the time.
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
        return Problem(self.joint[rows], self.labels.take(rows), self.z[rows], evidence)

    def first(self, rows: int) -> Problem:
        """Return so many rows at most."""
        return self if rows >= len(self.joint) else self.take(np.arange(rows))

    def joint_with(self, found: Solution) -> Floats:
        """Return the joint log likelihoods with what is added, of shape (rows, classes)."""
        joint = self.joint + self.z @ found.slope.astype(self.z.dtype)
        if self.evidence is not None:
            joint += self.evidence @ found.weight.astype(self.evidence.dtype)
        return joint

    def posterior(self, found: Solution) -> Floats:
        """Return the posteriors with what is added, of shape (rows, classes)."""
        return posterior(self.joint_with(found))

    def loss(self, found: Solution) -> float:
        """Return the sum of the rows' log losses, in nats, with what is added."""
        return log_losses(self.joint_with(found).T, self.labels)[0]


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
    from scipy.optimize import minimize

    two = problem.labels.k == 2
    loss, size, curve = (_of_two if two else _of_many)(problem)
    penalty = np.full(size, ridge / 2 if two else ridge)  # of two classes each has half a slope
    scale = np.full(size, 1 / np.sqrt(CURVE * problem.labels.weights.sum() + ridge))
    penalty = np.append(penalty, np.full(problem.pairs, of_evidence))
    scale = np.append(scale, 1 / np.sqrt(CURVE * curve + of_evidence))

    def penalised(x: Floats) -> tuple[float, Floats]:
        u = x * scale
        of_rows, gradient = loss(u)
        return of_rows + float(penalty @ u**2) / 2, (gradient + penalty * u) * scale

    free = start.slope[:, 1] - start.slope[:, 0] if two else start.slope.T.ravel()
    bounds = [(None, None)] * size + [(0.0, None)] * problem.pairs if problem.pairs else None
    result = minimize(
        penalised,
        np.append(free, start.weight) / scale,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "maxcor": MEMORY, "ftol": TOLERANCE, "gtol": 1e-2},
    )
    u = result.x * scale
    if two:
        return Solution(np.outer(u[:size], [-0.5, 0.5]), u[size:])
    slope = u[:size].reshape(problem.labels.k, -1).T
    return Solution(slope - slope.mean(axis=1, keepdims=True), u[size:])


# Returns the loss of all rows and its gradient, each slope's and then each weight's.
Loss = Callable[[Floats], tuple[float, Floats]]


def _of_two(problem: Problem) -> tuple[Loss, int, Floats]:
    """Return the loss of two classes, how many slopes are free, and the curvature of weights.

    Only the log odds matter, so that each function has one free slope.
    """
    odds = problem.joint[:, 1] - problem.joint[:, 0]
    z = problem.z
    size = z.shape[1]
    right, weight = problem.labels.codes == 1, problem.labels.weight
    sign = np.where(right, -1.0, 1.0)
    if problem.evidence is not None:
        z = np.hstack([z, (problem.evidence[:, 1] - problem.evidence[:, 0]).astype(z.dtype)])
    zt = np.ascontiguousarray(z.T)

    def loss(u: Floats) -> tuple[float, Floats]:
        wrong = sign * (odds + u.astype(zt.dtype) @ zt)  # log odds of the wrong class
        e = np.exp(-np.abs(wrong))
        losses = np.maximum(wrong, 0.0) + np.log1p(e)
        p = np.where(wrong > 0, 1.0, e) / (1.0 + e) * sign
        if weight is not None:
            losses, p = losses * weight, p * weight
        return float(losses.sum()), zt @ p.astype(zt.dtype)

    of_pairs = zt[size:]
    return loss, size, np.einsum("ij,ij->i", of_pairs, of_pairs) / 2


def _of_many(problem: Problem) -> tuple[Loss, int, Floats]:
    """Return the loss of many classes, how many slopes are free, and the curvature of weights."""
    k, (n, m) = problem.labels.k, problem.z.shape
    joint, zt = np.ascontiguousarray(problem.joint.T), np.ascontiguousarray(problem.z.T)
    evidence: NDArray[np.floating] = np.empty((0, k * n))
    if problem.evidence is not None:
        evidence = np.ascontiguousarray(problem.evidence.transpose(2, 1, 0)).reshape(-1, k * n)

    def loss(u: Floats) -> tuple[float, Floats]:
        added = joint + u[: k * m].reshape(k, m).astype(zt.dtype) @ zt
        if len(evidence):
            added += (u[k * m :].astype(evidence.dtype) @ evidence).reshape(k, n)
        total, excess = log_losses(added, problem.labels)
        gradient = (excess.astype(zt.dtype) @ problem.z).ravel()
        if len(evidence):
            of_weights = evidence @ excess.ravel().astype(evidence.dtype)
            gradient = np.append(gradient, of_weights)
        return total, gradient

    return loss, k * m, np.einsum("ij,ij->i", evidence, evidence)
