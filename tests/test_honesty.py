"""What assess() says is what fresh rows show, and of noise it says that nothing was learned."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_classification,
    make_hastie_10_2,
    make_moons,
)

from naively import NaiveBayes
from naively.assess import assessment
from naively.assess.scores import Scores, score
from naively.data.frames import as_rows

ROWS = 200  # of each half of a table, at most
SURE = np.log(1e6)


@dataclass(frozen=True)
class Table:
    """Columns and labels."""

    name: str
    columns: dict[str, np.ndarray]
    y: np.ndarray

    def take(self, rows: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        return {name: column[rows] for name, column in self.columns.items()}, self.y[rows]


def of_matrix(name: str, X: Any, y: Any) -> Table:
    return Table(name, {f"x{j}": column for j, column in enumerate(np.asarray(X).T)}, np.asarray(y))


def bundled() -> Iterator[Table]:
    """scikit-learn's tables."""
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        yield of_matrix(load.__name__, X[:, :: 1 + X.shape[1] // 15], y)


def synthetic() -> Iterator[Table]:
    """Numbers whose classes are easy, hard or no clouds; levels, truths and gaps; repeated columns."""
    rng = np.random.default_rng(0)
    for k, sep in ((2, 0.5), (2, 1.5), (5, 1.0)):
        X, y = make_classification(
            1300, 12, n_informative=5, n_classes=k, class_sep=sep, flip_y=0.05, random_state=k
        )
        yield of_matrix(f"clouds of {k} classes, {sep} apart", X, y)
    yield of_matrix("moons", *make_moons(1300, noise=0.3, random_state=0))
    yield of_matrix("circles", *make_circles(1300, noise=0.2, factor=0.5, random_state=0))
    yield of_matrix("a sum of squares", *make_hastie_10_2(1300, random_state=0))
    y = rng.choice(["no", "yes"], 1300, p=[0.7, 0.3])
    levels = {
        f"c{j}": np.where(rng.random(1300) < 0.2 * j, y, rng.choice(["no", "yes", "?"], 1300))
        for j in range(4)
    }
    truths = {f"t{j}": rng.random(1300) < np.where(y == "yes", 0.6, 0.4) for j in range(6)}
    gaps = np.where(rng.random(1300) < 0.3, np.nan, rng.normal(1.0 * (y == "yes")))
    yield Table("levels, truths and gaps", {**levels, **truths, "gaps": gaps}, y)
    one = rng.normal(1.0 * (y == "yes"))
    again = {f"x{j}": one + rng.normal(0, 0.1, 1300) for j in range(10)}
    yield Table("one column ten times", again, y)


def read(path: Path, target: str) -> Table:
    """A CSV of numbers and strings; an empty field is missing."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns: dict[str, np.ndarray] = {}
    for name in rows[0]:
        cells = [row[name] or None for row in rows]
        try:
            columns[name] = np.array([np.nan if x is None else float(x) for x in cells])
        except ValueError:
            columns[name] = np.array(cells, object)
    y = np.array([row[target] for row in rows])
    del columns[target]
    return Table(path.stem, columns, y)


Assess = Callable[[NaiveBayes], Scores]


def ratio(table: Table, assess: Assess) -> float:
    """The log loss that is assessed over that on fresh rows.

    Two halves are each assessed, and each is fresh to the model of the other: so the same rows are
    scored on both sides, and which of them are hard does not matter.
    """
    order = np.random.default_rng(0).permutation(len(table.y))[: 2 * ROWS]
    halves = [order[: len(order) // 2], order[len(order) // 2 :]]
    assessed = fresh = 0.0
    for mine, other in (halves, halves[::-1]):
        nb = NaiveBayes().fit(*table.take(mine))
        assessed += assess(nb).log_loss
        X, y = table.take(other)
        fresh += score(nb.model_, as_rows(X), y).log_loss
    return assessed / fresh
