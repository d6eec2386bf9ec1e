"""The terms of a scorecard as operators of ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from naively.counting.axis import Level
from naively.data.rows import NAMES, Cycle
from naively.engines.onnx.graph import Graph, Tensor
from naively.engines.onnx.inputs import NUMBERS, Input, Key, key_of
from naively.kernels.reference import FAR, Floats
from naively.model.scorecard.terms import (
    Bins,
    Cell,
    Chosen,
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

INTEGER = 7
DAY, HOUR = 86_400_000_000, 3_600_000_000  # in microseconds
FARTHEST_TIME = 9e12  # seconds, which are a count of microseconds still


@final
class Scored:
    """What terms add to the scores: tensors of shape (n, classes), and one product of matrices."""

    def __init__(self, graph: Graph, inputs: Mapping[Key, Input]) -> None:
        self.graph = graph
        self.inputs = inputs
        self.added: list[Tensor] = []
        self.lines: list[Tensor] = []
        self.slopes: list[Floats] = []
        self.presence: dict[str, Presence] = {}

    def all(self, terms: Sequence[Term]) -> list[Tensor]:
        """Return what all terms add."""
        # What a cell adds as it is there is in its bins' numbers, if it has some.
        self.presence = {of.cell.column: of for of in terms if isinstance(of, Presence)}
        for term in terms:
            if not isinstance(term, Presence):
                self._add(term)
        for of in self.presence.values():
            there = self.graph.op("Cast", self._missing(of.cell), to=INTEGER)
            self.added.append(self.graph.rows_of(np.stack([of.there, of.missing]), there))
        if self.lines:
            lines = self.graph.op("Concat", *self.lines, axis=1)
            slopes = self.graph.constant(np.stack(self.slopes))
            self.added.append(self.graph.op("MatMul", lines, slopes))
        return self.added

    def _add(self, term: Term) -> None:
        op, of = self.graph.op, self.graph.constant
        match term:
            case Bins():
                at = self.graph.reached(self._number(term.cell), term.edges)
                self._add_row(term.cell, at, term.points)
            case Levels():
                self._add_row(term.cell, self._place(term.cell, term.levels), term.points)
            case Line():
                line = self._line(term.cell, term.low, term.high, term.centre)
                self._add_slope(line, term.slope)
            case Parabola():
                far = op("Sub", self._number(term.cell), of([term.mean]))
                far = op("Max", op("Min", far, of([[FAR]])), of([[-FAR]]))
                added = op("Mul", op("Mul", far, far), of([-term.half_precision]))
                nothing = self._missing(term.cell)
                self.added.append(op("Where", nothing, of([[0.0]]), added))
            case Tokens():
                self._add_tokens(term)
            case Pair():
                a, b = self._bin(term.a), self._bin(term.b)
                both = op("Add", op("Mul", a, self.graph.whole([[len(term.b)]])), b)
                table = term.points.reshape(-1, term.points.shape[-1])
                self.added.append(self.graph.rows_of(table, both))
            case Product():
                both = op("Mul", self._factor(term.a), self._factor(term.b))
                both = op("Div", both, of([[term.scale]]))
                both = op("Max", op("Min", both, of([[term.most]])), of([[-term.most]]))
                self._add_slope(both, term.slope)

    def _add_row(self, cell: Cell, at: Tensor, points: Floats) -> None:
        """Add the row of a table, and none where the cell is missing."""
        missing = np.zeros(points.shape[1])
        if not cell.log and (of := self.presence.pop(cell.column, None)) is not None:
            points, missing = points + of.there, of.missing
        table = np.vstack([points, missing])
        self.added.append(self.graph.rows_of(table, self._or(cell, at, len(points))))

    def _or(self, cell: Cell, at: Tensor, missing: int) -> Tensor:
        """Return places, and a greater one where the cell is missing."""
        op = self.graph.op  # Where is several times slower in onnxruntime
        there = op("Cast", self._missing(cell), to=INTEGER)
        return op("Max", at, op("Mul", there, self.graph.whole([[missing]])))

    def _add_slope(self, line: Tensor, slope: Floats) -> None:
        if np.isfinite(slope).all():
            self.lines.append(line)
            self.slopes.append(slope)
            return
        op, zero = self.graph.op, self.graph.constant([[0.0]])
        product = op("Mul", line, self.graph.constant([slope]))
        self.added.append(op("Where", op("Equal", line, zero), zero, product))

    def _input(self, cell: Cell, what: str, of: Tokens | None = None) -> Tensor:
        split = dict(of.split) if of is not None and what == "tokens" else None
        longest = None if of is None else of.longest
        return self.inputs[key_of(cell.column, what, split, longest)].name  # type: ignore[arg-type]

    def _number(self, cell: Cell) -> Tensor:
        x = self._input(cell, "number")
        return self.graph.op("Log", x) if cell.log else x

    def _missing(self, cell: Cell) -> Tensor:
        if cell.kind in NUMBERS:
            return self.graph.op("IsNaN", self._number(cell))
        return self._input(cell, "missing")

    def _place(self, cell: Cell, levels: Sequence[Level]) -> Tensor:
        """Return the place of a cell's level, of shape (n, 1); after the last if it is unknown."""
        op, whole = self.graph.op, self.graph.whole
        if cell.part is not None:
            place = {level: i for i, level in enumerate(levels)}
            of_part = [place.get(name, len(levels)) for name in NAMES[cell.part]]
            return op("Gather", whole(of_part), self._part(cell, cell.part))
        if cell.kind not in NUMBERS:
            places = {level: i for i, level in enumerate(levels) if isinstance(level, str)}
            at = self.graph.number_of(self._input(cell, "string"), [*places])
            return op("Gather", whole([*places.values(), len(levels)]), at)
        numbers = {float(x): i for i, x in enumerate(levels) if isinstance(x, int | float)}
        ascending, x = np.array(sorted(numbers), np.float64), self._number(cell)
        at = self.graph.reached(x, ascending)
        found = op("Gather", self.graph.constant([np.nan, *ascending]), at)
        of_level = op("Gather", whole([len(levels), *(numbers[x] for x in ascending)]), at)
        return op("Where", op("Equal", found, x), of_level, whole([[len(levels)]]))

    def _part(self, cell: Cell, part: Cycle) -> Tensor:
        """Return the hour from 0, the weekday from Monday, or the month from 0, of shape (n, 1)."""
        op, whole, of = self.graph.op, self.graph.whole, self.graph.constant
        x = self._number(cell)
        there = op("Where", op("IsNaN", x), of([[0.0]]), x)
        near = op("Max", op("Min", there, of([[FARTHEST_TIME]])), of([[-FARTHEST_TIME]]))
        micro = op("Cast", op("Round", op("Mul", near, of([[1e6]]))), to=INTEGER)
        if part == "hour":
            return self._whole_division(op("Mod", micro, whole([[DAY]])), HOUR)
        day = self._whole_division(micro, DAY)
        if part == "weekday":
            return op("Mod", op("Add", day, whole([[3]])), whole([[7]]))  # 1970 began on a Thursday
        # Days since 1 March of year 0, in cycles of 400 years; years begin in March, so that a leap
        # day is the last (Hinnant, chrono-compatible low-level date algorithms, 2013).
        of_era = op("Mod", op("Add", day, whole([[719_468]])), whole([[146_097]]))
        leap = op("Sub", of_era, self._whole_division(of_era, 1_460))
        leap = op("Add", leap, self._whole_division(of_era, 36_524))
        leap = op("Sub", leap, self._whole_division(of_era, 146_096))
        year = self._whole_division(leap, 365)
        days = op("Mul", year, whole([[365]]))
        days = op("Add", days, self._whole_division(year, 4))
        days = op("Sub", days, self._whole_division(year, 100))
        of_year = op("Sub", of_era, days)
        five = op("Add", op("Mul", of_year, whole([[5]])), whole([[2]]))
        march = self._whole_division(five, 153)
        return op("Mod", op("Add", march, whole([[2]])), whole([[12]]))

    def _whole_division(self, x: Tensor, by: int) -> Tensor:
        """Divide whole numbers, downwards below 0 too."""
        op, divisor = self.graph.op, self.graph.whole([[by]])
        return op("Div", op("Sub", x, op("Mod", x, divisor)), divisor)

    def _bin(self, of: Edges | Chosen) -> Tensor:
        if isinstance(of, Edges):
            at = self.graph.reached(self._number(of.cell), of.edges)
        else:
            at = self._place(of.cell, of.levels)
        return self._or(of.cell, at, len(of) - 1)

    def _line(self, cell: Cell, low: float, high: float, centre: float) -> Tensor:
        return self._clipped(self._number(cell), self._missing(cell), low, high, centre)

    def _clipped(
        self, x: Tensor, missing: Tensor, low: float, high: float, centre: float
    ) -> Tensor:
        op, of = self.graph.op, self.graph.constant
        near = op("Min", op("Max", x, of([[low]])), of([[high]]))
        return op("Where", missing, of([[0.0]]), op("Sub", near, of([[centre]])))

    def _factor(self, of: Clipped | IsLevel) -> Tensor:
        op, constant = self.graph.op, self.graph.constant
        missing = self._missing(of.cell)
        if isinstance(of, IsLevel):
            is_level = op("Equal", self._place(of.cell, [of.level]), self.graph.whole([[0]]))
            x = op("Sub", op("Cast", is_level, to=11), constant([[of.centre]]))
            x = op("Where", missing, constant([[0.0]]), x)
        else:
            x = self._number(of.cell)
            if of.above is not None:
                x = op("Cast", op("Greater", x, constant([[of.above]])), to=11)
            x = self._clipped(x, missing, of.low, of.high, of.centre)
        return op("Div", x, constant([[of.scale]]))

    def _add_tokens(self, term: Tokens) -> None:
        op, of, whole = self.graph.op, self.graph.constant, self.graph.whole
        unknown = len(term.tokens)
        at = self.graph.number_of(self._input(term.cell, "tokens", term), term.tokens)
        if term.binary:  # sorted, so that a token that comes again follows itself
            wide = op("Slice", op("Shape", at), whole([1]), whole([2]))
            at = self.graph.sorted(at, wide)
            before = op("Pad", at, whole([0, 1, 0, -1]), whole(-1))
            at = op("Where", op("Equal", at, before), whole([[unknown]]), at)
        points = np.vstack([term.points, np.zeros(term.points.shape[1])])
        added = op("ReduceSum", op("Gather", of(points), at), whole([1]), keepdims=0)
        if term.normalised:
            known = op("Cast", op("Less", at, whole([[unknown]])), to=11)
            count = op("ReduceSum", known, whole([1]), keepdims=1)
            added = op("Div", added, op("Sqrt", op("Max", count, of([[1.0]]))))
        if term.there.any():
            missing = self._input(term.cell, "missing", term)
            added = op("Add", added, op("Where", missing, of([[0.0]]), of([term.there])))
        self.added.append(added)
