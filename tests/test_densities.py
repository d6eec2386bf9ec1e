"""Likelihood, prior, posterior and evidence, against SciPy's integrals and distributions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln

from naively import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Histogram,
    InverseGamma,
    LogNormal,
    Multinomial,
    NegativeBinomial,
    Normal,
    NormalInverseGamma,
    Poisson,
)
from tests.cases import by_event

TRUTHS = [1, 1, 0, 1, None]
COUNTS = [3.0, 0.0, 5.0, np.nan]
TIMES = [0.7, 2.5, 1.25]
NUMBERS = [1.5, 3.25, -0.5, 2.0]

ONE = [  # event, sample, parameter, its range, SciPy's log probability of one value
    (Bernoulli(prior=Beta(2, 3.5)), TRUTHS, "p", (0, 1), stats.bernoulli.logpmf),
    (Bernoulli(alpha=0.5), TRUTHS, "p", (0, 1), stats.bernoulli.logpmf),
    (Poisson(prior=Gamma(2, 0.5)), COUNTS, "rate", (0, 60), stats.poisson.logpmf),
    (Exponential(prior=Gamma(2, 3)), TIMES, "rate", (0, 30),
     lambda x, r: stats.expon.logpdf(x, scale=1 / r)),
    (Binomial(trials=6, prior=Beta(2, 3)), COUNTS, "p", (0, 1),
     lambda x, p: stats.binom.logpmf(x, 6, p)),
    (Gaussian(mean=1.0, prior=InverseGamma(3, 4)), NUMBERS, "variance", (0, 80),
     lambda x, v: stats.norm.logpdf(x, 1, np.sqrt(v))),
    (Geometric(prior=Beta(2, 3)), COUNTS, "p", (0, 1), lambda x, p: stats.geom.logpmf(x + 1, p)),
    (NegativeBinomial(r=2.5, prior=Beta(2, 3)), COUNTS, "p", (0, 1),
     lambda x, p: stats.nbinom.logpmf(x, 2.5, p)),
    (Gaussian(variance=4.0, prior=Normal(1, 2)), NUMBERS, "mean", (-30, 30),
     lambda x, m: stats.norm.logpdf(x, m, 2)),
]  # fmt: skip
one = pytest.mark.parametrize(("event", "sample", "name", "ends", "log_p"), ONE, ids=by_event)


def log_likelihood(sample: Any, log_p: Any, parameter: Any) -> np.ndarray:
    """Return the sum of SciPy's log probabilities over the values that are there."""
    x = np.array([v for v in sample if v is not None and not np.isnan(v)], float)
    return sum(log_p(v, np.asarray(parameter)) for v in x)


@one
def test_likelihood_at_a_parameter_is_scipys(event, sample, name, ends, log_p) -> None:  # noqa: ARG001
    grid = np.array([[0.1, 0.4], [0.7, 0.9]])
    expected = log_likelihood(sample, log_p, grid)
    np.testing.assert_allclose(event.log_likelihood_at(sample, **{name: grid}), expected)
    at = event.log_likelihood_at(sample, **{name: 0.4})
    assert isinstance(at, float)
    assert at == pytest.approx(expected[0, 1], rel=1e-12)
    mle = event.fit(sample).mle
    mle = mle[name] if isinstance(mle, dict) else mle
    of = replace(event, estimate="mle").fit(sample)
    assert of.log_likelihood(sample) == pytest.approx(of.log_likelihood_at(**{name: mle}))


@one
def test_evidence_is_the_integral_of_likelihood_times_prior(
    event, sample, name, ends, log_p
) -> None:
    estimate = event.fit(sample)
    prior = estimate.prior
    match prior:
        case Beta():
            density = stats.beta(prior.a, prior.b).pdf
        case Gamma():
            density = stats.gamma(prior.shape, scale=1 / prior.rate).pdf
        case InverseGamma():
            density = stats.invgamma(prior.shape, scale=prior.scale).pdf
        case _:
            density = stats.norm(prior.mean, np.sqrt(prior.variance)).pdf
    found, _ = integrate.quad(
        lambda t: np.exp(log_likelihood(sample, log_p, t)) * density(t), *ends, points=[0.5, 1.5]
    )
    assert estimate.log_evidence == pytest.approx(np.log(found), abs=1e-7)
    for t in (0.2, 0.6):
        assert estimate.log_prior_at(**{name: t}) == pytest.approx(np.log(density(t)))
        rest = estimate.log_joint_at(**{name: t}) - estimate.log_posterior_at(**{name: t})
        assert rest == pytest.approx(estimate.log_evidence, abs=1e-9)
    posterior, _ = integrate.quad(
        lambda t: np.exp(estimate.log_posterior_at(**{name: t})), ends[0] + 1e-12, ends[1]
    )
    assert posterior == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(("event", "sample"), [case[:2] for case in ONE], ids=by_event)
