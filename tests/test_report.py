"""The report: one self-contained page whose numbers are the library's."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import re
import warnings
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from selectolax.lexbor import LexborHTMLParser

from naively import Gaussian, JointTable, KernelDensity, NaiveBayes, load
from naively.counting.axis import title
from naively.inspect.effect import effect
from naively.inspect.scorecard import scorer as scorer_script
from naively.inspect.uncertainty import covariance_for
from naively.wings.report.page import SCRIPTS
from naively.wings.report.scored import equal_bins
from naively.wings.report.subject import choose
from tests.commands import run
from tests.linear_parts import with_linear_part
from tests.reported import HOSTILE, table, with_holes
from tests.scorecards import posterior

LARGEST = 2_000_000  # bytes


@pytest.fixture(scope="module")
def nb():
    return NaiveBayes().fit(table(), "y")


@pytest.fixture(scope="module")
def of_learned_rows(nb):
    return nb.export.report(table(), "y")


def parse(report) -> LexborHTMLParser:
    return LexborHTMLParser(report.html)


def lines_of(page: LexborHTMLParser, where: str) -> list[list[str]]:
    return [
        [cell.text().strip() for cell in row.css("th, td")] for row in page.css(f"{where} table tr")
    ]


def scorer_of(report):
    return json.loads(parse(report).css_first("#scorer").text())


@pytest.mark.slow
def test_page_needs_nothing_else(nb):
    page = nb.export.report(table(50, seed=1), "y").html
    assert re.findall(r'(?:href|src)="([^"#][^"]*)"', page) == []
    assert "url(http" not in page
    assert len(page.encode()) < LARGEST


@pytest.mark.slow
def test_scores_are_those_of_evaluate_and_assess(nb):
    others = table(200, seed=1)
    of = {line[0]: line[1:] for line in lines_of(parse(nb.export.report(others, "y")), "#scores")}
    assessed, scores = nb.assess(), nb.evaluate(others, "y")
    for name, value in (("accuracy", "accuracy"), ("log loss (nats per row)", "log_loss")):
        shown = [float(number) for number in of[name]]
        right = [getattr(s, value) for s in (assessed, scores)]
        np.testing.assert_allclose(shown, right, rtol=5e-3)  # of three digits
    assert [int(number.replace(",", "")) for number in of["rows scored"]] == [assessed.rows, 200]
    ends = [
        f"{low:.3f} to {high:.3f}"
        for low, high in (s.shown["log_loss"] for s in (assessed, scores))
    ]
    assert list(of["log loss (nats per row): about 95 % interval"]) == ends
    label, rows = scores.support.rarest
    assert of["of the rarest class"][1] == f"{rows:,} rows of class {label}"


@pytest.mark.slow
def test_an_area_of_few_rows_of_a_class_is_not_known(nb):
    few = table(200, seed=1)
    scores = nb.evaluate({name: column[:8] for name, column in few.items()}, "y")
    assert not scores.area_is_known
    page = nb.export.report({name: column[:8] for name, column in few.items()}, "y")
    of = {line[0]: line[1:] for line in lines_of(parse(page), "#scores")}
    assert of["area under ROC"][1] == "not known"
    low, high = scores.intervals["auc"]
    assert of["area under ROC: about 95 % interval"][1] == f"{low:.3f} to {high:.3f}"


@pytest.mark.slow
def test_explanations_are_those_of_explain(nb):
    others = table(50, seed=1)
    report = nb.export.report(others, "y")
    cards = parse(report).css("#rows .card")
    assert len(cards) > 5
    for card in cards:
        place = int(card.css_first("h3").text().rsplit(" ", 1)[1])
        row = others.drop(columns="y").iloc[[place]]
        explained = nb.explain(row)[0]
        c = explained.best
        assert f"with probability {explained.probability(c):.3f}" in card.css_first("p").text()
        last = card.css("tr")[-1].css("td")
        assert float(last[-1].text()) == pytest.approx(explained.log_odds(c), abs=6e-4)
        weights = [float(line.css("td")[-1].text()) for line in card.css("tbody tr")]
        assert sum(weights[:-1]) == pytest.approx(weights[-1], abs=6e-3)


@pytest.mark.slow
def test_rows_of_the_sample_are_those_learned():
    learned = table()
    nb = NaiveBayes().fit(learned, "y")
    names = ["colour", "both", "a", "b", "wet"]
    seen = {tuple(row) for row in learned[names].to_numpy()}
    for row in scorer_of(nb.export.report())["rows"]:
        assert tuple(row["cells"][name] for name in names) in seen


def test_chosen_rows_are_the_extremes():
    p = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.99, 0.01], [0.3, 0.7]])
    right = np.array([0, 0, 0, 1, 1])
    found = {one.row: one.why for one in choose(p, right, each=1)}
    assert found == {0: "most sure", 1: "least sure", 3: "most wrong"}
    assert [one.why for one in choose(p)[:3]] == ["most sure"] * 3
    assert len({one.row for one in choose(p, right)}) == len(choose(p, right))


def test_rows_that_are_alike_are_shown_once():
    p = np.repeat([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], 5, axis=0)
    found = [one.row for one in choose(p) if one.why == "most sure"]
    assert sorted(p[found, 0].tolist()) == [0.2, 0.7, 0.9]
    # Each class that is answered has a row before any has two.
    assert [p[row].argmax() for row in found[:2]] == [0, 1]


def test_without_a_sample_the_page_says_how_to_keep_one(nb, tmp_path):
    nb.save(tmp_path / "m.naively")
    page = parse(load(tmp_path / "m.naively").export.report()).body.text()
    assert "save with keep_rows=True, or train with --keep-rows" in page
    assert "Give rows to see explanations" in page


@pytest.mark.slow
def test_saved_sample_makes_the_same_page(nb, tmp_path):
    nb.save(tmp_path / "m.naively", keep_rows=True)
    assert scorer_of(load(tmp_path / "m.naively").export.report()) == scorer_of(nb.export.report())


def test_page_is_the_same_each_time(nb):
    assert nb.export.report().html == nb.export.report().html


@pytest.mark.slow
@pytest.mark.parametrize("event", [JointTable(), KernelDensity()], ids=str)
def test_model_without_scorecard_says_why_no_cell_can_be_moved(event):
    cells = [[float(a), float(b)] for a in (0, 1) for b in (0, 1)] * 20
    nb = NaiveBayes(event).fit(cells, [int(a) ^ int(b) for a, b in cells])
    report = nb.export.report(cells)
    assert scorer_of(report) is None
    with pytest.raises(ValueError, match="cannot be written as a scorecard") as refused:
        nb.export.scorecard()
    said = parse(report).css_first("#whatif").text()
    assert f"No cell can be moved here. {refused.value}" in said
    assert "Start from" not in said


@pytest.mark.slow
def test_texts_that_are_too_large_are_scored_by_what_matters_most(monkeypatch):
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.array(["".join(rng.choice(letters, rng.integers(3, 9))) for _ in range(3000)])
    p = 1 / np.arange(1, 3001)
    labels = [0, 1] * 200
    texts = [" ".join(rng.choice(words, 30, p=p / p.sum())) for _ in labels]
    texts = [text + " cheap pills" * label for text, label in zip(texts, labels, strict=True)]
    nb = NaiveBayes().fit(texts, labels)
    most = len(nb.export.scorecard().to_json()) * 2 // 3
    monkeypatch.setattr("naively.wings.report.scorer.MOST", most)
    report = nb.export.report(texts[:4])
    assert len(parse(report).css_first("#scorer").text()) < most
    scorer = scorer_of(report)
    name = scorer["columns"][0]["name"]
    for text in ("cheap pills", *texts[:2]):
        right = nb.predict_proba([text])[0]
        np.testing.assert_allclose(posterior(scorer["card"], {name: text}), right, atol=0.05)
    for row in scorer["rows"]:
        right = nb.predict_proba([row["cells"][name]])[0]
        np.testing.assert_allclose(row["whole"], right, atol=1e-12)
    said = parse(report).css_first("#whatif").text()
    assert "The whole model is too large for a page" in said
    assert "which carry" in said


@pytest.mark.slow
def test_many_classes_and_columns_are_summarised():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5000), 2)
    nb = NaiveBayes(Gaussian(), weights=None).fit(rng.normal(y[:, None], 1.0, (10_000, 2)), y)
    report = nb.export.report([[1.0, 1.0]], [1])
    assert len(report.html.encode()) < LARGEST
    assert "30 most frequent of 5,000 classes" in parse(report).body.text()
    wide = rng.normal(size=(60, 5000))
    nb = NaiveBayes(Gaussian(), weights=None).fit(wide, [0, 1] * 30)
    report = nb.export.report(wide[:4], [0, 1] * 2)
    assert len(report.html.encode()) < LARGEST
    assert "1,000 of 5,000 columns" in parse(report).body.text()


def starts_are_scored_as_by(nb, report, rows) -> None:
    """The rows that moves start from have the library's posteriors, by a reader of scorecards."""
    scorer = scorer_of(report)
    assert len(scorer["rows"]) >= 5
    for row in scorer["rows"]:
        cells = {name: numbers_of(cell) for name, cell in row["cells"].items()}
        for column in scorer["columns"]:
            if column["kind"] == "time" and cells[column["name"]] is not None:
                time = dt.datetime.fromisoformat(cells[column["name"]])
                cells[column["name"]] = time
        right = nb.predict_proba(rows[[int(row["name"].rsplit(" ", 1)[1])]])[0]
        np.testing.assert_allclose(posterior(scorer["card"], cells), right, atol=1e-12)


