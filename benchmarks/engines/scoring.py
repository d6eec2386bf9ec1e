"""Scoring in databases and by ONNX, beside ``predict_proba``."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.engines.rows import NUMBERS, STRINGS, TARGET
from benchmarks.timing import compare
from naively import NaiveBayes

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
