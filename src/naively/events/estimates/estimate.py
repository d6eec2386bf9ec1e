"""Estimates from a plain sample: one event model, without classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from naively.counting.axis import Level
from naively.counting.block import Codes, Documents
from naively.events.base import Distribution
from naively.events.estimates import curve as curves
from naively.events.estimates import curve as pictures
from naively.events.estimates.densities import Densities
from naively.events.estimates.outcomes import Names, Probabilities
from naively.events.estimates.shown import shown
from naively.kernels.reference import Floats
from naively.options import How

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from naively.events.estimate import Sample


class Estimate(Densities):
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
    def normal(self) -> Distribution:
        """The fitted normal distribution of a Gaussian; of a log-normal, that of the logarithms."""
        mean, variance = (self._found(self.event.estimate).get(x) for x in ("mean", "variance"))
        if mean is None or variance is None:
            raise ValueError(f"{type(self.event).__name__} is not normal; ask for fitted.")
        from scipy import stats

        return stats.norm(mean, np.sqrt(variance))

    def fitted_by(self, how: How) -> Distribution:
        """Return the distribution at an estimate: "mle", "map", "mean" or "predictive"."""
        if how == "predictive" and not self.given:
            return self.event.predictive(self.tally)
        return self.event.fitted(self.tally, "mle" if self.given else how)

    def curve(
        self, parameter: str | None = None, grid: Floats | None = None
    ) -> curves.ParameterCurve:
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
        return curves.curve(self, parameter, grid)

    def surface(self, mean: Floats | None = None, variance: Floats | None = None) -> curves.Surface:
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
        return curves.surface(self, mean, variance)

    def plot(self, ax: Axes | None = None, sample: Sample | None = None) -> Axes:
        """Draw the fitted distributions: maximum likelihood, posterior mode or mean, predictive.

        Parameters
        ----------
        sample : sequence, optional
            The sample, which an estimate does not keep, to be drawn as bars.
        ax : Axes, optional
            What to draw on.

        Returns
        -------
        ax : Axes
        """
        return pictures.plot_fitted(self, sample, ax)

    def plot_posterior(self, ax: Axes | None = None, level: float = 0.95) -> Axes:
        """Draw prior, scaled likelihood and posterior of the one parameter, with its interval.

        Parameters
        ----------
        ax : Axes, optional
            What to draw on.
        level : float, default 0.95
            How much of the posterior the interval holds, between equal tails.

        Returns
        -------
        ax : Axes
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
        if isinstance(block, Codes):
            return [block.axis.levels[0][code] for code in block.codes[:, 0].tolist()]
        if isinstance(block, Documents):
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