def numbers_of(cell):
    return float(cell) if cell in {"inf", "-inf"} else cell


@pytest.mark.slow
@pytest.mark.parametrize("products", [0, 2])
def test_rows_to_start_from_have_the_librarys_posteriors(products):
    nb = NaiveBayes().fit(with_holes(table()), "y")
    with_linear_part(nb, products=products)
    others = with_holes(table(50, seed=1), seed=1)
    others["when"] += pd.Timedelta(123_456, "us")
    report = nb.export.report(others, "y")
    features = others.drop(columns="y")
    starts_are_scored_as_by(nb, report, features.iloc)
    found = {column["name"]: column["kind"] for column in scorer_of(report)["columns"]}
    assert found == {title(name): kind for name, kind in nb.model_.view.schema.kinds.items()}
    truths = {type(row["cells"]["wet"]) for row in scorer_of(report)["rows"]}
    assert truths <= {bool, type(None)}
    times = {row["cells"]["when"] for row in scorer_of(report)["rows"]} - {None}
    assert times
    assert all(time.endswith("T00:00:00.123456") for time in times)
    assert ["linear part", str(nb.weights_.linear)] in lines_of(parse(report), "#about")
    assert any(line[0] == "size is missing" for line in lines_of(parse(report), "#rows"))
    pairs = [" × ".join(map(str, of.columns)) for of in nb.weights_.linear.products]
    assert set(pairs) <= {line[0] for line in lines_of(parse(report), "#columns")}


