"""Names are not data: what columns and classes are called changes no fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import NaiveBayes
from naively.schema.schema import contents
from tests.fittings import noise, together

Labelled = tuple[dict[str, Any], np.ndarray]


def random_table(seed: int) -> Labelled:
    """Draw a table of a few columns of any kind, and labels of two to four classes."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(12, 400)), int(rng.integers(2, 5))
    y = rng.integers(k, size=n)
    draws = [
        lambda: rng.normal(y * rng.random(), 1).round(2).tolist(),
        lambda: [f"l{of}" for of in rng.integers(3, size=n) + y * (rng.random(n) < 0.4)],
        lambda: [bool(of) for of in rng.random(n) < 0.2 + 0.15 * y],
        lambda: rng.poisson(1 + y).tolist(),
        lambda: [None if of < 0.2 else of for of in rng.random(n)],
    ]
    kinds = rng.integers(len(draws), size=int(rng.integers(2, 6)))
    return {f"c{j}": draws[kind]() for j, kind in enumerate(kinds)}, y.astype(str)


def renamed(X: dict[str, Any], y: np.ndarray, seed: int) -> tuple[Labelled, dict[str, str]]:
    """Give columns and classes other names, which are in another order."""
    rng = np.random.default_rng(seed)
    names = dict(zip(X, (f"{of} {j}" for j, of in enumerate(rng.permutation(len(X)))), strict=True))
    classes = np.unique(y)
    others = dict(zip(classes, [f"k{of}" for of in rng.permutation(len(classes))], strict=True))
    order = rng.permutation([*X])
    return ({names[of]: X[of] for of in order}, np.array([others[of] for of in y])), others


def apart(X: dict[str, Any], y: np.ndarray, seed: int, **options: Any) -> float:
    """Return by how much a probability changes when columns and classes are renamed."""
    (other_X, other_y), others = renamed(X, y, seed)
    nb, other = (NaiveBayes(**options).fit(*of) for of in ((X, y), (other_X, other_y)))
    place = [other.classes_.tolist().index(others[of]) for of in nb.classes_]
    return float(np.abs(nb.predict_proba(X) - other.predict_proba(other_X)[:, place]).max())


@pytest.mark.parametrize("weights", ["loo", "temperature", None])
def test_of_random_tables(weights: Any) -> None:
    for seed in range(40):
        assert apart(*random_table(seed), seed, weights=weights) < 1e-9, seed


@pytest.mark.parametrize("kind", ["truths", "levels", "numbers"])
def test_of_tables_with_interactions(kind: Any) -> None:
    X, y = together(300, kind)
    assert apart(X, y, 1, interactions="auto") < 1e-6


def test_of_truths_whose_rows_are_many_alike() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150)
    X = {f"t{j}": (rng.random(150) < 0.3 + 0.05 * j * y).tolist() for j in range(7)}
    assert apart(X, y.astype(str), 3) < 1e-9


def test_scores_are_the_same_too() -> None:
    numbers, y = noise(200, 5, 3, 0)
    X = {f"c{j}": numbers[:, j] for j in range(5)}
    (other_X, other_y), _ = renamed(X, y.astype(str), 5)
    found = NaiveBayes().fit(other_X, other_y).assess().log_loss
    assert found == pytest.approx(NaiveBayes().fit(X, y).assess().log_loss, rel=1e-9)


@pytest.mark.parametrize("form", ["dense", "sparse", "levels"])
def test_the_order_of_rows_follows_from_what_they_hold(form: str) -> None:
    """Rows with the same cells in other columns are told apart, whatever the columns are called."""
    rng = np.random.default_rng(0)
    values = np.unique(rng.integers(2, size=(40, 6)), axis=0)
    y = np.arange(len(values)) % 3
    turn = rng.permutation(6)

    def ordered(values: np.ndarray, y: np.ndarray) -> list[int]:
        X: Any = values.astype(float)
        if form == "sparse":
            X = sparse.csr_array(X)
        if form == "levels":
            X = {f"c{j}": [f"l{of}" for of in values[:, j]] for j in range(6)}
        nb = NaiveBayes(weights=None).fit(X, y)
        (batch,) = nb._sample.of(nb.model_).batches  # of all rows, in this order
        assert len(np.unique(contents(batch))) < len(values) / 2
        return batch.labels.codes.tolist()

    assert ordered(values, y) == ordered(values[:, turn], y)
    rows = rng.permutation(len(values))
    assert ordered(values[rows], y[rows]) == ordered(values, y)
