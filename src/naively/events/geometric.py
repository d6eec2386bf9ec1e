"""Geometric event model: how many failures there are before it succeeds."""

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
    by_row,
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
from naively.events.prior import Beta, pretend_rows


@dataclass(frozen=True)
class Geometric(EventModel):
    """Counts of failures before a success: x | class ~ Geometric(p) from 0, one p per column.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes.
    prior : Beta, optional
        Instead of ``alpha``: ``a`` pretend rows, which have a success each, with ``b`` failures.
    estimate : {"mean", "map", "mle", "predictive"}
        Of p; "predictive" integrates it out (beta-geometric).

    Notes
    -----
    Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), section 5.2. Its tail is longer
    than Poisson's: the variance is more than the mean.

    Examples
    --------
    >>> from naively import Beta, Geometric
    >>> tries = Geometric(prior=Beta(1, 1)).fit([0, 2, 1])
    >>> tries.mle, tries.map, tries.mean
    (0.5, 0.5, 0.5)
    """

    alpha: float = 1.0
    prior: Beta | None = None
    estimate: How = "mean"
    name = "geometric"
    statistics = (PRESENT, VALUE)

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha)
        check_estimate(self.estimate)

    @property
    def sparse(self) -> bool:
        return self.estimate != "predictive"

    def prepare(self, block: Block) -> Block:
        check_not_negative(block, "Geometric")
        return block

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        rows, failures = self._counts(tally, how)
        trials = rows + failures
        # Nothing counted: any p, the same for each such class.
        return {"p": np.divide(rows, trials, out=np.full_like(trials, 0.5), where=trials > 0)}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.estimate == "predictive":
            from scipy.special import betaln

            a, b = self._counts(tally, "mean")
            b = np.maximum(b, 1e-12)

            def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
                more: Floats = betaln(a[column] + 1, b[column] + x[:, None])
                return more - betaln(a[column], b[column])

            return Pointwise(log_density, b / a)
        p = self.parameters(tally, self.estimate)["p"]
        with np.errstate(divide="ignore"):
            return LogLinear(slope=np.log1p(-p), offset=np.log(p))

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            a, b = self._counts(tally, "mean")
            p = rng.beta(a.T[classes], np.maximum(b, 1e-12).T[classes])
        else:
            p = self.parameters(tally, self.estimate)["p"].T[classes]
        return numbers(rng.geometric(p) - 1.0, tally)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.beta(*map(flat, self._counts(tally, "mean")))

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        a, b = map(flat, self._counts(tally, "mean"))
        return stats.betanbinom(1, a, b)

    def _counts(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return rows and failures, the pretend ones among them."""
        rows, failures = tally[PRESENT].high, tally[VALUE].high
        if self.prior is not None:
            more_rows, more_failures = map(by_row, self.prior.pretend(how))
        else:
            more_rows, more_failures = pretend_rows(tally, 0.0 if how == "mle" else self.alpha)
        return rows + more_rows, failures + more_failures
