"""How texts are split into tokens: words, n-grams, patterns."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial, reduce
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from numbers import Number
from operator import or_
from typing import Any, Literal, Self, TypeAlias

from naively.counting.axis import Analyser, Name
from naively.events.base import EventModel
from naively.frozen import Frozen
from naively.kernels.folding import fold
from naively.kernels.strings import Row, Strings, Unit
from naively.kernels.tokens import check_splitting, split, splitter
from naively.schema.schema import Group

# --- Text: an analyser with the settings of ``CountVectorizer``, and its event model -------------


SHOWN_WORDS = 8  # of a list of words, in a printed setting
NO_WORD = (Number, bytes, type(None))  # types of tokens; those of spaCy are words

Split: TypeAlias = Callable[[str], list[str]]  # a text to its tokens


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
    def settings(self) -> dict[str, str]:
        """What differs from the default, the event model aside."""
        return {name: value for name, value in super().settings.items() if name != "event"}


class Text(TextModel, Frozen, eq=True):
    r"""How a column of texts is counted: its tokens, and their event model.

    Words are those of every language (see the how-to on texts): letters, digits and marks in one
    piece, in NFC, with apostrophes within; characters and their pairs if a script has no spaces;
    numbers, hosts, #hashtags, @mentions, smileys and emoji. The options are those of scikit-learn's
    ``CountVectorizer``, whose ``token_pattern`` gives its words. Cells that are lists of words, or
    of word numbers, are not split: only stop words and n-grams apply. For character n-grams they
    are joined by spaces.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or function, default "word"
        Tokens are words, or character n-grams, anywhere or within words; or a function returns the
        tokens of a text, as a list of str.
    ngram_range : (int, int), default (1, 1)
        The least and the greatest n of the n-grams, of words or characters, that are tokens.
    lowercase : bool, default True
        Whether "Word" and "word" are one.
    token_pattern : str, optional
        Another definition of a word, as a regular expression, such as scikit-learn's
        ``r"(?u)\b\w\w+\b"``; with a group, the word is the group. A pattern that could take for
        ever on some texts is refused. A run of more than 256 characters without a space is divided
        into pieces of 256.
    stop_words : str or sequence of str, optional
        Words that are left out before n-grams are made: "english" has those of scikit-learn,
        another language ("german", "de") those of the package ``stop-words``. It may be a list of
        words, or of languages (["english", "german"]).
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
        Only the first so many characters of a text are read.
    max_tokens : int, optional
        Only the first so many words of a text are learned and scored, and with ``binary`` the first
        so many different ones. So no text changes more counts, which noise needs. N-grams cannot be
        bounded in this way.
    features : int, optional
        Tokens are hashed to so many numbers, say ``2**22``: memory stays fixed on a stream of any
        length, and words are not known.
    event : str or EventModel, default "multinomial"
        "multinomial", "bernoulli" or "complement", or such a model.
    vocabulary : sequence of str, optional
        All tokens, as the analyzer makes them (in lower case, if ``lowercase``). No other token is
        counted or scored, and a token that is never seen keeps its pseudo-count: with alpha 1, (n
        of the word + 1) / (n of all + size of the vocabulary).
    tokenizer : function, optional
        Returns the words of a text (in NFC, and in lower case if ``lowercase``), as a list of str.
    preprocessor : function, optional
        Changes a text before anything else, instead of lower case and without accents.
    stemmer : str, optional
        A language of the package ``snowballstemmer``, such as "german": words become their stems.

    Notes
    -----
    Every token, or every one of a declared vocabulary, is counted. ``min_df``, ``max_df`` and
    ``max_features`` leave tokens out when parameters are derived, so models merge and forget
    exactly.

    A model file holds no function but its name: give the function to ``naively.load`` again.

    Examples
    --------
    >>> from naively import NaiveBayes, Text
    >>> texts = ["not good", "not bad", "good", "bad"]
    >>> nb = NaiveBayes(Text(ngram_range=(1, 2)), weights=None).fit(texts, ["-", "+", "+", "-"])
    >>> nb.predict(["not bad", "not good"])
    array(['+', '-'], dtype='<U1')
    """

    analyzer: Unit | Split = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    token_pattern: str | None = None
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
    tokenizer: Split | None = None
    preprocessor: Callable[[str], str] | None = None
    stemmer: str | None = None
    name = "text"

    def __post_init__(self) -> None:
        """Make settings that came as lists tuples, and raise a ValueError of one that is wrong."""
        object.__setattr__(self, "ngram_range", tuple(self.ngram_range))  # a list is no key
        check_splitting("word" if callable(self.analyzer) else self.analyzer, self.ngram_range)
        if self.strip_accents not in (None, "ascii", "unicode"):
            raise ValueError(
                f"strip_accents must be 'ascii', 'unicode' or None, got {self.strip_accents!r}."
            )
        self._check_words()
        if self.stop_words is not None and self.stop_words != "english":
            folded = {fold(word, self.lowercase)[0] for word in stop_words_of(self.stop_words)}
            object.__setattr__(self, "stop_words", tuple(sorted(folded)))
        self._declare()
        self._check_limits()

    def _check_words(self) -> None:
        """Raise a ValueError unless what makes words is one thing, and can be had."""
        for name in ("tokenizer", "preprocessor"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise ValueError(f"{name} must be a function of a text, got {function!r}.")
        pattern = self.token_pattern
        if pattern is not None and compile_bounded(pattern, "token_pattern").groups > 1:
            raise ValueError(f"token_pattern {pattern!r} has more than one group.")
        if self.stemmer is not None:
            stemmer_of(self.stemmer)
        own = callable(self.analyzer)
        others = ["token_pattern", "tokenizer", "stemmer"]
        others += ["stop_words", "strip_accents", "preprocessor"] if own else []
        given = [name for name in others if getattr(self, name) is not None]
        given += ["ngram_range"] if own and self.ngram_range != (1, 1) else []
        if own and given:
            raise ValueError(f"analyzer makes the tokens of a text alone: leave out {given[0]}.")
        if self.analyzer != "word" and {"tokenizer", "stemmer"} & {*given}:
            raise ValueError(f"{given[-1]} is of words; analyzer={self.analyzer!r} has none.")
        if {"token_pattern", "tokenizer"} <= {*given}:
            raise ValueError("token_pattern and tokenizer both say what a word is: give one.")

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
                "Hashed tokens are not known, so min_df, max_df and max_features cannot "
                "choose among them; leave out features, or these."
            )

    @property
    def functions(self) -> dict[str, Callable[[str], Any]]:
        """The functions that a text goes through, by the options that they were given as."""
        named = {name: getattr(self, name) for name in ("analyzer", "tokenizer", "preprocessor")}
        return {name: of for name, of in named.items() if callable(of)}

    @property
    def settings(self) -> dict[str, str]:
        """What differs from the default, the event model aside; long lists are cut short."""
        shown = super().settings
        for name in ("stop_words", "vocabulary"):
            words = getattr(self, name)
            if isinstance(words, tuple) and len(words) > SHOWN_WORDS:
                first = ", ".join(map(repr, words[:2]))
                shown[name] = f"({first}, and {len(words) - 2:,} more)"
        return shown | {name: name_of(of) for name, of in self.functions.items()}

    @property
    def splitting(self) -> dict[str, Any]:
        own = self._own_words is not None
        return {
            "analyzer": "word" if callable(self.analyzer) else self.analyzer,
            "ngram_range": self.ngram_range,
            "lowercase": self.lowercase and self._prepare is None,
            "stop_words": () if own or self.analyzer != "word" else self._stop_words,
            "features": self.features,
            "max_characters": None if self.is_programmed else self.max_characters,
        }

    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        """Return texts as a vocabulary can split them: as they are, or prepared, or as words."""
        rows: Sequence[Row] = texts if isinstance(texts, Strings) else list(texts)
        if self.analyzer in ("char", "char_wb") and not isinstance(rows, Strings):
            rows = [" ".join(row) if isinstance(row, list | tuple) else row for row in rows]
        if self.is_programmed:
            rows = [self._made_of(row) if isinstance(row, str) else row for row in rows]
            if self._own_words is not None and not callable(self.analyzer):
                rows = [row if row is None else self._kept(row) for row in rows]
        return rows if self.max_tokens is None else self._bounded(rows)

    def _made_of(self, text: str) -> Row:
        """Return what Python makes of a text before it is split: a text, or its words."""
        text = text[: self.max_characters]
        prepared = text if self._prepare is None else self._prepare(text)
        return prepared if self._own_words is None else self._own_words(prepared)

    def _bounded(self, rows: Iterable[Row]) -> list[Row]:
        """Return the first words of each row, or first different ones where each counts once."""
        # A row without words is an empty text, and a missing one stays missing.
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
        >>> Text().tokens("C++ für 3,50 € 😀 :-) 我喜欢")
        ['c++', 'für', '3,50', '😀', ':-)', '我', '我喜', '喜', '喜欢', '欢']
        """
        options = {name: of for name, of in self.splitting.items() if name != "features"}
        return [token for row in self.rows([text]) for token in splitter(**options)(row)]

    def counts(self, text: str) -> dict[str, int]:
        """Return how often each token comes in a text; with a vocabulary, of each word in it.

        Parameters
        ----------
        text : str
            One text.

        Returns
        -------
        counts : dict of str to int
            In the order of the vocabulary, with 0 of a word that is not there; without one, in the
            order of the text.

        Examples
        --------
        >>> from naively import Text
        >>> words = ["aardvark", "about", "all", "africa"]
        >>> Text(vocabulary=words).counts("all about Africa, all about oil")
        {'aardvark': 0, 'about': 2, 'all': 2, 'africa': 1}
        """
        found = Counter(self.tokens(text))
        return dict(found) if self.vocabulary is None else {w: found[w] for w in self.vocabulary}

    @property
    def is_programmed(self) -> bool:
        """Whether texts go through Python before they are split, or their words are made there."""
        return self._prepare is not None or self._own_words is not None

    @cached_property
    def _prepare(self) -> Callable[[str], str] | None:
        """What is done to a text before it is split; None where a vocabulary does it all."""
        if callable(self.analyzer):
            return None
        if self.preprocessor is not None:
            return partial(_returned, "preprocessor", self.preprocessor)
        if self.strip_accents is None and self.token_pattern is None:
            return None
        lower = str.lower if self.lowercase else str
        if self.strip_accents is None:
            return lower
        from sklearn.feature_extraction import text as of_text

        ascii_only = self.strip_accents == "ascii"
        strip = of_text.strip_accents_ascii if ascii_only else of_text.strip_accents_unicode
        return lambda text: strip(lower(text))

    @cached_property
    def _own_words(self) -> Split | None:
        """What makes words, or all tokens, of a prepared text; None where a vocabulary does it."""
        if callable(self.analyzer):
            return partial(_returned, "analyzer", self.analyzer)
        if self.analyzer != "word":
            return None
        lowercase = self.lowercase and self._prepare is None
        if self.tokenizer is not None:
            tokenizer = self.tokenizer
            return lambda text: _returned("tokenizer", tokenizer, fold(text, lowercase)[0])
        if self.token_pattern is not None:
            find = compile_bounded(self.token_pattern, "token_pattern").findall
            return lambda text: find(bounded(text))
        return None if self.stemmer is None else partial(split, lowercase=lowercase)

    def _kept(self, words: Iterable[object]) -> list[str]:
        """Return words but for stop words, as their stems if that is asked for."""
        kept = [word for word in map(str, words) if word not in self._stops]
        return kept if self.stemmer is None else list(map(stemmer_of(self.stemmer), kept))

    @cached_property
    def _stops(self) -> frozenset[str]:
        return frozenset(self._stop_words)

    @cached_property
    def _stop_words(self) -> tuple[str, ...]:
        of = stop_words_of("english") if self.stop_words == "english" else self.stop_words
        return tuple(of or ())


