"""Estimates of plain samples: worked by hand in fractions, and against SciPy."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import naively
from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Exponential,
    Gaussian,
    Geometric,
    Histogram,
    JointTable,
    LogitNormal,
    LogNormal,
    Multinomial,
    NaiveBayes,
    NegativeBinomial,
    Normal,
    NormalInverseGamma,
    Poisson,
)
from naively.counting.leave_one_out import pseudo_count_of_coins, pseudo_count_of_words
from naively.kernels.double_double import Sums

HEADS = [1] * 8 + [0] * 2


def exactly(*numbers: tuple[float, Fraction]) -> None:
    for mine, fraction in numbers:
        assert mine == pytest.approx(float(fraction), rel=1e-15)


def test_eight_heads_and_two_tails() -> None:
    fair = Bernoulli(prior=Beta(101, 101)).fit(HEADS)
    biased = Bernoulli(prior=Beta(101, 1)).fit(HEADS)
    exactly(
        (fair.mle, Fraction(8, 10)),
        (fair.map, Fraction(108, 210)),
        (fair.mean, Fraction(109, 212)),
        (biased.map, Fraction(108, 110)),
        (Bernoulli().fit([1] * 108 + [0] * 102).mle, Fraction(108, 210)),
    )
    assert fair.posterior.args == (109, 103)
    assert fair.predictive.pmf(1) == pytest.approx(109 / 212)


@pytest.mark.parametrize(
    ("alpha", "expected"), [(0, ("2/3", "1/3")), (1, ("3/5", "2/5")), (100, ("102/203", "101/203"))]
)
def test_laplace(alpha: float, expected: tuple[str, str]) -> None:
    die = Categorical(alpha=alpha).fit(["red", "red", "blue"])
    exactly(*zip(die.mean.values(), map(Fraction, expected), strict=True))


def test_the_pseudo_count_is_of_the_estimate_that_is_set() -> None:
    sample = ["r", "r", "b", "g"]
    for event, alpha in ((Categorical(1.5), 1.5), (Categorical(1.5, estimate="map"), 2.5)):
        mine, its_prior = event.fit(sample), Categorical(prior=Dirichlet(alpha)).fit(sample)
        assert mine.prior == Dirichlet(alpha)
        assert (mine.mean, mine.map) == (its_prior.mean, its_prior.map)
        assert mine.mle == {"r": 0.5, "b": 0.25, "g": 0.25}
    mode = Categorical(1.5, estimate="map").fit(sample).map
    assert mode == Categorical(1.5).fit(sample).mean


def test_gaussian() -> None:
    sample = [1.0, 3.0, 4.0, 8.0]
    known = Gaussian(variance=4.0, prior=Normal(0, 2)).fit(sample)
    exactly((known.mean["mean"], Fraction(16, 4 + 2)), (known.mle["mean"], Fraction(4)))
    assert known.posterior.var() == pytest.approx(1 / (1 / 2 + 4 / 4))
    assert known.predictive.var() == pytest.approx(4 + 1 / (1 / 2 + 4 / 4))
    both = Gaussian(prior=NormalInverseGamma(1, 2, 3, 4)).fit(sample)
    # mean (2·1 + 16)/6 = 3; spread 26 + 2·4·(4-1)²/6 = 38; shape 3 + 2, scale 4 + 38/2
    exactly(
        (both.mean["mean"], Fraction(3)),
        (both.mean["variance"], Fraction(23, 4)),
        (both.map["variance"], Fraction(2 * 23, 13)),
        (both.mle["variance"], Fraction(26, 4)),
    )


def test_levels_that_are_known_and_never_seen() -> None:
    die = Categorical(alpha=1, codes=3).fit([0, 0, 1])
    exactly(*zip(die.mean.values(), (Fraction(3, 6), Fraction(2, 6), Fraction(1, 6)), strict=True))
    assert die.posterior.alpha.tolist() == [3, 2, 1]
    assert die.predictive.p.tolist() == list(die.mean.values())
    assert die.mle == {0: 2 / 3, 1: 1 / 3, 2: 0.0}


def test_the_m_estimate_of_a_plain_sample_sums_to_one() -> None:
    """Pretend rows are spread as the levels are, each with half a row more."""
    die = Categorical(m=2).fit(list("aab"))
    a, b = Fraction(5, 8), Fraction(3, 8)
    exactly((die.mean["a"], (2 + 2 * a) / 5), (die.mean["b"], (1 + 2 * b) / 5))
    assert die.predictive.p.tolist() == list(die.mean.values())
    exactly(*zip(die.posterior.alpha, (2 + 2 * a, 1 + 2 * b), strict=True))


@pytest.mark.parametrize("sample", [[5.0, 5.0, 5.0], [5.0]])
def test_the_variance_of_one_number_is_none(sample: list[float]) -> None:
    assert Gaussian(smoothing=0).fit(sample).mle == {"mean": 5.0, "variance": 0.0}


def test_a_sequence_of_counts_is_one_row() -> None:
    found = Multinomial(alpha=1).fit([8, 2])
    assert found.mle.tolist() == [0.8, 0.2]
    assert found.mean.tolist() == [0.75, 0.25]


def test_what_is_undefined_is_said() -> None:
    nothing = Bernoulli().fit([])
    assert np.isnan(nothing.mle)
    assert nothing.mean == 0.5
    assert "mle         undefined" in str(nothing)
    for event in (Gaussian(), Poisson(), Exponential(), Geometric(), NegativeBinomial(r=2)):
        value = event.fit([]).mle
        assert np.isnan(value["mean"] if isinstance(value, dict) else value)


def test_thresholds_and_shares_of_a_plain_sample() -> None:
    assert Bernoulli(threshold=1.5).fit([1, 2, 2, 1]).mle == 0.5
    assert Bernoulli(threshold=None).fit([0.25, 0.75]).mle == 0.5


def test_an_estimate_prints_its_prior_and_itself() -> None:
    coin = Bernoulli(prior=Beta(2, 2)).fit([1, 1, 0])
    assert str(coin).splitlines() == [
        "bernoulli(prior=Beta(a=2, b=2))", "n           3", "prior       Beta(a=2, b=2)",
        "mle         0.666667", "map         0.6", "mean        0.571429", "posterior   beta(4, 3)",
        "predictive  bernoulli(0.571429)",
    ]  # fmt: skip
    assert repr(coin) == str(coin)
    assert "beta(4, 3)" in coin._repr_html_()
    lines = str(Categorical().fit(np.array(["H", "T"]))).splitlines()
    assert lines[3] == "mle         H 0.5, T 0.5"


@pytest.mark.parametrize("how", ["mean", "map"])
@pytest.mark.parametrize(
    ("event", "sample"),
    [
        (Bernoulli, HEADS),
        (lambda **o: Bernoulli(m=1.5, **o), HEADS),
        (lambda **o: Bernoulli(alpha="auto", **o), HEADS),
        (Poisson, [3, 0, 2]),
        (Exponential, [0.5, 2.0, 1.0]),
        (Geometric, [4, 0, 2]),
        (lambda **o: NegativeBinomial(r=2.5, **o), [4, 0, 2]),
    ],
)
def test_one_prior_for_all_estimates(event: object, sample: list, how: str) -> None:
    """The mean is the posterior's mean, and no value is more probable than the mode."""
    found = event(estimate=how).fit(sample)  # type: ignore[operator]
    assert found.mean == pytest.approx(found.posterior.mean(), rel=1e-12)
    near = found.map * np.array([0.999, 1.0, 1.001])
    assert found.posterior.logpdf(near).argmax() == 1
    assert found.posterior.args or found.posterior.kwds


