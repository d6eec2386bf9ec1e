"""Raw text to a model and to predictions, against CountVectorizer + MultinomialNB."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.timing import Result, compare
from naively import NaiveBayes

SETS = {"sms_spam": ("text",), "enron_spam": ("text",)}


def read(folder: Path, name: str, fields: tuple[str, ...]) -> tuple[list[str], np.ndarray]:
    """Read texts and labels of a set in JSON lines."""
    texts, labels = [], []
    with gzip.open(folder / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            texts.append(" ".join(record[field] or "" for field in fields))
            labels.append(record["label"])
    return texts, np.array(labels)


def words(folder: Path, name: str, rounds: int) -> list[Result]:
    """Fit and predict one set: words, one bag."""
    texts, y = read(folder, name, SETS[name])
    size = sum(map(len, texts)) / 1e6
    peer = make_pipeline(CountVectorizer(), MultinomialNB())
    ours = NaiveBayes("text").fit(texts, y)
    peer.fit(texts, y)
    assert (peer.predict(texts) == ours.predict(texts)).all()
    fresh = lambda: make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, y)  # noqa: E731
    return [
        compare(f"{name}: text to a model ({size:.1f} MB)", fresh, lambda: _fit(texts, y), rounds),
        compare(
            f"{name}: predict", lambda: peer.predict(texts), lambda: ours.predict(texts), rounds
        ),
        compare(
            f"{name}: one text",
            lambda: peer.predict(texts[:1]),
            lambda: ours.predict(texts[:1]),
            rounds,
            50,
        ),
    ]


def _fit(texts: list[str], y: np.ndarray) -> None:
    _ = NaiveBayes("text").fit(texts, y).model_.likelihoods
