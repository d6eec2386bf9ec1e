"""Histograms: the bins of NumPy and scikit-learn, the formula written out, leave-one-out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import rel_entr
from sklearn.preprocessing import KBinsDiscretizer

from naively import Gaussian, Histogram, KernelDensity, LogNormal, NaiveBayes
from naively.counting.leave_one_out import LeftOut
from naively.counting.tally import BlockTally
from naively.events import histogram as bin_counts
from naively.events.histogram import RULES
from naively.kernels import dispatch
from naively.terms.kinds import BinTerms
from tests.learning import coded, dense


def counted(event: Histogram, X: np.ndarray, y: Any, k: int, w: Any = None) -> BlockTally:
    labels = coded(y, k, w)
    return event.tally(dense(X), labels)


def binned(event: Histogram, X: np.ndarray, y: Any, k: int) -> BinTerms:
    return event.terms(counted(event, X, y, k))


def counts_of(found: BinTerms, X: np.ndarray, y: np.ndarray, j: int) -> np.ndarray:
    """Count one column by bin and class."""
    table = np.zeros((len(found.edges[j]) + 1, y.max() + 1))
    np.add.at(table, (found.bins(X)[:, j], y), 1)
    return table


def mixture(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of three kinds (two bumps, few values, heavy tails) and their three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.stack(
        [
            rng.normal(3 * (y == 1) * rng.choice([-1, 1], n), 1 + (y == 2)),
            rng.poisson(1 + y),
            rng.standard_cauchy(n) + y,
        ],
        axis=1,
    )
    return X, y


# --- bins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 5, 32])
def test_equally_frequent_bins_are_scikit_learns(bins: int) -> None:
    X, y = mixture(20 * bins + 1)
    x = X[:, :1]
    oracle = KBinsDiscretizer(
        bins, strategy="quantile", encode="ordinal", quantile_method="inverted_cdf"
    ).fit(x)
    (found,) = binned(Histogram(bins=bins), x, y, 3).edges
    # A quantile is a number that was seen, and belongs to the bin below; the edge is above it.
    ordered = np.sort(x[:, 0])
    at = np.searchsorted(ordered, oracle.bin_edges_[0][1:-1])
    np.testing.assert_allclose(found, (ordered[at] + ordered[at + 1]) / 2, rtol=1e-12)


@pytest.mark.parametrize("edges", ["frequency", "width", "mdl"])
def test_the_bins_of_a_column_do_not_depend_on_the_others(edges: str) -> None:
    X, y = mixture(300)
    X[:77, 0] = np.nan
    X[70:190, 1] = np.nan
    event = Histogram(bins=8, edges=edges)
    together = binned(event, X, y, 3).edges
    for j in range(3):
        (alone,) = binned(event, X[:, [j]], y, 3).edges
        np.testing.assert_array_equal(together[j], alone)


def test_few_values_have_a_bin_each_however_rare() -> None:
    x = np.repeat([0.0, 1.0, 2.0], [1, 5000, 2])[:, None]
    assert binned(Histogram(), x, np.zeros(len(x)), 1).edges[0].tolist() == [0.5, 1.5]


def test_a_frequent_number_among_many_has_a_bin_for_itself() -> None:
    x = np.append(np.random.default_rng(0).normal(size=900), np.zeros(100))[:, None]
    found = binned(Histogram(), x, np.zeros(1000), 1)
    bin_ = np.searchsorted(found.edges[0], 0.0, side="right")
    assert found.middle[bin_] == 0.0
    assert (found.bins(x) == bin_).sum() == 100


def test_many_values_share_bins_within_a_cell_of_the_quantiles() -> None:
    x = np.random.default_rng(0).normal(size=(200_000, 1))
    (edges,) = binned(Histogram(), x, np.zeros(len(x)), 1).edges
    share = np.histogram(x, np.r_[-np.inf, edges, np.inf])[0] / len(x)
    assert len(share) == 32
    assert np.abs(share - 1 / 32).max() < 0.01


@pytest.mark.parametrize("edges", ["frequency", "width", "mdl"])
def test_every_number_that_was_counted_is_in_the_bin_of_its_cell(edges: str) -> None:
    rng = np.random.default_rng(4)
    n = 30_000
    X = np.stack([rng.normal(size=n), rng.standard_cauchy(n), rng.lognormal(0, 9, n)], axis=1)
    X[:9, 0], X[9:15, 1] = np.inf, -np.inf
    y = (X.sum(axis=1) > 1).astype(int)
    event = Histogram(edges=edges, smoothing=0, estimate="mle")
    found = binned(event, X, y, 2)
    codes = found.bins(X) + found.first[:-1]
    count = np.stack(
        [np.bincount(codes[y == c].ravel(), minlength=len(found.table)) for c in range(2)], axis=1
    )
    np.testing.assert_allclose(np.exp(found.table) * np.bincount(y), count, atol=1e-6)


def mdl_cuts(x: np.ndarray, y: np.ndarray, k: int) -> list[float]:
    """Fayyad & Irani (1993), as it is written: every cut is tried on the rows themselves."""

    def bits(labels: np.ndarray) -> float:
        p = np.bincount(labels, minlength=k) / len(labels)
        return -rel_entr(p, np.ones(k)).sum() / math.log(2)

    best = None
    for cut in (np.unique(x)[1:] + np.unique(x)[:-1]) / 2:
        left, right = y[x < cut], y[x >= cut]
        after = (len(left) * bits(left) + len(right) * bits(right)) / len(y)
        if best is None or after < best[0] - 1e-12:
            best = after, cut, left, right
    if best is None:
        return []
    after, cut, left, right = best
    kinds = [len(np.unique(part)) for part in (y, left, right)]
    delta = math.log2(3 ** kinds[0] - 2) - (
        kinds[0] * bits(y) - kinds[1] * bits(left) - kinds[2] * bits(right)
    )
    if bits(y) - after <= (math.log2(len(y) - 1) + delta) / len(y):
        return []
    below = x < cut
    return [*mdl_cuts(x[below], y[below], k), cut, *mdl_cuts(x[~below], y[~below], k)]


@pytest.mark.parametrize("seed", range(5))
def test_mdl_cuts_are_fayyad_and_iranis(seed: int) -> None:
    X, y = mixture(250, seed)
    edges = binned(Histogram(edges="mdl"), X, y, 3).edges
    for j in range(X.shape[1]):
        np.testing.assert_allclose(edges[j], mdl_cuts(X[:, j], y, 3), rtol=1e-12)
    assert sum(map(len, edges))  # something was cut


@pytest.mark.parametrize("seed", range(40))
def test_mdl_cuts_of_few_values_where_some_have_not_all_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 4, (5, 3)) * (rng.random((5, 3)) < 0.4)
    value, y = (np.repeat(place.ravel(), count.ravel()) for place in np.indices(count.shape))
    x = value.astype(float)
    (edges,) = binned(Histogram(edges="mdl"), x[:, None], y, 3).edges
    np.testing.assert_allclose(edges, mdl_cuts(x, y, 3), rtol=1e-12)


# --- probabilities -------------------------------------------------------------------------------


def spread(counts: np.ndarray, width: float) -> np.ndarray:
    """Every row counts in neighbouring bins too, in all once."""
    total = np.zeros(counts.shape)
    for b, row in enumerate(counts):
        place = np.arange(len(counts))
        kernel = stats.norm.pdf(place, b, width) if width else (place == b).astype(float)
        total += np.outer(kernel / kernel.sum(), row)
    return total


def share(counts: np.ndarray, width: float) -> np.ndarray:
    """What each bin holds of all classes."""
    return (spread(counts, width).sum(axis=1) + 0.1) / (counts.sum() + 0.1 * len(counts))


def by_definition(counts: np.ndarray, width: float, m: float) -> np.ndarray:
    """Probabilities of one column's bins, (bins, classes)."""
    return (spread(counts, width) + m * share(counts, width)[:, None]) / (counts.sum(axis=0) + m)


