"""The scorer in JavaScript says what the model says: scores, posteriors, tokens, explanations."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from naively import NaiveBayes, Text
from naively.inspect.scorecard import Scorecard
from naively.kernels.folding import table_text
from tests import ruled
from tests.cases import CASES, Case
from tests.laws import samples
from tests.node import ask, question
from tests.scorecards import Row
from tests.test_scorecard import COLUMNS, Fitted, forgetful, models, read, rows_of, table, timed
from tests.words import rich_text

TEXTS = [
    "Straße ΣΊΣΥΦΟΣ İstanbul naïve_1 x 42 a_b",
    "tabs\tand\x0bother\x85spaces\u2003here\ufeffnot there\x1cfile",
    "日本語 テキスト ½ ² ① Ⅷ e\u0301 👩‍🔬 \U0001d49c\U0001d4d1 𐐷x \U0001d7d9",
    "don't stop-words, don't!",
    "",
    "  ",
    "a",
]


def plain(cell: Any) -> Any:
    """A cell as JSON has it; infinite numbers are left out."""
    if isinstance(cell, dt.datetime):
        return cell.isoformat()
    return None if isinstance(cell, float) and np.isnan(cell) else cell


def rows_for(case: Case, data: Any) -> tuple[dict[str, Any], Any] | None:
    """A question of a model of the case, and its answer; None if it cannot be asked."""
    sample, other = data.draw(samples(case, least=2)), data.draw(samples(case, least=1))
    try:
        card = Scorecard.of(sample.model)
    except ValueError:
        return None
    if not set(sample.columns) <= set(other.columns):
        return None
    of = type(other)(case, {name: other.columns[name] for name in sample.columns}, other.y)
    named = {"text": of.columns["c0"]} if case.text else of.columns
    cells = [{name: plain(cell) for name, cell in row.items()} for row in rows_of(named)]
    if any(isinstance(x, float) and np.isinf(x) for row in cells for x in row.values()):
        return None  # JSON has no such numbers
    return question(card, cells), sample.model.joint_log_likelihood(of.rows)


def test_times_that_are_told_apart_as_categories() -> None:
    nb, rows = timed()
    new = {name: [row[name] for row in rows] for name in rows[0]}
    cells = [{name: plain(cell) for name, cell in row.items()} for row in rows]
    (found,) = ask([question(nb.export.scorecard(), cells, "posterior")])
    np.testing.assert_allclose(np.array(found), nb.predict_proba(new), atol=1e-11)


@pytest.mark.slow
def test_all_event_models_are_scored_as_in_python() -> None:
    asked: dict[str, list[Any]] = {}

    @settings(max_examples=4, phases=[Phase.generate], database=None)
    @given(data=st.data())
    def collect(case: Case, data: Any) -> None:
        if (found := rows_for(case, data)) is not None:
            asked.setdefault(repr(case), []).append(found)

    for case in CASES:
        collect(case)
    assert len(asked) > 50
    every = [(name, *one) for name, some in asked.items() for one in some]
    answers = ask([one for _, one, _ in every])
    for (name, _, known), found in zip(every, answers, strict=True):
        assert isinstance(found, list), (name, found)
        of = np.array(found, np.float64)  # "-inf" too
        np.testing.assert_allclose(of, known, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return Fitted((nb, read(nb.model_)) for nb in models())


@pytest.fixture(scope="module")
def some_rows() -> list[Row]:
    found: list[Row] = []

    @settings(max_examples=30, phases=[Phase.generate], database=None)
    @given(row=st.fixed_dictionaries(COLUMNS))
    def collect(row: Row) -> None:
        found.append(row)

    collect()
    columns, _ = table(40, 9)
    return found + [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ]


@pytest.mark.slow
def test_default_models_are_scored_as_in_python(fitted: Fitted, some_rows: list[Row]) -> None:
    asked = []
    for i, (_, card) in enumerate(fitted):
        rows = [_for_model(i, row) for row in some_rows]
        cells = [{name: plain(cell) for name, cell in row.items()} for row in rows]
        asked += [{"card": card, "rows": cells, "what": what} for what in ("posterior", "predict")]
    answers = ask(asked)
    for i, (nb, _) in enumerate(fitted):
        rows = [_for_model(i, row) for row in some_rows]
        known = np.concatenate(
            [nb.predict_proba({name: [cell] for name, cell in row.items()}) for row in rows]
        )
        posterior, labels = answers[2 * i : 2 * i + 2]
        np.testing.assert_allclose(np.array(posterior), known, rtol=1e-9, atol=1e-12)
        sure = np.abs(known[:, 0] - 0.5) > 1e-9
        assert [nb.classes_.tolist().index(label) for label in labels] == [
            int(p.argmax()) if s else nb.classes_.tolist().index(label)
            for p, s, label in zip(known, sure, labels, strict=True)
        ]


def test_rules_of_every_kind_are_scored_and_explained_as_in_python() -> None:
    new, rows = ruled.rows()
    cells = [{name: plain(cell) for name, cell in row.items()} for row in rows]
    made = list(map(ruled.model, ruled.MODELS))
    asked = [question(nb.export.scorecard(), cells, "posterior") for nb in made]
    for nb, found in zip(made, ask(asked), strict=True):
        np.testing.assert_allclose(found, nb.predict_proba(new), rtol=1e-9, atol=1e-12)
    asked = [question(nb.export.scorecard(), cells, "explain") for nb in made]
    for nb, answer in zip(made, ask(asked), strict=True):
        for known, lines in zip(nb.explain(new), answer, strict=True):
            assert_same_lines(known, lines)


def test_a_level_that_was_forgotten_is_none_that_is_known() -> None:
    nb, row = forgetful(), {"size": 1.0, "colour": "green"}
    (found,) = ask([question(nb.export.scorecard(), [row], "posterior")])
    np.testing.assert_allclose(found, nb.predict_proba({n: [x] for n, x in row.items()}), rtol=1e-9)


@pytest.mark.slow
def test_explanations_are_those_of_python(fitted: Fitted, some_rows: list[Row]) -> None:
    asked = []
    for i, (_, card) in enumerate(fitted):
        cells = [
            {name: plain(cell) for name, cell in _for_model(i, row).items()} for row in some_rows
        ]
        asked.append({"card": card, "rows": cells, "what": "explain"})
    for i, ((nb, _), answer) in enumerate(zip(fitted, ask(asked), strict=True)):
        assert isinstance(answer, list), answer
        for row, lines in zip(some_rows, answer, strict=True):
            one = {name: [cell] for name, cell in _for_model(i, row).items()}
            (known,) = nb.explain(one)
            assert_same_lines(known, lines)


def assert_same_lines(known: Any, lines: list[dict[str, Any]]) -> None:
    """What each column says is the same, in however many lines; and the scores are."""
    total = np.sum([line["evidence"] for line in lines], axis=0)
    np.testing.assert_allclose(total, known.joint, rtol=1e-9, atol=1e-9)
    expected: dict[str, Any] = {}
    for column, evidence in zip(known.column, known.log_likelihood, strict=True):
        expected[column] = expected.get(column, 0.0) + evidence
    found: dict[str, Any] = {}
    for line in lines:
        found[line["column"]] = found.get(line["column"], 0.0) + np.array(line["evidence"])
    for column, evidence in expected.items():
        other = found.pop(column, np.zeros(len(total)))
        np.testing.assert_allclose(other, evidence, rtol=1e-9, atol=1e-9, err_msg=column)
    assert not any(np.any(of) for of in found.values()), found


def _for_model(i: int, row: Row) -> Row:
    return {**row, "size": row["size"] and abs(row["size"])} if i == 4 else row


ANY = st.characters(exclude_categories=["Cs"])

SPLITS = [
    Text(),
    Text(lowercase=False, ngram_range=(1, 3)),
    Text(ngram_range=(2, 2), stop_words=["the", "a_b"]),
    Text("char", (1, 4)),
    Text("char_wb", (2, 5)),
    Text("char_wb", (4, 5)),
    Text(max_characters=10),
    Text("char", (1, 2), max_characters=7),
]


@pytest.mark.slow
@pytest.mark.parametrize("text", SPLITS, ids=str)
@given(texts=st.lists(st.text(ANY, max_size=30) | rich_text, max_size=20))
@settings(max_examples=3)
def test_tokens_are_those_of_python(text: Text, texts: list[str]) -> None:
    every = [*TEXTS, *texts]
    split = {name: of for name, of in text.splitting.items() if name != "features"}
    (found,) = ask([{"split": split, "unicode": table_text(), "texts": every}])
    for one, tokens in zip(every, found, strict=True):
        assert tokens == text.tokens(one), repr(one)


def test_lists_of_words_are_taken_as_they_are() -> None:
    nb = NaiveBayes(Text(ngram_range=(1, 2))).fit({"t": [["A", "b"], ["c d"]]}, [0, 1])
    card = nb.export.scorecard()
    rows = [{"t": ["A", "b"]}, {"t": ["c d", "c d"]}, {"t": []}]
    (found,) = ask([question(card, rows)])
    known = nb.predict_joint_log_proba({"t": [row["t"] for row in rows]})
    np.testing.assert_allclose(found, known, rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "a.b", 'quo"te', "👩‍🔬", "", "hasOwnProperty"]
)
def test_columns_and_levels_have_any_names(name: str) -> None:
    levels = ["__proto__", "toString", "</script>", "x"]
    nb = NaiveBayes("categorical").fit({name: levels * 5, "z": [1] * 20}, [0, 1, 1, 0] * 5)
    cells = [*levels, "never", None]
    known = nb.predict_joint_log_proba({name: cells, "z": [1] * 6})
    # A JSON text has "__proto__" as a key of its own.
    card = json.loads(nb.export.scorecard().to_json())
    (found,) = ask(
        [{"card": card, "rows": [{name: cell, "z": 1} for cell in cells], "what": "scores"}]
    )
    np.testing.assert_allclose(found, known, rtol=1e-12)


@pytest.mark.parametrize(
    ("times", "same"),
    [
        ("2026-11-21", dt.datetime(2026, 11, 21)),  # noqa: DTZ001
        ("2026/11/21 10:30", dt.datetime(2026, 11, 21, 10, 30)),  # noqa: DTZ001
        ("2026-11-21T10:30:05Z", dt.datetime(2026, 11, 21, 10, 30, 5)),  # noqa: DTZ001
        ("2026-11-21T10:30:05.25+02:00", dt.datetime(2026, 11, 21, 8, 30, 5, 250000)),  # noqa: DTZ001
        ("1969-12-31T23:59:59", dt.datetime(1969, 12, 31, 23, 59, 59)),  # noqa: DTZ001
        *((f"1969-12-{day}", dt.datetime(1969, 12, day)) for day in range(22, 29)),  # noqa: DTZ001
    ],
)
def test_times_are_read_as_in_python(times: str, same: dt.datetime) -> None:
    rng = np.random.default_rng(0)
    day = np.datetime64("1965-01-01T00:00", "us")
    when = (day + rng.integers(0, 70 * 366 * 24 * 3600, 900) * np.timedelta64(1, "s")).tolist()
    y = [int(t.hour > 12) + 2 * int(t.month > 6) + 4 * int(t.weekday() in {0, 3}) for t in when]
    nb = NaiveBayes().fit({"when": when}, y)
    (found,) = ask([question(nb.export.scorecard(), [{"when": times}])])
    known = nb.predict_joint_log_proba({"when": [same]})
    np.testing.assert_allclose(found, known, rtol=1e-12)


NO_TIMES = ["2026-02-31", "2026-02-29T10:00", "2026-02-28T24:00", "now", "12:30"]


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time_in_python_is_none(text: str) -> None:
    hours = np.datetime64("2026-01-01T00", "h") + np.arange(240)
    nb = NaiveBayes().fit({"when": hours.astype("datetime64[s]")}, np.arange(240) % 24 < 12)
    with pytest.raises(ValueError, match="held times in training"):
        nb.predict({"when": [text]})
    (found,) = ask([question(nb.export.scorecard(), [{"when": text}])])
    assert "when" in found["error"]


def test_labels_that_javascript_would_round_are_refused() -> None:
    nb = NaiveBayes(weights=None).fit([[1.0], [2.0]], [2**53 + 1, 2**53 + 3])
    assert json.loads(nb.export.scorecard().to_json())["classes"] == [2**53 + 1, 2**53 + 3]
    with pytest.raises(ValueError, match=r"round the class 9007199254740993, .* strings"):
        nb.export.scorecard().to_script()


def card_of(*terms: dict[str, Any]) -> dict[str, Any]:
    """A scorecard of one class that is made up."""
    said = {"naively": "scorecard", "version": 1, "classes": ["a"], "log_prior": [0.0]}
    return {**said, "start": [0.0], "columns": [], "terms": list(terms)}


def test_times_have_microseconds() -> None:
    line = {"term": "line", "column": "t", "kind": "time", "low": -1e140, "high": 1e140}
    card = card_of({**line, "centre": 0.0, "slope": [1.0]})
    rows = [{"t": "2026-11-21T10:30:05.123456"}, {"t": "1969-12-31T23:59:59.9"}]
    (found,) = ask([{"card": card, "rows": rows, "what": "scores"}])
    assert found == [[np.datetime64(row["t"], "us").astype(np.int64) / 1e6] for row in rows]


def test_a_long_text_is_long_in_characters() -> None:
    split = {"analyzer": "char", "ngram_range": [1, 1], "lowercase": False, "stop_words": []}
    split |= {"max_characters": 3}
    term = {"term": "tokens", "column": "t", "kind": "text", "split": split, "binary": False}
    term |= {"length_power": 0.0, "tokens": ["a"], "points": [[1.0]], "there": [0.5]}
    texts = ["aaa", "aaaa", "a\U0001d49c\U0001d4d1", "a\U0001d49caa", ["a", "a", "a"]]
    rows = [{"t": text} for text in texts]
    card = card_of(term) | {"unicode": table_text()}
    (found,) = ask([{"card": card, "rows": rows, "what": "scores"}])
    assert found == [[3.5], [3.5], [1.5], [2.5], [2.5]]


def test_a_cell_that_is_not_there_is_missing_whatever_its_name() -> None:
    names = ["constructor", "__proto__", "x"]
    terms = [
        {"term": "presence", "column": name, "kind": "number", "there": [1.0], "missing": [0.25]}
        for name in names
    ]
    (found,) = ask([{"card": card_of(*terms), "rows": [{}, {"x": 1}], "what": "scores"}])
    assert found == [[0.75], [1.5]]


OTHER_ROWS = [{"A": 1, "b": None}, [], "a", None]
ASKED = ["scores", "posterior", "predict", "explain"]


def test_what_it_cannot_score_is_said_in_a_sentence() -> None:
    card = read(NaiveBayes().fit({"a": [1.0, 2.0, 3.0]}, [0, 1, 1]).model_)
    answers = ask(
        [
            {"card": {**card, "version": 2}, "rows": [], "what": "scores"},
            {"card": {}, "rows": [], "what": "scores"},
            {"card": card, "rows": [{"a": "three"}], "what": "scores"},
            *({"card": card, "rows": [row], "what": what} for row in OTHER_ROWS for what in ASKED),
        ]
    )
    assert [answer["error"] for answer in answers] == [
        "The scorecard has version 2, and this scorer reads version 1.",
        "This is no scorecard of naively.",
        'Column "a" holds numbers; got "three".',
        *['The row has no column of the model, but "A", "b"; the columns are "a".'] * len(ASKED),
        *['The row has no column of the model, but no keys; the columns are "a".'] * len(ASKED),
        *["A row is an object of cells by column."] * (2 * len(ASKED)),
    ]
    assert ask([{"card": card, "rows": [{}, {"a": 1, "b": 2}], "what": "predict"}]) == [[1, 1]]


def test_impossible_rows_have_the_prior() -> None:
    nb = NaiveBayes("categorical", smoothing=0, weights=None)
    nb.fit({"c": ["x", "x", "y"]}, ["a", "a", "b"])
    card = nb.export.scorecard()
    found, labels = ask(
        [question(card, [{"c": "never"}], "posterior"), question(card, [{"c": "y"}], "predict")]
    )
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3]], rtol=1e-12)
    assert labels == ["b"]


SETS = [
    *("enron_spam", "newsgroups20_test", "onion_headlines"),
    *("review_polarity", "sms_spam", "webkb_test"),
]


def texts_of(folder: Path, name: str) -> list[str]:
    """The texts of a set: words of all of them differ, so that many are needed."""
    with gzip.open(folder / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in islice(lines, 500)]
    return [str(record.get("text") or record.get("body") or "") for record in records]


@pytest.mark.parametrize("name", SETS)
def test_tokens_of_real_texts_are_those_of_python(data_folder: Path, name: str) -> None:
    every = texts_of(data_folder, name)
    words, ngrams = Text(), Text("char_wb", (2, 5))
    some = {words: every, ngrams: every[::20]}
    asked = [
        {
            "split": {key: of for key, of in text.splitting.items() if key != "features"},
            "unicode": table_text(),
            "texts": of,
        }
        for text, of in some.items()
    ]
    for (text, of), answer in zip(some.items(), ask(asked), strict=True):
        for one, tokens in zip(of, answer, strict=True):
            assert tokens == text.tokens(one), one[:200]


def test_real_texts_are_scored_as_in_python(data_folder: Path) -> None:
    with gzip.open(data_folder / "text" / "sms_spam.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    texts, y = [r["text"] for r in records], [r["label"] for r in records]
    nb = NaiveBayes().fit(texts[::4], y[::4])
    card, some = nb.export.scorecard(), texts[1::20]
    rows = [{"text": text} for text in some]
    (found,) = ask([question(card, rows, "posterior")])
    np.testing.assert_allclose(found, nb.predict_proba(some), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", ["adult", "letter"])
def test_real_tables_are_scored_as_in_python(data_folder: Path, name: str) -> None:
    import pandas as pd

    (path,) = sorted((data_folder / "tables").glob(f"{name}.csv*"))[:1]
    frame = pd.read_csv(path)
    target = frame.columns[-1]
    nb = NaiveBayes().fit(frame.iloc[::3], target)
    some = frame.iloc[1::150].drop(columns=target)
    rows = [
        {key: plain(cell) for key, cell in row.items()} for row in some.to_dict(orient="records")
    ]
    (found,) = ask([question(nb.export.scorecard(), rows, "posterior")])
    np.testing.assert_allclose(found, nb.predict_proba(some), rtol=1e-8, atol=1e-12)
