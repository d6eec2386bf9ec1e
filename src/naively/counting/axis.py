"""What is counted of a column, and the axis that names the rows of its table of counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cached_property, partial, reduce
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from naively.frozen import Frozen
from naively.kernels.dispatch import Vocabulary
from naively.kernels.reference import CAP, LAST_SHIFT, Keys, coarsest, sortable
from naively.kernels.strings import Row

# --- Sufficient statistics: the handful of elementwise sums that naive Bayes is made of ----------


class Statistic(Enum):
    """What is summed over the rows of a class, for each column, level or word."""

    PRESENT = "present"  # 1 for a cell that is there, 0 for a missing one
    VALUE = "value"  # x
    SQUARE = "square"  # x²
    DOCUMENT = "document"  # 1 for a text that holds a token
    LEVEL = "level"  # which of the levels of a column: one sum for each
    CELL = "cell"  # which of the cells that a column of numbers falls into: one sum for each


PRESENT = Statistic.PRESENT
VALUE = Statistic.VALUE
SQUARE = Statistic.SQUARE
DOCUMENT = Statistic.DOCUMENT
LEVEL = Statistic.LEVEL
CELL = Statistic.CELL


# --- The names of columns: a string, a place in an array, or a column derived from others --------


Level: TypeAlias = Any  # a string, a number or a boolean


class Derived(ABC):
    """A column that is computed from other columns, its sources, which identify it."""

    # Whether it says something beside what its sources say, as an addition to their evidence: it
    # counts only by a weight of its own, and is no part of the probability of a row.
    beside: ClassVar[bool] = False

    @property
    @abstractmethod
    def sources(self) -> tuple[Name, ...]:
        """The columns that it is computed from."""

    @property
    def roots(self) -> tuple[str | int, ...]:
        """The columns of the table that it is computed from in the end, each once."""
        return tuple(dict.fromkeys(chain.from_iterable(map(roots_of, self.sources))))


class DerivedLevels(Derived, Frozen, eq=True):
    """A column of levels that is computed from another one, and counted like it.

    Its levels are known before any row is, and its source is an encoded column, so that learning
    and prediction cannot differ.
    """

    of: Name

    @property
    def sources(self) -> tuple[Name, ...]:
        return (self.of,)

    @property
    @abstractmethod
    def levels(self) -> tuple[Level, ...]:
        """All values that it can take, in the order of their codes."""

    @abstractmethod
    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        """Return which level each row has, of shape (rows,); negative where it is missing."""

    @abstractmethod
    def cells(self, cells: Callable[[Name], Sequence[object]]) -> Sequence[object]:
        """Return what an explanation shows for each row; ``cells`` returns those of a source."""


Name: TypeAlias = str | int | Derived


class Encoded(ABC):
    """Encoded rows, as a derived column sees them."""

    @abstractmethod
    def number(self, name: Name) -> NDArray[np.floating]:
        """Return a column of numbers, of shape (rows,); NaN is missing."""

    @abstractmethod
    def codes_of(self, name: Name, levels: Sequence[Level]) -> NDArray[np.integer]:
        """Return codes among these levels, (rows,): missing is negative, others their number."""

    @abstractmethod
    def missing(self, name: Name) -> NDArray[np.bool_]:
        """Return which cells of a column are missing, of shape (rows,)."""

    @abstractmethod
    def words(self, name: Name, words: Sequence[Level]) -> NDArray[np.integer]:
        """Return which of these words stands in place of each value of a column, (rows,).

        A cell with a value, or an empty one, is negative; other words have the number of words.
        """


def title(name: Name) -> str:
    """Return a column's name for messages and reports; an array's columns are x0, x1, ..."""
    return f"x{name}" if isinstance(name, int) else str(name)


def roots_of(name: Name) -> tuple[str | int, ...]:
    """Return the columns of the table that a column follows from, which may be itself."""
    return name.roots if isinstance(name, Derived) else (name,)


def title_of_columns(names: Iterable[Name]) -> str:
    """Return the name of columns that are taken together, such as "age × x3"."""
    return " × ".join(map(title, names))


# --- The analyser: how the texts of a column become tokens, and which of these are learned from ---


class Analyser(ABC):
    """How the texts of a column become tokens, and which of these are learned from.

    All tokens are counted, so that tallies add and subtract; ``min_df``, ``max_df`` and
    ``max_features`` choose among them when parameters are derived.
    """

    name: ClassVar[str]
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    binary: bool = False
    features: int | None = None
    max_tokens: int | None = None
    vocabulary: Sequence[str] | None = None  # where it is declared, no other tokens are counted

    @property
    def functions(self) -> Mapping[str, Callable[[str], object]]:
        """The functions that a text goes through, by the options that they were given as."""
        return {}

    @property
    @abstractmethod
    def splitting(self) -> dict[str, Any]:
        """The keyword arguments of a vocabulary of these tokens."""

    @abstractmethod
    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        """Return the texts as a vocabulary splits them: as they are, or as lists of tokens."""

    def new_vocabulary(self) -> Vocabulary:
        """Return a vocabulary that splits texts by these settings; it holds the declared words."""
        return Vocabulary(self.vocabulary or (), **self.splitting)

    @property
    def single_words(self) -> bool:
        """Whether tokens are single words, so that a text can be written from them."""
        split = self.splitting
        given = {name: split[name] for name in ("analyzer", "ngram_range") if name in split}
        return given in ({}, {"analyzer": "word", "ngram_range": (1, 1)})

    @property
    def counted(self) -> str:
        """The name of the tokens, such as "words" or "character 3- to 5-grams"."""
        split = self.splitting
        unit, (least, most) = split.get("analyzer", "word"), split.get("ngram_range", (1, 1))
        if self.single_words:
            return "words"
        several = f"{least}-grams" if least == most else f"{least}- to {most}-grams"
        return f"{'word' if unit == 'word' else 'character'} {several}"

    @property
    def legible(self) -> bool:
        """Whether a reader understands a token, as it is no character n-gram."""
        return bool(self.splitting.get("analyzer", "word") == "word")

    @property
    def counts_documents(self) -> bool:
        """Whether the number of texts that hold a token decides whether it is learned from."""
        return _differ(self.min_df, 1) or _differ(self.max_df, 1.0)

    @property
    def selects(self) -> bool:
        """Whether tokens are selected, so that some are counted but not learned from."""
        return self.counts_documents or self.max_features is not None

    @property
    def settings(self) -> dict[str, str]:
        """The settings that differ from their defaults, as they are written, by name."""
        values = {
            field.name: (getattr(self, field.name), field.default)
            for field in fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        }
        return {name: repr(of) for name, (of, default) in values.items() if _differ(of, default)}

    @property
    def is_plain(self) -> bool:
        """Whether all settings are the defaults."""
        return not self.settings

    def __reduce__(self) -> tuple[object, ...]:
        # Only the settings are pickled: what is made from them may refuse to be.
        options = fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        of = {option.name: getattr(self, option.name) for option in options}
        return partial(type(self), **of), ()

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{type(self).__name__}({given})"


def _differ(value: object, default: object) -> bool:
    """Whether two settings differ; a count of 1 is not a share of 1.0."""
    return value != default or isinstance(value, float) != isinstance(default, float)


# --- Tables that encode whole numbers by their place, where they are close together --------------


EARLIER = 31  # vocabularies that one grew from are known, so that no word is looked up in it
DENSE_RANGE = 1 << 16  # whole numbers within such a range are encoded by position


class CodeTable(Frozen):
    """Codes by value, column after column, with a place for other numbers at each end."""

    low: NDArray[np.int64]  # (columns,): the value of each column's first place
    start: NDArray[np.int64]  # (columns,): where each column's places begin
    size: NDArray[np.int64]  # (columns,): how many places each column has
    codes: NDArray[np.int32]  # (places,): the code at each place

    @classmethod
    def of(cls, levels: tuple[tuple[Level, ...], ...]) -> CodeTable | None:
        """Make the table; None where levels are not whole numbers, or far apart."""
        if not all(of and all(type(level) is int for level in of) for of in levels):
            return None
        ends = [(min(of) - 1, max(of)) for of in levels]
        fits = np.iinfo(np.int64)
        if not ends or max(top - below + 2 for below, top in ends) > DENSE_RANGE:
            return None
        if min(below for below, _ in ends) < fits.min or max(top for _, top in ends) > fits.max:
            return None
        low = np.array([below for below, _ in ends], np.int64)
        size = np.array([top for _, top in ends], np.int64) - low + 2
        start = np.cumsum(size) - size
        codes = np.repeat(np.array([len(of) for of in levels], np.int32), size)
        for of, first, at in zip(levels, low, start, strict=True):
            codes[np.array(of) - first + at] = np.arange(len(of))
        return cls(low, start, size, codes)

    def look_up(self, matrix: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the code of each whole number, rows × columns."""
        place = matrix - self.low
        np.clip(place, 0, self.size - 1, out=place)
        place += self.start
        return np.asarray(self.codes[place])


