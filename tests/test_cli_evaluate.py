"""``naively evaluate``: models that are learned anew without each fold; the sample in the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, load
from tests.commands import run
from tests.test_cli import ok, sentence, table

N = 150


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Visits of 30 customers in an order of hours; a model of ``x`` and ``colour``."""
    rng = np.random.default_rng(0)
    customer = rng.integers(0, 30, N)
    lean = rng.normal(size=30)[customer]
    frame = pd.DataFrame(
        {
            "customer": [f"c{c}" for c in customer],
            "at": pd.date_range("2024-01-01", periods=N, freq="h")[rng.permutation(N)].astype(str),
            "x": (lean + rng.normal(size=N)).round(3),
            "colour": rng.choice(["red", "green"], N),
            "bought": np.where(rng.random(N) < 1 / (1 + np.exp(-2 * lean)), "yes", "no"),
        }
    )
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.to_csv(path, index=False)
    model = path.with_name("m.naively")
    options = ["--ignore", "customer,at", "--smoothing", "2", "--weights", "temperature"]
    ok("train", path, "-t", "bought", "-o", model, "--keep-rows", *options)
    return path


def scores_of(printed: str) -> dict[str, float]:
    return {row["score"]: float(row["value"]) for row in table(printed) if not row["class"]}


@pytest.mark.parametrize(
    ("options", "beside"),
    [
        (("--folds", "3"), {"folds": 3}),
        (("--groups", "customer"), {"groups": "customer"}),
        (("--time", "at", "--folds", "4"), {"time": "at", "folds": 4}),
        (
            ("--time", "at", "--groups", "colour", "--folds", "2"),
            {"time": "at", "groups": "colour", "folds": 2},
        ),
    ],
)
def test_data_is_learned_anew_with_the_options_of_the_model(visits, options, beside) -> None:
    model = visits.with_name("m.naively")
    if len(beside) == 3:
        said = sentence("evaluate", model, visits, *options)
        assert "All rows before block 1 are of groups that are in it too" in said
        return
    done = run("evaluate", model, visits, *options)
    frame = pd.read_csv(visits)
    columns = ["customer", "at", "x", "colour"]
    found = load(model).assess(frame[columns], frame["bought"], **beside)
    assert scores_of(done.stdout.decode())["log loss"] == pytest.approx(found.log_loss, rel=1e-9)
    assert f"Judged by {found.how}." in done.stderr.decode()
    other = NaiveBayes(smoothing=2, weights="temperature").fit(frame[columns[2:]], frame["bought"])
    right = other.assess(frame[columns], frame["bought"], **beside)
    assert found.log_loss == pytest.approx(right.log_loss, rel=0.02)  # whose bins are chosen anew


def test_without_data_it_is_the_sample_in_the_file(visits: Path) -> None:
    model = visits.with_name("m.naively")
    found = load(model).assess()
    assert scores_of(ok("evaluate", model))["log loss"] == found.log_loss
    assert scores_of(ok("evaluate", model))["rows"] == N


def test_what_it_cannot_do_is_a_sentence(visits: Path, tmp_path: Path) -> None:
    model, none = visits.with_name("m.naively"), tmp_path / "none"
    ok("train", visits, "-t", "bought", "-o", none)
    assert "holds no sample of rows; give DATA, or train with --keep-rows" in sentence(
        "evaluate", none
    )
    assert "--folds is of the rows of DATA; give DATA" in sentence(
        "evaluate", model, "--folds", "3"
    )
    assert "--held-out is of the rows of DATA" in sentence("evaluate", model, "--held-out")
    assert "--held-out scores the model as it is; leave out --time" in sentence(
        "evaluate", model, visits, "--held-out", "--time", "at"
    )
    assert "--groups: " in (said := sentence("evaluate", model, visits, "--groups", "cust"))
    assert "There is no column of groups 'cust'; the columns are 'customer'" in said
    assert "fewer than --folds 10; ask for at most 2 folds" in sentence(
        "evaluate", model, visits, "--groups", "colour"
    )
    assert "folds must be a whole number of at least 2" in sentence(
        "evaluate", model, visits, "--folds", "1"
    )


def test_an_area_of_few_rows_of_a_class_is_said_not_to_be_known(visits: Path, tmp_path) -> None:
    frame = pd.read_csv(visits)
    few = pd.concat([frame[frame["bought"] == "no"][:20], frame[frame["bought"] == "yes"][:3]])
    few.to_csv(tmp_path / "few.csv", index=False)
    done = run("evaluate", visits.with_name("m.naively"), tmp_path / "few.csv")
    said = done.stderr.decode()
    assert "The area under the ROC curve is not known: between 0." in said
    assert "as only 3 rows are of 'yes'" in said
    area = next(row for row in table(done.stdout.decode()) if row["score"] == "area under ROC")
    assert float(area["low"]) < float(area["value"]) < float(area["high"])


# --- Groups and frequencies that the model was trained with --------------------------------------


def test_groups_are_learned_set_aside_and_scored_whole(visits: Path, tmp_path: Path) -> None:
    model, options = tmp_path / "m.naively", ("-t", "bought", "--ignore", "at")
    ok("train", visits, *options, "--groups", "customer", "-o", model, "--keep-rows")
    frame = pd.read_csv(visits)
    nb = NaiveBayes().fit(frame.drop(columns="at"), "bought", groups="customer")
    assert list(load(model).feature_names_in_) == ["x", "colour"]
    assert scores_of(ok("evaluate", model))["log loss"] == pytest.approx(nb.assess().log_loss)
    told = ok("train", visits, *options, "--groups", "customer", "--hold-out", "0.3", "-o", model)
    held_out = scores_of(told)
    assert scores_of(ok("evaluate", model, visits, "--held-out")) == held_out
    groups = frame["customer"].value_counts()
    assert 0.3 * N <= held_out["rows"] <= 0.3 * N + groups.max()
    ok("update", model, visits, "--again", "-o", tmp_path / "more.naively")
    wrong = sentence("train", visits, *options, "--groups", "who", "-o", model)
    assert "no column of groups 'who'" in wrong


def test_a_table_of_counts_is_learned_scored_and_forgotten_as_its_rows(tmp_path: Path) -> None:
    cells = pd.DataFrame(
        {"class": list("1133"), "died": ["no", "yes"] * 2, "n": [203, 122, 178, 528]}
    )
    counts, rows = tmp_path / "counts.csv", tmp_path / "rows.csv"
    cells.to_csv(counts, index=False)
    repeated = cells.loc[cells.index.repeat(cells["n"]), ["class", "died"]]
    repeated.to_csv(rows, index=False)
    model, other = tmp_path / "counts.naively", tmp_path / "rows.naively"
    options = ("-t", "died", "--event-models", "categorical")
    assessed = ok("train", counts, *options, "--frequencies", "n", "-o", model)
    assert scores_of(assessed) == pytest.approx(scores_of(ok("train", rows, *options, "-o", other)))
    scored = scores_of(ok("evaluate", model, counts))
    assert scored == pytest.approx(scores_of(ok("evaluate", other, rows)))
    assert scored["rows"] == cells["n"].sum()
    ok("update", model, counts, "--again")
    ok("forget", model, counts)
    np.testing.assert_array_equal(load(model).class_count_, load(other).class_count_)
    wrong = cells.assign(n=[1, 2, 3, 0.5])
    wrong.to_csv(counts, index=False)
    assert "row 3 has 0.5" in sentence("train", counts, *options, "--frequencies", "n", "-o", model)
