"""Tables of eight numbers, eight strings and a target that depends on them, made by DuckDB."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.data.rows import names, uniform

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
