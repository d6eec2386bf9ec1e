"""Texts in a model: what is selected, several analysers, lists of words, patterns, files."""

# Odd characters are the point.
# ruff: noqa: RUF001

from __future__ import annotations

import gzip
import itertools
import json
import os
import pickle
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from naively import Bernoulli, Gaussian, Multinomial, NaiveBayes, Patterns, Text, load
from naively.counting.axis import VALUE
from naively.schema.text import stemmer_of
from tests import words
from tests.damage import apart, rewrite
from tests.learning import encoded
from tests.products import assert_same_tally
from tests.test_vocabulary import MULTILINGUAL
from tests.words import known_text

Texts = tuple[list[str], list[str]]
THE_SAME = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}
SCIKIT = r"(?u)\b\w\w+\b"  # scikit-learn's words
OPTIONS: list[dict[str, Any]] = [
    {"token_pattern": SCIKIT},
    {"token_pattern": SCIKIT, "ngram_range": (1, 2), "min_df": 2},
    {"token_pattern": SCIKIT, "ngram_range": (2, 2), "stop_words": "english", "max_df": 0.5},
    {"token_pattern": SCIKIT, "stop_words": ["the", "to", "a"], "binary": True},
    {"strip_accents": "unicode", "token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": SCIKIT, "strip_accents": "ascii", "lowercase": False, "ngram_range": (1, 3)},
    {"token_pattern": r"#?(\w\w\w+)", "ngram_range": (1, 2)},
    {"analyzer": "char", "ngram_range": (2, 4), "min_df": 0.02, "max_df": 40},
    {"analyzer": "char_wb", "ngram_range": (3, 5), "max_features": 100},
    {"analyzer": "char", "strip_accents": "unicode", "max_features": 10},
    {"token_pattern": SCIKIT, "min_df": 2, "max_df": 0.3, "max_features": 50},
    {"token_pattern": SCIKIT, "max_df": 1},
]


def pure(event_models: Any) -> NaiveBayes:
    return NaiveBayes(event_models, weights=None, smoothing=1.0)


@pytest.fixture(scope="module")
def load_texts() -> Callable[[str, int], Texts]:
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        pytest.skip("NAIVELY_DATA is not set")

    def read(name: str, most: int) -> Texts:
        with gzip.open(Path(folder) / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in itertools.islice(file, most)]
        return [r["text"][:1000] for r in records], [str(r["label"]) for r in records]

    return read


def of_folded(options: dict[str, Any]) -> dict[str, Any]:
    """Options of CountVectorizer for the same tokens: character n-grams are of the folded text."""
    if "token_pattern" in options:
        return options
    lowercase, accents = options.get("lowercase", True), options.get("strip_accents")
    prepare = CountVectorizer(lowercase=lowercase, strip_accents=accents).build_preprocessor()
    if accents is None:
        return {**options, "preprocessor": lambda text: words.folded(text, lowercase)}
    return {**options, "preprocessor": lambda text: words.folded(prepare(text), False)}


def check(texts: list[str], y: list[str], options: dict[str, Any], event: str) -> None:
    """The same tokens, the same counts of each by class, and the same probabilities."""
    nb = pure(Text(**options, event=event)).fit(texts, y)
    if event == "bernoulli":
        options = {**options, "binary": True}
    options = of_folded(options)
    vectorizer = CountVectorizer(**options)
    counts = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out().tolist()
    (tally,) = nb.model_.view.counts.values()
    known = tally.axis.words
    most = options.get("max_features")
    if most is not None:  # of equals at the cut, theirs are any
        times = dict(zip(names, counts.sum(axis=0).A1.tolist(), strict=True))
        plain = CountVectorizer(**{**options, "max_features": None})
        every = plain.fit_transform(texts).sum(axis=0).A1
        of_all = dict(zip(plain.get_feature_names_out().tolist(), every.tolist(), strict=True))
        assert sorted(of_all[word] for word in known) == sorted(times.values())
        cut = min(times.values())
        assert {w for w in known if of_all[w] > cut} == {w for w in names if times[w] > cut}
        equal = sorted(word for word, n in of_all.items() if n == cut)
        ours = sorted(word for word in known if of_all[word] == cut)
        assert ours == equal[: len(ours)]
        return
    assert sorted(known) == names
    order = tally.axis.vocabulary.find(names)
    for c, label in enumerate(nb.classes_):
        expected = counts[np.array(y) == label].sum(axis=0).A1
        assert (tally[VALUE].high[order, c] == expected).all()
    if event == "complement":
        return  # theirs has no class prior
    peer = THE_SAME[event]().fit(counts, y)
    np.testing.assert_allclose(nb.predict_proba(texts), peer.predict_proba(counts), atol=1e-7)


