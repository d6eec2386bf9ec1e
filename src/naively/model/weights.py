"""Weights: how much the evidence of each column counts, and the linear part beside it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TypeAlias, TypeVar, final

import numpy as np

from naively.counting.axis import Axis, Derived, Level, Levels, Name, title_of_pair
from naively.counting.block import Block, BlockKey, Codes, Dense
from naively.counting.labels import Label, LabelArray
from naively.counting.leave_one_out import Part
from naively.kernels.reference import Floats
from naively.likelihoods.base import Likelihood
from naively.likelihoods.numbers import LevelTable, Sloped
from naively.likelihoods.words import LogLinear, WordSlopes
from naively.messages import Shown, many
from naively.options import Weighting

# --- The linear part of a model: lines and steps that are added to the evidence of the columns ---
#
# Naive Bayes sums what each column says by itself. Where columns depend on each other, a sum of
# other functions of the same columns predicts better: a linear part, as logistic regression has
# it, fitted beside the evidence. It is a sum over columns too, so that each of its terms joins the
# contribution of its column, and adds exactly 0 where the cell is missing. A product of two terms
# is said of two columns at a time.


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
        if isinstance(block, Dense):
            x = np.asarray(block.values[:, column], np.float64)
        else:
            row, item, value = block.entries()
            x = np.zeros(len(block))
            x[row[item == column]] = value[item == column]
        return np.nan_to_num((np.clip(x, self.low, self.high) - self.centre) / self.scale)


Sloping: TypeAlias = tuple[int, Line, Floats]  # a column, and slopes in nats for each unit of it


@final
@dataclass(frozen=True)
class Step:
    """Whether a cell is a level, standardised: (1 or 0 - centre) / scale."""

    level: Level
    centre: float
    scale: float

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        assert isinstance(block, Codes)
        code = block.codes[:, column]
        is_level = code == block.axis.index[column].get(self.level, -1)
        return np.where(code < 0, 0.0, (is_level - self.centre) / self.scale)


@final
@dataclass(frozen=True)
class Term:
    """A function of a column."""

    group: BlockKey
    column: Name
    function: Line | Step

    @property
    def part(self) -> Part:
        """The part of the evidence that it joins."""
        return Part(self.group, self.column)

    def is_in(self, blocks: Mapping[BlockKey, Block]) -> bool:
        """Whether its column is in its group there; it may be counted otherwise by now."""
        return self.group in blocks and self.column in blocks[self.group].axis.columns

    def of(self, blocks: Mapping[BlockKey, Block]) -> Floats:
        """Return the value of each row, of shape (rows,); 0 where the cell is missing."""
        block = blocks[self.group]
        return self.function.of(block, list(block.axis.columns).index(self.column))


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
class LinearPart:
    """What is added to the evidence: terms and products, each times a slope for each class.

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
    """

    of: Mapping[Term, Slopes] = field(default_factory=dict)
    products: Mapping[Product, Slopes] = field(default_factory=dict)
    intercept: Slopes = ()
    ridge: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.of or self.products)

    def __str__(self) -> str:
        columns = len({term.column for term in self.of})
        said = [f"{many(len(self.of), 'term')} of {many(columns, 'column')}"]
        if self.products:
            pairs = f"{many(len(self.pairs), 'pair')} of columns"
            said.append(f"{many(len(self.products), 'product')} of {pairs}")
        return f"{' and '.join(said)}, ridge {self.ridge:g}"

    @property
    def pairs(self) -> dict[str, tuple[str | int, ...]]:
        """The columns of the table that each pair of columns with a product follows from."""
        found = {}
        for of in self.products:
            roots = chain.from_iterable(
                name.roots if isinstance(name, Derived) else (name,) for name in of.columns
            )
            found[title_of_pair(of.columns)] = tuple(dict.fromkeys(roots))
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
        """Return the likelihood of a group with the terms of its columns.

        Parameters
        ----------
        likelihood : Likelihood
            Of the group, times the weights.
        group : hashable
            What the group is known by.
        axis : Axis
            Its columns, or their levels.
        places : sequence of int
            The number of each class among the slopes; the number after the last has slopes of 0.
        """
        column = {name: j for j, name in enumerate(axis.columns)}
        terms = [term for term in self._by_group.get(group, ()) if term.column in column]
        if not terms:
            return likelihood
        slopes = [_by_class(self.of[term], places) for term in terms]
        if isinstance(likelihood, LevelTable) and isinstance(axis, Levels):
            table = np.zeros_like(likelihood.table)
            for term, slope in zip(terms, slopes, strict=True):
                assert isinstance(term.function, Step)
                j, function = column[term.column], term.function
                rows = table[likelihood.first[j] : likelihood.first[j + 1]]
                rows -= function.centre / function.scale * slope
                if (level := axis.index[j].get(function.level)) is not None:
                    rows[level] += slope / function.scale
            return likelihood.plus(table)
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
        for term in self.of:
            if term.is_in(blocks):
                by_column.setdefault(term.column, []).append(term)
        for name, terms in by_column.items():
            x = np.stack([term.of(blocks) for term in terms], axis=1)
            yield name, x @ np.stack([_by_class(self.of[term], places) for term in terms])

    def of_pairs(
        self, blocks: Mapping[BlockKey, Block], places: Sequence[int]
    ) -> Iterator[tuple[tuple[Name, Name], Floats]]:
        """Yield two columns, and what their products add to each row, of shape (rows, classes)."""
        by_columns: dict[tuple[Name, Name], list[Product]] = {}
        terms = dict.fromkeys(term for of in self.products for term in (of.a, of.b))
        value = {term: term.of(blocks) for term in terms if term.is_in(blocks)}
        for product in self.products:
            if product.a in value and product.b in value:
                by_columns.setdefault(product.columns, []).append(product)
        for columns, products in by_columns.items():
            x = np.stack([of.of(value[of.a], value[of.b]) for of in products], axis=1)
            slope = np.stack([_by_class(self.products[of], places) for of in products])
            yield columns, x @ slope

    def intercept_of(self, places: Sequence[int]) -> Floats:
        """Return what is added to the log prior of the classes of these numbers, (classes,)."""
        return _by_class(self.intercept, places) if self.intercept else np.zeros(len(places))

    def mean(
        self, other: LinearPart, share: float, places: tuple[list[int], list[int]]
    ) -> LinearPart:
        """Return the mean of both functions, this one times ``share``.

        ``places`` are the numbers of all classes among the slopes of each.
        """
        intercept = share * self.intercept_of(places[0])
        intercept += (1 - share) * other.intercept_of(places[1])
        there = self.intercept or other.intercept
        return LinearPart(
            _mean(self.of, other.of, share, places),
            _mean(self.products, other.products, share, places),
            tuple(intercept.tolist()) if there else (),
            max(self.ridge, other.ridge),
        )


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


T = TypeVar("T", Term, Product)


def _mean(
    mine: Mapping[T, Slopes],
    theirs: Mapping[T, Slopes],
    share: float,
    places: tuple[list[int], list[int]],
) -> dict[T, Slopes]:
    """Return the mean slopes of the terms of both; what one lacks has slopes of 0 there."""
    found: dict[T, Floats] = {}
    for slopes, times, at in ((mine, share, places[0]), (theirs, 1 - share, places[1])):
        for term, slope in slopes.items():
            found[term] = found.get(term, 0.0) + times * _by_class(slope, at)
    return {term: tuple(slope.tolist()) for term, slope in found.items()}


def _by_class(slope: Slopes, places: Sequence[int]) -> Floats:
    """Return the slopes of the classes of these numbers, (classes,)."""
    return np.array([*slope, 0.0])[list(places)]


# --- Weights: how much the evidence of each column counts ----------------------------------------
#
# Naive Bayes counts what two columns have in common twice. Non-negative factors of each column's
# log likelihoods, one for each class, take that back; every explanation is still a sum, and the
# probabilities are calibrated.


NOTHING = LinearPart()


@dataclass(frozen=True, repr=False)
class Weights(Shown):
    """A non-negative factor for the log likelihoods of each part of the evidence.

    Parameters
    ----------
    classes : tuple of labels
        The classes that the numbers of each part are for.
    of : mapping of Part to a tuple of float
        One for each class.
    bias : tuple of float
        What is added to the log prior of each class, in nats.
    usual : float
        The weight, for every class, of a part that has none of its own.
    rows : float
        How many independent rows the model held when these were fitted.
    how : {"loo", "temperature"}
        How they were fitted: a weight for each part, or one for all.
    linear : LinearPart
        What is added to the evidence so weighted.
    rows_per_weight : tuple of float
        How many independent rows a weight of 1 is, in each class (see
        ``naively.fitting.copies``); where there are none, it is one.

    Notes
    -----
    A log likelihood is centred over the classes before it is multiplied: weights that are equal
    for all classes merely temper it.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes().fit({"a": [1.0, 2.0, 7.0, 8.0]}, ["low", "low", "high", "high"])
    >>> list(nb.weights_.by_name) == ["a"]
    True
    """

    classes: tuple[Label, ...]
    of: Mapping[Part, tuple[float, ...]]
    bias: tuple[float, ...]
    usual: float
    rows: float
    how: Weighting = "loo"
    linear: LinearPart = NOTHING
    rows_per_weight: tuple[float, ...] = ()

    @classmethod
    def even(cls, classes: LabelArray, rows_per_weight: Floats | None) -> Weights:
        """Return weights that are all 1, of a model of which a weight of 1 is so many rows."""
        of = () if rows_per_weight is None else tuple(rows_per_weight.tolist())
        return cls(tuple(classes.tolist()), {}, (0.0,) * len(classes), 1.0, 0.0, rows_per_weight=of)

    @property
    def by_name(self) -> dict[str, dict[Label, float]]:
        """The weights of each part by class, under the name of the part."""
        return {
            str(part): dict(zip(self.classes, each, strict=True)) for part, each in self.of.items()
        }

    def __str__(self) -> str:
        lines = [f"fitted on {self.rows:,.10g} rows; mean over the classes (least to greatest)"]
        for name, by_class in self.by_name.items():
            of = list(by_class.values())
            lines.append(f"  {np.mean(of):.3f} ({min(of):.3f} to {max(of):.3f})  {name}")
        lines += [f"with a linear part: {self.linear}"] if self.linear else []
        return "\n".join(lines)

    def fresh(self, rows: float) -> float:
        """Return what share of so many rows the model held when the weights were fitted."""
        return min(1.0, self.rows / rows) if rows > 0 else 1.0

    @cached_property
    def groups(self) -> frozenset[Hashable]:
        """The groups of which some column has weights of its own."""
        return frozenset(part.group for part in self.of if part.column is not None)

    def of_rows_like(self, other: Weights | None) -> Weights:
        """Return these weights, of a model of which a weight of 1 is as many rows as of another."""
        return self if other is None else replace(self, rows_per_weight=other.rows_per_weight)

    def rows_of(self, classes: Sequence[Label]) -> Floats | None:
        """Return how many rows a weight of 1 is, (classes,); None where it is one throughout."""
        if not self.rows_per_weight:
            return None
        return np.array([*self.rows_per_weight, 1.0])[self.places(classes)]

    def table(self, parts: Sequence[Part], classes: Sequence[Label]) -> Floats:
        """Return the weights of parts, of shape (parts, classes).

        A band of words that came more often than any did when the weights were fitted has those
        of the last band. Another part without weights of its own has those of its whole group, or
        the usual one, or 0 of what is said beside the columns.
        """
        found = np.array([self._of(part) for part in parts], np.float64)
        found = found.reshape(len(parts), len(self.classes))  # of none too
        place = self.places(classes)
        mean = found.mean(axis=1, keepdims=True) if self.classes else np.zeros((len(found), 1))
        return np.hstack([found, mean])[:, place]

    def _of(self, part: Part) -> tuple[float, ...]:
        """Return the weights of a part by class."""
        last = self._last_band.get((part.group, part.column))
        if part.band is not None and last is not None:
            part = replace(part, band=min(part.band, last))
        beside = isinstance(part.column, Derived) and part.column.beside
        usual = 0.0 if beside else self.usual
        of_group = self.of.get(Part(part.group), (usual,) * len(self.classes))
        return self.of.get(part, of_group)

    @cached_property
    def _last_band(self) -> dict[tuple[Hashable, Name | None], int]:
        """The last band of each text that has weights by band."""
        last: dict[tuple[Hashable, Name | None], int] = {}
        for part in self.of:
            if part.band is not None:
                of = part.group, part.column
                last[of] = max(part.band, last.get(of, 0))
        return last

    def bias_of(self, classes: Sequence[Label]) -> Floats:
        """Return what is added to the log priors of classes, of shape (classes,)."""
        places = self.places(classes)
        return np.array([*self.bias, 0.0])[places] + self.linear.intercept_of(places)

    def places(self, classes: Sequence[Label]) -> list[int]:
        """Return the number of each class; of one that has no weights, the number after all."""
        place = {label: i for i, label in enumerate(self.classes)}
        return [place.get(label, len(place)) for label in classes]

    def __add__(self, other: Weights) -> Weights:
        """Average the weights, each by the rows behind it; what one lacks is the other's."""
        rows = self.rows + other.rows
        share = self.rows / rows if rows > 0 else 0.5
        classes = tuple(dict.fromkeys([*self.classes, *other.classes]))

        def mean_of(part: Part) -> tuple[float, ...]:
            mine, theirs = (
                w.table([part], classes)[0] if part in w.of else None for w in (self, other)
            )
            if mine is None or theirs is None:
                one = other if mine is None else self
                return tuple(one.table([part], classes)[0].tolist())
            return tuple((theirs + share * (mine - theirs)).tolist())

        places = self.places(classes), other.places(classes)
        mine, theirs = (
            np.array([*w.bias, 0.0])[at] for w, at in zip((self, other), places, strict=True)
        )
        bias = share * mine + (1 - share) * theirs
        per: tuple[float, ...] = ()
        if self.rows_per_weight or other.rows_per_weight:
            ours, others = (
                np.ones(len(classes)) if of is None else of
                for of in (self.rows_of(classes), other.rows_of(classes))
            )
            per = tuple((share * ours + (1 - share) * others).tolist())
        return Weights(
            classes,
            {part: mean_of(part) for part in dict.fromkeys([*self.of, *other.of])},
            tuple(bias.tolist()),
            other.usual + share * (self.usual - other.usual),
            rows,
            self.how if self.how == other.how else "loo",
            self.linear.mean(other.linear, share, places),
            per,
        )


def mean(a: Weights | None, b: Weights | None) -> Weights | None:
    """Return the mean of the weights of two models; if one has none, those of the other."""
    return b if a is None else a if b is None else a + b
