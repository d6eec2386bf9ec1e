"""Poisson event model: how many times it happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.counting.block import Block, Dense
from naively.counting.statistic import PRESENT, VALUE
from naively.counting.tally import BlockTally
from naively.events.base import (
    How,
    added,
    check_alpha,
    check_estimate,
    check_not_negative,
    numbers,
)
from naively.events.estimate import Estimable, flat
from naively.events.prior import Gamma, pretend_rows, share
from naively.kernels.reference import Floats, hold
from naively.likelihoods.base import Likelihood, sum_of_cells
from naively.likelihoods.log_linear import LogLinear
from naively.likelihoods.pointwise import Pointwise


@dataclass(frozen=True)
class Poisson(Estimable):
    """Counts of events: x | class ~ Poisson(rate), one rate per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Gamma(alpha · mean, alpha), or with ``estimate="map"`` Gamma(alpha · mean + 1, alpha).
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend events in ``rate`` pretend rows.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (negative binomial). Maximum likelihood from
        nothing is NaN; when rows are scored, such a class has the rate of all classes.

    Notes
    -----
    Gelman et al., Bayesian Data Analysis (2013), section 2.6.

    Examples
    --------
    >>> from naively import NaiveBayes, Poisson
    >>> goals = {"home": [0, 1, 0, 3, 4, 2]}
    >>> nb = NaiveBayes(event_models=Poisson()).fit(goals, ["weak"] * 3 + ["strong"] * 3)
    >>> nb.predict({"home": [5, 0]})
    array(['strong', 'weak'], dtype='<U6')
    """

    alpha: float = 1.0
    prior: Gamma | None = None
    estimate: How = "mean"
    name = "poisson"
    statistics = (PRESENT, VALUE)

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha)
        check_estimate(self.estimate)

    @property
    def sparse(self) -> bool:
        return self.estimate != "predictive"

    def prepare(self, block: Block) -> Block:
        check_not_negative(block, "Poisson")
        return block

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        events, rows = self._counts(tally, how)
        return {"rate": share(events, rows)}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.estimate == "predictive":
            from scipy import stats

            events, rows = self._predicting(tally)
            p = rows / (rows + 1)

            def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
                # Where nothing ever happened the rate is 0; SciPy has no such negative binomial.
                x = hold(x)[:, None]
                never, some = events[column] <= 0, np.maximum(events[column], 1e-300)
                of_zero = np.where(x == 0, 0.0, -np.inf)
                found = stats.nbinom.logpmf(x, some, p[column])
                return np.where(never, of_zero, np.asarray(found, np.float64))

            return Pointwise(log_density, np.nan_to_num(share(events, rows)))
        rate = self._rate(tally)
        with np.errstate(divide="ignore"):
            return LogLinear(slope=np.log(rate), offset=-rate, base=log_factorials)

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            events, rows = self._predicting(tally)
            rate = rng.gamma(events.T[classes], 1 / rows.T[classes])
        else:
            rate = self._rate(tally).T[classes]
        return numbers(rng.poisson(rate).astype(np.float64), tally)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        events, rows = map(flat, self._counts(tally, "mean"))
        return stats.gamma(events, scale=1 / rows)

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        events, rows = map(flat, self._counts(tally, "mean"))
        return stats.nbinom(events, rows / (rows + 1))

    def prior_of(self, tally: BlockTally) -> Gamma | None:
        if self.prior is not None:
            return self.prior
        events, rows = (flat(part) for part in self._pretend(tally, "mean"))
        return Gamma(events, rows) if np.all(events > 0) and np.all(rows > 0) else None

    def _rate(self, tally: BlockTally) -> Floats:
        """Return the rates that are scored with: of a class without any rows, that of all."""
        rate = self.parameters(tally, self.estimate)["rate"]
        events, rows = (tally[s].high.sum(axis=1, keepdims=True) for s in (VALUE, PRESENT))
        return np.where(np.isnan(rate), np.nan_to_num(share(events, rows)), rate)

    def _predicting(self, tally: BlockTally) -> tuple[Floats, Floats]:
        """Return events and rows to predict from: of a class without any rows, those of all."""
        events, rows = self._counts(tally, "mean")
        all_events, all_rows = (tally[s].high.sum(axis=1, keepdims=True) for s in (VALUE, PRESENT))
        return np.where(rows > 0, events, all_events), np.where(rows > 0, rows, all_rows)

    def _counts(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return events and rows, the pretend ones among them."""
        more_events, more_rows = self._pretend(tally, how)
        return np.maximum(tally[VALUE].high + more_events, 0.0), tally[PRESENT].high + more_rows

    def _pretend(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return the pretend events and rows."""
        if self.prior is not None:
            return self.prior.pretend(how)
        rows, events = pretend_rows(tally, 0.0 if how == "mle" else self.alpha)
        return added(events, self.estimate, how), rows


def log_factorials(block: Block) -> Floats:
    """Return the sum of -log x! over each row, the base measure of counts."""
    return sum_of_cells(_log_factorial, block)


def _log_factorial(x: Floats) -> Floats:
    from scipy.special import gammaln

    log: Floats = -gammaln(x + 1.0)
    return log
