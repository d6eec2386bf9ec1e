"""One column alone, without classes: an event model is fitted to a plain sample."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import (
    PRESENT,
    SQUARE,
    VALUE,
    A,
    Axis,
    ByValue,
    Columns,
    Level,
    Levels,
    Statistic,
    Words,
)
from naively.counting.block import B, Codes, Dense, Documents
from naively.counting.labels import Labels, RowWeight, check_weight, is_missing, plain_cell
from naively.counting.tally import BlockTally
from naively.events.base import Distribution, EventModel, Tables, by_row, no_estimate
from naively.events.outcomes import (
    Consistency,
    Names,
    Outcomes,
    ParameterCurve,
    Probabilities,
    Surface,
    Updates,
)
from naively.events.prior import Beta, Dirichlet, Gamma, Prior, plain
from naively.events.shown import (
    PROBABILITY,
    EstimatedParameters,
    Given,
    Parameters,
    Space,
    flat,
    log_density,
    marginals,
    read,
    shown,
    summed,
    tabulate,
)
from naively.kernels.double_double import Sums
from naively.kernels.reference import Floats
from naively.messages import Shown
from naively.options import HOW, How
from naively.tabular import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Estimate(Shown):
    """Estimates of the parameters of an event model from a plain sample.

    Parameters
    ----------
    event : Estimable
        The event model, with its prior.
    tally : BlockTally
        What was counted, for one class.
    log_base : float, default 0.0
        The log base measure of the sample: what of its log likelihood depends on no parameter.
    given : bool, default False
        Whether the parameters were given, so that the tally is one pretend row.

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
    n           3
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
        if self.event.layout != "numbers":
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
        if how not in HOW:
            raise no_estimate(how)
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

    def _check_estimated(self, what: str) -> None:
        if self.given:
            raise ValueError(
                f"The parameters of this {type(self.event).__name__} were given: it has no {what}."
            )

    def _tables(self, how: How) -> dict[str, Floats]:
        return self.event.parameters(self.tally, "mle" if self.given else how)

    def _parameters(self, how: How) -> Parameters:
        """Return one number, a mapping by level, or a mapping by parameter."""
        found = {name: flat(p) for name, p in self._tables(how).items()}
        if len(found) > 1:
            return found
        (values,) = found.values()
        if self.event.layout == "numbers":
            return values
        levels = self.tally.axis.levels[0]
        return dict(zip(levels, np.atleast_1d(values).tolist(), strict=True))

    def points(self, how: How) -> dict[Level, float]:
        """Return an estimate of one column as numbers, by parameter or by level."""
        found = self._parameters(how)
        if isinstance(found, dict):
            return {name: float(value) for name, value in found.items()}
        (name,) = self._tables(how)
        return {name: float(found)}

    @property
    def fitted(self) -> Distribution:
        """The distribution at the estimate that is set: frozen SciPy distributions.

        With ``estimate="predictive"`` it is the predictive; of an event model without a
        distribution of SciPy's at given parameters too.

        Examples
        --------
        >>> from naively import Gaussian, Poisson
        >>> Poisson(estimate="mle").fit([2, 4]).fitted.pmf(0) == np.exp(-3)
        np.True_
        >>> Gaussian(smoothing=0, estimate="mle").fit([1.0, 3.0]).normal.std()
        np.float64(1.0)
        """
        return self.fitted_by(self.event.estimate)

    @property
    def expectation(self) -> dict[str, Any]:
        """Mean and variance of the next cell at the estimate that is set; of levels, of numbers.

        Examples
        --------
        >>> from naively import Categorical
        >>> die = Categorical.of({face: 1 / 6 for face in range(1, 7)})
        >>> {name: round(value, 6) for name, value in die.expectation.items()}
        {'mean': 3.5, 'variance': 2.916667}
        """
        if self.event.layout == "numbers":
            return {"mean": self.fitted.mean(), "variance": self.fitted.var()}
        levels = self.tally.axis.levels[0]
        wrong = next((x for x in levels if not isinstance(x, int | float)), None)
        if wrong is not None:
            raise ValueError(f"Level {wrong!r} is no number, so that there is no mean.")
        x = np.array(levels, np.float64)
        p = self._tables(self.event.estimate)["p"][:, 0]
        mean = float(p @ x)
        return {"mean": mean, "variance": float(p @ (x - mean) ** 2)}

    @property
    def normal(self) -> Distribution:
        """The fitted normal distribution of a Gaussian; of a log-normal, that of the logarithms."""
        found = self._tables(self.event.estimate)
        if not {"mean", "variance"} <= found.keys():
            raise ValueError(f"{type(self.event).__name__} is not normal; ask for fitted.")
        from scipy import stats

        return stats.norm(flat(found["mean"]), np.sqrt(flat(found["variance"])))

    def fitted_by(self, how: How) -> Distribution:
        """Return the distribution at an estimate: "mle", "map", "mean" or "predictive"."""
        if how == "predictive" and not self.given:
            return self.event.predictive(self.tally)
        return self.event.fitted(self.tally, "mle" if self.given else how)

    def curve(self, parameter: str | None = None, grid: Floats | None = None) -> ParameterCurve:
        """Return the log likelihood, prior and posterior of one parameter on a grid.

        Parameters
        ----------
        parameter : str, optional
            Which one: a parameter, or a level of a categorical column. It may be left out where
            there is but one.
        grid : array-like of shape (points,), optional
            Its values; by default where the posterior and the likelihood are.

        Returns
        -------
        curve : ParameterCurve
            Where there are other parameters, the likelihood is at their best (the profile
            likelihood), and prior and posterior are marginal.

        Examples
        --------
        >>> from naively import Bernoulli, Beta
        >>> coin = Bernoulli(prior=Beta(2, 2)).fit([1, 1, 0])
        >>> coin.curve(grid=[0.25, 0.5, 0.75]).posterior.round(3)
        array([0.527, 1.875, 1.582])
        """
        mle = of_one_column(self, spread=True)
        names = self.unknown("mle")
        if parameter is None and len(names) == 1:
            (parameter,) = names
        if parameter is None or parameter not in names:
            raise ValueError(
                f"parameter must be one of {', '.join(map(repr, names)) or 'none'}, "
                f"got {parameter!r}."
            )
        before = after = None
        if self.prior is not None:
            before = marginals(self.proper_prior, names)[parameter]
            after = marginals(self.updated, names)[parameter]
        least, greatest, _ = self.event.space.get(str(parameter), PROBABILITY)
        if grid is not None:
            value = np.asarray(grid, np.float64)
        elif greatest == 1:
            value = np.linspace(0, 1, POINTS)[1:-1]
        else:
            low, high = _extent(mle[parameter], after)
            value = np.linspace(max(low, least), min(high, greatest), POINTS)
        log_likelihood = np.broadcast_to(_profile(self, mle, parameter, value), value.shape)
        likelihood = np.exp(log_likelihood - log_likelihood.max())
        undefined = np.full(value.shape, np.nan)
        return ParameterCurve(
            parameter,
            value,
            log_likelihood,
            undefined if before is None else before.pdf(value),
            likelihood / np.trapezoid(likelihood, value),
            undefined if after is None else after.pdf(value),
            after,
            float(mle[parameter]),
        )

    def surface(self, mean: Floats | None = None, variance: Floats | None = None) -> Surface:
        """Return the log likelihood and log posterior of a normal model over a grid.

        Parameters
        ----------
        mean, variance : array-like of shape (points,), optional
            The grid; by default around the maximum likelihood estimate.

        Returns
        -------
        surface : Surface
            With the maximum likelihood estimate and the mode of the posterior.
        """
        mle = of_one_column(self, spread=True)
        if set(self.event.space) != {"mean", "variance"}:
            raise ValueError(
                f"{type(self.event).__name__} has no mean and variance; ask for curve()."
            )
        proper = self.prior is not None and "variance" in marginals(self.proper_prior)
        after = marginals(self.updated) if proper else {}
        means, variances = (
            _both(_around_mle(self, mle, name), after.get(name), log=name == "variance")
            if given is None
            else np.asarray(given, np.float64)
            for name, given in (("mean", mean), ("variance", variance))
        )
        at: dict[str, Any] = {"mean": means[:, None], "variance": variances[None]}
        found = np.asarray(self.log_likelihood_at(**at))
        posterior = (
            np.asarray(self.log_posterior_at(**at)) if proper else np.full_like(found, np.nan)
        )
        mode = {name: float(x) for name, x in self.points("map").items()}
        return Surface(
            means, variances, found, posterior, {str(k): x for k, x in mle.items()}, mode
        )

    def plot(self, ax: Axes | None = None, sample: Sample | None = None) -> Axes:
        """Draw the fitted distributions: maximum likelihood, posterior mode or mean, predictive.

        Parameters
        ----------
        sample : sequence, optional
            The sample, which an estimate does not keep, to be drawn as bars.
        ax : Axes, optional
            What to draw on.
        """
        return picture(self, ax, sample=sample)

    def plot_posterior(self, ax: Axes | None = None, level: float = 0.95) -> Axes:
        """Draw prior, scaled likelihood and posterior of the one parameter, with its interval.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.
        level : float, default 0.95
            How much of the posterior the interval holds, between equal tails.
        """
        return self.curve().plot(ax, level=level)

    def marginal(self, columns: Names) -> Probabilities:
        """Return the probabilities of the values of some columns of a joint table.

        Parameters
        ----------
        columns : str, int or sequence of these
            Their names, or their numbers from 0; the others are summed over.

        Returns
        -------
        probabilities : Probabilities
            A table that sums to 1.

        Examples
        --------
        >>> from naively import JointTable
        >>> table = JointTable(alpha=0).fit([("rain", "wet"), ("sun", "dry"), ("sun", "wet")])
        >>> table.marginal(0)
        x0    probability
        rain     0.333333
        sun      0.666667
        """
        return self.event.outcomes(self.tally).marginal(columns)

    def conditional(self, of: Names, given: Names) -> Probabilities:
        """Return the probabilities of columns of a joint table, given the values of others.

        Parameters
        ----------
        of, given : str, int or sequence of these
            Names of columns, or their numbers from 0.

        Returns
        -------
        probabilities : Probabilities
            They sum to 1 for each combination of what is given.

        Examples
        --------
        >>> from naively import JointTable
        >>> table = JointTable(alpha=0).fit([("rain", "wet"), ("sun", "dry"), ("sun", "wet")])
        >>> table.conditional(of=1, given=0)
        x0    x1   probability
        rain  wet            1
        rain  dry            0
        sun   wet          0.5
        sun   dry          0.5
        """
        return self.event.outcomes(self.tally).conditional(of, given)

    def sample(
        self,
        n: int,
        random_state: int | np.random.Generator | None = None,
        *,
        length: int | None = None,
    ) -> Floats | list[Level]:
        """Draw from the estimate that the model is set to.

        Parameters
        ----------
        n : int
            How many cells, or rows of several columns.
        random_state : int or numpy.random.Generator, optional
            A seed, for the same sample each time.
        length : int, optional
            The total of each row of counts; by default it varies like that of the sample's rows.

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
        classes = np.zeros(n, np.int64)
        block = self.event.sample_rows(self.tally, classes, rng, length)
        match block:
            case Codes():
                return [block.axis.levels[0][code] for code in block.codes[:, 0].tolist()]
            case Documents():
                return [*block.texts]
        values: Floats = block.values
        return values[:, 0] if values.shape[1] == 1 else values

    def __str__(self) -> str:
        if self.given:
            return f"{self.event.name}, parameters given: {shown(self.mle)}"
        lines = [str(self.event), f"n           {shown(self.n)}"]
        lines.append(f"prior       {shown(self.prior) or 'none'}")
        lines += [f"{how:<11} {shown(getattr(self, how))}" for how in ("mle", "map", "mean")]
        for what in ("posterior", "predictive"):
            try:
                value = shown(getattr(self, what))
            except ValueError:
                continue  # the event model has none, or SciPy refuses it as improper
            lines.append(f"{what:<11} {value}")
        return "\n".join(lines)

    def log_likelihood(self, sample: Sample) -> float:
        """Return log p(sample) under the estimate that the model is set to, in nats."""
        block = self.event.prepare(self.event.encode(sample, self.tally.axis))
        terms, none = self.event.terms(self.tally), np.zeros(1)
        joint = terms.add(block, none, "joint", none)
        return float(joint.sum() + terms.log_base(block).sum())

    def log_likelihood_at(self, **parameters: Given) -> Floats | float:
        """Return log p(sample) at given parameters (see ``Estimable.log_likelihood_at``)."""
        self._check_estimated("sample")
        return plain(self._log_likelihood(self.event.read(parameters, self.tally)))

    def log_prior_at(self, **parameters: Given) -> Floats | float:
        """Return the log density of the prior at given parameters, in nats."""
        return plain(self._log_density(self.proper_prior, parameters))

    def log_posterior_at(self, **parameters: Given) -> Floats | float:
        """Return the log density of the posterior at given parameters, in nats.

        That of probabilities of several levels is with respect to all of them but one.
        """
        return plain(self._log_density(self.updated, parameters))

    def log_joint_at(self, **parameters: Given) -> Floats | float:
        """Return log p(sample | parameters) + log p(parameters), which is greatest at the mode.

        It is the log posterior plus the log evidence.

        Examples
        --------
        >>> from naively import Bernoulli, Beta
        >>> coin = Bernoulli(prior=Beta(2, 2)).fit([1, 1, 0])
        >>> round(coin.log_joint_at(p=0.6) - coin.log_posterior_at(p=0.6), 9)
        -2.302585093
        >>> round(coin.log_evidence, 9)
        -2.302585093
        """
        self._check_estimated("sample")
        read = self.event.read(parameters, self.tally)
        return plain(self._log_likelihood(read) + self._log_density(self.proper_prior, parameters))

    @property
    def log_evidence(self) -> float:
        """Log p(sample), the marginal likelihood: the parameters are integrated out, in nats.

        The prior must be proper, and conjugate. The sample is ordered, but rows of counts have
        their multinomial coefficient.

        Raises
        ------
        ValueError
            If there is no proper conjugate prior.

        Notes
        -----
        By Bayes' rule it is the log joint less the log posterior, at any parameters (Chib,
        Marginal likelihood from the Gibbs output, 1995); here at the mean of the posterior. A
        prior that was itself taken from the sample (pretend rows at its mean) makes it too large.
        """
        prior, posterior = self.proper_prior, self.updated
        at = {name: np.asarray(table)[:, 0] for name, table in self._tables("mean").items()}
        if self.is_scalar:
            at = {name: of[0] for name, of in at.items()}
        joint = self._log_likelihood(at) + self._sum(log_density(prior, at))
        return float(joint - self._sum(log_density(posterior, at)))

    def log_bayes_factor(self, other: Estimate | None = None, **parameters: Given) -> float:
        """Return how much more probable this model makes the sample than another does, in nats.

        Parameters
        ----------
        other : Estimate, optional
            Another event model or prior, fitted to the same sample.
        **parameters : float, array-like or mapping
            Instead of it, the one hypothesis that the parameters are these, by name.

        Returns
        -------
        log_bayes_factor : float
            log p(sample | this) - log p(sample | the other): above 0 it speaks for this model.
            Its exponential is the Bayes factor.

        Raises
        ------
        ValueError
            If there is no proper conjugate prior, if the other is of another sample size, or if
            both or neither of another model and parameters are given.

        Notes
        -----
        Kass & Raftery, Bayes factors (1995). What is compared must have the same measure: the
        density of a number is no probability of a count.

        Examples
        --------
        >>> from naively import Bernoulli
        >>> unknown = Bernoulli().fit([1] * 8 + [0] * 2)
        >>> round(np.exp(-unknown.log_bayes_factor(p=0.5)), 4) == round(495 / 1024, 4)
        np.True_
        """
        if (other is None) == (not parameters):
            raise ValueError("Compare with another estimate, or with parameters, by their names.")
        if other is None:
            return self.log_evidence - float(np.asarray(self.log_likelihood_at(**parameters)))
        if not np.array_equal(self.n, other.n):
            raise ValueError(
                f"A Bayes factor is of one sample, and these are of {self.n} and {other.n} values."
            )
        return self.log_evidence - other.log_evidence

    @property
    def updated(self) -> Prior:
        """The posterior as a prior of what comes next."""
        self.proper_prior  # noqa: B018  (or the error that there is none)
        found = self.event.updated(self.tally)
        assert found is not None
        return found

    @property
    def proper_prior(self) -> Prior:
        """The prior, or the error that there is no proper one."""
        self._check_estimated("posterior")
        prior = self.prior
        if prior is None:
            raise ValueError(
                f"{type(self.event).__name__} has no proper conjugate prior here, so that there is "
                "no evidence and no density of the posterior; give a prior, or a pseudo-count "
                "above 0."
            )
        if not self.event.space:
            self.event.log_likelihood_of(self.tally, {})  # says that there is none
        if "mean" in self.event.space and len(self.tally.axis) > 1:
            raise ValueError(
                "Each column of numbers has a prior of its own; estimate one column at a time."
            )
        return prior

    def unknown(self, how: How) -> list[Level]:
        """Return the parameters of one column that are not known, or its levels."""
        names = list(self.points(how))
        if self.event.layout != "numbers":
            return names if len(names) > 1 else []  # one level has the probability 1
        return [name for name in names if name in self.event.free]

    @property
    def is_scalar(self) -> bool:
        """Whether each parameter is one number, rather than one for each column or level."""
        return len(self.tally.axis) == 1 and self.event.layout == "numbers"

    def _log_likelihood(self, parameters: Mapping[str, Floats]) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.event.log_likelihood_of(self.tally, parameters) + self._log_base

    def _log_density(self, prior: Prior, given: Mapping[str, Given]) -> Floats:
        return self._sum(log_density(prior, self.event.read(given, self.tally)))

    def _sum(self, density: Floats) -> Floats:
        """Sum the log densities of several columns' parameters."""
        several = not self.is_scalar and not isinstance(self.prior, Dirichlet)
        return np.asarray(density.sum(axis=-1) if several else density)


