"""A tally as a query: counts, exact sums and cells of a table in a database."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeAlias, final

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
    as_float,
    title,
)
from naively.counting.block import LARGEST, Dense
from naively.counting.labels import LEAST_WEIGHT, MOST_WEIGHT, LabelArray, Labels, encode_labels
from naively.counting.tally import BlockTally, Tally
from naively.data.columns import (
    TIME,
    Column,
    ColumnRows,
    Reading,
    join_columns,
    missing_column,
    read_column,
    times_of,
)
from naively.data.frames import filled
from naively.data.reading import with_readings
from naively.kernels.double_double import Sums
from naively.kernels.reference import coarsest
from naively.schema.schema import Group, Schema, TimePart
from naively.wings.databases.databases import ColumnType, Database, Dialect, Line, Table, Value

# --- A labelled table in a database, as queries see it -------------------------------------------


WEIGHT_BITS = 61  # of a weight as a whole number, beside the bit of the largest
HALF = 31  # the low bits of such a number, which are added for themselves


@dataclass(frozen=True)
class Weighing:
    """How weights become whole numbers, which add up without rounding."""

    scale: float  # a power of two that weights are multiplied by
    whole: bool  # whether all weights are whole numbers
    most: float  # the largest weight


@dataclass(frozen=True)
class DatabaseTable:
    """A table, and which of its columns are labels and weights."""

    database: Database
    table: Table  # the name of the table, or its schema and its name
    columns: dict[str, ColumnType]  # all columns
    target: str  # the columns of labels and, if there is one, of weights
    weight: str | None = None

    @classmethod
    def of(
        cls, database: Database, table: Table, target: str, weight: str | None = None
    ) -> DatabaseTable:
        """Look at the columns of a table."""
        columns = database.columns(table)
        for what, name in (("target column", target), ("column of weights", weight)):
            if name is not None and name not in columns:
                raise ValueError(missing_column(name, list(columns), what))
        if weight is not None and columns[weight].kind not in ("number", "boolean"):
            raise ValueError(
                f"Column {weight!r} holds {columns[weight].kind}s, which are no weights."
            )
        return cls(database, table, columns, target, weight)

    @property
    def name(self) -> str:
        """The table, as a query names it."""
        return self.database.table(self.table)

    @property
    def names(self) -> list[str]:
        """The columns that are learned from."""
        return [name for name in self.columns if name not in (self.target, self.weight)]

    def plain(self, name: str) -> str:
        """Return a column's values as rows are read: text, numbers, and times as seconds."""
        column, x = self.columns[name], self.database.identifier(name)
        if column.kind == "string":
            return self.database.as_text(x)
        return x if column.whole or column.kind == "boolean" else self.number(name)

    def spelled(self, name: str, found: Value) -> str:
        """Spell a value of a column, as ``plain`` found it."""
        column = self.columns[name]
        if column.kind == "string":
            return self.database.string(found)
        if column.kind == "boolean":
            return self.database.boolean(bool(found))
        return self.database.integer(found) if column.whole else self.database.number(found)

    def typed(self, name: str, x: str) -> str:
        """Return values of a column, as they are spelled, with the type that ``plain`` has."""
        column = self.columns[name]
        if column.kind == "string":
            return self.database.as_text(x)
        if column.kind == "boolean":
            return x
        return f"CAST({x} AS BIGINT)" if column.whole else self.database.as_double(x)

    def number(self, name: str) -> str:
        """Return a column's numbers, truths or times (as seconds) as float64."""
        column, x = self.columns[name], self.database.identifier(name)
        if column.kind == "time":
            return self.database.seconds(x)
        return self.database.as_double(x, "boolean" if column.kind == "boolean" else "number")

    def cells(self, name: str, found: Sequence[Value]) -> Column:
        """Return what was read of a column as the same column of rows in memory."""
        kind = self.columns[name].kind
        if kind == "time":
            return _moments(name, found), kind
        if kind == "boolean":  # which are 0 and 1 in SQLite
            found = [None if cell is None else bool(cell) for cell in found]
        cells, seen = read_column(name, list(found))
        if kind == "string" and seen is None:
            return filled(np.empty(len(found), object), kind), None
        return cells, seen

    def rows(self, found: Mapping[str, Sequence[Value]]) -> ColumnRows:
        """Return what was read of some columns as rows."""
        return join_columns({name: self.cells(name, cells) for name, cells in found.items()})

    def labels(self, found: Sequence[Value]) -> tuple[NDArray[np.int32], LabelArray]:
        """Return the codes of labels that were read, and the sorted classes."""
        cells, kind = self.cells(self.target, found)
        rows = ColumnRows({self.target: cells}, {self.target: kind}, len(cells))
        labels = encode_labels(rows.levels(self.target))
        return labels.codes, labels.classes

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        ((n,),) = self.database.ask(f"SELECT COUNT(*) FROM {self.name}")
        return int(n)

    @cached_property
    def n_weighed(self) -> int:
        """How many rows there are whose weight is not 0."""
        if self.weighs is None:
            return self.n_rows
        ((n,),) = self.database.ask(f"SELECT COUNT(*) FROM {self.name} WHERE {self.weighs}")
        return int(n)

    @property
    def weighs(self) -> str | None:
        """The condition that a row's weight is not 0; None if there are no weights."""
        if self.weight is None:
            return None
        return f"{self.number(self.weight)} <> {self.database.number(0.0)}"

    @cached_property
    def rows_of_labels(self) -> dict[Hashable, int]:
        """How many rows whose weight is not 0 each label has, as the database has it."""
        n = "COUNT(*)"
        if self.weighs is not None:
            n = f"SUM(CASE WHEN {self.weighs} THEN 1 ELSE 0 END)"
        label = self.plain(self.target)
        found = self.database.ask(f"SELECT {label}, {n} FROM {self.name} GROUP BY 1")
        return {label: int(rows) for label, rows in found}

    def check_labels(self) -> None:
        """Raise a ValueError if a label is missing."""
        y = self.database.identifier(self.target)
        missing = f"{y} IS NULL"
        if self.columns[self.target].kind == "number" and not self.columns[self.target].whole:
            missing = self.database.is_missing(self.database.as_double(y))
        ((n,),) = self.database.ask(f"SELECT COUNT(*) FROM {self.name} WHERE {missing}")
        if n:
            raise ValueError(
                f"{int(n):,} rows have no label in column {self.target!r}; leave them out, as by a "
                "view of the table."
            )

    @cached_property
    def weighing(self) -> Weighing | None:
        """How weights become whole numbers; a ValueError if one is no weight."""
        if self.weight is None:
            return None
        w, spell = self.number(self.weight), self.database.number
        right = f"w = 0 OR (w >= {spell(LEAST_WEIGHT)} AND w <= {spell(MOST_WEIGHT)})"
        small = f"CASE WHEN w < {spell(2.0**53)} THEN w ELSE {spell(0.5)} END"
        ((n, most, odd),) = self.database.ask(
            f"SELECT SUM(CASE WHEN {right} THEN 0 ELSE 1 END), MAX(w), "
            f"SUM(CASE WHEN {right} THEN CASE WHEN {small} = {self.database.floor(small)} THEN 0 "
            f"ELSE 1 END ELSE 0 END) FROM (SELECT {w} AS w FROM {self.name}) AS weights"
        )
        if n:
            raise ValueError(
                f"sample_weight must be finite and at least 0, and between {LEAST_WEIGHT:g} and "
                f"{MOST_WEIGHT:g} if it is not 0, but {int(n):,} rows of column {self.weight!r} "
                "have others."
            )
        top = math.frexp(most or 1.0)[1]
        return Weighing(math.ldexp(1.0, WEIGHT_BITS - top), not odd, float(most or 0.0))

    def sizes(self, names: Sequence[str]) -> dict[str, Range | None]:
        """Return the least and greatest size of the numbers other than 0 in these columns."""
        # None: there are none, or the database shows the bits of any number.
        if self.database.bits("x") is not None or not names:
            return dict.fromkeys(names)
        asked: list[str] = []
        for name in names:
            x = f"ABS({self.number(name)})"
            asked += [f"MIN(CASE WHEN {x} > 0 THEN {x} END)", f"MAX({x})"]
        (found,) = self.database.ask(f"SELECT {', '.join(asked)} FROM {self.name}")
        pairs = zip(found[::2], found[1::2], strict=True)
        return {
            name: (float(low), float(high)) if low is not None else (1.0, 1.0)
            for name, (low, high) in zip(names, pairs, strict=True)
        }


