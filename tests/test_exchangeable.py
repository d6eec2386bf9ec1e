"""Rows are exchangeable: equal ones are as many rows, and only groups are left out together."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, load

N = 4_000


def values_that_repeat(kind: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of few different values, each likely in one class."""
    level = rng.integers(0, 6, N)
    price = np.array([19.99, 5.49, 120.0, 0.99, 42.42, 7.77])[level]
    day = pd.to_datetime("2021-03-01") + pd.to_timedelta(level * 37, "D")
    return {
        "doses": lambda: pd.DataFrame({"dose": price}),
        "zeros": lambda: pd.DataFrame({"x": np.where(level < 4, 0.0, rng.normal(9, 1, N))}),
        "a level and its price": lambda: pd.DataFrame(
            {"item": np.array(list("abcdef"))[level], "price": price}
        ),
        "days": lambda: pd.DataFrame({"day": day.where(level < 4, pd.Timestamp("2199-12-31"))}),
        "templates": lambda: pd.DataFrame(
            {"text": [f"job {n} ended on host {'uvwxyz'[n]} with {n} errors" for n in level]}
        ),
    }[kind]().assign(
        y=np.where((level < 4) != (rng.random(N) < 0.2), "p", "q"), known=level
    )  # fmt: skip


KINDS = ["doses", "zeros", "a level and its price", "days", "templates"]


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_repeat_are_learned_as_they_came(kind) -> None:
    table = values_that_repeat(kind, np.random.default_rng(0))
    X, y = table.drop(columns=["y", "known"]), table["y"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they are no copies
        nb = NaiveBayes().fit(X, y)
    p = nb.predict_proba(X)[:, 0]
    for low, right in ((True, 0.8), (False, 0.2)):
        there = (table["known"] < 4) == low
        assert p[there].mean() == pytest.approx(right, abs=0.05)
    assert nb.assess().log_loss < 0.55
    assert nb.assess(X, y, folds=5).log_loss < 0.55


def rows_of_groups(n: int, groups: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    of = np.sort(rng.integers(0, groups, n))
    X = pd.DataFrame(rng.normal(size=(n, 3)) + rng.normal(0, 0.5, (groups, 3))[of]).add_prefix("x")
    y = np.where(X["x0"] + X["x1"] + rng.normal(size=n) > 0, "a", "b")
    return X.assign(of=of.astype(str), y=y), of


def test_copies_are_the_groups_of_equal_rows() -> None:
    table, _ = rows_of_groups(120, 120)
    table = table.drop(columns="of").loc[np.repeat(np.arange(120), 4)]
    number = np.repeat(np.arange(120), 4)
    X = table.drop(columns="y")
    by_hand = NaiveBayes().fit(X, table["y"], groups=number)
    batches = (table.iloc[rows] for rows in np.array_split(np.arange(480), 7))
    whole = NaiveBayes().fit(table, "y", groups="copies")
    for nb in (whole, NaiveBayes().fit(batches, "y", groups="copies")):
        assert np.allclose(nb.predict_proba(X), by_hand.predict_proba(X), rtol=1e-9)
    alone = NaiveBayes().fit(X.iloc[::4], table["y"].iloc[::4])
    new = rows_of_groups(2_000, 50, seed=9)[0].drop(columns="of")
    assert whole.evaluate(new, "y").log_loss == pytest.approx(
        alone.evaluate(new, "y").log_loss, abs=0.02
    )
    found = whole.assess(table, "y", groups="copies")
    assert found.how == "10 folds by 'copies' (120 groups), refitted"
    with pytest.warns(UserWarning, match="groups='copies'"):
        assert found.log_loss > 1.2 * whole.assess(table, "y").log_loss
    with pytest.raises(ValueError, match="has a column 'copies' too"):
        NaiveBayes().fit(table.assign(copies=1), "y", groups="copies")


def test_equal_rows_of_other_labels_are_copies_too() -> None:
    X = pd.DataFrame({"x": np.repeat(np.random.default_rng(0).normal(size=50), 2)})
    y = np.tile(["a", "b"], 50)
    sample_of = NaiveBayes().fit(X, y, groups="copies")
    assert len(np.unique(sample_of._learned.sample.of(sample_of.model_).labels.group)) == 50


def copied_rows(kind: str) -> tuple[object, np.ndarray]:
    rng = np.random.default_rng(2)
    table, _ = rows_of_groups(400, 400)
    X, y = table.drop(columns=["y", "of"]), table["y"].to_numpy()
    match kind:
        case "each row five times":
            return X.loc[np.repeat(X.index, 5)], np.repeat(y, 5)
        case "a rare class oversampled":
            rare = rng.choice(np.flatnonzero(y == "a")[:40], 400)
            rows = np.append(np.flatnonzero(y == "b"), rare)
            return X.loc[rows], y[rows]
        case "texts three times":
            words = np.array([f"w{i}" for i in range(500)])
            texts = [" ".join(rng.choice(words, 8)) for _ in range(200)]
            return texts * 3, np.tile(y[:200], 3)
        case "a dozen levels":
            return pd.DataFrame({"x": rng.choice(list("abcdefghijkl"), 8_000)}), np.tile(y, 20)
        case "one column of doses":
            return rng.choice(rng.random(200).round(3), (8_000, 1)), np.tile(y, 20)
        case "ten truths":
            return rng.random((80_000, 10)) < 0.5, np.tile(y, 200)
    raise KeyError(kind)


@pytest.mark.parametrize(
    ("kind", "warns"),
    [
        ("each row five times", True),
        ("a rare class oversampled", True),
        ("texts three times", True),
        ("a dozen levels", False),
        ("one column of doses", False),
        ("ten truths", False),
    ],
)
def test_copies_are_warned_of_once_and_said_of_the_scores(kind, warns) -> None:
    X, y = copied_rows(kind)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        nb = NaiveBayes().fit(X, y)
    assert [str(one.message).count("groups='copies'") for one in said] == [1] * warns
    assert ("groups='copies'" in str(nb.assess())) == warns
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "copies" not in str(NaiveBayes().fit(X, y, groups="copies").assess())


def test_few_large_groups_are_all_in_the_sample() -> None:
    table = rows_of_groups(60_000, 6)[0]
    nb = NaiveBayes().fit(table, "y", groups="of")
    sample = nb._learned.sample.of(nb.model_)
    assert len(np.unique(sample.labels.group)) == 6
    assert np.bincount(sample.labels.group.astype(int)).min() > 1_000
    plain = NaiveBayes().fit(table.drop(columns="of"), "y")
    new = rows_of_groups(20_000, 40, seed=5)[0].drop(columns="of")
    assert nb.evaluate(new, "y").log_loss < plain.evaluate(new, "y").log_loss + 0.01
    assert nb.assess().log_loss < 0.6


def test_the_rest_of_a_large_group_is_left_out_too() -> None:
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(8), 4_000)
    X = {"site": np.array(list("abcdefgh"))[site].astype(object)}
    y = np.where(rng.random(32_000) < np.where(site % 2, 0.9, 0.1), "p", "q")
    nb = NaiveBayes().fit(X, y, groups=site)
    assert nb.assess().log_loss > 0.65  # of another site it says nothing
    assert NaiveBayes().fit(X, y).assess().log_loss < 0.4


@pytest.mark.parametrize(("n", "groups"), [(300, 12), (900, 300), (30_000, 7)])
def test_names_of_groups_are_no_data(n, groups) -> None:
    table, of = rows_of_groups(n, groups)
    X, y = table.drop(columns=["of", "y"]), table["y"]
    names = np.random.default_rng(3).permutation(groups)
    one, other = (
        NaiveBayes().fit(X, y, groups=said).predict_proba(X[:50])
        for said in (of, [f"site {names[i]}" for i in of])
    )
    assert np.allclose(one, other, rtol=1e-9)


def test_what_was_said_beside_labels_is_known_where_rows_are_predicted(tmp_path) -> None:
    table, _ = rows_of_groups(200, 20)
    table["day"] = pd.date_range("2024-01-01", periods=200).astype(str)
    nb = NaiveBayes(half_life="90d").fit(table, "y", groups="of", time="day")
    nb.save(tmp_path / "m.naively")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = nb.predict_proba(table)
        assert np.array_equal(load(tmp_path / "m.naively").predict_proba(table), p)
    assert np.array_equal(nb.predict_proba(table[["x0", "x1", "x2"]]), p)