# --- Event models that can be estimated from a plain sample --------------------------------------


__all__ = ["Estimable", "Estimate", "OfShares", "OfTwoSums", "TwoSums", "flat"]  # for event models

# Numbers or levels of one column; rows of several; the counts of a bag.
Sample: TypeAlias = "Sequence[Level] | NDArray[Any]"
TwoSums: TypeAlias = tuple[Floats, Floats]  # a and b, each of shape (columns, classes)
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

    def log_likelihood_of(self, tally: BlockTally[A], parameters: Tables) -> Floats:  # noqa: ARG002
        """Return the log likelihood of what was counted, less the base measure, at parameters.

        They are broadcast. For several columns, levels or words, the last axis has one for each,
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
        if not self.space:
            return Estimate(self, tally)
        # Where parameters are integrated out, the base measure is no part by itself.
        mean: Any = replace(self, estimate="mean")  # type: ignore[type-var]  # a subclass is a dataclass
        base = mean.terms(tally).log_base(self.prepare(block))
        return Estimate(self, tally, float(base @ labels.weights))

    @final
    def log_likelihood_at(self, sample: Sample, **parameters: Given) -> Floats | float:
        """Return log p(sample) at given parameters, in nats.

        Parameters
        ----------
        sample : sequence, or array of shape (rows, columns)
            As for ``fit``.
        **parameters : float, array-like or mapping
            By the names of the event model's parameters, as ``p``, ``rate``, or ``mean`` and
            ``variance``. Arrays are broadcast. For several columns, levels or words, the last axis
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
                axis: Axis = tally.axis
                known = axis.words if isinstance(axis, Words) else axis.levels_of(0)
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
    def given(self, axis: Axis, sums: Mapping[Statistic, Sums]) -> Estimate:
        """Return the estimate whose one pretend row has these sums, each of shape (rows,)."""
        tally = BlockTally(axis, {s: of[:, None] for s, of in sums.items()})
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
        block = self.encode(sample)
        whole = self.estimated(block)
        of_one_column(whole)
        prior, names = whole.proper_prior, whole.unknown("mean")
        if len(whole.event.free) != 1 or not whole.is_scalar:
            raise ValueError(
                f"Updates are of one parameter, and {type(self).__name__} has several here; ask "
                "for consistency()."
            )
        if not at or min(at) < 0:
            raise ValueError(f"at must be numbers of observations that are at least 0, got {at}.")
        # The prior stays what it is of the whole sample, where it is pretend rows at its mean.
        fixed: Any = replace(self, prior=prior)  # type: ignore[type-var]  # a subclass is a dataclass
        sizes = sorted({min(int(size), len(block)) for size in at})
        beliefs = [prior if n == 0 else fixed.estimated(_first(block, n)).updated for n in sizes]
        (name,) = whole.event.free
        of = [marginals(belief, names)[name] for belief in beliefs]
        least, greatest, _ = self.space[name]
        if greatest == 1:
            value = np.linspace(0, 1, POINTS)[1:-1]
        else:
            seen = of[1:] if len(of) > 1 else of  # a wide prior would leave no room for the others
            low, high = (seen[0].ppf(tail) for tail in (TAIL, 1 - TAIL))
            value = np.linspace(max(float(low), least), min(float(high), greatest), POINTS)
        ends = [tuple(map(float, belief.interval(level))) for belief in of]
        return Updates(
            name,
            sizes,
            [float(belief.mean()) for belief in of],
            [low for low, _ in ends],
            [high for _, high in ends],
            value,
            np.stack([belief.pdf(value) for belief in of]),
        )

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
        block = self.encode(sample)
        whole = self.estimated(block)
        of_one_column(whole)
        if not len(block):
            raise ValueError("Give a sample with one observation at least.")
        names = whole.unknown("mle")
        sizes = np.unique(np.geomspace(1, len(block), SIZES).round().astype(np.int64))
        known = whole.prior
        fixed: Any = self if known is None else replace(self, prior=known)  # type: ignore[type-var]  # a subclass is a dataclass
        found: dict[str, dict[Level, list[float]]] = {
            of: {name: [] for name in names} for of in ("estimate", "low", "high")
        }
        for n in sizes.tolist():
            part = fixed.estimated(_first(block, n))
            mle = part.points("mle")
            beliefs = {} if known is None else marginals(part.updated, names)
            for name in names:
                low, high = beliefs[name].interval(level) if name in beliefs else (np.nan, np.nan)
                for of, x in (("estimate", mle[name]), ("low", low), ("high", high)):
                    found[of][name].append(float(x))
        estimate, lows, highs = (
            {name: np.array(x) for name, x in of.items()} for of in found.values()
        )
        if truth is not None and not isinstance(truth, Mapping):
            truth = {names[0]: truth}
        unknown = [name for name in truth or {} if name not in names]
        if unknown:
            raise ValueError(
                f"truth names {unknown[0]!r}; there are {', '.join(map(repr, names))}."
            )
        return Consistency(sizes, estimate, lows, highs, dict(truth or {}))

    @final
    def encode(self, sample: Sample, axis: Axis | None = None) -> Any:
        """Encode a plain sample: numbers as ``Dense``, levels as ``Codes`` (of a known axis).

        Texts are encoded where the axis is of given words.
        """
        match axis:
            case Words():
                return Documents([*sample], axis)
            case Levels():
                return self._codes(sample, axis)
        return self._numbers(sample) if self.layout == "numbers" else self._codes(sample, None)

    def _codes(self, sample: Sample, axis: Levels | None) -> Codes:
        """Encode levels, or the rows of a joint table, as one column."""
        values = [*map(plain_cell, sample)]
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
        pairs = zip(values, missing, strict=True)
        codes = [-1 if gone else index.get(value, len(index)) for value, gone in pairs]
        return Codes(np.array([codes], np.int32).T, axis or Levels((0,), (tuple(index),)))

    def _numbers(self, sample: Sample) -> Dense:
        """Encode numbers, rows × columns."""
        try:
            numbers = np.asarray(sample, np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{type(self).__name__} estimates from numbers, and the sample holds "
                f"{_no_number(sample)!r}; Categorical counts what is not a number"
                f"{', Bernoulli(success=...) one of two values' if self.shares else ''}."
            ) from None
        matrix = self._matrix(numbers)
        return Dense(matrix, Columns(range(matrix.shape[1])))

    def _known(self, seen: Iterable[Level]) -> Iterable[Level]:
        """Return the levels of a plain sample: those seen."""
        return seen

    def _matrix(self, numbers: Floats) -> Floats:
        """Return the numbers of a plain sample as rows × columns: a sequence is one column."""
        return numbers[:, None] if numbers.ndim == 1 else numbers


