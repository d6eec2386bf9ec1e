"""Cells: the kernels against the contract, and that only the rows decide which cells there are."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naively import Tally
from naively.counting import axis as cells
from naively.counting import block as blocks
from naively.counting.axis import CELL, ByValue, Cells, Columns, Levels, as_float
from naively.counting.block import Dense
from naively.counting.labels import Labels
from naively.counting.tally import BlockTally
from naively.kernels import reference as grid
from naively.kernels.reference import CAP, coarsest, sortable
from tests.test_kernels import (
    LAYOUTS,
    WEIGHTS,
    assert_same_pair,
    check_scores,
    native,
    needs_native,
    restride,
)
from tests.test_kernels import weigh as weights_of

NUMBER = st.floats(width=64, allow_nan=True) | st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf])
SMALL = 5  # a cap that few numbers reach


def wild(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of many scales, some missing, infinite, repeated or minus zero."""
    X = rng.standard_cauchy((n, d)) * 10.0 ** rng.integers(-5, 5, d)
    for value, share in ((np.nan, 0.1), (np.inf, 0.02), (-np.inf, 0.02), (-0.0, 0.05), (7.0, 0.05)):
        X[rng.random((n, d)) < share] = value
    return X


def test_a_column_of_one_tally_alone_keeps_its_cells() -> None:
    X = np.random.default_rng(0).normal(size=(5 * CAP, 2))  # more than a column has cells
    labels = Labels(np.zeros(len(X), np.int32), np.arange(1))
    both = BlockTally(*Dense(X, Columns(("a", "b"))).count((CELL,), labels))
    a, b = (
        BlockTally(*Dense(X[:, [j]], Columns((name,))).count((CELL,), labels))
        for j, name in enumerate("ab")
    )
    joined, of_a, of_b = a.axis.union(b.axis)
    assert all(joined.shifts)
    for of in ("shifts", "first", "keys"):
        np.testing.assert_array_equal(getattr(both.axis, of), getattr(joined, of))
    np.testing.assert_array_equal(np.concatenate([of_a, of_b]), np.arange(len(joined)))


# --- keys ----------------------------------------------------------------------------------------


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=30))
def test_keys_are_in_the_order_of_the_numbers(x: list[float]) -> None:
    numbers = np.sort(np.array(x))
    keys = sortable(numbers)
    assert ((keys[1:] > keys[:-1]) == (numbers[1:] > numbers[:-1])).all()
    np.testing.assert_array_equal(as_float(keys), numbers)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60), st.integers(4, 20))
def test_as_few_bits_are_lost_as_can_be(x: list[float], cap: int) -> None:
    keys = np.unique(sortable(np.array(x)))
    lost = coarsest(keys, cap)
    assert len(np.unique(keys >> lost)) <= cap
    assert lost == 0 or len(np.unique(keys >> (lost - 1))) > cap


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60))
def test_a_number_is_in_the_interval_of_its_cell(x: list[float]) -> None:
    numbers = np.array(x)
    *found, _ = grid.tally_cells(numbers[:, None], np.zeros(len(x), np.int32), None, 1, SMALL)
    axis = Cells(("x",), *found)
    row = axis.find(numbers, np.zeros(len(x), np.int64))
    assert ((axis.low[row] <= numbers) & (numbers <= axis.high[row])).all()
    assert (axis.high[:-1] <= axis.low[1:]).all()


# --- kernels -------------------------------------------------------------------------------------


@needs_native
@pytest.mark.parametrize("cap", [4, 5, 64, 1024])
@pytest.mark.parametrize("n", [0, 1, 7, 130, 3000])
def test_native_cells_are_the_contracts(n: int, cap: int) -> None:
    rng = np.random.default_rng([n, cap])
    for d, k in ((0, 1), (1, 3), (3, 1), (9, 2), (17, 33)):
        X, y = wild(n, d, rng), rng.integers(0, k, n).astype(np.int32)
        w = weights_of(rng.choice(WEIGHTS), n, rng)
        assert_same_cells(native.tally_cells(X, y, w, k, cap), grid.tally_cells(X, y, w, k, cap))


