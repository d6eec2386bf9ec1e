"""Gaussian and log-normal event models: numbers with a mean and a variance for each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from naively.counting.axis import Columns, title
from naively.counting.block import Dense
from naively.counting.tally import BlockTally
from naively.events.normal import NormalNumbers
from naively.kernels.reference import Floats
from naively.likelihoods.base import sum_of_cells


@final
@dataclass(frozen=True)
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
        Whose variance: the largest of all columns, which is scikit-learn's rule and depends on the
        columns' units, or each column's own.
    estimate : {"mean", "map", "mle", "predictive"}
        Of the parameters under the prior; the mode is that of mean and variance together;
        "predictive" integrates them out (Student-t). What is undefined (maximum likelihood from
        nothing) is NaN. When rows are scored without a ``prior``, a class with no value in a
        column takes the column's mean and variance.
    mean : float, optional
        A known mean, the same for every class: the variance alone is estimated.

    Notes
    -----
    Maximum likelihood estimates (Duda, Hart & Stork, Pattern Classification, 2001, section
    3.2.3); with a prior, Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007),
    sections 2, 4 and 6. The variance is derived from double-double sums, so that a column at
    1e8 ± 1 has the right one.

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
@dataclass(frozen=True)
class LogNormal(NormalNumbers):
    """Positive numbers: log x | class ~ Normal(mean, variance).

    Parameters
    ----------
    smoothing, variance, prior, floor, floor_of, estimate, mean
        As for ``Gaussian``, of the logarithms.

    Notes
    -----
    Aitchison & Brown, The Lognormal Distribution (1957). Zero and negative numbers are an error:
    they have no logarithm. Of a plain sample, the predictive is that of the next logarithm.

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
        wrong = (block.values <= 0).any(axis=0)
        if wrong.any():
            name = title(block.axis.columns[int(np.flatnonzero(wrong)[0])])
            raise ValueError(f"LogNormal needs numbers above 0, but column {name!r} has others.")
        return Dense(np.log(np.asarray(block.values, np.float64)), block.axis)

    def sample(
        self, tally: BlockTally[Columns], classes: NDArray[np.integer], rng: np.random.Generator
    ) -> Dense:
        drawn = super().sample(tally, classes, rng)
        return Dense(np.exp(drawn.values), drawn.axis)

    @property
    def _base(self) -> Callable[[Dense], Floats]:
        return _log_jacobian


def _log_jacobian(block: Dense) -> Floats:
    """Return the sum of -log x over each row, (rows,): log |d log x / dx|, the Jacobian."""
    return sum_of_cells(np.negative, block)
