"""Bags of counts: multinomial and complement, their words and lengths."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import PRESENT, VALUE, Columns, Words
from naively.counting.block import Counts, Dense, Documents, Sparse
from naively.counting.labels import Labels
from naively.counting.leave_one_out import (
    BagsLeftOut,
    bags_left_out,
    band_of,
    count_bands,
    pseudo_count_of_words,
)
from naively.counting.tally import BlockTally
from naively.events.base import (
    INTEGRATED,
    UNSAID,
    ClassNumbers,
    Items,
    Ratios,
    added,
    by_row,
    check_not_negative,
    check_settings,
    draw_levels,
    numbers,
)
from naively.events.categorical import bags_left_of_spread, check_m, check_shares, spread
from naively.events.estimate import Estimate, OfShares, flat
from naively.events.prior import Dirichlet, share
from naively.events.shown import POSITIVE, PROBABILITY, Parameters, axis_of_words, read, read_shares
from naively.frozen import Frozen
from naively.kernels import dispatch
from naively.kernels.double_double import NEGLIGIBLE, Sums
from naively.kernels.reference import Floats
from naively.kernels.sparse import leave_out_of_others
from naively.kernels.sparse_sums import SparseSums
from naively.options import PSEUDO_COUNTS, How
from naively.terms.kinds import TermBlock
from naively.terms.uncertain import Uncertain, mean_of_log, variance_of_log
from naively.terms.words import LineTerms, WordTerms, cells_of_urn, log_coefficient, urn_terms

# --- How many words drawn texts have, and which: never none, or as many as are wanted ------------


MOST_WORDS = 200_000_000  # that are drawn at once, which take some 5 GB


def draw_lengths(
    mean: Floats, rng: np.random.Generator, length: int | None, *, texts: bool
) -> NDArray[np.int64]:
    """Return a length for each row: ``length``, or Poisson with these means, (rows,)."""
    # For texts it is a Poisson that is truncated at zero, with the same mean; at a mean of 1 or
    # less all lengths are 1.
    check_length(length)
    total = float(mean.sum()) if length is None else float(length) * len(mean)
    if total > MOST_WORDS:
        raise ValueError(
            f"Rows of {total:.3g} words together are too many to be drawn word by word: draw fewer "
            "rows, or say length= words for each."
        )
    if length is not None:
        return np.full(len(mean), length, np.int64)
    if not texts:
        return rng.poisson(mean)
    from scipy.special import lambertw

    long = np.maximum(mean, 1.0)
    inverse = np.asarray(lambertw((-long * np.exp(-long)).tolist()), np.complex128)
    rate: Floats = np.maximum(long + inverse.real, 0.0)
    rate[mean <= 1] = 0.0
    first = -np.log1p(rng.random(len(mean)) * np.expm1(-rate))
    return np.asarray(1 + rng.poisson(np.maximum(rate - first, 0.0)), np.int64)


def draw_present(
    p: Floats, classes: ClassNumbers, rng: np.random.Generator, length: int | None
) -> Iterator[NDArray[np.bool_]]:
    """Yield which words each text holds, (words,), given that it holds any, or ``length``."""
    # ``p`` is of shape (classes, words). A ValueError says if no text of a class can hold so many.
    check_length(length)
    tails = {c: _log_tails(p[c], length) for c in np.unique(classes).tolist() if length is not None}
    for c in classes.tolist():
        if length is None:
            yield _draw_any(p[c], rng)
        else:
            yield _draw_exactly(p[c], length, tails[c], rng)


def check_length(length: int | None) -> None:
    """Raise a ValueError unless it is a number of words."""
    if length is not None and not (length == int(length) and length >= 0):
        raise ValueError(f"length must be a number of words that is at least 0, got {length}.")


def _draw_any(p: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw words independently, given that there is one at least."""
    # The first word that is there is word i with probability p_i Π_{j<i} (1 - p_j), over that of
    # any; the words after it are independent of it.
    with np.errstate(divide="ignore"):
        none = np.append(0.0, np.cumsum(np.log1p(-p)))  # log probability of no word before each
    any_ = -np.expm1(none[-1])
    if not any_ > 0:  # no word can come
        return np.zeros(len(p), np.bool_)
    # -expm1(none) is the probability that the first word came before.
    first = int(np.searchsorted(-np.expm1(none[1:]), rng.random() * any_, side="right"))
    first = min(first, int(np.flatnonzero(p)[-1]))
    there = rng.random(len(p)) < p
    there[:first] = False
    there[first] = True
    return there


