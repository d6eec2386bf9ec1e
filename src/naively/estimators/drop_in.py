"""GaussianNB, BernoulliNB, MultinomialNB and ComplementNB, as in scikit-learn.

Their constructors, attributes and results are scikit-learn's; each is an event model with its
settings, and every attribute is derived from the tally.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naively.counting.statistic import VALUE
from naively.estimators.checks import ARRAY, BOOLEAN, NONE, NOT_NEGATIVE, Allowed, words
from naively.estimators.preset import DiscretePreset, Preset
from naively.events import Bernoulli, Complement, Gaussian, Multinomial
from naively.kernels.reference import Floats
from naively.schema.settings import ClassPrior, Settings

OF_COLUMN = 0.01  # the share of a column's own variance


class GaussianNB(Preset):
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

    def __init__(self, *, priors: Any = None, var_smoothing: float | str = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    @property
    def theta_(self) -> Floats:
        """Mean of each column in each class."""
        mean: Floats = self._counted_as.moments(self._block)[0]
        return mean.T

    @property
    def var_(self) -> Floats:
        """Variance of each column in each class, smoothed."""
        variance: Floats = self._counted_as.moments(self._block)[1]
        return variance.T

    @property
    def epsilon_(self) -> float | Floats:
        """What was added to the variances."""
        added: Floats = self._counted_as.added_variance(self._block)[:, 0]
        return added if self._counted_as.floor_of == "column" else float(added[0])

    @property
    def class_prior_(self) -> Floats:
        """Probability of each class before anything is seen."""
        prior: Floats = np.exp(self.class_log_prior_)
        return prior

    def _event(self) -> Gaussian:
        if isinstance(self.var_smoothing, str):
            return Gaussian(smoothing=0, floor=OF_COLUMN, floor_of="column")
        return Gaussian(smoothing=0, floor=float(self.var_smoothing))

    def _class_prior(self, classes: NDArray[Any]) -> ClassPrior:
        if self.priors is None:
            return "data"
        priors = np.asarray(self.priors, np.float64)
        if len(priors) != len(classes):
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return tuple(priors.tolist())


class BernoulliNB(DiscretePreset):
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
        **DiscretePreset.allowed,
        "binarize": [NOT_NEGATIVE, NONE],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def feature_count_(self) -> Floats:
        """How often each column is true in each class."""
        return self._block[VALUE].high.T

    @property
    def feature_log_prob_(self) -> Floats:
        """Log probability that a column is true in each class."""
        event = self._counted_as
        with np.errstate(divide="ignore"):
            log_p: Floats = np.log(event.parameters(self._block, event.estimate)["p"])
            return log_p.T

    def _event(self) -> Bernoulli:
        return Bernoulli(alpha=self._check_alpha(), threshold=self.binarize)  # type: ignore[arg-type]


class CountPreset(DiscretePreset):
    """What MultinomialNB and ComplementNB share."""

    @property
    def feature_count_(self) -> Floats:
        """Sum of each column over the rows of each class."""
        return self._block[VALUE].high.T

    @property
    def feature_log_prob_(self) -> Floats:
        """Log probability, or weight, of each column in each class."""
        event = self._counted_as
        log_probability: Floats = event.log_probabilities(self._block, event.estimate)
        return log_probability.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class MultinomialNB(CountPreset):
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

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _event(self) -> Multinomial:
        return Multinomial(alpha=self._check_alpha())  # type: ignore[arg-type]


class ComplementNB(CountPreset):
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
        **DiscretePreset.allowed,
        "norm": [BOOLEAN],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

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

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return the sum of the weights of each class, without a class prior."""
        joint: Floats = super().predict_joint_log_proba(X) + np.log(len(self.classes_))
        return joint

    def _event(self) -> Complement:
        return Complement(alpha=self._check_alpha(), norm=self.norm)  # type: ignore[arg-type]

    def _class_prior(self, classes: NDArray[Any]) -> ClassPrior:
        super()._class_prior(classes)  # it is checked although it is not used
        return "uniform"
