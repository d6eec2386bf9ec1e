"""Negative binomial event model: the number of failures before the r-th success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.events.estimate import Estimate
from naively.events.rate import Trials
from naively.kernels.reference import Floats


@final
@dataclass(frozen=True)
class NegativeBinomial(Trials):
    """Counts of failures before the r-th success: x | class ~ NegativeBinomial(r, p), r known.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Beta(alpha · r, alpha · mean), or with ``estimate="map"`` one more of each.
    prior : Beta, optional
        Instead of ``alpha``: ``a`` pretend successes and ``b`` pretend failures.
    estimate : {"mean", "map", "mle", "predictive"}
        Of p, the probability of a success, one for each column and class; "predictive" integrates
        it out (beta negative binomial). Maximum likelihood from nothing is NaN; when rows are
        scored, such a class has the p of all classes.
    r : float, default 1.0
        How many successes end a row's trials; more than 0. With 1 it is ``Geometric``.

    Notes
    -----
    Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), chapter 5. The variance is the
    mean m and m² / r more, so that counts may be spread more widely than Poisson's; a large r is
    Poisson's limit.

    Examples
    --------
    >>> from naively import Beta, NegativeBinomial
    >>> calls = NegativeBinomial(r=3, prior=Beta(1, 1)).fit([4, 0, 5])
    >>> calls.mle, calls.map, calls.mean
    (0.5, 0.5, 0.5)
    """

    r: float = 1.0
    name = "negative_binomial"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.r) and self.r > 0):
            raise ValueError(f"NegativeBinomial r must be greater than 0, got {self.r}.")

    @classmethod
    def of(cls, p: float | Sequence[float], r: float = 1.0) -> Estimate:
        """Return the negative binomial distribution with a given probability, as an estimate.

        Parameters
        ----------
        p : float, or sequence of float
            The probability of a success, above 0; a sequence has one for each column.
        r : float, default 1.0
            How many successes end a row.

        Examples
        --------
        >>> NegativeBinomial.of(p=0.25, r=2).fitted.mean()
        np.float64(6.0)
        """
        return cls._at(cls(alpha=0, estimate="mle", r=r), p)

    @property
    def successes(self) -> float:
        return self.r

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.negative_binomial(self.r, rate)
