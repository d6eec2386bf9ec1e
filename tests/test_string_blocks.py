"""Blocks of Strings, and models of them, are what they are of a list of the same texts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes, Patterns, Text
from naively.counting.axis import Analyser, Words
from naively.counting.block import Documents
from naively.fitting.reservoir import Kept
from naively.kernels.strings import Strings
from tests.learning import encoded
from tests.test_string_texts import Texts, lists, packed, pieces
from tests.test_vocabulary import MULTILINGUAL


def documents(texts: Any, analyser: Analyser = Text()) -> Documents:  # noqa: B008  (it is frozen)
    return Documents(texts, Words(("note",), analyser.new_vocabulary(), analyser))


@given(data=st.data(), texts=lists, junk=pieces, around=pieces)
def test_rows_are_selected(data: st.DataObject, texts: Texts, junk: bytes, around: bytes) -> None:
    row = st.integers(0, len(texts) - 1) if texts else st.nothing()
    rows = np.array(data.draw(st.lists(row)), np.int64)
    found = documents(packed(texts, junk, around)).select(rows)
    expected = documents(texts).select(rows)
    assert isinstance(found.texts, Strings)
    assert list(found.texts) == expected.texts
    assert len(found) == len(expected)
    assert found.missing.tolist() == expected.missing.tolist()


@given(several=st.lists(lists, min_size=1, max_size=4), junk=pieces, around=pieces)
def test_blocks_follow_each_other(several: list[Texts], junk: bytes, around: bytes) -> None:
    first, *others = [documents(packed(texts, junk, around)) for texts in several]
    every = [text for texts in several for text in texts]
    joined = first.followed_by(others)
    assert isinstance(joined.texts, Strings)
    assert list(joined.texts) == every
    assert joined.missing.tolist() == [text is None for text in every]
    mixed = first.followed_by([*others, documents([["a", "list"]])])
    assert list(mixed.texts) == [*every, ["a", "list"]]


@given(texts=lists)
def test_a_slice_brings_only_its_own_bytes_along(texts: Texts) -> None:
    strings = packed(texts)
    joined = Strings.join([strings[:3], strings[2:]])
    every = [*texts[:3], *texts[2:]]
    assert list(joined) == every
    assert joined.utf8.tobytes() == packed(every).utf8.tobytes()


@given(texts=lists, most=st.integers(1, 70), junk=pieces, around=pieces)
def test_only_the_first_characters_are_read(
    texts: Texts, most: int, junk: bytes, around: bytes
) -> None:
    found = documents(packed(texts, junk, around), Text(max_characters=most))
    cut = [text if text is None else text[:most] for text in texts]
    expected = documents(cut, Text())
    assert found.axis.analyser.rows(found.texts) is found.texts
    for block in (found, expected):
        block.axis.vocabulary.encode(block.axis.analyser.rows(block.texts), False, True)
    assert found.axis.words == expected.axis.words
    assert found.missing.tolist() == expected.missing.tolist()


@pytest.mark.parametrize(
    "analyser",
    [
        Text(),
        Text(analyzer="char", lowercase=False),
        Text(ngram_range=(1, 2), stop_words="english", min_df=2, binary=True, features=None),
        Text(max_characters=10_000),
    ],
    ids=str,
)
def test_what_needs_no_preparation_stays_as_it_is(analyser: Analyser) -> None:
    strings = packed([*MULTILINGUAL, None])
    assert analyser.rows(strings) is strings


@pytest.mark.parametrize(
    "analyser",
    [
        Text(strip_accents="unicode"),
        Text(token_pattern=r"#?(\w\w\w+)", max_characters=30),  # noqa: S106  (of a text)
        Text(analyzer="char", strip_accents="ascii", max_characters=30),
        Patterns(),
    ],
    ids=str,
)
def test_what_is_prepared_is_a_list(analyser: Analyser) -> None:
    texts = [*MULTILINGUAL, None]
    assert analyser.rows(packed(texts)) == analyser.rows(texts)


ROWS: Texts = [
    "WIN a prize", "lunch été", None, "win win", "", "see you", "win win", "字 ab 字",
] * 3  # fmt: skip
Y = ["spam", "ham"] * 12
TABLE = {"note": ROWS, "n": [float(i % 5) for i in range(24)]}
MODELS = ["text", Text(analyzer="char", ngram_range=(1, 3)), Text(event="bernoulli")]


@pytest.mark.parametrize("event_models", MODELS, ids=str)
def test_a_model_says_the_same_of_both(event_models: Any) -> None:
    chosen = {"note": event_models, "n": "gaussian"}
    frame = pa.table(TABLE)
    of_lists, of_strings = (NaiveBayes(chosen).fit(X, Y) for X in (TABLE, frame))
    assert of_strings.weights_ == of_lists.weights_
    joint = of_lists.predict_joint_log_proba(TABLE)
    for nb, X in product((of_lists, of_strings), (TABLE, frame)):
        np.testing.assert_array_equal(nb.predict_joint_log_proba(X), joint)
        assert nb.explain(X).to_dict() == of_lists.explain(TABLE).to_dict()
        assert nb.assess(X, Y, folds=3).to_dict() == of_lists.assess(TABLE, Y, folds=3).to_dict()
    assert of_strings.assess().to_dict() == of_lists.assess().to_dict()


def test_a_sample_keeps_no_bytes_of_other_rows() -> None:
    model = NaiveBayes({"note": "text"}).fit(TABLE, Y).model_
    kept = Kept.of(encoded(model, pa.table(TABLE), Y), np.uint64(7), 3)
    texts, *_ = (
        block.texts for block in kept.batch.blocks.values() if isinstance(block, Documents)
    )
    assert isinstance(texts, Strings)
    assert texts.utf8.base is None or texts.utf8.base.nbytes <= texts.utf8.nbytes
    assert len(texts.utf8) == texts.offsets[-1] - texts.offsets[0]
    assert texts.offsets.base is None or len(texts.offsets.base) <= len(texts.offsets)


def test_a_text_that_is_too_long_to_be_explained_is_named() -> None:
    nb = NaiveBayes({"note": "text"}).fit({"note": ROWS}, Y)
    with pytest.raises(ValueError, match="Text 2 of column 'note' has 1,000,001 characters"):
        nb.explain(pa.table({"note": ["short", None, "é" * 1_000_001]}))
