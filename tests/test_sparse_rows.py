"""A sparse matrix is the same rows as the dense one: learned, scored, explained, listed."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from scipy import sparse

from naively import Bernoulli, Multinomial, NaiveBayes, Poisson
from naively.counting.axis import VALUE
from naively.inspect.odds import strongest

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 80)
DENSE = RNG.poisson(1 + np.array([[0, 1, 3, 0], [2, 0, 0, 1], [0, 0, 1, 4]])[Y] * 0.7).astype(float)
EVENTS = [Poisson(), Multinomial(), Multinomial(estimate="predictive"), Bernoulli(threshold=0)]


def pair(event, **settings):
    """Return a model of the dense rows and one of the sparse."""
    return [
        NaiveBayes(event, weights=None, **settings).fit(X, Y)
        for X in (DENSE, sparse.csr_matrix(DENSE))
    ]


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_log_probability_of_rows_is_that_of_dense_rows(event):
    dense, thin = pair(event)
    expected = dense.score_samples(DENSE)
    np.testing.assert_allclose(thin.score_samples(sparse.csr_matrix(DENSE)), expected)


@pytest.mark.parametrize("event", [*EVENTS, Bernoulli(threshold=0, estimate="mle")], ids=str)
def test_evidence_of_a_row_sums_to_its_joint(event):
    _, thin = pair(event)
    rows = DENSE.copy()
    rows[0] = 0.0  # what a class always has is absent
    X = sparse.csr_matrix(rows)
    joint = thin.predict_joint_log_proba(X)
    for row, found in zip(joint, thin.explain(X), strict=True):
        np.testing.assert_allclose(found.log_likelihood.sum(axis=0), row)


def test_what_a_class_always_has_and_a_row_lacks_is_impossible():
    X = sparse.csr_matrix([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    nb = NaiveBayes(Bernoulli(estimate="mle"), weights=None).fit(X, ["a", "a", "b", "b"])
    found = nb.explain(sparse.csr_matrix([[0.0, 1.0]]))[0]
    assert found.log_likelihood.sum(axis=0).tolist() == [-np.inf, pytest.approx(log(0.25))]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_cells_that_are_stored_twice_are_added(form):
    # Two entries of the cell (0, 1): 2 and 3 make 5, in whatever form the matrix comes.
    twice = sparse.coo_array(([2.0, 3.0, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    if form == "csr":
        twice = sparse.csr_array((np.array([2.0, 3.0, 1.0]), [1, 1, 0], [0, 2, 3]), shape=(2, 2))
        assert not twice.has_canonical_format
    X = twice if form != "csc" else twice.tocsc()
    nb = NaiveBayes(Bernoulli(threshold=4), weights=None).fit(X, ["a", "b"])
    (counted,) = nb.tally_.blocks.values()
    assert counted[VALUE].high.tolist() == [[0.0, 0.0], [1.0, 0.0]]  # 5 is above 4
    assert twice.nnz == 3  # the caller's matrix is left as it is


def test_rows_without_a_label_are_learned_from_as_dense_rows():
    labels = np.array([None] * len(Y), object)
    labels[:12] = Y[:12]
    dense, thin = (
        NaiveBayes(Poisson(), weights=None, semi_supervised=True).fit(X, labels)
        for X in (DENSE, sparse.csr_matrix(DENSE))
    )
    labelled = NaiveBayes(Poisson(), weights=None).fit(DENSE[:12], Y[:12])
    p = dense.predict_proba(DENSE)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(DENSE)), p, atol=1e-9)
    assert not np.allclose(labelled.predict_proba(DENSE), p, atol=1e-3)  # they do matter


def test_a_word_is_typical_by_the_mean_of_the_dirichlet_where_that_is_integrated_out():
    # The Dirichlet-multinomial of a single word is the Dirichlet's mean.
    counts = [[3, 0, 1], [1, 1, 0], [0, 4, 0], [0, 2, 2]]
    nb = NaiveBayes(Multinomial(alpha=1, estimate="predictive"), weights=None)
    nb.fit(np.array(counts, float), ["a", "a", "b", "b"])
    mean = [
        [Fraction(n + 1, 3 + 6) for n in (4, 1, 1)],
        [Fraction(n + 1, 3 + 8) for n in (0, 6, 2)],
    ]
    weights = {j: log(mean[0][j] / mean[1][j]) for j in range(3)}
    first, second = (strongest(nb.model_, c, 3) for c in (0, 1))
    assert [column for column, *_ in first] == ["x0"]  # the others are for the second class
    assert [column for column, *_ in second] == ["x1", "x2"]
    assert [w for *_, w in first] == pytest.approx([weights[0]])
    assert [w for *_, w in second] == pytest.approx([-weights[1], -weights[2]])


def test_weights_of_what_is_integrated_out_multiply_its_evidence():
    X = DENSE[Y < 2]
    nb = NaiveBayes(Multinomial(estimate="predictive")).fit(X, Y[Y < 2])
    (weight, *others) = {w for by_class in nb.weights_.by_name.values() for w in by_class.values()}
    assert others == []  # a temperature: one weight for all words
    plain = NaiveBayes(Multinomial(estimate="predictive"), weights=None).fit(X, Y[Y < 2])
    odds, pure = (
        np.diff(model.predict_joint_log_proba(X))[:, 0] - np.diff(model.class_log_prior_)[0]
        for model in (nb, plain)
    )
    bias = np.subtract(*nb.weights_.bias[::-1])
    np.testing.assert_allclose(odds - bias, weight * pure, atol=1e-9)
