"""What two models have learned differently: against counts by hand, and by laws."""

from __future__ import annotations

import json
import math
import warnings
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from naively import Bernoulli, Categorical, Gaussian, NaiveBayes, Poisson, Text
from naively.inspect.difference import Difference
from tests.commands import run
from tests.golden.make import models
from tests.test_cli import ROWS, ok, sentence


def rows(found: Difference, what: str) -> list[tuple[Any, ...]]:
    return [
        (c.column, c.item, c.label, c.before, c.after, c.change)
        for c in found.changes
        if c.what == what
    ]


def pure(X: Any, y: Any, event: Any = "auto", **options: Any) -> NaiveBayes:
    return NaiveBayes(event, weights=None, **options).fit(X, y)


SKY = {"sky": ["blue", "grey", "grey"]}
WEATHER = ["sun", "sun", "rain"]


def test_what_only_one_has_and_counts() -> None:
    event = Categorical(alpha=1.0)
    a = pure(SKY, WEATHER, event)
    b = pure({"sky": [*SKY["sky"], "red"]}, [*WEATHER, "sun"], event)
    found = a.inspect.difference(b)
    assert rows(found, "rows") == [(None, None, "sun", 2.0, 3.0, 1.0)]
    assert rows(found, "levels") == [("sky", None, None, 0, 1, 1)]
    assert rows(found, "level") == [("sky", "red", None, None, 1.0, 1.0)]
    assert rows(found, "count") == []  # those of blue and grey are the same


CASES = {
    "levels": ({"c": list("uuvvwwu")}, {"c": list("uvuvuww")}, "auto"),
    "truths": ({"c": [0, 1, 1, 0, 1, 0, 0]}, {"c": [1, 1, 1, 0, 0, 0, 1]}, Bernoulli()),
    "cells": ({"c": [1.0, 2, 3, 7, 8, 9, 20]}, {"c": [2.0, 2, 3, 6, 1, 9, 4]}, "auto"),
    "numbers": ({"c": [1.0, 2, 3, 7, 8, 9, 20]}, {"c": [2.0, 2, 3, 6, 1, 9, 4]}, Gaussian()),
    "counts": ({"c": [1, 2, 3, 7, 8, 9, 20]}, {"c": [2, 2, 3, 6, 1, 9, 4]}, Poisson()),
}


@pytest.mark.parametrize("labels", ["aabbcca", "aabbaab"], ids=["three classes", "two classes"])
@pytest.mark.parametrize("case", CASES)
def test_evidence_is_how_much_an_item_changes_the_log_odds(case: str, labels: str) -> None:
    """The posterior odds of a row of this item alone, over the prior odds, as predictions have."""
    X, Z, event = CASES[case]
    a, b = pure(X, list(labels), event), pure(Z, list(labels), event)
    found = [c for c in a.inspect.difference(b, 99).changes if c.what == "evidence"]
    assert found
    for change in found:
        item = 1 if change.item is None else change.item
        for said, nb in ((change.before, a), (change.after, b)):
            c = nb.classes_.tolist().index(change.label)
            odds = [
                math.log(p[c]) - math.log(sum(p) - p[c])
                for p in (nb.predict_proba({"c": [item]})[0], np.exp(nb.class_log_prior_))
            ]
            assert said == pytest.approx(odds[0] - odds[1], abs=1e-9)
        assert change.change == pytest.approx(change.after - change.before)
    sizes = [abs(change.change) for change in found]
    assert sizes == sorted(sizes, reverse=True)
    assert [c.change for c in found[:2]] == [
        c.change for c in a.inspect.difference(b, 2).changes if c.what == "evidence"
    ]


@pytest.fixture(scope="module")
def made() -> dict[str, tuple[NaiveBayes, NaiveBayes]]:
    with warnings.catch_warnings(action="ignore"):
        return {name: (nb, copy(nb).decay(2.0)) for name, (nb, _) in models().items()}


