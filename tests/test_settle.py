"""What a column is does not depend on how its rows came: at once, in batches, merged, forgotten.

All is held against one ``fit`` of the whole.
"""

from __future__ import annotations

import datetime as dt
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import Bernoulli, NaiveBayes, Text, load
from naively.schema.settle import MANY
from tests.commands import run

WORDS = ["the", "old", "grey", "cat", "sat", "on", "a", "warm", "mat", "and", "saw", "birds"]
SENTENCES = [" ".join(np.random.default_rng(i).choice(WORDS, 6)) for i in range(40)]
FEW = ["no remarks at all", "all is in order"]  # four words each: texts, unless they repeat
COLUMNS = {  # what cells a column may hold, in one batch or another
    "flag": [0.0, 1.0, None],
    "count": [0.0, 1.0, 2.0, 7.5],
    "colour": ["red", "green", "blue", None],
    "note": [*SENTENCES, *FEW, None],
    "when": [np.datetime64("2024-01-01T03") + np.timedelta64(29 * i, "h") for i in range(30)],
}


class Columns(NaiveBayes):
    """Without weights: they are fitted to rows, and not counted."""

    def __init__(self, weights: Any = None, **settings: Any) -> None:
        super().__init__(weights=weights, **settings)


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[dict[str, list[Any]], list[str]]]:
    """Draw batches of a table, each of which may show another side of its columns."""
    found = []
    for _ in range(draw(st.integers(2, 4))):
        n = draw(st.integers(1, 8))
        table = {}
        for name, cells in COLUMNS.items():
            some = draw(st.lists(st.sampled_from(cells), min_size=1, max_size=4))
            table[name] = draw(st.lists(st.sampled_from(some), min_size=n, max_size=n))
        found.append((table, draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))))
    return found


def joined(
    tables: list[tuple[dict[str, list[Any]], list[str]]],
) -> tuple[dict[str, Any], list[str]]:
    """Return the rows of all tables as one."""
    whole = {name: [cell for table, _ in tables for cell in table[name]] for name in COLUMNS}
    return whole, [label for _, y in tables for label in y]


def chosen(nb: NaiveBayes) -> dict[Any, set[str]]:
    """Return what each column is taken for."""
    of = nb.model_.view.schema.groups_of
    return {
        name: {f"{group.event.name} {group.analyser or group.kind}" for group in groups}
        for name, groups in of.items()
    }


def check_same(a: NaiveBayes, b: NaiveBayes, table: Any) -> None:
    """Check that two models take columns for the same, and say the same of rows."""
    assert chosen(a).items() >= chosen(b).items()  # some may have been forgotten whole
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.predict_proba(table), b.predict_proba(table), atol=1e-12)
    np.testing.assert_allclose(a.score_samples(table), b.score_samples(table), rtol=1e-9)


@given(batches())
def test_batches_are_the_whole(tables: list[Any]) -> None:
    table, y = joined(tables)
    whole, parts = Columns().fit(table, y), Columns()
    for batch in tables:
        parts.partial_fit(*batch)
    check_same(parts, whole, table)


@given(batches())
def test_merged_models_are_the_whole(tables: list[Any]) -> None:
    table, y = joined(tables)
    merged = Columns().fit(*tables[0])
    for batch in tables[1:]:
        merged.merge(Columns().fit(*batch))
    check_same(merged, Columns().fit(table, y), table)


@given(batches())
def test_forgotten_was_never_seen(tables: list[Any]) -> None:
    kept, y = joined(tables[:1])
    nb = Columns().fit(*joined(tables))
    for batch in tables[1:]:
        nb.forget(*batch)
    check_same(nb, Columns().fit(kept, y), kept)


@given(batches())
def test_a_row_of_weight_two_is_the_row_twice(tables: list[Any]) -> None:
    table, y = joined(tables)
    twice = joined([*tables, *tables])
    check_same(Columns().fit(table, y, np.full(len(y), 2.0)), Columns().fit(*twice), table)


@given(batches())
def test_a_saved_model_learns_on_as_the_whole(tmp_path_factory: Any, tables: list[Any]) -> None:
    path = tmp_path_factory.mktemp("models") / "m.naively"
    Columns().fit(*tables[0]).save(path)
    nb = load(path)
    for batch in tables[1:]:
        nb.partial_fit(*batch)
    table, y = joined(tables)
    check_same(nb, Columns().fit(table, y), table)


