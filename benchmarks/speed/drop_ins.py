"""Speed of pure models: the drop-ins, arrays, other libraries, and the memory's bandwidth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import naive_bayes as theirs
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from threadpoolctl import threadpool_limits

import naively
import naively as ours
from benchmarks import timing
from benchmarks.speed.alone import memory
from benchmarks.speed.beside import Row, Run, Setting, beside, numbers, say
from benchmarks.timing import take_turns
from naively import Categorical, Gaussian, Multinomial, NaiveBayes

# --- The five drop-ins beside scikit-learn's classes of the same names ---------------------------


PEER = "scikit-learn"
FEW, MANY = 20, 1_000  # classes of the sparse matrix
WIDTH, DRAWS = 100_000, 110  # words, and how many are drawn for a row: about 55 different ones


def measure_drop_ins(setting: Setting) -> Sequence[Row]:
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
    cores = timing.cores()
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


# --- Pure NaiveBayes beside scikit-learn on arrays: dense, codes, CSR, and one row alone ---------


Event = Gaussian | Categorical | Multinomial


def measure_pure(setting: Setting) -> Sequence[Row]:
    n, m = setting.size(1_000_000, 400), setting.size(300_000, 400)
    codes = np.random.default_rng(0).integers(0, 5, (m, 20)), numbers(m, 1, 10)[1]
    return [
        *_both("Gaussian", Gaussian(), GaussianNB, *numbers(n, 50, 10), n // 5, setting),
        *_both("categorical", Categorical(), CategoricalNB, *codes, m, setting),
        *_both("multinomial, CSR", Multinomial(), MultinomialNB, *counts(setting, 20), n, setting),
    ]


def _both(
    name: str, event: Event, peer: Any, X: Any, y: np.ndarray, some: int, setting: Setting
) -> list[Row]:
    """Fit, predict some rows and predict one; scikit-learn derives its log table in fit."""
    size = f"{X.shape[0]:,} x {X.shape[1]:,}, {len(np.unique(y))} classes"
    works: list[tuple[str, Any, Any, int]] = []

    def add(work: str, ours: Any, theirs: Any, repeat: int = 1) -> None:
        works.append((work, ours, theirs, repeat))

    def fit() -> NaiveBayes:
        return NaiveBayes(event, weights=None).fit(X, y)

    ours, theirs, few = fit(), peer().fit(X, y), X[:some]
    ours.predict(X[:1])
    add(f"fit ({size})", fit, lambda: peer().fit(X, y))
    if name.startswith("multinomial"):
        add("fit and log table", lambda: fit().model_.terms, lambda: peer().fit(X, y))
    rows = f"{few.shape[0]:,} rows"
    add(f"predict ({rows})", lambda: ours.predict(few), lambda: theirs.predict(few))
    add(
        f"predict_proba ({rows})",
        lambda: ours.predict_proba(few),
        lambda: theirs.predict_proba(few),
    )
    add("predict one row", lambda: ours.predict(X[:1]), lambda: theirs.predict(X[:1]), 20)
    return [
        row
        for work, a, b, repeat in works
        for row in beside(
            f"{name}: {work}", a, {peer.__name__: b}, rounds=setting.rounds, repeat=repeat
        )
    ]


# --- GaussianNB and CategoricalNB beside river and wnb, where they are installed -----------------


def measure_elsewhere(setting: Setting) -> Sequence[Row]:
    n, some = setting.size(50_000, 200), setting.size(1_000, 50)
    X, y = numbers(n, 20, 5)
    codes = np.random.default_rng(0).integers(0, 5, (n, 20))
    return [
        *_side_by_side(
            "GaussianNB", naively.GaussianNB, X, y, some, {"river": _river, "wnb": _wnb("NORMAL")}
        ),
        *_side_by_side(
            "CategoricalNB", naively.CategoricalNB, codes, y, some, {"wnb": _wnb("CATEGORICAL")}
        ),
    ]


Make = Callable[[np.ndarray, np.ndarray], tuple[Run, Callable[[np.ndarray], Run]]]


def _side_by_side(
    name: str, ours: Callable[[], Any], X: np.ndarray, y: np.ndarray, some: int,
    peers: dict[str, Make],
) -> list[Row]:  # fmt: skip
    """Fit, and give the probabilities of some rows: the peers take long for each."""
    there = {of: make(X, y) for of, make in peers.items() if find_spec(of)}
    lacking = {of: f"{of} is not installed" for of in peers if of not in there}
    model, few = ours().fit(X, y), X[:some]
    size = f"{len(X):,} x {X.shape[1]}, {len(np.unique(y))} classes"
    fits = {of: fit for of, (fit, _) in there.items()}
    scores = {of: predict(few) for of, (_, predict) in there.items()}
    return [
        *beside(f"{name}: fit ({size})", lambda: ours().fit(X, y), fits | lacking, rounds=3),
        *beside(
            f"{name}: predict_proba ({some:,} rows)",
            lambda: model.predict_proba(few),
            scores | lacking,
            rounds=3,
        ),
    ]


def _river(X: np.ndarray, y: np.ndarray) -> tuple[Run, Callable[[np.ndarray], Run]]:
    """River learns one row after another, each a dictionary; these are made before."""
    from river import naive_bayes

    def dictionaries(X: np.ndarray) -> list[dict[int, float]]:
        return [dict(enumerate(row)) for row in X.tolist()]

    rows, labels = dictionaries(X), y.tolist()

    def fit() -> Any:
        model = naive_bayes.GaussianNB()
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
        return model

    model = fit()

    def predict(few: np.ndarray) -> Run:
        some = dictionaries(few)
        return lambda: [model.predict_proba_one(row) for row in some]

    return fit, predict


def _wnb(distribution: str) -> Make:
    def make(X: np.ndarray, y: np.ndarray) -> tuple[Run, Callable[[np.ndarray], Run]]:
        from wnb import Distribution, GeneralNB

        def fit() -> Any:
            return GeneralNB([Distribution[distribution]] * X.shape[1]).fit(X, y)

        model = fit()
        return fit, lambda few: lambda: model.predict_proba(few)

    return make


# --- What share of the memory's bandwidth GaussianNB reaches, on one thread and on two -----------


READ, BYTES = "reading", 400_000_000


def measure_bandwidth(setting: Setting) -> Sequence[Row]:
    n = setting.size(500_000, 400)
    large = np.ones(setting.size(BYTES, 80_000) // 8)
    rows: list[Row] = []
    try:
        for threads in dict.fromkeys((1, min(2, timing.cores()))):
            naively.set_threads(threads)
            for k in (2, 10):
                rows += _of_classes(n, k, large, threads, setting.rounds)
    finally:
        naively.set_threads(1)
    return rows


def _of_classes(n: int, k: int, large: np.ndarray, threads: int, rounds: int) -> list[Row]:
    X, y = numbers(n, 50, k)
    nb = naively.GaussianNB().fit(X, y)
    halves = np.array_split(large, threads)
    with ThreadPoolExecutor(threads) as pool:
        works: dict[str, Callable[[], Any]] = {
            "sum": lambda: [*pool.map(np.sum, halves)],
            "max": lambda: [*pool.map(np.max, halves)],
            "fit": lambda: naively.GaussianNB().fit(X, y),
            "predict": lambda: nb.predict(X),
        }
        clock = time.process_time if threads == 1 else time.perf_counter
        seconds = take_turns(works, rounds, clock=clock)
    best = [
        large.nbytes / min(pair) / 1e9 for pair in zip(seconds["sum"], seconds["max"], strict=True)
    ]
    return [
        say(
            Row(
                f"GaussianNB: {work} ({n:,} x 50, {k} classes)",
                READ,
                [X.nbytes / taken / 1e9 for taken in seconds[work]],
                best,
                unit="GB/s",
                clock="CPU" if threads == 1 else "wall",
                threads=threads,
                multiple=True,
            )
        )
        for work in ("fit", "predict")
    ]
