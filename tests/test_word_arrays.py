"""Tokens made arrays and back, by both implementations, and arrays that hold none."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.test_vocabulary import any_text, both


@both
@given(words=st.lists(any_text, unique=True))
def test_arrays_round_trip(Vocabulary, words):
    utf8, lengths, ids, sizes = Vocabulary(words).to_arrays()
    assert (utf8.dtype, lengths.dtype, ids, sizes) == (np.uint8, np.int64, None, None)
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    assert (utf8.tobytes(), lengths.tolist()) == (b"".join(encoded), list(map(len, encoded)))
    back = Vocabulary.from_arrays(utf8, lengths)
    assert back.words() == words
    assert back.find(words).tolist() == list(range(len(words)))


NGRAMS = {"ngram_range": (1, 3)}
some_words = st.lists(any_text.map(lambda text: text.replace(" ", "_")), min_size=1, max_size=4)


@both
@given(tokens=st.lists(some_words.map(" ".join), unique=True))
@example(tokens=["to be", "be to be", "to", "", " ", "to be or not"])
@example(tokens=[f"{i} {i * i % 7} {i % 50}" for i in range(3000)])
def test_arrays_of_word_ngrams_round_trip(Vocabulary, tokens):
    made = Vocabulary(tokens, **NGRAMS, stop_words=["be", "never"])
    utf8, lengths, ids, sizes = made.to_arrays()
    words = list(dict.fromkeys(word for token in tokens for word in token.split(" ")))
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    assert (utf8.tobytes(), lengths.tolist()) == (b"".join(encoded), list(map(len, encoded)))
    assert sizes.tolist() == [token.count(" ") + 1 for token in tokens]
    assert [words[i] for i in ids] == [word for token in tokens for word in token.split(" ")]
    back = Vocabulary.from_arrays(utf8, lengths, ids, sizes, **NGRAMS, stop_words=["be", "never"])
    assert back.words() == tokens
    assert back.find(tokens).tolist() == list(range(len(tokens)))
    assert back.find(["of no n-gram"]).tolist() == [-1]
    assert back.add(["of no n-gram", *tokens]).tolist() == [len(tokens), *range(len(tokens))]


@both
@pytest.mark.parametrize(
    ("utf8", "lengths", "message"),
    [
        (b"onetwo", [3, 2], "fill"), (b"onetwo", [3, 4], "fill"), (b"onetwo", [4, -1, 3], "fill"),
        (b"onetwo", [-1, 7], "fill"), (b"onetwo", [2**62, 6], "fill"),
        (b"onetwo", [2**63 - 1, 2**63 - 1, 8], "fill"), (b"onetwo", [-(2**63), 6], "fill"),
        (b"one", [], "fill"), (b"oneone", [3, 3], "twice"), (b"", [0, 0], "twice"),
        (b"one\xff", [4], "UTF-8"), (b"one\xc0\x80", [5], "UTF-8"), ("é".encode(), [1, 1], "UTF-8"),
        ("aé".encode(), [2, 1], "UTF-8"), ("字".encode()[:2], [2], "UTF-8"),
    ],
)  # fmt: skip
def test_hostile_arrays_are_refused(Vocabulary, utf8, lengths, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.from_arrays(np.frombuffer(utf8, np.uint8), np.array(lengths, np.int64))


@both
@pytest.mark.parametrize(
    ("ids", "sizes", "message"),
    [
        ([0, 1], [1], "fill"), ([0, 1], [3], "fill"), ([0, 1], [3, -1], "fill"),
        ([0, 1], [2**62, 2**62, 2**62, 2**62, 2], "fill"), ([0, 1], [2, 0], "no word"),
        ([0, 2], [2], "no such word"), ([0, -1], [2], "no such word"),
        ([0] * 40 + [9, 0], [2] * 21, "no such word|twice"), ([0, 1, 0, 1], [2, 2], "twice"),
        ([0, 1, 1], [1, 1, 1], "twice"),
    ],
)  # fmt: skip
def test_hostile_arrays_of_ngrams_are_refused(Vocabulary, ids, sizes, message):
    utf8, lengths = np.frombuffer(b"onetwo", np.uint8), np.array([3, 3])
    arrays = np.array(ids, np.int32), np.array(sizes, np.int64)
    with pytest.raises(ValueError, match=message):
        Vocabulary.from_arrays(utf8, lengths, *arrays, **NGRAMS)


@both
def test_a_word_of_an_ngram_has_no_space(Vocabulary):
    utf8, ids = np.frombuffer(b"one two", np.uint8), np.zeros(2, np.int32)
    with pytest.raises(ValueError, match="space"):
        Vocabulary.from_arrays(utf8, np.array([7]), ids, np.array([2]), **NGRAMS)


@both
@pytest.mark.parametrize(
    ("utf8", "lengths"),
    [
        (np.zeros(2, np.int8), np.array([2])),
        (np.zeros((1, 2), np.uint8), np.array([1])),
        (np.zeros(2, np.uint8), np.array([2.0])),
        (np.zeros(2, np.uint8), np.array([[2]])),
        (np.zeros(2, np.uint8), np.array([2], np.int32)),
    ],
)
def test_arrays_of_other_types_are_refused(Vocabulary, utf8, lengths):
    with pytest.raises(ValueError, match="uint8"):
        Vocabulary.from_arrays(utf8, lengths)


@both
@pytest.mark.parametrize(
    ("ids", "sizes"),
    [
        (np.zeros(2), np.array([2])),
        (np.zeros(2, np.int64), np.array([2])),
        (np.zeros((1, 2), np.int32), np.array([2])),
        (np.zeros(2, np.int32), np.array([2], np.int32)),
    ],
)
def test_places_of_other_types_are_refused(Vocabulary, ids, sizes):
    with pytest.raises(ValueError, match="int32"):
        Vocabulary.from_arrays(np.zeros(1, np.uint8), np.array([1]), ids, sizes, **NGRAMS)


@both
def test_arrays_of_a_mapped_file_need_not_be_aligned(Vocabulary):
    utf8, lengths, *_ = Vocabulary(["one", "été"]).to_arrays()
    unaligned = np.frombuffer(b"\0" + lengths.tobytes(), lengths.dtype, offset=1)
    assert Vocabulary.from_arrays(utf8, unaligned).words() == ["one", "été"]
