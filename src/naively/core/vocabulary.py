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
from itertools import repeat
from typing import TYPE_CHECKING, Self

import numpy as np

from naively.core.kernels import check_codes, scatter, score_csr

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from naively.core.kernels import Finish, Floats, Integers, Pair

WORD = re.compile(r"\b\w\w+\b")
# Lower-cases and blanks what is not in a word at once: splitting ASCII this way is much faster.
ASCII_WORDS = str.maketrans(
    {i: chr(i).lower() if chr(i).isalnum() or chr(i) == "_" else " " for i in range(128)}
)


def split_words(text: str) -> list[str]:
    """Return the words of a text, lower-cased, in order.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Its words, with repetitions.

    Examples
    --------
    >>> split_words("I say: Straße, naïve_1!")
    ['say', 'straße', 'naïve_1']
    """
    if text.isascii():
        return [word for word in text.translate(ASCII_WORDS).split() if len(word) > 1]
    return WORD.findall(text.lower())


class Vocabulary:
    """Numbers for words, in order of first sight, and the counting of texts by them.

    Parameters
    ----------
    words : iterable of str, optional
        The first words, taken as they are.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> high, low = vocabulary.count(["buy now", "see you now"], np.array([0, 1]), None, 2, False)
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
        # A word that is looked up and not there gets the next number.
        self._numbers.default_factory = self._numbers.__len__
        self.add(list(words))

    def __len__(self) -> int:
        return len(self._numbers)

    def words(self) -> list[str]:
        """Return the words in order of their numbers.

        Returns
        -------
        list of str
            Word number i at position i.

        Examples
        --------
        >>> Vocabulary(["two", "one", "two"]).words()
        ['two', 'one']
        """
        return list(self._numbers)

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of words, -1 for one that is unknown.

        Parameters
        ----------
        words : list of str
            Words, looked up as they are: not lower-cased, not split.

        Returns
        -------
        ndarray of int64
            Their numbers.

        Examples
        --------
        >>> Vocabulary(["two", "one"]).find(["one", "three"])
        array([ 1, -1])
        """
        check_strings(words, "word")
        return np.fromiter(map(self._numbers.get, words, repeat(-1)), np.int64, len(words))

    def add(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of words, giving the next ones to those that are new.

        Parameters
        ----------
        words : list of str
            Words, taken as they are.

        Returns
        -------
        ndarray of int64
            Their numbers.

        Examples
        --------
        >>> Vocabulary(["two", "one"]).add(["one", "three"])
        array([1, 2])
        """
        check_strings(words, "word")
        return np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))

    def copy(self) -> Self:
        """Return a vocabulary with the same words that grows on its own.

        Returns
        -------
        Vocabulary
            The copy.

        Examples
        --------
        >>> first = Vocabulary(["one"])
        >>> second = first.copy()
        >>> _ = second.add(["two"])
        >>> len(first), len(second)
        (1, 2)
        """
        return type(self)(self._numbers)

    def count(
        self,
        texts: Sequence[str | None],
        y: Integers,
        w: Floats | None,
        k: int,
        presence: bool,
    ) -> Pair:
        """Count words by class; new words join the vocabulary.

        Parameters
        ----------
        texts : list of str or None
            One text a row; None adds nothing.
        y : ndarray of int32
            Class index of each row, in [0, k).
        w : ndarray of float64 or None
            Weight of each row.
        k : int
            Number of classes.
        presence : bool
            Count a word once a text, however often it is there.

        Returns
        -------
        high, low : ndarray of shape (len(self), k)
            Weighted counts as double-double; ``low`` is None where the weights are whole numbers.

        Examples
        --------
        >>> vocabulary = Vocabulary()
        >>> vocabulary.count(["well, well"], np.array([0]), np.array([3.0]), 2, False)
        (array([[6., 0.]]), None)
        """
        check_strings(texts, "text", missing=True)
        check_codes(y, k, "class")
        if len(y) != len(texts) or (w is not None and len(w) != len(texts)):
            raise ValueError("texts, classes and weights differ in number")
        numbers, lengths = array("q"), array("q")
        for text in texts:
            words: Iterable[str] = () if text is None else split_words(text)
            before = len(numbers)
            # A dict, unlike a set, keeps the order of first sight.
            numbers.extend(
                map(self._numbers.__getitem__, dict.fromkeys(words) if presence else words)
            )
            lengths.append(len(numbers) - before)
        row = np.repeat(np.arange(len(texts)), np.asarray(lengths, np.int64))
        cell = np.asarray(numbers, np.int64) * k + y[row]
        ones = np.ones(len(cell))
        return scatter(cell, ones, None if w is None else w[row], (len(self), k))

    def encode(
        self, texts: Sequence[str | None], presence: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """Return the counts of the known words as a CSR matrix (texts, words).

        Parameters
        ----------
        texts : list of str or None
            One text a row; None is an empty row.
        presence : bool
            Store 1 for a word, however often it is there.

        Returns
        -------
        indptr : ndarray of int64
            Where each row begins, and the end.
        indices : ndarray of int32
            Word numbers, ascending in each row.
        data : ndarray of float64
            How often each word is in the row.

        Examples
        --------
        >>> Vocabulary(["one", "two"]).encode(["Two and one and two", None], False)
        (array([0, 2, 2]), array([0, 1], dtype=int32), array([1., 2.]))
        """
        check_strings(texts, "text", missing=True)
        if len(self) > np.iinfo(np.int32).max:
            raise ValueError("more words than 32 bits can number")
        numbers, lengths = array("q"), array("q")
        for text in texts:
            before = len(numbers)
            if text is not None:
                numbers.extend(map(self._numbers.get, split_words(text), repeat(-1)))
            lengths.append(len(numbers) - before)
        row = np.repeat(np.arange(len(texts)), np.asarray(lengths, np.int64))
        number = np.asarray(numbers, np.int64)
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
        """Return ``start`` + the slopes of each text's known words, finished.

        Parameters
        ----------
        texts : list of str or None
            One text a row; None scores as an empty text.
        slope : ndarray of shape (len(self), k)
            What one occurrence of a word adds for each class.
        start : ndarray of shape (k,) or (len(texts), k)
            What a row begins with.
        presence : bool
            Add a word's slope once a text, however often it is there.
        finish : {"joint", "log_posterior", "posterior", "label"}
            What to return; see `naively.core.kernels`.
        log_prior : ndarray of shape (k,)
            Log posterior of a row that every class calls impossible.

        Returns
        -------
        ndarray
            Of shape (len(texts), k), or class indices (int32) for "label".

        Examples
        --------
        >>> vocabulary = Vocabulary(["buy", "see"])
        >>> slope, start = np.array([[-1.0, -3.0], [-2.0, -1.0]]), np.array([-0.5, -0.5])
        >>> vocabulary.score(["Buy, buy!", None], slope, start, False, "joint", start)
        array([[-2.5, -6.5],
               [-0.5, -0.5]])
        """
        if len(slope) != len(self):
            raise ValueError(f"{len(slope)} rows of slopes for {len(self)} words")
        return score_csr(*self.encode(texts, presence), slope, start, finish, log_prior)

    def to_arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the words as one run of UTF-8 bytes and the end of each.

        Returns
        -------
        utf8 : ndarray of uint8
            All words, one after the other; lone surrogates as "surrogatepass" writes them.
        ends : ndarray of int64
            Where each word ends in ``utf8``.

        Examples
        --------
        >>> Vocabulary(["one", "été"]).to_arrays()[1]
        array([3, 8])
        """
        encoded = [word.encode("utf-8", "surrogatepass") for word in self._numbers]
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        return np.frombuffer(b"".join(encoded), np.uint8), ends

    @classmethod
    def from_arrays(cls, utf8: NDArray[np.uint8], ends: NDArray[np.int64]) -> Self:
        """Return the vocabulary that `to_arrays` wrote.

        Parameters
        ----------
        utf8 : ndarray of uint8
            All words, one after the other.
        ends : ndarray of int64
            Where each word ends in ``utf8``.

        Returns
        -------
        Vocabulary
            Its words in the same order.

        Examples
        --------
        >>> Vocabulary.from_arrays(*Vocabulary(["one", "été"]).to_arrays()).words()
        ['one', 'été']
        """
        begins = np.concatenate([np.zeros(1, np.int64), ends])
        if begins[-1] != len(utf8) or (begins[1:] < begins[:-1]).any():
            raise ValueError("word ends must ascend to the end of the text")
        data = utf8.tobytes()
        spans = zip(begins[:-1].tolist(), ends.tolist(), strict=True)
        try:
            words = [data[begin:end].decode("utf-8", "surrogatepass") for begin, end in spans]
        except UnicodeDecodeError as error:
            raise ValueError("a word is not UTF-8") from error
        vocabulary = cls(words)
        if len(vocabulary) != len(words):
            raise ValueError("a word is there twice")
        return vocabulary


def check_strings(values: Sequence[str | None], what: str, *, missing: bool = False) -> None:
    """Raise a TypeError that names the position of the first element that is not a str.

    Parameters
    ----------
    values : list
        What was given.
    what : str
        What an element is called.
    missing : bool, optional
        Whether None is allowed.

    Examples
    --------
    >>> check_strings(["one", 2], "word")
    Traceback (most recent call last):
    TypeError: word 1 is not a str but int
    """
    for i, value in enumerate(values):
        if not (isinstance(value, str) or (missing and value is None)):
            raise TypeError(f"{what} {i} is not a str but {type(value).__name__}")