@pytest.mark.parametrize("event", THE_SAME)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_count_vectorizer_and_scikit_learns_model(
    options: dict[str, Any], event: str, load_texts: Callable[[str, int], Texts]
) -> None:
    for name in ("sms_spam", "onion_headlines", "webkb_train"):
        check(*load_texts(name, 150), options, event)


@pytest.mark.parametrize("options", [o for o in OPTIONS if "max_df" not in o], ids=str)
def test_texts_of_many_scripts(options: dict[str, Any]) -> None:
    y = ["a", "b"] * (len(MULTILINGUAL) // 2)
    texts = [text.encode("utf-8", "ignore").decode() for text in MULTILINGUAL]
    check(texts, y, options, "multinomial")


@pytest.mark.parametrize(
    "options",
    [
        {"token_pattern": SCIKIT},
        {"token_pattern": SCIKIT, "ngram_range": (1, 3), "stop_words": ["the"]},
        {"analyzer": "char", "ngram_range": (2, 3)},
        {"analyzer": "char_wb", "ngram_range": (1, 4), "lowercase": False},
        {"token_pattern": r"[a-z]+", "strip_accents": "unicode"},
    ],
)
def test_tokens_are_count_vectorizers(options: dict[str, Any]) -> None:
    analyse = CountVectorizer(**of_folded(options)).build_analyzer()
    for text in [*MULTILINGUAL, "The cat, the HAT: the the", ""]:
        assert Text(**options).tokens(text) == analyse(text)
    assert Text(features=8).tokens("one two") == ["one", "two"]


@given(text=known_text, most=st.integers(1, 30))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2), "stop_words": ["a"]},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"token_pattern": SCIKIT},
        {"strip_accents": "unicode"},
        {"analyzer": "char", "strip_accents": "ascii"},
        {"tokenizer": str.split},
        {"analyzer": str.split},
        {"preprocessor": str.swapcase},
        {"max_tokens": 5},
    ],
    ids=str,
)
def test_only_the_first_characters_are_read(options: dict[str, Any], text: str, most: int) -> None:
    found = Text(**options, max_characters=most).tokens(text)
    assert found == Text(**options).tokens(text[:most])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2), "binary": True},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"analyzer": "char", "features": 64},
        {"token_pattern": SCIKIT},
    ],
    ids=str,
)
@given(texts=st.lists(known_text, min_size=2, max_size=6), most=st.integers(1, 30))
@pytest.mark.filterwarnings("ignore:No token was found")
def test_a_model_of_the_first_characters_is_one_of_texts_cut_short(
    options: dict[str, Any], texts: list[str], most: int
) -> None:
    y, cut = ["a", "b", "a", "b", "a", "b"][: len(texts)], [text[:most] for text in texts]
    first = pure(Text(**options, max_characters=most)).fit({"t": texts}, y)
    whole = pure(Text(**options)).fit({"t": cut}, y)
    np.testing.assert_array_equal(
        first.predict_proba({"t": texts}), whole.predict_proba({"t": cut})
    )
    (mine,), (theirs,) = first.tally_.blocks.values(), whole.tally_.blocks.values()
    assert (mine[VALUE].high == theirs[VALUE].high).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("नमस्ते दुनिया मुझे पैसे चाहिए", "नमस्ते दुनिया मुझे पैसे चाहिए"),
        ("வணக்கம் உலகம்", "வணக்கம் உலகம்"),
        ("مَرْحَبًا", "مَرْحَبًا"),
        ("cafe\u0301", "café"),
        ("İstanbul", "istanbul"),
        ("I ♥ C++ and C#, not C!", "i ♥ c++ and c# not c"),
        ("😀😀 👍🏽 🇩🇪 :-)", "😀 😀 👍🏽 🇩🇪 :-)"),
        ("ﾃﾞｰﾀ", "デ デー ー ータ タ"),
    ],
)
def test_words_of_every_language(text: str, expected: str) -> None:
    assert Text().tokens(text) == expected.split()