def loss_by_definition(counts: np.ndarray, width: float, m: float) -> float:
    """Leave-one-out log loss of one column alone, row by row."""
    n = counts.sum(axis=0)
    loss = 0.0
    for b, c in zip(*np.nonzero(counts), strict=True):
        less = counts.copy()
        less[b, c] -= 1
        p = by_definition(less, width, m)[b]
        joint = (less.sum(axis=0) + 0.5) * p
        loss -= counts[b, c] * math.log(joint[c] / joint.sum())
    assert n.all()
    return loss


@pytest.mark.parametrize("smoothing", [0, 0.7, 1.2])
@pytest.mark.parametrize("edges", ["frequency", "width"])
def test_probabilities_are_the_formula(edges: str, smoothing: float) -> None:
    X, y = mixture(400)
    found = binned(Histogram(bins=12, edges=edges, smoothing=smoothing, m=3.0), X, y, 3)
    for j in range(3):
        p = np.exp(found.table[found.first[j] : found.first[j + 1]])
        np.testing.assert_allclose(
            p, by_definition(counts_of(found, X, y, j), smoothing, 3.0), rtol=1e-10
        )
        np.testing.assert_allclose(p.sum(axis=0), 1.0, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_width_is_silvermans_unless_another_saves_much(seed: int) -> None:
    X, y = mixture(150, seed)
    X = np.column_stack([X, 10 * (y == 1) + np.arange(150) % 10])  # a class has every other bin
    found, widths = binned(Histogram(bins=20), X, y, 3), set()
    for j in range(4):
        counts = counts_of(found, X, y, j)
        # Of n ranks: 1.06 standard deviations over the fifth root of n, in bins.
        rule = 1.06 * math.sqrt(1 / 12) * len(counts) / 150**0.2
        loss = {w: loss_by_definition(counts, w, 2.0) for w in (rule, 0.5, 0.0)}
        best = min(loss, key=loss.__getitem__)
        width = best if loss[rule] - loss[best] > 4 else rule
        widths.add(width)
        p = np.exp(found.table[found.first[j] : found.first[j + 1]])
        np.testing.assert_allclose(p, by_definition(counts, width, 2.0), rtol=1e-10)
    assert len(widths) > 1


@pytest.mark.parametrize(("n", "bins"), [(2, 2), (8, 2), (9, 3), (60, 20), (95, 31), (5000, 32)])
def test_there_is_a_bin_for_three_rows(n: int, bins: int) -> None:
    x = np.random.default_rng(n).permutation(n).astype(float)
    X = np.column_stack([x, np.where(x < n / 2, x, np.nan)])
    some = min(max(2, math.ceil(n / 2) // 3), 32) if n > 2 else 1
    found = binned(Histogram(), X, np.zeros(n), 1)
    assert [len(edges) + 1 for edges in found.edges] == [bins, some]


def test_widths_are_the_same_in_slices_of_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    bins = np.array([7, 2, 5, 7, 1, 3])
    count = rng.poisson(np.abs(3 * rng.normal(size=(6, 1, 1))), (6, 7, 3)).astype(float)
    count[np.arange(7) >= bins[:, None]] = 0.0
    at_once = bin_counts.best_widths(count, bins, 2.0)
    assert len(set(at_once)) > 1
    for columns in (1, 2, 4):
        monkeypatch.setattr(bin_counts, "AT_ONCE", columns * 7 * 3 * (1 + len(RULES.widths)))
        np.testing.assert_array_equal(bin_counts.best_widths(count, bins, 2.0), at_once)


# --- leave-one-out -------------------------------------------------------------------------------

EVENTS = [
    Histogram(bins=6, smoothing=1.2),
    Histogram(bins=5, edges="width", smoothing=0.5, m=0.3),
    Histogram(edges="mdl", smoothing=0, m=1.0),
]


@pytest.mark.parametrize("event", EVENTS, ids=repr)
@given(data=st.data())
def test_where_bins_stay_leaving_a_row_out_is_counting_without_it(
    event: Histogram, data: st.DataObject
) -> None:
    n = data.draw(st.integers(2, 14))
    number = st.integers(-4, 4).map(float) | st.just(np.nan) | st.just(np.inf)
    X = np.array(data.draw(st.lists(st.tuples(number, number), min_size=n, max_size=n)))
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    w = np.array(data.draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n, max_size=n)))
    tally = counted(event, X, y, 2, w)
    likelihood = event.terms(tally)
    block, labels = dense(X), coded(y, 2, w)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bin_counts, "EXACT", 0)  # as if there were many rows
        found = event.leave_one_out(tally, block, labels)
    codes = likelihood.bins(X)
    for i, j in np.ndindex(n, 2):
        if np.isnan(X[i, j]):
            assert found[i, j].tolist() == [0.0, 0.0]
            continue
        counts = np.zeros((len(likelihood.edges[j]) + 1, 2))
        others = (np.arange(n) != i) & (codes[:, j] >= 0)
        np.add.at(counts, (codes[others, j], y[others]), w[others])
        assert not isinstance(event.smoothing, str)
        expected = by_definition(counts, event.smoothing, event.m)[codes[i, j]]
        np.testing.assert_allclose(np.exp(found[i, j]), expected, rtol=1e-9)


