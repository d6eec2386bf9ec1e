"""The linear part of the weights in a file: which terms there are, and their numbers in arrays.

The header names the group, the column and the level of each term, or no level where it is a line.
The terms with slopes of their own are first, in the order in which they are added up; products
stand by the numbers of their two terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from naively.counting.names import Derived, Level, Name
from naively.kernels.reference import Floats
from naively.model.file.container import Arrays, UnreadArrays
from naively.model.file.declared import Saved
from naively.model.file.formats import Columnar, SavedLinear
from naively.model.linear_part import Line, LinearPart, Product, Step, Term
from naively.schema.derived import Interaction
from naively.schema.group import DERIVED, GroupKey

LARGEST = 1e12  # of a slope or the intercept in nats, and of a term, in standard deviations
FARTHEST = 1e300  # of a number that a line is clipped at, or centred by
LEAST_SCALE = 1e-200  # of a term: a slope over its scale is finite
LEAST_OF_PRODUCT = 1e-12  # the least scale of a product of two terms


def terms_of(linear: LinearPart) -> list[Term]:
    """Return the terms with slopes of their own, then those that are in products alone."""
    of_products = (term for product in linear.products for term in (product.a, product.b))
    return list(dict.fromkeys([*linear.of, *of_products]))


def write_linear(
    linear: LinearPart, groups: Mapping[GroupKey, int], places: Sequence[int], arrays: Arrays
) -> Saved | None:
    """Return what the header says of a linear part, and add its arrays; None if there is nothing.

    The arrays are ``linear/range`` of shape (lines, 2), where a line is clipped; ``linear/unit`` of
    shape (terms, 2), the centre and the scale; ``linear/slope`` of shape (terms with slopes,
    classes); ``linear/intercept`` of shape (classes,); and, if there are products,
    ``linear/product`` of shape (products, 2), the numbers of their terms, ``linear/product_scale``
    of shape (products,) and ``linear/product_slope`` of shape (products, classes).

    Parameters
    ----------
    linear : LinearPart
        The terms and products.
    groups : mapping of GroupKey to int
        The number of each group in the header.
    places : sequence of int
        The number of each class among the slopes; the number after the last has slopes of 0.
    arrays : dict
        The arrays of the file.
    """
    if not (linear.of or linear.products or linear.intercept):
        return None
    terms = terms_of(linear)
    functions = [term.function for term in terms]
    lines = [(line.low, line.high) for line in functions if isinstance(line, Line)]
    arrays["linear/range"] = np.array(lines, np.float64).reshape(-1, 2)
    arrays["linear/unit"] = _table([(of.centre, of.scale) for of in functions], [0, 1])
    arrays["linear/slope"] = _table(list(linear.of.values()), places)
    arrays["linear/intercept"] = linear.intercept_of(places)
    if linear.products:
        number = {term: i for i, term in enumerate(terms)}
        pairs = [(number[of.a], number[of.b]) for of in linear.products]
        arrays["linear/product"] = np.array(pairs, np.int64)
        arrays["linear/product_scale"] = np.array([of.scale for of in linear.products], np.float64)
        arrays["linear/product_slope"] = _table(list(linear.products.values()), places)
    return {
        "terms": [[groups[term.group], term.column, _level_of(term)] for term in terms],
        "ridge": linear.ridge,
    }


def read_linear(
    saved: SavedLinear,
    unread: UnreadArrays,
    classes: int,
    keys: Sequence[GroupKey],
    order: Columnar,
) -> LinearPart:
    """Return the linear part that was written, or raise a ValueError.

    A column may be counted otherwise by now than when the slopes were fitted, so that a term may be
    of a group that the column is in no more; but it is of a column of the table.

    Parameters
    ----------
    saved : SavedLinear
        What the header says of it.
    unread : UnreadArrays
        The arrays of the file.
    classes : int
        The number of classes.
    keys : sequence of GroupKey
        The groups of the weights.
    order : range or tuple
        The columns of the table.
    """
    if saved.ridge < 0:
        raise ValueError("the ridge is below 0")
    terms = _read_terms(saved, unread, keys, order)
    slope = unread.take("linear/slope")
    if slope.ndim != 2 or slope.shape[1] != classes or len(slope) > len(terms):
        raise ValueError("slopes have the wrong shape")
    intercept = unread.take("linear/intercept", shape=(classes,))
    _check_slopes(slope)
    _check_slopes(intercept)
    products = _read_products(terms, unread, classes) if "linear/product" in unread else {}
    of = dict(zip(terms, map(tuple, slope.tolist()), strict=False))
    linear = LinearPart(of, products, tuple(intercept.tolist()), float(saved.ridge))
    if len(terms_of(linear)) < len(terms):
        raise ValueError("there is a term that has no slopes and is in no product")
    return linear


def _table(rows: Sequence[tuple[float, ...]], places: Sequence[int]) -> Floats:
    """Return the numbers at these places of each row, 0 after its last: (rows, places)."""
    found = [[[*row, 0.0][place] for place in places] for row in rows]
    return np.array(found, np.float64).reshape(len(rows), len(places))


def _level_of(term: Term) -> Level | None:
    """Return the level of a step; None of a line."""
    return term.function.level if isinstance(term.function, Step) else None


def _read_terms(
    saved: SavedLinear, unread: UnreadArrays, keys: Sequence[GroupKey], order: Columnar
) -> list[Term]:
    """Return the terms, each of which is there once."""
    lines = sum(level is None for _, _, level in saved.terms)
    clip = unread.take("linear/range", shape=(lines, 2))
    unit = unread.take("linear/unit", shape=(len(saved.terms), 2))
    known = order if isinstance(order, range) else frozenset(order)
    terms, ranges = [], iter(clip.tolist())
    for (group, column, level), (centre, scale) in zip(saved.terms, unit.tolist(), strict=True):
        if not 0 <= group < len(keys):
            raise ValueError("there are terms of groups that there are not")
        key = keys[group]
        _check_column(column, key)
        roots = column.roots if isinstance(column, Derived) else (column,)
        if not all(root in known for root in roots):
            raise ValueError("there are terms of columns that there are not")
        _check_level(level, column, key)
        low, high = (0.0, 1.0) if level is not None else next(ranges)
        _check_function(low, high, centre, scale)
        function = Line(low, high, centre, scale) if level is None else Step(level, centre, scale)
        terms.append(Term(key, column, function))
    if len(set(terms)) < len(terms):
        raise ValueError("a term is there twice")
    return terms


def _check_column(column: Name, key: GroupKey) -> None:
    """Raise a ValueError unless a column can be in a group, and one whose columns have terms."""
    if isinstance(column, Interaction) or key.analyser is not None or key.kind == "text":
        raise ValueError("there are terms of texts or interactions")
    if isinstance(column, Derived) != (key.kind in DERIVED):
        raise ValueError("there are terms of columns that are not in their group")


def _check_level(level: Level | None, column: Name, key: GroupKey) -> None:
    """Raise a ValueError unless a line is of numbers, and a step of a level of its column."""
    if key.event.layout != ("numbers" if level is None else "levels"):
        raise ValueError("a line is not of numbers, or a step not of levels")
    if level is None:
        return
    wrong = type(level) is tuple or level != level  # noqa: PLR0124
    wrong |= key.kind == "string" and type(level) is not str
    if wrong or (isinstance(column, Derived) and level not in column.levels):
        raise ValueError("there is a step of what is no level of its column")


def _check_function(low: float, high: float, centre: float, scale: float) -> None:
    """Raise a ValueError unless a function of these numbers is finite; none of them may be NaN."""
    if not all(abs(x) <= FARTHEST for x in (low, high, centre, scale)):
        raise ValueError("a term has numbers that are not finite, or too large")
    if not low <= high:
        raise ValueError("a line is clipped from above to below")
    if not (scale >= LEAST_SCALE and max(abs(low - centre), abs(high - centre)) / LARGEST <= scale):
        raise ValueError("the scale of a term is not above 0, or too small")


def _check_slopes(slope: Floats) -> None:
    if not (np.abs(slope) <= LARGEST).all():
        raise ValueError("slopes must be finite")


def _read_products(
    terms: Sequence[Term], unread: UnreadArrays, classes: int
) -> dict[Product, tuple[float, ...]]:
    """Return the slopes of the products of terms, each of which is there once."""
    pairs = unread.take("linear/product", "i")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise ValueError("products are of two terms")
    if ((pairs < 0) | (pairs >= len(terms))).any():
        raise ValueError("there are products of terms that there are not")
    scale = unread.take("linear/product_scale", shape=(len(pairs),))
    if not ((scale >= LEAST_OF_PRODUCT) & (scale <= FARTHEST)).all():
        raise ValueError("the scale of a product is not above 0, or not finite")
    slope = unread.take("linear/product_slope", shape=(len(pairs), classes))
    _check_slopes(slope)
    products = [
        Product(terms[a], terms[b], by)
        for (a, b), by in zip(pairs.tolist(), scale.tolist(), strict=True)
    ]
    if any(of.a.column == of.b.column for of in products):
        raise ValueError("there is a product of two terms of one column")
    found = dict(zip(products, map(tuple, slope.tolist()), strict=True))
    if len(found) < len(products):
        raise ValueError("a product is there twice")
    return found
