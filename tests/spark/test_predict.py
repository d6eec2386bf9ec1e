"""What is predicted as columns of a frame of Spark is what one machine predicts."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from naively import NaiveBayes
from tests.spark.tables import mixed, texts

TABLE = mixed().drop_columns("w")
ROWS = TABLE.drop_columns("y")


@pytest.fixture(scope="module")
def nb():
    return NaiveBayes().fit(TABLE, "y")


def test_labels_and_probabilities_are_columns(cut, nb):
    frame = cut(TABLE, 130, 130, 300)
    found = nb.predict_proba(nb.predict(frame)).toArrow()
    assert found.column_names == [*TABLE.column_names, "prediction", "p(high)", "p(low)", "p(mid)"]
    for name in ("zero_one", "colour", "written", "price"):
        assert found[name].to_pylist() == ROWS[name].to_pylist()
    assert found["prediction"].to_pylist() == nb.predict(ROWS).tolist()
    p = np.column_stack([found[f"p({label})"] for label in nb.classes_])
    np.testing.assert_array_equal(p, nb.predict_proba(ROWS))


def test_what_follows_is_computed_by_spark(cut, nb):
    found = nb.predict(cut(TABLE, 130)).groupBy("prediction").count().collect()
    labels, counts = np.unique(nb.predict(ROWS), return_counts=True)
    assert {row["prediction"]: row["count"] for row in found} == dict(
        zip(labels.tolist(), counts.tolist(), strict=True)
    )


def test_options_are_those_of_one_machine(cut, nb):
    frame = cut(ROWS, 100)
    cost = {"mid": {"high": 20}}
    found = nb.predict(frame, cost=cost, reject=0.6).toArrow()["prediction"].to_pylist()
    assert found == nb.predict(ROWS, cost=cost, reject=0.6).tolist()
    assert "unsure" in found
    prior = {"high": 0.1, "low": 0.1, "mid": 0.8}
    p = nb.predict_proba(frame, class_prior=prior).toArrow()["p(mid)"]
    np.testing.assert_array_equal(p, nb.predict_proba(ROWS, class_prior=prior)[:, 2])


@pytest.mark.parametrize(
    "labels",
    [[1, 2], [True, False], [0.0, 1.0], [dt.date(2026, 1, 1), dt.date(2026, 1, 2)]],
    ids=lambda labels: type(labels[0]).__name__,
)
def test_labels_have_a_type_of_their_own(cut, labels):
    table = pa.table({"x": np.arange(40.0), "y": sorted(labels * 20)})
    nb = NaiveBayes("gaussian").fit({"x": np.arange(40.0)}, sorted(labels * 20))
    found = nb.predict(cut(table, 15)).toArrow()["prediction"].to_pylist()
    assert found == sorted(labels * 20)
    unsure = nb.predict(cut(table, 15), reject=0.999).toArrow()["prediction"].to_pylist()
    assert set(unsure) == {*labels, None}


def test_texts(cut):
    table = texts()
    nb = NaiveBayes().fit(table, "y")
    found = nb.predict_proba(cut(table, 100)).toArrow()["p(spam)"]
    np.testing.assert_array_equal(found, nb.predict_proba(table.drop_columns("y"))[:, 1])


def test_a_model_without_names_takes_columns_by_place(cut):
    X = np.random.default_rng(0).normal(size=(50, 2))
    nb = NaiveBayes().fit(X, X[:, 0] > 0)
    found = nb.predict_proba(cut(pa.table({"a": X[:, 0], "b": X[:, 1]}), 20)).toArrow()
    np.testing.assert_array_equal(found["p(True)"], nb.predict_proba(X)[:, 1])


def test_columns_that_lack_are_missing(cut, nb):
    some = TABLE.drop_columns("colour")
    with pytest.warns(UserWarning, match="No column 'colour': counted as missing"):
        frame = nb.predict_proba(cut(some, 100))
    with pytest.warns(UserWarning, match="colour"):
        theirs = nb.predict_proba(some.drop_columns("y"))
    np.testing.assert_array_equal(frame.toArrow()["p(mid)"], theirs[:, 2])


def test_columns_that_were_not_learned_may_be_of_any_type(cut, nb):
    ids = pa.array([{"a": i} for i in range(len(TABLE))])
    found = nb.predict(cut(TABLE.append_column("id", ids), 100)).toArrow()
    assert found["id"].to_pylist() == ids.to_pylist()
    assert found["prediction"].to_pylist() == nb.predict(ROWS).tolist()


def test_an_empty_frame_is_predicted(cut, nb):
    assert len(nb.predict(cut(TABLE.slice(0, 0))).toArrow()) == 0


def test_class_priors_are_estimated_of_a_frame(cut, nb):
    found = nb.estimate_class_prior(cut(ROWS, 100))
    np.testing.assert_allclose(found, nb.estimate_class_prior(ROWS))
