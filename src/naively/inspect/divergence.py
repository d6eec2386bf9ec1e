"""How far shares of cells are apart between groups of rows, and what chance makes of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from naively.kernels.reference import Floats

SURE = 3.0  # standard deviations beyond chance that are called moved
BINS = 10  # of a column of numbers, about equally full
MISSING = "(missing)"


def jensen_shannon(share: Floats) -> float:
    """Return the divergence of distributions, (groups, cells), that weigh the same, in nats.

    Examples
    --------
    >>> round(jensen_shannon(np.array([[1.0, 0.0], [0.0, 1.0]])), 6)
    0.693147
    """
    return max(0.0, _entropy(share.mean(axis=0)) - float(np.mean([_entropy(p) for p in share])))


def _entropy(p: Floats) -> float:
    return float(-(p * np.log(np.where(p > 0, p, 1.0))).sum())


def by_chance(rows: Floats, cells: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of the divergence of groups that are alike.

    Parameters
    ----------
    rows : ndarray of shape (groups,)
        How many rows each group has.
    cells : int
        How many cells have any.

    Notes
    -----
    To second order the divergence is the sum over cells of the variance of their shares between
    groups, over twice their mean; which is quadratic in deviations of variance p (1 - p) / rows. Of
    two groups it is (cells - 1) / 8 (1/n + 1/m) on average.

    Examples
    --------
    >>> by_chance(np.array([100.0, 100.0]), 5)[0] == 4 / 8 * (1 / 100 + 1 / 100)
    True
    """
    groups = len(rows)
    centre = np.eye(groups) - 1 / groups
    form = centre @ np.diag(1 / rows) @ centre
    mean = (cells - 1) / (2 * groups) * np.trace(form)
    variance = 2 * (cells - 1) * np.trace(form @ form) / (2 * groups) ** 2
    return float(mean), float(np.sqrt(variance))


class Apart(NamedTuple):
    """How far groups of rows are apart in their shares of some cells.

    Parameters
    ----------
    divergence : float
        Of Jensen and Shannon, in nats.
    chance, noise : float
        What chance alone makes of it on average, and the standard deviation of that.
    cell : int
        The number of the cell whose share differs most between the first group and the last.
    before, after : float
        That share in both.
    """

    divergence: float
    chance: float
    noise: float
    cell: int
    before: float
    after: float

    @classmethod
    def of(cls, table: Floats, rows: Floats) -> Apart:
        """Compare counts, (groups, cells), of as many independent rows, (groups,)."""
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        cell = int(np.abs(share[-1] - share[0]).argmax())
        by = by_chance(rows, int(np.count_nonzero(table.sum(axis=0))))
        shares = float(share[0, cell]), float(share[-1, cell])
        return cls(jensen_shannon(share), *by, cell, *shares)
