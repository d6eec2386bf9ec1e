"""Names, strings and numbers are the same in a database as here, whatever they hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naively.wings.databases.databases import Database, Dialect, DuckDB, PostgreSQL, SQLite
from tests import databases

in_database = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
REAL = st.floats(allow_nan=False)
DIALECTS: dict[str, type[Database]] = {one.name: one for one in (DuckDB, SQLite, PostgreSQL)}
ODD = [0.1, 1e22, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2**53 + 2.0]


@pytest.fixture(params=databases.NAMES)
def asked(request: pytest.FixtureRequest, postgres: Any) -> Iterator[tuple[Dialect, Any]]:
    """A dialect, and what answers an expression."""
    with databases.connected(request.param, postgres) as connection:

        def ask(*pieces: str) -> tuple[Any, ...]:
            found: tuple[Any, ...] = connection.execute(f"SELECT {', '.join(pieces)}").fetchone()
            return found

        yield DIALECTS[request.param](), ask


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
    two = dialect.number(2.0)
    found = ask(f"EXP({two})", f"LN({two})", f"POWER({two}, {dialect.number(0.3)})")
    assert list(found) == pytest.approx([math.exp(2), math.log(2), 2**0.3], rel=1e-15)
    truth, whole = dialect.literal(True), dialect.literal(-3)
    assert ask(dialect.as_double(truth, "boolean"), whole) == (1.0, -3)
    assert ask(dialect.as_text(dialect.string("a "))) == ("a ",)
