"""A table of a server is counted there, by one query; what travels is counts and a sample."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp, parse_one, select

from naively.counting.axis import (
    CELL,
    LEVEL,
    PRESENT,
    SQUARE,
    VALUE,
    Cells,
    Columns,
    Name,
    as_float,
    title,
)
from naively.counting.block import LARGEST, Dense
from naively.counting.labels import LabelArray, Labels, encode_labels
from naively.counting.tally import BlockTally, Tally
from naively.data.columns import ColumnRows, Reading, join_columns
from naively.data.reading import with_readings
from naively.events import Bernoulli, EventModel
from naively.fitting.learn import NotInMemory, Recipe, TablePart
from naively.fitting.reservoir import rows_of_each
from naively.fitting.weights import ROWS
from naively.frozen import Frozen
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats, coarsest, sortable
from naively.model.counted import Counted
from naively.model.model import Model
from naively.schema.choose import infer, read_as_given
from naively.schema.schema import Group, Schema, TimePart
from naively.schema.settle import make_sure
from naively.wings.databases.databases import ColumnType, DatabaseTable, Line, Value

# --- What columns are is seen on a sample, and then one query counts them ------------------------
#
# Where the sample cannot show what a column is (it is missing there, or holds only 0 and 1) the
# database is asked. Strings are counted as levels, whatever they are: their different values travel
# once, and are split into words or read as times here.


class LabelledTable(NotInMemory, Frozen):
    """A table of a server, which is counted there."""

    table: ServerTable
    nothing = "There are no rows to learn from: the table is empty."

    @property
    def names(self) -> Sequence[str]:
        """The columns that are learned from."""
        return self.table.names

    def parts(self, how: Recipe, known: Counted | None) -> Iterator[TablePart]:  # noqa: ARG002
        """Yield what was counted of the table, with a sample of its rows."""
        table = self.table
        sampled = sample(table, int(how.sample.seed))
        looked_at = read_as_given(_looked_at(table, sampled), how.event_models, how.settings)
        schema = infer(looked_at, how.event_models, how.settings)
        # The sample may lack some of the words beside numbers and times.
        read = schema.readings.items()
        readings = {name: replace(of, words=None, forms=None) for name, of in read}
        schema, rows = replace(schema, readings=readings), table.rows(sampled.cells)
        answers = Answers.of(table, plan(table, schema, rows))
        counted = Counted(*make_sure(schema, answers.tally(schema), how.settings), how.settings)
        batch = schema.encode(rows, answers.labels(sampled.labels, sampled.weight))
        batch, share = replace(batch, copies=sampled.copies), np.ones(len(answers.classes))
        share[[*answers.code.values()]] = [sampled.share[label] for label in answers.code]
        kept = how.sample.with_sampled(batch, Model.of(counted), sampled.seen, share)
        yield TablePart(counted=counted, sample=kept)


def counted_there(table: DatabaseTable) -> LabelledTable:
    """Return a table of a server as one that is counted there."""
    return LabelledTable(ServerTable(table))


def _looked_at(table: ServerTable, sampled: Sampled) -> ColumnRows:
    """Return the sampled rows, and one more if these show too little of some columns."""
    # It has any cell of a column that is missing in them, and one beside 0 and 1.
    asked: dict[str, exp.Expr] = {}
    for name, cells in sampled.cells.items():
        there, kind = set(cells) - {None}, table.columns[name].kind
        if not there:
            any_cell = "MAX(:x)" if kind != "boolean" else "BOOL_OR(:x)"
            asked[name] = _sql(any_cell, x=table.value(name))
        elif kind == "number" and there <= {0, 1}:
            other = "MAX(:x) FILTER (WHERE :x <> 0 AND :x <> 1)"
            asked[name] = _sql(other, x=table.number(name))
    if not asked:
        return table.rows(sampled.cells)
    (found,) = table.ask(select(*asked.values()).from_(table.name))
    odd = dict(zip(asked, found, strict=True))
    return table.rows({name: [*cells, odd.get(name)] for name, cells in sampled.cells.items()})


# --- A table of a server, as queries see it: written by sqlglot, from pieces of PostgreSQL's SQL --


WEIGHT_BITS = 61  # of a weight as a whole number, beside the bit of the largest


def _sql(text: str, **of: object) -> exp.Expr:
    """Return a piece of SQL, with what stands in its places."""
    return exp.replace_placeholders(parse_one(text, dialect="postgres"), **of)


class ServerTable:
    """A labelled table of a server, and the pieces of queries that are of its columns."""

    def __init__(self, table: DatabaseTable) -> None:
        self.names, self.columns, self.weight = table.names, table.columns, table.weight
        self.n_rows, self.target = table.n_rows, table.target
        self._database = table.database
        schema, name = (None, table.table) if isinstance(table.table, str) else table.table
        self.name = exp.table_(name, db=schema, quoted=True)

    def ask(self, query: exp.Select | str) -> list[Line]:
        """Return all rows of a query's answer."""
        written = query if isinstance(query, str) else query.sql(self._database.name)
        return self._database.ask(written)

    def value(self, name: str) -> exp.Expr:
        """Return a column's values as rows are read: text, numbers, and times as seconds."""
        return _sql(self._database.cells_of(self.columns[name]))

    def number(self, name: str) -> exp.Expr:
        """Return a column's numbers, truths or times (as seconds), NULL where they are NaN."""
        number = self._database.number_of(self.columns[name])
        return _sql(f"NULLIF({number}, CAST('NaN' AS DOUBLE PRECISION))")

    @cached_property
    def scale(self) -> float:
        """A power of two by which weights become whole numbers, which add up without rounding."""
        if self.weight is None:
            return 1.0
        ((most,),) = self.ask(select(_sql("MAX(:w)", w=self.number(self.weight))).from_(self.name))
        return math.ldexp(1.0, WEIGHT_BITS - math.frexp(most or 1.0)[1])

    def select(self, **columns: exp.Expr) -> exp.Select:
        """Return columns, with the label y and the weight w, of all rows that have a weight."""
        weight = _sql("1")
        rows = select().from_(self.name)
        if self.weight is not None:
            w = self.number(self.weight)
            scale = _sql(f"CAST('{self.scale!r}' AS DOUBLE PRECISION)")
            weight = _sql("CAST(CAST(FLOOR(:w * :scale) AS BIGINT) AS NUMERIC)", w=w, scale=scale)
            rows = rows.where(_sql(":w <> 0", w=w))
        every = {"y": self.value(self.target), "w": weight, **columns}
        return rows.select(*(of.as_(name) for name, of in every.items()))

    def hashed(self, columns: Sequence[exp.Expr], seed: int) -> exp.Expr:
        """Return a whole number as good as random, of 64 bits, that follows from some columns."""
        row = exp.Anonymous(this="ROW", expressions=columns)
        return _sql("HASH_RECORD_EXTENDED(:row, :seed)", row=row, seed=seed - HASHES // 2)

    def rows(self, cells: Mapping[str, Sequence[Value]]) -> ColumnRows:
        """Return what was read of some columns as rows."""
        return join_columns({name: self.columns[name].read(of) for name, of in cells.items()})


def _grouped(rows: exp.Select, by: Sequence[str], asked: Sequence[str]) -> exp.Select:
    """Return what is asked of the rows that have these columns in common."""
    return select(*by, *asked).from_(rows.subquery("r")).group_by(*by)


# --- A sample of the rows, chosen in the query by a seeded hash ----------------------------------
#
# As many different rows of each class are wanted, or all of a class that has fewer. So those of
# each class are counted first, and those of the least hashes are asked for, of each class up to its
# own limit. Rows of weight 0 are not drawn.


SIGMAS = 5  # by which more rows are asked for than are wanted, as a hash is random
HASHES = 2**64
LIMITS = ["label", "most"]


class Sampled(NamedTuple):
    """Different rows of a table, each with its copies."""

    cells: Mapping[str, Sequence[Value]]  # the columns that are learned from
    labels: Sequence[Value]  # the label of each row, as the database has it
    weight: Floats | None  # (rows,): that of all copies of each row, unless each is 1
    copies: NDArray[np.int64]  # (rows,): how often each row came
    seen: int  # how many rows there are in all
    share: Mapping[Hashable, float]  # how much of the rows of each label it is


def sample(table: ServerTable, seed: int) -> Sampled:
    """Return about ``ROWS`` different rows, as many of each class, or all if they are few."""
    cells = {f"c{i}": table.value(name) for i, name in enumerate(table.names)}
    every = [exp.column(name, quoted=True) for name in table.columns]
    of_row, of_label = table.hashed(every, seed), table.hashed([table.value(table.target)], 0)
    rows = table.select(h=of_row, label=of_label, **cells)
    for different in ("COUNT(*)", "COUNT(DISTINCT h)"):  # which takes long, and is rarely needed
        sizes = table.ask(_grouped(rows, ["y", "label"], ["COUNT(*)", different]))
        labels, numbers, n, some = zip(*sizes, strict=True) if sizes else [()] * 4
        share = shares_of_each(np.array(some, np.int64)).tolist()
        limits = exp.values([*zip(numbers, map(_highest, share), strict=True)], "limits", LIMITS)
        least = select("*").from_(rows.subquery("r")).join(limits, using="label").where("h <= most")
        found = table.ask(_grouped(least, ["y", *cells], ["SUM(w)", "COUNT(*)"])) if sizes else []
        if len(found) >= min(ROWS, sum(n)):
            break
    columns = [*zip(*found, strict=True)] if found else [()] * (len(cells) + 3)
    weight, copies = (np.array(of, np.float64) for of in columns[-2:])
    return Sampled(
        dict(zip(table.names, columns[1:], strict=False)),
        columns[0],
        None if not table.weight and (copies == 1).all() else weight / table.scale,
        copies.astype(np.int64),
        sum(n),
        dict(zip(labels, share, strict=True)),
    )


def _highest(share: float) -> int:
    """Return the highest of so large a share of all hashes, from the least."""
    return max(int(share * HASHES) - 1, 0) - HASHES // 2


def shares_of_each(different: NDArray[np.int64]) -> Floats:
    """Return how much of each class to ask for, (classes,), by how many different rows it has."""
    wanted = np.minimum(rows_of_each(different, ROWS), different)
    if len(different) > ROWS:  # the classes of the least hashes have a row each
        wanted, different = np.full(len(different), ROWS), np.full(len(different), different.sum())
    expected = wanted + SIGMAS * (np.sqrt(wanted) + 1)
    return np.asarray(np.minimum(1.0, expected / np.maximum(different, 1)))


# --- What is counted of a column: by class, how often each value, cell or exponent came ----------
#
# Each is a grouped select, a branch of one query. A cell of the grid is a prefix of a float's bits
# (see ``naively.kernels.reference``). A finite number is a sign, a whole number of 53 bits and a
# power of two: those of one exponent are added as whole numbers, and so are their squares, which
# rounds nothing.


By: TypeAlias = Literal["text", "whole", "float", "cell", "exponent", "side", "hour", "day"]

TOTALS = {PRESENT, VALUE, SQUARE}
MANTISSA = 52  # bits
ONE = 1 << MANTISSA
BIAS = 1023  # of an exponent's bits
BITS = "CAST(CAST('x' || ENCODE(FLOAT8SEND(ABS(x)), 'hex') AS BIT(64)) AS BIGINT)"
WHOLE = f"CASE WHEN b < {ONE} THEN b ELSE b & {ONE - 1} | {ONE} END"
LEAST = {"least": "MIN(x)"}
EXTREMES = {"least": "MIN(x)", "greatest": "MAX(x)", "odd": "MAX(x) FILTER (WHERE x <> FLOOR(x))"}
SUMS = {"total": f"SUM(({WHOLE}) * w)", "squares": f"SUM(CAST({WHOLE} AS NUMERIC) * ({WHOLE}) * w)"}
CELL_OF = "CASE WHEN x < 0 THEN -1 - (b >> :number) ELSE b >> :number END"
KEYS: dict[By, str] = {  # whole numbers by which values x, whose sizes have the bits b, are grouped
    "whole": "CAST(x AS BIGINT)",
    "float": CELL_OF,
    "cell": CELL_OF,
    "exponent": CELL_OF,
    "side": "CAST(CASE WHEN x > :number THEN 1 ELSE 0 END AS BIGINT)",
    "hour": "((CAST(FLOOR(x / 3600) AS BIGINT) % 24) + 24) % 24",
    "day": "CAST(FLOOR(x / 86400) AS BIGINT)",
}


TYPES = {"text": "TEXT", "key": "BIGINT", "total": "NUMERIC", "squares": "NUMERIC"}  # or doubles


class Answer(NamedTuple):
    """What was counted of a part: a line for each class and key."""

    label: Sequence[Hashable] = ()  # (lines,): as the database has it
    text: Sequence[str] = ()  # the string that rows have in common,
    key: Sequence[int] = ()  # or the key of their numbers
    weight: Sequence[int] = ()  # how many they are; or the sum of their weights, as whole numbers
    least: Sequence[float] = ()  # of their numbers
    greatest: Sequence[float] = ()
    odd: Sequence[float | None] = ()  # a number that is not whole
    total: Sequence[Any] = ()  # sums of numbers and of their squares, in units of the exponent
    squares: Sequence[Any] = ()


class Wanted(NamedTuple):
    """What is counted of one column."""

    column: str
    by: By  # what values are counted together
    number: float = 0  # how many low bits a cell has lost, or what the sides lie about


def plan(table: ServerTable, schema: Schema, rows: ColumnRows) -> dict[Name, Wanted]:
    """Return what must be counted of each column for a schema, and of each part of a time."""
    # rows: some of the table's, which show how coarse a grid must be at least
    parts: dict[Name, Wanted] = {}
    for name in table.names:
        for group in schema.groups_of.get(name, [])[:1]:
            parts[name] = _part(table.columns[name], group.event, rows)
    for derived in schema.derived:
        if isinstance(derived, TimePart):
            column = table.columns[str(derived.of)]
            by: By = "hour" if derived.part == "hour" else "day"
            parts[derived] = Wanted(column.name, by if column.kind == "time" else "text")
    return parts


def _part(column: ColumnType, event: EventModel, rows: ColumnRows) -> Wanted:
    """Return what an event model needs to be counted of a column."""
    name = column.name
    if event.layout == "rows":
        raise _refused(name, event, "counts whole rows, which would all travel")
    if column.kind == "string":
        return Wanted(name, "text")
    if column.kind == "boolean" or event.statistics == (LEVEL,):
        return Wanted(name, "whole" if column.whole else "float")
    if event.statistics == (CELL,):
        numbers = rows.numbers([name])[:, 0]
        return Wanted(name, "cell", coarsest(np.sort(sortable(numbers[~np.isnan(numbers)]))))
    if not TOTALS.issuperset(event.statistics):
        raise _refused(name, event, "counts what no query is known for")
    if isinstance(event, Bernoulli) and event.threshold is not None:
        return Wanted(name, "side", event.threshold)
    return Wanted(name, "exponent", MANTISSA)


def _refused(name: Name, event: EventModel, why: str) -> ValueError:
    return ValueError(
        f"Column {title(name)!r} cannot be counted in the database: {event.name} {why}. Choose "
        "another event model, or read the table and use fit."
    )


def written(table: ServerTable, parts: Sequence[Wanted]) -> str:
    """Return the query that counts the classes (part 0) and all parts."""
    queries = [_counting(table, 0, table.select(), {})]
    for number, part in enumerate(parts, 1):
        of_text = part.by in ("text", "whole")
        x = table.value(part.column) if of_text else table.number(part.column)
        rows = table.select(x=x)
        if KEYS.get(part.by) is CELL_OF:  # the bits are computed once
            bits = _sql(BITS).as_("b")
            rows = select("*", bits).from_(rows.subquery("r")).offset(0)
        there = select("*").from_(rows.subquery("r")).where("x IS NOT NULL")
        queries.append(_counting(table, number, there, _asked(part)))
    return " UNION ALL ".join(query.sql("postgres") for query in queries)


def _asked(part: Wanted) -> dict[str, str]:
    """Return what is asked of values x that are grouped, by the fields of an `Answer`."""
    if part.by == "text":
        return {"text": "x"}
    more = {"exponent": EXTREMES | SUMS, **dict.fromkeys(("side", "hour", "day"), LEAST)}
    key = _sql(KEYS[part.by], number=part.number).sql("postgres")
    return {"key": key, **more.get(part.by, {})}


def _counting(
    table: ServerTable, number: int, rows: exp.Select, asked: Mapping[str, str]
) -> exp.Select:
    """Return the query that groups rows by their label and by what they have in common."""
    weight = "COUNT(*)" if table.weight is None else "SUM(w)"
    asked = {"part": f"{number}", "label": "y", "weight": weight, **asked}
    columns = [
        _sql(asked.get(of) or f"CAST(NULL AS {TYPES.get(of, 'DOUBLE PRECISION')})").as_(of)
        for of in ("part", *Answer._fields)
    ]
    by = ["label", *(asked.keys() & {"text", "key"})]
    return select(*columns).from_(rows.subquery("r")).group_by(*by)


# --- From the answer to a tally ------------------------------------------------------------------
#
# Cells and sums become tables as they are. Different values become rows that are counted as any
# rows are, each with the weight that it came with: so every event model counts levels, truths,
# texts and parts of times as it does in memory.


class Answers(Frozen, eq=True):
    """What was counted of a table."""

    table: ServerTable
    classes: LabelArray  # (classes,): sorted
    code: Mapping[Hashable, int]  # the number of each label, as the database has it
    weight: Sums  # (classes,): the weight of each class
    plan: Mapping[Name, Wanted]
    answers: Mapping[Wanted, Answer]

    @classmethod
    def of(cls, table: ServerTable, plan: Mapping[Name, Wanted]) -> Answers:
        """Ask for what is planned."""
        parts = [*dict.fromkeys(plan.values())]
        lines: list[list[Line]] = [[] for _ in range(len(parts) + 1)]
        for number, *line in table.ask(written(table, parts)):
            lines[number].append(tuple(line))
        of_classes, *answers = (Answer(*zip(*some, strict=True)) for some in lines)
        if table.weight is None and sum(map(int, of_classes.weight)) != table.n_rows:
            raise ValueError(
                "The table changed while it was counted; count it in one transaction that sees no "
                "changes (such as REPEATABLE READ), or try again."
            )
        label = table.rows({table.target: of_classes.label}).levels(table.target)
        labels = encode_labels(label)
        code = dict(zip(of_classes.label, labels.codes.tolist(), strict=True))
        weight = _weights(table, of_classes).place(labels.codes.astype(np.int64), len(code))
        return cls(
            table, labels.classes, code, weight, plan, dict(zip(parts, answers, strict=True))
        )

    def labels(self, found: Sequence[Hashable], weight: Floats | None) -> Labels:
        """Return labels that were read."""
        codes = np.fromiter(map(self.code.__getitem__, found), np.int32, len(found))
        return Labels(codes, self.classes, weight)

    def tally(self, schema: Schema) -> Tally:
        """Return the tally of a schema, as if the rows had been counted in memory."""
        blocks = {
            group.key: reduce(
                add, (self._column(group, name, schema.readings) for name in group.columns)
            )
            for group in schema.of_columns
        }
        return Tally(self.classes, self.weight, blocks).pruned()

    def _column(self, group: Group, name: Name, readings: Mapping[Name, Reading]) -> BlockTally:
        """Count one column of a group."""
        group, part = replace(group, columns=(name,)), self.plan[name]
        answer = self.answers[part]
        labels, weight = self.labels(answer.label, None), _weights(self.table, answer)
        if part.by == "exponent":
            return self._totals(group, answer, labels)
        cells: Sequence[Value] = answer.least
        if part.by in ("text", "whole"):
            cells = answer.text if part.by == "text" else answer.key
        elif part.by in ("float", "cell"):
            shift = int(part.number)
            cells = as_float(np.array(answer.key, np.int64) << np.int64(shift)).tolist()
        column = self.table.columns[part.column]
        rows = with_readings(join_columns({column.name: column.read(cells)}), readings)
        high = replace(labels, weight=weight.high)
        block = Schema((group,), (column.name,)).encode(rows, high).blocks[group.key]
        counted: BlockTally = group.event.tally(block, high)
        if weight.low.any():
            counted += group.event.tally(block, replace(high, weight=weight.low))
        if part.by == "cell":
            _check(group, np.array(cells))
            grid = Cells.join(group.columns, (shift,), (np.empty(0, np.int64),))
            counted += BlockTally(grid, {CELL: Sums.zeros((0, len(self.classes)))})
        return counted

    def _totals(self, group: Group, answer: Answer, labels: Labels) -> BlockTally[Columns]:
        """Return the sums of a column of numbers, after a look at its extremes."""
        ends = {*answer.least, *answer.greatest, *(x for x in answer.odd if x is not None)}
        _check(group, np.array(sorted(ends)))
        sums = {of: [Fraction(0)] * len(self.classes) for of in (PRESENT, VALUE, SQUARE)}
        for i, c in enumerate(labels.codes.tolist()):
            sign, exponent = (1, key) if (key := answer.key[i]) >= 0 else (-1, -1 - key)
            unit = Fraction(2) ** (max(exponent, 1) - BIAS - MANTISSA)
            sums[PRESENT][c] += int(answer.weight[i])
            sums[VALUE][c] += sign * unit * int(answer.total[i])
            sums[SQUARE][c] += unit * unit * int(answer.squares[i])
        scale = Fraction(self.table.scale)
        tables = {s: _rounded([x / scale for x in sums[s]], group) for s in group.event.statistics}
        return BlockTally(Columns(group.columns), tables)


def _weights(table: ServerTable, answer: Answer) -> Sums:
    """Return the weight of each line, in double-double."""
    whole = [*map(int, answer.weight)]
    high = np.array(whole, np.float64)
    low = [n - int(h) for n, h in zip(whole, high.tolist(), strict=True)]
    return Sums(high / table.scale, np.array(low, np.float64) / table.scale)


def _check(group: Group, some: NDArray[np.float64]) -> None:
    """Let the event model refuse numbers that it cannot count, (numbers,); they name the column."""
    if not len(some):
        return
    block = Dense(some[:, None], Columns(group.columns))
    prepared = group.event.prepare(block)
    if not (isinstance(prepared, Dense) and np.array_equal(prepared.values, block.values)):
        raise ValueError(
            f"Column {title(group.columns[0])!r} cannot be counted in the database: "
            f"{group.event.name} transforms numbers before it counts them. Add a column of the "
            "transformed numbers, or choose another event model."
        )
    group.event.tally(block, Labels(np.zeros(len(some), np.int32), np.zeros(1)))


def _rounded(sums: Sequence[Fraction], group: Group) -> Sums:
    """Return exact sums in double-double, of shape (1, classes)."""
    if any(abs(x) > LARGEST for x in sums):
        raise ValueError(
            f"Column {title(group.columns[0])!r} holds numbers whose sums overflow; scale it."
        )
    high = [float(x) for x in sums]
    low = [float(x - Fraction(h)) for x, h in zip(sums, high, strict=True)]
    return Sums(np.array([high]), np.array([low]))
