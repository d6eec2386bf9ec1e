"""From the answer of the counting query to a tally.

Cells and sums become tables as they are. Different values become rows that are counted as any rows
are, each with the weight that it came with: so every event model counts levels, truths, texts and
parts of times as it does in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    CELL,
    PRESENT,
    SQUARE,
    VALUE,
    Axis,
    Cells,
    Columns,
    Levels,
    Name,
    title,
)
from naively.counting.block import Dense
from naively.counting.labels import LabelArray, Labels
from naively.counting.tally import LARGEST, BlockTally, Tally
from naively.data.rows import ColumnRows, Rows, read_times
from naively.engines.sql.bits import total
from naively.engines.sql.parts import (
    CellCounts,
    Part,
    TimeParts,
    Totals,
    Values,
    sums_are_exact,
)
from naively.engines.sql.source import HALF, Source
from naively.kernels.double_double import Sums
from naively.kernels.reference import as_float, coarsest
from naively.schema.derived import TimePart
from naively.schema.group import Group
from naively.schema.schema import Schema

OF_NUMBERS = 3  # parts of a sum of numbers; those of squares follow


@dataclass(frozen=True)
class Answer:
    """What was counted of a part: a line for each class and cell, value or exponent.

    Parameters
    ----------
    labels : list
        The label of each line, as the database has it.
    keys, texts, numbers : list
        What the lines are of: whole numbers, strings, float64.
    weight : Sums of shape (lines,)
        How many rows each line is of (the sum of their weights).
    rest : list of tuple
        What else was asked.
    """

    labels: list[Hashable]
    keys: list[Any]
    texts: list[Any]
    numbers: list[Any]
    weight: Sums
    rest: list[tuple[Any, ...]]

    def __len__(self) -> int:
        return len(self.labels)


def read(source: Source, lines: Iterable[tuple[Any, ...]], parts: int) -> list[Answer]:
    """Return the answers of the classes and of so many parts, in this order."""
    of_part: list[list[tuple[Any, ...]]] = [[] for _ in range(parts + 1)]
    for line in lines:
        of_part[line[0]].append(line)
    end = 6 if source.weighing is None else 7
    return [
        Answer(
            [line[1] for line in some],
            [line[2] for line in some],
            [line[3] for line in some],
            [line[4] for line in some],
            _weights(source, [line[5:end] for line in some]),
            [line[end:] for line in some],
        )
        for some in of_part
    ]


def _weights(source: Source, counts: list[tuple[Any, ...]]) -> Sums:
    """Return weights of what was counted of them: rows, or the two halves of whole numbers."""
    if source.weighing is None:
        return Sums(np.array([float(n) for (n,) in counts], np.float64))
    whole = [(int(above) << HALF) + int(below) for above, below in counts]
    high = [float(n) for n in whole]
    low = [float(n - int(h)) for n, h in zip(whole, high, strict=True)]
    scale = source.weighing.scale
    return Sums(np.array(high, np.float64) / scale, np.array(low, np.float64) / scale)


@dataclass(frozen=True)
class Classes:
    """The classes of a table.

    Parameters
    ----------
    labels : ndarray of shape (classes,)
        Sorted.
    code : mapping of label to int
        The number of each label, as the database has it.
    weight : Sums of shape (classes,)
        The weight of each.
    """

    labels: LabelArray
    code: Mapping[Hashable, int]
    weight: Sums

    @classmethod
    def of(cls, source: Source, answer: Answer) -> Classes:
        """Return the classes that were found."""
        codes, labels = source.labels(answer.labels)
        code = dict(zip(answer.labels, codes.tolist(), strict=True))
        return cls(labels, code, _placed(answer.weight, codes, (len(labels),)))

    @property
    def k(self) -> int:
        """How many there are."""
        return len(self.labels)

    def codes(self, answer: Answer) -> NDArray[np.int32]:
        """Return the number of the class of each line."""
        return np.fromiter(map(self.code.__getitem__, answer.labels), np.int32, len(answer))


def _placed(weight: Sums, place: Any, shape: tuple[int, ...]) -> Sums:
    """Return a table with these weights in their places, each of which has one; else 0."""
    table = Sums.zeros(shape)
    table.high[place], table.low[place] = weight.high, weight.low
    return table


@dataclass(frozen=True)
class Answers:
    """What was counted of all parts.

    Parameters
    ----------
    source : Source
        The table.
    classes : Classes
        Its classes.
    parts : mapping of Part to Answer
        What was asked, and what was answered.
    """

    source: Source
    classes: Classes
    parts: Mapping[Part, Answer]

    def tally(self, schema: Schema) -> Tally:
        """Return the tally of a schema, as if the rows had been counted in memory."""
        blocks = {
            group.key: _side_by_side([self._column(group, name) for name in group.columns])
            for group in schema.of_columns
        }
        return Tally(self.classes.labels, self.classes.weight, blocks).pruned()

    def values(self, column: str) -> ColumnRows | None:
        """Return the different values of a column as rows; None if they were not asked for."""
        answer = self.parts.get(Values(column))
        return None if answer is None else self._rows(Values(column), answer)

    def _column(self, group: Group, name: Name) -> BlockTally:
        """Count one column of a group."""
        group = replace(group, columns=(name,))
        if isinstance(name, TimePart):
            column = str(name.of)
            part: Part = TimeParts(column, hours=name.part == "hour")
            part = part if part in self.parts else Values(column)
        else:
            of = (p for p in self.parts if p.column == name and not isinstance(p, TimeParts))
            part = next(of)
        answer = self.parts[part]
        match part:
            case CellCounts():
                return self._cells(group, part, answer)
            case Totals():
                return self._totals(group, part, answer)
        return self._counted(group, part, answer)

    def _rows(self, part: Part, answer: Answer) -> ColumnRows:
        """Return the values that were found of a column as rows."""
        column = self.source.columns[part.column]
        cells = answer.numbers
        if isinstance(part, Values) and column.kind == "string":
            cells = answer.texts
        elif isinstance(part, Values) and column.whole:
            cells = answer.keys
        return self.source.rows({part.column: cells})

    def _counted(self, group: Group, part: Part, answer: Answer) -> BlockTally:
        """Count different values, each with its weight."""
        codes = self.classes.codes(answer)
        high = Labels(codes, self.classes.labels, answer.weight.high)
        alone = Schema((group,), (part.column,))
        rows: Rows = self._rows(part, answer)
        if group.kind == "part":
            rows = read_times(rows, [part.column])  # of strings, where the times are such
        block = alone.encode(rows, high).blocks[group.key]
        counted: BlockTally = group.event.tally(block, high)
        if answer.weight.low.any():
            counted += group.event.tally(block, replace(high, weight=answer.weight.low))
        return counted

    def _cells(self, group: Group, part: CellCounts, answer: Answer) -> BlockTally[Cells]:
        """Return the counts of cells, on the grid that counting in memory comes to."""
        keys, row = np.unique(np.array(answer.keys, np.int64), return_inverse=True)
        codes = self.classes.codes(answer)
        counts = _placed(answer.weight, (row, codes), (len(keys), self.classes.k))
        _check(group, as_float(keys << np.int64(part.shift)))
        more = coarsest(keys)
        coarser, place = np.unique(keys >> np.int64(more), return_inverse=True)
        axis = Cells(group.columns, (part.shift + more,), (coarser,))
        return BlockTally(axis, {CELL: counts.place(place.astype(np.int64), len(coarser))})

    def _totals(self, group: Group, part: Totals, answer: Answer) -> BlockTally[Columns]:
        """Return the sums of a column of numbers, after a look at its extremes."""
        ends = [*answer.numbers, *(x for line in answer.rest for x in line[:2])]
        if part.threshold is None:
            _check(group, np.array(sorted({float(x) for x in ends if x is not None})))
        exact, shape = sums_are_exact(self.source), (1, self.classes.k)
        sums = {statistic: [Fraction(0)] * shape[1] for statistic in (VALUE, SQUARE)}
        present = Sums.zeros(shape)
        for i, c in enumerate(self.classes.codes(answer).tolist()):
            present += _placed(answer.weight[i], (0, c), shape)
            key, asked = int(answer.keys[i]), answer.rest[i][2:]
            sign, exponent = (1, key) if key >= 0 else (-1, -1 - key)
            if not exact:
                sums[VALUE][c] += Fraction(float(asked[0]))
                sums[SQUARE][c] += Fraction(float(asked[1] or 0.0))
                continue
            sums[VALUE][c] += sign * total(exponent, asked[:OF_NUMBERS], 1)
            if part.squares:
                sums[SQUARE][c] += total(exponent, asked[OF_NUMBERS:], 2)
        table = {PRESENT: present} | {s: _rounded(of, group) for s, of in sums.items()}
        return BlockTally(Columns(group.columns), {s: table[s] for s in group.event.statistics})


def _check(group: Group, some: NDArray[np.float64]) -> None:
    """Let the event model refuse numbers that it cannot count, (numbers,); they name the column.

    Raises
    ------
    ValueError
        If it refuses them, or if it transforms numbers before it counts them.
    """
    if not len(some):
        return
    block = Dense(some[:, None], Columns(group.columns))
    prepared = group.event.prepare(block)
    if not (isinstance(prepared, Dense) and np.array_equal(prepared.values, block.values)):
        raise ValueError(
            f"Column {title(group.columns[0])!r} cannot be counted in the database: "
            f"{group.event.name} transforms numbers before it counts them. Add a column of the "
            "transformed numbers, or choose another event model."
        )
    group.event.tally(block, Labels(np.zeros(len(some), np.int32), np.zeros(1)))


def _rounded(sums: Sequence[Fraction], group: Group) -> Sums:
    """Return exact sums in double-double, of shape (1, classes)."""
    if any(abs(x) > LARGEST for x in sums):
        raise ValueError(
            f"Column {title(group.columns[0])!r} holds numbers whose sums overflow; scale it."
        )
    high = [float(x) for x in sums]
    low = [float(x - Fraction(h)) for x, h in zip(sums, high, strict=True)]
    return Sums(np.array([high]), np.array([low]))


def _side_by_side(columns: Sequence[BlockTally]) -> BlockTally:
    """Return the tally of a group, whose columns were counted one by one."""
    first = columns[0]
    if len(columns) == 1:
        return first
    tables = {
        statistic: Sums(
            np.concatenate([one[statistic].high for one in columns]),
            np.concatenate([one[statistic].low for one in columns]),
        )
        for statistic in first.sums
    }
    return BlockTally(_joined([one.axis for one in columns]), tables)


def _joined(axes: Sequence[Axis]) -> Axis:
    """Return the axis of columns that have one each."""
    names = tuple(axis.columns[0] for axis in axes)
    match axes[0]:
        case Cells():
            cells = [axis for axis in axes if isinstance(axis, Cells)]
            shifts, keys = zip(*((of.shifts[0], of.keys[0]) for of in cells), strict=True)
            return Cells(names, shifts, keys)
        case Levels() as first:
            levels = tuple(axis.levels[0] for axis in axes if isinstance(axis, Levels))
            return replace(first, columns=names, levels=levels)
    return Columns(names)
