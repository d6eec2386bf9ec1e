"""Measure what is done where the rows are, beside the engines themselves: ``make bench-engines``.

Both sides take turns, and each ratio is how many times as fast naively is. Files are written where
TMPDIR says, and removed. What needs a program that is not on the machine (a server of PostgreSQL,
Node.js, onnxruntime) is left out, which is said.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import naively
from benchmarks.engines import counting, javascript, merging, scoring
from benchmarks.engines.rows import write

PARTS = ("counting", "scoring", "others", "javascript", "merging")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts that are asked for."""
    options = _options(arguments)
    parts = options.parts or PARTS
    naively.show_config()
    print(", ".join(f"{name} {version(name)}" for name in ("duckdb", "numpy")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        if set(parts) - {"javascript", "merging"}:
            write(options.rows, path)
        if "counting" in parts:
            counting.measure(path, options.rounds)
        if "scoring" in parts:
            scoring.in_duckdb(path, options.rounds)
        if "others" in parts:
            scoring.elsewhere(path, options.rounds)
        if "javascript" in parts:
            javascript.measure(Path(folder))
        if "merging" in parts:
            merging.measure(Path(folder), options.models, options.rounds)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engines",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    add("--rows", type=int, default=5_000_000)
    add("--models", type=int, default=100, help="that are merged, of 100,000 words each")
    add("--rounds", type=int, default=3)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
