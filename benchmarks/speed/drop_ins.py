"""The five drop-ins beside scikit-learn's classes of the same names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import naive_bayes as theirs
from threadpoolctl import threadpool_limits

import naively as ours
from benchmarks import saved
from benchmarks.speed.alone import memory
from benchmarks.speed.beside import Row, beside
from benchmarks.speed.setting import Setting, numbers

PEER = "scikit-learn"
FEW, MANY = 20, 1_000  # classes of the sparse matrix
WIDTH, DRAWS = 100_000, 110  # words, and how many are drawn for a row: about 55 different ones


def measure(setting: Setting) -> Sequence[Row]:
    return [
        *_gaussian(setting),
        *_categorical(setting),
        *_of_counts(setting),
        *_many_classes(setting),
    ]


def _fit_and_score(
    name: str, of: str, X: Any, y: np.ndarray, rounds: int, some: int | None = None
) -> list[Row]:
    """Fit, and give the probabilities of some of the rows."""
    our, their = getattr(ours, of), getattr(theirs, of)
    rows = beside(
        f"{of}: fit ({name})", lambda: our().fit(X, y), {PEER: lambda: their().fit(X, y)},
        rounds=rounds,
    )  # fmt: skip
    a, b, few = our().fit(X, y), their().fit(X, y), X[:some]
    of_rows = f", {some:,} rows" if some and some < X.shape[0] else ""
    return rows + beside(
        f"{of}: predict_proba ({name}{of_rows})",
        lambda: a.predict_proba(few),
        {PEER: lambda: b.predict_proba(few)},
        rounds=rounds,
    )


def _gaussian(setting: Setting) -> list[Row]:
    n, rows = setting.size(500_000, 400), []
    for k in (2, 10):
        X, y = numbers(n, 50, k)
        name = f"{n:,} x 50, {k} classes"
        rows += _fit_and_score(name, "GaussianNB", X, y, setting.rounds)
        rows += _on_all_cores(name, X, y, setting.rounds)
    return rows


def _on_all_cores(name: str, X: np.ndarray, y: np.ndarray, rounds: int) -> list[Row]:
    cores = saved.cores()
    a, b = ours.GaussianNB().fit(X, y), theirs.GaussianNB().fit(X, y)
    ours.set_threads(cores)
    try:
        with threadpool_limits(cores):
            return [
                *beside(
                    f"GaussianNB: fit ({name})",
                    lambda: ours.GaussianNB().fit(X, y),
                    {PEER: lambda: theirs.GaussianNB().fit(X, y)},
                    rounds=rounds,
                    threads=cores,
                ),
                *beside(
                    f"GaussianNB: predict_proba ({name})",
                    lambda: a.predict_proba(X),
                    {PEER: lambda: b.predict_proba(X)},
                    rounds=rounds,
                    threads=cores,
                ),
            ]
    finally:
        ours.set_threads(1)


def _categorical(setting: Setting) -> list[Row]:
    n = setting.size(300_000, 400)
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (n, 20)), rng.integers(0, 10, n)
    return _fit_and_score(
        f"{n:,} x 20, 5 levels, 10 classes", "CategoricalNB", X, y, setting.rounds
    )


def _of_counts(setting: Setting) -> list[Row]:
    X, y = counts(setting, FEW)
    name = f"{X.shape[0]:,} x {X.shape[1]:,}, {FEW} classes"
    rows = [
        row
        for of in ("MultinomialNB", "BernoulliNB", "ComplementNB")
        for row in _fit_and_score(name, of, X, y, min(3, setting.rounds))
    ]
    task = f"MultinomialNB: peak memory of the fit ({name})"
    return [*rows, memory(task, "counts", PEER, setting)]


def _many_classes(setting: Setting) -> list[Row]:
    X, y = counts(setting, MANY)
    name = f"{X.shape[0]:,} x {X.shape[1]:,}, {MANY:,} classes"
    some = setting.size(10_000, 100)
    return [
        *_fit_and_score(name, "MultinomialNB", X, y, min(3, setting.rounds), some),
        memory(
            f"MultinomialNB: peak memory of the fit ({name})",
            "counts of many classes",
            PEER,
            setting,
        ),
    ]


def counts(setting: Setting, k: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Draw a sparse matrix whose columns are as frequent as words, and classes."""
    n, width = setting.size(200_000, 1_200), setting.size(WIDTH, 500)
    return csr(n, width, k)


def csr(n: int, width: int, k: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Draw n rows of about 55 different columns."""
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.3, (n, DRAWS)), width) - 1
    rows = np.repeat(np.arange(n), DRAWS)
    X = sparse.csr_matrix((np.ones(n * DRAWS), (rows, words.ravel())), shape=(n, width))
    y = rng.integers(0, k, n)
    y[: min(k, n)] = np.arange(min(k, n))  # none is lacking
    return X, y
