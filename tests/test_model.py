"""The frozen model: what it refuses to learn, what it says of rows that hold nothing, p(x)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from naively import Bernoulli, Model, NaiveBayes
from naively.data.frames import as_rows
from naively.schema.settings import Settings
from tests import learning

Y = np.array(["a", "b", "b", "a", "b"])
TRUTHS = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0]], float)


def learn(X: Any, y: Any = Y, event: Any = "auto", **settings: Any) -> Model:
    return learning.learn_table(X, y, event, Settings(**{"weights": None, **settings}))


def test_rows_and_labels_must_be_as_many_and_some() -> None:
    with pytest.raises(ValueError, match="3 rows and 5 labels"):
        learn(TRUTHS[:3])
    with pytest.raises(ValueError, match="no rows to learn from"):
        learn(TRUTHS[:0], Y[:0])


@pytest.mark.parametrize("prior", ["data", "uniform", [0.9, 0.1], [1.0, 0.0]])
def test_a_row_that_holds_nothing_has_the_class_prior(prior: Any) -> None:
    model = learn(TRUTHS, class_prior=prior)
    p = {"data": [0.4, 0.6], "uniform": [0.5, 0.5]}.get(str(prior), prior)
    nothing = as_rows(np.full((2, 3), np.nan))
    np.testing.assert_allclose(model.posterior(nothing), [p, p])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.joint_log_likelihood(nothing), [np.log(p)] * 2)
    np.testing.assert_allclose(model.log_evidence(nothing), 0.0, atol=1e-12)


def test_a_table_without_any_cell_is_answered_by_the_prior() -> None:
    model = learn({"x": [None] * 5, "y": [None] * 5})
    assert not model.view.schema.groups
    rows = as_rows({"x": [None] * 3, "y": [None] * 3})
    np.testing.assert_allclose(model.posterior(rows), [[0.4, 0.6]] * 3)
    np.testing.assert_allclose(model.log_posterior(rows), np.log([[0.4, 0.6]] * 3))
    assert model.decide(rows).tolist() == ["b"] * 3
    assert model.joint_log_likelihood(rows).shape == (3, 2)


def test_settings_and_classes_stay_as_models_add_and_subtract() -> None:
    model = learn(TRUTHS, class_prior="uniform")
    other = learn(TRUTHS, ["b", "c", "c", "b", "b"], class_prior="uniform")
    both = model + other
    assert both.classes.tolist() == ["a", "b", "c"]
    assert both.settings == model.settings
    assert (both - other).classes.tolist() == ["a", "b"]
    np.testing.assert_allclose(both.class_log_prior, np.log(np.full(3, 1 / 3)))
    np.testing.assert_array_equal((model * 0.5).counted.tally.class_count, [1.0, 1.5])
    assert (model * 0.5).settings is model.settings


@pytest.mark.parametrize("weights", ["loo", None])
def test_the_evidence_of_all_rows_that_can_be_is_one(weights: str | None) -> None:
    nb = NaiveBayes(Bernoulli(), weights=weights).fit(np.tile(TRUTHS, (4, 1)), np.tile(Y, 4))
    every = np.array(list(product([0.0, 1.0], repeat=3)))
    assert np.exp(nb.score_samples(every)).sum() == pytest.approx(1.0)


def test_rows_are_drawn_by_the_class_prior_or_of_a_class_that_there_is() -> None:
    model = learn(TRUTHS, class_prior=[0.9, 0.1])
    rows, labels = model.sample(500, random_state=0)
    assert len(rows) == 500
    assert stats.binomtest(int((labels == "a").sum()), 500, 0.9).pvalue > 1e-4
    assert set(model.sample(5, "b", 0)[1]) == {"b"}
    with pytest.raises(ValueError, match=r"no class 'c'; the classes are \['a', 'b'\]"):
        model.sample(5, "c")
