"""What a scorecard adds up is the model's own score, whoever reads it."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naively import Bernoulli, Model, NaiveBayes, Patterns, Text
from naively.inspect.scorecard import Scorecard
from naively.terms.functions import Above, Condition, Line, OneOf, Product, Rule, Step, Term
from tests import ruled
from tests.cases import CASES, LEVEL, TEXT, Case
from tests.laws import samples
from tests.linear_parts import with_linear_part
from tests.scorecards import Row, posterior, scores

# What is no sum of given numbers, and what must happen (a share of 1) or is made by a program.
NO_SUMS = (
    "predictive",
    "density",
    "joint",
    "features=",
    "Patterns",
    "binomial(",
    "max_tokens",
    "logit",
)


def read(model: Model) -> dict[str, Any]:
    """The scorecard of a model, as it comes out of a file."""
    found: dict[str, Any] = json.loads(Scorecard.of(model).to_json())
    return found


def rows_of(columns: dict[str, np.ndarray]) -> list[Row]:
    """Rows of Python's own cells."""
    cells = {
        name: (of.astype(object) if of.dtype.kind == "M" else of).tolist()
        for name, of in columns.items()
    }
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


@pytest.mark.parametrize("case", CASES, ids=repr)
@given(data=st.data())
def test_a_scorecard_adds_up_to_the_score_of_the_model(case: Case, data: Any) -> None:
    sample = data.draw(samples(case, least=2))
    other = data.draw(samples(case, least=1))
    model = sample.model
    try:
        card = read(model)
    except ValueError:
        assert any(what in repr(case) for what in NO_SUMS)
        return
    names = card["columns"]
    assume(set(sample.columns) <= set(other.columns))  # of one to three columns
    columns = {name: other.columns[name] for name in sample.columns}
    renamed = {"text": columns["c0"]} if case.text else columns
    rows = other.only(sample.columns).rows
    assert {of["name"] for of in names} <= set(renamed)
    found = np.array([scores(card, row) for row in rows_of(renamed)])
    np.testing.assert_allclose(found, model.joint_log_likelihood(rows), rtol=1e-9, atol=1e-9)
    if np.abs(found[np.isfinite(found)]).max(initial=0) < 1e6:  # larger sums lose digits
        found = np.array([posterior(card, row) for row in rows_of(renamed)])
        np.testing.assert_allclose(found, model.posterior(rows), rtol=1e-8, atol=1e-12)


FIRST, LAST = (dt.datetime(year, 1, 1) for year in (2020, 2024))  # noqa: DTZ001  (times are in UTC)

ENDS = [0.0, -0.0, 5e-324, 1e-170, 1e300, -1e300]
COLUMNS = {
    "size": st.floats(-3, 3) | st.none() | st.sampled_from(ENDS),
    "number": st.integers(0, 3) | st.none(),
    "colour": LEVEL | st.none(),
    "member": st.booleans() | st.none(),
    "when": st.datetimes(FIRST, LAST) | st.none(),
    "note": TEXT | st.none(),
}


def table(n: int, seed: int) -> tuple[dict[str, list[Any]], list[str]]:
    """A table of all kinds of columns, from which the label follows by two of them together."""
    rng = np.random.default_rng(seed)
    words = ["buy", "now", "lunch", "Straße", "naïve", "x_1", "42"]
    y = rng.integers(2, size=n)
    sign = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    day = np.datetime64("2020-01-01T05:30")

    def some(cells: list[Any]) -> list[Any]:
        return [None if rng.random() < 0.1 else cell for cell in cells]

    found = {
        "size": some((sign * rng.uniform(0.3, 2, n)).tolist()),
        "number": some(rng.poisson(1 + 0.3 * y).tolist()),
        "colour": some(np.where((sign > 0) == (y > 0), "red", "blue").tolist()),
        "member": some((rng.random(n) < 0.4 + 0.2 * y).tolist()),
        "when": some([(day + 3600 * int(h)).item() for h in rng.integers(0, 24 * 1000, n)]),
        "note": some([" ".join(rng.choice(words, rng.integers(4, 9))) for _ in range(n)]),
    }
    return found, np.array(["no", "yes"])[y].tolist()


