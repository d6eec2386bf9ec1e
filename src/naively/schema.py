"""The schema: which columns go to which event model, and how they are encoded.

The only place where data and event models meet. A group is all columns of one event model; it
becomes one block.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from naively.core.axis import Axis, Columns, Levels, Words, title
from naively.core.block import Block
from naively.core.event import How
from naively.data.encode import encode_numbers, encode_texts, find_levels, look_up_levels
from naively.data.rows import Kind, MatrixRows, Name, PaddedRows, RenamedRows, Rows, SparseRows
from naively.events import EVENT_MODELS, Bernoulli, Categorical, EventModel, Gaussian, Multinomial

EventModels: TypeAlias = "str | EventModel | Mapping[str, str | EventModel]"

TEXT_WORDS = 4.0  # strings with this many words on average, and mostly distinct, are texts
TEXT_DISTINCT = 0.5
USUAL_KIND: dict[str, Kind] = {
    "gaussian": "number",
    "bernoulli": "boolean",
    "categorical": "string",
    "multinomial": "number",
}
SAMPLE = 10_000  # strings that are looked at to tell texts from categories


@dataclass(frozen=True)
class Group:
    """The columns of one event model, and what kind of values they held in training.

    The name follows from event model and kind (and column, of a text), so that groups made apart
    have the same name exactly if they are the same.
    """

    name: str
    event: EventModel
    kind: Kind
    columns: range | tuple[Name, ...]

    def encode(self, rows: Rows, axis: Axis | None) -> Block:
        """Encode these columns, by a known axis or by finding one; lacking columns are missing."""
        columns = self.columns if axis is None else axis.columns
        assert isinstance(columns, range | tuple)
        if self.kind == "text":
            assert axis is None or isinstance(axis, Words)
            return encode_texts(rows, columns[0], axis)
        if self.event.layout == "levels":
            if axis is None:
                return find_levels(rows, columns)
            assert isinstance(axis, Levels)
            return look_up_levels(rows, axis)
        return encode_numbers(rows, columns, sparse=self.event.sparse)


@dataclass(frozen=True)
class Schema:
    """Groups of columns; every column is in one.

    Printed, it says one line a group.
    """

    groups: tuple[Group, ...]
    order: range | tuple[Name, ...]  # all columns, as they came

    @classmethod
    def infer(
        cls, rows: Rows, event_models: EventModels = "auto", estimate: How = "mean"
    ) -> Schema:
        """Choose an event model for each column, unless it is named.

        ``estimate`` is for those that are chosen here or named; an event model that is given as
        an object has its own.

        Numbers are Gaussian, booleans Bernoulli, strings categories or texts by what they look
        like (at least four words on average, and mostly distinct, is text), sparse matrices and
        texts multinomial.
        """
        named = _named(event_models, rows, estimate)
        if isinstance(rows.names, range) and not isinstance(event_models, Mapping):
            kinds = {rows.kind(name) for name in _varied(rows, rows.names)} or {"number"}
            kind = kinds.pop()
            if kind is not None and not kinds:
                event = (
                    named if isinstance(named, EventModel) else _default(rows, 0, kind, estimate)[0]
                )
                group = Group(_group_name(event, kind), event, kind, rows.names)
                return cls((group,), rows.names)
        groups: dict[tuple[EventModel, Kind, Name | None], list[Name]] = {}
        for name in rows.names:
            chosen = named.get(name) if isinstance(named, Mapping) else named
            event, kind = _choose(rows, name, chosen, estimate)
            own = name if kind == "text" else None  # each text is a group of its own
            groups.setdefault((event, kind, own), []).append(name)
        return cls(
            tuple(
                Group(_group_name(event, kind, own), event, kind, tuple(names))
                for (event, kind, own), names in groups.items()
            ),
            rows.names,
        )

    @cached_property
    def columns(self) -> dict[Name, Group]:
        """Each column's group, in the order of the columns."""
        of = {name: group for group in self.groups for name in group.columns}
        return {name: of[name] for name in self.order}

    @property
    def names(self) -> list[str]:
        """The columns that have names, rather than places in an array."""
        if isinstance(self.order, range):
            return []
        return [name for name in self.order if isinstance(name, str)]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.order)

    @property
    def event_models(self) -> dict[str, EventModel] | EventModel | str:
        """What to choose to learn like this again."""
        named = {name: self.columns[name].event for name in self.names}
        return named or (self.groups[0].event if len(self.groups) == 1 else "auto")

    def encode(self, rows: Rows, axes: Mapping[str, Axis] | None = None) -> dict[str, Block]:
        """Encode rows into one block a group, by known axes, or finding them.

        Raises
        ------
        ValueError
            If a column holds another kind of values than in training; it names the column.
        """
        rows = self.match(rows)
        return {
            group.name: group.encode(rows, None if axes is None else axes.get(group.name))
            for group in self.groups
        }

    def match(self, rows: Rows) -> Rows:
        """Return the rows with exactly these columns, or say which differ."""
        if len(self.groups) == 1 and rows.names == self.groups[0].columns:
            _check_kind(rows, self.groups[0], rows.names)
            return rows
        known = self.columns
        if all(isinstance(name, int) for name in known) or isinstance(rows.names, range):
            return self._match_by_place(rows)
        lacking = [name for name in known if name not in set(rows.names)]
        extra = [name for name in rows.names if name not in known]
        if lacking and len(lacking) == len(known):
            raise ValueError(
                "None of the columns that were learned is in the table: it has "
                f"{_list(rows.names)}, but {_list(known)} were learned."
            )
        if lacking:
            warnings.warn(f"No column {_list(lacking)}: counted as missing.", stacklevel=2)
        if extra:
            warnings.warn(f"Column {_list(extra)} was not learned: ignored.", stacklevel=2)
        for group in self.groups:
            _check_kind(rows, group, [name for name in group.columns if name in set(rows.names)])
        return PaddedRows(rows, tuple(known)) if lacking else rows

    def _match_by_place(self, rows: Rows) -> Rows:
        known = self.columns
        if len(rows.names) != len(known):
            raise ValueError(
                f"X has {len(rows.names)} features, but NaiveBayes is expecting {len(known)} "
                "features as input."
            )
        by_place = rows if set(rows.names) == set(known) else RenamedRows(rows, tuple(known))
        for group in self.groups:
            _check_kind(by_place, group, group.columns)
        return by_place

    def union(self, other: Schema) -> Schema:
        """Return the schema with the columns of both; a column must have one event model."""
        if self.order and other.order and bool(self.names) != bool(other.names):
            raise ValueError(
                "The columns have names in one model and only places in the other; "
                "they cannot be merged."
            )
        mine = {group.name: group for group in self.groups}
        for group in other.groups:
            own = mine.get(group.name, replace(group, columns=()))
            if own.columns != group.columns:
                self._check_same(group)
                columns = _union(own.columns, group.columns) if own.columns else group.columns
                mine[group.name] = replace(own, columns=columns)
        return Schema(tuple(mine.values()), _union(self.order, other.order))

    def _check_same(self, group: Group) -> None:
        known = self.columns
        for name in group.columns:
            if name in known and known[name].name != group.name:
                raise ValueError(
                    f"Column {title(name)!r} is {known[name].name} in one model and "
                    f"{group.name} in the other; they cannot be merged."
                )

    def extend(self, rows: Rows, event_models: EventModels, estimate: How = "mean") -> Schema:
        """Return the schema of these rows: known columns as they are, new ones inferred."""
        known = self.columns
        by_place = isinstance(rows.names, range) or not self.names
        if by_place or all(name in known for name in rows.names):
            return self
        fresh = Schema.infer(rows, event_models, estimate)
        kept = []
        for group in fresh.groups:
            names = tuple(name for name in group.columns if name not in known)
            if names:
                kept.append(replace(group, columns=names))
        order = tuple(name for name in rows.names if name not in known)
        return self.union(Schema(tuple(kept), order))

    def __str__(self) -> str:
        return "\n".join(
            f"{group.name}: {_list(group.columns)} ({group.kind}, {group.event})"
            for group in self.groups
        )


