"""Words numbered and counted, by both implementations; which words, another module says."""

# Arguments are passed as the callers of the kernels pass them; odd characters are the point.
# ruff: noqa: RUF001

import gzip
import json
import os
from fractions import Fraction
from itertools import islice
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from naively.kernels import vocabulary
from naively.kernels.reference import finish_rows
from tests import words
from tests.counted_texts import count, dense, score
from tests.words import known_text

try:
    from naively.kernels import _native
except ImportError:
    _native = None

NATIVE = pytest.param(
    getattr(_native, "Vocabulary", None),
    id="native",
    marks=pytest.mark.skipif(_native is None, reason="the native kernels are not built"),
)
both = pytest.mark.parametrize(
    "Vocabulary", [pytest.param(vocabulary.Vocabulary, id="numpy"), NATIVE]
)

MULTILINGUAL = [
    "ΟΔΥΣΣΕΥΣ Ὀδυσσεύς ΣΑΣ Σ ς ΑΣ. ΑΣ1 ΆΣ̈",  # final sigma, also before digits and marks
    "İstanbul IĞDIR ıssız DİYARBAKIR iİ",
    "STRASSE Straße ẞß ŉam ﬁnal ǅungla ΰ Kelvin Ångström µm",
    "naïve nai\u0308ve e\u0301te\u0301 fiancée_2 __init__ _ a_ ＿＿ ａｂ",
    "١٢٣ ४५ ௧௨ ⅷⅸ ²³ ½¼ ①② 零一",
    "机器学习 很有趣 日本語のテキスト 한국어 텍스트 ไทยแลนด์ हिन्दी தமிழ்",
    "emoji 😀😀 👨‍👩‍👧 🇩🇪 x😀y 𝐛𝐨𝐥𝐝 𐐀𐐨 𝟘𝟙",
    "\ud83d\ude00 lone\ud800surrogate \udfff\udfff ok",
    "don't e-mail me@example.com 3.14 1,000 C++ c# \x7f\x7f a\x7fb tab\tnew\nline\x00nul\x1cfs",
    "",
    " ",
    "a",
    "ab",
    "Ab aB AB",
]
TRICKY = "aAbzZ09_ -@[`{/:\x7f\x00éÉßµÿİıΣσςΑ\u0301\u0345٣४½中字ﬁǅK😀𝐛𐐀\ud83d\ude00"
any_text = st.one_of(
    st.text(st.characters(), max_size=60),
    st.text(TRICKY, max_size=60),
    st.text("aZ_09 -\x7f", max_size=300),
)
any_texts = st.lists(any_text, max_size=8)
known_texts = st.lists(known_text, max_size=8)


def words_of(text):
    return words.tokens(text)


def first_seen(texts):
    return list(dict.fromkeys(word for text in texts for word in words_of(text)))


def count_each(Vocabulary, texts, *, presence=False):
    """Return the vocabulary and the counts with every text a class of its own."""
    v = Vocabulary()
    y = np.arange(len(texts), dtype=np.int32)
    high, low = count(v, texts, y, None, max(len(texts), 1), presence)
    assert low is None
    return v, high[:, : len(texts)].T


def check_words(Vocabulary, texts, *, presence):
    """Same words in order of first sight, and the same count of each in each text."""
    v, counts = count_each(Vocabulary, texts, presence=presence)
    assert v.words() == first_seen(texts)
    if len(v) == 0:
        return
    oracle = CountVectorizer(analyzer=words_of, binary=presence)
    expected = oracle.fit_transform(texts).toarray()
    assert sorted(v.words()) == oracle.get_feature_names_out().tolist()
    column = v.find(oracle.get_feature_names_out().tolist())
    assert (counts[:, column] == expected).all()
    assert (dense(v.encode(texts, presence), counts.shape) == counts).all()


@both
@pytest.mark.parametrize("presence", [False, True])
@given(texts=known_texts)
def test_counts_are_those_of_the_words(Vocabulary, presence, texts):
    check_words(Vocabulary, texts, presence=presence)


@both
@pytest.mark.parametrize("presence", [False, True])
def test_multilingual_counts_are_those_of_the_words(Vocabulary, presence):
    check_words(Vocabulary, MULTILINGUAL, presence=presence)


@both
def test_words_of_every_length_at_every_offset(Vocabulary):
    texts = [
        " " * offset + ("Az_9" * 12)[:length] + end
        for offset in range(70)
        for length in range(2, 40)
        for end in ("", " x")
    ]
    v = Vocabulary()
    count(v, texts, np.zeros(len(texts), np.int32), None, 1, False)
    assert v.words() == first_seen(texts)


