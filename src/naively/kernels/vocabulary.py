"""The numbers of tokens, and texts counted and scored by them: contract, oracle, and fallback.

A `Vocabulary` numbers tokens (``kernels.tokens`` says what they are) in order of first sight. It
grows when texts are counted and at no other time, and it never forgets, so that the number of a
token is its row in every table. With ``features`` it does not even grow: the number is a hash. The
native module has the same class, faster; ``naively.kernels.dispatch`` chooses.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Self
from zlib import crc32

import numpy as np

from naively.kernels.checks import check_codes
from naively.kernels.reference import score_csr
from naively.kernels.scatter import scatter
from naively.kernels.string_texts import unpack_texts
from naively.kernels.strings import Strings
from naively.kernels.tokens import check_rows, splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from naively.kernels.reference import Finish, Finished, Floats, HighLow, Integers
    from naively.kernels.tokens import Row, Unit


class Vocabulary:
    """Numbers of tokens, in order of first sight.

    In all methods ``texts`` is a sequence with an element for each row: a str is a text, a list of
    str holds words that are taken as they are, and None is a missing text. It may be `Strings` of
    ``kernels.strings``, which the native class reads where they lie. If ``presence`` is true, a
    token counts once for each text that holds it, and else as often as it occurs.

    Parameters
    ----------
    words : iterable of str, optional
        The first tokens, which are not split.
    analyzer : {"word", "char", "char_wb"}
        Whether a token is an n-gram of words, of characters, or of characters within a word.
    ngram_range : (int, int)
        The least and the greatest n of these n-grams.
    lowercase : bool
        Whether texts are lower-cased.
    stop_words : sequence of str
        Words that are left out before n-grams are made, if the analyzer is "word".
    features : int, optional
        How many numbers there are. The number of a token is then its hash, and the vocabulary
        neither grows nor knows its tokens.

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

    def __init__(
        self,
        words: Iterable[str] = (),
        analyzer: Unit = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        stop_words: Sequence[str] = (),
        features: int | None = None,
    ) -> None:
        """Prepare to split texts, and number the first tokens."""
        if features is not None and not 1 <= features < 2**31:
            raise ValueError(f"features must be between 1 and 2**31, got {features}")
        self._options = (analyzer, ngram_range, lowercase, tuple(stop_words), features)
        self._analyzer, self._features = analyzer, features
        self._split = splitter(analyzer, ngram_range, lowercase, stop_words)
        # A token that is looked up by [] and is not there gets the next number.
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self.add(list(words))

    def __len__(self) -> int:
        return len(self._numbers) if self._features is None else self._features

    def words(self) -> list[str]:
        """Return the tokens in order of their numbers.

        >>> Vocabulary(["two", "one", "two"]).words()
        ['two', 'one']
        """
        self._refuse_hashed("list")
        return list(self._numbers)

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each token, of shape (words,), -1 for an unknown one.

        >>> Vocabulary(["two", "one"]).find(["one", "three"])
        array([ 1, -1])
        """
        check_strings(words, "word")
        return np.fromiter(self._find_each(words), np.int64)

    def add(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each token, of shape (words,); an unknown one gets the next number.

        >>> Vocabulary(["two", "one"]).add(["one", "three"])
        array([1, 2])
        """
        check_strings(words, "word")
        return np.fromiter(self._add_each(words), np.int64)

    def join(self, other: Vocabulary) -> NDArray[np.int64]:
        """Add the tokens of another vocabulary and return their numbers in this one.

        The numbers have the shape (len(other),).

        >>> Vocabulary(["two", "one"]).join(Vocabulary(["one", "three"]))
        array([1, 2])
        """
        return self.add(other.words())

    def select(self, keep: NDArray[np.bool_]) -> Self:
        """Return a vocabulary of the tokens that are kept, in their order.

        ``keep`` has the shape (len(self),).

        >>> Vocabulary(["two", "one"]).select(np.array([False, True])).words()
        ['one']
        """
        words = self.words()
        if len(keep) != len(words):
            raise ValueError(f"{len(keep)} choices for {len(words)} words")
        return type(self)([words[i] for i in np.flatnonzero(keep)], *self._options)

    def copy(self) -> Self:
        """Return a vocabulary of the same tokens that grows on its own.

        >>> first = Vocabulary(["one"])
        >>> second = first.copy()
        >>> second.add(["two"]), first.words()
        (array([1]), ['one'])
        """
        return type(self)(self._numbers, *self._options)

    def count(
        self, texts: Sequence[Row], y: Integers, w: Floats | None, k: int, presence: bool
    ) -> HighLow:
        """Return the weighted counts of tokens by class; new tokens join the vocabulary.

        ``y``, ``w`` and ``k`` are those of `naively.kernels.reference`. The table has the shape
        (len(self), classes).

        >>> Vocabulary().count(["well, well"], np.array([0]), np.array([3.0]), 2, False)
        (array([[6., 0.]]), None)
        """
        texts = self._checked(texts)
        if len(y) != len(texts) or (w is not None and len(w) != len(texts)):
            raise ValueError("texts, classes and weights differ in number")
        check_codes(y, k, "class")
        number, length = self._number_tokens(texts, self._add_each)
        if presence:
            number, length = once(number, length)
        weight = None if w is None else np.repeat(w, length)
        cell = number * k + np.repeat(y, length)
        return scatter(cell, np.ones(len(cell)), weight, (len(self), k))

    def encode(
        self, texts: Sequence[Row], presence: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """Count the known tokens of each text.

        They are the ``indptr``, ``indices`` and ``data`` of a CSR matrix of shape
        (texts, len(self)).

        >>> Vocabulary(["one", "two"]).encode(["Two and one and two", None], False)
        (array([0, 2, 2]), array([0, 1], dtype=int32), array([1., 2.]))
        """
        texts = self._checked(texts)
        number, length = self._number_tokens(texts, self._find_each)
        row = np.repeat(np.arange(len(texts)), length)
        known = number >= 0
        cell, times = np.unique(row[known] * len(self) + number[known], return_counts=True)
        row, number = np.divmod(cell, max(len(self), 1))
        indptr = np.searchsorted(row, np.arange(len(texts) + 1))
        data = np.ones(len(cell)) if presence else times.astype(np.float64)
        return indptr.astype(np.int64), number.astype(np.int32), data

    def lengths(self, texts: Sequence[Row], presence: bool) -> NDArray[np.int64]:
        """Return how many known tokens each text has, of shape (texts,).

        >>> Vocabulary(["one", "two"]).lengths(["Two and one and two", None], False)
        array([3, 0])
        """
        indptr, _, data = self.encode(texts, presence)
        before = np.concatenate([np.zeros(1), np.cumsum(data)])
        return np.diff(before[indptr]).astype(np.int64)

    def score(
        self,
        texts: Sequence[Row],
        slope: Floats,
        start: Floats,
        presence: bool,
        finish: Finish,
        log_prior: Floats,
    ) -> Finished:
        """Return start + Σ of the slopes of the known tokens of each text, finished.

        ``slope`` has the shape (len(self), classes); ``start``, ``finish`` and ``log_prior`` are
        those of `naively.kernels.reference`.

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
        """Return the UTF-8 ("surrogatepass") of all tokens, joined, and where each token ends.

        The arrays have the shapes (bytes,) and (len(self),).

        >>> Vocabulary(["one", "été"]).to_arrays()[1]
        array([3, 8])
        """
        self._refuse_hashed("save")
        encoded = [word.encode("utf-8", "surrogatepass") for word in self._numbers]
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        return np.frombuffer(b"".join(encoded), np.uint8), ends

    @classmethod
    def from_arrays(cls, utf8: NDArray[np.uint8], ends: NDArray[np.int64], **options: Any) -> Self:
        """Return the vocabulary whose `to_arrays` returned these arrays.

        ``options`` are the arguments of `Vocabulary`, but for ``words``. Arrays that `to_arrays`
        cannot have returned are a ValueError.

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
        vocabulary = cls(words, **options)
        if len(vocabulary) != len(words):
            raise ValueError("a word is there twice")
        return vocabulary

    def _checked(self, texts: Sequence[Row]) -> Sequence[Row]:
        """Return texts that can be split, or raise an error that names the first that cannot."""
        if isinstance(texts, Strings):
            return unpack_texts(texts)
        check_rows(texts, self._analyzer)
        return texts

    def _find_each(self, tokens: Iterable[str]) -> Iterator[int]:
        """Return the number of each token, -1 for an unknown one."""
        if self._features is None:
            return map(self._numbers.get, tokens, repeat(-1))
        return map(hashed, repeat(self._features), tokens)

    def _add_each(self, tokens: Iterable[str]) -> Iterator[int]:
        """Return the number of each token; an unknown one gets the next number."""
        if self._features is None:
            return map(self._numbers.__getitem__, tokens)
        return map(hashed, repeat(self._features), tokens)

    def _number_tokens(
        self, texts: Sequence[Row], number_each: Callable[[Iterable[str]], Iterator[int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of all texts' tokens, (tokens,), and how many each has, (texts,)."""
        lengths = array("q")

        def split() -> Iterator[list[str]]:
            for tokens in map(self._split, texts):
                lengths.append(len(tokens))
                yield tokens

        numbers = np.fromiter(number_each(chain.from_iterable(split())), np.int64)
        return numbers, np.array(lengths, np.int64)

    def _refuse_hashed(self, verb: str) -> None:
        if self._features is not None:
            raise ValueError(f"hashed words are not known, so there are none to {verb}")


def hashed(features: int, word: str) -> int:
    """Return a number below ``features``, by CRC-32: it is the same on every machine.

    >>> hashed(2**20, "naive")
    71007
    """
    return crc32(word.encode("utf-8", "surrogatepass")) % features


def once(
    number: NDArray[np.int64], length: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keep each number once in each text.

    ``number``, of shape (tokens,), holds the numbers of all texts, one text after another;
    ``length``, of shape (texts,), says how many each text has. The returned arrays are alike.

    >>> once(np.array([7, 5, 7, 7]), np.array([3, 0, 1]))
    (array([5, 7, 7]), array([2, 0, 1]))
    """
    row = np.repeat(np.arange(len(length)), length)
    pairs = np.unique(np.stack([row, number]), axis=1)
    return pairs[1], np.bincount(pairs[0], minlength=len(length))


def check_strings(values: Iterable[str], what: str) -> None:
    """Raise a TypeError naming the first element that is not a str.

    >>> check_strings(["one", 2], "word")
    Traceback (most recent call last):
    TypeError: word 1 is not a str but int
    """
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise TypeError(f"{what} {i} is not a str but {type(value).__name__}")
