"""Double-double sums against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.kernels.double_double import Sums, sum_by_group, two_product, two_sum
from naively.kernels.sparse_sums import as_sparse

REAL = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)
LISTS = st.lists(REAL, min_size=1, max_size=40)


def exact(sums: Sums) -> Fraction:
    return Fraction(float(sums.high)) + Fraction(float(sums.low))


def close(sums: Sums, value: Fraction, scale: Fraction) -> bool:
    return abs(exact(sums) - value) <= scale * Fraction(1, 10**29)


@given(REAL, REAL)
def test_error_free_transformations_are_exact(a: float, b: float) -> None:
    s, e = two_sum(np.float64(a), np.float64(b))
    assert Fraction(float(s)) + Fraction(float(e)) == Fraction(a) + Fraction(b)
    p, e = two_product(np.float64(a), np.float64(b))
    assert Fraction(float(p)) + Fraction(float(e)) == Fraction(a) * Fraction(b)


@given(st.floats(1e300, 1e308), st.floats(1e-100, 1.0))
def test_a_product_of_the_largest_numbers_is_exact(a: float, b: float) -> None:
    for one, other in ((a, b), (b, a), (-a, b)):
        p, e = two_product(np.array([one, 3.0]), np.array([other, 0.1]))
        exact_products = [Fraction(one) * Fraction(other), 3 * Fraction(0.1)]
        assert [Fraction(x) + Fraction(y) for x, y in zip(p, e, strict=True)] == exact_products


@given(LISTS)
def test_a_total_is_right_to_29_digits(numbers: list[float]) -> None:
    scale = sum(abs(Fraction(x)) for x in numbers)
    assert close(Sums(np.array(numbers)).total(), sum(map(Fraction, numbers)), scale)


@given(st.lists(st.tuples(st.integers(0, 3), REAL), min_size=1, max_size=30))
def test_totals_by_group_are_totals(cells: list[tuple[int, float]]) -> None:
    cells.sort(key=lambda cell: cell[0])
    group = np.array([g for g, _ in cells])
    starts = np.unique(group, return_index=True)[1]
    totals = Sums(np.array([x for _, x in cells])).total_by_group(starts)
    for i, g in enumerate(np.unique(group)):
        members = [Fraction(x) for h, x in cells if h == g]
        assert close(totals[i], sum(members, Fraction(0)), sum(map(abs, members), Fraction(0)))


@pytest.mark.parametrize("largest", [3, 40, 51, 54])  # powers of two; up to 52 sums are exact
@pytest.mark.parametrize(("unit", "low"), [(1.0, 0.0), (1.0, 1e-17), (0.1, 0.0), (0.5, 0.0)])
def test_totals_of_whole_numbers_and_of_others_are_exact(
    largest: int, unit: float, low: float
) -> None:
    rng = np.random.default_rng(largest)
    for n in range(1, 30):
        group = np.sort(rng.integers(0, 3, n))
        numbers = unit * (rng.choice([-1, 1], n) * 2.0 ** rng.integers(0, largest, n) + n)
        groups, starts = np.unique(group, return_index=True)
        totals = Sums(numbers, np.full(n, low)).total_by_group(starts)
        for i, g in enumerate(groups):
            members = [Fraction(x) + Fraction(low) for x in numbers[group == g]]
            assert close(totals[i], sum(members, Fraction(0)), sum(map(abs, members), Fraction(0)))


@given(LISTS, LISTS)
def test_what_is_added_can_be_taken_back(a: list[float], b: list[float]) -> None:
    x, y = Sums(np.array(a)).total(), Sums(np.array(b)).total()
    scale = max(abs(exact(x)), abs(exact(y)))
    assert abs(exact(x + y - y) - exact(x)) <= scale * Fraction(2) ** -79


@given(REAL, REAL.filter(bool), REAL)
def test_products_and_quotients(a: float, b: float, c: float) -> None:
    x, y = Sums(np.array(a)) + Sums(np.array(c)), Sums(np.array(b))
    product, quotient = exact(x) * exact(y), exact(x) / exact(y)
    if abs(product) < 1e200 and (product == 0 or abs(product) > 1e-200):
        assert close(x * y, product, abs(product))
    if abs(quotient) < 1e200 and (quotient == 0 or abs(quotient) > 1e-200):
        assert close(x / y, quotient, abs(quotient))


@pytest.mark.parametrize("shape", [(7,), (7, 3)])
@pytest.mark.parametrize("other", [(), (7, 1), (7, 3)])
def test_strips_do_not_show(
    shape: tuple[int, ...], other: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    other = other[: len(shape)]
    a, b = (Sums(rng.random(of), 1e-17 * rng.random(of)) for of in (shape, other))
    whole = [a + b, a - b, a * b, Sums(a.high) + Sums(a.high)]
    monkeypatch.setattr("naively.kernels.double_double.STRIP", 4)
    for found, expected in zip(
        [a + b, a - b, a * b, Sums(a.high) + Sums(a.high)], whole, strict=True
    ):
        np.testing.assert_array_equal(found.high, expected.high)
        np.testing.assert_array_equal(found.low, expected.low)


def test_cancelled_to_rounding_is_zero() -> None:
    x = Sums(np.array([0.1, 1.0])) * 3.0
    left = (x + Sums(np.array([0.7, 5.0])) * 0.1) - Sums(np.array([0.7, 5.0])) * 0.1 - x
    assert left.high.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("strip", [4, 1 << 15])
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (7, 3)])
def test_totals_over_an_axis(
    shape: tuple[int, int], strip: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("naively.kernels.double_double.STRIP", strip)
    x = np.arange(np.prod(shape), dtype=float).reshape(shape)
    np.testing.assert_array_equal(Sums(x).total().high, x.sum(axis=0))
    np.testing.assert_array_equal(Sums(x).total(axis=1).high, x.sum(axis=1))


def test_rows_of_a_table_that_go_to_one_place_are_added() -> None:
    x = np.random.default_rng(0).integers(0, 100, (7, 3)).astype(float)
    rows = np.array([4, 4, 4, 0, 2, 2, 5])
    expected = np.zeros((6, 3))
    np.add.at(expected, rows, x)
    np.testing.assert_array_equal(Sums(x).place(rows, 6).high, expected)


@pytest.mark.parametrize("form", [lambda sums: sums, as_sparse], ids=["dense", "sparse"])
def test_the_sum_of_each_class_does_not_depend_on_the_order_of_the_rows(form) -> None:
    rng = np.random.default_rng(0)
    high = np.where(rng.random((400, 3)) < 0.6, rng.choice([0.3, 7.25, 1 / 3, 1e-9], (400, 3)), 0.0)
    expected = form(Sums(high)).by_class()
    for _ in range(20):
        np.testing.assert_array_equal(form(Sums(rng.permutation(high))).by_class(), expected)
    assert len({float(rng.permutation(high[:, 0]).cumsum()[-1]) for _ in range(20)}) > 1


@given(LISTS, st.randoms())
def test_sums_by_group_are_exact_in_any_order(values: list[float], random: Any) -> None:
    order = [*range(len(values))]
    random.shuffle(order)
    x, group = np.array(values), np.arange(len(values)) % 3
    found = sum_by_group(x, group, 3)
    np.testing.assert_array_equal(found, sum_by_group(x[order], group[order], 3))
    for c in range(3):
        of = values[c::3]
        assert found[c] == pytest.approx(
            math.fsum(of), rel=1e-15, abs=1e-15 * max(map(abs, of), default=0)
        )


def test_whole_numbers_that_a_float_does_not_tell_apart_are_added_in_any_order() -> None:
    whole = [2.0**55, 9.0, 4.0, 5.0]
    found = {
        float(sum_by_group(np.array(x), np.zeros(4, np.int64), 1)[0]) for x in permutations(whole)
    }
    assert found == {math.fsum(whole)}


@pytest.mark.parametrize("largest", [np.inf, np.nan, 1e308])
def test_sums_by_group_end_whatever_they_are_of(largest: float) -> None:
    with np.errstate(over="ignore"):
        found = sum_by_group(np.array([largest, 0.5, 5e-324]), np.array([0, 1, 2]), 3)
    np.testing.assert_array_equal(found[:2], [largest, 0.5])
