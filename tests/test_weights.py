"""Weights merge by the rows behind them, fade with these, and count a row of weight 2 twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naively import NaiveBayes
from naively.counting.leave_one_out import Part
from naively.model.model import Weights

PARTS = [Part("numbers", "x"), Part("numbers", "y"), Part("joint"), Part("text", "t", 2)]
LABELS = ["a", "b", "c"]
NUMBER = st.floats(0, 5)


@st.composite
def some_weights(draw: Any) -> Weights:
    """Draw weights of some of the parts and classes."""
    classes = draw(st.lists(st.sampled_from(LABELS), min_size=1, max_size=3, unique=True))
    each = st.lists(NUMBER, min_size=len(classes), max_size=len(classes)).map(tuple)
    parts = draw(st.lists(st.sampled_from(PARTS), max_size=3, unique=True))
    of = {part: draw(each) for part in parts}
    rows = draw(st.sampled_from([0.0, 0.5, 10.0, 1000.0]))
    return Weights(tuple(classes), of, draw(each), draw(NUMBER), rows)


def weight_of(w: Weights, part: Part, label: str) -> float | None:
    """The weight of a part for a class; for a class that it lacks, the mean over those it has."""
    if part not in w.of:
        return None
    by_class = dict(zip(w.classes, w.of[part], strict=True))
    return by_class.get(label, sum(by_class.values()) / len(by_class))


def mean(one: float, other: float, a: Weights, b: Weights) -> float:
    """The mean by the rows behind each."""
    return (one * a.rows + other * b.rows) / (a.rows + b.rows)


@given(a=some_weights(), b=some_weights())
def test_merged_weights_are_the_mean_by_the_rows_behind_them(a: Weights, b: Weights) -> None:
    assume(a.rows + b.rows > 0)
    merged = a + b
    assert merged.rows == a.rows + b.rows
    assert set(merged.classes) == {*a.classes, *b.classes}
    assert set(merged.of) == {*a.of, *b.of}
    assert merged.usual == pytest.approx(mean(a.usual, b.usual, a, b), abs=1e-12)
    for i, label in enumerate(merged.classes):
        for part, found in merged.of.items():
            mine, theirs = weight_of(a, part, label), weight_of(b, part, label)
            if mine is None or theirs is None:  # what one lacks is the other's
                expected = theirs if mine is None else mine
            else:
                expected = mean(mine, theirs, a, b)
            assert found[i] == pytest.approx(expected, abs=1e-12)
        bias = [dict(zip(w.classes, w.bias, strict=True)).get(label, 0.0) for w in (a, b)]
        assert merged.bias[i] == pytest.approx(mean(*bias, a, b), abs=1e-12)


@given(a=some_weights(), b=some_weights())
def test_merging_commutes(a: Weights, b: Weights) -> None:
    one, other = a + b, b + a
    assert one.rows == other.rows
    assert one.usual == pytest.approx(other.usual, abs=1e-12)
    np.testing.assert_allclose(one.bias_of(LABELS), other.bias_of(LABELS), atol=1e-12)
    assert set(one.of) == set(other.of)
    for part in one.of:
        tables = [w.table([part], LABELS) for w in (one, other)]
        np.testing.assert_allclose(*tables, atol=1e-12)


def test_weights_without_rows_behind_them_merge_by_halves() -> None:
    a, b = (Weights(("a",), {PARTS[0]: (w,)}, (0.0,), 1.0, 0.0) for w in (1.0, 3.0))
    assert (a + b).of[PARTS[0]] == (2.0,)


@given(w=some_weights())
def test_a_part_without_a_weight_has_the_usual_one_and_a_class_the_mean(w: Weights) -> None:
    for part in [*PARTS, Part("numbers", "new")]:
        table = w.table([part], ["new", *w.classes])[0]
        own = w.of.get(part, (w.usual,) * len(w.classes))
        np.testing.assert_allclose(table, [np.mean(own), *own])
    whole = w.of.get(Part("joint"), (w.usual,) * len(w.classes))
    np.testing.assert_allclose(w.table([Part("joint", "any")], w.classes)[0], whole)
    np.testing.assert_array_equal(w.bias_of(["new", *w.classes]), [0.0, *w.bias])


def table(n: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Numbers, levels, truths and gaps, of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(LABELS, n, p=[0.5, 0.3, 0.2])
    number = np.round(rng.normal(1.0 * (y == "a")), 1)
    columns = {
        "number": number,
        "level": np.where(rng.random(n) < 0.5, y, rng.choice(list("abcd"), n)).astype(object),
        "truth": rng.random(n) < np.where(y == "b", 0.7, 0.3),
        "gaps": np.where(rng.random(n) < 0.3, np.nan, number),
    }
    return columns, y


def take(columns: dict[str, np.ndarray], rows: Any) -> dict[str, np.ndarray]:
    return {name: column[rows] for name, column in columns.items()}


def assert_alike(one: Weights, other: Weights, atol: float) -> None:
    assert one.classes == other.classes
    assert one.of.keys() == other.of.keys()
    for part, weight in one.of.items():
        np.testing.assert_allclose(weight, other.of[part], rtol=0, atol=atol)
    np.testing.assert_allclose(one.bias, other.bias, rtol=0, atol=atol)
    assert one.usual == pytest.approx(other.usual, abs=atol)
    assert one.rows == other.rows


def test_a_merged_model_has_the_mean_of_both_weights() -> None:
    north, south = NaiveBayes().fit(*table(100, 0)), NaiveBayes().fit(*table(300, 1))
    a, b = north.weights_, south.weights_
    both = north.model_ + south.model_
    assert both.weights is not None
    assert_alike(both.weights, a + b, 0)
    for part, found in both.weights.of.items():
        np.testing.assert_allclose(found, np.average([a.of[part], b.of[part]], 0, [100, 300]))
        assert np.abs(np.subtract(a.of[part], b.of[part])).max() > 1e-3  # they do differ
    X, _ = table(50, 2)
    merged, mirrored = (NaiveBayes().fit(*table(9, 3)) for _ in range(2))
    merged._exchange(model=both)
    mirrored._exchange(model=south.model_ + north.model_)
    np.testing.assert_allclose(merged.predict_proba(X), mirrored.predict_proba(X), atol=1e-12)
    north._exchange(sample=None)  # as after loading: there are no rows to fit weights to
    np.testing.assert_allclose(north.merge(south).predict_proba(X), merged.predict_proba(X))


def test_a_pure_model_has_no_say_in_the_weights() -> None:
    weighed, pure = NaiveBayes().fit(*table(100, 0)), NaiveBayes(weights=None).fit(*table(90, 1))
    for both in (weighed.model_ + pure.model_, pure.model_ + weighed.model_):
        assert both.weights is weighed.weights_
    assert (pure.model_ + pure.model_).weights is None


def test_decay_keeps_the_weights_and_fades_the_rows_behind_them() -> None:
    nb, other = NaiveBayes().fit(*table(200, 0)), NaiveBayes().fit(*table(100, 1))
    before = nb.weights_
    nb.decay(0.25)
    assert_alike(nb.weights_, replace(before, rows=50.0), 0)
    assert nb.weights_.fresh(nb.class_count_.sum()) == 1.0
    # It now counts half as much as the other, and of all rows a third was there at the fit.
    merged = nb.model_ + other.model_
    assert merged.weights is not None
    for part, found in merged.weights.of.items():
        pair = [before.of[part], other.weights_.of[part]]
        np.testing.assert_allclose(found, np.average(pair, 0, [50, 100]))
    nb.partial_fit(*table(100, 1))
    assert nb.weights_.fresh(nb.class_count_.sum()) == pytest.approx(1 / 3)
    assert nb.weights_.of == before.of


def test_fresh_is_the_share_of_the_rows_that_were_there() -> None:
    w = Weights(("a",), {}, (0.0,), 1.0, 100.0)
    assert [w.fresh(rows) for rows in (50.0, 100.0, 400.0, 0.0)] == [1.0, 1.0, 0.25, 1.0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": "temperature"},
        {"estimate": "map"},
        {"smoothing": 1.0},
        {"class_prior": "uniform"},
    ],
    ids=str,
)
def test_a_row_of_frequency_2_is_the_row_twice(options: dict[str, Any]) -> None:
    X, y = table(150, 0)
    X["note"] = np.array(
        [
            f"{level} and {label} at no. {i % 7} of the list"
            for i, (level, label) in enumerate(zip(X["level"], np.roll(y, 1), strict=True))
        ],
        object,
    )
    weight = np.random.default_rng(1).integers(0, 4, 150)
    again = np.repeat(np.arange(150), weight)
    weighed = NaiveBayes(**options).fit(X, y, frequencies=weight)
    repeated = NaiveBayes(**options).fit(take(X, again), y[again])
    plain = NaiveBayes(**options).fit(take(X, weight > 0), y[weight > 0])
    assert_alike(weighed.weights_, repeated.weights_, 1e-6)
    with pytest.raises(AssertionError):  # they are not those of each row once
        assert_alike(replace(plain.weights_, rows=weight.sum()), repeated.weights_, 1e-3)
    np.testing.assert_allclose(weighed.predict_proba(X), repeated.predict_proba(X), atol=1e-6)
    assert weighed.assess().log_loss == pytest.approx(repeated.assess().log_loss, abs=1e-6)