def _group_name(event: EventModel, kind: Kind, text: Name | None = None) -> str:
    name = event.name if event == type(event)() else str(event)
    if text is not None:
        return f"{name} {title(text)}"
    return name if kind == USUAL_KIND.get(event.name, kind) else f"{name} of {kind}s"


def _union(a: range | tuple[Name, ...], b: range | tuple[Name, ...]) -> range | tuple[Name, ...]:
    return Columns(a).union(Columns(b))[0].columns


def event_model(chosen: str | EventModel, estimate: How = "mean") -> EventModel:
    """Return an event model by name, or as it is."""
    if isinstance(chosen, EventModel):
        return chosen
    if chosen not in EVENT_MODELS:
        names = ", ".join([*EVENT_MODELS, "text", "auto"])
        raise ValueError(f"There is no event model {chosen!r}; there are {names}.")
    return EVENT_MODELS[chosen](estimate=estimate)  # type: ignore[call-arg]


def _named(event_models: EventModels, rows: Rows, estimate: How) -> Any:
    """Return what was named: None, "text", an event model, or these by column."""

    def resolve(chosen: str | EventModel) -> str | EventModel | None:
        if chosen == "auto":
            return None
        return chosen if chosen == "text" else event_model(chosen, estimate)

    if not isinstance(event_models, Mapping):
        return resolve(event_models)
    unknown = [name for name in event_models if name not in rows.names]
    if unknown:
        raise ValueError(
            f"event_models names the column {unknown[0]!r}, which is not in the table; "
            f"it has {_list(rows.names)}."
        )
    return {name: resolve(chosen) for name, chosen in event_models.items()}