def test_evidence_of_all_is_that_of_some_and_of_the_rest_given_them(event, sample) -> None:
    some, rest = event.fit(sample[:2]), sample[2:]
    after = replace(event, prior=some.updated).fit(rest)
    both = some.log_evidence + after.log_evidence
    assert event.fit(sample).log_evidence == pytest.approx(both, abs=1e-10)
    empty = event.fit([np.nan])
    assert empty.log_evidence == pytest.approx(0, abs=1e-12)


PREDICTIVE = [
    *(case[:2] for case in ONE if case[0].name != "negative_binomial"),
    (NegativeBinomial(r=3, prior=Beta(2, 3)), COUNTS),  # SciPy has it of whole r alone
    (Gaussian(prior=NormalInverseGamma(0.5, 2, 3, 4)), NUMBERS),
]


@pytest.mark.parametrize(("event", "sample"), PREDICTIVE, ids=by_event)
@pytest.mark.parametrize("x", [0.0, 1.0])
def test_the_predictive_is_the_ratio_of_evidences(event, sample, x) -> None:
    estimate = event.fit(sample)
    ratio = event.fit([*sample, x]).log_evidence - estimate.log_evidence
    predictive = estimate.predictive
    log_p = getattr(predictive, "logpdf", None) or predictive.logpmf
    assert log_p(x) == pytest.approx(ratio, rel=1e-9)
    urn = replace(event, estimate="predictive").fit(sample)
    assert urn.log_likelihood([x]) == pytest.approx(ratio, rel=1e-9)


