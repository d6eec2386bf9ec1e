"""How the time and the memory of ``naively train`` grow with rows, columns, classes, words, bytes.

Each point is one process on one thread that reads a file, learns and assesses; beside it DuckDB
reads the file. Files are written where TMPDIR says, and removed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import rows as made
from benchmarks.speed.alone import alone
from benchmarks.speed.beside import OURS, Setting, numbers, shown
from benchmarks.speed.texts import write

READER = "DuckDB's reading"
READ = """
import duckdb, sys
rows = duckdb.connect(config={"threads": 1}).query(f"from '{sys.argv[1]}'")
for _ in rows.to_arrow_reader(): pass
"""
SPELLED = str.maketrans("0123456789", "ghijklmnop")  # no word may be taken for a number


@dataclass(frozen=True)
class Growth:
    """Seconds of the processor and peak memory in MB, by side, along one axis."""

    axis: str
    fixed: str
    x: Sequence[int]
    seconds: Mapping[str, Sequence[float]]
    peak: Mapping[str, Sequence[float]]

    def to_dict(self) -> dict[str, Any]:
        """Return what is written to JSON."""
        return asdict(self)


def _numbers(path: Path, rows: int, columns: int, classes: int) -> None:
    X, y = numbers(rows, columns, classes)
    names = [f"x{j}" for j in range(columns)]
    table = pl.DataFrame(X, schema=names).with_columns(pl.Series(made.TARGET, y).cast(pl.String))
    table.write_parquet(path)


def _texts(path: Path, texts: int, words: int, size: int = 1) -> None:
    """Write texts of 60 words, as frequent as words are; and others like them, up to a size."""
    rng = np.random.default_rng(0)
    spelled = np.array([f"{i}n".translate(SPELLED) for i in range(words)], object)
    drawn = spelled[(rng.zipf(1.3, (texts, 60)) - 1) % words]
    labels = rng.choice(["yes", "no"], texts).tolist()
    write(path, [" ".join(row) for row in drawn.tolist()], labels, size)


AXES: dict[str, tuple[str, str, Sequence[int], Callable[[Path, int], object]]] = {
    "rows": ("10 columns of Parquet", "parquet", [10**i for i in range(3, 9)],
             lambda path, n: made.write(n, path)),
    "columns": ("5,000 rows", "parquet", [3, 10, 30, 100, 300, 1_000, 3_000],
                lambda path, n: _numbers(path, 5_000, n, 3)),
    "classes": ("100,000 rows, 10 columns", "parquet", [2, 10, 30, 100, 300, 1_000],
                lambda path, n: _numbers(path, 100_000, 10, n)),
    "words": ("20,000 texts of 60 words", "jsonl", [100, 1_000, 10_000, 100_000, 1_000_000],
              lambda path, n: _texts(path, 20_000, n)),
    "bytes": ("of JSON lines, new words too", "jsonl", [10**i for i in range(5, 10)],
              lambda path, n: _texts(path, max(30, min(20_000, n // 500)), 20_000, n)),
}  # fmt: skip


def measure(setting: Setting) -> Sequence[Growth]:
    return [_along(axis, setting) for axis in AXES]


def _along(axis: str, setting: Setting) -> Growth:
    fixed, ending, x, make = AXES[axis]
    x = x[:2] if setting.small else x
    seconds: dict[str, list[float]] = {OURS: [], READER: []}
    peak: dict[str, list[float]] = {OURS: [], READER: []}
    for value in x:
        with tempfile.TemporaryDirectory() as folder:
            path, model = Path(folder, f"rows.{ending}"), Path(folder, "m")
            make(path, value)
            target = "label" if ending == "jsonl" else made.TARGET
            train = "-m", "naively", "train", path, "--target", target, "--output", model
            for side, command in ((OURS, train), (READER, ("-c", READ, path))):
                cost = alone(*command)
                seconds[side].append(round(cost.cpu, 3))
                peak[side].append(round(cost.peak, 1))
        told = ", ".join(
            f"{shown(seconds[side][-1])} s {shown(peak[side][-1])} MB" for side in peak
        )
        print(f"{value:,} {axis}: {told}", flush=True)
    return Growth(axis, fixed, x, seconds, peak)
