"""Functions of cells, products of two and rules: what is added beside the evidence is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import accumulate, chain, repeat
from operator import mul
from typing import ClassVar, Literal, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    Axis,
    Columns,
    Derived,
    Level,
    Levels,
    Name,
    roots_of,
    title,
    title_of_columns,
)
from naively.counting.block import Block, BlockKey, Codes, Dense, numbers_of
from naively.counting.leave_one_out import Part
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.messages import many

# --- Functions of the cells of a column ----------------------------------------------------------

MOST_POWER = 1_000  # of two, that a column is taken times
NEITHER = 2  # the side of what was never seen, of a condition whose sides are 1 and 0


@final
class Combined(Derived, Frozen, eq=True):
    """A number made of two columns of one group: their sum, their difference or their ratio.

    Nothing is counted of it: it is a cell that conditions are of, missing where one of both is.
    """

    a: Name
    operator: Literal["+", "-", "/"]
    b: Name
    power: int = 0  # b is taken 2 ** power times, which rounds nothing

    def __str__(self) -> str:
        factor = int(2**self.power) if self.power > 0 else 2.0**self.power
        times = f"{factor} * " if self.power else ""
        return f"{title(self.a)} {self.operator} {times}{title(self.b)}"

    @property
    def sources(self) -> tuple[Name, ...]:
        return self.a, self.b

    def of(self, a: Floats, b: Floats) -> Floats:
        """Return the number of each row, (rows,), of those of both columns."""
        return combined(self.operator, a, b, 2.0**self.power)


def combined(
    operator: Literal["+", "-", "/"], a: Floats, b: Floats, times: float | Floats
) -> Floats:
    """Return sums, differences or ratios of numbers, b taken so many times; NaN of x / 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        match operator:
            case "+":
                return a + b * times
            case "-":
                return a - b * times
        return np.asarray(np.divide(a, b, out=np.full(a.shape, np.nan), where=b != 0))


def is_counted(axes: Mapping[BlockKey, Axis], group: BlockKey, column: Name) -> bool:
    """Whether a column, or those that it is made of, is in its group, by the axes of the groups."""
    if isinstance(column, Combined):
        return all(is_counted(axes, group, of) for of in column.sources)
    return group in axes and column in axes[group].columns


def cells_of(blocks: Mapping[BlockKey, Block], group: BlockKey, column: Name) -> tuple[Block, int]:
    """Return a block that holds a column, and the column's number."""
    if isinstance(column, Combined):
        a, b = (numbers_of(*cells_of(blocks, group, of)) for of in column.sources)
        return Dense(column.of(a, b)[:, None], Columns((column,))), 0
    block = blocks[group]
    return block, tuple(block.axis.columns).index(column)


@final
class Line(Frozen, eq=True):
    """A number, clipped and standardised: (min(max(x, low), high) - centre) / scale."""

    low: float
    high: float
    centre: float
    scale: float

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        x = numbers_of(block, column)
        return np.nan_to_num((np.clip(x, self.low, self.high) - self.centre) / self.scale)


@final
class Step(Frozen, eq=True):
    """Whether a cell is a level, standardised: (1 or 0 - centre) / scale.

    Where all levels are named, what is none of them was never seen, and is the mean, which is 0.
    """

    level: Level
    centre: float
    scale: float
    among: tuple[Level, ...] = ()

    def named(self, names: Mapping[Level, Level]) -> Step:
        """Return the same of other names; a level that has none is None."""
        among = tuple(map(names.get, self.among))
        return replace(self, level=names.get(self.level), among=among)

    def table(self, index: Mapping[Level, int]) -> Floats:
        """Return the value of each level, then that of what was never seen, and 0 of missing."""
        value: Floats = np.full(len(index) + 2, -self.centre / self.scale)
        for level, at in index.items():
            if self.among and level not in self.among:
                value[at] = 0.0
        value[-2 if self.among else -1 :] = 0.0
        if self.level in index:
            value[index[self.level]] += 1 / self.scale
        return value

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        assert isinstance(block, Codes)
        table = self.table(block.axis.index[column])
        return np.asarray(table[np.minimum(block.codes[:, column], len(table) - 2)])


