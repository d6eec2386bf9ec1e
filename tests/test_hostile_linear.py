"""Model files that lie about their linear part, or about missing cells, are refused."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import load
from naively.file import container
from tests import damage
from tests.damage import (
    Arrays,
    Change,
    apart,
    assert_refused,
    in_little_memory,
    is_sentence,
    outcome,
    paths,
    put,
    rewrite,
)
from tests.saved_linear_parts import table, with_linear_part


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.naively"
    with_linear_part().save(path)
    return path


def first(end: str, *values: float) -> Change:
    """Change the first numbers of an array of the linear part."""
    return damage.first(f"linear/{end}", *values)


def term(i: int, at: int, new: Any) -> Change:
    """Change the group, the column or the level of a term."""
    return lambda header, _: put(header, ("weights", "linear", "terms", i, at), new)


def condition(i: int, at: int, new: Any) -> Change:
    """Change the group, the column, the levels of a condition, or whether it holds if missing."""
    return lambda header, _: put(header, ("weights", "linear", "conditions", i, at), new)


def rule(new: Any) -> Change:
    """Change the conditions of the first rule."""
    return lambda header, _: put(header, ("weights", "linear", "rules", 0), new)


def of_kind(kind: str, at: int, new: Any, *, event: str = "") -> Change:
    """Change the first term of a group of this kind."""

    def change(header: dict[str, Any], arrays: Arrays) -> None:
        keys = header["weights"]["groups"]
        terms = header["weights"]["linear"]["terms"]
        i = next(
            i for i, (group, *_) in enumerate(terms)
            if keys[group]["kind"] == kind and keys[group]["event"].startswith(event)
        )  # fmt: skip
        term(i, at, new)(header, arrays)

    return change


def twice(header: dict[str, Any], arrays: Arrays) -> None:
    """Write the first line instead of the second, with the slopes of the second."""
    terms = header["weights"]["linear"]["terms"]
    lines = [i for i, (_, _, kind, *_) in enumerate(terms) if kind == "line"]
    terms[lines[1]] = terms[lines[0]]
    for name, (a, b) in (("range", (0, 1)), ("unit", lines[:2])):
        array = arrays[f"linear/{name}"] = arrays[f"linear/{name}"].copy()
        array[b] = array[a]


def rows(name: str, of: slice) -> Change:
    """Keep some rows of an array of the linear part."""
    return lambda _, arrays: arrays.update({f"linear/{name}": arrays[f"linear/{name}"][of].copy()})


def step_of_numbers(header: dict[str, Any], arrays: Arrays) -> None:
    """Make the first line a step."""
    term(0, 2, "step")(header, arrays)
    term(0, 3, 1.0)(header, arrays)
    rows("range", slice(1, None))(header, arrays)


def line_of_levels(header: dict[str, Any], arrays: Arrays) -> None:
    """Make the first step of a level a line."""
    of_kind("string", 2, "line")(header, arrays)
    of_kind("string", 3, None)(header, arrays)
    arrays["linear/range"] = np.concatenate([arrays["linear/range"], [[0.0, 1.0]]])


def flat(header: dict[str, Any], arrays: Arrays) -> None:
    """Make the first line one of a single number, over 0."""
    first("range", 0.5, 0.5)(header, arrays)
    first("unit", 0.5, 0.0)(header, arrays)


def product_twice(_: Any, arrays: Arrays) -> None:
    for name in ("product", "product_scale"):
        array = arrays[f"linear/{name}"] = arrays[f"linear/{name}"].copy()
        array[1] = array[0]


def one_column(header: dict[str, Any], arrays: Arrays) -> None:
    """Make a product of the two terms of the first column."""
    first("product", 0, 1)(header, arrays)


LIES: dict[str, tuple[Change, str]] = {
    "a negative ridge": (lambda h, _: h["weights"]["linear"].update(ridge=-1.0), "ridge is below"),
    "an infinite ridge": (lambda h, _: h["weights"]["linear"].update(ridge=1e999), "not finite"),
    "no ridge": (lambda h, _: h["weights"]["linear"].pop("ridge"), "lacks 'ridge'"),
    "no terms": (lambda h, _: h["weights"]["linear"].pop("terms"), "lacks 'terms'"),
    "an entry more": (lambda h, _: h["weights"]["linear"].update(more=1), "has no 'more'"),
    "a list": (lambda h, _: h["weights"].update(linear=[]), r"weights\.linear is a list of 0"),
    "nothing of it": (lambda h, _: h["weights"].update(linear=None), "nothing uses the array"),
    "a term of two": (lambda h, _: h["weights"]["linear"]["terms"][0].pop(), "instead of 5"),
    "terms without arrays": (
        lambda h, _: h["weights"]["linear"]["terms"].append([0, "number", "line", None, []]),
        "has shape",
    ),
    "a group that is none": (term(0, 0, 99), "terms of groups"),
    "a group below": (term(0, 0, -1), "terms of groups"),
    "a column that is none": (term(0, 1, "nothing"), "terms of columns that there are not"),
    "a column by number": (term(0, 1, 0), "terms of columns that there are not"),
    "the part of a column that is none": (
        of_kind("part", 1, {"name": "TimePart", "of": "nothing", "part": "hour"}),
        "terms of columns that there are not",
    ),
    "a part among numbers": (
        term(0, 1, {"name": "TimePart", "of": "when", "part": "hour"}),
        "not in their group",
    ),
    "a column among parts": (of_kind("part", 1, "when"), "not in their group"),
    "a column among missing cells": (of_kind("missing", 1, "level"), "not in their group"),
    "a missing cell among parts": (
        of_kind("part", 1, {"name": "Missing", "of": "when"}),
        "no level|not in their group",
    ),
    "a step of numbers": (step_of_numbers, "step not of levels"),
    "a line of levels": (line_of_levels, "line is not of numbers"),
    "a step instead of a line": (term(0, 2, "step"), "has shape"),
    "a kind that is none": (term(0, 2, "curve"), "not 'line', 'step', 'above', 'is' or"),
    "an edge instead of a line": (term(0, 2, "above"), "has shape"),
    "a step without a level": (of_kind("string", 3, None), "has no level, or another"),
    "a level that is a list": (of_kind("string", 3, ["u"]), "no level of its column"),
    "a level that is an object": (of_kind("string", 3, {}), "not a level or null"),
    "a level of another type": (of_kind("string", 3, 1), "no level of its column"),
    "a level that is no number": (
        of_kind("number", 3, float("nan"), event="categorical"),
        "no level of its column",
    ),
    "an hour that is none": (of_kind("part", 3, "25"), "no level of its column"),
    "more than missing": (of_kind("missing", 3, "no"), "no level of its column"),
    "a term twice": (twice, "a term is there twice"),
    "from above to below": (first("range", 2.0, 1.0), "from above to below"),
    "a range not a number": (first("range", np.nan), "not finite"),
    "a range without end": (first("range", -np.inf), "not finite"),
    "a range too wide": (first("range", -1e301), "too large"),
    "a centre not a number": (first("unit", np.nan), "not finite"),
    "a centre far away": (first("unit", 1e299), "too small"),
    "a scale of 0": (first("unit", 0.1, 0.0), "not above 0"),
    "a scale of 0 where nothing differs": (flat, "not above 0"),
    "a scale below 0": (first("unit", 0.1, -1.0), "not above 0"),
    "a scale not a number": (first("unit", 0.1, np.nan), "not finite"),
    "a scale without end": (first("unit", 0.1, np.inf), "not finite"),
    "a scale of nothing": (first("unit", 0.1, 1e-310), "too small"),
    "slopes not a number": (first("slope", np.nan), "slopes must be finite"),
    "slopes without end": (first("slope", np.inf), "slopes must be finite"),
    "slopes too steep": (first("slope", -1e13), "slopes must be finite"),
    "an intercept not a number": (first("intercept", np.nan), "slopes must be finite"),
    "slopes of other classes": (
        lambda _, a: a.update({"linear/slope": a["linear/slope"][:, :2].copy()}),
        "wrong shape",
    ),
    "slopes of no term": (
        lambda _, a: a.update({"linear/slope": np.zeros((999, 3))}),
        "wrong shape",
    ),
    "too few slopes": (rows("slope", slice(3)), "no slopes and is in no product"),
    "no products": (
        lambda _, a: [a.pop(f"linear/product{of}") for of in ("", "_scale", "_slope")],
        "no slopes and is in no product",
    ),
    "a product of no terms": (first("product", 999), "products of terms that there are not"),
    "a product below": (first("product", -1), "products of terms that there are not"),
    "a product of one column": (one_column, "two terms of one column"),
    "a product of a term and itself": (first("product", 0, 0), "two terms of one column"),
    "a product twice": (product_twice, "a product is there twice"),
    "products of three": (
        lambda _, a: a.update({"linear/product": np.zeros((4, 3), np.int64)}),
        "of two terms",
    ),
    "no product at all": (rows("product", slice(0)), "of two terms"),
    "an edge not a number": (first("edge", np.nan), "an edge is no number"),
    "a condition of no group": (condition(0, 0, 99), "terms of groups"),
    "a condition of no column": (condition(0, 1, "nothing"), "terms of columns"),
    "a condition of levels of numbers": (condition(0, 2, ["u"]), "step not of levels|has shape"),
    "a condition of no level": (condition(2, 2, [1]), "no level of its column"),
    "an edge of a condition not a number": (first("rule_edge", np.nan), "an edge is no number"),
    "a rule of conditions that are none": (rule([0, 99]), "rules of conditions"),
    "a rule of no condition": (rule([]), "one to 8 conditions"),
    "a rule of many conditions": (rule([0, 1] * 5), "one to 8 conditions"),
    "points of fewer cells": (rows("rule_points", slice(3)), "has shape"),
    "points not a number": (first("rule_points", np.nan), "slopes must be finite"),
    "a product scale of 0": (first("product_scale", 0.0), "scale of a product"),
    "a product scale below 0": (first("product_scale", -1.0), "scale of a product"),
    "a product scale not a number": (first("product_scale", np.nan), "scale of a product"),
    "a product scale without end": (first("product_scale", np.inf), "scale of a product"),
    "product slopes not a number": (first("product_slope", np.nan), "slopes must be finite"),
    "missing cells that are counted": (
        lambda h, _: [g.update(kind="missing") for g in h["groups"] if g["event"] == "categorical"],
        "it is of missings, which categorical cannot count so",
    ),
    "missing cells of another kind": (
        lambda h, _: h["settings"].update(presence="never"),
        "settings.presence is 'never', not 'auto' or 'ignore'",
    ),
    "nothing of missing cells": (
        lambda h, _: h["settings"].pop("presence"),
        "settings has no 'presence', or lacks it",
    ),
    "a column of the table that follows": (
        lambda h, _: h["columns"].append({"name": "Missing", "of": "level"}),
        "is an object of 2 entries, not a string",
    ),
    "missing cells of missing cells": (
        lambda h, _: h["weights"]["of"].append([0, {"name": "Missing", "of": {}}, None]),
        "of is an object",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_refused_in_one_sentence(name: str, saved: Path) -> None:
    change, why = LIES[name]
    rewrite(saved, change)
    assert_refused(saved, why)


def refused_or_predicts(path: Path) -> bool:
    """Whether a file is refused, in one sentence; else it predicts probabilities."""
    with in_little_memory():
        nb, refused = outcome(lambda: load(path))
    if refused is not None:
        assert refused.startswith(f"{path} is damaged: ")
        assert is_sentence(refused)
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        p = nb.predict_proba(table(9)[0])
    assert np.isfinite(p).all()
    return False


ARRAYS = ("range", "unit", "slope", "intercept", "product", "product_scale", "product_slope")


@pytest.mark.slow
@pytest.mark.parametrize("name", ARRAYS)
def test_each_array_that_is_damaged_is_refused_or_predicts(name: str, saved: Path) -> None:
    content, (_, arrays) = saved.read_bytes(), apart(saved)
    array = arrays[f"linear/{name}"]
    shapes: list[Any] = [
        array[:-1], array[:0], np.concatenate([array, array]), array.reshape(1, -1), array.ravel(),
        array[..., None], array.astype(np.float32), array.astype(np.uint8), array.astype(np.int32),
        array.astype(np.float64 if array.dtype == np.int64 else np.int64), None,
    ]  # fmt: skip
    for new in shapes:
        if new is not None and (new.shape, new.dtype) == (array.shape, array.dtype):
            continue

        def put_it(_: Any, arrays: Arrays, new: Any = new) -> None:
            arrays.pop(f"linear/{name}")
            if new is not None:
                arrays[f"linear/{name}"] = np.ascontiguousarray(new)

        rewrite(saved, put_it)
        # Whole numbers of another type are other numbers, and no damage.
        other_type = new is not None and new.shape == array.shape
        assert refused_or_predicts(saved) or other_type, new
        saved.write_bytes(content)
    is_float = array.dtype == np.float64
    for i in range(0, array.size, max(1, array.size // 7)):
        for value in (np.nan, np.inf, -np.inf, 1e308) if is_float else (-1, 2**62, -(2**63)):

            def change(_: Any, arrays: Arrays, i: int = i, value: Any = value) -> None:
                changed = arrays[f"linear/{name}"] = arrays[f"linear/{name}"].copy()
                changed.flat[i] = value

            rewrite(saved, change)
            assert refused_or_predicts(saved), (i, value)
            saved.write_bytes(content)
    for value in (0.0, -1.0, 1e-300, 1e12, -1e12) if is_float else (0, 1, 5):
        rewrite(saved, first(name, value))
        with np.errstate(all="raise", under="ignore"):
            refused_or_predicts(saved)
        saved.write_bytes(content)


HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 3, 2**63, 0.5, 1e999, float("nan"), "", "x" * 1000, "u", "\ud800",
    [], [[]], {}, [0, "number", None], {"name": "Missing", "of": "number"},
    {"name": "TimePart", "of": "when", "part": "hour"},
    {"name": "MissingAs", "of": "number", "words": []},
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("new", HOSTILE, ids=lambda new: repr(new)[:20])
def test_each_entry_that_is_damaged_is_refused_or_predicts(new: Any, saved: Path) -> None:
    header, arrays = apart(saved)
    linear = header["weights"]["linear"]
    kinds = {(group, kind): i for i, (group, _, kind, *_) in enumerate(linear["terms"])}
    for at in paths(linear):
        if at[0] == "terms" and len(at) > 1 and at[1] not in kinds.values():
            continue  # one term of each kind is enough
        broken = json.loads(json.dumps(header))
        put(broken["weights"]["linear"], at, new)
        saved.write_bytes(container.to_bytes(broken, arrays))
        refused_or_predicts(saved)
