"""What every fitted classifier does: predict, explain, be scored, merge, forget, decay, save.

It holds a frozen model, a sample of the rows that were learned, and the history of both. Whatever
changes it exchanges the model whole, so that who only asks needs no lock. All else that can be
asked of it has three doors: ``inspect``, ``curve`` and ``export``.
"""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from naively.assess.decisions import PredictionSets, check_known, prediction_sets
from naively.assess.folds import assess, worth
from naively.assess.refits import Named, check_folds, cross_validate, splits_of
from naively.assess.scores import Scores, check_to_score, score, score_batches
from naively.counting.axis import Name, title
from naively.counting.block import Batch
from naively.counting.labels import (
    Beside,
    Label,
    LabelArray,
    Labels,
    RowWeight,
    Target,
    encode_groups,
    encode_labels,
    plain,
)
from naively.counting.tally import Tally
from naively.data.columns import Rows, join_columns, missing_column
from naively.data.frames import (
    Table,
    as_rows,
    as_table,
    elsewhere,
    is_on_cluster,
    read_labels,
    refuse_on_cluster,
)
from naively.data.reading import NOTHING_SAID, ReadAs
from naively.data.stream import ReadAgainError, Stream
from naively.doors import wing
from naively.estimators.accessors import Curve, Door, Fitted, Inspect, naming_target
from naively.estimators.exports import Export
from naively.estimators.learned import LOCK, Learned, as_now, asking, check_is_fitted, exclusive
from naively.estimators.scikit import Estimator
from naively.file import store
from naively.file.parts import SampledRows
from naively.fitting.learn import LabelledStream, check_named
from naively.fitting.reservoir import Reservoir, merged
from naively.fitting.weights import posterior
from naively.kernels.reference import Finish, Finished, Floats
from naively.model.class_prior import Cost, decide, estimate_prior, given_prior, shift
from naively.model.counted import AddedNoise, Counted, check_rows
from naively.model.held_out import check_coverage
from naively.model.model import History, Model, Weights
from naively.options import COPIES, Weighting, means_copies
from naively.schema.schema import Schema
from naively.schema.settings import Probabilities

if TYPE_CHECKING:  # what explains a model is imported when it is asked to
    from naively.fitting.covariance import WeightsCovariance
    from naively.inspect.explain import Explanation
    from naively.inspect.parameters import ParameterCount
    from naively.inspect.uncertainty import ProbabilityIntervals

# --- What is asked of each row can be asked of tables that are not in memory, batch by batch -----


Method = TypeVar("Method", bound=Callable[..., Any])


def by_row(title: str) -> Callable[[Method], Method]:
    """Let a method that answers for each row take tables that are not in memory."""
    # title: the name of the column that it makes of a lazy frame; with {} for the label, of the
    # columns

    def decorate(verb: Method) -> Method:
        @wraps(verb)
        def answer(self: Fitted, X: Table, *args: Any, **kwargs: Any) -> Any:
            made_by = elsewhere(X)
            stream = None if made_by is None else self._stream(X)
            if stream is None:
                return verb(as_now(self), X, *args, **kwargs)
            classes = self._checked.classes  # what is not fitted yet says so now
            # The model is that of now, whatever is learned before the rows are read.
            ask = partial(_of_rows, partial(verb, as_now(self)), args, kwargs)
            if made_by == ("polars", "LazyFrame"):
                unsure = "reject" in kwargs and kwargs["reject"] is not None
                single = is_single(kwargs.get("dtype", np.float64))
                return _lazy_frame(X, ask, title, classes, unsure=unsure, single=single)
            # What strings spell is known to the model; only the rows of a file say it themselves.
            rows = stream if X is stream else map(join_columns, stream.columns())
            return map(ask, rows)

        return cast("Method", answer)

    return decorate


def _of_rows(verb: Any, args: Any, kwargs: Any, rows: Table) -> Any:
    return verb(rows, *args, **kwargs)


def _lazy_frame(
    X: Any,
    ask: Callable[[Table], Any],
    title: str,
    classes: LabelArray,
    *,
    unsure: bool,
    single: bool,
) -> Any:
    """Return a lazy frame of the answers to the rows of a lazy frame."""
    import polars as pl

    if title == "prediction":
        # A column is of one type, and "unsure" is a string.
        schema = {title: pl.String() if unsure else pl.Series(_plain(classes)).dtype}
    elif "{}" in title:
        number = pl.Float32() if single else pl.Float64()
        schema = dict.fromkeys((title.format(label) for label in classes.tolist()), number)
    else:
        schema = {title: pl.Float64()}

    def answers(frame: Any) -> Any:
        found = ask(frame)
        if found.ndim == 2:
            return pl.DataFrame(np.ascontiguousarray(found), schema)
        if unsure:
            found = np.array(list(map(str, found.tolist())), object)
        return pl.DataFrame({title: _plain(found)}, schema)

    return X.map_batches(answers, schema=schema, streamable=True)


def _plain(labels: LabelArray) -> Any:
    """Return labels as Polars takes them: of objects, a list."""
    return labels.tolist() if labels.dtype.kind == "O" else labels


# --- What every fitted classifier does: predict, explain, be scored, merge, forget, decay, save ---
#
# It holds a frozen model, a sample of the rows that were learned, and the history of both.
# Whatever changes it exchanges the model whole, so that who only asks needs no lock. All else that
# can be asked of it has three doors: ``inspect``, ``curve`` and ``export``.


NEGLIGIBLE = 1e-9  # nats between classes, which are no evidence but rounding
BLOCK = 1 << 16  # rows that are computed together where not all should be


