"""The pages of the lectures: their things are counted as the table says, their exercises checked.

Their examples are doctests of the pages themselves.
"""

from __future__ import annotations

import ast
import doctest
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import lectures
from tests.test_docs import module_in

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
    assert without == []


# --- Exercises -----------------------------------------------------------------------------------

ANSWERED = re.compile(r'lectures\.check\("E(\d\.\d+)", .*\nE\1 is right\.$', re.MULTILINE)
ASKED = re.compile(
    r"^\*\*Exercise E(\d\.\d+)\.\*\* .*?\n\n<!-- hint: (.*?) -->", re.MULTILINE | re.DOTALL
)
CHECKED = pytest.mark.parametrize("exercise", lectures.EXERCISES)


def test_each_exercise_is_on_a_page_with_its_hint_and_an_answer_that_passes() -> None:
    # That the answer passes is what the page's doctest sees.
    assert all(6 <= len(ASKED.findall(page.read_text("utf-8"))) <= 10 for page in PAGES)
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert ASKED.findall(text) == [(exercise, exercise) for exercise in lectures.EXERCISES]
    assert ANSWERED.findall(text) == [*lectures.EXERCISES]


def known(exercise: str) -> list[str | float]:
    """Return the values of the right answer."""
    return lectures._listed(lectures.EXERCISES[exercise].answer())


def names(exercise: str) -> list[str | int]:
    """Return the names of its values, or their places where they have none."""
    answer = lectures.EXERCISES[exercise].answer()
    return [*answer] if isinstance(answer, dict) else [*range(len(known(exercise)))]


def as_words(value: str | float) -> str:
    return value if isinstance(value, str) else f"{float(value):.4g}"


@CHECKED
def test_an_answer_is_right_as_number_word_list_and_array(exercise: str) -> None:
    answer = known(exercise)
    words = [as_words(value) for value in answer]
    by_name = dict(zip(names(exercise), answer, strict=True))
    kinds = [words, tuple(answer), by_name, np.array([words])]
    kinds += [words[0], answer[0]] if len(answer) == 1 else []
    assert all(lectures.check(exercise, kind) for kind in kinds)
    assert lectures.check(exercise, [word.upper() for word in words])


@CHECKED
def test_another_answer_is_not_right_and_gets_the_hint(exercise: str) -> None:
    answer = known(exercise)
    for i, value in enumerate(answer):
        other = f"{value}s" if isinstance(value, str) else float(value) + 0.01 * (1 + abs(value))
        checked = lectures.check(exercise, [*answer[:i], other, *answer[i + 1 :]])
        assert not checked
        assert str(checked) == f"{exercise}: not yet. {lectures.hint(exercise)}"
    for wrong in (None, "nobody knows", [], [*answer, 1], math.nan):
        assert not lectures.check(exercise, wrong)


@CHECKED
def test_a_hint_does_not_give_it_away(exercise: str) -> None:
    hint = lectures.hint(exercise)
    answer = known(exercise)
    told = [*re.findall(r"[\d./]*\d", hint), *re.findall(r"\w+", hint)]
    alone = [value for value in answer if any(lectures._same(value, word) for word in told)]
    assert alone == []


def test_an_unknown_exercise_is_an_error_that_lists_the_known_ones() -> None:
    said = r"There is no exercise '9\.1'; there are E1\.1 to E1\.9, E2\.1 to E2\.9, E3\.1 to "
    for ask in (lectures.hint, lambda exercise: lectures.check(exercise, 1)):
        with pytest.raises(ValueError, match=said + r"E3\.9, E4\.1 to E4\.8, E5\.1 to E5\.9\."):
            ask("9.1")


