"""Categorical event model: one of the levels of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.axis import Levels
from naively.core.event import EventModel, How, by_row, check_alpha, check_estimate, flat
from naively.core.kernels import Floats
from naively.core.likelihood import Table
from naively.core.statistic import LEVEL
from naively.core.tally import BlockTally
from naively.events.prior import Dirichlet


@dataclass(frozen=True)
class Categorical(EventModel):
    """One of several levels: x | class ~ Categorical(p), one p per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each level in each class: the posterior mean under a symmetric
        Dirichlet(alpha), which is the mode under Dirichlet(alpha + 1). A level never seen in
        training takes what it would have had if it had been known and never counted:
        alpha / (n + alpha · (levels + 1)).
    codes : int or sequence of int, optional
        Levels are the whole numbers 0, 1, 2, ..., and every one up to the largest seen is a level,
        seen or not; a column (or each of them) has at least this many. A level never seen, within
        these or not, takes alpha / (n + alpha · levels).
    prior : Dirichlet, optional
        Instead of ``alpha``. A vector is for one column, in the order of its levels; a level
        never seen takes nothing then.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; the predictive is the mean.

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
    codes: int | Sequence[int] | None = None
    prior: Dirichlet | None = None
    estimate: How = "mean"
    name = "categorical"
    statistics = (LEVEL,)
    layout = "levels"

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha)
        check_estimate(self.estimate)
        if isinstance(self.codes, Sequence):  # as a tuple it is equal to itself, and hashes
            object.__setattr__(self, "codes", tuple(self.codes))

    def n_levels(self, axis: Levels) -> NDArray[np.int64]:
        """Return how many levels each column has."""
        if self.codes is None:
            return np.diff(axis.first)
        seen = np.array([max(levels, default=-1) + 1 for levels in axis.levels], np.int64)
        return np.maximum(seen, self.codes)

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        count, total, _, column = self._counts(tally, how)
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"p": count / total[column]}

    def likelihood(self, tally: BlockTally) -> Table:
        axis = tally.axis
        assert isinstance(axis, Levels)
        count, total, spare, column = self._counts(tally, self.estimate)
        first = axis.first + np.arange(len(axis.levels) + 1)  # one row more: levels never seen
        table = np.empty((first[-1], count.shape[1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            table[np.arange(len(axis)) + column] = count / total[column]
            never_seen = spare if self.codes is None else 0.0  # else it has its place already
            table[first[1:] - 1] = spare / (total + never_seen)
            # A class with no value in a column, unsmoothed, says nothing.
            return Table(np.log(np.where(np.isnan(table), 1.0, table)), first)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.dirichlet(flat(self._counts(tally, "mean")[0]))

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.multinomial(1, flat(self.parameters(tally, "mean")["p"]))

    def _counts(
        self, tally: BlockTally, how: How
    ) -> tuple[Floats, Floats, float, NDArray[np.int64]]:
        """Count levels and their totals by column, pretend ones among them; and one to spare."""
        axis = tally.axis
        assert isinstance(axis, Levels)
        pretend = by_row(0.0 if how == "mle" else self.alpha)
        if self.prior is not None:
            pretend = by_row(self.prior.pretend(how))
        if len(pretend) not in (1, len(axis)):
            raise ValueError(
                f"The Dirichlet prior has {len(pretend)} counts for {len(axis)} levels."
            )
        count = tally[LEVEL].high + pretend
        column = np.repeat(np.arange(len(axis.levels)), np.diff(axis.first))
        total = np.zeros((len(axis.levels), count.shape[1]))
        np.add.at(total, column, count)
        spare = float(pretend[0, 0]) if len(pretend) == 1 else 0.0
        total += spare * (self.n_levels(axis) - np.diff(axis.first))[:, None]
        return count, total, spare, column
