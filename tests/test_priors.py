"""Priors as distributions, against SciPy, fractions and numeric integration; and updating."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from scipy import integrate, optimize, stats

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
    InverseGamma,
    LogisticNormal,
    LogNormal,
    Multinomial,
    NegativeBinomial,
    Normal,
    NormalInverseGamma,
    Poisson,
)

mpl.use("Agg")

SCIPYS: list[tuple[Any, Any]] = [
    (Beta(101, 101), stats.beta(101, 101)),
    (Beta(0.5, 3), stats.beta(0.5, 3)),
    (Gamma(3, 2), stats.gamma(3, scale=1 / 2)),
    (Normal(-1, 4), stats.norm(-1, 2)),
    (InverseGamma(3, 4), stats.invgamma(3, scale=4)),
]


@pytest.mark.parametrize(("prior", "scipys"), SCIPYS, ids=[str(of[0]) for of in SCIPYS])
def test_one_parameter_is_as_scipy_has_it(prior: Any, scipys: Any) -> None:
    for x in (0.03, 0.4, 0.9):
        assert prior.pdf(x) == pytest.approx(scipys.pdf(x), rel=1e-12)
        assert prior.log_pdf(x) == pytest.approx(scipys.logpdf(x), rel=1e-12)
    assert (prior.mean, prior.variance) == pytest.approx((scipys.mean(), scipys.var()))
    assert prior.interval() == pytest.approx((scipys.ppf(0.025), scipys.ppf(0.975)))
    assert prior.interval(0.5) == pytest.approx((scipys.ppf(0.25), scipys.ppf(0.75)))
    assert type(prior.pdf(0.4)) is type(prior.mode) is type(prior.interval()[0]) is float
    drawn = prior.sample(4000, random_state=1)
    assert stats.kstest(drawn, scipys.cdf).pvalue > 1e-3
    assert (drawn == prior.sample(4000, random_state=1)).all()


@pytest.mark.parametrize(
    "prior", [Beta(101, 101), Beta(3, 1.5), Gamma(3, 2), Normal(0.3, 4), InverseGamma(3, 4)]
)
def test_the_mode_is_where_the_density_is_highest(prior: Any) -> None:
    found = optimize.minimize_scalar(
        lambda x: -prior.log_pdf(x), bounds=(1e-9, 1 - 1e-9), method="bounded"
    )
    assert prior.mode == pytest.approx(found.x, abs=1e-5)


def test_modes_and_moments_in_fractions() -> None:
    assert Beta(101, 101).mode == 0.5
    assert Beta(109, 103).mode == float(Fraction(108, 210))
    assert Beta(2, 3).mean == float(Fraction(2, 5))
    assert Dirichlet([4, 2, 1]).mode.tolist() == [3 / 4, 1 / 4, 0]
    assert NormalInverseGamma(1, 2, 3, 4).mode == {"mean": 1.0, "variance": 8 / 9}
    assert InverseGamma(3, 4).mode == 1.0


@pytest.mark.parametrize(
    ("prior", "mode"),
    [
        (Beta(1, 1), np.nan),
        (Beta(0.5, 0.5), np.nan),
        (Beta(0.5, 1), 0.0),
        (Beta(1, 0.5), 1.0),
        (Beta(1, 2), 0.0),
        (Beta(2, 0.5), 1.0),
        (Gamma(0.5, 2), 0.0),
    ],
)
def test_modes_at_the_ends_and_where_there_is_none(prior: Any, mode: float) -> None:
    assert prior.mode == pytest.approx(mode, nan_ok=True)


def test_moments_that_do_not_exist_are_undefined() -> None:
    assert np.isnan(InverseGamma(1, 2).mean)
    assert np.isnan(InverseGamma(2, 2).variance)
    assert np.isnan(NormalInverseGamma(0, 1, 0.5, 1).means["mean"])
    assert np.isnan(NormalInverseGamma(0, 1, 1, 1).variance["mean"])
    assert np.isnan(Dirichlet([1, 0.5]).mode).all()


def test_dirichlet_is_as_scipy_has_it() -> None:
    prior, scipys = Dirichlet([2, 1, 4.5]), stats.dirichlet([2, 1, 4.5])
    at = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])
    np.testing.assert_allclose(prior.pdf(at), [scipys.pdf(x) for x in at], rtol=1e-12)
    np.testing.assert_allclose(prior.mean, scipys.mean())
    np.testing.assert_allclose(prior.variance, scipys.var())
    low, high = prior.interval(0.9)
    drawn = prior.sample(20_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), scipys.mean(), atol=0.01)
    np.testing.assert_allclose((drawn < low).mean(axis=0), 0.05, atol=0.01)
    np.testing.assert_allclose((drawn > high).mean(axis=0), 0.05, atol=0.01)
    assert Dirichlet(0.5).over(2) == Dirichlet((0.5, 0.5))


def test_the_density_of_mean_and_variance_integrates_to_its_marginals() -> None:
    prior = NormalInverseGamma(1, 2, 3, 4)
    for at in (0.2, 1.7):
        over_variance = integrate.quad(lambda v: prior.pdf((at, v)), 0, np.inf)[0]  # noqa: B023
        over_mean = integrate.quad(lambda m: prior.pdf((m, at)), -np.inf, np.inf)[0]  # noqa: B023
        assert over_variance == pytest.approx(prior.frozen["mean"].pdf(at), rel=1e-6)
        assert over_mean == pytest.approx(prior.frozen["variance"].pdf(at), rel=1e-6)
    assert prior.pdf((1.0, -0.1)) == 0
    best = optimize.minimize(lambda x: -prior.log_pdf((x[0], np.exp(x[1]))), [0.0, 0.0]).x
    assert tuple(prior.mode.values()) == pytest.approx((best[0], np.exp(best[1])), abs=1e-4)
    low, high = prior.interval(0.8)["mean"]
    assert prior.frozen["mean"].cdf([low, high]) == pytest.approx([0.1, 0.9])
    drawn = prior.sample(4000, random_state=2)
    for j, name in enumerate(("mean", "variance")):
        assert stats.kstest(drawn[:, j], prior.frozen[name].cdf).pvalue > 1e-3
        assert prior.means[name] == pytest.approx(prior.frozen[name].mean())
        assert prior.variance[name] == pytest.approx(prior.frozen[name].var())
    # The mean varies more where the variance is larger.
    wide = drawn[:, 1] > np.median(drawn[:, 1])
    assert drawn[wide, 0].std() > 1.2 * drawn[~wide, 0].std()


def test_a_prior_for_each_column_has_arrays() -> None:
    prior = Beta([2, 5], [3, 1])
    np.testing.assert_allclose(prior.mean, [2 / 5, 5 / 6])
    np.testing.assert_allclose(prior.mode, [1 / 3, 1])
    np.testing.assert_allclose(prior.pdf([0.2, 0.9]), stats.beta.pdf([0.2, 0.9], [2, 5], [3, 1]))
    assert prior.sample(7, random_state=0).shape == (7, 2)
    np.testing.assert_allclose(Gamma([2, 3], [1, 4]).mean, [2, 3 / 4])


@pytest.mark.parametrize("prior", [Beta(3, 2), Gamma(3, 2), Normal(1, 4), InverseGamma(2, 3)])
def test_the_picture_of_a_density(prior: Any) -> None:
    ax = prior.plot()
    density, mean, mode = ax.lines
    x = density.get_xdata()
    np.testing.assert_allclose(density.get_ydata(), prior.frozen.pdf(x))
    assert mean.get_xydata().tolist() == [[prior.mean, prior.pdf(prior.mean)]]
    assert mode.get_xydata().tolist() == [[prior.mode, prior.pdf(prior.mode)]]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [str(prior), "mean", "mode"]
    assert ax.get_ylim()[1] > prior.pdf(prior.mode)
    mpl.pyplot.close(ax.figure)


def test_the_picture_of_several_densities() -> None:
    ax = Dirichlet(range(1, 11)).plot()
    lines = ax.lines[:-2]
    assert len(lines) == 8
    assert "8 of 10 curves" in ax.get_legend().get_title().get_text()
    x = lines[2].get_xdata()
    np.testing.assert_allclose(lines[2].get_ydata(), stats.beta.pdf(x, 3, 52), rtol=1e-10)
    np.testing.assert_allclose(ax.lines[-2].get_xdata(), np.arange(1, 9) / 55)
    # A mode is on top of its curve: that of the probability alone, Beta(a, 55 - a).
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), np.arange(8) / 53)
    tops = [line.get_ydata().max() for line in lines]
    np.testing.assert_allclose(ax.lines[-1].get_ydata()[1:], tops[1:])
    mpl.pyplot.close(ax.figure)
    ax = Beta(1, 1).plot()
    assert [line.get_label() for line in ax.lines[1:]] == ["mean"]  # there is no mode to mark
    mpl.pyplot.close(ax.figure)


def test_equal_densities_are_one_line() -> None:
    ax = Dirichlet([2, 2, 2, 9]).plot()
    assert [line.get_label() for line in ax.lines[:2]] == ["levels 1 to 3", "level 4"]


def test_a_curve_reaches_its_marks_at_an_end() -> None:
    ax = Beta(101, 1).plot()
    x, density = ax.lines[0].get_data()
    assert (x[-1], density[-1]) == pytest.approx((1, 101))
    assert [text.get_text() for text in ax.get_xticklabels()][::5] == ["0", "1"]


def test_two_priors_on_one_axes_differ() -> None:
    ax = Beta(20, 30).plot(Beta(2, 3).plot())
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(said) == ["Beta(a=2, b=3)", "Beta(a=20, b=30)", "mean", "mode"]
    curves = [line for line in ax.lines if line.get_label().startswith("Beta")]
    assert len({line.get_color() for line in curves}) == 2
    assert ax.get_ylim()[1] > curves[1].get_ydata().max()


def test_contours_hold_what_they_say() -> None:
    prior = NormalInverseGamma(1, 2, 3, 4)
    ax = prior.plot()
    (contours,) = ax.collections
    drawn = prior.log_pdf(prior.sample(20_000, random_state=0))
    inside = [(drawn > np.log(level)).mean() for level in contours.levels]
    assert inside == pytest.approx([0.95, 0.8, 0.5], abs=0.02)
    marks = {line.get_label(): line.get_xydata()[0].tolist() for line in ax.lines}
    assert marks == {"mean": [1, 2], "mode": [1, 8 / 9]}
    mpl.pyplot.close(ax.figure)


A, B = [3.0, 1.0, 2.0, 0.0], [5.0, 2.0, 2.0]
UPDATES: list[tuple[Any, Any, list, list]] = [
    (Bernoulli, Beta(2, 3), [1, 0, 1], [0, 0, 1, 1]),
    (Poisson, Gamma(2, 1.5), A, B),
    (Exponential, Gamma(2, 1.5), A, B),
    (Geometric, Beta(2, 3), A, B),
    (NegativeBinomial, Beta(2, 3), A, B),
    (lambda prior: Binomial(trials=5, prior=prior), Beta(2, 3), A, B),
    (
        lambda prior: Categorical(levels=["a", "b", "c"], prior=prior),
        Dirichlet([1, 2, 0.5]),
        list("aab"),
        list("bba"),
    ),
    (Multinomial, Dirichlet([1, 2, 0.5]), [3, 1, 0], [0, 0, 4]),
    (Gaussian, NormalInverseGamma(1, 2, 3, 4), A, B),
    (lambda prior: Gaussian(prior=prior, variance="shared"), NormalInverseGamma(1, 2, 3, 4), A, B),
    (lambda prior: Gaussian(prior=prior, variance=2.0), Normal(1, 3), A, B),
    (lambda prior: Gaussian(prior=prior, mean=1.5), InverseGamma(2, 3), A, B),
    (lambda prior: LogNormal(prior=prior, mean=0.5), InverseGamma(2, 3), [1.0, 3.0], [0.5]),
]


def numbers_of(prior: Any) -> np.ndarray:
    return np.concatenate([np.ravel(value) for value in vars(prior).values()])


def updated(event: Any, sample: list) -> Any:
    return event.updated(event.fit(sample).tally)


@pytest.mark.parametrize(("model", "prior", "first", "second"), UPDATES)
def test_updating_twice_is_updating_at_once(
    model: Any, prior: Any, first: list, second: list
) -> None:
    both = np.add(first, second).tolist() if model is Multinomial else first + second
    once = updated(model(prior=prior), both)
    twice = updated(model(prior=updated(model(prior=prior), first)), second)
    assert type(once) is type(prior)
    np.testing.assert_allclose(numbers_of(twice), numbers_of(once), rtol=1e-12)
    nothing = [0, 0, 0] if model is Multinomial else []
    np.testing.assert_allclose(numbers_of(updated(model(prior=prior), nothing)), numbers_of(prior))


def test_what_is_updated_is_the_posterior() -> None:
    assert updated(Bernoulli(prior=Beta(2, 2)), [1, 1, 0]) == Beta(4.0, 3.0)
    assert updated(Poisson(prior=Gamma(2, 1)), [3, 5, 4]) == Gamma(14.0, 4.0)
    assert updated(Binomial(trials=10, prior=Beta(1, 1)), [8, 9]) == Beta(18.0, 4.0)
    assert updated(Bernoulli(alpha=0), []) is None
    assert updated(Gaussian(smoothing=0), [1.0]) is None
    # Murphy (2007), section 6: worked by hand in test_estimates.test_gaussian.
    both = updated(Gaussian(prior=NormalInverseGamma(1, 2, 3, 4)), [1.0, 3.0, 4.0, 8.0])
    assert numbers_of(both) == pytest.approx([3, 6, 5, 4 + 38 / 2])


@pytest.mark.parametrize("prior", [LogisticNormal(0, 0.04), LogisticNormal(1, 4)])
def test_a_prior_that_is_not_conjugate_is_integrated(prior: LogisticNormal) -> None:
    flips = [1, 1, 0, None, True]

    def integral(of: Any) -> float:
        value: float = integrate.quad(of, 0, 1, epsabs=1e-12, points=[0.5])[0]
        return value

    found = prior.fit(flips)
    evidence = integral(lambda p: prior.pdf(p) * p**3 * (1 - p))
    assert integral(prior.pdf) == pytest.approx(1, rel=1e-8)
    assert np.exp(found.log_evidence) == pytest.approx(evidence, rel=1e-8)
    mean = integral(lambda p: prior.pdf(p) * p**4 * (1 - p)) / evidence
    assert found.mean == pytest.approx(mean, rel=1e-8)
    assert integral(found.pdf) == pytest.approx(1, rel=1e-8)
    nearest = prior.nearest
    assert (found.beta.a, found.beta.b) == (nearest.a + 3, nearest.b + 1)
    # No Beta beside it is nearer.
    p = np.linspace(0, 1, 20_001)[1:-1]

    def fit(a: float, b: float) -> float:
        return float(prior.pdf(p) @ stats.beta(a, b).logpdf(p))

    best = fit(nearest.a, nearest.b)
    for a, b in ((1.02, 1), (0.98, 1), (1, 1.02), (1, 0.98)):
        assert fit(a * nearest.a, b * nearest.b) < best
    assert "by two additions" in str(found)
    assert len(found.plot().lines) == 4
