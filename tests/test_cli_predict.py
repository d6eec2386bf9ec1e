"""Predictions from file to file: the same in every format and batch, and written whole or not."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively import NaiveBayes, load
from naively.model.class_prior import decide
from naively.wings import files
from naively.wings.cli import app, predictions
from tests.test_cli import ok, sentence

FORMATS = ("csv", "csv.gz", "jsonl", "ndjson.gz", "parquet")

Run = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in this process, as starting one takes longer; it must succeed."""

    def once(*arguments: object) -> str:
        out, err = io.StringIO(), io.StringIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["naively", *map(str, arguments)])
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as ended:
                app.main()
        assert not ended.value.code, err.getvalue()
        return out.getvalue()

    return once


def in_batches(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(files, "opened", partial(files.opened, rows=rows))


def table(rows: int = 100) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, rows)
    return {
        "size": rng.normal(label, 2.0).round(3),
        "colour": np.array(["red", "blue", "green"])[(label + rng.integers(0, 2, rows)) % 3],
        "label": label,
    }


def written(columns: dict[str, Any], path: Path) -> Path:
    with duckdb.connect() as connection:
        connection.register("found", columns)
        connection.execute(f"COPY (FROM found) TO '{path}'")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    columns = table()
    del columns["label"]
    return written(columns, tmp_path / "data.parquet")


def model_of(labels: list[Any], folder: Path) -> Path:
    """Write a model whose classes are three labels."""
    columns = table()
    y = np.array(labels, object)[columns.pop("label")]
    y = y.tolist()
    NaiveBayes().fit(columns, y).save(folder / "model")
    return folder / "model"


