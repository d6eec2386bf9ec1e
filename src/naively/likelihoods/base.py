"""From parameters and blocks to joint log likelihoods: what every likelihood does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.counting.block import B, Block, Dense
from naively.kernels import dispatch
from naively.kernels.reference import Finish, Finished, Floats, clipped

# --- Likelihoods: the derived tables, and how a block is scored with them, ``Σ s(x) · w_c`` ------
#
# A likelihood is log-linear in x (for texts also over a power of the length), quadratic in
# x, a table of levels or of bins, Pólya's urn, or a function that is called for each cell.


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
    """Typical values of a class, and their log likelihoods.

    Parameters
    ----------
    value : ndarray of shape (rows of the axis, classes)
        The log likelihoods of each column, level or word.
    x : ndarray of shape (rows of the axis,), optional
        The typical number of each column, where rows of the axis are columns of numbers.
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

    def reads_texts(self, block: B) -> bool:  # noqa: ARG002
        """Whether a block of texts is scored as they are read, so that none need be split."""
        return False

    base: Callable[[B], Floats] | None  # returns the log base measure of rows, (rows,)

    def log_base(self, block: B) -> Floats:
        """Return what ``log_prob`` leaves out as it is the same for every class, (rows,)."""
        return np.zeros(len(block)) if self.base is None else self.base(block)

    @abstractmethod
    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        """Return the log likelihoods of cells, (cells, classes): number or code x in a column."""

    @abstractmethod
    def weighted(self, weight: Floats) -> Self:
        """Return this with the log likelihoods of each column or word multiplied by its weights.

        ``weight`` is of shape (columns or words, classes). The log likelihoods are centred over the
        classes first; if they cannot be (``centres`` is false), the weights of a column must be
        equal for all classes.
        """

    def weighted_by_part(self, weight: Floats, part: NDArray[np.integer]) -> Likelihood:
        """Return this with the weights of each column's or word's part, as ``weighted`` does.

        ``weight`` is of shape (parts, classes), and ``part``, the number of each part, of shape
        (columns or words,).
        """
        return self.weighted(weight[part])

    def over_length(self, power: float) -> Likelihood:  # noqa: ARG002
        """Return this with a text's evidence over a power of the number of its known words."""
        raise TypeError(f"{type(self).__name__} does not add up the evidence of words.")

    centres: ClassVar[bool] = True

    def linear(self) -> tuple[Floats, Floats]:
        """Return slopes, of shape (columns, levels or words; classes), and constants (classes,).

        Both are given up to a term that is the same for all classes.

        Raises
        ------
        ValueError
            If the log odds are no straight line; it says why.
        """
        raise ValueError(
            "the log odds of histograms, densities and what is integrated out are a curve; choose "
            "another event model or estimate."
        )

    def contributions(self, block: B) -> Contributions:
        """Return the log likelihood item by item; with ``start`` they sum to ``log_prob``."""
        row, column, x = block.entries()
        return Contributions(row, column, column, self.at(x, column))

    def itemised(self, block: B) -> Contributions:
        """Return the contributions for an explanation.

        An absent word that cannot be absent in some class is an item of its own.
        """
        return self.contributions(block)

    @abstractmethod
    def typical(self, c: int) -> Typical:
        """Return the log likelihoods of all words or levels, or of numbers typical of class c."""

    def of_items(self, items: NDArray[np.integer]) -> Floats:
        """Return the log likelihoods of some words or levels, (items, classes)."""
        found: Floats = self.typical(0).value[items]
        return found


class CellByCell(Likelihood[B]):
    """A likelihood without a kernel: the cells of a row are added up one by one."""

    centres = False

    def log_prob(self, block: B, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        joint = np.empty((len(block), len(log_prior)))
        joint[...] = start
        cells = self.contributions(block)
        np.add.at(joint, cells.row, cells.value)
        return dispatch.finish_rows(joint, finish, log_prior)


def sum_of_cells(of_cell: Callable[[Floats], Floats], block: Block) -> Floats:
    """Return the sum over each row of a function of its numbers, of shape (rows,).

    Cells that are missing or not stored are left out: for a sparse block the function must be 0 at
    0.
    """
    row, _, x = block.entries()
    return np.bincount(row, of_cell(clipped(x)), len(block)).astype(np.float64)


def multiply(table: Floats, weight: Floats, finite: ArrayLike | None = None) -> Floats:
    """Centre each row of a table, (rows, classes), and multiply it by its weights, of its shape.

    A row that is not ``finite``, (rows,), is not centred and takes the mean of its weights.
    0 · -inf is 0, because what has no weight is not impossible.
    """
    centres = np.asarray(np.isfinite(table).all(axis=1) if finite is None else finite)[..., None]
    with np.errstate(invalid="ignore"):
        centred = np.where(centres, table - table.mean(axis=1, keepdims=True), table)
        scale = np.where(centres, weight, weight.mean(axis=1, keepdims=True))
        return np.where(scale == 0, 0.0, centred * scale)


# --- Likelihoods that a function computes cell by cell -------------------------------------------


@dataclass(frozen=True, eq=False)
class Pointwise(CellByCell[Dense]):
    """A likelihood that is a function of each cell alone.

    ``log_density(x, column)`` returns the log likelihoods of cells, of shape (cells, classes);
    ``centre`` holds a typical number of each column and class, (columns, classes).
    """

    log_density: Callable[[Floats, NDArray[np.int64]], Floats]
    centre: Floats
    base: Callable[[Dense], Floats] | None = None

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        return self.log_density(x.astype(np.float64), column)

    def weighted(self, weight: Floats) -> Pointwise:
        def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
            return multiply(self.log_density(x, column), weight[column], np.False_)

        return replace(self, log_density=log_density)

    def typical(self, c: int) -> Typical:
        x = self.centre[:, c]
        return Typical(self.log_density(x, np.arange(len(x))), x)
