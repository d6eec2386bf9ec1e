"""The evidence of labelled rows: sums over classes and columns of integrals over parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Multinomial,
    NaiveBayes,
    NormalInverseGamma,
    Poisson,
)

rng = np.random.default_rng(0)
N = 40
Y = np.array(["a", "b"])[rng.integers(2, size=N)]
COUNT, SPAN, TRUTH = rng.poisson(3.0, N), rng.exponential(2.0, N), rng.random(N) < 0.3
COLOUR = rng.choice(["red", "blue", "green"], N)
REAL = rng.normal(1.0, 2.0, N)


def of(column, event):
    nb = NaiveBayes({"x": event}, weights=None).fit({"x": column}, Y)
    return nb.inspect.log_marginal_likelihood({"x": column}, Y)


@pytest.mark.parametrize(
    ("column", "event"),
    [
        (TRUTH, Bernoulli(prior=Beta(2, 3))), (COUNT, Poisson(prior=Gamma(2, 1))),
        (SPAN, Exponential(prior=Gamma(2, 1))), (COLOUR, Categorical(prior=Dirichlet(0.5))),
        (REAL, Gaussian(prior=NormalInverseGamma(0, 1, 2, 2))),
    ],
    ids=str,
)  # fmt: skip
def test_it_is_the_sum_of_the_evidence_of_each_class(column, event):
    right = sum(event.fit([*column[label == Y]]).log_evidence for label in "ab")
    assert of(column, event) == pytest.approx(right, rel=1e-9)


def test_every_class_has_the_prior_of_all_rows():
    at_mean = Poisson(prior=Gamma(COUNT.mean(), 1))  # the prior is one pretend row there
    assert of(COUNT, Poisson(alpha=1.0)) == pytest.approx(of(COUNT, at_mean), rel=1e-9)


def test_columns_and_classes_add_up():
    events = {"a": Bernoulli(), "b": Categorical(), "c": Poisson()}
    table = {"a": TRUTH, "b": COLOUR, "c": COUNT}
    whole = NaiveBayes(events, weights=None).fit(table, Y).inspect.log_marginal_likelihood(table, Y)
    parts = [
        NaiveBayes({name: event})
        .fit({name: table[name]}, Y)
        .inspect.log_marginal_likelihood({name: table[name]}, Y)
        for name, event in events.items()
    ]
    assert whole == pytest.approx(sum(parts))


def test_words_are_one_event():
    X = rng.poisson(1.0, (N, 3))
    nb = NaiveBayes(Multinomial(), weights=None).fit(X, Y)
    right = 0.0
    for label in "ab":
        of_class = X[label == Y]
        total = of_class.sum(axis=0)
        right += stats.dirichlet_multinomial.logpmf(total, np.ones(3), total.sum())
        right -= stats.multinomial.logpmf(total, total.sum(), np.full(3, 1 / 3))
        right += sum(stats.multinomial.logpmf(r, r.sum(), np.full(3, 1 / 3)) for r in of_class)
    assert nb.inspect.log_marginal_likelihood(X, Y) == pytest.approx(right)


def test_weight_two_is_the_row_twice():
    nb = NaiveBayes(Poisson(prior=Gamma(2, 1)), weights=None).fit(COUNT[:, None], Y)
    weight = np.arange(N) % 3
    twice = np.repeat(np.arange(N), weight)
    found = nb.inspect.log_marginal_likelihood(COUNT[:, None], Y, weight)
    assert found == pytest.approx(nb.inspect.log_marginal_likelihood(COUNT[twice, None], Y[twice]))


def test_what_was_learned_has_no_say():
    nb = NaiveBayes(Poisson(prior=Gamma(2, 1)), weights=None).fit(COUNT[:, None], Y)
    more = NaiveBayes(Poisson(prior=Gamma(2, 1)), weights=None).fit(COUNT[:20, None], Y[:20])
    assert nb.inspect.log_marginal_likelihood(
        COUNT[:, None], Y
    ) == more.inspect.log_marginal_likelihood(COUNT[:, None], Y)


def test_better_model_has_more_evidence():
    assert of(COUNT, Poisson(prior=Gamma(2, 1))) > of(COUNT, Poisson(prior=Gamma(200, 1)))


def test_column_without_evidence_is_named():
    nb = NaiveBayes(weights=None).fit({"x": REAL}, Y)
    with pytest.raises(ValueError, match="Column 'x' has no evidence: histogram"):
        nb.inspect.log_marginal_likelihood({"x": REAL}, Y)
