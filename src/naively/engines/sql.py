"""A table in a database is learned where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import CELL, LEVEL, PRESENT, SQUARE, VALUE, Name, title
from naively.counting.labels import Labels
from naively.data.columns import ColumnRows, Kind
from naively.engines.sql_tallies import (
    Answer,
    Answers,
    CellCounts,
    Classes,
    ColumnCounts,
    DatabaseTable,
    TimeParts,
    Totals,
    Values,
    read,
    written,
)
from naively.events import Bernoulli, EventModel
from naively.fitting.sample import Reservoir
from naively.kernels.reference import coarsest, sortable
from naively.model.model import Model
from naively.schema.choose import EventModels, extend, infer
from naively.schema.schema import Schema, TimePart
from naively.schema.settings import Settings

# --- A table in a database is counted there, by one query; what travels is counts and a sample ---
#
# What columns are is seen on the sample, and where the sample cannot show it (a column that is
# missing there, or holds only 0 and 1) the database is asked. Strings are counted as levels,
# whatever they are: their different values travel once, and are split into words or read as times
# here.


MOST_PARTS = 400  # of a query: SQLite joins 500 selects
TOTALS = {PRESENT, VALUE, SQUARE}


def learn(
    source: DatabaseTable,
    event_models: EventModels,
    settings: Settings,
    reservoir: Reservoir,
    known: Schema | None = None,
) -> tuple[Model | None, Reservoir]:
    """Count a table in a database.

    Parameters
    ----------
    source : Source
        The table.
    event_models, settings, known
        As for `naively.engines.stream.learn`, which does the same with rows that come here.
    reservoir : Reservoir
        An empty sample, whose seed chooses the rows.

    Returns
    -------
    model : Model or None
        What was counted; None if there was no row.
    reservoir : Reservoir
        A sample of the rows.
    """
    reservoir = reservoir.empty()
    if not source.n_rows:
        return None, reservoir
    source.check_labels()
    sampled = sample(source, reservoir.wanted(source.n_rows), reservoir.seed)
    odd = _odd_cells(source, sampled) if sampled.share < 1 else {}
    weighed = source.rows(sampled.cells)
    if sampled.weight is not None:
        weighed = weighed.take(sampled.weight > 0)
    asked: dict[ColumnCounts, Answer] = {}
    rows = _looked_at(source, sampled.cells, odd)
    schema = (
        infer(rows, event_models, settings)
        if known is None
        else extend(known, rows, event_models, settings)
    )
    # Of the words beside numbers and times the sample may lack some.
    readings = {name: replace(of, words=None) for name, of in schema.readings.items()}
    schema = replace(schema, readings=readings)
    classes = _ask(source, plan(source, schema, weighed), asked)
    answers = Answers(source, classes, asked)
    model = Model.of_tally(answers.tally(schema), schema, settings)
    _keep(reservoir, source, sampled, classes, schema, model)
    return model, reservoir


def _looked_at(
    source: DatabaseTable, cells: Mapping[str, Any], odd: Mapping[str, Any]
) -> ColumnRows:
    """Return the rows of the sample, and one with what is odd in columns of the others."""
    if not odd:
        return source.rows(cells)
    return source.rows({name: [*of, odd.get(name)] for name, of in cells.items()})


def plan(source: DatabaseTable, schema: Schema, rows: ColumnRows) -> list[ColumnCounts]:
    """Return what must be counted of each column for a schema.

    Parameters
    ----------
    source : Source
        The table.
    schema : Schema
        How columns are counted.
    rows : ColumnRows
        Some of the rows of a weight above 0, which show how coarse a grid must be at least.

    Raises
    ------
    ValueError
        If a column cannot be counted in a database.
    """
    numeric = [name for name in source.names if source.columns[name].kind != "string"]
    sizes = source.sizes([name for name in numeric if name in schema.groups_of])
    parts: list[ColumnCounts] = []
    for name in source.names:
        for group in schema.groups_of.get(name, [])[:1]:
            event, column = group.event, source.columns[name]
            if event.layout == "rows":
                raise _refused(name, event, "counts whole rows, which would all travel")
            if column.kind in ("string", "boolean") or event.statistics == (LEVEL,):
                parts.append(Values(name))
            elif event.statistics == (CELL,):
                parts.append(CellCounts(name, _shift(rows, name), sizes[name]))
            elif TOTALS.issuperset(event.statistics):
                threshold = event.threshold if isinstance(event, Bernoulli) else None
                squares = SQUARE in event.statistics
                parts.append(Totals(name, squares, threshold, sizes[name]))
            else:
                raise _refused(name, event, "counts what no query is known for")
    of_times = (part for part in schema.derived if isinstance(part, TimePart))
    hours = {(str(part.of), part.part == "hour") for part in of_times}
    timed = [TimeParts(n, hours=h) for n, h in sorted(hours) if source.columns[n].kind == "time"]
    return [*parts, *timed]


def _refused(name: Name, event: EventModel, why: str) -> ValueError:
    return ValueError(
        f"Column {title(name)!r} cannot be counted in the database: {event.name} {why}. Choose "
        "another event model, or read the table and use fit."
    )


def _shift(rows: ColumnRows, name: str) -> int:
    """Return how coarse the grid of a column must be at least, by some of its rows."""
    numbers = rows.numbers([name])[:, 0]
    return coarsest(np.sort(sortable(numbers[~np.isnan(numbers)])))


def _ask(
    source: DatabaseTable, parts: list[ColumnCounts], asked: dict[ColumnCounts, Answer]
) -> Classes:
    """Ask for these parts, keep what is answered, and return the classes."""
    found = None
    for start in range(0, max(1, len(parts)), MOST_PARTS):
        some = parts[start : start + MOST_PARTS]
        of_classes, *answers = read(source, source.database.ask(written(source, some)), len(some))
        asked.update(zip(some, answers, strict=True))
        found = Classes.of(source, of_classes)
        if source.weight is None and found.weight.high.sum() != source.n_rows:
            raise ValueError(
                "The table changed while it was counted; count it in one transaction that sees no "
                "changes (such as REPEATABLE READ), or try again."
            )
    assert found is not None
    return found


def _odd_cells(source: DatabaseTable, sampled: Sampled) -> dict[str, Any]:
    """Return a cell of each column that the sample shows to be missing, or to be 0 and 1, if any.

    So a column is taken for what all of its rows are.
    """
    asked, names = [], []
    for name, cells in sampled.cells.items():
        there = {cell for cell in cells if cell is not None and cell == cell}  # noqa: PLR0124
        if not there:
            x = source.plain(name) if source.columns[name].kind == "string" else source.number(name)
            asked.append(f"MAX({x})")
        elif source.columns[name].kind == "number" and there <= {0, 1}:
            x, (zero, one) = source.number(name), map(source.dialect.number, (0.0, 1.0))
            other = f"NOT {source.dialect.is_missing(x)} AND {x} <> {zero} AND {x} <> {one}"
            asked.append(f"MAX(CASE WHEN {other} THEN {x} END)")
        else:
            continue
        names.append(name)
    if not asked:
        return {}
    (found,) = source.database.ask(f"SELECT {', '.join(asked)} FROM {source.name}")
    return {
        name: bool(cell) if source.columns[name].kind == "boolean" else cell
        for name, cell in zip(names, found, strict=True)
        if cell is not None
    }


def _keep(
    reservoir: Reservoir,
    source: DatabaseTable,
    sampled: Sampled,
    classes: Classes,
    schema: Schema,
    model: Model,
) -> None:
    """Put the sample into the reservoir."""
    codes = np.fromiter(map(classes.code.__getitem__, sampled.labels), np.int32)
    weight = sampled.weight
    if weight is None and (sampled.copies > 1).any():
        weight = sampled.copies.astype(np.float64)
    labels = Labels(codes, classes.labels, weight)
    batch = replace(schema.encode(source.rows(sampled.cells), labels), copies=sampled.copies)
    reservoir.add_sampled(batch, model, source.n_weighed, sampled.share)


# --- A sample of the rows of a table in a database, chosen in the query by a seeded hash ---------


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


def sample(source: DatabaseTable, most: int, seed: int) -> Sampled:
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


def _read(
    source: DatabaseTable, table: str, condition: str, share: float, *, grouped: bool
) -> Sampled:
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
