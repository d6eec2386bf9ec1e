"""The columns that encoded rows hold: to be encoded again for another schema or other axes.

What a column is taken for follows from its counts, so that it may change as more rows come: truths
become numbers, and strings become texts. Levels and words come and go too, as rows are learned and
forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns, Derived, Encoded, Level, Levels, Name, Words
from naively.counting.block import Batch, BlockKey, Codes, Dense, Documents, Sparse
from naively.schema.encode import MISSING, levels_of, placed


class Held(Encoded):
    """The columns that a batch holds, by name."""

    def __init__(self, batch: Batch) -> None:
        super().__init__()
        self.rows = len(batch)
        self.blocks = batch.blocks
        self.dense: dict[Name, tuple[Dense, int]] = {}
        self.coded: dict[Name, tuple[Codes, int]] = {}
        self.sparse: list[Sparse] = []  # matrices of numbers
        for block in batch.blocks.values():
            match block:
                case Dense():
                    self.dense |= {name: (block, j) for j, name in enumerate(block.axis.columns)}
                case Codes():
                    self.coded |= {name: (block, j) for j, name in enumerate(block.axis.columns)}
                case Sparse(axis=Columns()):
                    self.sparse.append(block)

    def matrix(self, columns: Sequence[Name]) -> Dense | Sparse:
        """Return columns of numbers, of shape (rows, columns); they are sparse if they came so."""
        if len(columns) and columns[0] not in self.dense:
            for matrix in self.sparse:
                if set(matrix.axis.columns) <= set(columns):
                    return _widened(matrix, columns)
        return self.numbers(columns)

    def numbers(self, columns: Sequence[Name]) -> Dense:
        """Return columns of numbers, of shape (rows, columns); NaN where a cell is missing."""
        axis = Columns.named(columns)
        first = self.dense.get(columns[0]) if len(columns) else None
        if first is not None and first[0].axis.columns == columns:
            return Dense(first[0].values, axis)
        matrix = np.full((self.rows, len(columns)), np.nan)
        for j, name in enumerate(columns):
            if name in self.dense:
                block, at = self.dense[name]
                matrix[:, j] = block.values[:, at]
        return Dense(matrix, axis)

    def codes(self, axis: Levels) -> Codes:
        """Return columns by known levels, of shape (rows, columns); others share one more code."""
        codes = np.full((self.rows, len(axis.columns)), MISSING, np.int32)
        for j, name in enumerate(axis.columns):
            own, known = self._by_level(name)
            codes[:, j] = placed(own, known, axis, j)
        return Codes(codes, axis)

    def texts(self, key: BlockKey, axis: Words) -> Sparse:
        """Return how often each text of a group holds each known word."""
        match self.blocks.get(key):
            case Documents() as here:
                return here.split(axis)
            case Sparse(axis=Words()) as here:
                return here.by_words(axis)
        (name,) = axis.columns
        if name not in self.coded:
            nothing = np.full(self.rows, fill_value=True)
            none = np.zeros(self.rows + 1, np.int64), np.empty(0, np.int32), np.empty(0)
            return Sparse(*none, axis, nothing, axis.analyser.binary)
        block, at = self.coded[name]
        levels = [*block.axis.levels[at], None]
        of_level = Documents(axis.analyser.rows(levels), axis, axis.analyser.binary).split()
        code = block.codes[:, at].astype(np.int64)
        return of_level.select(np.where(code < 0, len(levels) - 1, code))

    def number(self, name: Name) -> NDArray[np.floating]:
        """Return a column of numbers, of shape (rows,); NaN where a cell is missing."""
        return self.numbers((name,)).values[:, 0]

    def codes_of(self, name: Name, levels: Sequence[Level]) -> NDArray[np.integer]:
        """Return a column by these levels, of shape (rows,); their number is the code of others."""
        return self.codes(Levels((name,), (tuple(levels),))).codes[:, 0]

    def missing(self, name: Name) -> NDArray[np.bool_]:
        """Return which cells of a column are missing, of shape (rows,)."""
        if name in self.dense:
            dense, at = self.dense[name]
            return np.asarray(np.isnan(dense.values[:, at]))
        if name in self.coded:
            coded, at = self.coded[name]
            return np.asarray(coded.codes[:, at] < 0)
        found = np.ones(self.rows, np.bool_)
        for block in self.blocks.values():
            if isinstance(block, Documents | Sparse) and name in block.axis.columns:
                found &= block.missing  # some blocks leave long texts out
        return found

    def count_levels(self, name: Name) -> dict[Level, int]:
        """Return how many rows have each level of a column."""
        codes, levels = self._by_level(name)
        count = np.bincount(codes.astype(np.int64) + 1, minlength=len(levels) + 1)
        return dict(zip(levels, count[1:].tolist(), strict=False))

    def _by_level(self, name: Name) -> tuple[NDArray[np.integer], tuple[Level, ...]]:
        """Return the code of each row in a column, of shape (rows,), and the column's levels."""
        if name in self.coded:
            block, at = self.coded[name]
            return block.codes[:, at], block.axis.levels[at]
        if isinstance(name, Derived):
            return name.codes(self), name.levels
        return levels_of(self.number(name))  # truths are numbers


def _widened(block: Sparse, columns: Sequence[Name]) -> Sparse:
    """Return a matrix by other columns, among which are all of its own."""
    if block.axis.columns == columns:
        return block
    place = {name: j for j, name in enumerate(columns)}
    moved = np.array([place[name] for name in block.axis.columns], np.int64)
    return block.moved(moved, Columns.named(columns))
