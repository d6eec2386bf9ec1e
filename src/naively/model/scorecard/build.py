"""The terms of a model's scorecard, from its likelihoods: the event models are not asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from naively.counting.axis import Axis, Derived, Name, Words, title
from naively.counting.axis import Levels as LevelAxis
from naively.events import Bernoulli, LogNormal
from naively.kernels.reference import FAR
from naively.kernels.tokens import UNITS
from naively.likelihoods.base import Likelihood
from naively.likelihoods.numbers import Binned, LevelTable, Quadratic, Sloped
from naively.likelihoods.words import LengthNormalised, LogLinear, WordSlopes
from naively.model.linear_part import FARTHEST
from naively.model.linear_part import Line as OfLine
from naively.model.linear_part import Term as OfLinear
from naively.model.model import Model
from naively.model.scorecard.terms import (
    Bins,
    Cell,
    Chosen,
    Clipped,
    Edges,
    IsLevel,
    Levels,
    Line,
    Pair,
    Parabola,
    Presence,
    Product,
    Term,
    Tokens,
)
from naively.schema.derived import Bins as OfPair
from naively.schema.derived import Interaction, Missing, NumberBins, TimePart
from naively.schema.group import Group
from naively.schema.text import Text


def terms_of(model: Model) -> list[Term]:
    """Return the terms of a model.

    Raises
    ------
    ValueError
        If what a column says is no sum of given numbers; it names the column.
    """
    return _with_one_presence(_Terms(model).all())


class _Terms:
    """The terms of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kinds = model.schema.kinds
        self.none = np.zeros(len(model.classes))

    def all(self) -> Iterator[Term]:
        """Yield the terms of all groups, then the products of the linear part."""
        for group in self.model.schema.groups:
            axis, likelihood = self.model.counts[group.key].axis, self.model.likelihoods[group.key]
            yield from self._of_group(group, likelihood, axis)
        yield from self._products()

    def _of_group(self, group: Group, likelihood: Likelihood, axis: Axis) -> Iterator[Term]:
        if group.event.layout == "rows":
            raise ValueError(_refused(group, "it takes all columns as one event"))
        match likelihood:
            case LevelTable() if isinstance(axis, LevelAxis):
                yield from self._of_levels(group, likelihood, axis)
            case LogLinear() | LengthNormalised() | WordSlopes() if isinstance(axis, Words):
                yield self._of_words(group, likelihood, axis)
            case _:
                cells = [self._cell(name, group) for name in axis.columns]
                yield from self._of_numbers(group, likelihood, cells)

    def _of_numbers(
        self, group: Group, likelihood: Likelihood, cells: Sequence[Cell]
    ) -> Iterator[Term]:
        """Yield the terms of columns of numbers."""
        if isinstance(group.event, Bernoulli) and group.event.threshold is not None:
            edge = np.array([np.nextafter(group.event.threshold, np.inf)])
            for j, cell in enumerate(cells):
                both = likelihood.at(np.array([0.0, 1.0]), np.array([j, j]))
                yield Bins(cell, edge, both)
            return
        match likelihood:
            case Sloped():
                yield from self._of_numbers(group, likelihood.inner, cells)
                clips = zip(likelihood.low, likelihood.high, likelihood.centre, strict=True)
                for j, (low, high, centre), slope in zip(
                    likelihood.column, clips, likelihood.slope, strict=True
                ):
                    yield Line(cells[j], float(low), float(high), float(centre), slope)
            case Binned():
                for j, cell in enumerate(cells):
                    points = likelihood.table[likelihood.first[j] : likelihood.first[j + 1]]
                    yield Bins(cell, likelihood.edges[j], points)
            case Quadratic():
                for cell, offset, mean, half in zip(
                    cells,
                    likelihood.offset,
                    likelihood.mean,
                    likelihood.half_precision,
                    strict=True,
                ):
                    yield Presence(cell, offset, self.none)
                    yield Parabola(cell, mean, half)
            case LogLinear() | WordSlopes():
                yield from self._of_slopes(group, likelihood, cells)
            case _:
                raise ValueError(_refused(group, "its evidence is no sum of given numbers"))

    def _of_slopes(
        self, group: Group, likelihood: LogLinear | WordSlopes, cells: Sequence[Cell]
    ) -> Iterator[Term]:
        slopes = likelihood.slope
        offsets = likelihood.offset
        for j, cell in enumerate(cells):
            slope = slopes[j]
            if offsets is not None:
                offset = offsets[j]
                if not np.isfinite(offset).all() or np.isposinf(slope).any():
                    raise ValueError(_refused(group, MUST))
                yield Presence(cell, offset, self.none)
            yield Line(cell, -FAR, FAR, 0.0, slope)

    def _of_levels(self, group: Group, likelihood: LevelTable, axis: LevelAxis) -> Iterator[Term]:
        for j, name in enumerate(axis.columns):
            points = likelihood.table[likelihood.first[j] : likelihood.first[j + 1]]
            match name:
                case Missing():
                    yield Presence(self._cell(name.of, None), points[0], points[1])
                case Interaction():
                    table = points[: len(name.levels)].reshape(*name.shape, -1)
                    yield Pair(self._bins(name.a), self._bins(name.b), table)
                case _:
                    yield Levels(self._cell(name, group), axis.levels[j], points)

    def _of_words(
        self, group: Group, likelihood: LogLinear | LengthNormalised | WordSlopes, axis: Words
    ) -> Tokens:
        analyser = group.analyser
        if not isinstance(analyser, Text) or analyser.is_programmed:
            raise ValueError(_refused(group, "its tokens are made by a program"))
        if analyser.max_tokens is not None:
            raise ValueError(_refused(group, "only the first words of its texts count"))
        if axis.hashed:
            raise ValueError(_refused(group, "its tokens are hashed, so that none is known"))
        normalised = isinstance(likelihood, LengthNormalised)
        words = likelihood.words if isinstance(likelihood, LengthNormalised) else likelihood
        points, there = words.slope, self.none
        if isinstance(words, WordSlopes):
            normalised = words.by_length
            if words.absent is not None:
                there = words.absent.total()
        elif words.offset is not None:
            if not np.isfinite(words.offset).all() or np.isposinf(points).any():
                raise ValueError(_refused(group, MUST))
            there = words.offset.sum(axis=0)
        split = {name: of for name, of in analyser.splitting.items() if name != "features"}
        assert set(split) == {"analyzer", "ngram_range", "lowercase", "stop_words"}
        assert split["analyzer"] in UNITS
        split = {name: list(of) if isinstance(of, tuple) else of for name, of in split.items()}
        cell, longest = self._cell(axis.columns[0], group), analyser.max_characters
        binary = analyser.binary or isinstance(group.event, Bernoulli)
        of_text = cell, split, binary, normalised, longest, axis.words
        return Tokens(*of_text, points, there)

    def _products(self) -> Iterator[Product]:
        if self.model.weights is None:
            return
        linear, columns = self.model.weights.linear, self.model.schema.columns
        places = self.model.weights.places(self.model.classes.tolist())
        pairs = {name.sources for name in columns if isinstance(name, Interaction)}
        for product, slopes in linear.products.items():
            if all(self._is_learned(term) for term in (product.a, product.b)):
                a, b = self._factor(product.a), self._factor(product.b)
                if product.columns[::-1] in pairs:  # one name for what is said of both columns
                    a, b = b, a
                slope = np.array([*slopes, 0.0])[places]
                yield Product(a, b, product.scale, FARTHEST, slope)

    def _is_learned(self, term: OfLinear) -> bool:
        """Whether the column of a term is in its group still."""
        counts = self.model.counts
        return term.group in counts and term.column in counts[term.group].axis.columns

    def _factor(self, term: OfLinear) -> Clipped | IsLevel:
        group = next(group for group in self.model.schema.groups if group.key == term.group)
        cell, of = self._cell(term.column, group), term.function
        if isinstance(of, OfLine):
            event = group.event
            above = event.threshold if isinstance(event, Bernoulli) else None
            return Clipped(cell, of.low, of.high, of.centre, of.scale, above)
        return IsLevel(cell, of.level, of.centre, of.scale)

    def _bins(self, of: OfPair) -> Edges | Chosen:
        cell = self._cell(of.column, None)
        if isinstance(of, NumberBins):
            return Edges(cell, np.asarray(of.edges, np.float64))
        return Chosen(cell, of.levels)

    def _cell(self, name: Name, group: Group | None) -> Cell:
        """Return what is read of a column; as its group reads it, or as it is."""
        if isinstance(name, TimePart):
            return Cell(title(name.of), "time", name.part)
        if isinstance(name, Derived):
            raise TypeError(f"{name} follows from other columns")
        log = group is not None and isinstance(group.event, LogNormal)
        return Cell(title(name), self.kinds[name], log=log)


MUST = (
    "an event of it must happen, or cannot, in some class; smooth, with alpha above 0, so that "
    "numbers are finite"
)


def _refused(group: Group, why: str) -> str:
    names = ", ".join(repr(title(name)) for name in list(group.columns)[:3])
    return (
        f"The {group.event.name} of column {names} cannot be written as a scorecard: {why}. Choose "
        "another event model for it, such as the default."
    )


def _with_one_presence(terms: Iterable[Term]) -> list[Term]:
    """Return the terms, with one `Presence` at most of each column, at its first place."""
    found: list[Term] = []
    place: dict[str, int] = {}
    for term in terms:
        if not isinstance(term, Presence):
            found.append(term)
        elif (i := place.get(term.cell.column)) is None:
            place[term.cell.column] = len(found)
            found.append(term)
        else:
            first: Any = found[i]
            there, missing = first.there + term.there, first.missing + term.missing
            found[i] = replace(first, there=there, missing=missing)
    return found
