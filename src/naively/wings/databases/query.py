"""A model as a query that scores the rows of a table in its database."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import astuple, field, replace
from functools import cached_property, reduce
from itertools import chain, pairwise
from typing import Any, Literal, TypeAlias, final, get_args

import numpy as np
from sqlglot import exp, parse_one
from sqlglot.dialects.dialect import Dialects
from sqlglot.errors import ErrorLevel, SqlglotError

from naively.counting.axis import Level
from naively.data.columns import NAMES, Cycle
from naively.frozen import Frozen
from naively.inspect.scorecard import Scorecard
from naively.kernels.reference import FAR, Floats
from naively.kernels.tokens import splitter
from naively.terms import views
from naively.terms.functions import Above, Line, OneOf, Step
from naively.terms.views import Cell, OfCell
from naively.wings.databases import databases
from naively.wings.databases.databases import Table

# --- A query that scores rows in the database: a model's class and probabilities -----------------


Where: TypeAlias = Literal["auto", "inline", "table"]  # the numbers of levels and tokens are

MOST_INLINE = 2_000  # levels and tokens that a query holds itself, by default


@final
class Query(str):
    """A query, which is a string, and the statements that must have been run before it.

    Attributes
    ----------
    setup : tuple of str
        Statements that make and fill the table of weights; none where the query holds all numbers.

    Examples
    --------
    >>> Query("SELECT 1").setup
    ()
    """

    __slots__ = ("setup",)
    setup: tuple[str, ...]

    def __new__(cls, query: str, setup: Sequence[str] = ()) -> Query:
        """Return the query with its setup."""
        found = super().__new__(cls, query)
        found.setup = tuple(setup)
        return found

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        """Return what the query is made of, so that it can be copied and pickled."""
        return str(self), self.setup


class QueryOptions(Frozen, eq=True, kw_only=True):
    """What a query is asked for; `naively.NaiveBayes.to_sql` says what each part means."""

    table: Table
    dialect: str = "duckdb"
    probabilities: bool = False
    keep: Sequence[str] | None = None
    weights: Where = "auto"
    weights_table: Table = "naively_weights"
    tokens: Table | None = None
    row_id: str | None = None
    least: float | None = None  # the probability from which on a class is in a row's set
    cost: Floats | None = None  # (right classes, answers): what each answer costs


def score_query(card: Scorecard, asked: QueryOptions) -> Query:
    """Return a query that selects a table's columns and, beside them, the model's answers."""
    if asked.weights not in get_args(Where):
        raise ValueError(f"weights must be 'auto', 'inline' or 'table', got {asked.weights!r}.")
    _check_texts(card, asked)
    dialect = dialect_of(asked.dialect)
    return _Steps(card, asked, dialect, ScoreSums.of(card, dialect, asked.weights)).query()


def answers(card: Scorecard, *, probabilities: bool, sets: bool = False) -> list[str]:
    """Return the columns of answers: the prediction, its probability or all, and sets."""
    # With sets there is a column for each class: whether it is in the set of the row.
    names = ["prediction"] if probabilities else ["prediction", "probability"]
    for form in ["p({})"] * probabilities + ["in({})"] * sets:
        for label in card.classes.tolist():
            name, n = form.format(label), 1
            taken = {one.casefold() for one in names}
            while name.casefold() in taken:  # names that differ by their case alone are one
                n += 1
                name = f"{form.format(label)} {n}"
            names.append(name)
    return names


def _check_texts(card: Scorecard, asked: QueryOptions) -> None:
    texts = [term.cell.column for term in card.every(views.TokensTerm)]
    if not texts:
        return
    for given, what in (
        (asked.tokens, "tokens=, the table of their tokens"),
        (asked.row_id, "row_id=, the column that tells rows apart in it and in the table"),
    ):
        if given is None:
            raise ValueError(
                f"Column {texts[0]!r} holds texts, which SQL does not split: give {what}."
            )


# --- The steps of a query, each a table that the next one selects from ---------------------------


ID, MOST, LABEL, TOTAL = "naively id", "naively most", "naively label", "naively total"
SCORE, SHARE, KEPT = "naively s{}", "naively e{}", "naively k{}"  # of a class, or a column
COST, LEAST = "naively cost {}", "naively least"  # that is expected of an answer, and the least
NOTHING = 1e-200  # a share of this size costs nothing, where a product would be too small
WEIGHTS = "naively weights"  # the step that holds what is looked up, where no table does
ROWS = 500  # of one statement that fills a table


class _Steps(Frozen):
    """Writes a query as steps."""

    card: Scorecard
    asked: QueryOptions
    dialect: Spelling
    scores: ScoreSums

    def query(self) -> Query:
        """Return the query, and what is to be run before it."""
        query, own, handed_on = exp.Select(), list[str](), list[str]()
        columns, kept = self._kept()
        if self.scores.weights and not self._in_table:
            query.with_(*self._given(), copy=False)
        source = aliased(self.dialect.table(self.asked.table), TABLE)
        for name, hands_on, added in self._stages():
            step = exp.select(*columns, *_named(added), copy=False).from_(source, copy=False)
            if name == "naively scores":
                self._join(step)
            query.with_(quoted(name), self.dialect.once(step), copy=False)
            source = aliased(exp.Table(this=quoted(name)), "x")
            if kept is None:
                columns = [exp.Column(this=exp.Star(), table=quoted("x"))]
            else:
                handed_on = [*handed_on, *added] if hands_on else []
                columns = [*map(column, [*kept, *handed_on])]
            own += added
        query.select(*self._last(own), copy=False).from_(source, copy=False)
        if self.asked.keep is None:
            self.dialect.joined(query, self.asked.table, self.card.columns)
        setup = self._setup() if self._in_table else ()
        return Query(self.dialect.written(query), [*map(self.dialect.written, setup)])

    def _stages(self) -> Iterator[tuple[str, bool, dict[str, Expr]]]:
        """Yield each step: its name, whether the next one hands on what it adds, and this."""
        cells = {name: read for read, name in self.scores.cells.items()}
        if self.asked.row_id is not None:
            cells[ID] = self._of_table(self.asked.row_id)
        yield "naively cells", True, cells
        yield "naively places", False, {name: what for what, name in self.scores.found.items()}
        sums = {SCORE.format(i): summed(pieces) for i, pieces in enumerate(self.scores.added)}
        yield "naively scores", True, sums
        yield "naively most", False, {MOST: self.dialect.extreme(exp.Greatest, self._of_classes)}
        shares = {SHARE.format(c): share for c, share in enumerate(self._shares())}
        yield "naively shares", True, {LABEL: self._label(), **shares}
        costs = {COST.format(c): of for c, of in enumerate(self._costs())}
        yield "naively total", True, {TOTAL: summed([*map(column, shares)]), **costs}
        if costs:
            least = self.dialect.extreme(exp.Least, [*map(column, costs)])
            yield "naively least", False, {LEAST: least}

    # The columns that are kept: those that are named, or all.

    def _of_table(self, name: str) -> Expr:
        return exp.Column(this=self.dialect.identifier(name), table=quoted(TABLE))

    def _kept(self) -> tuple[list[Expr], list[str] | None]:
        """Return what the first step selects of the table for them, and how others name it."""
        if self.asked.keep is None:  # all: a row as one value, or None and a star where it is none
            return [self.dialect.first(self.card.columns)], [ROW] if self.dialect.row else None
        kept = {KEPT.format(i): self._of_table(name) for i, name in enumerate(self.asked.keep)}
        return _named(kept), [*kept]

    def _last(self, own: Sequence[str]) -> list[Expr]:
        """Return what the last step selects: them, and the answers."""
        if self.asked.keep is None:
            kept = [self.dialect.last(own)]
        else:
            every = enumerate(self.asked.keep)
            kept = _named({name: column(KEPT.format(i)) for i, name in every})
        return [*kept, *_named(dict(zip(self._names(), self._answers(), strict=True)))]

    def _names(self) -> list[str]:
        """Return the names of the answers, none of which a column that is kept may have."""
        sets = self.asked.least is not None
        names = answers(self.card, probabilities=self.asked.probabilities, sets=sets)
        kept = self.card.columns if self.asked.keep is None else self.asked.keep
        known = {name.casefold() for name in kept}
        taken = next((name for name in names if name.casefold() in known), None)
        if taken is not None:
            raise ValueError(
                f"The table has a column {taken!r}, and so has the answer: give keep=, the columns "
                "to select beside the answer, without it."
            )
        return [self.dialect.identifier(name).name for name in names]

    # What scores become.

    @cached_property
    def _of_classes(self) -> list[Expr]:
        """The scores of the classes, in the steps that follow."""
        scores: list[Expr] = [column(SCORE.format(i)) for i in range(len(self.scores.added))]
        return [self.dialect.number(0.0), *scores] if self.scores.differences else scores

    @cached_property
    def _labels(self) -> list[Expr]:
        return [*map(self.dialect.literal, self.card.classes.tolist())]

    def _shares(self) -> Iterator[Expr]:
        """Yield the probability of each class, relative to the most probable one."""
        number = self.dialect.number
        never = same(column(MOST), number(-np.inf))
        prior = np.exp(self.card.log_prior - self.card.log_prior.max())
        for score, of_prior in zip(self._of_classes, prior.tolist(), strict=True):
            less = score - column(MOST)
            share = case((less < number(-700.0), number(0.0)), otherwise=exp.Exp(this=less))
            if not self.scores.differences:
                share = case((never, number(of_prior)), otherwise=share)
            yield share

    def _label(self) -> Expr:
        """Return the most probable class, the first of several."""
        every = zip(self._of_classes, self._labels, strict=True)
        *ways, (_, last) = ((same(score, column(MOST)), label) for score, label in every)
        if not self.scores.differences:
            never = same(column(MOST), self.dialect.number(-np.inf))
            ways.insert(0, (never, self._labels[int(self.card.log_prior.argmax())]))
        return case(*ways, otherwise=last)

    def _costs(self) -> Iterator[Expr]:
        """Yield the expected cost of each answer, times the sum of the shares."""
        for of_answer in [] if self.asked.cost is None else self.asked.cost.T.tolist():
            costs = enumerate(map(self.dialect.number, of_answer))
            each = ((column(SHARE.format(c)), cost) for c, cost in costs)
            yield summed([self.dialect.product(a * cost, a, NOTHING) for a, cost in each])

    def _of_least_cost(self, values: Sequence[Expr]) -> Expr:
        """Return that of some values, one for each class, which belongs to the answer."""
        least = (same(column(COST.format(c)), column(LEAST)) for c in range(len(values)))
        *ways, (_, last) = zip(least, values, strict=True)
        return case(*ways, otherwise=last)

    def _answers(self) -> Iterator[Expr]:
        """Yield what the last step says of a row: its class, probabilities and set."""
        total, number = column(TOTAL), self.dialect.number
        shares = [column(SHARE.format(c)) / total for c in range(len(self.card.classes))]
        decided = self.asked.cost is not None
        yield self._of_least_cost(self._labels) if decided else column(LABEL)
        probability = self._of_least_cost(shares) if decided else number(1.0) / total
        yield from shares if self.asked.probabilities else [probability]
        if self.asked.least is not None:
            for share, label in zip(shares, self._labels, strict=True):
                enough = share >= number(self.asked.least)
                yield paren(exp.Or(this=enough, expression=same(column(LABEL), label)))

    # What is looked up by strings: in a table of the database, or in a step of the query.

    @property
    def _in_table(self) -> bool:
        size = sum(len(weight.levels) for weight in self.scores.weights)
        large = self.asked.weights == "auto" and size > MOST_INLINE
        return size > 0 and (self.asked.weights == "table" or large)

    @property
    def _weights(self) -> exp.Table:
        if self._in_table:
            return self.dialect.table(self.asked.weights_table)
        return exp.Table(this=quoted(WEIGHTS))

    @property
    def _numbers(self) -> list[str]:
        return [f"s{i}" for i in range(len(self.scores.added))]

    def _rows(self) -> Iterator[Expr]:
        """Yield a row for each string of a term."""
        for weight in self.scores.weights:
            for place, level in weight.levels.items():
                row = [weight.term, level, *weight.points[place].tolist()]
                spelled = ", ".join(map(self.dialect.words.literal, row))
                yield self.dialect.read(f"({spelled})")

    def _given(self) -> tuple[Expr, Expr]:
        """Return the name of the step, and the step."""
        names = [exp.to_identifier(name) for name in ("term", "level", *self._numbers)]
        rows = exp.Values(expressions=[*self._rows()])
        if not self.dialect.names_values:
            return exp.TableAlias(this=quoted(WEIGHTS), columns=names), rows
        rows.set("alias", exp.TableAlias(this=quoted("v"), columns=names))
        return quoted(WEIGHTS), exp.select("*").from_(rows, copy=False)

    def _setup(self) -> Iterator[Expr]:
        """Yield the statements that make and fill the table."""
        numbers = "".join(f", {name} DOUBLE NOT NULL" for name in self._numbers)
        made = f"(term INT NOT NULL, level TEXT NOT NULL{numbers}, PRIMARY KEY (term, level))"
        yield parse_one(f"CREATE TABLE {self._weights.sql('duckdb')} {made}", dialect="duckdb")
        rows = [*self._rows()]
        for i in range(0, len(rows), ROWS):
            some = exp.Values(expressions=rows[i : i + ROWS])
            yield exp.Insert(this=self._weights, expression=some)

    def _join(self, step: exp.Select) -> None:
        """Join what is looked up to the step of the scores."""
        for weight in self.scores.weights:
            if weight.block is None:
                table: Expr = self._weights
                ways = {"term": exp.Literal.number(weight.term), "level": weight.x}
            else:
                table, ways = self._of_texts(weight), {"id": column(ID)}
            on = exp.and_(*(same(column(name, weight.alias), of) for name, of in ways.items()))
            step.join(aliased(table, weight.alias), on=on, join_type="left", copy=False)

    def _of_texts(self, weight: Weight) -> Expr:
        """Return what the tokens of each text add up to, and how many there are."""
        often = "1" if weight.binary else "k.often"
        sums = "".join(f", SUM({often} * w.{name}) AS {name}" for name in self._numbers)
        tokens = self.dialect.table(self.asked.tokens or "").sql("duckdb")
        return parse_one(
            f"(SELECT k.row_id AS id{sums}, CAST(SUM({often}) AS DOUBLE) AS n FROM {tokens} AS k "
            f"JOIN {self._weights.sql('duckdb')} AS w ON w.term = {weight.term} "
            f"AND w.level = k.token WHERE k.block = {weight.block} GROUP BY k.row_id)",
            dialect="duckdb",
        )


def _named(columns: Mapping[str, Expr]) -> list[Expr]:
    """Return columns under their names."""
    return [exp.Alias(this=of, alias=quoted(name)) for name, of in columns.items()]


# --- Expressions ---------------------------------------------------------------------------------
#
# sqlglot's own functions and operators copy what they are given, so that only small expressions go
# through them; and they put no operand of the same operation in parentheses.


Expr: TypeAlias = exp.Expr

IN_A_ROW = 8  # summands, as databases limit the depth of what they read
MOST_ARGUMENTS = 100  # of a function, in SQLite and PostgreSQL


def quoted(of: str) -> exp.Identifier:
    """Quote a name of naively's own."""
    return exp.Identifier(this=of, quoted=True)


