"""GaussianNB, as in scikit-learn: each attribute is derived from the tally."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from naively.counting.labels import LabelArray
from naively.estimators.checks import ARRAY, NONE, NOT_NEGATIVE, Allowed, words
from naively.estimators.drop_in import Array, DropIn, class_prior_of
from naively.events import Gaussian
from naively.kernels.reference import Floats
from naively.schema.settings import ClassPrior

OF_COLUMN = 0.01  # the share of a column's own variance


class GaussianNB(DropIn[Gaussian]):
    """Gaussian naive Bayes, a drop-in for scikit-learn's.

    Parameters
    ----------
    priors : array-like of shape (classes,), optional
        Class probabilities; from the data by default.
    var_smoothing : float or "column", default 1e-9
        Share of the largest variance of all columns that is added to every variance. "column"
        adds to each a hundredth of its own column's, which drowns no column of small scale.

    Attributes
    ----------
    theta_, var_ : ndarray of shape (classes, columns)
        Mean and variance; a class without rows yet takes those of all rows.
    epsilon_ : float, or ndarray of shape (columns,)
        What was added to the variances.
    class_prior_, class_count_, classes_ : ndarray of shape (classes,)
        Probability, rows (total weight) and label of each class.

    Notes
    -----
    The smoothing is applied when parameters are derived from the tally, and it follows all rows
    and their weights: neither batches nor their order show, which they do in scikit-learn.

    Examples
    --------
    >>> from naively import GaussianNB
    >>> nb = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> nb.theta_
    array([[8.5],
           [1.5]])
    """

    allowed: ClassVar[Allowed] = {
        "priors": [ARRAY, NONE],
        "var_smoothing": [NOT_NEGATIVE, *words("column")],
    }

    def __init__(self, *, priors: Array | None = None, var_smoothing: float | str = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @property
    def theta_(self) -> Floats:
        """Mean of each column in each class."""
        return self._counted_as.moments(self._block)[0].T

    @property
    def var_(self) -> Floats:
        """Variance of each column in each class, smoothed."""
        return self._counted_as.moments(self._block)[1].T

    @property
    def epsilon_(self) -> float | Floats:
        """What was added to the variances."""
        added = self._counted_as.added_variance(self._block)[:, 0]
        return added if self._counted_as.floor_of == "column" else float(added[0])

    @property
    def class_prior_(self) -> Floats:
        """Probability of each class before anything is seen."""
        prior: Floats = np.exp(self.class_log_prior_)
        return prior

    def _event(self) -> Gaussian:
        if self.var_smoothing == "column":
            return Gaussian(smoothing=0, floor=OF_COLUMN, floor_of="column")
        return Gaussian(smoothing=0, floor=float(self.var_smoothing))

    def _class_prior(self, classes: LabelArray) -> ClassPrior:
        if self.priors is not None and len(self.priors) == len(classes):
            priors = np.asarray(self.priors, np.float64)
            if not np.isclose(priors.sum(), 1.0):
                raise ValueError("The sum of the priors should be 1.")
            if (priors < 0).any():
                raise ValueError("Priors must be non-negative.")
        return class_prior_of(self.priors, classes)