# --- the rest ------------------------------------------------------------------------------------


def test_score_samples_is_a_density() -> None:
    X, y = mixture(5000)
    nb = NaiveBayes(Histogram()).fit(X[:, :1], y)
    x = np.linspace(*Histogram().fit(X[:, 0]).predictive.support(), 200_001)
    density = np.exp(nb.score_samples(x[:, None]))
    assert abs(np.trapezoid(density, x) - 1.0) < 1e-3


def test_single_values_are_as_dense_as_the_data_are_fine() -> None:
    """A number that stands alone has a bin as wide as the data's resolution there."""
    x = np.repeat([10.0, 20.0, 22.0], [2, 1, 1])[:, None]
    nb = NaiveBayes(Histogram(3, smoothing=0, estimate="mle")).fit(x, [0, 0, 0, 0])
    density = np.exp(nb.score_samples([[10.0], [20.0], [22.0]]))
    assert density.tolist() == pytest.approx([0.5 / 10, 0.25 / 6, 0.25 / 2])
    alone = NaiveBayes(Histogram(smoothing=0)).fit([[7.0]] * 3, [0, 0, 1])
    assert alone.score_samples([[7.0]]) == pytest.approx(0.0)


@pytest.mark.parametrize("edges", ["frequency", "width", "mdl"])
def test_the_predictive_is_the_likelihood(edges: str) -> None:
    """SciPy's density is that of the log likelihood at each number, the last one included."""
    x = np.round(np.random.default_rng(0).normal(3, 2, 500), 1)
    for sample in (x, x[:40], x[:2]):
        found = Histogram(edges=edges).fit(sample)
        mine = [found.log_likelihood([number]) for number in sample]
        np.testing.assert_allclose(np.exp(mine), found.predictive.pdf(sample), rtol=1e-9)
        right_edge = np.nextafter(found.predictive.support()[1], -np.inf)
        assert found.predictive.pdf(right_edge) > 0


