"""Columns that follow from others.

They are the parts of times, whether a cell is missing, and the interactions of two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Derived, Encoded, Level, Name, title, title_of_pair
from naively.counting.labels import is_missing
from naively.data.columns import TIME
from naively.data.rows import NAMES, Cycle, part_codes, part_of


@final
@dataclass(frozen=True)
class TimePart(Derived):
    """The hour, weekday or month of a column of times."""

    of: Name
    part: Cycle

    def __str__(self) -> str:
        return f"{title(self.of)} ({self.part})"

    @property
    def sources(self) -> tuple[Name, ...]:
        return (self.of,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.levels),)

    @property
    def levels(self) -> tuple[str, ...]:
        return NAMES[self.part]

    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        return part_codes(columns.number(self.of), self.part)

    def cells(self, cells: Callable[[Name], Sequence[object]]) -> list[object]:
        named: list[object] = part_of(np.asarray(cells(self.of), TIME), self.part).tolist()
        return named


Source: TypeAlias = str | int | TimePart  # what may be taken together with another


@final
@dataclass(frozen=True)
class Missing(Derived):
    """Whether a cell of a column is missing: 0 where there is a value, 1 where there is none."""

    of: Name
    beside = True

    def __str__(self) -> str:
        return f"{title(self.of)} is missing"

    @property
    def sources(self) -> tuple[Name, ...]:
        return (self.of,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    @property
    def levels(self) -> tuple[bool, ...]:
        return (False, True)

    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        return columns.missing(self.of).astype(np.int64)

    def cells(self, cells: Callable[[Name], Sequence[object]]) -> list[object]:
        return [is_missing(cell) for cell in cells(self.of)]


@final
@dataclass(frozen=True)
class NumberBins:
    """Bins of a column of numbers, cut at ascending edges; the last bin holds missing cells."""

    column: Source
    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges) + 2

    def codes(self, columns: Encoded) -> NDArray[np.int64]:
        """Return the bin of each row, of shape (rows,): how many edges its number reaches."""
        numbers = columns.number(self.column)
        bins = np.searchsorted(np.asarray(self.edges, np.float64), numbers, side="right")
        return np.where(np.isnan(numbers), self.size - 1, bins)


@final
@dataclass(frozen=True)
class LevelBins:
    """Levels with a bin each; then a bin for all other levels, and one for missing cells."""

    column: Source
    levels: tuple[Level, ...]

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.levels) + 2

    def codes(self, columns: Encoded) -> NDArray[np.int64]:
        """Return the bin of each row, of shape (rows,)."""
        codes = columns.codes_of(self.column, self.levels)
        return np.where(codes < 0, self.size - 1, codes).astype(np.int64)


Bins: TypeAlias = NumberBins | LevelBins  # the last bin holds missing cells


@final
@dataclass(frozen=True)
class Interaction(Derived):
    """Two columns taken together: which of their bins come together in a row.

    Examples
    --------
    >>> column = Interaction(NumberBins("a", (0.5,)), LevelBins("b", ("x", "y")))
    >>> print(column, column.shape)
    a × b (3, 4)
    """

    a: Bins
    b: Bins
    beside = True

    def __str__(self) -> str:
        return title_of_pair(self.sources)

    @property
    def sources(self) -> tuple[Name, Name]:
        return self.a.column, self.b.column

    @property
    def shape(self) -> tuple[int, ...]:
        return self.a.size, self.b.size

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        return super().levels

    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        return columns.bins(self.a) * self.b.size + columns.bins(self.b)

    def cells(self, cells: Callable[[Name], Sequence[object]]) -> list[tuple[object, ...]]:
        return list(zip(*map(cells, self.sources), strict=True))
