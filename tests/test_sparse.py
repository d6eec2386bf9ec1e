"""Sparse sums are sums: what they hold, how texts are scored by them, and rows left out of them."""

from dataclasses import replace
from fractions import Fraction
from operator import add, sub

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.naive_bayes import MultinomialNB

from naively import Gaussian, NaiveBayes, Tally, Text
from naively.counting import block as batch
from naively.counting.axis import Words
from naively.counting.block import Documents, split_texts
from naively.kernels import dispatch, reference, sparse
from naively.kernels.double_double import Sums
from naively.kernels.sparse_sums import SparseSums, as_dense
from naively.kernels.strings import pack_strings
from naively.terms.kinds import multiply
from naively.terms.words import WordTerms

KERNELS = [pytest.param(sparse, id="numpy")]
if dispatch.NATIVE is not None:
    KERNELS.append(pytest.param(dispatch.NATIVE, id="native"))
both = pytest.mark.parametrize("kernels", KERNELS)

some_numbers = st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.1, 1e16, -1e16, 3.5])


@st.composite
def tables(draw, rows=None, k=None):
    rows = draw(st.integers(0, 5)) if rows is None else rows
    k = draw(st.integers(1, 4)) if k is None else k
    cells = draw(st.lists(some_numbers, min_size=rows * k, max_size=rows * k))
    high = np.array(cells).reshape(rows, k)
    low = np.where(high == 0.1, 1e-18, 0.0)  # what rounding left of a sum
    return Sums(high, low)


@st.composite
def texts(draw):
    """Return rows of counts of words, as CSR arrays, with classes and weights."""
    n, words, k = draw(st.integers(0, 6)), draw(st.integers(1, 7)), draw(st.integers(1, 4))
    counts = draw(
        st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 0.5]), min_size=n * words, max_size=n * words)
    )
    matrix = csr_array(np.array(counts).reshape(n, words))
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    w = np.array(draw(st.lists(st.sampled_from([1.0, 0.3, 2.0]), min_size=n, max_size=n)))
    if draw(st.booleans()):
        matrix.data[:] = 1.0
    rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data
    return rows, y, w if draw(st.booleans()) else None, k, words


def check_is(table, sums):
    """Check that a sparse table holds what a dense one does, each cell once and none that is 0."""
    assert table.shape == sums.shape
    np.testing.assert_array_equal(table.high, sums.high)
    np.testing.assert_array_equal(table.low, sums.low)
    assert ((table.stored.high != 0) | (table.stored.low != 0)).all()
    cell = table.row * table.k + table.classes
    assert (np.diff(cell) > 0).all()


@given(data=st.data())
def test_sparse_sums_are_sums(data):
    a = data.draw(tables())
    b = data.draw(tables(*a.shape))
    mine, theirs = SparseSums.of(a), SparseSums.of(b)
    check_is(mine, a)
    check_is(as_sparse_twice(mine), a)
    for operation in (add, sub):
        check_is(operation(mine, theirs), operation(a, b))
        check_is(operation(mine, b), operation(a, b))
    check_is(mine * 0.5, a * 0.5)
    check_is(mine * 0.0, a * 0.0)
    check_is(-mine, -a)
    # Numbers are added in another order, which shows where large ones cancel.
    by_row, by_class = (1e-15 * np.abs(a.high).sum(axis=axis) for axis in (1, 0))
    assert (np.abs(mine.by_row() - a.by_row()) <= by_row).all()
    assert (np.abs(mine.by_class() - a.by_class()) <= by_class).all()
    np.testing.assert_array_equal(mine.rows_there(), a.rows_there())
    np.testing.assert_array_equal(mine.classes_there(), a.classes_there())
    assert mine.is_exact == a.is_exact


def as_sparse_twice(table):
    return SparseSums.of(as_dense(table))


