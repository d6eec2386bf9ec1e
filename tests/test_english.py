"""Sentences begin with what they speak of: "A withdrawn row is subtracted", not "Who withdraws"."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST = "Of|Who|Whoever|Whom|Whose"
BACKWARD = re.compile(rf"(?:^|[.!?] )(?:[-*#\d.]+ |\*\*)*((?:{FIRST}) [^?]*?)(?:[.!]|$)")
PERSON = re.compile(r"[Mm]odels? (?:(?:do|does) not |no longer )?knows?\b|[Nn]obody knows")
NO_PROSE = re.compile(r"<!--.*?-->|```.*?```|\$\$.*?\$\$", re.DOTALL)


def of_page(page: Path) -> Iterator[str]:
    """Yield the paragraphs, and the cells of tables, of a page."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*[-*|#] )", NO_PROSE.sub("\n\n", page.read_text())):
        yield from paragraph.split("|") if paragraph.startswith("|") else [paragraph]


def of_module(module: Path) -> Iterator[str]:
    """Yield the comments, the docstrings and the other strings of a module."""
    text = module.read_text()
    yield from re.findall(r"(?:^ *# .*\n)+", text, re.MULTILINE)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.strip() != token.string:
            yield token.string
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # What a parameter is of may be said without a sentence: "Of the log odds."
            yield from re.split(r"\n\s*\n|\n *(?:Of|Whose) [^\n]*", node.value)


def backward(text: str) -> list[str]:
    """Return sentences that begin with what something is of, or with who, or with what knows."""
    found = " ".join(re.sub(r"^ *# ?", "", text, flags=re.MULTILINE).split())
    return [] if ">>>" in found else BACKWARD.findall(found) + PERSON.findall(found)


def test_a_sentence_of_every_kind_is_found() -> None:
    assert backward("It is so.\nWho has it, reads it.") == ["Who has it, reads it"]
    assert backward("# Of many rows\n# few come.") == ["Of many rows few come"]
    assert backward("- Of two, one that a model knows.")[1] == "model knows"
    assert not backward("Who is it? Which of the rows?")


@pytest.mark.parametrize("folder", ["docs", "examples", "src", "benchmarks", "."])
def test_no_sentence_is_backward(folder: str) -> None:
    pages = [*(ROOT / folder).glob("*.md" if folder == "." else "**/*.md")]
    modules = [] if folder == "." else [*(ROOT / folder).glob("**/*.py")]
    made = {"_build", "gallery"}  # by the examples
    pages, modules = ([of for of in some if not made & {*of.parts}] for some in (pages, modules))
    texts = [
        *((page, text) for page in pages for text in of_page(page)),
        *((module, text) for module in modules for text in of_module(module)),
    ]
    found = [f"{at.relative_to(ROOT)}: {one}" for at, text in texts for one in backward(text)]
    assert texts
    assert not found, "\n".join(found)
