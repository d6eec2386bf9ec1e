"""Evidence over the square root of a text's length: the words of a text are not independent.

The longer a text, the more of its words say the same again, so that the log odds of naive Bayes
grow with its length where what is known does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core import compute
from naively.core.block import Documents
from naively.core.kernels import Finish, Floats
from naively.core.likelihood import Contributions, Likelihood, Typical
from naively.core.loglinear import LogLinear


def damping(length: NDArray[Any]) -> Floats:
    """Return what the evidence of texts of so many tokens is multiplied by.

    >>> damping(np.array([0, 1, 4]))
    array([1. , 1. , 0.5])
    """
    factor: Floats = 1 / np.sqrt(np.maximum(length, 1))
    return factor


@dataclass(frozen=True, eq=False)
class Damped(Likelihood):
    """The evidence of the words of each text, over the square root of how many are known."""

    words: LogLinear
    base = None

    @cached_property
    def _with_length(self) -> LogLinear:
        """The same, and what counts the words as if it were a class more."""
        one = np.ones((len(self.words.slope), 1))
        return LogLinear(np.hstack([self.words.slope, one]))

    def log_prob(self, block: Documents, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        none = np.zeros(len(log_prior) + 1)
        found = self._with_length.log_prob(block, none, "joint", none)
        joint = found[:, :-1] * damping(found[:, -1])[:, None]
        joint += start
        return compute.finish_rows(joint, finish, log_prior)

    def log_base(self, block: Any) -> Floats:
        return self.words.log_base(block)

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        return self.words.at(x, column)

    def weighted(self, weight: Floats) -> Damped:
        return replace(self, words=self.words.weighted(weight))

    def linear(self) -> tuple[Floats, Floats]:
        raise ValueError(
            "the evidence of a text is divided by the square root of its length, which is no "
            "straight line; learn with weights=None."
        )

    def contributions(self, block: Any) -> Contributions:
        found = self.words.contributions(block)
        return replace(found, value=found.value * damping(block.lengths)[found.row, None])

    def typical(self, c: int) -> Typical:
        return self.words.typical(c)
