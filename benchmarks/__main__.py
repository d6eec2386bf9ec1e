"""Run the benchmarks on one thread: ``python -m benchmarks [--quick]``."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from pathlib import Path

from threadpoolctl import threadpool_limits

import naively


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--save", type=Path, metavar="FILE", help="write all results as JSON")
    options = parser.parse_args()

    from benchmarks import kernels, saved, table, text

    part = 10 if options.quick else 1
    naively.set_threads(options.threads)
    naively.show_config()
    print(f"{'':<44} {'scikit-learn':>13} {'naively':>13} {'ratio':>8}  (range)")
    with threadpool_limits(options.threads):
        found = [
            *kernels.dense(1_000_000 // part),
            *kernels.codes(300_000 // part),
            *kernels.csr(200_000 // part),
            *kernels.strings(1_000_000 // part),
        ]
        folder = os.environ.get("NAIVELY_DATA")
        if folder:
            found.append(table.adult(Path(folder) / "tables" / "adult.csv"))
            for name in text.SETS:
                found += text.words(Path(folder), name, rounds=3)
        else:
            print("NAIVELY_DATA is not set: no table and no text to measure on")
    if options.save:
        command = "make bench" if part == 1 else "python -m benchmarks --quick"
        saved.save(options.save, command, [asdict(one) for one in found])


main()
