"""Gaussian and log-normal: variances by class, shared or given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import PRESENT, SQUARE, VALUE, Columns, title
from naively.counting.block import Dense
from naively.counting.tally import BlockTally
from naively.events.base import (
    INTEGRATED,
    UNSAID,
    ClassNumbers,
    Distribution,
    Formula,
    Tables,
    check_settings,
    numbers,
)
from naively.events.estimate import Estimable, Estimate, flat
from naively.events.prior import InverseGamma, Normal, NormalInverseGamma, Prior, share
from naively.events.shown import POSITIVE, REAL, Parameters, read, summed
from naively.frozen import Frozen
from naively.kernels.double_double import CANCELLED, Sums
from naively.kernels.reference import Floats, clipped
from naively.options import How
from naively.terms.kinds import FunctionTerms, QuadraticTerms, TermBlock, sum_of_cells
from naively.terms.uncertain import Uncertain, mean_of_log, variance_of_log

# --- Numbers with a normal distribution: what the Gaussian and log-normal event models share -----


class NormalNumbers(Estimable[Columns, Dense], Frozen, eq=True):
    """Numbers with a mean and a variance for each class: what such event models share."""

    smoothing: float = 1.0
    variance: str | float = "class"
    prior: NormalInverseGamma | Normal | InverseGamma | None = None
    floor: float = 0.0
    floor_of: str = "largest"
    estimate: How = UNSAID
    mean: float | None = None
    space: ClassVar = {"mean": REAL, "variance": POSITIVE}
    statistics = (PRESENT, VALUE, SQUARE)
    smoothed_by = "smoothing"
    sparse = False

    def __post_init__(self) -> None:
        """Refuse a wrong smoothing, variance, mean or floor, and a prior of other parameters."""
        check_settings(self)
        name = type(self).__name__
        for option, value in (("smoothing", self.smoothing), ("floor", self.floor)):
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"{name} {option} must be at least 0, got {value}.")
        if self.floor_of not in ("column", "largest"):
            raise ValueError(
                f"{name} floor_of must be 'column' or 'largest', got {self.floor_of!r}."
            )
        named = self.variance in ("class", "shared")
        if not named and (isinstance(self.variance, str) or not self.variance > 0):
            raise ValueError(
                f"{name} variance must be 'class', 'shared' or a number above 0, "
                f"got {self.variance!r}."
            )
        if self.mean is not None and not np.isfinite(self.mean):
            raise ValueError(f"{name} mean must be a finite number, got {self.mean}.")
        if self.mean is not None and not named:
            raise ValueError(f"{name} has nothing to estimate: mean and variance are both given.")
        if self.prior is not None:
            self._check_prior()

    @property
    def known(self) -> dict[str, float]:
        given = {"mean": self.mean, "variance": self._given_variance}
        return {name: float(of) for name, of in given.items() if of is not None}

    @property
    def free(self) -> tuple[str, ...]:
        return tuple(name for name in self.space if name not in self.known)

    @classmethod
    def of(cls, mean: float | Sequence[float], variance: float | Sequence[float]) -> Estimate:
        """Return the distribution with a given mean and variance, as an estimate.

        Parameters
        ----------
        mean, variance : float, or sequence of float
            Of a Gaussian, or of the logarithms of a log-normal; a sequence has one for each
            column.

        Examples
        --------
        >>> from naively import Gaussian
        >>> Gaussian.of(mean=170, variance=49).normal.std()
        np.float64(7.0)
        """
        at = np.atleast_1d(read(cls.__name__, "mean", mean, REAL))
        spread = np.atleast_1d(read(cls.__name__, "variance", variance, POSITIVE))
        if at.shape != spread.shape:
            raise ValueError(
                f"{cls.__name__} has {len(at)} means and {len(spread)} variances; give one of "
                "each for every column."
            )
        square = Sums(at) * Sums(at) + Sums(spread)
        sums = {PRESENT: Sums(np.ones_like(at)), VALUE: Sums(at), SQUARE: square}
        return cls(smoothing=0, estimate="mle").given(Columns(range(len(at))), sums)

    def log_likelihood_of(self, tally: BlockTally[Columns], parameters: Tables) -> Floats:
        mean, variance = (
            parameters[name] if name in parameters else np.asarray(self.known[name], np.float64)
            for name in self.space
        )
        rows, value = tally[PRESENT], tally[VALUE]
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = value / rows
            spread = (tally[SQUARE] / rows - middle * middle).high
        n = flat(rows.high)
        at, spread = (np.nan_to_num(flat(of)) for of in (middle.high, np.maximum(spread, 0.0)))
        distance = spread + (at - mean) ** 2
        return summed(-n / 2 * (np.log(2 * np.pi * variance) + distance / variance), n)

    def fitted(self, tally: BlockTally[Columns], how: How) -> Distribution:
        found = self.parameters(tally, how)
        return self._of(None, flat(found["mean"]), np.sqrt(flat(found["variance"])))

    def _of(self, shape: Parameters, mean: Parameters, width: Parameters) -> Distribution:
        """Return the distribution of Student with 2 ``shape`` degrees, or of None a normal one."""
        from scipy import stats

        return stats.norm(mean, width) if shape is None else stats.t(2 * shape, mean, width)

    def pretended(self, tally: BlockTally[Columns], how: How) -> Floats:
        return np.zeros((1, 1)) if how == "mle" else self._prior(tally)[1]

    def _check_prior(self) -> None:
        """Raise a ValueError unless the prior is of just the parameters that are unknown."""
        known_mean, known_variance = self.mean is not None, self._given_variance is not None
        match self.prior:
            case Normal() if not known_variance:
                raise ValueError("A Normal prior is of the mean alone: give variance= a number.")
            case InverseGamma() if not known_mean:
                raise ValueError(
                    "An InverseGamma prior is of the variance alone: give mean= a number."
                )
            case NormalInverseGamma() if known_variance:
                raise ValueError(
                    "A NormalInverseGamma prior needs variance='class' or variance='shared'; of "
                    "the mean alone it is Normal."
                )
            case NormalInverseGamma() if known_mean:
                raise ValueError(
                    "A NormalInverseGamma prior is of mean and variance; where the mean is given, "
                    "the prior is InverseGamma."
                )

    @property
    def by_column(self) -> bool:
        return self.floor == 0 or self.floor_of == "column"

    @property
    def _given_variance(self) -> float | None:
        """The known variance of every class, if one is given."""
        return None if isinstance(self.variance, str) else float(self.variance)

    def parameters(self, tally: BlockTally[Columns], how: How) -> dict[str, Floats]:
        """Return mean and variance, each (columns, classes): estimated, pooled or known."""
        if how == "mle":
            n = tally[PRESENT].high
            mean, variance = self._moments(*(tally[s] for s in self.statistics))
            if self.variance == "shared":
                within = np.nan_to_num(n * variance).sum(axis=1, keepdims=True)
                pooled = share(within, n.sum(axis=1, keepdims=True))
                variance = np.tile(pooled, mean.shape[1])
        else:
            mean, _, shape, scale = self._posterior(tally)
            # The mode is of the variance together with each mean that is estimated under it.
            means = 0 if self.mean is not None else self._classes_of_variance(tally)
            less = -1 - means / 2 if how == "map" else 1.0
            with np.errstate(invalid="ignore", divide="ignore"):
                variance = np.where(shape > less, scale / (shape - less), np.nan)
        if self._given_variance is not None:
            variance = np.full_like(mean, self._given_variance)
        return {"mean": mean, "variance": variance}

    def terms(self, tally: BlockTally[Columns]) -> TermBlock:
        """Return normal densities, or Student's where mean and variance are integrated out."""
        if self.estimate == "predictive":
            shape, mean, width = self._predictive(tally)

            def log_density(x: Floats, column: NDArray[np.int64]) -> Floats:
                distance = clipped((clipped(x)[:, None] - mean[column]) / width[column])
                standard = _standard(None if shape is None else shape[column])
                return np.asarray(standard.logpdf(distance), np.float64) - np.log(width[column])

            return FunctionTerms(log_density, mean, self._base)
        mean, variance = self.moments(tally)
        offset = -0.5 * np.log(2 * np.pi * variance)
        return QuadraticTerms(mean, 0.5 / variance, offset, self._base)

    def formulas(self, tally: BlockTally[Columns], column: int, x: float) -> list[Formula] | None:
        if self.estimate == "predictive":
            return None
        moments = (table[column].tolist() for table in self.moments(tally))
        return [_formula(x, *of_class) for of_class in zip(*moments, strict=True)]

    def uncertain(self, tally: BlockTally[Columns], block: Dense, least: float = 0.0) -> Uncertain:  # noqa: ARG002
        """Return the posterior mean and variance of log densities.

        Notes
        -----
        With the precision τ ~ Gamma(a, b) and the mean ~ Normal(m, 1 / (κ τ)) the log density is
        ½ log τ - ½ (√τ (x - m) - z / √κ)² - ½ log 2π, with z ~ Normal(0, 1) independent of τ, and
        the covariance of τ and log τ is 1 / b. A mean that is known has an infinite κ, and a
        variance that is known an infinite a.
        """
        if self.estimate == "predictive":
            raise self._unsure(tally, INTEGRATED)
        at, pretend, a, b = self._posterior(tally)
        pooled_mean, pooled = self._pooled(tally)
        row, column, x = block.entries()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            unsure = 1 / (tally[PRESENT].high + pretend)  # 1 / κ
            if self.mean is not None:
                unsure = np.zeros_like(unsure)
            if self._given_variance is not None:
                a, b = np.full_like(unsure, np.inf), np.full_like(unsure, self._given_variance)
                inner, log_precision, of_log = 1 / b, -np.log(b), np.zeros_like(b)
            else:
                b = np.maximum(b, a * np.maximum(self._least(tally), 1e-300))
                b = b + a * self.added_variance(tally)
                inner, log_precision = a / b, mean_of_log(a) - np.log(b)
                of_log = variance_of_log(a)
            square = (clipped(x)[:, None] - np.where(np.isnan(at), pooled_mean, at)[column]) ** 2
            u, unsure, a = square * inner[column], unsure[column], a[column]
            mean = 0.5 * (log_precision[column] - u - unsure - np.log(2 * np.pi))
            variance = u * unsure + unsure**2 / 2
            together = None
            if self.variance == "shared":  # what log τ adds is the same for all classes
                together = u / (2 * np.sqrt(a))
            else:
                variance += of_log[column] / 4 + u * (u / 2 - 1) / (2 * a)
            # In a constant column no class differs from another.
            spread = np.maximum(pooled, (1 / inner).max(axis=1, keepdims=True))
            varies = (spread > self._least(tally))[column]
        mean, variance = np.where(varies, mean, 0.0), np.where(varies, variance, 0.0)
        return Uncertain(row, column, mean, variance, together=together)

    def prior_of(self, tally: BlockTally[Columns]) -> Prior | None:
        if self.prior is not None or self.smoothing == 0:
            return self.prior
        return self._as_prior(*self._prior(tally))

    def updated(self, tally: BlockTally[Columns]) -> Prior | None:
        """Return the posterior of the first column as the prior of the next sample."""
        mean, pretend, shape, scale = self._posterior(tally)
        return self._as_prior(mean, tally[PRESENT].high + pretend, shape, scale)

    def _as_prior(self, *of: Floats) -> Prior | None:
        """Return a prior of the first column and class from mean, rows, shape and scale."""
        mean, rows, shape, scale = (float(each.ravel()[0]) for each in of)
        if self._given_variance is not None:
            return Normal(mean, self._given_variance / rows) if rows > 0 else None
        if not scale > 0:
            return None
        if self.mean is not None:
            return InverseGamma(shape, scale)
        return NormalInverseGamma(mean, rows, shape, scale) if rows > 0 else None

    def posterior(self, tally: BlockTally[Columns]) -> Distribution:
        """Return the posterior of mean or variance, or of both (a mapping)."""
        from scipy import stats

        mean, pretend, shape, scale = map(flat, self._posterior(tally))
        rows = flat(tally[PRESENT].high) + pretend
        if self._given_variance is not None:
            return stats.norm(mean, np.sqrt(self._given_variance / rows))
        of_variance = stats.invgamma(shape, scale=scale)
        if self.mean is not None:
            return of_variance
        of_mean = stats.t(2 * shape, mean, np.sqrt(scale / (shape * rows)))
        return {"mean": of_mean, "variance": of_variance}

    def predictive(self, tally: BlockTally[Columns]) -> Distribution:
        shape, mean, width = self._predictive(tally)
        return self._of(None if shape is None else shape[0, 0], mean[0, 0], width[0, 0])

    @property
    def _base(self) -> Callable[[Dense], Floats] | None:
        """The log base measure of rows, if it is not 0."""
        return None

    def _drawn(self, values: Floats) -> Floats:
        """Return the numbers of which these normal ones are the transformed."""
        return values

    def n_parameters(self, tally: BlockTally[Columns]) -> int:
        columns, classes = tally[VALUE].shape
        of_variance = {"class": classes, "shared": 1}.get(str(self.variance), 0)
        return columns * (of_variance + (classes if self.mean is None else 0))

    def sample(
        self, tally: BlockTally[Columns], classes: ClassNumbers, rng: np.random.Generator
    ) -> Dense:
        if self.estimate == "predictive":
            shape, mean, width = self._predictive(tally)
            standard = _standard(None if shape is None else shape[:, classes])
            size = len(tally.axis), len(classes)
            drawn = standard.rvs(size=size, random_state=rng) * width[:, classes]
            return numbers(self._drawn((mean[:, classes] + drawn).T), tally)
        mean, variance = (table.T[classes] for table in self.moments(tally))
        return numbers(self._drawn(rng.normal(mean, np.sqrt(variance))), tally)

    def added_variance(self, tally: BlockTally[Columns]) -> Floats:
        """Return what ``floor`` adds to the variances, of shape (columns, 1)."""
        _, pooled = self._pooled(tally)
        largest = np.full_like(pooled, pooled.max(initial=0.0))
        return self.floor * (pooled if self.floor_of == "column" else largest)

    def moments(self, tally: BlockTally[Columns]) -> tuple[Floats, Floats]:
        """Return the mean and variance that are scored with, each of shape (columns, classes)."""
        # They are the estimate that is set, but finite: a class with no value in a column has the
        # column's mean and variance, and a variance is larger than rounding.
        found = self.parameters(tally, self.estimate)
        pooled_mean, pooled = self._pooled(tally)
        unseen = (tally[PRESENT].high <= 0) & (self.prior is None)
        mean = np.where(unseen | np.isnan(found["mean"]), pooled_mean, found["mean"])
        free = unseen & (self.variance == "class")
        variance = np.where(free | np.isnan(found["variance"]), pooled, found["variance"])
        variance = variance + self.added_variance(tally)
        least = self._least(tally)
        # In a constant column no class differs from another, so that any variance will do.
        constant = ~(np.maximum(pooled, variance.max(axis=1, keepdims=True)) > least)
        return mean, np.where(constant, 1.0, np.maximum(variance, np.maximum(least, 1e-300)))

    def _least(self, tally: BlockTally[Columns]) -> Floats:
        """Return the variance below which it is rounding, of shape (columns, 1)."""
        mean, variance = self._pooled(tally)
        return CANCELLED * (variance + mean**2)

    def _pooled(self, tally: BlockTally[Columns]) -> tuple[Floats, Floats]:
        """Return mean and variance over all classes, (columns, 1); 0 where nothing was counted."""
        sums = (tally[s].total(axis=1)[:, None] for s in self.statistics)
        mean, variance = self._moments(*sums)
        return np.nan_to_num(mean), np.nan_to_num(variance)

    def _classes_of_variance(self, tally: BlockTally[Columns]) -> int:
        """Return how many classes have one variance together."""
        return int(tally[VALUE].shape[1]) if self.variance == "shared" else 1

    def _posterior(self, tally: BlockTally[Columns]) -> tuple[Floats, Floats, Floats, Floats]:
        """Return mean, pretend rows, shape and scale of the posterior, each (columns, classes)."""
        # A shared variance has the same shape and scale in all classes, from the squares of all.
        at, worth, shape, scale = self._prior(tally)
        # The prior's mean is worth so many pretend rows at it, which join the sums.
        n = tally[PRESENT]
        centre, pretend = Sums(np.broadcast_to(at, n.shape)), Sums(np.broadcast_to(worth, n.shape))
        rows = n + pretend
        value = tally[VALUE] + pretend * centre
        square = tally[SQUARE] + pretend * centre * centre
        mean, distance = self._mean_and_distance(rows, value, square)
        distance = np.where(rows.high > 0, np.maximum(distance, 0.0), 0.0)
        counted = n.high
        if self.variance == "shared":
            of_all = [of.sum(axis=1, keepdims=True) for of in (counted, distance)]
            counted, distance = (np.broadcast_to(of, n.shape) for of in of_all)
        return mean, pretend.high, shape + counted / 2, scale + distance / 2

    def _prior(self, tally: BlockTally[Columns]) -> tuple[Floats, Floats, Floats, Floats]:
        """Return mean, rows, shape and scale of the prior, each of shape (columns, 1)."""
        none = np.zeros((len(tally.axis), 1))
        if self.prior is not None:
            at, worth, shape, scale = self.prior.pretend(self._given_variance)
            return none + at, none + worth, none + shape, none + scale
        mean, variance = self._pooled(tally)
        # So that the mean of the prior's variance is the column's; each class has pretend rows.
        half = self._classes_of_variance(tally) * self.smoothing / 2
        return mean, none + self.smoothing, none + 1.0 + half, half * variance

    def _predictive(self, tally: BlockTally[Columns]) -> tuple[Floats | None, Floats, Floats]:
        """Return degrees of freedom / 2 (None: normal), location, scale, (columns, classes)."""
        mean, pretend, shape, scale = self._posterior(tally)
        rows = tally[PRESENT].high + pretend
        pooled_mean, pooled = self._pooled(tally)
        mean = np.where(np.isnan(mean), pooled_mean, mean)
        n = tally[PRESENT].total(axis=1).high[:, None]
        # Without real or pretend rows, a class is as all are.
        none = (rows <= 0) & (self.prior is None)
        if self.variance != "shared":
            shape, scale = np.where(none, 1 + n / 2, shape), np.where(none, n / 2 * pooled, scale)
        rows = np.where(none, np.maximum(n, 1e-12), rows)
        if self._given_variance is not None:
            return None, mean, np.sqrt(self._given_variance) * np.sqrt(1 + 1 / rows)
        least = self._least(tally)
        scale = np.maximum(scale, np.where(pooled > least, np.maximum(least, 1e-300), 1.0))
        unsure = np.ones_like(mean) if self.mean is not None else (rows + 1) / rows
        return shape, mean, np.sqrt(scale / shape) * np.sqrt(unsure)

    def _moments(self, n: Sums, value: Sums, square: Sums) -> tuple[Floats, Floats]:
        """Return mean and variance, in the shape of the sums; around the mean that is known."""
        mean, distance = self._mean_and_distance(n, value, square)
        with np.errstate(invalid="ignore", divide="ignore"):
            return mean, np.maximum(distance / n.high, 0.0)

    def _mean_and_distance(self, n: Sums, value: Sums, square: Sums) -> tuple[Floats, Floats]:
        """Return the mean, and the sum of squared distances to it, in the shape of the sums."""
        # It is subtracted in double-double.
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.mean is None:
                mean = value / n
                return mean.high, (square + -(mean * value)).high
            known = Sums(np.full(n.shape, float(self.mean)))
            beyond = value + -(n * known)
            return known.high, (square + -(value * known) + -(beyond * known)).high


