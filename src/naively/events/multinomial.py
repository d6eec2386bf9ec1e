"""Multinomial event model: a bag of counts, each drawn from the class's one die."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.core.axis import title
from naively.core.block import Block, Dense, Sparse
from naively.core.event import EventModel
from naively.core.likelihood import LogLinear
from naively.core.statistic import PRESENT, VALUE
from naively.core.tally import BlockTally


@dataclass(frozen=True)
class Multinomial(EventModel):
    """Counts of words or of columns: x | class ~ Multinomial(length of the row, p).

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each word in each class: the estimate is the posterior mean under a
        symmetric Dirichlet(alpha). 1 is Laplace's rule, below it Lidstone's, 0 maximum
        likelihood.

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

    alpha: float = 1.0
    name = "multinomial"
    statistics = (PRESENT, VALUE)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"Multinomial alpha must be at least 0, got {self.alpha}.")

    def prepare(self, block: Block) -> Block:
        if isinstance(block, Sparse) and block.data.size and block.data.min() < 0:
            raise ValueError(
                "Negative values in data passed to Multinomial: counts are at least 0."
            )
        if isinstance(block, Dense) and (below := (block.values < 0).any(axis=0)).any():
            name = title(block.axis.columns[int(np.flatnonzero(below)[0])])
            raise ValueError(
                f"Negative values in data passed to Multinomial, in column {name!r}: "
                "counts are at least 0."
            )
        return block

    def likelihood(self, tally: BlockTally) -> LogLinear:
        unrecorded = ~(tally[PRESENT].high > 0).any(axis=1)
        log_p = tally[VALUE].high + self.alpha
        log_p[np.broadcast_to(unrecorded, len(log_p))] = 0.0
        total = log_p.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log(log_p, out=log_p)
            log_p -= np.log(total)
        # A column never recorded, and a class without any counts, say nothing.
        log_p[np.broadcast_to(unrecorded, len(log_p))] = 0.0
        log_p[:, total == 0] = 0.0
        return LogLinear(slope=log_p)
