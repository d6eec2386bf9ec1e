"""What was counted behind each parameter, and what the prior adds to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from naively import (
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
    Multinomial,
    NaiveBayes,
    Poisson,
)
from naively.events.base import How
from tests.cases import by_event

Y = ["a", "a", "a", "b", "b"]
NUMBERS = np.array([[1.0, 0.0], [2.0, 1.0], [6.0, np.nan], [3.0, 4.0], [0.0, 1.0]])
TRUTHS = np.array([[1.0, 0], [1, 1], [0, 1], [0, 0], [np.nan, 1]])
LEVELS = {"colour": ["red", "blue", "red", "blue", "green"]}


def ask(event: EventModel, X: Any, how: How) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    nb = NaiveBayes(event, weights=None).fit(X, Y)
    (tally,), (group,) = nb.tally_.blocks.values(), nb.schema_.groups
    (p, *_) = group.event.parameters(tally, how).values()
    shape = p.shape
    counted, pretended = group.event.counted(tally), group.event.pretended(tally, how)
    return p, np.broadcast_to(counted, shape), np.broadcast_to(pretended, shape)


SHARES = [
    (Categorical(), LEVELS, 0),
    (Categorical(m=3), LEVELS, 0),
    (Categorical(estimate="map", prior=Dirichlet(3)), LEVELS, 0),
    (Multinomial(alpha=0.5), np.nan_to_num(NUMBERS), 0),
    (Complement(), np.nan_to_num(NUMBERS), 0),
    (JointTable(alpha=0), LEVELS, 0),
    (Histogram(smoothing=0), NUMBERS[:, :1], 0),
]


@pytest.mark.parametrize(("event", "X", "axis"), SHARES, ids=by_event)
@pytest.mark.parametrize("how", ["mle", "map", "mean"])
def test_shares_are_the_counts_with_the_pretend_counts_over_their_total(
    event: EventModel, X: Any, axis: int, how: How
) -> None:
    p, counted, pretended = ask(event, X, how)
    both = np.maximum(counted + pretended, 0.0)
    if isinstance(event, Categorical) and event.m == 3 and how == "mean":
        assert counted.sum() == 5
        np.testing.assert_allclose(p, both / (counted.sum(axis=0) + 3), rtol=1e-12)
        return
    np.testing.assert_allclose(p, both / both.sum(axis=axis), rtol=1e-12)


def test_a_joint_table_spreads_its_pretend_counts_over_the_classes() -> None:
    X = {"a": [True, True, False, False, True], "b": [True, False, True, True, False]}
    p, counted, pretended = ask(JointTable(alpha=2), X, "mean")
    np.testing.assert_allclose(pretended, np.broadcast_to([2 * 3 / 5, 2 * 2 / 5], p.shape))
    np.testing.assert_allclose(
        p * (counted.sum(axis=0) + 4 * pretended), counted + pretended, rtol=1e-12
    )


def test_a_coin_counts_the_trues() -> None:
    for how, a in (("mle", 0.0), ("map", 1.0), ("mean", 2.0)):
        _, counted, pretended = ask(Bernoulli(prior=Beta(2, 5)), TRUTHS, how)
        np.testing.assert_array_equal(counted, [[2, 0], [2, 1]])
        assert (pretended == a).all()
    _, _, pretended = ask(Bernoulli(m=4), TRUTHS, "mean")
    np.testing.assert_allclose(pretended, [[2, 2], [2.4, 2.4]])


def test_a_rate_counts_what_it_is_a_rate_of() -> None:
    rows, events = [[3, 2], [2, 2]], [[9, 3], [1, 5]]
    for event, X, counts in (
        (Poisson(prior=Gamma(7, 1)), NUMBERS, events),
        (Exponential(prior=Gamma(7, 1)), NUMBERS, rows),
        (Geometric(prior=Beta(7, 1)), NUMBERS, rows),
    ):
        _, counted, pretended = ask(event, X, "mean")
        np.testing.assert_array_equal(counted, counts)
        assert (pretended == 7).all()
        assert (ask(event, X, "mle")[2] == 0).all()


def test_numbers_count_rows() -> None:
    for event, pretend in ((Gaussian(smoothing=3), 3), (KernelDensity(), 0)):
        _, counted, pretended = ask(event, NUMBERS, "mean")
        np.testing.assert_array_equal(counted, [[3, 2], [2, 2]])
        assert (pretended == pretend).all()
    assert (ask(Gaussian(smoothing=3), NUMBERS, "mle")[2] == 0).all()


def test_histogram_counts_rows_of_bins() -> None:
    _, counted, pretended = ask(Histogram(bins=5, smoothing=0, alpha=2.0), NUMBERS[:, :1], "mean")
    np.testing.assert_array_equal(counted.sum(axis=0), [3, 2])
    assert (pretended == 2).all()
