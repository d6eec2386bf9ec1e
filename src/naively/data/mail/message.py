"""One message becomes a row: what its reader sees, and what its headers tell, as text by column.

The standard library parses; nothing that a sender can write makes it an error. The filter reads
one message a process, so what is imported here is counted in milliseconds (no NumPy, no typing).
"""

from __future__ import annotations

import re
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from email.message import Message

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
# Within a word of HTML these may begin and end; any other element separates words.
INLINE = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
]  # fmt: skip
INVISIBLE = ["script", "style", "head", "template", "noscript"]
# Deeply nested elements take time by the square of their number to parse; no reader reads on here.
HTML_LENGTH = 100_000
LINK = re.compile(r"https?://([^\s/\"'<>?#]+)", re.IGNORECASE)
ADDRESS = r"[^\s<>()\[\]\",;:=]+@[^\s<>()\[\]\",;:=]+"


def read_message(raw: bytes, contacts: Collection[str] | None = None) -> dict[str, str | bool]:
    r"""Read one message.

    Parameters
    ----------
    raw : bytes
        The message as it was received (RFC 5322), however broken.
    contacts : collection of str, optional
        Addresses in lower case (see ``read_contacts``).

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
    row: dict[str, str | bool] = dict.fromkeys(COLUMNS, "")
    try:
        message = message_from_bytes(raw)
        parts = list(message.walk())
    except Exception:  # noqa: BLE001  parts in parts in parts end the recursion, for one
        row["body"] = decode(raw)
    else:
        row |= _read_headers(message)
        row |= _read_parts(part for part in parts if not part.is_multipart())
    if contacts is not None:
        row[CONTACTS] = any(
            address.lower() in contacts for _, address in getaddresses([str(row["sender"])])
        )
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


def visible_text(html: str) -> tuple[str, list[str]]:
    """Return the text that a reader of HTML sees, and the hosts that it links to.

    Examples
    --------
    >>> visible_text("<style>p {}</style><p>V<b>IA</b>GRA<p>now<a href='http://a.org/x'>!</a>")
    ('VIAGRA now!', ['a.org'])
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html[:HTML_LENGTH])
    links = [
        host
        for node in tree.css("[href], [src], [action]")
        for name in ("href", "src", "action")
        for host in LINK.findall(node.attributes.get(name) or "")
    ]
    tree.strip_tags(INVISIBLE)
    tree.unwrap_tags(INLINE)
    tree.merge_text_nodes()
    return (tree.body.text(separator=" ").strip() if tree.body else ""), links


def decode(data: bytes, charset: str | None = None) -> str:
    r"""Decode text by the charset that it has, which need not be the one that it says.

    Bytes that are valid UTF-8 and not ASCII are UTF-8; else they are what they say, if they can
    be; else Windows-1252, as most that say nothing are.

    Examples
    --------
    >>> decode("é".encode(), "iso-8859-1"), decode(b"\xe9", "utf-8"), decode(b"\xe9", "no-such")
    ('é', 'é', 'é')
    """
    said = charset or "ascii"
    for name in (said, "utf-8") if data.isascii() else ("utf-8", said):
        try:
            return data.decode(name)
        except (LookupError, ValueError):
            continue
    return data.decode("windows-1252", "replace")


def _read_headers(message: Message) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    for name, value in message.raw_items():
        if not name.lower().startswith(LOCAL):
            values.setdefault(name.lower(), []).append(_header(value))
    row = {
        column: "\n".join(value for name in names for value in values.get(name, ()))
        for column, names in SOURCES.items()
    }
    return row | {"headers": " ".join(map(_word, values))}


def _read_parts(parts: Iterable[Message]) -> dict[str, str]:
    bodies, links, attachments = [], [], []
    for part in parts:
        kind, name = part.get_content_type(), _file_name(part)
        is_text = part.get_content_maintype() == "text"
        if is_text:
            text = _text(part)
            if kind == "text/html":
                text, found = visible_text(text)
                links += found
            links += LINK.findall(text)
            bodies.append(text)
        if name or not is_text:
            attachments.append(f"{_word(kind)} {name}")
    return {
        "body": "\n".join(bodies),
        "links": " ".join(dict.fromkeys(link.lower() for link in links)),
        "attachments": "\n".join(attachments),
    }


def _header(value: object) -> str:
    """Decode a header's encoded words and raw bytes."""
    raw = str(value).encode("utf-8", "surrogateescape")
    if b"=?" not in raw:
        return decode(raw)
    try:
        parts = decode_header(decode(raw))
    except (HeaderParseError, ValueError):
        return decode(raw)
    return "".join(
        part if isinstance(part, str) else decode(part, charset) for part, charset in parts
    )


def _text(part: Message) -> str:
    try:
        payload = part.get_payload(decode=True)
        charset = part.get_content_charset()
    except Exception:  # noqa: BLE001  such as a transfer encoding that is none
        payload, charset = str(part.get_payload()).encode("utf-8", "replace"), None
    return decode(payload, charset) if isinstance(payload, bytes) else ""


def _file_name(part: Message) -> str:
    try:
        return _header(part.get_filename() or "")
    except Exception:  # noqa: BLE001  a broken RFC 2231 parameter raises this and that
        return "broken_name"


def _word(name: str) -> str:
    """Make one word of a name: x-mailer and text/html are words, not two each."""
    return re.sub(r"\W", "_", name)
