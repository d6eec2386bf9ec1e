"""Rows from files: what is read, what is repaired, and what each bad file is told."""

import csv
import datetime as dt
import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively.wings.files import opened, read, source

DATA = os.environ.get("NAIVELY_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="NAIVELY_DATA is not set")

LONG = "x" * 50_000_000


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = content.encode() if isinstance(content, str) else content
        if name.endswith(".gz"):
            content = gzip.compress(content, mtime=0)
        path.write_bytes(content)
        return path

    return write


def is_missing(cell):
    return cell is None or (isinstance(cell, float) and np.isnan(cell))


def seconds(column):
    epoch, second = np.datetime64("1970-01-01", "us"), np.timedelta64(1, "s")
    return (column - epoch) / second if column.dtype.kind == "M" else column


def plain(table):
    """Return the columns as lists, with None where a cell is missing; times in seconds."""
    return {
        name: [None if is_missing(cell) else cell for cell in seconds(column).tolist()]
        for name, column in table.values.items()
    }


def fault(path, **options):
    """Return the sentence that reading a bad file raises."""
    with pytest.raises(ValueError) as raised:
        read(path, **options)
    message = str(raised.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


# Tables

TABLE = {
    "integer": [3, -1, 0],
    "number": [1.5, None, -2e10],
    "text": ["a,b", None, 'say "x"\nagain'],
    "truth": [True, False, True],
    "perhaps": [None, True, False],
    "day": ["2020-01-01", "1969-12-31", None],
    "moment": ["2020-01-01 00:00:01.5", "2020-01-01T00:00:00", "2020-01-01 00:00:00+02"],
    "nothing": [None, None, None],
}
READ = TABLE | {
    "day": [1577836800, -86400, None],
    "moment": [1577836801.5, 1577836800, 1577836800 - 7200],
}


def as_csv(table):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return text.getvalue()


def as_jsonl(table):
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_json_array(table):
    return "[" + ",\n".join(as_jsonl(table).splitlines()) + "]"


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("t.csv", as_csv(TABLE)),
        ("t.txt", as_csv(TABLE)),
        ("t.jsonl", as_jsonl(TABLE)),
        ("t.ndjson", as_jsonl(TABLE)),
        ("t.json", as_json_array(TABLE)),
    ],
)
def test_a_table_is_read_alike_from_every_text_format(write, name, written, compression):
    table = read(write(name + compression, written))
    assert plain(table) == READ
    assert table.notes == ()
    dtypes = {name: column.dtype for name, column in table.values.items()}
    assert dtypes == {
        "integer": np.int64,
        "number": np.float64,
        "text": object,
        "truth": bool,
        "perhaps": object,
        "day": np.dtype("datetime64[us]"),
        "moment": np.dtype("datetime64[us]"),
        "nothing": np.float64,
    }
    assert all(type(column) is np.ndarray for column in table.values.values())


