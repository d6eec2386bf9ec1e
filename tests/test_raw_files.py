"""Raw files are taken for what a person would take them, and learned from."""

from __future__ import annotations

from pathlib import Path

import pytest

from naively import columns
from naively.wings.files import FileOptions, opened, read
from tests.test_cli import ok

RAW = Path(__file__).parent / "raw"
NO_HEADER = [f"column {i}" for i in range(1, 10)]
FILES = {  # names, of what is in the file, what each is taken for, and the label
    "wohnungen.csv": (
        ["Straße", "PLZ", "Fläche", "Miete", "Bezug", "Zimmer", "Balkon", "Note"],
        "text levels number number time number levels number",
        "Zustand",
    ),
    "heart.data": (NO_HEADER[:7], "number levels number number number levels levels", "column 8"),
    "orders.txt": (
        NO_HEADER[:8],
        "number levels number time clock number levels levels",
        "column 9",
    ),
    "survey.csv": (
        ["column1", "member", "joined", "age", "share", "visits", "newsletter", "club"],
        "number text time number number number truth levels",
        "opinion",
    ),
    "mill.arff": (
        ["oil temp", "vibration", "shift", "serviced", "remark"],
        "number number levels time text",
        "state",
    ),
}
CELLS = {  # of the first row
    "wohnungen.csv": {"Straße": "Müllerweg 109", "Fläche": 84.5, "Miete": 989.1, "Note": 2.3},
    "heart.data": {"column 1": 48, "column 4": 0.5},
    "orders.txt": {
        "column 2": r"gasket C:\new",
        "column 5": 46_440,
        "column 8": "all is well\nby post",
    },
    "survey.csv": {"member": "Chloé Øster, 4th", "share": 42, "visits": 3301, "newsletter": True},
    "mill.arff": {"remark": "as ever, motor 13"},
}


def has_header(name: str) -> FileOptions:
    return FileOptions(header=not FILES[name][2].startswith("column "))


@pytest.mark.parametrize("name", FILES)
def test_each_column_is_what_a_person_would_take_it_for(name: str) -> None:
    names, kinds, label = FILES[name]
    with opened(RAW / name, labels=label, file=has_header(name)) as stream:
        found = columns(stream, target=label).to_dict()
    expected = dict(zip([*names, label], [*kinds.split(), "levels"], strict=True))
    assert dict(zip(found["column"], found["content"], strict=True)) == expected


@pytest.mark.parametrize("name", FILES)
def test_the_first_row_is_read(name: str) -> None:
    rows = read(RAW / name, labels=FILES[name][2], file=has_header(name)).values
    assert {column: rows[column].tolist()[0] for column in CELLS[name]} == CELLS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_demo_learns_from_it(name: str) -> None:
    names, _, label = FILES[name]
    options = [] if has_header(name).header else ["--no-header"]
    shown = ok("demo", RAW / name, "--target", label, *options)
    *_, scores = (line.split() for line in shown.splitlines() if "  NaiveBayes() " in line[:15])
    *_, always = (line.split() for line in shown.splitlines() if "  always '" in line[:10])
    assert float(scores[-3]) > float(always[-3]) + 0.1
    assert float(scores[-2]) < float(always[-2]) - 0.1
    for column in names:
        assert column in shown
