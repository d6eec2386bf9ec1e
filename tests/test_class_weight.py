"""There is no class_weight; who asks for it reads what does the same."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.class_weight import compute_sample_weight

from naively import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes

KINDS = [NaiveBayes, GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB]
X = np.array([[0.0, 1], [1, 0], [1, 1], [0, 0], [1, 2], [0, 1]])
Y = np.array([0, 1, 1, 0, 1, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_answered_by_what_to_say_instead(kind: Any) -> None:
    said = r"has no class_weight: .* are a class prior; say .*class_prior='uniform'"
    with pytest.raises(TypeError, match=said):
        kind(class_weight="balanced")
    with pytest.raises(TypeError, match=said):
        kind().fit(X, Y, class_weight="balanced")
    with pytest.raises(ValueError, match=said):
        kind().set_params(class_weight="balanced")
    with pytest.raises(ValueError, match=said):
        GridSearchCV(kind(), {"class_weight": ["balanced", None]}, cv=2, error_score="raise").fit(
            X, Y
        )


@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learn_sees_the_options_that_there_are(kind: Any) -> None:
    of = inspect.signature(kind.__init__).parameters
    kinds = {p.kind for p in of.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert sorted(kind().get_params()) == sorted(set(of) - {"self"})
    assert "class_weight" not in kind().get_params()
    of_fit = list(inspect.signature(kind().fit).parameters)
    assert of_fit[:3] == ["X", "y", "sample_weight"]
    assert not {"class_weight", "args", "kwargs"} & set(of_fit)
    same = clone(kind())
    assert repr(same) == repr(kind())
    assert repr(pickle.loads(pickle.dumps(kind()))) == repr(kind())  # noqa: S301
    with pytest.raises(TypeError, match="unexpected keyword argument 'clas_weight'"):
        kind(clas_weight="balanced")
    with pytest.raises(ValueError, match="Invalid parameter 'clas_weight'"):
        kind().set_params(clas_weight="balanced")
    with pytest.raises(TypeError, match="unexpected keyword argument 'clas_weight'"):
        kind().fit(X, Y, clas_weight="balanced")


def test_what_is_said_instead_does_the_same() -> None:
    X = np.random.default_rng(0).poisson(3.0, (60, 3)) + 1.0
    y = (np.arange(60) % 3 == 0).astype(int)
    of_counts: dict[str, Any] = {"event_models": "multinomial", "smoothing": 0, "weights": None}
    for balanced, other in (
        (NaiveBayes(**of_counts), NaiveBayes(**of_counts, class_prior="uniform")),
        (GaussianNB(var_smoothing=0.0), GaussianNB(var_smoothing=0.0, priors=[0.5, 0.5])),
        (MultinomialNB(alpha=0.0), MultinomialNB(alpha=0.0, fit_prior=False)),
    ):
        balanced.fit(X, y, compute_sample_weight("balanced", y))
        expected = other.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(balanced.predict_proba(X), expected)