def test_texts_in_another_normal_form_or_width_are_the_same() -> None:
    texts = ["größer Ångström", "naïve café", "ガ デ ABC", "ẹ́ ñ 한국어"] * 3
    y = ["a", "b", "c", "d"] * 3
    nb = NaiveBayes().fit(texts, y)
    expected = nb.predict_proba(texts)
    for form in ("NFD", "NFC"):
        other = [unicodedata.normalize(form, text) for text in texts]
        np.testing.assert_array_equal(nb.predict_proba(other), expected)
        learned = NaiveBayes().fit(other, y)
        np.testing.assert_allclose(learned.predict_proba(texts), expected, rtol=1e-9)
    np.testing.assert_array_equal(nb.predict_proba(["ｶﾞ ﾃﾞ ＡＢＣ"]), expected[2:3])


def test_a_count_of_texts_is_not_a_share() -> None:
    expected = ["Text(max_df=1)", "Text(min_df=1.0)", "Text()"]
    assert [str(Text(max_df=1)), str(Text(min_df=1.0)), str(Text(min_df=1, max_df=1.0))] == expected


@pytest.mark.filterwarnings("ignore:No token was found")
@given(st.data())
def test_what_is_selected_is_selected_from_the_whole(data: st.DataObject) -> None:
    """Two parts merged, or one forgotten, select what the whole would."""
    words = st.lists(st.sampled_from(["a1", "b2", "c3", "d4", "e5"]), max_size=5).map(" ".join)
    texts = data.draw(st.lists(words, min_size=2, max_size=10))
    y = data.draw(st.lists(st.sampled_from("ab"), min_size=len(texts), max_size=len(texts)))
    cut = data.draw(st.integers(1, len(texts) - 1))
    options = data.draw(
        st.sampled_from([{"min_df": 2}, {"max_df": 0.5}, {"max_features": 2}, {"min_df": 0.3}])
    )
    text = Text(**options)
    whole = pure(text).fit(texts, y)
    first, second = pure(text).fit(texts[:cut], y[:cut]), pure(text).fit(texts[cut:], y[cut:])
    merged = deepcopy(first).merge(second)
    assert set(selected(merged)) == set(selected(whole))
    forgotten = deepcopy(whole).forget(texts[cut:], y[cut:])
    assert set(selected(forgotten)) == set(selected(first))
    for one, other in ((merged, whole), (forgotten, first)):
        np.testing.assert_allclose(one.predict_proba(texts), other.predict_proba(texts), atol=1e-12)


def selected(nb: NaiveBayes) -> list[str]:
    (tally,) = nb.model_.view.counts.values()
    words: list[str] = tally.axis.words
    return words


TEXTS = ["WIN $1000 now", "lunch at noon", "win a prize now", "see you at lunch"] * 3
Y = ["spam", "ham", "spam", "ham"] * 3
SEVERAL = [
    Text(ngram_range=(1, 2), min_df=4),
    Text(analyzer="char", ngram_range=(2, 3), event=Multinomial(alpha=0.1)),
    Text(features=64, event="bernoulli"),
    Patterns(more={"noon": "noon"}),
]