@final
class Above(Frozen, eq=True):
    """1 where a number is at least an edge, and else 0."""

    edge: float
    number: ClassVar[int] = 2  # of sides

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        return np.where(numbers_of(block, column) >= self.edge, 1.0, 0.0)

    @property
    def jumps(self) -> list[tuple[float, float]]:
        """The numbers from which on it is another, and how much it rises there."""
        return [(self.edge, 1.0)]

    @property
    def names(self) -> list[float]:
        """The one edge that is named."""
        return [self.edge]

    def in_bins(self, edges: Iterable[float]) -> list[int]:
        """Return the side of each bin: below the first of some edges, then from each on."""
        return [int(x >= self.edge) for x in (-np.inf, *edges)]


@final
class Is(Frozen, eq=True):
    """1 where a number is a value, as a name is, and else 0."""

    value: float

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        return np.where(numbers_of(block, column) == self.value, 1.0, 0.0)

    @property
    def jumps(self) -> list[tuple[float, float]]:
        """The numbers from which on it is another, and how much it rises there."""
        return [(self.value, 1.0), (float(np.nextafter(self.value, np.inf)), -1.0)]


@final
class There(Frozen, eq=True):
    """1 where a cell is not missing."""

    jumps: ClassVar[list[tuple[float, float]]] = [(-np.inf, 1.0)]

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        if isinstance(block, Codes):
            return np.where(block.codes[:, column] >= 0, 1.0, 0.0)
        return np.where(np.isnan(numbers_of(block, column)), 0.0, 1.0)


@final
class OneOf(Frozen, eq=True):
    """Whether a cell is one of some levels.

    Where the others are named too, what is none of both was never seen, and is on neither side.
    """

    levels: tuple[Level, ...]
    others: tuple[Level, ...] = ()

    @property
    def number(self) -> int:
        """How many sides there are."""
        return 3 if self.others else 2

    @property
    def elsewhere(self) -> int:
        """The side of levels that are not named."""
        return NEITHER if self.others else 0

    def named(self, names: Mapping[Level, Level]) -> OneOf:
        """Return the same of other names; a level that has none is None."""
        return OneOf(tuple(map(names.get, self.levels)), tuple(map(names.get, self.others)))

    @cached_property
    def sides(self) -> dict[Level, int]:
        """The side of each level that is named."""
        return dict.fromkeys(self.others, 0) | dict.fromkeys(self.levels, 1)

    @property
    def names(self) -> list[Level]:
        """The levels that are named."""
        return [*self.sides]

    def in_bins(self, levels: Iterable[Level]) -> list[int]:
        """Return the side of each of some levels, then of all others."""
        return [*(self.sides.get(level, self.elsewhere) for level in levels), self.elsewhere]


def bins_of(conditions: Sequence[Condition]) -> list[Level]:
    """Return the edges, ascending, or the levels that conditions of a column name."""
    names = dict.fromkeys(name for of in conditions for name in of.test.names)
    return sorted(names) if isinstance(conditions[0].test, Above) else [*names]


# --- Functions of named columns, and products of two ---------------------------------------------


FARTHEST = 5.0  # standard deviations, of a product

ColumnFunction: TypeAlias = Line | Step | Above | Is | There


@final
class Term(Frozen, eq=True):
    """A function of a column."""

    group: BlockKey
    column: Name
    function: ColumnFunction

    @property
    def part(self) -> Part:
        """The part of the evidence that it joins."""
        return Part(self.group, self.column)

    def is_in(self, axes: Mapping[BlockKey, Axis]) -> bool:
        """Whether its column is in its group, by the axes of the groups."""
        return is_counted(axes, self.group, self.column)

    def of(self, blocks: Mapping[BlockKey, Block]) -> Floats:
        """Return the value of each row, of shape (rows,); 0 where the cell is missing."""
        return self.function.of(*cells_of(blocks, self.group, self.column))


