"""A likelihood of numbers plus lines, against sums cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from naively import Bernoulli, Exponential, Gaussian, Histogram, KernelDensity, Poisson
from naively.counting.axis import Columns
from naively.counting.block import Block, Dense, Sparse
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.likelihoods.base import Likelihood
from naively.likelihoods.numbers import ROWS, Sloped
from tests.learning import learn

rng = np.random.default_rng(11)
K, D, N = 3, 4, 50
Y = np.arange(N) % K
X = rng.poisson(1.0 + Y[:, None], (N, D)).astype(float)
MISSING = np.where(rng.random((N, D)) < 0.2, np.nan, X)

# Column 1 has two lines, and column 2 none.
COLUMN = np.array([0, 1, 1, 3])
LOW, HIGH = np.array([0.0, 1.0, -np.inf, -3.0]), np.array([2.0, 4.0, np.inf, 3.5])
CENTRE, SLOPE = np.array([0.5, 2.0, 1.0, 0.0]), rng.normal(size=(4, K))

DENSE = Dense(MISSING, Columns(range(D)))
csr = sparse.csr_array(X)
SPARSE = Sparse(csr.indptr, csr.indices, csr.data, Columns(range(D)))
EVENTS = [Gaussian(), Poisson(), Exponential(), Histogram(), KernelDensity()]
BLOCKS = [(event, DENSE) for event in EVENTS] + [
    (event, SPARSE) for event in EVENTS if event.sparse and not isinstance(event, KernelDensity)
]
on_blocks = pytest.mark.parametrize(
    ("event", "block"), BLOCKS, ids=[f"{e}-{type(b).__name__}" for e, b in BLOCKS]
)


def likelihood_of(event: Any) -> Likelihood:
    (found,) = learn(as_rows(X + 0.25), encode_labels(Y), event).view.likelihoods.values()
    return found


def sloped(inner: Likelihood) -> Sloped:
    return Sloped(inner, COLUMN, LOW, HIGH, CENTRE, SLOPE)


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
def test_it_is_the_other_likelihood_plus_the_lines(event: Any, block: Any) -> None:
    inner, prior = likelihood_of(event), np.log([0.5, 0.3, 0.2])
    for start in (prior, np.tile(prior, (N, 1)) + rng.normal(size=(N, K))):
        plain = inner.log_prob(block, start, "joint", prior)
        found = sloped(inner).log_prob(block, start, "joint", prior)
        np.testing.assert_allclose(found, plain + lines(cells(block)), rtol=1e-12, atol=1e-12)


@on_blocks
def test_it_is_finished_as_the_other(event: Any, block: Any) -> None:
    of, prior = sloped(likelihood_of(event)), np.log([0.5, 0.3, 0.2])
    joint = of.log_prob(block, prior, "joint", prior)
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(of.log_prob(block, prior, "posterior", prior), p, atol=1e-12)
    label = of.log_prob(block, prior, "label", prior)
    np.testing.assert_array_equal(label, joint.argmax(axis=1))


@on_blocks
def test_contributions_and_the_start_sum_to_it(event: Any, block: Any) -> None:
    of, prior = sloped(likelihood_of(event)), np.log([0.5, 0.3, 0.2])
    total = np.tile(prior, (N, 1))
    found = of.contributions(block)
    np.add.at(total, found.row, found.value)
    joint = of.log_prob(block, prior, "joint", prior)
    np.testing.assert_allclose(total, joint, rtol=1e-11, atol=1e-11)
    if isinstance(block, Sparse):
        return  # what is said of zeros is one item of the row
    known = ~np.isnan(cells(block))
    assert known[found.row, found.column].all()  # of a missing cell nothing is said
    for j in range(D):
        mine, inner = np.zeros((N, K)), np.zeros((N, K))
        np.add.at(mine, found.row[found.column == j], found.value[found.column == j])
        plain = of.inner.contributions(block)
        np.add.at(inner, plain.row[plain.column == j], plain.value[plain.column == j])
        only = np.full((N, D), np.nan)
        only[:, j] = cells(block)[:, j]
        np.testing.assert_allclose(mine - inner, lines(only), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_of_cells_it_is_what_a_row_of_that_cell_has(event: Any) -> None:
    of = sloped(likelihood_of(event))
    row, column = np.nonzero(~np.isnan(MISSING))
    only = np.full((len(row), D), np.nan)
    only[np.arange(len(row)), column] = MISSING[row, column]
    alone = of.log_prob(Dense(only, Columns(range(D))), np.zeros(K), "joint", np.zeros(K))
    np.testing.assert_allclose(of.at(MISSING[row, column], column), alone, atol=1e-11)


@pytest.mark.parametrize("event", [*EVENTS, Bernoulli(threshold=1.5)], ids=str)
def test_typical_numbers_have_their_lines(event: Any) -> None:
    """Of truths and rates the typical number is 1."""
    of = sloped(likelihood_of(event))
    for c in range(K):
        plain, found = of.inner.typical(c), of.typical(c)
        x = np.ones(D) if plain.x is None else plain.x
        np.testing.assert_allclose(plain.value, of.inner.at(x, np.arange(D)), atol=1e-12)
        alone = lines(np.where(np.eye(D, dtype=bool), x, np.nan))
        np.testing.assert_allclose(found.value, plain.value + alone, atol=1e-12)


def test_weights_are_of_the_evidence_alone() -> None:
    inner, weight = likelihood_of(Gaussian()), rng.random((D, K))
    found = sloped(inner).weighted(weight).log_prob(DENSE, np.zeros(K), "joint", np.zeros(K))
    plain = inner.weighted(weight).log_prob(DENSE, np.zeros(K), "joint", np.zeros(K))
    np.testing.assert_allclose(found, plain + lines(MISSING), atol=1e-11)


def test_the_probability_of_numbers_is_that_of_the_other() -> None:
    inner = likelihood_of(Poisson())
    np.testing.assert_array_equal(sloped(inner).log_base(DENSE), inner.log_base(DENSE))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_rows_are_added_up_in_slices(kind: Any) -> None:
    x = np.tile(MISSING, (2 * ROWS // N + 2, 1)).astype(kind)
    found = sloped(likelihood_of(Gaussian())).added(Dense(x, Columns(range(D))))
    np.testing.assert_allclose(found, np.tile(lines(MISSING), (len(x) // N, 1)), atol=1e-11)


def test_no_row() -> None:
    of = sloped(likelihood_of(Gaussian()))
    none = Dense(np.empty((0, D)), Columns(range(D)))
    assert of.log_prob(none, np.zeros(K), "posterior", np.zeros(K)).shape == (0, K)
    assert len(of.contributions(none).row) == 0
    empty = Sparse(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), Columns(range(D)))
    assert of.added(empty).shape == (0, K)


def test_infinite_numbers_are_clipped() -> None:
    bounded = Sloped(
        likelihood_of(Histogram()), COLUMN[:2], LOW[:2], HIGH[:2], CENTRE[:2], SLOPE[:2]
    )
    x = np.array([[np.inf, -np.inf, 0.0, 0.0], [-np.inf, 1e300, 0.0, 0.0]])
    finite = np.array([[1e9, -1e9, 0.0, 0.0], [-1e9, 1e9, 0.0, 0.0]])
    of = [bounded.added(Dense(rows, Columns(range(D)))) for rows in (x, finite)]
    np.testing.assert_array_equal(*of)


def test_a_number_that_is_stored_twice_is_their_sum_and_a_missing_one_is_zero() -> None:
    """A sparse matrix has no missing numbers; SciPy adds up what is stored twice."""
    of = sloped(likelihood_of(Poisson()))
    zero = Sparse(np.array([0, 0]), np.empty(0, np.int32), np.empty(0), Columns(range(D)))
    gone = Sparse(np.array([0, 1]), np.array([1]), np.array([np.nan]), Columns(range(D)))
    np.testing.assert_allclose(of.added(gone), of.added(zero))
    np.testing.assert_allclose(of.added(zero), lines(np.zeros((1, D))), atol=1e-12)


def test_clipped_lines_are_not_straight() -> None:
    with pytest.raises(ValueError, match="clipped"):
        sloped(likelihood_of(Poisson())).linear()
