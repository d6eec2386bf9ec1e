"""Estimates from a plain sample: one event model, without classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import A, Columns, Levels
from naively.counting.block import B, Codes, Dense
from naively.counting.labels import Labels, is_missing
from naively.counting.names import Level
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, EventModel, How
from naively.events.prior import Prior
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.messages import Shown

# Numbers or levels of one column; rows of several; the counts of a bag.
Sample: TypeAlias = "Sequence[Level] | NDArray[Any]"
# A number, an array with one for each column, or a mapping by level or by parameter.
Parameters: TypeAlias = Any
SHOWN = 10  # the most numbers that are printed


class Estimable(EventModel[A, B]):
    """An event model that can be estimated from a plain sample, without classes."""

    def prior_of(self, tally: BlockTally[A]) -> Prior | None:  # noqa: ARG002
        """Return the prior of all estimates, or None if there is no proper one."""
        return None

    def updated(self, tally: BlockTally[A]) -> Prior | None:  # noqa: ARG002
        """Return the posterior of the first class as a prior, that of the next sample.

        None where it is improper, as without data and pretend data.
        """
        raise self._lacks("posterior")

    @final
    def fit(self, sample: Sample) -> Estimate:
        """Estimate from a plain sample, without classes.

        Parameters
        ----------
        sample : sequence, or array of shape (rows, columns)
            Numbers, or the levels of a categorical column; NaN and None are missing. A sequence
            is one column; of ``Multinomial`` and ``Complement`` it is one row, the counts of its
            outcomes.

        Returns
        -------
        estimate : Estimate
            With ``mle``, ``map``, ``mean``, ``posterior`` and ``predictive``.
        """
        block = self.encode(sample)
        labels = Labels(np.zeros(len(block), np.int32), np.zeros(1, np.int64))
        tally = self.tally(block, labels)
        if self.layout != "numbers":  # keep known levels that were not in the sample
            nothing = {s: Sums.zeros((len(block.axis), 1)) for s in tally.sums}
            _, tally = BlockTally(block.axis, nothing).align(tally)
        return Estimate(self, tally)

    @final
    def encode(self, sample: Sample, axis: Levels | None = None) -> Any:
        """Encode a plain sample: numbers as ``Dense``, levels as ``Codes`` (of a known axis)."""
        return self._codes(sample, axis) if self.layout != "numbers" else self._numbers(sample)

    def _codes(self, sample: Sample, axis: Levels | None) -> Codes:
        """Encode levels, or the rows of a joint table, as one column."""
        values = [_own(value) for value in sample]
        if self.layout == "rows":
            values = [*map(tuple, values)]
        elif any(isinstance(value, list | np.ndarray) for value in values):
            raise ValueError(
                f"{type(self).__name__} estimates one column of levels, and the sample holds "
                "rows; fit each column alone, or use NaiveBayes for a table."
            )
        missing = [*map(is_missing, values)]
        seen = (v for v, gone in zip(values, missing, strict=True) if not gone)
        known = axis.levels[0] if axis else self._known(dict.fromkeys(seen))
        index = {level: code for code, level in enumerate(known)}
        codes = [
            -1 if gone else index.get(value, len(index))
            for value, gone in zip(values, missing, strict=True)
        ]
        return Codes(np.array([codes], np.int32).T, axis or Levels((0,), (tuple(index),)))

    def _numbers(self, sample: Sample) -> Dense:
        """Encode numbers, rows × columns."""
        try:
            numbers = np.asarray(sample, np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{type(self).__name__} estimates from numbers, and the sample holds "
                f"{_no_number(sample)!r}; Categorical counts what is not a number."
            ) from None
        matrix = self._matrix(numbers)
        return Dense(matrix, Columns(range(matrix.shape[1])))

    def _known(self, seen: Iterable[Level]) -> Iterable[Level]:
        """Return the levels of a plain sample: those seen."""
        return seen

    def _matrix(self, numbers: Floats) -> Floats:
        """Return the numbers of a plain sample as rows × columns: a sequence is one column."""
        return numbers[:, None] if numbers.ndim == 1 else numbers


class Estimate(Shown):
    """Estimates of the parameters of an event model from a plain sample.

    Parameters
    ----------
    event : Estimable
        The event model, with its prior.
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
    >>> coin
    bernoulli(prior=Beta(a=2, b=2))
    prior       Beta(a=2, b=2)
    mle         0.666667
    map         0.6
    mean        0.571429
    posterior   beta(4, 3)
    predictive  bernoulli(0.571429)

    Notes
    -----
    All estimates have the same prior. What is undefined is NaN, printed "undefined": the maximum
    likelihood estimate from nothing, the mode of a posterior that has none.
    """

    def __init__(self, event: Estimable, tally: BlockTally) -> None:
        self.event = event
        self.tally = tally

    @property
    def mle(self) -> Parameters:
        """The maximum likelihood estimate; NaN from nothing."""
        return self._parameters("mle")

    @property
    def map(self) -> Parameters:
        """The maximum a posteriori estimate: the mode of the posterior."""
        return self._parameters("map")

    @property
    def mean(self) -> Parameters:
        """The mean of the posterior."""
        return self._parameters("mean")

    @property
    def prior(self) -> Prior | None:
        """The prior of all estimates; None where there is no proper one, as without pretend data.

        A Gaussian or log-normal of several columns gives that of the first.
        """
        return self.event.prior_of(self.tally)

    @property
    def posterior(self) -> Distribution:
        """The posterior of the parameters: frozen SciPy distributions."""
        return self.event.posterior(self.tally)

    @property
    def predictive(self) -> Distribution:
        """The distribution of the next cell: frozen SciPy distributions.

        A Gaussian, log-normal or kernel density of several columns gives that of the first.
        """
        return self.event.predictive(self.tally)

    def log_likelihood(self, sample: Sample) -> float:
        """Return log p(sample) under the estimate that the model is set to, in nats."""
        block = self.event.prepare(self.event.encode(sample, self.tally.axis))
        likelihood, none = self.event.likelihood(self.tally), np.zeros(1)
        joint = likelihood.log_prob(block, none, "joint", none)
        return float(joint.sum() + likelihood.log_base(block).sum())

    def sample(
        self, n: int, random_state: int | np.random.Generator | None = None
    ) -> Floats | list[Level]:
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
        values: Floats = block.values
        return values[:, 0] if values.shape[1] == 1 else values

    def __str__(self) -> str:
        lines = [str(self.event), f"prior       {_shown(self.prior) or 'none'}"]
        lines += [f"{how:<11} {_shown(getattr(self, how))}" for how in ("mle", "map", "mean")]
        for what in ("posterior", "predictive"):
            try:
                shown = _shown(getattr(self, what))
            except ValueError:
                continue  # the event model has none, or SciPy refuses it as improper
            lines.append(f"{what:<11} {shown}")
        return "\n".join(lines)

    def _parameters(self, how: How) -> Parameters:
        """Return one number, a mapping by level, or a mapping by parameter."""
        found = {name: flat(p) for name, p in self.event.parameters(self.tally, how).items()}
        if len(found) > 1:
            return found
        (values,) = found.values()
        axis = self.tally.axis
        if isinstance(axis, Levels):
            return dict(zip(axis.levels[0], np.atleast_1d(values).tolist(), strict=True))
        return values


def flat(table: Floats) -> Parameters:
    """Return the first column of a table (rows × classes), or a number where it has one row."""
    values = table[:, 0]
    return values.item() if values.size == 1 else values


def _shown(value: object) -> str:
    """Write a number, levels or parameters with their numbers, a prior or a distribution."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "undefined" if np.isnan(value) else f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_plain_key(name)} {_shown(of)}" for name, of in value.items())
    if isinstance(value, tuple | np.ndarray):
        numbers = np.asarray(value)
        shown = [_shown(number) for number in numbers[:SHOWN].tolist()]
        more = [f"and {len(numbers) - SHOWN} more"] if len(numbers) > SHOWN else []
        return f"[{', '.join(shown + more)}]"
    if is_dataclass(value):
        options = {field.name: getattr(value, field.name) for field in fields(value)}
        given = ", ".join(f"{name}={_shown(_number(of))}" for name, of in options.items())
        return f"{type(value).__name__}({given})"
    return _distribution(value)


def _distribution(frozen: Distribution) -> str:
    """Write a frozen distribution of SciPy's by its name and parameters."""
    from scipy.stats import distributions

    if isinstance(frozen, distributions.rv_frozen):
        given = [_shown(_number(of)) for of in frozen.args]
        given += [f"{name}={_shown(_number(of))}" for name, of in frozen.kwds.items()]
        return f"{frozen.dist.name}({', '.join(given)})"
    name = type(frozen).__name__.removesuffix("_frozen").removesuffix("_gen")
    found = vars(frozen)
    given = [_shown(_number(found[option])) for option in ("alpha", "p") if option in found]
    return f"{name}({', '.join(given)})" if given else name


def _number(value: object) -> Parameters:
    return flat(np.asarray(value, np.float64).reshape(-1, 1))


def _plain_key(name: object) -> str:
    return name if isinstance(name, str) else repr(name)


def _own(value: Level) -> Level:
    return value.item() if isinstance(value, np.generic) else value


def _no_number(sample: Sample) -> object:
    """Return the first value of a plain sample that is no number."""
    for value in np.asarray(sample, object).ravel().tolist():
        try:
            np.float64(value)
        except (TypeError, ValueError):
            return value
    return sample