def _formula(x: float, mean: float, variance: float) -> Formula:
    """Return the normal density of x; of a log-normal x is a logarithm, and 1/x is left out."""
    at, spread = f"{x:.6g}", f"{variance:.6g}"
    away = f"{at} + {-mean:.6g}" if mean < 0 else f"{at} - {mean:.6g}"
    return Formula(
        f"1/√(2π·{spread}) · exp(-({away})²/(2·{spread}))",
        rf"\frac{{1}}{{\sqrt{{2\pi \cdot {spread}}}}}\,"
        rf"e^{{-\frac{{({away})^2}}{{2 \cdot {spread}}}}}",
    )


def _standard(shape: Floats | None) -> Distribution:
    """Return Student's distribution, or the normal one if ``shape`` is None, of scale 1 at 0."""
    from scipy import stats

    return stats.norm() if shape is None else stats.t(2 * shape)


# --- Gaussian and log-normal event models: numbers with a mean and a variance for each class -----


@final
class Gaussian(NormalNumbers):
    """Real numbers: x | class ~ Normal(mean, variance), one of each per column and class.

    Parameters
    ----------
    smoothing : float, default 1.0
        Pretend rows in each class, with the column's mean and variance over all classes; 0 is
        maximum likelihood. They are a normal-inverse-gamma prior with that mean, as many rows,
        the shape 1 + smoothing / 2 and the scale smoothing / 2 times that variance: the posterior
        mean of the variance is the variance of real and pretend rows together.
    variance : {"class", "shared"} or float, default "class"
        One variance for each class, one for all classes (pooled within them), or a known one.
    prior : NormalInverseGamma, Normal or InverseGamma, optional
        Instead of ``smoothing``: of the mean and variance (of each class's mean and the one
        variance, if it is shared), with a known variance of the mean, or with a known mean of
        the variance.
    floor : float, default 0.0
        Share of a variance over all classes that is added to the variances when rows are scored,
        unless they are integrated out.
    floor_of : {"largest", "column"}, default "largest"
        Which variance: the largest of all columns, which is scikit-learn's rule and depends on the
        units of columns, or each column's own.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the parameters under the prior; the mode is that of mean and variance together;
        "predictive" integrates them out (Student-t). What is undefined (maximum likelihood from
        nothing) is NaN. When rows are scored without a ``prior``, a class with no value in a
        column takes the column's mean and variance.
    mean : float, optional
        A known mean, the same for every class: the variance alone is estimated.

    Notes
    -----
    Maximum likelihood estimates (Duda, Hart & Stork, Pattern Classification, 2001, section 3.2.3);
    with a prior, Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007), sections
    2, 4 and 6. The variance is derived from double-double sums, so it is right for a column at 1e8
    ± 1.

    Examples
    --------
    >>> from naively import Gaussian, NaiveBayes
    >>> X, y = [[1.0], [3.0], [8.0], [9.0]], [0, 0, 1, 1]
    >>> nb = NaiveBayes(event_models=Gaussian(smoothing=0)).fit(X, y)
    >>> nb.predict([[2.5]])
    array([0])
    >>> Gaussian(smoothing=0).fit([5.0, 5.0, 5.0]).mle
    {'mean': 5.0, 'variance': 0.0}
    """

    name = "gaussian"


