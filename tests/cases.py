"""The event models under test: one line enrols a model in every law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)

from naively.events import (
    Bernoulli,
    Beta,
    Categorical,
    Complement,
    Dirichlet,
    EventModel,
    Exponential,
    Gamma,
    Gaussian,
    LogNormal,
    Multinomial,
    NormalInverseGamma,
    Poisson,
)


@dataclass(frozen=True)
class Case:
    """An event model, the cells it may meet, and how scikit-learn computes the same."""

    event: EventModel
    cell: SearchStrategy[Any]
    column: Callable[[list[Any]], np.ndarray]
    oracle: Callable[[], Any] | None = None
    text: bool = False

    def __repr__(self) -> str:
        return f"{self.event}{' of text' if self.text else ''}"


def numbers(cells: list[Any]) -> np.ndarray:
    """A float column; None is NaN."""
    return np.array([np.nan if c is None else c for c in cells], np.float64)


def objects(cells: list[Any]) -> np.ndarray:
    """A column of strings; None is missing."""
    column = np.empty(len(cells), object)
    column[:] = cells
    return column


# What is forgotten leaves the rest to about 1e-30 of the larger square.
SIZE = st.floats(1, 1e3)
REAL = SIZE | SIZE.map(lambda x: -x) | st.integers(-3, 3).map(float)
POSITIVE = SIZE
COUNT = st.integers(0, 5).map(float)
TRUTH = st.sampled_from([0.0, 1.0])
LEVEL = st.sampled_from(["red", "green", "blue", "RED", ""])
WORD = st.sampled_from(["buy", "now", "lunch", "Straße", "ΣΊΣΥΦΟΣ", "a", "x_1", "naïve", "42"])
TEXT = st.lists(WORD, max_size=6).map(" ".join)

CASES = [
    Case(Gaussian(), REAL, numbers),
    Case(Gaussian(smoothing=0.1), REAL, numbers),
    Case(Bernoulli(), TRUTH, numbers, BernoulliNB),
    Case(Bernoulli(alpha=0), TRUTH, numbers),
    Case(Bernoulli(threshold=2.5), COUNT, numbers, lambda: BernoulliNB(binarize=2.5)),
    Case(Multinomial(), COUNT, numbers, MultinomialNB),
    Case(Multinomial(alpha=0.25), COUNT, numbers, lambda: MultinomialNB(alpha=0.25)),
    Case(Multinomial(alpha=0), COUNT, numbers),
    Case(Categorical(), LEVEL, objects),
    Case(Categorical(alpha=0), LEVEL, objects),
    Case(Categorical(alpha=0.5), COUNT, numbers, lambda: CategoricalNB(alpha=0.5)),
    Case(Categorical(codes=3), COUNT, numbers),
    Case(Gaussian(smoothing=1e-9, floor="largest"), REAL, numbers),
    Case(Gaussian(variance="shared"), REAL, numbers),
    Case(Gaussian(variance=4.0), REAL, numbers),
    Case(Gaussian(prior=NormalInverseGamma(0, 1, 2, 3), estimate="map"), REAL, numbers),
    Case(Gaussian(prior=NormalInverseGamma(0, 1, 2, 3), estimate="predictive"), REAL, numbers),
    Case(Gaussian(estimate="predictive"), REAL, numbers),
    Case(LogNormal(), POSITIVE, numbers),
    Case(Poisson(), COUNT, numbers),
    Case(Poisson(alpha=0), COUNT, numbers),
    Case(Poisson(prior=Gamma(2, 1), estimate="predictive"), COUNT, numbers),
    Case(Exponential(), POSITIVE, numbers),
    Case(Exponential(prior=Gamma(2, 3), estimate="predictive"), POSITIVE, numbers),
    Case(Complement(), COUNT, numbers, ComplementNB),
    Case(
        Complement(alpha=0.5, norm=True), COUNT, numbers, lambda: ComplementNB(alpha=0.5, norm=True)
    ),
    Case(Bernoulli(prior=Beta(2, 5), estimate="map"), TRUTH, numbers),
    Case(Categorical(prior=Dirichlet(2), estimate="map"), LEVEL, objects),
    Case(Multinomial(), TEXT, objects, text=True),
    Case(Complement(), TEXT, objects, text=True),
    Case(Bernoulli(alpha=0.5), TEXT, objects, text=True),
]

ORACLES = [
    *(case for case in CASES if case.oracle is not None),
    Case(Gaussian(smoothing=0), REAL, numbers, lambda: GaussianNB(var_smoothing=0)),
]
