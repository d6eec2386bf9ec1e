"""Rows that come later as a stream are learned as they are from memory, and so are the weights."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from naively import NaiveBayes


def stream(table: pa.Table) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=40))


def test_weights_are_fitted_again_to_the_rows_of_both() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300)
    columns = {name: rng.normal(share * (y == "a"), 1) for name, share in (("p", 1.0), ("q", 0.2))}
    table = pa.table({**columns, "twice": columns["p"], "y": y})
    rows, first, rest = table.drop_columns("y"), table.slice(0, 100), table.slice(100)
    whole = NaiveBayes().fit(table, "y")
    parts = NaiveBayes().partial_fit(stream(first), "y").partial_fit(stream(rest), "y")
    np.testing.assert_array_equal(parts.predict_proba(rows), whole.predict_proba(rows))
