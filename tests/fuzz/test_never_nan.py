"""Whatever numbers are learned and asked, by every event model and estimate: no answer is NaN.

Cells at the ends of what a float holds, weights and decays that under- and overflow. Either the
probabilities are probabilities, natively as in plain NumPy, or one sentence says what is wrong.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import naively
from naively import EventModel, LogNormal, NaiveBayes, Patterns, Text
from naively.events.base import HOW
from naively.kernels import dispatch, reference
from tests.cases import CASES, MIXED, Case
from tests.fuzz import fuzz

HOME = str(Path(naively.__file__).parent)  # of what is tested, installed or not
SCORES = ("score_linear", "score_quadratic", "score_csr", "score_codes", "finish_rows")
HOSTILE = [0.0, -0.0, 1.0, -1.0, 3.0, 1e-300, 5e-324, 1e17, 1e100, 1e153, 1e155, -1e155, 1e300]
HOSTILE += [1e308, -1e308, 1.7976931348623157e308, np.inf, -np.inf, np.nan]
TAME = [0.0, 1.0, 1.0, 2.0, 3.0, 5.0, np.nan, 0.5, 1e-9, 1e6]
WORDS = ["buy", "now", "lunch", "Straße", "", None, "buy buy now", "x" * 50]
COLUMNS = ["a", "b"]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_probabilities_are_probabilities(case: Case) -> None:
    for how in HOW:
        fuzz(partial(answers_or_says, case, how), 1)


def answers_or_says(case: Case, how: Any, rng: random.Random) -> None:
    tame = rng.random() < 0.6  # what is learned; what is asked is never tame
    learned, asked = (table(case, rng, n, t) for n, t in ((rng.randint(2, 12), tame), (8, False)))
    y = [rng.choice("abc") for _ in range(size(learned))]
    y[:2] = "ab"
    weight = rng.choice([None, None, None, None, 7.5, 1e90, 1e-90, 1e300, 5e-324])
    weights = None if weight is None else [rng.choice([weight, 1.0]) for _ in y]
    with one_sentence_or_nothing(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no token was found, and so on
        event = estimated(case.event, how)
        nb = NaiveBayes(event, weights=rng.choice(["loo", "temperature", None]))
        nb.fit(learned, y, sample_weight=weights)
        act = rng.choice(["", "", "decay", "forget", "grow"])
        if act in ("decay", "grow"):
            for _ in range(rng.choice([1, 9, 40, 99, 400])):
                nb.decay(0.1 if act == "decay" else 10.0)
        if act == "forget":
            nb.forget(take(learned, [0]), y[:1], None if weights is None else weights[:1])
        probabilities(nb, asked)
        probabilities(nb, learned)


def probabilities(nb: NaiveBayes, rows: Any) -> None:
    with one_sentence_or_nothing():
        joint = nb.predict_joint_log_proba(rows)
        assert not np.isnan(joint).any()
        assert not np.isposinf(joint).any()
        p, log_p = nb.predict_proba(rows), nb.predict_log_proba(rows)
        assert ((p >= 0) & (p <= 1)).all()
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
        assert not np.isnan(log_p).any()
        assert (log_p <= 1e-9).all()
        codes = np.searchsorted(nb.classes_, nb.predict(rows))
        assert (p[np.arange(len(p)), codes] >= p.max(axis=1) - 1e-9).all()
        with in_numpy():
            lost = rounding(nb, rows)
            close(nb.predict_joint_log_proba(rows), joint, 1e-9 + 1e-6 * np.abs(joint) + lost)
            close(nb.predict_proba(rows), p, 1e-6 + lost)
    with one_sentence_or_nothing():
        evidence = nb.score_samples(rows)
        assert not np.isnan(evidence).any()
        assert not np.isposinf(evidence).any()
    with one_sentence_or_nothing():
        for row in nb.explain(rows):
            assert not np.isnan(row.log_likelihood).any()
            assert 0 <= row.probability(row.best) <= 1


def rounding(nb: NaiveBayes, rows: Any) -> np.ndarray:
    """Return what is lost where a row's terms of this size cancel, (rows, 1); 0 if untold."""
    with one_sentence_or_nothing():
        terms = [row.log_likelihood[np.isfinite(row.log_likelihood)] for row in nb.explain(rows)]
        return 1e-12 * np.array([[np.abs(of_row).max(initial=0.0)] for of_row in terms])
    return np.zeros((size(rows), 1))


