"""The event models under test: one line enrols a model in every law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

from naively import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Complement,
    Dirichlet,
    EventModel,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    Histogram,
    InverseGamma,
    JointTable,
    KernelDensity,
    LogitNormal,
    LogNormal,
    Multinomial,
    NegativeBinomial,
    NormalInverseGamma,
    Patterns,
    Poisson,
    Text,
)
from naively.counting.axis import Analyser
from naively.data.columns import Kind
from naively.schema.settings import PURE, Settings


@dataclass(frozen=True)
class Cells:
    """The cells that a column may hold, how they become an array, and what kind that is of."""

    cell: SearchStrategy[Any]
    column: Callable[[list[Any]], np.ndarray]
    kind: Kind


@dataclass(frozen=True)
class Case:
    """An event model (or an analyser), the cells it may meet, and how scikit-learn does it.

    A mixed table has an event model for each of its columns, which hold cells of their own.
    """

    event: EventModel | Analyser | Mapping[str, Any]
    cell: SearchStrategy[Any] = field(default_factory=st.none)
    column: Callable[[list[Any]], np.ndarray] = np.array
    oracle: Callable[[], Any] | None = None
    text: bool = False
    settings: Settings = PURE
    name: str = ""

    def __repr__(self) -> str:
        return self.name or f"{self.event}{' of text' if self.text else ''}"

    @property
    def numbers(self) -> bool:
        """Whether all columns hold numbers."""
        return not isinstance(self.event, Mapping) and self.column([]).dtype != object

    def cells(self, name: str) -> Cells:
        """Return what the column of this name may hold."""
        if isinstance(self.event, Mapping):
            return MIXED[name.removeprefix("missing ")]
        return Cells(self.cell, self.column, "number" if self.numbers else "string")


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


def moments(cells: list[Any]) -> np.ndarray:
    """A column of times, from seconds; None is missing."""
    times = [np.datetime64("NaT", "s") if c is None else np.datetime64(c, "s") for c in cells]
    return np.array(times, "datetime64[us]")


# What is forgotten leaves the rest to about 1e-30 of the larger square.
SIZE = st.floats(1, 1e3)
# Numbers whose squares are exact: a variance of 0 that is not smoothed shows any rounding, which
# forgetting leaves where other rows had larger numbers.
EXACT = st.integers(-8000, 8000).map(lambda x: x / 8)
REAL = SIZE | SIZE.map(lambda x: -x) | st.integers(-3, 3).map(float)
EXTREME = st.sampled_from([-np.inf, np.inf, -0.0, 1e-300])
POSITIVE = SIZE
COUNT = st.integers(0, 5).map(float)
TRUTH = st.sampled_from([0.0, 1.0])
LEVEL = st.sampled_from(["red", "green", "blue", "RED", ""])
WORD = st.sampled_from(["buy", "now", "lunch", "Straße", "ΣΊΣΥΦΟΣ", "a", "x_1", "naïve", "42"])
TEXT = st.lists(WORD, max_size=6).map(" ".join)

MIXED = {
    "size": Cells(REAL, numbers, "number"),
    "colour": Cells(LEVEL, objects, "string"),
    "member": Cells(st.booleans(), objects, "boolean"),
    "when": Cells(st.integers(0, 1_000_000), moments, "time"),
    "note": Cells(TEXT, objects, "string"),
}
DEFAULTS = {  # what ``NaiveBayes`` chooses by itself, said
    "size": Histogram(),
    "colour": Categorical(m="auto"),
    "member": Bernoulli(alpha="auto"),
    "when": Histogram(),
    "note": [
        Text(binary=True, event=Multinomial(alpha=0.5)),
        Text(ngram_range=(2, 2), binary=True, event=Multinomial(alpha=0.5)),
        Text(analyzer="char_wb", ngram_range=(2, 5), binary=True, event=Multinomial(alpha=0.5)),
    ],
}
SETTLED = {  # nothing is chosen by what was counted
    "size": Gaussian(),
    "colour": Categorical(m=3.0),
    "member": Bernoulli(alpha=0.5),
    "when": Exponential(),
    "note": DEFAULTS["note"],
}
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
    Case(Gaussian(smoothing=0, floor=1e-9), EXACT, numbers),
    Case(Gaussian(variance="shared"), REAL, numbers),
    Case(Gaussian(variance=4.0), REAL, numbers),
    Case(Gaussian(prior=NormalInverseGamma(0, 1, 2, 3), estimate="map"), REAL, numbers),
    Case(Gaussian(prior=NormalInverseGamma(0, 1, 2, 3), estimate="predictive"), REAL, numbers),
    Case(Gaussian(estimate="predictive"), REAL, numbers),
    Case(Gaussian(mean=1.0, prior=InverseGamma(2, 3)), REAL, numbers),
    Case(Gaussian(mean=1.0, estimate="predictive"), REAL, numbers),
    Case(
        Gaussian(prior=NormalInverseGamma(0, 1, 2, 3), variance="shared", estimate="map"),
        REAL,
        numbers,
    ),
    Case(Gaussian(variance="shared", estimate="predictive"), REAL, numbers),
    Case(LogNormal(), POSITIVE, numbers),
    Case(LogitNormal(low=-1, high=2e6), POSITIVE, numbers),
    Case(Poisson(), COUNT, numbers),
    Case(Poisson(alpha=0), COUNT, numbers),
    Case(Poisson(prior=Gamma(2, 1), estimate="predictive"), COUNT, numbers),
    Case(Binomial(trials=5), COUNT, numbers),
    Case(Binomial(trials=5, alpha=0), COUNT, numbers),
    Case(Binomial(trials=6, prior=Beta(2, 3), estimate="predictive"), COUNT, numbers),
    Case(Geometric(), COUNT, numbers),
    Case(Geometric(prior=Beta(2, 3), estimate="predictive"), COUNT, numbers),
    Case(NegativeBinomial(r=2.5), COUNT, numbers),
    Case(NegativeBinomial(prior=Beta(2, 3), estimate="predictive", r=3), COUNT, numbers),
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
    Case(Categorical(levels=["blue", "green", "white"]), LEVEL, objects),
    Case(Categorical(levels=["blue", "white"], m="auto"), LEVEL, objects),
    Case(
        Categorical(m=2, p=dict.fromkeys(["red", "", "green", "blue", "RED"], 0.2)), LEVEL, objects
    ),
    Case(Categorical(m=2, p="uniform"), LEVEL, objects),
    Case(Categorical(m=2, p="uniform", levels=["blue", "white"]), LEVEL, objects),
    Case(Bernoulli(m=2.0, p=0.1), TRUTH, numbers),
    Case(Multinomial(m=2.0), COUNT, numbers),
    Case(Multinomial(m=2.0, p="uniform"), COUNT, numbers),
    Case(Multinomial(m=2.0, p="uniform", estimate="predictive"), COUNT, numbers),
    Case(Multinomial(m=2.0), TEXT, objects, text=True),
    Case(Multinomial(m=2.0, p="uniform"), TEXT, objects, text=True),
    Case(JointTable(), LEVEL, objects),
    Case(JointTable(alpha=0), COUNT, numbers),
    Case(Multinomial(), TEXT, objects, text=True),
    Case(Multinomial(alpha="auto"), TEXT, objects, text=True),
    Case(Multinomial(estimate="predictive"), TEXT, objects, text=True),
    Case(Complement(), TEXT, objects, text=True),
    Case(Bernoulli(alpha=0.5), TEXT, objects, text=True),
    Case(Text(ngram_range=(1, 2), binary=True, event=Multinomial()), TEXT, objects, text=True),
    Case(Text(min_df=2, max_df=0.9, max_features=3), TEXT, objects, text=True),
    Case(Text(vocabulary=["buy", "lunch", "never"], event=Multinomial()), TEXT, objects, text=True),
    Case(Text(vocabulary=["buy", "now", "never"], event=Bernoulli()), TEXT, objects, text=True),
    Case(Text(features=16, event=Bernoulli()), TEXT, objects, text=True),
    Case(Patterns(event=Multinomial()), TEXT, objects, text=True),
    Case(Categorical(m="auto"), LEVEL, objects),
    Case(Multinomial(alpha="auto"), COUNT, numbers),
    *(Case(text, TEXT, objects, text=True) for text in DEFAULTS["note"]),
    Case(DEFAULTS, name="mixed defaults"),
    Case(SETTLED, name="mixed"),
    Case(DEFAULTS, settings=Settings(presence="auto"), name="mixed defaults, missing or not"),
    Case(SETTLED, settings=Settings(presence="auto"), name="mixed, missing or not"),
    Case(Gaussian(), REAL, numbers, settings=Settings(presence="auto"), name="missing or not"),
]

ORACLES = [
    *(case for case in CASES if case.oracle is not None),
    Case(Gaussian(smoothing=0), REAL, numbers, lambda: GaussianNB(var_smoothing=0)),
]