@needs_native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, ">f8"])
def test_native_cells_of_every_layout(layout: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (500, 11)) if dtype is np.int64 else wild(500, 11, rng).astype(dtype)
    y = rng.integers(0, 3, 500).astype(np.int32)
    expected = grid.tally_cells(X, y, None, 3, 100)
    assert_same_cells(native.tally_cells(restride(X, layout), y, None, 3, 100), expected)


@needs_native
@pytest.mark.parametrize("count", [1, 2, 5])
def test_threads_do_not_show(count: int) -> None:
    rng = np.random.default_rng(2)
    X, y, w = wild(60_000, 12, rng), rng.integers(0, 2, 60_000), rng.random(60_000)
    before = native.threads()
    native.set_threads(count)
    try:
        found = native.tally_cells(X, y, w, 2, 500)
    finally:
        native.set_threads(before)
    assert_same_cells(found, grid.tally_cells(X, y, w, 2, 500))


def assert_same_cells(actual: Any, expected: Any) -> None:
    for part, of_contract in zip(actual[:3], expected[:3], strict=True):
        np.testing.assert_array_equal(part, of_contract)
        assert part.dtype == of_contract.dtype
    assert_same_pair(actual[3], expected[3], expected[3][0])


@needs_native
@pytest.mark.parametrize("exponent", [-300, -60, 0, 30, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_native_cells_of_many_rows_are_the_contracts(exponent: int, weighted: bool) -> None:
    # Enough rows for a column's cells to be known before most of its numbers come, and some that
    # come late: far away, of the other sign, with more digits, or so many that cells are joined.
    n, rng = 9000, np.random.default_rng([4, abs(exponent), weighted])
    whole, late = rng.integers(-40, 200, n), np.arange(n) > 6000
    X = np.column_stack(
        [
            whole, np.where(late, whole / 3, whole), np.where(late, -whole, np.abs(whole)),
            rng.standard_normal(n), np.where(late, rng.standard_normal(n), rng.integers(0, 3, n)),
            1.0 + rng.random(n) / 1000, rng.lognormal(0, 8, n),
            rng.choice([0.0, -0.0, 0.1, -0.1, np.nan, np.inf, -np.inf, 5e-324], n),
        ]
    )  # fmt: skip
    X = np.ldexp(X, exponent)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, n).astype(np.int32)
    w = rng.choice([0.0, 0.5, 0.1], n) if weighted else None
    for cap in (16, 1024):
        for layout in ("C", "F"):
            found = native.tally_cells(np.array(X, order=layout), y, w, 3, cap)
            assert_same_cells(found, grid.tally_cells(X, y, w, 3, cap))


@needs_native
@pytest.mark.parametrize("late", range(2030, 2050))
def test_cells_that_are_joined_are_not_found_as_they_were(late: int) -> None:
    # Rows are counted 1,024 at a time. There is room for eight cells; the ninth comes so late that
    # few numbers follow it before the next rows.
    x = np.random.default_rng(6).integers(1, 9, 5000).astype(np.float64)
    x[late] = 100.0
    found = native.tally_cells(x[:, None], np.zeros(5000, np.int32), None, 1, 4)
    expected = grid.tally_cells(x[:, None], np.zeros(5000, np.int32), None, 1, 4)
    assert_same_cells(found, expected)


@pytest.mark.slow
@needs_native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 1100, 4200])
def test_native_bins_are_the_contracts(layout: str, dtype: Any, n: int) -> None:
    rng = np.random.default_rng(3)
    X = wild(n, 10, rng).astype(dtype)
    edges = [np.unique(wild(rng.integers(0, 40), 1, rng)) for _ in range(4)]
    # At equal distances, in pairs, in one place, beyond most numbers, and on numbers themselves.
    edges += [np.linspace(-1, 1, 32), np.repeat(np.linspace(-9, 9, 12), 2), np.full(9, 0.5)]
    edges += [np.linspace(1e300, 1e301, 9), np.sort(X[:32, 8].astype(np.float64)), np.empty(0)]
    edges = [e[~np.isnan(e)] for e in edges]
    first = np.cumsum([0, *map(len, edges)])
    arguments = np.concatenate(edges), first
    np.testing.assert_array_equal(
        native.find_bins(restride(X, layout), *arguments), grid.find_bins(X, *arguments)
    )
    for k in (1, 2, 5, 12):
        table = rng.normal(size=(int(first[-1]) + 10, k))
        table[rng.random(table.shape) < 0.02] = -np.inf
        scored = restride(X, layout), *arguments, table
        check_scores("score_bins", scored, n, k, rng, grid)