def _moments(name: str, found: Sequence[Value]) -> NDArray[np.datetime64]:
    """Return seconds since 1970 as times; None and NaN are missing."""
    seconds = np.array([np.nan if s is None else s for s in found], np.float64)
    if np.isinf(seconds).any():
        raise ValueError(f"Column {name!r} holds infinite times, which cannot be learned from.")
    moments = np.full(len(seconds), np.datetime64("NaT"), TIME)
    there = ~np.isnan(seconds)
    moments[there] = times_of(seconds[there])
    return moments


# --- From the answer of the counting query to a tally --------------------------------------------
#
# Cells and sums become tables as they are. Different values become rows that are counted as any
# rows are, each with the weight that it came with: so every event model counts levels, truths,
# texts and parts of times as it does in memory.


Place: TypeAlias = "NDArray[np.integer] | tuple[int | NDArray[np.integer], ...]"  # in a table
OF_NUMBERS = 3  # parts of a sum of numbers; those of squares follow


@dataclass(frozen=True)
class Answer:
    """What was counted of a part: a line for each class and cell, value or exponent."""

    labels: list[Hashable]  # the label of each line, as the database has it
    keys: list[Value]  # what the lines are of: whole numbers, strings, float64
    texts: list[Value]
    numbers: list[Value]
    weight: Sums  # (lines,): how many rows each line is of (the sum of their weights)
    rest: list[Line]  # what else was asked

    def __len__(self) -> int:
        return len(self.labels)


