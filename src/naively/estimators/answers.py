"""What every fitted estimator answers beside predictions: why, how well, and rows like those."""

from __future__ import annotations

import numpy as np

from naively.counting.labels import Label, LabelArray
from naively.counting.names import title
from naively.data.frames import Table, as_table
from naively.data.rows import Rows
from naively.estimators.checks import Seed
from naively.estimators.predictions import Predictions
from naively.evaluation.cross_validate import assess
from naively.evaluation.reservoir import Reservoir
from naively.evaluation.scores import Scores
from naively.evaluation.worth import worth
from naively.kernels.reference import Floats
from naively.model.explain import Explanation, explain
from naively.model.linear import Linear, linear
from naively.model.weights import Weighting


class Answers(Predictions):
    """What a fitted model answers, whichever way rows are read."""

    _sample: Reservoir | None = None  # of the rows learned; None where that has changed

    @property
    def _interacts(self) -> bool:
        """Whether interactions are chosen when the model is fitted."""
        return False

    @property
    def _kind(self) -> Weighting | None:
        """The kind of weights that are fitted; None of pure naive Bayes."""
        return None

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
        are held out as take no longer than twice learning, and two at least; of few rows as many as
        take half a second more, until 2,000 rows are scored. What they take is known from numbers
        (rows, and 200 for each column, times columns times classes). It is a count and no clock: of
        the same rows it is the same. Where the sample is a part of the rows learned, it is
        dealt into fewer folds, down to four, each of a tenth of the rows learned at most.
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

        Columns that repeat each other have equal shares of what they are worth together. A time
        has the sum of what it and its parts (hour, weekday, month) have; and each column what its
        interactions have.
        """
        sample, schema = self._learned(), self._fitted.schema
        cost = worth(self.model_, sample.of(self.model_)).shared()
        of_column = {name: [title(name)] for name in schema.order}
        pairs = {title(name): name.roots for name in schema.derived}
        if self.model_.weights is not None:
            pairs |= self.model_.weights.linear.pairs
        for pair, names in pairs.items():  # without either of its columns there is none
            for of in names:
                of_column[of].append(pair)
        growth = np.array(
            [sum(cost.get(one, 0.0) for one in names) for names in of_column.values()]
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
