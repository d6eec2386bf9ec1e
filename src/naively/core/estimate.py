"""What a plain sample says: an event model, alone and without classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.core.axis import Levels
from naively.core.block import Codes, Dense
from naively.core.event import EventModel, How
from naively.core.kernels import Floats
from naively.core.tally import BlockTally


class Estimate:
    """What a plain sample says about the parameters of an event model.

    Parameters
    ----------
    event : EventModel
        The model, with its prior.
    tally : BlockTally
        What was counted, for one class.

    Examples
    --------
    >>> from naively import Bernoulli, Beta
    >>> coin = Bernoulli(prior=Beta(2, 2)).fit([1, 1, 0])
    >>> coin.mle, coin.map, coin.mean
    (0.6666666666666666, 0.6, 0.5714285714285714)
    >>> coin.posterior.cdf(0.5)  # how probable it is that tails come up more often
    np.float64(0.34375)
    """

    def __init__(self, event: EventModel, tally: BlockTally) -> None:
        self.event = event
        self.tally = tally

    @property
    def mle(self) -> Any:
        """The maximum likelihood estimate."""
        return self._parameters("mle")

    @property
    def map(self) -> Any:
        """The maximum a posteriori estimate: the mode of the posterior."""
        return self._parameters("map")

    @property
    def mean(self) -> Any:
        """The mean of the posterior."""
        return self._parameters("mean")

    @property
    def posterior(self) -> Any:
        """The posterior of the parameters: frozen SciPy distributions."""
        return self.event.posterior(self.tally)

    @property
    def predictive(self) -> Any:
        """The distribution of the next cell: frozen SciPy distributions."""
        return self.event.predictive(self.tally)

    def log_likelihood(self, sample: Any) -> float:
        """Return log p(sample) under the estimate that the model is set to, in nats."""
        block = self.event.prepare(self.event.encode(sample, self.tally.axis))
        likelihood, none = self.event.likelihood(self.tally), np.zeros(1)
        joint = likelihood.log_prob(block, none, "joint", none)
        return float(joint.sum() + likelihood.log_base(block).sum())

    def sample(self, n: int, random_state: Any = None) -> Any:
        """Draw from the estimate that the model is set to.

        Parameters
        ----------
        n : int
            How many cells, or rows of several columns.
        random_state : int or numpy.random.Generator, optional
            A seed, for the same sample each time.

        Returns
        -------
        sample : ndarray of shape (n,) or (n, columns), or list of levels
            What ``fit`` takes.

        Examples
        --------
        >>> from naively import Poisson
        >>> Poisson().fit([2, 4]).sample(5, random_state=0)
        array([2., 0., 7., 1., 4.])
        """
        rng = np.random.default_rng(random_state)
        block = self.event.sample(self.tally, np.zeros(n, np.int64), rng)
        if isinstance(block, Codes):
            return [block.axis.levels[0][code] for code in block.codes[:, 0].tolist()]
        assert isinstance(block, Dense)
        return block.values[:, 0] if block.values.shape[1] == 1 else block.values

    def _parameters(self, how: How) -> Any:
        """Return one number, a mapping by level, or a mapping by parameter."""
        found = {name: flat(p) for name, p in self.event.parameters(self.tally, how).items()}
        if len(found) > 1:
            return found
        (values,) = found.values()
        axis = self.tally.axis
        if isinstance(axis, Levels):
            return dict(zip(axis.levels[0], np.atleast_1d(values).tolist(), strict=True))
        return values


def flat(table: Floats) -> Any:
    """Return the parameters of one class as an array, or as a number where there is one."""
    return _plain(table[:, 0])


def _plain(values: Floats) -> Any:
    return values.item() if values.size == 1 else values
