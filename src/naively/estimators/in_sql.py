"""A fitted model as a query, which scores rows where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
