"""Whether assess says that rows have an order, where a column of times has been learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.assess.prequential import _forward_and_shuffled, note_of_time


def rows(n: int = 800, *, turns: bool = True, seed: int = 0) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(seed)
    x, t = rng.normal(size=n), np.arange(n) / n
    sign = np.where(turns & (t > 0.7), -1.0, 1.0)
    y = np.where(sign * x + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    when = np.datetime64("2026-01-01") + np.arange(n) * np.timedelta64(1, "h")
    return {"x": x, "when": when}, y


def test_rows_that_change_over_time_are_told_from_rows_that_do_not() -> None:
    for seed in range(5):
        (note,) = NaiveBayes().fit(*rows(seed=seed)).assess().notes
        assert note.startswith("the rows change over time: the last quarter by 'when'")
        assert not NaiveBayes().fit(*rows(turns=False, seed=seed)).assess().notes
        X, y = rows(seed=seed)
        X["when"] = np.random.default_rng(seed).permutation(X["when"])
        assert not NaiveBayes().fit(X, y).assess().notes


@pytest.mark.parametrize("weights", ["loo", None])
def test_the_forward_loss_is_that_of_a_model_of_the_rows_before(weights: Any) -> None:
    X, y = rows()
    nb = NaiveBayes(weights=weights).fit(X, y)
    model, sample = nb.model_, nb._learned.sample.of(nb.model_)
    found = _forward_and_shuffled(model, sample, weights, "when")
    assert found is not None
    before, after = (
        {name: of[part] for name, of in X.items()} for part in (slice(600), slice(600, 800))
    )
    right = NaiveBayes(weights=weights).fit(before, y[:600]).evaluate(after, y[600:])
    assert found[0][0] == pytest.approx(right.log_loss, rel=1e-9)


def test_nothing_is_said_without_times_or_of_few_rows() -> None:
    X, y = rows()
    assert not NaiveBayes().fit({"x": X["x"], "at": np.arange(800.0)}, y).assess().notes
    few = {name: of[650:800] for name, of in X.items()}
    assert not NaiveBayes().fit(few, y[650:800]).assess().notes


def test_all_rows_of_one_time_have_no_order() -> None:
    X, y = rows()
    X["when"] = X["when"][:1].repeat(800)
    nb = NaiveBayes().fit(X, y)
    assert note_of_time(nb.model_, nb._learned.sample.of(nb.model_), "loo") == ()


def test_a_time_may_be_missing() -> None:
    X, y = rows()
    X["when"] = np.where(np.arange(800) % 7 == 0, np.datetime64("NaT"), X["when"])
    assert len(NaiveBayes().fit(X, y).assess().notes) == 1
