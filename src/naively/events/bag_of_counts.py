"""Bags of counts: what the multinomial and the complement event models share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import PRESENT, VALUE
from naively.counting.block import Counts
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
    UNSAID,
    Distribution,
    Items,
    added,
    by_row,
    check_alpha,
    check_estimate,
    check_not_negative,
)
from naively.events.estimate import Estimable, flat
from naively.events.prior import Dirichlet, dirichlet
from naively.kernels.double_double import NEGLIGIBLE
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import SparseSums
from naively.options import How


@dataclass(frozen=True)
class BagOfCounts(Estimable[Items, Counts]):
    """Rows of counts, drawn from one distribution for each class: what such models share."""

    alpha: float | str | Sequence[float] = 1.0
    prior: Dirichlet | None = None
    estimate: How = UNSAID
    statistics = (PRESENT, VALUE)
    joined = True
    chosen_by = "alpha"

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha, named=True, auto=True)
        check_estimate(self.estimate)

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

    def prior_of(self, tally: BlockTally[Items]) -> Dirichlet | None:
        if self.prior is not None:
            return self.prior
        counts = flat(self._pretend(tally, "mean"))
        return Dirichlet(counts) if np.all(counts > 0) else None

    def updated(self, tally: BlockTally[Items]) -> Dirichlet | None:
        return dirichlet(flat(self._counts(tally, "mean")))

    def posterior(self, tally: BlockTally[Items]) -> Distribution:
        from scipy import stats

        return stats.dirichlet(flat(self._counts(tally, "mean")))

    def predictive(self, tally: BlockTally[Items]) -> Distribution:
        from scipy import stats

        return stats.multinomial(1, flat(self.parameters(tally, "mean")["p"]))

    @abstractmethod
    def _log_weight(self, count: Floats) -> Floats:
        """Return the log weight of words from their counts in a class, of any shape.

        Less the same function of the total count it is the log weight. The counts include pretend
        counts (``_counts``).
        """

    @np.errstate(divide="ignore", invalid="ignore")
    def log_probabilities(self, tally: BlockTally[Items], how: How) -> Floats:
        """Return the log weight of each word in each class, of shape (words, classes).

        It is 0 in a class without any counts, and for a column that was never recorded.
        """
        count = self._counts(tally, how)
        total = count.sum(axis=0)
        log_p = self._log_weight(count) - self._log_weight(total)
        log_p[:, total == 0] = 0.0
        log_p[self._unrecorded(tally)] = 0.0
        return log_p

    def pretended_of_words(self, tally: BlockTally[Items]) -> Floats | None:
        """Return what is added to each sparse count, (words,); None where not all are above 0."""
        if not isinstance(tally.sums[VALUE], SparseSums) or self._unrecorded(tally).any():
            return None
        pretend = self._pretend(tally, self.estimate)[:, 0]
        words = np.broadcast_to(pretend, len(tally.axis)).astype(np.float64)
        return words if len(words) and words.min() > 0 else None

    def evidence_without(self, tally: BlockTally[Items], block: Counts, labels: Labels) -> Floats:
        """Return the log likelihood of each row as if it had not been counted.

        A word (or a dense column) that no other row has is as if never seen.
        """
        bands = self._bands(tally)
        evidence = np.zeros((len(block), bands, labels.k))
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
        return bags_left_out(tally, block, labels, count, pretend, self._affected(labels.k))

    def _bands(self, tally: BlockTally[Items]) -> int:
        """Return how many bands of document frequency the words are divided into."""
        by_band = self.by_word and tally.axis.by_band
        return count_bands(tally.sums[VALUE].by_row()) if by_band else 1

    @np.errstate(divide="ignore", invalid="ignore")
    def _log_likelihood(self, bags: BagsLeftOut, part: NDArray[np.int64], parts: int) -> Floats:
        """Return log likelihoods of rows, (rows, parts, classes).

        ``part``, of shape (cells,), is ``parts`` times the cell's row, plus the cell's part.
        """
        from scipy.sparse import csr_array

        n, k = bags.total.shape
        word, x, of, size = bags.word, bags.x, bags.affected, n * parts
        log_count = self._log_weight(bags.count)
        found = csr_array((x, (part, word)), shape=(size, len(log_count))) @ log_count
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
