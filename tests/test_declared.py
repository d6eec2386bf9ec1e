"""Declared levels and words, and the m-estimate with given shares: in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from naively import Bernoulli, Categorical, Dirichlet, Multinomial, NaiveBayes, Text, load
from tests.test_estimates import exactly

COLOURS = ["red", "green", "blue"]


def event_and_tally(nb: Any) -> tuple[Any, Any]:
    ((key, tally),) = nb.tally_.blocks.items()
    return key.event, tally


def test_the_m_estimate_of_a_coin() -> None:
    """(n of true + m · p) / (n + m)."""
    coin = Bernoulli(m=2, p=0.1).fit([1, 1, 0])
    exactly((coin.mean, (2 + 2 * Fraction(1, 10)) / 5), (coin.mle, Fraction(2, 3)))
    table = Bernoulli(m=4, p=[0.25, 1.0]).fit(np.array([[1, 1], [0, 1]]))
    exactly(*zip(table.mean, (Fraction(2, 6), Fraction(6, 6)), strict=True))
    assert Bernoulli(m=2, p=0.25).fit([]).mean == 0.25
    mode = Bernoulli(m=2, p=0.1, estimate="map").fit([1, 1, 0])
    exactly((mode.map, Fraction(22, 50)))
    assert mode.posterior.mean() == pytest.approx(3.2 / 7)


def test_the_m_estimate_of_levels() -> None:
    sample, m = ["red", "red", "blue"], 2
    p = {"red": Fraction(1, 2), "green": Fraction(1, 8), "blue": Fraction(3, 8)}
    count = {"red": 2, "green": 0, "blue": 1}
    given = {level: float(share) for level, share in p.items()}
    for event in (
        Categorical(m=m, p=given),
        Categorical(m=m, p=[0.5, 0.125, 0.375], levels=COLOURS),
        Categorical(m=m, p=given, levels=["blue", "red", "green"]),
    ):
        found = event.fit(sample)
        for level in COLOURS:
            exactly((found.mean[level], (count[level] + m * p[level]) / (3 + m)))
    uniform = Categorical(m=m, p="uniform", levels=COLOURS).fit(sample).mean
    exactly(*((uniform[c], (count[c] + Fraction(2, 3)) / 5) for c in COLOURS))
    two = Categorical(m=m, p="uniform").fit(sample)
    exactly((two.mean["blue"], Fraction(2, 5)))
    # Another level takes 1 of the pretend rows that there would be for three levels of 1 each.
    exactly((np.exp(two.log_likelihood(["pink"])), Fraction(1, 6)))


def test_the_m_estimate_of_counts() -> None:
    X, y = np.array([[2, 0, 1], [0, 1, 0], [0, 3, 1]]), ["a", "a", "b"]
    n, m = {"a": [2, 1, 1], "b": [0, 3, 1]}, 3
    every = [Fraction(of, 8) for of in (2, 4, 2)]
    for p, shares in (
        (None, every),
        ("uniform", [Fraction(1, 3)] * 3),
        ([0.5, 0.25, 0.25], [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]),
    ):
        event, tally = event_and_tally(NaiveBayes(Multinomial(m=m, p=p), weights=None).fit(X, y))
        found = event.parameters(tally, "mean")["p"]
        for c, counts in enumerate(n.values()):
            expected = [(k + m * q) / (4 + m) for k, q in zip(counts, shares, strict=True)]
            exactly(*zip(found[:, c], expected, strict=True))
    exactly((Multinomial(m=4, p="uniform").fit([2, 1, 0, 0]).mean[3], Fraction(1, 7)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bernoulli(p=0.5), "give m too"),
        (lambda: Bernoulli(m=1, p=1.5), "p must be between 0 and 1"),
        (lambda: Categorical(m="auto", p="uniform"), "p needs m as a number"),
        (lambda: Categorical(m=1, p=[0.5, 0.4]), "shares that sum to 1"),
        (lambda: Categorical(m=1, p="even"), "shares or 'uniform', got 'even'"),
        (lambda: Categorical(m=1, p={"a": 1.0}, levels=["a", "b"]), "a share for each of levels="),
        (lambda: Categorical(m=1, p=[0.5, 0.5], levels=["a"]), "2 shares for 1 levels"),
        (lambda: Categorical(codes=2, levels=[0, 1]), "leave out levels= and p="),
        (lambda: Categorical(levels=["a", "a"]), "each once"),
        (lambda: Categorical(levels=[]), "at least one"),
        (lambda: Categorical(levels="abc"), "a sequence of levels"),
        (lambda: Categorical(m=1, p={"a": 1.0}).fit(["b"]).mean, "holds the level 'b', and p= has"),
        (lambda: Categorical(m=1, p=[0.5, 0.5]).fit(["b"]).mean, "only 1 levels"),
        (lambda: Multinomial(m=1, p=[0.5, 0.5]).fit([1, 2, 3]).mean, "2 shares for 3 columns"),
        (lambda: Multinomial(m=-1), "Multinomial m must be at least 0"),
        (lambda: Text(vocabulary="abc"), "must be a sequence of words"),
        (lambda: Text(vocabulary={"a", "b"}), "must be a sequence of words"),
        (lambda: Text(vocabulary=["a", "b", "a"]), "holds 'a' twice"),
        (lambda: Text(vocabulary=["a"], min_df=2), "leave out features, min_df"),
        (lambda: Text(vocabulary=["a"], features=8), "leave out features, min_df"),
        (
            lambda: NaiveBayes(Categorical(levels=[1])).fit({"c": ["x", "y"]}, [0, 1]),
            "Column 'c' holds strings, and levels= declares 1",
        ),
    ],
)
def test_what_is_declared_wrongly_is_an_error(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_declared_level_that_was_never_seen_has_its_pseudo_count() -> None:
    die = Categorical(alpha=0.5, levels=COLOURS).fit(["blue", "blue", "red"])
    assert die.mle == {"red": 1 / 3, "green": 0.0, "blue": 2 / 3}
    for level, count in (("red", 1), ("green", 0), ("blue", 2)):
        exactly((die.mean[level], (count + Fraction(1, 2)) / Fraction(9, 2)))
        assert np.exp(die.log_likelihood([level])) == pytest.approx(die.mean[level])
    # One that is not declared takes what it would have had as a fourth level.
    exactly((np.exp(die.log_likelihood(["pink"])), Fraction(1, 2) / 5))
    assert list(Categorical(levels=COLOURS).fit(["pink", "red"]).mle) == [*COLOURS, "pink"]
    vector = Categorical(levels=COLOURS, prior=Dirichlet([1, 2, 3])).fit(["red"])
    exactly(*zip(vector.mean.values(), map(Fraction, ("2/7", "2/7", "3/7")), strict=True))


@pytest.mark.parametrize("levels", [[3, 1, 2], np.array([3, 1, 2]), [3.0, 1.0, 2.0]])
def test_numbers_are_levels_however_they_arrive(levels: Any) -> None:
    for column in (np.array([[1], [1], [7]]), np.array([[1.0], [1.0], [7.0]])):
        nb = NaiveBayes(Categorical(levels=levels), weights=None).fit(column, [0, 0, 1])
        event, tally = event_and_tally(nb)
        assert tally.axis.levels == ((3, 1, 2, 7),)
        p = event.parameters(tally, "mean")["p"][:, 0]
        exactly(*zip(p, map(Fraction, ("1/6", "3/6", "1/6", "1/6")), strict=True))


def tables(tmp_path: Any, event: Any, X: list, y: list, seen: list) -> None:
    """Merging is refitting, forgetting leaves what is declared, and a file keeps all of it."""
    whole = NaiveBayes(event, weights=None).fit(X, y)
    half = NaiveBayes(event, weights=None).fit(X[:2], y[:2])
    other = NaiveBayes(event, weights=None).fit(X[2:], y[2:])
    expected = whole.predict_proba(seen)
    np.testing.assert_array_equal(half.merge(other).predict_proba(seen), expected)
    half.forget(X[2:], y[2:]).forget(X[:1], y[:1])
    assert half.tally_.class_count.tolist() == [1]
    left = next(iter(half.tally_.blocks.values()))
    fresh = next(iter(NaiveBayes(event, weights=None).fit(X[1:2], y[1:2]).tally_.blocks.values()))
    assert len(left.axis) == len(fresh.axis)
    whole.save(tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(seen), expected)
    assert again.tally_.blocks.keys() == whole.tally_.blocks.keys()
    assert list(map(hash, again.tally_.blocks)) == list(map(hash, whole.tally_.blocks))
    np.testing.assert_array_equal(again.merge(other).tally_.class_count.sum(), len(X) + len(X[2:]))


@pytest.mark.parametrize(
    "event",
    [
        Categorical(levels=COLOURS),
        Categorical(m=2, p={"red": 0.5, "green": 0.25, "blue": 0.25}),
        Categorical(m=2, p="uniform", levels=COLOURS),
    ],
    ids=str,
)
def test_declared_levels_in_tables(tmp_path: Any, event: Any) -> None:
    X = [["red"], ["red"], ["blue"], ["red"]]
    tables(tmp_path, event, X, [0, 1, 1, 0], [["green"], ["blue"], ["red"]])


@pytest.mark.parametrize("model", ["multinomial", Bernoulli(), Multinomial(m=2, p="uniform")])
def test_a_declared_vocabulary_in_tables(tmp_path: Any, model: Any) -> None:
    texts = ["buy now", "lunch? lunch!", "now or never", "buy lunch"]
    text = Text(vocabulary=["lunch", "buy", "dinner"], event=model)
    tables(tmp_path, text, texts, [0, 1, 1, 0], ["dinner", "buy", "never lunch"])


def test_laplace_over_a_declared_vocabulary() -> None:
    """(n of the word + 1) / (n of the vocabulary's words + its size)."""
    texts = ["buy buy now", "now lunch", "lunch at noon"]
    text = Text(vocabulary=["buy", "lunch", "dinner"], event=Multinomial())
    nb = NaiveBayes(text, weights=None).fit(texts, ["spam", "spam", "ham"])
    event, tally = event_and_tally(nb)
    assert tally.axis.words == ["buy", "lunch", "dinner"]
    of_class = {"ham": (Fraction(1), [0, 1, 0]), "spam": (Fraction(3), [2, 1, 0])}
    for c, (n, counts) in enumerate(of_class.values()):
        expected = [(k + 1) / (n + 3) for k in counts]
        exactly(*zip(event.parameters(tally, "mean")["p"][:, c], expected, strict=True))
    (joint,) = nb.predict_joint_log_proba(["dinner now"])  # now is no word of the vocabulary
    exactly(*zip(np.exp(joint), (Fraction(1, 3) / 4, Fraction(2, 3) / 6), strict=True))


def test_a_declared_bigram_is_counted() -> None:
    text = Text(vocabulary=["not good", "good"], ngram_range=(1, 2))
    nb = NaiveBayes(text, weights=None).fit(["not good", "good good"], [0, 1])
    _, tally = event_and_tally(nb)
    assert tally.axis.words == ["not good", "good"]
    (value,) = (table.high.tolist() for s, table in tally.sums.items() if s.value == "value")
    assert value == [[1, 0], [1, 2]]
