"""Terms of single columns, as any program can add them up: the views of blocks of terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, final

import numpy as np

from naively.counting.axis import Level
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.terms.functions import Above, Line, OneOf, Step

if TYPE_CHECKING:
    from naively.data.columns import Cycle, Kind

# --- The cell of a table that a term reads -------------------------------------------------------


@final
class With(Frozen, eq=True):
    """What a number is combined with: another column of its kind."""

    operator: Literal["+", "-", "/"]
    column: str
    times: float  # a power of two, which the other is taken times


@final
class Cell(Frozen, eq=True):
    """What a term reads of a row: the cell of a column."""

    column: str
    # What the column held in training. Truths are 0 and 1, and times are seconds since 1970, in
    # UTC, wherever a number is read of them.
    kind: Kind
    # Which part of a time is read, as a string: "00" to "23", "Monday", "January".
    part: Cycle | None = None
    log: bool = False  # whether the natural logarithm of the number is read
    # Above which number the cell is 1, and else 0; by default it is what it is.
    above: float | None = None
    # What the number is combined with. It is missing where one of both is, or where it is divided
    # by 0.
    combined: With | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (self.column,) if self.combined is None else (self.column, self.combined.column)

    @property
    def edge(self) -> Floats:
        """The number from which on the cell is 1, (1,)."""
        assert self.above is not None
        return np.array([np.nextafter(self.above, np.inf)])

    @property
    def plain(self) -> Cell:
        """The cell as it is, whatever is 1 of it."""
        return replace(self, above=None)


F_co = TypeVar("F_co", bound=Line | Step | Above | OneOf, covariant=True)


@final
class OfCell(Frozen, Generic[F_co], eq=True):
    """A function of a cell; a level is None if the model no longer has it."""

    cell: Cell
    # The function. A line and a step are 0 where the cell is missing.
    function: F_co
    # The side of a missing cell: 1 if the condition holds for it, 0 if not, 2 if neither.
    missing: int = 0


# --- Views: what a column, or a few together, add to the score of each class ---------------------
#
# A view reads cells of the table as they are and adds numbers that are given, so that its few
# lines can be written in any language. Weights, the linear part, missing cells and length
# normalisation are in the numbers already.


@final
class PresenceTerm(Frozen):
    """A number for a cell that is there, and one for a cell that is missing; both (classes,)."""

    kind: ClassVar[TermKind] = "presence"
    cell: Cell
    there: Floats
    missing: Floats


@final
class BinsTerm(Frozen):
    """A number for each bin, which is how many of the ascending edges a number reaches.

    ``edges`` are of shape (bins - 1,), ``points`` of shape (bins, classes). A missing cell adds 0.
    """

    kind: ClassVar[TermKind] = "bins"
    cell: Cell
    edges: Floats
    points: Floats


@final
class LevelsTerm(Frozen):
    """A number for each level, and one for all levels that were never seen.

    ``points`` are of shape (levels + 1, classes), the last for what was never seen. A missing cell
    adds 0. Whole numbers, floats and truths that are equal are one level.
    """

    kind: ClassVar[TermKind] = "levels"
    cell: Cell
    levels: tuple[Level, ...]
    points: Floats


@final
class LineTerm(Frozen):
    """``(min(max(x, low), high) - centre) slope``, and 0 where the cell is missing.

    ``slope`` is of shape (classes,). A slope may be -inf: it adds 0 where the number is 0.
    """

    kind: ClassVar[TermKind] = "line"
    cell: Cell
    low: float
    high: float
    centre: float
    slope: Floats


@final
class ParabolaTerm(Frozen):
    """``-half_precision (x - mean)²``, and 0 where the cell is missing; both (classes,).

    A distance from the mean is at most 1e140, and what is taken off a score at most 1e290.
    """

    kind: ClassVar[TermKind] = "parabola"
    cell: Cell
    mean: Floats
    half_precision: Floats


@final
class TokensTerm(Frozen):
    """The tokens of a text: each adds a number for each time that it comes, or once."""

    kind: ClassVar[TermKind] = "tokens"
    cell: Cell  # a column of texts
    # How a text is split, as the keyword arguments of `Text`: "analyzer", "ngram_range",
    # "lowercase", "stop_words" and "max_characters".
    split: Mapping[str, Any]
    binary: bool  # whether a token counts once in a text
    # The sum is divided by this power of how many known tokens are counted, or of 1 if none.
    length_power: float
    there: Floats  # (classes,): what every text adds that is not missing
    tokens: list[str]  # the known tokens
    points: Floats  # (tokens, classes): what each adds


@final
class ProductTerm(Frozen):
    """``min(max(a b / scale, -most), most) slope``, a product of two columns; slope (classes,)."""

    kind: ClassVar[TermKind] = "product"
    a: OfCell[Line | Step]
    b: OfCell[Line | Step]
    scale: float
    most: float
    slope: Floats


@final
class RuleTerm(Frozen):
    """A number for each set of conditions that hold.

    ``points`` are of shape (cells, classes). A row's number among them is the sum of its side of
    each condition times its stride: the product of how many sides those before have, 2 or 3.
    """

    kind: ClassVar[TermKind] = "rule"
    conditions: tuple[OfCell[Above | OneOf], ...]
    points: Floats

    @property
    def strided(self) -> list[tuple[OfCell[Above | OneOf], int]]:
        """The conditions, each with its stride."""
        number = (of.function.number for of in self.conditions)
        return [*zip(self.conditions, accumulate(number, mul, initial=1), strict=False)]


OneColumn: TypeAlias = PresenceTerm | BinsTerm | LevelsTerm | LineTerm | ParabolaTerm | TokensTerm
AnyTerm: TypeAlias = OneColumn | ProductTerm | RuleTerm
TermKind: TypeAlias = Literal[
    "presence", "bins", "levels", "line", "parabola", "tokens", "product", "rule"
]


def cells_of(term: AnyTerm) -> tuple[Cell, ...]:
    """Return the different cells that a term reads."""
    match term:
        case ProductTerm():
            return term.a.cell, term.b.cell
        case RuleTerm():
            return tuple(dict.fromkeys(of.cell for of in term.conditions))
        case _:
            return (term.cell,)


@final
class Readable(Frozen, eq=True):
    """What other programs read of the columns of a block."""

    what: str  # an event model, and its columns, as an error names them
    cells: Sequence[Cell]  # the cell of each column
    # The levels of each column; nothing of numbers and texts.
    levels: Sequence[tuple[Level, ...]] = ()
    # For each of the columns that say whether others are missing, the levels of a cell that is
    # there (-1 where that says nothing) and of a missing one; nothing of a column that never is.
    presence: Sequence[tuple[int, ...]] = ()
    # How a text is split, and its known tokens; what it adds is put in.
    text: TokensTerm | None = None


def refused(what: str, why: str) -> ValueError:
    """Return the error that columns cannot be read by other programs."""
    return ValueError(
        f"The {what} cannot be written as a scorecard: {why}. Choose another event model for it, "
        "such as the default."
    )