@pytest.mark.parametrize("how", ["mean", "map"])
@pytest.mark.parametrize(
    ("event", "sample"),
    [
        (Categorical, list("aabc")),
        (lambda **o: Categorical(m=2.0, **o), list("aabc")),
        (lambda **o: Categorical(m="auto", **o), list("aabbccc")),
        (Multinomial, [4, 2, 1]),
        (lambda **o: Histogram(3, smoothing=0, **o), [1.0, 2.0, 2.0, 2.0, 1.0, 3.0, 3.0]),
        (lambda **o: Histogram(3, smoothing=0, alpha=1.0, **o), [1.0, 2.0, 2.0, 1.0, 3.0, 3.0]),
        (JointTable, [(0, 1), (0, 1), (1, 1), (1, 1), (1, 1)]),
    ],
)
def test_one_dirichlet_for_all_estimates(event: object, sample: list, how: str) -> None:
    found = event(estimate=how).fit(sample)  # type: ignore[operator]
    mean, mode = (
        np.array([*value.values()] if isinstance(value, dict) else value)
        for value in (found.mean, found.map)
    )
    alpha = found.posterior.alpha
    np.testing.assert_allclose(mean, alpha / alpha.sum(), rtol=1e-12)
    np.testing.assert_allclose(mode, (alpha - 1) / (alpha - 1).sum(), rtol=1e-12)
    if not isinstance(sample[0], int):  # what the model scores with is the estimate that is set
        said = [found.log_likelihood([level]) for level in sorted(set(sample))]
        np.testing.assert_allclose(np.exp(said), {"mean": mean, "map": mode}[how], rtol=1e-9)


