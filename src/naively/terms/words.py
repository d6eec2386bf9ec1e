"""Terms of counts and words: lines, slopes of words, and Pólya's urn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Never, TypeGuard, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Words
from naively.counting.block import FEW_CLASSES, Counts, Dense, Documents, Sparse
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.reference import FAR, Finish, Finished, Floats, clipped
from naively.kernels.sparse_sums import SparseSums
from naively.terms.kinds import (
    ABSENT,
    EVERY,
    FunctionTerms,
    Items,
    Rows,
    TermBlock,
    Typical,
    multiply,
)
from naively.terms.views import AnyTerm, LineTerm, PresenceTerm, Readable

# --- Lines: ``Σ_j offset_j + x_j · slope_j``, of counts, words and booleans ----------------------


class LineTerms(TermBlock[Counts], Frozen):
    """``Σ_j offset_j + x_j · slope_j`` over present cells.

    A slope or offset may be -inf (0 · log 0 is 0: an impossible event counts only where it
    happens); an offset of -inf with a slope of +inf is an event that must happen, in every trial.
    """

    slope: Floats  # (columns or words, classes): what the number of a cell is multiplied by
    # (columns or words, classes): what each cell that is not missing adds, even if it is 0; by
    # default nothing.
    offset: Floats | None = None
    # Returns the log base measure of a block's rows, of shape (rows,).
    base: Callable[[Counts], Floats] | None = None
    # How often an event that must happen does: the greatest number that a cell can hold then.
    trials: int = 1
    # A text's evidence is divided by this power of the number of its known words; then no word may
    # be impossible, and there are no offsets.
    length_power: float = 0.0

    @cached_property
    def _finite(self) -> tuple[Floats, Floats | None, Floats]:
        """Slope, offset and the offset's sum, (classes,), with infinities as 0."""
        slope = _finite(self.slope)
        if self.offset is None:
            return slope, None, np.zeros(slope.shape[1])
        offset = _finite(self.offset)
        return slope, offset, offset.sum(axis=0)

    @cached_property
    def _impossible(self) -> LineTerms | None:
        """The score that is a row's number of impossible events; None if no event is impossible."""
        tables = [self.slope] if self.offset is None else [self.slope, self.offset]
        if all(np.isfinite(table).all() for table in tables):
            return None
        slope, *offset = [np.where(np.isinf(table), -np.sign(table), 0.0) for table in tables]
        # What must happen in every trial has the sum 0 if it does, and else more.
        return LineTerms(slope, self.trials * offset[0] if offset else None)

    @cached_property
    def _with_length(self) -> LineTerms:
        """The words' slopes, with a further class whose score is the number of known words."""
        return LineTerms(np.hstack([self.slope, np.ones((len(self.slope), 1))]))

    def add(self, block: Counts, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        if self.length_power:
            none = np.zeros(len(log_prior) + 1)
            found = self._with_length.add(block, none, "joint", none)
            joint = found[:, :-1] * length_factor(found[:, -1], self.length_power)[:, None]
            return dispatch.finish_rows(joint + start, finish, log_prior)
        if self._impossible is None:
            return self._score(block, start, finish, log_prior)
        joint = self._score(block, start, "joint", log_prior)
        broken = self._impossible.add(block, np.zeros_like(log_prior), "joint", log_prior)
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

    def weighted(self, weight: Floats) -> LineTerms:
        with np.errstate(invalid="ignore"):  # inf - inf for what must happen
            both = self.slope if self.offset is None else self.slope + self.offset
        finite = np.isfinite(both).all(axis=1)
        offset = None if self.offset is None else multiply(self.offset, weight, finite)
        return replace(self, slope=multiply(self.slope, weight, finite), offset=offset)

    def over_length(self, power: float) -> LineTerms:
        return replace(self, length_power=power)

    def itemised(self, block: Counts) -> Items:
        return self.items(block, itemised=True)

    def items(self, block: Counts, *, itemised: bool = False) -> Items:
        """Return an item for each cell that is not 0, and one for all cells that are 0."""
        if isinstance(block, Dense):
            return super().items(block)
        row, column, item, x = _not_zero(block)
        value = self._times(x[:, None], item)
        if self.offset is None:
            if self.length_power:
                value *= length_factor(block.split().lengths, self.length_power)[row, None]
            return Items(row, column, item, value)
        value = self._with_offset(value, x[:, None], item)
        there = np.flatnonzero(~block.missing)
        absent = self._absent(row, item, ~block.missing)
        found = [(row, column, item, value)]
        of_text = isinstance(block.axis, Words)
        if itemised and np.isneginf(absent).any():
            found += self._required(row, item, there, absent, of_text=of_text)
        of_all = np.full(len(there), 0 if of_text else ABSENT)
        found.append((there, of_all, np.full(len(there), ABSENT), absent[there]))
        return Items(*map(np.concatenate, zip(*found, strict=True)))

    def linear(self) -> tuple[Floats, Floats]:
        if self.length_power:
            raise ValueError(CURVED)
        if self._impossible is not None:
            raise ValueError(
                "what is impossible in a class has no finite weight; smooth, with alpha above 0."
            )
        return self.slope, self._finite[2]

    def each(self, columns: Readable) -> Iterator[AnyTerm]:
        offset, none = self.offset, np.zeros(self.slope.shape[1])
        if offset is not None and (not np.isfinite(offset).all() or np.isposinf(self.slope).any()):
            raise ValueError(
                "an event of it must happen, or cannot, in some class; smooth, with alpha above 0, "
                "so that numbers are finite"
            )
        if (text := columns.text) is not None:
            there = none if offset is None else offset.sum(axis=0)
            yield replace(text, length_power=self.length_power, there=there, points=self.slope)
            return
        for j, cell in enumerate(columns.cells):
            if offset is not None:
                yield PresenceTerm(cell, offset[j], none)
            yield LineTerm(cell, -FAR, FAR, 0.0, self.slope[j])

    def typical(self, c: int, rows: Rows = EVERY) -> Typical:  # noqa: ARG002
        slope = self.slope[rows]
        if self.offset is None:
            return slope, None
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(slope + self.offset[rows], nan=0.0, neginf=-np.inf), None

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
        """Take absent items that are required out of the sums ``absent``, (rows, classes)."""
        # They are returned as rows, columns, items and log likelihoods, as in ``Contributions``.
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


def _not_zero(
    block: Counts,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return the rows, columns (0 of a text), items and numbers of the cells that are not 0."""
    row, item, x = block.entries()
    row, item, x = (part[x != 0] for part in (row, item, x))
    return row, np.zeros_like(item) if isinstance(block.axis, Words) else item, item, x


def _finite(table: Floats) -> Floats:
    """Return the table with infinities as 0; the table itself if it has none."""
    return table if np.isfinite(table).all() else np.where(np.isfinite(table), table, 0.0)


LENGTH_POWER = 0.5  # of a text's number of known words, which its evidence is divided by


def length_factor(length: NDArray[np.number], power: float = LENGTH_POWER) -> Floats:
    """Return the factors of the evidence of texts with so many tokens, (texts,)."""
    return np.asarray(np.power(np.maximum(length, 1.0), -power))


CURVED = (
    "the evidence of a text is divided by a power of its length, which is no straight line; learn "
    "with weights=None."
)


# --- Bags of words from Pólya's urn: each row's word probabilities are drawn from a Dirichlet ----
#
# The likelihood of a row is the multinomial's with the probabilities integrated out (the
# Dirichlet-multinomial), so that a word seen once is expected again.


LEAST = 1e-300  # pretend counts that are not 0: log Γ of less is infinite


def cells_of_urn(x: Floats, count: Floats, total: Floats, length: Floats) -> Floats:
    """Return log likelihoods of cells, (cells, classes), which sum to those of their rows."""
    # x (cells,): how often the word is in the row; count, total (cells, classes): the counts of the
    # word and of all words, with pretend counts; length (cells,): how many words the row has, which
    # share the terms that depend on it
    from scipy.special import gammaln

    x, length = x[:, None], length[:, None]
    of_word, of_all = np.maximum(count, LEAST), np.maximum(total, LEAST)
    drawn = np.where(count > 0, gammaln(of_word + x) - gammaln(of_word), -np.inf)
    value = drawn + x / length * (gammaln(of_all) - gammaln(of_all + length))
    return np.where(total > 0, value, 0.0)  # 0 in a class without any counts


def log_orders(block: Counts, row: NDArray[np.int64], x: Floats) -> Floats:
    """Return the log of how many orders each row's words can have, (rows,), from their cells."""
    # A text is a sequence of words, whose order is given: it has one.
    from scipy.special import gammaln

    x, rows = clipped(x), len(block)
    if isinstance(block.axis, Words):
        return np.zeros(rows)
    length = np.bincount(row, x, rows)
    return gammaln(length + 1) - np.bincount(row, gammaln(x + 1), rows)


def log_coefficient(block: Counts) -> Floats:
    """Return each row's log multinomial coefficient, (rows,), the base measure of counts."""
    row, _, x = block.entries()
    return log_orders(block, row, x)


def urn_terms(count: Floats) -> FunctionTerms:
    """Return ``log Γ(A_c) - log Γ(A_c + n) + Σ_w log Γ(count_wc + x_w) - log Γ(count_wc)``."""
    # A_c is the sum of the counts of class c, (words, classes), with pretend counts, and n the
    # number of words in the row; a word without any adds 0.
    total = count.sum(axis=0)

    def of_cells(x: Floats, word: NDArray[np.int64]) -> Floats:
        every = np.tile(total, (len(x), 1))
        value = cells_of_urn(x, count[word], every, np.maximum(x, LEAST))
        return np.where(x[:, None] == 0, 0.0, value)

    def known(block: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        row, word, x = block.entries()
        of = np.flatnonzero((count[word] > 0).any(axis=1) & (x > 0))
        return row[of], word[of], clipped(x[of])

    def of_rows(block: Counts) -> Items:
        row, word, x = known(block)
        length = np.bincount(row, x, len(block)).astype(np.float64)[row]
        value = cells_of_urn(x, count[word], np.tile(total, (len(x), 1)), length)
        column = np.zeros_like(word) if isinstance(block.axis, Words) else word
        return Items(row, column, word, value)

    def base(block: Counts) -> Floats:
        row, _, x = known(block)
        return log_orders(block, row, x)

    return FunctionTerms(of_cells, np.broadcast_to(1.0, count.shape), base, of_rows)


# --- Terms of words: ``Σ x · slope``, where most words have in most classes what all have there ---
#
# In a class that a word never came in, its slope is that of any word that never came in it. So a
# slope is that of the word's band, and something more in the few classes that the word came in;
# there is no table of words × classes.


MOST_BANDS = 255


@final
class WordTerms(TermBlock[Counts], Frozen):
    """``Σ_j x_j · slope_j`` over words (or columns), of finite slopes.

    The slope of a word is that of its band, plus the word's shift times the weight of its band,
    plus what is stored for the word and the class, if anything is.
    """

    # (words + 1,): where the stored numbers of each word begin, and where the last ends.
    first: NDArray[np.int64]
    classes: NDArray[np.int32]  # (stored,): the class of each, ascending within a word
    value: Floats  # (stored,): the numbers
    shift: Floats  # (words,): what is added for every class, times the weight of the band
    # (bands, classes): the slope of any word of a band in each class, and the weight of the band.
    of_band: Floats
    weight: Floats
    band: NDArray[np.uint8]  # (words,): the band of each word; by default there is one for all
    # A text's evidence is divided by this power of the number of its known words.
    length_power: float = 0.0
    # Returns the log base measure of a block's rows, of shape (rows,).
    base: Callable[[Counts], Floats] | None = None
    # What each word of all adds to a text that is not missing, whether or not the text holds it:
    # the log probability that the word is absent. By default nothing.
    absent: WordTerms | None = None

    @classmethod
    def of_one_band(
        cls, count: SparseSums, value: Floats, shift: Floats, slope: Floats
    ) -> WordTerms:
        """Return slopes of words of one band, whose own slope is of shape (classes,)."""
        # Numbers are stored where counts are.
        words, k = count.shape
        of_band = slope[None], np.ones((1, k)), np.zeros(words, np.uint8)
        return cls(count.first, count.classes, value, shift, *of_band)

    @property
    def slope(self) -> Floats:
        """The slopes of all words, of shape (words, classes)."""
        return self.slopes(np.arange(len(self.shift)))

    def slopes(self, word: NDArray[np.integer]) -> Floats:
        """Return the slopes of some words, of shape (words, classes)."""
        band = self.band[word]
        table: Floats = self.of_band[band] + self.shift[word][:, None] * self.weight[band]
        size = self.first[word + 1] - self.first[word]
        row = np.repeat(np.arange(len(word)), size)
        at = np.repeat(self.first[word] - (np.cumsum(size) - size), size) + np.arange(len(row))
        table[row, self.classes[at]] += self.value[at]
        return table

    def total(self) -> Floats:
        """Return the sum of the slopes of all words in each class, (classes,)."""
        bands = len(self.of_band)
        words = np.bincount(self.band, minlength=bands)
        shifts = np.bincount(self.band, self.shift, bands)
        stored = np.bincount(self.classes, self.value, self.of_band.shape[1])
        return np.asarray(words @ self.of_band + shifts @ self.weight + stored)

    def over(self, size: Floats) -> WordTerms:
        """Return this with the slopes of each class divided by a number, of shape (classes,)."""
        value, of_band = self.value / size[self.classes], self.of_band / size
        return replace(self, value=value, of_band=of_band, weight=self.weight / size)

    @cached_property
    def _table(self) -> Floats:
        """The slopes of all words, kept for texts that are scored as they are read."""
        return np.ascontiguousarray(self.slope)

    def reads_texts(self, block: Counts) -> TypeGuard[Documents]:
        """Whether texts are scored as they are read: words add their slopes each time they come."""
        # With many classes the slopes of all words would take much memory.
        return (
            isinstance(block, Documents)
            and block.found is None
            and not block.presence
            and self.absent is None
            and self.length_power == 0
            and self.of_band.shape[1] <= FEW_CLASSES
        )

    def add(self, block: Counts, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        if isinstance(block, Dense):
            return self.whole().add(block, start, finish, log_prior)
        if self.reads_texts(block):
            shape = len(block), len(log_prior)
            every = np.ascontiguousarray(np.broadcast_to(start, shape))
            every = block.axis.vocabulary.add_scores(block.texts, self._table, every)
            return dispatch.finish_rows(every, finish, log_prior)
        words = block.split()
        if self.absent is not None:
            missing = block.missing
            base = self.absent.total()
            start = start + (np.where(missing[:, None], 0.0, base) if missing.any() else base)
        times = None if words.presence else clipped(words.data)
        indices = words.indices.astype(np.int32, copy=False)
        stored = self.first, self.classes, self.value, self.band, self.shift
        bands = self.of_band, self.weight, self.length_power
        rest = start, finish, log_prior
        return dispatch.score_sparse(words.indptr, indices, times, *stored, *bands, *rest)

    def by_part(self, block: Sparse, part: NDArray[np.integer], parts: int) -> Floats:
        """Return the log likelihoods of the parts of texts, each a text, (rows, parts, classes)."""
        # part (words,): the number of each word's part
        assert self.absent is None
        row, word, x = block.entries()
        of_word = part.astype(np.uint16)[word]  # few bits are sorted in a pass over them
        order = np.argsort(of_word, kind="stable")
        text = of_word.astype(np.int64) * len(block) + row
        indptr = np.append(0, np.cumsum(np.bincount(text, minlength=len(block) * parts)))
        times = x if block.presence else x[order]  # of the former all are 1
        texts = Sparse(indptr, word[order], times, block.axis, presence=block.presence)
        none = np.zeros(self.of_band.shape[1])
        found = self.over_length(0.0).add(texts, none, "joint", none)
        return found.reshape(parts, len(block), len(none)).transpose(1, 0, 2)

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        x = clipped(x)[:, None]
        found = np.nan_to_num(np.where(x == 0, 0.0, x * self.slopes(column)), nan=0.0)
        return found if self.absent is None else found + self.absent.slopes(column)

    def weighted(self, weight: Floats) -> Never:  # noqa: ARG002
        raise TypeError("words are weighted by their parts: weighted_by_part")

    def weighted_by_part(self, weight: Floats, part: NDArray[np.integer]) -> WordTerms | LineTerms:
        """Return this, without weights yet, with its slopes centred, times those of the parts."""
        # What a word adds in every class goes when it is centred, if it adds the same.
        differs = bool((self.weight != self.weight[0, 0]).any())
        if differs or len(weight) > MOST_BANDS:
            return self.whole().weighted(weight[part])
        k = self.of_band.shape[1]
        row = np.repeat(np.arange(len(self.shift)), np.diff(self.first))
        mean = np.bincount(row, self.value, len(self.shift)) / k
        centred = self.of_band[0] - self.of_band[0].mean()
        return replace(
            self,
            value=self.value * weight[part[row], self.classes],
            shift=-mean,
            of_band=centred * weight,
            weight=weight,
            band=part.astype(np.uint8),
            absent=None if self.absent is None else self._absent_by_part(weight, part),
        )

    def _absent_by_part(self, weight: Floats, part: NDArray[np.integer]) -> WordTerms:
        assert self.absent is not None
        found = self.absent.weighted_by_part(weight, part)
        assert isinstance(found, WordTerms)  # it has no more parts than the words have
        return found

    @property
    def offset(self) -> Floats | None:
        """What each word adds even where it is absent, (words, classes); None if nothing."""
        return None if self.absent is None else self.absent.slope

    def whole(self) -> LineTerms:
        """Return the same with tables of words × classes."""
        return LineTerms(self.slope, self.offset, base=self.base)

    def over_length(self, power: float) -> WordTerms:
        return replace(self, length_power=power)

    def linear(self) -> tuple[Floats, Floats]:
        if self.length_power:
            raise ValueError(CURVED)
        if self.absent is not None:
            return self.slope, self.absent.total()
        return self.slope, np.zeros(self.of_band.shape[1])

    def items(self, block: Counts) -> Items:
        if isinstance(block, Dense):
            return super().items(block)
        words: Sparse = block.split()
        row, column, item, x = _not_zero(words)
        value = x[:, None] * self.slopes(item)
        if self.length_power:
            value *= length_factor(words.lengths, self.length_power)[row, None]
        if self.absent is None:
            return Items(row, column, item, value)
        of_item = self.absent.slopes(item)
        others = np.where(block.missing[:, None], 0.0, self.absent.total())
        np.subtract.at(others, row, of_item)
        there = np.flatnonzero(~block.missing)
        return Items(
            np.append(row, there),
            np.append(column, np.full(len(there), 0 if isinstance(words.axis, Words) else ABSENT)),
            np.append(item, np.full(len(there), ABSENT)),
            np.concatenate([value + of_item, others[there]]),
        )

    def each(self, columns: Readable) -> Iterator[AnyTerm]:
        if columns.text is None:
            yield from self.whole().each(columns)
            return
        there = np.zeros(self.of_band.shape[1]) if self.absent is None else self.absent.total()
        power, points = self.length_power, self.slope
        yield replace(columns.text, length_power=power, there=there, points=points)

    def typical(self, c: int, rows: Rows = EVERY) -> Typical:  # noqa: ARG002
        words = np.arange(len(self.shift))[rows]
        found = self.slopes(words)
        return found if self.absent is None else found + self.absent.slopes(words), None
