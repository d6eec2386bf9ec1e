"""Words in place of values: NA, ?, "Unrated" and nothing in a column of numbers or times.

The oracle of what they say is a column of the words themselves, where a value is missing.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import Categorical, Histogram, Model, NaiveBayes
from naively.counting.axis import LEVEL
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.fitting.leave_one_out import left_out
from naively.model.counted import Counted
from naively.schema.choose import read_as_given
from naively.schema.encode import Held
from naively.schema.schema import Missing, MissingAs
from naively.schema.settings import Settings
from tests.products import assert_same_tally

rng = np.random.default_rng(3)
N = 240
Y = rng.choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2])
IN_PLACE = ["", "NA", "?", "Unrated"]
SHARES = {"a": [0.3, 0.1, 0.3, 0.3], "b": [0.1, 0.4, 0.1, 0.4], "c": [0.25] * 4}
HOLDS = {"presence": "auto"}


def numbers(n: int = N, y: np.ndarray = Y) -> list[str]:
    """Numbers of which a third are words, of each class in other shares."""
    cells = [f"{x:.2f}" for x in rng.normal(size=n)]
    for i in np.flatnonzero(rng.random(n) < 0.33).tolist():
        cells[i] = str(rng.choice(IN_PLACE, p=SHARES[y[i]]))
    return cells


X = {
    "x": numbers(),
    "day": [f"2024-0{1 + i % 9}-{10 + i % 17}" if i % 5 else IN_PLACE[i % 3] for i in range(N)],
    "z": rng.normal(size=N).tolist(),
}
NEW = {"x": ["1", *IN_PLACE, "never seen"], "day": ["2024-03-01"] * 6, "z": [0.0] * 6}


def take(rows: Any) -> dict[str, list[Any]]:
    return {name: np.array(column, object)[rows].tolist() for name, column in X.items()}


def counted(nb: NaiveBayes) -> dict[str, dict[str, list[float]]]:
    """What each word says that stands in place of a value: how often it came, by class."""
    found = {}
    taken = nb.model_.view
    for group in taken.schema.groups:
        if group.kind == "missing as":
            block = taken.tally.blocks[group.key]
            for row in range(len(block.axis)):
                column, word = block.axis.label(row)
                found.setdefault(column.of, {})[word] = block[LEVEL].high[row].tolist()
    return found


def predicted(nb: NaiveBayes) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nb.predict_proba(NEW)


def test_each_word_and_nothing_are_counted() -> None:
    nb = NaiveBayes().fit(X, Y)
    expected = {
        word: [
            float(sum(cell == word and label == of for cell, label in zip(X["x"], Y, strict=True)))
            for of in "abc"
        ]
        for word in IN_PLACE
    }
    assert counted(nb)["x"] == expected
    assert counted(nb)["day"].keys() == {"", "NA", "?"}


def test_the_evidence_is_that_of_a_column_of_the_words() -> None:
    nb = NaiveBayes().fit(X, Y)
    words = [cell if cell in IN_PLACE else None for cell in X["x"]]
    named = [None if word is None else word or "nothing" for word in words]
    other = NaiveBayes({"word": Categorical(m=2.0)}, weights=None).fit({"word": named}, Y)
    taken = nb.model_.view
    (group,) = (of for of in taken.schema.groups if of.kind == "missing as")
    column = next(name for name in group.columns if name.of == "x")
    at = taken.terms[group.key].at
    ours = at(np.arange(4), np.full(4, list(group.columns).index(column)))
    theirs = other.predict_log_proba({"word": [word or "nothing" for word in column.words]})
    assert ours - ours[:, :1] + other.class_log_prior_ - other.class_log_prior_[0] == pytest.approx(
        theirs - theirs[:, :1]
    )


def test_one_word_alone_says_no_more_than_that_the_value_is_missing() -> None:
    for word in ("NA", "Unrated", ""):
        cells = [word if i % 3 else f"{i}.5" for i in range(120)]
        nb = NaiveBayes().fit({"x": cells}, ["a", "b", "a", "b"] * 30)
        assert Missing("x") in nb.model_.view.schema.derived
        assert not counted(nb)


def test_words_are_not_counted_where_missing_cells_are_no_evidence() -> None:
    nb = NaiveBayes(presence="ignore").fit(X, Y)
    assert all(group.kind != "word" for group in nb.model_.counted.schema.groups)
    assert not any(isinstance(name, MissingAs) for name in nb.model_.view.schema.derived)


@given(st.lists(st.integers(0, 3), min_size=N, max_size=N))
def test_batches_merged_in_any_order_are_all_rows_at_once(part: list[int]) -> None:
    parts = [np.flatnonzero(np.array(part) == i) for i in range(4)]
    parts = [rows for rows in parts if len(rows)]
    contents = {"x": "number", "day": "time"}  # few rows may hold words only
    whole = NaiveBayes(contents, weights=None).fit(X, Y)
    models = [NaiveBayes(contents, weights=None).fit(take(rows), Y[rows]) for rows in parts]
    merged = models[-1]
    for model in models[-2::-1]:
        merged = merged.merge(model)
    assert counted(merged) == counted(whole)
    assert_same_tally(merged.model_.view.tally, whole.model_.view.tally)


def test_rows_that_come_later_may_have_words_of_their_own() -> None:
    plain = np.array([cell not in IN_PLACE for cell in X["x"]])
    order = np.argsort(~plain, kind="stable")
    first, rest = order[:100], order[100:]
    nb = NaiveBayes(**HOLDS).fit(take(first), Y[first])
    assert not counted(nb).get("x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these words are new
        nb.partial_fit(take(rest), Y[rest])
    whole = NaiveBayes(**HOLDS).fit(X, Y)
    assert counted(nb) == counted(whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nb.predict({"x": ["Unrated"], "day": ["NA"], "z": [0.0]})  # it is known now


def test_what_is_forgotten_was_never_there() -> None:
    rows = np.arange(N)
    nb = NaiveBayes(weights=None, presence="auto").fit(X, Y).forget(take(rows < 100), Y[:100])
    only = NaiveBayes(weights=None, presence="auto").fit(take(rows >= 100), Y[100:])
    assert counted(nb) == counted(only)


def test_weight_2_is_the_row_twice() -> None:
    twice = np.tile(np.arange(N), 2)
    nb = NaiveBayes().fit(X, Y, sample_weight=np.full(N, 2.0))
    assert counted(nb) == counted(NaiveBayes().fit(take(twice), Y[twice], groups="copies"))


@pytest.mark.parametrize("words", [64, 65])
def test_more_than_64_words_are_one(words: int) -> None:
    cells = [f"{i}.5" for i in range(1000)] + [f"word {i}" for i in range(words)]
    y = rng.choice(["a", "b"], 1000 + words)
    whole = NaiveBayes().fit({"x": cells}, y)
    halves = [NaiveBayes().fit({"x": cells[i::2]}, y[i::2]) for i in range(2)]
    merged = halves[0].merge(halves[1])
    for nb in (whole, merged):
        assert len(counted(nb).get("x", ())) == (words if words == 64 else 0)
        assert (nb.schema_.readings["x"].words is None) == (words > 64)


def test_leaving_out_is_brute_force() -> None:
    settings = Settings(presence="auto")
    some = np.arange(60)
    columns, labels = take(some), Y[some]
    schema = NaiveBayes().fit(columns, labels).model_.counted.schema
    rows = read_as_given(as_rows(columns), schema=schema)
    batch = schema.encode(rows, encode_labels(labels))
    model = Model.of(Counted.of(batch, schema, settings))
    found = left_out(model, [model.encode(rows, encode_labels(labels))])
    place = next(i for i, part in enumerate(found.parts) if isinstance(part.column, MissingAs))
    part = found.parts[place]
    for row in range(60):
        alone = batch.take(np.array([row]))
        rest = model - Model.of(Counted.of(alone, schema, settings))
        group = next(g for g in rest.view.schema.groups if g.kind == "missing as")
        names = {name.of: j for j, name in enumerate(group.columns)}
        if part.column.of not in names or group.columns[names[part.column.of]] != part.column:
            continue  # without the row one of the words is not known
        code = part.column.codes(Held(alone))[0]
        unit = np.array([names[part.column.of]])
        table = rest.view.terms[group.key].at(np.array([code]), unit)[0]
        expected = table - table.mean() if code >= 0 else np.zeros(3)
        assert found.table[place, row] == pytest.approx(expected, abs=1e-9)


def test_contributions_sum_to_the_log_odds() -> None:
    nb = NaiveBayes().fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explained = nb.explain(NEW)
    joint = np.log(predicted(nb))
    for row, of in enumerate(explained):
        c = of.best
        rival = of.rival(c)
        assert of.weights(c).sum() == pytest.approx(joint[row, c] - joint[row, rival])
    lines = [f"{column} = {value}" for column, value, _ in explained[4].top(explained[4].best)]
    assert "x = Unrated" in lines
    assert not any("missing" in line for line in lines)


def test_a_word_that_was_never_seen_is_a_missing_cell_and_no_word() -> None:
    nb = NaiveBayes().fit(X, Y)
    with pytest.warns(UserWarning, match="'never seen' in row 0 counts as missing"):
        unknown = nb.explain({"x": ["never seen"], "day": ["2024-03-01"], "z": [0.0]})[0]
    empty = nb.explain({"x": [""], "day": ["2024-03-01"], "z": [0.0]})[0]
    said = {(column, value): weight for column, value, weight in unknown.top(unknown.best)}
    assert ("x", "never seen") in said
    assert {"x is missing"} <= {column for column, _, _ in empty.top(empty.best)}


def test_a_model_file_keeps_them(tmp_path: Path) -> None:
    nb = NaiveBayes().fit(X, Y)
    nb.save(tmp_path / "m.naively")
    again = naively.load(tmp_path / "m.naively")
    assert counted(again) == counted(nb)
    assert np.array_equal(predicted(again), predicted(nb))


def test_noise_hides_them(tmp_path: Path) -> None:
    nb = NaiveBayes({"x": Histogram(), "day": Histogram(), "z": Histogram()}).fit(X, Y)
    noisy = nb.export.with_noise(1.0, delta=1e-6)
    noisy.save(tmp_path / "m.naively")
    content = (tmp_path / "m.naively").read_bytes()
    assert b"Unrated" not in content


def test_a_file_is_read_to_the_same(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    lines = ["x,day,z,y"]
    lines += [",".join(map(str, row)) for row in zip(*X.values(), Y, strict=True)]
    file.write_text("\n".join(lines) + "\n")
    from naively.wings import files

    with files.opened(file, rows=50) as stream:
        nb = NaiveBayes().fit(stream, "y")
    assert counted(nb) == counted(NaiveBayes().fit(X, Y))


def test_the_schema_says_them() -> None:
    assert "missing cells are evidence, each: empty, '?', 'NA' and 'Unrated'" in str(
        NaiveBayes().fit(X, Y).schema_
    )


def test_words_stay_where_truths_become_numbers() -> None:
    cells = ["0", "1", "NA", "?"] * 20 + ["2.5", "7", "NA", "?"] * 20
    y = rng.choice(["a", "b"], 160)
    whole = NaiveBayes({"x": "number"}).fit({"x": cells}, y)
    for order in ((0, 80), (80, 0)):
        first, second = (
            NaiveBayes({"x": "number"}).fit({"x": cells[i : i + 80]}, y[i : i + 80]) for i in order
        )
        assert counted(first.merge(second)) == counted(whole) != {}


def test_words_stay_where_a_constant_is_taken_for_a_number() -> None:
    y = rng.choice(["a", "b"], 120)
    nb = NaiveBayes({"x": "number"}).fit({"x": ["0", "NA", "?"] * 40}, y)
    assert counted(nb)["x"].keys() == {"NA", "?"}


@given(st.data())
def test_rows_with_words_alone_are_merged_with_numbers(data: st.DataObject) -> None:
    """In any order of parts, of which some hold words only, what was counted is the same."""
    some = data.draw(st.permutations(range(N)))
    ends = sorted({0, N, *data.draw(st.lists(st.integers(1, N - 1), max_size=3))})
    words = [i for i in some if X["x"][i] in IN_PLACE and X["day"][i] in IN_PLACE]
    order = words + [i for i in some if i not in set(words)]
    cuts = sorted({0, len(words), *ends}) if words else ends
    parts = [np.array(order[i:j]) for i, j in pairwise(cuts)]
    whole = NaiveBayes().fit(X, Y)
    models = [NaiveBayes().fit(take(rows), Y[rows]) for rows in parts]
    more = NaiveBayes()
    for rows in parts:
        more.partial_fit(take(rows), Y[rows], classes=["a", "b", "c"])
    merged = models[0]
    for model in models[1:]:
        merged.merge(model)
    for nb in (merged, more):
        assert nb.schema_.kinds == whole.schema_.kinds
        assert counted(nb) == counted(whole)
        assert_same_tally(nb.model_.counted.tally, whole.model_.counted.tally)
