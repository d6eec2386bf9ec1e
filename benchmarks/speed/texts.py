"""Enron and SMS with the defaults, beside CountVectorizer and MultinomialNB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks.speed.alone import memory
from benchmarks.speed.beside import Row, beside
from benchmarks.speed.setting import Setting
from naively import NaiveBayes

PEER = "CountVectorizer, MultinomialNB"


class Fits:
    """Fits both sides and holds the last model of each, to predict with."""

    def __init__(self) -> None:
        self._of: dict[str, Any] = {}

    def ours(self, texts: list[str], y: Any) -> None:
        self._of["ours"] = NaiveBayes().fit(texts, y)

    def theirs(self, texts: list[str], y: Any) -> None:
        self._of["theirs"] = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, y)

    @property
    def held(self) -> tuple[Any, Any]:
        """Return our model and theirs."""
        return self._of["ours"], self._of["theirs"]


def measure(setting: Setting) -> Sequence[Row]:
    return [
        *_side_by_side("Enron", "enron_spam", setting, min(3, setting.rounds)),
        memory("Enron: peak memory of the fit", "enron", PEER, setting),
        *_side_by_side("SMS", "sms_spam", setting, setting.rounds),
    ]


def _side_by_side(name: str, of: str, setting: Setting, rounds: int) -> list[Row]:
    texts, y = setting.texts(of)
    fits, size = Fits(), sum(map(len, texts)) / 1e6
    rows = beside(
        f"{name}: fit ({len(texts):,} texts, {size:.1f} MB)",
        lambda: fits.ours(texts, y),
        {PEER: lambda: fits.theirs(texts, y)},
        rounds=rounds,
    )
    ours, theirs = fits.held
    return rows + beside(
        f"{name}: predict",
        lambda: ours.predict(texts),
        {PEER: lambda: theirs.predict(texts)},
        rounds=rounds,
    )
