"""The loss of a softmax over a table of evidence, its gradient, and Newton's steps down it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

# --- The log loss of rows whose joint log likelihoods are sums, and its gradient, in NumPy -------
#
# Weights, slopes and biases are fitted by passes over the same rows. The rows lie in blocks of 64,
# the numbers of a block's rows side by side, so that a pass is one stream through memory and takes
# several rows at a time.


BLOCK = 64  # rows
Singles = NDArray[np.float32]
Loss = Callable[[Floats], tuple[float, Floats]]  # and its gradient


def softmax_loss(
    start: Singles,  # (blocks, columns, 64): what the sums begin with
    shared: Singles,  # (blocks, functions, 64): functions of the row
    slope: Floats,  # (columns, functions)
    own: Singles,  # (blocks, columns, parts, 64): evidence for each class
    weight: Floats,  # (columns, parts)
    codes: NDArray[np.int32],  # (rows,): the class of each row
    row_weight: Floats | None,  # (rows,); None if every row weighs one
    single: bool = False,  # noqa: ARG001  (whether sums of up to 1,024 rows may be float32)
) -> tuple[float, Floats]:
    """Return the log loss of all rows, in nats, and its gradient."""
    # The joint log likelihood of a class is its start, plus functions of the row times the slopes
    # of the class, plus evidence for the class times weights of the class. For two classes only the
    # log odds of the second are given, as one column; else there is a column for each class. The
    # gradient, (columns, functions + parts + 1), is by the slopes, by the weights, and by what is
    # added to all rows of a class.
    rows, (blocks, columns, _) = len(codes), start.shape
    if blocks != -(-rows // BLOCK):
        raise ValueError("the shape of start is wrong")
    if rows and not (codes.min() >= 0 and codes.max() < max(columns, 2)):
        raise ValueError("a class code is out of range")
    joint = _joint(start, shared, slope, own, weight, rows)
    losses, excess = (_of_two if columns == 1 else _of_many)(joint, codes)
    if row_weight is not None:
        losses, excess = losses * row_weight, excess * row_weight
    padded = np.pad(excess, ((0, 0), (0, blocks * BLOCK - rows)))
    by_block = padded.reshape(columns, blocks, BLOCK).swapaxes(0, 1)
    gradient = np.concatenate(
        [
            (by_block @ shared.transpose(0, 2, 1)).sum(axis=0),
            (own @ by_block[..., None])[..., 0].sum(axis=0),
            excess.sum(axis=1, keepdims=True),
        ],
        axis=1,
    )
    return float(losses.sum()), gradient


def _joint(
    start: Singles, shared: Singles, slope: Floats, own: Singles, weight: Floats, rows: int
) -> Floats:
    """Return the joint log likelihoods, (columns, rows), of the arguments of ``softmax_loss``."""
    joint = start + slope @ shared + (weight[:, None] @ own)[:, :, 0]
    return np.moveaxis(joint, 0, 1).reshape(joint.shape[1], -1)[:, :rows]


def _of_two(odds: Floats, codes: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Return the loss of each row by the log odds of class 1, (1, rows), and the gradient."""
    sign = np.where(codes == 1, -1.0, 1.0)
    wrong = sign * odds[0]
    e = np.exp(-np.abs(wrong))
    losses = np.maximum(wrong, 0.0) + np.log1p(e)
    return losses, (sign * np.where(wrong > 0, 1.0, e) / (1.0 + e))[None]


def _of_many(joint: Floats, codes: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Return the loss of each row by its joint, (classes, rows), and the gradient."""
    right = codes, np.arange(len(codes))
    p = joint - joint.max(axis=0)
    at_right = p[right]
    np.exp(p, out=p)
    norm = p.sum(axis=0)
    p /= norm
    p[right] -= 1
    return np.log(norm) - at_right, p


# --- The least penalised log loss of few rows by few arguments, by Newton's method, in NumPy -----
#
# The arguments are slopes, column by column, and then weights, which are at least 0. The rows are
# those of ``softmax_loss``.


SLOPE = 1e-4  # of what the gradient promises, the least that a step must gain
SHORTER = 12  # times that a step is shortened, at most
ROUNDING = 1e-9  # of the loss, which a step may seem to lose by rounding
STEADIER = 1e-10  # of what a class says, added to the diagonal: rounding has no step go astray


def minimise_softmax(
    start: Singles,  # it and the others that ``softmax_loss`` has are as there
    shared: Singles,
    own: Singles,
    number: NDArray[np.int64],  # (columns, parts): that of each weight; of one number all are equal
    codes: NDArray[np.int32],
    row_weight: Floats | None,
    x: Floats,  # (arguments,): where the search begins
    alone: Floats,  # (arguments,)
    together: Floats,  # (parts,)
    centre: Floats,  # (arguments,)
    steps: int,
    tolerance: float,  # the search ends with the step that would gain less than this share
) -> Floats:
    """Return the arguments of the least log loss and penalty."""
    # The penalty is half the sum of the squares of all arguments less their centres, times
    # ``alone``, and of the squares of what these differences add up to over the weights of a part,
    # times ``together``.
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
    blocks = (np.concatenate([shared, own[:, c]], axis=1) for c in range(columns))
    values = [
        np.moveaxis(both, 0, 1)
        .reshape(functions + parts, len(start) * BLOCK)[:, : len(codes)]
        .astype(np.float64)
        for both in blocks
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
        joint = _joint(start, shared, slope, own, weight, len(codes))
        if columns == 1:
            joint = np.concatenate([np.zeros_like(joint), joint])
        p = np.exp(joint - joint.max(axis=0))
        p = (p / p.sum(axis=0))[-columns:]
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
        way = np.zeros(n)
        with suppress(np.linalg.LinAlgError):
            way[free] = np.linalg.solve(second(x)[np.ix_(free, free)], -gradient[free])
        gain = -float(way @ gradient) / 2
        if not gain > 0:
            break
        if gain < tolerance * abs(value):
            return np.maximum(x + way, least)
        found = shortened(evaluate, x, value, gradient, way, least)
        if found is None:
            break
        x, value, gradient = found
    return x


def shortened(
    loss: Loss, x: Floats, value: float, gradient: Floats, way: Floats, least: Floats
) -> tuple[Floats, float, Floats] | None:
    """Return the end of a step, its loss and gradient; None if none gains anything."""
    length = 1.0
    for _ in range(SHORTER):
        new = np.maximum(x + length * way, least)
        promised = float(gradient @ (new - x))
        new_value, new_gradient = loss(new)
        if new_value <= value + SLOPE * promised + ROUNDING * abs(value):
            return new, new_value, new_gradient
        # The minimum of the parabola through what is known.
        excess = new_value - value - promised
        length *= min(max(-promised / (2 * excess) if excess > 0 else 0.5, 0.1), 0.5)
    return None