def models() -> list[NaiveBayes]:
    columns, y = table(600, 3)
    made = [
        NaiveBayes(),
        NaiveBayes(interactions="auto"),
        NaiveBayes(weights="temperature", presence="ignore"),
        NaiveBayes({"size": "gaussian", "number": "poisson", "note": "bernoulli"}),
        NaiveBayes({"size": "exponential", "number": "categorical"}, class_prior="uniform"),
    ]
    of_size = {**columns, "size": [None if x is None else abs(x) for x in columns["size"]]}
    # The squares of a board, which no product tells: a rule does.
    black = [x is not None and np.floor(2 * x) % 2 == 1 for x in columns["size"]]
    red = [of == (label == "yes") for of, label in zip(black, y, strict=True)]
    of_board = {**columns, "colour": np.where(red, "red", "blue").tolist()}
    two = columns["size"], columns["number"]
    fitted = [
        nb.fit(cells, y)
        for nb, cells in zip(made, [columns, of_board, columns, columns, of_size], strict=True)
    ]
    less = [x is not None and n is not None and x < n for x, n in zip(*two, strict=True)]
    of_two = NaiveBayes(derived=["size - number", "size + 0.5 * number", "number / size"])
    return [
        *fitted,
        of_two.fit(columns, np.where(less, "less", "more")),
        with_linear_part(NaiveBayes().fit(columns, y), products=9),
        with_linear_part(NaiveBayes({"size": "gaussian"}).fit(columns, y), products=3, rules=20),
    ]


class Fitted(list[tuple[NaiveBayes, dict[str, Any]]]):
    """Models and their scorecards; a failing example need not print them."""

    def __repr__(self) -> str:
        return f"{len(self)} models"


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return Fitted((nb, read(nb.model_)) for nb in models())


@given(row=st.fixed_dictionaries(COLUMNS))
def test_a_scorecard_says_all_that_a_model_says_by_default(fitted: Fitted, row: Row) -> None:
    for i, (nb, card) in enumerate(fitted):
        cells = {**row, "size": row["size"] and abs(row["size"])} if i == 4 else row
        one = {name: [cell] for name, cell in cells.items()}
        known = nb.predict_joint_log_proba(one)[0]
        np.testing.assert_allclose(scores(card, cells), known, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            posterior(card, cells), nb.predict_proba(one)[0], rtol=1e-9, atol=1e-12
        )


def test_the_models_under_test_have_every_kind_of_term(fitted: Fitted) -> None:
    kinds = {term["term"] for _, card in fitted for term in card["terms"]}
    every = {"presence", "bins", "levels", "line", "parabola", "tokens", "product", "rule"}
    assert kinds == every
    assert fitted[1][0].weights_.linear.rules  # type: ignore[union-attr]
    assert {of.get("part") for _, card in fitted for of in card["terms"]} >= {"hour", "weekday"}


@pytest.mark.parametrize("name", ruled.MODELS)
def test_rules_of_every_kind_are_added_up(name: str) -> None:
    nb, (new, rows) = ruled.model(name), ruled.rows()
    card = read(nb.model_)
    assert [term for term in card["terms"] if term["term"] == "rule"]
    found = [posterior(card, row) for row in rows]
    np.testing.assert_allclose(found, nb.predict_proba(new), rtol=1e-9, atol=1e-12)


def test_rules_ask_every_kind_of_column_for_all_that_can_be_asked() -> None:
    card = read(ruled.model(ruled.MODELS[0]).model_)
    asked = [of for term in card["terms"] if term["term"] == "rule" for of in term["conditions"]]
    assert {of["column"] for of in asked} == {of["name"] for of in card["columns"]}
    assert {of.get("part") for of in asked} == {None, "hour", "weekday", "month"}
    for kind in ("number", "boolean", "string", "time"):
        of_kind = {("edge" in of, of["missing"]) for of in asked if of["kind"] == kind}
        sides = {(False, 0), (False, 1), (False, 2), (True, 0), (True, 1)}
        assert of_kind == {of for of in sides if kind != "string" or not of[0]}, kind
    assert {"others" in of for of in asked if "levels" in of} == {True, False}
    assert {of["edge"] for of in asked if "edge" in of} >= {"-inf", 0.5}
    assert [] in [of.get("levels") for of in asked]  # no truth is 2 or more


