"""A message becomes a row: what its reader sees and its headers tell, as text by column.

The standard library parses a message within the limits of ``limits``, so nothing that a sender can
write makes reading fail, or slow. The filter reads one message a process, so each import here costs
every message some milliseconds: neither NumPy nor typing is imported.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, a2b_qp
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import getaddresses
from encodings.aliases import aliases
from functools import cache
from itertools import islice
from types import SimpleNamespace

from naively.wings.mail import limits
from naively.wings.mail.headers import NAMED, OWN, SPAM
from naively.wings.mail.html import LINK, Seen, visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    Notes = dict[str, None]  # sentences about what was not read or guessed, in order, each once


# body: what is seen of the parts that are shown; links: their hosts; received: the path; headers:
# their names; attachments: types, names and texts; hidden: how something was hidden from the reader
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
REVERSED = r"\u202e([^\u0590-\u08ff\ufb1d-\ufefc\u202c\n]*)\u202c?"  # is shown the other way round
# A file within a text, of lines that begin with their length.
UUENCODED = (
    r"(?m)^begin [0-7]{3,4} \S.*\n(?:M[ -`]{60}\s*?\n)*+(?:[!-L][ -`]{1,60}\s*?\n)?+[` ]?\s*end$"
)
SOFT_BREAK = r"(?m)(?<!^--) \r?\n(?:>+ ?| )?"  # of format=flowed with delsp=yes
META = rb"(?i)<meta\b[^>]{0,200}?charset\s*=[\s\"']*([\w.:-]{1,40})"
ENCODED = r"(?s)([^?\s*]+)(?:\*[^?\s]*)?\?([bq])\?(.*?)\?="  # a word of RFC 2047, behind its =?
# A search for a letter would stop at each; this one stops at few characters.
WITHIN_WORD = rf"{NO_WIDTH}(?<={LETTER}{NO_WIDTH}){NO_WIDTH}*+(?={LETTER})"
ADDRESS = r"[^\s<>()\[\]\",;:=]+@[^\s<>()\[\]\",;:=]+"


def read_message(
    raw: bytes, contacts: Collection[str] | None = None, notes: Notes | None = None
) -> dict[str, str | bool]:
    """Return the texts of a message by column, and whether its sender is among the contacts."""
    # contacts are those of read_contacts; notes say what was beyond the limits, and so not read
    notes = {} if notes is None else notes
    row: dict[str, str | bool] = dict.fromkeys(COLUMNS, "")
    raw = within_limits(raw, notes)
    message, parts = take_apart(raw, notes)
    decoder = Decoder(notes)
    if parts is None:
        row["body"] = decoder.decode(raw[: limits.TEXT_BYTES])
    else:
        row |= _read_parts(message, parts, decoder)
    row |= _read_headers(message, decoder)
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
    """Return the addresses of an address book: a vCard file, or a list in any form."""
    unfolded = re.sub(r"\r?\n[ \t]", "", text) if "BEGIN:VCARD" in text else text
    return frozenset(address.lower() for address in re.findall(ADDRESS, unfolded))


def _is_known(sender: str, contacts: Collection[str], notes: Notes) -> bool:
    """Whether the address of a sender is among the contacts."""
    if len(sender) > limits.SENDER_LENGTH or sender.count("(") > limits.COMMENTS:
        notes["sender not looked for in the contacts: too long"] = None
        return False
    return any(address.lower() in contacts for _, address in getaddresses([sender]))


def _read_headers(message: Message, decoder: Decoder) -> dict[str, str]:
    """Return the columns that hold headers, and the names of all headers."""
    together = "\n".join(str(value) for _, value in message.raw_items())
    decoder.decode(together.encode("utf-8", "surrogateescape"))  # few words tell no charset
    values: dict[str, list[str]] = {}
    for name, value in message.raw_items():
        if not name.lower().startswith(LOCAL):
            values.setdefault(name.lower(), []).append(value)
    for chosen in message.get_all(NAMED, ()):
        if (name := str(chosen).strip().lower()).startswith("x-"):  # nothing else may be hidden
            values.pop(name, None)
    row = {
        column: "\n".join(decoder.header(value) for name in names for value in values.get(name, ()))
        for column, names in SOURCES.items()
    }
    row["subject"] = re.sub(REVERSED, _reversed, row["subject"])
    return row | {"headers": " ".join(map(_word, values))}


def _read_parts(message: Message, parts: Iterable[Message], decoder: Decoder) -> dict[str, str]:
    """Return the columns that hold the text of parts, the hosts of links, and attachments."""
    bodies, links, attachments = [], [], []
    hidden: set[str] = set()
    alternatives: dict[bool | None, list[str]] = {True: [], False: []}  # shown and not
    is_shown = _alternatives(message)
    text_left, html_left = limits.TEXT_BYTES, limits.ALL_HTML_LENGTH
    for part in parts:
        kind, name = part.get_content_type(), _file_name(part, decoder)
        is_text = part.get_content_maintype() in ("text", "multipart")  # of which none was found
        if is_text:
            data, charset = _payload(part)
            if len(data) > text_left:
                decoder.notes[f"text read to {limits.TEXT_BYTES >> 20} MiB"] = None
                data = data[: data.rfind(b"\n", 0, text_left) + 1 or text_left]
            text_left -= len(data)
            seen = _seen(part, decoder.decode(data, charset), decoder.notes, html_left)
            html_left -= min(len(data), limits.HTML_LENGTH) if kind == "text/html" else 0
            hidden.update(seen.hidden)
            shown = is_shown.get(id(part))
            alternatives.setdefault(shown, []).append(seen.text)
            if part.get_content_disposition() == "attachment":
                name = f"{name}\n{seen.text}"
            elif shown is not False:
                links += seen.links + LINK.findall(seen.text)
                bodies.append(seen.text)
        if name or not is_text:
            attachments.append(f"{_word(kind)} {name}")
    if _differ("\n".join(alternatives[True]), "\n".join(alternatives[False])):
        hidden.add("alternative")
    return {
        "body": "\n".join(bodies),
        "links": " ".join(dict.fromkeys(link.lower() for link in links)),
        "attachments": "\n".join(attachments),
        "hidden": " ".join(sorted(hidden)),
    }


def _seen(part: Message, text: str, notes: Notes, html_left: int) -> Seen:
    """Return what a reader sees of the text of a part."""
    seen = Seen(text, [], [])
    if part.get_content_type() == "text/html":
        found = visible_text(text) if html_left > 0 else None
        if found is None:
            notes["HTML read as plain text: it is too long or nested too deep"] = None
        seen = found or seen
    else:
        if str(part.get_param("delsp")).lower() == "yes":
            seen.text = re.sub(SOFT_BREAK, "", seen.text)
        seen.text = re.sub(UUENCODED, "", seen.text)
    seen.text, n = re.subn(REVERSED, _reversed, seen.text)
    seen.hidden += ["order"] * bool(n)
    return seen


def _alternatives(message: Message) -> dict[int, bool]:
    """Return of each part of alternatives, by its id, whether it is shown: HTML, or the last."""
    shown: dict[int, bool] = {}
    for whole in message.walk():
        if whole.get_content_type() != "multipart/alternative" or not whole.is_multipart():
            continue
        parts: Any = whole.get_payload()
        kinds = [{leaf.get_content_type() for leaf in part.walk()} for part in parts]
        ranks = [("text/html" in of, "text/plain" in of, i) for i, of in enumerate(kinds)]
        for part, rank in zip(parts, ranks, strict=True):
            for leaf in part.walk():
                shown[id(leaf)] = shown.get(id(leaf), True) and rank == max(ranks)
    return shown


def _differ(shown: str, other: str) -> bool:
    """Whether of two texts that ought to say the same neither has half of the other's words."""
    words, others = (
        {*re.findall(r"[^\W\d_]{2,}", re.sub(r"\S+://\S+", "", text).lower())}
        for text in (shown, other)
    )
    return bool(others) and 2 * len(words & others) < max(len(words), len(others))


