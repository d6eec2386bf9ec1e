"""Text tables as programs write them: whatever the dialect, encoding and ends of lines are."""

# ruff: noqa: RUF001  letters of many languages

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from backports import zstd
from hypothesis import example, given
from hypothesis import strategies as st

import naively
from naively import load
from naively.kernels.encodings import guess
from naively.wings.files import FileColumns, FileOptions, opened, read
from tests.commands import run

# The same table, however it is written

NAMES = ["size", "kind", "note"]
ROWS = [
    ["1.5", "red", "plain"],
    ["2.5", "blue", "a, b; c"],
    ["-3", "red", 'say "hi", you'],
    ["4", "grün", "it's"],
    ["0.25", "red", r"C:\temp, back\slash"],
    ["7", "blue", 'ends with "quotes"'],
]
READ = {
    "size": [float(row[0]) for row in ROWS],
    "kind": [row[1] for row in ROWS],
    "note": [row[2] for row in ROWS],
}


def by_csv(names: list[str], rows: list[list[str]], **how: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", **how)
    writer.writerows([names, *rows])
    return text.getvalue()


def of_spark(names: list[str], rows: list[list[str]]) -> str:
    """Quotes within quotes have a backslash, as Spark and R's ``qmethod = "escape"`` write them."""
    cells = [['"' + cell.replace('"', r"\"") + '"' for cell in row] for row in [names, *rows]]
    return "".join(",".join(row) + "\n" for row in cells)


def of_mysqldump(names: list[str], rows: list[list[str]], tab="\\\t", end="\\\n") -> str:
    """``mysqldump --tab``: no quotes, and a backslash before what is not meant."""
    kept = str.maketrans({"\\": r"\\", "\t": tab, "\n": end})
    lines = [[cell.translate(kept) if cell else r"\N" for cell in row] for row in rows]
    return "".join("\t".join(row) + "\n" for row in [names, *lines])


of_postgres = partial(of_mysqldump, tab=r"\t", end=r"\n")  # ``COPY ... TO``, in its text format


def commented(names: list[str], rows: list[list[str]]) -> str:
    head, *lines = by_csv(names, rows).splitlines(keepends=True)
    return "".join(["# made, by hand, at, home\n", "#\n", head, "# rows\n", *lines])


def excel(names: list[str], rows: list[list[str]]) -> str:
    return "sep=;\n" + by_csv(names, rows, delimiter=";")


Written = Callable[[list[str], list[list[str]]], str]
DIALECTS: dict[str, Written] = {
    "plain": by_csv,
    "semicolons": lambda n, r: by_csv(n, r, delimiter=";"),
    "tabs": lambda n, r: by_csv(n, r, delimiter="\t"),
    "bars": lambda n, r: by_csv(n, r, delimiter="|"),
    "all in quotes": lambda n, r: by_csv(n, r, quoting=csv.QUOTE_ALL),
    "Excel": excel,
    "Spark": of_spark,
    "single quotes": lambda n, r: by_csv(n, r, quotechar="'"),
    "mysqldump": of_mysqldump,
    "no quotes": lambda n, r: "".join("\t".join(row) + "\n" for row in [n, *r]),
    "comments": commented,
}
MORE = {"mysqldump": "tab\there", "no quotes": '"hi" there'}


def strings(table: FileColumns, *names: str) -> list[list[str]]:
    """Return columns of strings, without the blanks before them, whose cells may be missing."""
    columns = (table.values[name].tolist() for name in names)
    return [[c.lstrip(" ") if isinstance(c, str) else "" for c in column] for column in columns]


def values(table: FileColumns) -> dict[str, list[Any]]:
    return {
        name: [None if cell is None or cell != cell else cell for cell in column.tolist()]
        for name, column in table.values.items()
    }


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_whatever_the_dialect_encoding_and_ends_of_lines(
    tmp_path: Path, dialect: str, encoding: str, end: str
) -> None:
    path = tmp_path / "t.csv"
    note = MORE.get(dialect, "more")  # what plain CSV would not be written so
    expected = {"size": [*READ["size"], 8], "kind": [*READ["kind"], "red"]}
    expected["note"] = [*READ["note"], note]
    text = DIALECTS[dialect](NAMES, [*ROWS, ["8", "red", note]]).replace("\n", end)
    path.write_bytes(text.encode(encoding))
    table = read(path)
    assert values(table) == expected
    plain = dialect in {"plain", "semicolons", "tabs", "bars", "all in quotes", "Excel"}
    assert (not table.notes) == (plain and encoding != "cp1252")
    said = FileOptions(encoding=encoding)
    assert values(read(path, file=said)) == expected
    assert not any("UTF-8" in note for note in read(path, file=said).notes)


CELLS = st.text(alphabet="ab1 ,;\t'\"\\#é", max_size=6)
EXPLICIT = [
    ({"delimiter": ";"}, {}),
    ({"delimiter": "\x01"}, {}),
    ({"delimiter": "§"}, {}),
    ({"quotechar": "'"}, {"quote": "'"}),
    ({"doublequote": False, "escapechar": "\\"}, {"escape": "\\"}),
    ({"quoting": csv.QUOTE_NONE, "escapechar": "\\"}, {"quote": "none", "escape": "\\"}),
    ({"quoting": csv.QUOTE_NONE, "escapechar": "^"}, {"quote": "none", "escape": "^"}),
]


@pytest.mark.parametrize(("how", "also"), EXPLICIT)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6))
@example([("a\\", "b"), ('"', "\\\\"), ("\\t", "\\N")])
def test_what_is_said_of_a_dialect_is_how_it_is_read(
    how: dict[str, Any], also: dict[str, Any], rows: list[tuple[str, str]]
) -> None:
    text = by_csv(["k", "x", "y"], [["k", *row] for row in rows], **how)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_text(text, encoding="utf-8")
        options = FileOptions(delimiter=how.get("delimiter", ","), comment="none", **also)
        table = read(path, file=options, types=dict.fromkeys("kxy", "string"))
    # A blank after each delimiter is left out, with a note.
    expected = [[cell.lstrip(" ") for cell in column] for column in zip(*rows, strict=True)]
    assert strings(table, "x", "y") == expected


