"""Bernoulli event model: present or not, a coin flip for each column or word."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from naively.core.block import Block, Dense, Documents, Sparse
from naively.core.event import EventModel
from naively.core.kernels import Floats
from naively.core.likelihood import LogLinear
from naively.core.statistic import PRESENT, VALUE
from naively.core.tally import BlockTally


@dataclass(frozen=True)
class Bernoulli(EventModel):
    """True or false: x | class ~ Bernoulli(p), one p per column (or word) and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each of the two outcomes in each class: the estimate is the posterior
        mean under Beta(alpha, alpha). 1 is Laplace's rule, 0 maximum likelihood.
    threshold : float, default 0.0
        A number above it counts as true.

    Notes
    -----
    The multivariate Bernoulli model of McCallum & Nigam (1998): a word that is absent from a
    text is evidence too.

    Examples
    --------
    >>> from naively import Bernoulli, NaiveBayes
    >>> nb = NaiveBayes(event_models=Bernoulli()).fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> nb.predict([[1, 0]])
    array(['a'], dtype='<U1')
    """

    alpha: float = 1.0
    threshold: float = 0.0
    name = "bernoulli"
    statistics = (PRESENT, VALUE)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"Bernoulli alpha must be at least 0, got {self.alpha}.")

    def prepare(self, block: Block) -> Block:
        if isinstance(block, Dense):
            x = block.values
            truth = (x > self.threshold).astype(np.float64)
            truth[np.isnan(x)] = np.nan
            return Dense(truth, block.axis)
        if isinstance(block, Sparse):
            if self.threshold < 0:
                raise ValueError("Bernoulli threshold must be at least 0 for a sparse matrix.")
            return replace(block, data=(block.data > self.threshold).astype(np.float64))
        if isinstance(block, Documents):
            return replace(block, presence=True)
        return block

    def likelihood(self, tally: BlockTally) -> LogLinear:
        true, false = self.log_odds(tally)
        with np.errstate(invalid="ignore"):
            return LogLinear(slope=true - false, offset=false)

    def log_odds(self, tally: BlockTally) -> tuple[Floats, Floats]:
        """Return log p and log (1 - p), each of shape (columns or words, classes)."""
        trials = tally[PRESENT].high + 2 * self.alpha
        true = tally[VALUE].high + self.alpha
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(trials > 0, true / trials, 0.5)
            q = np.where(trials > 0, (trials - true) / trials, 0.5)
            return np.log(p), np.log(q)
