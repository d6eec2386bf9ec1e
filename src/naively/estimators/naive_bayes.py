"""NaiveBayes: scikit-learn's face of the model, for any rows."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.exceptions import DataConversionWarning

from naively import store
from naively.core.event import How
from naively.core.labels import Labels, encode_labels
from naively.data.frames import as_rows
from naively.data.rows import Rows
from naively.estimators.base import CountingClassifier, check_some_weight
from naively.model import ClassPrior, Model, Settings
from naively.schema import EventModels


class NaiveBayes(CountingClassifier):
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
        check_some_weight(labels)
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

    def _rows(self, X: Any) -> Rows:
        return as_rows(X)

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
