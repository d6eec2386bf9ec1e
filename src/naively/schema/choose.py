"""Which event model a column gets: the one it was given, or one that its cells ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Name, title
from naively.counting.tally import Tally
from naively.data.columns import (
    CYCLES,
    Cells,
    Kind,
    Rows,
    SparseRows,
    as_floats,
    missing_column,
)
from naively.data.reading import Asked, ReadAs, read_strings, readings_with_words, unheld
from naively.events import EVENT_MODELS, Bernoulli, Categorical, EventModel, JointTable, Multinomial
from naively.events.bags import BagOfCounts
from naively.kernels.strings import Strings
from naively.messages import warn
from naively.schema.schema import SHOWN, Group, GroupKey, Schema, TimePart, list_names
from naively.schema.settings import PURE, Settings
from naively.schema.settle import (
    MANY,
    OF_NUMBERS,
    WORDS,
    counted_as,
    forms_of,
    is_many,
    reads_as_text,
    regroup,
)
from naively.schema.text import Text, TextModel, text_group

# --- The event model of each column: as it was given, or by what the column holds ----------------
#
# Numbers are histograms, booleans and columns of 0 and 1 Bernoulli, strings categories or texts by
# what they look like, counts in a sparse matrix and texts multinomial. Times, and strings that are
# all ISO 8601 times, are numbers (seconds since 1970) and have parts that are categories (see
# ``naively.data.columns``). Which event model a column has that was given none, its counts decide
# in the end (see ``naively.schema.settle``); this file decides how rows are counted until then.


SAMPLE = 20_000  # strings that are looked at to tell texts from categories
MOST_CELLS = 100_000_000  # of columns of a sparse matrix that are read as a table
ABOVE_1 = 10  # columns like counts that hold more than 1, or a tenth of them
COUNTS = "counts: whole numbers, none negative, mostly 0 in a sparse matrix"
FIRST = 100  # numbers that are looked at before a whole column is
SEQUENCE = 50  # whole numbers in a column, before it is said to be a sequence
SEQUENTIAL = "whole numbers in sequence, none twice: like an identifier"


def infer(
    rows: Rows, event_models: EventModels = "auto", settings: Settings | None = None
) -> Schema:
    """Choose an event model for each column of rows that were read, unless it was given one."""
    settings = settings or PURE
    if rows.one_kind and not isinstance(event_models, Mapping):
        return _of_one_kind(rows, rows.one_kind, given_for_all(event_models, settings), settings)
    given = {} if event_models == "auto" else given_by_column(event_models, rows, settings)
    groups: dict[GroupKey, list[Name]] = {}
    notes = {name: of.note for name, of in rows.readings.items() if of.is_levels and of.note}
    free: set[Name] = set()
    others = [name for name in rows.names if name not in given]
    counts = counts_in(rows, others) if isinstance(rows, SparseRows) else {}
    notes |= counts
    for name in rows.names:
        kind = rows.kind(name)
        if kind is None:
            continue  # nothing to go by: it may become anything later
        if name in given:
            notes[name] = "given"
            keys = [_as_given(name, kind, one) for one in given[name]]
        else:
            keys = _by_content(rows, name, kind, settings, counts)
        for key in keys:
            groups.setdefault(key, []).append(name)
        if name in given:
            continue
        if keys[0].kind == "time":
            of_parts = groups.setdefault(GroupKey(Categorical.of_options(settings), "part"), [])
            parts = (TimePart(name, part) for part in CYCLES)
            of_parts.extend(part for part in parts if title(part) not in rows.place)
        elif kind in ("number", "string") and name not in counts:
            free.add(name)
            if kind == "number" and rows.one_kind is None and _is_sequence(rows.cells(name)):
                notes[name] = SEQUENTIAL
    made = (_group(key, tuple(names)) for key, names in groups.items() if names)
    readings = {n: of for n, of in rows.readings.items() if not of.is_levels or of.missing}
    schema = Schema(tuple(made), rows.names, notes, frozenset(free), readings)
    return _with_words(schema, rows) if rows.words and settings.counts_missing else schema


def _of_one_kind(rows: Rows, kind: Kind, given: Given, settings: Settings) -> Schema:
    """Return the schema of a matrix without a look at each of its columns."""
    columns = rows.names
    if isinstance(columns, tuple):
        columns = tuple(name for name in columns if rows.kind(name) is not None)
    if not columns:
        return Schema((), rows.names)
    if given:
        key = _as_given(columns[0], kind, given[0])
        notes = dict.fromkeys(columns, "given") if len(columns) <= SHOWN else {}
        return Schema((_group(key, columns),), rows.names, notes)
    if kind == "boolean":
        (key,) = _by_content(rows, columns[0], kind, settings)
        return Schema((_group(key, columns),), rows.names)
    counts = counts_in(rows, columns) if isinstance(rows, SparseRows) else {}
    free = [name for name in columns if name not in counts]
    truths = truths_of(rows, free)
    groups = []
    for model, some in (
        (Multinomial, [name for name in columns if name in counts]),
        (Bernoulli, [name for name in free if name in truths]),
        (OF_NUMBERS, [name for name in free if name not in truths]),
    ):
        of = columns if len(some) == len(columns) else tuple(some)
        groups += [Group(model.of_options(settings), kind, of)] if of else []
    notes = dict(islice(counts.items(), None if len(columns) <= SHOWN else 1))
    return Schema(tuple(groups), rows.names, notes, frozenset(free))


def counts_in(rows: SparseRows, columns: Sequence[Name]) -> Mapping[Name, str]:
    """Return which columns of a sparse matrix are counts, and why: those that are like words."""
    # They are whole, never negative and mostly 0, and not nearly all are only 0 and 1, as
    # indicators of levels are. All are counts where the others are too many for a table.
    if not columns:
        return {}
    matrix = rows.select(columns).matrix
    data, column, n = matrix.data, matrix.indices, len(rows)
    with np.errstate(invalid="ignore"):
        odd = ~((data >= 0) & (data == np.floor(data)) & (data < np.inf))
    counts = 2 * np.bincount(column[data != 0], minlength=len(columns)) <= n
    counts[column[odd]] = False
    above_1 = int((counts & (np.bincount(column[data > 1], minlength=len(columns)) > 0)).sum())
    counts &= above_1 > max(1, min(ABOVE_1, 0.1 * counts.sum()))
    if n * int((~counts).sum()) > MOST_CELLS:
        below = column[~(data >= 0)]
        if len(below):
            raise ValueError(
                f"Column {title(columns[int(below[0])])!r} of the sparse matrix holds negative or "
                "missing numbers, so they are no counts, and it is too large to be read as a "
                "table of numbers; make them positive (a HashingVectorizer has "
                "alternate_sign=False), or give event_models='gaussian'."
            )
        warn(
            f"The sparse matrix has {n:,} rows of {len(columns):,} columns, too many for a table "
            "of numbers: they are counted as words are, as event_models='multinomial' says."
        )
        return dict.fromkeys(columns, "counts: the sparse matrix is too large for a table")
    return {columns[j]: COUNTS for j in np.flatnonzero(counts).tolist()}


def extend(
    schema: Schema, rows: Rows, event_models: EventModels = "auto", settings: Settings | None = None
) -> Schema:
    """Return how these rows are counted: known columns as they are, new ones as inferred."""
    # A column that was missing throughout until now is new. One that was given no event model is
    # counted as these rows must be: as numbers, if they are not 0 and 1 any more.
    settings = settings or PURE
    rows = read_as_given(rows, event_models, settings, schema)
    here = schema.named(rows).readings
    if schema.readings:
        readings = {name: here.get(name, unheld(of)) for name, of in schema.readings.items()}
        schema = replace(schema, readings=readings)
    turned = {  # from levels to what the model's levels and these rows together are
        name
        for name, reading in rows.readings.items()
        if name in schema.free and schema.kinds[name] == "string" and not reading.is_levels
    }
    known: AbstractSet[Name] = schema.columns.keys()
    if turned:
        schema, known = regroup(schema, dict.fromkeys(turned, ())), known - turned
    if not schema.by_place(rows) and not known >= {*rows.names}:
        fresh = rows.select([name for name in rows.names if name not in known])
        schema = schema.union(infer(fresh, given_among(event_models, fresh), settings))
    for group in schema.groups:
        if any(schema.notes.get(name) == COUNTS for name in group.columns[:1]):
            _check_whole(schema.named(rows), group.columns)
    schema = _as_needed(schema, rows, settings)
    return _with_words(schema, rows) if rows.words and settings.counts_missing else schema


def _check_whole(rows: Rows, columns: Sequence[Name]) -> None:
    """Raise a ValueError if columns that were counts hold fractions."""
    there = [name for name in columns if name in rows.place]
    found = rows.select(there)
    cells = found.matrix.data if isinstance(found, SparseRows) else found.numbers(there)
    if (cells % 1 > 0).any():
        raise ValueError(
            f"Column {list_names(there)} held counts until now, and holds fractions; if they are "
            "numbers, give event_models='histogram' from the first rows on."
        )


def _with_words(schema: Schema, rows: Rows) -> Schema:
    """Return the schema that counts words in place of values too, of columns that have some."""
    every = schema.named(rows)
    readings = {**schema.readings, **readings_with_words(every)}
    counted = {name for group in schema.groups if group.kind == "word" for name in group.columns}
    new = every.words.keys() & schema.columns.keys() - counted
    to = tuple(name for name in schema.order if name in new)
    words = Schema((Group(WORDS, "word", to),) if to else (), schema.order)
    return replace(schema.union(words), readings=readings)


def _as_needed(schema: Schema, rows: Rows, settings: Settings) -> Schema:
    """Return the schema in which free columns that these rows do not fit are in other groups."""
    if not schema.free or not len(rows):
        return schema
    to: dict[Name, Sequence[Group]] = {}
    rows = schema.named(rows)
    for group in schema.of_columns:
        if type(group.event) not in (Bernoulli, Categorical):
            continue
        free = (n for n in group.columns if n in schema.free and n in rows.place)
        names = tuple(name for name in free if rows.kind(name) == group.kind)
        match group.event:
            case Bernoulli() if names:
                numbers = Group(OF_NUMBERS.of_options(settings), "number", ())
                truths = truths_of(rows, names)
                to |= {name: [numbers] for name in names if name not in truths}
            case Categorical():
                texts = (name for name in names if is_many_texts(rows, name, settings))
                to |= {name: [text_group(name, text) for text in settings.texts] for name in texts}
    return regroup(schema, to) if to else schema


def _group(key: GroupKey, columns: range | tuple[Name, ...]) -> Group:
    event = key.event
    if isinstance(event, JointTable):
        event = replace(event, columns=tuple(columns))
    return Group(event, key.kind, columns, key.analyser)


def _as_given(name: Name, kind: Kind, given: EventModel | TextModel) -> GroupKey:
    """Return the group of a column that was given an event model, which must count its kind."""
    # Tokens of texts are counted by multinomial and Bernoulli event models, levels by categorical
    # ones, and whole rows of columns, of whatever kinds, by a joint table.
    of_strings = kind in ("string", "text")
    if isinstance(given, Bernoulli) and given.success is not None:
        raise ValueError(
            f"Bernoulli success={given.success!r} is for a plain sample; for column "
            f"{title(name)!r} give whether each cell is {given.success!r}, or choose categorical."
        )
    match given:
        case JointTable():
            return GroupKey(given, "string")
        case TextModel() if of_strings:
            return text_group(name, given).key
        case TextModel():
            raise ValueError(f"Column {title(name)!r} holds {kind}s, not text.")
        case _ if not of_strings:
            return GroupKey(given, kind)
        case BagOfCounts() | Bernoulli():
            return text_group(name, Text(event=given)).key
        case Categorical():
            if kind == "text":
                raise ValueError(f"Column {title(name)!r} holds lists of words, no categories.")
            other = [level for level in given.declared if not isinstance(level, str)]
            if other:
                raise ValueError(
                    f"Column {title(name)!r} holds strings, and levels= declares {other[0]!r}."
                )
            return GroupKey(given, "string")
        case _:
            raise ValueError(
                f"Column {title(name)!r} holds strings, which a {given.name} event model cannot "
                "count; choose categorical, multinomial, bernoulli or text."
            )


def _by_content(
    rows: Rows, name: Name, kind: Kind, settings: Settings, counts: Collection[Name] = ()
) -> list[GroupKey]:
    """Return the groups of a column that was given no event model; only a text has several."""
    if kind == "text" or (kind == "string" and is_many_texts(rows, name, settings)):
        return [text_group(name, text).key for text in settings.texts]
    if kind == "time":
        return [GroupKey(OF_NUMBERS.of_options(settings), "time")]
    if kind == "string":
        return [GroupKey(Categorical.of_options(settings), kind)]
    if name in counts:
        return [GroupKey(Multinomial.of_options(settings), kind)]
    truths = kind == "boolean" or _is_truth(rows, name)
    return [GroupKey((Bernoulli if truths else OF_NUMBERS).of_options(settings), kind)]


def truths_of(rows: Rows, names: Sequence[Name]) -> set[Name]:
    """Return the columns of numbers in which each cell is 0, 1 or missing."""
    first = rows.take(slice(0, FIRST)).numbers(names)
    maybe = ((first == 0) | (first == 1) | np.isnan(first)).all(axis=0)
    maybe = np.flatnonzero(maybe).tolist()
    return {names[j] for j in maybe if _is_truth(rows, names[j])}


def _is_truth(rows: Rows, name: Name) -> bool:
    column = as_floats(rows.cells(name))
    return all(((x == 0) | (x == 1) | np.isnan(x)).all() for x in (column[:FIRST], column))


def is_many_texts(rows: Rows, name: Name, settings: Settings) -> bool:
    """Whether a sample of a column has so many different texts that it holds no categories."""
    column = rows.cells(name)
    step = max(1, len(column) // SAMPLE)
    if not isinstance(column, Strings):
        return False
    sample = column if step == 1 else column[::step]
    if len(sample.different) <= MANY:
        return False
    strings = list(map(str, sample.different))
    blocks = settings.counts_blocks
    return is_many(strings) and reads_as_text(strings, len(sample), blocks=blocks)


def _is_sequence(column: Cells) -> bool:
    """Whether a column, of shape (rows,), holds whole numbers, none twice, in a narrow range."""
    # The range is less than twice as wide as there are rows. Row numbers are in one, and so is the
    # half of them that a random split leaves; fifty random numbers from such a range are all
    # different less often than once in a million.
    if isinstance(column, Strings) or column.dtype.kind not in "iu" or len(column) < SEQUENCE:
        return False
    low, high = int(column.min()), int(column.max())
    if high - low >= 2 * len(column):
        return False
    whole = column if column.dtype.kind == "u" else column.astype(np.int64)
    return int(np.bincount((whole - whole.min()).astype(np.int64)).max()) == 1


# --- The event models that were given: one for all, or by the name or the kind of a column -------


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


CONTENTS: tuple[Asked, ...] = ("number", "time", "clock", "truth", "levels")  # beside event models


def read_as_given(
    rows: Rows,
    event_models: EventModels = "auto",
    settings: Settings = PURE,
    schema: Schema | None = None,
    tally: Tally | None = None,
    times: NDArray[np.number] | None = None,
) -> Rows:
    """Return rows in which columns of strings are read: as they were given, or as what they are."""
    # Columns that a schema knows are read as it says. If a tally is given, what was counted of
    # columns that were given no event model and were levels, and these rows, say together what they
    # are. ``times`` is how many equal rows each row is.
    rows = rows if schema is None else schema.named(rows)
    if rows.one_kind is not None:
        return rows
    known = {} if schema is None else schema.known_readings
    contents = {} if event_models == "auto" else contents_given(event_models, rows.names)
    said = ReadAs(contents, settings, times)
    if schema is None or tally is None or schema.by_place(rows):
        return read_strings(rows, said, known)
    free = {name for name in schema.free if schema.kinds.get(name) == "string"}
    alone = read_strings(rows, said, {n: of for n, of in known.items() if n not in free})
    maybe = {name for name in free & alone.readings.keys() if not alone.readings[name].is_levels}
    if not maybe:
        return alone
    before = {
        name: of
        for group in schema.of_columns
        if counted_as(group) == "levels" and not maybe.isdisjoint(group.columns)
        for name, of in forms_of(tally.blocks[group.key].of(maybe)).items()
    }
    known = {name: of for name, of in known.items() if name not in maybe}
    return read_strings(rows, said, known, before)


def contents_given(event_models: EventModels, names: Iterable[Name]) -> dict[Name, Asked]:
    """Return what columns of strings are, by the event models that were given."""
    # Categories and texts are taken as they are written, and what counts numbers reads numbers.
    if not isinstance(event_models, Mapping):
        content = _content_of(event_models)
        return dict.fromkeys(names, content) if content else {}
    found: dict[Name, Asked] = {}
    for key, choice in event_models.items():
        content = _content_of(choice)
        if content:
            found |= dict.fromkeys(_names(key), content)
    return found


def _content_of(choice: Choices) -> Asked | None:
    match choice:
        case "text" | list() | tuple() | TextModel():
            return "levels"
        case str() if choice in CONTENTS:
            return choice
        case str():
            event: Any = EVENT_MODELS.get(choice)
        case _:
            event = type(choice)
    if event is None or issubclass(event, JointTable | BagOfCounts | Bernoulli):
        return None
    return "levels" if issubclass(event, Categorical) else "numbers"


def given_by_column(event_models: EventModels, rows: Rows, settings: Settings) -> dict[Name, Given]:
    """Return the event models that were given for columns; a column that has none is left out."""
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
        case "auto" | "number" | "time" | "clock" | "truth":
            return ()
        case "levels":
            return (Categorical.of_options(settings),)
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
        names = ", ".join([*EVENT_MODELS, "text", "auto", *CONTENTS])
        raise ValueError(f"There is no event model {choice!r}; there are {names}.")
    return EVENT_MODELS[choice].of_options(settings)


def given_among(event_models: EventModels, rows: Rows) -> EventModels:
    """Return what a mapping gives for the columns of these rows; it may name more of them."""
    # A kind of columns stays in it.
    if not isinstance(event_models, Mapping):
        return event_models
    return {
        name: choice
        for key, choice in event_models.items()
        for name in _names(key)
        if name in rows.place or name in KINDS
    }


def given_as_objects(event_models: EventModels, schema: Schema) -> bool:
    """Whether all columns have event models that were given as objects, not by name."""
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
