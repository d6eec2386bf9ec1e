"""Functions of the columns: numbers, clipped and standardised, and indicators of common levels.

A sum of them, each times a slope, is the linear part of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from naively.counting.block import Batch, Block, Codes, Dense
from naively.counting.labels import Labels
from naively.counting.leave_one_out import Part
from naively.evaluation.leave_one_out import LeaveOneOut
from naively.events import Bernoulli
from naively.kernels.reference import Floats
from naively.model.linear_part import Line, Step, Term
from naively.model.model import Model
from naively.model.weights import Weights
from naively.schema.group import Group

TAILS = 0.005  # of the numbers, on each side, are clipped
LEVELS = 8  # of a column, at most, the commonest
IN_LEVEL = 5.0  # rows of a level, at least
LEAST_SCALE = 0.2  # of an indicator, so that a rare level has no large values
FUNCTIONS = 256  # at most: of the columns that say most
LARGEST = 1e120  # a number, whose square times any weight is finite
ALIKE = 0.95  # correlation of two levels that share a slope,
ALIKE_ROWS = 2_000  # by so many rows
ROUNDING = 1e-9
TOGETHER = 200_000  # numbers, about, of columns that are described together


Said: TypeAlias = Callable[[], Mapping[Part, float]]  # how much evidence each part gives


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions of the columns, on the rows of a sample.

    Parameters
    ----------
    terms : list of Term
        The functions.
    z : ndarray of shape (rows, functions)
        Their values, those of a function side by side; 0 where a cell is missing.
    """

    terms: list[Term]
    z: Floats

    @cached_property
    def shares(self) -> Floats | None:
        """How terms share slopes, of shape (terms, slopes), orthonormal; None if each has its own.

        Levels of two columns that nearly always come together have one slope. Else a weak ridge
        would give them slopes that cancel each other, by the few rows in which they differ.
        """
        steps = [at for at, term in enumerate(self.terms) if isinstance(term.function, Step)]
        some = self.z[:ALIKE_ROWS, steps]
        size = np.sqrt(np.square(some).sum(axis=0))
        alike = some.T @ some > ALIKE * np.maximum(np.outer(size, size), ROUNDING)
        group = np.arange(len(self.terms))
        for i, j in zip(*np.nonzero(np.triu(alike, 1)), strict=True):
            a, b = group[steps[i]], group[steps[j]]
            group[group == max(a, b)] = min(a, b)
        slopes, number, size = np.unique(group, return_inverse=True, return_counts=True)
        if len(slopes) == len(group):
            return None
        shares = np.zeros((len(group), len(slopes)))
        shares[np.arange(len(group)), number] = 1 / np.sqrt(size[number])
        return shares

    @property
    def shared(self) -> Floats:
        """The functions that have slopes of their own, of shape (rows, slopes)."""
        return self.z if self.shares is None else self.z @ self.shares

    def of_terms(self, slope: Floats) -> Floats:
        """Return the slopes of the terms, (terms, classes), from those of what they share."""
        return slope if self.shares is None else np.asarray(self.shares @ slope)


def basis_of(
    model: Model,
    said: Said,
    labels: Labels,
    batches: Sequence[Batch],
) -> Basis:
    """Return functions of the columns, and their values on the rows.

    Parameters
    ----------
    model : Model
        Whose columns they are of.
    said : callable
        Returns how much evidence each part gives (``evidence_said``), and is asked only where there
        would be more than ``FUNCTIONS``: then they are of the columns that say most.
    labels : Labels
        The labels of the rows.
    batches : sequence of Batch
        The rows, as the model encodes them.
    """
    by_batch = [model.blocks(batch) for batch in batches]
    rows = labels.weight
    of_column: list[tuple[Part, list[tuple[Term, Floats]]]] = []
    for group in model.schema.of_columns:
        if group.event.joined or group.analyser or group.event.layout == "rows":
            continue
        block = _joined([blocks[group.key] for blocks in by_batch])
        if block is None:
            continue
        found = _functions(group, block, rows)
        for j, (name, functions) in enumerate(zip(block.axis.columns, found, strict=True)):
            terms = [(Term(group.key, name, one), one.of(block, j)) for one in functions]
            of_column.append((Part(group.key, name), terms))
    # In one order, whatever that of the columns is: rounding then stops a search at one place.
    of_column.sort(key=lambda column: str(column[0]))
    if sum(len(functions) for _, functions in of_column) > FUNCTIONS:
        most = said()
        of_column.sort(key=lambda column: -most.get(column[0], 0.0))
    every = [of for _, functions in of_column for of in functions][:FUNCTIONS]
    z = np.stack([value for _, value in every]).T if every else np.empty((len(labels), 0))
    return Basis([term for term, _ in every], z)


def _joined(blocks: Sequence[Block]) -> Block | None:
    """Return the rows of all batches as one block; None if some are sparse."""
    if not any(all(isinstance(block, kind) for block in blocks) for kind in (Dense, Codes)):
        return None
    return blocks[0].followed_by(blocks[1:]) if len(blocks) > 1 else blocks[0]


