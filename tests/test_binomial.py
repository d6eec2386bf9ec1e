"""Counts of a known number of trials, against SciPy and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from naively import Bernoulli, Beta, Binomial, NaiveBayes
from tests.test_estimates import exactly


def test_estimates_in_fractions() -> None:
    found = Binomial(trials=10, prior=Beta(3, 2)).fit([8, 9, 4])
    exactly(
        (found.mle, Fraction(21, 30)), (found.map, Fraction(23, 33)), (found.mean, Fraction(24, 35))
    )
    assert found.posterior.args == (24, 11)
    exactly((Binomial(trials=10).fit([8, 9, 4]).mean, Fraction(28, 40)))  # one row of 7 is added


@pytest.mark.parametrize("sample", [[3, 1, 4], [5, 5], [0, 0, 0]])
def test_the_log_likelihood_is_scipys(sample: list) -> None:
    found = Binomial(trials=5, alpha=0).fit(sample)
    for k in range(6):
        expected = stats.binom.logpmf(k, 5, found.mle)
        assert found.log_likelihood([k]) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_impossible_in_a_class_is_so_in_any_number(sparse: bool) -> None:
    x, y = np.array([[3.0, 3], [3, 2], [1, 3], [0, 0]]), [0, 0, 1, 1]
    nb = NaiveBayes(Binomial(trials=3, alpha=0), weights=None)
    rows = np.array([[3.0, 2], [2, 3], [0, 3], [1, 1]])
    nb.fit(csr_array(x) if sparse else x, y)
    joint = nb.predict_joint_log_proba(csr_array(rows) if sparse else rows)
    p = np.array([[1, 5 / 6], [1 / 6, 1 / 2]])  # by class
    expected = np.log(0.5) + stats.binom.logpmf(rows[:, None], 3, p).sum(axis=2)
    base = stats.binom.logpmf(rows, 3, 0.5).sum(axis=1) - 6 * np.log(0.5)
    np.testing.assert_allclose(joint, expected - base[:, None], rtol=1e-12)


def test_one_cell_that_is_impossible_is_so_by_itself() -> None:
    found = Binomial(trials=3, alpha=0).fit([3, 3])
    of_cells = found.event.terms(found.tally).at(np.arange(4.0), np.zeros(4, np.int64))
    assert of_cells[:, 0].tolist() == [-np.inf, -np.inf, -np.inf, 0.0]


def test_with_one_trial_it_is_bernoulli() -> None:
    sample = [1, 0, 1, 1]
    one, other = Binomial(trials=1, prior=Beta(2, 3)), Bernoulli(prior=Beta(2, 3))
    assert (one.fit(sample).mean, one.fit(sample).map) == (
        other.fit(sample).mean,
        other.fit(sample).map,
    )
