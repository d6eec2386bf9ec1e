"""Few rows: draws of 6 to 100 rows of each data set, tested on 500 others of the same set.

Each model is compared with the class prior of the rows drawn: ``make bench-accuracy ARGS=--few``.
Of the largest tables, few rows of a class are drawn and many others, and models are compared with
logistic regression. ``ARGS='--few --only iris adult --draws 1'`` is a part of it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import naively
from benchmarks.accuracy import peers, trial

SIZES = (6, 10, 20, 50, 100)
DRAWS = 10
TESTED = 500
WIDE = 30  # columns
SHARE = 2 / 3  # of the rows of a set, at most, are drawn

ON_TABLES = (peers.PURE, peers.LOGISTIC, peers.FOREST, peers.DEFAULT)
ON_TEXT = (peers.PURE, peers.MULTINOMIAL_WORDS, peers.LOGISTIC_WORDS, peers.DEFAULT)


class Drawn(NamedTuple):
    """What a model of a few rows reached on the others."""

    name: str
    rows: int
    columns: int  # of a table; of texts 0
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
    def draws(cls, task: trial.Task, rows: int, draws: int) -> Iterator[FewRows]:
        """Yield draws of so many rows that have at least two classes."""
        for seed in range(draws):
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


def measure(source: trial.Source, text: bool, draws: int) -> list[Drawn]:
    """Measure all contenders on a data set, by all numbers of rows that it has."""
    naively.set_threads(1)
    task = trial.read_texts(source) if text else trial.read_table(source)
    found = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows in SIZES:
            if rows > SHARE * len(task.y):
                continue
            every = [*FewRows.draws(task, rows, draws)]
            prior = [-draw.prior().mean() for draw in every]
            for contender in ON_TEXT if text else ON_TABLES:
                each = [_reached(draw, contender) for draw in every]
                loss = [rows_lost.mean() for rows_lost, _ in each]
                found.append(
                    Drawn(
                        contender.name,
                        rows,
                        0 if text else task.X.shape[1],
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


def run(
    folder: Path, rows: int, jobs: int, only: Sequence[str], draws: int = DRAWS
) -> list[Drawn | Rare]:
    """Measure the tables and texts of a folder of data, print what was found, and return it."""
    sources: list[tuple[trial.Source, bool]] = [
        *((source, False) for source in trial.tables(folder / "tables", {}, rows)),
        *((source, True) for source in trial.texts(folder / "text", rows)),
    ]
    large = largest(trial.tables(folder / "tables", {}, sys.maxsize))
    if only:
        sources = [(source, text) for source, text in sources if source.name in only]
        large = [source for source in large if source.name in only]
    each: Any = Parallel(jobs)(delayed(measure)(*one, draws) for one in sources)
    found = [one for of in each for one in of]
    print(f"{folder}, {draws} draws of each")
    for title, kinds in (
        ("tables", {False}),
        ("texts", {True}),
        ("tables and texts", {False, True}),
    ):
        some = [of for of, (_, text) in zip(each, sources, strict=True) if of and text in kinds]
        if some:  # of both, those who are measured on both
            of_all = set.intersection(*({one.name for one in of} for of in some))
            print(f"\n{len(some)} {title}")
            print(shown([one for of in some for one in of if one.name in of_all]))
    wide = [one for one in found if one.columns >= WIDE]
    if wide:
        print(f"\ntables of {WIDE} columns or more")
        print(shown(wide))
    if not large:
        return found
    draws = min(draws, RARE_DRAWS)
    each = Parallel(jobs)(delayed(measure_rare)(one, draws) for one in large)
    rare = [one for of in each for one in of]
    print(f"\nA class of one row in {round(1 / RARE):,}, {draws} draws of each")
    print(shown_rare(rare))
    return [*found, *rare]


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


# --- A rare class: the largest tables, with few rows of one class and all of the others ----------


LARGEST = 3  # tables
LEAST = 10_000  # rows of a table, of which some are of the rare class
RARE = 0.001  # of the rows
RARE_DRAWS = 5
LEARNED = 0.8  # of the rows of the other classes


class Rare(NamedTuple):
    """What a model of a table reached that says whether a row is of a rare class."""

    name: str
    table: str
    rows: int  # to learn from
    rare: int  # of them
    over_logistic: float  # log loss, over that of logistic regression on the mean of the draws


def largest(sources: Sequence[trial.Source]) -> list[trial.Source]:
    """Return the tables of the most rows."""
    rows = {source.name: source.paths[0].read_bytes().count(b"\n") - 1 for source in sources}
    large = (source for source in sources if rows[source.name] >= LEAST)
    return sorted(large, key=lambda source: rows[source.name], reverse=True)[:LARGEST]


@dataclass(frozen=True)
class RareClass:
    """Rows of which one in a thousand is of a class, and others to test on, as those of the class.

    So that the test is of many rows of the class, all that were not drawn are in it, each with the
    weight with which they are one in a thousand.
    """

    rows: FewRows
    weight: NDArray

    @classmethod
    def draws(cls, task: trial.Task, draws: int) -> Iterator[RareClass]:
        """Yield draws of a table whose second most frequent class is thinned."""
        classes, count = np.unique(task.y, return_counts=True)
        y = task.y == classes[np.argsort(-count, kind="stable")[1]]
        task = replace(task, y=y)
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            others, rare = (rng.permutation(np.flatnonzero(y == which)) for which in (False, True))
            n = int(LEARNED * len(others))
            few = round(n * RARE / (1 - RARE))
            test = np.concatenate([others[n:], rare[few:]])
            each = RARE / (1 - RARE) * (len(others) - n) / (len(rare) - few)
            train = np.concatenate([others[:n], rare[:few]])
            yield cls(FewRows(task, train, test), np.where(y[test], each, 1.0))

    def loss(self, contender: peers.Contender) -> float:
        """Return the mean loss of the rows of the test."""
        return float(np.average(self.rows.losses(contender)[0], weights=self.weight))

    def prior(self) -> float:
        """Return the mean loss of the class prior."""
        return float(np.average(-self.rows.prior(), weights=self.weight))


def measure_rare(source: trial.Source, draws: int) -> list[Rare]:
    """Measure all contenders on a table with a rare class."""
    naively.set_threads(1)
    every = [*RareClass.draws(trial.read_table(source), draws)]
    train = every[0].rows.train
    of = source.name, len(train), int(every[0].rows.task.y[train].sum())
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logistic = np.mean([one.loss(peers.LOGISTIC) for one in every])
        loss = {"class prior": np.mean([one.prior() for one in every])}
        for contender in (peers.PURE, peers.DEFAULT):
            loss[contender.name] = np.mean([one.loss(contender) for one in every])
    return [Rare(name, *of, float(mean / logistic)) for name, mean in loss.items()]


def shown_rare(found: Sequence[Rare]) -> str:
    """Write a line for each contender, with a column for each table."""
    of = {one.table: one for one in found}
    width = max(20, *(len(table) + 2 for table in of))
    lines = ["", f"{'log loss over logistic regression':44}" + "".join(f"{t:>{width}}" for t in of)]
    drawn = [f"{one.rare} of {one.rows:,}" for one in of.values()]
    lines.append(f"  {'rows of the rare class':42}" + "".join(f"{n:>{width}}" for n in drawn))
    for name in dict.fromkeys(one.name for one in found):
        values = [one.over_logistic for one in found if one.name == name]
        lines.append(f"  {name:42}" + "".join(f"{value:{width}.3f}" for value in values))
    return "\n".join(lines)
