"""Many words and many classes: no table of words × classes is made, nor of rows × classes.

What is asserted is the memory of NumPy's arrays (``tracemalloc``), beside that of one such table.
"""

import tracemalloc
from contextlib import contextmanager
from operator import add, sub

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.naive_bayes import BernoulliNB, ComplementNB

from naively import Bernoulli, Beta, Complement, Multinomial, MultinomialNB, NaiveBayes, Text
from naively.counting import block as blocks
from naively.counting.axis import PRESENT, Columns
from naively.counting.block import Sparse
from naively.counting.labels import Labels, encode_labels
from naively.fitting import reservoir
from naively.kernels.double_double import Sums
from naively.kernels.sparse_sums import RepeatedSums, SparseSums
from naively.terms import terms as score
from naively.terms.words import LineTerms, WordTerms
from tests.test_sparse import tables

ROWS, CLASSES, WORDS, OF_ROW = 5_000, 1_000, 40_000, 12
TABLE = 8 * WORDS * CLASSES  # bytes


@contextmanager
def little_memory(least=TABLE // 4):
    """Check that the arrays that are made take less than this at any time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < least, f"{peak:,} bytes, where a table of words × classes has {TABLE:,}"


def rows_of_words():
    """Return numbers of words, of which each comes at least once, and classes, all of which do."""
    rng = np.random.default_rng(0)
    word = rng.integers(0, WORDS, (ROWS, OF_ROW))
    word[:, :8] = rng.permutation(ROWS * 8).reshape(ROWS, 8) % WORDS
    return word, np.append(np.arange(CLASSES), rng.integers(0, CLASSES, ROWS - CLASSES))


def texts(word):
    return [" ".join(f"w{i}" for i in row) for row in word.tolist()]


def matrix(word):
    first = np.arange(len(word) + 1) * OF_ROW
    return csr_array((np.ones(word.size), word.ravel(), first), shape=(len(word), WORDS))


@pytest.mark.slow
@pytest.mark.parametrize("form", [texts, matrix])
@pytest.mark.parametrize("settings", [{"weights": None}, {"weights": "temperature"}])
@pytest.mark.parametrize("event", ["multinomial", "complement", "bernoulli"])
def test_nothing_of_a_bag_is_words_times_classes(monkeypatch, form, settings, event):
    if event == "bernoulli" and form is matrix and settings["weights"]:
        pytest.skip("each column of a matrix of truths has a weight for each class")
    monkeypatch.setattr(reservoir, "CELLS", 500_000)
    word, y = rows_of_words()
    X = form(word)
    with little_memory():
        nb = NaiveBayes(event, **settings).fit(X, y)
        nb.predict(X[:200])
        half = NaiveBayes(event, **settings).fit(X[:2_000], y[:2_000])
        half.merge(NaiveBayes(event, **settings).fit(X[2_000:], y[2_000:]))
        nb.explain(X[:1])
        if event == "multinomial":
            nb.inspect.sample(2, random_state=0)
        str(nb.model_)
        nb.n_parameters_  # noqa: B018
        half.forget(X[:500], y[:500])
        half.partial_fit(X[:500], y[:500])
        assert not (half.tally_ - nb.tally_).weight.high.any()
        half.decay(0.5)
    assert half.class_count_.sum() == ROWS / 2


@pytest.mark.slow
def test_nothing_of_the_default_is_words_times_classes(monkeypatch):
    monkeypatch.setattr(reservoir, "CELLS", 500_000)
    word, y = rows_of_words()
    X = texts(word)
    with little_memory(TABLE // 3):
        nb = NaiveBayes().fit(X, y)
        nb.predict(X[:50])
        nb.explain(X[:1])


@pytest.mark.slow
def test_labels_are_predicted_without_a_table_of_rows_times_classes(monkeypatch):
    monkeypatch.setattr(score, "AT_ONCE", 500_000)
    word, y = rows_of_words()
    X = texts(word)
    monkeypatch.setattr(reservoir, "CELLS", 500_000)
    nb = NaiveBayes().fit(X, y)
    assert len(nb.model_.view.schema.groups) > 1  # the joint of one is added to that of the next
    expected = nb.classes_[nb.predict_joint_log_proba(X).argmax(axis=1)]
    with little_memory(8 * ROWS * CLASSES):
        assert (nb.predict(X) == expected).all()


@pytest.mark.slow
def test_the_drop_in_makes_no_table_of_columns_times_classes():
    word, y = rows_of_words()
    X = matrix(word)
    with little_memory():
        nb = MultinomialNB().fit(X, y).partial_fit(X, y)
        nb.predict(X[:100])
    (block,) = nb.tally_.blocks.values()
    assert block.sums[PRESENT].nbytes < 20 * CLASSES


EVENTS = [
    Multinomial(), Multinomial(alpha=0.3), Multinomial(m=2.0, p="uniform"), Complement(),
    Complement(alpha=tuple(np.linspace(0.1, 2.0, 15))), Bernoulli(), Bernoulli(alpha=0.4),
    Bernoulli(prior=Beta(0.5, 3.0)),
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("k", [5, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_left_out_as_if_the_row_had_not_been_counted(event, k, weighted):
    rng = np.random.default_rng(k)
    often = np.append(np.full(10, 0.3), np.full(5, 0.01))  # some columns are in one row only
    x = csr_array(rng.poisson(often, size=(3 * k, 15)).astype(np.float64))
    block = event.prepare(Sparse(x.indptr, x.indices, x.data, Columns(range(15))))
    weight = rng.choice([0.5, 1.0, 2.0], 3 * k) if weighted else None
    labels = Labels(np.tile(np.arange(k, dtype=np.int32), 3), np.arange(k), weight)
    found = event.leave_one_out(event.tally(block, labels), block, labels)
    none = np.zeros(k)
    for i in range(0, 3 * k, 7):
        others = np.delete(np.arange(3 * k), i)
        without = event.tally(block.select(others), labels.take(others))
        row = block.select(np.array([i]))
        expected = event.terms(without).add(row, none, "joint", none)
        np.testing.assert_allclose(found[i], expected, atol=1e-9)


@pytest.mark.parametrize("event", [Multinomial(), Text(), Complement(), Bernoulli()])
def test_some_rows_are_left_out_as_they_are_among_all(event):
    rng = np.random.default_rng(5)
    word = rng.integers(0, 120, (60, 6))
    rows, y = [*texts(word), None], np.append(np.tile(["a", "b", "c"], 20), "a")
    nb = NaiveBayes(event, weights=None).fit(rows, y)
    (group,) = nb.model_.view.schema.groups
    counts, labels = nb.model_.view.counts[group.key], encode_labels(y)
    block = nb.model_.blocks(nb.model_.encode(nb._rows(rows)))[group.key]
    every = group.event.leave_one_out(counts, block, labels)
    some = np.array([3, 60, 17, 3])
    found = group.event.leave_one_out(counts, block.select(some), labels.take(some))
    np.testing.assert_allclose(found, every[some], rtol=0, atol=1e-12)
    assert not every[60].any()  # a text that is missing says nothing
    assert every[3].any()


SPARSE = [Complement(), Complement(norm=True), Bernoulli(), Bernoulli(alpha="auto")]


@pytest.mark.parametrize("event", SPARSE)
@pytest.mark.parametrize("weights", [None, "temperature", "loo"])
def test_sparse_models_are_those_of_the_whole_table(monkeypatch, event, weights):
    rng = np.random.default_rng(3)
    X = csr_array(rng.poisson(0.3, size=(400, 30)).astype(np.float64))
    y = np.append(np.arange(40), rng.integers(0, 40, 360))

    def fit():
        return NaiveBayes(event, weights=weights).fit(X, y)

    sparse = fit()
    kinds = {type(of) for of in sparse.model_.view.terms.values()}
    assert kinds == {WordTerms}
    monkeypatch.setattr(blocks, "FEW_CLASSES", 40)
    dense = fit()
    assert {type(of) for of in dense.model_.view.terms.values()} == {LineTerms}
    close = {"rtol": 1e-6 if weights == "loo" else 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), **close)
    np.testing.assert_allclose(
        sparse.model_.terms.start, dense.model_.terms.start, rtol=close["rtol"], atol=1e-9
    )
    each = [(nb.model_.terms, nb.model_.encode(nb._rows(X[:5]))) for nb in (sparse, dense)]
    ((_, mine),), ((_, theirs),) = (terms.items(terms.read(batch)) for terms, batch in each)
    np.testing.assert_array_equal(mine.item, theirs.item)
    np.testing.assert_allclose(mine.value, theirs.value, rtol=close["rtol"], atol=1e-9)
    if weights is None and event in SPARSE[:3]:
        peer = BernoulliNB() if event.shares else ComplementNB(norm=event.norm)
        uniform = NaiveBayes(event, weights=None, class_prior="uniform").fit(X, y)
        peer.set_params(fit_prior=False).fit(X, y)
        assert (uniform.predict(X) == peer.predict(X)).all()


@st.composite
def repeated(draw, rows=4, k=3):
    """Return a table of few different rows, and the same as `Sums`."""
    different = draw(tables(rows=draw(st.integers(1, 3)), k=k))
    size = len(different.high)
    number = draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows))
    table = RepeatedSums(different, np.array(number, np.int32))
    return table, Sums(table.high, table.low)


def check_is(table, sums):
    assert table.shape == sums.shape
    np.testing.assert_array_equal(table.high, sums.high)
    np.testing.assert_array_equal(table.low, sums.low)


@given(data=st.data())
def test_repeated_sums_are_sums(data):
    (mine, a), (theirs, b) = data.draw(repeated()), data.draw(repeated())
    for operation in (add, sub):
        check_is(operation(mine, theirs), operation(a, b))
    check_is(-mine, -a)
    check_is(mine * 0.5, a * 0.5)
    np.testing.assert_array_equal(mine.by_row(), a.by_row())
    np.testing.assert_allclose(mine.by_class(), a.by_class(), rtol=1e-12, atol=1e4)
    np.testing.assert_array_equal(mine.rows_there(), a.rows_there())
    np.testing.assert_array_equal(mine.classes_there(), a.classes_there())
    np.testing.assert_array_equal(mine.total_by_row().high, a.total_by_row().high)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=4, max_size=4)))
    check_is(mine[keep], a[keep])
    of_classes = np.array([True, False, True])
    check_is(mine[:, of_classes], a[:, of_classes])
    check_is(mine.without(of_classes), a.without(of_classes))
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=6, max_size=6))).reshape(2, 3)
    of = np.array(data.draw(st.lists(st.integers(0, 1), min_size=4, max_size=4)))
    check_is(mine.without(flags, of), a.without(flags[of]))
    check_is(SparseSums.of(a).without(flags, of), a.without(flags[of]))
    place = np.array(data.draw(st.permutations(range(6))))[:4]
    placed = Sums.zeros((6, 3))
    placed.high[place], placed.low[place] = a.high, a.low
    check_is(mine.place(place, 6), placed)
    check_is(mine.place_classes(np.array([2, 0, 3]), 5), a.place_classes(np.array([2, 0, 3]), 5))
    row, classes = np.array([3, 0, 0]), np.array([2, 0, 1])
    for table in (mine, SparseSums.of(a), a):
        np.testing.assert_array_equal(table.at(row, classes), a.high[row, classes])
    total = SparseSums.of(a).total_by_row()
    np.testing.assert_array_equal(total.high, a.total_by_row().high)


@pytest.mark.parametrize("event", [Multinomial(), Complement(), Bernoulli()], ids=str)
@pytest.mark.parametrize("weights", [None, "loo"])
def test_slopes_lie_as_the_kernel_reads_them(event, weights):
    """Otherwise each prediction, of one text too, would copy as much as there are words."""
    nb = NaiveBayes({"text": event}, weights=weights)
    nb.fit({"text": ["one two", "two three", "one one four", "four five"] * 9}, list("aabb") * 9)
    found = [
        of.evidence for of in nb.model_.terms.of.values() if isinstance(of.evidence, WordTerms)
    ]
    assert found
    for of in found:
        for slopes in (of, of.absent) if of.absent else (of,):
            for name in ("first", "classes", "value", "shift", "of_band", "weight", "band"):
                assert getattr(slopes, name).flags.c_contiguous, name
