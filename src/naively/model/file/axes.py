"""Axes, which name the rows of a group's tables: short ones are in the header, others arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from naively.counting.axis import Axis, Columns, Levels, Name, Words, title, words_axis
from naively.counting.cells import Cells, as_cells
from naively.counting.statistic import CELL
from naively.events.interaction import Interaction
from naively.model.file.container import Arrays, UnreadArrays
from naively.model.file.formats import Columnar, Saved, SavedAxis, SavedColumns
from naively.schema.group import Group

AXES = {"numbers": "columns", "levels": "levels", "rows": "levels", "pairs": "levels"}
MOST_BINS = 1 << 16  # of an interaction: the product of the bins of its two columns


def write_axis(axis: Axis, name: str, arrays: Arrays) -> Saved:
    """Return an axis as JSON has it; its arrays are added under names that begin with ``name``."""
    if isinstance(axis, Words):
        if axis.grows:
            arrays[f"{name}/words"], arrays[f"{name}/ends"] = axis.vocabulary.to_arrays()
        return {"kind": "words", "columns": list(axis.columns)}
    if isinstance(axis, Levels):
        return {"kind": "levels", "columns": list(axis.columns), "levels": axis.levels}
    if isinstance(axis, Cells):
        arrays[f"{name}/keys"] = np.concatenate([np.empty(0, np.int64), *axis.keys])
        arrays[f"{name}/shifts"] = np.array(axis.shifts, np.int64)
        arrays[f"{name}/first"] = axis.first
        return {"kind": "cells", "columns": write_columns(axis.columns)}
    return {"kind": "columns", "columns": write_columns(axis.columns)}


def read_axis(saved: SavedAxis, name: str, group: Group, unread: UnreadArrays) -> Axis:
    """Return the axis of a group, whose arrays have names that begin with ``name``.

    Raises
    ------
    ValueError
        If it is not an axis that the group's event model counts on.
    """
    kind = "words" if group.analyser is not None else AXES[group.event.layout]
    if CELL in group.event.statistics:
        kind = "cells"
    if saved.kind != kind:
        raise ValueError(f"the axis is of {saved.kind} instead of {kind}")
    columns = read_columns(saved.columns)
    if kind == "columns":
        return Columns(columns)
    if kind == "cells":
        return _read_cells(columns, name, unread)
    if not isinstance(columns, tuple):
        raise ValueError("the axis has a number of columns instead of their names")  # noqa: TRY004
    if group.analyser is None:
        return _read_levels(saved, group, columns)
    if columns != group.columns:  # a text is a group of its own
        raise ValueError("it counts other columns than it has")
    arrays = []
    if group.analyser.features is None:  # else words are hashed, and have no names
        arrays = [unread.take(f"{name}/words", "u"), unread.take(f"{name}/ends", "i")]
    return words_axis((columns[0],), group.analyser, *arrays)


def write_columns(columns: Sequence[Name]) -> SavedColumns:
    """Return the names of columns, or how many there are if they are numbered."""
    return len(columns) if isinstance(columns, range) else tuple(columns)


def read_columns(saved: SavedColumns) -> Columnar:
    """Return the names of columns, each of which is there once."""
    if isinstance(saved, int):
        if saved < 0:
            raise ValueError(f"there are {saved} columns, which is less than none")
        return range(saved)
    if len(set(saved)) < len(saved):
        raise ValueError("a column is named twice")
    return saved


def check_interaction(event: Interaction) -> None:
    """Raise a ValueError unless the bins of each pair are there, in order, and not too many."""
    bins = [name for name, _ in (*event.edges, *event.levels)]
    if len(set(bins)) < len(bins) or {name for pair in event.pairs for name in pair} - set(bins):
        raise ValueError("there are pairs of columns without bins")
    if len(set(event.names)) < len(event.names):
        raise ValueError("it has a pair twice")
    ascending = all(a < b for _, cuts in event.edges for a, b in pairwise(cuts))
    distinct = all(len(set(levels)) == len(levels) for _, levels in event.levels)
    if not ascending or not distinct:
        raise ValueError("bins are not in order")
    if any(a * b > MOST_BINS for a, b in event.shapes):
        raise ValueError(f"a pair of columns has more bins than {MOST_BINS:,} that meet")


def _read_cells(columns: Columnar, name: str, unread: UnreadArrays) -> Cells:
    shifts, first, keys = (unread.take(f"{name}/{p}", "i") for p in ("shifts", "first", "keys"))
    flat = all(part.ndim == 1 for part in (shifts, first, keys))
    if not flat or len(first) != len(columns) + 1 or len(shifts) != len(columns):
        raise ValueError("there are cells of other columns")
    if first[0] != 0 or first[-1] != len(keys) or (first[1:] < first[:-1]).any():
        raise ValueError("cells are not in order")
    axis = as_cells(columns, shifts, first, keys)
    axis.check()
    return axis


def _read_levels(saved: SavedAxis, group: Group, columns: tuple[Name, ...]) -> Levels:
    """Return the levels of columns; rows and bins that meet are of the group's columns."""
    levels = saved.levels
    if len(levels) != len(columns) or any(len(set(each)) < len(each) for each in levels):
        raise ValueError("there are levels of other columns, or one twice")
    every = [level for each in levels for level in each]
    if any(level != level for level in every):  # noqa: PLR0124
        raise ValueError("a level is not a number")
    event = group.event
    if event.layout == "rows":
        width = len(group.columns)
        whole = all(type(row) is tuple and len(row) == width for row in every)
        if columns != (", ".join(map(title, group.columns)),) or not whole:
            raise ValueError("there are levels that are not rows of the group's columns")
    elif any(type(level) is tuple for level in every):
        raise ValueError("a level is a list")
    elif group.kind == "string" and any(type(level) is not str for level in every):
        raise ValueError("a level is not a string")
    if isinstance(event, Interaction):
        for each, (a, b) in zip(levels, event.shapes, strict=True):
            if not all(type(cell) is int and 0 <= cell < a * b for cell in each):
                raise ValueError("there are bins that cannot meet")
    return Levels(columns, levels)
