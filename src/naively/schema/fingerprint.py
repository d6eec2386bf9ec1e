"""A number for each row that follows from its cells alone, so that equal rows have equal ones.

It is a sum over the columns, so that their order does not matter, nor how the row is encoded: a
number adds the same as truth, number or level, and a string as level or text. A missing cell adds
nothing, so that a column that is missing throughout is as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from naively.counting.axis import Columns, Name, title
from naively.counting.block import Batch, Codes, Dense, Documents, Sparse
from naively.kernels import dispatch
from naively.kernels.reference import SALT, Hashes, hash_numbers
from naively.kernels.strings import Strings
from naively.kernels.tokens import Row
from naively.schema.group import DERIVED


def fingerprints(batch: Batch, seed: np.uint64) -> Hashes:
    """Return a number for each row, by its cells and its label, of shape (rows,).

    Parameters
    ----------
    batch : Batch
        Rows that are encoded by levels and words of their own: levels that an axis lacks are lost.
    seed : uint64
        With another seed, the numbers and their order are others.
    """
    return mixed(_of_cells(batch, _factors) + _of_labels(batch) + seed)


def contents(batch: Batch) -> Hashes:
    """Return a number for each row by its cells alone, of shape (rows,).

    It is the same whatever the columns and classes are called, and whichever column a cell is in.
    """
    return _of_cells(batch, _ones)


def _of_cells(batch: Batch, factors: Callable[[Sequence[Name]], Hashes]) -> Hashes:
    """Return the sum of the hashes of each row's cells, each times a factor of its column."""
    total = np.zeros(len(batch), np.uint64)
    done: set[Name] = set()
    for key, block in batch.blocks.items():
        # What is derived follows from other columns.
        columns = [name for name in block.axis.columns if name not in done]
        if key.kind in DERIVED or not columns:
            continue
        done.update(columns)
        match block:
            case Dense():
                total += dispatch.hash_rows(block.values, factors(columns))
            case Sparse(axis=Columns()):
                _add_stored(total, block, factors(columns))
            case Codes():
                for hashes, factor in zip(level_hashes(block), factors(columns), strict=True):
                    total += hashes * factor
            case Documents():
                total += _of_texts(block.texts) * factors(columns)
    return total


def _add_stored(total: Hashes, block: Sparse, factors: Hashes) -> None:
    """Add what a sparse matrix says: 0 in each column, but for what is stored."""
    row, column, x = block.entries()
    total += (SALT * factors).sum(dtype=np.uint64)
    change = (hash_numbers(x) - SALT) * factors[column]
    np.add.at(total, row, change)


def level_hashes(block: Codes) -> Iterator[Hashes]:
    """Yield the hashes of the levels of each column, (rows,); 0 where a cell is missing."""
    for j, levels in enumerate(block.axis.levels):
        hashes = np.zeros(len(levels) + 1, np.uint64)  # the last is of missing cells
        hashes[:-1] = [_of_cell(level) for level in levels]
        yield hashes[np.maximum(block.codes[:, j].astype(np.int64), -1)]


def _of_texts(texts: Sequence[Row]) -> Hashes:
    if not isinstance(texts, Strings):
        return np.array([0 if text is None else _of_cell(text) for text in texts], np.uint64)
    utf8, spans = np.ascontiguousarray(texts.utf8).data, pairwise(texts.offsets.tolist())
    digests = [blake2b(utf8[begin:end], digest_size=8).digest() for begin, end in spans]
    hashes = np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)
    return hashes if texts.missing is None else np.where(texts.missing, np.uint64(0), hashes)


def _of_labels(batch: Batch) -> Hashes:
    classes = np.array([_of_cell(label) for label in batch.labels.classes.tolist()], np.uint64)
    return classes[batch.labels.codes] if len(batch) else np.empty(0, np.uint64)


def _of_cell(cell: object) -> int:
    """Return the hash of a level, a text or a label."""
    if isinstance(cell, int | float) and -(2**53) <= cell <= 2**53:
        return int(hash_numbers(np.array([cell], np.float64))[0])
    text = cell if isinstance(cell, str) else repr(cell)
    return _of_bytes(text.encode("utf-8", "surrogatepass"))


def _of_bytes(utf8: bytes | memoryview) -> int:
    return int.from_bytes(blake2b(utf8, digest_size=8).digest())


def _factors(columns: Sequence[Name]) -> Hashes:
    """Return an odd number for each column, by its name."""
    return np.array([_of_cell(title(name)) | 1 for name in columns], np.uint64)


def _ones(columns: Sequence[Name]) -> Hashes:
    """Return the same factor for each column."""
    return np.ones(len(columns), np.uint64)


def mixed(total: Hashes) -> Hashes:
    """Return numbers whose bits depend on all bits of others (SplitMix64, Steele et al. 2014)."""
    total = (total ^ (total >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    total = (total ^ (total >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return total ^ (total >> np.uint64(31))