def _returned(option: str, function: Callable[[str], Any], text: str) -> Any:
    """Return what a function makes of a text: words, or a text if it is a preprocessor."""
    found = function(text)
    of_text = isinstance(found, str)
    if option == "preprocessor" and of_text:
        return found
    if option != "preprocessor" and not of_text and isinstance(found, Iterable):
        found = list(found)
        if not any(issubclass(kind, NO_WORD) for kind in set(map(type, found))):
            return found
    must = "a string" if option == "preprocessor" else "a list of strings"
    raise ValueError(
        f"The {option} {name_of(function)} must return {must}, and returned {found!r:.60} for the "
        f"text {text!r:.60}."
    )


def name_of(function: Callable[..., object]) -> str:
    """Return the name of a function, by which a file knows it.

    >>> name_of(str.split)
    'split'
    """
    return getattr(function, "__name__", type(function).__name__)


def stop_words_of(given: str | Sequence[str]) -> list[str]:
    """Return the words of a language, by name or code, or of several by name; else those given."""
    if given == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return sorted(ENGLISH_STOP_WORDS)
    if not isinstance(given, str):
        words = list(given)
        if "english" in words or find_spec("stop_words") is not None:
            named = {*words} <= {*_languages(words).values()}
            words = list(chain.from_iterable(map(stop_words_of, words))) if named else words
        return words
    known = _languages(given)
    if given not in known and given not in known.values():
        raise ValueError(
            f"There are no stop words of {given!r}: give a list of words, or one of "
            f"{', '.join(sorted(known.values()))}."
        )
    return list(import_module("stop_words").get_stop_words(given))


