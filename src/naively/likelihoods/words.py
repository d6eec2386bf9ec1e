"""Likelihoods of words: ``Σ x · slope``, where most words have in most classes what all have there.

In a class that a word never came in, its slope is that of any word that never came in it. So a
slope is that of the word's band, and something more in the few classes that the word came in; there
is no table of words × classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Never, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Words
from naively.counting.block import Dense, Sparse
from naively.counting.documents import Counts
from naively.kernels import dispatch
from naively.kernels.reference import Finish, Finished, Floats, clipped
from naively.likelihoods.base import ABSENT, Contributions, Likelihood, Typical
from naively.likelihoods.log_linear import LogLinear, length_factor

MOST_BANDS = 255


@final
@dataclass(frozen=True, eq=False)
class WordSlopes(Likelihood[Counts]):
    """``Σ_j x_j · slope_j`` over words (or columns), of finite slopes.

    The slope of a word is that of its band, plus the word's shift times the weight of its band,
    plus what is stored for the word and the class, if anything is.

    Parameters
    ----------
    first : ndarray of int64, of shape (words + 1,)
        Where the stored numbers of each word begin, and where the last ends.
    classes : ndarray of int32, of shape (stored,)
        The class of each, ascending within a word.
    value : ndarray of shape (stored,)
        The numbers.
    shift : ndarray of shape (words,)
        What is added for every class, times the weight of the band.
    of_band, weight : ndarray of shape (bands, classes)
        The slope of any word of a band in each class, and the weight of the band.
    band : ndarray of uint8, of shape (words,), optional
        The band of each word; by default there is one for all.
    by_length : bool, default False
        Whether a text's evidence is over the square root of the number of its known words.
    base : callable, optional
        Returns the log base measure of a block's rows, of shape (rows,).
    absent : WordSlopes, optional
        What each word of all adds to a text that is not missing, whether or not the text holds it:
        the log probability that the word is absent. By default nothing.
    """

    first: NDArray[np.int64]
    classes: NDArray[np.int32]
    value: Floats
    shift: Floats
    of_band: Floats
    weight: Floats
    band: NDArray[np.uint8]
    by_length: bool = False
    base: Callable[[Counts], Floats] | None = None
    absent: WordSlopes | None = None

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

    def over(self, size: Floats) -> WordSlopes:
        """Return this with the slopes of each class divided by a number, of shape (classes,)."""
        value, of_band = self.value / size[self.classes], self.of_band / size
        return replace(self, value=value, of_band=of_band, weight=self.weight / size)

    def log_prob(self, block: Counts, start: Floats, finish: Finish, log_prior: Floats) -> Finished:
        if isinstance(block, Dense):
            return self.whole().log_prob(block, start, finish, log_prior)
        words = block.split()
        if self.absent is not None:
            missing = block.missing
            base = self.absent.total()
            start = start + (np.where(missing[:, None], 0.0, base) if missing.any() else base)
        return dispatch.score_sparse(
            words.indptr,
            words.indices.astype(np.int32, copy=False),
            None if words.presence else clipped(words.data),
            self.first,
            self.classes,
            self.value,
            self.band,
            self.shift,
            self.of_band,
            self.weight,
            self.by_length,
            start,
            finish,
            log_prior,
        )

    def at(self, x: NDArray[np.number], column: NDArray[np.int64]) -> Floats:
        x = clipped(x)[:, None]
        found = np.nan_to_num(np.where(x == 0, 0.0, x * self.slopes(column)), nan=0.0)
        return found if self.absent is None else found + self.absent.slopes(column)

    def weighted(self, weight: Floats) -> Never:  # noqa: ARG002
        raise TypeError("words are weighted by their parts: weighted_by_part")

    def weighted_by_part(self, weight: Floats, part: NDArray[np.integer]) -> WordSlopes | LogLinear:
        """Return this with each word's slopes centred over the classes, times its part's weights.

        This likelihood must have no weights yet.
        """
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

    def _absent_by_part(self, weight: Floats, part: NDArray[np.integer]) -> WordSlopes:
        assert self.absent is not None
        found = self.absent.weighted_by_part(weight, part)
        assert isinstance(found, WordSlopes)  # it has no more parts than the words have
        return found

    @property
    def offset(self) -> Floats | None:
        """What each word adds even where it is absent, (words, classes); None if nothing."""
        return None if self.absent is None else self.absent.slope

    def whole(self) -> LogLinear:
        """Return the same with tables of words × classes."""
        return LogLinear(self.slope, self.offset, base=self.base)

    def normalised_by_length(self) -> WordSlopes:
        return replace(self, by_length=True)

    def linear(self) -> tuple[Floats, Floats]:
        if self.by_length:
            raise ValueError(
                "the evidence of a text is divided by the square root of its length, which is no "
                "straight line; learn with weights=None."
            )
        if self.absent is not None:
            return self.slope, self.absent.total()
        return self.slope, np.zeros(self.of_band.shape[1])

    def contributions(self, block: Counts) -> Contributions:
        if isinstance(block, Dense):
            return super().contributions(block)
        words: Sparse = block.split()
        row, item, x = words.entries()
        row, item, x = (part[x != 0] for part in (row, item, x))
        value = x[:, None] * self.slopes(item)
        if self.by_length:
            value *= length_factor(words.lengths)[row, None]
        of_text = isinstance(words.axis, Words)
        column = np.zeros_like(item) if of_text else item
        if self.absent is None:
            return Contributions(row, column, item, value)
        of_item = self.absent.slopes(item)
        others = np.where(block.missing[:, None], 0.0, self.absent.total())
        np.subtract.at(others, row, of_item)
        there = np.flatnonzero(~block.missing)
        return Contributions(
            np.append(row, there),
            np.append(column, np.full(len(there), 0 if of_text else ABSENT)),
            np.append(item, np.full(len(there), ABSENT)),
            np.concatenate([value + of_item, others[there]]),
        )

    def typical(self, c: int) -> Typical:  # noqa: ARG002
        return Typical(self.slope if self.absent is None else self.slope + self.absent.slope)
