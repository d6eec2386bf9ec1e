"""The slopes and weights of the least log loss and penalty: what all searches have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from naively.evaluation.passes import Passes
from naively.evaluation.search import Curvature, minimise
from naively.kernels import dispatch
from naively.kernels.reference import Floats

SMALL = 2_000_000  # rows and half of the arguments, times squared arguments: for Newton's method


@dataclass(frozen=True, eq=False)
class Penalty:
    """What shrinks slopes and weights: half a sum of squares.

    Parameters
    ----------
    alone : ndarray of shape (arguments,)
        Times the square of each argument less its centre.
    together : ndarray of shape (parts,)
        Times the square of what these differences add up to over the weights of a part.
    centre : ndarray of shape (arguments,)
        What each argument is shrunk towards.
    """

    alone: Floats
    together: Floats
    centre: Floats

    def of(self, passes: Passes, x: Floats) -> tuple[float, Floats]:
        """Return the penalty of arguments, and its gradient."""
        off = x - self.centre
        gradient = self.alone * off
        twice = float(gradient @ off)
        if self.together.any():
            of_part = passes.split(off)[1].sum(axis=0)
            each = np.broadcast_to(self.together * of_part, passes.number.shape)
            gradient[passes.slopes :] += passes.by_number(each)
            twice += float(self.together @ of_part**2)
        return twice / 2, gradient

    def diagonal(self, passes: Passes) -> Floats:
        """Return the second derivative by each argument."""
        found = self.alone.copy()
        found[passes.slopes :][passes.number] += self.together
        return found


def least(
    passes: Passes,
    penalty: Penalty,
    start: Floats,
    curvature: Callable[[Floats], Curvature],
    *,
    steps: int,
    tolerance: float,
    again: bool = True,
) -> Floats:
    """Return slopes, and weights that are at least 0, of the least log loss and penalty.

    Parameters
    ----------
    passes : Passes
        The rows.
    penalty : Penalty
        What is added to their log loss.
    start : ndarray of shape (arguments,)
        Where the search begins.
    curvature : callable
        Returns an estimate of the second derivatives of the log loss at arguments; small problems
        need none.
    steps, tolerance, again
        As ``minimise`` takes them.
    """
    labels = passes.labels
    if (len(labels) + len(start) / 2) * len(start) ** 2 <= SMALL:
        return dispatch.minimise_softmax(
            passes.start,
            passes.shared,
            passes.own,
            passes.number,
            labels.codes,
            labels.weight,
            start,
            penalty.alone,
            penalty.together,
            penalty.centre,
            steps,
            tolerance,
        )

    def penalised(x: Floats) -> tuple[float, Floats]:
        loss, gradient = passes.loss(x)
        more, by_argument = penalty.of(passes, x)
        return loss + more, gradient + by_argument

    return minimise(
        penalised,
        start,
        np.arange(len(start)) >= passes.slopes,
        lambda x: curvature(x).plus(penalty.diagonal(passes)),
        steps=steps,
        tolerance=tolerance,
        again=again,
    )
