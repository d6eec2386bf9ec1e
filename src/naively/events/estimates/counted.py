"""What was counted of a plain sample, and the estimates that follow from it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.counting.axis import PRESENT, SQUARE, VALUE, ByValue, Level, Levels
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, check_estimate
from naively.events.estimates.shown import EstimatedParameters, Parameters, flat, tabulate
from naively.events.prior import Prior
from naively.kernels.reference import Floats
from naively.messages import Shown
from naively.options import How

if TYPE_CHECKING:
    from naively.events.estimate import Estimable


class Counted(Shown):
    """An event model and what it has counted of a sample: point estimates, prior, posterior."""

    def __init__(
        self, event: Estimable, tally: BlockTally, log_base: float = 0.0, *, given: bool = False
    ) -> None:
        self.event = event
        self.tally = tally
        self.given = given
        self._log_base = log_base

    @property
    def n(self) -> float | Floats:
        """How many observations were counted, or their weight; of several columns one for each."""
        if self.given:
            return 0
        sums = self.tally.sums
        if isinstance(self.tally.axis, ByValue):
            rows = np.asarray(sums[self.tally.axis.statistic].high.sum(axis=0))
        else:
            rows = sums[PRESENT].high[:, 0]
            rows = rows[:1] if self.event.joined else rows
        if len(rows) != 1:
            return np.asarray(rows, np.float64)
        n = float(rows.item())
        return int(n) if n.is_integer() else n

    @property
    def counts(self) -> dict[Level, Any]:
        """What was counted: by level, or the sums that are sufficient, by name.

        Sums of several columns are arrays; those of a log-normal are of the logarithms.
        """
        axis, sums = self.tally.axis, self.tally.sums
        if isinstance(axis, Levels):
            return dict(zip(axis.levels[0], sums[axis.statistic].high[:, 0].tolist(), strict=True))
        true = "true" if self.event.shares else "sum"
        names = {PRESENT: "rows", VALUE: true, SQUARE: "square"}
        return {name: flat(sums[s].high) for s, name in names.items() if s in self.event.statistics}

    def parameters(self, how: How | None = None) -> EstimatedParameters:
        """Return the parameters as a table, with what was counted behind each.

        Parameters
        ----------
        how : {"mle", "map", "mean", "predictive"}, optional
            The estimate; by default the one that the event model is set to.

        Returns
        -------
        parameters : EstimatedParameters
            A row for each parameter of each column, level or word: its value, what was counted
            behind it, and the pseudo-count that the prior adds.

        Examples
        --------
        >>> from naively import Categorical
        >>> Categorical().fit(["red", "red", "blue"]).parameters()
        item  parameter  value  count  pseudo_count
        red   p            0.6      2             1
        blue  p            0.4      1             1
        """
        how = how or self.event.estimate
        check_estimate(how)
        return tabulate(self.event, self.tally, "mle" if self.given else how)

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
        return None if self.given else self.event.prior_of(self.tally)

    @property
    def posterior(self) -> Distribution:
        """The posterior of the parameters: frozen SciPy distributions."""
        self._check_estimated("posterior")
        return self.event.posterior(self.tally)

    @property
    def predictive(self) -> Distribution:
        """The distribution of the next cell: frozen SciPy distributions.

        A Gaussian, log-normal or kernel density of several columns gives that of the first.
        """
        return self.fitted if self.given else self.event.predictive(self.tally)

    @property
    @abstractmethod
    def fitted(self) -> Distribution:
        """The distribution at the estimate that is set."""

    def _check_estimated(self, what: str) -> None:
        if self.given:
            raise ValueError(
                f"The parameters of this {type(self.event).__name__} were given: it has no {what}."
            )

    def _tables(self, how: How) -> dict[str, Floats]:
        return self.event.parameters(self.tally, "mle" if self.given else how)

    def _found(self, how: How) -> dict[str, Parameters]:
        return {name: flat(p) for name, p in self._tables(how).items()}

    def _parameters(self, how: How) -> Parameters:
        """Return one number, a mapping by level, or a mapping by parameter."""
        found = self._found(how)
        if len(found) > 1:
            return found
        (values,) = found.values()
        axis = self.tally.axis
        if isinstance(axis, Levels):
            return dict(zip(axis.levels[0], np.atleast_1d(values).tolist(), strict=True))
        return values

    def points(self, how: How) -> dict[Level, float]:
        """Return an estimate of one column as numbers, by parameter or by level."""
        found = self._parameters(how)
        if isinstance(found, dict):
            return {name: float(value) for name, value in found.items()}
        (name,) = self._tables(how)
        return {name: float(found)}
