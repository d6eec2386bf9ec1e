"""What a reader sees decides: hidden text changes no word but those that say that it is there."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.wings.mail import html
from naively.wings.mail.html import visible_text
from naively.wings.mail.message import read_message
from naively.wings.mail.score import Verdict, words_of
from naively.wings.mail.table import MailTable
from tests.hidden_text import SHOWN, TRICKS, WITHIN_WORDS

SEEN = ["cheap", "pills", "buy", "now", "offer", "price"]
OTHER = ["lunch", "noon", "meeting", "minutes"]
TABLE = MailTable.empty().add(
    dict.fromkeys(SEEN, (1, 9)) | dict.fromkeys(OTHER, (9, 1)) | {"hidden:style": (1, 3)}, (10, 10)
)
words_seen = st.lists(st.sampled_from(SEEN), min_size=1, max_size=5)
words_hidden = st.lists(st.sampled_from(OTHER), min_size=1, max_size=5)


def message(body: str, subject: str = "offer") -> bytes:
    head = f"Subject: {subject}\nContent-Type: text/html; charset=utf-8\n\n<html><body>"
    return f"{head}{body}</body></html>".encode()


def words(body: str) -> list[str]:
    return words_of(read_message(message(body)))


def without_evidence(found: list[str]) -> set[str]:
    return {word for word in found if not word.startswith("hidden:")}


def hidden(found: list[str]) -> set[str]:
    return {word.removeprefix("hidden:") for word in found if word.startswith("hidden:")}


@pytest.mark.parametrize("name", TRICKS)
@given(seen=words_seen, other=words_hidden)
def test_words_that_style_hides_are_no_words(name: str, seen: list[str], other: list[str]) -> None:
    plain, trick = " ".join(seen), TRICKS[name].replace("TEXT", " ".join(other))
    found, right = words(f"{plain} {trick} {plain}"), words(f"{plain} {plain}")
    assert without_evidence(found) == set(right)
    assert hidden(found) == ({"style"} if name != "title" else set())
    evidence = [f"hidden:{kind}" for kind in hidden(found)]
    assert Verdict(TABLE, found).probability == pytest.approx(
        Verdict(TABLE, right + evidence).probability, abs=1e-12
    )


@pytest.mark.parametrize("name", SHOWN)
def test_words_that_are_seen_are_words(name: str) -> None:
    found = words(f"<p>cheap</p> {SHOWN[name].replace('TEXT', 'lunch')}")
    assert {"cheap", "lunch"} <= set(found)
    assert hidden(found) == set()


@pytest.mark.parametrize("piece", WITHIN_WORDS, ids=ascii)
@given(seen=words_seen, seed=st.integers(0, 99))
def test_what_shows_nothing_parts_no_word(piece: str, seen: list[str], seed: int) -> None:
    chance = random.Random(seed)
    places = [chance.randrange(1, len(word)) for word in seen]
    woven = " ".join(f"{w[:i]}{piece}{w[i:]}" for w, i in zip(seen, places, strict=True))
    found, right = words(woven), words(" ".join(seen))
    assert without_evidence(found) == set(right)
    assert hidden(found) == {WITHIN_WORDS[piece]}


@pytest.mark.parametrize("piece", [p for p, kind in WITHIN_WORDS.items() if kind == "zero_width"])
def test_characters_without_a_width_part_no_words_of_plain_text_and_subjects(piece: str) -> None:
    raw = f"Subject: ch{piece}eap\n\npi{piece}lls and {piece} more".encode()
    found = words_of(read_message(raw))
    assert {"subject:cheap", "pills", "and", "more", "hidden:zero_width"} <= set(found)
    raw = f"Subject: cheap\n\npills {piece} and{piece} {piece}more".encode()
    assert hidden(words_of(read_message(raw))) == set()


@pytest.mark.parametrize(
    "text",
    ["\u0645\u06cc\u200c\u062e\u0648\u0627", "क्\u200dष", "👩\u200d💻", "1\ufe0f\u20e3", "❤\ufe0f"],
)
def test_joiners_that_a_script_needs_hide_nothing(text: str) -> None:
    assert hidden(words(f"a {text} b")) == set()


def test_nothing_that_is_seen_is_evidence_of_hiding() -> None:
    body = "V<b>IA</b>GRA <!-- x --> <i></i> a&nbsp;b<br><img src='http://a.example/x'><o:p></o:p>"
    assert hidden(words(body)) == set()
    assert hidden(words("<p style='display:none'>&nbsp;&zwnj;</p>x")) == set()


def test_words_with_a_blank_between_them_are_two() -> None:
    assert words("by<font color=white> lunch </font>clicking")[1:3] == ["by", "clicking"]
    assert words("by<span style='display:none'> lunch </span>clicking")[1] == "byclicking"


def test_links_that_nobody_sees_are_no_links() -> None:
    seen = visible_text("<a href='http://a.example'>x</a><div hidden><a href='http://b.example'>y")
    assert seen.links == ["a.example"]


def test_what_ends_out_of_its_place_is_looked_for_within_a_limit(monkeypatch) -> None:
    body = "<font color=white>" + "<b>" * 50 + "</font>seen"
    assert visible_text(body).text == "seen"
    monkeypatch.setattr(html, "MISNESTED", 10)
    assert visible_text(body).text == ""
