"""The prior of a rate: Gamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from naively.events.base import Distribution
from naively.events.prior.base import (
    OneParameter,
    PretendCounts,
    Value,
    check_positive,
    plain,
    pretend_counts,
    share,
)
from naively.kernels.reference import Floats
from naively.options import How


@final
@dataclass(frozen=True)
class Gamma(OneParameter):
    """Gamma(shape, rate), the prior of a rate.

    For a Poisson rate, ``shape`` pretend events in ``rate`` pretend rows; for the rate of an
    exponential, ``shape`` pretend rows that sum to ``rate``.

    Parameters
    ----------
    shape, rate : float or sequence of float
        Greater than 0; one for all columns or one for each.

    Examples
    --------
    >>> from naively import Gamma, Poisson
    >>> Poisson(prior=Gamma(2, 1)).fit([3, 5, 4]).mean
    3.5
    >>> Gamma(3, 2).mean, Gamma(3, 2).mode, Gamma(3, 2).variance
    (1.5, 1.0, 0.75)
    """

    shape: PretendCounts
    rate: PretendCounts
    mode_lacks: ClassVar = (1.0, 0.0)  # with so much less, shape / rate is the mode
    parameter: ClassVar = "rate"
    least: ClassVar = 0.0

    def __post_init__(self) -> None:
        check_positive(self, "shape", "rate")

    @property
    def mean(self) -> Value:
        """The shape over the rate."""
        return plain(self.mean_of(*self.pretend("mean")))

    @property
    def mode(self) -> Value:
        """(shape - 1) / rate; 0 where the shape is below 1."""
        shape, rate = self.pretend("map")
        return plain(np.maximum(shape, 0.0) / rate)

    @property
    def variance(self) -> Value:
        """The shape over the squared rate."""
        return plain(self.frozen.var())

    @property
    def frozen(self) -> Distribution:
        return self.distribution_of(*self.pretend("mean"))

    def pretend(self, how: How) -> tuple[Floats, Floats]:
        """Return the pretend data of the shape and of the rate, each of shape () or (columns,)."""
        rate = np.asarray(self.rate, np.float64)
        return pretend_counts(self.shape, how), np.zeros_like(rate) if how == "mle" else rate

    @staticmethod
    def mean_of(shape: Floats, rate: Floats) -> Floats:
        """Return the mean of each Gamma(shape, rate), in their shape; NaN for Gamma(0, 0)."""
        return share(shape, rate)

    @staticmethod
    def distribution_of(shape: Floats | float, rate: Floats | float) -> Distribution:
        """Return each Gamma(shape, rate) as SciPy's frozen distribution."""
        from scipy import stats

        return stats.gamma(shape, scale=1 / rate)

    @staticmethod
    def draw_from(shape: Floats, rate: Floats, rng: np.random.Generator) -> Floats:
        """Draw a rate from each Gamma(shape, rate)."""
        return rng.gamma(shape, 1 / rate)
