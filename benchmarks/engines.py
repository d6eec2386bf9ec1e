"""Measure what is done where the rows are, beside the engines themselves: ``make bench-engines``.

Both sides take turns, and each ratio is how many times as fast naively is. Files are written where
TMPDIR says, and removed. What needs a program that is not on the machine (a server of PostgreSQL,
Node.js, onnxruntime) is left out, with a note.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import naively
from benchmarks.rows import names, uniform
from benchmarks.timing import compare
from naively import NaiveBayes, load

# --- Tables of eight numbers, eight strings and a target that depends on them, made by DuckDB ----


TARGET = "target"
NUMBERS = tuple(f"number_{j}" for j in range(8))
LEVELS = (2, 5, 10, 30, 100, 300, 1000, 3000)  # different strings
STRINGS = tuple(f"of_{k}" for k in LEVELS)
MISSING = 0.02  # of the cells of every other column


def query(rows: int) -> str:
    """Return what makes a table of so many rows in DuckDB, the same each time."""
    columns = [_some(j, f"{_number(j)}", name) for j, name in enumerate(NUMBERS)]
    for j, (k, name) in enumerate(zip(LEVELS, STRINGS, strict=True)):
        level = f"{names(k)}[1 + floor({k} * {uniform(20 + j)} ** 2)::int]"
        columns.append(_some(8 + j, level, name))
    odds = f"2 * z - 1 + 2 * {uniform(20)} ** 2"
    return f"""
        select {", ".join(columns)}, if({uniform(40)} < 1 / (1 + exp(-({odds}))), 'yes', 'no')
            as {TARGET}
        from (
            select i, sqrt(-2 * ln(1 - {uniform(41)})) * cos(2 * pi() * {uniform(42)}) as z
            from range({rows}) as numbered(i)
        )
    """  # noqa: S608  (a benchmark's own numbers)


def write(rows: int, path: Path) -> Path:
    """Write a table to a file of Parquet."""
    with duckdb.connect() as connection:
        connection.execute(f"copy ({query(rows)}) to '{path}'")
    print(f"{path.name}: {rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB", flush=True)
    return path


def _number(j: int) -> str:
    """Return a number, skewed in every other column, that depends on the target by z."""
    of = f"z * {j / 4} + 3 * ({uniform(j)} + {uniform(10 + j)})"
    return f"round(exp(({of}) / 3), 6)" if j % 2 else f"round({of}, 6)"


def _some(j: int, cell: str, name: str) -> str:
    """Return a column, of which a few cells are missing if its number is odd."""
    return (
        f"if({uniform(60 + j)} < {MISSING}, null, {cell}) as {name}"
        if j % 2
        else f"{cell} as {name}"
    )


# --- Counting in DuckDB, beside the bare aggregation of the same counts --------------------------


SHIFT = 43  # of the bits of a number, so that about a thousand cells are left


def measure_counting(path: Path, rounds: int) -> None:
    """Count a table of DuckDB, and a view of a file of Parquet."""
    for kind in ("table", "view"):
        with duckdb.connect() as connection:
            connection.execute(f"create {kind} rows as select * from '{path}'")  # noqa: S608
            compare(
                f"counting a {kind}: bare aggregation, fit_sql",
                lambda connection=connection: bare(connection),
                lambda connection=connection: count(connection),
                rounds,
            )


def bare(connection: Any) -> list[Any]:
    """Group each column by its levels, or the cells of its numbers, and the target."""
    cell = f"cast(cast(abs({{}}) as bit) as bigint) >> {SHIFT}"
    of = [(name, name) for name in STRINGS]
    of += [(name, f"if({name} < 0, -1 - ({cell}), {cell})".format(name, name)) for name in NUMBERS]
    selects = (
        f"select '{name}', cast({by} as varchar) as k, {TARGET}, count(*) from rows group by k, {TARGET}"  # noqa: E501, S608
        for name, by in of
    )
    found: list[Any] = connection.execute(" union all ".join(selects)).fetchall()
    return found


def count(connection: Any) -> NaiveBayes:
    """Learn the table without weights: counts, and the sample that they come with."""
    return NaiveBayes(weights=None).fit_sql(connection, "rows", TARGET)


# --- Scoring in databases and by ONNX, beside ``predict_proba`` ----------------------------------


LEARNED, FEW = 200_000, 100_000
COLUMNS = (*NUMBERS, *STRINGS)


def learned(path: Path) -> NaiveBayes:
    """Return the model that scores: the default, of the first rows."""
    return NaiveBayes().fit(duckdb.sql(f"from '{path}' limit {LEARNED}"), TARGET)


def in_duckdb(path: Path, rounds: int) -> None:
    """Score a file of Parquet: all probabilities, into a table of DuckDB or arrays of NumPy."""
    nb = learned(path)
    query = nb.export.sql(str(path), "duckdb", probabilities=True, keep=[])
    with duckdb.connect() as connection:
        for statement in query.setup:
            connection.execute(statement)

        def ours() -> None:
            connection.execute(f"create or replace temp table scored as {query}")

        def peer() -> int:
            rows = connection.read_parquet(str(path)).project(", ".join(COLUMNS))
            return sum(len(p) for p in nb.predict_proba(rows))

        compare("scoring Parquet: predict_proba, DuckDB", peer, ours, rounds)


def elsewhere(path: Path, rounds: int) -> None:
    """Score fewer rows in SQLite, PostgreSQL and onnxruntime."""
    nb = learned(path)
    named = ", ".join(COLUMNS)
    rows = duckdb.sql(f"select {named} from '{path}' limit {FEW}").fetchall()  # noqa: S608
    frame = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    with ExitStack() as stack:
        for name, connection in _databases(stack):
            _fill(connection, name, rows)
            query = nb.export.sql("rows", name, probabilities=True, keep=[])
            for statement in query.setup:
                connection.execute(statement)
            seconds = _best(lambda c=connection, q=query: c.execute(q).fetchall(), rounds)
            print(f"{name}: {FEW / seconds:,.0f} rows a second", flush=True)
    if find_spec("onnxruntime"):
        _by_onnx(nb, frame, rounds)


def _databases(stack: ExitStack) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [("sqlite", sqlite3.connect(":memory:"))]
    if find_spec("psycopg") is None:
        print("psycopg is not installed: PostgreSQL is left out")
        return found
    import psycopg
    from tests.databases import server, server_folder

    if server_folder() is None:
        print("no server of PostgreSQL is on this machine: it is left out")
        return found
    where = stack.enter_context(server())
    return [*found, ("postgres", stack.enter_context(psycopg.connect(where, autocommit=True)))]


def _fill(connection: Any, name: str, rows: list[Any]) -> None:
    from tests.databases import write

    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    types = {of: "number" if of in NUMBERS else "string" for of in COLUMNS}
    write(connection, name, "rows", columns, types)


def _best(run: Callable[[], object], rounds: int) -> float:
    """Return the least of the seconds of some rounds, after a warm-up."""
    seconds = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds[1:])


def _by_onnx(nb: NaiveBayes, frame: dict[str, list[Any]], rounds: int) -> None:
    from onnxruntime import InferenceSession, set_default_logger_severity

    set_default_logger_severity(3)  # errors
    content = nb.export.onnx().SerializeToString()
    session = InferenceSession(content, providers=["CPUExecutionProvider"])
    inputs = nb.export.onnx_inputs(frame)
    seconds = _best(lambda: session.run(None, inputs), rounds)
    print(f"onnxruntime: {FEW / seconds:,.0f} rows a second, of inputs that are made")
    seconds = _best(lambda: nb.predict_proba(frame), rounds)
    print(f"predict_proba of lists: {FEW / seconds:,.0f} rows a second")


# --- Scoring in Node.js: rows a second of a model of twenty columns, and its size ----------------


SCRIPT_ROWS, SCRIPT_LEVELS = 20_000, 20
PROGRAM = """
require(process.argv[1]);
const rows = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
for (let round = 0; round < 8; round++) {
  const begin = performance.now();
  for (const row of rows) naively.model.posterior(row);
  console.log(rows.length / (performance.now() - begin) * 1000);
}
"""


def measure_javascript(folder: Path) -> None:
    """Learn ten columns of numbers and ten of strings, and score them in Node.js."""
    node = shutil.which("node")
    if node is None:
        print("Node.js is not on this machine: it is left out")
        return
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=SCRIPT_ROWS)
    columns = {
        f"number_{j}": (rng.normal(size=SCRIPT_ROWS) + y / 2).round(6).tolist() for j in range(10)
    }
    for j in range(10):
        level = (rng.zipf(1.5, SCRIPT_ROWS) + y * rng.integers(2, size=SCRIPT_ROWS)) % SCRIPT_LEVELS
        columns[f"string_{j}"] = [f"level {i}" for i in level]
    nb = NaiveBayes().fit(columns, y)
    script, data = folder / "model.js", folder / "rows.json"
    nb.export.scorecard().save(script)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    data.write_text(json.dumps(rows), encoding="utf-8")
    done = subprocess.run(
        [node, "-e", PROGRAM, str(script), str(data)], capture_output=True, text=True, check=True
    )
    best = max(map(float, done.stdout.split()))
    size = script.stat().st_size / 1e3
    print(f"Node.js, 20 columns: {best:,.0f} rows a second; scorer and model {size:.1f} kB")


# --- Merging models of many words, beside reading them from disk ---------------------------------


WORDS = 300_000  # in all; each model has about 100,000 of them
TEXTS, LENGTH = 1_800, 170


def measure_merging(folder: Path, models: int, rounds: int) -> None:
    """Read the files of so many models, and merge the models at once."""
    paths = _write(folder, models)
    learned = [load(path) for path in paths]
    words = np.mean([len(block.axis) for nb in learned for block in nb.tally_.blocks.values()])
    compare(
        f"{models} models of {words:,.0f} words: read, merge",
        lambda: [load(path) for path in paths],
        lambda: load(paths[0]).merge(*learned[1:]),
        rounds,
    )


def _write(folder: Path, models: int) -> list[Path]:
    """Write models of texts, whose words are as frequent as words are."""
    words = np.array([np.base_repr(i * 7919 + 10**7, 36).lower() for i in range(WORDS)])
    p = 1 / (np.arange(WORDS) + 200.0)
    p /= p.sum()
    paths = []
    for i in range(models):
        rng = np.random.default_rng(i)
        texts = [" ".join(words[row]) for row in rng.choice(WORDS, (TEXTS, LENGTH), p=p)]
        y = rng.choice(["ham", "spam"], TEXTS)
        paths.append(folder / f"{i}.naively")
        NaiveBayes(text="words", weights=None).fit(texts, y).save(paths[-1])
    return paths


# --- All of it ------------------------------------------------------------------------------------


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
            measure_counting(path, options.rounds)
        if "scoring" in parts:
            in_duckdb(path, options.rounds)
        if "others" in parts:
            elsewhere(path, options.rounds)
        if "javascript" in parts:
            measure_javascript(Path(folder))
        if "merging" in parts:
            measure_merging(Path(folder), options.models, options.rounds)


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
