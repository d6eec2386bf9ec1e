"""What a word is, in plain Python: `naively.core.vocabulary` without NumPy, for the mail filter."""

from __future__ import annotations

import re

WORD = r"\b\w\w+\b"
# Lower-cases and blanks what is in no word at once: ASCII is split several times faster this way.
ASCII_WORDS = str.maketrans(
    {i: chr(i).lower() if chr(i).isalnum() or chr(i) == "_" else " " for i in range(128)}
)


def split_words(text: str) -> list[str]:
    """Return the words of a text, lower-cased, in order, with repetitions.

    >>> split_words("I say: Straße, naïve_1!")
    ['say', 'straße', 'naïve_1']
    """
    if text.isascii():
        return [word for word in text.translate(ASCII_WORDS).split() if len(word) > 1]
    return re.findall(WORD, text.lower())
