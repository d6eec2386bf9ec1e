"""The names of the headers that the filter adds to messages, and does not read in them."""

from __future__ import annotations

OWN = "x-naively-"  # what the names of the headers begin with that the filter adds
SPAM = "x-spam-"  # and of those that it adds in the manner of SpamAssassin
NAMED = "X-Naively-Header"  # has the name of the one that has the class, if it was chosen
RESERVED = (f"{SPAM}status", f"{SPAM}flag")
LONGEST = 60  # characters of a name, or a text, that is chosen


def header_name(text: str) -> str:
    """Return the name of a header that was given as an option: no other program needs it.

    Examples
    --------
    >>> header_name("X-Bogosity")
    'X-Bogosity'
    >>> header_name("Subject")
    Traceback (most recent call last):
    ValueError: Subject is no name for it: give one such as X-Junk, of letters, digits and hyphens.
    """
    plain = text.isascii() and text.replace("-", "").isalnum()
    reserved = text.lower() in RESERVED or (
        text.lower().startswith(OWN) and text.lower() != f"{OWN}class"
    )
    if not plain or reserved or not 2 < len(text) <= LONGEST or text[:2].upper() != "X-":
        raise ValueError(
            f"{text} is no name for it: give one such as X-Junk, of letters, digits and hyphens."
        )
    return text


def header_text(text: str) -> str:
    """Return a text of a header that was given as an option.

    Examples
    --------
    >>> header_text("Yes, spam")
    'Yes, spam'
    """
    if not (text.isascii() and text.isprintable() and 0 < len(text.strip()) <= LONGEST):
        raise ValueError(f"{text!r} is no text of a header: give up to {LONGEST} letters of ASCII.")
    return text.strip()