@pytest.mark.parametrize("digits", [1, 3, 12])
def test_densities_of_one_sample_can_be_compared(digits: int) -> None:
    """Rounded or not, what each event model says of a sample is near its true log density."""
    x = np.round(np.exp(np.random.default_rng(0).normal(1.0, 0.4, 4000)), digits)
    true = stats.lognorm.logpdf(x, 0.4, scale=np.e).mean()
    models = Histogram(), KernelDensity(), LogNormal(), Gaussian()
    found = [model.fit(x).log_likelihood(x) / len(x) for model in models]
    np.testing.assert_allclose(found[:3], true, atol=0.06)
    normal = stats.norm.logpdf(x, x.mean(), x.std()).mean()
    assert found[3] == pytest.approx(normal, abs=1e-3)
    assert found[3] < true


def test_infinities_are_numbers_like_others() -> None:
    X = [[-np.inf], [-np.inf], [1.0], [2.0], [np.inf], [np.inf]]
    nb = NaiveBayes(Histogram(4, smoothing=0)).fit(X, ["low"] * 2 + ["mid"] * 2 + ["high"] * 2)
    assert nb.predict(X).tolist() == ["low"] * 2 + ["mid"] * 2 + ["high"] * 2
    assert np.isfinite(nb.score_samples(X)).all()