@given(data=st.data())
def test_rows_and_classes_of_sparse_sums_move_as_those_of_sums(data):
    a = data.draw(tables())
    rows, k = a.shape
    mine = SparseSums.of(a)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), np.bool_)
    check_is(mine[keep], a[keep])
    some = np.array(data.draw(st.lists(st.integers(0, rows - 1))) if rows else [], np.int64)
    check_is(mine[some], a[some])
    np.testing.assert_array_equal(mine.rows(some).high, a.rows(some).high)
    of_classes = np.array(data.draw(st.lists(st.booleans(), min_size=k, max_size=k)), np.bool_)
    check_is(mine[:, of_classes], a[:, of_classes])
    check_is(mine.without(of_classes), a.without(of_classes))
    place = np.array(data.draw(st.permutations(range(rows + 2))), np.int64)[:rows]
    check_is(mine.place(place, rows + 2), placed(a, place, rows + 2))
    places = np.array(data.draw(st.permutations(range(k + 1))), np.int64)[:k]
    check_is(mine.place_classes(places, k + 1), a.place_classes(places, k + 1))


def placed(sums, place, size):
    found = Sums.zeros((size, sums.shape[1]))
    found.high[place], found.low[place] = sums.high, sums.low
    return found


@given(data=st.data())
def test_the_sum_of_many_tables_is_that_of_two_and_two(data):
    k = data.draw(st.integers(1, 3))
    every = data.draw(st.lists(tables(rows=3, k=k), min_size=1, max_size=5))
    found = SparseSums.sum_of([SparseSums.of(of) for of in every], 3)
    total = every[0]
    for of in every[1:]:
        total += of
    # Each of a few additions may leave 2^-104 of what it adds, which shows where large ones cancel.
    most = sum(np.abs(of.high) for of in every)
    difference = found - total
    assert (np.abs(difference.high) <= 2.0**-100 * most).all()


@both
@given(case=texts())
def test_sparse_tallies_are_the_dense_ones(kernels, case):
    rows, y, w, k, words = case
    expected = Sums(*reference.tally_csr(*rows, y, w, k, words))
    first, classes, high, low = kernels.tally_sparse(*rows, y, w, k, words)
    assert first.dtype == np.int64
    assert classes.dtype == np.int32
    check_is(SparseSums(first, classes, Sums(high, low), k), expected)
    once = rows[0], rows[1], np.ones(len(rows[1]))
    expected = Sums(*reference.tally_csr(*once, y, w, k, words))
    first, classes, high, low = kernels.tally_sparse(*rows[:2], None, y, w, k, words)
    check_is(SparseSums(first, classes, Sums(high, low), k), expected)


@both
def test_missing_numbers_are_not_counted_and_bad_ones_are_refused(kernels):
    rows = np.array([0, 2]), np.array([0, 1], np.int32)
    one = np.zeros(1, np.int32)
    first, _, high, _ = kernels.tally_sparse(*rows, np.array([np.nan, 2.0]), one, None, 1, 2)
    assert first.tolist() == [0, 0, 1]
    assert high.tolist() == [2.0]
    for wrong in (
        (*rows, None, np.array([1], np.int32), None, 1, 2),  # no such class
        (*rows, None, one, None, 1, 1),  # no such column
        (*rows, None, one, np.ones(2), 1, 2),
        (*rows, None, np.zeros(2, np.int32), None, 1, 2),
    ):
        with pytest.raises(ValueError, match=r"range|number|shape"):
            kernels.tally_sparse(*wrong)


@st.composite
def slopes(draw, words, k):
    """Return slopes of words, as arrays of ``score_sparse``, and as a dense table."""
    bands = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    cells = SparseSums.of(Sums(rng.normal(size=(words, k)) * (rng.random((words, k)) < 0.6)))
    band = rng.integers(0, bands, words).astype(np.uint8)
    shift, slope = rng.normal(size=words), rng.normal(size=(bands, k))
    weight = rng.random((bands, k))
    table = slope[band] + shift[:, None] * weight[band] + cells.high
    return (cells.first, cells.classes, cells.stored.high, band, shift, slope, weight), table