@both
@pytest.mark.parametrize("letter", ["a", "é", "한"])
def test_one_enormous_word(Vocabulary, letter):
    length = 50_000_000 if letter == "a" else 1_000_000
    word = letter * length
    v = Vocabulary()
    high, _ = count(v, [word, "ab " + word], np.array([0, 1], np.int32), None, 2, False)
    if letter == "한":  # whose syllables are paired too
        assert v.words() == [word, "한한", "ab"]
        assert high.tolist() == [[1.0, 1.0], [length - 1.0] * 2, [0.0, 1.0]]
        return
    assert high.tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert v.find([word, word[:-1]]).tolist() == [0, -1]


@both
def test_many_words_in_one_text(Vocabulary):
    words = [f"w{i}" for i in range(50_000)]
    v = Vocabulary()
    high, _ = count(v, [" ".join(words + words)], np.array([0], np.int32), None, 1, True)
    assert v.words() == words
    assert (high == 1).all()


@both
@pytest.mark.parametrize("known", [0, 5000])
@given(texts=st.lists(st.lists(st.integers(0, 400), max_size=300), max_size=4))
def test_a_token_counts_once_however_many_are_known(Vocabulary, known, texts):
    words = [f"w{i}" for i in range(401)]
    vocabulary = Vocabulary([f"k{i}" for i in range(known)] + words)
    rows = [" ".join(words[i] for i in text) for text in texts]
    indptr, number, times = vocabulary.encode(rows, True)
    assert times is None
    for text, begin, end in zip(texts, indptr[:-1], indptr[1:], strict=True):
        assert sorted(number[begin:end].tolist()) == sorted({known + i for i in text})


@both
def test_a_token_counts_once_in_each_of_many_texts(Vocabulary):
    # The native one gives texts numbers of 16 bits: after 65,535 they come again.
    texts = ["once once" if i % 65_535 == 0 else "other" for i in range(140_000)]
    indptr, number, _ = Vocabulary().encode(texts, True, grow=True)
    np.testing.assert_array_equal(indptr, np.arange(len(texts) + 1))
    np.testing.assert_array_equal(np.flatnonzero(number == number[0]), [0, 65_535, 131_070])


def real_texts(name: str, most: int, characters: int | None = None) -> list[str]:
    """Return the beginnings of the first texts of real data."""
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        pytest.skip("NAIVELY_DATA is not set")
    with gzip.open(Path(folder) / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"][:characters] for line in islice(file, most)]


@pytest.mark.slow
@both
@pytest.mark.parametrize("name", ["sms_spam", "newsgroups20_test"])
@pytest.mark.parametrize("presence", [False, True])
def test_real_counts_are_those_of_the_words(Vocabulary, name, presence):
    texts = real_texts(name, 1500)  # the oracle takes a millisecond for each
    oracle = CountVectorizer(analyzer=words_of, binary=presence)
    X = oracle.fit_transform(texts)
    y = np.arange(len(texts), dtype=np.int32) % 3
    v = Vocabulary()
    high, low = count(v, texts, y, None, 3, presence)
    assert low is None
    assert v.words() == first_seen(texts)
    order = v.find(oracle.get_feature_names_out().tolist())
    for c in range(3):
        assert (high[order, c] == X[y == c].sum(axis=0).A1).all()
    indptr, indices, data = v.encode(texts, presence)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    data = np.ones(len(indices)) if presence else data
    encoded = type(X)((data, rank[indices], indptr), shape=X.shape)
    assert abs(encoded - X).max() == 0


@both
@pytest.mark.parametrize("presence", [False, True])
@given(data=st.data())
def test_weighted_counts_are_exact(Vocabulary, presence, data):
    texts = data.draw(st.lists(st.text("ab 中", max_size=12), max_size=12))
    n = len(texts)
    weight = st.floats(0, 1e12, allow_subnormal=False)
    w = np.array(data.draw(st.lists(weight, min_size=n, max_size=n)), np.float64)
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int32)
    v = Vocabulary()
    high, low = count(v, texts, y, w, 3, presence)
    assert high.shape == (len(v), 3)
    expected = {}
    for text, c, x in zip(texts, y.tolist(), w.tolist(), strict=True):
        words = words_of(text)
        for word in dict.fromkeys(words) if presence else words:
            expected[word, c] = expected.get((word, c), 0) + Fraction(x)
    for i, word in enumerate(v.words()):
        for c in range(3):
            total = expected.get((word, c), 0)
            found = Fraction(high[i, c]) + (0 if low is None else Fraction(low[i, c]))
            assert abs(found - total) <= total * Fraction(1, 10**29)
            assert low is None or high[i, c] + low[i, c] == high[i, c]
    if (w == np.rint(w)).all():
        assert low is None


