"""Rules: steps of one column and decision tables of a few, where held-out rows gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level, Name, title
from naively.counting.block import Block, BlockKey, Codes, Dense
from naively.counting.labels import Labels
from naively.counting.leave_one_out import Part
from naively.events.histogram import between
from naively.fitting.functions import COLUMNS, ROUNDING, commonest
from naively.fitting.leave_one_out import Said, Third
from naively.fitting.limits import MOST_RULES, Limits
from naively.kernels import dispatch
from naively.kernels.reference import Floats
from naively.kernels.rules import Grown
from naively.schema.schema import Group
from naively.terms.functions import (
    NEITHER,
    Above,
    Condition,
    LinearPart,
    OneOf,
    Rule,
    Slopes,
    Step,
    Term,
    There,
)

# --- Columns, cut into bins that conditions are made of ------------------------------------------
#
# A number that is more of the rows than a bin should hold has a bin of its own; the others share
# what is left about equally. Of levels the commonest have a bin each.


BINS = 48  # of a column of numbers
LEVELS = 32  # of a column of categories that have a bin; all others share one
SEQUENCE = 50  # whole numbers, none twice, that are taken for an identifier


@dataclass(frozen=True, eq=False)
class Cut:
    """Columns of sampled rows, cut into bins.

    Parameters
    ----------
    parts : list of (BlockKey, Name)
        The columns, and the groups that they are in.
    bins : list of ndarray or tuple of levels
        The edges of each column of numbers, ascending, or the levels that have a bin.
    codes : ndarray of uint8, of shape (columns, rows)
        The bin of each cell; the last of a column is of missing cells.
    monotone : mapping of str to {1, -1}
        Columns with which the odds of the second class may only rise, or fall.
    passed_over : int
        How many columns there were beside them, which say less.
    """

    parts: list[tuple[BlockKey, Name]]
    bins: list[Floats | tuple[Level, ...]]
    codes: NDArray[np.uint8]
    monotone: Mapping[str, int] = field(default_factory=dict)
    passed_over: int = 0

    @classmethod
    def of(cls, columns: Sequence[tuple[Group, Block]], said: Said, labels: Labels) -> Cut:
        """Cut the columns that conditions may be of: if there are many, those that say most."""
        parts = [(group.key, name) for group, block in columns for name in block.axis.columns]
        # In one order, whatever that of the columns is: of equal columns the first is taken.
        order = sorted(range(len(parts)), key=lambda at: str(Part(*parts[at])))
        if len(order) > COLUMNS:
            most = said()
            order.sort(key=lambda at: -most.get(Part(*parts[at]), 0.0))
        some = frozenset(order[:COLUMNS])
        cut: dict[int, tuple[Floats | tuple[Level, ...], NDArray[np.uint8]]] = {}
        first = 0
        for _, block in columns:
            of_block = [j for j in range(len(block.axis.columns)) if first + j in some]
            for j, bins, codes in _bins(block, of_block, labels.weight):
                if len(bins):
                    cut[first + j] = bins, codes
            first += len(block.axis.columns)
        kept = [at for at in order if at in cut]
        every = np.empty((len(kept), len(labels)), np.uint8)
        for row, at in zip(every, kept, strict=True):
            row[:] = cut[at][1]
        passed_over = max(0, len(parts) - COLUMNS)
        return cls(
            [parts[at] for at in kept],
            [cut[at][0] for at in kept],
            every,
            passed_over=passed_over,
        )

    def rows(self, column: int, labels: Labels) -> Floats:
        """Return how many rows are in each bin of a column, (bins,)."""
        size = self.sizes[column]
        return np.bincount(self.codes[column], labels.weights, size).astype(np.float64)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many bins each column has."""
        return np.array([len(bins) + 2 for bins in self.bins], np.int64)

    @property
    def ordered(self) -> NDArray[np.bool_]:
        """Which columns are of numbers."""
        return np.array([isinstance(bins, np.ndarray) for bins in self.bins], np.bool_)

    @property
    def signs(self) -> NDArray[np.int8]:
        """How the odds of the second class may change with each column: 0 either way."""
        found = [self.monotone.get(title(name), 0) for _, name in self.parts]
        return np.array(found, np.int8)

    def without_truths(self) -> Cut:
        """Return the columns of more than two values, of which a line says not all."""
        return self._take([at for at, bins in enumerate(self.bins) if len(bins) > 1])

    def within(self, limits: Limits) -> Cut:
        """Return the columns that interactions may be of, rising or falling as asked."""
        some = [at for at, (_, name) in enumerate(self.parts) if limits.may_be(name)]
        return replace(self._take(some), monotone=limits.monotone)

    def _take(self, some: list[int]) -> Cut:
        parts, bins = [self.parts[at] for at in some], [self.bins[at] for at in some]
        return replace(self, parts=parts, bins=bins, codes=self.codes[some])


