"""The parts of a model in its file: keys, labels, axes, sums, weights, the linear part."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import reduce
from itertools import starmap
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    CELL,
    Analyser,
    Axis,
    Cells,
    Columns,
    Derived,
    DerivedLevels,
    Level,
    Levels,
    Name,
    Words,
    roots_of,
    title,
    words_axis,
)
from naively.counting.block import Batch, Block, Codes, Dense, Sparse
from naively.counting.labels import LEAST_WEIGHT, MOST_BYTES, Label, LabelArray, Labels, plain
from naively.counting.leave_one_out import Part
from naively.counting.tally import Tally, forget
from naively.events import EVENT_MODELS
from naively.events.base import EventModel
from naively.file.container import Array, Arrays, UnreadArrays
from naively.file.header import (
    Columnar,
    FunctionKind,
    Json,
    Saved,
    SavedAxis,
    SavedColumns,
    SavedHeldOut,
    SavedLinear,
    SavedSample,
    SavedWeights,
    at,
    read,
    read_fields,
    shown,
)
from naively.frozen import Frozen
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import AnySums, RepeatedSums, SparseSums
from naively.model.counted import Counted, count_batch
from naively.model.held_out import BINS, HeldOut
from naively.model.model import Weights
from naively.schema.schema import DERIVED, Group, GroupKey
from naively.schema.settings import Probabilities
from naively.schema.text import Patterns, Text, name_of
from naively.terms.functions import (
    MOST_CONDITIONS,
    MOST_POWER,
    NOTHING,
    Above,
    ColumnFunction,
    Combined,
    Condition,
    Is,
    Line,
    LinearPart,
    OneOf,
    Product,
    Rule,
    Step,
    Term,
    There,
)
from naively.terms.seen import SeenRows

# --- Groups of columns are known by event model, kind, and a text by column and analyser ---------
#
# Each is written by its name and settings, and made again from them; a file can name nothing else.


ANALYSERS: dict[str, type[Analyser]] = {Text.name: Text, Patterns.name: Patterns}


def write_key(key: GroupKey) -> Saved:
    """Return a key as JSON has it."""
    saved, analyser = None, key.analyser
    if analyser is not None:
        saved = {
            "name": analyser.name,
            **_settings(analyser, ANALYSERS, "analyser", analyser.functions),
        }
    return {
        "event": key.event.name,
        "options": _settings(key.event, EVENT_MODELS, "event model", {}),
        "kind": key.kind,
        "column": key.column,
        "analyser": saved,
    }


def read_event(name: str, options: Saved) -> EventModel:
    """Return the event model of this name with these settings, or raise a ValueError."""
    event = EVENT_MODELS.get(name)
    if event is None:
        raise ValueError(f"there is no event model {shown(name)}")
    settings = read_fields(event, options, "options")
    try:
        return event(**settings)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"options are none of {name} ({error})") from error


def read_analyser(saved: Saved | None, event: EventModel) -> Analyser | None:
    """Return the analyser of a text, if there is one; its event model is the group's."""
    if saved is None:
        return None
    settings = dict(saved)
    made = ANALYSERS.get(read(str, settings.pop("name", None), "analyser.name"))
    if made is None or "event" in settings:
        raise ValueError("there is no such analyser")
    objects = {option: of for option, of in settings.items() if type(of) is dict}
    functions = {option: of[FUNCTION] for option, of in objects.items() if set(of) == {FUNCTION}}
    plain = {option: of for option, of in settings.items() if option not in functions}
    given = read_fields(made, plain, "analyser", {"EventModel": EventModel})
    found = {option: _given_function(option, name) for option, name in functions.items()}
    return made(**given, **found, event=event)  # type: ignore[call-arg]  # each analyser is a dataclass


# --- Functions: a file has their names, and whoever loads it gives them again

Function: TypeAlias = Callable[[str], object]
FUNCTION = "function"  # the entry of an option that is one
_functions: ContextVar[Mapping[str, Function] | None] = ContextVar("functions", default=None)


class FunctionMissingError(LookupError):
    """A model goes through a function that was not given."""


@contextmanager
def given_functions(functions: Mapping[str, Function] | None) -> Iterator[None]:
    """Let analysers that are read have these functions, by their names."""
    token = _functions.set(functions)
    try:
        yield
    finally:
        _functions.reset(token)


def _given_function(option: str, name: Json) -> Function:
    known = _functions.get() or {}
    if name not in known:
        raise FunctionMissingError(
            f"splits its texts by the function {shown(name)} ({option}), which a file cannot hold: "
            f"give it by load(path, functions={{{shown(name)}: ...}})."
        )
    function = known[name]
    if not callable(function):
        raise TypeError(f"functions[{name!r}] is no function.")
    return function


def _settings(
    of: EventModel | Analyser,
    known: Mapping[str, type],
    what: str,
    functions: Mapping[str, Function],
) -> Saved:
    """Return all settings; the event model of an analyser is not among them, but beside them."""
    if known.get(of.name) is not type(of):
        raise TypeError(f"A model file cannot hold the {what} {type(of).__name__}.")
    names = [field.name for field in fields(of)]  # type: ignore[arg-type]  # each is a dataclass
    unnamed = next((name for name, f in functions.items() if name_of(f) == "<lambda>"), None)
    if unnamed is not None:
        raise ValueError(
            f"A model file names functions, and {unnamed} is a lambda, which has no name: "
            "write it as a function."
        )
    return {
        name: {FUNCTION: name_of(functions[name])} if name in functions else getattr(of, name)
        for name in names
        if name != "event"
    }


