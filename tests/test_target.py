"""The column that is predicted may still be in a table that is asked of, and is left aside."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from naively import NaiveBayes, load
from tests.commands import run

ROWS = {
    "age": [20.0, 30.0, 60.0, 70.0] * 5,
    "city": ["Rome", "Rome", "Oslo", "Oslo"] * 5,
    "bought": ["yes", "yes", "no", "no"] * 5,
}
TABLES = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "arrow": pa.table,
    "rows": lambda of: [dict(zip(of, row, strict=True)) for row in zip(*of.values(), strict=True)],
}
VERBS = ("predict", "predict_proba", "predict_log_proba", "score_samples", "explain")


@pytest.fixture(scope="module")
def nb() -> NaiveBayes:
    return NaiveBayes().fit(ROWS, "bought")


def features(rows: dict[str, list]) -> dict[str, list]:
    return {name: cells for name, cells in rows.items() if name != "bought"}


def asked(nb: NaiveBayes, verb: str, X: Any) -> tuple[Any, list[str]]:
    """Return an answer as a list, and what was warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = getattr(nb, verb)(X)
        if verb == "explain":
            found = found.matrix().weight
        elif isinstance(found, pl.LazyFrame):
            found = found.collect()
        found = np.asarray(found)
    return found.squeeze().tolist(), [str(of.message) for of in said]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("table", TABLES)
def test_a_table_may_still_hold_what_is_predicted(nb: NaiveBayes, table: str, verb: str) -> None:
    if (table, verb) == ("lazy", "explain"):
        return  # it explains what is in memory
    make = TABLES[table]
    assert asked(nb, verb, make(ROWS)) == asked(nb, verb, make(features(ROWS)))
    assert asked(nb, verb, make(ROWS))[1] == []


@pytest.mark.parametrize("table", TABLES)
def test_a_column_that_nobody_knows_is_still_said(nb: NaiveBayes, table: str) -> None:
    rows = {**ROWS, "id": list(range(20))}
    found, said = asked(nb, "predict_proba", TABLES[table](rows))
    assert found == nb.predict_proba(features(ROWS)).tolist()
    assert {*said} == {"Column 'id' was not learned: ignored."}  # of each batch


def test_one_row_may_hold_it(nb: NaiveBayes) -> None:
    row = {"age": 20.0, "city": "Rome", "bought": "no"}
    assert asked(nb, "predict", row) == ("yes", [])


def test_a_model_that_was_saved_knows_it(nb: NaiveBayes, tmp_path: Path) -> None:
    nb.save(tmp_path / "m")
    assert asked(load(tmp_path / "m"), "predict", ROWS)[1] == []


def test_labels_of_another_name_are_scored_beside_it(nb: NaiveBayes) -> None:
    rows = {**ROWS, "told": ROWS["bought"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nb.evaluate(rows, "told").accuracy == nb.evaluate(ROWS, "bought").accuracy == 1.0
        assert nb.evaluate(ROWS, ROWS["bought"]).accuracy == 1.0


def test_what_is_predicted_by_one_model_may_be_learned_by_another() -> None:
    first = NaiveBayes().fit(features(ROWS), ROWS["bought"])
    assert first.target_ == ""
    assert asked(first, "predict", ROWS)[1] == ["Column 'bought' was not learned: ignored."]
    second = NaiveBayes().fit(ROWS, "city")
    p = second.predict_proba({"age": [45.0], "bought": ["yes"]})
    assert p.tolist() != second.predict_proba({"age": [45.0], "bought": ["no"]}).tolist()


def test_a_table_of_nothing_else_is_no_table_of_rows(nb: NaiveBayes) -> None:
    with pytest.raises(ValueError, match=r"it has 'bought', but 'age', 'city' were learned"):
        nb.predict({"bought": ["yes"]})


def test_a_file_may_hold_it(tmp_path: Path) -> None:
    path, alone = tmp_path / "rows.csv", tmp_path / "alone.csv"
    for to, rows in ((path, ROWS), (alone, features(ROWS))):
        with to.open("w", newline="") as file:
            csv.writer(file).writerows([[*rows], *zip(*rows.values(), strict=True)])
    assert run("train", path, "--target", "bought", "-o", tmp_path / "m").returncode == 0
    for verb in ("predict", "explain"):
        done, expected = (run(verb, tmp_path / "m", of) for of in (path, alone))
        assert (done.stdout, done.stderr) == (expected.stdout, b"")
    nb = load(tmp_path / "m")
    assert asked(nb, "predict", pd.read_csv(path))[1] == []