@given(batches())
def test_weights_of_batches_are_those_of_the_whole(tables: list[Any]) -> None:
    table, y = joined(tables)
    whole, parts = NaiveBayes().fit(table, y), NaiveBayes()
    for batch in tables:
        parts.partial_fit(*batch)
    assert chosen(parts.calibrate()) == chosen(whole)
    np.testing.assert_allclose(parts.predict_proba(table), whole.predict_proba(table), atol=1e-3)


def test_numbers_are_truths_only_while_they_are_0_and_1() -> None:
    x, y = np.array([[0.0], [1.0], [1.0], [1.0], [2.0], [5.0]]), list("ababab")
    nb = Columns().partial_fit(x[:1], y[:1])
    assert chosen(nb) == {0: {"histogram number"}}  # always 0 so far
    assert chosen(nb.partial_fit(x[1:4], y[1:4])) == {0: {"bernoulli number"}}
    assert chosen(nb.partial_fit(x[4:], y[4:])) == {0: {"histogram number"}}
    check_same(nb, Columns().fit(x, y), x)
    assert chosen(nb.forget(x[4:], y[4:])) == {0: {"bernoulli number"}}
    check_same(nb, Columns().fit(x[:4], y[:4]), x)


def test_truths_become_cells_and_levels_texts_without_rounding() -> None:
    """Weights of a tenth: what rounding leaves of their sums moves along."""
    texts, y = [*SENTENCES[:3] * 3, "one text more"], list("abbababbab")
    x, w = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 2.0], np.full(10, 0.1)
    parts = Columns().partial_fit({"x": x[:9], "t": texts[:9]}, y[:9], sample_weight=w[:9])
    parts.partial_fit({"x": x[9:], "t": texts[9:]}, y[9:], sample_weight=w[9:])
    given = Columns(event_models={"x": "histogram", "t": "text"})
    given.fit({"x": x, "t": texts}, y, sample_weight=w)
    rest = parts.tally_ - given.tally_
    assert parts.tally_.blocks.keys() == given.tally_.blocks.keys()
    assert not len(rest.classes), rest


def test_a_given_event_model_stays() -> None:
    x, y = np.array([[0.0], [1.0]]), ["a", "b"]
    nb = NaiveBayes("bernoulli", weights=None).fit(x, y).partial_fit([[3.0]], ["a"])
    assert isinstance(nb.schema_.groups[0].event, Bernoulli)
    both = Columns().fit({"x": [0.0, 1.0]}, y)
    both.merge(NaiveBayes({"x": "bernoulli"}, weights=None, smoothing="auto").fit({"x": [1, 0]}, y))
    assert chosen(both.partial_fit({"x": [4.0]}, ["a"])) == {"x": {"bernoulli number"}}


