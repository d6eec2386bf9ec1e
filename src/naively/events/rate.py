"""Rates: event models with one parameter for each column and class, how often something happens.

Two sums a and b are sufficient for it, such as the events and the rows that they happened in, or
the successes and the failures. The conjugate prior, Gamma(a, b) or Beta(a, b), adds pretend data to
both. An event model defines what a and b count, and the distribution of numbers at a rate.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import PRESENT, VALUE, Columns, title
from naively.counting.block import Block, Dense, Sparse
from naively.counting.tally import BlockTally
from naively.events.base import (
    UNSAID,
    Distribution,
    Support,
    by_row,
    check_alpha,
    check_estimate,
    check_not_negative,
    numbers,
)
from naively.events.estimate import Estimable, Estimate, flat
from naively.events.estimates.space import CHANCE, POSITIVE, read, summed
from naively.events.prior import Beta, Gamma, pretend_rows
from naively.kernels.reference import Floats, clipped
from naively.likelihoods.base import Likelihood, Pointwise, sum_of_cells
from naively.likelihoods.words import LogLinear
from naively.options import How

FARTHEST = 1e17  # a mean of whole numbers of 64 bits that are drawn

TwoSums: TypeAlias = tuple[Floats, Floats]  # a and b, each of shape (columns, classes)
LEAST = 1e-12  # failures of a column that never failed


@dataclass(frozen=True)
class Rate(Estimable[Columns, Dense | Sparse]):
    """Numbers of at least 0 with a rate for each column and class: what such event models share.

    Where a column has no number in a class, it is scored at the rate of all classes together.
    """

    alpha: float = 1.0
    prior: Gamma | Beta | None = None
    estimate: How = UNSAID
    statistics = (PRESENT, VALUE)
    support: ClassVar[Support] = "positive"
    parameter: ClassVar[str] = "rate"
    conjugate: ClassVar[type[Gamma | Beta]] = Gamma
    space: ClassVar = {"rate": POSITIVE}
    unknown: ClassVar[tuple[float, float]] = (1.0, 1.0)  # a and b of a column without any number

    def __post_init__(self) -> None:
        check_alpha(self, self.alpha)
        check_estimate(self.estimate)

    @abstractmethod
    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        """Return a and b from the rows and the total of their numbers, in the shape of these."""

    @abstractmethod
    def mean(self, rate: Floats) -> Floats:
        """Return the mean of numbers at each of these rates, in the shape of the rates."""

    @abstractmethod
    def log_linear(self, rate: Floats) -> LogLinear:
        """Return the likelihood of numbers at these rates, of shape (columns, classes)."""

    @abstractmethod
    def distribution(self, rate: Floats | float) -> Distribution:
        """Return the distribution of numbers at a rate, frozen."""

    @abstractmethod
    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.number]:
        """Draw a number at each of these rates, in the shape of the rates."""

    @abstractmethod
    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        """Return the distribution of the next number, with the rate integrated out."""

    def log_next(self, x: Floats, a: Floats, b: Floats) -> Floats:
        """Return the log density of next numbers x, (cells, 1), given a and b, (cells, classes)."""
        with np.errstate(over="ignore"):
            return np.asarray(self.next_number(a, b).logpdf(x), np.float64)

    @property
    def sparse(self) -> bool:
        return self.estimate != "predictive"

    def prepare(self, block: Dense | Sparse) -> Dense | Sparse:
        check_not_negative(block, type(self).__name__)
        return block

    def parameters(self, tally: BlockTally[Columns], how: How) -> dict[str, Floats]:
        return {self.parameter: self.conjugate.mean_of(*self._counts(tally, how))}

    @classmethod
    def _at(cls, event: Self, value: float | Sequence[float]) -> Estimate:
        """Return the estimate of one pretend row for each column, with given rates."""
        rate = np.atleast_1d(read(cls.__name__, cls.parameter, value, cls.space[cls.parameter]))
        sums = {PRESENT: np.ones_like(rate), VALUE: event.mean(rate)}
        return event.given(Columns(range(len(rate))), sums)

    def log_likelihood_of(
        self, tally: BlockTally[Columns], parameters: Mapping[str, Floats]
    ) -> Floats:
        a, b = map(flat, self.sums(tally[PRESENT].high, tally[VALUE].high))
        return summed(self.log_kernel(a, b, parameters[self.parameter]), a)

    def log_kernel(self, a: Floats, b: Floats, rate: Floats) -> Floats:
        """Return the log likelihood of two sums at rates, less the base measure, broadcast."""
        from scipy.special import xlog1py, xlogy

        of_b = xlog1py(b, -rate) if self.conjugate is Beta else -b * rate
        return np.asarray(xlogy(a, rate) + of_b)

    def fitted(self, tally: BlockTally[Columns], how: How) -> Distribution:
        return self.distribution(flat(self.parameters(tally, how)[self.parameter]))

    def counted(self, tally: BlockTally[Columns]) -> Floats:
        return self.sums(tally[PRESENT].high, tally[VALUE].high)[0]

    def pretended(self, tally: BlockTally[Columns], how: How) -> Floats:
        return self._pretend(tally, how)[0]

    def likelihood(self, tally: BlockTally[Columns]) -> Likelihood:
        """Return the likelihood at the rates, or the predictive where they are integrated out."""
        with np.errstate(divide="ignore"):
            if self.estimate != "predictive":
                return self.log_linear(self._rate(tally))
            a, b = self._to_integrate(tally)
            typical = self.mean(self.conjugate.mean_of(a, b))

        def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
            return self.log_next(clipped(x)[:, None], a[column], b[column])

        return Pointwise(log_density, typical)

    def sample(
        self, tally: BlockTally[Columns], classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            a, b = (of.T[classes] for of in self._to_integrate(tally))
            rate = self.conjugate.draw_from(a, b, rng)
        else:
            rate = self._rate(tally).T[classes]
        whole = self.support != "positive"
        if whole and (far := (self.mean(rate) > FARTHEST).any(axis=0)).any():
            name = title(tally.axis.columns[int(far.argmax())])
            raise ValueError(
                f"Numbers of column {name!r} are too large to be drawn: beyond {FARTHEST:g} whole "
                "numbers do not fit into 64 bits."
            )
        return numbers(self.draw(rate, rng).astype(np.float64), tally)

    def prior_of(self, tally: BlockTally[Columns]) -> Gamma | Beta | None:
        if self.prior is not None:
            return self.prior
        a, b = map(flat, self._pretend(tally, "mean"))
        return self.conjugate(a, b) if np.all(a > 0) and np.all(b > 0) else None

    def updated(self, tally: BlockTally[Columns]) -> Gamma | Beta | None:
        a, b = map(flat, self._counts(tally, "mean"))
        return self.conjugate(a, b) if np.all(a > 0) and np.all(b > 0) else None

    def posterior(self, tally: BlockTally[Columns]) -> Distribution:
        return self.conjugate.distribution_of(*map(flat, self._counts(tally, "mean")))

    def predictive(self, tally: BlockTally[Columns]) -> Distribution:
        return self.next_number(*map(flat, self._counts(tally, "mean")))

    def _rate(self, tally: BlockTally[Columns]) -> Floats:
        """Return the rates that are scored with, of shape (columns, classes)."""
        rate = self.parameters(tally, self.estimate)[self.parameter]
        of_all = self.conjugate.mean_of(*self._of_all(tally))
        unknown = self.conjugate.mean_of(*map(np.asarray, self.unknown))
        return np.where(np.isnan(rate), np.nan_to_num(of_all, nan=float(unknown)), rate)

    def _to_integrate(self, tally: BlockTally[Columns]) -> TwoSums:
        """Return the a and b, each (columns, classes), that the predictive is scored with."""
        own, of_all = self._counts(tally, "mean"), self._of_all(tally)
        known, ever_known = (~np.isnan(self.conjugate.mean_of(*of)) for of in (own, of_all))
        a, b = (
            np.where(known, mine, np.where(ever_known, every, nothing))
            for mine, every, nothing in zip(own, of_all, self.unknown, strict=True)
        )
        return a, b

    def _counts(self, tally: BlockTally[Columns], how: How) -> TwoSums:
        """Return a and b, each of shape (columns, classes), with pretend data."""
        more_a, more_b = self._pretend(tally, how)
        a, b = self.sums(tally[PRESENT].high, tally[VALUE].high)
        return np.maximum(a + more_a, 0.0), np.maximum(b + more_b, 0.0)

    def _of_all(self, tally: BlockTally[Columns]) -> TwoSums:
        """Return a and b of all classes together, of shape (columns, 1)."""
        return self.sums(*(tally[s].high.sum(axis=1, keepdims=True) for s in self.statistics))

    def _pretend(self, tally: BlockTally[Columns], how: How) -> TwoSums:
        """Return the pretend a and b, each of shape (1 or columns, 1) (see ``mode_lacks``)."""
        if self.prior is not None:
            a, b = map(by_row, self.prior.pretend(how))
            return a, b
        if how == "mle":
            return np.zeros((1, 1)), np.zeros((1, 1))
        a, b = self.sums(*pretend_rows(tally, self.alpha))
        moved = (self.estimate == "map") - (how == "map")
        of_a, of_b = self.conjugate.mode_lacks
        return a + moved * of_a, b + moved * of_b


@dataclass(frozen=True)
class Trials(Rate):
    """Counts of failures before the last of a known number of successes."""

    prior: Beta | None = None
    support = "counts"
    parameter = "p"
    space: ClassVar = {"p": CHANCE}
    conjugate = Beta

    @property
    @abstractmethod
    def successes(self) -> float:
        """How many successes a row has."""

    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        return self.successes * rows, total

    def mean(self, rate: Floats) -> Floats:
        return self.successes * (1 - rate) / rate

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.nbinom(self.successes, rate)

    def log_linear(self, rate: Floats) -> LogLinear:
        return LogLinear(np.log1p(-rate), self.successes * np.log(rate), self._log_base)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.betanbinom(self.successes, a, b)

    def log_next(self, x: Floats, a: Floats, b: Floats) -> Floats:
        from scipy.special import betaln, xlogy

        with np.errstate(invalid="ignore"):
            more = betaln(a + self.successes, b + x) - betaln(a, b)
        success, failure = self.conjugate.mean_of(a, b), self.conjugate.mean_of(b, a)
        known = xlogy(self.successes, success) + xlogy(x, failure)  # for counts too large for SciPy
        return self._log_orders(x) + np.where(np.isnan(more), known, more)

    def _to_integrate(self, tally: BlockTally[Columns]) -> TwoSums:
        a, b = super()._to_integrate(tally)
        return a, np.maximum(b, LEAST)

    def _log_base(self, block: Block) -> Floats:
        """Return the log base measure of each row, (rows,), which is the same for all classes."""
        return sum_of_cells(self._log_orders, block)

    def _log_orders(self, x: Floats) -> Floats:
        """Return the log of how many orders the failures can come in among the successes."""
        from scipy.special import gammaln

        orders: Floats = gammaln(x + self.successes) - gammaln(x + 1) - gammaln(self.successes)
        return orders
