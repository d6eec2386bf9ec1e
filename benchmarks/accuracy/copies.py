"""Rows that are weighted, copied or grouped, against the plain rows with the class prior shifted.

``make bench-accuracy ARGS=--copies``. Made rows are of two classes, one of which is rare, that
differ in three of four normal columns and in levels, beside a useless column of 100 levels; copies
of texts are of those in ``NAIVELY_DATA``. A ratio of log losses of 1 is what is to be reached: that
the same is said in another way should not show.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from benchmarks.accuracy import trial
from naively import NaiveBayes

DRAWS = 4
TESTED = 4_000
TEXTS, TIMES = 300, 5  # texts that are learned, and copies of each
PERSONS, ROWS_EACH, APART = 120, 10, 0.02  # and the standard deviation of a person's rows
TEMPLATE = 1_000  # copies of one text

Rows: TypeAlias = "tuple[pd.DataFrame | list[str], NDArray]"


class Ratio(NamedTuple):
    """The log loss of rows that are given otherwise, and of the plain rows."""

    name: str
    given: float
    plain: float


def made(rows: int, seed: int, rare: float) -> Rows:
    """Return rows of two classes, of which one has this share."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < rare).astype(int)
    numbers = rng.normal(size=(rows, 4)) + y[:, None] * [1.2, 0.8, 0.5, 0]
    X = pd.DataFrame(numbers, columns=[*"abcd"])
    X["useless"] = rng.integers(0, 100, rows).astype(str)
    X["level"] = np.where(rng.random(rows) < 0.7, np.where(y == 1, "x", "y"), "z")
    return X, y


def loss(nb: NaiveBayes, new: Rows, weight: NDArray | None = None, prior: object = None) -> float:
    """Return the mean log loss of new rows, under another class prior if one is given."""
    X, y = new
    p = nb.predict_proba(X, class_prior=prior)
    right = p[np.arange(len(y)), np.searchsorted(nb.classes_, y)]
    return float(np.average(-np.log(np.clip(right, trial.CLIP, 1)), weights=weight))


def balanced(seed: int) -> tuple[float, float]:
    """Weights that make the classes even."""
    (X, y), new = made(2_000, seed, 0.05), made(TESTED, seed + 100, 0.05)
    even = compute_sample_weight("balanced", new[1])
    weighed = NaiveBayes().fit(X, y, compute_sample_weight("balanced", y))
    return loss(weighed, new, even), loss(NaiveBayes().fit(X, y), new, even, [0.5, 0.5])


def times_ten(seed: int) -> tuple[float, float]:
    """All weights times ten."""
    (X, y), new = made(300, seed, 0.3), made(TESTED, seed + 100, 0.3)
    ten = NaiveBayes().fit(X, y, np.full(len(y), 10.0))
    return loss(ten, new), loss(NaiveBayes().fit(X, y), new)


def lognormal(seed: int) -> tuple[float, float]:
    """Weights that say nothing, log-normal with a standard deviation of 1."""
    (X, y), new = made(1_000, seed, 0.3), made(TESTED, seed + 100, 0.3)
    weight = np.random.default_rng(seed).lognormal(size=len(y))
    return loss(NaiveBayes().fit(X, y, weight), new), loss(NaiveBayes().fit(X, y), new)


def oversampled(seed: int) -> tuple[float, float]:
    """Rows of a rare class drawn with replacement until the classes are even."""
    (X, y), new = made(2_000, seed, 0.05), made(TESTED, seed + 100, 0.05)
    often, rare = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    rows = np.append(often, np.random.default_rng(seed).choice(rare, len(often)))
    even = compute_sample_weight("balanced", new[1])
    copied = NaiveBayes().fit(X.iloc[rows], y[rows])
    return loss(copied, new, even), loss(NaiveBayes().fit(X, y), new, even, [0.5, 0.5])


def grouped(seed: int) -> tuple[float, float]:
    """Ten near copies of each person, who is a group."""
    (X, y), new = made(PERSONS, seed, 0.4), made(TESTED, seed + 100, 0.4)
    person = np.repeat(np.arange(PERSONS), ROWS_EACH)
    near = X.iloc[person].reset_index(drop=True)
    near[[*"abcd"]] += np.random.default_rng(seed).normal(0, APART, (len(person), 4))
    groups = NaiveBayes().fit(near, y[person], groups=person)
    return loss(groups, new), loss(NaiveBayes().fit(X, y), new)


MADE: dict[str, Callable[[int], tuple[float, float]]] = {
    "'balanced' weights": balanced,
    "all weights times ten": times_ten,
    "log-normal weights": lognormal,
    "a rare class copied until the classes are even": oversampled,
    "ten near copies of each person, groups=": grouped,
}


def of_texts(source: trial.Source) -> Iterator[Ratio]:
    """Yield what copies of texts cost: five of each, and a thousand of one."""
    task = trial.read_texts(source)
    five, many = [], []
    for seed in range(DRAWS):
        order = np.random.default_rng(seed).permutation(len(task.y))
        train, test = order[:TEXTS], order[TEXTS : TEXTS + TESTED]
        test = test[np.isin(task.y[test], task.y[train])]
        new = task.take(test), task.y[test]
        plain = NaiveBayes().fit(task.take(train), task.y[train])
        rows = np.tile(train, TIMES)
        five.append((loss(NaiveBayes().fit(task.take(rows), task.y[rows]), new), loss(plain, new)))
        rows = np.append(train, np.full(TEMPLATE, train[0]))
        often = NaiveBayes().fit(task.take(rows), task.y[rows])
        share = plain.class_count_ / plain.class_count_.sum()
        many.append((loss(often, new, prior=share), loss(plain, new)))
    yield Ratio(f"each text five times, {source.name}", *np.mean(five, axis=0))
    yield Ratio(f"one text a thousand times, {source.name}", *np.mean(many, axis=0))


def run(folder: Path | None, names: tuple[str, ...] = ("sms_spam", "newsgroups20")) -> list[Ratio]:
    """Measure made rows, and texts where there are some; print what was found, and return it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            Ratio(name, *np.mean([of(seed) for seed in range(DRAWS)], axis=0))
            for name, of in MADE.items()
        ]
        if folder is not None:
            for source in trial.texts(folder / "text", 10_000):
                found += [*of_texts(source)] if source.name in names else []
    print(f"log loss over that of the plain rows, the class prior shifted; {DRAWS} draws of each")
    for one in found:
        print(f"  {one.name:52}{one.given:8.3f} {one.plain:8.3f} {one.given / one.plain:8.3f}")
    return found
