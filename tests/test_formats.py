"""Workbooks, ARFF files and databases read as the same table in CSV does; each bad one is told."""

import csv
import datetime as dt
import gzip
import io
import math
import sqlite3
import sys
import zipfile

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io.arff import loadarff

from naively.data.reading import ReadAs
from naively.kernels import dispatch
from naively.options import Options
from naively.wings.files import FileOptions, opened, read
from naively.wings.files.arff import read_arff
from naively.wings.files.formats import number
from tests.commands import run
from tests.test_cli import ok

# --- The same table in all of them ---------------------------------------------------------------

LEVELS = [
    "plain",
    "with, comma",
    'with "quotes"',
    "it's",
    "two\nlines",
    "Füße 東京",
    "50% {a}",
    "?!",
]
ROWS = [
    (
        None if i % 7 == 3 else round(i * 1.234 / (1 + i % 3), 5),
        None if i % 5 == 4 else i % 9,
        LEVELS[i % len(LEVELS)],
        None if i % 6 == 5 else dt.date(2024, 1 + i % 12, 1 + i % 28),
        dt.datetime(2024, 3, 1 + i % 28, i % 24, 30, 15),  # noqa: DTZ001
        i % 3 == 0,
    )
    for i in range(60)
]
NAMES = ("x", "whole", "level, kind", "day", "time", "truth")


def as_csv(path):
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(NAMES)
        for *cells, truth in ROWS:
            out.writerow(["" if cell is None else cell for cell in cells] + [str(truth).lower()])


def workbook(path, rows, at=(1, 1)):
    book = openpyxl.Workbook()
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if cell is not None:
                book.active.cell(at[0] + i, at[1] + j, cell)
    book.save(path)


def database(path, columns, rows, table="rows"):
    base = sqlite3.connect(path)
    table = table.replace('"', '""')
    names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
    base.execute(f'CREATE TABLE "{table}" ({names})')
    base.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)  # noqa: S608
    base.commit()
    base.close()


def as_database(path):
    rows = [
        (*cells[:3], *(cell and str(cell) for cell in cells[3:5]), str(cells[5]).lower())
        for cells in ROWS
    ]
    database(path, NAMES, rows)