def test_one_column_feeds_several_blocks(tmp_path: Path) -> None:
    table = {"note": TEXTS, "n": [float(i) for i in range(12)]}
    nb = NaiveBayes({"note": SEVERAL, "n": Gaussian()}).fit(table, Y)
    pure_as_given = partial(NaiveBayes, weights=None)  # some of these have a smoothing of their own
    apart = [pure_as_given({"note": one, "n": Gaussian()}).fit(table, Y) for one in SEVERAL]
    plain = pure_as_given({"note": SEVERAL, "n": Gaussian()}).fit(table, Y)
    numbers = pure_as_given(Gaussian()).fit({"n": table["n"]}, Y)
    alone = numbers.model_.joint_log_likelihood(numbers._rows({"n": table["n"]}))
    together = plain.model_.joint_log_likelihood(plain._rows(table))
    parts = [one.model_.joint_log_likelihood(one._rows(table)) - alone for one in apart]
    np.testing.assert_allclose(together, alone + sum(parts))
    assert len(nb.model_.counted.tally.blocks) == 5
    assert len(nb.weights_.of) == 5

    nb.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.schema_ == nb.schema_
    np.testing.assert_array_equal(again.predict_proba(table), nb.predict_proba(table))
    assert again.event_models == {
        "note": [group.analyser for group in nb.schema_.groups if group.analyser],
        "n": Gaussian(),
    }
    relearned = NaiveBayes(again.event_models).fit(table, Y)
    assert relearned.schema_.groups == nb.schema_.groups
    same = pickle.loads(pickle.dumps(nb))  # noqa: S301
    np.testing.assert_array_equal(same.predict_proba(table), nb.predict_proba(table))
    explained = nb.explain(table)[0]
    c = explained.best
    total = explained.joint[c] - explained.joint[explained.rival(c)]
    assert explained.weights(c).sum() == pytest.approx(total)
    assert "pattern:money" in explained.value


def test_models_of_other_analysers_do_not_merge() -> None:
    a, b = pure(Text()).fit(TEXTS, Y), pure(Text(ngram_range=(1, 2))).fit(TEXTS, Y)
    with pytest.raises(ValueError, match=r"ngram_range=\(1, 2\).*cannot be merged"):
        a.merge(b)


@pytest.mark.parametrize(
    "make",
    [
        lambda lists: {"note": lists},
        lambda lists: {"note": [tuple(words) for words in lists]},
        lambda lists: {"note": [np.array(words) for words in lists]},
        lambda lists: pd.DataFrame({"note": lists}),
        lambda lists: pl.DataFrame({"note": lists}),
        lambda lists: pl.DataFrame({"note": lists}).to_arrow(),
        pl.Series,
        lambda lists: lists,
    ],
    ids=["lists", "tuples", "arrays", "pandas", "polars", "arrow", "series", "rows"],
)
def test_lists_of_words_are_texts(make: Callable[[Any], Any]) -> None:
    lists = [text.lower().replace("$", "").split() for text in TEXTS]
    expected = pure("auto").fit(TEXTS, Y).predict_proba(TEXTS)
    table = make(lists)
    np.testing.assert_allclose(pure("auto").fit(table, Y).predict_proba(table), expected)


def test_numbers_of_words_are_texts() -> None:
    rows = [[7, 1, 7], [2], [], [7, 3]]
    nb = pure("auto").fit({"note": rows}, [0, 1, 1, 0])
    (tally,) = nb.tally_.blocks.values()
    assert tally.axis.words == ["7", "1", "2", "3"]
    assert tally[VALUE].high.tolist() == [[3, 0], [1, 0], [0, 1], [1, 0]]
    assert nb.predict({"note": [np.array([2, 2])]}).tolist() == [1]
    with pytest.raises(ValueError, match=r'different lengths.*"text": rows'):
        pure("auto").fit(rows, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="'note' holds a list in row 1 that is not of words"):
        pure("auto").fit({"note": [[1], [0.5]]}, [0, 1])
    with pytest.raises(ValueError, match="'note' holds lists of words, no categories"):
        pure("categorical").fit({"note": rows}, [0, 1, 1, 0])


def test_lengths_count_known_words() -> None:
    model = pure(Text(binary=True)).fit(["one two one", "two"], ["a", "b"]).model_
    rows = encoded(model, ["one one three", "two one", None, ""])
    (block,) = model.blocks(rows).values()
    assert block.lengths.tolist() == [1, 2, 0, 0]


