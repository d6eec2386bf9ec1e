"""Noise for counts: its distribution, its tails, and that it hides what a row changes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, signal, stats

from naively.wings.private import DiscreteGaussian, DiscreteLaplace, Noise, delta_of, random_below

NOISES = [
    DiscreteLaplace(Fraction(1, 3)),
    DiscreteLaplace(Fraction(3, 2)),
    DiscreteLaplace(1 / Fraction(0.1)),
    DiscreteGaussian(Fraction(1, 4)),
    DiscreteGaussian(Fraction(4)),
    DiscreteGaussian(Fraction(26277, 64)),
]
DRAWS = 20_000


def mass(noise: Noise, x: np.ndarray) -> np.ndarray:
    """The probability of each number, by SciPy, or by the definition over all that matter."""
    if isinstance(noise, DiscreteLaplace):
        return stats.dlaplace(1 / float(noise.scale)).pmf(x)
    assert isinstance(noise, DiscreteGaussian)
    return np.exp(-(x**2) / (2 * float(noise.variance))) / sum_of_gaussian(noise)


def sum_of_gaussian(noise: DiscreteGaussian) -> float:
    every = np.arange(-40 * math.ceil(noise.deviation), 40 * math.ceil(noise.deviation) + 1)
    return float(np.exp(-(every**2) / (2 * float(noise.variance))).sum())


def support(noise: Noise) -> np.ndarray:
    width = math.ceil(60 * noise.deviation) + 10
    return np.arange(-width, width + 1)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_numbers_come_as_often_as_they_should(noise: Noise, seed: int) -> None:
    below = random_below(seed)
    drawn = np.array([noise.draw(below) for _ in range(DRAWS)])
    x = support(noise)
    expected = DRAWS * mass(noise, x)
    common = expected >= 10
    inside = [np.count_nonzero(drawn == value) for value in x[common]]
    rest = DRAWS - sum(inside)
    counts, means = [*inside, rest], [*expected[common], DRAWS - expected[common].sum()]
    if means[-1] < 1:  # too rare to be compared
        assert rest <= 5
        counts, means = inside, expected[common] * sum(inside) / expected[common].sum()
    assert stats.chisquare(counts, means).pvalue > 1e-4


def test_the_system_draws_the_same_distribution() -> None:
    below, noise = random_below(None), DiscreteGaussian(Fraction(9))
    drawn = [noise.draw(below) for _ in range(2000)]
    assert drawn != [noise.draw(below) for _ in range(2000)]
    assert abs(np.mean(drawn)) < 6 * 3 / math.sqrt(2000)  # six standard errors
    assert 2 < np.std(drawn) < 4


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_the_deviation_is_that_of_the_distribution(noise: Noise) -> None:
    x = support(noise)
    exact = math.sqrt((x**2 * mass(noise, x)).sum())
    # A discrete Gaussian's is slightly less, and much less only where it is nearly always 0.
    assert exact <= noise.deviation * (1 + 1e-9)
    if noise.deviation > 1 or isinstance(noise, DiscreteLaplace):
        assert exact == pytest.approx(noise.deviation, rel=1e-6)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_tails_are_bounds_and_not_far_off(noise: Noise) -> None:
    x = support(noise)
    for least in {1, 2, 3, math.ceil(noise.deviation), math.ceil(5 * noise.deviation)}:
        exact = math.log(mass(noise, x)[x >= least].sum())
        assert noise.log_tail(least) >= exact - 1e-9
        if isinstance(noise, DiscreteLaplace):
            assert noise.log_tail(least) == pytest.approx(exact, rel=1e-9)
        elif noise.deviation > 10:
            assert noise.log_tail(least) <= exact + math.log(1.5)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("chance", [0.4, 1e-3, 1e-12])
def test_a_count_of_one_reaches_the_threshold_by_the_chance_at_most(
    noise: Noise, chance: float
) -> None:
    x = support(noise)
    threshold = noise.threshold(chance)
    assert threshold > 1
    assert mass(noise, x)[1 + x >= threshold].sum() <= chance
    if threshold > 2:  # it is the least of which this is known
        assert noise.log_tail(threshold - 2) > math.log(chance)


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_delta_is_the_least_over_all_orders(rho: float, epsilon: float) -> None:
    def log_delta(log_less: float) -> float:
        less = math.exp(log_less)
        alpha = 1 + less
        return less * (alpha * rho - epsilon) - math.log(less) + alpha * math.log(less / alpha)

    starts = np.linspace(-10, 15, 60)
    best = min(
        optimize.minimize_scalar(log_delta, bounds=(a, a + 1), method="bounded").fun for a in starts
    )
    assert delta_of(rho, epsilon) == pytest.approx(min(1.0, math.exp(best)), rel=1e-3)


def exact_delta(noise: Noise, d: int, epsilon: float) -> float:
    """The delta of noise in d counts that one row makes 1 larger, from all that can be drawn.

    What is drawn with the row is more probable than without it by a factor whose log is a sum over
    the counts, so that its distribution is a convolution.
    """
    x = support(noise)
    p = mass(noise, x)
    if isinstance(noise, DiscreteGaussian):  # log p(x) - log p(x + 1) = (2x + 1) / 2 variance
        values, size = x, 1 / float(noise.variance)
        shift = 0.5
    else:  # |x + 1| - |x| is 1 or -1
        assert isinstance(noise, DiscreteLaplace)
        values, size, shift = np.where(x >= 0, 1, -1), 1 / float(noise.scale), 0.0
    low = values.min()
    one = np.bincount(values - low, p)
    of = one
    for _ in range(d - 1):
        of = signal.convolve(of, one)  # by Fourier where it is long: wrong by 1e-16
    loss = size * (np.arange(len(of)) + d * low + d * shift)
    return float((of * np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - loss)))).sum())


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("d", [1, 3, 15])
def test_gaussian_noise_hides_a_row(epsilon: float, d: int) -> None:
    noise = DiscreteGaussian.hiding(d, epsilon, 1e-6)
    assert 1e-8 < exact_delta(noise, d, epsilon) <= 1e-6
    assert exact_delta(DiscreteGaussian(noise.variance / 2), d, epsilon) > 1e-6
    assert exact_delta(noise, 2 * d, epsilon) > 1e-6  # a row that changes more is not hidden


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("d", [1, 3])
def test_laplace_noise_hides_a_row_always(epsilon: float, d: int) -> None:
    noise = DiscreteLaplace.hiding(d, epsilon)
    assert exact_delta(noise, d, epsilon) <= 1e-12
    assert exact_delta(DiscreteLaplace(noise.scale * Fraction(9, 10)), d, epsilon) > 1e-4