def _bins(
    block: Block, columns: Sequence[int], weight: Floats | None
) -> Iterator[tuple[int, Any, NDArray[np.uint8]]]:
    """Yield columns of a block, the edges or the levels of each, and the bin of each row."""
    if isinstance(block, Codes):
        for j in columns:
            yield j, *_levels(block, j, weight)
        return
    assert isinstance(block, Dense)
    values = np.asarray(block.values[:, columns], np.float64)
    edges = [_edges(x, weight) for x in values.T]
    first = np.cumsum([0, *map(len, edges)], dtype=np.int64)
    codes = dispatch.find_bins(values, np.concatenate([np.empty(0), *edges]), first)
    for at, (j, of_column) in enumerate(zip(columns, edges, strict=True)):
        code = codes[:, at]
        yield j, of_column, np.where(code < 0, len(of_column) + 1, code).astype(np.uint8)


def _edges(x: Floats, weight: Floats | None) -> Floats:
    """Return the edges of a column of numbers."""
    missing = np.isnan(x)
    if missing.any():
        x, weight = x[~missing], None if weight is None else weight[~missing]
    return np.empty(0) if _are_in_sequence(x, weight) else edges_of(x, weight, BINS)


def _are_in_sequence(x: Floats, weight: Floats | None) -> bool:
    """Whether numbers are like an identifier: whole, none twice, and about as many as their range.

    A rule about an identifier says nothing of other rows.
    """
    rows = len(x) if weight is None else float(weight.sum())
    if len(x) < SEQUENCE or not (x == np.rint(x)).all() or np.ptp(x) > 2 * rows:
        return False
    return len(np.unique(x)) == len(x)


def edges_of(x: Floats, weight: Floats | None, bins: int) -> Floats:
    """Return edges between numbers, so that frequent ones stand alone and others share the rest.

    Parameters
    ----------
    x : ndarray of shape (numbers,)
        None of them NaN.
    weight : ndarray of shape (numbers,), optional
        What each weighs.
    bins : int
        The most bins.

    Examples
    --------
    >>> edges_of(np.array([0.0] * 90 + [*range(1, 11)]), None, 6)
    array([0.5, 2.5, 4.5, 6.5, 8.5])
    """
    if weight is None:
        x = np.sort(x)
        first = np.flatnonzero(np.append(True, x[1:] > x[:-1]))[: len(x)]
        value, count = x[first], np.diff(np.append(first, len(x))).astype(np.float64)
    else:
        value, of = np.unique(x, return_inverse=True)
        count = np.bincount(of, weight, len(value)).astype(np.float64)
    begins = begins_of(count, bins)
    begins[:1] = False
    at = np.flatnonzero(begins)
    return between(value[at - 1], value[at])