@pytest.mark.parametrize("dialect", ["mysqldump", "postgres"])
@given(st.lists(st.tuples(CELLS | st.just("x\ty\nz"), CELLS), min_size=1, max_size=6))
def test_dumps_of_databases_come_back(dialect: str, rows: list[tuple[str, str]]) -> None:
    """With what no plain reading can take: an escaped tab in the first row."""
    rows = [("tab\there", "\\"), *rows]
    write = {"mysqldump": of_mysqldump, "postgres": of_postgres}[dialect]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.txt")
        path.write_text(write(["k", "x", "y"], [["k", *row] for row in rows]), encoding="utf-8")
        options = FileOptions(delimiter="tab", quote="none", escape="\\", comment="none")
        table = read(path, file=options, types=dict.fromkeys("kxy", "string"))
    expected = [[cell.lstrip(" ") for cell in column] for column in zip(*rows, strict=True)]
    assert strings(table, "x", "y") == expected


PIECES = st.sampled_from(["a", "7", "x y", "é", "'", '"', '""', '"q"', ",", "\n", "#", "\\"])
PLAIN = st.lists(PIECES, max_size=30).map("".join)


@given(PLAIN)
@example('1,"x"\n2,"y')
@example('1,2\n3," 4"\n"5\n6",7\n')
def test_what_reads_as_plain_csv_stays_so(text: str) -> None:
    """As Python's reader has it, strictly: where that can, no other dialect is looked for."""
    text = f"one,two\n1,2\n{text}"
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error:
        return
    if {len(row) for row in rows} != {2}:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_text(text, encoding="utf-8", newline="")
        table = read(path, types={"one": "string", "two": "string"})
    found = zip(*(table.values[name].tolist() for name in ("one", "two")), strict=True)
    assert [[cell or "" for cell in row] for row in found] == rows[1:]
    assert table.notes == ()


# Tables as programs write them


def test_adult_as_it_is(tmp_path: Path) -> None:
    rows = (
        "39, State-gov, 77516, Bachelors, 13, <=50K\n50, Self-emp-not-inc, 83311, Bachelors, 13, "
        "<=50K\n38, Private, ?, HS-grad, 9, >50K\n53, ?, 234721, 11th, 7, >50K\n\n"
    )
    train, test, model = tmp_path / "adult.data", tmp_path / "adult.test", tmp_path / "m"
    train.write_text(rows)
    test.write_text("|1x3 Cross validator\n" + rows)
    done = run("train", train, "--no-header", "-t", "column 6", "-o", model)
    assert done.returncode == 0
    assert b"adult.data does not say what the file is: it was read as CSV" in done.stderr
    assert load(model).class_count_.sum() == 4
    done = run("evaluate", model, test)
    assert done.returncode == 0
    assert b"1 line of " in done.stderr
    assert b"begins with | and was left out" in done.stderr


