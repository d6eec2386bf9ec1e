"""Counting encoded rows as a schema says, and which rows and schemas can be counted."""

from __future__ import annotations

from naively.counting.axis import PRESENT
from naively.counting.block import Batch, Dense, Documents, split_texts
from naively.counting.labels import Labels
from naively.counting.tally import Tally, Total, count_classes
from naively.data.rows import Rows
from naively.schema.schema import Schema


def check_rows(rows: Rows, labels: Labels) -> None:
    """Raise a ValueError unless there are rows, and a label for each."""
    if len(rows) != len(labels):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: "
            f"{len(rows)} rows and {len(labels)} labels."
        )
    if not len(rows):
        raise ValueError("There are no rows to learn from: found 0 sample(s), at least 1 needed.")


def check_counted(schema: Schema) -> None:
    """Raise a ValueError if rows cannot be counted by a schema, as it is what a model made of it.

    What it says that cells are missing is never counted, but follows from what is (``Model.schema``
    beside ``Model.counted``).
    """
    if any(group.kind == "missing" for group in schema.groups):
        raise ValueError(
            "The schema says that missing cells are evidence, which follows from what is counted: "
            "count by the attribute counted of a model, not by its schema."
        )


def count_batch(batch: Batch, schema: Schema) -> Tally:
    """Count encoded rows; nothing is pruned.

    Raises
    ------
    ValueError
        If a row lacks a cell that was said to be complete.
    """
    return Total.of((_count(piece, schema) for piece in batch.pieces()), consume=True)


def _count(batch: Batch, schema: Schema) -> Tally:
    texts = {
        g.key: g.event.prepare(block)
        for g in schema.groups
        if isinstance(block := batch.blocks[g.key], Documents)
    }
    words = {**batch.blocks, **split_texts(texts, grow=True)}
    blocks = {g.key: g.event.tally(words[g.key], batch.labels) for g in schema.groups}
    weight = count_classes(batch.labels)
    for key, block in batch.blocks.items():
        if isinstance(block, Dense) and block.complete:
            sums = blocks[key].sums
            if PRESENT not in sums or (sums[PRESENT].high != weight.high).any():
                raise ValueError("A cell is missing.")
    return Tally(batch.labels.classes, weight, blocks)