# --- Class labels are written to the header of a model file as JSON, and read as they were -----
#
# Dates are written by ISO 8601, other labels as JSON has them; their type is written beside them.


DATES: dict[str, type[dt.date]] = {"date": dt.date, "datetime": dt.datetime}
TYPE = re.compile(r"[<>|=]?([biufUMO])(\d*)(\[\w+\])?")


def write_classes(classes: LabelArray) -> Saved:
    """Return labels of shape (classes,), and their type, as JSON has them."""
    labels: list[Json] = (classes.astype(str) if classes.dtype.kind == "M" else classes).tolist()
    dates = {type(label).__name__ for label in labels if isinstance(label, dt.date)}
    if dates:
        return {"labels": [label.isoformat() for label in labels], "dtype": dates.pop()}
    return {"labels": labels, "dtype": classes.dtype.str}


def read_classes(labels: list[Json], kind: str) -> LabelArray:
    """Return the labels that were written, of shape (classes,); each must be there once."""
    if any(type(label) is tuple for label in labels):
        raise ValueError("a label is a list")
    if len(set(labels)) < len(labels):
        raise ValueError("a class is there twice")
    if kind in DATES:
        labels = [DATES[kind].fromisoformat(read(str, label, "a label")) for label in labels]
        kind = "|O"
    match = TYPE.fullmatch(kind)
    if match is None:
        raise ValueError(f"labels cannot be of type {shown(kind)}")
    if match[1] == "U" and len(labels) * int(match[2] or max(map(len, labels))) * 4 > MOST_BYTES:
        raise ValueError(f"labels of type {kind} take too much memory")
    classes = np.empty(len(labels), object)
    classes[:] = labels
    try:
        classes = classes if match[1] == "O" else classes.astype(np.dtype(kind))
    except (TypeError, OverflowError) as error:
        raise ValueError(f"labels cannot be of type {kind} ({error})") from error
    if (classes.astype(str) if match[1] == "M" else classes).tolist() != labels:
        raise ValueError(f"the labels are none of type {kind}")
    if any(label != label for label in classes):  # noqa: PLR0124
        raise ValueError("a label is missing")
    return classes


def write_probabilities(prior: Probabilities) -> list[Json]:
    """Return the probabilities of the classes, in their order or by label."""
    if not isinstance(prior, Mapping):
        return [float(p) for p in prior]
    return [
        [label.isoformat(), float(p), type(label).__name__]
        if isinstance(label, dt.date)
        else [plain(label), float(p)]
        for label, p in prior.items()
    ]


def read_probabilities(saved: tuple[Json, ...]) -> list[float] | dict[Label, float]:
    """Return the probabilities that were written, by label or in the order of the classes."""
    by_label = saved and all(type(each) is tuple and len(each) in (2, 3) for each in saved)
    each = [p for _, p, *_ in saved] if by_label else list(saved)
    prior = dict(starmap(_of_label, saved)) if by_label else each
    if not all(0 <= p <= 1 for p in read(tuple[float, ...], each, "class_prior")):
        raise ValueError("class_prior must be probabilities")
    return prior


def _of_label(label: Json, p: Json, date: Json = None) -> tuple[Label, float]:
    """Return a label, which may be a date, and its probability."""
    if date is None:
        return label, p
    if date not in DATES:
        raise ValueError(f"class_prior is of labels of type {shown(date)}")
    return DATES[date].fromisoformat(read(str, label, "class_prior")), p


# --- Axes, which name the rows of a group's tables; those of words and cells are arrays --------


AXES = {"numbers": "columns", "levels": "levels", "rows": "levels"}


def write_axis(axis: Axis, name: str, arrays: Arrays) -> Saved:
    """Return an axis as JSON has it; its arrays are added under names that begin with ``name``."""
    columns = write_columns(axis.columns)
    match axis:
        case Words():
            if axis.grows:
                _put_words(axis, name, arrays)
            return {"kind": "words", "columns": columns}
        case Levels():
            return {"kind": "levels", "columns": columns, "levels": axis.levels}
        case Cells():
            arrays[f"{name}/keys"] = axis.keys
            arrays[f"{name}/shifts"] = axis.shifts
            arrays[f"{name}/first"] = axis.first
            return {"kind": "cells", "columns": columns}
        case _:
            return {"kind": "columns", "columns": columns}


def read_axis(saved: SavedAxis, name: str, group: Group, unread: UnreadArrays) -> Axis:
    """Return the axis of a group, whose arrays have names that begin with ``name``."""
    kind = "words" if group.analyser is not None else AXES[group.event.layout]
    kind = "cells" if CELL in group.event.statistics else kind
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
    assert group.analyser is not None  # of words
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


def _take_words(name: str, size: int, unread: UnreadArrays) -> list[Array]:
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


