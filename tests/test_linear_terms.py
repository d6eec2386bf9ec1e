"""Lines and steps, the functions of the linear part, against NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.counting.axis import Levels
from naively.counting.block import Codes
from naively.fitting import seek as fitting
from naively.terms.functions import Line, Step
from tests.alike import linear_of, table
from tests.learning import dense


def of_numbers(x: Any, weight: Any = None, *, indicator: bool = False) -> Line | None:
    weight = None if weight is None else np.asarray(weight, np.float64)
    (line,) = fitting.lines(np.asarray(x, np.float64)[None], weight, indicator=indicator)
    return line and line()


def of_levels(cells: list[Any], weight: Any = None) -> list[Step]:
    levels = tuple(dict.fromkeys(cell for cell in cells if cell is not None))
    codes = np.array([[-1 if cell is None else levels.index(cell)] for cell in cells], np.int32)
    weight = None if weight is None else np.asarray(weight, np.float64)
    return [of() for of in fitting.functions_of(Codes(codes, Levels(("x",), (levels,))), weight)[0]]  # type: ignore[misc]


@pytest.mark.parametrize("n", [3, 50, 200, 999])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_line_is_clipped_and_standardised(n: int, missing: float) -> None:
    rng = np.random.default_rng(n)
    x = rng.lognormal(size=n)
    x[rng.random(n) < missing] = np.nan
    line = of_numbers(x)
    there = np.sort(x[~np.isnan(x)])
    tail = int(0.005 * len(there))
    assert line is not None
    assert (line.low, line.high) == (there[tail], there[len(there) - 1 - tail])
    clipped = np.clip(there, line.low, line.high)
    np.testing.assert_allclose([line.centre, line.scale], [clipped.mean(), clipped.std()])
    z = line.of(dense(x[:, None]), 0)
    np.testing.assert_array_equal(z[np.isnan(x)], 0.0)
    np.testing.assert_allclose([z.sum(), np.square(z).sum()], [0.0, len(there)], atol=1e-9)


@pytest.mark.parametrize("n", [5, 60, 400, 1000])
def test_a_weight_is_so_many_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    x, times = rng.normal(size=n).round(1), rng.integers(1, 6, n)
    x[0] = np.nan
    weighted, repeated = of_numbers(x, times), of_numbers(np.repeat(x, times))
    assert weighted is not None
    assert repeated is not None
    np.testing.assert_allclose(
        list(vars(weighted).values()), list(vars(repeated).values()), rtol=1e-12, atol=1e-12
    )
    levels = [None if i % 9 == 0 else "abcdefghijk"[i * i % 11] for i in range(n)]
    steps = of_levels(levels, times), of_levels(np.repeat(np.array(levels, object), times).tolist())
    assert [step.level for step in steps[0]] == [step.level for step in steps[1]]
    for a, b in zip(*steps, strict=True):
        np.testing.assert_allclose([a.centre, a.scale], [b.centre, b.scale], rtol=1e-12)


@pytest.mark.parametrize(
    "x", [[], [np.nan] * 9, [4.0] * 9, [1e9, 1e9 + 1e-6] * 9, [1e-200, 2e-200]], ids=str
)
def test_numbers_that_do_not_differ_have_no_line(x: list[float]) -> None:
    assert of_numbers(x) is None


def test_huge_and_infinite_numbers_have_finite_lines() -> None:
    for x in ([1e300, -1e300, 0.0], [np.inf, -np.inf, 0.0, 1.0], [np.inf, 1.0]):
        line = of_numbers(x)
        assert line is not None
        z = line.of(dense(np.array(x)[:, None]), 0)
        assert np.isfinite(z).all()
        assert np.isfinite(list(vars(line).values())).all()


def test_a_rare_truth_has_no_large_value() -> None:
    line = of_numbers([1.0] + [0.0] * 999, indicator=True)
    assert line == Line(0.0, 1.0, 0.001, 0.2)


def test_steps_are_of_the_commonest_levels() -> None:
    cells = [level for i, level in enumerate("abcdefghij") for _ in range(20 - i)]
    steps = of_levels([*cells, None, None])
    assert [step.level for step in steps] == list("abcdefgh")
    share = np.array([(20 - i) / len(cells) for i in range(8)])
    np.testing.assert_allclose([step.centre for step in steps], share)
    scale = np.maximum(np.sqrt(share * (1 - share)), 0.2)
    np.testing.assert_allclose([step.scale for step in steps], scale)


def test_rare_levels_have_no_step_and_two_levels_one() -> None:
    assert [step.level for step in of_levels(["a"] * 9 + ["b"] * 5 + ["c"] * 4)] == ["a", "b"]
    assert [step.level for step in of_levels(["a"] * 9 + ["b"] * 10)] == ["b"]
    assert of_levels(["a"] * 9) == []
    assert of_levels([None] * 9) == []


def test_a_level_that_is_unknown_is_no_step() -> None:
    step = Step("gone", 0.25, 0.5)
    codes = Codes(np.array([[0], [1], [-1]], np.int32), Levels(("x",), (("here",),)))
    np.testing.assert_array_equal(step.of(codes, 0), [-0.5, -0.5, 0.0])
    here = replace(step, level="here")
    np.testing.assert_array_equal(here.of(codes, 0), [1.5, -0.5, 0.0])


def test_of_many_columns_those_that_say_most_have_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = table(0)
    monkeypatch.setattr(fitting, "FUNCTIONS", 2)
    rng = np.random.default_rng(77)
    noise = {f"noise {j}": rng.normal(size=len(y)) for j in range(4)}
    every = linear_of(NaiveBayes().fit(noise | X, y)).of
    terms = [term for term in every if isinstance(term.function, Line | Step)]  # rules have steps
    assert len(terms) == 2
    assert {term.column for term in terms} <= set(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_together_have_the_lines_of_each_alone(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.lognormal(size=(6, 300))
    x[1, rng.random(300) < 0.2] = np.nan
    x[2], x[3], x[4, :-1] = np.nan, 7.0, 5.0
    weight = rng.choice([0.5, 1.0, 3.0], 300) if weighted else None
    alone = [of_numbers(column, weight) for column in x]
    assert [line and line() for line in fitting.lines(x, weight, indicator=False)] == alone
    assert [line is None for line in alone] == [False, False, True, True, False, False]
