"""Functions of the columns that have slopes: lines, indicators of levels, and products of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Batch, Block, Codes, Dense, joined
from naively.counting.labels import Labels
from naively.counting.leave_one_out import Part
from naively.events import Bernoulli
from naively.fitting.leave_one_out import Said
from naively.fitting.weights import mean
from naively.kernels.reference import Floats
from naively.model.model import Model
from naively.schema.schema import Group
from naively.terms.functions import FARTHEST, Line, Product, Step, Term

# --- Basis ---------------------------------------------------------------------------------------
#
# Functions of the columns: numbers, clipped and standardised, and indicators of common levels.
#
# A sum of them, each times a slope, is the linear part of a model.


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


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions of the columns, on the rows of a sample.

    Parameters
    ----------
    terms : list of Term
        The functions.
    z : ndarray of shape (rows, functions)
        Their values, those of a function side by side; 0 where a cell is missing.
    passed_over : int
        How many functions there were beside them, of columns that say less.
    """

    terms: list[Term]
    z: Floats
    passed_over: int = 0

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


def columns_of(model: Model, batches: Sequence[Batch]) -> list[tuple[Group, Block]]:
    """Return the rows of all batches by group: of columns that each are an event of their own.

    Groups whose columns are sparse are left out.
    """
    by_batch = [model.blocks(batch) for batch in batches]
    found = []
    for group in model.view.schema.of_columns:
        block = joined([of[group.key] for of in by_batch]) if group.is_by_column else None
        if block is not None:
            found.append((group, block))
    return found


def commonest(
    block: Codes, column: int, weight: Floats | None, most: int
) -> tuple[list[int], Floats]:
    """Return the commonest levels of a column, of five rows or more, and the rows of each level."""
    levels = block.axis.levels[column]
    code = block.codes[:, column].astype(np.int64)
    there = (code >= 0) & (code < len(levels))
    rows = np.bincount(code[there], None if weight is None else weight[there], len(levels)).astype(
        np.float64
    )
    enough = np.flatnonzero(rows >= IN_LEVEL * (1 - ROUNDING)).tolist()
    # Levels that came equally often are taken in the order in which rows have them.
    _, first = np.unique(np.append(code[there], range(len(levels))), return_index=True)
    return sorted(enough, key=lambda at: (-rows[at], first[at]))[:most], rows


def basis_of(columns: Sequence[tuple[Group, Block]], said: Said, labels: Labels) -> Basis:
    """Return functions of the columns, and their values on the rows."""
    rows = labels.weight
    of_column: list[tuple[Part, list[tuple[Term, Floats]]]] = []
    for group, block in columns:
        found = _functions(group, block, rows)
        for j, (name, functions) in enumerate(zip(block.axis.columns, found, strict=True)):
            terms = [(Term(group.key, name, one), one.of(block, j)) for one in functions]
            of_column.append((Part(group.key, name), terms))
    # In one order, whatever that of the columns is: rounding then stops a search at one place.
    of_column.sort(key=lambda column: str(column[0]))
    more = sum(len(functions) for _, functions in of_column) - FUNCTIONS
    if more > 0:
        most = said()
        of_column.sort(key=lambda column: -most.get(column[0], 0.0))
    every = [of for _, functions in of_column for of in functions][:FUNCTIONS]
    z = np.stack([value for _, value in every]).T if every else np.empty((len(labels), 0))
    return Basis([term for term, _ in every], z, max(0, more))


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
    order = np.argsort(x, axis=1)  # of equal numbers in any order, which changes no quantile
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
    best, rows = commonest(block, column, weight, LEVELS)
    total, known = rows.sum(), np.count_nonzero(rows)
    among = tuple(sorted((levels[at] for at in best), key=repr)) if len(best) == known else ()
    if known <= 2:
        best = best[: known - 1]
    found: list[Line | Step] = []
    for at in best:
        share = rows[at] / total
        scale = max(float(np.sqrt(share * (1 - share))), LEAST_SCALE)
        found.append(Step(levels[at], float(share), scale, among))
    return found


# --- Products of two functions of different columns, those that would lower the log loss most ----
#
# A product is scored by the gradient of the log loss at given posteriors, squared, over a bound of
# its curvature; the products of all functions are scored by a few multiplications of matrices.


MOST = 400  # products
A_COLUMN = 6  # products for each column, at most
COLUMNS = 100  # that products and rules are made of, those that say most
RIDGE = 10.0  # added to the curvature
FLAT = 1e-6  # a standard deviation of a product that does not vary