def _languages(given: object) -> dict[str, str]:
    """Return the names of languages that have stop words, by their codes."""
    known: dict[str, str] = optional(
        "stop_words", "stop-words", f"stop_words={given!r}"
    ).LANGUAGE_MAPPING
    return known


@cache
def stemmer_of(language: str) -> Callable[[str], str]:
    """Return what makes the stem of a word of a language; an error says which there are."""
    known = optional("snowballstemmer", "snowballstemmer", f"stemmer={language!r}")
    if language not in known.algorithms():
        raise ValueError(
            f"There is no stemmer of {language!r}; there are {', '.join(known.algorithms())}."
        )
    return lru_cache(maxsize=1 << 16)(known.stemmer(language).stemWord)


def optional(module: str, package: str, what: str) -> Any:
    """Return a module that an option needs; an ImportError says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs the package {package}: pip install 'naively[words]'."
        ) from error


def text_group(name: Name, text: TextModel) -> Group:
    """Return the group of a column of texts, which is a group of its own."""
    return Group(text.event_model, "text", (name,), text)


# --- Regular expressions that are known not to stall: a model file may hold some -----------------
#
# Python's engine goes back over a text wherever a choice may have been wrong, and has no limit. A
# pattern is taken if at each choice within a repeat the next character decides (Brüggemann-Klein &
# Wood, One-unambiguous regular languages, 1998), or nothing that follows can fail: then no choice
# is tried twice. What is left is to begin again at each character of a run, and runs are made
# short.


Characters: TypeAlias = frozenset[str]
Parsed: TypeAlias = Any  # parts, or the operands of one, as Python's own parser makes them
Part: TypeAlias = tuple[object, Parsed]  # an operation and its operands

LONGEST = 1000  # characters of a pattern
RUN = 256  # characters of a text without a space, or spaces in a row
CHOICES = 1000  # in all, of what is not repeated
DEEPEST = 12  # groups within groups
LONG_RUN = re.compile(rf"(\S{{{RUN}}})|(?<=\s{{{RUN}}})\s+")
# Latin-1, and one of each kind of other characters.
USUAL = [*map(chr, range(256)), *"ĀāΣλж漢٣Ⅷ\u0300\u2003\u2028€\U0001f600"]


def compile_bounded(pattern: str, what: str) -> re.Pattern[str]:
    """Compile a regular expression, or raise a ValueError that says why it is not taken."""
    shown = repr(pattern if len(pattern) <= 60 else f"{pattern[:60]}...")
    if len(pattern) > LONGEST:
        raise ValueError(f"{what} {shown} has more than {LONGEST:,} characters.")
    try:
        compiled = re.compile(pattern)
        Choices().check(import_module("re._parser").parse(pattern))
    except (re.error, OverflowError) as error:
        raise ValueError(f"{what} {shown} is no regular expression: {error}.") from error
    except (StallError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise ValueError(
            f"{what} {shown} could take for ever: {why}; write a simpler one, or split the texts "
            "beforehand and give lists of words."
        ) from error
    return compiled


def bounded(text: str) -> str:
    """Return a text whose runs of characters without a space, and of spaces, are cut short.

    >>> len(bounded("a" * 1000).split()), len(bounded(" " * 1000))
    (4, 256)
    """
    return LONG_RUN.sub(lambda m: f"{m[1]} " if m[1] else "", text) if len(text) > RUN else text


class StallError(ValueError):
    """A pattern could take time beyond measure."""


class After(Frozen, eq=True):
    """What may follow a part of a pattern."""

    first: Characters = frozenset()  # what it may begin with
    sure: bool = True  # it cannot fail
    long: bool = False  # it may be of any length
    repeated: bool = False  # it is within a repeat


@dataclass
class Choices:
    """The choices of a pattern, as they are met from its end to its beginning."""

    number: int = 1  # in how many ways it may be tried at one place
    alphabet: list[str] = field(default_factory=lambda: list(USUAL))
    found: dict[int, Characters] = field(default_factory=dict)  # of the parts, by identity

    def check(self, parsed: Parsed) -> None:
        """Raise a StallError if a choice may have to be tried again and again."""
        self.alphabet = list(dict.fromkeys([*USUAL, *_named(parsed)]))
        self._sequence(parsed, After(), 0)

    def _sequence(self, parsed: Parsed, after: After, depth: int) -> After:
        """Return what may follow whatever is before these parts."""
        if depth > DEEPEST:
            raise StallError("it is nested too deep")
        for part in reversed(parsed):
            after = self._part(parsed, part, after, depth + 1)
        return after

    def _part(self, parsed: Parsed, part: Part, after: After, depth: int) -> After:
        """Return what may follow whatever is before one part of a sequence, in so many groups."""
        kind, of = str(part[0]), part[1]
        if kind in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            return replace(after, first=self._characters(parsed, part), sure=False)
        if kind == "GROUPREF" and parsed.state.groupwidths[of] == (1, 1):  # the same once more
            return replace(after, first=frozenset(self.alphabet), sure=False)
        if kind == "AT":  # a boundary
            return replace(after, sure=False)
        if kind in ("ASSERT", "ASSERT_NOT"):
            if self._sequence(of[1], After(sure=False), depth).long:
                raise StallError("it looks ahead or behind without a limit")
            return replace(after, sure=False)
        if kind == "SUBPATTERN" and not (of[1] or of[2]):
            return self._sequence(of[3], after, depth)
        if kind == "ATOMIC_GROUP":
            return self._sequence(of, after, depth)
        if kind == "BRANCH":
            return self._branch(of[1], after, depth)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(of, after, depth)
        raise StallError("it refers to what another part has found, or changes flags")

    def _branch(self, branches: list[Parsed], after: After, depth: int) -> After:
        """Return what may follow whatever is before alternatives."""
        found = [self._sequence(branch, after, depth) for branch in branches]
        firsts = [each.first for each in found]
        union = reduce(or_, firsts)
        if sum(map(len, firsts)) > len(union) and not after.sure:
            self._choose(len(branches), after, "alternatives begin alike")
        sure, long = any(each.sure for each in found), any(each.long for each in found)
        return replace(after, first=union, sure=sure, long=long)

    def _repeat(self, of: Parsed, after: After, depth: int) -> After:
        """Return what may follow whatever is before a repeat, of (least, most, sequence) times."""
        # What is repeated is looked at twice: followed by what follows the repeat, for what it may
        # begin with; and followed by itself too, as it is met while it goes on.
        least, most, parsed = of[0], int(of[1]), of[2]
        unlimited, often = most - least > RUN, most > 1
        if often and parsed.getwidth()[0] == 0:
            raise StallError("what is repeated may be nothing")
        number = self.number
        once = replace(after, first=frozenset(), repeated=often or after.repeated)
        once = replace(once, sure=after.sure and least <= 1)
        own = self._sequence(parsed, once, depth)
        self.number = number
        if often:  # what follows one time is the next, or what follows all
            once = replace(once, first=after.first | own.first)
        else:
            once = replace(once, first=after.first)
        self._sequence(parsed, once, depth)
        if least < most and own.first & after.first and not after.sure:
            if unlimited and (after.long or after.repeated):
                raise StallError("where a repeat ends is not decided by the next character")
            self._choose(1 if unlimited else most - least + 1, after, "a repeat may end anywhere")
        if unlimited and not after.sure:
            kinds = {character.isspace() for character in self._within(parsed)}
            if len(kinds) > 1:
                raise StallError("a repeat over words and spaces may fail in the end")
        first = own.first | after.first if least == 0 else own.first
        return replace(
            after,
            first=first,
            sure=after.sure and least == 0,
            long=after.long or unlimited or own.long,
        )

    def _choose(self, ways: int, after: After, why: str) -> None:
        self.number *= ways
        if after.repeated or self.number > CHOICES:
            raise StallError(why)

    def _within(self, parsed: Parsed) -> Characters:
        """Return all characters that a part may hold."""
        none: Characters = frozenset()
        return none.union(*(self._characters(of, part) for of, part in _single(parsed)))

    def _characters(self, parsed: Parsed, part: Part) -> Characters:
        """Return the characters that a part of one character may be, as the engine has them."""
        if id(part) not in self.found:
            alone = type(parsed)(parsed.state, [part])
            one = import_module("re._compiler").compile(alone)
            self.found[id(part)] = frozenset(filter(one.match, self.alphabet))
        return self.found[id(part)]


def _single(parsed: Parsed) -> Iterator[tuple[Parsed, Part]]:
    """Yield the parts that are one character, each with the sequence that it is in."""
    for part in parsed:
        if str(part[0]) in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            yield parsed, part
        for inner in _sequences(part[1]):
            yield from _single(inner)


def _sequences(of: Parsed) -> Iterator[Parsed]:
    """Yield the sequences within a part."""
    if hasattr(of, "getwidth"):
        yield of
    elif isinstance(of, list | tuple):
        for each in of:
            yield from _sequences(each)


def _named(parsed: Parsed) -> Iterator[str]:
    """Yield the characters that a pattern names, in either case, and some of each range."""
    for _, (kind, of) in _single(parsed):
        for name, value in of if str(kind) == "IN" else [(kind, of)]:
            if str(name) in ("LITERAL", "NOT_LITERAL"):
                yield from (chr(value), chr(value).upper()[0], chr(value).lower()[0])
            elif str(name) == "RANGE":
                low, high = value
                yield from map(chr, range(low, high, max(1, (high - low) // 64)))
                yield chr(high)


# --- Patterns: what a text shows beyond its words, as tokens that are counted like words ---------
#
# Each is a line in a table, name to regular expression or function: money, hosts, capitals, ...


Finder: TypeAlias = Callable[[str], Iterable[str]]

AMOUNT = r"\d[\d.,]*"
URL = re.compile(r"\b(?:https?://|www\.)[^\s<>\"']+", re.IGNORECASE)
HOST = re.compile(r"^(?:https?://)?(?:[^/@\s]*@)?([^/:?#\s]+)", re.IGNORECASE)
NUMBER = re.compile(r"\d+")
CAPITALS = re.compile(r"\b[A-Z][A-Z]+\b")
LETTERS = re.compile(r"[^\W\d_]+")
LONG_WORD = 20
SHARES = (0.02, 0.1, 0.3, 0.6)  # the bounds of the bins of a share


def hosts(text: str) -> list[str]:
    """Return the hosts of the URLs in a text.

    >>> hosts("See http://Example.com:80/a?b and www.python.org.")
    ['host:example.com', 'host:python.org']
    """
    found = (HOST.match(url.rstrip(".,;:!?)")) for url in URL.findall(text))
    return [f"host:{match[1].lower().removeprefix('www.')}" for match in found if match]


def digits(text: str) -> list[str]:
    """Return how many digits each number has, ten or more as one.

    >>> digits("7 of 2024, call 07732584351")
    ['digits:1', 'digits:4', 'digits:10+']
    """
    lengths = (len(number) for number in NUMBER.findall(text))
    return [f"digits:{n}" if n < 10 else "digits:10+" for n in lengths]


def capitals(text: str) -> list[str]:
    """Return the words that are ALL CAPITALS, and their share.

    >>> capitals("WIN a prize NOW")
    ['capitals', 'capitals', 'capitals share:0.3-0.6']
    """
    words = len(LETTERS.findall(text))
    found = ["capitals"] * len(CAPITALS.findall(text))
    return [*found, f"capitals share:{share_bin(len(found), words)}"] if words else []


def scripts(text: str) -> list[str]:
    """Return the share of the letters that are not Latin.

    >>> scripts("Привет"), scripts("naïve"), scripts("123")
    (['not latin:0.6-1'], ['not latin:0'], [])
    """
    if text.isascii():
        return ["not latin:0"] if LETTERS.search(text) else []
    letters = [c for c in text if c.isalpha()]
    others = sum(not is_latin(c) for c in letters)
    return [f"not latin:{share_bin(others, len(letters))}"] if letters else []


@lru_cache(maxsize=1 << 16)
def is_latin(character: str) -> bool:
    """Whether a letter is Latin.

    >>> is_latin("é"), is_latin("я")
    (True, False)
    """
    return character.isascii() or unicodedata.name(character, "").startswith("LATIN")


def share_bin(part: int, whole: int) -> str:
    """Return the bin of a share, as text.

    >>> share_bin(0, 10), share_bin(1, 100), share_bin(9, 10)
    ('0', '0-0.02', '0.6-1')
    """
    share = part / whole
    if not share:
        return "0"
    bounds = (0, *SHARES, 1)
    place = next((i for i, bound in enumerate(SHARES) if share <= bound), len(SHARES))
    return f"{bounds[place]}-{bounds[place + 1]}"


def length_bin(text: str) -> list[str]:
    """Return the length of a text, to a factor of two.

    >>> length_bin("a text of 24 characters.")
    ['length:16-31']
    """
    if not text:
        return ["length:0"]
    low = 1 << int(math.log2(len(text)))
    return [f"length:{low}-{2 * low - 1}"]


PATTERNS: dict[str, re.Pattern[str] | Finder] = {
    "money": re.compile(rf"[$€£¥₹]\s?{AMOUNT}|{AMOUNT}\s?(?:[€£¥₹]|(?:USD|EUR|GBP|dollars?)\b)"),
    "percent": re.compile(rf"{AMOUNT}\s?(?:%|percent\b)"),
    "url": URL,
    "host": hosts,
    "email": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "digits": digits,
    "capitals": capitals,
    "repeated": re.compile(r"([!?.*$#=_~-])\1+"),
    "long word": re.compile(rf"\w{{{LONG_WORD},}}"),
    "not latin": scripts,
    "length": length_bin,
}


class Patterns(TextModel, Frozen, eq=True):
    r"""Patterns of a text beyond its words, counted as tokens of a block of their own.

    Money, percentages, URLs and their hosts, e-mail addresses, numbers by their digits, ALL
    CAPITALS and their share, repeated punctuation, very long words, the share of letters that
    are not Latin, and the length.

    Parameters
    ----------
    more : mapping of str to str, default none
        Other patterns: a name, and the regular expression whose matches are counted.
    leave_out : sequence of str, default none
        Names of patterns that are not looked for.
    binary : bool, default False
        Whether a token counts once in a text.
    event : str or EventModel, default "multinomial"
        "multinomial", "bernoulli" or "complement", or such a model.

    Examples
    --------
    >>> from naively import Patterns
    >>> patterns = Patterns(more={"time": r"\d\d:\d\d"})
    >>> patterns.tokens("$9 at 12:30!!!")
    ['pattern:money', 'digits:1', 'digits:2', 'digits:2', 'capitals share:0', 'pattern:repeated',
    'not latin:0', 'length:8-15', 'pattern:time']
    """

    more: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    leave_out: Sequence[str] = ()
    binary: bool = False
    event: str | EventModel = "multinomial"
    name = "patterns"

    def __post_init__(self) -> None:
        object.__setattr__(self, "more", tuple(dict(self.more).items()))  # a key
        object.__setattr__(self, "leave_out", tuple(self.leave_out))
        for name in self.leave_out:
            if name not in PATTERNS:
                raise ValueError(f"There is no pattern {name!r}; there are {', '.join(PATTERNS)}.")
        for name, regex in dict(self.more).items():
            compile_bounded(regex, f"The pattern {name!r},")

    @property
    def is_plain(self) -> bool:
        return False  # there is none among texts that are not said to have patterns

    @property
    def splitting(self) -> dict[str, Any]:
        return {}

    @property
    def counted(self) -> str:
        return "patterns"

    @property
    def single_words(self) -> bool:
        return False

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        return [token for find in self._finders for token in find(text)]

    def rows(self, texts: Iterable[Row]) -> Sequence[Row]:
        return [None if text is None else self.tokens(_as_text(text)) for text in texts]

    @cached_property
    def _finders(self) -> list[Finder]:
        chosen = {name: find for name, find in PATTERNS.items() if name not in self.leave_out}
        chosen |= {name: compile_bounded(regex, name) for name, regex in dict(self.more).items()}
        return [
            _matches(name, find) if isinstance(find, re.Pattern) else find
            for name, find in chosen.items()
        ]


def _matches(name: str, regex: re.Pattern[str]) -> Finder:
    token = f"pattern:{name}"
    return lambda text: [token for _ in regex.finditer(bounded(text))]


def _as_text(row: str | Sequence[str]) -> str:
    return row if isinstance(row, str) else " ".join(map(str, row))
