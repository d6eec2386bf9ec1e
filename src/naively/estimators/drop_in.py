"""What the drop-ins share: one event model for all columns, input checked by scikit-learn.

Classes are announced, as scikit-learn has it: one without rows yet is a class of weight zero.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Generic, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from naively.counting.batch import Batch
from naively.counting.labels import (
    LabelArray,
    Labels,
    RowWeight,
    Target,
    encode_labels,
    union_classes,
)
from naively.counting.tally import BlockTally
from naively.data.frames import Table
from naively.data.rows import Rows
from naively.estimators.base import CountingClassifier, exclusive
from naively.estimators.checks import (
    ARRAY,
    BOOLEAN,
    NONE,
    NOT_NEGATIVE,
    Allowed,
    check_is_fitted,
    check_options,
    check_some_weight,
)
from naively.estimators.reader import Reader
from naively.estimators.training import Learned
from naively.evaluation.reservoir import Reservoir
from naively.events.base import EventModel
from naively.messages import warn
from naively.model.class_prior import given_prior
from naively.model.count import check_rows
from naively.model.model import Model
from naively.schema.choose import infer
from naively.schema.settings import ClassPrior, Settings

E = TypeVar("E", bound=EventModel)
Array: TypeAlias = "Sequence[float] | NDArray[np.floating | np.integer]"  # of one dimension
LEAST_ALPHA = 1e-10  # scikit-learn's, unless force_alpha
ALPHA: Allowed = {  # what the parameters of a ``Smoothed`` may be
    "alpha": [NOT_NEGATIVE, ARRAY],
    "fit_prior": [BOOLEAN],
    "class_prior": [ARRAY, NONE],
    "force_alpha": [BOOLEAN],
}


class DropIn(ClassifierMixin, Reader, BaseEstimator, Generic[E]):
    """One event model for all columns; a column, a class or a cell it cannot take is an error.

    A drop-in names the kinds of its parameters (``allowed``) and whether scikit-learn's checks may
    expect little of its accuracy on any numbers (``poor_score``).
    """

    allowed: ClassVar[Allowed]
    poor_score: ClassVar[bool] = False

    @abstractmethod
    def _event(self) -> E:
        """Return the event model that the parameters ask for."""

    @abstractmethod
    def _class_prior(self, classes: LabelArray) -> ClassPrior:
        """Return the class prior that the parameters ask for."""

    @exclusive
    def fit(self, X: Table, y: Target, sample_weight: RowWeight = None) -> Self:
        """Learn from labelled rows, forgetting what was learned before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (rows, columns)
            Finite numbers.
        y : array-like of shape (rows,)
            The labels.
        sample_weight : array-like of shape (rows,), optional
            Finite and at least 0; weight 2 is the row twice.

        Returns
        -------
        self : estimator
            Fitted.
        """
        check_options(self, self.allowed)
        rows, labels = self._labelled(X, y, sample_weight, reset=True)
        if labels.weight is not None:
            check_some_weight(labels.weight)
        try:
            self._class_prior(labels.classes)
        except ValueError:  # as in scikit-learn these are the classes from now on
            self.__dict__.pop("model_", None)
            self._announced = labels.classes
            raise
        counted = self._counted(X, rows, labels, labels.classes)
        self.__dict__.pop("model_", None)
        self._announced = labels.classes
        self._sample = Reservoir()
        return self._learn(*counted)

    @exclusive
    def partial_fit(
        self, X: Table, y: Target, classes: Target = None, sample_weight: RowWeight = None
    ) -> Self:
        """Learn from more rows; the result is the same as from all rows at once.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array-like, optional
            All classes that will ever come; required at the first call.
        """
        check_options(self, self.allowed)
        first = "_announced" not in self.__dict__
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        announced = self._announced if classes is None else encode_labels(classes).classes
        if not first and not np.array_equal(announced, self._announced):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, "
                f"was: {self._announced!r}"
            )
        rows, labels = self._labelled(X, y, sample_weight, reset=first)
        unknown = np.setdiff1d(labels.classes, announced)
        if len(unknown):
            raise ValueError(
                f"The target label(s) {unknown} in y do not exist in the initial classes "
                f"{announced}"
            )
        counted = self._counted(X, rows, labels, announced)
        self._announced = announced
        if first:
            self._sample = Reservoir()
        return self._learn(*counted)

    @exclusive
    def merge(self, *others: CountingClassifier) -> Self:
        """Add what other models of the same columns have learned.

        Examples
        --------
        >>> from naively import GaussianNB
        >>> north = GaussianNB().fit([[1.0], [3.0]], ["a", "b"])
        >>> north.merge(GaussianNB().fit([[2.0]], ["a"])).class_count_
        array([2., 1.])
        """
        check_is_fitted(self)
        mine = list(self.schema_.order)
        for other in others:
            check_is_fitted(other)
            theirs = list(other.schema_.order)
            if mine != theirs:
                raise ValueError(f"Cannot merge a model of columns {theirs} into one of {mine}.")
        return super().merge(*others)

    def keep(self, model: Model) -> None:
        """Make this model the fitted one, with a place for each announced class."""
        self._announced = union_classes(self._announced, model.classes)
        if len(model.classes) < len(self._announced):
            model = model.with_classes(self._announced)
        super().keep(model)

    def _counted(
        self, X: Table, rows: Rows, labels: Labels, classes: LabelArray
    ) -> tuple[Batch, Model]:
        """Count rows as the parameters ask for now."""
        settings = Settings(self._class_prior(classes))
        check_rows(rows, labels)
        event = self._event()

        def count(rows: Rows) -> tuple[Batch, Model]:
            schema = infer(rows, event, settings)
            batch = schema.encode(rows, labels)
            return batch, Model.count(batch, schema, settings)

        return self._read_by(count, X, rows)

    def _learn(self, batch: Batch, model: Model) -> Self:
        """Learn what was counted, beside what was learned before."""
        more = self.__sklearn_is_fitted__()
        if more:  # parameters may have been set since: counts are counts
            (name,) = model.tally.blocks
            seen = replace(self.model_.tally, blocks={name: self._block})
            model = replace(model, tally=seen + model.tally)
        self.keep(model)
        if self._sample is not None:
            self._sample.add(batch, model)
        self._record("update" if more else "train", batch.labels.total)
        return self

    def _count(
        self,
        X: Table,
        y: Target,
        *,
        weighted: bool,  # noqa: ARG002  (there are no weights)
    ) -> Learned:
        check_options(self, self.allowed)
        rows, labels = self._labelled(X, y, None, reset=True)
        batch, model = self._counted(X, rows, labels, labels.classes)
        return Learned(model, Reservoir(), [batch])

    def _model_of(self, X: Table, y: Target, sample_weight: RowWeight) -> Model:
        rows, labels = self._labelled(X, y, sample_weight, reset=False)
        how = self.model_.counted, self.model_.settings
        return self._read_by(lambda rows: Model.learn(rows, labels, *how), X, rows)

    def _table(self, rows: Rows) -> Table:
        return np.column_stack([rows.values(name) for name in rows.names])

    @property
    def _block(self) -> BlockTally:
        """What was counted, of the only block."""
        (block,) = self._fitted.tally.blocks.values()
        return block

    @property
    def _counted_as(self) -> E:
        """The event model that it was counted by, which ``_event`` has made."""
        return cast("E", self._fitted.schema.groups[0].event)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        for name in self.takes:
            setattr(tags.input_tags, name, True)
        tags.classifier_tags.poor_score = self.poor_score
        return tags


class Smoothed(DropIn[E]):
    """A drop-in that is smoothed by pretend counts, and whose class prior may be given."""

    allowed: ClassVar[Allowed] = ALPHA
    poor_score = True

    def __init__(
        self,
        *,
        alpha: float | Array = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Array | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _class_prior(self, classes: LabelArray) -> ClassPrior:
        return class_prior_of(self.class_prior, classes, fit=self.fit_prior)

    def _check_alpha(self) -> float | list[float]:
        """Return alpha, or what scikit-learn puts in its place where it is too small.

        Scikit-learn's own tests call it by this name.

        Returns
        -------
        alpha : float or list of shape (columns,)
            The pretend count of each outcome, of all columns or of each.
        """
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim and alpha.shape != (self.n_features_in_,):
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
            )
        if (alpha < 0).any():
            raise ValueError("All values in alpha must be greater than 0.")
        if (alpha < LEAST_ALPHA).any() and not self.force_alpha:
            warn(
                f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}."
                " Use `force_alpha=True` to keep alpha unchanged."
            )
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return list(alpha) if alpha.ndim else float(alpha)


def class_prior_of(given: Array | None, classes: LabelArray, *, fit: bool = True) -> ClassPrior:
    """Return the class prior that a drop-in was given, or raise a ValueError if it is none.

    Parameters
    ----------
    given : array-like of shape (classes,) or None
        The probability of each class; None if they are not given.
    classes : ndarray of shape (classes,)
        Their labels.
    fit : bool, default True
        Whether probabilities that are not given follow from the data, rather than being equal.
    """
    if given is None:
        return "data" if fit else "uniform"
    if len(given) != len(classes):
        raise ValueError("Number of priors must match number of classes.")
    return tuple(given_prior(given, classes).tolist())
