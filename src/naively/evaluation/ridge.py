"""The convex problem of what is added to naive Bayes: slopes, and weights of evidence, by ridge.

The joint log likelihood of a row is what it was, plus a matrix of functions times slopes, plus
evidence times non-negative weights. The penalised log loss has one minimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.kernels.reference import Floats

CURVE = 0.15  # of the log loss of a row, about: what steps are scaled by
STEPS = 40  # of the search
MEMORY = 10  # steps that are remembered


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
        Functions of each row, each of which has a slope for each class.
    evidence : ndarray of shape (rows, classes, pairs), optional
        Evidence, each of which has one weight that is at least 0.
    """

    joint: Floats
    labels: Labels
    z: Floats
    evidence: NDArray[np.floating] | None = None

    @property
    def pairs(self) -> int:
        """How many weights of evidence there are."""
        return 0 if self.evidence is None else self.evidence.shape[2]

    def take(self, rows: NDArray[np.int64]) -> Problem:
        """Return some of the rows, by their numbers."""
        evidence = None if self.evidence is None else self.evidence[rows]
        return Problem(self.joint[rows], self.labels.take(rows), self.z[rows], evidence)

    def joint_with(self, found: Solution) -> Floats:
        """Return the joint log likelihoods with what is added, of shape (rows, classes)."""
        joint = self.joint + self.z @ found.slope
        if self.evidence is not None:
            joint += self.evidence @ found.weight
        return joint

    def posterior(self, found: Solution) -> Floats:
        """Return the posteriors with what is added, of shape (rows, classes)."""
        joint = self.joint_with(found)
        p: Floats = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
        return p

    def loss(self, found: Solution) -> float:
        """Return the sum of the rows' log losses, in nats, with what is added."""
        return float(_log_losses(self.joint_with(found), self.labels)[0])


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

    k, (n, m), pairs = problem.labels.k, problem.z.shape, problem.pairs
    two = k == 2  # one slope then stands for both classes: plus half of it, and minus half
    width = 1 if two else k
    total = float(problem.labels.weights.sum())
    scale = np.full(m * width, 1 / np.sqrt(CURVE * total + ridge))
    penalty = np.full(m * width, ridge / 2 if two else ridge)
    z, zt = problem.z, np.ascontiguousarray(problem.z.T)
    evidence = np.empty((n * k, 0)) if problem.evidence is None else problem.evidence
    evidence = evidence.reshape(n * k, pairs)
    if pairs:
        curve = CURVE * np.einsum("ij,ij->j", evidence, evidence)
        scale = np.append(scale, 1 / np.sqrt(curve + of_evidence))
        penalty = np.append(penalty, np.full(pairs, of_evidence))
    half = np.array([-0.5, 0.5])

    def loss(x: Floats) -> tuple[float, Floats]:
        u = x * scale
        slope = u[: m * width].reshape(m, width)
        added = z @ slope
        joint = problem.joint + (added * half if two else added)
        if pairs:
            joint = joint + (evidence @ u[m * width :]).reshape(n, k)
        of_rows, excess = _log_losses(joint, problem.labels)
        of_slope = zt @ (excess[:, 1:] if two else excess)
        gradient = np.append(of_slope.ravel(), evidence.T @ excess.ravel() if pairs else [])
        return of_rows + float(penalty @ u**2) / 2, (gradient + penalty * u) * scale

    slope = start.slope[:, 1:] - start.slope[:, :1] if two else start.slope
    bounds = [(None, None)] * (m * width) + [(0.0, None)] * pairs if pairs else None
    result = minimize(
        loss,
        np.append(slope.ravel(), start.weight) / scale,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "maxcor": MEMORY, "ftol": 3e-6, "gtol": 1e-2},
    )
    u = result.x * scale
    slope = u[: m * width].reshape(m, width)
    slope = slope * half if two else slope - slope.mean(axis=1, keepdims=True)
    return Solution(slope, u[m * width :])


def _log_losses(joint: Floats, labels: Labels) -> tuple[float, Floats]:
    """Return the sum of the rows' log losses, and their posteriors less what is right.

    Both are times the weights of the rows; the second is of shape (rows, classes).
    """
    right = np.arange(len(joint)), labels.codes
    p = joint - joint.max(axis=1, keepdims=True)
    at_right = p[right]
    np.exp(p, out=p)
    total = p.sum(axis=1)
    losses = np.log(total) - at_right
    p /= total[:, None]
    p[right] -= 1
    if labels.weight is None:
        return float(losses.sum()), p
    p *= labels.weight[:, None]
    return float(losses @ labels.weight), p
