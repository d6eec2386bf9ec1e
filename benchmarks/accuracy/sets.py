"""Sets of classes: how often they hold the right class, and how large they are, beside MAPIE's.

``make bench-accuracy ARGS=--sets``. Some rows of each table are drawn and learned, and sets are
asked for of up to 800 others. MAPIE sets a fifth of the rows aside, beside the same model of the
others.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.accuracy import trial
from naively import NaiveBayes

SIZES = (100, 300, 1_000)
DRAWS = 20
TESTED = 800
COVERAGES = (0.8, 0.9, 0.95)
ASIDE = 0.2  # of the rows, by MAPIE
OURS, BY_CLASS = "predict_set", "predict_set(by_class=True)"
MAPIE = "MAPIE, a fifth set aside"


class Measured(NamedTuple):
    """What sets of one draw of a table held, at one coverage."""

    name: str
    rows: int
    how: str
    coverage: float
    held: float  # share of the rows whose set held the right class
    size: float  # classes of a set
    worst: float  # the share of the class that is held least often, of 60 rows or more
    right: float  # accuracy


def measured(
    sets: NDArray[np.bool_], right: NDArray[np.int64], p: NDArray, *of: str | float
) -> Measured:
    """Return what sets held; rows of a class that was not learned are missed."""
    held = (right >= 0) & sets[np.arange(len(right)), np.maximum(right, 0)]
    often = [held[right == c].mean() for c in range(sets.shape[1]) if (right == c).sum() >= 60]
    accuracy = float((p.argmax(axis=1) == right).mean())
    name, rows, how, coverage = of
    share = float(held.mean())
    size = float(sets.sum(axis=1).mean())
    return Measured(
        str(name),
        int(rows),
        str(how),
        float(coverage),
        share,
        size,
        min(often, default=np.nan),
        accuracy,
    )


def of_draw(task: trial.Task, rows: int, seed: int) -> Iterator[Measured]:
    """Measure sets of one draw of so many rows."""
    order = np.random.default_rng([rows, seed]).permutation(len(task.y))
    train, test = order[:rows], order[rows : rows + TESTED]
    if len(test) < TESTED / 4 or len(np.unique(task.y[train])) < 2:
        return
    X, y, new = task.take(train), task.y[train], task.take(test)
    nb = NaiveBayes().fit(X, y)
    right = _numbers(nb.classes_, task.y[test])
    p = nb.predict_proba(new)
    for coverage in COVERAGES:
        of = task.name, rows
        sets = nb.predict_set(new, coverage)
        yield measured(sets.contains, right, p, *of, OURS, coverage)
        if coverage == 0.9:
            sets = nb.predict_set(new, coverage, by_class=True)
            yield measured(sets.contains, right, p, *of, BY_CLASS, coverage)
    yield from _of_mapie(task, train, test)


class Known(ClassifierMixin, BaseEstimator):
    """Probabilities of numbered rows, as MAPIE knows no columns but of numbers."""

    def __init__(self, p: NDArray, classes_: NDArray) -> None:
        self.p, self.classes_, self.n_features_in_ = p, classes_, 1

    def predict_proba(self, numbers: NDArray) -> NDArray:
        """Return the probabilities of the rows of these numbers."""
        return self.p[np.asarray(numbers, int)[:, 0] % len(self.p)]

    def predict(self, numbers: NDArray) -> NDArray:
        """Return the most probable class of each."""
        return self.classes_[self.predict_proba(numbers).argmax(axis=1)]


def _of_mapie(task: trial.Task, train: NDArray, test: NDArray) -> Iterator[Measured]:
    """Measure the sets that MAPIE makes of the same model and rows, as far as it can."""
    from mapie.classification import SplitConformalClassifier

    fits, aside = train_test_split(train, test_size=ASIDE, random_state=0)
    aside = aside[np.isin(task.y[aside], task.y[fits])]
    if len(np.unique(task.y[fits])) < 2:
        return
    nb = NaiveBayes().fit(task.take(fits), task.y[fits])
    known = Known(nb.predict_proba(task.take(np.append(aside, test))), nb.classes_)
    numbers = np.arange(len(known.p))[:, None]
    made = SplitConformalClassifier(known, confidence_level=[*COVERAGES], prefit=True)
    try:
        made.conformalize(numbers[: len(aside)], task.y[aside])
        _, sets = made.predict_set(numbers[len(aside) :])
    except ValueError:  # too few rows are aside for the coverage
        return
    right, p = _numbers(nb.classes_, task.y[test]), known.p[len(aside) :]
    for i, coverage in enumerate(COVERAGES):
        some = np.asarray(sets[:, :, i], bool)
        yield measured(some, right, p, task.name, len(train), MAPIE, coverage)


def _numbers(classes: NDArray, labels: NDArray) -> NDArray[np.int64]:
    """Return the number of each label's class, -1 of one that was not learned."""
    place = np.searchsorted(classes, labels)
    place = np.minimum(place, len(classes) - 1)
    return np.where(classes[place] == labels, place, -1)


def _of_table(source: trial.Source, draws: int) -> list[Measured]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task = trial.read_table(source)
        return [one for rows in SIZES for seed in range(draws) for one in of_draw(task, rows, seed)]


def run(
    folder: Path, rows: int, jobs: int, only: Sequence[str] = (), draws: int = DRAWS
) -> list[Measured]:
    """Measure sets of each table, and print their means."""
    sources = trial.tables(folder / "tables", {}, rows)
    sources = [one for one in sources if not only or one.name in only]
    sources.sort(key=lambda source: -source.size)
    found: list[Measured] = []
    for of_table in Parallel(jobs, return_as="generator_unordered")(
        delayed(_of_table)(source, draws) for source in sources
    ):
        found += of_table
        print(f"{of_table[0].name if of_table else 'a table of too few rows'}", file=sys.stderr)
    print(summary(found))
    return found


def summary(found: Sequence[Measured]) -> str:
    """Return the means over tables, by number of rows, coverage and way."""
    lines = [
        "Means over tables of the means of their draws: coverage (where the most probable class is",
        "right more rarely; all), classes of a set, coverage of the class that has least, tables",
        "",
    ]
    groups: dict[tuple[int, float, str], dict[str, list[Measured]]] = defaultdict(dict)
    for one in found:
        of_table = groups[one.rows, one.coverage, one.how]
        of_table.setdefault(one.name, []).append(one)
    for (rows, coverage, how), of_table in sorted(groups.items()):
        means = np.array(
            [
                np.nanmean([one[4:] for one in draws], axis=0)
                if not all(np.isnan(one.worst) for one in draws)
                else [
                    *np.mean([[one.held, one.size] for one in draws], axis=0),
                    np.nan,
                    np.mean([one.right for one in draws]),
                ]
                for draws in of_table.values()
            ]
        )
        rarely = means[:, 3] <= coverage
        matters = f"{100 * means[rarely, 0].mean():5.1f}" if rarely.any() else "    -"
        lines.append(
            f"{rows:>5} rows  {coverage:.2f}  {how:<28} {matters} ({100 * means[:, 0].mean():5.1f})"
            f"  {means[:, 1].mean():.2f}  {100 * np.nanmean(means[:, 2]):5.1f}  {len(means)}"
        )
    return "\n".join(lines)