def close(found: np.ndarray, other: np.ndarray, tolerance: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):  # both may be -inf
        assert ((np.abs(found - other) <= tolerance) | (found == other)).all()


def table(case: Case, rng: random.Random, n: int, tame: bool) -> Any:
    """Return rows of a case, with hostile cells where they are numbers."""
    if case.text:
        return [rng.choice(WORDS) or "" for _ in range(n)]
    if isinstance(case.event, dict):
        return {name: column(name, rng, n, tame) for name in MIXED}
    if not case.numbers:
        return {name: [rng.choice(WORDS) for _ in range(n)] for name in COLUMNS}
    cells = matrix(rng, n, tame)
    if isinstance(case.event, LogNormal):
        cells = np.abs(cells) + (0.5 if tame else 5e-324)
    elif case.event.name != "gaussian" and tame:
        cells = np.abs(cells)
    if rng.random() < 0.3:
        return {name: cells[:, j] for j, name in enumerate(COLUMNS)}
    return sparse.csr_array(cells) if rng.random() < 0.3 else cells


def matrix(rng: random.Random, n: int, tame: bool) -> np.ndarray:
    few = rng.sample(TAME if tame else HOSTILE, rng.randint(1, 5))
    cells = np.array([[rng.choice(few) for _ in COLUMNS] for _ in range(n)])
    return cells if tame or rng.random() < 0.5 else np.abs(cells)


def column(name: str, rng: random.Random, n: int, tame: bool) -> Any:
    if name == "size":
        return matrix(rng, n, tame)[:, 0]
    if name == "member":
        return [rng.choice([True, False, None]) for _ in range(n)]
    if name == "when":
        return np.array([rng.randint(0, 10**9) for _ in range(n)], "datetime64[s]")
    return [rng.choice(WORDS) for _ in range(n)]


def size(rows: Any) -> int:
    if isinstance(rows, dict):
        return len(next(iter(rows.values())))
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def take(rows: Any, index: list[int]) -> Any:
    if isinstance(rows, dict):
        return {name: [cells[i] for i in index] for name, cells in rows.items()}
    return rows[index] if hasattr(rows, "shape") else [rows[i] for i in index]


def estimated(event: Any, how: Any) -> Any:
    """Return event models with another estimate, all that are within."""
    if isinstance(event, dict):
        return {name: estimated(of, how) for name, of in event.items()}
    if isinstance(event, list):
        return [estimated(of, how) for of in event]
    if isinstance(event, Patterns | Text):
        return (
            replace(event, event=estimated(event.event, how)) if hasattr(event, "event") else event
        )
    return replace(event, estimate=how) if isinstance(event, EventModel) else event


@contextmanager
def one_sentence_or_nothing() -> Iterator[None]:
    """Let pass what is said in one sentence."""
    try:
        yield
    except (ValueError, TypeError) as error:
        said = str(error)
        if not is_said(error):
            raise
        assert "\n" not in said
        assert 10 < len(said) < 400


def is_said(error: BaseException) -> bool:
    """Whether naively says it, or scikit-learn's checks, rather than what they call."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    file = "" if at is None else at.tb_frame.f_code.co_filename
    return file.startswith(HOME) or "sklearn/utils" in file


@contextmanager
def in_numpy() -> Iterator[None]:
    """Score by the plain kernels."""
    native: dict[str, Callable[..., Any]] = {name: getattr(dispatch, name) for name in SCORES}
    try:
        for name in SCORES:
            setattr(dispatch, name, getattr(reference, name))
        yield
    finally:
        for name, kernel in native.items():
            setattr(dispatch, name, kernel)
