"""Measure the way in, beside the bare sources of the same rows: ``make bench-data``.

Seconds are medians of rounds in which all sides take turns, on as many threads as there are. The
bare source is a walk through the Arrow stream of the rows by nanoarrow (of Python objects, a list
of each column), DuckDB's delivery of a file as such a stream, DuckDB's copy of it, Spark's own
aggregation, or the start of Python. Beside it are PyArrow's dictionary_encode of the five strings,
and scikit-learn by hand (OrdinalEncoder, CategoricalNB and GaussianNB). Each ratio is how many
times as long naively takes. Memory is the peak of a process that does nothing else. Files are
written where TMPDIR says, and removed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import naively
from benchmarks.data import files, frames, spark
from benchmarks.data.sides import HEADER, Setting

CASES = {**frames.CASES, **spark.CASES, **files.CASES}
LONG = "hundred"


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    naively.show_config()
    beside = ("duckdb", "nanoarrow", "pandas", "polars", "pyarrow", "scikit-learn")
    print(", ".join(f"{name} {version(name)}" for name in beside))
    print(HEADER)
    chosen = options.cases or [name for name in CASES if name != LONG]
    if options.hundred:
        chosen = [*dict.fromkeys([*options.cases, LONG])]
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            CASES[name](Setting(options.rows, options.rounds, Path(folder)))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "cases",
        nargs="*",
        type=_case,
        metavar="CASE",
        help=f"default: all but {LONG}; they are {', '.join(CASES)}",
    )
    add("--rows", type=int, default=1_000_000, help="of a frame and of CSV; of Parquet 10 times it")
    add("--rounds", type=int, default=3)
    add("--hundred", action="store_true", help="only train from Parquet of 100 times the rows")
    return parser.parse_args(arguments)


def _case(name: str) -> str:
    if name not in CASES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(CASES)}")
    return name


if __name__ == "__main__":
    main()
