"""A table in a database is learned: its rows come in batches, or are counted by a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from naively.counting.labels import Beside
from naively.data.columns import Column
from naively.data.stream import BYTES, ROWS, Stream, in_pieces
from naively.doors import wing
from naively.fitting.learn import Labelled, LabelledStream
from naively.wings.databases.databases import Connection, DatabaseTable, Table, database_of

# --- Rows of a database in the process are read like any other; a server counts many of its own --


FEW = 20_000  # rows of a server's table, which are read


class DatabaseRows(Stream):
    """The rows of a table in a database, as they are read."""

    def __init__(self, table: DatabaseTable) -> None:
        super().__init__([*table.columns], [*table.columns])
        self._table = table

    def columns(self) -> Iterator[dict[str, Column]]:
        table = self._table
        for columns in table.database.batches(table.table, [*table.columns.values()]):
            yield from in_pieces(columns, ROWS, BYTES)


@contextmanager
def labelled_table(
    connection: Connection, table: Table, target: str, weight: str | None = None
) -> Iterator[Labelled]:
    """Give a table of a database with its labels, which were checked, while it has a name."""
    database = database_of(connection)
    with database.named(table) as name:
        found = DatabaseTable.of(database, name, target, weight)
        found.check()
        if database.serves and found.n_rows > FEW:
            yield wing("table of a server")(found)
        else:
            yield LabelledStream(DatabaseRows(found), target, Beside(weight))
