"""How good a fitted model is: its scores, and its curves by rows and by pseudo-count."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING

from naively.counting.batch import Batch
from naively.counting.labels import RowWeight, Target, encode_labels
from naively.data.frames import Table, is_on_cluster
from naively.data.stream import ReadAgainError, Stream
from naively.engines.stream import LabelledStream
from naively.estimators.checks import Seed
from naively.estimators.numbers import Numbers
from naively.estimators.training import Learned, check_named
from naively.evaluation.scores import Scores, score, score_batches
from naively.model.model import Model

if TYPE_CHECKING:
    from naively.evaluation.learning_curve import LearningCurve, Sizes
    from naively.evaluation.smoothing_curve import SmoothingCurve


class Evaluated(Numbers):
    """How good a model is, each result with its numbers and its picture."""

    @abstractmethod
    def keep(self, model: Model) -> None:
        """Make this frozen model the fitted one."""

    @abstractmethod
    def _count(self, X: Table, y: Target, *, weighted: bool) -> Learned:
        """Count rows as ``fit`` does, without weights; what was learned stays as it is.

        What is counted of a text depends on whether weights are to be fitted.
        """

    def evaluate(self, X: Table, y: Target, sample_weight: RowWeight = None) -> Scores:
        """Score predictions on labelled rows that were not learned.

        Parameters
        ----------
        X : table of rows
            As for ``fit``. A table that is not in memory is read in batches, of which the
            posteriors alone are kept.
        y : array-like of shape (rows,), or str
            The right labels, or the name of their column in ``X``.
        sample_weight : array-like of shape (rows,), optional
            Finite and at least 0; weight 2 is the row twice.

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
        if is_on_cluster(X):
            raise ValueError(
                "A frame of Spark is not scored; collect some of its rows, as by X.toPandas()."
            )
        stream = self._stream(X)
        if stream is not None:
            return self._evaluate_stream(stream, y, sample_weight)
        rows, labels = self._with_labels(X, y)
        return score(model, rows, labels, sample_weight)

    def _evaluate_stream(self, stream: Stream, y: Target, weight: RowWeight) -> Scores:
        check_named(stream.names, y, weight)
        while True:
            try:
                return score_batches(self._checked, LabelledStream(stream, y, weight))
            except ReadAgainError:
                continue

    def learning_curve(
        self,
        X: Table,
        y: Target,
        *,
        test: tuple[Table, Target] | float | None = None,
        sizes: Sizes = None,
        repeats: int = 5,
        weights: bool = False,
        random_state: Seed = 0,
    ) -> LearningCurve:
        """Return how good models of the first rows are, of more and more rows in random order.

        Rows are encoded and counted once: the tally of each size is that of the one before and of
        the rows between. This estimator, which need not be fitted, stays as it is.

        Parameters
        ----------
        X, y
            As for ``fit``; a table that is not in memory is read into it.
        test : (X, y) or float, optional
            The rows to score; or how many rows, or, below 1, which share of them, to hold out: anew
            in each repeat. By default a quarter.
        sizes : sequence of numbers, optional
            How many rows to learn, or, where they are fractions up to 1.0, which shares of those
            that are not held out. By default ten, evenly on a logarithmic scale, from ten to all.
        repeats : int, default 5
            How many random orders.
        weights : bool, default False
            Whether to fit the weights that ``fit`` fits, at each size, which takes longer than all
            else. By default it is pure naive Bayes, as with ``weights=None``.
        random_state : int or numpy.random.Generator, default 0
            A seed, for the same orders each time.

        Returns
        -------
        curve : LearningCurve
            Accuracy and log loss of training and held-out rows; ``curve.plot()`` draws them.

        Raises
        ------
        ValueError
            If a size is not above 0 or more than there are rows, or if no rows are left to learn.

        Notes
        -----
        Each point is what ``fit`` and ``evaluate`` give of these rows. The event model of a column
        that was given none follows from the rows of each size; but whether strings are texts
        follows from all rows. A class of which no row has come yet has the posterior 0 and its rows
        are missed, which costs -log 1e-15 = 34.5 nats each. Interactions have no part in it.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> curve = NaiveBayes().learning_curve(*load_iris(return_X_y=True), sizes=[10, 100])
        >>> curve.which[:2], curve.size[:3]
        (['training', 'held-out'], [10, 10, 100])
        """
        from naively.evaluation.learning_curve import learning_curve

        if is_on_cluster(X):
            raise ValueError(
                "A learning curve is not made on Spark; collect some rows, as by X.toPandas()."
            )
        other = copy(self)
        rows = self._whole(X)
        model, _, batches = other._count(rows, y, weighted=weights)  # noqa: SLF001  (a copy of this)
        held_out: Batch | float | None = None
        if isinstance(test, tuple):
            other.keep(model)
            held_out = other._encoded(*test)  # noqa: SLF001
        elif test is not None:
            held_out = test
        kind = self._kind if weights else None
        (batch,) = batches  # of rows in memory
        return learning_curve(model, batch, held_out, sizes, repeats, random_state, kind)

    def smoothing_curve(
        self, X: Table = None, y: Target = None, *, values: Iterable[float] | None = None
    ) -> SmoothingCurve:
        """Return how good the model is with other pseudo-counts; nothing is counted again.

        Parameters
        ----------
        X, y : optional
            Labelled rows that were not learned. Beside them, the sample of the learned rows that is
            in memory after ``fit`` is scored, as it is and each row left out in turn.
        values : iterable of float, optional
            The pseudo-counts, at least 0; by default from 0 to 100. They are those that
            ``smoothing`` sets, here of event models that are given as objects too.

        Returns
        -------
        curve : SmoothingCurve
            Accuracy and log loss; ``curve.plot()`` draws them.

        Raises
        ------
        ValueError
            If a pseudo-count is below 0, if no event model has one, or if there are no rows to
            score: none in memory, and none given.

        Notes
        -----
        Each point is what ``NaiveBayes(smoothing=value, weights=None)`` gives, which has no
        interactions either. Leaving a row out is exact, but for what depends on several columns (a
        variance floor) or on all rows of a sparse column.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("bernoulli").fit([[0], [1], [1], [1], [0]], [0, 1, 1, 0, 0])
        >>> print(nb.smoothing_curve(values=[0, 1]))
        smoothing  which          accuracy  log_loss
                0  leave-one-out       0.8   7.18501
                0  training            0.8  0.381909
                1  leave-one-out       0.4  0.851293
                1  training            0.8   0.49535
        """
        from naively.evaluation.smoothing_curve import smoothing_curve

        model = self._checked
        held_out = None if X is None else self._encoded(X, y)
        known = self._sample is not None
        sample = self._learned().of(model) if known or held_out is None else None
        return smoothing_curve(model, sample, held_out, values)

    def _whole(self, X: Table) -> Table:
        """Return a table that is in memory; any other is read."""
        stream = self._stream(X)
        return X if stream is None else stream.read()

    def _encoded(self, X: Table, y: Target) -> Batch:
        """Encode labelled rows that were not learned, as the rows learned were counted."""
        model = self._checked
        rows, labels = self._with_labels(self._whole(X), y)
        right = encode_labels(labels)
        if not len(rows):
            raise ValueError("There are no rows to score.")
        if len(rows) != len(right):
            raise ValueError(f"There are {len(rows):,} rows to score, and {len(right):,} labels.")
        return model.counted.encode(rows, right, model.tally.axes)
