"""Fitted weights are those of least penalised log loss, as docs/decisions say it.

The loss is written out here, and its slopes are taken numerically: at the least they are 0, or
point out of the range where a weight is 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes, Text
from naively.fitting.leave_one_out import LeaveOneOut
from naively.fitting.weights import accuracy_and_log_loss, fit, temperature
from tests.learning import coded

STEP = 1e-5


def evidence_of(k: int, n: int, parts: int, kind: str, weighted: bool = False) -> LeaveOneOut:
    """LeaveOneOut that is right about the labels to another extent in each part."""
    rng = np.random.default_rng(k * n * parts)
    y = np.arange(n) % k
    table = rng.normal(scale=2.0, size=(parts, n, k))
    table[:, np.arange(n), y] += np.linspace(-1, 3, parts)[:, None] + 0.5 * (y == 0)
    table[1:] += 0.5 * table[0]  # said twice
    table -= table.mean(axis=2, keepdims=True)
    prior = np.tile(np.log(np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()), (n, 1))
    weight = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    labels = coded(y, k, weight)
    names = [("g", i) for i in range(parts)]
    return LeaveOneOut(names, [True] * parts, [kind] * parts, table, prior, prior, labels)


def log_loss(found: LeaveOneOut, weight: np.ndarray, bias: Any) -> float:
    joint = found.prior + bias + (weight[:, None, :] * found.table).sum(axis=0)
    right = joint[np.arange(len(joint)), found.labels.codes]
    rows = np.logaddexp.reduce(joint, axis=1) - right
    return float(rows.sum() if found.labels.weight is None else rows @ found.labels.weight)


def slope(function: Any, x: np.ndarray) -> np.ndarray:
    """The derivatives of a function of an array, by central differences."""
    found = np.empty(x.shape)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += STEP
        down[i] -= STEP
        found[i] = (function(up) - function(down)) / (2 * STEP)
    return found


def temperature_of(found: LeaveOneOut, rows: float) -> float:
    """The temperature of all evidence: a grid, then a finer one."""
    below = 15 if {*found.kinds} & {"text", "band"} else 1
    k, centre = len(found.labels.classes), math.log(rows / (rows + 15))
    near = np.linspace(-5, 3, 801)
    for width in (0.01, 1e-4):
        total = found.table.sum(axis=0)[None]
        loss = [
            log_loss(found_of(found, total), np.full((1, k), np.exp(t)), 0.0)
            + (15 if t > centre else below) * (t - centre) ** 2 / 2
            for t in near
        ]
        best = near[int(np.argmin(loss))]
        near = np.linspace(best - width, best + width, 201)
    return float(np.exp(best))


def found_of(found: LeaveOneOut, table: np.ndarray) -> LeaveOneOut:
    return replace(
        found, parts=found.parts[:1], by_class=[True], kinds=found.kinds[:1], table=table
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_the_temperature_has_the_least_log_loss(k: int, weighted: bool) -> None:
    found = evidence_of(k, 60, 3, "column", weighted)
    temperatures = temperature(found.table.sum(axis=0), found.prior, found.labels, 60.0)
    assert temperatures == pytest.approx(temperature_of(found, 60.0), rel=1e-3)
    weights = fit(found, "temperature", 60.0)
    assert weights.of == {}
    assert (weights.usual, weights.rows) == (temperatures, 60.0)
    assert weights.bias == (0.0,) * k


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["column", "band", "missing"])
@pytest.mark.parametrize("k", [2, 3])
def test_weights_and_biases_have_the_least_penalised_log_loss(
    k: int, kind: str, weighted: bool
) -> None:
    found = evidence_of(k, 80, 4, kind, weighted)
    weights = fit(found, "loo", 80.0)
    weight, bias = np.array([weights.of[part] for part in found.parts]), np.array(weights.bias)
    temperatures = temperature_of(found, 80.0)
    centre, strength, apart = {
        "column": (0.5 * temperatures, 5.0, 10.0),
        "band": (temperatures, 0.5 / temperatures**2, 3.0 / temperatures**2),
        "missing": (0.0, 10.0 * (1 + 500 / found.labels.weights.sum()), 10.0),
    }[kind]

    def of_weight(w: np.ndarray) -> float:
        mean = w.mean(axis=1, keepdims=True)
        penalty = strength * ((mean - centre) ** 2).sum() + apart * ((w - mean) ** 2).sum()
        return log_loss(found, w, bias) + penalty / 2

    def of_bias(b: np.ndarray) -> float:
        return log_loss(found, weight, b) + 5.0 / 2 * (b @ b)

    assert weight.min() >= 0
    assert (weight == 0).any() or kind != "column"  # the first part is misleading
    assert np.abs(slope(of_bias, bias)).max() < 0.01
    slopes = slope(of_weight, weight)
    if k == 2:  # what two classes say of a part is one number
        assert (weight[:, 0] == weight[:, 1]).all()
        slopes = slopes.sum(axis=1, keepdims=True)
        weight = weight[:, :1]
    assert np.abs(slopes[weight > 0]).max() < 0.01
    assert (slopes[weight == 0] > -0.01).all()
    usual = 0.5 * (temperatures if kind == "column" else 1.0)
    assert weights.usual == pytest.approx(usual, rel=1e-3)


def test_a_part_whose_weights_must_be_equal_has_one() -> None:
    found = evidence_of(3, 80, 3, "column")
    found.by_class[1] = False
    weights = fit(found, "loo", 80.0)
    apart = [np.ptp(weights.of[part]) for part in found.parts]
    assert apart[1] == 0
    assert apart[2] > 1e-3


def test_of_one_class_or_no_evidence_there_is_nothing_to_fit() -> None:
    one = evidence_of(1, 5, 2, "column")
    for found in (one, found_of(evidence_of(2, 6, 2, "column"), np.zeros((0, 6, 2)))):
        if found is not one:
            found.parts.clear()
        weights = fit(found, "loo", 5.0)
        assert (weights.of, weights.usual) == ({}, 1.0)
        assert set(weights.bias) == {0.0}


@pytest.mark.parametrize("k", [2, 3])
def test_words_that_count_as_one_part_have_a_temperature_and_biases_of_many_classes(k: int) -> None:
    found = evidence_of(k, 90, 1, "text")
    weights = fit(found, "loo", 90.0)
    (weight,) = weights.of.values()
    if k == 2:
        assert weight == pytest.approx((temperature_of(found, 90.0),) * 2, rel=1e-3)
        assert weights.bias == (0.0, 0.0)
    else:
        assert min(map(abs, weights.bias)) > 0


@pytest.mark.parametrize("weights", ["loo", "temperature"])
def test_texts_of_words_are_tempered_by_the_temperature_of_their_evidence(weights: str) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    texts = [" ".join(rng.choice(list("pqrst" if c == "a" else "rstuv"), 6)) for c in y]
    texts = [" ".join(letter * 3 for letter in text.split()) for text in texts]
    nb = NaiveBayes(Text(), weights=weights).fit(texts, y)
    (of_class,) = nb.weights_.by_name.values()
    assert len(set(of_class.values())) == 1
    found = nb._learned.sample.of(nb.model_).leave_one_out(nb.model_)
    assert found.kinds == ["text"]
    assert of_class["a"] == pytest.approx(temperature_of(found, 80.0), rel=1e-3)


def test_weights_are_fitted_again_when_a_tenth_more_rows_have_come_and_not_before() -> None:
    rng = np.random.default_rng(3)
    y = np.array(["a", "b"])[np.arange(120) % 2]
    X = {"x": rng.normal(size=120) + (y == "a"), "z": rng.normal(size=120) - (y == "a")}

    def part(rows: slice) -> tuple[dict[str, np.ndarray], np.ndarray]:
        return {name: column[rows] for name, column in X.items()}, y[rows]

    nb = NaiveBayes().partial_fit(*part(slice(100)))
    first = nb.weights_
    assert nb.partial_fit(*part(slice(100, 109))).weights_ is first
    assert first.rows == 100.0
    again = nb.partial_fit(*part(slice(109, 120))).weights_
    at_once = NaiveBayes().fit(X, y).weights_
    assert again.rows == 120.0
    assert again.of.keys() == at_once.of.keys()
    for column, weight in again.of.items():
        assert weight == pytest.approx(at_once.of[column], abs=1e-6)
        assert weight != pytest.approx(first.of[column], abs=1e-3)


def test_ordered_batches_have_weights_of_nearly_all_rows() -> None:
    rng = np.random.default_rng(11)
    n = 2000
    y = np.where(rng.random(n) < 0.4, "a", "b")
    x = rng.normal(size=(n, 4)) + (y == "a")[:, None]
    x[:, 1] = x[:, 0] + 0.3 * rng.normal(size=n)  # which says nearly the same
    order = np.argsort(x[:, 2])  # what comes first is unlike what comes last
    new_y = np.where(rng.random(n) < 0.4, "a", "b")
    new = rng.normal(size=(n, 4)) + (new_y == "a")[:, None]
    new[:, 1] = new[:, 0] + 0.3 * rng.normal(size=n)
    whole = NaiveBayes("gaussian").fit(x, y)
    parts = NaiveBayes("gaussian")
    for some in np.array_split(order, 10):
        parts.partial_fit(x[some], y[some])

    def loss(nb: NaiveBayes) -> float:
        p = nb.predict_proba(new)[np.arange(n), np.searchsorted(nb.classes_, new_y)]
        return float(-np.log(p).mean())

    assert loss(parts) <= loss(whole) + 0.005
    weights = parts.weights_
    parts.predict(new)
    assert parts.weights_ is weights
    p, again = parts.calibrate().predict_proba(new), whole.predict_proba(new)
    np.testing.assert_allclose(p, again, atol=1e-12)


def test_columns_and_texts_have_temperatures_of_their_own() -> None:
    columns, texts = evidence_of(3, 90, 2, "column"), evidence_of(3, 90, 3, "band")
    names = [("g", i) for i in range(5)]
    kinds = ["band", "column", "band", "column", "band"]
    table = np.empty((5, 90, 3))
    table[[1, 3]], table[[0, 2, 4]] = columns.table, 3 * texts.table
    both = replace(columns, parts=names, by_class=[True] * 5, kinds=kinds, table=table)
    weights = fit(both, "temperature", 90.0)
    assert weights.usual == pytest.approx(temperature_of(columns, 90.0), rel=1e-3)
    of_texts = replace(texts, table=3 * texts.table)
    assert weights.of[names[2]][0] == pytest.approx(temperature_of(of_texts, 90.0), rel=1e-3)
    assert weights.usual != pytest.approx(weights.of[names[2]][0], rel=1e-2)


def test_accuracy_and_log_loss_are_averages_over_the_weights_of_rows() -> None:
    rng = np.random.default_rng(0)
    p, y, weight = rng.dirichlet(np.ones(3), 50), rng.integers(0, 4, 50), rng.random(50) + 0.1
    right = np.where(y < 3, p[np.arange(50), y % 3], 1e-15)  # the last class was never learned
    found = accuracy_and_log_loss(p, np.arange(3), coded(y, 4, weight))
    expected = np.average([p.argmax(axis=1) == y, -np.log(right)], axis=1, weights=weight)
    assert found == pytest.approx(tuple(expected), abs=1e-12)