def _no_number(sample: Sample) -> object:
    """Return the first value of a plain sample that is no number."""
    for value in np.asarray(sample, object).ravel().tolist():
        try:
            np.float64(value)
        except (TypeError, ValueError):
            return value
    return sample


class OfTwoSums(Estimable[A, B]):
    """An event model of one parameter, which two sums, a and b, are sufficient for."""

    conjugate: ClassVar[type[Gamma | Beta]]  # the prior, which adds pretend data to both
    prior: Gamma | Beta | None
    parameter: ClassVar[str] = "p"

    @abstractmethod
    def distribution(self, rate: Floats | float) -> Distribution:
        """Return the distribution of numbers at a parameter, frozen."""

    def fitted(self, tally: BlockTally[A], how: How) -> Distribution:
        return self.distribution(flat(self.parameters(tally, how)[self.parameter]))

    def parameters(self, tally: BlockTally[A], how: How) -> dict[str, Floats]:
        return {self.parameter: self.conjugate.mean_of(*self._counts(tally, how))}

    def log_likelihood_of(self, tally: BlockTally[A], parameters: Tables) -> Floats:
        from scipy.special import xlog1py, xlogy

        (a, b), rate = map(flat, self._sums(tally)), parameters[self.parameter]
        of_b = xlog1py(b, -rate) if self.conjugate is Beta else -b * rate
        return summed(xlogy(a, rate) + of_b, a)

    @abstractmethod
    def _sums(self, tally: BlockTally[A]) -> TwoSums:
        """Return the a and b that were counted."""

    def _pretend(self, tally: BlockTally[A], how: How) -> TwoSums:
        """Return the pretend a and b, each of shape (1 or columns, 1)."""
        if self.prior is None:
            return self._pseudo(tally, how)
        a, b = map(by_row, self.prior.pretend(how))
        return a, b

    @abstractmethod
    def _pseudo(self, tally: BlockTally[A], how: How) -> TwoSums:
        """Return the pretend a and b where no prior is given."""

    def _counts(self, tally: BlockTally[A], how: How) -> TwoSums:
        """Return a and b with pretend data, each of shape (columns, classes)."""
        (a, b), (more_a, more_b) = self._sums(tally), self._pretend(tally, how)
        return np.maximum(a + more_a, 0.0), np.maximum(b + more_b, 0.0)

    def counted(self, tally: BlockTally[A]) -> Floats:
        return self._sums(tally)[0]

    def pretended(self, tally: BlockTally[A], how: How) -> Floats:
        return self._pretend(tally, how)[0]

    def prior_of(self, tally: BlockTally[A]) -> Gamma | Beta | None:
        return self.prior or self._proper(self._pretend(tally, "mean"))

    def updated(self, tally: BlockTally[A]) -> Gamma | Beta | None:
        return self._proper(self._counts(tally, "mean"))

    def _proper(self, counts: TwoSums) -> Gamma | Beta | None:
        a, b = map(flat, counts)
        return self.conjugate(a, b) if np.all(a > 0) and np.all(b > 0) else None

    def posterior(self, tally: BlockTally[A]) -> Distribution:
        return self.conjugate.distribution_of(*map(flat, self._counts(tally, "mean")))