@dataclass(frozen=True, eq=False)
class Products:
    """Products of functions of columns.

    Parameters
    ----------
    of : sequence of Term
        The functions.
    z : ndarray of shape (rows, functions)
        Their values, those of a function side by side.
    a, b : ndarray of shape (products,)
        The numbers of the two functions of each product.
    scale : ndarray of shape (products,)
        Their standard deviations.
    """

    of: Sequence[Term]
    z: NDArray[np.float32]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    scale: Floats

    @classmethod
    def none(cls, basis: Basis) -> Products:
        """Return no products."""
        nothing = np.empty(0, np.int64)
        return cls(basis.terms, np.empty((0, 0), np.float32), nothing, nothing, np.empty(0))

    @classmethod
    def choose(
        cls,
        of: Sequence[Term],
        z: NDArray[np.float32],
        said: Said,
        p: Floats,
        labels: Labels,
        rows: NDArray[np.int64] | None = None,
        *,
        may: NDArray[np.bool_] | None = None,
    ) -> Products:
        """Choose the products that would lower the log loss of some rows most."""
        some = z if rows is None else z.T.take(rows, axis=1).T
        columns = [term.part for term in of]
        number = {part: i for i, part in enumerate(dict.fromkeys(columns))}
        column = np.array([number[part] for part in columns], np.int64)
        best = list(number)
        if len(best) > COLUMNS:
            most_said = said()
            best = sorted(best, key=lambda part: -most_said.get(part, 0.0))[:COLUMNS]
        among = np.isin(column, [number[part] for part in best])
        may = among if may is None else among & may
        a, b = np.triu_indices(len(columns), 1)
        fit = (column[a] != column[b]) & may[a] & may[b]
        a, b = a[fit], b[fit]
        most = min(MOST, A_COLUMN * len(best))
        if len(a) > most:
            score = _scores(some, p, labels)[a, b]
            first = np.sort(np.argsort(-score, kind="stable")[:most])
            a, b = a[first], b[first]
        scale = _deviations(some.T, a, b, labels.weight)
        there = scale > FLAT
        return cls(of, z, a[there], b[there], scale[there])

    def __len__(self) -> int:
        return len(self.a)

    def values(self, rows: int | None = None) -> NDArray[np.float32]:
        """Return the products of all rows, or of the first, clipped, of shape (rows, products)."""
        by_function = self.z[:rows].T
        found = np.empty((len(self), by_function.shape[1]), np.float32)
        each = zip(found, self.a, self.b, self.scale.astype(np.float32), strict=True)
        for product, a, b, scale in each:  # one by one, so that it stays cached
            np.multiply(by_function[a], by_function[b], out=product)
            np.divide(product, scale, out=product)
            np.clip(product, -FARTHEST, FARTHEST, out=product)
        return found.T

    def terms(self) -> Sequence[Product]:
        """Return the products as the model holds them."""
        each = zip(self.a.tolist(), self.b.tolist(), self.scale.tolist(), strict=True)
        return [Product(self.of[a], self.of[b], scale) for a, b, scale in each]


def _scores(z: NDArray[np.float32], p: Floats, labels: Labels) -> Floats:
    """Return how much each product of two functions would save, (functions, functions)."""
    right = np.arange(len(p)), labels.codes
    residual = -p.astype(np.float32)
    residual[right] += 1
    weight = labels.weights.astype(np.float32)
    square = np.square(z)
    score = np.zeros((z.shape[1], z.shape[1]))
    classes = range(1, 2) if p.shape[1] == 2 else range(p.shape[1])  # two have equal scores
    for c in classes:
        gradient = residual[:, [c]] * weight[:, None]
        size = np.abs(residual[:, [c]])
        curve = square.T @ (square * (size * (1 - size) * weight[:, None]))
        score += np.square(z.T @ (z * gradient)) / (curve + RIDGE)
    return score


def _deviations(
    by_function: NDArray[np.float32],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    weight: Floats | None,
) -> Floats:
    """Return the standard deviations of products of functions, (functions, rows): (products,)."""
    found = np.empty(len(a))
    for at, (i, j) in enumerate(zip(a, b, strict=True)):  # one by one, so that each stays cached
        product = by_function[i] * by_function[j]
        product -= mean(product, weight)
        found[at] = mean(np.square(product, out=product), weight)
    return np.sqrt(found)
