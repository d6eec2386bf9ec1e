"""The tokens of the texts of a table, written to another table of the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from naively.engines.sql.databases import database_of
from naively.engines.sql.dialect import Dialect, Table
from naively.kernels.tokens import splitter
from naively.model.scorecard.scorecard import Scorecard
from naively.model.scorecard.terms import Tokens

BATCH = 1_000  # rows of texts that are read at a time
ROWS = 500  # tokens that one statement inserts


def write_tokens(card: Scorecard, connection: Any, table: Table, row_id: str, tokens: Table) -> int:
    """Make the table of tokens, and fill it from the texts of another; return how many rows it has.

    Raises
    ------
    ValueError
        If the model reads no texts, rows have no number or share one, or the database fails.
    """
    terms = [term for term in card.terms if isinstance(term, Tokens)]
    if not terms:
        raise ValueError("The model reads no texts, so that there are no tokens to write.")
    database = database_of(connection)
    dialect, name = database.dialect, database.dialect.table(tokens)
    key, source = dialect.identifier(row_id), dialect.table(table)
    database.run(
        f"CREATE TABLE {name} AS SELECT t.{key} AS row_id, 0 AS block, "
        f"{dialect.as_text(dialect.string(''))} AS token, 0 AS often FROM {source} AS t WHERE 1 = 0"
    )
    columns = list(dict.fromkeys(term.cell.column for term in terms))
    read = [dialect.as_text(f"t.{dialect.identifier(column)}") for column in columns]
    counts = [(columns.index(term.cell.column), _counter(term)) for term in terms]
    written, last, full = 0, None, True
    while full:
        after = "" if last is None else f" WHERE t.{key} > {_literal(dialect, last)}"
        found = database.ask(
            f"SELECT t.{key}, {', '.join(read)} FROM {source} AS t{after} "
            f"ORDER BY t.{key} LIMIT {BATCH}"
        )
        full = len(found) == BATCH
        rows = []
        for row, *texts in found:
            if row is None or row == last:
                what = "missing" if row is None else f"{row!r} twice"
                raise ValueError(f"Column {row_id!r} must tell rows apart, and is {what}.")
            last = row
            spelled = _literal(dialect, row)
            rows += [
                f"({spelled}, {block}, {token}, {often})"
                for block, (place, count) in enumerate(counts)
                for token, often in _spelled(dialect, count(texts[place]))
            ]
        for i in range(0, len(rows), ROWS):
            database.run(f"INSERT INTO {name} VALUES {', '.join(rows[i : i + ROWS])}")
        written += len(rows)
    return written


def _counter(term: Tokens) -> Callable[[str | None], Counter[str]]:
    """Return what counts the known tokens of a text."""
    split = dict(term.split)
    split["ngram_range"] = tuple(split["ngram_range"])
    tokens_of, known = splitter(**split), frozenset(term.tokens)

    def count(text: str | None) -> Counter[str]:
        if text is None or (term.longest is not None and len(text) > term.longest):
            return Counter()
        return Counter(token for token in tokens_of(text) if token in known)

    return count


def _spelled(dialect: Dialect, counts: Counter[str]) -> Iterator[tuple[str, int]]:
    for token, often in counts.items():
        yield dialect.string(token), often


def _literal(dialect: Dialect, row: Any) -> str:
    match row:
        case int() if not isinstance(row, bool):
            return dialect.integer(row)
        case str():
            return dialect.string(row)
        case _:
            raise ValueError(
                f"Rows must be told apart by whole numbers or strings, and {row!r} is none."
            )
