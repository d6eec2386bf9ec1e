"""Evidence over the square root of a text's length: the words of a text are not independent.

The longer a text, the more of its words say the same again, so that the log odds of naive Bayes
grow with its length where what is known does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core import compute
from naively.core.block import Documents
from naively.core.kernels import Finish, Floats
from naively.core.likelihood import Contributions, Likelihood, Typical


def damping(length: NDArray[Any]) -> Floats:
    """Return what the evidence of texts of so many tokens is multiplied by.

    >>> damping(np.array([0, 1, 4]))
    array([1. , 1. , 0.5])
    """
    factor: Floats = 1 / np.sqrt(np.maximum(length, 1))
    return factor


@dataclass(frozen=True, eq=False)
class Damped(Likelihood):
    """The evidence of texts under another likelihood, over the square root of their lengths."""

    whole: Likelihood
    base = None

    def log_prob(self, block: Documents, start: Floats, finish: Finish, log_prior: Floats) -> Any:
        counts = block.to_sparse()
        joint = self.whole.log_prob(counts, np.zeros_like(log_prior), "joint", log_prior)
        joint *= damping(np.diff(counts.indptr))[:, None]
        joint += start
        return compute.finish_rows(joint, finish, log_prior)

    def log_base(self, block: Any) -> Floats:
        return self.whole.log_base(block)

    def at(self, x: NDArray[Any], column: NDArray[np.int64]) -> Floats:
        return self.whole.at(x, column)

    def weighted(self, weight: Floats) -> Damped:
        return replace(self, whole=self.whole.weighted(weight))

    def linear(self) -> tuple[Floats, Floats]:
        raise ValueError(
            "the evidence of a text is divided by the square root of its length, which is no "
            'straight line; learn with text="words".'
        )

    def contributions(self, block: Any) -> Contributions:
        found = self.whole.contributions(block)
        length = np.bincount(found.row, minlength=len(block))
        return replace(found, value=found.value * damping(length)[found.row, None])

    def typical(self, c: int) -> Typical:
        return self.whole.typical(c)