def test_german_excel(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    text = "sep=;\r\nName;Größe;Preis\r\nMüller;1,5;1.234,50 €\r\nJäger;2,25;870,00 €\r\n"
    path.write_bytes(text.encode("cp1252"))
    table = read(path)
    assert values(table) == {
        "Name": ["Müller", "Jäger"], "Größe": [1.5, 2.25], "Preis": [1234.5, 870]
    }  # fmt: skip
    (note,) = table.notes
    assert note.startswith(f"{path} is not UTF-8: it was read as windows-1252; if letters look")


@pytest.mark.parametrize("sep", [",", " ", ";"])
def test_r_writes_names_of_rows_without_a_name(tmp_path: Path, sep: str) -> None:
    path = tmp_path / ("t.txt" if sep == " " else "t.csv")
    lines = [["x", "y"], ["1", 1.5, "a b"], ["2", -2, r"c \"q\" d"]]
    text = [sep.join(f'"{c}"' if isinstance(c, str) else str(c) for c in row) for row in lines]
    path.write_text("\n".join(text) + "\n")
    table = read(path)
    assert values(table) == {"row name": [1, 2], "x": [1.5, -2], "y": ["a b", 'c "q" d']}
    assert any('the first column is called "row name"' in note for note in table.notes)
    path.write_text(f"x{sep}y\n1{sep}2{sep}\n3{sep}4{sep}\n")
    assert values(read(path)) == {"x": [1, 3], "y": [2, 4]}  # a delimiter at the end names nothing


@pytest.mark.parametrize("header", [True, False])
def test_columns_between_blanks(tmp_path: Path, header: bool) -> None:
    path = tmp_path / "auto.data"
    rows = ["18.0   8  307.0  ford", "15.0\t8   350.0  buick", "  9.5 4 90 vw  "]
    path.write_text("\n".join(["mpg cylinders weight make"] * header + rows) + "\n\n")
    table = read(path, file=FileOptions(header=header))
    frame = pd.read_csv(path, sep=r"\s+", header=0 if header else None)
    assert [*values(table).values()] == [frame[name].tolist() for name in frame]
    assert f"{path} was read with blanks between its fields (delimiter='blank')." in table.notes
    for lines in (
        "full name|John Smith|Anna Bell",  # words alone are no columns
        "when|2020-01-01 10:00|2020-01-02 11:00",  # nor are times of a day
        "on day|2020-01-01 10:00|2020-01-02 11:00",
        "my price|1 234|5 678",
        "product|phone 5|phone 6",
    ):
        path.write_text(lines.replace("|", "\n"))
        assert len(values(read(path))) == 1
    (tmp_path / "t.csv").write_text("product name\nphone 5\nphone 6\n")  # nor is CSV
    assert values(read(tmp_path / "t.csv")) == {"product name": ["phone 5", "phone 6"]}
    path.write_text("full name\nJohn Smith\nAnna Bell\n")
    given = read(path, file=FileOptions(delimiter="blank"))
    assert values(given) == {"full": ["John", "Anna"], "name": ["Smith", "Bell"]}
    path.write_text('a\tb\n1\t "x\ty"\n2 \tz\n')
    given = read(path, file=FileOptions(delimiter="blank"))
    assert values(given) == {"a": [1, 2], "b": ["x\ty", "z"]}
    path.write_text("a 1\n" + "b 2\n" * 200 + "c and d 3\n")  # not every line
    assert len(read(path, file=FileOptions(header=False)).values["column 1"]) == 202


def test_quotes_that_are_letters(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('text\tn\n"hello" world\t1\n5" pipe\t2\n"whole"\t3\n')
    table = read(path)
    assert values(table) == {"text": ['"hello" world', '5" pipe', '"whole"'], "n": [1, 2, 3]}
    assert table.notes == (f"{path} is not plain CSV: it was read with quote='none'.",)
    for text in ('a,b\n1,x\n"2,y\n', 'a,b\n"1","x"\n"2","y"\n"3","z"z\n'):  # a mistake, not a way
        path.write_text(text)
        with pytest.raises(ValueError, match=r"Line \d of .* has a quote"):
            read(path)
    path.write_text('a\n1,x\n"2" b,y\n')  # no table of one column
    with pytest.raises(ValueError, match=r"Line [23] of "):
        read(path)
    path.write_text('a,b\n1,x\n"2,y\n')
    assert values(read(path, file=FileOptions(quote="none")))["a"] == [1.0, None]


def test_backslashes_of_paths_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('path\tn\nC:\\new\\temp\t1\n"x" y\t2\n')
    assert values(read(path))["path"] == [r"C:\new\temp", '"x" y']


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("length", [1, 3_000_000])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_name_of_several_lines(tmp_path: Path, end: str, length: int, mark: str) -> None:
    path = tmp_path / "t.csv"
    text = f'{mark}"a{end}x",b{end}1,2{end}3,"{"y" * length}"{end}5,z{end}'
    path.write_bytes(text.encode())
    expected = {f"a{end}x": [1, 3, 5], "b": ["2", "y" * length, "z"]}
    assert values(read(path, types={"b": "string"})) == expected


def test_names_that_stand_twice_are_refused(tmp_path: Path) -> None:
    for name, text in (
        ("t.csv", "a,b,a\n1,2,3\n"),
        ("t.csv", "b, a, a\n1, 2, 3\n"),
        ("t.csv", "# c\na,a\n1,2\n"),
        ("t.dat", "a a\n1  2\n3  4\n"),
    ):
        path = tmp_path / name
        path.write_text(text)
        table = read(path)
        assert 'more than one column named "a": the second is called "a (2)"' in table.notes[-1]
        assert sorted(map(str, table.rows.names))[:2] == ["a", "a (2)"]


# Comments


@pytest.mark.parametrize("sign", ["#", "%"])
def test_lines_above_the_header(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{sign} made on Monday\n{sign}id,name\n1,x\n{sign} in between\n2,y\n")
    table = read(path)
    assert values(table) == {f"{sign}id": [1, 2], "name": ["x", "y"]}
    (note,) = table.notes
    assert note.startswith(f"2 lines of {path} begin with {sign} and were left out: if that is")
    path.write_text(f"{sign}id,name\n1,x\n{sign}2,y\n")  # a header, and rows
    second = 2 if sign == "%" else None  # percent
    assert values(read(path)) == {f"{sign}id": [1, second], "name": ["x", "y"]}
    for text in (f"{sign}my tag\nfoo\nbar\n", f"{sign}names\nJohn Smith\nAnna Bell\n"):
        path.write_text(text)  # of one column
        assert [*values(read(path))] == [text.splitlines()[0]]
    path.write_text(f"{sign}id,name\n1,x,\n2,y,\n")
    assert values(read(path)) == {f"{sign}id": [1, 2], "name": ["x", "y"]}
    path.write_text(f"{sign}id,name\n\n")
    assert values(read(path)) == {f"{sign}id": [], "name": []}
    blanks = tmp_path / "t.dat"
    blanks.write_text(f"{sign} made\na b\n1  2\n3  4\n")
    assert values(read(blanks)) == {"a": [1, 3], "b": [2, 4]}
    path.write_text(f"{sign}id,name\n1,x\n{sign}2,y\n")
    given = read(path, file=FileOptions(comment=sign, header=False))
    assert values(given) == {"column 1": [1], "column 2": ["x"]}
    path.write_text("id,name\n1,x\n//2,y\n")
    assert values(read(path, file=FileOptions(comment="//"))) == {"id": [1], "name": ["x"]}


def test_a_row_below_comments_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('# a\n# b\nid,name\n1,"x\ny"\n\n# c\n2,y\n3\n')
    with pytest.raises(ValueError, match=r"Line 9 of .* number of fields \(1\)"):
        read(path)
    path.write_text('# a\n# b\nid,name\n1,"x\ny"\n\n# c\nword,y\n')
    with opened(path, types={"id": "number"}) as table:
        for _ in table:
            pass
        assert "'word' in line 8, where a number is expected" in table.notes[-1]


# Lines above the header, and below the table


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Report of May\na,b,c\n1,2,x\n3,4,y\n", 1),
        ("Report,,\n\na,b,c\n1,2,x\n3,4,y\n", 2),
        ("Verkauf 2024\nStand: heute\n\na;b;c\n1;2;x\n3;4;y\n", 3),
        ("sep=;\nBericht\na;b;c\n1;2;x\n3;4;y\n", 1),
        ('"Sales, by town\n(all)"\na\tb\tc\n1\t2\tx\n3\t4\ty\n', 2),
    ],
)
def test_titles_are_found(tmp_path: Path, text: str, lines: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    table = read(path)
    assert values(table) == {"a": [1, 3], "b": [2, 4], "c": ["x", "y"]}
    (note,) = table.notes
    assert note.startswith(f"{lines} line")
    assert note.endswith("left out: if that is wrong, say skip=0.")
    path.write_text(text + "5\n")
    with pytest.raises(ValueError, match=rf"Line {len(text.splitlines()) + 1} of .* \(1\)"):
        read(path)


@pytest.mark.parametrize("text", ["t\na b\nc d\n", "x,,\n1,2,3\n4,5,6\n", "x,y\na,b\n1,2\n"])
def test_what_is_no_title(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert next(iter(read(path).values)) == text[0]


def test_as_many_lines_are_left_out_as_are_said(tmp_path: Path) -> None:
    path, model = tmp_path / "t.csv", tmp_path / "m"
    path.write_text("1,2\n" * 300 + "Report\na,y\n" + "1,u\n2,v\n" * 20, encoding="utf-8")
    assert values(read(path, file=FileOptions(skip=301)))["y"][:2] == ["u", "v"]
    assert run("train", path, "-t", "y", "-o", model, "--skip", "301").returncode == 0
    assert run("evaluate", model, path).returncode == 0  # as the model has kept
    path.write_text("Report\na,b,c\n1,2,x\n")
    with pytest.raises(ValueError, match=r"Line 2 of .* number of fields \(3\)"):
        read(path, file=FileOptions(skip=0, delimiter=","))


@pytest.mark.parametrize("total", ["Total,6,", "TOTAL:,,", "Summe,6,8", "Total: 6"])
def test_a_total_below_is_no_row(tmp_path: Path, total: str) -> None:
    path, bad = tmp_path / "t.csv", tmp_path / "bad"
    path.write_text(f"a,b,c\nx,2,3\ny,4,5\n{total}\n\n")
    with pytest.raises(ValueError, match=r"Line 4 of .* by bad_rows=skip=FILE\.$"):
        read(path)
    expected = {"a": ["x", "y"], "b": [2, 4], "c": [3, 5]}
    assert values(read(path, file=FileOptions(bad_rows=f"skip={bad}"))) == expected
    assert bad.read_text().startswith(f"{total}\n")
    path.write_text(f"a,b,c\n{total}\nx,2,3\n{total}\n")  # a level
    assert ": " in total or len(read(path)) == 3


# Encodings

LANGUAGES = {
    "Müller, Größe, Straße, Köln, für, Äpfel": ["cp1252", "iso8859-1", "cp850", "mac_roman"],
    "François, Hélène, été, garçon, où, forêt": ["cp1252", "iso8859-1", "mac_roman"],
    "São Paulo, João, coração, não, avó, três": ["cp1252", "iso8859-1"],
    "Łódź, Kraków, Wójcik, Święta, źródło, pięć": ["cp1250", "iso8859-2"],
    "Dvořák, Plzeň, Žižka, Němec, kůň, děkuji": ["cp1250", "iso8859-2"],
    "İstanbul, Şanlıurfa, Ağrı, Çelik, güzel": ["cp1254", "iso8859-9"],
    "Šiauliai, Panevėžys, ačiū, ąžuolas, ėjimas": ["cp1257"],
    "Москва, Казань, Иванов, спасибо, хорошо": ["cp1251", "koi8-r", "cp866"],
    "Αθήνα, Θεσσαλονίκη, Άννα, ευχαριστώ, ώρα": ["cp1253", "iso8859-7"],
    "これ, それ, について, という": ["shift_jis", "euc_jp"],
    "מאחורי, איננה, ספק, אבל, כאשר": ["cp1255"],
    "我们, 只有, 因为, 什么": ["gbk"],
    "ירושלים, תל-אביב, חיפה, באר-שבע, כהן, לוי, מזרחי, שלום, משפחה, בית, תודה, מים, גן": ["cp1255"],
    "القاهرة, دمشق, محمد, شكرا, مدرسة": ["cp1256"],
    "東京, 大阪, ありがとう, コーヒー, 日本語の本": ["shift_jis", "euc_jp"],
    "北京, 上海, 谢谢, 你好, 质量不错": ["gbk", "gb18030"],
    "臺北, 高雄, 謝謝, 你好, 品質不錯": ["big5"],
    "서울, 부산, 감사합니다, 안녕하세요, 학교": ["euc_kr"],
}


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, name) for text, names in LANGUAGES.items() for name in names]
)
def test_the_encoding_is_guessed_and_said(tmp_path: Path, text: str, encoding: str) -> None:
    words = text.split(", ")
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(["word,n", *(f"{word},1" for word in words), ""]).encode(encoding))
    table = read(path)
    assert values(table)["word"] == words
    (note,) = table.notes
    assert note.startswith(f"{path} is not UTF-8: it was read as ")
    assert note.endswith("; if letters look wrong, say encoding=.")
    (again,) = [run("columns", path, "--encoding", encoding)]
    assert (again.returncode, again.stderr) == (0, b"")


