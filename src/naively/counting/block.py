"""Blocks: all columns of one event model as one matrix, the only thing that is counted or scored.

A single row is a block of one; a chunk of a table is a block. The blocks of some rows and their
labels are a batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Columns, Levels, Words
from naively.counting.labels import Labels
from naively.counting.statistic import PRESENT, VALUE, Statistic
from naively.kernels import dispatch
from naively.kernels.reference import clipped
from naively.kernels.strings import Strings
from naively.kernels.tokens import Row

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
        row, item = np.nonzero(~np.isnan(self.values))
        return row, item, self.values[row, item].astype(np.float64)

    def select(self, rows: NDArray[np.int64]) -> Dense:
        return Dense(self.values[rows], self.axis)

    def followed_by(self, others: Sequence[Dense]) -> Dense:
        return Dense(np.concatenate([self.values, *(o.values for o in others)]), self.axis)


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
        row, there = np.repeat(np.arange(len(self)), np.diff(self.indptr)), ~np.isnan(self.data)
        return row[there], self.indices[there].astype(np.int64), clipped(self.data[there])

    def select(self, rows: NDArray[np.int64]) -> Sparse:
        length = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(length)]).astype(self.indptr.dtype)
        of = np.repeat(self.indptr[rows] - indptr[:-1], length) + np.arange(indptr[-1])
        absent = None if self.absent is None else self.absent[rows]
        return replace(
            self, indptr=indptr, indices=self.indices[of], data=self.data[of], absent=absent
        )

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

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has, of shape (rows,)."""
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


@dataclass(frozen=True, eq=False)
class Documents(Block):
    """Texts as they are (None is missing), which are split while they are counted or scored.

    ``Analyser.rows`` made them, so that some may be lists of words, and all together may be
    `Strings`. With ``presence`` a word counts at most once in a text.
    """

    texts: Sequence[Row]
    axis: Words
    presence: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def split(self, axis: Words | None = None) -> Sparse:
        """Return how often each text holds each word of ``axis``, by default of the block's."""
        axis = self.axis if axis is None else axis  # one without words is an axis too
        indptr, word, count = axis.vocabulary.encode(self.texts, self.presence)
        return Sparse(indptr, word, count, axis, self.missing, self.presence)

    def entries(self) -> Entries:
        return self.split().entries()

    def select(self, rows: NDArray[np.int64]) -> Documents:
        if isinstance(self.texts, Strings):  # the bytes of other rows are not kept
            return replace(self, texts=dispatch.take_strings(self.texts, rows))
        return replace(self, texts=[self.texts[row] for row in rows.tolist()])

    def followed_by(self, others: Sequence[Documents]) -> Documents:
        every = [self.texts, *(other.texts for other in others)]
        strings = [texts for texts in every if isinstance(texts, Strings)]
        if len(strings) == len(every):
            return replace(self, texts=Strings.join(strings))
        return replace(self, texts=[text for texts in every for text in texts])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has, of shape (rows,)."""
        return self.axis.vocabulary.lengths(self.texts, self.presence)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which texts are missing, of shape (rows,)."""
        if isinstance(self.texts, Strings) and self.texts.missing is not None:
            return self.texts.missing
        if isinstance(self.texts, Strings) or None not in self.texts:  # the cheap question first
            return np.zeros(len(self.texts), np.bool_)
        return np.fromiter((text is None for text in self.texts), np.bool_, len(self.texts))


Counts: TypeAlias = Dense | Sparse | Documents


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that are encoded: a block for each group of columns, and the labels.

    Parameters
    ----------
    blocks : mapping of hashable to Block
        The block of each group of columns, by its key; all have the same number of rows.
    labels : Labels
        The class of each row, and the weight of all its copies.
    copies : ndarray of int64, of shape (rows,), optional
        How many equal rows each row stands for; by default one.
    """

    blocks: Mapping[BlockKey, Block]
    labels: Labels
    copies: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def times(self) -> NDArray[np.int64]:
        """How many equal rows each row stands for, of shape (rows,)."""
        return np.ones(len(self), np.int64) if self.copies is None else self.copies

    def take(self, rows: NDArray[np.int64]) -> Batch:
        """Return the rows of these numbers, (selected,), in this order."""
        blocks = {key: block.select(rows) for key, block in self.blocks.items()}
        copies = None if self.copies is None else self.copies[rows]
        return Batch(blocks, self.labels.take(rows), copies)

    def seen(self) -> Batch:
        """Return the rows whose weight is not 0: a row of weight 0 does not count as seen."""
        weight = self.labels.weight
        return self if weight is None else self.take(np.flatnonzero(weight))

    def keep(self, copies: NDArray[np.int64]) -> Batch:
        """Return ``copies``, (rows,), of each row, with their share of its weight.

        A row of 0 copies is dropped.
        """
        there = np.flatnonzero(copies)
        part = self.take(there)
        share = copies[there] / part.times
        labels = part.labels
        if (share < 1).any():
            labels = replace(labels, weight=labels.weights * share)
        return replace(part, labels=labels, copies=copies[there])

    def split(self) -> Batch:
        """Return the same rows with each text as the counts of its words, to split it only once."""
        return replace(self, blocks={key: block.split() for key, block in self.blocks.items()})

    @property
    def form(self) -> dict[BlockKey, object]:
        """The type and axis of each block; batches of equal forms can be joined."""
        return {
            key: (type(of), of.axis.columns if isinstance(of.axis, Columns) else id(of.axis))
            for key, of in self.blocks.items()
        }

    @classmethod
    def join(cls, batches: Sequence[Batch]) -> Batch:
        """Return the rows of all batches, which are of one form and have the same classes."""
        first, *others = batches
        if not others:
            return first
        blocks = {
            key: block.followed_by([other.blocks[key] for other in others])
            for key, block in first.blocks.items()
        }
        labels = Labels.join([batch.labels for batch in batches])
        return cls(blocks, labels, np.concatenate([batch.times for batch in batches]))
