"""How sure of a probability: as sure as draws of the posteriors say, and as fits of other rows."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import naively.inspect.uncertainty as uncertainty
from naively import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Complement,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Histogram,
    InverseGamma,
    JointTable,
    KernelDensity,
    LogNormal,
    Multinomial,
    NaiveBayes,
    Normal,
    NormalInverseGamma,
    Poisson,
    load,
)
from naively.fitting import covariance as of_weights
from naively.fitting.weights import APART, BELOW, BIAS, CENTRE, RIDGE, numbered, penalty_of
from tests.commands import run
from tests.learning import encoded
from tests.test_cli import ok, sentence

mpl.use("Agg")
Floats = NDArray[np.float64]
DRAWS, COVERAGE = 4_000, 0.9
POINTS = 0.02  # of probability; on average half of it
FAR = 0.15  # the farthest that one end is off, where a class has met a level once


def check_ends(
    found: uncertainty.ProbabilityIntervals, drawn: Floats, farthest: float = FAR
) -> None:
    """Compare intervals with where draws are, (2, rows, classes)."""
    off = np.abs(np.stack([found.low, found.high]) - drawn)
    assert off.mean() < POINTS / 2
    assert np.quantile(off, 0.9) < POINTS
    assert off.max() < farthest


# --- Draws of the posteriors: what the intervals are to be, by another road -----------------------
#
# An oracle draws the parameters of one column, from its numbers and the conjugate prior, and
# returns the log likelihoods of some cells, (draws, cells).

Oracle = Callable[[Floats, Floats, np.random.Generator], Floats]


def dirichlet(pretend: float) -> Oracle:
    def draw(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
        levels = int(max(seen.max(), asked.max())) + 1
        count = np.bincount(seen.astype(int), minlength=levels) + pretend
        return np.log(rng.dirichlet(count, DRAWS))[:, asked.astype(int)]

    return draw


def beta_of_truths(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    p = rng.beta(1 + seen.sum(), 1 + len(seen) - seen.sum(), DRAWS)[:, None]
    return np.where(asked > 0, np.log(p), np.log1p(-p))


def beta_of_trials(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    p = rng.beta(1 + seen.sum(), 1 + (5 - seen).sum(), DRAWS)[:, None]
    return asked * np.log(p) + (5 - asked) * np.log1p(-p)


def beta_of_failures(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    p = rng.beta(1 + len(seen), 1 + seen.sum(), DRAWS)[:, None]
    return np.log(p) + asked * np.log1p(-p)


def gamma_of_events(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    rate = rng.gamma(2 + seen.sum(), 1 / (1 + len(seen)), DRAWS)[:, None]
    return asked * np.log(rate) - rate


def gamma_of_times(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    rate = rng.gamma(2 + len(seen), 1 / (1 + seen.sum()), DRAWS)[:, None]
    return np.log(rate) - asked * rate


def normal_inverse_gamma(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    """Murphy (2007), section 6, with the prior of mean 1, 2 rows, shape 3 and scale 4."""
    n, mean = len(seen), seen.mean()
    rows = 2 + n
    scale = 4 + ((seen - mean) ** 2).sum() / 2 + 2 * n * (mean - 1) ** 2 / (2 * rows)
    variance = 1 / rng.gamma(3 + n / 2, 1 / scale, DRAWS)
    at = rng.normal((2 + n * mean) / rows, np.sqrt(variance / rows))
    return stats.norm.logpdf(asked, at[:, None], np.sqrt(variance)[:, None])


def normal_of_mean(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    precision = 1 / 2.0 + len(seen) / 4.0
    mean = (1 / 2.0 + seen.sum() / 4.0) / precision
    at = rng.normal(mean, precision**-0.5, DRAWS)[:, None]
    return stats.norm.logpdf(asked, at, 2.0)


def inverse_gamma(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    scale = 4 + ((seen - 1) ** 2).sum() / 2
    variance = 1 / rng.gamma(3 + len(seen) / 2, 1 / scale, DRAWS)
    return stats.norm.logpdf(asked, 1.0, np.sqrt(variance)[:, None])


def of_logarithms(seen: Floats, asked: Floats, rng: np.random.Generator) -> Floats:
    return normal_inverse_gamma(np.log(seen), np.log(asked), rng)


def levels(rng: np.random.Generator, y: Floats) -> Floats:
    return np.minimum(rng.poisson(0.5 + y), 3).astype(float)


def numbers(rng: np.random.Generator, y: Floats) -> Floats:
    return rng.normal(y, 1 + y / 4)


PRIOR = NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
Column = tuple[Any, Callable[[np.random.Generator, Floats], Floats], Oracle]
COLUMNS: dict[str, Column] = {
    "levels": (Categorical(), levels, dirichlet(1.0)),
    "levels by half a row": (Categorical(alpha=0.5), levels, dirichlet(0.5)),
    "the mode of levels": (Categorical(estimate="map"), levels, dirichlet(2.0)),
    "bins": (Histogram(bins=4, smoothing=0, alpha=1.0), levels, dirichlet(1.0)),
    "truths": (
        Bernoulli(),
        lambda rng, y: (rng.random(len(y)) < (1 + y) / 4) * 1.0,
        beta_of_truths,
    ),
    "trials": (
        Binomial(trials=5, prior=Beta(1, 1)),
        lambda rng, y: rng.binomial(5, (1 + y) / 4).astype(float),
        beta_of_trials,
    ),
    "failures": (
        Geometric(prior=Beta(1, 1)),
        lambda rng, y: rng.geometric((1 + y) / 4) - 1.0,
        beta_of_failures,
    ),
    "events": (
        Poisson(prior=Gamma(2, 1)),
        lambda rng, y: rng.poisson(1 + y).astype(float),
        gamma_of_events,
    ),
    "times": (
        Exponential(prior=Gamma(2, 1)),
        lambda rng, y: rng.exponential(1 + y),
        gamma_of_times,
    ),
    "numbers": (Gaussian(prior=PRIOR), numbers, normal_inverse_gamma),
    "numbers of a known variance": (
        Gaussian(variance=4.0, prior=Normal(1.0, 2.0)),
        numbers,
        normal_of_mean,
    ),
    "numbers of a known mean": (
        Gaussian(mean=1.0, prior=InverseGamma(3.0, 4.0)),
        numbers,
        inverse_gamma,
    ),
    "logarithms": (LogNormal(prior=PRIOR), lambda rng, y: np.exp(numbers(rng, y)), of_logarithms),
}
MIXED = ["levels", "numbers", "events", "truths"]


def width(of: uncertainty.ProbabilityIntervals) -> Floats:
    return of.high - of.low


def ends_of_draws(log_likelihood: list[Floats], count: Floats, rng: np.random.Generator) -> Floats:
    """Return where 90 % of the posteriors are, (2, cells, classes), of draws by class."""
    prior = np.log(rng.dirichlet(count + 0.5, DRAWS))
    joint = np.stack([of + prior[:, c, None] for c, of in enumerate(log_likelihood)], axis=2)
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=2, keepdims=True))
    return np.quantile(p, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2], axis=0)


@pytest.mark.parametrize(("rows", "farthest"), [(80, FAR), (600, 0.03)])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("names", [*([name] for name in COLUMNS), MIXED], ids="+".join)
def test_intervals_are_those_of_draws_of_the_posteriors(
    names: list[str], k: int, rows: int, farthest: float
) -> None:
    rng = np.random.default_rng(k)
    y = rng.integers(0, k, rows * k).astype(float)
    table = {name: COLUMNS[name][1](rng, y) for name in names}
    asked = {name: of[:40] for name, of in table.items()}
    events = {name: COLUMNS[name][0] for name in names}
    nb = NaiveBayes(events, weights=None).fit(table, y.astype(int))
    found = nb.predict_interval(asked, COVERAGE)
    drawn = [
        sum(COLUMNS[name][2](table[name][y == c], asked[name], rng) for name in names)
        for c in range(k)
    ]
    check_ends(found, ends_of_draws(drawn, np.bincount(y.astype(int)), rng), farthest)
    np.testing.assert_allclose(found.probability, nb.predict_proba(asked))


@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "levels by half a row"])
def test_means_and_variances_of_few_rows_are_exact(name: str) -> None:
    event, draw, oracle = COLUMNS[name]
    rng = np.random.default_rng(8)
    y = np.repeat([0, 1], 4)
    x = draw(rng, y * 1.0)
    model = NaiveBayes({"a": event}, weights=None).fit({"a": x}, y).model_
    (group,) = model.view.schema.groups
    blocks = model.blocks(encoded(model, {"a": x}))
    found = group.event.uncertain(model.view.counts[group.key], blocks[group.key])
    for c in (0, 1):
        drawn = np.concatenate([oracle(x[y == c], x, rng) for _ in range(40)])
        off = found.mean[:, c] - drawn.mean(axis=0)  # but for a base measure, alike in all classes
        if name == "logarithms":
            off = off - off[0]
        spread = drawn.std(axis=0)
        np.testing.assert_allclose(off, 0, atol=4 * spread.max() / math.sqrt(len(drawn)))
        np.testing.assert_allclose(found.variance[:, c], spread**2, rtol=0.05)


def test_one_variance_of_all_classes_moves_them_together() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 60)
    x = rng.normal(y, 1.0)
    prior = NormalInverseGamma(1.0, 2.0, 3.0, 4.0)
    nb = NaiveBayes(Gaussian(variance="shared", prior=prior), weights=None).fit(x[:, None], y)
    asked = np.linspace(-3, 6, 30)
    found = nb.predict_interval(asked[:, None])
    scale = 4.0
    for c in range(3):
        seen, n = x[y == c], (y == c).sum()
        scale += ((seen - seen.mean()) ** 2).sum() / 2
        scale += 2 * n * (seen.mean() - 1) ** 2 / (2 * (2 + n))
    variance = 1 / rng.gamma(3 + len(x) / 2, 1 / scale, DRAWS)
    drawn = []
    for c in range(3):
        rows = 2 + (y == c).sum()
        at = rng.normal((2 + x[y == c].sum()) / rows, np.sqrt(variance / rows))
        drawn.append(stats.norm.logpdf(asked, at[:, None], np.sqrt(variance)[:, None]))
    check_ends(found, ends_of_draws(drawn, np.bincount(y), rng))


def words(rng: np.random.Generator, y: Floats, length: int = 12) -> NDArray[np.int64]:
    p = np.array([[4, 3, 2, 1, 1, 1], [1, 1, 1, 2, 3, 4], [2, 2, 2, 2, 2, 2]]) / 12
    return np.stack([rng.multinomial(length, p[c]) for c in y.astype(int).tolist()])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("form", ["matrix", "sparse", "texts"])
def test_words_of_a_row_have_one_total(form: str, k: int) -> None:
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(3)
    y = rng.integers(0, k, 20 * k)
    count = words(rng, y)
    X: Any = csr_matrix(count) if form == "sparse" else count.astype(float)
    if form == "texts":
        names = ["ant", "bee", "cat", "dog", "elk", "fox"]
        X = [" ".join(np.repeat(names, of)) for of in count]
    nb = NaiveBayes(Multinomial(), weights=None, text="words").fit(X, y)
    found = nb.predict_interval(X[:20])
    drawn = [
        np.log(rng.dirichlet(count[y == c].sum(axis=0) + 1, DRAWS)) @ count[:20].T for c in range(k)
    ]
    check_ends(found, ends_of_draws(drawn, np.bincount(y), rng))


def test_words_that_a_text_holds_or_not_are_coins() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 60)
    there = rng.random((60, 5)) < np.where(y[:, None] == 1, 0.7, 0.3)
    there[:, 0] = True
    texts = [" ".join(np.array(["ant", "bee", "cat", "dog", "elk"])[of]) for of in there]
    nb = NaiveBayes(Bernoulli(), weights=None, text="words").fit(texts, y)
    found = nb.predict_interval(texts[:20])
    drawn = [
        sum(
            beta_of_truths(there[y == c][:, j] * 1.0, there[:20, j] * 1.0, rng)
            for j in range(there.shape[1])
        )
        for c in (0, 1)
    ]
    check_ends(found, ends_of_draws(drawn, np.bincount(y), rng))


def test_smoothed_bins_are_as_sure_as_the_rows_that_speak_for_them() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 120)
    x = rng.binomial(7, np.where(y == 1, 0.6, 0.4)).astype(float)
    assert len(np.unique(x)) == 8
    nb = NaiveBayes(Histogram(bins=8, smoothing=1.0, alpha=1.0), weights=None).fit(x[:, None], y)
    asked = np.arange(8.0)
    found = nb.predict_interval(asked[:, None])
    at = np.arange(8)
    kernel = np.exp(-0.5 * (at[:, None] - at) ** 2)
    kernel /= kernel.sum(axis=0)
    own = np.diag(kernel)
    drawn = []
    for c in (0, 1):
        count = np.bincount(x[y == c].astype(int), minlength=8)
        smooth = rng.gamma(count, size=(DRAWS, 8)) @ kernel.T
        smooth += rng.gamma(1 / own, size=(DRAWS, 8)) * own
        drawn.append(np.log(smooth / smooth.sum(axis=1, keepdims=True)))
    check_ends(found, ends_of_draws(drawn, np.bincount(y), rng))
    rough = NaiveBayes(Histogram(bins=8, smoothing=0, alpha=1.0), weights=None).fit(x[:, None], y)
    assert width(found).mean() < width(rough.predict_interval(asked[:, None])).mean()


# --- Laws -----------------------------------------------------------------------------------------


def mixed(rows: int, k: int = 2, seed: int = 0) -> tuple[dict[str, Any], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, rows)
    size = rng.normal(y, 1.5)
    size[rng.random(rows) < 0.1] = np.nan
    table = {
        "size": size,
        "colour": np.array(["red", "blue", "green"])[(y + rng.integers(0, 3, rows)) % 3],
        "old": rng.random(rows) < (1 + y) / 4,
    }
    return table, y


def first(table: dict[str, Any], rows: slice | NDArray[np.int64]) -> dict[str, Any]:
    return {name: of[rows] for name, of in table.items()}


HOW = [None, "loo", "temperature"]


@pytest.mark.parametrize("weights", HOW)
@pytest.mark.parametrize("k", [2, 3])
def test_an_interval_holds_its_probability_and_a_wider_one_holds_it(
    weights: str | None, k: int
) -> None:
    table, y = mixed(300, k)
    nb = NaiveBayes(weights=weights).fit(table, y)
    before = np.zeros((300, k)) + np.nan
    for coverage in (0.05, 0.5, 0.9, 0.999):
        found = nb.predict_interval(table, coverage)
        assert (found.low <= found.probability).all()
        assert (found.high >= found.probability).all()
        assert ((found.low >= 0) & (found.high <= 1)).all()
        assert not (width(found) < before).any()
        before = width(found)
        np.testing.assert_allclose(found.probability, nb.predict_proba(table), rtol=1e-12)
    assert (before > 0).all()


@pytest.mark.parametrize("weights", HOW)
def test_of_two_classes_one_is_the_other_turned(weights: str | None) -> None:
    table, y = mixed(300)
    found = NaiveBayes(weights=weights).fit(table, y).predict_interval(table)
    np.testing.assert_allclose(found.low[:, 0], 1 - found.high[:, 1], atol=1e-12)
    np.testing.assert_allclose(found.high[:, 0], 1 - found.low[:, 1], atol=1e-12)


@pytest.mark.parametrize("weights", HOW)
@pytest.mark.parametrize("k", [2, 3])
def test_the_order_of_rows_and_what_is_asked_with_them_does_not_show(
    weights: str | None, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, y = mixed(400, k)
    nb = NaiveBayes(weights=weights).fit(table, y)
    found = nb.predict_interval(table)
    order = np.random.default_rng(1).permutation(400)
    other = NaiveBayes(weights=weights).fit(first(table, order), y[order]).predict_interval(table)
    np.testing.assert_allclose(other.low, found.low, atol=1e-6)
    np.testing.assert_allclose(other.high, found.high, atol=1e-6)
    alone = nb.predict_interval(first(table, slice(7, 8)))
    np.testing.assert_allclose(alone.low, found.low[7:8], rtol=1e-9)
    for module in (uncertainty, of_weights):
        monkeypatch.setattr(module, "AT_ONCE", 100)
    in_pieces = nb.predict_interval(table)
    np.testing.assert_allclose(in_pieces.low, found.low, rtol=1e-9)
    np.testing.assert_allclose(in_pieces.high, found.high, rtol=1e-9)
    assert len(nb.predict_interval(first(table, slice(0, 0)))) == 0


@pytest.mark.parametrize("weights", HOW)
def test_merged_is_as_sure_as_learned_at_once(weights: str | None) -> None:
    table, y = mixed(500)
    whole = NaiveBayes(weights=weights).fit(table, y).predict_interval(table)
    a, b = (
        NaiveBayes(weights=weights).fit(first(table, of), y[of])
        for of in (slice(0, 260), slice(260, 500))
    )
    merged = a.merge(b).predict_interval(table)
    np.testing.assert_allclose(merged.low, whole.low, atol=1e-5)
    np.testing.assert_allclose(merged.high, whole.high, atol=1e-5)


@pytest.mark.parametrize("weights", HOW)
def test_more_rows_are_surer(weights: str | None) -> None:
    asked = mixed(100, seed=9)[0]
    widths = []
    for rows in (250, 1000, 4000):
        found = NaiveBayes(weights=weights).fit(*mixed(rows)).predict_interval(asked)
        widths.append(float(width(found).mean()))
    # Four times the rows are about twice as sure.
    assert widths[0] > 1.5 * widths[1] > 2.25 * widths[2]


def test_a_matrix_is_as_sure_sparse_as_dense() -> None:
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    X = rng.poisson(0.5 + y[:, None], (300, 4)).astype(float)
    for event in (Bernoulli(), Poisson()):
        nb = NaiveBayes(event, weights=None).fit(X, y)
        of_sparse = NaiveBayes(event, weights=None).fit(csr_matrix(X), y)
        found, sparse = nb.predict_interval(X), of_sparse.predict_interval(csr_matrix(X))
        np.testing.assert_allclose(sparse.low, found.low, rtol=1e-9)
        mean = NaiveBayes(event, weights="temperature")
        weighted = mean.fit(csr_matrix(X), y).predict_interval(csr_matrix(X))
        assert (weighted.high > weighted.low).all()


def test_a_class_prior_that_is_given_is_known() -> None:
    table, y = mixed(300)
    given = NaiveBayes(weights=None, class_prior="uniform").fit(table, y)
    empty = {"size": [np.nan], "colour": [None], "old": [None]}
    nothing = {"presence": "ignore", "weights": None}
    for nb, unsure in (
        (NaiveBayes(**nothing).fit(table, y), True),
        (NaiveBayes(class_prior="uniform", **nothing).fit(table, y), False),
    ):
        found = nb.predict_interval(empty)
        assert float((found.high - found.low).max()) == pytest.approx(
            2 * 1.645 * 0.25 * math.sqrt(2 / 150) if unsure else 0.0, rel=0.05
        )
    assert (width(given.predict_interval(table)) > 0).all()


def test_of_nothing_known_a_probability_may_be_any() -> None:
    nb = NaiveBayes(Categorical(alpha=0), weights=None).fit({"a": ["x", "y"]}, [0, 1])
    found = nb.predict_interval({"a": ["x", "z"]})
    assert (found.low == 0).all()
    assert (found.high == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("weights", HOW)
def test_fits_of_other_rows_are_as_far_apart_as_is_said(weights: str | None) -> None:
    asked = mixed(100, seed=99)[0]
    fits = [NaiveBayes(weights=weights).fit(*mixed(600, seed=seed)) for seed in range(40)]
    p = np.stack([nb.predict_proba(asked)[:, 1] for nb in fits])
    odds = np.log(p / (1 - p)).std(axis=0)
    found = fits[0].predict_interval(asked)
    low, high = (np.log(of / (1 - of))[:, 1] for of in (found.low, found.high))
    ratio = np.median(odds / ((high - low) / 2 / 1.645))
    assert 0.7 < ratio < 1.3


# --- With weights: centred, times the weights, over the lengths of texts --------------------------


def log_odds(joint: Floats, c: int) -> float:
    return float(joint[c] - np.logaddexp.reduce(np.delete(joint, c)))


@pytest.mark.parametrize("of_texts", [False, True])
def test_weighted_variances_are_those_of_what_is_weighted(of_texts: bool) -> None:
    """Each item's log likelihood is moved, to see how far the log odds go."""
    if of_texts:
        texts, y = some_texts()
        model = NaiveBayes().fit(texts, y).model_
        batch = encoded(model, texts[:3]).split()
    else:
        table, y = mixed(300, 3)
        model = NaiveBayes(event_models={"size": "gaussian"}).fit(table, y).model_
        batch = encoded(model, first(table, slice(0, 3)))
    blocks, classes = model.blocks(batch), model.classes.tolist()
    joint = np.asarray(model.score(batch, "joint"))
    for group, found in zip(
        model.view.schema.groups, uncertainty._uncertain(model, batch), strict=True
    ):
        parts, block = model.view.parts[group.key], blocks[group.key]
        of = group.event.uncertain(model.view.counts[group.key], block, 1.0)
        bare = group.event.uncertain(model.view.counts[group.key], block, 0.0)
        assert (of.variance <= bare.variance + 1e-9).all()
        weight = model.weights.table(parts.keys, classes)
        for row in range(3):
            items = np.flatnonzero(of.row == row)
            factor = len(items) ** -0.5 if of_texts and len(items) else 1.0
            for c in range(3):
                moved = np.zeros((len(items), 3))
                for i, item in enumerate(items.tolist()):
                    for d in range(3):
                        own = np.zeros(3)
                        own[d] = 1e-4
                        own = factor * weight[parts.of_unit[of.unit[item]]] * (own - own.mean())
                        ends = (log_odds(joint[row] + sign * own, c) for sign in (1, -1))
                        moved[i, d] = (next(ends) - next(ends)) / 2e-4
                variance = float((moved**2 * of.variance[items]).sum())
                if of.of_total is not None:
                    variance -= float(moved.sum(axis=0) ** 2 @ of.of_total)
                h = -np.exp(joint - np.logaddexp.reduce(np.delete(joint, c, 1), axis=1)[:, None])
                h[:, c] = 1.0
                assert found.variance(h)[row] == pytest.approx(
                    max(variance, 0.0), rel=1e-4, abs=1e-9
                )


