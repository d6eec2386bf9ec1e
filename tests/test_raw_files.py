"""Raw files are taken for what a person would take them, and learned from."""

from __future__ import annotations

from pathlib import Path

import pytest

from naively import columns
from naively.data.files import FileOptions, opened, read
from tests.test_cli import ok

RAW = Path(__file__).parent / "raw"
FILES: dict[str, tuple[bool, str, dict[str, str]]] = {  # whether it has a header, label, columns
    "wohnungen.csv": (
        True,
        "Zustand",
        {
            "Straße": "text",
            "PLZ": "levels",
            "Fläche": "number",
            "Miete": "number",
            "Bezug": "time",
            "Zimmer": "number",
            "Balkon": "levels",
            "Note": "number",
        },
    ),
    "heart.data": (
        False,
        "column 8",
        {
            "column 1": "number",
            "column 2": "levels",
            "column 3": "number",
            "column 4": "number",
            "column 5": "number",
            "column 6": "levels",
            "column 7": "levels",
        },
    ),
    "orders.txt": (
        False,
        "column 9",
        {
            "column 1": "number",
            "column 2": "levels",
            "column 3": "number",
            "column 4": "time",
            "column 5": "clock",
            "column 6": "number",
            "column 7": "levels",
            "column 8": "levels",
        },
    ),
    "survey.csv": (
        True,
        "opinion",
        {
            "column1": "number",
            "member": "text",
            "joined": "time",
            "age": "number",
            "share": "number",
            "visits": "number",
            "newsletter": "truth",
            "club": "levels",
        },
    ),
    "mill.arff": (
        True,
        "state",
        {
            "oil temp": "number",
            "vibration": "number",
            "shift": "levels",
            "serviced": "time",
            "remark": "text",
        },
    ),
}
CELLS = {  # of the first row
    "wohnungen.csv": {"Straße": "Müllerweg 109", "Fläche": 84.5, "Miete": 989.1, "Note": 2.3},
    "heart.data": {"column 1": 48, "column 4": 0.5},
    "orders.txt": {
        "column 2": r"gasket C:\new",
        "column 5": 12 * 3600 + 54 * 60,
        "column 8": "all is well\nby post",
    },
    "survey.csv": {"member": "Chloé Øster, 4th", "share": 42, "visits": 3301, "newsletter": True},
    "mill.arff": {"remark": "as ever, motor 13"},
}


@pytest.mark.parametrize("name", FILES)
def test_each_column_is_what_a_person_would_take_it_for(name: str) -> None:
    header, label, expected = FILES[name]
    with opened(RAW / name, labels=label, file=FileOptions(header=header)) as stream:
        found = columns(stream, target=label).to_dict()
    assert dict(zip(found["column"], found["content"], strict=True)) == {
        **expected,
        label: "levels",
    }


@pytest.mark.parametrize("name", FILES)
def test_the_first_row_is_read(name: str) -> None:
    header, label, _ = FILES[name]
    rows = read(RAW / name, labels=label, file=FileOptions(header=header)).values
    assert {column: rows[column].tolist()[0] for column in CELLS[name]} == CELLS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_demo_learns_from_it(name: str) -> None:
    header, label, expected = FILES[name]
    options = [] if header else ["--no-header"]
    shown = ok("demo", RAW / name, "--target", label, *options)
    scores = [
        line.split()[-3:] for line in shown.splitlines() if line.startswith("  NaiveBayes() ")
    ]
    always = [line.split()[-3:] for line in shown.splitlines() if line.startswith("  always '")]
    assert float(scores[-1][0]) > float(always[-1][0]) + 0.1
    assert float(scores[-1][1]) < float(always[-1][1]) - 0.1
    for column in expected:
        assert column in shown
