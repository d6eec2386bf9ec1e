"""NaiveBayes against scikit-learn on arrays: dense, codes, CSR, one row."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

from benchmarks.timing import Result, compare
from naively import Categorical, Gaussian, Multinomial, NaiveBayes


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
