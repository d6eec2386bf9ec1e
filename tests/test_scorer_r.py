"""The scorer in R says what the model says: probabilities, classes, tokens, and what is wrong."""

from __future__ import annotations

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
from tests.r import ask, question
from tests.test_scorecard import COLUMNS, models, rows_of, table, timed
from tests.test_scorer_js import SPLITS, TEXTS, plain
from tests.words import rich_text


def floats(answer: Any) -> np.ndarray:
    assert isinstance(answer, list), answer
    return np.array([[float(x) for x in row] for row in answer])


def cells_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    names = list(columns)
    return [
        dict(zip(names, map(plain, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]


def test_mixed_tables_are_scored_as_in_python() -> None:
    columns, _ = table(30, 9)
    columns["colour"][:3] = ["never seen", None, "red"]
    drawn: list[dict[str, Any]] = []

    @settings(max_examples=20, phases=[Phase.generate], database=None)
    @given(row=st.fixed_dictionaries(COLUMNS))
    def collect(row: dict[str, Any]) -> None:
        drawn.append(row)

    collect()
    for name, cells in columns.items():
        cells += [row[name] for row in drawn]
    columns["size"] = [None if x is None else abs(x) for x in columns["size"]]
    columns["note"] = [x and x.replace("\0", " ") for x in columns["note"]]  # which R has not
    made = models()
    asked = [
        question(nb.export.scorecard(), cells_of(columns), what)
        for nb in made
        for what in ("prob", "class")
    ]
    answers = ask(asked)
    for i, nb in enumerate(made):
        known = nb.predict_proba(columns)
        np.testing.assert_allclose(floats(answers[2 * i]), known, rtol=1e-9, atol=1e-9)
        sure = np.abs(known[:, 0] - 0.5) > 1e-6
        assert (np.array(answers[2 * i + 1])[sure] == nb.predict(columns)[sure]).all()


def test_rules_of_every_kind_and_times_that_are_levels() -> None:
    new, rows = ruled.rows()
    made = list(map(ruled.model, ruled.MODELS))
    cells = [{name: plain(cell) for name, cell in row.items()} for row in rows]
    asked = [question(nb.export.scorecard(), cells) for nb in made]
    nb, timed_rows = timed()
    asked.append(
        question(nb.export.scorecard(), [{n: plain(x) for n, x in r.items()} for r in timed_rows])
    )
    *answers, last = ask(asked)
    for one, found in zip(made, answers, strict=True):
        np.testing.assert_allclose(floats(found), one.predict_proba(new), rtol=1e-9, atol=1e-9)
    columns = {name: [row[name] for row in timed_rows] for name in timed_rows[0]}
    np.testing.assert_allclose(floats(last), nb.predict_proba(columns), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_all_event_models_are_scored_as_in_python() -> None:
    asked: list[tuple[str, Any, Any, Any]] = []

    @settings(max_examples=2, phases=[Phase.generate], database=None)
    @given(data=st.data())
    def collect(case: Case, data: Any) -> None:
        sample, other = data.draw(samples(case, least=2)), data.draw(samples(case, least=1))
        try:
            card = Scorecard.of(sample.model)
        except ValueError:
            return
        if not set(sample.columns) <= set(other.columns):
            return
        of = type(other)(case, {name: other.columns[name] for name in sample.columns}, other.y)
        named = {"text": of.columns["c0"]} if case.text else of.columns
        cells = [{name: plain(cell) for name, cell in row.items()} for row in rows_of(named)]
        every = [cell for row in cells for cell in row.values()]
        if any(isinstance(x, str) and "\0" in x for x in every):
            return  # R has no such strings
        if any(isinstance(x, float) and np.isinf(x) for x in every):
            return  # JSON has no such numbers
        model = sample.model
        joint = np.abs(model.joint_log_likelihood(of.rows))
        size = np.where(np.isfinite(joint), joint, 0).max(axis=1, keepdims=True, initial=0)
        near = 1e-9 + 16 * np.finfo(float).eps * size  # R adds with more digits
        asked.append((repr(case), question(card, cells), model.posterior(of.rows), near))

    for case in CASES:
        collect(case)
    assert len(asked) > 50
    answers = ask([one for _, one, *_ in asked])
    for (name, _, known, near), found in zip(asked, answers, strict=True):
        assert isinstance(found, list), (name, found)
        apart = np.abs(floats(found) - known)
        assert (apart <= near + 1e-8 * known).all(), (name, found, known)


@pytest.mark.slow
def test_tokens_are_those_of_python() -> None:
    every = [text for text in TEXTS if "\0" not in text]

    @settings(max_examples=40, phases=[Phase.generate], database=None)
    @given(text=rich_text)
    def collect(text: str) -> None:
        if "\0" not in text:
            every.append(text)

    collect()
    asked = [
        {
            "split": {name: of for name, of in text.splitting.items() if name != "features"},
            "unicode": table_text(),
            "texts": every,
        }
        for text in SPLITS
    ]
    for text, found in zip(SPLITS, ask(asked), strict=True):
        assert isinstance(found, list), found
        for one, tokens in zip(every, found, strict=True):
            assert sorted(tokens) == sorted(text.tokens(one)), repr(one)


def test_lists_of_words_are_taken_as_they_are() -> None:
    nb = NaiveBayes(Text(ngram_range=(1, 2))).fit({"t": [["A", "b"], ["c d"]]}, [0, 1])
    rows = [{"t": ["A", "b"]}, {"t": ["c d", "c d"]}, {"t": ["b"]}]
    (found,) = ask([question(nb.export.scorecard(), rows)])
    known = nb.predict_proba({"t": [row["t"] for row in rows]})
    np.testing.assert_allclose(floats(found), known, rtol=1e-9)


def test_impossible_rows_have_the_prior() -> None:
    nb = NaiveBayes("categorical", smoothing=0, weights=None)
    nb.fit({"c": ["x", "x", "y"]}, ["a", "a", "b"])
    (found,) = ask([question(nb.export.scorecard(), [{"c": "never"}, {"c": "y"}])])
    np.testing.assert_allclose(floats(found), [[2 / 3, 1 / 3], [0, 1]], rtol=1e-12)


def test_what_it_cannot_score_is_said_in_a_sentence() -> None:
    times = {"when": np.array(["2026-01-01", "2026-01-02"], "M8[us]").astype(object)}
    asked = question(Scorecard.of(NaiveBayes().fit(times, [0, 1]).model_), [{"when": "now"}])
    other = {**asked, "card": {**asked["card"], "version": 2}}
    assert [answer["error"] for answer in ask([asked, other, {**asked, "card": {}}])] == [
        'Column "when" holds times; got "now".',
        "The scorecard has version 2, and this file reads version 1.",
        "This is no scorecard of naively.",
    ]
