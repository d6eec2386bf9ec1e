"""The names of columns: a string, a place in an array, or what a column follows from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain
from math import prod
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Level: TypeAlias = Any  # a string, a number or a boolean


class Derived(ABC):
    """A column that follows from other columns; it is known by what it follows from.

    Its levels are known before any row is, and it is computed from encoded columns, so that
    learning and prediction cannot differ.
    """

    @property
    @abstractmethod
    def sources(self) -> tuple[Name, ...]:
        """The columns that it follows from."""

    @property
    def roots(self) -> tuple[str | int, ...]:
        """The columns of the table that it follows from, each once."""
        of = (name.roots if isinstance(name, Derived) else (name,) for name in self.sources)
        return tuple(dict.fromkeys(chain.from_iterable(of)))

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """How many values it can take; of several columns, how many each of them contributes."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """All values that it can take, in the order of their codes."""
        return tuple(range(prod(self.shape)))

    @abstractmethod
    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        """Return which level each row has, of shape (rows,); negative where it is missing."""

    @abstractmethod
    def cells(self, cells: Callable[[Name], Sequence[object]]) -> Sequence[object]:
        """Return what an explanation shows of each row, by the cells of the sources."""


Name: TypeAlias = str | int | Derived


class Encoded(Protocol):
    """Encoded rows, as a derived column sees them."""

    def number(self, name: Name) -> NDArray[np.floating]:
        """Return a column of numbers, of shape (rows,); NaN is missing."""

    def codes_of(self, name: Name, levels: Sequence[Level]) -> NDArray[np.integer]:
        """Return a column by these levels, of shape (rows,).

        Missing is negative, and any other level has the number of levels as its code.
        """


def title(name: Name) -> str:
    """Name a column in messages and reports; those of an array are x0, x1, ..."""
    return f"x{name}" if isinstance(name, int) else str(name)
