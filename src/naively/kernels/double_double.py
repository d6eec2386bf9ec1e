"""Sums in double-double: a high and a low float64 each, so that order and batches do not show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

# --- Double-double sums: each number is a pair high + low of float64, about 32 digits ------------
#
# Sums kept this way do not show the order in which they were made: rows in any order, in any
# chunks, on any number of threads, merged or forgotten, round to the same parameters. Error-free
# transformations: Dekker (1971), Knuth (TAOCP 2, 4.2.2), Hida, Li & Bailey (2001).


Floats: TypeAlias = NDArray[np.float64]

SPLITTER = 134217729.0  # 2**27 + 1 (Veltkamp): halves a float64 into two that multiply exactly
SMALLER = 2.0**-30  # a finite number times this has a finite product with the splitter
NEGLIGIBLE = 1e-12  # a smaller count is what rounding left after its only row was left out
EXACT = 2.0**52  # whole numbers whose sizes add up to less have exact sums
CANCELLED = 2.0**-80  # a difference this small against its operands is rounding, that is, zero
STRIP = 1 << 15  # numbers that are calculated at once, so that they stay in the cache


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a + b as the rounded sum and its exact error, elementwise."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a * b as the rounded product and its exact error, elementwise."""
    p = a * b
    with np.errstate(over="ignore", invalid="ignore"):
        error = _error(a, b, p)
        if not np.isfinite(error).all():  # a number times the splitter was infinite
            small = _error(a * SMALLER, b * SMALLER, p * SMALLER * SMALLER) / SMALLER / SMALLER
            error = np.where(np.isfinite(small), small, 0.0)
    return p, error