@pytest.mark.parametrize("prior", [NormalInverseGamma(1, 2, 3, 4), None])
def test_the_mode_of_mean_and_variance_together(prior: object) -> None:
    found = Gaussian(prior=prior).fit([1.0, 3.0, 4.0, 8.0])  # type: ignore[arg-type]
    mean, rows, shape, scale = (
        getattr(found.prior, name) for name in ("mean", "rows", "shape", "scale")
    )

    def log_joint(at: float, variance: float) -> float:
        sd = np.sqrt(variance)
        return float(
            stats.invgamma.logpdf(variance, shape, scale=scale)
            + stats.norm.logpdf(at, mean, sd / np.sqrt(rows))
            + stats.norm.logpdf([1.0, 3.0, 4.0, 8.0], at, sd).sum()
        )

    best = found.map
    top = log_joint(best["mean"], best["variance"])
    for a, b in [(1.001, 1), (0.999, 1), (1, 1.001), (1, 0.999)]:
        assert log_joint(best["mean"] * a, best["variance"] * b) < top
    assert found.mean["variance"] == pytest.approx(found.posterior["variance"].mean())
    assert found.mean["mean"] == pytest.approx(found.posterior["mean"].mean())


def test_the_default_gaussian_is_pretend_rows_beside_the_real() -> None:
    """A tenth of a row with the mean and variance of the column joins each class."""
    x, y = np.array([1.0, 2.0, 6.0, 8.0, 13.0]), np.array([0, 0, 1, 1, 1])
    event = Gaussian(smoothing=0.5)
    (tally,) = NaiveBayes(event, weights=None).fit(x[:, None], y).tally_.blocks.values()
    found = event.parameters(tally, "mean")
    for c in (0, 1):
        own = x[y == c]
        weight = np.append(np.ones(len(own)), [0.25, 0.25])
        pretend = x.mean() + x.std() * np.array([-1, 1])
        mean = np.average([*own, *pretend], weights=weight)
        variance = np.average((np.array([*own, *pretend]) - mean) ** 2, weights=weight)
        assert found["mean"][0, c] == pytest.approx(mean)
        assert found["variance"][0, c] == pytest.approx(variance)


LIKELIHOODS = [
    (Bernoulli(alpha=0), [1, 0, 1], lambda x: stats.bernoulli.logpmf(x, 2 / 3)),
    (Poisson(alpha=0), [3, 0, 2, 3], lambda x: stats.poisson.logpmf(x, 2)),
    (Geometric(alpha=0), [3, 0, 2, 3], lambda x: stats.geom.logpmf(x + 1, 1 / 3)),
    (NegativeBinomial(alpha=0, r=4), [3, 0, 2, 3], lambda x: stats.nbinom.logpmf(x, 4, 2 / 3)),
    (Exponential(alpha=0), [1.0, 2.0, 6.0], lambda x: stats.expon.logpdf(x, scale=3)),
    (Gaussian(smoothing=0), [1.0, 3.0, 5.0], lambda x: stats.norm.logpdf(x, 3, np.sqrt(8 / 3))),
    (
        LogNormal(smoothing=0),
        [1.0, np.e, np.e**2],
        lambda x: stats.lognorm.logpdf(x, np.sqrt(2 / 3), scale=np.e),
    ),
]


@pytest.mark.parametrize(
    ("model", "sample", "log_density"), LIKELIHOODS, ids=lambda x: type(x).__name__
)
def test_log_likelihood_is_the_true_one(model: object, sample: list, log_density: object) -> None:
    mine = model.fit(sample).log_likelihood(sample)  # type: ignore[attr-defined]
    assert mine == pytest.approx(log_density(np.array(sample)).sum(), rel=1e-12)  # type: ignore[operator]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20))
def test_the_mle_is_the_best_of_all(counts: list[int]) -> None:
    estimate = Poisson(alpha=0).fit(counts)
    best = stats.poisson.logpmf(counts, estimate.mle).sum()
    for factor in (0.9, 1.1):
        assert stats.poisson.logpmf(counts, estimate.mle * factor + 1e-9).sum() <= best + 1e-6


def test_a_prior_for_each_column() -> None:
    table = Bernoulli(prior=Beta([1, 3], [1, 1])).fit(np.array([[1, 1], [0, 0]]))
    np.testing.assert_allclose(table.mean, [2 / 4, 4 / 6])


