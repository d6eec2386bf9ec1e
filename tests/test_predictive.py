"""Rates that are integrated out, of a column of zeros and of a class without any value."""

from decimal import Decimal, localcontext
from functools import partial
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from naively import Exponential, Gaussian, Geometric, NaiveBayes, NegativeBinomial, Poisson

EVENTS = (Poisson, Exponential, Geometric, NegativeBinomial)
LABELS = ["a", "a", "b", "b"]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_column_of_zeros_says_nothing_of_a_zero(event, alpha):
    model = event(alpha=alpha, estimate="predictive")
    other = np.array([[1.0], [2.0], [3.0], [2.5]])
    alone = NaiveBayes(model, weights=None).fit(other, LABELS)
    both = NaiveBayes(model, weights=None).fit(np.hstack([0.0 * other, other]), LABELS)
    new = np.array([[1.0], [4.0]])
    expected = alone.predict_proba(new)
    assert both.predict_proba(np.hstack([0.0 * new, new])) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weights", ["loo", None])
@pytest.mark.parametrize("event", EVENTS)
def test_what_never_happened_leaves_a_probability(event, weights):
    X = [[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 2.5]]
    nb = NaiveBayes(event(estimate="predictive"), weights=weights).fit(X, LABELS)
    p = nb.predict_proba([[1.0, 1.0], [0.0, 1.0], [None, None]])
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert p.min() >= 0.0


@pytest.mark.parametrize(
    ("event", "of_all"),
    [
        (Poisson, stats.nbinom(6, 2 / 3).pmf),  # 6 events in 2 rows
        (Exponential, stats.lomax(2, scale=6).pdf),  # 2 rows that sum to 6
        (Geometric, stats.betanbinom(1, 2, 6).pmf),  # 2 successes, 6 failures
        (partial(NegativeBinomial, r=4), stats.betanbinom(4, 8, 6).pmf),
    ],
)
def test_a_class_without_a_value_predicts_as_all_classes_do(event, of_all):
    table = {"x": [2.0, 4.0, None]}
    nb = NaiveBayes(event(alpha=0.0, estimate="predictive"), weights=None)
    nb.fit(table, ["seen", "seen", "unseen"])
    x = [0.0, 1.0, 7.0]
    p = nb.predict_proba({"x": x})
    assert p == pytest.approx(np.tile([2 / 3, 1 / 3], (3, 1)))  # so the class prior decides
    assert np.exp(nb.score_samples({"x": x})) == pytest.approx(of_all(np.array(x)))


@pytest.mark.parametrize(
    ("variance", "of_all"),
    [
        # The posterior of 2 and 4: 2 rows of mean 3, shape 1 + 2 / 2, scale (1 + 1) / 2.
        ("class", stats.t(4, 3, np.sqrt(1 * 3 / (2 * 2)))),
        (4.0, stats.norm(3, np.sqrt(4 * (1 + 1 / 2)))),
    ],
)
def test_a_gaussian_class_without_a_value_predicts_as_all_classes_do(variance, of_all):
    model = Gaussian(smoothing=0, variance=variance, estimate="predictive")
    nb = NaiveBayes(model, weights=None)
    nb.fit({"x": [2.0, 4.0, None]}, ["seen", "seen", "unseen"])
    x = [0.0, 1.0, 7.0]
    assert nb.predict_proba({"x": x}) == pytest.approx(np.tile([2 / 3, 1 / 3], (3, 1)))
    assert np.exp(nb.score_samples({"x": x})) == pytest.approx(of_all.pdf(x))


@given(a=st.floats(1e-3, 1e4), b=st.floats(1e-3, 1e4), x=st.lists(st.integers(0, 5000), min_size=1))
def test_the_next_count_is_a_negative_binomial(a, b, x):
    known = stats.nbinom(a, b / (b + 1)).logpmf(x)
    found = Poisson().log_next(np.array(x, float), np.array(a), np.array(b))
    np.testing.assert_allclose(found, known, rtol=1e-8, atol=1e-8)


@given(
    few=st.integers(1, 60),
    many=st.integers(10**6, 10**15),
    rows=st.integers(1, 10**15),
    many_seen=st.booleans(),
)
def test_the_next_count_is_exact_where_log_factorials_have_no_digits_left(
    few, many, rows, many_seen
):
    check_next_count(*((many, few) if many_seen else (few, many)), rows)


def test_small_next_counts_are_exact():
    for a, x in product([*range(1, 20), 40, 1000], [1, 3, 4, 14, 15, 16, 17, 500]):
        check_next_count(a, x, 1)


def check_next_count(a, x, rows):
    with localcontext(prec=50):
        ways, more = Decimal(comb(a + x - 1, min(a - 1, x))), Decimal(rows + 1)
        exact = float(ways.ln() + a * (rows / more).ln() - x * more.ln())
    found = float(Poisson().log_next(np.array([float(x)]), np.array([a]), np.array([rows]))[0])
    assert found == pytest.approx(exact, rel=1e-12, abs=4e-12)


def test_the_probabilities_of_next_counts_sum_to_one():
    x = np.arange(1e9 - 3e5, 1e9 + 3e5)  # ten standard deviations, of 1e12 events in 1,000 rows
    found = Poisson().log_next(x, np.array(1e12), np.array(1e3))
    assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-8)


def test_what_is_no_count_has_no_probability():
    found = Poisson().log_next(np.array([-1.0, 0.5, 2.0]), np.array(3.0), np.array(2.0))
    np.testing.assert_array_equal(np.isneginf(found), [True, True, False])