def _error(a: Floats, b: Floats, p: Floats) -> Floats:
    """Return what rounding took from a * b, which is p when rounded."""
    t = SPLITTER * a
    a_high = t - (t - a)
    t = SPLITTER * b
    b_high = t - (t - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@dataclass(frozen=True, eq=False, init=False)
class Sums:
    """An array of double-double numbers, which add, subtract, multiply and divide elementwise."""

    high: Floats  # the numbers, rounded
    # The rounding error, of the same shape; zero by default, and then ``errors`` is None.
    low: Floats
    errors: Floats | None  # None where it is known without a look that there are none
    shape: tuple[int, ...]

    def __init__(self, high: ArrayLike, low: Floats | None = None) -> None:
        numbers = np.asarray(high, np.float64)
        object.__setattr__(self, "high", numbers)
        object.__setattr__(self, "errors", low)
        object.__setattr__(self, "shape", numbers.shape)
        if low is None:  # zeros in the memory of one, that are not to be changed
            none = (0,) * numbers.ndim
            low = np.ndarray(numbers.shape, np.float64, _NO_ERROR, strides=none)
        object.__setattr__(self, "low", low)

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> Self:
        """Return zeros of this shape."""
        return cls(np.zeros(shape), np.zeros(shape))

    @property
    def is_exact(self) -> bool:
        """Whether no number has a rounding error."""
        return self.errors is None or not self.low.any()

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        return self.high.nbytes + (0 if self.errors is None else self.low.nbytes)

    def by_row(self) -> Floats:
        """Return the sum of each row of a table, of shape (rows,)."""
        return np.asarray(self.high.sum(axis=1))

    def by_class(self) -> Floats:
        """Return the sum of each class of a table of rows × classes, of shape (classes,)."""
        # The order of the rows does not show.
        whole = (self.high == np.rint(self.high)).all()  # they are added up without rounding
        return np.asarray((self.high if whole else np.sort(self.high, axis=0)).sum(axis=0))

    def rows_there(self) -> NDArray[np.bool_]:
        """Return which rows of a table hold anything but 0, of shape (rows,)."""
        return np.asarray((self.high != 0) @ np.ones(self.high.shape[1], np.bool_))

    def classes_there(self) -> NDArray[np.bool_]:
        """Return which classes of a table of rows × classes hold anything but 0, (classes,)."""
        return np.asarray((self.high != 0).any(axis=0))

    def rows(self, index: NDArray[Any]) -> Sums:
        """Return some rows."""
        return self[index]

    def at(self, row: NDArray[np.integer], classes: NDArray[np.integer]) -> Floats:
        """Return the numbers in these rows and classes; one row stands for all rows."""
        return np.asarray(self.high[row if len(self.high) != 1 else 0, classes])

    def total_by_row(self) -> Sums:
        """Return the sum of each row of a table, (rows,), with its rounding error."""
        return self.total(axis=1)

    def __getitem__(self, index: Any) -> Sums:
        return Sums(self.high[index], None if self.errors is None else self.low[index])

    def __add__(self, other: Sums) -> Sums:
        return _in_strips(_added, self, other)

    def __neg__(self) -> Sums:
        return Sums(-self.high, None if self.errors is None else -self.low)

    def __sub__(self, other: Sums) -> Sums:
        return _in_strips(_subtracted, self, other)

    def __mul__(self, other: Sums | float | Floats) -> Sums:
        if not isinstance(other, Sums):
            other = Sums(np.asarray(other, np.float64))
        return _in_strips(_multiplied, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Sums) -> Sums:
        quotient = self.high / other.high
        remainder = self + -(other * Sums(quotient))
        return Sums(*two_sum(quotient, remainder.high / other.high))

    def place(self, rows: NDArray[np.int64] | None, size: int) -> Sums:
        """Return a table of ``size`` rows that holds row i of this one at ``rows[i]``."""
        # Rows that go to the same place must be neighbours; they are added up.
        if rows is None:
            return self
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        if len(begins) < len(rows):
            return self.total_by_group(begins).place(rows[begins], size)
        if not len(rows):
            return Sums(np.zeros((size, *self.shape[1:])))
        of, none = np.zeros(size, np.int64), np.ones(size, np.bool_)
        of[rows], none[rows] = np.arange(len(rows)), False
        tables = [self.high] if self.errors is None else [self.high, self.errors]
        moved = [table.take(of, axis=0) for table in tables]  # sooner than to put them in rows
        for table in moved:
            table[none] = 0.0
        return Sums(*moved)

    def with_rows(self, rows: NDArray[np.int64], of: Sums) -> Sums:
        """Return the table with other numbers in some rows."""
        high, low = self.high.copy(), None
        high[rows] = of.high
        if self.errors is not None or of.errors is not None:
            low = self.low.copy()
            low[rows] = of.low
        return Sums(high, low)

    def without(self, classes: NDArray[np.bool_], of: NDArray[np.integer] | None = None) -> Sums:
        """Return the table with 0 in these classes, of shape (classes,) or that of the sums."""
        # With ``of``, of shape (rows,), the classes of row i are ``classes[of[i]]``.
        if not classes.any():
            return self
        if of is not None:
            classes = classes[of]
        return Sums(np.where(classes, 0.0, self.high), np.where(classes, 0.0, self.low))

    def place_classes(self, places: NDArray[np.int64] | None, k: int) -> Sums:
        """Return the table of k classes, class i moved to ``places[i]``."""
        if places is None:
            return self
        shape = *self.shape[:-1], k
        high, low = np.zeros(shape), np.zeros(shape)
        high[..., places], low[..., places] = self.high, self.low
        return Sums(high, low)

    def total(self, axis: int = 0) -> Sums:
        """Return the sums over an axis, by a tree of double-double additions."""
        high = np.moveaxis(self.high, axis, 0)
        if not len(high):
            return Sums.zeros(high.shape[1:])
        sums = Sums(high, None if self.errors is None else np.moveaxis(self.errors, axis, 0))
        while len(sums.high) > 1:
            half = len(sums.high) // 2
            paired = sums[:half] + sums[half : 2 * half]
            if len(sums.high) % 2:
                last = paired[-1:] + sums[-1:]
                paired = Sums(
                    np.concatenate([paired.high[:-1], last.high]),
                    np.concatenate([paired.low[:-1], last.low]),
                )
            sums = paired
        return sums[0]

    @property
    def _are_whole(self) -> bool:
        """Whether the numbers are whole, and few enough for every sum of them to be exact."""
        if self.errors is not None and self.errors.any():
            return False
        rows, size = max(1, STRIP // max(1, self.high[:1].size)), 0.0
        for start in range(0, len(self.high), rows):
            some = self.high[start : start + rows]
            if not (some == np.rint(some)).all():
                return False
            size += float(np.abs(some).sum())
        return size < EXACT

    def total_by_group(self, starts: NDArray[np.int64]) -> Sums:
        """Return the sums of non-empty groups of neighbouring rows; group g begins at starts[g]."""
        sums, begin = self, np.asarray(starts, np.int64)
        if self._are_whole:  # however they are added up, they are exact
            return Sums(np.add.reduceat(self.high, begin, axis=0))
        length = np.diff(np.append(begin, len(self.high)))
        while length.size and length.max() > 1:
            # Pair up neighbours within each group; an odd last row goes on alone.
            half = (length + 1) // 2
            group = np.repeat(np.arange(len(length)), half)
            within = np.arange(half.sum()) - np.repeat(np.cumsum(half) - half, half)
            left = begin[group] + 2 * within
            paired = 2 * within + 1 < length[group]
            right = np.where(paired, left + 1, left)
            paired = paired.reshape(-1, *[1] * (self.high.ndim - 1))
            sums = sums[left] + Sums(
                np.where(paired, sums.high[right], 0.0), np.where(paired, sums.low[right], 0.0)
            )
            begin, length = np.cumsum(half) - half, half
        return sums


_NO_ERROR = np.zeros(())
_NO_ERROR.flags.writeable = False

Pair: TypeAlias = "tuple[Floats, Floats]"  # high and low


def _added(a: Floats, a_low: Floats, b: Floats, b_low: Floats) -> Pair:
    high, error = two_sum(a, b)
    if not (a_low.any() or b_low.any()):  # as of all counts
        return high, error
    low, error_low = two_sum(a_low, b_low)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + error_low)


def _subtracted(a: Floats, a_low: Floats, b: Floats, b_low: Floats) -> Pair:
    high, low = _added(a, a_low, -b, -b_low)
    keep = np.abs(high) > CANCELLED * (np.abs(a) + np.abs(b))
    return np.where(keep, high, 0.0), np.where(keep, low, 0.0)


def _multiplied(a: Floats, a_low: Floats, b: Floats, b_low: Floats) -> Pair:
    high, low = two_product(a, b)
    if not (a_low.any() or b_low.any()):  # what follows would add zeros
        return high, low
    return two_sum(high, low + (a * b_low + a_low * b))


def _in_strips(
    operation: Callable[[Floats, Floats, Floats, Floats], Pair], a: Sums, b: Sums
) -> Sums:
    """Apply an elementwise operation, some rows at a time where there are many."""
    parts = a.high, a.low, b.high, b.low
    if max(a.high.size, b.high.size) <= STRIP:
        high, error = operation(*parts)
        return Sums(high, error if error.any() else None)
    spread = np.broadcast_arrays(*parts)
    high, low = np.empty(spread[0].shape), cast("Floats | None", None)
    step = max(1, STRIP * len(high) // high.size)
    for begin in range(0, len(high), step):
        strip = slice(begin, begin + step)
        high[strip], error = operation(*(part[strip] for part in spread))
        if error.any():  # counts have none, and their tables are large
            low = np.zeros(high.shape) if low is None else low
            low[strip] = error
    return Sums(high, low)


# --- Sums of floats by group, whose order does not show -------------------------------------------
#
# Added to a large enough power of two, a number loses its last bits; what is left of all numbers
# are multiples of one unit, and few enough of these for every sum of them to be exact. The bits
# that were lost are added up likewise, in turn (Demmel & Nguyen 2015).


HUGE, SMALL_ENOUGH = 1000, 2.0**-100  # an exponent from which on numbers are scaled down, by this


WHOLE = 2.0**53  # float64 holds every whole number up to here


def sum_by_group(values: Floats, group: NDArray[np.integer], groups: int) -> Floats:
    """Return the sum of the numbers of each group, (groups,), whatever their order."""
    largest = np.abs(values).max(initial=0.0)
    # Up to 2^53 whole numbers are added up without rounding; where one is infinite, so is the sum.
    whole = largest * len(values) <= WHOLE and (values == np.rint(values)).all()
    if whole or not np.isfinite(largest):
        return np.bincount(group, values, groups).astype(np.float64)
    if int(np.frexp(largest)[1]) + len(values).bit_length() > HUGE:
        return sum_by_group(values * SMALL_ENOUGH, group, groups) / SMALL_ENOUGH
    total, rest = np.zeros(groups), values
    while largest > 0:
        shift = np.ldexp(1.5, int(np.frexp(largest)[1]) + len(values).bit_length())
        multiples = (rest + shift) - shift
        total += np.bincount(group, multiples, groups)
        rest = rest - multiples
        largest = np.abs(rest).max(initial=0.0)
    return total


# --- Sums that are scattered into a table, in plain NumPy: exact where all terms are whole -------


def scatter(
    cell: NDArray[np.int64],
    value: NDArray[np.number],
    weight: NDArray[np.float64] | None,
    shape: tuple[int, int],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return a table of this shape whose cells are sums of terms."""
    # Term i is ``value[i] * weight[i]`` (without a weight, ``value[i]``), and is added to the cell
    # ``cell[i]`` of the flattened table.
    size = shape[0] * shape[1]
    x = np.asarray(value, np.float64)
    bound = float(len(x))
    whole = True
    for factor in (x,) if weight is None else (x, weight):
        whole = whole and bool((factor == np.rint(factor)).all())
        bound *= float(np.abs(factor).max(initial=0.0))
    if whole and bound <= WHOLE:
        sums = np.bincount(cell, x if weight is None else x * weight, size)
        return sums.reshape(shape).astype(np.float64, copy=False), None
    products = Sums(x) if weight is None else Sums(x) * Sums(weight)
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    total = products[order].total_by_group(starts)
    high, low = np.zeros(size), np.zeros(size)
    high[cells], low[cells] = total.high, total.low
    return high.reshape(shape), low.reshape(shape)