def evidence_said(weights: Weights, found: LeaveOneOut) -> dict[Part, float]:
    """Return how much evidence each part gives, on average."""
    weight = weights.table(found.parts, weights.classes)
    said = [np.abs(of).mean(axis=0) @ np.abs(w) for of, w in zip(found.table, weight, strict=True)]
    return {part: float(of) / found.labels.k for part, of in zip(found.parts, said, strict=True)}


def _functions(
    group: Group, block: Block, weight: Floats | None
) -> Sequence[Sequence[Line | Step]]:
    """Return the functions of each column: a line, or steps of its commonest levels."""
    if isinstance(block, Codes):
        return [_steps(block, j, weight) for j in range(len(block.axis.columns))]
    assert isinstance(block, Dense)
    indicator, found = isinstance(group.event, Bernoulli), []
    size = max(1, TOGETHER // max(1, len(block)))
    for start in range(0, len(block.axis.columns), size):
        x = np.ascontiguousarray(block.values.T[start : start + size], np.float64)
        found += lines(x, weight, indicator=indicator)
    return [[] if line is None else [line] for line in found]


def lines(x: Floats, weight: Floats | None, *, indicator: bool) -> list[Line | None]:
    """Return a line for each column of numbers, (columns, rows), clipped at its tails.

    None for a column whose scale is 0 or infinite.
    """
    there = ~np.isnan(x)
    whole = there.all(axis=1)
    found = dict(
        zip(
            np.flatnonzero(whole).tolist(),
            _lines(x[whole], weight, indicator=indicator),
            strict=True,
        )
    )
    for j in np.flatnonzero(~whole).tolist():
        some = None if weight is None else weight[there[j]]
        (found[j],) = _lines(x[j, there[j]][None], some, indicator=indicator)
    return [found[j] for j in range(len(x))]


def _lines(x: Floats, weight: Floats | None, *, indicator: bool) -> list[Line | None]:
    """Return the same of columns without missing cells."""
    if not x.size:
        return [None] * len(x)
    x = np.clip(x, -LARGEST, LARGEST)
    low, high = _quantiles(x, weight)
    flat = ~(low < high)
    low, high = np.where(flat, x.min(axis=1), low), np.where(flat, x.max(axis=1), high)
    x = np.clip(x, low[:, None], high[:, None])
    with np.errstate(over="ignore", invalid="ignore"):  # where rows weigh 1e90
        centre = np.average(x, axis=1, weights=weight)
        scale = np.sqrt(np.average(np.square(x - centre[:, None]), axis=1, weights=weight))
    varies = (scale > ROUNDING * np.maximum(np.abs(low), np.abs(high))) & (scale < np.inf)
    if indicator:
        scale = np.maximum(scale, LEAST_SCALE * (high - low))
    numbers = np.stack([low, high, centre, scale], axis=1).tolist()
    return [Line(*of) if there else None for of, there in zip(numbers, varies, strict=True)]


def _quantiles(x: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """Return the numbers that a share ``TAILS`` of the weight is at most, and at least."""
    n = x.shape[1]
    if weight is None:
        places = [int(TAILS * n), n - 1 - int(TAILS * n)]
        low, high = np.partition(x, places, axis=1)[:, places].T
        return low, high
    order = np.argsort(x, axis=1, kind="stable")
    total = np.cumsum(weight[order], axis=1)
    below = total <= TAILS * (1 + ROUNDING) * total[:, -1:]
    above = total >= (1 - TAILS) * (1 - ROUNDING) * total[:, -1:]
    first = np.minimum(below.sum(axis=1), n - 1)
    last = np.minimum((~above).sum(axis=1), n - 1)
    low, high = (
        np.take_along_axis(x, order, axis=1)[np.arange(len(x)), at] for at in (first, last)
    )
    return low, high


def _steps(block: Codes, column: int, weight: Floats | None) -> list[Line | Step]:
    """Return indicators of the commonest levels of a column; of two levels, one indicator."""
    levels = block.axis.levels[column]
    code = block.codes[:, column].astype(np.int64)
    there = (code >= 0) & (code < len(levels))
    rows = np.bincount(code[there], None if weight is None else weight[there], len(levels)).astype(
        np.float64
    )
    total = rows.sum()
    # Levels that came equally often are taken by what they are, in whatever order they came.
    best = sorted(range(len(levels)), key=lambda at: (-rows[at], repr(levels[at])))[:LEVELS]
    best = [at for at in best if rows[at] >= IN_LEVEL * (1 - ROUNDING)]
    if (rows > 0).sum() <= 2:
        best = best[: int((rows > 0).sum()) - 1]
    found: list[Line | Step] = []
    for at in best:
        share = rows[at] / total
        scale = max(float(np.sqrt(share * (1 - share))), LEAST_SCALE)
        found.append(Step(levels[at], float(share), scale))
    return found
