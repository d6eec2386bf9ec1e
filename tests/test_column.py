"""One column by class: densities are those of SciPy, integrate to 1, and are what is drawn."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from naively import (
    Bernoulli,
    Binomial,
    Categorical,
    Exponential,
    Gaussian,
    Geometric,
    Histogram,
    JointTable,
    KernelDensity,
    LogNormal,
    Multinomial,
    NaiveBayes,
    NegativeBinomial,
    Poisson,
    load,
)
from naively.inspect.one_column import OneColumn

mpl.use("Agg")
RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [40, 60, 100])
X = RNG.normal(np.repeat([0.0, 2.0, 5.0], [40, 60, 100]), 1.0)
COUNTS = RNG.poisson(np.repeat([1.0, 3.0, 6.0], [40, 60, 100]))


def fitted(event, x=X, y=Y, **options) -> NaiveBayes:
    return NaiveBayes({"x": event}, weights=None, **options).fit({"x": x}, y)


def of_class(x, label):
    return np.asarray(x)[label == Y]


WIDE = np.linspace(-60, 70, 26_001)
POSITIVE = np.geomspace(1e-9, 1e6, 200_001)
WHOLE = np.arange(2_000.0)


@pytest.mark.parametrize(
    ("event", "x", "at", "of"),
    [
        (Gaussian(smoothing=0), X, WIDE, lambda x: stats.norm(x.mean(), x.std())),
        (LogNormal(smoothing=0), np.exp(X / 2), POSITIVE,
         lambda x: stats.lognorm(np.log(x).std(), scale=np.exp(np.log(x).mean()))),
        (Exponential(estimate="mle"), np.exp(X), POSITIVE, lambda x: stats.expon(scale=x.mean())),
        (Poisson(estimate="mle"), COUNTS, WHOLE, lambda x: stats.poisson(x.mean())),
        (Geometric(estimate="mle"), COUNTS, WHOLE, lambda x: stats.geom(1 / (1 + x.mean()), -1)),
        (Binomial(trials=30, estimate="mle"), COUNTS, np.arange(31.0),
         lambda x: stats.binom(30, x.mean() / 30)),
        (NegativeBinomial(r=2.0, estimate="mle"), COUNTS, WHOLE,
         lambda x: stats.nbinom(2, 2 / (2 + x.mean()))),
    ],
    ids=lambda of: getattr(of, "name", None),
)  # fmt: skip
def test_is_the_distribution_that_scipy_has_and_sums_to_one(event, x, at, of):
    view = fitted(event, x).inspect.column("x", at=at)
    assert view.x.tolist() == at.tolist()
    for c, label in enumerate("abc"):
        expected = of(of_class(x, label))
        p = expected.pmf(at) if view.counts else expected.pdf(at)
        np.testing.assert_allclose(view.density[:, c], p, rtol=1e-9, atol=1e-300)
        total = view.density[:, c].sum() if view.counts else trapezoid(view.density[:, c], at)
        assert total == pytest.approx(1, abs=1e-5)


def test_a_histogram_integrates_to_one_over_its_bins():
    view = fitted(Histogram()).inspect.column("x")
    assert trapezoid(view.density, view.x, axis=0) == pytest.approx(1, abs=0.02)  # 0.5 to 99.5 %
    inside = np.linspace(*fitted_extent(), 400_001)
    whole = fitted(Histogram()).inspect.column("x", at=inside)
    np.testing.assert_allclose(trapezoid(whole.density, inside, axis=0), 1, atol=1e-3)


def fitted_extent():
    """Return where the bins of the numbers begin and end, from the numbers."""
    (likelihood,) = fitted(Histogram()).model_.view.terms.values()
    low, high = likelihood.edges[0][0], likelihood.edges[0][-1]
    return low - likelihood.width[0], high + likelihood.width[-1]


def test_kernel_densities_integrate_to_one():
    at = np.linspace(-200, 200, 200_001)
    density = fitted(KernelDensity()).inspect.column("x", at=at).density
    for of in density.T:  # far out it is the same everywhere, as it is scored
        there = np.flatnonzero(np.diff(of))
        some = slice(there[0], there[-1] + 2)
        assert trapezoid(of[some], at[some]) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("event", [Gaussian(), Histogram(), KernelDensity(), Poisson()])
def test_weighted_is_the_joint_of_the_class_and_the_number(event):
    x = COUNTS if event.name == "poisson" else X
    nb = fitted(event, x)
    plain, weighted = nb.inspect.column("x"), nb.inspect.column("x", weighted=True)
    prior = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(weighted.density, plain.density * prior, rtol=1e-12)
    np.testing.assert_allclose(weighted.observed, plain.observed * prior, rtol=1e-12)
    assert "class prior ×" in str(weighted)


def test_weights_have_no_part_in_densities():
    plain = fitted(Gaussian(smoothing=0)).inspect.column("x")
    weighed = NaiveBayes({"x": Gaussian(smoothing=0)}).fit({"x": X}, Y)
    assert weighed.weights_ is not None
    np.testing.assert_allclose(weighed.inspect.column("x").density, plain.density, rtol=1e-12)


@pytest.mark.parametrize("event", [Gaussian(), Histogram(bins=200)], ids=["sample", "cells"])
def test_the_data_under_the_densities_are_a_histogram_of_the_numbers(event):
    nb = fitted(event)
    view = nb.inspect.column("x")
    for c, label in enumerate("abc"):
        x = of_class(X, label)
        expected = np.histogram(x, view.edges)[0] / len(x) / np.diff(view.edges)
        near = 1e-9 if event.name == "gaussian" else 0.03  # a cell is spread over its width
        np.testing.assert_allclose(view.observed[:, c], expected, atol=near)


def test_numbers_of_a_cell_are_spread_over_it():
    x = np.random.default_rng(0).uniform(768, 1_000, 20_000)  # 768 begins a cell
    x[:2_000] = np.geomspace(1e-6, 1, 2_000)  # so that cells are wide
    nb = fitted(Histogram(), x, np.repeat(["a", "b"], 10_000))
    (tally,) = nb.tally_.blocks.values()
    assert (tally.axis.high - tally.axis.low).max() > 6
    edges = np.arange(700.0, 1_000, 2)
    found = OneColumn.find(nb.model_, "x").histogram([], edges)[:, 1]
    middle = (edges[:-1] + edges[1:]) / 2
    assert (found[middle < 768] == 0).all()
    assert found[middle > 768].mean() == pytest.approx(1 / 232, rel=0.02)
    inside = (middle > 768) & (middle < 990)  # the last cell ends beyond the numbers
    assert found[inside].min() > 0.7 / 232


def test_rows_that_came_twice_and_weights_count_in_the_data():
    weight = np.where(Y == "a", 2.0, 1.0) * np.where(X > 0, 3.0, 1.0)
    nb = NaiveBayes({"x": Gaussian()}, weights=None).fit({"x": X}, Y, sample_weight=weight)
    view = nb.inspect.column("x")
    some = Y == "a"
    expected = np.histogram(X[some], view.edges, weights=weight[some])[0]
    expected = expected / weight[some].sum() / np.diff(view.edges)
    np.testing.assert_allclose(view.observed[:, 0], expected)


def test_without_a_sample_the_data_are_left_out_and_it_says_what_keeps_them(tmp_path):
    nb = fitted(Gaussian(smoothing=0))
    nb.save(tmp_path / "without")
    nb.save(tmp_path / "with", keep_rows=True)
    without, kept = (load(tmp_path / name).inspect.column("x") for name in ("without", "with"))
    assert without.observed is None
    assert "save(path, keep_rows=True)" in str(without)
    assert not without.plot().collections
    np.testing.assert_allclose(kept.observed, nb.inspect.column("x").observed)
    assert "save" not in str(kept)
    # The range follows from numbers that are drawn from the model.
    assert without.x[0] == pytest.approx(nb.inspect.column("x").x[0], abs=1.0)


def test_the_axes_hold_the_numbers_and_the_names():
    view = fitted(Gaussian()).inspect.column("x")
    ax = view.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    for c, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_xdata(), view.x)
        np.testing.assert_array_equal(line.get_ydata(), view.density[:, c])
    tops = [path.vertices[:, 1].max() for of in ax.collections for path in of.get_paths()]
    assert tops == pytest.approx(view.observed.max(axis=0).tolist())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "density")


def test_counts_are_drawn_as_stems():
    view = fitted(Poisson(), COUNTS).inspect.column("x")
    ax = view.plot()
    markers = [line for line in ax.lines if line.get_marker() not in (None, "None", "")]
    for c, line in enumerate(markers):
        np.testing.assert_array_equal(line.get_ydata(), view.density[:, c])
        assert np.abs(line.get_xdata() - view.x).max() < 0.5
    assert len(markers) == 3
    assert "probability" in ax.get_ylabel()
    assert view.x.tolist() == list(range(int(view.x[-1]) + 1))


def test_it_draws_on_the_axes_that_are_given():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    nb = NaiveBayes().fit({"x": X, "s": np.where(X > 2, "u", "v")}, Y)
    assert nb.inspect.column("x").plot(ax) is ax
    assert nb.inspect.column("s").plot(ax) is ax


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_numbers_far_beyond_are_cut_and_it_says_how_many(scale):
    rng = np.random.default_rng(1)
    x = rng.standard_t(1, 4_000) * scale
    y = np.repeat(["a", "b"], 2_000)
    view = fitted(KernelDensity(), x, y).inspect.column("x")
    quartiles = np.array([np.percentile(x[y == label], [25, 75]) for label in "ab"])
    wide = 4 * np.diff(quartiles, axis=1)[:, 0]
    ends = (quartiles[:, 0] - wide).min(), (quartiles[:, 1] + wide).max()
    room = 0.06 * (ends[1] - ends[0])
    assert view.x[[0, -1]] == pytest.approx([ends[0] - room, ends[1] + room], rel=0.02)
    beyond = int(((x < view.x[0]) | (x > view.x[-1])).sum())
    said = int(view.notes[0].split(" ")[0].replace(",", ""))
    assert abs(said - beyond) <= 4  # cells that lie across the end
    assert beyond > 0


def test_positive_numbers_far_apart_have_logarithmic_axes():
    x = np.exp(np.random.default_rng(0).normal(0, 3, 200))
    view = fitted(LogNormal(), x).inspect.column("x")
    assert view.log
    assert view.plot().get_xscale() == "log"
    steps = np.diff(np.log(view.x))
    assert steps == pytest.approx(steps[0])


def test_levels_are_probabilities_as_scored():
    s = np.array(["u", "v", "w"])[RNG.integers(0, 3, len(Y))]
    nb = NaiveBayes({"s": Categorical(alpha=1.0)}, weights=None).fit({"s": s}, Y)
    view = nb.inspect.column("s")
    np.testing.assert_allclose(view.p.sum(axis=0), 1)
    table = view.to_dict()
    for level, label, count in zip(table["level"], table["class"], table["count"], strict=True):
        assert count == ((s == level) & (label == Y)).sum()
    # With the class prior and nothing else, Bayes' rule is predict_proba.
    joint = view.p[view.levels.index("v")] * [0.2, 0.3, 0.5]
    np.testing.assert_allclose(joint / joint.sum(), nb.predict_proba({"s": ["v"]})[0])
    np.testing.assert_allclose(
        nb.inspect.column("s", weighted=True).p[0], view.p[0] * [0.2, 0.3, 0.5]
    )


def test_bars_are_the_probabilities_and_marks_the_shares():
    s = np.where(X > 2, "u", np.where(X > 0, "v", "w"))
    view = NaiveBayes(Categorical(alpha=0.5), weights=None).fit({"s": s}, Y).inspect.column("s")
    ax = view.plot()
    shown = [text.get_text() for text in ax.get_yticklabels()]
    of = [view.levels.index(level) for level in shown]
    assert sorted(shown) == ["u", "v", "w"]
    for c, bars in enumerate(ax.containers):
        assert [bar.get_width() for bar in bars] == pytest.approx(view.p[of, c].tolist())
        share = view.count[of, c] / view.count[:, c].sum()
        np.testing.assert_allclose(ax.lines[c].get_xdata(), share)


@pytest.mark.parametrize("event", [Bernoulli(alpha=1.0), Bernoulli(alpha=1.0, threshold=None)])
def test_truths_are_two_levels(event):
    truth = X > 2
    view = NaiveBayes(event, weights=None).fit({"x": truth}, Y).inspect.column("x")
    assert view.levels == [False, True]
    for c, label in enumerate("abc"):
        of = of_class(truth, label)
        assert view.p[:, c] == pytest.approx(
            [((~of).sum() + 1) / (len(of) + 2), (of.sum() + 1) / (len(of) + 2)]
        )
        assert view.count[:, c].tolist() == [(~of).sum(), of.sum()]


def test_a_column_of_a_joint_table_is_its_marginal():
    a, b = np.where(X > 2, "u", "v"), np.where(X > 1, "s", "t")
    nb = NaiveBayes({("a", "b"): JointTable(alpha=0.0)}, weights=None).fit({"a": a, "b": b}, Y)
    view = nb.inspect.column("b")
    for c, label in enumerate("abc"):
        share = (of_class(b, label) == "s").mean()
        assert view.p[view.levels.index("s"), c] == pytest.approx(share)


def test_a_column_of_a_bag_of_counts_is_its_share():
    counts = RNG.integers(0, 5, (len(Y), 3))
    view = NaiveBayes(Multinomial(alpha=1.0), weights=None).fit(counts, Y).inspect.column(1)
    of = counts[Y == "b"].sum(axis=0)
    assert view.p[0, 1] == pytest.approx((of[1] + 1) / (of.sum() + 3))


def test_words_are_those_of_greatest_weight():
    texts = ["cheap pills now", "cheap cheap offer", "lunch at noon", "lunch and notes"]
    nb = NaiveBayes(Multinomial(alpha=1.0), weights=None).fit(texts, ["spam", "spam", "ham", "ham"])
    view = nb.inspect.column("text")
    table = view.to_dict()
    best = [i for i in range(len(table["word"])) if table["class"][i] == "spam"]
    assert table["word"][best[0]] == "cheap"
    # 6 words of spam, 6 of ham, 9 different ones.
    p, other = (3 + 1) / (6 + 9), 1 / (6 + 9)
    assert table["probability"][best[0]] == pytest.approx(p)
    assert table["weight"][best[0]] == pytest.approx(np.log(p / other))
    weights = [table["weight"][i] for i in best]
    assert weights == sorted(weights, reverse=True)
    ax = view.plot()
    widths = [bar.get_width() for of in ax.containers for bar in of]
    assert widths == pytest.approx(table["weight"][: len(widths)])
    assert [label.get_text() for label in ax.get_yticklabels()] == table["word"][: len(widths)]


def test_times_are_densities_per_day():
    when = pd.date_range("2024-01-01", periods=200, freq="D").to_numpy()
    view = NaiveBayes({"x": Gaussian()}).fit(pd.DataFrame({"x": when}), Y).inspect.column("x")
    assert view.x.dtype.kind == "M"
    days = (view.x - view.x[0]) / np.timedelta64(1, "D")
    assert trapezoid(view.density[:, 1], days) == pytest.approx(1, abs=0.02)
    assert "per day" in view.plot().get_ylabel()


def test_parts_of_times_are_columns():
    when = pd.date_range("2024-01-01", periods=200, freq="h")
    view = NaiveBayes().fit(pd.DataFrame({"x": when}), Y).inspect.column("x (hour)")
    assert view.levels[:2] == ["00", "01"]
    assert view.count.sum() == 200


def test_more_classes_and_levels_than_can_be_drawn_are_summarised():
    y = np.arange(400) % 20
    s = [f"level {i % 50}" for i in range(400)]
    nb = NaiveBayes(weights=None).fit({"s": s, "x": np.arange(400.0)}, y)
    for name in ("s", "x"):
        ax = nb.inspect.column(name).plot()
        drawn = ax.get_yticklabels() if name == "x" else ax.get_xticklabels()
        assert [text.get_text() for text in drawn] == [*map(str, range(20))]
        assert "and 12 more classes" in str(nb.inspect.column(name))
    said = " ".join(text.get_text() for text in nb.inspect.column("s").plot().texts)
    assert "and 27 more levels, which 54.0% of the rows have" in said.replace("\n", " ")


def test_few_whole_numbers_are_bars_of_their_probabilities() -> None:
    """A histogram's, too: between 1, 2 and 3 there is nothing, so that no density is drawn."""
    x = np.repeat([1, 2, 3, 1, 2, 3], [40, 30, 130, 60, 50, 90])
    y = np.repeat(["a", "b"], 200)
    view = NaiveBayes(weights=None).fit({"x": x}, y).inspect.column("x")
    assert (view.event, view.whole) == ("histogram", True)
    ax = view.plot()
    assert ax.get_ylabel() == "probability"
    for label, line in zip("ab", ax.lines, strict=True):
        p = line.get_ydata()
        assert p.sum() == pytest.approx(1)
        assert np.abs(p - [(x[y == label] == v).mean() for v in (1, 2, 3)]).max() < 0.02
    np.testing.assert_allclose(view.observed.sum(axis=0), 1)


