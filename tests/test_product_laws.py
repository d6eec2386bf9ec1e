"""The laws of the whole product, through ``NaiveBayes``, for every line of PRODUCTS."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from naively import Bernoulli, Multinomial, NaiveBayes, load
from naively.fitting.leave_one_out import leave_one_out_table, linear_evidence
from naively.fitting.weights import fit
from tests.learning import encoded
from tests.products import (
    DROP_INS,
    PRODUCTS,
    Product,
    Table,
    assert_same,
    assert_same_tally,
    few,
    seeds,
)
from tests.test_missingness import FRAMES

every_product = pytest.mark.parametrize("product", PRODUCTS, ids=repr)
TABLES = [product for product in PRODUCTS if product.form == "mapping"]
CHOSEN = Product("chosen", ("size", "colour", "member"), {"interactions": "auto"}, rows=360)
ANSWERING = pytest.mark.parametrize("product", [*PRODUCTS, *DROP_INS, CHOSEN], ids=repr)
drop_ins_too = pytest.mark.parametrize("product", [*PRODUCTS, *DROP_INS], ids=repr)


@drop_ins_too
@few
@given(seed=seeds(), data=st.data())
def test_merge_is_refit(product: Product, seed: int, data: st.DataObject) -> None:
    table, fresh = product.table(seed, weights=data.draw(st.booleans())), product.table(seed + 1)
    cut = data.draw(st.integers(len(table) // 3, 2 * len(table) // 3))
    merged = product.fit(table.take(slice(cut))).merge(product.fit(table.take(slice(cut, None))))
    whole = product.fit(table)
    for nb in (merged, whole):
        if nb.weights_ is not None:
            nb.calibrate(fresh.X, fresh.y)
    assert_same(merged, whole, fresh.X)


@drop_ins_too
@few
@given(seed=seeds(), data=st.data())
def test_partial_fit_in_any_chunks_is_fit(product: Product, seed: int, data: st.DataObject) -> None:
    """The first chunk decides the schema, and has all kinds; after it they may have a row each."""
    table = product.table(seed, weights=data.draw(st.booleans()))
    first = len(table) // 2
    cuts = data.draw(st.sets(st.integers(first + 1, len(table) - 1), max_size=5))
    ends = [first, *sorted(cuts), len(table)]
    nb = product.fit(table.take(slice(first)))
    for start, end in pairwise(ends):
        X, y, weight = table.take(slice(start, end)).labelled
        nb.partial_fit(X, y, sample_weight=weight)
    if nb.weights_ is not None:
        nb.calibrate()
    assert_same(nb, product.fit(table), product.table(seed + 1).X)


@every_product
@few
@given(seed=seeds(), data=st.data())
def test_forgotten_is_never_seen(product: Product, seed: int, data: st.DataObject) -> None:
    table, fresh = product.table(seed, weights=data.draw(st.booleans())), product.table(seed + 1)
    gone = np.zeros(len(table), bool)
    some = data.draw(st.sets(st.integers(0, len(table) - 1), min_size=1, max_size=24))
    gone[list(some)] = True
    if data.draw(st.booleans()):
        gone |= table.y == "spam"  # a whole class
    nb, never = product.fit(table), product.fit(table.take(~gone))
    nb.forget(*table.take(gone).labelled)
    # With how many rows a weight of 1 is they stay.
    nb._exchange(model=nb.model_.weighed(never.weights_))
    known = fresh.take(np.isin(fresh.y, never.classes_))
    for one in (nb, never):
        if one.weights_ is not None:
            one.calibrate(known.X, known.y)
    assert_same(nb, never, fresh.X)


@drop_ins_too
@few
@given(seed=seeds())
def test_the_order_of_rows_does_not_show(product: Product, seed: int) -> None:
    table = product.table(seed, weights=bool(seed % 2))
    order = np.random.default_rng(seed).permutation(len(table))
    a, b = product.fit(table), product.fit(table.take(order))
    assert_same(a, b, product.table(seed + 1).X)


@pytest.mark.parametrize("seed", range(20))
def test_what_classes_are_called_does_not_show_where_they_have_the_same_rows(seed: int) -> None:
    """Only how often each row came tells the classes apart."""
    rng = np.random.default_rng(seed)
    X = {"member": [*(rng.random(40) < 0.5).tolist(), None, True]}
    of, weight = rng.integers(0, 3, 42), rng.integers(1, 100, 42) / 20
    a, b = (
        NaiveBayes().fit(X, np.array(names)[of], sample_weight=weight)
        for names in (["a", "b", "c"], ["c", "a", "b"])
    )
    some = {"member": [True, False, None]}
    np.testing.assert_allclose(
        a.predict_proba(some), b.predict_proba(some)[:, [2, 0, 1]], rtol=1e-5
    )


@every_product
@few
@given(seed=seeds())
def test_frequency_two_is_the_row_twice_and_zero_no_row(product: Product, seed: int) -> None:
    """What a column is, is decided by its rows: strings that are mostly distinct must stay so.

    The optimizer stops at another point of the same valley, as it is told of the mean over rows.
    """
    table = product.table(seed)
    times = np.random.default_rng(seed).integers(0, 3, len(table))
    repeated = table.take(np.repeat(np.arange(len(table)), times))
    a = NaiveBayes(**product.settings).fit(table.X, table.y, frequencies=times)
    b = NaiveBayes(**product.settings).fit(repeated.X, repeated.y)
    assert_same_tally(a.tally_, b.tally_)
    weighted = NaiveBayes(**product.settings).fit(table.X, table.y, times.astype(np.float64))
    assert_same_tally(weighted.tally_, b.tally_)
    assert_same(a, b, product.table(seed + 1).X, atol=1e-2)


@pytest.mark.parametrize("product", [*PRODUCTS, CHOSEN], ids=repr)
@few
@given(seed=seeds())
def test_explanations_sum_to_the_joint(product: Product, seed: int) -> None:
    nb = product.fit(product.table(seed, weights=True))
    X = product.table(seed + 1, 20).X
    joint = nb.predict_joint_log_proba(X)
    model = nb.model_
    total = np.tile(model.terms.start, (20, 1))
    blocks = model.terms.read(encoded(model, X))
    for _, found in model.terms.items(blocks):
        np.add.at(total, found.row, found.value)
    total += sum(added for _, added in model.terms.together(blocks))
    np.testing.assert_allclose(total, joint, rtol=1e-10, atol=1e-10)

    table = nb.explain(X).to_dict()
    classes = nb.classes_.tolist()
    said = np.zeros_like(joint)
    place = [classes.index(label) for label in table["class"]]
    np.add.at(said, (table["row"], place), table["weight"])
    for c in range(len(classes)):
        rival = np.delete(joint, c, axis=1).max(axis=1)
        np.testing.assert_allclose(said[:, c], joint[:, c] - rival, rtol=1e-9, atol=1e-9)
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(nb.predict_proba(X), p, atol=1e-12)


@every_product
@few
@given(seed=seeds())
def test_weights_are_fitted_to_what_predictions_are_made_of(product: Product, seed: int) -> None:
    nb, table = product.fit(product.table(seed, weights=True)), product.table(seed + 1)
    rows, labels = nb._labelled(table.X, table.y, None)
    found = leave_one_out_table(nb.model_, nb.model_.encode(rows, labels), learned=False)
    weights = fit(found, "loo", 1.0).of_rows_like(nb.weights_)
    nb._exchange(model=replace(nb.model_, weights=weights))
    found = leave_one_out_table(nb.model_, nb.model_.encode(rows, labels), learned=False)
    joint = found.joint(weights)
    joint += found.class_prior - found.prior  # from that of the rows to that which was given
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(nb.predict_proba(table.X), expected, rtol=0, atol=1e-10)


@every_product
@few
@given(seed=seeds())
def test_the_linear_part_is_fitted_to_what_predictions_are_made_of(
    product: Product, seed: int
) -> None:
    """So that calibration on rows says what they are predicted by."""
    nb, table = product.fit(product.table(seed, weights=True)), product.table(seed + 1)
    if nb.weights_ is None:
        return
    nb.calibrate(table.X, table.y)
    batch = nb.model_.encode(*nb._labelled(table.X, table.y, None))
    found = leave_one_out_table(nb.model_, batch, learned=False)
    joint = found.joint(nb.weights_) + (found.class_prior - found.prior)
    joint += sum(linear_evidence(nb.model_, [batch.split()]).values())
    expected = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(nb.predict_proba(table.X), expected, rtol=0, atol=1e-10)


@ANSWERING
@few
@given(seed=seeds())
def test_a_row_alone_is_answered_as_in_a_batch(product: Product, seed: int) -> None:
    nb, table = product.fit(product.table(seed)), product.table(seed + 1, 10)
    batch = nb.predict_proba(table.X)
    alone = [nb.predict_proba(table.take(slice(i, i + 1)).X)[0] for i in range(len(table))]
    np.testing.assert_allclose(alone, batch, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@ANSWERING
@few
@given(seed=seeds())
def test_what_is_loaded_is_what_was_saved(
    product: Product, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("laws") / "model.naively"
    nb, other = product.fit(product.table(seed, weights=True)), product.table(seed + 1)
    more = product.table(seed + 2)
    nb.save(path)
    again = load(path)
    assert str(again.schema_) == str(nb.schema_)
    assert again.model_.view.schema == nb.model_.view.schema
    np.testing.assert_array_equal(again.predict_proba(other.X), nb.predict_proba(other.X))
    assert_same(again, nb, other.X, atol=0)
    X, y, _ = other.labelled
    for one in (again, nb):
        one._exchange(sample=None)  # of a loaded model no row is in memory to fit weights to
        one.merge(product.fit(more)).partial_fit(X, y).decay(0.5)
    assert_same(again, nb, X, atol=0)


@pytest.mark.parametrize("weights", ["loo", "temperature"])
def test_a_loaded_model_is_calibrated_as_before(weights: str, tmp_path: Path) -> None:
    product = Product("numbers", ("size", "dose"), {"weights": weights})
    nb, fresh = product.fit(product.table(0)), product.table(1)
    nb.save(tmp_path / "model.naively")
    again = load(tmp_path / "model.naively").calibrate(fresh.X, fresh.y)
    assert_same(again, nb.calibrate(fresh.X, fresh.y), fresh.X, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "product", [p for p in TABLES if p.name in ("defaults", "given")], ids=repr
)
@pytest.mark.parametrize("merged", [False, True], ids=["partial_fit", "merge"])
@few
@given(seed=seeds())
def test_a_column_that_came_later_was_missing_before(
    product: Product, merged: bool, seed: int
) -> None:
    """Also one that no longer comes; of both there are strings, numbers and texts."""
    table, fresh = product.table(seed), product.table(seed + 1)
    half = len(table) // 2
    later, gone = ("colour", "note", "dose"), ("member", "size")
    first, last = table.take(slice(half)), table.take(slice(half, None))
    first = replace(first, columns={c: x for c, x in first.columns.items() if c not in later})
    last = replace(last, columns={c: x for c, x in last.columns.items() if c not in gone})
    columns = {}
    for name, column in table.columns.items():
        there = np.repeat([name not in later, name not in gone], [half, len(table) - half])
        nothing = np.nan if column.dtype.kind == "f" else None
        columns[name] = np.where(there, column, nothing)
    models = product.settings.get("event_models", "auto")

    def fit_some(part: Table) -> NaiveBayes:
        named = models
        if isinstance(models, dict):
            named = {name: of for name, of in models.items() if name in part.columns}
        settings = {**product.settings, "event_models": named}
        return NaiveBayes(**settings).fit(part.X, part.y)

    nb, whole = fit_some(first), product.fit(replace(table, columns=columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that columns are lacking
        if merged:
            nb.merge(fit_some(last)).calibrate(fresh.X, fresh.y)
            whole.calibrate(fresh.X, fresh.y)
        else:
            nb.event_models = models
            nb.partial_fit(last.X, last.y).calibrate()
    assert_same(nb, whole, fresh.X, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("product", [*TABLES, CHOSEN], ids=repr)
@few
@given(seed=seeds())
def test_a_column_that_is_missing_throughout_is_no_column(product: Product, seed: int) -> None:
    table, new = product.table(seed), product.table(seed + 1)
    n = len(table)
    nothing = {
        "no number": np.full(n, np.nan),
        "no string": np.full(n, None),
        "no time": np.full(n, np.datetime64("NaT", "us")),
    }
    wider = Table(table.form, nothing | dict(table.columns), table.y)
    nb, without = product.fit(wider), product.fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that columns are lacking, or are too many
        assert_same(nb, without, new.X)
        assert_same(nb, without, new.X | nothing)
        np.testing.assert_array_equal(nb.predict_proba(new.X), nb.predict_proba(new.X | nothing))
        for name in product.columns:
            lacking = {other: column for other, column in new.X.items() if other != name}
            if lacking:
                missing = new.X | {name: np.full(n, None)}
                p, q = nb.predict_proba(lacking), nb.predict_proba(missing)
                np.testing.assert_array_equal(p, q)


@pytest.mark.slow
@pytest.mark.parametrize("frame", ["pandas", "Polars", "PyArrow", "records"])
@pytest.mark.parametrize(
    "product", [p for p in TABLES if p.name in ("defaults", "given")], ids=repr
)
@few
@given(seed=seeds())
def test_a_frame_is_its_columns(product: Product, frame: str, seed: int) -> None:
    table, new = product.table(seed), product.table(seed + 1)
    nb, make = product.fit(table), FRAMES[frame]
    of_frame = NaiveBayes(**product.settings).fit(make(table.X), table.y)
    assert_same(of_frame, nb, new.X)
    np.testing.assert_array_equal(of_frame.predict_proba(make(new.X)), nb.predict_proba(new.X))


@pytest.mark.parametrize(
    "settings",
    [
        {"event_models": Multinomial(alpha="auto")},
        {"event_models": Multinomial(alpha="auto"), "weights": "temperature"},
        {"event_models": Bernoulli(alpha="auto"), "weights": None},
    ],
    ids=str,
)
@few
@given(seed=seeds())
def test_dense_is_sparse(settings: dict[str, Any], seed: int) -> None:
    """Of a sparse matrix all columns have one weight, so that a weight for each is left out."""
    product = Product("counts", ("visits", "bit"), settings, form="array")
    table, new = product.table(seed, weights=True), product.table(seed + 1)
    dense = product.fit(table)
    csr = NaiveBayes(**settings).fit(sparse.csr_array(table.X), table.y, table.weight)
    np.testing.assert_allclose(
        csr.predict_proba(sparse.csr_array(new.X)), dense.predict_proba(new.X), atol=1e-9
    )
    np.testing.assert_allclose(csr.predict_proba(new.X), dense.predict_proba(new.X), atol=1e-9)
