"""The event model: which statistics to count, and how their sums become a likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.core.axis import Columns, Levels, title
from naively.core.block import Block, Codes, Dense, Sparse
from naively.core.kernels import Floats
from naively.core.labels import Labels
from naively.core.likelihood import Likelihood
from naively.core.statistic import Statistic
from naively.core.tally import BlockTally, count

How: TypeAlias = Literal["mle", "map", "mean", "predictive"]
HOW = ("mle", "map", "mean", "predictive")


class EventModel(ABC):
    """How the columns of one block are generated, given the class (McCallum & Nigam 1998).

    A subclass is a frozen dataclass of its settings. It names the statistics that it counts and
    derives parameters and a likelihood from their sums; counting, merging, forgetting, missing
    cells, scoring and explaining follow from these.

    Examples
    --------
    >>> from naively import EventModel, Gaussian
    >>> isinstance(Gaussian(), EventModel), [s.value for s in Gaussian.statistics]
    (True, ['present', 'value', 'square'])
    """

    name: ClassVar[str]
    statistics: ClassVar[tuple[Statistic, ...]]
    layout: ClassVar[Literal["numbers", "levels"]] = "numbers"  # how columns are encoded
    estimate: How

    @property
    def sparse(self) -> bool:
        """Whether zeros need not be stored to be counted and scored."""
        return True

    def prepare(self, block: Block) -> Block:
        """Transform encoded rows before they are counted or scored."""
        return block

    @final
    def tally(self, block: Block, labels: Labels) -> BlockTally:
        """Count a block: ``Yᵀ · s(X)``."""
        return count(self.prepare(block), self.statistics, labels)

    @abstractmethod
    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        """Estimate the parameters, each of shape (columns, levels or words; classes)."""

    @abstractmethod
    def likelihood(self, tally: BlockTally) -> Likelihood:
        """Derive the log tables from the sums, smoothed by the prior's pretend data."""

    @abstractmethod
    def posterior(self, tally: BlockTally) -> Any:
        """Return the posterior of the parameters, as frozen SciPy distributions."""

    @abstractmethod
    def predictive(self, tally: BlockTally) -> Any:
        """Return the distribution of the next cell, as frozen SciPy distributions."""

    @final
    def fit(self, sample: Any) -> Estimate:
        """Estimate from a plain sample, without classes.

        Parameters
        ----------
        sample : sequence, or array of shape (rows, columns)
            Numbers, or the levels of a categorical column; NaN and None are missing.

        Returns
        -------
        estimate : Estimate
            With ``mle``, ``map``, ``mean``, ``posterior`` and ``predictive``.
        """
        block = self._encode(sample)
        labels = Labels(np.zeros(len(block), np.int32), np.zeros(1, np.int64))
        return Estimate(self, self.tally(block, labels))

    def _encode(self, sample: Any, axis: Any = None) -> Block:
        if self.layout == "levels":
            values = list(sample)
            known = axis.levels[0] if axis else dict.fromkeys(v for v in values if v is not None)
            index = {level: code for code, level in enumerate(known)}
            codes = [-1 if v is None else index.get(v, len(index)) for v in values]
            return Codes(np.array([codes], np.int32).T, axis or Levels((0,), (tuple(index),)))
        numbers = np.asarray(sample, np.float64)
        matrix = numbers[:, None] if numbers.ndim == 1 else numbers
        return Dense(matrix, Columns(range(matrix.shape[1])))


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
        block = self.event.prepare(self.event._encode(sample, self.tally.axis))  # noqa: SLF001
        likelihood, none = self.event.likelihood(self.tally), np.zeros(1)
        joint = likelihood.log_prob(block, none, "joint", none)
        return float(joint.sum() + likelihood.log_base(block).sum())

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


def _plain(values: NDArray[np.float64]) -> Any:
    return values.item() if values.size == 1 else values


def check_estimate(how: str) -> None:
    """Raise a ValueError unless this is a way to estimate."""
    if how not in HOW:
        raise ValueError(f"estimate must be one of {', '.join(map(repr, HOW))}, got {how!r}.")


def check_alpha(model: EventModel, alpha: float | Sequence[float]) -> None:
    """Raise a ValueError unless each pseudo-count is finite and at least 0."""
    counts = np.asarray(alpha, np.float64)
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError(f"{type(model).__name__} alpha must be at least 0, got {alpha}.")
    if counts.ndim:  # as a tuple it is equal to itself, and hashes
        object.__setattr__(model, "alpha", tuple(counts.tolist()))


def check_not_negative(block: Block, model: str) -> None:
    """Raise a ValueError that names the column if there is a negative number."""
    if isinstance(block, Sparse) and (block.data < 0).any():
        raise ValueError(f"Negative values in data passed to {model}: they must be at least 0.")
    if isinstance(block, Dense) and (below := (block.values < 0).any(axis=0)).any():
        name = title(block.axis.columns[int(np.flatnonzero(below)[0])])
        raise ValueError(
            f"Negative values in data passed to {model}, in column {name!r}: "
            "they must be at least 0."
        )


def flat(table: Floats) -> Any:
    """Return the parameters of one class as an array, or as a number where there is one."""
    return _plain(table[:, 0])


def by_row(counts: Floats | Sequence[float] | float) -> Floats:
    """Return pretend counts as a column, to be added to a table of rows × classes."""
    return np.asarray(counts, np.float64).reshape(-1, 1)