class OfShares(Estimable[A, B]):
    """An event model of the probabilities of levels, words or bins, whose prior is a Dirichlet."""

    prior: Dirichlet | None = None

    @abstractmethod
    def _prior_counts(self, tally: BlockTally[A]) -> Parameters:
        """Return the pretend counts of the prior: one for all, or one for each, (levels,)."""

    @abstractmethod
    def _posterior_counts(self, tally: BlockTally[A]) -> Parameters:
        """Return the counts of the first class with those of the prior, (levels,)."""

    def prior_of(self, tally: BlockTally[A]) -> Dirichlet | None:
        if self.prior is not None:
            return self.prior
        counts = self._prior_counts(tally)
        return Dirichlet(counts) if np.size(counts) and np.all(counts > 0) else None

    def updated(self, tally: BlockTally[A]) -> Dirichlet | None:
        """Return the posterior of the first class; of no levels at all it is the prior."""
        counts = np.atleast_1d(self._posterior_counts(tally))
        if not len(counts):
            return self.prior_of(tally)
        return Dirichlet(tuple(counts.tolist())) if (counts > 0).all() else None

    def posterior(self, tally: BlockTally[A]) -> Distribution:
        from scipy import stats

        return stats.dirichlet(self._posterior_counts(tally))

    def predictive(self, tally: BlockTally[A]) -> Distribution:
        return self._outcome(tally, "mean")

    def fitted(self, tally: BlockTally[A], how: How) -> Distribution:
        return self._outcome(tally, how) if self.space else self.predictive(tally)

    def _outcome(self, tally: BlockTally[A], how: How) -> Distribution:
        """Return the distribution of one outcome at an estimate."""
        from scipy import stats

        return stats.multinomial(1, flat(self.parameters(tally, how)["p"]))

    def log_likelihood_of(self, tally: BlockTally[A], parameters: Tables) -> Floats:
        if not self.space:
            return super().log_likelihood_of(tally, parameters)
        from scipy.special import xlogy

        count = tally[self.statistics[-1]].high[:, 0]
        return np.asarray(xlogy(count, parameters["p"]).sum(axis=-1))


