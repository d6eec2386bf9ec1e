"""NaiveBayes: scikit-learn's face of the learner, for any rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags

from naively.counting.labels import Label
from naively.estimators.naive_bayes import Learner
from naively.events import Estimate
from naively.file import store
from naively.messages import warn
from naively.model.given import model_of


class NaiveBayes(ClassifierMixin, Learner, BaseEstimator):  # noqa: D101  (it has the learner's)
    __doc__ = Learner.__doc__

    @classmethod
    def of(
        cls, class_prior: Mapping[Label, float], columns: Mapping[str, Mapping[Label, Estimate]]
    ) -> Self:
        """Return the model with given parameters, which were not learned.

        Parameters
        ----------
        class_prior : mapping of label to float
            The probability of each class.
        columns : mapping of str to mapping of label to Estimate
            Of each column, the distribution in each class: ``Bernoulli.of(p=0.3)``,
            ``Gaussian.of(mean=0, variance=1)``, and so on; a column of ``Multinomial.of`` with
            named words is a text.

        Returns
        -------
        nb : NaiveBayes
            Fitted, without weights and without smoothing: one pretend row of each class was
            counted.

        Raises
        ------
        ValueError
            If the class prior is no distribution, or a column lacks a class or has different
            event models by class.

        Examples
        --------
        >>> from naively import Bernoulli, NaiveBayes
        >>> cheap = {"spam": Bernoulli.of(p=0.3), "ham": Bernoulli.of(p=0.01)}
        >>> nb = NaiveBayes.of(class_prior={"spam": 0.4, "ham": 0.6}, columns={"cheap": cheap})
        >>> nb.predict_proba({"cheap": [True]}).round(3)
        array([[0.048, 0.952]])
        """
        return cls._of_model(model_of(class_prior, columns))

    def _warn_of_a_column(self, message: str) -> None:
        warn(message, DataConversionWarning)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def load(
    path: str | PathLike[str], functions: Mapping[str, Callable[[str], Any]] | None = None
) -> NaiveBayes:
    """Read a model file that ``NaiveBayes.save`` or the command line wrote.

    A sample of the rows that is in the file is in memory afterwards, as it was when it was saved.

    Parameters
    ----------
    path : str or Path
        The file.
    functions : mapping of str to function, optional
        The functions that the model's texts go through (``Text(tokenizer=...)`` and the like), by
        their names: a file holds no code.

    Returns
    -------
    nb : NaiveBayes
        Fitted.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If the file is no model, damaged, or of a version of naively that cannot be read: a newer
        one, or, of a few settings that have changed, an older one; or if a function is not given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.naively"
    >>> NaiveBayes().fit([[1.0], [3.0]], ["a", "b"]).save(path)
    >>> load(path).predict([[1.2]])
    array(['a'], dtype='<U1')
    """
    content = store.load_all(path, functions)
    return NaiveBayes._of_model(content.model, content.sample, content.history)
