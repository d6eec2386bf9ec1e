"""Pictures of estimates: what is on the Axes is what the library or SciPy says."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy import stats

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Gaussian,
    Histogram,
    KernelDensity,
    LogNormal,
    Multinomial,
    NormalInverseGamma,
    Poisson,
    independence,
)
from naively.inspect.one_column import bins_of

mpl.use("Agg")
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(3, 2, 40)
FLIPS = (RNG.random(120) < 0.7).astype(int)


def lines(ax) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the lines on the Axes by their labels."""
    return {str(of.get_label()): of.get_data() for of in ax.get_lines()}


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_fitted_densities_are_scipys() -> None:
    estimate = Gaussian(prior=NormalInverseGamma(2, 1, 3, 4)).fit(NUMBERS)
    ax = estimate.plot(sample=NUMBERS)
    found = lines(ax)
    assert set(found) == {"maximum likelihood", "posterior mean", "predictive"}
    x, y = found["maximum likelihood"]
    np.testing.assert_allclose(y, stats.norm.pdf(x, NUMBERS.mean(), NUMBERS.std()))
    x, y = found["predictive"]
    np.testing.assert_allclose(y, estimate.predictive.pdf(x))
    bars = [bar for bar in ax.patches if bar.get_height() > 0]
    assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1)
    mode = Gaussian(estimate="map").fit(NUMBERS).plot()
    assert "posterior mode" in lines(mode)
    assert not mode.patches


def test_predictive_of_logarithms_is_drawn_of_the_numbers() -> None:
    wages = np.exp(NUMBERS / 5)
    found = lines(LogNormal().fit(wages).plot(sample=wages))
    x, y = found["predictive"]
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.02)
    x, y = found["maximum likelihood"]
    logs = np.log(wages)
    np.testing.assert_allclose(y, stats.lognorm.pdf(x, logs.std(), scale=np.exp(logs.mean())))


def test_whole_numbers_have_bars_and_points() -> None:
    counts = RNG.poisson(3, 50)
    ax = Poisson().fit(counts).plot(sample=counts)
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, np.unique(counts, return_counts=True)[1] / 50)
    x, y = lines(ax)["posterior mean"]
    np.testing.assert_allclose(y, stats.poisson.pmf(np.round(x), counts.mean()))
    assert ax.get_ylabel() == "probability"


def test_levels_have_bars() -> None:
    ax = Categorical().fit(list("aabc")).plot(sample=list("aabc"))
    assert [bar.get_height() for bar in ax.patches] == [0.5, 0.25, 0.25]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]
    np.testing.assert_allclose(lines(ax)["posterior mean"][1], [3 / 7, 2 / 7, 2 / 7])
    many = Categorical().fit([*map(str, range(30))]).plot()
    assert many.get_ylabel() == "the 20 most probable of 30"
    words = Multinomial.of(p={"cheap": 0.3, "lunch": 0.7}).plot()
    assert [bar.get_height() for bar in words.patches] == [0.7, 0.3]


def test_densities_without_parameters_and_given_ones() -> None:
    for event in (Histogram(), KernelDensity()):
        found = lines(event.fit(NUMBERS).plot(sample=NUMBERS))
        assert set(found) == {"predictive"}
        x, y = found["predictive"]
        np.testing.assert_allclose(y, event.fit(NUMBERS).predictive.pdf(x))
    x, y = lines(Gaussian.of(mean=1, variance=4).plot())["mean 1, variance 4"]
    np.testing.assert_allclose(y, stats.norm.pdf(x, 1, 2))
    for sample in ([], [5.0], [5.0, 5.0]):
        with pytest.raises(ValueError, match="No fitted distribution has a density"):
            Gaussian().fit(sample).plot(sample=sample)
    row = Multinomial().fit([1, 2, 1]).plot(sample=[1, 2, 1])
    assert [bar.get_height() for bar in row.patches] == [0.5, 0.25, 0.25]
    with pytest.raises(ValueError, match="A picture is of one column"):
        Gaussian().fit(np.ones((2, 2))).plot()


def test_posterior_of_a_coin() -> None:
    coin = Bernoulli(prior=Beta(2, 3)).fit([1, 1, 0])
    ax = coin.plot_posterior(level=0.8)
    found = lines(ax)
    np.testing.assert_allclose(found["posterior"][1], stats.beta.pdf(found["posterior"][0], 4, 4))
    np.testing.assert_allclose(found["prior"][1], stats.beta.pdf(found["prior"][0], 2, 3))
    assert "80% interval" in legend(ax)
    (shade,) = ax.collections
    inside = shade.get_paths()[0].vertices[:, 0]
    low, high = stats.beta(4, 4).interval(0.8)
    assert (inside.min(), inside.max()) == pytest.approx((low, high), abs=0.003)
    assert ax.get_xlabel() == "p"
    bare = Bernoulli(alpha=0).fit([1, 1, 0]).plot_posterior()
    assert set(lines(bare)) == {"likelihood (scaled)"}
    mine = plt.subplots()[1]
    assert coin.plot_posterior(mine) is mine