def read(source: DatabaseTable, lines: Iterable[Line], parts: int) -> list[Answer]:
    """Return the answers of the classes and of so many parts, in this order."""
    of_part: list[list[Line]] = [[] for _ in range(parts + 1)]
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


def _weights(source: DatabaseTable, counts: list[Line]) -> Sums:
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
    """The classes of a table."""

    labels: LabelArray  # (classes,): sorted
    code: Mapping[Hashable, int]  # the number of each label, as the database has it
    weight: Sums  # (classes,): the weight of each

    @classmethod
    def of(cls, source: DatabaseTable, answer: Answer) -> Classes:
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


def _placed(weight: Sums, place: Place, shape: tuple[int, ...]) -> Sums:
    """Return a table with these weights in their places, each of which has one; else 0."""
    table = Sums.zeros(shape)
    table.high[place], table.low[place] = weight.high, weight.low
    return table


@dataclass(frozen=True)
class Answers:
    """What was counted of all parts."""

    source: DatabaseTable
    classes: Classes
    parts: Mapping[ColumnCounts, Answer]  # what was asked, and what was answered

    def tally(self, schema: Schema) -> Tally:
        """Return the tally of a schema, as if the rows had been counted in memory."""
        blocks = {
            group.key: _side_by_side(
                [self._column(group, name, schema.readings) for name in group.columns]
            )
            for group in schema.of_columns
        }
        return Tally(self.classes.labels, self.classes.weight, blocks).pruned()

    def _column(self, group: Group, name: Name, readings: Mapping[Name, Reading]) -> BlockTally:
        """Count one column of a group."""
        group = replace(group, columns=(name,))
        if isinstance(name, TimePart):
            column = str(name.of)
            part: ColumnCounts = TimeParts(column, hours=name.part == "hour")
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
        return self._counted(group, part, answer, readings)

    def _counted(
        self,
        group: Group,
        part: ColumnCounts,
        answer: Answer,
        readings: Mapping[Name, Reading],
    ) -> BlockTally:
        """Count different values, each with its weight."""
        codes = self.classes.codes(answer)
        high = Labels(codes, self.classes.labels, answer.weight.high)
        alone = Schema((group,), (part.column,))
        found = self.source.rows({part.column: part.cells(self.source, answer)})
        rows = with_readings(found, readings)
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
        axis = Cells.join(group.columns, (part.shift + more,), (coarser,))
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
    """Let the event model refuse numbers that it cannot count, (numbers,); they name the column."""
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
            return Cells.join(names, [of.shifts[0] for of in cells], [of.keys for of in cells])
        case Levels() as first:
            levels = tuple(axis.levels_of(0) for axis in axes)
            return replace(first, columns=names, levels=levels)
    return Columns(names)


