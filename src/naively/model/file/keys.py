"""Groups of columns are known by value: event model, kind, and, of a text, its column and analyser.

Each is written by its name and settings, and made again from them; a file can name nothing else.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from naively.counting.analyser import Analyser
from naively.events import EVENT_MODELS
from naively.events.base import EventModel
from naively.events.lift import Lift
from naively.events.prior import Prior
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
    if EVENTS.get(key.event.name) is not type(key.event):
        raise TypeError(f"A model file cannot hold the event model {type(key.event).__name__}.")
    return {
        "event": key.event.name,
        "options": _write_options(key.event),
        "kind": key.kind,
        "column": key.column,
        "analyser": None if key.analyser is None else _write_analyser(key.analyser),
    }


def read_key(saved: SavedKey) -> GroupKey:
    """Return the key that was written, or raise a ValueError."""
    event = read_event(saved.event, saved.options)
    return GroupKey(event, saved.kind, saved.column, read_analyser(saved.analyser, event))


def write_prior(prior: Prior) -> Saved:
    """Return a conjugate prior by its name and parameters."""
    return {"name": type(prior).__name__, **asdict(prior)}


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


def _write_options(event: Any) -> Saved:
    options = {field.name: getattr(event, field.name) for field in fields(event)}
    if options.get("prior") is not None:
        options["prior"] = write_prior(event.prior)
    return options


def _write_analyser(analyser: Any) -> Saved:
    """Return all settings of an analyser but its event model, which is written beside it."""
    known: type[Any] | None = ANALYSERS.get(analyser.name)
    if known is not type(analyser):
        raise TypeError(f"A model file cannot hold the analyser {type(analyser).__name__}.")
    names = [field.name for field in fields(analyser) if field.name != "event"]
    return {"name": analyser.name, **{name: getattr(analyser, name) for name in names}}
