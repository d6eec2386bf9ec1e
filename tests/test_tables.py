"""Tables arrive whole and as they are written: sums, rows, limits, and what a label is."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively import Gaussian, NaiveBayes, load
from naively.counting.labels import as_classes, encode_labels, union_classes
from naively.data.stream import BYTES
from naively.kernels.splitting import LONGEST
from naively.wings.files import read
from tests.in_batches import in_batches
from tests.test_cli import ok, sentence, table

MB = 1 << 20


def fault(path: Path, **options: Any) -> str:
    with pytest.raises(ValueError) as raised:
        read(path, **options)
    with pytest.raises(ValueError) as in_pieces:
        in_batches(path, 100, **options)
    assert str(in_pieces.value) == str(raised.value)
    return str(raised.value)


def cells_of(path: Path, **options: Any) -> dict[str, list[Any]]:
    return {name: column.tolist() for name, column in read(path, **options).values.items()}


def cells_in_batches(path: Path, rows: int, **options: Any) -> dict[str, list[Any]]:
    pieces = in_batches(path, rows, **options)
    return {name: [c for p in pieces for c in p.values[name].tolist()] for name in pieces[0].values}


# Every row


@pytest.mark.slow
def test_a_long_last_row_is_read(tmp_path: Path) -> None:
    path, size = tmp_path / "t.csv", LONGEST // 2 - 20
    for quote, end in (("", ""), ('"', "\n")):
        path.write_bytes(f"a,b\n1,x\n2,{quote}{'x' * size}{quote}{end}".encode())
        for columns in (cells_of(path), cells_in_batches(path, 5)):
            assert columns["a"] == [1, 2]
            assert list(map(len, columns["b"])) == [1, size]


@pytest.mark.parametrize("ends", [("\n", "\r\n"), ("\r\n", "\n"), ("\r", "\n"), ("\n", "\r")])
@pytest.mark.parametrize("rows", [2, 5_000])
def test_lines_that_end_now_so_now_so(tmp_path: Path, ends: tuple[str, str], rows: int) -> None:
    path = tmp_path / "t.csv"
    lines = ["a,b", *(f'{i},"x{i}"' for i in range(rows))]
    path.write_bytes("".join(x + ends[i % 2] for i, x in enumerate(lines)).encode())
    found = cells_of(path)
    assert found == {"a": list(range(rows)), "b": [f"x{i}" for i in range(rows)]}


def test_what_ends_between_quotes_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\r\n1,"x\ny"\r\n2,"x\r\ny\xff"\r\n')
    assert cells_of(path) == {"a": [1, 2], "b": ["x\ny", "x\r\nyÿ"]}


# Whole, or one sentence


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["gz", "zst"])
def test_a_flipped_bit_is_a_sentence(tmp_path: Path, compression: str) -> None:
    path = tmp_path / f"t.csv.{compression}"
    rng = np.random.default_rng(0)
    rows = [f"{a},w{b}" for a, b in rng.integers(0, 1000, (3000, 2)).tolist()]
    text = "\n".join(["a,b", *rows]).encode()
    if compression == "gz":
        whole = gzip.compress(text, mtime=0)
    else:
        plain = tmp_path / "t.csv"
        plain.write_bytes(text)
        done = subprocess.run(["zstd", "-q", plain, "-o", path], check=False)
        assert done.returncode == 0
        whole = path.read_bytes()
    path.write_bytes(whole)
    good = cells_of(path)
    sentence_of_damage = f"{path} is not a complete .{compression} file: copy or download it again."
    for bit in rng.integers(0, 8 * len(whole), 40).tolist():
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert cells_of(path) == good
        except ValueError as error:
            said = str(error)
        else:
            said = sentence_of_damage
        assert said == sentence_of_damage


def test_nothing_is_learned_of_half_a_file(tmp_path: Path) -> None:
    path, model = tmp_path / "t.csv.gz", tmp_path / "m"
    rows = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(20_000))
    path.write_bytes(gzip.compress(f"x,y\n{rows}".encode(), mtime=0)[:-9])
    assert sentence("train", path, "-t", "y", "-o", model).endswith(
        f"{path} is not a complete .gz file: copy or download it again.\n"
    )
    assert not model.exists()


def test_gzip_of_several_members_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(b"".join(gzip.compress(part, mtime=0) for part in (b"a,b\n1,", b"x\n2,y\n")))
    assert cells_of(path) == {"a": [1, 2], "b": ["x", "y"]}


# Limits


@pytest.mark.slow
def test_a_row_above_the_limit_is_refused_by_its_line(tmp_path: Path) -> None:
    for name, start in (("t.csv.gz", b'a,b\n1,"x\ny"\n2,'), ("t.jsonl", b'\n{"b": 1}\n\n{"b": "')):
        path, text = tmp_path / name, start + b"x" * (LONGEST + 1)
        path.write_bytes(gzip.compress(text, 1) if name.endswith("gz") else text)
        assert fault(path) == f"Line 4 of {path} is longer than 64 MB: split it."


@pytest.mark.slow
def test_a_row_of_many_lines_above_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n1,x\n2,"' + (b"line" * 20 + b"\n") * (LONGEST // 80) + b'"\n')
    assert fault(path).startswith(f"Line 3 of {path} ")


@pytest.mark.slow
def test_a_cell_of_parquet_above_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x" * (LONGEST + 1)]}), path)
    with pytest.raises(ValueError, match=r'Column "a" of .* longer than 64 MB') as error:
        in_batches(path, 10)
    assert "\n" not in str(error.value)


def plain_cell(cell: Any) -> Any:
    """A cell of a batch as one of the whole: whole numbers may be floats beside others."""
    return None if cell is None or cell != cell else cell


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 3])
def test_what_a_column_is_does_not_depend_on_batches(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "t.csv"
    columns = [["1", "-2", ""], ["1", "2.5", ""], ["007", "1", "2"], ["true", "False", ""]]
    columns += [["2020-01-01", "", "2020-01-02"], ["a", "1", "true"], ["", "", ""]]
    columns += [["1", "2", "x"], ["2020-01-01", "", "x"], ["", "", "x"], ["true", "1", "1"]]
    lines = [",".join(f"c{i}" for i in range(11)), *map(",".join, zip(*columns, strict=True))]
    path.write_text("\n".join(lines[: rows + 1]))
    whole = read(path).rows
    for size in (1, 2):
        for batch in in_batches(path, size):
            for name in batch.rows.names:
                assert batch.rows.kind(name) in (whole.kind(name), None), name
        joined = {
            name: [cell for b in in_batches(path, size) for cell in b.values[name].tolist()]
            for name in (whole.names if rows else ())
        }
        expected = {name: whole.values(name).tolist() for name in joined}
        for name, cells in joined.items():
            assert list(map(plain_cell, cells)) == list(map(plain_cell, expected[name])), name


def test_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    names = [f"c{i}" for i in range(5_000)]
    path.write_text(",".join(names) + "\n" + ",".join("7" * len(names)) + "\n")
    assert cells_of(path) == {name: [7] for name in names}


def test_a_row_of_json_without_keys_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": null}\n' + "{}\n" * 10)
    assert repr(cells_of(path)) == repr({"a": [float("nan")] * 11})


def test_every_format_is_read_in_batches(tmp_path: Path) -> None:
    text = "a,b\n" + "1,word\n" * 10_000
    rows = [{"a": 1, "b": "word"}] * 10_000
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    (tmp_path / "t.json").write_text(json.dumps(rows))
    pq.write_table(pa.table({"a": [1] * 10_000, "b": ["word"] * 10_000}), tmp_path / "t.parquet")
    copied = f"TO '{tmp_path}/t.jsonl.zst' (format json, compression zstd)"
    duckdb.read_parquet(f"{tmp_path}/t.parquet").query("t", f"COPY t {copied}")
    for path in sorted(tmp_path.iterdir()):
        assert list(map(len, in_batches(path, 2_000))) == [2_000] * 5, path
        assert len(in_batches(path, 1 << 20)) == 1, path


@pytest.mark.slow
def test_batches_of_long_rows_are_short(tmp_path: Path) -> None:
    lengths = [BYTES // 3, 1, BYTES // 2, BYTES // 2, 1]
    cells = ["x" * length for length in lengths]
    (tmp_path / "t.csv").write_text("\n".join(["a", *cells]))
    pq.write_table(pa.table({"a": cells}), tmp_path / "t.parquet")
    for path in tmp_path.iterdir():
        pieces = [list(map(len, b.values["a"].tolist())) for b in in_batches(path, 100)]
        assert [n for piece in pieces for n in piece] == lengths
        assert max(map(sum, pieces)) < 2 * BYTES
        assert len(pieces) > 1


STATUS = Path("/proc/self/status")  # of the process itself; getrusage begins at its parent's size
BOMB = f"""
import pathlib, re, sys
from naively.wings.files import opened
with opened(sys.argv[1]) as table:
    print(sum(len(b) for b in table))
