"""Complement event model: the multinomial's tally, each class scored by all the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import VALUE
from naively.counting.block import Counts, Sparse
from naively.counting.labels import Labels
from naively.counting.tally import BlockTally
from naively.events.bag_of_counts import BagOfCounts
from naively.events.base import Items
from naively.events.prior import share
from naively.events.words import evidence_of_others_without, slopes_of_others
from naively.kernels.reference import Floats
from naively.kernels.sparse_sums import SparseSums
from naively.likelihoods.base import Likelihood
from naively.likelihoods.words import LogLinear, WordSlopes
from naively.options import How


@final
@dataclass(frozen=True)
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
    (2003). The class prior is honoured; their rule without it is ``class_prior="uniform"``.

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

    def likelihood(self, tally: BlockTally[Items]) -> Likelihood:
        slopes = self._sparse_slopes(tally)
        if slopes is None:
            return LogLinear(slope=self.log_probabilities(tally, self.estimate))
        return slopes.over(self._size(tally)) if self.norm else slopes

    def log_probabilities(self, tally: BlockTally[Items], how: How) -> Floats:
        weights = super().log_probabilities(tally, how)
        if weights.shape[1] == 1:  # one class has no complement
            return np.zeros_like(weights)
        if self.norm:
            weights /= self._size(tally)
        return weights

    def evidence_without(self, tally: BlockTally[Items], block: Counts, labels: Labels) -> Floats:
        """As for ``Multinomial``; with ``norm`` the sums of the weights stay as they were."""
        count, pretend = tally.sums[VALUE], self.pretended_of_words(tally)
        if isinstance(block, Sparse) and self._sparse_slopes(tally) is not None:
            assert isinstance(count, SparseSums)
            assert pretend is not None
            grows = tally.axis.grows
            found = evidence_of_others_without(count, pretend, block, labels, grows=grows)
            evidence = found[:, None]
        else:
            evidence = super().evidence_without(tally, block, labels)
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
        size: Floats = np.where((total == 0) | np.isinf(total), 1.0, total)
        return size

    def _sparse_slopes(self, tally: BlockTally[Items]) -> WordSlopes | None:
        """Return the weights before ``norm`` of sparse counts; None if a table must be made."""
        count, pretend = tally.sums[VALUE], self.pretended_of_words(tally)
        if pretend is None or not isinstance(count, SparseSums):
            return None
        return slopes_of_others(count, pretend)

    def _of_classes(self, count: Floats) -> Floats:
        """Return the counts of all other classes, (words, classes), which a class is scored by."""
        others: Floats = count.sum(axis=1, keepdims=True) - count
        return others

    def _affected(self, k: int) -> NDArray[np.int64]:
        return np.nonzero(~np.eye(k, dtype=np.bool_))[1].reshape(k, k - 1)

    def _log_weight(self, count: Floats) -> Floats:
        # A word that is rare elsewhere weighs much.
        weight: Floats = -np.log(count)
        return weight
