"""The laws of counting, for every event model of CASES."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from naively import Complement, JointTable
from naively.inspect.uncertainty import probability_intervals
from naively.schema.settings import PURE
from tests.cases import CASES, ORACLES, Case
from tests.laws import Sample, assert_same, samples
from tests.learning import encoded, learn_table

every_case = pytest.mark.parametrize("case", CASES, ids=repr)
on_tables = pytest.mark.parametrize("case", [c for c in CASES if not c.text], ids=repr)
on_numbers = pytest.mark.parametrize("case", [c for c in CASES if c.numbers], ids=repr)


@every_case
@given(data=st.data())
def test_merge_is_refit(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case, least=2, weights=True))
    cut = data.draw(st.integers(1, len(sample) - 1))
    merged = sample.take(slice(cut)).model + sample.take(slice(cut, None)).model
    assert_same(merged, sample.model, sample.rows)


@every_case
@given(data=st.data())
def test_forgotten_is_never_seen(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case, least=2, weights=True))
    cut = data.draw(st.integers(1, len(sample) - 1))
    kept = sample.take(slice(cut))
    assume(kept.weight is not None and kept.weight.any())
    assert_same(sample.model - sample.take(slice(cut, None)).model, kept.model, sample.rows)


@every_case
@given(data=st.data())
def test_the_order_of_rows_does_not_show(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case, weights=True))
    order = data.draw(st.permutations(range(len(sample))))
    assert_same(sample.take(np.array(order)).model, sample.model, sample.rows)


@every_case
@given(data=st.data())
def test_chunks_and_the_tree_of_merging_do_not_show(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case, least=3))
    a, b, c = (part.model for part in (sample.take(slice(i, None, 3)) for i in range(3)))
    assert_same((a + b) + c, a + (b + c), sample.rows)
    assert_same((c + a) + b, sample.model, sample.rows)


@every_case
@given(data=st.data())
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(
    case: Case, data: st.DataObject
) -> None:
    sample = data.draw(samples(case))
    times = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(sample), max_size=len(sample)))
    )
    assume(times.any())
    weighted = Sample(case, sample.columns, sample.y, times.astype(float))
    repeated = sample.take(np.repeat(np.arange(len(sample)), times))
    assert_same(weighted.model, repeated.model, sample.rows)


@every_case
@given(data=st.data())
def test_decay_distributes(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case, least=2))
    cut = data.draw(st.integers(1, len(sample) - 1))
    a, b = sample.take(slice(cut)).model, sample.take(slice(cut, None)).model
    assert_same((a + b) * 0.5, a * 0.5 + b * 0.5, sample.rows)


@on_numbers
@given(data=st.data())
def test_dense_is_sparse(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case, missing=False))
    X = np.column_stack(list(sample.columns.values()))
    csr = sparse.csr_array(X)
    a, b = (learn_table(table, sample.y, case.event) for table in (X, csr))
    assert_same(a, b, sample.rows)
    mine, theirs = (of.score(encoded(of, table), "joint") for of, table in ((a, X), (b, csr)))
    np.testing.assert_allclose(theirs, mine, rtol=1e-12)


@on_tables
@given(data=st.data())
def test_a_missing_column_is_no_column(case: Case, data: st.DataObject) -> None:
    if isinstance(case.event, JointTable):
        pytest.skip("a row with a missing cell is missing")
    sample = data.draw(samples(case))
    missing = {f"missing {name}": cells for name, cells in sample.missing(len(sample)).items()}
    wider = Sample(case, sample.columns | missing, sample.y)
    np.testing.assert_allclose(
        wider.model.joint_log_likelihood(wider.rows),
        sample.model.joint_log_likelihood(sample.rows),
        rtol=1e-12,
        atol=1e-10,
    )


@every_case
@given(data=st.data())
def test_a_missing_cell_says_nothing(case: Case, data: st.DataObject) -> None:
    if case.settings is not PURE:
        pytest.skip("that a cell is missing is evidence")
    sample = data.draw(samples(case))
    model = sample.model
    rows = Sample(case, sample.missing(1), sample.y[:1]).rows
    np.testing.assert_allclose(
        model.log_posterior(rows)[0], model.class_log_prior, rtol=0, atol=1e-12
    )


@every_case
@given(data=st.data())
def test_contributions_sum_to_the_joint(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    model = sample.model
    total = np.tile(model.class_log_prior, (len(sample), 1))
    terms = model.terms
    for _, found in terms.items(terms.read(model.encode(sample.rows))):
        np.add.at(total, found.row, found.value)
    joint = model.joint_log_likelihood(sample.rows)
    finite = np.isfinite(joint)
    assert (finite == np.isfinite(total)).all()
    size = 1 + np.abs(joint[finite]).max(initial=0.0)
    np.testing.assert_allclose(total[finite], joint[finite], rtol=0, atol=1e-10 * size)


@every_case
@given(data=st.data())
def test_a_row_alone_is_scored_as_in_a_batch(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    model = sample.model
    batch = model.posterior(sample.rows)
    for i in range(len(sample)):
        alone = model.posterior(sample.take(slice(i, i + 1)).rows)
        np.testing.assert_allclose(alone[0], batch[i], rtol=1e-9, atol=1e-12)


@every_case
@given(data=st.data())
def test_an_interval_holds_its_probability_or_is_refused(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    model, rows = sample.model, sample.rows
    try:
        found = probability_intervals(model, rows, 0.9, None)
    except ValueError as error:
        assert "is not known for" in str(error)  # noqa: PT017
        return
    np.testing.assert_allclose(found.probability, model.posterior(rows), atol=1e-12)
    assert (found.low >= 0).all()
    assert (found.low <= found.probability).all()
    assert (found.probability <= found.high).all()
    assert (found.high <= 1).all()
    last = probability_intervals(model, rows.take(slice(len(sample) - 1, None)), 0.9, None)
    np.testing.assert_allclose(last.low, found.low[-1:], atol=1e-9)
    np.testing.assert_allclose(last.high, found.high[-1:], atol=1e-9)


@every_case
@given(data=st.data())
def test_posteriors_are_probabilities(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    other = data.draw(samples(case))
    model = sample.model
    first = next(iter(other.columns.values()))
    columns = {name: other.columns.get(name, first) for name in sample.columns}
    rows = Sample(case, columns, other.y).rows
    p = model.posterior(rows)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.log_posterior(rows)), p, atol=1e-12)
    certain = p.max(axis=1) > 0.500001
    best = model.classes[p.argmax(axis=1)]
    assert (model.decide(rows)[certain] == best[certain]).all()


@pytest.mark.parametrize("case", ORACLES, ids=repr)
@given(data=st.data())
def test_scikit_learn_computes_the_same(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case, missing=False, weights=True, least=4))
    assert sample.weight is not None
    sample.weight += 1.0
    X = np.column_stack(list(sample.columns.values()))
    if type(case.event).__name__ == "Categorical":  # scikit-learn counts codes never seen as levels
        X = np.column_stack([np.unique(x, return_inverse=True)[1] for x in X.T])
    model = learn_table(X, sample.y, case.event, weight=sample.weight)
    if type(case.event).__name__ == "Gaussian":  # without smoothing both divide by the variance
        assume(all(X[sample.y == c].var(axis=0).min() > 1e-3 for c in model.classes))
    if isinstance(case.event, Complement):  # theirs of one class or column divides by zero
        assume(len(model.classes) > 1 and X.shape[1] > 1)
    assert case.oracle is not None
    theirs = case.oracle().fit(X, sample.y, sample.weight)
    mine, oracle = model.score(encoded(model, X), "joint"), theirs.predict_joint_log_proba(X)
    if isinstance(case.event, Complement):  # scikit-learn's has no class prior, unless there is one
        mine = mine - model.class_log_prior
    np.testing.assert_allclose(mine, oracle, rtol=1e-8, atol=1e-8)


@on_tables
@given(data=st.data())
def test_columns_may_come_in_any_order(case: Case, data: st.DataObject) -> None:
    sample = data.draw(samples(case))
    turned = Sample(case, dict(reversed(sample.columns.items())), sample.y)
    model = sample.model
    np.testing.assert_allclose(
        model.joint_log_likelihood(turned.rows), model.joint_log_likelihood(sample.rows), rtol=1e-12
    )
