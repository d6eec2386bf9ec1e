"""Blocks: all columns of one event model as one matrix, the only thing that is counted or scored.

A single row is a block of one; a chunk of a table is a block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Columns, Levels, Words
from naively.kernels.reference import hold
from naively.kernels.tokens import Row

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    B = TypeVar("B", bound="Block", default=Any)
else:
    from typing import TypeVar

    B = TypeVar("B")

Entries: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]"


class Block(ABC):
    """Encoded rows of one event model's columns."""

    axis: Axis

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def entries(self) -> Entries:
        """Return the cells that are not missing (nor zero, of numbers): row, item, number.

        Numbers are held where kernels hold them.
        """

    @abstractmethod
    def select(self, rows: NDArray[np.int64]) -> Block:
        """Return these rows, in this order; each as often as it is named."""


@dataclass(frozen=True, eq=False)
class Dense(Block):
    """Numbers, rows × columns, float32 or float64; NaN is a missing cell."""

    values: NDArray[np.floating]
    axis: Columns

    def __len__(self) -> int:
        return len(self.values)

    def entries(self) -> Entries:
        row, item = np.nonzero(np.nan_to_num(self.values))
        return row, item, hold(self.values[row, item])

    def select(self, rows: NDArray[np.int64]) -> Dense:
        return Dense(self.values[rows], self.axis)


@dataclass(frozen=True, eq=False)
class Sparse(Block):
    """The rows of a CSR matrix; what is not stored is 0, and nothing is missing."""

    indptr: NDArray[np.integer]
    indices: NDArray[np.integer]
    data: NDArray[Any]
    axis: Columns

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def entries(self) -> Entries:
        row, there = np.repeat(np.arange(len(self)), np.diff(self.indptr)), ~np.isnan(self.data)
        return row[there], self.indices[there].astype(np.int64), hold(self.data[there])

    def select(self, rows: NDArray[np.int64]) -> Sparse:
        length = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(length)]).astype(self.indptr.dtype)
        of = np.repeat(self.indptr[rows] - indptr[:-1], length) + np.arange(indptr[-1])
        return Sparse(indptr, self.indices[of], self.data[of], self.axis)


@dataclass(frozen=True, eq=False)
class Codes(Block):
    """Level numbers within each column, rows × columns; negative is missing.

    At prediction a number past a column's last level stands for every level never seen.
    """

    codes: NDArray[np.integer]
    axis: Levels

    def __len__(self) -> int:
        return len(self.codes)

    def entries(self) -> Entries:
        row, column = np.nonzero(self.codes >= 0)
        return row, column, self.codes[row, column].astype(np.float64)

    def select(self, rows: NDArray[np.int64]) -> Codes:
        return Codes(self.codes[rows], self.axis)


@dataclass(frozen=True, eq=False)
class Documents(Block):
    """Texts (None is missing), counted by word; ``presence`` counts a word once in each.

    They are as ``Analyser.rows`` leaves them, so that some may be lists of words.
    """

    texts: Sequence[Row]
    axis: Words
    presence: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def entries(self) -> Entries:
        indptr, word, count = self.axis.vocabulary.encode(self.texts, self.presence)
        row = np.repeat(np.arange(len(self)), np.diff(indptr))
        return row, word.astype(np.int64), count.astype(np.float64)

    def select(self, rows: NDArray[np.int64]) -> Documents:
        return replace(self, texts=[self.texts[row] for row in rows.tolist()])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many known words each text has."""
        return self.axis.vocabulary.lengths(self.texts, self.presence)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which texts are missing."""
        if None not in self.texts:  # the cheap question first
            return np.zeros(len(self.texts), np.bool_)
        return np.fromiter((text is None for text in self.texts), np.bool_, len(self.texts))
