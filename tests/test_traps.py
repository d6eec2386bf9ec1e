"""Where other libraries have gone wrong; more such traps are tests in test_drop_in.py.

Each test says what went wrong, and the numbers that it should have been.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from naively import (
    Bernoulli,
    BernoulliNB,
    Categorical,
    CategoricalNB,
    Complement,
    ComplementNB,
    Gaussian,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    Poisson,
)

Pure = partial(NaiveBayes, weights=None)
DROP_INS = [GaussianNB, BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB]


@pytest.mark.parametrize("make", [GaussianNB, lambda: Pure(Gaussian())])
def test_batches_of_one_row_are_no_variance_of_zero(make: Any) -> None:
    x, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    whole, bit_by_bit = make().fit(x, y), make()
    for i in range(20):
        bit_by_bit.partial_fit(x[i : i + 1], y[i : i + 1], classes=[0, 1])
        assert np.isfinite(bit_by_bit.predict_proba(x)).all()
    np.testing.assert_allclose(bit_by_bit.predict_proba(x), whole.predict_proba(x), rtol=1e-9)


@pytest.mark.parametrize("make", DROP_INS)
def test_a_negative_weight_is_an_error_that_names_the_row(make: Any) -> None:
    with pytest.raises(ValueError, match=r"at least 0, but row 1 has -0\.5"):
        make().fit([[1], [0], [1]], [0, 1, 1], sample_weight=[1, -0.5, 1])


def test_many_levels_that_say_nothing_are_not_believed() -> None:
    """A pretend count for each of 500 levels makes a rare class rarer still."""
    rng = np.random.default_rng(0)
    level, y = rng.integers(0, 500, 4000), (rng.random(4000) < 0.1).astype(int)
    names = [f"v{i}" for i in level]

    def loss(event: Categorical) -> float:
        nb = Pure(event).fit({"id": names[:2000]}, y[:2000])
        p = nb.predict_proba({"id": names[2000:]})
        return float(-np.log(p[np.arange(2000), y[2000:]]).mean())

    share = y[:2000].mean()
    knowing_nothing = -np.log(np.where(y[2000:] == 1, share, 1 - share)).mean()
    assert loss(Categorical(m="auto")) < knowing_nothing + 0.015 < loss(Categorical(alpha=1))


def test_the_class_prior_of_complement_counts() -> None:
    x, y = [[3, 0], [0, 3]], ["a", "b"]
    p = Pure(Complement(), class_prior=[0.999, 0.001]).fit(x, y).predict_proba([[1, 1]])
    np.testing.assert_allclose(p, [[0.999, 0.001]])


def test_missing_is_not_false() -> None:
    x, y = {"in": [True, True, None, None, False]}, ["a", "a", "a", "b", "b"]
    nb = Pure(Bernoulli(alpha=1)).fit(x, y)
    (tally,) = nb.tally_.blocks.values()
    np.testing.assert_allclose(Bernoulli().parameters(tally, "mean")["p"], [[3 / 4, 1 / 3]])
    np.testing.assert_allclose(nb.predict_proba({"in": [None]}), [[3 / 5, 2 / 5]])


def test_a_row_with_one_missing_cell_is_not_dropped() -> None:
    x = [[1.0, np.nan], [3.0, np.nan], [np.nan, 5.0], [7.0, 6.0]]
    nb = Pure(Gaussian(smoothing=0)).fit(x, ["a", "a", "a", "b"])
    assert nb.class_count_.tolist() == [3, 1]
    (tally,) = nb.tally_.blocks.values()
    assert Gaussian().parameters(tally, "mle")["mean"][:, 0].tolist() == [2.0, 5.0]


def test_a_column_said_fifty_times_is_not_fifty_times_as_sure() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    once = rng.normal(y, 1.0)
    x = np.repeat(once[:, None], 50, axis=1)
    learned, fresh = slice(2000), slice(2000, None)
    p = NaiveBayes().fit(x[learned], y[learned]).predict_proba(x[fresh])
    accuracy = (p.argmax(axis=1) == y[fresh]).mean()
    assert p.max(axis=1).mean() == pytest.approx(accuracy, abs=0.05)
    naive = Pure().fit(x[learned], y[learned]).predict_proba(x[fresh])
    assert naive.max(axis=1).mean() > accuracy + 0.2


def test_an_outlier_is_decided_by_the_tails_and_never_nan() -> None:
    x, y = [[0.0], [1.0], [9.0], [10.0]], ["low", "low", "high", "high"]
    nb = Pure(Gaussian()).fit(x, y)
    p = nb.predict_proba([[-1e6], [1e6], [1e300]])
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p[:2], [[0, 1], [1, 0]], atol=1e-12)
    far = nb.predict_joint_log_proba([[200.0]])[0]
    (tally,) = nb.tally_.blocks.values()
    found = Gaussian().parameters(tally, "mean")
    expected = stats.norm.logpdf(200.0, found["mean"][0], np.sqrt(found["variance"][0]))
    np.testing.assert_allclose(far, expected + np.log(0.5), rtol=1e-12)


def test_a_constant_column_says_nothing() -> None:
    x = np.column_stack([np.full(6, 3.0), [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]])
    y = [0, 0, 0, 1, 1, 1]
    both, alone = (Pure(Gaussian()).fit(part, y) for part in (x, x[:, 1:]))
    np.testing.assert_allclose(both.predict_proba(x), alone.predict_proba(x[:, 1:]), rtol=1e-9)


def test_smoothed_probabilities_of_levels_are_probabilities() -> None:
    nb = Pure(Categorical(alpha=2)).fit({"c": ["r", "r", "b", "g"]}, [0, 0, 0, 1])
    (tally,) = nb.tally_.blocks.values()
    p = Categorical(alpha=2).parameters(tally, "mean")["p"]
    assert (p <= 1).all()
    np.testing.assert_allclose(p.sum(axis=0), 1, rtol=1e-15)
    assert np.isfinite(nb.predict_proba({"c": ["never seen"]})).all()


def test_levels_are_known_by_name_and_not_by_place() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["r", "r", "b"], categories=["b", "r"])})
    nb = Pure(Categorical()).fit(frame, ["x", "x", "y"])
    turned = pd.DataFrame({"c": pd.Categorical(["r", "b"], categories=["r", "g", "b"])})
    np.testing.assert_allclose(
        nb.predict_proba(turned), nb.predict_proba({"c": ["r", "b"]}), rtol=1e-15
    )
    assert nb.predict(turned).tolist() == ["x", "y"]


def test_a_truth_has_two_outcomes_however_many_classes() -> None:
    """The pretend counts are of the two outcomes, and not of the three classes."""
    nb = BernoulliNB(alpha=1).fit([[1], [1], [0]], ["a", "a", "b"])
    assert np.exp(nb.feature_log_prob_[0, 0]) == pytest.approx(float(Fraction(3, 4)))
    three = BernoulliNB(alpha=1).fit([[1], [1], [0], [1]], ["a", "a", "b", "c"])
    assert np.exp(three.feature_log_prob_[0, 0]) == pytest.approx(float(Fraction(3, 4)))


@pytest.mark.parametrize("event", [Gaussian(), Bernoulli(), Poisson(), Categorical()], ids=str)
def test_the_class_prior_is_there_and_is_as_counted(event: Any) -> None:
    """Neither left out, nor uniform, nor smoothed by one event model and not by another."""
    x, y = [[1.0], [0.0], [1.0], [0.0]], ["a", "b", "b", "b"]
    np.testing.assert_allclose(np.exp(Pure(event).fit(x, y).class_log_prior_), [1 / 4, 3 / 4])
