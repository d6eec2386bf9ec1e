"""The scorecard: a model as terms that any program can add up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import accumulate
from operator import mul
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, final

import numpy as np

from naively import saving
from naively.counting.axis import Axis, Derived, Level, Levels, Name, Words, title
from naively.counting.labels import LabelArray
from naively.data.columns import EPOCH, EXACT, Cycle, Kind
from naively.events import Bernoulli, LogitNormal, LogNormal
from naively.file.parts import write_classes
from naively.kernels.folding import table_text
from naively.kernels.reference import FAR, Floats
from naively.kernels.tokens import UNITS
from naively.messages import Shown
from naively.model.held_out import least_at
from naively.model.model import Model
from naively.schema.schema import EMPTY, Group, GroupKey, Missing, MissingAs, TimePart
from naively.schema.text import Text
from naively.terms.functions import (
    FARTHEST,
    Above,
    Condition,
    Line,
    ProductTerms,
    RuleTerms,
    Step,
    Term,
)
from naively.terms.kinds import (
    BesideTerms,
    BinTerms,
    ClippedTerms,
    LevelTerms,
    QuadraticTerms,
    StepTerms,
    TermBlock,
)
from naively.terms.terms import GroupTerms
from naively.terms.words import LineTerms, WordTerms

# --- A scorecard: a model as terms whose numbers are added up, equal to the model's own scores ---
#
# What other programs score rows by (SQL, JavaScript, ONNX) is written from it, so that none of
# them knows an event model.


VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(Shown):
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
        kinds = {title(name): kind for name, kind in model.view.schema.kinds.items()}
        return cls(
            model.classes,
            model.class_log_prior,
            model.terms.start,
            tuple(terms_of(model)),
            kinds,
            least_at(model.counted.held_out),
        )

    @cached_property
    def columns(self) -> list[str]:
        """The columns that the terms read, in the table's order."""
        read = {cell.column for term in self.terms for cell in cells_of(term)}
        return [name for name in self.kinds if name in read]

    @property
    def reads_texts(self) -> bool:
        """Whether a text is split, which takes the table of Unicode."""
        return any(isinstance(term, TokensTerm) for term in self.terms)

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
            **({"unicode": table_text()} if self.reads_texts else {}),
        }

    def to_json(self) -> str:
        """Return the scorecard as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def to_script(self) -> str:
        """Return a script in JavaScript that scores rows: ``naively.model.posterior(row)``.

        It runs in a browser and in Node.js, and needs nothing else.
        """
        for label in self.classes.tolist():
            if isinstance(label, int) and abs(label) > EXACT:
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
        if not isinstance(tally.axis, Levels):
            continue
        for name, levels in zip(tally.axis.columns, tally.axis.levels, strict=True):
            for level in levels:
                if isinstance(level, int) and abs(level) > EXACT:
                    raise ValueError(
                        f"Column {title(name)!r} has the category {level}, which is beyond 2^53, "
                        "so that other programs compare it with its neighbours; learn it as a "
                        "string."
                    )


def scorer() -> str:
    """Return the script that scores rows by a scorecard, ``naively.scorer(card)``.

    It is the module ``scorer.mjs`` in a function of its own, which sets a global where the module
    exports.
    """
    module = _beside("scorer.mjs").replace("\nexport {", "\nglobalThis.naively = {")
    common = 'if (typeof module === "object") module.exports = globalThis.naively;\n'
    return f'"use strict";\n(() => {{\n{module}{common}}})();\n'


def schema() -> dict[str, Plain]:
    """Return the JSON Schema of a scorecard, which says what each field holds.

    >>> schema()["properties"]["naively"]
    {'const': 'scorecard'}
    """
    found: dict[str, Plain] = json.loads(_beside("scorecard.schema.json"))
    return found


def _beside(name: str) -> str:
    return files("naively.export").joinpath(name).read_text("utf-8")


def in_bytes(written: str) -> bytes:
    r"""Return JSON, or a script, as UTF-8; half a character, which UTF-8 lacks, is escaped.

    >>> in_bytes('["\ud800"]')
    b'["\\ud800"]'
    """
    return written.encode("utf-8", "backslashreplace")


# --- The terms of a scorecard: what a column, or a few together, add to the score of each class ---
#
# A term reads cells of the table as they are and adds numbers that are given, so that its few
# lines can be written in any language. Weights, the linear part, missing cells and length
# normalisation are in the numbers already.


Plain: TypeAlias = Any  # what JSON holds


@final
@dataclass(frozen=True)
class Cell:
    """What a term reads of a row: the cell of a column.

    Parameters
    ----------
    column : str
        The column's name.
    kind : {"number", "boolean", "string", "time", "text"}
        What the column held in training. Truths are 0 and 1, and times are seconds since 1970, in
        UTC, wherever a number is read of them.
    part : {"hour", "weekday", "month"}, optional
        Which part of a time is read, as a string: "00" to "23", "Monday", "January".
    log : bool, default False
        Whether the natural logarithm of the number is read.
    """

    column: str
    kind: Kind
    part: Cycle | None = None
    log: bool = False

    def to_dict(self) -> dict[str, Plain]:
        """Return what differs from the default."""
        said: dict[str, Plain] = {"column": self.column, "kind": self.kind}
        said |= {"part": self.part} if self.part else {}
        return said | ({"log": True} if self.log else {})


def plain_floats(of: Floats) -> list[Plain]:
    """Return numbers as nested lists; those that JSON cannot hold are strings.

    >>> plain_floats(np.array([0.5, -np.inf]))
    [0.5, '-inf']
    """
    said: Any = of
    if not np.isfinite(of).all():
        said = of.astype(object)
        said[np.isposinf(of)], said[np.isneginf(of)] = "inf", "-inf"
    found: list[Plain] = said.tolist()
    return found


def _plain(of: Any) -> Plain:
    """Return what a term holds as JSON has it."""
    match of:
        case np.ndarray():
            return plain_floats(of)
        case Factor() | CellCondition():
            return of.to_dict()
        case tuple():
            return [_plain(one) for one in of]
        case _:
            return of


def _said(term: AnyTerm) -> dict[str, Plain]:
    """Return a term as JSON holds it: its fields, and beside them what is read of its cell."""
    said: dict[str, Plain] = {"term": term.kind}
    for name, of in vars(term).items():
        said |= of.to_dict() if name == "cell" else {name: _plain(of)}
    return said


@final
@dataclass(frozen=True, eq=False)
class PresenceTerm:
    """A number for a cell that is there, and one for a cell that is missing; both (classes,)."""

    kind: ClassVar[TermKind] = "presence"
    cell: Cell
    there: Floats
    missing: Floats


@final
@dataclass(frozen=True, eq=False)
class BinsTerm:
    """A number for each bin, which is how many of the ascending edges a number reaches.

    ``edges`` are of shape (bins - 1,), ``points`` of shape (bins, classes). A missing cell adds 0.
    """

    kind: ClassVar[TermKind] = "bins"
    cell: Cell
    edges: Floats
    points: Floats


@final
@dataclass(frozen=True, eq=False)
class LevelsTerm:
    """A number for each level, and one for all levels that were never seen.

    ``points`` are of shape (levels + 1, classes), the last for what was never seen. A missing cell
    adds 0. Whole numbers, floats and truths that are equal are one level.
    """

    kind: ClassVar[TermKind] = "levels"
    cell: Cell
    levels: tuple[Level, ...]
    points: Floats


@final
@dataclass(frozen=True, eq=False)
class LineTerm:
    """``(min(max(x, low), high) - centre) slope``, and 0 where the cell is missing.

    ``slope`` is of shape (classes,). A slope may be -inf: it adds 0 where the number is 0.
    """

    kind: ClassVar[TermKind] = "line"
    cell: Cell
    low: float
    high: float
    centre: float
    slope: Floats


@final
@dataclass(frozen=True, eq=False)
class ParabolaTerm:
    """``-half_precision (x - mean)²``, and 0 where the cell is missing; both (classes,).

    A distance from the mean is at most 1e140, and what is taken off a score at most 1e290.
    """

    kind: ClassVar[TermKind] = "parabola"
    cell: Cell
    mean: Floats
    half_precision: Floats


@final
@dataclass(frozen=True, eq=False)
class TokensTerm:
    """The tokens of a text: each adds a number for each time that it comes, or once.

    Parameters
    ----------
    cell : Cell
        A column of texts.
    split : mapping
        How a text is split, as the keyword arguments of `Text`: "analyzer", "ngram_range",
        "lowercase", "stop_words" and "max_characters".
    binary : bool
        Whether a token counts once in a text.
    length_power : float
        The sum is divided by this power of how many known tokens are counted, or of 1 if none.
    there : ndarray of shape (classes,)
        What every text adds that is not missing.
    tokens : list of str
        The known tokens.
    points : ndarray of shape (tokens, classes)
        What each adds.
    """

    kind: ClassVar[TermKind] = "tokens"
    cell: Cell
    split: Mapping[str, Plain]
    binary: bool
    length_power: float
    there: Floats
    tokens: list[str]
    points: Floats


@final
@dataclass(frozen=True)
class Factor:
    """A function of a cell, of the linear part; it is 0 where the cell is missing.

    Where ``above`` is given, a line is of 1 where the number is greater, and else of 0. The level
    of a step is None where the model does not know it any more: then no cell is the level.
    """

    cell: Cell
    function: Line | Step
    above: float | None = None

    def to_dict(self) -> dict[str, Plain]:
        """Return the factor as JSON holds it."""
        above = {} if self.above is None else {"above": self.above}
        return {**self.cell.to_dict(), **above, **asdict(self.function)}


@final
@dataclass(frozen=True, eq=False)
class ProductTerm:
    """``min(max(a b / scale, -most), most) slope``, a product of two columns; slope (classes,)."""

    kind: ClassVar[TermKind] = "product"
    a: Factor
    b: Factor
    scale: float
    most: float
    slope: Floats


@final
@dataclass(frozen=True)
class CellCondition:
    """Whether a number is at least an edge, or a cell one of some levels.

    Parameters
    ----------
    cell : Cell
        What is read.
    test : float or tuple of levels
        The edge, or the levels.
    missing : int
        The side of a missing cell: 1 if the condition holds for it, 0 if not, 2 if neither.
    others : tuple of levels, optional
        The levels for which it does not hold, if that is not every other one: 2 is then the side of
        what is none of both.
    """

    cell: Cell
    test: float | tuple[Level, ...]
    missing: int
    others: tuple[Level, ...] | None = None

    def to_dict(self) -> dict[str, Plain]:
        """Return the condition as JSON holds it."""
        is_edge = not isinstance(self.test, tuple)
        asked = {"edge": plain_floats(np.array(self.test))} if is_edge else {"levels": self.test}
        others = {} if self.others is None else {"others": self.others}
        said: dict[str, Plain] = {**asked, **others, "missing": self.missing}
        return self.cell.to_dict() | {name: _plain(of) for name, of in said.items()}


@final
@dataclass(frozen=True, eq=False)
class RuleTerm:
    """A number for each set of conditions that hold.

    ``points`` are of shape (cells, classes). A row's number among them is the sum of its side of
    each condition times its stride: the product of how many sides those before have, 2 or 3.
    """

    kind: ClassVar[TermKind] = "rule"
    conditions: tuple[CellCondition, ...]
    points: Floats

    @property
    def strided(self) -> list[tuple[CellCondition, int]]:
        """The conditions, each with its stride."""
        number = (2 if of.others is None else 3 for of in self.conditions)
        return [*zip(self.conditions, accumulate(number, mul, initial=1), strict=False)]


OneColumn: TypeAlias = PresenceTerm | BinsTerm | LevelsTerm | LineTerm | ParabolaTerm | TokensTerm
AnyTerm: TypeAlias = OneColumn | ProductTerm | RuleTerm
TermKind: TypeAlias = Literal[
    "presence", "bins", "levels", "line", "parabola", "tokens", "product", "rule"
]


def cells_of(term: AnyTerm) -> tuple[Cell, ...]:
    """Return the different cells that a term reads."""
    match term:
        case ProductTerm():
            return term.a.cell, term.b.cell
        case RuleTerm():
            return tuple(dict.fromkeys(of.cell for of in term.conditions))
        case _:
            return (term.cell,)


# --- The terms of a scorecard, from those of its model: the event models are not asked -----------


def terms_of(model: Model) -> list[AnyTerm]:
    """Return the terms of a model."""
    return _with_one_presence(_Terms(model).all())


class _Terms:
    """The terms of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kinds = model.view.schema.kinds
        self.none = np.zeros(len(model.classes))

    def all(self) -> Iterator[AnyTerm]:
        """Yield the terms of all groups, then the products and the rules."""
        for group in self.model.view.schema.groups:
            axis = self.model.view.axes[group.key]
            yield from self._of_group(group, self.model.terms.of[group.key], axis)
        for several in self.model.terms.several:
            match several:
                case ProductTerms():
                    for of, slope in zip(several.products, several.slope, strict=True):
                        a, b = self._factor(of.a), self._factor(of.b)
                        yield ProductTerm(a, b, of.scale, FARTHEST, slope)
                case RuleTerms():
                    for rule, points in several.each():
                        yield RuleTerm(tuple(map(self._condition, rule.conditions)), points)

    def _of_group(self, group: Group, terms: GroupTerms, axis: Axis) -> Iterator[AnyTerm]:
        if group.event.layout == "rows":
            raise ValueError(_refused(group, "it takes all columns as one event"))
        match terms.evidence:
            case LevelTerms() as evidence if isinstance(axis, Levels):
                yield from self._of_levels(group, evidence, axis)
            case LineTerms() | WordTerms() as evidence if isinstance(axis, Words):
                yield self._of_words(group, evidence, axis)
            case evidence:
                cells = [self._cell(name, group) for name in axis.columns]
                threshold = _threshold(group)
                if threshold is None:
                    yield from self._of_numbers(group, evidence, cells)
                    for beside in reversed(terms.beside):
                        yield from _of_functions(beside, cells)
                    return
                edge = np.array([np.nextafter(threshold, np.inf)])
                for j, cell in enumerate(cells):  # of truths: true above the threshold
                    yield BinsTerm(cell, edge, terms.at(np.array([0.0, 1.0]), np.array([j, j])))

    def _of_numbers(
        self, group: Group, evidence: TermBlock, cells: Sequence[Cell]
    ) -> Iterator[AnyTerm]:
        """Yield the terms of the evidence of columns of numbers."""
        match evidence:
            case BinTerms():
                for j, cell in enumerate(cells):
                    points = evidence.table[evidence.first[j] : evidence.first[j + 1]]
                    yield BinsTerm(cell, evidence.edges[j], points)
            case QuadraticTerms():
                for j, cell in enumerate(cells):
                    yield PresenceTerm(cell, evidence.offset[j], self.none)
                    yield ParabolaTerm(cell, evidence.mean[j], evidence.half_precision[j])
            case LineTerms() | WordTerms():
                yield from self._of_slopes(group, evidence, cells)
            case _:
                raise ValueError(_refused(group, "its evidence is no sum of given numbers"))

    def _of_slopes(
        self, group: Group, evidence: LineTerms | WordTerms, cells: Sequence[Cell]
    ) -> Iterator[AnyTerm]:
        offset = evidence.offset
        for j, (cell, slope) in enumerate(zip(cells, evidence.slope, strict=True)):
            if offset is not None:
                _check_finite(group, offset[j], slope)
                yield PresenceTerm(cell, offset[j], self.none)
            yield LineTerm(cell, -FAR, FAR, 0.0, slope)

    def _of_levels(self, group: Group, evidence: LevelTerms, axis: Levels) -> Iterator[AnyTerm]:
        for j, name in enumerate(axis.columns):
            points = evidence.table[evidence.first[j] : evidence.first[j + 1]]
            match name:
                case Missing():
                    yield PresenceTerm(self._cell(name.of, None), points[0], points[1])
                case MissingAs():  # a table whose columns are numbers has no words
                    if name.words[0] == EMPTY:
                        yield PresenceTerm(self._cell(name.of, None), self.none, points[0])
                case _:
                    levels = tuple(self._written(name, level) for level in axis.levels[j])
                    yield LevelsTerm(self._cell(name, group), levels, points)

    def _of_words(self, group: Group, evidence: LineTerms | WordTerms, axis: Words) -> TokensTerm:
        analyser = group.analyser
        if not isinstance(analyser, Text) or analyser.is_programmed:
            raise ValueError(_refused(group, "its tokens are made by a program"))
        if analyser.max_tokens is not None:
            raise ValueError(_refused(group, "only the first words of its texts count"))
        if axis.hashed:
            raise ValueError(_refused(group, "its tokens are hashed, so that none is known"))
        points, there = evidence.slope, self.none
        if isinstance(evidence, WordTerms):
            if evidence.absent is not None:
                there = evidence.absent.total()
        elif evidence.offset is not None:
            _check_finite(group, evidence.offset, points)
            there = evidence.offset.sum(axis=0)
        split = {name: of for name, of in analyser.splitting.items() if name != "features"}
        options = {"analyzer", "ngram_range", "lowercase", "stop_words", "max_characters"}
        assert set(split) == options
        assert split["analyzer"] in UNITS
        split = {name: list(of) if isinstance(of, tuple) else of for name, of in split.items()}
        cell = self._cell(axis.columns[0], group)
        binary = analyser.binary or isinstance(group.event, Bernoulli)
        of_text = cell, split, binary, evidence.length_power
        return TokensTerm(*of_text, there, axis.words, points)

    def _factor(self, term: Term) -> Factor:
        function = term.function
        assert isinstance(function, Line | Step)  # products are of nothing else
        group = self._group(term.group)
        above = _threshold(group) if isinstance(function, Line) else None
        if isinstance(function, Step):
            known = self._levels(term)
            level, *among = (
                self._written(term.column, level) if level in known else None
                for level in (function.level, *function.among)
            )
            function = replace(function, level=level, among=tuple(among))
        return Factor(self._cell(term.column, group), function, above)

    def _condition(self, of: Condition) -> CellCondition:
        group, test = self._group(of.group), of.test
        cell = self._cell(of.column, group)
        if isinstance(test, Above):
            return CellCondition(cell, _edge_of_cells(group, test.edge), of.missing)
        known = self._levels(of)
        holds, others = (
            tuple(self._written(of.column, level) for level in levels if level in known)
            for levels in (test.levels, test.others)
        )
        return CellCondition(cell, holds, of.missing, others if test.others else None)

    def _levels(self, of: Term | Condition) -> Mapping[Level, int]:
        """Return the levels of a column; one that was forgotten is as if it was never seen."""
        axis = self.model.view.axes[of.group]
        assert isinstance(axis, Levels)
        return axis.index[axis.columns.index(of.column)]

    def _written(self, name: Name, level: Level) -> Level:
        """Return a level as its cells are read: of times, which are told apart, in seconds."""
        if isinstance(name, Derived) or self.kinds[name] != "time" or not isinstance(level, str):
            return level
        return float((np.datetime64(level, "us") - EPOCH) / np.timedelta64(1, "s"))

    def _group(self, key: GroupKey) -> Group:
        return next(group for group in self.model.view.schema.groups if group.key == key)

    def _cell(self, name: Name, group: Group | None) -> Cell:
        """Return what is read of a column; as its group reads it, or as it is."""
        if isinstance(name, TimePart):
            return Cell(title(name.of), "time", name.part)
        if isinstance(name, Derived):
            raise TypeError(f"{name} follows from other columns")
        if group is not None and isinstance(group.event, LogitNormal):
            raise ValueError(
                f"Column {title(name)!r} is logitnormal, which no other program scores yet; choose "
                "another event model."
            )
        log = group is not None and isinstance(group.event, LogNormal)
        return Cell(title(name), self.kinds[name], log=log)


