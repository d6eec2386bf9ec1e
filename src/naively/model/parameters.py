"""How many parameters there are, where there may be more than a float or a screen can hold."""

from __future__ import annotations

import math

SHOWN = 10**15  # up to which a number is written out


class ParameterCount(int):
    """A whole number of any size that prints as a power of 2 where it is long.

    Examples
    --------
    >>> ParameterCount(2 * (2**20 - 1) + 1)
    2097151
    >>> many = ParameterCount(2**10_001 - 1)
    >>> many, round(many.log2, 6), float(many)
    (about 2^10001, 10001.0, inf)
    """

    @property
    def log2(self) -> float:
        """The logarithm to base 2."""
        return math.log2(self)

    def __float__(self) -> float:
        try:
            return float(int(self))
        except OverflowError:
            return math.inf

    def __str__(self) -> str:
        return int.__repr__(self) if self <= SHOWN else f"about 2^{self.log2:.0f}"

    __repr__ = __str__

    def __format__(self, specification: str) -> str:
        return format(int(self), specification) if self <= SHOWN else str(self)