def _reversed(found: re.Match[str]) -> str:
    return found[1][::-1]


def _payload(part: Message) -> tuple[bytes, str | None]:
    """Return a part's bytes, without their transfer encoding, and the charset it declares."""
    said = str(part.get("content-transfer-encoding", ""))
    if said and (plain := re.sub(r"\(.*|[^\w-]", "", said)) != said:
        part.replace_header("content-transfer-encoding", plain)
    try:
        payload, charset = part.get_payload(decode=True), part.get_content_charset()
    except Exception:  # noqa: BLE001  such as for an unknown charset in RFC 2231's form
        del part["content-type"], part["content-transfer-encoding"]
        payload, charset = part.get_payload(decode=True), None
    data = payload if isinstance(payload, bytes) else b""
    if not charset and part.get_content_type() == "text/html":
        meta = re.search(META, data[:2048])
        charset = meta[1].decode("latin-1") if meta else None
    return data, charset


def _file_name(part: Message, decoder: Decoder) -> str:
    try:
        name = part.get_param("filename", None, "content-disposition") or part.get_param("name")
        name = name or ""
        if isinstance(name, str):
            return decoder.header(name)
        return decoder.decode(name[2].encode("latin-1", "replace"), name[0])
    except Exception:  # noqa: BLE001  a broken parameter of RFC 2231 raises various errors
        return "broken_name"


