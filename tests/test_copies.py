"""Pickles, joblib's files and deep copies of models are the models."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from tests.cases import CASES, Case
from tests.laws import samples


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_a_model_of_any_case_is_pickled_and_copied(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    joint = sample.model.joint_log_likelihood(sample.rows)  # what is derived is there now
    pickled = pickle.loads(pickle.dumps(sample.model))  # noqa: S301  (our own)
    for again in (pickled, copy.deepcopy(sample.model)):
        np.testing.assert_array_equal(again.joint_log_likelihood(sample.rows), joint)


@pytest.mark.parametrize(
    "nb",
    [
        NaiveBayes("density"), NaiveBayes("gaussian", estimate="predictive"),
        NaiveBayes("poisson", estimate="predictive"), NaiveBayes(), GaussianNB(), MultinomialNB(),
        ComplementNB(), BernoulliNB(), CategoricalNB(),
    ],
    ids=str,
)  # fmt: skip
def test_every_estimator_is_pickled_and_copied(nb: Any, tmp_path: Path) -> None:
    X, y = np.array([[1.0], [2.0], [3.0], [4.0], [1.0], [2.0]]), list("aabbab")
    p = nb.fit(X, y).predict_proba(X)
    joblib.dump(nb, tmp_path / "nb.joblib")
    for again in (
        pickle.loads(pickle.dumps(nb)),  # noqa: S301  (our own)
        copy.deepcopy(nb),
        joblib.load(tmp_path / "nb.joblib"),
    ):
        np.testing.assert_array_equal(again.predict_proba(X), p)
        again.partial_fit(X, y)
