"""Rows laid out for many passes over them: what is added to their joint, its loss and curvature.

To the joint log likelihood of a class are added functions of the row times slopes of the class, and
evidence times weights. Of two classes only the log odds matter, so that half is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.evaluation.curvature import Beside, Blocks, Product
from naively.evaluation.search import Curvature
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.kernels.search import BLOCK, blocked

SOME = 1_024  # rows, at least, that the curvature is estimated on,
FOR_EACH = 6  # and so many for each slope and weight of a class
LARGEST = 200  # slopes and weights of a class, of more of which only the diagonal is estimated
FEW = 200  # slopes and weights of all classes, whose curvature is estimated as a whole
FAR = 500.0  # log odds
LEAST_WEIGHT = 1e-300
HUGE_WEIGHT = 1e6  # of a row


@dataclass(frozen=True, eq=False)
class Passes:
    """Rows in blocks of 64, of which a class has a column, or two classes one.

    Parameters
    ----------
    start : ndarray of shape (blocks, columns, 64)
        Joint log likelihoods, or log odds.
    shared : ndarray of float32, of shape (blocks, functions, 64)
        Functions of the rows.
    own : ndarray of float32, of shape (blocks, columns, parts, 64)
        Evidence.
    number : ndarray of shape (columns, parts)
        The number of each weight; weights of one number are equal.
    labels : Labels
        The classes and weights of the rows.
    single : bool
        Whether sums may be in single precision.
    """

    start: NDArray[np.float32]
    shared: NDArray[np.float32]
    own: NDArray[np.float32]
    number: NDArray[np.int64]
    labels: Labels
    single: bool = False

    @classmethod
    def of(
        cls,
        joint: Floats,
        labels: Labels,
        z: NDArray[np.floating],
        evidence: NDArray[np.floating],
        *,
        free: NDArray[np.bool_],
        order: NDArray[np.int64] | None = None,
    ) -> Passes:
        """Lay out rows.

        Parameters
        ----------
        joint : ndarray of shape (classes, rows)
            Joint log likelihoods.
        labels : Labels
            The classes and weights of the rows.
        z : ndarray of shape (functions, rows)
            Functions of the rows. If they are float32, sums are in single precision.
        evidence : ndarray of shape (classes, parts, rows)
            Evidence.
        free : ndarray of bool, of shape (parts,)
            Which parts have a weight for each class, rather than one.
        order : ndarray of int64, of shape (parts,), optional
            The order in which ``free`` has the parts, and their weights are numbered; by default
            that of the evidence.
        """
        if labels.k == 2:
            joint, evidence = joint[1:] - joint[:1], evidence[1:] - evidence[:1]
            free = np.zeros_like(free)
        columns = len(joint)
        size = np.where(free, columns, 1)
        first = np.cumsum(size) - size
        number = (first[:, None] + np.where(free[:, None], np.arange(columns), 0)).T
        return cls(
            blocked(joint - joint.max(axis=0) if columns > 1 else joint),
            blocked(z),
            blocked(evidence, order=order),
            np.ascontiguousarray(number),
            labels,
            z.dtype == np.float32,
        )

    @cached_property
    def slopes(self) -> int:
        """How many slopes there are."""
        return int(self.start.shape[1] * self.shared.shape[1])

    @cached_property
    def weights(self) -> int:
        """How many different weights there are."""
        return int(self.number.max(initial=-1)) + 1

    @cached_property
    def at(self) -> NDArray[np.int64]:
        """The argument of each slope and each weight, (columns, functions + parts)."""
        slopes = np.arange(self.slopes).reshape(len(self.number), -1)
        return np.concatenate([slopes, self.slopes + self.number], axis=1)

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        """Return slopes, (columns, functions), and weights, (columns, parts), of arguments.

        The arguments are all slopes, column by column, and then the different weights.
        """
        slope = x[: self.slopes].reshape(self.start.shape[1], -1)
        return slope, x[self.slopes :][self.number]

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """Return the log loss of all rows, in nats, and its gradient, at such arguments."""
        slope, weight = self.split(x)
        total, gradient = dispatch.softmax_loss(
            self.start,
            self.shared,
            slope,
            self.own,
            weight,
            self.labels.codes,
            self.labels.weight,
            self.single,
        )
        at = self.at.ravel()
        by_argument = np.bincount(at, gradient[:, :-1].ravel(), self.slopes + self.weights)
        return total, by_argument.astype(np.float64, copy=False)

    def by_number(self, values: Floats) -> Floats:
        """Add up values of weights, (columns, parts), that have one number."""
        return np.bincount(self.number.ravel(), values.ravel(), self.weights).astype(
            np.float64, copy=False
        )

    def curvature(self, x: Floats) -> Curvature:
        """Return the second derivatives of the log loss, about, as some rows say.

        Those of the slopes and weights of one class are together, or of all classes if they are
        few; and those of weights that the classes share.
        """
        columns, functions = self.start.shape[1], self.shared.shape[1]
        if columns == 1:
            own = np.ones(self.number.shape[1], np.bool_)
        else:
            own = self.number[0] != self.number[-1]
        size = functions + int(own.sum())
        n = -(-max(SOME, FOR_EACH * size) // BLOCK)
        shared, evidence = self.shared[:n], self.own[:n]
        p, rows = self._posterior(x, n)
        parts: list[Curvature] = []
        if size:
            at = self.at[:, np.append(np.ones(functions, np.bool_), own)]
            if columns == 1 or own.any() or columns * size <= FEW:
                of = [_by_argument(shared, evidence[:, c, own]) for c in range(columns)]
                parts.append(_of_classes(of, p, rows, at))
            else:
                by_class = p.transpose(1, 0, 2).reshape(columns, -1)
                z = shared.transpose(1, 0, 2).reshape(size, -1)
                parts.append(Product.of(z, by_class, rows.ravel()))
        if not own.all():
            at = self.slopes + self.number[0, ~own]
            parts.append(_of_all_classes(evidence[:, :, ~own], p, rows, at))
        return parts[0] if len(parts) == 1 else Beside(parts)

    def _posterior(self, x: Floats, n: int) -> tuple[Floats, Floats]:
        """Return posteriors of the first n blocks, (blocks, columns, 64), and their rows' weights.

        The weights, of shape (blocks, 1, 64), add up to those of all rows if none is huge.
        """
        slope, weight = self.split(x)
        joint = self.start[:n] + slope @ self.shared[:n]
        for block, own in enumerate(self.own[:n]):  # one by one: all in double precision are large
            joint[block] += (weight[:, None] @ own)[:, 0]
        if joint.shape[1] == 1:
            p = 1 / (1 + np.exp(-np.clip(joint, -FAR, FAR)))
        else:
            p = np.exp(joint - joint.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
        every = self.labels.weights
        some = every[: n * BLOCK]
        rows = np.zeros(joint.shape[0] * BLOCK)
        # Of huge weights the shares are enough to search by, and squares stay finite as float32.
        times = every.sum() / max(some.sum(), LEAST_WEIGHT)
        times *= min(1.0, HUGE_WEIGHT / max(some.max(initial=0.0) * times, 1.0))
        rows[: len(some)] = some * times
        return p, rows.reshape(-1, 1, BLOCK)


def _by_argument(shared: NDArray[np.float32], own: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what the slopes and the weights of a class multiply, (arguments, rows)."""
    both = np.concatenate([shared, own], axis=1)
    return both.transpose(1, 0, 2).reshape(both.shape[1], -1)


