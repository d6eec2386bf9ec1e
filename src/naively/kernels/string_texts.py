"""Strings as texts: checked, made a list, and without those that are too long."""

from __future__ import annotations

import numpy as np

from naively.kernels.strings import Strings

CONTINUATION = bytes(range(0x80, 0xC0))  # the bytes of a character but its first


def check_texts(strings: Strings) -> None:
    """Raise a ValueError unless the arrays are those of texts.

    >>> check_texts(Strings(np.array([0, 2, 1]), np.zeros(2, np.uint8)))
    Traceback (most recent call last):
    ValueError: offsets must ascend within the bytes of the texts
    """
    offsets, utf8, missing = strings.offsets, strings.utf8, strings.missing
    if not _is_row_of(offsets, np.int64) or not _is_row_of(utf8, np.uint8):
        raise ValueError("offsets of texts must be int64 and their bytes uint8, in one dimension")
    if len(offsets) == 0:
        raise ValueError("offsets must have at least one element")
    if missing is not None:
        if not _is_row_of(missing, np.bool_):
            raise ValueError("missing must be bool, in one dimension")
        if len(missing) != len(offsets) - 1:
            texts = len(offsets) - 1
            raise ValueError(f"{len(missing)} flags of what is missing for {texts} texts")
    if len(offsets) == 1:
        return  # where no text begins does not matter
    # No difference is taken, as it could overflow.
    if offsets[0] < 0 or offsets[-1] > len(utf8) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError("offsets must ascend within the bytes of the texts")


def unpack_texts(strings: Strings) -> list[str | None]:
    """Return texts as a list; arrays that are not those of texts are a ValueError.

    >>> unpack_texts(Strings(np.array([0, 1]), np.array([0xFF], np.uint8)))
    Traceback (most recent call last):
    ValueError: text 0 is not UTF-8
    """
    check_texts(strings)
    texts: list[str | None] = []
    try:
        for text in strings:
            texts.append(text)  # noqa: PERF402  (so that the number of the broken one is known)
    except UnicodeDecodeError as error:
        raise ValueError(f"text {len(texts)} is not UTF-8") from error
    return texts


def without_longer(strings: Strings, most: int) -> Strings:
    """Return strings of which those of more than ``most`` characters are missing.

    >>> utf8 = np.frombuffer("one été".encode(), np.uint8)
    >>> list(without_longer(Strings(np.array([0, 4, 9]), utf8), 3))
    [None, 'été']
    """
    long = np.flatnonzero(np.diff(strings.offsets) > most)  # bytes are at least as many
    if not len(long):
        return strings
    missing = np.zeros(len(strings), np.bool_)
    missing[long] = True
    if strings.utf8.max() >= 0x80:  # not all are ASCII, so that some may have fewer characters
        begins, ends = strings.offsets[long].tolist(), strings.offsets[long + 1].tolist()
        missing[long] = [
            _length(strings.utf8[begin:end].tobytes()) > most
            for begin, end in zip(begins, ends, strict=True)
        ]
    if strings.missing is not None:
        missing |= strings.missing
    return Strings(strings.offsets, strings.utf8, missing)


def _length(utf8: bytes) -> int:
    """Return how many characters a string has."""
    return len(utf8) if utf8.isascii() else len(utf8.translate(None, CONTINUATION))


def _is_row_of(array: object, dtype: type[np.generic]) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == dtype
