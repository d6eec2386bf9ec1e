"""Numbers that are looked up by a string: in a table of the database, or in the query itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from naively.engines.sql.dialect import Dialect, Table
from naively.kernels.reference import Floats

WEIGHTS = "naively_weights"  # the table of weights, unless another name is given
INLINE_WEIGHTS = "naively weights"  # the step of a query that holds them
ROWS = 500  # of one statement that fills a table


@dataclass(frozen=True, eq=False)
class Weight:
    """Numbers that are looked up by a string: those of the levels of a column, or of tokens.

    Parameters
    ----------
    term : int
        The place of the term in the scorecard, which is its number in the table of weights.
    levels : sequence of str
        The levels or tokens.
    points : ndarray of shape (levels, scores)
        What each adds.
    x : str
        The text that is looked up; for tokens the text that they are of.
    block : int or None
        The number of a block of tokens in the table of tokens; None for levels.
    binary : bool
        Whether a token counts once.
    """

    term: int
    levels: Sequence[str]
    points: Floats
    x: str
    block: int | None = None
    binary: bool = False

    @property
    def alias(self) -> str:
        """How the query names what it joins."""
        return f"naively w{self.term}"


@dataclass(frozen=True, eq=False)
class Weights:
    """All numbers that are looked up by strings: one table, with a row for each string of a term.

    Parameters
    ----------
    of : sequence of Weight
        The numbers, by term.
    scores : int
        How many numbers a row has.
    dialect : Dialect
        How the database spells them.
    text_type : str
        The type of strings.
    table : str or tuple of two str
        The name of the table.
    tokens : str or tuple of two str, optional
        The table of the tokens of texts.
    in_table : bool
        Whether the numbers are in the table; else they are a step of the query.
    """

    of: Sequence[Weight]
    scores: int
    dialect: Dialect
    text_type: str
    table: Table
    tokens: Table | None
    in_table: bool

    @property
    def name(self) -> str:
        """What the query joins."""
        if self.in_table:
            return self.dialect.table(self.table)
        return self.dialect.identifier(INLINE_WEIGHTS)

    def joins(self, row: str) -> str:
        """Return what is joined to the step x, of which ``row`` is the column of row numbers."""
        joins = []
        for weight in self.of:
            alias = self.dialect.identifier(weight.alias)
            if weight.block is None:
                on = f"{alias}.term = {weight.term} AND {alias}.level = {weight.x}"
                joins.append(f"\n  LEFT JOIN {self.name} AS {alias} ON {on}")
            else:
                on = f"{alias}.id = {row}"
                joins.append(f"\n  LEFT JOIN ({self._of_texts(weight)}) AS {alias} ON {on}")
        return "".join(joins)

    def _of_texts(self, weight: Weight) -> str:
        """Return what the tokens of each text add up to, and how many there are."""
        if self.tokens is None:
            raise ValueError("There is no table of tokens.")
        often = "1" if weight.binary else "k.often"
        sums = "".join(f", SUM({often} * w.s{i}) AS s{i}" for i in range(self.scores))
        n = self.dialect.as_double(f"SUM({often})")
        return (
            f"SELECT k.row_id AS id{sums}, {n} AS n FROM {self.dialect.table(self.tokens)} AS k "
            f"JOIN {self.name} AS w ON w.term = {weight.term} AND w.level = k.token "
            f"WHERE k.block = {weight.block} GROUP BY k.row_id"
        )

    def given(self) -> str:
        """Return the table as a step of the query."""
        columns = ", ".join(["term", "level", *(f"s{i}" for i in range(self.scores))])
        name = self.dialect.identifier(INLINE_WEIGHTS)
        return f"{name}({columns}) AS (VALUES {', '.join(self._rows())})"

    def setup(self) -> list[str]:
        """Return the statements that make and fill the table."""
        numbers = "".join(f", s{i} {self.dialect.double} NOT NULL" for i in range(self.scores))
        made = (
            f"CREATE TABLE {self.name} (term INTEGER NOT NULL, level {self.text_type} NOT NULL"
            f"{numbers}, PRIMARY KEY (term, level))"
        )
        rows = self._rows()
        filled = [
            f"INSERT INTO {self.name} VALUES {', '.join(rows[i : i + ROWS])}"
            for i in range(0, len(rows), ROWS)
        ]
        return [self.dialect.finished(statement) for statement in (made, *filled)]

    def _rows(self) -> list[str]:
        return [row for weight in self.of for row in _rows_of(weight, self.dialect)]


def _rows_of(weight: Weight, dialect: Dialect) -> list[str]:
    """Return rows of the table; strings that the database cannot hold will not come either."""
    rows = []
    for level, points in zip(weight.levels, weight.points.tolist(), strict=True):
        try:
            spelled = dialect.string(level)
        except ValueError:
            continue
        numbers = "".join(f", {dialect.number(x)}" for x in points)
        rows.append(f"({weight.term}, {spelled}{numbers})")
    return rows
