"""One message becomes a row: what its reader sees, and what its headers tell, as text by column.

The standard library parses; nothing that a sender can write makes it an error, or slow (``parts``).
The filter reads one message a process, so what is imported here is counted in milliseconds (no
NumPy, no typing).
"""

from __future__ import annotations

import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses

from naively.mail.charset import decode
from naively.mail.html import LENGTH, LINK, visible_text
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
OWN = "x-naively-"  # what the filter adds

SOURCES = {
    "subject": ("subject",),
    "sender": ("from", "sender"),
    "recipients": ("to", "cc"),
    "reply_to": ("reply-to",),
    "received": ("received",),
    "message_id": ("message-id",),
    "mailer": ("x-mailer", "user-agent"),
}
# What is added at delivery or afterwards is not looked at: a message that is learned at delivery
# and taken back from the mail client must have the same words.
LOCAL = (
    OWN, "status", "x-status", "x-uid", "x-keywords", "x-key", "x-label", "x-mozilla-",
    "x-evolution", "x-original-to", "return-path", "delivered-to", "content-length", "lines",
    "envelope-to", "xref",
)  # fmt: skip
TEXT = 1 << 20  # bytes of all text that is read
HTML = 3 * LENGTH  # characters of all HTML that is parsed
LINE = 1_000  # characters of a header's line with encoded words; RFC 5322 allows 998
SENDER = 2_000  # characters that are looked at for contacts
COMMENTS = 20  # in parentheses, which the standard library reads one in another
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
        What of the message was beyond the limits, and so not read, is added to it.

    Returns
    -------
    dict
        Text by column: subject, body (plain parts, and the visible text of HTML parts), links
        (their hosts), sender, recipients, reply_to, received (the path), message_id, mailer,
        headers (which there are, with ``_`` for ``-``), attachments (types and names); and, if
        contacts are given, whether the sender is one of them.

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
    row |= {"body": decode(raw[:TEXT])} if parts is None else _read_parts(parts, notes)
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
    if len(sender) > SENDER or sender.count("(") > COMMENTS:
        notes["sender not looked for in the contacts: too long"] = None
        return False
    return any(address.lower() in contacts for _, address in getaddresses([sender]))


def _read_headers(message: Message, notes: Notes) -> dict[str, str]:
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
    bodies, links, attachments = [], [], []
    text_left, html_left = TEXT, HTML
    for part in parts:
        kind, name = part.get_content_type(), _file_name(part, notes)
        is_text = part.get_content_maintype() == "text"
        if is_text:
            data, charset = _payload(part)
            if len(data) > text_left:
                notes[f"text read to {TEXT >> 20} MiB"] = None
                data = data[: data.rfind(b"\n", 0, text_left) + 1 or text_left]
            text_left -= len(data)
            text = decode(data, charset)
            if kind == "text/html":
                seen = visible_text(text) if html_left > 0 else None
                html_left -= min(len(text), LENGTH)
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
    if any(len(line) > LINE for line in text.splitlines()):  # takes the square of its length
        notes[f"encoded words in lines beyond {LINE:,} characters not decoded"] = None
        return text
    try:
        parts = decode_header(text)
    except (HeaderParseError, ValueError):
        return text
    return "".join(
        part if isinstance(part, str) else decode(part, charset) for part, charset in parts
    )


def _payload(part: Message) -> tuple[bytes, str | None]:
    """Return a part's bytes, decoded from their transfer encoding, and the charset it says."""
    try:
        payload, charset = part.get_payload(decode=True), part.get_content_charset()
    except Exception:  # noqa: BLE001  such as a charset that is none, in RFC 2231's form
        del part["content-type"], part["content-transfer-encoding"]
        payload, charset = part.get_payload(decode=True), None
    return (payload if isinstance(payload, bytes) else b""), charset


def _file_name(part: Message, notes: Notes) -> str:
    try:
        return _header(part.get_filename() or "", notes)
    except Exception:  # noqa: BLE001  a broken RFC 2231 parameter raises this and that
        return "broken_name"


def _word(name: str) -> str:
    """Make one word of a name: x-mailer and text/html are words, not two each."""
    return re.sub(r"\W", "_", name)