def test_counts_below_a_row_are_taken_for_one_with_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    table, y = mixed(300)
    table["colour"][0] = "rare"
    nb = NaiveBayes().fit(table, y)
    row = first(table, slice(0, 1))
    surer = width(nb.predict_interval(row))
    monkeypatch.setattr(uncertainty, "LEAST_WEIGHED", 0.0)
    assert (width(nb.predict_interval(row)) > surer + 1e-6).all()
    pure = NaiveBayes(weights=None).fit(table, y)
    surer = width(pure.predict_interval(row))
    monkeypatch.setattr(uncertainty, "LEAST", 0.0)
    assert (width(pure.predict_interval(row)) > surer + 1e-6).all()


# --- The weights: second derivatives by brute force -----------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_the_curvature_is_the_second_derivative_of_the_loss(k: int) -> None:
    table, y = mixed(300, k)
    nb = NaiveBayes().fit(table, y)
    model, sample = nb.model_, nb._learned.sample.of(nb.model_)
    found = sample.weighed_table(model)
    covariance = of_weights.weights_covariance(model, sample)
    parts, rows = len(found.parts), found.labels.weights
    columns = 1 if k == 2 else k
    free = np.array(found.by_class) & (columns > 1)
    number = numbered(free, columns)
    weight = model.weights.table(found.parts, model.classes.tolist())
    bias = np.array(model.weights.bias)
    missing = np.array(found.kinds) == "missing"
    strength, apart = np.where(missing, 10.0 * (1 + 500 / 300), RIDGE), APART

    def loss(x: Floats) -> float:
        of = x[k:].reshape(k, parts).T if k > 2 else np.repeat(x[1:, None], 2, axis=1)
        b = x[:k] if k > 2 else np.array([-0.5, 0.5]) * x[0]
        joint = found.prior + np.einsum("pc,pnc->nc", of, found.table) + b
        right = joint[np.arange(len(joint)), found.labels.codes]
        total = float(rows @ (np.logaddexp.reduce(joint, axis=1) - right))
        mean = of.mean(axis=1)
        # The centres do not show in second derivatives.
        total += 0.5 * float(strength @ (mean - CENTRE) ** 2)
        total += 0.5 * apart * float(((of - mean[:, None]) ** 2).sum()) + 0.5 * BIAS * float(b @ b)
        return total

    if k > 2:
        assert free.all()
        x = np.concatenate([bias, weight.T.ravel()])
        place = np.concatenate([np.arange(k), k + number.ravel()])
    else:
        x, place = np.append(bias[1] - bias[0], weight[:, 0]), np.append(0, 1 + number[0])
    there = np.append(
        np.ones(len(x) - weight.T[:columns].size, np.bool_), x[-weight.T[:columns].size :] > 0
    )
    step, eye = 1e-3, np.eye(len(x)) * 1e-3
    second = np.array(
        [
            [
                (loss(x + a + b) - loss(x + a - b) - loss(x - a + b) + loss(x - a - b))
                / 4
                / step**2
                for b in eye[there]
            ]
            for a in eye[there]
        ]
    )
    order = np.argsort(place[there])
    mine = np.linalg.inv(covariance.root @ covariance.root.T)
    np.testing.assert_allclose(mine, second[np.ix_(order, order)], rtol=2e-3, atol=2e-2)
    assert (covariance.number >= 0).sum() == (weight > 0).sum()