@both
def test_enormous_whole_weights_are_exact(Vocabulary):
    w = np.array([2.0**60, 1.0, 1.0])
    high, low = count(Vocabulary(), ["ab ab", "ab", "ab"], np.zeros(3, np.int32), w, 1, False)
    assert Fraction(high[0, 0]) + Fraction(low[0, 0]) == 2**61 + 2


@both
@given(texts=any_texts, cut=st.integers(0, 8), presence=st.booleans())
def test_batches_grow_to_the_whole(Vocabulary, texts, cut, presence):
    y = np.arange(len(texts), dtype=np.int32) % 2
    whole, parts = Vocabulary(), Vocabulary()
    expected, _ = count(whole, texts, y, None, 2, presence)
    first, _ = count(parts, texts[:cut], y[:cut], None, 2, presence)
    both_parts, _ = count(parts, texts[cut:], y[cut:], None, 2, presence)
    both_parts[: len(first)] += first
    assert parts.words() == whole.words()
    assert (both_parts == expected).all()


@both
@given(texts=any_texts, k=st.integers(1, 4), options=st.sampled_from([{}, {"ngram_range": (1, 2)}]))
def test_what_is_counted_and_scored_as_it_is_read_is_what_is_encoded(Vocabulary, texts, k, options):
    """Counts by class and sums of rows of a table, without a matrix of the words of each text."""
    rng = np.random.default_rng(len(texts))
    texts = [None, *texts]
    y = rng.integers(0, k, len(texts)).astype(np.int32)
    straight, encoded = Vocabulary(**options), Vocabulary(**options)
    found = straight.count_by_class(texts, y, k)
    expected, _ = count(encoded, texts, y, None, k, False)
    assert straight.words() == encoded.words()
    np.testing.assert_array_equal(found, expected)
    table, start = rng.normal(size=(len(straight), k)), rng.normal(size=(len(texts), k))
    if len(table):
        table[0, 0] = -np.inf
    new = [*texts, "a word that nobody knows"]
    start = np.vstack([start, start[:1]])
    zero_log_zero = score(straight, new, table, start, False, "joint", np.zeros(k))
    np.testing.assert_allclose(straight.add_scores(new, table, start), zero_log_zero, atol=1e-9)


@both
def test_none_adds_nothing(Vocabulary):
    v = Vocabulary()
    high, low = count(v, [None, "one two", None], np.array([0, 1, 0], np.int32), None, 2, False)
    assert high.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert low is None
    assert dense(v.encode([None, "two"], presence=False), (2, 2)).tolist() == [[0, 0], [0, 1]]
    start = np.array([[1.0, 2.0], [3.0, 4.0]])
    slope = np.array([[1.0, 2.0], [10.0, 20.0]])
    joint = score(v, [None, "two"], slope, start, False, "joint", np.zeros(2))
    assert joint.tolist() == [[1.0, 2.0], [13.0, 24.0]]


@both
@pytest.mark.parametrize("k", [1, 2, 3, 17])
@pytest.mark.parametrize("finish", ["joint", "log_posterior", "posterior", "label"])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("each", [False, True], ids=["one start", "a start each"])
def test_score_is_encode_times_slope(Vocabulary, k, finish, presence, each):
    rng = np.random.default_rng(k)
    known = Vocabulary()
    count(known, MULTILINGUAL, np.zeros(len(MULTILINGUAL), np.int32), None, 1, False)
    pool = [*known.words(), "unknown", "Ωmega", "x"]
    texts = [" ".join(rng.choice(pool, rng.integers(0, 30))) for _ in range(150)] + [None, ""]
    slope = rng.normal(size=(len(known), k))
    start = rng.normal(size=(len(texts), k) if each else k)
    if each:
        start[7] = -np.inf
    log_prior = np.log(rng.dirichlet(np.ones(k)))
    matrix = dense(known.encode(texts, presence), (len(texts), len(known)))
    expected = finish_rows(start + matrix @ slope, finish, log_prior)
    scores = score(known, texts, slope, start, presence, finish, log_prior)
    assert scores.dtype == expected.dtype
    assert scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


@both
def test_scoring_never_grows(Vocabulary):
    v = Vocabulary(["one"])
    score(v, ["one two"], np.ones((1, 1)), np.zeros(1), False, "joint", np.zeros(1))
    v.encode(["three"], False)
    v.find(["four"])
    assert v.words() == ["one"]


