"""What an estimator does with a table of a database, whose rows stay where they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from naively.counting.batch import Batch
from naively.counting.labels import Target
from naively.estimators.base import exclusive
from naively.estimators.on_cluster import ClusterAnswers
from naively.estimators.training import NotInMemory, Training
from naively.evaluation.reservoir import Reservoir
from naively.model.model import Model
from naively.schema.given import EventModels
from naively.schema.schema import Schema
from naively.schema.settings import Settings

if TYPE_CHECKING:
    from naively.engines.sql.dialect import Table as TableName
    from naively.engines.sql.source import Source


@dataclass(frozen=True, eq=False)
class InDatabase(NotInMemory):
    """A table of a database, which is counted there."""

    source: Source
    nothing = "There are no rows to learn from: the table is empty."

    def check_interactions(self) -> None:
        raise ValueError(
            "interactions='auto' needs a second pass over the rows, which is not made in a "
            "database; learn without it, or read the table and use fit."
        )

    @property
    def columns(self) -> Sequence[str]:
        return self.source.names

    def count(
        self,
        event_models: EventModels,
        settings: Settings,
        sample: Reservoir,
        known: Schema | None = None,
    ) -> tuple[Model | None, Reservoir]:
        from naively.engines.sql.learn import learn

        return learn(self.source, event_models, settings, sample, known)

    def batches(self, schema: Schema) -> Iterable[Batch]:  # noqa: ARG002  (none is read again)
        return ()


class SqlLearner(ClusterAnswers):
    """A classifier that learns from tables of databases too."""

    @exclusive
    def fit_sql(
        self,
        connection: Any,
        table: TableName,
        target: str,
        sample_weight: str | None = None,
    ) -> Self:
        """Learn from a table in a database, where it is counted; what was learned is forgotten.

        Parameters
        ----------
        connection : DB-API or ADBC connection
            To DuckDB (``duckdb``), SQLite (``sqlite3``) or PostgreSQL (``psycopg``). It is only
            asked, and stays open.
        table : str or tuple of two str
            The table or view: one name, or the names of a schema and of a table in it; or a query
            ("SELECT ..."), which is a temporary view of the connection as long as it is counted.
        target : str
            The column of labels, none of which may be missing.
        sample_weight : str, optional
            A column of weights, finite and at least 0.

        Returns
        -------
        self : NaiveBayes
            Fitted, as by ``fit`` on the same rows: what was counted is equal, and so is the sample
            that weights are fitted to, unless it is chosen from more than 20,000 rows.

        Raises
        ------
        TypeError
            If the connection is to no database that is known.
        ValueError
            If the table or a column is not there or of no use, an option is wrong, an event model
            needs whole rows, or the database fails; it says which. Nothing is learned then.

        Notes
        -----
        One query counts. Numbers travel as counts of cells, sums are exact, and the different
        strings of each column travel once: texts that differ all travel. With the counts comes a
        sample of some 10,000 rows, for weights and scores, chosen by a seeded hash in the query.
        Columns of weights that are fractions are counted to 2^-61 of the largest weight, and the
        sums of their numbers to the database's own precision.

        Examples
        --------
        >>> import duckdb
        >>> from naively import NaiveBayes
        >>> shop = duckdb.connect()
        >>> _ = shop.execute("CREATE TABLE visits (seconds DOUBLE, colour TEXT, bought BOOLEAN)")
        >>> rows = "(20, 'red', true), (30, 'red', true), (3, 'blue', false), (4, 'blue', false)"
        >>> _ = shop.execute(f"INSERT INTO visits VALUES {rows}")
        >>> nb = NaiveBayes().fit_sql(shop, "visits", "bought")
        >>> nb.predict({"seconds": [25.0], "colour": ["red"]})
        array([ True])
        """
        from naively.engines.sql.databases import database_of
        from naively.engines.sql.source import Source

        if getattr(self, "semi_supervised", False):
            raise ValueError(
                "semi_supervised=True needs all rows at once; read the table and use fit."
            )
        database = database_of(connection)
        with database.named(table) as name:
            source = Source.of(database, name, target, sample_weight)
            return self._learn(InDatabase(source), None, more=False)

    @abstractmethod
    def _learn(self, found: Training, classes: Target, *, more: bool) -> Self:
        """Learn from rows that were read; there may be more of them, of other classes."""