def _word(name: str) -> str:
    """Return a name as one word, as x-mailer and text/html would be split in two."""
    return re.sub(r"\W", "_", name)


# --- Bytes of mail become text, by codecs whose time follows the length of the text --------------


# These are Python's names of codecs: of those that have other names too, and some more. Without
# another name are punycode and idna, which take time by the square of the length.
NO_TEXT = {
    "base64_codec", "bz2_codec", "hex_codec", "mbcs", "quopri_codec", "rot_13", "uu_codec",
    "zlib_codec",
}  # fmt: skip
LINEAR = {*aliases.values()} - NO_TEXT | {
    "cp720", "cp737", "cp856", "cp874", "cp875", "cp1006", "iso8859_1", "koi8_t", "koi8_u",
    "mac_arabic", "mac_croatian", "mac_farsi", "mac_romanian", "palmos", "utf_8_sig",
}  # fmt: skip


# Names that Python does not know, by their letters and digits.
ALSO = {
    "xmacchinesetrad": "big5", "xmacchinesesimp": "gb18030", "xmacce": "mac_latin2",
    "xmaccentraleurroman": "mac_latin2",
    "xmacukrainian": "mac_cyrillic", "koi": "koi8_r", "koi8": "koi8_r", "koi8ru": "koi8_u",
    "cngb": "gb2312", "cnbig5": "big5", "big5eten": "big5", "xeuc": "euc_jp", "eucgb": "gb2312",
    "msansi": "cp1252", "msee": "cp1250", "mscyrl": "cp1251", "msgreek": "cp1253",
    "msturk": "cp1254", "mshebr": "cp1255", "msarab": "cp1256", "cp20866": "koi8_r",
    "cp21866": "koi8_u", "cp51932": "euc_jp", "cp51949": "euc_kr", "cp54936": "gb18030",
    "cp65000": "utf_7", "cp943": "cp932", "cp970": "euc_kr", "cp1386": "gbk",
    "windows31j": "cp932", "ucs2": "utf_16", "iso10646ucs2": "utf_16", "unicode": "utf_16",
    "cp50220": "iso2022_jp", "cp50221": "iso2022_jp", "cp50222": "iso2022_jp",
}  # fmt: skip
PLATFORM = r"(?:x|cs|ms|microsoft|ibm|ccsid|win|windows|dos|oem|codepage|cp|ansi)+0*(\d{3,5})"
WIDER = {  # what programs write under the name of a part of it, the first that can be decoded
    "ascii": "utf_8", "latin_1": "cp1252", "iso8859_1": "cp1252", "iso8859_9": "cp1254",
    "iso8859_11": "cp874", "tis_620": "cp874", "gb2312": "gb18030", "gbk": "gb18030",
    "shift_jis": "cp932 shift_jis_2004", "euc_kr": "cp949", "big5": "cp950 big5hkscs",
    "euc_jp": "euc_jp euc_jis_2004",
    "iso2022_jp": "iso2022_jp iso2022_jp_ext iso2022_jp_2004 iso2022_jp_2",
}  # fmt: skip
SEVEN_BIT = {b"\x1b$)C": "iso2022_kr", b"\x1b$": "iso2022_jp", b"~{": "hz"}  # by what is in them
UTF_16 = (["utf_16"], ["utf_16_be"], ["utf_16_le"])
LATIN = ("cp1252", "iso8859_15", "cp1250", "iso8859_2", "cp1254", "cp1257")  # that mail is in
VAGUE = ("cp1252", "iso8859_15", "utf_8")  # are declared for unknown charsets
FEW = 10  # characters, of which one may be broken
CONTROLS = bytes({*range(32), 127} - set(b"\t\n\v\f\r\x0e\x0f\x1b"))  # of no charset of bytes


