"""Models from given parameters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from naively import (
    Bernoulli,
    Binomial,
    Categorical,
    Estimate,
    Exponential,
    Gaussian,
    Geometric,
    LogNormal,
    Multinomial,
    NaiveBayes,
    NegativeBinomial,
    Poisson,
    load,
)

SPAM, HAM = "spam", "ham"
PRIOR = {"spam": 0.4, "ham": 0.6}

GIVEN = [
    (Bernoulli.of(p=0.3), 0.3, stats.bernoulli(0.3)),
    (Binomial.of(p=0.3, trials=7), 0.3, stats.binom(7, 0.3)),
    (Poisson.of(rate=2.7), 2.7, stats.poisson(2.7)),
    (Exponential.of(rate=0.7), 0.7, stats.expon(scale=1 / 0.7)),
    (Geometric.of(p=0.3), 0.3, stats.nbinom(1, 0.3)),
    (NegativeBinomial.of(p=0.3, r=2.5), 0.3, stats.nbinom(2.5, 0.3)),
    (Gaussian.of(mean=1e6, variance=0.01), {"mean": 1e6, "variance": 0.01}, stats.norm(1e6, 0.1)),
    (LogNormal.of(mean=1, variance=0.25), {"mean": 1, "variance": 0.25},
     stats.lognorm(0.5, scale=np.e)),
    (Categorical.of(p={"red": 0.3, "blue": 0.7}), {"red": 0.3, "blue": 0.7}, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "parameters", "oracle"), GIVEN, ids=[of[0].event.name for of in GIVEN]
)
def test_given_parameters_are_recovered(given: Estimate, parameters, oracle) -> None:
    for how in ("mle", "map", "mean"):
        assert getattr(given, how) == pytest.approx(parameters, rel=1e-15)
    assert given.n == 0
    assert given.prior is None
    if oracle is not None:
        at = np.array([1.0, 2.0]) if oracle.mean() < 100 else np.array([1e6, 1e6 + 0.1])
        assert given.fitted.mean() == pytest.approx(oracle.mean())
        discrete = isinstance(oracle.dist, stats.rv_discrete)
        expected = oracle.logpmf(at[:1]) if discrete else oracle.logpdf(at)
        sample = at[: len(expected)]
        assert given.log_likelihood(sample) == pytest.approx(expected.sum())
        drawn = np.asarray(given.sample(20_000, random_state=0))
        error = 5 * oracle.std() / np.sqrt(20_000)
        assert abs(drawn.mean() - oracle.mean()) < error
    with pytest.raises(ValueError, match="were given: it has no posterior"):
        given.posterior  # noqa: B018
    with pytest.raises(ValueError, match="were given: it has no"):
        given.log_evidence  # noqa: B018


def test_a_given_estimate_says_so() -> None:
    assert str(Bernoulli.of(p=0.3)) == "bernoulli, parameters given: 0.3"
    of = Gaussian.of(mean=1, variance=4)
    assert str(of) == "gaussian, parameters given: mean 1, variance 4"
    assert of.normal.std() == 2
    assert of.predictive.mean() == 1


def mixed() -> NaiveBayes:
    """Return a model with a column of each kind."""
    return NaiveBayes.of(
        class_prior=PRIOR,
        columns={
            "cheap": {SPAM: Bernoulli.of(p=0.3), HAM: Bernoulli.of(p=0.01)},
            "length": {SPAM: Gaussian.of(10, 4), HAM: Gaussian.of(14, 9)},
            "colour": {
                SPAM: Categorical.of(p={"red": 0.5, "blue": 0.5}),
                HAM: Categorical.of(p={"blue": 0.25, "green": 0.75}),
            },
            "width": {SPAM: Gaussian.of(0, 1), HAM: Gaussian.of(1, 1)},
            "calls": {SPAM: Poisson.of(rate=3), HAM: Poisson.of(rate=0.5)},
            "wait": {SPAM: Exponential.of(rate=2), HAM: Exponential.of(rate=0.5)},
        },
    )


def test_posterior_is_bayes_rule_by_fractions() -> None:
    spam = {"cheap": Fraction(3, 10), "pills": Fraction(1, 4)}
    ham = {"cheap": Fraction(1, 100), "pills": Fraction(1, 50)}
    nb = NaiveBayes.of(
        class_prior={"spam": 0.4, "ham": 0.6},
        columns={
            word: {SPAM: Bernoulli.of(p=float(spam[word])), HAM: Bernoulli.of(p=float(ham[word]))}
            for word in spam
        },
    )
    assert nb.classes_.tolist() == ["ham", "spam"]
    assert nb.weights_ is None
    for cheap in (True, False):
        for pills in (True, False):
            joint = []
            for p, prior in ((ham, Fraction(6, 10)), (spam, Fraction(4, 10))):
                a = p["cheap"] if cheap else 1 - p["cheap"]
                b = p["pills"] if pills else 1 - p["pills"]
                joint.append(prior * a * b)
            expected = [float(of / sum(joint)) for of in joint]
            found = nb.predict_proba({"cheap": [cheap], "pills": [pills]})[0]
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_columns_of_all_kinds_are_scored_as_scipy_does() -> None:
    nb = mixed()
    row = {"cheap": [True], "length": [12.0], "colour": ["blue"], "width": [0.25], "calls": [2.0],
           "wait": [0.75]}  # fmt: skip
    spam = (
        np.log([0.4, 0.3, 0.5]).sum() + stats.norm.logpdf(12, 10, 2) + stats.norm.logpdf(0.25)
        + stats.poisson.logpmf(2, 3) + stats.expon.logpdf(0.75, scale=0.5)
    )  # fmt: skip
    ham = (
        np.log([0.6, 0.01, 0.25]).sum() + stats.norm.logpdf(12, 14, 3)
        + stats.norm.logpdf(0.25, 1) + stats.poisson.logpmf(2, 0.5)
        + stats.expon.logpdf(0.75, scale=2)
    )  # fmt: skip
    assert nb.score_samples(row)[0] == pytest.approx(np.logaddexp(spam, ham))
    expected = np.exp([ham, spam] - np.logaddexp(spam, ham))
    np.testing.assert_allclose(nb.predict_proba(row)[0], expected)
    assert "cheap" in str(nb.explain(row)[0])
    assert list(nb.feature_names_in_) == list(row)


def test_a_saved_model_predicts_alike(tmp_path) -> None:
    nb = mixed()
    X, _ = nb.inspect.sample(20, random_state=0)
    nb.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), nb.predict_proba(X))
    text = mail()
    text.save(tmp_path / "mail")
    X, _ = text.inspect.sample(20, random_state=0)
    np.testing.assert_array_equal(load(tmp_path / "mail").predict_proba(X), text.predict_proba(X))


def test_100_000_drawn_rows_recover_the_parameters() -> None:
    X, y = mixed().inspect.sample(100_000, random_state=1)
    n = (y == SPAM).sum()
    assert abs(n / 100_000 - 0.4) < 5 * np.sqrt(0.24 / 100_000)
    mine = {name: np.asarray(column)[y == SPAM] for name, column in X.items()}
    moments = {
        "cheap": (0.3, 0.21),
        "length": (10, 4),
        "width": (0, 1),
        "calls": (3, 3),
        "wait": (0.5, 0.25),
    }
    for name, (mean, variance) in moments.items():
        found = mine[name].astype(float).mean()
        assert abs(found - mean) < 5 * np.sqrt(variance / n), name
    spread = mine["length"].var()
    assert abs(spread - 4) < 5 * 4 * np.sqrt(2 / n)
    assert abs((mine["colour"] == "red").mean() - 0.5) < 5 * np.sqrt(0.25 / n)
    assert set(mine["colour"]) == {"red", "blue"}


def mail() -> NaiveBayes:
    """Return a model of texts."""
    return NaiveBayes.of(
        class_prior=PRIOR,
        columns={
            "text": {
                SPAM: Multinomial.of(p={"cheap": 0.75, "pills": 0.25}, length=3),
                HAM: Multinomial.of(p={"lunch": 0.5, "pills": 0.1, "noon": 0.4}, length=5),
            }
        },
    )


def test_texts_come_from_the_given_words() -> None:
    nb = mail()
    texts, y = nb.inspect.sample(40_000, random_state=0)
    assert all(texts)
    words = [
        word for text, label in zip(texts, y, strict=True) if label == HAM for word in text.split()
    ]
    assert set(words) == {"lunch", "pills", "noon"}
    n = len(words)
    assert abs(words.count("noon") / n - 0.4) < 5 * np.sqrt(0.24 / n)
    assert n / (y == HAM).sum() == pytest.approx(5, abs=0.1)
    texts, _ = nb.inspect.sample(100, random_state=0, length=7)
    assert {len(text.split()) for text in texts} == {7}
    found = nb.predict_proba(["pills"])[0]
    np.testing.assert_allclose(found, [0.06 / 0.16, 0.1 / 0.16])
    assert nb.predict(["noon"]).tolist() == [HAM]


def test_the_coins_of_a_lecture() -> None:
    fair, loaded = Bernoulli.of(p=0.5), Bernoulli.of(p=0.9)
    flips = {f"flip {i}": {"fair": fair, "loaded": loaded} for i in range(4)}
    nb = NaiveBayes.of(class_prior={"fair": 0.99, "loaded": 0.01}, columns=flips)
    p = nb.predict_proba({name: [True] for name in flips})[0]
    heads = Fraction(99, 100) * Fraction(1, 2) ** 4, Fraction(1, 100) * Fraction(9, 10) ** 4
    np.testing.assert_allclose(p, [float(of / sum(heads)) for of in heads], rtol=1e-12)
