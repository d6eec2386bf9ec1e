"""Batches: the blocks of some rows, and the labels of these rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns
from naively.counting.block import Block, BlockKey, Sparse
from naively.counting.documents import Documents, select_blocks, split_texts
from naively.counting.labels import Labels

AT_ONCE = 100_000_000  # characters that are split together, those of each block of texts


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
        blocks = select_blocks(self.blocks, rows)
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
        return replace(self, blocks=split_texts(self.blocks))

    def pieces(self) -> Iterator[Batch]:
        """Yield the rows in several batches if their texts are long: their words take memory."""
        n = self._count_pieces()
        if n <= 1:
            yield self
            return
        for rows in np.array_split(np.arange(len(self)), n):
            yield self.take(rows)

    def _count_pieces(self) -> int:
        texts = [block for block in self.blocks.values() if isinstance(block, Documents)]
        if any(block.found is not None for block in texts):
            return 1
        size = sum(block.size for block in texts)
        return min(-(-size // AT_ONCE), len(self))

    def tokenised(self) -> Batch:
        """Return the same rows with texts that know their words, so that they are split once.

        Of long texts the words would take much memory: they stay as they are.
        """
        if self._count_pieces() > 1:
            return self
        blocks = dict(self.blocks)
        for key, split in split_texts(self.blocks, grow=True).items():
            block = blocks[key]
            if isinstance(block, Documents) and isinstance(split, Sparse):
                blocks[key] = replace(block, found=split)
        return replace(self, blocks=blocks)

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
