"""The linear part of models that merge, forget, fade, are calibrated and assessed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.assess.folds import cross_validate
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.fitting.leave_one_out import linear_evidence
from naively.fitting.sample import deal
from naively.fitting.weights import RIDGES
from naively.terms.functions import Product
from tests.alike import added, linear_of, loss, table, take
from tests.fittings import order_in_sample
from tests.learning import encoded


def test_merged_without_rows_it_is_the_mean_of_both() -> None:
    X, y = table(0, k=3)
    two, of_two = table(5, 200)
    a, b = NaiveBayes().fit(X, y), NaiveBayes().fit(two, of_two)
    a, b = (pickle.loads(pickle.dumps(one)) for one in (a, b))  # noqa: S301
    assert linear_of(a).of
    assert linear_of(b).of
    new, _ = table(1, k=3)
    of_a, of_b = added(a, new), np.hstack([added(b, new), np.zeros((len(new["a"]), 1))])
    share = a.weights_.rows / (a.weights_.rows + b.weights_.rows)
    assert share == pytest.approx(400 / 600)
    a.merge(b)
    np.testing.assert_allclose(added(a, new), share * of_a + (1 - share) * of_b, atol=1e-10)
    assert linear_of(a).ridge in [pytest.approx(ridge * (1 + 1000 / 400)) for ridge in RIDGES] + [
        pytest.approx(ridge * (1 + 1000 / 200)) for ridge in RIDGES
    ]


def test_the_mean_with_nothing_is_a_share() -> None:
    X, y = table(0)
    a, rest = NaiveBayes().fit(X, y), take(X, np.s_[:100])
    none = NaiveBayes(weights="temperature").fit(rest, y[:100])
    new, _ = table(1)
    before = added(a, new)
    half = a.weights_ + none.weights_
    share = a.weights_.rows / half.rows
    np.testing.assert_allclose(added(_with(a, half), new), share * before, atol=1e-10)


def _with(nb: NaiveBayes, weights: Any) -> NaiveBayes:
    nb._exchange(model=nb.model_.weighed(weights))
    return nb


def test_the_mean_of_two_that_are_alike_is_each() -> None:
    X, y = table(0)
    a, b = (pickle.loads(pickle.dumps(NaiveBayes().fit(X, y))) for _ in range(2))  # noqa: S301
    new, _ = table(1)
    before = added(a, new)
    assert linear_of(a.merge(b)).of.keys() == linear_of(b).of.keys()
    np.testing.assert_allclose(added(a, new), before, atol=1e-10)


def test_decay_and_forget_keep_it() -> None:
    X, y = table(0)
    nb, (new, _) = NaiveBayes().fit(X, y), table(1)
    before = added(nb, new)
    nb.decay(0.9)
    np.testing.assert_allclose(added(nb, new), before, atol=1e-10)
    nb.forget(take(X, np.s_[:50]), y[:50], np.full(50, 0.9))
    np.testing.assert_allclose(added(nb, new), before, atol=1e-10)


def test_a_column_that_is_now_taken_for_something_else_has_no_terms() -> None:
    """Truths that are numbers since a merge, in a model without rows to fit weights to."""
    X, y = table(0)
    nb = pickle.loads(pickle.dumps(NaiveBayes(derived=None).fit(X, y)))  # noqa: S301
    other = take(X, np.s_[:50])
    other["truth"] = np.arange(50) / 7
    nb.merge(pickle.loads(pickle.dumps(NaiveBayes(weights=None).fit(other, y[:50]))))  # noqa: S301
    terms = {str(term.column): term for term in linear_of(nb).of}
    assert "truth" in terms
    blocks = nb.model_.blocks(encoded(nb.model_, X))
    assert not terms["truth"].is_in({key: block.axis for key, block in blocks.items()})
    linear = linear_of(nb)
    product = {Product(terms["truth"], terms["a"], 1.0): linear.of[terms["a"]]}
    _with(nb, replace(nb.weights_, linear=replace(linear, products=product)))
    assert np.isfinite(nb.predict_proba(X)).all()
    batch = encoded(nb.model_, X, y)
    assert set(linear_evidence(nb.model_, [batch])) == {"a", "b", "c", "level"}


def test_calibrate_on_other_rows_fits_it_to_these() -> None:
    """In whatever order they come, and whatever number all their weights are multiplied by."""
    X, y = table(0)
    fresh, of_fresh = table(3, 500)
    nb, (new, label) = NaiveBayes(derived=None).fit(X, y), table(1, 2000)
    before = loss(nb, new, label)
    nb.calibrate(fresh, of_fresh)
    assert linear_of(nb).of
    assert loss(nb, new, label) < before + 0.02
    order = np.random.default_rng(0).permutation(500)
    again = NaiveBayes(derived=None).fit(X, y).calibrate(take(fresh, order), of_fresh[order])
    np.testing.assert_array_equal(again.predict_proba(new), nb.predict_proba(new))
    nb.calibrate(fresh, of_fresh, np.full(500, 2.0))
    np.testing.assert_allclose(again.predict_proba(new), nb.predict_proba(new), atol=1e-12)


def test_calibrate_on_no_rows_is_an_error() -> None:
    X, y = table(0)
    nb = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="weights are zero"):
        nb.calibrate(X, y, np.zeros(len(y)))


def test_what_columns_are_worth_has_it() -> None:
    X, y = table(0)
    nb = NaiveBayes().fit(X, y)
    of_columns = linear_evidence(nb.model_, [encoded(nb.model_, X, y)]).values()
    intercept = sum(of_columns) - added(nb, X)
    np.testing.assert_allclose(intercept, np.broadcast_to(intercept[0], intercept.shape), atol=1e-9)


def test_each_fold_is_predicted_by_a_linear_part_of_the_other_rows() -> None:
    X, y = table(0, 150)
    X = {name: of for name, of in X.items() if of.dtype.kind == "f"}  # of which rows keep an order
    nb = NaiveBayes().fit(X, y)
    sample = nb._learned.sample.of(nb.model_)
    dealt = deal(sample.labels, sample.copies, 3)
    p = cross_validate(nb.model_, sample, "loo", dealt).p
    encoded = nb.model_.counted.schema.encode(as_rows(X), encode_labels(y))
    order = order_in_sample(nb, encoded)
    rows, label = take(X, order), y[order]
    at = 0
    for fold in dealt.T.astype(bool):
        other = NaiveBayes().fit(take(rows, ~fold), label[~fold])
        assert linear_of(other).of
        mine = p[at : at + fold.sum()]
        np.testing.assert_allclose(mine, other.predict_proba(take(rows, fold)), atol=1e-6)
        at += int(fold.sum())