def test_the_variance_of_weights_is_that_of_the_log_odds_that_they_make() -> None:
    table, y = mixed(300, 3)
    nb = NaiveBayes().fit(table, y)
    sample = nb._learned.sample.of(nb.model_)
    covariance = of_weights.weights_covariance(nb.model_, sample)
    rng = np.random.default_rng(0)
    evidence = rng.normal(size=(len(covariance.parts), 5, 3))
    h = rng.normal(size=(5, 3))
    drawn = covariance.root @ rng.normal(size=(len(covariance.root), 20_000))
    moved = np.zeros((20_000, 5))
    for c in range(3):
        weight = np.where(covariance.number[c, :, None] < 0, 0.0, drawn[covariance.number[c]])
        joint = np.einsum("ps,pr->sr", weight, evidence[:, :, c])
        moved += h[:, c] * (
            joint + drawn[: covariance.bias.shape[1]].T @ covariance.bias[c][:, None]
        )
    np.testing.assert_allclose(covariance.variance(h, evidence), moved.var(axis=0), rtol=0.05)


def test_one_temperature_is_as_sure_as_its_loss_is_curved() -> None:
    table, y = mixed(400)
    nb = NaiveBayes(weights="temperature", presence="ignore").fit(table, y)
    sample = nb._learned.sample.of(nb.model_)
    covariance = of_weights.weights_covariance(nb.model_, sample)
    found = sample.weighed_table(nb.model_)
    joint, t = found.table.sum(axis=0), nb.weights_.usual

    def loss(w: float) -> float:
        of = found.prior + w * joint
        right = of[np.arange(len(of)), found.labels.codes]
        return float(found.labels.weights @ (np.logaddexp.reduce(of, axis=1) - right))

    second = (loss(t + 1e-3) - 2 * loss(t) + loss(t - 1e-3)) / 1e-6 + BELOW / t**2
    np.testing.assert_allclose((covariance.root @ covariance.root.T)[0, 0], 1 / second, rtol=1e-3)


