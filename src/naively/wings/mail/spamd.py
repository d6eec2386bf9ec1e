r"""The protocol of spamd, as bytes: what a client asks, and what it is answered.

SpamAssassin's ``spamd/PROTOCOL`` describes it, and ``spamd.raw`` and ``libspamc.c`` say what
clients rely on. A request is a line (``CHECK SPAMC/1.5``), headers, an empty line and a message. An
answer begins with ``SPAMD/1.1 0 EX_OK``. A request that is refused is answered by one line that
ends the connection, without an empty line after it: a client then knows that there is no answer,
and passes its message on as it was. Before version 1.3 a client expects no ``Content-length`` in
the answer to REPORT; Exim does not.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from naively.wings.mail.limits import BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = 16_384  # bytes of a line and headers at most
HEADERS = 255
SCORED = ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS")
WITHOUT_MESSAGE = ("PING", "SKIP")
VERBS = (*SCORED, "TELL", *WITHOUT_MESSAGE)
PONG = b"SPAMD/1.5 0 PONG\r\n"  # the answer to PING
FIRST_LINE = re.compile(r"([A-Z_]{1,20}) SPAMC/([0-9]{1,3})\.([0-9]{1,3})")
CODES = {  # of sysexits.h
    "EX_OK": 0, "EX_DATAERR": 65, "EX_NOUSER": 67, "EX_UNAVAILABLE": 69, "EX_SOFTWARE": 70,
    "EX_TEMPFAIL": 75, "EX_PROTOCOL": 76, "EX_TIMEOUT": 79,
}  # fmt: skip
END_OF_HEAD = re.compile(rb"\r\n\r\n|\n\n")  # as libspamc looks for it
FORGET = "forget"
HAS_LENGTH = (1, 3)  # the first version whose answers to REPORT and SYMBOLS have a length


class RefusedError(Exception):
    """A request is refused."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class Request:
    """What a client asks for, without the message."""

    verb: str  # one of VERBS
    version: tuple[int, int] = (1, 5)  # of the protocol
    length: int | None = None  # of the message, in bytes; None if it ends where the client ends
    user: str | None = None  # whose mail it is
    compressed: bool = False  # whether the message is compressed by zlib
    wish: str | None = None  # of TELL: "spam" or "ham" to learn, "forget" to take back, or None


def read_request(head: bytes) -> Request:
    """Read the line and the headers of a request, without the empty line that ends them."""
    first, *lines = head.decode("utf-8", "backslashreplace").split("\n")
    found = FIRST_LINE.fullmatch(first.rstrip("\r"))
    if found is None or found[1] not in VERBS:
        raise RefusedError("EX_PROTOCOL", f"Bad header line: {first.rstrip()[:80]}")
    headers = _headers(lines)
    length = headers.get("content-length")
    if length is not None and not (length.isascii() and length.isdigit() and len(length) < 19):
        raise RefusedError("EX_PROTOCOL", "Content-length is no number of bytes.")
    compress = headers.get("compress")
    if compress is not None and (compress.lower() != "zlib" or length is None):
        raise RefusedError("EX_PROTOCOL", "Compress is zlib, and takes a Content-length.")
    return Request(
        found[1], (int(found[2]), int(found[3])), None if length is None else int(length),
        headers.get("user"), compress is not None, _wish(headers) if found[1] == "TELL" else None,
    )  # fmt: skip


def _headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the values of headers by their names in lower case."""
    if len(lines) > HEADERS:
        raise RefusedError("EX_PROTOCOL", "Too many headers.")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise RefusedError("EX_PROTOCOL", "A header is not of the form Name: value.")
        headers[name.strip().lower()] = value.strip()
    return headers


def _wish(headers: dict[str, str]) -> str | None:
    """Return what a client that tells wants done here; what is for other databases is left out."""
    learns, forgets = (
        "local" in headers.get(name, "").lower().replace(" ", "").split(",")
        for name in ("set", "remove")
    )
    if learns and forgets:
        raise RefusedError("EX_PROTOCOL", "A message is either set or removed.")
    label = headers.get("message-class", "").lower()
    if learns and label not in ("spam", "ham"):
        raise RefusedError("EX_PROTOCOL", "Message-class is spam or ham.")
    return label if learns else FORGET if forgets else None


def read_message(request: Request, body: bytes) -> bytes:
    """Return the message that a client has sent, which is decompressed if need be."""
    if request.length not in (None, len(body)):
        raise RefusedError(
            "EX_PROTOCOL", f"Content-length is {request.length:,}, and {len(body):,} bytes came."
        )
    if request.compressed:
        inflater = zlib.decompressobj()
        try:
            body = inflater.decompress(body, BYTES + 1)
        except zlib.error as error:
            raise RefusedError(
                "EX_DATAERR", f"The message cannot be decompressed: {error}"
            ) from None
        if not inflater.eof and len(body) <= BYTES:
            raise RefusedError("EX_DATAERR", "The compressed message is cut short.")
    check_length(len(body))
    return body


def check_length(length: int) -> None:
    """Refuse a message that is longer than what the filter reads."""
    if length > BYTES:
        raise RefusedError("EX_DATAERR", f"The message is longer than {BYTES >> 20} MiB.")


# --- Answers -------------------------------------------------------------------------------------


def refusal(code: str, why: str) -> bytes:
    """Return the answer to a request that is refused."""
    line = f"SPAMD/1.0 {CODES[code]} {code} {' '.join(why.split())[:500]}\r\n"
    return line.encode("ascii", "backslashreplace")


def told(request: Request, *, done: bool) -> bytes:
    """Return the answer to TELL; ``done`` is whether the model was changed."""
    name = b"DidRemove" if request.wish == FORGET else b"DidSet"
    did = name + b": local\r\n" if done else b""
    return b"SPAMD/1.1 0 EX_OK\r\n" + did + b"Content-length: 0\r\n\r\n"


def scored(
    request: Request, score: str, threshold: str, *, is_spam: bool, content: bytes = b""
) -> bytes:
    """Return the answer to a request that scores a message."""
    spam = f"Spam: {is_spam} ; {score} / {threshold}\r\n".encode()
    length = f"Content-length: {len(content)}\r\n".encode()
    begin = b"SPAMD/1.1 0 EX_OK\r\n"
    if request.verb == "CHECK":
        return begin + spam + b"\r\n"
    if request.version >= HAS_LENGTH:
        return begin + length + spam + b"\r\n" + content
    if request.verb in ("PROCESS", "HEADERS"):
        if request.version < (1, 2):
            return b"SPAMD/1.0 0 EX_OK\r\n" + content
        return begin + length + b"\r\n" + content
    return begin + spam + b"\r\n" + content + (b"\r\n" if request.verb == "SYMBOLS" else b"")


def head_of(marked: bytes, message: bytes) -> bytes:
    """Return the head of a message that was marked, up to the body that the client has."""
    end = END_OF_HEAD.search(message)
    return marked.removesuffix(message[end.end() :]) if end else marked
