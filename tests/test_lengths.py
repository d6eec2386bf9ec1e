"""How long drawn texts are, and which words they hold."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

import numpy as np
import pytest
from scipy import stats

from naively import Bernoulli, Multinomial, NaiveBayes, Text
from naively.events.bags import draw_lengths, draw_present

N = 40_000


def share_of(p: list[float], allowed) -> dict[tuple[int, ...], float]:
    """Return the probability of each set of words, given that it is allowed."""
    every = {
        there: prod(q if t else 1 - q for q, t in zip(p, there, strict=True))
        for there in product((0, 1), repeat=len(p))
        if allowed(there)
    }
    return {there: q / sum(every.values()) for there, q in every.items() if q > 0}


@pytest.mark.slow
@pytest.mark.parametrize("length", [None, 0, 1, 2, 3])
def test_words_are_drawn_by_their_exact_conditional_probabilities(length: int | None) -> None:
    p = [0.2, 0.0, 0.05, 0.6]
    classes = np.zeros(N, np.int64)
    drawn = draw_present(np.array([p]), classes, np.random.default_rng(0), length)
    seen = Counter(tuple(map(int, there)) for there in drawn)
    expected = share_of(p, lambda there: any(there) if length is None else sum(there) == length)
    assert set(seen) == set(expected)
    for there, q in expected.items():
        assert abs(seen[there] / N - q) <= 5 * np.sqrt(q * (1 - q) / N), there


def test_sure_words_come_first() -> None:
    rng = np.random.default_rng(0)
    for there in draw_present(np.array([[0.3, 1.0, 0.5]]), np.zeros(500, np.int64), rng, None):
        assert there[1]
    rare = np.array([[1e-12, 1e-12, 0.0]])
    found = np.array([*draw_present(rare, np.zeros(1000, np.int64), rng, None)])
    assert (found.sum(axis=1) == 1).all()
    assert abs(found[:, 0].mean() - 0.5) < 5 * 0.5 / np.sqrt(1000)
    nothing = draw_present(np.array([[0.0, 0.0]]), np.zeros(3, np.int64), rng, None)
    assert not np.array([*nothing]).any()
    with pytest.raises(ValueError, match="No text can hold 3 different words: 2 of the words may"):
        [*draw_present(rare, np.zeros(1, np.int64), rng, 3)]


@pytest.mark.parametrize("mean", [1.2, 3.0, 40.0])
def test_lengths_are_poisson_without_zero_and_with_the_mean(mean: float) -> None:
    drawn = draw_lengths(np.full(N, mean), np.random.default_rng(1), None, texts=True)
    assert drawn.min() >= 1
    rates = np.linspace(1e-6, mean, 2_000_001)
    rate = rates[np.searchsorted(rates / -np.expm1(-rates), mean)]
    values = np.arange(1, 120)
    p = stats.poisson.pmf(values, rate) / (1 - np.exp(-rate))
    assert p @ values == pytest.approx(mean, rel=1e-4)
    seen = np.bincount(drawn, minlength=120)[1:120]
    often = N * p > 20
    chi2 = ((seen[often] - N * p[often]) ** 2 / (N * p[often])).sum()
    assert stats.chi2.sf(chi2, often.sum() - 1) > 1e-4


def test_short_texts_have_one_word() -> None:
    rng = np.random.default_rng(0)
    assert (draw_lengths(np.array([0.0, 0.3, 1.0]), rng, None, texts=True) == 1).all()
    assert (draw_lengths(np.zeros(5), rng, None, texts=False) == 0).all()
    assert draw_lengths(np.zeros(2), rng, 4, texts=True).tolist() == [4, 4]
    for wrong in (-1, 2.5):
        with pytest.raises(ValueError, match="length must be a number of words"):
            draw_lengths(np.zeros(2), rng, wrong, texts=True)


TEXTS = ["buy now", "buy cheap pills", "lunch at noon", "pills", "see you", "lunch"]
Y = ["spam", "spam", "ham", "spam", "ham", "ham"]


@pytest.mark.parametrize("event", [Multinomial(), Bernoulli(), Multinomial(estimate="predictive")])
def test_drawn_texts_have_words(event) -> None:
    nb = NaiveBayes(Text(event=event), weights=None).fit(TEXTS, Y)
    X, _ = nb.inspect.sample(300, random_state=0)
    assert min(len(text.split()) for text in X) >= 1
    for length in (0, 1, 3):
        X, _ = nb.inspect.sample(50, random_state=0, length=length)
        assert {len(text.split()) for text in X} == {length}


def test_rows_of_counts_have_a_given_total() -> None:
    estimate = Multinomial().fit([[3, 1, 0], [2, 2, 5]])
    assert (estimate.sample(20, random_state=0, length=6).sum(axis=1) == 6).all()
    assert set(estimate.sample(500, random_state=0).sum(axis=1)) > {4, 6, 8}
