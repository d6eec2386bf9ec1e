"""Names, strings and numbers are the same in a database as here, whatever they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naively.wings.databases.databases import Dialect, dialect_of
from tests import databases

# ruff: noqa: S608  (queries are what is tested)

in_database = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
REAL = st.floats(allow_nan=False)
ODD = [0.1, 1e22, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2**53 + 2.0]


@pytest.fixture(params=[*databases.NAMES, "bigquery"])
def asked(request: pytest.FixtureRequest, postgres: Any) -> Iterator[tuple[Dialect, Any]]:
    """A dialect, and what answers an expression; what is written for others is run in DuckDB."""
    name = "duckdb" if request.param == "bigquery" else request.param
    with databases.connected(name, postgres) as connection:

        def ask(*pieces: str) -> tuple[Any, ...]:
            found: tuple[Any, ...] = connection.execute(f"SELECT {', '.join(pieces)}").fetchone()
            return found

        yield dialect_of(request.param), ask


@in_database
@given(numbers=st.lists(REAL, min_size=1, max_size=20))
def test_a_number_is_the_same_to_the_last_bit(asked: Any, numbers: list[float]) -> None:
    dialect, ask = asked
    for some in (numbers, ODD, [-x for x in ODD]):
        found = ask(*map(dialect.number, some))
        assert [(type(x), x) for x in found] == [(float, x) for x in some]


def test_nan_is_missing_and_infinity_is_not(asked: Any) -> None:
    dialect, ask = asked
    cells = ["NULL", dialect.number(math.nan), dialect.number(math.inf), dialect.number(0.0)]
    asked_for = [dialect.is_missing(dialect.as_double(cell)) for cell in cells]
    assert [bool(x) for x in ask(*asked_for)] == [True, True, False, False]


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@in_database
@given(strings=st.lists(TEXT, min_size=1, max_size=5))
def test_a_string_is_the_same(asked: Any, strings: list[str]) -> None:
    dialect, ask = asked
    more = [*strings, "it's", "'; DROP TABLE t; --", "\\", "\\'", '"', "%s", "$$", "", "E'\\n'"]
    assert list(ask(*map(dialect.string, more))) == more


def test_nul_and_half_characters(asked: Any) -> None:
    dialect, ask = asked
    with pytest.raises(ValueError, match="half a character"):
        dialect.string("\ud800")
    with pytest.raises(ValueError, match="NUL"):
        dialect.identifier("a\0b")
    if dialect.name == "postgres":
        with pytest.raises(ValueError, match="NUL character, which no string of PostgreSQL"):
            dialect.string("a\0b")
        with pytest.raises(ValueError, match="has 64 bytes"):
            dialect.identifier("ä" * 32)
    else:
        assert ask(dialect.string("a\0b\0")) == ("a\0b\0",)


@in_database
@given(name=TEXT.filter(lambda name: 0 < len(name.encode()) < 64))
def test_a_name_is_the_same(asked: Any, name: str) -> None:
    dialect, ask = asked
    if dialect.name == "duckdb" and not name.isprintable():
        return  # which DuckDB may refuse in a name
    (found,) = ask(
        f"t.{dialect.identifier(name)} FROM (SELECT 7 AS {dialect.identifier(name)}) AS t"
    )
    assert found == 7


def test_functions(asked: Any) -> None:
    dialect, ask = asked
    two, three = dialect.number(2.0), dialect.number(3.0)
    found = ask(f"EXP({two})", f"LN({two})", f"POWER({two}, {dialect.number(0.3)})")
    assert list(found) == pytest.approx([math.exp(2), math.log(2), 2**0.3], rel=1e-15)
    many = [dialect.number(float(x)) for x in range(300)]
    assert ask(dialect.greatest(*many), dialect.least(*many), dialect.greatest(two)) == (299, 0, 2)
    assert ask(dialect.greatest(two, three)) == (3,)
    assert ask(dialect.as_double(dialect.boolean(True), "boolean"), dialect.integer(-3)) == (
        1.0,
        -3,
    )
    assert ask(dialect.as_text(dialect.string("a "))) == ("a ",)


def test_there_are_dialects_and_no_others() -> None:
    assert dialect_of("PostgreSQL").name == "postgres"
    with pytest.raises(
        ValueError, match=r"^There is no SQL dialect 'dbase'; known are duckdb, [^\n]*\.$"
    ):
        dialect_of("dbase")
    with pytest.raises(ValueError, match="no SQL dialect None"):
        dialect_of(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "quoted"), [("bigquery", "`a b`"), ("snowflake", '"a b"'), ("spark", "`a b`")]
)
def test_other_dialects_say_that_they_were_not_run(name: str, quoted: str) -> None:
    dialect = dialect_of(name)
    asked_for = f"SELECT EXP({dialect.identifier('a b')}) FROM {dialect.table('t')}"
    first, query = dialect.finished(asked_for).split("\n", 1)
    assert first == f"-- Written for {name} by sqlglot from a query for DuckDB; not run there."
    assert query.startswith(f"SELECT EXP({quoted}) FROM ")


def test_what_cannot_be_written_elsewhere_is_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^The query cannot be written for bigquery: [^\n]*\.$"):
        dialect_of("bigquery").finished("SELECT FROM WHERE (")
