"""A sample of as many rows of each class: which rows it holds, and what each of them stands for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes
from naively.counting.labels import Labels, encode_labels
from naively.fitting import reservoir
from naively.fitting.reservoir import Reservoir, SampleSize, rows_of_each
from naively.schema.schema import mixed
from tests.learning import learn_table
from tests.test_reservoir import MODEL, drawn, encoded, ids

SIZE = 30
THREE = learn_table([[0.0], [1.0], [2.0]], [0, 1, 2], "gaussian")


def drawn_from(
    y: np.ndarray, order: np.ndarray, cuts: list[int], groups: np.ndarray | None = None
) -> Reservoir:
    """Sample rows that are numbered, batch by batch."""
    sample = Reservoir.chosen_by(7)
    for rows in np.split(order, cuts):
        if len(rows):
            labels = encode_labels(y[rows])
            if groups is not None:
                labels = replace(labels, group=mixed(groups[rows].astype(np.uint64)))
            sample = sample.added(encoded(rows[:, None].astype(float), labels)).for_model(THREE)
    return sample


@given(rows=st.lists(st.integers(0, 60), min_size=1, max_size=6), most=st.integers(1, 100))
def test_of_each_class_as_many_stay_as_can_of_all(rows: list[int], most: int) -> None:
    cap = rows_of_each(np.array(rows), most)
    assert cap >= 1
    if sum(rows) <= most:
        assert cap >= max(rows)
    else:
        assert cap == 1 or sum(min(n, cap) for n in rows) <= most
        assert sum(min(n, cap + 1) for n in rows) > most


@given(seed=st.integers(0, 200), cuts=st.lists(st.integers(1, 299), max_size=4), data=st.data())
def test_any_order_and_any_batches_give_the_same_rows_of_each_class(
    seed: int, cuts: list[int], data: Any
) -> None:
    rng = np.random.default_rng(seed)
    y = rng.choice(3, 300, p=data.draw(st.sampled_from([[0.9, 0.08, 0.02], [0.4, 0.3, 0.3]])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reservoir, "sample_size", lambda *_: SampleSize(SIZE, SIZE, 0.0, ""))
        once = ids(drawn_from(y, np.arange(300), []), THREE)
        again = drawn_from(y, rng.permutation(300), sorted(cuts))
        half = drawn_from(y, np.arange(150), [])
        merged = half.merged(drawn_from(y, np.arange(150, 300), []), THREE)
        assert ids(again, THREE) == once
        assert merged is not None
        assert ids(merged, THREE) == once
    there = np.bincount(y, minlength=3)
    cap = rows_of_each(there, SIZE)
    of_class = np.bincount(y[np.array(once, int)], minlength=3)
    assert of_class.tolist() == np.minimum(there, cap).tolist()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_rows_that_were_dropped_leave_no_place_to_later_ones(seed: int, grouped: bool) -> None:
    """Classes of all sizes, more of them than may stay too, and groups: one sample of all rows."""
    rng = np.random.default_rng(seed)
    k, n, size = (int(rng.choice(of)) for of in ([2, 3, 6, 12], [20, 60, 120], [5, 10, 30]))
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 0.5)))
    groups = rng.integers(0, rng.choice([3, 10, 30]), n) if grouped else None
    order, cuts = rng.permutation(n), sorted(rng.integers(1, n, rng.integers(1, 5)))
    model = learn_table(np.arange(float(k))[:, None], list(range(k)), "gaussian")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reservoir, "sample_size", lambda *_: SampleSize(size, size, 0.0, ""))
        once = ids(drawn_from(y, np.arange(n), [], groups), model)
        again = ids(drawn_from(y, order, cuts, groups), model)
        half = drawn_from(y, order[: n // 3], [], groups)
        merged = half.merged(drawn_from(y, order[n // 3 :], [5], groups), model)
        assert merged is not None
        assert ids(merged, model) == again == once


def test_of_more_classes_than_rows_those_of_the_least_keys_have_one() -> None:
    y = np.random.default_rng(0).integers(0, 3, 300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reservoir, "sample_size", lambda *_: SampleSize(2, 2, 0.0, ""))
        once = ids(drawn_from(y, np.arange(300), []), THREE)
        again = ids(drawn_from(y, np.arange(300)[::-1], [7, 100, 250]), THREE)
    assert once == again
    assert len(once) == len(set(y[np.array(once, int)])) == 2


def test_each_row_of_a_class_is_in_it_as_often_as_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reservoir, "sample_size", lambda *_: SampleSize(12, 12, 0.0, ""))
    y, often = np.repeat([0, 1], [4, 36]), np.zeros(40)
    for seed in range(600):
        sample = Reservoir.chosen_by(seed)
        sample = sample.added(encoded(np.arange(40.0)[:, None], encode_labels(y))).for_model(MODEL)
        often[np.array(ids(sample), int)] += 1
    assert (often[:4] == 600).all()  # all of the rare class
    expected = 600 * 8 / 36
    assert np.abs(often[4:] - expected).max() < 5 * np.sqrt(expected)


@given(seed=st.integers(0, 1000), k=st.integers(1, 4))
def test_together_the_rows_of_a_class_stand_for_all_of_it(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    labels = Labels(
        rng.integers(0, k, 50).astype(np.int32), np.arange(k), rng.choice([0.5, 1, 2], 50)
    )
    count = rng.random(k) * 1e6
    found = labels.standing_for(count)
    assert found.weights.sum() == pytest.approx(float(labels.weights.sum()))
    there = np.unique(labels.codes)
    of_class = np.bincount(found.codes, found.weights, k)[there]
    np.testing.assert_allclose(of_class / of_class.sum(), count[there] / count[there].sum())
    drawn = np.bincount(labels.codes, labels.weights, k)
    assert labels.standing_for(drawn) is labels
    assert labels.standing_for(7 * drawn) is labels


def numbers(nb: NaiveBayes) -> list[float]:
    """Return the numbers of the rows in the sample, which are in the first column."""
    blocks = [
        block for batch in drawn(nb._learned.sample, nb.model_) for block in batch.blocks.values()
    ]
    return sorted(x for block in blocks for x in block.values[:, 0].tolist())


def test_files_and_streams_and_merged_models_have_all_rows_of_a_rare_class(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.full(30_000, "often")
    y[[3, 14_999, 29_000, 29_001]] = "rare"
    table = pa.table({"x": np.arange(30_000.0), "z": rng.normal(size=30_000), "y": y})
    halves = table.slice(0, 15_000), table.slice(15_000)
    for i, half in enumerate(halves):
        pq.write_table(half, tmp_path / f"{i}.parquet")
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=700))
    learned = [
        NaiveBayes("gaussian").fit(table, "y"),
        NaiveBayes("gaussian").fit(reader, "y"),
        NaiveBayes("gaussian").fit(ds.dataset(tmp_path), "y"),
        NaiveBayes("gaussian")
        .fit(halves[0], "y")
        .merge(NaiveBayes("gaussian").fit(halves[1], "y")),
    ]
    once = numbers(learned[0])
    assert {3.0, 14_999.0, 29_000.0, 29_001.0} <= set(once)
    assert all(numbers(nb) == once for nb in learned)


@pytest.mark.slow
@pytest.mark.parametrize("interactions", [None, "auto"])
def test_an_assessment_of_a_rare_class_is_that_of_fresh_rows(interactions: Any) -> None:
    def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        y = rng.random(n) < 0.01
        return rng.normal(size=(n, 3)) + y[:, None] * [1.5, 1.0, 0.0], y

    X, y = rows(60_000, 0)
    nb = NaiveBayes("gaussian", interactions=interactions).fit(X, y)
    found, fresh = nb.assess(), nb.evaluate(*rows(400_000, 1))
    assert found.rows < 20_000
    assert found.log_loss == pytest.approx(fresh.log_loss, rel=0.06)
    assert found.accuracy == pytest.approx(fresh.accuracy, abs=0.002)
    assert found.auc == pytest.approx(fresh.auc, abs=0.02)
    assert nb.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.1)