@pytest.mark.parametrize(
    ("name", "alpha"), [("laplace", Fraction(1)), ("jeffreys", Fraction(1, 2))]
)
def test_pseudo_counts_by_name(name: str, alpha: Fraction) -> None:
    exactly(
        (Bernoulli(alpha=name).fit(HEADS).mean, (8 + alpha) / (10 + 2 * alpha)),
        (Categorical(alpha=name).fit(["r", "r", "b"]).mean["b"], (1 + alpha) / (3 + 2 * alpha)),
        (Multinomial(alpha=name).fit([[2, 1, 0]]).mean[2], alpha / (3 + 3 * alpha)),
    )
    assert Bernoulli(alpha=name) == Bernoulli(alpha=float(alpha))


def test_the_m_estimate_in_fractions() -> None:
    """(n of level and class + m · share of the level over all classes) / (n of class + m)."""
    x, y, m = [1, 1, 0, 1, 0, 0, 0], ["a", "a", "a", "b", "b", "b", "b"], Fraction(3)
    share = Fraction(3, 7)
    expected = [(2 + m * share) / (3 + m), (1 + m * share) / (4 + m)]
    event = Bernoulli(m=float(m))
    nb = NaiveBayes(event, weights=None).fit(np.array(x)[:, None], y)
    (tally,) = nb.tally_.blocks.values()
    exactly(*zip(event.parameters(tally, "mean")["p"][0], expected, strict=True))
    exactly(
        *zip(event.parameters(tally, "mle")["p"][0], (Fraction(2, 3), Fraction(1, 4)), strict=True)
    )


@pytest.mark.parametrize("prior", [Dirichlet(0.7), Dirichlet([0.5, 2, 1, 0.1])])
def test_the_predictive_of_counts_is_scipys_dirichlet_multinomial(prior: Dirichlet) -> None:
    seen = np.array([[3, 0, 1, 0], [2, 0, 0, 5]])
    estimate = Multinomial(prior=prior, estimate="predictive").fit(seen)
    alpha = seen.sum(axis=0) + np.asarray(prior.alpha)
    rows = np.array([[1, 0, 0, 0], [0, 4, 0, 1], [0, 0, 0, 0], [7, 2, 30, 1]])
    expected = [stats.dirichlet_multinomial.logpmf(row, alpha, row.sum()) for row in rows]
    mine = [estimate.log_likelihood(row[None]) for row in rows]
    np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-12)


def test_the_log_likelihood_of_counts_is_scipys_multinomial() -> None:
    estimate = Multinomial(alpha=0.5).fit([[3, 0, 1], [2, 0, 0]])
    p = np.array([5.5, 0.5, 1.5]) / 7.5
    for row in ([1, 0, 0], [4, 2, 9], [0, 0, 0]):
        expected = stats.multinomial.logpmf(row, sum(row), p)
        assert estimate.log_likelihood([row]) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    nb = NaiveBayes({"text": Multinomial()}).fit(["one two", "two six"], ["x", "y"])
    words = ["one", "six", "two"]
    all_of_two = [f"{v} {w}" for v in words for w in words]  # each sequence of two words
    assert np.exp(nb.score_samples(all_of_two)).sum() == pytest.approx(1)


def test_a_word_that_came_once_is_expected_again() -> None:
    texts, y = ["ball goal ball", "vote law vote"], ["sport", "state"]
    sure, urn = (
        NaiveBayes({"text": Multinomial(alpha=0.1, estimate=how)}, weights=None).fit(texts, y)
        for how in ("mean", "predictive")
    )
    odds = [
        [nb.predict_joint_log_proba(["goal " * n])[0] @ [1, -1] for n in (1, 10)]
        for nb in (sure, urn)
    ]
    assert odds[0][0] == pytest.approx(odds[1][0])
    assert odds[0][1] == pytest.approx(10 * odds[0][0])
    assert odds[1][1] < 0.5 * odds[0][1]  # the tenth says less than the first