# --- Likelihood, prior and posterior of parameters on a grid -------------------------------------


POINTS = 401  # of a curve
SIDE = 81  # points of each side of a surface
FAR = 1e-5  # of a posterior, beyond which a surface ends
TAIL = 1e-3  # of the posterior, beyond which the grid reaches by half of its width


DEEP = 9.0  # nats below its top, to which a grid holds a likelihood: contours go to 8


def _around_mle(estimate: Estimate, mle: dict[Level, float], name: str) -> tuple[float, float]:
    """Return from where to where a normal model's likelihood is less than DEEP below its top."""
    # With a variance of ratio r to the best it is n / 2 (log r + 1 / r - 1) below; with a mean off
    # by d, and the variance that is best then, n / 2 log(1 + d² / v).
    from scipy.special import lambertw

    n, v = max(float(estimate.n), 1.0), mle["variance"]
    if name == "mean":
        d = np.sqrt(v * np.expm1(2 * DEEP / n))
        return mle["mean"] - d, mle["mean"] + d
    # log r + 1 / r = 1 + k is solved by 1 / r = -W(-exp(-1 - k)), on both branches of W.
    at = -np.exp(-1 - 2 * DEEP / n)
    low, high = (-1 / lambertw(at, k).real for k in (-1, 0))
    return float(v * low), float(v * high)


