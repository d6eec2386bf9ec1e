"""Products of functions of columns: by brute force, and as the model says them of the same rows."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.counting.labels import Labels, encode_labels
from naively.data.columns import column_rows
from naively.fitting.reservoir import ANY
from naively.fitting.seek import (
    A_COLUMN,
    COLUMNS,
    FLAT,
    MOST,
    OF_CURVATURE,
    Products,
    basis_of,
    columns_of,
    scores_of_products,
)
from naively.terms.functions import FARTHEST, Line, LinearPart, Product, Step, Term
from tests.fittings import mixed, together
from tests.learning import learn

LINE = Line(-3.0, 3.0, 0.0, 1.0)


def drawn(
    n: int, columns: int, k: int, *, of_each: int = 1, weighted: bool = False, seed: int = 0
) -> tuple[list[Term], np.ndarray, np.ndarray, Labels]:
    """Draw functions of columns, posteriors and labels."""
    rng = np.random.default_rng(seed)
    of = [
        Term("g", f"c{j}", LINE if i == 0 else Step(i, 0.5, 0.5))
        for j in range(columns)
        for i in range(of_each)
    ]
    z = np.ascontiguousarray(rng.normal(size=(n, len(of))).astype(np.float32).T)
    weight = rng.choice([0.3, 1.0, 2.0], n) if weighted else None
    labels = encode_labels(np.append(np.arange(k), rng.integers(0, k, n - k)), weight)
    return of, z, rng.dirichlet(np.ones(k), n), labels


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_squared_gradients_over_bounds_of_curvature(k: int, weighted: bool) -> None:
    _, z, p, labels = drawn(60, 5, k, weighted=weighted)
    found = scores_of_products(z, p, labels)
    for i, j in combinations(range(5), 2):
        score = 0.0
        for c in [1] if k == 2 else range(k):
            gradient, curve = 0.0, 0.0
            for row in range(60):
                x, w = float(z[i, row]) * float(z[j, row]), labels.weights[row]
                gradient += w * x * ((labels.codes[row] == c) - p[row, c])
                curve += w * x**2 * p[row, c] * (1 - p[row, c])
            score += gradient**2 / (curve + OF_CURVATURE)
        assert found[i, j] == pytest.approx(score, rel=1e-3)
        assert found[j, i] == pytest.approx(score, rel=1e-3)


def test_the_gradient_is_that_of_the_log_loss() -> None:
    """Of a product with a slope for one class, by differences."""
    _, z, p, labels = drawn(80, 2, 3, weighted=True)
    x, joint, right = z[0] * z[1], np.log(p), (np.arange(80), labels.codes)

    def loss(c: int, slope: float) -> float:
        moved = joint + slope * x[:, None] * (np.arange(3) == c)
        return float(labels.weights @ (np.logaddexp.reduce(moved, axis=1) - moved[right]))

    score = 0.0
    for c in range(3):
        low, here, high = (loss(c, slope) for slope in (-1e-3, 0.0, 1e-3))
        score += ((high - low) / 2e-3) ** 2 / ((high - 2 * here + low) / 1e-6 + OF_CURVATURE)
    assert scores_of_products(z, p, labels)[0, 1] == pytest.approx(score, rel=1e-3)


def test_products_are_of_two_columns_those_of_the_highest_scores_six_a_column() -> None:
    of, z, p, labels = drawn(80, 14, 3, of_each=2)
    found = Products.choose(of, z, dict, p, labels)
    assert len(found.a) == A_COLUMN * 14
    chosen = set(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert len(chosen) == len(found.a)
    score = scores_of_products(z, p, labels)
    may = {(i, j) for i, j in combinations(range(28), 2) if of[i].column != of[j].column}
    assert chosen == set(sorted(may, key=lambda pair: -score[pair])[: A_COLUMN * 14])
    few = Products.choose(of[:6], z[:6], dict, p, labels)
    assert len(few.a) == 12  # all there are, of three columns with two functions each
    assert len(Products.choose(of[:2], z[:2], dict, p, labels).a) == 0
    assert len(Products.choose([], z[:0], dict, p, labels).a) == 0


def test_products_are_of_the_columns_that_say_most() -> None:
    of, z, p, labels = drawn(30, COLUMNS + 20, 2)
    rng = np.random.default_rng(0)
    said = dict(zip([term.part for term in of], rng.permutation(len(of)) + 0.0, strict=True))
    found = Products.choose(of, z, lambda: said, p, labels)
    assert len(found.a) == MOST
    assert min(said[of[i].part] for i in np.append(found.a, found.b)) >= 20


def test_rows_that_are_held_out_have_no_say() -> None:
    of, z, p, labels = drawn(200, 14, 2, weighted=True)
    rows = np.arange(120)
    some = Products.choose(of, z, dict, p[rows], labels.take(rows), rows)
    moved = z.copy()
    moved[:, 120:] = 9.0
    same = Products.choose(of, moved, dict, p[rows], labels.take(rows), rows)
    alone = Products.choose(of, z[:, :120], dict, p[rows], labels.take(rows))
    for other in (same, alone):
        np.testing.assert_array_equal([some.a, some.b], [other.a, other.b])
        np.testing.assert_array_equal(some.scale, other.scale)
    assert some.values().shape == (len(some.a), 200)


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    of, z, p, labels = drawn(100, 14, 3)
    twice = Products.choose(
        of, np.repeat(z, 2, axis=1), dict, np.repeat(p, 2, axis=0), labels.take(np.arange(200) // 2)
    )
    weighted = replace(labels, weight=np.full(100, 2.0))
    once = Products.choose(of, z, dict, p, weighted)
    np.testing.assert_array_equal([once.a, once.b], [twice.a, twice.b])
    np.testing.assert_allclose(once.scale, twice.scale, rtol=1e-5)
    np.testing.assert_allclose(once.values(), twice.values()[:, ::2], rtol=1e-5)


def test_values_are_over_their_deviation_and_clipped() -> None:
    of, z, p, labels = drawn(300, 3, 2)
    z[:, 0] = 100.0
    z[2] = 0.0
    found = Products.choose(of, z, dict, p, labels)
    assert len(found.a) == 1  # a product that does not vary is none
    product = z[0].astype(float) * z[1]
    assert found.scale[0] == pytest.approx(product.std(), rel=1e-3)
    assert found.scale[0] > FLAT
    values = found.values()[0]
    np.testing.assert_allclose(
        values, np.clip(product / found.scale[0], -FARTHEST, FARTHEST), rtol=1e-4, atol=1e-6
    )
    assert values[0] == FARTHEST == np.abs(values).max()
    (product_of,) = found.terms()
    assert product_of.columns == ("c0", "c1")


@pytest.mark.parametrize("weights", ["none", "copies", "fractions"])
def test_the_model_says_of_rows_what_was_computed(weights: str) -> None:
    X, y, weight = mixed(120, weights)
    rows, labels = column_rows(X), encode_labels(y, weight)
    reservoir, model = ANY, learn(rows, labels)
    reservoir = reservoir.added(model.counted.schema.encode(rows, labels)).for_model(model)
    sample = reservoir.of(model)
    basis = basis_of(columns_of(model, sample.encoded(model)), dict, sample.labels)
    p = np.full((len(sample.labels), len(model.classes)), 1 / len(model.classes))
    chosen = Products.choose(basis.terms, basis.z.astype(np.float32), dict, p, sample.labels)
    names = {of.column for of in basis.terms}
    assert len({str(name) for name in names}) > 4  # of numbers, levels, truths, parts of times
    for product, values in zip(chosen.terms(), chosen.values(), strict=True):
        of_model = [
            product.of(product.a.of(blocks), product.b.of(blocks))
            for batch in sample.encoded(model)
            for blocks in [model.blocks(batch)]
        ]
        np.testing.assert_allclose(np.concatenate(of_model), values, rtol=1e-4, atol=1e-5)


def noted(names: int, products: list[tuple[int, int, float]], **columns: Any) -> list[str]:
    """Return the lines of a schema whose numbers have products, each with a slope."""
    rng = np.random.default_rng(0)
    X = {f"n{j}": rng.normal(size=50) for j in range(names)} | columns
    nb = NaiveBayes().fit(X, rng.integers(0, 2, 50))
    (group,) = (group for group in nb.schema_.groups if group.kind == "number")
    terms = [Term(group.key, f"n{j}", LINE) for j in range(names)]
    of = {Product(terms[a], terms[b], 1.0): (-slope, slope) for a, b, slope in products}
    weights = nb.weights_
    assert weights is not None
    linear = LinearPart(dict.fromkeys(terms, (0.0, 0.0)), of)
    nb._exchange(model=nb.model_.weighed(replace(weights, linear=linear)))
    return str(nb.schema_).splitlines()


def test_the_schema_says_which_columns_are_multiplied() -> None:
    plain = noted(6, [])
    assert not any("product" in line for line in plain)
    lines = noted(6, [(0, 1, 0.1), (0, 2, 0.5), (3, 0, -0.3), (0, 4, 0.2), (0, 5, 0.05)])
    assert lines == [
        f"{plain[0]}; products with n2, n3, n4 and 2 more",
        *(f"{line}; products with n0" for line in plain[1:]),
    ]
    three = noted(4, [(0, 1, 0.3), (0, 2, 0.2), (0, 3, 0.1)])
    assert three[0] == f"{plain[0]}; products with n1, n2, n3"
    missing = noted(2, [(0, 1, 1.0)], n1=np.where(np.arange(50) % 5, 1.5, np.nan), c=["x"] * 50)
    assert missing[1].endswith("products with n0; missing cells are evidence")
    assert "product" not in missing[2]
    assert not any("product" in line for line in noted(31, [(0, 1, 1.0)]))


def test_a_column_that_is_counted_otherwise_is_not_said_to_be_multiplied() -> None:
    """Truths become numbers; their products add nothing until weights are fitted again."""
    X, y = together(400, "truths")
    X = {name: column.astype(int) for name, column in X.items()}
    nb = NaiveBayes(interactions="auto").fit(X, y)
    nb = pickle.loads(pickle.dumps(nb))  # noqa: S301  (without a sample)
    assert "products with" in str(nb.schema_)
    more = {name: [2, 0] for name in X}
    nb.partial_fit({**more, "b": [0, 1]}, ["p", "q"])
    lines = {line.split()[0]: line for line in str(nb.schema_).splitlines()}
    assert "product" not in lines["a"] + lines["b"] + lines["c"]
    assert nb.weights_.linear.products


def test_the_numbers_are_those_of_the_docs() -> None:
    assert (A_COLUMN, COLUMNS, MOST, FARTHEST) == (6, 100, 400, 5.0)
