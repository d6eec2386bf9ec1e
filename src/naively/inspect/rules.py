"""Rules in words: which conditions of a model's decision tables hold, and what they add."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Level, Name, title, title_of_columns
from naively.counting.block import Batch, Block, relabelled
from naively.counting.labels import Label, Labels, plain_cell
from naively.data.columns import times_of
from naively.frozen import Frozen
from naively.kernels.reference import Floats
from naively.messages import many
from naively.model.model import Model
from naively.schema.schema import GroupKey
from naively.tabular import Tabular, crossed, picture
from naively.terms.functions import (
    NEITHER,
    Above,
    Combined,
    Condition,
    OneOf,
    Rule,
    RuleTerms,
    bins_of,
    by_class,
    by_columns,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LEVELS = 4  # that a condition names
LONG = 60.0  # seconds, of a duration whose parts of a second are not said
SHOWN = 8  # sets of columns, and conditions of each, that are printed


class Conditions(str):
    """What holds in some rows, in words: the conditions of rules."""

    __slots__ = ()

    @property
    def lines(self) -> str:
        """The same with a line for each column."""
        return self.replace(" and ", "\n")


def in_words(
    conditions: Sequence[Condition], holds: Sequence[int], missing: Sequence[Name] = ()
) -> Conditions:
    """Say what conditions leave possible, column by column: an interval, or some levels."""
    # holds: the side of each condition, 1 if it holds, 0 if not, or neither; missing: the columns
    # whose cells are missing
    by_column: dict[Name, list[Told]] = {}
    for condition, side in zip(conditions, holds, strict=True):
        by_column.setdefault(condition.column, []).append((condition, side))
    parts = [
        f"{title(name)} is missing" if name in missing else _of_column(name, by_column[name])
        for name in sorted(by_column, key=title)
    ]
    return Conditions(" and ".join(part for part in parts if part))


Told: TypeAlias = tuple[Condition, int]  # a condition, and its side


def _of_column(name: Name, of: Sequence[Told]) -> str:
    """Say the same of one column; nothing where every cell fits."""
    column = title(name)
    edges, sets = [], []  # one of both is empty
    for condition, side in of:
        match condition.test:
            case Above(edge):
                edges.append((edge, side))
            case OneOf(levels) if side != NEITHER:
                sets.append((levels, side))
    if edges:
        return _interval(column, edges, number_in_words(of[0][0].group, name))
    if not sets:
        return f"{column} was never seen"
    others = list(dict.fromkeys(level for levels, true in sets if not true for level in levels))
    named = [levels for levels, true in sets if true]
    if named:
        fit = [level for level in named[0] if all(level in levels for levels in named)]
        return f"{column} {_levels([level for level in fit if level not in others])}"
    return f"{column} {_levels(others, 'is not', 'not in') if others else 'is not missing'}"


def _interval(column: str, edges: list[tuple[float, int]], show: Callable[[float], str]) -> str:
    """Say from where on numbers fit conditions of a column, and where they end."""
    low = max((edge for edge, true in edges if true), default=-np.inf)
    high = min((edge for edge, true in edges if not true), default=np.inf)
    if high == -np.inf:
        return f"{column} is missing"
    of_low, low = _round(low)
    of_high, high = _round(high)
    over, under = ("<", ">") if of_low else ("<=", ">=")
    to = "<=" if of_high else "<"
    if low == -np.inf:
        return "" if high == np.inf else f"{column} {to} {show(high)}"
    if high == np.inf:
        return f"{column} {under} {show(low)}"
    return f"{show(low)} {over} {column} {to} {show(high)}"


def _levels(levels: Sequence[Level], one: str = "=", several: str = "in") -> str:
    """Say that a cell is one of some levels, or none of them."""
    if len(levels) == 1:
        return f"{one} {plain_cell(levels[0])}"
    named = [str(plain_cell(level)) for level in levels[:MOST_LEVELS]]
    more = f", … ({len(levels):,} in all)" if len(levels) > MOST_LEVELS else ""
    return f"{several} {{{', '.join(named)}{more}}}"


def _round(edge: float) -> tuple[bool, float]:
    """Return whether an edge is the next number above a rounder one, and the rounder of both."""
    # "More than 5" is from the number on that comes after 5.
    before = float(np.nextafter(edge, -np.inf)) if np.isfinite(edge) else edge
    is_next = len(repr(before)) < len(repr(edge))
    return is_next, before if is_next else edge


def number_in_words(group: GroupKey, name: Name) -> Callable[[float], str]:
    """Return how numbers of a column are said: times as such, and of two times a duration."""
    if group.kind != "time":
        return _number
    return _duration if isinstance(name, Combined) else _time


def _duration(seconds: float) -> str:
    try:
        return str(timedelta(seconds=round(seconds) if abs(seconds) >= LONG else seconds))
    except OverflowError:
        return f"{_number(seconds)} s"


def _number(x: float) -> str:
    return f"{x:.4g}" if abs(x) < 10_000 else f"{x:.0f}"


def _time(x: float) -> str:
    return str(plain_cell(times_of(np.array([x]))[0]))


# --- What the rules of a row say: of each set of columns one line --------------------------------


def rules_of_rows(
    terms: RuleTerms, blocks: Mapping[GroupKey, Block]
) -> Iterator[tuple[tuple[Name, ...], list[Conditions], Floats]]:
    """Yield columns, what of their rules holds in each row, and what it adds, (rows, classes)."""
    for columns, some in terms.by_columns():
        conditions = list(dict.fromkeys(of for rule in some.rules for of in rule.conditions))
        holds = np.stack([of.of(blocks) for of in conditions], axis=1)
        absent = {of.column: of.is_missing(blocks) for of in conditions}
        said = [
            in_words(conditions, row.tolist(), [name for name in absent if absent[name][i]])
            for i, row in enumerate(holds)
        ]
        yield columns, said, some.added(blocks)


# --- The cells that rules part rows into ---------------------------------------------------------


MOST_CELLS = 4_096  # of the rules of the same columns; where they are more, rules stand alone


class RuleCells(Frozen):
    """The cells that some rules of the same columns part rows into, and what is added in each."""

    columns: tuple[Name, ...]
    conditions: list[Condition]  # the different conditions of the rules
    holds: NDArray[np.int8]  # (cells, conditions): their sides in a cell; no two cells are alike
    said: list[Conditions]  # the cells in words
    added: Floats  # (cells, classes): what the rules add together, in nats

    @classmethod
    def of(
        cls, rules: Sequence[Rule], points: Mapping[Rule, Floats], batches: Sequence[Batch] = ()
    ) -> RuleCells:
        """Return the cells of rules: those that rows are in, or without rows all."""
        # points: what each cell of a rule adds to each class
        conditions = list(dict.fromkeys(of for rule in rules for of in rule.conditions))
        by_column: dict[Name, list[int]] = {}
        for i, of in enumerate(conditions):
            by_column.setdefault(of.column, []).append(i)
        sides = [_sides([conditions[i] for i in at]) for at in by_column.values()]
        if batches:
            every = np.concatenate([_holds(conditions, batch) for batch in batches])
            holds = np.unique(every, axis=0)
        else:
            holds = np.zeros((math.prod(map(len, sides)), len(conditions)), np.int8)
            for cell, some in zip(holds, product(*sides), strict=True):
                for at, side in zip(by_column.values(), some, strict=True):
                    cell[at] = side
        said = []
        for cell in holds:
            pairs = zip(by_column.items(), sides, strict=True)
            absent = [name for (name, at), of in pairs if of[tuple(cell[at].tolist())]]
            said.append(in_words(conditions, cell.tolist(), absent))
        found = cls(rules[0].columns, conditions, holds, said, np.zeros(0))
        added = sum(points[rule][found.cells_of(rule)] for rule in rules)
        return replace(found, added=np.asarray(added))

    def cells_of(self, rule: Rule) -> NDArray[np.int64]:
        """Return the cell of one of the rules that each cell lies in, (cells,)."""
        at = [self.conditions.index(of) for of in rule.conditions]
        return np.asarray(self.holds[:, at] @ np.array(rule.strides[:-1]))

    def count(self, batches: Sequence[Batch], classes: int) -> Floats:
        """Return the weight of the rows of each class in each cell, (cells, classes)."""
        cell = {row.tobytes(): i for i, row in enumerate(self.holds)}
        found = np.zeros((len(self.said), classes))
        for batch in batches:
            holds = _holds(self.conditions, batch)
            different, at = np.unique(holds, axis=0, return_inverse=True)
            place = np.array([cell[row.tobytes()] for row in different])[at.ravel()]
            np.add.at(found, (place, batch.labels.codes), batch.labels.weights)
        return found


def _holds(conditions: Sequence[Condition], batch: Batch) -> NDArray[np.int8]:
    """Return the side of each condition for each row, (rows, conditions)."""
    return np.stack([of.of(batch.blocks) for of in conditions], axis=1)


def _sides(of: Sequence[Condition]) -> dict[tuple[int, ...], bool]:
    """Return the sides of conditions of a column at once, and whether of missing cells only."""
    bins = bins_of(of)
    sides = zip(*(one.test.in_bins(bins) for one in of), strict=True)
    found = dict.fromkeys(sides, False)
    found.setdefault(tuple(one.missing for one in of), True)
    return found


def cells_of_rules(model: Model) -> list[RuleCells]:
    """Return the cells of the rules of each set of columns of a model; of each rule if many."""
    points, found = _points(model), []
    for rules in _by_columns(model, points).values():
        together = [rules] if _cells_at_most(rules) <= MOST_CELLS else [[rule] for rule in rules]
        found += [RuleCells.of(some, points) for some in together]
    return found


class CountedCells(Frozen):
    """What rules of the same columns add, by the cells of the one that tells most of it."""

    every: RuleCells  # the cells of all of the rules that rows are in
    rows: Floats  # (cells, classes): how many rows of each class are in each
    cell: NDArray[np.int64]  # (cells,): the cell of that rule which each lies in
    said: list[Conditions]  # the cells of that rule, in words

    @classmethod
    def of(
        cls, rules: Sequence[Rule], points: Mapping[Rule, Floats], batches: Sequence[Batch], k: int
    ) -> CountedCells:
        """Return the cells of some rules, with the rows of a sample, of k classes."""
        every = RuleCells.of(rules, points, batches)
        rows = every.count(batches, k)
        weight, best = rows.sum(axis=1), -1.0
        centred = every.added - every.added.mean(axis=1, keepdims=True)
        for rule in rules:
            cell = every.cells_of(rule)
            size = np.bincount(cell, weight)
            total = [np.bincount(cell, weight * of) for of in centred.T]
            told = sum(float((of[size > 0] ** 2 / size[size > 0]).sum()) for of in total)
            if told > best:
                best, chosen, its_cells = told, rule, cell
        different, place = np.unique(its_cells, return_inverse=True)
        alone = RuleCells.of([chosen], points)
        said = dict(zip(alone.cells_of(chosen).tolist(), alone.said, strict=True))
        return cls(every, rows, place, [said[i] for i in different.tolist()])


def counted_cells(model: Model, batches: Sequence[Batch]) -> list[CountedCells]:
    """Return what the rules of each set of columns add; nothing without a sample of the rows."""
    sample = _in_their_numbers(batches, model)
    if not sample:
        return []
    points, k = _points(model), len(model.classes)
    every = _by_columns(model, points).values()
    return [CountedCells.of(rules, points, sample, k) for rules in every]


def _by_columns(model: Model, rules: Iterable[Rule]) -> dict[tuple[Name, ...], list[Rule]]:
    """Return the rules of each set of columns that are counted as they were."""
    return by_columns(rule for rule in rules if rule.is_in(model.view.axes))


def _cells_at_most(rules: Sequence[Rule]) -> int:
    """Return how many cells rules part rows into, at most: fewer where some are alike."""
    asked: dict[Name, set[Above | OneOf]] = {}
    for rule in rules:
        for of in rule.conditions:
            asked.setdefault(of.column, set()).add(of.test)
    return math.prod(2 + sum(len(test.names) for test in tests) for tests in asked.values())


def _points(model: Model) -> dict[Rule, Floats]:
    """Return what each cell of each rule adds to each class, (cells, classes)."""
    if model.weights is None:
        return {}
    places = model.weights.places(model.classes.tolist())
    return {rule: by_class(of, places) for rule, of in model.weights.linear.rules.items()}


# --- All rules of a model ------------------------------------------------------------------------


class Rules(Tabular):
    """The rules of a model, cell by cell; those of columns that can add most first.

    Parameters
    ----------
    rule : list of int
        The number of the rule of each cell.
    columns : list of str
        Its columns.
    conditions : list of Conditions
        Which cells it is: what holds in the rows that it is of.
    share : ndarray of shape (cells,)
        Which share of the rows it is of, by the sample of them; NaN where no sample is kept.
    weight : ndarray of shape (cells, classes)
        What it adds to the log score of each class, in nats.
    classes : list of labels
        The classes.
    """

    rule: list[int]
    columns: list[str]
    conditions: list[Conditions]
    share: Floats
    weight: Floats
    classes: list[Label]

    def strongest(self, n: int) -> list[tuple[Conditions, Label, float]]:
        """Return the n cells of the largest weights: conditions, class and weight."""
        best = np.argsort(-np.abs(self.weight).max(axis=1, initial=0.0), kind="stable")[:n]
        of = zip(best.tolist(), self.weight[best].argmax(axis=1).tolist(), strict=True)
        return [(self.conditions[i], self.classes[c], float(self.weight[i, c])) for i, c in of]

    def plot(self, ax: Axes | None = None, n: int = 10) -> Axes:
        """Draw the n cells of the largest weights, by the class that each speaks for."""
        return picture(self, ax, n=n)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return rule, columns, conditions, share, class and weight: a row a cell and class."""
        cells = {"rule": self.rule, "columns": self.columns, "conditions": self.conditions}
        axes = {**cells, "share": self.share.tolist()}, {"class": self.classes}
        return crossed(axes, {"weight": self.weight})

    def __str__(self) -> str:
        if not self.rule:
            return "no rules"
        lines, columns = [], list(dict.fromkeys(self.columns))
        for name in columns[:SHOWN]:
            at = [i for i, of in enumerate(self.columns) if of == name]
            lines.append(f"{name}: {many(len({self.rule[i] for i in at}), 'rule')}")
            at.sort(key=lambda i: -np.abs(self.weight[i]).max())
            for i in at[:3]:
                c = int(np.abs(self.weight[i]).argmax())
                lines.append(
                    f"  {self.weight[i, c]:+.2f} for {self.classes[c]}: {self.conditions[i]}"
                )
        if len(columns) > SHOWN:
            lines.append(f"... and rules of {len(columns) - SHOWN:,} more sets of columns")
        return "\n".join(lines)


