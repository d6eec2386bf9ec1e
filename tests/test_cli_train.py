"""What ``naively train`` takes: the options that Python has, spelled alike; rows held out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from naively import Beta, Dirichlet, NaiveBayes, load
from naively.file import store
from naively.options import from_text
from naively.tabular import json_value
from naively.wings.cli import learn
from naively.wings.cli.shared import Data, held_out
from tests.commands import run
from tests.test_cli import ROWS, ok, sentence, table


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "things.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.csv"
    path.write_text("x,y\n" + "".join(f"{i % 7},{'a' if i % 7 < 3 else 'b'}\n" for i in range(200)))
    return path


def probabilities(model: Path, data: Path, label: str) -> list[float]:
    return [float(row[f"p({label})"]) for row in table(ok("predict", model, data, "-p"))]


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", ["laplace", "jeffreys", "auto", "0.25"])
def test_smoothing_is_that_of_python(data: Path, smoothing: str) -> None:
    out = data.parent / "m"
    ok("train", data, "-t", "kind", "-o", out, "--smoothing", smoothing)
    x, y = Data(str(data)).read().split("kind")
    nb = NaiveBayes(smoothing=float(smoothing) if smoothing[0] == "0" else smoothing).fit(x, y)
    np.testing.assert_allclose(
        probabilities(out, data, "good"), nb.predict_proba(x)[:, 1], rtol=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["ignore", "auto"])
def test_missing_cells_are_evidence_unless_they_are_to_be_ignored(data: Path, missing: str) -> None:
    done = run("train", data, "-t", "kind", "-o", data.parent / "m", "--presence", missing)
    assert done.returncode == 0, done.stderr.decode()
    said = [line for line in done.stderr.decode().splitlines() if "evidence" in line]
    assert [line.split()[0] for line in said] == ["size", "colour", "note"] * (missing == "auto")
    message = sentence("train", data, "-t", "kind", "-o", data.parent / "n", "--presence", "drop")
    assert "--presence must be auto or ignore, got 'drop'" in message


@pytest.mark.parametrize("given", ["loud", "-1", "nan", "inf", ""])
def test_any_other_smoothing_is_an_error(given: str) -> None:
    with pytest.raises(ValueError, match="--smoothing must be auto, laplace, jeffreys or") as error:
        from_text("smoothing", given)
    assert repr(given) in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "prior", "expected"),
    [  # posterior means of the three classes' probabilities, which 1, 2 and 3 rows have
        ("dirichlet(1,2,3)", Dirichlet([1, 2, 3]), [2 / 12, 4 / 12, 6 / 12]),
        ("Dirichlet( 2 )", Dirichlet(2), [3 / 12, 4 / 12, 5 / 12]),
    ],
)
def test_a_class_prior_may_be_a_dirichlet(
    tmp_path: Path, given: str, prior: Any, expected: list[float]
) -> None:
    path = tmp_path / "three.csv"
    path.write_text("x,y\n1,a\n2,b\n2,b\n3,c\n3,c\n4,c\n")
    ok("train", path, "-t", "y", "-o", tmp_path / "m", "--class-prior", given)
    nb = load(tmp_path / "m")
    np.testing.assert_allclose(np.exp(nb.class_log_prior_), expected, rtol=1e-12)
    y = list("abbccc")
    direct = NaiveBayes(class_prior=prior).fit({"x": [1, 2, 2, 3, 3, 4]}, y)
    np.testing.assert_allclose(
        probabilities(tmp_path / "m", path, "a"),
        direct.predict_proba({"x": [1, 2, 2, 3, 3, 4]})[:, 0],
        rtol=1e-9,
    )


@pytest.mark.slow
def test_a_class_prior_may_be_a_beta_of_two_classes(data: Path) -> None:
    out = data.parent / "m"
    ok("train", data, "-t", "kind", "-o", out, "--class-prior", "beta(5,1)")
    expected = [(3 + 1) / 12, (3 + 5) / 12]  # bad, good: a is of the second
    np.testing.assert_allclose(np.exp(load(out).class_log_prior_), expected, rtol=1e-12)
    assert store.load_all(out).model.settings.class_prior == Beta(5, 1)
    path = data.parent / "three.csv"
    path.write_text("x,y\n1,a\n2,b\n3,c\n")
    assert "two classes" in sentence("train", path, "-t", "y", "--class-prior", "beta(2,2)")


@pytest.mark.parametrize(
    "given", ["beta", "beta(2)", "beta(2,x)", "beta(1,2,3)", "dirichlet()", "gamma(1,2)", "half"]
)
def test_any_other_class_prior_is_an_error(given: str) -> None:
    with pytest.raises(ValueError, match="--class-prior must be data, uniform, prob") as error:
        learn._class_prior(given)
    assert repr(given) in str(error.value)


@pytest.mark.slow
def test_what_is_wrong_with_an_option_is_one_sentence(data: Path) -> None:
    for option, given, message in (
        (
            "--smoothing",
            "loud",
            "--smoothing must be auto, laplace, jeffreys or a number of at least 0",
        ),
        ("--class-prior", "beta(0,1)", "Beta a must be greater than 0, got 0.0."),
        ("--hold-out", "1.5", "--hold-out must be a share of the rows below 1, such as 0.2, or"),
        ("--hold-out", "1000", "--hold-out 1000 sets 6 of the 6 rows of "),
    ):
        assert message in sentence(
            "train", data, "-t", "kind", "-o", data.parent / "m", option, given
        )
    assert not (data.parent / "m").exists()


@pytest.mark.parametrize(
    ("given", "rows"), [("0.25", 50), ("30", 30), ("1", 1), ("199", 199), ("0.999", 200)]
)
def test_so_many_rows_are_held_out(given: str, rows: int) -> None:
    first = held_out(200, float(given), 3)
    assert first.sum() == rows
    assert (first == held_out(200, float(given), 3)).all()
    assert rows == 200 or (first != held_out(200, float(given), 4)).any()


def test_a_number_of_rows_held_out_is_scored_now_and_later(many: Path, tmp_path: Path) -> None:
    out = tmp_path / "m"
    done = run("train", many, "-t", "y", "-o", out, "--hold-out", "30", "--seed", "3")
    now = done.stdout.decode()
    assert b"Learned 170 rows" in done.stderr
    first = {"score": "rows", "class": "", "value": "30", "low": "", "high": ""}
    assert table(now)[0] == first
    assert ok("evaluate", out, many, "--held-out") == now
    x, _ = Data(str(many)).read().split("y")
    y, aside = Data(str(many)).read().values("y"), held_out(200, 30, 3)
    nb = NaiveBayes().fit(x.take(~aside), y[~aside])
    p = nb.predict_proba(x.take(aside))
    expected = log_loss(y[aside].astype(str), p, labels=["a", "b"])
    found = {row["score"]: row["value"] for row in table(now)}
    assert float(found["log loss"]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("given", ["-1", "1.5", "some", "nan", "inf"])
def test_any_other_part_to_hold_out_is_an_error(given: str) -> None:
    with pytest.raises(ValueError, match="--hold-out must be a share of the rows below 1"):
        learn._hold_out(given)


@pytest.mark.parametrize("given", ["6", "0.99", "0.01"])
def test_some_rows_must_be_held_out_and_some_learned(data: Path, given: str) -> None:
    out = data.parent / "m"
    message = sentence("train", data, "-o", out, "-t", "kind", "--hold-out", given)
    assert re.search(f"--hold-out {given} sets [06] of the 6 rows of", message)
    assert not out.exists()


@pytest.mark.slow
def test_infinite_evidence_is_a_string_in_json_and_a_number_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("c,d,y\nr,u,a\ns,u,a\nt,v,b\nt,u,b\n")
    out = tmp_path / "m"
    pure = ("--weights", "none", "--estimate", "mle", "--event-models", "categorical")
    ok("train", path, "-t", "y", "-o", out, *pure, "--smoothing", "0")
    for verb in (("explain", out, path), ("show", out)):
        records = [json.loads(line) for line in ok(*verb, "--format", "json").splitlines()]
        weights = [record["weight"] for record in records]
        assert "inf" in weights
        assert None not in weights
        shown = [row["weight"] for row in table(ok(*verb, "--format", "csv"))]
        assert "inf" in shown
        assert list(map(float, shown)) == list(map(float, weights))
    p = [json.loads(line) for line in ok("predict", out, path, "-p", "-f", "json").splitlines()]
    assert [record["p(a)"] for record in p] == [1.0, 1.0, 0.0, 0.0]


def test_json_holds_no_infinity_however_deep_and_no_scalar_of_numpy() -> None:
    values = [float("inf"), -np.inf, float("nan"), (np.float32("-inf"), np.int64(3)), np.str_("s")]
    assert json_value(values) == ["inf", "-inf", None, ["-inf", 3], "s"]
    assert json.dumps(json_value(values)) == '["inf", "-inf", null, ["-inf", 3], "s"]'


def test_of_many_classes_the_first_are_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},c{i % 30:02}\n" for i in range(300)))
    said = run("train", path, "-t", "y", "-o", tmp_path / "m").stderr.decode()
    assert "300 rows of 30 classes (c00 10, c01 10, " in said
    assert ", c19 10 and 10 more) in " in said
    assert "c20" not in said


def test_class_weight_is_answered_by_the_class_prior(many: Path, tmp_path: Path) -> None:
    said = sentence("train", many, "-t", "y", "-o", tmp_path / "m", "--class-weight", "balanced")
    assert "There is no --class-weight" in said
    assert "--class-prior uniform" in said
    assert "class-weight" not in ok("train", "--help")