def test_a_hashed_model_stays_as_large_as_it_is() -> None:
    nb = pure(Text(features=2**10, ngram_range=(1, 2))).fit(TEXTS, Y)
    before = nb.tally_
    nb.partial_fit([f"{i} new{i} words{i}" for i in range(5000)], ["spam"] * 5000)
    assert [len(block.axis) for block in nb.tally_.blocks.values()] == [2**10]
    nb.forget([f"{i} new{i} words{i}" for i in range(5000)], ["spam"] * 5000)
    (now,), (then,) = nb.tally_.blocks.values(), before.blocks.values()
    assert (now[VALUE].high == then[VALUE].high).all()
    assert {str(value)[0] for value in nb.explain(TEXTS)[0].value[1:]} == {"#"}


# Functions: tokenizers, analyzers, preprocessors; stems and stop words of languages.


def shouted(text: str) -> str:
    return text.upper()


def by_slash(text: str) -> list[str]:
    return text.split("/")


class Halves:
    """A function that is an object, without a name of its own."""

    def __call__(self, text: str) -> list[str]:
        return [text[: len(text) // 2], text[len(text) // 2 :]]


@pytest.mark.parametrize("option", ["tokenizer", "analyzer", "preprocessor"])
@pytest.mark.parametrize("found", [None, 3, [1, 2], [None], [b"a"], "a b"], ids=repr)
def test_what_a_function_of_texts_must_return_is_said(option: str, found: Any) -> None:
    text = Text(**{option: lambda _: found})
    if option == "preprocessor" and isinstance(found, str):
        return
    must = "a string" if option == "preprocessor" else "a list of strings"
    said = rf"The {option} <lambda> must return {must}, and returned .* for the text 'good day'\."
    with pytest.raises(ValueError, match=said):
        NaiveBayes(text).fit(["good day", "bad day"], ["a", "b"])


@pytest.mark.parametrize(
    ("options", "text", "tokens"),
    [
        ({"tokenizer": by_slash, "ngram_range": (1, 2), "stop_words": ["b"]}, "A/B/Cafe\u0301",
         ["a", "café", "a café"]),
        ({"tokenizer": by_slash, "lowercase": False}, "A/B", ["A", "B"]),
        ({"tokenizer": by_slash, "preprocessor": shouted}, "a/b", ["A", "B"]),
        ({"tokenizer": lambda text: map(str.upper, text.split())}, "a bb", ["A", "BB"]),
        ({"preprocessor": shouted}, "one, two", ["ONE", "TWO"]),
        ({"analyzer": "char", "ngram_range": (2, 2), "preprocessor": shouted}, "abc", ["AB", "BC"]),
        ({"analyzer": by_slash}, "A b/C", ["A b", "C"]),
        ({"analyzer": Halves(), "max_characters": 4}, "abcdef", ["ab", "cd"]),
        ({"analyzer": lambda text: iter(text.split())}, "a b", ["a", "b"]),
    ],
)  # fmt: skip
def test_functions_make_the_words(options: dict[str, Any], text: str, tokens: list[str]) -> None:
    assert Text(**options).tokens(text) == tokens


@pytest.mark.parametrize(
    ("name", "event"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB)]
)
def test_models_with_functions_are_scikit_learns(name: str, event: Any) -> None:
    for options in ({"tokenizer": by_slash}, {"analyzer": by_slash}, {"preprocessor": shouted}):
        texts = [text.replace(" ", "/") for text in TEXTS]
        nb = pure(Text(**options, event=name)).fit(texts, Y)
        pattern = {} if "preprocessor" not in options else {"token_pattern": r"\$?\b\w+\b"}
        if pattern:
            texts = [text.replace("$", "") for text in texts]
            nb = pure(Text(**options, event=name)).fit(texts, Y)
        counter = CountVectorizer(**{"token_pattern": None} | options | pattern)
        peer = event().fit(counter.fit_transform(texts), Y)
        expected = peer.predict_proba(counter.transform(texts))
        np.testing.assert_allclose(nb.predict_proba(texts), expected)


def test_stop_words_of_languages() -> None:
    pytest.importorskip("stop_words")
    german = Text(stop_words="german")
    assert german.tokens("Der Hund und die Katze") == ["hund", "katze"]
    assert german == Text(stop_words="de") == Text(stop_words=["german"])
    both = Text(stop_words=["english", "german"])
    assert both.tokens("Der Hund and the Katze") == ["hund", "katze"]
    assert {*both.stop_words} == {*german.stop_words, *ENGLISH_STOP_WORDS}
    assert Text(stop_words=("german", "the", "de")).stop_words == ("de", "german", "the")
    assert Text(stop_words=["en", "de"]).stop_words == ("de", "en")  # words of other languages
    assert Text(stop_words=["Und"]).tokens("Und und") == []
    assert Text(stop_words=["Und"], lowercase=False).tokens("Und und") == ["und"]
    assert Text(stop_words=["cafe\u0301"]).tokens("Café") == []


def test_stems_of_languages() -> None:
    pytest.importorskip("snowballstemmer")
    text = Text(stemmer="german", stop_words=["und"])
    assert text.tokens("Häuser und Katzen") == ["haus", "katz"]
    english = Text(stemmer="english", ngram_range=(1, 2))
    assert english.tokens("running dogs") == ["run", "dog", "run dog"]


@pytest.mark.parametrize(
    ("options", "package"),
    [({"stop_words": "german"}, "stop_words"), ({"stemmer": "french"}, "snowballstemmer")],
)
def test_a_package_that_is_not_there_is_named(
    options: dict[str, Any], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stemmer_of.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"needs the package .*: pip install 'naively\[words\]'"):
        Text(**options)


def test_a_chinese_tokenizer() -> None:
    jieba = pytest.importorskip("jieba")
    jieba.setLogLevel("ERROR")
    text = Text(tokenizer=jieba.lcut, stop_words=["，"])
    assert text.tokens("我喜欢北京，北京大学") == ["我", "喜欢", "北京", "北京大学"]
    texts, y = ["我喜欢北京", "他讨厌上海"] * 3, ["+", "-"] * 3
    nb = NaiveBayes(text, weights=None).fit(texts, y)
    assert nb.predict(["喜欢", "讨厌"]).tolist() == ["+", "-"]


FUNCTIONS = [
    {"tokenizer": by_slash},
    {"analyzer": by_slash},
    {"preprocessor": shouted},
    {"tokenizer": by_slash, "preprocessor": shouted, "stop_words": ["NOW"], "max_tokens": 3},
]


@pytest.mark.parametrize("options", FUNCTIONS, ids=", ".join)
def test_a_file_holds_the_names_of_functions(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    nb = NaiveBayes(Text(**options)).fit(TEXTS, Y)
    nb.save(path)
    functions = {of.__name__: of for of in options.values() if callable(of)}
    again = load(path, functions=functions)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), nb.predict_proba(TEXTS))
    assert again.schema_ == nb.schema_
    again.partial_fit(TEXTS, Y)
    for name in functions:
        others = {other: of for other, of in functions.items() if other != name}
        with pytest.raises(ValueError, match=rf"function '{name}' .*load\(path, functions={{") as e:
            load(path, functions=others)
        assert str(e.value).startswith(f"{path} splits its texts by the function")
    with pytest.raises(ValueError, match="a file cannot hold"):
        load(path)
    with pytest.raises(TypeError, match="is no function"):
        load(path, functions=dict.fromkeys(functions, "split"))
    same = pickle.loads(pickle.dumps(nb))  # noqa: S301
    np.testing.assert_array_equal(same.predict_proba(TEXTS), nb.predict_proba(TEXTS))
    assert by_name(options) in str(nb.schema_.groups[0].analyser)