def column(of: str, table: str = "x") -> exp.Column:
    """Return a column of the step before, or of what is joined to it."""
    return exp.Column(this=quoted(of), table=quoted(table))


def places(of: Sized, more: int = 0) -> list[Expr]:
    """Return the numbers from 1 on of some things, and of so many more."""
    return [exp.Literal.number(i) for i in range(1, len(of) + more + 1)]


def aliased(of: Expr, alias: str) -> Expr:
    """Return what is selected from under a name."""
    of.set("alias", exp.TableAlias(this=quoted(alias)))
    return of


def raw(text: str) -> Expr:
    """Return what is spelled already."""
    return exp.Literal(this=text, is_string=False)


def paren(of: Expr) -> Expr:
    """Return what can stand wherever a value can."""
    return exp.Paren(this=of)


def case(*ways: tuple[Expr, Expr], otherwise: Expr) -> Expr:
    """Return what follows the first condition that holds."""
    if not ways:
        return otherwise
    return exp.Case(ifs=[exp.If(this=a, true=b) for a, b in ways], default=otherwise)


def same(a: Expr, b: Expr) -> Expr:
    """Return whether two values are equal."""
    return exp.EQ(this=a, expression=b)


def is_null(x: Expr) -> Expr:
    """Return whether a cell is missing."""
    return exp.Is(this=x, expression=exp.Null())