@pytest.mark.slow
def test_scorecard_is_measured_as_it_is_written(nb, monkeypatch):
    written = parse(nb.export.report()).css_first("#scorer").text()
    monkeypatch.setattr("naively.wings.report.scorer.MOST", len(written))
    assert scorer_of(nb.export.report()) is not None
    monkeypatch.setattr("naively.wings.report.scorer.MOST", len(written) - 1)
    assert scorer_of(nb.export.report()) is None


@pytest.mark.slow
def test_columns_that_are_worth_most_are_moved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 120))
    X[:, 7] += 3.0 * np.repeat([0, 1], 150)
    nb = NaiveBayes().fit(X, np.repeat(["a", "b"], 150))
    report = nb.export.report()
    scorer = scorer_of(report)
    assert len(scorer["columns"]) == 30
    assert scorer["columns"][0]["name"] == "x7"
    assert len(scorer["rows"][0]["cells"]) == 120
    assert "the 30 best of 120 columns" in parse(report).css_first("#whatif").text()


@pytest.mark.slow
@pytest.mark.parametrize("sampled", [True, False])
def test_sliders_reach_over_the_range_of_a_column(sampled, tmp_path):
    rng = np.random.default_rng(0)
    learned = {
        "number": rng.normal(size=200),
        "count": rng.poisson(30.0, 200),
        "tiny": rng.normal(size=200) * 1e-12,
        "far": 1e9 + rng.normal(size=200),
        "one": np.full(200, 2.0),
    }
    nb = NaiveBayes("gaussian").fit(learned, ["a", "b"] * 100)
    nb.save(tmp_path / "m.naively", keep_rows=sampled)
    scorer = scorer_of(load(tmp_path / "m.naively").export.report())
    assert bool(scorer["rows"]) == sampled
    for column in scorer["columns"]:
        name = column["name"]
        low, high, step = (column[of] for of in ("low", "high", "step"))
        inner = (0, 1) if sampled else (0.05, 0.95)
        least, most = np.quantile(learned[name], inner)
        assert low <= least <= most <= high
        assert low + step < high
        if name != "one":
            assert high - low <= 3 * np.ptp(learned[name])
        is_whole = sampled and name in {"count", "one"}
        assert step == 1.0 if is_whole else 100 <= (high - low) / step <= 1200


