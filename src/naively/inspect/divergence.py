"""How far shares of cells are apart between groups of rows, and what chance makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from naively.kernels.reference import Floats

OUTSIDE = 0.05  # share of pairs of equal tables of which something is said to have moved
LEAST = 8.0  # rows that are expected in a cell of the smallest group, for a chi-squared test
BINS = 10  # of a column of numbers, about equally full
MISSING = "(missing)"


def jensen_shannon(share: Floats) -> float:
    """Return the divergence of distributions, (groups, cells), that weigh the same, in nats."""
    return max(0.0, _entropy(share.mean(axis=0)) - float(np.mean([_entropy(p) for p in share])))


def _entropy(p: Floats) -> float:
    return float(-(p * np.log(np.where(p > 0, p, 1.0))).sum())


def by_chance(rows: Floats, cells: int) -> tuple[float, float]:
    """Return the mean and the standard deviation of the divergence of groups that are alike."""
    # rows (groups,): how many rows each group has; cells: how many cells have any. To second order
    # the divergence is the sum over cells of the variance of their shares between groups, over
    # twice their mean, and quadratic in deviations of variance p (1 - p) / rows. Of two groups it
    # is (cells - 1) / 8 (1/n + 1/m) on average.
    groups = len(rows)
    centre = np.eye(groups) - 1 / groups
    form = centre @ np.diag(1 / rows) @ centre
    mean = (cells - 1) / (2 * groups) * np.trace(form)
    variance = 2 * (cells - 1) * np.trace(form @ form) / (2 * groups) ** 2
    return float(mean), float(np.sqrt(variance))


def holm(p: Floats) -> Floats:
    """Return p-values, (tests,), for as many tests: of no effect any is below p once in 1 / p."""
    order, found = np.argsort(p), np.empty(len(p))
    times = np.arange(len(p), 0, -1)
    found[order] = np.minimum(np.maximum.accumulate(p[order] * times), 1.0)
    return found


class Apart(NamedTuple):
    """How far groups of rows are apart in their shares of some cells."""

    divergence: float
    chance: float
    noise: float
    p: float
    cell: int
    before: float
    after: float

    @classmethod
    def of(cls, table: Floats, square: Floats, *, missing: bool) -> Apart:
        """Compare the weights of rows, and the sums of their squares, both (groups, cells)."""
        # Missing cells, the last if ``missing``, are tested by themselves; the others by
        # chi-squared, rare ones together, and each rare one alone. The least p is for as many tests
        # (Bonferroni).
        cells, last = np.flatnonzero(table.sum(axis=0)).tolist(), table.shape[1] - 1
        rows = _rows(table, square, [[j] for j in cells])
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        chance = by_chance(rows.sum(axis=1), len(cells))
        tests: list[tuple[float, int]] = []  # p, and the cell; -1 of all

        def test(*parts: list[int]) -> float:
            return _chance_of(_rows(table, square, parts))

        if missing and cells[-1:] == [last]:
            cells.pop()
            tests.append((test(cells, [last]), last))
        of = _rows(table, square, [[j] for j in cells])
        need = LEAST * of.sum() / max(of.sum(axis=1).min(initial=np.inf), 1e-300)
        each = dict(zip(cells, of.sum(axis=0).tolist(), strict=True))
        rare = [j for j in cells if each[j] < need] if len(cells) > 2 else []
        together, enough = [[j] for j in cells if j not in rare], True
        for j in rare:  # neighbours, until they are enough
            together = [*together, []] if enough else together
            together[-1].append(j)
            enough = sum(each[i] for i in together[-1]) >= need
        if not enough and len(together) > 1:
            together[-2:] = [together[-2] + together[-1]]
        if len(cells) > 1:
            tests.append((test(*together), -1))
            alone = [(test([i for i in cells if i != j], [j]), j) for j in rare]
            tests += [(p * len(alone), j) for p, j in [min(alone, default=(np.inf, -1))]]
        p, cell = min(tests, default=(1.0, -1))
        if cell < 0:
            cell = int(np.abs(share[-1] - share[0]).argmax())
        p = min(1.0, p * max(1, sum(p < np.inf for p, _ in tests)))
        return cls(jensen_shannon(share), *chance, p, cell, *share[[0, -1], cell].tolist())


def _rows(table: Floats, square: Floats, parts: Sequence[list[int]]) -> Floats:
    """Return how many independent rows are in each part of the cells, (groups, parts)."""
    # Rows that weigh more than others are fewer, by how much the weights differ in each part (Rao &
    # Scott, The analysis of categorical data from complex sample surveys, 1981).
    table, square = (
        np.stack([of[:, part].sum(axis=1) for part in parts] or [of[:, :0].sum(axis=1)], 1)
        for of in (table, square)
    )
    there = table.sum(axis=1) > 0
    table, square = table[there], square[there]
    total, rows = table.sum(axis=1), table.sum(axis=1) ** 2 / square.sum(axis=1)
    if len(parts) > 1:
        pooled = rows @ (table / total[:, None]) / rows.sum()
        mean = np.repeat((total / rows)[:, None], len(parts), axis=1)
        weight = np.divide(square, table, out=mean, where=table > 0)
        rows = (len(parts) - 1) * total / (weight @ (1 - pooled))
    found: Floats = table * (rows / total)[:, None]
    return found


def _chance_of(rows: Floats) -> float:
    """Return the p-value of counts, (groups, cells), of groups that are alike."""
    # That of Pearson's chi-squared; of two cells about that of the hypergeometric distribution
    # (Wise, 1954), for both sides of each group.
    from scipy.special import betainc, gammaincc

    of_group, of_cell, n = rows.sum(axis=1), rows.sum(axis=0), rows.sum()
    if min(rows.shape) < 2 or (of_cell <= 0).any():
        return 1.0
    if rows.shape[1] > 2:
        expected = np.outer(of_group, of_cell) / n
        freedom = (len(of_group) - 1) * (len(of_cell) - 1)
        return float(gammaincc(freedom / 2, ((rows - expected) ** 2 / expected).sum() / 2))
    # As few in a group as there are, of either cell: as many of one are as few of the other.
    low, high = np.minimum(of_group[:, None], of_cell), np.maximum(of_group[:, None], of_cell)
    share = np.clip((high - rows / 2) / (n - (low - 1) / 2), 0.0, 1.0)
    p = betainc(np.maximum(low - rows, 1e-9), rows + 1, 1 - share)
    least = float(np.where(rows >= low, 1.0, p).min())
    return min(1.0, 2 * least * (len(rows) if len(rows) > 2 else 1))
