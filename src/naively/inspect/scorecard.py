"""The scorecard: a model as terms that any program can add up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, replace
from functools import cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from naively import saving
from naively.counting.axis import Derived, Level, Levels, Name, Words, title
from naively.counting.block import BlockKey
from naively.counting.labels import LabelArray
from naively.data.columns import EPOCH, EXACT, Kind
from naively.events import Bernoulli, LogitNormal, LogNormal
from naively.file.parts import write_classes
from naively.frozen import Frozen
from naively.kernels.folding import table_text
from naively.kernels.reference import Floats
from naively.kernels.tokens import UNITS
from naively.messages import Shown, warn
from naively.model.held_out import least_at
from naively.model.model import Model
from naively.schema.schema import BESIDE, EMPTY, Group, TimePart
from naively.schema.text import Text
from naively.terms.functions import Above, Combined, Condition, Line, OneOf, Step, Term
from naively.terms.views import (
    AnyTerm,
    Cell,
    OfCell,
    PresenceTerm,
    Readable,
    TokensTerm,
    With,
    cells_of,
    refused,
)

# --- A scorecard: a model as terms whose numbers are added up, equal to the model's own scores ---
#
# What other programs score rows by (SQL, JavaScript, ONNX) is written from it, so that none of
# them knows an event model.


VERSION = 1

NOT_SEEN = (
    "That a row was seen before is evidence in this model, which other programs leave out: of such "
    "rows they say what the columns say alone; learn with groups='copies' if both are to agree."
)

T = TypeVar("T", bound=AnyTerm)


class Scorecard(Shown, Frozen):
    """A model as numbers to be added up: the score of each class is the sum over all terms.

    Where the score of every class is -inf, the prior decides.

    Parameters
    ----------
    classes : ndarray of shape (classes,)
        The class labels.
    log_prior : ndarray of shape (classes,)
        The log probability of each class before anything is seen.
    start : ndarray of shape (classes,)
        What scores start from, in nats: the log prior and the biases of the weights.
    terms : tuple of Term
        What is added, each by the cells of one column or a few.
    kinds : mapping of str to str
        What each column of the table held in training, by its name, in the table's order.
    sets : mapping of float to float
        How probable a class must be to be in a row's set, by coverage; nothing if it is not known.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes("bernoulli", weights=None).fit({"wet": [1, 1, 0]}, ["rain", "rain", "sun"])
    >>> print(Scorecard.of(nb.model_))
    2 classes, 1 column: 1 bins
    """

    classes: LabelArray
    log_prior: Floats
    start: Floats
    terms: tuple[AnyTerm, ...]
    kinds: Mapping[str, Kind]
    sets: Mapping[float, float] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> Scorecard:
        """Return the scorecard of a model."""
        _check_levels(model)
        reader = _Reader(model)
        columns = {key: reader.columns(group) for key, group in reader.groups.items()}
        kinds = {title(name): kind for name, kind in model.view.schema.kinds.items()}
        card = cls(
            model.classes,
            model.class_log_prior,
            model.terms.start,
            _with_one_presence(
                model.terms.each(columns, reader.factor, reader.condition, reader.cell)
            ),
            kinds,
            least_at(model.counted.held_out),
        )
        if model.seen is not None:
            warn(NOT_SEEN)
        return card

    @cached_property
    def columns(self) -> list[str]:
        """The columns that the terms read, in the table's order."""
        read = {name for term in self.terms for cell in cells_of(term) for name in cell.columns}
        return [name for name in self.kinds if name in read]

    def every(self, kind: type[T]) -> list[T]:
        """Return the terms of a kind."""
        return [term for term in self.terms if isinstance(term, kind)]

    def to_dict(self) -> dict[str, Plain]:
        """Return the scorecard as JSON holds it (see docs/reference/scorecard)."""
        sets = [{"coverage": of, "probability": least} for of, least in self.sets.items()]
        return {
            "naively": "scorecard",
            "version": VERSION,
            "classes": write_classes(self.classes)["labels"],
            "log_prior": plain_floats(self.log_prior),
            "start": plain_floats(self.start),
            "columns": [{"name": name, "kind": self.kinds[name]} for name in self.columns],
            "terms": [_said(term) for term in self.terms],
            **({"sets": sets} if sets else {}),
            **({"unicode": table_text()} if self.every(TokensTerm) else {}),
        }

    def to_json(self) -> str:
        """Return the scorecard as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def to_script(self) -> str:
        """Return a script in JavaScript that scores rows: ``naively.model.posterior(row)``.

        It runs in a browser and in Node.js, and needs nothing else.
        """
        label = next(filter(_is_rounded, self.classes.tolist()), None)
        if label is not None:
            raise ValueError(
                f"JavaScript would round the class {label}, which is beyond 2^53; learn with "
                "labels that are strings."
            )
        card = self.to_json().replace("<", "\\u003c")  # so that a page may hold it
        return f"{scorer()}globalThis.naively.model = naively.scorer({card});\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write a file: a script if its name ends in ".js", and else JSON.

        On any failure an existing file stays as it was.
        """
        is_script = Path(path).suffix == ".js"
        saving.save(path, in_bytes(self.to_script() if is_script else self.to_json()))

    def __str__(self) -> str:
        kinds = [term.kind for term in self.terms]
        said = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        columns = f"{len(self.columns):,} column{'s' * (len(self.columns) != 1)}"
        return f"{len(self.classes):,} classes, {columns}: {said}"


