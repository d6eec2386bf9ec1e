"""The terms of a scorecard: what one column, or two together, add to the score of each class.

A term reads cells of the table as they are and adds numbers that are given, so that its few lines
can be written in any language. Weights, the linear part, missing cells and length normalisation
are in the numbers already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, final

import numpy as np

from naively.counting.axis import Level
from naively.data.columns import Kind
from naively.data.rows import Cycle
from naively.kernels.reference import Floats

Plain: TypeAlias = Any  # what JSON holds


@final
@dataclass(frozen=True)
class Cell:
    """What a term reads of a row: the cell of a column.

    Parameters
    ----------
    column : str
        The column's name.
    kind : {"number", "boolean", "string", "time", "text"}
        What the column held in training. Truths are 0 and 1, and times are seconds since 1970, in
        UTC, wherever a number is read of them.
    part : {"hour", "weekday", "month"}, optional
        Which part of a time is read, as a string: "00" to "23", "Monday", "January".
    log : bool, default False
        Whether the natural logarithm of the number is read.
    """

    column: str
    kind: Kind
    part: Cycle | None = None
    log: bool = False

    def to_dict(self) -> dict[str, Plain]:
        """Return what differs from the default."""
        said: dict[str, Plain] = {"column": self.column, "kind": self.kind}
        said |= {"part": self.part} if self.part else {}
        return said | ({"log": True} if self.log else {})


@final
@dataclass(frozen=True, eq=False)
class Presence:
    """A number for a cell that is there, and one for a cell that is missing; both (classes,)."""

    kind: ClassVar = "presence"
    cell: Cell
    there: Floats
    missing: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        return {
            **_said(self),
            "there": plain_floats(self.there),
            "missing": plain_floats(self.missing),
        }


@final
@dataclass(frozen=True, eq=False)
class Bins:
    """A number for each bin, which is how many of the ascending edges a number reaches.

    ``edges`` are of shape (bins - 1,), ``points`` of shape (bins, classes). A missing cell adds 0.
    """

    kind: ClassVar = "bins"
    cell: Cell
    edges: Floats
    points: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        return {
            **_said(self),
            "edges": plain_floats(self.edges),
            "points": plain_floats(self.points),
        }


@final
@dataclass(frozen=True, eq=False)
class Levels:
    """A number for each level, and one for all levels that were never seen.

    ``points`` are of shape (levels + 1, classes), the last for what was never seen. A missing cell
    adds 0. Whole numbers, floats and truths that are equal are one level.
    """

    kind: ClassVar = "levels"
    cell: Cell
    levels: tuple[Level, ...]
    points: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        return {**_said(self), "levels": list(self.levels), "points": plain_floats(self.points)}


@final
@dataclass(frozen=True, eq=False)
class Line:
    """``(min(max(x, low), high) - centre) slope``, and 0 where the cell is missing.

    ``slope`` is of shape (classes,). A slope may be -inf: it adds 0 where the number is 0.
    """

    kind: ClassVar = "line"
    cell: Cell
    low: float
    high: float
    centre: float
    slope: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        clip = {"low": self.low, "high": self.high, "centre": self.centre}
        return {**_said(self), **clip, "slope": plain_floats(self.slope)}


@final
@dataclass(frozen=True, eq=False)
class Parabola:
    """``-half_precision (x - mean)²``, and 0 where the cell is missing; both (classes,).

    A distance from the mean is at most 1e140, and what is taken off a score at most 1e290.
    """

    kind: ClassVar = "parabola"
    cell: Cell
    mean: Floats
    half_precision: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        mean, half = plain_floats(self.mean), plain_floats(self.half_precision)
        return {**_said(self), "mean": mean, "half_precision": half}


@final
@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a text: each adds a number for each time that it comes, or once.

    Parameters
    ----------
    cell : Cell
        A column of texts.
    split : mapping
        How a text is split, as the keyword arguments of `Text`: "analyzer", "ngram_range",
        "lowercase" and "stop_words".
    binary : bool
        Whether a token counts once in a text.
    normalised : bool
        Whether the sum is divided by the square root of how many known tokens are counted, if any.
    longest : int or None
        Of a text that has more characters nothing is added.
    tokens : list of str
        The known tokens.
    points : ndarray of shape (tokens, classes)
        What each adds.
    there : ndarray of shape (classes,)
        What every text adds that is not missing.
    """

    kind: ClassVar = "tokens"
    cell: Cell
    split: Mapping[str, Plain]
    binary: bool
    normalised: bool
    longest: int | None
    tokens: list[str]
    points: Floats
    there: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        return {
            **_said(self),
            "split": dict(self.split),
            "binary": self.binary,
            "normalised": self.normalised,
            "longest": self.longest,
            "there": plain_floats(self.there),
            "tokens": self.tokens,
            "points": plain_floats(self.points),
        }


