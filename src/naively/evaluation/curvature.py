"""The second derivatives of the log loss, about: as blocks, or as a product of two matrices.

An estimate need not be exact, as it only tells a search where to go; what it leaves out costs
steps. The curvature of the joint log likelihoods of a row with posteriors p is diag(p) - p pᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
    # The inverses that were asked for last, and of which arguments.
    _inverse: list[tuple[Floats, NDArray[np.bool_]]] = field(default_factory=list)

    def plus(self, diagonal: Floats) -> Blocks:
        matrix = self.matrix.copy()
        np.einsum("bii->bi", matrix)[:] += diagonal[self.at]
        return Blocks(self.at, matrix)

    def inverse(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
        inverse = self._inverted(free[self.at])

        def times(vector: Floats) -> Floats:
            found = np.zeros(len(vector))
            found[self.at] = (inverse @ vector[self.at][:, :, None])[:, :, 0]
            return found

        return times

    def _inverted(self, of: NDArray[np.bool_]) -> Floats:
        """Return the inverse of each matrix of the free arguments, (alike, size, size).

        ``of``, of shape (alike, size), says which are free. A search asks again and again while few
        of them change: only the blocks in which they do are inverted anew.
        """
        if self._inverse:
            inverse, before = self._inverse.pop()
            inverse, rows = inverse.copy(), np.flatnonzero((of != before).any(axis=1))
        else:
            inverse, rows = np.empty_like(self.matrix), np.arange(len(of))
        size = max(1, AT_ONCE // max(1, self.matrix.shape[1] ** 2))
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            inverse[some] = _inverse(self.matrix[some], of[some])
        self._inverse.append((inverse, of))
        return inverse


def _inverse(matrix: Floats, of: NDArray[np.bool_]) -> Floats:
    """Return the inverse of the free part of matrices, (alike, size, size)."""
    if not of.all():
        matrix = matrix * (of[:, :, None] & of[:, None, :])
        np.einsum("bii->bi", matrix)[~of] = 1.0
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
