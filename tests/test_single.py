"""Results of float32, where they are asked for: rounded once, from all that is in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from naively import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes

VERBS = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")
RNG = np.random.default_rng(0)
COUNTS, Y = RNG.integers(0, 4, (200, 6)), RNG.integers(0, 3, 200)
NUMBERS = RNG.normal(size=(200, 6)) + Y[:, None]
MIXED = {"number": NUMBERS[:, 0], "word": np.array(["a", "b", "c", "d"], object)[COUNTS[:, 1]]}
TEXTS = [" ".join(map(chr, 97 + row)) + f" word{row.sum()}" for row in COUNTS]
CASES: list[tuple[Any, Any]] = [
    (NaiveBayes(), NUMBERS), (NaiveBayes(weights=None), NUMBERS[:, :1]), (NaiveBayes(), MIXED),
    (NaiveBayes(), TEXTS), (NaiveBayes("density"), NUMBERS[:, :2]),
    (NaiveBayes("multinomial"), sparse.csr_array(COUNTS)), (GaussianNB(), NUMBERS),
    (MultinomialNB(), COUNTS), (ComplementNB(), COUNTS), (BernoulliNB(), COUNTS),
    (CategoricalNB(), COUNTS),
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_single_results_are_double_ones_rounded(case: int, verb: str) -> None:
    model, X = CASES[case]
    answer = getattr(model.fit(X, Y), verb)
    double, single = answer(X), answer(X, dtype=np.float32)
    assert double.dtype == np.float64
    assert single.dtype == np.float32
    assert answer(X, dtype="float64").tobytes() == double.tobytes()
    tolerance = 2e-6 if isinstance(model, ComplementNB) else 0.0  # a constant is added after
    np.testing.assert_allclose(single, double.astype(np.float32), rtol=2e-7, atol=tolerance)


def test_single_under_another_class_prior() -> None:
    model = NaiveBayes().fit(NUMBERS, Y)
    double = model.predict_proba(NUMBERS, class_prior=[0.5, 0.3, 0.2])
    single = model.predict_proba(NUMBERS, class_prior=[0.5, 0.3, 0.2], dtype="f4")
    np.testing.assert_array_equal(single, double.astype(np.float32))


def test_single_in_batches() -> None:
    model, table = NaiveBayes().fit(MIXED, Y), pl.DataFrame(MIXED)
    found = model.predict_proba(table.lazy(), dtype=np.float32).collect()
    assert set(found.dtypes) == {pl.Float32}
    expected = model.predict_proba(table, dtype=np.float32)
    np.testing.assert_array_equal(found.to_numpy(), expected)
    parts = model.predict_proba(iter([table[:50], table[50:]]), dtype=np.float32)
    np.testing.assert_array_equal(np.concatenate(list(parts)), expected)


@pytest.mark.parametrize("dtype", [np.float16, int, "U3", object])
def test_no_other_type(dtype: Any) -> None:
    with pytest.raises(ValueError, match="float32 or float64"):
        NaiveBayes().fit(NUMBERS, Y).predict_proba(NUMBERS, dtype=dtype)