@final
class Product(Frozen, eq=True):
    """The product of two terms of different columns, over its standard deviation, clipped."""

    a: Term
    b: Term
    scale: float

    def of(self, a: Floats, b: Floats) -> Floats:
        """Return the value of each row from those of both terms, all of shape (rows,)."""
        return np.clip(a * b / self.scale, -FARTHEST, FARTHEST)

    @property
    def columns(self) -> tuple[Name, Name]:
        """The two columns."""
        return self.a.column, self.b.column


# --- Many products at once -----------------------------------------------------------------------


TOGETHER = 1_024  # rows whose products are computed at once, so that they stay in the cache


class ProductTerms(Frozen):
    """``Σ min(max(a b / scale, -5), 5) slope`` over products of two columns, of any groups."""

    products: Sequence[Product]  # the products, all of whose columns are there
    slope: Floats  # (products, classes): what each is multiplied by

    @cached_property
    def _terms(self) -> list[Term]:
        """The different functions that are multiplied."""
        return list(dict.fromkeys(term for of in self.products for term in (of.a, of.b)))

    @cached_property
    def _pairs(self) -> NDArray[np.int64]:
        """The numbers of the two functions of each product, (2, products)."""
        number = {term: i for i, term in enumerate(self._terms)}
        return np.array([[number[of.a], number[of.b]] for of in self.products]).T

    @cached_property
    def _scale(self) -> Floats:
        return np.array([of.scale for of in self.products])[:, None]

    def added(self, blocks: Mapping[BlockKey, Block]) -> Floats:
        """Return what the products add to each row, of shape (rows, classes)."""
        z = np.stack([term.of(blocks) for term in self._terms])
        found = np.empty((z.shape[1], self.slope.shape[1]))
        for start in range(0, len(found), TOGETHER):
            a, b = z[:, start : start + TOGETHER][self._pairs]
            both = a * b
            both /= self._scale
            found[start : start + TOGETHER] = np.clip(both, -FARTHEST, FARTHEST).T @ self.slope
        return found

    def by_columns(self) -> Iterator[tuple[tuple[Name, ...], ProductTerms]]:
        """Yield the columns of each pair, and its products."""
        place: dict[tuple[Name, ...], list[int]] = {}
        for i, product in enumerate(self.products):
            place.setdefault(product.columns, []).append(i)
        for columns, at in place.items():
            yield columns, ProductTerms([self.products[i] for i in at], self.slope[at])


Sloped: TypeAlias = tuple[int, Term, Floats]  # a column's number, a term, and its slopes


def steps_of(terms: Iterable[Sloped]) -> dict[int, tuple[Floats, Floats]]:
    """Return edges of each column of numbers, and what is added below the first and from each on.

    The latter are of shape (edges + 1, classes); a missing cell adds 0.
    """
    steps: dict[int, dict[float, Floats]] = {}
    for j, term, slope in terms:
        if isinstance(term.function, Above | Is | There):
            of_column = steps.setdefault(j, {})
            for edge, rise in term.function.jumps:
                of_column[edge] = of_column.get(edge, 0.0) + rise * slope
    found = {}
    for j, of_edge in steps.items():
        edges = np.array(sorted(of_edge))
        points = np.cumsum([of_edge[edge] for edge in edges.tolist()], axis=0)
        if edges[0] > -np.inf:
            points = np.vstack([0 * points[:1], points])
        found[j] = edges[edges > -np.inf], points
    return found


