"""The terms of a scorecard, spelled in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from naively.data.columns import NAMES
from naively.inspect.scorecard import Scorecard
from naively.kernels.reference import FAR, Floats
from naively.terms.functions import Above, Line, OneOf, Step
from naively.terms.views import (
    AnyTerm,
    BinsTerm,
    Cell,
    LevelsTerm,
    LineTerm,
    OfCell,
    ParabolaTerm,
    PresenceTerm,
    ProductTerm,
    RuleTerm,
    TokensTerm,
)
from naively.wings.databases.databases import TABLE, Dialect, Table, by_halves

# --- The terms of a scorecard are written as pieces of SQL ---------------------------------------


TINY = 1e-300  # what a score's pieces need not tell from 0
INLINE = 8  # levels of a column that a query looks through by itself, where it could join


def pieces_of(card: Scorecard, dialect: Dialect, *, joins: bool) -> tuple[Pieces, Floats, bool]:
    """Return pieces of a query, what the scores start from, and whether these are differences."""
    # Where nothing is impossible only the differences from the first class's score count, which is
    # 0 then and needs no arithmetic.
    differences = all(np.isfinite(points).all() for points in _points(card))

    def shift(of: Floats) -> Floats:
        return of[..., 1:] - of[..., :1] if differences else of

    start = shift(card.start)
    pieces = Pieces(dialect, scores=[[] for _ in start])
    missing = {term.cell.column: term for term in card.every(PresenceTerm)}
    blocks = [i for i, term in enumerate(card.terms) if term.kind == "tokens"]
    written = _TermsInSql(pieces, shift, missing, _joined(card, dialect, joins=joins), blocks)
    # A column whose bins or levels are chosen says by one more place what its being missing says.
    order = sorted(enumerate(card.terms), key=lambda of: of[1].kind == "presence")
    for number, term in order:
        written.write(number, term)
    return pieces, start, differences


def _points(card: Scorecard) -> Iterable[Floats]:
    yield card.start
    for term in card.terms:
        yield from (of for of in vars(term).values() if isinstance(of, np.ndarray))


def _joined(card: Scorecard, dialect: Dialect, *, joins: bool) -> set[int]:
    """Return the numbers of the terms of levels that are joined, the longest ones."""
    least = 0 if joins else INLINE
    sizes = {
        i: len(term.levels)
        for i, term in enumerate(card.terms)
        if isinstance(term, LevelsTerm) and _is_text(term.cell) and len(term.levels) > least
    }
    if not joins and dialect.most_joins is not None:
        return set()  # there it is quicker to look through the levels
    return set(sorted(sizes, key=lambda i: -sizes[i])[: dialect.most_joins])


def _is_text(cell: Cell) -> bool:
    return cell.kind in ("string", "text") and cell.part is None


@dataclass(frozen=True, eq=False)
class _TermsInSql:
    """Writes terms as pieces."""

    pieces: Pieces
    shift: Callable[[Floats], Floats]
    missing: dict[str, PresenceTerm]
    joined: set[int]
    blocks: list[int]

    def write(self, number: int, term: AnyTerm) -> None:
        """Write a term, of this number in the scorecard."""
        match term:
            case TokensTerm():
                self._tokens(number, term)
            case PresenceTerm():
                if term.cell.column in self.missing:
                    x = self.pieces.cell(term.cell)
                    place = self.pieces.find(f"CASE WHEN {x} IS NULL THEN 2 ELSE 1 END")
                    points = np.vstack([term.there, term.missing])
                    self.pieces.add_chosen(place, self.shift(points))
            case BinsTerm():
                x = self.pieces.cell(term.cell)
                self._chosen(term.cell, x, self._bin(x, term.edges), term.points)
            case LevelsTerm():
                self._levels(number, term)
            case RuleTerm():
                self._rule(term)
            case LineTerm():
                self._line(term)
            case ParabolaTerm():
                self._parabola(term)
            case ProductTerm():
                product = f"{self._factor(term.a)} * {self._factor(term.b)}"
                product = f"({product} / {self.pieces.dialect.number(term.scale)})"
                self._add_slope(self._clip(product, -term.most, term.most), term.slope)

    def _chosen(self, cell: Cell, x: str, place: str, points: Floats) -> None:
        """Add what a bin or a level adds, and what the cell's presence does, if not added yet."""
        points = self.shift(self._with_missing(cell, points))
        place = f"CASE WHEN {x} IS NULL THEN {len(points)} ELSE {place} END"
        self.pieces.add_chosen(self.pieces.find(place), points)

    def _with_missing(self, cell: Cell, points: Floats) -> Floats:
        """Return points, and a row of them more for a missing cell."""
        missing = np.zeros(points.shape[1])
        if (presence := self.missing.pop(cell.column, None)) is not None:
            points, missing = points + presence.there, presence.missing
        return np.vstack([points, missing])

    def _bin(self, x: str, edges: Floats) -> str:
        """Return one more than how many edges a number reaches."""
        number = self.pieces.dialect.number

        def among(low: int, high: int) -> str:
            """Return the place of a number that reaches edge low - 1, if any, but not edge high."""
            if low == high:
                return f"{low + 1}"
            ways = min(self.pieces.dialect.ways, high - low + 1)
            cuts = [low + (high - low + 1) * way // ways - 1 for way in range(1, ways)]
            begins = [low, *(cut + 1 for cut in cuts)]
            cases = " ".join(
                f"WHEN {x} < {number(float(edges[cut]))} THEN {among(begin, cut)}"
                for begin, cut in zip(begins, cuts, strict=False)
            )
            return f"CASE {cases} ELSE {among(begins[-1], high)} END"

        return among(0, len(edges))

    def _level(self, cell: Cell, levels: Sequence[Any]) -> tuple[str, list[int]]:
        """Return the place of a cell among levels, and which levels are in these places."""
        dialect, x = self.pieces.dialect, self.pieces.cell(cell)
        if _is_text(cell):
            return dialect.index(x, list(map(str, levels))), list(range(len(levels)))
        number: Callable[[float], str] = self.pieces.dialect.number
        if cell.part is not None:
            number = lambda of: f"{int(of)}"  # noqa: E731  (parts are whole numbers)
            x = dialect.part(x, cell.part)
            names = NAMES[cell.part]
            numbers = {float(names.index(of)): i for i, of in enumerate(levels) if of in names}
        else:
            numbers = {float(of): i for i, of in enumerate(levels)}
        order = sorted(numbers)
        places = range(1, len(order) + 1)
        return by_halves(x, list(map(number, order)), places), [numbers[of] for of in order]

    def _levels(self, number: int, term: LevelsTerm) -> None:
        x = self.pieces.cell(term.cell)
        if number not in self.joined:
            place, levels = self._level(term.cell, term.levels)
            self._chosen(term.cell, x, place, term.points[[*levels, -1]])
            return
        *points, unseen, missing = self.shift(self._with_missing(term.cell, term.points))
        weight = Weight(number, list(map(str, term.levels)), np.array(points), x)
        self.pieces.weights.append(weight)
        alias, spelled = self.pieces.dialect.identifier(weight.alias), self.pieces.dialect.number
        self.pieces.add(
            [
                f"CASE WHEN {x} IS NULL THEN {spelled(float(none))} "
                f"ELSE COALESCE({alias}.s{i}, {spelled(float(never))}) END"
                for i, (none, never) in enumerate(zip(missing, unseen, strict=True))
            ]
        )

    def _clip(self, x: str, low: float, high: float) -> str:
        dialect = self.pieces.dialect
        return dialect.least(dialect.greatest(x, dialect.number(low)), dialect.number(high))

    def _line(self, term: LineTerm) -> None:
        number, x = self.pieces.dialect.number, self.pieces.cell(term.cell)
        clipped = f"{self._clip(x, term.low, term.high)} - {number(term.centre)}"
        none = number(0.0)
        self._add_slope(f"CASE WHEN {x} IS NULL THEN {none} ELSE {clipped} END", term.slope)

    def _add_slope(self, line: str, slope: Floats) -> None:
        found = self.pieces.find(line)
        self.pieces.add([self._times(found, each) for each in self.shift(slope).tolist()])

    def _times(self, line: str, slope: float) -> str:
        """Multiply a number by a slope; 0 times an infinite slope is 0."""
        number, none = self.pieces.dialect.number, self.pieces.dialect.number(0.0)
        if slope == 0:
            return none
        if np.isfinite(slope):
            product = f"{line} * {number(slope)}"
            return self.pieces.dialect.product(product, line, TINY / abs(slope))
        return f"CASE WHEN {line} = {none} THEN {none} ELSE {line} * {number(slope)} END"

    def _parabola(self, term: ParabolaTerm) -> None:
        number, x = self.pieces.dialect.number, self.pieces.cell(term.cell)
        each = []
        for mean, half in zip(term.mean.tolist(), term.half_precision.tolist(), strict=True):
            z = self.pieces.find(self._clip(f"({x} - {number(mean)})", -FAR, FAR))
            least = (TINY / min(half, 1.0)) ** 0.5 if half else 1.0
            each.append(self.pieces.dialect.product(f"{z} * {z} * {number(half)}", z, least))
        if len(self.pieces.scores) < len(each):
            each = [f"({each[0]}) - ({other})" for other in each[1:]]
        else:
            each = [f"-({one})" for one in each]
        none = number(0.0)
        self.pieces.add([f"CASE WHEN {x} IS NULL THEN {none} ELSE {one} END" for one in each])

    def _factor(self, of: OfCell[Line | Step]) -> str:
        dialect, number = self.pieces.dialect, self.pieces.dialect.number
        function, cell = of.function, of.cell
        none, one = number(0.0), number(1.0)
        x = value = self.pieces.cell(cell)
        match function:
            case Step(level, among=among):
                others = none
                if among:
                    known, unseen = self._is_among(cell, among), number(function.centre)
                    others = f"CASE WHEN {known} THEN {none} ELSE {unseen} END"
                is_level = self._is_among(cell, (level,))
                value = f"CASE WHEN {is_level} THEN {one} ELSE {others} END"
            case Line(low, high):
                if cell.above is not None:
                    value = f"CASE WHEN {x} > {number(cell.above)} THEN {one} ELSE {none} END"
                value = self._clip(value, low, high)
        distance = f"({value} - {number(function.centre)})"
        least = TINY**0.4 * function.scale  # the product of two is above TINY
        factor = dialect.product(f"{distance} / {number(function.scale)}", distance, least)
        return f"CASE WHEN {x} IS NULL THEN {none} ELSE {factor} END"

    def _rule(self, term: RuleTerm) -> None:
        sides = ["1"]
        for of, stride in term.strided:
            otherwise = "ELSE 0"
            match of.function:
                case OneOf(_, others) if others:
                    side = OfCell(of.cell, OneOf(others), int(of.missing == 0))
                    otherwise = f"WHEN {self._holds(side)} THEN 0 ELSE {2 * stride}"
            sides.append(f"CASE WHEN {self._holds(of)} THEN {stride} {otherwise} END")
        place = self.pieces.find(" + ".join(sides))
        self.pieces.add_chosen(place, self.shift(term.points))

    def _holds(self, of: OfCell[Above | OneOf]) -> str:
        """Return whether a condition holds, or NULL where it does not as the cell is missing."""
        x = self.pieces.cell(of.cell)
        match of.function:
            case OneOf(levels):
                holds = self._is_among(of.cell, levels)
            case Above(edge):
                holds = f"{x} >= {self.pieces.dialect.number(edge)}"
        return f"{x} IS NULL OR {holds}" if of.missing == 1 else holds

    def _is_among(self, cell: Cell, levels: Sequence[Any]) -> str:
        """Return whether a cell is one of some levels; the database cannot hold all strings."""
        levels = [level for level in levels if level is not None]  # one that was forgotten
        dialect, x = self.pieces.dialect, self.pieces.cell(cell)
        if cell.part is not None:
            names, x = NAMES[cell.part], self.pieces.dialect.part(x, cell.part)
            spelled = [f"{names.index(level)}" for level in levels if level in names]
        elif _is_text(cell):
            spelled = [said for level in levels if (said := _string(dialect, str(level)))]
        else:
            spelled = [dialect.number(float(level)) for level in levels]
        return f"{x} IN ({', '.join(spelled)})" if spelled else "1 = 0"

    def _tokens(self, number: int, term: TokensTerm) -> None:
        dialect, x = self.pieces.dialect, self.pieces.cell(term.cell)
        block = self.blocks.index(number)
        weight = Weight(number, term.tokens, self.shift(term.points), x, block, term.binary)
        known = bool(term.tokens)
        if known:
            self.pieces.weights.append(weight)
        alias, one = dialect.identifier(weight.alias), dialect.number(1.0)
        length = f"COALESCE({alias}.n, {one})"
        power = dialect.number(term.length_power)
        over = f" / POWER({length}, {power})" if term.length_power else ""
        none = dialect.number(0.0)
        there = list(map(dialect.number, self.shift(term.there).tolist()))
        if known:
            there = [
                f"{said} + COALESCE({alias}.s{i}, {none}){over}" for i, said in enumerate(there)
            ]
        self.pieces.add([f"CASE WHEN {x} IS NULL THEN {none} ELSE {said} END" for said in there])


# --- Numbers that are looked up by a string: in a table of the database, or in the query itself ---


WEIGHTS = "naively_weights"  # the table of weights, unless another name is given
INLINE_WEIGHTS = "naively weights"  # the step of a query that holds them
ROWS = 500  # of one statement that fills a table


@dataclass(frozen=True, eq=False)
class Weight:
    """Numbers that are looked up by a string: those of the levels of a column, or of tokens."""

    term: int  # the place of the term in the scorecard, which is its number in the table of weights
    levels: Sequence[str]  # the levels or tokens
    points: Floats  # (levels, scores): what each adds
    x: str  # the text that is looked up; for tokens the text that they are of
    # The number of a block of tokens in the table of tokens; None for levels.
    block: int | None = None
    binary: bool = False  # whether a token counts once

    @property
    def alias(self) -> str:
        """How the query names what it joins."""
        return f"naively w{self.term}"


@dataclass(frozen=True, eq=False)
class LookUpTable:
    """All numbers that are looked up by strings: a table with a row for each string of a term."""

    of: Sequence[Weight]  # the numbers, by term
    scores: int  # how many numbers a row has
    dialect: Dialect  # how the database spells them
    table: Table  # the name of the table
    tokens: Table | None  # the table of the tokens of texts
    in_table: bool  # whether the numbers are in the table; else they are a step of the query

    @property
    def name(self) -> str:
        """What the query joins."""
        if self.in_table:
            return self.dialect.table(self.table)
        return self.dialect.identifier(INLINE_WEIGHTS)

    def joins(self, row: str) -> str:
        """Return what is joined to the step x, of which ``row`` is the column of row numbers."""
        joins = []
        for weight in self.of:
            alias = self.dialect.identifier(weight.alias)
            source, on = self.name, f"{alias}.term = {weight.term} AND {alias}.level = {weight.x}"
            if weight.block is not None:
                source, on = f"({self._of_texts(weight)})", f"{alias}.id = {row}"
            joins.append(f"\n  LEFT JOIN {source} AS {alias} ON {on}")
        return "".join(joins)

    def _of_texts(self, weight: Weight) -> str:
        """Return what the tokens of each text add up to, and how many there are."""
        if self.tokens is None:
            raise ValueError("There is no table of tokens.")
        often = "1" if weight.binary else "k.often"
        sums = "".join(f", SUM({often} * w.s{i}) AS s{i}" for i in range(self.scores))
        n = self.dialect.as_double(f"SUM({often})")
        return (
            f"SELECT k.row_id AS id{sums}, {n} AS n FROM {self.dialect.table(self.tokens)} AS k "
            f"JOIN {self.name} AS w ON w.term = {weight.term} AND w.level = k.token "
            f"WHERE k.block = {weight.block} GROUP BY k.row_id"
        )

    def given(self) -> str:
        """Return the table as a step of the query."""
        columns = ", ".join(["term", "level", *(f"s{i}" for i in range(self.scores))])
        name = self.dialect.identifier(INLINE_WEIGHTS)
        return f"{name}({columns}) AS (VALUES {', '.join(self._rows())})"

    def setup(self) -> list[str]:
        """Return the statements that make and fill the table."""
        numbers = "".join(f", s{i} {self.dialect.double} NOT NULL" for i in range(self.scores))
        made = (
            f"CREATE TABLE {self.name} (term INTEGER NOT NULL, level TEXT NOT NULL"
            f"{numbers}, PRIMARY KEY (term, level))"
        )
        rows = self._rows()
        filled = [
            f"INSERT INTO {self.name} VALUES {', '.join(rows[i : i + ROWS])}"
            for i in range(0, len(rows), ROWS)
        ]
        return [self.dialect.finished(statement) for statement in (made, *filled)]

    def _rows(self) -> list[str]:
        """Return rows of the table; strings that the database cannot hold will not come either."""
        rows = []
        for weight in self.of:
            for level, points in zip(weight.levels, weight.points.tolist(), strict=True):
                if spelled := _string(self.dialect, level):
                    numbers = "".join(f", {self.dialect.number(x)}" for x in points)
                    rows.append(f"({weight.term}, {spelled}{numbers})")
        return rows


def _string(dialect: Dialect, text: str) -> str:
    """Spell a string; nothing of one that the database cannot hold."""
    try:
        return dialect.string(text)
    except ValueError:
        return ""


# --- The pieces of a query that scores: what is read, what is found out, what is added -----------


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of a query that scores."""

    dialect: Dialect  # how the database spells them
    # What is read of the table t, by the names that the next step knows it by.
    cells: dict[str, str] = field(default_factory=dict)
    # What is found out of the cells x: the places of bins, of levels and of rules' cells, and
    # clipped numbers.
    found: dict[str, str] = field(default_factory=dict)
    # What is added to each score: pieces of the names in ``found``, and of the cells.
    scores: list[list[str]] = field(default_factory=list)
    weights: list[Weight] = field(default_factory=list)  # what is joined
    _names: Any = field(default_factory=count)

    def x(self, name: str) -> str:
        """Return a result of the step before, quoted."""
        return f"x.{self.dialect.identifier(name)}"

    def cell(self, cell: Cell) -> str:
        """Return a cell, read once: its number or its text, NULL where it is missing."""
        column = f"{TABLE}.{self.dialect.identifier(cell.column)}"
        read = self.dialect.as_text(column) if _is_text(cell) else self.dialect.read(column, cell)
        return self._once(self.cells, read)

    def find(self, what: str) -> str:
        """Find something out once; return its name in the next step."""
        return self._once(self.found, what)

    def _once(self, named: dict[str, str], what: str) -> str:
        for name, known in named.items():
            if known == what:
                return self.x(name)
        name = f"naively {next(self._names)}"  # which no column has
        named[name] = what
        return self.x(name)

    def add(self, values: Sequence[str]) -> None:
        """Add a piece to each score."""
        for all_of, value in zip(self.scores, values, strict=True):
            all_of.append(value)

    def add_chosen(self, place: str, points: Floats) -> None:
        """Add one row of the points, of shape (places, scores), by a place from 1 on."""
        for all_of, of_score in zip(self.scores, points.T, strict=True):
            if of_score.any():
                all_of.append(self.dialect.choose(place, of_score))


def summed(pieces: Sequence[str]) -> str:
    """Return a sum that is as deep as its length's logarithm: databases limit the depth."""
    if len(pieces) <= 8:
        return " + ".join(pieces)
    half = len(pieces) // 2
    return f"({summed(pieces[:half])}) + ({summed(pieces[half:])})"


def selected(dialect: Dialect, named: Mapping[str, str]) -> list[str]:
    """Return pieces under their names."""
    return [f"{what} AS {dialect.identifier(name)}" for name, what in named.items()]
