"""``interactions="auto"``: learned where there are some, none of noise, and in every law."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset
from scipy import sparse

from naively import Multinomial, NaiveBayes, load
from naively.assess import folds as cross_validate
from naively.fitting import reservoir
from naively.fitting.leave_one_out import left_out, linear_evidence
from naively.fitting.sample import FEWEST, add_interactions
from naively.fitting.weights import log_loss
from naively.model.model import Weights
from naively.terms.functions import Rule
from tests.fittings import mixed, noise, together
from tests.products import assert_same, assert_same_tally

NOTE = re.compile(
    r"Interactions: (\d+) products? and (\d+) rules? of columns; the log loss of held-out "
    r"rows is ([\d.e-]+) with them, and ([\d.e-]+) without\."
)
Labelled = tuple[dict[str, Any], np.ndarray]


def auto(**settings: Any) -> NaiveBayes:
    return NaiveBayes(interactions="auto", **settings)


def chequers(n: int, seed: int = 0) -> Labelled:
    """Draw columns of which two tell the class as the squares of a board: rules do, no product."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0, 4, (2, n))
    black = (np.floor(a) + np.floor(b)) % 2 == 1
    y = np.where(black ^ (rng.random(n) < 0.05), "p", "q")
    c = rng.choice(["u", "v", "w"], n).astype(object)
    return {"a": a, "b": b, "c": c}, y


def both_kinds(n: int, seed: int = 0) -> Labelled:
    """Draw the same with two columns more, whose product tells the class three times of four."""
    table, y = chequers(n, seed)
    rng = np.random.default_rng(seed + 100)
    d, e = rng.normal(size=(2, n))
    sign = np.where((y == "p") ^ (rng.random(n) < 0.25), 1.0, -1.0)
    return {**table, "d": d, "e": np.abs(e) * np.sign(d) * sign}, y


def part(table: Labelled, rows: Any) -> Labelled:
    return {name: column[rows] for name, column in table[0].items()}, table[1][rows]


def weights_of(nb: NaiveBayes) -> Weights:
    assert nb.weights_ is not None
    return nb.weights_


def rules_of(nb: NaiveBayes) -> list[Rule]:
    return list(weights_of(nb).linear.rules)


def together_of(nb: NaiveBayes) -> set[str]:
    """Return which columns are taken together."""
    return set(weights_of(nb).linear.together)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["truths", "levels", "numbers"])
@pytest.mark.parametrize("n", [300, 3000])
def test_what_two_columns_say_only_together_is_learned(how: str, n: int) -> None:
    test = together(1000, how, seed=9)
    plain = NaiveBayes(weights="temperature").fit(*together(n, how))  # which knows no whole row
    nb = auto().fit(*together(n, how))
    assert plain.score(*test) < 0.8  # a sum is right in at most three of the four cells
    assert nb.score(*test) > (0.95 if how == "numbers" else 0.99)
    assert nb.model_.has_interactions
    assert nb.feature_importances_[:2].min() > 10 * nb.feature_importances_[2]
    assert nb.assess().log_loss < 0.6 * plain.assess().log_loss
    assert nb.why_no_interactions_ == ""


def test_what_no_product_says_is_told_by_rules() -> None:
    nb, test = auto().fit(*chequers(2000)), chequers(1000, seed=9)
    assert all({"a", "b"} <= set(rule.columns) for rule in rules_of(nb)[:5])
    assert nb.score(*test) > 0.85
    assert NaiveBayes(derived=None).fit(*chequers(2000)).score(*test) < 0.6


def test_columns_of_arrays_and_parts_of_times_are_taken_together_too() -> None:
    X, y = chequers(1000)
    matrix = np.stack([X["a"], X["b"]], axis=1)
    nb = auto().fit(matrix, y)
    assert {rule.columns for rule in rules_of(nb)} == {(0, 1)}
    hours = np.datetime64("2026-01-01T00:00") + np.arange(1000) * np.timedelta64(7, "h")
    night = (np.arange(1000) * 7) % 24 < 12
    told = np.where(night == (X["c"] == "u"), "p", "q")
    of_time = auto().fit({"at": hours, "c": X["c"]}, told)
    assert of_time.score({"at": hours, "c": X["c"]}, told) > 0.95
    assert of_time.feature_importances_.shape == (2,)


