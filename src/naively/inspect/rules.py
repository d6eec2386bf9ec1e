"""Rules in words: which conditions of a model's decision tables hold, and what they add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from naively.counting.axis import Level, Name, title, title_of_columns
from naively.counting.block import Block
from naively.counting.labels import Label
from naively.data.columns import times_of
from naively.kernels.reference import Floats
from naively.messages import many
from naively.model.model import Model
from naively.model.rules import Above, Condition, OneOf, Rule, axes_of, by_class, by_columns
from naively.schema.encode import plain_cell
from naively.schema.schema import GroupKey
from naively.tabular import Tabular

MOST_LEVELS = 4  # that a condition names
SHOWN = 8  # sets of columns, and conditions of each, that are printed


def in_words(
    conditions: Sequence[Condition], holds: Sequence[bool], missing: Sequence[Name] = ()
) -> str:
    """Say what conditions leave possible, column by column: an interval, or some levels.

    Parameters
    ----------
    conditions : sequence of Condition
        The conditions of some rules.
    holds : sequence of bool
        Which of them hold.
    missing : sequence of str or int
        The columns whose cells are missing.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> nb = NaiveBayes().fit({"age": [20.0, 30.0, 61.0]}, ["a", "a", "b"])
    >>> key = nb.schema_.groups[0].key
    >>> both = [Condition(key, "age", Above(25.0)), Condition(key, "age", Above(60.5))]
    >>> in_words(both, [True, False])
    '25 <= age < 60.5'
    """
    by_column = sorted(_grouped(conditions, holds).items(), key=lambda one: title(one[0]))
    parts = [
        f"{title(name)} is missing" if name in missing else _of_column(name, of)
        for name, of in by_column
    ]
    return " and ".join(part for part in parts if part)


Told: TypeAlias = tuple[Condition, bool]  # a condition, and whether it holds


def _grouped(conditions: Sequence[Condition], holds: Sequence[bool]) -> dict[Name, list[Told]]:
    """Return the conditions of each column."""
    found: dict[Name, list[Told]] = {}
    for condition, true in zip(conditions, holds, strict=True):
        found.setdefault(condition.column, []).append((condition, true))
    return found


def _of_column(name: Name, of: Sequence[Told]) -> str:
    """Say the same of one column; nothing where every cell fits."""
    if isinstance(of[0][0].test, Above):
        low, high = _interval(of)
        if high == -np.inf:
            return f"{title(name)} is missing"
        show = _number if of[0][0].group.kind != "time" else _time
        of_low, low = _round(low)
        of_high, high = _round(high)
        over, under = ("<", ">") if of_low else ("<=", ">=")
        to = "<=" if of_high else "<"
        if low == -np.inf:
            return "" if high == np.inf else f"{title(name)} {to} {show(high)}"
        if high == np.inf:
            return f"{title(name)} {under} {show(low)}"
        return f"{show(low)} {over} {title(name)} {to} {show(high)}"
    among, others = _among(of)
    if among is None:
        return f"{title(name)} {_levels(others, 'is not', 'not in')}"
    return f"{title(name)} {_levels(among)}"


def _interval(of: Sequence[Told]) -> tuple[float, float]:
    """Return from where on numbers fit conditions of a column, and where they end to."""
    edges = [(one.test.edge, true) for one, true in of if isinstance(one.test, Above)]
    low = max((edge for edge, true in edges if true), default=-np.inf)
    return low, min((edge for edge, true in edges if not true), default=np.inf)


def _among(of: Sequence[Told]) -> tuple[list[Level] | None, list[Level]]:
    """Return the levels that fit conditions of a column, or None and those that do not."""
    every = [(one.test.levels, true) for one, true in of if isinstance(one.test, OneOf)]
    others = list(dict.fromkeys(level for levels, true in every if not true for level in levels))
    named = [levels for levels, true in every if true]
    if not named:
        return None, others
    fit = [level for level in named[0] if all(level in levels for levels in named)]
    return [level for level in fit if level not in others], others


def _levels(levels: Sequence[Level], one: str = "=", several: str = "in") -> str:
    """Say that a cell is one of some levels, or none of them."""
    if len(levels) == 1:
        return f"{one} {plain_cell(levels[0])}"
    named = [str(plain_cell(level)) for level in levels[:MOST_LEVELS]]
    more = f", … ({len(levels):,} in all)" if len(levels) > MOST_LEVELS else ""
    return f"{several} {{{', '.join(named)}{more}}}"


def _round(edge: float) -> tuple[bool, float]:
    """Return whether an edge is the next number above a rounder one, and the rounder of both.

    "More than 5" is from the number on that comes after 5.
    """
    before = float(np.nextafter(edge, -np.inf)) if np.isfinite(edge) else edge
    is_next = len(repr(before)) < len(repr(edge))
    return is_next, before if is_next else edge


def _number(x: float) -> str:
    return f"{x:.4g}" if abs(x) < 10_000 else f"{x:.0f}"


def _time(x: float) -> str:
    return str(plain_cell(times_of(np.array([x]))[0]))


# --- What the rules of a row say: of each set of columns one line --------------------------------


def rules_of_rows(
    model: Model, blocks: Mapping[GroupKey, Block]
) -> Iterator[tuple[tuple[Name, ...], list[str], Floats]]:
    """Yield columns, the conditions of their rules that hold in each row, and what these add.

    What is added is of shape (rows, classes).
    """
    if model.weights is None:
        return
    linear, places = model.weights.linear, model.weights.places(model.classes.tolist())
    axes = axes_of(blocks)
    rules = by_columns(rule for rule in linear.rules if rule.is_in(axes))
    for columns, added in linear.of_rules(blocks, places):
        conditions = list(dict.fromkeys(of for rule in rules[columns] for of in rule.conditions))
        holds = np.stack([of.of(blocks) for of in conditions], axis=1)
        absent = {of.column: of.is_missing(blocks) for of in conditions}
        said = [
            in_words(conditions, row.tolist(), [name for name in absent if absent[name][i]])
            for i, row in enumerate(holds)
        ]
        yield columns, said, added


# --- All rules of a model ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Tabular):
    """The rules of a model, cell by cell; those of columns that can add most first.

    Parameters
    ----------
    rule : list of int
        The number of the rule of each cell.
    columns : list of str
        Its columns.
    conditions : list of str
        Which cells it is: what holds in the rows that it is of.
    weight : ndarray of shape (cells, classes)
        What it adds to the log score of each class, in nats.
    classes : list of labels
        The classes.
    """

    rule: list[int]
    columns: list[str]
    conditions: list[str]
    weight: Floats
    classes: list[Label]

    def strongest(self, n: int) -> list[tuple[str, Label, float]]:
        """Return the n cells of the largest weights: conditions, class and weight."""
        best = np.argsort(-np.abs(self.weight).max(axis=1, initial=0.0), kind="stable")[:n]
        found = []
        for i in best.tolist():
            c = int(self.weight[i].argmax())
            found.append((self.conditions[i], self.classes[c], float(self.weight[i, c])))
        return found

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns rule, columns, conditions, class and weight: a row a cell and class."""
        k = len(self.classes)
        return {
            "rule": np.repeat(self.rule, k).tolist(),
            "columns": [name for name in self.columns for _ in range(k)],
            "conditions": [said for said in self.conditions for _ in range(k)],
            "class": self.classes * len(self.rule),
            "weight": self.weight.ravel().tolist(),
        }

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


