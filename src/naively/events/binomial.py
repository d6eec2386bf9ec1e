"""Binomial event model: how many of a known number of trials succeed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns, title
from naively.counting.block import Block, Dense, Sparse
from naively.counting.tally import BlockTally
from naively.events.base import Distribution
from naively.events.estimate import Estimate
from naively.events.estimates.space import PROBABILITY
from naively.events.prior import Beta
from naively.events.rate import LEAST, Rate, TwoSums
from naively.kernels.reference import Floats
from naively.likelihoods.base import sum_of_cells
from naively.likelihoods.words import LogLinear


@final
@dataclass(frozen=True)
class Binomial(Rate):
    """Counts of successes in n trials: k | class ~ Binomial(n, p), one p per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Beta(alpha · mean, alpha · (trials - mean)), or with ``estimate="map"`` one more of each.
    prior : Beta, optional
        Instead of ``alpha``: ``a`` pretend successes and ``b`` pretend failures.
    estimate : {"mean", "map", "mle", "predictive"}
        Of p, the probability of a success; "predictive" integrates it out (beta-binomial). Maximum
        likelihood from nothing is NaN; when rows are scored, such a class has the p of all
        classes.
    trials : int
        How many trials each row has; at least 1. It must be given, so that the event model cannot
        be chosen by its name alone.

    Notes
    -----
    Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), chapter 3, and section 6.2.2
    for the beta-binomial. With one trial it is ``Bernoulli``. A number that is not whole, or is
    above ``trials``, is an error.

    Examples
    --------
    >>> from naively import Beta, Binomial
    >>> passed = Binomial(trials=10, prior=Beta(1, 1)).fit([8, 9, 10])
    >>> passed.mle, passed.map, passed.mean
    (0.9, 0.9, 0.875)
    """

    prior: Beta | None = None
    trials: int = 0
    name = "binomial"
    support = "counts"
    parameter = "p"
    conjugate: ClassVar = Beta
    space: ClassVar = {"p": PROBABILITY}

    @classmethod
    def of(cls, p: float | Sequence[float], trials: int) -> Estimate:
        """Return the binomial distribution with a given probability, as an estimate.

        Parameters
        ----------
        p : float, or sequence of float
            The probability of a success; a sequence has one for each column.
        trials : int
            How many trials a row has.

        Examples
        --------
        >>> Binomial.of(p=0.25, trials=8).fitted.mean()
        np.float64(2.0)
        """
        return cls._at(cls(alpha=0, estimate="mle", trials=trials), p)

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.binom(self.trials, rate)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.trials, int | np.integer) and not isinstance(self.trials, bool)
        if not whole or self.trials < 1:
            raise ValueError(
                "Binomial needs the number of trials of a row, a whole number of at least 1, as in "
                f"Binomial(trials=10); got {self.trials!r}."
            )
        object.__setattr__(self, "trials", int(self.trials))

    def prepare(self, block: Dense | Sparse) -> Dense | Sparse:
        block = super().prepare(block)
        _, column, x = block.entries()
        wrong = (x > self.trials) | (x != np.rint(x))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"Column {title(block.axis.columns[int(column[at])])!r} holds {float(x[at]):.6g}; "
                f"{self} counts whole numbers from 0 to {self.trials}."
            )
        return block

    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        return total, self.trials * rows - total

    def mean(self, rate: Floats) -> Floats:
        return self.trials * rate

    def log_linear(self, rate: Floats) -> LogLinear:
        log_p, log_q = np.log(rate), np.log1p(-rate)
        return LogLinear(log_p - log_q, self.trials * log_q, self._log_base, self.trials)

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.binomial(self.trials, rate)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.betabinom(self.trials, a, b)

    def log_next(self, x: Floats, a: Floats, b: Floats) -> Floats:
        return np.asarray(self.next_number(a, b).logpmf(x), np.float64)

    def n_values(self, tally: BlockTally[Columns]) -> int:
        return int((self.trials + 1) ** len(tally.axis))

    def _to_integrate(self, tally: BlockTally[Columns]) -> TwoSums:
        a, b = super()._to_integrate(tally)
        return np.maximum(a, LEAST), np.maximum(b, LEAST)

    def _log_base(self, block: Block) -> Floats:
        """Return the sum of log C(trials, k) over each row, (rows,), the log base measure."""
        return sum_of_cells(self._log_choices, block)

    def _log_choices(self, x: Floats) -> Floats:
        from scipy.special import gammaln

        n = self.trials
        choices: Floats = gammaln(n + 1.0) - gammaln(x + 1.0) - gammaln(n - x + 1.0)
        return choices
