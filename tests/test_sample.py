"""Rows that a model draws: learning from them finds the model again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from naively import (
    Bernoulli,
    BernoulliNB,
    Beta,
    Categorical,
    CategoricalNB,
    Complement,
    ComplementNB,
    Dirichlet,
    EventModel,
    Exponential,
    Gamma,
    Gaussian,
    GaussianNB,
    Geometric,
    LogNormal,
    Multinomial,
    MultinomialNB,
    NaiveBayes,
    NegativeBinomial,
    Poisson,
)
from tests.cases import by_event

Pure = partial(NaiveBayes, weights=None)

N = 100_000
BATCHES = 20
SIGMAS = 5  # of several hundred comparisons not one is expected to be farther off

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], 4)
REAL = RNG.normal(size=(12, 2)) + np.arange(12)[:, None]
COUNT = RNG.poisson(3, (12, 3)).astype(float)
TRUE = RNG.random((12, 3)) < 0.6
LEVELS = {"colour": RNG.choice(["red", "green", "blue"], 12), "size": RNG.choice(["S", "L"], 12)}
TEXTS = ["buy now", "buy cheap pills", "lunch at noon", "pills now now", "see you", "at lunch"] * 2


@dataclass(frozen=True)
class Case:
    """An event model and what it is fitted to."""

    event: EventModel
    X: Any

    def __repr__(self) -> str:
        return f"{self.event} of {type(self.X).__name__}"


CASES = [
    Case(Gaussian(), REAL), Case(Gaussian(variance="shared"), REAL),
    Case(LogNormal(), np.exp(REAL / 5)), Case(Poisson(), COUNT), Case(Geometric(), COUNT),
    Case(NegativeBinomial(r=2.5), COUNT), Case(Exponential(), COUNT + 1), Case(Bernoulli(), TRUE),
    Case(Bernoulli(threshold=2.5), COUNT),
    Case(Bernoulli(prior=Beta(2, 3), estimate="map"), TRUE.astype(float)), Case(Bernoulli(), TEXTS),
    Case(Categorical(), LEVELS),
    Case(Categorical(prior=Dirichlet(2), estimate="map"), COUNT.astype(int)),
    Case(Multinomial(), COUNT), Case(Multinomial(alpha=0.5), TEXTS),
    Case(Multinomial(estimate="predictive"), COUNT),
]  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES, ids=repr)


def parameters(nb: NaiveBayes, names: list[Any], how: Any) -> np.ndarray:
    """Return all parameters, those of rows named alike in the same place."""
    (group,), (tally,) = nb.schema_.groups, nb.tally_.blocks.values()
    place = {tally.axis.label(row): row for row in range(len(tally.axis))}
    order = [place[name] for name in names]
    return np.stack([t[order] for t in group.event.parameters(tally, how).values()])


@pytest.mark.slow
@every_case
def test_learning_from_100_000_rows_recovers_the_parameters(case: Case) -> None:
    nb = Pure(case.event).fit(case.X, Y)
    (tally,) = nb.tally_.blocks.values()
    names = [tally.axis.label(row) for row in range(len(tally.axis))]
    rng = np.random.default_rng(1)
    found, counts = [], []
    for _ in range(BATCHES):
        X, y = nb.inspect.sample(N // BATCHES, random_state=rng)
        batch = Pure(case.event).fit(X, y)
        found.append(parameters(batch, names, "mle"))
        counts.append(batch.class_count_)
    true = parameters(nb, names, case.event.estimate)
    if isinstance(case.event, Bernoulli) and case.X is TEXTS:  # a text is not empty
        true = true / (1 - np.prod(1 - true, axis=1, keepdims=True))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(BATCHES)
    # A batch's maximum likelihood estimate may be off by its error squared.
    assert (np.abs(np.mean(found, axis=0) - true) < SIGMAS * error + 1e-3 * np.abs(true)).all()
    p, expected = np.sum(counts, axis=0) / N, np.exp(nb.class_log_prior_)
    assert (np.abs(p - expected) < SIGMAS * np.sqrt(expected * (1 - expected) / N)).all()


PREDICTIVE = [
    (Gaussian(estimate="predictive"), REAL[:, 0], "cdf"),
    (Exponential(prior=Gamma(3, 2), estimate="predictive"), COUNT[:, 0] + 1, "cdf"),
    (Poisson(prior=Gamma(2, 1), estimate="predictive"), COUNT[:, 0], "pmf"),
    (Bernoulli(estimate="predictive"), TRUE[:, 0], "pmf"),
    (Geometric(prior=Beta(4, 3), estimate="predictive"), COUNT[:, 0], "pmf"),
    (NegativeBinomial(r=3, prior=Beta(4, 3), estimate="predictive"), COUNT[:, 0], "pmf"),
]


@pytest.mark.parametrize(("event", "sample", "kind"), PREDICTIVE, ids=by_event)
def test_a_predictive_draws_from_scipys_distribution(
    event: EventModel, sample: Any, kind: str
) -> None:
    estimate = event.fit(sample)
    drawn = estimate.sample(N, random_state=2)
    if kind == "cdf":
        assert stats.kstest(drawn, estimate.predictive.cdf).pvalue > 1e-4
        return
    values = np.arange(30)
    expected = estimate.predictive.pmf(values) * N
    seen = np.bincount(drawn.astype(int), minlength=30)[:30]
    often = expected > 5
    expected = expected[often] * seen[often].sum() / expected[often].sum()
    assert stats.chisquare(seen[often], expected).pvalue > 1e-4


def test_rows_come_in_the_form_of_the_training_rows() -> None:
    frame = pd.DataFrame({"age": REAL[:, 0], "colour": LEVELS["colour"], "in": TRUE[:, 0]})
    X, y = Pure().fit(frame, Y).inspect.sample(4, random_state=0)
    assert list(X) == ["age", "colour", "in"]
    assert [X[name].dtype.kind for name in X] == ["f", "O", "b"]
    assert set(X["colour"]) <= set(LEVELS["colour"])
    assert len(y) == 4
    assert pd.DataFrame(X).shape == (4, 3)
    array, _ = Pure().fit(REAL, Y).inspect.sample(4)
    assert array.shape == (4, 2)
    truths, _ = Pure().fit(TRUE, Y).inspect.sample(4)
    assert truths.dtype == np.bool_
    mixed = np.column_stack([LEVELS["colour"].astype(object), REAL[:, 0].astype(object)])
    drawn, _ = Pure().fit(mixed, Y).inspect.sample(3)
    assert [type(value) for value in drawn[0]] == [str, float]
    texts, _ = Pure().fit(TEXTS, Y).inspect.sample(50, random_state=0)
    assert {word for text in texts for word in text.split()} <= set(" ".join(TEXTS).split())


@pytest.mark.parametrize("make", [GaussianNB, BernoulliNB, MultinomialNB, CategoricalNB])
def test_a_drop_in_can_learn_what_it_draws(make: Any) -> None:
    for X in (COUNT, pd.DataFrame(COUNT, columns=["a", "b", "c"])):
        nb = make().fit(X, Y)
        drawn, y = nb.inspect.sample(1000, random_state=3)
        assert drawn.shape == (1000, 3)
        assert make().fit(drawn, y).n_features_in_ == 3


def test_all_rows_may_be_of_one_class() -> None:
    nb = Pure(Gaussian(smoothing=0)).fit(REAL, Y)
    X, y = nb.inspect.sample(10_000, y="c", random_state=0)
    assert set(y) == {"c"}
    np.testing.assert_allclose(X.mean(axis=0), REAL[Y == "c"].mean(axis=0), atol=0.1)
    with pytest.raises(
        ValueError, match=r"There is no class 'd'; the classes are \['a', 'b', 'c'\]"
    ):
        nb.inspect.sample(3, y="d")


@pytest.mark.parametrize("event", ["poisson", "geometric", "negative_binomial", "multinomial"])
def test_what_is_too_large_to_be_drawn_is_said(event: str) -> None:
    X = np.array([[1.0, 4e18], [2.0, 4e18], [3.0, 4e18], [4.0, 2.0]])
    nb = NaiveBayes(event, weights=None).fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"too (large|many) to be drawn.*\.$"):
        nb.inspect.sample(3, random_state=0)


def test_a_seed_gives_the_same_rows_each_time() -> None:
    nb = Pure().fit(REAL, Y)
    (a, _), (b, _), (c, _) = (nb.inspect.sample(5, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


@pytest.mark.parametrize("nb", [Pure(Complement()), ComplementNB()], ids=repr)
def test_complement_does_not_say_how_rows_come_about(nb: Any) -> None:
    with pytest.raises(ValueError, match=r"^Complement has no sample: it does not model how rows"):
        nb.fit(COUNT, Y).inspect.sample(3)


def test_a_plain_sample_is_drawn_without_classes() -> None:
    coin = Bernoulli(alpha=0).fit([1, 1, 1, 0])
    assert coin.sample(10_000, random_state=0).mean() == pytest.approx(0.75, abs=0.02)
    die = Categorical(alpha=0).fit(["r", "r", "b", None])
    drawn = die.sample(9_000, random_state=0)
    assert drawn.count("r") == pytest.approx(6_000, abs=300)
    assert Gaussian().fit(REAL).sample(5).shape == (5, 2)
    words = Multinomial(alpha=0).fit(COUNT).sample(20_000, random_state=0)
    np.testing.assert_allclose(words.mean(axis=0), COUNT.mean(axis=0), rtol=0.05)