def decode(data: bytes, charset: str | None = None) -> str:
    """Decode a text by the charset that it has, which need not be the one that it declares."""
    return Decoder({}).decode(data, charset)


class Decoder:
    """Decodes the texts of one message, and notes what charsets it guesses."""

    # Bytes that are valid UTF-8 and not ASCII are UTF-8. Else they have the declared charset, if
    # they can be decoded by it and it is none that many declare who do not know; else one that
    # another text of the message has; else it is guessed, as that of files is.

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self._known: dict[str, str] = {}  # charsets of texts of this message, as they are called
        self._left = limits.GUESSES

    def decode(self, data: bytes, charset: str | None = None) -> str:
        """Return the text of some bytes, which declare a charset or none."""
        codec = _codec(charset) if charset else None
        names = WIDER.get(codec, codec).split() if codec else []
        is_wide = (len(data) - len(data.translate(None, CONTROLS))) * FEW > len(data)
        if is_wide or data[:2] in (b"\xff\xfe", b"\xfe\xff") or names[:1] in UTF_16:
            # The first of the two bytes of a letter has fewer values.
            order = "utf_16_be" if len({*data[::2]}) < len({*data[1::2]}) else "utf_16_le"
            text = None if data.isascii() and not is_wide else _decoded(data, [order])
            if text is not None:
                if not text.startswith("\ufeff") and names[:1] not in UTF_16:
                    self._note("utf-16")
                return text.removeprefix("\ufeff")
        if data.isascii():
            return self._of_ascii(data, names)
        text = _decoded(data, ["utf_8"])
        if text is not None:
            return text
        if names and names[0] not in VAGUE:
            text = _decoded(data, names)
            if text is None:
                broken = data.decode(names[0], "replace")
                others = re.sub(r"[\x00-\x7f]+", "", broken)
                text = broken if others.count("\ufffd") * FEW <= len(others) else None
        return self._guessed(data, (names or [""])[0], text)

    def _of_ascii(self, data: bytes, names: list[str]) -> str:
        """Decode bytes of ASCII, which may be those of a charset of seven bits."""
        is_said = names[:1] == ["utf_7"] or (names and names[0] in SEVEN_BIT.values())
        text = _decoded(data, names) if is_said else None
        for sign, name in SEVEN_BIT.items():
            if text is None and sign in data and (name != "hz" or b"~}" in data):
                text = _decoded(data, WIDER.get(name, name).split())
                if text is not None and not is_said:
                    self._note(name.replace("_", "-"))
        return data.decode("ascii") if text is None else text

    def _guessed(self, data: bytes, name: str, text: str | None) -> str:
        """Decode bytes as what they declare, where that fits them, or else as what they seem."""
        if text is not None and len(text) < len(data):  # many bytes would not fit another charset
            self._known[name] = name.replace("_", "-")
            return text
        for known, title in self._known.items():
            if name in ("", *VAGUE) and (found := _decoded(data, [known])) is not None:
                self._note(title)
                return found
        is_vague = name in ("", "utf_8")
        if self._left > 0:
            self._left -= 1
            from naively.kernels.encodings import guess, with_letters

            seems = guess([data[: limits.GUESSED]], name)
            if seems.encoding == "utf-8":
                return with_letters(data.decode("utf-8", "surrogateescape"))[0]
            if seems.script:
                self._known[seems.encoding] = seems.title
            is_found = seems.script or (seems.encoding in LATIN and (seems.is_sure or is_vague))
            if is_found and seems.encoding != name:
                self._note(seems.title)
                return data.decode(seems.encoding, "replace")
        if is_vague:
            self._note("windows-1252")
            name = "cp1252"
        return data.decode(name, "replace") if text is None else text

    def _note(self, title: str) -> None:
        self.notes[f"charset guessed: {title}"] = None

    def header(self, value: object) -> str:
        """Return a header, with its encoded words and raw bytes decoded."""
        text = self.decode(str(value).encode("utf-8", "surrogateescape"))
        if "=?" not in text:
            return text
        done, *pieces = re.split(r"=\?(?!=)", text)
        held, charset = b"", ""
        for piece in pieces:
            found = re.match(ENCODED, piece, re.IGNORECASE)
            data = _transferred(found[2], found[3]) if found else b""
            if not (found and data):
                done, held = f"{done}{self.decode(held, charset)}=?{piece}", b""
                continue
            if charset != found[1].lower():  # else a letter may be in two words
                done, held, charset = done + self.decode(held, charset), b"", found[1].lower()
            held += data
            if rest := piece[found.end() :].strip() and piece[found.end() :]:
                done, held = f"{done}{self.decode(held, charset)}{rest}", b""
        return done + self.decode(held, charset)