def _read_cells(columns: Columnar, name: str, unread: UnreadArrays) -> Cells:
    shifts, first, keys = (unread.take(f"{name}/{p}", "i") for p in ("shifts", "first", "keys"))
    flat = all(part.ndim == 1 for part in (shifts, first, keys))
    if not flat or len(first) != len(columns) + 1 or len(shifts) != len(columns):
        raise ValueError("there are cells of other columns")
    if first[0] != 0 or first[-1] != len(keys) or (first[1:] < first[:-1]).any():
        raise ValueError("cells are not in order")
    axis = Cells(columns, shifts, first, keys)
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
    elif group.kind in ("string", "word") and any(type(level) is not str for level in every):
        raise ValueError("a level is not a string")
    if event.declared and any(each[: len(event.declared)] != event.declared for each in levels):
        raise ValueError("there are columns without the levels that are declared")
    return Levels(columns, levels, declared=event.declared)


# --- What was counted, as arrays of a file -----------------------------------------------------
#
# A table has all numbers, or the cells that are not 0, or the rows that are different.


NOISE = 2.0**-50  # the low part of a double-double sum is at most this share of its high part
MOST = 255  # of a byte: of a larger count the rest is written apart, as few are


def write_sums(sums: AnySums, name: str, arrays: Arrays) -> None:
    """Add the arrays of sums under names that begin with ``name``."""
    match sums:
        case SparseSums():
            counts, low = sums.stored.high, sums.stored.low
            arrays[f"{name}/cells"], arrays[f"{name}/classes"] = np.diff(sums.first), sums.classes
            large = counts >= MOST
            more = counts[large] - MOST
            if large.any() and (more + MOST == counts[large]).all():  # it is, below 2**53
                arrays[f"{name}/more"] = more
                counts = np.where(large, MOST, counts)
            arrays[f"{name}/counts"] = counts
        case RepeatedSums():
            arrays[f"{name}/number"] = sums.number
            arrays[f"{name}/high"], low = sums.different.high, sums.different.low
        case _:
            arrays[f"{name}/high"], low = sums.high, sums.low
    if low.any():
        arrays[f"{name}/low"] = low


def read_sums(name: str, shape: tuple[int, int], unread: UnreadArrays) -> AnySums:
    """Return sums of this shape, or raise a ValueError that says why they are none."""
    rows, k = shape
    if f"{name}/number" in unread:
        return _read_repeated(name, rows, k, unread)
    if f"{name}/cells" not in unread:
        return read_all_sums(name, shape, unread)
    cells = unread.take(f"{name}/cells", "i", (rows,))
    classes = unread.take(f"{name}/classes", "c")
    if classes.ndim != 1 or (cells < 0).any() or (cells > k).any() or cells.sum() != len(classes):
        raise ValueError(f"{name} has rows that do not fill it")
    first = np.zeros(rows + 1, np.int64)
    np.cumsum(cells, out=first[1:])
    ascends = classes[1:] > classes[:-1]
    ascends[first[1:-1][(first[1:-1] > 0) & (first[1:-1] < len(classes))] - 1] = True
    if not ascends.all() or (classes < 0).any() or (classes >= k).any():
        raise ValueError(f"{name} has no such class, or one twice in a row")
    high = unread.take(f"{name}/counts", shape=classes.shape)
    if f"{name}/more" in unread:
        high, large = np.require(high, requirements="W"), np.flatnonzero(high == MOST)
        high[large] += unread.take(f"{name}/more", shape=large.shape)
    if not high.all():
        raise ValueError(f"{name} stores a number that is 0")
    return SparseSums(first, classes, _checked(name, high, unread), k)


def read_all_sums(name: str, shape: tuple[int, ...], unread: UnreadArrays) -> Sums:
    """Return sums of this shape whose numbers are all written."""
    return _checked(name, unread.take(f"{name}/high", shape=shape), unread)


def _read_repeated(name: str, rows: int, k: int, unread: UnreadArrays) -> RepeatedSums:
    """Return sums of which few rows are different."""
    number = unread.take(f"{name}/number", "c", (rows,))
    high = unread.take(f"{name}/high")
    if high.ndim != 2 or high.shape[1] != k or ((number < 0) | (number >= len(high))).any():
        raise ValueError(f"{name} has no such row, or rows of other classes")
    return RepeatedSums(_checked(name, high, unread), number)


def _checked(name: str, high: Floats, unread: UnreadArrays) -> Sums:
    """Return double-double sums, which are finite and rounded as such are."""
    low = unread.take(f"{name}/low", shape=high.shape) if f"{name}/low" in unread else None
    if not all(np.isfinite(part).all() for part in (high, low) if part is not None):
        raise ValueError(f"{name} holds numbers that are not finite")
    if low is not None and (np.abs(low) > NOISE * np.abs(high)).any():
        raise ValueError(f"{name} holds sums whose two parts do not fit")
    return Sums(high, low)


# --- The linear part of the weights: its terms, and their numbers in arrays -----------------------
#
# The header names the group, the column and the kind of each term, and the level of a step. The
# terms with slopes of their own are first, in the order in which they are added up; products stand
# by the numbers of their two terms, and rules by those of their conditions.


