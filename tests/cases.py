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

from naively.core.analyser import Analyser
from naively.data.patterns import Patterns
from naively.data.text import Text
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
    Geometric,
    Histogram,
    JointTable,
    KernelDensity,
    LogNormal,
    Multinomial,
    NormalInverseGamma,
    Poisson,
)


@dataclass(frozen=True)
class Case:
    """An event model (or an analyser), the cells it may meet, and how scikit-learn does it."""

    event: EventModel | Analyser
    cell: SearchStrategy[Any]
    column: Callable[[list[Any]], np.ndarray]
    oracle: Callable[[], Any] | None = None
    text: bool = False

    def __repr__(self) -> str:
        return f"{self.event}{' of text' if self.text else ''}"


def by_event(value: Any) -> str:
    """Name a test by its event model, and other parameters by their types."""
    return str(value) if isinstance(value, EventModel) else type(value).__name__


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
EXTREME = st.sampled_from([-np.inf, np.inf, -0.0, 1e-300])
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
    Case(Gaussian(smoothing=0, floor=1e-9), REAL, numbers),
    Case(Gaussian(variance="shared"), REAL, numbers),
    Case(Gaussian(variance=4.0), REAL, numbers),
    Case(Gaussian(prior=NormalInverseGamma(0, 1, 2, 3), estimate="map"), REAL, numbers),
    Case(Gaussian(prior=NormalInverseGamma(0, 1, 2, 3), estimate="predictive"), REAL, numbers),
    Case(Gaussian(estimate="predictive"), REAL, numbers),
    Case(LogNormal(), POSITIVE, numbers),
    Case(Poisson(), COUNT, numbers),
    Case(Poisson(alpha=0), COUNT, numbers),
    Case(Poisson(prior=Gamma(2, 1), estimate="predictive"), COUNT, numbers),
    Case(Geometric(), COUNT, numbers),
    Case(Geometric(prior=Beta(2, 3), estimate="predictive"), COUNT, numbers),
    Case(Multinomial(alpha=0.5, estimate="predictive"), COUNT, numbers),
    Case(Exponential(), POSITIVE, numbers),
    Case(Exponential(prior=Gamma(2, 3), estimate="predictive"), POSITIVE, numbers),
    Case(Complement(), COUNT, numbers, ComplementNB),
    Case(
        Complement(alpha=0.5, norm=True), COUNT, numbers, lambda: ComplementNB(alpha=0.5, norm=True)
    ),
    Case(Histogram(), REAL | EXTREME, numbers),
    Case(Histogram(bins=5, edges="width", smoothing=0, m=1.0), REAL, numbers),
    Case(Histogram(edges="mdl", smoothing=0, m=1.0), COUNT, numbers),
    Case(Histogram(smoothing=1.2, estimate="mle"), COUNT, numbers),
    Case(KernelDensity(), REAL | EXTREME, numbers),
    Case(KernelDensity(bandwidth=0.5, alpha=0), REAL, numbers),
    Case(Bernoulli(prior=Beta(2, 5), estimate="map"), TRUTH, numbers),
    Case(Bernoulli(m=2.0), TRUTH, numbers),
    Case(Bernoulli(alpha="auto"), TRUTH, numbers),
    Case(Categorical(prior=Dirichlet(2), estimate="map"), LEVEL, objects),
    Case(JointTable(), LEVEL, objects),
    Case(JointTable(alpha=0), COUNT, numbers),
    Case(Multinomial(), TEXT, objects, text=True),
    Case(Multinomial(alpha="auto"), TEXT, objects, text=True),
    Case(Multinomial(estimate="predictive"), TEXT, objects, text=True),
    Case(Complement(), TEXT, objects, text=True),
    Case(Bernoulli(alpha=0.5), TEXT, objects, text=True),
    Case(Text(ngram_range=(1, 2), binary=True, event=Multinomial()), TEXT, objects, text=True),
    Case(Text(min_df=2, max_df=0.9, max_features=3), TEXT, objects, text=True),
    Case(Text(features=16, event=Bernoulli()), TEXT, objects, text=True),
    Case(Patterns(event=Multinomial()), TEXT, objects, text=True),
]

ORACLES = [
    *(case for case in CASES if case.oracle is not None),
    Case(Gaussian(smoothing=0), REAL, numbers, lambda: GaussianNB(var_smoothing=0)),
]