def summed(pieces: Sequence[Expr]) -> Expr:
    """Return a sum that is as deep as its length's logarithm."""
    if len(pieces) > IN_A_ROW:
        half = len(pieces) // 2
        pieces = [summed(pieces[:half]), summed(pieces[half:])]
    return paren(reduce(lambda a, b: exp.Add(this=a, expression=b), pieces))


# --- What databases say otherwise than sqlglot translates it -------------------------------------
#
# The cells of a table are read in the words of the database itself.


TABLE = "naively t"  # what the first step calls the table; a column could have a shorter name
ROW = "naively row"  # what stands for the columns that are kept
FEW = 8  # levels that are compared one after the other
DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
DUCKDB = databases.DuckDB()


class Spelling(Frozen, eq=True):
    """A database, by default one in which no query was run; sqlglot translates for it."""

    name: str
    words: databases.Dialect = DUCKDB  # what names and values are spelled in
    tested: bool = False  # whether these are the words of the database itself
    ways: int = 2  # that a comparison of a number with the edges of bins branches
    most_joins: int | None = None  # tables that a query can join; None is any number
    passes_null: bool = False  # whether GREATEST passes over NULL
    names_values: bool = True  # whether the columns of VALUES can be named
    row: str | None = None  # all columns of a row that is a value
    listed: str | None = None  # one of some numbers, by its place
    month: str = "MONTH(MAKE_TIMESTAMP(CAST(ROUND({} * 1e6) AS BIGINT)))"  # of seconds since 1970

    def read(self, text: str) -> Expr:
        """Return what is written in ``words``."""
        return raw(text) if self.tested else parse_one(text, dialect="duckdb")

    def written(self, tree: Expr) -> str:
        """Write a statement; raise a ValueError if the database cannot say it."""
        try:
            said: str = tree.sql(
                self.name, copy=False, comments=False, unsupported_level=ErrorLevel.RAISE
            )
        except SqlglotError as error:
            what = str(error).strip().splitlines()[0].rstrip(".")
            raise ValueError(f"The query cannot be written for {self.name}: {what}.") from error
        if self.tested:
            return said
        return f"-- Written for {self.name} by sqlglot; not run there.\n{said}"

    def table(self, table: Table) -> exp.Table:
        """Quote the name of a table, or of a schema and of a table in it."""
        return parse_one(self.words.table(table), into=exp.Table, dialect=self.words.name)

    def identifier(self, name: str) -> exp.Identifier:
        """Quote the name of a column or of anything else, whatever it holds."""
        self.words.identifier(name)  # which refuses what can be no name
        return quoted(name)

    def number(self, x: float) -> Expr:
        """Spell a number so that the database has the same float64, to the last bit."""
        return self.read(self.words.number(x))

    def literal(self, of: object) -> Expr:
        """Spell a truth or a number, or anything else as a string."""
        return self.read(self.words.literal(of))

    def holds(self, text: str) -> bool:
        """Return whether the database can hold a string."""
        try:
            self.words.string(text)
        except ValueError:
            return False
        return True

    def cell(self, cell: Cell) -> Expr:
        """Read a cell of the table: its text, or its number, truth or seconds as float64."""
        x = f'"{TABLE}".{self.words.identifier(cell.column)}'
        if is_text(cell):
            return self.read(self.words.as_text(x))
        number = self.float_of(x, cell)
        if cell.combined is None:
            return self.read(number)
        operator, column, times = astuple(cell.combined)
        x, one = f'"{TABLE}".{self.words.identifier(column)}', replace(cell, column=column)
        other = self.float_of(x, one)
        if times != 1:
            other = self.words.times(times, other)
        if operator == "/":
            other = f"NULLIF({other}, {self.words.number(0.0)})"
        both = self.words.both(number, operator, other)
        return self.read(f"CASE WHEN {both} <= {self.words.number(math.inf)} THEN {both} END")

    def float_of(self, x: str, cell: Cell) -> str:
        """Return a column of numbers, truths or times as float64, NULL where it is missing."""
        if cell.kind == "time":
            if not self.tested:
                raise ValueError(
                    f"Times are not written for {self.name}: make {x} a column of seconds since "
                    "1970."
                )
            return self.words.seconds(x)
        found = self.words.as_double(x, "boolean" if cell.kind == "boolean" else "number")
        there = f"CASE WHEN {found} <= {self.words.number(math.inf)} THEN {found} END"  # no NaN
        return f"LN({there})" if cell.log else there

    def part(self, seconds: Expr, part: Cycle) -> Expr:
        """Return the place of a part of a time among its names, from 0 on."""
        x = seconds.sql("duckdb")
        if part == "month":
            return self.read(f"({self.month.format(x)} - 1)")
        each, shift, cycle = {"hour": (3600.0, 0, 24), "weekday": (86400.0, 3, 7)}[part]
        floor = f"CAST(FLOOR({x} / {self.words.number(each)}) AS BIGINT)"
        after_1970 = f"(({floor} + {shift}) % {cycle} + {cycle})"
        return self.read(f"({after_1970} % {cycle})")

    def extreme(self, kind: type[exp.Greatest | exp.Least], some: Sequence[Expr]) -> Expr:
        """Return the greatest or the least of some numbers, none of which may be NULL."""
        while len(some) > 1:
            rows = [some[i : i + MOST_ARGUMENTS] for i in range(0, len(some), MOST_ARGUMENTS)]
            some = [
                kind(this=first, expressions=others, ignore_nulls=self.passes_null)
                if others
                else first
                for first, *others in rows
            ]
        return some[0]

    def among(self, x: Expr, edges: Sequence[Expr], leaves: Sequence[Expr]) -> Expr:
        """Return the leaf between the edges that a number reaches and those that it does not."""
        ways = min(self.ways, len(leaves))
        if ways == 1:
            return leaves[0]
        cuts = [len(leaves) * way // ways for way in range(ways + 1)]
        *parts, last = (self.among(x, edges[a : b - 1], leaves[a:b]) for a, b in pairwise(cuts))
        below = (x < edges[cut - 1] for cut in cuts[1:-1])
        return case(*zip(below, parts, strict=True), otherwise=last)

    def choose(self, place: Expr, values: Floats) -> Expr:
        """Return one of some given numbers by its place, from 1 on, which is never NULL."""
        numbers = values.tolist()
        if self.listed is not None:
            return raw(self.listed.format(",".join(map(repr, numbers)), place))
        return self.among(place, places(numbers)[1:], [*map(self.number, numbers)])

    def index(self, x: Expr, levels: Sequence[Expr]) -> Expr:
        """Return the place of a cell among levels, from 1 on; one more than there are if none."""
        *found, none = places(levels, more=1)
        return case(
            *((same(x, of), i) for of, i in zip(levels, found, strict=True)), otherwise=none
        )

    def product(self, what: Expr, of: Expr, least: float) -> Expr:  # noqa: ARG002
        """Return a product, which may be written as 0 where a factor is of a size below least."""
        return what

    def once(self, step: exp.Select) -> exp.Select:
        """Return a step whose columns are to be computed once."""
        return step

    # All columns of the table are kept as one that is a row, or as they are; some are known.

    def first(self, columns: Sequence[str]) -> Expr:  # noqa: ARG002
        """Return what the first step selects of the table for the columns that are kept."""
        return self.read(f'"{TABLE}".*' if self.row is None else f'"{TABLE}" AS "{ROW}"')

    def last(self, own: Sequence[str]) -> Expr:
        """Return what the last step selects for them; ``own`` are naively's of the columns of x."""
        every = ", ".join(quoted(of).sql("duckdb") for of in own)
        return self.read(self.row or f'"x".* EXCLUDE ({every})')

    def joined(self, last: exp.Select, table: Table, columns: Sequence[str]) -> exp.Select:  # noqa: ARG002
        """Return the last step, with what it must join for them."""
        return last


@final
class InPostgreSQL(Spelling):
    """PostgreSQL, where a product that is too small for a float64 is an error, and not 0."""

    def product(self, what: Expr, of: Expr, least: float) -> Expr:
        small = exp.Abs(this=of) < self.number(least)
        return case((small, self.number(0.0)), otherwise=what)

    def once(self, step: exp.Select) -> exp.Select:
        return step.offset(0, copy=False)


@final
class InSQLite(Spelling):
    """SQLite: each cell has a type of its own, times are text, and a row is known by its number."""

    def float_of(self, x: str, cell: Cell) -> str:
        if cell.kind == "time":
            return self._seconds(x, cell)
        plain = f"CAST({x} AS NUMERIC) = {x}"  # a text that is a number equals it
        wrong = self._refused(x, cell, "held numbers in training and holds")
        found = self.words.as_double(x)
        if cell.log:
            none = self._refused(x, cell, "needs numbers above 0, not")
            found = f"CASE WHEN {found} > 0 THEN LN({found}) ELSE {none} END"
        return f"CASE WHEN {x} IS NULL THEN NULL WHEN {plain} THEN {found} ELSE {wrong} END"

    def _seconds(self, x: str, cell: Cell) -> str:
        """Return a time of ISO 8601 as seconds, to the microsecond."""
        zone = "[+-][0-9][0-9]:[0-9][0-9]"
        ends = f"CASE WHEN {x} GLOB '*:*{zone}' THEN substr({x}, -6) ELSE '' END"
        whole = f"CAST(strftime('%s', substr({x}, 1, 19) || {ends}) AS INTEGER)"
        rest = f"CASE WHEN {x} GLOB '*.*' THEN CAST('0' || substr({x}, 20) AS REAL) ELSE 0 END"
        micros = f"({whole} * 1000000 + CAST({rest} * 1000000 + 0.5 AS INTEGER))"
        wrong = self._refused(x, cell, "held times in training and holds")
        # SQLite also reads numbers, 'now', a clock alone, and the 31st of February.
        day, clock = f"substr({x}, 1, 10)", f"substr({x}, 11, 3)"
        dated = f"{x} GLOB '{DAY}*' AND date({day}, '+0 days') = {day}"
        clocked = f"({clock} = '' OR {clock} GLOB '[ T][0-9][0-9]' AND substr({clock}, 2) < '24')"
        none = f"{whole} IS NULL OR typeof({x}) <> 'text' OR NOT ({dated} AND {clocked})"
        told = f"CASE WHEN {none} THEN {wrong} ELSE {micros} / 1000000.0 END"
        return f"CASE WHEN {x} IS NULL THEN NULL ELSE {told} END"

    def _refused(self, x: str, cell: Cell, what: str) -> str:
        """Return what fails with a sentence: a path into JSON that is no path, which is named."""
        said = self.words.string(f'Column "{cell.column}" {what} ')
        return f"json_extract('{{}}', {said} || {x})"

    def index(self, x: Expr, levels: Sequence[Expr]) -> Expr:
        # By lists of the levels, not by their order, which in UTF-16 is another than in UTF-8.
        if len(levels) <= FEW:
            return super().index(x, levels)

        def among(start: int, end: int) -> Expr:
            if end - start == 1:
                return found[start]
            half = (start + end) // 2
            below = x.isin(*levels[start:half]), among(start, half)
            return case(below, otherwise=among(half, end))

        *found, none = places(levels, more=1)
        return case((x.isin(*levels), among(0, len(levels))), otherwise=none)

    def once(self, step: exp.Select) -> exp.Select:
        return step.limit(-1, copy=False).offset(0, copy=False)

    def first(self, columns: Sequence[str]) -> Expr:
        return raw(f'"{TABLE}".{_number_of_row(columns)} AS "{ROW}"')

    def joined(self, last: exp.Select, table: Table, columns: Sequence[str]) -> exp.Select:
        same = column(_number_of_row(columns), "t").eq(column(ROW))
        return last.join(aliased(self.table(table), "t"), on=same, copy=False)


TESTED: dict[str, Spelling] = {
    "duckdb": Spelling(
        "duckdb",
        tested=True,
        ways=6,  # a branch costs more than a comparison, as rows are sorted into its ways
        passes_null=True,
        row=f'UNNEST("x"."{ROW}")',
        listed="(CAST('[{}]' AS DOUBLE[]))[{}]",
    ),
    "postgres": InPostgreSQL(
        "postgres",
        databases.PostgreSQL(),
        tested=True,
        row=f'("x"."{ROW}").*',
        listed="(CAST('{{{}}}' AS DOUBLE PRECISION[]))[{}]",
        month="CAST(EXTRACT(MONTH FROM TIMESTAMP '1970-01-01' + {} * INTERVAL '1 second') AS INT)",
    ),
    "sqlite": InSQLite(
        "sqlite",
        databases.SQLite(),
        tested=True,
        most_joins=50,
        names_values=False,
        row='"t".*',
        month="CAST(strftime('%m', CAST(FLOOR({}) AS INTEGER), 'unixepoch') AS INTEGER)",
    ),
}
ALSO = {"postgresql": "postgres", "sqlite3": "sqlite"}


def dialect_of(name: str) -> Spelling:
    """Return how a database spells a query: one of the tested, or another that sqlglot knows."""
    key = ALSO.get(str(name).lower(), str(name).lower())
    others = sorted({one.value for one in Dialects} - {"", *TESTED})
    if key not in TESTED and key not in others:
        shown = ", ".join([*TESTED, *others])
        raise ValueError(f"There is no SQL dialect {name!r}; known are {shown}.")
    return TESTED.get(key, Spelling(key))


def is_text(cell: Cell) -> bool:
    """Return whether a cell is read as a string."""
    return cell.kind in ("string", "text") and cell.part is None


def _number_of_row(columns: Sequence[str]) -> str:
    """Return a name of SQLite for the number of a row that no column has, as it would hide it."""
    taken = {column.lower() for column in columns}
    for name in ("_rowid_", "rowid", "oid"):
        if name not in taken:
            return name
    raise ValueError(
        "Columns are named 'rowid', 'oid' and '_rowid_', so that SQLite has no name for the number "
        "of a row: give keep=, the columns to keep."
    )


# --- The scores of classes -----------------------------------------------------------------------


TINY = 1e-300  # what a score's pieces need not tell from 0
INLINE = 8  # levels of a column that a query looks through by itself, where it could join


class Weight(Frozen):
    """Numbers that are looked up by a string: those of the levels of a column, or of tokens."""

    term: int  # the place of the term in the scorecard, which is its number in the table of weights
    levels: dict[int, str]  # the levels or tokens, by their places among the points
    points: Floats  # (levels, scores): what each adds
    x: Expr  # the text that is looked up; for tokens the text that they are of
    # The number of a block of tokens in the table of tokens; None for levels.
    block: int | None = None
    binary: bool = False  # whether a token counts once

    @property
    def alias(self) -> str:
        """What the query calls what it joins."""
        return f"naively w{self.term}"

    def found(self, of: str, otherwise: Expr) -> Expr:
        """Return a column of what is joined, or something else where nothing was found."""
        return exp.Coalesce(this=column(of, self.alias), expressions=[otherwise])


class ScoreSums(Frozen):
    """What is read, found out and added up for the scores of classes."""

    card: Scorecard
    dialect: Spelling
    # What is read of the cells of the table, and what is found out of these for all classes:
    # places of bins, levels and the cells of rules, and clipped numbers. Each has a name.
    cells: dict[Expr, str] = field(default_factory=dict)
    found: dict[Expr, str] = field(default_factory=dict)
    added: list[list[Expr]] = field(default_factory=list)  # what each score is the sum of
    weights: list[Weight] = field(default_factory=list)  # what is looked up
    # What columns that are missing or not add, of those of which no other term says it too.
    presence: dict[str, views.PresenceTerm] = field(default_factory=dict)

    @classmethod
    def of(cls, card: Scorecard, dialect: Spelling, weights: str) -> ScoreSums:
        """Write the terms of a scorecard."""
        scores = cls(card, dialect)
        scores.presence.update((term.cell.column, term) for term in card.every(views.PresenceTerm))
        scores.added.extend([dialect.number(x)] for x in scores.shift(card.start).tolist())
        joined = set(_joined(card, dialect, weights))
        blocks = [i for i, term in enumerate(card.terms) if term.kind == "tokens"]
        # The places of bins and levels have one more for a missing cell: presence comes last.
        for i, term in sorted(enumerate(card.terms), key=lambda of: of[1].kind == "presence"):
            match term:
                case views.TokensTerm():
                    scores._tokens(i, term, blocks.index(i))
                case views.LevelsTerm() if i in joined:
                    scores._join(i, term)
                case _:
                    scores._write(term)
        return scores

    @cached_property
    def differences(self) -> bool:
        """Whether scores are differences from the first class's, which is not written then."""
        every = [self.card.start, *chain.from_iterable(vars(of).values() for of in self.card.terms)]
        return all(np.isfinite(of).all() for of in every if isinstance(of, np.ndarray))

    def shift(self, of: Floats) -> Floats:
        """Return what classes add as what scores add."""
        return of[..., 1:] - of[..., :1] if self.differences else of

    def _cell(self, cell: Cell) -> Expr:
        """Return a cell, read once: its number or its text, NULL where it is missing."""
        read = self.dialect.cell(cell)
        return column(self.cells.setdefault(read, f"naively c{len(self.cells)}"))

    def _find(self, what: Expr) -> Expr:
        """Find something out once."""
        return column(self.found.setdefault(what, f"naively f{len(self.found)}"))

    def _write(self, term: views.AnyTerm) -> None:
        """Add what a term says to each score."""
        match term:
            case views.PresenceTerm(cell, there):
                if cell.column in self.presence:
                    self._choose(cell, exp.Literal.number(1), np.zeros((1, len(there))))
            case views.BinsTerm(cell, edges, points):
                numbers = [*map(self.dialect.number, edges.tolist())]
                place = self.dialect.among(self._cell(cell), numbers, places(points))
                self._choose(cell, place, points)
            case views.LevelsTerm(cell, levels, points):
                place, order = self._level(cell, levels)
                self._choose(cell, place, points[[*order, -1]])
            case views.RuleTerm():
                self._add_chosen(self._rule(term), self.shift(term.points))
            case views.LineTerm(cell, low, high, centre, slope):
                line = self._clip(self._cell(cell), low, high) - self.dialect.number(centre)
                self._add_slope(self._present(cell, line), slope)
            case views.ProductTerm(a, b, scale, most, slope):
                product = paren(self._factor(a) * self._factor(b)) / self.dialect.number(scale)
                self._add_slope(self._clip(product, -most, most), slope)
            case views.ParabolaTerm(cell):
                self._add(self._squares(term))

    def _add(self, pieces: Iterable[Expr]) -> None:
        """Add a piece to each score."""
        for of_score, piece in zip(self.added, pieces, strict=True):
            of_score.append(piece)

    def _choose(self, cell: Cell, place: Expr, points: Floats) -> None:
        """Add what a bin or a level adds, and what the cell's presence does, if not added yet."""
        points = self._with_missing(cell, points)
        missing = is_null(self._cell(cell)), exp.Literal.number(len(points))
        self._add_chosen(case(missing, otherwise=place), points)

    def _with_missing(self, cell: Cell, points: Floats) -> Floats:
        """Return what scores add by points, and a row more for a missing cell."""
        missing = np.zeros(points.shape[1])
        of = None if cell.combined else self.presence.pop(cell.column, None)
        if (presence := of) is not None:
            points, missing = points + presence.there, presence.missing
        return self.shift(np.vstack([points, missing]))

    def _add_chosen(self, place: Expr, points: Floats) -> None:
        """Add one row of the points, (places, scores), by a place from 1 on."""
        place = self._find(place)
        for of_score, values in zip(self.added, points.T, strict=True):
            if values.any():
                of_score.append(self.dialect.choose(place, values))

    def _add_slope(self, line: Expr, slope: Floats) -> None:
        """Add a number times a slope; 0 times an infinite slope is 0."""
        x, none = self._find(line), self.dialect.number(0.0)
        for of_score, by in zip(self.added, self.shift(slope).tolist(), strict=True):
            if by:
                product = paren(x * self.dialect.number(by))
                if np.isfinite(by):
                    of_score.append(self.dialect.product(product, x, TINY / abs(by)))
                else:
                    of_score.append(case((x.eq(none), none), otherwise=product))

    def _squares(self, term: views.ParabolaTerm) -> list[Expr]:
        """Return what a parabola adds to each score."""
        each, x = [], self._cell(term.cell)
        for mean, half in zip(term.mean.tolist(), term.half_precision.tolist(), strict=True):
            distance = self._clip(x - self.dialect.number(mean), -FAR, FAR)
            z = self._find(self._present(term.cell, distance))
            least = (TINY / min(half, 1.0)) ** 0.5 if half else 1.0
            each.append(self.dialect.product(paren(z * z * self.dialect.number(half)), z, least))
        start = each.pop(0) if self.differences else self.dialect.number(0.0)
        return [paren(exp.Sub(this=start, expression=one)) for one in each]

    def _clip(self, x: Expr, low: float, high: float) -> Expr:
        above = self.dialect.extreme(exp.Greatest, [x, self.dialect.number(low)])
        return self.dialect.extreme(exp.Least, [above, self.dialect.number(high)])

    def _present(self, cell: Cell, value: Expr) -> Expr:
        """Return a number, and 0 where the cell is missing."""
        return case((is_null(self._cell(cell)), self.dialect.number(0.0)), otherwise=value)

    def _factor(self, of: OfCell[Line | Step]) -> Expr:
        """Return a number of a cell that a product is made of."""
        function, cell, number = of.function, of.cell, self.dialect.number
        x = self._cell(cell)
        match function:
            case Step(level, centre, among=among):
                ways = [(self._is_among(cell, (level,)), number(1.0))]
                if among:
                    ways.append((self._is_among(cell, among), number(0.0)))
                x = case(*ways, otherwise=number(centre if among else 0.0))
            case Line(low, high):
                if cell.above is not None:
                    x = case((x > number(cell.above), number(1.0)), otherwise=number(0.0))
                x = self._clip(x, low, high)
        distance = paren(x - number(function.centre))
        least = TINY**0.4 * function.scale  # the product of two is above TINY
        factor = distance / number(function.scale)
        return self._present(cell, self.dialect.product(factor, distance, least))

    def _rule(self, term: views.RuleTerm) -> Expr:
        """Return the place of a row among the points of a rule."""
        sides: list[Expr] = [exp.Literal.number(1)]
        for of, stride in term.strided:
            ways, elsewhere = [(self._holds(of), stride)], 0
            match of.function:
                case OneOf(_, others) if others:
                    side = OfCell(of.cell, OneOf(others), int(of.missing == 0))
                    ways, elsewhere = [*ways, (self._holds(side), 0)], 2 * stride
            numbers = [(holds, exp.Literal.number(n)) for holds, n in ways]
            sides.append(case(*numbers, otherwise=exp.Literal.number(elsewhere)))
        return summed(sides)

    def _holds(self, of: OfCell[Above | OneOf]) -> Expr:
        """Return whether a condition holds, or NULL where it does not as the cell is missing."""
        x = self._cell(of.cell)
        match of.function:
            case OneOf(levels):
                holds = self._is_among(of.cell, levels)
            case Above(edge):
                holds = x >= self.dialect.number(edge)
        return paren(exp.Or(this=is_null(x), expression=holds)) if of.missing == 1 else holds

    def _values(self, cell: Cell, levels: Sequence[Level | None]) -> dict[int, Any]:
        """Return what a cell can be in the database of some levels, by their places."""
        known = {i: level for i, level in enumerate(levels) if level is not None}  # not forgotten
        if is_text(cell):
            return {i: text for i, of in known.items() if self.dialect.holds(text := str(of))}
        if cell.part is None:
            return {i: float(of) for i, of in known.items()}
        names = NAMES[cell.part]
        return {i: names.index(of) for i, of in known.items() if of in names}

    def _value(self, cell: Cell) -> Expr:
        """Return a cell, or the place of the part of its time that is read."""
        x = self._cell(cell)
        return x if cell.part is None else self.dialect.part(x, cell.part)

    def _is_among(self, cell: Cell, levels: Sequence[Level | None]) -> Expr:
        """Return whether a cell is one of some levels."""
        known = [*map(self.dialect.literal, self._values(cell, levels).values())]
        return self._value(cell).isin(*known) if known else exp.false()

    def _level(self, cell: Cell, levels: Sequence[Level | None]) -> tuple[Expr, list[int]]:
        """Return the place of a cell among levels, and which levels are in these places."""
        x, values = self._value(cell), self._values(cell, levels)
        if is_text(cell):
            return self.dialect.index(x, [*map(self.dialect.literal, values.values())]), [*values]
        order = sorted(values, key=values.__getitem__)
        known = [self.dialect.literal(values[i]) for i in order]
        *found, none = places(known, more=1)
        every = [
            case((same(x, of), place), otherwise=none)
            for of, place in zip(known, found, strict=True)
        ]
        return self.dialect.among(x, known[1:], every or [none]), order

    def _join(self, number: int, term: views.LevelsTerm) -> None:
        """Add what levels say that are looked up."""
        x = self._cell(term.cell)
        *points, unseen, missing = self._with_missing(term.cell, term.points)
        levels = self._values(term.cell, term.levels)
        weight = Weight(number, levels, np.array(points), x)
        self.weights.append(weight)
        self._add(
            case(
                (is_null(x), self.dialect.number(none)),
                otherwise=weight.found(f"s{i}", self.dialect.number(never)),
            )
            for i, (none, never) in enumerate(zip(missing.tolist(), unseen.tolist(), strict=True))
        )

    def _tokens(self, number: int, term: views.TokensTerm, block: int) -> None:
        """Add what the tokens of a text say."""
        x, one, none = self._cell(term.cell), self.dialect.number(1.0), self.dialect.number(0.0)
        levels = self._values(term.cell, term.tokens)
        weight = Weight(number, levels, self.shift(term.points), x, block, term.binary)
        there = [*map(self.dialect.number, self.shift(term.there).tolist())]
        if levels:
            self.weights.append(weight)
            power = exp.Pow(
                this=weight.found("n", one), expression=self.dialect.number(term.length_power)
            )
            there = [said + weight.found(f"s{i}", none) / power for i, said in enumerate(there)]
        self._add(case((is_null(x), none), otherwise=said) for said in there)


def _joined(card: Scorecard, dialect: Spelling, weights: str) -> list[int]:
    """Return the numbers of the terms of levels that are joined, the longest ones."""
    joins = weights == "table" or not dialect.tested
    if not joins and dialect.most_joins is not None:
        return []  # there it is quicker to look through the levels
    least = 0 if joins else INLINE
    sizes = {
        i: len(term.levels)
        for i, term in enumerate(card.terms)
        if isinstance(term, views.LevelsTerm) and is_text(term.cell) and len(term.levels) > least
    }
    return sorted(sizes, key=lambda i: -sizes[i])[: dialect.most_joins]


# --- The tokens of the texts of a table, written to another table of the database ----------------


BATCH = 1_000  # rows of texts that are read at a time


def write_tokens(card: Scorecard, connection: Any, table: Table, row_id: str, tokens: Table) -> int:
    """Make the table of tokens, and fill it from the texts of another; return their number."""
    terms = card.every(views.TokensTerm)
    if not terms:
        raise ValueError("The model reads no texts, so that there are no tokens to write.")
    database = databases.database_of(connection)
    name = database.table(tokens)
    key, source = database.identifier(row_id), database.table(table)
    empty = database.as_text(database.string(""))
    database.run(
        f"CREATE TABLE {name} AS SELECT t.{key} AS row_id, 0 AS block, {empty} AS token, "
        f"0 AS often FROM {source} AS t WHERE 1 = 0"
    )
    columns = list(dict.fromkeys(term.cell.column for term in terms))
    read = [database.as_text(f"t.{database.identifier(column)}") for column in columns]
    counts = [(columns.index(term.cell.column), _counter(term)) for term in terms]
    written, last, full = 0, None, True
    while full:
        after = "" if last is None else f" WHERE t.{key} > {database.literal(last)}"
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
            if type(row) not in (int, str):
                raise ValueError(
                    f"Rows must be identified by whole numbers or strings, and {row!r} is neither."
                )
            last, spelled = row, database.literal(row)
            rows += [
                f"({spelled}, {block}, {database.string(token)}, {often})"
                for block, (place, count) in enumerate(counts)
                for token, often in count(texts[place]).items()
            ]
        for i in range(0, len(rows), ROWS):
            database.run(f"INSERT INTO {name} VALUES {', '.join(rows[i : i + ROWS])}")
        written += len(rows)
    return written


def _counter(term: views.TokensTerm) -> Callable[[str | None], Counter[str]]:
    """Return what counts the known tokens of a text."""
    split = dict(term.split)
    split["ngram_range"] = tuple(split["ngram_range"])
    tokens_of, known = splitter(**split), frozenset(term.tokens)

    def count(text: str | None) -> Counter[str]:
        return Counter(token for token in tokens_of(text) if token in known)

    return count
