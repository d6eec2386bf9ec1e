"""Pairs of columns: counted, left out and merged like all else; chosen where they depend."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes, load
from naively.counting.labels import encode_labels
from naively.counting.statistic import LEVEL
from naively.data.rows import Rows, column_rows
from naively.evaluation.interactions import screen
from naively.evaluation.leave_one_out import leave_one_out_table
from naively.evaluation.reservoir import Reservoir
from naively.events.lift import log_lift
from naively.model.model import Model
from naively.schema.derived import Interaction, LevelBins, NumberBins, TimePart
from tests.learning import learn

BINS = (
    NumberBins("a", (0.0, 1.0)),
    LevelBins("b", ("x", "y")),
    LevelBins("c", (True, False)),
)
ALL = [Interaction(a, b) for a, b in combinations(BINS, 2)]
CELLS = st.tuples(
    st.sampled_from([-1.0, 0.0, 0.5, 3.0, None]),
    st.sampled_from(["x", "y", "rare", None]),
    st.sampled_from([True, False]),
    st.sampled_from("pqr"),
    st.sampled_from([0.5, 1.0, 2.0]),
)


def table(cells: list[Any]) -> tuple[Rows, np.ndarray, np.ndarray]:
    a, b, c, y, weight = zip(*cells, strict=True)
    rows = column_rows(
        {"a": np.array([np.nan if x is None else x for x in a]), "b": list(b), "c": np.array(c)},
        {"a": "number", "b": "string", "c": "boolean"},
    )
    return rows, np.array(y), np.array(weight)


def counted(cells: list[Any]) -> Model:
    """A model of the pairs alone, with their evidence as it is."""
    rows, y, weight = table(cells)
    labels = encode_labels(y, weight)
    model = learn(rows, labels)
    only = replace(
        model,
        counted=replace(model.counted, groups=()),
        tally=replace(model.tally, blocks={}),
    )
    return only.with_interactions(ALL, [only.encode(rows, labels)])


def dependent(n: int, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Columns of which two tell the class together, and none alone."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=n), rng.choice(["x", "y"], n), rng.normal(size=n)
    y = np.where(((a > 0) == (b == "x")) ^ (rng.random(n) < 0.1), "p", "q")
    return {"a": a, "b": b.astype(object), "c": c}, y


def test_evidence_by_hand() -> None:
    # Of class 0, all 4 rows meet; of class 1, one row is in each of the four meetings.
    count = np.array([[[4.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    m, common = Fraction(2), Fraction(5 + 2, 4 + 1 + 2)
    expected = [log((4 + m * common) / (4 + m)), log((1 + m * common) / (1 + m))]
    np.testing.assert_allclose(log_lift(count, 2.0)[0, 0], expected)


def test_columns_that_are_independent_in_each_class_say_nothing() -> None:
    share = np.outer([0.2, 0.8], [0.3, 0.7])
    count = np.stack([1000 * share, 10 * share.T], axis=2)
    np.testing.assert_allclose(log_lift(count, 0.5), 0.0, atol=1e-12)


@given(st.lists(CELLS, min_size=4, max_size=30))
def test_leave_one_out_is_refitting(cells: list[Any]) -> None:
    rows, y, weight = table(cells)
    model = counted(cells)
    found = leave_one_out_table(model, model.encode(rows, encode_labels(y, weight))).table.sum(
        axis=0
    )
    for i, cell in enumerate(cells):
        # Of a row that counts twice, one is left out.
        rest = [*cells[:i], *cells[i + 1 :]]
        if cell[-1] > 1:
            rest.append((*cell[:-1], cell[-1] - 1))
        left = counted(rest)
        if set(left.classes) != set(model.classes):
            continue
        of_row = left.joint_log_likelihood(rows.take([i])) - left.class_log_prior
        of_row -= of_row.mean()
        np.testing.assert_allclose(found[i], of_row[0], rtol=1e-10, atol=1e-10)


@given(st.lists(CELLS, min_size=2, max_size=30), st.data())
def test_merging_is_counting_all_rows_and_forgetting_takes_back(
    cells: list[Any], data: Any
) -> None:
    cut = data.draw(st.integers(1, len(cells) - 1))
    whole, first, second = counted(cells), counted(cells[:cut]), counted(cells[cut:])
    rows, _, _ = table(cells)
    for same, one in ((first + second, whole), (whole - second, first)):
        order = [same.classes.tolist().index(label) for label in one.classes.tolist()]
        np.testing.assert_allclose(
            same.joint_log_likelihood(rows)[:, order], one.joint_log_likelihood(rows), atol=1e-9
        )


def test_a_pair_that_depends_is_chosen_and_halves_the_loss() -> None:
    X, y = dependent(1000)
    plain, paired = NaiveBayes().fit(X, y), NaiveBayes(interactions="auto").fit(X, y)
    assert list(paired.schema_.interactions) == ["a × b"]
    X_test, y_test = dependent(1000, seed=1)
    assert plain.score(X_test, y_test) < 0.6
    assert paired.score(X_test, y_test) > 0.85
    assert paired.assess().log_loss < 0.7 * plain.assess().log_loss
    assert paired.feature_importances_[:2].min() > 10 * paired.feature_importances_[2]


def test_no_pair_of_noise_is_chosen() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 10)), rng.choice(["p", "q", "r"], 2000)
    plain, paired = NaiveBayes().fit(X, y), NaiveBayes(interactions="auto").fit(X, y)
    assert not paired.schema_.interactions
    np.testing.assert_array_equal(plain.predict_proba(X), paired.predict_proba(X))


def test_the_gain_is_the_loss_saved_to_second_order() -> None:
    """The choice agrees with fitting each pair's weight by brute force."""
    X, y = dependent(800)
    X["d"] = np.where(np.random.default_rng(2).random(800) < 0.3, X["a"], X["c"])
    rows, labels = column_rows(X), encode_labels(y)
    reservoir, model = Reservoir(), learn(rows, labels)
    reservoir.add(model.counted.encode(rows, labels), model)
    sample = reservoir.of(model)
    model = replace(model, weights=sample.weights(model, "loo"))
    chosen = screen(model, sample)
    names = list(map(str, chosen.columns))
    assert names[0] == "a × b"
    assert "a × c" not in names