def many_texts(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [f"{' '.join(rng.choice(WORDS, 5))} number {i}" for i in range(n)]


@pytest.mark.parametrize("text_first", [True, False])
def test_notes_that_begin_alike_are_texts_all_the_same(text_first: bool) -> None:
    alike, texts = ["nothing to report here"] * (3 * MANY), many_texts(MANY + 1)
    notes = texts + alike if text_first else alike + texts
    y = ["x" if "cat" in note else "y" for note in notes]
    parts, whole = Columns(), Columns().fit({"note": notes, "n": range(len(y))}, y)
    for start in range(0, len(y), 500):
        some = slice(start, start + 500)
        parts.partial_fit({"note": notes[some], "n": range(*some.indices(len(y)))}, y[some])
    assert whole.model_.view.schema.kinds["note"] == "text"
    check_same(parts, whole, {"note": notes[:200], "n": range(200)})


def test_categories_of_many_words_are_no_texts() -> None:
    answers = ["I do not agree at all", "I agree with all of it", "I cannot say at present"]
    y = ["a", "b", "a"]
    nb = Columns().partial_fit({"answer": answers}, y)
    assert nb.model_.view.schema.kinds == {"answer": "text"}  # three of three differ
    for _ in range(4):
        nb.partial_fit({"answer": answers}, y)
    assert nb.model_.view.schema.kinds == {"answer": "string"}
    check_same(nb, Columns().fit({"answer": answers * 5}, y * 5), {"answer": [*answers, "?"]})


def test_a_time_sorted_log_has_its_weekdays() -> None:
    times = np.datetime64("2024-01-01T00") + np.arange(24 * 7 * 6)  # hours; it was a Monday
    y = ["closed" if day >= 5 else "open" for day in np.arange(len(times)) // 24 % 7]
    parts, merged = NaiveBayes(), NaiveBayes().fit({"at": times[:30]}, y[:30])
    for start in range(0, len(y), 30):  # no batch has two weekdays twice
        some = slice(start, start + 30)
        parts.partial_fit({"at": times[some]}, y[some])
        if start:
            merged.merge(NaiveBayes().fit({"at": times[some]}, y[some]))
    for nb in (parts, merged):
        assert "at (weekday)" in map(str, nb.schema_.columns)
        assert nb.score({"at": times}, y) == 1.0


def test_runs_of_characters_are_counted_of_the_first_characters() -> None:
    short, long = "a short text of few words", "word " * 100 + "ending"
    texts, y = {"t": [short, long, "another short text here"]}, ["a", "b", "b"]
    for table, labels in ((texts, y), ({"t": texts["t"][::-1]}, y[::-1])):
        nb = NaiveBayes().partial_fit({"t": table["t"][:1]}, labels[:1])
        nb.partial_fit({"t": table["t"][1:]}, labels[1:])
        (runs,) = (g for g in nb.model_.view.schema.groups if not g.analyser.legible)
        assert runs.analyser.max_characters == 500
        words = nb.tally_.blocks[runs.key].axis.words
        assert "sho" in words
        assert "ord " in words
        assert not {"end", "ndi"} & set(words)  # which come after the first


def test_only_the_first_characters_of_a_text_are_read() -> None:
    text = Text(analyzer="char", ngram_range=(2, 2), max_characters=4)
    assert text.rows(["abcd", "abcde", None, ["ab", "cd"]]) == ["abcd", "abcde", None, "ab cd"]
    assert [text.tokens(of) for of in ("abcd", "abcde")] == [["ab", "bc", "cd"]] * 2
    with pytest.raises(ValueError, match="max_characters must be at least 1"):
        Text(max_characters=0)


def test_a_time_that_is_none_is_said() -> None:
    nb = NaiveBayes().fit({"at": ["2024-01-01", "2024-01-02"]}, ["a", "b"])
    with pytest.warns(UserWarning, match="'at' held times in training: 'soon' in row 0 counts"):
        nb.partial_fit({"at": ["soon"]}, ["a"])


def test_training_in_batches_says_no_more_than_at_once() -> None:
    table = {"x": [0.0, 1.0, 3.0], "t": ["2024-01-01"] * 3, "s": ["u", "v", "w"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nb = Columns().partial_fit(table, ["a", "b", "a"])
        nb.partial_fit(table, ["a", "b", "a"]).forget(table, ["a", "b", "a"])


def test_a_large_file_is_read_in_batches_as_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from naively.wings import files

    opened = files.opened
    n = 2_000
    day = dt.date(2024, 1, 1)
    texts = ["as it should be"] * (n // 2) + many_texts(n // 2)
    lines = [
        f"{int(i > 900) + (i > 1500)},{texts[i]},{day + dt.timedelta(days=i // 20)},{'ab'[i % 2]}"
        for i in range(n)
    ]
    data = tmp_path / "log.csv"
    data.write_text("\n".join(["x,note,day,y", *lines, ""]))
    models = []
    for batch in (4_000, 300):
        monkeypatch.setattr(files, "opened", partial(opened, rows=batch))
        out = tmp_path / f"{batch}.naively"
        done = run("train", data, "-t", "y", "-o", out, "--weights", "none")
        assert done.returncode == 0, done.stderr
        models.append(load(out))
    table = {"x": [0, 1, 2], "note": texts[-3:], "day": ["2024-02-03"] * 3}
    check_same(*models, table)
    assert models[0].model_.view.schema.kinds == {"x": "number", "note": "text", "day": "time"}
