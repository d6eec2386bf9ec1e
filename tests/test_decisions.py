"""What answers of least expected cost cost, by brute force and of predict(cost=)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score

from naively import NaiveBayes
from naively.assess.decisions import Decisions, decisions
from naively.assess.scores import scores

NAMES = np.array(["a", "b", "c"])
costs = st.floats(-5, 20).map(lambda x: round(x, 2))


def some(k: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k), n), rng.integers(0, k, n), rng.random(n) + 0.1


@given(
    k=st.integers(2, 3),
    n=st.integers(1, 40),
    seed=st.integers(0, 999),
    flat=st.lists(costs, min_size=9, max_size=9),
    weighed=st.booleans(),
)
def test_they_are_those_of_predict(k, n, seed, flat: list[float], weighed: bool) -> None:
    p, y, weight = some(k, n, seed)
    table, names = np.array(flat).reshape(3, 3)[:k, :k], NAMES[:k]
    w = weight if weighed else np.ones(n)
    found = decisions(p, names, names[y], weight if weighed else None, table)
    answer = (p @ table).argmin(axis=1)
    assert found.cost == pytest.approx(np.average(table[y, answer], weights=w))
    always = [np.average(table[y, c], weights=w) for c in range(k)]
    assert found.always_cost == pytest.approx(min(always))
    assert always[names.tolist().index(found.always)] == pytest.approx(min(always))
    assert (found.threshold is None) or k == 2
    c = int(w @ (y == 1) <= w @ (y == 0))  # the rarer of two classes
    if found.threshold is not None and abs(p[:, c] - found.threshold).min() > 1e-9:
        above = p[:, c] > found.threshold
        assert above.tolist() == (answer == c).tolist()
        of = {"sample_weight": w, "zero_division": np.nan}
        assert found.answer == names[c]
        assert found.recall == pytest.approx(recall_score(y == c, above, **of), nan_ok=True)
        assert found.precision == pytest.approx(precision_score(y == c, above, **of), nan_ok=True)


def test_the_threshold_is_the_best_of_calibrated_probabilities() -> None:
    rng = np.random.default_rng(0)
    q = rng.random(200_000) ** 1.2
    y = (rng.random(200_000) < q).astype(int)
    found = decisions(np.stack([1 - q, q], 1), NAMES[:2], NAMES[y], None, {"a": {"b": 4.0}})
    assert found.threshold == pytest.approx(0.8)
    every = {t: np.mean(np.where(q > t, 4.0 * (y == 0), y == 1)) for t in np.arange(0.5, 1, 0.02)}
    best = min(every, key=every.__getitem__)
    assert abs(best - 0.8) < 0.03
    assert found.cost == pytest.approx(min(every.values()), rel=0.01)


@pytest.mark.parametrize(
    "table",
    [[[0, 0], [1, 0]], [[0, 1], [0, 0]], [[0, 0], [0, 0]], [[1, 0], [0, 1]], [[0, -1], [2, 0]]],
)
def test_one_answer_that_is_always_best_has_no_threshold_or_an_end(table: Any) -> None:
    p, y, _ = some(2, 30, 0)
    found = decisions(p, NAMES[:2], NAMES[y], None, table)
    assert found.threshold in (None, 0.0, 1.0)
    if found.threshold is None:
        assert str(found).count("\n") == 0


def test_scores_say_what_decisions_cost() -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.2, "spam", "ham")
    X = rng.normal(1.0 * (y == "spam"))[:, None]
    cost = {"spam": {"ham": 1.0}, "ham": {"spam": 10.0}}
    nb = NaiveBayes().fit(X, y)
    for found, right in (
        (nb.evaluate(X, y, cost=cost), nb.predict(X, cost=cost)),
        (nb.assess(cost=cost), None),
        (nb.assess(X, y, cost=cost, folds=3), None),
    ):
        of = found.decisions
        assert isinstance(of, Decisions)
        assert of.always == "ham"
        assert of.threshold == pytest.approx(10 / 11)
        assert of.always_cost == pytest.approx(np.mean(y == "spam"), abs=1e-9)
        if right is not None:
            each = [0.0 if r == a else cost[r][a] for r, a in zip(y, right, strict=True)]
            assert of.cost == pytest.approx(np.mean(each))
        lines = str(found).splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("cost per row"))
        assert lines[first].endswith(f"(always 'ham': {of.always_cost:.4f})")
        assert lines[first + 1].startswith("  'spam' above a probability of 0.9091: recall ")
        named = dict(zip(found.to_dict()["score"], found.to_dict()["value"], strict=True))
        assert named["cost per row"] == of.cost
        assert named["threshold"] == of.threshold
    assert nb.evaluate(X, y).decisions is None
    assert "cost" not in "".join(nb.evaluate(X, y).to_dict()["score"])


def test_streams_are_decided_too() -> None:
    import polars as pl

    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=50), "y": rng.integers(0, 2, 50)})
    nb = NaiveBayes().fit(frame, "y")
    cost = [[0, 3], [1, 0]]
    lazy = nb.evaluate(frame.lazy(), "y", cost=cost).decisions
    assert lazy == nb.evaluate(frame, "y", cost=cost).decisions
    assert lazy is not None


def test_what_is_wrong_with_a_cost_is_said() -> None:
    p, y, _ = some(2, 5, 0)
    with pytest.raises(ValueError, match="cost names the class 'c'"):
        scores(p, NAMES[:2], NAMES[y], cost={"c": {"a": 1}})
    with pytest.raises(ValueError, match="finite table of 2 right classes"):
        scores(p, NAMES[:2], NAMES[y], cost=[[0, 1]])
    with pytest.raises(ValueError, match="in a row of class 'c' are not known"):
        scores(p, NAMES[:2], np.array([*"abcab"]), cost={"a": {"b": 1}})