# --- Axes: the names of a table's rows, by which tallies that were made apart are aligned --------
#
# A row is a column of the data (:class:`Columns`), a level of a categorical column
# (:class:`Levels`), a word of a text column (:class:`Words`) or a cell of the grid of numbers
# (:class:`naively.counting.axis.Cells`).


RowMap: TypeAlias = "NDArray[np.int64] | None"  # the new place of each row; None: all stay

if TYPE_CHECKING:  # Python's own type variables have no default before 3.13
    from typing_extensions import TypeVar

    A = TypeVar("A", bound="Axis", default=Any)
else:
    from typing import TypeVar

    A = TypeVar("A")


class Axis(ABC):
    """The named rows of a table of sums."""

    columns: range | tuple[Name, ...]  # the columns of the data that have rows here
    # Whether the data's values make the rows, so that a row without counts is dropped.
    grows: ClassVar[bool] = True
    # Whether the evidence of words is divided by bands of document frequency.
    by_band: ClassVar[bool] = False
    shared: ClassVar[frozenset[Statistic]] = frozenset()  # those that have one sum for all rows
    declared: tuple[Level, ...] = ()  # levels that come first in each column, and stay

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Which rows stay when nothing is counted of them any more, (rows,)."""
        return np.full(len(self), not self.grows)

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

    def levels_of(self, column: int) -> tuple[Level, ...]:  # noqa: ARG002
        """Return the levels of a column, by its place; none where they are not what is counted."""
        return ()

    def of(self, columns: Collection[Name]) -> tuple[Self, NDArray[np.int64] | slice]:  # noqa: ARG002
        """Return the axis of some of the columns, and the numbers of their rows, (rows,)."""
        raise TypeError(f"the columns of {type(self).__name__} cannot be taken apart")


@dataclass(frozen=True, eq=False)
class Columns(Axis):
    """One row for each column; ``range(d)`` names the columns of an array."""

    columns: range | tuple[Name, ...]
    grows = False

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
    first: NDArray[np.int64]  # (columns + 1,): where each column's rows begin, and the last ends

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """The number of the column of each row, (rows,)."""
        return np.repeat(np.arange(len(self.columns)), np.diff(self.first))

    def __len__(self) -> int:
        return int(self.first[-1])

    def sum_by_column(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the rows of a table of shape (rows, classes) to one of shape (columns, classes)."""
        sums = np.zeros((len(self.columns), table.shape[1]))
        there = np.flatnonzero(np.diff(self.first))
        if len(there):
            sums[there] = np.add.reduceat(table, self.first[there], axis=0)
        return sums


