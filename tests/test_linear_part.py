"""The linear part: its problem against other implementations, and its laws in a whole model."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from naively import Gaussian, NaiveBayes, Poisson
from naively.counting.axis import Columns, Levels
from naively.counting.block import Codes, Dense
from naively.counting.labels import Labels, encode_labels
from naively.data.frames import as_rows
from naively.evaluation import linear_part as fitting
from naively.evaluation.cross_validate import cross_validate
from naively.evaluation.leave_one_out import left_out, linear_evidence, weighted_joint
from naively.evaluation.linear_part import RIDGES, best_ridge, held_out
from naively.evaluation.ridge import Problem, Solution, solve
from naively.model.linear_part import Line, LinearPart, Product, Step
from naively.model.model import Model
from naively.model.weights import NOTHING

Table = dict[str, np.ndarray]
LABELS = np.array(["n", "o", "p"])


def table(seed: int, n: int = 400, k: int = 2) -> tuple[Table, np.ndarray]:
    """Return columns that say much alike, so that naive Bayes is wrong, with missing cells."""
    rng = np.random.default_rng(seed)
    z, e = rng.normal(size=(2, n))
    y = np.digitize(z - e + 0.3 * rng.normal(size=n), [0.0] if k == 2 else [-0.7, 0.7])
    columns = {
        "a": z.copy(),
        "b": z + 0.3 * rng.normal(size=n),
        "c": e + z,
        "level": np.array(["r", "g", "b"], object)[np.digitize(e + 0.5 * z, [-0.5, 0.5])],
        "truth": (z + rng.normal(size=n) > 0).astype(float),
    }
    for name, column in columns.items():
        column[rng.random(n) < 0.1] = None if name == "level" else np.nan
    return columns, LABELS[y]


def take(X: Table, at: Any) -> Table:
    return {name: column[at] for name, column in X.items()}


def loss(nb: NaiveBayes, X: Any, y: np.ndarray) -> float:
    p = nb.predict_proba(X)[np.arange(len(y)), np.searchsorted(nb.classes_, y)]
    return float(-np.log(p).mean())


def linear_of(nb: NaiveBayes) -> LinearPart:
    assert nb.weights_ is not None
    return nb.weights_.linear


def without(nb: NaiveBayes, gone: Any = None) -> Model:
    """Return the model without its linear part, or without the terms of a column."""
    assert nb.weights_ is not None
    linear = NOTHING
    if gone is not None:
        rest = {term: slope for term, slope in linear_of(nb).of.items() if term.column != gone}
        linear = replace(linear_of(nb), of=rest)
    return nb.model_.weighed(replace(nb.weights_, linear=linear))


def added(nb: NaiveBayes, X: Any) -> np.ndarray:
    """Return what the linear part adds to the joint log likelihood, (rows, classes)."""
    rows = as_rows(X)
    return nb.model_.joint_log_likelihood(rows) - without(nb).joint_log_likelihood(rows)


# The problem


def problem(
    seed: int, k: int, *, joint: float = 0.0, pairs: int = 0, weighted: bool = False
) -> Any:
    rng = np.random.default_rng(seed)
    n, m = 90, 4
    z = np.hstack([rng.normal(size=(n, m)), np.ones((n, 1))])
    codes = (z[:, 0] + rng.normal(size=n) > 0).astype(np.int32) + (
        (z[:, 1] > 0.5).astype(np.int32) if k == 3 else 0
    )
    weight = rng.choice([0.3, 1.0, 2.0, 7.25], n) if weighted else None
    evidence = rng.normal(size=(n, k, pairs))
    evidence += 0.5 * (np.arange(k)[None, :, None] == codes[:, None, None])
    labels = Labels(codes.astype(np.int32), LABELS[:k], weight)
    return Problem(joint * rng.normal(size=(n, k)), labels, z, evidence)


def objective(of: Problem, found: Solution, ridge: float, of_evidence: float = 0.0) -> float:
    """The penalised log loss, row by row."""
    total = 0.0
    for i, (code, weight) in enumerate(zip(of.labels.codes, of.labels.weights, strict=True)):
        joint = of.joint[i] + of.z[i] @ found.slope + of.evidence[i] @ found.weight
        total += weight * (np.logaddexp.reduce(joint) - joint[code])
    total += ridge / 2 * np.square(found.slope).sum()
    return float(total + of_evidence / 2 * np.square(found.weight).sum())


def by_scipy(of: Problem, ridge: float, of_evidence: float = 0.0) -> Solution:
    """The minimum of the objective, with numerical gradients and slopes for all classes."""
    k, m, pairs = of.labels.k, of.z.shape[1], of.evidence.shape[2]
    right, weight = np.eye(k)[of.labels.codes], of.labels.weights

    def read(x: np.ndarray) -> Solution:
        return Solution(x[: m * k].reshape(m, k), x[m * k :])

    def value(x: np.ndarray) -> float:
        found = read(x)
        joint = of.joint + of.z @ found.slope + of.evidence @ found.weight
        losses = np.logaddexp.reduce(joint, axis=1) - (joint * right).sum(axis=1)
        size = ridge * np.square(found.slope).sum() + of_evidence * np.square(found.weight).sum()
        return float(losses @ weight + size / 2)

    bounds = [(None, None)] * (m * k) + [(0, None)] * pairs
    options = {"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-8}
    return read(minimize(value, np.zeros(m * k + pairs), bounds=bounds, options=options).x)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("ridge", [40.0, 1.6, 0.06])
@pytest.mark.parametrize("k", [2, 3])
def test_without_evidence_it_is_logistic_regression(
    k: int, ridge: float, *, weighted: bool
) -> None:
    """Two slopes of ± half have half the square of their difference, which scikit-learn shrinks."""
    of = problem(k, k, weighted=weighted)
    found = solve(of, ridge, 0.0, Solution.nothing(5, k), 500)
    oracle = LogisticRegression(
        C=(2 if k == 2 else 1) / ridge, fit_intercept=False, tol=1e-10, max_iter=10_000
    ).fit(of.z, of.labels.codes, of.labels.weight)
    slope = oracle.coef_.T
    slope = slope * [-0.5, 0.5] if k == 2 else slope - slope.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.slope.sum(axis=1), 0.0, atol=1e-12)
    best = objective(of, Solution(slope, np.empty(0)), ridge)
    assert objective(of, found, ridge) == pytest.approx(best, rel=2e-5)
    np.testing.assert_allclose(found.slope, slope, atol=0.03 * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("pairs", [0, 3])
@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_minimum_beside_what_the_evidence_says(k: int, pairs: int) -> None:
    of = problem(10 + k, k, joint=2.0, pairs=pairs, weighted=True)
    found = solve(of, 1.6, 4.0, Solution.nothing(5, k, pairs), 500)
    oracle = by_scipy(of, 1.6, 4.0)
    best = objective(of, oracle, 1.6, 4.0)
    assert objective(of, found, 1.6, 4.0) == pytest.approx(best, rel=2e-5)
    np.testing.assert_allclose(found.slope, oracle.slope, atol=0.03)
    np.testing.assert_allclose(found.weight, oracle.weight, atol=0.03)


def test_weights_of_evidence_are_never_negative() -> None:
    of = problem(3, 3, pairs=2)
    against = replace(of, evidence=np.concatenate([of.evidence, -3 * of.evidence], axis=2))
    found, oracle = (
        solve(against, 1.6, 1.0, Solution.nothing(5, 3, 4), 500),
        by_scipy(against, 1.6, 1.0),
    )
    assert (found.weight >= 0).all()
    np.testing.assert_array_equal(found.weight[2:], 0.0)
    np.testing.assert_allclose(found.weight, oracle.weight, atol=0.03)


def test_the_start_does_not_show() -> None:
    of = problem(5, 3, joint=1.0)
    far = Solution(np.random.default_rng(0).normal(size=(5, 3)), np.empty(0))
    a, b = (solve(of, 1.6, 0.0, start, 500) for start in (Solution.nothing(5, 3), far))
    np.testing.assert_allclose(a.slope, b.slope, atol=0.03)
    assert objective(of, a, 1.6) == pytest.approx(objective(of, b, 1.6), rel=2e-5)


def test_the_loss_of_rows_is_their_log_loss() -> None:
    of = problem(6, 3, joint=1.0, pairs=2, weighted=True)
    rng = np.random.default_rng(0)
    some = Solution(rng.normal(size=(5, 3)), rng.random(2))
    assert of.loss(some) == pytest.approx(objective(of, some, 0.0))
    at = np.array([3, 8, 8, 40])
    assert of.take(at).loss(some) == pytest.approx(
        sum(of.take(at[[i]]).loss(some) for i in range(4))
    )
    assert of.take(np.empty(0, np.int64)).loss(some) == 0.0


# The ridge


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 3])
def test_the_ridge_has_the_least_loss_of_held_out_thirds(k: int, seed: int) -> None:
    of = problem(20 + seed, k, joint=1.0, weighted=bool(seed % 2))
    runs = [(of.take(rest), of.take(third)) for rest, third in held_out(of.labels)]
    nothing = sum(third.loss(Solution.nothing(5, k)) for _, third in runs)
    losses = [sum(third.loss(by_scipy(rest, ridge)) for rest, third in runs) for ridge in RIDGES]
    least = min(losses)
    assert (
        losses.index(least)
        == next(  # where it pays to stop early, and it does here
            i for i in range(len(RIDGES)) if min(losses[i + 1 : i + 3], default=np.inf) >= losses[i]
        )
    )
    best = RIDGES[losses.index(least)] if least < nothing else None
    found, _ = best_ridge(of)
    if found != best:  # the search stops early, so that of two losses alike either may be less
        assert found is not None
        assert losses[RIDGES.index(found)] == pytest.approx(least, rel=1e-3)


def test_where_nothing_helps_there_is_no_ridge() -> None:
    """Functions that say the opposite in the rows held out."""
    n = 60
    codes = np.tile([0, 1], n // 2).astype(np.int32)
    z = np.random.default_rng(0).normal(size=(n, 2))
    labels = Labels(codes, LABELS[:2])
    for t, (_, third) in enumerate(held_out(labels)):
        z[third, 0] = 5.0 * (t - 1) * (2 * codes[third] - 1)
    sure = np.where(codes[:, None] == np.arange(2), 3.0, -3.0)
    assert best_ridge(Problem(sure, labels, z, np.empty((n, 2, 0))))[0] is None


@pytest.mark.parametrize("n", [2, 3, 7, 100])
def test_thirds_share_out_the_rows_of_each_class(n: int) -> None:
    codes = np.random.default_rng(n).integers(0, 2, n).astype(np.int32)
    runs = held_out(Labels(codes, LABELS[:2]))
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
    assert len(held_out(Labels(codes, LABELS[:1]))) == 3
    assert len(held_out(Labels(codes, LABELS[:1], np.full(90, 25.0)))) == 1


def test_strong_ridges_that_hurt_do_not_hide_weaker_ones_that_help() -> None:
    """Of few rows the evidence is weighed to fit the rows held out too, as nothing is not."""
    for k in (2, 3):
        assert linear_of(NaiveBayes().fit(*table(0, k=k))).of


# The functions


def of_numbers(x: Any, weight: Any = None, *, indicator: bool = False) -> Line | None:
    weight = None if weight is None else np.asarray(weight, np.float64)
    return fitting._line(np.asarray(x, np.float64), weight, indicator=indicator)


def of_levels(cells: list[Any], weight: Any = None) -> list[Step]:
    levels = tuple(dict.fromkeys(cell for cell in cells if cell is not None))
    codes = np.array([[-1 if cell is None else levels.index(cell)] for cell in cells], np.int32)
    weight = None if weight is None else np.asarray(weight, np.float64)
    return fitting._steps(Codes(codes, Levels(("x",), (levels,))), 0, weight)  # type: ignore[return-value]


@pytest.mark.parametrize("n", [3, 50, 200, 999])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_line_is_clipped_and_standardised(n: int, missing: float) -> None:
    rng = np.random.default_rng(n)
    x = rng.lognormal(size=n)
    x[rng.random(n) < missing] = np.nan
    line = of_numbers(x)
    there = np.sort(x[~np.isnan(x)])
    tail = int(0.005 * len(there))
    assert line is not None
    assert (line.low, line.high) == (there[tail], there[len(there) - 1 - tail])
    clipped = np.clip(there, line.low, line.high)
    np.testing.assert_allclose([line.centre, line.scale], [clipped.mean(), clipped.std()])
    z = line.of(Dense(x[:, None], Columns(range(1))), 0)
    np.testing.assert_array_equal(z[np.isnan(x)], 0.0)
    np.testing.assert_allclose([z.sum(), np.square(z).sum()], [0.0, len(there)], atol=1e-9)


@pytest.mark.parametrize("n", [5, 60, 400, 1000])
def test_a_weight_is_so_many_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    x, times = rng.normal(size=n).round(1), rng.integers(1, 6, n)
    x[0] = np.nan
    weighted, repeated = of_numbers(x, times), of_numbers(np.repeat(x, times))
    assert weighted is not None
    assert repeated is not None
    np.testing.assert_allclose(
        list(vars(weighted).values()), list(vars(repeated).values()), rtol=1e-12, atol=1e-12
    )
    levels = [None if i % 9 == 0 else "abcdefghijk"[i * i % 11] for i in range(n)]
    steps = of_levels(levels, times), of_levels(np.repeat(np.array(levels, object), times).tolist())
    assert [step.level for step in steps[0]] == [step.level for step in steps[1]]
    for a, b in zip(*steps, strict=True):
        np.testing.assert_allclose([a.centre, a.scale], [b.centre, b.scale], rtol=1e-12)


@pytest.mark.parametrize(
    "x", [[], [np.nan] * 9, [4.0] * 9, [1e9, 1e9 + 1e-6] * 9, [1e-200, 2e-200]], ids=str
)
def test_numbers_that_do_not_differ_have_no_line(x: list[float]) -> None:
    assert of_numbers(x) is None


def test_huge_and_infinite_numbers_have_finite_lines() -> None:
    for x in ([1e300, -1e300, 0.0], [np.inf, -np.inf, 0.0, 1.0], [np.inf, 1.0]):
        line = of_numbers(x)
        assert line is not None
        z = line.of(Dense(np.array(x)[:, None], Columns(range(1))), 0)
        assert np.isfinite(z).all()
        assert np.isfinite(list(vars(line).values())).all()


def test_a_rare_truth_has_no_large_value() -> None:
    line = of_numbers([1.0] + [0.0] * 999, indicator=True)
    assert line == Line(0.0, 1.0, 0.001, 0.2)


def test_steps_are_of_the_commonest_levels() -> None:
    cells = [level for i, level in enumerate("abcdefghij") for _ in range(20 - i)]
    steps = of_levels([*cells, None, None])
    assert [step.level for step in steps] == list("abcdefgh")
    share = np.array([(20 - i) / len(cells) for i in range(8)])
    np.testing.assert_allclose([step.centre for step in steps], share)
    scale = np.maximum(np.sqrt(share * (1 - share)), 0.2)
    np.testing.assert_allclose([step.scale for step in steps], scale)


def test_rare_levels_have_no_step_and_two_levels_one() -> None:
    assert [step.level for step in of_levels(["a"] * 9 + ["b"] * 5 + ["c"] * 4)] == ["a", "b"]
    assert [step.level for step in of_levels(["a"] * 9 + ["b"] * 10)] == ["b"]
    assert of_levels(["a"] * 9) == []
    assert of_levels([None] * 9) == []


def test_a_level_that_is_unknown_is_no_step() -> None:
    step = Step("gone", 0.25, 0.5)
    codes = Codes(np.array([[0], [1], [-1]], np.int32), Levels(("x",), (("here",),)))
    np.testing.assert_array_equal(step.of(codes, 0), [-0.5, -0.5, 0.0])
    here = replace(step, level="here")
    np.testing.assert_array_equal(here.of(codes, 0), [1.5, -0.5, 0.0])


def test_of_many_columns_those_that_say_most_have_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = table(0)
    monkeypatch.setattr(fitting, "FUNCTIONS", 2)
    rng = np.random.default_rng(0)
    noise = {f"noise {j}": rng.normal(size=len(y)) for j in range(4)}
    terms = linear_of(NaiveBayes().fit(noise | X, y)).of
    assert len(terms) == 2
    assert {term.column for term in terms} <= set(X)


# Whole models


@pytest.mark.parametrize("k", [2, 3])
def test_it_helps_where_columns_repeat_each_other(k: int) -> None:
    X, y = table(0, k=k)
    nb, (new, label) = NaiveBayes().fit(X, y), table(1, 2000, k)
    linear = linear_of(nb)
    assert linear.of
    assert linear.ridge in RIDGES
    np.testing.assert_allclose([sum(slope) for slope in linear.of.values()], 0.0, atol=1e-12)
    p = without(nb).posterior(as_rows(new))[
        np.arange(len(label)), np.searchsorted(LABELS[:k], label)
    ]
    assert loss(nb, new, label) < float(-np.log(p).mean()) - 0.05


@pytest.mark.parametrize("seed", range(5))
def test_on_noise_it_is_about_nothing(seed: int) -> None:
    X, y = table(seed)
    nb = NaiveBayes().fit(X, np.random.default_rng(seed).permutation(y))
    assert np.abs(added(nb, X)).max() < 0.5
    new, label = table(99, 2000)
    shuffled = np.random.default_rng(1).permutation(label)
    assert loss(nb, new, shuffled) < np.log(2) + 0.02


@pytest.mark.parametrize("settings", [{"weights": None}, {"weights": "temperature"}], ids=str)
def test_there_is_none_without_weights_for_each_part(settings: dict[str, Any]) -> None:
    X, y = table(0)
    nb = NaiveBayes(**settings).fit(X, y)
    assert nb.weights_ is None or linear_of(nb) == NOTHING


@pytest.mark.parametrize("k", [2, 3])
def test_it_is_the_sum_of_its_terms(k: int) -> None:
    """By hand from the slopes, the functions and the cells."""
    X, y = table(0, k=k)
    nb, (new, _) = NaiveBayes().fit(X, y), table(1, 60, k)
    expected = np.tile(linear_of(nb).intercept, (60, 1))
    for term, slope in linear_of(nb).of.items():
        for i, cell in enumerate(new[str(term.column)].tolist()):
            of = term.function
            if cell is None or cell != cell:
                continue
            if isinstance(of, Line):
                z = (min(max(cell, of.low), of.high) - of.centre) / of.scale
            else:
                z = ((cell == of.level) - of.centre) / of.scale
            expected[i] += z * np.array(slope)
    np.testing.assert_allclose(added(nb, new), expected, atol=1e-9)


@pytest.mark.parametrize("name", ["a", "level", "truth"])
def test_a_missing_cell_adds_nothing(name: str) -> None:
    X, y = table(0, k=3)
    nb = NaiveBayes().fit(X, y)
    assert any(term.column == name for term in linear_of(nb).of)
    new, _ = table(1, 50)
    new[name] = np.full(50, None)
    rows = as_rows(new)
    np.testing.assert_allclose(
        nb.model_.joint_log_likelihood(rows),
        without(nb, name).joint_log_likelihood(rows),
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("k", [2, 3])
def test_orders_batches_and_merging_do_not_show(k: int) -> None:
    X, y = table(0, k=k)
    new, _ = table(1, k=k)
    p = NaiveBayes().fit(X, y).predict_proba(new)
    turned = NaiveBayes().fit(dict(reversed(X.items())), y)
    np.testing.assert_allclose(turned.predict_proba(new), p, rtol=0, atol=1e-9)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = NaiveBayes().fit(take(X, order), y[order])
    np.testing.assert_allclose(shuffled.predict_proba(new), p, rtol=0, atol=1e-12)
    first, last = NaiveBayes().fit(take(X, np.s_[:150]), y[:150]), np.s_[150:]
    merged = NaiveBayes().fit(take(X, np.s_[:150]), y[:150])
    merged.merge(NaiveBayes().fit(take(X, last), y[last])).calibrate()
    np.testing.assert_allclose(merged.predict_proba(new), p, rtol=0, atol=1e-12)
    for start in range(150, len(y), 50):
        at = np.s_[start : start + 50]
        first.partial_fit(take(X, at), y[at])
    np.testing.assert_allclose(first.calibrate().predict_proba(new), p, rtol=0, atol=1e-12)


def test_a_row_alone_is_answered_as_in_a_batch() -> None:
    X, y = table(0, k=3)
    nb, (new, _) = NaiveBayes().fit(X, y), table(1, 30)
    alone = [nb.predict_proba(take(new, np.s_[i : i + 1]))[0] for i in range(30)]
    np.testing.assert_allclose(alone, nb.predict_proba(new), rtol=1e-12)
    assert nb.predict_proba(take(new, np.s_[:0])).shape == (0, 3)


def test_sparse_rows_of_a_model_of_dense_ones() -> None:
    from scipy import sparse

    rng = np.random.default_rng(0)
    z = rng.poisson(1.0, 500)
    x = np.column_stack([z, z + rng.poisson(0.2, 500), z + rng.poisson(0.4, 500)]).astype(float)
    y = np.where(x[:, 2] - x[:, 0] > 0, "a", "b")
    nb = NaiveBayes(Poisson()).fit(x, y)
    assert linear_of(nb).of
    new = rng.poisson(1.0, (40, 3)).astype(float)
    np.testing.assert_allclose(
        nb.predict_proba(sparse.csr_array(new)), nb.predict_proba(new), atol=1e-12
    )


def test_all_copies_of_a_row_are_in_one_third() -> None:
    """A table twice is no better known than once, if each row is held out with its copy."""
    X, y = table(0, 60)
    nb = NaiveBayes().fit(X, np.random.default_rng(0).permutation(y))
    batches = nb._sample.of(nb.model_).batches
    twice = {name: np.tile(column, 30) for name, column in X.items()}
    again = NaiveBayes().fit(twice, np.tile(np.random.default_rng(0).permutation(y), 30))
    assert sum(map(len, again._sample.of(again.model_).batches)) == sum(map(len, batches))
    weighted = NaiveBayes().fit(X, np.random.default_rng(0).permutation(y), np.full(60, 30.0))
    np.testing.assert_allclose(again.predict_proba(X), weighted.predict_proba(X), atol=1e-2)


# Merging, forgetting, decay


def test_merged_without_rows_it_is_the_mean_of_both() -> None:
    X, y = table(0, k=3)
    two, of_two = table(5, 200)
    a, b = NaiveBayes().fit(X, y), NaiveBayes().fit(two, of_two)
    a, b = (pickle.loads(pickle.dumps(one)) for one in (a, b))  # noqa: S301
    assert linear_of(a).of
    assert linear_of(b).of
    new, _ = table(1, k=3)
    of_a, of_b = added(a, new), np.hstack([added(b, new), np.zeros((len(new["a"]), 1))])
    share = a.weights_.rows / (a.weights_.rows + b.weights_.rows)
    assert share == pytest.approx(400 / 600)
    a.merge(b)
    np.testing.assert_allclose(added(a, new), share * of_a + (1 - share) * of_b, atol=1e-10)
    assert linear_of(a).ridge in RIDGES


def test_the_mean_with_nothing_is_a_share() -> None:
    X, y = table(0)
    a, rest = NaiveBayes().fit(X, y), take(X, np.s_[:100])
    none = NaiveBayes(weights="temperature").fit(rest, y[:100])
    new, _ = table(1)
    before = added(a, new)
    half = a.weights_ + none.weights_
    np.testing.assert_allclose(
        added(_with(a, half), new), a.weights_.rows / half.rows * before, atol=1e-10
    )


def _with(nb: NaiveBayes, weights: Any) -> NaiveBayes:
    nb.keep(nb.model_.weighed(weights))
    return nb


def test_decay_and_forget_keep_it() -> None:
    X, y = table(0)
    nb, (new, _) = NaiveBayes().fit(X, y), table(1)
    before = added(nb, new)
    nb.decay(0.9)
    np.testing.assert_allclose(added(nb, new), before, atol=1e-10)
    nb.forget(take(X, np.s_[:50]), y[:50], np.full(50, 0.9))
    np.testing.assert_allclose(added(nb, new), before, atol=1e-10)


def test_a_column_that_is_now_taken_for_something_else_has_no_terms() -> None:
    """Truths that are numbers since a merge, in a model without rows to fit weights to."""
    X, y = table(0)
    nb = pickle.loads(pickle.dumps(NaiveBayes().fit(X, y)))  # noqa: S301
    other = take(X, np.s_[:50])
    other["truth"] = np.arange(50) / 7
    nb.merge(pickle.loads(pickle.dumps(NaiveBayes(weights=None).fit(other, y[:50]))))  # noqa: S301
    terms = {str(term.column): term for term in linear_of(nb).of}
    assert "truth" in terms
    assert not terms["truth"].is_in(nb.model_.blocks(nb.model_.encode(as_rows(X))))
    linear = linear_of(nb)
    product = {Product(terms["truth"], terms["a"], 1.0): linear.of[terms["a"]]}
    _with(nb, replace(nb.weights_, linear=replace(linear, products=product)))
    assert np.isfinite(nb.predict_proba(X)).all()
    batch = nb.model_.encode(as_rows(X), encode_labels(y))
    assert set(linear_evidence(nb.model_, [batch])) == {"a", "b", "c", "level"}


# Calibration and assessment


def test_calibrate_on_other_rows_fits_it_to_these() -> None:
    """In whatever order they come; equal rows are one of greater weight."""
    X, y = table(0)
    fresh, of_fresh = table(3, 500)
    nb, (new, label) = NaiveBayes().fit(X, y), table(1, 2000)
    before = loss(nb, new, label)
    nb.calibrate(fresh, of_fresh)
    assert linear_of(nb).of
    assert loss(nb, new, label) < before + 0.02
    order = np.random.default_rng(0).permutation(500)
    again = NaiveBayes().fit(X, y).calibrate(take(fresh, order), of_fresh[order])
    np.testing.assert_array_equal(again.predict_proba(new), nb.predict_proba(new))
    twice = np.repeat(order, 2)
    again.calibrate(take(fresh, twice), of_fresh[twice])
    nb.calibrate(fresh, of_fresh, np.full(500, 2.0))
    np.testing.assert_allclose(again.predict_proba(new), nb.predict_proba(new), atol=1e-12)


def test_calibrate_on_no_rows_is_an_error() -> None:
    X, y = table(0)
    nb = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="weights are zero"):
        nb.calibrate(X, y, np.zeros(len(y)))


def test_the_leave_one_out_joint_has_it() -> None:
    X, y = table(0)
    nb = NaiveBayes().fit(X, y)
    batch = nb.model_.encode(as_rows(X), encode_labels(y))
    found = left_out(nb.model_, [batch])
    plain = weighted_joint(without(nb), found, [batch])
    np.testing.assert_allclose(
        weighted_joint(nb.model_, found, [batch]) - plain, added(nb, X), atol=1e-9
    )


def test_each_fold_is_predicted_by_a_linear_part_of_the_other_rows() -> None:
    X, y = table(0, 150)
    nb = NaiveBayes().fit(X, y)
    sample = nb._sample.of(nb.model_)
    dealt = sample.deal(3)
    p = cross_validate(nb.model_, sample, "loo", dealt).p
    (batch,) = sample.batches
    kept = nb.model_.recode(batch)
    cells = nb.model_.schema.decode({g.key: kept.blocks[g.key] for g in nb.model_.schema.written})
    rows = {name: cells.values(name) for name in X}
    rows["level"] = np.array([None if c is None else c for c in rows["level"]], object)
    label = nb.classes_[sample.labels.codes]
    at = 0
    for fold in dealt.T.astype(bool):
        other = NaiveBayes().fit(take(rows, ~fold), label[~fold])
        assert linear_of(other).of
        mine = p[at : at + fold.sum()]
        np.testing.assert_allclose(mine, other.predict_proba(take(rows, fold)), atol=1e-6)
        at += int(fold.sum())


def test_the_cost_of_a_column_has_its_terms() -> None:
    """Without the column's evidence and its terms the leave-one-out loss is so much greater."""
    X, y = table(0)
    nb = NaiveBayes().fit(X, y)
    batch = nb.model_.encode(as_rows(X), encode_labels(y))
    found = left_out(nb.model_, [batch])
    joint = weighted_joint(nb.model_, found, [batch])
    own = linear_evidence(nb.model_, [batch])["a"].copy()
    weight = nb.weights_.table(found.parts, nb.classes_.tolist())
    for part, w, of in zip(found.parts, weight, found.table, strict=True):
        if str(part) in ("a", "a is missing"):
            own += w * of

    def of(joint: np.ndarray) -> float:
        log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        return float(-log_p[np.arange(len(y)), np.searchsorted(nb.classes_, y)].mean())

    cost = nb.assess().cost
    assert cost is not None
    assert cost["a"] == pytest.approx(of(joint - own) - of(joint), abs=1e-9)


