"""Blocks: all columns of one event model as one matrix, the only thing that is counted or scored.

A single row is a block of one; a chunk of a table is a block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.axis import Axis, Columns, Levels, Words


class Block(ABC):
    """Encoded rows of one event model's columns."""

    axis: Axis

    @abstractmethod
    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Dense(Block):
    """Numbers, rows × columns, float32 or float64; NaN is a missing cell."""

    values: NDArray[np.floating]
    axis: Columns

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Sparse(Block):
    """The rows of a CSR matrix; what is not stored is 0, and nothing is missing."""

    indptr: NDArray[np.integer]
    indices: NDArray[np.integer]
    data: NDArray[Any]
    axis: Columns

    def __len__(self) -> int:
        return len(self.indptr) - 1


@dataclass(frozen=True, eq=False)
class Codes(Block):
    """Level numbers within each column, rows × columns; negative is missing.

    At prediction a number past a column's last level stands for every level never seen.
    """

    codes: NDArray[np.integer]
    axis: Levels

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Documents(Block):
    """Texts (None is missing), counted by word; ``presence`` counts a word once in each."""

    texts: list[str | None]
    axis: Words
    presence: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which texts are missing."""
        return np.fromiter((text is None for text in self.texts), np.bool_, len(self.texts))