def _check_levels(model: Model) -> None:
    """Raise a ValueError if a category is a whole number that others read as another one."""
    for tally in model.view.counts.values():
        for j, name in enumerate(tally.axis.columns):
            level = next(filter(_is_rounded, tally.axis.levels_of(j)), None)
            if level is not None:
                raise ValueError(
                    f"Column {title(name)!r} has the category {level}, which is beyond 2^53, so "
                    "that other programs compare it with its neighbours; learn it as a string."
                )


def _is_rounded(label: Level) -> bool:
    """Whether a label or level is a whole number that no float64 holds for sure."""
    return isinstance(label, int) and abs(label) > EXACT


def scorer() -> str:
    """Return the script that scores rows by a scorecard, ``naively.scorer(card)``."""
    # It is the module ``scorer.mjs`` in a function of its own, which sets a global where the module
    # exports.
    module = _beside("scorer.mjs").replace("\nexport {", "\nglobalThis.naively = {")
    common = 'if (typeof module === "object") module.exports = globalThis.naively;\n'
    return f'"use strict";\n(() => {{\n{module}{common}}})();\n'


def schema() -> dict[str, Plain]:
    """Return the JSON Schema of a scorecard, which says what each field holds."""
    return cast("dict[str, Plain]", json.loads(_beside("scorecard.schema.json")))


def _beside(name: str) -> str:
    return files("naively.inspect").joinpath(name).read_text("utf-8")


def in_bytes(written: str) -> bytes:
    """Return JSON, or a script, as UTF-8; half a character, which UTF-8 lacks, is escaped."""
    return written.encode("utf-8", "backslashreplace")


# --- JSON ----------------------------------------------------------------------------------------


Plain: TypeAlias = Any  # what JSON holds


def plain_floats(of: Floats) -> list[Plain]:
    """Return numbers as nested lists; those that JSON cannot hold are strings."""
    said: Any = of
    if not np.isfinite(of).all():
        said = of.astype(object)
        said[np.isposinf(of)], said[np.isneginf(of)] = "inf", "-inf"
    return cast("list[Plain]", said.tolist())


def _said(term: AnyTerm) -> dict[str, Plain]:
    """Return a term as JSON holds it: its fields, and beside them what is read of its cell."""
    said: dict[str, Plain] = {"term": term.kind}
    for name, of in vars(term).items():
        said |= _of_cell(of) if name == "cell" else {name: _plain(of)}
    return said


def _plain(of: Any) -> Plain:
    """Return what a term holds as JSON has it."""
    match of:
        case np.ndarray():
            return plain_floats(of)
        case OfCell(cell, function, missing):
            return _of_cell(cell) | _of_function(function, missing)
        case tuple():
            return [_plain(one) for one in of]
        case _:
            return of


def _of_cell(cell: Cell) -> dict[str, Plain]:
    """Return what differs from the default."""
    return {name: of for name, of in asdict(cell).items() if of is not None and of is not False}


def _of_function(function: Line | Step | Above | OneOf, missing: int) -> dict[str, Plain]:
    """Return a function of a cell: a condition says which side a missing cell is on."""
    match function:
        case Above(edge):
            return {"edge": plain_floats(np.array(edge)), "missing": missing}
        case OneOf(levels, others):
            named = {"levels": levels} | ({"others": others} if others else {})
            known = {name: [of for of in some if of is not None] for name, some in named.items()}
            return {**known, "missing": missing}
        case _:
            return asdict(function)


# --- What the columns of a model are in a table ---------------------------------------------------


OPTIONS = ("analyzer", "ngram_range", "lowercase", "stop_words", "max_characters")  # of a split


