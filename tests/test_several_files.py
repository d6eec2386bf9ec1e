"""Several files are one table: patterns, folders, partitions."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively import NaiveBayes
from naively.wings.files import opened, read
from tests.in_batches import in_batches
from tests.test_cli import ok, sentence


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for year in (2025, 2026):
        part = tmp_path / f"year={year}" / "kind=new"
        part.mkdir(parents=True)
        pq.write_table(pa.table({"a": [year, 1], "b": ["x", "y"]}), part / "t.parquet")
    (tmp_path / "more.csv").write_text("b,c\nz,2.5\nx,\n")
    with gzip.open(tmp_path / "year=2026" / "t.jsonl.gz", "wt") as file:
        file.write('{"a": 7, "b": "w"}\n')
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "half.csv").write_text("b,c\nnever,1\n")
    (tmp_path / "notes.txt").write_text("no table")
    return tmp_path


def cells(path: Path, **options: object) -> dict[str, list[object]]:
    found = read(path, **options).values  # type: ignore[arg-type]
    return {
        name: [None if cell is None or cell != cell else cell for cell in of.tolist()]
        for name, of in found.items()
    }


def test_a_folder_is_the_tables_in_it_and_in_its_partitions(folder: Path) -> None:
    assert cells(folder) == {
        "b": ["z", "x", "x", "y", "x", "y", "w"],
        "c": [2.5, None, None, None, None, None, None],
        "a": [None, None, 2025, 1, 2026, 1, 7],
        "year": [None, None, 2025, 2025, 2026, 2026, 2026],
        "kind": [None, None, "new", "new", "new", "new", None],
    }


def test_a_pattern_is_the_tables_that_match_it(folder: Path) -> None:
    expected = {"a": [2025, 1, 2026, 1], "b": ["x", "y", "x", "y"]}
    partitions = {"year": [2025, 2025, 2026, 2026], "kind": ["new"] * 4}
    assert cells(folder / "year=*" / "*" / "*.parquet") == expected | partitions
    assert cells(folder / "year=20*") == {
        "a": [2025, 1, 2026, 1, 7],
        "b": ["x", "y", "x", "y", "w"],
        "year": [2025, 2025, 2026, 2026, 2026],
        "kind": [*["new"] * 4, None],
    }


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_batches_of_several_files(folder: Path, rows: int) -> None:
    batches = in_batches(folder, rows)
    assert max(map(len, batches)) <= rows
    assert [cell for batch in batches for cell in batch.values["b"].tolist()] == cells(folder)["b"]


def test_columns_are_chosen_among_those_of_all_files(folder: Path) -> None:
    assert list(cells(folder, columns=["c", "year"])) == ["c", "year"]
    assert list(cells(folder, ignore=["c", "a", "kind"])) == ["b", "year"]
    with pytest.raises(ValueError, match='has no column "d"; its columns are'):
        read(folder, columns=["d"])


def test_a_wrong_cell_is_named_in_its_file(folder: Path) -> None:
    (folder / "zz.csv").write_text("a,b\n1,x\n2,x\nfour,x\n")
    (note,) = read(folder, types={"a": "number"}).notes
    assert re.match(r'Column "a" of .*zz\.csv has .four. in line 4, where a number', note)


EMPTY = {
    "e.csv": b"", "e.tsv": b" \n\n", "e.jsonl": b"\n", "e.json": b"[\n]\n", "e.parquet": b"",
    "e.csv.gz": gzip.compress(b""), "e.json.gz": gzip.compress(b"[]"), "e.arff": b"\n",
}  # fmt: skip


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_file_among_others_is_passed_over(folder: Path, name: str) -> None:
    whole = cells(folder)
    empty = folder / "year=2026" / name
    empty.write_bytes(EMPTY[name])
    table = read(folder / "year=2026" / "*")
    assert table.notes == (f'Empty files were passed over: "{empty}".',)
    assert len(table) == 3
    assert cells(folder) == whole
    with pytest.raises(ValueError, match=f"{re.escape(name)} is empty: there is nothing to read"):
        read(empty)
    with pytest.raises(ValueError, match="is empty: there is nothing to read"):
        read(folder / "year=2026" / "e.*")


def test_a_file_of_names_alone_among_others_has_no_rows(folder: Path) -> None:
    (folder / "empty.csv").write_text("b,c\n")
    assert len(read(folder)) == 7


def test_a_file_that_is_cut_off_among_many_is_a_sentence(folder: Path) -> None:
    file = folder / "year=2026" / "kind=new" / "t.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"year=2026.*t\.parquet is not a complete Parquet file"):
        read(folder)


def test_no_file_matches(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file .*\*\.csv"):
        read(tmp_path / "*.csv")


@pytest.mark.slow
def test_several_files_are_learned_as_one(tmp_path: Path) -> None:
    lines = [f"{i % 5},{'rgb'[i % 3]},{'ab'[i % 4 > 1]}\n" for i in range(60)]
    (tmp_path / "all.csv").write_text("x,c,y\n" + "".join(lines))
    parts = tmp_path / "parts"
    parts.mkdir()
    for i in range(3):
        (parts / f"{i}.csv").write_text("x,c,y\n" + "".join(lines[20 * i : 20 * i + 20]))
    for data, out in ((tmp_path / "all.csv", "a"), (parts, "b"), (parts / "*.csv", "c")):
        ok("train", data, "-t", "y", "-o", tmp_path / out)
    first, *others = [ok("predict", tmp_path / model, tmp_path / "all.csv") for model in "abc"]
    assert others == [first, first]
    assert "has no sub-folders" not in sentence("train", parts, "-t", "z")
    with opened(parts) as table:
        nb = NaiveBayes().fit(table, "y")
    assert nb.class_count_.sum() == 60
