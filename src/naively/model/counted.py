"""What was counted of rows, in a form that adds, fades and forgets: the algebra of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal, Self, TypeAlias, final

import numpy as np

from naively.counting.axis import PRESENT, Axis, title
from naively.counting.block import AT_ONCE, Batch, Dense, Documents, split_texts
from naively.counting.labels import LabelArray, Labels
from naively.counting.tally import Tally, Total, forget, impossible
from naively.data.columns import Reading, Rows
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.double_double import Sums
from naively.model.held_out import HeldOut
from naively.schema.schema import GroupKey, Schema
from naively.schema.settings import PURE, Settings
from naively.schema.settle import CountedTotal, Grouped, alike, make_sure

Mechanism: TypeAlias = Literal["discrete Gaussian", "discrete Laplace"]  # of noise


class Counted(Frozen):
    """What was counted, and how parameters are to be derived from it.

    ``a + b`` is what was counted of the rows of both, ``a - b`` what is left without b's rows,
    ``a * 0.99`` what trusts the rows that it has seen a little less.
    """

    schema: Schema  # which columns were counted for which event model
    tally: Tally  # what was counted
    settings: Settings = PURE  # how parameters are derived from the tally
    # the noise in the counts, of each of the parts that were merged which has some
    noise: tuple[AddedNoise, ...] = ()
    # how probable the right classes of held-out rows were; None where that is not known
    held_out: HeldOut | None = None
    newest: float | None = None  # the time of the newest row, where rows fade with a half-life
    # how much a row without a label counts; where it does, no row can be left out
    unlabelled_weight: float = 0.0

    @classmethod
    def of(cls, batch: Batch, schema: Schema, settings: Settings) -> Counted:
        """Count rows that the schema has encoded, unless it is what a model made of it."""
        # That cells are missing is never counted, but follows from what is (``Model.view`` beside
        # ``Model.counted``).
        if any(group.kind in ("missing", "missing as") for group in schema.groups):
            raise ValueError(
                "The schema says that missing cells are evidence, which follows from what is "
                "counted: count by the attribute counted of a model, not by its schema."
            )
        tally = count_batch(batch, schema).pruned()
        if schema.free:
            schema, tally = make_sure(schema, tally, settings)
        return cls(schema, tally, settings)

    def __add__(self, other: Counted) -> Counted:
        return Counted.total((self, other))

    @classmethod
    def total(cls, parts: Iterable[Counted], *, consume: bool = False) -> Counted:
        """Return the sum of one part or more, each added in a time that its own size decides."""
        # Where the first is to be consumed, its words go on in the sum, which need not copy them.
        rest = iter(parts)
        first = next(rest, None)
        if first is None:
            raise ValueError("There is no model to add up.")
        settings, noise, held_out = first.settings, first.noise, first.held_out
        newest, unlabelled = first.newest, first.unlabelled_weight
        total = CountedTotal(first.grouped, consume=consume)
        for part in rest:
            if newest is not None and part.newest not in {None, newest}:
                raise ValueError(
                    "The newest rows of the models have different times, so their rows fade "
                    "differently; they cannot be merged."
                )
            newest = part.newest if newest is None else newest
            settings = settings.merged(part.settings)
            noise += part.noise
            unlabelled = max(unlabelled, part.unlabelled_weight)
            if held_out is not None:
                held_out = None if part.held_out is None else held_out + part.held_out
            total.add(part.grouped)
        if noise:  # what was not kept would be taken for missing
            settings = replace(settings, presence="ignore")
        schema, tally = make_sure(*total.counted(), settings)
        found = cls(schema, tally, settings, noise, held_out, newest, unlabelled)
        return found.among(tally.classes)

    @property
    def grouped(self) -> Grouped:
        """The schema and the tally alone."""
        return Grouped(self.schema, self.tally)

    @property
    def uncounted(self) -> Counted:
        """How columns are counted, without what was counted."""
        return replace(self, tally=Tally(self.tally.classes, self.tally.weight, {}))

    @property
    def rows(self) -> float:
        """How many rows there are: their total weight."""
        return float(self.tally.weight.high.sum())

    def __sub__(self, other: Counted) -> Counted:
        (schema, tally), (others, removed) = alike(self.grouped, other.grouped)
        left = self.left(schema.without(others), tally - removed)
        return replace(left, noise=self.noise + other.noise)

    def forget(self, other: Counted) -> Counted:
        """Return ``self - other``, or raise a ValueError if that cannot be."""
        (schema, tally), (others, removed) = alike(self.grouped, other.grouped)
        schema = schema.without(others)
        times = [group.key for group in schema.groups if group.kind == "time"]
        left = self.left(schema, forget(tally, removed, times))
        if left.impossible is not None:
            raise ValueError(f"Cannot forget rows that were not learned: {left.impossible} then.")
        return left

    def __mul__(self, factor: float) -> Counted:
        return self.left(self.schema, self.tally * factor)

    def left(self, schema: Schema, tally: Tally) -> Counted:
        """Return what is left of these rows, of the same classes or more."""
        found = replace(self, schema=schema, tally=tally)
        if self.held_out is None:
            return found
        share = found.rows / self.rows if self.rows > 0 else 0.0
        return replace(found, held_out=self.held_out.fading(share)).among(tally.classes)

    def among(self, classes: LabelArray) -> Self:
        """Return what is known of held-out rows among these classes, and all else as it is."""
        if self.held_out is None:
            return self
        return replace(self, held_out=self.held_out.among(classes))

    def with_classes(self, classes: LabelArray) -> Counted:
        """Return what was counted, with a place for each of these classes, with rows or not."""
        if np.array_equal(classes, self.tally.classes):
            return self
        tally = self.tally + Tally(classes, Sums.zeros(classes.shape), {})
        return replace(self, tally=tally).among(tally.classes)

    def read_as(self, readings: Mapping[str, Reading]) -> Counted:
        """Return what was counted with how columns of strings are read, by all of its rows."""
        of = {
            name: replace(readings.get(title(name), one), words=one.words)
            for name, one in self.schema.readings.items()
        }
        return replace(self, schema=replace(self.schema, readings=of))

    @property
    def impossible(self) -> str | None:
        """What no rows can have been counted as; None of what was counted of rows."""
        return impossible(self.tally, [g.key for g in self.schema.groups if g.event.shares])


# --- The noise that was added to the counts of a model, for whoever reads them later -------------


@final
class AddedNoise(Frozen, eq=True):
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


# --- Counting encoded rows as a schema says, and which rows can be counted -----------------------


def check_rows(rows: Rows, labels: Labels) -> None:
    """Raise a ValueError unless there are rows, and a label for each."""
    if len(rows) != len(labels):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: "
            f"{len(rows)} rows and {len(labels)} labels."
        )
    if not len(rows):
        raise ValueError("There are no rows to learn from: found 0 sample(s), at least 1 needed.")


def count_batch(batch: Batch, schema: Schema) -> Tally:
    """Count encoded rows, or raise a ValueError if one that is complete lacks a cell."""
    if batch.unsplit <= AT_ONCE:
        return _count(batch, schema)
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
    read = [(group, batch.blocks[group.key]) for group in schema.groups]
    texts = {g.key: g.event.prepare(block) for g, block in read if isinstance(block, Documents)}
    straight = len(texts) == 1 and all(block.counts_straight for block in texts.values())
    words = split_texts(texts, grow=True) if texts and not straight else texts
    if words:
        read = [(group, words.get(group.key, block)) for group, block in read]
    blocks = {group.key: group.event.tally(block, batch.labels) for group, block in read}
    weight = batch.labels.by_class()
    for (_, block), tally in zip(read, blocks.values(), strict=True):
        if isinstance(block, Dense) and block.complete:
            present = tally.sums.get(PRESENT)
            if present is None or (present.high != weight.high).any():
                raise ValueError("A cell is missing.")
    return Tally(batch.labels.classes, weight, blocks)
