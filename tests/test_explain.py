"""Explanations as data, and what speaks most for a class."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from naively import Bernoulli, NaiveBayes
from naively.inspect.odds import strongest

TEXTS = ["cheap pills now", "cheap watches now", "lunch at noon", "lunch with ann now"]
Y = ["spam", "spam", "ham", "ham"]


def test_the_table_is_tidy_and_sums_to_the_log_odds() -> None:
    nb = NaiveBayes(weights=None).fit(
        {"x": [1.0, 2.0, 5.0, 6.0], "c": ["u", "v", "u", None]}, ["a", "a", "b", "c"]
    )
    rows = {"x": [1.5, None], "c": ["w", "u"]}
    table = nb.explain(rows).to_dict()
    log_p = nb.predict_log_proba(rows)
    for i in range(2):
        for c, label in enumerate(nb.classes_):
            chosen = [
                j
                for j in range(len(table["row"]))
                if (table["row"][j], table["class"][j]) == (i, label)
            ]
            rival = [*nb.classes_].index(table["against"][chosen[0]])
            others = [r for r in range(3) if r != c]
            assert rival == max(others, key=lambda r: log_p[i, r])
            total = sum(table["weight"][j] for j in chosen)
            np.testing.assert_allclose(total, log_p[i, c] - log_p[i, rival], atol=1e-12)
    shown = {
        (table["row"][j], table["column"][j]): table["value"][j] for j in range(len(table["row"]))
    }
    assert shown[0, "x"] == 1.5
    assert shown[0, "c"] == "w"
    assert (1, "x") not in shown


def test_words_are_named() -> None:
    evidence = NaiveBayes(weights=None).fit(TEXTS, Y).explain(["Cheap lunch, cheap!", None])
    assert {"cheap", "lunch"} < set(evidence[0].value)
    assert evidence[1].column == ["class prior"]
    weights = dict(zip(evidence[0].value, evidence[0].weights(1), strict=True))
    assert weights["cheap"] > 0 > weights["lunch"]


def test_absent_words_are_one_item() -> None:
    nb = NaiveBayes({"text": Bernoulli()}, weights=None).fit(TEXTS, Y)
    evidence = nb.explain(["cheap"])[0]
    assert evidence.value == [None, "cheap", "(all that is absent)"]
    np.testing.assert_allclose(
        evidence.log_likelihood.sum(axis=0), nb.predict_joint_log_proba(["cheap"])[0]
    )


def test_what_speaks_most_for_a_class() -> None:
    nb = NaiveBayes(weights=None, smoothing=1.0).fit(TEXTS, Y)
    spam = nb.classes_.tolist().index("spam")
    column, word, weight = strongest(nb.model_, spam, 1)[0]
    # 2 of 6 words of spam and none of 7 of ham, each of 9 known words once more
    assert (column, word) == ("text", "cheap")
    assert weight == pytest.approx(np.log((3 / 15) / (1 / 16)))
    numbers = NaiveBayes("gaussian", estimate="mle", weights=None)
    numbers.fit({"x": [1.0, 1.2, 5.0, 5.4]}, Y)
    column, mean, weight = strongest(numbers.model_, 0, 1)[0]
    assert (column, mean) == ("x", pytest.approx(5.2))
    assert weight > 3


def test_bits_are_logarithms_to_base_two() -> None:
    explanation = NaiveBayes().fit(TEXTS, Y).explain(TEXTS[:1])
    nats, bits = explanation.to_dict()["weight"], explanation.to_dict(unit="bits")["weight"]
    np.testing.assert_allclose(np.exp(nats), np.exp2(bits))
    with pytest.raises(ValueError, match="unit must be 'nats' or 'bits'"):
        explanation.to_dict(unit="shannon")


def test_what_speaks_most_names_the_column_of_a_histogram() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), np.repeat(["a", "b"], 100)
    X[:, 3] += 10 * (y == "b")
    column, x, _ = strongest(NaiveBayes().fit(X, y).model_, 1, 1)[0]
    assert column == "x3"
    assert x > 5


@pytest.mark.parametrize("weights", ["loo", None])
def test_a_matrix_and_its_base_sum_to_the_log_odds(weights: Any) -> None:
    rng = np.random.default_rng(4)
    y = np.repeat(["a", "b", "c"], 40)
    table = {
        "x": np.where(rng.random(120) < 0.1, np.nan, rng.normal(np.repeat([0, 1, 2], 40))),
        "k": np.where(rng.random(120) < 0.3, "u", y).astype(object),
        "class prior": rng.integers(0, 3, 120),  # a column of this name is a column
    }
    nb = NaiveBayes(weights=weights).fit(table, y)
    explained = nb.explain(table)
    joint = nb.predict_joint_log_proba(table)
    for label in (None, "a", "c"):
        columns, weight, base = explained.matrix(label)
        assert columns[:3] == list(table)
        assert "intercept" not in columns
        assert weight.shape == (120, len(columns))
        c = joint.argmax(axis=1) if label is None else np.full(120, "abc".index(label))
        own = joint[np.arange(120), c]
        others = joint.copy()
        others[np.arange(120), c] = -np.inf
        np.testing.assert_allclose(base + weight.sum(axis=1), own - others.max(axis=1), atol=1e-9)
    frame = explained.to_frame("polars")
    assert frame.columns == list(explained.to_dict())
    assert len(json.loads(explained.to_json())) == len(frame)
