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
from naively.evaluation.search import Curvature
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.kernels.softmax import blocked

SOME = 1_024  # rows, at least, that the curvature is estimated on,
FOR_EACH = 6  # and so many for each slope or weight
FULL = 200
LARGEST = 300  # slopes and weights of a class, of more of which only the diagonal is estimated


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
    """

    start: NDArray[np.float32]
    shared: NDArray[np.float32]
    own: NDArray[np.float32]
    number: NDArray[np.int64]
    labels: Labels

    @classmethod
    def of(
        cls,
        joint: Floats,
        labels: Labels,
        z: NDArray[np.floating],
        evidence: NDArray[np.floating],
        *,
        free: NDArray[np.bool_],
    ) -> Passes:
        """Lay out rows.

        Parameters
        ----------
        joint : ndarray of shape (classes, rows)
            Joint log likelihoods.
        labels : Labels
            The classes and weights of the rows.
        z : ndarray of shape (functions, rows)
            Functions of the rows.
        evidence : ndarray of shape (classes, parts, rows)
            Evidence.
        free : ndarray of bool, of shape (parts,)
            Which parts have a weight for each class, rather than one.
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
            blocked(evidence),
            np.ascontiguousarray(number),
            labels,
        )

    @property
    def slopes(self) -> int:
        """How many slopes there are."""
        return self.start.shape[1] * self.shared.shape[1]

    @cached_property
    def weights(self) -> int:
        """How many different weights there are."""
        return int(self.number.max(initial=-1)) + 1

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
            self.start, self.shared, slope, self.own, weight, self.labels.codes, self.labels.weight
        )
        functions = self.shared.shape[1]
        of_weights = gradient[:, functions:-1]
        by_number = np.bincount(self.number.ravel(), of_weights.ravel(), self.weights)
        return total, np.append(gradient[:, :functions], by_number)

    def curvature(self, x: Floats) -> Curvature:
        """Return the second derivatives of the log loss, about, as some rows say.

        Those of the slopes and weights of one class together; and of weights that the classes
        share.
        """
        columns, functions = self.start.shape[1], self.shared.shape[1]
        one = columns == 1
        mine = np.ones(self.number.shape[1], bool) if one else self.number[0] != self.number[-1]
        size = functions + int(mine.sum())
        rows = len(self.labels)
        n = -(-min(rows, max(SOME, FOR_EACH * size)) // 64)
        shared, own = self.shared[:n], self.own[:n]
        slope, weight = self.split(x)
        joint = self.start[:n] + slope @ shared + (weight[:, None] @ own)[:, :, 0]
        counts = np.zeros(n * 64)
        of_rows = self.labels.weights[: n * 64]
        counts[: len(of_rows)] = of_rows
        counts *= self.labels.weights.sum() / max(of_rows.sum(), 1e-300)
        counts = counts.reshape(n, 1, 64)
        if one:
            p = 1 / (1 + np.exp(-np.clip(joint, -500, 500)))
        else:
            p = np.exp(joint - joint.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
        curve = (counts * p * (1 - p)).astype(np.float32)
        slopes = np.arange(self.slopes).reshape(columns, functions)
        at = np.concatenate([slopes, self.slopes + self.number[:, mine]], axis=1)
        u = [
            np.concatenate([shared, own[:, c, mine]], axis=1).transpose(1, 0, 2).reshape(size, -1)
            for c in range(columns)
        ]
        matrix = np.stack([(of * curve[:, c].ravel()) @ of.T for c, of in enumerate(u)])
        blocks = [(at, matrix)] if size else []
        if not one and columns * size <= FULL:
            p32 = (p * np.sqrt(counts)).astype(np.float32)
            v = np.concatenate([of * p32[:, c].ravel() for c, of in enumerate(u)])
            whole = -(v @ v.T)
            for c in range(columns):
                s = slice(c * size, (c + 1) * size)
                whole[s, s] = matrix[c]
            blocks = [(at.reshape(1, -1), whole[None])]
        if not mine.all():
            theirs = own[:, :, ~mine]  # (blocks, columns, parts, 64)
            q = theirs.shape[2]
            mean = (theirs * p[:, :, None].astype(np.float32)).sum(axis=1)
            off = (theirs - mean[:, None]) * np.sqrt(counts * p)[:, :, None].astype(np.float32)
            flat = off.transpose(2, 0, 1, 3).reshape(q, -1)
            blocks.append(((self.slopes + self.number[:1, ~mine]), (flat @ flat.T)[None]))
        return Curvature([(at, matrix.astype(np.float64)) for at, matrix in blocks])