def _both(likelihood: tuple[float, float], after: Distribution | None, *, log: bool) -> Floats:
    """Return a grid over where the likelihood and the posterior are; fine for each of the two."""
    space = np.geomspace if log else np.linspace
    grid = np.asarray(space(*likelihood, SIDE))
    if after is not None:
        low, high = (float(after.ppf(tail)) for tail in (FAR, 1 - FAR))
        grid = np.union1d(grid, space(low, high, SIDE))
    return grid


def of_one_column(estimate: Estimate, *, spread: bool = False) -> dict[Level, float]:
    """Return the maximum likelihood estimate, by parameter or level, of one column."""
    # With ``spread`` a variance must be above 0.
    if not estimate.event.space:
        estimate.event.log_likelihood_of(estimate.tally, {})  # says that there is none
    if len(estimate.tally.axis.columns) != 1:
        raise ValueError("A curve is of one column; estimate one column at a time.")
    found = estimate.points("mle")
    if spread and "variance" in found and not found["variance"] > 0:
        raise ValueError(
            "The values are all equal, or there are none, so the likelihood of a variance has no "
            "maximum."
        )
    return found


def _extent(mle: float, after: Distribution | None) -> tuple[float, float]:
    """Return where the grid begins and ends: around the posterior, or the estimate."""
    if after is None:
        if np.isnan(mle):
            raise ValueError("Nothing was counted, and there is no prior: give a grid.")
        wide = 3 * (abs(mle) or 1.0)
        return mle - wide, mle + wide
    low, high = after.ppf(TAIL), after.ppf(1 - TAIL)
    wide = (high - low) / 2
    return float(low - wide), float(high + wide)