def _transferred(encoding: str, text: str) -> bytes:
    """Return the bytes of an encoded word; none if it is broken."""
    if encoding in "qQ":
        return a2b_qp(text.encode(), header=True)
    letters = re.sub("[^A-Za-z0-9+/]", "", text)
    return a2b_base64(letters + "=" * (-len(letters) % 4)) if len(letters) % 4 != 1 else b""


def _decoded(data: bytes, names: Iterable[str]) -> str | None:
    """Return a text by the first charset that it can be decoded by."""
    for name in names:
        try:
            text = data.decode(name)
        except ValueError:
            continue
        if name == "utf_7":  # it may hold halves of characters, which nothing can write
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text
    return None


@cache
def _names() -> dict[str, str]:
    """Return Python's names of charsets by the letters and digits of their names and aliases."""
    known = {name: name for name in LINEAR} | {a: n for a, n in aliases.items() if n in LINEAR}
    return {re.sub(r"[^a-z0-9]", "", alias): name for alias, name in known.items()} | ALSO


def _codec(charset: str) -> str | None:
    """Return Python's name of a charset, or None; to ask Python takes long for an unknown one."""
    if len(charset) > limits.CHARSET_LENGTH or not charset.isascii():
        return None
    usual = charset.lower().replace("-", "_")
    if (usual := aliases.get(usual, usual)) in LINEAR:
        return usual
    key, names = re.sub(r"[^a-z0-9]|^charset", "", charset.lower()), _names()
    page = re.fullmatch(PLATFORM, key)
    short = re.sub(r"^(?:x|cs|iso(?=latin))+", "", key) if page is None else f"cp{page[1]}"
    short = re.sub("^8859", "iso8859", short)
    begins = (of[:n] for of in (key, short) for n in range(len(of), 3, -1) if of[n - 1].isdigit())
    return names.get(key) or names.get(short) or next(filter(None, map(names.get, begins)), None)