def test_impossible_rows_are_said_as_such() -> None:
    nb = NaiveBayes("categorical", smoothing=0, weights=None)
    nb.fit({"c": ["x", "x", "y"]}, ["a", "a", "b"])
    card = read(nb.model_)
    assert scores(card, {"c": "x"})[1] == -math.inf
    assert posterior(card, {"c": "never"}) == pytest.approx([2 / 3, 1 / 3], rel=1e-12)


@pytest.mark.parametrize(
    ("event_models", "why"),
    [
        ("density", "'size'.*no sum of given numbers"),
        ({"note": Patterns()}, "'note'.*made by a program"),
        ({"note": Text(features=64)}, "'note'.*hashed"),
        ({"note": Text(max_tokens=3)}, "'note'.*first words"),
        ({"note": Text(strip_accents="ascii")}, "'note'.*made by a program"),
    ],
    ids=str,
)
def test_what_is_no_sum_of_given_numbers_is_refused(event_models: Any, why: str) -> None:
    columns, y = table(60, 1)
    some = {"size": columns["size"]} if isinstance(event_models, str) else columns
    with pytest.raises(ValueError, match=why):
        Scorecard.of(NaiveBayes(event_models).fit(some, y).model_)


def test_it_reads_the_columns_that_were_learned() -> None:
    columns, y = table(60, 2)
    card = Scorecard.of(NaiveBayes().fit({**columns, "none": [None] * 60}, y).model_)
    assert card.columns == list(columns)
    assert card.kinds["note"] in ("text", "string")
    one = Scorecard.of(NaiveBayes().fit(np.eye(4), [0, 0, 1, 1]).model_)
    assert one.columns == ["x0", "x1", "x2", "x3"]
    assert one.to_dict()["classes"] == [0, 1]


def test_numbers_are_truths_above_a_threshold_in_products_too() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.poisson(3.0, (80, 2)).astype(float), rng.integers(2, size=80)
    nb = with_linear_part(NaiveBayes(Bernoulli(threshold=2.5)).fit(x, y), products=1)
    card, some = read(nb.model_), x[:20]
    found = [scores(card, dict(zip(("x0", "x1"), row, strict=True))) for row in some.tolist()]
    np.testing.assert_allclose(found, nb.predict_joint_log_proba(some), rtol=1e-9)


def test_character_ngrams_are_those_of_the_first_characters_of_a_long_text() -> None:
    columns, y = table(60, 3)
    said = {"no": "the office", "yes": "a prize"}
    note = [f"{text or ''} {said[label]}" for text, label in zip(columns["note"], y, strict=True)]
    nb = NaiveBayes().fit({"note": note}, y)
    long = " ".join(["prizes"] * 100 + ["offices"] * 100)
    known = nb.predict_joint_log_proba({"note": [long]})[0]
    np.testing.assert_allclose(scores(read(nb.model_), {"note": long}), known, rtol=1e-9)


def test_a_scorecard_has_the_table_of_unicode_if_it_splits_texts() -> None:
    columns, y = table(60, 3)
    for name, has in (("note", True), ("size", False)):
        card = read(NaiveBayes().fit({name: columns[name]}, y).model_)
        assert ("unicode" in card) == has
        assert card.get("unicode", "unicode 16.0.0\n").startswith("unicode 16.0.0\n")


def test_a_class_that_came_after_the_weights_has_no_slopes() -> None:
    columns, y = table(200, 4)
    nb = with_linear_part(NaiveBayes().fit(columns, y), products=3, rules=5)
    nb.partial_fit({name: of[:3] for name, of in columns.items()}, ["aside"] * 3)
    assert nb.weights_ is not None
    assert "aside" not in nb.weights_.classes
    row = {name: of[5] for name, of in columns.items()}
    known = nb.predict_joint_log_proba({name: [x] for name, x in row.items()})[0]
    np.testing.assert_allclose(scores(read(nb.model_), row), known, rtol=1e-9)


