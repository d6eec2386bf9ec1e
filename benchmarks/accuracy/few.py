"""Few rows: draws of 6 to 100 rows of each data set, tested on 500 others of the same set.

Each model is compared with the class prior of the rows drawn: ``make bench-accuracy ARGS=--few``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.accuracy import peers, trial

SIZES = (6, 10, 20, 50, 100)
DRAWS = 10
TESTED = 500
SHARE = 2 / 3  # of the rows of a set, at most, are drawn

ON_TABLES = (peers.PURE, peers.LOGISTIC, peers.FOREST, peers.DEFAULT)
ON_TEXT = (peers.PURE, peers.MULTINOMIAL_WORDS, peers.LOGISTIC_WORDS, peers.DEFAULT)


class Drawn(NamedTuple):
    """What a model of a few rows reached on the others."""

    name: str
    rows: int
    over_prior: float  # log loss, over that of the class prior on the mean of the draws
    worse: float  # share of the draws in which it is more than that of the class prior
    sure: float  # mean probability of the most probable class, less the accuracy
    most: float  # nats that one row lost


@dataclass(frozen=True)
class FewRows:
    """Some rows of a task to learn from, and others to test on, of the classes among them."""

    task: trial.Task
    train: NDArray
    test: NDArray

    @classmethod
    def draws(cls, task: trial.Task, rows: int) -> Iterator[FewRows]:
        """Yield draws of so many rows that have at least two classes."""
        for seed in range(DRAWS):
            rng = np.random.default_rng([rows, seed])
            classes = 0
            while classes < 2:
                order = rng.permutation(len(task.y))
                train, test = order[:rows], order[rows : rows + TESTED]
                classes = len(np.unique(task.y[train]))
            yield cls(task, train, test[np.isin(task.y[test], task.y[train])])

    def prior(self) -> NDArray:
        """Return log p of the right class by Laplace's rule of succession."""
        classes, count = np.unique(self.task.y[self.train], return_counts=True)
        p = (count + 1) / (count.sum() + len(count))
        return np.log(p[np.searchsorted(classes, self.task.y[self.test])])

    def losses(self, contender: peers.Contender) -> tuple[NDArray, float]:
        """Return the loss of each row, and how much surer than right the model is."""
        X, y = self.task.take(self.train), self.task.y[self.train]
        model = contender.make(X).fit(X, y)
        p = np.asarray(model.predict_proba(self.task.take(self.test)))
        right = np.searchsorted(model.classes_, self.task.y[self.test])
        sure = float(p.max(axis=1).mean() - (p.argmax(axis=1) == right).mean())
        return -np.log(np.clip(p[np.arange(len(p)), right], trial.CLIP, 1)), sure


def measure(source: trial.Source, text: bool) -> list[Drawn]:
    """Measure all contenders on a data set, by all numbers of rows that it has."""
    task = trial.read_texts(source) if text else trial.read_table(source)
    found = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows in SIZES:
            if rows > SHARE * len(task.y):
                continue
            draws = [*FewRows.draws(task, rows)]
            prior = [-draw.prior().mean() for draw in draws]
            for contender in ON_TEXT if text else ON_TABLES:
                each = [_reached(draw, contender) for draw in draws]
                loss = [rows_lost.mean() for rows_lost, _ in each]
                found.append(
                    Drawn(
                        contender.name,
                        rows,
                        float(np.mean(loss) / np.mean(prior)),
                        float(np.mean(np.array(loss) > prior)),
                        float(np.mean([sure for _, sure in each])),
                        float(max(rows_lost.max() for rows_lost, _ in each)),
                    )
                )
    return found


def _reached(draw: FewRows, contender: peers.Contender) -> tuple[NDArray, float]:
    try:
        return draw.losses(contender)
    except ValueError:  # some peers learn nothing from a column, or a text, without a value
        return -draw.prior(), 0.0


def run(folder: Path, rows: int, jobs: int) -> list[Drawn]:
    """Measure all tables and texts of a folder of data, print what was found, and return it."""
    sources: list[tuple[trial.Source, bool]] = [
        *((source, False) for source in trial.tables(folder / "tables", {}, rows)),
        *((source, True) for source in trial.texts(folder / "text", rows)),
    ]
    each: Any = Parallel(jobs)(delayed(measure)(*one) for one in sources)
    found = [one for of in each for one in of]
    print(f"{len(sources)} tables and texts of {folder}, {DRAWS} draws of each")
    print(shown(found))
    return found


def shown(found: Sequence[Drawn]) -> str:
    """Write a line for each contender and each measure, with a column for each number of rows."""
    lines = []
    for title, of, over in (
        ("log loss over the class prior's", "over_prior", np.mean),
        ("share of draws worse than the class prior", "worse", np.mean),
        ("mean confidence less accuracy", "sure", np.mean),
        ("most nats that one row lost", "most", np.max),
    ):
        lines += ["", f"{title:44}" + "".join(f"{f'n = {n}':>9}" for n in SIZES)]
        for name in dict.fromkeys(one.name for one in found):
            values = [
                over([getattr(one, of) for one in found if (one.name, one.rows) == (name, n)])
                for n in SIZES
            ]
            lines.append(f"  {name:42}" + "".join(f"{value:9.3f}" for value in values))
    return "\n".join(lines)
