"""Counting in DuckDB, beside the bare aggregation of the same counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from benchmarks.engines.rows import NUMBERS, STRINGS, TARGET
from benchmarks.timing import compare
from naively import NaiveBayes

SHIFT = 43  # of the bits of a number, so that about a thousand cells are left


def measure(path: Path, rounds: int) -> None:
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