class CombinedTerms(Frozen):
    """Steps of columns that are made of two: what each adds by the edges that it reaches."""

    columns: Sequence[tuple[BlockKey, Name]]
    edges: Sequence[Floats]  # of each column, ascending
    points: Sequence[Floats]  # of each, (edges + 1, classes)

    @classmethod
    def of(cls, terms: Mapping[Term, Floats]) -> CombinedTerms:
        """Lay out terms, (classes,) each, all of whose columns are there."""
        columns = list(dict.fromkeys((term.group, term.column) for term in terms))
        place = {column: j for j, column in enumerate(columns)}
        each = ((place[term.group, term.column], term, slope) for term, slope in terms.items())
        found = [steps for _, steps in sorted(steps_of(each).items())]
        return cls(columns, [edges for edges, _ in found], [points for _, points in found])

    def cells(self, blocks: Mapping[BlockKey, Block]) -> Floats:
        """Return the numbers of the columns, (rows, columns); NaN where one is missing."""
        each = [numbers_of(*cells_of(blocks, *column)) for column in self.columns]
        return np.stack(each, axis=1)

    def added(self, blocks: Mapping[BlockKey, Block]) -> Floats:
        """Return what the columns add to each row, of shape (rows, classes)."""
        first = np.cumsum([0, *map(len, self.edges)], dtype=np.int64)
        codes = dispatch.find_bins(self.cells(blocks), np.concatenate(self.edges), first)
        found = np.zeros((len(codes), self.points[0].shape[1]))
        for code, points in zip(codes.T, self.points, strict=True):
            found += np.vstack([points, np.zeros_like(points[:1])])[code]  # the last is of -1
        return found

    def by_columns(self) -> Iterator[tuple[tuple[Name, ...], CombinedTerms]]:
        """Yield each column, and what it adds."""
        for column, edges, points in self.each():
            yield (column[1],), CombinedTerms([column], [edges], [points])

    def each(self) -> Iterator[tuple[tuple[BlockKey, Name], Floats, Floats]]:
        """Yield each column, its edges, and its points, (edges + 1, classes)."""
        yield from zip(self.columns, self.edges, self.points, strict=True)


MOST_CONDITIONS = 8  # of a rule, whose table has twice as many cells with each

# --- Rules ---------------------------------------------------------------------------------------


@final
class Condition(Frozen, eq=True):
    """Whether a number is at least an edge, or a cell one of some levels."""

    # The column, and the group that it is in.
    group: BlockKey
    column: Name
    test: Above | OneOf  # what is asked of a cell that is not missing
    # The side of a missing cell: 1 if the condition holds for it, 0 if not, or neither.
    missing: int = 0

    def of(self, blocks: Mapping[BlockKey, Block]) -> NDArray[np.int8]:
        """Return the side of each row, (rows,): 1 if it holds, 0 if not, or neither."""
        block, column = cells_of(blocks, self.group, self.column)
        if isinstance(self.test, Above):
            x = numbers_of(block, column)
            return np.where(np.isnan(x), self.missing, x >= self.test.edge).astype(np.int8)
        assert isinstance(block, Codes)
        known, sides = len(block.axis.levels[column]), self.test.sides
        found = np.full(
            known + 2, self.test.elsewhere, np.int8
        )  # then what was never seen, missing
        for level, at in block.axis.index[column].items():
            found[at] = sides.get(level, self.test.elsewhere)
        found[-1] = self.missing
        return np.asarray(found[np.minimum(block.codes[:, column], known)])

    def is_missing(self, blocks: Mapping[BlockKey, Block]) -> NDArray[np.bool_]:
        """Return whether the cell of each row is missing, of shape (rows,)."""
        return np.asarray(There().of(*cells_of(blocks, self.group, self.column)) == 0)


@final
class Rule(Frozen, eq=True):
    """A decision table: a value for each class in each cell, which is a set of true conditions.

    The number of a cell is the sum of its side of each condition times its stride: the product of
    how many sides those before have.
    """

    conditions: tuple[Condition, ...]

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """What a side of each condition adds to the number of a cell; and how many cells."""
        return tuple(accumulate((of.test.number for of in self.conditions), mul, initial=1))

    @property
    def columns(self) -> tuple[Name, ...]:
        """Its different columns, two or more."""
        return tuple(sorted(dict.fromkeys(of.column for of in self.conditions), key=title))

    def is_in(self, axes: Mapping[BlockKey, Axis]) -> bool:
        """Whether all of its columns are in their groups, by the axes of these."""
        return all(is_counted(axes, of.group, of.column) for of in self.conditions)