@both
@pytest.mark.parametrize("finish", ["joint", "posterior", "log_posterior", "label"])
@given(case=texts(), data=st.data())
def test_sparse_scores_are_those_of_the_whole_table(kernels, finish, case, data):
    rows, _, _, k, words = case
    arrays, table = data.draw(slopes(words, k))
    n = len(rows[0]) - 1
    start, none = np.linspace(0.5, 1, k), np.zeros(k)
    x = csr_array(rows[::-1], shape=(n, words)).toarray()
    for power in (0.0, 0.3, 0.5):
        factor = np.maximum(x.sum(axis=1), 1)[:, None] ** -power
        expected = reference.finish_rows(start + (x @ table) * factor, finish, none)
        for times in (1, 40):  # of many rows the kernel prepares the table first
            many = np.append(0, np.cumsum(np.tile(np.diff(rows[0]), times)))
            csr = many, np.tile(rows[1], times), np.tile(rows[2], times)
            found = kernels.score_sparse(*csr, *arrays, power, start, finish, none)
            repeated = np.tile(expected, (times, 1) if expected.ndim == 2 else times)
            np.testing.assert_allclose(found, repeated, rtol=0, atol=1e-12)


@both
def test_scores_refuse_what_points_out_of_the_table(kernels):
    rows = np.array([0, 1]), np.array([0], np.int32), None
    cells = np.array([0, 1]), np.array([0], np.int32), np.ones(1)
    bands = np.zeros(1, np.uint8), np.zeros(1), np.zeros((1, 2)), np.ones((1, 2))
    end = False, np.zeros(2), "joint", np.zeros(2)
    kernels.score_sparse(*rows, *cells, *bands, *end)
    for wrong in (
        (np.array([0, 1]), np.array([1], np.int32), None, *cells, *bands, *end),
        (*rows, np.array([0, 1]), np.array([2], np.int32), np.ones(1), *bands, *end),
        (*rows, *cells, np.ones(1, np.uint8), *bands[1:], *end),
    ):
        with pytest.raises((ValueError, IndexError)):
            kernels.score_sparse(*wrong)


def left_out(x, y, w, k, pretend, bands):
    """Count all rows but one, again and again, and return what ``leave_out_words`` does."""
    n = len(x)
    weight = np.ones(n) if w is None else w
    evidence, lengths = np.zeros((n, bands, k)), np.zeros(n)
    for i in range(n):
        others = np.arange(n) != i
        count = np.zeros((x.shape[1], k))
        for row in np.flatnonzero(others):
            count[:, y[row]] += weight[row] * x[row]
        frequency = count.sum(axis=1)
        known = frequency > 1e-12
        total = count.sum(axis=0) + pretend[known].sum()
        for word in np.flatnonzero(known):
            band = min(int(np.log2(max(frequency[word], 1) * (1 + 1e-9))), bands - 1)
            if total.min() > 1e-12:
                evidence[i, band] += x[i, word] * np.log((count[word] + pretend[word]) / total)
            lengths[i] += x[i, word]
    return evidence, lengths


@both
@pytest.mark.parametrize("bands", [1, 3])
@given(case=texts(), data=st.data())
def test_words_left_out_are_those_of_the_other_rows(kernels, bands, case, data):
    rows, y, w, k, words = case
    seed = data.draw(st.integers(0, 99))
    pretend = np.random.default_rng(seed).choice([0.1, 1.0, 2.5], words)
    first, classes, high, _ = kernels.tally_sparse(*rows, y, w, k, words)
    count = SparseSums(first, classes, Sums(high), k)
    frequency, total = count.by_row(), count.by_class()
    # A word that no row has is as if it had never been seen.
    total = total + pretend[frequency > 0].sum()
    x = csr_array(rows[::-1], shape=(len(y), words)).toarray()
    expected, length = left_out(x, y, w, k, pretend, bands)
    found = kernels.leave_out_words(
        *rows, y, w, first, classes, high, frequency, pretend, total, bands
    )
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1], length, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(kernels.leave_out_lengths(*rows, w, frequency), found[1])


