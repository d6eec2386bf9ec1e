"""CSV as Python's csv module reads it, strictly, wherever the text is cut into pieces."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from naively.kernels import dispatch, splitting
from naively.kernels.splitting import BROKEN, Dialect
from naively.wings.files import FileOptions, opened

PIECES = ["a", "7", "x y", "é", "'", '"', '""', '"q"', ",", ",", "\n", "\n", "\r\n", "\r", "#", "§"]
PIECES += ["\\", "\\N", "\\n", "\\\\", '\\"', "\\,", " ", "\t", ";", "# c\n", "N", "\0", "long" * 9]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
DIALECTS = st.builds(
    Dialect,
    delimiter=st.sampled_from([",", ",", ";", "\t", " ", "§"]),
    quote=st.sampled_from(['"', '"', "'", ""]),
    escape=st.sampled_from(["", "", "\\", "é"]),
    comment=st.sampled_from(["", "", "#", "# c"]),
    above=st.sampled_from([0, 0, 1, 2]),
    blanks=st.booleans(),
    spaced=st.booleans(),
    row_names=st.booleans(),
    skip=st.integers(0, 1),
)
HOW = st.sampled_from(
    [
        {"ragged": True},
        *(
            {"header": header, "stops": stops}
            for header in (True, False)
            for stops in (True, False)
        ),
        *({"header": False, "width": 2, "kept": kept, "most": 2} for kept in ([], [0], [1, 0])),
        {"width": 2, "kept": [0, 1], "most": 1},
    ]
)


def split(of: type, dialect: Dialect, pieces: Sequence[bytes], **how: Any) -> tuple[Any, ...]:
    """Return all that a splitter says of a text that comes in pieces."""
    splitter = of(dialect, **how)
    cells: list[list[bytes]] = [[] for _ in how.get("kept", ())]

    def take() -> None:
        for column, (ends, utf8) in zip(cells, splitter.take(), strict=True):
            column += [bytes(utf8[a:b]) for a, b in pairwise(ends)]

    for i, piece in enumerate(pieces, 1):
        more = piece
        while splitter.split(more, i == len(pieces)):
            take()
            more = b""
    take()
    said = splitter.rows, splitter.row_line, splitter.comments
    return cells, splitter.take_bad(), splitter.records(), said


@given(TEXTS, DIALECTS, HOW, st.lists(st.integers(0, 60), max_size=3).map(sorted))
def test_however_it_is_cut_and_in_python_too(
    text: str, dialect: Dialect, how: dict[str, Any], cuts: list[int]
) -> None:
    utf8 = text.encode()
    pieces = [utf8[a:b] for a, b in zip([0, *cuts], [*cuts, len(utf8)], strict=True)]
    expected = split(splitting.Splitter, dialect, [utf8], **how)
    for of in (splitting.Splitter, dispatch.Splitter):
        assert split(of, dialect, pieces, **how) == expected
        assert split(of, dialect, [utf8], **how) == expected


WAYS: list[tuple[dict[str, Any], Dialect]] = [
    ({}, Dialect()),
    ({"delimiter": ";", "quotechar": "'"}, Dialect(";", "'")),
    ({"quoting": csv.QUOTE_NONE}, Dialect(quote="")),
    ({"skipinitialspace": True}, Dialect(blanks=True)),
    ({"escapechar": "\\", "doublequote": True}, Dialect(escape="\\")),
    ({"escapechar": "\\", "quoting": csv.QUOTE_NONE}, Dialect(quote="", escape="\\")),
]


@pytest.mark.parametrize(("way", "dialect"), WAYS)
@given(text=st.lists(st.sampled_from([*PIECES[:16], " ", "\t", ";"]), max_size=40).map("".join))
@example(text='a,"b""c",\r\n"d\ne",f"g\r,')
def test_as_the_csv_module_has_it(text: str, way: dict[str, Any], dialect: Dialect) -> None:
    lines = io.StringIO(text, newline="")
    expected, is_broken = [], False
    try:
        expected.extend(csv.reader(lines, strict=True, **way))
    except csv.Error:
        is_broken = True
    for of in (splitting.Splitter, dispatch.Splitter):
        _, bad, records, _ = split(of, dialect, [text.encode()], ragged=True)
        assert [row for row in records if row != [""]] == [
            row for row in expected if row not in ([], [""])
        ]
        assert [fields for _, fields, _ in bad] == [BROKEN] * is_broken


@pytest.mark.parametrize("cell", ['a,"b""', "x" * 3_000_000, "é" * 700_000, "line\r\n" * 400_000])
def test_a_cell_over_several_chunks(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "t.csv"
    quoted = cell.replace('"', '""')
    path.write_bytes(f'a,b\n1,"{quoted}"\n2,y\n3\n'.encode())
    bad = tmp_path / "bad"
    with opened(path, file=FileOptions(bad_rows=f"skip={bad}")) as table:
        rows = table.read()
        assert table.where("b", 1)[1] == f"line {3 + cell.count(chr(10))}"
    assert rows.values("b").tolist() == [cell, "y"]
    assert bad.read_bytes() == b"3\n"
