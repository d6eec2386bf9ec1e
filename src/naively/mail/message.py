"""One message becomes a row: what its reader sees, and what its headers tell, as text by column.

The standard library parses a message within the limits of ``limits``, so nothing that a sender can
write makes reading fail, or slow. The filter reads one message a process, so each import here costs
every message some milliseconds: neither NumPy nor typing is imported.
"""

from __future__ import annotations

import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses

from naively.mail.charset import decode
from naively.mail.html import LINK, visible_text
from naively.mail.limits import (
    ALL_HTML_LENGTH,
    COMMENTS,
    ENCODED_LINE,
    HTML_LENGTH,
    SENDER_LENGTH,
    TEXT_BYTES,
)
from naively.mail.parts import take_apart, within_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from email.message import Message

    from naively.mail.parts import Notes

COLUMNS = (
    "subject", "body", "links", "sender", "recipients", "reply_to", "received", "message_id",
    "mailer", "headers", "attachments",
)  # fmt: skip
CONTACTS = "sender_in_contacts"
OWN = "x-naively-"  # what the names of the headers begin with that the filter adds

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
    OWN, "status", "x-status", "x-uid", "x-keywords", "x-key", "x-label", "x-mozilla-",
    "x-evolution", "x-original-to", "return-path", "delivered-to", "content-length", "lines",
    "envelope-to", "xref",
)  # fmt: skip
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
        headers (their names, with ``_`` for ``-``), attachments (types and names). If contacts
        are given, ``sender_in_contacts`` is whether the sender is one of them.

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
    if contacts is not None:
        row[CONTACTS] = _is_known(str(row["sender"]), contacts, notes)
    return row


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
    row = {
        column: "\n".join(_header(value, notes) for name in names for value in values.get(name, ()))
        for column, names in SOURCES.items()
    }
    return row | {"headers": " ".join(map(_word, values))}


def _read_parts(parts: Iterable[Message], notes: Notes) -> dict[str, str]:
    """Return the columns that hold the text of parts, the hosts of links, and attachments."""
    bodies, links, attachments = [], [], []
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
                    text, hosts = seen
                    links += hosts
            links += LINK.findall(text)
            bodies.append(text)
        if name or not is_text:
            attachments.append(f"{_word(kind)} {name}")
    return {
        "body": "\n".join(bodies),
        "links": " ".join(dict.fromkeys(link.lower() for link in links)),
        "attachments": "\n".join(attachments),
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
