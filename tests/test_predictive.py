"""Rates that are integrated out, of a column of zeros and of a class without any value."""

from functools import partial

import numpy as np
import pytest
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
