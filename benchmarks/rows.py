"""Tables of five numbers, five strings and a target that depends on some of them, by DuckDB.

As a program of its own it counts a file, for its memory: ``python rows.py PATH TARGET``.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import duckdb

from naively import NaiveBayes

TARGET = "target"
NUMBERS = ("normal", "exponential", "age", "share", "lognormal")
LEVELS = (10, 30, 100, 300, 1000)  # different strings
STRINGS = tuple(f"of_{k}" for k in LEVELS)
_LETTERS = str.maketrans("0123456789", "ghijklmnop")  # no string may be taken for a number


def names(k: int) -> list[str]:
    """Return k different strings of 5 to 20 letters."""
    found = []
    for j in range(k):
        digest = hashlib.sha256(f"{k}/{j}".encode()).hexdigest()
        length = 5 + int(digest[-8:], 16) % 16
        found.append(f"{j:03x}{digest}"[:length].translate(_LETTERS))
    return found


def query(rows: int) -> str:
    """Return what makes a table of so many rows in DuckDB, the same each time."""
    strings = ", ".join(
        f"{names(k)}[1 + floor({k} * {uniform(k)} ** 2)::int] as {name}"
        for k, name in zip(LEVELS, STRINGS, strict=True)
    )
    return f"""
        select
            round(10 * z, 6) as normal,
            round(-1000 * ln(1 - {uniform(1)}), 2) as exponential,
            floor(90 * {uniform(2)})::int as age,
            round({uniform(3)}, 6) as share,
            round(exp(z / 2 + {uniform(4)}), 6) as lognormal,
            {strings},
            if({uniform(5)} < 1 / (1 + exp(3 - z - 6 * {uniform(10)} ** 2 - {uniform(1000)})),
               'yes', 'no') as {TARGET}
        from (
            select i, sqrt(-2 * ln(1 - {uniform(6)})) * cos(2 * pi() * {uniform(7)}) as z
            from range({rows}) as numbered(i)
        )
    """  # noqa: S608  (a benchmark's own numbers)


def write(rows: int, path: Path) -> Path:
    """Write a table to a file, Parquet or CSV by its name, unless the file is there."""
    if not path.exists():
        with duckdb.connect() as connection:
            connection.execute(f"copy ({query(rows)}) to '{path}'")
        print(f"{path.name}: {rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB", flush=True)
    return path


def uniform(seed: int) -> str:
    """Return a random number in [0, 1) that follows from the row and the seed."""
    # Two seeds give two hashes that do not depend on each other only if one is hashed again.
    return f"((hash(xor(hash(i), hash({seed}))) >> 11) / 9007199254740992.0)"


# --- Count a file as a relation of DuckDB; as a program of its own, for its memory ---------------


def relation(path: str) -> duckdb.DuckDBPyRelation:
    """Return a Parquet or CSV file as a relation; it lives as long as the relation."""
    return duckdb.connect().query(f"from '{path}'")


def count(path: str, target: str) -> NaiveBayes:
    """Count a file, without weights."""
    return NaiveBayes(weights=None).fit(relation(path), target)


if __name__ == "__main__":
    count(*sys.argv[1:])
