"""Sparse tables add up to what exact arithmetic says, wherever their rows stand in the sum."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.kernels import dispatch
from naively.kernels import sparse as sparse_total
from naively.kernels.double_double import Sums
from naively.kernels.sparse_sums import SparseSums

KERNELS = [pytest.param(sparse_total, id="numpy")]
if dispatch.NATIVE is not None:
    KERNELS.append(pytest.param(dispatch.NATIVE, id="native"))
both = pytest.mark.parametrize("kernels", KERNELS)

whole = st.sampled_from([1.0, 2.0, -2.0, -1.0, 7.0])
any_number = st.sampled_from([1.0, -1.0, 0.1, 1e16, -1e16, 2.0**53, 1e-17])


@st.composite
def parts(draw, number):
    rows, k = draw(st.integers(1, 6)), draw(st.integers(1, 40))
    found = []
    for _ in range(draw(st.integers(1, 4))):
        own = draw(st.integers(0, rows))
        places = np.array(draw(st.permutations(range(rows)))[:own], np.int64)
        cells = (
            draw(st.sets(st.tuples(st.integers(0, own - 1), st.integers(0, k - 1)))) if own else ()
        )
        row, classes = np.array(sorted(cells), np.int64).reshape(-1, 2).T
        first = np.append(0, np.cumsum(np.bincount(row, minlength=own)))[: own + 1]
        high = np.array([draw(number) for _ in row], np.float64)
        low = np.where(high == 0.1, 1e-18, 0.0)  # what rounding left of a sum
        low = low if low.any() or draw(st.booleans()) else None
        in_order = draw(st.booleans())
        found.append((None if in_order else places, first, classes.astype(np.int32), high, low))
    return found, rows, k


def cells_of(first, classes, high, low):
    """Of each cell that is stored the exact number."""
    row = np.repeat(np.arange(len(first) - 1), np.diff(first))
    low = np.zeros(len(high)) if low is None else low
    numbers = [Fraction(a) + Fraction(b) for a, b in zip(high.tolist(), low.tolist(), strict=True)]
    return dict(zip(zip(row.tolist(), classes.tolist(), strict=True), numbers, strict=True))


def expected(tables):
    total = {}
    for places, *table in tables:
        for (row, of_class), number in cells_of(*table).items():
            at = row if places is None else int(places[row]), of_class
            total[at] = total.get(at, Fraction(0)) + number
    return total


@both
@given(case=parts(whole))
def test_whole_numbers_add_up_exactly(kernels, case):
    tables, rows, k = case
    first, classes, high, low = kernels.sum_sparse(tables, rows, k)
    assert cells_of(first, classes, high, low) == {
        at: number for at, number in expected(tables).items() if number
    }
    assert len(first) == rows + 1
    assert classes.dtype == np.int32
    assert low is None or not low.any()
    for begin, end in pairwise(first):
        assert (np.diff(classes[begin:end]) > 0).all()


@both
@given(case=parts(any_number))
def test_other_numbers_add_up_in_double_double(kernels, case):
    tables, rows, k = case
    found = cells_of(*kernels.sum_sparse(tables, rows, k))
    right = expected(tables)
    scale = {}
    for places, *table in tables:
        for (row, of_class), number in cells_of(*table).items():
            at = row if places is None else int(places[row]), of_class
            scale[at] = scale.get(at, 0) + abs(number)
    assert found.keys() <= right.keys()
    for at, number in right.items():
        assert abs(found.get(at, Fraction(0)) - number) <= scale[at] * Fraction(2) ** -100


@both
@given(case=parts(any_number), exact=st.booleans())
def test_a_table_is_subtracted_as_if_its_numbers_were_negative(kernels, case, exact):
    (one, *others), rows, k = case
    other = others[0] if others else one
    if exact:
        one, other = ((*table[:3], np.rint(table[3] * 10), None) for table in (one, other))
    negative = (*other[:3], -other[3], None if other[4] is None else -other[4])
    found = cells_of(*kernels.sum_sparse([one, other], rows, k, True))
    scale = {}
    for table in (one, other):
        for at, number in expected([table]).items():
            scale[at] = scale.get(at, 0) + abs(number)
    right = expected([one, negative])
    for at, number in right.items():
        assert abs(found.get(at, Fraction(0)) - number) <= scale[at] * Fraction(2) ** -79
    if exact:
        assert found == {at: number for at, number in right.items() if number}


@both
@pytest.mark.parametrize(("left", "stays"), [(2.0**-81, False), (2.0**-79, True)])
def test_a_difference_as_small_as_rounding_is_zero(kernels, left, stays):
    one = np.array([0, 1]), np.array([0], np.int32), np.array([1.0])
    more, less = (None, *one, np.array([2 * left])), (None, *one, np.zeros(1))
    _, classes, high, low = kernels.sum_sparse([more, less], 1, 1, True)
    assert len(classes) == stays
    assert high.sum() + (0 if low is None else low.sum()) == 2 * left * stays
    _, classes, _, _ = kernels.sum_sparse([more, (None, *one[:2], -np.ones(1), np.zeros(1))], 1, 1)
    assert len(classes) == 1  # of a sum everything is kept


@both
def test_a_difference_is_of_two_tables(kernels):
    one = None, np.array([0, 1]), np.array([0], np.int32), np.ones(1), np.zeros(1)
    for tables in ([one], [one] * 3):
        with pytest.raises(ValueError, match="a difference is of two tables"):
            kernels.sum_sparse(tables, 1, 1, True)


@both
def test_numbers_that_are_too_large_to_add_exactly_keep_what_rounding_left(kernels):
    one = np.array([0, 1]), np.array([0], np.int32)
    tables = [(None, *one, np.array([number]), np.zeros(1)) for number in (2.0**53, 1.0)]
    _, _, high, low = kernels.sum_sparse(tables, 1, 1)
    assert Fraction(high[0]) + Fraction(low[0]) == 2**53 + 1


@both
@pytest.mark.parametrize("number", [3.0, 0.1, 2.0**53])
def test_what_adds_up_to_zero_is_not_stored(kernels, number):
    one = np.array([0, 2]), np.array([1, 4], np.int32)
    low = np.array([0.0, 1e-18 if number == 0.1 else 0.0])
    tables = [(None, *one, sign * np.array([2.0, number]), sign * low) for sign in (1, -1, 1)]
    first, classes, high, _ = kernels.sum_sparse(tables, 1, 5)
    assert (first.tolist(), classes.tolist(), high.tolist()) == ([0, 2], [1, 4], [2.0, number])
    first, classes, high, _ = kernels.sum_sparse(tables[:2], 1, 5)
    assert (first.tolist(), classes.tolist(), high.tolist()) == ([0, 0], [], [])


@both
@pytest.mark.parametrize(
    ("part", "error"),
    [
        ((None, [0, 1], [2], [1.0], [0.0]), "a class index is out of range"),
        ((None, [0, 1], [-1], [1.0], [0.0]), "a class index is out of range"),
        ((None, [0, 0, 0, 1], [0], [1.0], [0.0]), "a row index is out of range"),
        (([3], [0, 1], [0], [1.0], [0.0]), "a row index is out of range"),
        (([-1], [0, 1], [0], [1.0], [0.0]), "a row index is out of range"),
        (([0, 1], [0, 1], [0], [1.0], [0.0]), "each row has a place"),
        ((None, [0, 2], [0], [1.0], [0.0]), "first does not fit"),
        ((None, [1, 1], [0], [1.0], [0.0]), "first does not fit"),
        ((None, [0, 1], [0], [1.0], []), "first does not fit|shape"),
        ((None, [0, 1], [], [1.0], [0.0]), "first does not fit|shape"),
        ((None, [0, 2, 1], [0], [1.0], [0.0]), "first does not fit|malformed"),
    ],
)
def test_tables_that_do_not_fit_are_refused(kernels, part, error):
    places, first, classes, high, low = part
    arrays = np.array(first), np.array(classes, np.int32), np.array(high), np.array(low)
    given_places = None if places is None else np.array(places)
    with pytest.raises(ValueError, match=error):
        kernels.sum_sparse([(given_places, *arrays)], 2, 2)


def test_many_classes_and_many_tables():
    rng = np.random.default_rng(0)
    dense = [rng.integers(0, 3, (7, 500)) * (rng.random((7, 500)) < 0.4) for _ in range(9)]
    tables = [SparseSums.of(Sums(table.astype(np.float64))) for table in dense]
    np.testing.assert_array_equal(SparseSums.sum_of(tables, 7).high, sum(dense))
    places = [rng.permutation(9)[:7] for _ in dense]
    total = np.zeros((9, 500))
    for place, table in zip(places, dense, strict=True):
        total[place] += table
    np.testing.assert_array_equal(SparseSums.sum_of(tables, 9, places).high, total)
