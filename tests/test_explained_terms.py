"""Explanations of missing cells, linear terms and products: they sum to the joint, line by line."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from naively import Bernoulli, NaiveBayes
from naively.inspect.explain import ExplainedRow
from naively.terms.functions import Line, Step, Term
from tests.linear_parts import with_linear_part
from tests.reported import table

COLUMNS = ("size", "colour", "both", "wet", "when")
TEXTS = np.array(["cheap pills now", "lunch at noon", "see you now", "cheap watches today"])


def holes(n: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, levels, truths, times and texts with missing cells, and labels."""
    found = table(n, seed)
    y = found.pop("y").to_numpy()
    rng = np.random.default_rng(seed)
    found["note"] = TEXTS[rng.integers(0, len(TEXTS), n)]
    found = found[[*COLUMNS, "note"]].astype({"wet": object, "colour": object, "note": object})
    for i, name in enumerate(found):
        often = np.where(y == "ham", 0.3, 0.1)
        found.loc[rng.random(n) < often, name] = np.nan if i == 0 else None
    return found, y


def fitted(models: Any = None, *, products: int = 0, **options: Any) -> NaiveBayes:
    X, y = holes()
    every = {"note": Bernoulli(), **(models or {})}
    return with_linear_part(NaiveBayes(every, **options).fit(X, y), products=products)


MODELS = [{}, {"size": "gaussian"}, {"size": "density", "wet": "categorical"}]


def line(row: ExplainedRow, column: str) -> np.ndarray:
    """Return the log likelihoods of the only line of a column."""
    at = [i for i, name in enumerate(row.column) if name == column]
    assert len(at) == 1, (column, row.column)
    return row.log_likelihood[at[0]]


@pytest.mark.parametrize("products", [0, 6])
@pytest.mark.parametrize("models", MODELS, ids=str)
def test_lines_sum_to_the_joint(models: Any, products: int) -> None:
    nb = fitted(models, products=products)
    X, _ = holes(60, seed=1)
    joint = nb.predict_joint_log_proba(X)
    assert sum(group.kind == "missing" for group in nb.schema_.groups) == 1
    for i, row in enumerate(nb.explain(X)):
        np.testing.assert_allclose(row.log_likelihood.sum(axis=0), joint[i], atol=1e-9)
        np.testing.assert_allclose(row.joint, joint[i], atol=1e-12)


@pytest.mark.parametrize("models", MODELS, ids=str)
def test_a_column_has_one_line_whether_its_cell_is_there_or_missing(models: Any) -> None:
    nb = fitted(models)
    X, _ = holes(60, seed=1)
    there = X.notna()
    for i, row in enumerate(nb.explain(X)):
        lines = Counter(row.column)
        for name in COLUMNS:
            assert lines[name] == there[name][i]
            assert lines[f"{name} is missing"] == (not there[name][i])
            assert not lines[f"{name} is present"]
        assert lines["note is present"] == there["note"][i]
        assert lines["note is missing"] == (not there["note"][i])
        assert bool(lines["note"]) == there["note"][i]
        for name, value in zip(row.column, row.value, strict=True):
            assert value is None or not name.endswith(("is missing", "is present"))


def test_a_line_is_what_the_joint_loses_without_the_cell() -> None:
    """The line of a cell, less that of a missing one, is the difference of the joints."""
    nb = fitted(MODELS[1])
    X, _ = holes(40, seed=1)
    X = X.drop(columns="when")  # which has two lines: its own and that of its weekday
    X["when"] = None
    seen = 0
    for name in ("size", "colour", "both", "wet"):
        without = X.copy()
        without[name] = np.nan if name == "size" else None
        joint, less = nb.predict_joint_log_proba(X), nb.predict_joint_log_proba(without)
        for i, (row, other) in enumerate(zip(nb.explain(X), nb.explain(without), strict=True)):
            if pd.notna(X[name][i]):
                found = line(row, name) - line(other, f"{name} is missing")
                np.testing.assert_allclose(found, joint[i] - less[i], atol=1e-9)
                seen += 1
    assert seen > 100


def test_a_missing_cell_says_its_weighted_log_probability() -> None:
    nb = fitted()
    classes = nb.classes_.tolist()
    for name in COLUMNS:
        p = nb.inspect.parameters(column=name).to_dict()
        log_p = np.log([v for v, item in zip(p["value"], p["item"], strict=True)
                        if item == "(missing)"])  # fmt: skip
        weight = [nb.weights_.by_name[f"{name} is missing"][label] for label in classes]
        empty = pd.DataFrame({column: [None] for column in (*COLUMNS, "note")})
        found = line(nb.explain(empty)[0], f"{name} is missing")
        np.testing.assert_allclose(found, weight * (log_p - log_p.mean()), atol=1e-9)
    assert nb.explain(empty)[0].column[2:] == [f"{name} is missing" for name in empty]


