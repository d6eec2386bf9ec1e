"""Several threads on one estimator: nothing is lost, nothing is raised, and it still pickles."""

from __future__ import annotations

import copy
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
from naively.estimators.base import LOCK

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


@pytest.mark.parametrize("make", MAKERS)
def test_no_batch_is_lost(make: Any) -> None:
    nb = make().partial_fit(*batch(0), classes=CLASSES)
    in_threads(lambda i: nb.partial_fit(*batch(i), classes=CLASSES))
    assert nb.class_count_.sum() == 4 + 4 * THREADS * TIMES
    in_threads(lambda i: nb.forget(*batch(i)))
    assert nb.class_count_.sum() == 4


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