@both
@given(words=st.lists(any_text))
def test_any_strings_as_words(Vocabulary, words):
    v = Vocabulary(words)
    distinct = list(dict.fromkeys(words))
    assert len(v) == len(distinct)
    assert v.words() == distinct
    assert v.find(words).tolist() == [distinct.index(word) for word in words]
    assert v.add([*words, "new word"]).tolist()[: len(words)] == v.find(words).tolist()
    assert v.find(["new word", "newer word"]).tolist() == [v.words().index("new word"), -1]


@both
def test_words_that_are_nearly_the_same(Vocabulary):
    words = ["a_b", "a\x7fb", "ab", "ab\0", "AB", "", "\0", "x" * 16, "x" * 17, "x" * 16 + "_"]
    v = Vocabulary(words)
    assert v.words() == words
    assert v.find(words).tolist() == list(range(len(words)))


@both
def test_known_words_in_capitals_are_not_counted(Vocabulary):
    v = Vocabulary(["a", "Ab"])
    high, _ = count(v, ["a Ab"], np.array([0], np.int32), None, 1, False)
    assert v.words() == ["a", "Ab", "ab"]
    assert high.tolist() == [[1.0], [0.0], [1.0]]
    assert sorted(v.encode(["a Ab"], False)[1].tolist()) == [0, 2]


@both
@pytest.mark.parametrize(
    "options",
    [
        {}, {"ngram_range": (1, 1), "stop_words": ["the", "of"]},
        {"ngram_range": (1, 2), "stop_words": ["the", "of"]}, {"ngram_range": (2, 2)},
        {"ngram_range": (3, 4)}, {"ngram_range": (1, 4)},
        {"analyzer": "char", "ngram_range": (1, 3)}, {"analyzer": "char_wb", "ngram_range": (2, 5)},
    ],
    ids=str,
)  # fmt: skip
def test_joined_tokens_are_those_that_are_added_as_they_are_written(Vocabulary, options):
    rng = np.random.default_rng(0)
    pool = np.array([f"w{i}" for i in range(60)] + ["the", "of", "a_b", "x" * 16, "x" * 40, "été"])
    mine, theirs = (Vocabulary(**options) for _ in range(2))
    for made, some in ((mine, pool[:50]), (theirs, pool[20:])):
        texts = [" ".join(rng.choice(some, 9)) for _ in range(40)]
        count(made, texts, np.zeros(40, np.int64), None, 1, False)
    theirs = theirs.select(rng.random(len(theirs)) < 0.7)  # of some n-grams not what they begin by
    expected = mine.copy()
    numbers = expected.add(theirs.words())
    known = theirs.words()
    assert mine.join(theirs).tolist() == numbers.tolist()
    assert mine.words() == expected.words()
    assert theirs.words() == known
    assert mine.join(mine).tolist() == list(range(len(mine)))
    texts = [" ".join(rng.choice(pool, 9)) for _ in range(20)]
    for found, other in zip(mine.encode(texts, False), expected.encode(texts, False), strict=True):
        np.testing.assert_array_equal(found, other)


@both
def test_tokens_of_texts_that_were_split_otherwise_are_joined_as_they_are_written(Vocabulary):
    mine = Vocabulary(ngram_range=(1, 2))
    theirs = Vocabulary(["one", "two one"], ngram_range=(2, 3))
    mine.add(["two one"])
    assert mine.join(theirs).tolist() == [1, 0]
    assert mine.words() == ["two one", "one"]
    with pytest.raises(ValueError, match="hashed words are not known"):
        mine.join(Vocabulary(features=8))


@both
def test_copies_are_independent(Vocabulary):
    first = Vocabulary(["one", "a much longer word than sixteen bytes"])
    second = first.copy()
    first.add(["two"])
    second.add(["three", "another word that is longer than sixteen bytes"])
    assert first.words() == ["one", "a much longer word than sixteen bytes", "two"]
    assert second.find(["a much longer word than sixteen bytes", "three"]).tolist() == [1, 2]
    assert second.find(["two"]).tolist() == [-1]


@both
def test_what_is_not_text_is_named(Vocabulary):
    v = Vocabulary()
    y = np.zeros(3, np.int32)
    slope, start = np.zeros((0, 1)), np.zeros(1)
    with pytest.raises(TypeError, match="text 2 is not a str but float"):
        count(v, ["one", None, 1.5], y, None, 1, False)
    with pytest.raises(TypeError, match="text 1 is not a str but bytes"):
        v.encode(["one", b"two"], False)
    with pytest.raises(TypeError, match="text 0 is not a str but int"):
        score(v, [1], slope, start, False, "joint", start)
    with pytest.raises(TypeError, match="word 1 is not a str but NoneType"):
        v.add(["one", None])
    assert len(v) == 0
    with pytest.raises(TypeError, match="word 0 is not a str but int"):
        v.find([1])
    with pytest.raises(TypeError, match="word 0 is not a str but int"):
        Vocabulary([1])


