"""Rules: decision tables of a few columns, and what they add to the scores of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Axis, Level, Levels, Name, title
from naively.counting.block import Block, BlockKey, Codes, numbers_of
from naively.kernels import dispatch
from naively.kernels.reference import Floats

MOST_CONDITIONS = 8  # of a rule, whose table has twice as many cells with each

# --- What is asked of a cell ---------------------------------------------------------------------


def is_counted(axes: Mapping[BlockKey, Axis], group: BlockKey, column: Name) -> bool:
    """Whether a column is in its group still, by the axes of the groups."""
    return group in axes and column in axes[group].columns


def axes_of(blocks: Mapping[BlockKey, Block]) -> dict[BlockKey, Axis]:
    """Return the axes of blocks."""
    return {key: block.axis for key, block in blocks.items()}


def cells_of(blocks: Mapping[BlockKey, Block], group: BlockKey, column: Name) -> tuple[Block, int]:
    """Return the block that holds a column, and the column's number."""
    block = blocks[group]
    return block, block.axis.columns.index(column)


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
    """1 where a cell is one of some levels, and else 0."""

    levels: tuple[Level, ...]

    def of(self, block: Block, column: int) -> Floats:
        """Return the value of each row of a block, of shape (rows,); 0 where it is missing."""
        assert isinstance(block, Codes)
        index = block.axis.index[column]
        among = np.zeros(len(block.axis.levels[column]) + 2)  # then what was never seen, missing
        among[[index[level] for level in self.levels if level in index]] = 1
        found: Floats = among[np.minimum(block.codes[:, column], len(among) - 2)]
        return found


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
    missing : bool
        Whether the condition holds for a missing cell.
    """

    group: BlockKey
    column: Name
    test: Above | OneOf
    missing: bool = False

    def of(self, blocks: Mapping[BlockKey, Block]) -> NDArray[np.bool_]:
        """Return whether it holds for each row, of shape (rows,)."""
        holds = self.test.of(*cells_of(blocks, self.group, self.column)) > 0
        return holds | self.is_missing(blocks) if self.missing else holds

    def is_missing(self, blocks: Mapping[BlockKey, Block]) -> NDArray[np.bool_]:
        """Return whether the cell of each row is missing, of shape (rows,)."""
        return np.asarray(There().of(*cells_of(blocks, self.group, self.column)) == 0)


@final
@dataclass(frozen=True)
class Rule:
    """A decision table: a value for each class in each cell, which is a set of true conditions.

    The number of a cell has a bit for each condition, the first the lowest, which is 1 where the
    condition holds.
    """

    conditions: tuple[Condition, ...]

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
                named = (of.test.levels for of in conditions if isinstance(of.test, OneOf))
                found.append(tuple(dict.fromkeys(level for of in named for level in of)))
        return found

    @cached_property
    def _sides(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Whether each condition holds for each bin of its column, and where its bins begin."""
        place = {column: i for i, column in enumerate(self._columns)}
        sides = []
        for of in self._conditions:
            bins = self._bins[place[of.group, of.column]]
            if isinstance(of.test, Above):
                holds = np.append(-np.inf, bins) >= of.test.edge
            else:
                holds = np.array([level in of.test.levels for level in bins] + [False])
            sides.append(np.append(holds, of.missing).astype(np.uint8))
        return np.concatenate(sides), np.cumsum([0, *map(len, sides)])[:-1]

    @cached_property
    def _layout(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The column of each condition; where each rule's conditions begin, and its points."""
        place = {column: i for i, column in enumerate(self._columns)}
        column = np.array([place[of.group, of.column] for of in self._conditions], np.int64)
        size = [len(rule.conditions) for rule in self.rules]
        first = np.cumsum([0, *size], dtype=np.int64)
        return column, first, np.cumsum([0, *(2**of for of in size)], dtype=np.int64)

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
