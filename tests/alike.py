"""Tables whose columns say much alike, so that a linear part helps; and what it adds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from naively import Model, NaiveBayes
from naively.data.frames import as_rows
from naively.terms.functions import NOTHING, LinearPart

Table = dict[str, np.ndarray]
LABELS = np.array(["n", "o", "p"])


def table(seed: int, n: int = 400, k: int = 2, *, sharp: bool = False) -> tuple[Table, np.ndarray]:
    """Return columns that say much alike, so that naive Bayes is wrong, with missing cells.

    With sharp levels it is less wrong.
    """
    rng = np.random.default_rng(seed)
    z, e = rng.normal(size=(2, n))
    y = np.digitize(z - e + 0.3 * rng.normal(size=n), [0.0] if k == 2 else [-0.7, 0.7])
    columns = {
        "a": z.copy(),
        "b": z + 0.3 * rng.normal(size=n),
        "c": e + z,
        "level": np.array(["r", "g", "b"], object)[
            np.digitize(e if sharp else e + 0.5 * z, [-0.5, 0.5])
        ],
        "truth": (z + rng.normal(size=n) > 0).astype(float),
    }
    for name, column in columns.items():
        column[rng.random(n) < 0.1] = None if name == "level" else np.nan
    return columns, LABELS[y]


def take(X: Table, at: Any) -> Table:
    return {name: column[at] for name, column in X.items()}


def loss(nb: NaiveBayes, X: Any, y: np.ndarray) -> float:
    p = nb.predict_proba(X)[np.arange(len(y)), np.searchsorted(nb.classes_, y)]
    return float(-np.log(p).mean())


def linear_of(nb: NaiveBayes) -> LinearPart:
    assert nb.weights_ is not None
    return nb.weights_.linear


def without(nb: NaiveBayes, gone: Any = None) -> Model:
    """Return the model without its linear part, or without the terms of a column."""
    assert nb.weights_ is not None
    linear = NOTHING
    if gone is not None:
        rest = {term: slope for term, slope in linear_of(nb).of.items() if term.column != gone}
        linear = replace(linear_of(nb), of=rest)
    return nb.model_.weighed(replace(nb.weights_, linear=linear))


def added(nb: NaiveBayes, X: Any) -> np.ndarray:
    """Return what the linear part adds to the joint log likelihood, (rows, classes)."""
    rows = as_rows(X)
    return nb.model_.joint_log_likelihood(rows) - without(nb).joint_log_likelihood(rows)
