"""Normal numbers at given parameters: their likelihood, and the distribution that is fitted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.counting.axis import PRESENT, SQUARE, VALUE, Columns
from naively.counting.block import Dense
from naively.counting.tally import BlockTally
from naively.events.base import Distribution
from naively.events.estimate import Estimable, Estimate, flat
from naively.events.estimates.space import POSITIVE, REAL, read, summed
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.options import How


@dataclass(frozen=True)
class NormalAt(Estimable[Columns, Dense]):
    """What follows from a mean and a variance that are given."""

    space: ClassVar = {"mean": REAL, "variance": POSITIVE}

    @property
    @abstractmethod
    def known(self) -> dict[str, float]:
        """The parameters that are known, by name."""

    @property
    def free(self) -> tuple[str, ...]:
        return tuple(name for name in self.space if name not in self.known)

    @classmethod
    def of(cls, mean: float | Sequence[float], variance: float | Sequence[float]) -> Estimate:
        """Return the distribution with a given mean and variance, as an estimate.

        Parameters
        ----------
        mean, variance : float, or sequence of float
            Of a Gaussian, or of the logarithms of a log-normal; a sequence has one for each
            column.

        Examples
        --------
        >>> from naively import Gaussian
        >>> Gaussian.of(mean=170, variance=49).normal.std()
        np.float64(7.0)
        """
        at = np.atleast_1d(read(cls.__name__, "mean", mean, REAL))
        spread = np.atleast_1d(read(cls.__name__, "variance", variance, POSITIVE))
        if at.shape != spread.shape:
            raise ValueError(
                f"{cls.__name__} has {len(at)} means and {len(spread)} variances; give one of "
                "each for every column."
            )
        square = Sums(at) * Sums(at) + Sums(spread)
        sums = {PRESENT: Sums(np.ones_like(at)), VALUE: Sums(at), SQUARE: square}
        unsmoothed = cls(smoothing=0, estimate="mle")  # type: ignore[call-arg]  # a subclass has these options
        return unsmoothed.given(Columns(range(len(at))), sums)

    def log_likelihood_of(
        self, tally: BlockTally[Columns], parameters: Mapping[str, Floats]
    ) -> Floats:
        mean, variance = (
            parameters[name] if name in parameters else np.asarray(self.known[name], np.float64)
            for name in self.space
        )
        rows, value = tally[PRESENT], tally[VALUE]
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = value / rows
            spread = (tally[SQUARE] / rows - middle * middle).high
        n = flat(rows.high)
        at, spread = (np.nan_to_num(flat(of)) for of in (middle.high, np.maximum(spread, 0.0)))
        distance = spread + (at - mean) ** 2
        return summed(-n / 2 * (np.log(2 * np.pi * variance) + distance / variance), n)

    def fitted(self, tally: BlockTally[Columns], how: How) -> Distribution:
        from scipy import stats

        found = self.parameters(tally, how)
        mean, deviation = flat(found["mean"]), np.sqrt(flat(found["variance"]))
        if self.of_logarithms:
            return stats.lognorm(deviation, scale=np.exp(mean))
        return stats.norm(mean, deviation)