def test_parquet(tmp_path):
    moment = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    table = pa.table(
        {
            "int8": pa.array([1, -1], pa.int8()),
            "uint64": pa.array([2**63, 1], pa.uint64()),
            "float32": pa.array([0.5, None], pa.float32()),
            "decimal": pa.array(["1.25", None]).cast(pa.decimal128(5, 2)),
            "missing int": pa.array([None, 7], pa.int64()),
            "truth": [True, None],
            "day": pa.array([moment.date(), None]),
            "zoned": pa.array([moment, None], pa.timestamp("us", "America/New_York")),
            "nanoseconds": pa.array([moment, None], pa.timestamp("ns")),
            "category": pa.array(["x", None]).dictionary_encode(),
            'na"me': ["a", "b"],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    values = read(tmp_path / "t.parquet")
    assert plain(values) == {
        "int8": [1, -1],
        "uint64": [2.0**63, 1],
        "float32": [0.5, None],
        "decimal": [1.25, None],
        "missing int": [None, 7],
        "truth": [True, None],
        "day": [1577836800, None],
        "zoned": [1577836800, None],
        "nanoseconds": [1577836800, None],
        "category": ["x", None],
        'na"me': ["a", "b"],
    }
    assert values.values["int8"].dtype == np.int8
    assert values.values["decimal"].dtype == np.float64


@pytest.mark.parametrize("delimiter", list(",\t;|"))
def test_the_delimiter_is_found(write, delimiter):
    rows = ["a b", "what"], ["u,5 ; x", "y|z\t"], ["v,5", "w"]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    expected = {"a b": ["u,5 ; x", "v,5"], "what": ["y|z\t", "w"]}
    assert plain(read(write("t.txt", text.getvalue()))) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("t.txt", "text\nhello, you\n\nhow?\n", {"text": ["hello, you", None, "how?"]}),
        ("t.csv", "\n\na,b\n1,2\n", {"a": [1], "b": [2]}),
        ("t.csv", ",b\n1,2\n", {"column1": [1], "b": [2]}),
        ("t.csv", "a,A\n1,2\n", {"a": [1], "A": [2]}),
        ("t.jsonl", '{"a": 1, "A": 2}\n', {"a": [1], "A": [2]}),
        ("t.jsonl", '{"a": 1, "a_1": 2}\n', {"a": [1], "a_1": [2]}),
        ("t.jsonl", '\ufeff{"a": 1}\n', {"a": [1]}),
        ("t.jsonl", '{"t": "", "y": "x"}\n\n{"y": "z"}\n', {"t": ["", None], "y": ["x", "z"]}),
    ],
)
def test_what_is_in_a_small_file(write, name, text, expected):
    assert plain(read(write(name, text))) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark(write, end, mark):
    path = write("t.csv", mark + end.join(["a,b", "1,x", "", "2,y", ""]))
    assert plain(read(path)) == {"a": [1, 2], "b": ["x", "y"]}


def test_empty_and_quoted_empty_fields_are_missing(write):
    path = write("t.csv", 'a,b,c\n,"",1\n"",x,\n,"",\n')
    assert plain(read(path)) == {"a": [None] * 3, "b": [None, "x", None], "c": [1, None, None]}


@pytest.mark.parametrize(
    "cell", ["word", "1_000", "0x1F", "10-5-3", "epoch", "12:30", "yes", "2020-13-01"]
)
def test_one_late_cell_makes_a_column_text(write, cell):
    path = write("t.csv", "a;b\n" + "1;2\n" * 30_000 + f"{cell};2\n")
    table = read(path)
    assert table.values["a"][-2:].tolist() == ["1", cell]
    assert table.values["b"].dtype == np.int64


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2.5"], [1.0, 2.5]),
        (["007", "1"], ["007", "1"]),
        (["-007", "1"], ["-007", "1"]),
        (["0", "-0.5", "00.5"], [0.0, -0.5, 0.5]),
        (["0", "-0.5", "+7"], [0.0, -0.5, 7.0]),
        (["9007199254740991", "-9007199254740991"], [2**53 - 1, 1 - 2**53]),
        (["9007199254740992", "1"], ["9007199254740992", "1"]),
        (["9007199254740993", "1.5"], ["9007199254740993", "1.5"]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["1e300", "0.12345678901234567890"], [1e300, 0.12345678901234567890]),
        (["nan", "1e-3"], [None, 1e-3]),
        (["True", "FALSE"], [True, False]),
        (["2020-1-2", "2020/01/03"], [1577923200.0, 1578009600.0]),
        (["2020-01-01", "soon"], [1577836800.0, None]),
        (["10-5-3", "11-5-3"], ["10-5-3", "11-5-3"]),
        (["1_000", "2_000"], ["1_000", "2_000"]),
        (["y", "n"], ["y", "n"]),
    ],
)
def test_what_a_column_of_csv_is(write, cells, expected):
    read_back = plain(read(write("t.csv", "a\n" + "\n".join(cells))))["a"]
    assert read_back == expected
    assert [type(x) for x in read_back] == [type(x) for x in expected]