LARGEST = 1e12  # of a slope, a bias or the intercept in nats, of a weight, and of a term
FARTHEST = 1e300  # of a number that a line is clipped at, or centred by
LEAST_SCALE = 1e-200  # of a term: a slope over its scale is finite
LEAST_OF_PRODUCT = 1e-12  # the least scale of a product of two terms


def terms_of(linear: LinearPart) -> list[Term]:
    """Return the terms with slopes of their own, then those that are in products alone."""
    of_products = (term for product in linear.products for term in (product.a, product.b))
    return list(dict.fromkeys([*linear.of, *of_products]))


def write_linear(
    linear: LinearPart, groups: Mapping[GroupKey, int], places: Sequence[int], arrays: Arrays
) -> Saved | None:
    """Return what the header says of a linear part, if there is one, and add its arrays."""
    # linear: the terms and products; groups: the number of each group in the header; places: the
    # number of each class among the slopes; the number after the last has slopes of 0
    # The arrays are linear/range of shape (lines, 2), where a line is clipped; linear/unit of shape
    # (lines and steps, 2), the centre and the scale; linear/edge of shape (terms above or at it,);
    # linear/slope of shape (terms with slopes, classes); linear/intercept of shape (classes,). If
    # there are products, linear/product of shape (products, 2), the numbers of their terms,
    # linear/product_scale of shape (products,) and linear/product_slope of shape (products,
    # classes). If there are rules, linear/rule_edge of shape (edges,) and linear/rule_points of
    # shape (cells of all rules, classes).
    if not (linear or linear.intercept):
        return None
    terms = terms_of(linear)
    lines, units, edges = [], [], []
    for term in terms:
        match term.function:
            case Line(low, high, centre, scale):
                lines.append((low, high))
                units.append((centre, scale))
            case Step(_, centre, scale):
                units.append((centre, scale))
            case Above(edge) | Is(edge):
                edges.append(edge)
    arrays["linear/range"] = np.array(lines, np.float64).reshape(-1, 2)
    arrays["linear/unit"] = _table(units, [0, 1])
    arrays["linear/edge"] = np.array(edges, np.float64)
    arrays["linear/slope"] = _table(list(linear.of.values()), places)
    arrays["linear/intercept"] = linear.intercept_of(places)
    if linear.products:
        number = {term: i for i, term in enumerate(terms)}
        pairs = [(number[of.a], number[of.b]) for of in linear.products]
        arrays["linear/product"] = np.array(pairs, np.int64)
        arrays["linear/product_scale"] = np.array([of.scale for of in linear.products], np.float64)
        arrays["linear/product_slope"] = _table(list(linear.products.values()), places)
    conditions = dict.fromkeys(of for rule in linear.rules for of in rule.conditions)
    place = {condition: i for i, condition in enumerate(conditions)}
    if linear.rules:
        points = [of for cells in linear.rules.values() for of in cells]
        arrays["linear/rule_points"] = _table(points, places)
    return {
        "terms": [
            [groups[term.group], term.column, KINDS[type(term.function)], *_levels_of(term)]
            for term in terms
        ],
        "conditions": _write_conditions(conditions, groups, arrays),
        "rules": [[place[of] for of in rule.conditions] for rule in linear.rules],
        "ridge": linear.ridge,
    }


def _write_conditions(
    conditions: Iterable[Condition], groups: Mapping[GroupKey, int], arrays: Arrays
) -> list[Json]:
    """Return what the header says of conditions, and add the edges of those of numbers."""
    edges: list[float] = []
    said: list[Json] = []
    for of in conditions:
        match of.test:
            case Above(edge):
                edges.append(edge)
                said.append([groups[of.group], of.column, None, of.missing, []])
            case OneOf(levels, others):
                said.append([groups[of.group], of.column, [*levels], of.missing, [*others]])
    if said:
        arrays["linear/rule_edge"] = np.array(edges, np.float64)
    return said


def read_linear(
    saved: SavedLinear,
    unread: UnreadArrays,
    classes: int,
    keys: Sequence[GroupKey],
    order: Columnar,
) -> LinearPart:
    """Return the linear part that was written, or raise a ValueError."""
    if saved.ridge < 0:
        raise ValueError("the ridge is below 0")
    known = order if isinstance(order, range) else frozenset(order)
    terms = _read_terms(saved, unread, keys, known)
    slope = unread.take("linear/slope")
    if slope.ndim != 2 or slope.shape[1] != classes or len(slope) > len(terms):
        raise ValueError("slopes have the wrong shape")
    intercept = unread.take("linear/intercept", shape=(classes,))
    _check_slopes(slope)
    _check_slopes(intercept)
    products = _read_products(terms, unread, classes) if "linear/product" in unread else {}
    of = dict(zip(terms, map(tuple, slope.tolist()), strict=False))
    rules = _read_rules(saved, unread, classes, keys, known) if saved.rules else {}
    linear = LinearPart(of, products, tuple(intercept.tolist()), float(saved.ridge), rules)
    if len(terms_of(linear)) < len(terms):
        raise ValueError("there is a term that has no slopes and is in no product")
    return linear


def _table(rows: Sequence[tuple[float, ...]], places: Sequence[int]) -> Floats:
    """Return the numbers at these places of each row, 0 after its last: (rows, places)."""
    found = [[[*row, 0.0][place] for place in places] for row in rows]
    return np.array(found, np.float64).reshape(len(rows), len(places))