# --- A message is taken apart into its headers and parts, within the limits of ``limits`` --------


LINE_END = re.compile(rb"\r\n|\r|\n")


class _BeyondLimitError(Exception):
    """The message has more parts than are taken apart, and is read as plain text."""


class _Part(Message):
    """A part of a message, which counts itself and its headers towards the limits."""

    def __init__(self, counts: SimpleNamespace) -> None:
        super().__init__()
        self.depth = 0
        self._counts = counts
        counts.parts += 1
        if counts.parts > limits.PARTS:
            raise _BeyondLimitError(f"more than {limits.PARTS:,} parts")

    def attach(self, payload: _Part) -> None:  # type: ignore[override]  # the parser makes no other
        payload.depth = self.depth + 1
        if payload.depth > limits.DEPTH:
            raise _BeyondLimitError(f"parts in parts, more than {limits.DEPTH} deep")
        super().attach(payload)

    def set_raw(self, name: str, value: str) -> None:
        """Add a header as the parser found it, or what of it is within the limits."""
        cut, counts, most = value, self._counts, limits.ALL_HEADERS_LENGTH
        if name.lower().startswith("content-"):
            parts = value[: limits.PARAMETERS_LENGTH].split(";", limits.SEMICOLONS)
            cut = ";".join(parts[: limits.SEMICOLONS])
        cut = cut[: max(0, min(limits.HEADER_LENGTH, most - counts.characters))]
        counts.characters += len(name) + len(cut)
        counts.fields += 1
        if len(cut) < len(value):
            counts.notes["long headers cut"] = None
        within = counts.characters <= most + limits.HEADER_LENGTH
        if within and counts.fields <= limits.HEADERS:
            super().set_raw(name, cut)
        else:
            beyond = f"headers beyond {limits.HEADERS:,} or {most:,} characters not read"
            counts.notes[beyond] = None


def take_apart(raw: bytes, notes: Notes) -> tuple[Message, list[Message] | None]:
    """Return the headers of a message, and its parts; None if it is to be read as plain text."""
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
    if len(raw) > limits.BYTES:
        notes[f"read to {limits.BYTES >> 20} MiB"] = None
        raw = raw[: limits.BYTES]
    if raw.count(b"\n") + raw.count(b"\r") > limits.LINES:
        for end in islice(LINE_END.finditer(raw), limits.LINES - 1, limits.LINES):
            notes[f"read to line {limits.LINES:,}"] = None
            raw = raw[: end.end()]
    return raw


def _parse(raw: bytes, notes: Notes, *, headers_only: bool = False) -> Message:
    counts = SimpleNamespace(parts=0, fields=0, characters=0, notes=notes)  # so far
    return BytesParser(lambda: _Part(counts)).parsebytes(raw, headersonly=headers_only)


# --- The messages that a message forwards as attachments, to be learned instead of it -------------


AS_IT_CAME = compat32.clone(max_line_length=0)  # headers are not folded anew


def forwarded(raw: bytes) -> list[bytes]:
    """Return the messages that are attached to a message."""
    message, _ = take_apart(within_limits(raw, {}), {})
    found = [inner.as_bytes(policy=AS_IT_CAME) for inner in _attached(message)]
    if not found:
        raise ValueError(
            "A message has no other attached to it. Forward as attachment, as mail that is "
            "forwarded as text has lost its headers."
        )
    return found


def _attached(message: Message) -> Iterator[Message]:
    """Yield the messages in a message, and not what is in these."""
    parts: Any = message.get_payload() if message.is_multipart() else ()
    for part in parts:
        if message.get_content_type() == "message/rfc822":
            yield part
        else:
            yield from _attached(part)
