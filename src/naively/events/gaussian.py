"""Gaussian event model: a real number, with a mean and a variance for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.core.block import Dense
from naively.core.estimate import flat
from naively.core.event import EventModel, How, check_estimate, numbers
from naively.core.kernels import Floats
from naively.core.likelihood import Likelihood
from naively.core.pointwise import Pointwise
from naively.core.quadratic import Quadratic
from naively.core.statistic import PRESENT, SQUARE, VALUE
from naively.core.sums import CANCELLED, Sums
from naively.core.tally import BlockTally
from naively.events.prior import Normal, NormalInverseGamma


@dataclass(frozen=True)
class Gaussian(EventModel):
    """Real numbers: x | class ~ Normal(mean, variance), one of each per column and class.

    Parameters
    ----------
    smoothing : float, default 0.01
        Share of a variance over all classes that is added to each class's, so that none is 0. A
        class with no value in a column takes the column's mean and variance.
    floor : {"column", "largest"}, default "column"
        Whose variance that is: the column's own, which makes the model free of units, or the
        largest of all columns (scikit-learn's rule), which drowns a column of small scale.
    variance : {"class", "shared"} or float, default "class"
        One variance for each class, one for all classes (pooled within them), or a known one.
    prior : NormalInverseGamma or Normal, optional
        Instead of ``smoothing``: of the mean and variance, or, with a known variance, of the mean.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the parameters under the prior; "predictive" integrates them out (Student-t). It works
        without a prior too: a tenth of a row at the column's mean, and two rows of 0.3 of its
        variance.

    Notes
    -----
    Maximum likelihood estimates (Duda, Hart & Stork, Pattern Classification, 2001, section
    3.2.3); with a prior, Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007),
    sections 2 and 6. The variance is derived from double-double sums, so that a column at
    1e8 ± 1 has the right one.

    Examples
    --------
    >>> from naively import Gaussian, NaiveBayes
    >>> X, y = [[1.0], [3.0], [8.0], [9.0]], [0, 0, 1, 1]
    >>> nb = NaiveBayes(event_models=Gaussian(smoothing=0)).fit(X, y)
    >>> nb.predict([[2.5]])
    array([0])
    """

    smoothing: float = 0.01
    floor: str = "column"
    variance: str | float = "class"
    prior: NormalInverseGamma | Normal | None = None
    estimate: How = "mean"
    name = "gaussian"
    statistics = (PRESENT, VALUE, SQUARE)

    def __post_init__(self) -> None:
        check_estimate(self.estimate)
        if not (np.isfinite(self.smoothing) and self.smoothing >= 0):
            raise ValueError(f"Gaussian smoothing must be at least 0, got {self.smoothing}.")
        if self.floor not in ("column", "largest"):
            raise ValueError(f"Gaussian floor must be 'column' or 'largest', got {self.floor!r}.")
        known = not isinstance(self.variance, str)
        if self.variance not in ("class", "shared") and not (known and self.variance > 0):  # type: ignore[operator]
            raise ValueError(
                f"Gaussian variance must be 'class', 'shared' or a number above 0, "
                f"got {self.variance!r}."
            )
        if isinstance(self.prior, Normal) and not known:
            raise ValueError("A Normal prior is of the mean alone: give variance= a number.")
        if isinstance(self.prior, NormalInverseGamma) and self.variance != "class":
            raise ValueError("A NormalInverseGamma prior needs variance='class'.")

    @property
    def sparse(self) -> bool:
        return False

    def parameters(self, tally: BlockTally, how: How) -> dict[str, Floats]:
        if self.prior is None or how == "mle":
            mean, variance = self.moments(tally, smoothed=how != "mle")
            return {"mean": mean, "variance": variance}
        mean, _, shape, scale = self._posterior(tally)
        if isinstance(self.prior, Normal):
            return {"mean": mean, "variance": np.full_like(mean, self.variance)}
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = scale / (shape + 1.5 if how == "map" else np.maximum(shape - 1.0, 0.0))
        return {"mean": mean, "variance": variance}

    def likelihood(self, tally: BlockTally) -> Likelihood:
        if self.estimate == "predictive":
            predictive = self._predictive(tally)
            return Pointwise(
                lambda x, column: predictive(column).logpdf(x[:, None]), self._posterior(tally)[0]
            )
        parameters = self.parameters(tally, self.estimate)
        variance = parameters["variance"]
        return Quadratic(parameters["mean"], 0.5 / variance, -0.5 * np.log(2 * np.pi * variance))

    def posterior(self, tally: BlockTally) -> Any:
        """Return the posterior of the mean, or of mean and variance (a mapping)."""
        from scipy import stats

        mean, rows, shape, scale = map(flat, self._posterior(tally))
        if isinstance(self.prior, Normal):
            return stats.norm(mean, np.sqrt(scale))
        return {
            "mean": stats.t(2 * shape, mean, np.sqrt(scale / (shape * rows))),
            "variance": stats.invgamma(shape, scale=scale),
        }

    def predictive(self, tally: BlockTally) -> Any:
        return self._predictive(tally)(0)

    def n_parameters(self, tally: BlockTally) -> int:
        columns, classes = tally[VALUE].shape
        of_variance = {"class": classes, "shared": 1}.get(str(self.variance), 0)
        return columns * (classes + of_variance)

    def sample(
        self, tally: BlockTally, classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            drawn = self._predictive(tally)((slice(None), classes))
            shape = len(tally.axis), len(classes)
            return numbers(drawn.rvs(size=shape, random_state=rng).T, tally)
        parameters = self.parameters(tally, self.estimate)
        mean, variance = parameters["mean"].T[classes], parameters["variance"].T[classes]
        return numbers(rng.normal(mean, np.sqrt(variance)), tally)

    def added_variance(self, tally: BlockTally) -> Floats:
        """Return what smoothing adds to the variances, of shape (columns, 1)."""
        _, pooled = self._pooled(tally)
        largest = pooled.max(initial=0.0)
        return self.smoothing * (
            pooled if self.floor == "column" else np.full_like(pooled, largest)
        )

    def moments(self, tally: BlockTally, smoothed: bool = True) -> tuple[Floats, Floats]:
        """Return the mean and the variance, each of shape (columns, classes)."""
        n = tally[PRESENT].high
        mean, variance = _moments(tally[PRESENT], tally[VALUE], tally[SQUARE])
        pooled_mean, pooled = self._pooled(tally)
        unseen = n <= 0
        mean = np.where(unseen, pooled_mean, mean)
        if not isinstance(self.variance, str):
            return mean, np.full_like(mean, self.variance)
        if self.variance == "shared":
            within = np.where(unseen, 0.0, n * variance).sum(axis=1, keepdims=True)
            rows = n.sum(axis=1, keepdims=True)
            variance = np.tile(np.divide(within, rows, where=rows > 0, out=within), n.shape[1])
        added = self.added_variance(tally) if smoothed else np.zeros_like(pooled)
        least = CANCELLED * (pooled + pooled_mean**2)  # a smaller spread is rounding
        # A column without any: no class can differ from another, and any variance will do.
        constant = ~(pooled + added > least)
        variance = np.where(unseen, pooled, variance) + added
        return mean, np.where(constant, 1.0, np.maximum(variance, np.maximum(least, 1e-300)))

    def _pooled(self, tally: BlockTally) -> tuple[Floats, Floats]:
        """Return the mean and variance over all classes, 0 where nothing was counted."""
        pooled = _moments(*(tally[s].total(axis=1)[:, None] for s in self.statistics))
        return np.nan_to_num(pooled[0]), np.nan_to_num(pooled[1])

    def _posterior(self, tally: BlockTally) -> tuple[Floats, Floats, Floats, Floats]:
        """Return mean, rows, shape and scale of the normal-inverse-gamma posterior.

        With a known variance, scale is the variance of the mean.
        """
        prior, n = self.prior, tally[PRESENT]
        if isinstance(prior, Normal):
            assert not isinstance(self.variance, str)
            known = self.variance / prior.variance  # the prior is worth so many rows
            mean = (tally[VALUE] + Sums(known * prior.mean)) / (n + Sums(known))
            return mean.high, n.high + known, n.high, self.variance / (n.high + known)
        at, worth, shape, scale = self._prior(tally)
        # The prior's mean is so many pretend rows there: they join the sums.
        centre, pretend = Sums(np.broadcast_to(at, n.shape)), Sums(np.broadcast_to(worth, n.shape))
        rows = n + pretend
        value = tally[VALUE] + pretend * centre
        square = tally[SQUARE] + pretend * centre * centre
        mean = value / rows
        distance = np.maximum((square + -(mean * value)).high, 0.0)
        return mean.high, rows.high, shape + n.high / 2, scale + distance / 2

    def _prior(self, tally: BlockTally) -> tuple[Floats, Floats, Floats, Floats]:
        """Return mean, rows, shape and scale; by default a little of the column itself."""
        if isinstance(self.prior, NormalInverseGamma):
            given = self.prior.mean, self.prior.rows, self.prior.shape, self.prior.scale
            at, worth, shape, scale = map(np.asarray, given)
            return at, worth, shape, scale
        at, spread = _moments(*(tally[s].total(axis=1)[:, None] for s in self.statistics))
        spread = np.where(spread > CANCELLED * (spread + at**2), spread, 1.0)
        return np.nan_to_num(at), np.asarray(0.1), np.asarray(1.0), 0.3 * spread

    def _predictive(self, tally: BlockTally) -> Any:
        """Return what gives the predictive distributions of columns, one for each class."""
        from scipy import stats

        mean, rows, shape, scale = self._posterior(tally)
        if isinstance(self.prior, Normal):
            spread = np.sqrt(scale + np.float64(self.variance))
            return lambda column: stats.norm(mean[column], spread[column])
        width = np.sqrt(scale * (rows + 1) / (shape * rows))
        return lambda column: stats.t(2 * shape[column], mean[column], width[column])


def _moments(n: Sums, value: Sums, square: Sums) -> tuple[Floats, Floats]:
    """Mean and variance, their cancellation taken in double-double."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = value / n
        variance = (square / n - mean * mean).high
    return mean.high, np.maximum(variance, 0.0)