def test_many_keys_that_come_and_go(write):
    path = write("t.jsonl", "".join(f'{{"k{i}": {i}}}\n' for i in range(400)))
    table = read(path)
    assert list(table.values) == [f"k{i}" for i in range(400)]
    assert table.values["k399"][399] == 399
    assert np.isnan(table.values["k399"][:399]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl"])
def test_the_order_of_rows_is_kept(write, name):
    numbers = list(range(150_000))
    np.random.default_rng(0).shuffle(numbers)
    if name == "t.jsonl":
        text = "".join(f'{{"n": {n}, "t": "row {n}"}}\n' for n in numbers)
    else:
        text = "n,t\n" + "".join(f"{n},row {n}\n" for n in numbers)
    table = read(write(name, text))
    assert table.values["n"].tolist() == numbers
    assert table.values["t"].tolist() == [f"row {n}" for n in numbers]


def test_no_rows(write):
    table = read(write("t.csv", "a,b\n"), types={"b": "string"})
    assert {name: len(column) for name, column in table.values.items()} == {"a": 0, "b": 0}
    assert table.values["b"].dtype == object


@pytest.mark.parametrize(("name", "options"), [("t.csv", "csv, header"), ("t.jsonl", "json")])
def test_zstandard(tmp_path, name, options):
    path = tmp_path / f"{name}.zst"
    query = "SELECT range AS a, 'x' || range AS b FROM range(100000)"
    duckdb.sql(f"COPY ({query}) TO '{path}' (format {options}, compression zstd)")
    table = read(path)
    assert table.values["a"].tolist() == list(range(100_000))
    assert table.values["b"][-1] == "x99999"
    whole = path.read_bytes()
    for cut in (1, 4, len(whole) // 2, len(whole) - 5, len(whole)):
        path.write_bytes(whole[:-cut])
        assert fault(path) == f"{path} is not a complete .zst file: copy or download it again."


@pytest.mark.parametrize(("suffix", "by"), [(".gz", "gunzip"), (".zst", "zstd -d")])
def test_a_bomb_is_refused(tmp_path, monkeypatch, suffix, by):
    """What may take all memory is not read; the sentence says what lifts the limit."""
    monkeypatch.setattr(source, "HARMLESS", 1 << 20)
    path = tmp_path / f"a.csv{suffix}"
    method = "gzip" if suffix == ".gz" else "zstd"
    query = "SELECT 1 AS a, 'yes' AS b FROM range({})"
    how = f"format csv, compression {method}"
    duckdb.sql(f"COPY ({query.format(400_000)}) TO '{path}' ({how})")
    assert fault(path).endswith(
        "more than 200 times its size, as bombs do: if you trust it, unpack it with "
        f"{by}, and give the plain file."
    )
    monkeypatch.setattr(source, "EXPANSION", 1_000_000)
    assert len(read(path).values["a"]) == 400_000
    monkeypatch.undo()
    duckdb.sql(f"COPY ({query.format(100_000)}) TO '{path}' ({how})")  # 600 kB do no harm
    assert len(read(path).values["a"]) == 100_000


def test_a_mailbox_without_a_message(tmp_path):
    path = tmp_path / "box"
    for folder in ("cur", "new", "tmp"):
        (path / folder).mkdir(parents=True)
    assert fault(path) == f"There is no message in {path}."


@pytest.mark.parametrize(
    "name",
    ["a'b.csv", "a b.csv", "a*b.csv", "[ab].csv", "{a,b}.csv", "a--;.csv", "%20.csv", "é.csv"],
)
def test_any_name_of_a_file(write, name):
    write("aXb.csv", "wrong\n1\n")
    write("a.csv", "wrong\n1\n")
    assert plain(read(write(name, "right\n1\n"))) == {"right": [1]}


# Choosing columns, and the types a model expects


@pytest.mark.parametrize(("name", "text"), [("t.csv", as_csv(TABLE)), ("t.jsonl", as_jsonl(TABLE))])
def test_columns_and_ignore(write, name, text):
    path = write(name, text)
    assert list(read(path, columns=["truth", "text"]).values) == ["text", "truth"]
    kept = read(path, columns=["truth", "text"], ignore=["text"])
    assert plain(kept) == {"truth": TABLE["truth"]}
    assert read(path, ignore=list(TABLE)).values == {}
    message = fault(path, columns=["integr"])
    assert message.startswith(f'{path} has no column "integr"; its columns are integer, ')
    assert sorted(message.rpartition(" are ")[2].rstrip(".").split(", ")) == sorted(TABLE)
    assert 'no column "other"' in fault(path, ignore=["other"])
    wide = write("wide.csv", ",".join(f"c{i}" for i in range(1000)) + "\n")
    assert fault(wide, ignore=["other"]).endswith(" and 980 more.")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_codes_are_text_where_text_is_expected(write, name):
    path = write(name, "code\n1\n20\n" if name == "t.csv" else '{"code": 1}\n{"code": 20}\n')
    if name == "t.parquet":
        pq.write_table(pa.table({"code": [1, 20]}), path)
    assert plain(read(path)) == {"code": [1, 20]}
    types = {"code": "string", "not here": "number"}
    assert plain(read(path, types=types)) == {"code": ["1", "20"]}


def test_a_word_where_a_number_is_expected(write):
    text = 'a,b\n1,"two\nlines"\n\n' + "2,\n" * 5000 + "word,\n"
    for name, content, kind, said in (
        ("t.csv", text, "number", "'word' in line 5005, where a number is expected: it"),
        ("t.jsonl", '{"a": 1}\n{"a": "word"}\n', "number", "'word' in row 2, where a number is"),
        ("t.csv", "a\n\n2\nno\n", "boolean", "'2' in line 3, where true or false is expected; 2"),
    ):
        with opened(write(name, content), types={"a": kind}) as table:
            cells = [cell for rows in table for cell in rows.values("a").tolist()]
            (note,) = table.notes
        assert cells[-1] is None or np.isnan(cells[-1])
        assert re.match('Column "a" of .*' + re.escape(name), note)
        assert said in note


def test_expected_types_that_fit(write):
    path = write("t.csv", "a,b,c,d\n2020-01-01,,true,1\n,,,2.5\n")
    types = {"a": "time", "b": "boolean", "c": "boolean", "d": "number"}
    expected = {"a": [1577836800, None], "b": [None, None], "c": [True, None], "d": [1, 2.5]}
    assert plain(read(path, types=types)) == expected
    path = write("t.jsonl", '{"a": "12"}\n{"a": "2.5"}\n')
    assert plain(read(path, types={"a": "number"})) == {"a": [12, 2.5]}


def test_a_type_or_format_that_does_not_exist(write):
    path = write("t.csv", "a\n1\n")
    assert "give one of" in fault(path, types={"a": "float"})
    assert "give one of" in fault(path, format="xml")


@pytest.mark.parametrize("value", ["[1]", '{"b": 1}'])
@pytest.mark.parametrize("other", ["1", '"x"', "[2]", '{"b": [3]}'])
def test_nested_columns(write, value, other):
    path = write("t.jsonl", f'{{"a": {value}, "n": 1}}\n{{"a": {other}, "n": 2}}\n')
    assert 'Column "a' in fault(path)
    assert "ignore it" in fault(path, types={"a": "string"})
    assert plain(read(path, ignore=["a"])) == {"n": [1, 2]}
    assert plain(read(path, columns=["n"])) == {"n": [1, 2]}


def test_nested_columns_of_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [[1], [2]], "b": [b"x", b"y"], "n": [1, 2]}), path)
    assert 'Column "a"' in fault(path)
    assert 'Column "b"' in fault(path, ignore=["a"])
    assert plain(read(path, ignore=["a", "b"])) == {"n": [1, 2]}