def rules_of(model: Model) -> Rules:
    """Return all rules of a model (see ``nb.inspect.rules``)."""
    rules = {} if model.weights is None else model.weights.linear.rules
    places = [] if model.weights is None else model.weights.places(model.classes.tolist())
    points = {rule: by_class(cells, places) for rule, cells in rules.items()}
    reach: dict[tuple[Name, ...], float] = {}
    for rule, of in points.items():
        reach[rule.columns] = reach.get(rule.columns, 0.0) + float(np.abs(of).max(initial=0.0))
    order = sorted(points, key=lambda rule: -reach[rule.columns])
    number, columns, said, weight = [], [], [], []
    for at, rule in enumerate(order):
        for cell, added in enumerate(points[rule]):
            holds = [bool(cell >> bit & 1) for bit in range(len(rule.conditions))]
            if not _possible(rule, holds):
                continue
            number.append(at)
            columns.append(title_of_columns(rule.columns))
            said.append(in_words(rule.conditions, holds))
            weight.append(added)
    table = np.array(weight).reshape(len(number), len(model.classes))
    return Rules(number, columns, said, table, model.classes.tolist())


def _possible(rule: Rule, holds: Sequence[bool]) -> bool:
    """Whether some cell fits: a number is not above one edge and below a lesser one."""
    for of in _grouped(rule.conditions, holds).values():
        low, high = _interval(of)
        if low >= high or _among(of)[0] == []:
            return False
    return True