def test_less_than_a_row_may_be_left_of_what_has_decayed() -> None:
    X, y = mixture(40)
    event = Histogram()
    whole = counted(event, X, y, 3)
    faint = event.parameters(whole.map(lambda sums: sums * 1e-6), "mean")["p"]
    assert (faint > 0).all()
    # Hardly anything is left but the pretend rows, which are the same for all classes.
    np.testing.assert_allclose(faint, np.tile(faint[:, :1], 3), rtol=1e-4)


@pytest.mark.skipif(dispatch.leave_out_bins is None, reason="There is no native kernel.")
@pytest.mark.parametrize(
    "event",
    [
        Histogram(), Histogram(bins=4), Histogram(smoothing=0.0),
        Histogram(smoothing=1.3, alpha=0.5), Histogram(m=0.0, estimate="mle"), Histogram(alpha=0.2),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_row_the_native_kernel_says_what_numpy_says(
    event: Histogram, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_a_row_of_both(event, weighted, monkeypatch)


OTHER_RULES = {
    "in_bin": 7.0, "fewest": 5.0, "most": 4.0, "slack": 0.3, "few_others": 0.9, "in_shared": 3.0,
    "silverman": 1.7, "gain": -2.0, "spare": 3.0, "half": 9.0, "negligible": 0.6,
    "widths": (0.1, 0.7, 2.0),
}  # fmt: skip


@pytest.mark.skipif(dispatch.leave_out_bins is None, reason="There is no native kernel.")
@pytest.mark.parametrize("rule", RULES._fields)
def test_the_native_kernel_and_numpy_follow_the_same_rules(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = Histogram(bins=4) if rule in ("few_others", "in_shared") else Histogram()
    usual = without_a_row_of_both(event, True, monkeypatch)
    monkeypatch.setattr(bin_counts, "RULES", RULES._replace(**{rule: OTHER_RULES[rule]}))
    changed = without_a_row_of_both(event, True, monkeypatch)
    assert any((a != b).any() for a, b in zip(usual, changed, strict=True))


def without_a_row_of_both(
    event: Histogram, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> list[np.ndarray]:
    """Return log likelihoods without each row, of several tables, which both agree on."""
    every = []
    rng = np.random.default_rng(0)
    for n, k in ((2, 2), (7, 2), (23, 3), (61, 2)):
        y = rng.integers(0, k, n).astype(np.int32)
        X = np.stack(
            [
                rng.normal(size=n) + y,
                rng.integers(0, 4, n),
                np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(0, 3, n)),
                np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
                np.where(rng.random(n) < 0.2, np.nan, 10.0 ** rng.integers(-300, 300, n)),
                np.full(n, 7.0),
                np.where(np.arange(n) == 0, 1.0, np.nan),
                rng.choice([-np.inf, 0.0, np.inf], n),
            ],
            axis=1,
        )
        weight = rng.choice([0.25, 1.0, 3.0, rng.random()], n) if weighted else None
        block, labels = dense(X), coded(y, k, weight)
        tally = event.tally(block, labels)
        cells = LeftOut.of(block, labels)
        found = event.log_prob_without(tally, cells)
        with monkeypatch.context() as without:
            without.setattr(dispatch, "leave_out_bins", None)
            expected = event.log_prob_without(tally, cells)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        every.append(found)
    return every