# Text that is not clean


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.jsonl.gz"])
def test_invalid_utf8_is_read_as_letters_counted_and_said(write, name):
    bad = b"caf\xe9 \xff\xfe \xef\xbf\xbd \xf0\x9f\x92"
    good = "café ÿþ \ufffd ð\u0178\u2019"
    filler = "a perfectly göød line in ÚTF-8 × ø".encode()
    row = b"%s\n" if "csv" in name else b'{"text": "%s"}\n'
    path = write(name, (b"text\n" if "csv" in name else b"") + row % filler + row % bad)
    table = read(path)
    assert plain(table) == {"text": [filler.decode(), good]}
    assert table.notes == (f"6 bytes of {path} are not UTF-8, and were read as windows-1252.",)


@pytest.mark.slow
def test_a_long_line_of_json(write):
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": LONG}, {"a": 3, "b": "y"}]
    table = read(write("t.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert table.values["a"].tolist() == [1, 2, 3]
    assert [len(text) for text in table.values["b"]] == [1, len(LONG), 1]


# Bad files


def test_no_such_file(write):
    path = write("mails.csv", "a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no file .*mail\.csv\. Did you mean mails\.csv\?"):
        read(path.with_name("mail.csv"))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read(path.parent / "nowhere" / "a.csv")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.csv.gz", "t.json"])
@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_empty_file(write, name, content):
    path = write(name, content)
    assert fault(path) == f"{path} is empty: there is nothing to read in it."


def test_a_gzip_of_no_bytes(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(b"")
    assert "is empty" in fault(path)


QUOTED = ["a,b", '1,"x\ny"', *["2,z"] * 1000, '3,"never closed', *["4,z"] * 1000]
FAULTS = [  # of a file: its name, its text and what is said of it
    ("t.csv", "\n".join(QUOTED), r'Line 1004 of .*t\.csv has a quote \("\) that is never closed'),
    ("t.csv", 'a,b\n1,"x"y\n2,"z"\n', r"Line 2 of .*t\.csv has a quote"),
    ("t.csv", 'a,b\n1,2\n3,"' + "4,5\n" * 300_000, r"Line 3 of .*t\.csv has a quote"),
    ("t.csv", '"a,b\n1,2\n', "The column names of"),
    ("t.csv", '"a,b\n' + "1,2\n" * 1000, "The column names of"),
    ("t.csv", LONG[:2_000_000], "The column names of"),
    (
        "t.txt",
        "a\n" + "b\n" * 1000 + "c, d\n",
        r"Line 1002 of .*t\.txt has a number of fields \(2\)",
    ),
    ("t.jsonl", "{}\n{}\n", ".*without a column"),
    ("t.jsonl", '{"": 1}\n', ".*without a column"),
    ("t.jsonl", '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n", ".*(ignore it|is not JSON)"),
    ("t.json", '[{"a": 1},\n{"a": 2},\n{"a" 3}]\n', r"Line 3 of .*t\.json is not JSON"),
    ("t.json", "[1, 2]", ".*JSON array"),
]


@pytest.mark.parametrize("of", range(len(FAULTS)))
def test_what_is_wrong_with_a_file_is_said(write, of):
    name, text, said = FAULTS[of]
    assert re.match(said, fault(write(name, text)))


@pytest.mark.parametrize(("row", "width"), [("3", 1), ("3,4,5", 3)])
def test_ragged_rows(write, row, width):
    lines = ["a,b", '1,"x\n\ny"', *["2,z"] * 5000, row, "4,5"]
    message = fault(write("t.csv", "\n".join(lines)))
    expected = rf"Line 5005 of .*t\.csv has a number of fields \({width}\) that is not the header's"
    assert re.match(expected, message)


def test_repeated_names(write):
    table = read(write("t.csv", "a,b,a,c,b,a\n1,2,3,4,5,6\n"))
    values = {name: column.tolist() for name, column in table.values.items()}
    assert values == {"a": [1], "b": [2], "a (2)": [3], "c": [4], "b (2)": [5], "a (3)": [6]}
    assert 'more than one column named "a", "b": the second is called "a (2)"' in table.notes[-1]


@pytest.mark.parametrize("extension", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("start", [b"", b"\x89PNG\r\n"])
@pytest.mark.parametrize("zero", [b"\0", b""])
def test_rubbish(write, extension, start, zero):
    rubbish = np.random.default_rng(0).bytes(50_000)
    path = write("t" + extension, start + rubbish.replace(b"\0", zero))
    assert re.search("is not a text|is not UTF-8|is not JSON|not a complete Parquet", fault(path))


def test_another_format_under_this_name(write, tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    parquet = (tmp_path / "t.parquet").read_bytes()
    assert "not a text file" in fault(write("t.csv", parquet))
    assert "not a complete Parquet file" in fault(write("u.parquet", "a,b\n1,2\n"))
    path = tmp_path / "t.csv.gz"
    path.write_text("a,b\n1,2\n")
    assert "not a complete .gz file" in fault(path)
    assert "give the format" in fault(write("t.data", parquet[8:]))
    for name, content in (("t.data", "a\n1\n"), ("t.rows", '{"a": 1}'), ("t.x", parquet)):
        assert plain(read(write(name, content))) == {"a": [1]}


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz"])
@pytest.mark.parametrize("kept", [4, 20, 0.5, -4])
@pytest.mark.parametrize("extra", [b"", b"\xff"])
def test_truncated_gzip(write, name, kept, extra):
    row = b"%d,y%s\n" if "csv" in name else b'{"a":"%d %s"}\n'
    rows = b"".join(row % (i, extra * (i % 10_000 == 9)) for i in range(50_000))
    path = write(name, b"a,b\n" + rows if "csv" in name else rows)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    assert fault(path) == f"{path} is not a complete .gz file: copy or download it again."


@pytest.mark.parametrize("kept", [0.5, 0.99])
def test_truncated_parquet(tmp_path, kept):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": list(range(10_000))}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole))])
    assert fault(path).startswith(f"{path} is not a complete Parquet file (")


def test_parquet_that_is_damaged_behind_the_first_batches(tmp_path):
    path = tmp_path / "t.parquet"
    rows = pa.table({"a": range(400_000), "b": [f"word {i}" for i in range(400_000)]})
    pq.write_table(rows, path, row_group_size=100_000)
    content = bytearray(path.read_bytes())
    at = len(content) * 9 // 10
    content[at : at + 3000] = bytes(3000)
    path.write_bytes(content)
    assert fault(path).startswith(f"{path} is not a complete Parquet file (Failed to read")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"a":', "is not JSON"),
        ("hello", "is not JSON"),
        ("[1, 2]", "is not an object"),
        ('{"a": 1, "a": 2}', 'has the key "a" more than once'),
        (r'{"a": "\ud800"}', "holds half a character"),
    ],
)
@pytest.mark.parametrize("rows", [1, 3, 50_000])
def test_a_broken_line_of_json(write, line, what, rows):
    path = write("t.jsonl", '\n{"a": 1}\n' * rows + line + '\n{"a": 1}\n')
    message = fault(path)
    assert message.startswith(f"Line {2 * rows + 1} of {path} {what}")
    assert message.endswith(": write one object, {...}, a row.")


# Folders


def test_a_folder_of_texts(write, tmp_path):
    write("mail/spam/2.txt", "win")
    write("mail/spam/1.txt", b"caf\xe9")
    write("mail/ham/deep/3", "")
    write("mail/ham/.hidden", "no")
    write("mail/.git/config", "no")
    table = read(tmp_path / "mail")
    assert plain(table) == {"text": ["", "café", "win"], "label": ["ham", "spam", "spam"]}
    assert table.notes == (
        f"1 byte of {tmp_path / 'mail'} is not UTF-8, and was read as windows-1252.",
    )
    assert list(read(tmp_path / "mail", columns=["text"]).values) == ["text"]
    assert 'no column "subject"' in fault(tmp_path / "mail", columns=["subject"])
    write("mail/README", "no")
    note = f"Files of {tmp_path / 'mail'} outside its sub-folders were left out: 1."
    assert note in read(tmp_path / "mail").notes


def test_folders_that_are_not_folders_of_texts(write, tmp_path):
    write("flat/a.txt", "a\n1\n")
    message = fault(tmp_path / "flat")
    assert "has no sub-folders" in message
    assert str(tmp_path / "flat" / "a.txt") in message
    assert "is a folder, not a csv file" in fault(tmp_path / "flat", format="csv")
    (tmp_path / "empty" / "class").mkdir(parents=True)
    assert "there is no text to read" in fault(tmp_path / "empty")


# Standard input

WRITTEN = pa.BufferOutputStream()
pq.write_table(pa.table({"a": [1], "b": ["x"]}), WRITTEN)
PARQUET = WRITTEN.getvalue().to_pybytes()


def run(program, content=b""):
    return subprocess.run(
        [sys.executable, "-c", program], input=content, capture_output=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"a,b\n1,x\n", ""),
        (b"a\tb\n1\tx\n", ""),
        (b'{"a": 1, "b": "x"}\n', ""),
        (b'\xef\xbb\xbf {"a": 1, "b": "x"}\n', ""),
        (b'[{"a": 1, "b": "x"}]', ""),
        (gzip.compress(b"a,b\n1,x\n", mtime=0), ""),
        (gzip.compress(b'{"a": 1, "b": "x"}', mtime=0), ""),
        (b"a,b\n1,x\n", ", format='csv'"),
        (PARQUET, ""),
    ],
)
def test_standard_input(content, options):
    program = f"""from naively.wings.files import read, source
print({{name: column.tolist() for name, column in read("-"{options}).values.items()}})"""
    done = run(program, content)
    assert (done.stdout.decode().strip(), done.stderr) == ("{'a': [1], 'b': ['x']}", b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "standard input is empty"),
        (b"a,b\n1\n", "Line 2 of standard input has a number of fields (1)"),
        (
            gzip.compress(b"a,b\n1\n" * 100, mtime=0)[:-9],
            "standard input is not a complete .gz file",
        ),
    ],
)
def test_bad_standard_input(content, sentence):
    done = run("from naively.wings.files import read; read('-')", content)
    assert sentence in done.stderr.decode().splitlines()[-1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(("name", "options"), [("p", {}), ("p.csv", {}), ("p", {"format": "csv"})])
def test_a_named_pipe(tmp_path, name, options):
    path = tmp_path / name
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a\n1\n",))
    writer.start()
    table = read(path, **options)
    writer.join()
    assert plain(table) == {"a": [1]}


# Real data


def described(folder):
    """Return what the data's own README says of each file of a folder."""
    text = Path(DATA, "README.md").read_text(encoding="utf-8") if DATA else ""
    rows = re.findall(rf"^\| ({folder}/\S+) \|(.*)\|$", text, re.MULTILINE)
    return [(name, [cell.strip() for cell in rest.split("|")]) for name, rest in rows]


@needs_data
@pytest.mark.parametrize(("name", "facts"), described("tables"))
def test_real_table(name, facts):
    rows, features, label, classes, missing, *_ = facts
    values = read(Path(DATA, name)).values
    assert {len(column) for column in values.values()} == {int(rows)}
    assert len(values) == int(features.split()[0]) + 1
    cells = [cell for column in values.values() for cell in column.tolist()]
    assert sum(map(is_missing, cells)) == int(missing)
    assert len(set(values[label].tolist())) == int(classes)


@needs_data
@pytest.mark.parametrize(("name", "facts"), described("text"))
def test_real_text(name, facts):
    part = "train" if "train" in name else "test"
    rows = re.search(rf"(\d+) {part}|^(\d+)$", facts[0])
    table = read(Path(DATA, name), columns=["label", "text"])
    assert table.notes == ()
    assert {len(column) for column in table.values.values()} == {int(rows[1] or rows[2])}
    assert all(isinstance(text, str) for text in table.values["text"].tolist())


# --- What writers of JSON and Parquet write beside rows -------------------------------------------

FRAME = {"a": [1.5, 2.0, None], "b": ["x", "y", "z"], "y": ["p", "q", "p"]}
ROWS_OF_IT = [dict(zip(FRAME, row, strict=True)) for row in zip(*FRAME.values(), strict=True)]
WRITTEN = {  # and what is said of it
    **{
        orient: (pd.DataFrame(FRAME).to_json(orient=orient), said)
        for orient, said in {
            "records": "", "split": 'as a table of "columns" and "data".', "columns": "as columns.",
            "index": "as rows.", "table": 'under "data"; left out: "schema", "index".',
        }.items()
    },
    "shuffled": (pd.DataFrame(FRAME, index=[2, 0, 1]).to_json(), "as columns."),
    "indented": (pd.DataFrame(FRAME).to_json(indent=2), "as columns."),
    "lines": (pd.DataFrame(FRAME).to_json(orient="records", lines=True), ""),
    "named index": (pd.DataFrame(FRAME).set_index("a").to_json(orient="table"), 'out: "schema".'),
    "lists": (json.dumps(FRAME), "one object of lists, which were read as columns."),
    "jq": ("\n".join(json.dumps(row, indent=2) for row in ROWS_OF_IT), ""),
    "concatenated": ("".join(map(json.dumps, ROWS_OF_IT)), ""),
    "sequence": ("".join(f"\x1e{json.dumps(row, indent=1)}\n" for row in ROWS_OF_IT), ""),
    "page": (json.dumps({"n": 3, "next": None, "of": ROWS_OF_IT}), 'left out: "n", "next".'),
    "polars": (pl.DataFrame(FRAME).write_json(), ""),
    "NaN": (json.dumps(ROWS_OF_IT).replace("null", "NaN"), ""),
    "mark": ("\ufeff" + json.dumps(ROWS_OF_IT, indent=2), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_json_is_read_as_its_writer_meant_it(tmp_path, name):
    text, said = WRITTEN[name]
    (tmp_path / "t.json").write_text(text)
    table = read(tmp_path / "t.json")
    assert {of: table.values[of].tolist() for of in ("b", "y")} == {of: FRAME[of] for of in "by"}
    np.testing.assert_array_equal(table.values["a"], [1.5, 2.0, np.nan])
    assert set(table.values) == set(FRAME)
    assert len(table.notes) == bool(said)
    assert "".join(table.notes).endswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}}', "whose keys may be columns or rows"),
        ("[[1, 2], [3, 4]]", "a row is an object with named keys"),
        ('[{"a": 1}, {"a": 2},]', "Line 1 of .* is not JSON"),
        ('{"a": 1},\n{"a": 2},\n', "Line 1 of .* is not JSON"),
    ],
)
def test_json_that_may_mean_several_things_is_refused(tmp_path, text, said):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(ValueError, match=said):
        read(tmp_path / "t.json")