print(int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("{STATUS}").read_text())[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason=f"there is no {STATUS} that tells the most memory")
def test_a_small_file_of_much_text_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    row = b"1," + b"x" * 300 + b"\n"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"a,b\n")
        for _ in range(100):
            file.write(row * 10_000)
    assert path.stat().st_size < 4 * MB
    done = subprocess.run(
        [sys.executable, "-c", BOMB, path], capture_output=True, text=True, check=True, timeout=300
    )
    read_rows, most = map(int, done.stdout.split())
    assert read_rows == 1_000_000
    assert most < 300  # MB, of 300 and what Python adds


# Labels as they are written

SPELLED = ["001", "1", "1.0", "true", "True", "12345678901234567890", "12345678901234567891", " x"]


@pytest.mark.slow
def test_labels_of_a_csv_come_back_as_written(tmp_path: Path) -> None:
    path, model = tmp_path / "t.csv", tmp_path / "m"
    # Numbers alone come first: what a label is does not depend on where the rows are cut.
    rows = [(i, label) for i, label in enumerate(SPELLED) for _ in range(30)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("x", "y"), *rows])
    ok("train", path, "-t", "y", "-o", model)
    assert load(model).classes_.tolist() == sorted(SPELLED)
    predicted = table(ok("predict", model, path))
    assert [row["prediction"] for row in predicted] == [label for _, label in rows]
    scores = {r["score"]: r["value"] for r in table(ok("evaluate", model, path)) if not r["class"]}
    assert float(scores["accuracy"]) == 1.0