@pytest.mark.slow
def test_what_was_chosen_and_gained_is_in_the_notes() -> None:
    for table in (chequers(1000), together(600, "numbers")):
        nb = auto().fit(*table)
        (note,) = nb.notes_
        found = NOTE.fullmatch(note)
        assert found is not None
        products, rules, after, before = map(float, found.groups())
        assert products == len(weights_of(nb).linear.products)
        assert rules == len(rules_of(nb))
        assert after < before
        assert after == pytest.approx(nb.assess().log_loss, abs=0.06)
        assert before == pytest.approx(np.log(2), abs=0.02)  # no column says anything alone


def test_what_lines_gain_is_not_said_to_be_gained_by_interactions() -> None:
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 1500))
    c = a + 0.2 * noise
    told = 10 * (a - c) + 2 * a * b + rng.logistic(size=1500)
    X, y = {"a": a, "b": b, "c": c}, np.where(told > 0, "p", "q")
    found = NOTE.fullmatch(auto(derived=None).fit(X, y).notes_[0])
    assert found is not None
    pure = NaiveBayes(weights="temperature").fit(X, y).assess().log_loss
    lines = NaiveBayes(derived=None).fit(X, y).assess().log_loss
    assert lines < pure - 0.1
    assert float(found[4]) == pytest.approx(lines, abs=0.03)


@pytest.mark.parametrize(("n", "d", "k"), [(200, 60, 2), (600, 40, 2), (2500, 20, 3)])
def test_of_noise_hardly_anything_is_chosen(n: int, d: int, k: int) -> None:
    """Also of so many columns that some must gain by chance on the rows that chose."""
    chosen = 0
    for seed in range(4):
        X, y = noise(n, d, k, seed)
        nb, plain = auto().fit(X, y), NaiveBayes().fit(X, y)
        if nb.notes_:  # by chance the held-out rows gain too, once in ten times of so few rows
            chosen += 1
            continue
        assert nb.why_no_interactions_ == (
            "no product and no rule of columns lowers the log loss of held-out rows"
        )
        assert not nb.model_.has_interactions
        np.testing.assert_allclose(nb.predict_proba(X), plain.predict_proba(X), atol=1e-3)
    assert chosen <= (n < 300)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_assessment_of_noise_is_no_better_than_the_class_prior(seed: int) -> None:
    """Some of so many rules fit the labels by chance; none may be chosen by the rows scored."""
    X, y = noise(240, 40, 2, seed)
    nb = auto().fit(X, y)
    share = np.bincount(y) / len(y)
    assert nb.assess().log_loss > log_loss(share[y]) - 0.02