def test_a_product_with_a_column_that_is_counted_otherwise_by_now_adds_nothing() -> None:
    columns, y = table(200, 5)
    nb = with_linear_part(NaiveBayes().fit(columns, y), products=3)
    weights = nb.weights_
    assert weights is not None
    products = weights.linear.products
    gone = {replace(of, b=replace(of.b, column="gone")): slopes for of, slopes in products.items()}
    linear = replace(weights.linear, products=gone)
    card = read(nb.model_.weighed(replace(weights, linear=linear)))
    assert products
    assert not [term for term in card["terms"] if term["term"] == "product"]


def test_a_rule_of_a_column_that_is_counted_otherwise_by_now_adds_nothing() -> None:
    columns, y = table(200, 5)
    nb = with_linear_part(NaiveBayes().fit(columns, y), rules=3)
    weights = nb.weights_
    assert weights is not None
    rules = weights.linear.rules
    gone = {
        replace(of, conditions=(replace(of.conditions[0], column="gone"), *of.conditions[1:])): to
        for of, to in rules.items()
    }
    for linear, number in ((weights.linear, 3), (replace(weights.linear, rules=gone), 0)):
        card = read(nb.model_.weighed(replace(weights, linear=linear)))
        assert len([term for term in card["terms"] if term["term"] == "rule"]) == number


def timed() -> tuple[NaiveBayes, list[dict[str, Any]]]:
    """A model of times that are categories, with rows of known, other and missing times."""
    rng = np.random.default_rng(3)
    days = [dt.datetime.fromisoformat(f"2024-01-0{day}T05:30:00.250") for day in (1, 2, 3)]
    day = rng.integers(0, 3, 300)
    y = rng.random(300) < 0.1 + 0.4 * day
    X = {"when": [days[i] for i in day], "size": rng.normal(y, 1.0).tolist()}
    nb = NaiveBayes({"when": "categorical"}).fit(X, np.where(y, "yes", "no"))
    times = [*days, dt.datetime.fromisoformat("2024-01-04"), None]
    return nb, [{"when": of, "size": 0.5} for of in times]


def forgetful() -> NaiveBayes:
    """A model with a rule and a product of the level "green", whose rows it forgot."""
    columns, y = table(300, 6)
    rows = {name: columns[name] for name in ("size", "colour")}
    rows["colour"] = ["green" if i < 20 else of for i, of in enumerate(rows["colour"])]
    nb = NaiveBayes({"colour": "categorical"}).fit(rows, y)
    key = next(g.key for g in nb.model_.view.schema.groups if "colour" in g.columns)
    size = next(g.key for g in nb.model_.view.schema.groups if "size" in g.columns)
    conditions = Condition(key, "colour", OneOf(("green",))), Condition(size, "size", Above(0.0))
    weights = nb.weights_
    assert weights is not None
    points = tuple((float(i), -float(i)) for i in range(4))
    step = Term(key, "colour", Step("green", 0.2, 0.4))
    both = Product(step, Term(size, "size", Line(-2.0, 2.0, 0.1, 1.0)), 1.0)
    rules = {Rule(conditions): points}
    linear = replace(weights.linear, rules=rules, products={both: (1.0, -1.0)})
    nb._exchange(model=nb.model_.weighed(replace(weights, linear=linear)))
    nb.forget({name: of[:20] for name, of in rows.items()}, y[:20])
    return nb


def test_a_level_that_was_forgotten_is_in_no_condition_and_no_product() -> None:
    nb, row = forgetful(), {"size": 1.0, "colour": "green"}
    known = nb.predict_proba({name: [cell] for name, cell in row.items()})[0]
    np.testing.assert_allclose(posterior(read(nb.model_), row), known, rtol=1e-9)
