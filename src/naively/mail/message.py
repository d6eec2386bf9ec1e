"""A message becomes the parts and words that the filter counts, within limits."""

from __future__ import annotations

import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses
from encodings import normalize_encoding
from encodings.aliases import aliases
from itertools import islice

from naively.mail.headers import NAMED, OWN, SPAM
from naively.mail.html import LINK, visible_text
from naively.mail.limits import (
    ALL_HEADERS_LENGTH,
    ALL_HTML_LENGTH,
    BYTES,
    CHARSET_LENGTH,
    COMMENTS,
    DEPTH,
    ENCODED_LINE,
    HEADER_LENGTH,
    HEADERS,
    HTML_LENGTH,
    LINES,
    PARAMETERS_LENGTH,
    PARTS,
    SEMICOLONS,
    SENDER_LENGTH,
    TEXT_BYTES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

# --- Message -------------------------------------------------------------------------------------
#
# One message becomes a row: what its reader sees, and what its headers tell, as text by column.
#
# The standard library parses a message within the limits of ``limits``, so nothing that a sender
# can write makes reading fail, or slow. The filter reads one message a process, so each import
# here costs every message some milliseconds: neither NumPy nor typing is imported.


COLUMNS = (
    "subject", "body", "links", "sender", "recipients", "reply_to", "received", "message_id",
    "mailer", "headers", "attachments", "hidden",
)  # fmt: skip
CONTACTS = "sender_in_contacts"

SOURCES = {  # the headers that each column holds
    "subject": ("subject",),
    "sender": ("from", "sender"),
    "recipients": ("to", "cc"),
    "reply_to": ("reply-to",),
    "received": ("received",),
    "message_id": ("message-id",),
    "mailer": ("x-mailer", "user-agent"),
}
# Headers that are added at delivery or afterwards are not read: a message that is learned at
# delivery and unlearned from the mail client must have the same words.
LOCAL = (
    OWN, SPAM, "status", "x-status", "x-uid", "x-keywords", "x-key", "x-label", "x-mozilla-",
    "x-evolution", "x-original-to", "return-path", "delivered-to", "content-length", "lines",
    "envelope-to", "xref",
)  # fmt: skip
# Characters without a width part no words (see ``kernels.folding``). Scripts from Hebrew on need
# some within words; in Latin, Greek and Cyrillic they hide a word from those who do not fold.
LETTER = r"[0-9A-Za-z\u00c0-\u034e\u0370-\u0482\u048a-\u058f]"
SOFT_HYPHEN = "\u00ad"
NO_WIDTH = (
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
# A search for a letter would stop at each; this one stops at few characters.
WITHIN_WORD = rf"{NO_WIDTH}(?<={LETTER}{NO_WIDTH}){NO_WIDTH}*+(?={LETTER})"
ADDRESS = r"[^\s<>()\[\]\",;:=]+@[^\s<>()\[\]\",;:=]+"


def read_message(
    raw: bytes, contacts: Collection[str] | None = None, notes: Notes | None = None
) -> dict[str, str | bool]:
    r"""Read one message.

    Parameters
    ----------
    raw : bytes
        The message as it was received (RFC 5322), however broken.
    contacts : collection of str, optional
        Addresses in lower case (see ``read_contacts``).
    notes : dict, optional
        A sentence is added about each thing that was beyond the limits, and so not read.

    Returns
    -------
    dict
        Text by column: subject, body (plain parts, and the visible text of HTML parts), links
        (their hosts), sender, recipients, reply_to, received (the path), message_id, mailer,
        headers (their names, with ``_`` for ``-``), attachments (types and names), hidden (how
        something in subject or body was hidden from the reader). If contacts are given,
        ``sender_in_contacts`` is whether the sender is one of them.

    Examples
    --------
    >>> row = read_message(b"From: Ann <ann@example.org>\nSubject: =?utf-8?q?caf=C3=A9?=\n\nAt 12?")
    >>> row["subject"], row["body"], row["sender"]
    ('café', 'At 12?', 'Ann <ann@example.org>')
    """
    notes = {} if notes is None else notes
    row: dict[str, str | bool] = dict.fromkeys(COLUMNS, "")
    raw = within_limits(raw, notes)
    message, parts = take_apart(raw, notes)
    row |= _read_headers(message, notes)
    row |= {"body": decode(raw[:TEXT_BYTES])} if parts is None else _read_parts(parts, notes)
    row["hidden"] = " ".join(filter(None, [str(row["hidden"]), *_without_width(row)]))
    if contacts is not None:
        row[CONTACTS] = _is_known(str(row["sender"]), contacts, notes)
    return row


def _without_width(row: dict[str, str | bool]) -> list[str]:
    """Return which kinds of characters without a width are within the words that are seen."""
    texts = [text for column in ("subject", "body") if not (text := str(row[column])).isascii()]
    runs = {run for text in texts for run in re.findall(WITHIN_WORD, text)}
    hyphens = {run for run in runs if not run.strip(SOFT_HYPHEN)}
    return ["soft_hyphen"] * bool(hyphens) + ["zero_width"] * (runs != hyphens)


def read_contacts(text: str) -> frozenset[str]:
    r"""Return the addresses of an address book: a vCard file, or a list in any form.

    Examples
    --------
    >>> sorted(read_contacts("BEGIN:VCARD\nEMAIL;TYPE=work:Ann@Example.org\nEND:VCARD"))
    ['ann@example.org']
    """
    unfolded = re.sub(r"\r?\n[ \t]", "", text) if "BEGIN:VCARD" in text else text
    return frozenset(address.lower() for address in re.findall(ADDRESS, unfolded))


def _is_known(sender: str, contacts: Collection[str], notes: Notes) -> bool:
    """Whether the address of a sender is among the contacts."""
    if len(sender) > SENDER_LENGTH or sender.count("(") > COMMENTS:
        notes["sender not looked for in the contacts: too long"] = None
        return False
    return any(address.lower() in contacts for _, address in getaddresses([sender]))


def _read_headers(message: Message, notes: Notes) -> dict[str, str]:
    """Return the columns that hold headers, and the names of all headers."""
    values: dict[str, list[str]] = {}
    for name, value in message.raw_items():
        if not name.lower().startswith(LOCAL):
            values.setdefault(name.lower(), []).append(value)
    for chosen in message.get_all(NAMED, ()):
        if (name := str(chosen).strip().lower()).startswith("x-"):  # nothing else may be hidden
            values.pop(name, None)
    row = {
        column: "\n".join(_header(value, notes) for name in names for value in values.get(name, ()))
        for column, names in SOURCES.items()
    }
    return row | {"headers": " ".join(map(_word, values))}


def _read_parts(parts: Iterable[Message], notes: Notes) -> dict[str, str]:
    """Return the columns that hold the text of parts, the hosts of links, and attachments."""
    bodies, links, attachments = [], [], []
    hidden: set[str] = set()
    text_left, html_left = TEXT_BYTES, ALL_HTML_LENGTH
    for part in parts:
        kind, name = part.get_content_type(), _file_name(part, notes)
        is_text = part.get_content_maintype() == "text"
        if is_text:
            data, charset = _payload(part)
            if len(data) > text_left:
                notes[f"text read to {TEXT_BYTES >> 20} MiB"] = None
                data = data[: data.rfind(b"\n", 0, text_left) + 1 or text_left]
            text_left -= len(data)
            text = decode(data, charset)
            if kind == "text/html":
                seen = visible_text(text) if html_left > 0 else None
                html_left -= min(len(text), HTML_LENGTH)
                if seen is None:
                    notes["HTML read as plain text: it is too long or nested too deep"] = None
                else:
                    text = seen.text
                    links += seen.links
                    hidden.update(seen.hidden)
            links += LINK.findall(text)
            bodies.append(text)
        if name or not is_text:
            attachments.append(f"{_word(kind)} {name}")
    return {
        "body": "\n".join(bodies),
        "links": " ".join(dict.fromkeys(link.lower() for link in links)),
        "attachments": "\n".join(attachments),
        "hidden": " ".join(sorted(hidden)),
    }


def _header(value: object, notes: Notes) -> str:
    """Decode a header's encoded words and raw bytes."""
    text = decode(str(value).encode("utf-8", "surrogateescape"))
    if "=?" not in text:
        return text
    # To decode a line takes time by the square of its length.
    if any(len(line) > ENCODED_LINE for line in text.splitlines()):
        notes[f"encoded words in lines beyond {ENCODED_LINE:,} characters not decoded"] = None
        return text
    try:
        parts = decode_header(text)
    except (HeaderParseError, ValueError):
        return text
    return "".join(
        part if isinstance(part, str) else decode(part, charset) for part, charset in parts
    )


def _payload(part: Message) -> tuple[bytes, str | None]:
    """Return a part's bytes, without their transfer encoding, and the charset it declares."""
    try:
        payload, charset = part.get_payload(decode=True), part.get_content_charset()
    except Exception:  # noqa: BLE001  such as for an unknown charset in RFC 2231's form
        del part["content-type"], part["content-transfer-encoding"]
        payload, charset = part.get_payload(decode=True), None
    return (payload if isinstance(payload, bytes) else b""), charset


def _file_name(part: Message, notes: Notes) -> str:
    try:
        return _header(part.get_filename() or "", notes)
    except Exception:  # noqa: BLE001  a broken parameter of RFC 2231 raises various errors
        return "broken_name"


def _word(name: str) -> str:
    """Return a name as one word, as x-mailer and text/html would be split in two."""
    return re.sub(r"\W", "_", name)


# --- Bytes of mail become text, by codecs whose time follows the length of the text --------------


# These are Python's names of codecs. Among those left out are punycode and idna, which take
# time by the square of the length, and codecs that decode to anything but text.
LINEAR = """
    ascii latin_1 utf_7 utf_8 utf_8_sig utf_16 utf_16_be utf_16_le utf_32 utf_32_be utf_32_le
    iso8859_1 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9
    iso8859_10 iso8859_11 iso8859_13 iso8859_14 iso8859_15 iso8859_16
    cp037 cp273 cp424 cp437 cp500 cp720 cp737 cp775 cp850 cp852 cp855 cp856 cp857 cp858 cp860 cp861
    cp862 cp863 cp864 cp865 cp866 cp869 cp874 cp875 cp932 cp949 cp950 cp1006 cp1026 cp1125 cp1140
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258
    big5 big5hkscs gb2312 gbk gb18030 hz euc_jp euc_jis_2004 euc_jisx0213 euc_kr johab
    iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3 iso2022_jp_ext iso2022_kr
    shift_jis shift_jis_2004 shift_jisx0213 koi8_r koi8_t koi8_u kz1048 ptcp154 tis_620
    hp_roman8 palmos mac_arabic mac_croatian mac_cyrillic mac_farsi mac_greek mac_iceland
    mac_latin2 mac_roman mac_romanian mac_turkish
    """.split()  # noqa: SIM905


def decode(data: bytes, charset: str | None = None) -> str:
    r"""Decode text by the charset that it has, which need not be the one that it declares.

    Bytes that are valid UTF-8 and not ASCII are UTF-8. Else they have the declared charset, if they
    can be decoded by it; else they are Windows-1252, as most text without a declaration is.

    Examples
    --------
    >>> decode("é".encode(), "iso-8859-1"), decode(b"\xe9", "utf-8"), decode(b"\xe9", "no-such")
    ('é', 'é', 'é')
    """
    declared = _codec(charset) if charset else "ascii"
    for name in (declared, "utf-8") if data.isascii() else ("utf-8", declared):
        if name is not None:
            try:
                text = data.decode(name)
            except ValueError:
                continue
            if name == "utf_7":  # it may hold halves of characters, which nothing can write
                text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return text
    return data.decode("windows-1252", "replace")


def _codec(charset: str) -> str | None:
    """Return Python's name of a charset, or None; to ask Python takes long for an unknown one."""
    if len(charset) > CHARSET_LENGTH or not charset.isascii():
        return None
    name = normalize_encoding(charset).lower()
    name = aliases.get(name) or aliases.get(name.replace(".", "_")) or name
    return name if name in LINEAR else None


# --- A message is taken apart into its headers and parts, within the limits of ``limits`` --------


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
