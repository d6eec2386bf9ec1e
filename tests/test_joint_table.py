"""The joint table: one die with a side for each (x, y), in fractions and on known distributions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from naively import Gaussian, JointTable, NaiveBayes
from tests.test_worked import ROWS, X, Y

Pure = partial(NaiveBayes, weights=None)


def posterior(row: tuple[int, ...], alpha: int) -> list[float]:
    """P(y | x) by counting whole rows; alpha of each row is shared among the classes."""
    joint = [
        Fraction(sum(r == (c, *row) for r in ROWS))
        + alpha * Fraction(sum(r[0] == c for r in ROWS), len(ROWS))
        for c in (0, 1)
    ]
    return [float(p / sum(joint)) if sum(joint) else 0.5 for p in joint]


@pytest.mark.parametrize("alpha", [0, 1, 3])
def test_the_course_table(alpha: int) -> None:
    nb = Pure(JointTable(alpha=alpha)).fit(X, Y)
    for row in product((0, 1), repeat=4):
        np.testing.assert_allclose(nb.predict_proba([row])[0], posterior(row, alpha), rtol=1e-14)
    sides = np.array([*product((0, 1), repeat=4)])
    np.testing.assert_allclose(np.exp(nb.predict_joint_log_proba(sides)).sum(), 1.0)


def test_a_row_never_seen_is_the_class_prior() -> None:
    for alpha in (0, 0.5, 10):
        nb = Pure(JointTable(alpha=alpha)).fit(X[1:], Y[1:])
        np.testing.assert_allclose(nb.predict_proba([[1, 1, 1, 1], [9, 9, 9, 9]]), [[0.4, 0.6]] * 2)
        given = Pure(JointTable(alpha=alpha), class_prior=[0.9, 0.1]).fit(X, Y)
        np.testing.assert_allclose(given.predict_proba([[1, 1, 1, 1]]), [[0.9, 0.1]])


# p(x1, x2, y) in twelfths: y is nearly x1 xor x2, which no naive Bayes can tell.
DIE = {
    (0, 0, "no"): 2, (0, 1, "yes"): 3, (1, 0, "yes"): 2, (1, 1, "no"): 2,
    (0, 0, "yes"): 1, (0, 1, "no"): 1, (1, 0, "no"): 1,
}  # fmt: skip


def test_on_a_known_distribution_it_is_the_bayes_optimal_classifier() -> None:
    """The distribution itself, as weights: then the table is exact, and so are its mistakes."""
    cells = [cell[:2] for cell in DIE]
    labels = [cell[2] for cell in DIE]
    weight = list(DIE.values())
    nb = Pure(JointTable(alpha=0)).fit(cells, labels, sample_weight=weight)
    wrong, least = Fraction(0), Fraction(0)
    for x in product((0, 1), repeat=2):
        sides = {c: Fraction(DIE.get((*x, c), 0), 12) for c in ("no", "yes")}
        expected = [float(sides[c] / sum(sides.values())) for c in ("no", "yes")]
        np.testing.assert_allclose(nb.predict_proba([x])[0], expected, rtol=1e-15, atol=1e-15)
        least += min(sides.values())
        wrong += sides[{"no": "yes", "yes": "no"}[nb.predict([x])[0]]]
    assert wrong == least == Fraction(3, 12)  # the Bayes error
    naive = Pure("bernoulli").fit(cells, labels, sample_weight=weight)
    mistakes = sum(n for (*x, c), n in DIE.items() if naive.predict([x])[0] != c)
    assert Fraction(mistakes, 12) > least


def test_parameters_double_with_each_column() -> None:
    for m in (1, 2, 5):
        rows = np.array([*product((False, True), repeat=m)])
        nb = Pure(JointTable()).fit(rows, np.arange(len(rows)) % 2)
        assert nb.n_parameters_ == nb.n_joint_parameters_ == 2 * (2**m - 1) + 1
    nb = Pure(JointTable()).fit([[True, False, True]], ["a"])  # a boolean may be either
    assert nb.n_parameters_ == 2**3 - 1


def test_more_rows_than_a_float_can_count() -> None:
    rows = np.random.default_rng(0).random((20, 1100)) < 0.5
    nb = Pure(JointTable()).fit(rows, np.arange(20) % 2)
    assert nb.n_parameters_ == 2**1101 - 1
    np.testing.assert_array_equal(nb.predict(rows), np.arange(20) % 2)
    np.testing.assert_allclose(nb.predict_proba(~rows), 0.5)


def test_tables_of_other_columns_do_not_merge() -> None:
    with pytest.raises(ValueError, match="cannot be merged"):
        Pure(JointTable()).fit(X, Y).merge(Pure(JointTable()).fit(X[:, :3], Y))


def test_some_columns_depend_on_each_other_and_the_rest_do_not() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "left": rng.choice(["no", "yes"], 2000),
            "right": rng.random(2000) < 0.5,
            "size": rng.normal(size=2000),
        }
    )
    y = (frame["left"] == "yes") ^ frame["right"]
    frame["size"] += y
    models = {"left": JointTable(), "right": JointTable(), "size": Gaussian()}
    nb = Pure(models).fit(frame, y)
    assert len(nb.schema_.groups) == 2
    assert nb.score(frame, y) == 1.0
    assert Pure().fit(frame, y).score(frame, y) < 0.8
    evidence = nb.explain(frame[:1])[0]
    assert evidence.column == ["class prior", "left, right", "size"]
    assert evidence.value[1] == (frame["left"][0], bool(frame["right"][0]))
    np.testing.assert_allclose(
        evidence.log_likelihood.sum(axis=0), nb.predict_joint_log_proba(frame[:1])[0]
    )
    assert nb.explain({"left": ["?"], "right": [True], "size": [0.0]})[0].value[1] == "(never seen)"
    missing = {"left": [None], "right": [True], "size": [np.nan]}
    np.testing.assert_allclose(np.exp(nb.class_log_prior_), nb.predict_proba(missing)[0])


def test_what_it_draws_has_its_probabilities() -> None:
    nb = Pure(JointTable(alpha=0.5)).fit(X, Y)
    drawn, y = nb.inspect.sample(40_000, random_state=0)
    assert drawn.dtype.kind == "i"
    sides = np.array([*product((0, 1), repeat=4)])
    p = np.exp(nb.predict_joint_log_proba(sides))
    place = drawn @ [8, 4, 2, 1]
    seen = np.array([np.bincount(place[y == c], minlength=16) for c in (0, 1)]).T
    assert p.sum() == pytest.approx(1.0)
    assert stats.chisquare(seen.ravel(), 40_000 * p.ravel()).pvalue > 1e-4


def test_a_plain_sample() -> None:
    die = JointTable(alpha=1).fit([(0, 0), (0, 1), (0, 0), (1, 0)])
    assert die.mle == {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25}
    assert die.mean == {(0, 0): 3 / 8, (0, 1): 2 / 8, (1, 0): 2 / 8}
    np.testing.assert_allclose(die.posterior.mean(), [3 / 8, 2 / 8, 2 / 8, 1 / 8])
    np.testing.assert_allclose(die.predictive.p, [3 / 8, 2 / 8, 2 / 8, 1 / 8])
