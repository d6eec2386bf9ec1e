"""Groups of columns are known by value: event model, kind, and, of a text, its column and analyser.

Each is written by its name and settings, and made again from them; a file can name nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from naively.counting.analyser import Analyser
from naively.events import EVENT_MODELS
from naively.events.base import EventModel
from naively.events.lift import Lift
from naively.model.file.declared import Saved, read, read_fields, shown
from naively.model.file.formats import SavedKey
from naively.schema.group import GroupKey
from naively.schema.patterns import Patterns
from naively.schema.text import Text

EVENTS: dict[str, type[EventModel]] = {**EVENT_MODELS, Lift.name: Lift}
ANALYSERS: dict[str, type[Analyser]] = {Text.name: Text, Patterns.name: Patterns}


def write_key(key: GroupKey) -> Saved:
    """Return a key as JSON has it.

    Raises
    ------
    TypeError
        If the event model or the analyser is not one of naively's own.
    """
    saved, analyser = None, key.analyser
    if analyser is not None:
        saved = {"name": analyser.name, **_settings(analyser, ANALYSERS, "analyser")}
    return {
        "event": key.event.name,
        "options": _settings(key.event, EVENTS, "event model"),
        "kind": key.kind,
        "column": key.column,
        "analyser": saved,
    }


def read_key(saved: SavedKey) -> GroupKey:
    """Return the key that was written, or raise a ValueError."""
    event = read_event(saved.event, saved.options)
    return GroupKey(event, saved.kind, saved.column, read_analyser(saved.analyser, event))


def read_event(name: str, options: Saved) -> EventModel:
    """Return the event model of this name with these settings, or raise a ValueError."""
    event = EVENTS.get(name)
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
    given = read_fields(made, settings, "analyser", {"EventModel": EventModel})
    return made(**given, event=event)  # type: ignore[call-arg]  # each analyser is a dataclass


def _settings(of: EventModel | Analyser, known: Mapping[str, type], what: str) -> Saved:
    """Return all settings; the event model of an analyser is not among them, but beside them."""
    if known.get(of.name) is not type(of):
        raise TypeError(f"A model file cannot hold the {what} {type(of).__name__}.")
    names = [field.name for field in fields(of)]  # type: ignore[arg-type]  # each is a dataclass
    return {name: getattr(of, name) for name in names if name != "event"}
