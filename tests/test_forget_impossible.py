"""Rows that cannot have been learned are not forgotten: each rule that tells, alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from naively import Bernoulli, Gaussian, GaussianNB, Histogram, NaiveBayes, Poisson, Text


def fitted(event: Any, X: Any, y: Any) -> NaiveBayes:
    return NaiveBayes(event, weights=None).fit(X, y)


NUMBERS = [[1.0], [2.0], [4.0], [8.0]]


XZ = {"x": [1.0, 2.0, 3.0], "z": [1.0, 1.0, 1.0]}
LEVELS = {"g": ["u", "u", None], "h": list("xyx")}
FEW = ["one two", "two three"]
NO_CELL = "values of no cell in column 'x0', class 'b'"
MORE = "more cells than rows in column 'x', class 'a'"


@pytest.mark.parametrize(
    ("event", "learned", "of", "X", "y", "what"),
    [
        (Gaussian(), NUMBERS, "aaab", [[8.0]] * 2, "bb", "too few in class 'b'"),
        (Gaussian(), NUMBERS, "aaab", [[1.0]], "c", "too few in class 'c'"),
        ("categorical", {"g": list("uuvv")}, "aabb", {"g": ["v"]}, "a",
         "too few in column 'g', 'v', class 'a'"),
        ("categorical", LEVELS, "aaa", {"g": [None, None], "h": ["x", "x"]}, "aa",
         "more cells than rows in column 'g', class 'a'"),
        (Histogram(), XZ, "aaa", {"x": [None], "z": [1.0]}, "a", MORE),
        (Gaussian(), XZ, "aaa", {"x": [None], "z": [1.0]}, "a", MORE),
        (Gaussian(), NUMBERS, "aaab", [[-4.0]], "a",
         "squares less than their sum allows in column 'x0', class 'a'"),
        (Gaussian(), NUMBERS, "aaab", [[7.0]], "b", NO_CELL),
        (Poisson(), [[1], [2], [4], [8]], "aaab", [[7]], "b", NO_CELL),
        (Poisson(), [[1], [2]], "ab", [[7]], "b", "too few in column 'x0'"),
        (Bernoulli(), [[1], [0], [0]], "aab", [[1]], "b", "too few in column 'x0'"),
        (Text(), [*FEW, "four five"], "aab", ["one three", "two two"], "aa", None),
        (Text(), FEW, "ab", [""], "b", "values of no cell in column 'text', 'two', class 'b'"),
        (Text(), FEW, "ab", ["one six"], "a", "too few in column 'text', 'six', class 'a'"),
    ],
)  # fmt: skip
def test_what_no_rows_can_have_left_is_refused(
    event: Any, learned: Any, of: str, X: Any, y: str, what: Any
) -> None:
    nb, y = fitted(event, learned, list(of)), list(y)
    before = nb.model_
    if what is None:  # the same words in other texts: the sums do not tell
        assert nb.forget(X, y).class_count_.tolist() == [1.0]
        return
    with pytest.raises(ValueError) as error:
        nb.forget(X, y)
    assert str(error.value).startswith(f"Cannot forget rows that were not learned: {what}")
    assert nb.model_ is before


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: NaiveBayes("gaussian", weights=None), GaussianNB])
def test_what_was_learned_is_forgotten_to_the_last_row_whatever_its_size(make: Any) -> None:
    rng = np.random.default_rng(0)
    for seed in range(30):
        size = 10.0 ** rng.uniform(-3, 7, (9, 2))
        X, y = rng.normal(size=(9, 2)) * size, rng.integers(0, 2, 9)
        y[:2] = 0, 1
        weight = rng.uniform(0.1, 3, 9) if seed % 2 else np.ones(9)
        nb = make().fit(X, y, sample_weight=weight)
        *gone, last = rng.permutation(9).tolist()
        for i in gone:
            nb.forget(X[[i]], y[[i]], weight[[i]])
        assert nb.class_count_.sum() == pytest.approx(weight[last])


MOMENT = {"t": ["2024-01-01", "2024-02-01", "2024-03-01T10:30", "2024-05-01"]}


@pytest.mark.parametrize(
    ("X", "row", "label", "said"),
    [
        ({"c": list("uuvv")}, {"c": ["w"]}, "a", "column 'c', 'w', class 'a'"),
        ({"c": list("uuvv")}, {"c": ["u"]}, "z", "class 'z', of which -1 would be left"),
        ({"c": list("uuvv")}, {"c": ["u"], "k": [3.5]}, "a", "column 'k', 3.5, class 'a'"),
        ({"c": list("uuvv")}, {"c": ["u"], "k": ["x"]}, "a", "column 'k', 'x', class 'a'"),
        ({"x": [1.5, 2.5, 7.0, 8.0]}, {"x": [8.0]}, "a", "column 'x', 8.0, class 'a'"),
        ({"x": [0, 1, 0, 1]}, {"x": [7.0]}, "a", "column 'x', 7.0, class 'a'"),
        (MOMENT, {"t": ["2025-01-01"]}, "a", "column 't', 2025-01-01T00:00:00, class 'a'"),
        (MOMENT, {"t": ["2024-03-01T10:30"]}, "a", "column 't', 2024-03-01T10:30:00, class 'a'"),
        ({"b": [True, True, False, True]}, {"b": [True]}, "b", None),
        ({"b": [True, True, False, False]}, {"b": [True]}, "b", "column 'b', class 'b'"),
    ],
)  # fmt: skip
def test_what_would_fall_below_0_is_named(X: Any, row: Any, label: str, said: str | None) -> None:
    nb = fitted("auto", X, list("aabb"))
    before = nb.model_
    if said is None:
        assert nb.forget(row, [label]).class_count_.tolist() == [2.0, 1.0]
        return
    with pytest.raises(ValueError, match="Cannot forget rows that were not learned: too few") as e:
        nb.forget(row, [label])
    assert said in str(e.value)
    assert nb.model_ is before


def test_a_truth_more_than_there_are_cells_is_named_with_its_column() -> None:
    nb = fitted("auto", {"a": [True] * 4, "b": [True, True, False, True]}, list("aabb"))
    with pytest.raises(ValueError, match="cells of column 'b' are true than there are in 'a'"):
        nb.forget({"a": [True], "b": [False]}, ["a"])


def test_a_cell_of_several_numbers_is_named_by_its_ends() -> None:
    x = np.random.default_rng(0).normal(size=5000)
    nb = fitted("auto", {"x": x}, np.repeat(["a", "b"], 2500))
    with pytest.raises(
        ValueError, match=r"column 'x', numbers from 12\d\.\S+ to 12\d\.\S+, class"
    ) as e:
        nb.forget({"x": [123.456]}, ["a"])
    low, high = (float(w.strip(",")) for w in str(e.value).split() if w.startswith("12"))
    assert low <= 123.456 <= high


def test_the_algebra_of_tallies_may_be_below_zero() -> None:
    a, b = (fitted(Gaussian(), NUMBERS, list(y)).tally_ for y in ("aaab", "abbb"))
    assert (a - b).class_count.tolist() == [2.0, -2.0]
    assert ((a - b) + b).class_count.tolist() == a.class_count.tolist()


@pytest.mark.parametrize("power", [3, 6, 9, 10, 11, 12, 13, 14, 15, 16, 18, 30, 100, 150])
@pytest.mark.parametrize("kept", ["constant", "spread", "zeros"])
@pytest.mark.parametrize("estimator", [NaiveBayes("gaussian", weights=None), GaussianNB()])
def test_far_outliers_are_forgotten_exactly_or_it_is_said_that_they_cannot_be(
    power: int, kept: str, estimator: Any
) -> None:
    rng = np.random.default_rng(power)
    y = np.arange(40) % 2
    X = {"constant": np.full(40, 0.75), "spread": rng.normal(y), "zeros": np.zeros(40)}[kept]
    X = np.c_[X, rng.normal(y)]
    far = np.array([[10.0**power, 0.0], [-(10.0**power) / 3, 0.0]])
    other = clone(estimator).fit(X, y)
    nb = clone(estimator).fit(np.r_[X, far], [*y, 0, 1])
    try:
        nb.forget(far, [0, 1])
    except ValueError as error:
        assert power > 6
        assert "Cannot forget these rows exactly" in str(error)  # noqa: PT017
        assert "column 'x0'" in str(error)  # noqa: PT017
        assert nb.class_count_.sum() == 42
    else:
        assert power < 16
        np.testing.assert_allclose(nb.predict_proba(X), other.predict_proba(X), atol=1e-5)
