"""Sums, differences and ratios of two columns, and numbers that are names, as evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from naively import NaiveBayes, load
from naively.model.model import Weights
from naively.terms.functions import Combined, Is

Table = pd.DataFrame


def noisy(rng: np.random.Generator, true: np.ndarray) -> np.ndarray:
    """Return labels, of which one in twenty is wrong."""
    return np.where(true ^ (rng.random(len(true)) < 0.05), "yes", "no")


def difference(rng: np.random.Generator, n: int) -> tuple[Table, np.ndarray]:
    opened = rng.normal(1000, 200, n).round()
    closed = (opened + rng.normal(0, 60, n)).round()
    X = {"opened": opened, "closed": closed, "x": rng.normal(size=n), "z": rng.normal(size=n)}
    return pd.DataFrame(X), noisy(rng, opened - closed > 20)


def ratio(rng: np.random.Generator, n: int) -> tuple[Table, np.ndarray]:
    income = np.exp(rng.normal(10, 0.8, n)).round(2)
    debt = (income * np.exp(rng.normal(-1, 0.7, n))).round(2)
    X = {"income": income, "debt": debt, "x": rng.normal(size=n)}
    return pd.DataFrame(X), noisy(rng, debt / income > 0.4)


def persons(rng: np.random.Generator, n: int) -> tuple[Table, np.ndarray]:
    of = rng.integers(0, n // 6, n)
    rate = np.random.default_rng(9).beta(0.3, 0.3, n)
    X = pd.DataFrame({"person": 1000 + 7 * of, "x": rng.normal(size=n)})
    return X, np.where(rng.random(n) < rate[of], "yes", "no")


MADE: dict[str, Callable[..., tuple[Table, np.ndarray]]] = {
    "difference": difference,
    "ratio": ratio,
    "persons": persons,
}


@pytest.fixture(scope="module", params=MADE)
def fitted(request: Any) -> tuple[NaiveBayes, Table, np.ndarray]:
    X, y = MADE[request.param](np.random.default_rng(0), 1500)
    return NaiveBayes().fit(X, y), X, y


def test_a_column_made_of_two_looks_as_it_would_if_the_table_had_it(tmp_path: Path) -> None:
    X, y = difference(np.random.default_rng(0), 1500)
    nb = NaiveBayes(derived=["opened - closed"]).fit(X, y)
    view = nb.inspect.column("opened - closed")
    made = pd.DataFrame({"opened - closed": X["opened"] - X["closed"]})
    known = NaiveBayes("histogram", weights=None).fit(made, y).inspect.column(0)
    np.testing.assert_array_equal(view.x, known.x)
    np.testing.assert_allclose(view.density, known.density, rtol=1e-12)
    nb.save(tmp_path / "a")
    with pytest.raises(ValueError, match="'opened - closed' is made of two and not counted"):
        load(tmp_path / "a").inspect.column("opened - closed")


def weights_of(nb: NaiveBayes) -> Weights:
    assert nb.weights_ is not None
    return nb.weights_


def made(nb: NaiveBayes) -> set[str]:
    return set(map(str, weights_of(nb).linear.made))


def names(nb: NaiveBayes) -> set[Any]:
    of = weights_of(nb).linear.of
    return {term.column for term in of if isinstance(term.function, Is)}


def loss(nb: NaiveBayes, X: Table, y: np.ndarray) -> float:
    p = nb.predict_proba(X)
    return float(-np.log(p[np.arange(len(y)), (y == "yes").astype(int)]).mean())


@pytest.mark.parametrize("interactions", [None, "auto"])
@pytest.mark.parametrize("of", ["difference", "ratio"])
def test_what_two_columns_say_together_is_nearly_all_found(of: str, interactions: Any) -> None:
    rng = np.random.default_rng(1)
    (X, y), test = MADE[of](rng, 4000), MADE[of](rng, 2000)
    least = -(0.05 * np.log(0.05) + 0.95 * np.log(0.95))
    nb = NaiveBayes(interactions=interactions).fit(X, y)
    assert loss(nb, *test) < least + 0.035
    assert loss(NaiveBayes(derived=None).fit(X, y), *test) > least + 0.08
    assert {"closed - opened", "debt / income"} & made(nb)


def test_persons_are_known_by_their_numbers() -> None:
    X, y = persons(np.random.default_rng(0), 3000)
    test = persons(np.random.default_rng(1), 1000)
    test[0]["person"] = 1000 + 7 * ((test[0]["person"] - 1000) // 7 % 166)
    nb = NaiveBayes().fit(X, y)
    assert names(nb) == {"person"}
    assert not names(NaiveBayes().fit(X, y, groups=X["person"]))
    assert "count by themselves" in str(nb.schema_)
    # A person who never came has no evidence of a name.
    known, unknown = nb.explain(pd.DataFrame({"person": [1000.0, 1000.5], "x": [0.0, 0.0]}))
    assert np.abs(known.log_likelihood[known.column.index("person")]).max() > 0.5
    assert np.abs(unknown.log_likelihood[unknown.column.index("person")]).max() < 0.5


def test_explanations_sum_to_the_scores(fitted: tuple[NaiveBayes, Table, np.ndarray]) -> None:
    nb, X, _ = fitted
    for row, joint in zip(nb.explain(X[:20]), nb.predict_joint_log_proba(X[:20]), strict=True):
        total = row.log_likelihood.sum(axis=0)
        np.testing.assert_allclose(total - total[0], joint - joint[0], atol=1e-9)
    lines = {name for row in nb.explain(X[:20]) for name in row.column}
    assert {title for title in made(nb) if title in lines} or names(nb)


def test_a_missing_cell_of_two_adds_nothing(fitted: tuple[NaiveBayes, Table, np.ndarray]) -> None:
    nb, X, _ = fitted
    some = X[:5].astype(float)
    some.iloc[:, 0] = np.nan
    for row in nb.explain(some):
        assert not any(X.columns[0] in name and name != X.columns[0] for name in row.column)


def test_it_is_kept_by_files_streams_single_rows_and_partial_fit(
    fitted: tuple[NaiveBayes, Table, np.ndarray], tmp_path: Path
) -> None:
    nb, X, y = fitted
    p = nb.predict_proba(X)
    nb.save(tmp_path / "m.naively")
    np.testing.assert_array_equal(load(tmp_path / "m.naively").predict_proba(X), p)
    one = nb.predict_proba({name: [X[name].iloc[3].item()] for name in X})
    np.testing.assert_allclose(one[0], p[3], atol=1e-14)
    streamed = NaiveBayes().fit(pl.DataFrame({**X.to_dict("list"), "y": y}).lazy(), "y")
    np.testing.assert_allclose(streamed.predict_proba(X), p, atol=1e-9)
    order = np.random.default_rng(0).permutation(len(y))
    other = NaiveBayes().fit(X.iloc[order][X.columns[::-1]], y[order])
    np.testing.assert_allclose(other.predict_proba(X), p, atol=1e-9)
    assert made(other) == made(nb)
    more = load(tmp_path / "m.naively").partial_fit(X[:3], y[:3])
    assert (made(more), names(more)) == (made(nb), names(nb))
    gone = more.forget(X[:3], y[:3])
    np.testing.assert_allclose(gone.predict_proba(X), p, atol=1e-9)


def test_merged_models_choose_again_and_added_ones_have_the_mean_of_both() -> None:
    rng = np.random.default_rng(3)
    (X, y), (X2, y2), test = (difference(rng, n) for n in (1000, 1000, 1000))
    a, b = (NaiveBayes(derived=["opened - closed"]).fit(*of) for of in ((X, y), (X2, y2)))
    added = (a.model_ + b.model_).weights
    assert added is not None
    (mine, theirs), half = (weights_of(a).linear, weights_of(b).linear), added.linear
    assert {*half.of} == {*mine.of} | {*theirs.of}
    some = next(of for of in half.of if of.column in half.made)
    both = np.array([of.of.get(some, (0.0, 0.0)) for of in (mine, theirs)])
    np.testing.assert_allclose(half.of[some], both.mean(axis=0), atol=1e-12)
    whole = NaiveBayes(derived=["opened - closed"]).fit(pd.concat([X, X2]), np.append(y, y2))
    merged = a.merge(b)
    assert made(merged) == made(whole)
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    assert loss(merged, *test) < 0.3


def test_of_noise_nothing_is_made() -> None:
    rng, chosen = np.random.default_rng(0), 0
    for _ in range(8):
        X = pd.DataFrame(rng.normal(size=(600, 8)).round(1), columns=list("abcdefgh"))
        nb = NaiveBayes().fit(X, rng.choice(["p", "q"], 600))
        chosen += bool(made(nb) or names(nb))
    assert chosen <= 1


def test_columns_may_be_kept_out() -> None:
    X, y = ratio(np.random.default_rng(0), 1500)
    kept = NaiveBayes(interactions={"without": ["debt"]}).fit(X, y)
    assert not any("debt" in title for title in made(kept))
    assert not made(NaiveBayes(derived=None).fit(X, y))
    assert made(NaiveBayes(derived=["debt + 0.5 * income"]).fit(X, y)) == {"debt + 0.5 * income"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("debt / colour", "not both numbers"),
        ("debt - pay", "no sum, difference or ratio .* are income, debt, x"),
        ("debt - 3 * income", "a factor is a power of two"),
        ("debt / 2 * income", "a factor is a power of two"),
        ("debt - 0 * income", "a factor is a power of two"),
        ("debt - 1.2.3 * income", "a factor is a power of two"),
    ],
)
def test_what_cannot_be_made_is_said(asked: str, said: str) -> None:
    X, y = ratio(np.random.default_rng(0), 300)
    X["colour"] = np.where(X["x"] > 0, "red", "blue")
    with pytest.raises(ValueError, match=said):
        NaiveBayes(derived=[asked]).fit(X, y)
    asked_too = {"monotone": {"debt": 1}}
    with pytest.raises(ValueError, match="without 'debt', or monotone in it"):
        NaiveBayes(derived=["debt / income"], interactions=asked_too).fit(X, y)
    with pytest.raises(ValueError, match="needs weights='loo'"):
        NaiveBayes(derived=["debt / income"], weights=None).fit(X, y)


def test_times_less_times_are_durations() -> None:
    rng = np.random.default_rng(0)
    opened = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 3_000_000, 1500), "s")
    took = pd.to_timedelta(rng.gamma(2, 86_400, 1500), "s")
    y = noisy(rng, np.array(took > pd.Timedelta(days=2)))
    X = pd.DataFrame({"opened": opened, "closed": opened + took})
    nb = NaiveBayes().fit(X, y)
    assert made(nb) == {"closed - opened"}
    (value,) = (v for c, v in zip(*line_of(nb, X), strict=True) if c == "closed - opened")
    assert value == str(pd.Timedelta(took[0]).round("s").to_pytimedelta())
    with pytest.raises(ValueError, match="of two times only the difference"):
        NaiveBayes(derived=["closed + opened"]).fit(X, y)


def line_of(nb: NaiveBayes, X: Table) -> tuple[list[str], list[Any]]:
    (row,) = nb.explain(X[:1])
    return row.column, row.value


def test_a_ratio_by_zero_and_numbers_past_all_are_missing() -> None:
    by_zero = Combined("a", "/", "b").of(np.array([1.0, 1.0]), np.array([0.0, 4.0]))
    np.testing.assert_array_equal(by_zero, [np.nan, 0.25])
    far = Combined("a", "-", "b", 3).of(np.array([np.inf]), np.array([np.inf]))
    assert np.isnan(far[0])
    assert str(Combined("a", "-", "b", 2)) == "a - 4 * b"


def test_columns_that_vary_as_much_are_taken_in_one_order() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.permutation(600) / 600, rng.permutation(600) / 600
    y = noisy(rng, a - b > 0.1)
    one, other = (
        NaiveBayes().fit(pd.DataFrame({name: {"a": a, "b": b}[name] for name in names}), y)
        for names in ("ab", "ba")
    )
    assert made(one) == made(other) != set()
    X = pd.DataFrame({"a": a, "b": b})
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-12)


def test_scales_that_are_far_apart_are_left_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=200) * 1e150, "b": rng.normal(size=200) * 1e-160}
    nb = NaiveBayes().fit(X, rng.choice(["p", "q"], 200))
    nb.save(tmp_path / "m.naively")
    assert np.isfinite(load(tmp_path / "m.naively").predict_proba(X)).all()
    assert str(Combined("a", "+", "b", 20)) == "a + 1048576 * b"


def test_models_of_what_was_given_and_of_what_was_found_merge_in_any_order() -> None:
    rng = np.random.default_rng(3)
    tables = [difference(rng, 800), difference(rng, 800)]
    for other in ("auto", ["closed + opened"]):
        asked = [{"derived": ["opened - closed"]}, {"derived": other}]
        both = [
            NaiveBayes(**asked[i])
            .fit(*tables[i])
            .merge(NaiveBayes(**asked[1 - i]).fit(*tables[1 - i]))
            for i in (0, 1)
        ]
        p, q = (nb.predict_proba(tables[0][0]) for nb in both)
        np.testing.assert_allclose(p, q, atol=1e-9)


def test_rows_that_were_copied_make_no_names() -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(1500) < 0.05, "rare", "often")
    X = pd.DataFrame({name: rng.normal(y == "rare") for name in "abcd"})
    rows = np.append(np.flatnonzero(y == "often"), rng.choice(np.flatnonzero(y == "rare"), 1400))
    with pytest.warns(UserWarning, match="Nearly every row of class 'rare' came more than once"):
        nb = NaiveBayes().fit(X.iloc[rows], y[rows])
    assert not names(nb)
    assert not made(nb)