# --- The bits of numbers in a query: cells of the grid, and parts that add up without rounding ---
#
# A cell is a prefix of a float's bits (see ``naively.kernels.reference``). A database that does
# not show the bits finds the exponent among powers of two, and the rest follows by multiplying by
# one, which rounds nothing.
#
# A finite number is a sign, a whole number of 53 bits and a power of two. Numbers of one exponent
# are added as whole numbers, in three parts of 18 bits, and so are their squares; the exact sum of
# all is made of these here.


MANTISSA = 52  # bits
LOWEST = -1023  # the exponent of numbers that are less than normal
BIAS = 1022  # what is added to an exponent, as the mantissa brings 1
INFINITE = 0x7FF << MANTISSA
LIMB = 18  # bits of a part of a mantissa
LIMB_MASK = (1 << LIMB) - 1
SQUARE_BITS = 2 * LIMB + 2  # of a summand of a square

Range = tuple[float, float]  # of the sizes of a column's numbers other than 0


def bits_of(dialect: Dialect, x: str, sizes: Range | None) -> str:
    """Return the bits of a float64 of 0 or more as a whole number."""
    # dialect: how the database spells it; sizes: the least and the greatest number other than 0
    # that it may be; by default any
    known = dialect.bits(x)
    if known is not None:
        return known
    low, high = sizes or (math.ulp(0.0), math.inf)
    exponents = range(_exponent(low), _exponent(min(high, _LARGEST)) + 1)
    infinite = f"WHEN {x} > {dialect.number(_LARGEST)} THEN {INFINITE} " if high > _LARGEST else ""
    return f"CASE WHEN {x} = 0 THEN 0 {infinite}ELSE {_tree(dialect, x, exponents)} END"


_LARGEST = math.ldexp(2.0 - 2.0**-52, 1023)


def cell_of(x: str, bits: str, shift: int) -> str:
    """Return the key of a float64's cell: its bits in the order of numbers, less the low ones."""
    # x: the number, and the bits of its size; shift: how many low bits the key has lost
    key = f"({bits} >> {shift})"
    return f"CASE WHEN {x} < 0 THEN -1 - {key} ELSE {key} END"


def parts_of_sums(bits: str) -> tuple[list[str], list[str]]:
    """Return the parts of a number, and of its square, that are added up; all are whole numbers."""
    mask, one = (1 << MANTISSA) - 1, 1 << MANTISSA
    whole = f"({bits} & {mask}) + CASE WHEN {bits} >= {one} THEN {one} ELSE 0 END"
    a, b, c = (f"((({whole}) >> {i * LIMB}) & {LIMB_MASK})" for i in range(3))
    squares = [f"{a} * {a}", f"2 * {a} * {b}", f"2 * {a} * {c} + {b} * {b}"]
    return [a, b, c], [*squares, f"2 * {b} * {c}", f"{c} * {c}"]


def total(exponent: int, parts: Sequence[int], power: int) -> Fraction:
    """Return the sum that was added up in parts."""
    # exponent: the bits of the exponent that all numbers had; parts: the sums of the parts of the
    # numbers (three), or of their squares (five); power: 1, or 2 of squares
    whole = sum(int(part) << (LIMB * i) for i, part in enumerate(parts))
    shift = power * (max(exponent, 1) - BIAS - 1 - MANTISSA)
    return Fraction(whole) * Fraction(2) ** shift


def _exponent(x: float) -> int:
    """Return e of a number of 2^e to 2^(e+1)."""
    return max(math.frexp(x)[1] - 1, LOWEST)


def _tree(dialect: Dialect, x: str, exponents: range) -> str:
    """Return the bits of a number above 0 whose exponent is one of these."""
    if len(exponents) > 1:
        half = len(exponents) // 2
        lower, upper = (_tree(dialect, x, of) for of in (exponents[:half], exponents[half:]))
        least = dialect.number(math.ldexp(1.0, exponents[half]))
        return f"CASE WHEN {x} < {least} THEN {lower} ELSE {upper} END"
    exponent = exponents[0]
    to_whole = MANTISSA - max(exponent, LOWEST + 1)
    factors = (
        [math.ldexp(1.0, to_whole)] if to_whole < 1024 else [2.0**1023, 2.0 ** (to_whole - 1023)]
    )
    scaled = " * ".join([x, *map(dialect.number, factors)])
    above = (exponent + BIAS) << MANTISSA if exponent > LOWEST else 0
    return f"{dialect.floor(scaled)} + {above}"


