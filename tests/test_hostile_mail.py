"""Mail that took seconds, minutes or gigabytes to read, or was a way round the filter."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from encodings.aliases import aliases

import pytest

from naively.wings.mail import limits
from naively.wings.mail import message as charset
from naively.wings.mail import message as parts
from naively.wings.mail.html import visible_text
from naively.wings.mail.message import decode, read_message, take_apart, within_limits
from naively.wings.mail.score import words_of

MIB = 1 << 20


def multipart(*bodies: bytes) -> bytes:
    begin = b"Content-Type: multipart/mixed; boundary=x\n\n"
    return begin + b"".join(b"--x\n" + body + b"\n" for body in bodies) + b"--x--\n"


def many(begin: str, pattern: str, size: int = 100_000) -> bytes:
    """Return HTML of a pattern with a number in it."""
    text, i = [begin], 0
    while sum(map(len, text[-1:])) and len(text) * len(pattern) < size:
        text.append(pattern.format(i))
        i += 1
    return "".join(text).encode()


HTML = {
    "nested b": b"<b>" * 33_333,
    "nested div": b"<div>" * 20_000,
    "formats in paragraphs": many("", "<p><font size={}>x"),
    "closed in a comment": b"<dl>" * 10_000 + b"<!--" + b"</dl>" * 10_000,
    "attributes": many("<x ", "a{} ") + b">",
    "attributes of the body": many("", "<body a{}=1>"),
    "b made by what is replaced": many("", "<</b>b id={}><p>"),
    "unknown elements": many("", "<x{} style=color:red>"),
    "parts of lines in svg": b"<svg>" + b"<span>" * 15_000,
    "formats that end out of order": b"<i>" * 300
    + many("", "<p><font style=color:#{:06x}>x<b></font>"),
    "styles in formats": many("", "<b style='font-size:{}px'>", 60_000) + b"</b>x" * 8000,
    "links in links": many("", "<div><a style=color:#{:06x}>"),
}
STYLES = {
    "comments that do not end": "/*" * 50_000,
    "strings that do not end": '"\\' * 50_000,
    "strings of lines": "'\n" * 50_000,
    "blocks that do not end": "a{" * 50_000,
    "blocks that end": "}" * 100_000,
    "a long selector": "a" * 50_000 + " b{display:none}",
    "selectors": ",".join(f".c{i}" for i in range(12_000)) + "{display:none}",
    "spaces": "a{" + ";" + " " * 100_000 + "}",
    "digits": "a{font-size:" + "9" * 100_000 + "}",
    "escapes": "\\" * 100_000,
    "addresses": "url(" * 25_000,
    "a long value": "b{background:" + "x" * 50_000 + "}</style>" + "<b>" * 16_000,
    "much of one class": ".a{"
    + "color:red;opacity:1;" * 1000
    + "}</style>"
    + "<p class='a a'></p>" * 3000,
    "many selectors and declarations": ",".join(f".c{i}" for i in range(6000))
    + "{"
    + "color:red;" * 5000
    + "}",
    "many classes": "".join(f".c{i}{{color:red}}" for i in range(3000))
    + "</style><p class='"
    + " ".join(f"c{i}" for i in range(1500))
    + "'>",
}
HTML |= {f"style: {name}": f"<style>{text}".encode() for name, text in STYLES.items()} | {
    f"attribute: {name}": f'<p style="{text[:9000]}">x'.replace(">", "").encode() * 10 + b">"
    for name, text in STYLES.items()
}
HOSTILE = {
    "carriage returns": b"Subject: " + b"\r" * 80_000 + b"\n\nhi",
    "more carriage returns": b"Subject: x" + b"\r" * (8 * MIB),
    "punycode": b"Content-Type: text/plain; charset=punycode\n\n" + b"a-" * 400_000,
    "idna": b"Content-Type: text/plain; charset=idna\n\n" + b"a." * 500_000,
    "punycode of a parameter": multipart(
        *[b"Content-Type: text/plain; charset*=punycode''" + b"a-" * 900 + b"\n\nhi"] * 500
    ),
    "quotes": b"Content-Type: text/plain; " + b'"' * 120_000 + b"\n\nhi",
    "semicolons": multipart(*[b'Content-Type: text/plain; a="' + b';a"' * 400 + b"\n\nhi"] * 500),
    "parentheses": b"From: " + b"(" * 500 + b"a@b.example\n\nhi",
    "encoded words": b"Subject: " + b"=?a?q?" * 30_000 + b"\n\nhi",
    "charsets": b"".join(b"Subject: =?x%d?q?b?=\n" % i for i in range(20_000)) + b"\n",
    "headers": b"X-a: b\n" * 100_000 + b"\nhi",
    "lines": b"Subject: x\n\n" + b"a\n" * (2 * MIB),
    "parts": multipart(*[b"Content-Type: text/plain\n\nhi"] * 20_000),
    "parts in parts": b"Content-Type: multipart/mixed; boundary=x\n\n--x\n" * 5000,
    "messages in messages": b"Content-Type: message/rfc822\n\n" * 5000,
    "delivery status": b"Content-Type: message/delivery-status\n\n" + b"a: b\n\n" * 100_000,
    "words": b"Subject: x\n\n" + b" ".join(b"%x" % i for i in range(2 * MIB)),
    "bytes": b"Subject: x\n\n" + bytes(range(256)) * (32 * MIB // 256),
    "utf-7": b"Content-Type: text/plain; charset=utf-7\nContent-Transfer-Encoding: base64\n\n"
    + base64.encodebytes(b"+AAA-" * MIB),
    "forged": b"X-Naively-A: b\n" + b" \r" * (2 * MIB) + b"x",
} | {
    f"HTML: {name}": multipart(*[b"Content-Type: text/html\n\n" + soup] * 4)
    for name, soup in HTML.items()
}
READ = """
import resource, sys
from naively.wings.mail.message import read_message
from naively.wings.mail.score import words_of
from naively.wings.mail.headers import mark
raw = sys.stdin.buffer.read()
def size():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
read_message(b"Content-Type: text/html\\n\\n<p>hi")  # lexbor is loaded
limit = size() + (200 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
notes = {}
words = words_of(read_message(raw, {"a@b.example"}, notes))
mark(raw[:8 << 20], {"X-Naively-Class": "spam"})
print(len(words), *notes, sep="\\n")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="limits as Linux has them")  # noqa: PTH110
@pytest.mark.parametrize("name", HOSTILE)
def test_no_mail_takes_long_or_much_memory(name: str) -> None:
    # Each took from many seconds to forever, or gigabytes; each takes less than one second now.
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=HOSTILE[name],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["parentheses", "messages in messages", "HTML: nested b", "quotes"]
)
def test_what_was_a_way_round_the_filter_is_marked_and_noted(name: str, tmp_path) -> None:
    model, contacts = tmp_path / "m", tmp_path / "contacts"
    contacts.write_text("a@b.example")
    run = lambda *arguments, message=b"": subprocess.run(  # noqa: E731
        [sys.executable, "-m", "naively", *map(str, arguments)], input=message,
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    learn = "mail", "learn", model, "--contacts", contacts, "--as"
    run(*learn, "spam", message=b"Subject: pills\n\nhi")
    run(*learn, "ham", message=b"Subject: lunch\n\nat noon")
    done = run("mail", "filter", model, "--contacts", contacts, message=HOSTILE[name])
    assert done.stderr == b""
    assert b"\nX-Naively-Class: " in done.stdout
    assert (b"\nX-Naively-Note: " in done.stdout) == (name != "HTML: nested b")


def notes_of(raw: bytes) -> list[str]:
    notes: dict[str, None] = {}
    read_message(raw, {"a@b.example"}, notes)
    return list(notes)


def test_ordinary_mail_has_no_notes(spamassassin) -> None:
    mails = sorted((spamassassin / "spam").iterdir())
    noted = [note for file in mails for note in notes_of(file.read_bytes())]
    noted = [note for note in noted if not note.startswith("charset guessed: ")]
    assert noted == ["long headers cut"]  # a Content-Type of some 300 semicolons, in one


def parts_of(n: int) -> bytes:
    return multipart(*[b"\nhi"] * n)


@pytest.mark.parametrize(
    ("make", "limit", "note"),
    [
        (lambda n: b"x" * n, limits.BYTES, "read to 8 MiB"),
        (lambda n: b"\n" * n, limits.LINES, "read to line 150,000"),
        (lambda n: parts_of(n - 1), limits.PARTS, "read as plain text: more than 1,000 parts"),
        (lambda n: b"Content-Type: message/rfc822\n\n" * n, limits.DEPTH, "20 deep"),
        (lambda n: b"A: b\n" * n, limits.HEADERS, "headers beyond 5,000"),
        (lambda n: b"A: " + b"b" * n, limits.HEADER_LENGTH, "long headers cut"),
        (lambda n: b"Content-Type: " + b"b" * n, limits.PARAMETERS_LENGTH, "long headers cut"),
        (lambda n: b"Content-Type: " + b";" * (n - 1), limits.SEMICOLONS, "long headers cut"),
        (lambda n: b"From: " + b"b" * n, limits.SENDER_LENGTH, "sender not looked for"),
        (lambda n: b"From: " + b"(" * n, limits.COMMENTS, "sender not looked for"),
        (lambda n: b"\n" + b"x" * n, limits.TEXT_BYTES, "text read to 1 MiB"),
        (lambda n: b"Content-Type: text/html\n\n" + b"<p>" * n, 3161, "HTML read as plain text"),
    ],
)
def test_what_is_beyond_a_limit_is_noted(make, limit: int, note: str) -> None:
    assert not any(note in said for said in notes_of(make(limit)))
    assert any(note in said for said in notes_of(make(limit + 1)))


def test_what_is_beyond_is_read_as_plain_text_and_its_headers_are() -> None:
    deep = b"From: a@b.example\n" + b"Content-Type: message/rfc822\n\n" * 100 + b"the last words"
    row = read_message(deep, {"a@b.example"})
    assert "the last words" in str(row["body"])
    assert (row["sender"], row["sender_in_contacts"]) == ("a@b.example", True)


def test_text_is_cut_at_the_end_of_a_line() -> None:
    line = "é" * 50 + "\n"
    body = line * (limits.TEXT_BYTES // len(line.encode()) + 5)
    head = b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
    read = str(read_message(head + body.encode())["body"])
    assert set(read) == {"é", "\n"}
    assert len(read) % len(line) == 0
    assert len(read.encode()) <= limits.TEXT_BYTES


def test_html_of_all_parts_is_limited() -> None:
    part = b"Content-Type: text/html\n\n<p>V<b>IA</b>GRA" + b" " * limits.HTML_LENGTH
    body = str(read_message(multipart(*[part] * 5))["body"])
    assert body.count("VIAGRA") == 3
    assert body.count("V<b>IA</b>GRA") == 2


def test_only_the_first_words_are_looked_up() -> None:
    body = " ".join(f"word{i}" for i in range(limits.WORDS + 5))
    assert len(words_of({"body": body})) == limits.WORDS


@pytest.mark.parametrize(
    "soup",
    [
        "V<b></b>IA<font></font>GRA",
        "V<b>I<i>A</b>G</i>RA",
        "V<a x='>'>IAGRA",
        "V<x y>IA</x>G</z>RA",
    ],
)
def test_elements_within_a_word_do_not_part_it(soup: str) -> None:
    seen = visible_text(soup)
    assert (seen.text, seen.links) == ("VIAGRA", [])


def test_what_lexbor_refuses_is_read_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from selectolax.lexbor import SelectolaxError

    def refuse(_: str) -> None:
        raise SelectolaxError

    monkeypatch.setattr("selectolax.lexbor.LexborHTMLParser", refuse)
    assert visible_text("<p>x") is None


def test_codecs_are_those_that_python_has() -> None:
    for name in charset.LINEAR:
        assert decode(b"", name) == ""
        "".encode(name)
    for alias, name in aliases.items():
        if alias != alias.lower():  # Python does not find these either
            continue
        assert charset._codec(alias) == (name if name in charset.LINEAR else None)
        assert charset._codec(alias.upper().replace("_", "-")) == charset._codec(alias)
    others = ("punycode", "idna", "unicode_escape", "x" * 100, "é", "8bit", "", "unknown-8bit")
    assert {charset._codec(name) for name in others} == {None}
    for name in (*charset.ALSO.values(), *" ".join(charset.WIDER.values()).split()):
        assert name in charset.LINEAR
    assert decode(b"+2AA-", "utf-7").encode() == "\ufffd".encode()


def test_what_the_parser_cannot_do_is_read_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(parts, "_parse", fail)
    notes: dict[str, None] = {}
    found, none = take_apart(b"Subject: x\n\nhi", notes)
    assert (list(found.items()), none) == ([], None)
    assert list(notes) == ["read as plain text: it cannot be parsed"]
    assert within_limits(b"hi", notes) == b"hi"
