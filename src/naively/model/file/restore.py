"""From the header and arrays of a file to a model, of which nothing is believed unseen.

What the types of ``formats`` declare has been read already; here are the laws between the parts:
sizes, names, classes, statistics and counts that rows can have. Nothing is made that is much
larger than the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.analyser import Analyser
from naively.counting.axis import Axis, Columns, Levels, title, words_axis
from naively.counting.cells import as_cells
from naively.counting.parts import Part
from naively.counting.statistic import CELL, DOCUMENT, Statistic
from naively.counting.tally import BlockTally, Tally
from naively.data.columns import Name
from naively.events import EVENT_MODELS
from naively.events.base import PSEUDO_COUNTS, EventModel
from naively.events.interaction import Interaction
from naively.kernels.double_double import Sums
from naively.model.file.container import Arrays
from naively.model.file.declared import read, read_fields, shown
from naively.model.file.formats import (
    Header,
    SavedAxis,
    SavedColumns,
    SavedGroup,
    SavedKey,
    SavedWeights,
)
from naively.model.file.labels import read_classes, read_probabilities
from naively.model.model import Model
from naively.model.weights import Weights
from naively.schema.group import Group, GroupKey
from naively.schema.patterns import Patterns
from naively.schema.schema import Schema
from naively.schema.settings import Settings
from naively.schema.text import Text

EVENTS: dict[str, type[EventModel]] = {**EVENT_MODELS, Interaction.name: Interaction}
OF_TEXTS = ("multinomial", "bernoulli", "complement")
ANALYSERS: dict[str, type[Analyser]] = {Text.name: Text, Patterns.name: Patterns}
AXES = {"numbers": "columns", "levels": "levels", "rows": "levels", "pairs": "levels"}
NUMBERS = ("number", "boolean", "time", "part")

MISSING_THROUGHOUT = 1 << 18  # columns of an array beside those that were learned
MEETINGS = 1 << 16  # of the bins of two columns
LARGEST = 1e12  # of a weight, or a bias in nats
BANDS = 1100  # by powers of two, of what a float counts
NOISE = 2.0**-50  # of a sum, at most what its low part adds


class Stock:
    """The arrays of a file, each of which is taken once."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = dict(arrays)

    def take(self, name: str, kind: str = "f") -> NDArray[Any]:
        """Return an array of floats ("f"), whole numbers ("i") or bytes ("u")."""
        array = self._arrays.pop(name, None)
        if array is None:
            raise ValueError(f"there is no array {shown(name)}, or it is used twice")
        if array.dtype.kind != kind:
            raise ValueError(f"array {shown(name)} is of type {array.dtype}")
        return array

    def sums(self, name: str, shape: tuple[int, ...]) -> Sums:
        """Return sums of this shape, finite, as they were rounded."""
        high = self.take(f"{name}/high")
        low = self.take(f"{name}/low") if f"{name}/low" in self._arrays else None
        for part in (high, low):
            if part is not None and part.shape != shape:
                raise ValueError(f"{name} has shape {part.shape} instead of {shape}")
            if part is not None and not np.isfinite(part).all():
                raise ValueError(f"{name} holds numbers that are not finite")
        if low is not None and (np.abs(low) > NOISE * np.abs(high)).any():
            raise ValueError(f"{name} holds sums whose two parts do not fit")
        return Sums(high, low)

    def check_empty(self) -> None:
        """Raise a ValueError if something is left."""
        if self._arrays:
            raise ValueError(f"nothing uses the array {shown(next(iter(self._arrays)))}")


def restore(header: Header, arrays: Arrays) -> Model:
    """Return the model, or raise a ValueError that says what is wrong with it."""
    stock = Stock(arrays)
    classes = read_classes(list(header.classes.labels), header.classes.dtype)
    weight = stock.sums("weight", (len(classes),))
    groups, blocks = [], {}
    for i, saved in enumerate(header.groups):
        group, block = _group(saved, f"groups[{i}]", stock, len(classes))
        if group.key in blocks:
            raise ValueError(f"groups[{i}] counts the same as another")
        groups.append(group)
        blocks[group.key] = block
    order, notes = _columns(header.columns, "columns"), dict(header.notes)
    schema = Schema(tuple(groups), order, notes, frozenset(header.free))
    _check_columns(schema)
    tally = Tally(classes, weight, blocks)
    weights = _weights(header.weights, stock, classes, groups)
    stock.check_empty()
    model = Model(schema, tally, _settings(header), weights)
    wrong = model.impossible
    if wrong is not None:
        raise ValueError(f"{wrong}, which no rows can be counted as")
    return model


