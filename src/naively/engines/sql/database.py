"""A connection to a database: what its tables hold, and answers to queries."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from uuid import uuid4

from naively.data.columns import Kind, refuse_twice, unusable
from naively.engines.sql.dialect import Dialect, Table

ADBC = "adbc_driver_manager"
# What begins so and goes on is no name of a table.
QUERY = re.compile(r"\s*(select|with|values|from)\s+\S.*", re.IGNORECASE | re.DOTALL)
LONGEST = 300  # characters of a database's message


@dataclass(frozen=True)
class ColumnType:
    """A column of a table in a database.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "string", "time"}
        What its values are.
    type : str
        Its type, as the database names it.
    whole : bool
        Whether its values are whole numbers of 64 bits at most.
    """

    name: str
    kind: Kind
    type: str
    whole: bool = False


class Chosen(NamedTuple):
    """Some rows of a table: what a query selects from, and the condition that they fulfil."""

    table: str
    condition: str


class Database(ABC):
    """A connection, and how its database is asked.

    Parameters
    ----------
    connection : DB-API connection
        Nothing is written, committed or rolled back.
    title : str
        What the database is called in messages.
    """

    title: ClassVar[str]
    dialect: ClassVar[Dialect]
    whole_types: ClassVar[frozenset[str]]
    by_content: ClassVar[bool] = True  # whether equal rows are chosen together

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def ask(self, query: str, kinds: Sequence[Kind] = ()) -> list[tuple[Any, ...]]:  # noqa: ARG002
        """Return all rows of a query's answer.

        Parameters
        ----------
        query : str
            The query.
        kinds : sequence of {"number", "string", "boolean", "time"}, optional
            What its columns are, where a database has no types of its own.

        Raises
        ------
        ValueError
            If the database fails; the message is one sentence.
        """
        try:
            return self._ask(query)
        except _errors(self.connection) as error:
            raise ValueError(self._sentence(str(error))) from error

    def run(self, statement: str) -> None:
        """Run a statement that answers nothing.

        Raises
        ------
        ValueError
            If the database fails; the message is one sentence.
        """
        try:
            self._run(statement)
        except _errors(self.connection) as error:
            raise ValueError(self._sentence(str(error))) from error

    @contextmanager
    def named(self, table: Table) -> Iterator[Table]:
        """Give the name of a table, or of a view of this connection that is a query as long.

        Raises
        ------
        ValueError
            If the database cannot answer the query.
        """
        if not (isinstance(table, str) and QUERY.match(table)):
            yield table
            return
        name = f"naively_{uuid4().hex}"
        view = self.dialect.identifier(name)
        self.run(f"CREATE TEMPORARY VIEW {view} AS {table.strip().rstrip(';')}")
        try:
            yield name
        finally:
            with suppress(ValueError):  # after a failure PostgreSQL has dropped it already
                self.run(f"DROP VIEW {view}")

    def _run(self, statement: str) -> None:
        cursor = self.connection.cursor()
        try:
            cursor.execute(statement)
        finally:
            cursor.close()

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.cursor()
        try:
            cursor.execute(query)
            found: list[tuple[Any, ...]] = cursor.fetchall()
        finally:
            cursor.close()
        return found

    def _sentence(self, message: str) -> str:
        lacking = self.dialect.lacks(message)
        if lacking is not None:
            return (
                f"{self.title} has no function {lacking} here, which the query needs; connect to a "
                "version that has it."
            )
        line = " ".join(message.strip().split("\n", 1)[0].split()).rstrip(".")
        return f"{self.title} failed: {line[:LONGEST]}."

    def columns(self, table: Table) -> dict[str, ColumnType]:
        """Return the columns of a table or view, in its order.

        Raises
        ------
        ValueError
            If there is no such table, or nothing can be learned from a column of such a type.
        """
        typed = self.types(table)
        if not typed:
            shown = table if isinstance(table, str) else ".".join(table)
            raise ValueError(f"{self.title} has no table {shown!r} with columns.")
        refuse_twice(name for name, _ in typed)
        return {name: self._column(name, declared) for name, declared in typed}

    def _column(self, name: str, declared: str) -> ColumnType:
        kind = self.kind_of(declared)
        if kind is None:
            raise unusable(name, f"values of type {declared}")
        return ColumnType(name, kind, declared, declared.upper() in self.whole_types)

    @abstractmethod
    def chosen(self, table: Table, columns: Sequence[str], share: float, seed: int) -> Chosen:
        """Return which rows are a share of a table, chosen by a hash.

        Parameters
        ----------
        table : str or tuple of two str
            The table.
        columns : sequence of str
            The columns that are hashed.
        share : float
            How much of the table is wanted, less than 1.
        seed : int
            Of 64 bits; with another seed, other rows are chosen.
        """

    @abstractmethod
    def types(self, table: Table) -> Sequence[tuple[str, str]]:
        """Return the name and type of each column of a table."""

    @abstractmethod
    def kind_of(self, declared: str) -> Kind | None:
        """Return what values of a type are; None if nothing can be learned from them."""


def modules_of(connection: Any) -> list[str]:
    """Return the modules of a connection's class and of those that it is made of."""
    every = (kind.__module__.partition(".")[0] for kind in type(connection).__mro__)
    return [name.lstrip("_") for name in every]


def _errors(connection: Any) -> tuple[type[Exception], ...]:
    """Return the errors that a connection may raise, which each module has as ``Error``."""
    there = (sys.modules.get(name) for name in modules_of(connection))
    return tuple(module.Error for module in there if module is not None and "Error" in vars(module))
