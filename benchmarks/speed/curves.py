"""How the time of one cell or count changes with the rows, columns, classes and words.

Along each axis the rest stays as it is, and each point is the median of a few runs of naively and
of scikit-learn in turn. A flat line is time in proportion to what is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np
from sklearn import naive_bayes

import naively
from benchmarks.speed.beside import OURS, Setting, numbers, shown
from benchmarks.speed.drop_ins import csr
from benchmarks.timing import take_turns

PEER = "scikit-learn"
ENOUGH = 0.02  # seconds that the calls of one round take at least
LONG = 1.0  # seconds from which on a side runs once

Rows = tuple[Any, np.ndarray, int]  # X, y, and how many cells or counts X has


@dataclass(frozen=True)
class Subject:
    """A model of one name on both sides, its data, and the axes along which they change.

    Parameters
    ----------
    name : str
        Of the class.
    per : str
        What the time is divided by.
    rows : callable
        Makes the data from the values on the axes.
    axes : mapping from str to (values, all others)
        Where the points are, and where the other axes stay.
    """

    name: str
    per: str
    rows: Callable[..., Rows]
    axes: Mapping[str, tuple[Sequence[int], Mapping[str, int]]]


@dataclass(frozen=True)
class Curve:
    """Seconds of each side along one axis, divided by what is read."""

    subject: str
    axis: str
    per: str
    fixed: Mapping[str, int]
    x: Sequence[int]
    fit: Mapping[str, Sequence[float]]
    predict: Mapping[str, Sequence[float]]

    def to_dict(self) -> dict[str, Any]:
        """Return what is written to JSON."""
        return asdict(self)


def _dense(rows: int, columns: int, classes: int) -> Rows:
    X, y = numbers(rows, columns, classes)
    return X, y, X.size


def _sparse(rows: int, words: int, classes: int) -> Rows:
    X, y = csr(rows, words, classes)
    X.sum_duplicates()
    return X, y, X.nnz


def _spaced(low: float, high: float, count: int = 7) -> list[int]:
    return sorted({round(x) for x in np.geomspace(low, high, count).tolist()})


SUBJECTS = (
    Subject(
        "GaussianNB", "cell", _dense,
        {
            "rows": (_spaced(100, 1e6, 9), {"columns": 20, "classes": 5}),
            "columns": (_spaced(1, 1000), {"rows": 10_000, "classes": 5}),
            "classes": (_spaced(2, 1000), {"rows": 50_000, "columns": 20}),
        },
    ),
    Subject(
        "MultinomialNB", "count", _sparse,
        {
            "rows": (_spaced(100, 1e5), {"words": 100_000, "classes": 20}),
            "words": (_spaced(100, 1e6), {"rows": 10_000, "classes": 20}),
            "classes": (_spaced(2, 1000), {"rows": 10_000, "words": 20_000}),
        },
    ),
)  # fmt: skip


def measure(setting: Setting) -> Sequence[Curve]:
    return [_along(subject, axis, setting) for subject in SUBJECTS for axis in subject.axes]


def _along(subject: Subject, axis: str, setting: Setting) -> Curve:
    x, fixed = subject.axes[axis]
    if setting.small:
        x = [min(x[0], 60), min(x[1], 80)]
        tiny = {"rows": 60, "words": 80, "columns": 3, "classes": 2}
        fixed = {name: tiny[name] for name in fixed}
    fit: dict[str, list[float]] = {OURS: [], PEER: []}
    predict: dict[str, list[float]] = {OURS: [], PEER: []}
    for value in x:
        at = _point(subject, subject.rows(**fixed, **{axis: value}), setting)
        for held, seconds in zip((fit, predict), at, strict=True):
            for side in held:
                held[side].append(seconds[side])
        nanoseconds = (1e9 * work[side][-1] for work in (fit, predict) for side in (OURS, PEER))
        told = ", ".join(map(shown, nanoseconds))
        print(f"{subject.name}, {value:,} {axis}: {told} ns a {subject.per}", flush=True)
    return Curve(subject.name, axis, subject.per, fixed, x, fit, predict)


def _point(
    subject: Subject, rows: Rows, setting: Setting
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the seconds to fit and to predict, divided by what is read, of each side."""
    X, y, size = rows
    makes = {OURS: getattr(naively, subject.name), PEER: getattr(naive_bayes, subject.name)}
    models = {side: make().fit(X, y) for side, make in makes.items()}
    fits = {side: lambda make=make: make().fit(X, y) for side, make in makes.items()}
    scores = {side: lambda model=model: model.predict_proba(X) for side, model in models.items()}
    fit, predict = (
        {side: float(f"{taken / size:.4g}") for side, taken in _seconds(of, setting).items()}
        for of in (fits, scores)
    )
    return fit, predict


def _seconds(sides: Mapping[str, Callable[[], object]], setting: Setting) -> dict[str, float]:
    """Run each side as often as its time is long enough to be measured, in turn."""
    repeats = {}
    for side, run in sides.items():
        begin = time.process_time()
        run()
        taken = time.process_time() - begin
        repeats[side] = 1 if setting.small else max(1, min(200, round(ENOUGH / max(taken, 1e-6))))

    def often(side: str) -> Callable[[], None]:
        def run() -> None:
            for _ in range(repeats[side]):
                sides[side]()

        return run

    runs = {side: often(side) for side in sides}
    rounds = min(3, setting.rounds)
    found = take_turns(runs, rounds, clock=time.process_time, slow=LONG, once=LONG)
    return {side: median(taken) / repeats[side] for side, taken in found.items()}
