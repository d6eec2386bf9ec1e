"""The pages of the lectures: their things are numbered, and counted as the table says.

Their examples are doctests of the pages themselves.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted((DOCS / "lectures").glob("*.md"))
THING = re.compile(r"^\*\*(\d+)\.(\d+) (.*?)(?=^\*\*\d|^#|\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| \d\. .*?\((lectures/[\w-]+\.md)\).*?\|(.*)\|$", re.MULTILINE)
KINDS = ("*Awkward:*", "*Missing:*")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_table_counts_what_a_page_holds(page: Path) -> None:
    things = THING.findall(page.read_text(encoding="utf-8"))
    assert [(lecture, int(n)) for lecture, n, _ in things] == [
        (page.stem[0], n) for n in range(1, len(things) + 1)
    ]
    awkward, missing = (sum(kind in text for *_, text in things) for kind in KINDS)
    table = dict(ROW.findall((DOCS / "lectures.md").read_text(encoding="utf-8")))
    said = [int(cell) for cell in table[f"lectures/{page.name}"].split("|")]
    assert said == [len(things), len(things) - awkward - missing, awkward, missing]


def test_things_have_code() -> None:
    without = [
        f"{lecture}.{n}"
        for page in PAGES
        for lecture, n, text in THING.findall(page.read_text(encoding="utf-8"))
        if ">>> " not in text
    ]
    assert without == ["5.33"]  # Spark, whose examples tests/spark runs
