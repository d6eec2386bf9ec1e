"""Likelihoods: the derived tables, and how a block is scored with them, ``Σ s(x) · w_c``.

Log-linear in x (for texts over the square root of the length too), quadratic in x, a table of
levels or of bins, Pólya's urn, and pointwise for the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.counting.block import B, Block
from naively.kernels import dispatch
from naively.kernels.reference import Finish, Finished, Floats, clipped

ABSENT = -1  # the item of a contribution that stands for all words a row does not hold; below it,
# ABSENT - 1 - i stands for word i alone


@dataclass(frozen=True, eq=False)
class Contributions:
    """Log likelihoods item by item: ``value[i]`` is what ``item[i]`` adds to ``row[i]``.

    Parameters
    ----------
    row, column : ndarray of shape (items,)
        The row of the block, and the column of its axis; of a text it is 0.
    item : ndarray of shape (items,)
        A column of a dense block, a level of a categorical column (the position after its levels
        where it was never seen), a word, or ``ABSENT``.
    value : ndarray of shape (items, classes)
        The log likelihoods.
    """

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    item: NDArray[np.int64]
    value: Floats


@dataclass(frozen=True, eq=False)
class Typical:
    """What a row of a class may hold, and its log likelihoods.

    Parameters
    ----------
    value : ndarray of shape (rows of the axis, classes)
        The log likelihoods of each column, level or word.
    x : ndarray of shape (rows of the axis,), optional
        The number that was looked at, where the axis does not say it.
    """

    value: Floats
    x: Floats | None = None


class Likelihood(ABC, Generic[B]):
    """Log likelihood of a block's rows, derived from a tally."""

    @abstractmethod
    def log_prob(self, block: B, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        """Add the log likelihood of each row to ``start`` and finish it.

        Parameters are those of the kernels (``kernels.reference``): ``start`` is of shape
        (classes,) or (rows, classes), ``log_prior`` of shape (classes,).
        """

    base: Callable[[B], Floats] | None  # of the rows of a block: what no class changes

    def log_base(self, block: B) -> Floats:
        """Return what ``log_prob`` leaves out, as it is the same for every class."""
        return np.zeros(len(block)) if self.base is None else self.base(block)

    @abstractmethod
    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        """Return the log likelihoods of cells: number (or code) x in a column, (cells, classes)."""

    @abstractmethod
    def weighted(self, weight: Floats) -> Self:
        """Multiply the log likelihoods of each column, or of each word of a text, by its weights.

        ``weight`` is of shape (columns or words, classes). The log likelihoods are centred over the
        classes before; where they cannot be (``centres`` is false), the weights of a column must be
        equal for all classes.
        """

    def normalised_by_length(self) -> Likelihood:
        """Return what divides the evidence of a text by the root of how many words are known."""
        raise TypeError(f"{type(self).__name__} does not add up the evidence of words.")

    centres: ClassVar[bool] = True

    def linear(self) -> tuple[Floats, Floats]:
        """Return slopes, of shape (columns, levels or words; classes), and constants (classes,).

        They are given up to what is the same for all classes.

        Raises
        ------
        ValueError
            If the log odds are no straight line; it says why.
        """
        raise ValueError("the log odds of what is integrated out are a curve; estimate otherwise.")

    def contributions(self, block: B) -> Contributions:
        """Return the log likelihood item by item; over a row they sum to ``log_prob``."""
        row, column, x = block.entries()
        return Contributions(row, column, column, self.at(x, column))

    def itemised(self, block: B) -> Contributions:
        """Return the contributions for an explanation.

        A word that cannot be absent in some class, and is absent, is an item of its own.
        """
        return self.contributions(block)

    @abstractmethod
    def typical(self, c: int) -> Typical:
        """Return the log likelihoods of each word or level, or of a number typical of class c."""


class CellByCell(Likelihood[B]):
    """A likelihood that no kernel knows: the cells of a row are added up one by one."""

    centres = False

    def log_prob(self, block: B, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        joint = np.empty((len(block), len(log_prior)))
        joint[...] = start
        cells = self.contributions(block)
        np.add.at(joint, cells.row, cells.value)
        return dispatch.finish_rows(joint, finish, log_prior)


def sum_of_cells(of_cell: Callable[[Floats], Floats], block: Block) -> Floats:
    """Return the sum of a function of the numbers of each row, of shape (rows,).

    Missing cells are left out, and so is what a sparse block does not store: the function must be
    0 at 0.
    """
    row, _, x = block.entries()
    return np.bincount(row, of_cell(clipped(x)), len(block)).astype(np.float64)


def multiply(table: Floats, weight: Floats, finite: ArrayLike | None = None) -> Floats:
    """Centre each row over the classes and multiply it by its weights.

    A row that is not finite stays where it is, and takes the mean of its weights; 0 · -inf is 0,
    as what does not count is not impossible.
    """
    centres = np.asarray(np.isfinite(table).all(axis=1) if finite is None else finite)[..., None]
    with np.errstate(invalid="ignore"):
        centred = np.where(centres, table - table.mean(axis=1, keepdims=True), table)
        scale = np.where(centres, weight, weight.mean(axis=1, keepdims=True))
        return np.where(scale == 0, 0.0, centred * scale)
