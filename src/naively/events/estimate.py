"""Event models that can be estimated from a plain sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import A, Axis, Columns, Level, Levels, Statistic, Words
from naively.counting.block import B, Codes, Dense, Documents
from naively.counting.labels import Labels, RowWeight, check_weight, is_missing
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, EventModel
from naively.events.estimates.curve import Consistency, Updates, consistency, updates
from naively.events.estimates.estimate import Estimate
from naively.events.estimates.outcomes import Outcomes
from naively.events.estimates.shown import Given, Space, flat, read
from naively.events.prior import Prior
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.options import How

__all__ = ["Estimable", "Estimate", "flat"]  # what event models import from here

# Numbers or levels of one column; rows of several; the counts of a bag.
Sample: TypeAlias = "Sequence[Level] | NDArray[Any]"
FIRST = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # after how many observations one looks


class Estimable(EventModel[A, B]):
    """An event model that can be estimated from a plain sample, without classes."""

    def outcomes(self, tally: BlockTally[A]) -> Outcomes:  # noqa: ARG002
        """Return whole rows of columns with their probabilities; only a joint table has any."""
        raise ValueError(
            f"{type(self).__name__} has no joint probabilities of columns; use JointTable."
        )

    def prior_of(self, tally: BlockTally[A]) -> Prior | None:  # noqa: ARG002
        """Return the prior of all estimates, or None if there is no proper one."""
        return None

    space: ClassVar[Mapping[str, Space]] = {}  # the parameters that a likelihood may be asked at
    of_logarithms: ClassVar[bool] = False  # whether the predictive is of the next logarithm

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that are not known."""
        return tuple(self.space)

    def log_likelihood_of(
        self,
        tally: BlockTally[A],  # noqa: ARG002
        parameters: Mapping[str, Floats],  # noqa: ARG002
    ) -> Floats:
        """Return the log likelihood of what was counted, less the base measure, at parameters.

        They are broadcast. Of several columns, levels or words, the last axis has one for each,
        and is summed over.
        """
        raise ValueError(
            f"{type(self).__name__} has no likelihood at given parameters: it has none that follow "
            "from sums."
        )

    def fitted(self, tally: BlockTally[A], how: How) -> Distribution:  # noqa: ARG002
        """Return the distribution of a cell at an estimate, as frozen SciPy distributions.

        By default it is the predictive.
        """
        return self.predictive(tally)

    def updated(self, tally: BlockTally[A]) -> Prior | None:  # noqa: ARG002
        """Return the posterior of the first class as a prior, that of the next sample.

        None where it is improper, as without data and pretend data.
        """
        raise self._lacks("posterior")

    @final
    def fit(self, sample: Sample, sample_weight: RowWeight = None) -> Estimate:
        """Estimate from a plain sample, without classes.

        Parameters
        ----------
        sample : sequence, or array of shape (rows, columns)
            Numbers, or the levels of a categorical column; NaN and None are missing. A sequence
            is one column; of ``Multinomial`` and ``Complement`` it is one row, the counts of its
            outcomes.
        sample_weight : array-like of shape (rows,), optional
            Finite and at least 0; weight 2 is the row twice.

        Returns
        -------
        estimate : Estimate
            With ``mle``, ``map``, ``mean``, ``posterior`` and ``predictive``.
        """
        return self.estimated(self.encode(sample), sample_weight)

    @final
    def estimated(self, block: Any, sample_weight: RowWeight = None) -> Estimate:
        """Estimate from an encoded sample (see ``encode``)."""
        weight = check_weight(sample_weight, len(block))
        labels = Labels(np.zeros(len(block), np.int32), np.zeros(1, np.int64), weight)
        tally = self.tally(block, labels)
        if self.layout != "numbers":  # keep known levels that were not in the sample
            nothing = {s: Sums.zeros((len(block.axis), 1)) for s in tally.sums}
            _, tally = BlockTally(block.axis, nothing).align(tally)
        return Estimate(self, tally, self._base_of(block, tally, labels.weights))

    def _base_of(self, block: B, tally: BlockTally[A], weight: Floats) -> float:
        """Return the log base measure of a sample: what does not depend on any parameter."""
        if not self.space:
            return 0.0
        # Where parameters are integrated out, the base measure is no part by itself.
        plain: Any = replace(self, estimate="mean")  # type: ignore[type-var]  # a subclass is a dataclass
        base = plain.likelihood(tally).log_base(self.prepare(block))
        return float(base @ weight)

    @final
    def log_likelihood_at(self, sample: Sample, **parameters: Given) -> Floats | float:
        """Return log p(sample) at given parameters, in nats.

        Parameters
        ----------
        sample : sequence, or array of shape (rows, columns)
            As for ``fit``.
        **parameters : float, array-like or mapping
            By the names of the event model's parameters, as ``p``, ``rate``, or ``mean`` and
            ``variance``. Arrays are broadcast. Of several columns, levels or words, the last axis
            has one for each; probabilities may be a mapping by level.

        Returns
        -------
        log_likelihood : float, or ndarray of the shape that the parameters broadcast to
            The log probability of the observations in their order, or their log density; rows of
            counts have their multinomial coefficient.

        Raises
        ------
        ValueError
            If a parameter is lacking, not known, or outside its space.

        Examples
        --------
        >>> from naively import Bernoulli, Gaussian
        >>> Bernoulli().log_likelihood_at([1, 1, 0], p=[0.25, 0.5, 0.75]).round(3)
        array([-3.06 , -2.079, -1.962])
        >>> Gaussian().log_likelihood_at([1.0, 3.0], mean=[[1], [2]], variance=[1, 2, 4]).shape
        (2, 3)
        """
        return self.fit(sample).log_likelihood_at(**parameters)

    @final
    def read(self, given: Mapping[str, Given], tally: BlockTally[A]) -> dict[str, Floats]:
        """Return given parameters as arrays, the levels of a mapping in the tally's order."""
        name = type(self).__name__
        if not self.space:
            self.log_likelihood_of(tally, {})  # says that there is none
        if not set(self.free) <= set(given) <= set(self.space):
            raise ValueError(
                f"The parameters of {name} are {', '.join(self.space) or 'none'}; "
                f"got {', '.join(given) or 'none'}."
            )
        found = {}
        for parameter, value in given.items():
            values = value
            if isinstance(value, Mapping):
                known = _outcomes(tally.axis)
                lacking = [level for level in known if level not in value]
                if lacking or not known:
                    raise ValueError(
                        f"{name} {parameter} must have a number for each level; it lacks "
                        f"{lacking[0]!r}."
                        if lacking
                        else f"{name} {parameter} has no levels; give numbers."
                    )
                values = [value[level] for level in known]
            found[parameter] = read(name, parameter, values, self.space[parameter])
        return found

    @final
    def given(self, axis: Axis, sums: Mapping[Statistic, Floats | Sums]) -> Estimate:
        """Return the estimate whose one pretend row has these sums, each of shape (rows,)."""
        tables = {
            s: of if isinstance(of, Sums) else Sums(np.asarray(of, np.float64))
            for s, of in sums.items()
        }
        tally = BlockTally(axis, {s: of[:, None] for s, of in tables.items()})
        return Estimate(self, tally, given=True)

    @final
    def updates(self, sample: Sample, at: Sequence[int] = FIRST, level: float = 0.95) -> Updates:
        """Return how the posterior changes as the observations of a sample arrive.

        Parameters
        ----------
        sample : sequence
            One column, in the order of arrival.
        at : sequence of int
            After how many observations to look; larger ones than the sample's size are its size.
        level : float, default 0.95
            How much of the posterior the interval holds, between equal tails.

        Returns
        -------
        updates : Updates
            A table of the posterior's mean and interval; ``plot()`` draws its densities.

        Raises
        ------
        ValueError
            If the event model has not one parameter with a conjugate prior.

        Examples
        --------
        >>> from naively import Bernoulli, Beta
        >>> Bernoulli(prior=Beta(2, 2)).updates([1, 1, 0, 1], at=(0, 2, 4))
        n      mean        low      high
        0       0.5  0.0942993  0.905701
        2  0.666667   0.283582  0.947255
        4     0.625   0.290421  0.901012
        """
        return updates(self, sample, at, level)

    @final
    def consistency(
        self, sample: Sample, truth: Mapping[str, float] | float | None = None, level: float = 0.95
    ) -> Consistency:
        """Return how the maximum likelihood estimate converges as the sample grows.

        Parameters
        ----------
        sample : sequence
            One column, in the order of arrival.
        truth : float or mapping by parameter, optional
            The parameter that the sample was drawn with.
        level : float, default 0.95
            How much of the posterior the band holds, between equal tails; it is undefined without
            a proper prior.

        Returns
        -------
        consistency : Consistency
            A table of n, parameter, estimate and band, at 200 sizes at most; ``plot()`` draws it.

        Examples
        --------
        >>> from naively import Bernoulli
        >>> Bernoulli().consistency([1, 0, 1, 1]).estimate["p"].round(3)
        array([1.   , 0.5  , 0.667, 0.75 ])
        """
        return consistency(self, sample, truth, level)

    @final
    def encode(self, sample: Sample, axis: Axis | None = None) -> Any:
        """Encode a plain sample: numbers as ``Dense``, levels as ``Codes`` (of a known axis).

        Texts are encoded where the axis is of given words.
        """
        if isinstance(axis, Words):
            return Documents([*sample], axis)
        return (
            self._codes(sample, axis if isinstance(axis, Levels) else None)
            if self.layout != "numbers"
            else self._numbers(sample)
        )

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


def _outcomes(axis: Axis) -> Sequence[Level]:
    """Return the levels of one column, or the words of a text."""
    if isinstance(axis, Words):
        return axis.words
    return axis.levels[0] if isinstance(axis, Levels) else ()


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
