"""Intervals hold what all rows would show as often as they say, or nearly; and their sums."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from naively.assess.intervals import (
    Area,
    Mean,
    Weighted,
    beta_quantile,
    beta_share,
    interval_of_area,
    interval_of_share,
    t_quantile,
)
from naively.assess.scores import Scores, rank, scores

NAMES = np.array(["no", "yes"])


def some(n: int, seed: int = 0, k: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k) / 2, n)
    return p, (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, k - 1)


def scored(n: int, seed: int = 0, k: int = 2, **how: object) -> Scores:
    p, y = some(n, seed, k)
    return scores(p, np.arange(k), y, **how)  # type: ignore[arg-type]


def same(a: Scores, b: Scores) -> None:
    assert a.intervals.keys() == b.intervals.keys()
    for name, interval in a.intervals.items():
        assert interval == pytest.approx(b.intervals[name], abs=1e-7), name


# --- Quantiles are SciPy's -----------------------------------------------------------------------


@given(log_a=st.floats(-1, 5), log_b=st.floats(-1, 5), share=st.sampled_from([0.025, 0.3, 0.975]))
def test_beta_quantiles_are_scipys(log_a: float, log_b: float, share: float) -> None:
    a, b = 10**log_a, 10**log_b
    x = beta_quantile(share, a, b)
    assert x == pytest.approx(stats.beta.ppf(share, a, b), rel=1e-7, abs=1e-12)
    assert beta_share(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-9)


@pytest.mark.parametrize("freedom", [1, 1.5, 4, 30, 1e3, 1e7])
def test_t_quantiles_are_scipys(freedom: float) -> None:
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)


@given(n=st.integers(1, 300), share=st.floats(0, 1))
def test_the_interval_of_a_share_is_clopper_and_pearsons(n: int, share: float) -> None:
    hits = round(share * n)
    exact = stats.binomtest(hits, n).proportion_ci()
    found = interval_of_share(Mean(hits / n, 0.0, 0.0, 0.0, 1.0), n)
    assert found == pytest.approx((exact.low, exact.high), abs=1e-8)


# --- Laws ----------------------------------------------------------------------------------------


@example(n=5, k=3, seed=9277, grouped=False)  # classes of thirds, whose shares sum to more than 1
@given(
    n=st.integers(1, 60), k=st.integers(1, 4), seed=st.integers(0, 10_000), grouped=st.booleans()
)
def test_an_interval_holds_its_score(n: int, k: int, seed: int, grouped: bool) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 1 + n // 3, n) if grouped else None
    found = scored(n, seed, k, groups=groups, weight=rng.random(n) + 0.1)
    for name, (low, high) in found.intervals.items():
        assert 0 <= low <= getattr(found, name) <= high
        assert high <= (34.6 if name == "log_loss" else 1)
    assert ("auc" in found.intervals) == (not np.isnan(found.auc))


@pytest.mark.parametrize("k", [2, 3])
def test_copies_are_rows_of_their_own(k: int) -> None:
    p, y = some(80, 1, k)
    copies = np.random.default_rng(0).integers(1, 5, 80)
    one_by_one = scores(p.repeat(copies, axis=0), np.arange(k), y.repeat(copies))
    same(scores(p, np.arange(k), y, copies.astype(float), copies), one_by_one)


@pytest.mark.parametrize("k", [2, 3])
def test_a_weight_for_all_changes_nothing_and_unequal_ones_make_it_less_sure(k: int) -> None:
    plain = scored(80, 1, k)
    same(scored(80, 1, k, weight=np.full(80, 7.5)), plain)
    p, y = some(80, 1, k)
    twice = p.repeat(2, axis=0), np.arange(k), y.repeat(2)
    uneven = scores(*twice, np.tile([1.9, 0.1], 80))
    even = scores(*twice)
    for name in plain.intervals:
        assert getattr(uneven, name) == pytest.approx(getattr(plain, name))
        assert np.ptp(even.intervals[name]) < np.ptp(uneven.intervals[name])


def test_of_groups_whose_rows_are_equal_it_is_as_sure_as_of_one_row_each() -> None:
    p, y = some(60, 3)
    five = p.repeat(5, axis=0), np.arange(2), y.repeat(5)
    grouped = scores(*five, groups=np.arange(60).repeat(5))
    alone = scores(p, np.arange(2), y)
    assert grouped.support is not None
    assert (grouped.support.groups, grouped.support.groups_size) == (60, 60)
    for name, interval in grouped.intervals.items():
        width = np.ptp(interval)
        assert width == pytest.approx(np.ptp(alone.intervals[name]), rel=0.1)
        assert width > 1.8 * np.ptp(scores(*five).intervals[name])


def test_all_rows_right_are_known_as_well_as_their_groups() -> None:
    p, y = np.tile([0.9, 0.1], (50, 1)), np.zeros(50, int)
    p[25:], y[25:] = p[25:, ::-1], 1
    one_by_one = scores(p, NAMES, NAMES[y]).intervals["accuracy"]
    of_five = scores(p, NAMES, NAMES[y], groups=np.arange(50) // 10).intervals["accuracy"]
    assert one_by_one == pytest.approx((0.025 ** (1 / 50), 1))
    assert of_five == pytest.approx((0.025 ** (1 / 5), 1))


@pytest.mark.parametrize("weighed", [False, True])
def test_the_variance_of_an_area_is_delongs(weighed: bool) -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random(40) < 0.4).astype(float)
    score = (rng.normal(truth)).round(1)  # some are equal
    weight = rng.integers(1, 3, 40).astype(float) if weighed else np.ones(40)
    given_ = weight if weighed else None
    inside, outside = np.flatnonzero(truth), np.flatnonzero(1 - truth)
    pairs = np.sign(score[inside][:, None] - score[outside]) / 2 + 0.5
    m, n = weight[inside] / weight[inside].sum(), weight[outside] / weight[outside].sum()
    area = m @ pairs @ n
    of_rows = np.zeros(40)
    of_rows[inside], of_rows[outside] = m * (pairs @ n - area), n * (m @ pairs - area)
    found = rank(score, truth, Weighted(given_))
    assert found.variance == pytest.approx((of_rows**2).sum())
    groups = rng.integers(0, 9, 40)
    of_groups = np.bincount(groups, of_rows)
    grouped = rank(score, truth, Weighted(given_, groups=groups))
    assert grouped.variance == pytest.approx((of_groups**2).sum())


def test_of_two_classes_the_area_is_that_of_either() -> None:
    found = scored(50, 2)
    assert found.support is not None
    assert found.support.auc is not None
    weight, m, n = found.support.auc.classes[0]
    one = Area(found.auc, ((1.0, m, n),), found.support.auc.variance)
    assert weight < 1
    assert found.intervals["auc"] == pytest.approx(interval_of_area(one))


def test_more_rows_are_surer() -> None:
    for k in (2, 3):
        widths = [
            {name: np.ptp(of) for name, of in scored(n, 5, k).intervals.items()}
            for n in (30, 300, 3000)
        ]
        for few, many in pairwise(widths):
            assert all(many[name] < few[name] for name in few)


def test_an_area_of_few_rows_of_a_class_is_not_called_known() -> None:
    p = np.array([[0.9, 0.1]] * 30 + [[0.2, 0.8]] * 10)
    y = NAMES[[0] * 30 + [1] * 10]
    assert "area under ROC     1.0000   [0." in str(scores(p, NAMES, y))
    few = str(scores(p[:39], NAMES, y[:39]))
    assert "not known: between 0.8" in few
    assert "and 1.00, as only 9 rows are of 'yes'" in few
    third = scores(np.full((12, 3), 1 / 3), np.arange(3), np.array([0] * 6 + [1] * 3 + [2] * 3))
    assert "as only 6 rows are of other classes" in str(third)
    assert scores(np.full((15, 3), 1 / 3), np.arange(3), np.arange(15) % 3).area_is_known


# --- Coverage: how often an interval holds the score of all rows there are -----------------------


SAMPLES = 600
SURE = 4.5  # standard deviations


def posteriors(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Probabilities of the second of two classes: unsure, or sure; rows are drawn from them."""
    if kind == "hard":
        z = rng.normal(0, 0.7, shape)
    elif kind in ("medium", "too sure"):
        z = rng.normal(0, 2.5, shape)
    else:
        z = rng.choice([-1, 1], shape) * rng.gamma(2, 3, shape)
    return 1 / (1 + np.exp(-z))


