"""Categorical event model: one of the levels of a column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.core.axis import Levels
from naively.core.event import EventModel
from naively.core.likelihood import Table
from naively.core.statistic import LEVEL
from naively.core.tally import BlockTally


@dataclass(frozen=True)
class Categorical(EventModel):
    """One of several levels: x | class ~ Categorical(p), one p per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each level in each class: the estimate is the posterior mean under a
        symmetric Dirichlet(alpha). A level never seen in training takes what it would have had
        if it had been known and never counted: alpha / (n + alpha · (levels + 1)).

    Notes
    -----
    Bishop, Pattern Recognition and Machine Learning (2006), section 2.2.

    Examples
    --------
    >>> from naively import Categorical, NaiveBayes
    >>> nb = NaiveBayes(event_models=Categorical()).fit([["red"], ["red"], ["blue"]], [0, 0, 1])
    >>> nb.predict_proba([["red"], ["green"]]).round(2)
    array([[0.82, 0.18],
           [0.62, 0.38]])
    """

    alpha: float = 1.0
    name = "categorical"
    statistics = (LEVEL,)
    layout = "levels"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"Categorical alpha must be at least 0, got {self.alpha}.")

    def likelihood(self, tally: BlockTally) -> Table:
        axis = tally.axis
        assert isinstance(axis, Levels)
        d, k = len(axis.levels), tally[LEVEL].shape[1]
        first = axis.first + np.arange(d + 1)  # one row more for each column: levels never seen
        column = np.repeat(np.arange(d), np.diff(axis.first))
        total = np.zeros((d, k))
        np.add.at(total, column, tally[LEVEL].high)
        levels = np.diff(axis.first)[:, None]
        table = np.empty((first[-1], k))
        with np.errstate(divide="ignore", invalid="ignore"):
            known = tally[LEVEL].high + self.alpha
            table[np.arange(len(axis)) + column] = known / (total + self.alpha * levels)[column]
            table[first[1:] - 1] = self.alpha / (total + self.alpha * (levels + 1))
            # A class with no value in a column, unsmoothed, says nothing.
            return Table(np.log(np.where(np.isnan(table), 1.0, table)), first)
