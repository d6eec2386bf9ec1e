"""A query scores rows as the model does, in DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import copy
import datetime as dt
import gzip
import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlglot
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.dialects.dialect import Dialects

from naively import Bernoulli, CategoricalNB, GaussianNB, NaiveBayes, Text
from naively.data.frames import as_rows
from naively.inspect.scorecard import Scorecard
from naively.model.model import Model
from naively.wings import files
from naively.wings.databases import query as sql
from naively.wings.databases.query import Query, QueryOptions, score_query
from tests import databases, ruled
from tests.cases import CASES, Case
from tests.laws import samples
from tests.linear_parts import with_linear_part
from tests.test_scorecard import COLUMNS, Fitted, forgetful, models, read, rows_of, table, timed

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
        sql.write_tokens(card, connection, named, "row id", "naively_tokens")
        asked |= {"tokens": "naively_tokens", "row_id": "row id"}
    asked = {"probabilities": True, **asked}
    query = score_query(card, QueryOptions(table=named, dialect=name, **asked))
    for statement in query.setup:
        connection.execute(statement)
    found = sorted(connection.execute(query).fetchall(), key=lambda row: row[0])
    k = len(card.classes)
    p = np.array([row[-k:] for row in found], np.float64)
    assert [row[0] for row in found] == columns["row id"]
    return [row[-k - 1] for row in found], p


@pytest.mark.parametrize("case", CASES, ids=repr)
@settings(max_examples=2)
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


def check(base: tuple[str, Any], nb: NaiveBayes, cells: dict[str, Any], **asked: Any) -> None:
    """Check that a query scores a table as the model does."""
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    labels, p = scored(base, Scorecard.of(nb.model_), rows, **asked)
    np.testing.assert_allclose(p, nb.predict_proba(cells), rtol=0, atol=EXACT)
    assert labels == nb.predict(cells).tolist()


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


NOTHING = dict.fromkeys(COLUMNS)
FARTHEST = [
    {**NOTHING, "size": sign * size, "number": number}
    for sign, size, number in product((-1, 1), (5e-324, 1e-320, 1.7e308), (0, 1, 2**60))
]


@pytest.mark.slow
@settings(max_examples=3)
@example(rows=FARTHEST)
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


def special(name: str) -> tuple[NaiveBayes, dict[str, Any]]:
    """A model that says something that others do not, and rows for it."""
    match name:
        case "times":
            nb, rows = timed()
            return nb, {column: [row[column] for row in rows] for column in rows[0]}
        case "forgotten level":
            return forgetful(), {"size": [1.0], "colour": ["green"]}
        case "truths above a threshold":
            rng = np.random.default_rng(0)
            x, y = rng.poisson(3.0, (80, 2)).astype(float), rng.integers(2, size=80)
            columns = {"a": x[:, 0].tolist(), "b": x[:, 1].tolist()}
            nb = NaiveBayes(Bernoulli(threshold=2.5)).fit(columns, y)
            return with_linear_part(nb, products=1), columns
        case "many classes":  # more than a function has arguments
            x = np.arange(400.0)
            nb = NaiveBayes("gaussian", weights=None).fit(
                {"x": x}, [f"c{i // 2}" for i in range(400)]
            )
            return nb, {"x": x[::9].tolist()}
    return ruled.model(name), ruled.rows()[0]


@pytest.mark.parametrize(
    "name", [*ruled.MODELS, "times", "forgotten level", "truths above a threshold", "many classes"]
)
@pytest.mark.parametrize("where", ["inline", "table"])
def test_what_some_models_say(base: tuple[str, Any], name: str, where: str) -> None:
    nb, cells = special(name)
    check(base, nb, cells, weights=where)


def test_what_a_product_of_tiny_numbers_says_is_nothing(base: tuple[str, Any]) -> None:
    """PostgreSQL refuses a product that is too small for a float64."""
    rng = np.random.default_rng(0)
    a, b = rng.choice([-1.0, 1.0], (2, 100)) * rng.integers(5, 15, (2, 100))
    both = np.array([[a, -a], [b, -b]]).reshape(2, -1)  # the means are 0
    y = np.where(both[0] * both[1] > 0, "yes", "no")
    columns = {"a": both[0].tolist(), "b": both[1].tolist(), "n": [0.0, 3.0] * 100}
    known = NaiveBayes({"a": "gaussian", "b": "gaussian", "n": "poisson"}, weights=None)
    known.fit(columns, y.tolist())
    product = NaiveBayes({"a": "gaussian", "b": "gaussian"}, interactions="auto")
    product.fit({"a": columns["a"], "b": columns["b"]}, y.tolist())
    assert product.model_.weights.linear.products
    tiny = [5e-324, -5e-324, 1e-310, 1e-200, -1e-170, 1e-150, 1e-100]
    known_cells = {"a": tiny, "b": tiny[::-1], "n": np.abs(tiny).tolist()}
    product_cells = {"a": tiny, "b": tiny}  # both factors are tiny in the same row
    for nb, cells in ((known, known_cells), (product, product_cells)):
        rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        _, p = scored(base, Scorecard.of(nb.model_), rows)
        assert_posterior(p, nb.model_, as_rows(cells))


NASTY = 'it\'s "best"; DROP TABLE "kept"; -- . select 🐍'


def test_names_and_labels_and_levels_cannot_be_read_as_sql(base: tuple[str, Any]) -> None:
    name, connection = base
    connection.execute("DROP TABLE IF EXISTS kept")
    connection.execute("CREATE TABLE kept (x INTEGER)")
    levels = [NASTY, "' OR 1 = 1 --", "", "\\", "%s ? :x $1", NASTY.lower()]
    many = [f"{i}{NASTY}" for i in range(20)]  # more than are looked through one by one
    table = NASTY[:25]
    short = {NASTY: levels * 20, "select": many * 6, "naively 0": [0.5, 1.5, None] * 40}
    labels = [f"{NASTY} a", "b' --"] * 60
    nb = NaiveBayes(weights=None).fit(short, labels)
    rows = [dict(zip(short, row, strict=True)) for row in zip(*short.values(), strict=True)][:30]
    for where in ("inline", "table"):
        found, p = scored(base, Scorecard.of(nb.model_), rows, named=table, weights=where)
        assert_posterior(p, nb.model_, as_rows({n: of[:30] for n, of in short.items()}))
        assert set(found) <= set(labels)
    assert connection.execute("SELECT COUNT(*) FROM kept").fetchone() == (0,)
    assert name in databases.NAMES


def test_a_token_cannot_be_read_as_sql(base: tuple[str, Any]) -> None:
    texts = [NASTY, "it's 'now'; --", "\\' 🐍🐍 ok", "plain text"]
    text = Text(analyzer="char", ngram_range=(1, 4))
    nb = NaiveBayes({"note": text}, weights=None).fit({"note": texts}, ["a", "b", "a", "b"])
    for where in ("inline", "table"):
        rows = [{"note": of} for of in [*texts, None, "", "ok now"]]
        _, p = scored(base, Scorecard.of(nb.model_), rows, weights=where)
        of = as_rows({"note": [row["note"] for row in rows]})
        assert_posterior(p, nb.model_, of)


@pytest.mark.parametrize("labels", [[3, -7], [1.0, -4.0], [False, True]], ids=str)
def test_labels_are_values_of_their_type(base: tuple[str, Any], labels: list[Any]) -> None:
    nb = GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], [labels[0]] * 2 + [labels[1]] * 2)
    found, _ = scored(base, Scorecard.of(nb.model_), [{"x0": 0.5}, {"x0": 8.5}])
    assert found == labels


def test_an_impossible_row_has_the_class_prior(base: tuple[str, Any]) -> None:
    nb = NaiveBayes("categorical", smoothing=0, weights=None)
    nb.fit({"c": ["x", "x", "y", "z"]}, ["a", "a", "b", "c"])
    rows = [{"c": cell} for cell in ("x", "y", "never", None)]
    for where in ("inline", "table"):
        found, p = scored(base, Scorecard.of(nb.model_), rows, weights=where)
        assert found == ["a", "b", "a", "a"]
        np.testing.assert_allclose(
            p, [[1, 0, 0], [0, 1, 0], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]], rtol=0, atol=EXACT
        )


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_answer_is_that_of_least_cost(base: tuple[str, Any], k: int) -> None:
    rng = np.random.default_rng(k)
    y = rng.integers(k, size=200)
    cells = {"x": (rng.normal(size=200) + y).tolist(), "c": rng.choice(list("ab"), 200).tolist()}
    nb = NaiveBayes(weights=None).fit(cells, [f"class {label}" for label in y])
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    rows += [{"x": 1e9, "c": "a"}, {"x": None, "c": None}]
    cells = {name: [row[name] for row in rows] for name in cells}
    answers, p = list(nb.classes_), nb.predict_proba(cells)
    for cost in (rng.normal(size=(k, k)), rng.integers(9, size=(k, k)) * 1e-30):
        labels, _ = scored(base, Scorecard.of(nb.model_), rows, cost=cost)
        assert labels == nb.predict(cells, cost=cost).tolist()
        asked = QueryOptions(table="rows", dialect=base[0], keep=["row id"], cost=cost)
        found = sorted(base[1].execute(score_query(Scorecard.of(nb.model_), asked)).fetchall())
        assert [row[1] for row in found] == labels
        of_answers = p[range(len(rows)), [answers.index(label) for label in labels]]
        np.testing.assert_allclose([row[2] for row in found], of_answers, rtol=0, atol=EXACT)
        elsewhere = QueryOptions(table="rows", dialect="snowflake", cost=cost)
        query = score_query(Scorecard.of(nb.model_), elsewhere)
        own = query.partition("EXCLUDE (")[2].partition(")")[0].split(", ")
        assert len(own) == len({*own}) > 8


@pytest.mark.parametrize("x", [1e300, -1e300, 1e150, np.inf, -np.inf, 5e-324, -0.0, np.nan])
def test_extreme_numbers_are_scored(base: tuple[str, Any], x: float) -> None:
    for event in ("gaussian", "histogram", "auto"):
        nb = NaiveBayes(event).fit({"x": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0] * 5}, list("aabbbb") * 5)
        check(base, nb, {"x": [x]})


@pytest.mark.slow
@pytest.mark.parametrize(("data", "target"), [("adult", "income"), ("letter", "class")])
def test_real_tables(base: tuple[str, Any], data_folder: Path, data: str, target: str) -> None:
    rows = files.read(str(data_folder / "tables" / f"{data}.csv")).rows
    y = rows.values(target)
    rest = rows.select([name for name in rows.names if name != target])
    nb = NaiveBayes().fit(rest, y)
    some = rest.take(slice(0, 400))
    for where in ("inline", "table"):
        cells = {str(name): some.values(name).tolist() for name in some.names}
        check(base, nb, cells, weights=where)


@pytest.mark.slow
def test_real_texts(base: tuple[str, Any], data_folder: Path) -> None:
    with gzip.open(data_folder / "text" / "sms_spam.jsonl.gz", "rt") as lines:
        messages = [json.loads(line) for line in lines]
    texts, y = [m["text"] for m in messages], [m["label"] for m in messages]
    nb = NaiveBayes().fit({"text": texts[:1500]}, y[:1500])
    check(base, nb, {"text": [*texts[1500:1560], None, ""]})


def visits(name: str, connection: Any, columns: dict[str, Any]) -> None:
    connection.execute("DROP TABLE IF EXISTS visits")
    databases.write(connection, name, "visits", columns)


def simple() -> NaiveBayes:
    X = {"age": [20.0, 30.0, 3.0, 4.0], "colour": ["red", "red", "blue", "red"]}
    return NaiveBayes({"age": "gaussian"}, weights=None).fit(X, ["old", "old", "young", "young"])


def test_all_columns_are_kept_or_those_that_are_named(base: tuple[str, Any]) -> None:
    name, connection = base
    columns = {"other": [7, 8], "age": [25.0, None], "colour": ["red", "grey"]}
    visits(name, connection, columns)
    nb = simple()
    p = nb.predict_proba({"age": columns["age"], "colour": columns["colour"]})
    every = connection.execute(nb.export.sql("visits", name))
    assert [of[0] for of in every.description] == [*columns, "prediction", "probability"]
    found = sorted(every.fetchall())
    assert [row[:3] for row in found] == [(7, 25.0, "red"), (8, None, "grey")]
    np.testing.assert_allclose([row[-1] for row in found], p.max(axis=1), rtol=0, atol=EXACT)
    assert [row[-2] for row in found] == nb.classes_[p.argmax(axis=1)].tolist()
    query = nb.export.sql("visits", name, keep=["colour", "other"], probabilities=True)
    some = connection.execute(query)
    names = [of[0] for of in some.description]
    assert names == ["colour", "other", "prediction", "p(old)", "p(young)"]
    found = sorted(some.fetchall(), key=lambda row: row[1])
    np.testing.assert_allclose([row[-2:] for row in found], p, rtol=0, atol=EXACT)
    none = connection.execute(nb.export.sql("visits", name, keep=[])).fetchall()
    assert len(none) == 2
    assert len(none[0]) == 2


def test_a_view_is_scored_as_a_table_is(base: tuple[str, Any]) -> None:
    name, connection = base
    visits(name, connection, {"age": [25.0], "colour": ["red"]})
    connection.execute("CREATE VIEW seen AS SELECT age, colour FROM visits")
    try:
        keep = ["age"] if name == "sqlite" else None
        found = connection.execute(simple().export.sql("seen", name, keep=keep)).fetchall()
        assert found[0][0] == 25.0
        assert found[0][-2] == "old"
    finally:
        connection.execute("DROP VIEW seen")


def test_strings_where_numbers_were_learned_are_an_error(base: tuple[str, Any]) -> None:
    name, connection = base
    visits(name, connection, {"age": ["25", " 3.5"], "colour": ["red", "red"]})
    nb = simple()
    found = connection.execute(nb.export.sql("visits", name, probabilities=True)).fetchall()
    p = nb.predict_proba({"age": [25.0, 3.5], "colour": ["red", "red"]})
    np.testing.assert_allclose(sorted(row[-1] for row in found), sorted(p[:, 1]), atol=EXACT)
    visits(name, connection, {"age": ["25", "abc"], "colour": ["red", "red"]})
    with pytest.raises(Exception, match="abc") as told:
        connection.execute(nb.export.sql("visits", name)).fetchall()
    if name == "sqlite":
        assert 'Column "age" held numbers in training and holds abc' in str(told.value)


def test_a_column_that_is_not_there_is_an_error(base: tuple[str, Any]) -> None:
    name, connection = base
    visits(name, connection, {"age": [25.0]})
    with pytest.raises(Exception, match="colour"):
        connection.execute(simple().export.sql("visits", name)).fetchall()


def test_sqlite_refuses_what_is_no_time_or_has_no_logarithm() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE visits (day TEXT, size REAL)")
    days = np.array(["2024-01-01T10", "2024-03-01T10"] * 20, "datetime64[s]")
    X = {"day": days, "size": np.arange(1.0, 41.0)}
    nb = NaiveBayes({"size": "lognormal"}, weights=None).fit(X, ["a", "b"] * 20)
    for day, size, said in (("soon", 1.0, "held times .* soon"), ("2024-01-01", 0.0, "above 0")):
        connection.execute("DELETE FROM visits")
        connection.execute("INSERT INTO visits VALUES (?, ?)", (day, size))
        with pytest.raises(sqlite3.OperationalError, match=said):
            connection.execute(nb.export.sql("visits", "sqlite")).fetchall()
    connection.execute("DELETE FROM visits")
    times = ["2024-02-01 00:00:00.25", "2024-02-01T01:00:00+01:00"]
    times += ["2024-02-01", "2024-02-01T00:00:00Z"]
    connection.executemany("INSERT INTO visits VALUES (?, 5)", [(of,) for of in times])
    found = connection.execute(nb.export.sql("visits", "sqlite", probabilities=True)).fetchall()
    utc = ["2024-02-01T00:00:00.25"] + ["2024-02-01T00:00:00"] * 3
    known = nb.predict_proba({"day": np.array(utc, "datetime64[us]"), "size": [5.0] * 4})
    np.testing.assert_allclose([row[-2:] for row in found], known, rtol=0, atol=EXACT)


@pytest.mark.parametrize(
    "text", ["2026-02-31", "2026-02-29 10:00", "2026-02-28 24:00", "now", "12:30", "1e3"]
)
def test_sqlite_refuses_what_is_no_time_in_python(text: str) -> None:
    hours = np.datetime64("2026-01-01T00", "h") + np.arange(240)
    nb = NaiveBayes().fit({"t": hours.astype("datetime64[s]")}, np.arange(240) % 24 < 12)
    with pytest.raises(ValueError, match="held times in training"):
        nb.predict({"t": [text]})
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE visits (t TEXT)")
    connection.execute("INSERT INTO visits VALUES (?)", (text,))
    with pytest.raises(sqlite3.OperationalError, match="held times in training"):
        connection.execute(nb.export.sql("visits", "sqlite")).fetchall()


@pytest.mark.parametrize("names", [("_rowid_", "x"), ("rowid", "oid"), ("_rowid_", "ROWID")])
def test_a_column_may_have_the_name_of_the_number_of_a_row(names: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 40).astype(float), rng.normal(size=40)
    nb = NaiveBayes().fit(dict(zip(names, (a, b), strict=True)), np.arange(40) % 2)
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE TABLE visits ("{names[0]}" REAL, "{names[1]}" REAL)')
    connection.executemany("INSERT INTO visits VALUES (?, ?)", zip(a, b, strict=True))
    found = connection.execute(nb.export.sql("visits", "sqlite", probabilities=True)).fetchall()
    by_row = {row[:2]: row[-2:] for row in found}
    assert len(found) == len(by_row) == 40
    known = nb.predict_proba(dict(zip(names, (a, b), strict=True)))
    for row, p in zip(zip(a, b, strict=True), known, strict=True):
        assert by_row[row] == pytest.approx(p, abs=EXACT)


def test_where_all_three_names_are_taken_it_says_so() -> None:
    table = {name: np.arange(4.0) for name in ("rowid", "oid", "_rowid_")}
    nb = NaiveBayes(weights=None).fit(table, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="SQLite has no name for the number of a row: give keep="):
        nb.export.sql("visits", "sqlite")
    assert nb.export.sql("visits", "sqlite", keep=["oid"])


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_levels_are_found_in_an_sqlite_database_of_any_encoding(encoding: str) -> None:
    """In UTF-16 the order of bytes is not that of code points."""
    rng = np.random.default_rng(0)
    first = "a\xe9\u4e2d\uff21\U0001f600\U0010ffff\ufffd\u30a2\u05d0z"
    levels = [letter * n for letter in first for n in (1, 2, 3)]
    x = np.array(levels)[rng.integers(0, len(levels), 600)]
    nb = NaiveBayes(weights=None).fit({"x": x}, rng.random(600) < 0.5)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"PRAGMA encoding = '{encoding}'")
    connection.execute("CREATE TABLE visits (x TEXT)")
    asked = [*levels, "b", "\U0001f601"]
    connection.executemany("INSERT INTO visits VALUES (?)", [(text,) for text in asked])
    query = nb.export.sql("visits", "sqlite", probabilities=True, weights="inline")
    found = {row[0]: row[-2:] for row in connection.execute(query)}
    for text, p in zip(asked, nb.predict_proba({"x": asked}), strict=True):
        assert found[text] == pytest.approx(p, abs=EXACT), text


def test_categories_beyond_the_whole_numbers_of_floats_are_refused_by_name() -> None:
    x = np.array([2**53 + 1, 2**53 + 2] * 5)
    nb = NaiveBayes({"id": "categorical"}, weights=None).fit({"id": x}, [0, 1] * 5)
    for written in (
        lambda: nb.export.sql("t"),
        lambda: nb.export.sql("t", "sqlite"),
        nb.export.scorecard,
    ):
        with pytest.raises(ValueError, match=r"Column 'id' has the category 90071992547409\d\d"):
            written()


def test_sqlite_without_mathematical_functions_names_the_one_it_lacks() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE visits (age REAL, colour TEXT)")
    connection.execute("INSERT INTO visits VALUES (3.5, 'red')")
    connection.set_authorizer(
        lambda action, _a, function, *_: (
            sqlite3.SQLITE_DENY
            if action == sqlite3.SQLITE_FUNCTION and function.lower() == "exp"
            else sqlite3.SQLITE_OK
        )
    )
    with pytest.raises(sqlite3.DatabaseError, match=r"(?i)function: exp"):
        connection.execute(simple().export.sql("visits", "sqlite"))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"dialect": "dbase"}, r"^There is no SQL dialect 'dbase'; known are duckdb, [^\n]*\.$"),
        ({"dialect": None}, "There is no SQL dialect None"),
        ({"weights": "both"}, "weights must be 'auto', 'inline' or 'table', got 'both'"),
        ({"keep": ["Prediction"]}, "The table has a column 'prediction'.*keep="),
    ],
    ids=str,
)
def test_a_wrong_option_is_one_sentence(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        simple().export.sql("visits", **asked)


def test_texts_need_a_table_of_tokens_and_rows_that_differ(base: tuple[str, Any]) -> None:
    name, connection = base
    nb = NaiveBayes({"note": Text()}, weights=None).fit({"note": ["buy", "lunch"]}, ["a", "b"])
    with pytest.raises(ValueError, match=r"'note' holds texts.*tokens="):
        nb.export.sql("visits", name)
    with pytest.raises(ValueError, match="row_id="):
        nb.export.sql("visits", name, tokens="t")
    with pytest.raises(ValueError, match="reads no texts"):
        simple().export.tokens(connection, "visits", "id")
    for ids, why in (([1, 1], "1 twice"), ([None, 2], "missing")):
        visits(name, connection, {"id": ids, "note": ["buy", "lunch"]})
        connection.execute("DROP TABLE IF EXISTS naively_tokens")
        with pytest.raises(ValueError, match=f"Column 'id' must tell rows apart, and is {why}"):
            nb.export.tokens(connection, "visits", "id")


def test_tokens_are_read_and_written_in_batches(
    base: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "BATCH", 3)
    monkeypatch.setattr(sql, "ROWS", 2)
    nb = NaiveBayes({"note": Text()}, weights=None).fit({"note": ["buy now", "lunch"]}, ["a", "b"])
    notes = ["buy buy now", "lunch", None, "now lunch never", "buy", "", "now"]
    check(base, nb, {"note": notes})


def test_of_a_long_text_nothing_is_added(base: tuple[str, Any]) -> None:
    text = Text(max_characters=8, event=Bernoulli())
    nb = NaiveBayes({"note": text}, weights=None, presence="ignore")
    nb.fit({"note": ["buy now", "lunch", "buy"]}, ["a", "b", "a"])
    notes = ["lunch buy", "lunch bu", "Straße ü", "Straße üb", None]
    check(base, nb, {"note": notes})


def of_every_kind() -> tuple[NaiveBayes, dict[str, list[Any]]]:
    """A model of numbers, strings, texts, products and rules, and rows for it."""
    columns, y = table(200, 5)
    del columns["when"]
    nb = with_linear_part(NaiveBayes().fit(columns, y), products=2, rules=5)
    return nb, {name: list(of[:50]) for name, of in columns.items()}


@pytest.mark.parametrize("where", ["inline", "table"])
def test_what_other_databases_read_scores_as_the_model_does(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is run in DuckDB, without what is known of DuckDB."""
    monkeypatch.delitem(sql.TESTED, "duckdb")
    nb, cells = of_every_kind()
    check(("duckdb", duckdb.connect()), nb, cells, weights=where)