def rules_of(model: Model, batches: Sequence[Batch] = ()) -> Rules:
    """Return all rules of a model (see ``nb.inspect.rules``); batches are a sample of its rows."""
    points, k = _points(model), len(model.classes)
    reach: dict[tuple[Name, ...], float] = {}
    for rule, of in points.items():
        reach[rule.columns] = reach.get(rule.columns, 0.0) + float(np.abs(of).max(initial=0.0))
    order = sorted(points, key=lambda rule: -reach[rule.columns])
    every = [RuleCells.of([rule], points) for rule in order]
    sample = _in_their_numbers(batches, model)
    rows = sum(float(batch.labels.weights.sum()) for batch in sample)
    share = [
        cells.count(sample, k).sum(axis=1) / rows if rows > 0 else np.full(len(cells.said), np.nan)
        for cells in every
    ]
    return Rules(
        [number for number, cells in enumerate(every) for _ in cells.said],
        [title_of_columns(cells.columns) for cells in every for _ in cells.said],
        [said for cells in every for said in cells.said],
        np.concatenate([np.empty(0), *share]),
        np.concatenate([np.empty((0, k)), *(cells.added for cells in every)]),
        model.classes.tolist(),
    )


def _in_their_numbers(batches: Sequence[Batch], model: Model) -> list[Batch]:
    """Return sampled rows that stand for as many of their class as the model has learned."""
    if not batches:
        return []
    every = Labels.join([batch.labels for batch in batches])
    weights = every.standing_for(model.counted.tally.class_count).weights
    times = model.counted.tally.class_count.sum() / weights.sum()
    return relabelled(batches, "weight", weights * times)