@pytest.mark.slow
def test_no_slider_reaches_over_all_floats():
    nb = NaiveBayes().fit(table(), "y")
    others = table(6, seed=1).drop(columns="y")
    (size,) = (of for of in scorer_of(nb.export.report(others))["columns"] if of["name"] == "size")
    assert set(size) == {"name", "kind", "low", "high", "step"}
    others["size"] = [-1.7e308, *[1.7e308] * 5]
    report = nb.export.report(others)
    (size,) = (of for of in scorer_of(report)["columns"] if of["name"] == "size")
    assert set(size) == {"name", "kind"}
    starts_are_scored_as_by(nb, report, others.iloc)


def test_texts_of_which_no_row_is_kept_can_be_written():
    texts = ["cheap pills now", "lunch at noon", "cheap watches now", "see you at lunch"] * 10
    nb = NaiveBayes().fit(texts, ["spam", "ham"] * 20)
    scorer = scorer_of(nb.export.report())
    for row in scorer["rows"]:
        (text,) = row["cells"].values()
        np.testing.assert_allclose(row["whole"], nb.predict_proba([text])[0], atol=1e-12)
    assert [column["kind"] for column in scorer["columns"]] == ["text"]
    found = posterior(scorer["card"], {scorer["columns"][0]["name"]: "cheap lunch"})
    np.testing.assert_allclose(found, nb.predict_proba(["cheap lunch"])[0], atol=1e-12)


@pytest.mark.slow
def test_program_does_not_end_its_element(nb):
    page = nb.export.report().html
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    own = [files("naively.wings.report").joinpath(name).read_text("utf-8") for name in SCRIPTS]
    assert script == scorer_script() + "".join(own)
    assert "<!--" not in script


@pytest.mark.slow
def test_nothing_hostile_is_an_element():
    n = 80
    labels = np.array(HOSTILE)[np.arange(n) % len(HOSTILE)]
    nb = NaiveBayes().fit(pd.DataFrame({HOSTILE[0]: labels, HOSTILE[1]: range(n)}), labels)
    report = nb.export.report(name=HOSTILE[2])
    page = parse(report)
    assert len(page.css("script")) == 3
    assert page.css("img, [onerror]") == []
    assert "\x1b" not in report.html
    assert "\u202e" not in report.html
    assert page.css_first("title").text() == HOSTILE[2]


@pytest.mark.slow
def test_report_is_written_whole_and_prints_its_sections(nb, tmp_path):
    report = nb.export.report(name="weather")
    report.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report.html
    first, *rest = str(report).split("\n")
    assert first.startswith("weather: a page of ")
    assert "What each column adds" in rest
    with pytest.raises(OSError, match="nowhere"):
        report.save(tmp_path / "nowhere" / "r.html")


def alerts(report, about: str = "learned") -> list[str]:
    return [said for of in parse(report).css("#warnings .alert") if about in (said := of.text())]


def test_rows_that_were_learned_are_said_to_be_so(nb, of_learned_rows):
    (said,) = alerts(of_learned_rows)
    assert "100% of the given rows are equal to learned rows" in said
    page = parse(of_learned_rows)
    head = lines_of(page, "#scores")[0]
    assert head[1:] == ["on learned rows, cross-validated", "on given rows, most of them learned"]
    # What can be read best is of rows that it does not know.
    drawn = [cell.text().partition(" ")[0] for cell in page.css("#confusion td div")]
    assert str(nb.assess().confusion[0, 0]) in drawn
    assert str(nb.evaluate(table(), "y").confusion[0, 0]) not in drawn


@pytest.mark.slow
def test_rows_some_of_which_were_learned_are_looked_up(nb):
    learned, new = table(), table(200, seed=1)
    both = pd.concat([learned[:200], new])
    (said,) = alerts(nb.export.report(both, "y"))
    assert "50% of the given rows are equal" in said
    assert alerts(nb.export.report(new, "y")) == []
    assert lines_of(parse(nb.export.report(new, "y")), "#scores")[0][2] == "on the rows given"
    assert alerts(nb.export.report(learned.drop(columns="y"))) == []


