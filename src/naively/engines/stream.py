"""A table of any length is learned batch by batch, in one pass and in memory of a few batches.

What is counted is equal to the whole at once, whatever the batches, and so is the sample of rows
that weights are fitted to. Where a later row overturns what a column was taken for, the rows are
counted again from the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from naively.counting.labels import NOTHING_BESIDE, Beside, Labels, Target
from naively.data.columns import ColumnRows, Rows
from naively.data.stream import ReadAgainError, Stream
from naively.fitting.sample import Reservoir
from naively.kernels.strings import Strings
from naively.model.counted import Counted
from naively.model.model import Model
from naively.options import means_copies
from naively.schema.choose import EventModels, contents_given, extend, infer
from naively.schema.schema import Schema
from naively.schema.settings import Settings


@dataclass(frozen=True, eq=False)
class LabelledStream:
    """A table of any length, with labels and weights."""

    stream: Stream
    target: Target  # (rows,): the column of labels, or the labels
    beside: Beside = NOTHING_BESIDE  # what else is said of each row, as columns or of each row

    @property
    def columns(self) -> list[str]:
        """The columns that are learned from."""
        own = {*self.beside.columns.values(), *[self.target] * isinstance(self.target, str)}
        return [name for name in self.stream.names if name not in own]

    def __iter__(self) -> Iterator[tuple[Rows, Labels]]:
        """Yield the rows and labels of each batch that has rows."""
        done = 0
        for table in self.stream:
            rows, n = table.select([n for n in self.columns if n in table.place]), len(table)
            y, beside = _given("y", self.target, table, done), self.beside.given
            beside = {what: _given(what, of, table, done) for what, of in beside.items()}
            if len(rows):
                yield rows, Beside(**beside).encode(y, done)
            done += n
        for what, given in {"y": self.target, **self.beside.given}.items():
            if given is not None and not isinstance(given, str) and len(given) != done:
                raise ValueError(f"The table has {done:,} rows, and {what} has {len(given):,}.")


def _given(what: str, of: Any, table: ColumnRows, done: int) -> Any:
    """Return the labels of a batch, or what else is said of it; so many rows come before."""
    if of is None or means_copies(what, of):
        return of
    if not isinstance(of, str):
        end = done + len(table)
        if len(of) < end:
            raise ValueError(f"The table has more than {len(of):,} rows, as many as {what} has.")
        return of[done:end]
    cells = table.cells(of)
    return cells if isinstance(cells, Strings) else table.values(of)


def learn(
    table: LabelledStream,
    event_models: EventModels,
    settings: Settings,
    sample: Reservoir,
    known: Schema | None = None,
) -> tuple[Model | None, Reservoir]:
    """Count a table of any length."""
    stream = table.stream
    contents = contents_given(event_models, stream.names)
    said = settings.read_as({str(name): of for name, of in contents.items()})
    stream.said = replace(said, times=table.beside.frequencies)
    if known is not None:
        readings = known.known_readings
        stream.known |= {str(n): of for n, of in readings.items() if n in stream.names}
    while True:
        try:
            model, sample = _learn(table, event_models, settings, sample.empty(), known)
        except ReadAgainError:
            continue
        if model is not None:
            model = Model.of(model.counted.read_as(stream.readings))
        return model, sample


def _learn(
    table: LabelledStream,
    event_models: EventModels,
    settings: Settings,
    sample: Reservoir,
    schema: Schema | None,
) -> tuple[Model | None, Reservoir]:
    model: Model | None = None
    for rows, labels in table:
        if schema is None:
            schema = infer(rows, event_models, settings)
        else:
            schema = extend(schema, rows, event_models, settings)
        batch = schema.encode(rows, labels)
        more = Model.of(Counted.of(batch, schema, settings))
        model = more if model is None else Model.total((model, more), consume=True)
        schema = model.counted.schema
        sample.add(batch, model)
    return model, sample
