"""Tokens of every kind are what they are meant to be (tests/words.py), by both implementations."""

# Odd characters are the point.
# ruff: noqa: RUF001

import re
import unicodedata
import zlib
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from naively.kernels import vocabulary
from naively.kernels.folding import fold, table_text
from tests import words
from tests.counted_texts import count, dense, lengths, score
from tests.node import ask
from tests.test_vocabulary import MULTILINGUAL, any_texts, both, known_texts, real_texts
from tests.words import KNOWN, PIECES, is_known, known_text, rich_text

SPLITS = [
    {"analyzer": analyzer, "ngram_range": ngram_range, "lowercase": lowercase}
    for analyzer in ("word", "char", "char_wb")
    for ngram_range in ((1, 1), (1, 2), (2, 2), (1, 3), (2, 5), (4, 6), (17, 18))
    for lowercase in (True, False)
]
try:
    from naively.kernels import _native
except ImportError:
    _native = None

LONG_STOP_WORD = "a_very_long_stop_word_of_more_than_sixteen_bytes"
STOP_WORDS = ["the", "naïve", "of", "ab", "中", "中文", LONG_STOP_WORD, "aa"]
NATIVE = getattr(_native, "Vocabulary", vocabulary.Vocabulary)
# Letters and marks that compose, in any order, and those that stop others from composing.
COMBINED = st.sampled_from(
    "aeAo\u00e9\u1ea1\u0301\u0302\u0308\u0323\u0327\u031b\u0338\u0345\u05bc\u05b7\u0345"
    "\u03b1\u0313\u1f00\u0928\u093c\u0915\u0bc6\u0bbe\u0bd7\u0dd9\u0dcf\u0dca\u1100\u1161\u11a8\u11a7"
    "\uac00\uac01\u1175\u11c2\u304b\u3099\u0344\u0958\u2126\u2adc\u0cc6\u0cc2\u0cd5\u1b05\u1b35 "
)
every_split = pytest.mark.parametrize("split", SPLITS, ids=lambda s: "-".join(map(str, s.values())))
spaced_texts = st.lists(
    st.one_of(
        st.text("ab_ \t\n\x1f\u00a0\u3000", max_size=30), st.text("aéЖ字😀_\x7f  ", max_size=30)
    ),
    max_size=5,
)


def check(Vocabulary, texts, split, stop_words=(), *, presence=False):
    """Same tokens in order of first sight, the same counts, and the known tokens found again."""
    analyse = partial(words.tokens, **split, stop_words=stop_words)
    oracle = CountVectorizer(analyzer=analyse, binary=presence)
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
def test_multilingual_tokens_are_as_they_are_meant(Vocabulary, split):
    presence = SPLITS.index(split) // 2 % 2 == 0
    texts = [*MULTILINGUAL, "the end of the naïve ab 中文 " + LONG_STOP_WORD + " x" * 40, "x" * 100]
    check(Vocabulary, texts, split, presence=presence)
    if split["analyzer"] == "word":
        check(Vocabulary, texts, split, STOP_WORDS, presence=presence)


@pytest.mark.slow
@both
@settings(max_examples=100)
@given(texts=known_texts | spaced_texts, split=st.sampled_from(SPLITS))
def test_tokens_are_as_they_are_meant(Vocabulary, texts, split):
    stop_words = STOP_WORDS if split["analyzer"] == "word" else ()
    check(Vocabulary, texts, split, stop_words)


@given(text=known_text, lowercase=st.booleans())
def test_a_text_is_folded_as_it_is_meant(text, lowercase):
    found, kinds = fold(text, lowercase)
    assert found == words.folded(text, lowercase)
    assert len(kinds) == len(found)
    again, same = fold(found, lowercase)
    assert (again, same) == (found, kinds)


@given(text=known_text, lowercase=st.booleans())
def test_texts_of_one_normal_form_are_alike(text, lowercase):
    found = fold(text, lowercase)
    for form in ("NFC", "NFD"):
        assert fold(unicodedata.normalize(form, text), lowercase) == found


