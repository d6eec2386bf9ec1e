"""What arrives is looked at before it is read: masks, broken sparse matrices, wide integers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from naively import BernoulliNB, GaussianNB, MultinomialNB, NaiveBayes
from naively.data.frames import as_rows

Y = list("aabb")


@pytest.mark.parametrize(
    ("dtype", "missing"),
    [("f8", np.nan), ("f4", np.nan), ("i4", np.nan), ("?", None), ("O", None), ("U3", None)],
)
def test_masked_cells_are_missing(dtype: str, missing: Any) -> None:
    cells = np.array([[1, 0], [0, 1], [1, 1], [0, 0]]).astype(dtype)
    masked = np.ma.masked_array(cells, [[0, 1], [0, 0], [1, 0], [0, 0]])
    rows = as_rows(masked)
    plain = cells.astype(object if missing is None else float)
    plain[0, 1] = plain[2, 0] = missing
    for j in (0, 1):
        np.testing.assert_array_equal(rows.values(j), as_rows(plain).values(j))
    by_name = as_rows({"x": masked[:, 1]})
    np.testing.assert_array_equal(by_name.values("x"), as_rows({"x": plain[:, 1]}).values("x"))


def test_masked_times_are_missing_and_large_numbers_stay_exact() -> None:
    days = np.ma.masked_array(np.array(["2020-01-01", "2020-01-02"], "M8[D]"), [False, True])
    assert np.isnat(as_rows({"day": days}).values("day")).tolist() == [False, True]
    large = np.ma.masked_array([2**60 + 1, 5, 7], [False, True, False])
    assert as_rows({"x": large}).values("x").tolist() == [2**60 + 1, None, 7]


def test_a_mask_of_nothing_changes_nothing() -> None:
    X = np.ma.masked_array([[1.0], [2.0], [8.0], [9.0]])
    a, b = NaiveBayes().fit(X, Y), NaiveBayes().fit(X.data, Y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X.data))


def test_a_drop_in_does_not_learn_what_is_masked() -> None:
    X = np.ma.masked_array([[1.0], [2.0], [8.0], [900.0]], [[0], [0], [0], [1]])
    with pytest.raises(ValueError, match="NaN"):
        GaussianNB().fit(X, Y)


CELLS = np.array([[1.0, 0, 2], [0, 3, 0], [1, 1, 1], [0, 0, 4]])


def csr(make: Any = sparse.csr_array, **parts: Any) -> Any:
    X = make(CELLS)
    for name, value in parts.items():
        vars(X)[name] = np.asarray(value, np.int32 if name.startswith("ind") else np.float64)
    return X


def coo(row: int) -> Any:
    X = sparse.coo_array(np.eye(4, 3))
    X.coords = (np.array([0, 1, row], np.int32), X.coords[1])
    return X


BROKEN = {
    "indptr too short": csr(indptr=[0, 2, 3]),
    "indptr past the end": csr(indptr=[0, 2, 3, 6, 10**9]),
    "indptr falls": csr(indptr=[0, 5, 3, 6, 7]),
    "indptr below zero": csr(indptr=[-9, 2, 3, 6, 7]),
    "column past the end": csr(indices=[0, 2, 1, 0, 1, 2, 10**9]),
    "column below zero": csr(indices=[0, 2, 1, 0, 1, 2, -(2**31)]),
    "too few cells": csr(data=[1.0]),
    "row of csc": csr(sparse.csc_array, indices=[0, 2, 1, 0, 1, 2, 99]),
    "row of coo": coo(10**9),
}
VERBS = {
    "fit": lambda X: NaiveBayes().fit(X, Y),
    "predict": lambda X: NaiveBayes("gaussian").fit(np.eye(4, 3), Y).predict(X),
    "score_samples": lambda X: NaiveBayes("gaussian").fit(np.eye(4, 3), Y).score_samples(X),
    "partial_fit": lambda X: NaiveBayes("multinomial").fit(np.eye(4, 3), Y).partial_fit(X, Y),
    "forget": lambda X: NaiveBayes("multinomial").fit(np.eye(4, 3), Y).forget(X, Y),
    "explain": lambda X: NaiveBayes("multinomial").fit(np.eye(4, 3), Y).explain(X),
    "drop-in fit": lambda X: MultinomialNB().fit(X, Y),
    "drop-in predict": lambda X: BernoulliNB().fit(np.eye(4, 3), Y).predict(X),
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("X", BROKEN.values(), ids=BROKEN)
def test_a_sparse_matrix_that_is_none_is_refused_before_scipy_reads_it(X: Any, verb: Any) -> None:
    with pytest.raises(ValueError, match=f"X is no {X.format} matrix that can be read: "):
        verb(X)


def test_other_sparse_formats_are_read() -> None:
    X = CELLS
    expected = MultinomialNB().fit(X, Y).predict_proba(X)
    for name in ("csr", "csc", "coo", "bsr", "lil", "dia", "dok"):
        p = MultinomialNB().fit(sparse.coo_array(X).asformat(name), Y).predict_proba(X)
        np.testing.assert_array_equal(p, expected)


def test_a_sparse_matrix_of_objects_is_refused() -> None:
    X = csr()
    X.data = X.data.astype(object)
    with pytest.raises(ValueError, match="sparse matrix of object"):
        NaiveBayes().fit(X, Y)


@pytest.mark.parametrize("value", [3, 2**100])
def test_integers_of_128_bits_are_numbers(value: int) -> None:
    frame = pl.DataFrame({"x": pl.Series([value, 1, 2, 3], dtype=pl.Int128), "c": list("xyxy")})
    assert as_rows(frame).values("x").tolist() == [value, 1, 2, 3]
    assert NaiveBayes().fit(frame, Y).predict(frame).shape == (4,)


@pytest.mark.parametrize("cell", [10**400, Decimal("1e999") * 10])
def test_numbers_that_no_float_holds_name_the_column(cell: Any) -> None:
    try:
        rows = as_rows({"x": [cell, 1.5]})
    except ValueError as error:
        assert "Column 'x' holds" in str(error)  # noqa: PT017
    else:
        assert np.isinf(rows.values("x")[0])


def test_a_signalling_nan_is_missing() -> None:
    assert np.isnan(as_rows({"x": [Decimal("sNaN"), Decimal(1)]}).values("x")[0])
