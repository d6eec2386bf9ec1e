"""Hostile texts in results: a terminal shows them, and CSV and JSON give them back."""

from __future__ import annotations

import csv
import io
import json
import random

import pytest

from naively.wings.cli import shared as output
from naively.wings.cli.options import Format
from tests.fuzz import fuzz
from tests.test_terminal import HOSTILE, Terminal, harmless

PIECES = [
    *HOSTILE, "\x1b[", "\x9d", "\x90q", "[/]", "[", "]", "[bold", "\\[", ":", ":x:", "'", '"', ",",
    "\n", "\r\n", "\r", "\t", "\0", "\x7f", " ", "", "\ufeff", "\u200b", "日本", "é", "\ud800",
]  # fmt: skip


def test_any_text_is_shown_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "2000")

    def text(chance: random.Random) -> str:
        drawn = "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(3)))
        return "".join(chance.choices(PIECES, k=chance.randrange(5))) + drawn

    def check(chance: random.Random) -> None:
        rows = [[text(chance) for _ in range(3)] for _ in range(1 + chance.randrange(3))]
        names, *rest = rows
        names = [f"{i}{name}" for i, name in enumerate(names)]  # JSON's are distinct
        for form in Format:
            screen, pipe = Terminal(newline=""), io.StringIO(newline="")
            output.write(names, rest, form, screen)
            assert harmless(screen.getvalue())
            output.write(names, rest, form, pipe)
            lines = pipe.getvalue()
            if form is Format.csv:
                assert list(csv.reader(io.StringIO(lines, newline=""))) == [names, *rest]
            elif form is Format.json:
                records = [json.loads(line) for line in lines.splitlines()]
                assert records == [dict(zip(names, row, strict=True)) for row in rest]
                assert screen.getvalue() == lines

    fuzz(check, 100)
