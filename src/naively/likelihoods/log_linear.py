"""Log-linear likelihoods: ``Σ_j offset_j + x_j · slope_j``, of counts, words and booleans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Words
from naively.counting.block import Dense, Sparse
from naively.counting.documents import Counts, Documents
from naively.kernels import dispatch
from naively.kernels.reference import Finish, Finished, Floats, clipped
from naively.likelihoods.base import ABSENT, Contributions, Likelihood, Typical, multiply


@dataclass(frozen=True, eq=False)
class LogLinear(Likelihood[Counts]):
    """``Σ_j offset_j + x_j · slope_j`` over present cells.

    A slope or offset may be -inf (0 · log 0 is 0: an impossible event counts only where it
    happens); an offset of -inf with a slope of +inf is an event that must happen, in every trial.

    Parameters
    ----------
    slope : ndarray of shape (columns or words, classes)
        What the number of a cell is multiplied by.
    offset : ndarray of shape (columns or words, classes), optional
        What each cell that is not missing adds, even if it is 0; by default nothing.
    base : callable, optional
        Returns the log base measure of a block's rows, of shape (rows,).
    trials : int, default 1
        How often an event that must happen does: the greatest number that a cell can hold then.
    """

    slope: Floats
    offset: Floats | None = None
    base: Callable[[Counts], Floats] | None = None
    trials: int = 1

    @cached_property
    def _finite(self) -> tuple[Floats, Floats | None, Floats]:
        """Slope, offset and the offset's sum, (classes,), with infinities as 0."""
        slope = _finite(self.slope)
        if self.offset is None:
            return slope, None, np.zeros(slope.shape[1])
        offset = _finite(self.offset)
        return slope, offset, offset.sum(axis=0)

    @cached_property
    def _impossible(self) -> LogLinear | None:
        """The score that is a row's number of impossible events; None if no event is impossible."""
        tables = [self.slope] if self.offset is None else [self.slope, self.offset]
        if all(np.isfinite(table).all() for table in tables):
            return None
        slope, *offset = [np.where(np.isinf(table), -np.sign(table), 0.0) for table in tables]
        # What must happen in every trial has the sum 0 if it does, and else more.
        return LogLinear(slope, self.trials * offset[0] if offset else None)

    def log_prob(self, block: Counts, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        if self._impossible is None:
            return self._score(block, start, finish, log_prior)
        joint = self._score(block, start, "joint", log_prior)
        broken = self._impossible.log_prob(block, np.zeros_like(log_prior), "joint", log_prior)
        joint[broken > 0] = -np.inf
        return dispatch.finish_rows(joint, finish, log_prior)

    def _score(self, block: Counts, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        """Return the finished score, with infinite slopes and offsets as 0."""
        slope, offset, base = self._finite
        if isinstance(block, Dense):
            start = start + base
            tables = slope, offset, start, finish, log_prior
            return dispatch.score_linear(block.values, *tables, block.complete)
        if offset is not None:
            start = start + np.where(block.missing[:, None], 0.0, base)
        words = block.split()
        csr = words.indptr, words.indices, words.data
        return dispatch.score_csr(*csr, slope, start, finish, log_prior, words.complete)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        x = clipped(x)[:, None]
        value = np.where(x == 0, 0.0, self._times(x, column))
        if self.offset is None:
            return np.nan_to_num(value, nan=0.0, neginf=-np.inf)
        return self._with_offset(value, x, column)

    def _times(self, x: Floats, column: NDArray[np.int64]) -> Floats:
        """Return x · slope, (cells, classes): infinite where it is larger than any float."""
        with np.errstate(invalid="ignore", over="ignore"):
            return x * self.slope[column]

    def _with_offset(self, value: Floats, x: Floats, column: NDArray[np.int64]) -> Floats:
        """Add the offsets to x · slope, (cells, classes); what must happen and does adds 0."""
        assert self.offset is not None
        with np.errstate(invalid="ignore"):
            found = value + self.offset[column]
        found = np.where(np.isnan(found) & (x < self.trials), -np.inf, found)
        return np.nan_to_num(found, nan=0.0, neginf=-np.inf)

    def weighted(self, weight: Floats) -> LogLinear:
        with np.errstate(invalid="ignore"):  # inf - inf for what must happen
            both = self.slope if self.offset is None else self.slope + self.offset
        finite = np.isfinite(both).all(axis=1)
        offset = None if self.offset is None else multiply(self.offset, weight, finite)
        return replace(self, slope=multiply(self.slope, weight, finite), offset=offset)

    def normalised_by_length(self) -> Likelihood:
        return LengthNormalised(self)

    def contributions(self, block: Counts) -> Contributions:
        return self._contributions(block, itemised=False)

    def itemised(self, block: Counts) -> Contributions:
        return self._contributions(block, itemised=True)

    def _contributions(self, block: Counts, *, itemised: bool) -> Contributions:
        """Return an item for each cell that is not 0, and one for all cells that are 0."""
        if isinstance(block, Dense):
            return super().contributions(block)
        of_text = isinstance(block.axis, Words)
        row, item, x = block.entries()
        row, item, x = (part[x != 0] for part in (row, item, x))
        value = self._times(x[:, None], item)
        column = np.zeros_like(item) if of_text else item
        if self.offset is None:
            return Contributions(row, column, item, value)
        value = self._with_offset(value, x[:, None], item)
        there = np.flatnonzero(~block.missing)
        absent = self._absent(row, item, ~block.missing)
        found = [(row, column, item, value)]
        if itemised and np.isneginf(absent).any():
            found += self._required(row, item, there, absent, of_text=of_text)
        of_all = np.full(len(there), 0 if of_text else ABSENT)
        found.append((there, of_all, np.full(len(there), ABSENT), absent[there]))
        return Contributions(*map(np.concatenate, zip(*found, strict=True)))

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
        """Return the sum of the offsets of the items absent from each row, (rows, classes)."""
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

    def _required(
        self,
        row: NDArray[np.int64],
        item: NDArray[np.int64],
        there: NDArray[np.int64],
        absent: Floats,
        *,
        of_text: bool,
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]]:
        """Take absent items that are required out of the sums ``absent``, (rows, classes).

        They are returned as rows, columns, items and log likelihoods, as in ``Contributions``.
        """
        assert self.offset is not None
        _, offset, base = self._finite
        assert offset is not None
        required = np.flatnonzero(np.isneginf(self.offset).any(axis=1))
        found = []
        for r in there[np.isneginf(absent[there]).any(axis=1)].tolist():
            present = item[row == r]
            lacks = np.setdiff1d(required, present)
            absent[r] = base - offset[present].sum(axis=0) - offset[lacks].sum(axis=0)
            column = np.zeros_like(lacks) if of_text else lacks
            found.append((np.full(len(lacks), r), column, ABSENT - 1 - lacks, self.offset[lacks]))
        return found


def _finite(table: Floats) -> Floats:
    """Return the table with infinities as 0; the table itself if it has none."""
    return table if np.isfinite(table).all() else np.where(np.isfinite(table), table, 0.0)


def length_factor(length: NDArray[np.number]) -> Floats:
    """Return the factors of the evidence of texts with so many tokens, (texts,).

    >>> length_factor(np.array([0, 1, 4]))
    array([1. , 1. , 0.5])
    """
    factor: Floats = 1 / np.sqrt(np.maximum(length, 1))
    return factor


@dataclass(frozen=True, eq=False)
class LengthNormalised(Likelihood[Sparse | Documents]):
    """The evidence of each text's words over the square root of its number of known words."""

    words: LogLinear
    base = None

    @cached_property
    def _with_length(self) -> LogLinear:
        """The words' slopes, with a further class whose score is the number of known words."""
        one = np.ones((len(self.words.slope), 1))
        return LogLinear(np.hstack([self.words.slope, one]))

    def log_prob(
        self, block: Sparse | Documents, start: Floats, finish: Finish, log_prior: Floats
    ) -> Finished:
        none = np.zeros(len(log_prior) + 1)
        found = self._with_length.log_prob(block, none, "joint", none)
        joint = found[:, :-1] * length_factor(found[:, -1])[:, None]
        joint += start
        return dispatch.finish_rows(joint, finish, log_prior)

    def log_base(self, block: Sparse | Documents) -> Floats:
        return self.words.log_base(block)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        return self.words.at(x, column)

    def weighted(self, weight: Floats) -> LengthNormalised:
        return replace(self, words=self.words.weighted(weight))

    def linear(self) -> tuple[Floats, Floats]:
        raise ValueError(
            "the evidence of a text is divided by the square root of its length, which is no "
            "straight line; learn with weights=None."
        )

    def contributions(self, block: Sparse | Documents) -> Contributions:
        words = block.split()
        found = self.words.contributions(words)
        return replace(found, value=found.value * length_factor(words.lengths)[found.row, None])

    def typical(self, c: int) -> Typical:
        return self.words.typical(c)