class _Reader(Frozen):
    """Says what of a table the columns of a model are."""

    model: Model

    @cached_property
    def groups(self) -> dict[BlockKey, Group]:
        """The groups by their keys."""
        return {group.key: group for group in self.model.view.schema.groups}

    def columns(self, group: Group) -> Readable:
        """Return what is read of the columns of a group."""
        axis, what = self.model.view.axes[group.key], _named(group)
        if group.event.layout == "rows":
            raise refused(what, "it takes all columns as one event")
        if group.kind in BESIDE:
            sources = [name.sources[0] for name in group.derived]
            cells = [Cell(title(name), self.model.view.schema.kinds[name]) for name in sources]
            is_truth = group.kind == "missing"
            words = [name.levels[0] for name in group.derived]  # the empty one is of no value
            presence = [(0, 1) if is_truth else (-1, 0) if of == EMPTY else () for of in words]
            return Readable(what, cells, presence=presence)
        cells = [self._cell(name, group) for name in axis.columns]
        match axis:
            case Levels():
                cells = [cell.plain for cell in cells]
                every = zip(axis.columns, axis.levels, strict=True)
                return Readable(what, cells, [tuple(self._written(*of).values()) for of in every])
            case Words():
                return Readable(what, cells, text=self._text(group, cells[0], axis))
        return Readable(what, cells)

    def factor(self, of: Term) -> OfCell[Line | Step]:
        """Return a factor of a product, as a function of a cell."""
        cell, function = self._cell(of.column, self.groups[of.group]), of.function
        match function:
            case Line():
                return OfCell(cell, function)
            case Step():
                return OfCell(cell.plain, function.named(self._known(of)))
        raise TypeError(f"no factor of a product is {function}")

    def condition(self, of: Condition) -> OfCell[Above | OneOf]:
        """Return a condition of a rule, as a function of a cell."""
        cell, test = self._cell(of.column, self.groups[of.group]), of.test
        match test:
            case OneOf():
                test = test.named(self._known(of))
            case Above(edge) if cell.above is not None:  # of truths; none reaches more than 1
                truth = Above(float(cell.edge[0]) if edge > 0 else -np.inf)
                test = OneOf(()) if edge > 1 else truth
        return OfCell(cell.plain, test, of.missing)

    def cell(self, key: BlockKey, name: Name) -> Cell:
        """Return what is read of a column, by the key of its group."""
        return self._cell(name, self.groups[key])

    def _cell(self, name: Name, group: Group) -> Cell:
        """Return what is read of a column, as its group reads it."""
        event = group.event
        match name:
            case TimePart():
                return Cell(title(name.of), "time", name.part)
            case Combined(a, operator, b, power):
                combined = With(operator, title(b), 2.0**power)
                return replace(self._cell(a, group), combined=combined)
            case Derived():
                raise TypeError(f"{name} follows from other columns")
        kind = self.model.view.schema.kinds[name]
        above = None
        match event:
            case LogitNormal():
                raise ValueError(
                    f"Column {title(name)!r} is logitnormal, which no other program scores yet; "
                    "choose another event model."
                )
            case LogNormal():
                return Cell(title(name), kind, log=True)
            case Bernoulli() if group.analyser is None:
                above = event.threshold
        return Cell(title(name), kind, above=above)

    def _text(self, group: Group, cell: Cell, axis: Words) -> TokensTerm:
        """Return how a text is split, and its known tokens, with nothing that they add."""
        analyser, none = group.analyser, np.zeros(0)
        if not isinstance(analyser, Text) or analyser.is_programmed:
            raise refused(_named(group), "its tokens are made by a program")
        if analyser.max_tokens is not None:
            raise refused(_named(group), "only the first words of its texts count")
        if axis.hashed:
            raise refused(_named(group), "its tokens are hashed, so that none is known")
        split = analyser.splitting
        assert {*split} - {"features"} == {*OPTIONS}
        assert split["analyzer"] in UNITS
        plain = {name: _plain(of) for name, of in split.items() if name in OPTIONS}
        binary = analyser.binary or isinstance(group.event, Bernoulli)
        return TokensTerm(cell, plain, binary, 0.0, none, axis.words, none)

    def _known(self, of: Term | Condition) -> dict[Level, Level]:
        """Return the levels of a column, as they are written; not those that were forgotten."""
        axis = self.model.view.axes[of.group]
        return self._written(of.column, axis.levels_of([*axis.columns].index(of.column)))

    def _written(self, name: Name, levels: Iterable[Level]) -> dict[Level, Level]:
        """Return levels as their cells are read: of times, which are told apart, in seconds."""
        found = {level: level for level in levels}
        if self.model.view.schema.kinds.get(name) == "time":
            second = np.timedelta64(1, "s")
            for level in (level for level in found if isinstance(level, str)):
                found[level] = float((np.datetime64(level, "us") - EPOCH) / second)
        return found


def _named(group: Group) -> str:
    """Return what an error says that a group is."""
    names = ", ".join(repr(title(name)) for name in list(group.columns)[:3])
    return f"{group.event.name} of column {names}"


def _with_one_presence(terms: Iterable[AnyTerm]) -> tuple[AnyTerm, ...]:
    """Return the terms, with one `PresenceTerm` at most of each column, at its first place."""
    found: dict[str | int, AnyTerm] = {}
    for i, term in enumerate(terms):
        match term, found.get(key := cells_of(term)[0].column if term.kind == "presence" else i):
            case PresenceTerm(_, there, missing), PresenceTerm() as first:
                both = first.there + there, first.missing + missing
                found[key] = PresenceTerm(first.cell, *both)
            case _:
                found[key] = term
    return tuple(found.values())
