"""``fit_sql``: the same model as ``fit``, and one sentence where a table cannot be learned."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from naively import (
    Bernoulli,
    Binomial,
    Exponential,
    Gaussian,
    JointTable,
    LogNormal,
    NaiveBayes,
    Poisson,
)
from naively.counting.axis import CELL, Cells
from naively.data.frames import as_rows
from naively.events import EventModel
from naively.wings.databases import tables, tallies
from naively.wings.databases.databases import Database, database_of
from tests import databases
from tests.chessboard import chessboard
from tests.databases import write
from tests.laws import assert_same


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server count small tables too."""
    monkeypatch.setattr(tables, "FEW", 0)


WORDS = ["buy", "now", "lunch", "at", "noon", "cheap", "pills"]


def table(n: int, seed: int = 0) -> dict[str, list[Any]]:
    """Return columns of all kinds, with missing cells."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n)
    columns: dict[str, list[Any]] = {
        "size": (rng.normal(size=n) + (y == "a")).tolist(),
        "visits": rng.integers(0, 1000, n).tolist(),
        "member": (rng.random(n) < 0.3 + 0.4 * (y == "b")).tolist(),
        "bit": rng.integers(0, 2, n).tolist(),
        "colour": rng.choice(["red", "green", "", "RED", "NULL"], n).tolist(),
        "day": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(n)],
        "note": [" ".join([*rng.choice(WORDS, 4), f"x{i}"]) for i in range(n)],
    }
    for name in ("size", "member", "colour", "day", "note"):
        columns[name] = [
            None if gone else c for c, gone in zip(columns[name], rng.random(n) < 0.1, strict=True)
        ]
    return columns | {"y": y.tolist()}


def without(columns: dict[str, list[Any]], *names: str) -> dict[str, list[Any]]:
    return {name: cells for name, cells in columns.items() if name not in names}


@pytest.mark.slow
def test_it_is_fit_on_the_same_rows(database: tuple[str, Any]) -> None:
    name, connection = database
    columns = table(400)
    write(connection, name, "t", columns)
    X = without(columns, "y")
    mine, theirs = NaiveBayes().fit(X, columns["y"]), NaiveBayes().fit_sql(connection, "t", "y")
    assert theirs.schema_.groups == mine.schema_.groups
    assert_same(mine.model_, theirs.model_, as_rows(X))
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-8)
    assert theirs.assess().log_loss == pytest.approx(mine.assess().log_loss, abs=1e-6)
    assert theirs.feature_names_in_.tolist() == list(X)


@pytest.mark.slow
def test_weights_are_a_column(database: tuple[str, Any]) -> None:
    name, connection = database
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.5, 0.1], 300)
    columns = table(300) | {"w": weight.tolist()}
    write(connection, name, "t", columns)
    X = without(columns, "y", "w")
    mine = NaiveBayes().fit(X, columns["y"], sample_weight=columns["w"])
    theirs = NaiveBayes().fit_sql(connection, "t", "y", sample_weight="w")
    assert theirs.schema_.groups == mine.schema_.groups  # no cell is missing by rounding
    np.testing.assert_allclose(theirs.class_count_, mine.class_count_, rtol=1e-15)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-8)


NAMES = ["a.b", 'the "best"', "select", "größe 😀", "x); DROP TABLE t; --", "'", "%s", "v", "w"]
NAMES += ["rowid", "y "]


def test_any_name_is_quoted(database: tuple[str, Any]) -> None:
    name, connection = database
    strange = 'my "t"; DROP TABLE t; --.%'
    rng = np.random.default_rng(0)
    columns: dict[str, list[Any]] = {n: rng.normal(size=50).tolist() for n in NAMES}
    columns["group"] = rng.choice(["it's", "; --", "\\", 'a"b'], 50).tolist()
    write(connection, name, strange, columns)
    write(connection, name, "t", {"kept": [1]})
    X = without(columns, "group")
    mine = NaiveBayes().fit(X, columns["group"])
    theirs = NaiveBayes().fit_sql(connection, strange, "group")
    assert_same(mine.model_, theirs.model_, as_rows(X))
    assert connection.execute("SELECT * FROM t").fetchall() == [(1,)]


ODD = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e-300, -1e300, 1.7e308, math.inf, -math.inf]
ODD += [1.0, -1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("event", ["histogram", "density"])
def test_cells_of_odd_numbers(database: tuple[str, Any], event: str) -> None:
    name, connection = database
    x = [*ODD, math.nextafter(1, 0), math.nextafter(1, 2), None, math.nan]
    y = ["a" if i % 2 else "b" for i in range(len(x))]
    write(connection, name, "t", {"x": x, "y": y})
    mine = NaiveBayes(event, weights=None).fit({"x": [math.nan if c is None else c for c in x]}, y)
    theirs = NaiveBayes(event, weights=None).fit_sql(connection, "t", "y")
    (a,), (b,) = mine.tally_.blocks.values(), theirs.tally_.blocks.values()
    assert a.axis.shifts.tolist() == b.axis.shifts.tolist() == [0]
    assert a.axis.keys.tolist() == b.axis.keys.tolist()
    assert a[CELL].high.tolist() == b[CELL].high.tolist()


@pytest.mark.slow
def test_rows_of_weight_0_are_not_seen(database: tuple[str, Any]) -> None:
    """They make no cell, level or class, so that the grid is that of the other rows."""
    name, connection = database
    columns: dict[str, list[Any]] = {
        "x": np.random.default_rng(0).normal(size=3000).tolist(),
        "s": [*["seen"] * 100, *["never"] * 2900],
        "w": [*[1.0] * 100, *[0.0] * 2900],
        "y": [*["a", "b"] * 50, *["c"] * 2900],
    }
    write(connection, name, "t", columns)
    theirs = NaiveBayes().fit_sql(connection, "t", "y", "w")
    assert theirs.classes_.tolist() == ["a", "b"]
    cells, levels = (block.axis for block in theirs.tally_.blocks.values())
    assert cells.shifts.tolist() == [0]
    assert len(cells) == 100
    assert levels.levels == (("seen",),)
    assert theirs._learned.sample.seen == 100


def test_sums_are_exact(database: tuple[str, Any]) -> None:
    name, connection = database
    rng = np.random.default_rng(0)
    x = [*(1e8 + rng.normal(size=200)), 0.1, -0.1, 1e16, -1e16, 5e-324, 1e-200, -0.0, 0.0]
    y = ["a", "b"] * (len(x) // 2)
    write(connection, name, "t", {"x": x, "y": y})
    mine = NaiveBayes(Gaussian(), weights=None).fit({"x": x}, y)
    theirs = NaiveBayes(Gaussian(), weights=None).fit_sql(connection, "t", "y")
    (a,), (b,) = mine.tally_.blocks.values(), theirs.tally_.blocks.values()
    for statistic, sums in a.sums.items():
        assert sums.high.tolist() == b[statistic].high.tolist()
        size = np.abs(sums.high).max()
        assert np.abs((sums - b[statistic]).high).max() <= 1e-28 * size


def test_large_whole_numbers_are_levels_and_numbers(database: tuple[str, Any]) -> None:
    name, connection = database
    big = [2**53, 2**53 + 1, 2**62 + 1, -(2**63), 2**63 - 1, 0] * 2
    y = ["a", "b"] * 6
    write(connection, name, "t", {"x": big, "y": y})
    for event in ("categorical", "histogram"):
        mine = NaiveBayes(event, weights=None).fit({"x": big}, y)
        theirs = NaiveBayes(event, weights=None).fit_sql(connection, "t", "y")
        assert_same(mine.model_, theirs.model_, as_rows({"x": big}))
        (a,), (b,) = mine.tally_.blocks.values(), theirs.tally_.blocks.values()
        assert len(a.axis) == len(b.axis)


@pytest.mark.parametrize("labels", [[1, 2, 1, 2], [True, False, True, False], [1.0, 3.0, 1.0, 3.0]])
def test_labels_keep_their_type(database: tuple[str, Any], labels: list[Any]) -> None:
    name, connection = database
    write(connection, name, "t", {"x": [1.0, 5.0, 1.5, 6.0], "y": labels})
    mine = NaiveBayes().fit({"x": [1.0, 5.0, 1.5, 6.0]}, labels)
    theirs = NaiveBayes().fit_sql(connection, "t", "y")
    assert theirs.classes_.tolist() == mine.classes_.tolist()
    assert theirs.classes_.dtype == mine.classes_.dtype


OF_BOTH = [
    ("DATE", "2024-01-02 1969-12-31 2020-02-29"),
    ("TIMESTAMP", "2024-01-02T03:04:05.123456 1969-12-31T23:59:59.999999 2020-02-29"),
    ("TIMESTAMPTZ", "2024-01-02T03:04:05+02 1969-12-31T23:59:59+00 2020-02-29T00:00:00-05"),
    ("UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 " * 3),
]
TYPED = {
    "duckdb": [
        ("DECIMAL(9,2)", "1.25 2.5 0.1"),
        ("FLOAT", "0.1 2.5 1e30"),
        ("HUGEINT", "170141183460469231731687303715884105727 -1 0"),
        ("UBIGINT", "18446744073709551615 1 0"),
        ("ENUM('a','b')", "a b a"),
        *OF_BOTH,
    ],
    "postgres": [
        ("NUMERIC", "1.25 2.5 0.1"),
        ("REAL", "0.1 2.5 1e30"),
        ("SMALLINT", "1 -3 7"),
        ("VARCHAR(9)", "a b a"),
        *OF_BOTH,
    ],
}


@pytest.mark.parametrize(
    ("database", "of", "cells"),
    [(d, *one) for d, some in TYPED.items() for one in some],
    indirect=["database"],
)
def test_types_of_databases(database: tuple[str, Any], of: str, cells: str) -> None:
    """Each type is learned as what Arrow, or Python, makes of it."""
    name, connection = database
    write(connection, name, "s", {"x": cells.split(), "y": ["a", "b", "a"]})
    connection.execute(f"CREATE TABLE t AS SELECT CAST(x AS {of}) AS x, y FROM s")  # noqa: S608
    theirs = NaiveBayes(weights=None).fit_sql(connection, "t", "y")
    if name == "duckdb":
        mine = NaiveBayes(weights=None).fit(connection.table("t"), "y")
    else:
        rows = connection.execute("SELECT x, y FROM t").fetchall()
        read = {"UUID": str, "REAL": np.float32}.get(of, lambda cell: cell)
        x = [read(cell) for cell, _ in rows]
        mine = NaiveBayes(weights=None).fit({"x": x}, [y for _, y in rows])
    strings = of.startswith(("UUID", "VARCHAR", "ENUM"))
    assert_same(mine.model_, theirs.model_, as_rows({"x": ["nothing" if strings else np.nan]}))
    assert {str(k) for k in mine.tally_.blocks} == {str(k) for k in theirs.tally_.blocks}


def test_parts_of_times(database: tuple[str, Any]) -> None:
    name, connection = database
    start = np.datetime64("1968-01-31T22:10:05.000001", "us")
    days = np.random.default_rng(0).integers(0, 1500 * 86_400, 200)
    when = start + days.astype("timedelta64[s]")
    y = np.random.default_rng(1).choice(["a", "b"], 200).tolist()
    spelled = when.tolist() if name != "sqlite" else [str(t) for t in when]
    kind = "TIMESTAMP" if name != "sqlite" else "string"
    write(connection, name, "t", {"when": spelled, "y": y}, {"when": kind, "y": "string"})
    mine = NaiveBayes(weights=None).fit({"when": when}, y)
    theirs = NaiveBayes(weights=None).fit_sql(connection, "t", "y")
    expected = {"histogram of times", "categorical(m='auto') of parts"}
    assert {str(key) for key in theirs.tally_.blocks} == expected
    assert_same(mine.model_, theirs.model_, as_rows({"when": when}))


LARGE = 41_000  # rows, of which a sample is read


@pytest.fixture(params=databases.NAMES)
def large(request: pytest.FixtureRequest, postgres: Any) -> Any:
    """A table of many rows, the last of which are odd."""
    with databases.connected(request.param, postgres) as connection:
        rng = np.random.default_rng(0)
        columns: dict[str, list[Any]] = {
            "x": rng.normal(size=LARGE).tolist(),
            "bit": [*[0.0, 1.0] * (LARGE // 2 - 1), 1.0, 7.0],
            "rare": [*[None] * (LARGE - 1), 2.5],
            "word": [*[None] * (LARGE - 1), "once"],
            "day": [*["2024-01-02", "2024-05-06"] * (LARGE // 2 - 1), "2024-01-02", "soon"],
            "same": ["s"] * LARGE,
            # At most 1,024 of these are in the sample, so that the grid of all rows is coarser.
            "code": [float(i % 950 if i > 200 else 1000 + i) for i in range(LARGE)],
            "y": rng.choice(["p", "q"], LARGE).tolist(),
        }
        if request.param == "duckdb":
            frame = pd.DataFrame(columns)
            connection.register("frame", frame)
            connection.execute("CREATE TABLE t AS SELECT * FROM frame")
        else:
            write(connection, request.param, "t", columns)
        yield request.param, connection, columns


@pytest.mark.slow
def test_what_the_sample_lacks_is_asked(large: Any) -> None:
    """A column is taken for what all of its rows are, though the sample does not show it."""
    _, connection, columns = large
    X = {
        k: np.array(v, object)
        if k in ("word", "day", "same")
        else np.array([np.nan if c is None else c for c in v])
        for k, v in columns.items()
        if k != "y"
    }
    mine = NaiveBayes(weights=None).fit(X, columns["y"])
    theirs = NaiveBayes(weights=None).fit_sql(connection, "t", "y")
    assert theirs.schema_.columns["bit"].event.name == "histogram"
    assert {n: g.key for n, g in theirs.schema_.columns.items()} == {
        n: g.key for n, g in mine.schema_.columns.items()
    }
    assert_same(mine.model_, theirs.model_, as_rows({k: v[-5:] for k, v in X.items()}))
    for key, block in mine.tally_.blocks.items():
        if isinstance(block.axis, Cells):
            grids = [
                dict(zip(of.columns, of.shifts, strict=True))
                for of in (block.axis, theirs.tally_.blocks[key].axis)
            ]
            assert grids[0] == grids[1]
            assert grids[0].get("code", 1) > 0  # the times are in a block of their own


@pytest.mark.slow
def test_weights_are_fitted_to_the_sample(large: Any) -> None:
    _, connection, _ = large
    nb = NaiveBayes(random_state=3).fit_sql(connection, "t", "y")
    again = NaiveBayes(random_state=3).fit_sql(connection, "t", "y")
    assert nb.weights_ == again.weights_
    found = nb.assess()
    assert 0.6 < found.log_loss < 0.75  # nothing tells the classes
    assert nb._learned.sample.seen == LARGE


@pytest.mark.slow
def test_a_view_is_learned_too(large: Any) -> None:
    _, connection, _ = large
    connection.execute("CREATE VIEW v AS SELECT x, y AS n0, same AS rowid FROM t")
    assert NaiveBayes().fit_sql(connection, "v", "n0").class_count_.sum() == LARGE


@pytest.mark.slow
def test_a_sample_merges_as_the_rows_that_it_stands_for(large: Any) -> None:
    _, connection, columns = large
    connection.execute("CREATE TABLE numbers AS SELECT x, bit, y FROM t")
    big = NaiveBayes().fit_sql(connection, "numbers", "y")
    some = {name: columns[name][:1000] for name in ("x", "bit")}
    small = NaiveBayes().fit(some, columns["y"][:1000])
    both = big.merge(small)._learned.sample
    assert both.seen == LARGE + 1000
    least = max(of.keys.max() for of in both._sample() if len(of.keys))
    assert float(least) / 2**64 == pytest.approx(10_000 / (LARGE + 1000), rel=0.1)


def test_interactions_are_those_of_the_rows(database: tuple[str, Any]) -> None:
    name, connection = database
    X, odd = chessboard(2000)
    write(connection, name, "t", {"a": X["a"].tolist(), "b": X["b"].tolist(), "y": odd.tolist()})
    mine = NaiveBayes(interactions="auto").fit(X, odd)
    theirs = NaiveBayes(interactions="auto").fit_sql(connection, "t", "y")
    linear = theirs.weights_.linear
    assert linear.rules
    assert linear.rules.keys() == mine.weights_.linear.rules.keys()
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-8)
    assert theirs.score(*chessboard(1000, seed=1)) > 0.85


def test_interactions_are_fitted_to_the_sample_of_a_servers_table(postgres: Any) -> None:
    """Of which no larger one is kept than for weights: in a merge it stands for all its rows."""
    X, odd = chessboard(30_000)
    with databases.connected("postgres", postgres) as connection:
        write(connection, "postgres", "t", {n: of.tolist() for n, of in {**X, "y": odd}.items()})
        nb = NaiveBayes(interactions="auto").fit_sql(connection, "t", "y")
    assert len(nb._learned.sample) <= len(nb._learned.sample.of(nb.model_, larger=True)) <= 11_000
    assert nb.weights_.linear.rules
    assert nb.score(*chessboard(1000, seed=1)) > 0.95
    merged = nb.merge(NaiveBayes(interactions="auto").fit(*chessboard(20_000, seed=2)))
    assert len(merged._learned.sample.of(merged.model_, larger=True)) <= 11_000
    assert merged.weights_.linear.rules
    assert merged.score(*chessboard(1000, seed=1)) > 0.95


def fails(kind: type[Exception], sentence: str, call: Any) -> None:
    """Check that a call fails with one sentence that says this."""
    with pytest.raises(kind) as error:
        call()
    message = str(error.value)
    assert sentence in message
    assert "\n" not in message
    assert message.endswith(".")


def test_what_is_wrong_is_one_sentence(database: tuple[str, Any]) -> None:
    name, connection = database
    blob = {"duckdb": "BLOB", "sqlite": "BLOB", "postgres": "BYTEA"}[name]
    columns = {"x": [1.0, 2.0, 3.0], "w": [1.0, -1.0, None], "y": ["a", "b", None]}
    write(connection, name, "t", columns | {"z": ["a", "b", "a"]})
    write(connection, name, "b", {"x": [b"1", b"2"], "y": ["a", "b"]}, {"x": blob})
    write(connection, name, "none", {"x": [], "y": []}, {"x": "number", "y": "string"})
    nb, spare = NaiveBayes(), NaiveBayes(semi_supervised=True)
    for one, asked, sentence in (
        (nb, ("t", "yy"), "There is no target column 'yy'; the columns are 'y'"),
        (nb, ("t", "z", "ww"), "There is no column of weights 'ww'"),
        (nb, ("t", "z", "y"), "Column 'y' holds strings, which are no weights"),
        (nb, ("t", "y"), "1 rows have no label in column 'y'"),
        (nb, ("t", "z", "w"), "but 2 rows of column 'w' have others"),
        (nb, ("tt", "z"), "tt"),
        (nb, ("b", "y"), "Column 'x' holds values of type"),
        (nb, ("none", "y"), "the table is empty"),
        (NaiveBayes(weights="none"), ("t", "z"), "weights"),
        (spare, ("t", "z"), "semi_supervised"),
    ):
        fails(ValueError, sentence, partial(one.fit_sql, connection, *asked))
    fails(TypeError, "'str' is no connection", lambda: nb.fit_sql("t.db", "t", "y"))
    assert not hasattr(nb, "tally_")


@pytest.mark.parametrize("event", [LogNormal(), JointTable()], ids=repr)
def test_what_needs_rows_is_learned_where_they_are_read(
    database: tuple[str, Any], event: EventModel
) -> None:
    name, connection = database
    columns = {"x": [1.0, 2.0, 3.0, 2.0], "z": [0.5, 7.0, 1.0, 7.0], "y": ["a", "b", "a", "b"]}
    write(connection, name, "t", columns)
    X = without(columns, "y")
    mine = NaiveBayes(dict.fromkeys(X, event))
    if name == "postgres":
        wrong = "Column 'x' cannot be counted in the database"
        fails(ValueError, wrong, lambda: mine.fit_sql(connection, "t", "y"))
        return
    theirs = NaiveBayes(dict.fromkeys(X, event)).fit_sql(connection, "t", "y")
    assert_same(mine.fit(X, columns["y"]).model_, theirs.model_, as_rows(X))


@pytest.mark.slow
def test_event_models_refuse_what_they_refuse_in_memory(database: tuple[str, Any]) -> None:
    name, connection = database
    refused: list[tuple[Any, list[float]]] = [
        (Poisson(), [-1.0, 2.0, 3.0]),
        (Binomial(trials=3), [1.0, 2.5, 3.0]),
        (Gaussian(), [1.0, math.inf, 2.0]),
        (Gaussian(), [1e200, 2.0, 3.0]),
        (Exponential(), [9e299, 2.0, 9e299]),
        (Bernoulli(threshold=None), [0.5, 2.0, 1.0]),
    ]
    for i, (event, x) in enumerate(refused):
        write(connection, name, f"t{i}", {"x": x, "y": ["a", "b", "a"]})
        with pytest.raises(ValueError) as mine:
            NaiveBayes(event).fit({"x": x}, ["a", "b", "a"])
        with pytest.raises(ValueError) as theirs:
            NaiveBayes(event).fit_sql(connection, f"t{i}", "y")
        assert str(theirs.value) == str(mine.value)


def test_a_database_that_goes_away_changes_nothing(
    database: tuple[str, Any], monkeypatch: pytest.MonkeyPatch, postgres: Any
) -> None:
    name, connection = database
    columns = table(60)
    write(connection, name, "t", columns)
    nb = NaiveBayes().fit({"x": [1.0, 2.0]}, ["a", "b"])
    before = nb.model_
    asked = 0

    def go_away() -> None:
        if name != "postgres":
            connection.close()
            return
        import psycopg

        with psycopg.connect(postgres(), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [connection.info.backend_pid])

    kind = type(database_of(connection))
    reading = "ask" if name == "postgres" else "batches"
    read = getattr(kind, reading)

    def gone(self: Database, query: Any, *more: Any) -> Any:
        nonlocal asked
        asked += 1
        if more or "UNION ALL" in query:
            go_away()
        return read(self, query, *more)

    monkeypatch.setattr(kind, reading, gone)
    fails(ValueError, f"{kind.title} failed: ", lambda: nb.fit_sql(connection, "t", "y"))
    assert asked > 0
    assert nb.model_ is before


def test_a_table_that_changes_is_noticed(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    written = tallies.written
    with databases.connected("postgres", postgres) as connection:
        write(connection, "postgres", "t", {"x": [1.0, 2.0], "y": ["a", "b"]})

        def later(*args: Any) -> str:
            connection.execute("INSERT INTO t VALUES (3.0, 'a')")
            return written(*args)

        monkeypatch.setattr(tallies, "written", later)
        fails(
            ValueError,
            "The table changed while it was counted",
            lambda: NaiveBayes().fit_sql(connection, "t", "y"),
        )


def test_a_small_table_of_a_server_is_read(postgres: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FEW", 20_000)
    columns = table(400)
    X = without(columns, "y")
    with databases.connected("postgres", postgres) as connection:
        write(connection, "postgres", "t", columns)
        theirs = NaiveBayes().fit_sql(connection, "t", "y")
    mine = NaiveBayes().fit(X, columns["y"])
    np.testing.assert_array_equal(mine.predict_proba(X), theirs.predict_proba(X))


def test_a_function_that_is_not_there_is_named() -> None:
    fails(
        ValueError,
        "SQLite has no function log17 here",
        lambda: database_of(sqlite3.connect(":memory:")).ask("SELECT log17(2)"),
    )


def test_a_column_of_sqlite_holds_one_type() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x, flag BOOLEAN, y TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, 0, "a"), ("two", 1, "b")])
    fails(
        ValueError,
        "Column 'x' mixes values of the types integer and text",
        lambda: NaiveBayes().fit_sql(connection, "t", "y"),
    )
    connection.execute("UPDATE t SET x = 2.5 WHERE x = 'two'")
    nb = NaiveBayes().fit_sql(connection, "t", "y")
    assert nb.schema_.columns["flag"].kind == "boolean"
    connection.execute("UPDATE t SET flag = 2 WHERE flag = 1")
    assert NaiveBayes().fit_sql(connection, "t", "y").schema_.columns["flag"].kind == "number"


def test_strings_are_told_apart_whatever_the_collation() -> None:
    columns = {"x": ["a", "A", "a ", "ä"], "y": ["p", "P", "p", "P"]}
    for name, one in (("sqlite", sqlite3.connect(":memory:")), ("duckdb", duckdb.connect())):
        write(one, name, "t", columns, dict.fromkeys(columns, "VARCHAR COLLATE NOCASE"))
        nb = NaiveBayes("categorical", weights=None).fit_sql(one, "t", "y")
        assert nb.classes_.tolist() == ["P", "p"]
        (block,) = nb.tally_.blocks.values()
        assert sorted(block.axis.levels[0]) == ["A", "a", "a ", "ä"]


def test_a_schema_is_named_by_a_tuple(database: tuple[str, Any]) -> None:
    name, connection = database
    columns = {"x": [1.0, 2.0, 4.0], "y": ["a", "b", "a"]}
    if name == "sqlite":
        connection.execute("ATTACH ':memory:' AS s")
        connection.execute('CREATE TABLE s."t.u" (x REAL, y TEXT)')
    else:
        connection.execute("CREATE SCHEMA s")
        connection.execute('CREATE TABLE s."t.u" (x DOUBLE PRECISION, y TEXT)')
    connection.execute("INSERT INTO s.\"t.u\" VALUES (1, 'a'), (2, 'b'), (4, 'a')")
    nb = NaiveBayes(weights=None).fit_sql(connection, ("s", "t.u"), "y")
    assert nb.class_count_.tolist() == [2, 1]
    write(connection, name, "s.t.u", columns)
    nb = NaiveBayes(weights=None).fit_sql(connection, "s.t.u", "y")
    assert nb.class_count_.tolist() == [2, 1]


def test_adbc_connections_are_known() -> None:
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    columns = table(3000)
    with dbapi.connect() as connection:
        cursor = connection.cursor()
        names = ", ".join(f'"{name}"' for name in columns)
        cursor.execute(f"CREATE TABLE t ({names})")
        plain = {n: [int(c) if isinstance(c, bool) else c for c in of] for n, of in columns.items()}
        import pyarrow as pa

        cursor.adbc_ingest("t", pa.table(plain), mode="append")
        theirs = NaiveBayes(weights=None).fit_sql(connection, "t", "y")
        fails(
            ValueError,
            "SQLite has no function log17",
            lambda: database_of(connection).ask("SELECT log17(2)"),
        )
        cursor.close()
    X = without(plain, "y")
    assert_same(NaiveBayes(weights=None).fit(X, plain["y"]).model_, theirs.model_, as_rows(X))


@pytest.mark.parametrize("name", databases.NAMES)
@pytest.mark.parametrize(
    "query",
    [
        "select * from visits where seconds < 30",
        "  WITH few AS (SELECT * FROM visits WHERE seconds < 30)\nSELECT * FROM few;\n",
    ],
)
def test_a_query_is_learned_like_a_table_of_its_rows(
    name: str, query: str, postgres: Callable[[], str]
) -> None:
    seconds, colour = [20.0, 25.0, 3.0, 4.0, 99.0, 5.0], ["red", "red", "blue", "blue", "red", "u"]
    bought = ["yes", "yes", "no", "no", "no", "yes"]
    with databases.connected(name, postgres) as connection:
        columns = {"seconds": seconds, "colour": colour, "bought": bought}
        write(connection, name, "visits", columns)
        nb = NaiveBayes().fit_sql(connection, query, "bought")
        few = [i for i, x in enumerate(seconds) if x < 30]
        table = {"seconds": [seconds[i] for i in few], "colour": [colour[i] for i in few]}
        right = NaiveBayes().fit(table, [bought[i] for i in few])
        np.testing.assert_allclose(nb.predict_proba(table), right.predict_proba(table))
        with pytest.raises(ValueError, match="failed"):
            NaiveBayes().fit_sql(connection, "select * from nowhere", "bought")


def test_postgresql_that_rounds_numbers_is_refused(postgres: Callable[[], str]) -> None:
    with databases.connected("postgres", postgres) as connection:
        connection.execute("CREATE TABLE t (x DOUBLE PRECISION, y TEXT)")
        connection.execute("INSERT INTO t VALUES (0.1 + 0.2, 'a'), (0.3, 'b')")
        connection.execute("SET extra_float_digits = 0")
        with pytest.raises(ValueError, match="SET extra_float_digits = 1"):
            NaiveBayes(weights=None).fit_sql(connection, "t", "y")
        connection.execute("SET extra_float_digits = 1")
        nb = NaiveBayes(weights=None).fit_sql(connection, "t", "y")
        assert nb.classes_.tolist() == ["a", "b"]
