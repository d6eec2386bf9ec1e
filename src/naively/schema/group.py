"""Groups: the columns of one event model, which become one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively.counting.axis import (
    VALUE,
    Analyser,
    Axis,
    Derived,
    Encoded,
    Levels,
    Name,
    Words,
    title,
)
from naively.counting.block import Block, Codes
from naively.counting.leave_one_out import Parts
from naively.counting.tally import BlockTally
from naively.data.columns import Kind
from naively.data.rows import Rows
from naively.events.base import EventModel
from naively.schema.encode import (
    OfTable,
    encode_numbers,
    encode_texts,
    find_levels,
    look_up_levels,
    whole_rows,
    with_declared,
)
from naively.schema.held import Held

USUAL_KIND: dict[str, Kind] = {  # of others it is "number"
    "bernoulli": "boolean",
    "categorical": "string",
    "joint": "string",
    "lift": "interaction",
}

DERIVED: tuple[Kind, ...] = ("part", "missing", "interaction")  # columns that follow from others


@dataclass(frozen=True)
class GroupKey:
    """What identifies a group and its block: settings, which are compared by their values.

    Groups that were made apart count the same exactly if their keys are equal, whatever is printed.

    Parameters
    ----------
    event : EventModel
        With all its settings.
    kind : str
        What kind of values the columns held in training.
    column : str or int, optional
        The column of a text, which is a group of its own.
    analyser : Analyser, optional
        How the text was split.
    """

    event: EventModel
    kind: Kind
    column: Name | None = None
    analyser: Analyser | None = None

    def __str__(self) -> str:
        usual = self.kind in ("text", USUAL_KIND.get(self.event.name, "number"))
        name = str(self.event) if usual else f"{self.event} of {self.kind}s"
        if self.analyser is None or self.column is None:
            return name
        name = f"{name} {title(self.column)}"
        return name if self.analyser.is_plain else f"{name} {self.analyser}"


@dataclass(frozen=True)
class Group:
    """The columns of one event model, and what kind of values they held in training."""

    event: EventModel
    kind: Kind
    columns: range | tuple[Name, ...]
    analyser: Analyser | None = None  # of a text

    @cached_property
    def key(self) -> GroupKey:
        """What the group is known by in tallies, weights and model files."""
        own = None if self.analyser is None else self.columns[0]
        return GroupKey(self.event, self.kind, own, self.analyser)

    @property
    def is_interaction(self) -> bool:
        """Whether its columns are taken two together, beside what each of them says alone."""
        return self.kind == "interaction"

    @cached_property
    def is_beside(self) -> bool:
        """Whether its columns say something beside what the columns they follow from say."""
        return any(name.beside for name in self.derived)

    @cached_property
    def derived(self) -> tuple[Derived, ...]:
        """The columns that follow from others; all of a group do, or none."""
        if self.kind not in DERIVED:
            return ()
        return tuple(name for name in self.columns if isinstance(name, Derived))

    def parts_of(self, tally: BlockTally) -> Parts:
        """Return the parts of the evidence of these columns, of which so much was counted."""
        axis = tally.axis
        if isinstance(axis, Words):
            if not self.event.by_word:
                return Parts.whole(self.key, len(axis))
            frequency = tally.sums[VALUE].by_row()
            return Parts.words(self.key, axis.columns[0], frequency, by_band=axis.by_band)
        if self.event.joined:
            return Parts.whole(self.key, len(axis.columns))
        return Parts.columns(self.key, axis.columns)

    def derive(self, columns: Encoded, axis: Axis | None) -> Codes:
        """Encode derived columns by the columns of the table, on a known axis or by all levels."""
        if not isinstance(axis, Levels):
            axis = Levels.of_all(self.derived, whole=self.event.layout == "grid")
        found = map(columns.codes_of, axis.columns, axis.levels)
        return Codes(np.stack([*found], axis=1).astype(np.int32), axis)

    def encode(self, rows: Rows, axis: Axis | None) -> Block:
        """Encode these columns, by a known axis or by finding one; lacking columns are missing."""
        if self.derived:
            return self.derive(OfTable(rows), axis)
        columns = self.columns if axis is None else axis.columns
        if self.analyser is not None:
            words = axis if isinstance(axis, Words) else None
            return encode_texts(rows, columns[0], self.analyser, words)
        if self.event.layout == "numbers":
            return encode_numbers(rows, columns, sparse=self.event.sparse)
        if self.event.layout == "rows":
            rows = whole_rows(rows, self.columns)
            columns = rows.names
        if isinstance(axis, Levels):
            return look_up_levels(rows, axis)
        return with_declared(find_levels(rows, columns), self.event.declared)

    def recode(self, held: Held, axis: Axis) -> Block:
        """Encode these columns of encoded rows by a known axis."""
        match axis:
            case Words():
                return held.texts(self.key, axis)
            case Levels():
                return held.codes(axis)
            case _:
                return held.matrix(axis.columns)  # in the order in which they were counted


def event_names(groups: Sequence[Group]) -> str:
    """Return the event model of a column; of a text in several groups, without the analysers."""
    of = [groups[0]] if len(groups) == 1 else [replace(group, analyser=None) for group in groups]
    return " + ".join(dict.fromkeys(map(event_name, of)))


def event_name(group: Group) -> str:
    """Return the event model's name, with the options that are not the usual ones."""
    event: Any = group.event
    shown = (field for field in fields(event) if field.repr and field.name != "columns")
    options = [(field.name, getattr(event, field.name), field.default) for field in shown]
    other = [f"{name}={value!r}" for name, value, usual in options if value not in (usual, "auto")]
    name = f"{event.name}({', '.join(other)})" if other else str(event.name)
    plain = group.analyser is None or group.analyser.is_plain
    return name if plain else f"{name} {group.analyser}"
