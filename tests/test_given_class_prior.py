"""A given class prior is given: it shifts the log odds, and what is fitted stays."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from naively import Bernoulli, Beta, Dirichlet, NaiveBayes, load
from naively.fitting.weights import posterior
from naively.model.class_prior import class_probabilities
from tests.node import ask, question
from tests.scorecards import posterior as posterior_of
from tests.test_onnx import answers
from tests.test_scorecard import read, rows_of

RNG = np.random.default_rng(5)
N = 400
Y = np.repeat(["a", "b"], [N // 4, 3 * N // 4])
X = {
    "x": RNG.normal(np.where(Y == "a", 0.0, 1.5), 1.0),
    "same": RNG.normal(np.where(Y == "a", 0.0, 1.5), 1.0).round(),
    "kind": np.where(RNG.random(N) < 0.3, "u", np.where(Y == "a", "v", "w")),
    "count": RNG.poisson(np.where(Y == "a", 1, 3)),
}
X["x"][::9] = np.nan
TEXTS = [" ".join(RNG.choice(["to", "be", "or", "not", label], 4)) for label in Y]
PRIORS = {
    "few": (0.02, 0.98),
    "mapping": {"b": 0.1, "a": 0.9},
    "uniform": "uniform",
    "Beta": Beta(30, 400),
    "Dirichlet": Dirichlet([500, 20]),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "temperature": {"weights": "temperature"},
    "pure": {"weights": None},
    "gaussian": {"event_models": {"x": "gaussian", "same": "gaussian"}},
    "interactions": {"interactions": "auto"},
    "no presence": {"presence": "ignore"},
}


def own_prior(nb: NaiveBayes) -> np.ndarray:
    """The share of each class; of a model with weights with one row of each more."""
    row = 0.0 if nb.weights is None else nb.class_count_.sum() / nb.model_.view.rows.sum()
    count = nb.class_count_ + row
    return np.asarray(count / count.sum())


def shifted(base: NaiveBayes, prior: Any, rows: Any) -> np.ndarray:
    """The posteriors of a model under another class prior, by hand."""
    count = base.class_count_
    given = class_probabilities(prior, base.estimate, count, base.classes_)
    change = np.log(given) - np.log(own_prior(base))
    return posterior(base.predict_log_proba(rows) + change)


@pytest.mark.parametrize("weights", ["loo", "temperature", None])
def test_two_normals_have_the_exact_posterior(weights: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 2000)
    x = rng.normal(np.where(y == "a", 0.0, 1.5), 1.0)[:, None]
    at = np.array([-1.0, 0.0, 0.75, 2.0])
    a, b = 0.02 * norm.pdf(at), 0.98 * norm.pdf(at, 1.5)
    nb = NaiveBayes("gaussian", class_prior={"a": 0.02, "b": 0.98}, weights=weights).fit(x, y)
    np.testing.assert_allclose(nb.predict_proba(at[:, None])[:, 0], a / (a + b), rtol=0.15)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_constructor_argument_and_shift_are_the_same(prior: Any, options: dict[str, Any]) -> None:
    base = NaiveBayes(**options).fit(X, Y)
    nb = NaiveBayes(class_prior=prior, **options).fit(X, Y)
    found = nb.predict_proba(X)
    np.testing.assert_allclose(found, shifted(base, prior, X), atol=1e-12)
    if not isinstance(prior, str | Beta | Dirichlet):
        given = base.predict_proba(X, class_prior=prior)
        np.testing.assert_allclose(found, given, atol=1e-12)
    again = nb.predict_proba(X, class_prior=own_prior(base))
    np.testing.assert_allclose(again, base.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_so_it_is_of_weighted_rows_and_texts(prior: Any) -> None:
    weight = np.where(Y == "a", 3.0, 0.5)
    for rows in (X, TEXTS):
        base = NaiveBayes().fit(rows, Y, weight)
        nb = NaiveBayes(class_prior=prior).fit(rows, Y, weight)
        np.testing.assert_allclose(nb.predict_proba(rows), shifted(base, prior, rows), atol=1e-12)


def test_so_it_is_in_batches_merged_loaded_and_calibrated(tmp_path: Path) -> None:
    prior = PRIORS["few"]

    def part(rows: slice) -> tuple[Any, Any]:
        return {name: cells[rows] for name, cells in X.items()}, Y[rows]

    def in_batches(**options: Any) -> NaiveBayes:
        nb = NaiveBayes(**options)
        for first in range(4):
            nb.partial_fit(*part(slice(first, None, 4)))
        return nb

    def merged(**options: Any) -> NaiveBayes:
        parts = [NaiveBayes(**options).fit(*part(slice(i, None, 2))) for i in range(2)]
        return parts[0].merge(parts[1])

    def loaded(**options: Any) -> NaiveBayes:
        NaiveBayes(**options).fit(X, Y).save(tmp_path / "m.naively")
        return load(tmp_path / "m.naively")

    def calibrated(**options: Any) -> NaiveBayes:
        return (
            NaiveBayes(**options).fit(*part(slice(0, None, 2))).calibrate(*part(slice(1, None, 2)))
        )

    for learned in (in_batches, merged, loaded, calibrated):
        found = learned(class_prior=prior).predict_proba(X)
        np.testing.assert_allclose(found, shifted(learned(), prior, X), atol=1e-12)


def test_so_it_is_of_rows_without_a_label() -> None:
    some = np.where(np.arange(N) % 5 == 0, Y, None)
    base = NaiveBayes("gaussian", semi_supervised=True).fit({"x": X["x"]}, some)
    nb = NaiveBayes("gaussian", class_prior=(0.02, 0.98), semi_supervised=True)
    nb.fit({"x": X["x"]}, some)
    assert base.unlabelled_weight_ == nb.unlabelled_weight_ > 0
    rows = {"x": X["x"]}
    np.testing.assert_allclose(
        nb.predict_proba(rows), shifted(base, (0.02, 0.98), rows), atol=1e-12
    )


def test_so_it_is_in_a_query() -> None:
    nb, rows, right = in_columns(50)
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (same, kind, count)")
    cells = zip(*(values.tolist() for values in rows.values()), strict=True)
    connection.executemany("insert into t values (?, ?, ?)", cells)
    found = connection.execute(nb.export.sql("t", dialect="sqlite", probabilities=True)).fetchall()
    assert len(found) == 50
    p = np.array([row[-2:] for row in found], float)
    np.testing.assert_allclose(p, right, atol=1e-12)


def in_columns(n: int) -> tuple[NaiveBayes, dict[str, Any], np.ndarray]:
    """Return a model with a given class prior, some rows, and their right posteriors."""
    columns = {name: X[name] for name in ("same", "kind", "count")}
    rows = {name: of[:n] for name, of in columns.items()}
    base = NaiveBayes().fit(columns, Y)
    nb = NaiveBayes(class_prior=(0.02, 0.98)).fit(columns, Y)
    return nb, rows, shifted(base, (0.02, 0.98), rows)


def test_so_it_is_in_onnx() -> None:
    nb, rows, right = in_columns(50)
    np.testing.assert_allclose(answers(nb, rows)[1], right, atol=1e-9)


def test_so_it_is_in_a_scorecard_read_by_python_and_javascript() -> None:
    nb, rows, right = in_columns(50)
    cells = rows_of(rows)
    card = read(nb.model_)
    np.testing.assert_allclose(card["start"], nb.model_.terms.start)
    np.testing.assert_allclose([posterior_of(card, row) for row in cells], right, atol=1e-12)
    (found,) = ask([question(nb.export.scorecard(), cells, "posterior")])
    np.testing.assert_allclose(found, right, atol=1e-12)


def test_uniform_finds_the_rare_class() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(["rare", "usual"], [100, 1900])
    x = rng.normal(np.where(y == "rare", 1.0, 0.0), 1.0)[:, None]
    nb = NaiveBayes(class_prior="uniform").fit(x, y)
    recall = np.mean(nb.predict(x)[y == "rare"] == "rare")
    assert 0.6 < recall < 0.8  # 0.69 by the exact posterior


def test_the_first_batch_may_be_of_one_class() -> None:
    nb = NaiveBayes("gaussian", class_prior=[0.3, 0.7])
    nb.partial_fit([[1.0, 1.0], [2.0, 1.5]], [0, 0], classes=[0, 1])
    assert nb.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(np.exp(nb.class_log_prior_), [0.3, 0.7])
    assert nb.predict_proba([[1.0, 1.0]]).shape == (1, 2)
    more = [[4.0, 4.0], [5.0, 3.0]]
    nb.partial_fit(more, [1, 1]).calibrate()
    whole = NaiveBayes("gaussian", class_prior=[0.3, 0.7])
    whole.fit([[1.0, 1.0], [2.0, 1.5], *more], [0, 0, 1, 1])
    np.testing.assert_allclose(nb.predict_proba(more), whole.predict_proba(more), atol=1e-12)


def test_a_row_without_evidence_says_nothing_of_the_class_prior() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat(["a", "b"], 2000)
    x = np.column_stack([rng.normal(np.where(y == "a", 0.0, 2.0), 1.0), rng.normal(size=4000)])
    x[rng.random(4000) < np.where(y == "a", 0.1, 0.15), 0] = np.nan  # in training it is evidence
    there = rng.choice(["a", "b"], 3000, p=[0.6, 0.4])
    numbers = rng.normal(np.where(there == "a", 0.0, 2.0), 1.0)
    new = np.column_stack([numbers, rng.normal(size=3000)])
    holes = np.vstack([new, np.full((99 * len(new), 2), np.nan)])
    for options in OPTIONS.values():
        if "event_models" in options:
            continue
        for prior in ("data", (0.1, 0.9)):
            nb = NaiveBayes(class_prior=prior, **options).fit(x, y)
            found = nb.estimate_class_prior(new)
            assert found[0] == pytest.approx(0.6, abs=0.05)
            np.testing.assert_allclose(nb.estimate_class_prior(holes), found, atol=1e-6)
            nothing = nb.estimate_class_prior(holes[-5:])
            np.testing.assert_allclose(nothing, np.exp(nb.class_log_prior_))


def test_one_class_with_labels_is_refused_and_minus_1_is_no_label() -> None:
    x = np.concatenate([RNG.normal(0, 1, 100), RNG.normal(4, 1, 100)])[:, None]
    y = np.repeat([0, 1], 100)
    nb = NaiveBayes("gaussian", semi_supervised=True)
    with pytest.raises(ValueError, match=r"Only the class 1 has labels.*another class"):
        nb.fit(x, np.where(y == 1, 1, -1))
    few = np.where(np.arange(200) % 10 == 0, y, -1)
    found = nb.fit(x, few).predict_proba(x)
    assert nb.classes_.tolist() == [0, 1]
    as_none = NaiveBayes("gaussian", semi_supervised=True)
    as_none.fit(x, np.where(few == -1, None, few.astype(object)))
    np.testing.assert_array_equal(found, as_none.predict_proba(x))
    some = [-1, -1, 1, None] * 50  # where a label is missing otherwise, -1 is a class
    assert NaiveBayes("gaussian", semi_supervised=True).fit(x, some).classes_.tolist() == [-1, 1]


def test_an_object_takes_the_estimate_of_its_estimator_unless_it_has_its_own() -> None:
    x, y = [[1], [1], [0], [1], [0]], ["a", "a", "a", "b", "b"]
    own = Bernoulli(prior=Beta(2, 2))
    options: dict[str, Any] = {"class_prior": Beta(3, 2), "weights": None}
    nb = NaiveBayes(own, estimate="map", **options).fit(x, y)
    p = nb.inspect.parameters().to_dict()
    of_true = [v for v, item in zip(p["value"], p["column"], strict=True) if item == "x0"]
    assert of_true == pytest.approx([(2 + 1) / (3 + 2), (1 + 1) / (2 + 2)])
    assert np.exp(nb.class_log_prior_)[1] == pytest.approx((2 + 2) / (5 + 3))
    given = Bernoulli(prior=Beta(2, 2), estimate="mean")
    nb = NaiveBayes(given, estimate="map", **options).fit(x, y)
    p = nb.inspect.parameters().to_dict()
    of_true = [v for v, item in zip(p["value"], p["column"], strict=True) if item == "x0"]
    assert of_true == pytest.approx([(2 + 2) / (3 + 4), (1 + 2) / (2 + 4)])


def test_the_estimate_of_an_object_stays_in_a_model_file(tmp_path: Path) -> None:
    x, y = [[1], [1], [0], [1], [0]], ["a", "a", "a", "b", "b"]
    nb = NaiveBayes(Bernoulli(prior=Beta(2, 2)), estimate="map", weights=None).fit(x, y)
    nb.save(tmp_path / "m.naively")
    again = load(tmp_path / "m.naively")
    assert again.estimate == "map"
    np.testing.assert_array_equal(again.predict_proba(x), nb.predict_proba(x))
    again.partial_fit(x, y)
    np.testing.assert_array_equal(again.predict_proba(x), nb.partial_fit(x, y).predict_proba(x))
