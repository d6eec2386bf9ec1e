"""Tables as people have them: marks of missing, notations and dates of any country."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import NaiveBayes, load
from naively.data.frames import as_rows
from naively.wings.files import opened, read
from tests.commands import run

N = 240


def clean() -> pd.DataFrame:
    """A table of typed columns."""
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], N)
    shift = (y == "yes").astype(float)
    day = np.datetime64("2024-01-01") + (rng.integers(0, 300, N) + 40 * shift).astype(int)
    return pd.DataFrame({
        "size": (rng.normal(size=N) + shift).round(2),
        "price": (rng.exponential(2_000, N) * (1 + shift)).round(2),
        "day": day.astype("datetime64[us]"),
        "colour": rng.choice(["red", "green"], N),
        "y": y,
    })  # fmt: skip


def german(x: float) -> str:
    return f"{x:,.2f}".translate(str.maketrans(",.", ".,"))


WRITTEN: dict[str, dict[str, Any]] = {
    "as they are": {},
    "decimal commas": {"size": lambda x: f"{x:.2f}".replace(".", ","), "price": german},
    "thousands": {"price": lambda x: f"{x:,.2f}"},
    "currency": {"price": lambda x: f"${x:,.2f}"},
    "euros": {"price": lambda x: f"{german(x)} €"},
    "percent": {"size": lambda x: f"{x:.2f}%"},
    "units": {"size": lambda x: f"{x:.2f} kg"},
    "brackets": {"size": lambda x: f"({-x:.2f})" if x < 0 else f"{x:.2f}"},
    "d.m.Y": {"day": lambda t: f"{t:%d.%m.%Y}"},
    "m/d/Y": {"day": lambda t: f"{t:%m/%d/%Y}"},
    "d/m/y": {"day": lambda t: f"{t:%d/%m/%y}"},
    "names of months": {"day": lambda t: f"{t:%d-%b-%Y}"},
    "Ymd": {"day": lambda t: f"{t:%Y%m%d}"},
}


def written(how: str) -> pd.DataFrame:
    """The same table, all of whose cells are strings."""
    table = clean()
    plain = {"size": repr, "price": repr, "day": lambda t: f"{t:%Y-%m-%d}"}
    for name, write in (plain | WRITTEN[how]).items():
        table[name] = [write(cell) for cell in table[name].tolist()]
    return table


@pytest.mark.parametrize("how", WRITTEN)
def test_whatever_the_notation_the_model_is_that_of_the_clean_table(
    how: str, tmp_path: Path
) -> None:
    nb = NaiveBayes().fit(clean(), "y")
    rows = clean().drop(columns="y")
    table = written(how)
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    with opened(path, labels="y", rows=50) as stream:
        from_file = NaiveBayes().fit(stream, "y")
    for other in (NaiveBayes().fit(table, "y"), from_file):
        np.testing.assert_allclose(other.predict_proba(rows), nb.predict_proba(rows), atol=1e-12)
        strings = table.drop(columns="y")
        np.testing.assert_allclose(other.predict_proba(strings), nb.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("mark", ["NA", "?", "null", "-", " ", "#N/A", "Unrated"])
def test_a_mark_among_numbers_is_a_missing_cell(mark: str) -> None:
    table, strings = clean(), written("as they are")
    lacking = np.random.default_rng(1).random((N, 2)) < 0.1
    for j, name in enumerate(("size", "day")):
        table.loc[lacking[:, j], name] = None
        strings.loc[lacking[:, j], name] = mark
    rows = table.drop(columns="y")
    expected = NaiveBayes().fit(table, "y").predict_proba(rows)
    nb = NaiveBayes().fit(strings, "y")
    np.testing.assert_allclose(nb.predict_proba(strings.drop(columns="y")), expected, atol=1e-12)
    assert {"size": "number", "day": "time"}.items() <= nb.schema_.kinds.items()


def holders(table: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """The same strings, held in many ways."""
    lists = {name: column.tolist() for name, column in table.items()}
    table.to_csv(folder / "t.csv", index=False)
    pq.write_table(pa.table(lists), folder / "t.parquet")
    lines = "".join(json.dumps(row) + "\n" for row in table.to_dict("records"))
    (folder / "t.jsonl").write_text(lines, encoding="utf-8")
    files = {
        name: {str(n): of.tolist() for n, of in read(folder / name, labels="y").values.items()}
        for name in ("t.csv", "t.parquet", "t.jsonl")
    }
    return {
        "pandas": table,
        "pandas of Arrow": table.convert_dtypes(dtype_backend="pyarrow"),
        "Polars": pl.DataFrame(lists),
        "PyArrow": pa.table(lists),
        "lists": lists,
        "records": table.to_dict("records"),
        "batches": (table[i : i + 60] for i in range(0, N, 60)),
        **files,
    }


@pytest.mark.parametrize("how", ["euros", "d/m/y", "units"])
def test_strings_are_read_alike_whatever_holds_them(how: str, tmp_path: Path) -> None:
    table = written(how)
    rows = clean().drop(columns="y")
    expected = NaiveBayes().fit(clean(), "y").predict_proba(rows)
    for name, held in holders(table, tmp_path).items():
        y = [row.pop("y") for row in held] if name == "records" else "y"
        nb = NaiveBayes().fit(held, y)
        np.testing.assert_allclose(nb.predict_proba(rows), expected, atol=1e-12, err_msg=name)


def test_a_saved_model_reads_as_it_learned(tmp_path: Path) -> None:
    strings = written("decimal commas")
    nb = NaiveBayes().fit(strings, "y")
    nb.save(tmp_path / "m")
    again = load(tmp_path / "m")
    one = {"size": "1,5", "price": "1.234", "day": "2024-05-06", "colour": "red"}
    number = {"size": 1.5, "price": 1234.0, "day": "2024-05-06", "colour": "red"}
    for model in (nb, again):
        np.testing.assert_array_equal(model.predict_proba([one]), nb.predict_proba([number]))
    assert "decimal comma" in str(again.schema_)
    assert str(again.schema_) == str(nb.schema_)


def test_what_was_given_is_read_so() -> None:
    table = written("as they are")
    nb = NaiveBayes({"size": "categorical"}).fit(table, "y")
    assert nb.schema_.columns["size"].event.name == "categorical"
    assert all(
        isinstance(level, str)
        for level in nb.tally_.blocks[nb.schema_.columns["size"].key].axis.levels[0]
    )
    stars = {"stars": ["1", "2", "3", "more"] * 20, "y": ["a", "b"] * 40}
    assert NaiveBayes().fit(stars, "y").schema_.kinds == {"stars": "string"}
    for choice in ("number", "histogram", "gaussian"):
        nb = NaiveBayes({"stars": choice}).fit(stars, "y")
        assert nb.schema_.kinds == {"stars": "number"}
    nb = NaiveBayes({"stars": "number"}).fit(stars, "y")
    assert nb.schema_.columns["stars"].event.name == "histogram"
    codes = {"code": [str(20150101 + i) for i in range(28)] * 3, "y": ["a", "b"] * 42}
    assert NaiveBayes().fit(codes, "y").schema_.kinds == {"code": "time"}
    assert NaiveBayes({"code": "number"}).fit(codes, "y").schema_.kinds == {"code": "number"}
    assert NaiveBayes({"code": "levels"}).fit(codes, "y").schema_.kinds == {"code": "string"}


def test_a_word_that_is_new_is_said_and_no_error() -> None:
    nb = NaiveBayes().fit(written("as they are"), "y")
    row = {"size": "large", "price": "3", "day": "2024-01-01", "colour": "red"}
    with pytest.warns(
        UserWarning, match="Column 'size' held numbers in training: 'large' in row 0"
    ):
        found = nb.predict_proba([row])
    np.testing.assert_array_equal(found, nb.predict_proba([row | {"size": None}]))
    np.testing.assert_array_equal(found, nb.predict_proba([row | {"size": "NA"}]))


@given(st.permutations(range(5)), st.integers(1, 4))
def test_neither_order_nor_batches_of_rows_show(order: list[int], size: int) -> None:
    strings = written("d/m/y")
    strings.loc[::9, "size"] = "NA"
    parts = [strings[i * 48 : (i + 1) * 48] for i in order]
    shuffled = pd.concat(parts)
    nb = NaiveBayes(weights=None).fit(strings, "y")
    of_parts = NaiveBayes(weights=None).fit(
        iter([shuffled[i : i + 60 * size] for i in range(0, N, 60 * size)]), "y"
    )
    rows = strings.drop(columns="y")
    np.testing.assert_allclose(of_parts.predict_proba(rows), nb.predict_proba(rows), atol=1e-12)


ADULT = """39, State-gov, 77516, Bachelors, 13, <=50K
50, Self-emp-not-inc, 83311, Bachelors, 13, <=50K
38, Private, ?, HS-grad, 9, >50K
53, ?, 234721, 11th, 7, >50K
28, Private, 338409, Bachelors, 13, <=50K
"""


def test_rows_without_a_header_and_with_blanks_after_commas(tmp_path: Path) -> None:
    path, model = tmp_path / "adult.data", tmp_path / "m"
    path.write_text(ADULT)
    options = "--input-format", "csv", "--no-header"
    done = run("columns", path, "--input-format", "csv")
    assert b"looks like a row: if it is one, say --no-header" in done.stderr
    shown = run("columns", path, *options)
    assert b"looks like" not in shown.stderr
    assert b"The blank after each delimiter" in shown.stderr
    lines = shown.stdout.decode().splitlines()
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["column 1", "number", "5"], ["column 2", "levels", "5"], ["column 3", "number", "5"],
        ["column 4", "levels", "5"], ["column 5", "number", "5"], ["column 6", "levels", "5"],
    ]  # fmt: skip
    run("train", path, *options, "-t", "column 6", "-o", model)
    nb = load(model)
    assert nb.class_count_.sum() == 5
    assert nb.classes_.tolist() == ["<=50K", ">50K"]
    # A file is read as that of the training was.
    assert len(run("predict", model, path, "--input-format", "csv").stdout.splitlines()) == 6


def test_options_say_how_strings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [
        f"1.{i:03};0{i % 9 + 1}/04/2024;{'-9' if i % 5 == 0 else i};{'ab'[i % 2]}"
        for i in range(60)
    ]
    path.write_text("\n".join(["x;day;n;y", *rows]) + "\n")
    model = tmp_path / "m"
    for more in ((), ("--hold-out", "0.2")):
        run(
            *(
                "train",
                path,
                "-t",
                "y",
                "-o",
                model,
                *more,
                "--decimal",
                ",",
                "--day-first",
                "true",
            ),
            *("--missing-values", "-9", "--event-models", "n=number"),
        )
        nb = load(model)
        readings = nb.schema_.readings
        assert readings["x"].comma
        assert readings["day"].day_first
        assert readings["n"].missing == ("-9",)
        x = nb.inspect.column("x")
        assert x is not None
        said = nb.predict_proba({"x": ["1.030"], "day": ["05/04/2024"], "n": ["-9"]})
        day = np.array(["2024-04-05"], "datetime64[us]")
        np.testing.assert_array_equal(
            said, nb.predict_proba({"x": [1030.0], "day": day, "n": [None]})
        )


MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": lambda codes: pd.DataFrame({"zone": pd.Categorical(codes)}),
    "arrow": lambda codes: pa.table({  # a dictionary of numbers is numbers
        "zone": pa.array([code and str(code) for code in codes]).dictionary_encode()
    }),
    "polars": lambda codes: pl.DataFrame({
        "zone": pl.Series([code and str(code) for code in codes], dtype=pl.Enum("123"))
    }),
}  # fmt: skip


@pytest.mark.parametrize("maker", MAKERS)
def test_a_column_typed_as_categories_is_no_column_of_numbers(maker: str) -> None:
    codes = [1, 2, 3, None] * 20
    typed, y = MAKERS[maker](codes), ["a", "b"] * 40
    written = {"zone": [code and str(code) for code in codes]}

    def levels(table: Any, **options: Any) -> bool:
        return NaiveBayes(**options).fit(table, y).schema_.kinds["zone"] == "string"

    assert levels(typed)
    assert not levels(written)
    # What is said overrules the type; a stream of batches reads it alike.
    assert not levels(typed, event_models={"zone": "number"})
    if maker != "pandas":
        model = NaiveBayes().fit(pa.table(typed).append_column("y", [y]).to_reader(), "y")
        assert model.schema_.kinds["zone"] == "string"


def test_one_row_alone_is_a_table_of_one_row() -> None:
    table = clean()
    X, y = table.drop(columns="y"), table["y"]
    model = NaiveBayes().fit(X, y)
    expected = model.predict_proba(X.head(1))
    (row,) = X.head(1).itertuples(index=False, name="Row")
    for one in (row._asdict(), row, X.iloc[0]):
        np.testing.assert_array_equal(model.predict_proba(one), expected)
    for cells in (list(row), tuple(row)):
        with pytest.warns(UserWarning, match="in the order of those learned"):
            np.testing.assert_array_equal(model.predict_proba(cells), expected)
    with pytest.raises(ValueError, match="none of the learned columns"):
        model.predict_proba({"weight": 3.0})
    # An array of a table that was a frame goes by the order of its columns, of any type.
    with pytest.warns(UserWarning, match="in the order of those learned"):
        np.testing.assert_array_equal(
            model.predict_proba(X.to_numpy(object)), model.predict_proba(X)
        )
    # Texts stay texts, and the cells of one column a column.
    texts = NaiveBayes().fit(["good day", "bad night"] * 9, ["a", "b"] * 9)
    assert len(texts.predict(["good", "bad"])) == 2
    np.testing.assert_array_equal(
        texts.predict_proba({"text": "good"}), texts.predict_proba(["good"])
    )
    numbers = NaiveBayes().fit(np.arange(20.0).reshape(10, 2), ["a", "b"] * 5)
    assert len(numbers.predict([1.0, 2.0])) == 1
    with pytest.raises(ValueError, match="X has 1 features"):
        numbers.predict([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "said", [[1, 0, None], ["1", "0", None], ["true", "0", "NA"], [1.0, 0.0, np.nan]]
)
def test_0_and_1_are_truths_where_truths_were_learned(said: list[Any]) -> None:
    truths = [True, False, None, True]
    model = NaiveBayes().fit({"in": truths * 10, "x": range(40)}, ["a", "b", "b", "a"] * 10)
    expected = model.predict_proba({"in": truths[:3], "x": range(3)})
    np.testing.assert_array_equal(model.predict_proba({"in": said, "x": range(3)}), expected)
    np.testing.assert_array_equal(
        model.predict_proba([{"in": cell, "x": x} for x, cell in enumerate(said)]), expected
    )
    with pytest.raises(ValueError, match="'in' held booleans in training"):
        model.predict_proba({"in": [1, 0, 2], "x": range(3)})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("delimiter", "end"), [(";", "\r\n"), (",", "\n"), ("\t", "\r"), ("|", "\n")]
)
def test_the_line_by_which_excel_knows_the_delimiter_is_no_row(
    tmp_path: Path, encoding: str, delimiter: str, end: str
) -> None:
    path = tmp_path / "t.csv"
    lines = ["size", "in, on; at", "y"], *(["1,5", f"x{i}", "ab"[i % 2]] for i in range(6))
    quoted = [delimiter.join(f'"{cell}"' for cell in line) for line in lines]
    path.write_bytes(end.join([f"sep={delimiter}", *quoted, ""]).encode(encoding))
    table = read(path).rows
    assert table.names == ("size", "in, on; at", "y")
    assert table.values("size").tolist() == [1.5] * 6
    # A fault is on the line that an editor shows.
    quoted[3] += f"{delimiter}more"
    path.write_bytes(end.join([f"sep={delimiter}", *quoted, ""]).encode(encoding))
    with pytest.raises(ValueError, match=r"Line 5 of .* has a number of fields"):
        read(path)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pd.IntervalIndex.from_breaks([0, 1, 5]).take([0, 1, -1, 1]), "string"),
        (pd.cut([0.5, 1.5, np.nan, 1.7], [0.25, 1.25, 2.5]), "string"),
        (pd.PeriodIndex(["2024-01", "2024-02", None, "2024-03"], freq="M"), "time"),
        ([b"red", b"blue", None, b"red"], "string"),
        ([UUID(int=1), UUID(int=2), None, UUID(int=2)], "string"),
        ([Decimal("1.5"), Decimal("2.25"), None, 3], "number"),
    ],
)
def test_cells_of_unusual_types_are_read_as_what_they_say(cells: Any, kind: str) -> None:
    frame = pd.DataFrame({"x": cells})
    rows = as_rows(frame)
    written = [
        None if missing else str(x) for x, missing in zip(cells, frame.x.isna(), strict=True)
    ]
    assert rows.kind("x") == kind
    if kind == "string":
        written = [w if w is None else w.removeprefix("b'").removesuffix("'") for w in written]
        assert rows.values("x").tolist() == written
    elif kind == "time":
        assert [str(x)[:7] for x in rows.values("x")] == [w or "NaT" for w in written]
    else:
        assert rows.values("x").tolist() == pytest.approx([1.5, 2.25, np.nan, 3], nan_ok=True)


def test_bytes_that_are_no_text_are_refused_by_the_name_of_the_column() -> None:
    with pytest.raises(ValueError, match="Column 'x' holds bytes that are not UTF-8"):
        as_rows(pd.DataFrame({"x": [b"\xff\xfe", b"a"]}))
    with pytest.raises(ValueError, match="Column 'x' holds a object"):
        as_rows(pd.DataFrame({"x": pd.Categorical([object()])}))


# Real tables, written as others write them

NUMERAL = re.compile(r"-?\d*\.?\d+([eE][+-]?\d+)?")


def exact(text: str) -> float | int:
    return float(text) if "." in text or "e" in text.lower() else int(text)


NOTATIONS: dict[
    str, tuple[Callable[[str], str], str, str]
] = {  # of a number, a missing cell; delimiter
    "R": (str, "NA", ","),
    "UCI": (str, "?", ","),
    "MySQL": (str, "\\N", "\t"),
    "German": (lambda x: f"{exact(x):,}".translate(str.maketrans(",.", ".,")), "k.A.", ";"),
    "American": (lambda x: f"{exact(x):,}", "N/A", ","),
    "dollars": (lambda x: f"${exact(x):,}", "-", ","),
    "kilograms": (lambda x: f"{x} kg", "", ","),
    "percent": (lambda x: f"{x}%", "#N/A", ","),
}
TABLES = ["adult", "bank_marketing", "hypothyroid", "magic_gamma", "nycflights_sample", "spambase"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_real_table_is_learned_to_the_same_in_any_notation(
    name: str, notation: str, data_folder: Path, tmp_path: Path
) -> None:
    table = pd.read_csv(data_folder / "tables" / f"{name}.csv", keep_default_na=False, dtype=str)[
        :600
    ]
    table = table.drop(columns=[column for column in table if not table[column].any()])
    numeric = [
        column
        for column in table.columns[:-1]
        if all(cell == "" or NUMERAL.fullmatch(cell.strip()) for cell in table[column])
    ]
    rng = np.random.default_rng(0)
    for column in numeric:
        table.loc[rng.random(len(table)) < 0.05, column] = ""
    write, missing, delimiter = NOTATIONS[notation]
    other = table.copy()
    for column in numeric:
        other[column] = [write(cell.strip()) if cell.strip() else missing for cell in table[column]]
    table.to_csv(tmp_path / "clean.csv", index=False)
    other.to_csv(tmp_path / "other.csv", index=False, sep=delimiter)
    label = str(table.columns[-1])
    models = []
    for file in ("clean.csv", "other.csv"):
        with opened(tmp_path / file, labels=label, rows=250) as stream:
            models.append(NaiveBayes().fit(stream, label))
    rows, _ = read(tmp_path / "clean.csv", labels=label).rows.split(label)
    assert models[1].schema_.kinds == models[0].schema_.kinds
    np.testing.assert_allclose(*(nb.predict_proba(rows) for nb in models), atol=1e-9)


def test_guesses_are_said_of_wide_tables_too() -> None:
    wide = {f"x{i}": np.arange(24.0) for i in range(40)}
    wide["day"] = [f"{j % 12 + 1:02}/{5 * j % 12 + 1:02}/2020" for j in range(24)]
    said = str(NaiveBayes().fit(wide, ["a", "b"] * 12).schema_).splitlines()
    assert any(line.startswith("'day': day or month first?") for line in said)


@pytest.mark.parametrize(
    ("number", "is_said"), [(-999, True), (9999, True), (99, True), (-99, True), (30, False)]
)
def test_a_number_that_may_stand_for_missing_cells_is_said(number: int, is_said: bool) -> None:
    x = np.random.default_rng(0).normal(20, 5, 200).round()
    x[::9] = number
    said = str(NaiveBayes().fit({"x": x}, ["a", "b"] * 100).schema_)
    assert (f"{number} recurs far from all others: missing?" in said) == is_said
    of_hundred = np.repeat(np.arange(100.0), 4)  # 99 is not far from 98
    assert "recurs" not in str(NaiveBayes().fit({"x": of_hundred}, ["a", "b"] * 200).schema_)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x^y\n1^a\n2^b\n3^a\n", "in whose rows '^' is as often: if it stands between fields"),
        ("Rents of 2024\n\nx;y\n1,5;a\n2;b\n3;a\n", "2 lines above the names of the columns"),
        ("Rents of 2024,,\nx,y,z\n1,a,3\n", "1 line above the names of the columns"),
        ("a,,\n1,2,3\n4,5,6\n", 'has no name for 2 of its columns: one is called "c'),
        (",x\n0,1\n1,2\n", 'no name for 1 of its columns: one is called "column1"'),
        ("time\n1:30\n2:45\n3:10\n4:20\n", ""),
        ("x,y\n1,a\n2,b\n", ""),
    ],
)
def test_what_is_odd_about_a_header_is_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    notes = read(path).notes
    assert said in " ".join(notes) if said else notes == ()
