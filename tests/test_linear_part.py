"""The linear part of whole models."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from naively import Gaussian, NaiveBayes, Poisson
from naively.fitting.weights import RIDGES
from naively.terms.functions import NOTHING, Line
from tests.alike import LABELS, added, linear_of, loss, table, take, without
from tests.learning import encoded


@pytest.mark.parametrize("k", [2, 3])
def test_it_helps_where_columns_repeat_each_other(k: int) -> None:
    X, y = table(0, k=k)
    nb, (new, label) = NaiveBayes().fit(X, y), table(1, 2000, k)
    linear = linear_of(nb)
    assert linear.of
    scaled = [ridge * (1 + 1000 / len(y)) for ridge in RIDGES]
    assert linear.ridge in map(pytest.approx, scaled)
    np.testing.assert_allclose([sum(slope) for slope in linear.of.values()], 0.0, atol=1e-12)
    p = without(nb).score(encoded(nb.model_, new), "posterior")
    p = p[np.arange(len(label)), np.searchsorted(LABELS[:k], label)]
    assert loss(nb, new, label) < float(-np.log(p).mean()) - 0.05


@pytest.mark.parametrize("seed", range(5))
def test_on_noise_it_is_about_nothing(seed: int) -> None:
    X, y = table(seed)
    nb = NaiveBayes().fit(X, np.random.default_rng(seed).permutation(y))
    assert np.abs(added(nb, X)).max() < 0.5
    new, label = table(99, 2000)
    shuffled = np.random.default_rng(1).permutation(label)
    assert loss(nb, new, shuffled) < np.log(2) + 0.02


@pytest.mark.parametrize("settings", [{"weights": None}, {"weights": "temperature"}], ids=str)
def test_there_is_none_without_weights_for_each_part(settings: dict[str, Any]) -> None:
    X, y = table(0)
    nb = NaiveBayes(**settings).fit(X, y)
    assert nb.weights_ is None or linear_of(nb) == NOTHING


@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_sum_of_its_terms(k: int) -> None:
    """By hand from the slopes, the functions and the cells."""
    X, y = table(0, k=k)
    nb, (new, _) = NaiveBayes(derived=None).fit(X, y), table(1, 60, k)
    expected = np.tile(linear_of(nb).intercept, (60, 1))
    for term, slope in linear_of(nb).of.items():
        for i, cell in enumerate(new[str(term.column)].tolist()):
            of = term.function
            if cell is None or cell != cell:
                continue
            if isinstance(of, Line):
                z = (min(max(cell, of.low), of.high) - of.centre) / of.scale
            else:
                z = ((cell == of.level) - of.centre) / of.scale
            expected[i] += z * np.array(slope)
    np.testing.assert_allclose(added(nb, new), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["a", "level", "truth"])
def test_a_missing_cell_adds_nothing(name: str) -> None:
    X, y = table(0, k=3)
    nb = NaiveBayes().fit(X, y)
    assert any(term.column == name for term in linear_of(nb).of)
    new, _ = table(1, 50)
    new[name] = np.full(50, None)
    np.testing.assert_allclose(
        nb.predict_joint_log_proba(new),
        without(nb, name).score(encoded(nb.model_, new), "joint"),
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("k", [2, 3])
def test_orders_batches_and_merging_do_not_show(k: int) -> None:
    X, y = table(0, k=k)
    new, _ = table(1, k=k)
    p = NaiveBayes().fit(X, y).predict_proba(new)
    turned = NaiveBayes().fit(dict(reversed(X.items())), y)
    np.testing.assert_allclose(turned.predict_proba(new), p, rtol=0, atol=1e-9)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = NaiveBayes().fit(take(X, order), y[order])
    np.testing.assert_allclose(shuffled.predict_proba(new), p, rtol=0, atol=1e-12)
    first, last = NaiveBayes().fit(take(X, np.s_[:150]), y[:150]), np.s_[150:]
    merged = NaiveBayes().fit(take(X, np.s_[:150]), y[:150])
    merged.merge(NaiveBayes().fit(take(X, last), y[last])).calibrate()
    np.testing.assert_allclose(merged.predict_proba(new), p, rtol=0, atol=1e-12)
    for start in range(150, len(y), 50):
        at = np.s_[start : start + 50]
        first.partial_fit(take(X, at), y[at])
    np.testing.assert_allclose(first.calibrate().predict_proba(new), p, rtol=0, atol=1e-12)


def test_a_row_alone_is_answered_as_in_a_batch() -> None:
    X, y = table(0, k=3)
    nb, (new, _) = NaiveBayes().fit(X, y), table(1, 30)
    alone = [nb.predict_proba(take(new, np.s_[i : i + 1]))[0] for i in range(30)]
    np.testing.assert_allclose(alone, nb.predict_proba(new), rtol=1e-12)
    assert nb.predict_proba(take(new, np.s_[:0])).shape == (0, 3)


def test_sparse_rows_of_a_model_of_dense_ones() -> None:
    from scipy import sparse

    rng = np.random.default_rng(0)
    z = rng.poisson(1.0, 500)
    x = np.column_stack([z, z + rng.poisson(0.2, 500), z + rng.poisson(0.4, 500)]).astype(float)
    y = np.where(x[:, 2] - x[:, 0] > 0, "a", "b")
    nb = NaiveBayes(Poisson()).fit(x, y)
    assert linear_of(nb).of
    new = rng.poisson(1.0, (40, 3)).astype(float)
    np.testing.assert_allclose(
        nb.predict_proba(sparse.csr_array(new)), nb.predict_proba(new), atol=1e-12
    )


ODD: dict[str, Any] = {
    "huge": lambda x: x * 1e300,
    "infinite": lambda x: np.where(x > 1.5, np.inf, x),
    "constant": np.ones_like,
    "missing": lambda x: np.full(len(x), np.nan),
    "float32": lambda x: x.astype(np.float32),
    "whole": lambda x: np.rint(3 * x).astype(np.int64),
    "boolean": lambda x: x > 0,
    "two values": lambda x: np.where(x > 0, 2.5, -7.0),
    "times": lambda x: np.datetime64("2021-01-01", "s") + (x * 1e6).astype("timedelta64[s]"),
    "tiny": lambda x: x * 1e-300,
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_columns_are_answered(kind: str) -> None:
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 300))
    y = np.where(x - e + 0.2 * rng.normal(size=300) > 0, "a", "b")
    X = {"x": x, "sum": x + e, "odd": ODD[kind](x)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nb = NaiveBayes().fit(X, y)
        p = nb.predict_proba(X)
    assert linear_of(nb).of
    assert np.isfinite(p).all()
    assert (nb.predict(X) == y).mean() > 0.8
    assert ("odd" in {term.column for term in linear_of(nb).of}) == (
        kind not in ("constant", "missing", "tiny")
    )


@pytest.mark.parametrize("event", ["auto", Gaussian()], ids=str)
def test_a_row_a_class_and_one_class(event: Any) -> None:
    for y in (["a", "b"], ["a", "b", "c"], ["a", "a"]):
        nb = NaiveBayes(event).fit({"x": np.arange(len(y)) + 0.5}, y)
        assert np.isfinite(nb.predict_proba({"x": [0.0, np.nan, 9.0]})).all()


def test_truths_stay_a_straight_line() -> None:
    """The linear view of booleans has their lines in its weights."""
    rng = np.random.default_rng(0)
    z, e = rng.random((2, 500)) < 0.5
    X = {"z": z, "again": z ^ (rng.random(500) < 0.05), "e": e}
    y = np.where(z & e, "a", "b")
    nb = NaiveBayes(presence="ignore").fit(X, y)
    assert linear_of(nb).of
    view = nb.inspect.linear()
    of = np.column_stack([X[name] for name in view.feature_names]).astype(float)
    joint = nb.predict_joint_log_proba(X)
    np.testing.assert_allclose(of @ view.coef[0] + view.intercept[0], joint[:, 1] - joint[:, 0])


@pytest.mark.parametrize("interactions", [None, "auto"])
def test_levels_that_nearly_always_come_together_share_a_slope(interactions: str | None) -> None:
    """Else the few rows in which they differ would give them slopes that cancel each other."""
    rng = np.random.default_rng(0)
    n = 3_000
    begins = rng.integers(0, 7, n)
    ends = np.where(rng.random(n) < 0.02, (begins + 1) % 7, begins)
    days = np.array(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])
    fare, tip = rng.gamma(4, 3, n), rng.gamma(2, 1, n)
    y = tip - 2 + 1.0 * (begins >= 5) + 0.5 * rng.normal(size=n) > 0
    table = {"begins": days[begins], "ends": days[ends], "fare": fare, "total": fare + tip}
    linear = NaiveBayes(interactions=interactions).fit(table, y).weights_.linear
    slopes = {(t.column, t.function.level): s for t, s in linear.of.items() if "s" in t.column}
    assert len(slopes) == 14
    for (column, level), slope in slopes.items():
        assert slope == pytest.approx(slopes["begins" if column == "ends" else "ends", level])