def quoted(text, quote="'"):
    """Write a value as Weka's Utils.quote does, all signs between quotes."""
    for sign, escape in (("\\", "\\\\"), (quote, f"\\{quote}"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(sign, escape)
    return quote + text.replace("\t", "\\t").replace("%", "\\%") + quote


TYPES = [
    "REAL",
    "integer",
    "{" + ",".join(map(quoted, LEVELS)) + "}",
    'date "yyyy-MM-dd"',
    "date 'dd.MM.yyyy HH:mm:ss'",
    "{false, true}",
]


def as_arff(path, row):
    head = [f"@attribute {quoted(name)} {of}" for name, of in zip(NAMES, TYPES, strict=True)]
    text = "\n".join(["% a comment", "@relation t", "", *head, "@DATA", *map(row, ROWS)])
    open_ = gzip.open if path.suffix == ".gz" else open
    with open_(path, "wt", encoding="utf-8") as file:
        file.write(text + "\n")


def cells_of(row):
    x, whole, level, day, time, truth = row
    return [
        "?" if x is None else repr(x),
        "?" if whole is None else str(whole),
        quoted(level),
        "?" if day is None else str(day),
        quoted(f"{time:%d.%m.%Y %H:%M:%S}"),
        str(truth).lower(),
    ]


def dense(row):
    return ", ".join(cells_of(row))


def sparse(row):
    """Write a row without what may be left out: numbers that are 0, and first levels."""
    left_out = ("0", quoted(LEVELS[0]), "false", "0.0")
    some = [f"{i} {cell}" for i, cell in enumerate(cells_of(row)) if cell not in left_out]
    return "{" + ", ".join(some) + "}"


MAKE = {
    "t.xlsx": lambda path: workbook(path, [NAMES, *ROWS]),
    "t.xlsm": lambda path: workbook(path, [NAMES, *ROWS], at=(5, 3)),
    "t.sqlite": as_database,
    "t.arff": lambda path: as_arff(path, dense),
    "t.arff.gz": lambda path: as_arff(path, sparse),
}


def plain(table, name):
    return [
        None if isinstance(cell, float) and math.isnan(cell) else cell
        for cell in table.values[name].tolist()
    ]


@pytest.mark.parametrize("name", MAKE)
def test_a_table_is_read_as_the_same_table_in_csv(tmp_path, name):
    as_csv(tmp_path / "t.csv")
    MAKE[name](tmp_path / name)
    expected, found = read(tmp_path / "t.csv"), read(tmp_path / name)
    assert list(found.values) == list(NAMES)
    assert found.notes == ()
    for column in NAMES:
        same = plain(expected, column)
        if column == "truth" and "arff" in name:  # two levels, as the file says
            same = [str(cell).lower() for cell in same]
        assert plain(found, column) == same
    assert found.values["x"].dtype == np.float64
    assert found.values["day"].dtype == found.values["time"].dtype == np.dtype("datetime64[us]")
    assert plain(expected, "truth")[0] is True


@pytest.mark.parametrize("name", MAKE)
def test_labels_are_as_in_csv(tmp_path, name):
    as_csv(tmp_path / "t.csv")
    MAKE[name](tmp_path / name)
    for label in ("whole", "level, kind", "truth"):
        expected = read(tmp_path / "t.csv", labels=label).values[label].tolist()
        assert read(tmp_path / name, labels=label).values[label].tolist() == expected


@pytest.mark.parametrize("name", MAKE)
def test_in_batches_and_without_some_columns(tmp_path, name):
    MAKE[name](tmp_path / name)
    whole = read(tmp_path / name)
    with opened(tmp_path / name, rows=7, columns=["x", "day"]) as table:
        batches = list(table)
    assert max(map(len, batches)) == 7
    for column in ("x", "day"):
        joined = np.concatenate([batch.values(column) for batch in batches])
        np.testing.assert_array_equal(joined, whole.values[column])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_as_it_is_whatever_the_decimal_mark(value):
    for comma in (False, True):
        found = dispatch.read_forms(dispatch.pack_strings([number(value)]), comma, False, False)
        assert found.value.view(np.float64)[0] == value


def test_numbers_of_three_decimals_beside_decimal_commas(tmp_path):
    rows = [(1.234, "3,75"), (2.345, "1,5"), ("NA", "2,25")]
    workbook(tmp_path / "t.xlsx", [("a", "b"), *rows])
    database(tmp_path / "t.db", ("a", "b"), rows)
    for name in ("t.xlsx", "t.db"):
        found = read(tmp_path / name)
        assert plain(found, "a") == [1.234, 2.345, None]
        assert plain(found, "b") == [3.75, 1.5, 2.25]


def test_typed_numbers_are_neither_dates_nor_names(tmp_path):
    days = [20240131, 20240229, 20231201]
    workbook(tmp_path / "t.xlsx", [("n",), *((day,) for day in days)])
    (tmp_path / "t.csv").write_text("n\n" + "\n".join(map(str, days)))
    assert read(tmp_path / "t.csv").values["n"].dtype.kind == "M"
    assert read(tmp_path / "t.xlsx").values["n"].tolist() == days


def test_what_is_said_of_a_column_overrules_the_file(tmp_path):
    as_arff(tmp_path / "t.arff", dense)
    table = read(tmp_path / "t.arff", types={"whole": "string"})
    assert table.values["whole"].tolist()[:5] == ["0", "1", "2", "3", None]
    said = ReadAs({"whole": "levels"}, Options(missing_values=["2", "plain"]))
    table = read(tmp_path / "t.arff", said=lambda _: said)
    assert table.values["whole"].tolist()[:5] == ["0", "1", None, "3", None]
    assert table.values["level, kind"].tolist()[:2] == [None, "with, comma"]


def test_ends_of_lines_in_cells_are_kept(tmp_path):
    texts = ["a\rb", "a\nb", "a\r\nb", "\r", "b\n"]
    database(tmp_path / "t.db", ("a", "b"), [(text, "x") for text in texts])
    assert read(tmp_path / "t.db").values["a"].tolist() == texts


def test_files_are_of_one_type_where_all_say_so(tmp_path):
    workbook(tmp_path / "a.xlsx", [("n", "m"), (20240131, 20240131), (20240229, 20240229)])
    workbook(tmp_path / "b.xlsx", [("n", "m"), (20231201, "20231201"), (20231202, "20231202")])
    table = read(tmp_path / "*.xlsx")
    assert table.values["n"].tolist() == [20240131, 20240229, 20231201, 20231202]
    assert table.values["m"].dtype.kind == "M"


# --- Workbooks -----------------------------------------------------------------------------------


def test_a_sheet_is_chosen(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "nothing"
    for name, value in (("first", 1), ("second", 2)):
        sheet = book.create_sheet(name)
        sheet.append(["a"])
        sheet.append([value])
    hidden = book.create_sheet("hidden", 0)
    hidden.append(["h"])
    hidden.sheet_state = "hidden"
    path = tmp_path / "t.xlsx"
    book.save(path)
    found = read(path)
    assert found.values["a"].tolist() == [1]
    assert found.notes == (
        f'Sheet "first" of {path} was read, and not "second": sheet= chooses another.',
    )
    assert sheet_of(path, "second") == ["a", "2"]
    assert sheet_of(path, "hidden") == ["h"]
    with pytest.raises(ValueError, match='has no sheet "secnd"; it has "second", '):
        sheet_of(path, "secnd")
    with pytest.raises(ValueError, match='Sheet "nothing" of'):
        sheet_of(path, "nothing")


def sheet_of(path, sheet):
    table = read(path, file=FileOptions(sheet=sheet))
    assert table.notes == ()
    return list(map(str, [*table.rows.names, *next(iter(table.values.values()))]))


def test_cells_of_a_sheet(tmp_path):
    rows = [
        ("n", "span", "clock", "mixed", "empty", 7),
        (3.0, dt.timedelta(hours=36, seconds=7), dt.time(3, 4, 5), 1, None, 0.1 + 0.2),
        (1e300, -dt.timedelta(hours=3), dt.time(23, 59), "more", None, 5),
        (None, None, None, None, None, None),
        (-1.5, dt.timedelta(0, 1), None, 2, None, "x"),
    ]
    workbook(tmp_path / "t.xlsx", rows, at=(3, 2))
    table = read(tmp_path / "t.xlsx")
    assert plain(table, "n") == [3, 1e300, None, -1.5]
    assert plain(table, "span") == [36 * 3600 + 7, -3 * 3600, None, 1]
    assert plain(table, "clock") == [3 * 3600 + 4 * 60 + 5, 23 * 3600 + 59 * 60, None, None]
    assert plain(table, "mixed") == [1, None, None, 2]
    assert plain(table, "empty") == [None] * 4
    assert plain(table, "7")[0] == 0.3  # Excel itself keeps 15 digits, and openpyxl 16


def test_rows_without_cells_at_the_end_are_none(tmp_path):
    workbook(
        tmp_path / "t.xlsx", [("a", "b"), (1, 2), (None, None), (3, 4), ("", "=1/0"), ("", "")]
    )
    assert plain(read(tmp_path / "t.xlsx"), "a") == [1, None, 3]


def test_a_sheet_may_have_no_names(tmp_path):
    workbook(tmp_path / "t.xlsx", [(1, "x"), (2, "y")])
    table = read(tmp_path / "t.xlsx", file=FileOptions(header=False))
    assert table.values["column 1"].tolist() == [1, 2]


def test_merged_cells_leave_columns_without_names(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["size", None, "size"])
    book.active.append([1, 2, 3])
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    assert list(read(tmp_path / "t.xlsx").values) == ["size", "column2", "size (2)"]
    book.active["C1"] = "weight"
    book.save(tmp_path / "t.xlsx")
    assert list(read(tmp_path / "t.xlsx").values) == ["size", "column2", "weight"]


TABLE = [("a", "b", "y"), (1, "x", "p"), (2, "z", "q"), (3, "x", "p")]


@pytest.mark.parametrize(
    ("above", "merged", "said"),
    [
        ([("Sales of 2024",)], "A1:C1", "left out: 1."),
        ([("Sales of 2024",), ("by us",), ()], "", "left out: 2."),
        ([("", "by us")], "", 'has no name for 2 of its columns: one is called "column1".'),
    ],
)
def test_titles_above_the_names_of_a_sheet(tmp_path, above, merged, said):
    book_of([*above, *TABLE], merged).save(tmp_path / "t.xlsx")
    table = read(tmp_path / "t.xlsx")
    (note,) = table.notes
    assert note.endswith(said)
    if "left out" in said:
        assert {name: of.tolist() for name, of in table.values.items()} == {
            "a": [1, 2, 3], "b": ["x", "z", "x"], "y": ["p", "q", "p"],
        }  # fmt: skip
        whole = read(tmp_path / "t.xlsx", file=FileOptions(header=False))
        assert len(whole) == len(above) + len(TABLE)


def test_what_merged_cells_hold_is_of_each_row(tmp_path):
    rows = [("g", "x"), ("North", 1), (None, 2), (None, 3), ("South", 4)]
    workbook(tmp_path / "t.xlsx", rows, at=(3, 2))
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    book.active.merge_cells("B4:B6")
    book.save(tmp_path / "t.xlsx")
    table = read(tmp_path / "t.xlsx")
    assert table.values["g"].tolist() == ["North", "North", "North", "South"]
    assert table.notes[0].endswith("hold was read in each of their rows.")


def test_names_in_two_rows_are_refused(tmp_path):
    book_of([(None, "size", None), ("id", "w", "h"), (1, 2, 3)], "B1:C1").save(tmp_path / "t.xlsx")
    with pytest.raises(ValueError, match=r'sheet "Sheet" of .*t\.xlsx are in two rows'):
        read(tmp_path / "t.xlsx")


def test_errors_and_formulas_that_nobody_computed_are_said(tmp_path):
    book_of([("a", "b"), (1, "#N/A"), ("=A2+1", "x"), (3, "y")]).save(tmp_path / "t.xlsx")
    table = read(tmp_path / "t.xlsx")
    assert plain(table, "a") == [1, None, 3]
    assert plain(table, "b") == [None, "x", "y"]
    errors, formulas = table.notes
    assert errors.endswith("hold errors, as #N/A or #DIV/0!, and are missing: 1.")
    assert "were not computed by the program that wrote it" in formulas


def book_of(rows, merged=""):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if merged:
        book.active.merge_cells(merged)
    return book


def test_text_in_a_sheet_is_no_text_of_csv(tmp_path):
    workbook(tmp_path / "t.xlsx", [("sep=;",), ("a; b",), ("c; d",), (None,), ("e; f",)])
    assert read(tmp_path / "t.xlsx").values["sep=;"].tolist() == ["a; b", "c; d", None, "e; f"]
    workbook(tmp_path / "t.xlsx", [("a", " b"), ("x", " y"), ("z", " w")])
    assert read(tmp_path / "t.xlsx").values[" b"].tolist() == [" y", " w"]


def test_a_word_where_a_number_is_expected_is_in_a_row(tmp_path):
    path = tmp_path / "t.xlsx"
    workbook(path, [("n",), (1,), ("much",), (3,)], at=(9, 9))
    (note,) = read(path, types={"n": "number"}).notes
    said = f"Column \"n\" of {path} has 'much' in row 2, where a number is expected"
    assert note.startswith(said)


def test_a_sheet_of_open_document(tmp_path):
    spaces = {
        "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
        "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
        "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    }
    names = " ".join(f'xmlns:{short}="{uri}"' for short, uri in spaces.items())
    name = 'string"><text:p>{}</text:p>'
    amount, truth = 'float" office:value="{}">', 'boolean" office:boolean-value="{}">'
    rows = ""
    table = (
        [(name, "a"), (name, "b")],
        [(amount, 1.5), (truth, "true")],
        [(amount, 2), (truth, "false")],
    )
    for row in table:
        cells = [f'<table:table-cell office:value-type="{of.format(cell)}' for of, cell in row]
        rows += f"<table:table-row>{'</table:table-cell>'.join([*cells, ''])}</table:table-row>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {names}><office:body>'
            f'<office:spreadsheet><table:table table:name="s">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
    table = read(tmp_path / "t.ods")
    assert table.values["a"].tolist() == [1.5, 2]
    assert table.values["b"].tolist() == [True, False]


def test_a_name_of_a_workbook_on_text(tmp_path):
    path = tmp_path / "t.xls"
    for text in ("a\tb\n1\tx\n2\ty\n", "a\tb\n1\tx\n2\ty\n".encode("utf-16")):
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        table = read(path)
        assert table.values["a"].tolist() == [1, 2]
        assert table.notes == (f"{path} is not a workbook but text, and is read as CSV.",)
    path.write_text("\n <html><table><tr><td>1</table>")
    assert fault(path).startswith(f"{path} is a page of HTML or XML, not a workbook: ")


@pytest.mark.parametrize("name", ["t.csv", "t", "t.db"])
def test_first_bytes_say_more_than_a_name(tmp_path, name):
    workbook(tmp_path / "w.xlsx", [("a",), (1,), (2,)])
    (tmp_path / name).write_bytes((tmp_path / "w.xlsx").read_bytes())
    assert read(tmp_path / name).values["a"].tolist() == [1, 2]
    database(tmp_path / "d.db", ("b",), [(3,), (4,)])
    (tmp_path / name).write_bytes((tmp_path / "d.db").read_bytes())
    assert read(tmp_path / name).values["b"].tolist() == [3, 4]


def test_a_cell_far_from_the_others(tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "a", 1
    book.save(tmp_path / "t.xlsx")
    assert "few cells in 1,048,576 rows and 16,384 columns" in fault(tmp_path / "t.xlsx")


def test_a_workbook_that_unpacks_without_end(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (1 << 27))
    assert "more than 200 times its size, as bombs do" in fault(tmp_path / "t.xlsx")


def test_calamine_is_an_extra(tmp_path, monkeypatch):
    workbook(tmp_path / "t.xlsx", [("a",), (1,)])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"install it with: pip install 'naively\[excel\]'"):
        read(tmp_path / "t.xlsx")


# --- Databases -----------------------------------------------------------------------------------


def test_a_table_of_a_database_is_chosen(tmp_path):
    path = tmp_path / "t #1?.db"
    database(path, ("a",), [(1,)])
    database(path, ("b",), [(2,)], table='it"s')
    assert "has several tables: choose one by table=; " in fault(path)
    assert '"rows"' in fault(path)
    assert table_of(path, 'it"s') == ["b", "2"]
    with pytest.raises(ValueError, match='has no table "row"; it has "rows", '):
        table_of(path, "row")
    before = path.read_bytes()
    assert table_of(path, "rows") == ["a", "1"]
    assert path.read_bytes() == before


def table_of(path, table):
    found = read(path, file=FileOptions(table=table))
    return list(map(str, [*found.rows.names, *next(iter(found.values.values()))]))


def test_a_view_is_a_table(tmp_path):
    base = sqlite3.connect(tmp_path / "t.sqlite3")
    base.execute("CREATE VIEW v AS SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y'")
    base.close()
    assert read(tmp_path / "t.sqlite3").values["a"].tolist() == [1, 2]


def test_numbers_of_many_digits_keep_them(tmp_path):
    ids = [2**60 + 1, 2**60 + 2, 5]
    database(tmp_path / "t.db", ("id", "y"), [(i, "x") for i in ids])
    assert read(tmp_path / "t.db").values["id"].tolist() == list(map(str, ids))


def test_text_of_a_database_that_is_not_utf8(tmp_path):
    base = sqlite3.connect(tmp_path / "t.db")
    base.execute("CREATE TABLE t AS SELECT CAST(x'636166e9' AS TEXT) AS a, 'u' AS b")
    base.commit()
    base.close()
    table = read(tmp_path / "t.db")
    assert table.values["a"].tolist() == ["café"]
    assert "t.db is not UTF-8: it was read as windows-1252" in table.notes[0]


# --- ARFF ----------------------------------------------------------------------------------------

IRIS = """% 1. Title: Iris Plants Database
%
@RELATION iris

@ATTRIBUTE sepallength\tREAL
@ATTRIBUTE sepalwidth \tREAL
@ATTRIBUTE petallength \tREAL
@ATTRIBUTE petalwidth\tREAL
@ATTRIBUTE class \t{Iris-setosa,Iris-versicolor,Iris-virginica}

@DATA
5.1,3.5,1.4,0.2,Iris-setosa
4.9,3.0,1.4,0.2,Iris-setosa
4.7,3.2,1.3,0.2,Iris-setosa
7.0,3.2,4.7,1.4,Iris-versicolor
6.4,3.2,4.5,1.5,Iris-versicolor
6.9,3.1,4.9,1.5,Iris-versicolor
6.3,3.3,6.0,2.5,Iris-virginica
5.8,2.7,5.1,1.9,Iris-virginica
7.1,3.0,5.9,2.1,Iris-virginica
6.3,2.9,5.6,1.8,Iris-virginica
%
%
"""


def test_iris_is_read_as_scipy_reads_it(tmp_path):
    (tmp_path / "iris.arff").write_text(IRIS)
    table = read(tmp_path / "iris.arff")
    limit = csv.field_size_limit()
    expected, _ = loadarff(io.StringIO(IRIS))
    csv.field_size_limit(limit)  # SciPy sets it for all
    assert list(table.values) == list(expected.dtype.names)
    for name in list(table.values)[:4]:
        assert table.values[name].tolist() == expected[name].tolist()
    assert table.values["class"].tolist() == [cell.decode() for cell in expected["class"]]


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)


@given(st.lists(TEXTS, min_size=1, max_size=6, unique=True), st.data())
def test_any_value_can_be_quoted(levels, data):
    quote = data.draw(st.sampled_from("'\""))
    name = data.draw(TEXTS)
    values = data.draw(st.lists(st.sampled_from(levels), max_size=6))
    between = data.draw(st.sampled_from([",", ", ", "\t", " , "]))
    lines = [
        f"@attribute {quoted(name, quote)} {{{between.join(quoted(of, quote) for of in levels)}}}",
        "@attribute text string",
        "@data",
        *(f"{quoted(of, quote)}{between}{quoted(of, quote)} % or so" for of in values),
        *(f"{{0 {quoted(of, quote)}{between}1 {quoted(of, quote)}}}" for of in values),
    ]
    attributes, rows = read_arff(lines, "t.arff")
    assert [of.name for of in attributes] == [name, "text"]
    assert [cells for cells, _ in rows] == [[of, of] for of in values] * 2


def arff(*rows, types=("a numeric", "b {x, 'y z'}", "c string")):
    head = [f"@attribute {of}" for of in types]
    return "\n".join(["@relation r", *head, "@data", *rows])


def cells(*rows, **options):
    attributes, found = read_arff(arff(*rows, **options).split("\n"), "t.arff")
    assert len({len(row) for row, _ in found} | {len(attributes)}) == 1
    _, found = read_arff(arff(*rows, **options).split("\n"), "t.arff")
    return [row for row, _ in found]


def test_what_stands_in_rows():
    assert cells("1,x,?", "?,?,'?'", "1e3\t'y z'\t\"\"", "-.5, y z ,a b % c", "NaN,x,50%") == [
        [1, "x", None],
        [None, None, "?"],
        [1000, "y z", ""],
        [-0.5, "y z", "a b"],
        [None, "x", "50%"],
    ]
    expected = [[0, "x", None], [5, "x", "a"], [0, "y z", "b"]]
    assert cells("{2 ?}", "{0 5, 2 'a'}", "{ 1 'y z' ,2 b } % c") == expected
    assert cells("{}", types=["a real", "b {u, v}"]) == [[0, "u"]]
    assert cells("'it\\'s \\\"\\\\ \\u001E'", types=["a string"]) == [["it's \"\\ \x1e"]]


@pytest.mark.parametrize(
    ("type_", "written"),
    [
        ("date", "2024-03-04T05:06:07"),
        ("date 'yyyy-MM-dd HH:mm:ss'", "'2024-03-04 05:06:07'"),
        ("DATE \"dd/MM/yy 'at' hh:mm:ss a\"", "'04/03/24 at 05:06:07 AM'"),
        ("date 'd MMM yyyy H:m:s.SSS'", "'4 Mar 2024 5:6:7.000'"),
        ("date \"yyyy-MM-dd'T'HH:mm:ss Z\"", "'2024-03-04T07:06:07 +0200'"),
    ],
)
def test_dates_in_formats_of_java(tmp_path, type_, written):
    (tmp_path / "t.arff").write_text(arff(written, types=[f"when {type_}"]))
    (found,) = read(tmp_path / "t.arff").values["when"]
    assert found == np.datetime64("2024-03-04T05:06:07")


def test_weights_of_rows_are_left_out_and_said(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(arff("1,x,u,{5}", "{0 2, 2 v}, {0.5}", "3,x,w"))
    table = read(path)
    assert table.values["a"].tolist() == [1, 2, 3]
    assert table.notes == (f"The weights in braces at the end of rows of {path} were left out: 2.",)


def test_latin_1_is_replaced_counted_and_said(tmp_path):
    (tmp_path / "t.arff").write_bytes(arff("1,x,'caf\xe9'", "2,x,b").encode("latin-1"))
    table = read(tmp_path / "t.arff")
    assert table.values["c"].tolist() == ["café", "b"]
    assert "t.arff is not UTF-8: it was read as windows-1252" in table.notes[0]


# --- What is wrong is said in one sentence -------------------------------------------------------


def fault(path, **options):
    """Return the error, which is one sentence that names the file."""
    with pytest.raises(ValueError) as raised:
        read(path, **options)
    text = str(raised.value)
    assert str(path) in text
    assert "\n" not in text
    assert text.endswith(".")
    return text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("@relation r\n@attribute a real\n", "has no line @data"),
        ("@relation r\n@data\n1\n", "Line 2 of FILE begins the rows, but no @attribute"),
        ("a,b\n1,2\n", "Line 1 of FILE is neither @relation, @attribute nor @data"),
        ("@attribute a\n", 'declares "a" to be of no type'),
        ("@attribute 'a\n", "Line 1 of FILE declares no attribute"),
        ("@attribute a colour\n", 'declares "a" to be colour'),
        ("@attribute bag relational\n", 'declares "bag", a relational attribute'),
        ("@attribute a {x, y\n", 'has no } behind the values of "a"'),
        ("@attribute a date 'yyyy-ww'\n", "of which 'ww' is not known"),
        (arff("1,x"), "Line 6 of FILE has 2 values, and there are 3 attributes"),
        (arff("1,x,u", "2,x,u,v"), "Line 7 of FILE has 4 values"),
        (arff("1,x,it's"), "Line 6 of FILE has a quote that is not closed, or is inside a value"),
        (arff("1,x,'a"), "Line 6 of FILE has a quote that is not closed"),
        (arff("1,x,'a'b"), "Line 6 of FILE has a quote that is not closed"),
        (arff("1,x,{a}"), "Line 6 of FILE has braces at its end that hold no weight"),
        (arff("1,x,a{b}"), "Line 6 of FILE has a brace inside a value"),
        (arff("one,x,u"), "has 'one' in \"a\", where a number is expected"),
        (arff("1_000,x,u"), "has '1_000' in \"a\""),
        (arff("1e999,x,u"), "has '1e999' in \"a\""),
        (arff("1,X,u"), "has 'X' in \"b\", where one of x, y z is expected"),
        (arff("2024", types=["a date"]), "where a date as yyyy-MM-dd'T'HH:mm:ss is expected"),
        (arff("{0 1}"), 'Line 6 of FILE leaves out "c"'),
        (arff("{3 1}"), "Line 6 of FILE is no sparse row: write {number value, ...}"),
        (arff("{0 1, 0 2, 2 u}"), "of numbers from 0 to 2, each once"),
        (arff("{0 1, 2 u"), "after its last value there is a }"),
        (arff("{0 1, 2 u} 5"), "after its last value there is a }"),
        (arff("{0}"), "is no sparse row"),
    ],
)  # fmt: skip
def test_wrong_arff(tmp_path, text, sentence):
    path = tmp_path / "t.arff"
    path.write_text(text)
    assert sentence.replace("FILE", str(path)) in fault(path)


@pytest.mark.slow
def test_a_line_without_end(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(arff("1,x," + "u" * (1 << 26)))
    assert fault(path) == f"Line 6 of {path} is longer than 64 MB: split it."


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.xlsx", b"PK\x03\x04" + b"\0" * 99, "is no workbook that can be read"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "is no workbook that can be"),
        ("t.xls", b"\x89PNG\r\n\0\0", "is no workbook that can be read"),
        ("t.db", b"SQLite format 3\0" + b"\xff" * 99, "is no complete SQLite database that can"),
        ("t.db", b"SQLite format 3\0" + b"\xff" * 8 + b"\0" * 99, "is no SQLite database that can"),
        (
            "t.db",
            b"a,b\n1,2\n" * 50,
            "is no SQLite database that can be read (file is not a database)",
        ),
        ("t.db", b"", "is empty"),
        ("t.xlsx", b"", "is empty"),
        ("t.sqlite.gz", gzip.compress(b"x", mtime=0), "is compressed: unpack it"),
        ("t.arff.zst", b"\x28\xb5\x2f\xfd", "is not a complete .zst file"),
        (
            "t.arff.gz",
            gzip.compress(arff("1,x,u").encode(), mtime=0)[:-9],
            "is not a complete .gz file",
        ),
    ],
)
def test_damaged_files(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    assert sentence in fault(tmp_path / name)


@pytest.mark.parametrize("name", ["t.xlsx", "t.sqlite"])
@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_truncated_files(tmp_path, name, kept):
    path = tmp_path / name
    MAKE[name](path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    assert "that can be read" in fault(path)


def test_files_without_a_table(tmp_path):
    openpyxl.Workbook().save(tmp_path / "t.xlsx")
    assert "is empty: there is nothing to read" in fault(tmp_path / "t.xlsx")
    base = sqlite3.connect(tmp_path / "t.db")
    base.execute("CREATE TABLE t (a)")
    base.execute("DROP TABLE t")
    base.commit()
    base.close()
    assert "has no table" in fault(tmp_path / "t.db")


def test_bytes_in_a_database(tmp_path):
    database(tmp_path / "t.db", ("a", "picture"), [(1, "x"), (2, b"\x89PNG")])
    assert 'Column "picture" of table "rows"' in fault(tmp_path / "t.db")


def test_a_model_keeps_which_sheet_it_was_trained_on(tmp_path):
    rows = [("x", "y"), *((f"{i}.5", "ab"[i % 2]) for i in range(40))]
    book = openpyxl.Workbook()
    book.active.title = "about"
    book.active.append(["made", "by hand"])
    sheet = book.create_sheet("data")
    for row in rows:
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    ok("train", tmp_path / "t.xlsx", "-t", "y", "--sheet", "data", "-o", tmp_path / "m")
    shown = ok("predict", tmp_path / "m", tmp_path / "t.xlsx")
    assert len(shown.splitlines()) == 41


# --- From the command line -----------------------------------------------------------------------


def test_train_and_predict(tmp_path):
    rows = [(i % 10, "red" if i % 2 else "blue", "odd" if i % 2 else "even") for i in range(60)]
    workbook(tmp_path / "x.xlsx", [("n", "colour", "y"), *rows])
    database(tmp_path / "x.db", ("n", "colour"), [row[:2] for row in rows])
    trained = run("train", "x.xlsx", "--target", "y", "-o", "model", cwd=tmp_path)
    assert trained.returncode == 0, trained.stderr
    found = run("predict", "model", "x.db", "--format", "csv", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert [line.split(b",")[0] for line in found.stdout.split()[1:]] == [
        row[2].encode() for row in rows
    ]


def test_columns(tmp_path):
    (tmp_path / "x.arff").write_text(IRIS)
    shown = run("columns", "x.arff", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert b"levels" in shown.stdout
    assert b"number" in shown.stdout
    MAKE["t.xlsx"](tmp_path / "t.xlsx")
    piped = (tmp_path / "t.xlsx").read_bytes()
    by_pipe = run("columns", "-", stdin=piped, cwd=tmp_path)
    assert by_pipe.returncode == 0, by_pipe.stderr
    assert b"whole" in by_pipe.stdout
