"""A sample of the rows that a model has learned, in its file: encoded as the model counted them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Columns, Levels, Words
from naively.counting.block import Batch, Block, Codes, Dense, Sparse
from naively.counting.labels import LEAST_WEIGHT, Labels
from naively.counting.tally import Tally, forget
from naively.file.container import Arrays, UnreadArrays
from naively.file.header import Saved, SavedSample
from naively.model.model import Model, count_batch
from naively.schema.schema import Group

Keys: TypeAlias = NDArray[np.uint64]

NEARLY_ALL = 0.99  # of the weight of a row, which is rounded where it is the sum of many copies


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Different rows that a model has learned, those of the least keys, encoded by its axes.

    Parameters
    ----------
    batches : sequence of (Batch, ndarray of uint64, ndarray of uint64), both of shape (rows,)
        The rows, with how many copies came of each, their keys, ascending, and the sums over their
        cells.
    seed : uint64
        What the keys were made with.
    seen : int
        How many rows they are a sample of.
    """

    batches: Sequence[tuple[Batch, Keys, Keys]]
    seed: np.uint64
    seen: int

    def __len__(self) -> int:
        return int(sum(batch.times.sum() for batch, _, _ in self.batches))

    def arrays(self, groups: Sequence[Group]) -> Arrays:
        """Return what a file holds of the rows; a block is named by the place of its group."""
        found: Arrays = {}
        for i, (batch, keys, contents) in enumerate(self.batches):
            parts: Arrays = {
                "keys": keys.view(np.int64),
                "contents": contents.view(np.int64),
                "labels": batch.labels.codes,
                "weights": batch.labels.weights,
                "copies": batch.times,
            }
            for place, group in enumerate(groups):
                block = _write_block(batch.blocks[group.key])
                parts |= {f"{place}/{what}": array for what, array in block.items()}
            found |= {f"sample/{i}/{what}": array for what, array in parts.items()}
        return found


def write_sample(sample: SampledRows, groups: Sequence[Group], arrays: Arrays) -> Saved:
    """Return what the header says of a sample, and add its arrays."""
    arrays.update(sample.arrays(groups))
    seed = int(sample.seed.view(np.int64))  # an integer of the header has 63 bits and a sign
    return {"seed": seed, "seen": sample.seen, "batches": len(sample.batches)}


def read_sample(saved: SavedSample, unread: UnreadArrays, model: Model) -> SampledRows:
    """Return the sample that was written, or raise a ValueError.

    Parameters
    ----------
    saved : SavedSample
        What the header says of it.
    unread : UnreadArrays
        The arrays of the file.
    model : Model
        What has learned the rows.
    """
    batches = [_read_batch(f"sample/{i}", unread, model) for i in range(saved.batches)]
    keys = np.concatenate([np.empty(0, np.uint64), *(keys for _, keys, _ in batches)])
    if len(np.unique(keys)) < len(keys):
        raise ValueError("a row is there twice")
    if sum(float(batch.times.sum(dtype=np.float64)) for batch, _, _ in batches) > saved.seen:
        raise ValueError("there are more rows than were seen")
    _check_learned([batch for batch, _, _ in batches], model.without_interactions())
    return SampledRows(batches, np.int64(saved.seed).view(np.uint64), saved.seen)


def _check_learned(batches: Sequence[Batch], model: Model) -> None:
    """Raise a ValueError unless a model can have learned all rows."""
    try:
        counted = [count_batch(batch, model.counted) for batch in batches]
        if counted:
            forget(model.tally, reduce(Tally.__add__, counted) * NEARLY_ALL)
    except ValueError as error:
        raise ValueError(f"there are rows that were not learned ({error})") from error


def _write_block(block: Block) -> Arrays:
    """Return the arrays of a block."""
    match block:
        case Dense():
            return {"values": block.values.astype(np.float64)}
        case Codes():
            return {"codes": block.codes.astype(np.int32)}
        case Sparse():
            items = block.indices.astype(np.int32)
            stored: Arrays = {"ends": block.indptr[1:].astype(np.int64), "items": items}
            if isinstance(block.axis, Columns):
                return {**stored, "numbers": block.data.astype(np.float64)}
            stored["missing"] = block.missing.astype(np.uint8)
            return stored if block.presence else {**stored, "counts": block.data.astype(np.int32)}
    raise TypeError(f"A model file cannot hold {type(block).__name__}.")


