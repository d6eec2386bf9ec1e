"""A fitted model as a query, which scores rows where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from naively.estimators.reported import Reported

if TYPE_CHECKING:
    from naively.engines.sql.dialect import Table as TableName
    from naively.engines.sql.score import Query, Where


class Queried(Reported):
    """A fitted model that is written as SQL."""

    def to_sql(
        self,
        table: TableName,
        dialect: str = "duckdb",
        *,
        probabilities: bool = False,
        keep: Sequence[str] | None = None,
        weights: Where = "auto",
        weights_table: TableName = "naively_weights",
        tokens: TableName | None = None,
        row_id: str | None = None,
    ) -> Query:
        """Write a query that scores the rows of a table in its database.

        Parameters
        ----------
        table : str or tuple of two str
            The table or view that holds the rows: one name, or the names of a schema and of a table
            in it. In DuckDB it can be the path of a file, such as "visits.parquet".
        dialect : str, default "duckdb"
            "duckdb", "sqlite" or "postgres"; or, with sqlglot (``pip install 'naively[sql]'``), any
            other that it knows, such as "bigquery", "snowflake" or "spark". What sqlglot writes
            says in its first line that it was not run there.
        probabilities : bool, default False
            Whether to return the probability of each class, "p(label)", instead of that of the
            prediction, "probability".
        keep : sequence of str, optional
            The columns to return before the prediction; by default all columns of the table. In
            SQLite a view has no numbers of rows, which all columns are found by: name them.
        weights : {"auto", "inline", "table"}, default "auto"
            Whether the numbers of strings and tokens are in the query, or in a table that
            ``setup`` makes; by default a table if they are more than 2,000.
        weights_table : str or tuple of two str, default "naively_weights"
            The name of that table.
        tokens : str or tuple of two str, optional
            The table of tokens, which a model of texts needs: with columns "row_id", "block",
            "token" and "often". ``write_tokens`` makes it.
        row_id : str, optional
            The column of ``table`` that "row_id" refers to.

        Returns
        -------
        query : Query
            A string. ``query.setup`` holds the statements to run once before it, if any.

        Raises
        ------
        ValueError
            If what a column says is no sum of given numbers (see `Scorecard`), the dialect is not
            known or cannot spell something, or an option lacks another.

        Notes
        -----
        Probabilities equal those of ``predict_proba`` to 1e-12. Missing cells, and levels and words
        that were never seen, say what they say there. A number that is no number, or no number of
        the event model, is an error of the database, or is scored by the same formula.

        Examples
        --------
        >>> import duckdb
        >>> from naively import NaiveBayes
        >>> shop = duckdb.connect()
        >>> _ = shop.execute("CREATE TABLE visits AS SELECT 25 AS age, 'red' AS colour")
        >>> X = {"age": [20, 30, 3, 4], "colour": ["red", "red", "blue", "blue"]}
        >>> nb = NaiveBayes("gaussian", weights=None).fit({"age": X["age"]}, X["colour"])
        >>> print(shop.execute(nb.to_sql("visits", keep=["age"])).fetchall())
        [(25, 'red', 0.999...)]
        """
        from naively.engines.sql.score import Asked, score_query
        from naively.model.scorecard.scorecard import Scorecard

        asked = Asked(
            table=table,
            dialect=dialect,
            probabilities=probabilities,
            keep=keep,
            weights=weights,
            weights_table=weights_table,
            tokens=tokens,
            row_id=row_id,
        )
        return score_query(Scorecard.of(self._checked), asked)

    def write_tokens(
        self, connection: Any, table: TableName, row_id: str, tokens: TableName = "naively_tokens"
    ) -> int:
        """Make a table of the tokens of texts that are in a database, for a query of ``to_sql``.

        Parameters
        ----------
        connection : DB-API or ADBC connection
            To DuckDB (``duckdb``), SQLite (``sqlite3``) or PostgreSQL (``psycopg``); nothing is
            committed.
        table : str or tuple of two str
            The table that holds the texts, whose columns are named as in training.
        row_id : str
            Its column of whole numbers or strings that differ in every row.
        tokens : str or tuple of two str, default "naively_tokens"
            The table to make, with columns "row_id", "block" (0 for the first column of tokens,
            such as words, 1 for the next, such as bigrams), "token" and "often".

        Returns
        -------
        rows : int
            How many rows it has: one for each token of a text that the model knows.

        Raises
        ------
        ValueError
            If the model reads no texts, the table of tokens is there already, rows cannot be told
            apart, or the database fails; it says which.

        Examples
        --------
        >>> import sqlite3
        >>> from naively import NaiveBayes, Text
        >>> nb = NaiveBayes({"note": Text()}, weights=None)
        >>> nb = nb.fit({"note": ["buy now", "lunch now"]}, ["spam", "ham"])
        >>> mail = sqlite3.connect(":memory:")
        >>> _ = mail.execute("CREATE TABLE notes (id INTEGER, note TEXT)")
        >>> _ = mail.execute("INSERT INTO notes VALUES (7, 'buy or buy')")
        >>> nb.write_tokens(mail, "notes", "id")
        1
        >>> mail.execute("SELECT * FROM naively_tokens").fetchall()
        [(7, 0, 'buy', 2)]
        """
        from naively.engines.sql.tokens import write_tokens
        from naively.model.scorecard.scorecard import Scorecard

        card = Scorecard.of(self._checked)
        return write_tokens(card, connection, table, row_id, tokens)
