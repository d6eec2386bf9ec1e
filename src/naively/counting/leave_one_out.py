"""Leaving a row out is subtraction: the sums that a cell is judged by, less what its row added.

An event model applies to what is left the formula that it applies to all. What it can choose by
itself (a pseudo-count, pretend rows, a bandwidth) is what cells that are left out are best
foretold with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns
from naively.counting.block import B, Codes, Dense
from naively.counting.labels import Labels
from naively.counting.statistic import PRESENT, SQUARE, VALUE, Statistic
from naively.counting.tally import BlockTally
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats

SURE = 0.25  # nats, for a logarithm of a pseudo-count that is 1 off
LEAST_ALPHA, MOST_ALPHA = 1e-3, 1e3


@dataclass(frozen=True, eq=False)
class LeftOut(Generic[B]):
    """Cells of rows that were counted, each to be judged as if its row had not been.

    Parameters
    ----------
    block : Block
        The rows.
    row, column : ndarray of shape (cells,)
        Where each cell is.
    x : ndarray of shape (cells,)
        Its number, or the code of its level.
    labels : Labels
        The class of each cell's row, and what the row weighs.
    """

    block: B
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    x: NDArray[Any]
    labels: Labels

    @classmethod
    def of(cls, block: B, labels: Labels) -> LeftOut[B]:
        """Return the cells of a block that are not missing, nor 0 in a sparse one."""
        x: NDArray[Any]
        if isinstance(block, Dense):
            row, column = np.nonzero(~np.isnan(block.values))
            x = block.values[row, column].astype(np.float64)
        elif isinstance(block, Codes):
            row, column = np.nonzero(block.codes >= 0)
            x = block.codes[row, column]
        else:
            row, column, x = block.entries()
        return cls(block, row, column, x, labels.take(row))

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def weight(self) -> Floats:
        """What the row of each cell weighs, of shape (cells,)."""
        return self.labels.weights

    @cached_property
    def own(self) -> Floats:
        """What the row of each cell added to the rows of each class, of shape (cells, classes)."""
        return self.labels.one_hot()

    def rest(self, tally: BlockTally, statistics: Sequence[Statistic]) -> BlockTally[Columns]:
        """Return a tally of as many columns as there are cells, each without the cell's own row."""
        number, own = Sums(self.x[:, None]), Sums(self.own)
        added = {PRESENT: own, VALUE: number * own, SQUARE: number * number * own}
        sums = {
            s: (tally[s][self.column] if tally.axis.per_row(s) else tally[s]) - added[s]
            for s in statistics
        }
        return BlockTally(Columns(range(len(self))), sums)

    def spread(self, value: Floats) -> Floats:
        """Return values of cells (cells × classes) by row and column; those missing have 0."""
        table = np.zeros((len(self.block), len(self.block.axis.columns), value.shape[1]))
        table[self.row, self.column] = value
        return table


def leave_out(sums: Floats, right: NDArray[np.integer], own: Floats) -> Floats:
    """Return sums of shape (cells, classes) less what the row of each cell added to its class.

    Nothing is left where rounding would leave less, or decay has left less than a row.
    """
    here, left = np.arange(len(sums)), sums.copy()
    left[here, right] = np.maximum(left[here, right] - own, 0.0)
    return left


def choose(choices: Sequence[float], loss: Callable[[float], Floats | float]) -> Floats:
    """Return the choice of least loss (the first of equals), for each column if it has one each."""
    of_choices = np.stack([np.asarray(loss(choice)) for choice in choices])
    best: Floats = np.asarray(choices)[of_choices.argmin(axis=0)]
    return best


def choose_pseudo_count(loss: Callable[[float], float]) -> float:
    """Return the pseudo-count of least loss, shrunk towards 1, as a few counts say little."""
    from scipy.optimize import minimize_scalar

    bounds = np.log(LEAST_ALPHA), np.log(MOST_ALPHA)
    found = minimize_scalar(
        lambda log_alpha: loss(np.exp(log_alpha)) + SURE * log_alpha**2,
        bounds=bounds,
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))


def pseudo_count_of_words(count: Floats) -> float:
    """Return the pseudo-count of words under which each single one is best foretold by the rest.

    Parameters
    ----------
    count : ndarray of shape (words, classes)
        How often each word came.

    Notes
    -----
    The leave-one-out likelihood of Minka, Estimating a Dirichlet distribution (2000), section 2.3,
    which needs only how many words came how often; it is weakly shrunk towards 1.
    """
    total = count.sum(axis=0)
    seen, often = np.unique(count[count > 0], return_counts=True)
    tokens, words = seen * often, len(count)

    def loss(alpha: float) -> float:
        of_total = np.maximum(total - 1.0, 0.0) + alpha * words
        return float(total @ np.log(of_total) - tokens @ np.log(np.maximum(seen - 1, 0) + alpha))

    return choose_pseudo_count(loss) if len(seen) else 1.0


def pseudo_count_of_coins(true: Floats, trials: Floats) -> float:
    """Return the pseudo-count of both outcomes under which each is best foretold by the rest.

    Parameters
    ----------
    true, trials : ndarray of shape (columns, classes)
        How many are true, of how many.
    """
    both = np.stack([np.stack([true, trials - true]).ravel(), np.stack([trials, trials]).ravel()])
    (number, of), often = np.unique(both[:, both[0] > 0], axis=1, return_counts=True)

    def loss(alpha: float) -> float:
        rest = np.maximum(number - 1.0, 0.0) + alpha
        share = rest / (np.maximum(of - 1.0, 0.0) + 2 * alpha)
        return -float((often * number) @ np.log(share))

    return choose_pseudo_count(loss) if len(number) else 1.0