def test_explanations_show_both_values_and_sum_to_the_log_odds() -> None:
    X, y = dependent(1000)
    nb = NaiveBayes(interactions="auto").fit(X, y)
    row = {name: column[:1] for name, column in X.items()}
    (of_row,) = nb.explain(row)
    values = dict(zip(of_row.column, of_row.value, strict=True))
    assert values["a × b"] == (X["a"][0], X["b"][0])
    odds = np.diff(nb.predict_log_proba(row)[0])[0]
    np.testing.assert_allclose(of_row.weights(1).sum(), odds)


def test_models_are_saved_and_merged_with_their_pairs(tmp_path: Path) -> None:
    X, y = dependent(1000)
    nb = NaiveBayes(interactions="auto").fit(X, y)
    nb.save(tmp_path / "m.naively")
    same = load(tmp_path / "m.naively")
    assert same.interactions == "auto"
    np.testing.assert_array_equal(same.predict_proba(X), nb.predict_proba(X))
    assert same.schema_ == nb.schema_
    other = NaiveBayes(interactions="auto").fit(*dependent(1000, seed=3))
    merged = same.merge(other)
    assert len(merged.model_.schema.derived) == 2  # their edges differ
    assert merged.score(*dependent(500, seed=4)) > 0.85


def test_more_rows_are_counted_by_the_same_pairs_and_forgotten() -> None:
    X, y = dependent(1000)
    nb = NaiveBayes(interactions="auto").fit(X, y)
    (pairs,) = (g.key for g in nb.schema_.groups if g.is_interaction)
    before = nb.tally_.blocks[pairs][LEVEL].high
    more = dependent(300, seed=5)
    nb.partial_fit(*more)
    assert list(nb.schema_.interactions) == ["a × b"]
    assert nb.tally_.blocks[pairs][LEVEL].high.sum() == 1300
    nb.forget(*more)
    np.testing.assert_array_equal(nb.tally_.blocks[pairs][LEVEL].high, before)


def test_a_missing_cell_is_a_bin_and_a_column_that_lacks_says_nothing() -> None:
    X, y = dependent(1000)
    nb = NaiveBayes(interactions="auto").fit(X, y)
    with pytest.warns(UserWarning, match="counted as missing"):
        (of_row,) = nb.explain({"b": ["x"], "c": [0.0]})
    weight = dict(zip(of_row.column, of_row.weights(0), strict=True))
    assert weight["a × b"] == 0.0