def begins_of(count: Floats, bins: int) -> NDArray[np.bool_]:
    """Return with which of ascending numbers a bin begins, (numbers,), by how often each came.

    A number of more rows than a bin should hold has a bin of its own, and the others share what is
    left.

    Examples
    --------
    >>> begins_of(np.array([90.0, 1, 1, 1, 1, 1, 5]), 4)
    array([ True,  True, False, False,  True, False,  True])
    """
    if len(count) <= bins:
        return np.ones(len(count), np.bool_)
    alone, left = np.zeros(len(count), np.bool_), bins
    for at in np.argsort(-count, kind="stable")[: bins // 2].tolist():
        size = count[~alone].sum() / left
        if count[at] < size * (1 - ROUNDING):
            break
        alone[at], left = True, left - 1
    others = np.where(alone, 0.0, count)
    before = np.cumsum(others) - others
    while True:
        number = np.floor(before / max(others.sum() / left, ROUNDING) + ROUNDING)
        begins = np.append(True, np.diff(number) > 0) | alone
        begins[1:] |= alone[:-1]
        if begins.sum() <= max(bins, 2 * alone.sum() + 1):
            return begins
        left -= 1  # where a number that is alone is in the middle of a bin there are two


def _levels(block: Codes, column: int, weight: Floats | None) -> tuple[Any, NDArray[np.uint8]]:
    """Return the commonest levels of a column, and the bin of each row."""
    levels = block.axis.levels[column]
    code = block.codes[:, column].astype(np.int64)
    best, _ = commonest(block, column, weight, LEVELS)
    bin_ = np.full(len(levels) + 1, len(best))  # then those that have none
    bin_[best] = np.arange(len(best))
    codes = np.where(code < 0, len(best) + 1, bin_[np.clip(code, 0, len(levels))])
    return tuple(levels[at] for at in best), codes.astype(np.uint8)


# --- Growing rules: as many as lower the log loss of held-out rows -------------------------------


NUMBERS = 20_000  # in the cells of all tables, at most
WORK = 500_000_000  # rows × columns × classes × tables, at most,
FEW = 5  # tables: of which none are tried where there may be fewer for that
PATIENCE = 10  # tables that lower no log loss of held-out rows, after which the search ends
RIDGE = 3.0  # added to its curvature
IN_BIN = 5.0  # rows on each side of a condition
HALF = 0.5 + 1e-9  # of the rows
WORTH = 3.0  # nats that rules must save on the held-out rows; chance saves less


class Shape(NamedTuple):
    """How large a decision table may be, and the share of a Newton step that a cell's value is.

    Where there may be fewer tables than ``MOST_RULES``, each has a larger share.
    """

    columns: int
    conditions: int
    rate: float
    most: int = MOST_RULES


LARGEST_RATE = 0.8
STEPS, TABLES = Shape(columns=1, conditions=2, rate=0.5), Shape(columns=3, conditions=4, rate=0.3)


class Growth(NamedTuple):
    """What was grown, if anything, and the log loss of the held-out rows with it, in nats."""

    grown: Grown | None
    after: float


def grow(cut: Cut, thirds: Sequence[Third], joint: Floats, labels: Labels, shape: Shape) -> Growth:
    """Grow as many rules on all rows as lower the log loss of held-out rows most."""
    before, rounds = sum(third.loss(labels) for third in thirds), _most(cut, labels, shape)
    nothing = Growth(None, before)
    if not rounds:
        return nothing
    curves = []
    for third in thirds:
        held = np.zeros(len(third.joint), np.bool_)
        held[third.held] = True
        grown = _grow(cut, third.joint, labels, held, shape, rounds, PATIENCE)
        curves.append(grown.losses[: grown.rounds + 1])
    longest = max(map(len, curves))
    each = [np.pad(of, (0, longest - len(of)), mode="edge") for of in curves]
    loss = np.sum(each, axis=0)
    best = int(np.argmin(loss))
    # As of slopes: which columns say most was found on all rows, those held out too.
    enough = WORTH + cut.passed_over / len(thirds[0].joint)
    if loss[best] >= loss[0] - enough:
        return nothing
    none = np.zeros(len(joint), np.bool_)
    grown = _grow(cut, joint, labels, none, shape, best, 0)
    return Growth(grown, before * float(loss[best] / loss[0]))


def _grow(
    cut: Cut,
    joint: Floats,
    labels: Labels,
    held: NDArray[np.bool_],
    shape: Shape,
    rounds: int,
    patience: int,
) -> Grown:
    n = len(joint)
    weight = labels.weights[:n].astype(np.float64)  # of a sample it is one row at a mean
    return Grown(
        *dispatch.grow_rules(
            np.ascontiguousarray(cut.codes[:, :n]),
            cut.sizes,
            cut.ordered,
            joint,
            labels.codes[:n].astype(np.int32),
            weight * (n / weight.sum()),
            held,
            cut.signs,
            rounds=rounds,
            patience=patience,
            conditions=shape.conditions,
            columns=shape.columns,
            rate=min(LARGEST_RATE, shape.rate * MOST_RULES / _most(cut, labels, shape)),
            ridge=RIDGE,
            rows=IN_BIN,
        )
    )


def _most(cut: Cut, labels: Labels, shape: Shape) -> int:
    """Return how many tables there may be; 0 where it would take long to grow a few."""
    k = 1 if labels.k == 2 else labels.k
    cells, work = k * 2**shape.conditions, len(labels) * len(cut.parts) * k
    if not work or min(NUMBERS // cells, WORK // work) < FEW:
        return 0
    return int(min(shape.most, NUMBERS // cells, WORK // work))


# --- What was grown, as the linear part of a model -----------------------------------------------


Asked: TypeAlias = "Sequence[tuple[int, int]]"  # the column and the mask of each condition


def with_rules(
    linear: LinearPart, cut: Cut, grown: Grown, labels: Labels, shape: Shape
) -> LinearPart:
    """Return a linear part with what was grown: tables of one column are steps of that column."""
    k = labels.k
    of = {term: np.array(slopes) for term, slopes in linear.of.items()}
    intercept = np.array(linear.intercept) if linear.intercept else np.zeros(k)
    rules = {rule: np.array(points) for rule, points in linear.rules.items()}
    steps: dict[int, Floats] = {}  # by column and bin
    for at in range(grown.rounds):
        columns = grown.columns[at]
        used = columns >= 0
        some, masks = columns[used].tolist(), grown.masks[at][used].tolist()
        points = _by_class(grown.values[at, : 2 ** len(some)])
        if len(set(some)) == 1:
            size = cut.sizes[some[0]]
            cell = np.zeros(size, np.int64)
            for depth, mask in enumerate(masks):
                cell |= np.array([mask >> b & 1 for b in range(size)]) << depth
            steps[some[0]] = steps.get(some[0], 0.0) + points[cell]
            continue
        asked = [*zip(some, masks, strict=True)]
        conditions, flips = zip(*(_condition(cut, *of, labels) for of in asked), strict=True)
        flipped = sum(flip << depth for depth, flip in enumerate(flips))
        rule, points = Rule(conditions), points[np.arange(len(points)) ^ flipped]
        rules[rule] = rules.get(rule, 0.0) + _whole(points, rule, cut, asked, labels)
    for column, points in steps.items():
        rows = cut.rows(column, labels)
        if shape.columns == 1:
            points[-1] = 0  # what was missing has no value while such tables are grown
        points[rows == 0] = rows @ points / rows.sum()  # what was never seen is in no bin
        intercept = intercept + points[-1]
        for term, slope in _terms(cut, column, points[:-1] - points[-1]):
            of[term] = of.get(term, 0.0) + slope
    return LinearPart(
        {term: tuple(slope.tolist()) for term, slope in of.items()},
        linear.products,
        tuple(intercept.tolist()),
        linear.ridge,
        {rule: _plain(points) for rule, points in rules.items()},
    )


def _terms(cut: Cut, column: int, points: Floats) -> list[tuple[Term, Floats]]:
    """Return the terms of a column that add these points to its bins, (bins, classes)."""
    (group, name), bins = cut.parts[column], cut.bins[column]
    found: list[tuple[Term, Floats]] = []
    if isinstance(bins, np.ndarray):
        found.append((Term(group, name, There()), points[0]))
        for edge, step in zip(bins.tolist(), np.diff(points, axis=0), strict=True):
            found.append((Term(group, name, Above(edge)), step))
    else:
        found.append((Term(group, name, There()), points[-1]))
        for level, point in zip(bins, points[:-1] - points[-1], strict=True):
            found.append((Term(group, name, Step(level, 0.0, 1.0)), point))
    return [(term, step) for term, step in found if np.abs(step).max() > ROUNDING]


def _whole(points: Floats, rule: Rule, cut: Cut, asked: Asked, labels: Labels) -> Floats:
    """Return the points of all cells of a rule, (cells, classes), of those with no side of neither.

    What was never seen in a column adds the mean of what the rows add, whatever they have there.
    """
    number = [of.number for of in reversed(rule.conditions)]
    found = np.zeros((*number, points.shape[1]))
    found[(slice(2),) * len(number)] = points.reshape(*[2] * len(number), -1)
    masks: dict[int, dict[int, int]] = {}
    for axis, (column, mask) in enumerate(reversed(asked)):
        if number[axis] > 2:
            masks.setdefault(column, {})[axis] = mask
    for column, of_column in masks.items():
        rows = cut.rows(column, labels)
        place: list[int | slice] = [slice(None)] * len(number)
        mean: Floats | float = 0.0
        for at in np.flatnonzero(rows).tolist():
            for axis, mask in of_column.items():
                place[axis] = mask >> at & 1
            mean = mean + rows[at] / rows.sum() * found[tuple(place)]
        for axis in of_column:
            place[axis] = NEITHER
        found[tuple(place)] = mean
    return found.reshape(-1, points.shape[1])


def _condition(cut: Cut, column: int, mask: int, labels: Labels) -> tuple[Condition, int]:
    """Return a condition, and 1 where it holds for the cells that the mask leaves out.

    Of numbers, a cell that is missing where none was is on the side that most rows are on.
    """
    (group, name), bins, rows = cut.parts[column], cut.bins[column], cut.rows(column, labels)
    last = len(bins) + 1
    among = np.array([mask >> b & 1 for b in range(last + 1)])
    share = float(among @ rows / rows.sum())
    missing = int(among[last] if rows[last] else share > HALF)
    if isinstance(bins, np.ndarray):  # the mask is of the bins below an edge
        below = int(among[:last].sum())
        if below == last:  # all that is there, so that missing cells are apart
            return Condition(group, name, Above(-np.inf), missing), 0
        return Condition(group, name, Above(float(bins[below - 1])), 1 - missing), 1
    flip = int(among[last - 1])  # what has no bin of its own is not named, or is on no side
    sides = [sorted((of for b, of in enumerate(bins) if among[b] == at), key=repr) for at in (0, 1)]
    if rows[last - 1]:
        test = OneOf(tuple(sides[1 - flip]))
        return Condition(group, name, test, missing ^ flip if rows[last] else 0), flip
    test = OneOf(tuple(sides[1]), tuple(sides[0]))
    return Condition(group, name, test, missing if rows[last] else NEITHER), 0


def _by_class(values: Floats) -> Floats:
    """Return values, (cells, classes), that sum to 0 over the classes, from those of the kernel."""
    if values.shape[1] == 1:
        return np.asarray(values * [-0.5, 0.5])
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def _plain(points: Floats) -> tuple[Slopes, ...]:
    return tuple(map(tuple, points.tolist()))