def _log_tails(p: Floats, length: int) -> Floats:
    """Return log probabilities that k of the words from i on are there, (words + 1, length + 1)."""
    tails = np.full((len(p) + 1, length + 1), -np.inf)
    tails[-1, 0] = 0.0
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log1p(-p)
    for i in range(len(p) - 1, -1, -1):
        tails[i] = tails[i + 1] + log_q[i]
        tails[i, 1:] = np.logaddexp(tails[i, 1:], tails[i + 1, :-1] + log_p[i])
    if tails[0, length] == -np.inf:
        raise ValueError(
            f"No text can hold {length:,} different words: {int((p > 0).sum()):,} of the words "
            "may come."
        )
    return tails


def _draw_exactly(
    p: Floats, length: int, tails: Floats, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Draw words independently, given how many there are (conditional Bernoulli)."""
    there, left = np.zeros(len(p), np.bool_), length
    for i, u in enumerate(rng.random(len(p)).tolist()):
        if left == 0:
            break
        chance = np.log(p[i]) + tails[i + 1, left - 1] - tails[i, left] if p[i] > 0 else -np.inf
        if u < np.exp(chance):
            there[i], left = True, left - 1
    return there


# --- Multinomials of words whose counts are sparse: slopes, and rows that are left out -----------
#
# Every pretend count is above 0 here, so that every slope is finite: what a class never had is log
# (pretend count / total of the class). A complement's words have the counts of all classes but
# one, so that what a class never had is what all classes had.


def slopes_of_words(count: SparseSums, pretend: Floats) -> WordTerms | None:
    """Return log probabilities of words in classes; None if some are not finite."""
    # ``count`` is of shape (words, classes), and ``pretend``, (words,), is added to each.
    words, k = count.shape
    if not words or not k or pretend.min() <= 0:
        return None
    # Where all pretend counts are alike, as most often, one number stands for those of all cells.
    alike = bool((pretend == pretend[0]).all())
    of_word = pretend[:1] if alike else pretend
    of_cell = slice(None) if alike else np.repeat(np.arange(words), np.diff(count.first))
    log_pretend = np.log(of_word)
    value = count.stored.high + of_word[of_cell]
    if value.min(initial=1.0) <= 0:
        return None
    np.log(value, out=value)
    value -= log_pretend[of_cell]
    total = np.maximum(count.by_class() + pretend.sum(), 0.0)
    if total.min() <= 0:
        return None
    shift = np.full(words, log_pretend) if alike else log_pretend
    return WordTerms.of_one_band(count, value, shift, -np.log(total))


def slopes_of_others(count: SparseSums, pretend: Floats) -> WordTerms | None:
    """Return -log probabilities of words in all other classes; None if some are not finite."""
    # The parameters are those of ``slopes_of_words``; there are two classes or more.
    words, k = count.shape
    if not words or k < 2 or pretend.min() <= 0:
        return None
    every, cells = count.by_row() + pretend, np.diff(count.first)
    value = np.repeat(every, cells)
    value -= count.stored.high
    total = total_of_others(count, pretend)
    if every.min() <= 0 or value.min(initial=1.0) <= 0 or total.min() <= 0:
        return None
    log_every = np.log(every)
    np.log(value, out=value)
    np.subtract(np.repeat(log_every, cells), value, out=value)
    return WordTerms.of_one_band(count, value, -log_every, np.log(total))


def total_of_others(count: SparseSums, pretend: Floats) -> Floats:
    """Return the counts of all words in all other classes, with pretend counts, (classes,)."""
    of_class = count.by_class()
    return np.asarray(of_class.sum() - of_class + pretend.sum())


def evidence_of_others_without(
    count: SparseSums, pretend: Floats, block: Sparse, labels: Labels, *, grows: bool
) -> Floats:
    """Return the evidence of all other classes for rows, each without itself, (rows, classes)."""
    # The parameters are those of ``evidence_of_words_without``.
    times = None if block.presence else np.asarray(block.data, np.float64)
    rows = (
        block.indptr,
        block.indices.astype(np.int32, copy=False),
        times,
        labels.codes,
        labels.weight,
    )
    counts = count.first, count.classes, count.stored.high, count.by_row()
    return leave_out_of_others(*rows, *counts, pretend, total_of_others(count, pretend), grows)


def evidence_of_words_without(
    count: SparseSums,  # as for ``slopes_of_words``; no slope is infinite
    pretend: Floats,
    block: Sparse,
    labels: Labels,
    bands: int,  # of document frequency
    *,
    grows: bool,  # whether the rows make the words
) -> Floats:
    """Return log likelihoods of rows, each without itself, of shape (rows, bands, classes)."""
    frequency, total = count.by_row(), count.by_class() + pretend.sum()
    indices = block.indices
    here = np.zeros(len(pretend), np.bool_)
    here[indices] = True
    if 2 * here.sum() < len(here):  # of a sample of the rows, most words are not needed
        count, frequency, pretend = count[here], frequency[here], pretend[here]
        indices = (np.cumsum(here, dtype=np.int32) - 1)[indices]
    times = None if block.presence else np.asarray(block.data, np.float64)
    rows = block.indptr, indices.astype(np.int32, copy=False), times, labels.codes, labels.weight
    counts = count.first, count.classes, count.stored.high, frequency
    evidence, _ = dispatch.leave_out_words(*rows, *counts, pretend, total, bands, grows)
    return evidence


# --- Bags of counts: what the multinomial and the complement event models share ------------------


class BagOfCounts(OfShares[Items, Counts], Frozen, eq=True):
    """Rows of counts, drawn from one distribution for each class: what such models share."""

    alpha: float | str | Sequence[float] = 1.0
    prior: Dirichlet | None = None
    estimate: How = UNSAID
    statistics = (PRESENT, VALUE)
    joined = True
    chosen_by = "alpha"

    def __post_init__(self) -> None:
        check_settings(self, *PSEUDO_COUNTS, "auto")

    def prepare(self, block: Counts) -> Counts:
        check_not_negative(block, type(self).__name__)
        return block

    def settled(self, tally: BlockTally[Items]) -> Self:
        if self.alpha != "auto":
            return self
        count, recorded = tally.sums[VALUE], tally.recorded
        if not recorded.all():  # a column never recorded does not count as a word
            count = count[np.broadcast_to(recorded, len(tally.axis))]
        return replace(self, alpha=pseudo_count_of_words(count))

    def counted(self, tally: BlockTally[Items]) -> Floats:
        return self._of_classes(tally[VALUE].high)

    def pretended(self, tally: BlockTally[Items], how: How) -> Floats:
        return np.where(self._unrecorded(tally)[:, None], 0.0, self._pretend(tally, how))

    def n_parameters(self, tally: BlockTally[Items]) -> int:
        words, classes = tally.sums[VALUE].shape
        return max(words - 1, 0) * classes

    def _matrix(self, numbers: Floats) -> Floats:
        """Return the counts of a plain sample as rows × columns: a sequence is one row."""
        return numbers[None] if numbers.ndim == 1 else numbers

    def _prior_counts(self, tally: BlockTally[Items]) -> Parameters:
        return flat(self._pretend(tally, "mean"))

    def _posterior_counts(self, tally: BlockTally[Items]) -> Parameters:
        return flat(self._counts(tally, "mean"))

    @abstractmethod
    def _log_weight(self, count: Floats) -> Floats:
        """Return the log weight of words from their counts in a class, of any shape.

        Less the same function of the total count it is the log weight. The counts include pretend
        counts (``_counts``).
        """

    @np.errstate(divide="ignore", invalid="ignore")
    def log_probabilities(self, tally: BlockTally[Items], how: How) -> Floats:
        """Return the log weight of each word in each class, of shape (words, classes)."""
        # It is 0 in a class without any counts, and for a column that was never recorded.
        count = self._counts(tally, how)
        total = count.sum(axis=0)
        log_p = self._log_weight(count) - self._log_weight(total)
        log_p[:, total == 0] = 0.0
        log_p[self._unrecorded(tally)] = 0.0
        return log_p

    def sparse_words(self, tally: BlockTally[Items]) -> tuple[SparseSums, Floats] | None:
        """Return sparse counts and what is added to each, (words,); None if not all are above 0."""
        count = tally.sums[VALUE]
        if not isinstance(count, SparseSums) or self._unrecorded(tally).any():
            return None
        pretend = self._pretend(tally, self.estimate)[:, 0]
        words = np.broadcast_to(pretend, len(tally.axis)).astype(np.float64)
        return (count, words) if len(words) and words.min() > 0 else None

    def leave_one_out(self, tally: BlockTally[Items], block: Counts, labels: Labels) -> Floats:
        """Return the log likelihood of each row as if it had not been counted."""
        # A word (or a dense column) that no other row has is as if never seen.
        bands = self._bands(tally)
        evidence = np.zeros((len(block), bands, len(labels.classes)))
        for rows, bags in self._left_out(tally, block, labels):
            part = bags.row * bands + (band_of(bags.others) if bands > 1 else 0)
            evidence[rows] = self._log_likelihood(bags, part, bands)
        return evidence

    def _left_out(
        self, tally: BlockTally[Items], block: Counts, labels: Labels
    ) -> Iterator[tuple[NDArray[np.int64], BagsLeftOut]]:
        """Yield numbers of rows, and what is left of the counts without each."""
        count = self._counts(tally, self.estimate)
        pretend = np.maximum(self._pretend(tally, self.estimate)[:, 0], 0.0)
        pretend = np.where(self._unrecorded(tally), 0.0, pretend)
        return bags_left_out(
            tally, block, labels, count, pretend, self._affected(len(labels.classes))
        )

    def _bands(self, tally: BlockTally[Items]) -> int:
        """Return how many bands of document frequency the words are divided into."""
        by_band = self.by_word and tally.axis.by_band
        return count_bands(tally.sums[VALUE].by_row()) if by_band else 1

    @np.errstate(divide="ignore", invalid="ignore")
    def _log_likelihood(self, bags: BagsLeftOut, part: NDArray[np.int64], parts: int) -> Floats:
        """Return log likelihoods of rows, (rows, parts, classes)."""
        # ``part``, of shape (cells,), is ``parts`` times the cell's row, plus the cell's part.
        n, k = bags.total.shape
        word, x, of, size = bags.word, bags.x, bags.affected, n * parts
        log_count = self._log_weight(bags.count)
        found: Floats = np.array([np.bincount(part, x * w[word], size) for w in log_count.T]).T
        change = x[:, None] * (self._log_weight(bags.left) - log_count[word[:, None], of])
        change[np.isnan(change)] = 0.0  # a count of 0 stays 0
        at = part[:, None] * k + of
        found += np.bincount(at.ravel(), change.ravel(), size * k).reshape(size, k)
        length = np.bincount(part, x, size).reshape(n, parts, 1)
        found = found.reshape(n, parts, k) - length * self._log_weight(bags.total)[:, None]
        # In a class without any counts the log likelihood is 0.
        return np.where(bags.total[:, None] > NEGLIGIBLE, found, 0.0)

    def _of_classes(self, count: Floats) -> Floats:
        """Return the counts that each class is estimated from, (words, classes): its own."""
        return count

    def _affected(self, k: int) -> NDArray[np.int64]:
        """Return the classes that a row of each of k classes counts for, of shape (k, m)."""
        return np.arange(k)[:, None]

    def _unrecorded(self, tally: BlockTally[Items]) -> NDArray[np.bool_]:
        """Return which columns were never recorded, (words,); of a text, all words or none."""
        return np.broadcast_to(~tally.recorded, len(tally.axis))

    def _counts(self, tally: BlockTally[Items], how: How) -> Floats:
        """Return counts with pretend counts, (words, classes); 0 for a column never recorded."""
        counts = np.maximum(self._of_classes(tally[VALUE].high) + self._pretend(tally, how), 0.0)
        counts[self._unrecorded(tally)] = 0.0
        return counts

    def _pretend(self, tally: BlockTally[Items], how: How) -> Floats:
        """Return the pretend count of each word, of shape (1 or words, 1)."""
        if self.prior is not None:
            return by_row(self.prior.pretend(how))
        return added(0.0 if how == "mle" else self.settled(tally).alpha, self.estimate, how)


# --- Multinomial event model: a bag of counts, drawn from one distribution for each class --------


@final
class Multinomial(BagOfCounts):
    """Counts of words or of columns: x | class ~ Multinomial(length of the row, p).

    Parameters
    ----------
    alpha : float, "laplace", "jeffreys", "auto" or sequence of float, default 1.0
        Pretend count of each word in each class, one for all columns or one for each: the prior is
        Dirichlet(alpha), or with ``estimate="map"`` Dirichlet(alpha + 1), whose mode it is. 1 is
        Laplace's rule, 1/2 Jeffreys's, any other Lidstone's, 0 maximum likelihood. "auto" is the
        value with which the other words predict each single word best.
    prior : Dirichlet, optional
        Instead of ``alpha``; a vector is in the order of the columns.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; "predictive" integrates the probabilities out,
        for each row as a whole (Pólya's urn, the Dirichlet-multinomial), so that a word seen once
        in a row is expected there again. Maximum likelihood from nothing is NaN.
    m : float, optional
        Instead of ``alpha``: pretend counts in each class, spread as the counts are over all
        classes (the m-estimate), or by ``p``.
    p : sequence of float, or "uniform", optional
        How the m pretend counts are spread, in the order of the columns:
        (n of the column + m · p) / (n + m).

    Notes
    -----
    McCallum & Nigam (1998); Manning, Raghavan & Schütze, Introduction to Information Retrieval
    (2008), section 13.2; Madsen, Kauchak & Elkan, Modeling word burstiness using the Dirichlet
    distribution (2005). A word that was never seen in training is left out.

    The log likelihood of a row of counts has their multinomial coefficient, which is the same in
    every class; a text is a sequence of words, and has none.

    Examples
    --------
    >>> from naively import Multinomial, NaiveBayes
    >>> nb = NaiveBayes(event_models=Multinomial()).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> nb.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    m: float | None = None
    p: str | Sequence[float] | None = None
    name = "multinomial"
    space: ClassVar = {"p": PROBABILITY}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_m(self, self.m, self.p)
        if self.p is not None:
            object.__setattr__(self, "p", check_shares(self, self.p))

    @classmethod
    def of(cls, p: Mapping[str, float] | Sequence[float], length: float = 1.0) -> Estimate:
        """Return the distribution of words or outcomes with given probabilities, as an estimate.

        Parameters
        ----------
        p : mapping of word to float, or sequence of float
            Probabilities that sum to 1. Words make texts, a sequence makes rows of counts.
        length : float, default 1.0
            How many words a text, or how many counts a row has on average; more than 0.

        Examples
        --------
        >>> mail = Multinomial.of(p={"cheap": 0.75, "lunch": 0.25}, length=4)
        >>> mail.sample(2, random_state=0, length=3)
        ['cheap cheap cheap', 'cheap lunch lunch']
        """
        words, shares = read_shares(cls.__name__, p)
        size = read(cls.__name__, "length", length, POSITIVE)
        if isinstance(p, Mapping):
            axis: Columns | Words = axis_of_words(words)
            present = np.ones(1)
        else:
            axis, present = Columns(range(len(shares))), np.ones_like(shares)
        sums = {PRESENT: Sums(present), VALUE: Sums(shares * size)}
        return cls(alpha=0, estimate="mle").given(axis, sums)

    @property
    def integrates(self) -> bool:
        """Whether the probabilities are integrated out."""
        return self.estimate == "predictive"

    @property
    def by_word(self) -> bool:
        return not self.integrates

    def parameters(self, tally: BlockTally[Items], how: How) -> dict[str, Floats]:
        count = self._counts(tally, how)
        return {"p": share(count, count.sum(axis=0, keepdims=True))}

    def ratios(self, tally: BlockTally[Items]) -> Ratios | None:
        if self.integrates:
            return None
        count, pretend = self.counted(tally), self.pretended(tally, self.estimate)
        every = np.broadcast_to(pretend, count.shape)
        of, more = (table.sum(axis=0, keepdims=True) for table in (count, every))
        return Ratios.spread(count, pretend, of, more)

    def terms(self, tally: BlockTally[Items]) -> TermBlock:
        if self.integrates:
            return urn_terms(self._counts(tally, "mean"))
        words = self.sparse_words(tally)
        slopes = None if words is None else slopes_of_words(*words)
        if slopes is not None:
            return replace(slopes, base=log_coefficient)
        return LineTerms(self.log_probabilities(tally, self.estimate), base=log_coefficient)

    def uncertain(self, tally: BlockTally[Items], block: Counts, least: float = 0.0) -> Uncertain:
        """Return the posterior mean and variance of words, which have their total in common."""
        if self.integrates:
            raise self._unsure(tally, INTEGRATED)
        row, item, x = block.entries()
        recorded = ~self._unrecorded(tally)[item] & (x != 0)
        row, item, x = row[recorded], item[recorded], x[recorded]
        used, place = np.unique(item, return_inverse=True)
        sums, pretend = tally.sums[VALUE], np.maximum(self._pretend(tally, "mean"), 0.0)
        count = sums.rows(used).high  # no table of all words is made
        count = count + np.broadcast_to(pretend, (len(tally.axis), 1))[used]
        every = np.where(self._unrecorded(tally)[:, None], 0.0, pretend).sum()
        total = np.maximum(sums.by_class(), 0.0) + every
        with np.errstate(invalid="ignore"):
            mean = (mean_of_log(count, least) - mean_of_log(total, least))[place]
        variance = variance_of_log(count, least)[place]
        mean, variance = x[:, None] * mean, x[:, None] ** 2 * variance
        return Uncertain(row, item, mean, variance, x, variance_of_log(total, least))

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
        """Draw rows word by word; their lengths are Poisson with the mean of their class.

        Texts are not empty: their lengths are from a Poisson that is truncated at zero.
        """
        some, classes = np.unique(classes, return_inverse=True)  # no table of other classes is made
        pretend = self._pretend(tally, self.estimate)
        drawn_from = tally.map(lambda sums: sums[:, some])
        value, rows = drawn_from[VALUE].high, drawn_from[PRESENT].high
        mean = np.divide(value, rows, out=np.zeros_like(value), where=rows > 0).sum(axis=0)
        lengths = draw_lengths(mean[classes], rng, length, texts=isinstance(tally.axis, Words))
        lengths = lengths * (len(value) > 0)  # there is no word to be drawn
        row = np.repeat(np.arange(len(classes)), lengths)
        count = np.maximum(value + pretend, 0.0)
        count[self._unrecorded(tally)] = 0.0
        if self.integrates:
            drawn = _draw_from_urns(count, classes, lengths, rng)
        else:
            drawn = draw_levels(count, classes[row], rng)
        if isinstance(tally.axis, Words):
            words = tally.axis.writable[drawn]
            ends = np.cumsum(lengths)
            texts = [" ".join(words[end - n : end]) for n, end in zip(lengths, ends, strict=True)]
            return Documents([*texts], tally.axis)
        shape = len(classes), len(value)
        cell = np.bincount(row * len(value) + drawn, minlength=shape[0] * shape[1])
        return numbers(cell.reshape(shape).astype(np.float64), tally)

    def leave_one_out(self, tally: BlockTally[Items], block: Counts, labels: Labels) -> Floats:
        if self.alpha == "auto":  # all rows choose it
            return self.settled(tally).leave_one_out(tally, block, labels)
        words, fixed = self.sparse_words(tally), self.m is None or self._spreads_alike
        if words is None or not isinstance(block, Sparse) or not fixed or self.integrates:
            return super().leave_one_out(tally, block, labels)
        bands, grows = self._bands(tally), tally.axis.grows
        return evidence_of_words_without(*words, block, labels, bands, grows=grows)

    @property
    def _spreads_alike(self) -> bool:
        """Whether pretend counts do not change with a row that is left out."""
        return isinstance(self.p, tuple) or self.estimate == "mle" or self.prior is not None

    def _log_likelihood(self, bags: BagsLeftOut, part: NDArray[np.int64], parts: int) -> Floats:
        if not self.integrates:
            return super()._log_likelihood(bags, part, parts)
        row, x = bags.row, bags.x
        count = bags.count[bags.word]
        count[np.arange(len(row))[:, None], bags.affected] = bags.left
        length = np.bincount(row, x, len(bags.total)).astype(np.float64)
        found = np.zeros((len(bags.total), 1, count.shape[1]))
        np.add.at(found[:, 0], row, cells_of_urn(x, count, bags.total[row], length[row]))
        return found

    def _log_weight(self, count: Floats) -> Floats:
        return np.log(count)

    def _pretend(self, tally: BlockTally[Items], how: How) -> Floats:
        if self.m is None or self.prior is not None or how == "mle":
            return super()._pretend(tally, how)
        shares = spread(tally[VALUE].high, ~self._unrecorded(tally), self.p)
        return added(self.m * shares, self.estimate, how)

    def _left_out(
        self, tally: BlockTally[Items], block: Counts, labels: Labels
    ) -> Iterator[tuple[NDArray[np.int64], BagsLeftOut]]:
        if self.m is None or self._spreads_alike:
            return super()._left_out(tally, block, labels)
        recorded, p = ~self._unrecorded(tally), None if self.p is None else "uniform"
        return bags_left_of_spread(tally, block, labels, recorded, self.m, p)


def _draw_from_urns(
    count: Floats, classes: ClassNumbers, length: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw words row by row, (words,), each row from probabilities drawn from a Dirichlet."""
    drawn = [np.empty(0, np.int64)]
    for c, n in zip(classes.tolist(), length.tolist(), strict=True):
        size = rng.gamma(count[:, c])
        drawn.append(rng.choice(len(size), n, p=size / size.sum() if size.sum() > 0 else None))
    return np.concatenate(drawn)


# --- Complement event model: the multinomial's tally, each class scored by all the others --------


@final
class Complement(BagOfCounts):
    """Counts of words: a class is likely where a row is unlike the rows of all other classes.

    Parameters
    ----------
    alpha : float, "laplace", "jeffreys", "auto" or sequence of float, default 1.0
        Pretend count of each word in the complement of each class, one for all columns or one
        for each.
    prior : Dirichlet, optional
        Instead of ``alpha``.
    estimate : {"mean", "map", "mle", "predictive"}
        As for ``Multinomial``; the predictive is the mean.
    norm : bool, default False
        Divide each class's weights by their sum (weight-normalised complement).

    Notes
    -----
    Rennie, Shih, Teevan & Karger, Tackling the poor assumptions of naive Bayes text classifiers
    (2003). The class prior is used; their rule without it is ``class_prior="uniform"``.

    Examples
    --------
    >>> from naively import Complement, NaiveBayes
    >>> nb = NaiveBayes(event_models=Complement()).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> nb.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    norm: bool = False
    name = "complement"

    def parameters(self, tally: BlockTally[Items], how: How) -> dict[str, Floats]:
        """Return the probabilities of words in all other classes, (words, classes)."""
        others = self._counts(tally, how)
        return {"p": share(others, others.sum(axis=0, keepdims=True))}

    def check_density(self) -> None:
        raise ValueError("Complement has no density: it does not model how rows are generated.")

    def uncertain(self, tally: BlockTally[Items], block: Counts, least: float = 0.0) -> Uncertain:  # noqa: ARG002
        raise self._unsure(tally, "each class is scored by the counts of all others")

    def terms(self, tally: BlockTally[Items]) -> TermBlock:
        slopes = self._sparse_slopes(tally)
        if slopes is None:
            return LineTerms(slope=self.log_probabilities(tally, self.estimate))
        return slopes.over(self._size(tally)) if self.norm else slopes

    def log_probabilities(self, tally: BlockTally[Items], how: How) -> Floats:
        weights = super().log_probabilities(tally, how)
        if weights.shape[1] == 1:  # one class has no complement
            return np.zeros_like(weights)
        if self.norm:
            weights /= self._size(tally)
        return weights

    def leave_one_out(self, tally: BlockTally[Items], block: Counts, labels: Labels) -> Floats:
        """As for ``Multinomial``; with ``norm`` the sums of the weights stay as they were."""
        if self.alpha == "auto":  # all rows choose it
            return self.settled(tally).leave_one_out(tally, block, labels)
        words = self.sparse_words(tally)
        if words is None or not isinstance(block, Sparse) or self._sparse_slopes(tally) is None:
            evidence = super().leave_one_out(tally, block, labels)
        else:
            grows = tally.axis.grows
            evidence = evidence_of_others_without(*words, block, labels, grows=grows)[:, None]
        if self.norm:
            evidence = evidence / self._size(tally)
        return evidence

    def _size(self, tally: BlockTally[Items]) -> Floats:
        """Return the sum of the weights of each class, (classes,); 1 where it is 0 or infinite."""
        slopes = self._sparse_slopes(tally)
        if slopes is None:
            total = super().log_probabilities(tally, self.estimate).sum(axis=0)
        else:
            total = slopes.total()
        return np.where((total == 0) | np.isinf(total), 1.0, total)

    def _sparse_slopes(self, tally: BlockTally[Items]) -> WordTerms | None:
        """Return the weights before ``norm`` of sparse counts; None if a table must be made."""
        words = self.sparse_words(tally)
        return None if words is None else slopes_of_others(*words)

    def _of_classes(self, count: Floats) -> Floats:
        """Return the counts of all other classes, (words, classes), which a class is scored by."""
        return np.asarray(count.sum(axis=1, keepdims=True) - count)

    def _affected(self, k: int) -> NDArray[np.int64]:
        return np.nonzero(~np.eye(k, dtype=np.bool_))[1].reshape(k, k - 1)

    def _log_weight(self, count: Floats) -> Floats:
        # A word that is rare elsewhere weighs much.
        return -np.log(count)
