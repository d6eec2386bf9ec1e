"""Words of text as numbers, in plain Python: the contract, the oracle, and the fallback.

A word is what scikit-learn's ``CountVectorizer`` finds by default: a run of two or more letters,
digits or underscores, of any script, lower-cased. A `Vocabulary` numbers words in order of first
sight. It grows when texts are counted, never when they are scored, and never forgets, so that a
word's number is its row in every table. The native module has the same class, faster;
``naively.core.compute`` chooses.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from naively.core.kernels import check_codes, scatter, score_csr

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from naively.core.kernels import Finish, Floats, Integers, Pair

WORD = re.compile(r"\b\w\w+\b")
# Lower-cases and blanks what is in no word at once: ASCII is split several times faster this way.
ASCII_WORDS = str.maketrans(
    {i: chr(i).lower() if chr(i).isalnum() or chr(i) == "_" else " " for i in range(128)}
)


class Vocabulary:
    """Numbers for words, in order of first sight, and the counting of texts by them.

    In all methods ``texts`` is a sequence of str or None, one a row; None has no words. With
    ``presence`` a word counts once a text, however often it is there.

    Parameters
    ----------
    words : iterable of str, optional
        The first words, taken as they are.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> high, low = vocabulary.count(["Buy now!", "See you now"], np.array([0, 1]), None, 2, False)
    >>> vocabulary.words()
    ['buy', 'now', 'see', 'you']
    >>> high
    array([[1., 0.],
           [1., 1.],
           [0., 1.],
           [0., 1.]])
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        # A word that is looked up by [] and is not there gets the next number.
        self._numbers.default_factory = self._numbers.__len__
        self.add(list(words))

    def __len__(self) -> int:
        return len(self._numbers)

    def words(self) -> list[str]:
        """Return the words in order of their numbers.

        >>> Vocabulary(["two", "one", "two"]).words()
        ['two', 'one']
        """
        return list(self._numbers)

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each word, -1 for one that is unknown.

        >>> Vocabulary(["two", "one"]).find(["one", "three"])
        array([ 1, -1])
        """
        check_strings(words, "word")
        return np.fromiter(map(self._numbers.get, words, repeat(-1)), np.int64, len(words))

    def add(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each word; one that is unknown gets the next.

        >>> Vocabulary(["two", "one"]).add(["one", "three"])
        array([1, 2])
        """
        check_strings(words, "word")
        return np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))

    def copy(self) -> Self:
        """Return a vocabulary of the same words that grows on its own.

        >>> first = Vocabulary(["one"])
        >>> second = first.copy()
        >>> second.add(["two"]), first.words()
        (array([1]), ['one'])
        """
        return type(self)(self._numbers)

    def count(
        self, texts: Sequence[str | None], y: Integers, w: Floats | None, k: int, presence: bool
    ) -> Pair:
        """Count words by class, as a (len(self), k) pair; new words join the vocabulary.

        ``y``, ``w``, ``k`` and the pair are those of `naively.core.kernels`.

        >>> Vocabulary().count(["well, well"], np.array([0]), np.array([3.0]), 2, False)
        (array([[6., 0.]]), None)
        """
        check_strings(texts, "text", missing=True)
        if len(y) != len(texts) or (w is not None and len(w) != len(texts)):
            raise ValueError("texts, classes and weights differ in number")
        check_codes(y, k, "class")
        lists: Iterator[Collection[str]] = map(split_words, texts)
        if presence:
            lists = map(dict.fromkeys, lists)  # unlike a set, keeps the order of first sight
        number, length = look_up(lists, self._numbers.__getitem__)
        weight = None if w is None else np.repeat(w, length)
        cell = number * k + np.repeat(y, length)
        return scatter(cell, np.ones(len(cell)), weight, (len(self), k))

    def encode(
        self, texts: Sequence[str | None], presence: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """Count the known words of each text, as the three arrays of a CSR matrix.

        >>> Vocabulary(["one", "two"]).encode(["Two and one and two", None], False)
        (array([0, 2, 2]), array([0, 1], dtype=int32), array([1., 2.]))
        """
        check_strings(texts, "text", missing=True)
        number, length = look_up(map(split_words, texts), self._numbers.get, repeat(-1))
        row = np.repeat(np.arange(len(texts)), length)
        known = number >= 0
        cell, times = np.unique(row[known] * len(self) + number[known], return_counts=True)
        row, number = np.divmod(cell, max(len(self), 1))
        indptr = np.searchsorted(row, np.arange(len(texts) + 1))
        data = np.ones(len(cell)) if presence else times.astype(np.float64)
        return indptr.astype(np.int64), number.astype(np.int32), data

    def score(
        self,
        texts: Sequence[str | None],
        slope: Floats,
        start: Floats,
        presence: bool,
        finish: Finish,
        log_prior: Floats,
    ) -> NDArray[np.generic]:
        """Add the slope of each known word, row i of ``slope`` for word i, to ``start``; finish.

        ``start``, ``finish`` and ``log_prior`` are those of `naively.core.kernels`.

        >>> slope, start = np.array([[-1.0, -3.0], [-2.0, -1.0]]), np.array([-0.5, -0.5])
        >>> texts = ["Buy, buy!", "See?", None]
        >>> Vocabulary(["buy", "see"]).score(texts, slope, start, False, "joint", start)
        array([[-2.5, -6.5],
               [-2.5, -1.5],
               [-0.5, -0.5]])
        """
        if len(slope) != len(self):
            raise ValueError(f"{len(slope)} rows of slopes for {len(self)} words")
        return score_csr(*self.encode(texts, presence), slope, start, finish, log_prior)

    def to_arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the words as one run of UTF-8 ("surrogatepass") and where in it each ends.

        >>> Vocabulary(["one", "été"]).to_arrays()[1]
        array([3, 8])
        """
        encoded = [word.encode("utf-8", "surrogatepass") for word in self._numbers]
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        return np.frombuffer(b"".join(encoded), np.uint8), ends

    @classmethod
    def from_arrays(cls, utf8: NDArray[np.uint8], ends: NDArray[np.int64]) -> Self:
        """Return the vocabulary that `to_arrays` wrote; arrays that it did not are a ValueError.

        >>> Vocabulary.from_arrays(*Vocabulary(["one", "été"]).to_arrays()).words()
        ['one', 'été']
        """
        kinds_fit = utf8.dtype == np.uint8 and ends.dtype == np.int64
        if not kinds_fit or utf8.ndim != 1 or ends.ndim != 1:
            raise ValueError("words must be uint8 and their ends int64, in one dimension")
        bounds = np.concatenate([np.zeros(1, np.int64), ends])
        if bounds[-1] != len(utf8) or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("word ends must ascend to the end of the text")
        data, spans = utf8.tobytes(), zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        try:
            words = [data[begin:end].decode("utf-8", "surrogatepass") for begin, end in spans]
        except UnicodeDecodeError as error:
            raise ValueError("a word is not UTF-8") from error
        vocabulary = cls(words)
        if len(vocabulary) != len(words):
            raise ValueError("a word is there twice")
        return vocabulary


def split_words(text: str | None) -> list[str]:
    """Return the words of a text, lower-cased, in order, with repetitions.

    >>> split_words("I say: Straße, naïve_1!")
    ['say', 'straße', 'naïve_1']
    """
    if text is None:
        return []
    if text.isascii():
        return [word for word in text.translate(ASCII_WORDS).split() if len(word) > 1]
    return WORD.findall(text.lower())


def look_up(
    lists: Iterable[Collection[str]], number_of: Callable[..., int], *more: Iterable[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the words of all lists, one after the other, and each list's length.

    >>> look_up([["one", "three"], [], ["two"]], len)
    (array([3, 5, 3]), array([2, 0, 1]))
    """
    lengths = array("q")

    def measured() -> Iterator[Collection[str]]:
        for words in lists:
            lengths.append(len(words))
            yield words

    flat = chain.from_iterable(measured())
    numbers = np.fromiter(map(number_of, flat, *more), np.int64)
    return numbers, np.array(lengths, np.int64)


def check_strings(values: Iterable[str | None], what: str, *, missing: bool = False) -> None:
    """Raise a TypeError naming the first element that is not a str (nor None, if allowed).

    >>> check_strings(["one", 2], "word")
    Traceback (most recent call last):
    TypeError: word 1 is not a str but int
    """
    for i, value in enumerate(values):
        if not (isinstance(value, str) or (missing and value is None)):
            raise TypeError(f"{what} {i} is not a str but {type(value).__name__}")
