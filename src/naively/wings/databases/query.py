"""A model as a query that scores the rows of a table in its database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final, get_args

import numpy as np

from naively.inspect.scorecard import Scorecard
from naively.kernels.reference import Floats
from naively.kernels.tokens import splitter
from naively.terms.views import TokensTerm
from naively.wings.databases.databases import ROW, TABLE, Dialect, Table, database_of, dialect_of
from naively.wings.databases.query_terms import (
    WEIGHTS,
    LookUpTable,
    Pieces,
    pieces_of,
    selected,
    summed,
)

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


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """What a query is asked for; `naively.NaiveBayes.to_sql` says what each part means."""

    table: Table
    dialect: str = "duckdb"
    probabilities: bool = False
    keep: Sequence[str] | None = None
    weights: Where = "auto"
    weights_table: Table = WEIGHTS
    tokens: Table | None = None
    row_id: str | None = None
    least: float | None = None  # the probability from which on a class is in a row's set


def score_query(card: Scorecard, asked: QueryOptions) -> Query:
    """Return a query that selects a table's columns and, beside them, the model's answers."""
    if asked.weights not in get_args(Where):
        raise ValueError(f"weights must be 'auto', 'inline' or 'table', got {asked.weights!r}.")
    _check_texts(card, asked)
    dialect = dialect_of(asked.dialect)
    joins = asked.weights == "table" or dialect.joins_levels
    pieces, start, differences = pieces_of(card, dialect, joins=joins)
    return _Steps(card, asked, dialect, pieces, start, differences).query()


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
    texts = [term.cell.column for term in card.every(TokensTerm)]
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


@dataclass(frozen=True, eq=False)
class _Steps:
    """Writes a query as steps, each a table that the next one selects from."""

    card: Scorecard
    asked: QueryOptions
    dialect: Dialect
    pieces: Pieces
    start: Floats
    differences: bool

    @property
    def weights(self) -> LookUpTable:
        asked, pieces = self.asked, self.pieces
        size = sum(len(weight.levels) for weight in pieces.weights)
        large = asked.weights == "auto" and size > MOST_INLINE
        in_table = size > 0 and (asked.weights == "table" or large)
        of_database = self.dialect, asked.weights_table, asked.tokens
        return LookUpTable(pieces.weights, len(self.start), *of_database, in_table=in_table)

    def query(self) -> Query:
        quoted = self.dialect.identifier
        table = self.dialect.table(self.asked.table)
        weights = self.weights
        steps: list[str] = []
        if self.pieces.weights and not weights.in_table:
            steps.append(weights.given())
        cells = dict(self.pieces.cells)
        if self.asked.row_id is not None:
            cells[ID] = f"{TABLE}.{quoted(self.asked.row_id)}"
        before = f"{table} AS {TABLE}"
        for name, what in self._steps(cells, before):
            steps.append(f"{quoted(name)} AS (\n  {what}{self.dialect.once}\n)")
        last = self._last(cells, table)
        query = self.dialect.finished("WITH " + ",\n".join(steps) + f"\n{last}")
        return Query(query, weights.setup() if weights.in_table else ())

    def _steps(self, cells: Mapping[str, str], before: str) -> list[tuple[str, str]]:
        quoted, carried = self.dialect.identifier, self._carried
        every = zip(self.start.tolist(), self.pieces.scores, strict=True)
        scores = {
            SCORE.format(i): summed([self.dialect.number(start), *pieces])
            for i, (start, pieces) in enumerate(every)
        }
        k = len(self.card.classes)
        most = {MOST: self.dialect.greatest(*(self._of_class(c) for c in range(k)))}
        shares = {SHARE.format(c): self._share(c) for c in range(k)}
        total = {TOTAL: summed([f"x.{quoted(SHARE.format(c))}" for c in range(k)])}
        made = [
            ("naively cells", [self._first(), *selected(self.dialect, cells)], before),
            ("naively places", [carried([*cells]), *selected(self.dialect, self.pieces.found)], ""),
            (
                "naively scores",
                [carried([]), *selected(self.dialect, scores)],
                self.weights.joins(self.pieces.x(ID)),
            ),
            ("naively most", [carried([*scores]), *selected(self.dialect, most)], ""),
            ("naively shares", [carried([*scores, MOST]), *selected(self.dialect, shares)], ""),
            (
                "naively total",
                [carried([*scores, MOST, *shares]), *selected(self.dialect, total)],
                "",
            ),
        ]
        steps, previous = [], ""
        for name, what, source in made:
            read = source if source == before else f"{quoted(previous)} AS x{source}"
            steps.append((name, f"SELECT {', '.join(filter(None, what))}\n  FROM {read}"))
            previous = name
        return steps

    def _first(self) -> str:
        if self.asked.keep is None:
            return self.dialect.first(self.card.columns)
        columns = [f"{TABLE}.{self.dialect.identifier(name)}" for name in self.asked.keep]
        return ", ".join(selected(self.dialect, {KEPT.format(i): n for i, n in enumerate(columns)}))

    def _carried(self, own: Sequence[str]) -> str:
        """Return what a step hands on: the kept columns, and some that are naively's own."""
        x = self.pieces.x
        if self.asked.keep is not None:
            names = [*(KEPT.format(i) for i in range(len(self.asked.keep))), *own]
            return ", ".join(x(name) for name in names)
        if self.dialect.carries == "x.*":
            return "x.*"
        return ", ".join([self.dialect.carries, *(x(name) for name in own)])

    def _last(self, cells: Mapping[str, str], table: str) -> str:
        quoted, x = self.dialect.identifier, self.pieces.x
        k = len(self.card.classes)
        if self.asked.keep is None:
            scores = [SCORE.format(i) for i in range(len(self.start))]
            own = [*cells, *self.pieces.found, *scores, MOST, *map(SHARE.format, range(k)), TOTAL]
            kept, joined = self.dialect.last(own, table, self.card.columns)
        else:
            kept = ", ".join(
                f"{x(KEPT.format(i))} AS {quoted(name)}" for i, name in enumerate(self.asked.keep)
            )
            joined = ""
        least = self.asked.least
        names = answers(self.card, probabilities=self.asked.probabilities, sets=least is not None)
        self._check_names(names)
        one = self.dialect.number(1.0)
        values = [self._label()]
        if self.asked.probabilities:
            values += [f"{x(SHARE.format(c))} / {x(TOTAL)}" for c in range(k)]
        else:
            values += [f"{one} / {x(TOTAL)}"]
        if least is not None:
            label, enough = self._label(), self.dialect.number(least)
            values += [  # it is probable enough, or the prediction
                f"({x(SHARE.format(c))} / {x(TOTAL)} >= {enough} OR {label} = {of})"
                for c, of in enumerate(self._labels)
            ]
        columns = [kept, *selected(self.dialect, dict(zip(names, values, strict=True)))]
        source = f"{quoted('naively total')} AS x{joined}"
        return f"SELECT {', '.join(filter(None, columns))}\nFROM {source}"

    def _check_names(self, names: Sequence[str]) -> None:
        kept = self.card.columns if self.asked.keep is None else self.asked.keep
        known = {name.casefold() for name in kept}
        taken = next((name for name in names if name.casefold() in known), None)
        if taken is not None:
            raise ValueError(
                f"The table has a column {taken!r}, and so has the answer: give keep=, the columns "
                "to select beside the answer, without it."
            )

    def _of_class(self, c: int) -> str:
        """Return the score of a class, in the steps that follow."""
        if not self.differences:
            return self.pieces.x(SCORE.format(c))
        return self.pieces.x(SCORE.format(c - 1)) if c else self.dialect.number(0.0)

    def _share(self, c: int) -> str:
        """Return the probability of a class, relative to the most probable one."""
        most = self.pieces.x(MOST)
        share = self.dialect.exp(f"({self._of_class(c)} - {most})")
        if self.differences:
            return share
        prior = np.exp(self.card.log_prior - self.card.log_prior.max())
        relative = self.dialect.number(float(prior[c]))
        return f"CASE WHEN {self._impossible()} THEN {relative} ELSE {share} END"

    def _impossible(self) -> str:
        return f"{self.pieces.x(MOST)} = {self.dialect.number(-np.inf)}"

    @property
    def _labels(self) -> list[str]:
        return [self.dialect.literal(label) for label in self.card.classes.tolist()]

    def _label(self) -> str:
        """Return the most probable class, the first of several."""
        most, labels = self.pieces.x(MOST), self._labels
        if len(labels) == 1:
            return labels[0]
        cases = [
            f"WHEN {self._of_class(c)} = {most} THEN {label}" for c, label in enumerate(labels)
        ]
        if not self.differences:
            cases.insert(
                0, f"WHEN {self._impossible()} THEN {labels[int(self.card.log_prior.argmax())]}"
            )
        return f"CASE {' '.join(cases[:-1])} ELSE {labels[-1]} END"


ID, MOST, TOTAL = "naively id", "naively most", "naively total"
SCORE, SHARE, KEPT = "naively s{}", "naively e{}", "naively k{}"  # of a class, or a column


assert ROW not in (ID, MOST, TOTAL)


# --- The tokens of the texts of a table, written to another table of the database ----------------


BATCH = 1_000  # rows of texts that are read at a time
ROWS = 500  # tokens that one statement inserts


def write_tokens(card: Scorecard, connection: Any, table: Table, row_id: str, tokens: Table) -> int:
    """Make the table of tokens, and fill it from the texts of another; return their number."""
    terms = card.every(TokensTerm)
    if not terms:
        raise ValueError("The model reads no texts, so that there are no tokens to write.")
    database = database_of(connection)
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
                    f"Rows must be told apart by whole numbers or strings, and {row!r} is none."
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


def _counter(term: TokensTerm) -> Callable[[str | None], Counter[str]]:
    """Return what counts the known tokens of a text."""
    split = dict(term.split)
    split["ngram_range"] = tuple(split["ngram_range"])
    tokens_of, known = splitter(**split), frozenset(term.tokens)

    def count(text: str | None) -> Counter[str]:
        return Counter(token for token in tokens_of(text) if token in known)

    return count
