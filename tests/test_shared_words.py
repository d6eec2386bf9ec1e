"""Vocabularies that were copied share their words, and grow as if they did not."""

from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes
from naively.kernels import vocabulary
from naively.kernels.sparse_sums import SparseSums
from tests.test_vocabulary import both

SPLITS = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2)},
    {"analyzer": "char", "ngram_range": (2, 3)},
]
few_words = st.lists(st.sampled_from("abcdefgh"), max_size=6).map(" ".join)


@both
@pytest.mark.parametrize("split", SPLITS, ids=str)
@given(
    texts=st.lists(few_words, max_size=6),
    steps=st.lists(st.tuples(st.integers(0, 9), few_words), max_size=8),
)
def test_copies_grow_apart(Vocabulary, split, texts, steps):
    """Each of many copies of copies, whoever grew first, is what a vocabulary of its texts is."""
    first = Vocabulary((), **split)
    first.encode(texts, True, grow=True)
    copies, known = [first], [list(texts)]
    for which, text in steps:
        i = which % len(copies)
        if which % 2:
            copies.append(copies[i].copy())
            known.append(list(known[i]))
            i = len(copies) - 1
        copies[i].encode([text], True, grow=True)
        known[i].append(text)
    for mine, seen in zip(copies, known, strict=True):
        alone = vocabulary.Vocabulary((), **split)
        alone.encode(seen, True, grow=True)
        words = alone.words()
        assert mine.words() == words
        assert len(mine) == len(words)
        every = " ".join("abcdefgh"), *(text for _, text in steps)
        for got, want in zip(mine.encode(every, False), alone.encode(every, False), strict=True):
            assert sorted(got.tolist()) == sorted(want.tolist())
        other = [word for vocabulary_ in copies for word in vocabulary_.words()]
        assert mine.find(other).tolist() == alone.find(other).tolist()
        back = Vocabulary.from_arrays(*mine.to_arrays(), **split)
        assert back.words() == words
        assert mine.select(np.arange(len(words)) % 2 == 0).words() == words[::2]
        assert Vocabulary((), **split).join(mine).tolist() == list(range(len(words)))


@both
def test_copies_grow_in_threads(Vocabulary):
    first = Vocabulary([f"w{i}" for i in range(100)])
    copies = [first.copy() for _ in range(4)]

    def grow(i):
        for j in range(200):
            copies[i].add([f"{i} {j}"])
            assert first.find([f"{i} {j}"]).tolist() == [-1]

    threads = [Thread(target=grow, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(of) for of in (first, *copies)] == [100, *[300] * 4]
    assert copies[3].words()[-1] == "3 199"


def test_a_model_that_was_gone_on_from_stays_as_it_was():
    texts, y = ["one two", "two three", "three four", "four five"] * 5, ["a", "b"] * 10
    nb = NaiveBayes(random_state=0).fit(texts, y)
    before, p = nb.model_, nb.predict_proba(["five six", "one"])
    for i in range(200):
        nb.partial_fit([f"six seven {i}"], ["b"])
    assert nb.predict(["six"]).tolist() == ["b"]
    again = NaiveBayes(random_state=0).fit(texts, y)
    assert before.counted.tally.blocks.keys() == again.model_.counted.tally.blocks.keys()
    for key, block in before.counted.tally.blocks.items():
        assert block.axis.words == again.model_.counted.tally.blocks[key].axis.words
    nb._exchange(model=before)
    np.testing.assert_array_equal(nb.predict_proba(["five six", "one"]), p)


@pytest.mark.parametrize("weights", [None, "loo"])
def test_one_text_after_the_other_is_all_at_once(weights):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.geometric(0.05, 8)) for _ in range(240)]
    y = rng.choice(["a", "b", "c"], 240).tolist()
    nb = NaiveBayes(weights=weights).fit(texts[:20], y[:20])
    for text, label in zip(texts[20:], y[20:], strict=True):
        nb.partial_fit([text], [label])
    whole = NaiveBayes(weights=weights).fit(texts, y)
    if weights is not None:
        nb.calibrate()
    np.testing.assert_allclose(nb.predict_proba(texts), whole.predict_proba(texts), atol=1e-9)


def test_nothing_is_added_up_before_it_is_asked_for(monkeypatch):
    texts = [f"w{i} w{i + 1}" for i in range(50)]
    nb = NaiveBayes().fit(texts, ["a", "b"] * 25)
    added = []
    add_up = SparseSums.__getattr__
    monkeypatch.setattr(SparseSums, "__getattr__", lambda *of: added.append(1) or add_up(*of))
    nb.partial_fit(["w1 w99"], ["a"])
    nb.partial_fit(["w1 w98"], ["b"])
    assert not added
    nb.predict(["w1"])
    assert added