def test_penalties_of_means_and_of_classes_are_one_sum_of_squares() -> None:
    kinds, number, free = np.array(["column"]), np.array([[0], [1], [2]]), np.array([True])
    penalty = penalty_of(kinds, np.ones(1), 300.0, free, number, 0)
    off = np.array([0.3, -0.2, 0.9])
    mean = off.mean()
    wanted = RIDGE * mean**2 + APART * ((off - mean) ** 2).sum()
    assert penalty.alone @ off**2 + penalty.together @ [off.sum() ** 2] == pytest.approx(wanted)


# --- Texts with weights, groups, weights of rows --------------------------------------------------


def some_texts() -> tuple[list[str], NDArray[np.int64]]:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 300)
    lexicon = np.array([f"word{i}" for i in range(60)])
    return [" ".join(lexicon[(rng.poisson(20 + 5 * c, 9) % 60)]) for c in y.tolist()], y


def test_texts_of_the_default_have_intervals() -> None:
    texts, y = some_texts()
    for weights in HOW:
        nb = NaiveBayes(weights=weights).fit(texts, y)
        found = nb.predict_interval([*texts[:20], "none of these"])
        assert np.isfinite(found.low).all()
        assert (found.low <= found.high).all()


def test_groups_and_weights_of_rows_count() -> None:
    table, y = mixed(400)
    grouped = NaiveBayes().fit(table, y, groups=np.arange(400) // 2)
    alone = NaiveBayes().fit(table, y)
    twice = NaiveBayes().fit(table, y, sample_weight=np.full(400, 2.0))
    widths = [width(nb.predict_interval(table)).mean() for nb in (grouped, alone)]
    assert 0.7 < widths[0] / widths[1] < 1.8
    np.testing.assert_allclose(
        twice.predict_interval(table).low, alone.predict_interval(table).low, atol=1e-6
    )


# --- Refusals -------------------------------------------------------------------------------------


def test_what_cannot_be_known_is_refused(tmp_path: Path) -> None:
    table, y = mixed(300)
    few = NaiveBayes().fit(first(table, slice(0, 150)), y[:150])
    with pytest.raises(ValueError, match=r"fewer than 200 rows, copies left out, .* learned 150"):
        few.predict_interval(table)
    nb = NaiveBayes().fit(table, y)
    nb.save(tmp_path / "kept", keep_rows=True)
    nb.save(tmp_path / "bare")
    np.testing.assert_allclose(
        load(tmp_path / "kept").predict_interval(table).low, nb.predict_interval(table).low
    )
    bare = load(tmp_path / "bare")
    faded = NaiveBayes().fit(table, y).decay(0.99)
    less = NaiveBayes().fit(table, y).forget(first(table, slice(0, 9)), y[:9])
    for gone in (bare, faded, less):
        with pytest.raises(ValueError, match=r"not in memory: load a file .*keep_rows=True"):
            gone.predict_interval(table)
    pure = NaiveBayes(weights=None).fit(table, y).forget(first(table, slice(0, 9)), y[:9])
    assert len(pure.predict_interval(table)) == 300


@pytest.mark.parametrize("coverage", [0, 1, -0.5, 90, "much", None, True, float("nan")])
def test_a_coverage_is_between_0_and_1(coverage: Any) -> None:
    nb = NaiveBayes(weights=None).fit(*mixed(30))
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        nb.predict_interval(mixed(30)[0], coverage)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (KernelDensity(), "'a' is not known for density: it has no parameters"),
        (JointTable(), "is not known for joint: it has no parameters"),
        (Complement(), "'a' is not known for complement: each class is scored by"),
        (Gaussian(estimate="predictive"), "'a' is .* gaussian: with estimate=.predictive. its"),
        (Poisson(estimate="predictive"), "'a' is .* poisson: with estimate=.predictive. its"),
        (Multinomial(estimate="predictive"), "'a' is .* multinomial: with estimate=.predictive."),
    ],
    ids=str,
)
def test_event_models_without_a_posterior_name_the_column(event: Any, says: str) -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(1, 4, 30), "b": rng.integers(1, 4, 30)}
    nb = NaiveBayes(event, weights=None).fit(table, rng.integers(0, 2, 30))
    with pytest.raises(ValueError, match=says):
        nb.predict_interval(table)


