"""The verb `sql` writes a query that scores rows as the model does."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from naively import NaiveBayes, load
from tests.test_cli import ok, sentence


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    X = {"age": [20.0, 30.0, 3.0, 4.0], "colour": ["red", "red", "blue", "red"]}
    nb = NaiveBayes(weights=None).fit(X, ["old", "old", "young", "young"])
    nb.save(tmp_path / "m.naively")
    return ["export", str(tmp_path / "m.naively"), "--format", "sql", "--table", "visits"]


def test_a_script_makes_the_table_of_weights_and_scores(asked: list[str]) -> None:
    script = ok(*asked, "--weights", "table", "-p", "--keep", "age")
    base = duckdb.connect()
    base.execute("CREATE TABLE visits AS SELECT 25.0 AS age, 'red' AS colour")
    found = base.execute(script).fetchall()
    p = load(asked[1]).predict_proba({"age": [25.0], "colour": ["red"]})[0]
    assert found[0][:2] == (25.0, "old")
    np.testing.assert_allclose(found[0][2:], p, rtol=0, atol=1e-12)


def test_a_file_is_written_but_not_over_the_model(asked: list[str], tmp_path: Path) -> None:
    ok(*asked, "--dialect", "sqlite", "--schema", "main", "-o", tmp_path / "q.sql")
    written = (tmp_path / "q.sql").read_text()
    assert '"main"."visits"' in written
    assert written.endswith(";\n")
    assert "m.naively" in sentence(*asked, "-o", asked[1])


def test_the_answer_is_that_of_least_cost(asked: list[str]) -> None:
    base = duckdb.connect()
    base.execute("CREATE TABLE visits AS SELECT 25.0 AS age, 'red' AS colour")
    found = base.execute(ok(*asked, "--cost", "young:old=1e9")).fetchone()
    nb, row = load(asked[1]), {"age": [25.0], "colour": ["red"]}
    cost = {"young": {"old": 1e9}}
    assert found
    assert found[-2] == nb.predict(row, cost=cost)[0] == "young"
    assert found[-2:] == base.execute(nb.export.sql("visits", cost=cost)).fetchall()[0][-2:]
    assert "cost names the class 'baby'" in sentence(*asked, "--cost", "baby:old=2")


@pytest.mark.parametrize("option", ["--threshold", "--recall", "--precision"])
def test_a_threshold_is_asked_for_by_cost(asked: list[str], option: str) -> None:
    for verb in ("predict", "evaluate", "explain"):
        assert "--cost sets a threshold" in sentence(verb, asked[1], "x.csv", option, "0.9")


def test_the_most_wrong_rows_are_explained(asked: list[str], tmp_path: Path) -> None:
    nb, data = load(asked[1]), tmp_path / "d.csv"
    X = {"age": [3.0, 28.0, 2.0, 25.0, 4.0], "colour": ["blue", "red", "blue", "red", "blue"]}
    y = ["young", "young", "old", "young", "never seen"]
    rows = zip(*X.values(), y, strict=True)
    data.write_text("age,colour,y\n" + "".join(f"{a},{c},{label}\n" for a, c, label in rows))
    sure = nb.predict_proba(X).max(axis=1)
    order = [4, *sorted([1, 2, 3], key=lambda i: -sure[i])]  # what is never right is most wrong

    def shown(*options: str) -> list[list[str]]:
        lines = ok("explain", asked[1], data, "--target", "y", "--wrong", *options).splitlines()
        return [line.split(",")[:3] for line in lines[1:] if "prior" in line]

    answers = nb.predict(X).tolist()
    assert shown("9") == [[str(i), y[i], answers[i]] for i in order]
    assert [int(row[0]) for row in shown("2")] == order[:2]
    data.write_text("age,colour,y\n3,blue,young\n")
    assert shown("9") == []
    both = ("--row", "0", "--wrong", "1", "--target", "y")
    assert "leave out --wrong" in sentence("explain", asked[1], data, *both)


def test_what_is_wrong_is_one_sentence(asked: list[str]) -> None:
    assert "There is no SQL dialect 'dbase'" in sentence(*asked, "--dialect", "dbase")
    assert "--table" in sentence(*asked[:-2])
    assert "--table needs --format sql" in sentence(*asked[:2], "--table", "visits")
    assert "--dialect needs" in sentence(*asked[:2], "--dialect", "sqlite", "-o", "m.json")
    assert "--delta is of noise" in sentence(*asked, "--delta", "1e-6")
    assert "--format sql another" in sentence(*asked, "--noise", "1", "-o", "m.naively")
    assert "name it with --output" in sentence(*asked[:2], "--noise", "1")
