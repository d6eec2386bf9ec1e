"""Models with steps and rules of every kind of column, made by hand or found, and rows for them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from naively import Bernoulli, NaiveBayes
from tests.linear_parts import with_linear_part

EVENTS = {
    "size": "gaussian", "dose": "lognormal", "visits": "poisson", "high": Bernoulli(threshold=2.5),
    "group": "categorical", "smoker": "categorical",
}  # fmt: skip
LEVELS = ["red", "green", "it's", "", "naïve", "never"]  # the last is in no row that is learned
Table = dict[str, list[Any]]


def table(n: int, seed: int, *, learned: bool) -> Table:
    """Rows of numbers, truths, strings and times, some missing; new rows hold levels unseen."""
    rng = np.random.default_rng(seed)
    day = np.datetime64("2021-01-01T00:30", "s")
    when = [(day + 3600 * hours).item() for hours in rng.integers(0, 24 * 1400, n).tolist()]
    numbers = {
        "size": rng.choice([-1.5, -0.0, 0.5, 0.5000001, 1.0, 2.0], n),
        "dose": rng.lognormal(0.3, 1.0, n),
        "visits": rng.poisson(1.0, n).astype(float),
        "high": rng.choice([0.0, 2.0, 2.5, 3.0, 9.0], n),
        "width": rng.normal(0.5, 1.0, n).round(1),
        "group": rng.integers(0, 4 if learned else 6, n).astype(float),
    }
    found: Table = {name: of.tolist() for name, of in numbers.items()}
    found["smoker"] = (rng.random(n) < 0.4).tolist()
    found["member"] = (rng.random(n) < 0.6).tolist()
    found["colour"] = rng.choice(LEVELS[:-1] if learned else LEVELS, n).tolist()
    found["when"] = when
    return {
        name: [None if rng.random() < 0.2 else cell for cell in of] for name, of in found.items()
    }


def made(classes: int, seed: int) -> NaiveBayes:
    """A model with fifty rules that are made up, of some columns of every kind."""
    y = np.random.default_rng(seed).integers(classes, size=300)
    labels = np.array(["no", "yes", "maybe"])[y].tolist()
    nb = NaiveBayes(EVENTS).fit(table(300, seed, learned=True), labels)
    return with_linear_part(nb, products=5, rules=50, seed=seed)


def found(classes: int, seed: int) -> NaiveBayes:
    """A model with the rules that are found where two numbers and a level say most together."""
    some = table(800, seed, learned=True)
    size, width = (np.array(some[name], float) for name in ("size", "width"))
    red = np.array([of in ("red", "green") for of in some["colour"]])
    y = (size >= 0.5) ^ (width >= 0.4) ^ red
    labels = np.where(red & (classes > 2) & (size >= 0.5), 2, y.astype(int))
    nb = NaiveBayes(interactions="auto").fit(some, np.array(["no", "yes", "maybe"])[labels])
    assert nb.weights_ is not None
    assert nb.weights_.linear.rules
    return nb


def rows(seed: int = 99) -> tuple[Table, list[dict[str, Any]]]:
    """New rows, as a table and one by one."""
    new = table(80, seed, learned=False)
    return new, [dict(zip(new, row, strict=True)) for row in zip(*new.values(), strict=True)]


MODELS = [f"{how} of {classes} classes" for how in ("made", "found") for classes in (2, 3)]


@cache
def model(name: str) -> NaiveBayes:
    """The model of one of these names."""
    how, _, classes, _ = name.split()
    return (made if how == "made" else found)(int(classes), seed=int(classes))