def test_the_last_letters_of_a_file_count_too() -> None:
    words = "Москва, Казань".encode("cp1251")
    assert guess([b"a" * 1000, b"\n", words]).encoding == "cp1251"
    assert guess(["é".encode() * 9, b"\xe9"]).encoding == "utf-8"
    assert not guess([bytes(range(256)) * 9]).is_text


BYTES = bytes(range(0x80, 0x100))
KINDS = {"UTF-8 with strays": "é,ü,ø\n".encode() * 200, "no UTF-8": b""}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl"])
def test_no_two_bytes_become_one_letter(tmp_path: Path, name: str, kind: str) -> None:
    """Whatever the encoding is taken for, levels that differ stay so."""
    cells = [b"x" + bytes([byte]) + b"y" for byte in BYTES]
    if "csv" in name:
        content = b"a,b,c\n" + KINDS[kind] + b"".join(b"%s,1,2\n" % cell for cell in cells)
    else:
        filler = KINDS[kind].replace(b"\n", b" ")
        content = b'{"a": "%s"}\n' % filler + b"".join(b'{"a": "%s"}\n' % cell for cell in cells)
    path = tmp_path / name
    if name.endswith(".gz"):
        content = gzip.compress(content)
    path.write_bytes(content)
    table = read(path, types={"a": "string"})
    found = table.values["a"].tolist()[-128:]
    assert len(set(found)) == 128
    assert "\ufffd" not in "".join(found)
    assert len(table.notes) == 1


