"""The filter's headers are written into a message, and the rest of it stays byte for byte."""

from __future__ import annotations

import re
from functools import cache

from naively.wings.mail.limits import MARKED_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = "x-naively-"  # what the names of the headers begin with that the filter adds
SPAM = "x-spam-"  # and of those that it adds in the manner of SpamAssassin
NAMED = "X-Naively-Header"  # has the name of the one that has the class, if it was chosen
RESERVED = (f"{SPAM}status", f"{SPAM}flag")
LONGEST = 60  # characters of a name, or a text, that is chosen

# Repetitions are possessive (*+), so a match looks at each byte once.
END_OF_HEAD = re.compile(rb"\n(?=\r*+\n)")
HEADER_LINE = re.compile(rb">?From |[!-9;-~]+[ \t]*:|[ \t]")
FIELD_LINE = re.compile(rb"[!-9;-~]+:|[ \t]")


@cache
def _forged(names: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return what finds fields whose names begin so, at the start of a message and further on."""
    # Some readers take a lone \r for the end of a line, so a header may be forged behind one.
    field = rb"(?:" + names + rb")[!-9;-~]*+[ \t]*+:[^\r\n]*+(?:[\r\n]++[ \t][^\r\n]*+)*+"
    first = rb"\A(?:" + field + rb"(?:[\r\n]++|\Z))++"
    return (
        re.compile(first, re.IGNORECASE),
        re.compile(rb"(?<![\r\n])[\r\n]++" + field, re.IGNORECASE),
    )


def mark(message: bytes, headers: Mapping[str, str], *, whole: bool = True) -> bytes:
    """Return a message with these headers after its own, and without any that were forged."""
    line_end = b"\r\n" if message[: message.find(b"\n")].endswith(b"\r") else b"\n"
    ours = b"".join(
        f"{name}: {value}\n".encode("ascii", "backslashreplace").replace(b"\n", line_end)
        for name, value in headers.items()
    )
    if not HEADER_LINE.match(message):  # it has no headers, or is empty
        return ours + line_end + message
    found = END_OF_HEAD.search(message)
    head, rest = (message[: found.end()], message[found.end() :]) if found else (message, b"")
    names = [OWN.encode(), *([SPAM.encode()] if "X-Spam-Status" in headers else [])]
    names += [
        re.escape(name.encode()) + rb"(?=[ \t]*+:)"
        for name in headers
        if not name.lower().startswith(OWN)
    ]
    first, further = _forged(b"|".join(names))
    head = further.sub(b"", first.sub(b"", head))
    if not head.endswith(b"\n"):
        head += line_end if head else b""
    begin = _end_of_fields(head)
    if begin == 0 and head[:1] in (b" ", b"\t"):  # it would continue ours
        return ours + line_end + head + rest
    end = line_end if not (whole or found) else b""
    return head[:begin] + ours + end + head[begin:] + rest


def _end_of_fields(head: bytes) -> int:
    """Return where a head has its first line that some reader may not take for a header field."""
    # Some readers take a lone \r for the end of a line, so a line counts as many lines as they see.
    place = field = 0
    for _ in range(MARKED_LINES):
        end = head.find(b"\n", place) + 1
        if not end:
            return place
        if head[place] not in b" \t":
            field = place
        lines = head[place : end - 1].removesuffix(b"\r").split(b"\r")
        is_first = place == 0 and head.startswith(b"From ")
        if not all(FIELD_LINE.match(line) for line in lines[is_first:]):
            return field
        place = end
    return field


# --- What a header is called, and says, may be chosen ---------------------------------------------


def header_name(text: str) -> str:
    """Return the name of a header that was given as an option: no other program needs it."""
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
    """Return a text of a header that was given as an option."""
    if not (text.isascii() and text.isprintable() and 0 < len(text.strip()) <= LONGEST):
        raise ValueError(f"{text!r} is no text of a header: give up to {LONGEST} letters of ASCII.")
    return text.strip()
