"""The problem of the linear part, against scikit-learn and SciPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from naively import NaiveBayes
from naively.counting.labels import Labels
from naively.fitting import weights
from naively.fitting.sample import FEW_HELD_OUT, deal, in_thirds
from naively.fitting.weights import RIDGES, Passes, Third
from tests.alike import linear_of, table
from tests.learning import coded


def held_out(labels: Labels) -> Any:
    return in_thirds(labels, deal(labels, np.ones(len(labels), np.int64), 3).argmax(axis=1))


class Problem(NamedTuple):
    """Rows with their joint log likelihoods, and functions, (rows, functions)."""

    joint: np.ndarray
    labels: Labels
    z: np.ndarray

    @property
    def passes(self) -> Passes:
        return Passes.of(self.joint.T, self.labels, self.z.T)

    def take(self, rows: np.ndarray) -> Problem:
        return Problem(self.joint[rows], self.labels.take(rows), self.z[rows])


def solved(of: Problem, ridge: float, start: Any = None) -> np.ndarray:
    start = np.zeros(of.passes.slopes) if start is None else start
    return weights.of_classes(weights.solve(of.passes, ridge, start, 500), len(of.labels.classes))


def choose(of: Problem, ridges: Any) -> weights.Chosen:
    thirds = [Third(of.joint, *third) for third in held_out(of.labels)]
    return weights.choose_ridge([of.z.T] * len(thirds), thirds, of.labels, ridges)


def problem(seed: int, k: int, *, joint: float = 0.0, weighted: bool = False) -> Any:
    rng = np.random.default_rng(seed)
    n, m = 90, 4
    z = np.hstack([rng.normal(size=(n, m)), np.ones((n, 1))])
    codes = (z[:, 0] + rng.normal(size=n) > 0).astype(np.int32) + (
        (z[:, 1] > 0.5).astype(np.int32) if k == 3 else 0
    )
    weight = rng.choice([0.3, 1.0, 2.0, 7.25], n) if weighted else None
    labels = coded(codes, k, weight)
    return Problem(joint * rng.normal(size=(n, k)), labels, z)


def objective(of: Problem, slope: np.ndarray, ridge: float) -> float:
    """The penalised log loss, row by row."""
    total = 0.0
    for i, (code, weight) in enumerate(zip(of.labels.codes, of.labels.weights, strict=True)):
        joint = of.joint[i] + of.z[i] @ slope
        total += weight * (np.logaddexp.reduce(joint) - joint[code])
    return float(total + ridge / 2 * np.square(slope).sum())


def by_scipy(of: Problem, ridge: float) -> np.ndarray:
    """The minimum of the objective, with numerical gradients and slopes for all classes."""
    k, m = len(of.labels.classes), of.z.shape[1]
    right, weight = np.eye(k)[of.labels.codes], of.labels.weights

    def value(x: np.ndarray) -> float:
        joint = of.joint + of.z @ x.reshape(m, k)
        losses = np.logaddexp.reduce(joint, axis=1) - (joint * right).sum(axis=1)
        return float(losses @ weight + ridge * np.square(x).sum() / 2)

    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-8}
    found = minimize(value, np.zeros(m * k), method="L-BFGS-B", options=options)
    return np.asarray(found.x.reshape(m, k))


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("ridge", [40.0, 1.6, 0.06])
@pytest.mark.parametrize("k", [2, 3])
def test_it_is_logistic_regression(k: int, ridge: float, *, weighted: bool) -> None:
    """Two slopes of ± half have half the square of their difference, which scikit-learn shrinks."""
    of = problem(k, k, weighted=weighted)
    found = solved(of, ridge)
    oracle = LogisticRegression(
        C=(2 if k == 2 else 1) / ridge, fit_intercept=False, tol=1e-10, max_iter=10_000
    ).fit(of.z, of.labels.codes, of.labels.weight)
    slope = oracle.coef_.T
    slope = slope * [-0.5, 0.5] if k == 2 else slope - slope.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-12)
    assert objective(of, found, ridge) == pytest.approx(objective(of, slope, ridge), rel=2e-5)
    np.testing.assert_allclose(found, slope, atol=0.03 * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_minimum_beside_what_the_joint_says(k: int) -> None:
    of = problem(10 + k, k, joint=2.0, weighted=True)
    found, oracle = solved(of, 1.6), by_scipy(of, 1.6)
    assert objective(of, found, 1.6) == pytest.approx(objective(of, oracle, 1.6), rel=2e-5)
    np.testing.assert_allclose(found, oracle, atol=0.03)


def test_the_start_does_not_show() -> None:
    of = problem(5, 3, joint=1.0)
    a, b = solved(of, 1.6), solved(of, 1.6, np.random.default_rng(0).normal(size=15))
    np.testing.assert_allclose(a, b, atol=0.03)
    assert objective(of, a, 1.6) == pytest.approx(objective(of, b, 1.6), rel=2e-5)


def test_the_loss_of_rows_is_their_log_loss() -> None:
    of = problem(6, 3, joint=1.0, weighted=True)
    some = np.random.default_rng(0).normal(size=15)
    loss = objective(of, weights.of_classes(some, 3), 0.0)
    assert of.passes.loss(some)[0] == pytest.approx(loss)
    at = np.array([3, 8, 8, 40])
    alone = sum(of.take(at[[i]]).passes.loss(some)[0] for i in range(4))
    assert of.take(at).passes.loss(some)[0] == pytest.approx(alone)
    assert of.take(np.empty(0, np.int64)).passes.loss(some)[0] == 0.0
    moved = Third(weights.joint_with(of.joint, of.z.T, some), np.arange(0), np.arange(90))
    assert moved.loss(of.labels) == pytest.approx(loss)
    third = Third(of.joint, np.arange(60), np.arange(60, 90))
    held = of.take(np.arange(60, 90)).passes
    assert third.loss(of.labels) == pytest.approx(held.loss(np.zeros(15))[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 3])
def test_the_ridge_has_the_least_loss_of_held_out_thirds(k: int, seed: int) -> None:
    of = problem(20 + seed, k, joint=1.0, weighted=bool(seed % 2))
    runs = [(of.take(rest), of.take(third)) for rest, third in held_out(of.labels)]
    nothing = sum(objective(third, np.zeros((5, k)), 0.0) for _, third in runs)
    each = [[objective(third, by_scipy(rest, of), 0.0) for rest, third in runs] for of in RIDGES]
    losses = [sum(losses) for losses in each]
    least = min(losses)
    assert (
        losses.index(least)
        == next(  # where it pays to stop early, and it does here
            i for i in range(len(RIDGES)) if min(losses[i + 1 : i + 3], default=np.inf) >= losses[i]
        )
    )
    best = RIDGES[losses.index(least)] if least < nothing else None
    found = choose(of, RIDGES).ridge
    if found != best:  # the search stops early, so that of two losses alike either may be less
        assert found is not None
        assert losses[RIDGES.index(found)] == pytest.approx(least, rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_a_sum_of_columns_has_as_weak_a_ridge_as_it_pays(seed: int) -> None:
    """Each ridge beyond the list lowers the loss of held-out rows by a nat."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1300, 4))
    y = X @ rng.normal(size=4) > 0
    nb = NaiveBayes().fit(X[:300], y[:300])
    assert linear_of(nb).ridge < 0.05 * RIDGES[-1] * (1 + 1000 / 300)
    assert nb.evaluate(X[300:], y[300:]).log_loss < 0.045
    of = Problem(np.zeros((300, 2)), coded(y[:300], 2), X[:300])
    ridges = weights.ridges_of(of.labels, 40)
    assert ridges[-1] == pytest.approx(0.0005 * (1 + 1000 / 300))  # of any number of parts
    listed, found = choose(of, ridges[: len(RIDGES)]), choose(of, ridges)
    assert found.ridge < listed.ridge == ridges[len(RIDGES) - 1]
    assert found.loss < listed.loss - weights.FURTHER


