"""Axes, which name the rows of a group's tables; those of words and cells are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.analyser import Analyser
from naively.counting.axis import Axis, Columns, Levels, Words, words_axis
from naively.counting.cells import Cells, as_cells
from naively.counting.names import Name, title
from naively.counting.statistic import CELL
from naively.model.file.container import Arrays, UnreadArrays
from naively.model.file.declared import Saved
from naively.model.file.formats import Columnar, SavedAxis, SavedColumns
from naively.schema.derived import Interaction, NumberBins
from naively.schema.group import Group

AXES = {"numbers": "columns", "levels": "levels", "rows": "levels", "grid": "grid"}
MOST_BINS = 1 << 16  # of an interaction: pairs of bins of its two columns


def write_axis(axis: Axis, name: str, arrays: Arrays) -> Saved:
    """Return an axis as JSON has it; its arrays are added under names that begin with ``name``."""
    columns = write_columns(axis.columns)
    match axis:
        case Words():
            if axis.grows:
                _put_words(axis, name, arrays)
            return {"kind": "words", "columns": columns}
        case Levels(whole=True):
            return {"kind": "grid", "columns": columns}
        case Levels():
            return {"kind": "levels", "columns": columns, "levels": axis.levels}
        case Cells():
            arrays[f"{name}/keys"] = np.concatenate([np.empty(0, np.int64), *axis.keys])
            arrays[f"{name}/shifts"] = np.array(axis.shifts, np.int64)
            arrays[f"{name}/first"] = axis.first
            return {"kind": "cells", "columns": columns}
        case _:
            return {"kind": "columns", "columns": columns}


def read_axis(saved: SavedAxis, name: str, group: Group, unread: UnreadArrays) -> Axis:
    """Return the axis of a group, whose arrays have names that begin with ``name``.

    Raises
    ------
    ValueError
        If it is not an axis that the group's event model counts on.
    """
    kind = _axis_of(group)
    if saved.kind != kind:
        raise ValueError(f"the axis is of {saved.kind} instead of {kind}")
    columns = read_columns(saved.columns)
    if kind == "columns":
        return Columns(columns)
    if kind == "cells":
        return _read_cells(columns, name, unread)
    if not isinstance(columns, tuple):
        raise ValueError("the axis has a number of columns instead of their names")  # noqa: TRY004
    if saved.kind == "levels":
        return _read_levels(saved, group, columns)
    if columns != group.columns:
        raise ValueError("it counts other columns than it has")
    if group.analyser is None:
        return Levels.of_all(group.derived)
    of = (group.columns[0],), group.analyser
    if group.analyser.features is not None or group.analyser.vocabulary is not None:
        return words_axis(*of)
    return words_axis(*of, *_take_words(name, _longest(group.analyser), unread))


def _put_words(axis: Words, name: str, arrays: Arrays) -> None:
    """Add the words of an axis; how many words n-grams have is left out if all have the most."""
    utf8, lengths, ids, sizes = axis.vocabulary.to_arrays()
    arrays |= {f"{name}/words": utf8, f"{name}/lengths": lengths}
    if ids is not None and sizes is not None:
        arrays[f"{name}/ngrams"] = ids
        if (sizes != _longest(axis.analyser)).any():
            arrays[f"{name}/sizes"] = sizes


def _take_words(name: str, size: int, unread: UnreadArrays) -> list[NDArray[Any]]:
    """Return the arrays of a vocabulary, whose n-grams are of this size where none is written."""
    words = unread.take(f"{name}/words", "u")
    lengths = unread.take(f"{name}/lengths", "i")
    if f"{name}/ngrams" not in unread:
        return [words, lengths]
    ids = unread.take(f"{name}/ngrams", "c")
    if f"{name}/sizes" in unread:
        return [words, lengths, ids, unread.take(f"{name}/sizes", "i")]
    if len(ids) % size:
        raise ValueError(f"there are {len(ids):,} words of n-grams of {size} words")
    return [words, lengths, ids, np.full(len(ids) // size, size)]


def _longest(analyser: Analyser) -> int:
    """Return how many words the longest n-gram has."""
    _, longest = analyser.splitting.get("ngram_range", (1, 1))
    return int(longest)


def _axis_of(group: Group) -> str:
    """Return the kind of axis that a group is counted on."""
    if CELL in group.event.statistics:
        return "cells"
    return "words" if group.analyser is not None else AXES[group.event.layout]


def write_columns(columns: Sequence[Name]) -> int | tuple[Name, ...]:
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


def check_interaction(column: Name) -> None:
    """Raise a ValueError unless it is an interaction whose bins are in order, and not too many."""
    if not isinstance(column, Interaction):
        raise ValueError(f"{column!r} is no interaction")  # noqa: TRY004
    for bins in (column.a, column.b):
        if isinstance(bins, NumberBins):
            in_order = all(a < b for a, b in pairwise(bins.edges))
        else:
            in_order = len(set(bins.levels)) == len(bins.levels)
        if not in_order:
            raise ValueError(f"the bins of {column} are not in order")
    if column.a.size * column.b.size > MOST_BINS:
        raise ValueError(f"{column} has more than {MOST_BINS:,} pairs of bins")


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
    """Return the levels of columns, or raise a ValueError if the group cannot have counted them."""
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
    for each, column in zip(levels, group.derived, strict=False):
        if event.layout == "grid" and not set(each) <= set(column.levels):
            raise ValueError("there are bins that cannot come together")
    if event.declared and any(each[: len(event.declared)] != event.declared for each in levels):
        raise ValueError("there are columns without the levels that are declared")
    return Levels(columns, levels, declared=event.declared)