KINDS: dict[type, FunctionKind] = {
    Line: "line",
    Step: "step",
    Above: "above",
    Is: "is",
    There: "there",
}


def _levels_of(term: Term) -> tuple[Level | None, list[Level]]:
    """Return the level of a step, and all that it is among; None and none of another function."""
    of = term.function
    return (of.level, list(of.among)) if isinstance(of, Step) else (None, [])


def _read_terms(
    saved: SavedLinear,
    unread: UnreadArrays,
    keys: Sequence[GroupKey],
    known: range | frozenset[Name],
) -> list[Term]:
    """Return the terms, each of which is there once."""
    kinds = [of[2] for of in saved.terms]
    clip = unread.take("linear/range", shape=(kinds.count("line"), 2))
    unit = unread.take("linear/unit", shape=(kinds.count("line") + kinds.count("step"), 2))
    above = unread.take("linear/edge", shape=(kinds.count("above") + kinds.count("is"),))
    ranges, units, edges = (iter(of.tolist()) for of in (clip, unit, above))
    terms = []
    for group, column, kind, level, among in saved.terms:
        key = _key_of(group, column, keys, known)
        if (level is None) != (kind != "step"):
            raise ValueError("a step has no level, or another term has one")
        _check_layout(column, key, None if kind in ("line", "above", "is") else [level, *among])
        function: ColumnFunction = There()
        if isinstance(column, Combined) and kind not in ("above", "there"):
            raise ValueError("there is a line or a step of two columns")
        if kind in ("above", "is"):
            edge = _checked_edge(next(edges))
            function = Above(edge) if kind == "above" else Is(edge)
        elif kind != "there":
            low, high = next(ranges) if kind == "line" else (0.0, 1.0)
            centre, scale = next(units)
            _check_function(low, high, centre, scale)
            function = Step(level, centre, scale, among)
            if kind == "line":
                function = Line(low, high, centre, scale)
        terms.append(Term(key, column, function))
    if len(set(terms)) < len(terms):
        raise ValueError("a term is there twice")
    return terms


def _read_rules(
    saved: SavedLinear,
    unread: UnreadArrays,
    classes: int,
    keys: Sequence[GroupKey],
    known: range | frozenset[Name],
) -> dict[Rule, tuple[tuple[float, ...], ...]]:
    """Return the rules, each of which is there once, and what their cells add."""
    above = sum(of[2] is None for of in saved.conditions)
    edges = iter(unread.take("linear/rule_edge", shape=(above,)).tolist())
    conditions = []
    for group, column, levels, missing, others in saved.conditions:
        key = _key_of(group, column, keys, known)
        _check_layout(column, key, None if levels is None else [*levels, *others])
        if not 0 <= missing < (3 if others and levels is not None else 2):
            raise ValueError("a condition has a side that there is not")
        test = Above(_checked_edge(next(edges))) if levels is None else OneOf(levels, others)
        conditions.append(Condition(key, column, test, missing))
    if any(not 0 <= at < len(conditions) for rule in saved.rules for at in rule):
        raise ValueError("there are rules of conditions that there are not")
    if not all(1 <= len(rule) <= MOST_CONDITIONS for rule in saved.rules):
        raise ValueError(f"a rule has one to {MOST_CONDITIONS} conditions")
    rules = [Rule(tuple(conditions[at] for at in rule)) for rule in saved.rules]
    cells = [rule.strides[-1] for rule in rules]
    points = unread.take("linear/rule_points", shape=(sum(cells), classes))
    _check_slopes(points)
    if len(set(rules)) < len(rules):
        raise ValueError("a rule is there twice")
    ends = np.cumsum(cells)[:-1]
    return {
        rule: tuple(map(tuple, of.tolist()))
        for rule, of in zip(rules, np.split(points, ends), strict=True)
    }


def _key_of(
    group: int, column: Name, keys: Sequence[GroupKey], known: range | frozenset[Name]
) -> GroupKey:
    """Return the group of a term or of a condition, which is of a column of the table."""
    if not 0 <= group < len(keys):
        raise ValueError("there are terms of groups that there are not")
    key = keys[group]
    if key.analyser is not None or key.kind == "text":
        raise ValueError("there are terms of texts")
    if isinstance(column, Combined):
        if key.event.layout != "numbers" or abs(column.power) > MOST_POWER:
            raise ValueError("there are terms of two columns that are not numbers")
    elif isinstance(column, Derived) != (key.kind in DERIVED):
        raise ValueError("there are terms of columns that are not in their group")
    if not all(root in known for root in roots_of(column)):
        raise ValueError("there are terms of columns that there are not")
    return key


def _checked_edge(edge: float) -> float:
    """Return an edge, which is no NaN."""
    if edge != edge:  # noqa: PLR0124
        raise ValueError("an edge is no number")
    return edge


