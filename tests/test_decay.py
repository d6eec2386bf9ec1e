"""Decay is learning again with smaller sample weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes
from tests.cases import CASES, Case
from tests.laws import Sample, assert_same, samples


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_decay_is_learning_with_smaller_weights(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    half = Sample(case, sample.columns, sample.y, np.full(len(sample), 0.5))
    assert_same(sample.model * 0.5, half.model, sample.rows)


def test_to_fade_and_to_learn_is_one_step() -> None:
    X, y = [[1.0], [2.0], [7.0], [8.0]] * 5, ["a", "a", "b", "b"] * 5
    more, right = [[1.5], [9.0], [3.0]], ["a", "b", "c"]
    one = NaiveBayes().fit(X, y).partial_fit(more, right, decay=0.25)
    two = NaiveBayes().fit(X, y).decay(0.25).partial_fit(more, right)
    assert one.inspect.difference(two).equal
    assert (one.predict_proba(X) == two.predict_proba(X)).all()
    told = [[(r.verb, r.rows, r.total) for r in nb.history_.records] for nb in (one, two)]
    assert told[0] == told[1]
    weight = [0.25] * len(y) + [1.0] * 3
    every = NaiveBayes().fit(X + more, y + right, sample_weight=weight)
    np.testing.assert_allclose(one.class_count_, every.class_count_, rtol=1e-12)


def test_nothing_changes_where_rows_cannot_be_learned() -> None:
    nb = NaiveBayes().fit([[1.0], [2.0]] * 5, ["a", "b"] * 5)
    for rows, labels, factor in (([[1.0]], ["a", "b"], 0.5), ([[1.0]], ["a"], 0.0)):
        with pytest.raises(ValueError, match=r"rows|greater than 0"):
            nb.partial_fit(rows, labels, decay=factor)
    assert nb.class_count_.tolist() == [5.0, 5.0]
    assert len(nb.history_.records) == 1
    assert nb.assess().accuracy >= 0  # the sample is there
