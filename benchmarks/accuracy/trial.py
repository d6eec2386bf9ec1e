"""Try contenders on a data set, keeping what peers reached: only ours change between two runs."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import naively
from benchmarks.accuracy import data, measures, peers

ROUNDS, MOST_ROUNDS = 3, 12  # of fits in turn, to time them
ENOUGH = 1.0  # second, after which there are no more rounds than must be


@dataclass(frozen=True)
class Trial:
    """What a contender reached on a data set: the means over its splits, or why it did not."""

    task: str
    contender: str
    means: dict[str, float] = field(default_factory=dict)
    skipped: str = ""  # it cannot be made here
    failed: str = ""  # it was made, and raised or gave no probabilities


@dataclass(frozen=True)
class Trials:
    """All contenders on a data set."""

    name: str
    split: str
    about: str
    rows: int
    trials: Sequence[Trial]
    fit_seconds: Mapping[str, float] = field(default_factory=dict)  # see `fit_seconds`


def run(
    source: data.Source, text: bool, kept: Path | None, fresh: bool, skip: Sequence[str]
) -> Trials:
    """Try all contenders on a data set, on one thread."""
    naively.set_threads(1)
    contenders = peers.ON_TEXT if text else peers.ON_TABLES
    try:
        task = data.read_texts(source) if text else data.read_table(source)
    except ValueError as error:
        return Trials(source.name, source.split, f"not measured: {error}", 0, [])
    trials = []
    with threadpool_limits(1):
        for contender in contenders:
            if contender.name in skip:
                continue
            if reason := _unfit(contender, source, task):
                trials.append(Trial(task.name, contender.name, skipped=reason))
                continue
            file = kept_in(kept, source, contender)
            if file and file.exists() and not fresh:
                trials.append(Trial(**json.loads(file.read_text())))
                continue
            trials.append(attempt(task, contender))
            if file:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps(asdict(trials[-1])))
    return Trials(task.name, source.split, _about(task), task.rows_in_file, trials)


def _unfit(contender: peers.Contender, source: data.Source, task: data.Task) -> str:
    """Say why a contender cannot be tried on a data set, or ""."""
    if contender.missing:
        return f"{contender.missing} is not installed"
    if contender.split not in (None, source.split):
        return f"measured by {contender.split} only"
    if contender.classes is not None and len(np.unique(task.y)) > contender.classes:
        return f"measured on data sets of {contender.classes} classes only"
    return ""


def kept_in(kept: Path | None, source: data.Source, contender: peers.Contender) -> Path | None:
    """Name where the result of a peer is kept: by data, peer, and versions of its packages."""
    if kept is None or not contender.packages:
        return None
    key = json.dumps([source.digest, contender.name, contender.versions])
    return kept / f"{source.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"


def _about(task: data.Task) -> str:
    train, test = task.splits[0]
    used = len(np.union1d(train, test))
    columns = "texts" if isinstance(task.X, list) else f"{task.X.shape[1]} columns"
    parts = [
        f"{used:,} of {task.rows_in_file:,} rows" if used < task.rows_in_file else f"{used:,} rows"
    ]
    parts += [columns, f"{len(np.unique(task.y[train]))} classes"]
    parts += [f"{len(task.splits)} x {len(train):,} to train on", *task.notes]
    return "; ".join(parts)


def attempt(task: data.Task, contender: peers.Contender) -> Trial:
    """Train and test on each split."""
    found = []
    for train, test in task.splits:
        X, X_test = task.take(train), task.take(test)
        try:
            estimator = contender.make(X)
        except TypeError as error:
            return Trial(task.name, contender.name, skipped=str(error))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # bins of equal edges, unseen categories, ...
                found.append(
                    _measures(contender, estimator, X, task.y[train], X_test, task.y[test])
                )
        except Exception as error:  # noqa: BLE001 whatever a contender raises is its result
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            return Trial(task.name, contender.name, failed=reason)
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    return Trial(task.name, contender.name, means)


def fit_seconds(source: data.Source, trials: Sequence[Trial]) -> dict[str, float]:
    """Return how long ours take to fit a table, by name: the least of several rounds, in turn.

    Each fits the first split, on one thread. It is nothing where the baseline was not measured.
    """
    tried = {trial.contender for trial in trials if trial.means}
    timed = [one for one in (peers.BEFORE, peers.DEFAULT, peers.INTERACTIONS) if one.name in tried]
    if peers.BEFORE.name not in tried or len(timed) < 2:
        return {}
    naively.set_threads(1)
    task = data.read_table(source)
    rows = task.splits[0][0]
    X, y = task.take(rows), task.y[rows]
    seconds: dict[str, list[float]] = {one.name: [] for one in timed}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = time.perf_counter()
        for done in range(MOST_ROUNDS):
            if done >= ROUNDS and time.perf_counter() - first > ENOUGH:
                break
            for one in timed:
                estimator = one.make(X)
                begin = time.perf_counter()
                estimator.fit(X, y)
                seconds[one.name].append(time.perf_counter() - begin)
    return {name: min(each) for name, each in seconds.items()}


def _measures(
    contender: peers.Contender, estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any
) -> dict[str, float]:
    begin = time.perf_counter()
    estimator.fit(X, y)
    fitted = time.perf_counter()
    if contender.probabilities:
        P = np.asarray(estimator.predict_proba(X_test), float)
    else:
        found = {"accuracy": float(np.mean(estimator.predict(X_test) == y_test))}
    predicted = time.perf_counter()
    if contender.probabilities:
        found = measures.measure(*_aligned(P, estimator.classes_, y_test))
    if contender.assesses:
        found["assessed"] = estimator.assess().log_loss
    return {**found, "fit": fitted - begin, "predict": predicted - fitted}


def _aligned(P: Any, classes: Any, labels: Any) -> tuple[Any, Any]:
    """Return probabilities that are some, and labels as numbers of their columns."""
    if not (np.isfinite(P).all() and (P >= 0).all() and np.allclose(P.sum(axis=1), 1, atol=1e-6)):
        raise ValueError("what predict_proba returned are no probabilities")
    column = {str(label): at for at, label in enumerate(classes)}
    return P, np.array([column[str(label)] for label in labels])
