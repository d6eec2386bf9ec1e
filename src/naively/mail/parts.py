"""A message is taken apart within limits, so that none takes long or much memory, whatever it is.

What is beyond a limit is cut off, or, where a cut would leave nothing to be taken apart, the
message is read as plain text; either is noted. Ordinary mail is far within the limits (see
docs/decisions/0014-hostile-mail.md).
"""

from __future__ import annotations

import re
from email.message import Message
from email.parser import BytesParser
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    Notes = dict[str, None]  # what was not read, in order, each once

BYTES = 8 << 20
LINES = 150_000  # 8 MiB of them at the usual length
PARTS = 1_000
DEPTH = 20  # parts in parts; a line is compared with the boundary of each
FIELDS = 5_000  # headers of all parts
FIELD = 20_000  # characters of one
HEADERS = 300_000  # characters of all
PARAMETERS = 2_000  # characters of a field that has parameters,
SEMICOLONS = 200  # between which `email` looks for quotes again and again
LINE_END = re.compile(rb"\r\n|\r|\n")


class _BeyondLimit(Exception):  # noqa: N818  it is no error: the message is read in another way
    pass


class _Part(Message):
    """A part that counts itself and its headers."""

    def __init__(self, counts: _Counts) -> None:
        super().__init__()
        self.depth = 0
        self._counts = counts
        counts.parts += 1
        if counts.parts > PARTS:
            raise _BeyondLimit(f"more than {PARTS:,} parts")

    def attach(self, payload: Message) -> None:  # type: ignore[override]
        assert isinstance(payload, _Part)
        payload.depth = self.depth + 1
        if payload.depth > DEPTH:
            raise _BeyondLimit(f"parts in parts, more than {DEPTH} deep")
        super().attach(payload)

    def set_raw(self, name: str, value: str) -> None:
        """Add a header as the parser found it, or what of it is within the limits."""
        cut = value
        if name.lower().startswith("content-"):
            cut = ";".join(value[:PARAMETERS].split(";", SEMICOLONS)[:SEMICOLONS])
        counts = self._counts
        cut = cut[: max(0, min(FIELD, HEADERS - counts.characters))]
        counts.characters += len(name) + len(cut)
        counts.fields += 1
        if len(cut) < len(value):
            counts.notes["long headers cut"] = None
        if counts.fields <= FIELDS and counts.characters <= HEADERS + FIELD:
            super().set_raw(name, cut)
        else:
            counts.notes[f"headers beyond {FIELDS:,} or {HEADERS:,} characters not read"] = None


class _Counts:
    """What of the limits one message has used."""

    def __init__(self, notes: Notes) -> None:
        self.parts = 0
        self.fields = 0
        self.characters = 0
        self.notes = notes


def take_apart(raw: bytes, notes: Notes) -> tuple[Message, list[Message] | None]:
    r"""Return a message's headers and its parts, which are none where it is to be read as it is.

    Parameters
    ----------
    raw : bytes
        The message.
    notes : dict
        What was not read is added to it.

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
    except _BeyondLimit as beyond:
        notes[f"read as plain text: {beyond}"] = None
    except Exception:  # noqa: BLE001  the parser should not fail; the message is read even so
        notes["read as plain text: it cannot be parsed"] = None
    try:
        return _parse(raw, notes, headers_only=True), None
    except Exception:  # noqa: BLE001
        return Message(), None


def within_limits(raw: bytes, notes: Notes) -> bytes:
    """Return what is read of a message."""
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