def test_the_assessment_chooses_again_without_each_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = chequers(300)
    nb = auto().fit(X, y)
    rows: list[float] = []

    def spied(model: Any, sample: Any, *of: Any) -> Any:
        assert not of
        assert not model.has_interactions
        rows.append(model.counted.tally.class_count.sum())
        assert rows[-1] == sample.labels.weights.sum()
        return add_interactions(model, sample)

    monkeypatch.setattr(cross_validate, "add_interactions", spied)
    folds = nb.assess().folds
    assert len(rows) == folds[0]
    assert set(rows) <= {300 - n for n in range(300 // folds[1], 300 // folds[1] + 2)}


TEXTS = ["the cat sat down", "a dog ran away again", "it rains on the town", "we see the sun"]
TEXTS = [f"{text} x{i} {j}" for i in range(30) for j, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    ("X", "y", "settings", "why"),
    [
        (noise(99, 3, 2, 0)[0], np.arange(99) % 2, {}, "99 rows are too few, it takes 100"),
        (noise(200, 3, 2, 0)[0], np.zeros(200), {}, "there is only one class"),
        (noise(200, 1, 2, 0)[0], np.arange(200) % 2, {}, "not of words of texts or of bags"),
        (TEXTS, np.arange(120) // 4 % 2, {}, "not of words of texts or of bags"),
        (
            sparse.csr_array(np.random.default_rng(0).poisson(1.0, (200, 5)).astype(float)),
            np.arange(200) % 2,
            {"event_models": Multinomial()},
            "not of words of texts or of bags",
        ),
    ],
    ids=["few", "one class", "one column", "texts", "bags"],
)
def test_where_there_can_be_none_it_says_why(
    X: Any, y: np.ndarray, settings: dict[str, Any], why: str
) -> None:
    nb = auto(**settings).fit(X, y)
    assert why in nb.why_no_interactions_
    assert nb.notes_ == ()
    plain = NaiveBayes(**settings).fit(X, y)
    np.testing.assert_array_equal(nb.predict_proba(X), plain.predict_proba(X))
    # Nor are there any once weights are fitted again.
    assert not nb.calibrate().model_.has_interactions
    np.testing.assert_array_equal(nb.predict_proba(X), plain.calibrate().predict_proba(X))
    assert FEWEST == 100


@pytest.mark.parametrize("draw", [chequers, lambda n: mixed(n)[:2]], ids=["chequers", "mixed"])
def test_the_order_of_rows_and_batches_do_not_show(draw: Any) -> None:
    table = draw(400)
    nb, order = auto().fit(*table), np.random.default_rng(1).permutation(400)
    shuffled = auto().fit(*part(table, order))
    assert rules_of(shuffled) == rules_of(nb)
    assert_same(shuffled, nb, table[0])

    tables = []
    for rows in (slice(150), slice(150, 180), slice(180, None)):
        X, y = part(table, rows)
        tables.append(pa.table({**X, "label": y}))
    for stream in (dataset.dataset(pa.concat_tables(tables)), iter(tables)):
        streamed = auto().fit(stream, "label")
        assert rules_of(streamed) == rules_of(nb)
        assert_same(streamed, nb, table[0])


def test_levels_that_come_equally_often_are_taken_alike_in_any_order() -> None:
    rng = np.random.default_rng(0)
    level = np.repeat([f"level {i:02}" for i in range(16)], 25).astype(object)
    a = rng.normal(size=400)
    y = np.where((level < "level 08") ^ (a > 0), "p", "q")
    table = {"level": level, "a": a}, y
    plan = auto().fit(*table)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(400)
        other = auto().fit(*part(table, order))
        assert rules_of(other) == rules_of(plan)
        assert_same(other, plan, table[0])


@pytest.mark.filterwarnings("ignore:Nearly every row of class")
@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize("alike", [True, False])
def test_a_row_of_frequency_two_is_the_row_twice(n: int, alike: bool) -> None:
    X, y = chequers(n)
    times = np.full(n, 2) if alike else 1 + np.arange(n) % 3
    weighted = auto().fit(X, y, frequencies=times)
    twice = auto().fit(*part((X, y), np.repeat(np.arange(n), times)))
    assert rules_of(weighted) == rules_of(twice)
    assert len(rules_of(twice)) > 0 or n < 100
    assert weighted.why_no_interactions_ == twice.why_no_interactions_
    assert_same(weighted, twice, X)


def test_merged_models_have_the_interactions_of_all_rows() -> None:
    table = chequers(800)
    one, other = (auto().fit(*part(table, of)) for of in (slice(400), slice(400, None)))
    whole = auto().fit(*table)
    assert rules_of(one) != rules_of(other)
    merged = one.merge(other).calibrate()
    assert rules_of(merged) == rules_of(whole)
    assert_same(merged, whole, table[0])


def test_without_samples_merged_weights_are_the_mean() -> None:
    one, other = auto().fit(*both_kinds(800)), auto().fit(*both_kinds(400, seed=3))
    one, other = (
        pickle.loads(pickle.dumps(nb))  # noqa: S301  (without a sample)
        for nb in (one, other)
    )
    mine, theirs = weights_of(one).linear, weights_of(other).linear
    assert mine.products
    assert mine.rules
    merged = weights_of(one.merge(other))
    assert merged.rows == 1200
    for found, ours, others in (
        (merged.linear.products, mine.products, theirs.products),
        (merged.linear.rules, mine.rules, theirs.rules),
    ):
        assert found.keys() == {*ours, *others}
        for of, values in found.items():
            nothing = np.zeros_like(values)
            a, b = (np.array(linear.get(of, nothing)) for linear in (ours, others))
            np.testing.assert_allclose(values, (2 * a + b) / 3, atol=1e-15)
    joint = one.predict_joint_log_proba(both_kinds(50)[0])
    assert np.isfinite(joint).all()


def test_interactions_are_chosen_anew_once_the_rows_are_a_tenth_more() -> None:
    table = chequers(900)
    nb, whole = auto().fit(*part(table, slice(850))), auto().fit(*table)
    weights = nb.weights_
    nb.partial_fit(*part(table, slice(850, 900)))
    assert nb.weights_ is weights  # not a tenth more
    assert_same_tally(nb.tally_, whole.tally_)
    assert_same(nb.calibrate(), whole, table[0])
    stale = auto().fit(*part(table, slice(400)))
    assert_same(stale.partial_fit(*part(table, slice(400, 900))), whole, table[0])


def test_what_is_forgotten_and_decays_leaves_the_choice() -> None:
    table = chequers(800)
    nb = auto().fit(*part(table, slice(750)))
    weights, p = nb.weights_, nb.predict_proba(table[0])
    more = part(table, slice(750, None))
    nb.partial_fit(*more).forget(*more)
    assert nb.weights_ == weights
    np.testing.assert_allclose(nb.predict_proba(table[0]), p, atol=1e-9)
    nb.decay(0.5)
    assert weights_of(nb).linear == weights_of(auto().fit(*part(table, slice(750)))).linear
    assert nb.score(*table) > 0.65


@pytest.mark.slow
@pytest.mark.parametrize("sample", [False, True])
def test_models_are_saved_to_the_last_bit(sample: bool, tmp_path: Path) -> None:
    X, y = chequers(500)
    nb, other = auto().fit(X, y), auto().fit(*chequers(500, seed=3))
    assert rules_of(nb)
    nb.save(tmp_path / "m.naively", keep_rows=sample)

    def again() -> NaiveBayes:
        same = load(tmp_path / "m.naively")
        assert isinstance(same, NaiveBayes)
        return same

    same = again()
    assert same.interactions == "auto"
    np.testing.assert_array_equal(same.predict_proba(X), nb.predict_proba(X))
    assert (same.schema_, same.weights_) == (nb.schema_, nb.weights_)
    assert str(same.schema_) == str(nb.schema_)
    more = chequers(600, seed=5)
    if not sample:
        with pytest.raises(ValueError, match="not in memory"):
            same.assess()
        return
    assert same.assess().to_dict() == nb.assess().to_dict()

    def same_after(*after: NaiveBayes) -> None:
        a, b = after
        assert a.weights_ == b.weights_
        np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))

    def fresh() -> NaiveBayes:
        return auto().fit(X, y)

    same_after(again().calibrate(), fresh().calibrate())
    same_after(again().partial_fit(*more), fresh().partial_fit(*more))
    same_after(again().merge(other), fresh().merge(auto().fit(*chequers(500, seed=3))))


def test_explanations_show_both_values_and_sum_to_the_log_odds() -> None:
    X, y = together(600, "numbers")
    nb = auto().fit(X, y)
    assert weights_of(nb).linear.products
    row = {name: column[:1] for name, column in X.items()}
    (of_row,) = nb.explain(row)
    assert ("a × b", (X["a"][0], X["b"][0])) in zip(of_row.column, of_row.value, strict=True)
    odds = np.diff(nb.predict_log_proba(row)[0])[0]
    np.testing.assert_allclose(of_row.weights(1).sum(), odds)


def test_what_products_and_rules_say_of_the_same_columns_is_added_up() -> None:
    X, y = together(600, "numbers")
    nb = auto().fit(X, y)
    linear = weights_of(nb).linear
    assert {of.columns for of in linear.products} & {of.columns for of in linear.rules}
    batch = nb.model_.encode(*nb._labelled(X, y, None))
    batches = [batch.take(np.arange(100)), batch.take(np.arange(100, 600))]
    found = left_out(nb.model_, batches, learned=False)
    joint = found.joint(weights_of(nb)) + sum(linear_evidence(nb.model_, batches).values())
    joint += found.class_prior - found.prior
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(nb.predict_proba(X), expected, rtol=0, atol=1e-10)


def test_a_missing_cell_says_nothing_with_another() -> None:
    """But in rules, where it is on one side of a condition."""
    for fitted, row in [
        (auto().fit(*together(600, "truths")), {"a": [None], "b": [True], "c": [False]}),
        (auto().fit(*together(600, "levels")), {"a": [None], "b": ["n0"], "c": ["n1"]}),
        (auto().fit(*together(600, "numbers")), {"a": [None], "b": [0.5], "c": [-0.5]}),
    ]:
        linear = replace(weights_of(fitted).linear, rules={})
        fitted._exchange(model=fitted.model_.weighed(replace(weights_of(fitted), linear=linear)))
        (of_row,) = fitted.explain(row)
        weight = dict(zip(of_row.column, of_row.weights(0), strict=True))
        assert weight.get("a × b", 0.0) == 0.0  # what adds exactly nothing need not be shown
        there = fitted.explain({**row, "a": row["b"]})[0]
        assert dict(zip(there.column, there.weights(0), strict=True))["a × b"] != 0.0
        odds = np.diff(fitted.predict_log_proba(row)[0])[0]
        np.testing.assert_allclose(of_row.weights(1).sum(), odds)
    nb = auto().fit(*chequers(1000))
    with pytest.warns(UserWarning, match="counted as missing"):
        lacking = nb.predict_proba({"b": [0.5], "c": ["u"]})
    np.testing.assert_array_equal(lacking, nb.predict_proba({"a": [None], "b": [0.5], "c": ["u"]}))


def test_levels_that_were_not_seen_are_alike() -> None:
    nb = auto().fit(*together(600, "levels"))
    X = {"a": ["never", "seen", "n0"], "b": ["n0"] * 3, "c": ["p0"] * 3}
    p = nb.predict_proba(X)
    np.testing.assert_array_equal(p[0], p[1])
    assert not np.allclose(p[0], p[2], atol=0.1)
    assert np.isfinite(p).all()


def test_a_class_that_comes_later_is_learned() -> None:
    X, y = together(600, "numbers")
    nb = auto().fit(X, y)
    n = 200
    rng = np.random.default_rng(1)
    later = {"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.normal(6, 1, n)}
    nb.partial_fit(later, ["r"] * n)
    p = nb.predict_proba({**X})
    assert p.shape == (600, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert nb.calibrate().score(later, ["r"] * n) > 0.9
    assert nb.score(X, y) > 0.9
    assert {len(of) for of in weights_of(nb).linear.products.values()} == {3}


def test_interactions_are_fitted_to_rows_that_were_not_learned() -> None:
    """And of fewer rows than it takes to choose there are none."""
    nb = auto().fit(*chequers(1000))
    nb.calibrate(*chequers(800, seed=5))
    assert rules_of(nb)
    assert nb.score(*chequers(1000, seed=9)) > 0.75
    nb.calibrate(*chequers(99, seed=5))
    assert not nb.model_.has_interactions
    products = auto().fit(*together(600, "numbers")).calibrate(*together(400, "numbers", seed=5))
    assert products.score(*together(1000, "numbers", seed=9)) > 0.9


def test_interactions_have_no_part_in_log_p_of_a_row_nor_in_what_is_drawn() -> None:
    X, y = chequers(1000)
    plain, nb = NaiveBayes().fit(X, y), auto().fit(X, y)
    np.testing.assert_allclose(plain.score_samples(X), nb.score_samples(X))
    drawn, _ = nb.inspect.sample(3, random_state=0)
    assert list(drawn) == ["a", "b", "c"]
    levels, of = together(600, "levels")
    with pytest.raises(ValueError, match="several columns at a time"):
        auto(event_models="categorical").fit(levels, of).inspect.linear()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"interactions": "all"}, "interactions must be 'auto', a mapping of"),
        ({"interactions": "auto", "weights": None}, "needs weights='loo'"),
        ({"interactions": "auto", "weights": "temperature"}, "needs weights='loo'"),
    ],
)
def test_what_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NaiveBayes(**settings).fit([[0.0], [1.0]], ["a", "b"])


