"""The leave-one-out table: of batches together, of the impossible; and the cost of a column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from naively import Bernoulli, NaiveBayes
from naively.counting.leave_one_out import Part
from naively.fitting.leave_one_out import LeaveOneOut, _centred
from tests.learning import coded

INF = np.inf


def test_what_is_impossible_is_very_unlikely_beside_the_best_class() -> None:
    table = np.array(
        [[[-1.0, -3.0, -2.0], [-1.0, -INF, -4.0]], [[-INF, -INF, -INF], [-INF, -9.0, -INF]]]
    )
    expected = np.array(
        [
            [[-1.0, -3.0, -2.0], [-1.0, -701.0, -4.0]],
            [[-700.0, -700.0, -700.0], [-709.0, -9.0, -709.0]],
        ]
    )
    expected -= expected.mean(axis=2, keepdims=True)
    np.testing.assert_allclose(_centred(table), expected)


def test_batches_with_words_of_fewer_texts_have_nothing_of_the_rest() -> None:
    rng = np.random.default_rng(0)
    parts = [Part("t", "text", 0), Part("g", "x"), Part("t", "text", 1)]

    def batch(of: list[Part], n: int, classes: str) -> LeaveOneOut:
        table, prior = rng.normal(size=(len(of), n, 2)), rng.normal(size=(n, 2))
        labels = coded(np.array([*classes] * n)[:n] == "b", 2, rng.random(n))
        kinds: Any = ["column" if part.group == "g" else "band" for part in of]
        return LeaveOneOut(of, [True] * len(of), kinds, table, prior, prior, labels)

    few, all_of_them = batch([parts[1], parts[0]], 3, "ab"), batch(parts, 4, "ba")
    for first, second in ((few, all_of_them), (all_of_them, few)):
        both = LeaveOneOut.join([first, second])
        assert both.parts == parts
        assert both.kinds == ["band", "column", "band"]
        of_few = np.stack([few.table[1], few.table[0], np.zeros((3, 2))])
        tables = [of_few if of is few else of.table for of in (first, second)]
        np.testing.assert_array_equal(both.table, np.concatenate(tables, axis=1))
        np.testing.assert_array_equal(both.prior, np.concatenate([first.prior, second.prior]))
        labels = [*first.labels.classes[first.labels.codes]]
        labels += [*second.labels.classes[second.labels.codes]]
        assert [*both.labels.classes[both.labels.codes]] == labels
    same = LeaveOneOut.join([few, few])
    np.testing.assert_array_equal(same.table, np.concatenate([few.table, few.table], axis=1))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_cost_of_a_column_is_what_the_loss_grows_without_it_by_brute_force(
    weighted: bool,
) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (40, 3)), np.repeat([0, 1], [25, 15])
    X[:, 0] = np.where(rng.random(40) < 0.85, y, X[:, 0])
    # Equal rows weigh the same: of others the mean of their weights is left out.
    weight = np.where(X[:, 1] == 1, 0.5, 1.0) if weighted else np.ones(40)
    nb = NaiveBayes(Bernoulli(alpha=1.0), weights=None).fit(
        {f"x{j}": X[:, j].astype(bool) for j in range(3)}, y, weight if weighted else None
    )

    def loss(columns: list[int]) -> float:
        log_p = np.empty(40)
        for i in range(40):
            others = weight * (np.arange(40) != i)
            rows = np.array([others[y == c].sum() for c in (0, 1)])
            joint = np.log(rows + 0.5)
            for j in columns:
                true = np.array([others[(y == c) & (X[:, j] == 1)].sum() for c in (0, 1)])
                p = (true + 1) / (rows + 2)
                joint += np.log(p if X[i, j] else 1 - p)
            log_p[i] = joint[y[i]] - np.logaddexp.reduce(joint)
        return float(-np.average(log_p, weights=weight))

    cost = nb.assess().cost
    assert set(cost) == {"x0", "x1", "x2"}
    for j in range(3):
        rest = [other for other in range(3) if other != j]
        assert cost[f"x{j}"] == pytest.approx(loss(rest) - loss([0, 1, 2]), abs=1e-10)
