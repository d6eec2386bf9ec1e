"""What was counted of rows: encoded rows become a tally, as a schema says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from naively.counting.axis import PRESENT, Axis
from naively.counting.block import Batch, Dense, Documents, split_texts
from naively.counting.labels import Labels
from naively.counting.noise import Mechanism
from naively.counting.tally import Tally, Total, count_classes
from naively.data.columns import Rows
from naively.kernels import dispatch
from naively.schema.schema import GroupKey, Schema

# --- The noise that was added to the counts of a model, for whoever reads them later -------------


@final
@dataclass(frozen=True)
class AddedNoise:
    """The noise in all counts of a model, and how well it hides a row.

    Parameters
    ----------
    epsilon, delta : float
        Any set of models is at most exp(epsilon) times as probable, and delta more, with one row
        as without it.
    mechanism : {"discrete Gaussian", "discrete Laplace"}
        The distribution of the noise.
    deviation : float
        The standard deviation of the noise, in rows.
    threshold : int
        Levels, cells and words that the rows alone name are kept from this noisy count on; 0
        where there are none.

    Examples
    --------
    >>> print(AddedNoise(1.0, 1e-6, "discrete Gaussian", 17.5, 104))
    noise: epsilon 1, delta 1e-06, discrete Gaussian of standard deviation 17.5; levels, cells
    and words are kept from a noisy count of 104 on
    """

    epsilon: float
    delta: float
    mechanism: Mechanism
    deviation: float
    threshold: int

    def __str__(self) -> str:
        said = (
            f"noise: epsilon {self.epsilon:g}, delta {self.delta:g}, {self.mechanism} of standard "
            f"deviation {self.deviation:.3g}"
        )
        if not self.threshold:
            return said
        kept = f"levels, cells and words are kept from a noisy count of {self.threshold:,} on"
        return f"{said}; {kept}"


# --- Counting encoded rows as a schema says, and which rows and schemas can be counted -----------


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

    What it says that cells are missing is never counted, but follows from what is (``Model.taken``
    beside ``Model.counted``).
    """
    if any(group.kind in ("missing", "missing as") for group in schema.groups):
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
    return Total.of(_count_pieces(batch, schema), consume=True)


def _count_pieces(batch: Batch, schema: Schema) -> Iterator[Tally]:
    """Yield what is counted of each piece, which has the words of those before, and new ones."""
    axes: Mapping[GroupKey, Axis] = {}
    for piece in batch.pieces():
        tally = _count(piece.on(axes), schema)
        axes = tally.axes
        if len(piece) < len(batch):
            dispatch.give_back()
        yield tally


def _count(batch: Batch, schema: Schema) -> Tally:
    texts = {
        g.key: g.event.prepare(block)
        for g in schema.groups
        if isinstance(block := batch.blocks[g.key], Documents)
    }
    straight = len(texts) == 1 and all(block.counts_straight for block in texts.values())
    words = {**batch.blocks, **(texts if straight else split_texts(texts, grow=True))}
    blocks = {g.key: g.event.tally(words[g.key], batch.labels) for g in schema.groups}
    weight = count_classes(batch.labels)
    for key, block in batch.blocks.items():
        if isinstance(block, Dense) and block.complete:
            sums = blocks[key].sums
            if PRESENT not in sums or (sums[PRESENT].high != weight.high).any():
                raise ValueError("A cell is missing.")
    return Tally(batch.labels.classes, weight, blocks)
