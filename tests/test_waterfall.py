"""Waterfalls: bars that begin where the last ended, and sum to the log odds."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_digits

from naively import Categorical, NaiveBayes

mpl.use("Agg")
DIGITS = load_digits()


@pytest.fixture(scope="module")
def explained():
    nb = NaiveBayes("gaussian").fit(DIGITS.data[:600], DIGITS.target[:600])
    return nb.explain(DIGITS.data[600:620])


@pytest.mark.parametrize("n", [1, 5, 63, 64, 100])
def test_steps_sum_to_the_log_odds(explained, n):
    for row in explained:
        found = row.waterfall(n)
        assert len(found.weight) == min(n, 64) + 2 + (n < 64)
        assert sum(found.weight) == pytest.approx(row.log_odds(row.best), rel=1e-9)
        assert found.item[:2] == ["class prior", "intercept"]
        assert ("other" in found.item[-1]) == (n < 64)
        assert found.label == row.classes[row.best]
    assert f"other ({64 - 5} items)" in explained[0].waterfall(5).item


def test_steps_of_another_class_sum_to_its_log_odds(explained):
    row = explained[0]
    for c, label in enumerate(row.classes.tolist()):
        found = row.waterfall(3, label)
        joint = np.delete(row.joint, c).max()
        assert sum(found.weight) == pytest.approx(row.joint[c] - joint)
        p = np.exp(row.joint - row.joint.max())
        assert found.probability == pytest.approx(p[c] / p.sum())


def test_bars_begin_where_the_last_ended(explained):
    ax = explained[0].plot(n=6)
    bars = sorted((bar for of in ax.containers for bar in of), key=lambda bar: bar.get_y())
    found = explained[0].waterfall(6)
    assert [bar.get_width() for bar in bars] == pytest.approx(found.weight)
    end = 0.0
    for bar, start in zip(bars, found.start, strict=True):
        assert bar.get_x() == pytest.approx(end)
        assert start == pytest.approx(end)
        end += bar.get_width()
    assert end == pytest.approx(found.log_odds)
    title = ax.get_title(loc="right")
    assert title == f"log odds {found.log_odds:.2f} (probability {found.probability:.2f})"
    assert [label.get_text() for label in ax.get_yticklabels()] == found.item
    written = [text.get_text() for text in ax.texts]
    assert written[: len(bars)] == [f"{weight:+.2f}" for weight in found.weight]


def test_what_is_impossible_goes_to_the_end_and_says_so():
    X, y = {"s": ["u", "u", "v"], "t": ["k", "l", "l"]}, ["a", "a", "b"]
    nb = NaiveBayes(Categorical(alpha=0.0), weights=None).fit(X, y)
    found = nb.explain({"s": ["u"], "t": ["l"]})[0].waterfall()
    assert found.log_odds == np.inf
    texts = [text.get_text() for text in found.plot().texts]
    assert "+∞" in texts
    both = nb.explain({"s": ["v"], "t": ["k"]})[0].waterfall()
    assert np.isnan(both.log_odds)
    assert "every class is impossible" in str(both)
    assert "all impossible" in both.plot().get_title(loc="right")


def test_a_column_may_be_called_class_prior():
    nb = NaiveBayes(weights=None).fit({"class prior": ["u", "v"] * 4}, ["a", "b"] * 4)
    row = nb.explain({"class prior": ["u"]})[0]
    found = row.waterfall()
    assert found.item == ["class prior", "class prior = u"]
    assert sum(found.weight) == pytest.approx(row.log_odds(row.best))


def test_wrong_arguments_are_one_sentence(explained):
    with pytest.raises(ValueError, match="n must be at least 1"):
        explained[0].plot(n=0)
    with pytest.raises(ValueError, match=r"no class 'x'; the classes are 0, 1, 2.* and 2 more"):
        explained[0].waterfall(label="x")


def test_prints_a_line_for_each_step(explained):
    lines = str(explained[0].waterfall(2)).split("\n")
    assert len(lines) == 6
    assert "log odds" in lines[0]
    assert "nats, probability" in lines[0]
