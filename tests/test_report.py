"""The report: one self-contained page whose numbers are the library's."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from selectolax.lexbor import LexborHTMLParser
from sklearn.datasets import load_breast_cancer, load_digits

from naively import Gaussian, JointTable, Multinomial, NaiveBayes, load
from naively.report.rows import choose
from tests.linear_parts import with_linear_part
from tests.reported import HOSTILE, table, with_a_pair, with_holes

LARGEST = 2_000_000  # bytes


@pytest.fixture(scope="module")
def nb():
    return NaiveBayes().fit(table(), "y")


def parse(report) -> LexborHTMLParser:
    return LexborHTMLParser(report.html)


def lines_of(page: LexborHTMLParser, where: str) -> list[list[str]]:
    return [
        [cell.text().strip() for cell in row.css("th, td")] for row in page.css(f"{where} table tr")
    ]


def scorer_of(report) -> dict:
    return json.loads(parse(report).css_first("#scorer").text())


def test_page_needs_nothing_else(nb):
    page = nb.report(table(50, seed=1), "y").html
    links = re.findall(r'(?:href|src)="([^"#][^"]*)"', page)
    assert all(link.startswith("data:image/png") for link in links)
    assert "url(http" not in page
    assert len(page.encode()) < LARGEST


def test_scores_are_those_of_evaluate_and_assess(nb):
    others = table(200, seed=1)
    of = {line[0]: line[1:] for line in lines_of(parse(nb.report(others, "y")), "#good")}
    assessed, scores = nb.assess(), nb.evaluate(others, "y")
    for name, value in (("accuracy", "accuracy"), ("log loss (nats a row)", "log_loss")):
        shown = [float(number) for number in of[name]]
        right = [getattr(s, value) for s in (assessed, scores)]
        np.testing.assert_allclose(shown, right, rtol=1e-5)
    assert [int(number.replace(",", "")) for number in of["rows"]] == [assessed.rows, 200]


def test_explanations_are_those_of_explain(nb):
    others = table(50, seed=1)
    report = nb.report(others, "y")
    cards = parse(report).css("#rows .card")
    assert len(cards) > 5
    for card in cards:
        place = int(card.css_first("h3").text().rsplit(" ", 1)[1])
        row = others.drop(columns="y").iloc[[place]]
        explained = nb.explain(row)[0]
        c = explained.best
        assert f"with probability {explained.probability(c):.4f}" in card.css_first("p").text()
        last = card.css("tr")[-1].css("td")
        assert float(last[-1].text()) == pytest.approx(explained.log_odds(c), abs=1e-4)
        weights = [float(line.css("td")[-1].text()) for line in card.css("tbody tr")]
        assert sum(weights[:-1]) == pytest.approx(weights[-1], abs=1e-3)


def test_rows_of_the_sample_are_those_learned():
    learned = table()
    nb = NaiveBayes().fit(learned, "y")
    scorer = scorer_of(nb.report())
    seen = {tuple(map(str, row)) for row in learned[["colour", "both", "a", "b"]].to_numpy()}
    names = [column["name"] for column in scorer["columns"]]
    for row in scorer["rows"]:
        cells = {
            name: column["values"][at]
            for name, column, at in zip(names, scorer["columns"], row["at"], strict=True)
        }
        assert tuple(cells[name] for name in ("colour", "both", "a", "b")) in seen


def test_chosen_rows_are_the_extremes():
    p = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.99, 0.01], [0.3, 0.7]])
    right = np.array([0, 0, 0, 1, 1])
    found = {one.row: one.why for one in choose(p, right, each=1)}
    assert found == {0: "most sure", 1: "least sure", 3: "most wrong"}
    assert [one.why for one in choose(p)[:3]] == ["most sure"] * 3
    assert len({one.row for one in choose(p, right)}) == len(choose(p, right))


def test_without_a_sample_the_page_says_how_to_keep_one(nb, tmp_path):
    nb.save(tmp_path / "m.naively")
    page = parse(load(tmp_path / "m.naively").report()).body.text()
    assert "save with sample=True, or train with --sample" in page
    assert "Give rows to see some explained" in page


def test_saved_sample_makes_the_same_page(nb, tmp_path):
    nb.save(tmp_path / "m.naively", sample=True)
    assert scorer_of(load(tmp_path / "m.naively").report()) == scorer_of(nb.report())


def test_page_is_the_same_each_time(nb):
    assert nb.report().html == nb.report().html


def test_columns_that_are_one_event_cannot_be_moved():
    X, y = load_digits(return_X_y=True)
    report = NaiveBayes(Multinomial()).fit(X, y).report(X[:50], y[:50])
    assert scorer_of(report)["columns"] == []
    assert "No column has finite evidence of its own" in parse(report).css_first("#whatif").text()
    cells = [[a, b] for a in (0, 1) for b in (0, 1)] * 20
    joint = NaiveBayes(JointTable()).fit(cells, [a ^ b for a, b in cells])
    assert scorer_of(joint.report(cells))["columns"] == []


def test_many_classes_and_columns_are_summarised():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5000), 2)
    nb = NaiveBayes(Gaussian(), weights=None).fit(rng.normal(y[:, None], 1.0, (10_000, 2)), y)
    report = nb.report([[1.0, 1.0]], [1])
    assert len(report.html.encode()) < LARGEST
    assert "30 most frequent of 5,000 classes" in parse(report).body.text()
    wide = rng.normal(size=(60, 5000))
    report = (
        NaiveBayes(Gaussian(), weights=None).fit(wide, [0, 1] * 30).report(wide[:4], [0, 1] * 2)
    )
    assert len(report.html.encode()) < LARGEST
    assert "1,000 of 5,000 columns" in parse(report).body.text()


def test_interactions_are_moved_with_their_columns():
    nb = with_a_pair()
    others = table(50, seed=1)
    scorer = scorer_of(nb.report(others, "y"))
    assert scorer["pairs"]
    features = others.drop(columns="y")
    for row in scorer["rows"]:
        total = np.array(row["rest"])
        for at, column in zip(row["at"], scorer["columns"], strict=True):
            total += column["evidence"][at]
        for pair in scorer["pairs"]:
            a, b = (pair[f"bins_{of}"][row["at"][pair[of]]] for of in "ab")
            total += pair["evidence"][a][b]
        p = np.exp(total - np.logaddexp.reduce(total))
        right = nb.predict_proba(features.iloc[[int(row["name"].rsplit(" ", 1)[1])]])[0]
        np.testing.assert_allclose(p, right, atol=1e-6)


def moved(scorer: dict, row: dict, at: list[int]) -> np.ndarray:
    """Return the posterior of a row whose cells have these values, as the page computes it."""
    total = np.array(row["rest"])
    for i, column in zip(at, scorer["columns"], strict=True):
        total += column["evidence"][i]
    for pair in scorer["pairs"]:
        a, b = (pair[f"bins_{of}"][at[pair[of]]] for of in "ab")
        total += pair["evidence"][a][b]
    return np.exp(total - np.logaddexp.reduce(total))


@pytest.mark.parametrize("interactions", [None, "auto"])
def test_any_cells_are_moved_with_missing_ones_and_linear_terms(interactions):
    nb = NaiveBayes(interactions=interactions).fit(with_holes(table()), "y")
    with_linear_part(nb)
    others = with_holes(table(50, seed=1), seed=1)
    report = nb.report(others, "y")
    scorer, features = scorer_of(report), others.drop(columns="y")
    names = [column["name"] for column in scorer["columns"]]
    assert set(names) == set(features)
    rng = np.random.default_rng(0)
    for row in scorer["rows"]:
        start = features.iloc[[int(row["name"].rsplit(" ", 1)[1])]]
        np.testing.assert_allclose(
            moved(scorer, row, row["at"]), nb.predict_proba(start)[0], atol=1e-7
        )
        for _ in range(5):
            at = [int(rng.integers(len(column["values"]))) for column in scorer["columns"]]
            cells = {
                name: None if i == len(column["values"]) - 1 else column["values"][i]
                for name, column, i in zip(names, scorer["columns"], at, strict=True)
            }
            truth = {"True": True, "False": False}
            cells["wet"] = truth.get(cells["wet"], cells["wet"])
            found = pd.DataFrame({name: [cell] for name, cell in cells.items()}).astype(
                {"size": float}
            )
            np.testing.assert_allclose(
                moved(scorer, row, at), nb.predict_proba(found)[0], atol=1e-7
            )
    assert ["linear part", str(nb.weights_.linear)] in lines_of(parse(report), "#learned")
    assert any(line[0] == "size is missing" for line in lines_of(parse(report), "#rows"))


def test_products_cannot_be_moved_and_it_says_why():
    nb = with_linear_part(NaiveBayes().fit(with_holes(table()), "y"), products=2)
    report = nb.report(with_holes(table(50, seed=1)), "y")
    page = parse(report)
    assert scorer_of(report)["columns"] == []
    said = page.css_first("#whatif").text()
    assert "the model adds products of two columns" in said
    pairs = [" × ".join(map(str, product.columns)) for product in nb.weights_.linear.products]
    listed = [line[0] for line in lines_of(page, "#interactions")]
    assert set(pairs) <= set(listed)
    assert len(page.css("#rows .card")) > 5


def test_real_table_is_scored_like_the_library():
    X, y = load_breast_cancer(return_X_y=True)
    nb = NaiveBayes().fit(X[::2], y[::2])
    report = nb.report(X[1::2], y[1::2])
    scorer = scorer_of(report)
    assert len(report.html.encode()) < LARGEST
    for row in scorer["rows"]:
        total = np.array(row["rest"])
        for at, column in zip(row["at"], scorer["columns"], strict=True):
            total += column["evidence"][at]
        p = np.exp(total - np.logaddexp.reduce(total))
        right = nb.predict_proba(X[1::2][[int(row["name"].rsplit(" ", 1)[1])]])[0]
        np.testing.assert_allclose(p, right, atol=1e-6)


def test_nothing_hostile_is_an_element():
    n = 80
    labels = np.array(HOSTILE)[np.arange(n) % len(HOSTILE)]
    nb = NaiveBayes().fit(pd.DataFrame({HOSTILE[0]: labels, HOSTILE[1]: range(n)}), labels)
    report = nb.report(name=HOSTILE[2])
    page = parse(report)
    assert len(page.css("script")) == 2
    assert page.css("img, [onerror]") == []
    assert "\x1b" not in report.html
    assert "\u202e" not in report.html
    assert page.css_first("title").text() == HOSTILE[2]


def test_report_is_written_whole_and_prints_its_sections(nb, tmp_path):
    report = nb.report(name="weather")
    report.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report.html
    first, *rest = str(report).split("\n")
    assert first.startswith("weather: a page of ")
    assert "Columns" in rest
    with pytest.raises(OSError, match="nowhere"):
        report.save(tmp_path / "nowhere" / "r.html")


def naively(*arguments, cwd):
    command = [sys.executable, "-m", "naively", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_command_writes_the_page(tmp_path):
    data = table()
    data.to_csv(tmp_path / "learn.csv", index=False)
    table(50, seed=1).to_csv(tmp_path / "new.csv", index=False)
    run = naively("train", "learn.csv", "-t", "y", "-o", "m.naively", "--sample", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    run = naively("report", "m.naively", "new.csv", "-o", "r.html", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stderr.startswith("Wrote r.html: ")
    page = LexborHTMLParser((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert page.css_first("h1").text() == "m.naively"
    assert "on the rows that were given" in page.body.text()
    run = naively("report", "m.naively", cwd=tmp_path)
    assert run.returncode == 0
    assert (tmp_path / "report.html").exists()


def test_command_says_that_there_is_no_sample(tmp_path):
    table().to_csv(tmp_path / "learn.csv", index=False)
    naively("train", "learn.csv", "-t", "y", "-o", "m.naively", cwd=tmp_path)
    run = naively("report", "m.naively", cwd=tmp_path)
    assert run.returncode == 0
    assert "holds no sample of rows" in run.stderr
    run = naively("report", "m.naively", "-o", "m.naively", cwd=tmp_path)
    assert run.returncode == 2
    run = naively("report", "m.naively", "nothing.csv", cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
