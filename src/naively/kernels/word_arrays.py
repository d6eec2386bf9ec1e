"""Tokens as arrays: each word once, and of n-grams of words which words they consist of.

Most n-grams come once, and the text of one would be written once more for each that it is part of.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    WordArrays: TypeAlias = tuple[
        NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32] | None, NDArray[np.int64] | None
    ]


def arrays_of(tokens: Sequence[str], *, of_words: bool) -> WordArrays:
    """Return tokens as arrays.

    Parameters
    ----------
    tokens : sequence of str
        The tokens.
    of_words : bool
        Whether they are n-grams of words, with spaces between.

    Returns
    -------
    utf8 : ndarray of uint8, of shape (bytes,)
        The UTF-8 ("surrogatepass") of the words, joined; of n-grams in order of first sight.
    lengths : ndarray of int64, of shape (words,)
        How many bytes each word has.
    ids : ndarray of int32, or None
        The places of the words of each n-gram, joined; None if each token is a word.
    sizes : ndarray of int64, of shape (tokens,), or None
        How many words each n-gram has.

    Examples
    --------
    >>> _, lengths, ids, sizes = arrays_of(["one two", "two one"], of_words=True)
    >>> lengths, ids, sizes
    (array([3, 3]), array([0, 1, 1, 0], dtype=int32), array([2, 2]))
    """
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
    """Return the tokens that were made arrays, or raise a ValueError that says what is wrong.

    >>> tokens_of(*arrays_of(["one", "été"], of_words=False))
    ['one', 'été']
    """
    if any(array.dtype != of for array, of in ((utf8, np.uint8), (lengths, np.int64))):
        raise ValueError("words must be uint8 and their lengths int64, in one dimension")
    if utf8.ndim != 1 or lengths.ndim != 1:
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
    ends: list[int] = np.cumsum(sizes).tolist()
    return ends


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