@one
def test_the_posterior_is_the_density_at_each_parameter(event, sample, name, ends, log_p) -> None:  # noqa: ARG001
    estimate = event.fit(sample)
    for t in (0.2, 0.7):
        at = estimate.log_posterior_at(**{name: t})
        assert estimate.posterior.logpdf(t) == pytest.approx(at, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("event", [Gaussian, LogNormal])
def test_evidence_of_mean_and_variance(event) -> None:
    sample = np.array([1.5, 3.25, 0.5, 2.0])
    prior = NormalInverseGamma(0.5, 2, 3, 1.5)
    estimate = event(prior=prior).fit(sample)
    one = stats.norm if event is Gaussian else stats.lognorm

    def log_p(mean, variance):
        if event is Gaussian:
            return stats.norm.logpdf(sample[:, None], mean, np.sqrt(variance)).sum(axis=0)
        return one.logpdf(sample[:, None], np.sqrt(variance), scale=np.exp(mean)).sum(axis=0)

    def joint(mean, variance):
        of_prior = stats.invgamma.logpdf(variance, 3, scale=1.5) + stats.norm.logpdf(
            mean, 0.5, np.sqrt(variance / 2)
        )
        return np.exp(log_p(np.array([mean]), variance)[0] + of_prior)

    found, _ = integrate.dblquad(joint, 1e-3, 40, -8, 8, epsabs=1e-8, epsrel=1e-4)
    assert estimate.log_evidence == pytest.approx(np.log(found), abs=1e-4)
    for mean, variance in ((0.0, 1.0), (2.0, 0.5)):
        at = {"mean": mean, "variance": variance}
        known = log_p(np.array([mean]), variance)[0]
        assert estimate.log_likelihood_at(**at) == pytest.approx(known)
        assert estimate.log_joint_at(**at) == pytest.approx(np.log(joint(mean, variance)))
        rest = estimate.log_joint_at(**at) - estimate.log_posterior_at(**at)
        assert rest == pytest.approx(estimate.log_evidence, abs=1e-9)
    first = event(prior=prior).fit(sample[:1])
    then = event(prior=first.updated).fit(sample[1:])
    assert estimate.log_evidence == pytest.approx(first.log_evidence + then.log_evidence, abs=1e-10)
    # The first value's evidence is Student's predictive density before any value.
    shape = event(prior=prior).log_likelihood_at(
        sample, mean=np.zeros((5, 1)), variance=np.ones((1, 7))
    )
    assert np.shape(shape) == (5, 7)
    scale = np.sqrt(1.5 / 3 * 3 / 2)
    x = sample[0] if event is Gaussian else np.log(sample[0])
    jacobian = 0 if event is Gaussian else -np.log(sample[0])
    student = stats.t.logpdf(x, 6, 0.5, scale) + jacobian
    assert first.log_evidence == pytest.approx(student, abs=1e-12)


def test_evidence_of_levels_is_polyas_urn() -> None:
    event = Categorical(prior=Dirichlet([1.5, 0.5, 2]))
    estimate = event.fit(["r", "g", "r", "b", None, "r"])
    urn, log_p = {"r": 1.5, "g": 0.5, "b": 2.0}, 0.0
    for level in ["r", "g", "r", "b", "r"]:  # in their order
        log_p += np.log(urn[level] / sum(urn.values()))
        urn[level] += 1
    assert estimate.log_evidence == pytest.approx(log_p, abs=1e-12)
    p = {"r": 0.5, "g": 0.2, "b": 0.3}
    expected = 3 * np.log(0.5) + np.log(0.2) + np.log(0.3)
    assert estimate.log_likelihood_at(p=p) == pytest.approx(expected)
    posterior = stats.dirichlet([4.5, 1.5, 3]).logpdf([0.5, 0.2, 0.3])
    assert estimate.log_posterior_at(p=p) == pytest.approx(posterior)
    assert estimate.log_joint_at(p=p) - posterior == pytest.approx(log_p)


def test_evidence_of_counts_has_their_coefficient() -> None:
    event = Multinomial(prior=Dirichlet([1.5, 0.5, 2]))
    estimate = event.fit([2, 1, 4])
    expected = stats.dirichlet_multinomial([1.5, 0.5, 2], 7).logpmf([2, 1, 4])
    assert estimate.log_evidence == pytest.approx(expected, abs=1e-12)
    p = [0.3, 0.1, 0.6]
    known = stats.multinomial(7, p).logpmf([2, 1, 4])
    assert estimate.log_likelihood_at(p=p) == pytest.approx(known)
    assert Categorical().fit(["a", "a"]).log_evidence == pytest.approx(0, abs=1e-12)
    urn = replace(event, estimate="predictive").fit([2, 1, 4])
    assert urn.log_evidence == pytest.approx(expected, abs=1e-12)


def test_evidence_of_several_columns_is_their_sum() -> None:
    X = np.array([[1, 0], [1, 1], [0, 0], [1, 0]])
    both = Bernoulli(prior=Beta([1, 2], [3, 1])).fit(X)
    alone = [Bernoulli(prior=Beta(a, b)).fit(X[:, j]) for j, (a, b) in enumerate([(1, 3), (2, 1)])]
    assert both.log_evidence == pytest.approx(sum(of.log_evidence for of in alone))
    at = [of.log_posterior_at(p=p) for of, p in zip(alone, (0.3, 0.6), strict=True)]
    assert both.log_posterior_at(p=[0.3, 0.6]) == pytest.approx(sum(at))


def test_weight_2_is_the_row_twice() -> None:
    for event, sample in (
        (Poisson(prior=Gamma(1, 1)), [3, 0, 5]),
        (Categorical(), ["a", "b", "a"]),
        (LogNormal(), [1.0, 2.0, 5.0]),
        (Histogram(), [1.0, 2.0, 5.0]),
    ):
        twice = event.fit([sample[0], *sample])
        weighed = event.fit(sample, sample_weight=[2, 1, 1])
        assert weighed.n == twice.n == 4
        if event.space:
            assert weighed.log_evidence == pytest.approx(twice.log_evidence, abs=1e-12)
        assert str(weighed) == str(twice)
    half = Bernoulli().fit([1, 0, 1, None], sample_weight=[0.5, 1, 1, 9])
    assert half.n == 2.5
    assert half.counts == {"rows": 2.5, "true": 1.5}


def test_a_known_variance_may_be_left_out_and_a_probability_may_be_0() -> None:
    known = Gaussian(variance=4.0).fit([1.0, 2.0])
    assert known.log_likelihood_at(mean=0.0) == known.log_likelihood_at(mean=0.0, variance=4.0)
    assert Bernoulli().log_likelihood_at([1, 1], p=[0.0, 1.0]).tolist() == [-np.inf, 0.0]


def test_a_bayes_factor_is_the_ratio_of_evidences() -> None:
    flips = [1] * 8 + [0] * 2
    unknown = Bernoulli(prior=Beta(1, 1)).fit(flips)
    sure = Bernoulli(prior=Beta(101, 101)).fit(flips)
    # The evidence of eight heads and two tails is B(9, 3) / B(1, 1) = 8! 2! / 11! = 1/495.
    assert np.exp(unknown.log_bayes_factor(p=0.5)) == pytest.approx(1024 / 495)
    ratio = np.exp(betaln(9, 3) - betaln(109, 103) + betaln(101, 101))
    assert np.exp(unknown.log_bayes_factor(sure)) == pytest.approx(ratio)
    assert unknown.log_bayes_factor(sure) == -sure.log_bayes_factor(unknown)
    assert type(unknown.log_bayes_factor(p=0.5)) is float


def test_the_predictive_of_one_column_of_numbers_is_one_distribution() -> None:
    prior = NormalInverseGamma(mean=0, rows=1, shape=2, scale=2)
    assert np.shape(Gaussian(prior=prior).fit(NUMBERS).predictive.mean()) == ()
    known = Gaussian(variance=4.0, prior=Normal(0, 1)).fit(NUMBERS)
    assert np.shape(known.predictive.mean()) == ()
