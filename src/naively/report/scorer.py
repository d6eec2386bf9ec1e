"""A scorer for the page: the evidence of each column at some of its values, which add up.

The page's program moves a row along these values, adds the evidence of its cells and shows the
posterior. All numbers are the model's own, at every value; none is computed anew on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from naively.counting.names import Level, Name, title
from naively.data.rows import Rows, column_rows
from naively.kernels.reference import Floats
from naively.messages import shortened, visible
from naively.model.model import Model
from naively.model.one_column import OneColumn
from naively.schema.encode import plain_cell

VALUES = 33  # of a column of numbers, beside those of the rows
LEVELS = 40  # of a column of categories, beside those of the rows
LONGEST = 120  # characters of a text that is chosen from
COLUMNS = 30  # that can be moved
MOST = 120_000  # numbers on the page
PRODUCTS = (
    "Cells cannot be moved here: the model adds products of two columns, so that what the cell of "
    "one column says depends on the cell of another."
)
CLOSE = 1e-6  # nats between the sum of the evidence and the score of a row


@dataclass(frozen=True, eq=False)
class Scorer:
    """What the page needs to move rows and to score them.

    Parameters
    ----------
    columns : list of dict
        Of each column that can be moved its name, kind, values as they are shown, and evidence,
        one list of the classes for each value, in nats.
    pairs : list of dict
        Of each interaction the places of its columns, the bin of each of their values, and the
        evidence of each pair of bins.
    rows : list of dict
        Of each row the place of its value in each column, and the evidence of all else.
    why : str
        Why no column can be moved; empty if some can.
    """

    columns: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    why: str = ""


def make_scorer(
    model: Model, rows: Rows, worth: Sequence[Name], numbers: Mapping[Name, Floats]
) -> Scorer:
    """Return the evidence of the columns that are worth most, at values to choose from.

    Parameters
    ----------
    model : Model
        The model, whose scores are the sums.
    rows : Rows
        The rows that the page shows: where the moves start.
    worth : sequence
        The columns of the table, those that are worth most first.
    numbers : mapping of name to ndarray
        Of columns of numbers, those of the learned rows that are known, from which the values are
        taken.
    """
    if not len(rows):
        return Scorer([], [], [], "There is no row to start from.")
    if model.weights is not None and model.weights.linear.products:
        return Scorer([], [], [], PRODUCTS)
    columns, left = [], MOST
    for name in worth[:COLUMNS]:
        found = _moved(model, rows, name, numbers.get(name))
        if found is not None and found.evidence.size <= left and np.isfinite(found.evidence).all():
            columns.append(found)
            left -= found.evidence.size
    columns = _without_loose_ends(model, columns)
    if not columns:
        return Scorer([], [], [], _why_not(model))
    pairs = _pairs(model, columns)
    if sum(pair.evidence.size for pair in pairs) > MOST:
        return Scorer([], [], [], "The interactions are too many for a page.")
    moved = sum(column.evidence[column.at] for column in columns)
    moved = moved + sum(pair.of_rows() for pair in pairs)
    joint, rest = model.joint_log_likelihood(rows), _without(model, rows, columns)
    if not np.allclose(rest + moved, joint, rtol=0, atol=CLOSE):
        return Scorer([], [], [], "What one column says depends on the cells of another.")
    return Scorer(
        [column.shown() for column in columns],
        [pair.shown() for pair in pairs],
        [
            {"at": [int(column.at[i]) for column in columns], "rest": _rounded(rest[i])}
            for i in range(len(rows))
        ],
    )


def _without_loose_ends(model: Model, columns: list[_Moved]) -> list[_Moved]:
    """Return the columns whose interactions are all with each other."""
    pairs = [set(interaction.roots) for interaction in model.schema.interactions.values()]
    while True:
        names = {column.name for column in columns}
        loose = set().union(*(pair for pair in pairs if not pair <= names))
        left = [column for column in columns if column.name not in loose]
        if len(left) == len(columns):
            return left
        columns = left


def _why_not(model: Model) -> str:
    if len(model.classes) > MOST // 100:
        return f"There are {len(model.classes):,} classes, which are too many for a page."
    return "No column has finite evidence of its own."


@dataclass(frozen=True, eq=False)
class _Moved:
    """A column, the values that it can take, and the evidence of each, (values, classes)."""

    name: Name
    kind: str
    values: list[Any]
    evidence: Floats
    at: np.ndarray  # (rows,): the place of each row's value

    def shown(self) -> dict[str, Any]:
        return {
            "name": visible(title(self.name)),
            "kind": self.kind,
            "values": [_cell(value) for value in self.values],
            "evidence": [_rounded(of) for of in self.evidence],
        }


def _moved(model: Model, rows: Rows, name: Name, numbers: Floats | None) -> _Moved | None:
    """Return a column at values to choose from; None if it has no evidence of its own."""
    group = model.schema.columns.get(name)
    if group is None or group.event.layout == "rows":
        return None
    if group.event.joined and group.kind != "text":
        return None  # all columns are one event
    own = [plain_cell(cell) for cell in rows.values(name).tolist()]
    own = [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in own]
    kind = group.kind
    if kind == "number":
        values: list[Any] = sorted({*_spread(numbers), *(x for x in own if x is not None)})
    elif kind == "boolean":
        values = [False, True]
        own = [None if cell is None else bool(cell) for cell in own]
    elif kind == "string":
        levels = _levels(model, name)[:LEVELS]
        values = list(dict.fromkeys([*levels, *(x for x in own if x is not None)]))
    else:  # a text or a time is one of those of the rows
        values = list(dict.fromkeys(x for x in own if x is not None))
    values = [*values, None]  # a missing cell
    place = {value: i for i, value in enumerate(values)}
    evidence = _evidence(model, {name: values}, kinds={name: kind})
    return _Moved(name, kind, values, evidence, np.array([place[cell] for cell in own], np.int64))


def _spread(numbers: Floats | None) -> list[float]:
    """Return some of the numbers of a column, spread evenly over its rows."""
    if numbers is None:
        return []
    there = np.sort(numbers[np.isfinite(numbers)])
    if not len(there):
        return []
    at = np.linspace(0, len(there) - 1, VALUES).round().astype(np.int64)
    found: list[float] = np.unique(there[at]).tolist()
    return found


def _levels(model: Model, name: Name) -> list[Level]:
    """Return the levels of a column, those of most rows first."""
    column = OneColumn.find(model, name)
    if not column.levels:
        return []
    order = np.argsort(-column.level_count.sum(axis=1), kind="stable")
    return [column.levels[i] for i in order.tolist()]


def _evidence(
    model: Model, cells: Mapping[Name, Sequence[Any]], kinds: Mapping[Name, Any]
) -> Floats:
    """Return the evidence of these cells beyond that of missing ones, (rows, classes).

    All other cells are missing. What it says that a cell is missing is in the evidence of all else,
    so that a column that is moved adds the difference.
    """
    columns = {name: np.array([*of, None], object) for name, of in cells.items()}
    rows = column_rows(columns, kinds).padded(model.schema.order)  # nothing is in the last one
    joint = model.joint_log_likelihood(rows)
    found: Floats = joint[:-1] - joint[-1]
    return found


@dataclass(frozen=True, eq=False)
class _Pair:
    """An interaction: the bins of the values of two columns, and the evidence of each pair."""

    a: int
    b: int
    bins_a: np.ndarray  # (values of a,)
    bins_b: np.ndarray  # (values of b,)
    evidence: Floats  # (bins of a, bins of b, classes)
    at_a: np.ndarray
    at_b: np.ndarray

    def of_rows(self) -> Floats:
        found: Floats = self.evidence[self.bins_a[self.at_a], self.bins_b[self.at_b]]
        return found

    def shown(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "bins_a": self.bins_a.tolist(),
            "bins_b": self.bins_b.tolist(),
            "evidence": [[_rounded(cell) for cell in line] for line in self.evidence],
        }


def _pairs(model: Model, columns: list[_Moved]) -> list[_Pair]:
    """Return the interactions of columns, none of which is of another column."""
    place = {column.name: i for i, column in enumerate(columns)}
    found = {}
    for interaction in model.schema.interactions.values():
        if len(interaction.roots) != 2:  # two parts of one time: the column says it all
            continue
        i, j = (place[name] for name in interaction.roots if name in place)
        if (i, j) not in found:  # two interactions of the same two columns are one
            found[i, j] = _pair(model, i, j, columns[i], columns[j])
    return list(found.values())


def _pair(model: Model, i: int, j: int, a: _Moved, b: _Moved) -> _Pair:
    """Return what two columns say together beyond what each says alone, at all their values."""
    both = list(product(a.values, b.values))
    cells = {a.name: [x for x, _ in both], b.name: [y for _, y in both]}
    together = _evidence(model, cells, {a.name: a.kind, b.name: b.kind})
    lift = together.reshape(len(a.values), len(b.values), -1)
    lift = (lift - a.evidence[:, None] - b.evidence[None]).round(9)
    lines, bins_a = np.unique(lift, axis=0, return_inverse=True)
    table, bins_b = np.unique(lines, axis=1, return_inverse=True)
    return _Pair(i, j, bins_a.reshape(-1), bins_b.reshape(-1), table, a.at, b.at)


def _without(model: Model, rows: Rows, columns: list[_Moved]) -> Floats:
    """Return the scores of rows, (rows, classes), where the cells of these columns are missing."""
    moved = {column.name for column in columns}
    matched = model.schema.match(rows)
    others = [name for name in model.schema.order if name not in moved]
    return model.joint_log_likelihood(matched.select(others).padded(model.schema.order))


def _rounded(values: Floats) -> list[float]:
    return [float(f"{value:.9g}") for value in values.tolist()]


def _cell(value: Any) -> str | float | None:
    """Return a cell as the page shows it."""
    if value is None or (isinstance(value, float | int) and not isinstance(value, bool)):
        return value
    return shortened(visible(str(value)), LONGEST)
