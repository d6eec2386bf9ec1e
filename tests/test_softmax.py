"""The pass that weights are fitted by, against its contract and SciPy; and the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brentq, nnls
from scipy.special import logsumexp

from naively import NaiveBayes
from naively.fitting.weights import (
    AS_A_WHOLE,
    LARGEST,
    Blocks,
    KroneckerCurvature,
    Passes,
    SideBySide,
    blocked,
    minimise,
    root,
)
from naively.kernels import dispatch
from naively.kernels import search as newton
from naively.kernels import search as softmax
from tests.learning import coded
from tests.test_kernels import native, needs_native

WEIGHTED = pytest.mark.parametrize("weighted", [False, True])
# Rows around the edges of blocks (64) and chunks (1,024), columns, functions and parts.
SHAPES = [
    (0, 3, 1, 1), (1, 1, 0, 0), (63, 1, 3, 2), (64, 2, 0, 5), (65, 3, 4, 0), (130, 26, 7, 3),
    (1025, 1, 17, 4), (2100, 5, 2, 9),
]  # fmt: skip


def example(n: int, columns: int, functions: int, parts: int, *, weighted: bool) -> dict[str, Any]:
    rng = np.random.default_rng(n + columns)
    return {
        "start": blocked(rng.normal(size=(columns, n))),
        "shared": blocked(rng.normal(size=(functions, n))),
        "slope": rng.normal(size=(columns, functions)),
        "own": blocked(3 * rng.normal(size=(columns, parts, n))),
        "weight": rng.random((columns, parts)),
        "codes": rng.integers(0, max(columns, 2), n).astype(np.int32),
        "row_weight": rng.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else None,
    }


def rows_of(table: np.ndarray, n: int) -> np.ndarray:
    """Take blocks apart: (..., rows)."""
    return (
        np.moveaxis(table, 0, -2)
        .reshape(*table.shape[1:-1], 64 * len(table))[..., :n]
        .astype(np.float64)
    )


def loss_of(of: dict[str, Any]) -> float:
    """The log loss, by SciPy."""
    n = len(of["codes"])
    joint = rows_of(of["start"], n) + of["slope"] @ rows_of(of["shared"], n)
    joint = joint + np.einsum("cp,cpn->cn", of["weight"], rows_of(of["own"], n))
    if len(joint) == 1:
        joint = np.concatenate([np.zeros_like(joint), joint])
    losses = logsumexp(joint, axis=0) - joint[of["codes"], np.arange(n)]
    return float(losses.sum() if of["row_weight"] is None else losses @ of["row_weight"])


@WEIGHTED
@pytest.mark.parametrize("shape", SHAPES)
def test_the_contract_is_the_log_loss_and_its_gradient(shape: Any, weighted: bool) -> None:
    of = example(*shape, weighted=weighted)
    loss, gradient = softmax.softmax_loss(**of)
    assert loss == pytest.approx(loss_of(of), rel=1e-12)
    _, columns, functions, parts = shape
    assert gradient.shape == (columns, functions + parts + 1)
    if shape[0] > 200:
        return

    def at(x: np.ndarray) -> float:
        x = x.reshape(columns, -1)
        slope, weight = x[:, :functions], x[:, functions:-1]
        n = len(of["codes"])
        start = blocked(rows_of(of["start"], n)).astype(np.float64) + x[:, -1:]
        return loss_of(of | {"slope": slope, "weight": weight, "start": start})

    x = np.concatenate([of["slope"], of["weight"], np.zeros((columns, 1))], axis=1).ravel()
    numeric = approx_fprime(x, at, 1e-6).reshape(columns, -1) if x.size else x
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=2e-3)


@needs_native
@WEIGHTED
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("single", "tolerance"), [(False, 1e-12), (True, 1e-5)])
def test_the_native_pass_does_the_same(
    shape: Any, weighted: bool, single: bool, tolerance: float
) -> None:
    of = example(*shape, weighted=weighted)
    loss, gradient = native.softmax_loss(**of, single=single)
    expected, by_contract = softmax.softmax_loss(**of)
    assert loss == pytest.approx(expected, rel=tolerance, abs=1e-300)
    scale = max(1.0, shape[0])
    np.testing.assert_allclose(gradient, by_contract, rtol=tolerance, atol=tolerance * scale)


@needs_native
@pytest.mark.parametrize("single", [False, True])
def test_the_number_of_threads_does_not_show(single: bool) -> None:
    of, before = example(40_000, 4, 9, 5, weighted=True), native.threads()
    found = []
    try:
        for threads in (1, 2, 7):
            native.set_threads(threads)
            found.append(native.softmax_loss(**of, single=single))
    finally:
        native.set_threads(before)
    for loss, gradient in found[1:]:
        assert loss == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("single", [False, True])
def test_evidence_however_large_has_a_finite_loss(columns: int, single: bool) -> None:
    of = example(70, columns, 1, 2, weighted=False)
    of["own"][:, :, 0] = np.where(np.arange(64) % 2, 1e15, -1e15)
    loss, gradient = dispatch.softmax_loss(**of, single=single)
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()
    assert loss == pytest.approx(loss_of(of), rel=1e-6)


def test_blocks_are_laid_out_in_an_order() -> None:
    values, order = np.random.default_rng(0).normal(size=(2, 3, 100)), np.array([2, 0, 1])
    np.testing.assert_array_equal(blocked(values, order=order), blocked(values[:, order]))


@pytest.mark.parametrize("kernel", [softmax, pytest.param(native, marks=needs_native)])
def test_wrong_arrays_are_refused(kernel: Any) -> None:
    of = example(70, 3, 2, 2, weighted=True)
    wrong = [
        {"codes": np.full(70, 3, np.int32)},
        {"codes": np.full(70, -1, np.int32)},
        {"codes": of["codes"][:60]},
    ]
    for arrays in wrong:
        with pytest.raises(ValueError):
            kernel.softmax_loss(**(of | arrays))


@needs_native
@pytest.mark.parametrize("interactions", [None, "auto"])
@pytest.mark.parametrize("k", [2, 3, 12])
def test_a_fit_in_numpy_is_the_same(
    k: int, interactions: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(k)
    y = rng.integers(0, k, 900)
    X = rng.normal(size=(900, 4)) + rng.normal(size=(k, 4))[y]
    X[:, 3] = X[:, 0] * np.where(y % 2, 1, -1) + rng.normal(size=900)
    fitted = NaiveBayes(interactions=interactions).fit(X, y)
    monkeypatch.setattr(dispatch, "softmax_loss", softmax.softmax_loss)
    monkeypatch.setattr(dispatch, "minimise_softmax", newton.minimise_softmax)
    again = NaiveBayes(interactions=interactions).fit(X, y)
    # Sums of interactions are in single precision.
    tolerance = 1e-9 if interactions is None else 1e-3
    np.testing.assert_allclose(again.predict_proba(X), fitted.predict_proba(X), atol=tolerance)


def passes(
    k: int, n: int, functions: int, parts: int, *, free: bool, spread: float = 1.0
) -> Passes:
    rng = np.random.default_rng(k)
    labels = coded(rng.integers(0, k, n), k)
    joint = spread * rng.normal(size=(k, n))
    evidence = rng.normal(size=(k, parts, n))
    return Passes.of(
        joint, labels, rng.normal(size=(functions, n)), evidence, free=np.full(parts, free)
    )


def second_derivatives(of: Passes, x: np.ndarray) -> np.ndarray:
    step = 1e-5 * np.eye(len(x))
    return np.array([(of.loss(x + e)[1] - of.loss(x - e)[1]) / 2e-5 for e in step])


@pytest.mark.parametrize(("k", "free"), [(2, False), (3, True), (4, False)])
def test_the_curvature_of_few_arguments_is_that_of_the_loss(k: int, free: bool) -> None:
    of = passes(k, 200, 2, 3, free=free)
    x = np.random.default_rng(0).normal(size=of.slopes + of.weights)
    more = np.arange(1.0, 1 + len(x))
    whole = second_derivatives(of, x) + np.diag(more)
    found = of.curvature(x).plus(more)
    assert isinstance(found, Blocks if free or k == 2 else SideBySide)
    inverse = found.inverse(np.ones(len(x), np.bool_))
    matrix = np.linalg.inv(np.array([inverse(e) for e in np.eye(len(x))]))
    for part in [found] if isinstance(found, Blocks) else found.parts:
        assert isinstance(part, Blocks)
        here = np.ix_(part.at.ravel(), part.at.ravel())
        np.testing.assert_allclose(matrix[here], whole[here], rtol=1e-3, atol=1e-2)
        matrix[here] = 0.0
    np.testing.assert_allclose(matrix, 0.0, atol=1e-9)  # nothing between the parts


def test_the_curvature_of_slopes_is_a_product_where_all_rows_have_one_posterior() -> None:
    k, functions = 41, 5
    assert k * functions > AS_A_WHOLE
    of = passes(k, 300, functions, 0, free=False, spread=0.0)
    x = np.zeros(of.slopes)
    part = of.curvature(x)
    assert isinstance(part, KroneckerCurvature)
    inverse = part.plus(np.full(len(x), 0.5)).inverse(np.ones(len(x), np.bool_))
    matrix = second_derivatives(of, x) + 0.5 * np.eye(len(x))
    some = np.random.default_rng(0).normal(size=len(x))
    np.testing.assert_allclose(matrix @ inverse(some), some, rtol=1e-3, atol=1e-3)


def test_the_curvature_of_very_many_arguments_is_a_diagonal() -> None:
    of = passes(3, 200, 0, LARGEST + 1, free=True)
    x = np.zeros(of.weights)
    part = of.curvature(x)
    assert isinstance(part, Blocks)
    diagonal = np.diag(second_derivatives(of, x))
    np.testing.assert_allclose(part.matrix.ravel(), diagonal[part.at.ravel()], rtol=1e-3)


class Watched(Blocks):
    """Second derivatives whose inverse is given no vector that is not 0 where arguments rest."""

    def inverse(self, free: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        times = super().inverse(free)

        def watched(vector: np.ndarray) -> np.ndarray:
            assert not vector[~free].any()
            return times(vector)

        return watched


@pytest.mark.parametrize("good", [True, False])
def test_the_search_finds_what_scipy_finds_and_exact_zeros(good: bool) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(40, 12)), rng.normal(size=40)
    expected, _ = nnls(a, b)
    assert (expected == 0).any()
    matrix = a.T @ a if good else np.diag((a**2).sum(axis=0))
    curvature = Watched(np.arange(12)[None], matrix[None])

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        left = a @ x - b
        return float(left @ left) / 2, a.T @ left

    bounded = np.ones(12, np.bool_)
    found = minimise(
        loss, np.ones(12), bounded, lambda _: curvature, steps=500, tolerance=1e-14, again=False
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (found[expected == 0] == 0).all()


@pytest.mark.parametrize("at", [-4.9, -1.0, 0.0, 0.3, 2.9])
def test_the_root_is_that_of_scipy_or_an_end(at: float) -> None:
    def of(x: float) -> float:
        return float(np.sinh(x) - np.sinh(at))

    assert root(of, -5.0, 3.0, 0.0, 1e-6) == pytest.approx(brentq(of, -5.0, 3.0), abs=1e-4)
    assert root(lambda x: x + 9.0, -5.0, 3.0, 0.0, 1e-6) == -5.0
    assert root(lambda x: x - 9.0, -5.0, 3.0, 0.0, 1e-6) == 3.0


def test_many_blocks_are_inverted_in_slices_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    root_of = rng.normal(size=(7, 3, 5))
    matrix = root_of @ root_of.transpose(0, 2, 1) + np.eye(3)
    blocks = Blocks(np.arange(21).reshape(7, 3), matrix)
    frees, vector = rng.random((5, 21)) < 0.7, rng.normal(size=21)
    frees[0] = True
    at_once = [blocks.inverse(free)(vector) for free in frees]
    monkeypatch.setattr("naively.fitting.weights.AT_ONCE", 20)  # of 63 numbers
    blocks = Blocks(blocks.at, matrix)
    in_slices = [blocks.inverse(free) for free in frees]  # one after the other, and used later
    for free, expected, times in zip(frees, at_once, in_slices, strict=True):
        np.testing.assert_allclose(times(vector), expected, rtol=1e-12)
        known = np.zeros(21)
        for at, of in zip(blocks.at, matrix, strict=True):
            some = at[free[at]]
            known[some] = np.linalg.solve(of[np.ix_(free[at], free[at])], vector[some])
        np.testing.assert_allclose(expected[free], known[free], rtol=1e-5)


def test_arguments_that_do_the_same_have_a_finite_inverse() -> None:
    blocks = Blocks(np.arange(3)[None], np.full((1, 3, 3), 4.0))
    times = blocks.inverse(np.ones(3, np.bool_))
    step = times(np.full(3, 12.0))
    np.testing.assert_allclose(step.sum(), 3.0, rtol=1e-5)  # together, as one argument alone
    np.testing.assert_allclose(step, 1.0, rtol=1e-5)
