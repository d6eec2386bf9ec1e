"""Log-normal event model: a positive number whose logarithm is Gaussian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import title
from naively.counting.block import Block, Dense
from naively.counting.tally import BlockTally
from naively.events.gaussian import NormalNumbers
from naively.kernels.reference import Floats
from naively.likelihoods.base import Likelihood, sum_of_cells
from naively.likelihoods.pointwise import Pointwise
from naively.likelihoods.quadratic import Quadratic


@final
@dataclass(frozen=True)
class LogNormal(NormalNumbers):
    """Positive numbers: log x | class ~ Normal(mean, variance).

    Parameters
    ----------
    smoothing, variance, prior, floor, estimate
        As for ``Gaussian``, of the logarithms.

    Notes
    -----
    Aitchison & Brown, The Lognormal Distribution (1957). Zero and negative numbers are an error:
    they have no logarithm.

    Examples
    --------
    >>> from naively import LogNormal, NaiveBayes
    >>> pay = {"pay": [20e3, 25e3, 30e3, 90e3, 250e3, 110e3]}
    >>> nb = NaiveBayes(event_models=LogNormal()).fit(pay, ["staff"] * 3 + ["board"] * 3)
    >>> nb.predict({"pay": [28e3, 500e3]})
    array(['staff', 'board'], dtype='<U5')
    """

    name = "lognormal"

    def prepare(self, block: Block) -> Block:
        assert isinstance(block, Dense)
        wrong = (block.values <= 0).any(axis=0)
        if wrong.any():
            name = title(block.axis.columns[int(np.flatnonzero(wrong)[0])])
            raise ValueError(f"LogNormal needs numbers above 0, but column {name!r} has others.")
        return Dense(np.log(np.asarray(block.values, np.float64)), block.axis)

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        drawn = super().sample(tally, classes, rng)
        return Dense(np.exp(drawn.values), drawn.axis)

    def likelihood(self, tally: BlockTally) -> Likelihood:
        likelihood = super().likelihood(tally)
        assert isinstance(likelihood, Quadratic | Pointwise)
        return replace(likelihood, base=_log_jacobian)

    def predictive(self, tally: BlockTally) -> Any:
        """Return the distribution of the next logarithm."""
        return super().predictive(tally)


def _log_jacobian(block: Block) -> Floats:
    """Return the sum of -log x over each row: of the density of x, from that of log x."""
    return sum_of_cells(np.negative, block)
