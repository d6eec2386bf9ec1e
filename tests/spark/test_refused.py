"""What is wrong with a frame, or with Spark, is one sentence, and no trace of the JVM."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pytest

from naively import NaiveBayes
from tests.spark.tables import mixed

TABLE = mixed(120)


def refused(call, *said: str) -> str:
    with pytest.raises(ValueError) as found:
        call()
    message = str(found.value)
    assert "\n" not in message
    assert "Traceback" not in message
    assert found.value.__cause__ is None
    assert all(part in message for part in said), message
    return message


@pytest.mark.parametrize(
    ("column", "of"),
    [
        (pa.array([{"a": 1}] * 120), "struct"),
        (pa.array([b"bytes"] * 120), "binary"),
        (pa.array([[("k", 1)]] * 120, pa.map_(pa.string(), pa.int64())), "map"),
    ],
    ids=["struct", "binary", "map"],
)
def test_a_type_that_nothing_can_be_learned_from(cut, column, of):
    frame = cut(TABLE.append_column("odd", column))
    refused(lambda: NaiveBayes().fit(frame, "y"), "'odd'", of, "cannot be learned from")


def test_columns_that_are_not_there(cut):
    frame = cut(TABLE)
    refused(lambda: NaiveBayes().fit(frame, "Y"), "no target column 'Y'", "'y'")
    refused(lambda: NaiveBayes().fit(frame, "y", sample_weight="W"), "no column of weights 'W'")
    refused(lambda: NaiveBayes({"hue": "categorical"}).fit(frame, "y"), "'hue'", "'colour'")
    refused(lambda: NaiveBayes().fit(frame, TABLE["y"].to_pylist()), "name of a column")
    refused(lambda: NaiveBayes().fit(frame.select("y", "y"), "y"), "more than one column named 'y'")


def test_a_label_that_is_missing_names_the_partition_and_the_column(cut):
    y = [*TABLE["y"].to_pylist()[:100], None, *TABLE["y"].to_pylist()[101:]]
    table = TABLE.set_column(TABLE.column_names.index("y"), "y", pa.array(y))
    frame = cut(table, 40, 90)
    refused(lambda: NaiveBayes().fit(frame, "y"), "partition 2, target 'y': Row 10 has no label")


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_a_weight_that_is_none(cut, weight):
    w = pa.array([*TABLE["w"].to_pylist()[:-1], weight], from_pandas=False)
    frame = cut(TABLE.set_column(TABLE.column_names.index("w"), "w", w), 40)
    refused(lambda: NaiveBayes().fit(frame, "y", sample_weight="w"), "partition 1")
    refused(lambda: NaiveBayes().fit(frame, "y", sample_weight="colour"), "'colour'", "no weights")


def test_another_type_than_was_learned(cut):
    nb = NaiveBayes().fit(TABLE, "y")
    count = TABLE.column_names.index("count")
    other = cut(TABLE.set_column(count, "count", pa.array(["many"] * 120)), 40)
    before = nb.class_count_.tolist()
    for verb in (nb.partial_fit, nb.forget):
        refused(
            lambda verb=verb: verb(other, "y"), "'count' held numbers in training and holds str"
        )
    for ask in (nb.predict, nb.predict_proba):
        refused(
            lambda ask=ask: ask(other), "'count' held numbers in training and holds strings now"
        )
    assert nb.class_count_.tolist() == before


def test_rows_that_were_not_learned_are_not_forgotten(cut):
    nb = NaiveBayes().fit(TABLE.slice(0, 60), "y")
    refused(lambda: nb.forget(cut(TABLE, 40), "y"), "Cannot forget rows that were not learned")


def test_nothing_to_learn(cut):
    empty = cut(TABLE.slice(0, 0))
    refused(lambda: NaiveBayes().fit(empty, "y"), "the frame is empty")
    nb = NaiveBayes().fit(TABLE, "y")
    count = nb.class_count_.tolist()
    assert nb.partial_fit(empty, "y").class_count_.tolist() == count
    refused(lambda: nb.forget(empty, "y"), "the frame is empty")
    zero = pa.array(np.zeros(120))
    none = cut(TABLE.set_column(TABLE.column_names.index("w"), "w", zero), 40)
    refused(lambda: NaiveBayes().fit(none, "y", sample_weight="w"), "all sample weights are zero")


def test_a_table_of_labels_and_weights_alone(cut):
    frame = cut(TABLE.select(["y", "w"]))
    refused(
        lambda: NaiveBayes().fit(frame, "y", sample_weight="w"), "Found array with 0 feature(s)"
    )


def test_what_spark_does_not_do(cut):
    frame = cut(TABLE)
    refused(lambda: NaiveBayes(semi_supervised=True).fit(frame, "y"), "semi_supervised")


def test_predictions_take_no_column_s_place(cut):
    nb = NaiveBayes().fit(TABLE, "y")
    once = nb.predict(cut(TABLE))
    refused(lambda: nb.predict(once), "a column 'prediction' already")
    refused(lambda: nb.predict(cut(TABLE), cost=[[1]]), "cost must be")
    refused(lambda: nb.predict(cut(TABLE.select(["y"]))), "none of the learned columns")


def test_a_failure_of_spark_is_one_sentence(spark):
    fails = spark.sql("select id as x, assert_true(id < 50) as a, id % 2 as y from range(100)")
    assert refused(lambda: NaiveBayes().fit(fails, "y")) == (
        "Spark failed: [USER_RAISED_EXCEPTION] '(id < 50)' is not true!"
    )


def test_a_failure_of_python_in_a_worker_is_one_sentence(spark):
    def broken(batches):
        for batch in batches:
            if batch["id"][0].as_py() > 20:
                raise RuntimeError("the connection was lost")
            yield batch

    frame = spark.range(0, 100, 1, 4).mapInArrow(broken, "id long")
    frame = frame.selectExpr("id as x", "id % 2 as y")
    assert refused(lambda: NaiveBayes().fit(frame, "y")) == "Spark failed: the connection was lost"


def test_a_worker_that_dies_is_one_sentence(spark):
    def dies(batches):
        for batch in batches:
            os._exit(3)
            yield batch

    frame = spark.range(0, 100, 1, 2).mapInArrow(dies, "id long")
    frame = frame.selectExpr("id as x", "id % 2 as y")
    said = refused(lambda: NaiveBayes().fit(frame, "y"), "Spark failed: ", "exited unexpectedly")
    assert len(said) < 320


def test_warnings_of_workers_are_said_once(spark):
    words = "unhex(if(id % 3 = 0, 'FF61', '6162')) as raw"
    frame = spark.range(0, 90, 1, 3).selectExpr(words, "id % 2 as y")
    frame = frame.selectExpr("cast(raw as string) as word", "y")
    with pytest.warns(UserWarning, match="invalid UTF-8 were replaced in column 'word'") as seen:
        nb = NaiveBayes().fit(frame, "y")
    assert [one.category for one in seen].count(UserWarning) == 1  # Spark may say others
    assert nb.class_count_.sum() == 90
