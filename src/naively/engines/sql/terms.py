"""The terms of a scorecard are written as pieces of SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.data.rows import NAMES
from naively.engines.sql.pieces import Pieces
from naively.engines.sql.spelling import Spelling
from naively.engines.sql.weights import Weight
from naively.kernels.reference import FAR, Floats
from naively.model.scorecard.scorecard import Scorecard
from naively.model.scorecard.terms import (
    Bins,
    Cell,
    Clipped,
    Edges,
    IsLevel,
    Levels,
    Line,
    Pair,
    Parabola,
    Presence,
    Product,
    Term,
    Tokens,
)

TINY = 1e-300  # what a score's pieces need not tell from 0
INLINE = 8  # levels of a column that a query looks through by itself, where it could join


def pieces_of(card: Scorecard, spelling: Spelling, *, joins: bool) -> tuple[Pieces, Floats, bool]:
    """Return the pieces of a query, what the scores start from, and whether they are differences.

    Where nothing is impossible only the differences from the first class's score count, which is 0
    then and needs no arithmetic.
    """
    differences = all(np.isfinite(points).all() for points in _points(card))
    if differences:
        shift: Callable[[Floats], Floats] = lambda of: of[..., 1:] - of[..., :1]  # noqa: E731
    else:
        shift = lambda of: of  # noqa: E731
    start = shift(card.start)
    pieces = Pieces(spelling, scores=[[] for _ in start])
    missing = {t.cell.column: t for t in card.terms if isinstance(t, Presence)}
    blocks = [i for i, term in enumerate(card.terms) if isinstance(term, Tokens)]
    written = _Written(pieces, shift, missing, _joined(card, spelling, joins=joins), blocks)
    # A column whose bins or levels are chosen says by one more place what its being missing says.
    order = sorted(enumerate(card.terms), key=lambda of: isinstance(of[1], Presence))
    for number, term in order:
        written.write(number, term)
    return pieces, start, differences


def _points(card: Scorecard) -> Iterable[Floats]:
    yield card.start
    for term in card.terms:
        match term:
            case Presence():
                yield from (term.there, term.missing)
            case Line() | Product():
                yield term.slope
            case Parabola():
                yield from (term.mean, term.half_precision)
            case Tokens():
                yield from (term.points, term.there)
            case _:
                yield term.points


def _joined(card: Scorecard, spelling: Spelling, *, joins: bool) -> set[int]:
    """Return the numbers of the terms of levels that are joined, the longest ones."""
    least = 0 if joins else INLINE
    sizes = {
        i: len(term.levels)
        for i, term in enumerate(card.terms)
        if isinstance(term, Levels) and _is_text(term.cell) and len(term.levels) > least
    }
    if not joins and spelling.most_joins is not None:
        return set()  # there it is quicker to look through the levels
    return set(sorted(sizes, key=lambda i: -sizes[i])[: spelling.most_joins])


def _is_text(cell: Cell) -> bool:
    return cell.kind in ("string", "text") and cell.part is None


@dataclass(frozen=True, eq=False)
class _Written:
    """Writes terms as pieces."""

    pieces: Pieces
    shift: Callable[[Floats], Floats]
    missing: dict[str, Presence]
    joined: set[int]
    blocks: list[int]

    def write(self, number: int, term: Term) -> None:
        """Write a term, of this number in the scorecard."""
        match term:
            case Tokens():
                self._tokens(number, term)
            case Levels() if number in self.joined:
                self._joined_levels(number, term)
            case Presence() | Bins() | Levels() | Pair():
                self._places(term)
            case _:
                self._lines(term)

    def _places(self, term: Presence | Bins | Levels | Pair) -> None:
        """Write a term of which one row of points is chosen."""
        match term:
            case Presence():
                if term.cell.column in self.missing:
                    self._presence(term)
            case Bins():
                x = self.pieces.cell(term.cell)
                self._chosen(term.cell, x, self._bin(x, term.edges), term.points)
            case Levels():
                place, levels = self._level(term.cell, term.levels)
                x = self.pieces.cell(term.cell, as_text=_is_text(term.cell))
                self._chosen(term.cell, x, place, term.points[[*levels, -1]])
            case Pair():
                self._pair(term)

    def _lines(self, term: Line | Parabola | Product) -> None:
        """Write a term that is a function of numbers."""
        match term:
            case Line():
                self._line(term)
            case Parabola():
                self._parabola(term)
            case Product():
                self._product(term)

    def _chosen(self, cell: Cell, x: str, place: str, points: Floats) -> None:
        """Add what a bin or a level adds, and what the cell's presence does, if not added yet."""
        missing = np.zeros(points.shape[1])
        if (presence := self.missing.pop(cell.column, None)) is not None:
            points, missing = points + presence.there, presence.missing
        points = self.shift(np.vstack([points, missing]))
        place = f"CASE WHEN {x} IS NULL THEN {len(points)} ELSE {place} END"
        self.pieces.add_chosen(self.pieces.find(place), points)

    def _presence(self, term: Presence) -> None:
        x = self.pieces.cell(term.cell, as_text=_is_text(term.cell))
        place = self.pieces.find(f"CASE WHEN {x} IS NULL THEN 2 ELSE 1 END")
        points = np.vstack([term.there, term.missing])
        self.pieces.add_chosen(place, self.shift(points))

    def _bin(self, x: str, edges: Floats, first: int = 1) -> str:
        """Return how many edges a number reaches, and ``first``."""
        number = self.pieces.dialect.number

        def among(low: int, high: int) -> str:
            """Return the place of a number that reaches edge low - 1, if any, but not edge high."""
            if low == high:
                return f"{first + low}"
            ways = min(self.pieces.spelling.ways, high - low + 1)
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
        spelling, x = self.pieces.spelling, self.pieces.cell(cell, as_text=_is_text(cell))
        if _is_text(cell):
            return spelling.index(x, list(map(str, levels))), list(range(len(levels)))
        number: Callable[[float], str] = self.pieces.dialect.number
        if cell.part is not None:
            number = lambda of: f"{int(of)}"  # noqa: E731  (parts are whole numbers)
            x = spelling.part(x, cell.part)
            names = NAMES[cell.part]
            numbers = {float(names.index(of)): i for i, of in enumerate(levels) if of in names}
        else:
            numbers = {float(of): i for i, of in enumerate(levels)}
        order = sorted(numbers)
        none = len(order) + 1

        def among(low: int, high: int) -> str:
            if high - low <= 1:
                same = f"{x} = {number(order[low])}" if high > low else "1 = 0"
                return f"CASE WHEN {same} THEN {low + 1} ELSE {none} END"
            half = (low + high) // 2
            edge, below, above = number(order[half]), among(low, half), among(half, high)
            return f"CASE WHEN {x} < {edge} THEN {below} ELSE {above} END"

        return among(0, len(order)), [numbers[of] for of in order]

    def _joined_levels(self, number: int, term: Levels) -> None:
        x = self.pieces.cell(term.cell, as_text=True)
        points, missing = term.points, np.zeros(term.points.shape[1])
        if (presence := self.missing.pop(term.cell.column, None)) is not None:
            points, missing = points + presence.there, presence.missing
        points, missing = self.shift(points), self.shift(missing)
        weight = Weight(number, list(map(str, term.levels)), points[:-1], x)
        self.pieces.weights.append(weight)
        alias, spelled = self.pieces.dialect.identifier(weight.alias), self.pieces.dialect.number
        self.pieces.add(
            [
                f"CASE WHEN {x} IS NULL THEN {spelled(float(none))} "
                f"ELSE COALESCE({alias}.s{i}, {spelled(float(never))}) END"
                for i, (none, never) in enumerate(zip(missing, points[-1], strict=True))
            ]
        )

    def _clip(self, x: str, low: float, high: float) -> str:
        dialect = self.pieces.dialect
        return dialect.least(dialect.greatest(x, dialect.number(low)), dialect.number(high))

    def _line(self, term: Line) -> None:
        number, x = self.pieces.dialect.number, self.pieces.cell(term.cell)
        clipped = f"{self._clip(x, term.low, term.high)} - {number(term.centre)}"
        none = number(0.0)
        line = self.pieces.find(f"CASE WHEN {x} IS NULL THEN {none} ELSE {clipped} END")
        self.pieces.add([self._times(line, slope) for slope in self.shift(term.slope).tolist()])

    def _times(self, line: str, slope: float) -> str:
        """Multiply a number by a slope; 0 times an infinite slope is 0."""
        number, none = self.pieces.dialect.number, self.pieces.dialect.number(0.0)
        if slope == 0:
            return none
        if np.isfinite(slope):
            product = f"{line} * {number(slope)}"
            return self.pieces.dialect.product(product, line, TINY / abs(slope))
        return f"CASE WHEN {line} = {none} THEN {none} ELSE {line} * {number(slope)} END"

    def _parabola(self, term: Parabola) -> None:
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

    def _pair(self, term: Pair) -> None:
        places = []
        for of in (term.a, term.b):
            text = _is_text(of.cell)
            x = self.pieces.cell(of.cell, as_text=text)
            place, order = (
                (self._bin(x, of.edges), list(range(len(of.edges) + 1)))
                if isinstance(of, Edges)
                else self._level(of.cell, of.levels)
            )
            size = len(of)
            order += [] if isinstance(of, Edges) else [len(of.levels)]
            order += [size - 1]
            missing = f"CASE WHEN {x} IS NULL THEN {len(order)} ELSE {place} END"
            places.append((missing, order))
        (a, of_a), (b, of_b) = places
        points = term.points[np.ix_(of_a, of_b)].reshape(len(of_a) * len(of_b), -1)
        both = self.pieces.find(f"({a} - 1) * {len(of_b)} + {b}")
        self.pieces.add_chosen(both, self.shift(points))

    def _product(self, term: Product) -> None:
        number = self.pieces.dialect.number
        product = f"{self._factor(term.a)} * {self._factor(term.b)} / {number(term.scale)}"
        line = self.pieces.find(self._clip(f"({product})", -term.most, term.most))
        self.pieces.add([self._times(line, slope) for slope in self.shift(term.slope).tolist()])

    def _factor(self, of: Clipped | IsLevel) -> str:
        dialect, number = self.pieces.dialect, self.pieces.dialect.number
        none, one = number(0.0), number(1.0)
        if isinstance(of, IsLevel):
            x = self.pieces.cell(of.cell, as_text=_is_text(of.cell))
            place, _ = self._level(of.cell, (of.level,))
            value = f"CASE WHEN {place} = 1 THEN {one} ELSE {none} END"
        else:
            x = value = self.pieces.cell(of.cell)
            if of.above is not None:
                value = f"CASE WHEN {x} > {number(of.above)} THEN {one} ELSE {none} END"
            value = self._clip(value, of.low, of.high)
        distance = f"({value} - {number(of.centre)})"
        least = TINY**0.4 * of.scale  # the product of two is above TINY
        factor = dialect.product(f"{distance} / {number(of.scale)}", distance, least)
        return f"CASE WHEN {x} IS NULL THEN {none} ELSE {factor} END"

    def _tokens(self, number: int, term: Tokens) -> None:
        dialect, x = self.pieces.dialect, self.pieces.cell(term.cell, as_text=True)
        block = self.blocks.index(number)
        weight = Weight(number, term.tokens, self.shift(term.points), x, block, term.binary)
        known = bool(term.tokens)
        if known:
            self.pieces.weights.append(weight)
        alias, one = dialect.identifier(weight.alias), dialect.number(1.0)
        left_out = f"{x} IS NULL"
        if term.longest is not None:
            left_out += f" OR {self.pieces.spelling.length(x)} > {term.longest}"
        root = f" / {dialect.sqrt(f'COALESCE({alias}.n, {one})')}" if term.normalised else ""
        none = dialect.number(0.0)
        there = list(map(dialect.number, self.shift(term.there).tolist()))
        if known:
            there = [
                f"{said} + COALESCE({alias}.s{i}, {none}){root}" for i, said in enumerate(there)
            ]
        self.pieces.add([f"CASE WHEN {left_out} THEN {none} ELSE {said} END" for said in there])
