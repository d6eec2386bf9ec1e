"""The options estimate and smoothing of NaiveBayes: one meaning, on every table, never idle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from naively import Bernoulli, Beta, Categorical, Gaussian, Histogram, NaiveBayes, Text

TABLE = {
    "number": [1.5, 2.0, 7.5, 9.0, 2.5, None],
    "truth": [1, 0, 0, 1, None, 1],
    "flag": [True, False, None, True, True, False],
    "level": ["red", "blue", None, "red", "green", "red"],
    "time": np.array(
        ["2024-01-01", "2024-02-02", "2024-03-03", "2025-01-04", "NaT", "2025-02-01"],
        "datetime64[s]",
    ),
    "text": [
        "one two three four", "two five six one", "seven one two ten", None, "eight nine ten one",
        "one one two five",
    ],
}  # fmt: skip
Y = ["a", "b", "a", "b", "a", "b"]


def p_of(nb: NaiveBayes, how: str = "mean") -> np.ndarray:
    """The probabilities of the only block, by row and class."""
    ((_, tally),) = nb.tally_.blocks.items()
    (group,) = nb.model_.view.schema.groups
    return group.event.parameters(tally, how)["p"]


@pytest.mark.parametrize("smoothing", [1, 1.0, "laplace"])
@pytest.mark.parametrize("column", [[1, 1, 0, 0], [True, True, False, False], list("yynn")])
def test_laplace_in_two_classes(smoothing: Any, column: list) -> None:
    """(2 + 1) / (3 + 2) of three rows, (0 + 1) / (1 + 2) of one."""
    nb = NaiveBayes(smoothing=smoothing, weights=None).fit({"x": column}, ["a", "a", "a", "b"])
    p = p_of(nb)
    assert p[1 if column[0] in (1, True) and len(p) > 1 else 0].tolist() == pytest.approx(
        [float(Fraction(3, 5)), float(Fraction(1, 3))]
    )


@pytest.mark.parametrize("smoothing", ["laplace", "jeffreys", "auto", 0.7, 3])
@pytest.mark.parametrize("weights", ["loo", None])
def test_every_table_can_be_smoothed(smoothing: Any, weights: Any) -> None:
    nb = NaiveBayes(smoothing=smoothing, weights=weights).fit(TABLE, Y)
    p = nb.predict_proba(TABLE)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    count = {"laplace": 1.0, "jeffreys": 0.5}.get(smoothing, smoothing)
    if smoothing != "auto":
        as_number = NaiveBayes(smoothing=count, weights=weights).fit(TABLE, Y)
        np.testing.assert_array_equal(as_number.predict_proba(TABLE), p)
        for group in nb.model_.view.schema.of_columns:
            assert group.event.alpha == count


@pytest.mark.parametrize("smoothing", ["lots", -1, np.nan, np.inf, None, "1"])
def test_pseudo_counts_that_are_none(smoothing: Any) -> None:
    with pytest.raises(ValueError, match="smoothing must be 'auto', 'laplace', 'jeffreys' or a"):
        NaiveBayes(smoothing=smoothing).fit(TABLE, Y)


@pytest.mark.parametrize(
    ("options", "event", "message"),
    [
        ({"estimate": "mle"}, Bernoulli(estimate="mean"), "estimate='mle' has no effect.*Bern"),
        ({"smoothing": 2}, Gaussian(), "smoothing=2 has no effect.*'gaussian'"),
        ({"smoothing": "laplace"}, {("x", "z"): Gaussian()}, "smoothing='laplace' has no effect"),
        ({"estimate": "map"}, {"number": Histogram(estimate="mle")}, "estimate='map' has no"),
    ],
)
def test_an_option_that_has_no_effect_is_refused(options: dict, event: Any, message: str) -> None:
    table = {"x": [0, 1, 1, 0], "z": [1.0, 0.0, 1.0, 0.0]}
    with pytest.raises(ValueError, match=message):
        NaiveBayes(event, weights=None, **options).fit(table, [0, 1, 1, 0])


@pytest.mark.parametrize(
    "options",
    [
        {"estimate": "mle", "event_models": {"x": Gaussian()}},  # z is chosen
        {"estimate": "mle", "event_models": "gaussian"},
        {"estimate": "map", "event_models": Gaussian(), "class_prior": Beta(2, 2)},
        {"estimate": "mle", "event_models": Gaussian()},
        {"smoothing": 2, "event_models": {"x": "bernoulli", "z": Gaussian()}},
    ],
)
def test_an_option_that_has_some_effect_is_not(options: dict) -> None:
    table = {"x": [0, 1, 1, 0], "z": [1.0, 0.0, 1.0, 0.5]}
    NaiveBayes(weights=None, **options).fit(table, [0, 1, 1, 0])


def test_the_event_model_of_a_text_may_be_an_object_too() -> None:
    from naively import Multinomial

    texts = ["one two", "two three"]
    NaiveBayes(Text(), smoothing=2.0, weights=None).fit(texts, [0, 1])
    with pytest.raises(ValueError, match=r"smoothing=2\.0 has no effect"):
        NaiveBayes(Text(event=Multinomial()), smoothing=2.0, weights=None).fit(texts, [0, 1])


def test_the_mode_adds_the_pseudo_count_too() -> None:
    X, y = [[1], [1], [0], [0]], ["a", "a", "a", "b"]
    of = [
        NaiveBayes(smoothing=1, estimate=how, weights=None).fit(X, y).predict_proba(X)
        for how in ("mean", "map")
    ]
    np.testing.assert_array_equal(*of)


@pytest.mark.parametrize("kind", [int, float, np.uint8, np.float32])
def test_columns_of_zero_and_one_are_bernoulli(kind: Any) -> None:
    X = np.array([[1, 0, 2], [1, 1, 3], [0, 1, 5], [0, 0, 7]], kind)
    y = [1, 1, 0, 0]
    for table in (X, {name: X[:, j] for j, name in enumerate("abc")}):
        nb = NaiveBayes(weights=None).fit(table, y)
        events = {g.event.name: list(g.columns) for g in nb.model_.view.schema.groups}
        names = [*table] if isinstance(table, dict) else [0, 1, 2]
        assert events == {"bernoulli": names[:2], "histogram": names[2:]}
    coins = NaiveBayes(weights=None).fit(X[:, :2], y)
    assert coins.n_parameters_ == 5
    assert coins.n_joint_parameters_ == 7
    as_truth = NaiveBayes(weights=None).fit(X[:, :2].astype(bool), y)
    np.testing.assert_allclose(
        coins.predict_proba(X[:, :2]), as_truth.predict_proba(X[:, :2].astype(bool))
    )


@pytest.mark.parametrize("column", [[0, 0, 0, 0], [1, 2, 2, 1], [0, 1, 2, 1], [0.0, 0.5, 1, 1]])
def test_other_columns_of_numbers_are_not(column: list) -> None:
    nb = NaiveBayes(weights=None).fit({"x": column}, [1, 1, 0, 0])
    (group,) = nb.model_.view.schema.groups
    assert group.event.name == "histogram"


def test_missing_cells_leave_a_column_of_zero_and_one_what_it_is() -> None:
    nb = NaiveBayes(weights=None).fit(
        {"x": [1, None, 0, 1], "z": [0.0, 1.0, np.nan, 1]}, list("abab")
    )
    assert [g.event.name for g in nb.model_.view.schema.groups] == ["bernoulli"]


def test_levels_are_smoothed_by_their_own_pseudo_count() -> None:
    nb = NaiveBayes(smoothing="jeffreys", weights=None).fit({"x": list("rrb")}, list("aab"))
    (group,) = nb.model_.view.schema.groups
    assert group.event == Categorical(alpha=0.5)
