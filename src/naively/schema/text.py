"""Text: an analyser with the settings of ``CountVectorizer``, and its event model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

from naively.counting.axis import Analyser, Name
from naively.events.base import EventModel
from naively.kernels.strings import Strings, without_longer
from naively.kernels.tokens import Row, Unit, check_splitting, splitter
from naively.schema.group import Group
from naively.schema.regular import bounded, compile_bounded

TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # noqa: S105  (a token of a text is no password)


class TextModel(Analyser):
    """How the texts of a column are counted: an analyser, and the event model of its tokens."""

    event: str | EventModel

    @property
    def event_model(self) -> EventModel:
        """The event model, where it is an object, as it is in every schema."""
        if isinstance(self.event, str):
            raise TypeError(f"{self} has the name of an event model, which a schema makes.")
        return self.event

    def with_event(self, event: EventModel) -> Self:
        """Return this with another event model."""
        return replace(self, event=event)  # type: ignore[type-var]  # a subclass is a dataclass

    @property
    def settings(self) -> dict[str, object]:
        """What differs from the default, the event model aside."""
        return {name: value for name, value in super().settings.items() if name != "event"}


@dataclass(frozen=True)
class Text(TextModel):
    r"""How a column of texts is counted: its tokens, and their event model.

    The settings and the tokens are those of scikit-learn's ``CountVectorizer``. The words of a
    column of lists of words, or of word numbers, are taken as they are, but for stop words and
    n-grams; for character n-grams they are joined by spaces.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default "word"
        Tokens are words, or character n-grams, anywhere or within words.
    ngram_range : (int, int), default (1, 1)
        The least and the greatest n of the n-grams, of words or characters, that are tokens.
    lowercase : bool, default True
        Whether "Word" and "word" are one.
    token_pattern : str, default two characters or more of a word
        What a word is, as a regular expression; with a group, what is in the group. One that
        could take for ever on some texts is refused; of a run of more than 256 characters
        without a space, each 256 are looked at alone.
    stop_words : "english" or sequence of str, optional
        Words that are left out before n-grams are made.
    strip_accents : {"ascii", "unicode"}, optional
        Whether "é" is "e".
    min_df, max_df : int or float, default 1 and 1.0
        Tokens in fewer or more texts are not learned from; a float is a share of the texts.
    max_features : int, optional
        Only the most frequent tokens (of Bernoulli: those in most texts) are learned from; of
        equally frequent ones, the first by name.
    binary : bool, default False
        Whether a token counts once in a text.
    max_characters : int, optional
        Texts that are longer are passed over, as if they were missing, and so are lists of words.
    max_tokens : int, optional
        Only the first so many words of a text are learned and scored, and with ``binary`` the
        first so many different ones, so that no text changes more counts (by noise). N-grams
        cannot be bounded so.
    features : int, optional
        Tokens are hashed to so many numbers, say ``2**22``: memory stays fixed on a stream of any
        length, and words are not known.
    event : str or EventModel, default "multinomial"
        "multinomial", "bernoulli" or "complement", or such a model.
    vocabulary : sequence of str, optional
        The tokens that there are, as the analyzer makes them (in lower case, if ``lowercase``).
        No other token is counted or scored, and one that is never seen keeps its pseudo-count:
        with alpha 1, (n of the word + 1) / (n of all + size of the vocabulary).

    Notes
    -----
    Every token, or every one of a declared vocabulary, is counted. What ``min_df``, ``max_df`` and
    ``max_features`` leave out is left out when parameters are derived, so that models merge and
    forget exactly.

    Examples
    --------
    >>> from naively import NaiveBayes, Text
    >>> texts = ["not good", "not bad", "good", "bad"]
    >>> nb = NaiveBayes(Text(ngram_range=(1, 2)), weights=None).fit(texts, ["-", "+", "+", "-"])
    >>> nb.predict(["not bad", "not good"])
    array(['+', '-'], dtype='<U1')
    """

    analyzer: Unit = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    token_pattern: str = TOKEN_PATTERN
    stop_words: str | Sequence[str] | None = None
    strip_accents: Literal["ascii", "unicode"] | None = None
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    binary: bool = False
    features: int | None = None
    max_characters: int | None = None
    event: str | EventModel = "multinomial"
    vocabulary: Sequence[str] | None = None
    max_tokens: int | None = None
    name = "text"

    def __post_init__(self) -> None:
        """Make settings that came as lists tuples, and raise a ValueError of one that is wrong."""
        object.__setattr__(self, "ngram_range", tuple(self.ngram_range))  # a list is no key
        check_splitting(self.analyzer, self.ngram_range)
        if isinstance(self.stop_words, str):
            if self.stop_words != "english":
                raise ValueError(f"stop_words must be 'english' or words, got {self.stop_words!r}.")
        elif self.stop_words is not None:
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        if self.strip_accents not in (None, "ascii", "unicode"):
            raise ValueError(
                f"strip_accents must be 'ascii', 'unicode' or None, got {self.strip_accents!r}."
            )
        self._declare()
        self._check_limits()
        if compile_bounded(self.token_pattern, "token_pattern").groups > 1:
            raise ValueError(f"token_pattern {self.token_pattern!r} has more than one group.")

    def _declare(self) -> None:
        """Make the vocabulary a tuple; a ValueError unless it has words, each of them once."""
        if self.vocabulary is None:
            return
        words = () if isinstance(self.vocabulary, str | AbstractSet) else (*self.vocabulary,)
        if not words or not all(isinstance(word, str) and word for word in words):
            raise ValueError(f"vocabulary must be a sequence of words, got {self.vocabulary!r}.")
        if len(set(words)) < len(words):
            twice = next(word for i, word in enumerate(words) if word in words[:i])
            raise ValueError(f"vocabulary holds {twice!r} twice.")
        object.__setattr__(self, "vocabulary", words)

    def _check_limits(self) -> None:
        """Raise a ValueError unless the limits of texts and tokens are in range, and agree."""
        for name, limit in (("min_df", self.min_df), ("max_df", self.max_df)):
            if limit < 0 or (isinstance(limit, float) and limit > 1):
                raise ValueError(f"{name} must be a count, or a share from 0.0 to 1.0: {limit!r}.")
        for name in ("max_features", "max_characters", "max_tokens"):
            most = getattr(self, name)
            if most is not None and most < 1:
                raise ValueError(f"{name} must be at least 1, got {most}.")
        if self.max_tokens is not None and not self.single_words:
            raise ValueError("max_tokens bounds words; leave it out, or the n-grams.")
        if self.features is not None and not 1 <= self.features < 2**31:
            raise ValueError(f"features must be from 1 to 2**31 - 1, got {self.features}.")
        if self.vocabulary is not None and (self.selects or self.features is not None):
            raise ValueError(
                "A vocabulary says which tokens there are: leave out features, min_df, max_df and "
                "max_features."
            )
        if self.features is not None and self.selects:
            raise ValueError(
                "Hashed tokens are not known, so that min_df, max_df and max_features cannot "
                "choose among them; leave out features, or these."
            )

    @property
    def splitting(self) -> dict[str, Any]:
        return {
            "analyzer": self.analyzer,
            "ngram_range": self.ngram_range,
            "lowercase": self.lowercase and self.strip_accents is None,
            "stop_words": self._stop_words if self.analyzer == "word" else (),
            "features": self.features,
        }

    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        """Return texts as a vocabulary can split them; those that are too long are missing."""
        most, prepare = self.max_characters, self._prepare
        rows: Sequence[Row]
        if isinstance(texts, Strings):
            rows = texts if most is None else without_longer(texts, most)
        else:
            rows = list(texts)
            if most is not None:
                rows = [row if isinstance(row, str) and len(row) <= most else None for row in rows]
            if self.analyzer != "word":
                rows = [" ".join(row) if isinstance(row, list | tuple) else row for row in rows]
        rows = rows if prepare is None else _prepared(rows, prepare)
        return rows if self.max_tokens is None else self._bounded(rows)

    def _bounded(self, rows: Iterable[Row]) -> list[Row]:
        """Return the first words of each row, or the first different ones where each counts once.

        A row without words is an empty text, and a missing one stays missing.
        """
        options = {name: of for name, of in self.splitting.items() if name != "features"}
        split, most = splitter(**options), self.max_tokens
        found: list[Row] = []
        for row in rows:
            words = [] if row is None else split(row)
            first = list(dict.fromkeys(words)) if self.binary else words
            found.append(None if row is None else first[:most])
        return found

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text, as they are counted.

        Parameters
        ----------
        text : str
            One text.

        Returns
        -------
        tokens : list of str
            With repetitions; n-grams of few words or characters first.

        Examples
        --------
        >>> from naively import Text
        >>> Text(ngram_range=(1, 2), stop_words=["to"]).tokens("To buy, or to sell")
        ['buy', 'or', 'sell', 'buy or', 'or sell']
        """
        options = {name: of for name, of in self.splitting.items() if name != "features"}
        return [token for row in self.rows([text]) for token in splitter(**options)(row)]

    @property
    def is_programmed(self) -> bool:
        """Whether texts are prepared before they are split: by a pattern, or without accents."""
        return self._prepare is not None

    @cached_property
    def _prepare(self) -> Callable[[str], Row] | None:
        """What is done to a text before a vocabulary splits it; None where there is nothing."""
        own_words = self.analyzer == "word" and self.token_pattern != TOKEN_PATTERN
        if not own_words and self.strip_accents is None:
            return None
        from sklearn.feature_extraction import text as of_text

        strip: dict[str | None, Callable[[str], str]] = {
            None: str,
            "ascii": of_text.strip_accents_ascii,
            "unicode": of_text.strip_accents_unicode,
        }
        accents = strip[self.strip_accents]
        find = compile_bounded(self.token_pattern, "token_pattern").findall
        lower = str.lower if self.lowercase else str
        if own_words:
            return lambda text: find(bounded(accents(lower(text))))
        return lambda text: accents(lower(text))

    @cached_property
    def _stop_words(self) -> tuple[str, ...]:
        if self.stop_words == "english":
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            return tuple(sorted(ENGLISH_STOP_WORDS))
        return tuple(self.stop_words or ())


def _prepared(rows: Iterable[Row], prepare: Callable[[str], Row]) -> list[Row]:
    return [prepare(row) if isinstance(row, str) else row for row in rows]


def text_group(name: Name, text: TextModel) -> Group:
    """Return the group of a column of texts, which is a group of its own."""
    return Group(text.event_model, "text", (name,), text)
