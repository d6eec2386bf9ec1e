"""The event models that were given: one for all columns, or by the name or the kind of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from naively.counting.axis import Name
from naively.data.columns import Kind
from naively.data.rows import Rows, missing_column
from naively.events import EVENT_MODELS, Bernoulli, EventModel
from naively.events.bag_of_counts import BagOfCounts
from naively.schema.schema import Schema
from naively.schema.settings import Settings
from naively.schema.text import TextModel

Choice: TypeAlias = "str | EventModel | TextModel"
Choices: TypeAlias = "Choice | Sequence[TextModel]"
EventModels: TypeAlias = "Choices | Mapping[Any, Choices]"
Given: TypeAlias = "tuple[EventModel | TextModel, ...]"  # several of a text; none: it is chosen

KINDS: dict[str, tuple[Kind, ...]] = {  # what a mapping may name beside columns
    "number": ("number",),
    "boolean": ("boolean",),
    "string": ("string", "text"),
    "time": ("time",),
}


def given_by_column(event_models: EventModels, rows: Rows, settings: Settings) -> dict[Name, Given]:
    """Return the event models that were given for columns; a column that has none is left out.

    Raises
    ------
    ValueError
        If there is no such column or event model; it names it.
    """
    if not isinstance(event_models, Mapping):
        given = given_for_all(event_models, settings)
        return dict.fromkeys(rows.names, given) if given else {}
    by_kind: dict[Name, Given] = {}
    by_name: dict[Name, Given] = {}
    for key, choice in event_models.items():
        given = given_for_all(choice, settings)
        if key in KINDS and key not in rows.place:
            kinds = KINDS[key]
            by_kind |= {name: given for name in rows.names if rows.kind(name) in kinds}
            continue
        for name in _names(key):
            if name not in rows.place:
                raise ValueError(f"event_models: {missing_column(name, rows.names)}")
            by_name[name] = given
    return {name: given for name, given in (by_kind | by_name).items() if given}


def given_for_all(choice: Choices, settings: Settings) -> Given:
    """Return event models by name, or as they are; none of them for "auto"."""
    match choice:
        case list() | tuple():
            if not choice or not all(isinstance(one, TextModel) for one in choice):
                raise ValueError(
                    "Several event models of one column must be Text or Patterns, for a text; "
                    f"got {list(choice)}."
                )
            return tuple(of_text(one, settings) for one in dict.fromkeys(choice))
        case "auto":
            return ()
        case "text":
            return settings.texts
        case TextModel():
            return (of_text(choice, settings),)
        case _:
            return (_event_model(choice, settings),)


def of_text(analyser: TextModel, settings: Settings) -> TextModel:
    """Return an analyser with its event model as an object, which must count tokens."""
    event = _event_model(analyser.event, settings)
    if not isinstance(event, BagOfCounts | Bernoulli):
        raise ValueError(  # noqa: TRY004  (it is a setting that is wrong)
            f"{analyser} has a {event.name} event model, which cannot count the tokens of texts; "
            "choose multinomial, bernoulli or complement."
        )
    return analyser.with_event(event)


def _event_model(choice: object, settings: Settings) -> EventModel:
    if isinstance(choice, EventModel):
        return choice.asked(settings.estimate)
    if choice not in EVENT_MODELS:
        names = ", ".join([*EVENT_MODELS, "text", "auto"])
        raise ValueError(f"There is no event model {choice!r}; there are {names}.")
    return settings.make(EVENT_MODELS[choice])


def given_among(event_models: EventModels, rows: Rows) -> EventModels:
    """Return what a mapping gives for the columns of these rows, which may be fewer than it names.

    A kind of columns stays in it.
    """
    if not isinstance(event_models, Mapping):
        return event_models
    return {
        name: choice
        for key, choice in event_models.items()
        for name in _names(key)
        if name in rows.place or name in KINDS
    }


def given_as_objects(event_models: EventModels, schema: Schema) -> bool:
    """Whether all columns have event models that were given as objects, with options of their own.

    Examples
    --------
    >>> from naively import Bernoulli, NaiveBayes
    >>> nb = NaiveBayes({"a": Bernoulli()}).fit({"a": [0, 1], "b": [2.5, 7.0]}, ["x", "y"])
    >>> given_as_objects(nb.event_models, nb.schema_)
    False
    """
    if not isinstance(event_models, Mapping):
        return _are_objects(event_models)
    named: set[Name] = set()
    for key, choice in event_models.items():
        if _are_objects(choice):
            kinds = KINDS.get(key, ())
            named |= {*_names(key)}
            named |= {name for name, group in schema.columns.items() if group.kind in kinds}
    return bool(schema.columns) and named.issuperset(schema.columns)


def _names(key: Name | tuple[Name, ...]) -> tuple[Name, ...]:
    return key if isinstance(key, tuple) else (key,)


def _are_objects(choice: Choices) -> bool:
    each = choice if isinstance(choice, list | tuple) else [choice]
    events = (one.event if isinstance(one, TextModel) else one for one in each)
    return not any(isinstance(event, str) for event in events)
