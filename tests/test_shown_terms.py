"""Views of a model with missing cells, linear terms and products: what they say of these."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from naively import Bernoulli, Categorical, Gaussian, NaiveBayes
from naively.inspect.odds import strongest
from tests.commands import run
from tests.linear_parts import with_linear_part
from tests.reported import table, with_holes

Y = "y"


@pytest.fixture(scope="module")
def learned() -> tuple[pd.DataFrame, np.ndarray]:
    X = with_holes(table())
    return X.drop(columns=Y), X[Y].to_numpy()


@pytest.fixture(scope="module")
def nb(learned: Any) -> NaiveBayes:
    return with_linear_part(NaiveBayes().fit(*learned), products=3)


def test_a_schema_has_a_line_for_each_column_and_says_where_missing_cells_are_evidence(
    nb: NaiveBayes, learned: Any
) -> None:
    X, _ = learned
    lines = str(nb.schema_).splitlines()
    assert [line.split("  ")[0] for line in lines] == [*X, "when (weekday)"]
    said = [line.endswith("; missing cells are evidence") for line in lines]
    assert said == [True] * len(X.columns) + [False]
    assert set(nb.schema_.columns) == {*X, *nb.schema_.derived[:1]}
    whole = NaiveBayes().fit(X.dropna(), learned[1][X.notna().all(axis=1)])
    assert "missing" not in str(whole.schema_)


def test_a_schema_of_many_columns_lists_those_with_missing_cells() -> None:
    X = np.random.default_rng(0).normal(size=(60, 40))
    X[:20, [3, 7]] = np.nan
    lines = str(NaiveBayes().fit(X, [0, 1] * 30).schema_).splitlines()
    first = ", ".join(f"'x{j}'" for j in range(10))
    assert lines == [
        f"histogram: {first} and 30 more (numbers)",
        "missing cells are evidence: 'x3', 'x7'",
    ]


def test_weights_say_what_the_linear_part_is(nb: NaiveBayes) -> None:
    *_, last = str(nb.weights_).splitlines()
    linear = nb.weights_.linear
    columns = {term.column for term in linear.of}
    assert last == (
        f"with a linear part: {len(linear.of)} terms of {len(columns)} columns and 3 products of "
        "3 pairs of columns, ridge 8"
    )
    assert "linear part" not in str(NaiveBayes("gaussian", weights="temperature").fit(
        [[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"]
    ).weights_)  # fmt: skip


def test_the_parameter_of_missing_cells_is_one_of_their_column() -> None:
    X = {"a": ["u", "u", None, "v"], "b": [1.0, 2.0, 3.0, 4.0]}
    nb = NaiveBayes({"a": Categorical(alpha=1.0), "b": "gaussian"}).fit(X, list("xxyy"))
    table = nb.inspect.parameters(column="a").to_dict()
    assert table["column"] == ["a"] * 6
    assert table["item"] == [*np.repeat(["u", "v", "(missing)"], 2)]
    assert table["count"][4:] == [0.0, 1.0]
    p = np.reshape(table["value"], (3, 2))
    np.testing.assert_allclose(p[:2].sum(axis=0), 1.0)  # of cells that are there
    assert p[2, 0] < p[2, 1]
    assert nb.inspect.parameters(column="b").to_dict()["item"] == [None] * 4
    with pytest.raises(ValueError, match=r"the columns are 'a', 'b'\.$"):
        nb.inspect.parameters(column="c")


def test_a_missing_cell_is_one_more_value_of_its_column() -> None:
    """As many parameters as of a column that has it as a level, in both tables."""
    levels = ["u", "v", "w", "u", None, "v"] * 4
    others = [True, False] * 12
    y = list("xy") * 12
    nb = NaiveBayes("categorical").fit({"a": levels, "b": others}, y)
    a_level = NaiveBayes("categorical").fit({"a": [x or "none" for x in levels], "b": others}, y)
    mine, theirs = (of.inspect.parameter_counts().to_dict() for of in (nb, a_level))
    assert mine == theirs
    assert nb.n_parameters_ == a_level.n_parameters_
    assert nb.n_joint_parameters_ == a_level.n_joint_parameters_


def test_an_option_without_effect_is_an_error_where_cells_are_missing_too() -> None:
    X = {"a": [True, False, None, True], "b": [1.0, 2.0, 3.0, None]}
    with pytest.raises(ValueError, match=r"smoothing=1.0 has no effect: every event model is"):
        NaiveBayes({"a": Bernoulli(), "b": Gaussian()}, smoothing=1.0).fit(X, list("uuvv"))


def test_what_was_counted_has_no_table_of_missing_cells(learned: Any) -> None:
    X, y = learned
    half = len(X) // 2
    a, b, both = (
        NaiveBayes().fit(X.iloc[part], y[part])
        for part in (slice(half), slice(half, None), slice(None))
    )
    assert not any(key.kind == "missing" for key in both.tally_.blocks)
    total = a.tally_ + b.tally_
    assert total.blocks.keys() == both.tally_.blocks.keys()


@pytest.mark.slow
@pytest.mark.parametrize("events", ["auto", {"size": "gaussian"}, {"size": "poisson"}], ids=str)
def test_a_nomogram_sums_to_the_log_odds_with_missing_cells_and_linear_terms(
    learned: Any, events: Any
) -> None:
    X, y = learned
    X = X.drop(columns="when").assign(size=X["size"].abs().round())
    keep = y != "unsure"
    nb = with_linear_part(NaiveBayes(events, derived=None).fit(X[keep], y[keep]))
    found = nb.inspect.nomogram("ham")
    assert found.notes == ()
    assert {scale.column for scale in found.scales} == set(X)
    rng = np.random.default_rng(0)
    missing = 0
    for _ in range(60):
        cells, total = {}, found.intercept
        for scale in found.scales:
            assert scale.value.count(None) == 1
            i = rng.integers(len(scale.value))
            missing += scale.value[i] is None
            cells[scale.column] = [scale.value[i]]
            total += scale.weight[i]
            assert scale.low <= scale.weight.min() <= scale.weight.max() <= scale.high
        joint = nb.predict_joint_log_proba(pd.DataFrame(cells).astype({"size": float}))[0]
        assert total == pytest.approx(joint[0] - joint[1])
    assert missing > 20
    assert "missing" in str(found)
    found.plot()
    with_linear_part(nb, products=1)
    assert nb.inspect.nomogram("ham").notes == ("products of columns are left out",)


def test_what_speaks_most_is_no_missing_cell_and_counts_linear_terms() -> None:
    X, y = {"a": [True, False, True, None] * 20, "b": [1.0, 2.0, 4.0, 7.0] * 20}, [0, 0, 1, 1] * 20
    nb = NaiveBayes({"a": Bernoulli(), "b": Gaussian()}).fit(X, y)
    with_linear_part(nb)
    for c in (0, 1):
        found = {name: (value, weight) for name, value, weight in strongest(nb.model_, c, 9)}
        assert "b" in found
        for name, cell in (("a", True), ("b", found["b"][0])):
            row = {"a": [None], "b": [None]} | {name: [cell]}
            lines = nb.explain(row)[0]
            at = lines.column.index(name)
            # Of two classes it is what an explanation says, but that the cell is there.
            terms = nb.model_.terms.of[nb.schema_.groups[-1].key]
            there = terms.at(np.array([0]), np.array([0]))[0]
            said = lines.log_likelihood[at] - there * (name == "a")
            if name in found:
                assert found[name][1] == pytest.approx(said[c] - said[1 - c], abs=1e-6)
            else:  # it speaks against the class
                assert said[c] - said[1 - c] <= 1e-6


def test_regions_say_that_missing_columns_are_evidence() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v"], 100)
    X = pd.DataFrame(rng.normal(size=(200, 3)) + (y == "u")[:, None], columns=list("abc"))
    nb = NaiveBayes("gaussian").fit(X, y)
    assert nb.inspect.regions(("a", "b")).notes == ("1 other column taken as missing",)
    X.loc[rng.random(200) < np.where(y == "u", 0.5, 0.1), "c"] = np.nan
    nb = with_linear_part(NaiveBayes("gaussian").fit(X, y), products=1)
    found = nb.inspect.regions(("a", "b"))
    assert found.notes == ("1 other column taken as missing, which says something too",)
    a, b = np.meshgrid(found.x, found.y)
    rows = pd.DataFrame({"a": a.ravel(), "b": b.ravel(), "c": np.nan})
    right = nb.predict_log_proba(rows).reshape(found.log_posterior.shape)
    np.testing.assert_allclose(found.log_posterior, right, atol=1e-9)


def test_importances_share_products_out_to_both_columns() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    nb = with_linear_part(NaiveBayes("gaussian").fit(X, y), products=1)
    assert list(nb.weights_.linear.together.items()) == [("x0 × x1", (0, 1))]
    assert nb.feature_importances_.shape == (3,)


def test_the_command_line_says_what_is_missing(learned: Any, tmp_path: Path) -> None:
    nb = with_linear_part(NaiveBayes().fit(*learned))
    nb.save(tmp_path / "m")
    with_holes(table(30, seed=1)).to_csv(tmp_path / "new.csv", index=False)
    out = run("explain", tmp_path / "m", tmp_path / "new.csv", "--top", 99).stdout.decode()
    lines = list(csv.DictReader(io.StringIO(out)))
    rows = with_holes(table(30, seed=1))
    for i, row in rows.iterrows():
        of_row = [line for line in lines if line["row"] == str(i)]
        lacking = {line["column"] for line in of_row if line["column"].endswith("is missing")}
        assert lacking == {f"{name} is missing" for name in rows if pd.isna(row[name])}
        assert all(line["value"] == "" for line in of_row if line["column"] in lacking)
