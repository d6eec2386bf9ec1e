"""Texts as Arrow lays them out (Strings) do in every way what a list of the same texts does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naively.kernels.strings import Strings
from tests.counted_texts import count, dense, lengths, score
from tests.test_tokens import SPLITS, STOP_WORDS, every_split, spaced_texts
from tests.test_vocabulary import MULTILINGUAL, any_text, both

Texts = list[str | None]
lists = st.lists(st.none() | any_text, max_size=8)
pieces = st.binary(max_size=5)


def packed(texts: Sequence[str | None], junk: bytes = b"", around: bytes = b"") -> Strings:
    """Return texts among bytes that are of none: ``junk`` in each missing one, and at both ends."""
    encoded = [junk if t is None else t.encode("utf-8", "surrogatepass") for t in texts]
    ends = np.cumsum([len(around), *map(len, encoded)]).astype(np.int64)
    missing = np.array([t is None for t in texts], np.bool_)
    utf8 = np.frombuffer(around + b"".join(encoded) + around, np.uint8)
    return Strings(ends, utf8, missing if missing.any() else None)


def everything(v: Any, texts: Any, *, presence: bool) -> list[Any]:
    """All that a vocabulary says of texts, and its tokens after it has counted them."""
    y = np.arange(len(texts), dtype=np.int32) % 3
    counts = count(v, texts, y, None, 3, presence)[0]
    w = np.arange(len(texts)) / 7
    weighted = count(v, texts, y, w, 3, presence)[0]
    slope = np.random.default_rng(0).normal(size=(len(v), 3))
    scores = score(v, texts, slope, np.zeros(3), presence, "joint", np.zeros(3))
    encoded = dense(v.encode(texts, presence), (len(texts), len(v)))
    return [counts, weighted, encoded, lengths(v, texts, presence), scores]


def check(
    Vocabulary: Any, texts: Texts, strings: Strings, options: dict[str, Any], *, presence: bool
) -> None:
    of_list, of_strings = Vocabulary((), **options), Vocabulary((), **options)
    expected = everything(of_list, texts, presence=presence)
    found = everything(of_strings, strings, presence=presence)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    if "features" not in options:
        assert of_strings.words() == of_list.words()


@both
@every_split
def test_texts_of_many_scripts(Vocabulary: Any, split: dict[str, Any]) -> None:
    presence = SPLITS.index(split) // 2 % 2 == 0
    texts: Texts = [*MULTILINGUAL, None, "x" * 100, "é" * 100, "字" * 100, "😀a" * 100]
    check(Vocabulary, texts, packed(texts), split, presence=presence)
    options = {**split, "features": 97}
    if split["analyzer"] == "word":
        options["stop_words"] = STOP_WORDS
    check(Vocabulary, texts, packed(texts), options, presence=presence)


@pytest.mark.slow
@both
@settings(max_examples=60)
@given(
    texts=lists | spaced_texts,
    split=st.sampled_from(SPLITS),
    hashed=st.booleans(),
    junk=pieces,
    around=pieces,
    presence=st.booleans(),
)
def test_texts_of_any_characters(
    Vocabulary: Any,
    texts: Texts,
    split: dict[str, Any],
    hashed: bool,
    junk: bytes,
    around: bytes,
    presence: bool,
) -> None:
    options = {**split, "features": 97} if hashed else dict(split)
    if split["analyzer"] == "word":
        options["stop_words"] = STOP_WORDS
    check(Vocabulary, texts, packed(texts, junk, around), options, presence=presence)


@pytest.mark.slow
@both
def test_every_character(Vocabulary: Any) -> None:
    pages: Texts = [
        " ".join(f"{chr(i)}{chr(i)} a{chr(i)}b" for i in range(begin, begin + 128))
        for begin in range(0, 0x110000, 128 * 7)
    ]
    tables = []
    for texts in (pages, packed(pages)):
        v = Vocabulary()
        high, _ = count(v, texts, np.zeros(len(pages), np.int32), None, 1, False)
        tables.append((v.words(), high.tolist()))
    assert tables[0] == tables[1]


@pytest.mark.slow
@both
def test_long_texts_of_every_width_beside_short_ones(Vocabulary: Any) -> None:
    texts: Texts = [
        letter + " ab" * n + letter for n in (0, 1, 30_000) for letter in ("a", "é", "字", "😀")
    ]
    check(Vocabulary, texts * 2, packed(texts * 2), {}, presence=False)


@both
@given(texts=lists, begin=st.integers(0, 8), end=st.integers(0, 8))
def test_slices(Vocabulary: Any, texts: Texts, begin: int, end: int) -> None:
    check(Vocabulary, texts[begin:end], packed(texts)[begin:end], {}, presence=False)


@both
def test_arrays_need_neither_be_aligned_nor_contiguous(Vocabulary: Any) -> None:
    texts: Texts = ["one été", None, "字"]
    strings = packed(texts)
    offsets = np.frombuffer(b"\0" + strings.offsets.tobytes(), np.int64, offset=1)
    apart = [np.repeat(array, 2)[::2] for array in (strings.utf8, strings.missing)]
    check(Vocabulary, texts, Strings(offsets, *apart), {}, presence=False)


@both
def test_no_texts(Vocabulary: Any) -> None:
    empty = np.empty(0, np.uint8)
    check(Vocabulary, [], Strings(np.array([0]), empty), {}, presence=False)


def refused(Vocabulary: Any, strings: Strings, message: str) -> None:
    rows = max(len(strings.offsets) - 1, 0)
    v = Vocabulary(["one"])
    zero = np.zeros(1)
    for ask in (
        lambda: count(v, strings, np.zeros(rows, np.int32), None, 1, False),
        lambda: v.encode(strings, False),
        lambda: lengths(v, strings, False),
        lambda: score(v, strings, np.zeros((1, 1)), zero, False, "joint", zero),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    assert v.words() == ["one"]


@both
@pytest.mark.parametrize(
    "offsets",
    [
        [0, 5], [0, 3, 2], [0, 4, 1, 4], [-1, 2], [-3, -1], [2**62, 2**62], [0, 2**63 - 1],
        [-(2**63), 2], [-(2**63), 2**63 - 1], [2**63 - 1, -(2**63)], [3, -(2**63), 4],
    ],
)  # fmt: skip
@pytest.mark.parametrize("absent", [False, True])
def test_hostile_offsets_are_refused(Vocabulary: Any, offsets: list[int], absent: bool) -> None:
    missing = np.ones(len(offsets) - 1, np.bool_) if absent else None
    strings = Strings(np.array(offsets, np.int64), np.frombuffer(b"abcd", np.uint8), missing)
    refused(Vocabulary, strings, "offsets must ascend within the bytes")


ENDS, UTF8, NONE = np.array([0, 2, 4]), np.zeros(4, np.uint8), np.zeros(2, np.bool_)


@both
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((ENDS.astype(np.int32), UTF8), "int64"),
        ((ENDS.astype(float), UTF8), "int64"),
        ((ENDS[:, None], UTF8), "one dimension"),
        ((np.array(0), UTF8), "one dimension"),
        ((ENDS, UTF8.astype(np.int8)), "uint8"),
        ((ENDS, UTF8.reshape(2, 2)), "one dimension"),
        ((ENDS, UTF8, NONE.astype(np.uint8)), "missing must be bool"),
        ((ENDS, UTF8, NONE[:, None]), "missing must be bool"),
        ((ENDS, UTF8, NONE[:1]), "1 flags of what is missing for 2 texts"),
        ((ENDS, UTF8, np.zeros(3, np.bool_)), "3 flags of what is missing for 2 texts"),
    ],
    ids=str,
)
def test_other_arrays_are_refused(Vocabulary: Any, arrays: Any, message: str) -> None:
    strings = Strings(*arrays)
    if arrays[0].ndim == 0:
        with pytest.raises((ValueError, TypeError)):
            Vocabulary().encode(strings, False)
    else:
        refused(Vocabulary, strings, message)


@both
def test_without_any_offset_there_are_no_texts(Vocabulary: Any) -> None:
    refused(Vocabulary, Strings(np.empty(0, np.int64), UTF8), "offsets must have at least one")


@pytest.mark.slow
@both
@settings(max_examples=200)
@given(
    parts=st.lists(
        st.binary(max_size=4)
        | st.sampled_from([b"\xc0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\xed\xa0\x80"])
        | any_text.map(lambda text: text.encode("utf-8", "surrogatepass")[:-1]),
        max_size=4,
    )
)
def test_bytes_are_texts_exactly_if_python_decodes_them(Vocabulary: Any, parts: Any) -> None:
    whole = b"".join(parts)
    ends = np.cumsum([0, *map(len, parts)])
    strings = Strings(ends, np.frombuffer(whole, np.uint8))
    texts: Texts = []
    for begin, end in pairwise(ends.tolist()):
        try:
            texts.append(whole[begin:end].decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            return refused(Vocabulary, strings, f"text {len(texts)} is not UTF-8")
    return check(Vocabulary, texts, strings, {"analyzer": "char"}, presence=False)
