"""Labelled rows are learned, in the order of the lecture: whatever the source, one loop over parts.

A part is rows with their labels, or what was counted of rows elsewhere, with a sample of them. Both
add up, so that a table in memory is one part, a stream has one for each batch, and a cluster or a
database hands over what it has counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from naively.counting.block import Batch
from naively.counting.labels import Labels
from naively.data.columns import Rows
from naively.data.stream import ReadAgainError
from naively.events.prior import Seed
from naively.fitting.copies import warn_of_copies
from naively.fitting.interactions import add_interactions
from naively.fitting.reservoir import Reservoir
from naively.model.counted import Counted
from naively.model.model import Model
from naively.options import Weighting
from naively.schema.choose import EventModels, extend, infer
from naively.schema.settings import Settings


@dataclass(frozen=True)
class Recipe:
    """How rows are learned: event models, if any were given, and options that were checked."""

    event_models: EventModels
    settings: Settings
    random_state: Seed = None

    @property
    def empty(self) -> Reservoir:
        """A sample without rows, which chooses them as the random state says."""
        seeks = self.settings.interactions is not None
        return Reservoir.chosen_by(self.random_state, grows=seeks)


NO_LABELS = Labels.none(0, np.empty(0, object))


class TablePart(NamedTuple):
    """Some rows of a table, or what was counted of them elsewhere.

    Parameters
    ----------
    rows, labels : Rows, Labels
        The rows, with strings read as what they are, and their labels.
    every : Rows, optional
        More rows, which have a say in how columns are counted.
    counted, sample : Counted, Reservoir
        What was counted of them, and a sample.
    """

    rows: Rows | None = None
    labels: Labels = NO_LABELS
    every: Rows | None = None
    counted: Counted | None = None
    sample: Reservoir | None = None


class Labelled(Protocol):
    """A table with labels, wherever it is."""

    nothing: str  # what is said of a table without rows
    in_memory: bool  # whether its rows are all there, in one part

    @property
    def is_labelled(self) -> bool:
        """Whether all rows have a label."""

    @property
    def names(self) -> Sequence[object]:
        """The columns that are learned from."""

    def parts(self, how: Recipe, known: Counted | None, sample: Reservoir) -> Iterator[TablePart]:
        """Yield its parts, of columns that are counted as it is known; the sample is empty."""

    def read(self, counted: Counted) -> Counted:
        """Return what was counted, with how strings are read by all rows."""


def count(
    source: Labelled, how: Recipe, known: Counted | None, sample: Reservoir
) -> tuple[Counted | None, Reservoir]:
    """Count the rows of a source alone, as columns are known, and add a sample to the empty one."""
    while True:
        try:
            return _count(source, how, known, sample)
        except ReadAgainError:  # of how strings are read, as the source knows now
            continue


def _count(
    source: Labelled, how: Recipe, known: Counted | None, sample: Reservoir
) -> tuple[Counted | None, Reservoir]:
    """Read, choose, encode and count part after part."""
    counted: Counted | None = None
    schema = None if known is None else known.schema
    looked_at_again = source.in_memory and known is None and how.settings.weights is not None
    for part in source.parts(how, known, sample):
        more, batch = part.counted, None
        if part.rows is not None:
            if schema is None:
                every = part.rows if part.every is None else part.every
                schema = infer(every, how.event_models, how.settings)
            else:
                schema = extend(schema, part.rows, how.event_models, how.settings)
            batch = schema.encode(part.rows, part.labels)
            batch = batch.tokenised() if looked_at_again else batch
            more = Counted.of(batch, schema, how.settings)
        assert more is not None
        counted = more if counted is None else Counted.total((counted, more), consume=True)
        schema = counted.schema
        if batch is not None:
            sample = sample.added(batch)
            if not source.in_memory:  # what waits is drawn from before the next part comes
                sample = sample.for_model(Model.of(counted))
        elif part.sample is not None:
            sample = part.sample
    return None if counted is None else source.read(counted), sample


def encoded(source: Labelled, how: Recipe) -> tuple[Batch, Model]:
    """Return the rows of a table in memory as they are encoded where they are the first.

    With them comes the model of what was counted.
    """
    (part,) = source.parts(how, None, how.empty)
    assert part.rows is not None
    every = part.rows if part.every is None else part.every
    schema = infer(every, how.event_models, how.settings)
    batch = schema.encode(part.rows, part.labels).tokenised()
    return batch, Model.of(Counted.of(batch, schema, how.settings))


def weighed(model: Model, sample: Reservoir, kind: Weighting | None, *, seeks: bool) -> Model:
    """Return the model with weights fitted to the sample; with interactions, if they are sought."""
    if kind is None:
        return model.weighed(None)
    rows = sample.of(model, larger=seeks)
    if rows.copied:
        warn_of_copies(rows.copied)
    if seeks:
        return add_interactions(model, rows)
    return model.weighed(rows.weighed(model, kind).weights)
