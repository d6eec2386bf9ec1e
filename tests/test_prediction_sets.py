"""Sets of classes: they hold what they promise, and what they follow from merges and fades."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes, load
from naively.assess.decisions import held_out_rows
from naively.model.held_out import BINS, LOWEST, WIDTH, HeldOut, sets_of
from tests.node import ask, question


def table(n: int, seed: int = 0, classes: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of classes that overlap, of which one is rare."""
    rng = np.random.default_rng(seed)
    share = np.append(np.full(classes - 1, 0.95 / (classes - 1)), 0.05)
    y = rng.choice(classes, n, p=share)
    X = pd.DataFrame({"a": rng.normal(y, 1.0), "b": rng.normal(y % 2, 1.0)})
    X["c"] = np.array([*"uvwx"])[np.where(rng.random(n) < 0.6, y, rng.integers(0, classes, n))]
    return X, np.array(["no", "perhaps", "yes", "rare"])[y + 4 - classes]


def counted(seed: int, n: int, classes: int = 3) -> tuple[HeldOut, np.ndarray, np.ndarray]:
    """Held-out rows that are drawn, with the probabilities of their right classes."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(classes, 0.7), n)
    right = np.array([rng.choice(classes, p=of) for of in p])
    held_out = HeldOut.of(p, right, np.ones(n), tuple("abc"[:classes]))
    return held_out, p[np.arange(n), right], right


# --- The threshold -------------------------------------------------------------------------------


@given(seed=st.integers(0, 999), n=st.integers(1, 300), coverage=st.floats(0.05, 0.99))
def test_the_threshold_is_the_quantile_of_conformal_prediction(
    seed: int, n: int, coverage: float
) -> None:
    """The ceil(coverage (n + 1))-th largest probability of a right class, to the width of a bin."""
    held_out, of_right, _ = counted(seed, n)
    place = math.ceil(coverage * (n + 1) - 1e-9)
    exact = 0.0 if place > n else float(np.sort(of_right)[n - place])
    found = held_out.least(coverage)
    assert (found == found[0]).all()
    if exact == 0 or math.log(exact / (1 - exact)) < LOWEST + WIDTH:
        assert found[0] == 0
    else:
        assert found[0] <= exact
        odds = [math.log(of / (1 - of)) for of in (found[0], exact)]
        assert odds[1] - odds[0] <= WIDTH + 1e-9 or odds[1] > LOWEST + WIDTH * (BINS - 1)


@given(seed=st.integers(0, 999), n=st.integers(1, 200), coverage=st.sampled_from([0.5, 0.8, 0.9]))
def test_thresholds_by_class_are_those_of_brute_force(seed: int, n: int, coverage: float) -> None:
    held_out, of_right, right = counted(seed, n)
    odds = np.log(of_right / (1 - of_right))
    bins = np.clip(np.floor((odds - LOWEST) / WIDTH), 0, BINS - 1)
    for c, found in enumerate(held_out.least(coverage, by_class=True)):
        need = coverage * ((right == c).sum() + 10 + 1)
        for b in range(BINS - 1, -1, -1):
            reached = (((right == c) + 10 / n) * (bins >= b)).sum()
            if reached >= need - 1e-9:
                break
        expected = 0.0 if b == 0 else 1 / (1 + math.exp(-(LOWEST + WIDTH * b)))
        assert found == pytest.approx(expected)


@given(seed=st.integers(0, 999), n=st.integers(2, 100))
def test_held_out_rows_add_up_whatever_the_order_of_classes(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(3, 0.7), n)
    right, weight = rng.integers(0, 3, n), rng.random(n)
    half = n // 2
    first = HeldOut.of(p[:half], right[:half], weight[:half], ("a", "b", "c"))
    turned = np.array([2, 0, 1])  # "b", "c", "a"
    other = HeldOut.of(p[half:][:, [1, 2, 0]], turned[right[half:]], weight[half:], ("b", "c", "a"))
    whole = HeldOut.of(p, right, weight, ("a", "b", "c"))
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("naively.model.held_out.ALIKE", 1.0)
        both = first + other
    np.testing.assert_array_equal(both.cell, whole.cell)
    np.testing.assert_allclose(both.rows, whole.rows)
    for by_class in (False, True):
        found, expected = both.least(0.9, by_class=by_class), whole.least(0.9, by_class=by_class)
        np.testing.assert_allclose(found, expected)


def test_the_most_probable_class_is_in_every_set() -> None:
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    expected = [[True, False, False], [False, False, True]]
    assert sets_of(p, np.array([0.9, 0.9, 0.9])).tolist() == expected
    expected = [[True, True, True], [False, False, True]]
    assert sets_of(p, np.array([0.2, 0.3, 0.2])).tolist() == expected


# --- Of models -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"weights": None}, {"interactions": "auto"}], ids=str)
def test_sets_hold_the_right_class_as_often_as_they_promise(options: dict[str, Any]) -> None:
    held, size, right = [], [], []
    for seed in range(6):
        X, y = table(300, seed)
        new, labels = table(2_000, seed + 100)
        nb = NaiveBayes(**options).fit(X, y)
        sets = nb.predict_set(new, 0.9)
        number = np.searchsorted(nb.classes_, labels)
        held.append(sets.contains[np.arange(len(new)), number].mean())
        size.append(sets.size.mean())
        right.append((nb.predict(new) == labels).mean())
    assert max(right) < 0.85
    assert 0.88 < np.mean(held) < 0.93  # of six draws of 300 rows, whose own deviation is .02
    assert np.mean(size) < 2.5


def test_by_class_a_rare_class_is_held_too() -> None:
    X, y = table(2_000)
    new, labels = table(8_000, 1)
    nb = NaiveBayes().fit(X, y)
    rare = labels == "rare"
    number = np.searchsorted(nb.classes_, labels)
    common, each = (
        nb.predict_set(new, 0.9, by_class=by).contains[np.arange(len(new)), number]
        for by in (False, True)
    )
    assert common[rare].mean() < 0.85 < each[rare].mean()
    assert each.mean() > 0.88


def test_sets_are_a_sequence_an_array_and_a_table() -> None:
    X, y = table(200)
    nb = NaiveBayes().fit(X, y)
    sets = nb.predict_set(X, 0.95)
    p = nb.predict_proba(X)
    assert len(sets) == 200
    assert np.asarray(sets).shape == (200, 3)
    for i, labels in enumerate(sets):
        assert labels == sets[i] == sets[i - 200 : i - 199 or None][0]
        assert labels[0] == nb.predict(X[i : i + 1])[0]
        of = [p[i, list(nb.classes_).index(label)] for label in labels]
        assert of == sorted(of, reverse=True)
        assert all(x >= sets.least[0] for x in of[1:])
    assert sets.to_dict()["size"] == sets.size.tolist() == [len(of) for of in sets]
    assert "of which 0.95 hold the right class" in str(sets)
    assert sets.plot().get_xlabel() == "classes in the set"


def knowing_sets(nb: NaiveBayes) -> NaiveBayes:
    """Return the model as it is in its file, with its rows."""
    content = io.BytesIO()
    nb.save(content, keep_rows=True, sets=True)
    return load(content.getvalue())


def test_the_same_sets_after_save_and_load(tmp_path: Path) -> None:
    X, y = table(300)
    nb = NaiveBayes().fit(X, y)
    sets = nb.predict_set(X, 0.9)
    nb.save(tmp_path / "before.naively")
    nb.save(tmp_path / "after.naively", sets=True)
    loaded = load(tmp_path / "after.naively")
    for by_class in (False, True):
        expected = nb.predict_set(X, 0.9, by_class=by_class).contains
        found = loaded.predict_set(X, 0.9, by_class=by_class).contains
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(loaded.predict_set(X, 0.9).contains, sets.contains)
    with pytest.raises(ValueError, match=r"call calibrate\(X, y\) with labelled rows"):
        load(tmp_path / "before.naively").predict_set(X, 0.9)
    with pytest.raises(ValueError, match="save it with sets=True"):
        load(tmp_path / "before.naively").save(tmp_path / "more.naively", sets=True)


@pytest.mark.parametrize("in_memory", [True, False])
def test_merged_models_have_the_held_out_rows_of_both(tmp_path: Path, in_memory: bool) -> None:
    X, y = table(600)
    parts = [NaiveBayes().fit(X[i::2], y[i::2]) for i in range(2)]
    for i, part in enumerate(parts):
        part.save(tmp_path / f"{i}", sets=True)
    if not in_memory:
        parts = [load(tmp_path / f"{i}") for i in range(2)]
        rows = sum(part.model_.counted.held_out.rows.sum() for part in parts)
    merged = parts[0].merge(parts[1])
    new, labels = table(4_000, 9)
    sets = merged.predict_set(new, 0.9)
    if in_memory:  # held out anew, of all rows
        whole = NaiveBayes().fit(X, y)
        np.testing.assert_array_equal(sets.contains, whole.predict_set(new, 0.9).contains)
    else:
        assert merged.model_.counted.held_out.rows.sum() == pytest.approx(rows)
    held = sets.contains[np.arange(len(new)), np.searchsorted(merged.classes_, labels)].mean()
    assert 0.87 < held < 0.96


def test_parts_of_other_classes_are_merged_with_a_warning(tmp_path: Path) -> None:
    X, y = table(600)
    for name, rows in (("a", y == "perhaps"), ("b", y != "perhaps")):
        some = rows | (np.arange(600) % 10 == 0)
        NaiveBayes().fit(X[some], y[some]).save(tmp_path / name, sets=True)
    with pytest.warns(UserWarning, match="shares of the classes, so sets of predict_set may"):
        load(tmp_path / "a").merge(load(tmp_path / "b"))


def test_what_is_forgotten_or_fades_is_counted_and_calibrate_mends_it() -> None:
    X, y = table(400)
    nb = knowing_sets(NaiveBayes().fit(X, y))
    nb.forget(X[:20], y[:20]).decay(0.98)
    assert nb.model_.counted.held_out.left == pytest.approx(0.95 * 0.98)
    nb.predict_set(X, 0.9)
    nb.decay(0.95)
    with pytest.raises(ValueError, match=r"Only 88% of the rows .* fewer than 90%: call calibrate"):
        nb.predict_set(X, 0.9)
    more, labels = table(300, 5)
    new, right = table(4_000, 6)
    sets = nb.calibrate(more, labels).predict_set(new, 0.9)
    held = sets.contains[np.arange(len(new)), np.searchsorted(nb.classes_, right)].mean()
    assert 0.86 < held < 0.95


def test_a_class_that_is_forgotten_whole_is_in_no_set() -> None:
    X, y = table(600)
    nb = knowing_sets(NaiveBayes().fit(X, y))
    rare = y == "rare"
    held_out = nb.model_.counted.held_out
    nb.forget(X[rare], y[rare])
    assert "rare" not in nb.classes_.tolist() or nb.class_count_.min() == 0
    left = nb.model_.counted.held_out
    assert left.left == pytest.approx(1 - rare.mean())
    assert left.classes == tuple(nb.classes_.tolist())
    if "rare" not in left.classes:
        assert left.rows.sum() == pytest.approx(held_out.rows.sum() - rare.sum(), rel=0.02)
    assert nb.predict_set(X[:5], 0.9).contains.shape == (5, len(nb.classes_))


def test_few_rows_of_other_classes_are_merged_without_a_warning(tmp_path: Path) -> None:
    X, _ = table(40)
    for name, rows in (("a", [0, 1, 2, 3]), ("b", [4, 5, 6, 7])):
        nb = NaiveBayes().fit(
            X.iloc[rows],
            np.array(["p", "p", "p", "q"]) if name == "a" else np.array(["q", "q", "q", "p"]),
        )
        nb.save(tmp_path / name, sets=True)
    load(tmp_path / "a").merge(load(tmp_path / "b"))


def test_a_model_that_grows_keeps_them_until_its_weights_are_fitted_again(tmp_path: Path) -> None:
    X, y = table(400)
    nb = knowing_sets(NaiveBayes().fit(X, y))
    nb.save(tmp_path / "m")
    known = nb.model_.counted.held_out
    assert nb.partial_fit(X[:5], y[:5]).model_.counted.held_out is known
    assert nb.partial_fit(X[:200], y[:200]).model_.counted.held_out is None
    assert load(tmp_path / "m").partial_fit(X[:200], y[:200]).model_.counted.held_out is not None
    nb.partial_fit(X[:3], ["new", "new", "new"])
    assert nb.predict_set(X, 0.9).contains.shape == (400, 4)


def test_a_weight_of_2_is_the_row_twice() -> None:
    X, y = table(150)
    twice = pd.concat([X, X], ignore_index=True), np.append(y, y)
    a, b = (NaiveBayes(weights=None).fit(*of) for of in ((X, y, np.full(150, 2.0)), twice))
    found, expected = (of._calibrated().counted.held_out.rows.sum() for of in (a, b))
    assert found == pytest.approx(expected)


def test_rows_of_unknown_classes_are_not_counted() -> None:
    X, y = table(100)
    nb = NaiveBayes().fit(X, y)
    labels = np.where(np.arange(100) < 40, "unheard", y)
    assert held_out_rows(nb.model_, nb._rows(X), labels).rows.sum() == 60
    assert held_out_rows(nb.model_, nb._rows(X), np.full(100, "unheard")) is None
    often = held_out_rows(nb.model_, nb._rows(X), y, np.full(100, 3))
    assert often.rows.sum() == 300


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 90, float("nan"), "0.9", None])
def test_a_coverage_that_is_none_is_refused(coverage: Any) -> None:
    X, y = table(60)
    with pytest.raises(ValueError, match=r"coverage must be between 0 and 1, such as 0\.9"):
        NaiveBayes().fit(X, y).predict_set(X, coverage)


def test_noise_leaves_no_held_out_row() -> None:
    X, y = table(300)
    nb = NaiveBayes(weights=None).fit(X, y)
    nb.assess()
    noisy = nb.export.with_noise(1.0, 1e-6)
    assert noisy.model_.counted.held_out is None


# --- Out of Python -------------------------------------------------------------------------------


@pytest.mark.parametrize("probabilities", [False, True])
def test_sql_gives_the_same_sets(probabilities: bool) -> None:
    X, y = table(300)
    nb = NaiveBayes().fit(X, y)
    connection = duckdb.connect()
    connection.register("visits", X)
    query = nb.export.sql("visits", coverage=0.9, keep=[], probabilities=probabilities)
    found = connection.execute(query).df()
    sets = nb.predict_set(X, 0.9)
    names = [f"in({label})" for label in nb.classes_]
    np.testing.assert_array_equal(found[names].to_numpy(bool), sets.contains)


def test_javascript_gives_the_same_sets() -> None:
    X, y = table(200)
    nb = NaiveBayes().fit(X, y)
    card, rows = nb.export.scorecard(sets=True), X.to_dict("records")
    found, wrong = ask([question(card, rows, "set", 0.95), question(card, rows, "set", 0.7)])
    for labels, expected in zip(found, nb.predict_set(X, 0.95), strict=True):
        assert set(labels) == set(expected)
    assert wrong["error"] == "The scorecard knows sets of 0.8, 0.9, 0.95, 0.99, not of 0.7."


def test_a_scorecard_says_how_probable_a_class_of_a_set_is() -> None:
    X, y = table(200)
    nb = NaiveBayes().fit(X, y)
    assert "sets" not in nb.export.scorecard().to_dict()
    card = nb.export.scorecard(sets=True).to_dict()["sets"]
    for of in card:
        assert of["probability"] == nb.predict_set(X, of["coverage"]).least[0]
    assert [of["coverage"] for of in card] == [0.8, 0.9, 0.95, 0.99]
    nb.decay(0.5)
    assert "sets" not in nb.export.scorecard().to_dict()
