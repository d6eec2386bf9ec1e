"""Joint table event model: several columns as one, with a level for each possible row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import LEVEL, Level, Levels, Name
from naively.counting.block import Codes
from naively.counting.leave_one_out import LeftOut
from naively.counting.tally import BlockTally
from naively.events.base import (
    UNSAID,
    Distribution,
    added,
    check_alpha,
    check_estimate,
    draw_levels,
)
from naively.events.estimate import Estimable, flat
from naively.events.estimates.outcomes import Outcomes
from naively.events.prior import Dirichlet, dirichlet, share
from naively.kernels.double_double import NEGLIGIBLE
from naively.kernels.reference import Floats
from naively.likelihoods.numbers import LevelTable
from naively.options import How


@final
@dataclass(frozen=True)
class JointTable(Estimable[Levels, Codes]):
    """Whole rows: one die with a side for each (x, y), without the naive Bayes assumption.

    On all columns it is the Bayes optimal classifier, once every row has been seen often; on some,
    these depend on each other in any way, and are independent of the rest, given the class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each possible row, shared among the classes as the counted rows are; a row
        never seen leaves the class prior as it is. Every combination of the values that the
        columns have had is possible (a boolean has two). The prior is Dirichlet(alpha), or
        with ``estimate="map"`` Dirichlet(alpha + 1), whose mode it is.
    estimate : {"mean", "map", "mle", "predictive"}
        Posterior mean, mode, or maximum likelihood; the predictive is the mean.
    columns : sequence of str or int, optional
        The columns, which are filled in when it is fitted.

    Notes
    -----
    M booleans and two classes have 2(2ᴹ - 1) + 1 free parameters, against the 2M + 1 of naive
    Bayes (Mitchell, Generative and Discriminative Classifiers: Naive Bayes and Logistic
    Regression, 2017). A row with a missing cell is missing.

    Examples
    --------
    >>> from naively import JointTable, NaiveBayes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> NaiveBayes("bernoulli", weights=None).fit(X, y).predict_proba([[1, 1]])
    array([[0.5, 0.5]])
    >>> NaiveBayes(JointTable(alpha=0), weights=None).fit(X, y).predict_proba([[1, 1]])
    array([[0., 1.]])
    """

    alpha: float = 1.0
    estimate: How = UNSAID
    columns: Sequence[Name] | None = None
    name = "joint"
    statistics = (LEVEL,)
    layout = "rows"

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha)
        check_estimate(self.estimate)
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))

    def parameters(self, tally: BlockTally[Levels], how: How) -> dict[str, Floats]:
        count, sides = tally[LEVEL].high, self._sides(tally)
        alpha = added(self.alpha, self.estimate, how).item()
        if alpha >= 0:
            return {"p": self._smooth(count, count.sum(axis=0), alpha, sides)}
        # Where a count would be negative, the mode of the posterior is 0.
        left = np.maximum(self._smooth(count, count.sum(axis=0), 0.0, 1.0) * count.sum() + alpha, 0)
        return {"p": share(left, left.sum(axis=0, keepdims=True))}

    def likelihood(self, tally: BlockTally[Levels]) -> LevelTable:
        p = self.parameters(tally, self.estimate)["p"]
        alpha = 0.0 if self.estimate == "mle" else self.alpha
        n, sides = tally[LEVEL].high.sum(), self._sides(tally)
        never = alpha / (n + alpha * sides) if n + alpha > 0 else 1.0
        with np.errstate(divide="ignore"):
            table = np.log(np.concatenate([p, np.full((1, p.shape[1]), never)]))
        return LevelTable(table, np.array([0, len(table)]))

    def log_prob_without(self, tally: BlockTally[Levels], cells: LeftOut[Codes]) -> Floats:
        count = tally[LEVEL].high
        left = count[cells.x] - cells.own
        left[left <= NEGLIGIBLE] = 0.0
        alpha = 0.0 if self.estimate == "mle" else self.alpha
        of_class = count.sum(axis=0) - cells.own
        with np.errstate(divide="ignore"):
            return np.log(self._smooth(left, of_class, alpha, self._sides(tally)))

    def prior_of(self, tally: BlockTally[Levels]) -> Dirichlet | None:  # noqa: ARG002
        alpha = self._of_mean
        return Dirichlet(alpha) if alpha > 0 else None

    def updated(self, tally: BlockTally[Levels]) -> Dirichlet | None:
        """Return the posterior of the rows seen, and last of all other rows together."""
        return dirichlet(self.posterior(tally).alpha)

    def posterior(self, tally: BlockTally[Levels]) -> Distribution:
        """Return the posterior of the rows seen, and last of all other rows together."""
        from scipy import stats

        seen = flat(tally[LEVEL].high) + self._of_mean
        others = self._sides(tally) - len(tally.axis)
        return stats.dirichlet(np.append(seen, [others * self._of_mean] if others else []))

    @property
    def _of_mean(self) -> float:
        return float(added(self.alpha, self.estimate, "mean").item())

    def predictive(self, tally: BlockTally[Levels]) -> Distribution:
        from scipy import stats

        alpha = self.posterior(tally).alpha
        return stats.multinomial(1, alpha / alpha.sum())

    def pretended(self, tally: BlockTally[Levels], how: How) -> Floats:
        """Return the pretend count of each row, shared among the classes as the counted rows."""
        of_class = tally[LEVEL].high.sum(axis=0, keepdims=True)
        alpha: Floats = added(self.alpha, self.estimate, how)
        return alpha * share(of_class, of_class.sum(keepdims=True))

    def n_parameters(self, tally: BlockTally[Levels]) -> int:
        return (self.n_values(tally) - 1) * tally[LEVEL].shape[1]

    def n_values(self, tally: BlockTally[Levels]) -> int:
        return math.prod(map(len, _values(tally)))

    def sample(
        self, tally: BlockTally[Levels], classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Codes:
        """Draw counted rows of each class, and some of the pretend ones."""
        (seen,) = tally.axis.levels
        count, values = tally[LEVEL].high, _values(tally)
        rows = [seen[i] for i in draw_levels(count, classes, rng).tolist()]
        # The pretend rows are spread evenly over all possible rows.
        pretend = 0.0 if self.estimate == "mle" else self.alpha * self._sides(tally)
        share = pretend / (pretend + count.sum())
        for i in np.flatnonzero(rng.random(len(rows)) < share).tolist():
            rows[i] = tuple(of[rng.integers(len(of))] for of in values)
        code = {row: i for i, row in enumerate(dict.fromkeys(rows))}
        codes = np.array([[code[row]] for row in rows], np.int32).reshape(-1, 1)
        return Codes(codes, Levels(tally.axis.columns, (tuple(code),)))

    def outcomes(self, tally: BlockTally[Levels]) -> Outcomes:
        """Return the rows with their probabilities, by the estimate that is set."""
        (rows,), values = tally.axis.levels, _values(tally)
        place = [{value: i for i, value in enumerate(of)} for of in values]
        codes = [[of[value] for of, value in zip(place, row, strict=True)] for row in rows]
        p, n = self.parameters(tally, self.estimate)["p"], tally[LEVEL].high.sum()
        pretend = 0.0 if self.estimate == "mle" else self.alpha * self._sides(tally)
        unseen = pretend / (n + pretend) if n + pretend > 0 else 0.0
        names = self.columns or range(len(values))
        return Outcomes(
            names, values, np.array(codes, np.int64).reshape(-1, len(values)), p, unseen
        )

    def _sides(self, tally: BlockTally[Levels]) -> float:
        """Return how many rows are possible, as a float that can be multiplied."""
        return float(min(self.n_values(tally), 10**300))

    @staticmethod
    def _smooth(count: Floats, of_class: Floats, alpha: float, sides: float) -> Floats:
        """Return the probability of each row of ``count``, of shape (rows, classes).

        A class without counted rows has the probabilities of all classes together.
        """
        n, of_row = of_class.sum(axis=-1, keepdims=True), count.sum(axis=-1, keepdims=True)
        shared = np.divide(n * count, of_class, where=of_class > 0, out=of_row + 0.0 * count)
        total = n + alpha * sides
        p: Floats = np.divide(shared + alpha, total, where=total > 0, out=np.ones_like(shared))
        return p


def _values(tally: BlockTally[Levels]) -> list[list[Level]]:
    """Return the values of each column that were seen, or both values of a boolean."""
    (rows,) = tally.axis.levels
    found = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    return [[False, True] if all(type(v) is bool for v in of) else of for of in found]