def test_pairs_have_no_part_in_log_p_of_a_row_nor_in_what_is_drawn() -> None:
    X, y = dependent(1000)
    plain, paired = NaiveBayes().fit(X, y), NaiveBayes(interactions="auto").fit(X, y)
    np.testing.assert_allclose(plain.score_samples(X), paired.score_samples(X))
    drawn, _ = paired.sample(3, random_state=0)
    assert list(drawn) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="two columns at a time"):
        NaiveBayes("categorical", interactions="auto").fit(
            {"a": [*"xy"] * 500, "b": [*"xxyy"] * 250}, [*"pqqp"] * 250
        ).linear()


def test_array_columns_and_times_pair_too() -> None:
    X, y = dependent(1000)
    matrix = np.stack([X["a"], (X["b"] == "x").astype(float)], axis=1)
    nb = NaiveBayes(interactions="auto").fit(matrix, y)
    assert {frozenset(of.sources) for of in nb.schema_.interactions.values()} == {frozenset({0, 1})}
    assert nb.score(matrix, y) > 0.85
    hours = np.datetime64("2026-01-01T00:00") + np.arange(1000) * np.timedelta64(7, "h")
    night = (np.arange(1000) * 7) % 24 < 12
    told = np.where(night == (X["b"] == "x"), "p", "q")
    of_time = NaiveBayes(interactions="auto").fit({"at": hours, "b": X["b"]}, told)
    assert (
        "b × at (hour)" in of_time.schema_.interactions
        or "at (hour) × b" in of_time.schema_.interactions
    )
    assert of_time.feature_importances_.shape == (2,)


def test_what_is_derived_is_known_by_what_it_follows_from() -> None:
    a, b = NumberBins("a", (0.0,)), LevelBins(TimePart("at", "hour"), ("01", "02"))
    column = Interaction(a, b)
    assert column == Interaction(
        NumberBins("a", (0.0,)), LevelBins(TimePart("at", "hour"), ("01", "02"))
    )
    assert column != Interaction(NumberBins("a", (1.0,)), b)
    assert str(column) == "a × at (hour)"
    assert column.sources == ("a", TimePart("at", "hour"))
    assert column.roots == ("a", "at")
    assert column.shape == (3, 4)
    assert column.levels == tuple(range(12))
    assert Interaction(LevelBins("at", ("x",)), b).roots == ("at",)


def test_equal_interactions_add_up_and_others_stay_apart() -> None:
    rows, y, _ = table([(0.5, "x", True, "p", 1.0), (3.0, "y", False, "q", 1.0)] * 4)
    model = learn(rows, encode_labels(y))
    batch = model.encode(rows, encode_labels(y))
    same, other = (Interaction(NumberBins("a", edges), BINS[1]) for edges in ((0.0,), (1.0,)))
    one, again, third = (model.with_interactions([of], [batch]) for of in (same, same, other))
    merged = one + again + third
    (group,) = (g for g in merged.schema.groups if g.is_interaction)
    assert group.columns == (same, other)
    counted = merged.tally.blocks[group.key].of({same})[LEVEL].high
    np.testing.assert_array_equal(counted, 2 * one.tally.blocks[group.key][LEVEL].high)
    np.testing.assert_allclose(
        (merged - third).joint_log_likelihood(rows), (one + again).joint_log_likelihood(rows)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interactions": "all"}, "interactions must be 'auto' or None"),
        ({"interactions": "auto", "weights": None}, "needs weights='loo'"),
    ],
)
def test_what_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NaiveBayes(**settings).fit([[0.0], [1.0]], ["a", "b"])


def test_weight_is_repetition() -> None:
    X, y = dependent(600)
    twice = {name: np.concatenate([column, column]) for name, column in X.items()}
    rows = column_rows(X)
    weighted = learn(rows, encode_labels(y, np.full(600, 2.0)))
    repeated = learn(column_rows(twice), encode_labels(np.concatenate([y, y])))
    both = [Interaction(NumberBins("a", (0.0,)), NumberBins("c", (0.0,)))]
    a = weighted.with_interactions(
        both, [weighted.encode(rows, encode_labels(y, np.full(600, 2.0)))]
    )
    b = repeated.with_interactions(
        both, [repeated.encode(column_rows(twice), encode_labels(np.concatenate([y, y])))]
    )
    np.testing.assert_allclose(a.joint_log_likelihood(rows), b.joint_log_likelihood(rows))
