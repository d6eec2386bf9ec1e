"""What speaks most for each class, as a table and as bars; the linear view as a table."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import MultinomialNB

from naively import Categorical, Multinomial, NaiveBayes
from naively.pictures.axes import MOST

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(1, 3, (3, 6)).repeat(20, axis=0))
Y = np.repeat(["a", "b", "c"], [20, 20, 20])


def test_weights_are_log_ratios_to_all_other_classes() -> None:
    found = NaiveBayes(Multinomial(), weights=None).fit(COUNTS, Y).strongest(2).to_dict()
    log_p = MultinomialNB().fit(COUNTS, Y).feature_log_prob_
    assert found["class"] == ["a", "a", "b", "b", "c", "c"]
    for c in range(3):
        others = np.log(np.exp(np.delete(log_p, c, axis=0)).mean(axis=0))
        weight = log_p[c] - others
        best = np.argsort(-weight)[:2]
        assert found["column"][2 * c : 2 * c + 2] == [f"x{j}" for j in best]
        np.testing.assert_allclose(found["weight"][2 * c : 2 * c + 2], weight[best])
    with pytest.raises(ValueError, match="at least 1, got 0"):
        NaiveBayes().fit(COUNTS, Y).strongest(0)


def test_bars_are_the_weights_class_under_class() -> None:
    found = NaiveBayes({"b": Categorical(), "a": Categorical()}, weights=None).fit(
        {"a": ["u", "v", "u", "v"], "b": ["x", "x", "y", "y"]}, ["one", "one", "two", "two"]
    )
    strongest = found.strongest(2)
    ax = strongest.plot()
    table = strongest.to_dict()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["weight"])
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{column} = {value}" for column, value in zip(table["column"], table["value"], strict=True)
    ]
    assert [text.get_text().strip() for text in ax.texts] == ["one", "two"]
    assert strongest.plot(ax) is ax
    plt.close("all")


def test_what_is_impossible_elsewhere_has_a_bar_to_the_end() -> None:
    nb = NaiveBayes(Categorical(alpha=0), weights=None).fit([["u"], ["v"]], ["a", "b"])
    strongest = nb.strongest(1)
    assert strongest.to_dict()["weight"] == [math.inf, math.inf]
    ax = strongest.plot()
    assert [text.get_text().strip() for text in ax.texts] == ["a", "∞", "b", "∞"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["u", "v"]
    plt.close("all")


def test_of_many_classes_the_first_are_drawn_and_it_says_so() -> None:
    nb = NaiveBayes(Categorical(), weights=None).fit(
        [[f"v{i % 10}"] for i in range(40)], np.arange(40) % 10
    )
    ax = nb.strongest(1).plot()
    assert len(ax.patches) == MOST
    assert ax.get_title(loc="left") == f"the first {MOST} of 10 classes"
    ax = nb.linear().plot()
    assert len(ax.patches) == 10 * MOST
    assert ax.get_legend().get_title().get_text() == f"the first {MOST} of 10 classes"
    plt.close("all")


def test_the_linear_view_is_a_table_with_its_intercepts() -> None:
    nb = NaiveBayes(Multinomial(), weights=None).fit(COUNTS, Y)
    view = nb.linear()
    table = pd.DataFrame(view.to_dict())
    for c, label in enumerate("abc"):
        own = table[table["class"] == label].set_index("feature")["weight"]
        assert own["(intercept)"] == view.intercept[c]
        assert own[view.feature_names.tolist()].tolist() == view.coef[c].tolist()
    two = NaiveBayes(Multinomial(), weights=None).fit(COUNTS[:40], Y[:40])
    odds = pd.DataFrame(two.linear().to_dict())
    assert set(odds["class"]) == {"b"}
    row = dict(zip([f"x{j}" for j in range(6)], COUNTS[0], strict=True)) | {"(intercept)": 1}
    total = sum(
        row[name] * weight for name, weight in zip(odds["feature"], odds["weight"], strict=True)
    )
    joint = two.predict_joint_log_proba(COUNTS[:1])[0]
    assert total == pytest.approx(joint[1] - joint[0])
    lines = str(two.linear()).splitlines()
    assert lines[:2] == [
        "log odds of 'b' against 'a'",
        f"  {two.linear().intercept[0]:+.3f}  (intercept)",
    ]
    assert len(lines) == 2 + 6


def test_bars_of_the_linear_view_are_its_largest_weights() -> None:
    two = NaiveBayes(Multinomial(), weights=None).fit(COUNTS[:40], Y[:40]).linear()
    ax = two.plot(n=3)
    best = np.argsort(-np.abs(two.coef[0]))[:3]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], two.coef[0, best])
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"x{j}" for j in best]
    assert f"{two.intercept[0]:+.3f}" in ax.get_title(loc="left")
    three = NaiveBayes(Multinomial(), weights=None).fit(COUNTS, Y).linear()
    ax = three.plot(n=2)
    best = np.argsort(-np.abs(three.coef).max(axis=0))[:2]
    expected = three.coef[:, best].ravel()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], expected)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    plt.close("all")
