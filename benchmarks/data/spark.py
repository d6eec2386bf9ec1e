"""Spark on two threads of this machine: counting, beside its own aggregation of the same counts."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.data.rows import NUMBERS, STRINGS, TARGET, write
from benchmarks.data.sides import BARE, OURS, Setting, measure
from naively import NaiveBayes


def count(setting: Setting) -> None:
    """Count Parquet on Spark, and print how many bytes travel of a partition."""
    if find_spec("pyspark") is None:
        print("spark: not measured: PySpark is not installed (pip install 'naively[spark]')")
        return
    path = write(10 * setting.rows, setting.folder / "spark.parquet")
    session = _session()
    try:
        frame = session.read.parquet(str(path))
        measure(
            f"{10 * setting.rows:,} rows on Spark: fit",
            {
                BARE: lambda: aggregate(frame),
                OURS: lambda: NaiveBayes(weights=None).fit(frame, TARGET),
            },
            setting.rounds,
        )
        partitions = frame.rdd.getNumPartitions()
        _travels(path, partitions, 10 * setting.rows // partitions)
    finally:
        session.stop()


def aggregate(frame: Any) -> list[Any]:
    """Count the strings by the target, and take the moments of the numbers, all by Spark."""
    from pyspark.sql import functions as of

    moments = [take(name) for name in NUMBERS for take in (of.mean, of.stddev)]
    found = [frame.groupBy(name, TARGET).count().collect() for name in STRINGS]
    return [*found, frame.groupBy(TARGET).agg(*moments).collect()]


def _travels(path: Path, partitions: int, rows: int) -> None:
    """Print the size of the model file that is made of so many rows, those of one partition."""
    with duckdb.connect() as connection:
        table = connection.query(f"from '{path}' limit {rows}").to_arrow_table()
    nb, model = NaiveBayes(weights=None).fit(table, TARGET), path.with_name("part.naively")
    sizes = []
    for sample in (False, True):
        nb.save(model, sample=sample)
        sizes.append(model.stat().st_size)
    print(
        f"of each of {partitions} partitions of {rows:,} rows ({table.nbytes:,} bytes of Arrow) "
        f"travel {sizes[1]:,} bytes: {sizes[0]:,} of counts, the rest a sample"
    )


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that Spark does not know this version of pandas
        settings = {"spark.ui.enabled": "false", "spark.driver.memory": "2g"}
        builder = SparkSession.builder.master("local[2]").config(map=settings)
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


CASES: Mapping[str, Callable[[Setting], None]] = {"spark": count}
