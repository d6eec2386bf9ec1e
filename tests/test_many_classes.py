"""Work grows with what there is, and not with its square: classes, and what one token holds."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

from naively import Gaussian, Histogram, NaiveBayes
from naively.counting import block as blocks
from naively.counting.labels import MANY_CLASSES, encode_labels
from naively.events import base, histogram
from naively.fitting.sample import drawn
from naively.inspect.odds import Odds, weights_of_each
from tests.learning import dense


def by_each_class(smoothed: Any) -> np.ndarray:
    """The leave-one-out log loss of each column: of each class, all classes, as it is defined."""
    d, _, k = smoothed.count.shape
    column, bin_ = np.nonzero(smoothed.there)
    prior, loss = smoothed.rows[column] + histogram.RULES.half, np.zeros(d)
    for c in range(k):
        right = np.full(len(column), c)
        p = prior * smoothed.without(column, bin_, np.ones(len(column)), right)
        left = np.maximum(smoothed.rows[column, c] - 1.0, 0.0) + histogram.RULES.half
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
    for width in histogram.RULES.widths:
        smoothed = Histogram(alpha=alpha, smoothing=width)._binned(tally).smoothed
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
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120)


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


def rows_of(k: int, n: int = 3_000) -> tuple[np.ndarray, np.ndarray]:
    """Return two columns of numbers of k classes, and their labels."""
    rng = np.random.default_rng(k)
    y = np.arange(n) % k
    return rng.normal(0, 5, (k, 2))[y] + rng.normal(size=(n, 2)), y


@pytest.mark.slow
@pytest.mark.parametrize("event_model", ["gaussian", "categorical"])
def test_memory_grows_as_rows_and_classes_and_not_as_squares(event_model: str) -> None:
    def peak(k: int) -> int:
        X, y = rows_of(k, 12 * MANY_CLASSES)
        table = X if event_model == "gaussian" else (X // 4).astype(int).astype(str)
        tracemalloc.start()
        NaiveBayes(event_model).fit(table, y)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(MANY_CLASSES)  # what is loaded once
    few, many = peak(2 * MANY_CLASSES), peak(6 * MANY_CLASSES)
    assert many < 1.7 * few  # three times as many classes; squares would be nine times as large


def test_many_classes_have_one_weight_of_a_column_and_no_bias() -> None:
    nb = NaiveBayes().fit(*rows_of(MANY_CLASSES))
    assert all(len(set(of)) == 1 for of in nb.weights_.of.values())
    assert not any(nb.weights_.bias)
    few = NaiveBayes().fit(*rows_of(MANY_CLASSES - 1, 1_500))
    assert any(few.weights_.bias)
    assert any(len(set(of)) > 1 for of in few.weights_.of.values())


def test_rows_are_drawn_evenly_by_what_they_stand_for() -> None:
    weight = np.random.default_rng(0).exponential(size=900)
    assert drawn(weight, 900) is weight
    found = drawn(weight, 90)
    assert found.sum() == pytest.approx(weight.sum())
    share = weight.sum() / 90
    # A row comes as often as its weight has shares, or once more.
    assert (np.abs(found - weight) < share).all()


def test_the_evidence_against_all_others_is_that_of_one_class_after_the_other() -> None:
    rng = np.random.default_rng(0)
    log_p = rng.normal(0, 300, (40, 7))
    log_p[0], log_p[1, 2], log_p[2, 1:] = -np.inf, -np.inf, -np.inf
    log_p[3] = 1_000.0 * np.arange(7)  # beside the largest all others vanish
    for start in (rng.normal(0, 5, 7), np.array([0.0, *[-np.inf] * 6]), np.full(7, -np.inf)):
        each = [Odds(start, c).weight(log_p) for c in range(7)]
        found = weights_of_each(start, log_p)
        np.testing.assert_allclose(found, np.stack(each, axis=1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighed", [False, True])
def test_cells_of_many_classes_are_those_of_few(
    weighed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows_of(MANY_CLASSES)
    X[::7, 1] = np.nan
    weight = np.random.default_rng(0).choice([0.0, 0.3, 1.0], len(y)) if weighed else None
    (found,) = tallies_of_cells(X, y, weight)
    monkeypatch.setattr(blocks, "MANY_CLASSES", len(y))
    (alike,) = tallies_of_cells(X, y, weight)
    for statistic, sums in found.sums.items():
        assert (sums.high == alike[statistic].high).all()
        assert (sums.low == alike[statistic].low).all()


def tallies_of_cells(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> list[Any]:
    """Return the tallies of numbers that are counted in cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nb = NaiveBayes(Histogram(), weights=None, presence="ignore")
        nb.fit(X, y, sample_weight=weight)
    return [*nb.tally_.blocks.values()]


@pytest.mark.parametrize("event", [Gaussian(), Gaussian(floor=0.1), Histogram(bins=8)])
def test_cells_are_left_out_in_blocks_as_all_at_once(
    event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows_of(40, 400)
    block, labels = dense(X), encode_labels(y)
    found = event.leave_one_out(event.tally(block, labels), block, labels)
    for module in (base, histogram):
        monkeypatch.setattr(module, "AT_ONCE" if module is base else "LEFT", 700)
    again = event.leave_one_out(event.tally(block, labels), block, labels)
    np.testing.assert_allclose(again, found, rtol=1e-12)
