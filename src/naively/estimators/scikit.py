"""NaiveBayes: scikit-learn's face of the learner, for any rows."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from naively.estimators.naive_bayes import Learner
from naively.estimators.options import learner_of
from naively.messages import warn
from naively.model.file import store


class NaiveBayes(ClassifierMixin, Learner, BaseEstimator):  # noqa: D101  (it has the learner's)
    __doc__ = Learner.__doc__

    def _warn_of_a_column(self, message: str) -> None:
        warn(message, DataConversionWarning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def load(path: str | PathLike[str]) -> NaiveBayes:
    """Read a model file that ``NaiveBayes.save`` or the command line wrote.

    A sample of the rows that is in the file is in memory afterwards, as it was when it was saved.

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
    FileNotFoundError
        If there is none.
    ValueError
        If the file is no model, damaged, or of a version of naively that cannot be read: a newer
        one, or, of a few settings that have changed, an older one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.naively"
    >>> NaiveBayes().fit([[1.0], [3.0]], ["a", "b"]).save(path)
    >>> load(path).predict([[1.2]])
    array(['a'], dtype='<U1')
    """
    content = store.load_all(path)
    return learner_of(NaiveBayes, content.model, content.sample)
