"""Curves on the command line: tables, pictures without a display, errors of one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from naively import NaiveBayes
from tests.test_cli import ok, sentence, table

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = load_iris(return_X_y=True)
    kind = np.array(["setosa", "versicolor", "virginica"])[y]
    lines = [",".join([*map(str, row), label]) for row, label in zip(X, kind, strict=True)]
    path = tmp_path_factory.mktemp("curve") / "iris.csv"
    path.write_text("\n".join(["a,b,c,d,kind", *lines]) + "\n")
    return path


def test_a_learning_curve_is_that_of_python(data: Path) -> None:
    few = ["--sizes", "20,60", "--repeats", "2", "--ignore", "d"]
    written = table(ok("curve", "learning", data, "-t", "kind", *few))
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = {name: X[:, j] for j, name in enumerate("abc")}
    expected = NaiveBayes().curve.learning(frame, names, sizes=[20, 60], repeats=2).to_dict()
    assert [int(line["size"]) for line in written] == expected["size"]
    assert [line["which"] for line in written] == expected["which"]
    losses = [float(line["log_loss"]) for line in written]
    assert losses == pytest.approx(expected["log_loss"])


@pytest.mark.parametrize("weights", ["fitted", "kept", "none"])
def test_a_curve_of_decay_is_that_of_python(data: Path, weights: str) -> None:
    lines = data.read_text().splitlines()
    order = np.random.default_rng(0).permutation(len(lines) - 1)
    timed = data.parent / f"timed-{weights}.csv"
    rows = [f"{lines[1 + i]},{at}" for at, i in enumerate(order)]
    timed.write_text("\n".join([f"{lines[0]},when", *rows[::-1]]) + "\n")
    options = ["--time", "when", "--blocks", "4", "--half-lives", "1,2", "--weights", weights]
    written = table(ok("curve", "decay", timed, "-t", "kind", *options))
    X, y = load_iris(return_X_y=True)
    frame = {name: X[order, j] for j, name in enumerate("abcd")}
    names = np.array(["setosa", "versicolor", "virginica"])[y[order]]
    follow = None if weights == "none" else weights
    curve = NaiveBayes().curve
    expected = curve.decay(frame, names, blocks=4, half_lives=[1, 2], weights=follow).to_dict()
    assert [float(line["half_life"]) for line in written] == expected["half_life"]
    assert [float(line["from"]) for line in written] == expected["from"]
    losses = [float(line["log_loss"]) for line in written]
    assert losses == pytest.approx(expected["log_loss"])


def test_shares_and_rows_of_another_file(data: Path) -> None:
    written = table(
        ok(
            "curve", "learning", data, "-t", "kind", "--sizes", "0.1,1.0", "--test", data,
            "--repeats", "1", "--event-models", "gaussian", "--smoothing", "1",
        )
    )  # fmt: skip
    assert [int(line["size"]) for line in written] == [15, 15, 150, 150]
    assert written[2]["log_loss"] == written[3]["log_loss"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", STARTS)
def test_a_picture_is_written_without_a_display(data: Path, tmp_path: Path, ending: str) -> None:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "MPLBACKEND")
    }
    for verb in ("learning", "smoothing"):
        out = tmp_path / f"{verb}{ending}"
        small = ["--sizes", "20", "--repeats", "2"] if verb == "learning" else ["--values", "0,1"]
        command = [sys.executable, "-m", "naively", "curve", verb, data, "-t", "kind", *small]
        run = subprocess.run(
            [*map(str, command), "-o", str(out)], capture_output=True, env=environment, check=False
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout.startswith(b"size" if verb == "learning" else b"smoothing")
        assert out.read_bytes().startswith(STARTS[ending])
    assert {path.suffix for path in tmp_path.iterdir()} == {ending}  # nothing else is left


def test_a_smoothing_curve_of_data_and_of_a_model(data: Path, tmp_path: Path) -> None:
    lines = ok("curve", "smoothing", data, "-t", "kind", "--values", "0.5,1", "-f", "json")
    of_data = [json.loads(line) for line in lines.splitlines()]
    assert [line["smoothing"] for line in of_data] == [0.5, 0.5, 1, 1]
    model = tmp_path / "model"
    ok("train", data, "-t", "kind", "-o", model, "--keep-rows", "--weights", "none")
    lines = ok(
        "curve", "smoothing", model, "--values", "0.5,1", "-f", "json", "--test", data
    ).splitlines()
    of_model = [json.loads(line) for line in lines]
    assert {line["which"] for line in of_model} == {"leave-one-out", "training", "held-out"}
    learned = [line for line in of_model if line["which"] != "held-out"]
    for a, b in zip(learned, of_data, strict=True):
        assert a["which"] == b["which"]
        assert a["log_loss"] == pytest.approx(b["log_loss"])
    for a in of_model[1::3]:
        (b,) = (x for x in of_model[2::3] if x["smoothing"] == a["smoothing"])
        assert a["log_loss"] == pytest.approx(b["log_loss"])  # the same rows


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["learning", "--sizes", "0,10"], "sizes must be whole numbers"),
        (["learning", "--sizes", "10,500"], "There are 112 rows to learn, and sizes asks for 500"),
        (["learning", "--sizes", "ten"], "--sizes must be numbers of rows"),
        (["learning", "--hold-out", "150"], "none would be learned"),
        (["learning", "-o", "curve.gif"], "must end in .png or .svg or .pdf"),
        (["learning", "--metric", "f1"], "metric must be 'accuracy' or 'log_loss'"),
        (["decay", "--time", "when"], "'when'"),
        (["decay", "--half-lives", "0"], "A half-life must be a number of blocks"),
        (["decay", "--weights", "some"], "--weights must be fitted, kept or none"),
        (["smoothing", "--values", "1,-1"], "A pseudo-count must be a number of at least 0"),
        (["smoothing", "--values", "x"], "--values must be pseudo-counts"),
        (["learning", "--ignore", "kinds"], 'no column "kinds"'),
        (["smoothing", "-t", "sort"], "no target column 'sort'"),
    ],
)
def test_an_error_is_one_sentence(data: Path, arguments: list[str], said: str) -> None:
    verb, *options = arguments
    target = [] if "-t" in options else ["-t", "kind"]
    assert said in sentence("curve", verb, data, *target, *options)


def test_a_model_without_rows_and_a_picture_over_its_data(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    ok("train", data, "-t", "kind", "-o", model)
    assert "holds no rows to score" in sentence("curve", "smoothing", model)
    assert "whose columns and event models stay" in sentence(
        "curve", "smoothing", model, "--event-models", "gaussian"
    )
    copy = tmp_path / "data.png"
    copy.write_bytes(data.read_bytes())
    said = sentence("curve", "learning", copy, "-t", "kind", "--input-format", "csv", "-o", copy)
    assert "would destroy what is read" in said
