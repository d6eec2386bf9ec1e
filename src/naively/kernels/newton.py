"""The least penalised log loss of few rows by few arguments, by Newton's method, in plain NumPy.

The arguments are slopes, column by column, and then weights, which are at least 0. The rows are
those of ``softmax_loss``.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.kernels.softmax import Singles, posterior_of, softmax_loss

SLOPE = 1e-4  # of what the gradient promises, the least that a step must gain
SHORTER = 12  # times that a step is shortened, at most
ROUNDING = 1e-9  # of the loss, which a step may seem to lose by rounding
STEADIER = 1e-10  # of what a class says, added to the diagonal: rounding has no step go astray
Floats = NDArray[np.float64]


def minimise_softmax(
    start: Singles,
    shared: Singles,
    own: Singles,
    number: NDArray[np.int64],
    codes: NDArray[np.int32],
    row_weight: Floats | None,
    x: Floats,
    alone: Floats,
    together: Floats,
    centre: Floats,
    steps: int,
    tolerance: float,
) -> Floats:
    """Return the arguments of the least log loss and penalty.

    The penalty is half the sum of the squares of all arguments less their centres, times ``alone``,
    and of the squares of what these differences add up to over the weights of a part, times
    ``together``.

    Parameters
    ----------
    start, shared, own, codes, row_weight : ndarray
        As ``softmax_loss`` takes them.
    number : ndarray of int64, of shape (columns, parts)
        The number of each weight; weights of one number are equal.
    x : ndarray of float64, of shape (arguments,)
        Where the search begins.
    alone, centre : ndarray of float64, of shape (arguments,)
        The penalty of each argument.
    together : ndarray of float64, of shape (parts,)
        The penalty of the weights of each part.
    steps : int
        The most steps.
    tolerance : float
        The search ends with the step that would gain less than this share of the loss.
    """
    (_, columns, functions), parts = (len(start), start.shape[1], shared.shape[1]), own.shape[2]
    slopes, n = columns * functions, len(x)
    if n < slopes or (number.size and not (number.min() >= 0 and number.max() < n - slopes)):
        raise ValueError("the number of a weight is out of range")
    at = np.concatenate([np.arange(slopes).reshape(columns, -1), slopes + number], axis=1)
    least = np.where(np.arange(n) < slopes, -np.inf, 0.0)
    of_parts = np.zeros((parts, n))  # how often each argument is among the weights of a part
    np.add.at(of_parts, (np.arange(parts), slopes + number), 1.0)
    penalty = np.diag(alone) + (of_parts.T * together) @ of_parts

    weights = np.ones(len(codes)) if row_weight is None else row_weight
    values = [
        np.concatenate([_rows(shared, len(codes)), _rows(own[:, c], len(codes))])
        for c in range(columns)
    ]

    def evaluate(x: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        slope, weight = x[:slopes].reshape(columns, functions), x[slopes + number]
        total, found = softmax_loss(start, shared, slope, own, weight, codes, row_weight)
        gradient = np.bincount(at.ravel(), found[:, :-1].ravel(), n) + penalty @ (x - centre)
        return total + float((x - centre) @ penalty @ (x - centre)) / 2, gradient

    def second(x: Floats) -> Floats:
        """Return the second derivatives."""
        slope, weight = x[:slopes].reshape(columns, functions), x[slopes + number]
        p = posterior_of(start, shared, slope, own, weight, len(codes))
        matrix, mean = penalty.copy(), np.zeros((n, len(codes)))
        for c in range(columns):
            likely = p[c] * values[c]
            mean[at[c]] += likely
            of_class = (weights * likely) @ values[c].T
            of_class[np.diag_indices_from(of_class)] *= 1 + STEADIER
            matrix[np.ix_(at[c], at[c])] += of_class
        return matrix - (weights * mean) @ mean.T

    x = np.maximum(x, least)
    value, gradient = evaluate(x)
    for _ in range(steps):
        free = (x > least) | (gradient <= 0)
        way = _step(second(x), gradient, free)
        gain = -float(way @ gradient) / 2
        if not gain > 0:
            break
        if gain < tolerance * abs(value):
            return np.maximum(x + way, least)
        length = 1.0
        for _ in range(SHORTER):
            new = np.maximum(x + length * way, least)
            promised = float(gradient @ (new - x))
            new_value, new_gradient = evaluate(new)
            if new_value <= value + SLOPE * promised + ROUNDING * abs(value):
                break
            # The minimum of the parabola through what is known.
            excess = new_value - value - promised
            length *= min(max(-promised / (2 * excess) if excess > 0 else 0.5, 0.1), 0.5)
        else:
            break
        x, value, gradient = new, new_value, new_gradient
    return x


def _rows(blocks: NDArray[Any], rows: int) -> Floats:
    """Take blocks, (blocks, values, 64), apart: (values, rows)."""
    values = np.moveaxis(blocks, 0, 1).reshape(blocks.shape[1], blocks.shape[-1] * len(blocks))
    return values[:, :rows].astype(np.float64)


def _step(matrix: Floats, gradient: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return Newton's step of the free arguments."""
    step = np.zeros(len(gradient))
    with suppress(np.linalg.LinAlgError):
        step[free] = np.linalg.solve(matrix[np.ix_(free, free)], -gradient[free])
    return step
