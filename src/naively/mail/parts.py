"""A message is taken apart into its headers and parts, within the limits of ``limits``."""

from __future__ import annotations

import re
from email.message import Message
from email.parser import BytesParser
from itertools import islice

from naively.mail.limits import (
    ALL_HEADERS_LENGTH,
    BYTES,
    DEPTH,
    HEADER_LENGTH,
    HEADERS,
    LINES,
    PARAMETERS_LENGTH,
    PARTS,
    SEMICOLONS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Notes = dict[str, None]  # sentences about what was not read, in order, each once

LINE_END = re.compile(rb"\r\n|\r|\n")


class _BeyondLimitError(Exception):
    """The message has more parts than are taken apart, and is read as plain text."""


class _Part(Message):
    """A part of a message, which counts itself and its headers towards the limits."""

    def __init__(self, counts: _Counts) -> None:
        super().__init__()
        self.depth = 0
        self._counts = counts
        counts.parts += 1
        if counts.parts > PARTS:
            raise _BeyondLimitError(f"more than {PARTS:,} parts")

    def attach(self, payload: _Part) -> None:  # type: ignore[override]  # the parser makes no other
        payload.depth = self.depth + 1
        if payload.depth > DEPTH:
            raise _BeyondLimitError(f"parts in parts, more than {DEPTH} deep")
        super().attach(payload)

    def set_raw(self, name: str, value: str) -> None:
        """Add a header as the parser found it, or what of it is within the limits."""
        cut = value
        if name.lower().startswith("content-"):
            cut = ";".join(value[:PARAMETERS_LENGTH].split(";", SEMICOLONS)[:SEMICOLONS])
        counts = self._counts
        cut = cut[: max(0, min(HEADER_LENGTH, ALL_HEADERS_LENGTH - counts.characters))]
        counts.characters += len(name) + len(cut)
        counts.fields += 1
        if len(cut) < len(value):
            counts.notes["long headers cut"] = None
        if counts.fields <= HEADERS and counts.characters <= ALL_HEADERS_LENGTH + HEADER_LENGTH:
            super().set_raw(name, cut)
        else:
            counts.notes[
                f"headers beyond {HEADERS:,} or {ALL_HEADERS_LENGTH:,} characters not read"
            ] = None


class _Counts:
    """How many parts and headers one message has, so far."""

    def __init__(self, notes: Notes) -> None:
        self.parts = 0
        self.fields = 0
        self.characters = 0
        self.notes = notes


def take_apart(raw: bytes, notes: Notes) -> tuple[Message, list[Message] | None]:
    r"""Return the headers of a message, and its parts; None if it is to be read as plain text.

    Parameters
    ----------
    raw : bytes
        The message.
    notes : dict
        A sentence is added about each thing that was not read.

    Examples
    --------
    >>> message, parts = take_apart(b"Subject: lunch\n\nAt noon?", notes := {})
    >>> message["subject"], len(parts), notes
    ('lunch', 1, {})
    >>> take_apart(b"Content-Type: message/rfc822\n\n" * 100, notes)[1], *notes
    (None, 'read as plain text: parts in parts, more than 20 deep')
    """
    try:
        message = _parse(raw, notes)
        return message, [part for part in message.walk() if not part.is_multipart()]
    except _BeyondLimitError as beyond:
        notes[f"read as plain text: {beyond}"] = None
    except Exception:  # noqa: BLE001  the parser should not fail; the message is read even so
        notes["read as plain text: it cannot be parsed"] = None
    try:
        return _parse(raw, notes, headers_only=True), None
    except Exception:  # noqa: BLE001
        return Message(), None


def within_limits(raw: bytes, notes: Notes) -> bytes:
    """Return the beginning of a message that is within the limits of bytes and lines."""
    if len(raw) > BYTES:
        notes[f"read to {BYTES >> 20} MiB"] = None
        raw = raw[:BYTES]
    if raw.count(b"\n") + raw.count(b"\r") > LINES:
        for end in islice(LINE_END.finditer(raw), LINES - 1, LINES):
            notes[f"read to line {LINES:,}"] = None
            raw = raw[: end.end()]
    return raw


def _parse(raw: bytes, notes: Notes, *, headers_only: bool = False) -> Message:
    counts = _Counts(notes)
    parser = BytesParser(lambda: _Part(counts))
    return parser.parsebytes(raw, headersonly=headers_only)