def _choose(
    rows: Rows, name: Name, chosen: str | EventModel | None, estimate: How
) -> tuple[EventModel, Kind]:
    kind = rows.kind(name)
    if kind is None:  # nothing to go by: it may become anything that holds levels
        kind = "string"
    if chosen is None:
        return _default(rows, name, kind, estimate)
    if kind in ("string", "text"):
        if chosen == "text":
            return Multinomial(estimate=estimate), "text"
        assert isinstance(chosen, EventModel)
        if isinstance(chosen, Multinomial | Bernoulli):
            return chosen, "text"
        if not isinstance(chosen, Categorical):
            raise ValueError(
                f"Column {title(name)!r} holds strings, which a {chosen.name} event model cannot "
                "count; choose categorical, multinomial, bernoulli or text."
            )
        return chosen, "string"
    if chosen == "text":
        raise ValueError(f"Column {title(name)!r} holds {kind}s, not text.")
    assert isinstance(chosen, EventModel)
    return chosen, kind


def _default(rows: Rows, name: Name, kind: Kind, estimate: How) -> tuple[EventModel, Kind]:
    if kind == "text" or (kind == "string" and _looks_like_text(rows, name)):
        return Multinomial(estimate=estimate), "text"
    if kind == "string":
        return Categorical(estimate=estimate), kind
    if kind == "boolean":
        return Bernoulli(estimate=estimate), kind
    model = Multinomial if isinstance(rows, SparseRows) else Gaussian
    return model(estimate=estimate), kind


def _looks_like_text(rows: Rows, name: Name) -> bool:
    column = rows.values(name)
    step = max(1, len(column) // SAMPLE)
    texts = [text for text in column[::step].tolist() if text is not None]
    if not texts or len(set(texts)) < TEXT_DISTINCT * len(texts):
        return False
    return sum(len(text.split()) for text in texts) >= TEXT_WORDS * len(texts)


def _check_kind(rows: Rows, group: Group, names: Sequence[Name]) -> None:
    for name in _varied(rows, names):
        kind = rows.kind(name)
        same = kind == group.kind or {kind, group.kind} == {"string", "text"}
        if kind is not None and not same and not _all_missing(rows, name):
            raise ValueError(
                f"Column {title(name)!r} held {group.kind}s in training and holds {kind}s now; "
                "convert it, or train again."
            )


def _all_missing(rows: Rows, name: Name) -> bool:
    """Whether no cell is there; pandas makes a column of floats of that."""
    column = rows.values(name)
    return column.dtype.kind == "f" and bool(np.isnan(column).all())


def _varied(rows: Rows, names: Sequence[Name]) -> Sequence[Name]:
    """Return the columns whose kinds can differ: those of a matrix cannot."""
    return names[:1] if isinstance(rows, MatrixRows | SparseRows) else names


def _list(names: Any, most: int = 10) -> str:
    shown = [repr(title(name)) for name in list(names)[:most]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