def _check_layout(column: Name, key: GroupKey, levels: Sequence[Level | None] | None) -> None:
    """Raise a ValueError unless a function is of numbers, or of levels of its column."""
    # levels are None of one of numbers; a level that is None is of a function of either.
    if levels is not None and None in levels:
        if key.event.layout not in ("numbers", "levels"):
            raise ValueError("a term is of no number and of no level")
        return
    if key.event.layout != ("numbers" if levels is None else "levels"):
        raise ValueError("a line is not of numbers, or a step not of levels")
    for level in levels or ():
        wrong = type(level) is tuple or level != level  # noqa: PLR0124
        wrong |= key.kind == "string" and type(level) is not str
        if wrong or (isinstance(column, DerivedLevels) and level not in column.levels):
            raise ValueError("there is a step of what is no level of its column")


def _check_function(low: float, high: float, centre: float, scale: float) -> None:
    """Raise a ValueError unless a function of these numbers is finite; none of them may be NaN."""
    if not all(abs(x) <= FARTHEST for x in (low, high, centre, scale)):
        raise ValueError("a term has numbers that are not finite, or too large")
    if not low <= high:
        raise ValueError("a line is clipped from above to below")
    if not (scale >= LEAST_SCALE and max(abs(low - centre), abs(high - centre)) / LARGEST <= scale):
        raise ValueError("the scale of a term is not above 0, or too small")


def _check_slopes(slope: Floats) -> None:
    if not (np.abs(slope) <= LARGEST).all():
        raise ValueError("slopes must be finite")


def _read_products(
    terms: Sequence[Term], unread: UnreadArrays, classes: int
) -> dict[Product, tuple[float, ...]]:
    """Return the slopes of the products of terms, each of which is there once."""
    pairs = unread.take("linear/product", "i")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise ValueError("products are of two terms")
    if ((pairs < 0) | (pairs >= len(terms))).any():
        raise ValueError("there are products of terms that there are not")
    scale = unread.take("linear/product_scale", shape=(len(pairs),))
    if not ((scale >= LEAST_OF_PRODUCT) & (scale <= FARTHEST)).all():
        raise ValueError("the scale of a product is not above 0, or not finite")
    slope = unread.take("linear/product_slope", shape=(len(pairs), classes))
    _check_slopes(slope)
    products = [
        Product(terms[a], terms[b], by)
        for (a, b), by in zip(pairs.tolist(), scale.tolist(), strict=True)
    ]
    if any(of.a.column == of.b.column for of in products):
        raise ValueError("there is a product of two terms of one column")
    found = dict(zip(products, map(tuple, slope.tolist()), strict=True))
    if len(found) < len(products):
        raise ValueError("a product is there twice")
    return found


# --- The weights of a model: which parts they are of is in the header, they are arrays -----------


BANDS = 1100  # of document frequency, by powers of two; a float counts no further


def write_weights(weights: Weights, classes: list[Label], arrays: Arrays) -> Saved:
    """Return what the header says of weights, and add their arrays."""
    # The arrays are weights of shape (parts, classes), bias of shape (classes,), without the
    # intercept of the linear part, and those of the linear part.
    parts, places = list(weights.of), weights.places(classes)
    per = weights.rows_of(classes)
    arrays["weights"] = weights.table(parts, classes)
    arrays["bias"] = np.array([*weights.bias, 0.0])[places]
    linear = weights.linear
    of_rules = (of.group for rule in linear.rules for of in rule.conditions)
    keys = [*(of.group for of in parts), *(of.group for of in terms_of(linear)), *of_rules]
    place = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return {
        "groups": [write_key(key) for key in place],
        "of": [[place[part.group], part.column, part.band] for part in parts],
        "usual": weights.usual,
        "rows": weights.rows,
        "how": weights.how,
        "linear": write_linear(weights.linear, place, places, arrays),
        "rows_per_weight": [] if per is None else per.tolist(),
        **write_seen(weights.seen, places, arrays),
    }


def write_seen(seen: SeenRows | None, places: Sequence[int], arrays: Arrays) -> Saved:
    """Return what the header says of rows that were seen before, and add their arrays."""
    # The arrays are seen/rows, of shape (rows,), and seen/count, of shape (rows, classes).
    if seen is None:
        return {}
    arrays["seen/rows"] = seen.hashes.view(np.int64)
    arrays["seen/count"] = seen.of_classes(places).count
    return {"seen": seen.amount}


def read_seen(amount: float | None, unread: UnreadArrays, classes: int) -> SeenRows | None:
    """Return the rows that were written, if any were, or raise a ValueError."""
    if amount is None:
        return None
    rows = unread.take("seen/rows", "i").view(np.uint64)
    count = unread.take("seen/count", shape=(rows.size, classes))
    if rows.ndim != 1 or not rows.size or (rows[1:] <= rows[:-1]).any():
        raise ValueError("rows that were seen before are not in order")
    if not (0 < amount <= LARGEST and ((count >= 0) & (count <= LARGEST)).all()):
        raise ValueError("rows that were seen before must be positive numbers of rows")
    return SeenRows(rows, count, float(amount))


