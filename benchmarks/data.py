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
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import nanoarrow
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import naively
from benchmarks import by_hand
from benchmarks import rows as made
from benchmarks.by_hand import ByHand, of_pandas
from benchmarks.process import Cost, cost
from benchmarks.rows import NUMBERS, STRINGS, TARGET, query, write
from naively import NaiveBayes

# --- Several sides of one work, run in turn, beside the bare source of its rows ------------------


BARE, DICTIONARY, PEER, OURS = "bare source", "dictionary", "scikit-learn", "naively"
HEADER = (
    f"{'seconds':<42} {BARE:>11} {OURS:>9} {'ratio':>8}  {'(range)':<16}"
    f" {DICTIONARY:>10} {'ratio':>7} {PEER:>13} {'ratio':>7}  of the process"
)


@dataclass(frozen=True)
class Setting:
    """How much is measured.

    Parameters
    ----------
    rows : int
        Of a frame; files have as many, and ten times as many.
    rounds : int
        How often each side runs.
    folder : Path
        Where files are written.
    """

    rows: int
    rounds: int
    folder: Path


@dataclass(frozen=True)
class Measured:
    """Seconds of each side, measured in turn, and what our process took.

    A source that hands over what it has in memory takes no time, so that the ratio to PyArrow's
    dictionary_encode tells more there.
    """

    name: str
    seconds: Mapping[str, Sequence[float]]
    costs: Sequence[Cost] = ()

    def ratios(self, side: str = BARE) -> list[float]:
        """How many times as long as another side we take, by round."""
        return [o / s for o, s in zip(self.seconds[OURS], self.seconds[side], strict=True)]

    def __str__(self) -> str:
        ratios = self.ratios()
        spread = f"({_plain(min(ratios))} to {_plain(max(ratios))})"
        line = (
            f"{self.name:<42} {self._median(BARE):>11} {self._median(OURS):>9}"
            f" {_times(median(ratios)):>8}  {spread:<16}"
            f" {self._beside(DICTIONARY, 10)} {self._beside(PEER, 13)}"
        )
        if self.costs:
            cpu = median(cost.cpu for cost in self.costs)
            line += f"  {_plain(cpu)} s of CPU, {max(cost.peak for cost in self.costs):,.0f} MB"
        return line.rstrip()

    def _beside(self, side: str, width: int) -> str:
        if side not in self.seconds:
            return " " * (width + 8)
        return f"{self._median(side):>{width}} {_times(median(self.ratios(side))):>7}"

    def _median(self, side: str) -> str:
        return _plain(median(self.seconds[side]))


def _times(ratio: float) -> str:
    return f"{_plain(ratio)}x"