@final
class LogNormal(NormalNumbers):
    """Positive numbers: log x | class ~ Normal(mean, variance).

    Parameters
    ----------
    smoothing, variance, prior, floor, floor_of, estimate, mean
        As for ``Gaussian``, of the logarithms.

    Notes
    -----
    Aitchison & Brown, The Lognormal Distribution (1957). Zero and negative numbers are an error:
    they have no logarithm. For a plain sample, the predictive is that of the next logarithm.

    Examples
    --------
    >>> from naively import LogNormal, NaiveBayes
    >>> pay = {"pay": [20e3, 25e3, 30e3, 90e3, 250e3, 110e3]}
    >>> nb = NaiveBayes(event_models=LogNormal()).fit(pay, ["staff"] * 3 + ["board"] * 3)
    >>> nb.predict({"pay": [28e3, 500e3]})
    array(['staff', 'board'], dtype='<U5')
    """

    name = "lognormal"
    support = "positive"
    of_logarithms = True

    def prepare(self, block: Dense) -> Dense:
        if (name := _first_column(block, block.values <= 0)) is not None:
            raise ValueError(f"LogNormal needs numbers above 0, but column {name!r} has others.")
        return Dense(np.log(np.asarray(block.values, np.float64)), block.axis)

    def fitted(self, tally: BlockTally[Columns], how: How) -> Distribution:
        from scipy import stats

        found = self.parameters(tally, how)
        return stats.lognorm(np.sqrt(flat(found["variance"])), scale=np.exp(flat(found["mean"])))

    def _drawn(self, values: Floats) -> Floats:
        return np.exp(values)

    @property
    def _base(self) -> Callable[[Dense], Floats]:
        # The sum of -log x over each row: log |d log x / dx|, the Jacobian.
        return lambda block: sum_of_cells(np.negative, block)