@pytest.mark.parametrize("where", ["inline", "table"])
@pytest.mark.parametrize("dialect", [one.value for one in Dialects if one.value])
def test_other_databases_are_written_for_and_marked_as_not_run(dialect: str, where: str) -> None:
    if dialect in {*databases.NAMES, "dax", "prql"}:
        return  # the last two read no SQL
    nb, _ = of_every_kind()
    query = nb.export.sql("visits", dialect, tokens="words", row_id="id", weights=where)
    for statement in (query, *query.setup):
        assert statement.splitlines()[0] == f"-- Written for {dialect} by sqlglot; not run there."
        sqlglot.parse_one(statement, dialect=dialect)
    with pytest.raises(ValueError, match=f"Times are not written for {dialect}: make"):
        timed()[0].export.sql("visits", dialect)


def test_what_cannot_be_written_elsewhere_is_one_sentence() -> None:
    unknown = exp.select("*").from_(exp.values([(1,)], alias="v", columns=["a"]))
    with pytest.raises(ValueError, match=r"^The query cannot be written for sqlite: [^\n]*\.$"):
        sql.dialect_of("sqlite").written(unknown)


def test_the_drop_ins_and_a_copied_query() -> None:
    nb = CategoricalNB().fit([[0, 1], [1, 1], [1, 0]], ["a", "b", "b"])
    query = nb.export.sql("visits", weights="table")
    assert isinstance(query, str)
    assert isinstance(query, Query)
    simple_query = simple().export.sql("visits", weights="table")
    assert simple_query.setup[0].startswith("CREATE TABLE")
    same = pickle.loads(pickle.dumps(simple_query))  # noqa: S301  (its own)
    assert same.setup == simple_query.setup
    assert copy.deepcopy(simple_query) == simple_query


@pytest.mark.slow
def test_many_columns_of_strings_and_of_numbers(base: tuple[str, Any]) -> None:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {
        f"s{j}": rng.choice(list("abcdefghijkl"), 60).tolist() for j in range(70)
    }
    columns |= {f"n{j}": rng.normal(size=60).tolist() for j in range(150)}
    nb = NaiveBayes(weights=None).fit(columns, rng.choice(["x", "y", "z"], 60).tolist())
    some = {name: of[:5] for name, of in columns.items()}
    for where in ("inline", "table"):
        check(base, nb, some, weights=where)


def test_a_number_that_is_an_edge_is_in_the_bin_above(base: tuple[str, Any]) -> None:
    x = np.random.default_rng(2).normal(size=400)
    nb = NaiveBayes(weights=None).fit({"x": x}, np.where(x > 0.3, "a", "b"))
    terms = Scorecard.of(nb.model_).terms
    edges = np.concatenate([term.edges for term in terms if term.kind == "bins"])
    around = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    check(base, nb, {"x": around.tolist()})