def test_texts_by_presence_say_that_they_are_there() -> None:
    nb = fitted()
    row = nb.explain(holes(1)[0].assign(note="cheap lunch"))[0]
    c = row.best
    assert ("note is present", None) in [item[:2] for item in row.top(c)]
    assert "note is present" in str(row)
    assert "note is present" in row.waterfall(50).item


def value_of(term: Term, cell: Any) -> float:
    """Return the value of a term by its definition."""
    match term.function:
        case Line(low, high, centre, scale):
            return (min(max(float(cell), low), high) - centre) / scale
        case Step(level, centre, scale, among):
            return 0.0 if among and cell not in among else ((cell == level) - centre) / scale


def test_products_are_lines_of_both_cells() -> None:
    nb = fitted(products=10)
    products = nb.weights_.linear.products
    X, _ = holes(60, seed=1)
    X["when"] = None  # whose cells would have to be made seconds here
    for i, row in enumerate(nb.explain(X)):
        cells = {name: X[name][i] for name in COLUMNS}
        for product, slope in products.items():
            a, b = map(str, product.columns)
            name = f"{a} × {b}"
            if not {a, b} <= set(COLUMNS) or pd.isna(cells[a]) or pd.isna(cells[b]):
                assert name not in row.column
                continue
            both = value_of(product.a, cells[a]) * value_of(product.b, cells[b])
            right = np.clip(both / product.scale, -5, 5) * np.array(slope)
            np.testing.assert_allclose(line(row, name), right, atol=1e-9)
            assert row.value[row.column.index(name)] == (cells[a], cells[b])


@pytest.mark.parametrize("event", ["bernoulli", "poisson"])
def test_a_sparse_row_has_no_more_lines_than_without_what_is_new(event: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.4, (200, 6)).astype(float), np.repeat(["u", "v"], 100)
    rows = sparse.csr_array(X[:20])
    X[rng.random(X.shape) < np.where(y == "u", 0.4, 0.1)[:, None]] = np.nan
    before = NaiveBayes(event, presence="ignore").fit(X, y).explain(rows)
    nb = with_linear_part(NaiveBayes(event).fit(X, y))
    assert nb.schema_.groups[-1].kind == "missing"
    joint = nb.predict_joint_log_proba(rows)
    np.testing.assert_allclose(joint, nb.predict_joint_log_proba(rows.toarray()), atol=1e-9)
    of_dense = nb.explain(rows.toarray())
    for i, row in enumerate(nb.explain(rows)):
        of_all = {"columns"}  # a line of its own, where what is absent says something
        assert set(row.column) - of_all == set(before[i].column) - of_all
        np.testing.assert_allclose(row.log_likelihood.sum(axis=0), joint[i], atol=1e-9)
        for name in row.column[1:-1]:  # the last line is of all zeros
            np.testing.assert_allclose(line(row, name), line(of_dense[i], name), atol=1e-9)


def test_a_picture_has_missing_pixels_elsewhere() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v"], 100)
    X = rng.normal(size=(200, 4)) + (y == "u")[:, None]
    X[rng.random(X.shape) < np.where(y == "u", 0.4, 0.1)[:, None]] = np.nan
    nb = with_linear_part(NaiveBayes("gaussian").fit(X, y), products=3)
    for row in nb.explain(X[:20]):
        image = row.image((2, 2))
        assert image.log_odds == pytest.approx(row.log_odds(row.best))
    row = nb.explain([[np.nan, 1.0, 1.0, np.nan]])[0]
    assert row.image((2, 2)).weight.ravel()[[0, 3]].tolist() == [0.0, 0.0]
    said = dict(zip(row.column, row.weights(row.best).tolist(), strict=True))
    assert said["x0 is missing"] != 0
    of_pixels = said["x1"] + said["x2"]
    elsewhere = sum(said.values()) - of_pixels
    assert row.image((2, 2)).elsewhere == pytest.approx(elsewhere)


def test_the_parts_of_a_model_without_missing_cells_are_those_of_before() -> None:
    X, y = holes()
    ignored = NaiveBayes({"note": Bernoulli()}, presence="ignore").fit(X, y)
    assert not any("is missing" in name for row in ignored.explain(X[:20]) for name in row.column)
    assert not any(group.kind == "missing" for group in ignored.schema_.groups)
