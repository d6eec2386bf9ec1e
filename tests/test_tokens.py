"""Tokens of every kind are scikit-learn's CountVectorizer's, by both implementations."""

import gzip
import itertools
import json
import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from tests.counted_texts import count, dense, lengths, score
from tests.test_vocabulary import MULTILINGUAL, any_texts, both

SPLITS = [
    {"analyzer": analyzer, "ngram_range": ngram_range, "lowercase": lowercase}
    for analyzer in ("word", "char", "char_wb")
    for ngram_range in ((1, 1), (1, 2), (2, 2), (1, 3), (2, 5), (4, 6), (17, 18))
    for lowercase in (True, False)
]
STOP_WORDS = ["the", "naïve", "of", "ab", "a_very_long_stop_word_of_more_than_sixteen_bytes", "aa"]
every_split = pytest.mark.parametrize("split", SPLITS, ids=lambda s: "-".join(map(str, s.values())))
spaced_texts = st.lists(
    st.one_of(
        st.text("ab_ \t\n\x1f\u00a0\u3000", max_size=30), st.text("aéЖ字😀_\x7f  ", max_size=30)
    ),
    max_size=5,
)


def check(Vocabulary, texts, split, stop_words=(), *, presence=False):
    """Same tokens in order of first sight, the same counts, and the known tokens found again."""
    oracle = CountVectorizer(**split, stop_words=list(stop_words) or None, binary=presence)
    analyse = oracle.build_analyzer()
    expected = list(dict.fromkeys(token for text in texts for token in analyse(text)))
    v = Vocabulary((), **split, stop_words=stop_words)
    y = np.arange(len(texts), dtype=np.int32)
    high, low = count(v, texts, y, None, max(len(texts), 1), presence)
    assert low is None
    assert v.words() == expected
    assert len(v) == len(expected)
    if not expected:
        return
    matrix = oracle.fit_transform(texts).toarray()
    names = oracle.get_feature_names_out().tolist()
    column = v.find(names)
    counts = high[:, : len(texts)].T
    assert (counts[:, column] == matrix).all()
    assert (dense(v.encode(texts, presence), counts.shape) == counts).all()
    assert lengths(v, texts, presence).tolist() == counts.sum(axis=1).tolist()
    slope = np.random.default_rng(0).normal(size=(len(v), 3))
    scores = score(v, texts, slope, np.zeros(3), presence, "joint", np.zeros(3))
    np.testing.assert_allclose(scores, counts @ slope, rtol=1e-9, atol=1e-9)
    again = Vocabulary(v.words(), **split, stop_words=stop_words)
    assert again.words() == expected
    assert (dense(again.encode(texts, presence), counts.shape) == counts).all()
    keep = np.arange(len(v)) % 3 != 1
    few = v.select(keep)
    assert few.words() == [word for word, k in zip(expected, keep, strict=True) if k]
    assert (dense(few.encode(texts, presence), (len(texts), len(few))) == counts[:, keep]).all()
    back = Vocabulary.from_arrays(*v.to_arrays(), **split, stop_words=stop_words)
    assert (dense(back.encode(texts, presence), counts.shape) == counts).all()


@both
@every_split
@pytest.mark.parametrize("presence", [False, True])
def test_multilingual_tokens_are_count_vectorizers(Vocabulary, split, presence):
    texts = [*MULTILINGUAL, "the end of the naïve ab " + STOP_WORDS[4] + " x" * 40, "x" * 100]
    check(Vocabulary, texts, split, presence=presence)
    if split["analyzer"] == "word":
        check(Vocabulary, texts, split, STOP_WORDS, presence=presence)


@pytest.mark.slow
@both
@settings(max_examples=500)
@given(texts=any_texts | spaced_texts, split=st.sampled_from(SPLITS))
def test_tokens_are_count_vectorizers(Vocabulary, texts, split):
    stop_words = STOP_WORDS if split["analyzer"] == "word" else ()
    check(Vocabulary, texts, split, stop_words)


@pytest.fixture(scope="module")
def load():
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        pytest.skip("NAIVELY_DATA is not set")

    def read(name, most, characters):
        with gzip.open(Path(folder) / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line)["text"][:characters] for line in itertools.islice(file, most)]

    return read


@pytest.mark.slow
@both
@pytest.mark.parametrize(
    "name", ["sms_spam", "webkb_train", "newsgroups20_train", "onion_headlines"]
)
@pytest.mark.parametrize(
    "split",
    [
        {"ngram_range": (1, 2)},
        {"ngram_range": (2, 3), "stop_words": ["the", "to", "and", "of"]},
        {"analyzer": "char", "ngram_range": (2, 5)},
        {"analyzer": "char_wb", "ngram_range": (1, 4), "lowercase": False},
    ],
    ids=str,
)
def test_real_tokens_are_count_vectorizers(Vocabulary, name, split, load):
    texts = load(name, 200, 1000)
    oracle = CountVectorizer(**split)
    matrix = oracle.fit_transform(texts)
    v = Vocabulary((), **split)
    y = np.arange(len(texts), dtype=np.int32) % 2
    high, _ = count(v, texts, y, None, 2, False)
    names = oracle.get_feature_names_out().tolist()
    order = v.find(names)
    assert sorted(v.words()) == names
    assert list(dict.fromkeys(t for x in texts for t in oracle.build_analyzer()(x))) == v.words()
    for c in range(2):
        assert (high[order, c] == matrix[y == c].sum(axis=0).A1).all()
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    indptr, indices, data = v.encode(texts, False)
    encoded = type(matrix)((data, rank[indices], indptr), shape=matrix.shape)
    assert abs(encoded - matrix).max() == 0


