"""What NaiveBayes does with any rows, without scikit-learn's base classes.

Their import takes longer than the command line takes to learn a small table.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from naively.counting.analyser import Analyser
from naively.counting.labels import (
    Labels,
    check_weight,
    encode_labels,
    encode_some_labels,
    union_classes,
)
from naively.data.frames import TEXT, as_rows
from naively.data.rows import Rows
from naively.estimators.base import CountingClassifier, check_some_weight
from naively.estimators.exclusive import exclusive
from naively.estimators.fitted import check_is_fitted
from naively.evaluation.calibrate import fit
from naively.evaluation.interactions import add_interactions
from naively.evaluation.leave_one_out import leave_one_out_table
from naively.evaluation.reservoir import Reservoir
from naively.evaluation.semi_supervised import learn_unlabelled
from naively.events import Beta, Categorical, Dirichlet, JointTable
from naively.events.base import How
from naively.model.class_prior import ClassPrior, check_class_prior
from naively.model.model import Model, Settings, check_rows
from naively.model.weights import Weighting
from naively.schema.choose import EventModels, extend, given_as_objects, infer
from naively.schema.diagnose import warn_of_leaks, warn_of_no_tokens
from naively.schema.usual import TextBlocks, check_smoothing

ENOUGH_ROWS, OWN_CLASS = 20, 0.5  # rows, of which more classes than this share are a mistake
L = TypeVar("L", bound="Learner")
STALE = 0.5  # weights fitted to a smaller share of the rows are fitted again


class Learner(CountingClassifier):
    """Naive Bayes for any rows: numbers, categories, booleans, times, texts, missing cells.

    It learns in one pass by counting, and can merge, forget and decay what it has learned.

    Parameters
    ----------
    event_models : "auto", str, EventModel or mapping, default "auto"
        How columns are generated, given the class. "auto" chooses by column: numbers are
        histograms, booleans and columns of 0 and 1 Bernoulli, strings categorical or texts (the
        different ones have four words or more on average, and are half of the rows or more than
        1,000), texts and sparse matrices multinomial. What is chosen follows from all rows that
        were counted, whether they came at once, in batches or by merged models. Times,
        and strings that are all ISO 8601 times, are numbers (seconds since 1970, UTC), with hour,
        weekday and month as categories beside them where their cycles repeat. A name ("gaussian",
        "bernoulli", "categorical", "multinomial", "text") or an event model is for all columns; a
        mapping is from columns, tuples of columns or kinds ("number", "boolean", "string", "time")
        to either.
        What was chosen, and why, is said by ``print(nb.schema_)``.
    class_prior : "data", "uniform", sequence, mapping, Beta or Dirichlet, default "data"
        Probability of each class before anything is seen: as counted, all equal, or given in the
        order of the sorted classes or by label; or estimated under a prior. Beta(a, b) is the
        prior of the second of two classes (a pretend rows of it, and b of the first), Dirichlet
        has one count for all classes or one for each.
    estimate : {"mean", "map", "mle", "predictive"}, default "mean"
        How parameters are estimated, by event models that are not given as objects and of a class
        prior that is a Beta or Dirichlet: posterior mean, posterior mode, maximum likelihood, or
        integrated out.
    smoothing : "auto", "laplace", "jeffreys" or float, default "auto"
        The pseudo-count of each outcome (a level, true and false, a word, a bin of a histogram) in
        each class, of event models that are not given as objects: 1 is Laplace's rule, 1/2
        Jeffreys's. Where outcomes cannot be counted it is the number of pretend rows in each
        class, with the column's mean (and variance). With "auto" it is chosen by leave-one-out,
        from the counts alone, for each column of categories (as the m of an m-estimate), for all
        columns of truths together, and for counts; other event models have their own defaults,
        and words that count once in a text 1/2.
    weights : {"loo", "temperature"} or None, default "loo"
        How much the evidence of each column counts, so that what columns say alike is not counted
        twice and probabilities can be believed: one weight for each, or one for all, fitted to
        the leave-one-out evidence of at most 10,000 of the rows (500 for each class are enough
        where there is but one weight, as of one column). None is pure naive Bayes.
    interactions : "auto" or None, default None
        With "auto", pairs of columns that depend on each other have a say of their own, beside
        that of the columns: how much more often their values meet in a class than by chance. At
        most three pairs for each column are chosen in ``fit``, of 300 rows or more, where the
        leave-one-out evidence of these rows says that the log loss falls; they are counted in a
        second pass, and explained like a column.
    text : {"auto", "words"}, default "auto"
        What is counted of a column of texts that is not named in ``event_models``: with "auto",
        the words, the word bigrams, and, of texts of up to 1,500 characters, the character n-grams
        (n from 2 to 5) that each holds, each kind with weights of its own; with "words", which is
        the fastest, how often each word comes. So it is too without ``weights="loo"``, and with
        ``estimate`` "mle" or "predictive".
    random_state : int, Generator or None, default None
        Chooses the rows that weights are fitted to; None is a fixed choice.
    semi_supervised : bool, default False
        Whether to learn from rows whose label is missing (None, NaN, NaT) too: by EM, each of
        them counted for every class by its posterior. How much such a row counts beside a labelled
        one is chosen by the leave-one-out log loss of the labelled rows, and is nothing unless
        cross-validation confirms it.

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
        Which columns go to which event model, and why; printed, one line a column.
    model_ : Model
        The frozen model: schema, tally and settings.
    n_features_in_ : int
        Number of columns.
    unlabelled_weight_ : float
        How much a row without a label counts, where there were any.
    feature_names_in_ : ndarray of str
        Names of the columns, where the table had any.

    Notes
    -----
    Missing cells (NaN, None) add nothing, in training and in prediction. An unseen category takes
    the mass its prior reserves for it; an unseen word is left out. A column that is the label
    under other names, without exception in 100 rows or more, is warned of; ``schema_`` notes
    columns that are constant, missing throughout, or like an identifier.

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
        smoothing: float | str = "auto",
        weights: Weighting | None = "loo",
        interactions: Literal["auto"] | None = None,
        random_state: Any = None,
        semi_supervised: bool = False,
        text: Literal["auto", "words"] = "auto",
    ) -> None:
        self.event_models = event_models
        self.class_prior = class_prior
        self.estimate = estimate
        self.smoothing = smoothing
        self.weights = weights
        self.interactions = interactions
        self.random_state = random_state
        self.semi_supervised = semi_supervised
        self.text = text

    @exclusive
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled rows, forgetting what was learned before.

        Parameters
        ----------
        X : table of rows, or list of texts
            NumPy array (structured too), SciPy sparse matrix, pandas, Polars, PyArrow or other
            frame, whatever has the Arrow stream interface, mapping of columns, list of records,
            list of lists. Lists of strings are the rows of a table where all have the same length,
            and else the words of texts; ``{"text": X}`` or ``event_models=Text()`` says that they
            are words, a mapping of columns that they are not. Afterwards what was learned decides.
        y : array-like of shape (rows,), or str
            The labels, or the name of their column in ``X``.
        sample_weight : array-like of shape (rows,), optional
            Finite and at least 0; weight 2 is the row twice.

        Returns
        -------
        self : NaiveBayes
            Fitted.

        Raises
        ------
        ValueError
            If a table, label, weight or option is wrong; it says which, and what to do. A
            ``class_prior`` must be for the classes that the labels have.
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, more: bool = False
    ) -> Self:
        """Learn from labelled rows; there may be more of them, of other classes."""
        every, y = self._rows_and_labels(X, y, _means_texts(self.event_models))
        labels, there = self._encode(y, sample_weight)
        _check_classification(every, labels)
        check_some_weight(labels)
        if self.weights not in ("loo", "temperature", None):
            raise ValueError(f"weights must be 'loo', 'temperature' or None, got {self.weights!r}.")
        if self.text not in ("auto", "words"):
            raise ValueError(f"text must be 'auto' or 'words', got {self.text!r}.")
        check_smoothing(self.smoothing)
        if self.interactions not in ("auto", None):
            raise ValueError(f"interactions must be 'auto' or None, got {self.interactions!r}.")
        if self.interactions and self.weights != "loo":
            raise ValueError(
                f"interactions='auto' needs weights='loo', got {self.weights!r}: pairs of columns "
                "count by weights of their own."
            )
        if self.interactions and there is not None:
            raise ValueError(
                "interactions='auto' needs all labels; pairs of columns are not counted of rows "
                "without one."
            )
        blocks = self.text == "auto" and self.weights == "loo" and self.estimate in ("mean", "map")
        text: TextBlocks = "blocks" if blocks else "words"
        settings = Settings(self.class_prior, self.estimate, self.smoothing, text)
        if there is not None and not len(there):
            raise ValueError("No row has a label; label some rows of each class.")
        rows = every if there is None else every.take(there)
        check_rows(rows, labels)
        schema = infer(every, self.event_models, settings.usual)
        batch = schema.encode(rows, labels)
        model = Model.count(batch, schema, settings)
        self._check_effect(model)
        _check_class_prior(model, classes, more=more)
        warn_of_leaks(model.schema, model.taken)
        warn_of_no_tokens(model.schema, model.taken)
        self._sample = Reservoir(self.random_state)
        self._sample.add(batch, model)
        self.__dict__.pop("unlabelled_weight_", None)
        if there is None:
            model = self._weighed(model)
        else:
            model = self._learn_unlabelled(model, self._sample, every, there, sample_weight)
        if self.interactions:
            model = add_interactions(model, self._sample.of(model), batch)
        self.keep(model)
        return self

    @exclusive
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from more rows; what is counted is the same as from all rows at once.

        So is what each column is taken for, where it was given no event model: a column of 0 and 1
        is a histogram from the first 2 on. Only what cannot be counted again is an error (strings
        after numbers, a word among times), and a column with more than 1,000 different texts stays
        one. New classes, categories, words and columns may appear at any time; what was not
        recorded before counts as missing there. Weights are fitted again whenever the rows have
        doubled, and by ``calibrate()``; then they too are the same as from all rows at once. The
        pairs of ``interactions`` stay those that the first batch has chosen.

        Parameters
        ----------
        X, y, sample_weight
            As for ``fit``.
        classes : array-like, optional
            Not needed, as classes are learned as they come; if they are said, a ``class_prior``
            is checked against them.
        """
        if not hasattr(self, "model_"):
            return self._fit(X, y, sample_weight, classes, more=True)
        every, y = self._rows_and_labels(X, y, self._learned_texts)
        labels, there = self._encode(y, sample_weight)
        rows = every if there is None else every.take(there)
        model, sample = self.model_, self._sample
        if len(rows) or len(labels):
            check_rows(rows, labels)
            usual = model.settings.usual
            schema = extend(model.counted, rows, self.event_models, usual)
            batch = schema.encode(rows, labels)
            model += Model.count(batch, schema, model.settings)
            if sample is None and there is not None:
                sample = Reservoir(self.random_state)
            if sample is not None:
                sample.add(batch, model)
        _check_class_prior(model, classes, more=True)
        if there is not None:
            sample = sample or Reservoir(self.random_state)
            model = self._learn_unlabelled(model, sample, every, there, sample_weight)
        elif self._counts_unlabelled:
            pass  # the weights stay: no row of the sample can be left out
        elif self._sample is not None and (
            model.weights is None
            or model.weights.fresh(float(model.tally.class_count.sum())) <= STALE
            or not self.model_.schema.is_part_of(model.schema)
        ):
            model = self._weighed(model)
        self.keep(model)
        return self

    @exclusive
    def calibrate(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the weights again; what was counted stays.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows that were not learned. By default the sample of the learned rows that
            is in memory after ``fit`` and ``partial_fit`` is used, each row left out in turn.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.calibrate([[1.5], [7.5]], ["a", "b"]).predict([[2.5]])
        array(['a'], dtype='<U1')
        """
        check_is_fitted(self)
        kind = self.weights or "loo"
        if X is None:
            sample = self._learned().of(self.model_)
            self.keep(self.model_.weighed(sample.weights(self.model_, kind)))
            return self
        batch = self.model_.encode(*self._labelled(X, y, sample_weight))
        found = leave_one_out_table(self.model_, batch, learned=False)
        weights = fit(found, kind, float(self.class_count_.sum()))
        self.keep(self.model_.weighed(weights))
        return self

    def _check_effect(self, model: Model) -> None:
        """Raise a ValueError if an option has no effect, as all event models have their own."""
        estimates_prior = isinstance(self.class_prior, Beta | Dirichlet)
        idle = [] if self.estimate == "mean" or estimates_prior else ["estimate"]
        idle += [] if self.smoothing == "auto" else ["smoothing"]
        if idle and given_as_objects(self.event_models, model.schema):
            name = type(model.schema.groups[0].event).__name__
            raise ValueError(
                f"{idle[0]}={getattr(self, idle[0])!r} has no effect: every event model is given "
                f"as an object, which has options of its own. Give them to it, as in {name}(...), "
                f"or name the event model, {model.schema.groups[0].event.name!r}."
            )

    @property
    def _counts_unlabelled(self) -> bool:
        return bool(getattr(self, "unlabelled_weight_", 0.0) > 0)

    def _learned(self) -> Reservoir:
        if self._counts_unlabelled:
            raise ValueError(
                "What was concluded from rows without a label depends on the labels of all others, "
                "so that none can be left out; use labelled rows that were not learned."
            )
        return super()._learned()

    def _weighed(self, model: Model) -> Model:
        if self._counts_unlabelled:
            return model  # the weights stay: no row of the sample can be left out
        kind = self.weights
        return model.weighed(
            None if kind is None else self._learned().of(model).weights(model, kind)
        )

    @property
    def _kind(self) -> Weighting | None:  # type: ignore[override]
        return self.weights

    def _rows(self, X: Any) -> Rows:
        return as_rows(X, self._learned_texts)

    @property
    def _learned_texts(self) -> bool | None:
        """Whether texts alone were learned, so that lists of strings are words and no table."""
        if "model_" not in self.__dict__:
            return None
        schema = self.model_.schema
        return schema.names == [TEXT] and schema.kinds.get(TEXT) == "text"

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Labels]:
        rows, y = self._rows_and_labels(X, y, self._learned_texts)
        return rows, encode_labels(y, sample_weight)

    def _encode(self, y: Any, sample_weight: Any) -> tuple[Labels, NDArray[np.int64] | None]:
        """Return the labels, and the rows that they are of, unless it is all."""
        if not self.semi_supervised:
            return encode_labels(y, sample_weight), None
        labels, there = encode_some_labels(y, sample_weight)
        return labels, there if len(there) < len(y) else None

    def _learn_unlabelled(
        self,
        model: Model,
        sample: Reservoir,
        every: Rows,
        there: NDArray[np.int64],
        sample_weight: Any,
    ) -> Model:
        """Learn from the other rows too, and fit the weights."""
        rest = np.setdiff1d(np.arange(len(every)), there)
        schema = extend(model.counted, every, self.event_models, model.settings.usual)
        weight = check_weight(sample_weight, len(every))
        weight = np.ones(len(rest)) if weight is None else weight[rest]
        nothing = Labels(np.zeros(len(every), np.int32), model.classes, np.zeros(len(every)))
        model += Model.learn(every, nothing, schema, model.settings)
        model, self.unlabelled_weight_ = learn_unlabelled(
            model, sample, every.take(rest), weight, self.weights
        )
        return model

    @abstractmethod
    def _warn_of_a_column(self, message: str) -> None:
        """Warn of labels that are a column of a matrix, as whoever gives them expects it."""

    def _rows_and_labels(self, X: Any, y: Any, texts: bool | None) -> tuple[Rows, Any]:
        rows = as_rows(X, texts)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        if isinstance(y, str):
            rows, y = rows.split(y)
        if getattr(y, "shape", ())[1:] == (1,):
            message = "A column-vector y was passed when a 1d array was expected; take its column."
            self._warn_of_a_column(message)
        return rows, y

    def _model_of(self, X: Any, y: Any, sample_weight: Any) -> Model:
        return self._learn(*self._labelled(X, y, sample_weight))

    def _learn(self, rows: Rows, labels: Labels) -> Model:
        schema = extend(self.model_.counted, rows, self.event_models, self.model_.settings.usual)
        return Model.learn(rows, labels, schema, self.model_.settings)


