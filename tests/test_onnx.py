"""What an ONNX model answers in onnxruntime is what the model itself answers."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naively import Bernoulli, Model, NaiveBayes, Text, load
from naively.inspect.scorecard import Scorecard
from naively.terms.views import AnyTerm, Cell, LevelsTerm, PresenceTerm
from naively.wings.onnx import onnx_of, tensors_of
from tests import ruled
from tests.cases import CASES, Case
from tests.laws import samples
from tests.linear_parts import with_linear_part
from tests.scorecards import posterior
from tests.test_scorecard import COLUMNS, NO_SUMS, Row, forgetful, models, rows_of, table


def session_of(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """A session of a model that the checker of ONNX accepts."""
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def answers(nb: NaiveBayes, rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """The labels and the probabilities of rows."""
    label, p = session_of(nb.export.onnx()).run(
        ["label", "probabilities"], nb.export.onnx_inputs(rows)
    )
    return label, p


def assert_equal(nb: NaiveBayes, rows: Any, rtol: float = 1e-9) -> None:
    label, p = answers(nb, rows)
    known = nb.predict_proba(rows)
    np.testing.assert_allclose(p, known, rtol=rtol, atol=1e-12)
    sure = np.diff(np.sort(known, axis=1)[:, -2:])[:, 0] > 1e-9
    assert label[sure].tolist() == nb.predict(rows)[sure].tolist()
    assert (label == nb.classes_[p.argmax(axis=1)])[sure].all()


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_probabilities_are_those_of_the_model(case: Case, data: Any) -> None:
    sample = data.draw(samples(case, least=2))
    other = data.draw(samples(case, least=1))
    model = sample.model
    try:
        card = Scorecard.of(model)
    except ValueError:
        assert any(what in repr(case) for what in NO_SUMS)
        return
    assume(card.columns)
    assume(set(sample.columns) <= set(other.columns))
    rows = other.only(sample.columns).rows
    p = scored(model, card, rows)
    known = model.posterior(rows)
    finite = np.abs(model.joint_log_likelihood(rows))
    if finite[np.isfinite(finite)].max(initial=0) < 1e6:  # larger sums lose digits
        np.testing.assert_allclose(p, known, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


def scored(model: Model, card: Scorecard, rows: Any) -> np.ndarray:
    inputs = tensors_of(card, model.view.schema.match(rows))
    found: np.ndarray = session_of(onnx_of(card)).run(["probabilities"], inputs)[0]
    return found


class Sessions(list[Any]):
    """Models with their sessions; a failing example need not print them."""

    def __repr__(self) -> str:
        return f"{len(self)} models"


@pytest.fixture(scope="module")
def fitted() -> Sessions:
    return Sessions((nb, session_of(nb.export.onnx())) for nb in models())


@given(rows=st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=6))
def test_it_says_all_that_a_model_says_by_default(fitted: Sessions, rows: list[Row]) -> None:
    for i, (nb, session) in enumerate(fitted):
        columns = {name: [row[name] for row in rows] for name in COLUMNS}
        if i == 4:
            columns["size"] = [x and abs(x) for x in columns["size"]]
        p = session.run(["probabilities"], nb.export.onnx_inputs(columns))[0]
        np.testing.assert_allclose(p, nb.predict_proba(columns), rtol=1e-9, atol=1e-12)


def test_rows_of_a_table_of_all_kinds() -> None:
    columns, y = table(300, 5)
    nb = NaiveBayes(interactions="auto").fit(columns, y)
    assert nb.weights_ is not None
    assert nb.weights_.linear.is_of_several
    assert_equal(nb, columns)
    assert nb.export.onnx().opset_import[0].version == 17


@pytest.mark.parametrize("name", ruled.MODELS)
def test_rules_of_every_kind(name: str) -> None:
    nb, (new, _) = ruled.model(name), ruled.rows()
    assert_equal(nb, new)
    assert_equal(nb, {column: of[:1] for column, of in new.items()})


@given(
    seconds=st.lists(st.integers(-(10**10), 10**10), min_size=1, max_size=20),
    micro=st.integers(0, 999_999),
)
def test_parts_of_times_are_those_of_the_calendar(seconds: list[int], micro: int) -> None:
    rng = np.random.default_rng(0)
    start = np.datetime64("2018-01-01", "s")
    train = start + rng.integers(0, 3 * 365 * 86_400, 400)
    nb = NaiveBayes().fit({"when": train}, rng.integers(2, size=400))
    parts = {of.get("part") for of in json.loads(nb.export.scorecard().to_json())["terms"]}
    assert parts >= {"hour", "weekday", "month"}
    when = np.datetime64(0, "us") + np.array(seconds) * 1_000_000 + micro
    assert_equal(nb, {"when": when})
    days = np.datetime64("2000-02-25", "D") + np.arange(0, 400 * 366, 11)
    assert_equal(nb, {"when": days.astype("datetime64[s]")})


def test_the_empty_string_is_a_level_and_is_not_missing() -> None:
    x = ["", "", "", "b", "b", None, None, None] * 10
    nb = NaiveBayes().fit({"c": x}, [0, 0, 1, 1, 1, 0, 0, 0] * 10)
    rows = {"c": ["", None, "b", "never"]}
    assert len(set(nb.predict_proba(rows)[:, 0].tolist())) == 4
    assert_equal(nb, rows)


def test_who_says_nothing_of_missing_strings_has_none() -> None:
    columns, y = table(200, 6)
    nb = NaiveBayes().fit({name: columns[name] for name in ("size", "colour")}, y)
    inputs = nb.export.onnx_inputs({"size": [0.5, None], "colour": ["red", "blue"]})
    session = session_of(nb.export.onnx())
    assert [each.name for each in session.get_overridable_initializers()] == ["colour_missing"]
    whole = session.run(None, inputs)
    del inputs["colour_missing"]
    for mine, its in zip(session.run(None, inputs), whole, strict=True):
        np.testing.assert_array_equal(mine, its)


def test_a_level_that_was_forgotten() -> None:
    assert_equal(forgetful(), {"size": [1.0, None], "colour": ["green", "green"]})


def test_missing_throughout_and_unseen() -> None:
    columns, y = table(300, 7)
    nb = NaiveBayes().fit(columns, y)
    rows: dict[str, list[Any]] = {name: [None, None] for name in columns}
    rows["colour"] = [None, "never"]
    rows["size"] = [np.nan, np.inf]
    assert_equal(nb, rows)


def test_the_prior_decides_where_all_is_impossible() -> None:
    nb = NaiveBayes("categorical", smoothing=0, weights=None)
    nb.fit({"c": ["x", "x", "y"]}, ["a", "a", "b"])
    label, p = answers(nb, {"c": ["x", "y", "never", None]})
    np.testing.assert_allclose(p, [[1, 0], [0, 1], [2 / 3, 1 / 3], [2 / 3, 1 / 3]], rtol=1e-12)
    assert label.tolist() == ["a", "b", "a", "a"]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([3, -1], "i"), (["é", "b"], "O"), ([True, False], "O"), ([dt.date(2024, 2, 29)] * 2, "O")],
    ids=str,
)
def test_labels_are_whole_numbers_or_strings(labels: list[Any], kind: str) -> None:
    nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], [labels[0]] * 2 + [labels[1]] * 2)
    label, _ = answers(nb, [[1.0], [8.0]])
    assert np.asarray(label).dtype.kind == kind
    of = [str(x) for x in labels] if kind == "O" else labels
    assert label.tolist() == of
    said = {each.key: each.value for each in nb.export.onnx().metadata_props}
    assert len(json.loads(said["classes"])) == len(nb.classes_)


NAMES = ['a"b', "a'b", "a.b", "a b", "😀", "", "1", "label", "probabilities", "c.1", "a_b_missing"]


def test_columns_of_any_names() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    levels = np.array(["u", "v"])
    columns = {
        name: levels[(rng.random(80) < 0.3 + 0.4 * y).astype(int)] if i % 2 else y + rng.random(80)
        for i, name in enumerate(NAMES)
    }
    nb = NaiveBayes().fit(columns, y)
    assert_equal(nb, columns)
    model = nb.export.onnx()
    names = [each.name for each in [*model.graph.input, *model.graph.output]]
    assert len(set(names)) == len(names)
    assert all(name.isascii() and name.isidentifier() for name in names)
    said = {each.key: json.loads(each.value) for each in model.metadata_props}["inputs"]
    assert {of["column"] for of in said} == set(NAMES)
    assert [of["name"] for of in said] == [each.name for each in model.graph.input]


TEXTS = ["Buy NOW, now", "", None, "Straße ΣΊΣΥΦΟΣ x_1", "lunch", "a", "\x00 b", "  now  now "]


@pytest.mark.parametrize(
    "event",
    [
        "text", Text(), Text(event="bernoulli"), Text(binary=True),
        Text(ngram_range=(1, 2), stop_words="english"),
        Text(analyzer="char", ngram_range=(1, 3), lowercase=False),
        Text(analyzer="char_wb", ngram_range=(4, 5)), Text(event="bernoulli", max_characters=10),
        Text(event="complement"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("weights", ["loo", None])
def test_texts_that_are_split_before(event: Any, weights: Any) -> None:
    columns, y = table(150, 8)
    some = [note or "empty" for note in columns["note"]]
    nb = NaiveBayes({"note": event}, weights=weights).fit({"note": some}, y)
    assert_equal(nb, {"note": TEXTS})
    assert_equal(nb, {"note": [None, None]})
    assert_equal(nb, {"note": [" ".join(["lunch"] * 400), "buy"]})


def test_lists_of_words() -> None:
    words = [["buy", "now"], ["lunch"], ["buy"], ["lunch", "lunch", "now"]] * 10
    nb = NaiveBayes().fit({"words": words}, ["a", "b", "a", "b"] * 10)
    assert_equal(nb, {"words": [["buy"], None, [], ["lunch", "never"]]})


def test_truths_above_a_threshold_in_products() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.poisson(3.0, (80, 2)).astype(float), rng.integers(2, size=80)
    assert_equal(with_linear_part(NaiveBayes(Bernoulli(threshold=2.5)).fit(x, y), products=1), x)


def test_the_plain_reader_of_scorecards_agrees() -> None:
    columns, y = table(200, 9)
    nb = with_linear_part(NaiveBayes().fit(columns, y), products=9)
    card = json.loads(nb.export.scorecard().to_json())
    arrays = {name: np.array(of, object) for name, of in columns.items()}
    known = [posterior(card, row) for row in rows_of(arrays)]
    np.testing.assert_allclose(answers(nb, columns)[1], known, rtol=1e-9, atol=1e-12)


def test_it_is_the_same_after_it_was_written(tmp_path: Path) -> None:
    columns, y = table(100, 10)
    nb = NaiveBayes().fit(columns, y)
    model = nb.export.onnx(tmp_path / "model.onnx")
    nb.save(tmp_path / "model.naively")
    assert onnx.load(tmp_path / "model.onnx") == model
    assert load(tmp_path / "model.naively").export.onnx() == model
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        nb.export.onnx(tmp_path / "nowhere" / "model.onnx")


@pytest.mark.parametrize(
    ("event_models", "why"),
    [("density", "'size'.*no sum of given numbers"), ({"note": Text(features=64)}, "hashed")],
    ids=str,
)
def test_what_has_no_onnx_is_refused(event_models: Any, why: str) -> None:
    columns, y = table(60, 1)
    some = {"size": columns["size"]} if isinstance(event_models, str) else columns
    with pytest.raises(ValueError, match=why):
        NaiveBayes(event_models).fit(some, y).export.onnx()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    nb = NaiveBayes().fit([[1.0], [2.0]], [0, 1])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'naively\[onnx\]'"):
        nb.export.onnx()


@pytest.mark.parametrize(
    ("name", "target"), [("adult", "income"), ("titanic", "survived"), ("mushroom", "class")]
)
def test_real_tables(name: str, target: str, data_folder: Path) -> None:
    frame = pd.read_csv(data_folder / "tables" / f"{name}.csv", nrows=3000)
    frame = frame.drop(columns="alive", errors="ignore")  # the label under another name
    X, y = frame.drop(columns=target), frame[target].to_numpy()
    assert_equal(NaiveBayes(interactions="auto").fit(X[::2], y[::2]), X[1::2])


def test_real_texts(data_folder: Path) -> None:
    with gzip.open(data_folder / "text" / "sms_spam.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    texts, y = ([line[name] for line in lines] for name in ("text", "label"))
    nb = NaiveBayes().fit(texts[::2], y[::2])
    assert_equal(nb, texts[1::2])


def card_of(*terms: AnyTerm) -> Scorecard:
    """A scorecard of two classes and a column of strings, "c", by hand."""
    nothing = np.zeros(2)
    return Scorecard(np.array(["a", "b"]), nothing, nothing, terms, {"c": "string"})


def test_a_column_of_which_nothing_else_is_read_says_whether_it_is_missing() -> None:
    term = PresenceTerm(Cell("c", "string"), np.log([0.5, 0.25]), np.log([0.25, 0.75]))
    model = onnx_of(card_of(term))
    session = session_of(model)
    assert [each.name for each in session.get_inputs()] == ["c_missing"]
    p = session.run(["probabilities"], {"c_missing": np.array([[False], [True]])})[0]
    np.testing.assert_allclose(p, [[2 / 3, 1 / 3], [0.25, 0.75]], rtol=1e-12)


def test_what_one_term_makes_impossible_is_so_whatever_another_says() -> None:
    cell, inf = Cell("c", "string"), np.inf
    some = LevelsTerm(cell, ("x",), np.array([[-inf, 0.0], [0.0, 0.0]]))
    other = LevelsTerm(cell, ("x", "y"), np.array([[inf, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    rows = {"c": np.array([["x"], ["y"]], object)}
    p = session_of(onnx_of(card_of(some, other))).run(["probabilities"], rows)[0]
    np.testing.assert_allclose(p, [[0, 1], [0.5, 0.5]], rtol=1e-12)


def test_a_text_as_long_as_may_be_is_looked_at() -> None:
    columns, y = table(150, 8)
    notes = {"note": [note or "empty" for note in columns["note"]]}
    text = Text(event="bernoulli", max_characters=9)
    nb = NaiveBayes({"note": text}, weights=None).fit(notes, y)
    assert_equal(nb, {"note": ["buy lunch", "buy  lunch", "now lunch"]})
