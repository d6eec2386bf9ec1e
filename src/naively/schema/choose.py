"""The event model of each column: as it is named, or by what the column holds.

Numbers are histograms, booleans and columns of 0 and 1 Bernoulli, strings categories or texts by
what they look like, sparse matrices and texts multinomial. Times, and strings that are all ISO 8601
times, are numbers (seconds since 1970) and have parts that are categories (see
``naively.data.times``). What a column that was given none is in the end, its counts say (see
``naively.schema.settle``): here it is said how some rows are counted for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.data.columns import Kind, Name
from naively.data.rows import Rows, SparseRows
from naively.data.times import CYCLES, parse_times, part_name
from naively.events import (
    EVENT_MODELS,
    Bernoulli,
    Categorical,
    EventModel,
    JointTable,
    Multinomial,
)
from naively.events.multinomial import BagOfCounts
from naively.schema.group import Group
from naively.schema.schema import SHOWN, Schema, list_names
from naively.schema.settle import MANY, OF_NUMBERS, reads_as_text, regroup, text_group
from naively.schema.text import Text, TextModel
from naively.schema.usual import Usual

Choice: TypeAlias = "str | EventModel | TextModel"
Choices: TypeAlias = "Choice | Sequence[TextModel]"
EventModels: TypeAlias = "Choices | Mapping[Any, Choices]"

SAMPLE = 10_000  # strings that are looked at to tell texts from categories
FIRST = 100  # numbers that are looked at before a whole column is
SEQUENCE = 50  # so many whole numbers, none twice, within twice as wide a range are a sequence
SEQUENTIAL = "whole numbers in sequence, none twice: like an identifier"
KINDS: dict[str, tuple[Kind, ...]] = {  # what a mapping may name beside columns
    "number": ("number",),
    "boolean": ("boolean",),
    "string": ("string", "text"),
    "time": ("time",),
}


@dataclass(frozen=True)
class Chosen:
    """What was chosen for a column; a text is a group of its own, with an analyser."""

    event: EventModel
    kind: Kind
    analyser: TextModel | None = None
    note: str | None = None


def infer(rows: Rows, event_models: EventModels = "auto", usual: Usual | None = None) -> Schema:
    """Choose an event model for each column, unless it is named.

    Parameters
    ----------
    rows : Rows
        The table.
    event_models : "auto", str, EventModel, Text, Patterns, sequence of these two, or mapping
        One for all (or for a text, several), or by the name of a column, a tuple of names, or a
        kind ("number", "boolean", "string", "time"); names go before kinds.
    usual : Usual, optional
        The settings of event models that are chosen here or named; one that is given as an object
        has its own.

    Examples
    --------
    >>> from naively.data.frames import as_rows
    >>> print(infer(as_rows({"size": [3.0, 4.0], "colour": ["red", "blue"]})))
    size    histogram    numbers
    colour  categorical  strings
    """
    usual = usual or Usual()
    named = _named(event_models, rows, usual)
    if rows.one_kind and not isinstance(event_models, Mapping):
        one = named[0] if isinstance(named, tuple) else named
        return _one_group(rows, rows.one_kind, one, usual)
    groups: dict[tuple[EventModel, Kind, TextModel | None, Name | None], list[Name]] = {}
    notes, free = {}, set()
    for name in rows.names:
        kind = rows.kind(name)
        if kind is None:
            continue  # nothing to go by: it may become anything later
        given = named.get(name) if isinstance(named, Mapping) else named
        every = given if isinstance(given, tuple) else (given,)
        is_text = kind == "text" or (kind == "string" and is_many_texts(rows, name))
        if (given is None and is_text) or (given == "text" and kind in ("string", "text")):
            every = usual.texts
        for one in every:
            chosen = _choose(rows, name, kind, one, usual)
            own = name if chosen.kind == "text" else None
            group = chosen.event, chosen.kind, chosen.analyser, own
            groups.setdefault(group, []).append(name)
        if given is not None:
            notes[name] = "given"
        elif chosen.note:
            notes[name] = chosen.note
        if given is None and chosen.kind == "time":
            parts = [part_name(name, part) for part in CYCLES]
            of_parts = groups.setdefault((usual.make(Categorical), "part", None, None), [])
            of_parts.extend(part for part in parts if part not in rows.place)
        elif given is None and not isinstance(rows, SparseRows) and kind in ("number", "string"):
            free.add(name)
    made = (
        _group(event, kind, tuple(names), analyser)
        for (event, kind, analyser, _), names in groups.items()
        if names
    )
    return Schema(tuple(made), rows.names, notes, frozenset(free))


def _one_group(rows: Rows, kind: Kind, given: Choice | None, usual: Usual) -> Schema:
    """Return the schema of a matrix without a look at each of its columns."""
    columns = rows.names
    if isinstance(columns, tuple):
        columns = tuple(name for name in columns if rows.kind(name) is not None)
    if not columns:
        return Schema((), rows.names)
    if given is None and kind == "number" and not isinstance(rows, SparseRows):
        truths = truths_of(rows, columns)
        of = {
            model: [c for c in columns if (c in truths) == (model is Bernoulli)]
            for model in (Bernoulli, OF_NUMBERS)
        }
        groups = (
            _group(usual.make(model), kind, columns if len(some) == len(columns) else tuple(some))
            for model, some in of.items()
            if some
        )
        return Schema(tuple(groups), rows.names, free=frozenset(columns))
    group = _group(_choose(rows, columns[0], kind, given, usual).event, kind, columns)
    said = given is not None and len(columns) <= SHOWN
    return Schema((group,), rows.names, dict.fromkeys(columns, "given") if said else {})


def given_as_objects(event_models: EventModels, schema: Schema) -> bool:
    """Whether all columns have event models that were given as objects, with options of their own.

    >>> from naively import Bernoulli, NaiveBayes
    >>> nb = NaiveBayes({"a": Bernoulli()}).fit({"a": [0, 1], "b": [2.5, 7.0]}, ["x", "y"])
    >>> given_as_objects(nb.event_models, nb.schema_)
    False
    """

    def is_object(choice: Any) -> bool:
        if isinstance(choice, list | tuple):
            return all(map(is_object, choice))
        event = choice.event if isinstance(choice, TextModel) else choice
        return isinstance(event, EventModel)

    if not isinstance(event_models, Mapping):
        return is_object(event_models)
    named: set[Any] = set()
    for key, choice in event_models.items():
        if is_object(choice):
            named |= set(key) if isinstance(key, tuple) else {key}
            kinds = KINDS.get(key, ()) if isinstance(key, str) else ()
            named |= {name for name, group in schema.columns.items() if group.kind in kinds}
    return bool(schema.columns) and named.issuperset(schema.columns)


def extend(
    schema: Schema, rows: Rows, event_models: EventModels = "auto", usual: Usual | None = None
) -> Schema:
    """Return how these rows are counted: known columns as they are, new ones as inferred.

    A column that was missing throughout until now is new. One that was given no event model is
    counted as these rows must be: as numbers, if they are not 0 and 1 any more.
    """
    usual = usual or Usual()
    known = schema.columns
    by_place = isinstance(rows.names, range) or not schema.names
    if not by_place and not all(name in known for name in rows.names):
        fresh = rows.select([name for name in rows.names if name not in known])
        schema = schema.union(infer(fresh, _for_some(event_models, fresh), usual))
    return _as_needed(schema, rows, usual)


def _as_needed(schema: Schema, rows: Rows, usual: Usual) -> Schema:
    """Return the schema with free columns moved that these rows do not fit."""
    if not schema.free or not len(rows):
        return schema
    to: dict[Name, Sequence[Group]] = {}
    rows = schema.named(rows)
    for group in schema.of_columns:
        free = (n for n in group.columns if n in schema.free and n in rows.place)
        names = tuple(name for name in free if rows.kind(name) == group.kind)
        if isinstance(group.event, Bernoulli) and names:
            numbers = Group(usual.make(OF_NUMBERS), "number", ())
            truths = truths_of(rows, names)
            to |= {name: [numbers] for name in names if name not in truths}
        elif isinstance(group.event, Categorical):
            texts = (name for name in names if is_many_texts(rows, name))
            to |= {name: [text_group(name, text) for text in usual.texts] for name in texts}
    return regroup(schema, to) if to else schema


def _for_some(event_models: EventModels, rows: Rows) -> EventModels:
    """Return what a mapping says of these rows' columns, which are not all that it names."""
    if not isinstance(event_models, Mapping):
        return event_models
    by_name: dict[Any, Choice] = {}
    for key, choice in event_models.items():
        names = key if isinstance(key, tuple) else (key,)
        by_name |= {name: choice for name in names if name in rows.place or name in KINDS}
    return by_name


