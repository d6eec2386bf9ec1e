"""The five drop-ins for scikit-learn's naive Bayes: one event model for all columns.

Constructors, attributes and results are scikit-learn's, and every attribute is derived from the
tally. Classes are announced, as scikit-learn has it: one without rows yet has weight zero.

Arrays and CSR matrices of the right numbers go to the kernels unchecked, as these find a missing or
an infinite cell while they count and score. Only then, and of all other input, does scikit-learn
look at every cell, and say in its own words what is wrong.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from naively.counting.axis import LEVEL, VALUE, Levels
from naively.counting.block import Batch
from naively.counting.labels import (
    LabelArray,
    Labels,
    RowWeight,
    Target,
    encode_labels,
    refuse_several,
    union_classes,
)
from naively.counting.tally import BlockTally
from naively.data.columns import MatrixRows, Rows, SparseRows, check_sparse, is_plain, unmasked
from naively.data.frames import Table, as_rows, read_labels
from naively.estimators.classifier import Classifier
from naively.estimators.learned import NO_HISTORY, Learned, check_is_fitted, exclusive
from naively.events import Bernoulli, Categorical, Complement, Gaussian, Multinomial
from naively.events.base import EventModel
from naively.fitting.learn import check_some_weight
from naively.fitting.reservoir import ANY, Reservoir
from naively.kernels.reference import Finish, Finished, Floats
from naively.kernels.strings import Strings
from naively.messages import warn
from naively.model.class_prior import given_prior
from naively.model.counted import Counted, check_rows
from naively.model.model import Model, Verb
from naively.options import (
    NONE,
    NOT_NEGATIVE,
    Allowed,
    check_options,
    kind_of,
    without_class_weight,
    words,
)
from naively.schema.choose import infer
from naively.schema.settings import ClassPrior, Settings

if TYPE_CHECKING:
    from naively.estimators.naive_bayes import NaiveBayes

T = TypeVar("T")


def plain_labels(y: Target, sample_weight: RowWeight) -> Labels | None:
    """Encode labels that scikit-learn takes as they are; None of those that it is to look at."""
    # These are an array of whole numbers, booleans or strings, a column of any library that is read
    # as one, and a list of strings. That they are is found as they are encoded, once.
    if hasattr(y, "to_numpy"):
        y = read_labels(y)
        y = y if isinstance(y, Strings) else y.to_numpy()
    is_array = type(y) is np.ndarray
    match y:
        case Strings():
            is_read = True
        case list():
            is_read = bool(y) and isinstance(y[0], str)
        case _:
            is_read = is_array and y.ndim == 1 and y.dtype.kind in "biufUO"
    if not is_read:
        return None
    try:
        labels = encode_labels(y, sample_weight)
    except (ValueError, TypeError):
        return None
    kind = labels.classes.dtype.kind
    if kind not in ("U" if is_array and y.dtype.kind == "O" else "biufU"):
        return None
    fractions = kind == "f" and bool((labels.classes != np.rint(labels.classes)).any())
    return None if fractions else labels


class Reader(Classifier):
    """A classifier of arrays and sparse matrices of finite numbers.

    It names the types of numbers that it reads as they are (``reads``).
    """

    reads: ClassVar[tuple[np.dtype[Any], ...]] = np.dtype(np.float64), np.dtype(np.float32)
    n_features_in_: int

    def _labelled(
        self, X: Table, y: Target, sample_weight: RowWeight, *, reset: bool
    ) -> tuple[Rows, Labels]:
        if isinstance(y, np.ma.MaskedArray):  # whose masks scikit-learn passes over
            encode_labels(y, sample_weight)
            y = np.asarray(y)
        labels = plain_labels(y, sample_weight)
        if labels is None:
            if isinstance(y, list | tuple):  # of which scikit-learn says less
                refuse_several(y)
            from sklearn.utils.multiclass import check_classification_targets

            X, y = self._validated(X, y, reset=reset)
            check_classification_targets(y)
            return self._as_rows(X), encode_labels(y, sample_weight)
        # Sums do not tell what a row of weight 0 holds.
        rows = self._taken(X, reset=reset) if labels.weight is None else None
        if rows is None:
            rows = self._as_rows(self._validated(X, reset=reset))
        check_rows(rows, labels)
        return rows, labels

    def _taken(self, X: Table, *, reset: bool = False) -> Rows | None:
        """Return X as rows that are complete, which is seen as they are read; None of others."""
        # Only arrays and CSR matrices of the right numbers are taken as they are, without names of
        # columns; anything else scikit-learn reads.
        if not is_plain(X, self.reads, sparse="sparse" in self.takes):
            return None
        columns = int(X.shape[1])
        if reset:
            self.n_features_in_ = columns
            self.__dict__.pop("feature_names_in_", None)
        elif "feature_names_in_" in self.__dict__ or columns != self.n_features_in_:
            return None
        if isinstance(X, np.ndarray):
            return MatrixRows(X, range(columns), complete=True)
        return SparseRows(X, range(columns), complete=True)

    def _read_rows(self, X: Table) -> Rows:
        return self._as_rows(self._validated(X, reset=False))

    def _validated(self, *given: Table, reset: bool) -> Any:
        """Return X, or X and y, as scikit-learn has looked at them."""
        from sklearn.utils.validation import validate_data

        X, *y = given
        return validate_data(self, _looked_at(X), *y, reset=reset, **self._reading)

    def _scored(self, X: Table, finish: Finish) -> Finished:
        model = self._checked
        rows = self._taken(X) or self._rows(X)
        return self._read_by(lambda rows: model.score(model.encode(rows), finish), X, rows)

    def _read_by(self, work: Callable[[Rows], T], X: Table, rows: Rows) -> T:
        """Do some work on the rows of X; if a cell must not be there, say what is wrong."""
        # Rows that were taken as they are have not been looked at. What the work finds,
        # scikit-learn says in its own words; where it finds nothing wrong, the work is done on
        # what it has read.
        try:
            return work(rows)
        except ValueError:
            if not rows.complete:
                raise
        return work(self._rows(X))

    @property
    def _reading(self) -> dict[str, object]:
        """How scikit-learn is to read X."""
        sparse = "csr" if "sparse" in self.takes else False
        return {"accept_sparse": sparse, "dtype": [np.float64, np.float32]}

    def _as_rows(self, X: Table) -> Rows:
        """Return what scikit-learn has read, an array or a CSR matrix of numbers, as rows."""
        if "positive_only" in self.takes:
            from sklearn.utils.validation import check_non_negative

            check_non_negative(X, f"{type(self).__name__} (input X)")
        return replace(cast("MatrixRows | SparseRows", as_rows(X)), names=self._columns)

    @property
    def _columns(self) -> range | tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        return range(self.n_features_in_) if names is None else tuple(names)


def _looked_at(X: Table) -> Table:
    """Return X as scikit-learn is to check it, which trusts SciPy and passes over masks."""
    if hasattr(X, "tocsr"):
        check_sparse(X)
    return unmasked(X) if isinstance(X, np.ma.MaskedArray) else X


E = TypeVar("E", bound=EventModel)
Array: TypeAlias = "Sequence[float] | NDArray[np.floating | np.integer]"  # of one dimension
COUNT = kind_of("a whole number of at least 1", Integral, lambda x: int(x) >= 1)
BOOLEAN = kind_of("True or False", bool | np.bool_)
ARRAY = kind_of("an array", Sized, lambda x: not isinstance(x, str | Mapping))
LEAST_ALPHA = 1e-10  # scikit-learn's, unless force_alpha
ALPHA: Allowed = {  # what the parameters of a ``Smoothed`` may be
    "alpha": [NOT_NEGATIVE, ARRAY],
    "fit_prior": [BOOLEAN],
    "class_prior": [ARRAY, NONE],
    "force_alpha": [BOOLEAN],
}


class DropIn(Reader, Generic[E]):
    """One event model for all columns; a column, a class or a cell it cannot take is an error.

    A drop-in names the kinds of its parameters (``allowed``).
    """

    allowed: ClassVar[Allowed]

    @abstractmethod
    def _event(self) -> E:
        """Return the event model that the parameters ask for."""

    @abstractmethod
    def _class_prior(self, classes: LabelArray) -> ClassPrior:
        """Return the class prior that the parameters ask for."""

    @without_class_weight
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
            self.__dict__.pop("_learned", None)
            self._announced = labels.classes
            raise
        counted = self._counted(X, rows, labels, labels.classes)
        self.__dict__.pop("_learned", None)
        self._announced = labels.classes
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
        return self._learn(*counted)

    @exclusive
    def merge(self, *others: Classifier) -> Self:
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

    def _placed(self, model: Model) -> Model:
        self._announced = union_classes(self._announced, model.classes)
        return model.with_classes(self._announced)

    def _counted(
        self, X: Table, rows: Rows, labels: Labels, classes: LabelArray
    ) -> tuple[Batch, Model]:
        """Count rows as the parameters ask for now."""
        settings = Settings(class_prior=self._class_prior(classes), weights=None)
        check_rows(rows, labels)
        event = self._event()

        def count(rows: Rows) -> tuple[Batch, Model]:
            schema = infer(rows, event, settings)
            batch = schema.encode_own(rows, labels)
            return batch, Model.of(Counted.of(batch, schema, settings))

        return self._read_by(count, X, rows)

    def _learn(self, batch: Batch, model: Model) -> Self:
        """Learn what was counted, beside what was learned before."""
        before: Learned | None = self.__dict__.get("_learned")
        sample: Reservoir | None = ANY
        rows = model.counted.rows
        if before is not None:  # parameters may have been set since: counts are counts
            (name,) = model.counted.tally.blocks
            seen = replace(before.model.counted.tally, blocks={name: self._block})
            model, sample = model.counting(tally=seen + model.counted.tally), before.sample
        model = self._placed(model)
        if sample is not None:
            sample = sample.added(batch).for_model(model)
        history = NO_HISTORY if before is None else before.history
        verb: Verb = "train" if before is None else "update"
        self._learned = Learned(model, sample, history).recorded(verb, rows)
        return self

    def _count(
        self,
        X: Table,
        y: Target,
        *,
        weighted: bool,  # noqa: ARG002  (there are no weights)
    ) -> tuple[Batch, Model]:
        check_options(self, self.allowed)
        rows, labels = self._labelled(X, y, None, reset=True)
        return self._counted(X, rows, labels, labels.classes)

    def _read_whole(self, X: Table, y: Target, sample_weight: RowWeight) -> tuple[Rows, Labels]:
        check_options(self, self.allowed)
        X = self._table(X) if isinstance(X, Rows) else X
        rows, labels = self._labelled(X, y, sample_weight, reset=True)
        if labels.weight is not None:
            check_some_weight(labels.weight)
        self._counted(X, rows, labels, labels.classes)  # what is wrong with a cell is said of X
        return rows, labels

    def _learn_anew(self, rows: Rows, labels: Labels) -> Model:
        return self._counted(None, rows, labels, labels.classes)[1]

    def _encoded(self, rows: Rows, labels: Labels) -> Batch:
        return self._counted(None, rows, labels, labels.classes)[0]

    def _counted_of(
        self, X: Table, y: Target, sample_weight: RowWeight
    ) -> tuple[Counted, Reservoir]:
        rows, labels = self._labelled(X, y, sample_weight, reset=False)
        schema, settings = self.model_.counted.schema, self.model_.settings

        def count(rows: Rows) -> Counted:
            check_rows(rows, labels)
            return Counted.of(schema.encode(rows, labels), schema, settings)

        return self._read_by(count, X, rows), ANY

    def _learner(self, model: Model) -> NaiveBayes:
        from naively.estimators.naive_bayes import NaiveBayes

        return NaiveBayes._of_model(model)  # noqa: SLF001  (a class of ours)

    def _table(self, rows: Rows) -> Table:
        return np.column_stack([rows.values(name) for name in rows.names])

    @property
    def _block(self) -> BlockTally:
        """What was counted, of the only block."""
        (block,) = self._fitted.counted.tally.blocks.values()
        return block

    @property
    def _counted_as(self) -> E:
        """The event model that it was counted by, which ``_event`` has made."""
        return cast("E", self._fitted.view.schema.groups[0].event)


class Smoothed(DropIn[E]):
    """A drop-in that is smoothed by pretend counts, and whose class prior may be given."""

    allowed: ClassVar[Allowed] = ALPHA
    poor_score = True

    @without_class_weight
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
        """Return alpha, or what scikit-learn puts in its place where it is too small."""
        # Scikit-learn's own tests call it by this name.
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
    """Return the class prior that a drop-in was given, or raise a ValueError if it is none."""
    # fit: whether probabilities that are not given follow from the data, rather than being equal
    if given is None:
        return "data" if fit else "uniform"
    if len(given) != len(classes):
        raise ValueError("Number of priors must match number of classes.")
    return tuple(given_prior(given, classes).tolist())


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

    allowed: ClassVar[Allowed] = {**ALPHA, "binarize": [NOT_NEGATIVE, NONE]}
    takes = ("sparse",)

    @without_class_weight
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

    allowed: ClassVar[Allowed] = {**ALPHA, "norm": [BOOLEAN]}

    @without_class_weight
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
        return np.asarray(self.feature_count_.sum(axis=0))

    @property
    def class_log_prior_(self) -> Floats:
        """Log probability of each class, which the scores leave out."""
        return self._fitted.under_prior(super()._class_prior(self.classes_)).class_log_prior

    def predict_joint_log_proba(self, X: Table, *, dtype: DTypeLike = np.float64) -> Floats:
        """Return the sum of the weights of each class, without a class prior."""
        found = super().predict_joint_log_proba(X, dtype=dtype)
        return found + float(np.log(len(self.classes_)))

    def _event(self) -> Complement:
        return Complement(alpha=self._check_alpha(), norm=self.norm)

    def _class_prior(self, classes: LabelArray) -> ClassPrior:
        super()._class_prior(classes)  # it is checked, and not used
        return "uniform"


class CategoricalNB(Smoothed[Categorical]):
    """Categorical naive Bayes for codes 0, 1, 2, ..., a drop-in for scikit-learn's.

    Parameters
    ----------
    alpha : float, default 1.0
        Pretend count of each category in each class; 0 is maximum likelihood.
    force_alpha, fit_prior, class_prior
        As for ``MultinomialNB``.
    min_categories : int or array-like of shape (columns,), optional
        How many categories a column has at least.

    Attributes
    ----------
    category_count_, feature_log_prob_ : list of ndarray of shape (classes, categories)
        For each column the counts, and the log probabilities smoothed by alpha.
    n_categories_ : ndarray of shape (columns,)
        How many categories each column has: those up to the largest seen.
    class_count_, class_log_prior_, classes_ : ndarray of shape (classes,)
        Rows (total weight), log probability and label of each class.

    Notes
    -----
    Where scikit-learn fails on a category past the last, this takes it as one never seen. A number
    that is not whole is cut off as scikit-learn does it, and with a warning. The tally holds only
    categories that were seen; the lists are made for all when they are asked for.

    Examples
    --------
    >>> from naively import CategoricalNB
    >>> nb = CategoricalNB().fit([[0], [0], [2]], ["a", "a", "b"])
    >>> nb.category_count_
    [array([[2., 0., 0.],
           [0., 0., 1.]])]
    """

    allowed: ClassVar[Allowed] = {
        **ALPHA,
        "min_categories": [COUNT, ARRAY, NONE],
        "alpha": [NOT_NEGATIVE],
    }
    reads = tuple(map(np.dtype, (np.int64, np.int32, np.int16, np.int8, np.uint8)))
    takes = ("categorical", "positive_only")

    @without_class_weight
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Array | None = None,
        min_categories: int | Array | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha, force_alpha=force_alpha, fit_prior=fit_prior, class_prior=class_prior
        )
        self.min_categories = min_categories

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """How many categories each column has."""
        return self._counted_as.n_levels(self._levels)

    @property
    def category_count_(self) -> list[Floats]:
        """For each column how often each category was seen in each class."""
        first = self._levels.first
        none = np.zeros((len(first) - 1, len(self.classes_)))
        return self._by_category(self._block[LEVEL].high, first, none)

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """For each column the log probability of each category in each class."""
        terms = self._counted_as.terms(self._block)
        table, first = terms.table, terms.first
        return self._by_category(table, first, table[first[1:] - 1])

    def _by_category(self, table: Floats, first: NDArray[np.int64], unseen: Floats) -> list[Floats]:
        """Spread the rows of each column over all its categories."""
        spread = []
        for j, levels in enumerate(self._levels.levels):
            of_column = np.tile(unseen[j][:, None], self.n_categories_[j])
            of_column[:, list(levels)] = table[first[j] : first[j] + len(levels)].T
            spread.append(of_column)
        return spread

    @property
    def _levels(self) -> Levels:
        return cast("Levels", self._block.axis)  # as categorical columns are counted

    def _event(self) -> Categorical:
        """Return the event model, with so many codes in each column as were asked for at least."""
        least = np.asarray(0 if self.min_categories is None else self.min_categories)
        if least.dtype.kind != "i":
            raise ValueError(
                f"'min_categories' should have integral type. Got {least.dtype} instead."
            )
        if least.ndim and least.shape != (self.n_features_in_,):
            raise ValueError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like "
                f"is provided. Got {least.shape} instead."
            )
        alpha = cast("float", self._check_alpha())  # one for all columns, as ``allowed`` says
        return Categorical(alpha=alpha, codes=least.tolist())

    @property
    def _reading(self) -> dict[str, object]:
        return {"accept_sparse": False, "dtype": "numeric"}

    def _as_rows(self, X: Table) -> Rows:
        whole = X.astype(np.int64)
        cut = (whole != X).any(axis=0)
        if cut.any():
            j = int(np.flatnonzero(cut)[0])
            example = X[whole[:, j] != X[:, j], j][0]
            warn(
                f"Categories must be whole numbers: {example} in column {j} is taken as "
                f"{int(example)}."
            )
        return super()._as_rows(whole)


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

    @without_class_weight
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
        return np.asarray(np.exp(self.class_log_prior_))

    def _event(self) -> Gaussian:
        if self.var_smoothing == "column":
            return Gaussian(smoothing=0, floor=OF_COLUMN, floor_of="column")
        return Gaussian(smoothing=0, floor=float(self.var_smoothing))

    def _class_prior(self, classes: LabelArray) -> ClassPrior:
        if self.priors is None:
            return "data"
        if len(self.priors) == len(classes):
            priors = np.asarray(self.priors, np.float64)
            if not np.isclose(priors.sum(), 1.0):
                raise ValueError("The sum of the priors should be 1.")
            if (priors < 0).any():
                raise ValueError("Priors must be non-negative.")
        return class_prior_of(self.priors, classes)
