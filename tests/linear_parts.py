"""Models with a linear part that is made up, so that what shows it is tested on every column."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from naively import NaiveBayes
from naively.counting.axis import Levels, Words
from naively.model.linear_part import Line, LinearPart, Product, Step, Term


def with_linear_part(nb: NaiveBayes, *, products: int = 0, seed: int = 0) -> NaiveBayes:
    """Give a fitted model lines of all its numbers, steps of two levels, products, and weights.

    The weights are those of the evidence too: random ones above 0, so that what missing cells say
    counts.
    """
    rng = np.random.default_rng(seed)
    model, k = nb.model_, len(nb.classes_)
    assert model.weights is not None

    def slopes() -> tuple[float, ...]:
        return tuple(rng.normal(size=k).tolist())

    terms = []
    for group in model.taken.schema.of_columns:
        axis = model.taken.counts[group.key].axis
        if isinstance(axis, Words) or group.event.joined or group.event.layout == "rows":
            continue
        for j, name in enumerate(axis.columns):
            if isinstance(axis, Levels):
                some = axis.levels[j][:2]
                terms += [Term(group.key, name, Step(level, 0.3, 0.45)) for level in some]
            elif group.event.shares:
                terms.append(Term(group.key, name, Line(0.0, 1.0, 0.4, 0.5)))
            else:
                terms.append(Term(group.key, name, Line(-0.5, 1.25, 0.2, 0.8)))
    first = {term.column: term for term in terms}
    pairs = list(combinations(first.values(), 2))[:products]
    linear = LinearPart(
        {term: slopes() for term in terms},
        {Product(a, b, 0.7): slopes() for a, b in pairs},
        intercept=slopes(),
        ridge=8.0,
    )
    of = {part: tuple(rng.uniform(0.3, 1.2, k).tolist()) for part in model.weights.of}
    # Weights of a part whose log likelihoods are not centred are alike for all classes.
    of = {part: (weight[0],) * k for part, weight in of.items()}
    nb._keep(model.weighed(replace(model.weights, of=of, linear=linear)))
    return nb
