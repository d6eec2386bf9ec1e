"""Unsmoothed models: what is impossible is shown as such, with the item that it comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import Bernoulli, Categorical, Multinomial, NaiveBayes, Text

TEXTS, Y = ["xx aa", "xx bb", "yy aa", "yy cc"], list("aabb")
LEVELS = {"h": list("uuvv"), "g": list("ppqq")}


def of_texts(event: Any) -> NaiveBayes:
    return NaiveBayes(Text(event=event), weights=None).fit(TEXTS, Y)


@pytest.mark.parametrize(
    ("nb", "row", "expected"),
    [
        # neither class can do without its word
        (of_texts(Bernoulli(alpha=0)), ["zz aa"], {"(no xx)": -np.inf, "(no yy)": np.inf}),
        (of_texts(Bernoulli(alpha=0)), ["xx aa yy"], {"xx": np.inf, "yy": -np.inf}),
        (of_texts(Multinomial(alpha=0)), ["xx yy"], {"xx": np.inf, "yy": -np.inf}),
    ],
)
def test_where_every_class_is_impossible_the_items_say_why(
    nb: NaiveBayes, row: list[str], expected: dict[str, float]
) -> None:
    (found,) = nb.explain(row)
    lines = str(found).splitlines()
    assert lines[0] == (
        "'a' against 'b': every class is impossible, so that the class prior decides (0.50)"
    )
    infinite = {value: w for _, value, w in found.top(0) if np.isinf(w)}
    assert infinite == expected
    assert {line.split(" = ")[1] for line in lines if "inf" in line} == set(expected)
    assert np.isnan(found.log_odds(0))
    np.testing.assert_allclose(nb.predict_proba(row), [[0.5, 0.5]])


def test_what_is_impossible_in_both_classes_is_said() -> None:
    nb = NaiveBayes(Categorical(alpha=0), weights=None).fit(LEVELS, Y)
    (found,) = nb.explain({"h": ["w"], "g": ["q"]})
    assert "    -inf  h = w (for both)" in str(found).splitlines()
    assert "    -inf  g = q" in str(found).splitlines()


def test_one_impossible_class_is_infinitely_less_probable() -> None:
    nb = of_texts(Bernoulli(alpha=0))
    (found,) = nb.explain(["xx aa"])
    assert str(found).startswith("'a' against 'b': log odds inf (probability 1.00)")
    assert found.log_odds(0) == np.inf
    assert {value: w for _, value, w in found.top(0) if w} == {"xx": np.inf, "(no yy)": np.inf}


def test_absent_columns_of_a_sparse_matrix_are_named() -> None:
    X = sparse.csr_array(np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]]))
    nb = NaiveBayes(Bernoulli(alpha=0), weights=None).fit(X, Y)
    (found,) = nb.explain(sparse.csr_array(np.array([[0, 0, 1]])))
    infinite = {(column, value): w for column, value, w in found.top(0) if np.isinf(w)}
    assert infinite == {("x0", 0): -np.inf, ("x1", 0): np.inf}


@pytest.mark.parametrize("alpha", [0, 0.5])
def test_finite_items_still_sum_to_the_log_odds(alpha: float) -> None:
    texts, y = ["aa bb", "aa", "bb cc", "aa cc", "dd"], ["a", "a", "a", "b", "b"]
    nb = NaiveBayes(Text(event=Bernoulli(alpha=alpha)), weights=None).fit(texts, y)
    for row, (found, joint) in enumerate(
        zip(nb.explain(texts), nb.predict_joint_log_proba(texts), strict=True)
    ):
        for c in (0, 1):
            with np.errstate(invalid="ignore"):
                total, odds = found.weights(c).sum(), joint[c] - joint[1 - c]
            assert total == pytest.approx(odds, abs=1e-9, nan_ok=True), (row, c)
