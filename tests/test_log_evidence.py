"""The evidence of labelled rows: sums over classes and columns of integrals over parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

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


def integral(likelihood, prior, low, high):
    """Integrate the likelihood of each class times the prior, and sum the logarithms."""
    total = 0.0
    for label in "ab":
        found, _ = integrate.quad(
            lambda t, label=label: np.exp(likelihood(t, label == Y)) * prior.pdf(t), low, high,
            epsabs=0, epsrel=1e-10, limit=200,
        )  # fmt: skip
        total += np.log(found)
    return total


AT_MEAN = stats.gamma(COUNT.mean(), scale=1)  # of both classes: the prior is one pretend row


@pytest.mark.parametrize(
    ("column", "event", "log_p", "prior", "high"),
    [
        (TRUTH, Bernoulli(prior=Beta(2, 3)), stats.bernoulli.logpmf, stats.beta(2, 3), 1),
        (COUNT, Poisson(prior=Gamma(2, 1)), stats.poisson.logpmf, stats.gamma(2, scale=1), 20),
        (COUNT, Poisson(alpha=1.0), stats.poisson.logpmf, AT_MEAN, 20),
        (SPAN, Exponential(prior=Gamma(2, 1)), lambda x, r: stats.expon.logpdf(x, scale=1 / r),
         stats.gamma(2, scale=1), 10),
    ],
    ids=["truths", "counts", "counts under a prior of all rows", "times"],
)  # fmt: skip
def test_it_is_integrated_over_the_parameter(column, event, log_p, prior, high):
    right = integral(lambda t, rows: log_p(column[rows], t).sum(), prior, 0, high)
    assert of(column, event) == pytest.approx(right, rel=1e-9)


def test_levels_are_a_dirichlets_urn():
    right = 0.0
    for label in "ab":
        seen: list[str] = []
        for level in COLOUR[label == Y]:
            right += np.log((seen.count(level) + 0.5) / (len(seen) + 1.5))
            seen.append(level)
    assert of(COLOUR, Categorical(prior=Dirichlet(0.5))) == pytest.approx(right, rel=1e-9)


def test_numbers_are_predicted_one_after_the_other_by_students_t():
    prior = NormalInverseGamma(0, 1, 2, 2)
    right = 0.0
    for label in "ab":
        x = REAL[label == Y]
        for i in range(len(x)):
            rows = 1 + i
            mean = x[:i].sum() / rows
            spread = (x[:i] ** 2).sum() - rows * mean**2
            shape, scale = 2 + i / 2, 2 + spread / 2
            width = np.sqrt(scale / shape * (1 + 1 / rows))
            right += stats.t(2 * shape, mean, width).logpdf(x[i])
    assert of(REAL, Gaussian(prior=prior)) == pytest.approx(right, rel=1e-9)


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
