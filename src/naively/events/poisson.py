"""Poisson event model: how many times it happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.block import Block, Dense
from naively.core.estimate import flat
from naively.core.event import (
    EventModel,
    How,
    check_alpha,
    check_estimate,
    check_not_negative,
    numbers,
)
from naively.core.kernels import Floats
from naively.core.likelihood import Likelihood
from naively.core.loglinear import LogLinear
from naively.core.pointwise import Pointwise
from naively.core.statistic import PRESENT, VALUE
from naively.core.tally import BlockTally
from naively.events.prior import Gamma, pretend_rows


@dataclass(frozen=True)
class Poisson(EventModel):
    """Counts of events: x | class ~ Poisson(rate), one rate per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes.
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend events in ``rate`` pretend rows.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (negative binomial).

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
        return {"rate": np.divide(events, rows, out=np.zeros_like(events), where=rows > 0)}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.estimate == "predictive":
            from scipy import stats

            events, rows = self._counts(tally, "mean")
            p = rows / (rows + 1)

            def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
                return np.asarray(
                    stats.nbinom.logpmf(x[:, None], events[column], p[column]), np.float64
                )

            return Pointwise(log_density, events / rows)
        rate = self.parameters(tally, self.estimate)["rate"]
        with np.errstate(divide="ignore"):
            return LogLinear(slope=np.log(rate), offset=-rate, base=log_factorial)

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            events, rows = self._counts(tally, "mean")
            rate = rng.gamma(events.T[classes], 1 / rows.T[classes])
        else:
            rate = self.parameters(tally, self.estimate)["rate"].T[classes]
        return numbers(rng.poisson(rate).astype(np.float64), tally)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        events, rows = map(flat, self._counts(tally, "mean"))
        return stats.gamma(events, scale=1 / rows)

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        events, rows = map(flat, self._counts(tally, "mean"))
        return stats.nbinom(events, rows / (rows + 1))

    def _counts(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return events and rows, the pretend ones among them."""
        events, rows = tally[VALUE].high, tally[PRESENT].high
        if self.prior is not None:
            more_events, more_rows = self.prior.pretend(how)
        else:
            more_rows, more_events = pretend_rows(tally, 0.0 if how == "mle" else self.alpha)
        return events + more_events, rows + more_rows


def log_factorial(x: Floats) -> Floats:
    """Return -log x!, the base measure of a count."""
    from scipy.special import gammaln

    log: Floats = -gammaln(x + 1.0)
    return log