def test_rows_without_a_label_are_refused() -> None:
    X, y = chequers(200)
    some = np.where(np.arange(200) % 4 > 0, y.astype(object), None)
    nb = auto(semi_supervised=True)
    with pytest.raises(ValueError, match=r"interactions needs all labels: .* be left out"):
        nb.fit(X, some)
    nb.fit(X, y)
    before = nb.model_
    with pytest.raises(ValueError, match="interactions needs all labels"):
        nb.partial_fit(X, some)
    assert nb.model_ is before


def wide(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw 40 columns and four classes, which two pairs of columns tell only together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 40))
    y = 2 * (X[:, 0] * X[:, 1] > 0) + (X[:, 2] * X[:, 3] > 0)
    return X, y


def test_many_columns_and_classes_have_interactions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leave-one-out table has a bound; the rows that interactions are chosen on have none."""
    monkeypatch.setattr(reservoir, "CELLS", 40 * 4 * 150)
    (X, y), (X_test, y_test) = wide(2000, 0), wide(1000, 1)
    nb = auto().fit(X, y)
    assert nb.why_no_interactions_ == ""
    assert together_of(nb) >= {"x0 × x1", "x2 × x3"}
    assert log_loss(nb.predict_proba(X_test)[np.arange(1000), y_test]) < 0.8  # ln 4 is 1.39


@pytest.mark.filterwarnings("ignore:Nearly every row")
@pytest.mark.parametrize("found", [True, False])
def test_a_saved_sample_is_assessed_as_it_was(found: bool, tmp_path: Path) -> None:
    """What came of looking for interactions is in the file: they are chosen anew without a fold."""
    X, y = chequers(300) if found else noise(300, 10, 2, 0)
    nb = auto().fit(X, y)
    assert bool(nb.notes_) == found
    nb.save(tmp_path / "m", keep_rows=True)
    loaded = load(tmp_path / "m")
    assert loaded.interactions == "auto"
    assert loaded.notes_ == nb.notes_
    assert loaded.why_no_interactions_ == nb.why_no_interactions_
    assert loaded.assess().to_dict() == nb.assess().to_dict()
    assert rules_of(loaded.partial_fit(X, y)) == rules_of(nb.partial_fit(X, y))
    merged = load(tmp_path / "m").merge(load(tmp_path / "m"))
    assert merged.interactions == "auto"


def test_a_given_rule_has_few_conditions() -> None:
    X = {f"x{j}": np.arange(400.0) for j in range(51)}
    for n in (9, 51):
        rule = " and ".join(f"x{j} > -1" for j in range(n))
        with pytest.raises(ValueError, match=rf"^The rule 'x0.* has {n} conditions, of 8 at most"):
            NaiveBayes(interactions={"given": [rule]}).fit(X, ["a", "b"] * 200)
