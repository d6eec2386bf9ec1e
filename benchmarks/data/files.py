"""Files: counted in this process, and trained and predicted by the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from benchmarks.data import by_hand, counting
from benchmarks.data.by_hand import ByHand
from benchmarks.data.process import Cost, cost
from benchmarks.data.rows import NUMBERS, STRINGS, TARGET, write
from benchmarks.data.sides import BARE, OURS, PEER, Setting, measure, walk

NAIVELY = Path(sys.executable).with_name("naively")
SMALL = 100_000  # rows that a model of predictions is learned from


def parquet_count(setting: Setting) -> None:
    """Count Parquet without weights."""
    path = _parquet(setting, 10)
    _count(setting, path, lambda: _by_batches(path))


def csv_count(setting: Setting) -> None:
    """Count CSV without weights."""
    path = _csv(setting)
    _count(setting, path, lambda: by_hand.fit_csv(str(path), TARGET))


def parquet_train(setting: Setting) -> None:
    """Train from Parquet, with weights and assessment."""
    _train(setting, _parquet(setting, 10))


def csv_train(setting: Setting) -> None:
    """Train from CSV, with weights and assessment."""
    _train(setting, _csv(setting))


def hundred(setting: Setting) -> None:
    """Train from Parquet of a hundred times the rows, once."""
    path = _parquet(setting, 100)
    try:
        _train(Setting(setting.rows, 1, setting.folder), path)
    finally:
        path.unlink()


def parquet_predict(setting: Setting) -> None:
    """Predict from Parquet to Parquet, beside DuckDB's copy of the file."""
    told = subprocess.run(
        [NAIVELY, "predict", "--help"], check=True, capture_output=True, text=True
    ).stdout
    if "--output" not in told:
        print("parquet-predict: not measured: naively predict has no option --output yet")
        return
    path = _parquet(setting, 10)
    small = write(min(SMALL, setting.rows), setting.folder / "small.parquet")
    model, out = setting.folder / "small.naively", setting.folder / "out.parquet"
    _naively("train", small, "--target", TARGET, "-o", model)
    measure(
        f"{path.name}: naively predict",
        {
            BARE: lambda: duckdb.connect().execute(f"copy (from '{path}') to '{out}'").close(),
            OURS: lambda: _naively("predict", model, path, "-o", out),
        },
        setting.rounds,
        warm_up=False,
    )
    out.unlink()


def four_rows(setting: Setting) -> None:
    """Train from a CSV of four rows, and predict it, beside starting Python."""
    path = write(4, setting.folder / "four.csv")
    model = setting.folder / "four.naively"
    python = {BARE: lambda: cost([sys.executable, "-c", "pass"])}
    measure(
        "four rows, beside python: naively train",
        {
            **python,
            PEER: lambda: cost([sys.executable, by_hand.__file__, path, TARGET]),
            OURS: lambda: _naively("train", path, "--target", TARGET, "-o", model),
        },
        max(setting.rounds, 5),
    )
    measure(
        "four rows, beside python: naively predict",
        {**python, OURS: lambda: _naively("predict", model, path)},
        max(setting.rounds, 5),
    )


def _count(setting: Setting, path: Path, peer: Callable[[], ByHand]) -> None:
    measure(
        f"{path.name}: fit, weights=None",
        {
            BARE: lambda: walk(counting.relation(str(path))),
            PEER: peer,
            OURS: lambda: counting.count(str(path), TARGET),
        },
        setting.rounds,
        warm_up=False,
        memory=lambda: cost([sys.executable, counting.__file__, path, TARGET]),
    )


def _train(setting: Setting, path: Path) -> None:
    model = setting.folder / "trained.naively"
    measure(
        f"{path.name}: naively train",
        {
            BARE: lambda: walk(counting.relation(str(path))),
            OURS: lambda: _naively("train", path, "--target", TARGET, "-o", model),
        },
        setting.rounds,
        warm_up=False,
    )


def _by_batches(path: Path) -> ByHand:
    relation = counting.relation(str(path))

    def different(name: str) -> np.ndarray:
        return np.sort(relation.project(name).distinct().df()[name].to_numpy(object))

    def batches() -> Iterator[pd.DataFrame]:
        for batch in relation.to_arrow_reader(counting.BATCH):
            yield batch.to_pandas()

    levels = [different(name) for name in STRINGS]
    return ByHand(NUMBERS, STRINGS).fit_batches(batches(), levels, TARGET, different(TARGET))


def _naively(*arguments: str | Path) -> Cost:
    return cost([NAIVELY, *arguments])


def _parquet(setting: Setting, times: int) -> Path:
    rows = times * setting.rows
    return write(rows, setting.folder / f"{_short(rows)}.parquet")


def _csv(setting: Setting) -> Path:
    return write(setting.rows, setting.folder / f"{_short(setting.rows)}.csv")


def _short(rows: int) -> str:
    return f"{rows // 1_000_000}M" if rows % 1_000_000 == 0 else str(rows)


CASES: Mapping[str, Callable[[Setting], None]] = {
    "parquet-count": parquet_count,
    "parquet-train": parquet_train,
    "parquet-predict": parquet_predict,
    "csv-count": csv_count,
    "csv-train": csv_train,
    "four-rows": four_rows,
    "hundred": hundred,
}