def _group(saved: SavedGroup, where: str, stock: Stock, k: int) -> tuple[Group, BlockTally]:
    event = _event(saved, where)
    analyser = _analyser(saved, event, where)
    columns = _columns(saved.columns, f"{where}.columns")
    if isinstance(event, Interaction):
        right = saved.kind == "pair"
        _check_interaction(event, where)
    elif analyser is not None:
        right = saved.kind == "text" and event.name in OF_TEXTS and len(columns) == 1
    else:
        numbers = event.layout == "numbers"
        right = saved.kind in NUMBERS if numbers else saved.kind not in ("text", "pair")
    if not right:
        raise ValueError(f"{where} is of {saved.kind}s, which {event.name} cannot count so")
    group = Group(event, saved.kind, columns, analyser)
    statistics = _statistics(saved.statistics, event, analyser, where)
    axis = _axis(saved, group, stock, where)
    sums = {}
    for statistic in statistics:
        height = len(axis) if axis.per_row(statistic) else len(axis.columns)
        sums[statistic] = stock.sums(f"{saved.arrays}/{statistic.value}", (height, k))
    if event.layout != "rows":  # whose one column stands for all
        _check_same(axis.columns, columns, where)
    return group, BlockTally(axis, sums)


def _event(saved: SavedKey | SavedGroup, where: str) -> EventModel:
    of = EVENTS.get(saved.event)
    if of is None:
        raise ValueError(f"{where}: there is no event model {shown(saved.event)}")
    options = read_fields(of, saved.options, f"{where}.options")
    try:
        return of(**options)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"{where}.options are none of {saved.event} ({error})") from error


def _analyser(saved: SavedKey | SavedGroup, event: EventModel, where: str) -> Analyser | None:
    """Return the analyser of a text; its event model is the group's."""
    if saved.analyser is None:
        return None
    settings = dict(saved.analyser)
    of = ANALYSERS.get(read(str, settings.pop("name", None), f"{where}.analyser.name"))
    if of is None or "event" in settings:
        raise ValueError(f"{where}.analyser is none that there is")
    given = read_fields(of, settings, f"{where}.analyser", {"EventModel": EventModel})
    return of(**given, event=event)  # type: ignore[call-arg]


def _statistics(
    names: Sequence[str], event: EventModel, analyser: Analyser | None, where: str
) -> list[Statistic]:
    needed = [statistic.value for statistic in event.statistics]
    may = [DOCUMENT.value] if analyser is not None and analyser.counts_documents else []
    if len(set(names)) < len(names) or not set(needed) <= set(names) <= {*needed, *may}:
        raise ValueError(f"{where} has other statistics than {event.name} counts")
    return [Statistic(name) for name in names]


def _axis(saved: SavedGroup, group: Group, stock: Stock, where: str) -> Axis:
    """Return the names of the rows of a group's tables."""
    kind = "words" if group.analyser is not None else AXES[group.event.layout]
    if CELL in group.event.statistics:
        kind = "cells"
    if saved.axis.kind != kind:
        raise ValueError(f"{where}.axis is of {saved.axis.kind} instead of {kind}")
    columns = _columns(saved.axis.columns, f"{where}.axis.columns")
    if kind == "columns":
        return Columns(columns)
    if kind == "cells":
        parts = {p: stock.take(f"{saved.arrays}/{p}", "i") for p in ("shifts", "first", "keys")}
        first = parts["first"]
        flat = all(part.ndim == 1 for part in parts.values())
        if not flat or len(first) != len(columns) + 1 or len(parts["shifts"]) != len(columns):
            raise ValueError(f"{where} has cells of other columns")
        if first[0] != 0 or first[-1] != len(parts["keys"]) or (first[1:] < first[:-1]).any():
            raise ValueError(f"{where} has cells that are not in order")
        axis = as_cells(columns, parts["shifts"], first, parts["keys"])
        axis.check()
        return axis
    if type(columns) is not tuple:
        raise ValueError(f"{where}.axis.columns is a number of columns instead of their names")
    if group.analyser is not None:
        arrays = [
            stock.take(f"{saved.arrays}/{name}", kind)
            for name, kind in (("words", "u"), ("ends", "i"))
            if group.analyser.features is None
        ]
        return words_axis(columns, group.analyser, *arrays)  # type: ignore[arg-type]
    return _levels(saved.axis, group, columns, where)


def _levels(saved: SavedAxis, group: Group, columns: tuple[Name, ...], where: str) -> Levels:
    """Return levels, each once in its column; rows and meetings are of the group's columns."""
    levels = saved.levels
    if len(levels) != len(columns) or any(len(set(of)) < len(of) for of in levels):
        raise ValueError(f"{where} has levels of other columns, or one twice")
    if any(level != level for of in levels for level in of):  # noqa: PLR0124
        raise ValueError(f"{where} has a level that is not a number")
    event = group.event
    if event.layout == "rows":
        width = len(group.columns)
        whole = all(type(row) is tuple and len(row) == width for of in levels for row in of)
        if columns != (", ".join(map(title, group.columns)),) or not whole:
            raise ValueError(f"{where} has levels that are not rows of its columns")
    elif any(type(level) is tuple for of in levels for level in of):
        raise ValueError(f"{where} has a level that is a list")
    elif group.kind == "string" and any(type(level) is not str for of in levels for level in of):
        raise ValueError(f"{where} has a level that is not a string")
    if isinstance(event, Interaction):
        for of, (a, b) in zip(levels, event.shapes, strict=True):
            if not all(type(meeting) is int and 0 <= meeting < a * b for meeting in of):
                raise ValueError(f"{where} has bins that cannot meet")
    return Levels(columns, levels)