@pytest.mark.parametrize(
    ("exercise", "right", "wrong"),
    [
        ("E3.8", 9.98e-5, 0.0001),
        ("5.9", {"yes": 9, "no": 4}, {"yes": 4, "no": 9}),
        ("5.9", [4, 9], {"first": 4, "second": 9}),
        ("E4.4", "a circle.", "a line"),
        ("E5.7", "NB", "LR"),
        ("E2.6", "74.3%", "74.3"),
        ("E5.6", 1.07, 1.06),
    ],
)
def test_answers_are_read_as_people_write_them(exercise: str, right: Any, wrong: Any) -> None:
    assert lectures.check(exercise, right)
    assert not lectures.check(exercise, wrong)


# Exact answers, by hand: no call of the library.
BY_HAND = {
    "1.1": Fraction(5, 7), "1.2": Fraction(108, 110), "1.5": Fraction(5, 7),
    "1.6": Fraction(1, 12), "1.7": Fraction(2, 3), "2.1": Fraction(9, 58), "2.5": Fraction(2, 11),
    "2.6": Fraction(9075, 12211), "2.8": Fraction(486, 125), "3.2": Fraction(4, 41),
    "3.3": Fraction(1, 108), "3.4": Fraction(2, 3), "3.5": Fraction(3, 7), "3.7": 3 * math.log(3),
    "4.2": 5 - math.log(10) / 6, "4.7": 10 / math.sqrt(2 * math.pi), "5.1": 2 * math.log(3),
}  # fmt: skip


@pytest.mark.parametrize("exercise", BY_HAND)
def test_the_library_finds_what_is_found_by_hand(exercise: str) -> None:
    assert float(known(exercise)[0]) == pytest.approx(float(BY_HAND[exercise]), rel=1e-12)


# --- Pages ---------------------------------------------------------------------------------------


def test_each_page_has_formulas_pictures_and_something_that_moves() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert text.count("$$") >= 20
        assert text.count("\n<!-- drawn -->\n") == 1
        assert text.count("\n>>> ax = ") >= 4
        assert "\n<!-- motion: " in text


def test_a_picture_is_drawn_by_the_code_above_it(tmp_path: Path) -> None:
    drawn = module_in(DOCS / "extensions" / "drawn.py")
    page = "# Page\n\n```python\n>>> from naively import Beta\n>>> 1 / 0\nTraceback (most recent"
    page += " call last):\nZeroDivisionError: division by zero\n\n```\n\n**1.1 A prior.**\n\n"
    page += "```python\n>>> ax = Beta(2, 3).plot()\n\n```\n"
    [(at, picture)] = drawn.draw(page, "some/page", tmp_path).items()
    assert page[at:].startswith("```python\n>>> ax = ")
    assert drawn.described(page, at) == "Picture of 1.1 A prior"
    assert picture.name == "some-page-1.svg"
    assert "Beta(a=2, b=3)" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_has_the_statements_of_its_page_and_exercises_to_fill_in(page: Path) -> None:
    notebooks = module_in(DOCS / "extensions" / "notebooks.py")
    text = page.read_text(encoding="utf-8")
    cells = notebooks.notebook(text)["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert code[0] == notebooks.FIRST
    before, exercises = text.split("\n## Exercises\n")
    shown = before + exercises.partition("**Exercise")[0]
    examples = doctest.DocTestParser().get_examples(shown)
    to_fill_in = [cell for cell in code if cell.startswith("answer = ...\n")]
    taught = [cell for cell in code[1:] if cell not in to_fill_in]
    theirs = "".join(example.source for example in examples)
    assert ast.dump(ast.parse("\n".join(taught))) == ast.dump(ast.parse(theirs))
    asked = [exercise for exercise, _ in ASKED.findall(exercises)]
    assert [re.findall(r"\d\.\d+", cell) for cell in to_fill_in] == [[one] for one in asked]
    assert " is right." not in json.dumps(cells)
    raising = [cell["source"] for cell in cells if "tags" in cell["metadata"]]
    assert raising == [example.source.strip() for example in examples if example.exc_msg]
    assert "<!--" not in json.dumps(cells)
