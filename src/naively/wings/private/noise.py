"""Noise for counts that leave: whole numbers that are drawn exactly, and how many suffice.

Floating-point noise can give away what it hides (Mironov 2012), so that noise is drawn here from
random integers alone, by the algorithms of Canonne, Kamath & Steinke, The discrete Gaussian for
differential privacy (2020); with them every probability is exactly what the formula says.
"""

from __future__ import annotations

import math
import random
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

import numpy as np

from naively.model.counted import Mechanism

Below: TypeAlias = Callable[[int], int]  # a random integer from 0 to below this one, all alike

PARTS = 1024  # a variance is rounded up to so many parts of 1
HALVINGS = 80  # of the range that the least variance is sought in
ORDERS = np.logspace(-6, 9, 6001)  # of Rényi divergence, less 1: each gives a bound that holds


def random_below(seed: int | None) -> Below:
    """Return where random integers come from: the operating system, or a seed, for tests."""
    return secrets.randbelow if seed is None else random.Random(seed).randrange


class Noise(ABC):
    """Whole numbers, as likely above 0 as below, that are added to counts."""

    mechanism: ClassVar[Mechanism]

    @property
    @abstractmethod
    def deviation(self) -> float:
        """The standard deviation, or slightly more."""

    @abstractmethod
    def draw(self, below: Below) -> int:
        """Draw a number."""

    @abstractmethod
    def log_tail(self, least: int) -> float:
        """Return the log of a bound on the probability of a number that is at least ``least`` > 0.

        It is not less than the probability.
        """

    @final
    def threshold(self, chance: float) -> int:
        """Return the least number above 1 that noise beside 1 reaches by this chance at most."""
        low, high = 0, 1  # the noise that is enough: too little, and perhaps enough
        while self.log_tail(high) > math.log(chance):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self.log_tail(middle) > math.log(chance):
                low = middle
            else:
                high = middle
        return 1 + high


@final
@dataclass(frozen=True)
class DiscreteGaussian(Noise):
    """P(x) is proportional to exp(-x² / (2 variance))."""

    variance: Fraction
    mechanism: ClassVar[Mechanism] = "discrete Gaussian"

    @classmethod
    def hiding(cls, squared: int, epsilon: float, delta: float) -> DiscreteGaussian:
        """Return the least noise that hides a row by (epsilon, delta), both greater than 0."""
        # One row changes the counts by L2² = ``squared``, summed. Noise of a variance of L2² / (2
        # rho) hides it by rho-zero-concentrated differential privacy (Canonne, Kamath & Steinke
        # 2020, theorem 14), and so by (epsilon, ``delta_of(rho, epsilon)``).
        low, high = -60.0, 60.0  # log rho: low enough, and too high
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if delta_of(math.exp(middle), epsilon) <= delta:
                low = middle
            else:
                high = middle
        variance = squared / (2 * math.exp(low))
        return cls(Fraction(math.ceil(variance * PARTS), PARTS))

    @property
    def deviation(self) -> float:
        return math.sqrt(self.variance)

    def draw(self, below: Below) -> int:
        p, q = self.variance.numerator, self.variance.denominator
        t = math.isqrt(p // q) + 1
        while True:
            x = _laplace(t, 1, below)
            if _happens((abs(x) * q * t - p) ** 2, 2 * p * q * t * t, below):
                return x

    def log_tail(self, least: int) -> float:
        # The normal distribution has more beyond least - 1: its integral is greater than the sum,
        # and the sum over all whole numbers greater than its integral (Poisson's formula).
        from scipy.special import log_ndtr

        return float(log_ndtr((1 - least) / self.deviation))


@final
@dataclass(frozen=True)
class DiscreteLaplace(Noise):
    """P(x) is proportional to exp(-abs(x) / scale): the two-sided geometric distribution.

    Ghosh, Roughgarden & Sundararajan, Universally utility-maximizing privacy mechanisms (2009).
    """

    scale: Fraction
    mechanism: ClassVar[Mechanism] = "discrete Laplace"

    @classmethod
    def hiding(cls, added: int, epsilon: float) -> DiscreteLaplace:
        """Return the least noise that hides a row by (epsilon, 0): of the scale L1 / epsilon."""
        # One row changes all counts together by L1 = ``added``.
        return cls(added / Fraction(epsilon))

    @property
    def deviation(self) -> float:
        return 1 / (math.sqrt(2) * math.sinh(1 / (2 * float(self.scale))))

    def draw(self, below: Below) -> int:
        return _laplace(self.scale.numerator, self.scale.denominator, below)

    def log_tail(self, least: int) -> float:
        rate = 1 / float(self.scale)
        return -least * rate - math.log1p(math.exp(-rate))


def delta_of(rho: float, epsilon: float) -> float:
    """Return a delta such that rho-zero-concentrated privacy is (epsilon, delta) privacy."""
    # Canonne, Kamath & Steinke (2020), section 2.3: the least over all alpha > 1 of exp((alpha - 1)
    # (alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)^alpha. The least of some of them is a
    # bound too.
    less = ORDERS
    alpha = 1 + less
    log_delta = less * (alpha * rho - epsilon) - np.log(less) + alpha * np.log(less / alpha)
    return math.exp(min(0.0, float(log_delta.min())))


def _happens(above: int, below_: int, below: Below) -> bool:
    """Return True with the probability exp(-above / below_) (algorithm 1)."""
    whole, rest = divmod(above, below_)
    return all(_happens_once(1, 1, below) for _ in range(whole)) and _happens_once(
        rest, below_, below
    )


def _happens_once(above: int, below_: int, below: Below) -> bool:
    """Return True with the probability exp(-above / below_), where the fraction is at most 1."""
    k = 1
    while below(below_ * k) < above:
        k += 1
    return k % 2 == 1


def _laplace(t: int, s: int, below: Below) -> int:
    """Draw a whole number x with a probability in proportion to exp(-|x| s / t) (algorithm 2)."""
    while True:
        u = below(t)
        if not _happens_once(u, t, below):
            continue
        v = 0
        while _happens_once(1, 1, below):
            v += 1
        size = (u + t * v) // s
        if below(2) == 0:
            return size
        if size:
            return -size