def _first_column(block: Dense, wrong: NDArray[np.bool_]) -> str | None:
    """Return the name of the first column with a wrong number, by cell; None if all are right."""
    columns = np.flatnonzero(wrong.any(axis=0))
    return title(block.axis.columns[int(columns[0])]) if len(columns) else None


# --- Logit-normal event model: numbers between two bounds ----------------------------------------


@final
class LogitNormal(NormalNumbers):
    """Numbers between two bounds: logit((x - low) / (high - low)) | class ~ Normal(mean, variance).

    It suits shares, ratings and points of 100: a Gaussian has probability outside the bounds.

    Parameters
    ----------
    smoothing, variance, prior, floor, floor_of, estimate, mean
        As for ``Gaussian``, of the logits (log odds).
    low, high : float, default 0.0 and 1.0
        The bounds; every number must be between them, and not one of them.

    Notes
    -----
    Atchison & Shen, Logistic-normal distributions: some properties and uses (Biometrika, 1980). A
    model with such a column is not exported to SQL, ONNX or a scorecard.

    Examples
    --------
    >>> from naively import LogitNormal
    >>> ratings = LogitNormal(smoothing=0, low=0, high=100).fit([35, 42, 58, 71])
    >>> float(ratings.fitted.cdf(0)), float(ratings.fitted.sf(100))
    (0.0, 0.0)
    """

    low: float = 0.0
    high: float = 1.0
    name = "logitnormal"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise ValueError(
                f"LogitNormal low must be below high, got {self.low!r} and {self.high!r}."
            )

    def prepare(self, block: Dense) -> Dense:
        x = np.asarray(block.values, np.float64)
        if (name := _first_column(block, (x <= self.low) | (x >= self.high))) is not None:
            raise ValueError(
                f"LogitNormal needs numbers between {self.low:g} and {self.high:g}, but column "
                f"{name!r} has others; give low= and high= beyond them."
            )
        return Dense(np.log(x - self.low) - np.log(self.high - x), block.axis)

    def _of(self, shape: Parameters, mean: Parameters, width: Parameters) -> Distribution:
        freedom = np.inf if shape is None else 2 * shape
        ends = {"loc": self.low, "scale": self.high - self.low}
        return _of_logits()(freedom, mean, width, **ends)

    def _drawn(self, values: Floats) -> Floats:
        share = 1 / (1 + np.exp(-clipped(values)))
        within = np.nextafter(self.low, self.high), np.nextafter(self.high, self.low)
        return np.clip(self.low + (self.high - self.low) * share, *within)

    @property
    def _base(self) -> Callable[[Dense], Floats]:
        wide = np.log(self.high - self.low)
        return lambda block: sum_of_cells(
            lambda z: np.logaddexp(0, z) + np.logaddexp(0, -z) - wide, block
        )


@cache
def _of_logits() -> Any:
    """Return the family of shares whose logits have Student's distribution, as SciPy has such."""
    from scipy import special, stats

    class OfLogits(stats.rv_continuous):
        """What follows x are the freedom, mean and width of the logits."""

        def _argcheck(self, *of: Any) -> Any:
            freedom, mean, width = of
            return (freedom > 0) & np.isfinite(mean) & (width > 0)

        def _pdf(self, x: Any, *of: Any) -> Any:
            with np.errstate(divide="ignore", invalid="ignore"):
                density = stats.t.pdf(special.logit(x), *of) / (x * (1 - x))
            return np.where((x > 0) & (x < 1), density, 0.0)

        def _cdf(self, x: Any, *of: Any) -> Any:
            return stats.t.cdf(special.logit(x), *of)

        def _ppf(self, q: Any, *of: Any) -> Any:
            return special.expit(stats.t.ppf(q, *of))

    return OfLogits(a=0.0, b=1.0, name="logit-normal", shapes="freedom, mean, width")
