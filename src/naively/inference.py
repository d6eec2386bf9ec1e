"""The event model of each column: as it is named, or by what the column holds.

Numbers are histograms, booleans and columns of 0 and 1 Bernoulli, strings categories or texts by
what they look like, sparse matrices and texts multinomial. Times, and strings that are all ISO 8601
times, are numbers (seconds since 1970) and have parts that are categories (see
``naively.data.times``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.core.analyser import Analyser
from naively.core.axis import title
from naively.core.event import PSEUDO_COUNTS, How
from naively.data.columns import Kind, Name
from naively.data.rows import Rows, SparseRows
from naively.data.text import Text
from naively.data.times import parse_times, part_name, worthwhile
from naively.events import (
    EVENT_MODELS,
    Bernoulli,
    Categorical,
    Complement,
    EventModel,
    Gaussian,
    Histogram,
    JointTable,
    LogNormal,
    Multinomial,
)
from naively.events.multinomial import BagOfCounts
from naively.schema import SHOWN, Group, Schema, list_names

Choice: TypeAlias = "str | EventModel | Analyser"
Choices: TypeAlias = "Choice | Sequence[Analyser]"
EventModels: TypeAlias = "Choices | Mapping[Any, Choices]"

TextBlocks: TypeAlias = Literal["words", "blocks"]

OF_NUMBERS = Histogram  # unless they are named, or sparse
TEXT_WORDS = 4.0  # strings with this many words on average, and mostly distinct, are texts
TEXT_DISTINCT = 0.5
SAMPLE = 10_000  # strings that are looked at to tell texts from categories
SHORT = 1_500  # characters, up to which runs of them are counted too
PRESENCE = 0.5  # the pseudo-count of words that count once in a text
FIRST = 100  # numbers that are looked at before a whole column is
SEQUENCE = 50  # so many whole numbers, none twice, within twice as wide a range are a sequence
SEQUENTIAL = "whole numbers in sequence, none twice: like an identifier"
# How event models choose their pseudo-count by themselves (others do as they say), and the option
# that it is given by, where that is not alpha.
AUTO: dict[type[EventModel], dict[str, Any]] = {
    Bernoulli: {"alpha": "auto"},
    Categorical: {"m": "auto"},
    Complement: {"alpha": "auto"},
    Multinomial: {"alpha": "auto"},
}
OPTION: dict[type[EventModel], str] = {Gaussian: "smoothing", LogNormal: "smoothing"}
KINDS: dict[str, tuple[Kind, ...]] = {  # what a mapping may name beside columns
    "number": ("number",),
    "boolean": ("boolean",),
    "string": ("string", "text"),
    "time": ("time",),
}


@dataclass(frozen=True)
class Usual:
    """The settings of event models that are not given as objects.

    Parameters
    ----------
    estimate : {"mean", "map", "mle", "predictive"}
        How parameters are estimated.
    smoothing : "auto", "laplace", "jeffreys" or float
        The pseudo-count of each outcome (a level, true and false, a word, a bin), or, where
        outcomes cannot be counted, the pretend rows in each class; "laplace" is 1, "jeffreys" 1/2.
        "auto" is chosen by leave-one-out where an event model can.
    text : {"words", "blocks"}
        What is counted of a text: its words; or words, pairs of words, and, where texts are short,
        runs of characters, each once, as blocks of their own (see docs/decisions/0006-text.md).
    """

    estimate: How = "mean"
    smoothing: float | str = "auto"
    text: TextBlocks = "words"

    def make(self, model: type[EventModel]) -> EventModel:
        """Return an event model with these settings."""
        count = self.pseudo_count
        given = AUTO.get(model, {}) if count is None else {OPTION.get(model, "alpha"): count}
        return model(estimate=self.estimate, **given)  # type: ignore[call-arg]

    @property
    def pseudo_count(self) -> float | None:
        """The number that ``smoothing`` stands for; None: it is chosen."""
        if self.smoothing == "auto":
            return None
        if isinstance(self.smoothing, str):
            return PSEUDO_COUNTS[self.smoothing]
        return float(self.smoothing)

    def texts(self, column: NDArray[Any]) -> tuple[Text, ...]:
        """Return how a column of texts is counted, unless it is said."""
        if self.text == "words":
            return (Text(),)
        alpha = PRESENCE if self.pseudo_count is None else self.pseudo_count
        event = Multinomial(alpha, estimate=self.estimate)
        blocks = (
            Text(binary=True, event=event),
            Text(ngram_range=(2, 2), binary=True, event=event),
            Text(analyzer="char_wb", ngram_range=(2, 5), binary=True, event=event),
        )
        some = [text for text in column[:: max(1, len(column) // SAMPLE)].tolist() if text]
        short = all(isinstance(text, str) for text in some) and (
            not some or float(np.median([len(text) for text in some])) <= SHORT
        )
        return blocks if short else blocks[:2]


def check_smoothing(smoothing: Any) -> None:
    """Raise a ValueError unless this is a pseudo-count, or a name for one."""
    if isinstance(smoothing, str):
        if smoothing in ("auto", *PSEUDO_COUNTS):
            return
    elif isinstance(smoothing, Real) and 0 <= float(smoothing) < math.inf:
        return
    names = ", ".join(map(repr, ("auto", *PSEUDO_COUNTS)))
    raise ValueError(f"smoothing must be {names} or a number of at least 0, got {smoothing!r}.")


@dataclass(frozen=True)
class Chosen:
    """What was chosen for a column; a text is a group of its own, with an analyser."""

    event: EventModel
    kind: Kind
    analyser: Analyser | None = None
    note: str | None = None
    moments: NDArray[np.datetime64] | None = None  # of a time that is to have parts


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
    groups: dict[tuple[EventModel, Kind, Analyser | None, Name | None], list[Name]] = {}
    notes = {}
    for name in rows.names:
        kind = rows.kind(name)
        if kind is None:
            continue  # nothing to go by: it may become anything later
        given = named.get(name) if isinstance(named, Mapping) else named
        every = given if isinstance(given, tuple) else (given,)
        is_text = kind == "text" or (kind == "string" and _looks_like_text(rows, name))
        if (given is None and is_text) or (given == "text" and kind in ("string", "text")):
            every = usual.texts(rows.values(name))
        for one in every:
            chosen = _choose(rows, name, kind, one, usual)
            own = name if chosen.kind == "text" else None
            group = chosen.event, chosen.kind, chosen.analyser, own
            groups.setdefault(group, []).append(name)
        if given is not None:
            notes[name] = "given"
        elif chosen.note:
            notes[name] = chosen.note
        if chosen.moments is not None:
            parts = [part_name(name, part) for part in worthwhile(chosen.moments)]
            of_parts = groups.setdefault((usual.make(Categorical), "part", None, None), [])
            of_parts.extend(part for part in parts if part not in rows.place)
    made = (
        _group(event, kind, tuple(names), analyser)
        for (event, kind, analyser, _), names in groups.items()
        if names
    )
    return Schema(tuple(made), rows.names, notes)


def _one_group(rows: Rows, kind: Kind, given: Choice | None, usual: Usual) -> Schema:
    """Return the schema of a matrix without a look at each of its columns."""
    columns = rows.names
    if isinstance(columns, tuple):
        columns = tuple(name for name in columns if rows.kind(name) is not None)
    if not columns:
        return Schema((), rows.names)
    numbers = given is None and kind == "number" and not isinstance(rows, SparseRows)
    truths = _truths(rows, columns) if numbers else set()
    if 0 < len(truths) < len(columns):
        of = {
            model: [c for c in columns if (c in truths) == (model is Bernoulli)]
            for model in (Bernoulli, OF_NUMBERS)
        }
        groups = (_group(usual.make(model), kind, tuple(some)) for model, some in of.items())
        return Schema(tuple(groups), rows.names)
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
        event = choice.event if isinstance(choice, Analyser) else choice
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
    """Return the schema of these rows: known columns as they are, new ones inferred.

    A column that was missing throughout until now is new.
    """
    known = schema.columns
    by_place = isinstance(rows.names, range) or not schema.names
    if by_place or all(name in known for name in rows.names):
        return schema
    fresh = rows.select([name for name in rows.names if name not in known])
    return schema.union(infer(fresh, _for_some(event_models, fresh), usual))


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
    analyser: Analyser | None = None,
) -> Group:
    if isinstance(event, JointTable):
        event = replace(event, columns=tuple(columns))
    return Group(event, kind, columns, analyser)


def _named(event_models: EventModels, rows: Rows, usual: Usual) -> Any:
    """Return what was named: None, "text", an event model, or these by column."""

    def resolve(chosen: Any) -> Any:
        if isinstance(chosen, list | tuple):  # several of one text
            if not chosen or not all(isinstance(one, Analyser) for one in chosen):
                raise ValueError(
                    "Several event models of one column must be Text or Patterns, for a text; "
                    f"got {list(chosen)}."
                )
            return tuple(dict.fromkeys(chosen))
        if chosen == "auto":
            return None
        as_it_is = chosen == "text" or isinstance(chosen, Analyser)
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
    if chosen == "text" or isinstance(chosen, Analyser):
        raise ValueError(f"Column {title(name)!r} holds {kind}s, not text.")
    assert isinstance(chosen, EventModel)
    return Chosen(chosen, kind)


def _of_strings(rows: Rows, name: Name, kind: Kind, chosen: Choice, usual: Usual) -> Chosen:
    if isinstance(chosen, Analyser):
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


def _text(analyser: Analyser, usual: Usual) -> Chosen:
    event = event_model(analyser.event, usual)
    if not isinstance(event, BagOfCounts | Bernoulli):
        raise ValueError(  # noqa: TRY004
            f"{analyser} has a {event.name} event model, which cannot count the tokens of texts; "
            "choose multinomial, bernoulli or complement."
        )
    return Chosen(event, "text", analyser.with_event(event))


def _default(rows: Rows, name: Name, kind: Kind, usual: Usual) -> Chosen:
    moments = rows.values(name) if kind == "time" else None
    if kind == "string":
        moments = parse_times(rows.values(name))
    if moments is not None:
        return Chosen(usual.make(OF_NUMBERS), "time", moments=moments)
    if kind == "string":
        return Chosen(usual.make(Categorical), kind)
    if kind == "boolean":
        return Chosen(usual.make(Bernoulli), kind)
    if isinstance(rows, SparseRows):
        return Chosen(usual.make(Multinomial), kind)
    if _is_truth(rows.numbers([name])[:, 0]):
        return Chosen(usual.make(Bernoulli), kind)
    note = SEQUENTIAL if rows.one_kind is None and _is_sequence(rows.values(name)) else None
    return Chosen(usual.make(OF_NUMBERS), kind, note=note)


def _truths(rows: Rows, names: Sequence[Name]) -> set[Name]:
    """Return the columns of a matrix that hold 0 and 1."""
    first = rows.take(slice(0, FIRST)).numbers(names)
    maybe = np.flatnonzero(((first == 0) | (first == 1) | np.isnan(first)).all(axis=0))
    return {names[j] for j in maybe.tolist() if _is_truth(rows.numbers([names[j]])[:, 0])}


def _is_truth(column: NDArray[np.floating]) -> bool:
    """Whether numbers are 0 and 1, both, and nothing else but missing."""
    for some in (column[:FIRST], column):
        if not ((some == 0) | (some == 1) | np.isnan(some)).all():
            return False
    return bool((column == 0).any() and (column == 1).any())


def _looks_like_text(rows: Rows, name: Name) -> bool:
    column = rows.values(name)
    step = max(1, len(column) // SAMPLE)
    texts = [text for text in column[::step].tolist() if text is not None]
    if not texts or len(set(texts)) < TEXT_DISTINCT * len(texts):
        return False
    return sum(len(text.split()) for text in texts) >= TEXT_WORDS * len(texts)


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