def by_name(options: dict[str, Any]) -> str:
    name, of = next(iter(options.items()))
    return f"{name}={of.__name__}"


def test_a_function_without_a_name_cannot_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "m.naively"
    nb = NaiveBayes(Text(tokenizer=lambda text: text.split("/"))).fit(TEXTS, Y)
    with pytest.raises(
        ValueError, match="tokenizer is a lambda, which has no name: write it as a f"
    ):
        nb.save(path)
    assert not path.exists()
    nb = NaiveBayes(Text(analyzer=Halves())).fit(TEXTS, Y)  # is known by its class
    nb.save(path)
    again = load(path, functions={"Halves": Halves()})
    np.testing.assert_array_equal(again.predict_proba(TEXTS), nb.predict_proba(TEXTS))


def test_two_functions_of_one_name_cannot_be_saved(tmp_path: Path) -> None:
    def named(function: Callable[[str], Any]) -> Callable[[str], Any]:
        function.__name__ = "prepare"
        return function

    one, other = named(lambda text: text.split("/")), named(lambda text: text.split(","))
    several = {"t": [Text(tokenizer=one), Text(tokenizer=other)]}
    nb = NaiveBayes(several).fit({"t": TEXTS}, Y)
    with pytest.raises(ValueError, match="Two functions of the model are named prepare"):
        nb.save(tmp_path / "m.naively")
    alike = {"t": [Text(tokenizer=one), Text(tokenizer=one, ngram_range=(2, 2))]}
    NaiveBayes(alike).fit({"t": TEXTS}, Y).save(tmp_path / "m.naively")
    load(tmp_path / "m.naively", functions={"prepare": one})


