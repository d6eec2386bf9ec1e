"""Axes: the names of a table's rows, by which tallies that were made apart are aligned.

A row is a column of the data (:class:`Columns`), a level of a categorical column
(:class:`Levels`), a word of a text column (:class:`Words`) or a cell of the grid of numbers
(:class:`naively.counting.cells.Cells`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from naively.counting.analyser import Analyser
from naively.counting.code_table import CodeTable
from naively.counting.names import Derived, Level, Name, title
from naively.counting.statistic import LEVEL, PRESENT, Statistic
from naively.kernels.dispatch import Vocabulary

RowMap: TypeAlias = "NDArray[np.int64] | None"  # the new place of each row; None: all stay

if TYPE_CHECKING:  # Python's own type variables have no default before 3.13
    from typing_extensions import TypeVar

    A = TypeVar("A", bound="Axis", default=Any)
else:
    from typing import TypeVar

    A = TypeVar("A")


class Axis(ABC):
    """The named rows of a table of sums."""

    columns: Sequence[Name]  # the columns of the data that have rows here

    @property
    def grows(self) -> bool:
        """Whether the data's values make the rows, so that a row without counts is dropped."""
        return True

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Which rows stay when nothing is counted of them any more, (rows,)."""
        return np.full(len(self), not self.grows)

    @property
    def by_band(self) -> bool:
        """Whether the evidence of words is divided by bands of document frequency."""
        return False

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def label(self, row: int) -> tuple[Name, Level]:
        """Return the column of a row and its level or word (None where it is a whole column)."""

    @abstractmethod
    def union(self, other: Self) -> tuple[Self, RowMap, RowMap]:
        """Return the axis with the rows of both, and where in it the rows of either go."""

    @abstractmethod
    def select(self, keep: NDArray[np.bool_]) -> Self:
        """Return the axis of the rows where ``keep``, of shape (rows,), is true."""

    def of(self, columns: Collection[Name]) -> tuple[Self, NDArray[np.int64]]:  # noqa: ARG002
        """Return the axis of some of the columns, and the numbers of their rows, (rows,)."""
        raise TypeError(f"the columns of {type(self).__name__} cannot be taken apart")

    def per_row(self, statistic: Statistic) -> bool:  # noqa: ARG002
        """Whether this statistic has a sum for each row, rather than one for the whole axis."""
        return True


@dataclass(frozen=True, eq=False)
class Columns(Axis):
    """One row for each column; ``range(d)`` names the columns of an array."""

    columns: range | tuple[Name, ...]

    @classmethod
    def named(cls, columns: Sequence[Name]) -> Columns:
        """Return the axis of any sequence of names."""
        return cls(columns if isinstance(columns, range) else tuple(columns))

    @property
    def grows(self) -> bool:
        return False

    def __len__(self) -> int:
        return len(self.columns)

    def label(self, row: int) -> tuple[Name, Level]:
        return self.columns[row], None

    def union(self, other: Columns) -> tuple[Columns, RowMap, RowMap]:
        if self.columns == other.columns:
            return self, None, None
        if isinstance(self.columns, range) and isinstance(other.columns, range):
            rows = np.arange(len(other.columns)), np.arange(len(self.columns))
            return (self, None, rows[0]) if len(self) > len(other) else (other, rows[1], None)
        place = {name: row for row, name in enumerate(self.columns)}
        theirs = np.array([place.setdefault(name, len(place)) for name in other.columns], np.int64)
        return Columns(tuple(place)), np.arange(len(self)), theirs

    def of(self, columns: Collection[Name]) -> tuple[Columns, NDArray[np.int64]]:
        rows = [row for row, name in enumerate(self.columns) if name in columns]
        return Columns(tuple(self.columns[row] for row in rows)), np.array(rows, np.int64)

    def select(self, keep: NDArray[np.bool_]) -> Columns:
        return Columns(tuple(self.columns[row] for row in np.flatnonzero(keep)))


class ByValue(Axis):
    """One row for each value of each column, a level or a cell of a grid, column after column."""

    statistic: ClassVar[Statistic]  # how often each of them came

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each column has, of shape (columns,)."""

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Where each column's rows begin; the last entry is the number of rows."""
        return np.append(0, np.cumsum(self.sizes))

    def __len__(self) -> int:
        return int(self.first[-1])

    def sum_by_column(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the rows of a table of shape (rows, classes) to one of shape (columns, classes)."""
        sums = np.zeros((len(self.columns), table.shape[1]))
        np.add.at(sums, np.repeat(np.arange(len(sums)), self.sizes), table)
        return sums


@dataclass(frozen=True, eq=False)
class Levels(ByValue):
    """One row for each level of each column, column after column."""

    statistic = LEVEL
    columns: tuple[Name, ...]
    levels: tuple[tuple[Level, ...], ...]
    whole: bool = False  # whether levels without counts stay
    declared: tuple[Level, ...] = ()  # these come first in each column, and stay

    @classmethod
    def of_all(cls, columns: Sequence[Derived], *, whole: bool = True) -> Levels:
        """Return the axis of all levels that derived columns can have."""
        return cls(tuple(columns), tuple(column.levels for column in columns), whole)

    @property
    def grows(self) -> bool:
        return not self.whole

    @property
    def stays(self) -> NDArray[np.bool_]:
        stays = super().stays
        first = np.arange(len(self.declared))
        stays[(self.first[:-1, None] + first).ravel()] = True
        return stays

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.fromiter(map(len, self.levels), np.int64)

    @cached_property
    def index(self) -> tuple[dict[Level, int], ...]:
        """The number of each level within its column, by column and level."""
        return tuple({level: i for i, level in enumerate(levels)} for levels in self.levels)

    @cached_property
    def own_codes(self) -> bool:
        """Whether each column's levels are 0, 1, 2, ..., so that a value is its own code."""
        return all(levels == tuple(range(len(levels))) for levels in self.levels)

    @cached_property
    def code_table(self) -> CodeTable | None:
        """The table that encodes whole numbers; None if levels are others, or far apart."""
        return CodeTable.of(self.levels)

    def label(self, row: int) -> tuple[Name, Level]:
        column = int(np.searchsorted(self.first, row, side="right")) - 1
        return self.columns[column], self.levels[column][row - int(self.first[column])]

    def union(self, other: Levels) -> tuple[Levels, RowMap, RowMap]:
        if self.columns == other.columns and self.levels == other.levels:
            return self, None, None
        index = {name: dict(i) for name, i in zip(self.columns, self.index, strict=True)}
        for name, levels in zip(other.columns, other.levels, strict=True):
            of_column = index.setdefault(name, {})
            for level in levels:
                of_column.setdefault(level, len(of_column))
        levels_of = tuple(tuple(levels) for levels in index.values())
        joined = replace(self, columns=tuple(index), levels=levels_of)
        return joined, _rows_in(joined, self), _rows_in(joined, other)

    def of(self, columns: Collection[Name]) -> tuple[Levels, NDArray[np.int64]]:
        some = [j for j, name in enumerate(self.columns) if name in columns]
        names, levels = (tuple(self.columns[j] for j in some), tuple(self.levels[j] for j in some))
        return replace(self, columns=names, levels=levels), rows_of(self.first, some)

    def select(self, keep: NDArray[np.bool_]) -> Levels:
        kept = tuple(
            tuple(level for level, k in zip(levels, keep[start:], strict=False) if k)
            for levels, start in zip(self.levels, self.first, strict=False)
        )
        return replace(self, levels=kept)

    def declaring(self, declared: tuple[Level, ...]) -> Levels:
        """Return the axis on which these levels come first in each column, and stay."""
        whole = tuple(tuple(dict.fromkeys([*declared, *levels])) for levels in self.levels)
        return replace(self, levels=whole, declared=declared)


def _rows_in(axis: Levels, part: Levels) -> NDArray[np.int64]:
    """Return the row on ``axis`` of each row of ``part``, (rows,); it has all of its levels."""
    place = {name: j for j, name in enumerate(axis.columns)}
    rows = [
        axis.first[place[name]] + axis.index[place[name]][level]
        for name, levels in zip(part.columns, part.levels, strict=True)
        for level in levels
    ]
    return np.array(rows, np.int64)


def rows_of(first: NDArray[np.int64], columns: Sequence[int]) -> NDArray[np.int64]:
    """Return the rows of columns, (rows,), where ``first`` says where each column's rows begin."""
    none = np.empty(0, np.int64)
    return np.concatenate([none, *(np.arange(first[j], first[j + 1]) for j in columns)])


@dataclass(frozen=True, eq=False)
class Words(Axis):
    """One row for each token of a text column, or for each hash of a token."""

    columns: tuple[Name]
    listed: Vocabulary  # of these words, or of those that they were selected from
    analyser: Analyser
    # The axis that these words were selected from, while it is in use, and their rows there.
    source: tuple[ref[Words], NDArray[np.int64]] | None = None

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words. Those that were selected are listed when asked for: a fold never asks."""
        if self.source is None:
            return self.listed
        return self.listed.select(np.isin(np.arange(len(self.listed)), self.source[1]))

    @property
    def grows(self) -> bool:
        return not self.hashed and self.analyser.vocabulary is None

    @property
    def hashed(self) -> bool:
        """Whether rows are numbers that tokens are hashed to, so that words are not known."""
        return self.analyser.features is not None

    @property
    def by_band(self) -> bool:
        return self.analyser.binary

    def __len__(self) -> int:
        return len(self.listed if self.source is None else self.source[1])

    @cached_property
    def words(self) -> list[str]:
        """The words, in the order of the rows, (words,)."""
        return self.vocabulary.words()

    @property
    def writable(self) -> NDArray[np.object_]:
        """The words, (words,); an error if texts cannot be written from them."""
        if self.hashed or not self.analyser.single_words:
            raise ValueError(
                f"Texts cannot be drawn from the tokens of {self.analyser}, only from single words."
            )
        return np.array(self.words, object)

    def label(self, row: int) -> tuple[Name, Level]:
        return self.columns[0], f"#{row}" if self.hashed else self.words[row]

    def check_counted_alike(self, other: Words) -> None:
        """Raise a ValueError unless both axes are of texts that were split alike."""
        if self.analyser != other.analyser:
            raise ValueError(
                f"The texts of {title(self.columns[0])!r} were counted by {self.analyser} and by "
                f"{other.analyser}; they cannot be merged."
            )

    def union(self, other: Words) -> tuple[Words, RowMap, RowMap]:
        self.check_counted_alike(other)
        if self._has_words_of(other):
            return self, None, None
        joined = self.vocabulary.copy()
        theirs = joined.join(other.vocabulary)
        return self.grown(joined), np.arange(len(self)), theirs

    def _has_words_of(self, other: Words) -> bool:
        """Whether it is known without a look that each word has the same row on both axes."""
        return (self.listed is other.listed and self.source is other.source) or not self.grows

    def grown(self, vocabulary: Vocabulary) -> Words:
        """Return the axis with the words of a larger vocabulary."""
        return replace(self, listed=vocabulary, source=None)

    def select(self, keep: NDArray[np.bool_]) -> Words:
        of, rows = self.source or (ref(self), np.arange(len(self)))
        return replace(self, source=(of, rows[keep]))

    def find(self, other: Words) -> RowMap:
        """Return the row here of each word of another axis, (words,); -1 where there is none.

        It is None if each word has the same row on both.
        """
        if self._has_words_of(other):
            return None
        if self.source is not None:
            of, rows = self.source
            if of() is other:
                place = np.full(len(other), -1, np.int64)
                place[rows] = np.arange(len(rows))
                return place
        return self.vocabulary.find(other.words)

    def __reduce__(self) -> tuple[object, ...]:
        # A native vocabulary cannot be pickled, and the reader may have no native kernels.
        arrays = self.vocabulary.to_arrays() if self.grows else ()
        return words_axis, (self.columns, self.analyser, *arrays)

    def per_row(self, statistic: Statistic) -> bool:
        """Whether there is a sum for each word: a text is present or missing as a whole."""
        return statistic is not PRESENT


def words_axis(columns: tuple[Name], analyser: Analyser, *arrays: NDArray[Any]) -> Words:
    """Return the axis whose vocabulary was written to arrays.

    Hashed tokens and declared words have none.
    """
    if not arrays:
        return Words(columns, analyser.new_vocabulary(), analyser)
    return Words(columns, Vocabulary.from_arrays(*arrays, **analyser.splitting), analyser)
