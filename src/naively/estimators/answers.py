"""What every fitted estimator answers: predictions, explanations, scores.

Of a table that is not in memory, predictions come as they are asked for, and no more of the table
is in memory than a few batches:

- Of a Polars LazyFrame they are a LazyFrame: Polars calls a function of ours batch by batch, for
  whatever it is asked to do with the result (``sink_parquet``, ``head``, ``collect``), and keeps
  the rows in order. A prediction depends on its own row alone, so that batches do not show.
- Of all else (a DuckDB relation, an Ibis table, a PyArrow dataset, scanner or reader, an iterator
  of tables) they are an iterator of arrays, one for each batch that has rows. A relation of DuckDB
  cannot hold them: DuckDB calls functions of Python row by row unless PyArrow is installed, on a
  connection that is not ours to change; and it would read an Arrow stream of ours on its own
  threads, once, and be empty or an error when asked again. While the arrays are read, the
  connection of the relation can do nothing else.
"""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod

import numpy as np

from naively.counting.label_codes import plain
from naively.counting.labels import Label, LabelArray, Target, encode_labels
from naively.counting.names import title
from naively.data.frames import Table, as_table, read_labels
from naively.data.rows import Rows
from naively.estimators.checks import Seed
from naively.estimators.fitted import Fitted
from naively.estimators.lazy import by_row
from naively.evaluation.cross_validate import assess, costs
from naively.evaluation.reservoir import Reservoir
from naively.evaluation.scores import Scores
from naively.kernels.reference import Finish, Finished, Floats
from naively.model.class_prior import Cost, decide, estimate_prior, given_prior, shift
from naively.model.count import check_rows
from naively.model.explain import Explanation, explain
from naively.model.likelihood import log_likelihoods
from naively.model.linear import Linear, linear
from naively.model.weights import Weighting
from naively.schema.settings import Probabilities