def _check_interaction(event: Interaction, where: str) -> None:
    """Raise a ValueError unless the bins of each pair are there, in order, and not too many."""
    bins = [name for name, _ in (*event.edges, *event.levels)]
    if len(set(bins)) < len(bins) or {name for pair in event.pairs for name in pair} - set(bins):
        raise ValueError(f"{where} has pairs of columns without bins")
    if len(set(event.names)) < len(event.names):
        raise ValueError(f"{where} has a pair twice")
    ascending = all(a < b for _, cuts in event.edges for a, b in pairwise(cuts))
    distinct = all(len(set(levels)) == len(levels) for _, levels in event.levels)
    if not ascending or not distinct:
        raise ValueError(f"{where} has bins that are not in order")
    if any(a * b > MEETINGS for a, b in event.shapes):
        raise ValueError(f"{where} has a pair of more bins than {MEETINGS:,} that meet")


def _columns(saved: SavedColumns, where: str) -> range | tuple[Name, ...]:
    if isinstance(saved, int):
        if saved < 0:
            raise ValueError(f"{where} is {saved}, which is less than none")
        return range(saved)
    if len(set(saved)) < len(saved):
        raise ValueError(f"{where} has a name twice")
    return saved


def _check_same(a: Sequence[Name], b: Sequence[Name], where: str) -> None:
    """Raise a ValueError unless these are the same columns, in whatever order."""
    if a != b and (len(a) != len(b) or set(a) != set(b)):
        raise ValueError(f"{where} counts other columns than it has")


def _check_columns(schema: Schema) -> None:
    """Raise a ValueError unless each column of a group is of the table, and of no other group."""
    grouped = [n for group in schema.of_columns if group.kind != "text" for n in group.columns]
    texts = {name for group in schema.groups if group.kind == "text" for name in group.columns}
    if schema.width > len(grouped) + len(texts) + MISSING_THROUGHOUT:
        raise ValueError(f"there are {schema.width:,} columns, nearly all without a value")
    known = {*schema.order, *schema.parts}
    twice = len(set(grouped)) < len(grouped) or texts & set(grouped)
    if twice or not known >= {*grouped, *texts}:
        raise ValueError("the groups do not hold the columns")
    paired = {name for pair in schema.interactions.values() for name in pair}
    if not known >= paired:
        raise ValueError("there are pairs of columns that are not in the table")


def _weights(
    saved: SavedWeights | None, stock: Stock, classes: NDArray[Any], groups: list[Group]
) -> Weights | None:
    if saved is None:
        return None
    weight, bias = stock.take("weights"), stock.take("bias")
    if weight.shape != (len(saved.of), len(classes)) or bias.shape != classes.shape:
        raise ValueError("weights have the wrong shape")
    in_range = ((weight >= 0) & (weight <= LARGEST)).all() and (np.abs(bias) <= LARGEST).all()
    if not (in_range and 0 <= saved.usual <= LARGEST and saved.rows >= 0):
        raise ValueError("weights must be finite and at least 0")
    keys = [group.key for group in groups]
    if saved.groups is not None:
        keys = [_key(key, f"weights.groups[{i}]") for i, key in enumerate(saved.groups)]
    parts = []
    for group, column, band in saved.of:
        if not 0 <= group < len(keys):
            raise ValueError("there are weights of columns that there are not")
        if band is not None and not 0 <= band < BANDS:
            raise ValueError(f"there are no words of band {band}")
        parts.append(Part(keys[group], column, band))
    of = dict(zip(parts, map(tuple, weight.tolist()), strict=True))
    if len(of) < len(parts):
        raise ValueError("there are two weights of one part")
    rows, how = float(saved.rows), saved.how
    return Weights(tuple(classes.tolist()), of, tuple(bias.tolist()), float(saved.usual), rows, how)


def _key(saved: SavedKey, where: str) -> GroupKey:
    event = _event(saved, where)
    return GroupKey(event, saved.kind, saved.column, _analyser(saved, event, where))


def _settings(header: Header) -> Settings:
    smoothing = header.smoothing
    named = smoothing in ("auto", *PSEUDO_COUNTS)
    if not named and (isinstance(smoothing, str) or smoothing < 0):
        raise ValueError(f"smoothing is {shown(smoothing)}")
    prior: Any = header.class_prior
    if isinstance(prior, str) and prior not in ("data", "uniform"):
        raise ValueError(f"class_prior is {shown(prior)}")
    if isinstance(prior, tuple):
        prior = read_probabilities(prior)
    return Settings(prior, header.estimate, smoothing, header.text)
