"""Rules: how decision tables are grown, what they add to rows, and how they read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes
from naively.counting.axis import title_of_columns
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.fitting import seek as fitting
from naively.fitting.limits import Limits
from naively.fitting.seek import BINS, begins_of, columns_of, edges_of
from naively.inspect.rules import Conditions, cells_of_rules, counted_cells, rules_of, rules_of_rows
from naively.kernels import dispatch
from naively.kernels import rules as reference
from naively.terms.functions import Above, LinearPart
from tests.learning import encoded
from tests.products import few, seeds
from tests.ruled import MODELS, model, rows

SETTINGS = {"rate": 0.3, "ridge": 3.0, "rows": 5.0}


def task(rng: np.random.Generator) -> dict[str, Any]:
    """Draw columns of bins, and labels that follow some of them."""
    n, d, k = int(rng.integers(20, 300)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    sizes = rng.integers(2, 12, d).astype(np.int64)
    codes = np.stack([rng.integers(0, size, n) for size in sizes]).astype(np.uint8)
    noise = rng.random(n) < 0.2
    monotone = rng.integers(-1, 2, d) if k == 2 else np.zeros(d)
    return {
        "codes": codes,
        "sizes": sizes,
        "ordered": rng.random(d) < 0.5,
        "joint": rng.normal(size=(n, k)),
        "right": ((codes[0] > 2) + noise).clip(0, k - 1).astype(np.int32),
        "weight": rng.random(n) + 0.5,
        "held": rng.random(n) < 0.3,
        "monotone": monotone.astype(np.int8),
    }


def xor(n: int = 1200, seed: int = 0) -> tuple[dict[str, Any], np.ndarray]:
    """Draw a table whose classes are told by three columns together; some cells are missing."""
    rng = np.random.default_rng(seed)
    X = {
        "size": rng.normal(size=n),
        "price": rng.exponential(10.0, n),
        "colour": rng.choice(["red", "green", "blue"], n).astype(object),
        "noise": rng.normal(size=n),
    }
    y = (X["size"] > 0.3) ^ (X["price"] < 7) ^ (X["colour"] == "red") ^ (rng.random(n) < 0.1)
    X["size"][::17] = np.nan
    X["colour"][::13] = None
    return X, np.where(y, "yes", "no")


# --- The kernels ---------------------------------------------------------------------------------


@pytest.mark.skipif(dispatch.NATIVE is None, reason="the native kernels are not built")
@few
@given(seed=seeds(), conditions=st.integers(1, 4), columns=st.integers(1, 3))
def test_native_tables_are_those_of_numpy(seed: int, conditions: int, columns: int) -> None:
    of = task(np.random.default_rng(seed))
    how = {"rounds": 12, "patience": seed % 5, "conditions": conditions, "columns": columns}
    found = reference.Grown(*dispatch.grow_rules(**of, **how, **SETTINGS))
    expected = reference.grow_rules(**of, **how, **SETTINGS)
    assert found.rounds == expected.rounds
    n = found.rounds
    np.testing.assert_array_equal(found.columns[:n], expected.columns[:n])
    np.testing.assert_array_equal(found.masks[:n], expected.masks[:n])
    np.testing.assert_allclose(found.values[:n], expected.values[:n], atol=1e-9)
    np.testing.assert_allclose(found.losses[: n + 1], expected.losses[: n + 1], rtol=1e-9)


@few
@given(seed=seeds(), columns=st.integers(1, 3))
def test_the_losses_are_those_of_what_was_grown(seed: int, columns: int) -> None:
    """Each table is added to all rows; of one column, to those whose cell is there."""
    of = task(np.random.default_rng(seed))
    how = {"rounds": 6, "patience": 0, "conditions": 3, "columns": columns}
    grown = reference.Grown(*dispatch.grow_rules(**of, **how, **SETTINGS))
    joint, k = of["joint"].copy(), of["joint"].shape[1]
    for at in range(grown.rounds + 1):
        log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
        loss = -(of["weight"] * log_p[np.arange(len(log_p)), of["right"]])[of["held"]].sum()
        assert grown.losses[at] == pytest.approx(loss)
        if at == grown.rounds:
            break
        used = grown.columns[at][grown.columns[at] >= 0]
        assert 1 <= len(set(used.tolist())) <= columns
        for i, code in enumerate(of["codes"].T):
            holds = [
                int(mask) >> int(code[j]) & 1
                for j, mask in zip(used, grown.masks[at], strict=False)
            ]
            if columns == 1 and any(code[j] == of["sizes"][j] - 1 for j in used):
                continue
            added = grown.values[at, sum(bit << depth for depth, bit in enumerate(holds))]
            joint[i] += [0.0, added[0]] if k == 2 else added


@few
@given(seed=seeds())
def test_tables_rise_and_fall_as_they_may(seed: int) -> None:
    of = task(np.random.default_rng(seed))
    of["ordered"][:] = True
    how = {"rounds": 8, "patience": 0, "conditions": 4, "columns": 3}
    grown = reference.Grown(*dispatch.grow_rules(**of, **how, **SETTINGS))
    for at in range(grown.rounds):
        used = grown.columns[at][grown.columns[at] >= 0]
        for depth, column in enumerate(used):
            for cell in range(2 ** len(used)):
                if of["monotone"][column] and not cell & 1 << depth:
                    high, low = grown.values[at, [cell, cell | 1 << depth], 0]
                    assert of["monotone"][column] * (high - low) >= -1e-12


@pytest.mark.skipif(dispatch.NATIVE is None, reason="the native kernels are not built")
def test_native_scores_of_rules_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    size = np.array([1, 4, 2, 3])
    first, cells = np.cumsum([0, *size]), np.cumsum([0, *3**size])
    strides = np.concatenate([3 ** np.arange(of) for of in size])
    column, bins = rng.integers(0, 5, size.sum()), 7
    of = (
        rng.integers(0, bins, (5, 40)).astype(np.int32),
        rng.integers(0, 3, bins * size.sum()) * np.repeat(strides, bins),
        np.arange(size.sum()) * bins,
        column,
        first,
        cells,
        rng.normal(size=(cells[-1], 3)),
    )
    np.testing.assert_allclose(dispatch.score_rules(*of), reference.score_rules(*of), atol=1e-12)
    with pytest.raises(ValueError, match="out of range"):
        dispatch.score_rules(of[0] + 1000, *of[1:])
    with pytest.raises(ValueError, match="too few cells"):
        dispatch.score_rules(of[0], of[1] + 9, *of[2:])


# --- Bins: frequent numbers stand alone ----------------------------------------------------------


@few
@given(seed=seeds(), bins=st.integers(2, BINS))
def test_a_number_of_more_rows_than_a_bin_has_one_of_its_own(seed: int, bins: int) -> None:
    rng = np.random.default_rng(seed)
    count = np.floor(rng.pareto(0.5, int(rng.integers(2, 300))) + 1)
    begins = begins_of(count, bins)
    assert begins[0]
    assert begins.sum() <= max(bins, 2 * (bins // 2) + 1)
    most = int(count.argmax())
    if count[most] > count.sum() / 2 and bins > 3:
        assert begins[most]
        assert begins[most + 1 : most + 2].all()


@few
@given(seed=seeds())
def test_a_weight_is_so_many_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, times = rng.integers(0, 60, 200) / 4, rng.integers(1, 5, 200)
    repeated = edges_of(np.repeat(x, times), None, 20)
    np.testing.assert_array_equal(edges_of(x, times.astype(float), 20), repeated)


# --- Rules of models -----------------------------------------------------------------------------


def test_what_columns_say_together_is_found_and_what_is_noise_is_not() -> None:
    X, y = xor()
    nb = NaiveBayes(interactions="auto").fit(X, y)
    assert nb.weights_.linear.rules
    assert nb.score(*xor(seed=1)) > 0.8
    rng = np.random.default_rng(0)
    for _ in range(4):
        none = NaiveBayes(interactions="auto").fit(X, rng.permutation(y))
        assert not none.weights_.linear.rules


def test_a_step_is_found_without_interactions_and_joins_its_column() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = np.where((x > 0.1234) & (x < 0.4) | (rng.random(2000) < 0.02), "in", "out")
    nb = NaiveBayes().fit({"x": x}, y)
    fresh = np.array([0.05, 0.18, 0.33, 0.5])
    assert nb.predict({"x": fresh}).tolist() == ["out", "in", "in", "out"]
    assert nb.explain({"x": fresh}).rows[0].column == ["class prior", "intercept", "x"]


def test_rules_are_of_no_identifier_and_as_many_as_are_asked_for() -> None:
    X, y = xor(3000)
    X["id"] = np.random.default_rng(1).permutation(len(y))
    few_rules = {"rules": 5, "without": ["price"]}
    nb = NaiveBayes(interactions="auto").fit(X, y)
    assert "id" not in {name for rule in nb.weights_.linear.rules for name in rule.columns}
    nb = NaiveBayes(interactions=few_rules).fit(*xor())
    assert len(nb.weights_.linear.rules) <= 5
    several = [*nb.weights_.linear.rules, *nb.weights_.linear.products]
    assert all("price" not in of.columns for of in several)


def test_the_numbers_of_many_classes_are_bounded() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = (X[:, 0] > 0) * 1 + (X[:, 1] > 0) * 2 + (X[:, 2] * X[:, 3] > 0) * 4
    y = y * 5 + (X[:, 0] * X[:, 1] > 0) * rng.integers(0, 5, 2000)
    nb = NaiveBayes(interactions="auto").fit(X, y)
    k = len(nb.classes_)
    held = sum(len(points) for points in nb.weights_.linear.rules.values()) * k
    assert held <= fitting.NUMBERS


def test_what_a_rule_adds_rises_with_a_monotone_column() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    X = {"age": rng.uniform(0, 1, n), "pay": rng.normal(size=n), "kind": rng.integers(0, 3, n)}
    wave = 0.3 * np.sin(12 * X["age"])  # which must not be followed
    rise = np.where(X["pay"] > 0, X["age"] > 0.6, X["kind"] == 2)
    y = (rise + wave + rng.normal(0, 0.3, n) > 0.5) * 1
    nb = NaiveBayes(interactions={"monotone": {"age": 1}}).fit(X, y)
    linear, model = nb.weights_.linear, nb.model_
    assert linear.rules
    assert not any("age" in product.columns for product in linear.products)
    grid = np.linspace(0, 1, 400)
    for pay in (-1.0, 1.0):
        for kind in (0, 2):
            rows = {"age": grid, "pay": np.full(400, pay), "kind": np.full(400, kind)}
            blocks = model.blocks(encoded(model, rows))
            rules = model.terms.several[-1]
            odds = sum(some.added(blocks) @ [-1, 1] for _, some in rules.by_columns())
            assert (np.diff(odds) >= -1e-9).all()


def test_a_rule_that_is_given_is_weighed() -> None:
    X, y = xor(4000)
    said = "size > 0.3 and price < 7 and colour = red"
    nb = NaiveBayes(interactions={"rules": 0, "given": [said]}).fit(X, y)
    (rule,) = nb.weights_.linear.rules
    assert rule.columns == ("colour", "price", "size")
    points = np.array(nb.weights_.linear.rules[rule])
    assert (np.abs(points).max(axis=1) > 0).sum() == 1
    assert points[np.abs(points).argmax() // 2, 1] > 0  # which makes it "yes"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"given": ["sise < 3"]}, "In the rule 'sise < 3': there is no column 'sise'"),
        ({"given": ["size in {3}"]}, "holds numbers"),
        ({"given": ["colour = pink"]}, "never held 'pink'"),
        ({"given": ["size"]}, "which is no condition"),
        ({"given": ["colour < 3"]}, "holds levels"),
        ({"given": "size < 3"}, "must be a list"),
        ({"without": ["x"]}, "no column of interactions"),
        ({"monotone": {"x": 1}}, "no column of interactions"),
        ({"monotone": {"size": 2}}, "must be 1 or -1"),
        ({"monotonic_cst": {"size": 1}}, "'monotone'"),
        ({"rules": -1}, "from 0 on"),
        ({"depth": 3}, "it may have 'rules'"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(asked: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        NaiveBayes(interactions=asked).fit(*xor(200))


# --- Rules in words ------------------------------------------------------------------------------


def test_the_words_of_a_row_hold_in_it_and_the_lines_sum_to_what_rules_add() -> None:
    X, y = xor()
    nb = NaiveBayes(interactions="auto").fit(X, y)
    model = nb.model_
    some = {name: column[:40] for name, column in X.items()}
    blocks = model.blocks(encoded(model, some))
    added = sum(some.added(blocks) for _, some in model.terms.several[-1].by_columns())
    for i, row in enumerate(nb.explain(some).rows):
        lines = [at for at, value in enumerate(row.value) if isinstance(value, Conditions)]
        np.testing.assert_allclose(row.log_likelihood[lines].sum(axis=0), added[i], atol=1e-12)
        for part in (part for at in lines for part in str(row.value[at]).split(" and ")):
            assert holds(part, {name: column[i] for name, column in some.items()}), part


def holds(said: str, row: dict[str, Any]) -> bool:
    """Whether a condition in words holds in a row; edges are rounded to four digits."""
    if said.endswith(" is missing"):
        cell = row[said.removesuffix(" is missing")]
        return cell is None or cell != cell
    words = said.split(" ")
    name = next(word for word in words if word in row)
    if name == "colour":
        named = said.partition("{")[2].rstrip("}").split(", ") if "{" in said else [words[-1]]
        return (row[name] in named) != (" not " in said)
    before, after = words[: words.index(name)], words[words.index(name) + 1 :]
    low = float(before[0]) if before else float(after[1]) if ">" in after[0] else -np.inf
    high = float(after[1]) if after and "<" in after[0] else np.inf
    near = 1e-3 * (1 + abs(row[name]))
    return bool(low - near <= row[name] <= high + near)


@pytest.mark.parametrize("seed", range(3))
def test_what_a_model_has_of_rules_is_what_was_grown(seed: int) -> None:
    """Conditions of numbers and levels, and of what is missing, on the rows they were grown on."""
    rng = np.random.default_rng(seed)
    n = 1500
    X = {
        "a": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        "b": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 4, n)),
        "c": rng.choice(np.array(["u", "v", "w", None], object), n),
    }
    missing = np.isnan(X["a"]) ^ np.isnan(X["b"]) ^ np.array([c is None for c in X["c"]])
    y = (missing ^ (np.nan_to_num(X["a"]) > 0.5) ^ (rng.random(n) < 0.1)).astype(int)
    nb = NaiveBayes().fit(X, y)
    sample, model = nb._learned.sample.of(nb.model_), nb.model_
    labels = sample.labels
    cut = fitting.cut_of(columns_of(model, sample.encoded(model)), dict, labels, Limits())
    joint, none = rng.normal(size=(len(labels), 2)), np.zeros(len(labels), bool)
    grown = fitting.grow_on(cut, joint, labels, none, fitting.TABLES, 30, 0)
    linear = fitting.with_rules(LinearPart(), cut, grown, labels, fitting.TABLES)
    assert {np.inf * -1} & {
        of.test.edge
        for rule in linear.rules
        for of in rule.conditions
        if isinstance(of.test, Above)
    } or seed
    expected = np.zeros(len(labels))
    for at in range(grown.rounds):
        used = grown.columns[at][grown.columns[at] >= 0]
        cell = np.zeros(len(labels), int)
        for depth, (column, mask) in enumerate(zip(used, grown.masks[at], strict=False)):
            cell |= (int(mask) >> cut.codes[column].astype(int) & 1) << depth
        expected += grown.values[at, cell, 0]
    blocks = model.blocks(sample.encoded(model)[0])
    found = np.tile(linear.intercept_of([0, 1]), (len(labels), 1))
    (rules,) = linear.of_several(model.view.axes, [0, 1])
    for _, added in linear.of_columns(blocks, [0, 1]):
        found += added
    slow = sum(some.added(blocks) for _, some in rules.by_columns())
    found += slow
    np.testing.assert_allclose(found[:, 1] - found[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(rules.added(blocks), slow, atol=1e-12)


def test_all_rules_are_listed_in_words() -> None:
    nb = NaiveBayes(interactions="auto").fit(*xor())
    listed = rules_of(nb.model_)
    assert set(listed.columns) >= {"colour × price × size"}
    assert len(set(listed.rule)) == len(nb.weights_.linear.rules)
    table = listed.to_dict()
    assert len(table["weight"]) == 2 * len(listed.rule)
    assert "colour × price × size: " in str(listed)
    assert np.isnan(listed.share).all()


def test_the_cells_of_rules_part_the_rows() -> None:
    """Each row is in one cell of each set of columns, and what is added there is what explains."""
    for name in MODELS:
        nb = model(name)
        some, _ = rows()
        batch = nb.model_.counted.schema.encode(
            as_rows(some), encode_labels([0] * 80), nb.model_.view.axes
        )
        sets = cells_of_rules(nb.model_)
        told = list(rules_of_rows(nb.model_.terms.several[-1], batch.blocks))
        assert {of.columns for of in sets} == {columns for columns, _, _ in told}
        added = {columns: np.zeros_like(of) for columns, _, of in told}
        for of in sets:
            holds = np.stack([one.of(batch.blocks) for one in of.conditions], axis=1)
            alike = (holds[:, None] == of.holds).all(axis=2)
            assert (alike.sum(axis=1) == 1).all()
            added[of.columns] += of.added[alike.argmax(axis=1)]
            np.testing.assert_array_equal(
                of.count([batch], 1).sum(axis=1), alike.sum(axis=0), strict=False
            )
        for columns, _, expected in told:
            np.testing.assert_allclose(added[columns], expected, atol=1e-12)


def test_shares_of_the_cells_of_a_rule_sum_to_1_and_the_strongest_are_among_all_items() -> None:
    X, y = xor()
    nb = NaiveBayes(interactions="auto").fit(X, y)
    listed = nb.inspect.rules()
    for rule in set(listed.rule):
        of = [i for i, number in enumerate(listed.rule) if number == rule]
        assert listed.share[of].sum() == pytest.approx(1)
    # What rows of a class gain by the rules of the same columns is parted among their cells.
    batch = nb.model_.counted.schema.encode(as_rows(X), encode_labels(y), nb.model_.view.axes)
    each = rules_of_rows(nb.model_.terms.several[-1], batch.blocks)
    told = {title_of_columns(of): added for of, _, added in each}
    cells = counted_cells(nb.model_, [batch])
    for of in cells:
        added = told[title_of_columns(of.every.columns)]
        gain = of.rows[:, 1] @ (of.every.added[:, 1] - of.every.added[:, 0])
        assert gain == pytest.approx((added[:, 1] - added[:, 0])[y == "yes"].sum())
    items = nb.inspect.strongest(30).by_class["yes"]
    best = next(item for item in items if item[0] == "colour × price × size")
    holds = np.array([c != "red" for c in X["colour"]]) & (X["price"] >= 7) & (X["size"] > 0.3)
    assert best[2] > 0.5
    assert "colour" in best[1]
    assert told["colour × price × size"][holds].mean(axis=0)[1] > 0.2