# --- What is counted of a column in a database: a grouped select, one branch of the query --------
#
# Cells of numbers, different values, parts of times, and exact sums each have a class here.


DAY, HOUR = 86_400, 3_600  # seconds
SMALL = 20  # bits of weights that whole numbers are multiplied by
WHOLE_BITS = 63


@dataclass(frozen=True)
class Select:
    """The pieces of a grouped select; a piece that is None is NULL."""

    inner: str  # the expression that the others name v
    there: str  # which rows are counted
    bits: str | None = None  # the expression, of v, that the others name b
    key: str | None = None  # what rows are grouped by: a whole number, a string or a float64
    text: str | None = None
    number: str | None = None
    least: str | None = None  # what stands in the place of number without being grouped by
    sums: tuple[str, ...] = ()  # further sums


@dataclass(frozen=True)
class ColumnCounts(ABC):
    """What is counted of one column."""

    column: str
    adds_up: ClassVar = False  # whether further sums are asked

    @abstractmethod
    def select(self, source: DatabaseTable) -> Select:
        """Return what the query asks of this column."""

    def cells(self, source: DatabaseTable, answer: Answer) -> list[Value]:  # noqa: ARG002
        """Return the values that were found."""
        return answer.numbers


@final
@dataclass(frozen=True)
class CellCounts(ColumnCounts):
    """How many numbers are in each cell of the grid."""

    shift: int  # how many low bits the cells' keys have lost
    sizes: Range | None = None  # the least and greatest size of the numbers

    def select(self, source: DatabaseTable) -> Select:
        dialect = source.database
        return Select(
            source.number(self.column),
            f"NOT {dialect.is_missing('v')}",
            bits=bits_of(dialect, "ABS(v)", self.sizes),
            key=cell_of("v", "b", self.shift),
        )


@final
@dataclass(frozen=True)
class Values(ColumnCounts):
    """How often each different value came: levels, truths, texts."""

    def select(self, source: DatabaseTable) -> Select:
        column, plain = source.columns[self.column], source.plain(self.column)
        if column.kind == "string":
            return Select(plain, "v IS NOT NULL", text="v")
        if column.whole:
            return Select(plain, "v IS NOT NULL", key="v")
        missing = source.database.is_missing("v")
        return Select(source.number(self.column), f"NOT {missing}", number="v")

    def cells(self, source: DatabaseTable, answer: Answer) -> list[Value]:
        column = source.columns[self.column]
        if column.kind == "string":
            return answer.texts
        return answer.keys if column.whole else answer.numbers


@final
@dataclass(frozen=True)
class TimeParts(ColumnCounts):
    """How often each day or each hour of the day came, and a time in it."""

    hours: bool  # whether hours are counted, rather than days, which have a weekday and a month

    def select(self, source: DatabaseTable) -> Select:
        v = source.number(self.column)
        whole = f"CAST(FLOOR(v / {HOUR if self.hours else DAY}) AS BIGINT)"
        key = f"((({whole}) % 24) + 24) % 24" if self.hours else whole
        return Select(v, "v IS NOT NULL", key=key, least="MIN(v)")


