"""The names of columns: a string, a place in an array, or a column derived from others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain
from math import prod
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Level: TypeAlias = Any  # a string, a number or a boolean


class Derived(ABC):
    """A column that is computed from other columns, its sources, which identify it.

    Its levels are known before any row is, and its sources are encoded columns, so that learning
    and prediction cannot differ.
    """

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
        of = (name.roots if isinstance(name, Derived) else (name,) for name in self.sources)
        return tuple(dict.fromkeys(chain.from_iterable(of)))

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """How many values each source contributes; their product is the number of levels."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """All values that it can take, in the order of their codes."""
        return tuple(range(prod(self.shape)))

    @abstractmethod
    def codes(self, columns: Encoded) -> NDArray[np.integer]:
        """Return which level each row has, of shape (rows,); negative where it is missing."""

    @abstractmethod
    def cells(self, cells: Callable[[Name], Sequence[object]]) -> Sequence[object]:
        """Return what an explanation shows for each row; ``cells`` returns those of a source."""


Name: TypeAlias = str | int | Derived


class Encoded(ABC):
    """Encoded rows, as a derived column sees them."""

    def __init__(self) -> None:
        self._binned: dict[Binned, NDArray[np.int64]] = {}

    @abstractmethod
    def number(self, name: Name) -> NDArray[np.floating]:
        """Return a column of numbers, of shape (rows,); NaN is missing."""

    @abstractmethod
    def codes_of(self, name: Name, levels: Sequence[Level]) -> NDArray[np.integer]:
        """Return the codes of a column among these levels, of shape (rows,).

        A missing cell is negative; any other level has the number of levels as its code.
        """

    @abstractmethod
    def missing(self, name: Name) -> NDArray[np.bool_]:
        """Return which cells of a column are missing, of shape (rows,)."""

    def bins(self, of: Binned) -> NDArray[np.int64]:
        """Return the bins of a column, (rows,), found once for all columns that follow from it."""
        if of not in self._binned:
            self._binned[of] = of.codes(self)
        return self._binned[of]


class Binned(Protocol):
    """A column that is cut into bins."""

    def codes(self, columns: Encoded) -> NDArray[np.int64]:
        """Return the bin of each row, of shape (rows,)."""

    def __hash__(self) -> int: ...


def title(name: Name) -> str:
    """Return a column's name for messages and reports; an array's columns are x0, x1, ..."""
    return f"x{name}" if isinstance(name, int) else str(name)


def title_of_pair(names: tuple[Name, Name]) -> str:
    """Return the name of two columns that are taken together.

    Examples
    --------
    >>> title_of_pair(("age", 3))
    'age × x3'
    """
    return " × ".join(map(title, names))
