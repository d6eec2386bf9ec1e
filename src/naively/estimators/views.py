"""What can be looked at in a fitted model: results that print, tabulate and plot."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from naively.counting.labels import Target
from naively.data.frames import Table, read_labels
from naively.data.rows import Rows
from naively.estimators.answers import Answers
from naively.evaluation.scores import Scores, score

if TYPE_CHECKING:
    from naively.report.page import Report


class Views(Answers):
    """Results of a fitted model, each with its numbers and its picture."""

    def evaluate(self, X: Table, y: Target) -> Scores:
        """Score predictions on labelled rows that were not learned.

        Parameters
        ----------
        X : table of rows
            As for ``fit``.
        y : array-like of shape (rows,), or str
            The right labels, or the name of their column in ``X``.

        Returns
        -------
        scores : Scores
            Accuracy, log loss, Brier score, area under the ROC curve, calibration error,
            confusion, reliability, and precision and recall by class.

        Examples
        --------
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
        >>> nb.evaluate([[1.5], [6.5]], ["a", "b"]).accuracy
        1.0
        """
        rows, labels = self._with_labels(X, y)
        return score(self._checked, rows, labels)

    def report(self, X: Table = None, y: Target = None, *, name: str = "") -> Report:
        """Write one page about the model: what it learned, how good it is, and why it answers so.

        Parameters
        ----------
        X : table of rows, optional
            Rows that were not learned, to be scored, shown and explained; by default some of the
            sample of the learned rows that is in memory.
        y : array-like of shape (rows,), or str, optional
            Their right labels, or the name of their column in ``X``.
        name : str, optional
            What the page is called.

        Returns
        -------
        report : Report
            ``report.save("report.html")`` writes it; the page needs no network.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from naively import NaiveBayes
        >>> nb = NaiveBayes("gaussian").fit(*load_iris(return_X_y=True))
        >>> print(nb.report(name="iris"))
        iris: a page of ... bytes
        What it learned from
        How good it is
        ...
        """
        from naively.report.page import write_report
        from naively.report.subject import Subject

        model = self._checked
        learned = None if self._counts_unlabelled else self._sample
        rows, labels = (None, None) if X is None else (self._rows(X), None)
        if X is not None and y is not None:
            rows, labels = self._with_labels(X, y)
        return write_report(Subject.of(model, learned, self._kind, rows, labels), name)

    @property
    @abstractmethod
    def _counts_unlabelled(self) -> bool:
        """Whether rows without a label count, so that no row can be left out."""

    def _with_labels(self, X: Table, y: Target) -> tuple[Rows, Target]:
        """Read rows and their labels, which may be one of their columns."""
        rows = self._rows(X)
        return rows.split(y) if isinstance(y, str) else (rows, read_labels(y))