def test_bins_for_the_eye_hold_what_the_model_says() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(40, 12, 2_000))  # ages, as people tell them
    view = NaiveBayes(weights=None).fit({"x": x}, rng.integers(0, 2, 2_000)).inspect.column("x")
    assert view.stepped
    assert not view.whole
    width = np.diff(view.edges)
    assert set(width) == {5.0}  # of five ages each
    ax = view.plot()
    for c, line in enumerate(ax.lines):
        steps = line.get_ydata()[::2]
        for i in (3, 8):  # the mean density of a bin, whatever the bins of the model
            at = np.linspace(*view.edges[i : i + 2], 20_001)
            inner = (at[1:] + at[:-1]) / 2
            exact = np.interp(inner, view.x, view.density[:, c]).mean()
            assert steps[i] == pytest.approx(exact, rel=1e-3)


def test_a_spike_is_cut_and_it_says_so() -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(2_000) < 0.9, 8.05, rng.exponential(40, 2_000).round(3))
    view = NaiveBayes(weights=None).fit({"x": x}, rng.integers(0, 2, 2_000)).inspect.column("x")
    ax = view.plot()
    said = " ".join(text.get_text() for text in ax.texts)
    assert "is cut: it is" in said
    steps = np.concatenate([line.get_ydata() for line in ax.lines])
    assert ax.get_ylim()[1] < steps.max() / 2
    assert np.sort(np.unique(steps))[-4] < ax.get_ylim()[1]