class Levels(ByValue, Frozen):
    """One row for each level of each column, column after column."""

    statistic = LEVEL
    columns: tuple[Name, ...]
    levels: tuple[tuple[Level, ...], ...]
    declared: tuple[Level, ...] = ()

    @classmethod
    def of_all(cls, columns: Sequence[DerivedLevels]) -> Levels:
        """Return the axis of all levels that derived columns can have."""
        return cls(tuple(columns), tuple(column.levels for column in columns))

    @cached_property
    def first(self) -> NDArray[np.int64]:  # type: ignore[override]  # read-only
        return np.cumsum([0, *map(len, self.levels)], dtype=np.int64)

    @property
    def stays(self) -> NDArray[np.bool_]:
        stays = super().stays
        first = np.arange(len(self.declared))
        stays[(self.first[:-1, None] + first).ravel()] = True
        return stays

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

    def levels_of(self, column: int) -> tuple[Level, ...]:
        return self.levels[column]

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


class Words(Axis, Frozen):
    """One row for each token of a text column, or for each hash of a token."""

    columns: tuple[Name]
    listed: Vocabulary  # of these words, or of those that they were selected from
    analyser: Analyser
    number: RowMap = None  # of each word among those that are listed, ascending; None: of all
    # The vocabularies that this one grew from, the last first, and how many words they had then.
    earlier: tuple[tuple[ref[Vocabulary], int], ...] = ()
    shared = frozenset({PRESENT})  # a text is present or missing as a whole

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words. Those that were selected are listed when asked for: a fold never asks."""
        if self.number is None:
            return self.listed
        return self.listed.select(np.isin(np.arange(len(self.listed)), self.number))

    @property
    def grows(self) -> bool:  # type: ignore[override]  # read-only, as the words are
        return not self.hashed and self.analyser.vocabulary is None

    @property
    def hashed(self) -> bool:
        """Whether rows are numbers that tokens are hashed to, so that words are not known."""
        return self.analyser.features is not None

    @property
    def by_band(self) -> bool:  # type: ignore[override]  # read-only
        return self.analyser.binary

    def __len__(self) -> int:
        return len(self.listed if self.number is None else self.number)

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
        longer = self._longer_list(other)
        if longer is None:
            joined = self.vocabulary.copy()
            theirs = joined.join(other.vocabulary)
            return self.grown(joined), np.arange(len(self)), theirs
        mine, theirs = self._numbers, other._numbers
        there = np.zeros(len(longer.listed), np.bool_)
        there[mine] = there[theirs] = True
        row = np.cumsum(there) - 1
        axis = replace(longer, number=None if there.all() else np.flatnonzero(there))
        return axis, row[mine], row[theirs]

    @property
    def _numbers(self) -> NDArray[np.int64]:
        return np.arange(len(self.listed)) if self.number is None else self.number

    def _has_words_of(self, other: Words) -> bool:
        """Whether it is known without a look that each word has the same row on both axes."""
        return (self.listed is other.listed and self.number is other.number) or not self.grows

    def _longer_list(self, other: Words) -> Words | None:
        """Return which axis lists what the other does, and more; None if that takes a look."""
        if self.listed is other.listed or self.goes_on_from(other.listed):
            return self
        return other if other.goes_on_from(self.listed) else None

    def grown(self, vocabulary: Vocabulary) -> Words:
        """Return the axis with the words of a larger vocabulary, which begins with these."""
        earlier: tuple[tuple[ref[Vocabulary], int], ...] = ()
        if self.number is None:
            earlier = (ref(self.listed), len(self.listed)), *self.earlier[:EARLIER]
        return replace(self, listed=vocabulary, number=None, earlier=earlier)

    def goes_on_from(self, vocabulary: Vocabulary) -> bool:
        """Whether it is known without a look that what is listed is what is there, and more."""
        then = (size for of, size in self.earlier if of() is vocabulary)
        return len(vocabulary) <= next(then, -1)

    def select(self, keep: NDArray[np.bool_]) -> Words:
        return replace(self, number=self._numbers[keep])

    def find(self, other: Words) -> RowMap:
        """Return the row here of each word of another axis, (words,); -1 where there is none.

        It is None if each word has the same row on both.
        """
        if self._has_words_of(other):
            return None
        longer = self._longer_list(other)
        if longer is None:
            return self.vocabulary.find(other.words)
        if longer is self and self.number is None:
            return other.number
        place = np.full(len(longer.listed), -1, np.int64)
        place[self._numbers] = np.arange(len(self))
        return place[other._numbers]

    def __reduce__(self) -> tuple[object, ...]:
        # A native vocabulary cannot be pickled, and the reader may have no native kernels.
        arrays = self.vocabulary.to_arrays() if self.grows else ()
        return words_axis, (self.columns, self.analyser, *arrays)


def words_axis(columns: tuple[Name], analyser: Analyser, *arrays: NDArray[Any]) -> Words:
    """Return the axis whose vocabulary was written to arrays."""
    # Hashed tokens and declared words have none.
    if not arrays:
        return Words(columns, analyser.new_vocabulary(), analyser)
    return Words(columns, Vocabulary.from_arrays(*arrays, **analyser.splitting), analyser)


# --- Cells: the axis of numbers that were counted by the cell of a grid (see ``kernels.cells``) ---


INFINITE = sortable(np.array([-np.inf, np.inf]))


def as_float(key: Keys) -> NDArray[np.float64]:
    """Return the floats of sortable integers."""
    magnitude = np.where(key < 0, ~key, key).view(np.float64)
    return np.where(key < 0, -magnitude, magnitude)


class Cells(ByValue, Frozen):
    """One row for each cell that holds a number, in ascending order, column after column."""

    statistic = CELL
    columns: range | tuple[Name, ...]
    shifts: NDArray[np.int64]  # (columns,): how many of their low bits each column's keys have lost
    first: NDArray[np.int64]
    keys: Keys  # (cells,): the cells, ascending in each column

    @classmethod
    def join(
        cls, columns: range | tuple[Name, ...], shifts: Sequence[int], keys: Sequence[Keys]
    ) -> Cells:
        """Return the axis of columns whose shifts, and cells in ascending order, are these."""
        first = np.cumsum([0, *map(len, keys)], dtype=np.int64)
        every = np.concatenate([np.empty(0, np.int64), *keys])
        return cls(columns, np.array(shifts, np.int64), first, every)

    @cached_property
    def low(self) -> NDArray[np.float64]:
        """The least number of each cell, (rows,)."""
        return as_float(np.maximum(self.keys << self.shifts[self.column], INFINITE[0]))

    @cached_property
    def high(self) -> NDArray[np.float64]:
        """The greatest number of each cell, (rows,)."""
        shift = self.shifts[self.column]
        last = (self.keys << shift) + ((np.int64(1) << shift) - 1)
        return as_float(np.minimum(last, INFINITE[1]))

    @cached_property
    def middle(self) -> NDArray[np.float64]:
        """The number in the middle of each cell, (rows,)."""
        with np.errstate(invalid="ignore"):
            half = self.low / 2 + self.high / 2
        return np.where(np.isfinite(half), half, self.low)

    def label(self, row: int) -> tuple[Name, Level]:
        return self.columns[int(self.column[row])], float(self.middle[row])

    def union(self, other: Cells) -> tuple[Cells, RowMap, RowMap]:
        """Join cells at the coarser of both shifts, or a coarser one if they are too many."""
        columns = max(self.columns, other.columns, key=len)
        if self.columns != other.columns:
            names = tuple(dict.fromkeys([*self.columns, *other.columns]))
            columns = columns if tuple(columns) == names else names
        (a, mine), (b, theirs) = self._on(columns), other._on(columns)
        shifts = np.maximum(a.shifts, b.shifts)
        (a, of_a), (b, of_b) = a.coarsened(shifts), b.coarsened(shifts)
        axis, in_a, in_b = a.with_cells_of(b)
        for j in np.flatnonzero(np.diff(axis.first) > CAP).tolist():
            shifts[j] += coarsest(axis.keys[axis.first[j] : axis.first[j + 1]])
        axis, rows = axis.coarsened(shifts)
        return axis, composed(mine, of_a, in_a, rows), composed(theirs, of_b, in_b, rows)

    def _on(self, columns: range | tuple[Name, ...]) -> tuple[Cells, RowMap]:
        """Return the axis of these columns, of which some may have no cells here."""
        if columns == self.columns:
            return self, None
        place = {name: j for j, name in enumerate(self.columns)}
        own = [place.get(name, len(place)) for name in columns]  # the last has no cells
        first = np.append(self.first, self.first[-1])
        rows = rows_of(first, own)
        sizes = np.append(np.diff(first), 0)[own]
        shifts = np.append(self.shifts, 0)[own]
        axis = Cells(columns, shifts, np.append(0, np.cumsum(sizes)), self.keys[rows])
        return axis, np.argsort(rows)

    def with_cells_of(self, other: Cells) -> tuple[Cells, RowMap, RowMap]:
        """Return the axis with the cells of both, whose columns and shifts are the same."""
        if np.array_equal(self.first, other.first) and np.array_equal(self.keys, other.keys):
            return self, None, None
        at = self._places(other.keys, other.first)
        there = at < self.first[other.column + 1]
        there[there] = self.keys[at[there]] == other.keys[there]
        if there.all():
            return self, None, None if len(at) == len(self) else at
        new, keys = np.where(there, 0, 1), np.insert(self.keys, at[~there], other.keys[~there])
        first = self.first + np.append(0, np.cumsum(new))[other.first]
        before = np.cumsum(np.bincount(at, new, len(self) + 1)[:-1].astype(np.int64))
        theirs = at + np.cumsum(new) - new
        axis = Cells(self.columns, self.shifts, first, keys)
        return axis, np.arange(len(self)) + before, theirs

    def select(self, keep: NDArray[np.bool_]) -> Cells:
        first = np.append(0, np.cumsum(keep))[self.first]
        return Cells(self.columns, self.shifts, first, self.keys[keep])

    def of(self, columns: Collection[Name]) -> tuple[Cells, NDArray[np.int64] | slice]:
        some = [j for j, name in enumerate(self.columns) if name in columns]
        names, place = tuple(self.columns[j] for j in some), np.array(some, np.int64)
        first = np.append(0, np.cumsum(np.diff(self.first)[place]))
        apart = not some or len(some) <= some[-1] - some[0]  # neighbours need not be copied
        rows = rows_of(self.first, some) if apart else slice(*self.first[[some[0], some[-1] + 1]])
        return Cells(names, self.shifts[place], first, self.keys[rows]), rows

    def find(self, values: NDArray[np.floating], column: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each number's cell, (numbers,); the number must have been counted."""
        rows = np.empty(len(values), np.int64)
        order = np.argsort(column, kind="stable")
        keys = (sortable(values) >> self.shifts[column])[order]
        first = np.append(0, np.cumsum(np.bincount(column, minlength=len(self.columns))))
        rows[order] = self._places(keys, first)
        return rows

    def _places(self, keys: Keys, first: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where keys of one column after another are, or would be put in, (keys,)."""
        # The cells of a row or so are looked for all at once.
        if len(keys) > len(self.columns):
            ends = zip(*(pairwise(of.tolist()) for of in (self.first, first)), strict=True)
            each = [a + self.keys[a:b].searchsorted(keys[c:d]) for (a, b), (c, d) in ends if c < d]
            return np.concatenate([np.empty(0, np.int64), *each])
        at, end = (np.repeat(of, np.diff(first)) for of in (self.first[:-1], self.first[1:]))
        while (at < end).any():
            middle = (at + end) // 2
            less = (at < end) & (self.keys.take(middle, mode="clip") < keys)
            at, end = np.where(less, middle + 1, at), np.where(less, end, middle)
        return at

    def coarsened(self, shift: int | NDArray[np.int64]) -> tuple[Cells, RowMap]:
        """Return the axis whose keys have lost so many bits, and the row there of each row here."""
        # A column that has lost more is an error.
        more = shift - self.shifts
        if (more < 0).any():
            name = self.columns[int(np.argmax(more < 0))]
            raise ValueError(f"column {title(name)!r} was counted in coarser cells")
        if not more.any():
            return self, None
        keys = self.keys >> more[self.column]
        begins = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        begins[self.first[:-1][np.diff(self.first) > 0]] = True
        first = np.append(0, np.cumsum(begins))
        axis = Cells(self.columns, self.shifts + more, first[self.first], keys[begins])
        return axis, first[1:] - 1

    def check(self) -> None:
        """Raise a ValueError unless cells ascend, shifts can be and no cell is beyond infinity."""
        keys, column = self.keys, self.column
        if (keys[1:] <= keys[:-1])[column[1:] == column[:-1]].any():
            raise ValueError("the cells are not in order")
        if ((self.shifts < 0) | (self.shifts > LAST_SHIFT)).any():
            raise ValueError("a grid has no such shift")
        least, most = (end >> self.shifts[column] for end in INFINITE)
        if ((keys < least) | (keys > most)).any():
            raise ValueError("a cell is beyond infinity")


def composed(*maps: RowMap) -> RowMap:
    """Return where rows go by one map after the other."""
    known = [rows for rows in maps if rows is not None]
    return reduce(lambda rows, then: then[rows], known) if known else None
