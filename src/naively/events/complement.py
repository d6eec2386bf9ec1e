"""Complement event model: multinomial's tally, and what the other classes say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from naively.core.block import Block
from naively.core.event import EventModel, How
from naively.core.kernels import Floats
from naively.core.labels import Labels
from naively.core.loglinear import LogLinear
from naively.core.statistic import PRESENT, VALUE
from naively.core.tally import BlockTally
from naively.events.multinomial import Multinomial


@dataclass(frozen=True)
class Complement(Multinomial):
    """Counts of words, each class judged by how unlike all the others it is.

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
        Divide each class's weights by the sum of their sizes (weight-normalised complement).

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

    @property
    def integrates(self) -> bool:
        return False

    def likelihood(self, tally: BlockTally) -> LogLinear:
        return LogLinear(slope=self.log_probabilities(tally, self.estimate))

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Block:
        return EventModel.sample(self, tally, classes, rng)

    def log_probabilities(self, tally: BlockTally, how: How) -> Floats:
        value = tally[VALUE].high
        if value.shape[1] == 1:  # one class has no complement
            return np.zeros_like(value)
        unrecorded = ~(tally[PRESENT].high > 0).any(axis=1)
        others = value.sum(axis=1, keepdims=True) - value + self._pretend(tally, how)
        others[np.broadcast_to(unrecorded, len(others))] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            weights: Floats = np.log(others.sum(axis=0)) - np.log(others)
        weights[np.broadcast_to(unrecorded, len(weights))] = 0.0
        # A word that is rare elsewhere weighs much.
        if self.norm:
            total = weights.sum(axis=0)
            weights /= np.where(total == 0, 1.0, total)
        return weights

    def _log_shares(self, count: Floats, total: Floats, pretend: Floats, of_all: Floats) -> Floats:
        if count.shape[1] == 1:
            return np.zeros_like(count)
        others = count.sum(axis=1, keepdims=True) - count + pretend
        of_others = total.sum(axis=1, keepdims=True) - total + of_all
        with np.errstate(divide="ignore", invalid="ignore"):
            weights: Floats = np.log(of_others) - np.log(others)
            return weights

    def leave_one_out(self, tally: BlockTally, block: Block, labels: Labels) -> Floats:
        """As for ``Multinomial``; with ``norm`` the sizes of the weights stay as they were."""
        evidence = super().leave_one_out(tally, block, labels)
        if self.norm:
            plain = replace(self, norm=False).log_probabilities(tally, self.estimate)
            total = plain.sum(axis=0)
            evidence /= np.where(total == 0, 1.0, total)
        return evidence