def test_models_of_other_functions_do_not_merge() -> None:
    a, b = (pure(Text(tokenizer=of)).fit(TEXTS, Y) for of in (by_slash, str.split))
    with pytest.raises(ValueError, match="cannot be merged"):
        a.merge(b)


@pytest.mark.parametrize("version", ["15.0.0", "17.0.0"])
def test_another_version_of_unicode_is_warned_of(version: str, tmp_path: Path) -> None:
    path, numbers = tmp_path / "m.naively", tmp_path / "n.naively"
    NaiveBayes().fit(TEXTS, Y).save(path)
    NaiveBayes().fit([[1.0], [2.0]], [0, 1]).save(numbers)
    assert apart(path)[0]["unicode"] == "16.0.0"
    assert "unicode" not in apart(numbers)[0]  # no text is split
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(path)
        load(numbers)

    def change(header: dict[str, Any], _: object) -> None:
        header["unicode"] = version

    rewrite(path, change)
    said = f"split its texts by Unicode {version}, and this version of naively does by 16.0.0"
    with pytest.warns(UserWarning, match=re.escape(said)) as found:
        nb = load(path)
    assert found[0].filename == __file__
    assert nb.predict(TEXTS).tolist() == Y


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analyzer": "words"}, "analyzer must be one of"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"stop_words": "klingon"}, "There are no stop words of 'klingon': give a list of words"),
        ({"stemmer": "klingon"}, "There is no stemmer of 'klingon'; there are .*german"),
        ({"tokenizer": "split"}, "tokenizer must be a function of a text, got 'split'"),
        ({"preprocessor": 3}, "preprocessor must be a function of a text, got 3"),
        ({"analyzer": "char", "tokenizer": str.split}, "tokenizer is of words; analyzer='char'"),
        ({"analyzer": "char", "stemmer": "german"}, "stemmer is of words; analyzer='char' has"),
        ({"analyzer": str.split, "ngram_range": (1, 2)}, "alone: leave out ngram_range"),
        ({"analyzer": str.split, "stop_words": ["a"]}, "alone: leave out stop_words"),
        ({"analyzer": str.split, "tokenizer": str.split}, "alone: leave out tokenizer"),
        ({"token_pattern": "x", "tokenizer": str.split}, "both say what a word is: give one"),
        ({"max_characters": 0}, "max_characters must be at least 1"),
        ({"strip_accents": "all"}, "strip_accents must be"),
        ({"min_df": -1}, "min_df must be a count, or a share"),
        ({"max_df": 1.5}, "max_df must be a count, or a share"),
        ({"max_features": 0}, "max_features must be at least 1"),
        ({"features": 0}, "features must be from 1"),
        ({"features": 8, "min_df": 2}, "Hashed tokens are not known"),
        ({"token_pattern": "("}, "is no regular expression"),
        ({"token_pattern": "(a)(b)"}, "has more than one group"),
    ],
)
def test_bad_settings_are_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Text(**options)


