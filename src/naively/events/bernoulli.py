"""Bernoulli: truths, and words that a text holds or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, TypeGuard, final

import numpy as np

from naively.counting.axis import PRESENT, VALUE, Columns, Level, Words
from naively.counting.block import Counts, Dense, Documents, Sparse
from naively.counting.labels import Labels, is_missing
from naively.counting.leave_one_out import LeftOut, different_cells, pseudo_count_of_coins
from naively.counting.tally import BlockTally
from naively.events.bags import draw_present
from naively.events.base import (
    UNSAID,
    ClassNumbers,
    Distribution,
    Items,
    Ratios,
    added,
    by_row,
    check_settings,
    check_some,
    numbers,
)
from naively.events.categorical import check_m
from naively.events.estimate import Estimate, OfTwoSums, Sample, TwoSums
from naively.events.prior import Beta, pretend_rows, share
from naively.events.shown import PROBABILITY, read
from naively.frozen import Frozen
from naively.kernels.double_double import NEGLIGIBLE, Sums
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import RepeatedSums, SparseSums
from naively.options import PSEUDO_COUNTS, How
from naively.terms.kinds import TermBlock
from naively.terms.uncertain import Uncertain, moments_of_beta
from naively.terms.words import LineTerms, WordTerms

# --- Bernoulli event model: true or false, a coin flip for each column or word -------------------


@final
class Bernoulli(OfTwoSums[Items, Counts], Frozen, eq=True):
    """True or false: x | class ~ Bernoulli(p), one p per column (or word) and class.

    Parameters
    ----------
    alpha : float, "laplace", "jeffreys", "auto" or sequence of float, default 1.0
        Pretend count of each of the two outcomes in each class, for all columns or for each: the
        prior is Beta(alpha, alpha), or with ``estimate="map"`` Beta(alpha + 1, alpha + 1), whose
        mode it is. 1 is Laplace's rule, 1/2 Jeffreys's, any other Lidstone's, 0 maximum likelihood.
        "auto" is the value with which other rows predict each outcome best.
    threshold : float or None, default 0.0
        A number above it counts as true. None: numbers are between 0 (false) and 1 (true)
        already, and count as shares. A plain sample (``fit``) holds 0 and 1 only,
        unless a threshold other than 0 is given.
    prior : Beta, optional
        Instead of ``alpha``.
    m : float, optional
        Instead of ``alpha``: pretend rows in each class, with the share of true of all rows (the
        m-estimate), or the share ``p``.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; the predictive is the mean. What is undefined
        (maximum likelihood from nothing, the mode of a uniform posterior) is NaN.
    p : float or sequence of float, optional
        The share of true among the m pretend rows, for all columns or for each: (n of true + m · p)
        / (n + m).
    success : str, int, float or bool, optional
        Which of the two values of a plain sample is true, as in ``Bernoulli(success="H")`` of a
        coin's "H" and "T".

    Notes
    -----
    The multivariate Bernoulli model of McCallum & Nigam (1998): a word that is absent from a
    text is evidence too. Cestnik, Estimating probabilities: a crucial task in machine learning
    (1990), for the m-estimate.

    Examples
    --------
    >>> from naively import Bernoulli, NaiveBayes
    >>> nb = NaiveBayes(event_models=Bernoulli()).fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> nb.predict([[1, 0]])
    array(['a'], dtype='<U1')
    >>> Bernoulli(success="H").fit(["H", "T", "H", "H"]).mle
    0.75
    """

    alpha: float | str | Sequence[float] = 1.0
    threshold: float | None = 0.0
    prior: Beta | None = None
    m: float | None = None
    estimate: How = UNSAID
    p: float | Sequence[float] | None = None
    success: Level | None = None
    name = "bernoulli"
    statistics = (PRESENT, VALUE)
    shares = True
    chosen_by = "alpha"
    conjugate = Beta
    space: ClassVar = {"p": PROBABILITY}

    def __post_init__(self) -> None:
        check_settings(self, *PSEUDO_COUNTS, "auto")
        check_m(self, self.m, self.p)
        if self.p is not None:
            p = np.asarray(self.p, np.float64)
            check_some(self, "p", p)
            if not ((p >= 0) & (p <= 1)).all():
                raise ValueError(f"Bernoulli p must be between 0 and 1, got {self.p}.")
            if p.ndim:  # as a tuple it is equal to itself, and hashes
                object.__setattr__(self, "p", tuple(p.tolist()))

    def prepare(self, block: Counts) -> Counts:
        """Turn numbers into 1 above the threshold, if there is one, and 0 elsewhere.

        A word counts once in a text.
        """
        match block:
            case Documents():
                return replace(block, presence=True)
            case Sparse(axis=Words()):
                return block.once()
        if self.threshold is None:
            _, _, cells = block.entries()
            if (cells < 0).any() or (cells > 1).any():
                raise ValueError("Without a threshold, Bernoulli numbers must be between 0 and 1.")
            return block
        if isinstance(block, Dense):
            x = block.values
            truth = (x > self.threshold).astype(np.float64)
            truth[np.isnan(x)] = np.nan
            return Dense(truth, block.axis)
        if self.threshold < 0:
            raise ValueError("Bernoulli threshold must be at least 0 for a sparse matrix.")
        return replace(block, data=(block.data > self.threshold).astype(np.float64))

    def settled(self, tally: BlockTally[Items]) -> Bernoulli:
        if self.alpha != "auto":
            return self
        words = self._sparse_words(tally)
        if words is not None:
            true, rows = words
            absent = len(tally.axis) - np.bincount(true.classes, minlength=true.k)
            number = np.concatenate([true.stored.high, np.zeros(true.k)])
            of = np.concatenate([rows[true.classes], rows])
            often = np.concatenate([np.ones(len(true.classes), np.int64), absent])
            return replace(self, alpha=pseudo_count_of_coins(number, of, often))
        return replace(self, alpha=pseudo_count_of_coins(tally[VALUE].high, self._trials(tally)))

    def terms(self, tally: BlockTally[Items]) -> TermBlock:
        slopes = self._sparse_slopes(tally)
        if slopes is not None:
            return slopes
        true, false = self._counts(tally, self.estimate)
        p, q = share(true, true + false), share(false, true + false)
        undefined = np.isnan(p)  # without data, true and false are equally likely
        p[undefined] = q[undefined] = 0.5
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p, log_q = np.log(p), np.log(q)
            return LineTerms(slope=log_p - log_q, offset=log_q)

    def uncertain(self, tally: BlockTally[Items], block: Counts, least: float = 0.0) -> Uncertain:
        true, false = self._counts(tally, "mean")
        if isinstance(block, Dense):
            row, column, x = block.entries()
            of = x[:, None], 1 - x[:, None], true[column], false[column]
            return Uncertain(row, column, *moments_of_beta(*of, least))
        # The words that a text does not hold are one item, as they are when it is scored.
        one = np.ones((1, 1))
        with_it = moments_of_beta(one, 0 * one, true, false, least)
        without = moments_of_beta(0 * one, one, true, false, least)
        mean, variance = (
            LineTerms(slope=of - rest, offset=rest).items(block)
            for of, rest in zip(with_it, without, strict=True)
        )
        known = slice(None if len(tally.axis) else 0)  # without words there are none to lack
        unit = np.maximum(mean.item, 0)[known]
        return Uncertain(mean.row[known], unit, mean.value[known], variance.value[known])

    def leave_one_out(self, tally: BlockTally[Items], block: Counts, labels: Labels) -> Floats:
        if self.alpha == "auto":  # all rows choose it
            return self.settled(tally).leave_one_out(tally, block, labels)
        words, slopes = self._sparse_words(tally), self._sparse_slopes(tally)
        if words is None or slopes is None or not _are_truths(block):
            return super().leave_one_out(tally, block, labels)
        a, b = (float(np.ravel(part)[0]) for part in self._pretend(tally, self.estimate))
        grows = tally.axis.grows
        found = evidence_of_truths_without(slopes, *words, (a, b), block, labels, grows=grows)
        return found[:, None]

    def log_prob_without(self, tally: BlockTally[Items], cells: LeftOut[Counts]) -> Floats:
        x = cells.x
        if not ((x == 0) | (x == 1)).all():
            return super().log_prob_without(tally, cells)
        # Truths of one column and class are alike without their rows.
        first, of = different_cells(cells, 2 * cells.column + (x == 1), 2 * len(tally.axis))
        return super().log_prob_without(tally, cells.take(first)).take(of, axis=0)

    def _sparse_slopes(self, tally: BlockTally[Items]) -> WordTerms | None:
        """Return the terms of sparse counts; None if a table must be made."""
        words = self._sparse_words(tally)
        if words is None:
            return None
        if self.m is not None and self.prior is None and self.p is None:  # each word has its own
            return None
        a, b = (np.unique(part) for part in self._pretend(tally, self.estimate))
        if len(a) != 1 or len(b) != 1:
            return None
        return slopes_of_truths(*words, float(a[0]), float(b[0]))

    def _sparse_words(self, tally: BlockTally[Items]) -> tuple[SparseSums, Floats] | None:
        """Return in how many rows each word is, and how many there are in each class, (classes,).

        None if the counts are not sparse, or if columns differ in how many rows have them.
        """
        true, present = tally.sums[VALUE], tally.sums[PRESENT]
        if isinstance(present, RepeatedSums):
            present = present.different
        if isinstance(true, SparseSums) and isinstance(present, Sums) and len(present.high) == 1:
            return true, present.high[0]
        return None

    @classmethod
    def of(cls, p: float | Sequence[float]) -> Estimate:
        """Return the Bernoulli distribution with a given probability, as an estimate.

        Parameters
        ----------
        p : float, or sequence of float
            The probability of true; a sequence has one for each column.

        Examples
        --------
        >>> coin = Bernoulli.of(p=0.25)
        >>> coin
        bernoulli, parameters given: 0.25
        >>> coin.fitted.pmf(1)
        np.float64(0.25)
        """
        true = np.atleast_1d(read(cls.__name__, "p", p, PROBABILITY))
        sums = {PRESENT: Sums(np.ones_like(true)), VALUE: Sums(true)}
        return cls(alpha=0, estimate="mle").given(Columns(range(len(true))), sums)

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.bernoulli(rate)

    def ratios(self, tally: BlockTally[Items]) -> Ratios:
        """Return how many are true, of how many; how many are false is the rest."""
        a, b = self._pretend(tally, self.estimate)
        return Ratios.spread(tally[VALUE].high, a, self._trials(tally), a + b)

    def n_parameters(self, tally: BlockTally[Items]) -> int:
        words, classes = tally.sums[VALUE].shape
        return words * classes

    def n_values(self, tally: BlockTally[Items]) -> int:
        return 1 << len(tally.axis)

    def sample(
        self, tally: BlockTally[Items], classes: ClassNumbers, rng: np.random.Generator
    ) -> Dense | Documents:
        return self.sample_rows(tally, classes, rng)

    def sample_rows(
        self,
        tally: BlockTally[Items],
        classes: ClassNumbers,
        rng: np.random.Generator,
        length: int | None = None,
    ) -> Dense | Documents:
        """Draw each column or word by itself; of a text one word at least, or ``length`` words."""
        p = np.nan_to_num(self.parameters(tally, self.estimate)["p"], nan=0.5)
        if isinstance(tally.axis, Words):
            words = tally.axis.writable
            drawn = (words[there] for there in draw_present(p.T, classes, rng, length))
            return Documents([" ".join(text) for text in drawn], tally.axis, presence=True)
        true = (rng.random((len(classes), len(p))) < p.T[classes]).astype(np.float64)
        return numbers(true + (self.threshold or 0.0), tally)

    def predictive(self, tally: BlockTally[Items]) -> Distribution:
        return self.fitted(tally, "mean")

    def _numbers(self, sample: Sample) -> Dense:
        """Encode a plain sample: as numbers, or, of two values, whether each is the success."""
        if self.success is None:
            return super()._numbers(sample)
        missing = [*map(is_missing, sample)]
        seen = [value for value, gone in zip(sample, missing, strict=True) if not gone]
        others = [*dict.fromkeys(value for value in seen if value != self.success)]
        if len(others) > 1:
            raise ValueError(
                f"Bernoulli success={self.success!r} needs a sample of two values, and there are "
                f"{others[0]!r} and {others[1]!r} beside it; Categorical counts more than two."
            )
        truths = [
            np.nan if gone else float(value == self.success)
            for value, gone in zip(sample, missing, strict=True)
        ]
        return super()._numbers(truths)

    def _matrix(self, numbers: Floats) -> Floats:
        """Refuse numbers other than 0 and 1 if the threshold is 0."""
        other = ~np.isnan(numbers) & (numbers != 0) & (numbers != 1)
        if self.threshold == 0 and other.any():
            raise ValueError(
                f"Bernoulli estimates from 0 (false) and 1 (true), and the sample holds "
                f"{numbers[other][0]:.6g}; give a threshold above 0, or None for shares, or "
                "compare the sample first."
            )
        return super()._matrix(numbers)

    def _sums(self, tally: BlockTally[Items]) -> TwoSums:
        """Return how many are true and how many false, (columns, classes)."""
        return tally[VALUE].high, self._trials(tally) - tally[VALUE].high

    def _pseudo(self, tally: BlockTally[Items], how: How) -> TwoSums:
        """Return the pretend counts of true and of false, each of shape (1 or columns, 1)."""
        if self.m is not None and how != "mle":
            if self.p is None:
                rows, of_them = pretend_rows(tally, self.m)
            else:
                rows, of_them = by_row(self.m), self.m * by_row(self.p)
            a, b = (added(part, self.estimate, how) for part in (of_them, rows - of_them))
            return a, b
        alpha = added(0.0 if how == "mle" else self.settled(tally).alpha, self.estimate, how)
        return alpha, alpha

    @staticmethod
    def _trials(tally: BlockTally[Items]) -> Floats:
        return np.broadcast_to(tally[PRESENT].high, tally[VALUE].shape)


def _are_truths(block: Counts) -> TypeGuard[Sparse]:
    """Whether all that a sparse block stores is 0 or 1."""
    if not isinstance(block, Sparse):
        return False
    return block.presence or bool(((block.data == 0) | (block.data == 1)).all())


# --- Bernoulli models of words whose counts are sparse: slopes, and rows that are left out -------
#
# A word that never came in a class has there what any such word has: so many rows without it. The
# pretend counts of true and of false, a and b, are above 0 and alike for all words.


def slopes_of_truths(true: SparseSums, rows: Floats, a: float, b: float) -> WordTerms | None:
    """Return log odds of words, beside the log probabilities that they are absent."""
    # ``true`` is in how many of the ``rows`` of each class, (classes,), a word is, (words,
    # classes); a and b are added to those with it and to those without. None is where some are not
    # finite.
    words, k = true.shape
    if not words or not k or a <= 0 or b <= 0 or rows.min() <= -b:
        return None
    log_all = np.log(rows + b)
    without = (rows + b)[true.classes]
    without -= true.stored.high
    value = true.stored.high + a
    if value.min(initial=1.0) <= 0 or without.min(initial=1.0) <= 0:
        return None
    np.log(value, out=value)
    np.log(without, out=without)
    without -= log_all[true.classes]  # more than of a word that never came
    value -= np.log(a)
    value -= without
    none = np.zeros(words)
    absent = WordTerms.of_one_band(true, without, none, log_all - np.log(rows + a + b))
    return replace(WordTerms.of_one_band(true, value, none, np.log(a) - log_all), absent=absent)


def evidence_of_truths_without(
    slopes: WordTerms,
    true: SparseSums,
    rows: Floats,
    pretend: tuple[float, float],
    block: Sparse,
    labels: Labels,
    *,
    grows: bool,
) -> Floats:
    """Return log likelihoods of rows, each without itself, of shape (rows, classes)."""
    (a, b), n, none = pretend, len(block), np.zeros(len(labels.classes))
    words, y, weight = true.shape[0], labels.codes, labels.weights
    row, item, x = block.entries()
    row, item = row[x != 0], item[x != 0]
    found: Floats = slopes.add(block, none, "joint", none)
    alone = (true.by_row()[item] - weight[row] <= NEGLIGIBLE) & grows
    # What such a word adds to the other classes, which never had it, goes.
    of_other = np.log(a) - np.log(rows + a + b)
    found -= np.bincount(row[alone], minlength=n)[:, None] * of_other
    # In its own class a row is one row less, with its words and without the others.
    lacking = np.bincount(true.classes, minlength=len(labels.classes))
    in_own = true.at(item, y[row])
    right, own = np.arange(n), np.zeros(n)
    for w in np.unique(weight):
        left = rows - w
        without = left[true.classes] - true.stored.high + b
        log_without, never = _log(without)
        total = np.bincount(true.classes, log_without, len(labels.classes)).astype(np.float64)
        total += (words - lacking) * np.log(np.maximum(left + b, NEGLIGIBLE))
        impossible = np.bincount(true.classes, never, len(labels.classes)).astype(np.float64)
        alike = weight == w
        of = np.flatnonzero(alike[row])
        of_row, c = row[of], y[row[of]]
        of_word, is_never = _log(left[c] - in_own[of] + b)
        own[alike] = total[y[alike]]
        own -= np.bincount(of_row, of_word, n)
        still = impossible[y] - np.bincount(of_row, is_never, n)
        with_word, no_word = _log(np.maximum(in_own[of] - w, 0.0) + a)
        known = ~alone[of]
        own += np.bincount(of_row[known], with_word[known], n)
        counted = words - np.bincount(of_row[~known], minlength=n)
        own[alike] -= (counted * np.log(np.maximum(left[y] + a + b, NEGLIGIBLE)))[alike]
        still += np.bincount(of_row[known], no_word[known], n)
        own[alike & (still > 0)] = -np.inf
    found[right, y] = own
    found[block.missing] = 0.0
    return found


def _log(count: Floats) -> tuple[Floats, Floats]:
    """Return logarithms, 0 where they are not finite, and 1 where that is so, both (cells,)."""
    there = count > 0
    return np.log(np.where(there, count, 1.0)), (~there).astype(np.float64)
