"""How many parameters there are, with and without the naive Bayes assumption."""

from __future__ import annotations

import math

import numpy as np
import pytest

from naively import (
    Bernoulli,
    Beta,
    Categorical,
    Complement,
    EventModel,
    Exponential,
    Gaussian,
    GaussianNB,
    KernelDensity,
    LogNormal,
    Multinomial,
    NaiveBayes,
    Poisson,
)
from tests.cases import by_event

NUMBERS = np.random.default_rng(0).integers(1, 5, (60, 4)).astype(float)
COUNTED = [  # for 4 columns and 3 classes, without the class prior's 2
    (Gaussian(), 24),
    (Gaussian(variance="shared"), 16),
    (Gaussian(variance=1.0), 12),
    (LogNormal(), 24),
    (Poisson(), 12),
    (Exponential(), 12),
    (Bernoulli(), 12),
    (Multinomial(), 9),
    (Complement(), 9),
    (KernelDensity(), 12),
    (Categorical(), 36),  # 4 levels each
    (Categorical(codes=7), 72),
]


@pytest.mark.parametrize(("event", "expected"), COUNTED, ids=by_event)
def test_each_event_model(event: EventModel, expected: int) -> None:
    nb = NaiveBayes(event).fit(NUMBERS, np.arange(60) % 3)
    assert nb.n_parameters_ == expected + 2
    sides = {"bernoulli": 2**4, "categorical": (getattr(event, "codes", None) or 4) ** 4}
    rows = sides.get(event.name, math.inf)
    assert nb.n_joint_parameters_ == 3 * (rows - 1) + 2


def test_columns_of_different_kinds_add_up() -> None:
    table = {
        "colour": ["r", "g", "b", "r"],
        "in": [True, False, True, True],
        "size": ["S", "L", "S", "L"],
    }
    nb = NaiveBayes().fit(table, [0, 1, 0, 1])
    assert nb.n_parameters_ == 2 * (2 + 1 + 1) + 1
    assert nb.n_joint_parameters_ == 2 * (3 * 2 * 2 - 1) + 1
    ages = {**table, "age": [1.0, 2.0, 3.0, 4.0]}
    with_numbers = NaiveBayes({"age": Gaussian()}).fit(ages, [0, 1, 0, 1])
    assert with_numbers.n_parameters_ == nb.n_parameters_ + 4
    assert with_numbers.n_joint_parameters_ == math.inf


def test_a_class_prior_that_is_given_is_not_estimated() -> None:
    X, y = NUMBERS[:, :1], np.arange(60) % 2
    assert [
        NaiveBayes(Gaussian(), class_prior=prior).fit(X, y).n_parameters_
        for prior in ("data", Beta(2, 2), "uniform", [0.3, 0.7])
    ] == [5, 5, 4, 4]
    assert GaussianNB().fit(X, y).n_parameters_ == 5


def test_words_of_texts() -> None:
    nb = NaiveBayes(text="words").fit(["cheap pills now", "lunch at noon"], ["spam", "ham"])
    assert nb.n_parameters_ == 2 * 5 + 1


def test_a_number_of_parameters_that_no_float_holds() -> None:
    X = np.random.default_rng(0).random((20, 10_000)) < 0.5
    many = NaiveBayes(weights=None).fit(X, np.arange(20) % 2).n_joint_parameters_
    assert many == 2 * (2**10_000 - 1) + 1
    assert (str(many), f"{many:,}", repr(many)) == ("about 2^10001",) * 3
    assert many.log2 == pytest.approx(10_001)
    assert float(many) == math.inf
    few = NaiveBayes(weights=None).fit(X[:, :2], np.arange(20) % 2).n_joint_parameters_
    assert (str(few), f"{few:,}", few.log2, float(few)) == ("7", "7", math.log2(7), 7.0)