def test_rows_without_a_label_and_tables_elsewhere_are_refused() -> None:
    table, y = mixed(300)
    some = [label if i % 2 else None for i, label in enumerate(y.tolist())]
    nb = NaiveBayes(weights=None, semi_supervised=True).fit(table, some)
    with pytest.raises(ValueError, match="rows without a label count"):
        nb.predict_interval(table)
    with pytest.raises(ValueError, match="Intervals are of rows in memory"):
        NaiveBayes(weights=None).fit(table, y).predict_interval(iter([table]))


def test_too_many_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table, y = mixed(300, 3)
    nb = NaiveBayes().fit(table, y)
    monkeypatch.setattr(of_weights, "MOST", 5)
    with pytest.raises(ValueError, match="more than 5 weights, and the model has 1"):
        nb.predict_interval(table)


# --- The result, explanations, and the command line -----------------------------------------------


def test_the_result_is_a_table_and_a_picture() -> None:
    table, y = mixed(300, 3)
    found = NaiveBayes().fit(table, np.array(["a", "b", "c"])[y]).predict_interval(table)
    columns = found.to_dict()
    assert [*columns] == ["row", "class", "probability", "low", "high"]
    assert columns["class"][:4] == ["a", "b", "c", "a"]
    assert columns["low"][4] == found.low[1, 1]
    assert len(columns["row"]) == 900
    ax = found.plot("b")
    assert ax.get_xlabel() == "p(b),\nand 90% for the mean of fits to as many rows"
    assert len(ax.get_yticks()) == 40
    drawn = [float(x) for x in ax.lines[0].get_xdata()]
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[0] == found.probability[:, 1].max()
    with pytest.raises(ValueError, match="There is no class 'd'"):
        found.plot("d")


