"""Products of two functions of different columns, those that would lower the log loss most.

A product is scored by the gradient of the log loss at given posteriors, squared, over a bound of
its curvature; the products of all functions are scored by a few multiplications of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.counting.labels import Labels
from naively.evaluation.basis import Said
from naively.evaluation.losses import mean
from naively.kernels.reference import Floats
from naively.model.linear_part import FARTHEST, Product, Term

MOST = 400  # products
A_COLUMN = 6  # products for each column, at most
COLUMNS = 100  # that products are made of, those that say most
RIDGE = 10.0  # added to the curvature
FLAT = 1e-6  # a standard deviation of a product that does not vary


@dataclass(frozen=True, eq=False)
class Products:
    """Products of functions of columns.

    Parameters
    ----------
    of : sequence of Term
        The functions.
    z : ndarray of shape (rows, functions)
        Their values, those of a function side by side.
    a, b : ndarray of shape (products,)
        The numbers of the two functions of each product.
    scale : ndarray of shape (products,)
        Their standard deviations.
    """

    of: Sequence[Term]
    z: NDArray[np.float32]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    scale: Floats

    @classmethod
    def choose(
        cls,
        of: Sequence[Term],
        z: NDArray[np.float32],
        said: Said,
        p: Floats,
        labels: Labels,
        rows: NDArray[np.int64] | None = None,
    ) -> Products:
        """Choose the products that would lower the log loss of some rows most.

        Parameters
        ----------
        of : sequence of Term
            The functions.
        z : ndarray of shape (all rows, functions)
            Their values.
        said : callable
            Returns how much evidence each part gives; asked only if there are many columns.
        p : ndarray of shape (rows, classes)
            The posteriors of the rows that are looked at.
        labels : Labels
            Their labels.
        rows : ndarray of shape (rows,), optional
            Their numbers; by default all rows.
        """
        some = z if rows is None else z.T.take(rows, axis=1).T
        columns = [term.part for term in of]
        number = {part: i for i, part in enumerate(dict.fromkeys(columns))}
        column = np.array([number[part] for part in columns], np.int64)
        best = list(number)
        if len(best) > COLUMNS:
            most_said = said()
            best = sorted(best, key=lambda part: -most_said.get(part, 0.0))[:COLUMNS]
        may = np.isin(column, [number[part] for part in best])
        a, b = np.triu_indices(len(columns), 1)
        fit = (column[a] != column[b]) & may[a] & may[b]
        a, b = a[fit], b[fit]
        most = min(MOST, A_COLUMN * len(best))
        if len(a) > most:
            score = _scores(some, p, labels)[a, b]
            first = np.sort(np.argsort(-score, kind="stable")[:most])
            a, b = a[first], b[first]
        scale = _deviations(some.T, a, b, labels.weight)
        there = scale > FLAT
        return cls(of, z, a[there], b[there], scale[there])

    def __len__(self) -> int:
        return len(self.a)

    def values(self, rows: int | None = None) -> NDArray[np.float32]:
        """Return the products of all rows, or of the first, clipped, of shape (rows, products)."""
        by_function = self.z[:rows].T
        found = np.empty((len(self), by_function.shape[1]), np.float32)
        each = zip(found, self.a, self.b, self.scale.astype(np.float32), strict=True)
        for product, a, b, scale in each:  # one by one, so that it stays cached
            np.multiply(by_function[a], by_function[b], out=product)
            np.divide(product, scale, out=product)
            np.clip(product, -FARTHEST, FARTHEST, out=product)
        return found.T

    def terms(self) -> Sequence[Product]:
        """Return the products as the model holds them."""
        each = zip(self.a.tolist(), self.b.tolist(), self.scale.tolist(), strict=True)
        return [Product(self.of[a], self.of[b], scale) for a, b, scale in each]


def _scores(z: NDArray[np.float32], p: Floats, labels: Labels) -> Floats:
    """Return how much each product of two functions would save, (functions, functions)."""
    right = np.arange(len(p)), labels.codes
    residual = -p.astype(np.float32)
    residual[right] += 1
    weight = labels.weights.astype(np.float32)
    square = np.square(z)
    score = np.zeros((z.shape[1], z.shape[1]))
    classes = range(1, 2) if p.shape[1] == 2 else range(p.shape[1])  # two have equal scores
    for c in classes:
        gradient = residual[:, [c]] * weight[:, None]
        size = np.abs(residual[:, [c]])
        curve = square.T @ (square * (size * (1 - size) * weight[:, None]))
        score += np.square(z.T @ (z * gradient)) / (curve + RIDGE)
    return score


def _deviations(
    by_function: NDArray[np.float32],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    weight: Floats | None,
) -> Floats:
    """Return the standard deviations of products of functions, (functions, rows): (products,)."""
    found = np.empty(len(a))
    for at, (i, j) in enumerate(zip(a, b, strict=True)):  # one by one, so that each stays cached
        product = by_function[i] * by_function[j]
        product -= mean(product, weight)
        found[at] = mean(np.square(product, out=product), weight)
    return np.sqrt(found)