@both
@pytest.mark.parametrize("number", ["float64", "float32", "int8", "bool", None])
@given(case=texts(), data=st.data())
def test_rows_are_taken_as_scipy_takes_them(kernels, number, case, data):
    (indptr, indices, values), y, _, _, words = case
    values = None if number is None else values.astype(number)
    some = data.draw(st.lists(st.integers(0, len(y) - 1), max_size=9) if len(y) else st.just([]))
    rows = np.array(some, np.int64)
    taken = kernels.take_rows(indptr, indices, values, rows)
    given_numbers = np.ones(len(indices)) if values is None else values
    expected = csr_array((given_numbers, indices, indptr), shape=(len(y), words))[rows]
    np.testing.assert_array_equal(taken[0], expected.indptr)
    np.testing.assert_array_equal(taken[1], expected.indices)
    if values is None:
        assert taken[2] is None
    else:
        np.testing.assert_array_equal(taken[2], expected.data)
        assert taken[2].dtype == values.dtype
    if some:  # a matrix may be the last rows of another
        rows = rows[rows > 0]
        last = kernels.take_rows(indptr[1:], indices, values, rows - 1)
        np.testing.assert_array_equal(last[1], kernels.take_rows(indptr, indices, values, rows)[1])


@both
def test_rows_that_are_not_there_are_not_taken(kernels):
    indptr, indices = np.array([0, 1, 2]), np.array([3, 4], np.int32)
    for wrong in (-1, 2):
        with pytest.raises(ValueError, match="a row index is out of range"):
            kernels.take_rows(indptr, indices, None, np.array([wrong]))
    for broken in ([0, 2, 1], [0, 1, 3], [-1, 1, 2]):
        with pytest.raises((ValueError, IndexError)):
            kernels.take_rows(np.array(broken), indices, None, np.array([0, 1]))


@given(case=texts(), data=st.data())
def test_weighted_slopes_are_centred_and_multiplied(case, data):
    *_, k, words = case
    cells = SparseSums.of(data.draw(tables(rows=words, k=k)))
    rng = np.random.default_rng(0)
    values, shift = rng.normal(size=len(cells.classes)), rng.normal(size=words)
    of_class = rng.normal(size=(1, k))
    plain = WordTerms(
        cells.first, cells.classes, values, shift, of_class, np.ones((1, k)),
        np.zeros(words, np.uint8),
    )  # fmt: skip
    part, weight = rng.integers(0, 3, words), rng.random((3, k))
    found = plain.weighted_by_part(weight, part).slope
    np.testing.assert_allclose(found, multiply(plain.slope, weight[part]), atol=1e-12)


TEXTS = ["to be or not", "be", "to go or to be", "", "not to go", "or else", "else not be go"] * 4
Y = ["a", "b", "c", "a", "d", "e", "b"] * 4


BLOCKS = [Text(binary=True), Text(ngram_range=(2, 2), binary=True), Text("char_wb", (2, 5))]


@pytest.mark.parametrize("note", [BLOCKS, Text(ngram_range=(1, 2)), Text(max_tokens=3)])
def test_texts_in_pieces_are_texts_at_once(monkeypatch, note):
    def fit():
        event_models = {"note": note, "n": Gaussian()}
        return NaiveBayes(event_models).fit({"note": TEXTS, "n": range(len(TEXTS))}, Y)

    table = {"note": TEXTS[:7], "n": range(7)}
    whole = fit()
    expected = whole.predict_proba(table)
    monkeypatch.setattr(batch, "AT_ONCE", 50)
    monkeypatch.setattr(batch, "KEPT", 50)
    pieces = fit()
    several = list(whole.model_.encode(whole._rows(table)).pieces())
    assert len(several) > 1
    for piece in several:
        texts = [block.texts for block in piece.blocks.values() if isinstance(block, Documents)]
        assert len(set(map(id, texts))) == 1  # they are split once still
    assert nothing_is_left(whole.tally_ - pieces.tally_)
    np.testing.assert_allclose(pieces.predict_proba(table), expected, atol=1e-12)


