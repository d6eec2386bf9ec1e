"""What speaks most for each class, as a table and as bars; the linear view as a table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import MultinomialNB

from naively import Categorical, Multinomial, NaiveBayes
from naively.inspect.difference import items_of_both
from naively.inspect.odds import Odds

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(1, 3, (3, 6)).repeat(20, axis=0))
Y = np.repeat(["a", "b", "c"], [20, 20, 20])


def test_weights_are_log_ratios_to_all_other_classes() -> None:
    found = NaiveBayes(Multinomial(), weights=None).fit(COUNTS, Y).inspect.strongest(2).to_dict()
    log_p = MultinomialNB().fit(COUNTS, Y).feature_log_prob_
    assert found["class"] == ["a", "a", "b", "b", "c", "c"]
    for c in range(3):
        others = np.log(np.exp(np.delete(log_p, c, axis=0)).mean(axis=0))
        weight = log_p[c] - others
        best = np.argsort(-weight * COUNTS[20 * c : 20 * c + 20].sum(axis=0))[:2]
        assert found["column"][2 * c : 2 * c + 2] == [f"x{j}" for j in best]
        np.testing.assert_allclose(found["weight"][2 * c : 2 * c + 2], weight[best])
    with pytest.raises(ValueError, match="at least 1, got 0"):
        NaiveBayes().fit(COUNTS, Y).inspect.strongest(0)


def test_what_rows_gain_most_from_comes_first_and_what_weighs_nothing_is_left_out() -> None:
    texts = ["common odd1", "common odd2", "common alike", "other alike", "other", "other"]
    y = ["a"] * 3 + ["b"] * 3
    nb = NaiveBayes(Multinomial(), text="words", weights=None).fit(texts, y)
    found = pd.DataFrame(nb.inspect.strongest(20).to_dict())
    of_a = found[found["class"] == "a"]["value"].tolist()
    assert of_a[0] == "common"
    assert set(of_a[1:]) == {"odd1", "odd2"}  # "alike" is as frequent among the others
    assert found[found["class"] == "b"]["value"].tolist() == ["other", "alike"]
    assert (found["weight"] > 0).all()
    same = NaiveBayes(Categorical(), weights=None).fit([["u"], ["v"]] * 2, ["a", "a", "b", "b"])
    assert same.inspect.strongest().to_dict()["value"] == []
    assert same.inspect.strongest().plot() is not None


def test_a_weight_of_evidence_is_the_same_number_wherever_it_is_shown() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], [60, 30, 10])
    level = np.where(rng.random(100) < 0.6, y, rng.choice(["a", "b", "c"], 100))
    text = [f"of{of} {rng.choice(['red', 'blue'])}" for of in level]
    for table, columns in (({"level": level}, Categorical()), ({"text": text}, Multinomial())):
        for weights in (None, "loo"):
            nb = NaiveBayes(columns, text="words", weights=weights).fit(table, y)
            found = pd.DataFrame(nb.inspect.strongest(20).to_dict())
            weight = {(row["class"], row["value"]): row["weight"] for _, row in found.iterrows()}
            items = items_of_both(nb.model_, nb.model_, ["a", "b", "c"])
            changes = {
                (label, of.label(i)[1]): of.evidence[0][i, c]
                for of in items
                for i in range(len(of.known[0]))
                for c, label in enumerate("abc")
            }
            if "text" in table:
                view = nb.inspect.column("text").to_dict()
                other = dict(
                    zip(zip(view["class"], view["word"], strict=True), view["weight"], strict=True)
                )
            else:
                other = {}
                for label in "abc":
                    scale = nb.inspect.nomogram(label).to_dict()
                    pairs = zip(scale["value"], scale["weight"], strict=True)
                    other |= {(label, value): of for value, of in pairs}
            for key, of in weight.items():
                assert changes[key] == pytest.approx(of, abs=1e-12)
                assert other[key] == pytest.approx(of, abs=1e-12)
            assert weight


def test_the_log_odds_with_one_item_are_the_prior_and_its_weight() -> None:
    X = RNG.choice(["u", "v", "w"], (60, 1))
    nb = NaiveBayes(Categorical(), weights=None).fit(X, np.repeat(np.unique(Y), [30, 20, 10]))
    p = nb.predict_proba([["v"]])[0]
    log_p = nb.model_.terms.of[nb.schema_.groups[0].key].typical(0)[0]
    v = nb.tally_.blocks[nb.schema_.groups[0].key].axis.levels[0].index("v")
    for c in range(3):
        odds = Odds(nb.model_.terms.start, c)
        expected = np.log(p[c] / (1 - p[c]))
        assert odds.prior + odds.weight(log_p)[v] == pytest.approx(expected)


def test_odds_of_what_is_impossible_and_of_classes_without_a_share() -> None:
    inf = np.inf
    start = np.array([0.0, -inf, -inf])
    log_p = np.array([[-1.0, -inf, -inf], [-inf, -2.0, -inf], [-inf] * 3, [-1.0, -1.0, -1.0]])
    np.testing.assert_allclose(Odds(start, 0).weight(log_p), [inf, -inf, 0.0, 0.0], atol=1e-12)
    far = Odds(np.array([0.0, -1e-9, -900.0]), 0).weight(np.array([[-5000.0, -6000.0, 0.0]]))
    assert np.isfinite(far).all()
    assert Odds(np.zeros(1), 0).weight(np.zeros((2, 1))).tolist() == [0.0, 0.0]


def test_bars_are_the_weights_class_under_class() -> None:
    found = NaiveBayes({"b": Categorical(), "a": Categorical()}, weights=None).fit(
        {"a": ["u", "v", "u", "u"], "b": ["x", "x", "y", "y"]}, ["one", "one", "two", "two"]
    )
    strongest = found.inspect.strongest(2)
    ax = strongest.plot()
    table = strongest.to_dict()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["weight"])
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{column} = {value}" for column, value in zip(table["column"], table["value"], strict=True)
    ]
    assert [text.get_text().strip() for text in ax.texts] == ["one", "two"]
    assert strongest.plot(ax) is ax


def test_what_is_impossible_elsewhere_has_a_bar_to_the_end() -> None:
    nb = NaiveBayes(Categorical(alpha=0), weights=None).fit([["u"], ["v"]], ["a", "b"])
    strongest = nb.inspect.strongest(1)
    assert strongest.to_dict()["weight"] == [math.inf, math.inf]
    ax = strongest.plot()
    assert [text.get_text().strip() for text in ax.texts] == ["a", "+∞", "b", "+∞"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["u", "v"]


def test_of_many_classes_the_first_are_drawn_and_it_says_so() -> None:
    nb = NaiveBayes(Categorical(), weights=None).fit(
        [[f"v{i % 10}"] for i in range(40)], np.arange(40) % 10
    )
    ax = nb.inspect.strongest(1).plot()
    assert len(ax.patches) == 8
    assert ax.get_title(loc="left") == "the first 8 of 10 classes"
    ax = nb.inspect.linear().plot()
    assert len(ax.patches) == 10 * 8
    assert ax.get_legend().get_title().get_text() == "the first 8 of 10 classes"


def test_the_linear_view_is_a_table_with_its_intercepts() -> None:
    nb = NaiveBayes(Multinomial(), weights=None).fit(COUNTS, Y)
    view = nb.inspect.linear()
    table = pd.DataFrame(view.to_dict())
    for c, label in enumerate("abc"):
        own = table[table["class"] == label].set_index("feature")["weight"]
        assert own["(intercept)"] == view.intercept[c]
        assert own[view.feature_names.tolist()].tolist() == view.coef[c].tolist()
    two = NaiveBayes(Multinomial(), weights=None).fit(COUNTS[:40], Y[:40])
    odds = pd.DataFrame(two.inspect.linear().to_dict())
    assert set(odds["class"]) == {"b"}
    row = dict(zip([f"x{j}" for j in range(6)], COUNTS[0], strict=True)) | {"(intercept)": 1}
    total = sum(
        row[name] * weight for name, weight in zip(odds["feature"], odds["weight"], strict=True)
    )
    joint = two.predict_joint_log_proba(COUNTS[:1])[0]
    assert total == pytest.approx(joint[1] - joint[0])
    lines = str(two.inspect.linear()).splitlines()
    assert lines[:2] == [
        "log odds of 'b' against 'a'",
        f"  {two.inspect.linear().intercept[0]:+.3f}  (intercept)",
    ]
    assert len(lines) == 2 + 6


def test_bars_of_the_linear_view_are_its_largest_weights() -> None:
    two = NaiveBayes(Multinomial(), weights=None).fit(COUNTS[:40], Y[:40]).inspect.linear()
    ax = two.plot(n=3)
    best = np.argsort(-np.abs(two.coef[0]))[:3]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], two.coef[0, best])
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"x{j}" for j in best]
    assert f"{two.intercept[0]:+.3f}" in ax.get_title(loc="left")
    three = NaiveBayes(Multinomial(), weights=None).fit(COUNTS, Y).inspect.linear()
    ax = three.plot(n=2)
    best = np.argsort(-np.abs(three.coef).max(axis=0))[:2]
    expected = three.coef[:, best].ravel()
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], expected)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