NAMES = ["$x$_a", "<b>", "_under", "שלום", "a\x1b[31m\nb", "%s {x}", "n" * 99]


@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
def test_any_class_and_level_can_be_drawn(tmp_path):
    y = np.array(NAMES, object)[np.arange(140) % 7]
    level = np.array([*NAMES, "😀"], object)[np.arange(140) % 8]
    nb = NaiveBayes(weights=None).fit({"$a_b$": np.arange(140.0), "_": level}, y)
    for name in ("$a_b$", "_"):
        ax = nb.inspect.column(name).plot()
        ax.figure.savefig(tmp_path / "picture.png")
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert "_under" in names
        assert r"\$x\$_a" in names
        assert "\x1b" not in str(nb.inspect.column(name))


def test_missing_cells_are_said():
    x = X.copy()
    x[:30] = np.nan
    for event in (Gaussian(), Histogram()):
        view = fitted(event, x).inspect.column("x")
        assert "30 of 200 cells are missing" in str(view)
        assert np.isfinite(view.density).all()


@pytest.mark.parametrize("event", [Gaussian(), Histogram(), KernelDensity(), Poisson()])
def test_a_constant_column_can_be_drawn(event):
    view = fitted(event, np.full(200, 3.0)).inspect.column("x")
    assert view.x[0] <= 3 <= view.x[-1]
    assert np.isfinite(view.density).all()
    view.plot()