def _of_functions(beside: BesideTerms, cells: Sequence[Cell]) -> Iterator[AnyTerm]:
    """Yield the terms of what is added beside the evidence of columns of numbers."""
    match beside:
        case StepTerms():
            for j, (edges, points) in beside.steps.items():
                yield BinsTerm(cells[j], edges, points)
        case ClippedTerms():
            clips = zip(beside.low, beside.high, beside.centre, strict=True)
            for j, (low, high, centre), slope in zip(
                beside.column, clips, beside.slope, strict=True
            ):
                yield LineTerm(cells[j], float(low), float(high), float(centre), slope)


def _threshold(group: Group) -> float | None:
    """Return above which number a cell of the group is true, or None if it is what it is."""
    return group.event.threshold if isinstance(group.event, Bernoulli) else None


def _edge_of_cells(group: Group, edge: float) -> float | tuple[Level, ...]:
    """Return from where on the cells of a column reach an edge, which may be of truths of them.

    No levels are for an edge that no truth reaches.
    """
    threshold = _threshold(group)
    if threshold is None:
        return edge
    if edge > 1:
        return ()
    return float(np.nextafter(threshold, np.inf)) if edge > 0 else -np.inf


def _check_finite(group: Group, offset: Floats, slope: Floats) -> None:
    """Raise a ValueError if an event is certain, or adds what is infinite to the score."""
    if not np.isfinite(offset).all() or np.isposinf(slope).any():
        why = "an event of it must happen, or cannot, in some class; smooth, with alpha above 0"
        raise ValueError(_refused(group, f"{why}, so that numbers are finite"))


def _refused(group: Group, why: str) -> str:
    names = ", ".join(repr(title(name)) for name in list(group.columns)[:3])
    return (
        f"The {group.event.name} of column {names} cannot be written as a scorecard: {why}. Choose "
        "another event model for it, such as the default."
    )


def _with_one_presence(terms: Iterable[AnyTerm]) -> list[AnyTerm]:
    """Return the terms, with one `PresenceTerm` at most of each column, at its first place."""
    found: list[AnyTerm] = []
    place: dict[str, int] = {}
    for term in terms:
        if not isinstance(term, PresenceTerm):
            found.append(term)
        elif (i := place.get(term.cell.column)) is None:
            place[term.cell.column] = len(found)
            found.append(term)
        else:
            first: Any = found[i]
            there, missing = first.there + term.there, first.missing + term.missing
            found[i] = replace(first, there=there, missing=missing)
    return found
