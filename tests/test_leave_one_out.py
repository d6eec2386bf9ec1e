"""Leaving a row out in closed form is refitting without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naively import (
    Bernoulli,
    Categorical,
    Complement,
    Gaussian,
    Histogram,
    KernelDensity,
    Model,
    Multinomial,
    Text,
)
from naively.counting.axis import PRESENT, SQUARE, VALUE, Analyser
from naively.counting.labels import encode_labels
from naively.counting.leave_one_out import LeftOut, choose, leave_out
from naively.counting.tally import BlockTally
from naively.data.columns import column_rows
from naively.fitting.leave_one_out import leave_one_out_table
from tests.cases import CASES, DEFAULTS, LEVEL, REAL, TEXT, Case, numbers, objects
from tests.laws import Sample, samples
from tests.learning import coded, dense, learn


def frozen(event: Any) -> bool:
    """Whether something that depends on many columns or on all levels stays as it was."""
    if isinstance(event, Mapping):
        return any(map(frozen, event.values()))
    return (
        (isinstance(event, Gaussian) and event.floor > 0)
        or (isinstance(event, Categorical) and event.codes is not None)
        or (isinstance(event, Complement) and event.norm)
        or (isinstance(event, Analyser) and event.selects)
        or isinstance(event, KernelDensity)
        or "auto" in (getattr(event, "alpha", None), getattr(event, "m", None))
    )


ALONE = [
    *(case for case in CASES if not frozen(case.event)),
    Case(Categorical(m=3.0), LEVEL, objects),
    Case(Text(features=16, event=Multinomial()), TEXT, objects, text=True),
]


def centred(table: np.ndarray) -> np.ndarray:
    return table - table.mean(axis=-1, keepdims=True)


def without(model: Model, one: Sample) -> Model:
    """The model that never saw one row."""
    seen = Model.learn(one.rows, encode_labels(one.y, one.weight), model.counted.schema)
    return model - seen


@pytest.mark.slow
@pytest.mark.parametrize("case", ALONE, ids=repr)
@given(data=st.data())
def test_leave_one_out_is_refitting(case: Case, data: Any) -> None:
    sample = data.draw(samples(case, least=3, missing=not case.text))
    few = Counter(sample.y.tolist())
    assume(len(few) > 1 and min(few.values()) > 1)
    if data.draw(st.booleans()):
        sample = replace(sample, weight=np.tile([1.0, 2.0, 0.5], len(sample))[: len(sample)])
    labels = encode_labels(sample.y, sample.weight)
    found = leave_one_out_table(
        sample.model, sample.model.encode(sample.rows, labels), length_power=0.0
    ).table.sum(axis=0)
    assert_refitted(sample, found)


def assert_refitted(sample: Sample, found: np.ndarray) -> None:
    """What was found of each row is what the model without the row says."""
    model = sample.model
    for i in range(len(sample)):
        one = sample.take([i])
        left = without(model, one)
        if left.view.schema.derived != model.view.schema.derived:
            continue  # the row has the only missing cell of a column
        likelihood = left.joint_log_likelihood(one.rows) - left.class_log_prior
        if likelihood.min() < -500:
            continue  # what is impossible is clipped
        np.testing.assert_allclose(found[i], centred(likelihood)[0], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "text", [*DEFAULTS["note"], Text(binary=True, event=Multinomial())], ids=str
)
@given(data=st.data())
def test_leave_one_out_by_band_is_refitting(text: Text, data: Any) -> None:
    sample = data.draw(samples(Case(text, TEXT, objects, text=True), least=3, missing=True))
    few = Counter(sample.y.tolist())
    assume(len(few) > 1 and min(few.values()) > 1)
    labels = encode_labels(sample.y)
    found = leave_one_out_table(sample.model, sample.model.encode(sample.rows, labels))
    assert set(found.kinds) == {"band"}
    for i in range(len(sample)):
        one = sample.take([i])
        left = without(sample.model, one)
        alone = leave_one_out_table(
            left, left.encode(one.rows, encode_labels(one.y)), learned=False
        )
        of = [found.parts.index(part) for part in alone.parts]
        np.testing.assert_allclose(found.table[of, i], alone.table[:, 0], rtol=1e-9, atol=1e-9)
        rest = np.delete(found.table[:, i], of, axis=0)  # bands that are empty without the row
        assert not rest.any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "event",
    [Histogram(), Histogram(bins=4), Histogram(edges="width"), Histogram(edges="mdl")],
    ids=repr,
)
@pytest.mark.parametrize(("n", "k"), [(8, 2), (13, 3), (30, 2), (60, 3)])
def test_leave_one_out_is_refitting_of_bins_and_widths_too(
    event: Histogram, n: int, k: int
) -> None:
    rng = np.random.default_rng(n)
    y = np.append(np.arange(k).repeat(2), rng.integers(0, k, n - 2 * k))
    columns = {
        "normal": rng.normal(size=n) + (y == 0),
        "few": rng.integers(0, 5, n) + 1.0 * (y == 1),
        "mostly 0": np.where(rng.random(n) < 0.5, 0.0, rng.lognormal(size=n)),
        "apart": np.where(y == 0, rng.integers(0, 2, n) * 10.0, 5.0) + rng.random(n),
    }
    columns["normal"][rng.random(n) < 0.2] = np.nan
    for weight in (None, np.tile([1.0, 2.0, 0.5], n)[:n]):
        sample = Sample(Case(event, REAL, numbers), columns, y, weight)
        labels = encode_labels(y, weight)
        model = sample.model
        found = leave_one_out_table(model, model.encode(sample.rows, labels)).table.sum(axis=0)
        assert_refitted(sample, found)


@pytest.mark.parametrize("event", [Histogram(smoothing=1.2), Histogram(smoothing=0, m=1.0)])
def test_leave_one_out_of_a_histogram_whose_bins_stay(event: Histogram) -> None:
    x = np.tile([0.0, 1.0, 2.5, 7.0, np.nan], 8)  # each number comes often: no bin goes
    y = np.random.default_rng(0).permutation(np.repeat(["a", "b"], 20))
    rows = column_rows({"x": x})
    model = learn(rows, encode_labels(y), event)
    found = leave_one_out_table(model, model.encode(rows, encode_labels(y))).table.sum(axis=0)
    for i in range(len(y)):
        one = rows.take([i])
        left = model - Model.learn(one, encode_labels(y[[i]]), model.counted.schema)
        likelihood = left.joint_log_likelihood(one) - left.class_log_prior
        np.testing.assert_allclose(found[i], centred(likelihood)[0], rtol=1e-9, atol=1e-9)


def test_the_choice_of_least_loss_is_the_first_of_equals_for_each_column() -> None:
    losses = np.array([[3.0, 1.0, 2.0], [2.0, 1.0, 2.0], [2.0, 4.0, 1.0]])
    assert choose([0.5, 1.0, 2.0], losses).tolist() == [1.0, 0.5, 2.0]
    assert choose([0.5, 1.0, 2.0], losses.sum(axis=1)) == 1.0


def test_a_cell_is_judged_by_the_sums_of_its_column_without_its_row() -> None:
    x = np.array([[1.0, np.nan], [4.0, 2.0], [np.nan, 8.0]])
    labels = coded([0, 1, 0], 2, np.array([1.0, 2.0, 0.5]))
    block = dense(x)
    statistics = (PRESENT, VALUE, SQUARE)
    cells = LeftOut.of(block, labels)
    rest = cells.rest(BlockTally(*block.count(statistics, labels)), statistics)
    for i, (row, column) in enumerate([(0, 0), (1, 0), (1, 1), (2, 1)]):
        others = (np.arange(3) != row) & ~np.isnan(x[:, column])
        for statistic, power in zip(statistics, range(3), strict=True):
            added = labels.one_hot()[others] * x[others, column, None] ** power
            np.testing.assert_array_equal(rest[statistic].high[i], added.sum(axis=0))
    evidence = cells.spread(np.arange(8.0).reshape(4, 2))
    assert evidence[:, :, 1].tolist() == [[1.0, 0.0], [3.0, 5.0], [0.0, 7.0]]


def test_less_than_a_row_leaves_nothing() -> None:
    sums = np.array([[3.0, 2.0], [0.25, 2.0]])
    left = leave_out(sums, np.array([1, 0]), np.array([0.5, 1.0]))
    assert left.tolist() == [[3.0, 1.5], [0.0, 2.0]]
    assert sums.tolist() == [[3.0, 2.0], [0.25, 2.0]]


@pytest.mark.parametrize("weighted", [False, True])
def test_shares_of_true_are_left_out_one_by_one(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.choice([0.0, 0.25, 0.6, 1.0], (30, 3)), rng.integers(0, 2, 30).astype(np.int32)
    weight = rng.choice([0.5, 1.0], 30) if weighted else None
    event = Bernoulli(alpha=1.0, threshold=None)
    block, labels = dense(X), coded(y, 2, weight)
    found = event.leave_one_out(event.tally(block, labels), block, labels)
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        others = event.tally(dense(X[rest]), labels.take(rest))
        one = event.terms(others).at(X[i], np.arange(3))
        np.testing.assert_allclose(found[i], one, rtol=1e-9)
