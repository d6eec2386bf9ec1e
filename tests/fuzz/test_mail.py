"""Any mail is read within limits, marked without a loss, and can be taken back once learned."""

from __future__ import annotations

import email
import random
import re

from selectolax.lexbor import LexborHTMLParser

from naively.wings.mail import limits
from naively.wings.mail.headers import mark
from naively.wings.mail.html import visible_text
from naively.wings.mail.learn import MailBatch, corrected
from naively.wings.mail.message import COLUMNS, CONTACTS, read_message
from naively.wings.mail.score import Verdict, words_of
from naively.wings.mail.table import MailTable
from tests.fuzz import fuzz
from tests.fuzz.mail import html, message, noise

HEADERS = {"X-Naively-Class": "spam", "X-Naively-Note": "one,\n two"}


def test_any_mail_is_read() -> None:
    def check(chance: random.Random) -> None:
        raw = message(chance)
        notes: dict[str, None] = {}
        row = read_message(raw, {"a@b.example"}, notes)
        assert {*row} == {*COLUMNS, CONTACTS}
        assert all(isinstance(row[name], str) for name in COLUMNS)
        assert row == read_message(raw, {"a@b.example"})
        "".join(str(text) for text in row.values()).encode()  # no half of a character
        words = words_of(row)
        assert len(set(words)) == len(words) <= limits.WORDS
        assert all(note.isascii() and note.isprintable() for note in notes)
        assert not any("cannot be parsed" in note for note in notes)

    fuzz(check, times=150)


def test_any_mail_is_marked_and_kept() -> None:
    def check(chance: random.Random) -> None:
        raw = message(chance) if chance.random() < 0.5 else noise(chance, 200) + message(chance)
        marked = mark(raw, HEADERS)
        read = email.message_from_bytes(marked)
        assert read.get_all("X-Naively-Class") == ["spam"]
        assert not read["X-Naively-Probability"]
        _, *body = re.split(rb"\n(?=\r*\n)", raw, maxsplit=1)
        assert not body or body[0] in marked
        if b"x-naively" not in raw.lower():
            begin, end = re.split(
                rb"X-Naively-Class: spam\r?\nX-Naively-Note: one,\r?\n two", marked
            )
            # Headers that are cut off get a line end; where there are none, an empty line is added.
            assert (begin + re.sub(rb"^\r?\n", b"", end)).strip(b"\r\n") == raw.strip(b"\r\n")

    fuzz(check, times=150)


def test_what_is_parsed_of_html_has_no_more_elements_than_tags(monkeypatch) -> None:
    parsed = []

    class Counted(LexborHTMLParser):
        def __init__(self, text: str) -> None:
            super().__init__(text)
            parsed.append((text, len(self.css("*"))))

    monkeypatch.setattr("selectolax.lexbor.LexborHTMLParser", Counted)

    def check(chance: random.Random) -> None:
        soup = html(chance, chance.choice([100, 1000, 10_000, 100_000]))
        parsed.clear()
        visible_text(soup)
        for text, elements in parsed:
            # A table makes rows and bodies that nobody wrote; html, head and body are always there.
            assert elements <= 4 * text.count("<") + 3

    fuzz(check, times=60)


def test_any_mail_that_is_learned_can_be_taken_back() -> None:
    def check(chance: random.Random) -> None:
        batch = [(read_message(message(chance)), chance.choice(["ham", "spam"])) for _ in range(3)]
        before = table = MailTable.empty(remembers=chance.random() < 0.5)
        for forget in (False, True):
            counted = MailBatch(table.known() if table.remembers else None, forget=forget)
            for row, label in batch:
                counted.add(row, label)
            table = MailTable.from_bytes(corrected(table, counted).to_bytes())
            table.check()
            if not forget:
                assert 0 <= Verdict(table, words_of(batch[0][0])).probability <= 1
        assert table.to_bytes() == before.to_bytes()

    fuzz(check, times=40)
