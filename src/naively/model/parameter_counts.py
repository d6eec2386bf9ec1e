"""How many parameters a model has, and how many it would have without its assumption."""

from __future__ import annotations

import math

from naively.model.class_prior import is_estimated
from naively.model.model import Model

SHOWN = 10**15  # up to which a number is written out


def count_parameters(model: Model) -> int:
    """Return how many parameters are free; a class prior that is given has none."""
    of_events = (g.event.n_parameters(model.counts[g.key]) for g in model.schema.groups)
    return _of_prior(model) + sum(of_events)


def count_joint_parameters(model: Model) -> ParameterCount | float:
    """Return how many the full joint table has: one for each row that there can be and class.

    ``inf`` where a column holds numbers without end.
    """
    values = [g.event.n_values(model.counts[g.key]) for g in model.schema.of_columns]
    if math.inf in values:
        return math.inf
    rows = math.prod(int(value) for value in values)
    return ParameterCount(len(model.classes) * (rows - 1) + _of_prior(model))


def _of_prior(model: Model) -> int:
    return len(model.classes) - 1 if is_estimated(model.settings.class_prior) else 0


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