@given(st.lists(st.binary(min_size=1, max_size=4), min_size=2, max_size=8, unique=True))
def test_strays_stay_different(stray: list[bytes]) -> None:
    clean = [bytes(b | 0x80 for b in one) for one in stray]  # none of them a delimiter or a quote
    filler = "éüøß".encode() * 50
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(b"a,b\n%s,1\n" % filler + b"".join(b"x%sx,1\n" % one for one in clean))
        found = read(path, types={"a": "string"}).values["a"].tolist()[1:]
    as_text = [one.decode("utf-8", "surrogateescape") for one in clean]
    # A letter of windows-1252 and the same one in UTF-8 are one letter.
    if all("\udc80" <= c <= "\udcff" for text in as_text for c in text):
        assert len(set(found)) == len(set(clean))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz"])
def test_compressed_text_of_another_encoding(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = (
        'a,b\nМосква,"1"\nКазань,2\nx\n'
        if "csv" in name
        else '{"a": "Москва", "b": "спасибо, очень хорошо"}\nno\n'
    )
    path.write_bytes(gzip.compress(text.encode("cp1251")))
    bad = tmp_path / "bad"
    for encoding in (None, "cp1251"):
        table = read(path, file=FileOptions(encoding=encoding, bad_rows=f"skip={bad}"))
        assert values(table)["a"][0] == "Москва"
        assert bad.read_text() in {"x\n", "no\n"}


def test_a_byte_that_an_encoding_has_not_is_said_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for end in ("\n", "\r\n", "\r"):
        path.write_bytes(end.join(["a,n", "foo,1", "x\x81y,2", ""]).encode("latin-1"))
        with pytest.raises(ValueError, match=r"Line 3 of .* has a byte \(0x81\) that is not in"):
            read(path, file=FileOptions(encoding="windows-1252"))
        with pytest.raises(ValueError, match=r"Line 3 of .* byte \(0x81\)"):
            read(path, file=FileOptions(encoding="utf-8"))


def test_a_folder_of_texts_in_another_encoding(tmp_path: Path) -> None:
    for label, text in (("a", "Москва"), ("b", "Казань")):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_bytes(text.encode("cp1251"))
    table = read(tmp_path, file=FileOptions(encoding="cp1251"))
    assert (values(table)["text"], table.notes) == (["Москва", "Казань"], ())
    with pytest.raises(ValueError, match=r"Line 1 of .*1.txt has a byte \(0xcc\) that is not in"):
        read(tmp_path, file=FileOptions(encoding="utf-8"))


# Rows that cannot be read

LINES = st.lists(
    st.sampled_from(
        ["1,2", "3", "4,5,6", '"x,y",7', '"x,8', 'a"b,9', '"x"y,10', '"",11', ",12", '13,"', "14,'"]
    ),
    min_size=1,
    max_size=12,
)


@given(LINES)
@example(['"x,8', "1,2", "1,2"])
@example(['"x,8', '13,"', "1,2"])
def test_rows_are_read_or_left_out_and_none_is_lost(lines: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, bad = Path(folder, "t.csv"), Path(folder, "bad.csv")
        path.write_text("\n".join(["one,two", *lines]) + "\n")
        options = FileOptions(bad_rows=f"skip={bad}", quote='"')
        table = read(path, types={"one": "string", "two": "string"}, file=options)
        left_out = bad.read_text().splitlines()
    rows = [[*row] for row in zip(*strings(table, "one", "two"), strict=True)]
    taken = sum(1 + sum(cell.count("\n") for cell in row) for row in rows)
    assert taken + len(left_out) == len(lines)
    rest = iter(lines)
    assert all(line in rest for line in left_out)  # as they are written, in their order
    good = [line for line in lines if line in {"1,2", ",12"}]
    if not any(line.count('"') % 2 for line in lines):
        assert [row for row in rows if row in (["1", "2"], ["", "12"])] == [
            line.split(",") for line in good
        ]
    assert bool(table.notes) == bool(left_out)


def test_a_quote_that_is_never_closed_swallows_nothing(tmp_path: Path) -> None:
    path, bad = tmp_path / "t.csv", tmp_path / "bad.csv"
    rows = [f'{i},"x{i}"' for i in range(2000)]
    rows[5:5] = ['5,"broken', "6,7,8"]
    path.write_bytes("\r\n".join(["a,b", '0,"two\r\nlines"', *rows, ""]).encode())
    table = read(path, file=FileOptions(bad_rows=f"skip={bad}"))
    assert table.values["a"].tolist() == [0, *range(2000)]
    assert bad.read_bytes() == b'5,"broken\n6,7,8\n'
    assert table.notes == (
        f"2 rows of {path} were left out and written to {bad}; the first is line 9.",
    )
    with pytest.raises(ValueError, match=r"Line 9 of .* has a quote"):
        read(path)


def test_a_row_left_out_is_counted_in_the_lines_of_others(tmp_path: Path) -> None:
    path, bad = tmp_path / "t.csv", tmp_path / "bad.csv"
    path.write_text("a,b\n" + "1,2\n" * 20 + "1\nword,2\n")
    options = FileOptions(bad_rows=f"skip={bad}")
    assert "'word' in line 23" in read(path, types={"a": "number"}, file=options).notes[-1]


def test_lines_of_json_that_are_no_object_are_left_out(tmp_path: Path) -> None:
    path, bad = tmp_path / "t.jsonl", tmp_path / "bad"
    rows = ['{"a": 1}', "nope", "", "[1]", '{"a": 2}', '{"a": 3, "a": 4}', "7"]
    path.write_text("\n".join(rows))
    table = read(path, file=FileOptions(bad_rows=f"skip={bad}"))
    assert values(table) == {"a": [1, 2]}
    assert bad.read_text().splitlines() == ["nope", "[1]", '{"a": 3, "a": 4}', "7"]
    assert table.notes == (
        f"4 rows of {path} were left out and written to {bad}; the first is line 2.",
    )


def test_what_is_left_out_of_several_files_is_one_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x,y\n" + "1,2\n" * 20 + f"{name}\n")
    table = read(tmp_path / "*.csv", file=FileOptions(bad_rows=f"skip={bad}"))
    assert len(table) == 40
    assert bad.read_text() == "a\nb\n"


def test_the_file_of_bad_rows_is_whole_or_not_there(tmp_path: Path) -> None:
    path, bad = tmp_path / "t.csv", tmp_path / "bad.csv"
    path.write_text("a,b\n" + "1,2\n" * 20 + "1\n")
    options = FileOptions(bad_rows=f"skip={bad}")
    with pytest.raises(RuntimeError), opened(path, file=options):
        raise RuntimeError
    assert not bad.exists()
    read(path, file=options)
    assert bad.read_text() == "1\n"
    with pytest.raises(ValueError, match="would destroy what is read"):
        read(path, file=FileOptions(bad_rows=f"skip={path}"))
    path.write_text("a,b\n1,2\n")
    read(path, file=options)
    assert bad.read_text() == ""  # none now


# Options that are none, on the command line, and in a model


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "::"}, "delimiter= must be one character, tab or blank, got '::'"),
        ({"delimiter": "\n"}, "delimiter= must be one character"),
        ({"quote": "''"}, "quote= must be one character or none"),
        ({"escape": "ab"}, "escape= must be one character or none"),
        ({"escape": ";", "delimiter": ";"}, "';' cannot be two of the delimiter, the quote"),
        ({"delimiter": '"'}, "cannot be two of"),
        ({"encoding": "klingon"}, "'klingon' is not known: give one such as utf-8"),
        ({"encoding": "base64"}, "'base64' is not known"),
        ({"bad_rows": "ignore"}, "must be stop or skip=FILE, got 'ignore'"),
        ({"bad_rows": "skip="}, "must be stop or skip=FILE"),
        ({"skip": "-1"}, "skip= must be a number of lines, got '-1'"),
        ({"comment": "# "}, "must not have blanks"),
    ],
)
def test_an_option_that_is_none(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FileOptions(**options)  # type: ignore[arg-type]
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    given = [part for name, of in options.items() for part in (f"--{name.replace('_', '-')}", of)]
    done = run("columns", path, *given)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


def test_zstandard_in_any_dialect_and_encoding(tmp_path: Path) -> None:
    path, bad = tmp_path / "t.csv.zst", tmp_path / "bad"
    text = "# made\ngröße;y\n1;'a;b'\n2\n3;x\n"
    path.write_bytes(zstd.compress(text.encode("cp1252")))
    options = FileOptions(quote="'", encoding="cp1252", bad_rows=f"skip={bad}")
    assert values(read(path, file=options)) == {"größe": [1, 3], "y": ["a;b", "x"]}
    assert bad.read_text() == "2\n"


TRAINED = [["1", "rot", "u"], ["2", "grün", "v"], ["3", "rot", "u"], ["4", "grün", "v"]] * 5
SAID: dict[str, tuple[Written, list[str]]] = {
    "--delimiter": (lambda n, r: by_csv(n, r, delimiter="^"), ["^"]),
    "--quote": (lambda n, r: by_csv(n, r, quotechar="~", quoting=csv.QUOTE_ALL), ["~"]),
    "--escape": (lambda n, r: of_spark([f'"{x}"' for x in n], r), ["\\"]),
    "--encoding": (by_csv, ["cp1252"]),
    "--comment": (lambda n, r: by_csv(n, [["!1", "x", "u"], *r]), ["!"]),
    "--no-header": (lambda _, r: by_csv(r[0], r[1:]), []),
}


@pytest.mark.parametrize("option", SAID)
def test_a_model_reads_as_its_training_did(tmp_path: Path, option: str) -> None:
    write, value = SAID[option]
    data, model = tmp_path / "t.csv", tmp_path / "m"
    names = ['"a"', '"b"', '"y"'] if option == "--escape" else ["a", "b", "y"]
    target = "column 3" if option == "--no-header" else names[2]
    encoding = "cp1252" if option == "--encoding" else "utf-8"
    data.write_bytes(write(["a", "b", "y"], TRAINED).encode(encoding))
    done = run("train", data, "-t", target, "-o", model, option, *value)
    assert done.returncode == 0, done.stderr
    assert load(model).class_count_.tolist() == [10, 10]
    run("update", model, data, "--again")
    assert load(model).class_count_.tolist() == [20, 20]
    run("forget", model, data)
    assert load(model).class_count_.tolist() == [10, 10]
    for verb in ("predict", "evaluate", "explain"):
        done = run(verb, model, data, "--format", "csv")
        assert done.returncode == 0, done.stderr
        assert (b"has learned rows of" in done.stderr) == (verb == "evaluate") == bool(done.stderr)
    assert len(run("predict", model, data, "--format", "csv").stdout.splitlines()) == 21
    other = tmp_path / "u.csv"
    other.write_bytes(by_csv(["a", "b", "y"], TRAINED).encode())
    if option == "--delimiter":  # what is given is not what the model has kept
        assert run("evaluate", model, other).returncode == 2
        assert run("evaluate", model, other, "--delimiter", ",").returncode == 0
    merged = tmp_path / "both"
    run("merge", model, model, "-o", merged, "--again")
    assert (run("evaluate", merged, data).returncode, load(merged).class_count_.sum()) == (0, 40)


def test_what_a_model_file_says_of_files_may_be_anything() -> None:
    kept = {"delimiter": 3, "header": "no", "quote": "'", "target": "y", "rows": 7}
    assert FileOptions().over(kept) == FileOptions(quote="'")


def test_bad_rows_are_of_one_file_alone(tmp_path: Path) -> None:
    data, bad, model = tmp_path / "t.csv", tmp_path / "bad.csv", tmp_path / "m"
    data.write_text(by_csv(["a", "b", "y"], TRAINED) + "1,2\n", encoding="utf-8")
    skip = f"skip={bad}"
    done = run("train", data, "-t", "y", "-o", model, "--bad-rows", skip)
    assert done.returncode == 0
    assert b"1 row of " in done.stderr
    assert bad.read_text() == "1,2\n"
    done = run("predict", model, data)
    assert done.returncode == 2
    assert b"Line 22 of " in done.stderr
    for verb in (["predict"], ["update", "--again"]):
        assert run(*verb, model, data, "--bad-rows", skip).returncode == 0
    for clash in (["-o", bad], ["-o", tmp_path / "x.csv", "--bad-rows", f"skip={data}"]):
        options = clash if "--bad-rows" in clash else [*clash, "--bad-rows", skip]
        done = run("predict", model, data, *options)
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1


def test_rows_far_below_say_how_a_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,w\n" + "1,x\n" * 200_000 + '1,"say \\"hi\\", you"\n')
    table = read(path)
    assert table.values["w"][-1] == 'say "hi", you'


def test_every_verb_that_reads_a_file_has_its_options() -> None:
    for verb in (
        *("train", "update", "forget", "calibrate", "columns", "predict", "evaluate", "explain"),
        *("report", "curve learning", "curve smoothing"),
    ):
        shown = run(*verb.split(), "--help", COLUMNS="200").stdout.decode()
        for option in FileOptions.__dataclass_fields__:
            asked = "no-header" if option == "header" else option.replace("_", "-")
            assert f"--{asked}" in shown, verb


def test_names_of_encodings_are_those_of_python() -> None:
    for name in ("windows-1252", "latin-1", "shift_jis", "gbk", "utf-16"):
        assert FileOptions(encoding=name).encoding == name
        assert codecs.lookup(name)


def test_json_of_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    rows = [{"a": "Москва", "n": 1}, {"a": "Казань", "n": None}]
    path.write_bytes(json.dumps(rows, ensure_ascii=False).encode("cp1251"))
    expected = {"a": ["Москва", "Казань"], "n": [1, None]}
    assert values(read(path)) == expected
    assert values(read(path, file=FileOptions(encoding="cp1251"))) == expected
    path.write_bytes(json.dumps(rows, ensure_ascii=False).encode("utf-16"))
    assert values(read(path)) == expected


@pytest.mark.parametrize("indent", [None, 2])
def test_rows_under_a_key_of_json(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "t.json"
    rows = [{"a": "é", "n": 1}, {"a": None, "n": None}, {"a": "x", "n": 2.5}]
    path.write_text(json.dumps({"data": rows}, indent=indent, ensure_ascii=False), "utf-8")
    table = read(path)
    assert values(table) == {"a": ["é", None, "x"], "n": [1, None, 2.5]}
    assert table.notes == (f'The rows of {path} are those under "data".',)
    path.write_text(json.dumps({"data": [{"a": 1}, 2]}))
    with pytest.raises(ValueError, match='Column "data"'):
        read(path)


def test_a_table_by_its_name_shows_the_notes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("größe,n\nklein,1\n".encode("cp1252"))
    found = naively.columns(path, file=FileOptions(delimiter=","))
    assert [column.name for column in found.columns] == ["größe", "n"]
    late = 'a,b\n1,"say \\"hi\\", you"\n'
    path.write_text(late)
    assert [column.examples for column in naively.columns(path).columns][1] == ('say "hi", you',)
    assert run("columns", path).returncode == 0
