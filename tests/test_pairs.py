"""Pairs of columns, by brute force: their bins, their evidence, what they gain, which are best."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import log
from typing import Any

import numpy as np
import pytest

from naively.counting.block import Batch
from naively.counting.labels import encode_labels
from naively.counting.leave_one_out import Part, different
from naively.fitting import interactions as pairs
from naively.fitting.interactions import (
    COLUMNS,
    FEW,
    GAIN,
    LEVELS,
    MANY,
    SHARE,
    Crossed,
    Crossing,
    Fitting,
    _columns,
    _edges,
)
from naively.fitting.interactions import ROWS_A_COLUMN as ROWS
from naively.fitting.leave_one_out import LeaveOneOut, left_out
from naively.fitting.sample import Sample
from naively.fitting.weights import OF_INTERACTIONS
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.schema import LevelBins, NumberBins, TimePart
from naively.schema.settle import View
from tests.fittings import fitted, mixed, noise, together

M = 0.5  # pretend rows of each pair of bins, as docs say
WEIGHTS = pytest.mark.parametrize("weights", ["none", "copies", "fractions"])


def lift(count: np.ndarray, a: int, b: int) -> list[float]:
    """Return the evidence of a pair of bins from counts, (bins, bins, classes), as docs say it."""
    k = count.shape[2]
    observed = [count[a, b, c] for c in range(k)]
    expected = [
        count[a, :, c].sum() * count[:, b, c].sum() / max(count[:, :, c].sum(), 1e-9)
        for c in range(k)
    ]
    common = (sum(observed) + M) / (sum(expected) + M)
    found = [log((o + M * common) / (e + M)) for o, e in zip(observed, expected, strict=True)]
    return [x - sum(found) / k for x in found]


def count_of(crossed: Crossed, pair: tuple[int, int], weight: np.ndarray) -> np.ndarray:
    """Count the bins of two columns, row by row."""
    i, j = pair
    count = np.zeros((crossed.bins[i].size, crossed.bins[j].size, crossed.labels.k))
    for row, w in enumerate(weight):
        count[crossed.codes[i][row], crossed.codes[j][row], crossed.labels.codes[row]] += w
    return count


@WEIGHTS
def test_evidence_is_a_recount_without_each_row(weights: str) -> None:
    _, sample, fitting = fitted(*mixed(40, weights))
    crossed, labels = fitting.crossed, fitting.crossed.counted
    assert len({type(of) for of in crossed.bins}) == 2
    assert any(isinstance(of.column, TimePart) for of in crossed.bins)
    every = list(combinations(range(len(crossed.bins)), 2))
    found = crossed.evidence(every)
    assert found.shape == (len(labels), labels.k, len(every))
    left = labels.weights / sample.copies  # of two rows alike, one
    for at, (i, j) in enumerate(every):
        count = count_of(crossed, (i, j), labels.weights)
        for row in range(len(labels)):
            a, b, c = crossed.codes[i][row], crossed.codes[j][row], labels.codes[row]
            without = count.copy()
            without[a, b, c] = max(without[a, b, c] - left[row], 0.0)
            np.testing.assert_allclose(found[row, :, at], lift(without, a, b), atol=2e-5)


@WEIGHTS
def test_evidence_is_that_of_a_model_that_counts_the_pairs(weights: str) -> None:
    model, sample, fitting = fitted(*mixed(60, weights, seed=1))
    crossed = fitting.crossed
    every = list(combinations(range(len(crossed.bins)), 2))
    counted = model.with_interactions([crossed.interaction(of) for of in every], sample.batches)
    counted = counted.weighed(fitting.column_weights)
    np.testing.assert_allclose(crossed.evidence(every), fitting.of_pairs(counted), atol=1e-5)


def pairs_left_out(model: Model, batches: list[Batch], *, learned: bool) -> Floats:
    """Return the leave-one-out table of the counted pairs, (pairs, rows, classes)."""
    found = left_out(model, batches, learned=learned)
    return found.table[np.array(found.kinds) == "interaction"]


@WEIGHTS
@pytest.mark.parametrize("learned", [False, True])
def test_evidence_of_counted_pairs_is_that_of_the_leave_one_out_table(
    weights: str, *, learned: bool
) -> None:
    """Of rows that are in several batches, of which the model has learned all or none."""
    model, sample, whole = fitted(*mixed(60, weights, seed=3))
    (batch,) = sample.batches
    schema, tally = model.counted
    model = replace(model, counted=View(schema, tally * 2.0))
    every = list(combinations(range(len(whole.crossed.bins)), 2))
    columns = [whole.crossed.interaction(of) for of in every]
    counted = model.with_interactions(columns, [batch, batch]).weighed(whole.column_weights)
    halves = [batch.take(np.arange(25)), batch.take(np.arange(25, len(batch)))]
    fitting = Fitting.of(model, Sample(halves), learned=learned)
    table = pairs_left_out(counted, Sample(halves).encoded(counted), learned=learned)
    np.testing.assert_allclose(fitting.of_pairs(counted), table.transpose(1, 2, 0), atol=1e-5)


@WEIGHTS
def test_rows_that_are_held_out_are_not_counted(weights: str) -> None:
    model, sample, fitting = fitted(*mixed(60, weights, seed=2))
    crossed, rng = fitting.crossed, np.random.default_rng(0)
    third = rng.random(len(sample.labels)) < 1 / 3
    rest, out = np.flatnonzero(~third), np.flatnonzero(third)
    every = list(combinations(range(len(crossed.bins)), 2))
    (batch,) = sample.batches
    columns = [crossed.interaction(of) for of in every]
    counted = model.with_interactions(columns, [batch.take(rest)])
    counted = counted.weighed(fitting.column_weights)
    taken = crossed.take(rest)
    for found, rows, learned in (
        (taken.evidence(every), rest, True),
        (taken.evidence_of(crossed.take(out), every), out, False),
    ):
        batches = Sample([batch.take(rows)]).encoded(counted)
        of = pairs_left_out(counted, batches, learned=learned)
        np.testing.assert_allclose(found, of.transpose(1, 2, 0), atol=1e-5)


def test_a_row_of_frequency_two_is_the_row_twice() -> None:
    X, y, _ = mixed(60)
    twice = {name: np.concatenate([column, column]) for name, column in X.items()}
    one = fitted(X, y, frequencies=np.full(60, 2)).fitting
    two = fitted(twice, np.concatenate([y, y])).fitting
    every = list(combinations(range(len(one.crossed.bins)), 2))
    assert one.crossed.bins == two.crossed.bins
    np.testing.assert_array_equal(one.crossed.evidence(every), two.crossed.evidence(every))
    assert one.crossed.best(one.p) == two.crossed.best(one.p)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_gain_is_what_a_weight_of_its_own_saves_to_second_order(k: int, weighted: bool) -> None:
    rng = np.random.default_rng(k)
    n = 200
    code = rng.integers(0, 6, n).astype(np.int32)
    right = rng.integers(0, k, n)
    of_code = rng.normal(size=(6, k))
    of_code[code[right == 1], 1] += 0.02
    of_code -= of_code.mean(axis=1, keepdims=True)
    joint = rng.normal(size=(n, k))
    weight = rng.choice([0.3, 1.0, 2.0], n) if weighted else np.ones(n)
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    residual = -p * weight[:, None]
    residual[np.arange(n), right] += weight

    def loss(sign: float, t: float) -> float:
        moved = joint + sign * t * of_code[code]
        of_rows = np.logaddexp.reduce(moved, axis=1) - moved[np.arange(n), right]
        return float(weight @ of_rows)

    gains = []
    for sign in (1.0, -1.0):
        low, here, high = (loss(sign, t) for t in (-1e-3, 0.0, 1e-3))
        slope, curve = (high - low) / 2e-3, (high - 2 * here + low) / 1e-6
        expected = slope**2 / (2 * (curve + OF_INTERACTIONS)) if slope < 0 else 0.0
        gains.append(_gain(sign * of_code, code, p, residual, weight))
        assert gains[-1] == pytest.approx(expected, rel=1e-4)
    assert min(gains) == 0 < max(gains)  # weights are not negative


def test_the_gain_of_two_classes_is_the_general_one() -> None:
    """A class that has no rows and no probability changes nothing."""
    rng = np.random.default_rng(0)
    code, right = rng.integers(0, 5, 100).astype(np.int32), rng.integers(0, 2, 100)
    one = rng.normal(size=5)
    two = np.stack([-one, one], axis=1)
    p = rng.dirichlet([1, 1], 100)
    residual = -p
    residual[np.arange(100), right] += 1
    none = np.zeros((100, 1))
    of_many = np.hstack([two, np.zeros((5, 1))])
    for sign in (1.0, -1.0):
        found = _gain(sign * two, code, p, residual, np.ones(100))
        general = (sign * of_many, code, np.hstack([p, none]), np.hstack([residual, none]))
        assert found == pytest.approx(_gain(*general, np.ones(100)))


@pytest.mark.parametrize("how", ["truths", "numbers", "levels"])
def test_the_pair_that_tells_the_class_is_the_best(how: str) -> None:
    fitting = fitted(*together(400, how)).fitting
    best = fitting.crossed.best(fitting.p)
    assert set(fitting.crossed.interaction(best[0]).sources) == {"a", "b"}


def test_best_are_the_pairs_of_most_gain_and_three_a_column() -> None:
    rng = np.random.default_rng(0)
    y, same = rng.integers(0, 2, 300), rng.random(300) < 0.5
    # In one class all columns are nearly alike, so that every pair depends.
    other = rng.random((9, 300)) < np.where(y == 1, 0.1, 0.5)
    X = {f"c{j}": same ^ other[j] for j in range(9)}
    fitting = fitted(X, y).fitting
    best = fitting.crossed.best(fitting.p)
    assert len(best) == SHARE * 9 < 36
    weight = fitting.found.labels.weights
    n = len(weight)
    residual = (np.eye(2)[fitting.found.labels.codes] - fitting.p) * weight[:, None]
    gains = {}
    for pair in combinations(range(9), 2):
        evidence = fitting.crossed.evidence([pair])[:, :, 0].astype(float)
        gains[pair] = _gain(evidence, np.arange(n, dtype=np.int32), fitting.p, residual, weight)
    assert [gains[pair] for pair in best] == pytest.approx(sorted(gains.values())[::-1][:27])
    few = fitted(*noise_columns(300)).fitting
    assert few.crossed.best(few.p) == []
    assert GAIN == 2.0


def noise_columns(n: int) -> tuple[dict[str, Any], np.ndarray]:
    X, y = noise(n, 3, 2, seed=1)
    return dict(zip("abc", X.T, strict=True)), y


@WEIGHTS
def test_pairs_that_are_crossed_together_are_as_if_each_was_alone(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitting = fitted(*mixed(60, weights)).fitting
    labels = fitting.found.labels
    residual = labels.one_hot() - fitting.p * labels.weights[:, None]

    def gains() -> dict[tuple[int, int], float]:
        found = {}
        for some in fitting.crossed._crossings(len(fitting.p)):
            of = some.gains(fitting.p, residual, labels.weights)
            found |= dict(zip(some.pairs, of, strict=True))
        return found

    together = gains()
    monkeypatch.setattr(pairs, "TOGETHER", 1)
    alone = gains()
    assert [*together] == [*combinations(range(len(fitting.crossed.bins)), 2)] == [*alone]
    np.testing.assert_allclose([*alone.values()], [*together.values()], rtol=1e-12)


def _gain(
    of_code: np.ndarray, code: np.ndarray, p: np.ndarray, residual: np.ndarray, weight: np.ndarray
) -> float:
    """The gain of one pair, from its evidence by code."""
    one = Crossing([(0, 1)], of_code, code[None], np.array([0, len(of_code)]))
    return one.gains(p, residual, weight)[0]


@pytest.mark.parametrize("size", [50, 100_000])
def test_different_keys(size: int) -> None:
    key = np.random.default_rng(0).integers(0, size, 300)
    there, number = different(key, size)
    assert there.tolist() == sorted(set(key.tolist()))
    np.testing.assert_array_equal(there[number], key)


def test_bins_are_the_commonest_levels_or_hold_equally_many_numbers() -> None:
    rng = np.random.default_rng(0)
    n = 600
    many = rng.choice([f"level {i:02}" for i in range(14)], n, p=np.arange(14, 0, -1) / 105)
    a, b = rng.normal(size=(2, n))
    a[:10] = np.nan
    many = many.astype(object)
    many[20:25] = None
    X = {"a": a, "b": b, "few": rng.integers(0, 3, n) + 0.5, "many": many}
    _, sample, fitting = fitted(X, rng.integers(0, 2, n))
    crossed = fitting.crossed
    cuts = {of.column: of for of in crossed.bins}
    of = {bins.column: code for bins, code in zip(crossed.bins, crossed.codes, strict=True)}
    common = [level for level, _ in Counter(x for x in many if x).most_common(LEVELS)]
    assert isinstance(cuts["many"], LevelBins)
    assert list(cuts["many"].levels) == common
    assert (of["many"] == cuts["many"].size - 1).sum() == 5  # missing
    assert (of["many"] == LEVELS).sum() == sum(x is not None and x not in common for x in many)
    assert cuts["few"] == NumberBins("few", (1.5, 2.5))
    assert isinstance(cuts["b"], NumberBins)
    inside = np.histogram(b, [-np.inf, *cuts["b"].edges, np.inf])[0]
    assert len(inside) == round(0.6 * 600 ** (1 / 3)) == 5
    assert np.ptp(inside) <= 1
    assert set(cuts["b"].edges) <= set(b.tolist())
    assert sorted(np.bincount(of["b"])) == sorted(inside)
    assert (of["a"] == cuts["a"].size - 1).sum() == 10
    assert len(sample) == n


def test_of_levels_that_come_equally_often_the_same_have_bins_in_any_order() -> None:
    rng = np.random.default_rng(0)
    level = np.repeat([f"level {i:02}" for i in range(16)], 10).astype(object)
    X, y = {"level": level, "a": rng.normal(size=160)}, rng.integers(0, 2, 160)
    one = fitted(X, y).fitting.crossed.bins
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(160)
        other = fitted({name: column[order] for name, column in X.items()}, y[order])
        assert other.fitting.crossed.bins == one


@pytest.mark.parametrize(("n", "bins"), [(30, FEW), (1000, 6), (20_000, MANY)])
def test_there_are_more_bins_of_more_numbers(n: int, bins: int) -> None:
    numbers = np.random.default_rng(n).permutation(n) / n
    edges = _edges(numbers)
    assert len(edges) == bins - 1
    assert np.ptp(np.histogram(numbers, [-1, *edges, 2])[0]) <= 1
    assert _edges(np.append(numbers, np.nan)) == edges


def test_a_column_without_numbers_or_with_one_has_no_edge() -> None:
    assert _edges(np.full(5, np.nan)) == ()
    assert _edges(np.ones(5)) == ()
    assert _edges(np.array([3.0, 1.0, 1.0, 2.0])) == (2.0, 3.0)


def test_of_many_columns_those_that_say_most_are_paired() -> None:
    rng = np.random.default_rng(0)
    d, n = COLUMNS + 20, ROWS * (COLUMNS + 20)
    parts = [Part("g", i) for i in range(d)]
    said = dict(zip(parts, rng.permutation(d).astype(float), strict=True))

    def table_of(parts: list[Part], kinds: list[Any], n: int) -> LeaveOneOut:
        labels = encode_labels(np.arange(n) % 2)
        nothing = np.zeros((len(parts), 1, 1))
        return LeaveOneOut(
            parts, [True] * len(parts), kinds, nothing, np.zeros((n, 2)), np.zeros((n, 2)), labels
        )

    def of_columns(found: LeaveOneOut) -> list[Any]:
        return _columns(found.labels, found, lambda: said)

    most = [i for i in range(d) if said[parts[i]] >= d - COLUMNS]
    assert of_columns(table_of(parts, ["column"] * d, n)) == most
    # Of few rows there are fewer columns, as more pairs gain by chance.
    fewer = [i for i in range(d) if said[parts[i]] >= d - 30]
    few = table_of(parts, ["column"] * d, ROWS * 30)
    assert of_columns(few) == fewer
    twice = replace(few.labels, weight=np.full(ROWS * 30, 2.0))
    of_60 = [i for i in range(d) if said[parts[i]] >= d - 60]
    assert of_columns(replace(few, labels=twice)) == of_60
    others = [Part("g", "x"), Part("t", "words", 0), Part("one"), Part("g", "when")]
    kinds = ["column", "band", "column", "missing"]
    found = table_of(others, kinds, 100)
    assert _columns(found.labels, found, lambda: dict.fromkeys(others, 1.0)) == ["x"]
