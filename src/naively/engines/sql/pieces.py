"""The pieces of a query that scores: what is read, what is found out, what is added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from naively.engines.sql.dialect import Dialect
from naively.engines.sql.spelling import TABLE, Spelling
from naively.engines.sql.weights import Weight
from naively.kernels.reference import Floats
from naively.model.scorecard.terms import (
    Cell,
)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of a query that scores.

    Parameters
    ----------
    spelling : Spelling
        How the database spells them.
    cells : dict of str to str
        What is read of the table t, by the names that the next step knows it by.
    found : dict of str to str
        What is found out of the cells x: the places of bins and levels, and clipped numbers.
    scores : list of list of str
        What is added to each score: pieces of the names in ``found``, and of the cells.
    weights : list of Weight
        What is joined.
    """

    spelling: Spelling
    cells: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    scores: list[list[str]] = field(default_factory=list)
    weights: list[Weight] = field(default_factory=list)
    _names: Any = field(default_factory=count)

    @property
    def dialect(self) -> Dialect:
        """How the database spells names and numbers."""
        return self.spelling.dialect

    def name(self) -> str:
        """Return a name that no column has."""
        return f"naively {next(self._names)}"

    def x(self, name: str) -> str:
        """Return a result of the step before, quoted."""
        return f"x.{self.dialect.identifier(name)}"

    def cell(self, cell: Cell, *, as_text: bool = False) -> str:
        """Return a cell, read once: its number or its text, NULL where it is missing."""
        column = f"{TABLE}.{self.dialect.identifier(cell.column)}"
        if as_text and cell.part is None:
            read = self.spelling.text(column)
        else:
            read = self.spelling.number(column, cell)
        for name, known in self.cells.items():
            if known == read:
                return self.x(name)
        name = self.name()
        self.cells[name] = read
        return self.x(name)

    def find(self, what: str) -> str:
        """Find something out once; return its name in the next step."""
        for name, known in self.found.items():
            if known == what:
                return self.x(name)
        name = self.name()
        self.found[name] = what
        return self.x(name)

    def add(self, values: Sequence[str]) -> None:
        """Add a piece to each score."""
        for all_of, value in zip(self.scores, values, strict=True):
            all_of.append(value)

    def add_chosen(self, place: str, points: Floats) -> None:
        """Add one row of the points, of shape (places, scores), by a place from 1 on."""
        of_score = points.T
        chosen = [self.spelling.choose(place, of) if of.any() else "" for of in of_score]
        for all_of, value in zip(self.scores, chosen, strict=True):
            all_of.extend([value] if value else [])


def summed(pieces: Sequence[str]) -> str:
    """Return a sum that is as deep as its length's logarithm: databases limit the depth."""
    if len(pieces) <= 8:
        return " + ".join(pieces)
    half = len(pieces) // 2
    return f"({summed(pieces[:half])}) + ({summed(pieces[half:])})"


def selected(dialect: Dialect, named: Mapping[str, str]) -> list[str]:
    """Return pieces under their names."""
    return [f"{what} AS {dialect.identifier(name)}" for name, what in named.items()]
