"""Rows have the same fingerprint exactly if their cells and labels are equal, however encoded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.kernels import reference as hashes
from naively.schema.choose import infer, read_as_given
from naively.schema.schema import fingerprints
from tests.test_cells import wild
from tests.test_kernels import LAYOUTS, native, needs_native, restride

NUMBERS = [0.0, 1.0, -1.0, 2.0, 0.5, 1e300, 5e-324, -0.0, np.inf]


def prints(X: Any, y: Any = None, event_models: Any = "auto") -> np.ndarray:
    rows = read_as_given(as_rows(X), event_models)
    labels = encode_labels(np.zeros(len(rows), int) if y is None else y)
    return fingerprints(infer(rows, event_models).encode(rows, labels), np.uint64(7))


@given(st.lists(st.lists(st.sampled_from([*NUMBERS, np.nan]), min_size=3, max_size=3), min_size=1))
def test_equal_rows_have_equal_ones_and_others_do_not(cells: list[list[float]]) -> None:
    rows = [tuple("missing" if np.isnan(x) else x + 0.0 for x in row) for row in cells]
    found = prints(np.array(cells), event_models="gaussian").tolist()
    assert len(set(found)) == len(set(rows))
    by_row = dict(zip(rows, found, strict=True))
    assert [by_row[row] for row in rows] == found


def test_it_does_not_matter_how_numbers_are_encoded() -> None:
    X = np.random.default_rng(0).integers(0, 2, (50, 4)).astype(float)
    dense = prints(X, event_models="poisson")
    for other in (
        prints(sparse.csr_array(X), event_models="poisson"),
        prints(X, event_models="bernoulli"),
        prints(X, event_models="categorical"),
        prints(X.astype(int), event_models="categorical"),
        prints(X.astype(np.float32), event_models="histogram"),
    ):
        np.testing.assert_array_equal(other, dense)


def test_a_string_is_the_same_as_level_and_as_text() -> None:
    strings = ["one two", "three", None, "one two"]
    levels = prints({"a": strings}, event_models="categorical")
    for table in ({"a": strings}, pa.table({"a": strings})):
        np.testing.assert_array_equal(prints(table, event_models="text"), levels)
    assert levels[0] == levels[3] != levels[1]


def test_a_missing_column_is_as_if_it_were_not_there_and_zero_is_not_missing() -> None:
    x = np.array([1.0, 2.0, 0.0])
    alone = prints({"x": x})
    with_nothing = {"x": x, "z": np.full(3, np.nan), "s": [None] * 3}
    np.testing.assert_array_equal(prints(with_nothing), alone)
    assert prints({"x": [np.nan]}) != prints({"x": [0.0]})
    assert not np.isin(prints({"x": x, "z": np.zeros(3)}), alone).any()


def test_the_order_of_columns_does_not_matter_but_their_names_do() -> None:
    a, b = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    both = prints({"a": a, "b": b})
    np.testing.assert_array_equal(prints({"b": b, "a": a}), both)
    assert not np.isin(prints({"a": b, "b": a}), both[:1]).all()
    assert not np.isin(prints({"a": a, "c": b}), both).any()


def test_the_label_counts() -> None:
    X = np.ones((4, 1))
    found = prints(X, ["p", "q", "p", "r"])
    assert found[0] == found[2]
    assert len(set(found.tolist())) == 3


@pytest.mark.parametrize("n", [200_000])
def test_they_are_spread_evenly(n: int) -> None:
    found = prints(np.arange(float(n))[:, None], event_models="gaussian")
    assert len(np.unique(found)) == n
    for bits in (found >> np.uint64(56), found & np.uint64(255)):
        count = np.bincount(bits.astype(np.int64), minlength=256)
        assert abs(count - n / 256).max() < 6 * np.sqrt(n / 256)


# --- the kernel ----------------------------------------------------------------------------------


def test_the_hash_of_a_row_is_the_sum_of_those_of_its_cells_by_hand() -> None:
    total = hashes.hash_rows(np.array([[1.0, np.nan], [-0.0, 0.0]]), np.array([3, 5], np.uint64))
    salt = 0x9E3779B97F4A7C15
    of_one = int(np.array(1.0).view(np.uint64))
    expected = [(of_one ^ of_one >> 32 ^ salt) * 3, salt * 3 + salt * 5]
    assert total.tolist() == [number % 2**64 for number in expected]


@needs_native
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (1, 1), (1100, 10), (40_000, 17)], ids=str)
def test_native_hashes_are_the_contracts(
    shape: tuple[int, int], dtype: Any, layout: str, count: int
) -> None:
    rng = np.random.default_rng(4)
    X = wild(*shape, rng).astype(dtype)
    factors = rng.integers(0, 2**64, shape[1], np.uint64)
    before = native.threads()
    native.set_threads(count)
    try:
        found = native.hash_rows(restride(X, layout), factors)
    finally:
        native.set_threads(before)
    np.testing.assert_array_equal(found, hashes.hash_rows(X, factors))
    assert found.dtype == np.uint64


@needs_native
def test_native_hashes_need_a_factor_for_each_column() -> None:
    with pytest.raises(ValueError, match="the shape of factors is wrong"):
        native.hash_rows(np.ones((2, 3)), np.ones(2, np.uint64))
