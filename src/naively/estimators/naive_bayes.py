"""NaiveBayes: scikit-learn's face of the model, for any rows."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from naively import store
from naively.core.event import How
from naively.core.kernels import Finish, Floats
from naively.core.labels import Labels, encode_labels
from naively.core.tally import Tally
from naively.data.frames import TEXT, as_rows
from naively.data.rows import Rows
from naively.explain import Explanation, explain
from naively.model import ClassPrior, Model, Settings
from naively.schema import EventModels, Schema


class NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes for any rows: numbers, categories, booleans, texts, missing cells.

    It learns in one pass by counting, and can merge, forget and decay what it has learned.

    Parameters
    ----------
    event_models : "auto", str, EventModel or mapping, default "auto"
        How columns are generated, given the class. "auto" chooses by column: numbers are
        Gaussian, booleans Bernoulli, strings categorical or texts (four words or more on average,
        mostly distinct), texts and sparse matrices multinomial. A name ("gaussian", "bernoulli",
        "categorical", "multinomial", "text") or an event model is for all columns, a mapping from
        column to either for those it names.
    class_prior : "data", "uniform", sequence or mapping, default "data"
        Probability of each class before anything is seen: as counted, all equal, or given in the
        order of the sorted classes or by label.
    estimate : {"mean", "map", "mle", "predictive"}, default "mean"
        How parameters are estimated, by event models that are not given as objects: posterior
        mean, posterior mode, maximum likelihood, or integrated out.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        The class labels.
    class_count_ : ndarray of shape (classes,)
        Rows (total weight) of each class.
    class_log_prior_ : ndarray of shape (classes,)
        Log probability of each class.
    tally_ : Tally
        What was counted.
    schema_ : Schema
        Which columns go to which event model.
    model_ : Model
        The frozen model: schema, tally and settings.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where the table had any.

    Notes
    -----
    Missing cells (NaN, None) add nothing, in training and in prediction. An unseen category takes
    the mass its prior reserves for it; an unseen word is left out.

    Examples
    --------
    >>> from naively import NaiveBayes
    >>> texts = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "see you at lunch"]
    >>> nb = NaiveBayes().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> nb.predict(["cheap lunch, buy one get one"])
    array(['spam'], dtype='<U4')
    """

    def __init__(
        self,
        event_models: EventModels = "auto",
        class_prior: ClassPrior = "data",
        estimate: How = "mean",
    ) -> None:
        self.event_models = event_models
        self.class_prior = class_prior
        self.estimate = estimate

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled rows, forgetting what was learned before.

        Parameters
        ----------
        X : table of rows, or list of texts
            NumPy array, SciPy sparse matrix, pandas, Polars or other frame, mapping of columns.
        y : array-like of shape (rows,), or str
            The labels, or the name of their column in ``X``.
        sample_weight : array-like of shape (rows,), optional
            Finite and at least 0; weight 2 is the row twice.

        Returns
        -------
        self : NaiveBayes
            Fitted.
        """
        rows, labels = self._labelled(X, y, sample_weight)
        _check_classification(rows, labels)
        if labels.weight is not None and len(labels) and not labels.weight.any():
            raise ValueError("There is nothing to learn: all sample weights are zero.")
        settings = Settings(self.class_prior, self.estimate)
        self.keep(Model.learn(rows, labels, self.event_models, settings))
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
    ) -> Self:
        """Learn from more rows; the result is the same as from all rows at once.

        New classes, categories, words and columns may appear at any time; what was not recorded
        before counts as missing there.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array-like, optional
            Accepted for scikit-learn's sake and not needed: classes are learned as they come.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        self.keep(self.model_ + self._model_of(X, y, sample_weight))
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Unlearn rows: afterwards they were never seen.

        Raises
        ------
        ValueError
            If these rows were not learned; nothing is changed then.

        Examples
        --------
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

    def merge(self, other: NaiveBayes) -> Self:
        """Add what another model has learned, as if its rows had been learned here.

        Examples
        --------
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
        >>> nb = NaiveBayes().fit(["cheap pills", "lunch at noon"], ["spam", "ham"])
        >>> print(nb.explain(["cheap lunch"])[0])
        'spam' against 'ham': log odds 0.27 (probability 0.57)
           +0.83  text = cheap
           -0.56  text = lunch
           +0.00  class prior
        """
        rows = self._rows(X)
        return explain(self.model_, rows)

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
            raise AttributeError("this NaiveBayes is not fitted yet") from None

    def keep(self, model: Model) -> None:
        """Make this frozen model the fitted one."""
        self.model_ = model
        self.n_features_in_ = model.schema.width
        names = model.schema.names
        self.__dict__.pop("feature_names_in_", None)
        if names and names != [TEXT]:
            self.feature_names_in_ = np.array(names, object)

    def _rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        return as_rows(X)

    def _score(self, X: Any, finish: Finish) -> Any:
        rows = self._rows(X)
        return self.model_.score(rows, finish)

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Any]:
        rows = as_rows(X)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        if isinstance(y, str):
            rows, y = rows.split(y)
        if getattr(y, "ndim", 1) == 2:
            message = "A column-vector y was passed when a 1d array was expected; take its column."
            warnings.warn(message, DataConversionWarning, stacklevel=3)
        return rows, encode_labels(y, sample_weight)

    def _model_of(self, X: Any, y: Any, sample_weight: Any) -> Model:
        rows, labels = self._labelled(X, y, sample_weight)
        schema = self.model_.schema.extend(rows, "auto", self.model_.settings.estimate)
        return Model.learn(rows, labels, schema, self.model_.settings)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _check_classification(rows: Rows, labels: Labels) -> None:
    """Refuse what can only be a mistake, in the words that scikit-learn's checks expect."""
    if len(rows) and not rows.names:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({len(rows)}, 0)) while a minimum of 1 is "
            "required."
        )
    classes = labels.classes
    if classes.dtype.kind == "f" and (classes != np.rint(classes)).any():
        raise ValueError(
            "Unknown label type: continuous. Labels are fractions; a class must be a whole number "
            "or a string."
        )


def load(path: str | PathLike[str]) -> NaiveBayes:
    """Read a model file that ``NaiveBayes.save`` or the command line wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    nb : NaiveBayes
        Fitted.

    Raises
    ------
    ValueError
        If the file is no model, damaged, or of a newer version of naively.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.naively"
    >>> NaiveBayes().fit([[1.0], [3.0]], ["a", "b"]).save(path)
    >>> load(path).predict([[1.2]])
    array(['a'], dtype='<U1')
    """
    model = store.load(path)
    settings = model.settings
    nb = NaiveBayes(model.schema.event_models, settings.class_prior, settings.estimate)
    nb.keep(model)
    return nb