def test_rows_that_may_have_been_learned_are_said_to_be_so(nb, tmp_path):
    nb.save(tmp_path / "m")  # without a sample
    loaded, learned = load(tmp_path / "m"), table()
    (said,) = alerts(loaded.export.report(learned, "y"))
    assert "as many of each class as the learned rows. If" in said
    assert alerts(loaded.export.report(learned[1:], "y")) == []


@pytest.mark.slow
def test_a_sample_tells_most_rows_that_were_learned():
    rng = np.random.default_rng(0)
    x = rng.normal(size=40_000)
    y = np.where(x + rng.normal(size=len(x)) > 0, "a", "b")
    nb = NaiveBayes().fit({"x": x[:30_000]}, y[:30_000])
    assert len(nb._learned.sample) < 30_000
    (said,) = alerts(nb.export.report({"x": x[:10_000]}, y[:10_000]))
    assert "100% of the given rows are" in said
    assert alerts(nb.export.report({"x": x[30_000:]}, y[30_000:])) == []
    for i in range(30_000, 30_010):  # of some rows nothing can be looked up
        assert alerts(nb.export.report({"x": x[i : i + 1]}, y[i : i + 1])) == []


def test_a_leak_stands_at_the_top():
    rows = table().assign(refund=lambda t: np.where(t["y"] == "ham", 1.5, np.nan))
    with pytest.warns(UserWarning, match="refund"):
        nb = NaiveBayes().fit(rows, "y")
    report = nb.export.report()
    assert parse(report).css_first("main > .first > section").id == "warnings"
    (said,) = alerts(report, "refund")
    assert said.startswith("Column 'refund' is there in rows of class 'ham' only; if it will not")


def naively(*arguments, cwd):
    done = run(*arguments, cwd=cwd)
    return SimpleNamespace(
        returncode=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode()
    )