# Odd tables


ODD: dict[str, Any] = {
    "huge": lambda x: x * 1e300,
    "infinite": lambda x: np.where(x > 1.5, np.inf, x),
    "constant": np.ones_like,
    "missing": lambda x: np.full(len(x), np.nan),
    "float32": lambda x: x.astype(np.float32),
    "whole": lambda x: np.rint(3 * x).astype(np.int64),
    "boolean": lambda x: x > 0,
    "two values": lambda x: np.where(x > 0, 2.5, -7.0),
    "times": lambda x: np.datetime64("2021-01-01", "s") + (x * 1e6).astype("timedelta64[s]"),
    "tiny": lambda x: x * 1e-300,
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_columns_are_answered(kind: str) -> None:
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 300))
    y = np.where(x - e + 0.2 * rng.normal(size=300) > 0, "a", "b")
    X = {"x": x, "sum": x + e, "odd": ODD[kind](x)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nb = NaiveBayes().fit(X, y)
        p = nb.predict_proba(X)
    assert linear_of(nb).of
    assert np.isfinite(p).all()
    assert (nb.predict(X) == y).mean() > 0.8
    assert ("odd" in {term.column for term in linear_of(nb).of}) == (
        kind not in ("constant", "missing", "tiny")
    )


@pytest.mark.parametrize("event", ["auto", Gaussian()], ids=str)
def test_a_row_a_class_and_one_class(event: Any) -> None:
    for y in (["a", "b"], ["a", "b", "c"], ["a", "a"]):
        nb = NaiveBayes(event).fit({"x": np.arange(len(y)) + 0.5}, y)
        assert np.isfinite(nb.predict_proba({"x": [0.0, np.nan, 9.0]})).all()


def test_truths_stay_a_straight_line() -> None:
    """The linear view of booleans has their lines in its weights."""
    rng = np.random.default_rng(0)
    z, e = rng.random((2, 500)) < 0.5
    X = {"z": z, "again": z ^ (rng.random(500) < 0.05), "e": e}
    y = np.where(z & e, "a", "b")
    nb = NaiveBayes(missing="ignore").fit(X, y)
    assert linear_of(nb).of
    view = nb.linear()
    of = np.column_stack([X[name] for name in view.feature_names]).astype(float)
    joint = nb.predict_joint_log_proba(X)
    np.testing.assert_allclose(of @ view.coef[0] + view.intercept[0], joint[:, 1] - joint[:, 0])


@pytest.mark.parametrize("k", [2, 3])
def test_contributions_have_it(k: int) -> None:
    X, y = table(0, k=k)
    nb, (new, _) = NaiveBayes().fit(X, y), table(1, 20)
    total = np.tile(nb.model_.start, (20, 1))
    for found in nb.model_.contributions(as_rows(new)).values():
        np.add.at(total, found.row, found.value)
    np.testing.assert_allclose(total, nb.predict_joint_log_proba(new), atol=1e-10)