@settings(max_examples=50)
@given(text=st.text(COMBINED, max_size=12))
def test_composition_is_nfc_without_marks_that_are_put_on(text):
    assert fold(text, False)[0] == words.folded(text, False)
    text = re.sub("[a-zA-Z]", "\u03b7", unicodedata.normalize("NFD", text))
    assert fold(text, False)[0] == unicodedata.normalize("NFC", text)


def test_all_cases_and_styles_of_a_character_are_one():
    for character in filter(is_known, EVERY):
        cases = {character, character.lower(), character.casefold(), character.upper()}
        if "\u0345" not in unicodedata.normalize("NFD", character) and character not in "ı\u0345":
            assert len({fold(f"x{each}x")[0] for each in cases}) == 1, ascii(character)
        plain = unicodedata.normalize("NFKC", character)
        if plain.isascii() and plain.isalnum() and character not in "™℠":
            assert fold(character) == fold(plain), ascii(character)


@pytest.mark.slow
def test_every_character_is_composed_with_what_follows_it():
    for character in filter(is_known, EVERY):
        if character.isascii() or words.folded(character, False) != character:
            continue  # it is not seen, or of another width
        for text in (character, f"\u03b7{character}\u0323\u0302", f"\u1100{character}\u11a8"):
            found, whole = fold(text, False)[0], unicodedata.normalize("NFD", text)
            has_latin = re.search("[A-Za-z]", whole) is not None
            assert found == words.folded(text, False), ascii(text)
            assert has_latin or found == unicodedata.normalize("NFC", text), ascii(text)


CONTEXTS = {"alone": "{}", "within a word": "a{}b", "before a mark": "e{}\u0301"}
ALIKE = re.compile(  # ideographs and syllables between their first and last, and what is private
    "[\u3402-\u4dbe\u4e02-\u9ffe\uac02-\ud7a2\ue000-\uf8fe"
    "\U00017002-\U000187f6\U00020002-\U0002f7fe\U0002fa20-\U000e0000\U000e0200-\U0010fffe]"
)
EVERY = [  # of those that are alike each 17th
    character
    for number, character in enumerate(map(chr, range(0x110000)))
    if (of := unicodedata.category(character)) != "Cs"
    and (number % 17 == 0 or (of != "Cn" and ALIKE.fullmatch(character) is None))
]


def in_javascript(splits, texts):
    """The tokens of texts as JavaScript splits them, for each way."""
    plain = {"stop_words": [], "max_characters": None}
    asked = [{"split": plain | split, "unicode": table_text(), "texts": texts} for split in splits]
    return ask(asked)


def tokens_of(Vocabulary, texts, split):
    """The tokens of each text, in the order in which it knows them."""
    found = []
    for text in texts:
        v = Vocabulary((), **split)
        v.encode([text], False, True)
        found.append(v.words())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(("analyzer", "lowercase"), [("word", True), ("char", False)])
def test_every_character_is_alike_everywhere(context, analyzer, lowercase):
    """Native, Python and JavaScript, also of characters that others know in another way."""
    split = {"analyzer": analyzer, "ngram_range": (1, 1), "lowercase": lowercase}
    pages = [
        " ".join(CONTEXTS[context].format(c) for c in EVERY[begin : begin + 64])
        for begin in range(0, len(EVERY), 64)
    ]
    python, native = (tokens_of(of, pages, split) for of in (vocabulary.Vocabulary, NATIVE))
    assert python == native
    (javascript,) = in_javascript([split], pages)
    assert [list(dict.fromkeys(tokens)) for tokens in javascript] == python


@pytest.mark.slow
@pytest.mark.parametrize("context", CONTEXTS)
def test_known_characters_are_as_they_are_meant(context):
    # Each third, the others in another context: those who read the same table agree on all above.
    some = [*filter(is_known, EVERY)][list(CONTEXTS).index(context) :: len(CONTEXTS)]
    for character in some:
        text = CONTEXTS[context].format(character)
        for lowercase in (True, False):
            split = {"lowercase": lowercase}
            expected = list(dict.fromkeys(words.tokens(text, **split)))
            assert tokens_of(NATIVE, [text], split) == [expected], ascii(text)


