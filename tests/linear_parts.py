"""Models with a linear part that is made up, so that what shows it is tested on every column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from naively import NaiveBayes
from naively.counting.axis import Axis, Levels, Name, Words
from naively.schema.schema import Group
from naively.terms.functions import (
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


def with_linear_part(
    nb: NaiveBayes, *, products: int = 0, rules: int = 0, seed: int = 0
) -> NaiveBayes:
    """Give a fitted model lines of all its numbers, steps of two levels, products, and weights.

    If it has rules, it has steps of numbers, and of what is there, too. The weights are those of
    the evidence too: random ones above 0, so that what missing cells say counts.
    """
    rng = np.random.default_rng(seed)
    model, k = nb.model_, len(nb.classes_)
    assert model.weights is not None

    def slopes() -> tuple[float, ...]:
        return tuple(rng.normal(size=k).tolist())

    terms, columns = [], []
    for group in model.view.schema.of_columns:
        axis = model.view.counts[group.key].axis
        if isinstance(axis, Words) or group.event.joined or group.event.layout == "rows":
            continue
        for j, name in enumerate(axis.columns):
            columns.append((group, axis, name))
            if isinstance(axis, Levels):
                some = axis.levels[j][:2]
                among = axis.levels[j][:4] if j % 2 else ()  # others are then as if they came later
                terms += [Term(group.key, name, Step(level, 0.3, 0.45, among)) for level in some]
            elif group.event.shares:
                terms.append(Term(group.key, name, Line(0.0, 1.0, 0.4, 0.5)))
            else:
                terms.append(Term(group.key, name, Line(-0.5, 1.25, 0.2, 0.8)))
    first = {term.column: term for term in terms}
    pairs = list(combinations(first.values(), 2))[:products]
    made = [rule_of(columns, rng) for _ in range(rules)]
    for group, axis, name in columns if rules else []:
        functions = [There(), *map(Above, () if isinstance(axis, Levels) else edges_of(group)[:2])]
        terms += [Term(group.key, name, function) for function in functions]
    linear = LinearPart(
        {term: slopes() for term in terms},
        {Product(a, b, 0.7): slopes() for a, b in pairs},
        rules={rule: tuple(slopes() for _ in range(rule.strides[-1])) for rule in made},
        intercept=slopes(),
        ridge=8.0,
    )
    of = {part: tuple(rng.uniform(0.3, 1.2, k).tolist()) for part in model.weights.of}
    # Weights of a part whose log likelihoods are not centred are alike for all classes.
    of = {part: (weight[0],) * k for part, weight in of.items()}
    nb._exchange(model=model.weighed(replace(model.weights, of=of, linear=linear)))
    return nb


def edges_of(group: Group) -> list[float]:
    """Some edges of numbers: the last ones are below all of them, and above all truths."""
    if group.kind == "time":
        return [1.61e9, 1.64e9, 1.62e9, -np.inf]
    return [0.5, 0.0, 1.0, -np.inf, 2.0]


def rule_of(columns: Sequence[tuple[Group, Axis, Name]], rng: np.random.Generator) -> Rule:
    """Draw a rule of two to four conditions on two or three columns."""
    size = int(rng.integers(2, 5))
    some = rng.choice(len(columns), min(size, 3, len(columns)), replace=False).tolist()
    some += rng.choice(some, size - len(some)).tolist()
    return Rule(tuple(_condition_of(*columns[at], rng) for at in some))


def _condition_of(group: Group, axis: Axis, name: Name, rng: np.random.Generator) -> Condition:
    missing = int(rng.integers(2))
    if not isinstance(axis, Levels):
        return Condition(group.key, name, Above(float(rng.choice(edges_of(group)))), missing)
    known = axis.levels[axis.columns.index(name)]
    side = rng.integers(3, size=len(known))  # 2: as if it came later
    levels, others = (tuple(np.array(known, object)[side == at]) for at in (1, 0))
    test = OneOf((*levels, "never"), others if rng.random() < 0.7 else ())
    return Condition(group.key, name, test, int(rng.integers(3)) if test.others else missing)
