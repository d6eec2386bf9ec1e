"""What is counted of a column in a database: a grouped select, one branch of the query.

Cells of numbers, different values, parts of times, and exact sums each have a class here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

from naively.engines.sql.bits import (
    MANTISSA,
    SQUARE_BITS,
    Range,
    bits_of,
    cell_of,
    parts_of_sums,
)
from naively.engines.sql.source import HALF, Source

DAY, HOUR = 86_400, 3_600  # seconds
SMALL = 20  # bits of weights that whole numbers are multiplied by
WHOLE_BITS = 63


@dataclass(frozen=True)
class Select:
    """The pieces of a grouped select; a piece that is None is NULL.

    Parameters
    ----------
    inner : str
        The expression that the others name ``v``.
    bits : str, optional
        The expression, of ``v``, that the others name ``b``.
    there : str
        Which rows are counted.
    key, text, number : str, optional
        What rows are grouped by: a whole number, a string or a float64.
    least : str, optional
        What stands in the place of ``number`` without being grouped by.
    sums : tuple of str
        Further sums.
    """

    inner: str
    there: str
    bits: str | None = None
    key: str | None = None
    text: str | None = None
    number: str | None = None
    least: str | None = None
    sums: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part(ABC):
    """What is counted of one column."""

    column: str

    @abstractmethod
    def select(self, source: Source) -> Select:
        """Return what the query asks of this column."""


@final
@dataclass(frozen=True)
class CellCounts(Part):
    """How many numbers are in each cell of the grid.

    Parameters
    ----------
    column : str
        The column.
    shift : int
        How many low bits the cells' keys have lost.
    sizes : pair of float, optional
        The least and greatest size of the numbers.
    """

    shift: int
    sizes: Range | None = None

    def select(self, source: Source) -> Select:
        dialect = source.dialect
        return Select(
            source.number(self.column),
            f"NOT {dialect.is_missing('v')}",
            bits=bits_of(dialect, "ABS(v)", self.sizes),
            key=cell_of("v", "b", self.shift),
        )


@final
@dataclass(frozen=True)
class Values(Part):
    """How often each different value came: levels, truths, texts."""

    def select(self, source: Source) -> Select:
        column, plain = source.columns[self.column], source.plain(self.column)
        if column.kind == "string":
            return Select(plain, "v IS NOT NULL", text="v")
        if column.whole:
            return Select(plain, "v IS NOT NULL", key="v")
        missing = source.dialect.is_missing("v")
        return Select(source.number(self.column), f"NOT {missing}", number="v")


@final
@dataclass(frozen=True)
class TimeParts(Part):
    """How often each day or each hour of the day came, and a time in it.

    Parameters
    ----------
    column : str
        The column of times.
    hours : bool
        Whether hours are counted, rather than days, which have a weekday and a month.
    """

    hours: bool

    def select(self, source: Source) -> Select:
        v = source.number(self.column)
        whole = f"CAST(FLOOR(v / {HOUR if self.hours else DAY}) AS BIGINT)"
        key = f"((({whole}) % 24) + 24) % 24" if self.hours else whole
        return Select(v, "v IS NOT NULL", key=key, least="MIN(v)")


@final
@dataclass(frozen=True)
class Totals(Part):
    """The sums of numbers and of their squares, and the extremes, by exponent.

    Parameters
    ----------
    column : str
        The column.
    squares : bool
        Whether squares are added up too.
    threshold : float, optional
        Numbers above it count as 1, and others as 0.
    sizes : pair of float, optional
        The least and greatest size of the numbers.
    """

    squares: bool
    threshold: float | None = None
    sizes: Range | None = None

    def select(self, source: Source) -> Select:
        dialect, v = source.dialect, source.number(self.column)
        sizes = self.sizes
        if self.threshold is not None:
            limit, one, zero = map(dialect.number, (self.threshold, 1.0, 0.0))
            above = f"CASE WHEN {v} > {limit} THEN {one} ELSE {zero} END"
            v, sizes = f"CASE WHEN NOT {dialect.is_missing(v)} THEN {above} END", (1.0, 1.0)
        size, large = dialect.floor("ABS(v)"), dialect.number(2.0**53)
        odd = f"MAX(CASE WHEN ABS(v) < {large} THEN CASE WHEN {size} <> ABS(v) THEN v END END)"
        return Select(
            v,
            f"NOT {dialect.is_missing('v')}",
            bits=bits_of(dialect, "ABS(v)", sizes),
            key=cell_of("v", "b", MANTISSA),
            least="MIN(v)",
            sums=("MAX(v)", odd, *self._sums(source)),
        )

    def _sums(self, source: Source) -> list[str]:
        if not sums_are_exact(source):
            w = "" if source.weight is None else "w * "
            square = f"SUM({w}v * v)" if self.squares else "NULL"
            return [f"SUM({w}v)", square]
        w = "" if source.weight is None else f" * {source.dialect.floor('w')}"
        values, squares = parts_of_sums("b")
        asked = [f"SUM(({part}){w})" for part in values]
        if self.squares:
            return asked + [f"SUM(({part}){w})" for part in squares]
        return asked + ["NULL"] * len(squares)


def sums_are_exact(source: Source) -> bool:
    """Whether sums of numbers are whole numbers that no database rounds or overflows.

    They are not where weights are fractions or large, nor of very many rows in a database whose
    sums have 64 bits.
    """
    weighing = source.weighing
    if weighing is not None and not (weighing.whole and weighing.most < 2**SMALL):
        return False
    most = max(1.0, weighing.most if weighing else 1.0)
    return source.dialect.sums_grow or source.n_rows * most < 2 ** (WHOLE_BITS - SQUARE_BITS)


def written(source: Source, parts: list[Part]) -> str:
    """Return the query that counts the classes and all parts.

    Its columns are the number of the part (0 of the classes), the label, a whole number, a string
    and a number that the rows have in common, the count (with weights, two sums that are a count),
    and further sums of ``Totals``: the greatest number, one that is not whole, and the sums.
    """
    dialect, zero = source.dialect, source.dialect.number(0.0)
    exact = sums_are_exact(source)
    width = 2 + (8 if exact else 2) if any(isinstance(part, Totals) for part in parts) else 0
    whole = "CAST(0 AS BIGINT)"
    typed = [zero, zero, *[whole if exact else zero] * (width - 2)] if width else []
    label = source.plain(source.target)
    w = None
    if source.weighing is not None and source.weight is not None:
        w = source.number(source.weight)
        of = dialect.floor(f"(w * {dialect.number(source.weighing.scale)})")
        counts = [f"SUM({of} >> {HALF})", f"SUM({of} & {(1 << HALF) - 1})"]
    else:
        counts = ["COUNT(*)"]
    inner = [f"{label} AS y", *([f"{w} AS w"] if w else [])]
    first = ["0", "y", whole, dialect.as_text("''"), zero, *counts, *typed]
    of_classes = f"FROM (SELECT {', '.join(inner)} FROM {source.name}) AS r GROUP BY y"
    branches = [f"SELECT {', '.join(first)} {of_classes}"]
    for number, part in enumerate(parts, 1):
        asked = part.select(source)
        grouped = [asked.key, asked.text, asked.number]
        by = [2, *(3 + i for i, piece in enumerate(grouped) if piece is not None)]
        pieces = [asked.key, asked.text, asked.number or asked.least]
        shown = ["NULL" if piece is None else piece for piece in pieces]
        sums = [*asked.sums, *["NULL"] * (width - len(asked.sums))]
        there = f"{asked.there} AND w > 0" if w else asked.there
        rows = f"SELECT {', '.join([*inner, f'{asked.inner} AS v'])} FROM {source.name}"
        if asked.bits is not None:
            rows = f"SELECT r.*, {asked.bits} AS b FROM ({rows}) AS r{dialect.once}"
        branches.append(
            f"SELECT {', '.join([str(number), 'y', *shown, *counts, *sums])} FROM ({rows}) AS r "
            f"WHERE {there} GROUP BY {', '.join(map(str, by))}"
        )
    return " UNION ALL ".join(branches)