def test_a_pseudo_count_that_is_chosen_foretells_each_count_best_by_the_rest() -> None:
    """By brute force over a grid; the weak draw to 1 is a quarter of a squared logarithm."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.3, 3.0, (200, 2))).astype(float)
    true, trials = rng.binomial(30, rng.beta(0.2, 0.2, (40, 2))).astype(float), np.full((40, 2), 30)
    grid = np.exp(np.linspace(np.log(0.05), np.log(5), 400))

    def words(alpha: float) -> float:
        share = (counts - 1 + alpha) / (counts.sum(axis=0) - 1 + alpha * len(counts))
        return float((counts * np.log(np.where(counts > 0, share, 1.0))).sum())

    def coins(alpha: float) -> float:
        total = 0.0
        for number in (true, trials - true):
            share = (number - 1 + alpha) / (trials - 1 + 2 * alpha)
            total += float((number * np.log(np.where(number > 0, share, 1.0))).sum())
        return total

    for found, gain in (
        (pseudo_count_of_words(Sums(counts)), words),
        (pseudo_count_of_coins(true, trials.astype(float)), coins),
    ):
        best = max(grid, key=lambda alpha: gain(alpha) - np.log(alpha) ** 2 / 4)
        assert best == pytest.approx(found, rel=0.02)


def test_a_coin_of_heads_and_tails_is_one_of_truths() -> None:
    throws = ["H", "T", "H", None, "H"]
    coin, truths = Bernoulli(success="H").fit(throws), Bernoulli().fit([1, 0, 1, np.nan, 1])
    assert (coin.mle, coin.mean, coin.n) == (truths.mle, truths.mean, truths.n)
    assert Bernoulli(success="T").fit(throws).mle == 0.25
    assert Bernoulli(success=2).fit([1, 2, 2]).mle == 2 / 3
    assert Bernoulli(success="H").fit(["T", "T"]).mle == 0
    assert Bernoulli(success="H").consistency(["H", "T"]).estimate["p"].tolist() == [1.0, 0.5]


def test_the_expectation_of_levels_is_that_of_numbers() -> None:
    die = Categorical(estimate="mle").fit([1, 2, 2, 3]).expectation
    assert die == {"mean": 2.0, "variance": 0.5}
    sample = Poisson(estimate="mle").fit([2, 4]).expectation
    assert (sample["mean"], sample["variance"]) == (3.0, 3.0)


def test_event_models_of_one_sample_are_compared_as_scipy_and_a_refit_have_it() -> None:
    x = np.random.default_rng(1).gamma(2.0, 1.0, 40)
    models = {"normal": Gaussian(smoothing=0), "waits": Exponential(), "bins": Histogram()}
    found = naively.compare_event_models(x, models)
    of = {name: i for i, name in enumerate(found.model)}
    best = {
        "normal": stats.norm(x.mean(), x.std()).logpdf(x).sum(),
        "waits": stats.expon(scale=x.mean()).logpdf(x).sum(),
    }
    for name, k in (("normal", 2), ("waits", 1)):
        assert found.parameters[of[name]] == k
        assert found.aic[of[name]] == pytest.approx(2 * k - 2 * best[name])
        assert found.bic[of[name]] == pytest.approx(k * np.log(40) - 2 * best[name])
        left = [models[name].fit(np.delete(x, i)).log_likelihood([x[i]]) for i in range(len(x))]
        assert found.leave_one_out[of[name]] == pytest.approx(sum(left))
    assert np.isnan(found.aic[of["bins"]])
    assert found.leave_one_out == sorted(found.leave_one_out, reverse=True)


@pytest.mark.parametrize("how", ["mle", "map", "mean", "predictive"])
def test_numbers_between_bounds_are_normal_by_their_logits(how: Any) -> None:
    x = np.array([12.0, 35.0, 42.0, 58.0, 71.0, 99.0])
    z = np.log(x / (100 - x))
    bounded = LogitNormal(low=0, high=100, estimate=how).fit(x)
    logits = Gaussian(estimate=how).fit(z)
    jacobian = np.log(100 / (x * (100 - x))).sum()
    expected = logits.log_likelihood(z) + jacobian
    assert bounded.log_likelihood(x) == pytest.approx(expected, rel=1e-12)
    of = bounded.fitted
    assert of.logpdf(x).sum() == pytest.approx(expected, rel=1e-9)
    assert integrate.quad(of.pdf, 0, 100, limit=500)[0] == pytest.approx(1, rel=1e-6)
    np.testing.assert_allclose(of.cdf(of.ppf([0.1, 0.9])), [0.1, 0.9])
    assert (of.cdf(0), of.sf(100)) == (0, 0)
    drawn = bounded.sample(500, random_state=0)
    assert 0 < min(drawn) < max(drawn) < 100
    assert stats.kstest(drawn, of.cdf).pvalue > 1e-3


def test_numbers_between_bounds_are_no_scorecard() -> None:
    nb = NaiveBayes(LogitNormal(low=0, high=9), weights=None).fit([[1.0], [8.0]], [0, 1])
    with pytest.raises(ValueError, match="no other program scores yet"):
        nb.export.scorecard()
