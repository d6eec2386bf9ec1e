"""Marginals and conditionals of a joint table: sums of exact fractions over all possible rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from naively import Categorical, JointTable, NaiveBayes

ROWS = [
    ("sun", True, 1), ("sun", False, 1), ("rain", True, 2), ("rain", True, 2), ("rain", True, 1),
    ("sun", False, 3), ("rain", False, 2),
]  # fmt: skip
LABELS = ["go", "go", "stay", "stay", "go", "go", "stay"]
NAMES = ["sky", "wet", "n"]
TABLE = {name: [row[j] for row in ROWS] for j, name in enumerate(NAMES)}
VALUES = [("sun", "rain"), (False, True), (1, 2, 3)]
EVERY = [*product(*VALUES)]


def brute(alpha: Fraction) -> dict[tuple[Any, ...], Fraction]:
    """p(class, row) of every possible row: p(class) times the smoothed p(row | class)."""
    n, found = len(ROWS), {}
    for label in ("go", "stay"):
        of_class = [row for row, own in zip(ROWS, LABELS, strict=True) if own == label]
        for row in EVERY:
            shared = Fraction(n * of_class.count(row), len(of_class))
            p = (shared + alpha) / (n + alpha * len(EVERY))
            found[label, *row] = Fraction(len(of_class), n) * p
    return found


def rows_of(table: Any) -> dict[tuple[Any, ...], float]:
    """Return the probability of each row of a table."""
    columns = table.to_dict()
    *names, p = columns.values()
    return dict(zip(zip(*names, strict=True), p, strict=True))


@pytest.mark.parametrize("alpha", [0, 0.5, 3])
@pytest.mark.parametrize(
    "asked", [["sky"], ["class"], ["n", "wet"], ["class", "sky"], ["wet", "class", "n", "sky"]]
)
def test_marginals_are_sums(alpha: float, asked: list[str]) -> None:
    nb = NaiveBayes(JointTable(alpha=alpha), weights=None).fit(TABLE, LABELS)
    found = nb.inspect.marginal(asked)
    place = [["class", *NAMES].index(name) for name in asked]
    expected: dict[tuple[Any, ...], Fraction] = {}
    for cell, p in brute(Fraction(alpha)).items():
        key = tuple(cell[i] for i in place)
        expected[key] = expected.get(key, Fraction(0)) + p
    near = {key: pytest.approx(float(p), abs=1e-15) for key, p in expected.items()}
    assert rows_of(found) == near
    assert found.p.sum() == pytest.approx(1)
    assert list(found.to_dict()) == [*asked, "probability"]


@pytest.mark.parametrize("alpha", [0, 2])
@pytest.mark.parametrize(
    ("of", "given"), [("wet", "sky"), (["class"], ["n", "wet"]), (["sky", "n"], ["class"])]
)
def test_conditionals_are_ratios_of_sums(alpha: int, of: Any, given: Any) -> None:
    nb = NaiveBayes(JointTable(alpha=alpha), weights=None).fit(TABLE, LABELS)
    found = nb.inspect.conditional(of, given)
    given, of = ([one] if isinstance(one, str) else one for one in (given, of))
    place = [["class", *NAMES].index(name) for name in [*given, *of]]
    joint, total = {}, {}
    for cell, p in brute(Fraction(alpha)).items():
        key = tuple(cell[i] for i in place)
        joint[key] = joint.get(key, Fraction(0)) + p
        total[key[: len(given)]] = total.get(key[: len(given)], Fraction(0)) + p
    for key, p in rows_of(found).items():
        below = total[key[: len(given)]]
        assert p == (
            pytest.approx(float(joint[key] / below))
            if below
            else pytest.approx(np.nan, nan_ok=True)
        )
    sums = found.p.sum(axis=tuple(range(len(given), found.p.ndim)))
    assert np.isnan(sums).any() == any(not t for t in total.values())
    np.testing.assert_allclose(sums[~np.isnan(sums)], 1)


def test_the_class_given_all_columns_is_the_posterior() -> None:
    nb = NaiveBayes(JointTable(alpha=1), weights=None).fit(TABLE, LABELS)
    found = rows_of(nb.inspect.conditional("class", NAMES))
    rows = {name: [row[j] for row in EVERY] for j, name in enumerate(NAMES)}
    for row, p in zip(EVERY, nb.predict_proba(rows), strict=True):
        assert [found[(*row, label)] for label in nb.classes_] == pytest.approx(p.tolist())


def test_of_a_plain_sample_there_is_no_class() -> None:
    estimate = JointTable(alpha=1).fit(ROWS)
    expected = {row: Fraction(ROWS.count(row) + 1, len(ROWS) + len(EVERY)) for row in EVERY}
    found = rows_of(estimate.marginal([0, 1, 2]))
    assert found == {row: pytest.approx(float(p)) for row, p in expected.items()}
    wet = rows_of(estimate.conditional("x1", given=0))
    for (sky, truth), p in wet.items():
        below = sum(q for row, q in expected.items() if row[0] == sky)
        assert p == pytest.approx(
            float(sum(q for row, q in expected.items() if row[:2] == (sky, truth)) / below)
        )
    mle = JointTable(estimate="mle").fit(ROWS)
    assert rows_of(mle.marginal(0)) == {
        ("sun",): pytest.approx(3 / 7),
        ("rain",): pytest.approx(4 / 7),
    }
    named = JointTable(columns=NAMES).fit(ROWS)
    assert list(named.marginal("sky").to_dict()) == ["sky", "probability"]
    with pytest.raises(
        ValueError, match="no column 'class' in the joint table of 'x0', 'x1', 'x2'"
    ):
        estimate.marginal("class")


def test_a_condition_that_never_holds_is_undefined() -> None:
    nb = NaiveBayes(JointTable(alpha=0), weights=None).fit({"a": [0, 1], "b": [True, True]}, [0, 1])
    assert "undefined" in str(nb.inspect.conditional("a", given="b"))


def test_wrong_columns_are_named() -> None:
    nb = NaiveBayes(JointTable()).fit(TABLE, LABELS)
    said = "no column 'snow' in the joint table of 'sky', 'wet', 'n'"
    with pytest.raises(ValueError, match=said):
        nb.inspect.marginal("snow")
    with pytest.raises(ValueError, match="A column is named twice"):
        nb.inspect.conditional("sky", given=["sky", "wet"])
    with pytest.raises(ValueError, match=r"learn with NaiveBayes\(JointTable\(\)\)"):
        NaiveBayes().fit(TABLE, LABELS).inspect.marginal("sky")
    with pytest.raises(ValueError, match="Categorical has no joint probabilities of columns"):
        Categorical().fit(["a", "b"]).marginal(0)
    truths = np.random.default_rng(0).random((20, 1100)) < 0.5
    many = NaiveBayes(JointTable()).fit(truths, np.arange(20) % 2)
    np.testing.assert_allclose(many.inspect.marginal([3, 4]).p.sum(), 1)
    with pytest.raises(ValueError, match="name fewer columns"):
        many.inspect.marginal(list(range(30)))
