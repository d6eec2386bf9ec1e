"""Pure NaiveBayes beside scikit-learn on arrays: dense, codes, CSR, and one row alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

from benchmarks.speed.beside import Row, beside
from benchmarks.speed.drop_ins import counts
from benchmarks.speed.setting import Setting, numbers
from naively import Categorical, Gaussian, Multinomial, NaiveBayes

Event = Gaussian | Categorical | Multinomial


def measure(setting: Setting) -> Sequence[Row]:
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
        add("fit and log table", lambda: fit().model_.likelihoods, lambda: peer().fit(X, y))
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