def _of_classes(
    of: list[NDArray[np.float32]], p: Floats, rows: Floats, at: NDArray[np.int64]
) -> Blocks:
    """Return the second derivatives by the arguments of each class, or of all, as one block.

    Parameters
    ----------
    of : list of ndarray of shape (size, rows)
        What the arguments multiply, by column.
    p, rows : ndarray of shape (blocks, columns or 1, 64)
        Posteriors, and the weights of rows.
    at : ndarray of shape (columns, size)
        The numbers of the arguments.
    """
    columns, size = at.shape
    curve = (rows * p * (1 - p)).astype(np.float32)
    if size > LARGEST:
        of_each = [np.square(u) @ curve[:, c].ravel() for c, u in enumerate(of)]
        diagonal = np.concatenate(of_each).astype(np.float64)
        return Blocks(at.reshape(-1, 1), diagonal[:, None, None])
    each = np.stack([(u * curve[:, c].ravel()) @ u.T for c, u in enumerate(of)]).astype(np.float64)
    if columns == 1 or columns * size > FEW:
        return Blocks(at, each)
    root = (p * np.sqrt(rows)).astype(np.float32)
    v = np.concatenate([u * root[:, c].ravel() for c, u in enumerate(of)])
    every = -(v @ v.T).astype(np.float64)
    for c in range(columns):
        here = slice(c * size, (c + 1) * size)
        every[here, here] = each[c]
    return Blocks(at.reshape(1, -1), every[None])


def _of_all_classes(
    evidence: NDArray[np.float32], p: Floats, rows: Floats, at: NDArray[np.int64]
) -> Blocks:
    """Return the second derivatives by weights that all classes share, whose numbers are ``at``.

    ``evidence`` is of shape (blocks, columns, weights, 64).
    """
    p32, root = p.astype(np.float32)[:, :, None], np.sqrt(rows * p).astype(np.float32)[:, :, None]
    off = evidence - (evidence * p32).sum(axis=1, keepdims=True)
    off *= root
    flat = off.transpose(2, 0, 1, 3).reshape(evidence.shape[2], -1)
    if len(flat) > LARGEST:
        each = np.square(flat).sum(axis=1).astype(np.float64)
        return Blocks(at[:, None], each[:, None, None])
    return Blocks(at[None], (flat @ flat.T).astype(np.float64)[None])
