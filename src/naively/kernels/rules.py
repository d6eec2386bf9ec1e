"""Decision tables, each grown on what those before leave unsaid, in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.kernels.reference import Floats

# --- Boosted decision tables ---------------------------------------------------------------------
#
# A table has up to eight conditions, each that the bin of a column is among some bins, and a value
# for each class in each of its cells: which of the conditions hold. Conditions are chosen one after
# the other, each the one of all columns that lowers the log loss most, to second order, over all
# cells at once (Friedman, Greedy function approximation, 2001; tables instead of trees: Kohavi, The
# power of decision tables, 1995). A cell's value is a share of its Newton step, with a ridge.


LEAST_CURVATURE = 1e-6  # of a row
LEAST_P = 1e-15  # of which the log loss is taken
OF_LEVEL = 5.0  # added to the curvature by which levels are ordered
ALIKE = 1e-9  # by which levels differ at most that are on one side
BETTER = 1 + 1e-9  # times as much as the best: else the first that was found is taken
WORTH = 1e-9  # nats that a condition must gain
POOLINGS = 16  # passes over the cells of a table, until they rise and fall as they may


class Grown(NamedTuple):
    """Tables in the order in which they were grown."""

    rounds: int  # how many tables there are; all arrays may have more
    # (rounds, conditions): the column of each condition; -1 where a table has fewer.
    columns: NDArray[np.int32]
    # (rounds, conditions): the bins for which each condition holds, a bit for each.
    masks: NDArray[np.uint64]
    # (rounds, 2 ** conditions, classes): what each cell adds to the joint log likelihoods; of two
    # classes, to their log odds. The number of a cell has a bit for each condition that holds.
    values: Floats
    # (rounds + 1,): the log loss of the rows that are held out, in nats, before each table and
    # after the last.
    losses: Floats


def grow_rules(
    # (columns, rows): the bin of each cell; the last of a column is of missing cells
    codes: NDArray[np.uint8],
    sizes: NDArray[np.int64],  # (columns,): bins of each, 64 at most
    ordered: NDArray[np.bool_],  # (columns,): whether a column is of numbers
    joint: Floats,  # (rows, classes)
    right: NDArray[np.int32],  # (rows,): the class of each row
    weight: Floats,  # (rows,)
    held: NDArray[np.bool_],  # (rows,): which are held out
    # (columns,): 1 where the log odds of the second of two classes may only rise, -1 fall
    monotone: NDArray[np.int8],
    *,
    rounds: int,  # the most tables
    # The tables that may not lower the log loss of the rows held out before the search ends, beside
    # a quarter of those that did; 0 is never.
    patience: int,
    conditions: int,  # the most of a table
    columns: int,  # the most of a table
    rate: float,  # the share of a Newton step that is taken
    ridge: float,  # what is added to its curvature
    rows: float,  # the least weight of the rows on each side of a condition
) -> Grown:
    """Grow decision tables on rows, beginning at their joint log likelihoods."""
    # A condition on a column of numbers holds for all bins below an edge, and for missing cells or
    # not; on one of levels it may hold for any. Where a table is of one column, missing cells have
    # no value.
    grower = _Grower(
        codes,
        sizes,
        ordered,
        joint[:, 1:] - joint[:, :1] if joint.shape[1] == 2 else joint.astype(np.float64),
        right,
        weight,
        held,
        monotone,
        conditions,
        columns,
        ridge,
        rows,
    )
    cells, width = 2**conditions, grower.joint.shape[1]
    column_of = np.full((rounds, conditions), -1, np.int32)
    mask_of = np.zeros((rounds, conditions), np.uint64)
    values, losses = np.zeros((rounds, cells, width)), np.zeros(rounds + 1)
    least, best = np.inf, 0
    for at in range(rounds + 1):
        losses[at] = grower.differentiate()
        if losses[at] < least:
            least, best = losses[at], at
        elif patience and at - best >= patience + best // 4:
            break
        if at == rounds:
            break
        found, leaf = grower.grow()
        if not found:
            break
        for depth, (column, mask) in enumerate(found):
            column_of[at, depth], mask_of[at, depth] = column, mask
        values[at, : 2 ** len(found)] = rate * grower.settled(leaf, found)
        grower.joint += np.where(leaf[:, None] < 0, 0.0, values[at, leaf])
    return Grown(at, column_of, mask_of, values, losses)


def _pooled(value: Floats, curvature: Floats, bits: list[tuple[int, np.int8]]) -> bool:
    """Give cells that fall where they may only rise their mean; return whether any did."""
    changed = False
    for bit, sign in bits:
        for cell in range(len(value)):
            if cell & bit or sign * (value[cell] - value[cell | bit]) >= 0:
                continue  # the bit is 1 of the cell of lesser numbers
            both = [cell, cell | bit]
            value[both] = curvature[both] @ value[both] / curvature[both].sum()
            changed = True
    return changed


@dataclass(eq=False)
class _Grower:
    """The rows, and what is grown on them; the parameters are those of ``grow_rules``."""

    codes: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    ordered: NDArray[np.bool_]
    joint: Floats  # (rows, classes), of two classes their log odds: (rows, 1)
    right: NDArray[np.int32]
    weight: Floats
    held: NDArray[np.bool_]
    monotone: NDArray[np.int8]
    conditions: int
    columns: int
    ridge: float
    rows: float

    def __post_init__(self) -> None:
        _, first = np.unique(self.right, return_index=True)
        self.order: list[int] = self.right[np.sort(first)].tolist()  # classes, as they come

    def differentiate(self) -> float:
        """Set the sums of each row to its gradient, curvature and weight; return the loss."""
        width = self.joint.shape[1]
        if width == 1:
            p = 1 / (1 + np.exp(-self.joint))
            of_right = np.where(self.right == 1, p[:, 0], 1 - p[:, 0])
            is_right, more = (self.right == 1)[:, None], 1.0
        else:
            p = np.exp(self.joint - self.joint.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            of_right = p[np.arange(len(p)), self.right]
            is_right, more = self.right[:, None] == np.arange(width), width / (width - 1)
        curvature = np.maximum(p * (1 - p) * more, LEAST_CURVATURE)
        weight = self.weight[:, None]
        self.sums = np.hstack([weight * (is_right - p), weight * curvature, weight])
        loss = -self.weight * np.log(np.maximum(of_right, LEAST_P))
        return float(loss[self.held].sum())

    def grow(self) -> tuple[list[tuple[int, int]], NDArray[np.int64]]:
        """Return the conditions of a table, and the cell of each row."""
        leaf = np.zeros(len(self.right), np.int64)
        may, found = list(range(len(self.sizes))), []
        for depth in range(self.conditions):
            best = -1, 0, WORTH
            for column in may:
                best = self._search(column, leaf, 2**depth, best)
            column, mask, _ = best
            if column < 0:
                break
            found.append((column, mask))
            used = sorted({of for of, _ in found})
            may = used if len(used) == self.columns else may
            code = self.codes[column]
            holds = np.array([mask >> b & 1 for b in range(self.sizes[column])])[code]
            leaf |= np.where(leaf < 0, 0, holds << depth)
            if self.columns == 1:
                leaf[code == self.sizes[column] - 1] = -1
        return found, leaf

    def settled(self, leaf: NDArray[np.int64], found: list[tuple[int, int]]) -> Floats:
        """Return the Newton step of each cell, (cells, classes), rising or falling as they may."""
        width, some, cells = self.joint.shape[1], ~self.held & (leaf >= 0), 2 ** len(found)
        total = np.stack([np.bincount(leaf[some], s[some], cells) for s in self.sums.T], axis=1)
        curvature: Floats = np.asarray(total[:, width : 2 * width] + self.ridge, np.float64)
        value: Floats = np.asarray(total[:, :width] / curvature, np.float64)
        bits = [
            (1 << depth, self.monotone[column])
            for depth, (column, _) in enumerate(found)
            if self.monotone[column]
        ]
        for _ in range(POOLINGS if bits else 0):
            if not _pooled(value[:, 0], curvature[:, 0], bits):
                return value
        return np.zeros_like(value) if bits else value

    def _search(
        self, column: int, leaf: NDArray[np.int64], leaves: int, best: tuple[int, int, float]
    ) -> tuple[int, int, float]:
        """Return the best condition of a column, if it is better than the best so far."""
        bins, width = int(self.sizes[column]), self.joint.shape[1]
        some = ~self.held & (leaf >= 0)
        cell = leaf[some] * bins + self.codes[column, some]
        sums = [np.bincount(cell, of[some], leaves * bins) for of in self.sums.T]
        table: Floats = np.stack(sums, axis=1).reshape(leaves, bins, -1).astype(np.float64)
        alone, missing = self.columns == 1, bins - 1
        total = table[:, : bins - alone].sum(axis=1)
        whole = self._score(total).sum()
        each, parted = np.arange(bins - 1), np.ones(bins - 1, np.bool_)
        if not self.ordered[column]:
            each, parted = self._levels(table, alone)
        either = self.ordered[column] and not alone and table[:, missing, -1].sum() > 0
        for side in range(1 + either):
            start, mask = (table[:, [missing]], 1 << missing) if side else (0.0, 0)
            left = start + np.cumsum(table[:, each], axis=1)
            right = total[:, None] - left
            gain = (self._score(left) + self._score(right)).sum(axis=0)
            fit = left[..., -1].sum(axis=0) >= self.rows
            fit &= right[..., -1].sum(axis=0) >= self.rows
            if self.monotone[column]:
                low, high = (of[..., 0] / (of[..., width] + self.ridge) for of in (left, right))
                fit &= (self.monotone[column] * (high - low) >= 0).all(axis=0)
            last = len(each) - (0 if either and not side else 1)
            for at in range(last):
                mask |= 1 << int(each[at])
                if fit[at] and parted[at] and (gain[at] - whole) / 2 > best[2] * BETTER:
                    best = column, mask, float(gain[at] - whole) / 2
        return best

    def _score(self, sums: Floats) -> Floats:
        """Return twice the nats that a Newton step gains, of sums of shape (..., sums)."""
        width = self.joint.shape[1]
        square = np.square(sums[..., :width]) / (sums[..., width : 2 * width] + self.ridge)
        return np.asarray(square.sum(axis=-1))

    def _levels(self, table: Floats, alone: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the levels in the order of how much more, or less, often the class comes there."""
        # And after which of them they may be parted: those that are alike are on one side. Names
        # have no say: the first class is that of the first row, and the first level is at the
        # nearer end.
        width, bins = self.joint.shape[1], table.shape[1]
        total = table.sum(axis=0)[: bins - alone]
        gradient, curvature = total[:, :width], total[:, width : 2 * width]
        apart = (np.square(gradient) / (curvature + self.ridge + OF_LEVEL)).sum(axis=0)
        best, *others = self.order if width > 1 else [0]
        for c in others:  # the first of those that differ as much
            best = c if apart[c] > apart[best] * BETTER else best
        there = np.flatnonzero(total[:, -1] > 0)
        key = np.rint(gradient[there, best] / (curvature[there, best] + OF_LEVEL) / ALIKE)
        either = [np.argsort(sign * key, kind="stable") for sign in (1, -1)]
        up = min(either, key=lambda order: order[:1].tolist())
        return there[up], np.append(np.diff(key[up]) != 0, True)


# --- What rules add to rows ----------------------------------------------------------------------


def score_rules(
    codes: NDArray[np.int32],
    sides: NDArray[np.int64],
    side_of: NDArray[np.int64],
    column: NDArray[np.int64],
    first: NDArray[np.int64],
    cells: NDArray[np.int64],
    points: Floats,
) -> Floats:
    """Return what decision tables add to each row, of shape (rows, classes)."""
    added = np.zeros((codes.shape[1], points.shape[1]))
    for rule in range(len(first) - 1):
        cell = np.full(codes.shape[1], cells[rule])
        for of in range(first[rule], first[rule + 1]):
            cell += sides[side_of[of] + codes[column[of]]]
        added += points[cell]
    return added
