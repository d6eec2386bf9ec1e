"""Random tables in files, odd and damaged: each row and cell as Python has it, or a sentence."""

from __future__ import annotations

import csv
import gzip
import io
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively.data.columns import join_columns
from naively.kernels.forms import Form, read_cell
from naively.wings.files import FileColumns, read
from naively.wings.files.dialects import ROW_NAME
from tests.fuzz import fuzz
from tests.in_batches import in_batches

NAMES = ["a", "B", "é ", 'x"y', "c,d", "e\nf"]
ENDS = ["\n", "\r\n", "\r"]
TEXTS = [
    *(
        "",
        "x",
        "word",
        "a b",
        "é",
        "\u2028",
        "\x85",
        "\U0001f600",
        "\0",
        "\x1a",
        "\\N",
        "NULL",
        "#",
    ),
    *('say "x"', "a,b", "a;b", "a\tb", "a|b", "a\nb", "a\r\nb", "a\rb", '"', '""', '5" pipe', "'"),
    *("007", "7", "7.0", "-007", "+7", "1_000", "true", "False", "12345678901234567890", "1e5"),
    *("9007199254740993", "0.1", "nan", "2020-01-02", "10-5-3", "-", ".", "=1+1", "\ufeff", "0x1F"),
]


def is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and np.isnan(cell))


def a_text(rng: random.Random) -> str:
    if rng.random() < 0.03:
        return rng.choice("ab\n ") * rng.randrange(200_000)
    return rng.choice(TEXTS) + (rng.choice(TEXTS) if rng.random() < 0.2 else "")


def names_of(rng: random.Random, columns: int) -> list[str]:
    names = [rng.choice(NAMES) + str(j) for j in range(columns)]
    return [rng.choice(names) for _ in names] if rng.random() < 0.05 else names


def either(path: Path, check: Callable[[FileColumns], None]) -> None:
    """Check a table that is read, in one piece and in batches; or one sentence is said."""
    for read_it in (lambda: [read(path)], lambda: in_batches(path, 3)):
        try:
            pieces, said = read_it(), ""
        except ValueError as error:
            pieces, said = [], str(error)
        assert "\n" not in said.replace("e\nf", "")
        if said:
            assert str(path) in said
            continue
        names = list(pieces[0].values) if pieces else []
        joined = {n: [c for p in pieces for c in p.values[n].tolist()] for n in names}
        columns = {n: (np.array([*c, None], object)[:-1], "text") for n, c in joined.items()}
        check(FileColumns(join_columns(columns)))


def a_csv(rng: random.Random) -> None:
    """What the csv module writes, or what nobody would, with ends and encodings that vary."""
    columns = rng.choice([1, 2, 2, 3, 7])
    rows = [names_of(rng, columns)]
    rows += [[a_text(rng) for _ in range(columns)] for _ in range(rng.randrange(30))]
    if rng.random() < 0.1:
        rng.choice(rows).pop()
    delimiter, end = rng.choice(",;\t|"), rng.choice(ENDS)
    text = io.StringIO()
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    for row in rows:
        writer.writerow(row)
        if rng.random() < 0.05:
            text.write(rng.choice(ENDS))
    whole = text.getvalue()
    if rng.random() < 0.3:
        whole = whole.rstrip("\r\n")
    content = whole.encode(rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, rng.choice(["t.csv", "t.tsv", "t.txt", "t.csv.gz"]))
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
        either(
            path, lambda table: check_csv(table, whole.removeprefix("\ufeff"), delimiter, columns)
        )


def check_csv(table: FileColumns, text: str, delimiter: str, columns: int) -> None:
    limit = csv.field_size_limit(1 << 26)
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    csv.field_size_limit(limit)
    rows = [row or [""] for row in rows if row or columns == 1]
    if not table.values:
        assert not rows
        return
    if len(rows) > 1 and {len(row) for row in rows} == {len(header) + 1}:
        header = [ROW_NAME, *header]
    names = list(table.values)  # each another: of equal ones the first stays
    for j, (name, own) in enumerate(zip(header, names, strict=True)):
        apart = own.startswith(f"{name} (") and own not in header
        assert apart if name in header[:j] else own == name
    assert len(table) == len(rows)
    for j, column in enumerate(table.values.values()):
        written = [row[j] for row in rows]
        for cell, as_written in zip(column.tolist(), written, strict=True):
            check_cell(cell, as_written)


def check_cell(cell: Any, written: str) -> None:
    if isinstance(cell, str):
        assert cell == written
    elif is_missing(cell):
        words = Form.EMPTY, Form.MARK, Form.WORD, Form.LIST, Form.TRUTH
        assert read_cell(written).form in words or not isinstance(read_cell(written).value, float)
    elif isinstance(cell, bool):
        assert str(cell).lower() == written.lower()
    elif isinstance(cell, int | float):
        assert read_cell(written).value == cell
        assert abs(cell) < 2**53 or not written.strip().isdigit()
    else:
        assert written.startswith("2020-01-02")


@pytest.mark.slow
def test_csv() -> None:
    fuzz(a_csv, 40)


def a_flip(rng: random.Random) -> None:
    """Bits of a compressed file that flip: the same table, or one sentence."""
    rows = "".join(f"{rng.randrange(1000)},{rng.choice(TEXTS[1:4])}\n" for _ in range(300))
    whole = gzip.compress(f"a,b\n{rows}".encode(), mtime=0)
    damaged = bytearray(whole)
    for _ in range(rng.choice([1, 1, 2, 8])):
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.2:
        damaged = damaged[: rng.randrange(len(whole))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv.gz")
        path.write_bytes(damaged)
        either(path, lambda table: check_csv(table, f"a,b\n{rows}", ",", 2))


def test_flipped_bits() -> None:
    fuzz(a_flip, 60)
