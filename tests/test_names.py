"""Names are not data: what columns, classes and levels are called changes no fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import NaiveBayes
from naively.schema.schema import contents
from tests.fittings import noise, together

Table = dict[str, list[Any]]
NEW = "never seen"


def random_table(seed: int) -> tuple[Table, np.ndarray]:
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


def renamed(X: Table, y: np.ndarray, seed: int, *, columns: bool = True) -> tuple[Any, ...]:
    """Give levels, classes and (if they are to have some) columns other names, in another order.

    Returns the table and the labels; rows to predict, some cells of which are new or missing, by
    the old and by the new names; and the place of each class among the new ones.
    """
    rng = np.random.default_rng(seed)
    numbers = (f"{of} {j}" for j, of in enumerate(rng.permutation(len(X))))
    names = dict(zip(X, numbers if columns else X, strict=True))
    classes = np.unique(y)
    others = dict(zip(classes, [f"k{of}" for of in rng.permutation(len(classes))], strict=True))
    strings = sorted({cell for of in X.values() for cell in of if isinstance(cell, str)})
    levels = dict(zip(strings, rng.permutation(strings).tolist(), strict=True)) | {NEW: "new"}
    asked = {}
    for j, (name, cells) in enumerate(X.items()):
        one = next(cell for cell in cells if cell is not None)
        new = {str: NEW, bool: True}.get(type(one), 1e3)
        asked[name] = [None, new] * len(X) + cells
        asked[name][2 * j : 2 * j + 2] = cells[:2]  # where others are new, some are as they were

    def table(of: Table) -> Table:
        return {names[name]: [levels.get(cell, cell) for cell in of[name]] for name in order}

    order = rng.permutation([*X]).tolist() if columns else [*X]
    place = np.argsort(np.argsort([others[of] for of in classes])).tolist()
    return asked, table(X), table(asked), np.array([others[of] for of in y]), place


def apart(X: Table, y: np.ndarray, seed: int, *, columns: bool = True, **options: Any) -> float:
    """Return by how much a probability changes when columns, levels and classes are renamed."""
    asked, other_X, other_asked, other_y, place = renamed(X, y, seed, columns=columns)
    nb, other = (NaiveBayes(**options).fit(*of) for of in ((X, y), (other_X, other_y)))
    p, q = nb.predict_proba(asked), other.predict_proba(other_asked)[:, place]
    return float(np.abs(p - q).max())


@pytest.mark.parametrize("weights", ["loo", "temperature", None])
def test_of_random_tables(weights: Any) -> None:
    for seed in range(40):
        assert apart(*random_table(seed), seed, weights=weights) < 1e-6, seed  # as searches end


@pytest.mark.parametrize("kind", ["truths", "levels", "numbers"])
def test_of_tables_with_interactions(kind: Any) -> None:
    X, y = together(300, kind)
    X = {name: of.tolist() for name, of in X.items()}
    assert apart(X, y, 1, interactions="auto") < 1e-6  # another order of columns rounds otherwise
    assert apart(X, y, 2, interactions="auto", columns=False) < 1e-9


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("levels", [6, 40])
@pytest.mark.parametrize("interactions", ["auto", {"given": ["n < 0.5 and c in {c1, c2}"]}, None])
def test_of_tables_with_steps_products_and_rules(k: int, levels: int, interactions: Any) -> None:
    """Also levels that came equally often, of which some have no bin of their own."""
    rng = np.random.default_rng(levels)
    a, b, c = rng.permutation(600) % levels, rng.integers(4, size=600), rng.integers(4, size=600)
    x = rng.normal(size=600).round(2)
    y = (a % 2 * (b % 3) + (np.abs(x) > 0.7) * (a % 3 == 1) + rng.integers(8, size=600) // 7) % k
    X = {"a": [f"a{of}" for of in a], "b": [f"b{of}" for of in b], "n": x.tolist()}
    X["b"][::7] = [None] * len(X["b"][::7])
    if isinstance(interactions, dict):  # which name what they are of
        nb = NaiveBayes(interactions=interactions).fit(X | {"c": [f"c{of}" for of in c]}, y)
        other = NaiveBayes(interactions=interactions).fit(X | {"c": [f"c{of}" for of in c]}, -y)
        asked = {"a": [NEW, None], "b": [NEW, "b1"], "n": [None, 0.0], "c": [NEW, NEW]}
        np.testing.assert_allclose(
            nb.predict_proba(asked), other.predict_proba(asked)[:, ::-1], rtol=0, atol=1e-12
        )
        return
    for seed in range(4):
        assert apart(X, y.astype(str), seed, interactions=interactions, columns=False) < 1e-12


def test_what_was_never_seen_is_on_no_side() -> None:
    X, y = together(600, "levels")
    for names in (["good", "bad"], ["bad", "good"]):
        nb = NaiveBayes(interactions="auto").fit(X, np.where(y == "p", *names))
        asked = {"a": ["n0", "p0", "new"] * 2, "b": ["p0"] * 3 + ["new"] * 3, "c": ["n0"] * 6}
        p = nb.predict_proba(asked)[:, [*nb.classes_].index(names[0])]
        assert p[0] > 0.9
        assert p[1] < 0.1
        np.testing.assert_allclose(p[2:], 0.5, atol=0.2)


def test_of_truths_whose_rows_are_many_alike() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150)
    X = {f"t{j}": (rng.random(150) < 0.3 + 0.05 * j * y).tolist() for j in range(7)}
    assert apart(X, y.astype(str), 3) < 1e-9


def test_scores_are_the_same_too() -> None:
    numbers, y = noise(200, 5, 3, 0)
    X = {f"c{j}": numbers[:, j].tolist() for j in range(5)}
    _, other_X, _, other_y, _ = renamed(X, y.astype(str), 5)
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
        (batch,) = nb._learned.sample.of(nb.model_).batches  # of all rows, in this order
        assert len(np.unique(contents(batch))) < len(values) / 2
        return batch.labels.codes.tolist()

    assert ordered(values, y) == ordered(values[:, turn], y)
    rows = rng.permutation(len(values))
    assert ordered(values[rows], y[rows]) == ordered(values, y)