def is_single(dtype: DTypeLike) -> bool:
    """Whether results are to be of float32; a ValueError if of anything but that or float64."""
    if dtype is np.float64:
        return False
    asked = np.dtype(dtype)
    if asked not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {asked}.")
    return bool(asked == np.float32)


def faded_by(model: Model, factor: float) -> Model:
    """Return a model whose counts are scaled, or raise a ValueError if nothing would be left."""
    if not (np.isfinite(factor) and factor > 0):
        raise ValueError(f"The decay factor must be greater than 0, got {factor}.")
    faded = model * float(factor)
    if not faded.counted.tally.class_count.any():
        raise ValueError("Nothing would be left: all counts are too small to be told from 0.")
    return faded


class Classifier(Estimator):
    """A frozen model with a sample of its rows, and all that can be done with the two."""

    _learned: Learned  # exchanged whole; there is none before anything is learned
    _kind: Weighting | None = None  # of weights that are fitted; None of pure naive Bayes
    _interacts: bool = False  # whether interactions are chosen when the model is fitted

    @abstractmethod
    def _read_rows(self, X: Table) -> Rows:
        """Read rows, or raise what is wrong with them."""

    @abstractmethod
    def _counted_of(
        self, X: Table, y: Target, sample_weight: RowWeight
    ) -> tuple[Counted, Reservoir]:
        """Count more labelled rows, as the fitted model counted its own, and sample them."""

    @abstractmethod
    def _count(self, X: Table, y: Target, *, weighted: bool) -> tuple[Batch, Model]:
        """Count rows as ``fit`` does, without weights; what was learned stays as it is.

        What is counted of a text depends on whether weights are to be fitted.
        """

    @abstractmethod
    def _learner(self, model: Model) -> Any:
        """Return a ``NaiveBayes`` of another model, of this kind where this is one."""

    def _exchange(self, **changes: Any) -> None:
        """Exchange some of what was learned."""
        self._learned = replace(self._learned, **changes)

    def _stream(self, X: Table) -> Stream | None:  # noqa: ARG002  (for those that can)
        """Return a table that is predicted batch by batch; None if it is predicted at once."""
        return None

    inspect = Door(Inspect)
    curve = Door(Curve)
    export = Door(Export)

    @by_row("prediction")
    def predict(
        self, X: Table, *, cost: Cost = None, reject: float | None = None
    ) -> LabelArray | Any:
        """Return the most probable class of each row, or the one of least expected cost.

        Parameters
        ----------
        X : table of rows
            As for ``fit``. For a table that is not in memory, predictions come in batches (a
            LazyFrame for a LazyFrame of Polars, else an iterator of arrays).
        cost : array of shape (classes, classes), or mapping of mappings, optional
            The cost of each answer (second) for each right class (first). In a mapping, pairs that
            are not named cost 0 if right and 1 if wrong.
        reject : float, optional
            The answer is "unsure" if it is less probable than this.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X, y = [[1.0], [2.0], [7.0], [8.0]] * 5, ["a", "a", "b", "b"] * 5
        >>> nb = NaiveBayes("gaussian").fit(X, y)
        >>> nb.predict([[1.0], [4.4]], reject=0.9)
        array(['a', 'unsure'], dtype=object)
        >>> nb.predict([[4.4]]), nb.predict([[4.4]], cost={"b": {"a": 100}})
        (array(['a'], dtype='<U1'), array(['b'], dtype='<U1'))
        """
        if is_on_cluster(X):
            return wing("predict on a cluster")(X, self._checked, cost, reject)
        if cost is None and reject is None:
            label = self._scored(X, "label")  # what is not fitted yet says so
            return self.classes_[label]
        return decide(self.predict_proba(X), self.classes_, cost, reject)

    @by_row("p({})")
    def predict_proba(
        self, X: Table, *, class_prior: Probabilities | None = None, dtype: DTypeLike = np.float64
    ) -> Floats | Any:
        """Return the posterior p(class | row), of shape (rows, classes).

        Parameters
        ----------
        X : table of rows
            As for ``predict``.
        class_prior : sequence or mapping, optional
            Probability of each class among these rows, in the order of ``classes_`` or by label, if
            it differs from training.
        dtype : {float64, float32}
            The type of the result: float32 takes half the memory. Everything is computed in
            float64.

        Examples
        --------
        >>> import numpy as np
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.predict_proba([[4.4]], dtype=np.float32).dtype
        dtype('float32')
        """
        single = is_single(dtype)
        if is_on_cluster(X):
            if single:
                raise ValueError("The probabilities of a frame of Spark are of float64.")
            return wing("predict_proba on a cluster")(X, self._checked, class_prior)
        if class_prior is None:
            return self._scored(X, "posterior32" if single else "posterior")
        priors = np.exp(self.class_log_prior_), given_prior(class_prior, self.classes_)
        if not single:
            return shift(self._scored(X, "posterior"), *priors)
        model, rows = self._checked, self._rows(X)
        found: NDArray[Any] = np.empty((len(rows), len(self.classes_)), np.float32)
        for first in range(0, len(rows), BLOCK):
            some = slice(first, first + BLOCK)
            found[some] = shift(model.posterior(rows.take(some)), *priors)
        return found

    @by_row("log p({})")
    def predict_log_proba(self, X: Table, *, dtype: DTypeLike = np.float64) -> Floats:
        """Return the log posterior, of shape (rows, classes); ``dtype`` as for predict_proba."""
        single = is_single(dtype)
        return self._scored(X, "log_posterior32" if single else "log_posterior")

    @by_row("log p({}, row)")
    def predict_joint_log_proba(self, X: Table, *, dtype: DTypeLike = np.float64) -> Floats:
        """Return log p(class) + log p(row | class), less what does not depend on the class.

        Where there are weights, it is the score with them that the posterior follows from.
        ``dtype`` is that of ``predict_proba``.
        """
        single = is_single(dtype)
        return self._scored(X, "joint32" if single else "joint")

    @by_row("log p(row)")
    def score_samples(self, X: Table, y: Label | Target = None) -> Floats:
        """Return log p(row): how much each row surprises, for outliers and drift.

        It is the density (or probability) under the event models, with the base measure and without
        weights and interactions.

        Parameters
        ----------
        X : table of rows
            As for ``predict``.
        y : label, or array-like of shape (rows,), optional
            Return log p(row | y) instead, for one class or for a class of each row.

        Returns
        -------
        log_p : ndarray of shape (rows,)
            In nats.

        Raises
        ------
        ValueError
            If a label was not learned.

        Notes
        -----
        By the sum rule p(row) is the sum of p(class) p(row | class) over the classes. A row of
        counts has its multinomial coefficient; a text is a sequence of words and has none, so that
        the posterior is the joint probability over p(row).

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes(event_models="gaussian").fit([[1.0], [2.0], [8.0]], ["a", "a", "b"])
        >>> surprise = nb.score_samples([[1.5], [50.0]])
        >>> surprise[0] > surprise[1]
        np.True_
        >>> nb.score_samples([[1.5]], "a") > nb.score_samples([[1.5]], "b")
        array([ True])
        """
        from naively.inspect.likelihood import log_likelihoods

        model, rows = self._checked, self._rows(X)
        if y is None:
            return model.log_evidence(rows)
        if isinstance(y, str | float | int | dt.date | np.generic):
            return log_likelihoods(model, rows, plain(y))
        labels = encode_labels(read_labels(y))
        check_rows(rows, labels)
        return log_likelihoods(model, rows, labels.classes[labels.codes])

    def estimate_class_prior(self, X: Table) -> Floats:
        """Estimate how frequent the classes are where these rows come from, by EM.

        It follows from the likelihood ratios of the rows. A row without evidence changes nothing.
        Missing cells are no evidence here, because they may have other reasons than in training.
        Saerens, Latinne & Decaestecker (2002). Pass it to ``predict_proba``.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> X, y = [[1.0], [2.0], [7.0], [8.0]] * 5, ["a", "a", "b", "b"] * 5
        >>> nb = NaiveBayes("gaussian").fit(X, y)
        >>> nb.estimate_class_prior([[1.5], [1.1], [1.7], [7.5]]).round(2)
        array([0.75, 0.25])
        """
        model = self._checked
        model = model.counting(settings=replace(model.settings, presence="ignore"))
        joint = model.joint_log_likelihood(self._rows(X))
        prior = np.exp(model.class_log_prior)
        evidence = joint[:, prior > 0] - model.terms.start[prior > 0]
        says = np.ptp(evidence, axis=1) > NEGLIGIBLE
        return estimate_prior(posterior(joint[says]), prior) if says.any() else prior

    @asking
    def predict_set(
        self, X: Table, coverage: float = 0.9, *, by_class: bool = False
    ) -> PredictionSets:
        """Return a set of classes for each row, so that so many sets hold the right class.

        Parameters
        ----------
        X : table of shape (rows, columns)
            The rows.
        coverage : float, default 0.9
            The share of rows like the learned ones whose sets hold the right class. It is larger if
            the most probable class, which is in every set, is right more often.
        by_class : bool, default False
            Whether this should hold for the rows of each class too, and not only for all together.
            For a class of few rows the threshold is shrunk to that of all classes.

        Returns
        -------
        sets : PredictionSets
            A sequence of lists of labels; ``contains``, an array of bool of shape (rows, classes);
            ``size``; and ``least``, the least probability of a class in a set.

        Raises
        ------
        ValueError
            If it is not known how probable the right classes of held-out rows are: after ``load``
            of a file that was saved without ``keep_rows`` and ``sets``, and after ``forget`` and
            ``decay``. ``calibrate(X, y)`` makes it known again.

        Notes
        -----
        A class is in a set if its probability reaches a threshold, which the right class reaches in
        that share of the rows that ``assess()`` holds out: conformal prediction without rows that
        are set aside. The first call finds it, and takes up to twice as long as learning. Nothing
        is promised for rows of another kind than the learned ones. When models from files are
        merged, their held-out rows add up, and sets are rather too large.

        Vovk, Gammerman & Shafer, Algorithmic learning in a random world (2005); by class: Vovk,
        Conditional validity of inductive conformal predictors (2012).

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> X, y = load_iris(return_X_y=True)
        >>> nb = NaiveBayes().fit(X, y)
        >>> sets = nb.predict_set(X, 0.99)
        >>> sets[0], bool(sets.contains[range(150), y].mean() > 0.98)
        ([0], True)
        """
        check_coverage(coverage)
        model = self._calibrated()
        p = self._checked.score(model.encode(self._rows(X)), "posterior")
        return prediction_sets(model, p, coverage, by_class=by_class)

    def _calibrated(self) -> Model:
        """Return the model with what is known of held-out rows, from the sample if it can be."""
        return self._checked.with_held_out(self._learned.odds)

    @asking
    def explain(self, X: Table, *, interval: float | None = None, cost: Cost = None) -> Explanation:
        """Say why: the weight of evidence of each column, category and word.

        The line of a column includes what the linear part adds for it. Missing cells and
        interactions have lines of their own.

        Parameters
        ----------
        X : table of rows
            As for ``predict``, in memory.
        interval : float, optional
            Give intervals of the probabilities too, of this coverage, such as 0.9 (see
            ``predict_interval``).
        cost : optional
            As for ``predict``: explain the answer of least expected cost.

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
        'spam' against 'ham': log odds 0.05 (probability 0.51)
           +0.49  text = cheap
           -0.44  text = lunch
           +0.00  class prior
        """
        from naively.inspect.explain import explain
        from naively.inspect.uncertainty import probability_intervals

        model, rows = self._checked, self._rows(X)
        intervals = None
        if interval is not None:
            coverage = check_coverage(interval)
            intervals = probability_intervals(model, rows, coverage, self._covariance())
        return explain(model, rows, intervals, self.target_, cost)

    @asking
    def predict_interval(self, X: Table, coverage: float = 0.9) -> ProbabilityIntervals:
        """Say how sure the probabilities are: where their means over fits to as many rows are.

        Parameters
        ----------
        X : table of rows
            As for ``predict``, in memory.
        coverage : float, default 0.9
            How often an interval should hold the mean.

        Returns
        -------
        intervals : ProbabilityIntervals
            Probability, low and high of each row and class, of shape (rows, classes).

        Raises
        ------
        ValueError
            If it cannot be known: with weights, if no rows are in memory (after ``forget`` and
            ``decay``, after ``load`` of a file without a sample), if fewer than 200 were learned
            (copies left out), or if there are more than 4,000 weights; if rows without a label
            count; and of kernel densities, joint tables, complements, and parameters that are
            integrated out. It names the column then.

        Notes
        -----
        An interval is for the mean probability of models that have learned as many other rows of
        the same kind. It is not for the true probability, nor for that of one such model, which
        varies by chance too (an interval of nine in ten holds about three of four). An interval
        does not show the bias of a model: where columns repeat each other, a pure model
        (``weights=None``) has narrow intervals around wrong probabilities.

        It follows from the posterior of the parameters. The mean and variance of each log
        likelihood are exact (digamma and trigamma functions of the counts; of Gaussians the closed
        form of the normal-inverse-gamma distribution), and add up over the columns. The log odds
        are taken to be normal with these sums, and probabilities follow from them. Without weights
        their centre is the posterior mean. With weights it is the predicted log odds, and the
        uncertainty of the weights is added: the inverse of the second derivatives of the loss on
        the rows in memory (Laplace's approximation). Each call takes about as long as fitting the
        weights.

        Choices count as known: the linear part, interactions, bins, widths of kernels and
        pseudo-counts. So do levels and words that were never seen, and weights of 0. Counts of less
        than half a row (a row, with weights) are taken as that, because pretend counts may be tiny.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> few = {"wet": ["yes"] * 3 + ["no"] * 2}, ["rain", "rain", "sun", "sun", "sun"]
        >>> nb = NaiveBayes(weights=None).fit(*few)
        >>> print(nb.predict_interval({"wet": ["yes"]}))
        row  class  probability        low      high
          0  rain      0.591885   0.191757  0.928804
          0  sun       0.408115  0.0711961  0.808243
        """
        from naively.inspect.uncertainty import probability_intervals

        coverage = check_coverage(coverage)
        if elsewhere(X) is not None:
            raise ValueError("Intervals are of rows in memory; give some of the rows.")
        covariance = self._covariance()
        found = probability_intervals(self._checked, self._rows(X), coverage, covariance)
        return naming_target(found, self.target_)

    def _covariance(self) -> WeightsCovariance | None:
        """Return how sure the weights are; None without weights."""
        from naively.inspect.uncertainty import covariance_for

        model = self._checked
        if self.unlabelled_weight_ > 0:
            raise ValueError(
                "The uncertainty of a probability is not known where rows without a label count: "
                "their classes depend on all other rows; learn from rows with labels."
            )
        return covariance_for(model, self._learned.rows_or_none)

    @asking
    def assess(
        self,
        X: Table = None,
        y: Target = None,
        *,
        folds: int = 10,
        groups: Target = None,
        time: Target = None,
        sample_weight: RowWeight = None,
        cost: Cost = None,
    ) -> Scores:
        """Assess the model from the rows that it was trained on, or by learning again from rows.

        Without rows, the rows in memory are scored, as after ``fit``. The tally of each fold is
        subtracted, weights (and everything else that is fitted) are fitted to the rest, and the
        fold is predicted: cross-validation without counting again. A fold takes about as long as
        ``fit``. There are 10 folds, or 20 for at most 2,000 rows. Only so many are held out as take
        at most twice the time of learning, but at least two; with few rows, as many as take half a
        second more, until 2,000 rows are scored. The time is estimated from numbers (rows, and 200
        for each column, times columns times classes) and not by a clock, so equal rows give equal
        scores. If the sample is a part of the learned rows, there are fewer folds, down to four,
        each with at most a tenth of the learned rows. With many rows a random sample is scored: at
        most 10,000 rows, fewer with very many columns and classes; or, if all evidence has one
        weight (one column, a matrix of counts, or texts with ``text="words"``), 500 for each class.
        The printed scores say how many rows were scored, of how many, and why.

        With rows, all of them are scored, each by a new model with the same options that has
        learned the rows of the other folds. This estimator does not change, and need not be fitted.

        Parameters
        ----------
        X, y : optional
            Labelled rows, as for ``fit``: those that were learned, or others of their kind.
        folds : int, default 10
            How many folds the rows are divided into: at random, but always alike, and stratified by
            class.
        groups : str or array-like of shape (rows,), optional
            A column of ``X``, or what each row is of: a customer, a document, a place; "copies" are
            equal rows. No group is split, so the scores are those of new groups, and the intervals
            are for so many groups.
        time : str or array-like of shape (rows,), optional
            A column of ``X``, or numbers, dates or strings that are dates. It orders the rows into
            ``folds`` + 1 blocks, and a model of the blocks before predicts each block; the first is
            only learned. Rows of one time are in one block. With ``groups``, the model of a block
            has not learned rows of its groups.
        sample_weight : array-like of shape (rows,), optional
            Finite and at least 0; weight 2 is the row twice.
        cost : array of shape (classes, classes), or mapping of mappings, optional
            What each answer costs, as for ``predict``: the scores then say what the answers of
            least expected cost cost, and what always the same answer does.

        Returns
        -------
        scores : Scores
            Accuracy, log loss, Brier score, area under the ROC curve, calibration error, confusion,
            reliability, precision and recall by class, how much the leave-one-out log loss grows
            without each column (not if rows are given), and the number of rows.

        Raises
        ------
        ValueError
            If the rows are not in memory: after ``forget`` and ``decay``, after ``load`` of a file
            without a sample, and after ``merge`` where one had none; or if rows without a label
            count, as these depend on the labels of all others. For rows that are given: if there
            are fewer groups or times than folds, or a group, time or label is missing.

        Notes
        -----
        A fitted model learns only the columns that it has learned before. A column that is named as
        ``groups`` or ``time`` is not learned, unless this model has learned it. A loaded model
        keeps the event models of its columns, and learns everything else again. In a model with a
        ``half_life`` given rows do not fade: ``curve.decay`` scores fading.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> X, y = load_iris(return_X_y=True)
        >>> nb = NaiveBayes().fit(X, y)
        >>> nb.assess().accuracy > 0.9
        True
        >>> nb.assess(X, y, folds=5).how
        '5 folds, refitted'
        """
        if X is None:
            rest = {"groups": groups, "time": time, "sample_weight": sample_weight}
            for name, given in {"y": y, **rest}.items():
                if given is not None:
                    raise ValueError(f"{name} is of rows that are given; give X and y too.")
            model = self._checked
            return naming_target(assess(model, self._learned.held_out, cost), self.target_)
        if elsewhere(X) is not None:
            raise ValueError(
                "Rows are learned again without each fold, which needs them in memory; read some "
                "of them into a frame, or assess() the sample of those that were learned."
            )
        if y is None:
            raise ValueError("assess(X, y) needs the labels; give y, or neither X nor y.")
        folds = check_folds(folds)
        X, beside = self._beside(X, {"groups": groups, "time": time})
        learned = self.model_.view.schema.order if self.__sklearn_is_fitted__() else ()
        fresh = self._unfitted()._refitted  # noqa: SLF001  (of our class)
        found = fresh(X, y, learned, folds, beside, sample_weight, cost)
        return naming_target(found, self._name_of(y))

    def _refitted(
        self,
        X: Table,
        y: Target,
        learned: Collection[Name],
        folds: int,
        beside: Mapping[str, Named | None],
        weight: RowWeight,
        cost: Cost,
    ) -> Scores:
        """Score all rows, each by a model that learns as this one would without its fold."""
        # If all columns that were ``learned`` are there, no other is.
        rows, labels = self._read_whole(X, y, weight)
        check_rows(rows, labels)
        known = [name for name in rows.names if name in set(learned)]
        if len(known) == len(learned) > 0 and len(known) < len(rows.names):
            rows = rows.select(known)
        of_groups = beside.get("groups")
        if of_groups is not None:  # of the rest, groups are left out to fit weights too
            if of_groups.name == COPIES:
                equal = replace(labels, group=encode_groups(COPIES, len(labels)))
                of_groups = replace(of_groups, values=self._encoded(rows, equal).labels.group)
                beside = {**beside, "groups": of_groups}
            labels = replace(labels, group=of_groups.codes(len(labels)).astype(np.uint64))
        found = splits_of(labels, folds, **beside)
        return cross_validate(rows, labels, found, self._learn_anew, cost)

    def _beside(
        self, X: Table, given: Mapping[str, Target]
    ) -> tuple[Table, dict[str, Named | None]]:
        """Return what is said of each row beside its label, and the table of what is learned."""
        said = self._read_as
        named = {what: of for what, of in given.items() if isinstance(of, str)}
        found = {
            what: None if of is None else Named("", of, said)
            for what, of in given.items()
            if what not in named
        }
        if means_copies("groups", given.get("groups")):
            found["groups"] = Named(COPIES, None)
        if len(found) == len(given):
            return X, found
        rows = as_rows(X)
        for what, name in named.items():
            if what not in found:
                if name not in rows.names:
                    raise ValueError(missing_column(name, rows.names, f"column of {what}"))
                found[what] = Named(name, rows.cells(name), said)
        learned = self.model_.view.schema.order if self.__sklearn_is_fitted__() else ()
        left_out = {of.name for of in found.values() if of is not None} - set(learned)
        return rows.select([name for name in rows.names if name not in left_out]), found

    @property
    def _read_as(self) -> ReadAs:
        """What was said of how strings are read."""
        return NOTHING_SAID

    def _unfitted(self) -> Self:
        """Return an estimator of the same options that has learned nothing."""
        names = signature(type(self).__init__).parameters.keys() - {"self"}
        return type(self)(**{name: deepcopy(getattr(self, name)) for name in names})

    @abstractmethod
    def _read_whole(self, X: Table, y: Target, sample_weight: RowWeight) -> tuple[Rows, Labels]:
        """Read rows and their labels as ``fit`` does."""

    @abstractmethod
    def _learn_anew(self, rows: Rows, labels: Labels) -> Model:
        """Return the model that ``fit`` learns from rows."""

    @abstractmethod
    def _encoded(self, rows: Rows, labels: Labels) -> Batch:
        """Return rows encoded as ``fit`` encodes them."""

    @asking
    def evaluate(
        self,
        X: Table,
        y: Target,
        sample_weight: RowWeight = None,
        *,
        frequencies: Target = None,
        cost: Cost = None,
    ) -> Scores:
        """Score predictions on labelled rows that were not learned.

        Parameters
        ----------
        X : table of rows
            As for ``fit``. A table that is not in memory is read in batches, and only the
            posteriors are kept.
        y : array-like of shape (rows,), or str
            The right labels, or the name of their column in ``X``.
        sample_weight : array-like of shape (rows,), optional
            Finite and at least 0; weight 2 is the row twice.
        frequencies : array-like of shape (rows,), optional
            How many equal rows each row is.
        cost : array of shape (classes, classes), or mapping of mappings, optional
            What each answer costs, as for ``predict``: the scores then say what the answers of
            least expected cost cost, and what always the same answer does; and of two classes,
            above which probability the second is answered.

        Returns
        -------
        scores : Scores
            Accuracy, log loss, Brier score, area under the ROC curve, calibration error,
            confusion, reliability, and precision and recall by class.

        Raises
        ------
        ValueError
            If there are no rows, a label is missing, or a table, column or weight is wrong.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.evaluate([[1.5], [6.5]], ["a", "b"]).accuracy
        1.0
        """
        model = self._checked
        refuse_on_cluster(X, "A frame of Spark is not scored; collect some of its rows")
        stream = self._stream(X)
        if stream is not None:
            found = self._evaluate_stream(stream, y, Beside(sample_weight, frequencies), cost)
        else:
            rows, labels = self._with_labels(X, y)
            found = score(model, rows, labels, sample_weight, frequencies, cost)
        return naming_target(found, self._name_of(y))

    @asking
    def score(self, X: Table, y: Target, sample_weight: RowWeight = None) -> float:
        """Return the accuracy, by which scikit-learn's tools compare estimators.

        Parameters
        ----------
        X, y, sample_weight
            As for ``evaluate``.

        Returns
        -------
        accuracy : float
            The share of correct predictions, by weight.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.score([[1.5], [6.5]], ["a", "a"])
        0.5
        """
        if isinstance(y, str) or is_on_cluster(X) or self._stream(X) is not None:
            return self.evaluate(X, y, sample_weight).accuracy
        right = Beside(sample_weight).encode(read_labels(y))
        answer = self._scored(X, "label")
        check_to_score(len(answer), right)
        code = {label: c for c, label in enumerate(self.classes_.tolist())}
        codes = np.array([code.get(label, -1) for label in right.classes.tolist()])
        return float(np.average(codes[right.codes] == answer, weights=right.weight))

    @exclusive
    def forget(self, X: Table, y: Target, sample_weight: RowWeight = None) -> Self:
        """Unlearn rows: the counts are then as if they had never been seen; the weights stay.

        For weighted rows, the number of independent rows that a weight of 1 stands for stays too.

        Raises
        ------
        ValueError
            If the counts show that these rows were not learned, because no rows could give the
            remaining counts: a count below zero, more cells of a column than rows, squares less
            than the square of their sum. Nothing changes then. The counts show no more: rows whose
            cells were all learned, in other rows of the class, are subtracted.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0]], ["a", "a", "b"])
        >>> nb.forget([[2.0]], ["a"]).class_count_
        array([1., 1.])
        """
        check_is_fitted(self)
        model, (counted, sample) = self.model_, self._counted_of(X, y, sample_weight)
        left = model.forget(counted)
        if model.seen is not None:
            for kept in sample.for_model(Model.of(counted)).kept:
                model = model.without_copies(kept.batch)
            left = replace(left, weights=model.weights)
        model = self._placed(left)
        gone = self._total - model.counted.rows
        self._learned = self._learned.left(model).recorded("forget", gone)
        return self

    @exclusive
    def merge(self, *others: Classifier) -> Self:
        """Add what other models have learned: the counts are those of the rows of all.

        Weights are fitted to the samples of rows that all models have in memory, so predictions are
        those of a model that has learned all rows. If one has no sample, as after ``load`` of a
        file without one, or counts rows without a label, weights are the mean over the models,
        weighted by their rows, and so are the functions of the linear parts.

        Parameters
        ----------
        *others : NaiveBayes
            One model or more; many at once are quicker than one after the other. They do not
            change, and their order does not affect predictions.

        Returns
        -------
        self : NaiveBayes
            With the classes, columns, levels and words of all. It fits weights, and looks for
            interactions, if any of them does; missing cells are evidence if they are in any.

        Raises
        ------
        ValueError
            If a column was counted otherwise in another model (by another event model, or a text
            split otherwise), if columns have names in one and places in the other, or if the models
            have different ``class_prior``, ``estimate`` or ``smoothing``. It says which, and
            nothing changes then.
        TypeError
            If the labels are strings in one model and numbers in the other.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> north = NaiveBayes().fit([[1.0], [3.0]], ["a", "b"])
        >>> north.merge(NaiveBayes().fit([[2.0]], ["a"])).class_count_
        array([2., 1.])
        """
        return self._merge_each(others)

    @exclusive
    def decay(self, factor: float) -> Self:
        """Scale all counts, so that later rows weigh more.

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
        faded = faded_by(self.model_, factor)
        gone = self._total - faded.counted.rows
        self._learned = self._learned.left(faded).recorded("decay", gone, f"{factor:g}")
        return self

    @asking
    def save(
        self, path: str | PathLike[str] | BinaryIO, *, keep_rows: bool = False, sets: bool = False
    ) -> None:
        """Write the model to a file (safetensors: no code in it), whole or not at all.

        Parameters
        ----------
        path : str or Path, or a file of bytes that is open for writing
            The file. One whose name ends in ``.gz`` is compressed, to about a third if the model
            is of texts; ``load`` reads both.
        keep_rows : bool, default False
            Whether to write the sample of the learned rows that is in memory too: at most 10,000
            different ones, or, of a table without texts, about 10,000 (1 + log(n / 10,000)) of n.
            After ``load`` of such a file everything that needs rows works as before: ``assess``,
            ``calibrate``, and the weights after ``merge`` and ``partial_fit``. By default no row is
            written, as rows may be private.
        sets : bool, default False
            Whether to write a histogram of the probabilities of the right classes of held-out rows,
            so that ``predict_set`` works without the rows (as it does after ``calibrate(X, y)``).
            It takes as long as ``assess()``.

        Raises
        ------
        ValueError
            If rows are to be kept and there are none: after ``forget`` and ``decay``, after
            ``load`` of a file without one, or if rows without a label count.
        OSError
            If the file cannot be written.

        Notes
        -----
        Every file names the categories and words that were counted; a column of up to 1,000
        different texts is counted as categories. The owner of a file with a sample can also read
        which of them each sampled row holds, with its numbers, its label and its weight. For a text
        these are its words, word bigrams and character n-grams, and how often each comes: not their
        order, but a short text can be put together from them. Hashed words have no names, but
        anybody can test whether a text may hold a given word.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from naively import NaiveBayes, load
        >>> nb = NaiveBayes().fit([[1.0], [2.0], [7.0], [8.0]] * 5, ["a", "a", "b", "b"] * 5)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.naively"
        >>> nb.save(path, keep_rows=True)
        >>> load(path).assess().log_loss == nb.assess().log_loss
        True
        """
        check_is_fitted(self)
        rows = self._sampled_rows() if keep_rows else None
        if keep_rows and rows is None:
            raise ValueError(
                "There is no sample of the learned rows to save: none is in memory, or rows "
                "without a label count. Save the model without it."
            )
        model = self._calibrated() if sets else self.model_
        if sets:
            check_known(model)
        target = {"target": self.target_} if self.target_ else {}
        told = {**target, **self._learned.target.beside}
        store.save(model, path, told, rows, self.history_)

    @property
    def model_(self) -> Model:
        """What was learned: counts, and weights."""
        return self._fitted

    @property
    def history_(self) -> History:
        """What was learned and forgotten, and when."""
        return self._learned.history if self.__sklearn_is_fitted__() else History()

    @property
    def target_(self) -> str:
        """The name of the column that is predicted, if it was said."""
        return self._learned.target.name if self.__sklearn_is_fitted__() else ""

    @property
    def unlabelled_weight_(self) -> float:
        """How much a row without a label counts."""
        is_fitted = self.__sklearn_is_fitted__()
        return self._learned.model.counted.unlabelled_weight if is_fitted else 0.0

    @property
    def classes_(self) -> LabelArray:
        """The class labels."""
        return self._fitted.classes

    @property
    def class_count_(self) -> Floats:
        """Rows (total weight) of each class."""
        return self._fitted.counted.tally.class_count

    @property
    def class_log_prior_(self) -> Floats:
        """Log probability of each class."""
        return self._fitted.class_log_prior

    @property
    def tally_(self) -> Tally:
        """What was counted; how many cells are missing follows from it."""
        counted = self._fitted.weighed(None).view  # a row of weight 2 counts as two
        taken, beside = counted.tally, ("missing", "missing as")
        follows = [g.key for g in counted.schema.groups if g.kind in beside]
        blocks = {key: block for key, block in taken.blocks.items() if key not in follows}
        return replace(taken, blocks=blocks) if follows else taken

    @property
    def schema_(self) -> Schema:
        """Which columns go to which event model, and why."""
        return self._fitted.described()

    @property
    def weights_(self) -> Weights | None:
        """How much the evidence of each column counts, and the linear part beside it."""
        return self._fitted.weights

    @property
    def n_parameters_(self) -> int:
        """How many parameters are free: with M booleans and two classes 2M + 1.

        A given class prior has no free parameter, and the weights of columns do not count.
        """
        from naively.inspect.parameters import count_parameters

        return count_parameters(self._fitted)

    @property
    def n_joint_parameters_(self) -> ParameterCount | float:
        """How many there would be without the naive Bayes assumption: 2(2ᴹ - 1) + 1.

        It is a whole number, which prints as a power of 2 where it is long and has ``log2``, or
        ``inf`` where a column holds numbers without end.
        """
        from naively.inspect.parameters import count_joint_parameters

        return count_joint_parameters(self._fitted)

    @property
    @asking
    def feature_importances_(self) -> Floats:
        """How much the leave-one-out log loss grows without each column, as shares of all.

        Columns that repeat each other have equal shares of what they are worth together. A time
        has the sum of what it and its parts (hour, weekday, month) have; and each column what its
        interactions have.
        """
        schema, sample = self._fitted.view.schema, self._learned.rows
        cost = worth(self.model_, sample.of(self.model_)).shared()
        of_column = {name: [title(name)] for name in schema.order}
        pairs = {title(name): name.roots for name in schema.derived}
        if self.model_.weights is not None:
            pairs |= self.model_.weights.linear.together
        for pair, names in pairs.items():  # without either of its columns there is none
            for of in names:
                of_column[of].append(pair)
        each = (sum(cost.get(one, 0.0) for one in names) for names in of_column.values())
        growth = np.array([*each])
        return growth / growth.sum() if growth.sum() > 0 else growth

    @property
    def noise_(self) -> tuple[AddedNoise, ...]:
        """The noise in the counts; of merged models, that of each which has some."""
        return self._fitted.counted.noise

    def __sklearn_is_fitted__(self) -> bool:
        return "_learned" in self.__dict__

    def __getstate__(self) -> dict[str, object]:
        found = cast("dict[str, object] | None", super().__getstate__())
        state = {name: of for name, of in (found or {}).items() if name != LOCK}
        if "_learned" in state:  # rows stay private
            state["_learned"] = self._learned.left(self.model_)
        return state

    @exclusive
    def _merge_each(self, others: Iterable[Classifier]) -> Self:
        """Merge models that come one after the other, none of which is held (see ``merge``)."""
        # Only their samples of rows are, until all have come.
        check_is_fitted(self)
        samples: list[Reservoir | None] = []
        histories: list[tuple[str, History]] = []
        kinds: set[Weighting | None] = set()
        seeks: list[bool] = []

        first: Classifier = self

        def models() -> Iterator[Model]:
            for one in chain([first], others):
                check_is_fitted(one)
                learned = one._learned  # noqa: SLF001  (of our class)
                samples.append(learned.sample)
                histories.append(("merged" if histories else "", learned.history))
                kinds.add(one._kind)  # noqa: SLF001
                seeks.append(one._interacts)  # noqa: SLF001
                yield learned.model

        model = self._placed(Model.total(models()))
        if len(samples) == 1:
            return self
        model.class_log_prior  # noqa: B018  (a prior that does not fit all classes is an error now)
        self._learn_as(kinds, any(seeks), model)
        sample = merged(samples, model)
        gained = model.counted.rows - self._total
        if sample is not None:
            model = self._weighed(model, sample)
        history = History.merged(histories)
        learned = replace(self._learned, model=model, sample=sample, history=history)
        self._learned = learned.recorded("merge", gained)
        return self

    def _placed(self, model: Model) -> Model:
        """Return a model with a place for each class that was announced."""
        return model

    def _learn_as(self, kinds: Collection[Weighting | None], interacts: bool, model: Model) -> None:
        """Learn from now on as the models do that were merged into one."""

    def _weighed(self, model: Model, sample: Reservoir) -> Model:  # noqa: ARG002
        """Return the model with weights fitted to the sample of the rows in memory."""
        return model

    def _sampled_rows(self) -> SampledRows | None:
        """Return the sample of the learned rows for a model file; None if there is none."""
        sample = self._learned.rows_or_none
        return None if sample is None else sample.saved(self.model_)

    @property
    def _total(self) -> float:
        """How many rows (their total weight) the model holds."""
        return float(self.model_.counted.tally.class_count.sum())

    @property
    def _fitted(self) -> Model:
        """The model; before it has learned there is none, and an attribute of it is not there."""
        if "_learned" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self._learned.model

    @property
    def _checked(self) -> Model:
        """The model, or scikit-learn's error that there is none yet."""
        check_is_fitted(self)
        return self._learned.model

    def _scored(self, X: Table, finish: Finish) -> Finished:
        """Return the scores of rows, finished (see ``Model.score``)."""
        model = self._checked
        return model.terms.add(model.encode(self._rows(X)), finish)

    def _evaluate_stream(self, stream: Stream, y: Target, beside: Beside, cost: Cost) -> Scores:
        check_named(stream.names, y, beside)
        while True:
            try:
                return score_batches(self._checked, LabelledStream(stream, y, beside), cost)
            except ReadAgainError:
                continue

    def _table(self, rows: Rows) -> Table:
        """Return rows in the form that X has."""
        return as_table(rows)

    def _with_labels(self, X: Table, y: Target) -> tuple[Rows, Target]:
        """Read rows and their labels, which may be one of their columns."""
        if not isinstance(y, str):
            return self._rows(X), read_labels(y)
        rows, labels = self._read_rows(X).split(y)
        return self._without_target(rows), labels

    def _rows(self, X: Table) -> Rows:
        """Read rows to predict, or raise what is wrong with them."""
        return self._without_target(self._read_rows(X))

    def _name_of(self, y: Target) -> str:
        """Return what labels are called, if that is known."""
        return y if isinstance(y, str) else self.target_

    def _without_target(self, rows: Rows) -> Rows:
        """Return rows without what is predicted, and said of rows, which a table may still hold."""
        learned = self.__dict__.get("_learned")
        if learned is None or type(rows.names) is range:  # which is slow to look for a name in
            return rows
        named = learned.target.name, *learned.target.beside.values()
        said = [name for name in named if name in rows.names]
        if not said:
            return rows
        known = set(said).difference(learned.model.view.schema.order)
        rest = [name for name in rows.names if name not in known]
        return rows.select(rest) if 0 < len(rest) < len(rows.names) else rows