def _plain(number: float) -> str:
    """Return a number with three digits, or as a whole number if it is large."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def measure(
    name: str,
    sides: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    repeat: int = 1,
    warm_up: bool = True,
    memory: Callable[[], Cost] | None = None,
) -> Measured:
    """Run the sides in turn, ``repeat`` calls a round, and print the medians.

    Parameters
    ----------
    name : str
        Of the work.
    sides : mapping from str to callable
        What each side calls. One that returns a ``Cost`` has measured its own time.
    rounds : int
        How often each side runs.
    repeat : int
        Calls of a side in one round.
    warm_up : bool
        Whether there is one round more, which does not count.
    memory : callable, optional
        Does the same in a process of its own, once, for its memory.
    """
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    costs = []
    for round_ in range(rounds + warm_up):
        for side, run in sides.items():
            begin = time.perf_counter()
            for _ in range(repeat):
                found = run()
            taken = (time.perf_counter() - begin) / repeat
            if round_ >= warm_up:
                seconds[side].append(found.seconds if isinstance(found, Cost) else taken)
                if side == OURS and isinstance(found, Cost):
                    costs.append(found)
            del found  # not in the time of the next side
    if memory is not None:
        costs.append(memory())
    result = Measured(name, seconds, costs)
    print(result, flush=True)
    return result


def walk(source: Any) -> int:
    """Look up the buffers of every batch of an Arrow stream, and return how many rows there are."""
    rows = 0
    with nanoarrow.c_array_stream(source) as stream:
        for batch in stream:
            rows += len(batch.view())
    return rows


# --- Spark ---------------------------------------------------------------------------------------
#
# Spark on two threads of this machine: counting, beside its own aggregation of the same counts.


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
    for keep_rows in (False, True):
        nb.save(model, keep_rows=keep_rows)
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


ON_SPARK: Mapping[str, Callable[[Setting], None]] = {"spark": count}


# --- Frames in memory: the generated table as whatever holds it, and one real table --------------


NAMES = [*NUMBERS, *STRINGS]


@dataclass(frozen=True)
class Holder:
    """What holds a table: how it is made, and what else is done with it.

    Parameters
    ----------
    make : callable
        Makes it of a table in PyArrow.
    without_target : callable
        Leaves the target out.
    for_scikit_learn : callable
        Makes it what scikit-learn takes.
    walk : callable
        Goes through it, and does nothing else.
    """

    make: Callable[[pa.Table], Any]
    without_target: Callable[[Any], Any] = lambda table: table[NAMES]
    for_scikit_learn: Callable[[Any], Any] = lambda table: table
    walk: Callable[[Any], object] = walk


def _pandas(table: pa.Table, strings: str) -> pd.DataFrame:
    return table.to_pandas().astype(dict.fromkeys([*STRINGS, TARGET], strings))


def _relation(table: pa.Table) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("create table kept as from given")
    return connection.table("kept")


HOLDERS = {
    "polars": Holder(pl.from_arrow),
    "pandas-arrow": Holder(partial(_pandas, strings="string[pyarrow]")),
    "pandas-object": Holder(
        partial(_pandas, strings="object"),
        walk=lambda table: [column.tolist() for _, column in table.select_dtypes("object").items()],
    ),
    "pyarrow": Holder(
        lambda table: table, lambda table: table.select(NAMES), lambda table: table.to_pandas()
    ),
    "duckdb": Holder(
        _relation,
        lambda relation: relation.project(", ".join(NAMES)),
        lambda relation: relation.df(),
    ),
}


def frame(setting: Setting, name: str) -> None:
    """Fit the generated table, and predict it."""
    with duckdb.connect() as connection:
        arrow = connection.query(query(setting.rows)).to_arrow_table()
    holder = HOLDERS[name]
    table = holder.make(arrow)
    rows = holder.without_target(table)
    strings = [arrow[string] for string in STRINGS]
    ours = _fit(table, TARGET)
    peer = _fit_by_hand(holder, table)
    encode = {DICTIONARY: lambda: [column.dictionary_encode() for column in strings]}
    measure(
        f"{name}: fit",
        {
            BARE: lambda: holder.walk(table),
            **encode,
            PEER: lambda: _fit_by_hand(holder, table),
            OURS: lambda: _fit(table, TARGET),
        },
        setting.rounds,
    )
    measure(
        f"{name}: predict_proba",
        {
            BARE: lambda: holder.walk(rows),
            **encode,
            PEER: lambda: peer.predict_proba(holder.for_scikit_learn(rows)),
            OURS: lambda: _every(ours.predict_proba(rows)),
        },
        setting.rounds,
    )


def _every(found: Any) -> Any:
    """Return all predictions; those of a relation come in batches, when they are asked for."""
    return found if isinstance(found, np.ndarray) else list(found)


def _fit(table: Any, y: Any) -> NaiveBayes:
    nb = NaiveBayes(weights=None).fit(table, y)
    _ = nb.model_.terms  # as scikit-learn derives them in fit
    return nb


def _fit_by_hand(holder: Holder, table: Any) -> ByHand:
    taken = holder.for_scikit_learn(table)
    return ByHand(NUMBERS, STRINGS).fit(taken, taken[TARGET])


def adult(setting: Setting) -> None:
    """Fit a real table of 48,842 rows by 14, with strings and missing cells."""
    if (table := _adult("adult")) is None:
        return
    y = table["income"]
    rows = table.drop(columns="income")
    measure(
        "adult in pandas: fit",
        {
            BARE: lambda: walk(table),
            PEER: lambda: of_pandas(rows).fit(rows, y),
            OURS: lambda: _fit(table, "income"),
        },
        setting.rounds,
    )


def one_row(setting: Setting) -> None:
    """Predict one row of a frame."""
    if (table := _adult("one-row")) is None:
        return
    y = table.pop("income")
    peer = of_pandas(table).fit(table, y)
    ours = _fit(table, y)
    row = table.iloc[[0]]
    measure(
        "one row of adult in pandas: predict",
        {
            BARE: lambda: walk(row),
            PEER: lambda: peer.predict_proba(row),
            OURS: lambda: ours.predict(row),
        },
        setting.rounds,
        repeat=50,
    )


def _adult(case: str) -> pd.DataFrame | None:
    folder = os.environ.get("NAIVELY_DATA")
    if not folder:
        print(f"{case}: not measured: NAIVELY_DATA is not set")
        return None
    return pd.read_csv(Path(folder, "tables", "adult.csv"))


IN_MEMORY: Mapping[str, Callable[[Setting], None]] = {
    **{name: partial(frame, name=name) for name in HOLDERS},
    "adult": adult,
    "one-row": one_row,
}


# --- Files: counted in this process, and trained and predicted by the command line ---------------


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


def parquet_predict(setting: Setting) -> None:
    """Predict from Parquet to Parquet, beside DuckDB's copy of the file."""
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
            BARE: lambda: walk(made.relation(str(path))),
            PEER: peer,
            OURS: lambda: made.count(str(path), TARGET),
        },
        setting.rounds,
        warm_up=False,
        memory=lambda: cost([sys.executable, made.__file__, path, TARGET]),
    )


def _train(setting: Setting, path: Path) -> None:
    model = setting.folder / "trained.naively"
    measure(
        f"{path.name}: naively train",
        {
            BARE: lambda: walk(made.relation(str(path))),
            OURS: lambda: _naively("train", path, "--target", TARGET, "-o", model),
        },
        setting.rounds,
        warm_up=False,
    )


def _by_batches(path: Path) -> ByHand:
    relation = made.relation(str(path))

    def different(name: str) -> np.ndarray:
        return np.sort(relation.project(name).distinct().df()[name].to_numpy(object))

    def batches() -> Iterator[pd.DataFrame]:
        for batch in relation.to_arrow_reader(100_000):
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


OF_FILES: Mapping[str, Callable[[Setting], None]] = {
    "parquet-count": parquet_count,
    "parquet-train": parquet_train,
    "parquet-predict": parquet_predict,
    "csv-count": csv_count,
    "csv-train": csv_train,
    "four-rows": four_rows,
}


# --- All of it ------------------------------------------------------------------------------------


CASES = {**IN_MEMORY, **ON_SPARK, **OF_FILES}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    naively.show_config()
    beside = ("duckdb", "nanoarrow", "pandas", "polars", "pyarrow", "scikit-learn")
    print(", ".join(f"{name} {version(name)}" for name in beside))
    print(HEADER)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.cases or CASES:
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
        help=f"default: all of {', '.join(CASES)}",
    )
    add("--rows", type=int, default=1_000_000, help="of a frame and of CSV; of Parquet 10 times it")
    add("--rounds", type=int, default=3)
    return parser.parse_args(arguments)


def _case(name: str) -> str:
    if name not in CASES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(CASES)}")
    return name


if __name__ == "__main__":
    main()
