"""Likelihoods: the derived tables, and how a block is scored with them, ``Σ s(x) · w_c``.

Four forms: log-linear in x, quadratic in x, a table of levels, and pointwise for the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naively.core import compute
from naively.core.block import Codes, Dense, Documents, Sparse
from naively.core.kernels import Finish, Floats

ABSENT = -1  # the item of a contribution that stands for all words a row does not hold


@dataclass(frozen=True, eq=False)
class Contributions:
    """Log likelihoods item by item: ``value[i]`` (classes) is what ``item[i]`` adds to ``row[i]``.

    An item is a column of a dense block, a level of a categorical column (the position after its
    levels where it was never seen), a word, or ``ABSENT``.
    """

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    item: NDArray[np.int64]
    value: Floats


@dataclass(frozen=True, eq=False)
class Typical:
    """What a row of a class may hold: for each row of the axis its log likelihoods (classes).

    ``x`` is the number that was looked at, where the axis does not say it.
    """

    value: Floats
    x: Floats | None = None


class Likelihood(ABC):
    """Log likelihood of a block's rows, derived from a tally."""

    @abstractmethod
    def log_prob(self, block: Any, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        """Add the log likelihood of each row to ``start`` and finish (see ``core.kernels``)."""

    base: Callable[[Floats], Floats] | None  # of a cell: what no class changes

    def log_base(self, block: Any) -> Floats:
        """Return what ``log_prob`` leaves out, as it is the same for every class."""
        if self.base is None:
            return np.zeros(len(block))
        if isinstance(block, Dense):
            total: Floats = np.nansum(self.base(np.asarray(block.values, np.float64)), axis=1)
            return total
        row = np.repeat(np.arange(len(block)), np.diff(block.indptr))
        return np.bincount(row, self.base(block.data), len(block)).astype(np.float64)

    @abstractmethod
    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        """Return the log likelihoods of cells: number (or code) x in a column, (cells, classes)."""

    @abstractmethod
    def weighted(self, weight: Floats) -> Self:
        """Multiply the evidence of each column (of each word, for texts) by its weights.

        ``weight`` is (columns, classes). What they multiply is centred over the classes; where it
        cannot be (``centres`` is false), the weights of a column must be equal.
        """

    centres: ClassVar[bool] = True

    def linear(self) -> tuple[Floats, Floats]:
        """Return slopes (of columns, levels or words) and constants by class.

        Up to what no class changes.

        Raises
        ------
        ValueError
            If the log odds are no straight line; it says why.
        """
        raise ValueError("the log odds of what is integrated out are a curve; estimate otherwise.")

    @abstractmethod
    def contributions(self, block: Any) -> Contributions:
        """Return the log likelihood item by item; over a row they sum to ``log_prob``."""

    @abstractmethod
    def typical(self, c: int) -> Typical:
        """Return the log likelihoods of each word or level, or of a number typical of class c."""


@dataclass(frozen=True, eq=False)
class LogLinear(Likelihood):
    """``Σ_j offset_j + x_j · slope_j`` over present cells.

    A slope or offset may be -inf (0 · log 0 is 0: an impossible event counts only where it
    happens); an offset of -inf with a slope of +inf is an event that must happen.
    """

    slope: Floats
    offset: Floats | None = None
    base: Callable[[Floats], Floats] | None = None

    @cached_property
    def _finite(self) -> tuple[Floats, Floats | None, Floats]:
        """Slope, offset and its sum, with infinities as 0."""
        slope = _finite(self.slope)
        if self.offset is None:
            return slope, None, np.zeros(slope.shape[1])
        offset = _finite(self.offset)
        return slope, offset, offset.sum(axis=0)

    @cached_property
    def _impossible(self) -> LogLinear | None:
        """Counts, in the same form, how many impossible events a row holds."""
        tables = [self.slope] if self.offset is None else [self.slope, self.offset]
        if all(np.isfinite(table).all() for table in tables):
            return None
        slope, *offset = [np.where(np.isinf(table), -np.sign(table), 0.0) for table in tables]
        return LogLinear(slope, offset[0] if offset else None)

    def log_prob(self, block: Any, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        if self._impossible is None:
            return self._score(block, start, finish, log_prior)
        joint = self._score(block, start, "joint", log_prior)
        broken = self._impossible.log_prob(block, np.zeros_like(log_prior), "joint", log_prior)
        joint[broken > 0] = -np.inf
        return compute.finish_rows(joint, finish, log_prior)

    def _score(self, block: Any, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        slope, offset, base = self._finite
        if isinstance(block, Dense):
            start = start + base if offset is not None else start
            return compute.score_linear(block.values, slope, offset, start, finish, log_prior)
        if isinstance(block, Sparse):
            start = start + base if offset is not None else start
            return compute.score_csr(
                block.indptr, block.indices, block.data, slope, start, finish, log_prior
            )
        if isinstance(block, Documents):
            if offset is not None:
                start = start + np.where(block.missing[:, None], 0.0, base)
            return block.axis.vocabulary.score(
                block.texts, slope, start, block.presence, finish, log_prior
            )
        raise TypeError(f"a log-linear likelihood cannot score a {type(block).__name__}")

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        x = x.astype(np.float64)[:, None]
        with np.errstate(invalid="ignore"):
            value = np.where(x == 0, 0.0, x * self.slope[column])
            if self.offset is not None:
                value = value + self.offset[column]
        return np.nan_to_num(value, nan=0.0, neginf=-np.inf)

    def weighted(self, weight: Floats) -> LogLinear:
        both = self.slope if self.offset is None else self.slope + self.offset
        finite = np.isfinite(both).all(axis=1)
        offset = None if self.offset is None else times(self.offset, weight, finite)
        return replace(self, slope=times(self.slope, weight, finite), offset=offset)

    def contributions(self, block: Any) -> Contributions:
        if isinstance(block, Dense):
            row, item = np.nonzero(~np.isnan(block.values))
            return Contributions(row, item, item, self.at(block.values[row, item], item))
        if isinstance(block, Sparse):
            indptr, indices, data = block.indptr, block.indices, block.data
            present = np.ones(len(block), np.bool_)
        elif isinstance(block, Documents):
            indptr, indices, data = block.axis.vocabulary.encode(block.texts, block.presence)
            present = ~block.missing
        else:
            raise TypeError(f"a log-linear likelihood cannot explain a {type(block).__name__}")
        stored = data != 0
        row = np.repeat(np.arange(len(block)), np.diff(indptr))[stored]
        item = indices.astype(np.int64)[stored]
        value = data[stored].astype(np.float64)[:, None] * self.slope[item]
        column = item if isinstance(block, Sparse) else np.zeros_like(item)
        if self.offset is None:
            return Contributions(row, column, item, value)
        with np.errstate(invalid="ignore"):
            value = np.nan_to_num(value + self.offset[item], nan=0.0, neginf=-np.inf)
        absent = self._absent(row, item, present)
        there = np.flatnonzero(present)
        return Contributions(
            np.concatenate([row, there]),
            np.concatenate(
                [column, np.full(len(there), ABSENT if isinstance(block, Sparse) else 0)]
            ),
            np.concatenate([item, np.full(len(there), ABSENT)]),
            np.concatenate([value, absent[there]]),
        )

    def linear(self) -> tuple[Floats, Floats]:
        if self._impossible is not None:
            raise ValueError(
                "what is impossible in a class has no finite weight; smooth, with alpha above 0."
            )
        return self.slope, self._finite[2]

    def typical(self, c: int) -> Typical:  # noqa: ARG002
        if self.offset is None:
            return Typical(self.slope)
        with np.errstate(invalid="ignore"):
            return Typical(np.nan_to_num(self.slope + self.offset, nan=0.0, neginf=-np.inf))

    def _absent(
        self, row: NDArray[np.int64], item: NDArray[np.int64], present: NDArray[np.bool_]
    ) -> Floats:
        """Sum the offsets of what each row does not hold."""
        assert self.offset is not None
        _, offset, base = self._finite
        assert offset is not None
        absent = np.where(present[:, None], base, 0.0)
        np.subtract.at(absent, row, offset[item])
        required = np.isneginf(self.offset)
        if required.any():
            lacking = np.where(present[:, None], required.sum(axis=0), 0)
            np.subtract.at(lacking, row, required[item].astype(np.int64))
            absent[lacking > 0] = -np.inf
        return absent


def times(table: Floats, weight: Floats, finite: Any = None) -> Floats:
    """Centre each row over the classes and multiply it by its weights.

    A row that is not finite stays where it is, and takes the mean of its weights; 0 · -inf is 0,
    as what does not count is not impossible.
    """
    if finite is None:
        finite = np.isfinite(table).all(axis=1)
    finite = np.reshape(finite, (-1, 1))
    with np.errstate(invalid="ignore"):
        centred = np.where(finite, table - table.mean(axis=1, keepdims=True), table)
        scale = np.where(finite, weight, weight.mean(axis=1, keepdims=True))
        return np.where(scale == 0, 0.0, centred * scale)


def _finite(table: Floats) -> Floats:
    """Return the table with infinities as 0; the table itself where it has none."""
    return table if np.isfinite(table).all() else np.where(np.isfinite(table), table, 0.0)


@dataclass(frozen=True, eq=False)
class Quadratic(Likelihood):
    """``Σ_j offset_j - half_precision_j · (x_j - mean_j)²`` over present cells, never expanded."""

    mean: Floats
    half_precision: Floats
    offset: Floats
    base: Callable[[Floats], Floats] | None = None
    centres = False

    @cached_property
    def _base(self) -> Floats:
        base: Floats = self.offset.sum(axis=0)
        return base

    def log_prob(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        return compute.score_quadratic(
            block.values,
            self.mean,
            self.half_precision,
            self.offset,
            start + self._base,
            finish,
            log_prior,
        )

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        distance = x.astype(np.float64)[:, None] - self.mean[column]
        value: Floats = self.offset[column] - self.half_precision[column] * distance**2
        return value

    def weighted(self, weight: Floats) -> Quadratic:
        scale = weight  # alike for all classes
        return replace(self, half_precision=self.half_precision * scale, offset=self.offset * scale)

    def contributions(self, block: Dense) -> Contributions:
        row, item = np.nonzero(~np.isnan(block.values))
        return Contributions(row, item, item, self.at(block.values[row, item], item))

    def linear(self) -> tuple[Floats, Floats]:
        if self.base is not None:
            raise ValueError("they are linear in the logarithms of the columns; take these first.")
        half = self.half_precision[:, :1]
        if not (self.half_precision == half).all():
            raise ValueError(
                "each class has a variance of its own, so that the log odds hold x squared; "
                'choose Gaussian(variance="shared").'
            )
        middle = self.mean.mean(axis=1, keepdims=True)  # near the means nothing cancels
        apart = self.mean - middle
        constant = (self.offset - half * apart * (self.mean + middle)).sum(axis=0)
        return 2 * half * apart, constant

    def typical(self, c: int) -> Typical:
        x = self.mean[:, c]
        distance = x[:, None] - self.mean
        return Typical(self.offset - self.half_precision * distance**2, x)


@dataclass(frozen=True, eq=False)
class Table(Likelihood):
    """``Σ_j table[first_j + code_j]``; each column's last row is for levels never seen."""

    table: Floats
    first: NDArray[np.int64]
    base = None

    def log_prob(self, block: Codes, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        return compute.score_codes(block.codes, self.first, self.table, start, finish, log_prior)

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        last = np.diff(self.first)[column] - 1
        value: Floats = self.table[self.first[column] + np.minimum(x.astype(np.int64), last)]
        return value

    def weighted(self, weight: Floats) -> Table:
        weight = np.repeat(weight, np.diff(self.first), axis=0)
        return replace(self, table=times(self.table, weight))

    def contributions(self, block: Codes) -> Contributions:
        row, column = np.nonzero(block.codes >= 0)
        last = np.diff(self.first)[column] - 1
        code = np.minimum(block.codes[row, column].astype(np.int64), last)
        return Contributions(row, column, code, self.table[self.first[column] + code])

    def linear(self) -> tuple[Floats, Floats]:
        known = self._known
        if not np.isfinite(known).all():
            raise ValueError(
                "a level that is impossible in a class has no finite weight; smooth, with alpha "
                "above 0."
            )
        return known, np.zeros(known.shape[1])

    def typical(self, c: int) -> Typical:  # noqa: ARG002
        return Typical(self._known)

    @property
    def _known(self) -> Floats:
        """The levels that were seen."""
        known = np.ones(len(self.table), np.bool_)
        known[self.first[1:] - 1] = False
        return self.table[known]


@dataclass(frozen=True, eq=False)
class Pointwise(Likelihood):
    """A likelihood without natural parameters.

    ``log_density(x, column)`` returns the log likelihoods of cells, of shape (cells, classes);
    ``centre`` holds a typical number of each column and class.
    """

    log_density: Callable[[Floats, NDArray[np.int64]], Floats]
    centre: Floats
    base: Callable[[Floats], Floats] | None = None
    centres = False

    def log_prob(self, block: Dense, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        joint = np.empty((len(block), len(log_prior)))
        joint[...] = start
        cells = self.contributions(block)
        np.add.at(joint, cells.row, cells.value)
        return compute.finish_rows(joint, finish, log_prior)

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        return self.log_density(x.astype(np.float64), column)

    def weighted(self, weight: Floats) -> Pointwise:
        return replace(
            self,
            log_density=lambda x, column: times(
                self.log_density(x, column), weight[column], np.False_
            ),
        )

    def contributions(self, block: Dense) -> Contributions:
        row, item = np.nonzero(~np.isnan(block.values))
        return Contributions(row, item, item, self.at(block.values[row, item], item))

    def typical(self, c: int) -> Typical:
        x = self.centre[:, c]
        return Typical(self.log_density(x, np.arange(len(x))), x)