def test_surface_marks_both_estimates() -> None:
    estimate = Gaussian(prior=NormalInverseGamma(2, 1, 3, 4)).fit(NUMBERS)
    ax = estimate.surface().plot()
    found = lines(ax)
    assert found["maximum likelihood"][0][0] == pytest.approx(NUMBERS.mean())
    assert found["maximum likelihood"][1][0] == pytest.approx(NUMBERS.var())
    assert found["posterior mode"][1][0] == pytest.approx(estimate.map["variance"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mean", "variance")
    outer = ax.collections[0].get_paths()[-1].vertices  # of the likelihood, 1 nat below
    best = stats.norm.logpdf(NUMBERS, NUMBERS.mean(), NUMBERS.std()).sum()
    mean, variance = outer[len(outer) // 3]
    at = stats.norm.logpdf(NUMBERS, mean, np.sqrt(variance)).sum()
    assert best - at == pytest.approx(1, abs=0.05)
    assert "posterior" not in legend(Gaussian(smoothing=0).fit(NUMBERS).surface().plot())


@pytest.mark.parametrize("prior", [None, NormalInverseGamma(50, 60, 30, 600)])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_contours_of_a_surface_are_closed_and_around_their_marks(prior, n) -> None:
    """Whatever the prior, and where the two disagree too."""
    model = Gaussian(smoothing=0) if prior is None else Gaussian(prior=prior)
    found = model.fit(NUMBERS[:n]).surface()
    ax = found.plot()
    tables = [found.log_likelihood, *([found.log_posterior] if prior else [])]
    for table in tables:
        top = table.max()
        for edge in (table[0], table[-1], table[:, 0], table[:, -1]):
            assert edge.max() < top - 8
    for line in ax.get_lines():
        ((x, y),) = line.get_xydata()
        assert ax.get_xlim()[0] < x < ax.get_xlim()[1]
        assert ax.get_ylim()[0] < y < ax.get_ylim()[1]


def test_two_densities_on_one_axes_differ() -> None:
    ax = Gaussian.of(mean=1, variance=4).plot(Gaussian.of(mean=0, variance=1).plot())
    assert legend(ax) == ["mean 0, variance 1", "mean 1, variance 4"]
    assert len({line.get_color() for line in ax.get_lines()}) == 2


def test_a_likelihood_under_a_uniform_prior_is_seen() -> None:
    ax = Bernoulli(prior=Beta(1, 1)).fit([1, 1, 0]).plot_posterior()
    found = {line.get_label(): line for line in ax.get_lines()}
    over, under = found["likelihood (scaled)"], found["posterior"]
    np.testing.assert_allclose(over.get_ydata(), under.get_ydata(), rtol=0.01)
    assert over.get_zorder() > under.get_zorder()
    assert over.get_linewidth() < under.get_linewidth()
    assert over.get_linestyle() == "--"


def test_whole_numbers_have_no_false_holes() -> None:
    """Each bin holds as many whole numbers as another, so that none is empty between full ones."""
    for n, scale in ((30, 1), (30, 0.5), (30, 0.1), (47, 1), (64, 1), (81, 1)):
        sample = np.repeat(np.arange(30, 30 + n), 20) * scale
        bars = Gaussian().fit(sample).plot(sample=sample).patches
        assert len({round(bar.get_height(), 9) for bar in bars[:-1]}) == 1
    for most in range(3, 60):
        edges = bins_of(30, 80, 1.0, most)
        (width,) = set(np.diff(edges))
        assert width == round(width)
        assert edges[0] < 30
        assert edges[-1] > 80
        assert len(edges) - 1 <= most


def test_faces_of_a_die_are_in_order() -> None:
    faces = [6, 6, 2, 1, 3, 5, 6, 2, 4, 6]
    ax = Categorical().fit(faces).plot()
    assert [text.get_text() for text in ax.get_xticklabels()] == [*"123456"]
    drawn = list(lines(Categorical().consistency(faces).plot()))
    assert drawn == [*"123456"]


def test_updates_have_a_line_for_each_size() -> None:
    found = Bernoulli().updates(FLIPS, at=(0, 5, 120))
    ax = found.plot()
    assert list(lines(ax)) == ["0", "5", "120"]
    np.testing.assert_array_equal(lines(ax)["120"][1], found.density[2])
    many = Bernoulli().updates(FLIPS, at=range(100)).plot()
    assert len(many.get_lines()) == 12
    assert many.get_legend().get_title().get_text() == "observations (12 of 100 sizes are drawn)"
    asked = Bernoulli().updates(FLIPS).plot()  # by default all are drawn
    assert asked.get_legend().get_title().get_text() == "observations"


def test_consistency_shows_the_truth_and_the_band() -> None:
    found = Bernoulli().consistency(FLIPS, truth=0.7)
    ax = found.plot()
    np.testing.assert_array_equal(lines(ax)["p"][1], found.estimate["p"])
    assert lines(ax)["truth"][1] == [0.7, 0.7]
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(found.high["p"].max())
    levels = Categorical().consistency([*"abcdefghijk"]).plot()
    assert levels.get_xlabel() == "observations (3 more parameters are not drawn)"


def test_series_and_autocorrelation() -> None:
    found = independence(NUMBERS)
    np.testing.assert_array_equal(found.plot_series().get_lines()[0].get_ydata(), NUMBERS)
    ax = found.plot_autocorrelation()
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), found.autocorrelation)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (band.y0, band.y1) == pytest.approx((-found.band, found.band))
