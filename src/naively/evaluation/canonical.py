"""An order of rows that follows from what they hold, whatever columns and classes are called.

Rows are dealt out to folds in this order, so that another name changes no fit. It does not depend
on the order in which rows and columns came either. A row's number is a sum over its cells, so that
some of the rows are in the order in which they are among all. Rows that have the same number, such
as those of two booleans one of which is true, are told apart by what else their columns and classes
hold, as colours of a graph are refined (Weisfeiler & Lehman 1968).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns, Name
from naively.counting.block import Batch, Block, Codes, Dense, Sparse
from naively.kernels.reference import SALT, Hashes, hash_numbers
from naively.schema.fingerprint import level_hashes, mixed
from naively.schema.group import DERIVED

SEED = 0  # of the order in which rows are dealt


def row_order(batches: Sequence[Batch], contents: Sequence[Hashes]) -> list[NDArray[np.int64]]:
    """Return an order of the rows of each batch, which differ.

    Parameters
    ----------
    batches : sequence of Batch
        The rows, whose labels are among the same classes.
    contents : sequence of ndarray of uint64, of shape (rows,)
        The sum over the cells of each row (``schema.fingerprint.contents``).
    """
    first = [mixed(content) for content in contents]
    every = np.concatenate([np.empty(0, np.uint64), *first])
    if len(np.unique(every)) == len(every):
        return [np.argsort(of) for of in first]
    then = _told_apart(batches, first)
    return [np.lexsort(of) for of in zip(then, first, strict=True)]


def by_class(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the rows in random order, class after class, in the order in which classes come.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 1])
    >>> (by_class(codes) == by_class(1 - codes)).all()
    np.True_
    """
    order = np.random.default_rng(SEED).permutation(len(codes))
    _, first, number = np.unique(codes[order], return_index=True, return_inverse=True)
    found: NDArray[np.int64] = order[np.argsort(first[number], kind="stable")]
    return found


def _told_apart(batches: Sequence[Batch], first: Sequence[Hashes]) -> list[Hashes]:
    """Return other numbers of rows, by what else their classes and their columns hold."""
    codes = [batch.labels.codes for batch in batches]
    of_class = np.zeros(max(batch.labels.k for batch in batches), np.uint64)
    for code, of in zip(codes, first, strict=True):
        np.add.at(of_class, code, of)
    found = [mixed(of + mixed(of_class)[code]) for code, of in zip(codes, first, strict=True)]
    of_column: dict[Name, Hashes] = {}
    for batch, rows in zip(batches, found, strict=True):
        for name, seen in _columns(batch, rows):
            of_column[name] = of_column.get(name, np.zeros(1, np.uint64)) + seen
    told = []
    for batch, rows in zip(batches, found, strict=True):
        total = rows.copy()
        for block in _blocks(batch):
            total += _of_rows(block, np.concatenate([of_column[n] for n in block.axis.columns]))
        told.append(mixed(total))
    return told


def _blocks(batch: Batch) -> Iterator[Block]:
    """Yield the blocks of columns, each column once; texts are told apart by what they hold."""
    done: set[Name] = set()
    for key, block in batch.blocks.items():
        columns = set(block.axis.columns)
        if key.kind in DERIVED or columns & done:
            continue
        if isinstance(block, Dense | Codes) or isinstance(block.axis, Columns):
            done |= columns
            yield block


def _columns(batch: Batch, rows: Hashes) -> Iterator[tuple[Name, Hashes]]:
    """Yield a number for each column: a sum over its cells and the numbers of their rows."""
    for block in _blocks(batch):
        names = block.axis.columns
        if isinstance(block, Sparse):
            row, column, x = block.entries()
            sums = np.full(len(names), mixed(rows + SALT).sum(dtype=np.uint64))
            np.add.at(sums, column, mixed(hash_numbers(x) + rows[row]) - mixed(rows[row] + SALT))
            yield from zip(names, sums[:, None], strict=True)
        else:
            for name, hashes in zip(names, _hashes(block), strict=True):
                there = hashes != 0
                yield name, mixed(hashes[there] + rows[there]).sum(dtype=np.uint64, keepdims=True)


def _of_rows(block: Block, of_column: Hashes) -> Hashes:
    """Return a number for each row: a sum over its cells and the numbers of their columns."""
    if isinstance(block, Sparse):
        row, column, x = block.entries()
        total = np.full(len(block), mixed(of_column + SALT).sum(dtype=np.uint64))
        of = of_column[column]
        np.add.at(total, row, mixed(hash_numbers(x) + of) - mixed(of + SALT))
        return total
    total = np.zeros(len(block), np.uint64)
    for hashes, of in zip(_hashes(block), of_column, strict=True):
        there = hashes != 0
        total[there] += mixed(hashes[there] + of)
    return total


def _hashes(block: Block) -> Iterator[Hashes]:
    """Yield the hashes of the cells of each column, (rows,); 0 where a cell is missing."""
    if isinstance(block, Codes):
        yield from level_hashes(block)
        return
    assert isinstance(block, Dense)
    for j in range(len(block.axis.columns)):
        x = block.values[:, j].astype(np.float64)
        yield np.where(np.isnan(x), np.uint64(0), hash_numbers(x))
