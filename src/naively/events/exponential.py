"""Exponential event model: how long it takes until it happens."""

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
from naively.likelihoods.base import Likelihood
from naively.likelihoods.log_linear import LogLinear
from naively.likelihoods.pointwise import Pointwise


@dataclass(frozen=True)
class Exponential(Estimable):
    """Waiting times: x | class ~ Exponential(rate), one rate per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Gamma(alpha, alpha · mean), or with ``estimate="map"`` Gamma(alpha + 1, alpha · mean).
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend rows that sum to ``rate``.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (Lomax). Maximum likelihood from nothing is
        NaN; when rows are scored, such a class has the rate of all classes.

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
        return {"rate": share(rows, time)}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.estimate == "predictive":
            from scipy import stats

            rows, time = self._predicting(tally)

            def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
                return np.asarray(
                    stats.lomax.logpdf(hold(x)[:, None], rows[column], 0.0, time[column]),
                    np.float64,
                )

            return Pointwise(log_density, time / rows)
        rate = self._rate(tally)
        with np.errstate(divide="ignore"):
            return LogLinear(slope=-rate, offset=np.log(rate))

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            shape, scale = self._predicting(tally)
            rate = rng.gamma(shape.T[classes], 1 / scale.T[classes])
        else:
            rate = self._rate(tally).T[classes]
        return numbers(rng.exponential(1 / rate), tally)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        rows, time = map(flat, self._counts(tally, "mean"))
        return stats.gamma(rows, scale=1 / time)

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        rows, time = map(flat, self._counts(tally, "mean"))
        return stats.lomax(rows, scale=time)

    def prior_of(self, tally: BlockTally) -> Gamma | None:
        if self.prior is not None:
            return self.prior
        rows, time = (flat(part) for part in self._pretend(tally, "mean"))
        return Gamma(rows, time) if np.all(rows > 0) and np.all(time > 0) else None

    def _rate(self, tally: BlockTally) -> Floats:
        """Return the rates that are scored with: of a class without any rows, that of all.

        Where no time was counted at all it is any rate, the same for each class.
        """
        rate = self.parameters(tally, self.estimate)["rate"]
        rows, time = (tally[s].high.sum(axis=1, keepdims=True) for s in (PRESENT, VALUE))
        return np.where(np.isnan(rate), np.nan_to_num(share(rows, time), nan=1.0), rate)

    def _predicting(self, tally: BlockTally) -> tuple[Floats, Floats]:
        """Return rows and their sum to predict from: of a class without any time, those of all.

        Where no time was counted at all they are any, the same for each class.
        """
        rows, time = self._counts(tally, "mean")
        all_rows, all_time = (tally[s].high.sum(axis=1, keepdims=True) for s in (PRESENT, VALUE))
        none = all_time <= 0
        all_rows, all_time = np.where(none, 1.0, all_rows), np.where(none, 1.0, all_time)
        return np.where(time > 0, rows, all_rows), np.where(time > 0, time, all_time)

    def _counts(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return rows and their sum, the pretend ones among them."""
        more_rows, more_time = self._pretend(tally, how)
        return np.maximum(tally[PRESENT].high + more_rows, 0.0), tally[VALUE].high + more_time

    def _pretend(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return the pretend rows and their sum."""
        if self.prior is not None:
            return self.prior.pretend(how)
        rows, time = pretend_rows(tally, 0.0 if how == "mle" else self.alpha)
        return added(rows, self.estimate, how), time
