"""Blocks of Strings, and models of them, are what they are of a list of the same texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import Model, Patterns, Text
from naively.counting.axis import Analyser, Words
from naively.counting.block import Batch, Documents
from naively.counting.labels import encode_labels
from naively.data.frames import as_rows
from naively.fitting.reservoir import ANY, Kept
from naively.inspect.explain import _refuse_long
from naively.kernels.strings import Strings
from naively.schema.choose import infer
from naively.schema.encode import Held, decode
from naively.schema.schema import fingerprints
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


def learned(event_models: Any) -> tuple[Model, Batch, Batch]:
    """A model, and the rows that it has learned: their texts a list, and Strings."""
    rows, labels = as_rows(TABLE), encode_labels(Y)
    chosen = {"note": event_models, "n": "gaussian"}
    model = Model.learn(rows, labels, infer(rows, chosen))
    batch = model.counted.schema.encode(rows, labels)
    return model, batch, with_strings(batch)


def with_strings(batch: Batch) -> Batch:
    blocks = {
        key: replace(block, texts=packed(block.texts, b"\xff", b"\xfe"))
        if isinstance(block, Documents)
        else block
        for key, block in batch.blocks.items()
    }
    return replace(batch, blocks=blocks)


def texts_of(batch: Batch) -> Any:
    (found,) = (block.texts for block in batch.blocks.values() if isinstance(block, Documents))
    return found


@pytest.mark.parametrize("event_models", MODELS, ids=str)
def test_a_model_says_the_same_of_both(event_models: Any) -> None:
    model, of_lists, of_strings = learned(event_models)
    assert isinstance(texts_of(of_strings), Strings)
    seed = np.uint64(7)
    np.testing.assert_array_equal(fingerprints(of_strings, seed), fingerprints(of_lists, seed))
    encoded = model.encode(model.view.schema.match(as_rows(TABLE)))
    for finish in ("joint", "posterior", "label"):
        scores = model.score(with_strings(encoded), finish)
        np.testing.assert_array_equal(scores, model.score(encoded, finish))
    for key, axis in model.counted.tally.axes.items():
        if isinstance(axis, Words):
            found, expected = (Held(batch).texts(key, axis) for batch in (of_strings, of_lists))
            np.testing.assert_array_equal(found.indices, expected.indices)
            np.testing.assert_array_equal(found.missing, expected.missing)
            (column,) = decode(of_strings.blocks[key], "text").values()
            assert column.tolist() == ROWS
    tables = []
    for batch in (of_lists, of_strings):
        sample = ANY
        sample = sample.added(batch).for_model(model)
        tables.append(sample.of(model).leave_one_out(model))
    np.testing.assert_array_equal(tables[0].prior, tables[1].prior)
    np.testing.assert_array_equal(tables[0].table, tables[1].table)


def test_a_sample_keeps_no_bytes_of_other_rows() -> None:
    _, _, batch = learned("text")
    long = with_strings(batch)
    kept = Kept.of(long, np.uint64(7), 3)
    texts = texts_of(kept.batch)
    assert isinstance(texts, Strings)
    assert texts.utf8.base is None or texts.utf8.base.nbytes <= texts.utf8.nbytes
    assert len(texts.utf8) == texts.offsets[-1] - texts.offsets[0]
    assert texts.offsets.base is None or len(texts.offsets.base) <= len(texts.offsets)


def test_a_text_that_is_too_long_to_be_explained_is_named() -> None:
    texts = packed(["short", None, "é" * 1_000_001])
    with pytest.raises(ValueError, match="Text 2 of column 'note' has 1,000,001 characters"):
        _refuse_long(Batch({"note": documents(texts)}, encode_labels(["a", "b", "a"])))