def read_weights(
    saved: SavedWeights, unread: UnreadArrays, classes: LabelArray, order: Columnar
) -> Weights:
    """Return the weights that were written, or raise a ValueError."""
    weight, bias = unread.take("weights"), unread.take("bias")
    if weight.shape != (len(saved.of), len(classes)) or bias.shape != classes.shape:
        raise ValueError("weights have the wrong shape")
    in_range = ((weight >= 0) & (weight <= LARGEST)).all() and (np.abs(bias) <= LARGEST).all()
    if not (in_range and 0 <= saved.usual <= LARGEST and saved.rows >= 0):
        raise ValueError("weights must be finite and at least 0")
    keys = []
    for i, key in enumerate(saved.groups):
        with at(f"weights.groups[{i}]"):
            event = read_event(key.event, key.options)
            analyser = read_analyser(key.analyser, event)
            keys.append(GroupKey(event, key.kind, key.column, analyser))
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
    linear = NOTHING
    if saved.linear is not None:
        with at("weights.linear"):
            linear = read_linear(saved.linear, unread, len(classes), keys, order)
    usual, rows, per = float(saved.usual), float(saved.rows), saved.rows_per_weight
    if len(per) not in (0, len(classes)) or not all(0 < of_class < np.inf for of_class in per):
        raise ValueError("rows_per_weight must be positive numbers, one for each class or none")
    found = Weights(
        tuple(classes.tolist()), of, tuple(bias.tolist()), usual, rows, saved.how, linear, per
    )
    return replace(found, seen=read_seen(saved.seen, unread, len(classes)))


# --- How probable the right classes of held-out rows were, from which sets of classes follow -----


def write_held_out(held_out: HeldOut, arrays: Arrays) -> Saved:
    """Return what the header says of held-out rows, and add their arrays."""
    # The arrays are held_out/cell and held_out/rows, both of shape (cells,): the number of a class
    # times that of all bins, plus that of a bin; and how many rows are in it.
    arrays["held_out/cell"], arrays["held_out/rows"] = held_out.cell, held_out.rows
    return {"left": held_out.left}


def read_held_out(saved: SavedHeldOut, unread: UnreadArrays, classes: LabelArray) -> HeldOut:
    """Return what was written of held-out rows, or raise a ValueError."""
    cell = unread.take("held_out/cell", "i")
    rows = unread.take("held_out/rows", shape=cell.shape)
    ascending = (cell[1:] > cell[:-1]).all() and ((cell >= 0) & (cell < len(classes) * BINS)).all()
    if cell.ndim != 1 or not ascending or not ((rows > 0) & (rows <= LARGEST)).all():
        raise ValueError("held-out rows must be positive numbers of rows in ascending bins")
    if not 0 <= saved.left <= 1:
        raise ValueError("the share of the rows that are still learned must be from 0 to 1")
    return HeldOut(tuple(classes.tolist()), cell.astype(np.int64), rows, float(saved.left))


# --- A sample of the rows that a model has learned, encoded as the model counted them ------------


Keys: TypeAlias = NDArray[np.uint64]

NEARLY_ALL = 0.99  # of the weight of a row, which is rounded where it is the sum of many copies


class SampledRows(Frozen):
    """Different rows that a model has learned, those of the least keys, encoded by its axes."""

    # (rows,): the rows, with how many copies came of each, their keys, ascending, and the sums over
    # their cells
    batches: Sequence[tuple[Batch, Keys, Keys]]
    seed: np.uint64  # what the keys were made with
    seen: int

    def __len__(self) -> int:
        return int(sum(batch.times.sum() for batch, _, _ in self.batches))

    def arrays(self, groups: Sequence[Group]) -> Arrays:
        """Return what a file holds of the rows; a block is named by the place of its group."""
        found: Arrays = {}
        for i, (batch, keys, contents) in enumerate(self.batches):
            parts: Arrays = {
                "keys": keys.view(np.int64),
                "contents": contents.view(np.int64),
                "labels": batch.labels.codes,
                "weights": batch.labels.weights,
                "copies": batch.times,
            }
            if batch.texts is not None:
                parts["texts"] = batch.texts.view(np.int64)
            if batch.labels.group is not None:
                parts["groups"] = batch.labels.group.view(np.int64)
            for place, group in enumerate(groups):
                block = _write_block(batch.blocks[group.key])
                parts |= {f"{place}/{what}": array for what, array in block.items()}
            found |= {f"sample/{i}/{what}": array for what, array in parts.items()}
        return found


def write_sample(sample: SampledRows, groups: Sequence[Group], arrays: Arrays) -> Saved:
    """Return what the header says of a sample, and add its arrays."""
    arrays.update(sample.arrays(groups))
    seed = int(sample.seed.view(np.int64))  # an integer of the header has 63 bits and a sign
    return {"seed": seed, "seen": sample.seen, "batches": len(sample.batches)}


def read_sample(saved: SavedSample, unread: UnreadArrays, counted: Counted) -> SampledRows:
    """Return the sample that was written, or raise a ValueError."""
    batches = [_read_batch(f"sample/{i}", unread, counted) for i in range(saved.batches)]
    keys = np.concatenate([np.empty(0, np.uint64), *(keys for _, keys, _ in batches)])
    if len(np.unique(keys)) < len(keys):
        raise ValueError("a row is there twice")
    if sum(float(batch.times.sum(dtype=np.float64)) for batch, _, _ in batches) > saved.seen:
        raise ValueError("there are more rows than were seen")
    _check_learned([batch for batch, _, _ in batches], counted)
    return SampledRows(batches, np.int64(saved.seed).view(np.uint64), saved.seen)