def read(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the names and rows of a file, read by other programs than the one that wrote it."""
    if path.suffix == ".parquet":
        found = pq.read_table(path)
        return found.column_names, [list(row.values()) for row in found.to_pylist()]
    open_ = gzip.open if path.suffix == ".gz" else open
    with open_(path, "rt", newline="", encoding="utf-8") as file:
        if ".csv" in path.name:
            names, *rows = csv.reader(file)
            own = names.index("prediction") + 1
            return names, [[*row[:own], *map(float, row[own:])] for row in rows]
        records = [json.loads(line) for line in file]
    return list(records[0]), [list(record.values()) for record in records]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 7, 99, 100, 1000])
@pytest.mark.parametrize("every", [True, False])
def test_predictions_do_not_depend_on_format_or_batches(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, every: bool
) -> None:
    model = model_of(["a", "b", "c"], tmp_path)
    options = ["-p"] if every else []
    p = load(model).predict_proba({name: of for name, of in table().items() if name != "label"})
    expected = [
        [label, best, *(each if every else [])]
        for label, best, each in zip(
            load(model).classes_[p.argmax(1)].tolist(), p.max(1).tolist(), p.tolist(), strict=True
        )
    ]
    in_batches(monkeypatch, rows)
    shown = run("predict", model, data, *options)
    for name in FORMATS:
        out = tmp_path / f"out.{name}"
        assert run("predict", model, data, "-o", out, *options) == ""
        names, found = read(out)
        assert names == ["prediction", "probability", *(f"p({c})" for c in "abc" if every)]
        assert found == expected, name
    assert (tmp_path / "out.csv").read_text() == shown
    lines = run("predict", model, data, "--format", "json", *options)
    assert (tmp_path / "out.jsonl").read_text() == lines
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["data.parquet", "model", *(f"out.{name}" for name in FORMATS)]
    )


@pytest.mark.parametrize("limit", [1, 8, 1 << 19])
def test_many_classes_are_scored_in_parts(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    model = model_of(["a", "b", "c"], tmp_path)
    expected = run("predict", model, data)
    monkeypatch.setattr(predictions, "CELLS", limit)
    assert run("predict", model, data) == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* learned as (a class|two classes)")
@pytest.mark.parametrize(
    "labels",
    [
        ["x", "y", "z"], ["a,b", 'say "yes"', "two\nlines"], ["re\rturn", "0.5", "1.5,0.5"],
        ['"', "", " "], [":smiley:\x1b[1m", "é", "👩‍🔬"], ["p(0.5)", "p(P)", "p(p)"], [1, 2, -3],
        [1.0, 2.0, 3.0], [True, False, True],
        [dt.date(2024, 2, 29), dt.date(1, 1, 1), dt.date(2024, 3, 1)],
        [dt.datetime.fromisoformat(f"{year}-02-28T01:02:03") for year in (2024, 2025, 2026)],
    ],
    ids=repr,
)  # fmt: skip
def test_labels_of_all_types(run: Run, data: Path, tmp_path: Path, labels: list[Any]) -> None:
    model = model_of(labels, tmp_path)
    nb = load(model)
    best = nb.predict({name: of for name, of in table().items() if name != "label"}).tolist()
    written_as: dict[str, list[Any]] = {
        "csv": [str(label) for label in best],
        "jsonl": [label if not isinstance(label, dt.date) else str(label) for label in best],
        "parquet": best,
    }
    for name, expected in written_as.items():
        out = tmp_path / f"out.{name}"
        run("predict", model, data, "-p", "-o", out)
        names, rows = read(out)
        assert [row[0] for row in rows] == expected
        assert [type(row[0]) for row in rows] == [type(label) for label in expected]
        if name != "parquet":  # names that differ in case only have a number there
            assert names[2:] == [f"p({label})" for label in nb.classes_.tolist()]
        np.testing.assert_array_equal([row[1] for row in rows], [max(row[2:]) for row in rows])


def test_a_name_that_is_no_utf8_is_replaced_in_parquet(
    run: Run, data: Path, tmp_path: Path
) -> None:
    model = model_of(["caf\udce9", "tea", "milk"], tmp_path)
    run("predict", model, data, "-p", "-o", tmp_path / "out.parquet")
    names, rows = read(tmp_path / "out.parquet")
    assert names[2:] == ["p(caf���)", "p(milk)", "p(tea)"]
    assert {row[0] for row in rows} <= {"caf���", "milk", "tea"}
    run("predict", model, data, "-p", "-o", tmp_path / "out.csv")
    assert b"p(caf\xe9)" in (tmp_path / "out.csv").read_bytes()


@pytest.mark.slow
def test_a_file_without_rows(run: Run, tmp_path: Path) -> None:
    model = model_of(["a", "b", "c"], tmp_path)
    nothing = {"size": np.empty(0), "colour": np.empty(0, object)}
    csv_file = tmp_path / "none.csv"
    csv_file.write_text("size,colour\n")
    for path in (csv_file, written(nothing, tmp_path / "none.parquet")):
        assert run("predict", model, path) == "prediction,probability\n"
        for name in FORMATS:
            run("predict", model, path, "-o", tmp_path / f"out.{name}")
        assert pq.read_table(tmp_path / "out.parquet").num_rows == 0
        assert pq.read_schema(tmp_path / "out.parquet").names == ["prediction", "probability"]
        assert (tmp_path / "out.csv").read_text() == "prediction,probability\n"
        assert (tmp_path / "out.jsonl").read_text() == ""
    csv_file.write_text("weight\n")
    assert "none of the learned columns" in sentence(
        "predict", model, csv_file, "-o", tmp_path / "x.csv"
    )


@pytest.mark.slow
def test_a_wrong_output_is_refused_before_anything_is_read(data: Path, tmp_path: Path) -> None:
    model = model_of(["a", "b", "c"], tmp_path)
    before, link = data.read_bytes(), tmp_path / "link.parquet"
    os.link(data, link)
    for arguments, said in (
        (("-o", data), "would destroy what is read from"),
        (("-o", link), "would destroy what is read from"),
        (("-o", tmp_path / "no" / "out.csv"), "There is no folder"),
        (("-o", tmp_path), "does not say how predictions are written"),
        (("-o", tmp_path / "out"), "does not say how predictions are written"),
        (("-o", tmp_path / "out.parquet.gz"), "does not say how predictions are written"),
        (("-o", tmp_path / "out.csv", "-f", "json"), "says csv, and --format says json"),
        (("-o", tmp_path / "out.parquet", "-f", "csv"), "says parquet, and --format says csv"),
        (("-o", tmp_path / "out.csv", "-f", "table"), "is for a terminal"),
    ):
        assert said in sentence("predict", model, data, *arguments)
    assert "would destroy" in sentence("predict", model, data, "-o", model, "-f", "csv")
    for every in (tmp_path, tmp_path / "*.parquet"):
        assert "would destroy" in sentence("predict", model, every, "-o", data)
    assert data.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "data.parquet", "link.parquet", "model",
    ]  # fmt: skip


def test_the_format_may_be_said(run: Run, data: Path, tmp_path: Path) -> None:
    model = model_of(["a", "b", "c"], tmp_path)
    for form in ("csv", "json"):
        run("predict", model, data, "-o", tmp_path / "out", "--format", form)
        expected = run("predict", model, data, "--format", form)
        assert (tmp_path / "out").read_text() == expected
    assert ok("predict", model, data, "-o", "/dev/stdout", "-f", "csv") == ok(
        "predict", model, data
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("to_file", [True, False])
def test_progress_is_shown_beside_predictions_that_go_elsewhere(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to_file: bool
) -> None:
    model = model_of(["a", "b", "c"], tmp_path)
    expected = ok("predict", model, data)
    in_batches(monkeypatch, 30)
    monkeypatch.setenv("TERM", "xterm")
    out = tmp_path / "out.csv"
    for screen in (io.StringIO(), Terminal()):
        arguments = ["predict", str(model), str(data), *(["-o", str(out)] if to_file else [])]
        monkeypatch.setattr(sys, "argv", ["naively", *arguments])
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "stderr", said := Terminal())
        with pytest.raises(SystemExit):
            app.main()
        shows_rows = screen.isatty() and not to_file
        assert ("100 rows" in said.getvalue()) is not shows_rows
        if to_file:
            assert (out.read_text(), screen.getvalue()) == (expected, "")
        elif shows_rows:
            assert screen.getvalue().count("prediction") == 4  # a table of each batch
        else:
            assert screen.getvalue() == expected


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("batch", [7, 1000])
def test_columns_are_kept_as_they_are_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, batch: int
) -> None:
    sizes = [f"{i / 4:.2f} kg" if i % 9 else "n/a" for i in range(40)]
    rows = [(f"{i:03d}", f'name "{i}", or so', sizes[i], "ab"[i % 2]) for i in range(40)]
    source = tmp_path / "t.csv"
    with source.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "who", "size", "label"), *rows])
    run("train", source, "-t", "label", "-o", tmp_path / "m")
    in_batches(monkeypatch, batch)
    out = tmp_path / f"out.{form}"
    run("predict", tmp_path / "m", source, "--keep", "who,size,id", "-o", out)
    names, kept = read(out)
    run("predict", tmp_path / "m", source, "-o", tmp_path / f"plain.{form}")
    plain = read(tmp_path / f"plain.{form}")[1]
    assert names == ["who", "size", "id", "prediction", "probability"]
    assert [row[:3] for row in kept] == [[who, size, i] for i, who, size, _ in rows]
    assert [row[3:] for row in kept] == plain


def test_kept_columns_of_parquet_keep_their_types(run: Run, tmp_path: Path) -> None:
    day = dt.datetime.fromisoformat("2024-02-03T04:05")
    columns = {
        "id": pa.array([2**60 + 1, None, 3] * 20),
        "when": pa.array([day, None, day + dt.timedelta(1)] * 20),
        "size": pa.array([0.1, 2.0, None] * 20),
        "member": pa.array([True, None, False] * 20),
        "label": pa.array(["a", "b", "b"] * 20),
    }
    source, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table(columns), source)
    run("train", source, "-t", "label", "-o", tmp_path / "m")
    run("predict", tmp_path / "m", source, "--keep", "id,when,size,member", "-o", out)
    found = pq.read_table(out)
    for name in ("id", "when", "size", "member"):
        assert found.column(name).to_pylist() == columns[name].to_pylist()


def test_a_column_to_keep_that_is_not_there_is_named(data: Path, tmp_path: Path) -> None:
    model = model_of(["a", "b", "c"], tmp_path)
    said = sentence("predict", model, data, "--keep", "idd")
    assert f"--keep: {data}: There is no column 'idd'; the columns are 'size', 'colour'." in said
    assert "two columns" in sentence("predict", model, data, "--keep", "size,size")


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_decisions_are_those_of_the_library(
    run: Run, data: Path, tmp_path: Path, name: str
) -> None:
    model, out = model_of([0, 1, 2], tmp_path), tmp_path / name
    nb = load(model)
    run(
        "predict", model, data, "--class-prior", "0=0.1,1=0.2,2=0.7", "--cost", "0:1=9",
        "--reject", 0.6, "-p", "-o", out,
    )  # fmt: skip
    names, found = read(out)
    assert names == ["prediction", "probability", "p(0)", "p(1)", "p(2)"]
    rows = {name: of for name, of in table().items() if name != "label"}
    p = nb.predict_proba(rows, class_prior=[0.1, 0.2, 0.7])
    np.testing.assert_allclose([row[2:] for row in found], p, rtol=1e-12)
    answer = decide(p, nb.classes_, {0: {1: 9.0}}, 0.6)
    assert [row[0] for row in found] == [*map(str, answer)]
    assert len(set(answer)) > 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--class-prior", "0=0.5,1=0.5"], "the classes are [0, 1, 2]"),
        (["--class-prior", "0=much"], "--class-prior needs numbers"),
        (["--cost", "0=3"], "as in ham:spam=9"),
        (["--cost", "0:7=3"], "cost names the class '7'"),
        (["--reject", "1.5"], "from 0 to 1"),
        (["--class-prior", "0=1,1=0,2=0", "--coverage", "0.9"], "--coverage is known under"),
    ],
)
def test_decisions_that_make_no_sense_are_refused(
    data: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    model = model_of([0, 1, 2], tmp_path)
    assert said in sentence("predict", model, data, *options)
