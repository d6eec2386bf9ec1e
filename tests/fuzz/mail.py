"""Mail as an enemy would write it: each piece is legal somewhere, and all of it too much."""

from __future__ import annotations

import base64
import quopri
import random

CHARSETS = [
    "utf-8", "us-ascii", "iso-8859-1", "windows-1252", "koi8-r", "utf-7", "utf-16", "utf-32",
    "iso-2022-jp", "iso-2022-kr", "gb18030", "big5", "hz", "punycode", "idna", "unicode_escape",
    "raw_unicode_escape", "undefined", "base64", "rot13", "zlib", "mbcs", "no-such", "\0", "",
    "x" * 500, "utf-8\r\n x", "'utf-8'", '"utf-8', "cp037", "..", "é",
]  # fmt: skip
TYPES = [
    "text/plain", "text/html", "text/", "multipart/mixed", "multipart/alternative", "text",
    "multipart/digest", "message/rfc822", "message/delivery-status", "message/partial",
    "message/external-body", "application/octet-stream", "image/png", "multipart/", "/", "",
]  # fmt: skip
ENCODINGS = ["7bit", "8bit", "base64", "quoted-printable", "x-uuencode", "binary", "none", "\xff"]
NAMES = [
    "From", "To", "Cc", "Subject", "Sender", "Reply-To", "Received", "Message-ID", "X-Mailer",
    "X-Naively-Class", "x-naively-probability", "Content-Disposition", "Content-Type", "X-\xff",
    "Content-Transfer-Encoding", "Status", "Odd name", "", "From ", ">From ", "a" * 300,
]  # fmt: skip
TOKENS = [
    b"(", b")", b"<", b">", b'"', b"\\", b",", b";", b":", b"@", b"=?", b"?=", b"?q?", b"?b?",
    b"=?utf-8?q?=C3=A9?=", b"=?punycode?b?YS1h?=", b"=?idna?q?xn--?=", b"a@b.example", b"\r",
    b"\n ", b"\r\n\t", b"\0", b"\xff", b"\xc3\xa9", b" ", b"cheap", b"*0*=", b"%41", b"''", b"[",
    b"]", b"=", b"Group:", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
]  # fmt: skip
TAGS = [
    "a", "b", "i", "font", "nobr", "code", "big", "div", "p", "table", "tr", "td", "caption", "ul",
    "li", "dl", "dd", "select", "option", "button", "form", "svg", "math", "mi", "template",
    "script", "style", "title", "textarea", "frameset", "plaintext", "h1", "body", "html", "head",
    "object", "marquee", "ruby", "rt", "x", "br", "img", "wbr", "noscript", "iframe",
]  # fmt: skip


STYLE = [
    "display:none", "visibility:hidden", "visibility:visible", "opacity:0", "font-size:0", ";", "{",
    "}", "/*", "*/", "'", '"', "\\", "!important", ".a", "#a", "p", "*", ",", ">", ":", "@media ",
    "screen", "print", "url(", ")", "color:#fff", "background:", "rgba(0,0,0,0)", "-9999px",
    "text-indent:", "<!--", "\n", " ", "transparent", "font:", "1e9", "1" * 30,
]  # fmt: skip


def repeated(chance: random.Random, most: int) -> int:
    """Return how often something comes: a few times mostly, and now and then too often."""
    return chance.randrange(1, most) if chance.random() < 0.1 else chance.randrange(1, 5)


def html(chance: random.Random, size: int) -> str:
    """Return soup of tags."""
    few = chance.sample(TAGS, chance.randrange(1, 8))
    out: list[str] = []
    for i in range(size // 8):
        tag = chance.choice(few)
        out.append(
            chance.choice(
                [
                    f"<{tag}>", f"<{tag}>", f"</{tag}>", f"<{tag} id={i}>", f"<{tag}/>",
                    f"<{tag} href='http://h{i}/'>", f"<{tag} x='</{tag}>'>", f"<!--</{tag}>-->",
                    f"<style>{style(chance)}</style>", f"<{tag} class=a style='{style(chance)}'>",
                    f"<<{tag}>", f"</<{tag}>{tag}>", f"<{tag}\n", "word ", "<!--", "-->", "&amp;",
                    "'", '"', ">", "<![CDATA[",
                ]
            )
        )  # fmt: skip
    return "".join(out)


def style(chance: random.Random) -> str:
    """Return what a parser of style sheets looks for."""
    return "".join(chance.choices(STYLE, k=repeated(chance, 100)))


def noise(chance: random.Random, most: int) -> bytes:
    """Return tokens that parsers look for."""
    few = chance.sample(TOKENS, chance.randrange(1, 6))
    return b"".join(chance.choice(few) for _ in range(repeated(chance, most)))


def header(chance: random.Random, size: int) -> bytes:
    name = chance.choice(NAMES).encode("latin-1")
    return name + b": " + noise(chance, size) + chance.choice([b"\n", b"\r\n", b"\r", b""])


def part(chance: random.Random, size: int, depth: int = 0) -> bytes:
    """Return a part, or a message, with parts in it."""
    kind = chance.choice(TYPES)
    end = chance.choice([b"\n", b"\n", b"\r\n"])
    charset = chance.choice(CHARSETS)
    boundary = chance.choice(["x", f"b{depth}", "", "(" * chance.randrange(1, 200)])
    lines = [header(chance, size) for _ in range(repeated(chance, 40))]
    said = f'Content-Type: {kind}; charset={charset}; boundary="{boundary}"'
    if chance.random() < 0.2:
        said = (
            f"Content-Type: {kind}; charset*={charset}''{'a-' * chance.randrange(300)}; name*0*=a"
        )
    lines.append(said.encode("utf-8", "replace") + end)
    encoding = chance.choice(ENCODINGS)
    lines.append(b"Content-Transfer-Encoding: " + encoding.encode("latin-1") + end)
    chance.shuffle(lines)
    head = b"".join(lines)
    if kind.startswith("multipart/") and depth < 40:
        mark = end + b"--" + boundary.encode() + end
        within = [part(chance, size, depth + 1) for _ in range(chance.choice([0, 1, 1, 1, 2]))]
        return head + end + mark + mark.join(within) + chance.choice([mark, mark[:-1] + b"--", b""])
    if kind.startswith("message/") and depth < 40:
        return head + end + part(chance, size, depth + 1)
    body = html(chance, size).encode() if kind == "text/html" else noise(chance, size)
    if encoding == "base64":
        body = base64.encodebytes(body)
    elif encoding == "quoted-printable":
        body = quopri.encodestring(body)
    return head + end + body


def mutated(chance: random.Random, raw: bytes) -> bytes:
    """Return it with some bytes changed, moved, doubled or cut out."""
    out = bytearray(raw)
    for _ in range(chance.randrange(4)):
        a, b = sorted(chance.randrange(len(out) + 1) for _ in range(2))
        what = chance.randrange(4)
        if what == 0 and out:
            out[a % len(out)] ^= 1 << chance.randrange(8)
        elif what == 1:
            del out[a : min(b, a + 50)]
        elif what == 2:
            out[a:a] = out[a : min(b, a + 200)] * repeated(chance, 20)
        else:
            out[a:a] = noise(chance, 20)
    return bytes(out)


def message(chance: random.Random) -> bytes:
    """Return one message."""
    size = chance.choice([20, 200, 2000, 2000, 20_000])
    return mutated(chance, part(chance, size))
