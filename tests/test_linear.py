"""The linear view: the sign of w·x + b is the prediction, and logistic regression finds it too."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from naively import (
    Bernoulli,
    BernoulliNB,
    Beta,
    Categorical,
    CategoricalNB,
    Complement,
    ComplementNB,
    EventModel,
    Exponential,
    Gamma,
    Gaussian,
    GaussianNB,
    Geometric,
    Histogram,
    JointTable,
    KernelDensity,
    LogNormal,
    Multinomial,
    MultinomialNB,
    NaiveBayes,
    Poisson,
)
from naively.terms.functions import Line
from tests.alike import added
from tests.cases import by_event
from tests.linear_parts import with_linear_part

Pure = partial(NaiveBayes, weights=None)

RNG = np.random.default_rng(0)
TWO = np.array(["no", "yes"])[RNG.integers(0, 2, 80)]
THREE = np.array(["a", "b", "c"])[RNG.integers(0, 3, 80)]
COUNT = RNG.poisson(2, (80, 4)).astype(float)
REAL = RNG.normal(1e3, 2, (80, 3))
LEVELS = {"colour": RNG.choice(["red", "green", "blue"], 80), "size": RNG.choice([1, 2, 3], 80)}
TEXTS = [" ".join(RNG.choice(["buy", "now", "lunch", "at", "noon"], 4)) for _ in range(80)]

LINEAR = [
    (Bernoulli(), COUNT > 1), (Bernoulli(prior=Beta(2, 3)), (COUNT > 1).astype(float)),
    (Bernoulli(), TEXTS), (Categorical(), LEVELS), (Categorical(), COUNT.astype(int)),
    (Multinomial(), COUNT), (Multinomial(alpha=0.3), TEXTS), (Complement(), COUNT),
    (Complement(norm=True), COUNT), (Complement(), TEXTS), (Poisson(), COUNT), (Geometric(), COUNT),
    (Exponential(), COUNT + 0.5), (Exponential(prior=Gamma(2, 1)), COUNT),
    (Gaussian(variance="shared"), REAL), (Gaussian(variance=4.0), REAL), (JointTable(), LEVELS),
    ("auto", {"colour": LEVELS["colour"], "in": COUNT[:, 0] > 1}),
]  # fmt: skip


def design(X: Any, names: list[str], event: Any) -> np.ndarray:
    """Make the features from the rows by their names alone, cell by cell."""
    if isinstance(X, list):
        rows = [{f"text={word}": text.split().count(word) for word in text.split()} for text in X]
        if isinstance(event, Bernoulli):
            rows = [dict.fromkeys(row, 1) for row in rows]
    elif isinstance(X, dict):
        table = {name: column.tolist() for name, column in X.items()}
        cells = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        rows = [
            {f"{c}={v}": 1 for c, v in row.items()} | {c: v for c, v in row.items() if v is True}
            for row in cells
        ]
        if isinstance(event, JointTable):
            rows = [{f"{', '.join(row)}={tuple(row.values())}": 1} for row in cells]
    elif isinstance(event, Categorical):
        rows = [{f"x{j}={v}": 1 for j, v in enumerate(row)} for row in X.tolist()]
    else:
        rows = [{f"x{j}": float(v) for j, v in enumerate(row)} for row in X.tolist()]
    return np.array([[row.get(name, 0) for name in names] for row in rows], float)


@pytest.mark.parametrize(("event", "X"), LINEAR, ids=by_event)
def test_the_sign_of_w_x_plus_b_is_the_prediction(event: EventModel, X: Any) -> None:
    for prior in ("data", [0.9, 0.1]):
        nb = Pure(event, class_prior=prior).fit(X, TWO)
        view = nb.inspect.linear()
        w, b = view.coef[0], view.intercept[0]
        odds = design(X, view.feature_names.tolist(), event) @ w + b
        joint = nb.predict_joint_log_proba(X)
        np.testing.assert_allclose(odds, joint[:, 1] - joint[:, 0], rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(view.classes[(odds > 0).astype(int)], nb.predict(X))


@pytest.mark.parametrize(("event", "X"), LINEAR, ids=by_event)
def test_the_largest_of_several_is_the_prediction(event: EventModel, X: Any) -> None:
    nb = Pure(event).fit(X, THREE)
    view = nb.inspect.linear()
    score = design(X, view.feature_names.tolist(), event) @ view.coef.T + view.intercept
    np.testing.assert_array_equal(view.classes[score.argmax(axis=1)], nb.predict(X))
    score -= np.logaddexp.reduce(score, axis=1, keepdims=True)
    np.testing.assert_allclose(score, nb.predict_log_proba(X), rtol=1e-8, atol=1e-9)


def test_weights_of_columns_are_in_it() -> None:
    X = {
        "in": np.tile([True, True, False, True], 20),
        "same": np.tile([True, True, False, False], 20),
    }
    y = np.tile(["yes", "yes", "no", "no"], 20)
    nb = NaiveBayes(weights="loo").fit(X, y)
    assert nb.weights_.by_name["in"]["yes"] != 1.0
    view = nb.inspect.linear()
    odds = np.column_stack([X[name] for name in view.feature_names]) @ view.coef[0] + view.intercept
    joint = nb.predict_joint_log_proba(X)
    np.testing.assert_allclose(odds, joint[:, 1] - joint[:, 0], rtol=1e-9)


@pytest.mark.parametrize("make", [BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB])
def test_drop_ins_are_linear_too(make: Any) -> None:
    nb = make().fit(COUNT.astype(int), TWO)
    view = nb.inspect.linear()
    X = COUNT.astype(int) if make is not BernoulliNB else COUNT > 0
    event = Categorical() if make is CategoricalNB else None
    odds = design(X, view.feature_names.tolist(), event) @ view.coef[0] + view.intercept[0]
    np.testing.assert_array_equal(view.classes[(odds > 0).astype(int)], nb.predict(COUNT))


DEFAULT = [
    "bernoulli", "categorical", "poisson", "geometric", "exponential", Gaussian(variance="shared"),
    {"n": Gaussian(variance="shared"), "t": "bernoulli", "c": "poisson"},
]  # fmt: skip


def mixed(seed: int = 0) -> pd.DataFrame:
    """Return numbers, counts, truths and levels that depend on the class, with missing cells."""
    rng = np.random.default_rng(seed)
    second = TWO == "yes"
    return pd.DataFrame(
        {
            "n": rng.normal(second, 1.0),
            "c": rng.poisson(1 + second).astype(float),
            "t": rng.random(80) < 0.3 + 0.4 * second,
            "l": rng.choice(["u", "v", "w"], 80),
        }
    )


def by_names(X: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Make the features of a table from its cells by their names alone."""
    found = []
    for name in names:
        clipped = re.fullmatch(r"(.+) in \[(.+), (.+)\]", name)
        if clipped:
            column, low, high = clipped.groups()
            found.append(np.clip(X[column].to_numpy(float), float(low), float(high)))
        elif "=" in name:
            column, level = name.split("=")
            found.append((X[column].astype(str) == level).to_numpy(float))
        else:
            found.append(X[name].to_numpy(float))
    return np.stack(found, axis=1)


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("event", DEFAULT, ids=str)
@pytest.mark.parametrize("made_up", [False, True])
def test_of_default_weights_it_is_the_joint_of_rows_without_missing_cells(
    event: Any, labels: Any, made_up: bool
) -> None:
    columns = {"bernoulli": ["t"], "categorical": ["t", "l"], "poisson": ["c", "t"]}
    whole = mixed()[columns.get(str(event), ["c", "n", "t"])]
    if event in ("geometric", "exponential"):
        whole = whole.drop(columns="n")
    learned = whole.astype(object)
    rng = np.random.default_rng(1)
    for name in whole:
        learned.loc[rng.random(80) < np.where(TWO == "yes", 0.4, 0.1), name] = None
    learned = learned.astype({name: float for name in whole if whole[name].dtype == float})
    nb = NaiveBayes(event).fit(learned, labels)
    assert any(group.kind == "missing" for group in nb.schema_.groups)
    if made_up:
        with_linear_part(nb)
    view = nb.inspect.linear()
    score = by_names(whole, view.feature_names.tolist()) @ view.coef.T + view.intercept
    joint = nb.predict_joint_log_proba(whole)
    right = joint[:, 1:] - joint[:, :1] if labels is TWO else joint
    # With more classes both are up to a term of each row.
    of_row = 0.0 if labels is TWO else (score - right).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(score, right + of_row, rtol=1e-9, atol=1e-9)


