"""Blocks: all columns of one event model as one matrix, the only thing that is counted or scored.

A single row is a block of one; a chunk of a table is a block. The blocks of some rows and their
labels are a batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Columns, Levels, Words
from naively.counting.statistic import PRESENT, VALUE, Statistic
from naively.kernels import dispatch
from naively.kernels.reference import Floats, clipped

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    B = TypeVar("B", bound="Block", default=Any)
else:
    from typing import TypeVar

    B = TypeVar("B")

BlockKey: TypeAlias = Any  # identifies a block; the schema makes it
# The row and the item (a column or a word) of each cell, and its number or the code of its level,
# each of shape (cells,).
Entries: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]"


class Block(ABC):
    """Encoded rows of one event model's columns."""

    axis: Axis
    # Its sum is how many rows have a value in a column, or how often a word comes in all rows.
    frequency: ClassVar[Statistic] = VALUE

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def entries(self) -> Entries:
        """Return the cells that are stored and not missing."""

    @abstractmethod
    def select(self, rows: NDArray[np.int64]) -> Block:
        """Return the rows of these numbers, (selected,), in this order; a number may repeat."""

    @abstractmethod
    def followed_by(self, others: Sequence[Self]) -> Self:
        """Return a block of these rows, then those of other blocks of the same type and axis."""

    def split(self) -> Block:
        """Return the same rows, with each text as the counts of its words."""
        return self


@dataclass(frozen=True, eq=False)
class Dense(Block):
    """Numbers, rows × columns, float32 or float64; NaN is a missing cell.

    Where rows are ``complete`` no cell is missing or infinite; one that is becomes a ValueError as
    it is counted or scored, so that nobody has to look before.
    """

    values: NDArray[np.floating]
    axis: Columns
    complete: bool = False
    frequency = PRESENT

    def __len__(self) -> int:
        return len(self.values)

    def entries(self) -> Entries:
        there = ~np.isnan(self.values)
        row, item = np.nonzero(there)
        return row, item, self.values[there].astype(np.float64, copy=False)

    def select(self, rows: NDArray[np.int64]) -> Dense:
        return Dense(self.values[rows], self.axis)

    def followed_by(self, others: Sequence[Dense]) -> Dense:
        return Dense(np.concatenate([self.values, *(o.values for o in others)]), self.axis)


_ONE = np.ones(1)
_ONE.flags.writeable = False


def ones(n: int) -> Floats:
    """Return n ones, of shape (n,), in the memory of one.

    ``np.broadcast_to`` takes a tenth as long as to predict a short text.
    """
    return np.ndarray((n,), np.float64, _ONE, strides=(0,))


@dataclass(frozen=True, eq=False)
class Sparse(Block):
    """The rows of a CSR matrix, of numbers or of the words of texts.

    What is not stored is 0. No number is missing; a text may be missing as a whole.

    Parameters
    ----------
    indptr : ndarray of shape (rows + 1,)
        Where each row begins in ``indices`` and ``data``.
    indices : ndarray of shape (stored,)
        The column or the word of each number that is stored.
    data : ndarray of shape (stored,)
        The numbers, or how often the text holds the word.
    axis : Columns or Words
        What the columns of the matrix are.
    absent : ndarray of bool, of shape (rows,), optional
        Which texts are missing; by default none is.
    presence : bool, default False
        Whether a word counts at most once in a text, so that ``data`` is 1 throughout.
    complete : bool, default False
        Whether a stored number that is NaN or infinite is an error, as of ``Dense``.
    """

    indptr: NDArray[np.integer]
    indices: NDArray[np.integer]
    data: NDArray[np.number]
    axis: Columns | Words
    absent: NDArray[np.bool_] | None = None
    presence: bool = False
    complete: bool = False

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def split(self) -> Sparse:
        return self

    def entries(self) -> Entries:
        stored = slice(self.indptr[0], self.indptr[-1])  # there may be room for more
        indices, data = self.indices[stored], self.data[stored]
        row, there = np.repeat(np.arange(len(self)), np.diff(self.indptr)), ~np.isnan(data)
        return row[there], indices[there].astype(np.int64), clipped(data[there])

    def select(self, rows: NDArray[np.int64]) -> Sparse:
        data = None if self.presence else self.data
        indptr, indices, data = dispatch.take_rows(self.indptr, self.indices, data, rows)
        indptr = indptr.astype(self.indptr.dtype, copy=False)
        if data is None:
            data = ones(len(indices))
        absent = None if self.absent is None else self.absent[rows]
        return replace(self, indptr=indptr, indices=indices, data=data, absent=absent)

    def followed_by(self, others: Sequence[Sparse]) -> Sparse:
        every = [self, *others]
        length = np.concatenate([np.zeros(1, np.int64), *(np.diff(o.indptr) for o in every)])
        return replace(
            self,
            indptr=np.cumsum(length),
            indices=np.concatenate([o.indices for o in every]),
            data=np.concatenate([o.data for o in every]),
            absent=np.concatenate([o.missing for o in every]),
        )

    def once(self) -> Sparse:
        """Return texts in which each word that they hold counts once."""
        if self.presence:
            return self
        return replace(self, data=ones(len(self.indices)), presence=True)

    def by_words(self, axis: Words) -> Sparse:
        """Return texts by the words of another axis; words that it lacks are left out."""
        assert isinstance(self.axis, Words)
        place = axis.find(self.axis)
        return replace(self, axis=axis) if place is None else self.moved(place, axis)

    def moved(self, place: NDArray[np.int64], axis: Columns | Words) -> Sparse:
        """Return a matrix whose columns have other numbers, ``place``; those at -1 are left out."""
        indices = place[self.indices].astype(np.int32)
        stay = indices >= 0
        if stay.all():
            return replace(self, indices=indices, axis=axis)
        indptr = np.append(0, np.cumsum(stay))[self.indptr]
        return replace(self, indptr=indptr, indices=indices[stay], data=self.data[stay], axis=axis)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has, of shape (rows,)."""
        if self.presence:
            return np.diff(self.indptr).astype(np.int64)
        before = np.concatenate([np.zeros(1), np.cumsum(self.data)])
        length: NDArray[np.int64] = np.diff(before[self.indptr]).astype(np.int64)
        return length

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows are missing, of shape (rows,)."""
        return np.zeros(len(self), np.bool_) if self.absent is None else self.absent


@dataclass(frozen=True, eq=False)
class Codes(Block):
    """Level numbers within each column, rows × columns; negative is missing.

    At prediction a number past a column's last level stands for every level never seen. Where rows
    are ``complete`` a negative number is an error, as of ``Dense``.
    """

    codes: NDArray[np.integer]
    axis: Levels
    complete: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def entries(self) -> Entries:
        row, column = np.nonzero(self.codes >= 0)
        return row, column, self.codes[row, column]

    def select(self, rows: NDArray[np.int64]) -> Codes:
        return Codes(self.codes[rows], self.axis)

    def followed_by(self, others: Sequence[Codes]) -> Codes:
        return Codes(np.concatenate([self.codes, *(o.codes for o in others)]), self.axis)