def event_model(chosen: Choice, usual: Usual) -> EventModel:
    """Return an event model by name, or as it is."""
    if isinstance(chosen, EventModel):
        return chosen
    if chosen not in EVENT_MODELS:
        names = ", ".join([*EVENT_MODELS, "text", "auto"])
        raise ValueError(f"There is no event model {chosen!r}; there are {names}.")
    return usual.make(EVENT_MODELS[chosen])


def _group(
    event: EventModel,
    kind: Kind,
    columns: range | tuple[Name, ...],
    analyser: TextModel | None = None,
) -> Group:
    if isinstance(event, JointTable):
        event = replace(event, columns=tuple(columns))
    return Group(event, kind, columns, analyser)


def _named(event_models: EventModels, rows: Rows, usual: Usual) -> Any:
    """Return what was named: None, "text", an event model, or these by column."""

    def resolve(chosen: Any) -> Any:
        if isinstance(chosen, list | tuple):  # several of one text
            if not chosen or not all(isinstance(one, TextModel) for one in chosen):
                raise ValueError(
                    "Several event models of one column must be Text or Patterns, for a text; "
                    f"got {list(chosen)}."
                )
            return tuple(dict.fromkeys(chosen))
        if chosen == "auto":
            return None
        as_it_is = chosen == "text" or isinstance(chosen, TextModel)
        return chosen if as_it_is else event_model(chosen, usual)

    if not isinstance(event_models, Mapping):
        return resolve(event_models)
    by_kind: dict[Name, Any] = {}
    by_name: dict[Name, Any] = {}
    for key, choice in event_models.items():
        chosen = resolve(choice)
        if key in KINDS and key not in rows.place:
            kinds = KINDS[key]
            by_kind |= {name: chosen for name in rows.names if rows.kind(name) in kinds}
            continue
        for name in key if isinstance(key, tuple) else (key,):
            if name not in rows.place:
                raise ValueError(
                    f"event_models names the column {name!r}, which is not in the table; "
                    f"it has {list_names(rows.names)}."
                )
            by_name[name] = chosen
    return by_kind | by_name


