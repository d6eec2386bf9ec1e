"""Decisions by cost, with a right to be unsure, and under another class prior, by brute force."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from naively import NaiveBayes
from naively.model.class_prior import decide, estimate_prior, shift

CLASSES = {2: np.array(["ham", "spam"]), 3: np.array([-1, 0, 7]), 4: np.array(["a", "b", "c", "d"])}


@st.composite
def shares(draw: Any, k: int, least: int = 0) -> list[Fraction]:
    """Draw probabilities that are exact, with ties and zeros."""
    counts = draw(st.lists(st.integers(least, 4), min_size=k, max_size=k).filter(any))
    return [Fraction(count, sum(counts)) for count in counts]


@st.composite
def posteriors(draw: Any) -> tuple[list[list[Fraction]], np.ndarray]:
    k = draw(st.sampled_from(sorted(CLASSES)))
    return draw(st.lists(shares(k), min_size=1, max_size=6)), CLASSES[k]


def as_floats(p: list[list[Fraction]]) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in p])


@given(of=posteriors(), data=st.data())
def test_the_answer_has_the_least_expected_cost(of: Any, data: Any) -> None:
    p, classes = of
    k = len(classes)
    row = st.lists(st.integers(-2, 20), min_size=k, max_size=k)
    cost = data.draw(st.lists(row, min_size=k, max_size=k))
    answers = decide(as_floats(p), classes, cost)
    for one, answer in zip(p, answers.tolist(), strict=True):
        expected = [sum(one[right] * cost[right][a] for right in range(k)) for a in range(k)]
        least = {classes[a].item() for a in range(k) if expected[a] == min(expected)}
        assert answer in least


@given(of=posteriors(), data=st.data())
def test_costs_by_name_are_those_of_the_table(of: Any, data: Any) -> None:
    p, classes = of
    labels = classes.tolist()
    pairs = st.tuples(st.sampled_from(labels), st.sampled_from(labels))
    given_ = data.draw(st.dictionaries(pairs, st.integers(0, 9), max_size=6))
    by_name: dict[Any, dict[Any, float]] = {}
    for (right, answer), cost in given_.items():
        by_name.setdefault(right, {})[answer] = cost
    table = [[given_.get((right, a), float(right != a)) for a in labels] for right in labels]
    answers = [decide(as_floats(p), classes, cost) for cost in (by_name, table, np.array(table))]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_the_answer_of_least_cost_is_explained() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    x = (rng.normal(size=300) + y)[:, None]
    nb = NaiveBayes("gaussian").fit(x, np.array(["a", "b", "c"])[y])
    cost = rng.random((3, 3)) * [[9.0], [1.0], [5.0]]
    explained = nb.explain(x, cost=cost)
    answers = nb.predict(x, cost=cost)
    assert nb.classes_[[row.best for row in explained]].tolist() == answers.tolist()
    other = int(np.flatnonzero(answers != nb.predict(x))[0])
    said = str(explained[other]).split("\n")[0]
    assert said.startswith(f"{str(answers[other])!r} against ")
    assert said.endswith(f"; of least cost, most probable: {str(nb.predict(x[[other]])[0])!r})")
    assert "cost" not in str(nb.explain(x[[other]]))


def test_costs_of_numbers_that_are_labels_as_strings_are_refused_with_a_hint() -> None:
    nb = NaiveBayes("gaussian").fit([[0.0], [1.0]], ["0", "1"])
    with pytest.raises(ValueError, match="are strings, write '1'"):
        nb.predict([[0.0]], cost={1: {0: 20}})


@given(of=posteriors(), reject=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_below_the_threshold_it_is_unsure(of: Any, reject: float) -> None:
    p, classes = of
    answers = decide(as_floats(p), classes, reject=reject)
    assert answers.dtype == object
    for one, answer in zip(p, answers.tolist(), strict=True):
        best = classes.tolist()[one.index(max(one))]  # the first of several
        # Quarters are exact floats.
        assert answer == ("unsure" if float(max(one)) < reject else best)


@given(of=posteriors())
def test_without_costs_the_most_probable_class_is_the_answer(of: Any) -> None:
    p, classes = of
    wrong = 1 - np.eye(len(classes))  # every mistake costs the same
    best = [classes.tolist()[one.index(max(one))] for one in p]
    assert decide(as_floats(p), classes).tolist() == best
    for one, answer in zip(p, decide(as_floats(p), classes, wrong).tolist(), strict=True):
        assert one[classes.tolist().index(answer)] == max(one)


def test_the_probability_of_the_answer_is_what_reject_looks_at() -> None:
    p = np.array([[0.75, 0.25], [0.25, 0.75]])
    cost = {"spam": {"ham": 9.0}}  # so that spam is the answer although ham is more probable
    assert decide(p, CLASSES[2], cost).tolist() == ["spam", "spam"]
    assert decide(p, CLASSES[2], cost, reject=0.5).tolist() == ["unsure", "spam"]


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[0, 1]], r"2 right classes × 2 answers, got shape \(1, 2\)"),
        ([[0, np.nan], [1, 0]], "finite table"),
        ({"ham": {"eggs": 1.0}}, r"cost names the class 'eggs'; the classes are \['ham', 'spam'\]"),
    ],
)
def test_costs_that_are_wrong_are_said(cost: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decide(np.array([[0.5, 0.5]]), CLASSES[2], cost)


@pytest.mark.parametrize("reject", [-0.1, 1.1, np.nan])
def test_a_threshold_is_a_probability(reject: float) -> None:
    with pytest.raises(ValueError, match="reject must be a probability, from 0 to 1"):
        decide(np.array([[0.5, 0.5]]), CLASSES[2], reject=reject)


@given(data=st.data(), k=st.integers(2, 4))
def test_another_class_prior_is_bayes_theorem(data: Any, k: int) -> None:
    prior, other = data.draw(shares(k, least=1)), data.draw(shares(k))
    likelihood = data.draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))
    evidence_ = sum(q * x for q, x in zip(prior, likelihood, strict=True))
    p = [q * x / evidence_ for q, x in zip(prior, likelihood, strict=True)]
    of_other = sum(q * x for q, x in zip(other, likelihood, strict=True))
    # Where every class that may be is impossible, nothing but the prior is known.
    right = [q * x / of_other if of_other else q for q, x in zip(other, likelihood, strict=True)]
    found = shift(as_floats([p]), *as_floats([prior, other]))
    np.testing.assert_allclose(found, as_floats([right]), atol=1e-12)


def test_a_class_that_could_not_be_does_not_become_possible() -> None:
    found = shift(np.array([[1.0, 0.0]]), np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    assert found.tolist() == [[1.0, 0.0]]


def clouds(rows: int, prior: list[float], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(len(prior), rows, p=prior)
    return rng.normal(2.0 * np.stack([y == 1, y == 2], axis=1)), y


def test_predict_proba_under_another_prior_is_that_of_a_model_with_it() -> None:
    X, y = clouds(300, [0.5, 0.3, 0.2], 0)
    new = clouds(50, [0.2, 0.2, 0.6], 1)[0]
    nb = NaiveBayes("gaussian", weights=None).fit(X, y)
    for other in ([0.1, 0.2, 0.7], {2: 0.7, 0: 0.1, 1: 0.2}, np.array([0.1, 0.2, 0.7])):
        learned = NaiveBayes("gaussian", weights=None, class_prior=[0.1, 0.2, 0.7]).fit(X, y)
        found = nb.predict_proba(new, class_prior=other)
        np.testing.assert_allclose(found, learned.predict_proba(new), atol=1e-12)
    with pytest.raises(ValueError, match=r"class_prior must have one .* classes \[0, 1, 2\]"):
        nb.predict_proba(new, class_prior=[0.5, 0.5])


def test_predict_decides_by_its_own_probabilities() -> None:
    X, y = clouds(300, [0.5, 0.3, 0.2], 0)
    nb = NaiveBayes().fit(X, y)
    p, cost = nb.predict_proba(X), np.array([[0, 1, 5], [1, 0, 5], [9, 9, 0]])
    np.testing.assert_array_equal(nb.predict(X, cost=cost), (p @ cost).argmin(axis=1))
    unsure = nb.predict(X, reject=0.8) == "unsure"
    np.testing.assert_array_equal(unsure, p.max(axis=1) < 0.8)
    assert 0 < unsure.mean() < 1


@pytest.mark.parametrize("k", [2, 3])
def test_the_estimated_prior_is_the_most_likely(k: int) -> None:
    rng = np.random.default_rng(k)
    prior = np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()
    p = rng.dirichlet(np.ones(k) * 0.7, 200) * (2.0 if k == 2 else 1.0) * prior[::-1]
    p /= p.sum(axis=1, keepdims=True)

    def loss(q: np.ndarray) -> float:
        return -np.log((p / prior) @ q).mean()

    starts = rng.dirichlet(np.ones(k), 5)
    searches = [
        minimize(
            loss,
            start,
            method="SLSQP",
            bounds=[(1e-9, 1)] * k,
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1},
            options={"ftol": 1e-14},
        )
        for start in starts
    ]
    found = estimate_prior(p, prior)
    assert found.sum() == pytest.approx(1)
    assert loss(found) <= min(search.fun for search in searches) + 1e-8
    best = min(searches, key=lambda search: search.fun)
    np.testing.assert_allclose(found, best.x, atol=1e-3)


def test_estimate_class_prior_finds_how_frequent_the_classes_are() -> None:
    X, y = clouds(3000, [0.6, 0.3, 0.1], 0)
    nb = NaiveBayes("gaussian").fit(X, y)
    where = [0.1, 0.3, 0.6]
    new, right = clouds(3000, where, 1)
    found = nb.estimate_class_prior(new)
    np.testing.assert_allclose(found, where, atol=0.04)
    better = nb.predict_proba(new, class_prior=found).argmax(axis=1) == right
    assert better.mean() > (nb.predict(new) == right).mean() + 0.02
