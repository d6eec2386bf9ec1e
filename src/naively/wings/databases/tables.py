"""A table in a database is learned where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import CELL, LEVEL, PRESENT, SQUARE, VALUE, Name, title
from naively.counting.labels import Labels
from naively.data.columns import ColumnRows, Kind
from naively.events import Bernoulli, EventModel
from naively.fitting.learn import NotInMemory, Recipe, TablePart
from naively.fitting.reservoir import Reservoir, rows_of_each
from naively.fitting.weights import ROWS
from naively.kernels.reference import Floats, coarsest, sortable
from naively.model.counted import Counted
from naively.model.model import Model
from naively.schema.choose import extend, infer, read_as_given
from naively.schema.schema import Schema, TimePart
from naively.schema.settle import make_sure
from naively.wings.databases.databases import Table as TableName
from naively.wings.databases.databases import Value, database_of
from naively.wings.databases.tallies import (
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

# --- A table in a database is counted there, by one query; what travels is counts and a sample ---
#
# What columns are is seen on the sample, and where the sample cannot show it (a column that is
# missing there, or holds only 0 and 1) the database is asked. Strings are counted as levels,
# whatever they are: their different values travel once, and are split into words or read as times
# here.


MOST_PARTS = 400  # of a query: SQLite joins 500 selects
TOTALS = {PRESENT, VALUE, SQUARE}


@contextmanager
def labelled_table(
    connection: Any, table: TableName, target: str, weight: str | None
) -> Iterator[LabelledTable]:
    """Give a table of a database as a source of labelled rows, while it has a name."""
    database = database_of(connection)
    with database.named(table) as name:
        yield LabelledTable(DatabaseTable.of(database, name, target, weight))


@dataclass(frozen=True, eq=False)
class LabelledTable(NotInMemory):
    """A table of a database, which is counted there."""

    table: DatabaseTable
    nothing = "There are no rows to learn from: the table is empty."

    @property
    def names(self) -> Sequence[str]:
        """The columns that are learned from."""
        return self.table.names

    def parts(self, how: Recipe, known: Counted | None) -> Iterator[TablePart]:
        """Yield what was counted of the table, with a sample of its rows."""
        source = self.table
        if not source.n_rows:
            return
        source.check_labels()
        sampled = sample(source, ROWS, int(how.sample.seed))
        odd = _odd_cells(source, sampled) if sampled.share else {}
        weighed = source.rows(sampled.cells)
        if sampled.weight is not None:
            weighed = weighed.take(sampled.weight > 0)
        asked: dict[ColumnCounts, Answer] = {}
        # The rows of the sample, and one with what is odd in columns of the others.
        more = {name: [odd.get(name)] if odd else [] for name in sampled.cells}
        rows = source.rows({name: [*of, *more[name]] for name, of in sampled.cells.items()})
        if known is None:
            read = read_as_given(rows, how.event_models, how.settings)
            schema = infer(read, how.event_models, how.settings)
        else:
            schema = extend(known.schema, rows, how.event_models, how.settings)
        # Of the words beside numbers and times the sample may lack some.
        readings = {
            name: replace(of, words=None, forms=None) for name, of in schema.readings.items()
        }
        schema = replace(schema, readings=readings)
        classes = _ask(source, plan(source, schema, weighed), asked)
        answers = Answers(source, classes, asked)
        counted = Counted(*make_sure(schema, answers.tally(schema), how.settings), how.settings)
        yield TablePart(
            counted=counted, sample=_sampled(how.sample, source, sampled, classes, schema, counted)
        )


def plan(source: DatabaseTable, schema: Schema, rows: ColumnRows) -> list[ColumnCounts]:
    """Return what must be counted of each column for a schema."""
    # rows: some of those of a weight above 0, which show how coarse a grid must be at least
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
                numbers = rows.numbers([name])[:, 0]
                shift = coarsest(np.sort(sortable(numbers[~np.isnan(numbers)])))
                parts.append(CellCounts(name, shift, sizes[name]))
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


def _odd_cells(source: DatabaseTable, sampled: Sampled) -> dict[str, Value]:
    """Return a cell of each column that the sample shows to be missing, or 0 and 1, if any."""
    # So a column is taken for what all of its rows are.
    asked, names = [], []
    for name, cells in sampled.cells.items():
        there = {cell for cell in cells if cell is not None and cell == cell}  # noqa: PLR0124
        if not there:
            x = source.plain(name) if source.columns[name].kind == "string" else source.number(name)
            asked.append(f"MAX({x})")
        elif source.columns[name].kind == "number" and there <= {0, 1}:
            x, (zero, one) = source.number(name), map(source.database.number, (0.0, 1.0))
            other = f"NOT {source.database.is_missing(x)} AND {x} <> {zero} AND {x} <> {one}"
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


def _sampled(
    reservoir: Reservoir,
    source: DatabaseTable,
    sampled: Sampled,
    classes: Classes,
    schema: Schema,
    counted: Counted,
) -> Reservoir:
    """Return the reservoir with the sample in it."""
    codes = np.fromiter(map(classes.code.__getitem__, sampled.labels), np.int32)
    weight = sampled.weight
    if weight is None and (sampled.copies > 1).any():
        weight = sampled.copies.astype(np.float64)
    labels = Labels(codes, classes.labels, weight)
    batch = replace(schema.encode(source.rows(sampled.cells), labels), copies=sampled.copies)
    share = np.ones(classes.k)
    share[[*classes.code.values()]] = [sampled.share.get(label, 1.0) for label in classes.code]
    return reservoir.with_sampled(batch, Model.of(counted), source.n_weighed, share)


# --- A sample of the rows of a table in a database, chosen in the query by a seeded hash ---------
#
# As many rows of each class are wanted, or all of a class that has fewer. So the rows of each class
# are counted first, and those of the least hashes are asked for, of each class up to its own limit.


SIGMAS = 5  # by which more rows are asked for than are wanted, as a hash is random
ALL = 2  # times as many rows as are wanted are read whole


class Sampled(NamedTuple):
    """Different rows of a table, each with its copies."""

    cells: Mapping[str, Sequence[Value]]  # the columns that are learned from
    labels: Sequence[Value]  # the label of each row, as the database has it
    # (rows,): the weight of all copies of each row, if there are weights
    weight: NDArray[np.float64] | None
    copies: NDArray[np.int64]  # (rows,): how often each row came
    # how much of the rows of each label it is; empty if it is the whole table
    share: Mapping[Hashable, float]


def sample(source: DatabaseTable, most: int, seed: int) -> Sampled:
    """Return about ``most`` different rows, as many of each class, or all if they are few."""
    # If few different rows came often, a larger share of the hashes is asked for, until there are
    # enough or it is all rows. Rows of weight 0 are not drawn where a table is not read whole.
    if source.n_rows <= ALL * most:
        return _read(source)
    labels, rows = [*source.rows_of_labels], np.array([*source.rows_of_labels.values()])
    share = shares_of_each(rows, most)
    while True:
        found = _read(source, dict(zip(labels, share.tolist(), strict=True)), seed)
        of_label = Counter(found.labels)
        more = shares_of_each(rows, most, share, np.array([of_label[label] for label in labels]))
        if np.array_equal(more, share):
            return found
        share = more


def shares_of_each(
    rows: NDArray[np.int64],  # (classes,): how many rows of each class there are
    most: int,  # how many different rows of all classes are wanted
    # (classes,): what was asked for before, and how many different rows of each class it was
    share: Floats | None = None,
    found: NDArray[np.int64] | None = None,
) -> Floats:
    """Return how much of each class to ask for, (classes,), for a sample of as many of each."""
    if share is None or found is None:
        share, found = np.zeros(len(rows)), np.zeros(len(rows), np.int64)
    if len(rows) > most:  # the classes of the least hashes have a row each, so all are asked alike
        classes = np.count_nonzero(found)
        more = _larger(share.max(), classes, most, rows.sum())
        return np.full(len(rows), more) if classes < most else share
    different = np.where(share < 1, rows, found)  # at most
    wanted = np.minimum(rows_of_each(different, most), different)
    lacks = (share == 0) | (found < wanted)
    return np.where(lacks, _larger(share, found, wanted, rows), share)


def _larger(share: Any, found: Any, wanted: Any, rows: Any) -> Any:
    """Return a larger share of some rows, in which nearly certainly as many are as are wanted."""
    expected = wanted + SIGMAS * (np.sqrt(wanted) + 1)
    again = share * np.maximum(2.0, expected / np.maximum(found, 1))
    return np.minimum(1.0, np.where(share > 0, again, expected / np.maximum(rows, 1)))


def _read(
    source: DatabaseTable, share: Mapping[Hashable, float] | None = None, seed: int = 0
) -> Sampled:
    """Return all rows, or such a share of each label's, different ones with their copies."""
    names = [*source.names, source.target]
    pieces = [*map(source.plain, names)]
    if source.weight is not None:
        pieces.append(source.number(source.weight))
    rows = f"SELECT {', '.join(f'{x} AS c{i}' for i, x in enumerate(pieces))} FROM {source.name}"
    rows, asked = f"({rows}) AS r", [f"c{i}" for i in range(len(pieces))]
    grouped = share is not None and source.database.by_content
    if share is not None:
        rows = _drawn(source, pieces, share, seed)
    if grouped:
        asked[len(names) :] = [*(f"SUM({w})" for w in asked[len(names) :]), "COUNT(*)"]
    by = f" GROUP BY {', '.join(map(str, range(1, len(names) + 1)))}" if grouped else ""
    more: list[Kind] = ["number"] * (len(asked) - len(names))
    kinds = [*(source.columns[name].kind for name in names), *more]
    found = source.database.ask(f"SELECT {', '.join(asked)} FROM {rows}{by}", kinds)
    columns = list(zip(*found, strict=True)) if found else [()] * len(kinds)
    rest = columns[len(names) :]
    return Sampled(
        dict(zip(source.names, columns, strict=False)),
        columns[len(source.names)],
        None if source.weight is None else np.array(rest[0], np.float64),
        np.array(rest[-1], np.int64) if grouped else np.ones(len(found), np.int64),
        share or {},
    )


def _drawn(
    source: DatabaseTable, pieces: Sequence[str], share: Mapping[Hashable, float], seed: int
) -> str:
    """Return what to select pieces of rows from: those of the least hashes of each label."""
    # The limits are a table that is joined, as branches on a thousand labels take long.
    database, target = source.database, source.target
    table, number = database.hashed(source.table, list(source.columns), seed)
    some = [*(f"{x} AS c{i}" for i, x in enumerate(pieces)), f"{source.plain(target)} AS y"]
    weighs = "" if source.weighs is None else f" WHERE {source.weighs}"
    rows = f"SELECT {', '.join([*some, f'{number} AS h'])} FROM {table}{weighs}"
    limits = ", ".join(
        f"({source.spelled(target, label)}, {database.highest(of)})" for label, of in share.items()
    )
    typed = f"SELECT {source.typed(target, 'y')} AS y, most FROM v{source.database.once}"
    each = f"WITH v(y, most) AS (VALUES {limits}) {typed}"
    return f"({rows}) AS r JOIN ({each}) AS s ON r.y = s.y WHERE h <= most"
