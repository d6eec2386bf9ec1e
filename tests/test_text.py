"""Texts in a model: what is selected, several analysers, lists of words, patterns, files."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import pickle
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
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from naively import Bernoulli, Gaussian, Multinomial, NaiveBayes, Patterns, Text, load
from naively.counting.axis import VALUE
from naively.data.frames import as_rows
from tests.test_vocabulary import MULTILINGUAL

Texts = tuple[list[str], list[str]]
THE_SAME = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"ngram_range": (1, 2), "min_df": 2},
    {"ngram_range": (2, 2), "stop_words": "english", "max_df": 0.5},
    {"stop_words": ["the", "to", "a"], "binary": True},
    {"strip_accents": "unicode", "token_pattern": r"(?u)\b\w+\b"},
    {"strip_accents": "ascii", "lowercase": False, "ngram_range": (1, 3)},
    {"token_pattern": r"#?(\w\w\w+)", "ngram_range": (1, 2)},
    {"analyzer": "char", "ngram_range": (2, 4), "min_df": 0.02, "max_df": 40},
    {"analyzer": "char_wb", "ngram_range": (3, 5), "max_features": 100},
    {"analyzer": "char", "strip_accents": "unicode", "max_features": 10},
    {"min_df": 2, "max_df": 0.3, "max_features": 50},
    {"max_df": 1},
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


def check(texts: list[str], y: list[str], options: dict[str, Any], event: str) -> None:
    """The same tokens, the same counts of each by class, and the same probabilities."""
    nb = pure(Text(**options, event=event)).fit(texts, y)
    if event == "bernoulli":
        options = {**options, "binary": True}
    vectorizer = CountVectorizer(**options)
    counts = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out().tolist()
    (tally,) = nb.model_.taken.counts.values()
    words = tally.axis.words
    most = options.get("max_features")
    if most is not None:  # of equals at the cut, theirs are any
        times = dict(zip(names, counts.sum(axis=0).A1.tolist(), strict=True))
        plain = CountVectorizer(**{**options, "max_features": None})
        every = plain.fit_transform(texts).sum(axis=0).A1
        of_all = dict(zip(plain.get_feature_names_out().tolist(), every.tolist(), strict=True))
        assert sorted(of_all[word] for word in words) == sorted(times.values())
        cut = min(times.values())
        assert {w for w in words if of_all[w] > cut} == {w for w in names if times[w] > cut}
        equal = sorted(word for word, n in of_all.items() if n == cut)
        ours = sorted(word for word in words if of_all[word] == cut)
        assert ours == equal[: len(ours)]
        return
    assert sorted(words) == names
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
        {},
        {"ngram_range": (1, 3), "stop_words": ["the"]},
        {"analyzer": "char", "ngram_range": (2, 3)},
        {"analyzer": "char_wb", "ngram_range": (1, 4), "lowercase": False},
        {"token_pattern": r"[a-z]+", "strip_accents": "unicode"},
    ],
)
def test_tokens_are_count_vectorizers(options: dict[str, Any]) -> None:
    analyse = CountVectorizer(**options).build_analyzer()
    for text in [*MULTILINGUAL, "The cat, the HAT: the the", ""]:
        assert Text(**options).tokens(text) == analyse(text)
    assert Text(features=8).tokens("one two") == ["one", "two"]


def test_a_text_that_is_passed_over_has_no_tokens() -> None:
    assert Text(max_characters=3).tokens("long") == []


def test_a_count_of_texts_is_not_a_share() -> None:
    assert [str(Text(max_df=1)), str(Text(min_df=1.0)), str(Text(min_df=1, max_df=1.0))] == [
        "Text(max_df=1)",
        "Text(min_df=1.0)",
        "Text()",
    ]


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
    (tally,) = nb.model_.taken.counts.values()
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
    lists = [[word for word in words if len(word) > 1] for words in lists]
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
    rows = as_rows(["one one three", "two one", None, ""])
    (block,) = model.blocks(model.encode(rows)).values()
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"analyzer": "words"}, "analyzer must be one of"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"stop_words": "german"}, "stop_words must be 'english' or words"),
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
