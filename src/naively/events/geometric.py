"""Geometric event model: how many failures there are before it succeeds."""

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
    by_row,
    check_alpha,
    check_estimate,
    check_not_negative,
    numbers,
)
from naively.events.estimate import Estimable, flat
from naively.events.prior import Beta, pretend_rows, share
from naively.kernels.reference import Floats, hold
from naively.likelihoods.base import Likelihood
from naively.likelihoods.log_linear import LogLinear
from naively.likelihoods.pointwise import Pointwise


@dataclass(frozen=True)
class Geometric(Estimable):
    """Counts of failures before a success: x | class ~ Geometric(p) from 0, one p per column.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Beta(alpha, alpha · mean), or with ``estimate="map"`` one more of each.
    prior : Beta, optional
        Instead of ``alpha``: ``a`` pretend rows, which have a success each, with ``b`` failures.
    estimate : {"mean", "map", "mle", "predictive"}
        Of p; "predictive" integrates it out (beta-geometric). Maximum likelihood from nothing is
        NaN; when rows are scored, such a class has the p of all classes.

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
        return {"p": share(rows, rows + failures)}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.estimate == "predictive":
            from scipy.special import betaln

            a, b = self._predicting(tally)

            def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
                x, p = hold(x)[:, None], a[column] / (a[column] + b[column])
                more = betaln(a[column] + 1, b[column] + x) - betaln(a[column], b[column])
                known = np.log(p) + x * np.log1p(-p)  # as of counts too large for SciPy's
                return np.where(np.isnan(more), known, more)

            return Pointwise(log_density, b / a)
        p = self._p(tally)
        with np.errstate(divide="ignore"):
            return LogLinear(slope=np.log1p(-p), offset=np.log(p))

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            a, b = self._predicting(tally)
            p = rng.beta(a.T[classes], b.T[classes])
        else:
            p = self._p(tally).T[classes]
        return numbers(rng.geometric(p) - 1.0, tally)

    def posterior(self, tally: BlockTally) -> Any:
        from scipy import stats

        return stats.beta(*map(flat, self._counts(tally, "mean")))

    def predictive(self, tally: BlockTally) -> Any:
        from scipy import stats

        a, b = map(flat, self._counts(tally, "mean"))
        return stats.betanbinom(1, a, b)

    def prior_of(self, tally: BlockTally) -> Beta | None:
        if self.prior is not None:
            return self.prior
        rows, failures = (flat(part) for part in self._pretend(tally, "mean"))
        return Beta(rows, failures) if np.all(rows > 0) and np.all(failures > 0) else None

    def _p(self, tally: BlockTally) -> Floats:
        """Return the p that are scored with: of a class without any rows, that of all."""
        p = self.parameters(tally, self.estimate)["p"]
        rows, failures = (tally[s].high.sum(axis=1, keepdims=True) for s in (PRESENT, VALUE))
        return np.where(np.isnan(p), np.nan_to_num(share(rows, rows + failures), nan=0.5), p)

    def _predicting(self, tally: BlockTally) -> tuple[Floats, Floats]:
        """Return rows and failures to predict from: of a class without any rows, those of all."""
        rows, failures = self._counts(tally, "mean")
        all_rows, all_failures = (
            tally[s].high.sum(axis=1, keepdims=True) for s in (PRESENT, VALUE)
        )
        failures = np.where(rows > 0, failures, all_failures)
        rows = np.where(rows > 0, rows, np.where(all_rows > 0, all_rows, 1.0))
        return rows, np.maximum(failures, 1e-12)

    def _counts(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return rows and failures, the pretend ones among them."""
        more_rows, more_failures = self._pretend(tally, how)
        rows, failures = tally[PRESENT].high + more_rows, tally[VALUE].high + more_failures
        return np.maximum(rows, 0.0), np.maximum(failures, 0.0)

    def _pretend(self, tally: BlockTally, how: How) -> tuple[Floats, Floats]:
        """Return the pretend rows and failures."""
        if self.prior is not None:
            rows, failures = map(by_row, self.prior.pretend(how))
            return rows, failures
        rows, failures = pretend_rows(tally, 0.0 if how == "mle" else self.alpha)
        return added(rows, self.estimate, how), added(failures, self.estimate, how)
