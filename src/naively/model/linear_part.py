"""The linear part of a model: straight lines and steps that are added to the evidence of columns.

Naive Bayes sums what each column says by itself. Where columns are dependent, a sum of other
functions of the same columns predicts better: a linear part, as logistic regression has it, fitted
beside the evidence. It is a sum over columns too, so that each of its terms joins the contribution
of its column, and adds exactly 0 where the cell is missing. Products of two terms are said of two
columns at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Levels
from naively.counting.block import Block, BlockKey, Codes, Dense
from naively.counting.names import Level, Name, title
from naively.counting.parts import Part
from naively.kernels.reference import Floats
from naively.likelihoods.base import Likelihood
from naively.likelihoods.sloped import Sloped
from naively.likelihoods.table import LevelTable

FARTHEST = 5.0  # standard deviations, of a product


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
        if not isinstance(block, Dense):
            x = np.zeros(len(block))
            row, item, value = block.entries()
            x[row[item == column]] = value[item == column]
        else:
            x = np.asarray(block.values[:, column], np.float64)
        return np.nan_to_num((np.clip(x, self.low, self.high) - self.centre) / self.scale)


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
    """A function of one column, the part of the evidence that it joins."""

    part: Part
    function: Line | Step

    def of(self, blocks: Mapping[BlockKey, Block]) -> Floats:
        """Return the value of each row, of shape (rows,); 0 where the cell is missing."""
        block = blocks[self.part.group]
        return self.function.of(block, list(block.axis.columns).index(self.part.column))


@final
@dataclass(frozen=True)
class Product:
    """The product of two terms of different columns, over its standard deviation."""

    a: Term
    b: Term
    scale: float

    def __str__(self) -> str:
        return " × ".join(title(name) for name in self.columns)

    @property
    def columns(self) -> tuple[Name, Name]:
        """The two columns."""
        a, b = self.a.part.column, self.b.part.column
        assert a is not None
        assert b is not None
        return a, b


Slopes: TypeAlias = "tuple[float, ...]"  # in nats per unit of a term, one for each class


@dataclass(frozen=True)
class LinearPart:
    """What is added to the evidence: terms and products, each times a slope for each class.

    Parameters
    ----------
    of : mapping of Term to a tuple of float
        The slopes of the terms, which join the contributions of their columns.
    products : mapping of Product to a tuple of float
        The slopes of the products.
    ridge : float
        What the slopes were shrunk towards 0 by: twice the log loss, in nats, of a slope of 1 nat
        for one standard deviation.
    """

    of: Mapping[Term, Slopes] = field(default_factory=dict)
    products: Mapping[Product, Slopes] = field(default_factory=dict)
    ridge: float = 0.0

    @cached_property
    def groups(self) -> frozenset[BlockKey]:
        """The groups of columns that some term is of."""
        return frozenset(term.part.group for term in self.of)

    def added_to(
        self, likelihood: Likelihood, key: BlockKey, axis: object, places: Sequence[int]
    ) -> Likelihood:
        """Return the likelihood of a group with the terms of its columns.

        Parameters
        ----------
        likelihood : Likelihood
            Of the group, times the weights.
        key : hashable
            What the group is known by.
        axis : Axis
            The columns, or their levels.
        places : sequence of int
            The number of each class among the slopes; the number after the last is a slope of 0.
        """
        if key not in self.groups:
            return likelihood
        terms = [(term, slope) for term, slope in self.of.items() if term.part.group == key]
        if isinstance(axis, Levels) and isinstance(likelihood, LevelTable):
            return likelihood.plus(_steps(terms, axis, places))
        return _sloped(likelihood, terms, list(axis.columns), places)

    def mean(
        self, other: LinearPart, share: float, places: tuple[Sequence[int], ...]
    ) -> LinearPart:
        """Return the mean of both functions, this one times ``share``.

        ``places`` are the numbers of all classes among the slopes of each.
        """
        both: list[dict] = []
        for mine, theirs in ((self.of, other.of), (self.products, other.products)):
            found: dict = {}
            for slopes, times, at in ((mine, share, places[0]), (theirs, 1 - share, places[1])):
                for term, slope in slopes.items():
                    added = times * np.array([*slope, 0.0])[list(at)]
                    found[term] = found[term] + added if term in found else added
            both.append({term: tuple(slope.tolist()) for term, slope in found.items()})
        return LinearPart(*both, ridge=max(self.ridge, other.ridge))


def _steps(terms: Sequence[tuple[Term, Slopes]], axis: Levels, places: Sequence[int]) -> Floats:
    """Return what is added to the log likelihood of each level, (levels and unseen, classes)."""
    first = np.asarray(axis.first) + np.arange(len(axis.columns) + 1)
    table = np.zeros((int(first[-1]), len(places)))
    column = {name: j for j, name in enumerate(axis.columns)}
    for term, slope in terms:
        j, function = column.get(term.part.column, -1), term.function
        if j < 0 or not isinstance(function, Step):
            continue
        by_class = np.array([*slope, 0.0])[list(places)] / function.scale
        table[first[j] : first[j + 1]] -= function.centre * by_class
        level = axis.index[j].get(function.level)
        if level is not None:
            table[first[j] + level] += by_class
    return table


def _sloped(
    likelihood: Likelihood,
    terms: Sequence[tuple[Term, Slopes]],
    columns: list[Name],
    places: Sequence[int],
) -> Likelihood:
    """Return a likelihood of numbers plus a line for each of its terms."""
    column = {name: j for j, name in enumerate(columns)}
    lines = [
        (column[term.part.column], term.function, slope)
        for term, slope in terms
        if isinstance(term.function, Line) and term.part.column in column
    ]
    if not lines:
        return likelihood
    lines.sort(key=lambda line: line[0])
    return Sloped(
        likelihood,
        column=np.array([j for j, _, _ in lines], np.int64),
        low=np.array([line.low for _, line, _ in lines]),
        high=np.array([line.high for _, line, _ in lines]),
        centre=np.array([line.centre for _, line, _ in lines]),
        slope=np.array(
            [np.array([*slope, 0.0])[list(places)] / line.scale for _, line, slope in lines]
        ),
    )
