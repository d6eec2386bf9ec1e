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
    vocabulary: Sequence[str] | None = None  # where it is declared, no other tokens are counted

    @property
    @abstractmethod
    def splitting(self) -> dict[str, Any]:
        """The keyword arguments of a vocabulary of these tokens."""

    @abstractmethod
    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        """Return the texts as a vocabulary splits them: as they are, or as lists of tokens."""

    def new_vocabulary(self) -> Vocabulary:
        """Return a vocabulary that splits texts by these settings; it holds the declared words."""
        return Vocabulary(self.vocabulary or (), **self.splitting)

    @property
    def single_words(self) -> bool:
        """Whether tokens are single words, so that a text can be written from them."""
        split = self.splitting
        given = {name: split[name] for name in ("analyzer", "ngram_range") if name in split}
        return given in ({}, {"analyzer": "word", "ngram_range": (1, 1)})

    @property
    def counted(self) -> str:
        """The name of the tokens, such as "words" or "character 3- to 5-grams"."""
        split = self.splitting
        unit, (least, most) = split.get("analyzer", "word"), split.get("ngram_range", (1, 1))
        if self.single_words:
            return "words"
        several = f"{least}-grams" if least == most else f"{least}- to {most}-grams"
        return f"{'word' if unit == 'word' else 'character'} {several}"

    @property
    def legible(self) -> bool:
        """Whether a reader understands a token, as it is no character n-gram."""
        return bool(self.splitting.get("analyzer", "word") == "word")

    @property
    def counts_documents(self) -> bool:
        """Whether the number of texts that hold a token decides whether it is learned from."""
        return _differ(self.min_df, 1) or _differ(self.max_df, 1.0)

    @property
    def selects(self) -> bool:
        """Whether tokens are selected, so that some are counted but not learned from."""
        return self.counts_documents or self.max_features is not None

    @property
    def settings(self) -> dict[str, object]:
        """The settings that differ from their defaults, by name."""
        values = {
            field.name: (getattr(self, field.name), field.default)
            for field in fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        }
        return {name: value for name, (value, default) in values.items() if _differ(value, default)}

    @property
    def is_plain(self) -> bool:
        """Whether all settings are the defaults."""
        return not self.settings

    def __reduce__(self) -> tuple[object, ...]:
        # Only the settings are pickled: what is made from them may refuse to be.
        options = fields(self)  # type: ignore[arg-type]  # a subclass is a dataclass
        of = {option.name: getattr(self, option.name) for option in options}
        return partial(type(self), **of), ()

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({given})"


def _differ(value: object, default: object) -> bool:
    """Whether two settings differ; a count of 1 is not a share of 1.0."""
    return value != default or isinstance(value, float) != isinstance(default, float)