@both
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 3)])
@given(rows=st.lists(st.none() | st.lists(st.text("aÉ_ \x7f", max_size=20), max_size=8)))
def test_lists_of_words_are_taken_as_they_are(Vocabulary, ngram_range, rows):
    def ngrams(row):
        words = [word for word in row or () if word not in ("a", "É")]
        return [
            " ".join(words[i : i + n])
            for n in range(ngram_range[0], ngram_range[1] + 1)
            for i in range(len(words) - n + 1)
        ]

    expected = list(dict.fromkeys(token for row in rows for token in ngrams(row)))
    v = Vocabulary((), ngram_range=ngram_range, stop_words=("a", "É"))
    high, _ = count(v, rows, np.arange(len(rows), dtype=np.int32), None, max(len(rows), 1), False)
    assert v.words() == expected
    for i, row in enumerate(rows):
        assert [high[j, i] for j in range(len(v))] == [ngrams(row).count(t) for t in expected]


@both
@given(texts=any_texts, split=st.sampled_from(SPLITS))
def test_hashed_tokens_are_crc_32(Vocabulary, texts, split):
    analyse = CountVectorizer(**split).build_analyzer()
    v = Vocabulary((), **split, features=97)
    high, _ = count(v, texts, np.zeros(len(texts), np.int32), None, 1, False)
    expected = np.zeros(97)
    for text in texts:
        for token in analyse(text):
            expected[zlib.crc32(token.encode("utf-8", "surrogatepass")) % 97] += 1
    assert len(v) == 97
    assert (high[:, 0] == expected).all()
    tokens = [token for text in texts for token in analyse(text)]
    numbers = [zlib.crc32(token.encode("utf-8", "surrogatepass")) % 97 for token in tokens]
    assert v.find(tokens).tolist() == v.add(tokens).tolist() == numbers
    assert (v.encode([" ".join(texts)], False)[2] > 0).all()


@both
def test_hashed_words_are_not_known(Vocabulary):
    v = Vocabulary((), features=8, stop_words=("the",))
    assert lengths(v, ["the end of the end"], False).tolist() == [3]
    for ask in (v.words, v.to_arrays, lambda: v.select(np.ones(8, bool)), lambda: v.join(v)):
        with pytest.raises(ValueError, match="hashed words are not known"):
            ask()


@both
@given(first=any_texts, second=any_texts, split=st.sampled_from(SPLITS))
def test_joined_vocabularies_know_the_words_of_both(Vocabulary, first, second, split):
    a, b = Vocabulary((), **split), Vocabulary((), **split)
    count(a, first, np.zeros(len(first), np.int32), None, 1, False)
    count(b, second, np.zeros(len(second), np.int32), None, 1, False)
    mine, theirs = a.words(), b.words()
    copy = a.copy()
    numbers = a.join(b)
    assert a.words() == list(dict.fromkeys([*mine, *theirs]))
    assert numbers.tolist() == [a.words().index(word) for word in theirs]
    assert copy.words() == mine
    assert a.join(a).tolist() == list(range(len(a)))


@both
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analyzer": "words"}, "analyzer must be one of 'word', 'char', 'char_wb', got 'words'"),
        ({"ngram_range": (0, 1)}, "ngram_range must be two whole numbers"),
        ({"ngram_range": (3, 2)}, r"1 <= low <= high <= 255, got \(3, 2\)"),
        ({"ngram_range": (1, 256)}, "ngram_range must be two whole numbers"),
        ({"features": 0}, "features must be between 1 and"),
        ({"features": 2**31}, "features must be between 1 and"),
    ],
)
def test_bad_options_are_refused(Vocabulary, options, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary((), **options)


@both
def test_what_are_not_words_is_named(Vocabulary):
    y = np.zeros(2, np.int32)
    with pytest.raises(TypeError, match="word 1 of text 1 is not a str but int"):
        count(Vocabulary(), ["one", ["two", 3]], y, None, 1, False)
    with pytest.raises(TypeError, match="text 0 is not a str but list"):
        count(Vocabulary((), analyzer="char"), [["one"], "two"], y, None, 1, False)
    with pytest.raises(ValueError, match="2 choices for 1 words"):
        Vocabulary(["one"]).select(np.ones(2, bool))


@both
def test_enormous_texts(Vocabulary):
    word = "é" * 100_000
    v = Vocabulary((), ngram_range=(1, 2))
    count(v, [f"{word} ab {word}"], y := np.zeros(1, np.int32), None, 1, False)
    assert v.words() == [word, "ab", f"{word} ab", f"ab {word}"]
    v = Vocabulary((), analyzer="char", ngram_range=(2, 3))
    high, _ = count(v, [word], y, None, 1, False)
    assert v.words() == ["éé", "ééé"]
    assert high[:, 0].tolist() == [99_999, 99_998]
