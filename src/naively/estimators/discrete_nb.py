"""BernoulliNB, MultinomialNB and ComplementNB, as in scikit-learn.

Their constructors, attributes and results are scikit-learn's; each is an event model with its
settings, and every attribute is derived from the tally.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike

from naively.counting.labels import LabelArray
from naively.counting.statistic import VALUE
from naively.data.frames import Table
from naively.data.rows import Rows, SparseRows
from naively.estimators.checks import BOOLEAN, NONE, NOT_NEGATIVE, Allowed
from naively.estimators.drop_in import ALPHA, Array, E, Smoothed
from naively.events import Bernoulli, Complement, Multinomial
from naively.kernels.reference import Floats
from naively.schema.settings import ClassPrior, Settings


class Summed(Smoothed[E]):
    """A drop-in that counts the sum of each column."""

    takes: ClassVar[tuple[str, ...]] = ("sparse", "positive_only")

    @property
    def feature_count_(self) -> Floats:
        """Sum of each column (of truths how many are true) over the rows of each class."""
        return self._block[VALUE].high.T


class BernoulliNB(Summed[Bernoulli]):
    """Bernoulli naive Bayes for truths, a drop-in for scikit-learn's.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As for ``MultinomialNB``; alpha is the pretend count of each of the two outcomes.
    binarize : float or None, default 0.0
        A number above it is true; None if all are between 0 and 1 already.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : ndarray of shape (classes, columns)
        How many are true, and the log probability that one is, smoothed by alpha.
    class_count_, class_log_prior_, classes_ : ndarray of shape (classes,)
        Rows (total weight), log probability and label of each class.

    Examples
    --------
    >>> from naively import BernoulliNB
    >>> nb = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> nb.feature_count_
    array([[2., 1.],
           [0., 1.]])
    """

    allowed: ClassVar[Allowed] = {
        **ALPHA,
        "binarize": [NOT_NEGATIVE, NONE],
    }
    takes = ("sparse",)

    def __init__(
        self,
        *,
        alpha: float | Array = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Array | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior
        )
        self.binarize = binarize

    @property
    def feature_log_prob_(self) -> Floats:
        """Log probability that a column is true in each class."""
        event = self._counted_as
        with np.errstate(divide="ignore"):
            log_p = np.log(event.parameters(self._block, event.estimate)["p"])
        return log_p.T

    def _taken(self, X: Table, *, reset: bool = False) -> Rows | None:
        """Return rows as any drop-in does, if their sum is finite: that of truths does not tell."""
        rows = super()._taken(X, reset=reset)
        cells = X.data if isinstance(rows, SparseRows) else X
        with np.errstate(over="ignore", invalid="ignore"):
            return rows if rows is not None and np.isfinite(cells.sum()) else None

    def _event(self) -> Bernoulli:
        return Bernoulli(alpha=self._check_alpha(), threshold=self.binarize)


class MultinomialNB(Summed[Multinomial]):
    """Multinomial naive Bayes for counts, a drop-in for scikit-learn's.

    Parameters
    ----------
    alpha : float or array-like of shape (columns,), default 1.0
        Pretend count of each column in each class; 0 is maximum likelihood.
    force_alpha : bool, default True
        Take an alpha below 1e-10 as it is.
    fit_prior : bool, default True
        Class probabilities from the data, rather than all equal.
    class_prior : array-like of shape (classes,), optional
        Class probabilities.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : ndarray of shape (classes, columns)
        Counts, and log probabilities smoothed by alpha.
    class_count_, class_log_prior_, classes_ : ndarray of shape (classes,)
        Rows (total weight), log probability and label of each class.

    Examples
    --------
    >>> from naively import MultinomialNB
    >>> nb = MultinomialNB().fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> nb.feature_count_
    array([[5., 1.],
           [0., 4.]])
    """

    @property
    def feature_log_prob_(self) -> Floats:
        """Log probability of each column in each class."""
        event = self._counted_as
        return event.log_probabilities(self._block, event.estimate).T

    def _event(self) -> Multinomial:
        return Multinomial(alpha=self._check_alpha())


class ComplementNB(Summed[Complement]):
    """Complement naive Bayes (Rennie et al., 2003), a drop-in for scikit-learn's.

    Parameters
    ----------
    alpha, force_alpha
        As for ``MultinomialNB``.
    fit_prior, class_prior
        Shown in ``class_log_prior_`` and not used, as in scikit-learn; the ``Complement`` event
        model of ``NaiveBayes`` honours its class prior.
    norm : bool, default False
        Divide each class's weights by their sum.

    Attributes
    ----------
    feature_count_, feature_log_prob_ : ndarray of shape (classes, columns)
        Counts, and the weights of the complement of each class.
    feature_all_ : ndarray of shape (columns,)
        Counts over all classes.
    class_count_, class_log_prior_, classes_ : ndarray of shape (classes,)
        Rows (total weight), log probability and label of each class.

    Examples
    --------
    >>> from naively import ComplementNB
    >>> nb = ComplementNB().fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> nb.predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    allowed: ClassVar[Allowed] = {
        **ALPHA,
        "norm": [BOOLEAN],
    }

    def __init__(
        self,
        *,
        alpha: float | Array = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Array | None = None,
        norm: bool = False,
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior
        )
        self.norm = norm

    @property
    def feature_log_prob_(self) -> Floats:
        """Weight of the complement of each column in each class."""
        event = self._counted_as
        return event.log_probabilities(self._block, event.estimate).T

    @property
    def feature_all_(self) -> Floats:
        """Sum of each column over all rows."""
        total: Floats = self.feature_count_.sum(axis=0)
        return total

    @property
    def class_log_prior_(self) -> Floats:
        """Log probability of each class, which the scores leave out."""
        settings = Settings(super()._class_prior(self.classes_))
        return replace(self._fitted, settings=settings).class_log_prior

    def predict_joint_log_proba(self, X: Table, *, dtype: DTypeLike = np.float64) -> Floats:
        """Return the sum of the weights of each class, without a class prior."""
        found = super().predict_joint_log_proba(X, dtype=dtype)
        return found + float(np.log(len(self.classes_)))

    def _event(self) -> Complement:
        return Complement(alpha=self._check_alpha(), norm=self.norm)

    def _class_prior(self, classes: LabelArray) -> ClassPrior:
        super()._class_prior(classes)  # it is checked, and not used
        return "uniform"
