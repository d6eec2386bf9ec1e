"""Rules: decision tables of a few columns, and what they add to the scores of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import mul
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Level, Levels, Name, title
from naively.counting.block import Block, BlockKey, Codes, numbers_of
from naively.kernels import dispatch
from naively.kernels.reference import Floats

MOST_CONDITIONS = 8  # of a rule, whose table has twice as many cells with each

# --- What is asked of a cell ---------------------------------------------------------------------

NEITHER = 2  # the side of what was never seen, of a condition whose sides are 1 and 0


def is_counted(axes: Mapping[BlockKey, Axis], group: BlockKey, column: Name) -> bool:
    """Whether a column is in its group still, by the axes of the groups."""
    return group in axes and column in axes[group].columns


def axes_of(blocks: Mapping[BlockKey, Block]) -> dict[BlockKey, Axis]:
    """Return the axes of blocks."""
    return {key: block.axis for key, block in blocks.items()}


def cells_of(blocks: Mapping[BlockKey, Block], group: BlockKey, column: Name) -> tuple[Block, int]:
    """Return the block that holds a column, and the column's number."""
    block = blocks[group]
    return block, tuple(block.axis.columns).index(column)


@final
@dataclass(frozen=True)
class Above:
    """1 where a number is at least an edge, and else 0."""

    edge: float

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        return np.where(numbers_of(block, column) >= self.edge, 1.0, 0.0)


@final
@dataclass(frozen=True)
class There:
    """1 where a cell is not missing."""

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        if isinstance(block, Codes):
            return np.where(block.codes[:, column] >= 0, 1.0, 0.0)
        return np.where(np.isnan(numbers_of(block, column)), 0.0, 1.0)


@final
@dataclass(frozen=True)
class OneOf:
    """Whether a cell is one of some levels.

    Where the others are named too, what is none of both was never seen, and is on neither side.
    """

    levels: tuple[Level, ...]
    others: tuple[Level, ...] = ()

    @property
    def elsewhere(self) -> int:
        """The side of levels that are not named."""
        return NEITHER if self.others else 0

    @cached_property
    def sides(self) -> dict[Level, int]:
        """The side of each level that is named."""
        return dict.fromkeys(self.others, 0) | dict.fromkeys(self.levels, 1)


# --- Rules ---------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Condition:
    """Whether a number is at least an edge, or a cell one of some levels.

    Parameters
    ----------
    group, column
        The column, and the group that it is in.
    test : Above or OneOf
        What is asked of a cell that is not missing.
    missing : int
        The side of a missing cell: 1 if the condition holds for it, 0 if not, or neither.
    """

    group: BlockKey
    column: Name
    test: Above | OneOf
    missing: int = 0

    @property
    def number(self) -> int:
        """How many sides there are."""
        return 3 if isinstance(self.test, OneOf) and self.test.others else 2

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
@dataclass(frozen=True)
class Rule:
    """A decision table: a value for each class in each cell, which is a set of true conditions.

    The number of a cell is the sum of its side of each condition times its stride: the product of
    how many sides those before have.
    """

    conditions: tuple[Condition, ...]

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """What a side of each condition adds to the number of a cell; and how many cells."""
        return tuple(accumulate((of.number for of in self.conditions), mul, initial=1))

    @property
    def columns(self) -> tuple[Name, ...]:
        """Its different columns, two or more."""
        names = dict.fromkeys(of.column for of in self.conditions)
        return tuple(sorted(names, key=title))

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
    """Return slopes or points of the classes of these numbers, (..., classes).

    The number after that of the last class has 0.
    """
    every = np.asarray(added, np.float64)
    return np.concatenate([every, np.zeros((*every.shape[:-1], 1))], axis=-1)[..., list(places)]


# --- Many rules at once --------------------------------------------------------------------------
#
# The cells of a column are cut at all edges of its conditions, or told apart by all levels that
# these name, once; what holds for each bin is then looked up, and so are the points.


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rules laid out to score rows.

    Parameters
    ----------
    rules : sequence of Rule
        The rules, all of whose columns are there.
    points : ndarray of shape (cells of all rules, classes)
        What each cell adds.
    """

    rules: Sequence[Rule]
    points: Floats

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
    def _bins(self) -> list[Floats | tuple[Level, ...]]:
        """The edges of each column, ascending, or the levels that its conditions name."""
        found: list[Floats | tuple[Level, ...]] = []
        for conditions in self._columns.values():
            edges = {of.test.edge for of in conditions if isinstance(of.test, Above)}
            if edges:
                found.append(np.array(sorted(edges)))
            else:
                named = (of.test.sides for of in conditions if isinstance(of.test, OneOf))
                found.append(tuple(dict.fromkeys(level for of in named for level in of)))
        return found

    @cached_property
    def _sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What each condition adds to a cell's number in each bin, and where its bins begin."""
        place = {column: i for i, column in enumerate(self._columns)}
        strides = [stride for rule in self.rules for stride in rule.strides[:-1]]
        sides = []
        for of, stride in zip(self._conditions, strides, strict=True):
            bins = self._bins[place[of.group, of.column]]
            if isinstance(of.test, Above):
                side = [*(np.append(-np.inf, bins) >= of.test.edge)]
            else:
                elsewhere = of.test.elsewhere
                side = [*(of.test.sides.get(level, elsewhere) for level in bins), elsewhere]
            sides.append(stride * np.array([*side, of.missing], np.int64))
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

    def _codes(self, blocks: Mapping[BlockKey, Block]) -> NDArray[np.int32]:
        """Return the bin of each cell, the last of a column for missing ones, (columns, rows)."""
        found = []
        for (group, name), bins in zip(self._columns, self._bins, strict=True):
            block, column = cells_of(blocks, group, name)
            if isinstance(bins, np.ndarray):
                x = numbers_of(block, column)
                code = np.searchsorted(bins, x, side="right")
                found.append(np.where(np.isnan(x), len(bins) + 1, code))
            else:
                assert isinstance(block, Codes)
                found.append(_of_levels(block, column, bins))
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
