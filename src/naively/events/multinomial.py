"""Multinomial event model: a bag of counts, drawn from one distribution for each class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import PRESENT, VALUE, Columns, Words
from naively.counting.block import Counts, Dense, Documents, Sparse
from naively.counting.labels import Labels
from naively.counting.leave_one_out import BagsLeftOut
from naively.counting.tally import BlockTally
from naively.events.bag_of_counts import BagOfCounts
from naively.events.base import Distribution, Items, added, draw_levels, numbers
from naively.events.estimate import Estimate, flat
from naively.events.estimates.space import POSITIVE, PROBABILITY, read, read_shares
from naively.events.estimates.words import axis_of_words
from naively.events.lengths import draw_lengths
from naively.events.m_estimate import bags_left_of_spread, check_m, check_shares, spread
from naively.events.prior import share
from naively.events.words import evidence_of_words_without, slopes_of_words
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import SparseSums
from naively.likelihoods.base import Likelihood
from naively.likelihoods.words import DirichletMultinomial, LogLinear, cells_of_urn, log_coefficient
from naively.options import How


@final
@dataclass(frozen=True)
class Multinomial(BagOfCounts):
    """Counts of words or of columns: x | class ~ Multinomial(length of the row, p).

    Parameters
    ----------
    alpha : float, "laplace", "jeffreys", "auto" or sequence of float, default 1.0
        Pretend count of each word in each class, one for all columns or one for each: the prior is
        Dirichlet(alpha), or with ``estimate="map"`` Dirichlet(alpha + 1), whose mode it is. 1 is
        Laplace's rule, 1/2 Jeffreys's, any other Lidstone's, 0 maximum likelihood. "auto" is the
        one under which the other words predict each single word best.
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
            Probabilities that sum to 1. Of words they make texts, of a sequence rows of counts.
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
        sums = {PRESENT: present, VALUE: shares * size}
        return cls(alpha=0, estimate="mle").given(axis, sums)

    def log_likelihood_of(
        self, tally: BlockTally[Items], parameters: Mapping[str, Floats]
    ) -> Floats:
        from scipy.special import xlogy

        return np.asarray(xlogy(tally[VALUE].high[:, 0], parameters["p"]).sum(axis=-1))

    def fitted(self, tally: BlockTally[Items], how: How) -> Distribution:
        from scipy import stats

        return stats.multinomial(1, flat(self.parameters(tally, how)["p"]))

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

    def likelihood(self, tally: BlockTally[Items]) -> Likelihood:
        if self.integrates:
            return DirichletMultinomial(self._counts(tally, "mean"))
        count, pretend = tally.sums[VALUE], self.pretended_of_words(tally)
        if pretend is not None and isinstance(count, SparseSums):
            slopes = slopes_of_words(count, pretend)
            if slopes is not None:
                return replace(slopes, base=log_coefficient)
        return LogLinear(self.log_probabilities(tally, self.estimate), base=log_coefficient)

    def sample(
        self, tally: BlockTally[Items], classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense | Documents:
        return self.sample_rows(tally, classes, rng)

    def sample_rows(
        self,
        tally: BlockTally[Items],
        classes: NDArray[np.integer],
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

    def evidence_without(self, tally: BlockTally[Items], block: Counts, labels: Labels) -> Floats:
        count, pretend = tally.sums[VALUE], self.pretended_of_words(tally)
        fixed = self.m is None or self._spreads_alike
        sparse = isinstance(block, Sparse) and isinstance(count, SparseSums)
        if not sparse or pretend is None or not fixed or self.integrates:
            return super().evidence_without(tally, block, labels)
        assert isinstance(block, Sparse)
        assert isinstance(count, SparseSums)
        bands, grows = self._bands(tally), tally.axis.grows
        return evidence_of_words_without(count, pretend, block, labels, bands, grows=grows)

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
    count: Floats, classes: NDArray[np.integer], length: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw words row by row, (words,), each row from probabilities drawn from a Dirichlet."""
    drawn = [np.empty(0, np.int64)]
    for c, n in zip(classes.tolist(), length.tolist(), strict=True):
        size = rng.gamma(count[:, c])
        drawn.append(rng.choice(len(size), n, p=size / size.sum() if size.sum() > 0 else None))
    return np.concatenate(drawn)