@pytest.mark.slow
@both
def test_pieces_next_to_each_other_are_as_they_are_meant(Vocabulary):
    every = [a + b + c for a in PIECES for b in PIECES for c in ("", "a")]
    for lowercase in (True, False):
        found = tokens_of(Vocabulary, every, {"lowercase": lowercase})
        for text, tokens in zip(every, found, strict=True):
            expected = words.tokens(text, lowercase=lowercase)
            assert tokens == list(dict.fromkeys(expected)), ascii(text)


@settings(max_examples=5)
@given(texts=st.lists(rich_text | st.text(KNOWN, max_size=30), min_size=50, max_size=200))
def test_rich_texts_are_alike_everywhere(texts):
    splits = [
        {"analyzer": analyzer, "ngram_range": [1, 3], "lowercase": lowercase}
        for analyzer in ("word", "char", "char_wb")
        for lowercase in (True, False)
    ]
    for split, found in zip(splits, in_javascript(splits, texts), strict=True):
        options = split | {"ngram_range": tuple(split["ngram_range"])}
        python = [vocabulary.splitter(**options, stop_words=())(text) for text in texts]
        assert found == python
        assert tokens_of(NATIVE, texts, options) == [list(dict.fromkeys(of)) for of in python]


@both
@given(texts=known_texts, split=st.sampled_from(SPLITS), most=st.integers(1, 40))
@example(texts=["to be or not", "é 中文"], split={"analyzer": "word"}, most=4)
@example(texts=["to be or not", "é 中文"], split={"analyzer": "char_wb"}, most=4)
@example(texts=["to be or not", "é 中文"], split={"analyzer": "char"}, most=4)
def test_only_the_first_characters_are_read(Vocabulary, texts, split, most):
    whole, first = Vocabulary((), **split), Vocabulary((), **split, max_characters=most)
    found = [of.tolist() for of in first.encode(texts, False, True)]
    assert found == [of.tolist() for of in whole.encode([t[:most] for t in texts], False, True)]
    assert first.words() == whole.words()
    few = first.select(np.arange(len(first)) % 2 == 0)  # which has the limit too
    cut = [of.tolist() for of in few.encode(texts, False)]
    assert cut == [of.tolist() for of in few.encode([t[:most] for t in texts], False)]


TOGETHER = [
    {"ngram_range": (1, 1)},
    {"ngram_range": (2, 2), "max_characters": 20},
    {"ngram_range": (1, 3), "stop_words": ("a", "\u4e2d")},
    {"analyzer": "char_wb", "ngram_range": (2, 5), "max_characters": 55},
    {"analyzer": "char_wb", "ngram_range": (4, 5)},
    {"analyzer": "char", "ngram_range": (1, 2), "max_characters": 7},
    {"ngram_range": (1, 2), "features": 97},
]


@pytest.mark.skipif(_native is None, reason="the native kernels are not built")
@settings(max_examples=15)
@given(
    texts=st.lists(
        st.lists(known_text | rich_text.map(lambda text: text * 6), max_size=4).map(" ".join),
        max_size=5,
    ),
    lowercase=st.booleans(),
    presence=st.lists(st.booleans(), min_size=len(TOGETHER), max_size=len(TOGETHER)),
)
def test_vocabularies_together_are_each_alone(texts, lowercase, presence):
    """Where texts are divided at white space, and long pieces are not kept."""
    texts = [*texts, *texts, None]
    made = [
        [of((), **options, lowercase=lowercase) for options in TOGETHER]
        for of in (vocabulary.Vocabulary, _native.Vocabulary)
    ]
    for grow in (True, False):
        alone = [v.encode(texts, once, grow) for v, once in zip(made[0], presence, strict=True)]
        found = _native.encode_together(made[1], texts, presence, grow)
        for expected, encoded, v, theirs in zip(alone, found, *made, strict=True):
            shape = len(texts), len(v)
            assert (dense(encoded, shape) == dense(expected, shape)).all()
            assert len(theirs) == len(v)
    for v, theirs, options in zip(*made, TOGETHER, strict=True):
        assert "features" in options or v.words() == theirs.words()


@both
def test_a_limit_is_of_texts_not_of_lists_of_words(Vocabulary):
    v = Vocabulary((), max_characters=2)
    v.encode([["longer", "words"], "longer"], False, True)
    assert v.words() == ["longer", "words", "lo"]