@pytest.mark.parametrize("k", [2, 3])
def test_explanations_say_the_interval_when_asked(k: int) -> None:
    table, y = mixed(300, k)
    nb = NaiveBayes().fit(table, y)
    found = nb.predict_interval(table, 0.8)
    asked = nb.explain(table, interval=0.8)
    assert "as many other rows" not in str(nb.explain(table))
    for i in range(0, 300, 50):
        row, c = asked[i], asked[i].best
        p, low, high = (of[i, c] for of in (found.probability, found.low, found.high))
        line = f"p = {p:.2f}, {low:.2f} to {high:.2f} for the mean of fits to as many rows"
        assert str(row).splitlines()[1] == line
        steps = row.waterfall(3)
        assert str(steps).splitlines()[1] == line
        low_odds, high_odds = (math.log(of / (1 - of)) for of in (low, high))
        if k == 2:
            assert steps.ends == pytest.approx((low_odds, high_odds))
        ax = row.plot()
        assert ax.get_title(loc="right").endswith(line)
        assert ax.containers[-1].has_xerr


def test_a_narrow_interval_has_more_digits() -> None:
    of = uncertainty.ProbabilityIntervals
    labels = np.array(["a", "b"])
    for p, low, high, said in (
        (0.91, 0.84, 0.95, "p = 0.91, 0.84 to 0.95"),
        (0.99997, 0.99985, 0.99999, "p = 0.99997, 0.99985 to 0.99999"),
        (1.0, 1.0, 1.0, "p = 1.00, 1.00 to 1.00"),
    ):
        found = of(*(np.array([[1 - x, x]]) for x in (p, low, high)), labels, 0.9)
        assert found.sentence(0, "b").startswith(said)
    assert found.sentence(0) == found.sentence(0, "b")
    with pytest.raises(ValueError, match=r"There is no class 'c'; the classes are 'a', 'b'\."):
        found.sentence(0, "c")
    assert found.around(3.0, 1) is None


