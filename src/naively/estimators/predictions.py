"""What every fitted estimator predicts: labels, probabilities, and how probable rows are.

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
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from naively.counting.label_codes import plain
from naively.counting.labels import Label, LabelArray, Target, encode_labels
from naively.data.frames import Table, read_labels
from naively.data.rows import Rows
from naively.estimators.checks import is_single
from naively.estimators.fitted import Fitted
from naively.estimators.lazy import by_row
from naively.evaluation.losses import posterior
from naively.kernels.reference import Finish, Finished, Floats
from naively.model.class_prior import Cost, decide, estimate_prior, given_prior, shift
from naively.model.count import check_rows
from naively.model.likelihood import log_likelihoods
from naively.schema.settings import Probabilities

NEGLIGIBLE = 1e-9  # nats between classes, which are no evidence but rounding
BLOCK = 1 << 16  # rows that are computed together where not all should be


class Predictions(Fitted):
    """What a fitted model predicts, whichever way rows are read."""

    @abstractmethod
    def _rows(self, X: Table) -> Rows:
        """Read rows to predict, or raise what is wrong with them."""

    def _scored(self, X: Table, finish: Finish) -> Finished:
        """Return the scores of rows, finished (see ``Model.score``)."""
        model = self._checked
        return model.score(model.encode(self._rows(X)), finish)

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
    def predict_proba(
        self,
        X: Table,
        *,
        class_prior: Probabilities | None = None,
        dtype: DTypeLike = np.float64,
    ) -> Floats:
        """Return the posterior p(class | row), of shape (rows, classes).

        Parameters
        ----------
        X : table of rows
            As for ``predict``.
        class_prior : sequence or mapping, optional
            Probability of each class where these rows come from, in the order of ``classes_`` or
            by label, if it is not what was learned.
        dtype : {float64, float32}
            Of the result: float32 takes half the memory. All else is computed in float64.

        Examples
        --------
        >>> import numpy as np
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.predict_proba([[4.4]], dtype=np.float32).dtype
        dtype('float32')
        """
        single = is_single(dtype)
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

    def estimate_class_prior(self, X: Table) -> Floats:
        """Estimate how frequent the classes are where these rows come from, by EM.

        It follows from the likelihood ratios of the rows: a row without evidence moves nothing, and
        neither does that a cell is missing, which may have other reasons there than in training.
        Saerens, Latinne & Decaestecker (2002). Pass it to ``predict_proba``.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.estimate_class_prior([[1.5], [1.1], [1.7], [7.5]]).round(2)
        array([0.81, 0.19])
        """
        model = self._checked.without_presence
        joint = model.joint_log_likelihood(self._rows(X))
        prior = np.exp(model.class_log_prior)
        evidence = joint[:, prior > 0] - model.start[prior > 0]
        says = np.ptp(evidence, axis=1) > NEGLIGIBLE
        return estimate_prior(posterior(joint[says]), prior) if says.any() else prior

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
        model, rows = self._checked, self._rows(X)
        if y is None:
            return model.log_evidence(rows)
        if isinstance(y, str | float | int | dt.date | np.generic):
            return log_likelihoods(model, rows, plain(y))
        labels = encode_labels(read_labels(y))
        check_rows(rows, labels)
        return log_likelihoods(model, rows, labels.classes[labels.codes])

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