@pytest.mark.slow
def test_command_writes_the_page(tmp_path):
    data = table()
    data.to_csv(tmp_path / "learn.csv", index=False)
    table(50, seed=1).to_csv(tmp_path / "new.csv", index=False)
    done = naively("train", "learn.csv", "-t", "y", "-o", "m.naively", "--keep-rows", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = naively("report", "m.naively", "new.csv", "-o", "r.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Wrote r.html: ")
    page = LexborHTMLParser((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert page.css_first("h1").text() == "m"
    assert "on the rows given" in page.body.text()
    done = naively("report", "m.naively", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_command_takes_rows_that_training_set_aside(tmp_path):
    table().to_csv(tmp_path / "learn.csv", index=False)
    naively("train", "learn.csv", "-t", "y", "-o", "m", "--hold-out", "0.25", cwd=tmp_path)
    done = naively("report", "m", "learn.csv", cwd=tmp_path)
    assert "learn.csv has as many rows as the file that m was trained on" in done.stderr
    assert "the page is of the 150 that --hold-out set aside" in done.stderr
    page = LexborHTMLParser((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [line[1] for line in lines_of(page, "#scores") if line[0] == "rows scored"] == ["150"]
    scored = naively("evaluate", "m", "learn.csv", "--held-out", "--format", "json", cwd=tmp_path)
    accuracy = [line[1] for line in lines_of(page, "#scores") if line[0] == "accuracy"]
    lines = map(json.loads, scored.stdout.splitlines())
    (right,) = (line["value"] for line in lines if line["score"] == "accuracy")
    assert float(accuracy[0]) == pytest.approx(right, abs=5e-4)
    table(50, seed=1).to_csv(tmp_path / "new.csv", index=False)
    assert "set aside" not in naively("report", "m", "new.csv", cwd=tmp_path).stderr


@pytest.mark.slow
def test_command_says_that_there_is_no_sample(tmp_path):
    table().to_csv(tmp_path / "learn.csv", index=False)
    naively("train", "learn.csv", "-t", "y", "-o", "m.naively", cwd=tmp_path)
    done = naively("report", "m.naively", cwd=tmp_path)
    assert done.returncode == 0
    assert "holds no sample of rows" in done.stderr
    done = naively("report", "m.naively", "-o", "m.naively", cwd=tmp_path)
    assert done.returncode == 2
    done = naively("report", "m.naively", "nothing.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


# --- The first screen ----------------------------------------------------------------------------


def said_on(report) -> str:
    return " ".join(line.text() for line in parse(report).css("main > .first .say"))


@pytest.mark.slow
def test_a_sentence_says_how_good_it_is(nb):
    others = table(200, seed=1)
    scores = nb.evaluate(others, "y")
    said = said_on(nb.export.report(others, "y"))
    assert f"right for {100 * scores.accuracy:.0f} of 100 rows" in said
    right = f"answering “{scores.majority}” is right for {100 * scores.majority_accuracy:.0f}."
    assert right in said
    p = nb.predict_proba(others.drop(columns="y"))
    assert f"Its probabilities say {100 * p.max(axis=1).mean():.0f}" in said
    share = others["y"].value_counts(normalize=True)
    explained = 1 + scores.log_loss / (share * np.log(share)).sum()
    assert f"explains {100 * explained:.0f} % of the uncertainty" in said
    low, high = scores.intervals["accuracy"]
    assert f"right for {100 * low:.0f} to {100 * high:.0f} of 100" in said


@pytest.mark.slow
def test_a_rare_class_is_ranked_and_not_counted_as_right():
    rng = np.random.default_rng(0)
    rare = rng.random(4000) < 0.02
    rows = rng.normal(2.0 * rare)[:, None]
    label = np.where(rare, "fraud", "ok")
    nb, others = NaiveBayes("gaussian").fit(rows[:2000], label[:2000]), rare[2000:]
    report = nb.export.report(rows[2000:], label[2000:])
    p = nb.predict_proba(rows[2000:])[:, 0]
    best, said = np.argsort(-p, kind="stable")[:100], said_on(report)
    assert f"{others[best].sum()} of the 100 highest ranked rows are “fraud”" in said
    assert f"predict {p[best].sum():.0f}, and {100 * others.mean():.1f} are expected by" in said
    assert "right for" not in said
    assert judged_of(report)["names"][judged_of(report)["start"]] == "fraud"


@pytest.mark.slow
def test_counts_of_a_page_are_whole_and_of_the_rows_learned():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(20_000) < 0.02, "rare", "often")
    rows = {"x": rng.normal(y == "rare"), "n": rng.integers(5, size=20_000)}
    report = NaiveBayes().fit(rows, y).export.report()
    count = np.array([(y == label).sum() for label in ("often", "rare")])
    for each, here in zip(judged_of(report)["each"], count, strict=True):
        assert round(sum(line[1] for line in each)) == here
    shown = {line[0]: line[-1] for line in lines_of(parse(report), "#columns .card")}
    assert [shown[str(i)] for i in range(5)] == [f"{n:,}" for n in np.bincount(rows["n"])]


@pytest.mark.slow
def test_a_model_of_many_classes_and_words_is_assessed_and_opens_with_words():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 8
    texts = [" ".join(f"w{c}{i}" for i in rng.integers(12, size=12)) for c in y]
    report = NaiveBayes().fit(texts, y).export.report()
    assert "cannot be scored" not in said_on(report)
    assert parse(report).css("#columns .chooser option")
    for row in scorer_of(report)["rows"]:
        assert row["cells"]["text"]


def test_heading_says_what_is_predicted_from_what(of_learned_rows):
    lead = parse(of_learned_rows).css_first("header .lead").text()
    assert "(ham, spam and unsure) from 7 columns, and has learned 600 rows" in lead


@pytest.mark.slow
def test_what_is_to_be_doubted_is_in_the_open():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.05, "rare", "often")
    rows = {"x": rng.normal(size=300), "name": [f"n{i}-{i * i}" for i in range(300)]}
    report = NaiveBayes("categorical").fit(rows, y).export.report()
    assert alerts(report, "of class 'rare'")
    assert alerts(report, "like an identifier")
    assert alerts(report, "no better than the shares of the classes")


@pytest.mark.slow
def test_columns_that_repeat_each_other_are_one_bar():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500)
    x = y + rng.normal(size=500)
    rows = {"one": x, "other": 2 * x, "noise": rng.normal(size=500)}
    nb = NaiveBayes("gaussian").fit(rows, np.where(y, "b", "a"))
    ((names, nats),) = nb.assess().together.items()
    bars = parse(nb.export.report()).css(".matter .bars tbody tr")
    name, *_, worth = (cell.text() for cell in bars[0].css("th, td"))
    assert name == f"{names[0]} and {names[1]}, which repeat each other"
    found = nb.assess()
    share = np.array([n for *_, n in found.by_class.values()]) / 500
    explained = -(share * np.log(share)).sum() - found.log_loss
    assert worth == f"{min(100 * nats / explained, 100):.0f} %"


# --- What a column adds --------------------------------------------------------------------------


def with_two_classes(n=600):
    found = with_holes(table(n))
    found["y"] = np.where(found["y"] == "ham", "ham", "spam")
    return found


@pytest.mark.slow
def test_effects_are_what_explanations_say_of_the_column_alone():
    rows = with_two_classes()
    nb = NaiveBayes().fit(rows, "y")
    for name in ("size", "colour", "wet", "when"):
        found = effect(nb.model_, name, 1, nb._learned.sample.of(nb.model_).batches)
        some = np.unique(np.linspace(0, len(found.values) - 1, 7).round().astype(int))
        for i in some.tolist():
            value = found.values[i]
            if value in found.values[i + 1 :]:
                continue  # a time just before a step, which is rounded to it
            alone = rows.drop(columns="y").iloc[[0]].astype(object)
            alone.loc[:, :] = None
            alone[name] = pd.Series([value], alone.index, dtype=object)
            alone = alone.astype({"size": float, "when": "datetime64[us]"})
            row = nb.explain(alone)[0]
            of = [line.split(" ")[0] == name and "(" not in line for line in row.column]
            right = (row.log_likelihood[:, 1] - row.log_likelihood[:, 0])[of].sum()
            assert found.weight[i] == pytest.approx(right, abs=1e-9), (name, value)


@pytest.mark.slow
@pytest.mark.parametrize("event", ["gaussian", "categorical"])
def test_band_of_a_columns_evidence_is_the_interval_of_a_row_that_has_no_other(event):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    x = (rng.normal(size=120) + (y == "b")).round(int(event == "gaussian"))
    nb = NaiveBayes(event, weights=None, class_prior=[0.5, 0.5]).fit({"x": x}, y)
    found = effect(nb.model_, "x", 1)
    intervals = nb.predict_interval({"x": np.array(found.values, float)}, coverage=0.95)
    low, high = (np.log(of[:, 1]) - np.log1p(-of[:, 1]) for of in (intervals.low, intervals.high))
    within = (low < -1e-9 + np.log(intervals.probability[:, 1] / intervals.probability[:, 0])).any()
    assert within
    np.testing.assert_allclose(2 * 1.959964 * found.deviation, high - low, rtol=1e-5)


def test_bins_of_whole_numbers_hold_as_many_of_them_as_each_other():
    x = np.arange(1000) % 57
    found = effect(NaiveBayes().fit({"x": x}, x > 30).model_, "x", 1)
    assert np.diff(found.edges).tolist() == [2.0] * 29


def test_where_the_linear_part_says_it_alone_a_band_has_a_width():
    rng = np.random.default_rng(0)
    x = np.append(rng.integers(0, 4, 599), 6)
    nb = NaiveBayes().fit({"x": x, "z": rng.normal(size=600)}, rng.random(600) < x / 4)
    rows = nb._learned.sample.of(nb.model_)
    found = effect(nb.model_, "x", 1, rows.batches, covariance_for(nb.model_, nb._learned.sample))
    assert (found.deviation[np.abs(found.weight) > 0.05] > 0.02).all()


# --- How good it is: thresholds, calibration, subgroups ------------------------------------------


def judged_of(report):
    return json.loads(parse(report).css_first("#judged").text())


@pytest.mark.slow
def test_rows_above_each_threshold_are_counted(nb):
    others = table(300, seed=1)
    found = judged_of(nb.export.report(others, "y"))
    p = nb.predict_proba(others.drop(columns="y"))
    for name, each in zip(found["names"], found["each"], strict=True):
        label = name.removeprefix("y = ")
        c = nb.classes_.tolist().index(label)
        right = (others["y"] == label).to_numpy()
        for t in (0, 1, 250, 500, 999, 1000):
            above = p[:, c] * 1000 >= t
            inside, outside = (sum(line[i] for line in each if line[0] >= t) for i in (1, 2))
            assert (inside, outside) == ((above & right).sum(), (above & ~right).sum())


def test_bins_of_calibration_hold_as_many_rows_each_and_sure_intervals():
    rng = np.random.default_rng(0)
    said = rng.random(1000) ** 4
    hit = rng.random(1000) < said
    bins = equal_bins(said, hit, np.ones(1000))
    assert [n for *_, n in bins] == [100] * 10
    for i, (x, y, low, high, n) in enumerate(bins):
        some = np.argsort(said)[100 * i : 100 * i + 100]
        assert (x, y) == (pytest.approx(said[some].mean()), hit[some].mean())
        k = y * n
        right = stats.beta.ppf([0.025, 0.975], k + 0.5, n - k + 0.5)
        if 0 < k < n:
            np.testing.assert_allclose([low, high], right, atol=1e-6)
        assert low <= y <= high
    (only,) = equal_bins(np.full(50, 0.3), hit[:50], np.ones(50))  # equal ones are in one bin
    assert only[-1] == 50


@pytest.mark.slow
def test_subgroups_are_scored_as_their_rows(nb):
    others = table(400, seed=1)
    answer = nb.predict(others.drop(columns="y"))
    of = parse(nb.export.report(others, "y"))
    lines = {line[0]: line[1:] for line in lines_of(of, "#good details") if "=" in line[0]}
    assert lines
    for group, (rows, right, *_) in lines.items():
        name, level = group.split(" = ")
        some = others[name].astype(str) == level
        assert int(rows) == some.sum()
        assert right == f"{(answer == others['y'])[some].mean():.0%}"


def test_a_card_says_what_the_scores_say(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = {
        "a|b": rng.normal(y, 1.0),
        "colour": np.array(["red", "blue"])[y ^ (rng.random(400) < 0.2)],
    }
    nb = NaiveBayes().fit(X, np.array(["no", "yes"])[y])
    card = nb.export.card(name="a *card*", use="Tests.")
    lines = card.splitlines()
    assert lines[0] == r"# a \*card\*"
    assert lines[lines.index("## Intended use") + 2] == "Tests."
    assert f"| accuracy | {nb.assess().accuracy:.3g} |" in card
    assert r"| a\|b | numbers |" in card
    for head, line in itertools.pairwise(lines):  # lines of a table have as many cells
        if head.startswith("|") and line.startswith("|"):
            assert len({each.replace(r"\|", "").count("|") for each in (head, line)}) == 1
    assert "## History\n\n    " in card
    assert "Nothing is stated" in nb.export.card()
    nb.save(tmp_path / "m", keep_rows=True)
    written = run("export", tmp_path / "m", "--format", "card").stdout.decode()
    scores = card[card.index("## How good it is") : card.index("## Columns")]
    assert scores in written
    done = run("report", tmp_path / "m", "-o", tmp_path / "m.md", "--use", "Tests.")
    assert done.returncode == 0
    assert scores in (tmp_path / "m.md").read_text(encoding="utf-8")


def test_columns_that_are_missing_throughout_are_assessed_and_reported() -> None:
    y = ["a", "b"] * 30
    for more in ({}, {"x": np.arange(60.0)}):
        with warnings.catch_warnings(action="ignore"):
            nb = NaiveBayes().fit({"gone": [None] * 60, "too": [np.nan] * 60, **more}, y)
        assert nb.assess().accuracy <= 1
        assert nb.export.card({"gone": [None] * 60, "too": [None] * 60, **more}, y)
        assert nb.export.report({"gone": [None] * 60, "too": [None] * 60, **more}, y)


def test_counts_of_rows_are_whole_wherever_they_are_printed() -> None:
    rng = np.random.default_rng(0)
    y, weight = rng.integers(0, 2, 300), rng.uniform(0.2, 2.0, 300)
    X = {"x": np.where(rng.random(300) < 0.1, np.nan, rng.normal(y)), "c": rng.choice([*"uv"], 300)}
    nb = NaiveBayes().fit(X, y, sample_weight=weight)
    said = [nb.model_, nb.weights_, nb.history_, *map(nb.inspect.column, X), nb.export.card(X, y)]
    said += [nb.assess(), re.sub(r"<script.*?</script>", "", nb.export.report(X, y).html)]
    for text in map(str, said):
        assert not re.search(r"\d\.\d+(</[a-z]+>)? (rows|of \d+ cells|numbers? )", text)
    assert f"{weight.sum():,.0f} rows" in str(nb.model_)
    noisy = NaiveBayes().fit(X, y).export.with_noise(1.0, 1e-6)
    count = noisy.model_.counted.tally.weight.high
    count.setflags(write=True)
    count[..., 0] = 1e308  # as a file may hold it
    assert "cells are missing" in str(noisy.inspect.column("x"))
    assert noisy.export.report(X, y)
