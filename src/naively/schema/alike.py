"""Tallies that were made apart are counted alike before they are added up.

A column that was given no event model may have been counted as truths in one place and in cells in
another, or as levels and as texts. What can become the other does, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from naively.counting.axis import Name
from naively.counting.tally import Total
from naively.events import EventModel
from naively.schema.group import Group
from naively.schema.schema import Schema
from naively.schema.settle import Counted, counted_as, into_cells, into_texts, moved
from naively.schema.text import Text


def alike(mine: Counted, theirs: Counted) -> tuple[Counted, Counted]:
    """Return both, each with its free columns counted as in the other where they can be."""
    return as_in(theirs.schema, mine), as_in(mine.schema, theirs)


def as_in(other: Schema, counted: Counted) -> Counted:
    """Return what was counted, with its free columns as they are counted by another schema."""
    schema, tally = counted
    moves = []
    for group, by_event, by_text in _otherwise(other, schema):
        block = tally.blocks[group.key]
        moves += [into_texts(group, block, name, texts) for name, texts in by_text.items()]
        moves += [into_cells(group, block, names, event) for event, names in by_event.items()]
    return moved(schema, tally, moves)


def is_as_in(other: Schema, schema: Schema) -> bool:
    """Whether no free column of a schema is counted otherwise by another."""
    return not any(True for _ in _otherwise(other, schema))


def _otherwise(
    other: Schema, schema: Schema
) -> Iterator[tuple[Group, dict[EventModel, set[Name]], dict[Name, list[Text]]]]:
    """Yield the groups with free columns that another schema counts otherwise, and how.

    Truths are cells there, by event model, or levels texts, by column.
    """
    if schema is other or not schema.free:
        return
    for group in schema.of_columns:
        counted = counted_as(group)
        if counted not in ("truths", "levels"):
            continue
        by_event: dict[EventModel, set[Name]] = {}
        by_text: dict[Name, list[Text]] = {}
        for name in schema.free.intersection(group.columns).intersection(other.columns):
            theirs = other.groups_of[name]
            if counted == "truths" and counted_as(theirs[0]) == "cells":
                by_event.setdefault(theirs[0].event, set()).add(name)
            elif counted == "levels" and theirs[0].kind == "text":
                by_text[name] = [of.analyser for of in theirs if isinstance(of.analyser, Text)]
        if by_event or by_text:
            yield group, by_event, by_text


@final
class CountedTotal:
    """A sum of what was counted, to which more is added in a time that follows from its own size.

    Parameters
    ----------
    first : Counted
        What it begins with, which stays as it is.
    consume : bool, default False
        Whether ``first`` is used up instead (see ``Total``).
    """

    def __init__(self, first: Counted, *, consume: bool = False) -> None:
        self._schema, self._total = first.schema, Total(first.tally, consume=consume)

    def add(self, counted: Counted) -> None:
        """Add what was counted in another place, or raise a ValueError that says why not."""
        if not is_as_in(counted.schema, self._schema):
            self._schema, tally = as_in(counted.schema, self.counted())
            self._total = Total(tally)
        schema, tally = as_in(self._schema, counted)
        self._schema = self._schema.union(schema)
        self._total.add(tally)

    def counted(self) -> Counted:
        """Return the sum of what was added until now."""
        return Counted(self._schema, self._total.tally())
