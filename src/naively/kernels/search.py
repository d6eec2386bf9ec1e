"""The loss of a softmax over a table of evidence, its gradient, and Newton's steps down it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

# --- Softmax -------------------------------------------------------------------------------------
#
# The log loss of rows whose joint log likelihoods are sums, and its gradient, in plain NumPy.
#
# Weights, slopes and biases are fitted by passes over the same rows. The rows lie in blocks of 64,
# the numbers of a block's rows side by side, so that a pass is one stream through memory and takes
# several rows at a time.


BLOCK = 64  # rows
Singles = NDArray[np.float32]


def blocked(
    values: NDArray[np.floating],
    dtype: type[np.floating] = np.float32,
    order: NDArray[np.int64] | None = None,
) -> NDArray[Any]:
    """Return numbers of rows, (..., rows), in blocks, (blocks, ..., 64), 0 past the last row.

    With ``order`` the last axis but that of the rows is in this order.

    Examples
    --------
    >>> blocked(np.ones((3, 100))).shape
    (2, 3, 64)
    """
    rows = values.shape[-1]
    whole, rest = divmod(rows, BLOCK)
    here: tuple[Any, ...] = (...,) if order is None else (..., order)
    found = np.empty((whole + (rest > 0), *values.shape[:-1], BLOCK), dtype)
    with np.errstate(over="ignore"):  # a number that is too large for the type is infinite
        for block in range(whole):  # one by one, so that what is read and written stays cached
            found[block] = values[*here, block * BLOCK : (block + 1) * BLOCK]
        if rest:
            found[whole, ..., :rest] = values[*here, whole * BLOCK :]
            found[whole, ..., rest:] = 0.0
    return found


def softmax_loss(
    start: Singles,
    shared: Singles,
    slope: NDArray[np.float64],
    own: Singles,
    weight: NDArray[np.float64],
    codes: NDArray[np.int32],
    row_weight: NDArray[np.float64] | None,
    single: bool = False,  # noqa: ARG001
) -> tuple[float, NDArray[np.float64]]:
    """Return the log loss of all rows, in nats, and its gradient.

    The joint log likelihood of a class is its start, plus functions of the row times the slopes of
    the class, plus evidence for the class times weights of the class. Of two classes only the log
    odds of the second are given, as one column; else there is a column for each class.

    Parameters
    ----------
    start : ndarray of float32, of shape (blocks, columns, 64)
        What the sums begin with.
    shared : ndarray of float32, of shape (blocks, functions, 64)
        Functions of the rows.
    slope : ndarray of float64, of shape (columns, functions)
        Their slopes.
    own : ndarray of float32, of shape (blocks, columns, parts, 64)
        Evidence for each class.
    weight : ndarray of float64, of shape (columns, parts)
        Its weights.
    codes : ndarray of int32, of shape (rows,)
        The class of each row.
    row_weight : ndarray of float64, of shape (rows,), or None
        The weight of each row; None if every row weighs one.
    single : bool, default False
        Whether sums over functions and parts, and over up to 1,024 rows, may be in single
        precision, which is twice as fast where they are many.

    Returns
    -------
    loss : float
        The sum over the rows, each times its weight.
    gradient : ndarray of float64, of shape (columns, functions + parts + 1)
        By the slopes, by the weights, and by what is added to all rows of a class.
    """
    rows, (blocks, columns, _) = len(codes), start.shape
    if blocks != -(-rows // BLOCK):
        raise ValueError("the shape of start is wrong")
    if rows and not (codes.min() >= 0 and codes.max() < max(columns, 2)):
        raise ValueError("a class code is out of range")
    joint = _joint(start, shared, slope, own, weight, rows)
    losses, excess = (_of_two if columns == 1 else _of_many)(joint, codes)
    if row_weight is not None:
        losses, excess = losses * row_weight, excess * row_weight
    by_block = blocked(excess, np.float64)
    gradient = np.concatenate(
        [
            (by_block @ shared.transpose(0, 2, 1)).sum(axis=0),
            (own @ by_block[..., None])[..., 0].sum(axis=0),
            excess.sum(axis=1, keepdims=True),
        ],
        axis=1,
    )
    return float(losses.sum()), gradient


def posterior_of(
    start: Singles,
    shared: Singles,
    slope: NDArray[np.float64],
    own: Singles,
    weight: NDArray[np.float64],
    rows: int,
) -> NDArray[np.float64]:
    """Return the posteriors, (columns, rows), by the arguments of ``softmax_loss``."""
    joint = _joint(start, shared, slope, own, weight, rows)
    if len(joint) == 1:
        joint = np.concatenate([np.zeros_like(joint), joint])
        return _posterior(joint)[1:]
    return _posterior(joint)


def _joint(
    start: Singles,
    shared: Singles,
    slope: NDArray[np.float64],
    own: Singles,
    weight: NDArray[np.float64],
    rows: int,
) -> NDArray[np.float64]:
    """Return the joint log likelihoods, (columns, rows)."""
    joint = start + slope @ shared + (weight[:, None] @ own)[:, :, 0]
    return np.moveaxis(joint, 0, 1).reshape(joint.shape[1], -1)[:, :rows]


def _posterior(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    p: NDArray[np.float64] = np.exp(joint - joint.max(axis=0))
    p /= p.sum(axis=0)
    return p


def _of_two(
    odds: NDArray[np.float64], codes: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the loss of each row by the log odds of class 1, (1, rows), and the gradient."""
    sign = np.where(codes == 1, -1.0, 1.0)
    wrong = sign * odds[0]
    e = np.exp(-np.abs(wrong))
    losses = np.maximum(wrong, 0.0) + np.log1p(e)
    return losses, (sign * np.where(wrong > 0, 1.0, e) / (1.0 + e))[None]


def _of_many(
    joint: NDArray[np.float64], codes: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the loss of each row by its joint, (classes, rows), and the gradient."""
    right = codes, np.arange(len(codes))
    p = joint - joint.max(axis=0)
    at_right = p[right]
    np.exp(p, out=p)
    norm = p.sum(axis=0)
    p /= norm
    p[right] -= 1
    return np.log(norm) - at_right, p


# --- Newton --------------------------------------------------------------------------------------
#
# The least penalised log loss of few rows by few arguments, by Newton's method, in plain NumPy.
#
# The arguments are slopes, column by column, and then weights, which are at least 0. The rows are
# those of ``softmax_loss``.


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