@pytest.mark.parametrize("name", models())
def test_a_model_is_equal_to_itself_and_not_to_one_of_more_rows(name: str, made: Any) -> None:
    nb, twice = made[name]
    same = nb.inspect.difference(nb)
    assert same.equal
    assert str(same) == "The models are equal."
    assert same.to_dict()["what"] == []
    other = nb.inspect.difference(twice)
    assert not other.equal
    total = {c.label: (c.before, c.after) for c in other.changes if c.what == "rows"}
    assert total.keys() == set(nb.classes_.tolist())
    assert all(after == pytest.approx(2 * before) for before, after in total.values())


def test_the_change_there_is_the_change_back_with_the_other_sign() -> None:
    a = pure({"x": [1.0, 2.0, 7.0], "c": list("uuv")}, list("aab"), {"x": "gaussian"})
    b = pure({"x": [1.0, 5.0, 9.0, 3.0], "c": list("uvvu")}, list("aabb"), {"x": "gaussian"})
    there, back = a.inspect.difference(b, 99).changes, b.inspect.difference(a, 99).changes
    signs = [
        sorted((c.what, c.column or "", str(c.item), str(c.label), round(sign * (c.change or 0), 9))
               for c in of)
        for of, sign in ((there, 1), (back, -1))
    ]  # fmt: skip
    assert signs[0] == signs[1]
    assert any(c.what == "evidence" and c.column == "x" for c in there)


def test_merging_in_any_order_is_equal() -> None:
    rng = np.random.default_rng(0)
    parts = [
        NaiveBayes().fit({"x": rng.normal(size=40), "c": rng.choice(list("uvw"), 40)},
                         rng.choice(list("ab"), 40))
        for _ in range(3)
    ]  # fmt: skip
    a, b = copy(parts[0]).merge(*parts[1:]), copy(parts[2]).merge(parts[1], parts[0])
    assert a.inspect.difference(b).equal
    assert not a.inspect.difference(parts[1]).equal


def test_columns_classes_settings_and_event_models() -> None:
    a = pure({"x": [1.0, 2.0, 7.0], "only": [1.5, 2.5, 3.5]}, list("aab"))
    b = NaiveBayes({"x": Gaussian()}, class_prior="uniform", weights="temperature")
    b.fit({"x": [1.0, 2.0, 7.0], "new": list("uuv")}, list("aac"))
    found = a.inspect.difference(b)
    expected = [(None, None, "b", 1.0, None, None), (None, None, "c", None, 1.0, None)]
    assert rows(found, "class") == expected
    assert rows(found, "column") == [
        ("only", None, None, "histogram", None, None),
        ("new", None, None, None, "categorical", None),
    ]
    assert rows(found, "event model") == [("x", None, None, "histogram", "gaussian", None)]
    settings = {c.item: (c.before, c.after) for c in found.changes if c.what == "setting"}
    assert settings == {"class_prior": ("data", "uniform"), "weights": (None, "temperature")}


def test_words_that_only_one_has_are_those_of_most_texts() -> None:
    a = pure(["one two", "one three three", "four four five"], list("aab"), Text())
    b = pure(["one two", "six six six seven", "four eight"], list("aab"), Text())
    found = a.inspect.difference(b, 2)
    assert rows(found, "words") == [("text", None, None, 2, 3, 1)]
    expected = [("text", "six", None, None, 3.0, 3.0), ("text", "three", None, 2.0, None, -2.0)]
    assert rows(found, "word") == expected
    expected = {("one", "a"): -1.0, ("four", "b"): -1.0}
    assert {(c[1], c[2]): c[5] for c in rows(a.inspect.difference(b), "count")} == expected
    ngrams = [pure([text], ["a"], Text("char_wb", (2, 2))) for text in ("abc", "abd")]
    changed = rows(ngrams[0].inspect.difference(ngrams[1]), "n-grams")
    assert changed == [("text", None, None, 2, 2, 0)]


def test_weights_that_changed_most_come_first() -> None:
    rng = np.random.default_rng(1)
    X = {"a": rng.normal(size=200), "b": rng.normal(size=200)}
    y = np.where(X["a"] + 0.3 * X["b"] + rng.normal(size=200) > 0, "p", "q")
    nb = NaiveBayes().fit(X, y)
    other = NaiveBayes().fit(X, y)
    other.calibrate({"a": X["b"], "b": X["a"]}, y)
    found = rows(nb.inspect.difference(other, 3), "weight") + rows(
        nb.inspect.difference(other, 3), "bias"
    )
    assert 1 <= len(found) <= 3
    mine, theirs = nb.weights_.by_name, other.weights_.by_name
    for column, _, label, before, after, change in found:
        if column is not None:
            assert before == pytest.approx(mine[column][label])
            assert after == pytest.approx(theirs[column][label])
            assert change == pytest.approx(after - before)
    assert not nb.inspect.difference(other).equal