@final
@dataclass(frozen=True)
class Totals(ColumnCounts):
    """The sums of numbers and of their squares, and the extremes, by exponent."""

    adds_up = True
    squares: bool  # whether squares are added up too
    threshold: float | None = None  # numbers above it count as 1, and others as 0
    sizes: Range | None = None  # the least and greatest size of the numbers

    def select(self, source: DatabaseTable) -> Select:
        dialect, v = source.database, source.number(self.column)
        sizes = self.sizes
        if self.threshold is not None:
            limit, one, zero = map(dialect.number, (self.threshold, 1.0, 0.0))
            above = f"CASE WHEN {v} > {limit} THEN {one} ELSE {zero} END"
            v, sizes = f"CASE WHEN NOT {dialect.is_missing(v)} THEN {above} END", (1.0, 1.0)
        size, large = dialect.floor("ABS(v)"), dialect.number(2.0**53)
        odd = f"MAX(CASE WHEN ABS(v) < {large} THEN CASE WHEN {size} <> ABS(v) THEN v END END)"
        return Select(
            v,
            f"NOT {dialect.is_missing('v')}",
            bits=bits_of(dialect, "ABS(v)", sizes),
            key=cell_of("v", "b", MANTISSA),
            least="MIN(v)",
            sums=("MAX(v)", odd, *self._sums(source)),
        )

    def _sums(self, source: DatabaseTable) -> list[str]:
        if not sums_are_exact(source):
            w = "" if source.weight is None else "w * "
            square = f"SUM({w}v * v)" if self.squares else "NULL"
            return [f"SUM({w}v)", square]
        w = "" if source.weight is None else f" * {source.database.floor('w')}"
        values, squares = parts_of_sums("b")
        asked = [f"SUM(({part}){w})" for part in values]
        if self.squares:
            return asked + [f"SUM(({part}){w})" for part in squares]
        return asked + ["NULL"] * len(squares)


def sums_are_exact(source: DatabaseTable) -> bool:
    """Whether sums of numbers are whole numbers that no database rounds or overflows."""
    # They are not where weights are fractions or large, nor of very many rows in a database whose
    # sums have 64 bits.
    weighing = source.weighing
    if weighing is not None and not (weighing.whole and weighing.most < 2**SMALL):
        return False
    most = max(1.0, weighing.most if weighing else 1.0)
    return source.database.sums_grow or source.n_rows * most < 2 ** (WHOLE_BITS - SQUARE_BITS)


def written(source: DatabaseTable, parts: list[ColumnCounts]) -> str:
    """Return the query that counts the classes and all parts."""
    # Its columns are the number of the part (0 of the classes), the label, a whole number, a string
    # and a number that the rows have in common, the count (with weights, two sums that are a
    # count), and further sums of Totals: the greatest number, one that is not whole, and the sums.
    dialect, zero = source.database, source.database.number(0.0)
    exact = sums_are_exact(source)
    width = 2 + (8 if exact else 2) if any(part.adds_up for part in parts) else 0
    whole = "CAST(0 AS BIGINT)"
    typed = [zero, zero, *[whole if exact else zero] * (width - 2)] if width else []
    label = source.plain(source.target)
    w = None
    if source.weighing is not None and source.weight is not None:
        w = source.number(source.weight)
        of = dialect.floor(f"(w * {dialect.number(source.weighing.scale)})")
        counts = [f"SUM({of} >> {HALF})", f"SUM({of} & {(1 << HALF) - 1})"]
    else:
        counts = ["COUNT(*)"]
    inner = [f"{label} AS y", *([f"{w} AS w"] if w else [])]
    first = ["0", "y", whole, dialect.as_text("''"), zero, *counts, *typed]
    of_classes = f"FROM (SELECT {', '.join(inner)} FROM {source.name}) AS r GROUP BY y"
    branches = [f"SELECT {', '.join(first)} {of_classes}"]
    for number, part in enumerate(parts, 1):
        asked = part.select(source)
        grouped = [asked.key, asked.text, asked.number]
        by = [2, *(3 + i for i, piece in enumerate(grouped) if piece is not None)]
        pieces = [asked.key, asked.text, asked.number or asked.least]
        shown = ["NULL" if piece is None else piece for piece in pieces]
        sums = [*asked.sums, *["NULL"] * (width - len(asked.sums))]
        there = f"{asked.there} AND w > 0" if w else asked.there
        rows = f"SELECT {', '.join([*inner, f'{asked.inner} AS v'])} FROM {source.name}"
        if asked.bits is not None:
            rows = f"SELECT r.*, {asked.bits} AS b FROM ({rows}) AS r{dialect.once}"
        branches.append(
            f"SELECT {', '.join([str(number), 'y', *shown, *counts, *sums])} FROM ({rows}) AS r "
            f"WHERE {there} GROUP BY {', '.join(map(str, by))}"
        )
    return " UNION ALL ".join(branches)