@needs_native
def test_a_number_at_an_edge_has_reached_it() -> None:
    rng = np.random.default_rng(5)
    for edges in (np.sort(rng.random(31)), np.sort(rng.lognormal(0, 3, 31)), np.arange(31) / 10):
        near = [edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]
        X = np.tile(np.concatenate(near), 60)[:, None]
        found = native.find_bins(X, edges, np.array([0, 31]))[:, 0].reshape(60, 3, 31)
        assert (found == np.stack([np.arange(31) + 1, np.arange(31), np.arange(31) + 1])).all()


@pytest.mark.parametrize("module", [grid, native], ids=["numpy", "native"])
def test_what_cannot_be_counted_is_said(module: Any) -> None:
    if module is None:
        pytest.skip("built without native kernels")
    X, y = np.zeros((2, 1)), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="class index"):
        module.tally_cells(X, y + 1, None, 1, 9)
    with pytest.raises(ValueError, match="room for four"):
        module.tally_cells(X, y, None, 1, 3)


# --- laws ----------------------------------------------------------------------------------------


@st.composite
def tables(draw: Any, least: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw numbers of two columns with their classes and weights."""
    n = draw(st.integers(least, 30))
    X = np.array(draw(st.lists(st.tuples(NUMBER, NUMBER), min_size=n, max_size=n)))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    w = draw(st.lists(st.sampled_from([0.0, 1.0, 0.3, 2.0]), min_size=n, max_size=n))
    return X.reshape(n, 2), np.array(y, np.int32), np.array(w)


@pytest.fixture(autouse=True)
def _few_cells(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "capped" in request.node.name:
        monkeypatch.setattr(cells, "coarsest", partial(coarsest, cap=SMALL))
        monkeypatch.setattr(cells, "CAP", SMALL)
        monkeypatch.setattr(blocks, "CAP", SMALL)


def counted(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> Tally:
    labels = Labels(y, np.arange(2), w)
    block = BlockTally(*Dense(X, Columns(range(X.shape[1]))).count((CELL,), labels))
    return Tally(labels.classes, labels.by_class(), {"x": block})


def assert_same_tally(a: Tally, b: Tally) -> None:
    assert_same_block(a.blocks["x"], b.blocks["x"])


def assert_same_block(a: BlockTally, b: BlockTally) -> None:
    assert isinstance(a.axis, Cells)
    assert isinstance(b.axis, Cells)
    for of in ("shifts", "first", "keys"):
        np.testing.assert_array_equal(getattr(a.axis, of), getattr(b.axis, of))
    zero = a[CELL] - b[CELL]
    assert (np.abs(zero.high) <= 1e-28 * (1 + np.abs(a[CELL].high))).all()


@given(tables(least=3), st.randoms(use_true_random=False))
def test_capped_cells_do_not_show_order_chunks_or_merging(table: Any, random: Any) -> None:
    X, y, w = table
    whole = counted(X, y, w)
    order = random.sample(range(len(y)), len(y))
    assert_same_tally(counted(X[order], y[order], w[order]), whole)
    a, b, c = (
        counted(X[rows], y[rows], w[rows]) for rows in (order[0::3], order[1::3], order[2::3])
    )
    assert_same_tally((a + b) + c, whole)
    assert_same_tally(c + (b + a), whole)


@given(tables(least=2))
def test_capped_cells_of_weight_zero_were_never_seen(table: Any) -> None:
    X, y, w = table
    seen = w > 0
    assert_same_tally(counted(X, y, w), counted(X[seen], y[seen], w[seen]))


@given(tables(least=2), st.data())
def test_capped_forgetting_is_refitting_at_the_bits_kept(table: Any, data: Any) -> None:
    X, y, w = table
    cut = data.draw(st.integers(1, len(y) - 1))
    difference = counted(X, y, w) - counted(X[cut:], y[cut:], w[cut:])
    assume(len(difference.classes) == 2)
    left = difference.blocks["x"]
    kept = counted(X[:cut], y[:cut], w[:cut]).blocks["x"]
    assert isinstance(left.axis, Cells)
    assert isinstance(kept.axis, Cells)
    # At the bits kept, what was never forgotten has the same cells.
    for j, lost in enumerate((left.axis.shifts - kept.axis.shifts).tolist()):
        keys, kept_keys = (np.split(of.axis.keys, of.axis.first[1:-1])[j] for of in (left, kept))
        of_kept, of_left = (
            block[CELL].high[block.axis.first[j] : block.axis.first[j + 1]]
            for block in (kept, left)
        )
        expected: dict[int, np.ndarray] = {}
        for key, counts in zip((kept_keys >> max(lost, 0)).tolist(), of_kept, strict=True):
            expected[key] = expected.get(key, np.zeros(2)) + counts
        assert keys.tolist() == list(expected)
        np.testing.assert_allclose(
            of_left, np.array([*expected.values()]).reshape(-1, 2), rtol=1e-12
        )


def test_a_million_scales_leave_at_most_the_cap() -> None:
    x = np.concatenate([s * 2.0 ** np.arange(-1074, 1024) for s in (-1, 1)])[:, None]
    parts = [x[i::7] for i in range(7)]
    y = np.zeros(len(x), np.int32)
    whole = counted(x, y, np.ones(len(x)))
    merged = counted(parts[0], y[: len(parts[0])], np.ones(len(parts[0])))
    for part in parts[1:]:
        merged = merged + counted(part, y[: len(part)], np.ones(len(part)))
    assert_same_tally(merged, whole)
    axis = whole.blocks["x"].axis
    assert isinstance(axis, Cells)
    assert len(axis) <= CAP
    assert axis.shifts[0] > 52  # not even the exponent is whole


def test_columns_that_only_one_side_has_meet_by_name() -> None:
    def block(names: tuple[str, ...], X: list[list[float]]) -> BlockTally:
        labels = Labels(np.zeros(len(X), np.int32), np.zeros(1, np.int64))
        return BlockTally(*Dense(np.array(X), Columns(names)).count((CELL,), labels))

    a, b = block(("x", "y"), [[1.0, 2.0], [1.0, 3.0]]), block(("z", "y"), [[5.0, 2.0]])
    left, right = a.align(b)
    total = left[CELL] + right[CELL]
    assert isinstance(left.axis, Cells)
    expected = [("x", 1.0), ("y", 2.0), ("y", 3.0), ("z", 5.0)]
    assert [left.axis.label(i) for i in range(len(left.axis))] == expected
    assert total.high[:, 0].tolist() == [2.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("axis", [Levels((), ()), Cells.join((), (), ())], ids=repr)
def test_an_axis_of_no_columns_has_no_rows(axis: ByValue) -> None:
    assert len(axis) == 0
    assert axis.sum_by_column(np.empty((0, 2))).shape == (0, 2)
    assert Cells.join((), (), ()).low.shape == (0,)