def test_numbers_in_other_cells_are_not_equal() -> None:
    """Though each column has as many cells in each class."""
    a, b = (pure({"x": [1.0, 2.0, 3.0, x]}, list("aabb")) for x in (4.0, 4.5))
    assert not a.inspect.difference(b).equal
    truths = [pure({"x": x}, list("aabb"), Bernoulli()) for x in ([1, 0, 1, 0], [0, 0, 1, 0])]
    assert rows(truths[0].inspect.difference(truths[1]), "evidence")[0][0] == "x"


def test_bad_numbers_are_named() -> None:
    nb = pure(SKY, WEATHER)
    with pytest.raises(ValueError, match="at least 1, got 0"):
        nb.inspect.difference(nb, 0)


@pytest.mark.slow
def test_the_command_line(tmp_path: Path) -> None:
    data, more = tmp_path / "a.csv", tmp_path / "b.csv"
    data.write_text(ROWS)
    more.write_text(ROWS + "2.0,violet,another thing,good\n")
    a, b = tmp_path / "a", tmp_path / "b"
    ok("train", data, "--target", "kind", "-o", a)
    ok("train", more, "--target", "kind", "-o", b)
    lines = [json.loads(line) for line in ok("diff", a, b, "-n", "2", "-f", "json").splitlines()]
    assert {"what", "column", "item", "class", "before", "after", "change"} == set(lines[0])
    assert {"rows", "level"} <= {line["what"] for line in lines}
    assert [line["item"] for line in lines if line["what"] == "level"][0] == "violet"  # noqa: RUF015
    assert "violet" in ok("diff", a, b, "-f", "table")
    same = run("diff", a, a, "-f", "json")
    assert (same.returncode, same.stdout, same.stderr) == (0, b"", b"The models are equal.\n")
    assert "no model file" in sentence("diff", a, tmp_path / "none")


def test_divergences_are_those_of_shares_and_of_what_has_moved_alone() -> None:
    rng = np.random.default_rng(0)
    n, levels = 2_000, np.array(["r", "g", "b", None], object)

    def rows(share: list[float], shift: float, ill: float) -> tuple[dict[str, Any], np.ndarray]:
        X = {
            "colour": rng.choice(levels, n, p=share),
            "size": rng.normal(shift, 1.0, n),
            "same": rng.normal(0.0, 1.0, n),
        }
        return X, np.where(rng.random(n) < ill, "ill", "well")

    first, second = rows([0.5, 0.2, 0.2, 0.1], 0.0, 0.5), rows([0.3, 0.2, 0.2, 0.3], 0.6, 0.3)
    models = [NaiveBayes(weights=None).fit(*of) for of in (first, second)]
    table = models[0].inspect.difference(models[1]).to_dict()
    of = {table["column"][i]: i for i, what in enumerate(table["what"]) if what == "divergence"}
    assert set(of) == {"colour", "size", None}
    for name, cells in (
        ("colour", [X["colour"] for X, _ in (first, second)]),
        (None, [first[1], second[1]]),
    ):
        share = [
            [np.mean([cell == level for cell in each]) for level in {*cells[0], *cells[1]}]
            for each in cells
        ]
        assert table["change"][of[name]] == pytest.approx(jensenshannon(*share) ** 2)
    before, after = (np.mean([cell is None for cell in X["colour"]]) for X, _ in (first, second))
    at = of["colour"]
    assert table["item"][at] in {"(missing)", "r"}
    if table["item"][at] == "(missing)":
        assert (table["before"][at], table["after"][at]) == pytest.approx((before, after))
    assert 0.02 < table["change"][of["size"]] < 0.06
    same = NaiveBayes(weights=None).fit(*rows([0.5, 0.2, 0.2, 0.1], 0.0, 0.5))
    assert "divergence" not in models[0].inspect.difference(same).to_dict()["what"]
