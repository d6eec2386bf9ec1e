"""Whether a sample is independent: against SciPy, counting and known answers."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy import stats

from naively import independence

RNG = np.random.default_rng(0)


def test_a_trend_is_told() -> None:
    years = np.arange(30) / 10 + RNG.normal(size=30)
    found = independence(years)
    expected = stats.kendalltau(np.arange(30), years)
    assert (found.tau, found.p_trend) == (expected.statistic, expected.pvalue)
    assert str(found).startswith("independence is doubtful: values rise with time (tau = ")
    assert "values fall with time" in str(independence(-years))
    assert found.to_dict()["test"] == ["Mann-Kendall (trend)", "Ljung-Box (lags 1 to 7)"]


def test_autocorrelation_is_told() -> None:
    noise = RNG.normal(size=200)
    walk = np.array([noise[max(i - 4, 0) : i + 1].mean() for i in range(200)])
    found = independence(walk)
    x = walk - walk.mean()
    for lag, correlation in zip(found.lag, found.autocorrelation, strict=True):
        expected = sum(x[i] * x[i + lag] for i in range(200 - lag)) / sum(x * x)
        assert correlation == pytest.approx(expected)
    box = 200 * 202 * sum(r**2 / (200 - k) for k, r in enumerate(found.autocorrelation, 1))
    assert found.ljung_box == pytest.approx(box)
    assert found.p_ljung_box == pytest.approx(stats.chi2(20).sf(box))
    assert found.band == pytest.approx(1.959964 / np.sqrt(200))
    assert any("values follow from earlier ones" in doubt for doubt in found.doubts)


def test_runs_of_flips() -> None:
    flips = [1, 1, 1, 0, 0, 1, 0, 0]
    found = independence(flips)
    assert found.runs == 4
    orders = {*permutations(flips)}  # every order is as likely as any other
    runs = [1 + sum(a != b for a, b in pairwise(order)) for order in orders]
    z = abs(4 - np.mean(runs)) / np.std(runs)
    assert found.p_runs == pytest.approx(2 * stats.norm.sf(z))
    turns = independence([True, False] * 20)
    assert turns.p_runs is not None
    assert turns.p_runs < 1e-6
    assert "take turns (40 runs" in str(turns)
    assert independence([1, 2, 3, 5, 2]).runs is None


def test_independent_values_are_doubted_as_often_as_the_level_says() -> None:
    trend, box = 0, 0
    for _ in range(400):
        found = independence(RNG.normal(size=60))
        trend += found.p_trend < 0.05
        box += found.p_ljung_box < 0.05
    assert stats.binom(400, 0.05).cdf(trend) > 1e-4
    assert stats.binom(400, 0.05).sf(trend) > 1e-4
    assert stats.binom(400, 0.05).sf(box) > 1e-6  # it is asymptotic


def test_nothing_against_independence() -> None:
    found = independence([*RNG.normal(size=50), np.nan], level=1e-9)
    assert len(found.values) == 50
    assert found.doubts == []
    assert str(found).startswith("no test speaks against independence; that does not prove it")
    assert "all values are equal" in str(independence([2, 2, 2, 2]))
    assert np.isfinite(independence(np.array([1e300, -1e300, 1e299, 5.0, 7.0])).ljung_box)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["a", "b", "c", "d"], "of numbers or booleans"),
        ([[1, 2], [3, 4]], "one sequence of finite numbers"),
        ([1, 2, np.inf, 3], "one sequence of finite numbers"),
        ([1, 2, np.nan, 3], "needs 4 values at least, got 3"),
    ],
)
def test_what_cannot_be_tested(values, says) -> None:
    with pytest.raises(ValueError, match=says):
        independence(values)
