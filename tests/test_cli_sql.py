"""The verb `sql` writes a query that scores rows as the model does."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from naively import NaiveBayes
from tests.test_cli import naively, ok, sentence


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    X = {"age": [20.0, 30.0, 3.0, 4.0], "colour": ["red", "red", "blue", "red"]}
    nb = NaiveBayes(weights=None).fit(X, ["old", "old", "young", "young"])
    nb.save(tmp_path / "m.naively")
    return tmp_path


ASKED = ("sql", "m.naively", "--table", "visits")


def test_a_script_makes_the_table_of_weights_and_scores(folder: Path) -> None:
    script = ok(naively(*ASKED, "--weights", "table", "-p", "--keep", "age", cwd=folder)).stdout
    base = duckdb.connect()
    base.execute("CREATE TABLE visits AS SELECT 25.0 AS age, 'red' AS colour")
    found = base.execute(script).fetchall()
    from naively import load

    p = load(folder / "m.naively").predict_proba({"age": [25.0], "colour": ["red"]})[0]
    assert found[0][:2] == (25.0, "old")
    np.testing.assert_allclose(found[0][2:], p, rtol=0, atol=1e-12)


def test_a_file_is_written_whole(folder: Path) -> None:
    ok(naively(*ASKED, "--dialect", "sqlite", "--schema", "main", "-o", "q.sql", cwd=folder))
    written = (folder / "q.sql").read_text()
    assert '"main"."visits"' in written
    assert written.endswith(";\n")
    assert "s" in sentence(naively(*ASKED, "-o", "m.naively", cwd=folder))


def test_what_is_wrong_is_one_sentence(folder: Path) -> None:
    said = sentence(naively(*ASKED, "--dialect", "dbase", cwd=folder))
    assert "There is no SQL dialect 'dbase'" in said
    said = sentence(naively("sql", "m.naively", cwd=folder))
    assert "--table" in said