def _choose(rows: Rows, name: Name, kind: Kind, chosen: Choice | None, usual: Usual) -> Chosen:
    if isinstance(chosen, JointTable):
        return Chosen(chosen, "string")  # whatever their kinds
    if chosen is None:
        return _default(rows, name, kind, usual)
    if kind in ("string", "text"):
        return _of_strings(rows, name, kind, chosen, usual)
    if chosen == "text" or isinstance(chosen, TextModel):
        raise ValueError(f"Column {title(name)!r} holds {kind}s, not text.")
    assert isinstance(chosen, EventModel)
    return Chosen(chosen, kind)


def _of_strings(rows: Rows, name: Name, kind: Kind, chosen: Choice, usual: Usual) -> Chosen:
    if isinstance(chosen, TextModel):
        return _text(chosen, usual)
    assert isinstance(chosen, EventModel)
    if isinstance(chosen, BagOfCounts | Bernoulli):
        return _text(Text(event=chosen), usual)
    if isinstance(chosen, Categorical):
        if any(isinstance(cell, list) for cell in rows.values(name).tolist()):
            raise ValueError(f"Column {title(name)!r} holds lists of words, no categories.")
        return Chosen(chosen, "string")
    if kind == "string" and parse_times(rows.values(name)) is not None:
        return Chosen(chosen, "time")
    raise ValueError(
        f"Column {title(name)!r} holds strings, which a {chosen.name} event model cannot "
        "count; choose categorical, multinomial, bernoulli or text."
    )


def _text(analyser: TextModel, usual: Usual) -> Chosen:
    event = event_model(analyser.event, usual)
    if not isinstance(event, BagOfCounts | Bernoulli):
        raise ValueError(  # noqa: TRY004
            f"{analyser} has a {event.name} event model, which cannot count the tokens of texts; "
            "choose multinomial, bernoulli or complement."
        )
    return Chosen(event, "text", analyser.with_event(event))


def _default(rows: Rows, name: Name, kind: Kind, usual: Usual) -> Chosen:
    if kind == "time" or (kind == "string" and parse_times(rows.values(name)) is not None):
        return Chosen(usual.make(OF_NUMBERS), "time")
    if kind == "string":
        return Chosen(usual.make(Categorical), kind)
    if kind == "boolean":
        return Chosen(usual.make(Bernoulli), kind)
    if isinstance(rows, SparseRows):
        return Chosen(usual.make(Multinomial), kind)
    if _is_truth(rows, name):
        return Chosen(usual.make(Bernoulli), kind)
    note = SEQUENTIAL if rows.one_kind is None and _is_sequence(rows.values(name)) else None
    return Chosen(usual.make(OF_NUMBERS), kind, note=note)


def truths_of(rows: Rows, names: Sequence[Name]) -> set[Name]:
    """Return the columns of numbers that hold nothing but 0 and 1, or are missing."""
    first = rows.take(slice(0, FIRST)).numbers(names)
    maybe = np.flatnonzero(_are_truths(first).all(axis=0)).tolist()
    return {names[j] for j in maybe if _is_truth(rows, names[j])}


def _is_truth(rows: Rows, name: Name) -> bool:
    column = rows.numbers([name])[:, 0]
    return bool(_are_truths(column[:FIRST]).all() and _are_truths(column).all())


def _are_truths(numbers: NDArray[np.floating]) -> NDArray[np.bool_]:
    truths: NDArray[np.bool_] = (numbers == 0) | (numbers == 1) | np.isnan(numbers)
    return truths


def is_many_texts(rows: Rows, name: Name) -> bool:
    """Whether a sample of a column has so many different texts that it holds no categories."""
    column = rows.values(name)
    step = max(1, len(column) // SAMPLE)
    strings = {text for text in column[::step].tolist() if isinstance(text, str)}
    return len(strings) > MANY and reads_as_text(strings, len(column))


def _is_sequence(column: NDArray[Any]) -> bool:
    """Whether whole numbers are about as many as their range is wide, and none is there twice.

    So are row numbers, and the share of them that a random split leaves; of other numbers fifty
    are all different within twice as wide a range less often than once in a million.
    """
    if column.dtype.kind not in "iu" or len(column) < SEQUENCE:
        return False
    low, high = int(column.min()), int(column.max())
    if high - low >= 2 * len(column):
        return False
    whole = column if column.dtype.kind == "u" else column.astype(np.int64)
    return int(np.bincount((whole - whole.min()).astype(np.int64)).max()) == 1