def test_numbers_that_are_clipped_are_named_exactly_and_truths_are_not_clipped() -> None:
    nb = NaiveBayes(DEFAULT[-1]).fit(mixed()[["n", "t", "c"]], TWO)
    weights = with_linear_part(nb).weights_
    names = nb.inspect.linear().feature_names.tolist()
    assert sorted(names) == ["c", "c in [-0.5, 1.25]", "n", "n in [-0.5, 1.25]", "t"]
    of = {
        replace(term, function=replace(term.function, low=17.0, high=90.0 + 1e-13))
        if term.column == "n"
        else term: slope
        for term, slope in weights.linear.of.items()
    }
    nb._exchange(model=nb.model_.weighed(replace(weights, linear=replace(weights.linear, of=of))))
    high = repr(90.0 + 1e-13)
    assert f"n in [17, {high}]" in nb.inspect.linear().feature_names.tolist()


def test_a_step_is_a_feature_of_its_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] > 0.3) & (X[:, 0] < 0.9) | (rng.random(2000) < 0.05)
    nb = NaiveBayes(Gaussian(variance="shared")).fit(X, y)
    view = nb.inspect.linear()
    features = []
    for name in view.feature_names:
        column, _, what = name.partition(" ")
        x = X[:, int(column.removeprefix("x"))]
        if what.startswith(">= "):
            features.append((x >= float(what.removeprefix(">= "))).astype(float))
        elif what:
            low, high = map(float, what.removeprefix("in [").rstrip("]").split(", "))
            features.append(np.clip(x, low, high))
        else:
            features.append(x)
    assert any(">=" in name for name in view.feature_names)
    joint = nb.predict_joint_log_proba(X)
    odds = np.transpose(features) @ view.coef[0] + view.intercept[0]
    np.testing.assert_allclose(odds, joint[:, 1] - joint[:, 0], atol=1e-9)


