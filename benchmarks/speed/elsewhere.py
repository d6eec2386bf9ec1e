"""GaussianNB and CategoricalNB beside river and wnb, where they are installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

import naively
from benchmarks.speed.beside import Row, Run, beside
from benchmarks.speed.setting import Setting, numbers


def measure(setting: Setting) -> Sequence[Row]:
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
