"""Linear parts that are made by hand, of columns of every kind."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from naively import Categorical, NaiveBayes
from naively.terms.functions import (
    NEITHER,
    Above,
    Condition,
    Line,
    LinearPart,
    OneOf,
    Product,
    Rule,
    Step,
    Term,
    There,
)


def table(n: int = 80) -> tuple[dict[str, list[Any]], list[str]]:
    """Return columns of every kind that may have terms, some of whose cells are missing."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, n)
    days = np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 10**8, n).astype("timedelta64[s]")
    columns: dict[str, list[Any]] = {
        "number": rng.normal(y, 1.0).tolist(),
        "flag": (rng.random(n) < 0.2 + 0.3 * y).tolist(),
        "level": ["uvw"[i] for i in (y + (rng.random(n) < 0.4)) % 3],
        "size": (y + rng.integers(0, 3, n)).tolist(),
        "truth": (rng.random(n) < 0.7 - 0.3 * y).tolist(),
        "when": [f"{day}Z" for day in days],
    }
    for j, column in enumerate(columns.values()):
        for i in range(j, n, 9):
            column[i] = None
    return columns, ["xyz"[c] for c in y]


@cache
def _fitted() -> NaiveBayes:
    return NaiveBayes({"size": Categorical(), "truth": Categorical()}).fit(*table())


def fitted() -> NaiveBayes:
    """Return a model of the table, which may be changed."""
    return copy(_fitted())


def terms_of(nb: NaiveBayes) -> list[Term]:
    """Return terms of each column that may have any, with numbers that no other has."""
    found = []
    for group in nb.schema_.groups:
        for name in group.columns:
            x = 0.01 * len(found) + 0.1
            if group.event.layout == "numbers":
                functions: list[Any] = [Line(-x, 2.5 + x, x / 3, 1 + x), Line(x, x, x, x)]
                functions += [There(), Above(x), Above(2 * x)]
            else:
                axis = nb.model_.view.counts[group.key].axis
                levels = axis.levels[list(axis.columns).index(name)]
                functions = [Step(level, x, 0.3 + x) for level in levels[:2]]
                functions += [There()] if group.kind == "string" else []
            found += [Term(group.key, name, function) for function in functions]
    return found


def with_linear(nb: NaiveBayes, linear: LinearPart) -> NaiveBayes:
    """Give a model another linear part."""
    nb._exchange(model=nb.model_.weighed(replace(nb.weights_, linear=linear)))
    return nb


def slopes(rng: np.random.Generator) -> tuple[float, ...]:
    return tuple(rng.normal(size=3).tolist())


def linear_of(nb: NaiveBayes) -> LinearPart:
    """Return a linear part with terms of every kind; the last is in products alone."""
    rng = np.random.default_rng(0)
    *terms, last = terms_of(nb)
    pairs = [(a, b) for a in terms[::3] for b in (*terms[1::4], last) if a.column != b.column]
    products = {Product(a, b, 0.5 + i / 7): slopes(rng) for i, (a, b) in enumerate(pairs)}
    rules = {rule: tuple(slopes(rng) for _ in range(rule.strides[-1])) for rule in rules_of(nb)}
    return LinearPart({term: slopes(rng) for term in terms}, products, slopes(rng), 8.0, rules)


def rules_of(nb: NaiveBayes) -> list[Rule]:
    """Return rules with conditions of every kind."""
    key = {name: of.key for name, of in nb.model_.view.schema.columns.items()}
    number, level = key["number"], key["level"]
    high, low = Condition(number, "number", Above(1.5)), Condition(number, "number", Above(0.5))
    among = Condition(level, "level", OneOf(("u", "w")), missing=1)
    apart = Condition(level, "level", OneOf(("u",), ("w",)), missing=NEITHER)
    return [Rule((high, low, among)), Rule((among, high)), Rule((high, apart, low))]


def with_linear_part() -> NaiveBayes:
    """Return a model with a linear part of terms and products of every kind."""
    nb = fitted()
    return with_linear(nb, linear_of(nb))