def _means_texts(event_models: EventModels) -> bool | None:
    """Whether lists of strings are words or a table, as far as the event models say it."""
    if isinstance(event_models, Mapping):
        return True if TEXT in event_models else None
    one = event_models[0] if isinstance(event_models, list | tuple) else event_models
    if one == "text" or isinstance(one, Analyser):
        return True
    of_levels = isinstance(one, Categorical | JointTable)
    return False if of_levels or one in (Categorical.name, JointTable.name) else None


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
    if len(labels) >= ENOUGH_ROWS and labels.k > OWN_CLASS * len(labels):
        warnings.warn(
            f"Nearly every row has a class of its own ({labels.k:,} classes in {len(labels):,} "
            "rows): is the target an identifier, or a number to be estimated?",
            stacklevel=6,
        )


def _check_class_prior(model: Model, classes: Any, *, more: bool) -> None:
    """Raise a ValueError if the class prior is not for these classes, and cannot come to be."""
    known = model.classes
    if classes is not None:
        known = union_classes(known, encode_labels(classes).classes)
    settings = model.settings
    more = more and classes is None
    check_class_prior(settings.class_prior, settings.estimate, known, more=more)


def learner_of(kind: type[L], model: Model) -> L:
    """Return the learner of a frozen model."""
    settings = model.settings
    as_objects = given_as_objects(model.schema.event_models, model.schema)
    nb = kind(
        model.schema.event_models,
        settings.class_prior,
        "mean" if as_objects else settings.estimate,
        "auto" if as_objects else settings.smoothing,
        weights=None if model.weights is None else model.weights.how,
        interactions="auto" if model.schema.interactions else None,
        text="auto" if settings.text == "blocks" else "words",
    )
    nb.keep(model)
    return nb
