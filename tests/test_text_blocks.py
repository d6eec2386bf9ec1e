"""The default of texts: blocks of words, pairs and runs, damped by length, weights by band."""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from naively import Multinomial, NaiveBayes, Text
from naively.counting.axis import VALUE
from naively.counting.leave_one_out import Part, band_of

TEXTS = [
    "cheap pills, buy cheap pills now", "buy a cheap watch now", "lunch at noon?",
    "see you at lunch, at noon", "now buy the pills", "notes of the meeting at noon",
]  # fmt: skip
Y = ["spam", "spam", "ham", "ham", "spam", "ham"]
WORDS = r"\w+"  # that are in these texts


@pytest.fixture(scope="module")
def sms(data_folder: Path) -> tuple[list[str], np.ndarray]:
    with gzip.open(data_folder / "text" / "sms_spam.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [r["text"] for r in records], np.array([r["label"] for r in records])


def test_the_blocks() -> None:
    nb = NaiveBayes().fit({"note": TEXTS, "n": range(6)}, Y)
    options = [(g.analyser.analyzer, g.analyser.ngram_range) for g in nb.schema_.groups_of["note"]]
    assert options == [("word", (1, 1)), ("word", (2, 2)), ("char_wb", (2, 5))]
    assert "words, " in str(nb.schema_)
    assert "character 2- to 5-grams" in str(nb.schema_)
    assert nb.feature_importances_.shape == (2,)
    assert list(nb.assess().cost) == ["note", "n"]


def test_runs_of_characters_of_lists_of_words_are_those_of_the_words_joined() -> None:
    lists, joined = (
        NaiveBayes().fit({"note": X}, Y)
        for X in ([text.split() for text in TEXTS], [" ".join(text.split()) for text in TEXTS])
    )
    key = lists.schema_.groups[2].key
    runs, others = (nb.tally_.blocks[key] for nb in (lists, joined))
    assert runs.axis.words == others.axis.words
    np.testing.assert_array_equal(runs[VALUE].high, others[VALUE].high)


def test_runs_of_characters_are_of_the_first_characters_of_long_texts() -> None:
    long = [text + " and so on" * 50 for text in TEXTS]
    nb, cut = (NaiveBayes().fit(X, Y) for X in (long, [text[:500] for text in long]))
    runs, others = (of.tally_.blocks[of.schema_.groups[2].key] for of in (nb, cut))
    assert runs.axis.words == others.axis.words
    np.testing.assert_array_equal(runs[VALUE].high, others[VALUE].high)


def test_words_alone_are_the_first_of_the_blocks() -> None:
    (words,) = NaiveBayes(text="words").fit(TEXTS, Y).schema_.groups
    assert words == NaiveBayes().fit(TEXTS, Y).schema_.groups[0]
    assert words.analyser == Text(binary=True, event=Multinomial(0.5))


@pytest.mark.parametrize("settings", [{"weights": None}, {"estimate": "mle"}])
def test_words_without_weights_are_multinomial_nb(settings: dict[str, Any]) -> None:
    nb = NaiveBayes(**settings).fit(TEXTS, Y)
    (group,) = nb.schema_.groups
    assert group.analyser == Text(event=group.event)
    if not settings.get("estimate"):
        theirs = make_pipeline(CountVectorizer(token_pattern=WORDS), MultinomialNB())
        theirs.fit(TEXTS, Y)
        pure = NaiveBayes(text="words", weights=None, smoothing=1.0).fit(TEXTS, Y)
        np.testing.assert_allclose(pure.predict_proba(TEXTS), theirs.predict_proba(TEXTS))


def test_the_posterior_is_what_the_formula_says() -> None:
    """Each block: Σ over its words of weight by band × centred log p, over the root of length."""
    nb = NaiveBayes().fit(TEXTS, Y)
    assert nb.weights_ is not None
    new = ["cheap lunch now, now", "unknown words", ""]
    joint = np.tile(nb.class_log_prior_ + nb.weights_.bias_of(nb.classes_.tolist()), (3, 1))
    for group in nb.schema_.groups:
        analyser = group.analyser
        assert isinstance(analyser, Text)
        count = CountVectorizer(
            analyzer=analyser.analyzer,
            ngram_range=analyser.ngram_range,
            binary=True,
            token_pattern=WORDS if analyser.analyzer == "word" else None,
        )
        held = count.fit_transform(TEXTS).toarray()
        of_class = np.stack([held[np.array(Y) == c].sum(axis=0) for c in nb.classes_], axis=1)
        log_p = np.log(of_class + 0.5) - np.log((of_class + 0.5).sum(axis=0))
        log_p -= log_p.mean(axis=1, keepdims=True)
        in_band = band_of(held.sum(axis=0).astype(float))
        bands = [Part(group.key, "text", band) for band in range(in_band.max() + 1)]
        weight = nb.weights_.table(bands, nb.classes_.tolist())[in_band]
        rows = count.transform(new).toarray()
        joint += rows @ (weight * log_p) / np.sqrt(np.maximum(rows.sum(axis=1), 1))[:, None]
    np.testing.assert_allclose(nb.predict_joint_log_proba(new), joint, atol=1e-12)
    p = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(nb.predict_proba(new), p)
    for row, evidence in enumerate(nb.explain(new)):
        np.testing.assert_allclose(evidence.log_likelihood.sum(axis=0), joint[row], atol=1e-12)


def test_runs_of_characters_are_explained_by_the_words_they_are_in() -> None:
    evidence = NaiveBayes().fit(TEXTS, Y).explain(["Cheap lunch! £££"])[0]
    shown = {column if v is None else str(v): weight for column, v, weight in evidence.top(0)}
    # No run of the pounds is known.
    assert set(shown) == {"class prior", "intercept", "cheap", "lunch"}
    np.testing.assert_allclose(sum(shown.values()), evidence.weights(0).sum())
    of_cheap = sum(
        weight / (2 if value in (" l", "h ") else 1)
        for value, weight in zip(evidence.value, evidence.weights(0), strict=True)
        if value is not None and (value == "cheap" or value.strip() in "cheap")
    )
    assert "ch" in evidence.value  # in both words: half for each
    both = evidence.weights(0)[evidence.value.index("ch")]
    np.testing.assert_allclose(shown["cheap"], of_cheap - both / 2)


def test_short_and_long_texts_merge() -> None:
    short, long = NaiveBayes().fit(TEXTS, Y), NaiveBayes().fit([t * 100 for t in TEXTS], Y)
    merged = long.merge(short)
    assert len(merged.schema_.groups) == 3
    assert merged.predict(TEXTS).tolist() == Y
    words = NaiveBayes(text="words").fit(TEXTS, Y)
    for one, other in ((words, short), (short, words)):  # of half of the rows no pair is counted
        with pytest.raises(ValueError, match="cannot be merged"):
            deepcopy(one).merge(other)


def test_texts_are_drawn_from_the_words() -> None:
    X, _ = NaiveBayes().fit(TEXTS, Y).inspect.sample(5, y="spam", random_state=0)
    assert len(X) == 5
    assert set(" ".join(X).split()) <= set(" ".join(TEXTS).replace(",", "").split())


def test_surprise_is_the_models_whatever_the_weights() -> None:
    settings = Text(binary=True, event=Multinomial(0.5))
    damped, pure = (NaiveBayes(settings, weights=w).fit(TEXTS, Y) for w in ("loo", None))
    np.testing.assert_allclose(damped.score_samples(TEXTS), pure.score_samples(TEXTS))


def test_a_damped_model_is_no_straight_line() -> None:
    with pytest.raises(ValueError, match="weights=None"):
        NaiveBayes().fit(TEXTS, Y).inspect.linear()


def test_an_unknown_choice_is_said() -> None:
    with pytest.raises(ValueError, match="text must be 'auto' or 'words'"):
        NaiveBayes(text="pairs").fit(TEXTS, Y)


def test_it_is_better_than_words_alone_and_knows_how_good_it_is(
    sms: tuple[list[str], np.ndarray],
) -> None:
    texts, y = sms
    nb = NaiveBayes().fit(texts[:2000], y[:2000])
    words = NaiveBayes(text="words").fit(texts[:2000], y[:2000])
    logistic = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000))
    logistic.fit(texts[:2000], y[:2000])
    ours, plain, theirs = (
        log_loss(y[2000:], m.predict_proba(texts[2000:])) for m in (nb, words, logistic)
    )
    assert ours < theirs
    assert ours < plain
    assert nb.score(texts[2000:], y[2000:]) > 0.985
    low, high = nb.assess().intervals["log_loss"]
    assert low < ours < high < 3 * ours


def test_a_word_of_two_texts_is_in_their_band_whatever_is_rounded() -> None:
    assert 2.3 - 0.3 < 2
    assert band_of(np.array([2.3 - 0.3, 2.0, 1.9])).tolist() == [1, 1, 0]