def test_an_unknown_column_lists_those_that_are():
    nb = NaiveBayes().fit({"x": X, "y": -X, "none": [None] * 200}, Y)
    with pytest.raises(ValueError, match="no column 'z'; the columns are 'x', 'y'"):
        nb.inspect.column("z")
    with pytest.raises(ValueError, match="'none' was missing throughout"):
        nb.inspect.column("none")
    array = NaiveBayes().fit(X[:, None], Y)
    with pytest.raises(ValueError, match="'x3'; the columns are 'x0'"):
        array.inspect.column(3)
    assert array.inspect.column(0).x.tolist() == array.inspect.column("x0").x.tolist()


def test_at_is_for_numbers():
    nb = NaiveBayes().fit({"s": np.where(X > 0, "u", "v")}, Y)
    with pytest.raises(ValueError, match="'s' holds no numbers"):
        nb.inspect.column("s", at=[1.0])


def test_a_sparse_matrix_is_looked_at_too():
    from scipy.sparse import csr_matrix

    nb = NaiveBayes(Poisson(), weights=None).fit(csr_matrix(np.stack([COUNTS, COUNTS], 1)), Y)
    view = nb.inspect.column(1)
    of = of_class(COUNTS, "b")
    expected = np.histogram(of, view.edges)[0] / len(of)
    np.testing.assert_allclose(view.observed[:, 1] * np.diff(view.edges), expected)


def test_numbers_with_zeros_have_a_linear_axis() -> None:
    """The cell of 0 has a middle that is no number to begin a logarithmic axis with."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random(400) < 0.02, 0.0, rng.gamma(2.0, 9.0, 400))
    view = NaiveBayes().fit({"x": x}, np.arange(400) % 2).inspect.column("x")
    assert view.x.min() > -1
    assert not view.log
    assert view.plot()
