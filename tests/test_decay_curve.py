"""The curve of decay: each block of time scored by what was learned before it, faded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.assess.prequential import DecayCurve, blocks_of

BLOCKS = 4


def turned(n: int = 800, seed: int = 0) -> tuple[dict[str, Any], Any]:
    """Return rows of which the second half says the opposite of the first."""
    rng = np.random.default_rng(seed)
    number, level = rng.normal(size=n), rng.choice(["u", "v", "w"], n)
    sign = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    y = np.where(sign * number + (level == "u") + rng.normal(size=n) > 0, "yes", "no")
    return {"number": number, "level": level}, y


def some(X: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {name: of[rows] for name, of in X.items()}


def points(curve: DecayCurve) -> dict[tuple[float, int], tuple[float, float]]:
    keys = zip(curve.half_life, curve.block, strict=True)
    return dict(zip(keys, zip(curve.log_loss, curve.accuracy, strict=True), strict=True))


@pytest.mark.parametrize("weights", ["loo", "temperature", None])
@pytest.mark.parametrize("half_life", [0.5, 2.0, math.inf])
def test_a_point_is_a_fit_with_faded_weights(weights: Any, half_life: float) -> None:
    X, y = turned()
    found = points(
        NaiveBayes(weights=weights).curve.decay(X, y, blocks=BLOCKS, half_lives=[0.5, 2])
    )
    block = np.repeat(np.arange(BLOCKS), len(y) // BLOCKS)
    for b in range(1, BLOCKS):
        before, now = block < b, block == b
        faded = 0.5 ** ((b - 1 - block[before]) / half_life)
        nb = NaiveBayes(weights=weights).fit(some(X, before), y[before], sample_weight=faded)
        right = nb.evaluate(some(X, now), y[now])
        assert found[half_life, b] == pytest.approx((right.log_loss, right.accuracy), rel=1e-9)


@pytest.mark.parametrize("half_life", [0.5, 2.0, math.inf])
def test_with_kept_weights_a_point_is_decay_and_partial_fit(half_life: float) -> None:
    X, y = turned(seed=1)
    curve = NaiveBayes().curve.decay(X, y, blocks=BLOCKS, half_lives=[0.5, 2], weights="kept")
    found, nb = points(curve), NaiveBayes()
    for b, rows in enumerate(np.split(np.arange(len(y)), BLOCKS)):
        if b:
            right = nb.evaluate(some(X, rows), y[rows])
            assert found[half_life, b] == pytest.approx((right.log_loss, right.accuracy), rel=1e-9)
            nb.decay(0.5 ** (1 / half_life))
        nb.partial_fit(some(X, rows), y[rows])


def test_without_weights_it_is_pure_naive_bayes() -> None:
    X, y = turned()
    pure = NaiveBayes(weights=None).curve.decay(X, y, blocks=BLOCKS)
    assert NaiveBayes().curve.decay(X, y, blocks=BLOCKS, weights=None).log_loss == pure.log_loss


def test_the_order_of_rows_does_not_show_where_their_time_is_given() -> None:
    X, y = turned()
    order = np.random.default_rng(3).permutation(len(y))
    straight = NaiveBayes().curve.decay(X, y, blocks=BLOCKS)
    time = np.arange(len(y))
    mixed = NaiveBayes().curve.decay(some(X, order), y[order], time=time[order], blocks=BLOCKS)
    assert mixed.log_loss == pytest.approx(straight.log_loss, rel=1e-9)
    named = NaiveBayes().curve.decay({**X, "when": time}, y, time="when", blocks=BLOCKS)
    assert named.log_loss == pytest.approx(straight.log_loss, rel=1e-9)


def test_what_turned_round_fades_and_what_did_not_stays() -> None:
    X, y = turned()
    curve = NaiveBayes().curve.decay(X, y, blocks=8)
    assert curve.best <= 1
    assert curve.gain > 3 * curve.noise > 0
    assert curve.factor == 0.5 ** (1 / curve.best)
    still = NaiveBayes().curve.decay(some(X, slice(0, 400)), y[:400], blocks=8)
    assert still.best >= 4 or still.gain < 2 * still.noise


def test_the_best_has_the_least_log_loss_of_all_rows() -> None:
    X, y = turned(790)
    curve = NaiveBayes().curve.decay(X, y, blocks=BLOCKS)
    total = curve.by_half_life()
    table = curve.to_dict()
    for half_life, loss in zip(total["half_life"], total["log_loss"], strict=True):
        mine = [i for i, h in enumerate(table["half_life"]) if h == half_life]
        rows = np.array([table["rows"][i] for i in mine])
        right = sum(table["log_loss"][i] * table["rows"][i] for i in mine) / rows.sum()
        assert loss == pytest.approx(right, rel=1e-12)
    assert curve.best == total["half_life"][int(np.argmin(total["log_loss"]))]
    assert curve.gain == pytest.approx(total["log_loss"][-1] - min(total["log_loss"]))
    assert rows.tolist() == [198, 197, 198]


def test_equal_half_lives_are_for_ever() -> None:
    X, y = {"x": np.zeros(40)}, np.tile(["a", "b"], 20)
    curve = NaiveBayes(weights=None, class_prior="uniform").curve.decay(X, y, blocks=4)
    assert math.isinf(curve.best)
    assert "for ever" in str(curve)
    assert curve.factor == 1.0


def test_times_are_said_as_they_are() -> None:
    X, y = turned(80)
    days = np.datetime64("2026-01-01") + np.arange(80)
    curve = NaiveBayes().curve.decay(X, y, time=days, blocks=4, half_lives=[1])
    assert str(curve.to_dict()["from"][0]) == "2026-01-21 00:00:00"
    assert str(curve.end[-1]) == "2026-03-21 00:00:00"
    assert curve.span == 19 * 86400
    assert curve.to_dict()["rows"] == [20] * 6


def test_classes_may_come_later() -> None:
    X, y = turned(80)
    y = np.where(np.arange(80) >= 40, y, "yes")
    curve = NaiveBayes().curve.decay(X, y, blocks=4, half_lives=[1])
    assert all(map(math.isfinite, curve.log_loss))


def test_the_estimator_stays() -> None:
    X, y = turned(80)
    nb = NaiveBayes().fit(X, y)
    before = nb.predict_proba(X)
    nb.curve.decay(X, y, blocks=4)
    assert (nb.predict_proba(X) == before).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"blocks": 1}, "blocks must be a whole number of at least 2, got 1"),
        ({"blocks": 2.5}, "blocks must be a whole number"),
        ({"half_lives": [0]}, "A half-life must be a number of blocks that is greater than 0"),
        ({"half_lives": ["long"]}, "got 'long'"),
        ({"time": "when"}, "'when'"),
        ({"time": np.zeros(80)}, "There are 1 different times, fewer than blocks=10"),
        ({"time": np.arange(79)}, "There are 80 rows, but time has 79 values"),
        ({"weights": "some"}, "weights must be 'fitted', 'kept' or None, got 'some'"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], said: str) -> None:
    X, y = turned(80)
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        NaiveBayes().curve.decay(X, y, **given)


def test_it_is_drawn() -> None:
    X, y = turned(80)
    curve = NaiveBayes().curve.decay(X, y, blocks=4)
    ax = curve.plot()
    assert len(ax.lines) == len(curve.by_half_life()["half_life"])
    assert any("(best)" in str(text.get_text()) for text in ax.get_legend().get_texts())
    days = np.datetime64("2026-01-01") + np.arange(80)
    assert NaiveBayes().curve.decay(X, y, time=days, blocks=4).plot(metric="accuracy").get_ylabel()
    with pytest.raises(ValueError, match="metric must be"):
        curve.plot(metric="loss")  # type: ignore[arg-type]  # what is wrong is the test


def test_blocks_are_in_order_and_times_stay_together() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        moments = rng.integers(0, 12, 60).astype(float)
        blocks = int(rng.integers(2, len(np.unique(moments)) + 1))
        of = blocks_of(moments, blocks)
        assert set(of.tolist()) == set(range(blocks))
        assert (np.diff(of[np.argsort(moments, kind="stable")]) >= 0).all()
        assert all(len(set(of[moments == m])) == 1 for m in np.unique(moments))