def _read_batch(name: str, unread: UnreadArrays, model: Model) -> tuple[Batch, Keys, Keys]:
    """Return rows that are held alike, their keys, and the sums over their cells, (rows,)."""
    keys = unread.take(f"{name}/keys", "i").view(np.uint64)
    if keys.ndim != 1 or (keys[1:] <= keys[:-1]).any():
        raise ValueError("rows are not in the order of their keys")
    rows = (len(keys),)
    contents = unread.take(f"{name}/contents", "i", rows).view(np.uint64)
    codes = unread.take(f"{name}/labels", "c", rows)
    weight = unread.take(f"{name}/weights", "f", rows)
    copies = unread.take(f"{name}/copies", "i", rows)
    _check(codes, 0, len(model.classes), "class")
    if not (np.isfinite(weight) & (weight >= LEAST_WEIGHT)).all() or (copies < 1).any():
        raise ValueError("a row has no weight, or there is no copy of it")
    labels = Labels(codes, model.classes, None if (weight == 1).all() else weight)
    blocks = {}
    for place, group in enumerate(model.counted.groups):
        axis = model.tally.blocks[group.key].axis
        blocks[group.key] = _read_block(f"{name}/{place}", group, axis, len(keys), unread)
    return Batch(blocks, labels, None if (copies == 1).all() else copies), keys, contents


def _read_block(name: str, group: Group, axis: Axis, rows: int, unread: UnreadArrays) -> Block:
    """Return so many rows of a group, encoded by the axis that the group was counted on."""
    if isinstance(axis, Levels):
        codes = unread.take(f"{name}/codes", "c", (rows, len(axis.columns)))
        # Missing cells are a bin of an interaction, and no level of other columns.
        _check(codes, 0 if axis.whole else -1, axis.sizes, "level")
        return Codes(codes, axis)
    if isinstance(axis, Words):
        return _read_texts(name, axis, rows, unread)
    columns = Columns.named(axis.columns)
    if not group.event.sparse or f"{name}/ends" not in unread:
        values = unread.take(f"{name}/values", "f", (rows, len(columns)))
        return Dense(values, columns)
    indptr, items = _read_stored(name, len(columns), rows, unread)
    return Sparse(indptr, items, unread.take(f"{name}/numbers", "f", items.shape), columns)


def _read_texts(name: str, axis: Words, rows: int, unread: UnreadArrays) -> Sparse:
    """Return how often each of so many texts holds each word, and which texts are missing."""
    presence = axis.analyser.binary
    indptr, items = _read_stored(name, len(axis), rows, unread)
    missing = unread.take(f"{name}/missing", "u", (rows,)).astype(np.bool_)
    counts = np.ones(len(items))
    if not presence:
        counts = unread.take(f"{name}/counts", "c", items.shape).astype(np.float64)
    if (counts < 1).any() or (indptr[1:] > indptr[:-1])[missing].any():
        raise ValueError("a text that is missing has words, or there is no copy of a word")
    return Sparse(indptr, items, counts, axis, missing, presence)


def _read_stored(
    name: str, width: int, rows: int, unread: UnreadArrays
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each row begins, of shape (rows + 1,), and which items it holds (stored,)."""
    indptr = np.concatenate([np.zeros(1, np.int64), unread.take(f"{name}/ends", "i", (rows,))])
    items = unread.take(f"{name}/items", "c")
    if items.ndim != 1 or (indptr[1:] < indptr[:-1]).any() or indptr[-1] != len(items):
        raise ValueError("rows do not end where the next begin")
    _check(items, 0, width, "column or word")
    return indptr, items


def _check(codes: NDArray[np.int32], least: int, end: int | NDArray[np.int64], what: str) -> None:
    """Raise a ValueError unless codes are from the least up to an end, of each column or of all."""
    if ((codes < least) | (codes >= end)).any():
        raise ValueError(f"there is no such {what}")
