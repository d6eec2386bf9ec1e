"""Distributions of one parameter: Poisson, exponential, geometric, binomial, negative binomial."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import PRESENT, VALUE, Columns, title
from naively.counting.block import Block, Dense, Sparse
from naively.counting.tally import BlockTally
from naively.events.base import (
    INTEGRATED,
    UNSAID,
    ClassNumbers,
    Distribution,
    Formula,
    Support,
    check_not_negative,
    check_settings,
    numbers,
)
from naively.events.estimate import Estimate, OfTwoSums, TwoSums, flat
from naively.events.prior import Beta, Gamma, pretend_rows
from naively.events.shown import CHANCE, POSITIVE, PROBABILITY, RATE, read
from naively.frozen import Frozen
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats, clipped
from naively.options import How
from naively.terms.kinds import FunctionTerms, TermBlock, sum_of_cells
from naively.terms.uncertain import Uncertain, moments_of_beta, moments_of_gamma
from naively.terms.words import LineTerms

# --- Rates: event models with one parameter for each column and class, how often it happens ------
#
# Two sums a and b are sufficient for it, such as the events and the rows that they happened in, or
# the successes and the failures. The conjugate prior, Gamma(a, b) or Beta(a, b), adds pretend data
# to both. An event model defines what a and b count, and the distribution of numbers at a rate.


FARTHEST = 1e17  # a mean of whole numbers of 64 bits that are drawn

LEAST = 1e-12  # successes or failures of a column that never had any


class Rate(OfTwoSums[Columns, Dense | Sparse], Frozen, eq=True):
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
    least: ClassVar[tuple[float, float]] = (0.0, 0.0)  # a and b that can be integrated over

    def __post_init__(self) -> None:
        check_settings(self)

    @abstractmethod
    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        """Return a and b from the rows and the total of their numbers, in the shape of these."""

    @abstractmethod
    def mean(self, rate: Floats) -> Floats:
        """Return the mean of numbers at each of these rates, in the shape of the rates."""

    @abstractmethod
    def log_linear(self, rate: Floats) -> LineTerms:
        """Return the terms of numbers at these rates, of shape (columns, classes)."""

    @abstractmethod
    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.number]:
        """Draw a number at each of these rates, in the shape of the rates."""

    @abstractmethod
    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        """Return the distribution of the next number, with the rate integrated out."""

    def log_base(self, block: Block) -> Floats:
        """Return the log base measure of each row, (rows,), which is the same for all classes."""
        return sum_of_cells(self.log_orders, block)

    def log_orders(self, x: Floats) -> Floats:
        """Return the log base measure of each of these numbers: of counts, that of their orders."""
        return np.zeros_like(x)

    def log_next(self, x: Floats, a: Floats, b: Floats) -> Floats:
        """Return the log density of next numbers x, (cells, 1), given a and b, (cells, classes)."""
        following = self.next_number(a, b)
        with np.errstate(over="ignore"):
            found = following.logpdf(x) if self.support == "positive" else following.logpmf(x)
        return np.asarray(found, np.float64)

    @property
    def sparse(self) -> bool:
        return self.estimate != "predictive"

    def prepare(self, block: Dense | Sparse) -> Dense | Sparse:
        check_not_negative(block, type(self).__name__)
        return block

    @classmethod
    def _at(cls, event: Self, value: float | Sequence[float]) -> Estimate:
        """Return the estimate of one pretend row for each column, with given rates."""
        rate = np.atleast_1d(read(cls.__name__, cls.parameter, value, cls.space[cls.parameter]))
        sums = {PRESENT: Sums(np.ones_like(rate)), VALUE: Sums(event.mean(rate))}
        return event.given(Columns(range(len(rate))), sums)

    def formulas(self, tally: BlockTally[Columns], column: int, x: float) -> list[Formula] | None:
        if self.estimate == "predictive":
            return None
        # What a number adds to a and b is the exponents of its likelihood.
        a, b = (float(of) for of in self.sums(np.ones(()), np.array(x)))
        beta = self.conjugate is Beta
        return [_formula(rate, a, b, beta=beta) for rate in self._rate(tally)[column].tolist()]

    def terms(self, tally: BlockTally[Columns]) -> TermBlock:
        """Return the terms at the rates, or the predictive where they are integrated out."""
        with np.errstate(divide="ignore"):
            if self.estimate != "predictive":
                return self.log_linear(self._rate(tally))
            a, b = self._to_integrate(tally)
            typical = self.mean(self.conjugate.mean_of(a, b))

        def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
            return self.log_next(clipped(x)[:, None], a[column], b[column])

        return FunctionTerms(log_density, typical)

    def uncertain(
        self, tally: BlockTally[Columns], block: Dense | Sparse, least: float = 0.0
    ) -> Uncertain:
        if self.estimate == "predictive":
            raise self._unsure(tally, INTEGRATED)
        row, column, x = block.entries()
        a, b = (of[column] for of in self._counts(tally, "mean"))
        # What a number adds to a and b is what it multiplies in the log likelihood.
        own = self.sums(np.ones((len(x), 1)), clipped(x)[:, None])
        moments = moments_of_beta if self.conjugate is Beta else moments_of_gamma
        return Uncertain(row, column, *moments(*own, a, b, least))

    def sample(
        self, tally: BlockTally[Columns], classes: ClassNumbers, rng: np.random.Generator
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
            np.maximum(np.where(known, mine, np.where(ever_known, every, nothing)), least)
            for mine, every, nothing, least in zip(
                own, of_all, self.unknown, self.least, strict=True
            )
        )
        return a, b

    def _sums(self, tally: BlockTally[Columns]) -> TwoSums:
        return self.sums(tally[PRESENT].high, tally[VALUE].high)

    def _of_all(self, tally: BlockTally[Columns]) -> TwoSums:
        """Return a and b of all classes together, of shape (columns, 1)."""
        return self.sums(*(tally[s].high.sum(axis=1, keepdims=True) for s in self.statistics))

    def _pseudo(self, tally: BlockTally[Columns], how: How) -> TwoSums:
        if how == "mle":
            return np.zeros((1, 1)), np.zeros((1, 1))
        a, b = self.sums(*pretend_rows(tally, self.alpha))
        moved = (self.estimate == "map") - (how == "map")
        of_a, of_b = self.conjugate.mode_lacks
        return a + moved * of_a, b + moved * of_b


def _formula(rate: float, a: float, b: float, *, beta: bool) -> Formula:
    """Return rate^a · (1 - rate)^b, or rate^a · exp(-b · rate), with the numbers put in."""
    of, n, m = f"{rate:.6g}", f"{a:g}", f"{b:g}"
    if beta:
        rest = f"{1 - rate:.6g}"
        return Formula(f"{of}^{n} · {rest}^{m}", rf"{of}^{{{n}}} \cdot {rest}^{{{m}}}")
    return Formula(f"{of}^{n} · exp(-{m}·{of})", rf"{of}^{{{n}}}\,e^{{-{m} \cdot {of}}}")


class Trials(Rate):
    """Counts of failures before the last of a known number of successes."""

    prior: Beta | None = None
    support = "counts"
    parameter = "p"
    space: ClassVar = {"p": CHANCE}
    conjugate = Beta
    least = (0.0, LEAST)

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

    def log_linear(self, rate: Floats) -> LineTerms:
        return LineTerms(np.log1p(-rate), self.successes * np.log(rate), self.log_base)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.betanbinom(self.successes, a, b)

    def log_next(self, x: Floats, a: Floats, b: Floats) -> Floats:
        from scipy.special import betaln, xlogy

        with np.errstate(invalid="ignore"):
            more = betaln(a + self.successes, b + x) - betaln(a, b)
        success, failure = self.conjugate.mean_of(a, b), self.conjugate.mean_of(b, a)
        known = xlogy(self.successes, success) + xlogy(x, failure)  # for counts too large for SciPy
        return self.log_orders(x) + np.where(np.isnan(more), known, more)

    def log_orders(self, x: Floats) -> Floats:
        """Return the log of how many orders the failures can come in among the successes."""
        from scipy.special import gammaln

        return gammaln(x + self.successes) - gammaln(x + 1) - gammaln(self.successes)


# --- Binomial event model: how many of a known number of trials succeed --------------------------


@final
class Binomial(Rate):
    """Counts of successes in n trials: k | class ~ Binomial(n, p), one p per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Beta(alpha · mean, alpha · (trials - mean)), or with ``estimate="map"`` one more of each.
    prior : Beta, optional
        Instead of ``alpha``: ``a`` pretend successes and ``b`` pretend failures.
    estimate : {"mean", "map", "mle", "predictive"}
        Of p, the probability of a success; "predictive" integrates it out (beta-binomial). Maximum
        likelihood from nothing is NaN; when rows are scored, such a class has the p of all
        classes.
    trials : int
        How many trials each row has; at least 1. It must be given, so that the event model cannot
        be chosen by its name alone.

    Notes
    -----
    Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), chapter 3, and section 6.2.2
    for the beta-binomial. With one trial it is ``Bernoulli``. A number that is not whole, or is
    above ``trials``, is an error.

    Examples
    --------
    >>> from naively import Beta, Binomial
    >>> passed = Binomial(trials=10, prior=Beta(1, 1)).fit([8, 9, 10])
    >>> passed.mle, passed.map, passed.mean
    (0.9, 0.9, 0.875)
    """

    prior: Beta | None = None
    trials: int = 0
    name = "binomial"
    support = "counts"
    parameter = "p"
    conjugate: ClassVar = Beta
    least = (LEAST, LEAST)
    space: ClassVar = {"p": PROBABILITY}

    @classmethod
    def of(cls, p: float | Sequence[float], trials: int) -> Estimate:
        """Return the binomial distribution with a given probability, as an estimate.

        Parameters
        ----------
        p : float, or sequence of float
            The probability of a success; a sequence has one for each column.
        trials : int
            How many trials a row has.

        Examples
        --------
        >>> Binomial.of(p=0.25, trials=8).fitted.mean()
        np.float64(2.0)
        """
        return cls._at(cls(alpha=0, estimate="mle", trials=trials), p)

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.binom(self.trials, rate)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.trials, int | np.integer) and not isinstance(self.trials, bool)
        if not whole or self.trials < 1:
            raise ValueError(
                "Binomial needs the number of trials of a row, a whole number of at least 1, as in "
                f"Binomial(trials=10); got {self.trials!r}."
            )
        object.__setattr__(self, "trials", int(self.trials))

    def prepare(self, block: Dense | Sparse) -> Dense | Sparse:
        block = super().prepare(block)
        _, column, x = block.entries()
        wrong = (x > self.trials) | (x != np.rint(x))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"Column {title(block.axis.columns[int(column[at])])!r} holds {float(x[at]):.6g}; "
                f"{self} counts whole numbers from 0 to {self.trials}."
            )
        return block

    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        return total, self.trials * rows - total

    def mean(self, rate: Floats) -> Floats:
        return self.trials * rate

    def log_linear(self, rate: Floats) -> LineTerms:
        log_p, log_q = np.log(rate), np.log1p(-rate)
        return LineTerms(log_p - log_q, self.trials * log_q, self.log_base, self.trials)

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.binomial(self.trials, rate)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.betabinom(self.trials, a, b)

    def n_values(self, tally: BlockTally[Columns]) -> int:
        return int((self.trials + 1) ** len(tally.axis))

    def log_orders(self, x: Floats) -> Floats:
        """Return log C(trials, x)."""
        from scipy.special import gammaln

        n = self.trials
        return gammaln(n + 1.0) - gammaln(x + 1.0) - gammaln(n - x + 1.0)


# --- Exponential event model: the time until an event --------------------------------------------


@final
class Exponential(Rate):
    """Waiting times: x | class ~ Exponential(rate), one rate per column and class.

    See Gelman et al., Bayesian Data Analysis (2013), section 2.6, for the prior.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Gamma(alpha, alpha · mean), or with ``estimate="map"`` Gamma(alpha + 1, alpha · mean).
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend rows that sum to ``rate``.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (Lomax). A class without any rows is scored at
        the rate of all classes.

    Examples
    --------
    >>> from naively import Exponential, Gamma
    >>> lamp = Exponential(prior=Gamma(2, 1000)).fit([400.0, 700.0, 900.0])
    >>> lamp.mle, lamp.map, lamp.mean
    (0.0015, 0.001333..., 0.001666...)
    """

    prior: Gamma | None = None
    name = "exponential"

    @classmethod
    def of(cls, rate: float | Sequence[float]) -> Estimate:
        """Return the exponential distribution with a given rate, as an estimate.

        Parameters
        ----------
        rate : float, or sequence of float
            Events a unit of time, above 0; a sequence has one for each column.

        Examples
        --------
        >>> Exponential.of(rate=0.5).fitted.mean()
        np.float64(2.0)
        """
        return cls._at(cls(alpha=0, estimate="mle"), rate)

    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        return rows, total

    def mean(self, rate: Floats) -> Floats:
        return 1 / rate

    def log_linear(self, rate: Floats) -> LineTerms:
        return LineTerms(slope=-rate, offset=np.log(rate))

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.expon(scale=1 / np.asarray(rate))

    def draw(self, rate: Floats, rng: np.random.Generator) -> Floats:
        return rng.exponential(1 / rate)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.lomax(a, scale=b)


# --- Geometric event model: the number of failures before a success ------------------------------


@final
class Geometric(Trials):
    """Counts of failures before a success: x | class ~ Geometric(p) from 0, one p per column.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Beta(alpha, alpha · mean), or with ``estimate="map"`` one more of each.
    prior : Beta, optional
        Instead of ``alpha``: ``a`` pretend rows, which have a success each, with ``b`` failures.
    estimate : {"mean", "map", "mle", "predictive"}
        Of p; "predictive" integrates it out (beta-geometric). Maximum likelihood from nothing is
        NaN; when rows are scored, such a class has the p of all classes.

    Notes
    -----
    Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), section 5.2. Its tail is longer
    than Poisson's: the variance is more than the mean.

    Examples
    --------
    >>> from naively import Beta, Geometric
    >>> tries = Geometric(prior=Beta(1, 1)).fit([0, 2, 1])
    >>> tries.mle, tries.map, tries.mean
    (0.5, 0.5, 0.5)
    """

    name = "geometric"
    successes = 1.0

    @classmethod
    def of(cls, p: float | Sequence[float]) -> Estimate:
        """Return the geometric distribution with a given probability, as an estimate.

        Parameters
        ----------
        p : float, or sequence of float
            The probability of a success, above 0; a sequence has one for each column.

        Examples
        --------
        >>> Geometric.of(p=0.25).fitted.mean()
        np.float64(3.0)
        """
        return cls._at(cls(alpha=0, estimate="mle"), p)

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.geometric(rate) - 1


# --- Negative binomial event model: the number of failures before the r-th success ---------------


@final
class NegativeBinomial(Trials):
    """Counts of failures before the r-th success: x | class ~ NegativeBinomial(r, p), r known.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Beta(alpha · r, alpha · mean), or with ``estimate="map"`` one more of each.
    prior : Beta, optional
        Instead of ``alpha``: ``a`` pretend successes and ``b`` pretend failures.
    estimate : {"mean", "map", "mle", "predictive"}
        Of p, the probability of a success, one for each column and class; "predictive" integrates
        it out (beta negative binomial). Maximum likelihood from nothing is NaN; when rows are
        scored, such a class has the p of all classes.
    r : float, default 1.0
        How many successes end a row's trials; more than 0. With 1 it is ``Geometric``.

    Notes
    -----
    Johnson, Kemp & Kotz, Univariate Discrete Distributions (2005), chapter 5. The variance is the
    mean m and m² / r more, so that counts may be spread more widely than Poisson's; a large r is
    Poisson's limit.

    Examples
    --------
    >>> from naively import Beta, NegativeBinomial
    >>> calls = NegativeBinomial(r=3, prior=Beta(1, 1)).fit([4, 0, 5])
    >>> calls.mle, calls.map, calls.mean
    (0.5, 0.5, 0.5)
    """

    r: float = 1.0
    name = "negative_binomial"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.r) and self.r > 0):
            raise ValueError(f"NegativeBinomial r must be greater than 0, got {self.r}.")

    @classmethod
    def of(cls, p: float | Sequence[float], r: float = 1.0) -> Estimate:
        """Return the negative binomial distribution with a given probability, as an estimate.

        Parameters
        ----------
        p : float, or sequence of float
            The probability of a success, above 0; a sequence has one for each column.
        r : float, default 1.0
            How many successes end a row.

        Examples
        --------
        >>> NegativeBinomial.of(p=0.25, r=2).fitted.mean()
        np.float64(6.0)
        """
        return cls._at(cls(alpha=0, estimate="mle", r=r), p)

    @property
    def successes(self) -> float:
        return self.r

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.negative_binomial(self.r, rate)


# --- Poisson event model: the number of events ---------------------------------------------------


LEAST_EVENTS = 1e-300


@final
class Poisson(Rate):
    """Counts of events: x | class ~ Poisson(rate), one rate per column and class.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend rows in each class, at the mean of the column over all classes: the prior is
        Gamma(alpha · mean, alpha), or with ``estimate="map"`` Gamma(alpha · mean + 1, alpha).
    prior : Gamma, optional
        Instead of ``alpha``: ``shape`` pretend events in ``rate`` pretend rows.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the rate; "predictive" integrates it out (negative binomial). Maximum likelihood from
        nothing is NaN; when rows are scored, such a class has the rate of all classes.

    Notes
    -----
    Gelman et al., Bayesian Data Analysis (2013), section 2.6.

    Examples
    --------
    >>> from naively import NaiveBayes, Poisson
    >>> goals = {"home": [0, 1, 0, 3, 4, 2]}
    >>> nb = NaiveBayes(event_models=Poisson()).fit(goals, ["weak"] * 3 + ["strong"] * 3)
    >>> nb.predict({"home": [5, 0]})
    array(['strong', 'weak'], dtype='<U6')
    """

    prior: Gamma | None = None
    name = "poisson"
    support = "counts"
    unknown = (0.0, 1.0)
    space: ClassVar = {"rate": RATE}

    @classmethod
    def of(cls, rate: float | Sequence[float]) -> Estimate:
        """Return the Poisson distribution with a given rate, as an estimate.

        Parameters
        ----------
        rate : float, or sequence of float
            Events a row, at least 0; a sequence has one for each column.

        Examples
        --------
        >>> Poisson.of(rate=2.5).mle
        2.5
        """
        return cls._at(cls(alpha=0, estimate="mle"), rate)

    def sums(self, rows: Floats, total: Floats) -> TwoSums:
        return total, rows

    def mean(self, rate: Floats) -> Floats:
        return rate

    def log_linear(self, rate: Floats) -> LineTerms:
        return LineTerms(slope=np.log(rate), offset=-rate, base=self.log_base)

    def log_orders(self, x: Floats) -> Floats:
        """Return -log x!."""
        from scipy.special import gammaln

        return -gammaln(x + 1.0)

    def distribution(self, rate: Floats | float) -> Distribution:
        from scipy import stats

        return stats.poisson(rate)

    def draw(self, rate: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        return rng.poisson(rate)

    def next_number(self, a: Floats | float, b: Floats | float) -> Distribution:
        from scipy import stats

        return stats.nbinom(a, b / (b + 1))

    def log_next(self, x: Floats, a: Floats, b: Floats) -> Floats:
        found = log_next_count(np.maximum(x, 0.0), np.maximum(a, LEAST_EVENTS), b)
        found = np.where(a > 0, found, np.where(x == 0, 0.0, -np.inf))  # no event was ever seen
        return np.where((x >= 0) & (x == np.floor(x)) | np.isnan(x), found, -np.inf)


def log_next_count(x: Floats, a: Floats, b: Floats) -> Floats:
    """Return the log probabilities of the next counts x, given a events in b rows."""
    # They are those of the negative binomial. Differences of log Γ lose their digits where there
    # are 10¹⁵ events, so that Stirling's formula and the deviance are taken apart, as Loader (2000,
    # Fast and Accurate Computation of Binomial Probabilities) does, and R's ``dnbinom``.
    seen, to_come = b / (b + 1), 1 / (b + 1)  # shares of the rows
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        more = a * to_come - x * seen  # events than x that are to be expected, in part
        of_a = _log_ratio(-more / a, np.minimum((a + x) / a, 1e300) * seen)
        of_x = _log_ratio(more / x, (a + x) / x * to_come)
        found = a * of_a + x * of_x + 0.5 * (np.log(a) - np.log(a + x) - np.log(2 * np.pi * x))
        found += _stirling_error(a + x) - _stirling_error(a) - _stirling_error(x)
    return np.where(x > 0, found, -a * np.log1p(1 / b))


def _log_ratio(change: Floats, ratio: Floats) -> Floats:
    """Return the log of `ratio` = 1 + `change`; log1p keeps the digits of a small change."""
    return np.where(np.abs(change) < 0.5, np.log1p(change), np.log(ratio))


def _stirling_error(z: Floats) -> Floats:
    """Return log z! less Stirling's formula."""
    from scipy.special import gammaln

    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / z / z) / z / z) / z / z) / z
    formula = (z + 0.5) * np.log(z) - z + 0.5 * np.log(2 * np.pi)
    return np.where(z > 15, series, gammaln(z + 1) - formula)
