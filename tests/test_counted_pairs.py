"""Pairs of columns that are given: counted, left out, merged and forgotten like all else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import log
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from naively.counting.axis import LEVEL
from naively.counting.labels import encode_labels
from naively.data.columns import Rows, column_rows
from naively.events.lift import log_lift
from naively.fitting.leave_one_out import leave_one_out_table
from naively.model.model import Model
from naively.schema.schema import Interaction, LevelBins, NumberBins, TimePart
from naively.schema.settle import View
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
        counted=View(
            replace(model.counted.schema, groups=()), replace(model.counted.tally, blocks={})
        ),
    )
    return only.with_interactions(ALL, [only.encode(rows, labels)])


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
    (group,) = (g for g in merged.taken.schema.groups if g.is_interaction)
    assert group.columns == (same, other)
    counted = merged.counted.tally.blocks[group.key].of({same})[LEVEL].high
    np.testing.assert_array_equal(counted, 2 * one.counted.tally.blocks[group.key][LEVEL].high)
    np.testing.assert_allclose(
        (merged - third).joint_log_likelihood(rows), (one + again).joint_log_likelihood(rows)
    )


def test_weight_is_repetition() -> None:
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=600), "c": rng.normal(size=600)}
    y = np.where((X["a"] > 0) == (X["c"] > 0), "p", "q")
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
