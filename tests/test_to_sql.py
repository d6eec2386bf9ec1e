"""A query scores rows as the model does, in DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from naively.data.frames import as_rows
from naively.engines.sql.score import Asked, score_query
from naively.engines.sql.tokens import write_tokens
from naively.model.model import Model
from naively.model.scorecard.scorecard import Scorecard
from tests import databases
from tests.cases import CASES, Case
from tests.laws import samples
from tests.test_scorecard import COLUMNS, Fitted, models, read, rows_of

KINDS = {"number": "number", "boolean": "boolean", "string": "string", "text": "string"}
TIMES = {"duckdb": "TIMESTAMP", "sqlite": "TEXT", "postgres": "TIMESTAMP"}
EXACT = 1e-12


@pytest.fixture(scope="module", params=databases.NAMES)
def base(request: pytest.FixtureRequest, postgres: Callable[[], str]) -> Iterator[tuple[str, Any]]:
    """The name of a database and one connection to it, for all examples of this file."""
    with databases.connected(request.param, postgres) as connection:
        yield request.param, connection


def cell_for(name: str, cell: Any) -> Any:
    """A cell as the database takes it."""
    if isinstance(cell, dt.datetime) and name == "sqlite":
        return cell.isoformat(" ")
    if isinstance(cell, float) and cell != cell:
        return None if name == "sqlite" else cell
    return cell


def scored(
    base: tuple[str, Any],
    card: Scorecard,
    rows: list[dict[str, Any]],
    named: str = "rows",
    **asked: Any,
) -> tuple[list[Any], np.ndarray]:
    """Write rows to a table, score them, and return predictions and probabilities, in order."""
    name, connection = base
    for made in (named, "naively_weights", "naively_tokens"):
        connection.execute(f"DROP TABLE IF EXISTS {databases.quoted(made)}")
    columns: dict[str, list[Any]] = {"row id": list(range(len(rows)))}
    types = {"row id": "whole"}
    for column, kind in card.kinds.items():
        columns[column] = [cell_for(name, row.get(column)) for row in rows]
        types[column] = TIMES[name] if kind == "time" else KINDS[kind]
    databases.write(connection, name, named, columns, types)
    if any(term.kind == "tokens" for term in card.terms):
        write_tokens(card, connection, named, "row id", "naively_tokens")
        asked |= {"tokens": "naively_tokens", "row_id": "row id"}
    asked = {"probabilities": True, **asked}
    query = score_query(card, Asked(table=named, dialect=name, **asked))
    for statement in query.setup:
        connection.execute(statement)
    found = sorted(connection.execute(query).fetchall(), key=lambda row: row[0])
    k = len(card.classes)
    p = np.array([row[-k:] for row in found], np.float64)
    assert [row[0] for row in found] == columns["row id"]
    return [row[-k - 1] for row in found], p


@pytest.mark.parametrize("case", CASES, ids=repr)
@settings(max_examples=5)
@given(data=st.data())
def test_a_query_gives_the_probabilities_of_the_model(
    base: tuple[str, Any], case: Case, data: Any
) -> None:
    sample = data.draw(samples(case, least=2))
    other = data.draw(samples(case, least=1))
    model = sample.model
    assume(set(sample.columns) <= set(other.columns))
    try:
        card = Scorecard.of(model)
    except ValueError:
        return
    columns = {name: other.columns[name] for name in sample.columns}
    if case.text:
        rows, cells = as_rows(columns["c0"].tolist()), rows_of({"text": columns["c0"]})
    else:
        rows, cells = type(other)(case, columns, other.y).rows, rows_of(columns)
    where = data.draw(st.sampled_from(["auto", "inline", "table"]))
    labels, p = scored(base, card, cells, weights=where)
    assert_posterior(p, model, rows)
    best = model.classes[p.argmax(axis=1)].tolist()
    unsure = np.ptp(np.sort(p, axis=1)[:, -2:], axis=1)
    assert all(a == b or near < 1e-9 for a, b, near in zip(labels, best, unsure, strict=True))


def assert_posterior(p: np.ndarray, model: Model, rows: Any) -> None:
    joint = model.joint_log_likelihood(rows)
    finite = np.where(np.isfinite(joint), np.abs(joint), 0).max(axis=1)
    small = finite < 1e3  # larger sums lose digits, in whatever order they are added
    known = model.posterior(rows)
    np.testing.assert_allclose(p[small], known[small], rtol=0, atol=EXACT)
    rest = finite < 1e6
    np.testing.assert_allclose(p[rest], known[rest], rtol=0, atol=1e-8)
    assert np.isfinite(p).all()


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return Fitted((nb, read(nb.model_)) for nb in models())


@settings(max_examples=8)
@given(rows=st.lists(st.fixed_dictionaries(COLUMNS), min_size=1, max_size=5))
@pytest.mark.parametrize("where", ["inline", "table"])
def test_default_models_of_mixed_tables(
    base: tuple[str, Any], fitted: Fitted, where: str, rows: list[dict[str, Any]]
) -> None:
    for i, (nb, _) in enumerate(fitted):
        cells = rows
        if i == 4:
            cells = [{**row, "size": row["size"] and abs(row["size"])} for row in rows]
        of = {name: [row[name] for row in cells] for name in COLUMNS}
        _, p = scored(base, Scorecard.of(nb.model_), cells, weights=where)
        assert_posterior(p, nb.model_, as_rows(of))
