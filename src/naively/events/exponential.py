"""Exponential event model: how long it takes until it happens."""

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
class Exponential(EventModel):
    """Waiting times: x | class ~ Exponential(rate), one rate per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes.
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend rows that sum to ``rate``.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (Lomax).

    Notes
    -----
    Gelman et al., Bayesian Data Analysis (2013), section 2.6.

    Examples
    --------
    >>> from naively import Exponential, Gamma
    >>> lamp = Exponential(prior=Gamma(2, 1000)).fit([400.0, 700.0, 900.0])
    >>> lamp.mle, lamp.map, lamp.mean
    (0.0015, 0.001333..., 0.001666...)
    """

    alpha: float = 1.0
    prior: Gamma | None = None
    estimate: How = "mean"
    name = "exponential"
    statistics = (PRESENT, VALUE)

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha)
        check_estimate(self.estimate)

    @property
    def sparse(self) -> bool:
        return self.estimate != "predictive"

    def prepare(self, block: Block) -> Block:
        check_not_negative(block, "Exponential")
        return block

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        rows, time = self._counts(tally, how)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Nothing counted, or no time at all: any rate, the same for each class.
            return {"rate": np.where((rows > 0) & (time > 0), rows / time, 1.0)}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.estimate == "predictive":
            from scipy import stats

            rows, time = self._counts(tally, "mean")

            def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
                return np.asarray(
                    stats.lomax.logpdf(x[:, None], rows[column], 0.0, time[column]), np.float64
                )

            return Pointwise(log_density, time / rows)
        rate = self.parameters(tally, self.estimate)["rate"]
        return LogLinear(slope=-rate, offset=np.log(rate))

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            shape, scale = self._counts(tally, "mean")
            rate = rng.gamma(shape.T[classes], 1 / scale.T[classes])
        else:
            rate = self.parameters(tally, self.estimate)["rate"].T[classes]
        return numbers(rng.exponential(1 / rate), tally)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        rows, time = map(flat, self._counts(tally, "mean"))
        return stats.gamma(rows, scale=1 / time)

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        rows, time = map(flat, self._counts(tally, "mean"))
        return stats.lomax(rows, scale=time)

    def _counts(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return rows and their sum, the pretend ones among them."""
        rows, time = tally[PRESENT].high, tally[VALUE].high
        if self.prior is not None:
            more_rows, more_time = self.prior.pretend(how)
        else:
            more_rows, more_time = pretend_rows(tally, 0.0 if how == "mle" else self.alpha)
        return rows + more_rows, time + more_time
