"""Words and n-grams are known by numbers, in the order in which they came."""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast
from zlib import crc32

import numpy as np

from naively.kernels.strings import Strings, unpack_texts
from naively.kernels.tokens import check_rows, splitter

# --- The numbers of tokens, and texts encoded by them: contract, oracle, and fallback ------------
#
# A `Vocabulary` numbers tokens (``kernels.tokens`` says what they are) in order of first sight. It
# grows when it is asked to and at no other time, and it never forgets, so that the number of a
# token is its row in every table. With ``features`` it does not even grow: the number is a hash.
# The native module has the same class, faster; ``naively.kernels.dispatch`` chooses.


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from naively.kernels.reference import Floats
    from naively.kernels.strings import Row, Unit

    Encoded: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], Floats | None]


class Vocabulary:
    """Numbers of tokens, in order of first sight.

    In all methods ``texts`` is a sequence with an element for each row: a str is a text, a list of
    str holds words that are taken as they are, and None is a missing text. It may be `Strings` of
    ``kernels.strings``, which the native class reads where they lie. If ``presence`` is true, a
    token counts once for each text that holds it, and else as often as it occurs.
    """

    def __init__(
        self,
        words: Iterable[str] = (),  # the first tokens, which are not split
        analyzer: Unit = "word",
        ngram_range: tuple[int, int] = (1, 1),  # the least and the greatest n
        lowercase: bool = True,
        stop_words: Sequence[str] = (),  # left out before n-grams of words are made
        # how many hashes number the tokens; the vocabulary knows none then
        features: int | None = None,
        max_characters: int | None = None,  # of a text that are read, from its beginning
    ) -> None:
        """Prepare to split texts, and number the first tokens."""
        if features is not None and not 1 <= features < 2**31:
            raise ValueError(f"features must be between 1 and 2**31, got {features}")
        if max_characters is not None and max_characters < 1:
            raise ValueError(f"max_characters must be at least 1, got {max_characters}")
        stops = tuple(stop_words)
        self._options = (analyzer, ngram_range, lowercase, stops, features, max_characters)
        self._analyzer, self._features = analyzer, features
        self._split = splitter(analyzer, ngram_range, lowercase, stops, max_characters)
        # A token that is looked up by [] and is not there gets the next number.
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self.add(list(words))

    def __len__(self) -> int:
        return len(self._numbers) if self._features is None else self._features

    def words(self) -> list[str]:
        """Return the tokens in order of their numbers."""
        self._refuse_hashed("list")
        return list(self._numbers)

    def find(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each token, of shape (words,), -1 for an unknown one."""
        check_strings(words, "word")
        return np.fromiter(self._find_each(words), np.int64)

    def add(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each token, (words,); an unknown one gets the next number."""
        check_strings(words, "word")
        return np.fromiter(self._add_each(words), np.int64)

    def join(self, other: Vocabulary) -> NDArray[np.int64]:
        """Add the tokens of another vocabulary; return their numbers in this one, (len(other),)."""
        return self.add(other.words())

    def select(self, keep: NDArray[np.bool_]) -> Self:
        """Return a vocabulary of the tokens to ``keep``, (len(self),), in their order."""
        words = self.words()
        if len(keep) != len(words):
            raise ValueError(f"{len(keep)} choices for {len(words)} words")
        return type(self)([words[i] for i in np.flatnonzero(keep)], *self._options)

    def copy(self) -> Self:
        """Return a vocabulary of the same tokens that grows on its own."""
        return type(self)(self._numbers, *self._options)

    def encode(self, texts: Sequence[Row], presence: bool, grow: bool = False) -> Encoded:
        """Count the known tokens of each text; if ``grow`` is true, new tokens become known."""
        # They are the ``indptr``, ``indices`` and ``data`` of a CSR matrix of shape (texts,
        # len(self)), whose indices are in no particular order within a row. If ``presence`` is true
        # there is no data: each number is 1.
        texts = self._checked(texts)
        number, length = self._number_tokens(texts, self._add_each if grow else self._find_each)
        row = np.repeat(np.arange(len(texts)), length)
        known = number >= 0
        cell, times = np.unique(row[known] * len(self) + number[known], return_counts=True)
        row, number = np.divmod(cell, max(len(self), 1))
        indptr = np.searchsorted(row, np.arange(len(texts) + 1))
        data = None if presence else times.astype(np.float64)
        return indptr.astype(np.int64), number.astype(np.int32), data

    def count_by_class(
        self, texts: Sequence[Row], codes: NDArray[np.int32], classes: int
    ) -> NDArray[np.float64]:
        """Count the tokens of texts by class, (len(self), classes); new ones become known."""
        # ``codes`` are the numbers of the texts' classes, of shape (texts,).
        number, length = self._number_tokens(self._checked(texts), self._add_each)
        cell = number * classes + np.repeat(codes, length)
        found = np.bincount(cell, minlength=len(self) * classes)
        return found.astype(np.float64).reshape(len(self), classes)

    def add_scores(
        self, texts: Sequence[Row], table: NDArray[np.float64], start: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Add the rows of a table, (len(self), classes), of all known tokens of each text."""
        # They are added to ``start``, of shape (texts, classes), token by token.
        number, length = self._number_tokens(self._checked(texts), self._find_each)
        row, known = np.repeat(np.arange(len(texts)), length), number >= 0
        found = start.copy()
        np.add.at(found, row[known], table[number[known]])
        return found

    def to_arrays(self) -> WordArrays:
        """Return all tokens as arrays (see `arrays_of`)."""
        self._refuse_hashed("save")
        of_words = self._analyzer == "word" and self._options[1][1] > 1
        return arrays_of(list(self._numbers), of_words=of_words)

    @classmethod
    def from_arrays(
        cls,
        utf8: NDArray[np.uint8],
        lengths: NDArray[np.int64],
        ids: NDArray[np.int32] | None = None,
        sizes: NDArray[np.int64] | None = None,
        **options: Any,
    ) -> Self:
        """Return the vocabulary whose `to_arrays` returned these arrays."""
        # ``options`` are the arguments of `Vocabulary`, but for ``words``. Arrays that hold no
        # tokens, or one twice, are a ValueError.
        words = tokens_of(utf8, lengths, ids, sizes)
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
    """Return a number below ``features``, by CRC-32: it is the same on every machine."""
    return crc32(word.encode("utf-8", "surrogatepass")) % features


def encode_together(
    vocabularies: Sequence[Vocabulary],  # all of them lower-case texts, or none does
    texts: Sequence[Row],
    presence: Sequence[bool],  # of each vocabulary
    grow: bool,
) -> list[Encoded]:
    """Encode texts by several vocabularies; the native function reads each text once."""
    return [
        vocabulary.encode(texts, once, grow)
        for vocabulary, once in zip(vocabularies, presence, strict=True)
    ]


def check_strings(values: Iterable[str], what: str) -> None:
    """Raise a TypeError naming the first element that is not a str."""
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise TypeError(f"{what} {i} is not a str but {type(value).__name__}")


# --- Tokens as arrays: each word once, and of n-grams of words which words they consist of -------
#
# Most n-grams come once, and the text of one would be written once more for each that it is part
# of.


if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    WordArrays: TypeAlias = tuple[
        NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32] | None, NDArray[np.int64] | None
    ]


def arrays_of(tokens: Sequence[str], *, of_words: bool) -> WordArrays:
    """Return tokens as the joined UTF-8 ("surrogatepass") of their words, and these lengths."""
    # For n-grams with spaces between, ``of_words``, each word is there once, in order of first
    # sight; then follow the places of the words of each n-gram, joined, and how many words each
    # n-gram has.
    words, ids, sizes = tokens, None, None
    if of_words:
        split = [token.split(" ") for token in tokens]
        place = {word: i for i, word in enumerate(dict.fromkeys(chain.from_iterable(split)))}
        ids = np.fromiter(map(place.__getitem__, chain.from_iterable(split)), np.int32)
        sizes, words = np.fromiter(map(len, split), np.int64, len(split)), list(place)
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return np.frombuffer(b"".join(encoded), np.uint8), lengths, ids, sizes


def tokens_of(
    utf8: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    ids: NDArray[np.int32] | None = None,
    sizes: NDArray[np.int64] | None = None,
) -> list[str]:
    """Return the tokens that were made arrays, or raise a ValueError that says what is wrong."""
    kinds = utf8.dtype, utf8.ndim, lengths.dtype, lengths.ndim
    if kinds != (np.dtype(np.uint8), 1, np.dtype(np.int64), 1):
        raise ValueError("words must be uint8 and their lengths int64, in one dimension")
    data, ends = utf8.tobytes(), _ends(lengths, len(utf8))
    spans = zip(ends, lengths.tolist(), strict=True)
    try:
        words = [data[end - size : end].decode("utf-8", "surrogatepass") for end, size in spans]
    except UnicodeDecodeError as error:
        raise ValueError("a word is not UTF-8") from error
    return words if ids is None or sizes is None else _joined(words, ids, sizes)


def _ends(sizes: NDArray[np.int64], total: int) -> list[int]:
    """Return where parts of these sizes end, (parts,); a ValueError unless they fill all."""
    if (sizes < 0).any() or (sizes > total).any() or sizes.sum() != total:
        raise ValueError("words do not fill what holds them")
    return cast("list[int]", np.cumsum(sizes).tolist())


def _joined(words: list[str], ids: NDArray[np.int32], sizes: NDArray[np.int64]) -> list[str]:
    """Return n-grams of words, which are given by their places."""
    if ids.dtype != np.int32 or sizes.dtype != np.int64 or ids.ndim != 1 or sizes.ndim != 1:
        raise ValueError("places of words must be int32 and sizes int64, in one dimension")
    if len(ids) and not 0 <= ids.min() <= ids.max() < len(words):
        raise ValueError("there is no such word")
    if any(" " in word for word in words):
        raise ValueError("a word of an n-gram holds a space")
    if not sizes.all():
        raise ValueError("an n-gram has no word")
    spans = zip(_ends(sizes, len(ids)), sizes.tolist(), strict=True)
    of = [words[i] for i in ids.tolist()]
    return [" ".join(of[end - size : end]) for end, size in spans]