def file_of(table: dict[str, Any], path: Path, y: NDArray[np.int64] | None = None) -> Path:
    columns = table if y is None else {**table, "y": y}
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        for row in zip(*(of.tolist() for of in columns.values()), strict=True):
            writer.writerow("" if cell != cell else cell for cell in row)
    return path


def test_the_command_line_writes_the_ends(tmp_path: Path) -> None:
    table, y = mixed(300)
    data = file_of(table, tmp_path / "data.csv", y)
    ok("train", data, "-t", "y", "-o", tmp_path / "kept", "--keep-rows")
    ok("train", data, "-t", "y", "-o", tmp_path / "bare")
    out = ok("predict", tmp_path / "kept", data, "--interval", 0.8)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [*rows[0]] == ["prediction", "probability", "low", "high"]
    nb = load(tmp_path / "kept")
    found = nb.predict_interval(table, 0.8)
    best = found.probability.argmax(axis=1)
    for name, of in (("low", found.low), ("high", found.high)):
        wanted = of[np.arange(300), best]
        np.testing.assert_allclose([float(row[name]) for row in rows], wanted, rtol=1e-9)
    more = tmp_path / "more.csv"
    command = "predict", tmp_path / "kept", data, "--interval", 0.8, "-p", "--keep", "colour"
    ok(*command, "-o", more)
    with more.open() as file:
        head = next(csv.reader(file))
    assert head == ["colour", "prediction", "probability", "low", "high", "p(0)", "p(1)"]
    parquet = tmp_path / "more.parquet"
    ok(*command, "-o", parquet)
    assert parquet.stat().st_size > 0
    failed = run("predict", tmp_path / "bare", data, "--interval", 0.8)
    assert "saved with `train --keep-rows`, or learn" in sentence(failed)
    wrong = run("predict", tmp_path / "kept", data, "--interval", 90)
    assert "--interval must be between 0 and 1, such as 0.9, got 90." in sentence(wrong)
    ok("train", data, "-t", "y", "-o", tmp_path / "pure", "--weights", "none")
    ok("predict", tmp_path / "pure", data, "--interval", 0.8)
