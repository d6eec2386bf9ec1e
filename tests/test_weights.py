"""Weights of columns: which one an item has, and what is left of them when models merge."""

from __future__ import annotations

import numpy as np
import pytest

from naively import NaiveBayes
from naively.core.octaves import octave_part
from naively.core.weights import Weights

A = Weights(("x", "y"), {("g", "a"): (1.0, 3.0), ("g", "b"): (0.5, 0.5)}, (0.25, -0.25), 0.75, 30.0)
B = Weights(
    ("y", "z"), {("g", "a"): (2.0, 6.0), ("whole", None): (0.2, 0.4)}, (1.0, -1.0), 0.25, 90.0
)


def table(n: int, seed: int, classes: str = "ab") -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.array(list(classes))[np.arange(n) % len(classes)]
    x = rng.normal(size=n) + (y == "a")
    return {"one": x, "same": x + rng.normal(scale=0.1, size=n), "noise": rng.normal(size=n)}, y


def test_a_column_has_its_weights_those_of_its_group_or_the_usual_one() -> None:
    np.testing.assert_array_equal(A.table("g", ["b", "a"], ["y", "x"]), [[0.5, 0.5], [3.0, 1.0]])
    np.testing.assert_array_equal(A.table("g", ["c"], ["x", "y"]), [[0.75, 0.75]])
    np.testing.assert_array_equal(B.table("whole", ["c", None], ["z", "y"]), [[0.4, 0.2]] * 2)


def test_a_class_that_came_later_has_the_mean_weight_and_no_bias() -> None:
    np.testing.assert_array_equal(A.table("g", ["a"], ["new", "x", "y"]), [[2.0, 1.0, 3.0]])
    np.testing.assert_array_equal(A.bias_of(["new", "y", "x"]), [0.0, -0.25, 0.25])


def test_words_have_the_weights_of_their_octave_and_the_last_ones_beyond() -> None:
    of = {octave_part("t", i): (float(i), i + 10.0) for i in range(3)}
    weights = Weights(("x", "y"), {**of, ("g", "a"): (7.0, 7.0)}, (0.0, 0.0), 1.0, 9.0)
    found = weights.of_words("t", np.array([1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 900.0]), ["x", "y"])
    octave = [0, 1, 1, 2, 2, 2, 2]
    np.testing.assert_array_equal(found, [[i, i + 10] for i in octave])
    assert weights.of_words("g2", np.array([1.0]), ["x", "y"]) is None
    assert B.of_words("whole", np.array([1.0]), ["y", "z"]) is None


def test_merged_weights_are_means_by_the_rows_behind_them() -> None:
    merged = A + B
    assert merged.rows == 120.0
    assert merged.classes == ("x", "y", "z")
    # In A class z has the mean of a's weights, 2; in B class x the mean 4. A has a quarter.
    assert merged.of["g", "a"] == pytest.approx((0.25 * 1 + 3.0, 0.75 + 1.5, 0.5 + 4.5))
    assert merged.of["g", "b"] == pytest.approx((0.5, 0.5, 0.5))
    assert merged.of["whole", None] == pytest.approx((0.3, 0.2, 0.4))
    assert merged.bias == pytest.approx((0.0625, -0.0625 + 0.75, -0.75))
    assert merged.usual == pytest.approx(0.25 * 0.75 + 0.75 * 0.25)
    other = B + A
    assert other.of["g", "a"] == pytest.approx((2.25, 5.0, 3.25))  # of the classes y, z, x


def test_without_rows_each_of_two_counts_half() -> None:
    none = Weights(("x",), {("g", "a"): (1.0,)}, (1.0,), 1.0, 0.0)
    merged = none + Weights(("x",), {("g", "a"): (2.0,)}, (0.0,), 2.0, 0.0)
    assert (merged.of["g", "a"], merged.bias, merged.usual) == ((1.5,), (0.5,), 1.5)


def test_weights_are_fresh_until_rows_come() -> None:
    assert A.fresh(30.0) == A.fresh(10.0) == A.fresh(0.0) == 1.0
    assert A.fresh(60.0) == 0.5


def test_names_are_of_columns_or_of_a_group_that_is_one_event() -> None:
    assert A.by_name == {"a": {"x": 1.0, "y": 3.0}, "b": {"x": 0.5, "y": 0.5}}
    assert B.by_name["whole"] == {"y": 0.2, "z": 0.4}


def test_a_merged_model_answers_with_the_mean_weights() -> None:
    (X, y), (Z, of_z) = table(40, 0), table(160, 1, "abb")
    a, b = NaiveBayes().fit(X, y), NaiveBayes().fit(Z, of_z)
    mine, theirs = a.weights_, b.weights_
    expected = {
        name: {label: (40 * mine.by_name[name][label] + 160 * w) / 200 for label, w in of.items()}
        for name, of in theirs.by_name.items()
    }
    merged = a.merge(b)
    for name, of in expected.items():
        assert merged.weights_.by_name[name] == pytest.approx(of)
    assert merged.weights_.bias == pytest.approx(
        0.2 * np.array(mine.bias) + 0.8 * np.array(theirs.bias)
    )
    # The joint is the bias and the prior, and each column's centred evidence times its weight.
    plain = NaiveBayes(weights=None).fit(X, y).merge(NaiveBayes(weights=None).fit(Z, of_z))
    joint = np.tile(merged.class_log_prior_ + merged.weights_.bias, (40, 1))
    for name, column in X.items():
        alone = {other: None if other != name else column for other in X}
        rows = {k: np.full(40, np.nan) if v is None else v for k, v in alone.items()}
        evidence = plain.predict_joint_log_proba(rows) - plain.class_log_prior_
        evidence -= evidence.mean(axis=1, keepdims=True)
        joint += evidence * [expected[name][label] for label in "ab"]
    np.testing.assert_allclose(merged.predict_joint_log_proba(X), joint, atol=1e-10)


def test_what_a_model_with_weights_learns_from_one_without_is_weighed_alike() -> None:
    (X, y), (Z, of_z) = table(40, 0), table(60, 1)
    weighed = NaiveBayes().fit(X, y)
    weights = weighed.weights_
    assert weighed.merge(NaiveBayes(weights=None).fit(Z, of_z)).weights_ is weights
    other = NaiveBayes(weights=None).fit(Z, of_z).merge(NaiveBayes().fit(X, y))
    assert other.weights_.by_name == weights.by_name


def test_decay_and_forgetting_keep_the_weights() -> None:
    X, y = table(60, 0)
    nb = NaiveBayes().fit(X, y)
    weights = nb.weights_
    some = {name: column[:5] for name, column in X.items()}
    assert nb.decay(0.5).weights_ is weights
    assert NaiveBayes().fit(X, y).forget(some, y[:5]).weights_.by_name == weights.by_name
