"""What every estimator does with its model, whichever way it reads rows."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from naively import store
from naively.core.kernels import Finish, Floats
from naively.core.labels import Labels
from naively.core.tally import Tally
from naively.data.frames import TEXT
from naively.data.rows import Rows
from naively.explain import Explanation, explain
from naively.model import Model
from naively.schema import Schema


class CountingClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier that holds a frozen model: it predicts, explains, merges, forgets, decays."""

    @abstractmethod
    def _rows(self, X: Any) -> Rows:
        """Read rows to predict, or raise what is wrong with them."""

    @abstractmethod
    def _model_of(self, X: Any, y: Any, sample_weight: Any) -> Model:
        """Count more labelled rows, as the fitted model counted its own."""

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: afterwards they were never seen.

        Raises
        ------
        ValueError
            If these rows were not learned; nothing is changed then.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"])
        >>> nb.forget([[2.0]], ["a"]).class_count_
        array([1., 1.])
        """
        check_is_fitted(self)
        left = self.model_ - self._model_of(X, y, sample_weight)
        where = left.tally.negative()
        if where is not None:
            raise ValueError(f"Cannot forget rows that were not learned: too few in {where}.")
        self.keep(left)
        return self

    def merge(self, other: CountingClassifier) -> Self:
        """Add what another model has learned, as if its rows had been learned here.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> north = NaiveBayes().fit([[1.0], [3.0]], ["a", "b"])
        >>> north.merge(NaiveBayes().fit([[2.0]], ["a"])).class_count_
        array([2., 1.])
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self.keep(self.model_ + other.model_)
        return self

    def decay(self, factor: float) -> Self:
        """Scale all counts, so that what comes later weighs more.

        Parameters
        ----------
        factor : float
            Greater than 0; 0.99 takes one hundredth off.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> NaiveBayes().fit([[1.0], [3.0]], ["a", "b"]).decay(0.5).class_count_
        array([0.5, 0.5])
        """
        check_is_fitted(self)
        if not (np.isfinite(factor) and factor > 0):
            raise ValueError(f"The decay factor must be greater than 0, got {factor}.")
        self.keep(self.model_ * float(factor))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        codes = self._score(X, "label")
        return self.classes_[codes]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Floats:
        """Return the posterior p(class | row), of shape (rows, classes)."""
        return self._score(X, "posterior")  # type: ignore[no-any-return]

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the log posterior, of shape (rows, classes)."""
        return self._score(X, "log_posterior")  # type: ignore[no-any-return]

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(class) + log p(row | class), less what does not depend on the class."""
        return self._score(X, "joint")  # type: ignore[no-any-return]

    def explain(self, X: Any) -> Explanation:
        """Say why: the weight of evidence of each column, category and word.

        Returns
        -------
        explanation : Explanation
            For each row and class, items whose weights sum to the log odds of the class against
            its strongest rival.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit(["cheap pills", "lunch at noon"], ["spam", "ham"])
        >>> print(nb.explain(["cheap lunch"])[0])
        'spam' against 'ham': log odds 0.27 (probability 0.57)
           +0.83  text = cheap
           -0.56  text = lunch
           +0.00  class prior
        """
        check_is_fitted(self)
        return explain(self.model_, self._rows(X))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file (safetensors: no code in it), whole or not at all."""
        check_is_fitted(self)
        store.save(self.model_, path)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        return self._fitted.classes

    @property
    def class_count_(self) -> Floats:
        """Rows (total weight) of each class."""
        return self._fitted.tally.class_count

    @property
    def class_log_prior_(self) -> Floats:
        """Log probability of each class."""
        return self._fitted.class_log_prior

    @property
    def tally_(self) -> Tally:
        """What was counted."""
        return self._fitted.tally

    @property
    def schema_(self) -> Schema:
        """Which columns go to which event model."""
        return self._fitted.schema

    @property
    def _fitted(self) -> Model:
        try:
            return self.__dict__["model_"]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet") from None

    def keep(self, model: Model) -> None:
        """Make this frozen model the fitted one."""
        self.model_ = model
        self.n_features_in_ = model.schema.width
        names = model.schema.names
        self.__dict__.pop("feature_names_in_", None)
        if names and names != [TEXT]:
            self.feature_names_in_ = np.array(names, object)

    def _score(self, X: Any, finish: Finish) -> Any:
        check_is_fitted(self)
        return self.model_.score(self._rows(X), finish)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__


def check_some_weight(labels: Labels) -> None:
    """Raise a ValueError if there are rows and none has any weight."""
    if labels.weight is not None and len(labels) and not labels.weight.any():
        raise ValueError("There is nothing to learn: all sample weights are zero.")