def test_one_line_of_lists_is_one_row_in_json_lines(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": ["good", "film"], "b": ["x", "y"]}\n')
    assert len(read(tmp_path / "t.jsonl")) == 1


def test_the_index_of_pandas_is_no_column(tmp_path):
    pd.DataFrame(FRAME, index=[2, 0, 1]).to_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet")
    assert list(table.values) == list(FRAME)
    assert table.notes[0].endswith("was left out: __index_level_0__.")


@pytest.mark.parametrize("names", [["Age", "age"], ["a", "A", "a_1"], ["a", ""]])
def test_names_that_duckdb_would_change_are_refused(tmp_path, names):
    pq.write_table(pa.table([[1]] * len(names), names=names), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="without a name, or names that differ in case only"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("text", "is_odd"),
    [
        ("I loved this film,good\nBad,poor\nNice,good\n", True),
        ("ham,Ok lar\nspam,Win\nham,Hi\n", True),
        ("what a very nice film,a\nthis is not a good one,b\nI am not sure of it,c\n", True),
        ("text,label\nI loved this film,good\nBad,poor\n", False),
        (
            "What would you change here?,y\nnothing at all I think,p\nthe food was not good,q\n",
            False,
        ),
        ("a,b\nx,y\na,b\nz,w\n", False),
    ],
)
def test_a_first_line_of_a_text_and_a_label_looks_like_a_row(tmp_path, text, is_odd):
    (tmp_path / "t.csv").write_text(text)
    notes = read(tmp_path / "t.csv").notes
    assert [("looks like a row" in note) for note in notes] == [True] * is_odd
