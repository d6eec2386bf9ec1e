"""The log loss of rows whose joint log likelihoods are sums, and its gradient, in plain NumPy.

Weights, slopes and biases are fitted by passes over the same rows. The rows lie in blocks of 64,
the numbers of a block's rows side by side, so that a pass is one stream through memory and takes
several rows at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
