"""Multinomial event model: a bag of counts, each drawn from the class's one die."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.core.block import Block
from naively.core.event import (
    EventModel,
    How,
    by_row,
    check_alpha,
    check_estimate,
    check_not_negative,
    flat,
)
from naively.core.kernels import Floats
from naively.core.likelihood import LogLinear
from naively.core.statistic import PRESENT, VALUE
from naively.core.tally import BlockTally
from naively.events.prior import Dirichlet


@dataclass(frozen=True)
class Multinomial(EventModel):
    """Counts of words or of columns: x | class ~ Multinomial(length of the row, p).

    Parameters
    ----------
    alpha : float or sequence of float, default 1.0
        Pretend count of each word in each class, one for all columns or one for each: the
        posterior mean under Dirichlet(alpha), which is the mode under Dirichlet(alpha + 1). 1 is
        Laplace's rule, below it Lidstone's, 0 maximum likelihood.
    prior : Dirichlet, optional
        Instead of ``alpha``; a vector is in the order of the columns.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; the predictive of one word is the mean.

    Notes
    -----
    McCallum & Nigam (1998); Manning, Raghavan & Schütze, Introduction to Information Retrieval
    (2008), section 13.2. A word that was never seen in training is left out.

    Examples
    --------
    >>> from naively import Multinomial, NaiveBayes
    >>> nb = NaiveBayes(event_models=Multinomial()).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> nb.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    alpha: float | Sequence[float] = 1.0
    prior: Dirichlet | None = None
    estimate: How = "mean"
    name = "multinomial"
    statistics = (PRESENT, VALUE)

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha)
        check_estimate(self.estimate)

    def prepare(self, block: Block) -> Block:
        check_not_negative(block, "Multinomial")
        return block

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        return {"p": np.exp(self.log_probabilities(tally, how))}

    def likelihood(self, tally: BlockTally) -> LogLinear:
        return LogLinear(slope=self.log_probabilities(tally, self.estimate))

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.dirichlet(flat(tally[VALUE].high + self._pretend("mean")))

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.multinomial(1, flat(self.parameters(tally, "mean")["p"]))

    def log_probabilities(self, tally: BlockTally, how: How) -> Floats:
        """Return log p of each word and class; 0 for what says nothing."""
        unrecorded = ~(tally[PRESENT].high > 0).any(axis=1)
        log_p = tally[VALUE].high + self._pretend(how)
        log_p[np.broadcast_to(unrecorded, len(log_p))] = 0.0
        total = log_p.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log(log_p, out=log_p)
            log_p -= np.log(total)
        # A column never recorded, and a class without any counts, say nothing.
        log_p[np.broadcast_to(unrecorded, len(log_p))] = 0.0
        log_p[:, total == 0] = 0.0
        return log_p

    def _pretend(self, how: How) -> Floats:
        if self.prior is not None:
            return by_row(self.prior.pretend(how))
        return by_row(0.0 if how == "mle" else self.alpha)