@both
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("नमस्ते दुनिया मुझे पैसे चाहिए", "नमस्ते दुनिया मुझे पैसे चाहिए"),
        ("வணக்கம் உலகம்", "வணக்கம் உலகம்"),
        ("مَرْحَبًا", "مَرْحَبًا"),
        ("cafe\u0301 CAFÉ", "café café"),
        (
            "İSTANBUL istanbul, STRASSE Straße STRAẞE, ﬁne",
            "istanbul istanbul strasse strasse strasse fine",
        ),
        ("𝐕𝒊𝓪𝔤𝕣𝖺 Ⓥⓘ🅐🆃 ᴠɪᴀɢʀᴀ ᵛⁱᵃ H₂O m² ⒱⒤⒜ ①⓿ Ⅷ", "viagra viat viagra via h2o m2 via 10 viii"),
        ("v̶i̶a̶g̲r̂́̃a̧̛ ṽiág̃ra v1⃝0⃝", "viagra ṽiágra v10"),
        (
            "ẹ̀kọ́ Ǘ ấ ṝ ю́ й ɛ̃ Viagra™ 2½ น้ำ ㅋㅋ",
            "ẹ̀kọ́ ǘ ấ ṝ ю\u0301 й ɛ̃ viagra ™ 2½ น้ น้ำ ำ ㅋ ㅋㅋ ㅋ",
        ),
        ("ΟΔΟΣ, ΟΔΟΣ1 Σ ΑΣ. σας", "οδος οδοσ1 σ ας σας"),
        ("don't DON\u2019T rock'n'roll 'tis boys'", "don't don't rock'n'roll tis boys"),
        ("C++ and c# of C or C+++ C#1 ++", "c++ and c# of c or c c 1"),
        ("3.14 1,000.50 3.14a 1.2.3b 5.", "3.14 1,000.50 3 14a 1.2 3b 5"),
        (
            "http://www.python.org/dev www.a-b.co.uk. file://x",
            "http www python.org dev www a-b.co.uk file x",
        ),
        ("#ML @ann a#b me@x.y &#39; ##", "#ml @ann a b me x y 39"),
        (":-) :D ;P x:D =) <3 </3 ^_^ -_- http://", ":-) :d ;p x d =) <3 </3 ^_^ -_- http"),
        ("👍🏽 👨\u200d👩\u200d👧 🇩🇪🇫🇷 ❤\ufe0f 1\ufe0f\u20e3", "👍🏽 👨\u200d👩\u200d👧 🇩🇪 🇫🇷 ❤ 1"),
        ("我喜欢 ไทย ﾊﾝｶｸ", "我 我喜 喜 喜欢 欢 ไ ไท ท ทย ย ハ ハン ン ンカ カ カク ク"),
        ("한국어 한국 한", "한국어 한국 국어 한국 한"),
        ("soft\u00adhyphen zero\u200bwidth Ｆｕｌｌ", "softhyphen zerowidth full"),
    ],
)
def test_words_of_every_language(Vocabulary, text, expected):
    assert [word for word, _ in words.words(text)] == expected.split()
    assert tokens_of(Vocabulary, [text], {}) == [list(dict.fromkeys(expected.split()))]


@both
def test_parts_of_words_are_in_no_ngram(Vocabulary):
    (found,) = tokens_of(Vocabulary, ["我喜欢 한국어 it"], {"ngram_range": (2, 3)})
    assert found == ["我喜 喜欢", "喜欢 한국어", "한국어 it", "我喜 喜欢 한국어", "喜欢 한국어 it"]


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
def test_real_tokens_are_as_they_are_meant(Vocabulary, name, split):
    texts = real_texts(name, 200, 1000)
    oracle = CountVectorizer(analyzer=partial(words.tokens, **split))
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
@given(texts=known_texts, split=st.sampled_from(SPLITS))
def test_hashed_tokens_are_crc_32(Vocabulary, texts, split):
    analyse = partial(words.tokens, **split)
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
    for verb in (v.words, v.to_arrays, lambda: v.select(np.ones(8, bool)), lambda: v.join(v)):
        with pytest.raises(ValueError, match="hashed words are not known"):
            verb()


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
        ({"max_characters": 0}, "max_characters must be at least 1"),
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
