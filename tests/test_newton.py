"""The search for few arguments, against its contract, SciPy, and the search for many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from naively import NaiveBayes
from naively.fitting.weights import Passes, Penalty, least
from naively.kernels import search as newton
from tests.learning import coded
from tests.test_softmax import native, needs_native, rows_of

KERNELS = pytest.mark.parametrize("kernel", [newton, pytest.param(native, marks=needs_native)])
# Rows around the edges of blocks (64), classes, functions, parts, whether each class has a weight.
SHAPES = [
    (1, 2, 1, 1, False), (63, 2, 3, 2, False), (64, 3, 1, 4, True), (130, 4, 0, 3, False),
    (200, 3, 5, 0, True), (300, 7, 1, 6, True),
]  # fmt: skip


def problem(n: int, k: int, functions: int, parts: int, free: bool) -> tuple[Passes, Penalty]:
    """Rows whose evidence says something, of which some weights are best 0."""
    rng = np.random.default_rng(n)
    codes = rng.integers(0, k, n).astype(np.int32)
    codes[:k] = np.arange(k)[:n]
    labels = coded(codes, k, rng.choice([0.0, 0.5, 1.0, 3.0], n))
    evidence = rng.normal(size=(k, parts, n))
    evidence[codes, :, np.arange(n)] += np.linspace(-1, 2, parts)
    z = rng.normal(size=(functions, n)) + np.cos(codes)
    passes = Passes.of(rng.normal(size=(k, n)), labels, z, evidence, free=np.full(parts, free))
    arguments = passes.slopes + passes.weights
    together = 3 * rng.random(parts) if free and k > 2 else np.zeros(parts)
    return passes, Penalty(0.5 + rng.random(arguments), together, rng.random(arguments))


def told(passes: Passes, penalty: Penalty, start: np.ndarray, **more: Any) -> dict[str, Any]:
    """What a kernel is told."""
    names = ("start", "shared", "own", "number")
    tables = {name: getattr(passes, name) for name in names}
    shrunk = {name: getattr(penalty, name) for name in ("alone", "together", "centre")}
    weights = {"codes": passes.labels.codes, "row_weight": passes.labels.weight}
    return tables | weights | shrunk | {"x": start, "steps": 50, "tolerance": 1e-6} | more


def penalised_loss(passes: Passes, penalty: Penalty, x: np.ndarray) -> float:
    """The log loss and the penalty, written out."""
    n, off = len(passes.labels), x - penalty.centre
    total = float(penalty.alone @ off**2) / 2
    slope, weight = passes.split(x)
    joint = rows_of(passes.start, n) + slope @ rows_of(passes.shared, n)
    joint += np.einsum("cp,cpn->cn", weight, rows_of(passes.own, n))
    if len(joint) == 1:
        joint = np.concatenate([np.zeros_like(joint), joint])
    for j, together in enumerate(penalty.together):
        total += together * off[passes.slopes + passes.number[:, j]].sum() ** 2 / 2
    losses = logsumexp(joint, axis=0) - joint[passes.labels.codes, np.arange(n)]
    return total + float(losses @ passes.labels.weights)


@pytest.mark.slow
@KERNELS
@pytest.mark.parametrize("shape", SHAPES)
def test_the_search_finds_what_scipy_finds(kernel: Any, shape: Any) -> None:
    passes, penalty = problem(*shape)
    n = len(penalty.alone)
    found = kernel.minimise_softmax(**told(passes, penalty, np.ones(n)))
    bounds = [(None if a < passes.slopes else 0.0, None) for a in range(n)]
    expected = minimize(
        lambda x: penalised_loss(passes, penalty, x),
        np.ones(n),
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-7, "maxiter": 2000, "maxfun": 10**6},
    )
    np.testing.assert_allclose(found, expected.x, atol=2e-4)
    assert (found[passes.slopes :] >= 0).all()
    assert penalised_loss(passes, penalty, found) <= expected.fun + 1e-9 * abs(expected.fun)


def test_some_weights_of_the_examples_are_exactly_0() -> None:
    zeros = 0
    for shape in SHAPES:
        passes, penalty = problem(*shape)
        found = newton.minimise_softmax(**told(passes, penalty, np.ones(len(penalty.alone))))
        zeros += int((found[passes.slopes :] == 0).sum())
    assert zeros > 3


@needs_native
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("steps", [0, 1, 2, 50])
def test_the_native_search_goes_the_same_way(shape: Any, steps: int) -> None:
    passes, penalty = problem(*shape)
    of = told(passes, penalty, np.full(len(penalty.alone), 9.0), steps=steps)  # far: steps shorten
    found, expected = native.minimise_softmax(**of), newton.minimise_softmax(**of)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@KERNELS
def test_rows_that_are_sure_and_weigh_much_have_finite_weights(kernel: Any) -> None:
    passes, penalty = problem(130, 3, 2, 2, True)
    passes.own[...] *= 1e6
    for weight in (1.0, 1e60):
        of = told(passes, penalty, np.ones(len(penalty.alone)), row_weight=np.full(130, weight))
        assert np.isfinite(kernel.minimise_softmax(**of)).all()


@KERNELS
def test_wrong_arrays_are_refused(kernel: Any) -> None:
    of = told(*problem(70, 3, 1, 2, True), np.ones(9))
    kernel.minimise_softmax(**of)
    for wrong in (
        {"codes": np.full(70, 3, np.int32)},
        {"codes": np.full(60, 1, np.int32)},
        {"number": of["number"] + 1},
        {"number": of["number"] - 1},
    ):
        with pytest.raises(ValueError):
            kernel.minimise_softmax(**(of | wrong))


@pytest.mark.parametrize("shape", SHAPES)
def test_few_and_many_arguments_have_one_solution(
    shape: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes, penalty = problem(*shape)
    start = np.ones(len(penalty.alone))
    found = least(passes, penalty, start, passes.curvature, steps=200, tolerance=1e-9)
    monkeypatch.setattr("naively.fitting.weights.SMALL", 0)
    again = least(passes, penalty, start, passes.curvature, steps=200, tolerance=1e-9)
    assert (found != again).any()  # they are two searches
    np.testing.assert_allclose(found, again, atol=1e-3)


def test_the_order_of_rows_and_columns_does_not_show() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 4)) + rng.normal(size=(3, 4))[y]
    rows, columns = rng.permutation(200), rng.permutation(4)
    names = np.array(["a", "b", "c", "d"])
    fitted = NaiveBayes().fit(dict(zip(names, X.T, strict=True)), y)
    other = dict(zip(names[columns], X[rows][:, columns].T, strict=True))
    again = NaiveBayes().fit(other, y[rows])
    table = dict(zip(names, X.T, strict=True))
    np.testing.assert_allclose(again.predict_proba(table), fitted.predict_proba(table), atol=1e-9)
