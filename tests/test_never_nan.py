"""Numbers at the ends of what a float holds: the limit of the formula, or an error, and no NaN."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats

from naively import (
    Complement,
    Exponential,
    Gaussian,
    Geometric,
    KernelDensity,
    LogNormal,
    Multinomial,
    NaiveBayes,
    Poisson,
)
from naively.fitting import seek as basis
from naively.kernels import dispatch, reference

X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 9.0], [5.0, 7.0], [4.0, 8.0], [1.0, 3.0]])
Y = ["a", "a", "b", "b", "b", "a"]
FAR = [1e155, 1e300, 1e308, 1.7976931348623157e308, np.inf]
KERNELS = [reference] if dispatch.NATIVE is None else [reference, dispatch.NATIVE]


@pytest.mark.parametrize("far", FAR[::2])
@pytest.mark.parametrize("weights", ["loo", "temperature", None])
@pytest.mark.parametrize(
    "event",
    [
        Gaussian(), Gaussian(estimate="predictive"), LogNormal(), Poisson(),
        Poisson(estimate="predictive"), Multinomial(), Multinomial(estimate="predictive"),
        Complement(), Exponential(), Exponential(estimate="predictive"), Geometric(),
        Geometric(estimate="predictive"),
    ],
    ids=str,
)  # fmt: skip
def test_a_number_far_out_has_an_answer(event: Any, weights: Any, far: float) -> None:
    nb = NaiveBayes(event, weights=weights).fit(X, Y)
    for rows in ([[far, 1.0]], [[1.0, far]], [[far, far]], [[far, np.nan]], [[far, 0.5]] * 20):
        p, joint = nb.predict_proba(rows), nb.predict_joint_log_proba(rows)
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        assert not (np.isnan(joint) | np.isposinf(joint)).any()
        surprise = nb.score_samples(rows)
        assert not (np.isnan(surprise) | np.isposinf(surprise)).any()


@pytest.mark.parametrize("far", [1e140, *FAR])
def test_it_is_the_limit(far: float) -> None:
    wide = NaiveBayes(Gaussian(), weights=None).fit([[0.0], [1.0], [0.0], [9.0]], list("aabb"))
    assert wide.predict([[far], [-far]]).tolist() == ["b", "b"]
    often = NaiveBayes(Poisson(), weights=None).fit([[1], [2], [8], [9]], list("aabb"))
    assert often.predict([[far]]).tolist() == ["b"]
    slow = NaiveBayes(Exponential(), weights=None).fit([[1], [2], [8], [9]], list("aabb"))
    assert slow.predict([[far]]).tolist() == ["b"]
    words = NaiveBayes(Multinomial(), weights=None).fit([[9, 1], [1, 9]], list("ab"))
    assert words.predict([[far, 1], [1, far], [0, far]]).tolist() == ["a", "b", "b"]


@pytest.mark.parametrize("either", KERNELS, ids=lambda module: module.__name__.split(".")[-1])
def test_kernels_hold_what_overflows(either: ModuleType) -> None:
    start = np.log([0.25, 0.75])
    for n in (1, 40):
        far = np.tile([[1e308, np.nan, -np.inf]], (n, 1))
        mean, half = np.zeros((3, 2)), np.array([[1.0, 2.0], [1.0, 1.0], [0.0, 0.0]])
        joint = either.score_quadratic(far, mean, half, mean, start, "joint", start)
        np.testing.assert_allclose(joint, [[-1e280, -2e280]] * n)
        half = half * 1e20
        joint = either.score_quadratic(far, mean, half, mean, start, "joint", start)
        np.testing.assert_array_equal(joint, [[-1e290, -1e290]] * n)
        slope = np.array([[-1.0, -2.0], [5.0, 5.0], [0.0, 1e-3]])
        joint = either.score_linear(far, slope, None, start, "joint", start)
        np.testing.assert_allclose(joint, [[-1e140, -2.001e140]] * n)
        indptr, indices = np.arange(0, 2 * n + 1, 2), np.tile([0, 2], n)
        csr = indptr, indices, np.tile([1e308, -np.inf], n)
        joint = either.score_csr(*csr, slope, start, "joint", start)
        np.testing.assert_allclose(joint, [[-1e140, -2.001e140]] * n)
        ruled_out = np.array([0.0, -np.inf])
        joint = either.score_csr(*csr, slope, ruled_out, "joint", start)
        np.testing.assert_array_equal(joint[:, 1], -np.inf)


def test_a_column_of_zeros_of_a_predictive_poisson() -> None:
    nb = NaiveBayes("poisson", estimate="predictive").fit([[0, 1], [0, 2], [0, 3]], list("aab"))
    assert np.isfinite(nb.predict_proba([[0, 1], [5, 1]])).all()


def test_a_predictive_exponential_whose_rows_are_forgotten() -> None:
    nb = NaiveBayes(Exponential(estimate="predictive"), weights=None)
    nb.fit({"x": [1.0, 2.0, 3.0], "z": [1.0, 1.0, 1.0]}, list("aab"))
    nb.partial_fit({"x": [None], "z": [1.0]}, ["b"]).forget({"x": [3.0], "z": [1.0]}, ["b"])
    assert np.isfinite(nb.predict_proba({"x": [0.0, 2.0], "z": [1.0, 1.0]})).all()


@pytest.mark.parametrize("weight", [1e300, 1e-300, 5e-324])
def test_a_weight_that_no_sum_can_hold_names_the_row(weight: float) -> None:
    with pytest.raises(ValueError, match=r"between 1e-100 and 1e\+100 .*row 1 has"):
        NaiveBayes("gaussian").fit(X, Y, sample_weight=[1, weight, 1, 1, 1, 1])


def test_missing_cells_of_a_sparse_matrix() -> None:
    S = sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0], [1, 1, 1], [0, 0, 4]]))
    nb = NaiveBayes("multinomial").fit(S, list("aabb"))
    S.data[0] = np.nan
    assert np.isfinite(nb.score_samples(S)).all()
    assert np.isfinite(nb.predict_joint_log_proba(S)).all()
    assert all(np.isfinite(row.log_likelihood).all() for row in nb.explain(S))


@pytest.mark.slow
@pytest.mark.parametrize("event", ["gaussian", "poisson", "exponential", "multinomial", None])
def test_decay_to_nothing_is_said(event: Any) -> None:
    nb = NaiveBayes(event or "auto").fit(X, Y)
    with pytest.raises(ValueError, match="Nothing would be left"):
        many_times(nb, 0.1)
    assert 0 < nb.class_count_.sum() < 1e-90
    with pytest.raises(ValueError, match=r"more than 1e\+120 rows"):
        many_times(nb, 10.0)


def many_times(nb: NaiveBayes, factor: float) -> None:
    for _ in range(400):
        nb.decay(factor)
        assert np.isfinite(nb.predict_proba(X)).all()


def test_sums_that_overflow_name_the_column() -> None:
    with pytest.raises(ValueError, match="Column 'x1' holds numbers whose sums overflow"):
        NaiveBayes("exponential").fit([[1.0, 1e305], [1.0, 1.0]], list("ab"))


@pytest.mark.parametrize("code", [2**32, -1, -(10**100), 10**100])
def test_a_code_that_no_list_reaches_is_refused(code: int) -> None:
    from naively import Categorical

    shown = str(code)[:29]
    with pytest.raises(ValueError, match=f"Column 'x0' holds the code {shown}.{{,120}}leave codes"):
        NaiveBayes(Categorical(codes=3)).fit({"x0": [1, code]}, list("ab"))


def test_a_sum_that_decay_makes_too_large_is_said() -> None:
    nb = NaiveBayes("exponential").fit([[1e290], [1.0]], list("ab"))
    with pytest.raises(ValueError, match=r"A sum times 1e\+20 would be larger than any float"):
        nb.decay(1e20)
    assert nb.class_count_.tolist() == [1, 1]


@pytest.mark.parametrize("rare", [5e-324, 1e-310])
def test_a_word_of_an_urn_with_hardly_any_counts(rare: float) -> None:
    nb = NaiveBayes(Multinomial(alpha=0, estimate="predictive"), weights=None)
    nb.fit([[3.0, rare], [0.0, 3.0]], list("ab"))
    joint = nb.predict_joint_log_proba([[rare, 1.0], [1.0, 0.0], [0.0, rare]])
    assert not np.isnan(joint).any()
    np.testing.assert_array_equal(np.isneginf(joint), [[0, 1], [0, 1], [0, 0]])


@pytest.mark.parametrize("event", ["poisson", "exponential"])
def test_a_number_whose_square_is_infinite_is_left_out(event: str) -> None:
    nb = NaiveBayes(event).fit([[1e155], [1e155], [2e155], [3e155]], list("aabb"))
    assert np.isfinite(nb.predict_proba([[1e155], [3e155]])).all()


def test_rates_and_events_beyond_what_a_float_holds() -> None:
    rows = np.array([[5e-324], [1e-310], [1.0], [1e308]])
    for estimate in ("mle", "predictive"):
        nb = NaiveBayes(Exponential(alpha=0, estimate=estimate), weights=None)
        nb.fit([[1e-310], [1e-310], [1.0]], list("aab"))
        joint = nb.predict_joint_log_proba(rows)
        assert not (np.isnan(joint) | np.isposinf(joint)).any()
        assert nb.predict(rows).tolist() == ["a", "a", "b", "b"]
    light = [1e-90, 1e-90, 1e-90]
    nb = NaiveBayes(Poisson(estimate="predictive"), weights=None)
    nb.fit([[1e306], [1e306], [2e307]], list("aab"), sample_weight=light)
    assert not np.isnan(nb.predict_joint_log_proba([[1.0], [1e100], [1e308]])).any()


def test_the_next_of_more_events_than_a_log_factorial_holds() -> None:
    x, many = np.array([[0.0, 1.0, 7.0]]).T, np.array([[1e306]])
    np.testing.assert_allclose(
        Poisson().log_next(x, 2.5 * many, many), stats.poisson(2.5).logpmf(x), rtol=1e-9
    )
    np.testing.assert_allclose(
        Geometric().log_next(x, many, 3 * many), stats.nbinom(1, 0.25).logpmf(x), rtol=1e-9
    )


def test_light_rows_of_numbers_whose_squares_are_infinite() -> None:
    far = [[1e155], [-1e155], [1e155], [3e155]]
    with pytest.raises(ValueError, match="Column 'x0' holds values whose squares overflow"):
        NaiveBayes(Gaussian()).fit(far, list("aabb"), sample_weight=[1e-90] * 4)
    nb = NaiveBayes(Gaussian()).fit(
        [[1e155], [1.0], [2.0]], list("aab"), sample_weight=[1e-90, 1, 1]
    )
    assert np.isfinite(nb.predict_proba([[1.0], [1e155]])).all()


@pytest.mark.parametrize("weight", [None, 1.0, 1e10, 1e60, 1e90, 1e100])
def test_a_line_of_numbers_far_out_has_a_finite_scale_or_there_is_none(
    weight: float | None,
) -> None:
    x = 1e149 * np.arange(-50.0, 50.0)
    (make,) = basis.lines(
        x[None], None if weight is None else np.full(100, weight), indicator=False
    )
    assert (make is None) == (weight is not None and weight > 1e60)
    if make is not None:
        assert 1e119 < make().scale < 1e121
        assert abs(make().centre) < make().scale


def test_a_number_of_a_density_whose_rows_have_faded() -> None:
    rows = [[1.0], [2.0], [3.0], [9.0], [8.0], [7.0]]
    nb = NaiveBayes(KernelDensity(), weights=None)
    nb.fit(rows, list("aaabbb"), sample_weight=[1e-90] * 3 + [1, 1, 1]).decay(1e-20)
    assert np.isfinite(nb.predict_proba(rows)).all()


@pytest.mark.parametrize("rows", [1, 15, 16, 64, 200])
@pytest.mark.parametrize("options", [{"estimate": "mle"}, {"smoothing": 0}], ids=str)
@pytest.mark.parametrize("other", ["truth", "number", "count"])
@pytest.mark.parametrize("first", [True, False])
def test_what_is_impossible_in_every_class_and_missing_cells_are_no_nan(
    rows: int, options: dict[str, Any], other: str, first: bool
) -> None:
    cells: dict[str, list[Any]] = {
        "truth": [True, False, True, True],
        "number": [1.0, 2.5, 4.0, 3.0],
        "count": [1, 0, 0, 3],
    }
    events: Any = {"level": "categorical", "truth": "bernoulli", "number": "gaussian",
                   "count": "poisson"}  # fmt: skip
    table = {"level": ["u", "v", "u", "v"], other: cells[other]}
    names = ["level", other] if first else [other, "level"]
    named = {name: events[name] for name in names}
    nb = NaiveBayes(named, weights=None, **options)
    nb.fit({name: table[name] for name in names}, ["p", "p", "q", "q"])
    for there in (None, cells[other][0], 1e155):
        if there == 1e155 and other == "truth":
            continue
        query = {"level": ["never seen"] * rows, other: [there] * rows}
        p, joint = nb.predict_proba(query), nb.predict_joint_log_proba(query)
        assert not np.isnan(joint).any()
        assert not np.isnan(nb.predict_log_proba(query)).any()
        assert not np.isnan(nb.score_samples(query)).any()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (nb.predict(query) == nb.classes_[p.argmax(axis=1)]).all()
        if np.isneginf(joint).all():
            np.testing.assert_allclose(p, np.tile([0.5, 0.5], (rows, 1)))
