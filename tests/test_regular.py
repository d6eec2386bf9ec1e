"""Regular expressions of tokens: the usual ones are taken, those that can stall are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes, Patterns, Text, load
from naively.schema.text import PATTERNS, RUN, bounded, compile_bounded
from tests.damage import rewrite

PATTERN = r"[a-z]+"
TAKEN = [
    *(r"(?u)\b\w\w+\b", r"\b\w+\b", r"[a-zA-Z]+", r"\S+", r"[^ ]+", r"\w+|[^\w\s]", r"[\w'-]+"),
    *(r"\b\w+(?:-\w+)*\b", r"\d\d:\d\d", r"\w+ing\b", r"\d+\.\d+|\w+", r"[A-Za-z]+'?s?\b"),
    "[α-ω]+",
    *(r"\w+@\w+\.\w+", r"(?i)[a-z]+", r"\d+\s*(?:kg|lb)", r"(?<!\w)\w+", r"\w+(?=\s|$)", r"(.)\1+"),
    *(r"<[^>]{0,200}>", r"[\s\S]+", ".", r"(\w+)\b", r"(?:[A-Z]\.)+", r"https?://\S+|\w+", r"a++b"),
    *(r"\$\d+(?:,\d{3})*(?:\.\d\d)?", r"\w+|\$[\d\.]+|\S+", r"(?x) \w + ", r"(?>\w+)'", r"\w{3,}"),
]  # fmt: skip
REFUSED = [
    *("(x+x+)+y", "(a|a)*b", "(a|aa)+$", "(.*)*x", "(?:a?){30}a{30}", r"(\w+\s?)*$", "(.*?,){11}P"),
    *(r"\s*\s*\s*x", ".*.*.*x", r"[\s\S]*Z", "(?:a|a)" * 12 + "b", "a{1,60}" * 9 + "b", r"(\w*)*1"),
    *(r"(?=\w*x)\w", "([a-z]+)*=", r"(?:\w+x)+y", "(?:a|b|ab)*c", "(a*)*", "(a?b?)*c", "(?i:a+)+b"),
    *("((a{1,5}){1,5}){1,5}c", "(|a)+b", "[α-ω]*β+σ", "(" * 400 + "a" + ")" * 400, r"(a+)\1+b"),
    *("(?:[†-Ⅷ]+№?)+x", "(?i)(?:a+A?)+b", "x" * 1001, "(" * 30 + "a" + ")" * 30),
]  # fmt: skip


@pytest.mark.parametrize("pattern", TAKEN)
def test_what_is_usual_is_taken(pattern: str) -> None:
    Text(token_pattern=pattern)
    Patterns(more={"x": pattern})


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda pattern: pattern[:30])
def test_what_can_stall_is_refused_in_one_sentence(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"could take for ever|has more than") as e:
        Text(token_pattern=pattern)
    assert "\n" not in str(e.value)
    with pytest.raises(ValueError, match="The pattern 'x', "):
        Patterns(more={"x": pattern})


@given(st.text(alphabet="ab \n.", max_size=3 * RUN))
def test_a_text_is_bounded_where_a_run_is_long(text: str) -> None:
    found = bounded(text)
    assert max(map(len, found.split()), default=0) <= RUN
    assert "".join(found.split()) == "".join(text.split())
    if max(map(len, text.split()), default=0) < RUN and " " * RUN not in text:
        assert found == text


def test_words_and_spaces_are_cut() -> None:
    assert bounded("a" * RUN * 3) == ("a" * RUN + " ") * 3
    assert bounded("a" + " \n" * RUN + "b") == "a" + " \n" * (RUN // 2) + "b"


@pytest.mark.parametrize("pattern", TAKEN)
def test_a_long_text_is_done(pattern: str) -> None:
    """What took hours takes a second, of a text that each pattern likes least."""
    find = compile_bounded(pattern, "x").findall
    for text in ("x", "1", " ", "a-", "1.", "a@", "1 ", "<"):
        find(bounded(text * (40_000 // len(text))))


def test_patterns_of_its_own_are_done_with_a_long_run() -> None:
    assert "long word" in PATTERNS
    assert Patterns().tokens("x" * 100_000).count("pattern:long word") == 391


def test_a_pattern_of_a_file_does_not_stall(tmp_path: Path) -> None:
    path = tmp_path / "model.naively"
    texts = ["one two", "three four"]
    NaiveBayes(Text(token_pattern=PATTERN)).fit(texts, ["a", "b"]).save(path)
    assert load(path).predict(texts).tolist() == ["a", "b"]

    def change(header: dict, _: object) -> None:
        header["groups"][0]["analyser"] |= {"token_pattern": "(x+x+)+y"}

    rewrite(path, change)
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"text": "x" * 60}) + "\n")
    command = [sys.executable, "-m", "naively", "predict", path, data]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    said = "model.naively is damaged: groups[0]: token_pattern '(x+x+)+y' could take for ever"
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
