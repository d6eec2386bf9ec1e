"""A sample of the rows of a table in a database, chosen in the query by a seeded hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.columns import Kind
from naively.engines.sql.source import Source

ENOUGH = 1.1  # times as many rows are asked for as are wanted, as a hash is random
ALL = 2  # times as many rows as are wanted are read whole


class Sampled(NamedTuple):
    """Different rows of a table, each with its copies.

    Parameters
    ----------
    cells : mapping of str to sequence
        The columns that are learned from.
    labels : sequence
        The label of each row, as the database has it.
    weight : ndarray of float64, of shape (rows,), or None
        The weight of all copies of each row, if there are weights.
    copies : ndarray of int64, of shape (rows,)
        How often each row came.
    share : float
        How much of the table it is.
    """

    cells: Mapping[str, Sequence[Any]]
    labels: Sequence[Any]
    weight: NDArray[np.float64] | None
    copies: NDArray[np.int64]
    share: float


def sample(source: Source, most: int, seed: int) -> Sampled:
    """Return about ``most`` different rows, or all rows if they are not many more.

    Parameters
    ----------
    source : Source
        The table.
    most : int
        How many different rows are wanted.
    seed : int
        With another seed, other rows are chosen; with the same seed, the same rows of a table.

    Notes
    -----
    Of few different rows that came often, a larger share of the hashes is asked for, until there
    are enough or it is all rows.
    """
    n, database = source.n_rows, source.database
    if n <= ALL * most:
        return _read(source, source.name, "", 1.0, grouped=False)
    share = ENOUGH * most / n
    while share < 1.0:
        chosen = database.chosen(source.table, list(source.columns), share, seed)
        found = _read(source, *chosen, share, grouped=database.by_content)
        if len(found.labels) >= most or not database.by_content:
            return found
        share *= max(2.0, ENOUGH * most / max(1, len(found.labels)))
    return _read(source, source.name, "", 1.0, grouped=True)


def _read(source: Source, table: str, condition: str, share: float, *, grouped: bool) -> Sampled:
    """Return the rows for which a condition holds; different ones with their copies, if grouped."""
    names = [*source.names, source.target]
    asked = list(map(source.plain, names))
    more = [source.number(source.weight)] if source.weight is not None else []
    if grouped:
        more = [*(f"SUM({w})" for w in more), "COUNT(*)"]
    where = f" WHERE {condition}" if condition else ""
    by = f" GROUP BY {', '.join(map(str, range(1, len(names) + 1)))}" if grouped else ""
    query = f"SELECT {', '.join([*asked, *more])} FROM {table}{where}{by}"
    kinds: list[Kind] = [*source.kinds(names), *["number"] * len(more)]  # type: ignore[list-item]
    found = source.database.ask(query, kinds)
    columns = list(zip(*found, strict=True)) if found else [()] * len(kinds)
    rest = columns[len(names) :]
    return Sampled(
        dict(zip(source.names, columns, strict=False)),
        columns[len(source.names)],
        None if source.weight is None else np.array(rest[0], np.float64),
        np.array(rest[-1], np.int64) if grouped else np.ones(len(found), np.int64),
        share,
    )