def test_bad_choices_are_said() -> None:
    table = {"note": TEXTS, "n": [1.0] * 12}
    with pytest.raises(ValueError, match="gaussian event model, which cannot count"):
        pure(Text(event="gaussian")).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="'n' holds numbers, not text"):
        pure({"n": Text()}).fit(table, Y)
    with pytest.raises(ValueError, match="must be Text or Patterns"):
        pure({"note": [Text(), Bernoulli()]}).fit(table, Y)
    with pytest.raises(ValueError, match="not text"):
        pure(SEVERAL).fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match="Texts cannot be drawn"):
        pure(Text(ngram_range=(1, 2))).fit(TEXTS, Y).inspect.sample(1)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("only €5.50, 20 EUR or 1,000 dollars", ["pattern:money"] * 3),
        ("up 3.5% or 20 percent", ["pattern:percent"] * 2),
        (
            "http://user@A.Example:80/x and WWW.b.org/?q=1.",
            ["pattern:url"] * 2 + ["host:a.example", "host:b.org"],
        ),
        ("me.you+x@mail.example.org!", ["pattern:email"]),
        ("7 42 12345678901", ["digits:1", "digits:2", "digits:10+"]),
        ("STOP IT now", ["capitals", "capitals", "capitals share:0.6-1"]),
        ("wow!!! really??? no...", ["pattern:repeated"] * 3),
        ("a" * 25 + " b", ["pattern:long word"]),
        ("Привет мир, hello", ["not latin:0.6-1"]),
        ("日本語", ["not latin:0.6-1"]),
        ("", ["length:0"]),
        ("x" * 5, ["length:4-7"]),
    ],
)
def test_patterns(text: str, tokens: list[str]) -> None:
    found = Patterns().tokens(text)
    for token in set(tokens):
        assert found.count(token) == tokens.count(token)


@given(st.text(max_size=200))
def test_patterns_are_found_in_anything(text: str) -> None:
    found = Patterns().tokens(text)
    assert sum(token.startswith("length:") for token in found) == 1
    assert set(Patterns(leave_out=["length", "digits"]).tokens(text)) <= set(found)


def test_bad_patterns_are_said() -> None:
    with pytest.raises(ValueError, match="There is no pattern 'gold'"):
        Patterns(leave_out=["gold"])
    with pytest.raises(ValueError, match=r"The pattern 'x', .* is no regular expression"):
        Patterns(more={"x": "("})


def test_lists_of_words_are_left_out_and_stemmed_like_texts() -> None:
    text = Text(tokenizer=str.split, stop_words=["the"])
    assert text.rows([["the", "cats"], None, "the cats"]) == [["cats"], None, ["cats"]]
    pytest.importorskip("snowballstemmer")
    stems = Text(stemmer="english", stop_words=["the"])
    assert stems.rows([["the", "cats"], "the cats"]) == [["cat"], ["cat"]]


@pytest.mark.parametrize("classes", [2, 5, 40])
def test_words_that_are_counted_and_scored_as_they_are_read_are_as_if_they_were_split(classes):
    """Rows of weight 1 are counted from the words of each text, and split rows are scored so."""
    rng = np.random.default_rng(classes)
    words = np.array([f"w{i}" for i in range(200)])
    texts = [" ".join(rng.choice(words, rng.integers(0, 30))) for _ in range(400)]
    y = rng.integers(0, classes, 400)
    nb = NaiveBayes("multinomial", weights=None).fit(texts, y)
    split = NaiveBayes("multinomial", weights=None).fit(texts, y, np.ones(400))
    assert_same_tally(nb.tally_, split.tally_)
    new = [*texts[:50], "w1 w1 unheard", "", "w3"]
    model = nb.model_
    batch = encoded(model, new)
    for finish in ("joint", "posterior", "log_posterior"):
        found, expected = model.score(batch, finish), model.score(batch.split(), finish)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.score(batch, "label"), model.score(batch.split(), "label"))


def test_counts_of_a_vocabulary_are_those_of_scikit_learn() -> None:
    words = ["aardvark", "about", "all", "africa", "gas"]
    texts = ["all about Africa, about all gas oil", "", "nothing of that"]
    expected = CountVectorizer(vocabulary=words).transform(texts).toarray()
    for text, row in zip(texts, expected.tolist(), strict=True):
        assert Text(vocabulary=words).counts(text) == dict(zip(words, row, strict=True))
    assert Text().counts("b a b") == {"b": 2, "a": 1}