@pytest.mark.parametrize("number", [3.0, 0.1, 1e6 / 3, 2.0**52 + 1, 2.0**60, -7.0])
def test_the_sum_of_many_tables_is_exact(number):
    parts = [SparseSums.of(Sums(np.array([[number, 0.0], [0.0, n * number]]))) for n in range(7)]
    total = SparseSums.sum_of(parts, 2)
    high, low = total.high.tolist(), total.low.tolist()
    exact = Fraction(number)
    assert Fraction(high[0][0]) + Fraction(low[0][0]) == 7 * exact
    assert Fraction(high[1][1]) + Fraction(low[1][1]) == sum(Fraction(n * number) for n in range(7))
    assert high[0][1] == high[1][0] == 0


ANALYSERS = [
    Text(),
    Text("char_wb", (2, 3), max_characters=8, binary=True),
    Text(ngram_range=(1, 2), stop_words=["to"]),
    Text("char", (1, 2), max_characters=12),
    Text(lowercase=False, binary=True),
    Text("char_wb", (1, 4), features=64),
    Text(vocabulary=["be", "or"]),
]
LINES = ["To be, or not to be", None, "", "or  be\tor", "Straße ΣΊΣ be", "be be be", "日本 be_"]


def documents(analyser, strings):
    axis = Words(("note",), analyser.new_vocabulary(), analyser)
    return Documents(analyser.rows(strings), axis, analyser.binary)


@pytest.mark.parametrize("times", [1, 50])
def test_blocks_that_are_split_together_are_those_split_apart(times):
    strings = pack_strings(np.array(LINES * times, object))
    blocks = {i: documents(of, strings) for i, of in enumerate(ANALYSERS)}
    for i, found in split_texts(blocks, grow=True).items():
        alone = documents(ANALYSERS[i], strings).grown()
        assert len(found.axis) == len(alone.axis)
        if not found.axis.hashed:
            assert found.axis.words == alone.axis.words
        np.testing.assert_array_equal(found.missing, alone.missing)
        known = replace(blocks[i], axis=found.axis).split()  # and once more, where no word is added
        shape = len(strings), len(found.axis)
        mine, theirs, again = (
            csr_array((of.data, of.indices, of.indptr), shape=shape).toarray()
            for of in (found, alone, known)
        )
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(again, mine)
        assert not mine[found.missing].any()


def nothing_is_left(tally: Tally) -> bool:
    every = [sums for block in tally.blocks.values() for sums in block.sums.values()]
    return not tally.weight.high.any() and not any(sums.high.any() for sums in every)


@pytest.mark.parametrize("k", [3, 40])
def test_many_classes_of_a_sparse_matrix_are_counted_sparsely_and_as_scikit_learn_does(k):
    rng = np.random.default_rng(k)
    X = csr_array(rng.poisson(0.2, size=(400, 60)).astype(np.float64))
    y = np.append(np.arange(k), rng.integers(0, k, 400 - k))
    nb = NaiveBayes("multinomial", weights=None, smoothing=1.0).fit(X, y)
    (block,) = nb.model_.counted.tally.blocks.values()
    kinds = {type(sums) for sums in block.sums.values()}
    assert (SparseSums in kinds) == (k == 40)
    theirs = MultinomialNB().fit(X, y)
    np.testing.assert_allclose(nb.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-9)
    half = NaiveBayes("multinomial", weights=None, smoothing=1.0).fit(X[:200], y[:200])
    rest = NaiveBayes("multinomial", weights=None, smoothing=1.0).fit(X[200:], y[200:])
    merged = half.model_ + rest.model_
    assert nothing_is_left(merged.counted.tally - nb.model_.counted.tally)