Points: TypeAlias = "tuple[tuple[float, ...], ...]"  # of each cell, one for each class


def by_columns(rules: Iterable[Rule]) -> dict[tuple[Name, ...], list[Rule]]:
    """Return the rules of each set of columns."""
    found: dict[tuple[Name, ...], list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.columns, []).append(rule)
    return found


def by_class(added: Sequence[float] | Points, places: Sequence[int]) -> Floats:
    """Return slopes or points of the classes of these numbers, (..., classes)."""
    # The number after that of the last class has 0.
    every = np.asarray(added, np.float64)
    return np.concatenate([every, np.zeros((*every.shape[:-1], 1))], axis=-1)[..., list(places)]


# --- Many rules at once --------------------------------------------------------------------------
#
# The cells of a column are cut at all edges of its conditions, or told apart by all levels that
# these name, once; what holds for each bin is then looked up, and so are the points.


class RuleTerms(Frozen):
    """The points of the cells of rules that rows are in, of any groups."""

    rules: Sequence[Rule]  # the rules, all of whose columns are there
    points: Floats  # (cells of all rules, classes): what each cell adds

    @cached_property
    def _conditions(self) -> list[Condition]:
        return [of for rule in self.rules for of in rule.conditions]

    @cached_property
    def _columns(self) -> dict[tuple[BlockKey, Name], list[Condition]]:
        """The different conditions of each column."""
        found: dict[tuple[BlockKey, Name], dict[Condition, None]] = {}
        for of in self._conditions:
            found.setdefault((of.group, of.column), {})[of] = None
        return {column: list(of) for column, of in found.items()}

    @cached_property
    def _bins(self) -> list[list[Level]]:
        """The edges of each column, ascending, or the levels that its conditions name."""
        return [bins_of(conditions) for conditions in self._columns.values()]

    @cached_property
    def _sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What each condition adds to a cell's number in each bin, and where its bins begin."""
        bins = dict(zip(self._columns, self._bins, strict=True))
        strides = [stride for rule in self.rules for stride in rule.strides[:-1]]
        sides = [
            stride * np.array([*of.test.in_bins(bins[of.group, of.column]), of.missing], np.int64)
            for of, stride in zip(self._conditions, strides, strict=True)
        ]
        return np.concatenate(sides), np.cumsum([0, *map(len, sides)])[:-1]

    @cached_property
    def _layout(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The column of each condition; where each rule's conditions begin, and its points."""
        place = {column: i for i, column in enumerate(self._columns)}
        column = np.array([place[of.group, of.column] for of in self._conditions], np.int64)
        first = np.cumsum([0, *(len(rule.conditions) for rule in self.rules)], dtype=np.int64)
        return column, first, np.cumsum([0, *(rule.strides[-1] for rule in self.rules)])

    def added(self, blocks: Mapping[BlockKey, Block]) -> Floats:
        """Return what the rules add to each row, of shape (rows, classes)."""
        codes = self._codes(blocks)
        return dispatch.score_rules(codes, *self._sides, *self._layout, self.points)

    def each(self) -> Iterator[tuple[Rule, Floats]]:
        """Yield each rule, and its points, (cells, classes)."""
        first = np.cumsum([rule.strides[-1] for rule in self.rules])
        yield from zip(self.rules, np.split(self.points, first[:-1]), strict=True)

    def by_columns(self) -> Iterator[tuple[tuple[Name, ...], RuleTerms]]:
        """Yield each set of columns, and its rules."""
        points = dict(self.each())
        for columns, rules in by_columns(self.rules).items():
            yield columns, RuleTerms(rules, np.concatenate([points[rule] for rule in rules]))

    def _codes(self, blocks: Mapping[BlockKey, Block]) -> NDArray[np.int32]:
        """Return the bin of each cell, the last of a column for missing ones, (columns, rows)."""
        found = []
        for (group, name), bins in zip(self._columns, self._bins, strict=True):
            block, column = cells_of(blocks, group, name)
            if isinstance(block, Codes):
                found.append(_of_levels(block, column, bins))
                continue
            x = numbers_of(block, column)
            code = np.searchsorted(np.array(bins, np.float64), x, side="right")
            found.append(np.where(np.isnan(x), len(bins) + 1, code))
        return np.array(found, np.int32)


def _of_levels(block: Codes, column: int, levels: Sequence[Level]) -> NDArray[np.int64]:
    """Return which of these levels each cell is, (rows,): the number after all is of no such."""
    assert isinstance(block.axis, Levels)
    index, known = block.axis.index[column], len(block.axis.levels[column])
    place = np.full(known + 2, len(levels))  # of the axis' levels, of those never seen, of missing
    place[-1] = len(levels) + 1
    for at, level in enumerate(levels):
        if level in index:
            place[index[level]] = at
    code = block.codes[:, column].astype(np.int64)
    return place[np.where(code < 0, known + 1, np.minimum(code, known))]


# --- The linear part of a model: lines and steps that are added to the evidence of the columns ---
#
# Naive Bayes sums what each column says by itself. Where columns depend on each other, a sum of
# other functions of the same columns predicts better: a linear part, as logistic regression has
# it, fitted beside the evidence. It is a sum over columns too, so that each of its terms joins the
# contribution of its column, and adds exactly 0 where the cell is missing. A product of two terms
# is said of two columns at a time, and a rule, which is a decision table, of two or three.


Several: TypeAlias = ProductTerms | RuleTerms | CombinedTerms

Slopes: TypeAlias = "tuple[float, ...]"  # in nats for a term of 1, one for each class


class LinearPart(Frozen, eq=True):
    """What is added to the evidence: terms and products, each times a slope, and rules."""

    # The slopes of the terms, which join the contributions of their columns.
    of: Mapping[Term, Slopes] = field(default_factory=dict)
    products: Mapping[Product, Slopes] = field(default_factory=dict)  # the slopes of the products
    # What is added to the log prior of each class, in nats; nothing without terms.
    intercept: Slopes = ()
    # What the slopes were shrunk towards 0 by: twice the log loss, in nats, of a slope of 1 nat for
    # one standard deviation; 0 where there are none.
    ridge: float = 0.0
    # What each cell of a rule adds to each class, in nats.
    rules: Mapping[Rule, Points] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.of or self.products or self.rules)

    def __str__(self) -> str:
        columns = len({term.column for term in self.of})
        said = [f"{many(len(self.of), 'term')} of {many(columns, 'column')}"]
        if self.products:
            pairs = f"{many(len({of.columns for of in self.products}), 'pair')} of columns"
            said.append(f"{many(len(self.products), 'product')} of {pairs}")
        if self.rules:
            said.append(many(len(self.rules), "rule"))
        return f"{' and '.join(said)}, ridge {self.ridge:g}"

    @property
    def is_of_several(self) -> bool:
        """Whether something is said of several columns at a time."""
        return bool(self.products or self.rules)

    @property
    def made(self) -> list[Combined]:
        """The columns that are made of two."""
        conditions = (of.column for rule in self.rules for of in rule.conditions)
        columns = (*(term.column for term in self.of), *conditions)
        return [*dict.fromkeys(column for column in columns if isinstance(column, Combined))]

    @property
    def together(self) -> dict[str, tuple[str | int, ...]]:
        """The columns that each product, rule or column made of two follows from, by its title."""
        found = {}
        every: list[tuple[Name, ...]] = [of.columns for of in self.products]
        every += [*(of.columns for of in self.rules), *((column,) for column in self.made)]
        for columns in every:
            roots = chain.from_iterable(map(roots_of, columns))
            found[title_of_columns(columns)] = tuple(dict.fromkeys(roots))
        return found

    def of_columns(
        self, blocks: Mapping[BlockKey, Block], places: Sequence[int], only: Name | None = None
    ) -> Iterator[tuple[Name, Floats]]:
        """Yield a column, or one only, and what its terms add to rows, (rows, classes)."""
        by_column: dict[Name, list[Term]] = {}
        axes = {key: block.axis for key, block in blocks.items()}
        for term in self.of:
            is_it = only in (None, term.column) and term.is_in(axes)
            if is_it and not isinstance(term.column, Combined):
                by_column.setdefault(term.column, []).append(term)
        for name, terms in by_column.items():
            slopes = [by_class(self.of[term], places) for term in terms]
            block, column = cells_of(blocks, terms[0].group, name)
            if isinstance(block, Codes):
                x = np.stack([term.of(blocks) for term in terms], axis=1)
                yield name, x @ np.stack(slopes)
                continue
            added, cells = np.zeros((len(block), len(places))), numbers_of(block, column)
            for term, slope in zip(terms, slopes, strict=True):
                if isinstance(term.function, Line):
                    added += np.outer(term.function.of(block, column), slope)
            for edges, points in steps_of(zip(repeat(0), terms, slopes)).values():
                at = np.searchsorted(edges, cells, side="right")
                added += np.where(np.isnan(cells)[:, None], 0.0, points[at])
            yield name, added

    def of_several(
        self, axes: Mapping[BlockKey, Axis], places: Sequence[int]
    ) -> tuple[Several, ...]:
        """Return products, rules and columns made of two, if there are any, to score rows."""
        # Those of columns that are counted otherwise by now are left out.
        found: list[Several] = []
        if products := [of for of in self.products if of.a.is_in(axes) and of.b.is_in(axes)]:
            slope = np.stack([by_class(self.products[of], places) for of in products])
            found.append(ProductTerms(products, slope))
        if rules := [of for of in self.rules if of.is_in(axes)]:
            points = np.concatenate([by_class(self.rules[rule], places) for rule in rules])
            found.append(RuleTerms(rules, points))
        combined = {
            of: by_class(slope, places)
            for of, slope in self.of.items()
            if isinstance(of.column, Combined) and of.is_in(axes)
        }
        return (*found, *[CombinedTerms.of(combined)] * bool(combined))

    def intercept_of(self, places: Sequence[int]) -> Floats:
        """Return what is added to the log prior of the classes of these numbers, (classes,)."""
        return by_class(self.intercept, places) if self.intercept else np.zeros(len(places))

    def mean(
        self, other: LinearPart, share: float, places: tuple[list[int], list[int]]
    ) -> LinearPart:
        """Return the mean of both functions, this one times ``share``."""
        intercept = share * self.intercept_of(places[0])
        intercept += (1 - share) * other.intercept_of(places[1])
        there = self.intercept or other.intercept
        terms = _mean(self.of, other.of, share, places)
        products = _mean(self.products, other.products, share, places)
        rules = _mean(self.rules, other.rules, share, places)
        return LinearPart(
            {term: tuple(slope.tolist()) for term, slope in terms.items()},
            {product: tuple(slope.tolist()) for product, slope in products.items()},
            tuple(intercept.tolist()) if there else (),
            max(self.ridge, other.ridge),
            {rule: tuple(map(tuple, points.tolist())) for rule, points in rules.items()},
        )


T = TypeVar("T", Term, Product, Rule)


def _mean(
    mine: Mapping[T, Slopes | Points],
    theirs: Mapping[T, Slopes | Points],
    share: float,
    places: tuple[list[int], list[int]],
) -> dict[T, Floats]:
    """Return the mean of what both add; what one lacks adds 0 there."""
    found: dict[T, Floats] = {}
    for every, times, at in ((mine, share, places[0]), (theirs, 1 - share, places[1])):
        for of, added in every.items():
            found[of] = found.get(of, 0.0) + times * by_class(added, at)
    return found


NOTHING = LinearPart()
