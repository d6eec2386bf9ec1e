"""What a fit of texts holds in memory: words are copied once, and what is derived is not kept."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from naively import NaiveBayes, Text
from naively.counting.axis import VALUE, Words
from naively.counting.block import Documents
from naively.kernels import dispatch
from naively.kernels.double_double import Sums
from naively.kernels.sparse_sums import SparseSums
from naively.model.model import View

WORDS = np.array([f"w{i}" for i in range(4_000)], object)


def drawn(n: int, length: int = 60) -> tuple[list[str], list[str]]:
    """Draw texts of two classes, some of which are copies of others, and some nearly."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    rank = rng.geometric(0.002, (n, length)) % 2_000 + 1_500 * y[:, None]
    texts = [" ".join(WORDS[row]) for row in rank]
    texts[-n // 10 :] = texts[: n // 10]
    texts[-n // 5 : -n // 10] = [text.upper() for text in texts[: n // 10]]
    y[-n // 10 :], y[-n // 5 : -n // 10] = y[: n // 10], y[: n // 10]
    return texts, [f"class {c}" for c in y]


def known() -> Documents:
    """Return texts that know their words."""
    analyser = Text(binary=True)
    axis = Words(("note",), analyser.new_vocabulary(), analyser)
    block = Documents([*drawn(40)[0]], axis, presence=True)
    found = block.grown()
    return Documents(block.texts, found.axis, presence=True, found=found)


def test_words_of_selected_texts_are_copied_once() -> None:
    block, rng = known(), np.random.default_rng(1)
    first, then = rng.permutation(40)[:35], rng.permutation(35)[:30]
    once = block.select(first)
    twice = once.select(then)
    assert once.found is block.found
    assert twice.found is block.found
    expected = block.found.select(first[then])  # type: ignore[union-attr]
    for words in (twice.grown(), twice.grown().by_words(block.axis)):
        assert (words.indptr == expected.indptr).all()
        assert (words.indices == expected.indices).all()


def test_words_of_few_texts_are_not_held_with_those_of_all() -> None:
    block = known()
    few = block.select(np.arange(5)).select(np.array([4, 0]))
    assert few.found is not None
    assert len(few.found) <= 5
    expected = block.found.select(np.array([4, 0]))  # type: ignore[union-attr]
    assert (few.grown().indices == expected.indices).all()


def test_words_that_go_without_counts_leave_the_cells() -> None:
    table = SparseSums.of(Sums(np.array([[0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [0.0, 3.0]])))
    kept = table[np.array([False, True, True, True])]
    assert kept.stored is table.stored
    assert (kept.high == table.high[1:]).all()
    assert (table[np.array([True, False, True, True])].high == table.high[[0, 2, 3]]).all()


def test_a_fit_keeps_no_likelihoods_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(_: View) -> None:
        pytest.fail("the likelihoods of all blocks are kept while weights are fitted")

    with monkeypatch.context() as patched:
        patched.setattr(View, "terms", property(kept))
        nb = NaiveBayes().fit(*drawn(400))  # which has copies, and near copies
    assert len(nb.predict(drawn(400)[0])) == 400


@pytest.mark.skipif(dispatch.NATIVE is None, reason="kernels in NumPy have arrays of their own")
def test_a_fit_holds_few_times_what_it_keeps() -> None:
    texts, y = drawn(3_000)
    NaiveBayes().fit(texts[:99], y[:99])
    tracemalloc.start()
    nb = NaiveBayes().fit(texts, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    counted = sum(b.sums[VALUE].nbytes for b in nb.tally_.blocks.values())
    words = sum(
        block.indices.nbytes
        for batch in nb._learned.sample.of(nb.model_).batches
        for block in batch.blocks.values()
    )
    assert peak < 3.1 * (counted + words + sum(map(len, texts)))  # one copy more is too many
