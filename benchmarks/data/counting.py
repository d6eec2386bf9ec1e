"""Count a file as a relation of DuckDB; as a program of its own, for its memory."""

from __future__ import annotations

import sys

import duckdb

from naively import NaiveBayes

BATCH = 100_000  # rows


def relation(path: str) -> duckdb.DuckDBPyRelation:
    """Return a Parquet or CSV file as a relation; it lives as long as the relation."""
    return duckdb.connect().query(f"from '{path}'")


def count(path: str, target: str) -> NaiveBayes:
    """Count a file, in batches where ``fit`` takes no relation."""
    try:
        return NaiveBayes(weights=None).fit(relation(path), target)
    except TypeError as error:
        print(f"fit takes no relation ({error}), so that batches are counted", flush=True)
    nb = NaiveBayes(weights=None)
    for batch in relation(path).to_arrow_reader(BATCH):
        nb.partial_fit(batch, target)
    return nb


if __name__ == "__main__":
    count(*sys.argv[1:])
