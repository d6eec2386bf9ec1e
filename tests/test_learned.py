"""The learner of the command line is NaiveBayes, without scikit-learn's base classes."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

from naively import NaiveBayes
from naively.cli.learned import FileLearner
from naively.estimators.naive_bayes import Learner

X = {"size": [1.0, 2.0, None, 7.0, 8.0, 9.5] * 5, "colour": ["red", "red", "blue"] * 10}
Y = ["small"] * 15 + ["large"] * 15
OPTIONS: list[dict[str, Any]] = [{}, {"weights": None}, {"event_models": {"size": "gaussian"}}]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
def test_both_learn_the_same(options: dict[str, Any]) -> None:
    ours, theirs = FileLearner(**options).fit(X, Y), NaiveBayes(**options).fit(X, Y)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert str(ours.assess()) == str(theirs.assess())
    for nb in (ours, theirs):
        nb.partial_fit(X, Y).forget(X, Y).decay(0.5)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    again = FileLearner._of_model(theirs.model_)
    np.testing.assert_array_equal(again.predict_proba(X), theirs.predict_proba(X))


def test_both_take_the_same_options_and_say_what_they_are() -> None:
    assert inspect.signature(FileLearner) == inspect.signature(NaiveBayes)
    assert NaiveBayes.__doc__ == Learner.__doc__
    assert set(NaiveBayes().get_params()) == set(inspect.signature(FileLearner).parameters)


def test_labels_that_are_a_column_are_warned_of_as_each_is_expected_to() -> None:
    column = np.array(Y)[:, None]
    with pytest.warns(DataConversionWarning, match="column-vector"):
        NaiveBayes().fit(X, column)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        FileLearner().fit(X, column)
    assert [one.category for one in seen] == [UserWarning]
