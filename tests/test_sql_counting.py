"""Laws of counting in a database: what it counts is what would have been counted in memory."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naively.counting.axis import SQUARE, VALUE, Cells
from naively.counting.labels import encode_labels
from naively.data.columns import column_rows
from naively.events import JointTable, LogitNormal, LogNormal
from naively.fitting.learn import Recipe, count
from naively.model.model import Model
from naively.wings.databases import tables
from tests import databases
from tests.cases import CASES, Case
from tests.laws import Sample, samples
from tests.learning import learn

TYPE_OF = {"number": "number", "string": "string", "boolean": "boolean", "time": "TIMESTAMP"}
TRANSFORMED = JointTable | LogNormal | LogitNormal  # or of whole rows
COUNTED = [case for case in CASES if not isinstance(case.event, TRANSFORMED)]
MIXED = [case for case in COUNTED if isinstance(case.event, Mapping)]
few = settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
number = itertools.count()


def cells(column: np.ndarray) -> list[Any]:
    """Return cells as databases take them: None where one is missing."""
    return [None if c is None or c != c else c for c in column.tolist()]


def put(database: tuple[str, Any], sample: Sample) -> str:
    """Write a labelled table, and return its name."""
    name, connection = database
    columns: dict[str, Any] = {c: cells(of) for c, of in sample.columns.items()}
    types = {c: TYPE_OF[sample.case.cells(c).kind] for c in columns}
    if name == "sqlite":  # which has no type of times
        for c in (c for c, kind in types.items() if kind == "TIMESTAMP"):
            columns[c] = [None if t is None else t.isoformat() for t in columns[c]]
            types[c] = "string"
    columns["class"], types["class"] = sample.y.tolist(), "string"
    if sample.weight is not None:
        columns["weight"], types["weight"] = sample.weight.tolist(), "number"
    table = f"t{next(number)}"
    databases.write(connection, name, table, columns, types)
    return table


def in_database(database: tuple[str, Any], sample: Sample) -> Model:
    """Learn a table where it is."""
    table = put(database, sample)
    weight = None if sample.weight is None else "weight"
    how = Recipe(sample.case.event, sample.case.settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "FEW", 0)  # a server counts small tables too
        with tables.labelled_table(database[1], table, "class", weight) as source:
            counted, _ = count(source, how)
    assert counted is not None
    return Model.of(counted)


def in_memory(sample: Sample) -> Model:
    """Learn a table here."""
    kinds = {name: sample.case.cells(name).kind for name in sample.columns}
    rows = column_rows(sample.columns, kinds)
    labels = encode_labels(sample.y, sample.weight)
    return learn(rows, labels, sample.case.event, sample.case.settings)


def grid(axis: Cells) -> dict[Any, tuple[int, list[int]]]:
    """Return the cells of the columns that hold any."""
    each = np.split(axis.keys, axis.first[1:-1])
    of = zip(axis.columns, axis.shifts.tolist(), each, strict=False)
    return {name: (shift, keys.tolist()) for name, shift, keys in of if len(keys)}


def assert_counted_alike(a: Model, b: Model) -> None:
    """Two models counted the same, to the last cell, and answer alike."""
    for key, block in a.counted.tally.blocks.items():
        if isinstance(block.axis, Cells) and key in b.counted.tally.blocks:
            assert grid(block.axis) == grid(b.counted.tally.blocks[key].axis)
    assert a.classes.tolist() == b.classes.tolist()
    rest = a.counted.tally - b.counted.tally
    for sums in [rest.weight, *(s for block in rest.blocks.values() for s in block.sums.values())]:
        assert np.abs(sums.high).max(initial=0.0) <= 1e-15


# The rows of DuckDB and SQLite are read like any other.
IN_TURN = [
    pytest.param(name, case, id=f"{name}-{case!r}")
    for start, name in enumerate(databases.NAMES)
    for case in (COUNTED if name == "postgres" else [*COUNTED[start::12], *MIXED])
]


@pytest.mark.slow
@pytest.mark.parametrize(("database", "case"), IN_TURN, indirect=["database"])
@few
@given(data=st.data())
def test_a_database_counts_what_memory_counts(
    case: Case, data: st.DataObject, database: tuple[str, Any]
) -> None:
    sample = data.draw(samples(case))
    assert_counted_alike(in_memory(sample), in_database(database, sample))


@pytest.mark.parametrize("case", [*COUNTED[::12], *MIXED], ids=repr)
@few
@given(data=st.data())
def test_rows_have_weights(case: Case, data: st.DataObject, database: tuple[str, Any]) -> None:
    sample = data.draw(samples(case, weights=True))
    mine, theirs = in_memory(sample), in_database(database, sample)
    rest = mine.counted.tally - theirs.counted.tally
    for key, block in rest.blocks.items():
        for statistic, sums in block.sums.items():
            # A sum of numbers is rounded by the database, where weights are fractions.
            bound = 1e-13 if statistic in (VALUE, SQUARE) else 1e-17
            assert np.abs(sums.high).max(initial=0.0) <= bound, key
    assert np.abs(rest.weight.high).max(initial=0.0) <= 1e-17
