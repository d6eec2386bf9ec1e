"""Raw texts to words to a pure model: the same model as CountVectorizer + MultinomialNB.

Words, words and bigrams, another alphabet, character n-grams; both sides predict the same classes,
which is checked before anything is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.speed.alone import memory
from benchmarks.speed.beside import Row, beside
from benchmarks.speed.setting import Setting
from benchmarks.speed.texts import PEER
from naively import NaiveBayes, Text

CYRILLIC = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхижклмнопярстувщхызАБЦДЕФГХИЖКЛМНОПЯРСТУВЩХЫЗ",
)
SPLITS: list[dict[str, Any]] = [{}, {"ngram_range": (1, 2)}]


def measure(setting: Setting) -> Sequence[Row]:
    rounds = min(3, setting.rounds)
    rows: list[Row] = []
    for name, of in (("SMS", "sms_spam"), ("Enron", "enron_spam")):
        texts, y = setting.texts(of)
        for split in SPLITS:
            rows += side_by_side(name, texts, y, split, rounds)
    other = [text.translate(CYRILLIC) for text in texts[::4]]
    rows += side_by_side("Enron in Cyrillic letters", other, y[::4], {}, rounds)
    step = setting.size(20, 2)
    for analyzer in ("char", "char_wb"):
        split = {"analyzer": analyzer, "ngram_range": (2, 5)}
        rows += side_by_side("a 20th of Enron", texts[::step], y[::step], split, rounds)
    rows.append(memory("Enron: peak memory of the fit", "words", PEER, setting))
    return rows


def side_by_side(
    name: str, texts: list[str], y: np.ndarray, split: dict[str, Any], rounds: int
) -> list[Row]:
    """Fit and predict as scikit-learn does, with the same predictions."""
    size = sum(map(len, texts)) / 1e6
    name += "".join(f", {value}" for value in split.values())
    fresh = partial(make_pipeline, CountVectorizer(**split), MultinomialNB())
    ours, theirs = _fit(texts, y, split), fresh().fit(texts, y)
    assert (theirs.predict(texts) == ours.predict(texts)).all()
    works = (
        (
            f"{name}: text to a model ({size:.1f} MB)",
            lambda: _fit(texts, y, split),
            lambda: fresh().fit(texts, y),
            1,
        ),
        (f"{name}: predict", lambda: ours.predict(texts), lambda: theirs.predict(texts), 1),
        (
            f"{name}: predict one text",
            lambda: ours.predict(texts[:1]),
            lambda: theirs.predict(texts[:1]),
            20,
        ),
    )
    return [
        row
        for work, a, b, repeat in works
        for row in beside(work, a, {PEER: b}, rounds=rounds, repeat=repeat)
    ]


def _fit(texts: list[str], y: np.ndarray, split: dict[str, Any]) -> NaiveBayes:
    nb = NaiveBayes(Text(**split), weights=None, smoothing=1.0).fit(texts, y)
    _ = nb.model_.likelihoods  # as scikit-learn derives them in fit
    return nb
