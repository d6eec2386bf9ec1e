"""The evidence of numbers plus lines, against sums cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import Bernoulli, Exponential, Gaussian, Histogram, KernelDensity, Poisson
from naively.counting.axis import Columns
from naively.counting.block import Batch, Block, Dense, Sparse
from naively.counting.labels import Labels
from naively.kernels.reference import Finish
from naively.terms.kinds import ROWS, ClippedTerms, TermBlock
from naively.terms.terms import GroupTerms, Terms
from tests.learning import dense, learn_table

rng = np.random.default_rng(11)
K, D, N = 3, 4, 50
Y = np.arange(N) % K
X = rng.poisson(1.0 + Y[:, None], (N, D)).astype(float)
MISSING = np.where(rng.random((N, D)) < 0.2, np.nan, X)

# Column 1 has two lines, and column 2 none.
COLUMN = np.array([0, 1, 1, 3])
LOW, HIGH = np.array([0.0, 1.0, -np.inf, -3.0]), np.array([2.0, 4.0, np.inf, 3.5])
CENTRE, SLOPE = np.array([0.5, 2.0, 1.0, 0.0]), rng.normal(size=(4, K))

DENSE = dense(MISSING)
csr = sparse.csr_array(X)
SPARSE = Sparse(csr.indptr, csr.indices, csr.data, Columns(range(D)))
EVENTS = [Gaussian(), Poisson(), Exponential(), Histogram(), KernelDensity()]
BLOCKS = [(event, DENSE) for event in EVENTS] + [
    (event, SPARSE) for event in EVENTS if event.sparse and not isinstance(event, KernelDensity)
]
on_blocks = pytest.mark.parametrize(
    ("event", "block"), BLOCKS, ids=[f"{e}-{type(b).__name__}" for e, b in BLOCKS]
)


def evidence_of(event: Any) -> TermBlock:
    (found,) = learn_table(X + 0.25, Y, event).view.terms.values()
    return found


LINES = ClippedTerms(COLUMN, LOW, HIGH, CENTRE, SLOPE)


def with_lines(event: Any) -> GroupTerms:
    return GroupTerms(evidence_of(event), (LINES,))


def scored(of: GroupTerms, block: Block, finish: Finish, prior: np.ndarray) -> np.ndarray:
    """The scores of rows by the terms of one group."""
    terms = Terms(prior, np.zeros(K), {"x": of}, (), {})
    labels = Labels.none(len(block), np.arange(K))
    return np.asarray(terms.add(Batch({"x": block}, labels), finish))


def cells(block: Block) -> np.ndarray:
    """The numbers of a block, rows × columns."""
    if isinstance(block, Dense):
        return np.asarray(block.values, np.float64)
    return csr.toarray()


def lines(x: np.ndarray) -> np.ndarray:
    """What the lines add to rows, cell by cell: (rows, classes)."""
    total = np.zeros((len(x), K))
    for i, row in enumerate(x):
        for j, low, high, centre, slope in zip(COLUMN, LOW, HIGH, CENTRE, SLOPE, strict=True):
            if not np.isnan(row[j]):
                total[i] += (min(max(row[j], low), high) - centre) * slope
    return total


@on_blocks
def test_rows_have_the_evidence_plus_the_lines(event: Any, block: Any) -> None:
    of, prior = with_lines(event), np.log([0.5, 0.3, 0.2])
    plain, found = of.evidence.add(block, prior, "joint", prior), scored(of, block, "joint", prior)
    np.testing.assert_allclose(found, plain + lines(cells(block)), rtol=1e-12, atol=1e-12)
    p = np.exp(found - np.logaddexp.reduce(found, axis=1, keepdims=True))
    np.testing.assert_allclose(scored(of, block, "posterior", prior), p, atol=1e-12)
    np.testing.assert_array_equal(scored(of, block, "label", prior), found.argmax(axis=1))


@on_blocks
def test_items_and_the_start_sum_to_it(event: Any, block: Any) -> None:
    of, prior = with_lines(event), np.log([0.5, 0.3, 0.2])
    total = np.tile(prior, (N, 1))
    found = of.items(block)
    np.add.at(total, found.row, found.value)
    joint = scored(of, block, "joint", prior)
    np.testing.assert_allclose(total, joint, rtol=1e-11, atol=1e-11)
    if isinstance(block, Sparse):
        return  # what is said of zeros is one item of the row
    known = ~np.isnan(cells(block))
    assert known[found.row, found.column].all()  # of a missing cell nothing is said
    for j in range(D):
        mine, inner = np.zeros((N, K)), np.zeros((N, K))
        np.add.at(mine, found.row[found.column == j], found.value[found.column == j])
        plain = of.evidence.items(block)
        np.add.at(inner, plain.row[plain.column == j], plain.value[plain.column == j])
        only = np.full((N, D), np.nan)
        only[:, j] = cells(block)[:, j]
        np.testing.assert_allclose(mine - inner, lines(only), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_of_cells_it_is_what_a_row_of_that_cell_has(event: Any) -> None:
    of = with_lines(event)
    row, column = np.nonzero(~np.isnan(MISSING))
    only = np.full((len(row), D), np.nan)
    only[np.arange(len(row)), column] = MISSING[row, column]
    alone = scored(of, dense(only), "joint", np.zeros(K))
    np.testing.assert_allclose(of.at(MISSING[row, column], column), alone, atol=1e-11)


@pytest.mark.parametrize("event", [*EVENTS, Bernoulli(threshold=1.5)], ids=str)
def test_typical_numbers_have_their_lines(event: Any) -> None:
    """Of truths and rates the typical number is 1."""
    of = with_lines(event)
    for c in range(K):
        (plain, x), (found, _) = of.evidence.typical(c), of.typical(c)
        x = np.ones(D) if x is None else x
        np.testing.assert_allclose(plain, of.evidence.at(x, np.arange(D)), atol=1e-12)
        alone = lines(np.where(np.eye(D, dtype=bool), x, np.nan))
        np.testing.assert_allclose(found, plain + alone, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_rows_are_added_up_in_slices(kind: Any) -> None:
    x = np.tile(MISSING, (2 * ROWS // N + 2, 1)).astype(kind)
    found = LINES.added(dense(x))
    np.testing.assert_allclose(found, np.tile(lines(MISSING), (len(x) // N, 1)), atol=1e-11)


def test_no_row() -> None:
    of = with_lines(Gaussian())
    none = dense(np.empty((0, D)))
    assert scored(of, none, "posterior", np.zeros(K)).shape == (0, K)
    assert len(of.items(none).row) == 0
    empty = Sparse(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), Columns(range(D)))
    assert LINES.added(empty).shape == (0, K)


def test_infinite_numbers_are_clipped() -> None:
    bounded = ClippedTerms(COLUMN[:2], LOW[:2], HIGH[:2], CENTRE[:2], SLOPE[:2])
    x = np.array([[np.inf, -np.inf, 0.0, 0.0], [-np.inf, 1e300, 0.0, 0.0]])
    finite = np.array([[1e9, -1e9, 0.0, 0.0], [-1e9, 1e9, 0.0, 0.0]])
    of = [bounded.added(dense(rows)) for rows in (x, finite)]
    np.testing.assert_array_equal(*of)


def test_a_number_that_is_stored_twice_is_their_sum_and_a_missing_one_is_zero() -> None:
    """A sparse matrix has no missing numbers; SciPy adds up what is stored twice."""
    zero = Sparse(np.array([0, 0]), np.empty(0, np.int32), np.empty(0), Columns(range(D)))
    gone = Sparse(np.array([0, 1]), np.array([1]), np.array([np.nan]), Columns(range(D)))
    np.testing.assert_allclose(LINES.added(gone), LINES.added(zero))
    np.testing.assert_allclose(LINES.added(zero), lines(np.zeros((1, D))), atol=1e-12)
