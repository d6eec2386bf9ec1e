"""A small file of plain CSV is read without DuckDB, and as DuckDB reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively.options import FileOptions
from naively.wings import files
from naively.wings.files import reader
from naively.wings.files.plain import MOST

CELLS = st.sampled_from(
    ["", "1", "-2.5", "red", "a b", " x", "é", "NA", "2024-01-02", "true", "7\t"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Draw the text of a file, most of which are plain."""
    width = draw(st.integers(1, 4))
    delimiter, end = draw(st.sampled_from(",;\t|")), draw(ENDS)
    names = draw(
        st.lists(st.sampled_from(["a", "b", "A", "", "3"]), min_size=width, max_size=width)
    )
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6))
    text = end.join(delimiter.join(row) for row in [names, *rows])
    odd = draw(st.sampled_from([*[""] * 6, '"', end, f"{delimiter}x", "\ufeff", "# no row" + end]))
    place = draw(st.sampled_from([0, len(text)]))
    return text[:place] + odd + text[place:] + draw(st.sampled_from(["", end]))


def what_is_read(path: Path, **options: object) -> object:
    """Return all that is known of a table that is read, or what is wrong with it."""
    try:
        with files.opened(path, **options) as table:
            names, total = table.names, table.total
            rows = table.read()
            places = [table.where(name, row) for name in names for row in range(len(rows))]
            cells = {str(name): (list(rows.cells(name)), rows.kind(name)) for name in rows.names}
            return names, total, repr(cells), places, set(table.notes), repr(table.readings)
    except ValueError as error:
        return str(error)


@given(
    text=tables(),
    header=st.booleans(),
    options=st.sampled_from([{}, {"labels": "a"}, {"columns": ["a"]}, {"types": {"a": "number"}}]),
)
def test_it_is_read_as_duckdb_reads_it(
    tmp_path_factory: pytest.TempPathFactory, text: str, header: bool, options: dict
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_bytes(text.encode())
    options = {**options, "file": FileOptions(header=header)}
    found = what_is_read(path, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "plain_rows", lambda _: None)
        assert found == what_is_read(path, **options)


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("a,b\n1,2\n", True), ("a,b\r\n1,\r\n", True), ("a\n1\n", True), ('a,b\n"1",2\n', False),
        ("a,b\n1,2,3\n", False), ("a,b\n1,2\n\n3,4\n", False), ("a, b\n1, 2\n", False),
        ("\ufeffa,b\n1,2\n", False), ("a,b\n" + "1,2\n" * (MOST // 4), False),
    ],
)  # fmt: skip
def test_what_is_as_plain_as_can_be_is_read_here(tmp_path: Path, text: str, is_plain: bool) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    with files.opened(path) as table:
        assert (type(table).__name__ == "PlainTable") == is_plain
