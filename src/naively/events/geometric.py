"""Geometric event model: the number of failures before a success."""

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
class Geometric(Trials):
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

    name = "geometric"

    @classmethod
    def of(cls, p: float | Sequence[float]) -> Estimate:
        """Return the geometric distribution with a given probability, as an estimate.

        Parameters
        ----------
        p : float, or sequence of float
            The probability of a success, above 0; a sequence has one for each column.

        Examples
        --------
        >>> Geometric.of(p=0.25).fitted.mean()
        np.float64(3.0)
        """
        return cls._at(cls(alpha=0, estimate="mle"), p)

    @property
    def successes(self) -> float:
        return 1.0

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.geometric(rate) - 1