@final
@dataclass(frozen=True, eq=False)
class Edges:
    """Bins of a number: how many of the edges it reaches; then one for missing cells."""

    cell: Cell
    edges: Floats

    def __len__(self) -> int:
        return len(self.edges) + 2

    def to_dict(self) -> dict[str, Plain]:
        """Return the bins as JSON holds them."""
        return {**self.cell.to_dict(), "edges": plain_floats(self.edges)}


@final
@dataclass(frozen=True, eq=False)
class Chosen:
    """Levels that are a bin each; then one for all others, and one for missing cells."""

    cell: Cell
    levels: tuple[Level, ...]

    def __len__(self) -> int:
        return len(self.levels) + 2

    def to_dict(self) -> dict[str, Plain]:
        """Return the bins as JSON holds them."""
        return {**self.cell.to_dict(), "levels": list(self.levels)}


@final
@dataclass(frozen=True, eq=False)
class Pair:
    """A number for each pair of bins of two columns, of which the last are of missing cells.

    ``points`` are of shape (bins of a, bins of b, classes).
    """

    kind: ClassVar = "pair"
    a: Edges | Chosen
    b: Edges | Chosen
    points: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        of = {"a": self.a.to_dict(), "b": self.b.to_dict()}
        return {"term": self.kind, **of, "points": plain_floats(self.points)}


@final
@dataclass(frozen=True)
class Clipped:
    """``(min(max(x, low), high) - centre) / scale``, and 0 where the cell is missing.

    Where ``above`` is given, x is 1 where the number is greater, and else 0.
    """

    cell: Cell
    low: float
    high: float
    centre: float
    scale: float
    above: float | None = None

    def to_dict(self) -> dict[str, Plain]:
        """Return the factor as JSON holds it."""
        above = {} if self.above is None else {"above": self.above}
        clip = {"low": self.low, "high": self.high}
        said = {"centre": self.centre, "scale": self.scale}
        return {**self.cell.to_dict(), **above, **clip, **said}


@final
@dataclass(frozen=True)
class IsLevel:
    """``(1 or 0 - centre) / scale``: whether a cell is a level; 0 where it is missing."""

    cell: Cell
    level: Level
    centre: float
    scale: float

    def to_dict(self) -> dict[str, Plain]:
        """Return the factor as JSON holds it."""
        said = {"level": self.level, "centre": self.centre, "scale": self.scale}
        return {**self.cell.to_dict(), **said}


@final
@dataclass(frozen=True, eq=False)
class Product:
    """``min(max(a b / scale, -most), most) slope``, a product of two columns; slope (classes,)."""

    kind: ClassVar = "product"
    a: Clipped | IsLevel
    b: Clipped | IsLevel
    scale: float
    most: float
    slope: Floats

    def to_dict(self) -> dict[str, Plain]:
        """Return the term as JSON holds it."""
        of = {"a": self.a.to_dict(), "b": self.b.to_dict()}
        said = {"scale": self.scale, "most": self.most}
        return {"term": self.kind, **of, **said, "slope": plain_floats(self.slope)}


OfOne: TypeAlias = Presence | Bins | Levels | Line | Parabola | Tokens
Term: TypeAlias = OfOne | Pair | Product
TermKind: TypeAlias = Literal[
    "presence", "bins", "levels", "line", "parabola", "tokens", "pair", "product"
]


def cells_of(term: Term) -> tuple[Cell, ...]:
    """Return the cells that a term reads, one or two."""
    if isinstance(term, Pair | Product):
        return term.a.cell, term.b.cell
    return (term.cell,)


def _said(term: OfOne) -> dict[str, Plain]:
    return {"term": term.kind, **term.cell.to_dict()}


def plain_floats(of: Floats) -> list[Plain]:
    """Return numbers as nested lists; those that JSON cannot hold are strings.

    >>> plain_floats(np.array([0.5, -np.inf]))
    [0.5, '-inf']
    """
    said: Any = of
    if not np.isfinite(of).all():
        said = of.astype(object)
        said[np.isposinf(of)], said[np.isneginf(of)] = "inf", "-inf"
    found: list[Plain] = said.tolist()
    return found
