"""Kernel densities: SciPy's, as far as the grid goes; leave-one-out; merging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from naively import KernelDensity, NaiveBayes
from naively.counting.tally import BlockTally
from tests.learning import coded, dense

SHAPES = {
    "normal": lambda rng, n: rng.normal(50, 3, n),
    "two far apart": lambda rng, n: np.append(
        rng.normal(0, 1, n - n // 3), rng.normal(9e3, 5, n // 3)
    ),
    "skewed": lambda rng, n: rng.gamma(2.0, size=n),
    "few values": lambda rng, n: rng.poisson(3, n).astype(float),
    "tiny": lambda rng, n: rng.normal(0, 1e-200, n),
    "huge": lambda rng, n: rng.normal(0, 1e200, n),
}


def counted(event: KernelDensity, x: np.ndarray, y: Any, k: int) -> BlockTally:
    return event.tally(dense(x[:, None]), coded(y, k))


def log_density(event: KernelDensity, tally: BlockTally, x: np.ndarray) -> np.ndarray:
    return event.terms(tally).at(x, np.zeros(len(x), np.int64))


def silverman(x: np.ndarray) -> float:
    """Equation 3.31, the quartiles being numbers of the sample."""
    low, high = np.quantile(x, [0.25, 0.75], method="inverted_cdf")
    return 0.9 * min(x.std(), (high - low) / 1.34) * len(x) ** -0.2


@pytest.mark.parametrize("n", [5, 60, 900, 20_000])
@pytest.mark.parametrize("shape", ["normal", "two far apart", "skewed", "few values"])
def test_scipys_density(shape: str, n: int) -> None:
    x = SHAPES[shape](np.random.default_rng(n), n)
    event = KernelDensity(bandwidth="silverman", alpha=0)
    tally = counted(event, x, np.zeros(n), 1)
    bandwidth = event.parameters(tally, "mle")["bandwidth"][0, 0]
    np.testing.assert_allclose(bandwidth, silverman(x), rtol=0.02 if n > 900 else 1e-12)
    oracle = stats.gaussian_kde(x, bandwidth / x.std(ddof=1))
    at = np.concatenate([x[:200], np.quantile(x, np.linspace(0, 1, 99))])
    found = np.exp(log_density(event, tally, at)[:, 0])
    expected = oracle(at)
    # Where there are a few rows only, a straight line stands for a bend of the logarithm.
    often = expected > 0.02 * expected.max()
    # Two scales share the bits of their cells, so that those of the larger are coarse.
    coarse = shape == "two far apart" and n > 900
    np.testing.assert_allclose(found[often], expected[often], rtol=0.1 if coarse else 0.03)
    np.testing.assert_allclose(found, expected, atol=0.01 * expected.max(), rtol=0.15)


@pytest.mark.parametrize("shape", ["tiny", "huge"])
def test_no_square_overflows(shape: str) -> None:
    x = SHAPES[shape](np.random.default_rng(0), 100)
    event = KernelDensity(bandwidth="silverman", alpha=0)
    unit = 1e200 if shape == "huge" else 1e-200
    plain = counted(event, x / unit, np.zeros(100), 1)
    found = log_density(event, counted(event, x, np.zeros(100), 1), x)
    np.testing.assert_allclose(found, log_density(event, plain, x / unit) - np.log(unit), atol=1e-3)


@pytest.mark.slow
def test_the_density_is_one_in_all() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=300), np.repeat([0, 1, 2], [200, 99, 1])
    event = KernelDensity()
    tally = counted(event, x, y, 3)
    for c in range(3):
        total, _ = integrate.quad(
            lambda at, c=c: np.exp(log_density(event, tally, np.array([at]))[0, c]),
            *(-6, 6),
            limit=2000,
            epsabs=1e-4,
        )
        # Of the pretend row's far wider part some is outside.
        assert total == pytest.approx(1.0, abs=0.02)


def test_auto_chooses_what_leave_one_out_says() -> None:
    rng = np.random.default_rng(2)
    n = 400
    y = rng.integers(0, 2, n)
    # Combs that mesh: a bandwidth by rule smooths them away.
    x = rng.integers(0, 12, n) * 2.0 + y + rng.normal(0, 0.1, n)
    losses = {}
    for name in ("auto", "silverman"):
        event = KernelDensity(bandwidth=name)
        tally = counted(event, x, y, 2)
        labels = coded(y, 2)
        evidence = event.leave_one_out(tally, dense(x[:, None]), labels)[:, 0]
        log_p = evidence - np.logaddexp.reduce(evidence, axis=1, keepdims=True)
        losses[name] = -log_p[np.arange(n), y].mean()
    assert losses["auto"] < 0.6 * losses["silverman"]


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_leaving_a_row_out_is_counting_without_it(alpha: float) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=40), np.arange(40) % 2
    x[5] = np.nan
    event = KernelDensity(bandwidth=0.7, alpha=alpha)
    tally = counted(event, x, y, 2)
    labels = coded(y, 2)
    found = event.leave_one_out(tally, dense(x[:, None]), labels)[:, 0]
    known = x[~np.isnan(x)]
    middle, scale = np.quantile(known, 0.5, method="inverted_cdf"), 2 * known.std()
    for i in range(40):
        if i == 5:
            assert found[i].tolist() == [0.0, 0.0]
            continue
        others = (np.arange(40) != i) & ~np.isnan(x)
        sums = np.array([stats.norm.pdf(x[i], x[others & (y == c)], 0.7).sum() for c in range(2)])
        rows = np.array([(others & (y == c)).sum() for c in range(2)])
        pooled = (sums.sum() + stats.t.pdf(x[i], 2, middle, scale)) / (rows.sum() + 1)
        expected = (sums + alpha * pooled) / (rows + alpha)
        np.testing.assert_allclose(np.exp(found[i]), expected, rtol=1e-8)


def test_infinities_are_far_out() -> None:
    X = [[0.0], [1.0], [0.5], [5.0], [9.0], [-9.0], [np.inf]]
    nb = NaiveBayes(KernelDensity(bandwidth="silverman")).fit(X, ["near"] * 3 + ["far"] * 4)
    assert nb.predict([[-np.inf], [np.inf], [0.4]]).tolist() == ["far", "far", "near"]


@pytest.mark.slow
def test_a_sample_alone() -> None:
    x = np.random.default_rng(0).gamma(2.0, size=200)
    found = KernelDensity(bandwidth=0.3, alpha=0).fit(x)
    assert found.mle == pytest.approx(0.3)
    oracle = stats.gaussian_kde(x, 0.3 / x.std(ddof=1))
    at = np.linspace(-1, 9, 50)
    np.testing.assert_allclose(found.predictive(at), oracle(at), rtol=1e-9)
    drawn = found.sample(20_000, random_state=0)
    cdf = np.vectorize(lambda q: stats.norm.cdf(q, x, 0.3).mean())
    assert stats.kstest(drawn, cdf).pvalue > 1e-4
