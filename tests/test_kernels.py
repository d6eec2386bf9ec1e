"""The kernels: the native ones against the NumPy contract, and both against exact arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse, special

from naively.kernels import reference

if TYPE_CHECKING:
    from types import ModuleType

try:
    from naively.kernels import _native as native
except ImportError:
    native = None

SINGLE = ("joint32", "log_posterior32", "posterior32")
FINISHES = ("joint", "log_posterior", "posterior", "label", *SINGLE)
CLASSES = (1, 2, 3, 7, 8, 10, 33, 67)  # around the widths of vectors and of eight of them
# Around the edges of groups (8), finishing tiles (64) and blocks (64 to 1024).
ROWS = (0, 1, 2, 7, 15, 16, 17, 63, 65, 130, 1025)
COLUMNS = (0, 1, 3, 7, 8, 9, 16, 50, 515)


def in_turn(first: Sequence[Any], second: Sequence[Any], third: Sequence[Any]) -> list[Any]:
    """Return each two of the first and the second, with those of the third in turn."""
    return [
        (a, b, third[(i + j) % len(third)])
        for i, a in enumerate(first)
        for j, b in enumerate(second)
    ]


needs_native = pytest.mark.skipif(native is None, reason="built without native kernels")


@pytest.fixture(
    params=[
        pytest.param(reference, id="numpy"),
        pytest.param(native, id="native", marks=needs_native),
    ]
)
def either(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


@pytest.fixture(autouse=True, params=["baseline"] if native is None else native.instruction_sets())
def instruction_set(request: pytest.FixtureRequest):
    """Each test runs with the kernels of every instruction set that this processor has."""
    if native is None:
        yield
        return
    native.set_instruction_set(request.param)
    yield
    native.set_instruction_set(native.instruction_sets()[-1])


@pytest.fixture
def threads():
    """Set the number of threads, and set it back."""
    before = native.threads()
    yield native.set_threads
    native.set_threads(before)


def restride(X: np.ndarray, layout: str) -> np.ndarray:
    """Return the same matrix in another layout."""
    match layout:
        case "F":
            return np.asfortranarray(X)
        case "every other":
            wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]), X.dtype)
            wide[::2, ::2] = X
            return wide[::2, ::2]
        case "rows sliced":
            wide = np.zeros((2 * X.shape[0], X.shape[1] + 3), X.dtype)
            wide[::2, 3:] = X
            return wide[::2, 3:]
        case "reversed":
            return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
        case "read-only":
            X = X.copy()
            X.flags.writeable = False
            return X
        case _:
            return np.ascontiguousarray(X)


LAYOUTS = ("C", "F", "every other", "rows sliced", "reversed", "read-only")


def weigh(kind: str, n: int, rng: np.random.Generator) -> np.ndarray | None:
    match kind:
        case "none":
            return None
        case "whole":
            return rng.integers(0, 4, n).astype(float)
        case "zero":
            return np.zeros(n)
        case _:
            return rng.random(n) * rng.integers(0, 2, n)


WEIGHTS = ("none", "whole", "fractional", "zero")


def dense(n: int, d: int, rng: np.random.Generator, missing: float = 0.1) -> np.ndarray:
    X = rng.normal(3.0, 2.0, (n, d))
    X[rng.random((n, d)) < missing] = np.nan
    return X


def assert_same_pair(actual: Any, expected: Any, scale: Any) -> None:
    """Compare double-double pairs to 1e-29 of the sum of absolute values."""
    (high, low), (expected_high, expected_low) = actual, expected
    assert high.shape == expected_high.shape
    zero = np.zeros_like(high)
    low, expected_low = (zero if part is None else part for part in (low, expected_low))
    difference = (high - expected_high) + (low - expected_low)
    assert (np.abs(difference) <= 1e-29 * scale).all()


def assert_same_scores(actual: np.ndarray, expected: np.ndarray, joint: np.ndarray) -> None:
    """Compare finished rows; labels may differ only where the joints are all but equal."""
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    if actual.ndim == 1:
        picked = np.take_along_axis(joint, actual[:, None].astype(int), 1)[:, 0]
        best = joint.max(axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            tie = (actual == expected) | (best - picked <= 1e-10 * (1.0 + np.abs(best)))
        assert tie.all()
    elif actual.dtype == np.float32:
        np.testing.assert_allclose(actual, expected, rtol=2e-7, atol=1e-10)
    else:
        np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-10)


def absolute(X: np.ndarray, y: np.ndarray, w: np.ndarray | None, k: int) -> list[np.ndarray]:
    """Sums of absolute values: what rounding is measured against."""
    return [high for high, _ in reference.tally_dense(np.abs(X), y, w, k)]


def every_finish(
    n: int, k: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, str, np.ndarray]]:
    log_prior = special.log_softmax(rng.normal(size=k))
    starts = (rng.normal(size=k), rng.normal(size=(n, k)))
    return [(start, finish, log_prior) for start in starts for finish in FINISHES]


def check_scores(
    name: str,
    arguments: tuple[Any, ...],
    n: int,
    k: int,
    rng: Any,
    contract: ModuleType = reference,
) -> None:
    """Compare a native score kernel with the contract for each start and finish."""
    for start, finish, log_prior in every_finish(n, k, rng):
        expected_joint = getattr(contract, name)(*arguments, start, "joint", log_prior)
        expected = getattr(contract, name)(*arguments, start, finish, log_prior)
        actual = getattr(native, name)(*arguments, start, finish, log_prior)
        assert_same_scores(actual, expected, expected_joint)


# --- dense ---------------------------------------------------------------------------------------


@needs_native
@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("n", ROWS)
def test_tally_dense_of_every_size(n: int, d: int) -> None:
    rng = np.random.default_rng([n, d])
    for k in (1, 3, 33):
        y = rng.integers(0, k, n).astype(np.int32)
        for missing in (0.0, 0.02):
            X = dense(n, d, rng, missing)
            w = weigh(rng.choice(WEIGHTS), n, rng)
            pairs = zip(
                native.tally_dense(X, y, w, k),
                reference.tally_dense(X, y, w, k),
                absolute(X, y, w, k),
                strict=True,
            )
            for actual, expected, scale in pairs:
                assert_same_pair(actual, expected, scale)


@needs_native
@pytest.mark.parametrize(
    ("layout", "dtype", "weights"),
    in_turn(LAYOUTS, [np.float64, np.float32, np.int64, ">f8"], WEIGHTS),
)
def test_tally_dense_of_every_layout(layout: str, dtype: Any, weights: str) -> None:
    rng = np.random.default_rng(1)
    for d in (5, 21):
        X = dense(300, d, rng, 0.0 if np.dtype(dtype).kind == "i" else 0.05).astype(dtype)
        y = rng.integers(0, 7, 300).astype(np.int32)
        w = weigh(weights, 300, rng)
        pairs = zip(
            native.tally_dense(restride(X, layout), y, w, 7),
            reference.tally_dense(X, y, w, 7),
            absolute(X, y, w, 7),
            strict=True,
        )
        for actual, expected, scale in pairs:
            assert_same_pair(actual, expected, scale)


@pytest.mark.slow
@given(data=st.data(), k=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_dense_sums_are_exact(data: st.DataObject, k: int) -> None:
    cells = st.floats(-1e9, 1e9) | st.sampled_from([np.nan, 1e8 + 1, 1e8 - 1, 0.1, 2.0**-40])
    n, d = data.draw(st.tuples(st.integers(0, 40), st.integers(1, 10)))
    X = data.draw(hnp.arrays(np.float64, (n, d), elements=cells))
    y = data.draw(hnp.arrays(np.int32, n, elements=st.integers(0, k - 1)))
    w = data.draw(st.none() | hnp.arrays(np.float64, n, elements=st.floats(0, 10, width=32)))
    for module in filter(None, (reference, native)):
        result = module.tally_dense(X, y, w, k)
        for j in range(d):
            for c in range(k):
                rows = [i for i in range(n) if y[i] == c and not np.isnan(X[i, j])]
                for power, (high, low) in enumerate(result):
                    terms = [
                        Fraction(1 if w is None else w[i]) * Fraction(X[i, j]) ** power
                        for i in rows
                    ]
                    error = Fraction(high[j, c]) + Fraction(low[j, c]) - sum(terms)
                    # Errors that all go one way add up to n, and are themselves rounded n times;
                    # below 1e-290 products lose digits to underflow.
                    rounding = Fraction((len(rows) + 2) ** 2, 2**106)
                    tolerance = rounding * sum(map(abs, terms)) + Fraction(1, 10**290)
                    assert abs(error) <= tolerance


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_long_sums_are_exact(either: ModuleType, weighted: bool) -> None:
    """Runs summed at a stretch, of one class: rounding all one way, or lost under 1e150."""
    n = 1000
    rng = np.random.default_rng(7)
    X = np.empty((n, 9))
    X[:, :3] = 0.1, 1 / 3, 1e8 + 0.1
    X[:, 3:6] = 10.0 ** rng.uniform(-140, 150, (n, 3)) * rng.choice([-1, 1], (n, 3))
    X[:, 6] = np.where(np.arange(n) % 192 == 0, 1.0, 2.0**-26.5)
    X[:, 7] = np.where(np.arange(n) == 0, 1e20, 0.1)
    X[:, 8] = np.sort(10.0 ** rng.uniform(-8, 8, n))
    w = rng.random(n) if weighted else None
    result = either.tally_dense(X, np.zeros(n, np.int32), w, 1)
    for j in range(X.shape[1]):
        for power, (high, low) in enumerate(result):
            terms = [
                Fraction(1 if w is None else w[i]) * Fraction(X[i, j]) ** power for i in range(n)
            ]
            error = Fraction(high[j, 0]) + Fraction(low[j, 0]) - sum(terms)
            assert abs(error) <= Fraction(1, 10**28) * sum(map(abs, terms))


DRAWN = {
    "steady": lambda rng, n: rng.normal(size=n),
    # The sums pass where a bias too small would end.
    "of one sign": lambda rng, n: -(10.0 ** rng.uniform(-3, 0, n)),
    "suddenly large": lambda rng, n: rng.normal(size=n) * np.where(np.arange(n) < n // 2, 1e-3, 1),
    "growing": lambda rng, n: rng.normal(size=n) * 1.01 ** np.arange(n),
    "few outliers": lambda rng, n: rng.standard_cauchy(n),
    "zero, then not": lambda rng, n: rng.normal(size=n) * (np.arange(n) >= n // 2),
    "squares underflow": lambda rng, n: 1e-170 * rng.normal(size=n),
    "squares nearly overflow": lambda rng, n: 1e152 * rng.normal(size=n),
}


@pytest.mark.parametrize("drawn", DRAWN)
def test_sums_are_exact_whatever_the_rows_before_were(either: ModuleType, drawn: str) -> None:
    n, rng = 1000, np.random.default_rng(3)
    X = np.column_stack([DRAWN[drawn](rng, n) for _ in range(9)])
    (count, _), *result = either.tally_dense(X, np.zeros(n, np.int32), None, 1)
    assert (count == n).all()
    underflow = {1: Fraction(0), 2: Fraction(1, 10**290)}  # of values, of squares
    for power, (high, low) in enumerate(result, 1):
        for j in (0, 4, 8):
            terms = [Fraction(x) ** power for x in X[:, j].tolist()]
            error = Fraction(high[j, 0]) + Fraction(low[j, 0]) - sum(terms)
            assert abs(error) <= Fraction(1, 10**29) * sum(map(abs, terms)) + underflow[power]


@pytest.mark.parametrize("weighted", [False, True])
def test_infinite_cells_make_infinite_sums(either: ModuleType, weighted: bool) -> None:
    w = np.ones(9) if weighted else None
    for bad in (np.inf, -np.inf):
        for row in (0, 4, 8):
            X = np.ones((9, 9))
            X[row, 3] = bad
            (count, _), (s, _), (q, _) = either.tally_dense(X, np.zeros(9, np.int32), w, 1)
            assert not np.isfinite(s[3, 0])
            assert not np.isfinite(q[3, 0])
            assert (np.delete(s, 3, 0) == 9).all()
            assert (np.delete(q, 3, 0) == 9).all()
            assert (count == 9).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_squares_up_to_the_largest_number(either: ModuleType, weighted: bool) -> None:
    w = np.ones(2) if weighted else None
    X = np.tile([[1e154], [1.0]], (1, 9))
    _, _, (q, _) = either.tally_dense(X, np.zeros(2, np.int32), w, 1)
    assert (q == 1e154**2).all()
    _, (s, _), (q, _) = either.tally_dense(10.0 * X, np.zeros(2, np.int32), w, 1)
    assert (s == 1e155).all()
    assert not np.isfinite(q).any()
    X = np.full((2, 9), 1e38, np.float32)
    _, _, (q, _) = either.tally_dense(X, np.zeros(2, np.int32), w, 1)
    assert (q == 2 * float(np.float32(1e38)) ** 2).all()


def test_a_small_spread_far_from_zero(either: ModuleType) -> None:
    n = 10_000
    X = np.tile([[1e8 + 1.0], [1e8 - 1.0]], (n // 2, 9))
    _, (s, s_low), (q, q_low) = either.tally_dense(X, np.zeros(n, np.int32), None, 1)
    mean = (Fraction(s[0, 0]) + Fraction(s_low[0, 0])) / n
    square = (Fraction(q[0, 0]) + Fraction(q_low[0, 0])) / n
    assert mean == 10**8
    assert square - mean**2 == 1


@needs_native
@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("n", [0, 1, 9, 16, 67, 150])
def test_dense_scores_of_every_size(n: int, k: int) -> None:
    rng = np.random.default_rng([n, k])
    for d in (0, 1, 5, 50):
        mean, offset = rng.normal(size=(2, d, k))
        precision = rng.random((d, k))
        for missing in (0.0, 0.05):
            X = dense(n, d, rng, missing)
            check_scores("score_quadratic", (X, mean, precision, offset), n, k, rng)
            check_scores("score_linear", (X, mean, offset), n, k, rng)
            check_scores("score_linear", (X, mean, None), n, k, rng)


@needs_native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_dense_scores_of_every_layout(layout: str, dtype: Any) -> None:
    rng = np.random.default_rng(2)
    n, d, k = 150, 11, 10
    mean, offset = rng.normal(size=(2, d, k))
    precision = rng.random((d, k))
    X = dense(n, d, rng, 0.0 if np.dtype(dtype).kind == "i" else 0.05).astype(dtype)
    X = restride(X, layout)
    mean, precision = restride(mean, layout), restride(precision, layout)
    check_scores("score_quadratic", (X, mean, precision, offset), n, k, rng)
    check_scores("score_linear", (X, mean, offset), n, k, rng)


def test_quadratic_score_is_centred(either: ModuleType) -> None:
    X = np.full((20, 3), 1e9) + np.arange(20)[:, None]
    mean, precision = np.full((3, 2), 1e9), np.full((3, 2), 0.5)
    joint = either.score_quadratic(X, mean, precision, mean, np.zeros(2), "joint", np.zeros(2))
    np.testing.assert_array_equal(joint, -1.5 * np.arange(20.0)[:, None] ** 2 * np.ones(2))


@pytest.mark.parametrize("n", [1, 40])
def test_zero_times_an_infinite_slope_is_zero(either: ModuleType, n: int) -> None:
    slope = np.array([[-np.inf, -1.0], [-2.0, -3.0]])
    prior = np.log([0.5, 0.5])
    X = np.tile([[0.0, 1.0], [2.0, 0.0]], (n, 1))
    expected = np.tile([[-2.0, -3.0], [-np.inf, -2.0]], (n, 1))
    joint = either.score_linear(X, slope, None, np.zeros(2), "joint", prior)
    np.testing.assert_array_equal(joint, expected)
    indptr, indices = np.arange(0, 4 * n + 1, 2), np.tile([0, 1], 2 * n)
    joint = either.score_csr(indptr, indices, X.ravel(), slope, np.zeros(2), "joint", prior)
    np.testing.assert_array_equal(joint, expected)


# --- CSR -----------------------------------------------------------------------------------------


def random_csr(n: int, width: int, rng: np.random.Generator, values: str) -> sparse.csr_array:
    X = sparse.random_array((n, width), density=0.3, format="csr", rng=rng)
    X.data = (
        rng.integers(1, 5, X.nnz).astype(float) if values == "whole" else rng.normal(size=X.nnz)
    )
    return X


@needs_native
@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("values", ["whole", "real"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_csr_tally_and_scores(k: int, values: str, weights: str) -> None:
    rng = np.random.default_rng([k, len(values), len(weights)])
    for n, width in ((0, 3), (1, 1), (70, 40), (9, 3000)):
        X = random_csr(n, width, rng, values)
        y = rng.integers(0, k, n).astype(np.int32)
        w = weigh(weights, n, rng)
        arguments = (X.indptr, X.indices, X.data)
        scale = reference.tally_csr(X.indptr, X.indices, np.abs(X.data), y, w, k, width)[0]
        expected = reference.tally_csr(*arguments, y, w, k, width)
        assert_same_pair(native.tally_csr(*arguments, y, w, k, width), expected, scale)
        check_scores("score_csr", (*arguments, rng.normal(size=(width, k))), n, k, rng)


@needs_native
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_])
def test_csr_of_every_type(index: Any, value: Any) -> None:
    rng = np.random.default_rng(3)
    X = random_csr(50, 20, rng, "whole")
    y = rng.integers(0, 3, 50).astype(np.int32)
    arguments = (X.indptr.astype(index), X.indices.astype(index), X.data.astype(value))
    expected = reference.tally_csr(*arguments, y, None, 3, 20)
    assert_same_pair(native.tally_csr(*arguments, y, None, 3, 20), expected, 0.0)
    check_scores("score_csr", (*arguments, rng.normal(size=(20, 3))), 50, 3, rng)


def test_csr_sums_are_exact(either: ModuleType) -> None:
    rng = np.random.default_rng(4)
    X = random_csr(60, 5, rng, "real")
    y, w = rng.integers(0, 2, 60).astype(np.int32), rng.random(60)
    high, low = either.tally_csr(X.indptr, X.indices, X.data, y, w, 2, 5)
    for j in range(5):
        for c in range(2):
            terms = [
                Fraction(w[i]) * Fraction(X.data[e])
                for i in range(60)
                for e in range(X.indptr[i], X.indptr[i + 1])
                if y[i] == c and X.indices[e] == j
            ]
            error = Fraction(high[j, c]) + Fraction(low[j, c]) - sum(terms)
            assert abs(error) <= Fraction(1, 10**30) * sum(map(abs, terms))


def test_whole_sums_too_large_to_be_exact_are_double_double(either: ModuleType) -> None:
    y = np.zeros(3, np.int32)
    indptr, indices = np.arange(4), np.zeros(3, np.int32)
    high, low = either.tally_csr(indptr, indices, np.array([2.0**53, 1.0, 1.0]), y, None, 1, 1)
    assert Fraction(high[0, 0]) + Fraction(low[0, 0]) == 2**53 + 2


def test_missing_entries_of_a_csr_matrix_add_nothing(either: ModuleType) -> None:
    indptr, indices = np.array([0, 2, 3]), np.array([0, 1, 1], np.int32)
    data = np.array([np.nan, 2.0, np.nan])
    high, low = either.tally_csr(indptr, indices, data, np.array([0, 0], np.int32), None, 1, 2)
    np.testing.assert_array_equal(high, [[0.0], [2.0]])
    assert low is None
    slope = np.array([[1.0], [3.0]])
    joint = either.score_csr(indptr, indices, data, slope, np.zeros(1), "joint", np.zeros(1))
    np.testing.assert_array_equal(joint, [[6.0], [0.0]])


def test_part_of_a_csr_matrix(either: ModuleType) -> None:
    """Row pointers that do not begin at zero, as a view of some rows has them."""
    X = random_csr(30, 6, np.random.default_rng(5), "whole")
    y = np.zeros(10, np.int32)
    indptr = X.indptr[10:21]
    high, _ = either.tally_csr(indptr, X.indices, X.data, y, None, 1, 6)
    np.testing.assert_array_equal(high[:, 0], X.toarray()[10:20].sum(axis=0))
    slope = np.ones((6, 1))
    joint = either.score_csr(indptr, X.indices, X.data, slope, np.zeros(1), "joint", np.zeros(1))
    np.testing.assert_array_equal(joint[:, 0], X.toarray()[10:20].sum(axis=1))


# --- codes ---------------------------------------------------------------------------------------


@needs_native
@pytest.mark.parametrize(
    ("k", "layout", "dtype"), in_turn(CLASSES, LAYOUTS, [np.int64, np.int32, np.int16, np.int8])
)
def test_codes_tally_and_scores(k: int, layout: str, dtype: Any) -> None:
    rng = np.random.default_rng([k, len(layout)])
    for n, d in ((0, 2), (1, 1), (3, 0), (70, 9), (1030, 3)):
        levels = rng.integers(1, 9, d)
        first = np.append(0, np.cumsum(levels))
        codes = restride(rng.integers(-1, levels, (n, d)).astype(dtype), layout)
        y = rng.integers(0, k, n).astype(np.int32)
        for weights in WEIGHTS:
            w = weigh(weights, n, rng)
            expected = reference.tally_codes(codes, first, y, w, k)
            actual = native.tally_codes(codes, first, y, w, k)
            assert_same_pair(actual, expected, expected[0])
        check_scores("score_codes", (codes, first, rng.normal(size=(int(first[-1]), k))), n, k, rng)


def test_code_counts(either: ModuleType) -> None:
    codes = np.array([[0, 1], [-1, 1], [1, 0]])
    y = np.array([0, 1, 0], np.int32)
    high, low = either.tally_codes(codes, np.array([0, 2, 4]), y, None, 2)
    np.testing.assert_array_equal(high, [[1, 0], [1, 0], [1, 0], [1, 1]])
    assert low is None
    high, low = either.tally_codes(codes, np.array([0, 2, 4]), y, np.full(3, 0.1), 2)
    np.testing.assert_array_equal(high, [[0.1, 0], [0.1, 0], [0.1, 0], [0.1, 0.1]])
    assert low is not None


# --- finishing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", CLASSES)
def test_finish_against_scipy(either: ModuleType, k: int) -> None:
    rng = np.random.default_rng(k)
    joint = rng.normal(size=(130, k)) * 10.0 ** rng.integers(-3, 4, (130, 1))
    joint[rng.random((130, k)) < 0.2] = -np.inf
    joint[::7] = -np.inf
    log_prior = special.log_softmax(rng.normal(size=k))
    filled = np.where(np.isneginf(joint).all(axis=1)[:, None], log_prior, joint)
    posterior = either.finish_rows(joint.copy(), "posterior", log_prior)
    np.testing.assert_allclose(posterior, special.softmax(filled, axis=1), rtol=1e-13, atol=1e-300)
    log_posterior = either.finish_rows(joint.copy(), "log_posterior", log_prior)
    expected = special.log_softmax(filled, axis=1)
    np.testing.assert_allclose(log_posterior, expected, rtol=1e-13, atol=1e-13)
    labels = either.finish_rows(joint.copy(), "label", log_prior)
    np.testing.assert_array_equal(labels, filled.argmax(axis=1))
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(either.finish_rows(joint.copy(), "joint", log_prior), joint)


def test_first_of_equals_is_the_label(either: ModuleType) -> None:
    labels = either.finish_rows(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), "label", np.zeros(3))
    np.testing.assert_array_equal(labels, [1, 0])


# --- threads -------------------------------------------------------------------------------------


@needs_native
def test_the_number_of_threads_does_not_show(threads: Any) -> None:
    rng = np.random.default_rng(6)
    n, d, k = 40_000, 30, 5
    X = dense(n, d, rng, 0.001)
    y, w = rng.integers(0, k, n).astype(np.int32), rng.random(n)
    codes = rng.integers(-1, 4, (n, d)).astype(np.int32)
    first = np.arange(0, 4 * d + 1, 4)
    S = random_csr(n, 40, rng, "real")
    csr = (S.indptr, S.indices, S.data)
    mean, precision = rng.normal(size=(d, k)), rng.random((d, k))
    start = np.zeros(k)

    def run() -> list[np.ndarray]:
        pairs = [
            *native.tally_dense(X, y, None, k),
            *native.tally_dense(X, y, w, k),
            native.tally_csr(*csr, y, w, k, 40),
            native.tally_codes(codes, first, y, None, k),
            native.tally_codes(codes, first, y, w, k),
        ]
        scores = [
            native.score_quadratic(X, mean, precision, mean, start, "posterior", start),
            native.score_csr(*csr, rng_table, start, "label", start),
            native.score_codes(codes, first, code_table, start, "joint", start),
        ]
        return [high for high, _ in pairs] + scores

    rng_table, code_table = rng.normal(size=(40, k)), rng.normal(size=(4 * d, k))
    threads(1)
    alone = run()
    threads(2)
    for one, two in zip(alone, run(), strict=True):
        np.testing.assert_array_equal(one, two)


@needs_native
@pytest.mark.parametrize("n", [1, 5, 64, 133])
def test_the_score_of_a_row_does_not_depend_on_its_neighbours(threads: Any, n: int) -> None:
    rng = np.random.default_rng(8)
    d, k = 50, 7
    X = dense(n, d, rng, 0.002)
    mean, offset = rng.normal(size=(2, d, k))
    precision, start = rng.random((d, k)), np.zeros(k)

    def score(X: np.ndarray) -> list[np.ndarray]:
        return [
            native.score_quadratic(X, mean, precision, offset, start, "posterior", start),
            native.score_linear(X, mean, offset, start, "joint", start),
        ]

    threads(1)
    together, apart = score(X), [score(row[None]) for row in X]
    for i, scores in enumerate(together):
        np.testing.assert_array_equal(scores, np.concatenate([one[i] for one in apart]))


@needs_native
def test_an_error_in_a_thread_is_raised(threads: Any) -> None:
    threads(2)
    codes = np.zeros((100_000, 20), np.int32)
    codes[-1, -1] = 7
    with pytest.raises(ValueError, match="out of range"):
        native.tally_codes(codes, np.arange(21), np.zeros(len(codes), np.int32), None, 1)


@pytest.mark.slow
@needs_native
@pytest.mark.parametrize("kind", ["small", "whole", "real"])
@pytest.mark.parametrize("weights", ["none", "fractional"])
def test_sums_of_class_after_class(threads: Any, kind: str, weights: str) -> None:
    # A table so large that classes are counted one after the other, one of them on both threads.
    rng = np.random.default_rng(11)
    n, width, k = 3_000, 9_000, 20
    S = sparse.random_array((n, width), density=0.02, format="csr", rng=rng)
    S.data = {"small": np.ceil(S.data * 5), "whole": np.ceil(S.data * 1e9), "real": S.data}[kind]
    y = np.minimum(rng.integers(0, 3 * k, n), k - 1)  # the last class has most rows
    y[y == 3] = 4  # and one has none
    assert S.nnz > width * k
    w = weigh(weights, n, rng)
    arguments = (S.indptr, S.indices, S.data, y, w, k, width)
    expected = reference.tally_csr(*arguments)
    scale = reference.tally_csr(S.indptr, S.indices, np.abs(S.data), y, w, k, width)[0]
    for count in (1, 2, 3, 7):
        threads(count)
        actual = native.tally_csr(*arguments)
        assert (actual[1] is None) == (expected[1] is None)
        assert_same_pair(actual, expected, scale)


@needs_native
@pytest.mark.parametrize(
    ("dtype", "last", "most"),
    [
        *in_turn(
            (np.float64, np.float32, np.int32, np.int64),
            (0, 1, 255, 256, 511, 0xFFFF, 0x10000, 0x20000, -1),
            (10, 40, 256),
        ),
        *[(np.float64, x, 40) for x in (0.5, np.nan, 2.0**40, 2.0**60, -(2.0**52), -(2.0**60))],
        *[(np.float64, x, 10) for x in (np.inf, -np.inf)],
    ],
)
def test_small_numbers_are_counted_in_bytes(
    threads: Any, dtype: Any, last: float, most: int
) -> None:
    # So large a table that it is counted in bytes, which overflow again and again, until there are
    # too many overflows, or a number that is too large, negative, broken or missing.
    rng = np.random.default_rng(12)
    n, each, width, k = 5_000, 30, 70_000, 2
    indptr = np.arange(0, n * each + 1, each)
    indices = rng.integers(0, width, n * each).astype(np.int32)
    indices[::each] = indices[-1] = 7  # a column that is in every row
    data = rng.integers(0, most, n * each).astype(dtype)
    data[-1] = last
    arguments = (indptr, indices, data, rng.integers(0, k, n), None, k, width)
    if np.isinf(last):
        with pytest.raises(ValueError, match="missing or infinite"):
            native.tally_csr(*arguments, True)
        return
    expected, low = reference.tally_csr(*arguments)
    for count in (1, 2):
        threads(count)
        actual = native.tally_csr(*arguments)
        assert (actual[1] is None) == (low is None)
        np.testing.assert_array_equal(actual[0], expected)
    if np.isnan(last):
        with pytest.raises(ValueError, match="missing or infinite"):
            native.tally_csr(*arguments, True)


@needs_native
def test_columns_of_small_numbers_are_checked() -> None:
    n, width, k = 150_000, 70_000, 2
    for column in (-1, width):
        indices = np.zeros(n, np.int32)
        indices[-1] = column
        rows = (np.arange(n + 1), indices, np.ones(n), np.arange(n) % k)
        with pytest.raises(ValueError, match="out of range"):
            native.tally_csr(*rows, None, k, width)


@needs_native
@pytest.mark.parametrize("levels", [1, 3, 7, 400])  # by pairs, but for the last
@pytest.mark.parametrize("d", [2, 3, 4, 9])
def test_scores_of_pairs_of_levels(levels: int, d: int) -> None:
    rng = np.random.default_rng([14, levels, d])
    n, k = 150, 10
    of = rng.integers(1, levels + 1, d)
    of[0] = levels
    first = np.append(0, np.cumsum(of))
    table = rng.normal(size=(int(first[-1]), k))
    table[rng.integers(0, len(table), 3), rng.integers(0, k, 3)] = -np.inf
    codes = rng.integers(-1, levels + 2, (n, d))  # missing, and past the last level, too
    for layout in LAYOUTS:
        check_scores("score_codes", (restride(codes, layout), first, table), n, k, rng)
    joint = native.score_codes(codes, first, table, np.zeros(k), "joint", np.zeros(k))
    for i in range(n):  # among others as alone
        alone = native.score_codes(
            codes[i : i + 1], first, table, np.zeros(k), "joint", np.zeros(k)
        )
        np.testing.assert_array_equal(alone[0], joint[i])


@pytest.mark.parametrize("zero", [0, 8])  # among neighbours that are looked at together, or after
def test_no_count_of_what_is_impossible(either: ModuleType, zero: int) -> None:
    counts = np.ones(9)
    counts[zero] = 0
    table = np.zeros((9, 2))
    table[zero, 0] = -np.inf
    entries = (np.array([0, 9]), np.arange(9, dtype=np.int32), counts)
    joint = either.score_csr(*entries, table, np.zeros(2), "joint", np.zeros(2))
    np.testing.assert_array_equal(joint, [[0.0, 0.0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [1, 20, 150])
@pytest.mark.parametrize("column", [0, 8])  # among neighbours that are looked at together, or after
def test_rows_that_must_be_complete(either: ModuleType, column: int, n: int, bad: float) -> None:
    rng = np.random.default_rng(12)
    d, k = 9, 3
    X, table, start = rng.normal(size=(n, d)), rng.random((d, k)), np.zeros(k)
    y = np.zeros(n, np.int32)
    wrong = X.copy()
    wrong[n // 2, column] = bad

    def of_csr(cells: np.ndarray) -> tuple[np.ndarray, ...]:
        S = sparse.csr_array(cells)
        return S.indptr, S.indices, S.data

    calls = [
        lambda x: either.score_quadratic(x, table, table, table, start, "label", start, True),
        lambda x: either.score_linear(x, table, table, start, "label", start, True),
        lambda x: either.score_linear(x, np.zeros((d, k)), None, start, "joint", start, True),
        lambda x: either.score_csr(*of_csr(x), table, start, "label", start, True),
        lambda x: either.tally_csr(*of_csr(x), y, None, k, d, True),
        lambda x: either.score_linear(
            x.astype(np.float32), table, None, start, "joint", start, True
        ),
    ]
    for call in calls:
        call(X)
        with pytest.raises(ValueError, match="missing"):
            call(wrong)
    codes, first = np.zeros((n, d), np.int64), np.arange(d + 1)
    either.tally_codes(codes, first, y, None, k, True)
    either.score_codes(codes, first, table, start, "label", start, True)
    codes[n // 2, column] = -1
    with pytest.raises(ValueError, match="missing"):
        either.tally_codes(codes, first, y, None, k, True)
    with pytest.raises(ValueError, match="missing"):
        either.score_codes(codes, first, table, start, "label", start, True)


@needs_native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("n", [1, 7, 40_000])
def test_ranges(threads: Any, n: int, dtype: Any, layout: str) -> None:
    fits = np.iinfo(dtype)
    X = restride(np.random.default_rng(13).integers(fits.min, fits.max, (n, 11), dtype), layout)
    threads(2)
    low, high = native.find_ranges(X)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))


def test_an_instruction_set_that_is_not_there() -> None:
    if native is not None:
        with pytest.raises(ValueError, match="no such instruction set"):
            native.set_instruction_set("of another age")


# --- bad input -----------------------------------------------------------------------------------


@needs_native
def test_arrays_are_given_back() -> None:
    X, y = np.zeros(5), np.zeros(5, np.int32)
    before = sys.getrefcount(X)
    with pytest.raises(ValueError, match="dimensions"):
        native.tally_dense(X, y, None, 1)
    native.tally_dense(X[:, None], y, X, 1)
    assert sys.getrefcount(X) == before


def test_class_indices_out_of_range(either: ModuleType) -> None:
    X, first = np.zeros((2, 3)), np.arange(4)
    indptr, indices = np.arange(3), np.zeros(2, np.int32)
    for bad in (-1, 2, 2**31 - 1):
        y = np.array([0, bad], np.int32)
        with pytest.raises(ValueError, match="class index is out of range"):
            either.tally_dense(X, y, None, 2)
        with pytest.raises(ValueError, match="class index is out of range"):
            either.tally_csr(indptr, indices, np.ones(2), y, None, 2, 1)
        with pytest.raises(ValueError, match="class index is out of range"):
            either.tally_codes(X.astype(np.int32), first, y, None, 2)


@needs_native
def test_tables_of_impossible_sizes() -> None:
    indptr, indices, y = np.arange(2), np.zeros(1, np.int32), np.zeros(1, np.int64)
    for k, width in ((-1, 1), (1, -1), (4, 2**62), (2**31 - 1, 2**40)):
        with pytest.raises(ValueError, match=r"negative|too large"):
            native.tally_csr(indptr, indices, np.ones(1), y, None, k, width)
    with pytest.raises(ValueError, match="too large"):
        native.tally_codes(np.zeros((1, 1), np.int32), np.array([0, 2**62]), y, None, 4)
    with pytest.raises(ValueError, match="more classes than 32 bits"):
        native.tally_csr(indptr, indices, np.ones(1), y + 2**31, None, 2**32, 1)


@needs_native
def test_arrays_of_other_types() -> None:
    X, y = np.arange(12.0).reshape(4, 3), np.array([0, 1, 1, 0])
    expected = native.tally_dense(X, y, None, 2)
    for kind in (np.float16, np.longdouble, object, str, ">f4"):
        for actual, (high, low) in zip(
            native.tally_dense(X.astype(kind), y, None, 2), expected, strict=True
        ):
            np.testing.assert_array_equal(actual, (high, low))
    for kind in (np.bool_, np.uint8, np.uint32, ">i8"):
        for actual, (high, low) in zip(
            native.tally_dense(X, y.astype(kind), None, 2), expected, strict=True
        ):
            np.testing.assert_array_equal(actual, (high, low))
    for kind in (float, np.uint64):  # they may hold what is no class
        with pytest.raises(TypeError, match="cast"):
            native.tally_dense(X, y.astype(kind), None, 2)
    with pytest.raises(ValueError, match="sequence"):
        native.tally_dense(np.empty((4, 3), "V0"), y, None, 2)


def unaligned(array: np.ndarray) -> np.ndarray:
    """Return the same array one byte past where its type should begin."""
    return np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1).reshape(array.shape)


@needs_native
@pytest.mark.parametrize(
    "change",
    [
        unaligned,
        np.ndarray.tolist,
        lambda array: np.rec.fromarrays([np.zeros(array.shape, np.int8), array]).f1,
        lambda array: np.stack([array, array])[0].view(),
        lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    ],
    ids=["unaligned", "list", "field of records", "view", "strided"],
)
def test_arrays_may_lie_anywhere(change: Any) -> None:
    rng = np.random.default_rng(10)
    X, y, w = rng.normal(size=(30, 5)), rng.integers(0, 3, 30), rng.random(30)
    mean, start, codes = X[:5, :3].copy(), np.zeros(3), rng.integers(-1, 2, (30, 5))
    first, table = np.arange(0, 11, 2), X[:10, :3].copy()
    S = random_csr(30, 5, rng, "real")
    for name, arrays, after in (
        ("tally_dense", (X, y, w), (3,)),
        ("tally_codes", (codes, first, y, w), (3,)),
        ("tally_csr", (S.indptr, S.indices, S.data, y, w), (3, 5)),
        ("score_linear", (X, mean, mean, start), ("joint", start)),
        ("score_csr", (S.indptr, S.indices, S.data, mean, start), ("joint", start)),
        ("score_codes", (codes, first, table, start), ("joint", start)),
    ):
        kernel = getattr(native, name)
        expected = kernel(*arrays, *after)
        for actual, same in zip(kernel(*map(change, arrays), *after), expected, strict=True):
            np.testing.assert_array_equal(actual, same)


@needs_native
@pytest.mark.parametrize("axis", [0, 1])
def test_views_that_repeat_a_row_or_column(axis: int) -> None:
    X = np.broadcast_to(np.arange(30.0)[:, None] if axis else np.arange(9.0), (30, 9))
    codes, first = X.astype(np.int32), np.arange(0, 271, 30)
    codes = np.broadcast_to(codes[:, :1] if axis else codes[:1], (30, 9))
    y, start, copy = np.broadcast_to(np.int32(0), 30), np.zeros(2), np.ascontiguousarray
    table, slope = np.random.default_rng(9).random((270, 2)), np.ones((9, 2))
    for name, view, after in (
        ("tally_dense", X, (y, None, 1)),
        ("tally_codes", codes, (first, y, None, 1)),
        ("score_linear", X, (slope, None, start, "joint", start)),
        ("score_codes", codes, (first, table, start, "joint", start)),
    ):
        kernel = getattr(native, name)
        for actual, expected in zip(kernel(view, *after), kernel(copy(view), *after), strict=True):
            if expected is not None:
                np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_column_indices_out_of_range(either: ModuleType, index: Any) -> None:
    for bad in (-1, 4, 2**31 - 1):
        indptr, indices = np.array([0, 1, 2], index), np.array([0, bad], index)
        with pytest.raises(ValueError, match="column index is out of range"):
            either.tally_csr(indptr, indices, np.ones(2), np.zeros(2, np.int32), None, 1, 4)
        with pytest.raises(ValueError, match="column index is out of range"):
            either.score_csr(
                indptr, indices, np.ones(2), np.zeros((4, 1)), np.zeros(1), "joint", np.zeros(1)
            )


@needs_native
@pytest.mark.parametrize("indptr", [[0, 2, 1], [0, 1, 3], [-1, 0, 2], [2, 1, 2], []])
def test_malformed_row_pointers(indptr: list[int]) -> None:
    indptr, indices = np.array(indptr, np.int32), np.zeros(2, np.int32)
    rows = max(0, len(indptr) - 1)
    with pytest.raises(ValueError, match="indptr"):
        native.tally_csr(indptr, indices, np.ones(2), np.zeros(rows, np.int32), None, 1, 4)
    with pytest.raises(ValueError, match="indptr"):
        native.score_csr(
            indptr, indices, np.ones(2), np.zeros((4, 1)), np.zeros(1), "joint", np.zeros(1)
        )


def test_level_codes_out_of_range(either: ModuleType) -> None:
    first = np.array([0, 2, 4])
    for bad in (2, 2**31 - 1, 2**63 - 1):
        codes = np.array([[0, 0], [1, bad]], np.int64)
        with pytest.raises(ValueError, match="level code is out of range"):
            either.tally_codes(codes, first, np.zeros(2, np.int32), None, 1)


def test_a_code_past_the_last_level_is_the_level_never_seen(either: ModuleType) -> None:
    first, table = np.array([0, 2, 4]), np.array([[1.0], [2.0], [10.0], [20.0]])
    codes = np.array([[0, 0], [2, 1], [1, 2**31 - 1], [-1, 5]], np.int32)
    joint = either.score_codes(codes, first, table, np.zeros(1), "joint", np.zeros(1))
    assert joint[:, 0].tolist() == [11.0, 22.0, 22.0, 20.0]
    with pytest.raises(ValueError, match="level code is out of range"):
        either.score_codes(codes, np.array([0, 0, 4]), table, np.zeros(1), "joint", np.zeros(1))


@needs_native
def test_shapes_that_do_not_fit() -> None:
    X, y, zeros = np.zeros((4, 3)), np.zeros(4, np.int32), np.zeros(2)
    bad = [
        lambda: native.tally_dense(X, y[:3], None, 1),
        lambda: native.tally_dense(X, y, np.ones(5), 1),
        lambda: native.tally_dense(X[0], y, None, 1),
        lambda: native.tally_codes(X.astype(np.int32), np.arange(3), y, None, 1),
        lambda: native.tally_codes(X.astype(np.int32), np.array([0, 3, 1, 5]), y, None, 1),
        lambda: native.score_linear(X, np.zeros((2, 2)), None, zeros, "joint", zeros),
        lambda: native.score_linear(X, np.zeros((3, 2)), np.zeros((3, 1)), zeros, "joint", zeros),
        lambda: native.score_linear(X, np.zeros((3, 2)), None, np.zeros((3, 2)), "joint", zeros),
        lambda: native.score_linear(X, np.zeros((3, 2)), None, zeros, "joint", np.zeros(3)),
        lambda: native.score_linear(X, np.zeros((3, 2)), None, zeros, "sum", zeros),
        lambda: native.score_linear(X, np.zeros((3, 0)), None, np.zeros(0), "joint", np.zeros(0)),
        lambda: native.score_codes(
            X.astype(np.int32), np.arange(4), np.zeros((2, 2)), zeros, "joint", zeros
        ),
    ]
    for call in bad:
        with pytest.raises(ValueError, match=r"shape|dimensions|levels|finish|class|few rows"):
            call()
