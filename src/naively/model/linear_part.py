"""The linear part of a model: functions of columns, products and rules beside the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Derived, Level, Levels, Name, title_of_columns
from naively.counting.block import Block, BlockKey, Codes, numbers_of
from naively.counting.leave_one_out import Part
from naively.kernels.reference import Floats
from naively.likelihoods.base import Likelihood
from naively.likelihoods.numbers import BinTable, LevelTable, Sloped, Stepped
from naively.likelihoods.words import LogLinear, WordSlopes
from naively.messages import many
from naively.model.rules import (
    Above,
    Points,
    Rule,
    RuleTable,
    There,
    axes_of,
    by_class,
    by_columns,
    cells_of,
    is_counted,
)
from naively.options import OfFields

# --- The linear part of a model: lines and steps that are added to the evidence of the columns ---
#
# Naive Bayes sums what each column says by itself. Where columns depend on each other, a sum of
# other functions of the same columns predicts better: a linear part, as logistic regression has
# it, fitted beside the evidence. It is a sum over columns too, so that each of its terms joins the
# contribution of its column, and adds exactly 0 where the cell is missing. A product of two terms
# is said of two columns at a time, and a rule, which is a decision table, of two or three.


FARTHEST = 5.0  # standard deviations, of a product

Slopes: TypeAlias = "tuple[float, ...]"  # in nats for a term of 1, one for each class


@final
@dataclass(frozen=True)
class Line:
    """A number, clipped and standardised: (min(max(x, low), high) - centre) / scale."""

    low: float
    high: float
    centre: float
    scale: float

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        x = numbers_of(block, column)
        return np.nan_to_num((np.clip(x, self.low, self.high) - self.centre) / self.scale)


Sloping: TypeAlias = tuple[int, Line, Floats]  # a column, and slopes in nats for each unit of it


@final
@dataclass(frozen=True)
class Step:
    """Whether a cell is a level, standardised: (1 or 0 - centre) / scale.

    Where all levels are named, what is none of them was never seen, and is the mean, which is 0.
    """

    level: Level
    centre: float
    scale: float
    among: tuple[Level, ...] = ()

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


ColumnFunction: TypeAlias = Line | Step | Above | There


@final
@dataclass(frozen=True)
class Term:
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
@dataclass(frozen=True)
class Product:
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


@dataclass(frozen=True)
class LinearPart(OfFields):
    """What is added to the evidence: terms and products, each times a slope, and rules.

    Parameters
    ----------
    of : mapping of Term to a tuple of float
        The slopes of the terms, which join the contributions of their columns.
    products : mapping of Product to a tuple of float
        The slopes of the products.
    intercept : tuple of float
        What is added to the log prior of each class, in nats; nothing without terms.
    ridge : float
        What the slopes were shrunk towards 0 by: twice the log loss, in nats, of a slope of 1 nat
        for one standard deviation; 0 where there are none.
    rules : mapping of Rule to a tuple of tuples of float
        What each cell of a rule adds to each class, in nats.
    """

    of: Mapping[Term, Slopes] = field(default_factory=dict)
    products: Mapping[Product, Slopes] = field(default_factory=dict)
    intercept: Slopes = ()
    ridge: float = 0.0
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
    def together(self) -> dict[str, tuple[str | int, ...]]:
        """The columns of the table that each product or rule follows from, by their title."""
        found = {}
        every = *(of.columns for of in self.products), *(of.columns for of in self.rules)
        for columns in every:
            roots = chain.from_iterable(
                name.roots if isinstance(name, Derived) else (name,) for name in columns
            )
            found[title_of_columns(columns)] = tuple(dict.fromkeys(roots))
        return found

    @cached_property
    def _by_group(self) -> dict[BlockKey, list[Term]]:
        found: dict[BlockKey, list[Term]] = {}
        for term in self.of:
            found.setdefault(term.group, []).append(term)
        return found

    def added_to(
        self, likelihood: Likelihood, group: BlockKey, axis: Axis, places: Sequence[int]
    ) -> Likelihood:
        """Return the likelihood of a group with the terms of its columns."""
        column = {name: j for j, name in enumerate(axis.columns)}
        terms = [term for term in self._by_group.get(group, ()) if term.column in column]
        if not terms:
            return likelihood
        slopes = [by_class(self.of[term], places) for term in terms]
        if isinstance(likelihood, LevelTable) and isinstance(axis, Levels):
            table = np.zeros_like(likelihood.table)
            for term, slope in zip(terms, slopes, strict=True):
                j, function = column[term.column], term.function
                rows = table[likelihood.first[j] : likelihood.first[j + 1]]
                if isinstance(function, There):
                    rows += slope
                    continue
                assert isinstance(function, Step)
                rows += np.outer(function.table(axis.index[j])[:-1], slope)
            return likelihood.plus(table)
        likelihood = _with_steps(likelihood, zip(terms, slopes, strict=True), column)
        lines = [
            (column[term.column], term.function, slope / term.function.scale)
            for term, slope in zip(terms, slopes, strict=True)
            if isinstance(term.function, Line)
        ]
        if group.event.shares:
            likelihood, lines = _with_straight(likelihood, lines)
        if not lines:
            return likelihood
        lines.sort(key=lambda line: line[0])
        return Sloped(
            likelihood,
            column=np.array([j for j, _, _ in lines], np.int64),
            low=np.array([line.low for _, line, _ in lines]),
            high=np.array([line.high for _, line, _ in lines]),
            centre=np.array([line.centre for _, line, _ in lines]),
            slope=np.array([slope for _, _, slope in lines]),
        )

    def of_columns(
        self, blocks: Mapping[BlockKey, Block], places: Sequence[int]
    ) -> Iterator[tuple[Name, Floats]]:
        """Yield a column, and what its terms add to each row, of shape (rows, classes)."""
        by_column: dict[Name, list[Term]] = {}
        axes = axes_of(blocks)
        for term in self.of:
            if term.is_in(axes):
                by_column.setdefault(term.column, []).append(term)
        for name, terms in by_column.items():
            x = np.stack([term.of(blocks) for term in terms], axis=1)
            yield name, x @ np.stack([by_class(self.of[term], places) for term in terms])

    def of_pairs(
        self, blocks: Mapping[BlockKey, Block], places: Sequence[int]
    ) -> Iterator[tuple[tuple[Name, Name], Floats]]:
        """Yield two columns, and what their products add to each row, of shape (rows, classes)."""
        by_columns: dict[tuple[Name, Name], list[Product]] = {}
        terms = dict.fromkeys(term for of in self.products for term in (of.a, of.b))
        axes = axes_of(blocks)
        value = {term: term.of(blocks) for term in terms if term.is_in(axes)}
        for product in self.products:
            if product.a in value and product.b in value:
                by_columns.setdefault(product.columns, []).append(product)
        for columns, products in by_columns.items():
            x = np.stack([of.of(value[of.a], value[of.b]) for of in products], axis=1)
            slope = np.stack([by_class(self.products[of], places) for of in products])
            yield columns, x @ slope

    def of_rules(
        self, blocks: Mapping[BlockKey, Block], places: Sequence[int]
    ) -> Iterator[tuple[tuple[Name, ...], Floats]]:
        """Yield columns, and what their rules add to each row, of shape (rows, classes)."""
        axes = axes_of(blocks)
        for columns, rules in by_columns(of for of in self.rules if of.is_in(axes)).items():
            yield columns, self._table(rules, places).added(blocks)

    def _table(self, rules: Sequence[Rule], places: Sequence[int]) -> RuleTable:
        """Return some of the rules, laid out to score rows."""
        return RuleTable(
            rules, np.concatenate([by_class(self.rules[rule], places) for rule in rules])
        )

    def of_several(
        self, axes: Mapping[BlockKey, Axis], places: Sequence[int]
    ) -> SeveralColumns | None:
        """Return products and rules, laid out to score rows; None without any.

        Those of columns that are counted otherwise by now are left out.
        """
        products = [of for of in self.products if of.a.is_in(axes) and of.b.is_in(axes)]
        rules = [of for of in self.rules if of.is_in(axes)]
        if not (products or rules):
            return None
        terms = list(dict.fromkeys(term for of in products for term in (of.a, of.b)))
        number = {term: i for i, term in enumerate(terms)}
        slope = [by_class(self.products[of], places) for of in products]
        return SeveralColumns(
            terms,
            np.array([[number[of.a], number[of.b]] for of in products], np.int64).reshape(-1, 2),
            np.array([of.scale for of in products]),
            np.array(slope).reshape(len(slope), len(places)),
            self._table(rules, places) if rules else None,
        )

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
        of = _mean(self.of, other.of, share, places)
        products = _mean(self.products, other.products, share, places)
        rules = _mean(self.rules, other.rules, share, places)
        return LinearPart(
            {term: tuple(slope.tolist()) for term, slope in of.items()},
            {product: tuple(slope.tolist()) for product, slope in products.items()},
            tuple(intercept.tolist()) if there else (),
            max(self.ridge, other.ridge),
            {rule: tuple(map(tuple, points.tolist())) for rule, points in rules.items()},
        )


@dataclass(frozen=True, eq=False)
class SeveralColumns:
    """Products and rules, laid out to score rows.

    Parameters
    ----------
    terms : list of Term
        The functions that are multiplied.
    pairs : ndarray of shape (products, 2)
        The numbers of the two functions of each product.
    scale : ndarray of shape (products,)
        What each product is divided by.
    slope : ndarray of shape (products, classes)
        What each is multiplied by.
    rules : RuleTable or None
        The rules.
    """

    terms: list[Term]
    pairs: NDArray[np.int64]
    scale: Floats
    slope: Floats
    rules: RuleTable | None

    def added(self, blocks: Mapping[BlockKey, Block], rows: int) -> Floats:
        """Return what is added to each row, of shape (rows, classes)."""
        found = np.zeros((rows, self.slope.shape[1]))
        if self.terms:
            z = np.stack([term.of(blocks) for term in self.terms])
            for start in range(0, rows, TOGETHER):
                some = z[:, start : start + TOGETHER]
                both = some[self.pairs[:, 0]] * some[self.pairs[:, 1]]
                both /= self.scale[:, None]
                found[start : start + TOGETHER] = np.clip(both, -FARTHEST, FARTHEST).T @ self.slope
        return found if self.rules is None else found + self.rules.added(blocks)


TOGETHER = 1_024  # rows whose products are computed at once, so that they stay in the cache


def _with_straight(
    likelihood: Likelihood, lines: list[Sloping]
) -> tuple[Likelihood, list[Sloping]]:
    """Return a likelihood of numbers from 0 to 1 with the lines that it can hold, and the others.

    It can hold those that clip no such number, if it has offsets.
    """
    if isinstance(likelihood, WordSlopes) and lines and likelihood.absent is not None:
        likelihood = likelihood.whole()
    if not isinstance(likelihood, LogLinear) or likelihood.offset is None:
        return likelihood, lines
    slope, offset, others = likelihood.slope.copy(), likelihood.offset.copy(), []
    for column, line, of in lines:
        if line.low > 0 or line.high < 1:
            others.append((column, line, of))
        else:
            slope[column] += of
            offset[column] -= line.centre * of
    return replace(likelihood, slope=slope, offset=offset), others


def _with_steps(
    likelihood: Likelihood, terms: Iterable[tuple[Term, Floats]], number: Mapping[Name, int]
) -> Likelihood:
    """Return a likelihood of numbers with what is added where they are there, or above an edge.

    ``number`` says which column of the likelihood each is.
    """
    steps: dict[int, dict[float, Floats]] = {}
    for term, slope in terms:
        if isinstance(term.function, Above | There):
            edge = term.function.edge if isinstance(term.function, Above) else -np.inf
            of_column = steps.setdefault(number[term.column], {})
            of_column[edge] = of_column.get(edge, 0.0) + slope
    if not steps:
        return likelihood
    found = {}
    for j, of_edge in steps.items():
        edges = np.array(sorted(of_edge))
        points = np.cumsum([of_edge[edge] for edge in edges.tolist()], axis=0)
        if edges[0] > -np.inf:
            points = np.vstack([0 * points[:1], points])
        found[j] = edges[edges > -np.inf], points
    if isinstance(likelihood, BinTable):
        return likelihood.with_steps(found)
    return Stepped(likelihood, found)


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