class Answers(Fitted):
    """What a fitted model answers, whichever way rows are read."""

    _sample: Reservoir | None = None  # of the rows learned; None where that has changed

    @abstractmethod
    def _rows(self, X: Table) -> Rows:
        """Read rows to predict, or raise what is wrong with them."""

    def _scored(self, X: Table, finish: Finish) -> Finished:
        """Return the scores of rows, finished (see ``Model.score``)."""
        model = self._checked
        return model.score(model.encode(self._rows(X)), finish)

    @property
    def _interacts(self) -> bool:
        """Whether interactions are chosen when the model is fitted."""
        return False

    @property
    def _kind(self) -> Weighting | None:
        """The kind of weights that are fitted; None of pure naive Bayes."""
        return None

    @by_row("prediction")
    def predict(self, X: Table, *, cost: Cost = None, reject: float | None = None) -> LabelArray:
        """Return the most probable class of each row, or the one of least expected cost.

        Parameters
        ----------
        X : table of rows
            As for ``fit``; of a table that is not in memory, predictions come in batches (a Polars
            LazyFrame of a LazyFrame, else an iterator of arrays).
        cost : array of shape (classes, classes), or mapping of mappings, optional
            What each answer (second) costs for each right class (first). In a mapping what is not
            named is 0 if right and 1 if wrong.
        reject : float, optional
            Where the answer is less probable, it is "unsure".

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.predict([[1.0], [4.4]], reject=0.9)
        array(['a', 'unsure'], dtype=object)
        >>> nb.predict([[4.4]]), nb.predict([[4.4]], cost={"b": {"a": 100}})
        (array(['a'], dtype='<U1'), array(['b'], dtype='<U1'))
        """
        if cost is None and reject is None:
            label = self._scored(X, "label")
            return self.classes_[label]
        return decide(self.predict_proba(X), self.classes_, cost, reject)

    @by_row("p({})")
    def predict_proba(self, X: Table, *, class_prior: Probabilities | None = None) -> Floats:
        """Return the posterior p(class | row), of shape (rows, classes).

        Parameters
        ----------
        X : table of rows
            As for ``predict``.
        class_prior : sequence or mapping, optional
            Probability of each class where these rows come from, in the order of ``classes_`` or
            by label, if it is not what was learned.
        """
        p = self._scored(X, "posterior")
        if class_prior is None:
            return p
        return shift(p, np.exp(self.class_log_prior_), given_prior(class_prior, self.classes_))

    def estimate_class_prior(self, X: Table) -> Floats:
        """Estimate how frequent the classes are where these rows come from, by EM.

        Saerens, Latinne & Decaestecker (2002). Pass it to ``predict_proba``.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.estimate_class_prior([[1.5], [1.1], [1.7], [7.5]]).round(2)
        array([0.81, 0.19])
        """
        p = self._checked.posterior(self._rows(X))
        return estimate_prior(p, np.exp(self.class_log_prior_))

    @by_row("log p(row)")
    def score_samples(self, X: Table, y: Label | Target = None) -> Floats:
        """Return log p(row): how much each row surprises, for outliers and drift.

        It is the density (or probability) under the event models, the base measure included;
        weights and interactions have no part in it.

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
            If the model does not know a label.

        Notes
        -----
        By the sum rule p(row) is the sum of p(class) p(row | class) over the classes.

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
        model, rows = self._checked, self._rows(X)
        if y is None:
            return model.log_evidence(rows)
        if isinstance(y, str | float | int | dt.date | np.generic):
            return log_likelihoods(model, rows, plain(y))
        labels = encode_labels(read_labels(y))
        check_rows(rows, labels)
        return log_likelihoods(model, rows, labels.classes[labels.codes])

    @by_row("log p({})")
    def predict_log_proba(self, X: Table) -> Floats:
        """Return the log posterior, of shape (rows, classes)."""
        return self._scored(X, "log_posterior")

    @by_row("log p({}, row)")
    def predict_joint_log_proba(self, X: Table) -> Floats:
        """Return log p(class) + log p(row | class), less what does not depend on the class.

        Where there are weights, it is the score with them that the posterior follows from.
        """
        return self._scored(X, "joint")

    def explain(self, X: Table) -> Explanation:
        """Say why: the weight of evidence of each column, category and word.

        What the linear part adds for a column is in the column's line. That a cell is missing, and
        what two columns say together, are lines of their own.

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
        'spam' against 'ham': log odds 0.44 (probability 0.61)
           +4.16  text = cheap
           -3.71  text = lunch
           +0.00  class prior
        """
        return explain(self._checked, self._rows(X))

    def assess(self) -> Scores:
        """Assess the model from the rows that it was trained on, right after ``fit``.

        The tally of each of some folds is subtracted, weights (and all else that is fitted) are
        fitted on the rest, and the fold is predicted: cross-validation without counting again. A
        fold takes about as long as ``fit``. So of 10 folds, or 20 of at most 2,000 rows, as many
        are held out as take no longer than twice learning and half a second, and two at least: as
        many whose numbers (rows, and 200 for each column, times columns times classes) are together
        no more than that. It is a count and no clock: of the same rows it is the same.
        Of many rows a random sample is looked at: of at most 10,000, fewer of very many columns and
        classes; or, where all evidence has one weight (one column, a matrix of counts, or texts
        with ``text="words"``), of 500 for each class. The print says how many it was, of how many,
        and why.

        Returns
        -------
        scores : Scores
            Accuracy, log loss, Brier score, area under the ROC curve, calibration error,
            confusion, reliability, precision and recall by class, how much the leave-one-out log
            loss grows without each column, and how many rows it is of.

        Raises
        ------
        ValueError
            If the rows are not in memory: after ``forget`` and ``decay``, after ``load`` of a file
            without a sample, and after ``merge`` where one had none; or if rows without a label
            count, as these depend on the labels of all others.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit(*load_iris(return_X_y=True))
        >>> nb.assess().accuracy > 0.9
        True
        """
        of = self._checked, self._learned(), self._kind
        return assess(*of, interactions=self._interacts)

    @property
    def feature_importances_(self) -> Floats:
        """How much the leave-one-out log loss grows without each column, as shares of all.

        A time has the sum of what it and its parts (hour, weekday, month) have; and each column
        what its interactions have.
        """
        sample, schema = self._learned(), self._fitted.schema
        cost = costs(self.model_, sample.of(self.model_))
        of_column = {name: [title(name)] for name in schema.order}
        pairs = {title(name): name.roots for name in schema.derived}
        if self.model_.weights is not None:
            pairs |= self.model_.weights.linear.pairs
        for pair, names in pairs.items():  # without either of its columns there is none
            for of in names:
                of_column[of].append(pair)
        growth = np.array(
            [sum(max(0.0, cost.get(one, 0.0)) for one in names) for names in of_column.values()]
        )
        return growth / growth.sum() if growth.sum() > 0 else growth

    def _learned(self) -> Reservoir:
        if self._sample is None:
            raise ValueError("The rows that were learned are not in memory; give X and y.")
        return self._sample

    def linear(self) -> Linear:
        """Return the model as weights and intercepts, where it is a linear model.

        It is with Bernoulli, categorical, multinomial, complement, Poisson, exponential and
        geometric columns, and with Gaussian ones whose variance is shared by the classes; with
        texts only without weights, and never with interactions or where a parameter is integrated
        out. Where weights have a linear part, numbers that are clipped are features too.
        The features are those of the encoded cells, none of them missing.

        Returns
        -------
        view : Linear
            With ``feature_names``, ``coef``, ``intercept`` and ``classes``.

        Raises
        ------
        ValueError
            If the log odds are no straight line; it says of which columns, and why.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("bernoulli").fit([[0, 1], [1, 1], [1, 0]], [0, 1, 1])
        >>> w, b = nb.linear().coef[0], nb.linear().intercept[0]
        >>> (w @ [1, 0] + b > 0) == nb.predict([[1, 0]])[0]
        np.True_
        """
        return linear(self._checked)

    def sample(
        self,
        n: int,
        y: Label | None = None,
        random_state: Seed = None,
        *,
        length: int | None = None,
    ) -> tuple[Table, LabelArray]:
        """Draw labelled rows from the model, to see what it has learned.

        Parameters
        ----------
        n : int
            How many rows.
        y : label, optional
            Of all rows; by default labels are drawn from the class prior.
        random_state : int or numpy.random.Generator, optional
            A seed, for the same rows each time.
        length : int, optional
            How many words each text has, and the total of each row of counts.

        Returns
        -------
        X : array, mapping of columns, or list of texts
            Without missing cells; what ``fit`` takes, in the form that the training rows had
            (a frame's columns as a mapping).
        y : ndarray of shape (n,)
            Their labels.

        Raises
        ------
        ValueError
            If n is negative, if there is no such class, or of an event model that does not model
            how rows are generated.

        Notes
        -----
        Texts are written word by word from the vocabulary, and are about as long as those of
        their class, but never empty: lengths are from a Poisson that is truncated at zero, and
        where only the presence of words is modelled, one word at least is drawn.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes().fit(["cheap pills", "lunch at noon"], ["spam", "ham"])
        >>> X, y = nb.sample(2, y="spam", random_state=0)
        >>> y
        array(['spam', 'spam'], dtype='<U4')
        """
        model = self._checked
        if n < 0:
            raise ValueError(f"n must be a number of rows that is at least 0, got {n}.")
        rows, labels = model.sample(n, y, random_state, length)
        return self._table(rows), labels

    def _table(self, rows: Rows) -> Table:
        """Return rows in the form that X has."""
        return as_table(rows)
