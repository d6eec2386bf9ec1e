"""A table that is cut into partitions and counted as Spark counts them is counted whole.

No Spark is needed here: workers' functions take PyArrow's batches. Spark runs them in tests/spark.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from naively import Model, NaiveBayes
from naively.data.columns import Reading
from naively.data.frames import as_rows
from naively.data.reading import Forms
from naively.fitting.learn import Recipe
from naively.wings.databases.spark import Counting, FormsOfPartition, Partition
from tests.spark.tables import mixed, texts

TABLES = {"mixed": mixed(120).drop_columns("w"), "texts": texts(60)}
WHOLE = {name: NaiveBayes().fit(table, "y") for name, table in TABLES.items()}


@dataclass
class Reports:
    """What a worker says of a partition."""

    models: list[bytes]
    rest: list[tuple[str, str]]


def counted(table: pa.Table, times: Sequence[str] = (), rows: int = 25) -> Reports:
    readings = {
        field.name: Reading("time") if field.name in times else Reading("levels")
        for field in table.schema
        if pa.types.is_string(field.type)
    }
    nb = NaiveBayes()
    how = Recipe("auto", nb._settings())
    counting = Counting(table.column_names, "y", {}, readings, how, None)
    (batch,) = counting(iter(table.to_batches(max_chunksize=rows)))
    found = Reports([], [])
    for what, content in zip(*batch.to_pydict().values(), strict=True):
        if what == "model":
            found.models.append(content)
        else:
            found.rest.append((what, content.decode()))
    return found


@given(
    st.sampled_from(sorted(TABLES)),
    st.lists(st.integers(0, 120), max_size=6),
    st.randoms(use_true_random=False),
)
def test_any_cut_and_any_order_of_joins_is_the_whole(name, at, random):
    table, whole = TABLES[name], WHOLE[name]
    ends = [0, *sorted(min(end, len(table)) for end in at), len(table)]
    parts = []
    for begin, end in pairwise(ends):
        found = counted(table.slice(begin, end - begin), ["written"])
        assert len(found.models) == (end > begin)
        assert found.rest == []
        parts += map(Partition.read, found.models)
    while len(parts) > 1:
        random.shuffle(parts)
        few = [parts.pop() for _ in range(random.randint(2, len(parts)))]
        parts.append(Partition.read(Partition.total(few).written()))
    model, sample = Model.of(parts[0].counted), parts[0].sample
    model = model.weighed(sample.of(model).weighed(model).weights)
    rows = table.drop_columns("y")
    np.testing.assert_allclose(
        model.posterior(as_rows(rows)), whole.predict_proba(rows), atol=1e-12
    )
    assert str(model.described()) == str(whole.schema_)


def test_the_forms_of_all_partitions_are_those_of_the_whole():
    days = ["2026-01-01"] * 30 + ["soon", None, "1/2/2026"]
    table = pa.table({"when": days, "n": [str(i) for i in range(33)]})
    whole = {name: Forms.of(as_rows(table).cells(name)) for name in ("when", "n")}
    found = dict.fromkeys(whole, Forms())
    for part in (table.slice(0, 7), table.slice(7, 20), table.slice(27)):
        (batch,) = FormsOfPartition(table.column_names)(iter(part.to_batches()))
        ((what, content),) = zip(*batch.to_pydict().values(), strict=True)
        assert what == "forms"
        for name, of in json.loads(content).items():
            found[name] += Forms.from_dict(of)
    assert found == whole


def test_what_is_wrong_with_a_row_is_reported_in_the_place_of_a_model():
    table = pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", None, "b"]})
    found = counted(table)
    assert found.models == []
    ((what, said),) = found.rest
    assert what == "error"
    assert said.startswith("In a partition, target 'y': Row 1 has no label")


def test_warnings_are_reported_beside_the_model():
    words = pa.array([b"ab", b"\xffa"] * 20).view(pa.string())
    found = counted(pa.table({"word": words, "y": [1, 2] * 20}))
    assert len(found.models) == 1
    assert {what for what, _ in found.rest} == {"warning"}
    assert all("invalid UTF-8" in said and "'word'" in said for _, said in found.rest)