def coverage(kind: str, n: int) -> dict[str, float]:
    """How often intervals of n rows hold the score of 400,000 rows."""
    rng = np.random.default_rng(n)

    def of_rows(p: np.ndarray) -> Scores:
        right = rng.random(len(p)) < p
        if kind == "too sure":  # all evidence twice, as if columns repeat each other
            p = p**2 / (p**2 + (1 - p) ** 2)
        return scores(np.stack([1 - p, p], axis=1), NAMES, NAMES[right.astype(int)])

    truth = of_rows(posteriors(kind, (1, 400_000), rng)[0])
    held: dict[str, list[bool]] = {}
    for p in posteriors(kind, (SAMPLES, n), rng):
        for name, (low, high) in of_rows(p).intervals.items():
            held.setdefault(name, []).append(low <= getattr(truth, name) <= high)
    return {name: float(np.mean(of)) for name, of in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 20, 50, 200])
@pytest.mark.parametrize("kind", ["hard", "medium", "easy", "too sure"])
def test_intervals_hold_as_often_as_they_say(kind: str, n: int) -> None:
    found = coverage(kind, n)
    slack = SURE * np.sqrt(0.95 * 0.05 / SAMPLES)
    assert found["accuracy"] > 0.95 - slack
    # Where one row in twenty has nearly all of the loss, twenty rows may hold none of them.
    least = 0.9 if kind == "easy" else 0.95
    assert min(found["log_loss"], found["brier"]) > least - slack
    assert found["auc"] > 0.93 - slack


@pytest.mark.slow
def test_of_groups_they_hold_and_of_their_rows_they_do_not() -> None:
    rng = np.random.default_rng(0)
    groups, of_each = 40, 10
    number = np.arange(groups).repeat(of_each)

    def table(n: int) -> tuple[np.ndarray, np.ndarray]:
        lean = rng.normal(0, 1.5, n)  # of all rows of a group alike
        y = rng.integers(0, 2, (n, of_each))
        z = rng.normal(1.0 * (2 * y - 1) + lean[:, None], 0.5)
        q = 1 / (1 + np.exp(-z.ravel()))
        return np.stack([1 - q, q], axis=1), NAMES[y.ravel()]

    p, y = table(40_000)
    truth = scores(p, NAMES, y)
    held, alone = [], []
    for _ in range(300):
        p, y = table(groups)
        found, rows = scores(p, NAMES, y, groups=number), scores(p, NAMES, y)
        for held_by, of in ((held, found), (alone, rows)):
            held_by.append(
                [low <= getattr(truth, name) <= high for name, (low, high) in of.intervals.items()]
            )
    assert (np.mean(held, axis=0) > 0.91).all()
    assert (np.mean(alone, axis=0)[:3] < 0.85).all()
