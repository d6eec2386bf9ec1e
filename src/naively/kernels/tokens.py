"""Splitting a text into tokens in plain Python, as scikit-learn's ``CountVectorizer`` does.

A word consists of two or more letters, digits or underscores, of any script, lower-cased. Tokens
are n-grams of words ("word"), n-grams of characters ("char"), or n-grams of the characters of one
word between two spaces ("char_wb"). They come in scikit-learn's order: the short ones first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["word", "char", "char_wb"]
Row: TypeAlias = "str | Sequence[str] | None"  # a text, its tokens, or a missing text
Split: TypeAlias = Callable[[Row], list[str]]

UNITS = ("word", "char", "char_wb")
WORD = re.compile(r"\b\w\w+\b")
SPACES = re.compile(r"\s\s+")
# To lower-case and to blank what is in no word in one step splits ASCII several times faster.
ASCII_WORDS = str.maketrans(
    {i: chr(i).lower() if chr(i).isalnum() or chr(i) == "_" else " " for i in range(128)}
)


def splitter(
    analyzer: Unit, ngram_range: tuple[int, int], lowercase: bool, stop_words: Collection[str]
) -> Split:
    """Return the function that splits rows into tokens, with repetitions.

    The words of a row that is a list are taken as they are, except for stop words.

    >>> splitter("word", (1, 2), True, ["me"])("Show me: Straße, naïve_1!")
    ['show', 'straße', 'naïve_1', 'show straße', 'straße naïve_1']
    >>> splitter("char_wb", (3, 4), True, [])("To be")
    [' to', 'to ', ' to ', ' be', 'be ', ' be ']
    """
    check_splitting(analyzer, ngram_range)
    low, high = ngram_range
    stops = frozenset(stop_words)

    def of_words(row: Row) -> list[str]:
        words = split(row, lowercase) if isinstance(row, str) else list(row or ())
        if stops:
            words = [word for word in words if word not in stops]
        return words if high == 1 else word_ngrams(words, low, high)

    def of_characters(row: Row) -> list[str]:
        if not isinstance(row, str):  # it is missing, since check_rows refuses lists
            return []
        text = row.lower() if lowercase else row
        if analyzer == "char":
            return character_ngrams(SPACES.sub(" ", text), low, high)
        return [token for word in text.split() for token in padded_ngrams(word, low, high)]

    return of_words if analyzer == "word" else of_characters


def split(text: str, lowercase: bool = True) -> list[str]:
    """Return the words of a text, in order, with repetitions.

    >>> split("I say: Straße, naïve_1!")
    ['say', 'straße', 'naïve_1']
    """
    if lowercase and text.isascii():
        return [word for word in text.translate(ASCII_WORDS).split() if len(word) > 1]
    return WORD.findall(text.lower() if lowercase else text)


def word_ngrams(words: Sequence[str], low: int, high: int) -> list[str]:
    """Return the n-grams of ``low`` to ``high`` words.

    >>> word_ngrams(["to", "be", "or"], 2, 3)
    ['to be', 'be or', 'to be or']
    """
    found: list[str] = []
    for n in range(low, min(high, len(words)) + 1):
        found += [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    return found


def character_ngrams(text: str, low: int, high: int) -> list[str]:
    """Return the n-grams of ``low`` to ``high`` characters.

    >>> character_ngrams("abc", 1, 2)
    ['a', 'b', 'c', 'ab', 'bc']
    """
    found: list[str] = []
    for n in range(low, min(high, len(text)) + 1):
        found += [text[i : i + n] for i in range(len(text) - n + 1)]
    return found


def padded_ngrams(word: str, low: int, high: int) -> list[str]:
    """Return the character n-grams of a word between spaces; a word shorter than ``low`` is one.

    >>> padded_ngrams("I", 2, 5), padded_ngrams("I", 4, 5)
    ([' I', 'I ', ' I '], [' I '])
    """
    padded = f" {word} "
    return [padded] if low > len(padded) else character_ngrams(padded, low, high)


def check_splitting(analyzer: str, ngram_range: tuple[int, int]) -> None:
    """Raise a ValueError unless texts can be split with these options.

    >>> check_splitting("word", (2, 1))
    Traceback (most recent call last):
    ValueError: ngram_range must be two whole numbers, 1 <= low <= high <= 255, got (2, 1)
    """
    if analyzer not in UNITS:
        raise ValueError(f"analyzer must be one of {', '.join(map(repr, UNITS))}, got {analyzer!r}")
    whole = len(ngram_range) == 2 and all(type(n) is int for n in ngram_range)
    if not whole or not 1 <= ngram_range[0] <= ngram_range[1] <= 255:
        raise ValueError(
            "ngram_range must be two whole numbers, 1 <= low <= high <= 255, "
            f"got {tuple(ngram_range)}"
        )


def check_rows(rows: Iterable[object], analyzer: Unit) -> None:
    """Raise a TypeError naming the first row that is neither None, a str, nor a list of words.

    >>> check_rows(["one", ["two"], 3], "word")
    Traceback (most recent call last):
    TypeError: text 2 is not a str but int
    """
    for i, row in enumerate(rows):
        if isinstance(row, list | tuple) and analyzer == "word":
            for j, word in enumerate(row):
                if not isinstance(word, str):
                    raise TypeError(f"word {j} of text {i} is not a str but {type(word).__name__}")
        elif not (row is None or isinstance(row, str)):
            raise TypeError(f"text {i} is not a str but {type(row).__name__}")