def _profile(
    estimate: Estimate, mle: dict[Level, float], parameter: Level, value: Floats
) -> Floats:
    """Return the log likelihood at values of a parameter, at the best of the others."""
    if estimate.event.layout != "numbers":
        others = {level: p for level, p in mle.items() if level != parameter}
        rest = sum(others.values())
        share = [p / rest if rest > 0 else 1 / len(others) for p in others.values()]
        shares = dict(zip(others, share, strict=True))
        table = [value if level == parameter else (1 - value) * shares[level] for level in mle]
        return np.asarray(estimate.log_likelihood_at(p=np.stack(table, axis=-1)))
    at: dict[str, Any] = {str(parameter): value}
    if parameter == "mean" and "variance" in estimate.event.space:
        known = estimate.event.parameters(estimate.tally, "mle")["variance"].item()
        free = "variance" in estimate.event.free
        at["variance"] = known if not free else known + (value - mle["mean"]) ** 2
    elif parameter == "variance":
        at["mean"] = mle["mean"]
    return np.asarray(estimate.log_likelihood_at(**at))


# --- How estimates change as the observations of a sample arrive ---------------------------------


SIZES = 200  # of a sample, at which the running estimate is computed


def _first(block: Any, n: int) -> Any:
    return block.select(np.arange(n))