def test_of_shares_what_is_clipped_is_a_feature_of_its_own() -> None:
    """By hand from the slopes; what clips no number from 0 to 1 is in the weight of its column."""
    whole = pd.DataFrame(np.random.default_rng(2).random((80, 3)), columns=["whole", "up", "down"])
    nb = with_linear_part(NaiveBayes(Bernoulli(threshold=None)).fit(whole, TWO))
    assert nb.weights_ is not None
    linear = nb.weights_.linear
    ends: dict[Any, tuple[float, float]] = {"whole": (0.0, 1.0), "up": (0.25, 1), "down": (0, 0.5)}
    of, expected = {}, np.tile(linear.intercept, (80, 1))
    for term, slope in linear.of.items():
        (low, high), line = ends[term.column], term.function
        assert isinstance(line, Line)
        of[replace(term, function=replace(line, low=low, high=high))] = slope
        z = (np.clip(whole[term.column], low, high).to_numpy() - line.centre) / line.scale
        expected += z[:, None] * np.array(slope)
    nb._exchange(model=nb.model_.weighed(replace(nb.weights_, linear=replace(linear, of=of))))
    np.testing.assert_allclose(added(nb, whole), expected, atol=1e-12)
    view = nb.inspect.linear()
    names = view.feature_names.tolist()
    assert names == ["whole", "up", "down", "up in [0.25, 1]", "down in [0, 0.5]"]
    joint = nb.predict_joint_log_proba(whole)
    score = by_names(whole, names) @ view.coef[0] + view.intercept[0]
    np.testing.assert_allclose(score, joint[:, 1] - joint[:, 0], atol=1e-12)


def test_products_are_not_linear_and_it_says_why() -> None:
    nb = with_linear_part(NaiveBayes("bernoulli").fit(COUNT > 1, TWO))
    nb.inspect.linear()
    with_linear_part(nb, products=1)
    with pytest.raises(ValueError, match=r"not linear in its interactions: each is of several"):
        nb.inspect.linear()


CURVED = [
    (Gaussian(), REAL, "gaussian columns: each class has a variance of its own"),
    (LogNormal(variance="shared"), REAL, "linear in the logarithms"),
    (Poisson(estimate="predictive"), COUNT, "integrated out are a curve"),
    (Gaussian(estimate="predictive"), REAL, "integrated out are a curve"),
    (Histogram(), REAL, "the log odds of histograms"),
    (KernelDensity(), REAL, "densities and what is integrated out are a curve"),
    (Multinomial(alpha=0), np.eye(80), "impossible in a class has no finite weight; smooth"),
    (Categorical(alpha=0), np.eye(80)[:, :1], "a level that is impossible in a class"),
]


@pytest.mark.parametrize(("event", "X", "why"), CURVED, ids=by_event)
def test_what_is_not_linear_says_why(event: EventModel, X: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Pure(event).fit(X, TWO).inspect.linear()
    if isinstance(event, Gaussian) and event.name == "gaussian":
        with pytest.raises(ValueError, match="not linear in its gaussian"):
            GaussianNB().fit(X, TWO).inspect.linear()


GENERATED = [
    (Bernoulli(), COUNT > 1),
    (Poisson(), COUNT),
    (Exponential(), COUNT + 0.5),
    (Gaussian(variance="shared"), REAL - 1e3),
]


@pytest.mark.slow
@pytest.mark.parametrize(("event", "X"), GENERATED, ids=by_event)
def test_logistic_regression_converges_to_it(event: EventModel, X: Any) -> None:
    """On rows that obey the assumption both find the truth, and their distance ~ 1 / sqrt(n)."""
    true = Pure(event).fit(X, TWO)
    distance = {}
    for n in (400, 6400):
        apart = []
        for seed in range(8):
            rows, y = true.inspect.sample(n, random_state=seed)
            theirs = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(rows, y)
            apart.append(
                np.abs(theirs.coef_ - Pure(event).fit(rows, y).inspect.linear().coef).max()
            )
        distance[n] = np.mean(apart)
    assert 2.5 < distance[400] / distance[6400] < 6.4  # 4 is expected
