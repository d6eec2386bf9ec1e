"""What an estimate says of its parameters: tables, curves, surfaces, and what data change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Gamma,
    Gaussian,
    Histogram,
    KernelDensity,
    LogNormal,
    Multinomial,
    Normal,
    NormalInverseGamma,
    Poisson,
)

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(3, 2, 12)
FLIPS = (RNG.random(120) < 0.7).astype(int)


def test_parameters_are_a_table() -> None:
    table = Bernoulli(prior=Beta(2, 5)).fit([[1, 0], [1, 1], [np.nan, 0]]).parameters()
    assert table.to_dict() == {
        "column": ["x0", "x1"],
        "parameter": ["p", "p"],
        "value": [4 / 9, 3 / 10],
        "count": [2.0, 1.0],
        "pseudo_count": [2.0, 2.0],
    }
    table = Gaussian(smoothing=2).fit([1.0, 3.0]).parameters("mle")
    assert table.to_dict() == {
        "parameter": ["mean", "variance"],
        "value": [2.0, 1.0],
        "count": [2.0, 2.0],
        "pseudo_count": [0.0, 0.0],
    }
    table = Multinomial().fit([3, 1]).parameters("mean")
    assert table.to_dict()["item"] == ["x0", "x1"]
    assert table.value == [4 / 6, 2 / 6]
    bins = Histogram(bins=3, smoothing=0).fit(NUMBERS).parameters("mle")
    assert bins.item == [0, 1, 2]
    assert bins.value == pytest.approx(np.array(bins.count) / 12)


def test_counts_are_what_is_sufficient() -> None:
    assert Bernoulli().fit([1] * 8 + [0] * 2 + [None]).counts == {"rows": 10, "true": 8}
    of = Gaussian().fit([1.0, 3.0, np.nan])
    assert (of.n, of.counts) == (2, {"rows": 2, "sum": 4, "square": 10})
    assert Categorical().fit(["a", "b", "a", None]).counts == {"a": 2, "b": 1}
    assert Poisson().fit([3, 4]).counts == {"rows": 2, "sum": 7}
    logs = LogNormal().fit(np.exp([1.0, 3.0])).counts
    assert logs == pytest.approx({"rows": 2, "sum": 4, "square": 10})
    two = Gaussian().fit([[1.0, 2.0], [3.0, np.nan]])
    assert two.n.tolist() == [2, 1]
    assert two.counts["sum"].tolist() == [4, 2]
    assert KernelDensity().fit([1.0, 1.0, 5.0]).n == 3
    assert Multinomial().fit([[3, 1], [2, 2]]).n == 2


def test_curve_of_a_coin() -> None:
    coin = Bernoulli(prior=Beta(2, 3)).fit([1, 1, 0])
    curve = coin.curve()
    p = curve.value
    assert (p.min(), p.max()) == pytest.approx((0.0025, 0.9975))
    np.testing.assert_allclose(curve.log_likelihood, np.log(p**2 * (1 - p)))
    np.testing.assert_allclose(curve.prior, stats.beta.pdf(p, 2, 3))
    np.testing.assert_allclose(curve.posterior, stats.beta.pdf(p, 4, 4))
    # The area under a likelihood of 2 and 1 is that under Beta(3, 2).
    np.testing.assert_allclose(curve.likelihood, stats.beta.pdf(p, 3, 2), atol=1e-3)
    assert list(curve.to_dict()) == ["p", "log_likelihood", "prior", "likelihood", "posterior"]
    bare = Bernoulli(alpha=0).fit([1, 1, 0]).curve()
    assert np.isnan(bare.posterior).all()
    assert bare.value[bare.likelihood.argmax()] == pytest.approx(2 / 3, abs=0.002)


@pytest.mark.slow
def test_curve_of_one_parameter_of_several_is_a_profile() -> None:
    estimate = Gaussian(prior=NormalInverseGamma(2, 1, 3, 4)).fit(NUMBERS)
    grid = np.array([1.0, 3.0, 4.5])
    curve = estimate.curve("mean", grid)
    for mean, found in zip(grid, curve.log_likelihood, strict=True):
        best = optimize.minimize_scalar(
            lambda v, mean=mean: -stats.norm.logpdf(NUMBERS, mean, np.sqrt(v)).sum(),
            bounds=(0.1, 60), method="bounded", options={"xatol": 1e-8},
        )  # fmt: skip
        assert found == pytest.approx(-best.fun, abs=1e-8)
        marginal, _ = integrate.quad(
            lambda v, mean=mean: np.exp(estimate.log_posterior_at(mean=mean, variance=v)), 0.01, 80
        )
        assert curve.posterior[list(grid).index(mean)] == pytest.approx(marginal, rel=1e-6)
    curve = estimate.curve("variance", [2.0, 5.0])
    expected = [stats.norm.logpdf(NUMBERS, NUMBERS.mean(), np.sqrt(v)).sum() for v in (2.0, 5.0)]
    np.testing.assert_allclose(curve.log_likelihood, expected)
    marginal, _ = integrate.quad(
        lambda m: np.exp(estimate.log_posterior_at(mean=m, variance=2.0)), -10, 15
    )
    assert curve.posterior[0] == pytest.approx(marginal, rel=1e-6)
    known = Gaussian(variance=4.0, prior=Normal(0, 1)).fit(NUMBERS).curve(grid=[1.0, 2.0])
    expected = [stats.norm.logpdf(NUMBERS, m, 2).sum() for m in (1.0, 2.0)]
    np.testing.assert_allclose(known.log_likelihood, expected)


def test_curve_of_a_level() -> None:
    estimate = Categorical(prior=Dirichlet([2, 1, 1])).fit(["r", "r", "g", "b", "b", "b"])
    curve = estimate.curve("r", [0.2, 0.5])
    expected = [
        2 * np.log(p) + np.log((1 - p) / 4) + 3 * np.log((1 - p) * 3 / 4) for p in (0.2, 0.5)
    ]
    np.testing.assert_allclose(curve.log_likelihood, expected)
    np.testing.assert_allclose(curve.posterior, stats.beta.pdf([0.2, 0.5], 4, 6))
    np.testing.assert_allclose(curve.prior, stats.beta.pdf([0.2, 0.5], 2, 2))


def test_the_curve_of_a_rate_of_nothing_begins_at_0() -> None:
    nothing = Poisson(alpha=0).fit([0, 0]).curve()
    assert (nothing.value[0], nothing.value[-1]) == (0, 3)


def test_surface_of_mean_and_variance() -> None:
    estimate = Gaussian(prior=NormalInverseGamma(2, 1, 3, 4)).fit(NUMBERS)
    surface = estimate.surface([1.0, 2.0, 3.0], [2.0, 4.0])
    assert surface.log_likelihood.shape == (3, 2)
    expected = stats.norm.logpdf(NUMBERS, 3.0, 2.0).sum()
    assert surface.log_likelihood[2, 1] == pytest.approx(expected)
    assert surface.log_posterior[2, 1] == pytest.approx(
        estimate.log_posterior_at(mean=3.0, variance=4.0)
    )
    assert surface.mle == pytest.approx({"mean": NUMBERS.mean(), "variance": NUMBERS.var()})
    full = estimate.surface()
    at = np.unravel_index(full.log_posterior.argmax(), full.log_posterior.shape)
    assert full.mean[at[0]] == pytest.approx(surface.map["mean"], abs=0.1)
    assert full.variance[at[1]] == pytest.approx(surface.map["variance"], rel=0.1)
    assert len(full.to_dict()["mean"]) == full.log_posterior.size
    bare = Gaussian(smoothing=0).fit(NUMBERS).surface()
    assert np.isnan(bare.log_posterior).all()


def test_updates_are_the_posteriors_of_what_has_arrived() -> None:
    found = Bernoulli(prior=Beta(2, 2)).updates(FLIPS, at=(0, 5, 20, 1000), level=0.9)
    assert found.n == [0, 5, 20, 120]
    for n, mean, low, high, density in zip(
        found.n, found.mean, found.low, found.high, found.density, strict=True
    ):
        ups = FLIPS[:n].sum()
        of = stats.beta(2 + ups, 2 + n - ups)
        assert (mean, low, high) == pytest.approx((of.mean(), *of.interval(0.9)))
        np.testing.assert_allclose(density, of.pdf(found.value))
    # The pretend rows of a rate are at the mean of the whole sample, for every n.
    rates = Poisson(alpha=2).updates([4.0, 0.0, 2.0], at=(0, 1))
    assert rates.mean == pytest.approx([2.0, (4 + 4) / 3])


def test_consistency_is_the_running_estimate() -> None:
    found = Bernoulli(prior=Beta(1, 1)).consistency(FLIPS, truth=0.7)
    running = np.cumsum(FLIPS)[found.n - 1] / found.n
    np.testing.assert_allclose(found.estimate["p"], running)
    assert (found.n[0], found.n[-1]) == (1, 120)
    ups = FLIPS.sum()
    low, high = stats.beta(1 + ups, 121 - ups).interval(0.95)
    assert (found.low["p"][-1], found.high["p"][-1]) == pytest.approx((low, high))
    assert found.truth == {"p": 0.7}
    two = Gaussian().consistency(NUMBERS)
    assert two.estimate["variance"][-1] == pytest.approx(NUMBERS.var())
    assert two.estimate["mean"][3] == pytest.approx(NUMBERS[:4].mean())
    known = Gaussian(variance=4.0).consistency(NUMBERS)
    assert list(known.estimate) == ["mean"]
    bare = Poisson(alpha=0).consistency([1.0, 3.0])
    assert np.isnan(bare.low["rate"]).all()
    assert bare.to_dict()["estimate"] == [1.0, 2.0]
    levels = Categorical().consistency(["a", "b", "a"])
    assert levels.estimate["a"] == pytest.approx([1, 1 / 2, 2 / 3])


def test_fitted_is_scipys_distribution_at_the_estimate() -> None:
    mean, sd = NUMBERS.mean(), NUMBERS.std()
    normal = Gaussian(smoothing=0, estimate="mle").fit(NUMBERS)
    assert normal.fitted.cdf(2.0) == pytest.approx(stats.norm.cdf(2, mean, sd))
    assert normal.normal.ppf(0.9) == pytest.approx(stats.norm.ppf(0.9, mean, sd))
    logs = LogNormal(smoothing=0, estimate="mle").fit(np.exp(NUMBERS))
    assert logs.fitted.cdf(2.0) == pytest.approx(stats.norm.cdf(np.log(2.0), mean, sd))
    assert logs.normal.mean() == pytest.approx(mean)
    student = Gaussian(prior=NormalInverseGamma(2, 1, 3, 4), estimate="predictive").fit(NUMBERS)
    assert student.fitted.kwds == student.predictive.kwds
    assert student.fitted.dist.name == "t"
    rate = Poisson(prior=Gamma(3, 1), estimate="map").fit([2.0, 5.0])
    assert rate.fitted.mean() == pytest.approx((3 + 7 - 1) / (1 + 2))
    p = Categorical(alpha=1).fit(["a", "a", "b"]).fitted.p
    assert p == pytest.approx([3 / 5, 2 / 5])


@pytest.mark.parametrize("log", [True, False])
def test_the_likelihood_itself_is_drawn_with_its_top(log: bool) -> None:
    curve = Bernoulli().fit([1] * 8 + [0] * 2).curve()
    assert curve.mle == 0.8
    ax = curve.plot_likelihood(log=log)
    drawn, _, top = ax.lines
    expected = stats.binom.logpmf(8, 10, curve.value) - np.log(45)
    np.testing.assert_allclose(drawn.get_ydata(), expected if log else np.exp(expected))
    assert top.get_xdata() == [0.8]
    assert top.get_ydata()[0] == pytest.approx(max(drawn.get_ydata()), rel=1e-3)
    assert ax.get_ylabel().startswith("log likelihood l(p)" if log else "likelihood L(p)")
