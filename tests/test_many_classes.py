"""Work grows with what there is, and not with its square: classes, and what one token holds."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from naively import Histogram, NaiveBayes
from naively.events import histogram as module


def by_each_class(smoothed: Any) -> np.ndarray:
    """The leave-one-out log loss of each column: of each class, all classes, as it is defined."""
    d, _, k = smoothed.count.shape
    column, bin_ = np.nonzero(smoothed.there)
    prior, loss = smoothed.rows[column] + module.HALF, np.zeros(d)
    for c in range(k):
        right = np.full(len(column), c)
        p = prior * smoothed.without(column, bin_, np.ones(len(column)), right)
        left = np.maximum(smoothed.rows[column, c] - 1.0, 0.0) + module.HALF
        own = p[:, c] * left / prior[:, c]
        rows, rest = smoothed.count[column, bin_, c], p.sum(axis=1) - p[:, c]
        with np.errstate(divide="ignore", invalid="ignore"):
            of_rows = np.where(rows > 0, rows * np.log1p(rest / own), 0.0)
        loss += np.bincount(column, of_rows, d)
    return loss


@pytest.mark.parametrize("alpha", [None, 0.5])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_the_loss_of_a_histogram_is_that_of_each_class(k: int, alpha: float | None) -> None:
    rng = np.random.default_rng(k)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 4, 60), rng.random(60)])
    nb = NaiveBayes(Histogram(alpha=alpha), weights=None).fit(X, np.arange(60) % k)
    (tally,) = nb.tally_.blocks.values()
    for width in module.WIDTHS:
        smoothed = Histogram(alpha=alpha, smoothing=width)._smoothed(tally)
        np.testing.assert_allclose(smoothed.loss(), by_each_class(smoothed), rtol=1e-10)


MANY = """
import numpy as np
from naively import NaiveBayes
X, y = np.random.default_rng(0).normal(size=(12000, 2)), np.arange(12000) % 5000
nb = NaiveBayes(weights=None).fit(X, y)
assert nb.predict_proba(X[:100]).shape == (100, 5000)
"""
WEIGHED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
import numpy as np
from naively import NaiveBayes
X, y = np.random.default_rng(0).normal(size=(6000, 2)), np.arange(6000) % 2000
assert NaiveBayes().fit(X, y).predict_proba(X[:100]).shape == (100, 2000)
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [MANY, WEIGHED], ids=["unweighted", "weighed"])
def test_thousands_of_classes_are_no_matter(program: str) -> None:
    if "resource" in program and sys.platform != "linux":
        pytest.skip("memory is limited on Linux alone")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_a_class_for_each_row_is_warned_of() -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40)
    with pytest.warns(UserWarning, match=r"a class of its own \(40 classes in 40 rows\)") as said:
        NaiveBayes(weights=None).fit(X, y)
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes(weights=None).fit(X, y // 2)


@pytest.mark.slow
def test_a_long_token_is_explained() -> None:
    texts, y = ["cheap pills buy now please", "lunch at noon today okay"] * 10, ["spam", "ham"] * 10
    nb = NaiveBayes().fit(texts, y)
    token = "cheap" + "-now" * 20_000 + "lunch" * 4_000
    program = (
        "import pickle, sys; nb, text = pickle.load(sys.stdin.buffer);"
        "(row,) = nb.explain([text]); assert row.top(0)"
    )
    subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps((nb, token)), timeout=120, check=True
    )


def test_what_nobody_reads_is_not_explained() -> None:
    nb = NaiveBayes().fit(["cheap pills buy now", "lunch at noon today"], ["spam", "ham"])
    with pytest.raises(ValueError, match="Text 1 of column 'text' has 1,000,001 characters"):
        nb.explain(["short", "x" * 1_000_001])
