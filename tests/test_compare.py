"""Models side by side, against scikit-learn's scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, log_loss
from sklearn.naive_bayes import GaussianNB as Theirs

from naively import GaussianNB, NaiveBayes, compare

X, Y = load_iris(return_X_y=True)
LEARNED, HELD_OUT = slice(None, None, 2), slice(1, None, 2)


def test_is_scikit_learns_scores_best_log_likelihood_first() -> None:
    theirs = Theirs(var_smoothing=0).fit(X[LEARNED], Y[LEARNED])
    models = {
        "poisson": NaiveBayes("poisson", weights=None).fit(X[LEARNED], Y[LEARNED]),
        "gaussian": GaussianNB(var_smoothing=0).fit(X[LEARNED], Y[LEARNED]),
    }
    found = compare(models, X[HELD_OUT], Y[HELD_OUT]).to_dict()
    joint = theirs.predict_joint_log_proba(X[HELD_OUT])
    best = found["model"].index("gaussian")
    assert best == 0
    assert found["log_likelihood"][best] == pytest.approx(
        joint[np.arange(len(joint)), Y[HELD_OUT]].sum(), rel=1e-9
    )
    assert found["log_likelihood"] == sorted(found["log_likelihood"], reverse=True)
    p = theirs.predict_proba(X[HELD_OUT])
    assert found["log_loss"][best] == pytest.approx(log_loss(Y[HELD_OUT], p))
    assert found["accuracy"][best] == accuracy_score(Y[HELD_OUT], theirs.predict(X[HELD_OUT]))
    assert found["parameters"] == [4 * 3 * 2 + 2, 4 * 3 + 2]


def test_a_column_of_labels_and_nothing_to_compare() -> None:
    table = {"a": X[:, 0], "kind": Y}
    nb = NaiveBayes().fit(table, "kind")
    assert compare({"one": nb}, table, "kind").log_likelihood == [
        nb.inspect.log_likelihood(table, "kind")
    ]
    with pytest.raises(ValueError, match="no models to compare"):
        compare({}, table, "kind")
    with pytest.raises(ValueError, match="label 7, which was not learned"):
        compare({"one": nb}, {"a": [1.0]}, [7])