def test_where_nothing_helps_there_is_no_ridge() -> None:
    """Functions that say the opposite in the rows held out."""
    n = 60
    codes = np.tile([0, 1], n // 2).astype(np.int32)
    z = np.random.default_rng(0).normal(size=(n, 2))
    labels = coded(codes, 2)
    for t, (_, third) in enumerate(held_out(labels)):
        z[third, 0] = 5.0 * (t - 1) * (2 * codes[third] - 1)
    sure = np.where(codes[:, None] == np.arange(2), 3.0, -3.0)
    assert choose(Problem(sure, labels, z), RIDGES).ridge is None


@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_thirds_share_out_the_rows_of_each_class(n: int) -> None:
    codes = np.random.default_rng(n).integers(0, 2, n).astype(np.int32)
    runs = held_out(coded(codes, 2))
    assert len(runs) == 3
    np.testing.assert_array_equal(
        np.sort(np.concatenate([third for _, third in runs])), np.arange(n)
    )
    for rest, third in runs:
        np.testing.assert_array_equal(np.sort(np.append(rest, third)), np.arange(n))
        for c in range(2):
            assert abs((codes[third] == c).sum() - (codes == c).sum() / 3) < 1


def test_of_many_rows_one_third_is_held_out() -> None:
    codes = np.zeros(90, np.int32)
    assert len(held_out(coded(codes, 1))) == 3
    many = np.full(90, FEW_HELD_OUT / 45)
    assert len(held_out(coded(codes, 1, many))) == 1


def test_strong_ridges_that_hurt_do_not_hide_weaker_ones_that_help() -> None:
    """Of few rows the evidence is weighed to fit the rows held out too, as nothing is not."""
    for k in (2, 3):
        assert linear_of(NaiveBayes().fit(*table(3, k=k, sharp=True))).of
