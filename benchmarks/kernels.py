"""NaiveBayes against scikit-learn on arrays: dense, codes, CSR, one row. Strings by PyArrow."""

from __future__ import annotations

import datetime as dt

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

from benchmarks.timing import Result, compare
from naively import Categorical, Gaussian, Multinomial, NaiveBayes
from naively.kernels import dispatch


def dense(n: int, d: int = 50, k: int = 10) -> list[Result]:
    """Gaussian: n rows × d columns of float64."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), rng.integers(0, k, n)
    X += y[:, None] * 0.1
    ours, peer = NaiveBayes(Gaussian(), weights=None).fit(X, y), GaussianNB().fit(X, y)
    few = X[: n // 5]
    return [
        compare(
            f"dense fit ({n:,} x {d}, {k} classes)",
            lambda: GaussianNB().fit(X, y),
            lambda: NaiveBayes(Gaussian(), weights=None).fit(X, y),
        ),
        compare(
            f"dense predict ({len(few):,} rows)",
            lambda: peer.predict(few),
            lambda: ours.predict(few),
        ),
        compare(
            "dense predict_proba", lambda: peer.predict_proba(few), lambda: ours.predict_proba(few)
        ),
        compare(
            "dense one row", lambda: peer.predict(X[:1]), lambda: ours.predict(X[:1]), repeat=200
        ),
    ]


def codes(n: int, d: int = 20, k: int = 10, levels: int = 5) -> list[Result]:
    """Categorical: n rows × d columns of whole numbers."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, levels, (n, d)), rng.integers(0, k, n)
    ours, peer = NaiveBayes(Categorical(), weights=None).fit(X, y), CategoricalNB().fit(X, y)
    return [
        compare(
            f"codes fit ({n:,} x {d}, {levels} levels)",
            lambda: CategoricalNB().fit(X, y),
            lambda: NaiveBayes(Categorical(), weights=None).fit(X, y),
        ),
        compare("codes predict", lambda: peer.predict(X), lambda: ours.predict(X)),
        compare(
            "codes one row", lambda: peer.predict(X[:1]), lambda: ours.predict(X[:1]), repeat=200
        ),
    ]


def csr(n: int, width: int = 100_000, draws: int = 110, k: int = 20) -> list[Result]:
    """Multinomial: n rows of a sparse matrix whose columns are as frequent as words."""
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.3, (n, draws)), width) - 1  # about 55 different ones a row
    rows = np.repeat(np.arange(n), draws)
    ones = np.ones(n * draws)
    X = sparse.csr_matrix((ones, (rows, words.ravel())), shape=(n, width))
    y = rng.integers(0, k, n)
    ours, peer = NaiveBayes(Multinomial(), weights=None).fit(X, y), MultinomialNB().fit(X, y)
    ours.predict(X[:1])
    return [
        compare(
            f"CSR fit ({n:,} x {width:,}, {k} classes)",
            lambda: MultinomialNB().fit(X, y),
            lambda: NaiveBayes(Multinomial(), weights=None).fit(X, y),
        ),
        compare(
            "CSR fit and log table (as scikit-learn's fit)",
            lambda: MultinomialNB().fit(X, y),
            lambda: _with_table(X, y),
        ),
        compare("CSR predict", lambda: peer.predict(X), lambda: ours.predict(X)),
        compare("CSR one row", lambda: peer.predict(X[:1]), lambda: ours.predict(X[:1]), repeat=20),
    ]


def _with_table(X: sparse.csr_matrix, y: np.ndarray) -> None:
    """Fit, and derive the log table that scikit-learn derives in fit."""
    _ = NaiveBayes(Multinomial(), weights=None).fit(X, y).model_.likelihoods


def strings(n: int) -> list[Result]:
    """Turn n strings into codes, numbers and times, beside PyArrow, NumPy and Python."""
    try:
        import pyarrow as pa
    except ImportError:
        print("PyArrow is not installed: no strings to measure against")
        return []
    rng = np.random.default_rng(0)
    results = []
    for levels in (10, 1000, n):
        texts = _texts(rng, n, levels)
        arrow, packed = pa.array(texts), dispatch.pack_strings(texts)
        results.append(
            compare(
                f"encode strings of {levels:,} levels (PyArrow)",
                arrow.dictionary_encode,
                lambda packed=packed: dispatch.encode_strings(packed),
            )
        )
    views = arrow.cast(pa.string_view())
    _, at, *data = views.buffers()
    cells = np.frombuffer(at, np.uint8)[: 16 * n].reshape(n, 16)
    buffers = [np.frombuffer(one, np.uint8) for one in data]
    rows = rng.permutation(n)
    latin = pa.array([text + "\xe9" for text in texts])
    accented = dispatch.pack_strings(latin.to_pylist())
    numbers, times = _numbers_and_times(rng, n)
    packed_numbers, packed_times = map(dispatch.pack_strings, (numbers, times))
    return [
        *results,
        compare(
            "pack a list (PyArrow)", lambda: pa.array(texts), lambda: dispatch.pack_strings(texts)
        ),
        compare(
            "pack views (PyArrow's cast)",
            lambda: views.cast(pa.large_string()),
            lambda: dispatch.pack_views(cells, buffers),
        ),
        compare(
            "take in any order (PyArrow)",
            lambda: arrow.take(rows),
            lambda: dispatch.take_strings(packed, rows),
        ),
        compare(
            "check UTF-8 (PyArrow's full validation)",
            lambda: latin.validate(full=True),
            lambda: dispatch.repair_utf8(accented),
        ),
        compare(
            "read numbers (float)",
            lambda: [float(text) for text in numbers],
            lambda: dispatch.read_numbers(packed_numbers),
        ),
        compare(
            "read numbers (PyArrow's cast)",
            lambda: pa.array(numbers).cast(pa.float64()),
            lambda: dispatch.read_numbers(dispatch.pack_strings(numbers)),
        ),
        compare(
            "read times (datetime.fromisoformat)",
            lambda: [dt.datetime.fromisoformat(text) for text in times],
            lambda: dispatch.read_times(packed_times),
        ),
        compare(
            "read times (NumPy's datetime64)",
            lambda: np.array(times, "M8[us]"),
            lambda: dispatch.read_times(dispatch.pack_strings(times)),
        ),
    ]


def _texts(rng: np.random.Generator, n: int, levels: int) -> list[str]:
    """Strings of 5 to 20 letters, of so many levels, each an object of its own."""
    letters = rng.integers(97, 123, (levels, 20), np.uint8)
    length = rng.integers(5, 21, levels)
    which = rng.integers(0, levels, n).tolist() if levels < n else range(n)
    return [letters[i, : length[i]].tobytes().decode() for i in which]


def _numbers_and_times(rng: np.random.Generator, n: int) -> tuple[list[str], list[str]]:
    numbers = [f"{x:.2f}" for x in rng.normal(100.0, 50.0, n).tolist()]
    return numbers, rng.integers(0, 2**31, n).astype("M8[s]").astype(str).tolist()
