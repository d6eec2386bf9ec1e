"""Several threads on one estimator: nothing is lost, nothing is raised, and it still pickles."""

from __future__ import annotations

import copy
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from threading import Event, RLock
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from naively import GaussianNB, MultinomialNB, NaiveBayes, load
from naively.estimators.classifier import LOCK
from naively.kernels.dispatch import default_threads

THREADS, TIMES = 8, 12


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def batch(i: int) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(i)
    return rng.integers(0, 9, (4, 2)).astype(float), ["a", "b", f"c{i % 3}", "a"]


def in_threads(verb: Callable[[int], Any]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(verb, range(THREADS * TIMES)))


MAKERS = [NaiveBayes, lambda: NaiveBayes("gaussian", weights=None), GaussianNB, MultinomialNB]
CLASSES = ["a", "b", "c0", "c1", "c2"]


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
def test_no_batch_is_lost(make: Any) -> None:
    nb = make().partial_fit(*batch(0), classes=CLASSES)
    in_threads(lambda i: nb.partial_fit(*batch(i), classes=CLASSES))
    assert nb.class_count_.sum() == 4 + 4 * THREADS * TIMES
    in_threads(lambda i: nb.forget(*batch(i)))
    assert nb.class_count_.sum() == 4


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
def test_who_asks_meanwhile_gets_an_answer(make: Any) -> None:
    nb = make().partial_fit(*batch(0), classes=CLASSES)
    X, _ = batch(1)

    def learn_or_ask(i: int) -> None:
        if i % 2:
            nb.partial_fit(*batch(i), classes=CLASSES)
        else:
            assert set(nb.predict(X)) <= set(CLASSES)
            np.testing.assert_allclose(nb.predict_proba(X).sum(axis=1), 1)

    in_threads(learn_or_ask)


def readers(X: Any, y: Any) -> dict[str, Callable[[NaiveBayes], Any]]:
    """All that can be asked of a model that knows its rows, by what it is called."""
    return {
        "predict": lambda nb: nb.predict(X),
        "predict_proba": lambda nb: nb.predict_proba(X, class_prior=None),
        "predict_set": lambda nb: nb.predict_set(X, 0.9),
        "predict_interval": lambda nb: nb.predict_interval(X),
        "explain": lambda nb: nb.explain(X, interval=0.9),
        "notes": lambda nb: (nb.notes_, nb.why_no_interactions_),
        "importances": lambda nb: nb.feature_importances_,
        "assess": lambda nb: nb.assess(),
        "evaluate": lambda nb: (nb.evaluate(X, y), nb.score(X, y)),
        "drift": lambda nb: nb.inspect.drift(X, y),
        "rules": lambda nb: (nb.inspect.rules(), nb.inspect.strongest()),
        "dependence": lambda nb: nb.inspect.dependence(),
        "nomogram": lambda nb: nb.inspect.nomogram(),
        "smoothing": lambda nb: nb.curve.smoothing(),
        "report": lambda nb: nb.export.report(),
        "scorecard": lambda nb: nb.export.scorecard(),
        "sql": lambda nb: nb.export.sql("t", "duckdb", coverage=0.9),
        "save": lambda nb: nb.save(io.BytesIO(), keep_rows=True, sets=True),
        "pickle": pickle.dumps,
    }


def labelled(seed: int, n: int) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(seed)
    X = {"n": rng.normal(size=n).round(2), "l": rng.choice(["u", "v", "w"], n)}
    return X, np.where(X["n"] + (X["l"] == "u") + rng.normal(size=n) > 0, "p", "q")


def content(nb: NaiveBayes) -> bytes:
    """Return the file of a model, of one time."""
    nb._exchange(history=type(nb.history_)())
    file = io.BytesIO()
    nb.save(file, keep_rows=True)
    return file.getvalue()


@pytest.mark.parametrize("interactions", [None, "auto"])
def test_asking_changes_nothing(monkeypatch: pytest.MonkeyPatch, interactions: Any) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    X, y = labelled(0, 400)
    nb = NaiveBayes(interactions=interactions).fit(X, y)
    nb.partial_fit(*labelled(1, 7))  # rows that wait to be drawn from
    before, pickled = content(nb), pickle.dumps(nb)
    for name, ask in readers(*labelled(2, 20)).items():
        ask(nb)
        assert content(nb) == before, name
        assert len(pickle.dumps(nb)) == len(pickled), name
    assert nb.model_.counted.held_out is None


def test_readers_beside_a_writer_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 batches are learned while seven threads ask; some are of a class that is new then."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    every, done = [*readers(*labelled(2, 5)).values()], Event()

    def learn(nb: NaiveBayes) -> NaiveBayes:
        for i in range(200):
            X, y = labelled(i, 3)
            nb.partial_fit(X, np.where(i % 50 == 49, "a", y))
        done.set()
        return nb

    nb, alone = (NaiveBayes(weights="temperature").fit(*labelled(0, 250)) for _ in range(2))

    def keep_asking(first: int) -> None:
        for ask in cycle(every[first:] + every[:first]):
            ask(nb)
            if done.is_set():
                return

    with ThreadPoolExecutor(THREADS) as pool:
        asked = [pool.submit(keep_asking, 3 * i) for i in range(THREADS - 1)]
        learn(nb)
        for one in asked:
            one.result()
    assert content(nb) == content(learn(alone))
    assert len(nb._learned.sample) == 850
    load(content(nb)).calibrate()


def test_all_verbs_at_once() -> None:
    nb = NaiveBayes("gaussian", weights=None).fit(*batch(0))
    other = NaiveBayes("gaussian", weights=None).fit(*batch(0))
    in_threads(lambda _: (nb.merge(other), nb.forget(*batch(0)), nb.decay(1.0)))
    assert nb.class_count_.sum() == 4


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.loads, clone])
def test_a_copy_has_a_lock_of_its_own(copied: Any) -> None:
    nb = NaiveBayes().fit(*batch(0))
    assert isinstance(vars(nb)[LOCK], type(RLock()))
    other = copied(pickle.dumps(nb) if copied is pickle.loads else nb)
    assert LOCK not in vars(other)
    assert other.fit(*batch(1)).class_count_.sum() == 4


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NAIVELY_THREADS": "3", "OMP_NUM_THREADS": "2"}, 3),
        ({"OMP_NUM_THREADS": "2"}, 2),
        ({"OMP_NUM_THREADS": "5,2"}, 5),  # the second is for nested loops
        ({"NAIVELY_THREADS": "none", "OMP_NUM_THREADS": "7"}, 7),
        ({"OMP_NUM_THREADS": "0"}, None),
        ({}, None),
    ],
)
def test_the_environment_limits_threads(
    environment: dict[str, str], expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NAIVELY_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert default_threads() == (cpus if expected is None else expected)


@pytest.mark.slow
def test_workers_of_joblib_share_the_cpus() -> None:
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        limits = joblib.Parallel()(joblib.delayed(_threads_in_use)() for _ in range(2))
    assert limits == [1, 1]


def _threads_in_use() -> int:
    from naively.kernels.dispatch import NATIVE

    return 1 if NATIVE is None else NATIVE.threads()