def _check_learned(batches: Sequence[Batch], counted: Counted) -> None:
    """Raise a ValueError unless a model can have learned all rows."""
    try:
        rows = [count_batch(batch, counted.schema) for batch in batches]
        if rows:
            forget(counted.tally, reduce(Tally.__add__, rows) * NEARLY_ALL)
    except ValueError as error:
        raise ValueError(f"there are rows that were not learned ({error})") from error


def _write_block(block: Block) -> Arrays:
    """Return the arrays of a block."""
    match block:
        case Dense():
            return {"values": block.values.astype(np.float64)}
        case Codes():
            return {"codes": block.codes.astype(np.int32)}
        case Sparse():
            items = block.indices.astype(np.int32)
            stored: Arrays = {"ends": block.indptr[1:].astype(np.int64), "items": items}
            if isinstance(block.axis, Columns):
                return {**stored, "numbers": block.data.astype(np.float64)}
            stored["missing"] = block.missing.astype(np.uint8)
            return stored if block.presence else {**stored, "counts": block.data.astype(np.int32)}
    raise TypeError(f"A model file cannot hold {type(block).__name__}.")


def _read_batch(name: str, unread: UnreadArrays, counted: Counted) -> tuple[Batch, Keys, Keys]:
    """Return rows that are held alike, their keys, and the sums over their cells, (rows,)."""
    keys = unread.take(f"{name}/keys", "i").view(np.uint64)
    if keys.ndim != 1 or (keys[1:] <= keys[:-1]).any():
        raise ValueError("rows are not in the order of their keys")
    rows = (len(keys),)
    contents = unread.take(f"{name}/contents", "i", rows).view(np.uint64)
    codes = unread.take(f"{name}/labels", "c", rows)
    weight = unread.take(f"{name}/weights", "f", rows)
    copies = unread.take(f"{name}/copies", "i", rows)
    _check(codes, 0, len(counted.tally.classes), "class")
    if not (np.isfinite(weight) & (weight >= LEAST_WEIGHT)).all() or (copies < 1).any():
        raise ValueError("a row has no weight, or there is no copy of it")
    labels = Labels(codes, counted.tally.classes, None if (weight == 1).all() else weight)
    if f"{name}/groups" in unread:
        own = unread.take(f"{name}/groups", "i", rows).view(np.uint64)
        labels = replace(labels, group=own)
    blocks = {}
    for place, group in enumerate(counted.schema.groups):
        axis = counted.tally.blocks[group.key].axis
        blocks[group.key] = _read_block(f"{name}/{place}", group, axis, len(keys), unread)
    texts = None
    if f"{name}/texts" in unread:
        texts = unread.take(f"{name}/texts", "i", rows).view(np.uint64)
    batch = Batch(blocks, labels, None if (copies == 1).all() else copies, texts=texts)
    return batch, keys, contents


def _read_block(name: str, group: Group, axis: Axis, rows: int, unread: UnreadArrays) -> Block:
    """Return so many rows of a group, encoded by the axis that the group was counted on."""
    match axis:
        case Levels():
            codes = unread.take(f"{name}/codes", "c", (rows, len(axis.columns)))
            _check(codes, -1, np.diff(axis.first), "level")
            return Codes(codes, axis)
        case Words():
            return _read_texts(name, axis, rows, unread)
    columns = Columns(axis.columns)
    if not group.event.sparse or f"{name}/ends" not in unread:
        values = unread.take(f"{name}/values", "f", (rows, len(columns)))
        return Dense(values, columns)
    indptr, items = _read_stored(name, len(columns), rows, unread)
    return Sparse(indptr, items, unread.take(f"{name}/numbers", "f", items.shape), columns)


def _read_texts(name: str, axis: Words, rows: int, unread: UnreadArrays) -> Sparse:
    """Return how often each of so many texts holds each word, and which texts are missing."""
    presence = axis.analyser.binary
    indptr, items = _read_stored(name, len(axis), rows, unread)
    missing = unread.take(f"{name}/missing", "u", (rows,)).astype(np.bool_)
    counts = np.ones(len(items))
    if not presence:
        counts = unread.take(f"{name}/counts", "c", items.shape).astype(np.float64)
    if (counts < 1).any() or (indptr[1:] > indptr[:-1])[missing].any():
        raise ValueError("a text that is missing has words, or there is no copy of a word")
    return Sparse(indptr, items, counts, axis, missing, presence)


def _read_stored(
    name: str, width: int, rows: int, unread: UnreadArrays
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each row begins, of shape (rows + 1,), and which items it holds (stored,)."""
    indptr = np.concatenate([np.zeros(1, np.int64), unread.take(f"{name}/ends", "i", (rows,))])
    items = unread.take(f"{name}/items", "c")
    if items.ndim != 1 or (indptr[1:] < indptr[:-1]).any() or indptr[-1] != len(items):
        raise ValueError("rows do not end where the next begin")
    _check(items, 0, width, "column or word")
    return indptr, items


def _check(codes: NDArray[np.int32], least: int, end: int | NDArray[np.int64], what: str) -> None:
    """Raise a ValueError unless codes are from the least up to an end, of each column or of all."""
    if ((codes < least) | (codes >= end)).any():
        raise ValueError(f"there is no such {what}")
