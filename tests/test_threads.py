"""Several threads on one estimator: nothing is lost, nothing is raised, and it still pickles."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from naively import GaussianNB, MultinomialNB, NaiveBayes
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


MAKERS = [
    NaiveBayes,
    lambda: NaiveBayes("gaussian", weights=None),
    GaussianNB,
    MultinomialNB,
]
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
