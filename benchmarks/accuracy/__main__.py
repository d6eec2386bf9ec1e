"""Measure naively and its peers on every data set of a folder: ``make bench-accuracy``.

Tables (FOLDER/*.csv) by stratified 2-fold cross-validation, repeated where rows are few, and by
80/20, once from 1,500 rows on and else three times. Texts (FOLDER/*.jsonl.gz, with ``--text``) are
split once. What peers reach is kept, by data, split and versions. Few rows of both (FOLDER/tables
and FOLDER/text) are drawn with ``--few``.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks import timing
from benchmarks.accuracy import ahead, copies, few, peers, sets, standings, trial


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    asked = {
        _rows_in_time: options.time,
        _sets: options.sets,
        _copies: options.copies,
        _few_rows: options.few,
    }
    next((run for run, wanted in asked.items() if wanted), _whole)(options)


def _sets(options: argparse.Namespace) -> None:
    draws = sets.DRAWS if options.draws is None else options.draws
    found = sets.run(_data(options.folder), options.rows, options.jobs, options.only or (), draws)
    if options.save:
        timing.save(options.save, _command(options), [one._asdict() for one in found])


def _rows_in_time(options: argparse.Namespace) -> None:
    found = ahead.run(_data(options.folder))
    if options.save:
        timing.save(options.save, _command(options), [one._asdict() for one in found])


def _copies(options: argparse.Namespace) -> None:
    found = copies.run(_data(options.folder))
    if options.save:
        timing.save(options.save, _command(options), [one._asdict() for one in found])


def _few_rows(options: argparse.Namespace) -> None:
    draws = few.DRAWS if options.draws is None else options.draws
    of = options.rows, options.jobs, options.only or (), draws
    found = few.run(_data(options.folder), *of)
    if options.save:
        timing.save(options.save, _command(options), [one._asdict() for one in found])


def _whole(options: argparse.Namespace) -> None:
    folder = options.folder or _default_folder(options.text)
    of_tables = dict(options.label), options.rows, options.split
    every = trial.texts(folder, options.rows) if options.text else trial.tables(folder, *of_tables)
    sources = [one for one in every if not options.only or one.name in options.only]
    if not sources:
        sys.exit(f"{folder} has no {'*.jsonl.gz' if options.text else '*.csv'} to measure on.")
    begin = time.perf_counter()
    print(f"{len({one.name for one in sources})} sets of {folder}, at most {options.rows:,} rows")
    if options.jobs > 1:
        print(f"{options.jobs} at a time, so times are rough; for times: --jobs 1 --fresh")
    kept = None if options.no_keep else options.keep
    results = []
    sources.sort(key=lambda source: -source.size)
    for one in Parallel(options.jobs, return_as="generator_unordered")(
        delayed(trial.run)(source, options.text, kept, options.fresh, options.skip or ())
        for source in sources
    ):
        if not options.brief:
            print(standings.data_set(one), flush=True)
        results.append(one)
    if options.save:
        results.sort(key=lambda one: (one.name, one.split))
        timing.save(options.save, _command(options), [asdict(one) for one in results])
    for split in (*peers.SPLITS, peers.ONCE):
        of_split = [one for one in results if one.split == split]
        if of_split:
            found = standings.Summary(of_split)
            print(f"\n{split}\n" if split in peers.SPLITS else "")
            print(found.losses())
            print(found.means())
            print(found.absent())
            print(standings.beside(found))
    print(f"{time.perf_counter() - begin:.0f} s; what peers reached is kept in {kept}")


def _command(options: argparse.Namespace) -> str:
    """Return the command that measures the same again."""
    kinds = ("few", "copies", "sets", "time", "text")
    arguments = [f"--{kind}" for kind in kinds if getattr(options, kind)]
    if options.draws is not None:
        arguments += ["--draws", str(options.draws)]
    if not options.text and tuple(options.split) != peers.SPLITS:
        arguments += ["--split", *options.split]
    return "make bench-accuracy" + (
        f" ARGS={shlex.quote(' '.join(arguments))}" if arguments else ""
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("folder", nargs="?", type=Path, help="default: $NAIVELY_DATA/tables, or text")
    add("--text", action="store_true", help="texts in JSON lines, with label and text")
    add("--few", action="store_true", help="draws of few rows, of tables and of texts")
    add("--copies", action="store_true", help="rows that are weighted, copied or grouped")
    add("--time", action="store_true", help="rows in time, each block scored by those before it")
    add(
        "--sets", action="store_true", help="sets of classes, and how often they hold the right one"
    )
    said = f"of few rows, of each ({few.DRAWS}); of sets, of each ({sets.DRAWS})"
    add("--draws", type=int, help=said)
    add(
        "--label",
        action="append",
        default=[],
        metavar="NAME=COLUMN",
        type=lambda pair: pair.split("=", 1),
        help="label column of NAME.csv; default: as the folder's README.md says, or the last one",
    )
    add("--split", nargs="+", choices=peers.SPLITS, default=peers.SPLITS, help="of tables (both)")
    add("--rows", type=int, default=6_000, help="of a table, or to train on, at most (6000)")
    add("--only", nargs="+", metavar="NAME", help="these data sets only")
    add("--skip", nargs="+", metavar="CONTENDER", help="not these contenders")
    add("--jobs", type=int, default=2, help="data sets at a time (2)")
    add("--keep", type=Path, default=Path("build/bench-accuracy"), help="folder for peers' results")
    add("--brief", action="store_true", help="summaries only")
    add("--save", type=Path, metavar="FILE", help="write all results as JSON, with the machine")
    add("--no-keep", action="store_true", help="neither use nor keep what peers reached")
    add("--fresh", action="store_true", help="measure peers again")
    return parser.parse_args(arguments)


def _default_folder(text: bool) -> Path:
    return _data(None) / ("text" if text else "tables")


def _data(folder: Path | None) -> Path:
    named = folder or os.environ.get("NAIVELY_DATA")
    if not named:
        sys.exit("Name a folder of data sets, or set NAIVELY_DATA.")
    return Path(named)


if __name__ == "__main__":
    main()
