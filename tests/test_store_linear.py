"""The linear part in a model file, and missing cells as evidence, come back as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import Categorical, Gaussian, Model, NaiveBayes, load
from naively.data.frames import as_rows
from naively.file import store
from naively.schema.schema import Missing, TimePart
from naively.terms.functions import Line, LinearPart, Product, Step, Term
from tests.damage import apart
from tests.saved_linear_parts import (
    fitted,
    linear_of,
    table,
    terms_of,
    with_linear,
    with_linear_part,
)

NUMBERS = st.floats(-1e3, 1e3, allow_nan=False)


def same(again: Model, model: Model) -> None:
    """Both are the same, and predict the same to the last bit."""
    rows = as_rows(table()[0])
    assert again.settings == model.settings
    assert again.weights == model.weights
    of, was = again.weights, model.weights
    if of is not None and was is not None:  # what is added up is added in the same order
        assert list(of.linear.of) == list(was.linear.of)
        assert list(of.linear.products) == list(was.linear.products)
    for finish in ("joint", "posterior"):
        np.testing.assert_array_equal(
            again.score(again.encode(rows), finish), model.score(model.encode(rows), finish)
        )


def there_and_back(model: Model) -> Model:
    """Return the model from its file, which is the same file when it is saved again."""
    content = store.to_bytes(model)
    again = store.from_bytes(content).model
    assert store.to_bytes(again) == content
    return again


def test_terms_of_every_kind_come_back() -> None:
    nb = with_linear_part()
    functions = {(type(t.function), t.group.kind): t.function for t in terms_of(nb)}
    assert functions.keys() >= {
        (Line, "number"), (Line, "boolean"), (Line, "time"), (Step, "string"), (Step, "number"),
        (Step, "boolean"), (Step, "part"), (Step, "missing"),
    }  # fmt: skip
    plain = nb.model_.weighed(replace(nb.weights_, linear=LinearPart()))
    rows = as_rows(table()[0])
    assert np.abs(nb.model_.posterior(rows) - plain.posterior(rows)).max() > 0.1
    same(there_and_back(nb.model_), nb.model_)
    again = there_and_back(nb.model_).weights
    levels = [type(t.function.level) for t in again.linear.of if isinstance(t.function, Step)]
    assert levels == [
        type(t.function.level) for t in nb.weights_.linear.of if isinstance(t.function, Step)
    ]


@given(data=st.data())
def test_what_is_loaded_is_the_linear_part_that_was_saved(data: st.DataObject) -> None:
    nb = fitted()
    every = terms_of(nb)
    slope = st.tuples(NUMBERS, NUMBERS, NUMBERS)
    of = data.draw(st.lists(st.tuples(st.sampled_from(every), slope), unique_by=lambda x: x[0]))
    pairs = [(a, b) for a in every[::5] for b in every[2::3] if a.column != b.column]
    products = data.draw(
        st.lists(
            st.tuples(st.sampled_from(pairs), st.floats(1e-6, 10), slope),
            max_size=4,
            unique_by=lambda x: x[:2],
        )
    )
    made = {Product(a, b, scale): by for (a, b), scale, by in products}
    intercept = data.draw(slope) if of or made else ()
    linear = LinearPart(dict(of), made, intercept, data.draw(st.floats(0, 1e6)) if of else 0.0)
    model = nb.model_.weighed(replace(nb.weights_, linear=linear))
    same(there_and_back(model), model)


def test_slopes_are_of_the_classes_of_the_file() -> None:
    """Those of a class that the weights do not know are 0, and no label loses its own."""
    X, y = table()
    first = fitted()
    of = [i for i, label in enumerate(y) if label != "x"]
    some = {name: [column[i] for i in of] for name, column in X.items()}
    second = NaiveBayes({"size": Categorical(), "truth": Categorical()})
    second.fit(some, ["abc"["xyz".index(y[i])] for i in of])
    linear = linear_of(first)
    of_other = {term: by[:2] for term, by in linear.of.items()}
    merged = with_linear(first, linear).merge(
        with_linear(second, LinearPart(of_other, {}, (0.5, -0.5), 1.0))
    )
    again, model = there_and_back(merged.model_), merged.model_
    rows = as_rows(X)
    np.testing.assert_array_equal(
        again.joint_log_likelihood(rows), model.joint_log_likelihood(rows)
    )
    turned = replace(
        linear,
        of={term: by[::-1] for term, by in linear.of.items()},
        products={of: by[::-1] for of, by in linear.products.items()},
        intercept=linear.intercept[::-1],
    )
    for weights in (
        replace(fitted().weights_, classes=("z", "y", "x"), linear=turned),
        replace(fitted().weights_, linear=LinearPart(linear.of)),  # without an intercept
    ):
        model = fitted().model_.weighed(weights)
        again = there_and_back(model)
        np.testing.assert_array_equal(again.posterior(rows), model.posterior(rows))
        assert again.weights.linear.of == linear.of


def test_the_header_and_the_arrays_are_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "model.naively"
    nb = NaiveBayes({"x": Gaussian(), "c": Categorical()}).fit(
        {"x": [1.0, 2.0, 3.0, 4.0], "c": ["u", "v", None, "u"]}, ["no", "yes", "no", "yes"]
    )
    of_x, of_c = (nb.model_.view.schema.columns[name].key for name in ("x", "c"))
    line = Term(of_x, "x", Line(1.5, 3.5, 2.5, 0.5))
    step = Term(of_c, "c", Step("u", 0.25, 0.75))
    only = Term(of_x, "x", Line(0.0, 1.0, 0.125, 2.0))
    linear = LinearPart(
        {step: (0.1, -0.1), line: (-2.0, 2.0)},
        {Product(line, step, 1.25): (3.0, -3.0), Product(step, only, 0.5): (4.0, -4.0)},
        (0.0625, -0.0625),
        40.0,
    )
    with_linear(nb, linear).save(path)
    header, arrays = apart(path)
    assert header["format"] == store.FORMAT
    assert header["settings"] == {
        "estimate": "mean", "smoothing": "auto", "weights": "loo", "interactions": None,
        "derived": "auto", "text": "auto", "presence": "auto",
        "missing_values": None, "decimal": None, "day_first": None,
        "half_life": None,
    }  # fmt: skip
    place = {
        group["event"] + group["kind"]: i for i, group in enumerate(header["weights"]["groups"])
    }
    x, c = place["gaussiannumber"], place["categoricalstring"]
    assert [place["categoricalmissing"], {"name": "Missing", "of": "c"}, None] in header["weights"][
        "of"
    ]
    assert header["weights"]["linear"] == {
        "terms": [[c, "c", "step", "u", []], *[[x, "x", "line", None, []]] * 2],
        "conditions": [],
        "rules": [],
        "ridge": 40.0,
    }
    assert {name: of.tolist() for name, of in arrays.items() if name.startswith("linear/")} == {
        "linear/range": [[1.5, 3.5], [0.0, 1.0]],
        "linear/unit": [[0.25, 0.75], [2.5, 0.5], [0.125, 2.0]],
        "linear/edge": [],
        "linear/slope": [[0.1, -0.1], [-2.0, 2.0]],
        "linear/intercept": [0.0625, -0.0625],
        "linear/product": [[1, 0], [0, 2]],
        "linear/product_scale": [1.25, 0.5],
        "linear/product_slope": [[3.0, -3.0], [4.0, -4.0]],
    }
    assert arrays["bias"].tolist() == list(nb.weights_.bias)  # without the intercept
    assert not [group for group in header["groups"] if group["kind"] == "missing"]


def test_without_a_linear_part_there_are_no_arrays(tmp_path: Path) -> None:
    path = tmp_path / "model.naively"
    with_linear(fitted(), LinearPart()).save(path)
    header, arrays = apart(path)
    assert header["weights"]["linear"] is None
    assert not [name for name in arrays if name.startswith("linear")]
    assert load(path).weights_.linear == LinearPart()


def test_a_column_that_is_counted_otherwise_by_now_keeps_its_terms(tmp_path: Path) -> None:
    """They add nothing, nor do its products, and are in the file."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = {
        "a": rng.normal(y, 1).tolist(),
        "f": (rng.random(60) < 0.2 + 0.5 * y).astype(float).tolist(),
    }
    nb = NaiveBayes().fit(X, y.tolist())
    a, f = (
        Term(nb.model_.view.schema.columns[name].key, name, Line(-1.0, 2.0, 0.5, 1.0))
        for name in "af"
    )
    alone = LinearPart({a: (-0.2, 0.2)}, {}, (0.1, -0.1), 1.0)
    both = replace(
        alone, of={**alone.of, f: (3.0, -3.0)}, products={Product(a, f, 1.0): (-2.0, 2.0)}
    )
    with_linear(nb, both).save(tmp_path / "m.naively")
    more = load(tmp_path / "m.naively").partial_fit({"a": [1.0], "f": [2.0]}, [1])
    more.save(tmp_path / "more.naively")
    again = load(tmp_path / "more.naively")
    assert again.weights_.linear == both
    expected = with_linear(load(tmp_path / "more.naively"), alone).predict_proba(X)
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    np.testing.assert_array_equal(more.predict_proba(X), expected)


@pytest.mark.parametrize("missing", ["auto", "ignore"])
@pytest.mark.parametrize("weights", ["loo", "temperature", None])
def test_the_option_comes_back_and_has_an_effect_with_weights(
    missing: Any, weights: Any, tmp_path: Path
) -> None:
    X, y = table()
    nb = NaiveBayes(weights=weights, presence=missing).fit(X, y)
    nb.save(tmp_path / "m.naively", keep_rows=True)
    again = load(tmp_path / "m.naively")
    assert again.presence == again.model_.settings.presence == missing
    assert again.model_.settings.counts_missing == (weights == "loo" and missing == "auto")
    said = [part.column for part in again.weights_.of] if weights else []
    assert (Missing("number") in said) == (weights == "loo" and missing == "auto")
    assert (TimePart("when", "hour") in said) == (weights == "loo")
    for one in (nb, again):
        one.partial_fit(X, y)
        assert one.model_.settings == nb.model_.settings
    np.testing.assert_allclose(again.predict_proba(X), nb.predict_proba(X), rtol=1e-9, atol=1e-13)
