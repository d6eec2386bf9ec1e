"""The analyser: how the texts of a column become tokens, and which of these are learned from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar

from naively.kernels.dispatch import Vocabulary
from naively.kernels.tokens import Row


class Analyser(ABC):
    """How the texts of a column become tokens, and which of these are learned from.

    A subclass is a frozen dataclass of its settings.

    Notes
    -----
    All tokens are counted, so that tallies add and subtract; ``min_df``, ``max_df`` and
    ``max_features`` choose among them when parameters are derived.
    """

    name: ClassVar[str]
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    binary: bool = False
    features: int | None = None

    @property
    @abstractmethod
    def splitting(self) -> dict[str, Any]:
        """What a vocabulary has to know, in its own words."""

    @abstractmethod
    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        """Return what a vocabulary can split: texts as they are, where it knows how."""

    def vocabulary(self, words: Iterable[str] = ()) -> Vocabulary:
        """Return a vocabulary of the tokens of such texts."""
        return Vocabulary(words, **self.splitting)

    @property
    def single_words(self) -> bool:
        """Whether a text is the words that are counted, so that it can be written from them."""
        split = self.splitting
        given = {name: split[name] for name in ("analyzer", "ngram_range") if name in split}
        return given in ({}, {"analyzer": "word", "ngram_range": (1, 1)})

    @property
    def counted(self) -> str:
        """What is counted, in a few words."""
        split = self.splitting
        unit, (least, most) = split.get("analyzer", "word"), split.get("ngram_range", (1, 1))
        if self.single_words:
            return "words"
        several = f"{least}-grams" if least == most else f"{least}- to {most}-grams"
        return f"{'word' if unit == 'word' else 'character'} {several}"

    @property
    def legible(self) -> bool:
        """Whether a token says something to a reader: it is no character n-gram."""
        return bool(self.splitting.get("analyzer", "word") == "word")

    @property
    def counts_documents(self) -> bool:
        """Whether it must be known in how many texts a token is."""
        return (type(self.min_df), self.min_df, self.max_df) != (int, 1, 1.0)

    @property
    def selects(self) -> bool:
        """Whether some tokens that are counted may not be learned from."""
        return self.counts_documents or self.max_features is not None

    @property
    def settings(self) -> dict[str, object]:
        """What differs from the default."""
        values = {
            field.name: (getattr(self, field.name), field.default)
            for field in fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        }
        return {name: value for name, (value, default) in values.items() if value != default}

    @property
    def is_plain(self) -> bool:
        """Whether all is by default."""
        return not self.settings

    def __reduce__(self) -> tuple[object, ...]:
        # Only the settings: what is made of them need not pickle.
        options = fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        of = {option.name: getattr(self, option.name) for option in options}
        return partial(type(self), **of), ()

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({given})"