@both
def test_bad_numbers_are_refused(Vocabulary):
    v = Vocabulary(["one"])
    texts = ["one", "two"]
    for y in ([0, 2], [-1, 0]):
        with pytest.raises(ValueError, match="class index"):
            count(v, texts, np.array(y, np.int32), None, 2, False)
        if Vocabulary is not vocabulary.Vocabulary:
            with pytest.raises(ValueError, match="class index"):
                v.count_by_class(texts, np.array(y, np.int32), 2)
    if Vocabulary is not vocabulary.Vocabulary:
        with pytest.raises(ValueError, match="a row for each text"):
            v.add_scores(texts, np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"number|shape"):
        count(v, texts, np.array([0], np.int32), None, 2, False)
    with pytest.raises(ValueError, match=r"number|shape"):
        count(v, texts, np.array([0, 1], np.int32), np.ones(3), 2, False)


@pytest.mark.skipif(_native is None, reason="the native kernels are not built")
def test_threads_may_share_a_vocabulary():
    v = _native.Vocabulary()
    texts = [" ".join(f"w{i} w{i + j}" for i in range(200)) for j in range(50)]
    y = np.zeros(len(texts), np.int32)
    totals = []

    def work():
        high, _ = count(v, texts, y, None, 1, False)
        v.copy().words()
        v.encode(texts, False)
        totals.append(high.sum())

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals == [50 * 400] * 4
    assert sorted(v.words()) == sorted(first_seen(texts))


@pytest.mark.skipif(_native is None, reason="the native kernels are not built")
@pytest.mark.parametrize("finish", ["joint", "posterior", "label"])
def test_the_number_of_threads_does_not_show(finish):
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(1000)]
    texts = [" ".join(rng.choice(words, 100)) for _ in range(500)]
    v = _native.Vocabulary(words)
    slope, start = rng.normal(size=(1000, 3)), np.log(np.full(3, 1 / 3))
    before = _native.threads()
    scores = []
    try:
        for threads in (1, 3):
            _native.set_threads(threads)
            scores.append(score(v, texts, slope, start, True, finish, start))
            v.add_scores(texts, slope, np.zeros((500, 3)))
    finally:
        _native.set_threads(before)
    assert (scores[0] == scores[1]).all()


SPLITS = {
    "words": {},
    "words, some left out": {"stop_words": ["word1", "word2"]},
    "pairs of words": {"ngram_range": (1, 2)},
    "only triples of words": {"ngram_range": (3, 3)},
    "characters within words": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "characters": {"analyzer": "char", "ngram_range": (1, 3)},
    "hashed pairs": {"ngram_range": (1, 2), "features": 500},
}


@pytest.mark.skipif(_native is None, reason="the native kernels are not built")
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("split", SPLITS)
def test_texts_that_threads_read_number_their_tokens_as_one_thread_does(split, presence):
    rng = np.random.default_rng(1)
    words = [f"wörd{i}" if i % 7 == 0 else f"word{i}" for i in range(300)]
    texts = [" ".join(rng.choice(words, rng.integers(0, 60))) for _ in range(1000)]
    if split == "pairs of words":
        texts[::3] = [[*text.split(), "of old"] for text in texts[::3]]
    codes = rng.integers(0, 3, len(texts))
    before = _native.threads()
    found = []
    try:
        for threads in (1, 2, 5):
            _native.set_threads(threads)
            v, counted = (_native.Vocabulary(["word299", "gone"], **SPLITS[split]) for _ in "12")
            pairs = _native.Vocabulary((), "word", (1, 2))
            encoded = _native.encode_together([v, pairs], texts, [presence, True], True)
            arrays = [part for of_one in encoded for part in of_one]
            arrays += [counted.count_by_class(texts, codes, 3)]
            known = [v, counted, pairs][2 * split.startswith("hashed") :]
            found.append(([each.words() for each in known], arrays))
    finally:
        _native.set_threads(before)
    for one in found[1:]:
        assert one[0] == found[0][0]
        for here, there in zip(one[1], found[0][1], strict=True):
            assert (here is None) is (there is None)
            assert here is None or np.array_equal(here, there)
