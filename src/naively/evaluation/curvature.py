"""The second derivatives of the log loss, about: as blocks, or as a product of two matrices.

An estimate need not be exact, as it only tells a search where to go; what it leaves out costs
steps. The curvature of the joint log likelihoods of a row with posteriors p is diag(p) - p pᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.evaluation.search import Curvature
from naively.kernels.reference import Floats

Numbers = NDArray[np.int64]
LEAST = 1e-300
AT_ONCE = 2_000_000  # numbers of matrices that are inverted together
ROUNDING = 1e-7  # of numbers in single precision


@dataclass(frozen=True, eq=False)
class Blocks(Curvature):
    """Matrices along the diagonal.

    Parameters
    ----------
    at : ndarray of shape (alike, size)
        The numbers of the arguments of each block, among all arguments.
    matrix : ndarray of shape (alike, size, size)
        The matrix of each.
    """

    at: Numbers
    matrix: Floats

    def plus(self, diagonal: Floats) -> Blocks:
        matrix = self.matrix.copy()
        np.einsum("bii->bi", matrix)[:] += diagonal[self.at]
        return Blocks(self.at, matrix)

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        whole, of = self._whole, free[self.at]
        # Whatever holds arguments where they rest is a force on each of these: one that undoes
        # their steps. Blocks in which fewer rest than in others hold some free ones by no force.
        most = int((~of).sum(axis=1).max(initial=0))
        block, held = np.arange(len(of))[:, None], np.argsort(of, axis=1, kind="stable")[:, :most]
        rests = ~of[block, held]
        some = whole[block[:, :, None], held[:, :, None], held[:, None]]
        some *= rests[:, :, None] & rests[:, None]
        np.einsum("bii->bi", some)[~rests] = 1.0
        forces = np.linalg.inv(some)

        def times(vector: Floats) -> Floats:
            found, force = np.zeros(len(vector)), vector[self.at]
            step = whole @ force[:, :, None]
            if most:
                force[block, held] -= (forces @ (step[block, held] * rests[:, :, None]))[:, :, 0]
                step = whole @ force[:, :, None]
            found[self.at] = step[:, :, 0] * of
            return found

        return times

    @cached_property
    def _whole(self) -> Floats:
        """The inverse of each matrix, (alike, size, size)."""
        found = np.empty_like(self.matrix)
        size = max(1, AT_ONCE // max(1, self.matrix.shape[1] ** 2))
        for start in range(0, len(found), size):
            found[start : start + size] = _inverse(self.matrix[start : start + size])
        return found


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of matrices, (alike, size, size)."""
    # In units in which its diagonal is 1, a matrix in single precision is never singular.
    unit = np.sqrt(np.maximum(np.einsum("bii->bi", matrix), LEAST))
    units = unit[:, :, None] * unit[:, None, :]
    matrix = matrix / units
    np.einsum("bii->bi", matrix)[:] += ROUNDING
    found: Floats = np.linalg.inv(matrix) / units
    return found


@dataclass(frozen=True, eq=False)
class Product(Curvature):
    """Of slopes that each class has: a matrix of the classes times one of the functions.

    The mean of diag(p) - p pᵀ over the rows, and the mean of z zᵀ. Every class has the same
    functions, so that few numbers tell how all slopes depend on each other. Slopes are the first of
    the arguments.

    Parameters
    ----------
    of_classes, of_functions : tuple of ndarray
        The eigenvalues and the eigenvectors of both matrices.
    diagonal : float
        What is added to the diagonal.
    """

    of_classes: tuple[Floats, Floats]
    of_functions: tuple[Floats, Floats]
    diagonal: float = 0.0

    @classmethod
    def of(cls, z: NDArray[np.float32], p: Floats, rows: Floats) -> Product:
        """Estimate it.

        Parameters
        ----------
        z : ndarray of shape (functions, rows)
            The functions.
        p : ndarray of shape (classes, rows)
            Posteriors.
        rows : ndarray of shape (rows,)
            The weights of the rows.
        """
        classes = np.diag(p @ rows) - (p * rows) @ p.T
        unsure = rows * (1 - np.square(p).sum(axis=0))
        functions = (z * unsure.astype(np.float32)) @ z.T
        share = classes / max(float(unsure.sum()), LEAST)
        return cls(_eigen(share), _eigen(functions.astype(np.float64)))

    def plus(self, diagonal: Floats) -> Product:
        (a, _), (c, _) = self.of_classes, self.of_functions
        more = float(diagonal[: len(a) * len(c)].mean()) if len(a) * len(c) else 0.0
        return Product(self.of_classes, self.of_functions, self.diagonal + more)

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:  # noqa: ARG002
        (a, u), (c, v) = self.of_classes, self.of_functions
        over = np.maximum(a, 0.0)[:, None] * np.maximum(c, 0.0) + max(self.diagonal, LEAST)

        def times(vector: Floats) -> Floats:
            found = np.zeros(len(vector))
            slope = vector[: over.size].reshape(over.shape)
            found[: over.size] = (u @ ((u.T @ slope @ v) / over) @ v.T).ravel()
            return found

        return times


def _eigen(matrix: Floats) -> tuple[Floats, Floats]:
    values, vectors = np.linalg.eigh(matrix)
    return values, vectors


@dataclass(frozen=True, eq=False)
class Beside(Curvature):
    """The second derivatives of some arguments and of others, with nothing between them."""

    parts: Sequence[Curvature]

    def plus(self, diagonal: Floats) -> Beside:
        return Beside([of.plus(diagonal) for of in self.parts])

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        each = [of.inverse(free) for of in self.parts]

        def times(vector: Floats) -> Floats:
            found = np.zeros(len(vector))
            for inverse in each:
                found += inverse(vector)
            return found

        return times