def test_labels_of_a_csv_that_are_all_numbers_are_strings(tmp_path: Path) -> None:
    path, model = tmp_path / "t.csv", tmp_path / "m"
    path.write_text("x,y\n" + "1,1.0\n2,2\n" * 20)
    ok("train", path, "-t", "y", "-o", model)
    assert load(model).classes_.tolist() == ["1.0", "2"]
    assert {row["prediction"] for row in table(ok("predict", model, path))} == {"1.0", "2"}


def test_categories_are_as_written_throughout(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    codes = ["7"] * 5_000 + ["007", "7.0", "12345678901234567890", "12345678901234567891"] * 40
    path.write_text("code,n\n" + "".join(f"{code},{i % 9}\n" for i, code in enumerate(codes)))
    for rows in (100, 10**9):
        assert cells_in_batches(path, rows)["code"] == codes
    assert cells_of(path)["code"] == codes
    assert set(cells_of(path, types={"code": "number"})["code"][:5_000]) == {7.0}


@pytest.mark.slow
def test_labels_of_json_keep_their_types(tmp_path: Path) -> None:
    path, model = tmp_path / "t.jsonl", tmp_path / "m"
    for values in ([True, False], [1, 2], ["1", "2"], ["true", "2020-01-01"]):
        rows = [{"x": i, "y": v} for i, v in enumerate(values) for _ in range(30)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        ok("train", path, "-t", "y", "-o", model)
        assert sorted(map(repr, load(model).classes_.tolist())) == sorted(map(repr, values))
        lines = ok("predict", model, path, "-f", "json").splitlines()
        assert [json.loads(line)["prediction"] for line in lines] == [row["y"] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 100])
def test_labels_of_json_that_are_long_or_missing_are_exact(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "t.jsonl"
    for values, expected in (
        ([2**63, 2**63 + 1, None], [str(2**63), str(2**63 + 1), None]),
        ([10**30, 10**30 + 1, 1], [str(10**30), str(10**30 + 1), "1"]),
        ([2**53 + 1, 2**53, None], [2**53 + 1, 2**53, None]),
        ([1, None, 2], [1, None, 2]),
    ):
        path.write_text("".join(json.dumps({"y": v}) + "\n" for v in values))
        assert cells_of(path, labels="y")["y"] == expected
        assert cells_in_batches(path, rows, labels="y")["y"] == expected
        assert [type(v) for v in cells_in_batches(path, rows, labels="y")["y"]] == list(
            map(type, expected)
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classes", "written"),
    [
        ([True, False], ["true", "FALSE"]),
        ([1, 2], ["1", "2.0"]),
        ([1.0, 3.0], ["1", "3.00"]),
        ([1, 2], ["001", "2"]),
        ([2**53 + 1, 2**53 + 2], [str(2**53 + 1), str(2**53 + 2)]),
    ],
)
def test_a_model_of_other_labels_is_evaluated_on_csv(
    tmp_path: Path, classes: list[Any], written: list[str]
) -> None:
    path, model = tmp_path / "t.csv", tmp_path / "m"
    y = classes * 40
    X = {"x": [float(i % 2) for i in range(80)]}
    NaiveBayes().fit(X, y).save(model)
    path.write_text("x,y\n" + "".join(f"{i % 2},{written[i % 2]}\n" for i in range(80)))
    scores = table(ok("evaluate", model, path, "-t", "y"))
    assert next(float(r["value"]) for r in scores if r["score"] == "accuracy") == 1.0
    before = load(model).classes_
    ok("update", model, path, "-t", "y")
    assert load(model).classes_.tolist() == before.tolist()
    assert load(model).classes_.dtype == before.dtype


def test_times_and_words_as_classes() -> None:
    days = np.array(["2020-01-01", "2020-01-02"], "M8[us]")
    meant = as_classes(np.array(["2020-01-02", "2020-01-02 00:00:00", "soon"], object), days)
    assert meant.tolist() == [days[1], days[1], "soon"]
    words = np.array(["a", None], object)
    assert as_classes(words, np.array(["b"])) is words


# Labels in Python: as many as there are


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "a\0", "a\0\0"], [2**53, 2**53 + 1], [2**53 + 1, 0.5], [2**63, -1],
        [10**20, 10**20 + 1, -5], [2**64 - 1, 2**64 - 2], [2**63, 2**63 + 1, True],
    ],
)  # fmt: skip
def test_labels_that_differ_are_classes_that_differ(tmp_path: Path, labels: list[Any]) -> None:
    X = [[float(i)] for i in range(len(labels))] * 20
    boxed = np.empty(len(labels), object)
    boxed[:] = labels
    for given in (labels * 20, np.tile(boxed, 20)):
        nb = NaiveBayes(Gaussian(), weights=None).fit(X, given)
        assert nb.classes_.tolist() == sorted(labels)
        assert nb.predict(X).tolist() == labels * 20
        nb.save(tmp_path / "m")
        back = load(tmp_path / "m")
        assert back.classes_.tolist() == sorted(labels)
    one, two = (encode_labels([label]).classes for label in labels[:2])
    assert union_classes(one, two).tolist() == sorted(labels[:2])
    parts = NaiveBayes(Gaussian(), weights=None)
    for i, label in enumerate(labels):
        parts.partial_fit([[float(i)], [float(i)]], [label, label])
    assert parts.classes_.tolist() == sorted(labels)


def test_integers_of_two_kinds_are_exact_together() -> None:
    signed, unsigned = np.array([-1, 2**53]), np.array([2**53 + 1, 2**63 + 1], np.uint64)
    both = union_classes(signed, unsigned).tolist()
    assert both == [-1, 2**53, 2**53 + 1, 2**63 + 1]
    assert union_classes(np.array([1]), np.array([2], np.uint64)).dtype.kind == "i"
